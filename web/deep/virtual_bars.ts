/** How far each matrix has moved, or by what it was multiplied: a bar below each. */
import { scaleLinear } from "d3-scale";
import type { Look } from "../kit/picture";
import { classOf, textLines, viewIn } from "../kit/view";
import type { VirtualFacts } from "./virtual_facts";
import type { Seen } from "./virtual_network";
import type { Table } from "./virtual_places";
import { barOf, type Bar } from "./virtual_words";

const WIDTH = 30; // pixels of a bar
const BLOCK = 100; // pixels of the height of a block, where they are below one another

export function barsView(host: HTMLElement) {
  const { svg, size, measured, headline } = viewIn(host, "bars");
  host.querySelector(".nv-view-bars h4")!.classList.add("nv-answer");
  const box = svg.node()!.parentElement!;
  const names = svg.append("g");
  const zeros = svg.append("g").attr("class", "rule");
  const bars = svg.append("g");
  let facts: VirtualFacts;
  let table: Table;
  let look: Look;

  return {
    /** What does not move; the bars stand where the matrices of the table do. */
    draw(next: VirtualFacts, at: Table, how: Look) {
      facts = next;
      table = at;
      look = how;
      headline(facts.bars.says, true);
      const height = isStacked() ? `${blockCount() * BLOCK}px` : "";
      if (box.style.height === height) return;
      box.style.height = height;
      measured();
    },

    /** What moves. */
    move({ parts }: Seen) {
      const [, height] = size();
      const { base } = look.sizes;
      const blocks = blockCount();
      const tall = height / blocks;
      const found = facts.matrices.map((one) => barOf(one, parts[one.key], facts));
      const heights = found.map((one) => one.height);
      const y = scaleLinear()
        .domain([Math.min(0, ...heights), Math.max(1, ...heights)])
        .range([tall - (isStacked() ? 1.6 * base : 3), 1.4 * base]);
      for (const group of [names, zeros, bars]) group.selectAll("*").remove();
      for (let block = 0; block < blocks; block++) {
        const middle = block * tall + (y.range()[0] + y.range()[1]) / 2;
        textLines(names, [0, middle], [facts.bars.unit], { role: "ink", kind: "large" });
        drawZero(block, block * tall + y(0));
      }
      found.forEach((bar, n) => {
        const { middle, block } = table.places[n];
        drawBar(bar, middle, block * tall, y);
        if (!isStacked()) return;
        const below: [number, number] = [middle, block * tall + y.range()[0] + 0.8 * base];
        const name = facts.matrices[n].name;
        textLines(names, below, [name], { role: "ink", anchor: "middle", kind: "large" });
      });
    },
  };

  function isStacked() {
    return host.classList.contains("stacked");
  }

  function blockCount() {
    return table.places.at(-1)!.block + 1;
  }

  function drawZero(block: number, y: number) {
    const xs = table.places.filter((place) => place.block === block).map(({ middle }) => middle);
    const [left, right] = [Math.min(...xs) - WIDTH, Math.max(...xs) + WIDTH];
    zeros.append("path").attr("d", `M${left} ${y}H${right}`);
  }

  function drawBar(bar: Bar, middle: number, top: number, y: (height: number) => number) {
    const [end, zero] = [top + y(bar.height), top + y(0)];
    const group = bars.append("g").attr("class", classOf(bar.role));
    group
      .append("rect")
      .attr("class", "bar")
      .attr("x", middle - WIDTH / 2)
      .attr("y", Math.min(end, zero))
      .attr("width", WIDTH)
      .attr("height", Math.abs(end - zero));
    // The number of a bar that goes down stands on the line.
    group
      .append("text")
      .attr("class", "large bold middle")
      .attr("x", middle)
      .attr("y", Math.min(end, zero) - 5)
      .text(bar.words);
  }
}
