/** What a cell of the map says, how it looks, and which one is beside it; without a page. */
import type { Scale } from "../kit/picture";
import { shadeAt, type Shade } from "../kit/shades";
import type { Axis, Cell, HypothesesPlace, MapFacts } from "./hypotheses_facts";

export type Side = "left" | "right" | "below" | "above";

const SIDES: Record<Side, [columns: number, rows: number]> = {
  left: [-1, 0],
  right: [1, 0],
  below: [0, -1],
  above: [0, 1],
};
const ARROWS: Record<string, Side> = {
  ArrowLeft: "left",
  ArrowRight: "right",
  ArrowDown: "below",
  ArrowUp: "above",
};

/** Measured − formula, with its sign. */
export function differenceOf({ measured, formula }: Cell): string {
  const difference = measured - formula;
  if (!difference) return "0";
  return `${difference > 0 ? "+" : "−"}${Math.abs(difference)}`;
}

/** Which cell it is, such as a₁ = 3, a₂ = 1. */
export const placeOf = (cell: Cell, { columns, rows }: MapFacts): string =>
  `${columns.name} = ${cell.column}, ${rows.name} = ${cell.row}`;

/** Which cell it is, and what is known there. */
export const sentenceOf = (cell: Cell, facts: MapFacts): string =>
  `${placeOf(cell, facts)}: ${cell.says}`;

/** What a screen reader says: first what is seen. */
export function nameOf(cell: Cell, facts: MapFacts): string {
  const seen = [differenceOf(cell), cell.measured, cell.cause].filter((word) => word !== "");
  return `${seen.join(" ")}; ${sentenceOf(cell, facts)}`;
}

/** A difference and its negative have one colour, and only 0 has the colour of 0. */
export function shadeOf(cell: Cell, most: number, deficit: Scale): Shade {
  const difference = Math.abs(cell.measured - cell.formula);
  if (!difference) return shadeAt(1, deficit);
  const [noneFrom] = deficit[deficit.length - 2];
  return shadeAt(noneFrom * (1 - Math.sqrt(difference / most)), deficit);
}

/** The sides at which the frame around the covered cells passes by this one. */
export function frameOf(cell: Cell, cells: Cell[]): Side[] {
  if (!cell.covered) return [];
  const all = Object.keys(SIDES) as Side[];
  return all.filter((side) => !beside(cell, side, cells)?.covered);
}

/** Where a key leads; null for other keys. */
export function cellAfter(key: string, cell: Cell, cells: Cell[]): Cell | null {
  const inRow = cells.filter(({ row }) => row === cell.row);
  if (key === "Home") return inRow[0];
  if (key === "End") return inRow[inRow.length - 1];
  return ARROWS[key] ? (beside(cell, ARROWS[key], cells) ?? cell) : null;
}

function beside(cell: Cell, side: Side, cells: Cell[]): Cell | undefined {
  const [columns, rows] = SIDES[side];
  return cells.find(({ column, row }) => {
    return column === cell.column + columns && row === cell.row + rows;
  });
}

/** The cell that is nearest to the controls, also on the way from one to another. */
export function cellAt(place: HypothesesPlace, { columns, rows, cells }: MapFacts): Cell {
  const column = nearest(columns, place);
  const row = nearest(rows, place);
  return cells.find((cell) => cell.column === column && cell.row === row)!;
}

function nearest({ control, values }: Axis, place: HypothesesPlace): number {
  const at = place[control];
  return values.reduce((best, value) => {
    return Math.abs(value - at) < Math.abs(best - at) ? value : best;
  });
}

/** Whether the map is of these controls: they may differ in those of its axes alone. */
export function isOfMap(
  { columns, rows }: MapFacts,
  exact: HypothesesPlace,
  here: HypothesesPlace,
): boolean {
  const names = Object.keys(exact) as (keyof HypothesesPlace)[];
  const others = names.filter((name) => name !== columns.control && name !== rows.control);
  return others.every((name) => exact[name] === here[name]);
}
