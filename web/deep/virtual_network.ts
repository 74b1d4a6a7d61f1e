/**
 * Two networks, before and after: `virtual.py` and `rescaling.py` once more. A test compares both
 * at random states.
 */
import { outputOf, type Layer } from "../kit/attention";
import { each, norm, plus, product, scaled, sum, transposed, type Matrix } from "../kit/matrix";
import { walkAt } from "../kit/walks";
import type { Formulas, VirtualPlace } from "./virtual_facts";

/** A matrix before and after. */
export interface Moved {
  start: Matrix;
  now: Matrix;
  /** How far it has moved, as a share of the larger of both. */
  change: number;
  isSame: boolean;
  /** log₂ of the factor between both sizes; 0 for zeros. */
  log: number;
}

/** All that is seen of a place. */
export interface Seen {
  /** The change of basis; null where there is a rescaling instead. */
  C: Matrix | null;
  /** By the keys of the matrices. */
  parts: Record<string, Moved>;
}

export function seenAt(formulas: Formulas, place: VirtualPlace): Seen {
  const { layers, interface: at, X, kind, same } = formulas;
  const C = at === null ? null : basisAt(formulas, at, place.walk, place.along);
  const now = at === null ? rescaled(formulas, place) : rebased(formulas, at, place);
  const parts: Record<string, Moved> = {};
  const add = (key: string, start: Matrix, end: Matrix) => {
    parts[key] = movedOf(start, end, same);
  };
  for (const layer of at === null ? [] : [at, at + 1]) {
    for (const letter of ["Q", "K", "V"] as const) {
      add(`${letter}${layer}`, layers[layer - 1][letter], now[layer - 1][letter]);
    }
  }
  const [before, after] = [layers, now].map(virtualOf);
  add("L", before.L, after.L);
  before.M.forEach((M, i) => add(`M${i + 1}`, M, after.M[i]));
  add("output", outputOf(layers, X, kind), outputOf(now, X, kind));
  return { C, parts };
}

export function movedOf(start: Matrix, now: Matrix, same: number): Moved {
  const [before, after] = [norm(start), norm(now)];
  const most = Math.max(before, after);
  const change = most ? norm(plus(now, scaled(-1, start))) / most : 0;
  const log = before && after ? Math.log2(after / before) : 0;
  return { start, now, change, isSame: change <= same, log };
}

/** Another basis between two layers, and row 1 of the V before it moves alone, too (Eq. 9). */
function rebased(formulas: Formulas, at: number, place: VirtualPlace): Layer[] {
  const C = basisAt(formulas, at, place.walk, place.along);
  const back = basisAt(formulas, at, place.walk, -place.along);
  return formulas.layers.map((layer, i) => {
    if (i === at - 1) {
      const V = each(product(C, layer.V), (entry, row) => {
        return row ? entry : (1 + place.alone) * entry;
      });
      return { ...layer, V };
    }
    if (i !== at) return layer;
    return {
      Q: product(layer.Q, back),
      K: product(layer.K, back),
      V: product(layer.V, back),
    };
  });
}

function basisAt({ layers, ends }: Formulas, at: number, walk: VirtualPlace["walk"], s: number) {
  return walkAt(walk, layers[at - 1].V.length, s, ends);
}

/** Every M_i is multiplied by 2^log_i, and L by what answers that (Eq. 13). */
function rescaled(formulas: Formulas, place: VirtualPlace): Layer[] {
  const { layers, X, kind } = formulas;
  const logs = [place.log_1, place.log_2, place.log_3, place.log_4].slice(0, layers.length);
  const scaledLayers = layers.map((layer, i) => ({ ...layer, Q: scaled(2 ** logs[i], layer.Q) }));
  const powers = logs.map((log, i) => log * 3 ** (layers.length - 1 - i));
  let answer = 2 ** -sum(powers);
  if (kind === "softmax") {
    // No factor answers; this one is the best, by least squares.
    const start = outputOf(layers, X, kind).flat();
    const other = outputOf(scaledLayers, X, kind).flat();
    answer = sum(start.map((t, n) => t * other[n])) / sum(other.map((t) => t * t));
  }
  const factor = answer * 2 ** place.off;
  return scaledLayers.map((layer, i) => {
    return i === layers.length - 1 ? { ...layer, V: scaled(factor, layer.V) } : layer;
  });
}

/** L and M_1, …, M_l: all of the weights that a function can show (Eq. 8). */
function virtualOf(layers: Layer[]): { L: Matrix; M: Matrix[] } {
  let U: Matrix | null = null;
  const M: Matrix[] = [];
  for (const { Q, K, V } of layers) {
    const [keys, queries] = U ? [product(K, U), product(Q, U)] : [K, Q];
    M.push(product(transposed(keys), queries));
    U = U ? product(V, U) : V;
  }
  return { L: U!, M };
}
