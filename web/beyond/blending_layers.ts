/**
 * The special layer with a turned token, and two heads that blend, in float64:
 * `special_layer.py` and `heads.py` once more. A test compares both at random states.
 */
import { mixed } from "../kit/attention";
import { each, plus, product, scaled, transposed, type Matrix } from "../kit/matrix";
import type { HeadsFormulas, TokenFacts } from "./blending_facts";

export type Complex = [real: number, imaginary: number];

/** The number of absolute value 1 at this angle. */
export function unit(degrees: number): Complex {
  const quarter = degrees / 90;
  if (Number.isInteger(quarter)) {
    return [
      [1, 0],
      [0, 1],
      [-1, 0],
      [0, -1],
    ][quarter % 4] as Complex;
  }
  const angle = (degrees * Math.PI) / 180;
  return [Math.cos(angle), Math.sin(angle)];
}

const times = ([a, b]: Complex, [c, d]: Complex): Complex => [a * c - b * d, a * d + b * c];
const add = ([a, b]: Complex, [c, d]: Complex): Complex => [a + c, b + d];
const sum = (numbers: Complex[]): Complex => numbers.reduce(add, [0, 0]);

/** X Xᵀ X: column c is Σ_j (x_jᵀ x_c) x_j. */
function specialLayer(columns: Complex[][]): Complex[][] {
  return columns.map((column) => {
    const scores = columns.map((one) => sum(one.map((x, n) => times(x, column[n]))));
    return column.map((_, row) => sum(columns.map((one, j) => times(scores[j], one[row]))));
  });
}

/** Both columns of f⁰(ω x₁, x₂). */
export function tokenAt({ one, across }: TokenFacts, slant: number, degrees: number): Complex[][] {
  const omega = unit(degrees);
  const first = one.map((x): Complex => times(omega, [x, 0]));
  const second = across.map((y, n): Complex => [y + slant * one[n], 0]);
  return specialLayer([first, second]);
}

/** How far the output is from that at ω = 1. */
export function distanceAt(facts: TokenFacts, slant: number, degrees: number): number {
  const before = tokenAt(facts, slant, 0).flat();
  const now = tokenAt(facts, slant, degrees).flat();
  return Math.hypot(...now.flatMap(([a, b], n) => [a - before[n][0], b - before[n][1]]));
}

/** The angles at which the output comes back, as Python has found them exactly. */
export const returnsAt = ({ returns }: TokenFacts, slant: number): number[] =>
  returns[slant === 0 ? 0 : 1];

export interface Blend {
  A: Matrix[];
  V: Matrix[];
  outputs: Matrix;
}

/** A′ = g A, and V′ = V g⁻¹ if the values go along. */
export function blendAt(formulas: HeadsFormulas, degrees: number, follows: boolean): Blend {
  const A = turned(formulas.A, degrees);
  const V = follows ? turned(formulas.V, degrees) : formulas.V;
  return { A, V, outputs: outputsOf(A, V, formulas) };
}

function turned([one, two]: Matrix[], degrees: number): Matrix[] {
  const [c, s] = unit(degrees);
  return [plus(scaled(c, one), scaled(s, two)), plus(scaled(c, two), scaled(-s, one))];
}

/** Σ_h V_h X Xᵀ A_h X, divided by the scale. */
function outputsOf(A: Matrix[], V: Matrix[], { X, scale }: HeadsFormulas): Matrix {
  const [one, two] = A.map((head, h) => {
    const scores = product(transposed(X), product(head, X));
    return mixed(V[h], X, scores, "lightning");
  });
  return each(plus(one, two), (entry) => entry / scale);
}
