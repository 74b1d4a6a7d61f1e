"""The network from its definition, token by token, with derivatives by dual numbers: an
independent check.

Short, slow, and without a line of the package: it runs over whatever adds, multiplies
and divides (fractions, `Residue`, mpmath, float), and takes the exponential as an
argument.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np


@dataclass(frozen=True)
class Residue:
    """A whole number modulo p."""

    n: int
    p: int

    def __add__(self, other):
        return Residue((self.n + other.n) % self.p, self.p)

    def __sub__(self, other):
        return Residue((self.n - other.n) % self.p, self.p)

    def __mul__(self, other):
        # A list of slopes multiplies entry by entry, from its own side.
        return (
            Residue(self.n * other.n % self.p, self.p)
            if isinstance(other, Residue)
            else NotImplemented
        )

    def __truediv__(self, other):
        return Residue(self.n * pow(other.n, -1, self.p) % self.p, self.p)

    def __bool__(self):
        return self.n != 0


@dataclass(frozen=True)
class Dual:
    """A number and its derivative in each parameter."""

    value: object
    slope: np.ndarray

    def __add__(self, other):
        return Dual(self.value + other.value, self.slope + other.slope)

    def __mul__(self, other):
        return Dual(
            self.value * other.value,
            self.slope * other.value + other.slope * self.value,
        )

    def __truediv__(self, other):
        ratio = self.value / other.value
        return Dual(ratio, (self.slope - other.slope * ratio) / other.value)


def total(terms):
    first, *rest = terms
    for term in rest:
        first = first + term
    return first


def dot(x, y):
    return total(a * b for a, b in zip(x, y, strict=True))


def apply(M, x):
    return [dot(row, x) for row in M]


def output(attention: str, weights, tokens, exp: Callable):
    """The tokens that come out: token i becomes Σ_j s(x_jᵀ A x_i) V x_j with A = KᵀQ
    (Eq. 1, 15).

    Args:
        attention: "lightning" (s is the identity) or "softmax" (s is exp over its sum
            over j).
        weights: (Q, K, V) for each layer, as lists of rows.
        tokens: a list of tokens.
        exp: the exponential; called once for each pair, in the order layer, i, j.
    """
    for Q, K, V in weights:
        after = []
        for x_i in tokens:
            share = [dot(apply(K, x_j), apply(Q, x_i)) for x_j in tokens]
            if attention == "softmax":
                exponentials = [exp(s) for s in share]
                share = [e / total(exponentials) for e in exponentials]
            mixed = [
                total(s * x_j[m] for s, x_j in zip(share, tokens, strict=True))
                for m in range(len(x_i))
            ]
            after.append(apply(V, mixed))
        tokens = after
    return tokens


def derivative(attention: str, weights, tokens, exp: Callable = None):
    """One row for each output coordinate (coordinate first, then token), one column for
    each parameter."""
    count = sum(len(M) * len(M[0]) for layer in weights for M in layer)
    zero = tokens[0][0] - tokens[0][0]
    flat = np.full(count, zero, dtype=object)
    column = iter(range(count))

    def parameter(x):
        slope = flat.copy()
        slope[next(column)] = one_like(x)
        return Dual(x, slope)

    def dual_exp(s):
        e = exp(s.value)
        return Dual(e, s.slope * e)

    moving = [
        tuple([[parameter(x) for x in row] for row in M] for M in layer)
        for layer in weights
    ]
    given = [[Dual(x, flat) for x in token] for token in tokens]
    out = output(attention, moving, given, dual_exp)
    return [list(out[i][m].slope) for m in range(len(out[0])) for i in range(len(out))]


def one_like(x):
    return Residue(1, x.p) if isinstance(x, Residue) else type(x)(1)


def rank(rows, is_zero: Callable = lambda x: not x) -> int:
    """By elimination, pivoting on the largest entry where there is an order."""
    rows = [list(row) for row in rows]
    found = 0
    for c in range(len(rows[0])):
        size = lambda r: 0 if isinstance(rows[r][c], Residue) else abs(rows[r][c])
        candidates = [r for r in range(found, len(rows)) if not is_zero(rows[r][c])]
        if not candidates:
            continue
        best = max(candidates, key=size)
        rows[found], rows[best] = rows[best], rows[found]
        top = rows[found]
        for r in range(found + 1, len(rows)):
            if not is_zero(rows[r][c]):
                factor = rows[r][c] / top[c]
                rows[r] = [x - factor * y for x, y in zip(rows[r], top, strict=True)]
        found += 1
    return found


def measure(
    arch,
    number: Callable,
    exp: Callable = None,
    inputs: int = None,
    is_zero=lambda x: not x,
) -> int:
    """The rank of the derivative at random weights, on as many random inputs as there
    are parameters.

    Args:
        arch: sizes and kind of attention.
        number: called without arguments, draws a number.
        exp: its exponential, for softmax.
    """
    matrix = lambda rows, columns: [
        [number() for _ in range(columns)] for _ in range(rows)
    ]
    sizes = zip(arch.widths[:-1], arch.widths[1:], arch.head_dims, strict=True)
    weights = [(matrix(a, d), matrix(a, d), matrix(out, d)) for d, out, a in sizes]
    rows = []
    for _ in range(inputs or arch.num_parameters):
        rows += derivative(
            arch.attention, weights, matrix(arch.tokens, arch.widths[0]), exp
        )
    return rank(rows, is_zero)


class RandomExponential:
    """A function that takes every argument to a random number, and equal arguments to
    the same one.

    Of the exponential nothing else matters for a generic rank (Ax 1971).
    """

    def __init__(self, number: Callable):
        self.number = number
        self.known = {}

    def __call__(self, s):
        while not self.known.get(s):
            self.known[s] = self.number()
        return self.known[s]


def residues(p: int, seed: int) -> Callable:
    draw = random.Random(seed)
    return lambda: Residue(draw.randrange(p), p)


def fractions(seed: int, largest: int = 9) -> Callable:
    draw = random.Random(seed)
    return lambda: Fraction(draw.randint(-largest, largest), draw.randint(1, 3))


def factors(layers: int) -> list[tuple[int, bool]]:
    """The M of Eq. 12 from left to right, and whether transposed: Eq. 10, G = XXᵀ
    written out layer by layer.

    w_0 is empty, and w_h = w_{h−1} M_h w_{h−1} M_hᵀ.
    """
    within = [[]]
    for h in range(1, layers + 1):
        w = within[-1]
        within.append([*w, (h, False), *w, (h, True), *w])
    return [
        factor for h in range(layers, 0, -1) for factor in [*within[h - 1], (h, False)]
    ]
