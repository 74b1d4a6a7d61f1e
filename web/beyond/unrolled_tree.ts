/**
 * The tree of the layers, from the recursion that they are:
 * S_h = S_{h−1} · reversed(S_{h−1})ᵀ · M_h · S_{h−1} with S_0 = X (Eq. 12).
 */

/** One layer, applied somewhere in the tree; it stands over its key child. */
export interface Node {
  layer: number;
  /** Whether it lies inside an odd number of keys: then its M is transposed. */
  isTransposed: boolean;
  /** Which place that M takes in the product, from 1. */
  place: number;
  /** Where it stands, in leaves. */
  x: number;
  children: { value: number; key: number; query: number };
}

/** Value, key and query are copies of one tree; what is reversed stands from right to left. */
export function grow(layers: number, first = 0, isMirrored = false): Node[] {
  if (layers === 0) return [];
  const size = 3 ** (layers - 1);
  const starts = [first, first + size, first + 2 * size];
  const below = starts.flatMap((start, copy) => {
    return grow(layers - 1, start, copy === 1 ? !isMirrored : isMirrored);
  });
  const middles = starts.map((start) => start + (size - 1) / 2);
  const [value, key, query] = isMirrored ? middles.reverse() : middles;
  // M_h stands between key and query. The k-th factor lies between the leaves 2k − 1 and 2k.
  const place = Math.floor((isMirrored ? starts[1] : starts[2]) / 2);
  const root = { layer: layers, isTransposed: isMirrored, place, x: key };
  return [...below, { ...root, children: { value, key, query } }];
}
