/**
 * The facts of the virtual weights, schema "virtual/1": `neuroviz/deep/virtual_facts.py` says what
 * they mean.
 */
import type { Attention, Layer } from "../kit/attention";
import type { Matrix } from "../kit/matrix";
import type { Said } from "../kit/picture";
import type { Walk, WalkEnds } from "../kit/walks";

/** A control that is moved beside a matrix, and what it is called there. */
export interface MatrixControl {
  name: "alone" | "off" | `log_${1 | 2 | 3 | 4}`;
  says: string;
}

/** A matrix that is seen before and after; `virtual_network.ts` computes both. */
export interface MatrixFacts {
  key: string;
  name: string;
  /** What it has become, such as CV₁; none where it should stand still. */
  above: string | null;
  /** The longest text that may come to stand above it. */
  longest: string;
  /** Entries as large as this have the colour at the end of the scale. */
  limit: number;
  isStill: boolean;
  control: MatrixControl | null;
}

/** The change of basis, and what of it the two networks tell. */
export interface BasisFacts {
  name: string;
  limit: number;
  recovered: Matrix | null;
  /** Whether the recovered matrix is the applied one. */
  agrees: boolean;
}

/** What the page needs to compute both networks at a place: see virtual_network.ts. */
export interface Formulas {
  kind: Attention;
  layers: Layer[];
  X: Matrix;
  /** The basis changes between this layer and the next one, from 1; null: a rescaling instead. */
  interface: number | null;
  ends: WalkEnds;
  /** What has moved by less, as a share of its size, is the same. */
  same: number;
}

export interface VirtualFacts {
  schema: "virtual/1";
  says: Said[];
  matrices: MatrixFacts[];
  /** Null where there is a rescaling instead. */
  basis: BasisFacts | null;
  bars: { unit: string; says: Said[] };
  formulas: Formulas;
}

/** The controls that the scene moves. */
export type VirtualPlace = {
  walk: Walk;
  along: number;
  alone: number;
  log_1: number;
  log_2: number;
  log_3: number;
  log_4: number;
  off: number;
};
