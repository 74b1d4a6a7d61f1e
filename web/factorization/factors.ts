/**
 * A = KᵀQ: drag a number of Q or K, turn C by hand while A stands still, move A on its surface.
 */
import { basisView, type WalkOf } from "../kit/basis";
import { Controls } from "../kit/controls";
import { areOther } from "../kit/facts";
import { Followed } from "../kit/followed";
import { isFinger } from "../kit/handle";
import { largestChange, norm, scaled } from "../kit/matrix";
import { eachFrame, player } from "../kit/motion";
import { stand } from "../kit/painter";
import type { Message, Scene, Talk } from "../kit/picture";
import { footerIn, forgetSizes } from "../kit/view";
import css from "./factors.css";
import { dimensionsView, spectrumView } from "./factors_charts";
import { entered, wordsOf, type EntryPlace } from "./factors_entries";
import type { FactorsFacts, FactorsPlace, Pair } from "./factors_facts";
import { largestOf, rankOf, singularValues } from "./factors_matrix";
import { matricesView } from "./factors_matrices";
import { offOrbitView } from "./factors_off_orbit";
import { productOf, startOf, type Product } from "./factors_product";
import { headsAt, type Foot } from "./factors_slice";
import { surfaceView } from "./factors_surface";

const NARROW = 1000; // pixels: cells for a finger are large, and views stand below one another
const NEAR = 1e-6; // matrices that differ by less are the same for the eye

/** What is seen: on the way from one place to another, between both. */
interface Shown {
  start: Pair;
  fiberDimension: number;
}

function make(host: HTMLElement, talk: Talk): Scene<FactorsFacts, FactorsPlace> {
  let message: Message<FactorsFacts, FactorsPlace>;
  let product: Product;
  let place: FactorsPlace | null = null; // that `product` is of
  let drawnFor = "";
  let isHeld = false;
  let isTouched = false;
  let said = "";

  const controls = new Controls<FactorsPlace>(talk, follow);
  const frame = eachFrame(host, paint);
  const shown = new Followed<Shown>(() => frame.soon());
  const matrices = matricesView(host, {
    begin: hold,
    end: release,
    keyed: touch,
    valueOf: ({ when, factor, i, j }) => product[when][factor][i][j],
    largest: () => message.facts.formulas.largest,
    put,
    pressed(name) {
      touch();
      controls.go({ rank: controls.here.rank === name ? "full" : name });
    },
  });
  const basis = basisView(matrices.beside, {
    begin: hold,
    end: release,
    moved: (along) => controls.go({ along }),
    keyed(step) {
      touch();
      controls.go({ along: controls.here.along + step });
    },
  });
  const offOrbit = offOrbitView(matrices.beside, {
    begin: hold,
    end: release,
    moved: (to) => controls.go({ off_orbit: to }),
    keyed(step) {
      touch();
      controls.go({ off_orbit: controls.here.off_orbit + step });
    },
    ended(isLargest) {
      touch();
      controls.go({ off_orbit: controls.range("off_orbit")[isLargest ? 1 : 0] });
    },
  });
  const spectrum = spectrumView(host);
  const dimensions = dimensionsView(host);
  /** For d = 2, made when it is first needed: a canvas for solids costs as much as all else. */
  let surface: ReturnType<typeof surfaceView> | undefined;

  const { footer, note } = footerIn(host);
  const play = player(footer, {
    name: "walk along the fibre",
    seconds: 8,
    from() {
      const { along, off_orbit } = controls.here;
      const inOrbit = shareOfWalk(along);
      let share = orbitEnds() * inOrbit;
      if (canLeave() && inOrbit > 0.99) share += (1 - orbitEnds()) * Math.max(0, off_orbit);
      return share > 0.99 ? 0 : share;
    },
    // The start: from there all that moves goes the other way. Then, where the orbit is left.
    moments: () => [orbitEnds() * shareOfWalk(0), orbitEnds()],
    to(share) {
      const [least, most] = controls.range("along");
      const inOrbit = Math.min(1, share / orbitEnds());
      const outside = canLeave() ? (share - orbitEnds()) / (1 - orbitEnds()) : 0;
      controls.go({ along: least + inOrbit * (most - least), off_orbit: Math.max(0, outside) });
    },
  });

  /** Whether one factor can leave the orbit: the other one has lost a rank. */
  const canLeave = () => product.direction !== null;

  /** Which share of the walk is in the orbit. */
  const orbitEnds = () => (canLeave() ? 0.6 : 1);

  function shareOfWalk(along: number): number {
    const [least, most] = controls.range("along");
    return (along - least) / (most - least);
  }

  function makeSurface() {
    const view = surfaceView(host, {
      changed: () => frame.soon(),
      begin: hold,
      end: release,
      moved: moveA,
      keyed(turn, rise) {
        touch();
        const { angle, height } = product.point!;
        moveA({ angle: (((angle + turn) % 360) + 360) % 360, height: height + rise });
      },
    });
    host.append(footer); // it stays the last
    return view;
  }

  /** Who moves something by hand knows what to do, and the walk would move it back. */
  function touch() {
    isTouched = true;
    play.stop();
  }

  function hold() {
    isHeld = true;
    touch();
    controls.hold();
  }

  function release() {
    isHeld = false;
    said = "";
    controls.release();
    frame.soon();
  }

  function put(entry: EntryPlace, value: number) {
    const { largest } = message.facts.formulas;
    const wasHeld = isHeld;
    isHeld = true; // the hand moves it, and nothing else
    controls.go(entered(product, controls.here, entry, value, largest));
    isHeld = wasHeld;
    said = wasHeld ? matrices.says(entry) : "";
  }

  function walkOf(): WalkOf {
    const { a, walks } = message.facts.formulas;
    return { walk: controls.here.walk, heads: a, ends: walks };
  }

  const isFree = () => controls.here.entries.trim() !== "";

  /** Where A, or the matrix of rank ≤ 1 nearest to it, is to be. */
  function moveA(foot: Foot) {
    if (!isFree()) return controls.go(foot);
    // Of numbers set by hand, a = 1 leaves one choice: K keeps its length.
    const length = norm(product.start[1]) || 1;
    const [ofLengthA, ofLength1] = headsAt(product.point!.trace, foot);
    const pair: Pair = [scaled(1 / length, ofLengthA), scaled(length, ofLength1)];
    // Python takes no larger entries: A stays where it is.
    if (largestOf(...pair) > message.facts.formulas.largest) return;
    controls.go({ entries: wordsOf(pair) });
  }

  /** What leaps to other matrices is followed on its way. */
  function follow(next: FactorsPlace) {
    const { facts } = message;
    const start = controls.isExact ? facts.matrices.start : startOf(facts.formulas, next);
    const isLeap = place && !isHeld && (place.rank !== next.rank || place.entries !== next.entries);
    product = productOf(facts.formulas, next, start);
    place = next;
    const end: Shown = { start, fiberDimension: product.fiberDimension };
    if (isLeap) shown.leap(end);
    else shown.put(end);
  }

  function paint() {
    const { seen } = shown;
    if (!place || !seen) return;
    const { formulas, dimensions: counted } = message.facts;
    const { here } = controls;
    const { ranks, fiberDimension } = product;
    const drawn = { ...productOf(formulas, here, seen.start), ranks, fiberDimension };
    const usual = counted.fiber.measured[formulas.a - 1];
    const hasChanged = offOrbit.show(canLeave());
    // Before its numbers are written: how many digits they have depends on the room.
    if (hasChanged) matrices.fitLine(canLeave());
    matrices.move(drawn, here.rank, Math.round(seen.fiberDimension), usual, !isTouched);
    if (hasChanged) {
      forgetSizes(host);
      basis.draw(walkOf(), message.look);
    }
    basis.move(here.along, controls.range("along"));
    if (canLeave()) {
      offOrbit.move(here.rank, here.off_orbit, controls.range("off_orbit"), message.look);
    }
    spectrum.move(drawn);
    dimensions.move(formulas.a, formulas.d, seen.fiberDimension);
    if (drawn.point && message.facts.surface) {
      const canMove = formulas.a === 1 || !isFree();
      surface!.move({ point: drawn.point, isFree: isFree(), canMove, isHeld });
    }
    say();
  }

  /** That no C leads to a factor that has left the orbit. */
  function saidOffOrbit(): string {
    if (!canLeave()) return "";
    const factor = controls.here.rank === "Q" ? 1 : 0;
    const both = [...product.start[factor], ...product.aside[factor]];
    const { tolerance } = message.facts.formulas;
    const [rank, alone] = [both, product.start[factor]].map((rows) => {
      return rankOf(singularValues(rows), tolerance);
    });
    if (rank === alone) return "";
    const name = "QK"[factor];
    return `${name} and the new ${name} have rows that span ${rank} dimensions: no C does that`;
  }

  function say() {
    const drag = "drag a number up or down; drag the ring of C: A stands still";
    const hint = saidOffOrbit() || (isTouched ? "" : drag);
    const isMissing = message.facts.surface && !surface!.isThere;
    const missing = isMissing ? "No 3-D picture: this browser has no WebGL." : "";
    stand(host, note, controls, missing || said || hint);
  }

  return {
    show(next, width) {
      const { facts, look } = next;
      const isNew = areOther(facts.formulas, message?.facts.formulas);
      message = next;
      if (isNew) {
        place = null;
        isTouched = false;
        play.stop();
      }
      controls.take(next, isNew);
      if (controls.isExact && isOther(facts.matrices.start, product.start)) follow(controls.here);

      const { d, a } = facts.formulas;
      host.classList.toggle("with-surface", facts.surface !== null);
      if (isFinger() && width < NARROW) host.classList.add("narrow");
      matrices.draw(facts.matrices, d, a, look, width);
      spectrum.draw(facts.spectrum, d, look);
      const drawn = JSON.stringify([width, look, facts.dimensions]);
      if (drawn !== drawnFor) dimensions.draw(facts.dimensions, d, look);
      drawnFor = drawn;
      basis.draw(walkOf(), look);
      if (facts.surface) {
        const ranges = { angle: controls.range("angle"), height: controls.range("height") };
        surface ??= makeSurface();
        surface.draw(facts.surface, look, ranges);
      }
      frame.soon();
    },
    close() {
      controls.close();
      surface?.close();
      shown.stop();
      play.stop();
      frame.stop();
    },
  };
}

/** Of equal singular values another one may have gone. */
const isOther = (one: Pair, other: Pair) => largestChange(one, other) > NEAR;

export const factors = { make, style: css };
