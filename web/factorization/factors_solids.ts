/** The surface of rank ≤ 1 and its lines in space, and A with the lines through it. */
import { scaleLinear } from "d3-scale";
import type { Look } from "../kit/picture";
import { ball, joined, normalsOf, plus, tube, type Solid, type Triple } from "../kit/solids";
import { rgb, type Stage } from "../kit/stage";
import { pointAt, rulingAt, type Family } from "./factors_slice";
import type { SlicePoint } from "./factors_product";

export const REACH = 1.15; // the surface is drawn for |z| up to here
// The largest trace, distance from the axis and height in the picture: beyond, it is drawn smaller.
const MOST: Triple = [1.5, 1.67, REACH];
const LINES = 16; // of each family
// Radii of rods.
const THIN = 0.006;
const THICK = 0.017;
const WAY = 0.012;
const BALL = 0.085;
const FOOT = 0.045;
const TIP = 0.06;
const SIDES = 6;

const FAMILIES: Family[] = ["image", "kernel"];

/** What is drawn of length 1: more than 1 for a matrix that would be outside the picture. */
export function unitOf({ trace, place: [x, y, z] }: SlicePoint): number {
  const far = [trace, Math.hypot(x, y), z];
  return Math.max(1, ...far.map((t, i) => Math.abs(t) / MOST[i]));
}

/** The same matrix in the drawing. */
export function drawnAt(point: SlicePoint): SlicePoint {
  const unit = unitOf(point);
  const place = plus([0, 0, 0], 1 / unit, point.place);
  return { ...point, trace: point.trace / unit, height: point.height / unit, place };
}

export function drawSurface(stage: Stage, { colors }: Look) {
  const nothing = joined([]);
  const sheet = stage.add(nothing, {});
  // In the light they would be pale.
  const lines = stage.add(nothing, { color: colors.ruling, isLit: false });
  const through = stage.add(nothing, { color: colors.focus });
  const way = stage.add(nothing, { color: colors.ink });
  const tip = stage.add(ball(TIP), { color: colors.singular });
  const marked = stage.add(ball(BALL), { color: colors.focus });
  const foot = stage.add(ball(FOOT), { color: colors.focus });
  const codes = [colors["sheet b"], colors["sheet mid"], colors["sheet a"]].map(rgb);
  const shade = scaleLinear<Triple>().domain([-1, 0, 1]).range(codes);
  let drawn = "";

  return {
    things: [sheet, lines, through, way, tip, marked, foot],

    /** `isMoving`: while it changes under the hand the sheet has fewer corners. */
    to(point: SlicePoint, isMoving: boolean) {
      const { trace, rank, place } = point;
      const asked = `${trace} ${isMoving}`;
      // A fine sheet of this trace stays, when it is taken hold of.
      if (drawn !== asked && drawn !== `${trace} false`) {
        sheet.change(sheetOf(trace, isMoving ? 2 : 1, shade));
        lines.change(joined(linesOf(trace).map((line) => tube(line, THIN, SIDES))));
        drawn = asked;
      }
      tip.show(trace === 0);

      // All lines of the cone go through zero.
      const found = rank ? FAMILIES.map((family) => rulingAt(trace, point, family, REACH)) : [];
      through.change(joined(found.map((line) => tube(line, THICK))));
      const nearest = pointAt(trace, point);
      const isOff = rank === 2;
      way.change(isOff ? tube([nearest, place], WAY) : nothing);
      foot.show(isOff);
      foot.moveTo(nearest);
      marked.moveTo(place);
    },
  };
}

/** The surface; its two halves have two colours, from z = 0 on. */
function sheetOf(trace: number, coarse: number, shade: (tone: number) => Triple): Solid {
  const [rows, columns] = [24 / coarse, 72 / coarse];
  const solid: Solid = { position: [], normal: [], faces: [] };
  const color: number[] = [];
  for (let row = 0; row <= rows; row++) {
    const height = REACH * ((2 * row) / rows - 1);
    for (let column = 0; column <= columns; column++) {
      solid.position.push(...pointAt(trace, { angle: (360 * column) / columns, height }));
      color.push(...shade(Math.tanh(4 * height)));
      if (row === rows || column === columns) continue;
      const here = row * (columns + 1) + column;
      const above = here + columns + 1;
      solid.faces.push(here, here + 1, above + 1, here, above + 1, above);
    }
  }
  return { ...solid, color, normal: normalsOf(solid.position, solid.faces) };
}

/** Straight lines all around; on the cone both families are one. */
function linesOf(trace: number): [Triple, Triple][] {
  const families = trace ? FAMILIES : FAMILIES.slice(0, 1);
  const count = (2 * LINES) / families.length;
  return families.flatMap((family) => {
    return Array.from({ length: count }, (_, n) => {
      return rulingAt(trace, { angle: (360 * n) / count, height: 0 }, family, REACH);
    });
  });
}
