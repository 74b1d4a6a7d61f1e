/**
 * The way of two networks θ and θ′, from the true exponentials to those that tell them apart, in
 * float64: `uniqueness.py` once more. A test compares both at random states.
 */
import type { Point, Range } from "../kit/picture";
import type { Formulas } from "./uniqueness_facts";
import {
  after,
  logitsOf,
  sharesOf,
  trueShares,
  within,
  type Form,
  type Pair,
  type Run,
  type Shares,
} from "../softmax/two_tokens";

export type Both = [Run, Run];

/** Which of the two networks: 0 for θ, 1 for θ′. */
export type Side = 0 | 1;

/** Places that have room in the picture. */
export const SEEN: Point = [-0.16, 1.16];

export const isSeen = (place: number) => place >= SEEN[0] && place <= SEEN[1];

/** A token that runs away is drawn no farther than here, and so is an infinite place. */
const AWAY = 3;
const SPEED = 4;
const START: Pair = [0, 1];
const EVEN = 20; // pixels: places of the way that lie on one another are told apart by so much

/** The layer that moves: after peeling the second, if there is one. */
export function movedAt({ step, forms }: Formulas, travel: number): 1 | 2 {
  return step === "peel" && forms[0].length > 1 && travel > 0.5 ? 2 : 1;
}

/** Both networks at a place of the way. */
export function bothAt(formulas: Formulas, travel: number): Both {
  const { causal, forms } = formulas;
  const firsts = firstLayers(formulas, travel);
  const moved = movedAt(formulas, travel);
  const sides: Side[] = [0, 1];
  return sides.map((side) => {
    const { places, shares } = firsts[side];
    forms[side].slice(1).forEach((form, index) => {
      const here = places[index + 1];
      const meets = side === 1 && index + 2 === moved;
      const found = meets
        ? toMeet(form, here, 2 * travel - 1, causal)
        : trueShares(form, here, causal);
      shares.push(found);
      places.push(after(here, found));
    });
    return { places, shares };
  }) as Both;
}

/** Both networks with all places finite: to be drawn. */
export function drawnAt(formulas: Formulas, travel: number): Both {
  return bothAt(formulas, travel).map(({ places, shares }) => ({
    places: places.map(([s, u]): Pair => [within(s, -AWAY, AWAY), within(u, -AWAY, AWAY)]),
    shares,
  })) as Both;
}

/** A place of the way, and both networks there. */
export interface Stop {
  travel: number;
  both: Both;
}

/** All places of the way, one for each step of its slider. */
export function stopsOf(formulas: Formulas, [least, most, step]: Range): Stop[] {
  const count = Math.round((most - least) / step) + 1;
  return Array.from({ length: count }, (_, index) => {
    const travel = least + ((most - least) * index) / (count - 1);
    return { travel, both: drawnAt(formulas, travel) };
  });
}

/** Where the way of what is `seen` comes nearest to the pointer; rather near to `travel`. */
export function nearest(
  stops: Stop[],
  seen: (both: Both) => Point,
  [x, y]: Point,
  travel: number,
): number {
  const pixels = stops.map(({ both }) => seen(both));
  const costs = pixels.map(
    ([a, b], index) => Math.hypot(a - x, b - y) + EVEN * Math.abs(stops[index].travel - travel),
  );
  const best = costs.indexOf(Math.min(...costs));
  const [endX, endY] = pixels.at(-1)!;
  // Where all that follows looks the same, the end of the way is meant.
  const isAtEnd = pixels.slice(best).every(([a, b]) => Math.hypot(a - endX, b - endY) < 2);
  return isAtEnd ? stops.at(-1)!.travel : stops[best].travel;
}

/** Whether a number moves along the way so far that one can take hold of it. */
export function walks(stops: Stop[], value: (both: Both) => number): boolean {
  const values = stops.map(({ both }) => value(both));
  return Math.max(...values) - Math.min(...values) > 0.03;
}

/** The shares of both first layers, and the tokens before and after them. */
function firstLayers(formulas: Formulas, travel: number): Both {
  const { step, power, causal, forms } = formulas;
  if (step === "B1, ρ > 0") return runAway(formulas, travel);
  const [[p, q], [pPrime, qPrime]] = forms.map(([form]) => logitsOf(form, START));
  const gone = far(travel);
  const push = causal ? -gone : gone;
  const shares = (a: number, b: number) => sharesOf(a, b, causal);
  const atStart = (): [Shares, Shares] => [shares(p, q), shares(pPrime, qPrime)];
  const ways: Record<Exclude<Formulas["step"], "B1, ρ > 0">, () => [Shares, Shares]> = {
    A: () => [shares(p, q), toMeet(forms[1][0], START, travel, causal)],
    B2: () => [shares(p, q), shares(pPrime - gone, qPrime + gone)],
    "B1, ρ < 0": () => [
      shares(p - push, q + push),
      shares(pPrime - power! * push, qPrime + power! * push),
    ],
    peel() {
      // Freezing, P, Q → 0, takes the first layer off both networks.
      const off = far(forms[0].length > 1 ? Math.min(1, 2 * travel) : travel);
      return [shares(p - off, q - off), shares(pPrime - off, qPrime - off)];
    },
    same: atStart,
    outside: atStart,
  };
  return ways[step]().map((one) => ({
    shares: [one],
    places: [START, after(START, one)],
  })) as Both;
}

/**
 * Q → 0; then P → ∞ while x₁ runs away, so that one of the networks sees it where it was. Under a
 * mask x₂ runs away by its Q, and there is no first half.
 */
function runAway({ power, causal, forms }: Formulas, travel: number): Both {
  const first = causal ? 0 : Math.min(1, 2 * travel);
  const second = causal ? travel : Math.max(0, 2 * travel - 1);
  const powers = [1, power!];
  const gone = far(second) / Math.abs(power! - 1);
  const mover = causal ? 1 : 0; // which of P and Q grows
  const other = 1 - mover;
  const viewer = power! < 1 ? 1 : 0; // the network that sees the token where it was
  const start = forms.map(([form]) => logitsOf(form, START));
  const here = start.map((logits, side) => logits[mover] + powers[side] * gone);
  // A layer divides the distance of the tokens by 1 + P. These are log(1 + P), as P → ∞.
  const logAtStart = softplus(start[viewer][mover]);
  const logs = here.map(softplus);
  const distance = Math.exp(logs[viewer] - logAtStart);
  return [0, 1].map((side) => {
    const logits: Pair = [0, 0];
    logits[mover] = here[side];
    logits[other] = start[side][other] - powers[side] * far(first);
    const found = sharesOf(...logits, causal);
    // ∞ − ∞ is no number.
    const logBeyond = gone < Infinity ? logs[side] - logs[viewer] : Infinity;
    const distanceAfter = Math.exp(-logAtStart - (side === viewer ? 0 : logBeyond));
    const places: Pair[] = causal
      ? [
          [0, distance],
          [0, distanceAfter],
        ]
      : [
          [1 - distance, 1],
          [1 - distanceAfter, 1 - found[1]],
        ];
    return { shares: [found], places };
  }) as Both;
}

/** A layer that is free, on its way to PQ = 1; under a mask to Q = ∞. */
function toMeet(form: Form, places: Pair, travel: number, isCausal: boolean): Shares {
  const [p, q] = logitsOf(form, places);
  if (isCausal) return sharesOf(p, q + far(travel), isCausal);
  return sharesOf((1 - travel) * p, (1 - travel) * q, isCausal);
}

/** From 0 at the beginning of a way to ∞ at its end. */
const far = (travel: number) => (travel >= 1 ? Infinity : -SPEED * Math.log(1 - travel));

/** log(1 + e^x), also of ∞. */
const softplus = (x: number) =>
  x === Infinity ? x : Math.max(0, x) + Math.log1p(Math.exp(-Math.abs(x)));
