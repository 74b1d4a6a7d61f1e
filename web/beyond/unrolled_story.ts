/** What ▶ tells of a term: its factors one by one, and then the window that turns round. */
import { factorsOf } from "./unrolled_term";

const FACTORS = 0.55; // of the walk; the rest is for the window
const TURNED = 0.95; // from here on it is turned round, and nothing moves

export interface Scene {
  place: number;
  /** How far the window is turned round, from 0 to 1. */
  turn: number;
}

/** The factors that are shown: of many, as far as the one of the last layer. */
const countOf = (layers: number) => 3 ** (layers - 1);

/** Where the walk is; it ends at the factor of the last layer, whose window is the widest. */
export function storyAt(layers: number, share: number): Scene {
  const last = countOf(layers);
  if (share < FACTORS) {
    return { place: Math.min(last, 1 + Math.floor((last * share) / FACTORS)), turn: 0 };
  }
  return { place: last, turn: Math.min(1, (share - FACTORS) / (TURNED - FACTORS)) };
}

/**
 * Where each kind of factor stands for the first time, before the window turns, and when it has
 * turned.
 */
export function momentsOf(layers: number): number[] {
  const seen = new Set<string>();
  const firsts: number[] = [];
  factorsOf(layers)
    .slice(0, countOf(layers))
    .forEach(({ layer, isTransposed }, index) => {
      const kind = `${layer}${isTransposed}`;
      if (!seen.has(kind)) firsts.push((FACTORS * (index + 0.5)) / countOf(layers));
      seen.add(kind);
    });
  return [...firsts, FACTORS, TURNED];
}
