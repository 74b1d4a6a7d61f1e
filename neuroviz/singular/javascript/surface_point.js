// A point of a slice and what is near-exactly true there, in float64: `surface_point.py` and `forms.py` once more.
// A test compares both at random points.

const TOLERANCE = 1e-9, ROUNDING = 1e-12, SNAP = 0.04, STOP = 0.03;
const { abs, acos, atan2, cos, floor, hypot, max, min, PI, sin, sqrt, SQRT2 } = Math;
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const between = (a, b, share) => [0, 1, 2].map((i) => (1 - share) * a[i] + share * b[i]);
const triple = (flat, row) => [flat[3 * row], flat[3 * row + 1], flat[3 * row + 2]];

export function sliceOf({ pairs, centre, stretch, branches, strips, pieces, pinches }) {
  const inDrawing = (p) => p.map((t, i) => (t - centre[i]) * stretch[i]);
  const total = strips.reduce((sum, strip) => sum + strip.theta.length, 0);
  const forms = (p) => [0, 1].map((k) => [0, 1, 2].map((j) =>
    pairs[0][k][j] * p[0] + pairs[1][k][j] * p[1] + pairs[2][k][j] * p[2] + pairs[3][k][j]));

  // The line q₁(m) = q₂(m) = 0 of a root m = [cos θ : sin θ]; null where a plane has this root.
  function line(theta) {
    const X = cos(theta), Y = sin(theta), powers = [X * X, X * Y, Y * Y];
    const [e1, e2] = [0, 1].map((k) => pairs.map((pair) => dot(pair[k], powers)));
    const u = cross(e1, e2), square = dot(u, u);
    if (!(square > ROUNDING ** 2 * dot(e1, e1) * dot(e2, e2))) return null;
    const one = cross(e2, u), two = cross(u, e1), length = sqrt(square);
    return { base: one.map((t, i) => (-e1[3] * t - e2[3] * two[i]) / square), direction: u.map((t) => t / length) };
  }

  // The root and the ends of the ruling at a share of all.
  function ruling(where) {
    let position = where * total;
    for (const strip of strips) {
      const n = strip.theta.length;
      if (position < n || strip === strips[strips.length - 1]) {
        const row = min(floor(position), n - 2), share = min(position, n - 1) - row;
        const theta = (1 - share) * strip.theta[row] + share * strip.theta[row + 1];
        const [start, end] = [strip.starts, strip.ends].map((ends) => between(triple(ends, row), triple(ends, row + 1), share));
        return { theta, start, end };
      }
      position -= n;
    }
  }

  // Where a ruling meets the singular curve: −1 at its start, 1 at its end.
  function singularPlaces(theta, start, end) {
    const X = cos(theta), Y = sin(theta);
    const det = (u) => {
      const [[a, b], [c, d]] = layerWithRoot(forms(between(start, end, (u + 1) / 2)), X, Y).A;
      return a * d - b * c;
    };
    const minus = det(-1), zero = det(0), plus = det(1), size = max(abs(minus), abs(zero), abs(plus));
    let a = plus + minus - 2 * zero;
    const b = plus - minus, c = 2 * zero;
    if (abs(a) <= 1e-9 * size) a = 0;
    let disc = b * b - 4 * a * c;
    if (abs(disc) <= 1e-9 * size * size) disc = 0;
    const found = a === 0 ? [-c / b] : [(-b - sqrt(disc)) / (2 * a), (-b + sqrt(disc)) / (2 * a)];
    return found.filter(Number.isFinite);
  }

  const curves = branches.map(rationalCurve);
  function nearestSingular(p) {
    const found = curves.map((curve) => curve.near(p));
    return found.reduce((best, one) => (distance(one, p) < distance(best, p) ? one : best));
  }

  // The curve as drawn: where each piece begins, by length, and how far along it its points are.
  const starts = [0], runs = pieces.map(({ points }) => {
    const run = [0];
    for (let row = 1; row < points.length / 3; row++)
      run.push(run[row - 1] + distance(inDrawing(triple(points, row - 1)), inDrawing(triple(points, row))));
    starts.push(starts[starts.length - 1] + run[run.length - 1]);
    return run;
  });
  const length = starts[starts.length - 1];

  function onCurve(where) {
    const at = where * length;
    let index = 0;
    while (index < runs.length - 1 && at >= starts[index + 1]) index++;
    const run = runs[index], { points } = pieces[index], rest = at - starts[index];
    let row = 0;
    while (row < run.length - 2 && rest >= run[row + 1]) row++;
    const share = max(0, min(1, (rest - run[row]) / (run[row + 1] - run[row])));
    const near = between(triple(points, row), triple(points, row + 1), share), here = inDrawing(near);
    for (const pinch of pinches) if (distance(inDrawing(pinch), here) < STOP) return pinch;
    return nearestSingular(near);
  }

  function onSurface(where, along) {
    let { theta, start, end } = ruling(where);
    const found = line(theta);
    if (!found) return { at: between(start, end, (1 + along) / 2), ruling: null, theta };
    const { base, direction } = found;
    [start, end] = [start, end].map((p) => {
      const t = dot(p.map((c, i) => c - base[i]), direction);
      return base.map((c, i) => c + t * direction[i]);
    });
    const places = singularPlaces(theta, start, end);
    const near = places.length ? places.reduce((a, b) => (abs(b - along) < abs(a - along) ? b : a)) : Infinity;
    const snaps = abs(near - along) <= SNAP;
    const place = between(start, end, (1 + (snaps ? near : along)) / 2);
    return { at: snaps ? nearestSingular(place) : place, ruling: [start, end], theta };
  }

  // All that is drawn of a point: `moves` is "surface" or "curve".
  function pointAt({ moves, where, along }) {
    const isOnCurve = moves === "curve" && pieces.length > 0;
    const { at, ruling: ends = null, theta = null } = isOnCurve ? { at: onCurve(where) } : onSurface(where, along);
    const pair = forms(at), facts = factsOf(pair, theta);
    return { at, drawn: inDrawing(at), ruling: ends, forms: pair, ...facts };
  }

  return { inDrawing, forms, ruling, pointAt, total, length, strips, pieces, starts, runs };
}

const distance = (a, b) => hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);

// [cos φ : sin φ] ↦ (x : y : z : 1), a row of coefficients for each.
function rationalCurve(rows) {
  const n = rows[0].length - 1;
  const at = (phi) => {
    const c = cos(phi), s = sin(phi), value = [0, 0, 0, 0], slope = [0, 0, 0, 0];
    for (let i = 0; i <= n; i++) {
      const power = c ** (n - i) * s ** i;
      const turned = (i ? i * c ** (n - i + 1) * s ** (i - 1) : 0) - (n - i ? (n - i) * c ** (n - i - 1) * s ** (i + 1) : 0);
      rows.forEach((row, k) => { value[k] += row[i] * power; slope[k] += row[i] * turned; });
    }
    const w = value[3], p = value.slice(0, 3).map((t) => t / w);
    return { p, d: p.map((t, k) => (slope[k] - t * slope[3]) / w) };
  };
  const samples = Array.from({ length: 720 }, (_, k) => at((PI * k) / 720).p);
  function near(here) {
    let best = 0, least = Infinity;
    samples.forEach((p, k) => { const away = distance(p, here); if (away < least) [best, least] = [k, away]; });
    let phi = (PI * best) / 720, { p, d } = at(phi), step = 1;
    for (let count = 0; count < 60 && abs(step) > 1e-16; count++) { // Gauss and Newton: `here` is beside the curve
      step = -dot(p.map((t, k) => t - here[k]), d) / dot(d, d);
      const next = at(phi + step);
      if (!(distance(next.p, here) <= least * (1 + 1e-9) + 1e-15)) break;
      phi += step;
      ({ p, d } = next);
      least = distance(p, here);
    }
    return p;
  }
  return { near };
}

const light = ([a, b, c]) => [(a + c) / SQRT2, (a - c) / SQRT2, b / SQRT2];
const turn = (phi) => {
  const turned = ((phi % (2 * PI)) + 2 * PI) % (2 * PI);
  return 2 * PI - turned < ROUNDING ? 0 : turned;
};

// Angles 2θ of the real roots of a form in these coordinates: two, a double one, or none.
function rootsOf(u) {
  const size = hypot(...u), [a, b, c] = u.map((t) => t / size), disc = b * b + c * c - a * a;
  if (abs(disc) <= TOLERANCE) return [turn(atan2(c, b) + (a > 0 ? PI : 0))];
  if (disc < 0) return [];
  const middle = atan2(c, b), half = acos(max(-1, min(1, -a / hypot(b, c))));
  return [turn(middle - half), turn(middle + half)].sort((one, other) => one - other);
}

// Kind, common roots and preimages of a pair with the common root [cos θ : sin θ], or of a proportional one.
export function factsOf(pair, theta) {
  const size = max(...pair.flat().map(abs));
  if (size === 0) return { kind: "boundary", roots: [], preimages: [{ A: [[0, 0], [0, 0]], V: [0, 0] }] };
  const [u, w] = pair.map((q) => light(q.map((t) => t / size)));
  const uu = dot(u, u), uw = dot(u, w), ww = dot(w, w), area = hypot(...cross(u, w));
  const largest = (uu + ww + hypot(uu - ww, 2 * uw)) / 2; // the square of the larger singular value
  let kind = "smooth", roots = theta === null ? [] : [turn(2 * theta)];
  if (area <= TOLERANCE * largest) {
    const angle = atan2(2 * uw, uu - ww) / 2, common = u.map((t, i) => cos(angle) * t + sin(angle) * w[i]);
    roots = rootsOf(common);
    kind = ["closure only", "boundary", "crossing"][roots.length];
  }
  const preimages = roots.map((phi) => layerWithRoot(pair, cos(phi / 2), sin(phi / 2)));
  return { kind, roots, preimages };
}

// V = (Y, −X), which vanishes at the root, and the A of the layer that is the pair.
export function layerWithRoot(pair, X, Y) {
  const squared = (X * X + Y * Y) ** 2;
  const columns = pair.map(([a, b, c]) => {
    const mixed = 2 * (a - c) * X * Y + b * (Y * Y - X * X), across = a * Y * Y - b * X * Y + c * X * X;
    return [(mixed * X + across * Y) / squared, (mixed * Y - across * X) / squared];
  });
  return { A: [[columns[0][0], columns[1][0]], [columns[0][1], columns[1][1]]], V: [Y, -X] };
}

// A form in the unit disc: the ends of a chord, one point of the rim, or one inside; none of 0.
export function onCircle(q) {
  if (!q.some((t) => t)) return [];
  const roots = rootsOf(light(q)), [a, b, c] = q;
  return roots.length ? roots.map((phi) => [cos(phi), sin(phi)]) : [[(c - a) / (a + c), -b / (a + c)]];
}
