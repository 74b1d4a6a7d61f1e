/** The slice in space with all layers in it, and the target that one takes hold of. */
import { handle } from "../kit/handle";
import { tween } from "../kit/motion";
import type { Look, Point, Range } from "../kit/picture";
import { cross, dot, minus, plus, size, unit, type Triple } from "../kit/solids";
import { Space } from "../kit/space";
import type { Thing } from "../kit/stage";
import { viewIn } from "../kit/view";
import type { Course, Standing } from "./learning_course";
import type { LearningFacts, LearningPlace } from "./learning_facts";
import {
  coinSolids,
  drawnAt,
  isBeyond,
  layersSolids,
  marksSolids,
  targetSolids,
} from "./learning_solids";
import { TRIED } from "./learning_trial";
import { isInCoinPlane, isOnCoin, tripleOf, twinOf } from "./learning_twin";
import { lookAt, redraw } from "./slice_solids";
import { Slice } from "./surface_point";

const SNAP = 11; // pixels: so near to the yellow line the target is on it,
const KEY = 14; // and so far an arrow key takes it
const TURN = 62; // pixels, to the side of the coin

export interface SpaceHands {
  /** Another side of the space is seen. */
  changed(): void;
  /** Where the target is. */
  here(): LearningPlace;
  begin(): void;
  moved(place: LearningPlace): void;
  end(): void;
  /** An arrow key has moved it. */
  keyed(): void;
}

interface Solids {
  layers: ReturnType<typeof layersSolids>;
  target: ReturnType<typeof targetSolids>;
  coin: ReturnType<typeof coinSolids>;
  marks: ReturnType<typeof marksSolids>;
}

export function spaceView(host: HTMLElement, hands: SpaceHands) {
  let facts: LearningFacts;
  let slice: Slice;
  let solids: Solids;
  let things: Thing[] = [];
  const tried: { at: Triple; isSingular: boolean }[] = []; // the targets that are marked
  let paintedIn = "";
  let isNew = true; // the layers come from nowhere
  let coinShare = 0;

  const view = viewIn(host, "space");
  const space = new Space(view.svg, {
    name: "the surface",
    changed: () => hands.changed(),
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
    begin: () => hands.begin(),
    moved: (pixel) => hands.moved(dragged(pixel)),
    end: () => hands.end(),
    keyed(right, up) {
      const [x, y] = space.project(drawnAt(slice, tripleOf(hands.here())));
      hands.moved(dragged([x + KEY * right, y - KEY * up]));
      hands.keyed();
    },
    ended(isLargest) {
      // To the end of its slider.
      hands.moved({ ...hands.here(), s: isLargest ? Infinity : -Infinity });
      hands.keyed();
    },
  });

  /**
   * In the plane of the screen through the target. It snaps to the yellow line; from a place on the
   * coin it stays on it, up to its edge.
   */
  function dragged(pixel: Point): LearningPlace {
    const place = hands.here();
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
    if (coinShare && isInCoinPlane(place)) {
      const onCoin = { ...placeAt(onPlane([0, 1, 0], [0, 0, 0])), y: 0 };
      if (isOnCoin(onCoin, facts.coin)) return onCoin;
    }
    const [wide, tall] = view.size();
    const ahead = space.ray([wide / 2, tall / 2]).way;
    const found = onPlane(ahead, drawnAt(slice, tripleOf(place)));
    return placeAt(size(found) > 1 ? unit(found) : found);
  }

  function placeAt(at: Triple): LearningPlace {
    const { centre, stretch } = slice.formulas;
    const [s, y, z] = at.map((t, i) => centre[i] + t / stretch[i]);
    return { s, y, z };
  }

  /** Meshes are made once for a theme. */
  function build(look: Look) {
    const { stage } = space;
    const drawn = redraw(stage, things, slice, facts.slice, look);
    solids = {
      layers: layersSolids(stage, facts.flow.runs, look),
      target: targetSolids(stage, look),
      coin: coinSolids(stage, slice, facts.coin, look),
      marks: marksSolids(stage, TRIED, look),
    };
    solids.coin.grow(coinShare);
    tried.forEach(({ at, isSingular }, place) => solids.marks.put(place, at, isSingular));
    isNew = true;
    things = [...drawn.things, ...Object.values(solids).flatMap((one) => one.things)];
  }

  function moveRests(at: Triple, { rests, isMet, count }: Course, singular: number) {
    const seen = rests.map(({ forms }) => space.project(drawnAt(slice, tripleOf(twinOf(forms)))));
    rings.forEach((circle, n) => {
      const isShown = n < seen.length && !(isMet && n === 0);
      circle.style("display", isShown ? "" : "none");
      if (isShown) circle.attr("cx", seen[n][0]).attr("cy", seen[n][1]);
    });
    way.style("display", isMet ? "none" : "");
    const [x, y] = space.project(at);
    way.attr("x1", x).attr("y1", y).attr("x2", seen[0][0]).attr("y2", seen[0][1]);
    light.attr("cx", seen[0][0]).attr("cy", seen[0][1]);
    light.attr("r", singular ? 14 + 16 * Math.sqrt(singular / count) : 0);
  }

  return {
    placeAt,
    hasCoin: () => coinShare > 0,
    isThere: () => space.isThere,

    open(said: LearningFacts) {
      facts = said;
      slice = new Slice(facts.formulas);
    },

    /** What does not move. */
    draw(look: Look) {
      view.headline(facts.says, false);
      const isFirst = !paintedIn;
      if (paintedIn !== look.colors.ground) build(look);
      paintedIn = look.colors.ground;
      if (isFirst) lookAt(space, slice, facts.slice);
      space.resize(...view.size());
      ring.radius(1.3 * look.sizes.marker);
    },

    /** The layers are others: they leave no tails. */
    forget() {
      isNew = true;
    },

    moveLayers(standings: Standing[]) {
      const eye = space.ray([0, 0]).from;
      for (const { run, twin, isSingular } of standings) {
        const isFar = isBeyond(slice, twin);
        solids.layers.put(run, drawnAt(slice, twin), eye, { isSingular, isFar, isNew });
      }
      solids.layers.done();
      isNew = false;
    },

    /** A target that was tried, small; the last ones are marked. */
    mark(index: number, at: Triple, isSingular: boolean) {
      const place = index % TRIED;
      tried[place] = { at, isSingular };
      solids.marks.put(place, at, isSingular);
    },

    /** The target, and where layers can rest: it is lit where `singular` of them do. */
    moveTarget(course: Course, singular: number, says: string, range: Range) {
      const place = hands.here();
      const at = drawnAt(slice, tripleOf(place));
      solids.target.to(at);
      space.paint();
      moveRests(at, course, singular);
      ring.to(space.project(at), place.s, says, range);
    },

    /** The coin grows while the space turns, so that one sees how thin it is. */
    showCoin() {
      if (coinShare) return;
      const { lines, centre, radius } = facts.coin;
      const top = slice.inDrawing([centre, 0, radius]);
      space.label([{ lines, at: top, away: [-0.1, -0.12] }]); // the others would lie on it
      let before = 0;
      tween((share) => {
        coinShare = share;
        solids.coin.grow(share);
        space.turnBy(TURN * (share - before), 0);
        before = share;
      }, 1200);
    },

    close: () => space.close(),
  };
}
