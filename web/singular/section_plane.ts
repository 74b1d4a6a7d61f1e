/**
 * A plane through a slice and what it cuts out of it, in float64: `section_plane.py` and
 * `section.py` once more. A test compares both at random planes.
 */
import { cross, distance, dot, minus, plus, size, triple, type Triple } from "../kit/solids";
import type { Section, SectionFormulas, SectionPlace, SingularPoint } from "./section_facts";
import { isCylinder, type Piece } from "./slice_facts";

const { abs, cos, hypot, max, min, PI, round, sin, sqrt } = Math;

const SAG = 5e-4; // so far may the curve be from a chord that is drawn,
const DEEPEST = 6; // and so often is a chord halved
const CLOSE = 0.02; // so near to a plane are the rulings beside one that it touches
const ROUNDING = 1e-9;
const SAMPLES = 720; // of the singular curve,
const FIRST = 0.1234; // from an angle that nothing happens at
const CELLS = 150; // of the grid that finds where in a plane the drawing is

type Pair<T> = [first: T, second: T];
type Quad = [x: number, y: number, z: number, w: number];

export interface Plane {
  /** Of length 1. */
  normal: Triple;
  /** To the right, and up, for who looks at it. */
  across: Triple;
  up: Triple;
  /** How far the drawing reaches in the direction of the normal, */
  far: number;
  /** and how far out the plane is. */
  at: number;
}

/** A rectangle of a plane, in its own coordinates. */
export interface Box {
  middle: Pair<number>;
  /** Half its width and height. */
  half: Pair<number>;
}

interface Bounds {
  low: Pair<number>;
  high: Pair<number>;
}

/** Rulings side by side, in the drawing. */
interface Line {
  strip: number;
  theta: number[];
  starts: Triple[];
  ends: Triple[];
}

/** A point of a section: on which ruling, and at which share of it. */
export interface Corner {
  p: Triple;
  strip: number;
  row: number;
  theta: number;
  share: number;
}

export interface Cut {
  runs: Corner[][];
  singular: SingularPoint[];
  along: Piece[];
}

interface SingularCurve {
  /** (x : y : z : w) at the root [cos φ : sin φ]. */
  at(phi: number): Quad;
  samples: { phi: number; point: Quad }[];
}

/** All of a drawing that a plane cuts. */
export class Cutter {
  private readonly isCylinder: boolean;
  private readonly lines: Line[];
  private readonly curves: { piece: Piece; points: Triple[] }[];
  private readonly tips: Triple[];
  /** The coefficients of q₁ and q₂ in the coordinates of the drawing: of x, y, z and 1. */
  private readonly forms: Quad[][];
  private readonly singularCurves: SingularCurve[];

  constructor(readonly formulas: SectionFormulas) {
    const { strips, pieces, pinches, pairs, branches, centre, stretch } = formulas;
    this.isCylinder = isCylinder(formulas);
    this.lines = strips.map(({ theta, starts, ends }, strip) => {
      return { strip, theta, starts: this.points(starts), ends: this.points(ends) };
    });
    this.curves = pieces.map(({ kind, points }) => {
      const drawn = this.points(points);
      return { piece: { kind, points: drawn.flat() }, points: drawn };
    });
    this.tips = pinches.map((pinch) => this.inDrawing(pinch));
    this.forms = ([0, 1] as const).map((k) =>
      [0, 1, 2].map((j): Quad => {
        const [x, y, z, rest] = pairs.map((pair) => pair[k][j]);
        return [x / stretch[0], y / stretch[1], z / stretch[2], rest + dot([x, y, z], centre)];
      }),
    );
    this.singularCurves = branches.map(([x, y, z, w]) => {
      const drawn = [x, y, z].map((row, i) =>
        row.map((t, n) => stretch[i] * (t - centre[i] * w[n])),
      );
      const at = (phi: number) => [...drawn, w].map((row) => formAt(row, phi)) as Quad;
      const angles = Array.from({ length: SAMPLES + 1 }, (_, k) => FIRST + (PI * k) / SAMPLES);
      return { at, samples: angles.map((phi) => ({ phi, point: at(phi) })) };
    });
  }

  /** Where the controls put the plane. */
  planeAt({ turn, tilt, offset }: SectionPlace): Plane {
    const { eye, half, snap } = this.formulas;
    const normal = normalOf(turn, tilt);
    const side = dot(eye, normal) >= 0 ? 1 : -1;
    const [c, s] = turned(turn);
    const across: Triple = [-side * s, side * c, 0];
    const up = cross(scaled(side, normal), across);
    const [long, wide] = half;
    const aside = sqrt(max(1 - normal[0] ** 2, 0));
    const far = this.isCylinder ? abs(normal[0]) * long + aside * wide : wide;
    const asked = offset * far;
    const heights = this.tips.map((tip) => dot(tip, normal));
    const nearer = (a: number, b: number) => (abs(b - asked) < abs(a - asked) ? b : a);
    const near = heights.reduce(nearer, Infinity);
    return { normal, across, up, far, at: abs(near - asked) < snap * far ? near : asked };
  }

  /** Where in the plane the drawing is; planes with one normal have boxes of one size. */
  boxOf(plane: Plane): Box {
    const reach = 1.5 * this.formulas.half[0];
    const step = (2 * reach) / CELLS;
    const central = this.around(plane, 0, reach, step)!;
    const { low, high } = this.around(plane, plane.at, reach, step) ?? central;
    const halfOf = (i: 0 | 1) => (central.high[i] - central.low[i]) / 2 + step;
    return {
      middle: [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2],
      half: [halfOf(0), halfOf(1)],
    };
  }

  /** The section, as runs of points, and its singular points. */
  cut(plane: Plane): Cut {
    const runs: Corner[][] = [];
    for (const line of this.lines) runs.push(...this.runsOf(line, plane));
    return { runs, ...this.singularOn(plane) };
  }

  /** What is drawn of a cut; `tones` says, for each strip, which sheet its points are on. */
  section({ runs, singular, along }: Cut, tones: number[][]): Section {
    const toneOf = ({ strip, row, share }: Corner) => {
      const steps = tones[strip].length / this.lines[strip].theta.length;
      return tones[strip][row * steps + round(share * (steps - 1))];
    };
    const all = runs.map((run) => {
      return { points: run.flatMap(({ p }) => p), tones: run.map(toneOf) };
    });
    return { runs: all, singular, along };
  }

  private inDrawing(p: Triple): Triple {
    const { centre, stretch } = this.formulas;
    return p.map((t, i) => (t - centre[i]) * stretch[i]) as Triple;
  }

  private points(flat: number[]): Triple[] {
    const rows = Array.from({ length: flat.length / 3 }, (_, row) => triple(flat, row));
    return rows.map((p) => this.inDrawing(p));
  }

  private isInside(p: Triple): boolean {
    const away = this.isCylinder ? hypot(p[1], p[2]) : size(p);
    return away <= 1 && abs(p[0]) <= this.formulas.half[0];
  }

  /** The smallest rectangle around the points of the window that are in a plane. */
  private around(
    { normal, across, up }: Plane,
    at: number,
    reach: number,
    step: number,
  ): Bounds | null {
    const long = this.formulas.half[0];
    const low: Pair<number> = [Infinity, Infinity];
    const high: Pair<number> = [-Infinity, -Infinity];
    // 22,801 points at each step of the hand: no arrays.
    for (let m = 0; m <= CELLS; m++) {
      for (let n = 0; n <= CELLS; n++) {
        const x = m * step - reach;
        const y = n * step - reach;
        const u = at * normal[0] + x * across[0] + y * up[0];
        const v = at * normal[1] + x * across[1] + y * up[1];
        const w = at * normal[2] + x * across[2] + y * up[2];
        if (abs(u) > long || sqrt((this.isCylinder ? 0 : u * u) + v * v + w * w) > 1) continue;
        low[0] = min(low[0], x);
        low[1] = min(low[1], y);
        high[0] = max(high[0], x);
        high[1] = max(high[1], y);
      }
    }
    return low[0] <= high[0] ? { low, high } : null;
  }

  /** q₁ = q₂ = 0 at the root [cos θ : sin θ]: two planes, and the way of the line they share. */
  private ruling(theta: number) {
    const [X, Y] = [cos(theta), sin(theta)];
    const [e, f] = this.forms.map(
      ([a, b, c]) => a.map((t, i) => t * X * X + b[i] * X * Y + c[i] * Y * Y) as Quad,
    );
    return { e, f, way: cross(firstOf(e), firstOf(f)) };
  }

  /** The point of a plane on a ruling: three linear equations, by Cramer's rule. */
  private onRuling(theta: number, { normal, at }: Plane): Triple {
    const { e, f, way } = this.ruling(theta);
    const v = cross(firstOf(f), normal);
    const w = cross(normal, firstOf(e));
    const volume = dot(normal, way);
    return way.map((t, i) => (at * t - e[3] * v[i] - f[3] * w[i]) / volume) as Triple;
  }

  /** Where a ruling enters and leaves the window. */
  private endsOf(theta: number): Pair<Triple> {
    const { e, f, way } = this.ruling(theta);
    const v = cross(firstOf(f), way);
    const w = cross(way, firstOf(e));
    const square = dot(way, way);
    const base = v.map((t, i) => -(e[3] * t + f[3] * w[i]) / square) as Triple;
    const flat = ([, y, z]: Triple): Triple => [0, y, z];
    const first = ([x]: Triple): Triple => [x, 0, 0];
    const around = this.isCylinder ? within(flat(base), flat(way), 1) : within(base, way, 1);
    const along = within(first(base), first(way), this.formulas.half[0]);
    return [plus(base, max(around[0], along[0]), way), plus(base, min(around[1], along[1]), way)];
  }

  /**
   * Between two rulings whose starts (side 0) or ends (side 1) are on two sides of a plane: the
   * one whose start or end is in it.
   */
  private crossing(
    { normal, at }: Plane,
    { strip, theta }: Line,
    [row, next]: Pair<number>,
    side: 0 | 1,
  ): Corner {
    const height = (t: number) => dot(this.endsOf(t)[side], normal) - at;
    const found = zeroOf(height, theta[row], theta[next]);
    return { p: this.endsOf(found)[side], theta: found, strip, row, share: side };
  }

  /**
   * The rulings along which a plane touches the surface: starts and ends come to it, and go back
   * on their side.
   */
  private touched({ normal, at }: Plane, { strip, theta }: Line, heights: number[][]): Corner[][] {
    const far = theta.map((_, row) => max(...heights.map((one) => abs(one[row]))));
    const isNearest = (row: number) =>
      far[row] < CLOSE && far[row] <= far[row - 1] && far[row] < far[row + 1];
    const staysAside = (row: number) =>
      heights.every((one) => one[row - 1] * one[row] > 0 && one[row] * one[row + 1] > 0);
    const heightsAt = (t: number) => this.endsOf(t).map((p) => abs(dot(p, normal) - at));
    const found: Corner[][] = [];
    for (const row of theta.keys()) {
      if (!isNearest(row) || !staysAside(row)) continue;
      let [low, high] = [theta[row - 1], theta[row + 1]];
      for (let n = 0; n < 80; n++) {
        const one = low + (high - low) / 3;
        const two = high - (high - low) / 3;
        if (max(...heightsAt(one)) < max(...heightsAt(two))) high = two;
        else low = one;
      }
      if (heightsAt(low).some((t) => t >= ROUNDING)) continue;
      found.push(this.endsOf(low).map((p, share) => ({ p, strip, row, theta: low, share })));
    }
    return found;
  }

  /** The points between two of a run, so that the chords are near to the curve. */
  private between(plane: Plane, a: Corner, b: Corner, depth = 0): Corner[] {
    if (a.theta === b.theta || depth === DEEPEST) return [];
    const theta = (a.theta + b.theta) / 2;
    const p = this.onRuling(theta, plane);
    const isFar = distance(p, mix(a.p, b.p, 0.5)) > SAG;
    if (!isFar || !this.isInside(p)) return [];
    const middle = { ...a, p, theta, share: (a.share + b.share) / 2 };
    return [
      ...this.between(plane, a, middle, depth + 1),
      middle,
      ...this.between(plane, middle, b, depth + 1),
    ];
  }

  private runsOf(line: Line, plane: Plane): Corner[][] {
    const { strip, theta, starts, ends } = line;
    const { normal, at } = plane;
    const heights = [starts, ends].map((points) => points.map((p) => dot(p, normal) - at));
    const corner = (row: number, share: number): Corner => {
      return { p: mix(starts[row], ends[row], share), strip, row, theta: theta[row], share };
    };
    const isInPlane = (row: number) => heights.every((one) => abs(one[row]) < ROUNDING);
    const runs = this.touched(plane, line, heights);
    const rows: number[] = [];
    for (const row of theta.keys()) {
      if (isInPlane(row)) runs.push([corner(row, 0), corner(row, 1)]);
      else rows.push(row);
    }

    let run: Corner[] = [];
    const add = (one: Corner) => {
      if (run.length) run.push(...this.between(plane, run[run.length - 1], one));
      run.push(one);
    };
    const finish = () => {
      if (run.length) runs.push(run);
      run = [];
    };
    const heightsAt = (row: number) => heights.map((one) => one[row]);
    const isCutAt = (row: number) => {
      const [a, b] = heightsAt(row);
      return a * b < 0 || (a * b === 0 && a !== b);
    };
    rows.forEach((row, n) => {
      const [a, b] = heightsAt(row);
      const isCut = isCutAt(row); // then a run is open
      if (isCut) add(corner(row, a / (a - b)));
      if (n + 1 === rows.length) return;
      const next = rows[n + 1];
      const met = ([0, 1] as const)
        .filter((side) => heights[side][row] * heights[side][next] < 0)
        .map((side) => this.crossing(plane, line, [row, next], side))
        .sort((one, other) => one.theta - other.theta);
      if (met.length < 2) {
        met.forEach(add); // the section enters the window here, or leaves it
        if (isCut && !isCutAt(next)) finish();
      } else if (met[1].theta - met[0].theta < ROUNDING) {
        if (next === row + 1) runs.push(met); // one ruling lies in the plane
      } else if (isCut) {
        add(met[0]); // it leaves the window,
        finish();
        add(met[1]); // and comes in again
      } else {
        add(met[0]); // it goes through the window from side to side
        add(met[1]);
        finish();
      }
    });
    finish();
    return runs;
  }

  /** Where a plane meets the singular curve, and the pieces of that which lie in it. */
  private singularOn({ normal, at }: Plane) {
    const isOn = (p: Triple) => abs(dot(p, normal) - at) < ROUNDING;
    const along = this.curves.filter(({ points }) => points.every(isOn));
    const singular: SingularPoint[] = [];
    if (!along.length) {
      for (const tip of this.tips) if (isOn(tip)) singular.push({ kind: "boundary", at: tip });
    }
    const height = ([x, y, z, w]: Quad) => dot(normal, [x, y, z]) - at * w;
    for (const curve of this.singularCurves) {
      const heights = curve.samples.map(({ point }) => height(point));
      if (heights.every((t) => abs(t) < ROUNDING)) continue;
      for (let k = 0; k < SAMPLES; k++) {
        if (heights[k] * heights[k + 1] >= 0) continue;
        const [low, high] = [curve.samples[k].phi, curve.samples[k + 1].phi];
        const phi = zeroOf((angle) => height(curve.at(angle)), low, high);
        const [x, y, z, w] = curve.at(phi);
        const p: Triple = [x / w, y / w, z / w];
        const isTip = this.tips.some((tip) => distance(tip, p) <= 1e-6);
        if (this.isInside(p) && !isTip) singular.push({ kind: this.kindAt(p), at: p });
      }
    }
    return { singular, along: along.map(({ piece }) => piece) };
  }

  /** The kind of the piece that a point of the singular curve is on. */
  private kindAt(p: Triple): Piece["kind"] {
    let best: Piece["kind"] = "crossing";
    let least = Infinity;
    for (const { piece, points } of this.curves) {
      points.forEach((b, row) => {
        const a = points[max(0, row - 1)];
        const way = minus(b, a);
        const share = dot(minus(p, a), way) / (dot(way, way) || 1);
        const far = distance(p, mix(a, b, max(0, min(1, share))));
        if (far < least) [best, least] = [piece.kind, far];
      });
    }
    return best;
  }
}

/** The normal of a plane; exact where the angles are multiples of 90°. */
export function normalOf(turn: number, tilt: number): Triple {
  const [c, s] = turned(turn);
  const [e, f] = turned(tilt);
  return [e * c, e * s, f];
}

/** A point of the drawing in the plane's own coordinates. */
export const onPage = ({ across, up }: Plane, p: Triple): Pair<number> => [
  dot(p, across),
  dot(p, up),
];

/** The point of the plane with these coordinates. */
export const inSpace = ({ normal, across, up, at }: Plane, [x, y]: Pair<number>): Triple =>
  plus(plus(scaled(at, normal), x, across), y, up);

/** Where a function changes its sign: false position; an end that stays loses half its weight. */
function zeroOf(f: (t: number) => number, low: number, high: number): number {
  let a = f(low);
  let b = f(high);
  let stays = 0; // 1: the upper end, −1: the lower one
  for (let n = 0; n < 60 && a !== b; n++) {
    const t = (a * high - b * low) / (a - b);
    const value = f(t);
    if (!value || t === low || t === high) return t;
    if (value * a > 0) {
      low = t;
      a = value;
      if (stays === 1) b /= 2;
      stays = 1;
    } else {
      high = t;
      b = value;
      if (stays === -1) a /= 2;
      stays = -1;
    }
  }
  return (low + high) / 2;
}

/** For which t the points p + t·way are at most so far out. */
function within(p: Triple, way: Triple, most: number): Pair<number> {
  const all = dot(way, way);
  if (!all) return [-Infinity, Infinity];
  const middle = -dot(p, way) / all;
  const reach = sqrt(max(0, middle ** 2 - (dot(p, p) - most ** 2) / all));
  return [middle - reach, middle + reach];
}

/** A form with these coefficients at [cos φ : sin φ]. */
function formAt(row: number[], phi: number): number {
  const [c, s] = [cos(phi), sin(phi)];
  const degree = row.length - 1;
  return row.reduce((sum, t, i) => sum + t * c ** (degree - i) * s ** i, 0);
}

const turned = (degrees: number) =>
  [cos, sin].map((f) => round(f((degrees * PI) / 180) * 1e12) / 1e12) as Pair<number>;
const scaled = (t: number, p: Triple): Triple => plus([0, 0, 0], t, p);
const mix = (a: Triple, b: Triple, share: number): Triple => plus(a, share, minus(b, a));
const firstOf = ([x, y, z]: Quad): Triple => [x, y, z];
