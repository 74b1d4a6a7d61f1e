/**
 * One term of Eq. 12 and its reflection, in float64: `attention/unrolling.py` and `unrolling.py`
 * once more. A test compares both at random states.
 */
import type { Formulas, UnrolledPlace } from "./unrolled_facts";

/** M_h or its transpose, at a place of the product. */
export interface Factor {
  /** h, from 1. */
  layer: number;
  isTransposed: boolean;
  /** The place in base 3, and without its final zeros. */
  digits: string;
  kept: string;
}

/** One product of Eq. 12. */
export interface Term {
  /** Its tokens, from 0. */
  tokens: number[];
  /** L x of the first one. */
  start: number;
  /** What each factor gives between two tokens. */
  values: number[];
  value: number;
}

/** What a place shows. */
export interface Shown {
  factors: Factor[];
  /** The first and the last of the tokens that are turned round, from 1. */
  window: [first: number, last: number];
  /** The place that is pointed at. */
  focus: number;
  term: Term;
  /** The term with its window turned round. */
  turned: Term;
}

/** M̃_1, …, M̃_n, by the digits of the place in base 3. */
export function factorsOf(layers: number): Factor[] {
  return Array.from({ length: (3 ** layers - 1) / 2 }, (_, n) => {
    const digits = (n + 1).toString(3);
    const kept = digits.replace(/0+$/, "");
    const layer = 1 + digits.length - kept.length;
    return { layer, isTransposed: kept.endsWith("2"), digits, kept };
  });
}

export function shownAt(formulas: Formulas, { place }: UnrolledPlace): Shown {
  const factors = factorsOf(formulas.layers);
  const window = windowOf(factors, place);
  const [first, last] = window;
  const tokens = [...formulas.drawn];
  // Both ends of the window are one token: else more than one number would change.
  if (!formulas.isOfTwo) tokens[first - 1] = tokens[last - 1];
  const turned = [
    ...tokens.slice(0, first - 1),
    ...tokens.slice(first - 1, last).reverse(),
    ...tokens.slice(last),
  ];
  return {
    factors,
    window,
    focus: formulas.isOfTwo ? factors.length : place,
    term: termOf(formulas, factors, place, tokens),
    turned: termOf(formulas, factors, place, turned),
  };
}

function windowOf(factors: Factor[], place: number): [number, number] {
  const reach = 3 ** (factors[place - 1].layer - 1);
  const radius = Math.min(reach, place, factors.length + 1 - place);
  return [place - radius + 1, place + radius];
}

function termOf(formulas: Formulas, factors: Factor[], place: number, tokens: number[]): Term {
  const antisymmetric = formulas.isAntisymmetric ? factors[place - 1].layer : null;
  const values = factors.map(({ layer, isTransposed }, n) => {
    const [left, right] = [tokens[n], tokens[n + 1]];
    const [j, k] = isTransposed ? [right, left] : [left, right];
    const links = formulas.links[layer - 1];
    if (layer !== antisymmetric || j < k) return links[j][k];
    return j > k ? -links[k][j] : 0;
  });
  const start = formulas.first[tokens[0]];
  return { tokens, start, values, value: values.reduce((all, value) => all * value, start) };
}
