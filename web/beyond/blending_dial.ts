/** A circle of angles with a ring to drag, and the places on it where nothing is noticed. */
import { handle, type Grip } from "../kit/handle";
import type { Look, Point, Range, Said } from "../kit/picture";
import { textLines, viewIn } from "../kit/view";
import { unit } from "./blending_layers";

export const FULL_TURN = 360;
const SNAP = 3; // degrees: so near to a place the ring is on it
const LABELLED = 12; // places: more of them are an arc

export interface DialOptions extends Pick<Grip, "begin" | "end"> {
  name: string;
  /** Of the handle: ω, or g. */
  letter: string;
  /** Of the axes, right and up. */
  axes: [string, string];
  /** The arrow to the ring, and others: so many degrees ahead of it. */
  arrows: { name: string; ahead: number }[];
  moved(degrees: number): void;
  keyed(steps: number): void;
}

export function dialView(host: HTMLElement, options: DialOptions) {
  const { svg, size, headline } = viewIn(host, options.name);
  const rim = svg.append("circle").attr("class", "rim");
  const axes = svg.append("path").attr("class", "axis");
  const names = svg.append("g");
  const places = svg.append("g").attr("class", "nv-answer");
  const arrows = options.arrows.map(({ name, ahead }) => {
    const role = ahead ? "role-soft" : "role-focus";
    const line = svg.append("line").attr("class", `arrow ${role}`);
    const label = svg.append("text").attr("class", `${role} nv-label large`);
    return { name, ahead, line, label };
  });
  let middle: Point = [0, 0];
  let radius = 1;
  let unnoticed: number[] = []; // angles at which the output is what it was
  let theme: Look;

  const at = (degrees: number, far = 1): Point => {
    const [x, y] = unit(((degrees % FULL_TURN) + FULL_TURN) % FULL_TURN);
    return [middle[0] + far * radius * x, middle[1] - far * radius * y];
  };
  const ring = handle(svg.append("g"), {
    name: `the angle of ${options.letter}`,
    begin: options.begin,
    end: options.end,
    moved: ([x, y]) => {
      const angle = (Math.atan2(middle[1] - y, x - middle[0]) * 180) / Math.PI;
      options.moved(snapped((angle + FULL_TURN) % FULL_TURN));
    },
    keyed: (right, up) => options.keyed(right || up),
    ended: (isLargest) => options.moved(isLargest ? FULL_TURN : 0),
  });

  /** To a place that is near; where most are places, to none. */
  function snapped(degrees: number): number {
    if (unnoticed.length > LABELLED) return degrees;
    return unnoticed.find((place) => apart(place, degrees) <= SNAP) ?? degrees;
  }

  return {
    /** What does not move: the circle, its axes with their names, and the places on it. */
    draw(says: Said[], places: number[], look: Look) {
      theme = look;
      unnoticed = places;
      headline(says, false);
      const [width, height] = size();
      const { base } = look.sizes;
      const beside = options.arrows[0].name ? 4.5 * base : 2.2 * base;
      middle = [width / 2, height / 2];
      radius = Math.max(20, Math.min(width / 2 - beside, height / 2 - 2.2 * base));
      const [cx, cy] = middle;
      rim.attr("cx", cx).attr("cy", cy).attr("r", radius);
      axes.attr("d", `M${cx - radius} ${cy}H${cx + radius}M${cx} ${cy - radius}V${cy + radius}`);
      names.selectAll("*").remove();
      const soft = { role: "soft", anchor: "middle" } as const;
      textLines(names, [cx + 0.82 * radius, cy + 0.9 * look.sizes.note], [options.axes[0]], soft);
      textLines(names, [cx + look.sizes.note, cy - 0.85 * radius], [options.axes[1]], soft);
      drawPlaces();
      ring.radius(look.sizes.marker);
    },

    move(degrees: number, range: Range, isFound: boolean) {
      const said = `${Math.round(degrees)}°`;
      for (const { name, ahead, line, label } of arrows) {
        const [x, y] = at(degrees + ahead);
        line.attr("x1", middle[0]).attr("y1", middle[1]).attr("x2", x).attr("y2", y);
        const [left, down] = at(degrees + ahead, 1 + (1.3 * theme.sizes.base) / radius);
        const aside = (left - middle[0]) / radius;
        label
          .attr("x", left)
          .attr("y", down + 0.35 * theme.sizes.base)
          .attr("text-anchor", aside > 0.4 ? "start" : aside < -0.4 ? "end" : "middle")
          .text(ahead ? name : `${name} ${said}`);
      }
      rim.classed("found", isFound);
      ring.to(at(degrees), degrees, said, range);
    },
  };

  function drawPlaces() {
    places.selectAll("*").remove();
    const distinct = unnoticed.filter((place) => place < FULL_TURN);
    if (distinct.length > LABELLED) {
      places
        .append("circle")
        .attr("class", "every")
        .attr("cx", middle[0])
        .attr("cy", middle[1])
        .attr("r", radius);
      return;
    }
    for (const place of distinct) {
      const [cx, cy] = at(place);
      places
        .append("circle")
        .attr("class", "place")
        .attr("cx", cx)
        .attr("cy", cy)
        .attr("r", theme.sizes.marker - 2);
    }
  }
}

/** Degrees between two angles, the short way round. */
function apart(one: number, other: number): number {
  const way = Math.abs(one - other) % FULL_TURN;
  return Math.min(way, FULL_TURN - way);
}
