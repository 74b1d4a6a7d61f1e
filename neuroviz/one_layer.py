"""Theorem 3.9 as a walk: one softmax layer, evaluated only, gives its weights away.

For tokens X = (x_1, …, x_t) the layer is φ(X) = V X S, S_ji = E_ji / Σ_k E_ki, E_ji = exp(x_jᵀAx_i / τ).

    one token on    X = (x, 0, …, 0): a token 0 looks everywhere alike, so the last column is Vx / t
                    the first column is E Vx / (E + t − 1) with E = exp(xᵀAx / τ)
    two tokens on   X = (x, y, 0, …): it is (E Vx + F Vy) / (E + F + t − 2) with F = exp(yᵀAx / τ)

The first line gives V, the second the symmetric part of A, the third A ("Theorem 3.9"). The walk uses
nothing of exp but that it has an inverse, so it is written once: for the reals, and for integer weights over
a prime field with the powers of a generator in its place, where it has to give the integers back exactly.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import ceil, inf, log2

import numpy as np

from neuroviz.field import Field, PrimeField, Reals
from neuroviz.network import Layer, forward

STEPS = ("V", "one token", "two tokens", "limit")
SAME = 1e-8  # relative: two layers whose outputs on fresh tokens differ by less count as one function
_WEAK = 0.1  # a basis vector on which V is this small, relative to the largest, gets a stronger one added
_FRESH = 20  # inputs on which the layer that was read is compared with the function
_LONGEST = 2.0**40  # tokens are made longer or shorter by at most this
_LARGEST_VALUE = 3  # entries of V in the integer layer; those of Q and K are −1, 0, 1
_LIMIT_LOGS = tuple(k / 4 for k in range(-8, 17))  # log₁₀ of the temperatures on the way to the limit
_SLOPE_FROM = 2.0  # where, in log₁₀ τ, slopes are taken: the next order is 100 times smaller there
_ROUNDING = 1e-12  # smaller gaps tell of rounding, not of the limit
_RESCALE = 2.0

Function = Callable[[np.ndarray], np.ndarray]


# What stands for exp


@dataclass(frozen=True)
class RealExponential:
    """exp(·/τ) and its inverse, over the reals."""

    temperature: float = 1.0

    @property
    def over(self) -> Field:
        """The field in which exponentials live."""
        return Reals()

    def log(self, E: np.ndarray) -> np.ndarray:
        """τ log E; NaN where E is not positive and finite: rounding has eaten it, or it is no exponential."""
        lost = ~(np.isfinite(E) & (E > 0))
        return np.where(lost, np.nan, self.temperature * np.log(np.where(lost, 1.0, E)))

    def divide(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """x / y, NaN where y is 0."""
        return np.asarray(x) / np.where(np.asarray(y) == 0, np.nan, y)


@dataclass(frozen=True)
class Powers:
    """n ↦ gⁿ in F_p: it turns sums into products as exp does, and whole numbers come back from a table.

    Attributes:
        over: the prime field.
        base: g. A generator of the p − 1 invertible elements tells all n apart; an element of order m only
            what n leaves modulo m.
        largest: the table holds g^−largest to g^largest.

    >>> powers = Powers()
    >>> powers.log(powers.exp(np.array([-3, 0, 5])))
    array([-3.,  0.,  5.])
    """

    over: PrimeField = PrimeField()
    base: int = 3
    largest: int = 100

    @cached_property
    def _table(self) -> dict[int, int]:
        """Element → exponent; of several exponents the one nearest to 0."""
        exponents = sorted(range(-self.largest, self.largest + 1), key=abs, reverse=True)
        return {pow(self.base, n, self.over.p): n for n in exponents}

    def exp(self, n: np.ndarray) -> np.ndarray:
        """gⁿ for whole numbers n."""
        found = [pow(self.base, int(k), self.over.p) for k in np.ravel(n)]
        return self.over.reduce(np.array(found, dtype=float).reshape(np.shape(n)))

    def log(self, E: np.ndarray) -> np.ndarray:
        """n for gⁿ; NaN where E is none of the powers in the table."""
        return self._each(lambda k: self._table.get(k, np.nan), E)

    def divide(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """x / y mod p, NaN where y is 0."""
        inverse = self._each(lambda k: pow(k, -1, self.over.p) if k else np.nan, y)
        return self.over.reduce(np.asarray(x) * self.over.reduce(inverse))

    def _each(self, rule: Callable[[int], float], x: np.ndarray) -> np.ndarray:
        found = [np.nan if np.isnan(k) else float(rule(int(k) % self.over.p)) for k in np.ravel(x)]
        return np.array(found).reshape(np.shape(x))


def softmax_layer(A: np.ndarray, V: np.ndarray, temperature: float = 1.0) -> Function:
    """The function of one softmax layer over the reals: tokens (N, d, t) ↦ outputs (N, d', t).

    >>> layer = softmax_layer(np.eye(2), np.eye(2))
    >>> layer(np.array([[[3.0, 0.0], [0.0, 0.0]]]))[0, :, 1]
    array([1.5, 0. ])
    """
    weights = (Layer(A / temperature, np.eye(len(A)), V),)
    return lambda X: forward(Reals(), "softmax", weights, X)


def powers_layer(A: np.ndarray, V: np.ndarray, powers: Powers) -> Function:
    """The same with gⁿ for exp: whole tokens (N, d, t) ↦ outputs in F_p; NaN where a column's sum is 0.

    Args:
        A, V: whole entries.
        powers: the field and g.
    """

    def function(X: np.ndarray) -> np.ndarray:
        E = powers.exp(np.swapaxes(X, -1, -2) @ A @ X)
        S = powers.divide(E, powers.over.reduce(E.sum(axis=-2, keepdims=True)))
        return powers.over.matmul(V, powers.over.matmul(X, S))

    return function


# The walk


@dataclass(frozen=True, eq=False)
class Probe:
    """One input, and the number that its output gives away.

    Attributes:
        place: (k,) where column k of V is read; (j, j), (j, k) where x = b_j, b_j ± b_k; counted from 0.
        x, y: the tokens that are on, as whole combinations of basis vectors, before scaling; y may be None.
        X, Y: the tokens that were put in, (d, t), and what came out, (d', t).
        column: of the output that is looked at: t − 1 for V, 0 otherwise.
        exponential: E = exp(xᵀAx/τ) or, with two tokens on, F = exp(yᵀAx/τ); None where V is read.
        beside: the E that was known before, with two tokens on; None otherwise.
        logit: xᵀAx or yᵀAx of the tokens as they were put in; NaN where it was lost; None where V is read.
        attention: how the token of that column attends to all, from the exponentials; NaN where lost.
    """

    place: tuple[int, ...]
    x: np.ndarray
    y: np.ndarray | None
    X: np.ndarray
    Y: np.ndarray
    column: int
    exponential: float | None = None
    beside: float | None = None
    logit: float | None = None
    attention: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class Step:
    """A step of the walk.

    Attributes:
        claim: what it gives, in a sentence.
        equation: what is solved.
        dies: why it gives nothing here; "" where it works.
        probes: the inputs of this step, in order.
    """

    claim: str
    equation: str
    dies: str
    probes: tuple[Probe, ...]


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of the weights on the way; NaN for what is not."""

    V: np.ndarray
    sym: np.ndarray
    A: np.ndarray


@dataclass(frozen=True, eq=False)
class ReadOff:
    """The weights of a layer, read off its values.

    Attributes:
        over: the field that the outputs live in.
        tokens: t.
        scale: how long the tokens were made.
        basis: columns b_k: e_k, or e_k plus another e_m where V e_k is 0 or nearly so.
        steps: V; one token on; two tokens on.
        evaluations: on how many inputs the function was evaluated, those to find the scale and those of the
            last check included.
        mismatch: the largest difference between the function and the layer that was read, on fresh tokens and
            relative to the largest output; entries of A that could not be read are drawn at random for it.
            None over a prime field, where the weights themselves are compared.
    """

    over: Field
    tokens: int
    scale: float
    basis: np.ndarray
    steps: tuple[Step, Step, Step]
    evaluations: int
    mismatch: float | None

    @property
    def V(self) -> np.ndarray:
        """The value matrix, (d', d)."""
        return self._all.V

    @property
    def sym(self) -> np.ndarray:
        """(A + Aᵀ)/2, from the second step alone; NaN where nothing could be read."""
        return self._all.sym

    @property
    def A(self) -> np.ndarray:
        """The attention matrix, (d, d); NaN where nothing could be read."""
        return self._all.A

    @cached_property
    def _all(self) -> Known:
        return self.after(3)

    @property
    def is_layer(self) -> bool:
        """Whether the function is that of the layer that was read, on tokens not used before."""
        return self.mismatch is not None and self.mismatch < SAME

    def after(self, step: int, count: int | None = None) -> Known:
        """What is known after the first `count` probes (None: all) of a step, 1 to 3, and all steps before.

        Raises:
            ValueError: if there is no such step.
        """
        if step not in (1, 2, 3):
            raise ValueError(f"the walk has the steps 1, 2 and 3; got {step!r}")
        done = [s.probes if i <= step else () for i, s in enumerate(self.steps, start=1)]
        done[step - 1] = done[step - 1][:count]
        first, second, third = done
        d = len(self.basis)
        V = np.full((len(self.steps[0].probes[0].Y), d), np.nan)
        for probe in first:
            V[:, probe.place[0]] = self._value_column(probe)
        sums = {probe.place: probe for probe in second}
        squares = [sums[k, k].logit if (k, k) in sums else np.nan for k in range(d)]
        sym, G = np.diag(squares), np.diag(squares)
        sym[~np.eye(d, dtype=bool)] = G[~np.eye(d, dtype=bool)] = np.nan
        for (j, k), probe in sums.items():
            if j < k:  # q(b_j ± b_k) = q(b_j) + q(b_k) ± 2 b_jᵀ Sym b_k
                sign = _sign(self.basis, probe.x, j, k)
                sym[j, k] = sym[k, j] = sign * (probe.logit - squares[j] - squares[k]) / 2
        for probe in third:
            j, k = probe.place
            G[k, j] = probe.logit if np.array_equal(probe.y, self.basis[:, k]) else -probe.logit
        weak = self.basis - np.eye(d)
        return Known(V, _from_basis(sym, weak) / self.scale**2, _from_basis(G, weak) / self.scale**2)

    def _value_column(self, probe: Probe) -> np.ndarray:
        return self.over.reduce(self.tokens * probe.Y[:, -1]) / self.scale


def _sign(basis: np.ndarray, x: np.ndarray, j: int, k: int) -> int:
    return 1 if np.array_equal(x, basis[:, j] + basis[:, k]) else -1


def _from_basis(table: np.ndarray, weak: np.ndarray) -> np.ndarray:
    """The matrix A of a table b_kᵀAb_j, for b_k = e_k + weak[:, k], entry by entry.

    Only what an entry needs is asked for, so what is not known (NaN) does not spread.
    """
    touched = weak.any(axis=0)
    if not touched.any():
        return table
    anchor = int(np.argmax(weak.any(axis=1)))
    column, row = table[:, [anchor]], table[[anchor]]
    found = table - np.where(touched[:, None], row, 0.0) - np.where(touched[None], column, 0.0)
    return found + np.where(touched[:, None] & touched[None], table[anchor, anchor], 0.0)


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
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{name} must be a whole number from 1 on; got {value!r}")
    for name, value in (("temperature", temperature), ("scale", 1.0 if scale is None else scale)):
        if not 0 < value < inf:
            raise ValueError(f"{name} must be above 0; got {value!r}")
    seen = _Counted(function, d, tokens)
    exponential = RealExponential(temperature)
    length = _fitting_length(seen, exponential, d, tokens) if scale is None else scale
    found = _walk(seen, exponential, d, tokens, length)
    # The walk never saw these inputs: a function that is no softmax layer gives itself away here.
    rng = np.random.default_rng([seed, 39])
    X = length * rng.standard_normal((_FRESH, d, tokens))
    lost = np.isnan(found.A)
    A = np.where(lost, rng.standard_normal((d, d)) * temperature / length**2, found.A)
    expected, got = softmax_layer(A, found.V, temperature)(X), seen(X)
    size = float(np.abs(got).max())
    gap = float(np.abs(expected - got).max())
    mismatch = gap / size if size > 0 else gap
    return replace(found, evaluations=seen.count, mismatch=mismatch)


def _fitting_length(function: Function, exponential: RealExponential, d: int, t: int) -> float:
    """A power of 2 such that the largest of the exponents read is near 1: no digits are lost."""
    length = 1.0
    if t == 1:
        return length
    for _ in range(40):
        steps = _walk(function, exponential, d, t, length).steps
        sizes = [abs(probe.logit) / exponential.temperature for step in steps[1:] for probe in step.probes]
        if steps[1].dies:
            return length
        saturated = any(map(np.isnan, sizes))
        factor = 0.25 if saturated else 2.0 ** round(-log2(max(*sizes, 1e-12)) / 2)
        if factor == 1 or not 1 / _LONGEST <= length * factor <= _LONGEST:
            return length
        length *= factor
    return length


class _Counted:
    """A function that checks the shape of its values and counts how often it was evaluated."""

    def __init__(self, function: Function, d: int, t: int) -> None:
        self._function, self._d, self._t, self.count = function, d, t, 0

    def __call__(self, X: np.ndarray) -> np.ndarray:
        Y = np.asarray(self._function(X))
        if Y.ndim != 3 or Y.shape[0] != len(X) or Y.shape[2] != self._t:
            raise ValueError(
                f"the function takes tokens of shape (N, {self._d}, {self._t}) to outputs of shape "
                f"(N, d', {self._t}); for N = {len(X)} it gave {Y.shape}"
            )
        self.count += len(X)
        return Y


def _walk(function: Function, exponential: RealExponential | Powers, d: int, t: int, scale: float) -> ReadOff:
    """The three steps, over whatever field the exponentials live in."""
    V, first = _read_values(function, exponential.over, d, t, scale)
    # A basis on which V is not 0, nor nearly so, where there is one.
    sizes = np.abs(V).max(axis=0)
    basis = np.eye(d)
    basis[int(np.argmax(sizes))] += sizes < _WEAK * sizes.max()
    # And a sign for each pair that keeps V(b_j ± b_k) as far from 0.
    signs = {(j, k): _stronger_sign(V, basis, j, k) for j in range(d) for k in range(j + 1, d)}
    second = _read_squares(function, exponential, V, basis, signs, t, scale)
    third = _read_pairs(function, exponential, V, basis, signs, second[:d], t, scale) if t > 1 else ()
    return ReadOff(exponential.over, t, scale, basis, _tell(first, second, third, t, not V.any()), 0, None)


def _read_values(
    function: Function, over: Field, d: int, t: int, scale: float
) -> tuple[np.ndarray, tuple[Probe, ...]]:
    """Step 1. The last of t ≥ 2 tokens is 0 and attends to all alike; a single token attends to itself."""
    units, shares = np.eye(d), (1 / t,) * t
    X, Y = _ask(function, units[:, None], t, scale)
    probes = tuple(Probe((k,), units[k], None, X[k], Y[k], t - 1, attention=shares) for k in range(d))
    return over.reduce(t * Y[:, :, -1].T) / scale, probes


def _read_squares(
    function: Function,
    exponential: RealExponential | Powers,
    V: np.ndarray,
    basis: np.ndarray,
    signs: dict[tuple[int, int], int],
    t: int,
    scale: float,
) -> tuple[Probe, ...]:
    """Step 2. With one token on, the first column is s Vx, and E = (t − 1) s / (1 − s)."""
    over, d = exponential.over, len(basis)
    places = [(k, k) for k in range(d)] + list(signs)
    x = [basis[:, j] if j == k else basis[:, j] + signs[j, k] * basis[:, k] for j, k in places]
    X, Y = _ask(function, np.array(x)[:, None], t, scale)
    share = _ratio(exponential, Y[:, :, 0], over.matmul(np.array(x) * scale, V.T))
    E = exponential.divide(over.reduce((t - 1) * share), over.reduce(1 - share))
    logits = exponential.log(E) if t > 1 else np.full(len(E), np.nan)
    return tuple(
        Probe(place, x[i], None, X[i], Y[i], 0, E[i], None, logits[i], _shares(exponential, t, E[i]))
        for i, place in enumerate(places)
    )


def _read_pairs(
    function: Function,
    exponential: RealExponential | Powers,
    V: np.ndarray,
    basis: np.ndarray,
    signs: dict[tuple[int, int], int],
    squares: tuple[Probe, ...],
    t: int,
    scale: float,
) -> tuple[Probe, ...]:
    """Step 3. With two tokens on, F (Vy − out) = (E + t − 2) out − E Vx, where only F is not known.

    The second token is y = ∓b_k, where V(b_j ± b_k) is large: then Vy − out is not 0.
    """
    over, d = exponential.over, len(basis)
    # With a single basis vector the second token is its negative.
    places = [(j, k) for j in range(d) for k in range(d) if j != k] or [(0, 0)]
    x = np.array([basis[:, j] for j, _ in places])
    y = np.array([-signs.get((min(place), max(place)), 1) * basis[:, place[1]] for place in places])
    E = np.array([squares[j].exponential for j, _ in places])
    X, Y = _ask(function, np.stack([x, y], axis=1), t, scale)
    out, Vx, Vy = Y[:, :, 0], over.matmul(x * scale, V.T), over.matmul(y * scale, V.T)
    known = over.reduce(out * over.reduce(E + t - 2)[:, None]) - over.reduce(Vx * E[:, None])
    F = _ratio(exponential, over.reduce(known), over.reduce(Vy - out))
    logits, on = exponential.log(F), list(zip(E, F, strict=True))
    return tuple(
        Probe(place, x[i], y[i], X[i], Y[i], 0, F[i], E[i], logits[i], _shares(exponential, t, *on[i]))
        for i, place in enumerate(places)
    )


def _tell(
    first: tuple[Probe, ...], second: tuple[Probe, ...], third: tuple[Probe, ...], t: int, dead: bool
) -> tuple[Step, Step, Step]:
    """The steps, and why they give nothing where they do not."""
    one = "s · 0 = 0 holds for every s" if dead else "E/(E + 0) = 1 for every E" if t == 1 else ""
    two = "0 = 0 holds for every F" if dead else "there is no second token" if t == 1 else ""
    return (
        Step("V is known.", "last column = Vx / t", "", first),
        Step("xᵀAx is known: the symmetric part of A.", "first column = E Vx / (E + t − 1)", one, second),
        Step("yᵀAx is known: all of A.", "first column = (E Vx + F Vy) / (E + F + t − 2)", two, third),
    )


def _ask(function: Function, on: np.ndarray, t: int, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Inputs whose first tokens are given, (N, tokens on, d), and all others 0; and what comes out."""
    X = np.zeros((len(on), on.shape[2], t))
    X[:, :, : on.shape[1]] = scale * np.swapaxes(on, 1, 2)
    return X, function(X)


def _stronger_sign(V: np.ndarray, basis: np.ndarray, j: int, k: int) -> int:
    """+1 or −1, whichever keeps V(b_j ± b_k) away from 0."""
    plus, minus = (np.abs(V @ (basis[:, j] + sign * basis[:, k])).max() for sign in (1, -1))
    return 1 if plus >= minus else -1


def _ratio(exponential: RealExponential | Powers, multiple: np.ndarray, of: np.ndarray) -> np.ndarray:
    """The s of multiple = s · of, row by row, from the largest entry; NaN where `of` is 0."""
    largest = np.abs(of).argmax(axis=1)[:, None]
    return exponential.divide(
        np.take_along_axis(multiple, largest, 1)[:, 0], np.take_along_axis(of, largest, 1)[:, 0]
    )


def _shares(exponential: RealExponential | Powers, t: int, *on: float) -> tuple[float, ...]:
    """A column of attention: the exponentials of the tokens that are on, and 1 for each of the others."""
    E = np.array([*on, *(1.0,) * (t - len(on))])
    if np.isinf(E).any():
        return (np.nan,) * t
    return tuple(exponential.divide(E, exponential.over.reduce(np.full(t, E.sum()))).tolist())


# The same walk with whole numbers, where it has to be exact


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
    seen = _Counted(powers_layer(A, V, powers), len(A), tokens)
    found = _walk(seen, powers, len(A), tokens, scale=1.0)
    return ExactReadOff(A, V, powers, replace(found, evaluations=seen.count))


def integer_layer(
    d: int, head_dim: int, d_out: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """A = KᵀQ and V with small whole entries, V not 0."""
    Q, K = rng.integers(-1, 2, (2, head_dim, d)).astype(float)
    V = np.zeros((d_out, d))
    while not V.any():
        V = rng.integers(-_LARGEST_VALUE, _LARGEST_VALUE + 1, (d_out, d)).astype(float)
    return K.T @ Q, V


# The lightning limit


@dataclass(frozen=True, eq=False)
class LimitPoint:
    """One temperature on the way to the limit; gaps are Frobenius norms relative to that of the mean.

    Attributes:
        temperature: τ.
        attention: S, (t, t).
        Y, mean, first: φ(X), VX11ᵀ/t, and the first-order term.
        mean_gap: of φ − mean.
        first_gap: of φ − mean − first.
        rescaled_gap: of φ at (2A, V/2) against φ.
    """

    temperature: float
    attention: np.ndarray
    Y: np.ndarray
    mean: np.ndarray
    first: np.ndarray
    mean_gap: float
    first_gap: float
    rescaled_gap: float


@dataclass(frozen=True, eq=False)
class LimitStudy:
    """A layer on its way to the lightning limit, τ → ∞ or A → 0 ("Small weights").

    Attributes:
        X: the tokens.
        path: one point for each temperature, ascending.
        here: at the temperature that was asked for.
        mean_slope, first_slope: how fast the gaps fall with 1/τ, in powers; None where they are 0.
    """

    X: np.ndarray
    path: tuple[LimitPoint, ...]
    here: LimitPoint
    mean_slope: float | None
    first_slope: float | None


def first_order(
    A: np.ndarray, V: np.ndarray, X: np.ndarray, temperature: float
) -> tuple[np.ndarray, np.ndarray]:
    """The mean VX11ᵀ/t and the first-order term (1/tτ) V X C XᵀA X, C = 1 − 11ᵀ/t ("Small weights").

    The second is a lightning layer whose keys and values see centred tokens XC.

    >>> first_order(np.eye(1), np.eye(1), np.array([[1.0, 3.0]]), 1.0)
    (array([[2., 2.]]), array([[1., 3.]]))
    """
    t = X.shape[-1]
    C = np.eye(t) - 1 / t
    return V @ X @ np.full((t, t), 1 / t), V @ X @ C @ X.T @ A @ X / (t * temperature)


def limit_study(A: np.ndarray, V: np.ndarray, X: np.ndarray, temperature: float = 1.0) -> LimitStudy:
    """How a softmax layer comes near the mean, and a centred lightning layer, as τ grows.

    Args:
        A, V: the weights.
        X: tokens, (d, t).
        temperature: of `here`.

    >>> rng = np.random.default_rng(0)
    >>> limit = limit_study(rng.normal(size=(2, 2)), rng.normal(size=(2, 2)), rng.normal(size=(2, 3)))
    >>> round(limit.mean_slope, 1), round(limit.first_slope, 1)
    (1.0, 2.0)
    """
    path = tuple(_limit_point(A, V, X, 10.0**log) for log in _LIMIT_LOGS)
    late = [point for point in path if point.temperature >= 10**_SLOPE_FROM]
    return LimitStudy(
        X,
        path,
        _limit_point(A, V, X, temperature),
        _slope([(p.temperature, p.mean_gap) for p in late]),
        _slope([(p.temperature, p.first_gap) for p in late]),
    )


def _limit_point(A: np.ndarray, V: np.ndarray, X: np.ndarray, temperature: float) -> LimitPoint:
    Y = softmax_layer(A, V, temperature)(X[None])[0]
    S = Reals().softmax(X.T @ A @ X / temperature, False, None)
    rescaled = softmax_layer(_RESCALE * A, V / _RESCALE, temperature)(X[None])[0]
    mean, first = first_order(A, V, X, temperature)
    size = np.linalg.norm(mean) or 1.0
    gaps = [float(np.linalg.norm(gap) / size) for gap in (Y - mean, Y - mean - first, rescaled - Y)]
    return LimitPoint(temperature, S, Y, mean, first, *gaps)


def _slope(points: list[tuple[float, float]]) -> float | None:
    """The power of 1/τ with which gaps fall, by least squares; None where rounding is all there is."""
    kept = [(temperature, gap) for temperature, gap in points if gap > _ROUNDING]
    if len(kept) < 3:
        return None
    temperatures, gaps = np.log(np.array(kept)).T
    return float(-np.polyfit(temperatures, gaps, 1)[0])


# What a panel asks for


@dataclass(frozen=True)
class OneLayerSetting:
    """A softmax layer, and how far the walk has come.

    Attributes:
        step: one of `STEPS`.
        part: how much of the step has been done, above 0 and up to 1.
        log_temperature: log₁₀ τ.
        size: what V is multiplied by; 0 for V = 0.
        fitted: whether the tokens have the length that suits the temperature, or length 1.
        width, head_dim, out, tokens: d, a, d' and t.
        seed: what the weights are drawn from.
    """

    step: str = "V"
    part: float = 1.0
    log_temperature: float = 0.0
    size: float = 1.0
    fitted: bool = True
    width: int = 3
    head_dim: int = 2
    out: int = 2
    tokens: int = 3
    seed: int = 0

    def __post_init__(self) -> None:
        if self.step not in STEPS:
            raise ValueError(f"step must be one of {', '.join(map(repr, STEPS))}; got {self.step!r}")
        if not 0 < self.part <= 1:
            raise ValueError(f"part is above 0 and at most 1, the whole step; got {self.part!r}")
        for name in ("width", "head_dim", "out", "tokens"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} must be a whole number from 1 on; got {value!r}")
        if not -6 <= self.log_temperature <= 6:
            raise ValueError(f"log_temperature goes from −6 to 6; got {self.log_temperature!r}")

    @property
    def temperature(self) -> float:
        """τ."""
        return 10.0**self.log_temperature


@dataclass(frozen=True, eq=False)
class OneLayerStudy:
    """The walk at one place: the layer, what has been read so far, the exact walk and the limit.

    Attributes:
        setting: as given.
        A, V: the weights, which the walk does not see.
        read: all that the walk reads.
        exact: the walk with integer weights of the same shape.
        limit: the layer on random tokens, on its way to the limit.
    """

    setting: OneLayerSetting
    A: np.ndarray
    V: np.ndarray
    read: ReadOff
    exact: ExactReadOff
    limit: LimitStudy

    @property
    def number(self) -> int:
        """The step of the walk, 1 to 3; in the limit all three are done."""
        return min(STEPS.index(self.setting.step) + 1, 3)

    @property
    def step(self) -> Step:
        """The step that is shown."""
        return self.read.steps[self.number - 1]

    @property
    def count(self) -> int:
        """How many probes of the step have been made."""
        part = 1.0 if self.setting.step == "limit" else self.setting.part
        return ceil(part * len(self.step.probes))

    @cached_property
    def probe(self) -> Probe | None:
        """The last of them; None where the step has none (t = 1, two tokens)."""
        return self.step.probes[self.count - 1] if self.count else None

    @cached_property
    def known(self) -> Known:
        """What is known by now."""
        return self.read.after(self.number, self.count)

    @property
    def sym(self) -> np.ndarray:
        """(A + Aᵀ)/2."""
        return (self.A + self.A.T) / 2

    @property
    def entry(self) -> tuple[int, int] | None:
        """The row and column that the last probe read, of Sym A or A; None where it takes others as well."""
        probe = self.probe
        if self.setting.step not in ("one token", "two tokens") or probe is None or np.isnan(probe.logit):
            return None
        j, k = probe.place
        if (self.read.basis[:, [j, k]] != np.eye(len(self.A))[:, [j, k]]).any():
            return None
        found = self.known.sym[j, k] if self.setting.step == "one token" else self.known.A[k, j]
        if np.isnan(found):
            return None
        return (j, k) if self.setting.step == "one token" else (k, j)

    @property
    def true_logit(self) -> float | None:
        """What the last probe should have read, from the weights."""
        probe = self.probe
        if probe is None or probe.logit is None:
            return None
        x = self.read.scale * probe.x
        y = x if probe.y is None else self.read.scale * probe.y
        return float(y @ self.A @ x)


def relative_error(found: np.ndarray, truth: np.ndarray) -> float | None:
    """The largest error of the known entries, relative to the largest true entry; None if none is known.

    >>> relative_error(np.array([1.5, np.nan]), np.array([1.0, 2.0]))
    0.25
    """
    known = ~np.isnan(found)
    if not known.any():
        return None
    return float(np.abs(found - truth)[known].max() / (np.abs(truth).max() or 1.0))


def study_one_layer(setting: OneLayerSetting) -> OneLayerStudy:
    """Everything about one place of the walk.

    >>> study = study_one_layer(OneLayerSetting(step="two tokens"))
    >>> relative_error(study.read.A, study.A) < 1e-13, study.exact.equal_A, study.exact.equal_V
    (True, 9, 6)
    """
    A, V, read, exact, limit = _all_of(replace(setting, step="V", part=1.0))
    return OneLayerStudy(setting, A, V, read, exact, limit)


@lru_cache(maxsize=256)
def _all_of(s: OneLayerSetting) -> tuple[np.ndarray, np.ndarray, ReadOff, ExactReadOff, LimitStudy]:
    rng = np.random.default_rng([s.seed, s.width, s.head_dim, s.out, s.tokens, 39])
    Q, K = rng.standard_normal((2, s.head_dim, s.width)) / s.head_dim**0.25
    A, V = K.T @ Q, s.size * rng.standard_normal((s.out, s.width))
    X = rng.standard_normal((s.width, s.tokens))
    tau = s.temperature
    read = read_off(softmax_layer(A, V, tau), s.width, s.tokens, tau, None if s.fitted else 1.0, s.seed)
    whole_A, whole_V = integer_layer(s.width, s.head_dim, s.out, rng)
    exact = read_off_exactly(whole_A, whole_V * (s.size != 0), s.tokens)
    return A, V, read, exact, limit_study(A, V, X, tau)
