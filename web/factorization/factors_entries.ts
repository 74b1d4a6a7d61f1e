/** Numbers of Q and K that are set by hand, as the text of a control. */
import { transposed } from "../kit/matrix";
import type { FactorsPlace, Pair } from "./factors_facts";
import { asWords, entriesIn, type Product } from "./factors_product";

const STEP = 0.05; // of an entry
const NAMES = ["Q", "K"] as const;

/** Which entry: at the start, or now; of Q, or of K. */
export interface EntryPlace {
  when: "start" | "now";
  factor: 0 | 1;
  i: number;
  j: number;
}

/**
 * Where the controls are when an entry has a new value. An entry of what there is now is a whole
 * column of the first Q or K, as C mixes its rows; and what has left the orbit is a first Q or K.
 */
export function entered(
  product: Product,
  place: FactorsPlace,
  { when, factor, i, j }: EntryPlace,
  value: number,
  largest: number,
): Pick<FactorsPlace, "entries" | "rank" | "off_orbit"> {
  const found = entriesIn(place.entries);
  const next = Math.max(-largest, Math.min(largest, Math.round(value / STEP) * STEP));
  // With a number of its own, a factor has its rank again.
  const isFreed = place.rank === NAMES[factor];
  const isAside = when === "now" && product.direction !== null && place.off_orbit !== 0;
  if (isFreed || isAside) setAll(found, isAside ? product.aside : product.start);
  if (when === "start") found.set(nameOf(factor, i, j), next);
  else {
    const column = product.now[factor].map((row, k) => (k === i ? next : row[j]));
    const undo = factor ? transposed(product.C) : product.back;
    const firsts = undo.map((row) => row.reduce((sum, entry, m) => sum + entry * column[m], 0));
    // Python takes no larger entries: nothing moves.
    if (firsts.some((first) => Math.abs(first) > largest)) return place;
    firsts.forEach((first, k) => found.set(nameOf(factor, k, j), first));
  }
  return {
    entries: asWords(found),
    rank: isFreed ? "full" : place.rank,
    off_orbit: isFreed || isAside ? 0 : place.off_orbit,
  };
}

/** All entries of Q and K, as words. */
export function wordsOf(pair: Pair): string {
  const found = new Map<string, number>();
  setAll(found, pair);
  return asWords(found);
}

function setAll(found: Map<string, number>, pair: Pair) {
  pair.forEach((M, factor) => {
    M.forEach((row, i) => row.forEach((entry, j) => found.set(nameOf(factor, i, j), entry)));
  });
}

const nameOf = (factor: number, i: number, j: number) => `${NAMES[factor]}${i + 1}${j + 1}`;
