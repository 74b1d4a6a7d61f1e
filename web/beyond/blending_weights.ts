/** The matrices of both heads as they are now, each A with its rank. */
import { paintCells, shadesOf } from "../kit/cells";
import type { Matrix } from "../kit/matrix";
import type { Look, Said } from "../kit/picture";
import { textLines, viewIn, type Group } from "../kit/view";
import type { HeadsFacts } from "./blending_facts";
import type { Blend } from "./blending_layers";

const MOST = 40; // pixels: the largest cell
const GAP = 22; // pixels between two matrices
const NAMES = ["A₁′", "A₂′", "V₁′", "V₂′"];

export function weightsView(host: HTMLElement) {
  const { svg, size, headline } = viewIn(host, "weights");
  const words = svg.append("g");
  const tiles = NAMES.map(() => svg.append("g"));
  const frames = [0, 1].map(() => svg.append("rect").attr("class", "frame nv-answer"));
  const ranks = [0, 1].map(() => svg.append("text").attr("class", "nv-label large nv-answer"));
  let paint: (group: Group, which: number, matrix: Matrix) => void = () => {};

  return {
    headline: (lines: Said[]) => headline(lines, false),

    draw({ formulas }: HeadsFacts, { diverging, sizes }: Look) {
      const [width, height] = size();
      const d = formulas.A[0].length;
      const line = 1.7 * sizes.base;
      const cell = Math.max(
        4,
        Math.min(MOST, (width - GAP) / (2 * d), (height - 3 * line) / (2 * d)),
      );
      const left = [0, d * cell + GAP].map((x) => x + (width - 2 * d * cell - GAP) / 2);
      const top = [line, 3 * line + d * cell];
      words.selectAll("*").remove();
      NAMES.forEach((name, k) => {
        const x = left[k % 2] + (d * cell) / 2;
        const look = { role: "ink", anchor: "middle", kind: "large bold" } as const;
        textLines(words, [x, top[k < 2 ? 0 : 1] - line / 2], [name], look);
        tiles[k].attr("transform", `translate(${left[k % 2]} ${top[k < 2 ? 0 : 1]})`);
      });
      frames.forEach((frame, k) => {
        frame.attr("x", left[k] - 4).attr("y", top[0] - 4);
        frame.attr("width", d * cell + 8).attr("height", d * cell + 8);
        ranks[k]
          .attr("x", left[k] + (d * cell) / 2)
          .attr("y", top[0] + d * cell + line)
          .attr("text-anchor", "middle");
      });
      const shades = [formulas.A, formulas.V].map((pair) => {
        const most = Math.max(...pair.flat(2).map(Math.abs));
        return shadesOf(most, diverging);
      });
      paint = (group, which, matrix) => paintCells(group, matrix, cell, shades[which]);
    },

    move({ A, V }: Blend, [one, two]: number[], most: number) {
      [...A, ...V].forEach((matrix, k) => paint(tiles[k], k < 2 ? 0 : 1, matrix));
      [one, two].forEach((rank, k) => {
        const isOut = rank > most;
        frames[k].classed("out", isOut);
        ranks[k]
          .classed("role-outside", isOut)
          .classed("role-certified", !isOut)
          .text(isOut ? `rank ${rank} > a` : `rank ${rank}`);
      });
    },
  };
}
