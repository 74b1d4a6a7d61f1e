/** What the experiments leave hidden: stacked bars, one colour for each matrix, that fall to 0. */
import type { Look, Point, Role } from "../kit/picture";
import { classOf, textLines, viewIn, type Group, type Svg } from "../kit/view";
import type { Column, HiddenFacts } from "./immersion_facts";

const WIDE = 0.74; // of a column: its bar
const GAP = 0.45; // of a column, between the proof's experiments and the columns beside them
const LEAST = 0.05; // of the highest bar: an empty frame needs a height, too
const ROOMY = 3.9; // letters: narrower columns lie, as their names would touch one another
const HATCH = 9; // pixels between two lines

/** Bars stand beside one another, or lie below one another; each has its middle. */
interface Frame {
  isLying: boolean;
  /** Pixels of a column, and of one silent direction. */
  column: number;
  unit: number;
  /** Where bars begin: at the bottom, or on the left. */
  base: number;
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export function hiddenView(host: HTMLElement) {
  const { svg, size, headline } = viewIn(host, "hidden");
  host.querySelector(".nv-view-hidden h4")!.classList.add("nv-answer");
  const hatching = hatchingIn(svg);
  const all = svg.append("g");

  return {
    draw(facts: HiddenFacts, { sizes }: Look) {
      const { columns, relation } = facts;
      headline(facts.says, false);
      all.selectAll("*").remove();
      const [width, height] = size();
      const isLying = width / (columns.length + GAP) < ROOMY * sizes.note;
      const head = relation ? 1.9 * sizes.base : 0;
      if (relation) {
        const look = { role: "outside", anchor: "end", start: "below" } as const;
        textLines(all, [width, 0], [`▨ ${relation}`], { ...look, kind: "large nv-answer" });
      }

      const most = columns[0].silent;
      const numbers = 2.2 * sizes.base;
      const names = (isLying ? 11.5 : 4.6) * sizes.note;
      const free = (isLying ? width : height - head) - names - numbers;
      const frame: Frame = {
        isLying,
        column: (isLying ? height - head : width) / (columns.length + GAP),
        unit: free / most,
        base: isLying ? names : height - names,
      };
      const first = isLying ? head : 0;
      const beside = columns.length - 2; // columns that are no part of the proof
      columns.forEach((column, index) => {
        const middle = first + (index + 0.5 + (index < beside ? 0 : GAP)) * frame.column;
        drawColumn(column, facts.matrices, frame, middle, LEAST * most, sizes);
      });

      const rule = first + (beside + GAP / 2) * frame.column;
      const { base, unit } = frame;
      const line = isLying ? `M${base} ${rule}H${width}` : `M${rule} ${base}V${base - most * unit}`;
      all.append("path").attr("class", "beside").attr("d", line);
    },
  };

  function drawColumn(
    column: Column,
    matrices: string[],
    frame: Frame,
    middle: number,
    least: number,
    sizes: Look["sizes"],
  ) {
    const isHere = column.kind === "here"; // the others do not depend on what the reader sets
    const group = all.append("g").attr("class", `column column-${column.kind}`);
    const bar = group.append("g").classed("nv-exact", isHere);
    let low = 0;
    column.blocks.forEach((height, block) => {
      const box = boxOf(frame, middle, low, height);
      drawBlock(bar, box, block ? classOf(`layer ${block}` as Role) : "block-L", column.possible);
      if (height * frame.unit > 1.2 * sizes.base) {
        const at: Point = [box.x + box.width / 2, box.y + box.height / 2];
        const look = { role: "ink", anchor: "middle", kind: `letter letter-${block}` } as const;
        textLines(bar, at, [matrices[block]], look);
      }
      low += height;
    });
    drawBlock(bar, boxOf(frame, middle, low, column.mixed), "block-mixed", column.possible);

    const end = isHere ? Math.max(column.silent, least) : column.silent;
    if (isHere) drawRect(bar, grown(boxOf(frame, middle, 0, end), 2), "frame");
    const away = end * frame.unit + 6;
    textLines(
      group,
      frame.isLying ? [frame.base + away, middle] : [middle, frame.base - away],
      [String(column.silent)],
      {
        role: isHere ? "focus" : column.fails ? "outside" : "ink",
        anchor: frame.isLying ? "start" : "middle",
        start: frame.isLying ? "middle" : "above",
        kind: "count",
        isExact: isHere,
      },
    );

    const look = {
      role: isHere ? "focus" : column.possible ? "ink" : "outside",
      kind: isHere ? "bold" : "",
    } as const;
    if (frame.isLying) textLines(group, [0, middle], [nameInOneLine(column)], look);
    else
      textLines(group, [middle, frame.base + 5], namesBelow(column), {
        ...look,
        anchor: "middle",
        start: "below",
      });
  }

  function drawBlock(group: Group, box: Box, look: string, isPossible: boolean) {
    if (!box.width || !box.height) return;
    drawRect(group, box, `block ${look}`);
    if (!isPossible) drawRect(group, box, "hatched").attr("fill", hatching);
  }
}

/** The box of `count` silent directions on top of `below` others. */
function boxOf(frame: Frame, middle: number, below: number, count: number): Box {
  const { isLying, column, unit, base } = frame;
  const wide = WIDE * column;
  const side = middle - wide / 2;
  const start = below * unit;
  const length = count * unit;
  if (isLying) return { x: base + start, y: side, width: length, height: wide };
  return { x: side, y: base - start - length, width: wide, height: length };
}

const grown = ({ x, y, width, height }: Box, by: number): Box => ({
  x: x - by,
  y: y - by,
  width: width + 2 * by,
  height: height + 2 * by,
});

function drawRect(group: Group, { x, y, width, height }: Box, look: string) {
  const rect = group.append("rect").attr("class", look).attr("x", x).attr("y", y);
  return rect.attr("width", width).attr("height", height);
}

function namesBelow({ lines, sees, possible }: Column): string[] {
  const last = lines.length - 1;
  // The longer line has no room for a sign.
  const signed = lines.map((text, row) => {
    const isSigned = !possible && row === (lines[0] === "all" ? 0 : last);
    return isSigned ? `▨ ${text}` : text;
  });
  if (!sees) return signed;
  const seen = sees.join(", ") || "–";
  return [...signed, sees.length === 1 ? `sees ${seen}` : seen];
}

function nameInOneLine({ lines, sees, possible }: Column): string {
  const name = `${possible ? "" : "▨ "}${lines.join(" ")}`;
  return sees?.length ? `${name}, sees ${sees.join(", ")}` : name;
}

/** A pattern of slanted lines, as the paint of a rectangle. */
function hatchingIn(svg: Svg): string {
  const id = `nv-hatched-${Math.random().toString(36).slice(2)}`;
  svg
    .append("defs")
    .append("pattern")
    .attr("id", id)
    .attr("width", HATCH)
    .attr("height", HATCH)
    .attr("patternUnits", "userSpaceOnUse")
    .append("path")
    .attr("class", "role-outside")
    .attr(
      "d",
      `M0 ${HATCH}L${HATCH} 0M-1 1L1 -1M${HATCH - 1} ${HATCH + 1}L${HATCH + 1} ${HATCH - 1}`,
    );
  return `url(#${id})`;
}
