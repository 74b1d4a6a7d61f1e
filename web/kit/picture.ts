/**
 * What Python and the page say to one another about a picture; `neuroviz/kit/picture.py` is the
 * other end.
 */

export type Role =
  | "ground"
  | "panel"
  | "ink"
  | "soft"
  | "axis"
  | "grid"
  | "wash"
  | "measured"
  | "certified"
  | "outside"
  | "focus"
  | "ghost"
  | "symmetry"
  | "singular"
  | "boundary"
  | "ruling"
  | "sheet a"
  | "sheet mid"
  | "sheet b"
  | "layer 1"
  | "layer 2"
  | "layer 3"
  | "layer 4";

/** A few words, and the role of their colour: ink, if none is named. */
export interface Said {
  text: string;
  role?: Role;
  /** It names what a view shows, and answers no question: it is there from the beginning. */
  name?: boolean;
}

/** Colours between two ends, 0 and 1. */
export type Scale = [place: number, color: string][];

export interface Look {
  colors: Record<Role, string>;
  /** Five colours, from the most negative number to the most positive one. */
  diverging: string[];
  /** Measured − formula: from the largest difference, 0, to none, 1, which has its own colour. */
  deficit: Scale;
  sizes: Record<"base" | "title" | "note" | "tick" | "marker" | "line" | "height", number>;
  font: string;
}

/** A name such as "deep/ledger": its section, a slash, and the scene. */
export function partsOf(name: string): { section: string; scene: string } {
  const [section, scene] = name.split("/");
  return { section, scene };
}

export type Value = number | boolean | string;
export type Range = [least: number, most: number, step: number];

/** All that Python says of a picture; `place` is where its facts are exact. */
export interface Message<Facts, Place> {
  name: string;
  facts: Facts;
  place: Place;
  ranges: Record<string, Range>;
  choices: Record<string, Value[]>;
  look: Look;
}

/** The controls of the panel, as the page has them; alone, there is no Python that answers. */
export interface Talk {
  readonly isAlone: boolean;
  get(name: string): Value;
  set(values: Record<string, Value>): void;
  /** Calls `listen` whenever a control has moved; returns what ends that. */
  heard(listen: () => void): () => void;
}

/** What draws one picture in one element, from its first message until it is closed. */
export interface Scene<Facts, Place> {
  show(message: Message<Facts, Place>, width: number): void;
  close(): void;
}

export type Point = [x: number, y: number];
