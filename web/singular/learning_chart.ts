/** Every layer beside the numbers that count: how far from its target, and how singular. */
import { viewIn } from "../kit/view";
import type { Standing } from "./learning_course";
import type { FlowFacts } from "./learning_facts";

const FAR = 3; // distance at the right end
const LOWEST = -5; // power of ten at the bottom
const LEFT = 6;
const RIGHT = 10;
const TOP = 14;
const BOTTOM = 30;

export function learningChart(host: HTMLElement) {
  const { svg, size, headline } = viewIn(host, "chart");
  const back = svg.append("g");
  const dots = svg.append("g");
  const front = svg.append("g");
  const bound = svg.append("g").attr("class", "nearest nv-answer");
  let nodes: SVGCircleElement[] = [];
  const boundLine = bound.append("line").attr("class", "role-soft bound");
  const boundText = bound.append("text").attr("class", "nv-label role-soft");
  let width = 1;
  let height = 1;
  let singular = 1; // σ₂/σ₁ below which a layer is singular
  const x = (distance: number) => LEFT + (Math.min(distance, FAR) / FAR) * (width - LEFT - RIGHT);
  const y = (ratio: number) => {
    const share = Math.log10(Math.max(ratio, 10 ** LOWEST)) / LOWEST;
    return TOP + share * (height - TOP - BOTTOM);
  };

  function put({ run, away, ratio, isSingular }: Standing) {
    const node = nodes[run];
    node.setAttribute("cx", x(away).toFixed(1));
    node.setAttribute("cy", y(ratio).toFixed(1));
    if (node.classList.contains("is-singular") !== isSingular) {
      node.classList.toggle("is-singular", isSingular);
    }
  }

  return {
    headline,

    /** Draws what stands still, and a dot for each layer. */
    draw({ runs, singular: below }: FlowFacts) {
      singular = below;
      nodes = dots
        .selectAll<SVGCircleElement, number>("circle")
        .data(Array.from({ length: runs }, (_, run) => run))
        .join("circle")
        .attr("r", 4)
        .nodes();
      [width, height] = size();
      for (const group of [back, front]) group.selectAll("*").remove();
      const low = y(singular);
      const end = height - BOTTOM + 8;
      back
        .append("rect")
        .attr("class", "singular")
        .attr("width", width)
        .attr("y", low)
        .attr("height", Math.max(0, end - low));
      const words = (text: string, at: number, top: number, anchor: string) =>
        front
          .append("text")
          .attr("class", "nv-label role-soft")
          .attr("x", at)
          .attr("y", top)
          .attr("text-anchor", anchor)
          .text(text);
      words(`singular: σ₂/σ₁ of A < ${singular}`, width - 6, low + 15, "end");
      words("smooth", width - 6, TOP + 4, "end");
      words("0", LEFT, height - 6, "start");
      words("distance to the target →", width - 6, height - 6, "end");
      back.append("line").attr("class", "role-axis").attr("x2", width);
      back.select("line").attr("y1", end).attr("y2", end);
    },

    /** Moves all layers, and the line that none can pass: it stands at the nearest layer. */
    move(standings: Standing[], nearest: number) {
      for (const standing of standings) put(standing);
      const at = x(nearest);
      boundLine.attr("x1", at).attr("x2", at);
      boundLine.attr("y1", TOP).attr("y2", height - BOTTOM + 8);
      boundText.attr("x", at + 5).attr("y", y(singular) - 6);
      boundText.text(`nearest layer: ${nearest.toFixed(2)}`);
    },
  };
}
