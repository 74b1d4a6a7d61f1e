"""The dimension of a network of any width, computed again from a handful of small exact
ranks.

Instead of a random network, one whose virtual weights live on one or two coordinates:
there the derivative falls into pieces that do not know the width
(`neuroviz_beyond.certificate.small_rank_pieces`; "The local check" in
beyond/docs/certificates.md, with the proof). Of the theorems only Lemma D is used,
which counts virtual weights; the kernel is measured. Nothing is used of what finds
certificates.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

import numpy as np

from neuroviz.attention import Architecture
from neuroviz.rank.field import DEFAULT_PRIME, PrimeField
from neuroviz_beyond.certificate.small_rank_pieces import (
    Pattern,
    Piece,
    counted,
    pieces_at,
    random_point,
)
from neuroviz_beyond.transformers.transformer import as_paper

MOST_LAYERS = 128
"""Up to this depth a check takes a fraction of a second."""

_POINTS = 3  # one point is enough unless it is unlucky mod p


@dataclass(frozen=True)
class LocalCheck:
    """What small ranks say about an architecture.

    Attributes:
        arch: the architecture.
        covers: whether they say anything; `reason` says why not, or what was looked at.
        pieces: the parts of the derivative at θ₀.
        virtual: D, the dimension of the virtual weights, those that cannot be seen left
            out (Lemma D).
    """

    arch: Architecture
    covers: bool
    reason: str
    pieces: tuple[Piece, ...] = ()
    virtual: int | None = None

    @property
    def kernel(self) -> int:
        """The dimension of the kernel at θ₀, in all virtual weights of this width."""
        return sum(piece.copies * piece.kernel for piece in self.pieces)

    @property
    def expected(self) -> int:
        """The dimension of what the symmetries explain of it."""
        return sum(piece.copies * piece.expected for piece in self.pieces)

    @property
    def holds(self) -> bool:
        """Whether the kernel is explained by symmetries: then the dimension is
        proved."""
        return self.covers and all(piece.holds for piece in self.pieces)

    @property
    def at_least(self) -> int | None:
        """D less the kernel: the dimension is at least this, also where the check does
        not hold."""
        return self.virtual - self.kernel if self.covers else None

    @property
    def dimension(self) -> int | None:
        """The dimension, where the check holds."""
        return self.at_least if self.holds else None


def local_check(arch: Architecture) -> LocalCheck:
    """The dimension of a network of any width by exact ranks of at most 4l + 2 columns.

        dimension = D − (kernel at θ₀),   D = dim {(L, M_1, …, M_l)}

    A rank mod p that leaves no more than the l rescalings (softmax: nothing) is a
    proof: no error remains. For lightning with a layer of rank one, or tokens on a
    line, M_i moves as far as it can be seen.

    Raises:
        ValueError: if `arch` is no architecture.

    >>> check = local_check(Architecture.uniform(12288, 128, 3))
    >>> check.dimension, check.kernel, max(piece.columns for piece in check.pieces)
    (160382973, 3, 14)
    >>> local_check(Architecture((3, 3, 3), (1, 2))).dimension
    18
    """
    arch = as_paper("local_check", arch)
    if arch.attention == "softmax" and arch.tokens == 1:
        return LocalCheck(
            arch,
            False,
            "one token attends to itself alone: there are no logits to look at",
        )
    if arch.num_layers > MOST_LAYERS:
        why = (
            f"the ranks grow with the layers; {MOST_LAYERS} are looked at, here are"
            f" {arch.num_layers}"
        )
        return LocalCheck(arch, False, why)
    pattern = pattern_of(arch)
    pieces = counted(
        _generic_pieces(pattern), arch.widths[0] - pattern.core, arch.widths[-1]
    )
    number = sum(piece.columns * piece.copies for piece in pieces)
    reason = (
        f"{len(pieces)} small ranks stand for {number} entries of the virtual weights"
    )
    return LocalCheck(arch, True, reason, pieces, _virtual_dimension(arch, pattern))


def pattern_of(arch: Architecture) -> Pattern:
    """Which small ranks decide about an architecture: lightning, or softmax of two
    tokens and more.

    >>> pattern_of(Architecture((5, 4, 1, 6), (3, 1, 2))).directions
    ('all', 'rank one', 'line')
    """
    d = arch.widths
    a = arch.head_dims
    depth = arch.num_layers
    tokens = min(arch.tokens, 2)  # more tokens are 0, or copies of the second one
    if arch.attention == "softmax" or d[0] == 1:
        return Pattern(arch.attention, tokens, 1, ("all",) * depth, (1,) * depth)
    # Layers are counted from 0 here: layer i reads the width d[i].
    line = d.index(1) if 1 in d[:-1] else depth
    # after this layer all tokens are parallel
    collapse = a.index(1) if 1 in a[:-1] else depth
    directions = []
    ranks = []
    for i in range(depth):
        if i >= line:
            directions.append("line")
        elif tokens == 1 or i > collapse:
            directions.append("symmetric")
        elif i == collapse:
            directions.append("rank one")
        else:
            directions.append("all")
        # on the core of two coordinates
        ranks.append(1 if i >= line else min(a[i], 2))
    return Pattern(arch.attention, tokens, 2, tuple(directions), tuple(ranks))


@lru_cache(maxsize=4096)
def _generic_pieces(pattern: Pattern) -> tuple[Piece, ...]:
    """The pieces at a random point; at another one where the first seems unlucky."""
    over = PrimeField(DEFAULT_PRIME)
    for seed in range(_POINTS):
        rng = np.random.default_rng([seed, 12])
        pieces = pieces_at(random_point(pattern, over, rng), over, rng)
        if all(piece.holds for piece in pieces):
            break
    return pieces


def _virtual_dimension(arch: Architecture, pattern: Pattern) -> int:
    """D: a flag of subspaces that later layers see, L, and in each an M_i of its kind
    (Lemma D)."""
    d = arch.widths
    depth = arch.num_layers
    w = [*accumulate(d[:-1], min), d[-1]]
    # layer i + 1 shows what later layers do, and 2a vectors more
    for i in range(depth - 1, 0, -1):
        w[i] = min(w[i], w[i + 1] + 2 * arch.head_dims[i])
    # The flag R_{l−1} ⊂ … ⊂ R₀, and L on R_{l−1}.
    total = sum(w[i] * (w[i - 1] - w[i]) for i in range(1, depth)) + w[-1] * w[-2]
    for direction, a, width in zip(
        pattern.directions, arch.head_dims, w[:-1], strict=True
    ):
        if direction == "symmetric":
            unseen = max(0, width - 2 * a)
            total += (width * (width + 1) - unseen * (unseen + 1)) // 2
        else:
            total += width**2 - max(0, width - a) ** 2
    return total
