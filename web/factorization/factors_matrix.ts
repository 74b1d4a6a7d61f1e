/** Small dense matrices in float64. */
import type { Matrix } from "../kit/walks";

const { abs, hypot, max, min, sqrt } = Math;

const SWEEPS = 30;
const ROUNDING = 1e-15; // rows whose cosine is smaller are orthogonal

export function product(A: Matrix, B: Matrix): Matrix {
  return A.map((row) =>
    B[0].map((_, j) => row.reduce((sum, entry, k) => sum + entry * B[k][j], 0)),
  );
}

export const transposed = (A: Matrix): Matrix => A[0].map((_, j) => A.map((row) => row[j]));

export const norm = (A: Matrix): number =>
  sqrt(A.flat().reduce((sum, entry) => sum + entry ** 2, 0));

export const scaled = (A: Matrix, factor: number): Matrix =>
  A.map((row) => row.map((entry) => factor * entry));

export const copyOf = (A: Matrix): Matrix => A.map((row) => [...row]);

export const largestOf = (...all: Matrix[]): number => max(...all.flat(2).map(abs));

/**
 * Rows turned into orthogonal ones by one-sided Jacobi rotations; `turn` has done it. For matrices
 * that are no higher than wide.
 */
function orthogonalRows(M: Matrix): { turn: Matrix; lengths: number[] } {
  const rows = copyOf(M);
  const turn: Matrix = M.map((_, i) => M.map((_, j) => (i === j ? 1 : 0)));
  for (let sweep = 0, isOpen = true; isOpen && sweep < SWEEPS; sweep++) {
    isOpen = false;
    for (let p = 0; p < M.length; p++) {
      for (let q = p + 1; q < M.length; q++) {
        const along = dot(rows[p], rows[q]);
        const [one, other] = [dot(rows[p], rows[p]), dot(rows[q], rows[q])];
        if (along ** 2 <= ROUNDING ** 2 * one * other) continue;
        isOpen = true;
        const z = (other - one) / (2 * along);
        const t = (z < 0 ? -1 : 1) / (abs(z) + hypot(1, z));
        const c = 1 / hypot(1, t);
        for (const X of [rows, turn]) rotate(X, p, q, c, c * t);
      }
    }
  }
  return { turn, lengths: rows.map((row) => norm([row])) };
}

function rotate(X: Matrix, p: number, q: number, c: number, s: number) {
  const [above, below] = [X[p], X[q]];
  X[p] = above.map((entry, k) => c * entry - s * below[k]);
  X[q] = above.map((entry, k) => s * entry + c * below[k]);
}

const dot = (u: number[], v: number[]) => u.reduce((sum, entry, k) => sum + entry * v[k], 0);

const isHigh = (M: Matrix) => M.length > M[0].length;

/** From the largest to the smallest. */
export function singularValues(M: Matrix): number[] {
  const { lengths } = orthogonalRows(isHigh(M) ? transposed(M) : M);
  return lengths.sort((one, other) => other - one);
}

/** How many singular values are more than rounding. */
export function rankOf(values: number[], tolerance: number): number {
  return values.filter((value) => value > tolerance * max(1, values[0])).length;
}

/** The nearest matrix whose rank is one less: the smallest singular value becomes 0. */
export function dropRank(M: Matrix): Matrix {
  if (isHigh(M)) return transposed(dropRank(transposed(M)));
  const { turn, lengths } = orthogonalRows(M);
  const left = turn[lengths.indexOf(min(...lengths))];
  const [right] = product([left], M);
  return M.map((row, i) => row.map((entry, j) => entry - left[i] * right[j]));
}
