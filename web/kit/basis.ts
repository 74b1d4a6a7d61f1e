/**
 * C in GL_a as what it does to two directions of a plane; one goes its walk by the ring at the end
 * of one of them.
 */
import { scaleLinear } from "d3-scale";
import { line } from "d3-shape";
import { handle, type Grip } from "./handle";
import { withMinus } from "./numbers";
import type { Look, Point, Range } from "./picture";
import { number, viewIn } from "./view";
import { alongOf, isSeen, tipAt, walkAt, type Walk, type WalkEnds } from "./walks";

const EDGE = 0.15; // of the plane, beyond what moves in it
const KEY = 0.02; // of the walk: what an arrow key changes

export interface BasisOptions extends Pick<Grip, "begin" | "end"> {
  /** The ring was dragged to here. */
  moved(along: number): void;
  keyed(step: number): void;
}

/** Which walk there is: of `heads` by `heads` matrices. */
export interface WalkOf {
  walk: Walk;
  heads: number;
  ends: WalkEnds;
}

export function basisView(host: HTMLElement, options: BasisOptions) {
  const { svg, size, headline } = viewIn(host, "basis");
  const path = svg.append("path").attr("class", "way role-focus");
  const arrows = [0, 1].map(() => svg.append("line").attr("class", "arrow role-ink"));
  const x = scaleLinear();
  const y = scaleLinear();
  let of: WalkOf;
  const ring = handle(svg.append("g"), {
    name: "C",
    begin: options.begin,
    end: options.end,
    moved: ([left, down]) =>
      options.moved(alongOf(of.walk, [x.invert(left), y.invert(down)], of.ends)),
    keyed: (right, up) => options.keyed(KEY * (right || up)),
  });

  return {
    /** What does not move: the plane, and the way of the ring in it. */
    draw(next: WalkOf, { sizes }: Look) {
      of = next;
      const [width, height] = size();
      const [left, right, low, high] = reachOf(of);
      const scale = Math.min(width / (right - left), height / (high - low));
      x.domain([left, right]).range([0, scale * (right - left)]);
      y.domain([low, high]).range([scale * (high - low), 0]);
      svg.attr("display", isSeen(of.walk, of.heads) ? null : "none");
      const steps = Array.from({ length: 41 }, (_, n) => tipAt(of.walk, n / 20 - 1, of.ends));
      path.attr("d", line()(steps.map(inPlane)));
      arrows.forEach((arrow, n) => arrow.attr("display", n < of.heads ? null : "none"));
      ring.name(`C, along the ${of.walk}`);
      ring.radius(1.1 * sizes.marker);
    },

    /** What moves. */
    move(along: number, range: Range) {
      const { walk, heads, ends } = of;
      headline([{ text: saidOf(of, along) }], false);
      if (!isSeen(walk, heads)) return ring.hide();
      const C = walkAt(walk, heads, along, ends);
      const zero = inPlane([0, 0]);
      arrows.slice(0, heads).forEach((arrow, n) => {
        const tip = inPlane([C[0][n], C[1]?.[n] ?? 0]);
        arrow.attr("x1", zero[0]).attr("y1", zero[1]).attr("x2", tip[0]).attr("y2", tip[1]);
      });
      const words = `${along.toFixed(2)} along the ${walk}`;
      ring.to(inPlane(tipAt(walk, along, ends)), along, words, range);
    },
  };

  function inPlane([u, v]: Point): Point {
    return [x(u), y(v)];
  }
}

/** Left, right, low and high end of the plane. */
function reachOf({ walk, heads, ends }: WalkOf) {
  const far = (walk === "rotation" ? 1 : ends[walk]) + EDGE;
  const left = walk === "stretch" ? EDGE : far;
  const high = heads < 2 ? EDGE : walk === "stretch" ? far : 1 + EDGE;
  const low = walk === "rotation" ? 1 + EDGE : EDGE;
  return [-left, far, -low, high];
}

function saidOf({ walk, heads, ends }: WalkOf, along: number): string {
  if (!isSeen(walk, heads)) return `GL₁ has no ${walk}`;
  if (walk === "shear") return `C: slanted by ${number(ends.shear * along)}`;
  if (walk === "rotation") {
    return withMinus(`C: turned by ${Math.round((180 / Math.PI) * ends.rotation * along)}°`);
  }
  const factors = heads > 1 ? [along, -along] : [along];
  return `C: ${factors.map((power) => `× ${number(ends.stretch ** power)}`).join(", ")}`;
}
