/**
 * The facts of the experiments of Theorem A, schema "immersion/1":
 * `neuroviz/softmax/immersion_facts.py` says what they mean.
 */
import type { Said } from "../kit/picture";
import type { Form } from "./two_tokens";

/** What is done to the exponentials of a layer. */
export type Mode = "true" | "free" | "frozen" | "collapsed";

export interface LayerFacts {
  /** Its exponentials; empty where nothing shows of them. */
  numbers: string;
  /** What they do, which a reader may be asked; empty if it has no name. */
  does: string[];
}

export interface TokenFacts {
  says: Said[];
  /** A mode in words; "tied" is that of a layer that the reader wants to set and cannot. */
  modes: Record<Mode | "tied", string>;
  layers: LayerFacts[];
}

/** A bar: so many directions are silent. */
export interface Column {
  kind: "before" | "experiment" | "everything" | "here";
  lines: string[];
  /** Silent directions of L alone, of M₁ alone, … */
  blocks: number[];
  /** All other silent directions: they move several matrices at once. */
  mixed: number;
  silent: number;
  /** The matrices that an experiment sees, beyond those before. */
  sees: string[] | null;
  /** Whether the relations between the exponentials allow the experiment. */
  possible: boolean;
  /** Whether something is left where the theorem would have nothing left. */
  fails: boolean;
}

export interface HiddenFacts {
  says: Said[];
  /** L, M₁, … */
  matrices: string[];
  columns: Column[];
  /** Why an experiment cannot be made; null if all can. */
  relation: string | null;
}

/** What the page needs to set the layers by itself: see immersion_layers.ts. */
export interface Formulas {
  /** One for each layer. */
  forms: Form[];
  /** The layer, from 1, whose exponentials a relation fixes. */
  tied: number | null;
  causal: boolean;
}

export interface ImmersionFacts {
  schema: "immersion/1";
  tokens: TokenFacts;
  hidden: HiddenFacts;
  formulas: Formulas;
}

type OfLayer<Name extends string, Kind> = Record<`${Name}_${1 | 2 | 3 | 4}`, Kind>;

/** The controls that the scene moves. */
export type ImmersionPlace = {
  /** "as-they-are", "frozen", "only-1", … or "own": then the modes count. */
  experiment: string;
  input_1: number;
  input_2: number;
} & OfLayer<"mode", Mode> &
  OfLayer<"mu" | "nu", number>;
