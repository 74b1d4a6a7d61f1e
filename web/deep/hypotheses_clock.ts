/** When what moves in the film of a network; without a page. */
import type { Act, FilmFacts, TokenLine } from "./hypotheses_facts";

/** Seconds in which an act moves, and then stands still, so that its words can be read. */
const MOVES: Record<Act["kind"], number> = { input: 0, look: 1.8, layer: 1.6, count: 2 };
const HOLDS: Record<Act["kind"], number> = { input: 2.2, look: 2.8, layer: 2.4, count: 0 };

/** A moment of the film. */
export interface Moment {
  /** The act whose words are said. */
  act: number;
  /** Of each act, how much of its motion is done: from 0 to 1. */
  done: number[];
}

export const secondsOf = (acts: Act[]): number =>
  acts.reduce((all, { kind }) => all + MOVES[kind] + HOLDS[kind], 0);

/** Where the film is after this share of its time. */
export function momentAt(acts: Act[], share: number): Moment {
  const now = share * secondsOf(acts);
  let begin = 0;
  let act = 0;
  const done = acts.map(({ kind }, n) => {
    if (now >= begin) act = n;
    const part = MOVES[kind] ? (now - begin) / MOVES[kind] : Number(now >= begin);
    begin += MOVES[kind] + HOLDS[kind];
    return share >= 1 ? 1 : smooth(part);
  });
  return { act, done };
}

/** Slowly at both ends. */
function smooth(part: number): number {
  const within = Math.max(0, Math.min(1, part));
  return within * within * (3 - 2 * within);
}

/** How much of an act is done; an act that the film has not is done never. */
export function doneOf(acts: Act[], { done }: Moment, kind: Act["kind"], layer = 0): number {
  const n = acts.findIndex((act) => act.kind === kind && act.layer === layer);
  return n < 0 ? 0 : done[n];
}

/** The tokens on their way from one station to the next. */
export function linesAt({ stations }: FilmFacts, layer: number, share: number): TokenLine[] {
  const from = stations[layer - 1].lines;
  const to = stations[layer].lines;
  const between = (a: number, b: number) => a + share * (b - a);
  return from.map((line, n) => ({
    angle: between(line.angle, to[n].angle),
    reach: between(line.reach, to[n].reach),
    at: between(line.at, to[n].at),
  }));
}

/** The number at which the bar stands. */
export const barAt = ({ bar }: FilmFacts, share: number): number =>
  bar.formula + share * (bar.exact - bar.formula);
