/**
 * The facts of an exponential that is let go, schema "new_variable/1":
 * `neuroviz/softmax/new_variable_facts.py` says what they mean.
 */
import type { Said } from "../kit/picture";

/** What P is: the exponential of y, any number, or a residue. */
export type Stage = "curve" | "free" | "modulo";

/** What there is to see. */
export type Moment = "curve" | "equal" | "free" | "zero" | "negative" | "modulo" | "chance";

type Pair = [first: string, second: string];

export interface TableFacts {
  columns: Pair;
  rows: Pair;
  note: string;
  /** Both sides in letters. */
  why: string;
  /** The rank for true tokens. */
  true_rank: number;
}

/** What the page needs to compute the table by itself: see new_variable_table.ts. */
export interface Formulas {
  /** That a direction is silent, or that the tokens meet. */
  statement: "silent" | "meet";
  k: number;
  q: number;
  /** The first token. */
  first: number;
  prime: number;
  /** Residues. */
  ring: Record<"k" | "q" | "first" | "second" | "apart" | "Q", number>;
}

export interface NewVariableFacts {
  schema: "new_variable/1";
  stages: Record<Stage, Said[]>;
  /** In the middle of the ring of residues. */
  ring: string[];
  table: TableFacts;
  moments: Record<Moment, Said[]>;
  formulas: Formulas;
}

/** The controls that the scene moves. */
export type NewVariablePlace = { stage: Stage; y: number; P: number };
