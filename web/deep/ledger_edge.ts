/** An edge that one takes hold of: a line with a knob, and the number that it changes. */
import { handle } from "../kit/handle";
import type { Point } from "../kit/picture";
import type { Group } from "../kit/view";

const KNOB = 4; // pixels: its radius

export interface EdgeOptions {
  /** "across": the reader drags it to the right; "along": up and down. */
  way: "across" | "along";
  /** The number, and what happens when the reader sets another. */
  value(): number;
  put(value: number): void;
  /** How many steps the number goes up for so many pixels to the right and down. */
  steps(right: number, down: number): number;
  /** The largest number. */
  most(): number;
  begin(): void;
  end(): void;
}

/** Where the knob is, the ends of the line as seen from it, and where the words stand. */
export interface EdgePlace {
  name: string;
  at: Point;
  line: [from: Point, to: Point];
  words: { text: string; anchor: "start" | "middle"; shift: Point };
}

export interface Edge {
  move(place: EdgePlace): void;
  remove(): void;
}

export function edge(parent: Group, options: EdgeOptions): Edge {
  const { way, value, put, steps, most, begin, end } = options;
  let from: Point = [0, 0];
  let start = 0;
  const group = parent.append("g").attr("class", `edge ${way}`);
  const knob = handle(group, {
    name: "",
    keyed: (right, up) => put(value() + (right || up)),
    begin(at) {
      begin();
      from = at;
      start = value();
    },
    moved: ([x, y]) => put(start + Math.round(steps(x - from[0], y - from[1]))),
    end,
  });
  knob.radius(KNOB);
  const held: Group = group.select(".nv-handle");
  const lines = ["reach", "seen"].map((kind) => held.insert("line", ".room").attr("class", kind));
  const title = held.append("title");
  const words = held.append("text").attr("class", "nv-label");

  return {
    move({ name, at, line: [[x1, y1], [x2, y2]], words: { text, anchor, shift } }) {
      held.attr("aria-label", name);
      title.text(name);
      knob.to(at, value(), `${name}: ${value()}`, [1, most(), 1]);
      for (const one of lines) one.attr("x1", x1).attr("y1", y1).attr("x2", x2).attr("y2", y2);
      words.attr("text-anchor", anchor).attr("x", shift[0]).attr("y", shift[1]).text(text);
    },
    remove: () => group.remove(),
  };
}
