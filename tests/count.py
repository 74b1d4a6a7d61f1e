"""Count a fibre of a small lightning network by trying everything there is, over a
small prime field.

Over F_p there are finitely many networks of width 2. Two of them have the same function
if their outputs agree as polynomials, which is decided exactly: on inputs from a field
F_q with more than 3^l elements. Elements of F_q are polynomials in one symmetric matrix
S over F_p with irreducible characteristic polynomial; so a token matrix over F_q is a
larger one over F_p, its transpose is the transpose, and the network runs as it is.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np

from neuroviz.attention.symmetry import VirtualWeights
from neuroviz.rank.field import PrimeField

_MOST = 100_000  # tuples (M_1, …, M_l), modulo factors
_SIEVE_INPUTS = 2
_BLOCK = 4096


@dataclass(frozen=True, eq=False)
class FiberCount:
    """All points of a fibre over F_p, modulo rescaling.

    Attributes:
        p: the prime.
        target: the virtual weights that were given.
        tried: how many (M_1, …, M_l) modulo factors there are; for each of them all L
            are tried.
        points: one point of each class, every M_i with a leading entry 1; the first
            M_i′ of this kind.
        inputs: on how many inputs over F_q the points were compared at the end.
    """

    p: int
    target: VirtualWeights
    tried: int
    points: tuple[VirtualWeights, ...]
    inputs: int

    @property
    def classes(self) -> int:
        """How many points the fibre has, modulo rescaling."""
        return len(self.points)


def count_fiber(
    p: int, target: VirtualWeights, head_dims: tuple[int, ...] | None = None
) -> FiberCount:
    """All (L′, M_1′, …, M_l′) over F_p, d₀ = 2, with the function of these on two
    tokens, modulo rescaling.

    Exact: outputs are homogeneous polynomials of degree 3^l; they are equal if they
    agree where one entry of X is 1 and the others run through 3^l + 1 elements of F_q
    each. More tokens can only tell more apart.

    Args:
        p: an odd prime, such as 3 or 5.
        target: M_i of shape (2, 2), L of shape (d_l, 2), entries modulo p; not the zero
            function.
        head_dims: the largest ranks allowed for the M_i; by default 2, that is any.

    Raises:
        ValueError: if the widths are not 2, the function is zero, or there are too many
            to try.

    >>> J, B = np.array([[0.0, 1.0], [-1.0, 0.0]]), np.array([[1.0, 1.0], [0.0, 1.0]])
    >>> count_fiber(3, VirtualWeights(np.eye(2), (J, B))).classes
    2
    >>> count_fiber(3, VirtualWeights(np.eye(2), (B, B))).classes
    1
    """
    over = PrimeField(p)
    depth = len(target.M)
    ranks = (2,) * depth if head_dims is None else tuple(head_dims)
    if (
        any(np.shape(M) != (2, 2) for M in target.M)
        or np.shape(target.L)[1:] != (2,)
        or len(ranks) != depth
    ):
        raise ValueError(
            "counting needs width 2: M_i of shape (2, 2), L of shape (d_l, 2), one"
            f" head dimension for each; got {[np.shape(M) for M in target.M]},"
            f" {np.shape(target.L)} and {ranks}"
        )
    choices = [_matrices(p, rank) for rank in ranks]
    tried = int(np.prod([len(one) for one in choices]))
    if tried > _MOST:
        raise ValueError(
            f"there are {tried} networks to try, and at most {_MOST} in time: take a"
            " smaller p or l"
        )
    elements = _extension(p, 3**depth + 1)
    X = _sieve_inputs(over, elements, np.random.default_rng(0))
    Y = _outputs(over, target, X, len(elements[0]))
    found = [
        VirtualWeights(L, tuple(one[i] for one, i in zip(choices, place, strict=True)))
        for place, Ms in _blocks(choices)
        for L, place in _fits(over, Ms, place, X, Y, len(elements[0]))
    ]
    grid = _grid(elements, 3**depth + 1)
    wanted = _outputs(over, target, grid, len(elements[0]))
    if not wanted.any():
        raise ValueError(
            "the function of these weights is zero: every M with L = 0 has it; give"
            " others"
        )
    same = [
        one
        for one in found
        if (_outputs(over, one, grid, len(elements[0])) == wanted).all()
    ]
    return FiberCount(p, target, tried, tuple(same), len(grid))


def _matrices(p: int, rank: int) -> np.ndarray:
    """All 2 × 2 matrices over F_p of rank from 1 to `rank` whose first entry that is
    not 0 is 1."""
    values = [value - p // 2 for value in range(p)]
    every = np.array(list(product(values, repeat=4)), dtype=float)
    first = every[np.arange(len(every)), (every != 0).argmax(axis=1)]
    kept = every[first == 1].reshape(-1, 2, 2)
    if rank >= 2:
        return kept
    return kept[np.rint(np.linalg.det(kept)) % p == 0]


@lru_cache(maxsize=32)
def _extension(p: int, least: int) -> np.ndarray:
    """The elements of the smallest F_q, q = p^k ≥ least, as symmetric k × k matrices
    over F_p; (q, k, k)."""
    k = next(k for k in range(1, 10) if p**k >= least)
    over = PrimeField(p)
    rng = np.random.default_rng(0)
    coefficients = np.array(list(product(range(p), repeat=k)), dtype=float)
    while True:
        S = over.random(rng, (k, k))
        S = np.triu(S) + np.triu(S, 1).T
        powers = [np.eye(k)]
        for _ in range(k - 1):
            powers.append(over.matmul(powers[-1], S))
        elements = over.reduce(np.tensordot(coefficients, np.array(powers), 1))
        # A field, if everything but 0 (which stands first) has an inverse.
        if (np.rint(np.linalg.det(elements[1:])) % p != 0).all():
            return elements


def _sieve_inputs(
    over: PrimeField, elements: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """A few random inputs; most networks differ on them already."""
    return _as_tokens(elements[rng.integers(0, len(elements), (_SIEVE_INPUTS, 2, 2))])


def _grid(elements: np.ndarray, size: int) -> np.ndarray:
    """All inputs with X₁₁ = 1 and other entries from `size` elements: enough for
    homogeneous polynomials."""
    k = elements.shape[-1]
    one = np.eye(k)
    some = elements[:size]
    entries = [
        np.array([[one, some[i]], [some[j], some[m]]])
        for i, j, m in product(range(size), repeat=3)
    ]
    return _as_tokens(np.array(entries))


def _as_tokens(entries: np.ndarray) -> np.ndarray:
    """(N, 2, 2, k, k) → (N, 2k, 2k): entries of F_q as blocks."""
    n, d, t, k, _ = entries.shape
    return entries.transpose(0, 1, 3, 2, 4).reshape(n, d * k, t * k)


def _outputs(
    over: PrimeField, virtual: VirtualWeights, X: np.ndarray, k: int
) -> np.ndarray:
    L, M = virtual
    return (
        over.matmul(
            np.kron(L, np.eye(k)), _hidden(over, [np.kron(B, np.eye(k)) for B in M], X)
        )
        % over.p
    )


def _hidden(over: PrimeField, M: list[np.ndarray], X: np.ndarray) -> np.ndarray:
    """The outputs for L = 1, of each network of a stack on each input of another: layer
    by layer X XᵀM X."""
    for B in M:
        X = over.matmul(X, over.matmul(np.swapaxes(X, -1, -2), over.matmul(B, X)))
    return X


def _blocks(choices: list[np.ndarray]):
    """All tuples of places in the choices, a few thousand at a time, and the matrices
    there."""
    count = int(np.prod([len(one) for one in choices]))
    for start in range(0, count, _BLOCK):
        numbers = np.arange(start, min(start + _BLOCK, count))
        places = np.stack(
            np.unravel_index(numbers, [len(one) for one in choices]), axis=1
        )
        yield places, [one[places[:, i]] for i, one in enumerate(choices)]


def _fits(
    over: PrimeField,
    Ms: list[np.ndarray],
    places: np.ndarray,
    X: np.ndarray,
    Y: np.ndarray,
    k: int,
):
    """Every L, and the M it goes with, whose outputs on X are Y: all p² rows of L are
    tried, one by one."""
    wide = [np.kron(B, np.eye(k))[:, None] for B in Ms]  # (B, 1, 2k, 2k)
    Z = _hidden(over, wide, X[None])
    # An entry of F_q is given by the first column of its block: (B, 2, numbers).
    Z = (
        Z.reshape(len(places), len(X), 2, k, 2, k)[..., 0]
        .transpose(0, 2, 1, 3, 4)
        .reshape(len(places), 2, -1)
    )
    wanted = (
        Y.reshape(len(X), -1, k, 2, k)[..., 0]
        .transpose(1, 0, 2, 3)
        .reshape(Y.shape[1] // k, -1)
    )
    rows = np.array(list(product(range(over.p), repeat=2)), dtype=float)
    reached = over.matmul(rows, Z) % over.p  # (B, p², numbers)
    fits = (reached[:, :, None] == wanted).all(axis=-1)  # (B, p², d_l)
    for number in np.flatnonzero(fits.any(axis=1).all(axis=-1)):
        options = [rows[np.flatnonzero(fits[number, :, m])] for m in range(len(wanted))]
        for chosen in product(*options):
            yield over.reduce(np.array(chosen)), places[number]
