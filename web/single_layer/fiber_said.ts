/** Whether a layer has the outputs of the start, and what is said of it; Python says the same. */
import type { Matrix } from "../kit/matrix";
import type { Said } from "../kit/picture";
import type { Pair } from "./fiber_facts";
import type { Layer } from "./fiber_layer";

/** Whether outputs differ by less than rounding does; `limit` is Python's. */
export function areSame(now: Matrix, start: Matrix, limit: number): boolean {
  const squares = now.flatMap((row, k) => row.map((value, t) => (value - start[k][t]) ** 2));
  return Math.sqrt(squares.reduce((a, b) => a + b, 0) / squares.length) <= limit;
}

export function saidOfOutputs(isSame: boolean, start: Matrix): Said[] {
  const isZero = start.every((row) => row.every((value) => value === 0));
  const same: Said = { text: isZero ? "= same: all 0" : "= same", role: "certified" };
  return [{ text: "outputs φ(X)", name: true }, isSame ? same : { text: "≠ moved", role: "focus" }];
}

/** Of the weights; how far the outputs have moved only Python measures. */
export function saidOfWeights(isSame: boolean, now: Pair, start: Layer): Said[] {
  if (!isSame) return lines("other weights:", "the outputs moved");
  const isStart = JSON.stringify(now) === JSON.stringify(start.now);
  if (isStart) return lines("the start: nothing has", "moved yet");
  return lines("other weights,", "the same outputs");
}

const lines = (...all: string[]): Said[] => all.map((text) => ({ text }));
