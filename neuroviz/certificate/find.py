"""Finding a proof of the dimension of one architecture: by theorem, by an exact rank, in ball arithmetic.

What is found is what a certificate then stores and `neuroviz.certificate.verify` checks again by other means.
docs/mathematics.md: "Certificates", "Ball arithmetic", "Exact rank", "The gauge slice".
"""

from fractions import Fraction
from math import inf

import numpy as np

from neuroviz.engine.architecture import Architecture
from neuroviz.engine.budget import Budget
from neuroviz.engine.field import DEFAULT_PRIME, PrimeField, Reals
from neuroviz.engine.formulas import expected_dimension, general_formula
from neuroviz.engine.network import Layer, Weights, jacobian, random_tokens
from neuroviz.engine.orbit_slice import gauge_slice, num_columns
from neuroviz.engine.rank import RowSpace

BITS = (128, 256, 512, 1024)
"""The precisions that the ball route tries, one after the other."""

MOST_COLUMNS = {"exact rank": 1500, "ball": 400}
"""Free entries of the slice up to which a route is tried at all; so one call of python-flint stays short."""
_MOST_NUMBERS = 2_000_000  # inputs and attention weights that a certificate writes down
_MOST_SECONDS = 120  # as `rough_seconds` counts them
_SPARE_ROWS = 2
_INPUTS_AT_ONCE = 32

Found = tuple[int, dict]
"""A dimension, and what a certificate stores that proves it."""


def words(arch: Architecture, route: str, dimension: int, data: dict) -> tuple[str, str]:
    """The source and the argument of a certificate with these data."""
    if route == "theorem":
        expected = expected_dimension(arch)
        who = "a theorem of the paper" if expected.status == "proved" else "proved here, not peer-reviewed"
        return expected.source, f"{expected.source} ({who}): {expected.note}"
    if route == "ball":
        argument = (
            f"a square part of the Jacobian ({dimension} × {dimension}) at a rational point is invertible, "
            f"by ball arithmetic with {data['bits']} bits, so the dimension is at least {dimension}; the "
            f"symmetries prove that it is at most {dimension}. Ax's theorem is not used"
        )
        return "Ball arithmetic, The gauge slice", argument
    bound = data["upper bound"]
    free = " (exponentials free by Ax's theorem)" if arch.attention == "softmax" else ""
    argument = (
        f"rank {dimension} at a point mod {data['prime']} is a lower bound of the generic rank{free}; "
        f"it meets the upper bound of {'the ' if bound == 'symmetries' else ''}{bound}"
    )
    return "The gauge slice, Exact rank", argument


def rough_seconds(arch: Architecture, route: str) -> float:
    """About how long finding and checking a certificate take, on a laptop; from the sizes alone.

    Most of it goes into checking: the derivative of each input along each free entry, forward. In a very deep
    network it is the calls for each layer.

    >>> [round(rough_seconds(Architecture.uniform(width, 2, 2), "ball")) for width in (4, 12)]
    [0, 4]
    """
    n, t, depth, width = num_columns(arch), arch.tokens, arch.num_layers, max(arch.widths)
    try:
        calls = 1.5e-3 * depth * (1 + n / _INPUTS_AT_ONCE)
        if route == "ball":
            return calls + n * (width * t + n / depth) * t * t * depth / 1.5e5
        return calls + n * n * depth * t * (t + width) / 3e7 if route == "exact rank" else 0.0
    except OverflowError:  # more than floats go to
        return inf


def check_size(arch: Architecture, route: str) -> None:
    """Refuse a network that is too large to compute with, before anything large is made.

    Raises:
        ValueError: if it is; by theorem every size is small.
    """
    if route not in MOST_COLUMNS:
        return
    columns, tokens = num_columns(arch), arch.tokens
    numbers = columns * tokens * (arch.widths[0] + arch.widths[-1] + arch.num_layers * tokens)
    for what, size, most in (
        ("free entries of the slice", columns, MOST_COLUMNS[route]),
        ("stored numbers", numbers, _MOST_NUMBERS),
        ("seconds, about,", rough_seconds(arch, route), _MOST_SECONDS),
    ):
        if size > most:
            raise ValueError(
                f"the route {route!r} would need {size if isinstance(size, int) else round(size):,} {what} "
                f"for {arch}, and goes to {most:,}; choose route='theorem', or take a smaller network or "
                "fewer tokens"
            )


# By an exact rank that meets an upper bound


class _Recording:
    """A prime field that remembers the attention weights it drew."""

    def __init__(self, over: PrimeField) -> None:
        self._over, self.drawn = over, []

    def __getattr__(self, name: str) -> object:
        return getattr(self._over, name)

    def softmax(self, *given: object) -> np.ndarray:
        self.drawn.append(self._over.softmax(*given))
        return self.drawn[-1]


def by_rank(arch: Architecture, seed: int, budget: Budget) -> Found:
    """A rank mod p at a random point that meets an upper bound.

    Raises:
        ValueError: if it meets none at three points, or the budget is spent.
    """
    over = PrimeField(DEFAULT_PRIME)
    columns, theory = num_columns(arch), general_formula(arch)
    for rng in np.random.default_rng([seed, over.p, 10]).spawn(3):
        rank, data = _rank_at_a_point(arch, over, rng, budget)
        if rank in (columns, theory.value):
            break
    else:
        raise ValueError(
            f"not proved: the exact rank {rank} of {arch} meets no upper bound: the symmetries prove "
            f"{columns}, Theorem C and Corollary A {theory.value}; try another seed, or route='theorem'"
        )
    data["upper bound"] = "symmetries" if rank == columns else theory.source
    return rank, data


def _rank_at_a_point(
    arch: Architecture, over: PrimeField, rng: np.random.Generator, budget: Budget
) -> tuple[int, dict]:
    """The rank of one functional of each input, and the point."""
    across = gauge_slice(arch)
    columns = num_columns(arch)
    inputs = columns + _SPARE_ROWS
    weights = across.weights(over, rng)
    X = random_tokens(over, across.reduced, inputs, rng)
    cotangents = over.random(rng, (inputs, 1, arch.widths[-1], arch.tokens))
    space, drawn = RowSpace(over, columns), []
    for start in range(0, inputs, _INPUTS_AT_ONCE):
        budget.check(f"{start} of {inputs} inputs were looked at, which show rank {space.dimension}")
        some, recording = slice(start, start + _INPUTS_AT_ONCE), _Recording(over)
        rows = jacobian(recording, across.reduced, weights, X[some], cotangents[some], rng)
        space.add(rows[:, 0, across.free])
        drawn.append(recording.drawn)
    data = {
        "prime": over.p,
        "weights": [[matrix.astype(int).tolist() for matrix in layer] for layer in weights],
        "inputs": X.astype(int).tolist(),
        "functionals": cotangents[:, 0].astype(int).tolist(),
        "attention weights": [np.concatenate(S).astype(int).tolist() for S in zip(*drawn, strict=True)],
    }
    return space.dimension, data


# By ball arithmetic


def by_ball(arch: Architecture, seed: int, budget: Budget) -> Found:
    """A square part of the Jacobian at a random rational point, proved invertible.

    Raises:
        ValueError: if it is not proved with the largest precision, or the budget is spent.
    """
    across = gauge_slice(arch)
    n, rng = num_columns(arch), np.random.default_rng([seed, 11])
    weights = tuple(Layer(*(_short(matrix) for matrix in layer)) for layer in across.weights(Reals(), rng))
    X = _short(rng.standard_normal((n, arch.widths[0], arch.tokens)))
    shape = (n, arch.widths[-1], arch.tokens)
    functionals = rng.choice([-1, 1], shape) * rng.integers(1, 4, shape)
    return ball_proof(arch, weights, X, functionals, budget)


def ball_proof(
    arch: Architecture, weights: Weights, X: np.ndarray, functionals: np.ndarray, budget: Budget
) -> Found:
    """The proof that this point of the slice gives, with as few bits as are needed.

    Args:
        weights: on the slice; floats, taken as exact.
        X: as many inputs as the slice has free entries.
        functionals: a functional of the output for each of them, of whole numbers.

    Raises:
        ValueError: as `by_ball`.
    """
    import flint

    from neuroviz.certificate.balls import ball_jacobian, proved_invertible

    across, done = gauge_slice(arch), "nothing is done yet"
    n = num_columns(arch)
    for bits in BITS:

        def pause(number: int = n, begun: str = f"{done}, and {bits} bits were begun") -> None:
            budget.check(f"{begun} ({f'{number} of' if number < n else 'all'} {n} inputs)")

        with flint.ctx.workprec(bits):
            B = ball_jacobian(arch.attention, weights, across.free, X, functionals, pause)
            if proved_invertible(B, pause):
                break
        done = f"{bits} bits did not suffice"
    else:
        theory = general_formula(arch).value
        smaller = f"its dimension is smaller, {theory}, " if theory < n else ""
        raise ValueError(
            f"not proved: {BITS[-1]} bits do not prove a rank of {n} for {arch} at this point: {smaller}"
            "so this route proves nothing here; try another seed, or route='exact rank' or 'theorem'"
        )
    data = {
        "bits": bits,
        "weights": [[_texts(matrix) for matrix in layer] for layer in weights],
        "inputs": _texts(X),
        "functionals": functionals.tolist(),
    }
    return n, data


def _short(x: np.ndarray) -> np.ndarray:
    """Numbers with few binary digits: floats, and exact."""
    return np.round(x * 64) / 64


def _texts(x: np.ndarray) -> list:
    """Nested lists of fractions as text."""
    return [_texts(part) for part in x] if np.ndim(x) else str(Fraction(float(x)))
