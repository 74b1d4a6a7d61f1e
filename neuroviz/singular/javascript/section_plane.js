// A plane through a slice and what it cuts of its drawing, in float64: `section_figure.py` once more.
// A test compares both at random planes.

const SNAP = 0.02; // of the way out: so near to a pinch point the plane goes through it
const { abs, cos, hypot, max, min, PI, round, sin } = Math;
export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
export const mix = (a, b, share) => a.map((t, i) => t + share * (b[i] - t));
const turned = (degrees) => [cos, sin].map((f) => round(f((degrees * PI) / 180) * 1e12) / 1e12);

// Everything of the drawing that a plane cuts, from the rulings and the singular curve as they are drawn.
export function cutterOf({ centre, stretch, half, strips, pieces, pinches, eye }) {
  const inDrawing = (p) => p.map((t, i) => (t - centre[i]) * stretch[i]);
  const rows = (flat) => Array.from({ length: flat.length / 3 }, (_, row) => inDrawing([flat[3 * row], flat[3 * row + 1], flat[3 * row + 2]]));
  const lines = strips.map(({ starts, ends }) => ({ starts: rows(starts), ends: rows(ends) }));
  const curves = pieces.map(({ kind, points }) => ({ kind, points: rows(points) })), tips = pinches.map(inDrawing);
  const isLong = half[0] > half[1];

  function planeAt({ turn, tilt, offset }) {
    const [c, s] = turned(turn), [e, f] = turned(tilt), normal = [e * c, e * s, f], side = dot(eye, normal) >= 0 ? 1 : -1;
    const across = [-side * s, side * c, 0], up = cross(normal.map((t) => side * t), across);
    const far = isLong ? abs(normal[0]) * half[0] + Math.sqrt(max(1 - normal[0] ** 2, 0)) * half[1] : half[1];
    const heights = tips.map((tip) => dot(tip, normal)), asked = offset * far;
    const near = heights.reduce((a, b) => (abs(b - asked) < abs(a - asked) ? b : a), Infinity);
    return { normal, across, up, far, at: abs(near - asked) < SNAP * far ? near : asked };
  }

  // Where in the plane the drawing is: the middle of a rectangle, and its half sizes.
  function boxOf({ normal, across, up, at }) {
    const reach = 1.5 * half[0], step = (2 * reach) / 150;
    const around = (away) => {
      const low = [Infinity, Infinity], high = [-Infinity, -Infinity];
      for (let m = 0; m <= 150; m++) for (let n = 0; n <= 150; n++) {
        const x = m * step - reach, y = n * step - reach, p = [0, 1, 2].map((i) => away * normal[i] + x * across[i] + y * up[i]);
        if ((isLong ? hypot(p[1], p[2]) : hypot(...p)) > 1 || abs(p[0]) > half[0]) continue;
        low[0] = min(low[0], x); low[1] = min(low[1], y); high[0] = max(high[0], x); high[1] = max(high[1], y);
      }
      return low[0] <= high[0] ? [low, high] : null;
    };
    const first = around(0), [low, high] = around(at) ?? first;
    return { middle: low.map((t, i) => (t + high[i]) / 2), size: first[0].map((t, i) => (first[1][i] - t) / 2 + step) };
  }

  // The section, as runs of points with the ruling and the share of it where each is; and its singular points.
  function cut({ normal, at }) {
    const runs = [], singular = [];
    lines.forEach(({ starts, ends }, strip) => {
      let run = null;
      const heights = starts.map((start, row) => [dot(start, normal) - at, dot(ends[row], normal) - at]);
      // Between a ruling that is cut and one that is not, one of them ends in the plane.
      const leave = (row, next) => {
        const side = heights[row][0] * heights[next][0] < 0 ? 0 : 1, [a, b] = [heights[row][side], heights[next][side]];
        const points = side ? ends : starts;
        return { p: mix(points[row], points[next], a / (a - b)), strip, row, share: side };
      };
      heights.forEach(([a, b], row) => {
        const isCut = a * b < 0 || (a * b === 0 && a !== b), known = row > 0;
        if (isCut && !run) runs.push((run = known ? [leave(row, row - 1)] : []));
        if (isCut) run.push({ p: mix(starts[row], ends[row], a / (a - b)), strip, row, share: a / (a - b) });
        if (!isCut && run) { run.push(leave(row - 1, row)); run = null; }
      });
    });
    for (const { kind, points } of curves) points.forEach((p, row) => {
      if (!row) return;
      const a = dot(points[row - 1], normal) - at, b = dot(p, normal) - at;
      if (a * b < 0) singular.push({ kind, p: mix(points[row - 1], p, a / (a - b)) });
    });
    for (const tip of tips) if (abs(dot(tip, normal) - at) < 1e-9) singular.push({ kind: "boundary", p: tip });
    return { runs, singular };
  }

  return { planeAt, boxOf, cut };
}
