/** What moves in space: layers with tails, the target, the coin, targets that were tried. */
import type { Look } from "../kit/picture";
import {
  ball,
  distance,
  joined,
  minus,
  plus,
  size,
  tube,
  unit,
  type Solid,
  type Triple,
} from "../kit/solids";
import { rgb, type Stage } from "../kit/stage";
import type { CoinFacts } from "./learning_facts";
import type { Slice } from "./surface_point";

// Radii.
const BALL = 0.032;
const RIM = 0.041;
const TARGET = 0.045;
const MARK = 0.014;
const STEM = 0.006;
const COIN_RIM = 0.009;
const ROUGH = 7; // rows of a small ball
const TAIL = 30; // frames
const FAR = 0.3; // the farthest layers are drawn so much beyond the edge
const EDGE = 1; // of the drawing, a unit ball
const SIDES = 64; // of the coin

/** A layer beyond the edge is drawn near to it, so that one sees from where it comes. */
export function drawnAt(slice: Slice, place: Triple): Triple {
  const at = slice.inDrawing(place);
  const away = size(at);
  if (away < EDGE) return at;
  return plus([0, 0, 0], (EDGE + FAR * (1 - Math.exp(2 * (EDGE - away)))) / away, at);
}

export const isBeyond = (slice: Slice, place: Triple) => size(slice.inDrawing(place)) > EDGE;

/** Many balls that move each by itself, in one solid. */
class Balls {
  readonly solid: Solid & { color: number[] };
  private readonly form = ball(1, ROUGH);

  constructor(count: number) {
    this.solid = { ...joined(Array.from({ length: count }, () => this.form)), color: [] };
    this.solid.position.fill(0);
    this.solid.color = this.solid.position.map(() => 0);
  }

  put(index: number, at: Triple, radius: number, color: Triple) {
    const { position } = this.form;
    const start = index * position.length;
    for (let n = 0; n < position.length; n++) {
      this.solid.position[start + n] = at[n % 3] + radius * position[n];
      this.solid.color[start + n] = color[n % 3];
    }
  }
}

/** All layers: a ball each, with a rim and a tail; behind a sheet it is seen faintly. */
export function layersSolids(stage: Stage, count: number, { colors }: Look) {
  const balls = new Balls(count);
  const rims = new Balls(count);
  const tails: Solid & { color: number[] } = {
    position: Array<number>(6 * TAIL * count).fill(0),
    normal: Array<number>(6 * TAIL * count).fill(0),
    color: Array<number>(6 * TAIL * count).fill(0),
    faces: Array.from({ length: 2 * TAIL * count }, (_, n) => n),
  };
  const tones = {
    learns: rgb(colors["layer 4"]),
    far: rgb(colors.ghost),
    singular: rgb(colors.singular),
  };
  const ground = rgb(colors.ground);
  for (let n = 0; n < tails.color.length; n++) tails.color[n] = tones.learns[n % 3];
  const things = [
    stage.add(tails, { isLit: false, opacity: 0.4, isLines: true }),
    stage.add(rims.solid, { isLit: false, part: "inside" }),
    stage.add(balls.solid, {}),
    stage.add(balls.solid, { isLit: false, opacity: 0.3, part: "hidden" }),
  ];
  return {
    things,
    /** `isNew`: from nowhere, so without a tail. */
    put(
      run: number,
      at: Triple,
      eye: Triple,
      { isSingular, isFar, isNew }: { isSingular: boolean; isFar: boolean; isNew: boolean },
    ) {
      // Lifted from its sheet toward the eye, so that it does not sink in.
      const here = plus(at, BALL, unit(minus(eye, at)));
      const scale = isSingular ? 1.15 : isFar ? 0.6 : 1;
      const tone = isSingular ? tones.singular : isFar ? tones.far : tones.learns;
      balls.put(run, here, scale * BALL, tone);
      rims.put(run, here, scale * RIM, ground);
      const { position } = tails;
      const start = 6 * TAIL * run;
      if (isNew || isFar) {
        for (let n = 0; n < 6 * TAIL; n++) position[start + n] = here[n % 3];
        return;
      }
      // A line goes from where it was some frames ago to the frame before that.
      position.copyWithin(start + 6, start, start + 6 * (TAIL - 1));
      for (let n = 0; n < 3; n++) {
        position[start + 3 + n] = position[start + 6 + n];
        position[start + n] = here[n];
      }
    },
    done() {
      things[0].change(tails);
      things[1].change(rims.solid);
      things[2].change(balls.solid);
      things[3].change(balls.solid);
    },
  };
}

/** What the reader holds; a stem says where it stands above the yellow line. */
export function targetSolids(stage: Stage, { colors }: Look) {
  const marked = stage.add(ball(TARGET), { color: colors.focus });
  const stem = stage.add(joined([]), { color: colors.focus });
  return {
    things: [marked, stem],
    to(at: Triple) {
      const foot: Triple = [at[0], 0, 0];
      const isAbove = distance(at, foot) > 0.05;
      marked.moveTo(at);
      stem.show(isAbove);
      if (isAbove) stem.change(tube([foot, at], STEM, 6));
    },
  };
}

/** The targets whose nearest layer is a boundary point. */
export function coinSolids(stage: Stage, slice: Slice, coin: CoinFacts, { colors }: Look) {
  const around = (share: number): Triple[] =>
    Array.from({ length: SIDES + 1 }, (_, n) => {
      const turn = (2 * Math.PI * n) / SIDES;
      const far = share * coin.radius;
      return slice.inDrawing([coin.centre + far * Math.cos(turn), 0, far * Math.sin(turn)]);
    });
  const faces = Array.from({ length: SIDES }, (_, n) => [0, n + 1, n + 2]).flat();
  const disc = (share: number): Solid => {
    const corners = [slice.inDrawing([coin.centre, 0, 0]), ...around(share)];
    return { position: corners.flat(), normal: corners.flatMap(() => [0, 1, 0]), faces };
  };
  const sheet = stage.add(disc(0), { color: colors.singular, isLit: false, opacity: 0.32 });
  const rim = stage.add(joined([]), { color: colors.singular });
  return {
    things: [sheet, rim],
    /** It grows, as `share` goes from 0 to 1. */
    grow(share: number) {
      sheet.show(share > 0);
      rim.show(share > 0);
      if (!share) return;
      sheet.change(disc(share));
      rim.change(tube(around(share), COIN_RIM, 6));
    },
  };
}

/** Targets that were tried: small, or larger and yellow where layers ended singular. */
export function marksSolids(stage: Stage, most: number, { colors }: Look) {
  const balls = new Balls(most);
  const thing = stage.add(balls.solid, { isLit: false });
  const tones = { smooth: rgb(colors.focus), singular: rgb(colors.singular) };
  return {
    things: [thing],
    put(index: number, at: Triple, isSingular: boolean) {
      const tone = isSingular ? tones.singular : tones.smooth;
      balls.put(index, at, isSingular ? 3 * MARK : MARK, tone);
      thing.change(balls.solid);
    },
  };
}
