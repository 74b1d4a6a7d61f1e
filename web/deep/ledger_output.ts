/** The output for one input, token by token: filled bars now, hollow ones at the start. */
import { scaleLinear } from "d3-scale";
import type { Said } from "../kit/picture";
import { viewIn, type Group } from "../kit/view";
import { inWords, little } from "./ledger_words";
import { largestChange, transposed, type Matrix } from "./matrix";

const SAME = 1e-6; // of the largest entry: smaller changes are rounding
const WIDEST = 22; // pixels: a bar and the space beside it
const APART = 0.7; // bars: the space between two tokens

export function outputView(host: HTMLElement) {
  const { svg, size, headline } = viewIn(host, "output");
  const zero = svg.append("path").attr("class", "rule");
  const now = svg.append("g").attr("class", "now");
  const start = svg.append("g").attr("class", "start");
  const y = scaleLinear().clamp(true);
  let width = 0;
  rest();

  /** Three pieces, the second one strong. */
  function say(before: string, strong: string, after: string, role: Said["role"]) {
    headline([{ text: before }, { text: strong, role }, { text: after }], false);
  }

  function rest() {
    say("", "output", " for one input, from these weights", "ink");
  }

  return {
    /** Measures the box: after all words are written. */
    draw() {
      const [wide, high] = size();
      width = wide;
      y.range([high - 1, 1]);
    },

    /** `moved`: by how much the weights have moved; 0 while they are where they begin. */
    move(output: Matrix, still: Matrix, moved: number) {
      const most = Math.max(...still.flat().map(Math.abs));
      const come = largestChange([still], [output]) / most;
      y.domain([-most / 0.9, most / 0.9]);
      svg.classed("moves", come > SAME);
      drawBars(now, output);
      drawBars(start, still);
      if (!moved) return rest();
      const weights = `weights move by up to ${moved.toFixed(2)}; the output `;
      if (come > SAME) say(weights, "moves", ` by ${inWords(come)}`, "focus");
      else say(weights, "stands still", `, to ${little(come)}`, "ink");
    },
  };

  function drawBars(group: Group, output: Matrix) {
    const [rows, tokens] = [output.length, output[0].length];
    const wide = Math.min(WIDEST, width / (rows * tokens + tokens));
    const place = (n: number) => wide * (n + APART * Math.floor(n / rows));
    group
      .selectAll("rect")
      .data(transposed(output).flat())
      .join("rect")
      .attr("x", (_, n) => place(n))
      .attr("y", (value) => Math.min(y(0), y(value)))
      .attr("width", wide - 2)
      .attr("height", (value) => Math.abs(y(value) - y(0)));
    zero.attr("d", `M0 ${y(0)}H${place(rows * tokens - 1) + wide}`);
  }
}
