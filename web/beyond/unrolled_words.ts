/** Names and numbers of the unrolled network, as `neuroviz_beyond.unrolling.words` has them. */
import { withMinus } from "../kit/numbers";
import type { Formulas } from "./unrolled_facts";
import type { Factor, Shown, Term } from "./unrolled_term";

const SUBSCRIPTS = "₀₁₂₃₄";
const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

export function nameOf({ layer, isTransposed }: Pick<Factor, "layer" | "isTransposed">): string {
  return `M${SUBSCRIPTS[layer]}${isTransposed ? "ᵀ" : ""}`;
}

/** A token by its number, from 1; or y and x where there are only these two. */
export function tokenOf(token: number, { tokens }: Term, { isOfTwo }: Formulas): string {
  if (isOfTwo) return token === tokens.at(-1) ? "x" : "y";
  return `x${SUBSCRIPTS[token + 1]}`;
}

/** A number with three digits, and 0 for what rounding leaves of it. */
export function number(value: number, nothing: number): string {
  if (Math.abs(value) < nothing) return "0";
  const [mantissa, power] = value.toExponential(2).split("e");
  const exponent = Number(power);
  if (exponent >= -3 && exponent <= 4) {
    return withMinus(value.toFixed(Math.max(0, 2 - exponent)));
  }
  const digits = String(Math.abs(exponent)).replace(/\d/g, (digit) => SUPERSCRIPTS[+digit]);
  return `${withMinus(mantissa)}·10${exponent < 0 ? "⁻" : ""}${digits}`;
}

/**
 * The factor that is pointed at, the tokens that it joins, and what it gives between them; also
 * where the window is turned round.
 */
export function linkOf(shown: Shown, formulas: Formulas, isTurned = false) {
  const { factors, focus } = shown;
  const term = isTurned ? shown.turned : shown.term;
  const name = nameOf(factors[focus - 1]);
  const [left, right] = [focus - 1, focus].map((n) => tokenOf(term.tokens[n], term, formulas));
  const value = number(term.values[focus - 1], formulas.nothing);
  const turned = isTurned ? "turned round, " : "";
  return {
    joins: `${turned}${name} at place ${focus} joins ${left} and ${right}: `,
    link: `${left}ᵀ${name}${right} = ${value}`,
  };
}

/** What becomes of a factor where the window is turned round. */
export function becomes(factor: Factor): string {
  return `${nameOf(factor)} ⇄ ${nameOf({ ...factor, isTransposed: !factor.isTransposed })}`;
}
