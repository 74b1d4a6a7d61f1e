/** Two tokens on their way down through the layers: a full line, and a dashed one. */
import { line } from "d3-shape";
import type { Point } from "../kit/picture";
import type { Group } from "../kit/view";
import type { Pair } from "./two_tokens";

/** Where a place on the line of the tokens is seen, after so many layers. */
export type Seen = (place: number, level: number) => Point;

export const SUBSCRIPTS = ["₁", "₂", "₃", "₄"];

const LOOKS = ["one", "two"];

/** Lines in one group, and marks in another one, as something may lie between. */
export function tokenPaths(below: Group, above: Group) {
  for (const group of [below, above]) group.attr("class", "nv-tokens");
  const lines = LOOKS.map((look) => below.append("path").attr("class", look));
  const marks = LOOKS.map((look) => above.append("g").attr("class", look));
  return {
    move(places: Pair[], seen: Seen, radius: number) {
      for (const token of [0, 1]) {
        const points = places.map((pair, level) => seen(pair[token], level));
        lines[token].attr("d", line()(points));
        marks[token]
          .selectAll("circle")
          .data(points)
          .join("circle")
          .attr("cx", ([x]) => x)
          .attr("cy", ([, y]) => y)
          .attr("r", radius);
      }
    },
  };
}
