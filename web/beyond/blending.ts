/**
 * What a lightning layer does not notice: turn a token by ω, or two heads into one another, and see
 * the output stand still at three places, or everywhere.
 */
import { Controls } from "../kit/controls";
import { eachFrame, player } from "../kit/motion";
import { stand } from "../kit/painter";
import type { Message, Said, Scene, Talk } from "../kit/picture";
import { arrange, footerIn } from "../kit/view";
import { outputsView } from "../single_layer/fiber_outputs";
import css from "./blending.css";
import { columnView } from "./blending_column";
import { countView } from "./blending_count";
import { dialView, FULL_TURN } from "./blending_dial";
import { distanceView } from "./blending_distance";
import type { BlendingFacts, BlendingPlace, HeadsFacts, TokenFacts } from "./blending_facts";
import { blendAt, distanceAt, returnsAt, tokenAt } from "./blending_layers";
import { weightsView } from "./blending_weights";

const QUARTER = 90;
const HINTS = {
  angle: "drag ω round the circle",
  turn: "drag g round the circle",
};
const PARTS = {
  token: [".nv-view-omega", ".nv-view-first", ".nv-view-second", ".nv-view-distance"],
  heads: [".nv-view-g", ".nv-view-weights", ".nv-view-outputs", ".nv-view-count"],
};

function make(host: HTMLElement, talk: Talk): Scene<BlendingFacts, BlendingPlace> {
  let message: Message<BlendingFacts, BlendingPlace>;
  let drawnFor = "";
  let isTouched = false;

  const controls = new Controls<Required<BlendingPlace>>(talk, () => frame.soon());
  const frame = eachFrame(host, paint);
  const hold = {
    begin() {
      touch();
      controls.hold();
    },
    end: () => controls.release(),
  };
  const dialOf = (control: "angle" | "turn") => ({
    ...hold,
    moved: (degrees: number) => controls.go({ [control]: degrees }),
    keyed(steps: number) {
      touch();
      controls.go({ [control]: controls.here[control] + steps });
    },
  });
  const omega = dialView(host, {
    ...dialOf("angle"),
    name: "omega",
    letter: "ω",
    axes: ["1", "i"],
    arrows: [{ name: "", ahead: 0 }],
  });
  const columns = ["first", "second"].map((name) => columnView(host, name));
  const distance = distanceView(host);
  const g = dialView(host, {
    ...dialOf("turn"),
    name: "g",
    letter: "g",
    axes: ["A₁", "A₂"],
    arrows: [
      { name: "A₁′", ahead: 0 },
      { name: "A₂′", ahead: QUARTER },
    ],
  });
  const weights = weightsView(host);
  const outputs = outputsView(host);
  const count = countView(host);

  const { footer, note } = footerIn(host);
  // A token goes all round and comes back; heads go until they have changed places.
  const play = player(footer, {
    name: "go round",
    seconds: 8,
    from() {
      const share = controls.here[walked()] / end();
      return share > 0.997 ? 0 : share;
    },
    to: (share) => controls.go({ [walked()]: end() * share }),
    moments: () => (message.facts.token ? [1 / 3, 2 / 3] : [1 / 2]),
  });

  /** Who takes hold of something knows what to do. */
  function touch() {
    isTouched = true;
    play.stop();
  }

  const walked = () => (message.facts.token ? "angle" : "turn");
  const end = () => (message.facts.token ? FULL_TURN : QUARTER);

  /** What does not move; the ways of the columns are others for another second token. */
  function draw() {
    const { facts, look } = message;
    const looks = JSON.stringify([host.style.width, look, facts, controls.here.slant]);
    if (looks === drawnFor) return;
    drawnFor = looks;
    host.classList.toggle("of-token", facts.token !== null);
    host.classList.toggle("of-heads", facts.heads !== null);
    if (facts.token) drawToken(facts.token);
    if (facts.heads) drawHeads(facts.heads);
  }

  function drawToken(token: TokenFacts) {
    const { slant } = controls.here;
    const { look } = message;
    const all = Array.from({ length: FULL_TURN + 1 }, (_, angle) => angle);
    const way = all.map((angle) => tokenAt(token, slant, angle));
    const returns = returnsAt(token, slant);
    omega.draw([{ text: "ω multiplies token 1", name: true }], returns, look);
    const farthest = Math.max(...way.flat(2).map((entry) => Math.hypot(...entry)));
    columns.forEach((column, c) => {
      column.draw(
        way.map((both) => both[c]),
        farthest,
        look,
      );
    });
    const distances = all.map((angle) => distanceAt(token, slant, angle));
    distance.draw(distances, returns, look);
  }

  function drawHeads(heads: HeadsFacts) {
    const { look } = message;
    const inside = heads.ranks.flatMap((pair, angle) => {
      return Math.max(...pair) <= heads.most ? [angle] : [];
    });
    g.draw([{ text: "g turns two heads", name: true }], inside, look);
    weights.draw(heads, look);
    count.draw(heads.count, look);
  }

  function paint() {
    if (!message) return;
    draw();
    const { token, heads } = message.facts;
    if (token) moveToken(token);
    if (heads) moveHeads(heads);
    stand(host, note, controls, isTouched ? "" : HINTS[walked()]);
  }

  function moveToken(token: TokenFacts) {
    const { angle, slant } = controls.here;
    const isFound = returnsAt(token, slant).includes(angle % FULL_TURN);
    const far = distanceAt(token, slant, angle);
    omega.move(angle, controls.range("angle"), isFound);
    tokenAt(token, slant, angle).forEach((column, c) => {
      columns[c].move(column);
      const name: Said = { text: `column ${c + 1} of the output`, name: true };
      columns[c].headline([name, saidOfColumn(c, angle, slant)], false);
    });
    distance.move(angle, far);
    distance.headline(saidOfToken(isFound, far));
    host.classList.toggle("same", isFound);
  }

  function moveHeads(heads: HeadsFacts) {
    const { turn, follow } = controls.here;
    const before = blendAt(heads.formulas, 0, true);
    const now = blendAt(heads.formulas, turn, follow);
    const ranks = heads.ranks[Math.round(turn)];
    const isInside = Math.max(...ranks) <= heads.most;
    const moved = now.outputs.flat().map((x, n) => Math.abs(x - before.outputs.flat()[n]));
    const same = Math.max(...moved) < 1e-9;
    g.move(turn, controls.range("turn"), isInside);
    weights.headline(saidOfRanks(isInside, ranks, heads.most));
    weights.move(now, ranks, heads.most);
    const says = saidOfOutputs(same, follow);
    const { reach } = heads;
    outputs.draw({ reach, start: before.outputs }, message.look);
    outputs.move(now.outputs, before.outputs, says, same);
  }

  return {
    show(next) {
      const isOther = (message?.facts.token === null) !== (next.facts.token === null);
      const isNew = !message || isOther;
      message = next;
      if (isNew) {
        play.stop();
        isTouched = false;
        const { token } = next.facts;
        const parts = token ? PARTS.token : PARTS.heads;
        const others = token ? PARTS.heads : PARTS.token;
        // In a narrow place the button stands below the first part.
        arrange(host, [parts[0], ".nv-footer", ...parts.slice(1), ...others]);
      }
      controls.take(next as Message<unknown, Required<BlendingPlace>>, isNew);
      frame.soon();
    },
    close() {
      controls.close();
      play.stop();
      frame.stop();
    },
  };
}

const saidOfToken = (isFound: boolean, far: number): Said[] =>
  isFound
    ? [{ text: "the output is what it was", role: "certified" }]
    : [{ text: `${far.toFixed(2)} away from what it was` }];

/** What the first or the second column of the output does. */
function saidOfColumn(column: number, angle: number, slant: number): Said {
  const isFirst = column === 0;
  const isOrthogonal = slant === 0;
  if (!isOrthogonal) {
    return { text: isFirst ? "ω³x₁ + ω · x₁ᵀPx₂ · x₂" : "moves as well", role: "outside" };
  }
  if (!isFirst) return { text: "stands still", role: "certified" };
  return { text: `turned by 3 · ${Math.round(angle)}° = ${Math.round(3 * angle)}°`, role: "focus" };
}

const saidOfRanks = (isInside: boolean, ranks: number[], most: number): Said[] =>
  isInside
    ? [{ text: `ranks ${ranks.join(" and ")}: allowed`, role: "certified" }]
    : [{ text: `rank ${Math.max(...ranks)}, allowed is ${most}`, role: "outside" }];

const saidOfOutputs = (isSame: boolean, follows: boolean): Said[] =>
  isSame
    ? [{ text: "the outputs stand still", role: "certified" }]
    : [{ text: follows ? "the outputs move" : "without V′ they move", role: "outside" }];

export const blending = { make, style: css };
