/** One column of the output: its two entries as arrows in the plane of complex numbers. */
import { line } from "d3-shape";
import type { Look, Point } from "../kit/picture";
import { viewIn } from "../kit/view";
import type { Complex } from "./blending_layers";

const ENTRIES = [
  { name: "entry 1", kind: "one" },
  { name: "entry 2", kind: "two" },
];

const LETTER = 0.6; // width of a letter, in heights of the font: few are wider

/** Words in the middle of their place. */
interface Words {
  text: string;
  middle: Point;
}

export function columnView(host: HTMLElement, name: string) {
  const { svg, size, headline } = viewIn(host, name);
  const axes = svg.append("path").attr("class", "axis");
  const names = svg.append("g").attr("class", "role-soft");
  const ways = ENTRIES.map(() => svg.append("path").attr("class", "trace nv-answer"));
  const before = ENTRIES.map(() => svg.append("circle").attr("class", "before"));
  const arrows = ENTRIES.map(({ kind }) => svg.append("line").attr("class", `arrow ${kind}`));
  const tips = ENTRIES.map(({ kind }) => svg.append("circle").attr("class", `tip ${kind}`));
  const labels = ENTRIES.map(() => svg.append("text").attr("class", "nv-label role-ink"));
  let middle: Point = [0, 0];
  let scale = 1;
  let reach = 1;
  let sizes: Look["sizes"];
  let axisWords: Words[] = [];
  const seen = ([x, y]: Complex): Point => [middle[0] + scale * x, middle[1] - scale * y];

  return {
    headline,

    /** What does not move: the way of the entries round, from ω = 1. */
    draw(way: Complex[][], farthest: number, look: Look) {
      sizes = look.sizes;
      reach = 1.25 * farthest;
      const [start] = way;
      const [width, height] = size();
      middle = [width / 2, height / 2];
      scale = (Math.min(width, height) - 8) / 2 / reach;
      const [left, low] = seen([-reach, -reach]);
      const [right, high] = seen([reach, reach]);
      axes.attr("d", `M${left} ${middle[1]}H${right}M${middle[0]} ${low}V${high}`);
      // At the ends where no entry is at ω = 1.
      axisWords = [
        { text: "real", middle: [left + 1.2 * sizes.note, middle[1] + sizes.note] },
        { text: "imaginary", middle: [middle[0] + 2.8 * sizes.note, low - sizes.note] },
      ];
      names
        .selectAll("text")
        .data(axisWords)
        .join("text")
        .attr("class", "nv-label")
        .attr("text-anchor", "middle")
        .attr("x", (words) => words.middle[0])
        .attr("y", (words) => words.middle[1] + 0.35 * sizes.note)
        .text((words) => words.text);
      start.forEach((entry, n) => {
        const [cx, cy] = seen(entry);
        before[n].attr("cx", cx).attr("cy", cy).attr("r", sizes.marker);
        ways[n].attr("d", line()(way.map((column) => seen(column[n]))));
      });
    },

    move(column: Complex[]) {
      const [first, second] = column.map(([, up]) => up);
      const tipWords = column.map((entry, n): Words => {
        const [x, y] = seen(entry);
        arrows[n].attr("x1", middle[0]).attr("y1", middle[1]).attr("x2", x).attr("y2", y);
        tips[n]
          .attr("cx", x)
          .attr("cy", y)
          .attr("r", sizes.marker - 3);
        // The upper one's name above, the other's below: the entries may lie side by side.
        const upper = first >= second ? 0 : 1;
        const line = n === upper ? y - sizes.marker - 4 : y + sizes.marker + sizes.note + 2;
        const { name } = ENTRIES[n];
        labels[n].attr("x", x).attr("y", line).attr("text-anchor", "middle").text(name);
        return { text: name, middle: [x, line - 0.35 * sizes.note] };
      });
      // The word of an axis makes room for a name that comes to its place.
      names
        .selectAll<SVGTextElement, Words>("text")
        .attr("opacity", (words) => Number(!tipWords.some((name) => doMeet(words, name))));
    },
  };

  function doMeet(one: Words, other: Words): boolean {
    const wide = (LETTER * sizes.note * (one.text.length + other.text.length)) / 2;
    const right = Math.abs(one.middle[0] - other.middle[0]);
    const down = Math.abs(one.middle[1] - other.middle[1]);
    return right < wide && down < 1.1 * sizes.note;
  }
}
