/** Numbers as panels round them, and as readers see them. */

/** Six digits after the point, as the settings of a panel have. */
export const to6 = (value: number): number => Math.round(value * 1e6) / 1e6;

/** A number in words, with a minus that is one. */
export const withMinus = (words: string | { valueOf(): number }): string =>
  String(words).replace("-", "−");
