/** Numbers as people type them, and as they are written. */

/** 38, 0.5, 0,5 or 1e3. */
const DECIMAL = /^(\d+[.,]?\d*|[.,]\d+)(e[-+]?\d{1,2})?$/i;

const FRACTION = /^(\d+) ?[/⁄] ?(\d+)$/;

/** 1 234 567, 1'234'567, or with commas if there are two of them. */
const IN_GROUPS = /^\d{1,3}(([ '’])\d{3}(\2\d{3})*|(,\d{3}){2,})$/;

/** A thousand to some and one to others. */
const COMMA_OR_THOUSAND = /^[1-9]\d{0,2},\d{3}$/;

const LONGEST = 40; // signs of a guess
const SIGN = /^[-−–+] ?/;

/** The number in a text, or null if it is not plainly one. */
export function numberIn(text: string): number | null {
  const typed = text.trim().replace(/\s/g, " ");
  const size = sizeIn(typed.replace(SIGN, ""));
  if (size === null || !Number.isFinite(size)) return null;
  return /^[-−–]/.test(typed) ? 0 - size : size;
}

function sizeIn(typed: string): number | null {
  if (typed.length > LONGEST || COMMA_OR_THOUSAND.test(typed)) return null;
  if (IN_GROUPS.test(typed)) return Number(typed.replace(/\D/g, ""));
  const [, over, under] = FRACTION.exec(typed) ?? [];
  if (over && under) return Number(over) / Number(under);
  return DECIMAL.test(typed) ? Number(typed.replace(",", ".")) : null;
}

/** Why a text is no number, and what is wanted. */
export function complaintOn(text: string): string {
  const typed = text.trim();
  const size = typed.replace(SIGN, "");
  if (!typed) return "Type a number first. Any guess will do.";
  if (COMMA_OR_THOUSAND.test(size)) {
    const [thousand, decimal] = ["", "."].map((mark) => written(typed.replace(",", mark)));
    return `“${typed}” may be ${thousand} or ${decimal}. Type the one that you mean.`;
  }
  return `“${typed}” is not a number alone. Type one, such as 7, −2, 0.5 or 3/4.`;
}

/** A number as it is written: with a minus sign, which a keyboard has not. */
export const written = (guess: string): string => guess.replace(/^-/, "−");
