/**
 * The facts of the factors scene, schema "factors/1":
 * `neuroviz/factorization/factors_facts.py` says what they mean.
 */
import type { Matrix } from "../kit/matrix";
import type { Said } from "../kit/picture";
import type { Triple } from "../kit/solids";
import type { Walk, WalkEnds } from "../kit/walks";

export type Pair = [Q: Matrix, K: Matrix];
export type Rank = "full" | "Q" | "K";

export interface MatrixFacts {
  says: Said[];
  /** The first Q and K. */
  start: Pair;
}

export interface SpectrumFacts {
  says: Said[];
}

/** What the formula says, and what was measured: for each of the `heads`. */
export interface Counts {
  formula: number[];
  measured: number[];
}

export interface DimensionFacts {
  says: Said[];
  /** 1, 2, …: the dimensions a of a head. */
  heads: number[];
  /** Of the matrices of rank ≤ a. */
  matrices: Counts;
  /** Of the pairs (Q, K) with one product, at most points. */
  fiber: Counts;
}

export interface SurfaceFacts {
  says: Said[];
  lines: Said[];
  /** What the tip of the cone is called, where there is one. */
  tip: string;
}

/** What the page needs to factor by itself: see factors_product.ts. */
export interface Formulas {
  d: number;
  a: number;
  /** What Q and K are made of, beside the controls; none for d = 2, a = 1. */
  base: Matrix[];
  /** As high and wide as Q: the change of one factor off the orbit is a part of it. */
  toward: Matrix;
  walks: WalkEnds;
  /** For d = 2: a point of the surface times this is an A of rank 2. */
  off: Triple;
  /** No entry that is set by hand is larger. */
  largest: number;
  /** Singular values up to here, or this share of the largest, are rounding. */
  tolerance: number;
}

export interface FactorsFacts {
  schema: "factors/1";
  matrices: MatrixFacts;
  spectrum: SpectrumFacts;
  dimensions: DimensionFacts;
  /** For d = 2. */
  surface: SurfaceFacts | null;
  formulas: Formulas;
}

/** The controls that the scene moves. */
export type FactorsPlace = {
  walk: Walk;
  rank: Rank;
  /** Numbers that were set by hand, such as "Q12=0.5 K21=-1". */
  entries: string;
  along: number;
  /** Where one factor has lost a rank: how far the other one has left the orbit. */
  off_orbit: number;
  trace: number;
  angle: number;
  height: number;
};
