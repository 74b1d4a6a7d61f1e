/**
 * One term: its factors in a row, the tokens between them, and the window of tokens that is turned
 * round, by a ring that goes down.
 */
import { grip, handle, type Grip } from "../kit/handle";
import type { Look, Role } from "../kit/picture";
import { classOf, viewIn, type Group } from "../kit/view";
import type { Formulas, UnrolledFacts, UnrolledPlace } from "./unrolled_facts";
import { BAR, barAt, detailOf, rowsOf, tokenAt } from "./unrolled_places";
import type { Detail, Leaves, Rows } from "./unrolled_places";
import type { Shown, Term } from "./unrolled_term";
import { becomes, linkOf, nameOf, number, tokenOf } from "./unrolled_words";

const HATCH = 9; // pixels between two lines
const ROOM = 8; // pixels above and below the factors that belong to them

export interface TermOptions extends Pick<Grip, "begin" | "end"> {
  picked(place: number): void;
  /** By the arrow keys. */
  stepped(by: number): void;
  /** How far the window was turned round, from 0 to 1, and that it was let go. */
  turned(share: number): void;
  letGo(): void;
  /** Turned round, or back, by the arrow keys. */
  reflected(isTurned: boolean): void;
}

/** A row of tokens: its height, that of the window's tokens, and how they are turned. */
interface TokenRow {
  y: number;
  ahead: number;
  opacity: number;
  /** From 1 to −1, as the window turns about its axis. */
  flip: number;
  axis: number;
}

export function termView(host: HTMLElement, options: TermOptions) {
  const { svg, measured, headline } = viewIn(host, "term");
  const box = svg.node()!.parentElement!;
  const hatch = `nv-hatch-${Math.random().toString(36).slice(2)}`;
  drawHatch();
  const strip = svg.append("g");
  const places = svg
    .append("g")
    .attr("class", "places")
    .attr("role", "slider")
    .attr("aria-label", "place k")
    .attr("tabindex", 0);
  const room = places.append("rect").attr("fill", "transparent");
  const ring = handle(svg.append("g"), {
    name: "turn the window round",
    begin: options.begin,
    moved: ([, y]) => {
      const share = (y - rows.tokens) / (rows.tokensAfter - rows.tokens);
      options.turned(Math.max(0, Math.min(1, share)));
    },
    end: options.letGo,
    keyed: (right, up) => options.reflected((right || -up) > 0),
  });
  let look: Look;
  let x: Leaves;
  let rows: Rows;
  let detail: Detail;
  let width = 0;
  let formulas: Formulas;

  const pickNearest = ([left]: [number, number]) => {
    options.picked(Math.round((x.invert(left) + 0.5) / 2));
  };
  grip(places, {
    begin(at) {
      options.begin?.(at);
      pickNearest(at);
    },
    moved: pickNearest,
    end: options.end,
  });
  places.on("blur", () => places.classed("by-pointer", false));
  places.on("keydown", (event: KeyboardEvent) => {
    const steps: Record<string, number> = {
      ArrowLeft: -1,
      ArrowRight: 1,
      ArrowUp: 1,
      ArrowDown: -1,
    };
    const step = steps[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    places.classed("by-pointer", false);
    options.stepped((event.shiftKey ? 10 : 1) * step);
  });

  return {
    /** Its headline and its height; returns how far down the factors go, in its SVG. */
    begin(facts: UnrolledFacts, leaves: Leaves, next: Look): number {
      look = next;
      x = leaves;
      formulas = facts.formulas;
      const isNarrow = host.classList.contains("narrow");
      headline(facts.term.says, true);
      detail = detailOf(x, look);
      rows = rowsOf(look, isNarrow, detail === "labelled");
      box.style.height = `${rows.height}px`;
      ring.radius(detail === "labelled" ? 9 : 5);
      return rows.bars + rows.high + 3;
    },

    /** What does not move: where the factors can be picked. */
    draw(count: number) {
      [width] = measured();
      const half = (x(BAR) - x(0)) / 2;
      const [left, right] = [x(barAt(1)) - half, x(barAt(count)) + half];
      room
        .attr("x", left)
        .attr("y", rows.bars - ROOM)
        .attr("width", right - left)
        .attr("height", rows.high + 2 * ROOM);
    },

    /** What moves; `turn` is how far the window is turned round, from 0 to 1. */
    move(shown: Shown, { place }: UnrolledPlace, turn: number) {
      strip.selectAll("*").remove();
      const { focus, term, turned, factors } = shown;
      const axis = x(barAt(place));
      const ahead = rows.tokens + turn * (rows.tokensAfter - rows.tokens);

      drawFactors(shown, term, [rows.bars, rows.values, rows.result], 1, false);
      const inRow = { y: rows.tokens, ahead: rows.tokens, opacity: 1, flip: 1, axis };
      drawTokens(shown, inRow);
      if (turn > 0) {
        drawFactors(
          shown,
          turned,
          [rows.barsAfter, rows.valuesAfter, rows.resultAfter],
          turn,
          true,
        );
        // The tokens are the same: the window has turned about its axis.
        const flip = Math.cos(Math.PI * turn);
        const opacity = 0.4 + 0.6 * turn;
        drawTokens(shown, { y: rows.tokensAfter, ahead, opacity, flip, axis });
        drawMoves(shown, turn);
      } else {
        if (!formulas.isOfTwo) drawFold(shown, axis);
        drawDigits(shown);
      }
      drawNames(turn > 0);

      const { link } = linkOf(shown, formulas);
      places
        .attr("aria-disabled", String(formulas.isOfTwo))
        .attr("aria-valuemin", 1)
        .attr("aria-valuenow", focus)
        .attr("aria-valuemax", factors.length)
        .attr("aria-valuetext", `place ${focus}: ${link}`);
      if (formulas.isOfTwo) ring.hide();
      else {
        const words = turn > 0.5 ? "turned round" : "as it is";
        ring.to([axis, ahead], Math.round(100 * turn) / 100, words, [0, 1, 1]);
      }
    },
  };

  function said(value: number) {
    return number(value, formulas.nothing);
  }

  function text(parent: Group, words: string, at: [number, number], role: Role, kind = "middle") {
    return parent
      .append("text")
      .attr("class", `${kind} ${classOf(role)}`)
      .attr("x", at[0])
      .attr("y", at[1])
      .attr("dy", "0.35em")
      .text(words);
  }

  /** The factors in their row, their numbers, and what these give together. */
  function drawFactors(
    { factors, focus }: Shown,
    { tokens, start, values, value }: Term,
    [top, low, end]: [bars: number, values: number, result: number],
    opacity: number,
    isTurned: boolean,
  ) {
    const group = strip.append("g").attr("opacity", opacity);
    const wide = x(BAR) - x(0);
    const middle = top + rows.high / 2;
    const head = x(0) - Math.min(14, 0.35 * (x(1) - x(0)));
    const isLabelled = detail === "labelled";
    if (detail !== "bare") text(group, "L", [head, middle], "ink", "middle large bold");
    factors.forEach((factor, n) => {
      const at = x(barAt(n + 1));
      const isHere = n + 1 === focus;
      const bar = (fill: string) =>
        group
          .append("rect")
          .attr("class", fill)
          .attr("x", at - wide / 2)
          .attr("y", top)
          .attr("width", wide)
          .attr("height", rows.high);
      const color = classOf(`layer ${factor.layer}` as Role);
      bar(`factor ${color}`);
      if (factor.isTransposed) bar("").attr("fill", `url(#${hatch})`);
      bar(`frame ${isHere ? "here role-focus" : "role-ink"}`);
      if (!isLabelled) return;
      // A plate under the name, where there are lines.
      const plate = 2 * look.sizes.base;
      if (factor.isTransposed) {
        bar(`factor ${color}`)
          .attr("x", at - plate / 2)
          .attr("width", plate)
          .attr("y", top + 3)
          .attr("height", rows.high - 6);
      }
      const letters = factor.layer <= 2 ? "ink" : "ground";
      text(group, nameOf(factor), [at, middle], letters as Role, "middle large bold");
      const isNew = isTurned && isHere && tokens[focus - 1] !== tokens[focus];
      const kind = isNew ? "middle bold" : "middle";
      text(group, said(values[n]), [at, low], isNew ? "focus" : "ink", kind);
    });
    if (isLabelled) text(group, said(start), [head, low], "ink");
    const [right, kind] = resultAt();
    text(group, `= ${said(value)}`, [right, end], "ink", `${kind} large bold nv-label`);
  }

  /** Beside the row, or at the end of its own one. */
  function resultAt(): [number, string] {
    if (host.classList.contains("narrow")) return [width, "end"];
    return [x.range()[1] + 0.6 * look.sizes.base, "start"];
  }

  /** The tokens of the window are on their way over; the others stand in both rows. */
  function drawTokens(
    { window: [first, last], focus, term }: Shown,
    { y, ahead, opacity, flip, axis }: TokenRow,
  ) {
    const { tokens } = term;
    const { isOfTwo } = formulas;
    const isIn = (n: number) =>
      isOfTwo ? n === tokens.length - 1 : n + 1 >= first && n + 1 <= last;
    const at = tokens.map((_, n) => {
      const own = x(tokenAt(n + 1));
      return isIn(n) && !isOfTwo ? axis + (own - axis) * flip : own;
    });
    const group = strip.append("g").attr("opacity", opacity);
    if (!isOfTwo) {
      const [from, to] = [at[first - 1], at[last - 1]];
      group.append("path").attr("class", "window role-focus").attr("d", `M${from} ${ahead}H${to}`);
    }
    tokens.forEach((token, n) => {
      const isJoined = n + 1 === focus || n === focus;
      const { note } = look.sizes;
      const radius = { labelled: note, numbered: 0.62 * note, bare: 2.5 }[detail];
      const place: [number, number] = [at[n], isIn(n) ? ahead : y];
      const circle = (kind: string) =>
        group
          .append("circle")
          .attr("class", kind)
          .attr("cx", place[0])
          .attr("cy", place[1])
          .attr("r", radius);
      if (detail === "bare") {
        circle(`factor ${classOf(isJoined ? "focus" : isIn(n) ? "ink" : "soft")}`);
        return;
      }
      circle("ground");
      if (isJoined) circle("factor joined role-focus");
      if (detail === "labelled") circle(isIn(n) ? "token in role-focus" : "token role-axis");
      const isSpelled = isOfTwo || detail === "labelled";
      text(group, isSpelled ? tokenOf(token, term, formulas) : String(token + 1), place, "ink");
    });
  }

  /** Where each number of the window has gone, and what has become of the factor. */
  function drawMoves({ window: [first, last], focus, factors, term, turned }: Shown, turn: number) {
    const reach = (last - first + 1) / 2;
    const [top, low] = [rows.values + 8, rows.valuesAfter - 8];
    const group = strip.append("g");
    for (let step = 1 - reach; step < reach; step++) {
      if (step === 0) continue;
      const [from, to] = [x(barAt(focus + step)), x(barAt(focus - step))];
      group
        .append("path")
        .attr("class", "moved")
        .attr("opacity", turn)
        .attr("d", `M${from} ${top}L${to} ${low}`);
    }
    const half = 2.7 * look.sizes.base;
    const axis = Math.max(half, Math.min(width - half, x(barAt(focus))));
    const words = strip.append("g").attr("opacity", turn ** 6);
    words
      .append("rect")
      .attr("class", "ground")
      .attr("x", axis - half)
      .attr("y", rows.middle - 0.65 * look.sizes.base)
      .attr("width", 2 * half)
      .attr("height", 1.3 * look.sizes.base);
    text(
      words,
      becomes(factors[focus - 1]),
      [axis, rows.middle],
      "focus",
      "middle large bold nv-label",
    );
    const [right, kind] = resultAt();
    const sum = text(strip, "sum ", [right, rows.middle], "ink", `${kind} large nv-label`);
    sum
      .append("tspan")
      .attr("class", "bold")
      .text(said(term.value + turned.value));
  }

  /** Where the window would be turned round. */
  function drawFold({ window: [first, last] }: Shown, axis: number) {
    const [from, to] = [x(tokenAt(first)), x(tokenAt(last))];
    const [top, low] = [rows.digits + look.sizes.note, rows.tokensAfter];
    strip
      .append("path")
      .attr("class", "fold")
      .attr("d", `M${axis} ${top}V${low}M${from} ${low}H${to}`);
  }

  /** The places in base 3, the digit bold that tells whether M is transposed; of many, one. */
  function drawDigits({ factors, focus }: Shown) {
    factors.forEach(({ digits, kept }, n) => {
      const isHere = n + 1 === focus;
      if (detail !== "labelled" && !isHere) return;
      const at: [number, number] = [x(barAt(n + 1)), rows.digits];
      const words = text(strip, kept.slice(0, -1), at, isHere ? "focus" : "soft");
      words.append("tspan").attr("class", "bold").text(kept.at(-1)!);
      words.append("tspan").text(digits.slice(kept.length));
    });
  }

  function drawNames(isTurning: boolean) {
    const { names } = rows;
    const said: [string, number][] = [["tokens", names.tokens]];
    if (detail === "labelled") said.push(["values", names.values]);
    said.push(isTurning ? ["turned", names.turned] : ["k in base 3", names.digits]);
    for (const [name, y] of said) text(strip, name, [0, y], "soft", "start");
  }

  function drawHatch() {
    const pattern = svg
      .append("defs")
      .append("pattern")
      .attr("id", hatch)
      .attr("width", HATCH)
      .attr("height", HATCH)
      .attr("patternUnits", "userSpaceOnUse")
      .attr("patternTransform", "rotate(45)");
    pattern
      .append("rect")
      .attr("class", "hatch")
      .attr("width", HATCH / 5)
      .attr("height", HATCH);
  }
}
