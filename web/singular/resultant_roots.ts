/**
 * Chords between the roots of two forms, and their product: `resultant_panel.py` once more. A test
 * compares both at random roots.
 */
import type { Point } from "../kit/picture";
import type { ResultantPlace } from "./resultant_facts";

const { PI, atan2, cos, sin } = Math;
const radians = (degrees: number) => (degrees * PI) / 180;

/** From a root of q₁ to a root of q₂. */
export interface Chord {
  from: keyof ResultantPlace;
  to: keyof ResultantPlace;
  /** sin(θ′ − θ): half the length of the chord, with a sign. */
  factor: number;
}

const OF_FIRST = ["first", "second"] as const;
const OF_SECOND = ["third", "fourth"] as const;

export function chordsOf(place: ResultantPlace): Chord[] {
  const found: Chord[] = [];
  for (const from of OF_FIRST) {
    for (const to of OF_SECOND) {
      found.push({ from, to, factor: sin(radians(place[to] - place[from])) });
    }
  }
  return found;
}

/** The resultant of two forms whose linear factors have length 1. */
export const resultantOf = (place: ResultantPlace): number =>
  chordsOf(place).reduce((product, { factor }) => product * factor, 1);

/** The root [cos θ : sin θ] stands at the angle 2θ: so the line of all roots closes to a circle. */
export const onCircle = (angle: number): Point => [
  cos(radians(2 * angle)),
  sin(radians(2 * angle)),
];

/** The root nearest to a point of the plane, in whole degrees from 0 to 179. */
export function rootAt([x, y]: Point): number {
  const degrees = (atan2(y, x) * 180) / PI / 2;
  return ((Math.round(degrees) % 180) + 180) % 180;
}
