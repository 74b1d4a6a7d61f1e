/** The table of numbers and both sides of a·d = b·c, as bars and as one row of numbers. */
import { withMinus } from "../kit/numbers";
import type { Look, Point } from "../kit/picture";
import { classOf, number, textLines, viewIn, type Group } from "../kit/view";
import type { TableFacts } from "./new_variable_facts";
import type { Found } from "./new_variable_table";

const LETTERS = ["a", "b", "c", "d"];
const NAMES = ["a·d", "b·c"];
const REAL: Point = [-2, 4]; // what a bar can show; a longer one ends in an arrow
const LOOKS = ["whole", "broken"]; // of a·d, and of b·c: solid and dashed
const OF_ENTRY = [0, 1, 1, 0]; // which of them an entry is a factor of

export function sidesView(host: HTMLElement) {
  const { svg, size, headline } = viewIn(host, "sides");
  host.querySelector(".nv-view-sides h4")!.classList.add("nv-answer");
  const all = svg.append("g");
  let bars: Group[] = [];
  let facts: TableFacts;
  let prime = 7;
  let left = 0; // of the bars
  let right = 0;

  return {
    headline,

    /** What does not move. */
    draw(next: TableFacts, nextPrime: number, { sizes }: Look) {
      facts = next;
      prime = nextPrime;
      const [width, height] = size();
      const { note, base, title } = sizes;
      all.selectAll("*").remove();
      const head = 1.5 * note;
      const names = 4.6 * note;
      const wide = Math.min(120, (width - names) / 2);
      const tall = Math.min(3 * base, height / 8);
      facts.columns.forEach((text, column) => {
        const at: Point = [names + (column + 0.5) * wide, 0];
        textLines(all, at, [text], { role: "soft", anchor: "middle", start: "below" });
      });
      LETTERS.forEach((letter, entry) => {
        const [row, column] = [Math.floor(entry / 2), entry % 2];
        const at: Point = [names + column * wide, head + row * tall];
        drawCell(at, [wide, tall], letter, entry);
      });
      facts.rows.forEach((text, row) => {
        textLines(all, [0, head + (row + 0.5) * tall], [text], { role: "soft" });
      });
      const below = head + 2 * tall + 4;
      textLines(all, [0, below], [facts.note], { role: "soft", start: "below" });

      left = 2.8 * note;
      right = width - 14;
      const first = below + 2.6 * note;
      const row = Math.min(2.6 * base, (height - first) / 5);
      bars = NAMES.map((name, side) => drawBar(name, side, first + side * row, 0.62 * row));
      const equation = first + 2 * row + 1.35 * title;
      const middle = width / 2;
      const away = 1.1 * title;
      drawText("side-0 number", [middle - away, equation], "end");
      drawText("sign nv-answer", [middle, equation], "middle");
      drawText("side-1 number nv-answer", [middle + away, equation], "start");
      drawText("asks", [middle + away, equation], "start").text("?");
      drawText("rank nv-answer", [middle, equation + 1.7 * base], "middle");
      drawText("why nv-answer role-soft", [middle, equation + 3 * base], "middle").text(facts.why);
    },

    /** What moves. */
    move({ table, sides, holds, rank }: Found, isRing: boolean, isOnCurve: boolean) {
      const isSmall = sides.some((side) => Math.abs(side) > TINY && number(side) === "0");
      const isClose = !holds && number(sides[0]) === number(sides[1]);
      const says = (value: number) => {
        if (isRing) return String(value);
        if (isSmall) return withMinus(Number(value.toPrecision(2)));
        return isClose ? withMinus(value.toFixed(4)) : number(value);
      };
      all.selectAll<SVGTextElement, unknown>(".entry").each(function () {
        this.textContent = isRing
          ? String(table[Number(this.dataset.entry)])
          : number(table[Number(this.dataset.entry)]);
      });
      const ends: Point = isRing ? [0, prime - 1] : REAL;
      const pixel = (value: number) =>
        left + ((value - ends[0]) / (ends[1] - ends[0])) * (right - left);
      bars.forEach((bar, side) => {
        const value = Math.max(ends[0], Math.min(ends[1], sides[side]));
        const [from, to] = [pixel(0), pixel(value)];
        bar
          .select("rect")
          .attr("x", Math.min(from, to))
          .attr("width", Math.abs(to - from));
        bar.select("line").attr("x1", from).attr("x2", from);
        const isLonger = value !== sides[side];
        bar
          .select(".longer")
          .attr("x", to + (sides[side] > 0 ? 3 : -3))
          .attr("text-anchor", sides[side] > 0 ? "start" : "end")
          .text(isLonger ? (sides[side] > 0 ? "▸" : "◂") : "");
        all.select(`.side-${side}`).text(says(sides[side]));
      });
      all.select(".sign").text(holds ? "=" : "≠");
      const isWrong = !isOnCurve && rank > facts.true_rank;
      const where = isRing ? `rank modulo ${prime}: ${rank}` : `rank ${rank}`;
      const beside = isOnCurve ? "" : ` · for true tokens: ${facts.true_rank}`;
      all.select(".rank").text(where + beside);
      for (const name of [".sign", ".rank"]) {
        all
          .select(name)
          .classed(classOf("outside"), isWrong)
          .classed(classOf("certified"), !isWrong);
      }
    },
  };

  function drawCell([x, y]: Point, [wide, tall]: Point, letter: string, entry: number) {
    all
      .append("rect")
      .attr("class", `cell ${LOOKS[OF_ENTRY[entry]]}`)
      .attr("x", x + 3)
      .attr("y", y + 3)
      .attr("width", wide - 6)
      .attr("height", tall - 6);
    const middle = y + tall / 2;
    textLines(all, [x + 12, middle], [letter], { role: "soft" });
    drawText("entry", [x + wide - 12, middle], "end").attr("data-entry", entry);
  }

  function drawBar(name: string, side: number, y: number, tall: number): Group {
    const bar = all.append("g");
    textLines(bar, [0, y + tall / 2], [name], { role: "ink" });
    bar
      .append("rect")
      .attr("class", `bar ${LOOKS[side]}`)
      .classed("nv-answer", side === 1) // whether it is as long as the first
      .attr("y", y)
      .attr("height", tall);
    bar
      .append("line")
      .attr("class", "from")
      .attr("y1", y - 4)
      .attr("y2", y + tall + 4);
    bar
      .append("text")
      .attr("class", side === 1 ? "longer nv-answer" : "longer")
      .attr("y", y + tall / 2)
      .attr("dy", "0.35em");
    return bar;
  }

  function drawText(look: string, [x, y]: Point, anchor: string) {
    return all
      .append("text")
      .attr("class", look)
      .attr("x", x)
      .attr("y", y)
      .attr("dy", "0.35em")
      .attr("text-anchor", anchor);
  }
}

const TINY = 1e-9; // less is rounding
