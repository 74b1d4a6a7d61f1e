/**
 * The facts of the ledger scene, schema "ledger/1": `neuroviz/deep/ledger_facts.py` says what they
 * mean.
 */
import type { Said } from "../kit/picture";

export type FamilyName = "head bases" | "interfaces" | "rescalings";

/** A number, and in a sentence what was counted or measured. */
export interface Count {
  count: number;
  says: string;
}

/** A family of symmetries: how many directions it takes away. */
export interface Family {
  name: FamilyName;
  cost: number;
  /** Layer by layer, or interface by interface: they add up to the cost. */
  parts: number[];
  says: string;
}

/** What a formula says, and where it stands. */
export interface Formula {
  source: string;
  value: number;
}

export interface LedgerFacts {
  schema: "ledger/1";
  says: Said[];
  parameters: Count;
  /** In the order in which they are taken away. */
  families: Family[];
  unexplained: Count;
  dimension: Count;
  formula: Formula | null;
  /** The paper's formula, where it does not apply and would say something else. */
  paper: Formula | null;
  /** The largest network that the controls can say. */
  limits: { width: number; layers: number };
}

/** The controls that the scene moves. */
export type LedgerPlace = {
  width: number;
  /** 0: as `width`. */
  width_out: number;
  head_dim: number;
  tokens: number;
  layers: number;
  kind: string;
  widths: string;
  head_dims: string;
};
