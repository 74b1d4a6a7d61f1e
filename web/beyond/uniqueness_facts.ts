/**
 * The facts of two networks on the same two tokens, schema "uniqueness/1":
 * `beyond/neuroviz_beyond/proofs/uniqueness_facts.py` says what they mean.
 */
import type { Said } from "../kit/picture";
import type { Form, Shares } from "../softmax/two_tokens";

/** The shares of the layer that is moved, and those that it may have. */
export interface MapFacts {
  title: string;
  /** What relations leave to it while the other network stands still. */
  allowed: "all" | "curve" | "point";
  /** Some points of the curve, if it is one. */
  curve: Shares[];
  /** Those of its way, if it moves. */
  way: Shares[];
}

export interface NetworkFacts {
  name: string;
  says: Said[];
  /** M₁, …, L */
  letters: string[];
  /** Where the tokens meet, in words; null if they do not. */
  meets: string | null;
  /** How far apart the tokens begin, in words. */
  far: string;
  map: MapFacts;
}

/** What the page needs to go the way by itself: see uniqueness_way.ts. */
export interface Formulas {
  /** A step of the proof; on "same" and "outside" there is no way. */
  step: "A" | "B2" | "B1, ρ < 0" | "B1, ρ > 0" | "peel" | "same" | "outside";
  /** Of P′ = P^power and Q′ = Q^power, where these are the relations. */
  power: number | null;
  causal: boolean;
  /** Of θ and of θ′, one for each layer. */
  forms: [Form[], Form[]];
}

export interface UniquenessFacts {
  schema: "uniqueness/1";
  relations: Said[];
  axes: string;
  independent: string;
  verdict: Said[];
  networks: [NetworkFacts, NetworkFacts];
  formulas: Formulas;
}

/** The control that the scene moves. */
export type UniquenessPlace = {
  travel: number;
};
