/**
 * The facts of the map of hypotheses, schema "hypotheses/1":
 * `neuroviz/deep/hypotheses_facts.py` says what they mean.
 */
import type { Said } from "../kit/picture";

/** The networks that the map varies: one control for its columns, one for its rows. */
export interface Axis {
  control: "head_1" | "head_2" | "inner" | "outer";
  /** In a sentence: a₁ = 3. */
  name: string;
  /** On the axis. */
  title: string;
  values: number[];
}

/** One network. */
export interface Cell {
  column: number;
  row: number;
  measured: number;
  formula: number;
  /** Whether all hypotheses of the statement hold here. */
  covered: boolean;
  /** Why the formula is off here, in a word or two; empty where it is right. */
  cause: string;
  says: string;
}

export interface MapFacts {
  says: Said[];
  /** What the cells hold, and what the frame means; one line. */
  legend: Said[];
  columns: Axis;
  rows: Axis;
  /** No difference is larger. */
  most: number;
  cells: Cell[];
}

export interface Stage {
  name: string;
  /** Of all pairs of tokens, in one order at all stages. */
  degrees: number[];
}

export interface AngleFacts {
  says: Said[];
  axis: string;
  key: string;
  stages: Stage[];
}

export interface HypothesesFacts {
  schema: "hypotheses/1";
  map: MapFacts;
  angles: AngleFacts;
}

/** The controls: the scene moves the two of its axes. */
export type HypothesesPlace = {
  head_1: number;
  head_2: number;
  inner: number;
  outer: number;
  tokens: number;
  kind: string;
  over: string;
  seed: number;
};
