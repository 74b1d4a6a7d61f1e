/**
 * The facts of a turned token, or of two heads that blend, schema "blending/1":
 * `beyond/neuroviz_beyond/blending/blending_facts.py` says what they mean.
 */
import type { Matrix } from "../kit/matrix";
import type { Said } from "../kit/picture";

/** The tokens x₁ and x₂ = across + slant · x₁. */
export interface TokenFacts {
  one: number[];
  across: number[];
  /** The angles at which the output comes back: for orthogonal tokens, and for others. */
  returns: [orthogonal: number[], others: number[]];
}

/** Two heads before they are turned; outputs are divided by `scale`. */
export interface HeadsFormulas {
  A: Matrix[];
  V: Matrix[];
  X: Matrix;
  scale: number;
}

export interface CountFacts {
  /** H */
  heads: number;
  /** How many of the H numbers of a row of g stay free; null without a formula. */
  row: number | null;
  says: Said[];
  lines: string[];
}

export interface HeadsFacts {
  formulas: HeadsFormulas;
  /** The rank that a head may have: a, or d. */
  most: number;
  /** Of A₁′ and A₂′ at 0°, 1°, …, 360°. */
  ranks: number[][];
  /** Of the axis of outputs. */
  reach: number;
  count: CountFacts;
}

export interface BlendingFacts {
  schema: "blending/1";
  token: TokenFacts | null;
  heads: HeadsFacts | null;
}

/** Controls of one view: of a token angle and slant, of heads turn and follow. */
export type BlendingPlace = Partial<{
  angle: number;
  slant: number;
  turn: number;
  follow: boolean;
}>;
