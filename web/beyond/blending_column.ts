/** One column of the output: its two entries as arrows in the plane of complex numbers. */
import { line } from "d3-shape";
import type { Look, Point } from "../kit/picture";
import { textLines, viewIn } from "../kit/view";
import type { Complex } from "./blending_layers";

const ENTRIES = [
  { name: "entry 1", kind: "one" },
  { name: "entry 2", kind: "two" },
];

export function columnView(host: HTMLElement, name: string) {
  const { svg, size, headline } = viewIn(host, name);
  const axes = svg.append("path").attr("class", "axis");
  const names = svg.append("g");
  const ways = ENTRIES.map(() => svg.append("path").attr("class", "trace nv-answer"));
  const before = ENTRIES.map(() => svg.append("circle").attr("class", "before"));
  const arrows = ENTRIES.map(({ kind }) => svg.append("line").attr("class", `arrow ${kind}`));
  const tips = ENTRIES.map(({ kind }) => svg.append("circle").attr("class", `tip ${kind}`));
  const labels = ENTRIES.map(() => svg.append("text").attr("class", "nv-label role-ink"));
  let middle: Point = [0, 0];
  let scale = 1;
  let reach = 1;
  let sizes: Look["sizes"];
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
      names.selectAll("*").remove();
      // At the ends where no entry is at ω = 1.
      textLines(names, [left, middle[1] + sizes.note], ["real"], { role: "soft" });
      textLines(names, [middle[0] + 6, low - sizes.note], ["imaginary"], { role: "soft" });
      start.forEach((entry, n) => {
        const [cx, cy] = seen(entry);
        before[n].attr("cx", cx).attr("cy", cy).attr("r", sizes.marker);
        ways[n].attr("d", line()(way.map((column) => seen(column[n]))));
      });
    },

    move(column: Complex[]) {
      const [first, second] = column.map(([, up]) => up);
      column.forEach((entry, n) => {
        const [x, y] = seen(entry);
        arrows[n].attr("x1", middle[0]).attr("y1", middle[1]).attr("x2", x).attr("y2", y);
        tips[n]
          .attr("cx", x)
          .attr("cy", y)
          .attr("r", sizes.marker - 3);
        // The upper one's name above, the other's below: the entries may lie side by side.
        const isBelow = (n === 0) !== first >= second;
        labels[n]
          .attr("x", x)
          .attr("y", isBelow ? y + sizes.marker + sizes.note + 2 : y - sizes.marker - 4)
          .attr("text-anchor", "middle")
          .text(ENTRIES[n].name);
      });
    },
  };
}
