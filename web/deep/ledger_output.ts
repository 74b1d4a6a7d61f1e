/** The output for one input, token by token: filled bars now, hollow ones at the start. */
import { scaleLinear } from "d3-scale";
import { largestChange, transposed, type Matrix } from "../kit/matrix";
import type { Said } from "../kit/picture";
import { viewIn, type Group } from "../kit/view";
import { inWords, little } from "./ledger_words";

const SAME = 1e-6; // of the largest entry: smaller changes are rounding
const WIDEST = 22; // pixels: a bar and the space beside it
const APART = 0.7; // bars: the space between two tokens

export function outputView(host: HTMLElement) {
  const { svg, size, headline } = viewIn(host, "output");
  host.querySelector(".nv-view-output h4")!.classList.add("nv-answer");
  const zero = svg.append("path").attr("class", "rule");
  const now = svg.append("g").attr("class", "now");
  const start = svg.append("g").attr("class", "start");
  const y = scaleLinear().clamp(true);
  let width = 0;
  /** The most that weights and output have moved in a motion. */
  let most = { moved: 0, come: 0 };
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

    /** `moved`: by how much the weights have moved. What has been seen stays, when it is over. */
    move(output: Matrix, still: Matrix, moved: number, isOver: boolean) {
      const largest = Math.max(...still.flat().map(Math.abs));
      const come = largestChange([still], [output]) / largest;
      y.domain([-largest / 0.9, largest / 0.9]);
      svg.classed("moves", come > SAME);
      drawBars(now, output);
      drawBars(start, still);
      if (moved) {
        most = { moved: Math.max(most.moved, moved), come: Math.max(most.come, come) };
        return verdict(moved, come, ["move", "moves", "stands still"]);
      }
      if (!isOver) return; // on its way over the start
      if (most.moved) verdict(most.moved, most.come, ["moved", "moved", "stood still"]);
      else rest();
    },

    /** Another motion begins, or another network. */
    forget() {
      most = { moved: 0, come: 0 };
    },
  };

  function verdict(moved: number, come: number, [move, moves, stands]: string[]) {
    const weights = `weights ${move} by up to ${moved.toFixed(2)}; the output `;
    if (come > SAME) say(weights, moves, ` by ${inWords(come)}`, "focus");
    else say(weights, stands, `, to ${little(come)}`, "ink");
  }

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
