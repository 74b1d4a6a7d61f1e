/** Numbers as people type them, and as they are written. */

/** What somebody types: 38, −1, 0.5 or 0,5. */
const NUMBER = /^[-−+]?(\d+[.,]?\d*|[.,]\d+)$/;

/** 1,000 is a thousand to some and one to others. */
const THOUSANDS = /\d[,]\d{3}$/;

/** The number in a text, or null if it is none. */
export function numberIn(text: string): number | null {
  const typed = text.replace(/\s/g, "").replace("–", "-");
  if (!NUMBER.test(typed) || THOUSANDS.test(typed)) return null;
  return Number(typed.replace("−", "-").replace(",", "."));
}

/** A number as it is written: with a minus sign, which a keyboard has not. */
export const written = (guess: string): string => guess.replace(/^-/, "−");
