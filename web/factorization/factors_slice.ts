/**
 * The 2 × 2 matrices of one trace, in space: `neuroviz/factorization/determinantal.py` once more.
 * Those of rank ≤ 1 are a cone, or a hyperboloid.
 *
 *     A = ( trace/2 + x     y + z
 *           y − z           trace/2 − x )
 */
import type { Triple } from "../kit/solids";
import type { Matrix } from "../kit/matrix";
import type { Pair } from "./factors_facts";

const { abs, atan2, cos, hypot, max, min, PI, sin, sqrt } = Math;

const HALVINGS = 50;

/** A line of the surface: of matrices with one image, or with one kernel. */
export type Family = "image" | "kernel";

/** Where a matrix of rank ≤ 1 is on the surface: in degrees, and z. */
export interface Foot {
  angle: number;
  height: number;
}

export function matrixAt(trace: number, [x, y, z]: Triple): Matrix {
  return [
    [trace / 2 + x, y + z],
    [y - z, trace / 2 - x],
  ];
}

export function coordinatesOf([[p, q], [r, s]]: Matrix): { trace: number; place: Triple } {
  return { trace: p + s, place: [(p - s) / 2, (q + r) / 2, (q - r) / 2] };
}

export function pointAt(trace: number, { angle, height }: Foot): Triple {
  const radius = hypot(height, trace / 2);
  return [radius * cos((PI * angle) / 180), radius * sin((PI * angle) / 180), height];
}

/** The ends, at z = ±reach, of a straight line of the surface through a point of it. */
export function rulingAt(
  trace: number,
  { angle, height }: Foot,
  family: Family,
  reach: number,
): [Triple, Triple] {
  const sign = family === "image" ? 1 : -1;
  const turn = height || trace ? atan2(height, trace / 2) : PI / 2;
  const at = (PI * angle) / 180 - sign * turn;
  const end = (z: number): Triple => [
    (trace / 2) * cos(at) - sign * z * sin(at),
    (trace / 2) * sin(at) + sign * z * cos(at),
    z,
  ];
  return [end(-reach), end(reach)];
}

/** Q and K, 1 × 2, of a matrix of rank ≤ 1; K has length 1. */
export function headsAt(trace: number, { angle, height }: Foot): Pair {
  const theta = (PI * angle) / 180;
  const delta = atan2(-2 * height, trace);
  const length = hypot(trace, 2 * height);
  const [q, k] = [(theta - delta) / 2, (theta + delta) / 2];
  return [[[length * cos(q), length * sin(q)]], [[cos(k), sin(k)]]];
}

/** The nearest matrix of rank ≤ 1: at (x/(1+t), y/(1+t), z/(1−t)), of determinant 0. */
export function nearestTo(trace: number, [x, y, z]: Triple): Foot {
  const radius = hypot(x, y);
  const up = abs(z);
  let low = -1;
  let high = 1;
  let t = 0;
  for (let count = 0; count < HALVINGS; count++) {
    t = (low + high) / 2;
    const isOutside = (radius / (1 + t)) ** 2 > (up / (1 - t)) ** 2 + trace ** 2 / 4;
    if (isOutside) low = t;
    else high = t;
  }
  const isUnique = t < 1 - 1e-6; // else z is 0: one is nearest above it, and one below
  const height = isUnique ? up / (1 - t) : sqrt(max((radius / 2) ** 2 - trace ** 2 / 4, 0));
  return { angle: (180 * atan2(y, x)) / PI, height: z < 0 ? -height : height };
}

/**
 * Where a ray meets the surface, or passes it by: on the sheet that is near to a point of it, and
 * no higher than `most`.
 */
export function metBy(
  ray: { from: Triple; toward: Triple },
  trace: number,
  near: Triple,
  most: number,
): Foot {
  const { from, toward } = ray;
  const form = (u: Triple, v: Triple) => u[0] * v[0] + u[1] * v[1] - u[2] * v[2];
  const a = form(toward, toward);
  const b = form(from, toward);
  const c = form(from, from) - trace ** 2 / 4;
  const root = sqrt(max(b * b - a * c, 0));
  // A ray in the direction of the cone meets the surface once.
  const shares = a === 0 ? [-c / (2 * b)] : [(-root - b) / a, (root - b) / a];
  const found = shares.map((share) => {
    const at = from.map((start, i) => start + share * toward[i]);
    const height = max(-most, min(most, at[2]));
    const foot = { angle: (180 * atan2(at[1], at[0])) / PI, height };
    const onSurface = pointAt(trace, foot);
    return { foot, far: 3 * apart(onSurface, at) + apart(onSurface, near) };
  });
  return found.reduce((one, other) => (one.far < other.far ? one : other)).foot;
}

const apart = (p: number[], q: number[]) => hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
