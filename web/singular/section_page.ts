/** The section as a plane curve: which sheet it is on, and its singular points. */
import { scaleLinear, type ScaleLinear } from "d3-scale";
import { line } from "d3-shape";
import type { Look, Point } from "../kit/picture";
import { triple } from "../kit/solids";
import { textLines, viewIn, type Group } from "../kit/view";
import type { Run, Section, SingularPoint } from "./section_facts";
import { onPage, type Box, type Plane } from "./section_plane";
import type { Piece } from "./slice_facts";

const MARGIN = 0.06; // around the rectangle
const NEAR = 0.75; // of half the rectangle: so near to an edge a label turns inwards
const SHADES = 24; // on either side of the middle
const LABELS: Record<Piece["kind"], string> = {
  crossing: "a crossing",
  boundary: "boundary",
  "closure only": "isolated",
};

interface Stretch {
  tone: number;
  points: Point[];
}

export function sectionPage(host: HTMLElement) {
  const { svg, size, headline } = viewIn(host, "page");
  const frame = svg.append("rect").attr("class", "frame");
  const edges = svg.append("g").attr("class", "edges");
  const curves = svg.append("g").attr("class", "curves");
  const along = svg.append("g").attr("class", "along");
  const marks = svg.append("g");
  const path = line<Point>();
  let marker = 8;
  let shade: ScaleLinear<string, string>;

  return {
    headline,

    draw({ colors, sizes }: Look) {
      marker = sizes.marker;
      const codes = [colors["sheet b"], colors["sheet mid"], colors["sheet a"]];
      shade = scaleLinear<string>().domain([-1, 0, 1]).range(codes);
    },

    move({ runs, singular, along: held }: Section, plane: Plane, box: Box) {
      const [width, height] = size();
      const { middle, half } = box;
      const scale =
        0.96 * Math.min(width / (2 * (half[0] + MARGIN)), height / (2 * (half[1] + MARGIN)));
      const seen = ([a, b]: Point): Point => [
        width / 2 + scale * (a - middle[0]),
        height / 2 - scale * (b - middle[1]),
      ];
      const seenOf = (points: number[]) =>
        Array.from({ length: points.length / 3 }, (_, row) =>
          seen(onPage(plane, triple(points, row))),
        );
      const [left, top] = seen([middle[0] - half[0], middle[1] + half[1]]);
      frame.attr("x", left).attr("y", top);
      frame.attr("width", 2 * scale * half[0]).attr("height", 2 * scale * half[1]);

      const seenRuns = runs.map((run) => seenOf(run.points));
      edges
        .selectAll("path")
        .data(seenRuns)
        .join("path")
        .attr("d", (points) => path(points));
      curves
        .selectAll("path")
        .data(runs.flatMap((run, n) => stretchesOf(run, seenRuns[n])))
        .join("path")
        .attr("d", ({ points }) => path(points))
        .style("stroke", ({ tone }) => shade(tone));
      along
        .selectAll("path")
        .data(held.map(({ points }) => seenOf(points)))
        .join("path")
        .attr("d", (points) => path(points));
      drawMarks(singular, plane, box, seen);
    },
  };

  /** A mark for each singular point, and a label at the first of each kind. */
  function drawMarks(
    singular: SingularPoint[],
    plane: Plane,
    { middle, half }: Box,
    seen: (at: Point) => Point,
  ) {
    marks.selectAll("*").remove();
    const named = new Set<string>();
    for (const { kind, at } of singular) {
      const here = onPage(plane, at);
      const [x, y] = seen(here);
      drawMark(marks, kind, [x, y], 0.9 * marker);
      if (named.has(kind)) continue;
      named.add(kind);
      const across = (here[0] - middle[0]) / half[0];
      const isHigh = (here[1] - middle[1]) / half[1] > NEAR;
      const anchor = across > NEAR ? "end" : across < -NEAR ? "start" : "middle";
      const place = [x, y + (isHigh ? 1.6 : -1.6) * marker] as const;
      const start = isHigh ? "below" : "above";
      textLines(marks, place, [LABELS[kind]], {
        role: "ink",
        kind: "nv-answer",
        anchor,
        start,
      });
    }
  }
}

/** A full dot, a triangle, or a ring. */
function drawMark(parent: Group, kind: Piece["kind"], [x, y]: Point, size: number) {
  const name = `mark ${kind.replace(" ", "-")}`;
  if (kind === "boundary") {
    const corners = [
      [x, y - 1.15 * size],
      [x + size, y + 0.6 * size],
      [x - size, y + 0.6 * size],
    ];
    parent.append("polygon").attr("class", name).attr("points", corners.join(" "));
  } else {
    parent.append("circle").attr("class", name).attr("cx", x).attr("cy", y).attr("r", size);
  }
}

/** A run, cut where its colour changes. */
function stretchesOf({ tones }: Run, points: Point[]): Stretch[] {
  const all: Stretch[] = [];
  for (let n = 1; n < points.length; n++) {
    const tone = Math.round(SHADES * tones[n]) / SHADES;
    const last = all[all.length - 1];
    if (last?.tone === tone) last.points.push(points[n]);
    else all.push({ tone, points: [points[n - 1], points[n]] });
  }
  return all;
}
