/**
 * The facts of a slice in space: `neuroviz/singular/slice_facts.py` says what they mean; and what
 * the page needs to compute points of it.
 */
import type { Triple } from "../kit/solids";
import type { Pointer, Sight } from "../kit/space";

/** q = aX² + bXY + cY². */
export type Form = Triple;

export interface SliceFacts {
  /** While it stays, the camera stays where the reader turned it. */
  name: string;
  camera: Sight;
  /** Which of two crossing sheets, from −1 to 1: for each strip, ruling by ruling. */
  tones: number[][];
  labels: Pointer[];
}

/** Rulings side by side: the angle of the root, and both ends as x, y, z, x, y, z, … */
export interface Strip {
  theta: number[];
  starts: number[];
  ends: number[];
}

/** A piece of the singular curve, as x, y, z, x, y, z, … */
export interface Piece {
  kind: "crossing" | "boundary" | "closure only";
  points: number[];
}

/** What the page needs to find points of a slice by itself: see surface_point.ts. */
export interface SliceFormulas {
  /** (q₁, q₂) are affine in x, y, z: the coefficients of x, of y, of z, and of 1. */
  pairs: [Form, Form][];
  centre: Triple;
  stretch: Triple;
  /** How far the drawing reaches in x, y and z. */
  half: Triple;
  /** The singular curves, as polynomials in [cos φ : sin φ]. */
  branches: number[][][];
  strips: Strip[];
  pieces: Piece[];
  pinches: Triple[];
}

/** Whether the drawing is a cylinder along x; others are a ball. */
export const isCylinder = ({ half }: { half: Triple }): boolean => half[0] > half[1];
