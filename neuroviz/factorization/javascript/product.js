// A = KᵀQ in float64: the same formulas as panel.py, determinantal.py and symmetry.py, for the scene. No imports.
const { abs, atan2, cos, hypot, max, min, PI, sin, sqrt } = Math;
const OFF = [4 / 3, 4 / 3, 2 / 3], MOST = [1.5, 1.67, 1.15], TOLERANCE = 1e-9; // as in panel.py, cone.py, rank.py
const ENTRY = /([QK])([1-8])([1-6])=(-?\d*\.?\d+)/g;

const product = (A, B) => A.map((row) => B[0].map((_, j) => row.reduce((sum, t, k) => sum + t * B[k][j], 0)));
export const transposed = (A) => A[0].map((_, j) => A.map((row) => row[j]));
export const norm = (rows) => sqrt(rows.flat().reduce((sum, t) => sum + t * t, 0));
export const mixed = (A, B, share) => A.map((row, i) => row.map((t, j) => t + share * (B[i][j] - t)));

// The matrices C of a walk in GL_a.
export function walkAt(kind, a, s) {
  const C = Array.from({ length: a }, (_, i) => Array.from({ length: a }, (_, j) => +(i === j)));
  const block = kind === "rotation" ? [cos((PI / 2) * s), -sin((PI / 2) * s), sin((PI / 2) * s), cos((PI / 2) * s)] : [1, 1.5 * s, 0, 1];
  if (kind === "stretch") return C.map((row, i) => row.map((t) => t * 3 ** (i % 2 ? -s : s)));
  for (let i = 0; i + 1 < a; i += 2) [C[i][i], C[i][i + 1], C[i + 1][i], C[i + 1][i + 1]] = block;
  return C;
}

// Rows turned into orthogonal ones by one-sided Jacobi rotations: J M = W. Of a matrix with more columns than rows.
function orthogonal(M) {
  const W = M.map((row) => [...row]), J = M.map((_, i) => M.map((_, j) => +(i === j))), dot = (u, v) => u.reduce((sum, t, k) => sum + t * v[k], 0);
  for (let sweep = 0, isOpen = true; isOpen && sweep < 30; sweep++) {
    isOpen = false;
    for (let p = 0; p < M.length; p++) for (let q = p + 1; q < M.length; q++) {
      const along = dot(W[p], W[q]), one = dot(W[p], W[p]), other = dot(W[q], W[q]);
      if (along * along <= 1e-30 * one * other) continue;
      isOpen = true;
      const z = (other - one) / (2 * along), t = (z < 0 ? -1 : 1) / (abs(z) + hypot(1, z)), c = 1 / hypot(1, t), s = c * t;
      for (const X of [W, J]) [X[p], X[q]] = [X[p].map((u, k) => c * u - s * X[q][k]), X[p].map((u, k) => s * u + c * X[q][k])];
    }
  }
  return { J, sizes: W.map((row) => norm([row])) };
}
const wide = (M) => (M.length > M[0].length ? transposed(M) : M);
export const singularValues = (M) => orthogonal(wide(M)).sizes.sort((x, y) => y - x);
const rankOf = (sigma) => sigma.filter((t) => t > TOLERANCE * max(1, sigma[0])).length;

// The nearest matrix whose rank is one less.
function dropRank(M) {
  const N = wide(M), { J, sizes } = orthogonal(N), u = J[sizes.indexOf(min(...sizes))], v = product([u], N)[0];
  const found = N.map((row, i) => row.map((t, j) => t - u[i] * v[j]));
  return N === M ? found : transposed(found);
}

// The 2 × 2 matrices of one trace, in (x, y, z): those of rank ≤ 1 are a cone or a hyperboloid.
export function pointAt(trace, angle, height) {
  const r = hypot(height, trace / 2);
  return [r * cos((PI * angle) / 180), r * sin((PI * angle) / 180), height];
}

// The ends of a straight line of the surface, through a point of it: of matrices with one image (turn 1) or kernel (−1).
export function ruling(trace, angle, height, turn, reach) {
  const at = (PI * angle) / 180 - turn * (height || trace ? atan2(height, trace / 2) : PI / 2), [c, s] = [cos(at), sin(at)];
  return [-reach, reach].map((z) => [(trace / 2) * c - turn * z * s, (trace / 2) * s + turn * z * c, z]);
}

export function headsAt(trace, angle, height) {
  const theta = (PI * angle) / 180, delta = atan2(-2 * height, trace), length = hypot(trace, 2 * height), q = (theta - delta) / 2, k = (theta + delta) / 2;
  return [[[length * cos(q), length * sin(q)]], [[cos(k), sin(k)]]];
}

function nearest(trace, x, y, z) {
  const r = hypot(x, y), up = abs(z);
  let low = -1, high = 1, t;
  for (let n = 0; n < 50; n++) {
    t = (low + high) / 2;
    if ((r / (1 + t)) ** 2 > (up / (1 - t)) ** 2 + trace ** 2 / 4) low = t;
    else high = t;
  }
  const height = t < 1 - 1e-6 ? up / (1 - t) : sqrt(max((r / 2) ** 2 - trace ** 2 / 4, 0));
  return { angle: (180 * atan2(y, x)) / PI, height: (z < 0 ? -1 : 1) * height };
}

// Where a ray meets the surface, or passes it by: angle and height, on the sheet that is near to a point of it.
export function metBy(from, toward, trace, near, most) {
  const form = (u, v) => u[0] * v[0] + u[1] * v[1] - u[2] * v[2];
  const a = form(toward, toward), b = form(from, toward), square = b * b - a * (form(from, from) - trace ** 2 / 4), root = sqrt(max(square, 0));
  const away = (p, q) => hypot(...p.map((t, i) => t - q[i]));
  const found = [-root, root].map((t) => {
    const at = from.map((o, i) => o + ((t - b) / a) * toward[i]), height = max(-most, min(most, at[2])), angle = (180 * atan2(at[1], at[0])) / PI;
    const foot = pointAt(trace, angle, height);
    return { angle, height, far: 3 * away(foot, at) + away(foot, near) };
  });
  return found[0].far < found[1].far ? found[0] : found[1];
}

// The numbers that were set by hand: name → value.
export const entriesIn = (words) => new Map([...words.matchAll(ENTRY)].map(([, name, i, j, value]) => [name + i + j, +value]));
export const asWords = (entries) => [...entries].map(([name, value]) => `${name}=${+value.toFixed(4)}`).join(" ");

// The first Q and K: drawn at random, or for d = 2 a factorisation of the matrix that the controls place.
export function startOf({ d, a, base }, { rank, trace, angle, height, entries }) {
  let [Q, K] = base.map((M) => M.map((row) => [...row]));
  if (d === 2 && a === 1) [Q, K] = headsAt(trace, angle, height);
  else if (d === 2) {
    const [x, y, z] = pointAt(trace, angle, height).map((t, i) => t * (rank === "full" ? OFF[i] : 1)), A = [[trace / 2 + x, y + z], [y - z, trace / 2 - x]];
    const [unseen, isometry] = base, image = product(isometry, A);
    Q = rank === "K" ? Q.map((_, i) => [...isometry[i]]) : rank === "Q" ? image : image.map((row, i) => row.map((t, j) => t + unseen[i][j]));
    if (rank === "K") K = product(isometry, transposed(A));
  }
  for (const [name, value] of entriesIn(entries)) {
    const [i, j] = [name[1] - 1, name[2] - 1];
    if (i < a && j < d) (name[0] === "Q" ? Q : K)[i][j] = value;
  }
  return [rank === "Q" ? dropRank(Q) : Q, rank === "K" ? dropRank(K) : K];
}

// All that the scene shows of a place and its first Q and K.
export function factored({ d, a }, place, start) {
  const C = walkAt(place.walk, a, place.along), back = walkAt(place.walk, a, -place.along), [Q, K] = start;
  const now = [product(C, Q), product(transposed(back), K)], A = [start, now].map(([q, k]) => product(transposed(k), q));
  const ranks = start.map((M) => rankOf(singularValues(M))), [q, k] = ranks, spectra = A.map(singularValues);
  return { C, back, start, now, A, spectra, ranks, here: 2 * a * d - d * (q + k) + q * k, point: d === 2 ? slicePoint(place, A[0], rankOf(spectra[0])) : null };
}

// Where A, two by two, is in the slice of its trace.
function slicePoint({ angle }, A, rank) {
  let point = { angle, trace: 0, height: 0, place: [0, 0, 0], rank };
  if (rank) {
    const [[p, q], [r, s]] = A, [c, ...place] = [p + s, (p - s) / 2, (q + r) / 2, (q - r) / 2].map((t) => +t.toFixed(12) + 0);
    point = { ...point, trace: c, ...nearest(c, ...place), place };
  }
  const [x, y, z] = point.place;
  return { ...point, unit: max(1, ...[point.trace, hypot(x, y), z].map((t, i) => abs(t) / MOST[i])) };
}
