// What the controls of the ledger say: its network, its counts, and weights to move, in float64.
// `engine/ledger.py`, `engine/formulas.py` and `engine/network.py` once more; a test compares them at random networks.
// And the networks of the virtual weights: `engine/symmetry.py` and `deep/rescaling.py`.

const { abs, exp, max, min, PI, sqrt } = Math;
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
const typed = (text) => text.split(/[\s,]+/).filter(Boolean).map(Number);

// The network of a place; null where there is none, as while somebody types.
export function networkAt({ width, width_out, head_dim, heads: H = 1, layers, tokens, kind, ...texts }, { widest, deepest }) {
  const isSize = (size) => Number.isInteger(size) && size >= 1 && size <= widest;
  const even = [...Array(layers).fill(width), width_out];
  const widths = texts.widths.trim() ? typed(texts.widths) : even;
  const heads = texts.head_dims.trim() ? typed(texts.head_dims) : widths.slice(1).map(() => head_dim);
  const isOne = heads.length && heads.length <= deepest && widths.length === heads.length + 1 && [...widths, ...heads].every(isSize);
  return isOne ? { widths, heads, H, tokens, kind } : null;
}

// The controls that say this network: sliders where they can, else texts.
export function controlsFor({ widths, heads, H }) {
  const layers = heads.length, isEven = widths.every((width, i) => i === layers || width === widths[0]);
  return {
    heads: H,
    ...(isEven ? { width: widths[0], width_out: widths[layers], layers, widths: "" } : { widths: widths.join() }),
    ...(heads.every((a) => a === heads[0]) ? { head_dim: heads[0], head_dims: "" } : { head_dims: heads.join() }),
  };
}

// Another layer at the end, like the last one; or one layer less.
export const longer = (net) => ({
  ...net, widths: [...net.widths.slice(0, -1), ...net.widths.slice(-2)], heads: [...net.heads, net.heads.at(-1)],
});
export const without = (net, i) => ({
  ...net, heads: net.heads.filter((_, k) => k !== i), widths: net.widths.filter((_, k) => k !== min(i + 1, net.heads.length - 1)),
});

// Rows of the ledger, layer by layer, and the dimension by the general formula (Corollary A, Theorem C). `isSure`:
// every coordinate between layers is reached by the inputs or seen by the output, so that the bases between
// layers are independent of each other; elsewhere they count for less, and only an exact rank says for how much.
// With several heads it says the dimension, too, and which heads blend.
export function countsOf({ widths: d, heads, H, tokens, kind }) {
  const l = heads.length, isSoftmax = kind === "softmax", reached = [d[0]], seen = [...d];
  for (const width of d.slice(1)) reached.push(min(width, reached.at(-1)));
  let isSure = H === 1;
  for (let i = l - 1, visible = d[l]; i > 0; i--) {
    const through = 2 * min(heads[i], reached[i]);
    seen[i] = min(reached[i], seen[i + 1] + through);
    visible = min(d[i], visible + through);
    isSure &&= reached[i] === d[i] || visible === d[i];
  }
  const parts = {
    parameters: heads.map((a, i) => H * (2 * a * d[i] + d[i] * d[i + 1])),
    "head bases": heads.map((a, i) => H * (a * a - max(0, a - d[i]) ** 2)),
    interfaces: d.slice(1, -1).map((width) => width * width),
    rescalings: isSoftmax ? [] : heads.map(() => H),
  };
  const rows = Object.values(parts).map(sum), dimension = H > 1 ? 2 * rows[0] - sum(rows) : dimensionOf(seen, heads, tokens, isSoftmax, min(...d));
  return { parts, rows, dimension, unexplained: 2 * rows[0] - sum(rows) - dimension, isSure };
}

function dimensionOf(w, heads, tokens, isSoftmax, least) {
  const l = heads.length;
  if (isSoftmax && tokens === 1) return least * (w[0] + w[l] - least);
  const collapse = heads.findIndex((a, i) => i < l - 1 && min(a, w[i]) === 1); // after it all tokens are parallel
  const symmetricFrom = isSoftmax ? l : tokens === 1 ? 0 : collapse < 0 ? l : collapse + 1;
  const symmetric = (a, x) => (2 * a <= x ? 2 * a * x - a * (2 * a - 1) : (x * (x + 1)) / 2);
  const all = (a, x) => (a <= x ? a * (2 * x - a) : x * x);
  const seen = heads.map((a, i) => w[i] * w[i + 1] + (i < symmetricFrom ? all : symmetric)(a, w[i]));
  return sum(seen) - sum(w.slice(1, -1).map((width) => width * width)) - (isSoftmax ? 0 : l);
}

// A number from −1 to 1 for each place, always the same: a weight stays while others come and go.
function drawn(...place) {
  let bits = 0x9e3779b9;
  for (const n of place) {
    bits = Math.imul(bits ^ (n + 1), 0x85ebca6b);
    bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
    bits ^= bits >>> 16;
  }
  return bits / 2 ** 31;
}

const made = (rows, columns, entry) => Array.from({ length: rows }, (_, i) => Array.from({ length: columns }, (_, j) => entry(i, j)));
const random = (rows, columns, ...place) => made(rows, columns, (i, j) => drawn(...place, i, j));
const times = (A, B) => A.map((row) => B[0].map((_, j) => sum(row.map((entry, k) => entry * B[k][j]))));
const turned = (A) => A[0].map((_, j) => A.map((row) => row[j]));
const scaled = (A, by) => A.map((row) => row.map((entry) => by * entry));
const size = (A) => sqrt(sum(A.flat().map((entry) => entry * entry)));
const [OF_INPUT, OF_BASIS, OF_OTHER] = [10, 20, 30];

// exp(sE), E not large: the sum of its series.
function exponential(E, s) {
  let term = made(E.length, E.length, (i, j) => Number(i === j)), total = term;
  for (let n = 1; n < 30; n++) {
    term = scaled(times(term, E), s / n);
    total = total.map((row, i) => row.map((entry, j) => entry + term[i][j]));
  }
  return total;
}

// A layer is its first head, and `others`; what is done to it is done to each head.
export const headsOf = (layer) => [layer, ...(layer.others ?? [])];
function eachHead(layer, act) {
  const [first, ...others] = headsOf(layer).map(act);
  return { ...first, others };
}
const plus = (A, B) => A.map((row, i) => row.map((entry, j) => entry + B[i][j]));
const layerOf = (layer, X, kind) => headsOf(layer).map((head) => headOf(head, X, kind)).reduce(plus);

// A head: V X S with S = (KX)ᵀ(QX), or its softmax column by column.
function headOf({ Q, K, V }, X, kind) {
  let S = times(turned(times(K, X)), times(Q, X));
  if (kind === "softmax") {
    S = turned(turned(S).map((column) => {
      const most = max(...column), powers = column.map((t) => exp(t - most)), all = sum(powers);
      return powers.map((t) => t / all);
    }));
  }
  return times(times(V, X), S);
}

export const outputOf = (layers, X, kind) => layers.reduce((before, layer) => layerOf(layer, before, kind), X);

// Weights of a network and an input; scaled so that each layer's output has entries of the size of 1.
export function weightsOf({ widths: d, heads, H, tokens, kind }) {
  const X = random(d[0], tokens, OF_INPUT), layers = [];
  let before = X;
  heads.forEach((a, i) => {
    const [first, ...others] = Array.from({ length: H }, (_, h) => ({
      Q: random(a, d[i], i, 3 * h), K: random(a, d[i], i, 3 * h + 1), V: random(d[i + 1], d[i], i, 3 * h + 2),
    }));
    const layer = { ...first, others };
    const output = layerOf(layer, before, kind), by = sqrt(d[i + 1] * tokens) / size(output);
    const share = kind === "softmax" ? { V: by } : { Q: by ** (1 / 3), K: by ** (1 / 3), V: by ** (1 / 3) };
    for (const head of headsOf(layer)) for (const [name, factor] of Object.entries(share)) head[name] = scaled(head[name], factor);
    layers.push(layer);
    before = layerOf(layer, before, kind);
  });
  return { layers, X };
}

// What a motion is made of: for each layer or place between layers a matrix that generates it.
export function generatorsOf(layers, motion) {
  const square = (n, i) => { const E = random(n, n, OF_BASIS, motion.length, i); return scaled(E, (0.8 * sqrt(n)) / size(E)); };
  if (motion === "head bases") return layers.map(({ Q }, i) => square(Q.length, i));
  return layers.slice(1).map(({ Q }, i) => square(Q[0].length, i));
}

// The weights after a time s of the one-parameter group of a family; "dimension" is no symmetry but a straight line.
export function movedBy(layers, motion, s) {
  if (motion === "rescalings") return layers.map((layer) => eachHead(layer, ({ Q, K, V }, h) => ({ Q: scaled(Q, exp(s / (h + 1))), K, V: scaled(V, exp(-s / (h + 1))) })));
  if (motion === "dimension") {
    const other = (M, ...place) => M.map((row, i) => row.map((entry, j) => entry + 0.3 * s * drawn(OF_OTHER, ...place, i, j)));
    return layers.map((layer, i) => eachHead(layer, ({ Q, K, V }, h) => ({ Q: other(Q, i, 3 * h), K: other(K, i, 3 * h + 1), V: other(V, i, 3 * h + 2) })));
  }
  const E = generatorsOf(layers, motion);
  if (motion === "head bases") {
    return layers.map((layer, i) => {
      const there = exponential(E[i], s), back = exponential(turned(E[i]), -s);
      return eachHead(layer, ({ Q, K, V }) => ({ Q: times(there, Q), K: times(back, K), V }));
    });
  }
  let moved = layers;
  E.forEach((one, i) => {
    const there = exponential(one, s), back = exponential(one, -s);
    const write = (head) => ({ ...head, V: times(there, head.V) }), read = ({ Q, K, V }) => ({ Q: times(Q, back), K: times(K, back), V: times(V, back) });
    moved = moved.map((layer, k) => (k === i ? eachHead(layer, write) : k === i + 1 ? eachHead(layer, read) : layer));
  });
  return moved;
}

// How far two lists of matrices are apart: the largest change of an entry.
export function change(before, after) {
  const old = before.flat(2);
  return max(...after.flat(2).map((entry, n) => abs(entry - old[n])));
}

// A network whose basis between layers `at` and `at` + 1 has changed, as in `study_interface`; row 1 of V moves alone, too.
function rebased({ at, layers }, { walk, along, alone }) {
  const entry = {
    rotation: (i, j) => (j === (i ^ 1) ? (PI / 2) * Math.sign(i - j) : 0),
    stretch: (i, j) => (i === j ? (i % 2 ? -1 : 1) * Math.log(3) : 0),
    shear: (i, j) => (i % 2 === 0 && j === i + 1 ? 1.5 : 0),
  }[walk], n = layers[at - 1].V.length, [C, back] = [along, -along].map((s) => exponential(made(n, n, entry), s));
  const V = times(C, layers[at - 1].V).map((row, i) => (i ? row : row.map((t) => (1 + alone) * t)));
  const { Q, K, V: next } = layers[at], after = { Q: times(Q, back), K: times(K, back), V: times(next, back) };
  return { C, now: layers.map((layer, i) => (i === at - 1 ? { ...layer, V } : i === at ? after : layer)) };
}

// A network whose M_i are multiplied by 2^log_i, and what L answers, as in `study_rescaling`.
function answered({ layers, X, kind }, place) {
  const logs = layers.map((_, i) => place[`log_${i + 1}`]), now = layers.map(({ Q, K, V }, i) => ({ Q: scaled(Q, 2 ** logs[i]), K, V }));
  let factor = 2 ** -sum(logs.map((log, i) => log * 3 ** (layers.length - 1 - i)));
  if (kind === "softmax") {
    const [start, other] = [layers, now].map((network) => outputOf(network, X, kind).flat());
    factor = sum(start.map((t, n) => t * other[n])) / sum(other.map((t) => t * t));
  }
  return now.map((layer, i) => (i === layers.length - 1 ? { ...layer, V: scaled(layer.V, factor * 2 ** place.off) } : layer));
}

// L, M_1, …, M_l.
function virtualOf(layers) {
  let U;
  const M = layers.map(({ Q, K, V }) => {
    const [k, q] = [K, Q].map((one) => (U ? times(one, U) : one));
    U = U ? times(V, U) : V;
    return times(turned(k), q);
  });
  return [U, ...M];
}

// What the figure of two networks shows of a place: for each matrix what it is now, and whether it should stand still.
export const LOW = "₀₁₂₃₄", SAME = 1e-9; // as in virtual.py
export function seenAt(local, place) {
  const { layers, X, kind, at } = local, { C, now } = at ? rebased(local, place) : { now: answered(local, place) }, found = new Map();
  const add = (name, start, end, isStill) => {
    const most = max(size(start), size(end)), change = most ? size(start.map((row, i) => row.map((t, j) => end[i][j] - t))) / most : 0;
    const log = size(start) && size(end) ? Math.log2(size(end) / size(start)) : 0;
    found.set(name, { now: end, isStill, isSame: change <= SAME, change, log });
  };
  if (at) for (const i of [at - 1, at]) for (const letter of "QKV") add(letter + LOW[i + 1], layers[i][letter], now[i][letter], false);
  const [before, after] = [layers, now].map(virtualOf);
  before.forEach((M, i) => add(i ? `M${LOW[i]}` : "L", M, after[i], Boolean(at)));
  add("φ(X)", outputOf(layers, X, kind), outputOf(now, X, kind), true);
  return { C, found };
}

// How far the output moves, as a share of its size: in percent while that is read at a glance.
export const inWords = (share) => (share < 10 ? `${Math.round(100 * share)} %` : `${(+share.toPrecision(2)).toLocaleString("en")} times its size`);
