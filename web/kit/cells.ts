/** A matrix as a square a number, each in the colour of its entry. */
import type { Group } from "./view";

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
