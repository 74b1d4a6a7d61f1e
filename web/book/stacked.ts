/** Charts that stand side by side stand one below the other where the page is narrow. */
import type { Annotation, Layout, LayoutAxis } from "plotly.js/lib/core";

/** Pixels: in a narrower page two charts have no room side by side. */
export const SIDE_BY_SIDE = 700;
const BETWEEN = 130; // pixels: the words of an axis, and below them the headline of the next chart
const ABOVE = 60; // pixels: a headline of two lines
const BESIDE = 60; // pixels: the numbers of an axis
const LETTER = { headline: 8.5, note: 6.3 }; // pixels of a letter

/** From where to where, as shares of the width or of the height. */
type Part = [number, number];

/** A share of the height of one chart → of all. */
type Row = (share: number) => number;

/** How many charts stand side by side. */
export const countSideBySide = (layout: Partial<Layout>): number => columnsOf(layout).length;

/** The layout for a page of this width. */
export function stacked(layout: Partial<Layout>, width: number): Partial<Layout> {
  const columns = columnsOf(layout);
  const count = columns.length;
  if (width >= SIDE_BY_SIDE || count < 2) return layout;
  const height = layout.height! * count + BETWEEN * (count - 1);
  const gap = BETWEEN / height;
  const tall = (1 - gap * (count - 1)) / count;
  const rows = columns.map((_, n): Row => {
    const bottom = 1 - tall * (n + 1) - gap * n;
    return (share) => bottom + tall * share;
  });
  const room = width - BESIDE;
  const axes = axesOf(layout).flatMap(({ x, y }) => {
    const row = rows[columnAt(columns, partOf(x)[0])];
    return [
      [x.name, { ...x.axis, domain: [0, 1], title: brokenTitle(x.axis, room) }],
      [y.name, { ...y.axis, domain: partOf(y).map(row) }],
    ];
  });
  return {
    ...layout,
    ...Object.fromEntries(axes),
    annotations: layout.annotations?.map((note) => moved(note, columns, rows, room)),
    height,
    margin: { ...layout.margin, t: ABOVE },
  };
}

interface Axis {
  name: string;
  axis: Partial<LayoutAxis>;
}

/** Both axes of each chart. */
function axesOf(layout: Partial<Layout>): { x: Axis; y: Axis }[] {
  const all = layout as Record<string, Partial<LayoutAxis> | undefined>;
  const found = (name: string): Axis => ({ name, axis: all[name] ?? {} });
  const names = Object.keys(layout).filter((name) => /^xaxis\d*$/.test(name));
  return names.map((name) => ({ x: found(name), y: found(name.replace("x", "y")) }));
}

const partOf = ({ axis }: Axis): Part => (axis.domain ?? [0, 1]) as Part;

/** The parts of the width that charts have, from left to right. */
function columnsOf(layout: Partial<Layout>): Part[] {
  const parts = axesOf(layout).map(({ x }) => partOf(x));
  parts.sort((one, other) => one[0] - other[0]);
  return parts.filter((part, n) => n === 0 || part[0] >= parts[n - 1][1]);
}

const columnAt = (columns: Part[], x: number): number =>
  Math.max(0, columns.filter(([left]) => left <= x).length - 1);

/** Words at axes go with these; the place of others says over which chart they stand. */
function moved(note: Annotation, columns: Part[], rows: Row[], room: number): Annotation {
  const isHeadline = note.y === 1 && note.text?.startsWith("<b>");
  const isPlaced = /domain|paper/.test(String(note.xref)) && note.xanchor === "left";
  const most = room / (isHeadline ? LETTER.headline : LETTER.note);
  const said: Annotation = isPlaced
    ? { ...note, text: broken(note.text!, most), align: "left" }
    : note;
  if (said.xref !== "paper") return said;
  const x = Number(said.x);
  const n = columnAt(columns, x);
  const [left, right] = columns[n];
  return { ...said, x: (x - left) / (right - left), y: rows[n](Number(said.y)) };
}

function brokenTitle({ title }: Partial<LayoutAxis>, room: number) {
  const { text } = (title ?? {}) as { text?: string };
  return text ? { ...(title as object), text: broken(text, room / LETTER.headline) } : title;
}

/** The text in lines of at most so many letters; its tags count for none. */
const broken = (text: string, most: number): string =>
  text
    .split("<br>")
    .map((line) => brokenLine(line, most))
    .join("<br>");

function brokenLine(line: string, most: number): string {
  let letters = -1; // before the first word stands no space
  return line
    .split(/ (?![^<]*>)/)
    .map((word, n) => {
      const long = word.replace(/<[^>]*>/g, "").length;
      const isFull = n > 0 && letters + 1 + long > most;
      letters = isFull ? long : letters + 1 + long;
      return n === 0 ? word : `${isFull ? "<br>" : " "}${word}`;
    })
    .join("");
}
