/** The angles between the tokens: each pair is a line from stage to stage. */
import { axisBottom, axisLeft } from "d3-axis";
import { scaleLinear } from "d3-scale";
import { line } from "d3-shape";
import type { Look, Point } from "../kit/picture";
import { textLines, viewIn } from "../kit/view";
import type { AngleFacts } from "./hypotheses_facts";

const DEGREES = [0, 30, 60, 90];
const BESIDE = 0.35; // of the way between two stages: free at both ends

export function anglesView(host: HTMLElement) {
  const { box, svg, size, headline } = viewIn(host, "angles");
  box.classed("nv-measured", true);
  svg.attr("role", "img");
  const axes = svg.append("g");
  const words = svg.append("g");
  const pairs = svg.append("g").attr("class", "pairs nv-exact");
  const x = scaleLinear();
  const y = scaleLinear().domain([-6, 96]);

  return {
    draw(facts: AngleFacts, { sizes }: Look) {
      headline(facts.says, true);
      const [width, height] = size();
      const { note } = sizes;
      const lines = [facts.axis, facts.key].filter((one) => one);
      const left = 2.4 * note;
      const low = height - 1.8 * note;
      const last = facts.stages.length - 1;
      x.domain([-BESIDE, last + BESIDE]).range([left, width]);
      y.range([low, 1.2 * note * lines.length + 8]);

      const stages = facts.stages.map((_, n) => n);
      const bottom = axisBottom(x).tickValues(stages).tickSize(4);
      const beside = axisLeft(y)
        .tickValues(DEGREES)
        .tickSize(left - width);
      axes.selectAll("*").remove();
      axes
        .append("g")
        .attr("transform", `translate(0 ${low})`)
        .call(bottom.tickFormat((n) => facts.stages[+n].name));
      axes
        .append("g")
        .attr("class", "degrees")
        .attr("transform", `translate(${left} 0)`)
        .call(beside);
      axes
        .append("path")
        .attr("class", "rule")
        .attr("d", `M${left} ${y(90)}V${low}H${width}`);
      words.selectAll("*").remove();
      textLines(words, [0, 4], lines, { role: "soft", start: "below" });

      const path = line<Point>();
      const ways = facts.stages[0].degrees.map((_, pair) => {
        return facts.stages.map(({ degrees }, n): Point => [x(n), y(degrees[pair])]);
      });
      pairs
        .selectAll("path")
        .data(ways)
        .join("path")
        .attr("class", "role-ghost")
        .attr("d", (way) => path(way));
      const dots = facts.stages.flatMap(({ degrees }, n) => degrees.map((at) => ({ n, at })));
      pairs
        .selectAll<SVGCircleElement, unknown>("circle")
        .data(dots)
        .join((enter) => {
          const made = enter.append("circle");
          made.append("title");
          return made;
        })
        .attr("cx", ({ n }) => x(n))
        .attr("cy", ({ at }) => y(at))
        .attr("r", sizes.marker / 2)
        .select("title")
        .text(({ at }) => `${rounded(at)}°`);
      pairs.selectAll("circle").raise();
      svg.attr("aria-label", `${facts.axis}: ${facts.stages.map(spread).join(", ")}`);
    },
  };
}

const rounded = (degrees: number): string => String(+degrees.toPrecision(3));

/** Of one stage: from the smallest angle to the largest. */
function spread({ name, degrees }: AngleFacts["stages"][number]): string {
  if (!degrees.length) return `${name}: one token`;
  const [least, most] = [Math.min(...degrees), Math.max(...degrees)].map((at) => at.toFixed(1));
  return `${name}: ${least === most ? least : `${least} to ${most}`}`;
}
