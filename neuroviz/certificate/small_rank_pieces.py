"""The derivative of a network at virtual weights on one or two coordinates, in pieces.

An input that is 0 outside some coordinates stays so: X_i = X G_i with G_i of size t × t, whatever the
weights. Let L and all M_i live on the first one or two coordinates, the core. Then the G_i see nothing but
the core, and a derivative falls apart by how often it contains each other coordinate c, e:

    M˙_i of (core, core)    M˙_i of (c, core), (core, c)    M˙_i of (c, c)    M˙_i of (c, e), (e, c)

All coordinates outside the core are alike. So a few small ranks, and how often each occurs, give the rank
for every width ("The local check" in docs/mathematics.md). Nothing else of the package is used but its
field; ranks are python-flint's.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb

import numpy as np

from neuroviz.engine.field import Field, PrimeField

DIRECTIONS = ("all", "rank one", "symmetric", "line")
"""How M_i may move: freely; as uvᵀ; symmetric (the rest is invisible); as cℓℓᵀ, with L = hℓᵀ."""
PIECES = (
    "core",
    "another coordinate",
    "its square",
    "a pair of others",
    "another output",
    "another output and coordinate",
)

_SPARE_ROWS = 2

Shares = tuple[np.ndarray, np.ndarray]
"""μ and ν of one layer, arrays of shape (N,)."""


@dataclass(frozen=True)
class Pattern:
    """All that the small ranks depend on; architectures of all widths share it.

    Attributes:
        attention: "lightning" or "softmax".
        tokens: 1, or 2 for two and more: all other tokens are 0 (lightning) or copies (softmax).
        core: how many coordinates L and the M_i live on, 1 or 2.
        directions: for each layer one of `DIRECTIONS`.
        ranks: the rank of each M_i on the core.
    """

    attention: str
    tokens: int
    core: int
    directions: tuple[str, ...]
    ranks: tuple[int, ...]

    @property
    def symmetries(self) -> int:
        """How many directions of the core certainly change nothing: one rescaling a layer, or none."""
        return len(self.ranks) if self.attention == "lightning" else 0


@dataclass(frozen=True, eq=False)
class Point:
    """Virtual weights θ₀ on the core, with one output.

    Attributes:
        pattern: how they may move.
        L: shape (core,).
        M: M_1, …, M_l, each (core, core).
        u, v: the M_i that moves as "rank one" is uvᵀ; u and the line begin with 1.
        line: ℓ, where an M_i moves on a line; then L = ℓ.
    """

    pattern: Pattern
    L: np.ndarray
    M: tuple[np.ndarray, ...]
    u: np.ndarray | None = None
    v: np.ndarray | None = None
    line: np.ndarray | None = None


@dataclass(frozen=True)
class Piece:
    """One part of the derivative at θ₀: a small matrix, its exact rank, and how often it occurs.

    Attributes:
        name: one of `PIECES`.
        copies: how often it occurs in a network of these widths.
        columns: how many entries of the virtual weights it is about.
        rank: over F_p, at one point: a proved lower bound.
        expected: the dimension of the kernel that the symmetries explain.
        prime: p.
        error_bound: how likely a larger rank was missed; 0 where `holds`, for then none is possible.
    """

    name: str
    copies: int
    columns: int
    rank: int
    expected: int
    prime: int
    error_bound: float

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
    u, line = (np.concatenate([[1.0], over.random(rng, (n - 1,))]) for _ in range(2))
    v, L = over.random(rng, (2, n))
    M = []
    for direction, rank in zip(pattern.directions, pattern.ranks, strict=True):
        left, right = over.random(rng, (2, rank, n))
        if direction == "rank one":
            left, right = u[None], v[None]
        elif direction == "line":
            left, right = over.reduce(left[:, :1] * line), line[None]
        M.append(over.matmul(left.T, right))
    on_line = "line" in pattern.directions
    return Point(pattern, line if on_line else L, tuple(M), u, v, line if on_line else None)


def counted(pieces: Sequence[Piece], others: int, outputs: int) -> tuple[Piece, ...]:
    """The pieces that occur, each as often as it does.

    Args:
        pieces: as `pieces_at` gives them.
        others: how many coordinates the tokens have outside the core.
        outputs: d_l.
    """
    copies = (1, others, others, comb(others, 2), outputs - 1, (outputs - 1) * others)
    number = dict(zip(PIECES, copies, strict=True))
    return tuple(
        replace(piece, copies=number[piece.name]) for piece in pieces if piece.columns and number[piece.name]
    )


def pieces_at(point: Point, over: PrimeField, rng: np.random.Generator) -> tuple[Piece, ...]:
    """The parts of the derivative at a point, each once (`copies` is 1), on random inputs.

    With one functional for each input no rank is lost.
    """
    pattern, n = point.pattern, point.pattern.core
    inputs = 4 * len(point.M) + 2 + _SPARE_ROWS
    X = over.random(rng, (inputs, n + 2, pattern.tokens))
    functionals = over.random(rng, (inputs, pattern.tokens))
    columns = columns_at(point, over, X, functionals, free_shares(point, over, inputs, rng))
    return tuple(
        _piece(name, values, pattern.symmetries if name == "core" else 0, len(point.M), over)
        for name, values in columns.items()
    )


def columns_at(
    point: Point, over: PrimeField, X: np.ndarray, functionals: np.ndarray, shares: Sequence[Shares | None]
) -> dict[str, list[np.ndarray]]:
    """⟨functional, φ˙⟩ for the directions of each piece, at given inputs.

    Args:
        point: θ₀.
        over: the field.
        X: shape (N, core + 2, tokens): the core, and two other coordinates c and e.
        functionals: shape (N, tokens), of the one output.
        shares: as `free_shares` gives them.

    Returns:
        For each piece a list of columns, arrays of shape (N,); "another coordinate" is c.
    """
    pattern, n = point.pattern, point.pattern.core
    out, bars = _adjoints(point, over, X[:, :n], functionals, shares)
    special = [np.zeros(n) if vector is None else vector for vector in (point.u, point.v, point.line)]
    rows = np.concatenate([X, over.matmul(np.stack(special), X[:, :n])], axis=1)
    core, (c, e, u, v, line) = range(n), range(n, n + 5)
    linear = over.matmul(rows, out[..., None])[..., 0]  # what moving L does: [:, a] in coordinate a
    columns: dict[str, list[np.ndarray]] = {name: [] for name in PIECES}
    first, one, square, pair, output, output_one = columns.values()
    turned = linear[:, : n + 1]  # L and all M = cℓℓᵀ turn together
    for direction, M, bar in zip(pattern.directions, point.M, bars, strict=True):
        # moved[:, a, b] is what moving the entry (a, b) of M does, both[:, a, b] with (b, a).
        moved = over.matmul(over.matmul(rows, bar), rows.mT)
        both = over.reduce(moved + moved.mT)
        if direction == "all":
            first += [moved[:, a, b] for a in core for b in core]
            one += [moved[:, c, a] for a in core] + [moved[:, a, c] for a in core]
            square.append(moved[:, c, c])
            pair += [moved[:, c, e], moved[:, e, c]]
        elif direction == "symmetric":
            first += [both[:, a, b] for a in core for b in range(a + 1)]
            one += [both[:, c, a] for a in core]
            square.append(both[:, c, c])
            pair.append(both[:, c, e])
        elif direction == "rank one":  # u₁ = 1 stays, as (λu, v/λ) is the same matrix
            first += [moved[:, a, v] for a in core[1:]] + [moved[:, u, a] for a in core]
            one += [moved[:, c, v], moved[:, u, c]]
        else:  # ℓ₁ = 1, so M₁₁ = c
            first.append(moved[:, line, line])
            turned = over.reduce(turned + over.reduce(M[0, 0] * both[:, : n + 1, line]))
    if "line" in pattern.directions:  # ℓ₁ = 1 stays too
        first += [linear[:, line], *(turned[:, a] for a in core[1:])]
        one.append(turned[:, c])
        output.append(linear[:, line])
    else:
        first += [linear[:, a] for a in core]
        one.append(linear[:, c])
        output += [linear[:, a] for a in core]
        output_one.append(linear[:, c])
    return columns


def _piece(name: str, columns: list[np.ndarray], expected: int, depth: int, over: PrimeField) -> Piece:
    import flint

    matrix = np.array(columns).astype(int)
    rank = flint.nmod_mat(*matrix.shape, matrix.ravel().tolist(), over.p).rank() if columns else 0
    # Entries are polynomials in what is drawn, lightning's of degree (5 · 3^l + 1)/2 and softmax's of less.
    error = min(1.0, (rank + 1) * 3 ** (depth + 1) / over.p)
    sure = len(columns) - rank == expected
    return Piece(name, 1, len(columns), rank, expected, over.p, 0.0 if sure else error)


def free_shares(point: Point, over: PrimeField, inputs: int, rng: np.random.Generator) -> list[Shares | None]:
    """How two tokens share their attention in each layer; None for lightning.

    Softmax: exponentials are free if no Sym M_i is 0 (Lemma G), so the shares μ and ν are drawn at random.
    If Sym M_i = 0, then ν = 1 − μ: the two tokens become equal, and all later shares are 1/2.
    """
    if point.pattern.attention == "lightning":
        return [None] * len(point.M)
    half, merged, found = over.reduce(np.full(inputs, (over.p + 1) / 2)), False, []
    for M in point.M:
        mu, nu = (half, half) if merged else over.random(rng, (2, inputs))
        if not merged and not over.reduce(M + M.T).any():
            nu, merged = over.reduce(1 - mu), True
        found.append((mu, nu))
    return found


def _adjoints(
    point: Point, over: PrimeField, X: np.ndarray, functionals: np.ndarray, shares: Sequence[Shares | None]
) -> tuple[np.ndarray, list[np.ndarray]]:
    """⟨functional, φ˙⟩ = L˙X out + Σ ⟨B̄_i, XᵀM˙_iX⟩, all in t × t matrices.

        X_i = X G_i,   G_i = G_{i−1} S_i,   S_i from N_i = G_{i−1}ᵀ B_i G_{i−1},   B_i = XᵀM_iX

    Returns:
        `out` of shape (N, t), and B̄_i of shape (N, t, t) for each layer.
    """
    mul, red = over.matmul, over.reduce
    t = X.shape[-1]
    G = np.broadcast_to(np.eye(t), (len(X), t, t))
    passed = []
    for M, share in zip(point.M, shares, strict=True):
        B = mul(X.mT, mul(M, X))
        if share is None:
            S = mul(G.mT, mul(B, G))
        else:
            mu, nu = share
            S = red(np.stack([np.stack([1 - mu, nu], -1), np.stack([mu, 1 - nu], -1)], -2))
        passed.append((B, G, S, share))
        G = mul(G, S)
    out = mul(G, functionals[..., None])[..., 0]
    G_bar = mul(mul(point.L, X)[..., None], functionals[:, None])
    bars = []
    for B, G, S, share in reversed(passed):
        N_bar = mul(G.mT, G_bar)
        if share is not None:  # p = N₂₁ − N₁₁, q = N₁₂ − N₂₂, μ˙ = μ(1 − μ)p˙, ν˙ = ν(1 − ν)q˙
            mu, nu = share
            p_bar = red(red(mu * red(1 - mu)) * red(N_bar[:, 1, 0] - N_bar[:, 0, 0]))
            q_bar = red(red(nu * red(1 - nu)) * red(N_bar[:, 0, 1] - N_bar[:, 1, 1]))
            N_bar = np.stack([np.stack([-p_bar, q_bar], -1), np.stack([p_bar, -q_bar], -1)], -2)
        bars.insert(0, mul(mul(G, N_bar), G.mT))
        BG, BTG = mul(B, G), mul(B.mT, G)
        G_bar = red(mul(G_bar, S.mT) + mul(BG, N_bar.mT) + mul(BTG, N_bar))
    return out, bars
