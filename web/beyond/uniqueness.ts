/**
 * Two networks on the same two tokens: drag the exponentials along the way that tells the two
 * apart.
 */
import { Controls, type Way } from "../kit/controls";
import { areOther } from "../kit/facts";
import { Followed } from "../kit/followed";
import { eachFrame, player } from "../kit/motion";
import { stand } from "../kit/painter";
import type { Message, Scene, Talk } from "../kit/picture";
import { arrange, footerIn } from "../kit/view";
import tokensCss from "../softmax/token_paths.css";
import { isFar } from "../softmax/two_tokens";
import css from "./uniqueness.css";
import type { UniquenessFacts, UniquenessPlace } from "./uniqueness_facts";
import type { Hands } from "./uniqueness_hands";
import { mapsView } from "./uniqueness_maps";
import { momentsOf, saysAt } from "./uniqueness_story";
import { wayView } from "./uniqueness_tokens";
import { drawnAt, movedAt, nearest, stopsOf, type Both, type Stop } from "./uniqueness_way";

// From the first part to the last one, as the style sheet has them.
const WIDE = [".nv-view-left", ".nv-view-maps", ".nv-view-right", ".nv-footer"];
const MAPS_FIRST = [".nv-view-maps", ".nv-footer", ".nv-view-left", ".nv-view-right"];
const HINT = "drag a dot along its way, or a token that moves";

function make(host: HTMLElement, talk: Talk): Scene<UniquenessFacts, UniquenessPlace> {
  let message: Message<UniquenessFacts, UniquenessPlace>;
  let stops: Stop[];
  let drawnFor = "";
  let isTouched = false;

  const controls = new Controls<UniquenessPlace>(talk, follow);
  const frame = eachFrame(host, paint);
  const shown = new Followed<Both>(() => frame.soon());
  const formulas = () => message.facts.formulas;
  const hands: Hands = {
    begin() {
      touch();
      controls.hold();
    },
    end: () => controls.release(),
    step(steps) {
      touch();
      const [, , step] = controls.range("travel");
      controls.go({ travel: controls.here.travel + step * steps });
    },
    near(seen, pointer, isOfLayer) {
      const where = isOfLayer ? hands.way().ofLayer : stops;
      controls.go({ travel: nearest(where, seen, pointer, controls.here.travel) });
    },
    way() {
      const moved = movedAt(formulas(), controls.here.travel);
      return {
        stops,
        ofLayer: stops.filter(({ travel }) => movedAt(formulas(), travel) === moved),
        moved,
        movedLast: movedAt(formulas(), 1),
        name: (side) => message.facts.networks[side].name,
      };
    },
  };
  const left = wayView(host, 0, hands);
  const maps = mapsView(host, hands);
  const right = wayView(host, 1, hands);

  const { footer, note } = footerIn(host);
  const says = footer.appendChild(document.createElement("span"));
  says.className = "nv-story role-focus";
  says.setAttribute("aria-live", "polite");
  let played: number | null = null; // how far ▶ has come, until something else moves
  const play = player(footer, {
    name: "go the way",
    seconds: 7,
    from: () => (played === controls.here.travel && played < 1 ? played : 0),
    to(share) {
      isTouched = true;
      controls.go({ travel: share });
      played = controls.here.travel;
    },
    moments: () => momentsOf(formulas(), stops),
  });

  /** Who takes hold of something knows what to do. */
  function touch() {
    isTouched = true;
    play.stop();
  }

  const hasWay = () => !["same", "outside"].includes(formulas().step);

  /** What leaps is followed on its way. */
  function follow({ travel }: UniquenessPlace, way: Way) {
    const next = drawnAt(formulas(), travel);
    if (way === "leapt" && shown.seen && isFar(shown.seen, next)) shown.leap(next);
    else shown.put(next);
  }

  function paint() {
    const { seen } = shown;
    if (!seen) return;
    const { travel } = controls.here;
    const moved = movedAt(formulas(), travel);
    const range = controls.range("travel");
    left.move(seen[0], moved, travel, range);
    maps.move(seen, travel, range);
    right.move(seen[1], moved, travel, range);
    says.textContent = saysAt(formulas(), travel, seen);
    const hint = isTouched || !hasWay() ? "" : HINT;
    stand(host, note, controls, hint);
  }

  return {
    show(next, width) {
      const isNew = areOther(next.facts.formulas, message?.facts.formulas);
      message = next;
      const { facts, look } = next;
      arrange(host, host.matches(".medium, .narrow") ? MAPS_FIRST : WIDE);
      if (isNew) {
        stops = stopsOf(facts.formulas, next.ranges.travel);
        if (shown.seen?.[0].shares.length !== facts.formulas.forms[0].length) shown.seen = null;
        play.stop();
      }
      controls.take(next, isNew);
      if (isNew) for (const view of [left, maps, right]) view.build();
      footer.classList.toggle("without-way", !hasWay());

      const looks = JSON.stringify([width, look, facts]);
      if (isNew || looks !== drawnFor) {
        maps.draw(facts, look); // its words take room from its box: all are measured after them
        left.draw(facts.networks[0], look);
        right.draw(facts.networks[1], look);
      }
      drawnFor = looks;
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

export const uniqueness = { make, style: tokensCss + css };
