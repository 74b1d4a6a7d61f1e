/** Where tree and term stand. Across, places are leaves of the tree; down, pixels. */
import { scaleLinear, type ScaleLinear } from "d3-scale";
import type { Look } from "../kit/picture";

/** The width of a bar, in leaves. */
export const BAR = 1.72;

/** The middle of the k-th factor: it lies over the leaves 2k − 1 and 2k. */
export const barAt = (place: number) => 2 * place - 0.5;

/** Where the k-th token stands: between the factors k − 1 and k. */
export const tokenAt = (index: number) => 2 * index - 1.5;

export type Leaves = ScaleLinear<number, number>;

/** Leaves to pixels; beside them is room for the names of the rows, and for results. */
export function leavesOf(layers: number, width: number, { sizes }: Look, isNarrow: boolean) {
  const [left, right] = isNarrow ? [6, width - 6] : [7 * sizes.note, width - 8 * sizes.base];
  return scaleLinear([-1, 3 ** layers], [left, right]);
}

/** How much is said of each factor and token: all, only tokens, or nothing. */
export type Detail = "labelled" | "numbered" | "bare";

export function detailOf(leaves: Leaves, { sizes }: Look): Detail {
  const apart = leaves(2) - leaves(0); // two factors
  if (apart >= 3.3 * sizes.note) return "labelled";
  return apart >= 1.1 * sizes.note ? "numbered" : "bare";
}

/** The rows of a term, and below them those of the term that is turned round. */
export interface Rows {
  tokens: number;
  /** The top and the height of the factors. */
  bars: number;
  high: number;
  values: number;
  result: number;
  /** The place in base 3, before anything is turned. */
  digits: number;
  /** The middle between both terms. */
  middle: number;
  resultAfter: number;
  valuesAfter: number;
  barsAfter: number;
  tokensAfter: number;
  /** Where the names of rows stand. */
  names: { tokens: number; values: number; digits: number; turned: number };
  height: number;
}

// Heights above the lower edge, in letters; of bars, of their lower ends.
const WIDE_ROWS = {
  tokens: 14.4,
  bars: 10.9,
  values: 10.2,
  middle: 7.9,
  valuesAfter: 5.6,
  barsAfter: 2.3,
  tokensAfter: 1.1,
};
const TIGHT_ROWS = {
  tokens: 11.5,
  bars: 8.4,
  values: 7.8,
  middle: 6.4,
  valuesAfter: 5,
  barsAfter: 2.2,
  tokensAfter: 1.1,
};

/** In a narrow place names and results have lines of their own. */
export function rowsOf({ sizes }: Look, isNarrow: boolean, isLabelled: boolean): Rows {
  const unit = sizes.note;
  const high = 2.4 * unit;
  if (isNarrow) {
    const rows = {
      tokens: 2.9 * unit,
      bars: 4.1 * unit,
      high,
      values: 7.3 * unit,
      result: 8.5 * unit,
      digits: 11.2 * unit,
      middle: 11.8 * unit,
      resultAfter: 14.6 * unit,
      valuesAfter: 16.3 * unit,
      barsAfter: 17 * unit,
      tokensAfter: 20.6 * unit,
      height: 24 * unit,
    };
    // Below its row, and nearer to it than to the next one.
    const names = { tokens: 0.8, values: 8.5, digits: 12.4, turned: 22.6 };
    return { ...rows, names: scaled(names, unit) };
  }
  // Large words: the rows leave the tree its room.
  const isTight = 18 * unit > 0.7 * sizes.height;
  const tall = isTight ? 2 * unit : high;
  const height = (isTight ? 12.6 : 15.6) * unit;
  const up = isTight ? TIGHT_ROWS : WIDE_ROWS;
  const down = (letters: number) => height - letters * unit;
  const tokens = down(up.tokens);
  const bars = down(up.bars) - tall;
  const values = down(up.values);
  const digits = values + 1.5 * unit;
  const valuesAfter = down(up.valuesAfter);
  const barsAfter = down(up.barsAfter) - tall;
  const tokensAfter = down(up.tokensAfter);
  return {
    tokens,
    bars,
    high: tall,
    values,
    result: isLabelled ? values : bars + tall / 2,
    digits,
    middle: down(up.middle),
    resultAfter: isLabelled ? valuesAfter : barsAfter + tall / 2,
    valuesAfter,
    barsAfter,
    tokensAfter,
    names: { tokens, values, digits, turned: tokensAfter },
    height,
  };
}

function scaled(names: Rows["names"], unit: number): Rows["names"] {
  return {
    tokens: unit * names.tokens,
    values: unit * names.values,
    digits: unit * names.digits,
    turned: unit * names.turned,
  };
}
