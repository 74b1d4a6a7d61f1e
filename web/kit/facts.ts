/**
 * Whether facts are others than before. An answer of Python keeps what has not changed; a page
 * copies its stills, so there the contents count.
 */
export const areOther = (facts: unknown, before: unknown): boolean =>
  facts !== before && JSON.stringify(facts) !== JSON.stringify(before);
