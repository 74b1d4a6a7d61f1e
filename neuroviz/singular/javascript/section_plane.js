// A plane through a slice and what it cuts out of it, in float64: `section_figure.py` and `section.py` once more.
// A test compares both at random planes.

const SNAP = 0.02; // of the way out: so near to a pinch point the plane goes through it
const { abs, cos, hypot, max, min, PI, round, sin } = Math;
export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
export const mix = (a, b, share) => a.map((t, i) => t + share * (b[i] - t));
const away = (a, b) => hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
const turned = (degrees) => [cos, sin].map((f) => round(f((degrees * PI) / 180) * 1e12) / 1e12);

const SAG = 5e-4, DEEPEST = 6; // so far may the curve be from a chord that is drawn; and so often is one halved
const CLOSE = 0.02; // so near to a plane are the rulings beside one that it touches
const SAMPLES = 720, FIRST = 0.1234; // of the singular curve, from an angle that nothing happens at

// Where a function changes its sign: false position, with half the weight for an end that stays (Illinois).
function zeroOf(f, low, high) {
  let [a, b] = [f(low), f(high)], stays = 0;
  for (let n = 0; n < 60 && a !== b; n++) {
    const t = (a * high - b * low) / (a - b), value = f(t);
    if (!value || t === low || t === high) return t;
    if (value * a > 0) {
      [low, a] = [t, value];
      if (stays === 1) b /= 2;
      stays = 1;
    } else {
      [high, b] = [t, value];
      if (stays === -1) a /= 2;
      stays = -1;
    }
  }
  return (low + high) / 2;
}

// Everything of a drawing that a plane cuts: a point on each ruling, and more where the curve bends between two.
export function cutterOf({ centre, stretch, half, pairs, branches, strips, pieces, pinches, eye }) {
  const inDrawing = (p) => p.map((t, i) => (t - centre[i]) * stretch[i]);
  const rows = (flat) => Array.from({ length: flat.length / 3 }, (_, row) => inDrawing([flat[3 * row], flat[3 * row + 1], flat[3 * row + 2]]));
  const lines = strips.map(({ theta, starts, ends }, strip) => ({ strip, theta, starts: rows(starts), ends: rows(ends) }));
  const curves = pieces.map(({ kind, points }) => ({ kind, points: rows(points) })), tips = pinches.map(inDrawing);
  const isLong = half[0] > half[1], isInside = (p) => (isLong ? hypot(p[1], p[2]) : hypot(...p)) <= 1 && abs(p[0]) <= half[0];
  // The coefficients of q₁ and q₂, and the singular curve, in the coordinates of the drawing.
  const forms = [0, 1].map((k) => [0, 1, 2].map((j) => {
    const [x, y, z, rest] = pairs.map((pair) => pair[k][j]);
    return [x / stretch[0], y / stretch[1], z / stretch[2], rest + dot([x, y, z], centre)];
  }));
  const singularCurves = branches.map(([x, y, z, w]) => {
    const drawn = [...[x, y, z].map((row, i) => row.map((t, n) => stretch[i] * (t - centre[i] * w[n]))), w], degree = w.length - 1;
    const at = (phi) => drawn.map((row) => row.reduce((sum, t, i) => sum + t * cos(phi) ** (degree - i) * sin(phi) ** i, 0));
    const angles = Array.from({ length: SAMPLES + 1 }, (_, k) => FIRST + (PI * k) / SAMPLES);
    return { at, samples: angles.map((phi) => ({ phi, point: at(phi) })) }; // (x : y : z : w)
  });

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
        const x = m * step - reach, y = n * step - reach; // 22,801 points at each step of the hand: no arrays
        const u = away * normal[0] + x * across[0] + y * up[0], v = away * normal[1] + x * across[1] + y * up[1], w = away * normal[2] + x * across[2] + y * up[2];
        if (abs(u) > half[0] || Math.sqrt((isLong ? 0 : u * u) + v * v + w * w) > 1) continue;
        low[0] = min(low[0], x); low[1] = min(low[1], y); high[0] = max(high[0], x); high[1] = max(high[1], y);
      }
      return low[0] <= high[0] ? [low, high] : null;
    };
    const first = around(0), [low, high] = around(at) ?? first;
    return { middle: low.map((t, i) => (t + high[i]) / 2), size: first[0].map((t, i) => (first[1][i] - t) / 2 + step) };
  }

  // q₁ = q₂ = 0 at the root [cos θ : sin θ], as two planes.
  function equationsOf(theta) {
    const X = cos(theta), Y = sin(theta);
    return forms.map(([a, b, c]) => a.map((t, i) => t * X * X + b[i] * X * Y + c[i] * Y * Y));
  }

  // The point of a plane on the ruling with root [cos θ : sin θ]: three linear equations, by Cramer's rule.
  function onRuling(theta, { normal, at }) {
    const [e, f] = equationsOf(theta), u = cross(e, f), v = cross(f, normal), w = cross(normal, e), size = dot(normal, u);
    return u.map((t, i) => (at * t - e[3] * v[i] - f[3] * w[i]) / size);
  }

  // Where a ruling enters and leaves the window.
  function endsOf(theta) {
    const [e, f] = equationsOf(theta), u = cross(e, f), square = dot(u, u), v = cross(f, u), w = cross(u, e);
    const base = v.map((t, i) => -(e[3] * t + f[3] * w[i]) / square), only = (p, ...kept) => p.map((t, i) => (kept.includes(i) ? t : 0));
    const within = (p, way, most) => {
      const all = dot(way, way), middle = -dot(p, way) / all, reach = Math.sqrt(max(0, middle ** 2 - (dot(p, p) - most ** 2) / all));
      return all ? [middle - reach, middle + reach] : [-Infinity, Infinity];
    };
    const around = isLong ? within(only(base, 1, 2), only(u, 1, 2), 1) : within(base, u, 1), along = within(only(base, 0), only(u, 0), half[0]);
    return [max(around[0], along[0]), min(around[1], along[1])].map((t) => base.map((c, i) => c + t * u[i]));
  }

  // Between two rulings whose starts (side 0) or ends (1) are on two sides of a plane: the one where it is in it.
  function crossing({ normal, at }, { strip, theta }, [row, next], side) {
    const found = zeroOf((t) => dot(endsOf(t)[side], normal) - at, theta[row], theta[next]);
    return { p: endsOf(found)[side], theta: found, strip, row, share: side };
  }

  // The rulings along which a plane touches the surface: starts and ends come to it, and go back on their side.
  function touched({ normal, at }, { strip, theta }, heights) {
    const far = theta.map((_, row) => max(...heights.map((one) => abs(one[row]))));
    const isNearest = (row) => far[row] < CLOSE && far[row] <= far[row - 1] && far[row] < far[row + 1];
    const staysAside = (row) => heights.every((one) => one[row - 1] * one[row] > 0 && one[row] * one[row + 1] > 0);
    return [...theta.keys()].filter((row) => isNearest(row) && staysAside(row)).flatMap((row) => {
      const heightsAt = (t) => endsOf(t).map((p) => abs(dot(p, normal) - at));
      let [low, high] = [theta[row - 1], theta[row + 1]];
      for (let n = 0; n < 80; n++) {
        const [one, two] = [low + (high - low) / 3, high - (high - low) / 3];
        if (max(...heightsAt(one)) < max(...heightsAt(two))) high = two;
        else low = one;
      }
      return heightsAt(low).every((t) => t < 1e-9) ? [endsOf(low).map((p, share) => ({ p, strip, row, theta: low, share }))] : [];
    });
  }

  // The points between two of a run, so that the chords are near to the curve.
  function between(plane, a, b, depth = 0) {
    const theta = (a.theta + b.theta) / 2, p = onRuling(theta, plane), chord = mix(a.p, b.p, 0.5);
    if (a.theta === b.theta || depth === DEEPEST || !(away(p, chord) > SAG) || !isInside(p)) return [];
    const middle = { ...a, p, theta, share: (a.share + b.share) / 2 };
    return [...between(plane, a, middle, depth + 1), middle, ...between(plane, middle, b, depth + 1)];
  }

  // Where a plane meets the singular curve, with the kind of the piece there; and the pieces that lie in the plane.
  function singularOn({ normal, at }) {
    const isOn = (p) => abs(dot(p, normal) - at) < 1e-9, along = curves.filter(({ points }) => points.every(isOn));
    const singular = along.length ? [] : tips.filter(isOn).map((p) => ({ kind: "boundary", p }));
    const height = ([x, y, z, w]) => normal[0] * x + normal[1] * y + normal[2] * z - at * w;
    for (const curve of singularCurves) {
      const heights = curve.samples.map(({ point }) => height(point));
      if (heights.every((t) => abs(t) < 1e-9)) continue;
      for (let k = 0; k < SAMPLES; k++) {
        if (heights[k] * heights[k + 1] >= 0) continue;
        const phi = zeroOf((angle) => height(curve.at(angle)), curve.samples[k].phi, curve.samples[k + 1].phi);
        const [x, y, z, w] = curve.at(phi), p = [x / w, y / w, z / w];
        if (isInside(p) && tips.every((tip) => away(tip, p) > 1e-6)) singular.push({ kind: kindAt(p), p });
      }
    }
    return { singular, along };
  }

  function kindAt(p) {
    let best, least = Infinity;
    for (const { kind, points } of curves) points.forEach((b, row) => {
      const a = points[max(0, row - 1)], way = b.map((t, i) => t - a[i]), square = dot(way, way) || 1;
      const far = away(p, mix(a, b, max(0, min(1, dot(p.map((t, i) => t - a[i]), way) / square))));
      if (far < least) [best, least] = [kind, far];
    });
    return best;
  }

  // The section, as runs of points with the ruling and the share of it where each is; and its singular points.
  function cut(plane) {
    const { normal, at } = plane, runs = [];
    for (const line of lines) {
      const { strip, theta, starts, ends } = line, heights = [starts, ends].map((points) => points.map((p) => dot(p, normal) - at));
      let run = [];
      const add = (one) => { if (run.length) run.push(...between(plane, run.at(-1), one)); run.push(one); };
      const finish = () => { if (run.length) runs.push(run); run = []; };
      const [inPlane, rows] = [true, false].map((isIn) => [...theta.keys()].filter((row) => heights.every((one) => abs(one[row]) < 1e-9) === isIn));
      runs.push(...touched(plane, line, heights));
      for (const row of inPlane) runs.push([starts[row], ends[row]].map((p, share) => ({ p, strip, row, theta: theta[row], share })));
      rows.forEach((row, n) => {
        const [a, b] = heights.map((one) => one[row]), isCut = a * b < 0 || (a * b === 0 && a !== b), next = rows[n + 1];
        if (isCut) add({ p: mix(starts[row], ends[row], a / (a - b)), strip, row, theta: theta[row], share: a / (a - b) });
        if (next === undefined) return;
        const turns = [0, 1].filter((side) => heights[side][row] * heights[side][next] < 0);
        const met = turns.map((side) => crossing(plane, line, [row, next], side)).sort((one, other) => one.theta - other.theta);
        if (met.length < 2) {
          met.forEach(add); // the section enters the window here, or leaves it
          if (isCut && met.length) finish();
        } else if (met[1].theta - met[0].theta < 1e-9) { // one ruling lies in the plane
          if (next === row + 1) runs.push(met);
        } else { // it leaves and comes in again, or goes through from side to side
          add(met[0]);
          if (isCut) finish();
          add(met[1]);
          if (!isCut) finish();
        }
      });
      finish();
    }
    return { runs, ...singularOn(plane) };
  }

  return { planeAt, boxOf, cut };
}
