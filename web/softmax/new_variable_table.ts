/**
 * The table of an exponential that is let go, in float64 or modulo a prime:
 * `softmax/new_variable.py` once more. A test compares both at random states.
 */
import type { Formulas, Moment, NewVariablePlace } from "./new_variable_facts";

const EQUAL = 1e-9; // so near, in proportion, two sides differ by rounding only

/** The entries a, b of the first row and c, d of the second one. */
export type Table = [a: number, b: number, c: number, d: number];

export interface Found {
  table: Table;
  /** a·d and b·c. */
  sides: [left: number, right: number];
  holds: boolean;
  rank: number;
}

/** What P is at a place: modulo a prime the whole number on the axis, not yet its residue. */
export function valueOfP({ stage, y, P }: NewVariablePlace): number {
  if (stage === "curve") return Math.exp(y);
  return stage === "modulo" ? Math.round(P) : P;
}

export const residue = (whole: number, prime: number): number => ((whole % prime) + prime) % prime;

export function foundAt(formulas: Formulas, place: NewVariablePlace): Found {
  const { ring, prime } = formulas;
  if (place.stage === "modulo") {
    const modulo = (value: number) => residue(value, prime);
    const P = modulo(valueOfP(place));
    const { k, q, first, second, apart, Q } = ring;
    const table = tableOf(formulas, k, q, first, second, apart, P, Q).map(modulo) as Table;
    const [a, b, c, d] = table;
    return judged(table, [modulo(a * d), modulo(b * c)]);
  }
  const { k, q, first } = formulas;
  const apart = place.y / (k * q * first);
  const second = first + apart;
  const z = formulas.statement === "meet" ? -place.y : -apart * k * q * second;
  const P = valueOfP(place);
  const table = tableOf(formulas, k, q, first, second, apart, P, Math.exp(z));
  const [a, b, c, d] = table;
  return judged(table, [a * d, b * c]);
}

function tableOf(
  { statement }: Formulas,
  k: number,
  q: number,
  first: number,
  second: number,
  apart: number,
  P: number,
  Q: number,
): Table {
  if (statement === "meet") return [1, Q, P, 1];
  const square = apart * apart;
  return [
    square * q * first * P,
    square * k * first * P,
    square * q * second * Q,
    square * k * second * Q,
  ];
}

function judged(table: Table, sides: Found["sides"]): Found {
  const [left, right] = sides;
  const holds = Math.abs(left - right) <= EQUAL * Math.max(1, Math.abs(left), Math.abs(right));
  const rank = holds ? Number(table.some((entry) => entry !== 0)) : 2;
  return { table, sides, holds, rank };
}

export function momentOf({ statement }: Formulas, place: NewVariablePlace, holds: boolean): Moment {
  const { stage, y, P } = place;
  const isMeeting = statement === "meet";
  if (stage === "modulo") return isMeeting && holds ? "chance" : "modulo";
  if (y === 0 && !isMeeting) return "equal";
  if (stage === "curve" || (isMeeting && holds)) return "curve";
  if (P === 0) return "zero";
  return P > 0 ? "free" : "negative";
}
