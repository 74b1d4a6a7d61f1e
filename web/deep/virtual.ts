/**
 * Two networks, matrix by matrix: turn the basis between two layers, or drag the factors λ, and
 * see what stands still.
 */
import { basisView } from "../kit/basis";
import { Controls } from "../kit/controls";
import { areOther } from "../kit/facts";
import { eachFrame, player } from "../kit/motion";
import { stand } from "../kit/painter";
import type { Message, Scene, Talk } from "../kit/picture";
import { footerIn, forgetSizes } from "../kit/view";
import { isSeen } from "../kit/walks";
import css from "./virtual.css";
import { barsView } from "./virtual_bars";
import type { VirtualFacts, VirtualPlace } from "./virtual_facts";
import { matricesView } from "./virtual_matrices";
import { seenAt } from "./virtual_network";

const BASIS_HINT = "drag the ring: C turns; what else moves? · drag the knob: V moves alone";
const STILL_HINT = "drag the knob: V moves alone";
const RESCALING_HINT = "drag a knob up or down: λ₀ answers";

function make(host: HTMLElement, talk: Talk): Scene<VirtualFacts, VirtualPlace> {
  let message: Message<VirtualFacts, VirtualPlace>;
  let drawnFor = "";
  let isTouched = false;

  const controls = new Controls<VirtualPlace>(talk, () => frame.soon());
  const frame = eachFrame(host, paint);
  const held = {
    begin() {
      touch();
      controls.hold();
    },
    end: () => controls.release(),
  };
  const matrices = matricesView(host, {
    ...held,
    moved: (control, value) => controls.go({ [control]: value }),
    keyed(control, steps) {
      touch();
      const step = controls.range(control)[2];
      controls.go({ [control]: controls.here[control] + steps * step });
    },
  });
  const basis = basisView(host, {
    ...held,
    moved: (along) => controls.go({ along }),
    keyed(step) {
      touch();
      controls.go({ along: controls.here.along + step });
    },
  });
  const bars = barsView(host);

  const { footer, note } = footerIn(host);
  const play = player(footer, {
    name: "walk",
    seconds: 6,
    from() {
      const [least, most] = controls.range(walked());
      const share = (controls.here[walked()] - least) / (most - least);
      return share > 0.99 ? 0 : share;
    },
    // At its beginning, and at the start of all: from there what moves goes the other way.
    moments() {
      const [least, most] = controls.range(walked());
      return [0, -least / (most - least)];
    },
    to(share) {
      const [least, most] = controls.range(walked());
      controls.go({ [walked()]: least + share * (most - least) });
    },
  });

  /** Who moves something by hand knows what to do, and the walk would move it back. */
  function touch() {
    isTouched = true;
    play.stop();
  }

  /** The control that the button plays. */
  function walked(): "along" | "log_1" {
    return message.facts.basis ? "along" : "log_1";
  }

  function hint(): string {
    if (!message.facts.basis) return RESCALING_HINT;
    const { walk, heads } = walkOf();
    return isSeen(walk, heads) ? BASIS_HINT : STILL_HINT;
  }

  /** Of the basis that changes. */
  function walkOf() {
    const { layers, interface: at, ends } = message.facts.formulas;
    const heads = at === null ? 1 : layers[at - 1].V.length;
    return { walk: controls.here.walk, heads, ends };
  }

  /** What does not move; the plane is another one for each walk. */
  function draw() {
    const { facts, look, ranges } = message;
    const looks = () => JSON.stringify([matrices.size(), look, controls.here.walk, facts]);
    if (looks() === drawnFor) return;
    const isRescaling = facts.basis === null;
    if (host.classList.contains("rescaling") !== isRescaling) {
      host.classList.toggle("rescaling", isRescaling);
      forgetSizes(host);
    }
    const table = matrices.draw(facts, seenAt(facts.formulas, controls.here), look, ranges);
    bars.draw(facts, table, look);
    if (facts.basis) basis.draw(walkOf(), look);
    const { walk, heads } = walkOf();
    play.name(facts.basis ? "walk with C" : "walk with λ₁");
    play.show(!facts.basis || isSeen(walk, heads));
    drawnFor = looks();
  }

  function paint() {
    if (!message) return;
    draw();
    const { facts, ranges } = message;
    const { here } = controls;
    const seen = seenAt(facts.formulas, here);
    matrices.move(seen, here, ranges);
    bars.move(seen);
    if (facts.basis) basis.move(here.along, ranges.along);
    stand(host, note, controls, isTouched ? "" : hint());
  }

  return {
    show(next) {
      const isNew = areOther(next.facts.formulas, message?.facts.formulas);
      message = next;
      if (isNew) play.stop();
      controls.take(next, isNew);
      frame.soon();
    },
    close() {
      controls.close();
      play.stop();
      frame.stop();
    },
  };
}

export const virtual = { make, style: css };
