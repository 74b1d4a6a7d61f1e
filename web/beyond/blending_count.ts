/** The numbers of g, a cell each: which of them stay free while the ranks are kept. */
import type { Look } from "../kit/picture";
import { textLines, viewIn } from "../kit/view";
import type { CountFacts } from "./blending_facts";

const MOST = 44; // pixels: the largest cell

export function countView(host: HTMLElement) {
  const { svg, size, headline } = viewIn(host, "count");
  const all = svg.append("g").attr("class", "nv-answer");

  return {
    draw({ heads, row, says, lines }: CountFacts, { sizes }: Look) {
      headline(says, false);
      const [width, height] = size();
      const line = 1.35 * sizes.base;
      const title = 1.6 * sizes.base;
      const room = height - title - line * (lines.length + 0.5);
      const cell = Math.max(8, Math.min(MOST, width / heads, room / heads));
      const left = (width - cell * heads) / 2;
      all.selectAll("*").remove();
      const soft = { role: "soft", anchor: "middle" } as const;
      textLines(all, [width / 2, title / 2], [`g, ${heads} × ${heads}`], soft);
      for (let h = 0; h < heads; h++) {
        for (let k = 0; k < heads; k++) {
          // The diagonal first: it is always free. Then as many as are left, from there on.
          const order = (k - h + heads) % heads;
          all
            .append("rect")
            .attr("class", `number ${fateOf(order, row)}`)
            .attr("x", left + cell * k + 2)
            .attr("y", title + cell * h + 2)
            .attr("width", cell - 4)
            .attr("height", cell - 4);
        }
      }
      const below = title + cell * heads + 0.4 * line;
      lines.forEach((text, n) => {
        textLines(all, [width / 2, below + line * n], [text], { ...soft, start: "below" });
      });
    },
  };
}

/** What becomes of a number of g; `free` of a row stay free, null without a formula. */
function fateOf(order: number, free: number | null): "unknown" | "free" | "gone" {
  if (free === null) return "unknown";
  return order < free ? "free" : "gone";
}
