/**
 * Layers with d = 2, d′ = 1 that follow the gradient: `neuroviz/singular/flow.py` in the page. A
 * test compares where both end.
 */
import type { FlowFacts } from "./learning_facts";

/** a₁, b₁, c₁, a₂, b₂, c₂ of q = aX² + bXY + cY². */
export type Forms = Float64Array;

const SIZE = 6; // A₀₀, A₀₁, A₁₀, A₁₁, V₀, V₁
const DEVIATION = 0.5; // of the weights at the start
const FIRST = 0.01; // the step that is tried first
const ABSOLUTE = 0.01; // of the relative tolerance

// Dormand and Prince 1980: orders 5 and 4.
const STAGES = [
  [1 / 5],
  [3 / 40, 9 / 40],
  [44 / 45, -56 / 15, 32 / 9],
  [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
  [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
  [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
];
const APART = [71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40];

/** The forms q_k = ℓ_k·v of the weights that begin at `at`. */
export function formsOf(weights: Float64Array, at: number, into: Forms) {
  const v = weights[at + 4];
  const w = weights[at + 5];
  for (let k = 0; k < 2; k++) {
    const p = weights[at + k];
    const r = weights[at + 2 + k];
    into[3 * k] = p * v;
    into[3 * k + 1] = p * w + r * v;
    into[3 * k + 2] = r * w;
  }
}

/** The Bombieri distance of two pairs of forms. */
export function distanceOf(one: Forms, other: Forms): number {
  let sum = 0;
  for (let i = 0; i < SIZE; i++) {
    const rest = one[i] - other[i];
    sum += (i % 3 === 1 ? 0.5 : 1) * rest * rest;
  }
  return Math.sqrt(sum);
}

/** −∇ of half the squared distance: A and V see the rest of each form through one another. */
function descent(weights: Float64Array, target: Forms, into: Float64Array) {
  const v = weights[4];
  const w = weights[5];
  into[4] = into[5] = 0;
  for (let k = 0; k < 2; k++) {
    const p = weights[k];
    const r = weights[2 + k];
    const a = p * v - target[3 * k];
    const b = (p * w + r * v - target[3 * k + 1]) / 2;
    const c = r * w - target[3 * k + 2];
    into[k] = -(a * v + b * w);
    into[2 + k] = -(b * v + c * w);
    into[4] -= a * p + b * r;
    into[5] -= b * p + c * r;
  }
}

export class Layers {
  readonly weights: Float64Array;
  readonly target: Forms = new Float64Array(SIZE);
  time = 0;
  private readonly steps: Float64Array; // the next step of each layer; 0 if none was tried
  private readonly slopes = Array.from({ length: 7 }, () => new Float64Array(SIZE));
  private readonly from = new Float64Array(SIZE);
  private readonly end = new Float64Array(SIZE);

  constructor(
    readonly count: number,
    private readonly tolerance: FlowFacts["tolerance"],
  ) {
    this.weights = new Float64Array(SIZE * count);
    this.steps = new Float64Array(count);
  }

  /** New weights with independent entries of variance ¼. */
  restart(normal: () => number) {
    for (let i = 0; i < this.weights.length; i++) this.weights[i] = DEVIATION * normal();
    this.time = 0;
    this.steps.fill(0);
  }

  aim(target: Forms) {
    this.target.set(target);
    this.steps.fill(0);
  }

  /** Follows the flow for so long; every layer has steps of its own. */
  advance(time: number) {
    for (let run = 0; run < this.count; run++) this.follow(run, time);
    this.time += time;
  }

  forms(run: number, into: Forms) {
    formsOf(this.weights, SIZE * run, into);
  }

  /** σ₂/σ₁ of A: 0 at a singular point, as V has rank 1 anyway. */
  ratio(run: number): number {
    const at = SIZE * run;
    const [a, b, c, d] = this.weights.subarray(at, at + 4);
    const all = a * a + b * b + c * c + d * d;
    const det = Math.abs(a * d - b * c);
    const first = (all + Math.sqrt(Math.max(0, all * all - 4 * det * det))) / 2;
    return first ? det / first : 0;
  }

  /** The fastest change of a weight of a layer. */
  speed(run: number): number {
    const at = SIZE * run;
    descent(this.weights.subarray(at, at + SIZE), this.target, this.slopes[0]);
    return this.slopes[0].reduce((most, slope) => Math.max(most, Math.abs(slope)), 0);
  }

  private follow(run: number, time: number) {
    const { slopes, from, end, target, tolerance } = this;
    const at = SIZE * run;
    from.set(this.weights.subarray(at, at + SIZE));
    descent(from, target, slopes[0]);
    let step = this.steps[run] || FIRST;
    for (let left = time; left > 0;) {
      const taken = Math.min(step, left);
      for (let stage = 0; stage < 6; stage++) {
        const row = STAGES[stage];
        for (let i = 0; i < SIZE; i++) {
          let sum = 0;
          for (let j = 0; j < row.length; j++) sum += row[j] * slopes[j][i];
          end[i] = from[i] + taken * sum;
        }
        descent(end, target, slopes[stage + 1]);
      }
      let square = 0;
      for (let i = 0; i < SIZE; i++) {
        let sum = 0;
        for (let j = 0; j < 7; j++) sum += APART[j] * slopes[j][i];
        const size = Math.max(Math.abs(from[i]), Math.abs(end[i])) + ABSOLUTE;
        square += ((taken * sum) / (tolerance * size)) ** 2;
      }
      const error = Math.sqrt(square / SIZE);
      const factor = Math.max(0.2, Math.min(5, 0.9 * Math.max(error, 1e-10) ** -0.2));
      if (error <= 1) {
        from.set(end);
        slopes[0].set(slopes[6]); // the last stage is the first of the next step
        left -= taken;
        step = taken === step ? taken * factor : Math.max(step, taken * factor);
      } else {
        step = taken * Math.min(1, factor);
      }
    }
    this.weights.set(from, at);
    this.steps[run] = step;
  }
}

/** Independent standard normal numbers of a seed: mulberry32, then Box and Muller. */
export function normals(seed: number): () => number {
  const uniform = uniforms(seed);
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}

/** Numbers from 0 to 1 of a seed. */
export function uniforms(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
