/** Two networks, matrix by matrix: above at the start, below now. */
import { scaleLinear } from "d3-scale";
import { handle, type Grip, type Handle } from "../kit/handle";
import type { Matrix } from "../kit/matrix";
import type { Look, Range, Role } from "../kit/picture";
import { luminance } from "../kit/shades";
import { classOf, textLines, viewIn, type Group } from "../kit/view";
import type { MatrixControl, MatrixFacts, VirtualFacts, VirtualPlace } from "./virtual_facts";
import type { Seen } from "./virtual_network";
import { tableOf, type Block, type Column, type Place, type Table } from "./virtual_places";
import { powerOf2, short, signed } from "./virtual_words";

const FRAME = 4; // pixels between a matrix and its frame
const STROKE = 3; // pixels of the frame
const ASIDE = 200; // pixels for the change of basis, beside the others
const KNOB = 6; // pixels: its radius
const FAR = 6; // a factor of 2⁶ leaves one colour, for all that is seen
const LETTER = 0.56; // the width of an average letter, as a share of its height
const ROOM_FOR_NUMBERS = 2.5; // letters high

type Control = MatrixControl["name"];

export interface MatricesOptions extends Pick<Grip, "begin" | "end"> {
  /** A knob was dragged to here. */
  moved(control: Control, value: number): void;
  /** So many steps of the slider. */
  keyed(control: Control, steps: number): void;
}

/** A matrix as cells, which can be filled anew. */
interface Tile {
  fill(matrix: Matrix): void;
}

/** A knob that goes up and down beside a matrix. */
interface Track {
  control: MatrixControl;
  knob: Handle;
  at: number;
  block: Block;
}

export function matricesView(host: HTMLElement, options: MatricesOptions) {
  const { svg, size, measured, headline } = viewIn(host, "matrices");
  host.querySelector(".nv-view-matrices h4")!.classList.add("nv-answer");
  const box = svg.node()!.parentElement!;
  const words = svg.append("g");
  const tiles = svg.append("g");
  const verdicts = svg.append("g").attr("class", "nv-answer");
  const ways = svg.append("g").attr("class", "role-focus");
  const knobs = svg.append("g");
  let matrices: MatrixFacts[] = [];
  let isRescaling = false;
  let look: Look;
  let table: Table;
  let arrangedFor = "";
  let line = 0; // the height of a line of words
  let tilesNow: Record<string, Tile> = {};
  let applied: Tile | null = null;
  let tracks: Track[] = [];

  return {
    size,

    /** What does not move; returns where the matrices stand. */
    draw(facts: VirtualFacts, { parts, C }: Seen, next: Look, ranges: Record<string, Range>) {
      look = next;
      matrices = facts.matrices;
      isRescaling = facts.basis === null;
      const { sizes } = look;
      line = 1.2 * sizes.base;
      headline(facts.says, true);
      const shapes = matrices.map(({ key }) => parts[key].start);
      const columns = matrices.map((one, n) => columnOf(one, shapes[n], n));
      arrange(columns, C && columnOfBasis(C));

      for (const group of [words, tiles, ways, knobs]) group.selectAll("*").remove();
      const last = table.places[matrices.length - 1].block;
      for (const block of table.blocks.slice(0, last + 1)) drawNamesOfRows(block);
      tilesNow = {};
      tracks = [];
      matrices.forEach((one, n) => {
        const place = table.places[n];
        const [top, below] = topsOf(place);
        nameOf(one.name, place, top, "role-ink large bold middle");
        if (one.above) nameOf(one.above, place, below, "role-ink large middle nv-exact");
        tileAt(tiles, shapes[n], place.left, top, one.limit).fill(shapes[n]);
        tilesNow[one.key] = tileAt(tiles, shapes[n], place.left, below, one.limit);
        if (one.control) drawTrack(one.control, place, shapes[n], ranges[one.control.name]);
      });
      applied = null;
      if (facts.basis && C && table.basis) drawBasis(facts.basis, C, table.basis);
      return table;
    },

    /** What moves. */
    move({ parts, C }: Seen, place: VirtualPlace, ranges: Record<string, Range>) {
      verdicts.selectAll("*").remove();
      matrices.forEach((one, n) => {
        const { now, isSame, log } = parts[one.key];
        tilesNow[one.key].fill(now);
        if (one.isStill) drawVerdict(now, table.places[n], isSame);
        else if (isRescaling && Math.abs(log) >= FAR) drawPower(now, table.places[n], log);
      });
      if (C) applied?.fill(C);
      for (const { control, knob, at, block } of tracks) {
        const range = ranges[control.name];
        const value = place[control.name];
        const y = scaleOf(range, block)(value);
        knob.to([at, y], value, `${control.says}: ${signed(value)}`, range);
      }
    },
  };

  /** In a row, if there is room; else in blocks below one another, as high as they have to be. */
  function arrange(columns: Column[], basis: Column | null) {
    const asked = () => JSON.stringify([columns, basis, look.sizes, size()]);
    if (asked() === arrangedFor) return;
    const isNarrow = host.classList.contains("narrow");
    const wasStacked = host.classList.contains("stacked");
    host.classList.toggle("stacked", isNarrow);
    box.style.height = "";
    // Side by side, as when it was measured: to measure it again would be one more layout.
    const [width, height] = isNarrow || wasStacked ? measured() : size();
    const gutter = 4.2 * look.sizes.base;
    const room = {
      width,
      height: isNarrow ? null : height,
      gutter,
      line,
      frame: FRAME + STROKE / 2,
      aside: basis ? ASIDE : 0,
    };
    table = tableOf(columns, basis, room);
    const isStacked = isNarrow || table.blocks.length > 1;
    host.classList.toggle("stacked", isStacked);
    if (isStacked) {
      box.style.height = `${table.blocks.at(-1)!.end}px`;
      measured();
    }
    arrangedFor = asked();
  }

  function wide(text: string) {
    return LETTER * look.sizes.base * text.length;
  }

  function columnOf(one: MatrixFacts, matrix: Matrix, n: number): Column {
    return {
      rows: matrix.length,
      columns: matrix[0].length,
      words: Math.max(wide(one.name), wide(one.longest)),
      hasTrack: one.control !== null,
      startsGroup: n > 0 && one.isStill !== matrices[n - 1].isStill,
    };
  }

  function columnOfBasis(C: Matrix): Column {
    const [rows, columns] = [C.length, C.length];
    return { rows, columns, words: wide("recovered"), hasTrack: false, startsGroup: false };
  }

  /** The tops of a matrix at the start, and of it now. */
  function topsOf({ block }: Place) {
    const { start, now } = table.blocks[block];
    return [start, now];
  }

  function drawNamesOfRows({ start, now }: Block) {
    const kind = "large";
    textLines(words, [0, start], ["○", "start"], { role: "ink", start: "below", kind });
    textLines(words, [0, now], ["●", "now"], { role: "focus", start: "below", kind });
  }

  /** Words above a matrix. */
  function nameOf(text: string, { middle }: Place, top: number, look: string) {
    const y = top - FRAME - 6;
    words.append("text").attr("class", look).attr("x", middle).attr("y", y).text(text);
  }

  function drawBasis(basis: NonNullable<VirtualFacts["basis"]>, C: Matrix, place: Place) {
    const [top, below] = topsOf(place);
    nameOf(basis.name, place, top, "role-ink large bold middle");
    applied = tileAt(tiles, C, place.left, top, basis.limit);
    const { recovered, agrees } = basis;
    if (!recovered) return nameOf("?", place, below, "role-outside large middle nv-exact");
    nameOf("recovered", place, below, "role-ink large middle nv-exact nv-answer");
    const group = tiles.append("g").attr("class", "nv-exact nv-answer");
    tileAt(group, recovered, place.left, below, basis.limit).fill(recovered);
    frame(group, recovered, place.left, below, agrees ? "certified" : "outside");
  }

  /** Where all cells have come to one colour, what they were multiplied by stands over them. */
  function drawPower(matrix: Matrix, place: Place, log: number) {
    const [, below] = topsOf(place);
    const y = below + (table.cell * matrix.length) / 2;
    const look = { role: "ink", anchor: "middle", kind: "large" } as const;
    textLines(verdicts, [place.middle, y], [powerOf2(log)], look);
  }

  /** Frames around what should stand still, and whether it does. */
  function drawVerdict(matrix: Matrix, place: Place, isSame: boolean) {
    const [top, below] = topsOf(place);
    const role = isSame ? "certified" : "outside";
    frame(verdicts, matrix, place.left, top, role);
    frame(verdicts, matrix, place.left, below, role);
    verdicts
      .append("text")
      .attr("class", `${classOf(role)} large bold middle`)
      .attr("x", place.middle)
      .attr("y", below - FRAME - 6)
      .text(isSame ? "same" : "moved");
  }

  function frame(group: Group, matrix: Matrix, left: number, top: number, role: Role) {
    group
      .append("rect")
      .attr("class", `frame ${classOf(role)}`)
      .attr("x", left - FRAME)
      .attr("y", top - FRAME)
      .attr("width", table.cell * matrix[0].length + 2 * FRAME)
      .attr("height", table.cell * matrix.length + 2 * FRAME);
  }

  function tileAt(parent: Group, shape: Matrix, left: number, top: number, limit: number): Tile {
    const { cell } = table;
    const columns = shape[0].length;
    const stops = [-limit, -limit / 2, 0, limit / 2, limit];
    const shade = scaleLinear<string>().domain(stops).range(look.diverging).clamp(true);
    const group = parent.append("g").attr("transform", `translate(${left} ${top})`);
    const x = (n: number) => cell * (n % columns);
    const y = (n: number) => cell * Math.floor(n / columns);
    const hasNumbers = cell >= ROOM_FOR_NUMBERS * look.sizes.note;
    return {
      fill(matrix) {
        const entries = matrix.flat();
        group
          .selectAll("rect")
          .data(entries)
          .join("rect")
          .attr("x", (_, n) => x(n) + 1)
          .attr("y", (_, n) => y(n) + 1)
          .attr("width", cell - 2)
          .attr("height", cell - 2)
          .attr("fill", shade);
        group
          .selectAll("text")
          .data(hasNumbers ? entries : [])
          .join("text")
          .attr("class", (entry) => `middle ${classOf(lettersOn(shade(entry), look))}`)
          .attr("x", (_, n) => x(n) + cell / 2)
          .attr("y", (_, n) => y(n) + cell / 2)
          .attr("dominant-baseline", "central")
          .text(short);
      },
    };
  }

  function scaleOf([least, most]: Range, { now, track }: Block) {
    return scaleLinear([least, most], [now + track, now]);
  }

  function drawTrack(control: MatrixControl, place: Place, matrix: Matrix, range: Range) {
    const block = table.blocks[place.block];
    const at = place.left + table.cell * matrix[0].length + 12;
    const scale = scaleOf(range, block);
    const way = `M${at} ${block.now}V${block.now + block.track}M${at - 4} ${scale(0)}h8`;
    ways.append("path").attr("class", "way").attr("d", way);
    const knob = handle(knobs.append("g"), {
      name: control.says,
      begin: options.begin,
      end: options.end,
      moved: ([, y]) => options.moved(control.name, scale.invert(y)),
      keyed: (right, up) => options.keyed(control.name, right || up),
    });
    knob.radius(KNOB);
    tracks.push({ control, knob, at, block });
  }
}

/** The letters that stand out more on a colour. */
function lettersOn(color: string, { colors }: Look): Role {
  const [ground, ink, behind] = [colors.ground, colors.ink, color].map(luminance);
  return contrast(ink, behind) >= contrast(ground, behind) ? "ink" : "ground";
}

/** As WCAG 2.2 has it. */
const contrast = (one: number, other: number) =>
  (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
