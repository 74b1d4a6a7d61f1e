/**
 * (P, Q) of the moved layer of both networks as squares of shares (μ, ν): frozen in a corner, met
 * on a diagonal. Below them, what follows.
 */
import { select } from "d3-selection";
import { line } from "d3-shape";
import { handle, type Handle } from "../kit/handle";
import type { Look, Point, Range } from "../kit/picture";
import { classOf, textLines, viewIn, type Group } from "../kit/view";
import type { Shares } from "../softmax/two_tokens";
import type { MapFacts, UniquenessFacts } from "./uniqueness_facts";
import type { Hands } from "./uniqueness_hands";
import { walks, type Both, type Side } from "./uniqueness_way";

const SIDES: Side[] = [0, 1];

/** A square of shares, in pixels. */
interface Square {
  left: number;
  top: number;
  wide: number;
  tall: number;
}

export function mapsView(host: HTMLElement, hands: Hands) {
  const { svg, size, headline } = viewIn(host, "maps");
  const section = select(host).select<HTMLElement>(".nv-view-maps");
  const lines = section.append("div").attr("class", "nv-lines");
  const maps = SIDES.map(() => svg.append("g"));
  const dots = SIDES.map(() => svg.append("circle").attr("class", "dot role-focus"));
  const grips = svg.append("g");

  let held: Handle[] = [];
  let squares: Square[] = [];

  const seen = (side: Side, [mu, nu]: Shares): Point => {
    const { left, top, wide, tall } = squares[side];
    return [left + mu * wide, top + (1 - nu) * tall];
  };
  const sharesOf = (both: Both, side: Side) => both[side].shares[hands.way().moved - 1];

  return {
    /** Another way: what one takes hold of. */
    build() {
      grips.selectAll("*").remove();
      held = SIDES.map((side) =>
        handle(grips, {
          name: `(μ, ν) of ${hands.way().name(side)}`,
          begin: hands.begin,
          end: hands.end,
          keyed: (right, up) => hands.step(right || up),
          moved: (at) => hands.near((both) => seen(side, sharesOf(both, side)), at, true),
        }),
      );
    },

    /** What does not move. */
    draw(facts: UniquenessFacts, { sizes }: Look) {
      headline(facts.relations, true);
      section.selectAll<HTMLElement, unknown>("h4 span").each(function () {
        this.replaceChildren(...withPowers(this.textContent ?? ""));
      });
      const says = [
        { text: facts.axes, kind: "soft", isExact: false },
        { text: facts.independent, kind: "ink", isExact: false },
        ...facts.verdict.map(({ text, role = "ink" }) => ({
          text,
          kind: `verdict ${classOf(role)}`,
          isExact: true,
        })),
      ];
      lines
        .selectAll("p")
        .data(says)
        .join("p")
        .attr("class", ({ kind, isExact }) => `${kind} ${isExact ? "nv-exact" : ""}`)
        .text(({ text }) => text);

      const [width, height] = size();
      const gutter = 1.5 * sizes.note; // of the numbers beside a square, and below it
      const top = 1.6 * sizes.note;
      const wide = (width - 3 * gutter) / 2;
      const tall = Math.max(40, Math.min(height - top - gutter, 1.1 * wide));
      squares = SIDES.map((side) => ({
        left: gutter + side * (wide + 1.5 * gutter),
        top,
        wide,
        tall,
      }));
      const { causal } = facts.formulas;
      for (const side of SIDES) drawMap(side, facts.networks[side].map, causal, sizes);
      for (const dot of dots) dot.attr("r", (sizes.marker + 7) / 2);
      for (const one of held) one.radius(sizes.marker + 4);
    },

    /** What moves. */
    move(both: Both, travel: number, range: Range) {
      const { ofLayer } = hands.way();
      for (const side of SIDES) {
        const at = seen(side, sharesOf(both, side));
        dots[side].attr("cx", at[0]).attr("cy", at[1]);
        const moves = [0, 1].some((which) => {
          return walks(ofLayer, (one) => sharesOf(one, side)[which]);
        });
        const says = `${travel.toFixed(2)} of the way`;
        if (moves) held[side].to(at, travel, says, range);
        else held[side].hide();
      }
    },
  };

  function drawMap(side: Side, map: MapFacts, isCausal: boolean, sizes: Look["sizes"]) {
    const group = maps[side];
    const { left, top, wide, tall } = squares[side];
    group.selectAll("*").remove();
    const rect = (look: string) =>
      group
        .append("rect")
        .attr("class", look)
        .attr("x", left)
        .attr("y", top)
        .attr("width", wide)
        .attr("height", tall);
    const curve = (look: string, points: Shares[]) =>
      group
        .append("path")
        .attr("class", look)
        .attr("d", line()(points.map((shares) => seen(side, shares))));

    rect("edge");
    if (map.allowed === "all" && !isCausal) rect("allowed-all nv-exact");
    if (map.allowed === "all" && isCausal) {
      curve("allowed role-certified nv-exact", [
        [0, 0],
        [0, 1],
      ]);
    }
    if (!isCausal) {
      curve("meet role-soft", [
        [0, 1],
        [1, 0],
      ]);
    }
    curve("allowed role-certified nv-exact", map.curve);
    curve("way role-focus nv-exact", map.way);
    nameCorners(group, side, isCausal, sizes);
    textLines(group, [left + wide / 2, top - 0.4 * sizes.note], [map.title], {
      role: "ink",
      anchor: "middle",
      start: "above",
      isExact: true,
    });
  }

  /** Numbers and names of the axes, and what is where. */
  function nameCorners(group: Group, side: Side, isCausal: boolean, sizes: Look["sizes"]) {
    const { note, marker } = sizes;
    const [x0, y0] = seen(side, [0, 0]);
    const [x1, y1] = seen(side, [1, 1]);
    const { wide, tall } = squares[side];
    const soft = { role: "soft" } as const;
    ["0", "ν", "1"].forEach((text, index) => {
      const y = y0 - (index / 2) * tall;
      textLines(group, [x0 - 4, y], [text], { ...soft, anchor: "end" });
    });
    ["0", "μ", "1"].forEach((text, index) => {
      const at: Point = [x0 + (index / 2) * wide, y0 + 3];
      textLines(group, at, [text], { ...soft, anchor: "middle", start: "below" });
    });
    textLines(group, [x0 + marker, y0 - 7], ["frozen"], { ...soft, start: "above" });
    textLines(group, [x0 + 2.2 * note, y1 + 2], ["all x₁"], { ...soft, start: "below" });
    if (isCausal) return;
    const corner = { ...soft, anchor: "end", start: "above" } as const;
    textLines(group, [x1 - 2.4 * note, y0 - 4], ["all x₂"], corner);
    const [x, y] = seen(side, [0.66, 0.34]);
    const angle = (Math.atan2(tall, wide) * 180) / Math.PI;
    group
      .append("text")
      .attr("class", "role-soft nv-label")
      .attr("text-anchor", "middle")
      .attr("transform", `translate(${x} ${y}) rotate(${angle}) translate(0 ${-0.5 * note})`)
      .text("PQ = 1");
  }
}

const POWER = /([⁻⁰¹²³⁴-⁹ᐟ]+)/;
const SMALL = "⁻⁰¹²³⁴⁵⁶⁷⁸⁹ᐟ";
const LARGE = "−0123456789/";

/** Words with their powers set as such: letters for fractions are missing in most fonts. */
function withPowers(words: string): (string | Node)[] {
  return words.split(POWER).map((part, index) => {
    if (index % 2 === 0) return part;
    const power = document.createElement("sup");
    power.textContent = [...part].map((letter) => LARGE[SMALL.indexOf(letter)]).join("");
    return power;
  });
}
