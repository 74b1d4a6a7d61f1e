/** The tokens of one network on their way down through its layers, as places between x₁ and x₂. */
import { handle, type Handle } from "../kit/handle";
import type { Look, Point, Range } from "../kit/picture";
import { textLines, viewIn } from "../kit/view";
import { SUBSCRIPTS, tokenPaths } from "../softmax/token_paths";
import { meetingOf, type Run } from "../softmax/two_tokens";
import type { NetworkFacts } from "./uniqueness_facts";
import type { Hands } from "./uniqueness_hands";
import { isSeen, SEEN, walks, type Side } from "./uniqueness_way";

const LAST = 0.15; // of a row: so far below the last layer stands L

interface Held {
  handle: Handle;
  level: number;
  token: 0 | 1;
}

export function wayView(host: HTMLElement, side: Side, hands: Hands) {
  const { svg, measured, headline } = viewIn(host, side ? "right" : "left");
  const clip = `nv-way-${Math.random().toString(36).slice(2)}`;
  const clipped = svg.append("clipPath").attr("id", clip).append("rect");
  const band = svg.append("rect").attr("class", "band");
  const letters = svg.append("g");
  const clippedGroup = svg.append("g").attr("clip-path", `url(#${clip})`);
  const paths = tokenPaths(clippedGroup.append("g"), clippedGroup.append("g"));
  const starts = [0, 1].map(() => svg.append("text").attr("class", "nv-label"));
  const ring = svg.append("circle").attr("class", "meeting");
  const where = svg.append("text").attr("class", "where role-focus nv-label nv-exact");
  const grips = svg.append("g");

  let facts: NetworkFacts;
  let sizes: Look["sizes"];
  let held: Held[] = [];
  let left = 0;
  let unit = 1;
  let top = 0;
  let row = 1;

  const seen = (place: number, level: number): Point => [
    left + unit * (place - SEEN[0]),
    top + row * level,
  ];

  return {
    /** Another way: what one takes hold of. */
    build() {
      grips.selectAll("*").remove();
      held = [];
      const { stops, movedLast, name } = hands.way();
      for (let level = 0; level <= movedLast; level++) {
        for (const token of [0, 1] as const) {
          if (!walks(stops, (both) => both[side].places[level][token])) continue;
          const place = level ? `after layer ${level}` : "at the start";
          const own = handle(grips, {
            name: `token ${token + 1} of ${name(side)} ${place}`,
            begin: hands.begin,
            end: hands.end,
            keyed: (right, up) => hands.step(right || up),
            moved: ([x]) =>
              hands.near((both) => [seen(both[side].places[level][token], 0)[0], 0], [x, 0]),
          });
          held.push({ handle: own, level, token });
        }
      }
    },

    /** What does not move. */
    draw(next: NetworkFacts, look: Look) {
      facts = next;
      sizes = look.sizes;
      headline(facts.says, true);
      const [width, height] = measured(); // a headline of two lines takes room from its box
      const gutter = 2.6 * sizes.base; // of the letters
      const count = facts.letters.length - 1;
      left = side ? 0 : gutter;
      unit = (width - gutter) / (SEEN[1] - SEEN[0]);
      top = 1.6 * sizes.base + sizes.marker;
      row = (height - top - 1.2 * sizes.base) / (count + LAST);
      clipped.attr("x", left).attr("width", width - gutter);
      clipped.attr("y", 0).attr("height", height);
      band
        .attr("x", left)
        .attr("width", width - gutter)
        .attr("height", row);
      letters.selectAll("*").remove();
      facts.letters.forEach((letter, index) => {
        const y = top + row * (index < count ? index + 0.5 : count + LAST);
        const at: Point = [side ? width - gutter + 6 : gutter - 6, y];
        textLines(letters, at, [letter], {
          role: "ink",
          anchor: side ? "start" : "end",
          kind: "large",
        });
      });
      for (const one of held) one.handle.radius(sizes.marker);
    },

    /** What moves. */
    move(run: Run, moved: number, travel: number, range: Range) {
      const { marker } = sizes;
      paths.move(run.places, seen, (marker + 2) / 2);
      band.attr("y", top + row * (moved - 1));
      run.places[0].forEach((place, token) => moveStart(place, token));
      moveMeeting(run);
      for (const { handle, level, token } of held) {
        const place = run.places[level][token];
        const come = travel.toFixed(2);
        if (isSeen(place)) handle.to(seen(place, level), travel, `${come} of the way`, range);
        else handle.hide();
      }
    },
  };

  /** The name of a token where it begins; of one that is out of sight, where and how far away. */
  function moveStart(place: number, token: number) {
    const name = `x${SUBSCRIPTS[token]}`;
    const isLeft = place < SEEN[0];
    const [x, y] = seen(isSeen(place) ? place : SEEN[isLeft ? 0 : 1], 0);
    const text = starts[token].attr("x", x).attr("y", y - sizes.marker - 4);
    const says: [string, string] = isSeen(place)
      ? [name, ""]
      : [isLeft ? `← ${name}` : `${name} →`, `, ${facts.far}`];
    text
      .attr("text-anchor", isSeen(place) ? "middle" : isLeft ? "start" : "end")
      .classed("large", isSeen(place))
      .classed("role-focus", !isSeen(place))
      .selectAll("tspan")
      .data(says)
      .join("tspan")
      .classed("nv-exact", (_, index) => index === 1)
      .text((words) => words);
  }

  function moveMeeting(run: Run) {
    const level = meetingOf(run);
    ring.style("display", level === null ? "none" : "inline");
    where.style("display", level === null ? "none" : "inline");
    if (level === null) return;
    const [place] = run.places[level];
    const [x, y] = seen(place, level);
    const isLeft = place < 0.5;
    const beside = 1.2 * sizes.marker + 10;
    ring
      .attr("cx", x)
      .attr("cy", y)
      .attr("r", sizes.marker + 4);
    where
      .attr("x", isLeft ? x + beside : x - beside)
      .attr("y", y + 14 + 0.35 * sizes.base)
      .attr("text-anchor", isLeft ? "start" : "end")
      .text(facts.meets ?? "");
  }
}
