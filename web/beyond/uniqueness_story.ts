/** What happens on the way of two networks: where ▶ holds, and what is said there. */
import { meetingOf } from "../softmax/two_tokens";
import type { Formulas } from "./uniqueness_facts";
import { isSeen, movedAt, type Both, type Stop } from "./uniqueness_way";

const NEAR = 0.02; // of the tokens' line: what is nearer to its end looks as if it were there

const LATE = 0.9; // of the way

const SAID = ["in neither network", "in θ only", "in θ′ only", "in both, in different places"];

/** Whether the way has two halves, in which other things move. */
function hasHalves({ step, causal, forms }: Formulas): boolean {
  return step === "peel" ? forms[0].length > 1 : step === "B1, ρ > 0" && !causal;
}

/** The beginning, the end of the first half, where a token leaves the picture, and the arrival. */
export function momentsOf(formulas: Formulas, stops: Stop[]): number[] {
  const found = [0];
  if (hasHalves(formulas)) found.push(0.5);
  const gone = stops.find(({ both }) => isOutOfSight(both));
  if (gone) found.push(gone.travel);
  const end = stops.at(-1)!;
  const arrival = stops.find((_, index) => {
    return stops.slice(index).every(({ both }) => apart(both, end.both) < NEAR);
  })!;
  // On the way to ∞ nothing is seen to move for long; elsewhere it arrives at the end.
  if (arrival.travel < LATE) found.push(arrival.travel);
  return [...new Set(found)].sort((a, b) => a - b);
}

/** What happens at a place of the way; nothing, where there is none. */
export function saysAt(formulas: Formulas, travel: number, both: Both): string {
  const { step, causal } = formulas;
  if (step === "same" || step === "outside") return "";
  if (travel <= 0) return "the true exponentials of both networks";
  if (travel >= 1) {
    const [left, right] = both.map((run) => meetingOf(run) !== null);
    return `the end of the way: the two tokens meet ${SAID[Number(left) + 2 * Number(right)]}`;
  }
  if (step === "A") {
    return causal ? "θ stands still, and Q′ goes to ∞" : "θ stands still, and P′Q′ goes to 1";
  }
  if (step === "B2") return "θ stands still, P′ goes to 0 and Q′ to ∞";
  if (step === "B1, ρ < 0") {
    return causal
      ? "Q goes to 0, so Q′ goes to ∞"
      : "P goes to 0 and Q to ∞, so P′ goes to ∞ and Q′ to 0";
  }
  if (step === "B1, ρ > 0") return runsAway(formulas, travel, both);
  if (movedAt(formulas, travel) === 1) return "P and Q go to 0 in both: layer 1 is frozen";
  return causal
    ? "layer 1 is frozen; in layer 2 Q′ goes to ∞"
    : "layer 1 is frozen; in layer 2 P′Q′ goes to 1";
}

function runsAway({ causal }: Formulas, travel: number, both: Both): string {
  const [token, letter] = causal ? ["x₂", "Q"] : ["x₁", "P"];
  if (!causal && travel <= 0.5) return "Q and Q′ go to 0: token 2 is frozen";
  const where = isOutOfSight(both) ? `${token} has left the picture` : `${token} runs away`;
  return `${where}, and ${letter} and ${letter}′ go to ∞`;
}

function isOutOfSight(both: Both): boolean {
  return both.some(({ places }) => places[0].some((place) => !isSeen(place)));
}

/** How far the tokens and the shares are from one another, at most. */
function apart(one: Both, other: Both): number {
  const [a, b] = [one, other].map((both) => {
    return both.flatMap(({ places, shares }) => [...places, ...shares].flat());
  });
  return Math.max(...a.map((value, index) => Math.abs(value - b[index])));
}
