/** The colour of an entry; `tools/book/front.py` draws with the same. */

const LARGEST = 1.2; // an entry as large as this has the colour at the end of the scale
const STEP = 5; // percent: in a frame, few cells change

/** Of variables of the page: they turn to dark by themselves. */
export function shade(entry: number): string {
  const place = 2 + 2 * Math.max(-1, Math.min(1, entry / LARGEST));
  const low = Math.floor(place);
  const share = STEP * Math.round((100 / STEP) * (place - low));
  if (!share) return `var(--nv-d${low})`;
  return `color-mix(in srgb,var(--nv-d${low + 1}) ${share}%,var(--nv-d${low}))`;
}
