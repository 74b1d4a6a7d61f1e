// One term of Eq. 12 and its reflection, in float64: `engine/unrolling.py` and `unrolling.py` once more. No imports.
const { min } = Math;

// M̃_1, …, M̃_n by the ternary digits of the place.
export const factorsOf = (layers) => Array.from({ length: (3 ** layers - 1) / 2 }, (_, n) => {
  const digits = (n + 1).toString(3), kept = digits.replace(/0+$/, "");
  return { digits, kept, layer: 1 + digits.length - kept.length, isTransposed: kept.endsWith("2") };
});

// The first and the last of the indices that the mirror at a place turns round, from 1.
export function windowOf(factors, place) {
  const radius = min(3 ** (factors[place - 1].layer - 1), place, factors.length + 1 - place);
  return [place - radius + 1, place + radius];
}

// The term at a place; the window gets equal ends, and an antisymmetric M stands there if asked for.
export function termAt({ layers, first, links, drawn, isAntisymmetric, isOfTwo }, { place }) {
  const factors = factorsOf(layers), [from, to] = windowOf(factors, place), indices = [...drawn], here = factors[place - 1];
  if (!isOfTwo) indices[from - 1] = indices[to - 1];
  const link = (h, j, k) => (!isAntisymmetric || h !== here.layer ? links[h - 1][j][k] : j < k ? links[h - 1][j][k] : j > k ? -links[h - 1][k][j] : 0);
  const termOf = (tokens) => {
    const values = factors.map(({ layer, isTransposed }, n) => (isTransposed ? link(layer, tokens[n + 1], tokens[n]) : link(layer, tokens[n], tokens[n + 1])));
    return { indices: tokens, start: first[tokens[0]], values, value: values.reduce((all, t) => all * t, first[tokens[0]]) };
  };
  const turned = [...indices.slice(0, from - 1), ...indices.slice(from - 1, to).reverse(), ...indices.slice(to)];
  return { factors, window: [from, to], focus: isOfTwo ? factors.length : place, ...termOf(indices), turned: termOf(turned) };
}
