/**
 * The facts of the section scene, schema "section/1": `neuroviz/singular/section_facts.py` says
 * what they mean.
 */
import type { Said } from "../kit/picture";
import type { Triple } from "../kit/solids";
import type { Piece, SliceFacts, SliceFormulas } from "./slice_facts";

/** A stretch of the section, as x, y, z, x, y, z, …, and which sheet each point is on. */
export interface Run {
  points: number[];
  tones: number[];
}

export interface SingularPoint {
  kind: Piece["kind"];
  at: Triple;
}

/** What a plane cuts out of a slice. */
export interface Section {
  runs: Run[];
  singular: SingularPoint[];
  /** The stretches of the singular curve that lie in the plane. */
  along: Piece[];
}

export interface SectionFormulas extends SliceFormulas {
  /** On the side from which the plane is looked at. */
  eye: Triple;
  /** Share of the way out: so near to a pinch point the plane goes through it. */
  snap: number;
}

export interface SectionFacts {
  schema: "section/1";
  slice: SliceFacts;
  about: Said[];
  found: Said[];
  section: Section;
  formulas: SectionFormulas;
}

/** The controls that the scene moves: two angles in degrees, and a share of the way out. */
export type SectionPlace = {
  turn: number;
  tilt: number;
  offset: number;
};
