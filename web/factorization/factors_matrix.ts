/** Singular values, ranks and spans of small matrices, in float64. */
import { identity, norm, product, scaled, transposed, type Matrix } from "../kit/matrix";

const { abs, hypot, max, min } = Math;

const SWEEPS = 30;
const ROUNDING = 1e-15; // rows whose cosine is smaller are orthogonal

export const copyOf = (A: Matrix): Matrix => A.map((row) => [...row]);

export const largestOf = (...all: Matrix[]): number => max(...all.flat(2).map(abs));

/**
 * Rows turned into orthogonal ones by one-sided Jacobi rotations; `turn` has done it. For matrices
 * that are no higher than wide.
 */
function orthogonalRows(M: Matrix): { rows: Matrix; turn: Matrix; lengths: number[] } {
  const rows = copyOf(M);
  const turn = identity(M.length);
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
  return { rows, turn, lengths: rows.map((row) => norm([row])) };
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

/**
 * The D of length 1 nearest to `toward` with lowᵀ D = 0 and other Dᵀ = 0, as `off_orbit_direction`
 * of Python has it; null where the equations leave nothing else.
 */
export function offOrbitDirection(
  low: Matrix,
  other: Matrix,
  toward: Matrix,
  tolerance: number,
): Matrix | null {
  const unseen = transposed(outside(transposed(toward), columnsOf(low, tolerance)));
  const D = outside(unseen, columnsOf(transposed(other), tolerance));
  const length = norm(D);
  return length > tolerance ? scaled(1 / length, D) : null;
}

/** Orthonormal vectors that span the columns of M, as rows. */
function columnsOf(M: Matrix, tolerance: number): Matrix {
  const { rows, turn, lengths } = orthogonalRows(isHigh(M) ? transposed(M) : M);
  const least = tolerance * max(1, ...lengths);
  const vectors = isHigh(M) ? rows.map((row, n) => row.map((t) => t / lengths[n])) : turn;
  return vectors.filter((_, n) => lengths[n] > least);
}

/** The rows of X without their parts in the span of these orthonormal vectors. */
function outside(X: Matrix, vectors: Matrix): Matrix {
  return X.map((row) => {
    let rest = row;
    for (const v of vectors) {
      const along = dot(rest, v);
      rest = rest.map((entry, k) => entry - along * v[k]);
    }
    return rest;
  });
}
