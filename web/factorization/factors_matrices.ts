/**
 * Q and K at the start and now, their product A, and how many directions leave it alone. Each
 * number of Q and K is taken hold of.
 */
import { drag } from "d3-drag";
import { interpolateRgb } from "d3-interpolate";
import { select } from "d3-selection";
import { withMinus } from "../kit/numbers";
import type { Look } from "../kit/picture";
import { classOf, number, sectionIn } from "../kit/view";
import { largestChange, type Matrix } from "../kit/matrix";
import type { EntryPlace } from "./factors_entries";
import type { MatrixFacts, Rank } from "./factors_facts";
import { largestOf } from "./factors_matrix";
import type { Product } from "./factors_product";

const SLOPE = 1 / 60; // of an entry, for a pixel of the pointer
const KEY = 0.1; // of an entry: what an arrow key changes
const ROUNDING = 1e-9; // relative: products that differ by less are the same
// Pixels of a cell.
const WIDEST = 60;
const LEAST = 8;
// Pixels of what is below A.
const PLANE = 124; // its width
const BELOW = 124; // its height
const BOTH = 15; // letters: width of that and a line beside it, where a factor can leave the orbit
// Share of the colour of the largest entries: on it, letters in ink have a contrast of 4.6 or more.
const STRONGEST = 0.5;

export interface MatricesOptions {
  begin(): void;
  end(): void;
  /** Where an entry is now, also if that is not painted yet. */
  valueOf(entry: EntryPlace): number;
  /** How far an entry goes, up and down. */
  largest(): number;
  /** An entry is to have this value. */
  put(entry: EntryPlace, value: number): void;
  keyed(): void;
  /** A factor loses a rank, or gets it back. */
  pressed(factor: "Q" | "K"): void;
}

interface Cell {
  node: HTMLElement;
  i: number;
  j: number;
}

/** A matrix of the table: its name, its numbers, and what it is in a product. */
interface Table {
  node: HTMLElement;
  /** How it is called here; at the start, of a factor, without what C does. */
  name: string;
  cells: Cell[];
  of(shown: Product): Matrix;
  entry?: Pick<EntryPlace, "when" | "factor">;
}

export function matricesView(host: HTMLElement, options: MatricesOptions) {
  const { section, headline } = sectionIn(host, "matrices");
  const tables = append(section, "tables");
  const pairs = append(tables, "pairs");
  const all: Table[] = [];
  const names = { start: ["Q", "K"], now: ["C Q", "C⁻ᵀ K"] } as const;
  for (const when of ["start", "now"] as const) {
    const label = append(pairs, `when ${classOf(when === "now" ? "focus" : "ink")}`);
    label.textContent = when === "now" ? "● now" : "○ start";
    for (const factor of [0, 1] as const) {
      const of = (shown: Product) => shown[when][factor];
      all.push(tableIn(pairs, names[when][factor], of, { when, factor }));
    }
  }
  const buttons = (["Q", "K"] as const).map((name, factor) => {
    const button = document.createElement("button");
    button.type = "button";
    button.addEventListener("click", () => options.pressed(name));
    all[factor].node.querySelector(".name")!.append(button);
    return button;
  });
  const nameOfNow = all.slice(2).map(({ node }) => node.querySelector(".name")!.firstChild as Text);
  const fiber = append(pairs, "fiber");
  const fiberSays = append(fiber, "says nv-answer");
  const directions = append(fiber, "directions nv-answer");
  const beside = append(tables, "beside");
  const product = tableIn(beside, "A = KᵀQ", (shown) => shown.A[0]);
  all.push(product);
  const frame = append(product.node.querySelector(".cells")!, "frame");
  let look: Look;
  let fittedFor = "";
  let cellSize = 0;
  let isWithLine = false;
  let sizes: [d: number, a: number] = [1, 1];
  let shown: Product;
  let held: { table: Table; cell: Cell } | null = null;

  return {
    /** Where there is room for another view, below A. */
    beside,

    draw(facts: MatrixFacts, d: number, a: number, next: Look, width: number) {
      look = next;
      sizes = [d, a];
      headline(facts.says, true);
      for (const table of all) fill(table, table === product ? d : a, d);
      section.style.setProperty("--columns", String(d));
      // To measure lays out the whole page: not where a number has changed, and nothing else.
      const asked = JSON.stringify([d, a, look.sizes, width, fiber.textContent, isWithLine]);
      if (asked !== fittedFor) fit(d, a);
      fittedFor = cellSize ? asked : ""; // what is hidden has no sizes
    },

    /** Whether there is a line beside what is below A. */
    fitLine(isThere: boolean) {
      isWithLine = isThere;
      fit(...sizes);
    },

    move(next: Product, rank: Rank, silent: number, usual: number, isUntouched: boolean) {
      shown = next;
      const [before, after] = next.A;
      const far = ROUNDING * Math.max(1, largestOf(before));
      const isSame = largestChange([before], [after]) <= far;
      frame.className = `frame ${classOf(isSame ? "certified" : "outside")}`;
      nameFactors(rank);
      paint();
      all[0].cells.at(0)?.node.classList.toggle("hinted", isUntouched);
      moveButtons(rank);
      moveDirections(silent, usual);
    },

    /** The name of an entry, and its value, in words. */
    says(entry: EntryPlace): string {
      const table = all.find(({ entry: one }) => {
        return one?.when === entry.when && one.factor === entry.factor;
      })!;
      return `${nameOf(table, entry)}: ${number(options.valueOf(entry))}`;
    },
  };

  /** Cells as large as there is room for; a style sheet may want larger ones. */
  function fit(d: number, a: number) {
    // Measured with small cells: large ones would keep the room that they had before.
    section.style.setProperty("--fit", `${LEAST}px`);
    const [width, height] = [tables.clientWidth, tables.clientHeight];
    const gap = 18;
    const head = all[0].node.querySelector<HTMLElement>(".name")!.offsetHeight;
    const headBelow = all[2].node.querySelector<HTMLElement>(".name")!.offsetHeight;
    const room = width - pairs.querySelector<HTMLElement>(".when")!.offsetWidth - 2 * gap - 12;
    const besidePairs = isWithLine ? BOTH * look.sizes.base : PLANE;
    const limits = {
      pairs: (height - head - headBelow - fiber.offsetHeight - gap) / (2 * a), // Q above C Q
      pairsAndPlane: (room - besidePairs) / (2 * d), // Q and K, and what is below A
      pairsAndProduct: room / (3 * d), // Q, K and A
      productAndPlane: (height - head - BELOW) / d, // A, and what is below it
    };
    const found = Math.min(WIDEST, ...Object.values(limits));
    section.style.setProperty("--fit", `${Math.max(LEAST, Math.floor(found))}px`);
    cellSize = all[0].cells[0].node.offsetWidth;
  }

  function fill(table: Table, rows: number, columns: number) {
    if (table.cells.length === rows * columns && table.cells.at(-1)?.j === columns - 1) return;
    for (const { node } of table.cells) node.remove();
    table.cells = Array.from({ length: rows * columns }, (_, n) => {
      const [i, j] = [Math.floor(n / columns), n % columns];
      const node = document.createElement("div");
      node.className = "cell";
      table.node.querySelector(".cells")!.append(node);
      const cell = { node, i, j };
      if (table.entry) takeHold(table, cell);
      return cell;
    });
  }

  function takeHold(table: Table, cell: Cell) {
    const { node, i, j } = cell;
    const entry: EntryPlace = { ...table.entry!, i, j };
    const name = nameOf(table, entry);
    node.classList.add("nv-grip", "nv-handle");
    node.role = "spinbutton";
    node.ariaLabel = name;
    node.tabIndex = i || j ? -1 : 0;
    let from = 0;
    let begun = 0;
    const follow = drag<HTMLElement, unknown>()
      .container(section)
      .on("start", ({ y }) => {
        from = options.valueOf(entry);
        begun = y;
        options.begin();
        node.focus({ preventScroll: true });
      })
      .on("drag", ({ y }) => {
        options.put(entry, from + SLOPE * (begun - y));
      })
      .on("end", () => options.end());
    select<HTMLElement, unknown>(node).call(follow);
    node.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const up = { ArrowUp: 1, ArrowDown: -1 }[event.key];
      const right = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!up && !right) return;
      event.preventDefault();
      event.stopPropagation();
      options.keyed();
      if (up) options.put(entry, options.valueOf(entry) + KEY * up * (event.shiftKey ? 10 : 1));
      if (right) neighbour(table, cell, right).node.focus();
    });
    node.addEventListener("focus", () => {
      // The Tab key comes back to the number that one was at.
      for (const other of table.cells) other.node.tabIndex = other === cell ? 0 : -1;
      held = { table, cell };
      paint();
    });
    node.addEventListener("blur", () => {
      held = null;
      paint();
    });
  }

  function paint() {
    if (!shown) return;
    const { colors, diverging, sizes } = look;
    // Of A the largest entry has the full colour; factors have room for what C makes of them.
    const mostOfProduct = largestOf(shown.A[0]) || 1;
    const mostOfFactors = 1.6 * largestOf(...shown.start) || 1;
    const digits = [2, 1].find((count) => cellSize >= (count + 1) * sizes.note) ?? 0;
    section.classList.toggle("without-numbers", digits === 0);
    for (const table of all) {
      const limit = table === product ? mostOfProduct : mostOfFactors;
      const matrix = table.of(shown);
      for (const { node, i, j } of table.cells) {
        const value = matrix[i][j];
        const color = diverging[value < 0 ? 0 : diverging.length - 1];
        const share = STRONGEST * Math.min(1, Math.abs(value) / limit);
        node.style.background = interpolateRgb(colors.panel, color)(share);
        node.textContent = inDigits(value, digits);
        node.classList.toggle("reached", table === product && isReached(i, j));
        if (!table.entry) continue;
        node.ariaValueMin = String(-options.largest());
        node.ariaValueMax = String(options.largest());
        node.ariaValueNow = value.toFixed(2);
        node.ariaValueText = number(value);
      }
    }
  }

  /** An entry of Q reaches a column of A, one of K a row. */
  function isReached(i: number, j: number): boolean {
    if (!held) return false;
    return (held.table.entry!.factor === 0 ? j : i) === held.cell.j;
  }

  /** What C makes of the first factors, of which one may have left the orbit. */
  function nameFactors(rank: Rank) {
    const isAside = largestChange(shown.start, shown.aside) > 0;
    const inside = { Q: "Q", K: "K" };
    if (isAside && rank === "Q") inside.K = "(K + …)";
    if (isAside && rank === "K") inside.Q = "(Q + …)";
    nameOfNow[0].data = `C ${inside.Q}`;
    nameOfNow[1].data = `C⁻ᵀ ${inside.K}`;
  }

  function moveButtons(rank: Rank) {
    buttons.forEach((button, factor) => {
      const name = factor ? "K" : "Q";
      const isLost = rank === name;
      const label = `rank ${shown.ranks[factor]} ${isLost ? "↑" : "↓"}`;
      const does = isLost ? `give ${name} its rank back` : `let ${name} lose a rank`;
      button.textContent = label;
      button.ariaLabel = `${label}, ${does}`;
      button.title = isLost ? "give it back" : "let it lose a rank";
      button.ariaPressed = String(isLost);
      button.disabled = !isLost && shown.ranks[factor] === 0;
    });
  }

  /** All directions of Q and K, and how many of them the fibre has. */
  function moveDirections(silent: number, usual: number) {
    const count = 2 * shown.start[0].flat().length;
    const against = shown.fiberDimension === usual ? "" : `, against ${usual}`;
    fiberSays.textContent = `silent here: ${shown.fiberDimension} of ${count} directions${against}`;
    select(directions)
      .classed("dense", count > 40)
      .selectAll("i")
      .data(Array.from({ length: count }, (_, n) => n))
      .join("i")
      .attr("class", (n) => (n < Math.min(silent, usual) ? "usual" : n < silent ? "more" : null));
  }
}

function append(parent: Element, kind: string): HTMLElement {
  const node = document.createElement("div");
  node.className = kind;
  parent.append(node);
  return node;
}

function tableIn(parent: Element, name: string, of: Table["of"], entry?: Table["entry"]): Table {
  const node = append(parent, "table");
  append(node, "name").append(name);
  append(node, "cells");
  return { node, name, cells: [], of, entry };
}

function neighbour({ cells }: Table, cell: Cell, way: number): Cell {
  return cells[(cells.indexOf(cell) + way + cells.length) % cells.length];
}

function nameOf({ name }: Table, { i, j }: Pick<EntryPlace, "i" | "j">): string {
  return `${name}, row ${i + 1}, column ${j + 1}`;
}

function inDigits(value: number, digits: number): string {
  if (!digits) return "";
  if (Math.abs(value) < 0.5 * 10 ** -digits) return "0";
  return withMinus(value.toFixed(digits));
}
