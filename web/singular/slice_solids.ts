/**
 * A slice in space: sheets with rulings, the yellow curve, pinch points, and the point on its
 * ruling.
 */
import { scaleLinear } from "d3-scale";
import type { Look } from "../kit/picture";
import {
  ball,
  distance,
  joined,
  minus,
  normalsOf,
  plus,
  size,
  triple,
  tube,
  unit,
  type Hit,
  type Solid,
  type Triple,
} from "../kit/solids";
import type { Space } from "../kit/space";
import { rgb, type Stage, type Thing } from "../kit/stage";
import { isCylinder, type SliceFacts, type SliceFormulas } from "./slice_facts";
import type { Slice, SurfacePoint } from "./surface_point";

const RODS = 20; // rulings of a strip that are drawn, about
// Radii.
const TUBE = 0.03;
const END = 0.011;
const ROD = 0.0045;
const LINE = 0.022;
const BALL = 0.07;
const PINCH = 0.05;
const BEYOND = 0.07; // the point's ruling sticks out, so that one finds it behind a sheet
const DASH = 0.07;
const GAP = 0.075;

type Rod = [from: Triple, to: Triple];

/** All strips as one solid, which knows where its corners are in the numbers of the controls. */
export interface Sheets extends Solid {
  color: number[];
  where: number[];
  along: number[];
}

/** The place, in the numbers of the controls, where a ray met the sheets. */
export function placeOf({ where, along }: Sheets, { corners, shares }: Hit) {
  const mean = (values: number[]) =>
    corners.reduce((sum, corner, k) => sum + shares[k] * values[corner], 0);
  return { where: mean(where), along: mean(along) };
}

/** Draws a slice where another one, or the same in another theme, may have been. */
export function redraw(stage: Stage, old: Thing[], slice: Slice, facts: SliceFacts, look: Look) {
  for (const thing of old) thing.remove();
  stage.background(look.colors.ground);
  const sheets = sheetsOf(slice, facts.tones, look);
  return { sheets, things: drawSlice(stage, slice, sheets, look) };
}

/** Looks at a slice; another look at the same one leaves the camera where the reader turned it. */
export function lookAt(space: Space, slice: Slice, facts: SliceFacts, before?: SliceFacts) {
  if (before?.name !== facts.name) space.see(facts.camera, outlineOf(slice));
  if (before?.labels !== facts.labels) space.label(facts.labels);
}

/** Draws what does not move, and returns what takes it away. */
function drawSlice(stage: Stage, slice: Slice, sheets: Sheets, { colors }: Look): Thing[] {
  const { strips, pieces, pinches } = slice.formulas;
  const rulings: Rod[] = [];
  const outlines: Rod[] = [];
  for (const { theta, starts, ends } of strips) {
    const rod = (row: number): Rod => [drawn(slice, starts, row), drawn(slice, ends, row)];
    const every = Math.max(1, Math.floor(theta.length / RODS));
    for (let row = every >> 1; row < theta.length; row += every) rulings.push(rod(row));
    if (isCylinder(slice.formulas)) outlines.push(rod(0), rod(theta.length - 1));
  }
  const thin = joined([
    ...rulings.map((rod) => tube(rod, ROD)),
    ...outlines.map((rod) => tube(rod, END)),
  ]);

  const yellow: Solid[] = [];
  const black: Solid[] = [];
  for (const { kind, points } of pieces) {
    const curve = Array.from({ length: points.length / 3 }, (_, row) => drawn(slice, points, row));
    if (kind === "closure only") yellow.push(...dashes(curve).map((dash) => tube(dash, TUBE)));
    else
      (kind === "crossing" ? yellow : black).push(tube(stickingOut(curve, slice.formulas), TUBE));
  }
  for (const pinch of pinches) black.push(moved(ball(PINCH), slice.inDrawing(pinch)));

  return [
    stage.add(sheets, {}),
    stage.add(thin, { color: colors.ruling, isLit: false }), // in the light they would be pale
    stage.add(joined(yellow), { color: colors.singular }),
    stage.add(joined(black), { color: colors.boundary }),
  ];
}

/** The point, and the ruling that it is on. */
export function drawPoint(stage: Stage, { colors }: Look) {
  const marked = stage.add(ball(BALL), { color: colors.focus });
  const rod = stage.add(joined([]), { color: colors.focus });
  return {
    things: [marked, rod],
    to({ drawn: at, ruling }: SurfacePoint, slice: Slice) {
      marked.moveTo(at);
      rod.show(ruling !== null);
      if (!ruling) return;
      const [a, b] = ruling.map((end) => slice.inDrawing(end));
      const way = unit(minus(b, a));
      rod.change(tube([plus(a, -BEYOND, way), plus(b, BEYOND, way)], LINE, 10));
    },
  };
}

/**
 * The sheets of a slice; `tones` says, for each strip, which of two crossing sheets it is, at each
 * corner of each ruling.
 */
function sheetsOf(slice: Slice, tones: number[][], { colors }: Look): Sheets {
  const codes = [colors["sheet b"], colors["sheet mid"], colors["sheet a"]].map(rgb);
  const shade = scaleLinear<Triple>().domain([-1, 0, 1]).range(codes);
  const all: Sheets = { position: [], normal: [], color: [], where: [], along: [], faces: [] };
  let before = 0; // rulings of the strips before
  slice.formulas.strips.forEach(({ theta, starts, ends }, index) => {
    const rows = theta.length;
    const perRuling = tones[index].length / rows;
    for (let row = 0; row < rows; row++) {
      const [start, end] = [drawn(slice, starts, row), drawn(slice, ends, row)];
      const way = minus(end, start);
      for (let step = 0; step < perRuling; step++) {
        const share = step / (perRuling - 1);
        const here = all.where.length;
        all.position.push(...plus(start, share, way));
        all.color.push(...shade(tones[index][row * perRuling + step]));
        all.where.push((before + row) / slice.total);
        all.along.push(2 * share - 1);
        if (row + 1 === rows || step + 1 === perRuling) continue;
        const next = here + perRuling;
        all.faces.push(here, next, next + 1, here, next + 1, here + 1);
      }
    }
    before += rows;
  });
  all.normal = normalsOf(all.position, all.faces);
  return all;
}

/** Points enough to say where the drawing is: the ends of its rulings. */
function outlineOf(slice: Slice): Triple[] {
  return slice.formulas.strips.flatMap(({ theta, starts, ends }) => {
    const rows = Array.from({ length: Math.ceil(theta.length / 4) }, (_, n) => 4 * n);
    return rows.flatMap((row) => [drawn(slice, starts, row), drawn(slice, ends, row)]);
  });
}

/** A curve cut into short stretches: dotted, whatever the zoom. */
export function dashes(curve: Triple[]): Rod[] {
  const runs = [0];
  for (let k = 1; k < curve.length; k++) runs.push(runs[k - 1] + distance(curve[k - 1], curve[k]));
  const length = runs[runs.length - 1];
  const at = (run: number): Triple => {
    const row = Math.max(
      1,
      runs.findIndex((end) => end >= run - 1e-12),
    );
    const share = (run - runs[row - 1]) / (runs[row] - runs[row - 1] || 1);
    return plus(curve[row - 1], share, minus(curve[row], curve[row - 1]));
  };
  const count = Math.max(1, Math.round((length - DASH) / (DASH + GAP)) + 1);
  const period = count > 1 ? (length - DASH) / (count - 1) : length;
  return Array.from({ length: count }, (_, k): Rod => {
    return [at(k * period), at(Math.min(length, k * period + DASH))];
  });
}

/** The curve, a little longer at an end that lies on the window. */
function stickingOut(curve: Triple[], formulas: SliceFormulas): Triple[] {
  const longer = (end: Triple, before: Triple): Triple[] => {
    const isOnWindow = isCylinder(formulas)
      ? Math.abs(end[0]) > 0.98 * formulas.half[0]
      : size(end) > 0.97;
    return isOnWindow ? [plus(end, 0.12, unit(minus(end, before)))] : [];
  };
  const last = curve.length - 1;
  return [...longer(curve[0], curve[1]), ...curve, ...longer(curve[last], curve[last - 1])];
}

function moved(solid: Solid, way: Triple): Solid {
  return { ...solid, position: solid.position.map((value, n) => value + way[n % 3]) };
}

const drawn = (slice: Slice, flat: number[], row: number): Triple =>
  slice.inDrawing(triple(flat, row));
