/**
 * The facts of the unrolled network, schema "unrolled/1":
 * `beyond/neuroviz_beyond/unrolling/unrolled_facts.py` says what they mean.
 */
import type { Said } from "../kit/picture";

/** What the page needs to compute a term by itself: see unrolled_term.ts. */
export interface Formulas {
  layers: number;
  /** The tokens as they were drawn, from 0; the last one is that of the output. */
  drawn: number[];
  /** L x_j for each token j. */
  first: number[];
  /** x_jᵀ M_h x_k for each layer h. */
  links: number[][][];
  /** Whether the M at the chosen place is made antisymmetric, in all places where it stands. */
  isAntisymmetric: boolean;
  /** Whether y stands everywhere, and x at the end (Eq. 28). */
  isOfTwo: boolean;
  /** A smaller number is what rounding leaves of a zero. */
  nothing: number;
}

export interface UnrolledFacts {
  schema: "unrolled/1";
  tree: { says: Said[] };
  term: { says: Said[] };
  formulas: Formulas;
}

/** The controls that the scene moves. */
export type UnrolledPlace = {
  place: number;
  reflect: boolean;
};
