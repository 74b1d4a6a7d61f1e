/** The ledger: what there is, what each family of symmetries takes away, and what is left. */
import { scaleLinear } from "d3-scale";
import { select } from "d3-selection";
import { player } from "../kit/motion";
import type { Look } from "../kit/picture";
import { classOf, viewIn } from "../kit/view";
import type { LedgerFacts } from "./ledger_facts";
import type { Motion } from "./ledger_weights";
import { ROWS, type Numbers, type Row, type RowName } from "./ledger_words";

const SECONDS = 6; // of a motion
const RULER = 6; // sizes of words: so far apart are two numbers of the ruler

export interface RowsOptions {
  /** Where a motion begins: at 0, or where it was stopped. */
  from(motion: Motion): number;
  walk(motion: Motion, share: number): void;
}

export function rowsView(host: HTMLElement, options: RowsOptions) {
  const { svg, measured, headline } = viewIn(host, "rows");
  host.querySelector(".nv-view-rows h4")!.classList.add("nv-answer");
  const hatch = `nv-hatch-${Math.random().toString(36).slice(2)}`;
  addHatch();
  const ruler = svg.append("g").attr("class", "ruler");
  const bars = svg.append("g");
  const list = select(svg.node()!.parentElement!).append("div").attr("class", "rows");
  const rows = ROWS.map(rowOf);
  const x = scaleLinear();
  let look: Look;
  let said = "";
  /** Of the bar of each row, in pixels from the top. */
  let places: { top: number; low: number }[] = [];

  function addHatch() {
    const pattern = svg.append("pattern").attr("id", hatch);
    pattern.attr("width", 7).attr("height", 7).attr("patternUnits", "userSpaceOnUse");
    pattern.attr("patternTransform", "rotate(45)");
    pattern.append("rect").attr("class", "ground").attr("width", 7).attr("height", 7);
    pattern.append("rect").attr("class", "stripe").attr("width", 2.5).attr("height", 7);
  }

  function rowOf(name: RowName) {
    const kind = name.replace(" ", "-");
    const node = list.append("div").attr("class", `row ${kind}`);
    const number = node.append("strong").attr("class", "number");
    const answer = name === "parameters" ? "" : " nv-answer";
    const words = node.append("p");
    words.append("b").text(name === "unexplained" ? "the rest" : name);
    const why = words.append("span").attr("class", "why");
    why.classed("nv-answer", answer !== "");
    const room = node.append("div").attr("class", "room");
    const group = bars.append("g").attr("class", `bar ${kind}${answer}`);
    const rest = group.append("rect").attr("class", "rest");
    const bar = group.append("rect").attr("class", "long");
    const title = group.append("title");
    const drop = group.append("line").attr("class", "drop");
    if (name === "unexplained") bar.attr("fill", `url(#${hatch})`);
    const motion = name === "parameters" || name === "unexplained" ? null : name;
    const play = motion && playerOf(node.node()!, motion);
    if (motion) {
      const button = node.select<HTMLButtonElement>(".nv-play");
      const press = () => button.node()!.click();
      words.classed("pressed", true).on("click", press);
      group.classed("pressed", true).on("click", press);
    }
    const parts = { node, number, answer, why, room: room.node()!, group, rest, bar, title, drop };
    return { ...parts, motion, play };
  }

  function playerOf(node: HTMLElement, motion: Motion) {
    const name =
      motion === "dimension"
        ? "move the weights along no symmetry: does the output move?"
        : `move the weights along ${motion}: does the output move?`;
    return player(node, {
      name,
      seconds: SECONDS,
      from() {
        stopAll(motion);
        return options.from(motion);
      },
      to: (share) => options.walk(motion, share),
    });
  }

  function stopAll(but: Motion | null = null) {
    for (const { motion, play } of rows) if (motion !== but) play?.stop();
  }

  return {
    headline,
    stop: () => stopAll(),

    draw(facts: LedgerFacts, given: Look) {
      look = given;
      said = "";
      const titles = [
        facts.parameters.says,
        ...facts.families.map(({ says }) => says),
        facts.unexplained.says,
        facts.dimension.says,
      ];
      rows.forEach(({ title }, i) => title.text(titles[i]));
    },

    /** The words of another network. */
    say(next: Row[], isExact: boolean, isLonely: boolean) {
      const now = JSON.stringify([next, isExact]);
      if (now === said) return;
      said = now;
      next.forEach(({ number, role, isOpen, why }, i) => {
        const row = rows[i];
        row.number.attr("class", `number ${classOf(role)}${row.answer}`).text(number);
        row.group.classed("open", isOpen).classed("exact", isExact);
        row.why
          .selectAll("span")
          .data(why)
          .join("span")
          .attr("class", ({ role }) => classOf(role ?? "ink"))
          .text(({ text }) => text);
        if (row.motion === "interfaces") {
          row.node.select<HTMLButtonElement>(".nv-play").property("disabled", isLonely);
        }
      });
      measure();
    },

    /** Bars, `full` of whose parameters fill the width, and whether there is a formula. */
    move(numbers: Numbers, full: number, hasFormula: boolean) {
      const { parameters, costs, formula } = numbers;
      x.domain([0, full]);
      let above = parameters;
      rows.forEach((row, i) => {
        const left = above - (costs[i - 1] ?? 0); // the first row and the last cost nothing
        const [from, to] = endsOf(i, above, left, numbers);
        row.bar.attr("x", x(from)).attr("width", x(to) - x(from));
        const rest = row.motion === "dimension" ? 0 : left;
        row.rest.attr("width", Math.max(0, x(rest) - x(0)));
        row.drop.attr("x1", x(above)).attr("x2", x(above));
        above = left;
      });
      const seen = hasFormula ? "inline" : "none";
      bars.select(".tick").attr("x1", x(formula)).attr("x2", x(formula)).style("display", seen);
      drawRuler();
    },
  };

  /** Where the bar of a row begins and ends: the parameters, what goes, the dimension. */
  function endsOf(i: number, above: number, left: number, { parameters, dimension }: Numbers) {
    if (i === 0) return [0, parameters];
    if (rows[i].motion === "dimension") return [0, dimension];
    return [Math.min(left, above), Math.max(left, above)];
  }

  /** Where the bars are: the style sheet says so. */
  function measure() {
    // First all questions, then all answers: the browser lays the page out once.
    places = rows.map(({ room }) => ({
      top: room.offsetTop,
      low: room.offsetTop + room.offsetHeight,
    }));
    const left = rows[0].room.offsetLeft;
    x.range([left, left + rows[0].room.offsetWidth]);
    measured();
    rows.forEach(({ rest, bar, drop }, i) => {
      const { top, low } = places[i];
      const above = places[i - 1];
      bar.attr("y", top).attr("height", low - top);
      rest
        .attr("x", left)
        .attr("y", top)
        .attr("height", low - top);
      drop.style("display", above ? "inline" : "none");
      if (above) drop.attr("y1", above.low).attr("y2", low);
    });
    const { top, low } = places[places.length - 1];
    const tick = bars.selectAll("line.tick").data([0]).join("line");
    tick
      .attr("class", "tick nv-answer")
      .attr("y1", top - 4)
      .attr("y2", low + 4);
  }

  /** The scale changes where another network needs it, and is seen to change. */
  function drawRuler() {
    const { note } = look.sizes;
    const [left, right] = x.range();
    const top = places[0].top - 3;
    const { low } = places[places.length - 1];
    const ticks = x.ticks(Math.max(2, (right - left) / (RULER * note)));
    const lines = ruler.selectAll("line").data(ticks).join("line");
    lines
      .attr("x1", x)
      .attr("x2", x)
      .attr("y1", top)
      .attr("y2", low + 4);
    ruler
      .selectAll("text")
      .data(ticks)
      .join("text")
      .attr("x", x)
      .attr("y", low + 5 + note)
      .attr("text-anchor", (n) => (x(n) > right - note ? "end" : "middle"))
      .text(String);
  }
}
