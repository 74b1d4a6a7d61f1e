/**
 * Where the matrices stand: side by side, and where that is too wide, in blocks below one another.
 * All cells have one size. Lengths are in pixels.
 */

/** A matrix before and after, as a column of the table. */
export interface Column {
  rows: number;
  columns: number;
  /** The width of the longest of its words. */
  words: number;
  /** Whether something is dragged at its right. */
  hasTrack: boolean;
  /** Whether a gap keeps it apart from the column before it. */
  isFirst: boolean;
}

/** The room that there is. */
export interface Room {
  width: number;
  /** Null: as high as it has to be. */
  height: number | null;
  /** At the left, for the names of the rows. */
  gutter: number;
  /** The height of a line of words. */
  line: number;
}

export interface Place {
  left: number;
  middle: number;
  block: number;
}

export interface Table {
  cell: number;
  places: Place[];
  blocks: number;
  /** From the top of a block: the matrices at the start, and those now. */
  start: number;
  now: number;
  /** The length of a track. */
  track: number;
  blockHeight: number;
}

const LARGEST = 46;
const LEAST = 5;
const IN_BLOCKS = 18; // a cell where the table is as high as it has to be
const GAP = 18; // between two columns
const LEAST_GAP = 6; // where there is little room
const WIDE_GAP = 34; // between two groups of them
const TRACK = 50; // the least length of a track
const LONG_TRACK = 110; // where a finger has to find its steps
const BESIDE = 22; // for a track
const EDGE = 8; // below the last row, for a frame

export function tableOf(columns: Column[], room: Room): Table {
  if (room.height === null) return inBlocks(columns, room);
  for (const gap of [GAP, LEAST_GAP]) {
    for (let cell = LARGEST; cell >= LEAST; cell -= 0.5) {
      const table = inARow(columns, room, cell, gap);
      if (table) return table;
    }
  }
  return inBlocks(columns, room);
}

/** All columns side by side; null where they have no room with such cells. */
function inARow(columns: Column[], room: Room, cell: number, gap: number): Table | null {
  const heights = heightsOf(columns, room, cell, TRACK);
  if (heights.blockHeight > room.height!) return null;
  const places: Place[] = [];
  let end = room.gutter - gap;
  for (const column of columns) {
    const slot = slotOf(column, cell);
    const left = end + (column.isFirst ? Math.max(gap, WIDE_GAP) : gap);
    places.push({ ...placeOf(column, cell, left), block: 0 });
    end = left + slot;
  }
  return end > room.width ? null : { cell, places, blocks: 1, ...heights };
}

/** As many columns in a block as it has room for, and a new block for each group. */
function inBlocks(columns: Column[], room: Room): Table {
  const cell = IN_BLOCKS;
  const places: Place[] = [];
  let block = 0;
  let end = room.gutter;
  columns.forEach((column, n) => {
    const slot = slotOf(column, cell);
    if (n && (column.isFirst || end + slot > room.width)) {
      block++;
      end = room.gutter;
    }
    places.push({ ...placeOf(column, cell, end), block });
    end += slot + GAP;
  });
  return { cell, places, blocks: block + 1, ...heightsOf(columns, room, cell, LONG_TRACK) };
}

/** How wide a column is, with its words. */
const slotOf = ({ columns, words, hasTrack }: Column, cell: number) =>
  Math.max(cell * columns + (hasTrack ? BESIDE : 0), words);

function placeOf(column: Column, cell: number, left: number) {
  const wide = cell * column.columns + (column.hasTrack ? BESIDE : 0);
  const begin = left + (slotOf(column, cell) - wide) / 2;
  return { left: begin, middle: begin + (cell * column.columns) / 2 };
}

function heightsOf(columns: Column[], { line }: Room, cell: number, least: number) {
  const tall = cell * Math.max(...columns.map(({ rows }) => rows));
  const hasTrack = columns.some((column) => column.hasTrack);
  const track = hasTrack ? Math.max(tall, least) : 0;
  const now = line + tall + line;
  return { start: line, now, track, blockHeight: now + Math.max(tall, track) + EDGE };
}
