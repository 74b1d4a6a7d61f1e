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
  /** Whether a wide gap keeps it apart from the column before it. */
  startsGroup: boolean;
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
  /** Around a matrix, for its frame. */
  frame: number;
  /** At the right of a row, for the change of basis; 0 where there is none. */
  aside: number;
}

export interface Place {
  left: number;
  middle: number;
  /** Its number, from 0. */
  block: number;
}

/** Columns side by side; its lengths are from the top of the picture. */
export interface Block {
  top: number;
  /** The tops of the matrices at the start, and of those now. */
  start: number;
  now: number;
  end: number;
  /** The length of a track. */
  track: number;
}

export interface Table {
  cell: number;
  places: Place[];
  blocks: Block[];
  /** Where the change of basis stands. */
  basis: Place | null;
}

const LARGEST = 46;
const LEAST = 5;
const IN_BLOCKS = [18, 17, 16, 15, 14]; // cells where the table is as high as it has to be
const GAP = 18; // between two columns
const LEAST_GAP = 13; // where there is little room
const WIDE_GAP = 34; // between two groups of them
const TRACK = 50; // the least length of a track
const LONG_TRACK = 110; // where a finger has to find its steps
const BESIDE = 22; // for a track

/** Where columns stand, and `basis`, the change of basis beside or below them. */
export function tableOf(columns: Column[], basis: Column | null, room: Room): Table {
  if (room.height === null) return inBlocks(columns, basis, room);
  for (const gap of [GAP, LEAST_GAP]) {
    for (let cell = LARGEST; cell >= LEAST; cell -= 0.5) {
      const { places, end } = sideBySide(columns, room, cell, gap, 0);
      const block = blockOf(basis ? [...columns, basis] : columns, room, cell, 0, TRACK);
      const right = room.width - room.aside;
      if (end > right || block.end > room.height) continue;
      const atTheRight = { ...room, gutter: right };
      const beside = basis && sideBySide([basis], atTheRight, cell, gap, 0).places[0];
      return { cell, places, blocks: [block], basis: beside };
    }
  }
  return inBlocks(columns, basis, room);
}

/** As few blocks as there can be; of the tables that have so few, the one of the largest cells. */
function inBlocks(columns: Column[], basis: Column | null, room: Room): Table {
  const tables = IN_BLOCKS.map((cell) => blocksOf(columns, basis, room, cell));
  const fewest = Math.min(...tables.map(({ blocks }) => blocks.length));
  return tables.find(({ blocks }) => blocks.length === fewest)!;
}

/** Each group in as few blocks as it has room in, and in these about as many columns. */
function blocksOf(columns: Column[], basis: Column | null, room: Room, cell: number): Table {
  const blocks: Block[] = [];
  const fits = (some: Column[]) => sideBySide(some, room, cell, GAP, 0).end <= room.width;
  const add = (some: Column[]): Place[] => {
    const top = blocks.at(-1)?.end ?? 0;
    blocks.push(blockOf(some, room, cell, top, LONG_TRACK));
    return sideBySide(some, room, cell, GAP, blocks.length - 1).places;
  };
  const parts = groupsOf(columns).flatMap((group) => partsOf(group, fits));
  const places = parts.flatMap(add);
  return { cell, places, blocks, basis: basis && add([basis])[0] };
}

function groupsOf(columns: Column[]): Column[][] {
  const groups: Column[][] = [];
  for (const column of columns) {
    if (column.startsGroup || !groups.length) groups.push([]);
    groups.at(-1)!.push(column);
  }
  return groups;
}

function partsOf(group: Column[], fits: (some: Column[]) => boolean): Column[][] {
  for (let count = 1; count <= group.length; count++) {
    const most = Math.ceil(group.length / count);
    const parts = Array.from({ length: Math.ceil(group.length / most) }, (_, n) =>
      group.slice(n * most, (n + 1) * most),
    );
    if (count === group.length || parts.every(fits)) return parts;
  }
  return [];
}

/** Where columns stand side by side, and where the last one ends. */
function sideBySide(
  columns: Column[],
  { gutter }: Room,
  cell: number,
  gap: number,
  block: number,
): { places: Place[]; end: number } {
  let end = gutter;
  const places = columns.map((column, n) => {
    const { words, hasTrack } = column;
    const matrix = cell * column.columns;
    const wide = matrix + (hasTrack ? BESIDE : 0);
    const slot = Math.max(wide, words);
    const begin = end + (n ? gapBefore(column, gap) : 0);
    const left = begin + (slot - wide) / 2;
    end = begin + slot;
    return { left, middle: left + matrix / 2, block };
  });
  return { places, end };
}

const gapBefore = ({ startsGroup }: Column, gap: number): number =>
  startsGroup ? Math.max(gap, WIDE_GAP) : gap;

/** The block of these columns, from `top` on; a track is at least so long. */
function blockOf(
  columns: Column[],
  { line, frame }: Room,
  cell: number,
  top: number,
  leastTrack: number,
): Block {
  const tall = cell * Math.max(...columns.map(({ rows }) => rows));
  const track = columns.some(({ hasTrack }) => hasTrack) ? Math.max(tall, leastTrack) : 0;
  const start = top + line + frame;
  const now = start + tall + frame + line + frame;
  return { top, start, now, track, end: now + Math.max(tall, track) + 2 * frame };
}
