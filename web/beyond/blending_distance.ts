/** How far the output is from what it was, all round the circle: it is 0 where nothing changes. */
import { scaleLinear } from "d3-scale";
import { line } from "d3-shape";
import type { Look, Point, Said } from "../kit/picture";
import { textLines, viewIn } from "../kit/view";
import { FULL_TURN } from "./blending_dial";

const ENDS = [0, FULL_TURN];

export function distanceView(host: HTMLElement) {
  const { svg, size, headline } = viewIn(host, "distance");
  const axes = svg.append("g");
  const curve = svg.append("path").attr("class", "curve nv-answer");
  const zeros = svg.append("g").attr("class", "nv-answer");
  const drop = svg.append("line").attr("class", "drop");
  const dot = svg.append("circle").attr("class", "tip");
  const x = scaleLinear().domain([0, FULL_TURN]);
  const y = scaleLinear();
  let sizes: Look["sizes"];

  return {
    headline: (lines: Said[]) => headline(lines, false),

    draw(distances: number[], returns: number[], look: Look) {
      sizes = look.sizes;
      const [width, height] = size();
      const low = height - 2.2 * sizes.note;
      x.range([sizes.marker + 4, width - 1.4 * sizes.note]);
      y.domain([0, 1.1 * Math.max(...distances)]).range([low, 1.6 * sizes.note]);
      axes.selectAll("*").remove();
      axes
        .append("path")
        .attr("class", "axis")
        .attr("d", `M${x(0)} ${y(0)}H${x(FULL_TURN)}`);
      for (const angle of ENDS) {
        const look = { role: "soft", anchor: "middle", start: "below" } as const;
        textLines(axes, [x(angle), low + 6], [`${angle}°`], look);
      }
      const points = distances.map((value, angle): Point => [x(angle), y(value)]);
      curve.attr("d", line()(points));
      zeros.selectAll("*").remove();
      for (const angle of returns.filter((one) => !ENDS.includes(one))) {
        const look = { role: "certified", anchor: "middle", start: "below" } as const;
        textLines(zeros, [x(angle), low + 6], [`${angle}°`], look);
      }
      zeros
        .selectAll("circle")
        .data([...returns, FULL_TURN])
        .join("circle")
        .attr("class", "place")
        .attr("cx", (angle) => x(angle))
        .attr("cy", y(0))
        .attr("r", sizes.marker - 2);
    },

    move(degrees: number, distance: number) {
      drop.attr("x1", x(degrees)).attr("x2", x(degrees)).attr("y1", y(0)).attr("y2", y(distance));
      dot
        .attr("cx", x(degrees))
        .attr("cy", y(distance))
        .attr("r", sizes.marker - 1);
    },
  };
}
