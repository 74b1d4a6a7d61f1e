/** What ▶ plays: along the curve, let go, through 0, modulo a prime; it holds in between. */
import type { NewVariablePlace } from "./new_variable_facts";

const LET_GO = 0.6; // y, where P leaves the curve

/** Where the dot is at a share of the way; between two stops of a stage it goes evenly. */
type Stop = [share: number, place: NewVariablePlace];

const along = (y: number): NewVariablePlace => ({ stage: "curve", y, P: Math.exp(y) });
const free = (P: number): NewVariablePlace => ({ stage: "free", y: LET_GO, P });
const modulo = (P: number): NewVariablePlace => ({ stage: "modulo", y: LET_GO, P });

const STOPS: Stop[] = [
  [0, along(-1.2)],
  [0.13, along(1.2)],
  [0.19, along(LET_GO)],
  [0.26, along(LET_GO)],
  [0.26, free(Math.exp(LET_GO))],
  [0.34, free(3.6)],
  [0.41, free(3.6)],
  [0.51, free(0)],
  [0.6, free(0)],
  [0.66, free(-1.6)],
  [0.72, free(-1.6)],
  [0.72, modulo(-2)],
  [0.8, modulo(-2)],
  [0.84, modulo(-1)],
  [0.87, modulo(0)],
  [0.9, modulo(1)],
  [0.93, modulo(2)],
  [0.96, modulo(3)],
  [1, modulo(3)],
];

export const SECONDS = 15;

export function storyAt(share: number): NewVariablePlace {
  const next = STOPS.findIndex(([at]) => at > share);
  if (next < 0) return STOPS[STOPS.length - 1][1];
  const [[from, before], [until, after]] = [STOPS[next - 1], STOPS[next]];
  const way = (share - from) / (until - from);
  const between = (one: number, other: number) => one + way * (other - one);
  return {
    stage: before.stage,
    y: between(before.y, after.y),
    P: between(before.P, after.P),
  };
}
