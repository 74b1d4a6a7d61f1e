"""Theorem 3.9 as a walk: one softmax layer, evaluated only, gives its weights away.

    one token on    X = (x, 0, …, 0): a token 0 looks everywhere alike, so the last column is Vx / t
                    the first column is E Vx / (E + t − 1) with E = exp(xᵀAx / τ)
    two tokens on   X = (x, y, 0, …): it is (E Vx + F Vy) / (E + F + t − 2) with F = exp(yᵀAx / τ)

The first line gives V, the second the symmetric part of A, the third A ("Theorem 3.9"). The walk uses
nothing of exp but that it has an inverse, so it is written once: for the reals, and for integer weights over
a prime field with the powers of a generator in its place, where it has to give the integers back exactly.
"""

from dataclasses import dataclass, replace
from math import inf, log2

import numpy as np

from neuroviz.engine.block import whole_number
from neuroviz.softmax.one_layer import Function, Powers, RealExponential, powers_layer, softmax_layer
from neuroviz.softmax.one_layer_probes import Probe, ReadOff, Step

_WEAK = 0.1  # a basis vector on which V is this small, relative to the largest, gets a stronger one added
_FRESH = 20  # inputs on which the layer that was read is compared with the function
_LONGEST = 2.0**40  # tokens are made longer or shorter by at most this


def read_off(
    function: Function,
    d: int,
    tokens: int,
    temperature: float = 1.0,
    scale: float | None = None,
    seed: int = 0,
) -> ReadOff:
    """The weights (A, V) of a softmax layer from values of its function alone ("Theorem 3.9").

    What cannot be read is NaN: all of A where V = 0 or t = 1, single entries where attention is so sharp that
    rounding hides them. A function that is no softmax layer is read too, and then differs from
    the layer that was read: look at `is_layer`.

    Args:
        function: tokens (N, d, t) ↦ outputs (N, d', t).
        d: the width of the tokens.
        tokens: t.
        temperature: τ. The function knows A/τ only, so τ has to be told.
        scale: the length of the tokens; None for one at which attention is neither sharp nor flat.
        seed: of the fresh tokens at the end.

    Raises:
        ValueError: if d, tokens, temperature or scale is not a positive number, or the outputs have another
            shape.

    >>> A, V = np.array([[1.0, -2.0], [0.5, 3.0]]), np.array([[1.0, 2.0]])
    >>> found = read_off(softmax_layer(A, V), d=2, tokens=3)
    >>> bool(np.abs(found.A - A).max() < 1e-14), found.is_layer
    (True, True)
    """
    for name, value in (("d", d), ("tokens", tokens)):
        whole_number(name, value)
    for name, value in (("temperature", temperature), ("scale", 1.0 if scale is None else scale)):
        if not 0 < value < inf:
            raise ValueError(f"{name} must be above 0; got {value!r}")
    seen = _checked(function, d, tokens)
    exponential = RealExponential(temperature)
    length = _fitting_length(seen, exponential, d, tokens) if scale is None else scale
    found = _walk(seen, exponential, d, tokens, length)
    # The walk never saw these inputs: a function that is no softmax layer gives itself away here.
    rng = np.random.default_rng([seed, 39])
    X = length * rng.standard_normal((_FRESH, d, tokens))
    lost = np.isnan(found.A)
    A = np.where(lost, rng.standard_normal((d, d)) * temperature / length**2, found.A)
    expected, got = softmax_layer(A, found.V, temperature)(X), seen(X)
    gap, size = float(np.abs(expected - got).max()), float(np.abs(got).max())
    return replace(found, mismatch=gap / size if size > 0 else gap)


@dataclass(frozen=True, eq=False)
class ExactReadOff:
    """Integer weights, and what the walk over F_p made of their function.

    Attributes:
        A, V: the weights.
        powers: what stood for exp.
        found: what was read; NaN where nothing could be.
    """

    A: np.ndarray
    V: np.ndarray
    powers: Powers
    found: ReadOff

    @property
    def equal_A(self) -> int:
        """How many entries of A came back, exactly."""
        return int((self.found.A == self.A).sum())

    @property
    def equal_V(self) -> int:
        """How many entries of V came back, exactly."""
        return int((self.found.V == self.V).sum())


def read_off_exactly(A: np.ndarray, V: np.ndarray, tokens: int, powers: Powers | None = None) -> ExactReadOff:
    """The walk over F_p: whole weights whose function, with gⁿ in place of eⁿ, is evaluated only.

    No tolerance: an entry comes back or it does not.

    Args:
        A, V: whole entries, so small that the exponents stay in the table of `powers`.
        tokens: t.
        powers: the field, g and the table.

    >>> exact = read_off_exactly(np.array([[1, -2], [0, 3]]), np.array([[0, 2]]), tokens=2)
    >>> exact.found.A
    array([[ 1., -2.],
           [ 0.,  3.]])
    """
    powers = Powers() if powers is None else powers
    function = _checked(powers_layer(A, V, powers), len(A), tokens)
    return ExactReadOff(A, V, powers, _walk(function, powers, len(A), tokens, scale=1.0))


def _checked(function: Function, d: int, t: int) -> Function:
    """The function, refused where its values have another shape."""

    def checked(X: np.ndarray) -> np.ndarray:
        Y = np.asarray(function(X))
        if Y.ndim != 3 or Y.shape[0] != len(X) or Y.shape[2] != t:
            raise ValueError(
                f"the function takes tokens of shape (N, {d}, {t}) to outputs of shape "
                f"(N, d', {t}); for N = {len(X)} it gave {Y.shape}"
            )
        return Y

    return checked


def _fitting_length(function: Function, exponential: RealExponential, d: int, t: int) -> float:
    """A power of 2 such that the largest of the exponents read is near 1: no digits are lost."""
    length = 1.0
    if t == 1:
        return length
    for _ in range(40):
        _, *steps = _walk(function, exponential, d, t, length).steps
        if steps[0].dies:
            return length
        sizes = [abs(probe.logit) / exponential.temperature for step in steps for probe in step.probes]
        saturated = any(map(np.isnan, sizes))
        factor = 0.25 if saturated else 2.0 ** round(-log2(max(*sizes, 1e-12)) / 2)
        if factor == 1 or not 1 / _LONGEST <= length * factor <= _LONGEST:
            return length
        length *= factor
    return length


def _walk(function: Function, exponential: RealExponential | Powers, d: int, t: int, scale: float) -> ReadOff:
    """The three steps, over whatever field the exponentials live in."""
    oracle, over = _Oracle(function, exponential, t, scale), exponential.over
    values = _read_values(oracle, d)
    V = over.reduce(t * np.array([probe.Y[:, -1] for probe in values]).T) / scale
    # A basis on which V is not 0, nor nearly so, where there is one.
    sizes = np.abs(V).max(axis=0)
    basis = np.eye(d)
    basis[int(np.argmax(sizes))] += sizes < _WEAK * sizes.max()
    # And a sign for each pair that keeps V(b_j ± b_k) as far from 0.
    signs = {(j, k): _stronger_sign(V, basis, j, k) for j in range(d) for k in range(j + 1, d)}
    squares = _read_squares(oracle, V, basis, signs)
    pairs = _read_pairs(oracle, V, basis, signs, squares[:d]) if t > 1 else ()
    dead = not V.any()
    one = "s · 0 = 0 holds for every s" if dead else "E/(E + 0) = 1 for every E" if t == 1 else ""
    two = "0 = 0 holds for every F" if dead else "there is no second token" if t == 1 else ""
    steps = Step(values, ""), Step(squares, one), Step(pairs, two)
    return ReadOff(over, t, scale, basis, steps)


@dataclass(frozen=True, eq=False)
class _Oracle:
    """A function that can only be evaluated, at t tokens of which a few are on and have length `scale`."""

    function: Function
    exponential: RealExponential | Powers
    tokens: int
    scale: float

    def ask(self, on: np.ndarray) -> np.ndarray:
        """What comes out where the first tokens are given, (N, tokens on, d), and all others are 0."""
        X = np.zeros((len(on), on.shape[2], self.tokens))
        X[:, :, : on.shape[1]] = self.scale * np.swapaxes(on, 1, 2)
        return self.function(X)

    def images(self, V: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Vx, row by row."""
        return self.exponential.over.matmul(x * self.scale, V.T)

    def ratio(self, multiple: np.ndarray, of: np.ndarray) -> np.ndarray:
        """The s of multiple = s · of, row by row, from the largest entry; NaN where `of` is 0."""
        row, largest = np.arange(len(of)), np.abs(of).argmax(axis=1)
        return self.exponential.divide(multiple[row, largest], of[row, largest])


def _read_values(oracle: _Oracle, d: int) -> tuple[Probe, ...]:
    """Step 1. The last of t ≥ 2 tokens is 0 and attends to all alike; a single token attends to itself."""
    units = np.eye(d)
    Y = oracle.ask(units[:, None])
    return tuple(Probe((k,), units[k], None, Y[k]) for k in range(d))


def _read_squares(
    oracle: _Oracle, V: np.ndarray, basis: np.ndarray, signs: dict[tuple[int, int], int]
) -> tuple[Probe, ...]:
    """Step 2. With one token on, the first column is s Vx, and E = (t − 1) s / (1 − s)."""
    exponential, reduce, t = oracle.exponential, oracle.exponential.over.reduce, oracle.tokens
    places = [(k, k) for k in range(len(basis))] + list(signs)
    x = np.array([basis[:, j] if j == k else basis[:, j] + signs[j, k] * basis[:, k] for j, k in places])
    Y = oracle.ask(x[:, None])
    share = oracle.ratio(Y[:, :, 0], oracle.images(V, x))
    E = exponential.divide(reduce((t - 1) * share), reduce(1 - share))
    logits = exponential.log(E) if t > 1 else np.full(len(E), np.nan)
    return tuple(Probe(place, x[i], None, Y[i], E[i], logits[i]) for i, place in enumerate(places))


def _read_pairs(
    oracle: _Oracle,
    V: np.ndarray,
    basis: np.ndarray,
    signs: dict[tuple[int, int], int],
    squares: tuple[Probe, ...],
) -> tuple[Probe, ...]:
    """Step 3. With two tokens on, F (Vy − out) = (E + t − 2) out − E Vx, where only F is not known.

    The second token is y = ∓b_k, where V(b_j ± b_k) is large: then Vy − out is not 0.
    """
    reduce, d = oracle.exponential.over.reduce, len(basis)
    # With a single basis vector the second token is its negative.
    places = [(j, k) for j in range(d) for k in range(d) if j != k] or [(0, 0)]
    x = np.array([basis[:, j] for j, _ in places])
    y = np.array([-signs.get((min(place), max(place)), 1) * basis[:, place[1]] for place in places])
    E = np.array([squares[j].exponential for j, _ in places])
    Y = oracle.ask(np.stack([x, y], axis=1))
    out, Vx, Vy = Y[:, :, 0], oracle.images(V, x), oracle.images(V, y)
    known = reduce(out * reduce(E + oracle.tokens - 2)[:, None]) - reduce(Vx * E[:, None])
    F = oracle.ratio(reduce(known), reduce(Vy - out))
    logits = oracle.exponential.log(F)
    return tuple(Probe(place, x[i], y[i], Y[i], F[i], logits[i]) for i, place in enumerate(places))


def _stronger_sign(V: np.ndarray, basis: np.ndarray, j: int, k: int) -> int:
    """+1 or −1, whichever keeps V(b_j ± b_k) away from 0."""
    plus, minus = (np.abs(V @ (basis[:, j] + sign * basis[:, k])).max() for sign in (1, -1))
    return 1 if plus >= minus else -1
