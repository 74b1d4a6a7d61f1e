/** The weights: A and V at the start, and below them A and V now. */
import { paintCells, shadesOf } from "../kit/cells";
import type { Matrix } from "../kit/matrix";
import type { Look, Said } from "../kit/picture";
import { textLines, viewIn, type Group } from "../kit/view";
import type { Pair, WeightFacts } from "./fiber_facts";

const MOST = 46; // pixels: the largest cell
const GAP = 18; // pixels between A and V

export function weightsView(host: HTMLElement) {
  const { svg, size, headline } = viewIn(host, "weights");
  const words = svg.append("g");
  const tilesOfPair = () => [svg.append("g"), svg.append("g")]; // A and V
  const tilesAtStart = tilesOfPair();
  const tilesNow = tilesOfPair();
  let paint: (group: Group, which: number, matrix: Matrix) => void = () => {};

  return {
    draw(facts: WeightFacts, { diverging, sizes }: Look) {
      const [width, height] = size();
      const shape = facts.start.map((M) => ({ rows: M.length, columns: M[0].length }));
      const line = 1.6 * sizes.base;
      const gutter = 4 * sizes.base;
      const rows = Math.max(...shape.map((one) => one.rows));
      const columns = shape[0].columns + shape[1].columns;
      const wide = (width - gutter - GAP) / columns;
      const cell = Math.max(4, Math.min(MOST, wide, (height - 3 * line) / (2 * rows)));
      const left = [gutter, gutter + GAP + cell * shape[0].columns];
      const top = [line, line + cell * rows + line];

      words.selectAll("*").remove();
      const large = { start: "below", kind: "large" } as const;
      textLines(words, [0, top[0]], ["○ start"], { role: "ink", ...large });
      textLines(words, [0, top[1]], ["● now"], { role: "focus", ...large });
      ["A", "V"].forEach((name, k) => {
        const middle = left[k] + (cell * shape[k].columns) / 2;
        const look = { role: "ink", anchor: "middle", kind: "large" } as const;
        textLines(words, [middle, line / 2], [name], { ...look, kind: "large bold" });
        const below = top[1] + cell * shape[k].rows + line / 2;
        const factor = facts.factors[k];
        if (factor) textLines(words, [middle, below], [factor], { ...look, isExact: true });
      });
      [tilesAtStart, tilesNow].forEach((tiles, row) => {
        tiles.forEach((tile, k) => tile.attr("transform", `translate(${left[k]} ${top[row]})`));
      });
      const shades = facts.limits.map((most) => shadesOf(most, diverging));
      paint = (group, which, matrix) => paintCells(group, matrix, cell, shades[which]);
      facts.start.forEach((matrix, k) => paint(tilesAtStart[k], k, matrix));
    },

    move(now: Pair, says: Said[]) {
      headline(says, false);
      now.forEach((matrix, k) => paint(tilesNow[k], k, matrix));
    },
  };
}
