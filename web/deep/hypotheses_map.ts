/** The map: a grid of cells, one of which is chosen by a click, a tap or the keyboard. */
import { isAsking } from "../kit/painter";
import type { Look } from "../kit/picture";
import { classOf, frameIn } from "../kit/view";
import { cellAfter, differenceOf, frameOf, nameOf, placeOf, shadeOf } from "./hypotheses_cells";
import type { Axis, Cell, MapFacts } from "./hypotheses_facts";

interface MapOptions {
  chosen(cell: Cell): void;
  /** The cell under the pointer or with the focus; null when it is left. */
  pointed(cell: Cell | null): void;
}

/** All cells of one height. */
interface Row {
  value: number;
  cells: Cell[];
}

const isOff = ({ measured, formula }: Cell) => measured !== formula;

export function mapView(host: HTMLElement, { chosen, pointed }: MapOptions) {
  const { box, headline } = frameIn(host, "map");
  const legend = box.append("p").attr("class", "legend");
  const across = box.append("p").attr("class", "title across");
  const up = box.append("p").attr("class", "title up");
  const grid = box.append("div").attr("class", "grid").attr("role", "grid");
  const rows = grid.append("div").attr("class", "rows").attr("role", "rowgroup");
  const numbers = grid.append("div").attr("class", "numbers row").attr("role", "row");
  let all: Cell[] = [];
  let now: Cell | null = null;

  const cells = () => rows.selectAll<HTMLElement, Cell>(".cell");

  /** One cell can be reached with Tab: that with the focus, else the chosen one. */
  function rove() {
    const focused = cells().filter(function () {
      return this === document.activeElement;
    });
    const stop = focused.empty() ? now : focused.datum();
    cells().attr("tabindex", (cell) => (cell === stop ? 0 : -1));
  }

  function keyed(event: KeyboardEvent, cell: Cell) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = cellAfter(event.key, cell, all);
    const isPress = event.key === "Enter" || event.key === " ";
    if (!next && !isPress) return;
    event.preventDefault();
    event.stopPropagation();
    if (isPress) return chosen(cell);
    const found = cells().filter((other) => other === next);
    found.node()!.focus();
  }

  function drawRows(facts: MapFacts) {
    const upwards = [...facts.rows.values].reverse();
    const data = upwards.map((value): Row => {
      return { value, cells: facts.cells.filter(({ row }) => row === value) };
    });
    const row = rows
      .selectAll<HTMLElement, Row>(".row")
      .data(data)
      .join((enter) => {
        const made = enter.append("div").attr("class", "row").attr("role", "row");
        made.append("div").attr("class", "number").attr("role", "rowheader");
        return made;
      });
    row.select(".number").text(({ value }) => value);
    row
      .selectAll<HTMLElement, Cell>(".cell")
      .data((one) => one.cells)
      .join((enter) => {
        const made = enter.append("div").attr("class", "cell").attr("role", "gridcell");
        made.append("span").attr("class", "difference nv-answer");
        const below = made.append("span").attr("class", "below nv-answer");
        below.append("span").attr("class", "measured");
        below.append("span").attr("class", "cause");
        return made;
      });
  }

  function drawNumbers({ values }: Axis) {
    numbers
      .selectAll("div")
      .data(["", ...values])
      .join("div")
      .attr("class", "number")
      .attr("role", (value) => (value === "" ? "presentation" : "columnheader"))
      .text((value) => value);
  }

  return {
    draw(facts: MapFacts, { deficit }: Look) {
      all = facts.cells;
      headline(facts.says, false);
      legend
        .selectAll("span")
        .data(facts.legend)
        .join("span")
        .attr("class", ({ role = "ink" }) => classOf(role))
        .text(({ text }) => text);
      across.text(facts.columns.title);
      up.text(facts.rows.title);
      const axes = `${facts.columns.name} across, ${facts.rows.name} up`;
      grid
        .attr("aria-label", `measured minus formula: ${axes}`)
        .style("--columns", facts.columns.values.length);
      drawNumbers(facts.columns);
      drawRows(facts);

      const label = (cell: Cell) => {
        return isAsking(host) ? placeOf(cell, facts) : nameOf(cell, facts);
      };
      const frame = (cell: Cell) => frameOf(cell, all).map((side) => `frame-${side}`);
      const shade = (cell: Cell) => shadeOf(cell, facts.most, deficit);
      cells()
        .attr("class", (cell) => ["cell", ...frame(cell)].join(" "))
        .classed("off", isOff)
        .style("background", (cell) => shade(cell).color)
        .style("color", (cell) => (isOff(cell) ? shade(cell).letters : null))
        .attr("aria-label", label)
        .on("click", (_, cell) => chosen(cell))
        .on("keydown", keyed)
        .on("focus", function (_, cell) {
          this.ariaLabel = label(cell); // a guess may have been made since
          rove();
          pointed(cell);
        })
        .on("pointerenter", (_, cell) => pointed(cell))
        .on("blur pointerleave", () => pointed(null));
      // Words that stand in different lines are different words, also in the text of the page.
      cells()
        .select(".difference")
        .text((cell) => `${differenceOf(cell)} `);
      cells()
        .select(".measured")
        .text(({ measured }) => `${measured} `);
      cells()
        .select(".cause")
        .text(({ cause }) => cause);
    },

    /** Puts the ring around a cell. */
    choose(cell: Cell) {
      now = cell;
      cells()
        .classed("chosen", (one) => one === cell)
        .attr("aria-selected", (one) => one === cell);
      rove();
    },
  };
}
