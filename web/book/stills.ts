/** The pictures of a panel, computed before; `tools/book/stills.py` is the other end. */
import type { Layout } from "plotly.js/lib/core";
import { changed, type Change } from "../kit/panel/changes";
import type { Chart, Picture } from "../kit/panel/drawing";

/** What a panel says in one place of its control. */
export interface Still {
  label: string;
  /** HTML. */
  title: string;
  description: string;
  /** From the panel's figure to that of this place. */
  changes: Change[];
}

/** A panel: its figure in one mode, light, and its stills. */
export interface Panel {
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

// As `neuroviz.kit.plot` has them: what waits for a guess, and what stands there until then.
const [ANSWER, UNTIL] = ["answer", "until"];

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
