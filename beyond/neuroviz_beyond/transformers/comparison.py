"""When are two matrices of Theorem H equal? In which units they are compared, and what
rounding hides.

No input has a natural size, so no difference is small by itself: a head that hardly
attends is seen by longer tokens, and a small output may be all that one reads. So each
head, each output, and each coordinate of tokens that no change of basis mixes with
others, has a unit of its own.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

EPSILON = float(np.finfo(float).eps)
# weights have been rounded so often, at most: they are themselves results
ROUNDINGS = 16
# of `balanced`; each takes the root of how far rows and columns are from one size
_ROUNDS = 30
# The more certain of equality comes first: `Verdict.worse` takes the later one.
_KINDS = ("equal", "hidden", "unequal")


class Rounded(NamedTuple):
    """A matrix of rounded numbers, and how far rounding can move each entry.

    `spread` is what one rounding of each number that led to the entry can do, in units
    of `EPSILON` and to first order; it is no less than the entry's absolute value.
    """

    value: np.ndarray
    spread: np.ndarray

    def __add__(self, other: "Rounded") -> "Rounded":
        """Term by term."""
        return Rounded(self.value + other.value, self.spread + other.spread)

    def __matmul__(self, other: "Rounded") -> "Rounded":
        """The product."""
        # (x + δ)(y + ε) − x y = δ y + x ε, to first order.
        spread = self.spread @ np.abs(other.value) + np.abs(self.value) @ other.spread
        return Rounded(self.value @ other.value, spread)

    def __getitem__(self, place: object) -> "Rounded":
        """A part, or another order."""
        return Rounded(self.value[place], self.spread[place])

    @property
    def mT(self) -> "Rounded":  # noqa: N802
        """Transposed."""
        return Rounded(self.value.mT, self.spread.mT)


def exactly(value: np.ndarray) -> Rounded:
    """A matrix whose entries are rounded once."""
    return Rounded(value, np.abs(value))


class Verdict(NamedTuple):
    """What is known of a difference.

    Attributes:
        kind: "equal", "unequal", or "hidden": rounding may be all there is, and is too
            much to say.
        share: how large the difference is, in units of what it is compared with.
        rounding: how large rounding of the weights alone can make it.
    """

    kind: str
    share: float
    rounding: float

    def worse(self, other: "Verdict") -> "Verdict":
        """The one that says less for equality."""
        return max(self, other, key=lambda one: (_KINDS.index(one.kind), one.share))


@dataclass(frozen=True)
class Judge:
    """Compares with a tolerance, and knows how exactly weights are stored.

    Attributes:
        tolerance: the largest share of a unit that counts as equal.
        epsilon: how far apart the stored numbers near 1 are.
    """

    tolerance: float
    epsilon: float = EPSILON

    def noise(self, *sums: Rounded) -> np.ndarray:
        """How far rounding of the weights can move a difference."""
        return ROUNDINGS * self.epsilon * sum(one.spread for one in sums)

    def compare(
        self, one: Rounded, other: Rounded, unit: np.ndarray, coarse: np.ndarray
    ) -> Verdict:
        """Entry by entry in units of `unit`; where rounding hides the difference, in
        units of `coarse`.

        It is equal if the true numbers differ by less than the tolerance, whatever we
        have rounded; unequal if they differ by more, whatever rounding of the weights
        has done. Between the two, the coarse units may still decide for equality.

        Args:
            unit: the size of each entry, in its row and in its column; broadcast.
            coarse: the size of its row, or of the whole matrix.
        """
        apart = np.abs(one.value - other.value)
        noise = self.noise(one, other)
        if not (np.isfinite(apart).all() and np.isfinite(noise).all()):
            return Verdict("hidden", np.inf, np.inf)
        # we compute in float64, and round once
        surely = apart + EPSILON * (one.spread + other.spread)
        share = _share(apart, unit), _share(noise, unit)
        if (surely <= self.tolerance * unit).all():
            return Verdict("equal", *share)
        if not (apart <= self.tolerance * unit + noise).all():
            return Verdict("unequal", *share)
        is_equal = (surely <= self.tolerance * coarse).all()
        return Verdict(
            "equal" if is_equal else "hidden",
            _share(apart, coarse),
            _share(noise, coarse),
        )

    def attention(
        self, one: "Attention", other: "Attention", own_inputs: bool
    ) -> Verdict:
        """Whether two heads attend alike.

        Args:
            own_inputs: whether each input coordinate has a unit of its own, because no
                change of basis mixes them.
        """
        A, c = (
            np.maximum(abs(a.value), abs(b.value))
            for a, b in zip(one, other, strict=True)
        )
        if own_inputs:
            # c has the units of the rows of A: both are multiplied by the key's token.
            both = balanced(np.column_stack([A, c]))
            A_unit = both[:, :-1]
            c_unit = both[:, -1]
        else:
            A_unit = length(A)
            c_unit = length(c)
        A_size = length(A)
        c_size = length(c)
        # A shift of tokens may cancel c; then it counts beside what A does to tokens of
        # a fitting size.
        return self.compare(one.A, other.A, A_unit, A_size).worse(
            self.compare(one.c, other.c, c_unit, max(c_size, np.sqrt(A_size)))
        )

    def values(
        self, V: Rounded, V2: Rounded, own_outputs: bool, own_inputs: bool
    ) -> Verdict:
        """Whether all heads have the same values.

        Args:
            V, V2: shape (H, d′, d).
            own_outputs, own_inputs: whether each row, each column has a unit of its
                own, because no change of basis mixes them.
        """
        found = Verdict("equal", 0.0, 0.0)
        for one, other in zip(_each(V), _each(V2), strict=True):
            size = np.maximum(abs(one.value), abs(other.value))
            coarse = lengths(size, axis=1) if own_outputs else length(size)
            unit = coarse
            if own_inputs:
                unit = balanced(size) if own_outputs else lengths(size, axis=0)
            found = found.worse(self.compare(one, other, unit, coarse))
        return found

    def constants(
        self,
        one: Rounded,
        other: Rounded,
        V: Rounded,
        attention: list["Attention"],
        skip: bool,
    ) -> Verdict:
        """Whether the constant parts of all outputs are the same.

        Shifts may cancel one; then it counts beside what heads add to this output.
        """
        # (H, d′): how much each head adds to each output, for a token of length 1; with
        # a skip also the token.
        reached = lengths(V.value, axis=-1)[..., 0] + skip
        sizes = np.array(
            [token_size(length(A.value), length(c.value)) for A, c in attention]
        )
        added = np.where(reached > 0, reached * sizes[:, None], 0.0).sum(axis=0)
        own = np.maximum(abs(one.value), abs(other.value))
        return self.compare(one, other, own, np.maximum(own, added))


class Attention(NamedTuple):
    """A and c of one head."""

    A: Rounded
    c: Rounded


def _each(heads: Rounded) -> list[Rounded]:
    return [heads[h] for h in range(len(heads.value))]


def _share(size: np.ndarray, unit: np.ndarray | float) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.where(size > 0, size / unit, 0.0).max(initial=0.0))


def length(M: np.ndarray) -> float:
    """‖M‖; squares neither overflow nor vanish.

    >>> length(np.array([3e-300, 4e-300]))
    5e-300
    """
    return float(lengths(M.ravel(), axis=0)[0])


def lengths(M: np.ndarray, axis: int) -> np.ndarray:
    """Of each row or column, whose entries stay as an axis of one."""
    largest = np.abs(M).max(axis=axis, keepdims=True)
    # Divided by the largest entry, squares neither overflow nor vanish.
    largest[largest == 0] = 1.0
    return largest * np.linalg.norm(M / largest, axis=axis, keepdims=True)


def balanced(sizes: np.ndarray) -> np.ndarray:
    """r cᵀ ≥ sizes, equal to it somewhere in each row and in each column: units that
    fit both.

    >>> sizes = np.array([[1e8, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1e-9]])
    >>> np.allclose(balanced(sizes)[:2, :2], [[1e8, 1.0], [1.0, 1e-8]])
    True
    """
    left = np.array(sizes, float)
    # Entries of rows and columns of zeros get the unit 0.
    seen = left.any(axis=1, keepdims=True) & left.any(axis=0, keepdims=True)
    rows = np.ones((len(left), 1))
    columns = np.ones((1, left.shape[1]))
    for _ in range(_ROUNDS):
        for axis, scale in ((1, rows), (0, columns)):
            root = np.sqrt(left.max(axis=axis, keepdims=True))
            root[root == 0] = 1.0
            scale *= root
            left /= root
    return rows * columns * seen


def token_size(A: float, c: float) -> float:
    """s with ‖A‖s² + ‖c‖s = 1: tokens for which a head is neither blind nor saturated.

    >>> token_size(4.0, 0.0), token_size(0.0, 0.5)
    (0.5, 2.0)
    """
    # The root 2 / (c + √(c² + 4A)): this form neither divides by A, which may be 0, nor
    # cancels.
    both = c + np.hypot(c, 2 * np.sqrt(A))
    return float(2 / both) if both > 0 else np.inf


def solved(M: Rounded, N: Rounded) -> Rounded:
    """M⁻¹N for an invertible M, whose rows may have any sizes.

    >>> found = solved(exactly(np.diag([1.0, 2.0**-1000])), exactly(np.eye(2)))
    >>> found.value.diagonal().tolist() == [1.0, 2.0**1000]
    True
    """
    rows = np.abs(M.value).max(axis=1, keepdims=True)
    scaled = M.value / rows
    found = np.linalg.solve(scaled, N.value / rows)
    # (M⁻¹N)˙ = M⁻¹ (Ṅ − Ṁ M⁻¹N): here with absolute values, and each row in units of
    # its own.
    moved = (M.spread @ np.abs(found) + N.spread) / rows
    return Rounded(found, np.abs(np.linalg.inv(scaled)) @ moved)


def fills(M: np.ndarray, moved: np.ndarray) -> bool:
    """Whether the rows of M are independent, beyond rounding."""
    if not np.isfinite(moved).all() or M.shape[0] > M.shape[1]:
        return False
    # A change of norm below the smallest singular value leaves the rank (Weyl).
    return bool(
        np.linalg.svd(M, compute_uv=False)[-1]
        > ROUNDINGS * EPSILON * np.linalg.norm(moved)
    )
