// One layer (A, V) beside its fibre, in float64: `walk.py` once more. A test compares both at random states.

const { exp, hypot, max, sqrt } = Math;
const NOTHING = 1e-9;
const each = (M, of) => M.map((row, i) => row.map((t, j) => of(t, i, j)));
const times = (c, M) => each(M, (t) => c * t);
const plus = (M, c, N) => each(M, (t, i, j) => t + c * N[i][j]);
const dot = (M, N) => M.reduce((sum, row, i) => row.reduce((all, t, j) => all + t * N[i][j], sum), 0);
const size = (M) => sqrt(dot(M, M));
const turned = (M) => M[0].map((_, j) => M.map((row) => row[j]));

function product(M, N) {
  const columns = turned(N);
  return M.map((row) => columns.map((column) => row.reduce((sum, t, k) => sum + t * column[k], 0)));
}

// Where the walk leads.
function baseAt({ preset, walk, plane, swapped }, { along, swap, negative }) {
  const sign = negative ? -1 : 1, [A, V] = swap && swapped ? swapped : plane;
  if (preset === "zero") return along < 1 ? [times(sign * (1 - along), A), times(0, V)] : [times(0, A), times(2 * sign * (along - 1), V)];
  if (walk === "antisymmetric") return [each(A, (t, i, j) => sign * (t + (along * (t - A[j][i])) / 2)), times(sign, V)];
  const c = sign * 2 ** along;
  return [times(c, A), times(walk === "rescale" ? 1 / c : sign, V)];
}

// The direction off it, of length 1: at random, or where |A| |V| grows fastest.
function asideAt({ plane, random }, base) {
  if (random) return random;
  const found = base.map(size), [a, v] = max(...found) > NOTHING ? found : [1, 1];
  const [A, V] = base.map((M, i) => (found[i] > NOTHING ? times(1 / found[i], M) : plane[i]));
  return [times(v / hypot(a, v), A), times(a / hypot(a, v), V)];
}

function outputsOf(attention, [A, V], X) {
  let S = product(turned(X), product(A, X));
  if (attention === "softmax") S = turned(turned(S).map((column) => {
    const top = max(...column), shares = column.map((t) => exp(t - top)), sum = shares.reduce((a, b) => a + b);
    return shares.map((t) => t / sum);
  }));
  return product(product(V, X), S);
}

// How much of A₀ there is in A, and of V₀ in V.
const inPlane = ({ plane }, pair) => pair.map((M, i) => dot(plane[i], M));

// The weights and the outputs at a place of the controls, and where both are in the plane.
export function layerAt(local, place) {
  const base = baseAt(local, place), aside = asideAt(local, base), now = base.map((M, i) => plus(M, place.off, aside[i]));
  const at = inPlane(local, now), rest = now.map((M, i) => size(plus(M, -at[i], local.plane[i]))), outside = hypot(...rest);
  const X = local.inputs[Math.round(place.input) - 1];
  return { now, outputs: outputsOf(local.attention, now, X), base: inPlane(local, base), at, outside: outside > NOTHING ? outside : 0 };
}

// All places of the walks, in the plane, with the direction off them.
export function walksOf(local, [least, most, step]) {
  const alongs = Array.from({ length: Math.round((most - least) / step) + 1 }, (_, k) => least + k * step);
  return (local.swapped ? [false, true] : [false]).flatMap((swap) => [false, true].flatMap((negative) => alongs.map((along) => {
    const base = baseAt(local, { along, swap, negative });
    return { place: { along, swap, negative }, base: inPlane(local, base), aside: inPlane(local, asideAt(local, base)) };
  })));
}
