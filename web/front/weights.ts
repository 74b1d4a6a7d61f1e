/**
 * The weights of the front page's network: where they are at a point of the disc, and how they move
 * by themselves.
 */
import { matricesOf, movedBy } from "../deep/ledger_weights";
import type { Layer } from "../kit/attention";
import type { Matrix } from "../kit/matrix";
import type { Point } from "../kit/picture";

/** What Python says; `tools/book/front.py` is the other end. */
export interface FrontFacts {
  schema: "front/1";
  parameters: number;
  layers: Layer[];
  input: Matrix;
  output: Matrix;
}

/** One entry of one matrix: the index of the matrix, from Q of the first layer on. */
export interface Entry {
  matrix: number;
  row: number;
  column: number;
}

/** How far factors go: to exp(FACTOR) between A and V, where the disc ends. */
const FACTOR = 0.5;

/**
 * The weights at a point of the disc: other bases inside the heads from left to right, other bases
 * between the layers upwards, and a factor along the diagonal. No output notices any of them.
 */
export function weightsAt(layers: Layer[], [x, y]: Point): Layer[] {
  const turned = movedBy(movedBy(layers, "head bases", x), "interfaces", y);
  return movedBy(turned, "rescalings", (FACTOR * (x + y)) / Math.SQRT2);
}

/** The same weights, but for one entry. */
export function withEntry(layers: Layer[], { matrix, row, column }: Entry, more: number): Layer[] {
  const all = matricesOf(layers);
  all[matrix] = all[matrix].map((old, i) =>
    old.map((entry, j) => (i === row && j === column ? entry + more : entry)),
  );
  return layers.map((_, i) => ({ Q: all[3 * i], K: all[3 * i + 1], V: all[3 * i + 2] }));
}

/** Where each cell of the picture belongs, in the order in which it is drawn. */
export const entriesOf = (layers: Layer[]): Entry[] =>
  matricesOf(layers).flatMap((rows, matrix) =>
    rows.flatMap((entries, row) => entries.map((_, column) => ({ matrix, row, column }))),
  );

/** Where everything is: a point of the disc, and how far one weight has moved by itself. */
export interface Place {
  at: Point;
  alone: number;
}

export const START: Place = { at: [0, 0], alone: 0 };

// Seconds.
const TOGETHER = 11; // all weights move,
const ALONE = 3; // then one
const REACH = 0.68; // of the disc, in each direction
const SWING = 0.9; // how far the one weight goes

/** Where everything is after so many seconds: first on a closed curve from the middle. */
export function placeAt(seconds: number): Place {
  const now = seconds % (TOGETHER + ALONE);
  if (now > TOGETHER) {
    return { ...START, alone: SWING * Math.sin((2 * Math.PI * (now - TOGETHER)) / ALONE) };
  }
  const turn = (2 * Math.PI * now) / TOGETHER;
  return { at: [REACH * Math.sin(2 * turn), REACH * Math.sin(3 * turn)], alone: 0 };
}

/** Where a reader wants little motion: the next place of a few. */
export const stepsOf = (count: number): Place[] =>
  Array.from({ length: count }, (_, n) => placeAt((n * (TOGETHER + ALONE)) / count));
