/** Numbers in words, as `neuroviz/kit/words.py` says them; and what stands at a bar. */
import { withMinus } from "../kit/numbers";
import type { Role } from "../kit/picture";
import type { MatrixFacts, VirtualFacts } from "./virtual_facts";
import type { Moved } from "./virtual_network";

const RAISED: Record<string, string> = { "−": "⁻", ".": "·" };
[..."⁰¹²³⁴⁵⁶⁷⁸⁹"].forEach((raised, digit) => (RAISED[digit] = raised));

/** A number without idle zeros. */
export const signed = (value: number): string => withMinus(+value.toFixed(2));

/** A part of the whole, with two digits where it is small. */
export function percent(part: number): string {
  const hundredths = 100 * part;
  return `${part >= 0.0995 ? Math.round(hundredths) : +hundredths.toPrecision(2)} %`;
}

/** A factor, as a power of two. */
export const powerOf2 = (log: number): string =>
  `× 2${signed(log).replace(/./g, (sign) => RAISED[sign] ?? sign)}`;

/** An entry in at most four signs, as long as it is below 1000. */
export function short(entry: number): string {
  const size = Math.abs(entry);
  if (size < 0.005) return "0";
  if (size < 0.05) return withMinus(entry.toFixed(2).replace("0.", "."));
  return withMinus(entry.toFixed(size < 9.95 ? 1 : 0));
}

/** How high a bar is, what stands over it, and in which colour. */
export interface Bar {
  height: number;
  words: string;
  role: Role;
}

/** How far a matrix has moved, or log₂ of what it was multiplied by. */
export function barOf({ isStill }: MatrixFacts, moved: Moved, facts: VirtualFacts): Bar {
  if (moved.isSame && isStill) return { height: 0, words: "0", role: "certified" };
  const bar = sizeOf(isStill, moved, facts);
  if (isStill) return { ...bar, role: "outside" };
  return { ...bar, role: bar.words === "0" ? "soft" : "focus" };
}

function sizeOf(isStill: boolean, { change, isSame, log }: Moved, facts: VirtualFacts) {
  const isOfBasis = facts.basis !== null;
  if (isOfBasis) return isSame ? NOTHING : { height: change, words: percent(change) };
  // No factor makes the outputs of softmax the same: how far they are off is no power of 2.
  if (isStill && facts.formulas.kind === "softmax") {
    return { height: change, words: `off by ${percent(change)}` };
  }
  return { height: log, words: signed(log) };
}

const NOTHING = { height: 0, words: "0" };
