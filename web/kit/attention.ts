/** The output of layers of attention, in float64: `attention/architecture.py` once more. */
import { product, transposed, type Matrix } from "./matrix";

export type Attention = "lightning" | "softmax";

/** A layer whose A is KᵀQ. */
export interface Layer {
  Q: Matrix;
  K: Matrix;
  V: Matrix;
}

/** φ(X), layer by layer. */
export const outputOf = (layers: Layer[], X: Matrix, kind: Attention): Matrix =>
  layers.reduce((tokens, layer) => layerOf(layer, tokens, kind), X);

/** The scores are (KX)ᵀ(QX). */
export function layerOf({ Q, K, V }: Layer, X: Matrix, kind: Attention): Matrix {
  return mixed(V, X, product(transposed(product(K, X)), product(Q, X)), kind);
}

/** V X S, where S has the scores, or their softmax column by column. */
export function mixed(V: Matrix, X: Matrix, scores: Matrix, kind: Attention): Matrix {
  const S = kind === "softmax" ? transposed(transposed(scores).map(softmax)) : scores;
  return product(product(V, X), S);
}

function softmax(scores: number[]): number[] {
  const top = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - top));
  const all = powers.reduce((a, b) => a + b);
  return powers.map((power) => power / all);
}
