/** Matrices of numbers, as lists of rows, in float64. */

export type Matrix = number[][];

export const sum = (numbers: number[]): number => numbers.reduce((a, b) => a + b, 0);

/** The matrix with these entries. */
export const matrixOf = (
  rows: number,
  columns: number,
  entryAt: (row: number, column: number) => number,
): Matrix =>
  Array.from({ length: rows }, (_, i) => Array.from({ length: columns }, (_, j) => entryAt(i, j)));

export const identity = (n: number): Matrix => matrixOf(n, n, (i, j) => Number(i === j));

/** The matrix with each entry replaced. */
export const each = (A: Matrix, next: (entry: number, row: number, column: number) => number) =>
  A.map((row, i) => row.map((entry, j) => next(entry, i, j)));

export const scaled = (c: number, A: Matrix): Matrix => each(A, (entry) => c * entry);

export const plus = (A: Matrix, B: Matrix): Matrix => each(A, (entry, i, j) => entry + B[i][j]);

export const transposed = (A: Matrix): Matrix => A[0].map((_, j) => A.map((row) => row[j]));

/** Of two matrices, as vectors of their entries. */
export function dot(A: Matrix, B: Matrix): number {
  const others = B.flat();
  return sum(A.flat().map((entry, n) => entry * others[n]));
}

/** The length of a matrix, as a vector of its entries. */
export const norm = (A: Matrix): number => Math.sqrt(dot(A, A));

export function product(A: Matrix, B: Matrix): Matrix {
  const columns = transposed(B);
  return A.map((row) => columns.map((column) => sum(row.map((entry, k) => entry * column[k]))));
}

/** exp(sE), for E that is not large: the sum of its series. */
export function exponential(E: Matrix, s: number): Matrix {
  let term = identity(E.length);
  let total = term;
  for (let n = 1; n < 30; n++) {
    term = scaled(s / n, product(term, E));
    total = plus(total, term);
  }
  return total;
}

/** The largest change of an entry. */
export function largestChange(before: Matrix[], after: Matrix[]): number {
  const old = before.flat(2);
  return Math.max(...after.flat(2).map((entry, n) => Math.abs(entry - old[n])));
}
