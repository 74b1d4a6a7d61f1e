/**
 * The facts of the surface that learns, schema "learning/1":
 * `neuroviz/singular/learning_facts.py` says what they mean.
 */
import type { Said } from "../kit/picture";
import type { SliceFacts, SliceFormulas } from "./slice_facts";
import type { Kind } from "./surface_facts";

/** The controls that the scene moves: the target in the slice S1. */
export type LearningPlace = {
  s: number;
  y: number;
  z: number;
};

export type TargetKind = Kind | "off";

/** A target, a question, and which of the choices is right. */
export interface Move {
  name: string;
  target: LearningPlace;
  asks: string;
  right: number;
  says: string;
  showsCoin: boolean;
}

/** How the layers learn. */
export interface FlowFacts {
  runs: number;
  time: number;
  /** Of a step, relative. */
  tolerance: number;
  /** σ₂/σ₁ of A below which a layer counts as singular. */
  singular: number;
}

/** The disc y = 0, (s − centre)² + z² ≤ radius². */
export interface CoinFacts {
  centre: number;
  radius: number;
  lines: string[];
}

export interface LearningFacts {
  schema: "learning/1";
  says: Said[];
  slice: SliceFacts;
  formulas: SliceFormulas;
  flow: FlowFacts;
  kinds: Record<TargetKind, string>;
  choices: string[];
  moves: Move[];
  coin: CoinFacts;
}
