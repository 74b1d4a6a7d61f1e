"""The derivative of a network at virtual weights on one or two coordinates, in pieces.

An input that is 0 outside some coordinates stays so: X_i = X G_i with G_i of size t ×
t, whatever the weights. Let L and all M_i live on the first one or two coordinates, the
core. Then the G_i see nothing but the core, and a derivative falls apart by how often
it contains each other coordinate c, e:

    M˙_i of                     contains
    (core, core)                no other coordinate
    (c, core) and (core, c)     c once
    (c, c)                      c twice
    (c, e) and (e, c)           c and e, once each

All coordinates outside the core are alike. So a few small ranks, and how often each
occurs, give the rank for every width ("The local check" in
beyond/docs/certificates.md). Nothing else of the package is used but its field; ranks
are python-flint's.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import NamedTuple

import numpy as np

from neuroviz.rank.field import Field, PrimeField

PIECES = (
    "core",
    "another coordinate",
    "its square",
    "a pair of others",
    "another output",
    "another output and coordinate",
)

# A piece has 4 l + 2 columns at most; these rows more make a chance loss of rank rare.
_SPARE_ROWS = 2

Shares = tuple[np.ndarray, np.ndarray]
"""μ and ν of one layer, each of shape (N,)."""


@dataclass(frozen=True)
class Pattern:
    """All that the small ranks depend on; architectures of all widths share it.

    Attributes:
        attention: "lightning" or "softmax".
        tokens: 1, or 2 for two and more: all other tokens are 0 (lightning) or copies
            (softmax).
        core: how many coordinates L and the M_i live on, 1 or 2.
        directions: how each M_i may move: "all", freely; "rank one", as uvᵀ;
            "symmetric", the rest is invisible; "line", as cℓℓᵀ, with L = hℓᵀ.
        ranks: the rank of each M_i on the core.
    """

    attention: str
    tokens: int
    core: int
    directions: tuple[str, ...]
    ranks: tuple[int, ...]

    @property
    def symmetries(self) -> int:
        """How many directions of the core are certainly silent: one rescaling a layer,
        or none."""
        return len(self.ranks) if self.attention == "lightning" else 0


@dataclass(frozen=True, eq=False)
class Point:
    """Virtual weights θ₀ on the core, with one output: L of shape (core,), each M_i
    (core, core).

    The M_i that moves as "rank one" is uvᵀ. Where an M_i moves on a line ℓ, L = ℓ. u
    and ℓ begin with 1.
    """

    pattern: Pattern
    L: np.ndarray
    M: tuple[np.ndarray, ...]
    u: np.ndarray | None = None
    v: np.ndarray | None = None
    line: np.ndarray | None = None


@dataclass(frozen=True)
class Piece:
    """One part of the derivative at θ₀: a small matrix, its exact rank, and how often
    it occurs.

    Attributes:
        name: one of `PIECES`.
        copies: how often it occurs in a network of these widths.
        columns: how many entries of the virtual weights it is about.
        rank: over F_p, at one point: a proved lower bound, and where `holds` no larger
            one is possible.
        expected: the dimension of the kernel that the symmetries explain.
    """

    name: str
    copies: int
    columns: int
    rank: int
    expected: int

    @property
    def kernel(self) -> int:
        """The dimension of the kernel of one copy, at most: columns less rank."""
        return self.columns - self.rank

    @property
    def holds(self) -> bool:
        """Whether the kernel is explained by symmetries."""
        return self.kernel == self.expected


def random_point(pattern: Pattern, over: Field, rng: np.random.Generator) -> Point:
    """Random virtual weights of a pattern."""
    n = pattern.core
    # u₁ = ℓ₁ = 1, as (λu, v/λ) is the same matrix, and (λℓ, h/λ, c/λ²) the same point.
    u, line = (np.concatenate([[1.0], over.random(rng, (n - 1,))]) for _ in range(2))
    v, L = over.random(rng, (2, n))
    M = []
    for direction, rank in zip(pattern.directions, pattern.ranks, strict=True):
        left, right = over.random(rng, (2, rank, n))
        if direction == "rank one":
            left = u[None]
            right = v[None]
        elif direction == "line":
            # c ℓℓᵀ with a random c
            left = over.reduce(left[:, :1] * line)
            right = line[None]
        M.append(over.matmul(left.T, right))
    on_line = "line" in pattern.directions
    # On a line L = h ℓᵀ with h = 1: a factor of the output changes no rank.
    return Point(
        pattern, line if on_line else L, tuple(M), u, v, line if on_line else None
    )


def counted(pieces: Sequence[Piece], others: int, outputs: int) -> tuple[Piece, ...]:
    """The pieces that occur, each as often as it does, with so many coordinates outside
    the core."""
    copies = (1, others, others, comb(others, 2), outputs - 1, (outputs - 1) * others)
    number = dict(zip(PIECES, copies, strict=True))
    occurring = (piece for piece in pieces if piece.columns and number[piece.name])
    return tuple(replace(piece, copies=number[piece.name]) for piece in occurring)


def pieces_at(
    point: Point, over: PrimeField, rng: np.random.Generator
) -> tuple[Piece, ...]:
    """The parts of the derivative at a point, each once (`copies` is 1), on random
    inputs.

    With one functional for each input no rank is lost.
    """
    import flint

    pattern = point.pattern
    inputs = 4 * len(point.M) + 2 + _SPARE_ROWS  # a row each
    found = []
    X = over.random(rng, (inputs, pattern.core + 2, pattern.tokens))
    functionals = over.random(rng, (inputs, pattern.tokens))
    columns = columns_at(
        point, over, X, functionals, free_shares(point, over, inputs, rng)
    )
    for name, values in columns.items():
        rank = (
            flint.nmod_mat(np.array(values).astype(int).tolist(), over.p).rank()
            if values
            else 0
        )
        found.append(
            Piece(
                name, 1, len(values), rank, pattern.symmetries if name == "core" else 0
            )
        )
    return tuple(found)


def columns_at(
    point: Point,
    over: PrimeField,
    X: np.ndarray,
    functionals: np.ndarray,
    shares: Sequence[Shares | None],
) -> dict[str, list[np.ndarray]]:
    """⟨functional, φ˙⟩ for the directions of each piece, at given inputs: columns of
    shape (N,).

    X has shape (N, core + 2, tokens): the core, and two other coordinates c ("another
    coordinate") and e; functionals, of the one output, (N, tokens). The shares are as
    `free_shares` gives them.
    """
    pattern = point.pattern
    n = pattern.core
    out, bars = _adjoints(point, over, X[:, :n], functionals, shares)
    # Below the coordinates: uᵀX, vᵀX and ℓᵀX, or zeros where there is no such vector.
    special = [
        np.zeros(n) if vector is None else vector
        for vector in (point.u, point.v, point.line)
    ]
    rows = np.concatenate([X, over.matmul(np.stack(special), X[:, :n])], axis=1)
    at = _Rows(range(n), *range(n, n + 5))
    columns: dict[str, list[np.ndarray]] = {name: [] for name in PIECES}
    # linear[:, a]: the effect of moving coordinate a of L; turned[:, a]: of ℓ, with
    # which L and all M = cℓℓᵀ turn.
    linear = over.matmul(rows, out[..., None])[..., 0]
    turned = linear[:, : n + 1]
    for direction, M, bar in zip(pattern.directions, point.M, bars, strict=True):
        # moved[:, a, b]: the effect of moving entry (a, b) of M; both[:, a, b]: of
        # moving (a, b) and (b, a).
        moved = over.matmul(over.matmul(rows, bar), rows.mT)
        both = over.reduce(moved + moved.mT)
        if direction == "all":
            of_M = _moved_freely(moved, at)
        elif direction == "symmetric":
            of_M = _moved_symmetrically(both, at)
        elif direction == "rank one":
            of_M = _moved_as_uv(moved, at)
        else:  # ℓ₁ = 1, so M₁₁ = c
            of_M = {"core": [moved[:, at.line, at.line]]}
            along = over.reduce(M[0, 0] * both[:, : n + 1, at.line])
            turned = over.reduce(turned + along)
        for name, more in of_M.items():
            columns[name] += more
    if "line" in pattern.directions:
        of_L = _line_moved(linear, turned, at)
    else:
        of_L = _L_moved(linear, at)
    for name, more in of_L.items():
        columns[name] += more
    return columns


class _Rows(NamedTuple):
    """Which row is what: the coordinates of the core, two others, and what u, v and ℓ
    make of the core."""

    core: range
    c: int
    e: int
    u: int
    v: int
    line: int


def _moved_freely(moved: np.ndarray, at: _Rows) -> dict[str, list[np.ndarray]]:
    c = at.c
    e = at.e
    return {
        "core": [moved[:, a, b] for a in at.core for b in at.core],
        "another coordinate": [
            *(moved[:, c, a] for a in at.core),
            *(moved[:, a, c] for a in at.core),
        ],
        "its square": [moved[:, c, c]],
        "a pair of others": [moved[:, c, e], moved[:, e, c]],
    }


def _moved_symmetrically(both: np.ndarray, at: _Rows) -> dict[str, list[np.ndarray]]:
    return {
        "core": [both[:, a, b] for a in at.core for b in range(a + 1)],
        "another coordinate": [both[:, at.c, a] for a in at.core],
        "its square": [both[:, at.c, at.c]],
        "a pair of others": [both[:, at.c, at.e]],
    }


def _moved_as_uv(moved: np.ndarray, at: _Rows) -> dict[str, list[np.ndarray]]:
    """M˙ = u˙vᵀ + uv˙ᵀ; u₁ = 1 stays, as (λu, v/λ) is the same matrix."""
    return {
        "core": [
            *(moved[:, a, at.v] for a in at.core[1:]),
            *(moved[:, at.u, a] for a in at.core),
        ],
        "another coordinate": [moved[:, at.c, at.v], moved[:, at.u, at.c]],
    }


def _line_moved(
    linear: np.ndarray, turned: np.ndarray, at: _Rows
) -> dict[str, list[np.ndarray]]:
    """L = hℓᵀ by h and by ℓ; ℓ₁ = 1 stays.

    Another output has an h of its own and the same ℓ, so it has no piece with another
    coordinate.
    """
    return {
        "core": [linear[:, at.line], *(turned[:, a] for a in at.core[1:])],
        "another coordinate": [turned[:, at.c]],
        "another output": [linear[:, at.line]],
    }


def _L_moved(linear: np.ndarray, at: _Rows) -> dict[str, list[np.ndarray]]:
    """Each output has a row of L of its own."""
    entries = [linear[:, a] for a in at.core]
    other = [linear[:, at.c]]
    return {
        "core": entries,
        "another coordinate": other,
        "another output": entries,
        "another output and coordinate": other,
    }


def free_shares(
    point: Point, over: PrimeField, inputs: int, rng: np.random.Generator
) -> list[Shares | None]:
    """How two tokens share their attention in each layer; None for lightning.

    Exponentials are free if no Sym M_i is 0 (Lemma G), so the shares μ and ν are drawn
    at random. If Sym M_i = 0, then ν = 1 − μ: the two tokens become equal, and all
    later shares are 1/2.
    """
    if point.pattern.attention == "lightning":
        return [None] * len(point.M)
    # 1/2 modulo p
    half = over.reduce(np.full(inputs, (over.p + 1) / 2))
    merged = False
    found = []
    for M in point.M:
        mu, nu = (half, half) if merged else over.random(rng, (2, inputs))
        if not merged and not over.reduce(M + M.T).any():
            nu = over.reduce(1 - mu)
            merged = True
        found.append((mu, nu))
    return found


def _adjoints(
    point: Point,
    over: PrimeField,
    X: np.ndarray,
    functionals: np.ndarray,
    shares: Sequence[Shares | None],
) -> tuple[np.ndarray, list[np.ndarray]]:
    """⟨functional, φ˙⟩ = L˙X out + Σ ⟨B̄_i, XᵀM˙_iX⟩, all in t × t matrices.

        X_i = X G_i,   G_i = G_{i−1} S_i,   S_i from s_i = G_{i−1}ᵀ B_i G_{i−1},   B_i =
                       XᵀM_iX

    `out` has shape (N, t), each B̄_i (N, t, t).

    Args:
        X: the core of the inputs only, shape (N, core, t).
    """
    mul = over.matmul
    red = over.reduce
    t = X.shape[-1]
    G = np.broadcast_to(np.eye(t), (len(X), t, t))
    passed = []
    for M, share in zip(point.M, shares, strict=True):
        B = mul(X.mT, mul(M, X))
        if share is None:
            S = mul(G.mT, mul(B, G))
        else:
            mu, nu = share
            # Token 1 keeps 1 − μ of itself, token 2 keeps 1 − ν; columns sum to 1.
            S = red(_two_by_two(1 - mu, nu, mu, 1 - nu))
        passed.append((B, G, S, share))
        G = mul(G, S)
    # The output is L X G_l, a row of t numbers.
    out = mul(G, functionals[..., None])[..., 0]
    G_bar = mul(mul(point.L, X)[..., None], functionals[:, None])
    bars = []
    for B, G, S, share in reversed(passed):
        # Here G is G_{i−1}, and G_bar belongs to G_i = G S.
        s_bar = mul(G.mT, G_bar)
        # p = s₂₁ − s₁₁, q = s₁₂ − s₂₂, μ˙ = μ(1 − μ)p˙, ν˙ = ν(1 − ν)q˙
        if share is not None:
            mu, nu = share
            p_bar = red(red(mu * red(1 - mu)) * red(s_bar[:, 1, 0] - s_bar[:, 0, 0]))
            q_bar = red(red(nu * red(1 - nu)) * red(s_bar[:, 0, 1] - s_bar[:, 1, 1]))
            s_bar = _two_by_two(-p_bar, q_bar, p_bar, -q_bar)
        bars.insert(0, mul(mul(G, s_bar), G.mT))
        BG = mul(B, G)
        BTG = mul(B.mT, G)
        # Through G S, and through s = GᵀBG on both sides.
        G_bar = red(mul(G_bar, S.mT) + mul(BG, s_bar.mT) + mul(BTG, s_bar))
    return out, bars


def _two_by_two(*entries: np.ndarray) -> np.ndarray:
    return np.stack(entries, -1).reshape(-1, 2, 2)
