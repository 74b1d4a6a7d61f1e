/** Where the matrices of a network stand in a box of pixels. */
import type { Network } from "./ledger_network";

/** The box, the size of its words, and the height of the buttons on its upper edge. */
export interface Room {
  width: number;
  height: number;
  note: number;
  button: number;
  /** Whether there may be more layers: a button adds one. */
  canGrow: boolean;
}

/** The size of cells, and where the matrices V begin: pixels from the top of the box. */
export interface Fit {
  wide: number;
  tall: number;
  topOfV: number;
}

/** A layer: its matrices Q, K and V stand one below the other. */
export interface LayerBox {
  left: number;
  right: number;
  width: number;
  tops: { Q: number; K: number; V: number };
  /** The top of Q. */
  crown: number;
  /** The bottom of V. */
  low: number;
}

export interface Spacing {
  /** From one layer to the next. */
  gap: number;
  /** A layer is at least so wide: there are words above it. */
  least: number;
  /** Whether words have to be short. */
  isTight: boolean;
  /** Whether every layer has its letters Q, K and V; else only the first one. */
  hasLetters: boolean;
}

const LARGEST = { wide: 24, tall: 20 }; // pixels of a cell
const BETWEEN = 6; // pixels between Q, K and V

/** Room for the letters of the first layer. */
const start = (room: Room): number => 4 + 0.85 * room.note;

/** Right of a layer: room for the number that is its width. */
export const beside = ({ note }: Room): number => 13 + 0.7 * note;

export function spacingOf(net: Network, room: Room): Spacing {
  const { note, width } = room;
  const layers = net.headDims.length;
  const wideGap = Math.max(34, 2.9 * note);
  const words = 4.6 * note; // above a layer, such as "layer 1 ×"
  const fixed = start(room) + tail(room) + (layers - 1) * wideGap;
  if (layers <= 4 && fixed + layers * words <= width) {
    return { gap: wideGap, least: words, isTight: false, hasLetters: true };
  }
  const all = width - start(room) - tail(room);
  const share = (all - (layers - 1) * beside(room)) / layers;
  const least = Math.min(2.6 * note, share);
  const rest = (all - layers * least) / Math.max(1, layers - 1);
  const gap = Math.min(wideGap, rest);
  return { gap, least, isTight: true, hasLetters: gap > 17 + 1.4 * note };
}

/** Right of the last layer: its number, and the button that adds one. */
const tail = (room: Room) => beside(room) + (room.canGrow ? room.button : 0);

/**
 * The largest cells for which there is room, and some more to grow. What is held stays under the
 * hand meanwhile.
 */
export function fitOf(net: Network, room: Room, held: Fit | null): Fit {
  const { gap, least } = spacingOf(net, room);
  const layers = net.headDims.length;
  const fixed = start(room) + (layers - 1) * gap + tail(room);
  const inputs = net.widths.slice(0, -1);
  const across = (wide: number) => {
    const growth = held ? 0 : 3 * wide;
    return inputs.reduce((all, d) => all + Math.max(wide * d, least), fixed + growth);
  };
  const narrowest = Math.max(2, least / Math.max(...inputs)); // less leaves no more room
  let wide = held?.wide ?? LARGEST.wide;
  while (wide > narrowest && across(wide) > room.width) wide -= 0.25;

  const head = headroom(room) + 2 * BETWEEN;
  const low = lowest(room);
  const most = Math.max(...net.headDims);
  const deep = Math.max(...net.widths.slice(1));
  if (held) {
    const above = (held.topOfV - head) / (2 * most);
    const below = (low - held.topOfV) / deep;
    return { wide, tall: Math.min(held.tall, above, below), topOfV: held.topOfV };
  }
  const rows = 2 * most + deep + 4;
  const tall = Math.min(LARGEST.tall, (low - head) / rows);
  const rest = low - head - tall * rows;
  return { wide, tall, topOfV: head + rest / 2 + 2 * tall * (most + 1) };
}

/** The layers begin below the buttons, and the words that say a. */
const headroom = ({ button, note }: Room) => button + 16 + note;

/** Below the layers stands the width of the output. */
const lowest = ({ height, note }: Room) => height - Math.max(22, note + 10);

export function layersAt(net: Network, room: Room, { wide, tall, topOfV }: Fit): LayerBox[] {
  const { gap, least } = spacingOf(net, room);
  let left = start(room);
  return net.headDims.map((a, i) => {
    const width = wide * net.widths[i];
    const K = topOfV - BETWEEN - a * tall;
    const Q = K - BETWEEN - a * tall;
    const box = {
      left,
      width,
      tops: { Q, K, V: topOfV },
      low: topOfV + tall * net.widths[i + 1],
      right: left + width,
      crown: Q,
    };
    left += Math.max(width, least) + gap;
    return box;
  });
}
