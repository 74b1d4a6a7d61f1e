/** The axis of P, straight or rolled up to a ring, in pixels. */
import type { Point } from "../kit/picture";

/** The seven whole numbers from −2 to 4 have half a unit of room at both ends. */
export const LEAST = -2.5;
export const MOST = 4.5;
const MIDDLE = (LEAST + MOST) / 2;
const LENGTH = MOST - LEAST;
const STRAIGHT = 1e-6; // so little bent, an arc is a line

export class Axis {
  /** Pixels of a unit, while it is straight. */
  readonly unit: number;
  readonly center: Point;
  readonly radius: number;
  private readonly middle: number;

  /** `left`: of the straight axis; `size`: of all that there is for the ring. */
  constructor(
    private readonly left: number,
    top: number,
    low: number,
    size: Point,
    radius: number,
  ) {
    this.unit = (low - top) / LENGTH;
    this.middle = (top + low) / 2;
    this.center = [size[0] / 2, size[1] / 2];
    this.radius = radius;
  }

  straight = (P: number): number => this.middle - this.unit * (P - MIDDLE);

  valueAt = (y: number): number => MIDDLE + (this.middle - y) / this.unit;

  /** Where P is, and in which direction its number stands; `bend` is 1 for the ring. */
  at(P: number, bend: number): { at: Point; outward: Point } {
    const along = P - MIDDLE;
    const angle = ((2 * Math.PI * bend) / LENGTH) * along;
    const curvature = (2 * Math.PI * bend) / LENGTH;
    const arc: Point =
      bend < STRAIGHT
        ? [0, along]
        : [(1 - Math.cos(angle)) / curvature, Math.sin(angle) / curvature];
    const end = (2 * Math.PI * this.radius) / LENGTH;
    const unit = this.unit + bend * (end - this.unit);
    const x = this.left + bend * (this.center[0] - this.radius - this.left);
    const y = this.middle + bend * (this.center[1] - this.middle);
    return {
      at: [x + unit * arc[0], y - unit * arc[1]],
      outward: [-Math.cos(angle), -Math.sin(angle)],
    };
  }

  /** The whole number of the ring that is nearest to a pointer. */
  wholeAt([x, y]: Point): number {
    const [cx, cy] = this.center;
    // From the middle, at the left, upwards.
    const angle = Math.atan2(cy - y, cx - x);
    const whole = Math.round(MIDDLE + (angle * LENGTH) / (2 * Math.PI));
    return Math.max(Math.ceil(LEAST), Math.min(Math.floor(MOST), whole));
  }
}
