/**
 * Two tokens on their line, layer by layer, in float64: `softmax/two_tokens.py` once more. A place
 * is a share of the way from x₁ (0) to x₂ (1).
 */

/** μ, of x₂ in the new token 1, and ν, of x₁ in the new token 2. */
export type Shares = [mu: number, nu: number];

/** Where token 1 and token 2 are. */
export type Pair = [one: number, two: number];

/** δᵀM x₁ and δᵀM δ with δ = x₂ − x₁: from them come all logits on the line. */
export type Form = [first: number, apart: number];

/** The tokens before the first layer and after each, and the shares of each layer. */
export interface Run {
  places: Pair[];
  shares: Shares[];
}

const EQUAL = 1e-9;
const FAR = 0.15; // of the tokens' line

/** The logits p and q of tokens at these places. */
export function logitsOf([first, apart]: Form, [s, u]: Pair): [p: number, q: number] {
  return [(u - s) * (first + s * apart), (s - u) * (first + u * apart)];
}

/** Shares from logits, which may be infinite. */
export function sharesOf(p: number, q: number, isCausal: boolean): Shares {
  return [isCausal ? 0 : logistic(p), logistic(q)];
}

/** The shares that the weights give at these places. */
export function trueShares(form: Form, places: Pair, isCausal: boolean): Shares {
  return sharesOf(...logitsOf(form, places), isCausal);
}

/** The tokens after a layer. */
export function after([s, u]: Pair, [mu, nu]: Shares): Pair {
  return [s + mu * (u - s), u - nu * (u - s)];
}

/** The number of layers after which the tokens are equal; null if they never are. */
export function meetingOf({ places }: Run): number | null {
  const found = places.findIndex(([s, u]) => Math.abs(s - u) < EQUAL);
  return found < 0 ? null : found;
}

export const within = (value: number, least = 0, most = 1) =>
  Math.max(least, Math.min(most, value));

const logistic = (x: number) => (1 + Math.tanh(x / 2)) / 2;

/** Whether in one of the runs a token or a share moves so far that one cannot see how. */
export function isFar(before: Run[], after: Run[]): boolean {
  const [one, other] = [before, after].map((runs) =>
    runs.flatMap(({ places, shares }) => [...places, ...shares].flat()),
  );
  return one.some((value, index) => Math.abs(value - other[index]) > FAR);
}
