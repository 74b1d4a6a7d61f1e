/**
 * The facts of two forms, schema "resultant/1": `neuroviz/singular/resultant_facts.py` says what
 * they mean.
 */
import type { Said } from "../kit/picture";
import type { Form } from "./slice_facts";

export interface ResultantFacts {
  schema: "resultant/1";
  says: Said[];
  forms: [Form, Form];
  resultant: number;
}

/** The controls that the scene moves: the roots of q₁ and of q₂, as angles in degrees. */
export type ResultantPlace = {
  first: number;
  second: number;
  third: number;
  fourth: number;
};
