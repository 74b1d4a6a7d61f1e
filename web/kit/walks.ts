/** Walks in GL_a: the one-parameter subgroups of `neuroviz/attention/symmetry.py`, once more. */
import { each, identity, type Matrix } from "./matrix";
import type { Point } from "./picture";

export type Walk = "rotation" | "stretch" | "shear";

/** Where each walk is at its end: its angle, its factor, or its entry. Python says it. */
export type WalkEnds = Record<Walk, number>;

/** Whether there is such a walk, other than to stand still. */
export const isSeen = (walk: Walk, heads: number): boolean => heads > 1 || walk === "stretch";

/** The matrix C of a walk, `heads` by `heads`; `along` goes from −1 to 1. */
export function walkAt(walk: Walk, heads: number, along: number, ends: WalkEnds): Matrix {
  const end = ends[walk];
  const C = identity(heads);
  if (walk === "stretch") return each(C, (entry, i) => entry * end ** (i % 2 ? -along : along));
  for (let i = 0; i + 1 < heads; i += 2) {
    if (walk === "shear") C[i][i + 1] = end * along;
    else {
      const [cos, sin] = [Math.cos(end * along), Math.sin(end * along)];
      [C[i][i], C[i][i + 1]] = [cos, -sin];
      [C[i + 1][i], C[i + 1][i + 1]] = [sin, cos];
    }
  }
  return C;
}

/** Where the direction that one takes hold of has come to: of two, the one that moves. */
export function tipAt(walk: Walk, along: number, ends: WalkEnds): Point {
  const end = ends[walk];
  if (walk === "rotation") return [Math.cos(end * along), Math.sin(end * along)];
  return walk === "stretch" ? [end ** along, 0] : [end * along, 1];
}

/** How far along its walk the tip is nearest to a point of the plane. */
export function alongOf(walk: Walk, [x, y]: Point, ends: WalkEnds): number {
  const end = ends[walk];
  if (walk === "rotation") return Math.atan2(y, x) / end;
  return walk === "stretch" ? Math.log(Math.max(x, 0.1)) / Math.log(end) : x / end;
}
