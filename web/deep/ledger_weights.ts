/**
 * Weights of a network, the motions of its symmetries, and its output, in float64:
 * `engine/network.py` once more. A test compares them at random networks.
 */
import type { FamilyName } from "./ledger_facts";
import type { Attention, Network } from "./ledger_network";
import { each, exponential, made, plus, product, scaled, size, transposed } from "./matrix";
import type { Matrix } from "./matrix";

export interface Head {
  Q: Matrix;
  K: Matrix;
  V: Matrix;
}

/** What is done to a layer is done to each of its heads. */
export type Layer = Head[];

/** What moves the weights; "dimension" is no symmetry but a straight line. */
export type Motion = FamilyName | "dimension";

/** Where in the sequences of random numbers the weights and the motions begin. */
const [INPUT, BASIS, LINE] = [10, 20, 30];

/** From −1 to 1, for each place always the same: a weight stays while others come and go. */
function drawn(...place: number[]): number {
  let bits = 0x9e3779b9;
  for (const n of place) {
    bits = Math.imul(bits ^ (n + 1), 0x85ebca6b);
    bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
    bits ^= bits >>> 16;
  }
  return bits / 2 ** 31;
}

const random = (rows: number, columns: number, ...place: number[]) =>
  made(rows, columns, (i, j) => drawn(...place, i, j));

/** Weights and an input, such that the output of each layer has entries of the size of 1. */
export function weightsOf({ widths, headDims, heads, tokens, kind }: Network) {
  const X = random(widths[0], tokens, INPUT);
  let before = X;
  const layers = headDims.map((a, i): Layer => {
    const start = Array.from({ length: heads }, (_, h) => ({
      Q: random(a, widths[i], i, 3 * h),
      K: random(a, widths[i], i, 3 * h + 1),
      V: random(widths[i + 1], widths[i], i, 3 * h + 2),
    }));
    const factor = Math.sqrt(widths[i + 1] * tokens) / size(layerOf(start, before, kind));
    const layer = start.map(({ Q, K, V }) => {
      if (kind === "softmax") return { Q, K, V: scaled(factor, V) };
      const root = Math.cbrt(factor);
      return { Q: scaled(root, Q), K: scaled(root, K), V: scaled(root, V) };
    });
    before = layerOf(layer, before, kind);
    return layer;
  });
  return { layers, X };
}

export const outputOf = (layers: Layer[], X: Matrix, kind: Attention): Matrix =>
  layers.reduce((before, layer) => layerOf(layer, before, kind), X);

/** The heads of a layer add up. */
const layerOf = (layer: Layer, X: Matrix, kind: Attention): Matrix =>
  layer.map((head) => headOf(head, X, kind)).reduce(plus);

/** V X S with S = (KX)ᵀ(QX), or its softmax column by column. */
function headOf({ Q, K, V }: Head, X: Matrix, kind: Attention): Matrix {
  const scores = product(transposed(product(K, X)), product(Q, X));
  const S = kind === "softmax" ? transposed(transposed(scores).map(softmax)) : scores;
  return product(product(V, X), S);
}

function softmax(scores: number[]): number[] {
  const top = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - top));
  const all = powers.reduce((a, b) => a + b);
  return powers.map((power) => power / all);
}

/** The weights after a time s of the one-parameter group of a family, or on the straight line. */
export function movedBy(layers: Layer[], motion: Motion, s: number): Layer[] {
  if (motion === "rescalings") return layers.map((layer) => rescaled(layer, s));
  if (motion === "dimension") return layers.map((layer, i) => elsewhere(layer, i, s));
  const generators = generatorsOf(layers, motion);
  if (motion === "head bases") return layers.map((layer, i) => turned(layer, generators[i], s));
  return generators.reduce((moved, E, i) => interfaceTurned(moved, i, E, s), layers);
}

/** For each layer, or for each place between layers, a matrix that generates the motion. */
export function generatorsOf(layers: Layer[], motion: "head bases" | "interfaces"): Matrix[] {
  const sizes =
    motion === "head bases"
      ? layers.map(([{ Q }]) => Q.length)
      : layers.slice(1).map(([{ Q }]) => Q[0].length);
  return sizes.map((n, i) => {
    const E = random(n, n, BASIS, i);
    return scaled((0.8 * Math.sqrt(n)) / size(E), E);
  });
}

/** A × c and V ÷ c, in each head another c. */
function rescaled(layer: Layer, s: number): Layer {
  return layer.map(({ Q, K, V }, h) => {
    const c = Math.exp(s / (h + 1));
    return { Q: scaled(c, Q), K, V: scaled(1 / c, V) };
  });
}

/** Another basis inside each head. */
function turned(layer: Layer, E: Matrix, s: number): Layer {
  const there = exponential(E, s);
  const back = exponential(transposed(E), -s);
  return layer.map(({ Q, K, V }) => ({ Q: product(there, Q), K: product(back, K), V }));
}

/** Another basis between layer i and the next: one writes in it, the other reads in it. */
function interfaceTurned(layers: Layer[], i: number, E: Matrix, s: number): Layer[] {
  const there = exponential(E, s);
  const back = exponential(E, -s);
  const write = (head: Head) => ({ ...head, V: product(there, head.V) });
  const read = ({ Q, K, V }: Head) => {
    return { Q: product(Q, back), K: product(K, back), V: product(V, back) };
  };
  return layers.map((layer, k) => {
    if (k === i) return layer.map(write);
    return k === i + 1 ? layer.map(read) : layer;
  });
}

/** Weights of layer i on a straight line that no symmetry knows. */
function elsewhere(layer: Layer, i: number, s: number): Layer {
  const moved = (M: Matrix, which: number) =>
    each(M, (entry, row, column) => entry + 0.3 * s * drawn(LINE, i, which, row, column));
  return layer.map(({ Q, K, V }, h) => ({
    Q: moved(Q, 3 * h),
    K: moved(K, 3 * h + 1),
    V: moved(V, 3 * h + 2),
  }));
}

/** All matrices of a network, head by head. */
export const matricesOf = (layers: Layer[]): Matrix[] =>
  layers.flatMap((layer) => layer.flatMap(({ Q, K, V }) => [Q, K, V]));
