/**
 * The slice S1, q₁ = X² + sXY + Y², q₂ = y(X² − Y²) + zXY: where a pair of forms comes to lie in
 * it, and what is true of a target.
 */
import type { Triple } from "../kit/solids";
import type { CoinFacts, LearningPlace, TargetKind } from "./learning_facts";
import { distanceOf, type Forms } from "./learning_flow";

const ON = 1e-9; // sliders go in hundredths: what is off the surface is further off
const TINY = 1e-12;
const ANGLES = 720;
const GOLDEN = (Math.sqrt(5) - 1) / 2;
const HALVINGS = 40;

/** A place as a point of the slice. */
export const tripleOf = ({ s, y, z }: LearningPlace): Triple => [s, y, z];

export function formsAt({ s, y, z }: LearningPlace): Forms {
  return Float64Array.of(1, s, 1, y, z, -y);
}

/**
 * The twin of a pair of forms: where it comes to lie in the slice, at s ≥ 0, by turning (X, Y),
 * turning (q₁, q₂) and a factor. None of the three changes whether the pair is a layer, or
 * singular. Turn (q₁, q₂) until q₂ has no X² + Y²; then (X, Y) until q₁ has no X² − Y².
 */
export function twinOf(forms: Forms): LearningPlace {
  const [a1, b1, c1, a2, b2, c2] = forms;
  const size = Math.hypot(a1 + c1, a2 + c2) || TINY;
  const cos = (a1 + c1) / size;
  const sin = (a2 + c2) / size;
  // Of both turned forms: a − c, twice the coefficient of X² − Y², and b, that of XY.
  const even1 = cos * (a1 - c1) + sin * (a2 - c2);
  const even2 = cos * (a2 - c2) - sin * (a1 - c1);
  const mixed1 = cos * b1 + sin * b2;
  const mixed2 = cos * b2 - sin * b1;
  const long = Math.hypot(even1, mixed1) || TINY;
  const u = even1 / long;
  const v = mixed1 / long;
  return {
    s: (2 * long) / size,
    y: (even2 * v - mixed2 * u) / size,
    z: (2 * (even2 * u + mixed2 * v)) / size,
  };
}

/** A layer where a flow can rest. */
export interface Rest {
  distance: number;
  forms: Forms;
}

/**
 * The layers with the root [cos θ : sin θ] are |(q₁, q₂)(cos θ, sin θ)| away: where this is least
 * among those around. The nearest layer is the first.
 */
export function restsOf(target: Forms): Rest[] {
  const [a1, b1, c1, a2, b2, c2] = target;
  const valueOf = (a: number, b: number, c: number, phi: number) =>
    (a + c + (a - c) * Math.cos(phi) + b * Math.sin(phi)) / 2;
  const values = (phi: number) => [valueOf(a1, b1, c1, phi), valueOf(a2, b2, c2, phi)];
  const away = (phi: number) => Math.hypot(...values(phi));
  const step = (2 * Math.PI) / ANGLES;
  const found: Rest[] = [];
  for (let n = 0; n < ANGLES; n++) {
    const here = away(n * step);
    const isLeast = here <= away((n - 1) * step) && here < away((n + 1) * step);
    const isLast = n === ANGLES - 1 && !found.length; // all are as far, as for X² + Y²
    if (!isLeast && !isLast) continue;
    const phi = leastNear(away, n * step, step);
    const cos = Math.cos(phi / 2);
    const sin = Math.sin(phi / 2);
    const square = [cos * cos, 2 * cos * sin, sin * sin];
    const left = values(phi);
    const forms = target.map((value, i) => value - left[i < 3 ? 0 : 1] * square[i % 3]);
    found.push({ distance: distanceOf(forms, target), forms });
  }
  return found.sort((one, other) => one.distance - other.distance);
}

/** Golden section. */
function leastNear(f: (x: number) => number, middle: number, reach: number): number {
  let low = middle - reach;
  let high = middle + reach;
  for (let n = 0; n < HALVINGS; n++) {
    const a = high - GOLDEN * (high - low);
    const b = low + GOLDEN * (high - low);
    if (f(a) < f(b)) high = b;
    else low = a;
  }
  return (low + high) / 2;
}

/** `kind_of` a target. */
export function kindOf({ s, y, z }: LearningPlace): TargetKind {
  if (Math.abs(y) < ON && Math.abs(z) < ON) {
    if (Math.abs(s - 2) < ON) return "boundary";
    return s > 2 ? "crossing" : "closure only";
  }
  return Math.abs(z * z - (s * s - 4) * y * y) < ON ? "smooth" : "off";
}

export function isOnCoin(place: LearningPlace, { centre, radius }: CoinFacts): boolean {
  const { s, z } = place;
  return isInCoinPlane(place) && (s - centre) ** 2 + z * z <= radius * radius + ON;
}

/** Whether a target lies in the plane of the coin. */
export const isInCoinPlane = ({ y }: LearningPlace): boolean => Math.abs(y) < ON;
