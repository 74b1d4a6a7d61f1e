/**
 * A = KᵀQ of a place in float64: `study.py` and `determinantal.py` once more. A test compares both
 * at random places.
 */
import { plus, product, scaled, transposed, type Matrix } from "../kit/matrix";
import type { Triple } from "../kit/solids";
import { walkAt } from "../kit/walks";
import type { FactorsPlace, Formulas, Pair, Rank } from "./factors_facts";
import { copyOf, dropRank, offOrbitDirection, rankOf, singularValues } from "./factors_matrix";
import { coordinatesOf, headsAt, matrixAt, nearestTo, pointAt, type Foot } from "./factors_slice";

const ENTRY = /([QK])(\d)(\d)=(-?\d*\.?\d+)/g;
const DIGITS = 12; // of coordinates in the slice: what comes after is rounding

/** Where A, two by two, is in the slice of its trace; `angle`, `height`: nearest of rank ≤ 1. */
export interface SlicePoint extends Foot {
  trace: number;
  place: Triple;
  rank: number;
}

/** All that the scene shows of a place. */
export interface Product {
  C: Matrix;
  /** C⁻¹. */
  back: Matrix;
  start: Pair;
  /** Where one factor has lost a rank: a change of the other one that leaves A alone. */
  direction: Matrix | null;
  /** The first Q and K, of which one has left the orbit in that direction. */
  aside: Pair;
  /** The same after C: C Q and C⁻ᵀ K. */
  now: Pair;
  /** At the start, and now. */
  A: [Matrix, Matrix];
  /** Singular values of A, at the start and now. */
  spectra: [number[], number[]];
  /** Of the first Q and K. */
  ranks: [Q: number, K: number];
  /** How many directions of (Q, K) leave A alone at the start. */
  fiberDimension: number;
  /** For d = 2. */
  point: SlicePoint | null;
}

/** The numbers that are set by hand: name, such as Q12, → value. */
export function entriesIn(words: string): Map<string, number> {
  const found = [...words.matchAll(ENTRY)];
  return new Map(found.map(([, name, i, j, value]) => [name + i + j, Number(value)]));
}

export function asWords(entries: Map<string, number>): string {
  return [...entries].map(([name, value]) => `${name}=${Number(value.toFixed(4))}`).join(" ");
}

/** The first Q and K: drawn at random, or for d = 2 factors of the matrix that is placed. */
export function startOf(formulas: Formulas, place: FactorsPlace): Pair {
  const { rank, entries } = place;
  const [Q, K] = (formulas.d === 2 ? factorsOfSlice(formulas, place) : formulas.base).map(copyOf);
  for (const [name, value] of entriesIn(entries)) {
    const row = (name[0] === "Q" ? Q : K)[Number(name[1]) - 1];
    const column = Number(name[2]) - 1;
    if (row && column in row) row[column] = value;
  }
  return [rank === "Q" ? dropRank(Q) : Q, rank === "K" ? dropRank(K) : K];
}

function factorsOfSlice({ a, base, off }: Formulas, place: FactorsPlace): Pair {
  const { rank, trace } = place;
  if (a === 1) return headsAt(trace, place);
  const foot = pointAt(trace, place);
  const at = rank === "full" ? foot.map((t, i) => t * off[i]) : foot;
  const A = matrixAt(trace, at as Triple);
  const [unseen, isometry] = base;
  const image = product(isometry, A);
  if (rank === "K") return [isometry, product(isometry, transposed(A))];
  if (rank === "Q") return [image, isometry];
  return [plus(image, unseen), isometry];
}

/** What there is at a place that begins with this Q and K. */
export function productOf(formulas: Formulas, place: FactorsPlace, start: Pair): Product {
  const { d, a, walks, tolerance } = formulas;
  const [C, back] = [place.along, -place.along].map((s) => walkAt(place.walk, a, s, walks));
  const direction = directionAt(formulas, place.rank, start);
  const aside: Pair = [...start];
  if (direction) {
    const moved = place.rank === "Q" ? 1 : 0;
    aside[moved] = plus(start[moved], scaled(place.off_orbit, direction));
  }
  const now: Pair = [product(C, aside[0]), product(transposed(back), aside[1])];
  const A = [start, now].map(([Q, K]) => product(transposed(K), Q)) as [Matrix, Matrix];
  const spectra = A.map(singularValues) as [number[], number[]];
  const [q, k] = start.map((M) => rankOf(singularValues(M), tolerance));
  return {
    C,
    back,
    start,
    direction,
    aside,
    now,
    A,
    spectra,
    ranks: [q, k],
    fiberDimension: 2 * a * d - (d * (q + k) - q * k),
    point: d === 2 ? slicePoint(A[0], place.angle, rankOf(spectra[0], tolerance)) : null,
  };
}

function directionAt({ toward, tolerance }: Formulas, rank: Rank, [Q, K]: Pair): Matrix | null {
  if (rank === "full") return null;
  const [low, other] = rank === "Q" ? [Q, K] : [K, Q];
  return offOrbitDirection(low, other, toward, tolerance);
}

function slicePoint(A: Matrix, angle: number, rank: number): SlicePoint {
  // A = 0 is the tip of the cone, whatever trace the slider says.
  if (!rank) return { angle, height: 0, trace: 0, place: [0, 0, 0], rank };
  const found = coordinatesOf(A);
  const trace = rounded(found.trace);
  const place = found.place.map(rounded) as Triple;
  return { ...nearestTo(trace, place), trace, place, rank };
}

const rounded = (t: number) => Number(t.toFixed(DIGITS)) + 0; // and no −0
