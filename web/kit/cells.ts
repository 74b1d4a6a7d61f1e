/** A matrix as a square a number, each in the colour of its entry. */
import { scaleLinear } from "d3-scale";
import type { Group } from "./view";

/** The colours from −`most` to `most`; what lies outside has the last one. */
export function shadesOf(most: number, diverging: string[]): (entry: number) => string {
  const stops = [-most, -most / 2, 0, most / 2, most];
  return scaleLinear<string>().domain(stops).range(diverging).clamp(true);
}

export function paintCells(
  group: Group,
  matrix: number[][],
  cell: number,
  shade: (entry: number) => string,
) {
  const columns = matrix[0].length;
  group
    .selectAll("rect")
    .data(matrix.flat())
    .join("rect")
    .attr("class", "cell")
    .attr("x", (_, n) => cell * (n % columns))
    .attr("y", (_, n) => cell * Math.floor(n / columns))
    .attr("width", cell)
    .attr("height", cell)
    .attr("fill", shade);
}
