/**
 * Weights of a network, and the motions of its symmetries, in float64: `attention/architecture.py`
 * once more. A test compares them at random networks.
 */
import { layerOf, type Attention, type Layer } from "../kit/attention";
import {
  each,
  exponential,
  matrixOf,
  norm,
  product,
  scaled,
  transposed,
  type Matrix,
} from "../kit/matrix";
import type { FamilyName } from "./ledger_facts";
import type { Network } from "./ledger_network";

/** What moves the weights; "dimension" is no symmetry but a straight line. */
export type Motion = FamilyName | "dimension";

/** Where in the sequences of random numbers the weights and the motions begin. */
const INPUT = 10;
const BASIS = 20;
const LINE = 30;

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
  matrixOf(rows, columns, (i, j) => drawn(...place, i, j));

/** Weights and an input, such that the output of each layer has entries of the size of 1. */
export function weightsOf({ widths, headDims, tokens, kind }: Network) {
  const X = random(widths[0], tokens, INPUT);
  let before = X;
  const layers = headDims.map((a, i): Layer => {
    const start = {
      Q: random(a, widths[i], i, 0),
      K: random(a, widths[i], i, 1),
      V: random(widths[i + 1], widths[i], i, 2),
    };
    const factor = Math.sqrt(widths[i + 1] * tokens) / norm(layerOf(start, before, kind));
    const layer = enlarged(start, factor, kind);
    before = layerOf(layer, before, kind);
    return layer;
  });
  return { layers, X };
}

/** The layer whose output is so many times as large. */
function enlarged({ Q, K, V }: Layer, factor: number, kind: Attention): Layer {
  if (kind === "softmax") return { Q, K, V: scaled(factor, V) };
  const root = Math.cbrt(factor);
  return { Q: scaled(root, Q), K: scaled(root, K), V: scaled(root, V) };
}

// Of the time of a motion.
const OUT = 0.2; // to its far end,
const HOLD = 0.15; // and there

/** How far a motion is, from −1 to 1: out, to the other side, and home; it holds at both ends. */
export function swing(share: number): number {
  const half = share < 0.5 ? share : 1 - share;
  const side = share < 0.5 ? 1 : -1;
  if (half >= OUT && half <= OUT + HOLD) return side;
  const part = half < OUT ? half / OUT : (0.5 - half) / (0.5 - OUT - HOLD);
  return side * Math.sin((Math.PI / 2) * part);
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
      ? layers.map(({ Q }) => Q.length)
      : layers.slice(1).map(({ Q }) => Q[0].length);
  return sizes.map((n, i) => {
    const E = random(n, n, BASIS, i);
    return scaled((0.8 * Math.sqrt(n)) / norm(E), E);
  });
}

/** A × c and V ÷ c. */
function rescaled({ Q, K, V }: Layer, s: number): Layer {
  const c = Math.exp(s);
  return { Q: scaled(c, Q), K, V: scaled(1 / c, V) };
}

/** Another basis inside the head. */
function turned({ Q, K, V }: Layer, E: Matrix, s: number): Layer {
  const there = exponential(E, s);
  const back = exponential(transposed(E), -s);
  return { Q: product(there, Q), K: product(back, K), V };
}

/** Another basis between layer i and the next: one writes in it, the other reads in it. */
function interfaceTurned(layers: Layer[], i: number, E: Matrix, s: number): Layer[] {
  const there = exponential(E, s);
  const back = exponential(E, -s);
  const write = (layer: Layer) => ({ ...layer, V: product(there, layer.V) });
  const read = ({ Q, K, V }: Layer) => {
    return { Q: product(Q, back), K: product(K, back), V: product(V, back) };
  };
  return layers.map((layer, k) => {
    if (k === i) return write(layer);
    return k === i + 1 ? read(layer) : layer;
  });
}

/** Weights of layer i on a straight line that no symmetry knows. */
function elsewhere({ Q, K, V }: Layer, i: number, s: number): Layer {
  const moved = (M: Matrix, which: number) =>
    each(M, (entry, row, column) => entry + 0.3 * s * drawn(LINE, i, which, row, column));
  return { Q: moved(Q, 0), K: moved(K, 1), V: moved(V, 2) };
}

/** All matrices of a network, layer by layer. */
export const matricesOf = (layers: Layer[]): Matrix[] => layers.flatMap(({ Q, K, V }) => [Q, K, V]);
