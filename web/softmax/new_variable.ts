/**
 * One pair of tokens and its exponential: drag the dot (y, P) along its curve, let it go, and count
 * modulo a prime.
 */
import { Controls, type Way } from "../kit/controls";
import { Followed } from "../kit/followed";
import { eachFrame, player } from "../kit/motion";
import { stand } from "../kit/painter";
import type { Message, Scene, Talk } from "../kit/picture";
import { footerIn } from "../kit/view";
import css from "./new_variable.css";
import type { NewVariableFacts, NewVariablePlace } from "./new_variable_facts";
import { planeView, type Shown } from "./new_variable_plane";
import { sidesView } from "./new_variable_sides";
import { SECONDS, storyAt } from "./new_variable_story";
import { foundAt, momentOf, valueOfP } from "./new_variable_table";

const LEAP = 0.3; // of P or y: what jumps further is followed on its way
const ROLL = 700; // milliseconds, until the axis is a ring
const HINTS = {
  curve: "drag the token, or the dot: along the curve or off it",
  free: "drag the dot anywhere, through 0 too; back on the curve it stays",
  modulo: "drag the dot round the ring",
};

function make(host: HTMLElement, talk: Talk): Scene<NewVariableFacts, NewVariablePlace> {
  let message: Message<NewVariableFacts, NewVariablePlace>;

  const controls = new Controls<NewVariablePlace>(talk, follow);
  const frame = eachFrame(host, paint);
  const shown = new Followed<Shown>(() => frame.soon());
  const plane = planeView(host, {
    begin() {
      play.stop();
      controls.hold();
    },
    end: () => controls.release(),
    here: () => controls.here,
    range: (name) => controls.range(name),
    go(change, isLeap) {
      play.stop();
      controls.go(change, isLeap ? "leapt" : "dragged");
    },
  });
  const { footer, note } = footerIn(host);
  const play = player(footer, {
    name: "let go of the exponential",
    seconds: SECONDS,
    from: () => 0,
    to: (share) => controls.go(storyAt(share)),
  });
  const sides = sidesView(host);

  const shownAt = (place: NewVariablePlace): Shown => ({
    y: place.y,
    P: valueOfP(place),
    bend: Number(place.stage === "modulo"),
  });

  /** What leaps is followed on its way, and the axis always is. */
  function follow(place: NewVariablePlace, way: Way) {
    const next = shownAt(place);
    const { seen } = shown;
    if (seen && seen.bend !== next.bend) shown.leap(next, ROLL);
    else if (seen && way === "leapt" && isFar(seen, next)) shown.leap(next);
    else shown.put(next);
  }

  function paint() {
    const { seen } = shown;
    if (!seen) return;
    const { here } = controls;
    const { facts } = message;
    const found = foundAt(facts.formulas, here);
    const moment = momentOf(facts.formulas, here, found.holds);
    plane.headline(facts.stages[here.stage], false);
    plane.move(seen, here.stage);
    sides.headline(facts.moments[moment], false);
    sides.move(found, here.stage === "modulo", here.stage === "curve");
    stand(host, note, controls, HINTS[here.stage]);
  }

  return {
    show(next, width) {
      const isNew = !message;
      message = next;
      host.dataset.width = String(width);
      plane.draw(next.facts, next.look);
      sides.draw(next.facts.table, next.facts.formulas.prime, next.look);
      controls.take(next, isNew);
      // At once: what is drawn anew is empty until then, and the next answer may come first.
      paint();
    },
    close() {
      controls.close();
      shown.stop();
      play.stop();
      frame.stop();
    },
  };
}

const isFar = (one: Shown, other: Shown) =>
  Math.abs(one.P - other.P) > LEAP || Math.abs(one.y - other.y) > LEAP;

export const newVariable = { make, style: css };
