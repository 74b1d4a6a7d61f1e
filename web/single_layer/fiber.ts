/**
 * A layer beside its fibre: drag the point (A, V) along the fibre, off it, and over to another
 * branch.
 */
import { Controls, type Way } from "../kit/controls";
import { areOther } from "../kit/facts";
import { Followed } from "../kit/followed";
import { isFinger } from "../kit/handle";
import { eachFrame, player } from "../kit/motion";
import { stand } from "../kit/painter";
import type { Message, Scene, Talk } from "../kit/picture";
import { footerIn } from "../kit/view";
import css from "./fiber.css";
import type { FiberFacts, FiberPlace } from "./fiber_facts";
import { layerAt, stopsOf, type Layer, type Stop } from "./fiber_layer";
import { outputsView } from "./fiber_outputs";
import { areSame, saidOfOutputs, saidOfWeights } from "./fiber_said";
import { planeView } from "./fiber_plane";
import { stepsView } from "./fiber_steps";
import { weightsView } from "./fiber_weights";

const LEAP = 0.3; // in the plane: what jumps further is followed on its way

function make(host: HTMLElement, talk: Talk): Scene<FiberFacts, FiberPlace> {
  let message: Message<FiberFacts, FiberPlace>;
  let stops: Stop[] | null = null; // made for the first drag
  let atStart: Layer; // with the input that is shown
  let drawnFor = "";
  let isTouched = false;

  const controls = new Controls<FiberPlace>(talk, follow);
  const frame = eachFrame(host, paint);
  const shown = new Followed<Layer>(() => frame.soon());
  const plane = planeView(host, {
    name: "the point (A, V)",
    isFlat: true,
    begin() {
      touch();
      controls.hold();
    },
    end: () => controls.release(),
    moved(pointer) {
      const { formulas } = message.facts;
      stops ??= stopsOf(formulas, controls.range("along"));
      controls.go(plane.nearest(pointer, stops, formulas, isSwapped(), controls.range("off")));
    },
    keyed(right, up) {
      touch();
      const { along, off } = controls.here;
      controls.go({ along: along + 0.01 * right, off: off + 0.01 * up });
    },
    pressed() {
      touch();
      goToNextArm();
    },
  });
  const weights = weightsView(host);
  const outputs = outputsView(host);
  const steps = stepsView(host);

  const { footer, note } = footerIn(host);
  const play = player(footer, {
    name: "walk along",
    seconds: 6,
    from() {
      const [least, most] = controls.range("along");
      const share = (controls.here.along - least) / (most - least);
      return share > 0.997 ? 0 : share;
    },
    // The start: from there all that moves goes the other way.
    moments() {
      const [least, most] = controls.range("along");
      return [-least / (most - least)];
    },
    to(share) {
      const [least, most] = controls.range("along");
      controls.go({ along: least + share * (most - least), off: 0 });
    },
  });
  const other = host.appendChild(document.createElement("button"));
  Object.assign(other, { type: "button", className: "nv-other", textContent: "another input X" });
  other.addEventListener("click", () => {
    controls.go({ input: (controls.here.input % controls.range("input")[1]) + 1 });
  });

  /** Who moves something by hand knows what to do, and the walk would move it back. */
  function touch() {
    isTouched = true;
    play.stop();
  }

  function isSwapped(): boolean {
    return controls.here.swap && message.facts.formulas.swapped !== null;
  }

  /** By the keyboard from arm to arm, over all branches. */
  function goToNextArm() {
    const { swapped, attention } = message.facts.formulas;
    const branches = swapped && attention !== "softmax" ? [false, true] : [isSwapped()];
    const arms = branches.flatMap((swap) => [false, true].map((negative) => ({ swap, negative })));
    const here = arms.findIndex((arm) => {
      return arm.negative === controls.here.negative && arm.swap === isSwapped();
    });
    const { swap, negative } = arms[(here + 1) % arms.length];
    controls.go(swapped ? { swap, negative } : { negative }, "leapt");
  }

  /** What leaps is followed on its way, and outputs that are equal stand still on it. */
  function follow(place: FiberPlace, way: Way) {
    const { formulas } = message.facts;
    const next = layerAt(formulas, place);
    const start = { along: 0, off: 0, swap: false, negative: false, input: place.input };
    atStart = layerAt(formulas, start);
    const [x, y] = shown.seen?.at ?? next.at;
    const far = Math.hypot(next.at[0] - x, next.at[1] - y);
    if (way === "leapt" && far > LEAP) shown.leap(next);
    else shown.put(next);
  }

  function paint() {
    const { seen } = shown;
    if (!seen) return;
    const { here } = controls;
    plane.move(seen, atStart.at, here, isSwapped(), controls.range("along"));
    const { weights: said, outputs: facts } = message.facts;
    const isSame = areSame(seen.outputs, atStart.outputs, facts.limit);
    const isSaid = controls.isExact && isSame === facts.same;
    weights.move(seen.now, isSaid ? said.says : saidOfWeights(isSame, seen.now, atStart));
    const verdict = saidOfOutputs(isSame, atStart.outputs);
    outputs.move(seen.outputs, atStart.outputs, verdict, isSame);
    say();
  }

  function say() {
    const { plane: said, formulas } = message.facts;
    const isBranched = said.shadow.length > 0 && formulas.walk === "rescale";
    const over = isBranched ? ", over to the dashed curve" : "";
    const enter = isBranched ? "; Enter goes to the next arm" : "; Enter changes both signs";
    const beyond = isFinger() ? over : over + enter;
    const hint = isTouched ? "" : `drag the point: along its walk, off it${beyond}`;
    stand(host, note, controls, hint);
  }

  return {
    show(next, width) {
      const isNew = areOther(next.facts.formulas, message?.facts.formulas);
      message = next;
      const { facts, look } = next;
      if (isNew) {
        stops = null;
        isTouched = false;
        shown.seen = null;
        play.stop();
      }
      controls.take(next, isNew);

      const looks = JSON.stringify([width, look, facts.plane]);
      if (isNew || looks !== drawnFor) plane.draw(facts.plane, atStart.at, look);
      drawnFor = looks;
      weights.draw(facts.weights, look);
      outputs.draw(facts.outputs, look);
      steps.draw(facts.steps, look);
      frame.soon();
    },
    close() {
      controls.close();
      shown.stop();
      play.stop();
      frame.stop();
    },
  };
}

export const fiber = { make, style: css };
