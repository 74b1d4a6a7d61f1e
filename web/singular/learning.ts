/**
 * The surface that learns: forty layers follow their gradient to a target that one takes hold of,
 * each drawn at its twin in the slice. Three moves ask first.
 */
import { Controls } from "../kit/controls";
import { handle } from "../kit/handle";
import { eachFrame, player, tween } from "../kit/motion";
import { stand } from "../kit/painter";
import type { Look, Message, Point, Scene, Talk } from "../kit/picture";
import { cross, distance, dot, minus, plus, size, unit, type Triple } from "../kit/solids";
import { Space } from "../kit/space";
import type { Thing } from "../kit/stage";
import { footerIn, number, viewIn } from "../kit/view";
import css from "./learning.css";
import { learningChart } from "./learning_chart";
import type { LearningFacts, LearningPlace } from "./learning_facts";
import { Layers, distanceOf, normals, uniforms } from "./learning_flow";
import {
  coinSolids,
  drawnAt,
  isBeyond,
  layersSolids,
  marksSolids,
  targetSolids,
} from "./learning_solids";
import { formsAt, isOnCoin, kindOf, restsOf, twinOf, type Rest } from "./learning_twin";
import { lookAt, redraw } from "./slice_solids";
import { Slice } from "./surface_point";

const SECONDS = 6; // of ▶, without the time for which it holds
const GROWTH = 7; // of ▶'s time: slow at first, when most happens
const MOMENTS = [1, 10]; // times: layers gather along the sheets, and then at their ends
const HELD = 0.1; // time that passes in a frame while the target is held
const CALM = 0.02; // a layer that is slower is called by the kind of its place
const RESTS = 1e-5; // and one that is slower than this has come to rest
const NEAR = 0.01; // of the least distance: so near a layer is the nearest one
const SNAP = 11; // pixels: so near to the yellow line the target is on it,
const KEY = 14; // and so far an arrow key takes it
const TURN = 62; // pixels, to the side of the coin
const [TRIED, EACH] = [100, 8]; // targets, and layers for each
const NO_MOVE = -1;

/** How many layers stand at a singular point, at the nearest layer, and in the second valley. */
interface Ends {
  singular: number;
  near: number;
  second: number;
}

const triple = ({ s, y, z }: LearningPlace): Triple => [s, y, z];

function make(host: HTMLElement, talk: Talk): Scene<LearningFacts, LearningPlace> {
  let facts: LearningFacts;
  let look: Look;
  let slice: Slice;
  let layers: Layers;
  let judge: Layers;
  let solids: Solids | undefined;
  let things: Thing[] = [];
  let paintedIn = "";

  let place: LearningPlace;
  let rests: Rest[] = [];
  let move = NO_MOVE; // that asks for this target
  const guesses: number[] = []; // of each move
  const answered = new Set<number>();
  let isHeld = false;
  let isOver = false; // the layers have come to rest
  let isNew = true; // they come from nowhere
  let seed = 1;
  let coinShare = 0;
  let trying = 0; // targets that are still to be tried
  let tried = { targets: 0, singular: 0 };

  const controls = new Controls<LearningPlace>(talk, (next) => {
    place = next;
    aim();
    if (!isHeld) begin();
  });
  const frame = eachFrame(paint);

  const view = viewIn(host, "space");
  const space = new Space(view.svg, {
    name: "the surface",
    changed: () => frame.soon(),
    clicked() {},
  });
  // Where layers rest: lit if singular; a large ring is the nearest layer, a small one is not.
  const over = view.svg.append("g").attr("class", "rests nv-answer");
  const light = over.append("circle").attr("class", "light");
  const way = over.append("line").attr("class", "way role-soft");
  const rings = [12, 8].map((radius) => over.append("circle").attr("r", radius));
  const ring = handle(view.svg.append("g"), {
    name: "the target",
    isFlat: true,
    begin() {
      play.stop();
      controls.hold();
      isHeld = true;
      frame.soon();
    },
    moved: (pixel) => controls.go(dragged(pixel)),
    end() {
      isHeld = false;
      controls.release();
      begin(); // those that were pulled along may stand where none would rest
      if (!isAsking()) play.start();
    },
    keyed(right, up) {
      const [x, y] = space.project(drawnAt(slice, triple(place)));
      controls.go(dragged([x + KEY * right, y - KEY * up]));
      if (!isAsking()) play.start();
    },
  });

  const { footer, note } = footerIn(host);
  const many = footer.appendChild(button(`${TRIED} random targets`, tryMany));
  const play = player(footer, {
    name: "let 40 new layers learn",
    seconds: SECONDS,
    from() {
      if (isOver || layers.time === 0) renew();
      return shareOf(layers.time);
    },
    to(share) {
      learn(timeAt(share) - layers.time);
      return isOver;
    },
    moments: () => MOMENTS.map(shareOf),
  });

  const side = host.appendChild(element("div", "side"));
  const steps = side.appendChild(element("div", "steps"));
  Object.assign(steps, { role: "group", ariaLabel: "three moves" });
  const question = side.appendChild(element("p", "question"));
  const talkBox = side.appendChild(element("div", "talk"));
  const choices = talkBox.appendChild(element("div", "choices"));
  Object.assign(choices, { role: "group", ariaLabel: "your guess" });
  const answer = talkBox.appendChild(element("p", "answer nv-answer"));
  answer.ariaLive = "polite";
  const chart = learningChart(side);

  // --- The layers -------------------------------------------------------------------------------

  /** ▶'s time: slow at first. */
  function timeAt(share: number): number {
    return (facts.flow.time * Math.expm1(GROWTH * share)) / Math.expm1(GROWTH);
  }

  function shareOf(time: number): number {
    return Math.log1p((time / facts.flow.time) * Math.expm1(GROWTH)) / GROWTH;
  }

  /** The target is elsewhere: the nearest layer is known at once, the forty have to learn it. */
  function aim() {
    const forms = formsAt(place);
    layers.aim(forms);
    rests = restsOf(forms);
    const isAt = ({ target }: LearningFacts["moves"][number]) =>
      distance(triple(target), triple(place)) < 1e-6;
    move = facts.moves.findIndex(isAt);
    answer.textContent = "";
    frame.soon();
  }

  /** New layers, which stand until ▶ or a guess. */
  function begin() {
    play.stop();
    renew();
  }

  /** New layers with random weights. */
  function renew() {
    layers.restart(normals(seed++));
    isNew = true;
    isOver = false;
    answer.textContent = "";
    ask();
    frame.soon();
  }

  function learn(time: number) {
    layers.advance(Math.max(0, time));
    const isCalm = Array.from({ length: layers.count }, (_, run) => layers.speed(run));
    isOver = layers.time >= facts.flow.time - 1e-6 || Math.max(...isCalm) < RESTS;
    frame.soon();
  }

  const isAsking = () => move !== NO_MOVE && guesses[move] === undefined;

  // --- Each frame -------------------------------------------------------------------------------

  function paint() {
    if (!solids) return;
    if (isHeld) {
      layers.advance(HELD);
      frame.soon();
    }
    const ends = paintLayers();
    if (isOver && !isHeld) finish(ends);
    tryOne();
    // The nearest layer is known at once, and shown only when it gives no answer away.
    const isSecret = move !== NO_MOVE && !answered.has(move);
    host.classList.toggle("is-asking", isSecret);
    const at = drawnAt(slice, triple(place));
    solids.target.to(at);
    space.paint();
    paintRests(at, ends);
    ring.to(space.project(at), place.s, `${where()}: ${facts.kinds[kindOf(place)]}`, [
      ...controls.range("s"),
    ]);
    say(ends);
  }

  function paintLayers(): Ends {
    const { singular } = facts.flow;
    const ends = { singular: 0, near: 0, second: 0 };
    const [nearest, second] = rests.map((rest) => rest.distance);
    const eye = space.ray([0, 0]).from;
    const forms = new Float64Array(6);
    for (let run = 0; run < layers.count; run++) {
      layers.forms(run, forms);
      const away = distanceOf(forms, layers.target);
      const ratio = layers.ratio(run);
      // At the start, and on its way past the yellow line, a layer is not at rest there.
      const isSingular = ratio < singular && layers.time > 1 && layers.speed(run) < CALM;
      const twin = triple(twinOf(forms));
      const isFar = isBeyond(slice, twin);
      solids!.layers.put(run, drawnAt(slice, twin), eye, { isSingular, isFar, isNew });
      chart.put(run, away, ratio, isSingular);
      const isNear = away < nearest + NEAR;
      ends.near += Number(isNear);
      ends.second += Number(!isNear && Math.abs(away - second) < NEAR);
      ends.singular += Number(isSingular);
    }
    chart.bound(nearest);
    solids!.layers.done();
    isNew = false;
    return ends;
  }

  function paintRests(at: Triple, { singular }: Ends) {
    const seen = rests.map(({ forms }) => space.project(drawnAt(slice, triple(twinOf(forms)))));
    const isMet = rests[0].distance < NEAR; // the target is the layer
    rings.forEach((circle, n) => {
      const isShown = n < seen.length && !(isMet && n === 0);
      circle.style("display", isShown ? "" : "none");
      if (isShown) circle.attr("cx", seen[n][0]).attr("cy", seen[n][1]);
    });
    way.style("display", isMet ? "none" : "");
    const [x, y] = space.project(at);
    way.attr("x1", x).attr("y1", y).attr("x2", seen[0][0]).attr("y2", seen[0][1]);
    light.attr("cx", seen[0][0]).attr("cy", seen[0][1]);
    light.attr("r", singular ? 14 + 16 * Math.sqrt(singular / layers.count) : 0);
  }

  // --- The reader's hand ------------------------------------------------------------------------

  /** In the plane of the screen through the target; it snaps to the line, and stays on the coin. */
  function dragged(pixel: Point): LearningPlace {
    const ray = space.ray(pixel);
    const across = cross([1, 0, 0], ray.way);
    const along = dot(cross(ray.from, ray.way), across) / dot(across, across);
    const online: Triple = [Math.max(-1, Math.min(1, along)), 0, 0];
    const [x, y] = space.project(online);
    if (Math.hypot(x - pixel[0], y - pixel[1]) < SNAP) return placeAt(online);
    const onPlane = (normal: Triple, through: Triple) => {
      const depth = dot(minus(through, ray.from), normal) / dot(ray.way, normal);
      return plus(ray.from, depth, ray.way);
    };
    if (coinShare && isOnCoin({ ...place, z: 0 }, { ...facts.coin, radius: Infinity })) {
      const found = placeAt(onPlane([0, 1, 0], [0, 0, 0]));
      if (isOnCoin({ ...found, y: 0 }, facts.coin)) return { ...found, y: 0 };
    }
    const [wide, tall] = view.size();
    const ahead = space.ray([wide / 2, tall / 2]).way;
    const found = onPlane(ahead, drawnAt(slice, triple(place)));
    return placeAt(size(found) > 1 ? unit(found) : found);
  }

  function placeAt(at: Triple): LearningPlace {
    const { centre, stretch } = slice.formulas;
    const [s, y, z] = at.map((t, i) => centre[i] + t / stretch[i]);
    return { s, y, z };
  }

  /** So many more: the counts of all presses add up, and the last of them are marked. */
  function tryMany() {
    trying = TRIED;
    answer.textContent = "";
    frame.soon();
  }

  /** One more random target in the ball of the drawing, and layers that learn it to the end. */
  function tryOne() {
    if (!trying) return;
    trying--;
    const uniform = uniforms(1000 + seed);
    const normal = normals(seed++);
    const far = Math.cbrt(uniform());
    const at = plus([0, 0, 0], far, unit([normal(), normal(), normal()]));
    judge.restart(normal);
    judge.aim(formsAt(placeAt(at)));
    judge.advance(facts.flow.time);
    let singular = 0;
    for (let run = 0; run < EACH; run++) {
      singular += Number(judge.ratio(run) < facts.flow.singular);
    }
    solids!.marks.put(tried.targets % TRIED, at, singular > 0);
    tried = { targets: tried.targets + 1, singular: tried.singular + singular };
    const count = tried.singular || "none";
    answer.textContent =
      `${tried.targets} random targets, ${EACH} layers each: of ${EACH * tried.targets} layers` +
      ` ${count} ${tried.singular > 1 ? "end" : "ends"} singular.`;
    frame.soon();
  }

  // --- Words ------------------------------------------------------------------------------------

  const where = () => `s = ${number(place.s)}, y = ${number(place.y)}, z = ${number(place.z)}`;

  function goTo(index: number) {
    trying = 0;
    controls.go(facts.moves[index].target);
    begin();
    choices.querySelector("button")?.focus({ preventScroll: true });
  }

  /** The question of the move, with its choices until one is taken. */
  function ask() {
    steps.childNodes.forEach((one, index) => {
      (one as HTMLButtonElement).ariaPressed = String(index === move);
    });
    const own = "Your target. Hold it, and the layers follow; let go, and new ones start.";
    question.textContent = move === NO_MOVE ? own : facts.moves[move].asks;
    choices.replaceChildren();
    if (isAsking()) {
      choices.append(...facts.choices.map((text, index) => button(text, () => guess(index))));
    }
    play.show(!isAsking());
  }

  function guess(index: number) {
    guesses[move] = index;
    begin();
    footer.querySelector<HTMLElement>(".nv-play")!.focus({ preventScroll: true });
    play.start();
  }

  function say({ singular }: Ends) {
    const time = layers.time < 10 ? layers.time.toFixed(1) : layers.time.toFixed(0);
    const count = `time ${time}: ${singular} of ${layers.count} singular`;
    const start = `${layers.count} layers with random weights`;
    chart.headline([{ text: layers.time ? count : start, name: !layers.time }], false);
    many.style.display = coinShare ? "" : "none";
    const says = `target ${where()}: ${facts.kinds[kindOf(place)]}`;
    const hint = space.isThere ? says : "No 3-D picture: this browser has no WebGL.";
    stand(host, note, controls.isExact, false, hint);
  }

  /** The layers have come to rest: the answer, and with the last one the coin. */
  function finish(ends: Ends) {
    if (answer.textContent || trying) return;
    if (move === NO_MOVE) {
      answer.textContent = ownWords(ends);
      return;
    }
    answered.add(move);
    const { right, says, showsCoin } = facts.moves[move];
    const guessed = guesses[move];
    const mark = guessed === right ? "✓" : "✗";
    answer.textContent = `${mark} You guessed ${facts.choices[guessed]}. ${says}`;
    if (showsCoin) showCoin();
    else choices.replaceChildren(button("next move →", () => goTo(move + 1)));
  }

  /** A flow rests in a valley: at the nearest layer, or where else the distance is least nearby. */
  function ownWords({ singular, near, second }: Ends): string {
    const others = layers.count - near - second;
    const parts = [
      `${singular || "None"} of ${layers.count} singular`,
      near === layers.count ? "all at the nearest layer" : `${near} at the nearest layer`,
      second ? `${second} in a second valley (small ring)` : "",
      others ? `${others} still on their way` : "",
    ];
    return `${parts.filter(Boolean).join(", ")}.`;
  }

  function showCoin() {
    if (coinShare) return;
    const { lines, centre, radius } = facts.coin;
    const top = slice.inDrawing([centre, 0, radius]);
    space.label([{ lines, at: top, away: [-0.1, -0.12] }]); // the others would lie on it
    let before = 0;
    tween((share) => {
      coinShare = share;
      solids?.coin.grow(share);
      space.turnBy(TURN * (share - before), 0); // so that one sees how thin it is
      before = share;
    }, 1200);
  }

  // --- What Python says -------------------------------------------------------------------------

  interface Solids {
    layers: ReturnType<typeof layersSolids>;
    target: ReturnType<typeof targetSolids>;
    coin: ReturnType<typeof coinSolids>;
    marks: ReturnType<typeof marksSolids>;
  }

  /** Meshes are made once for a theme. */
  function build() {
    const { stage } = space;
    const drawn = redraw(stage, things, slice, facts.slice, look);
    solids = {
      layers: layersSolids(stage, layers.count, look),
      target: targetSolids(stage, look),
      coin: coinSolids(stage, slice, facts.coin, look),
      marks: marksSolids(stage, TRIED, look),
    };
    solids.coin.grow(coinShare);
    isNew = true;
    things = [...drawn.things, ...Object.values(solids).flatMap((one) => one.things)];
  }

  function open(message: Message<LearningFacts, LearningPlace>) {
    facts = message.facts;
    const { runs, tolerance } = facts.flow;
    slice = new Slice(facts.formulas);
    layers = new Layers(runs, tolerance);
    judge = new Layers(EACH, tolerance);
    const buttons = facts.moves.map(({ name }, index) => button(name, () => goTo(index)));
    steps.replaceChildren(...buttons);
  }

  return {
    show(message) {
      const isFirst = !facts;
      look = message.look;
      if (isFirst) open(message);
      controls.take(message, isFirst);
      view.headline(facts.says, false);
      chart.draw(facts.flow);
      if (paintedIn !== look.colors.ground) build();
      paintedIn = look.colors.ground;
      if (isFirst) lookAt(space, slice, facts.slice);
      space.resize(...view.size());
      ring.radius(1.3 * look.sizes.marker);
      frame.soon();
    },
    close() {
      controls.close();
      play.stop();
      frame.stop();
      space.close();
    },
  };
}

function button(text: string, press: () => void): HTMLButtonElement {
  const one = element("button", "");
  Object.assign(one, { type: "button", textContent: text });
  one.addEventListener("click", press);
  return one;
}

function element<Tag extends keyof HTMLElementTagNameMap>(tag: Tag, className: string) {
  return Object.assign(document.createElement(tag), { className });
}

export const learning = { make, style: css };
