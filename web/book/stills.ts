/** The pictures of a panel, computed before; `tools/book/stills.py` is the other end. */
import type { Layout } from "plotly.js/lib/core";
import { withMinus } from "../kit/numbers";
import { changed, type Change } from "../kit/panel/changes";
import type { Value } from "../kit/picture";
import type { Chart, Picture } from "../kit/panel/drawing";

/** What a panel says in one place of its control. */
export interface Still {
  label: string;
  /** Of the control. A figure that nothing moves has none, and no state. */
  value?: Value;
  state?: string;
  /** HTML. */
  title: string;
  description: string;
  /** The control moves nothing here. */
  idle?: boolean;
  /** From the panel's figure to that of this place. */
  changes: Change[];
}

/** A panel: its figure in one mode, light, and its stills. */
export interface Panel {
  /** The name of its control; a figure that nothing moves has none. */
  name?: string;
  /** How many stills are its control's: behind them are those of presets. */
  main?: number;
  figure: Chart | Picture;
  stills: Still[];
}

/** The templates of plotly, and the dark code for each light one. */
export interface Look {
  light: Layout["template"];
  dark: Layout["template"];
  turn: Record<string, string>;
}

/** The figure of one place: a copy, which a painter may change. */
export function figureAt({ figure, stills }: Panel, place: number): Chart | Picture {
  return structuredClone(stills[place].changes.reduce(changed, figure));
}

type Place = Record<string, Value>;

/** Where the scene of a still stands; a chart has no place. */
export function placeOf({ figure, stills }: Panel, place: number): Place {
  const moves = stills[place].changes.filter(([[first]]) => first === "place");
  const moved = moves.reduce<Chart | Picture>(changed, figure);
  return isScene(moved) ? (moved.place as Place) : {};
}

/** A still of the network of `here` whose scene stands where `isThere` says; it may be `here`. */
export function placeAt(
  panel: Panel,
  isThere: (place: Place) => boolean,
  here: number,
): number | undefined {
  const all = [here, ...panel.stills.keys()];
  return all.find((place) => {
    return isThere(placeOf(panel, place)) && areOfOneNetwork(panel, place, here);
  });
}

/** Whether the states of two stills differ in nothing but what the scene moves. */
export function areOfOneNetwork(panel: Panel, one: number, other: number): boolean {
  return one === other || networkOf(panel, one) === networkOf(panel, other);
}

function networkOf(panel: Panel, place: number): string {
  const moved = placeOf(panel, place);
  const settings = panel.stills[place].state!.split(";");
  return settings.filter((one) => !(one.split("=")[0] in moved)).join(";");
}

/** The still of the control that is nearest to a value; of a choice without one, -1. */
export function nearest({ stills, main }: Panel, value: Value): number {
  const values = stills.slice(0, main).map((still) => still.value!);
  if (typeof value !== "number") return values.indexOf(value);
  const far = values.map((other) => Math.abs(Number(other) - value));
  return far.indexOf(Math.min(...far));
}

/** A value of the control, as the label of a still would say it. */
export function inWords(panel: Panel, value: Value): string {
  const { label, value: its } = panel.stills[Math.max(0, nearest(panel, value))];
  if (isSame(its!, value)) return label;
  if (typeof value !== "number") return String(value);
  const digits = /\.(\d+)/.exec(label)?.[1].length ?? 0;
  return withMinus(value.toFixed(digits));
}

/** Whether values of a control are the same; of numbers six digits count. */
export const isSame = (one: Value, other: Value): boolean =>
  typeof one === "number" ? Math.abs(one - Number(other)) < 1e-6 : one === other;

// As `neuroviz.kit.plot` has them: what waits for a guess, and what stands there until then.
const ANSWER = "answer";
const UNTIL = "until";

/** What is seen before a guess: of a scene its style sheet hides the rest. */
export function withoutAnswers(figure: Chart | Picture): Chart | Picture {
  if (isScene(figure)) return figure;
  const { data, layout } = figure;
  const traces = data.map((trace) => {
    return trace.meta === ANSWER ? { ...trace, visible: false as const } : trace;
  });
  const annotations = layout.annotations?.map((note) => {
    if (note.name !== ANSWER && note.name !== UNTIL) return note;
    return { ...note, visible: note.name === UNTIL };
  });
  // Pointing at a bar would say its number.
  return { ...figure, data: traces, layout: { ...layout, annotations, hovermode: false } };
}

/** A light figure in the dark: every light code is exchanged for the dark one of its role. */
export function inDark<Figure>(figure: Figure, turn: Look["turn"]): Figure {
  const code = /#[0-9A-Fa-f]{6}\b/g;
  const turned = JSON.stringify(figure).replace(code, (light) => {
    return turn[light.toUpperCase()] ?? light;
  });
  return JSON.parse(turned);
}

/** Whether the scenes draw it. */
export const isScene = (figure: Chart | Picture): figure is Picture => "facts" in figure;
