/**
 * The picture of the front page: all weights of a network move, and its output stands still. Python
 * has drawn it; here it moves by itself, until somebody takes hold of the ring or of a weight.
 */
import { select } from "d3-selection";
import { matricesOf } from "../deep/ledger_weights";
import { inWords, little } from "../deep/ledger_words";
import { outputOf, type Layer } from "../kit/attention";
import { grip, handle, type Handle } from "../kit/handle";
import { largestChange, transposed } from "../kit/matrix";
import { eachFrame, tween } from "../kit/motion";
import { withMinus } from "../kit/numbers";
import type { Point } from "../kit/picture";
import { Play } from "./play";
import { shade } from "./shade";
import { entriesOf, placeAt, START, stepsOf, weightsAt, withEntry } from "./weights";
import type { FrontFacts, Place } from "./weights";

const SAME = 1e-6; // of the largest entry: smaller changes are rounding
const RING = 10; // pixels
const KEY = 0.05; // of the disc: what an arrow key changes
const KEY_OF_ENTRY = 0.1;
const ENTRY_PER_PIXEL = 1 / 60;
const FARTHEST = 1.5; // how far one weight goes
const BACK = 500; // milliseconds: a weight goes home, or everything to where it moves by itself
const TRAIL = 70; // places that are remembered
const STEPS = 14; // of a round, where motion is reduced
const SIDEWAYS = 6; // pixels: so far a finger goes before it holds a weight
const CELL = 12; // pixels: half of one
const FIRST = 22; // the weight that has the ring at first

function begin(box: HTMLElement) {
  const facts: FrontFacts = JSON.parse(box.querySelector(".facts")!.textContent!);
  const entries = entriesOf(facts.layers);
  const largest = Math.max(...facts.output.flat().map(Math.abs));
  const part = (name: string) => box.querySelector<SVGSVGElement>(`.${name} svg`)!;
  const [weights, hold, output] = ["weights", "hold", "output"].map(part);
  const cells = [...weights.querySelectorAll("rect")];
  const bars = [...output.querySelectorAll<SVGRectElement>(".now")];
  const trail = hold.querySelector<SVGPolylineElement>(".trail")!;
  const most = box.querySelector(".most")!;
  const says = (name: string) => ({
    who: box.querySelector(`.${name} .says b`)!,
    what: box.querySelector(`.${name} .says span`)!,
  });
  const [saysWeights, saysOutput] = ["weights", "output"].map(says);
  const radius = Number(hold.dataset.radius);
  const scale = Number(output.dataset.scale);
  const half = -output.viewBox.baseVal.y - 4;

  let place: Place = START;
  let chosen = FIRST;
  let isTouched = false;
  let passed = 0;
  let steps: Place[] = [];
  let largestSeen = 0;
  let places: Point[] = [];
  let from: Place | null = null;
  let stopBack = () => {};
  const frame = eachFrame(box, paint);

  function go(next: Partial<Place>) {
    place = { ...place, ...next };
    frame.soon();
  }

  /** From now on nothing moves by itself, but for a weight that goes home. */
  function rest() {
    isTouched = true;
    play.stop();
  }

  function take() {
    stopBack();
    rest();
  }

  /** The one weight goes home. */
  function home() {
    const { alone } = place;
    if (alone) stopBack = tween((share) => go({ alone: alone * (1 - share) }), BACK);
  }

  // The ring in the disc

  const inDisc = ([x, y]: Point): Point => {
    const far = Math.max(1, Math.hypot(x, y) / radius);
    return [x / radius / far, -y / radius / far];
  };
  const put = (at: Point) => go({ at: inDisc(at), alone: 0 });
  const disc = select(hold).select<SVGCircleElement>(".disc");
  const ring = handle(select(hold).append("g"), {
    name: "change all weights",
    isFlat: true,
    begin: take,
    moved: put,
    keyed(right, up) {
      take();
      const [x, y] = place.at;
      put([(x + KEY * right) * radius, -(y + KEY * up) * radius]);
    },
    ended: () => {
      take();
      put([0, 0]);
    },
  });
  ring.radius(RING);
  const press = (at: Point) => {
    take();
    put(at);
  };
  grip(disc, { begin: press, moved: put });

  // One weight

  let start = 0;
  let grasped: Point = [0, 0];
  const pull = (alone: number) => go({ alone: Math.max(-FARTHEST, Math.min(FARTHEST, alone)) });
  const drag = ([x, y]: Point) =>
    pull(start + ENTRY_PER_PIXEL * (x - grasped[0] - (y - grasped[1])));
  const grasp = (at: Point) => {
    take();
    start = place.alone;
    grasped = at;
  };
  const entry: Handle = handle(select(weights).append("g"), {
    name: "",
    begin: grasp,
    moved: drag,
    end: home,
    keyed(right, up) {
      take();
      pull(place.alone + KEY_OF_ENTRY * (right || up));
    },
    pressed() {
      take();
      choose((chosen + 1) % cells.length);
    },
  });
  entry.radius(RING);
  const held = weights.querySelector<SVGGElement>(".nv-handle")!;
  // So that the ring is seen on a weight of its own colour.
  select(held).insert("circle", ".ring").attr("class", "halo").attr("r", RING);
  held.addEventListener("blur", home);
  for (const one of box.querySelectorAll(".nv-handle")) one.addEventListener("focus", rest);

  function choose(n: number) {
    cells[chosen].classList.remove("held");
    cells[n].classList.add("held");
    chosen = n;
    const { matrix, row, column } = entries[n];
    const name = `${"QKV"[matrix % 3]} of layer ${Math.floor(matrix / 3) + 1}`;
    entry.name(`one weight: ${name}, row ${row + 1}, column ${column + 1}; Enter for the next`);
    go({ alone: 0 });
  }

  // A finger that goes up or down scrolls the page, as the style sheet says; until it is known that
  // it does not, it holds nothing.
  cells.forEach((cell, n) => {
    const at = ({ clientX, clientY }: PointerEvent): Point => [clientX, clientY];
    let isHeld = false;
    const graspCell = (event: PointerEvent) => {
      isHeld = true;
      choose(n);
      held.classList.add("by-pointer");
      held.focus({ preventScroll: true });
      grasp(at(event));
    };
    cell.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      event.preventDefault(); // or the focus would go elsewhere
      cell.setPointerCapture(event.pointerId);
      isHeld = false;
      if (event.pointerType !== "touch") graspCell(event);
      else grasped = at(event);
    });
    cell.addEventListener("pointermove", (event) => {
      if (!cell.hasPointerCapture(event.pointerId)) return;
      if (isHeld) return drag(at(event));
      if (Math.abs(event.clientX - grasped[0]) > SIDEWAYS) graspCell(event);
    });
    cell.addEventListener("click", (event) => isHeld || graspCell(event as PointerEvent));
    cell.addEventListener("lostpointercapture", home);
  });

  choose(FIRST);

  // By itself

  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "play" });
  box.querySelector(".hold")!.append(button);
  const play = new Play(box, button, {
    pass(seconds) {
      if (isTouched) {
        // From where it was left, one comes to where it moves by itself.
        isTouched = false;
        passed = 0;
        from = place;
      }
      passed += seconds;
      const there = placeAt(passed);
      const share = from ? Math.min(1, (1000 * passed) / BACK) : 1;
      if (share === 1) from = null;
      place = from ? between(from, there, share) : there;
      paint(); // it is called once a frame
    },
    step() {
      if (!steps.length) steps = [...stepsOf(STEPS).slice(1), START];
      go(steps.shift()!);
      return !steps.length;
    },
  });

  function paint() {
    const silent = weightsAt(facts.layers, place.at);
    const now = place.alone ? withEntry(silent, entries[chosen], place.alone) : silent;
    paintCells(now);
    paintRings(now);
    const change = paintOutput(now);
    const isAlone = place.alone !== 0;
    weights.classList.toggle("alone", isAlone);
    if (!isAlone) largestSeen = Math.max(largestSeen, change);
    tell(isAlone, change);
  }

  function paintCells(now: Layer[]) {
    const numbers = matricesOf(now).flat(2);
    cells.forEach(({ style, dataset }, n) => {
      const next = shade(numbers[n]);
      if (dataset.shade === next) return;
      style.fill = dataset.shade = next;
    });
  }

  function paintRings(now: Layer[]) {
    const [x, y] = place.at;
    const { matrix, row, column } = entries[chosen];
    const value = withMinus(matricesOf(now)[matrix][row][column].toFixed(2));
    const words = `${x.toFixed(2)} across, ${y.toFixed(2)} up`.replaceAll("-", "−");
    ring.to([x * radius, -y * radius], x, words, [-1, 1, KEY]);
    const cell = cells[chosen];
    const middle: Point = [cell.x.baseVal.value + CELL, cell.y.baseVal.value + CELL];
    entry.to(middle, place.alone, value, [-FARTHEST, FARTHEST, KEY_OF_ENTRY]);
    places = [...places.slice(1 - TRAIL), [x * radius, -y * radius]];
    trail.setAttribute("points", places.map((at) => at.join()).join(" "));
  }

  /** Draws the bars; returns the largest change of the output, as a share of its largest entry. */
  function paintOutput(now: Layer[]): number {
    const found = outputOf(now, facts.input, "lightning");
    const change = largestChange([facts.output], [found]) / largest;
    output.classList.toggle("moves", change > SAME);
    transposed(found)
      .flat()
      .forEach((value, n) => {
        const tall = Math.min(half, Math.abs(value) * scale).toFixed(2);
        const bar = bars[n];
        if (bar.getAttribute("height") === tall) return;
        bar.setAttribute("height", tall);
        bar.setAttribute("y", value > 0 ? `-${tall}` : "0");
      });
    return change;
  }

  function tell(isAlone: boolean, change: number) {
    const isHome = place.at.every((one) => one === 0);
    write(saysWeights.who, isAlone ? "1 weight" : `${facts.parameters} weights`);
    write(saysWeights.what, isAlone ? "moves" : isHome ? "can all move" : "move");
    const moves = change > SAME;
    write(saysOutput.what, moves ? `moves by ${inWords(change)}` : "stands still");
    write(most, moves || !largestSeen ? "" : `to ${little(largestSeen)}: rounding`);
    ring.name(`change all weights; the output ${moves ? "moves" : "stands still"}`);
  }
}

/** Words that are the same are not written again. */
function write(node: Element, words: string) {
  if (node.textContent !== words) node.textContent = words;
}

function between(one: Place, other: Place, share: number): Place {
  const mix = (a: number, b: number) => a + share * (b - a);
  return {
    at: [mix(one.at[0], other.at[0]), mix(one.at[1], other.at[1])],
    alone: mix(one.alone, other.alone),
  };
}

const box = document.querySelector<HTMLElement>(".nv-front-scene");
if (box) begin(box);
