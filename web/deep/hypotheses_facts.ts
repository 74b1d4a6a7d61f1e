/**
 * The facts of the map of hypotheses, schema "hypotheses/2":
 * `neuroviz/deep/hypotheses_facts.py` says what they mean.
 */
import type { Said } from "../kit/picture";

/** One axis of the map, and the control that varies along it. */
export interface Axis {
  control: "head_1" | "head_2" | "inner" | "outer";
  /** Its name in a sentence, such as a₁. */
  name: string;
  /** Its name on the map. */
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

/** A token: the line that it spans, drawn in a plane, and where on it the token is. */
export interface TokenLine {
  /** In degrees; stations turn it by as little as they can. */
  angle: number;
  /** How much of its length lies in the plane. */
  reach: number;
  /** Where on the line the token is: the longest token is at 1 or −1. */
  at: number;
}

export interface Station {
  name: string;
  /** The angles between the tokens, in words. */
  spread: string;
  lines: TokenLine[];
}

/** The symmetric or the antisymmetric part of A. */
export interface MatrixPart {
  name: string;
  entries: number[][];
  /** Which of them the layer sees. */
  seen: boolean[][];
  /** The largest entry. */
  most: number;
}

export interface Act {
  /** What moves: the tokens come in, what is not seen of A fades, a layer, the bar. */
  kind: "input" | "look" | "layer" | "count";
  /** From 1; 0 where the act is of no layer. */
  layer: number;
  says: Said[];
}

export interface FilmFacts {
  says: Said[];
  /** As the tokens come in, and after each layer. */
  stations: Station[];
  /** A of each layer. */
  matrices: { name: string; parts: MatrixPart[] }[];
  bar: { name: string; formula: number; exact: number };
  acts: Act[];
}

export interface HypothesesFacts {
  schema: "hypotheses/2";
  map: MapFacts;
  angles: AngleFacts;
  film: FilmFacts;
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
