"""Checking a certificate again, from what it stores alone, by other means than it was
found with.

Nothing that finds certificates is used: the hypotheses of each statement are written
out a second time, the formula is counted by codimensions, and the dimension is computed
again by a local check, which takes no theorem's word for the kernel; the slice is built
again, derivatives are taken forward instead of backward, the determinant is
python-flint's. beyond/docs/certificates.md: "The local check".
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np

from neuroviz.attention import Architecture
from neuroviz.attention.layers import by_layer
from neuroviz.rank.network import Weights
from neuroviz_beyond.certificate.small_ranks import local_check

_MOST_BITS = 4096
_SHORT = re.compile(r"[-.\d/]{1,800}")  # every float is; an exponent may be huge
# multiples of the certificate's bits: a determinant loses more than ‖1 − R B‖
_BITS_AGAIN = (2, 4, 8)


class Place(NamedTuple):
    """An entry of the weights: "2.K", row, column."""

    name: str
    row: int
    column: int


@dataclass(frozen=True)
class Verification:
    """The outcome of checking a certificate again: whether it holds, and what was
    found."""

    valid: bool
    finding: str

    def __bool__(self) -> bool:
        return self.valid


# By theorem


def _inner(arch: Architecture) -> tuple[int, ...]:
    return arch.widths[1:-1] or (1,)


_HOLDS: dict[str, Callable[[Architecture], bool]] = {
    "lightning attention": lambda arch: arch.attention == "lightning",
    "softmax attention": lambda arch: arch.attention == "softmax",
    "one layer": lambda arch: arch.num_layers == 1,
    "l ≥ 2": lambda arch: arch.num_layers > 1,
    "t ≥ 2": lambda arch: arch.tokens > 1,
    "t = 1": lambda arch: arch.tokens == 1,
    "inner widths δ ≤ d₀, dₗ": lambda arch: (
        len({*_inner(arch)}) == 1
        and _inner(arch)[0] <= min(arch.widths[0], arch.widths[-1])
    ),
    "δ ≥ 2": lambda arch: min(_inner(arch)) > 1,
    "2 ≤ aᵢ ≤ dᵢ₋₁": lambda arch: all(1 < a <= d for d, _, a in arch.layers),
}
# The hypotheses of each statement, written without the functions that found the proof.
_HYPOTHESES = {
    "Cor. 3.3": "lightning attention; one layer; t ≥ 2",
    "Cor. 3.8": (
        "lightning attention; l ≥ 2; t ≥ 2; inner widths δ ≤ d₀, dₗ; δ ≥ 2; 2 ≤ aᵢ ≤"
        " dᵢ₋₁"
    ),
    "Thm. 3.9": "softmax attention; one layer; t ≥ 2",
    "Eq. 16, Corollary A": "softmax attention; l ≥ 2; t ≥ 2; inner widths δ ≤ d₀, dₗ",
    "Corollary A": "softmax attention; t ≥ 2",
    "One token": "softmax attention; t = 1",
    "Theorem C": "lightning attention",
}
_PAPERS = ("Cor. 3.3", "Cor. 3.8", "Thm. 3.9")


def verify_theorem(
    arch: Architecture, dimension: int, source: str, data: dict
) -> Verification:
    """The hypotheses again, the formula by codimensions, and the dimension itself by a
    local check."""
    if source not in _HYPOTHESES:
        return Verification(False, f"no statement is called {source!r}")
    if failing := [
        text for text in _HYPOTHESES[source].split("; ") if not _HOLDS[text](arch)
    ]:
        why = (
            f"the hypotheses of {source} do not hold for {arch}: it needs"
            f" {'; '.join(failing)}"
        )
        return Verification(False, why)
    if data != {"status": "proved" if source in _PAPERS else "proved here"}:
        return Verification(
            False, f"{source} has another status than {data['status']!r}"
        )
    count = count_another_way(arch)
    if count != dimension:
        return Verification(False, f"{source} gives {count}, not {dimension}")
    local = local_check(arch)
    again = ""
    if local.covers:
        if not local.holds:
            why = (
                f"a local check finds a kernel of {local.kernel}; the symmetries"
                f" explain {local.expected}"
            )
            return Verification(False, why)
        if local.dimension != dimension:
            return Verification(
                False, f"a local check finds {local.dimension}, not {dimension}"
            )
        again = (
            f"; a local check ({len(local.pieces)} small ranks) finds"
            f" {local.dimension} too"
        )
    return Verification(
        True,
        f"hypotheses of {source} hold; the count by codimensions is {count}{again}",
    )


def count_another_way(arch: Architecture) -> int:
    """The general formula by codimensions, with the effective widths as minima over all
    later layers.

    w_{i−1} = min over k ≥ i − 1 of r_k + Σ_{i ≤ j ≤ k} 2 min(a_j, r_{j−1}), with r_l
    replaced by d_l; matrices of rank ≤ a have codimension (w − a)₊² in w², their
    symmetric parts (w − 2a)₊(w − 2a + 1)/2.

    >>> count_another_way(Architecture((3, 3, 3), (1, 2)))
    18
    """
    d = arch.widths
    a = arch.head_dims
    depth = arch.num_layers
    lightning = arch.attention == "lightning"
    # A token that attends to itself alone: the network is a matrix of rank r at most.
    if not lightning and arch.tokens == 1:
        r = min(d)
        return d[0] * d[-1] - (d[0] - r) * (d[-1] - r)
    r = [*accumulate(d[:-1], min), d[-1]]
    # Σ_{j ≤ k} 2 min(a_j, r_{j−1})
    reach = [0, *accumulate(2 * min(a[j], r[j]) for j in range(depth))]
    # w₀, …, w_l, from the last back: `least` is the minimum of r_k + reach[k] so far.
    seen = [0] * (depth + 1)
    least = r[depth] + reach[depth]
    for k in range(depth, -1, -1):
        least = min(least, r[k] + reach[k])
        seen[k] = least - reach[k]
    seen[0] = d[0]  # w₀ = d₀ in Lemma D
    total = -depth if lightning else 0
    # Of parallel tokens a lightning layer sees the symmetric part of A only: of one
    # token, and behind a layer of rank one (Theorem C).
    parallel = arch.tokens == 1
    for i, (w, out) in enumerate(pairwise(seen)):
        if lightning and parallel:
            gap = max(0, w - 2 * a[i])
            total += w * (w + 1) // 2 - gap * (gap + 1) // 2
        else:
            total += w * w - max(0, w - a[i]) ** 2
        parallel = parallel or min(a[i], w) == 1
        # V, less the bases of the tokens after it where a layer follows
        total += out * w - (out * out if i < depth - 1 else 0)
    return total


def _whole_numbers(stored: list) -> np.ndarray:
    """The numbers that are stored; ValueError where they are no whole numbers."""
    numbers = np.array(stored)
    if numbers.dtype != np.int64:  # fractions, NaN, booleans, texts, or too large
        raise ValueError("a stored number is no whole number, or has too many digits")
    return numbers


def _check_inputs(arch: Architecture, X: np.ndarray, functionals: np.ndarray) -> None:
    """ValueError unless these are inputs of this architecture, and a functional of the
    output for each."""
    inside = (len(X), arch.widths[0], arch.tokens)
    outside = (len(X), arch.widths[-1], arch.tokens)
    if X.shape != inside or functionals.shape != outside:
        raise ValueError(
            f"inputs need the shape {inside} and functionals {outside}; got {X.shape}"
            f" and {functionals.shape}"
        )


def _free_places(arch: Architecture, weights: Weights) -> list[Place]:
    """The free places of the slice, layer by layer, if the weights lie on it.

    The slice of "The gauge slice", built again: K = [1 | K′], V = [1 | V′] before the
    last layer, and for lightning one entry of Q.
    """
    depth = arch.num_layers
    is_lightning = arch.attention == "lightning"
    layers = by_layer(weights)
    r = [*accumulate(arch.widths[:-1], min), arch.widths[-1]]
    free = []
    for i, layer in enumerate(layers, start=1):
        r_in = r[i - 1]
        r_out = r[i]
        a = min(arch.head_dims[i - 1], r_in)
        shapes = {"Q": (a, r_in), "K": (a, r_in), "V": (r_out, r_in)}
        if {name: matrix.shape for name, matrix in layer.items()} != shapes:
            raise ValueError(f"layer {i} has other shapes than the slice")
        # so many first columns are those of the identity
        held = {"K": a, "V": r_out if i < depth else 0}
        for name, columns in held.items():
            if (layer[name][:, :columns] != np.eye(len(layer[name]), columns)).any():
                raise ValueError(f"layer {i} does not lie on the slice")
        if is_lightning and layer["Q"][0, 0] != 1:
            raise ValueError(
                f"layer {i} does not lie on the slice: the first entry of Q is not 1"
            )
        for name, shape in shapes.items():
            for row, column in np.ndindex(shape):
                is_one = name == "Q" and is_lightning and row == column == 0
                if not is_one and column >= held.get(name, 0):
                    free.append(Place(f"{i}.{name}", row, column))
    return free


def _stored_weights(arch: Architecture, stored: dict) -> Weights:
    """The stored weights, named and in order as in `arch.parameter_shapes`."""
    if not isinstance(stored, dict) or {*stored} != {*arch.parameter_shapes}:
        raise ValueError(
            f"the weights {', '.join(arch.parameter_shapes)} are needed, by name"
        )
    return {name: _as_floats(stored[name]) for name in arch.parameter_shapes}


# By ball arithmetic


def verify_ball(
    arch: Architecture, dimension: int, source: str, data: dict
) -> Verification:
    """Forward differentiation in balls, and the determinant by python-flint's own
    elimination."""
    import flint

    from neuroviz_beyond.certificate.balls import ball_tangents, precision

    weights = _stored_weights(arch, data["weights"])
    free = _free_places(arch, weights)
    X = _as_floats(data["inputs"])
    functionals = _whole_numbers(data["functionals"])
    _check_inputs(arch, X, functionals)
    n = len(free)
    bits = data["bits"]
    if len(X) != n:
        raise ValueError(
            f"{n} inputs and functionals are needed, as many as the slice has free"
            " entries"
        )
    if n != dimension:
        return Verification(False, f"the slice has {n} free entries, not {dimension}")
    if not isinstance(bits, int) or not 2 <= bits <= _MOST_BITS:
        raise ValueError(f"bits is a whole number from 2 to {_MOST_BITS}; got {bits!r}")

    def determinant() -> flint.arb:
        """Of how the functional of each input (a row) moves with each free entry (a
        column)."""
        rows = []
        for x, functional in zip(X, functionals, strict=True):
            column = flint.arb_mat(functional.reshape(-1, 1).tolist())
            moved = ball_tangents(arch.attention, weights, free, x)
            rows.append((moved * column).entries())
        return flint.arb_mat(rows).det()

    for factor in _BITS_AGAIN:
        with precision(factor * bits):
            # The true determinant lies in the ball.
            if not determinant().contains(0):
                said = (
                    f"the determinant of the {n} × {n} matrix, found forward, is not 0;"
                    f" {n} free entries"
                )
                return Verification(True, said)
    return Verification(False, "at the stored point the determinant may be 0")


def _as_floats(texts: list) -> np.ndarray:
    """Stored fractions as floats that are the same numbers; ValueError where floats
    would round."""
    stored = np.array(texts)
    if stored.dtype.kind != "U":
        raise ValueError("a fraction is stored as text, such as 5/64")
    if not all(_SHORT.fullmatch(text) for text in stored.ravel()):
        raise ValueError("a fraction is stored in some digits, such as -5 or 5/64")
    numbers = np.vectorize(Fraction, otypes=[object])(stored)
    floats = numbers.astype(float)
    if (numbers != np.vectorize(Fraction, otypes=[object])(floats)).any():
        raise ValueError("a stored number is no short binary fraction")
    return floats
