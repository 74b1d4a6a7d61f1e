/**
 * Two tokens on their line, layer by layer, and beside them the square of shares (μ, ν) of each
 * layer.
 */
import { line } from "d3-shape";
import type { Look, Point, Role } from "../kit/picture";
import { classOf, textLines, viewIn } from "../kit/view";
import type { Formulas, LayerFacts, Mode, TokenFacts } from "./immersion_facts";
import { Frame } from "./immersion_frame";
import { handsIn, type Hands } from "./immersion_hands";
import { SUBSCRIPTS, tokenPaths } from "./token_paths";
import { meetingOf, type Run } from "./two_tokens";

/** What is seen now; also on the way between two places of the controls. */
export interface Now {
  run: Run;
  /** What the reader asks of each layer, and what is done to it. */
  asked: Mode[];
  modes: Mode[];
  /** How many layers the tokens have run through that are on their way; null if none are. */
  running: number | null;
}

export function tokensView(host: HTMLElement, options: Hands) {
  const { svg, size, headline } = viewIn(host, "tokens");
  host.querySelector(".nv-view-tokens h4")!.classList.add("nv-answer");
  const levels = svg.append("path").attr("class", "level");
  const equal = svg.append("path").attr("class", "equal");
  const lines = svg.append("g");
  const own = svg.append("path").attr("class", "role-focus own");
  const paths = tokenPaths(lines, svg.append("g"));
  const starts = svg.append("g");
  const layers = svg.append("g");
  const buttons = svg.append("g");
  const dots = svg.append("g").attr("class", "role-focus");
  const running = svg.append("g").attr("class", "running");
  const hands = handsIn(buttons, svg.append("g"), options);

  let frame: Frame;
  let isCausal = false;
  let radius = 5; // of a token
  let words: TokenFacts;

  return {
    /** New layers: what one takes hold of. */
    build(formulas: Formulas) {
      isCausal = formulas.causal;
      hands.build(formulas);
    },

    /** What does not move. */
    draw(facts: TokenFacts, { sizes }: Look) {
      words = facts;
      headline(facts.says, true);
      const count = facts.layers.length;
      frame = new Frame(size(), count, sizes);
      radius = (sizes.marker + 2) / 2;
      const steps = Array.from({ length: count + 1 }, (_, level) => level);
      const rules = steps.map((level) => line()([frame.seen(0, level), frame.seen(1, level)]));
      levels.attr("d", rules.join(""));
      starts.selectAll("*").remove();
      for (const token of [0, 1]) {
        const look = { role: "ink", anchor: "middle", start: "above", kind: "large" } as const;
        textLines(starts, [0, 0], [`x${SUBSCRIPTS[token]}`], look);
      }
      layers.selectAll("*").remove();
      facts.layers.forEach((one, index) => drawLayer(index + 1, one, sizes.note));
      hands.draw(frame, sizes.marker);
    },

    /** What moves. */
    move(now: Now) {
      const { places, shares } = now.run;
      paths.move(places, frame.seen, radius);
      const met = meetingOf(now.run) ?? places.length;
      const together = places.slice(met).map(([s], index) => frame.seen(s, met + index));
      equal.attr("d", line()(together));
      own.attr("d", waysOf(now).map(line()).join(""));
      starts.selectAll("text").attr("transform", (_, token) => {
        const [x, y] = frame.seen(places[0][token], 0);
        return `translate(${x} ${y - 2 * radius - 2})`;
      });
      dots
        .selectAll("circle")
        .data(shares.map((one, index) => frame.inSquare(index + 1, one)))
        .join("circle")
        .attr("cx", ([x]) => x)
        .attr("cy", ([, y]) => y)
        .attr("r", radius + 2);
      moveRunning(now);
      nameLayers(now);
      hands.move(now.run);
    },
  };

  /** The ways of both tokens through the layers that the reader sets. */
  function waysOf({ run, modes }: Now): Point[][] {
    return modes.flatMap((mode, index) => {
      if (mode === "true") return [];
      const [before, after] = [run.places[index], run.places[index + 1]];
      return [0, 1].map((token) => [
        frame.seen(before[token], index),
        frame.seen(after[token], index + 1),
      ]);
    });
  }

  function drawLayer(layer: number, says: LayerFacts, note: number) {
    const [left, low] = frame.corner(layer);
    const [wide, tall] = frame.square;
    const top = low - tall;
    const group = layers.append("g").attr("class", "layer");
    const rect = (look: string, x: number, width: number) =>
      group
        .append("rect")
        .attr("class", look)
        .attr("x", x)
        .attr("y", top)
        .attr("width", width)
        .attr("height", tall);
    rect("shares", left, wide);
    rect(`band ${classOf(`layer ${layer}` as Role)}`, frame.words - 13, 7);
    const soft = { role: "soft", start: "below" } as const;
    textLines(group, [left - 3, top], ["ν"], { ...soft, anchor: "end" });
    if (!isCausal) {
      textLines(group, [left + wide + 3, low - 1.2 * note], ["μ"], soft);
      const diagonal = `M${left} ${top}L${left + wide} ${low}`;
      group.append("path").attr("class", "meeting").attr("d", diagonal);
    }

    const lines = linesOf(says, frame.isRoomy);
    const first = low - tall / 2 - 0.6 * note * lines.length;
    textLines(group, [frame.words, first], [""], { role: "ink", kind: "name" });
    lines.forEach(([known, answer], row) => {
      const at: Point = [frame.words, first + 1.2 * note * (row + 1)];
      textLines(group, at, [known], { role: "ink", isExact: true });
      const line = group.select("text:last-of-type tspan");
      line.append("tspan").attr("class", "nv-answer").text(answer);
    });
  }

  function nameLayers({ asked, modes }: Now) {
    layers.selectAll<SVGTextElement, unknown>(".name").each(function (_, index) {
      const isTied = asked[index] !== modes[index];
      const role = isTied ? "outside" : modes[index] === "true" ? "ink" : "focus";
      this.classList.remove("role-ink", "role-outside", "role-focus");
      this.classList.add(classOf(role));
      this.firstElementChild!.textContent = nameOf(index + 1, isTied ? "tied" : modes[index]);
    });
    hands.name((layer) => {
      const mode = modes[layer - 1];
      const press = mode === "frozen" ? `have it ${words.modes.true}` : "freeze it";
      return `${nameOf(layer, mode)}; press to ${press}`;
    });
  }

  function nameOf(layer: number, mode: Mode | "tied"): string {
    return `layer ${layer}: ${words.modes[mode]}`;
  }

  function moveRunning({ run, running: level }: Now) {
    const points = level === null ? [] : runningAt(run, level);
    running
      .selectAll("circle")
      .data(points)
      .join("circle")
      .attr("class", (_, token) => (token ? "two" : "one"))
      .attr("cx", ([x]) => x)
      .attr("cy", ([, y]) => y)
      .attr("r", 2 * radius - 2);
  }

  /** Both tokens after so many layers, which may be no whole number. */
  function runningAt({ places }: Run, level: number): Point[] {
    const last = Math.min(Math.floor(level), places.length - 2);
    return [0, 1].map((token) => {
      const [from, to] = [places[last][token], places[last + 1][token]];
      return frame.seen(from + (level - last) * (to - from), level);
    });
  }
}

/** Lines of words about a layer: what is known, and what answers a question. */
function linesOf({ numbers, does }: LayerFacts, isRoomy: boolean): [string, string][] {
  const answer = does.join(": ");
  if (!numbers) return isRoomy ? [["", answer]] : does.map((text) => ["", text]);
  if (isRoomy) return [[numbers, answer && `: ${answer}`]];
  return [[numbers, ""], ...does.map((text): [string, string] => ["", text])];
}
