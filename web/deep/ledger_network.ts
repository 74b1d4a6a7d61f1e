/**
 * The network that the controls say, and what its parameters come to: `attention/directions.py`
 * and `attention/formulas.py` once more. A test compares them at random networks.
 */
import type { Attention } from "../kit/attention";
import { sum } from "../kit/matrix";
import type { FamilyName, LedgerFacts, LedgerPlace } from "./ledger_facts";

/** Layer i goes from widths[i] to widths[i + 1]; its head has the dimension headDims[i]. */
export interface Network {
  widths: number[];
  headDims: number[];
  tokens: number;
  kind: Attention;
}

export interface Counts {
  parameters: number;
  /** What each family takes away, layer by layer. */
  parts: Record<FamilyName, number[]>;
  /** By the general formula. */
  dimension: number;
  unexplained: number;
  /**
   * Whether the numbers above are exact. The bases between layers are independent of each other
   * where the inputs reach every coordinate between layers, or the output sees it; elsewhere they
   * count for less, and only an exact rank says for how much.
   */
  isSure: boolean;
}

const typed = (text: string) =>
  text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map(Number);

/** The network of a place; null where there is none, as while somebody types. */
export function networkAt(place: LedgerPlace, limits: LedgerFacts["limits"]): Network | null {
  const { width, width_out, head_dim, layers, tokens } = place;
  const even = [...Array<number>(layers).fill(width), width_out || width];
  const widths = place.widths.trim() ? typed(place.widths) : even;
  const headDims = place.head_dims.trim()
    ? typed(place.head_dims)
    : widths.slice(1).map(() => head_dim);
  const isSize = (n: number) => Number.isInteger(n) && n >= 1 && n <= limits.width;
  const count = headDims.length;
  const isNetwork =
    count >= 1 &&
    count <= limits.layers &&
    widths.length === count + 1 &&
    [...widths, ...headDims].every(isSize);
  return isNetwork ? { widths, headDims, tokens, kind: place.kind as Attention } : null;
}

/** The controls that say this network: sliders where they can, else texts. */
export function controlsFor({ widths, headDims }: Network): Partial<LedgerPlace> {
  const layers = headDims.length;
  const last = widths[layers];
  const isEven = widths.slice(0, layers).every((width) => width === widths[0]);
  const sizes = isEven
    ? { width: widths[0], width_out: last === widths[0] ? 0 : last, layers, widths: "" }
    : { widths: widths.join() };
  const dims = headDims.every((a) => a === headDims[0])
    ? { head_dim: headDims[0], head_dims: "" }
    : { head_dims: headDims.join() };
  return { ...sizes, ...dims };
}

/** Another layer at the end, like the last one. */
export function longer(net: Network): Network {
  const { widths, headDims } = net;
  return {
    ...net,
    widths: [...widths.slice(0, -1), ...widths.slice(-2)],
    headDims: [...headDims, headDims[headDims.length - 1]],
  };
}

/** One layer less, and a width: that after it; of the last layer that before it. */
export function without(net: Network, layer: number): Network {
  const { widths, headDims } = net;
  const gone = Math.min(layer + 1, headDims.length - 1); // the width of the output stays
  return {
    ...net,
    widths: widths.filter((_, i) => i !== gone),
    headDims: headDims.filter((_, i) => i !== layer),
  };
}

export function countsOf(net: Network): Counts {
  const { widths, headDims, kind } = net;
  const { seen, areBasesFree } = seenWidths(net);
  const parameters = sum(headDims.map((a, i) => widths[i] * (2 * a + widths[i + 1])));
  const parts = {
    "head bases": headDims.map((a, i) => a * a - Math.max(0, a - widths[i]) ** 2),
    interfaces: widths.slice(1, -1).map((width) => width * width),
    rescalings: kind === "softmax" ? [] : headDims.map(() => 1),
  };
  const explained = sum(Object.values(parts).flat());
  const dimension = dimensionOf(net, seen);
  const unexplained = parameters - explained - dimension;
  return { parameters, parts, dimension, unexplained, isSure: areBasesFree };
}

/** How many coordinates of each width are reached by the inputs and seen by the output. */
function seenWidths({ widths, headDims }: Network) {
  const reached = [widths[0]];
  for (const width of widths.slice(1)) reached.push(Math.min(width, reached[reached.length - 1]));
  const seen = [...widths];
  let visible = widths[widths.length - 1];
  let areBasesFree = true;
  for (let i = headDims.length - 1; i > 0; i--) {
    const through = 2 * Math.min(headDims[i], reached[i]);
    seen[i] = Math.min(reached[i], seen[i + 1] + through);
    visible = Math.min(widths[i], visible + through);
    if (reached[i] < widths[i] && visible < widths[i]) areBasesFree = false;
  }
  return { seen, areBasesFree };
}

/** Corollary A and Theorem C. */
function dimensionOf({ widths, headDims, tokens, kind }: Network, seen: number[]): number {
  const layers = headDims.length;
  const isSoftmax = kind === "softmax";
  if (isSoftmax && tokens === 1) {
    const least = Math.min(...widths);
    return least * (seen[0] + seen[layers] - least);
  }
  // From this layer on only the symmetric part of A = KᵀQ is seen.
  let symmetricFrom = layers;
  if (!isSoftmax) {
    const isCollapse = (a: number, i: number) => i < layers - 1 && Math.min(a, seen[i]) === 1;
    const collapse = headDims.findIndex(isCollapse); // after it all tokens are parallel
    if (tokens === 1) symmetricFrom = 0;
    else if (collapse >= 0) symmetricFrom = collapse + 1;
  }
  const values = headDims.map((a, i) => {
    const forms = i < symmetricFrom ? allForms : symmetricForms;
    return seen[i] * seen[i + 1] + forms(a, seen[i]);
  });
  const bases = seen.slice(1, -1).map((width) => width * width);
  return sum(values) - sum(bases) - (isSoftmax ? 0 : layers);
}

/** The dimension of the matrices A of rank a, for tokens with d coordinates. */
const allForms = (a: number, d: number) => (a <= d ? a * (2 * d - a) : d * d);

/** The dimension of their symmetric parts. */
const symmetricForms = (a: number, d: number) =>
  2 * a <= d ? 2 * a * d - a * (2 * a - 1) : (d * (d + 1)) / 2;
