"""Finding a proof of the dimension of one architecture: by theorem, or in ball
arithmetic.

What is found is what a certificate then stores and
`neuroviz_beyond.certificate.verify` checks again by other means.
beyond/docs/certificates.md: "Ball arithmetic"; docs/mathematics/gauge_slice.md.
"""

from fractions import Fraction
from math import inf

import numpy as np

from neuroviz.attention import Architecture
from neuroviz.attention.formulas import expected_dimension, general_formula
from neuroviz.attention.gauge_slice import GaugeSlice
from neuroviz.rank.budget import Budget
from neuroviz.rank.field import Reals
from neuroviz.rank.network import Weights
from neuroviz.rank.point import num_parameters, random_point

BITS = (128, 256, 512, 1024)
"""The precisions that the ball route tries, one after the other."""

MOST_COLUMNS = 400
"""Free entries of the slice up to which balls are tried at all; so one call of
python-flint stays short."""
_MOST_NUMBERS = 2_000_000  # most inputs and attention weights in one certificate
_MOST_SECONDS = 120  # limit, in units of `rough_seconds`

Found = tuple[int, dict]
"""A dimension, and what a certificate stores that proves it."""


def words(
    arch: Architecture, route: str, dimension: int, data: dict
) -> tuple[str, str]:
    """The source and the argument of a certificate with these data."""
    if route == "theorem":
        expected = expected_dimension(arch)
        who = (
            "a theorem of the paper"
            if expected.status == "proved"
            else "proved here, not peer-reviewed"
        )
        return expected.source, f"{expected.source} ({who}): {expected.note}"
    argument = (
        f"a square part of the Jacobian ({dimension} × {dimension}) at a rational point"
        f" is invertible, by ball arithmetic with {data['bits']} bits, so the dimension"
        f" is at least {dimension}; the symmetries prove that it is at most"
        f" {dimension}. Ax's theorem is not used"
    )
    return "Ball arithmetic, The gauge slice", argument


def rough_seconds(arch: Architecture) -> float:
    """About how long finding and checking a proof in balls take, on a laptop; from the
    sizes alone.

    Most of it goes into checking: the derivative of each input along each free entry,
    forward. In a very deep network it is the calls for each layer.

    >>> [round(rough_seconds(Architecture.uniform(width, 2, 2))) for width in (4, 12)]
    [0, 4]
    """
    n = num_parameters(arch.slice())
    t = arch.tokens
    depth = arch.num_layers
    width = max(arch.widths)
    try:
        calls = 1.5e-3 * depth * (1 + n / 32)
        return calls + n * (width * t + n / depth) * t * t * depth / 1.5e5
    except OverflowError:  # beyond the float range
        return inf


def check_size(arch: Architecture) -> None:
    """Refuse a network that is too large to compute with, before anything large is
    made.

    Raises:
        ValueError: if the network is too large; route="theorem" takes any size.
    """
    columns = num_parameters(arch.slice())
    tokens = arch.tokens
    numbers = (
        columns * tokens * (arch.widths[0] + arch.widths[-1] + arch.num_layers * tokens)
    )
    for what, size, most in (
        ("free entries of the slice", columns, MOST_COLUMNS),
        ("stored numbers", numbers, _MOST_NUMBERS),
        ("seconds, about,", rough_seconds(arch), _MOST_SECONDS),
    ):
        if size > most:
            raise ValueError(
                "the route 'ball' would need"
                f" {size if isinstance(size, int) else round(size):,} {what} for"
                f" {arch}, and goes to {most:,}; choose route='theorem', or take a"
                " smaller network or fewer tokens"
            )


# By ball arithmetic


def by_ball(arch: Architecture, seed: int, budget: Budget) -> Found:
    """A square part of the Jacobian at a random rational point, proved invertible.

    Raises:
        ValueError: if it is not proved with the largest precision, or the budget is
            spent.
    """
    across = arch.slice()
    n = num_parameters(across)
    rng = np.random.default_rng([seed, 11])
    weights = _random_weights(across, rng)
    # An input gives a row, and a square part is asked for.
    X = _short(rng.standard_normal((n, arch.widths[0], arch.tokens)))
    shape = (n, arch.widths[-1], arch.tokens)
    signs = rng.choice([-1, 1], shape)
    functionals = signs * rng.integers(1, 4, shape)  # ±1, ±2, ±3
    return ball_proof(arch, weights, X, functionals, budget)


def ball_proof(
    arch: Architecture,
    weights: Weights,
    X: np.ndarray,
    functionals: np.ndarray,
    budget: Budget,
) -> Found:
    """The proof that this point of the slice gives, with as few bits as are needed.

    Args:
        weights: on the slice; floats, taken as exact.
        X: as many inputs as the slice has free entries.
        functionals: a functional of the output for each of them, of whole numbers.

    Raises:
        ValueError: as `by_ball`.
    """
    from neuroviz_beyond.certificate.balls import (
        ball_jacobian,
        precision,
        proved_invertible,
    )

    across = arch.slice()
    done = "nothing is done yet"
    n = num_parameters(across)
    for bits in BITS:
        # ball_jacobian calls pause(number) before each input, and proved_invertible
        # calls pause() when all are done. As a default `begun` keeps this round's text.
        def pause(
            number: int = n, begun: str = f"{done}, and {bits} bits were begun"
        ) -> None:
            budget.check(
                f"{begun} ({f'{number} of' if number < n else 'all'} {n} inputs)"
            )

        with precision(bits):
            B = ball_jacobian(
                arch.attention, weights, _free_entries(across), X, functionals, pause
            )
            if proved_invertible(B, pause):
                break
        done = f"{bits} bits did not suffice"
    else:
        theory = general_formula(arch).value
        smaller = f"its dimension is smaller, {theory}, " if theory < n else ""
        raise ValueError(
            f"not proved: {BITS[-1]} bits do not prove a rank of {n} for {arch} at this"
            f" point: {smaller}so this route proves nothing here; try another seed, or"
            " route='theorem'"
        )
    data = {
        "bits": bits,
        "weights": {name: _texts(matrix) for name, matrix in weights.items()},
        "inputs": _texts(X),
        "functionals": functionals.tolist(),
    }
    return n, data


def _random_weights(across: GaugeSlice, rng: np.random.Generator) -> Weights:
    """A random point of the slice, in short numbers."""
    drawn = random_point(across.network, Reals(), rng).weights
    found = {}
    for name, matrix in drawn.items():
        found[name] = _short(matrix)
        corner = across.corners[name]
        found[name][:corner, :corner] = np.eye(corner)
    return found


def _free_entries(across: GaugeSlice) -> np.ndarray:
    """Of all parameters in order: whether the slice leaves them free."""
    parts = []
    for name, shape in across.network.parameter_shapes.items():
        corner = across.corners[name]
        is_free = np.ones(shape, dtype=bool)
        is_free[:corner, :corner] = False
        parts.append(is_free.ravel())
    return np.concatenate(parts)


def _short(x: np.ndarray) -> np.ndarray:
    """Numbers with few binary digits: floats, and exact."""
    return np.round(x * 64) / 64


def _texts(x: np.ndarray) -> list:
    """Nested lists of fractions as text."""
    return [_texts(part) for part in x] if np.ndim(x) else str(Fraction(float(x)))
