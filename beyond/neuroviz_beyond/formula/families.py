"""Families of small networks of equal width, on which a formula for the dimension is
tried.

A family is a kind of network and a grid of sizes. Two of them come with hints, for a
guided discovery.
"""

from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

from neuroviz_beyond.formula.expression import NAMES
from neuroviz_beyond.transformers import Transformer

LETTERS = ("l", "H", "t", "d", "a")


class Sizes(NamedTuple):
    """The sizes of one network of equal width, in the order in which a family counts
    through them.

    >>> Sizes(1, 2, 3, 4, 5).values["d"]
    4
    """

    layers: int
    heads: int
    tokens: int
    width: int
    head_dim: int

    @property
    def values(self) -> dict[str, int]:
        """Letter → size."""
        return dict(zip(LETTERS, self, strict=True))


@dataclass(frozen=True)
class Family:
    """A kind of network, and the sizes at which it is measured; all widths are equal.

    Attributes:
        name: a short key.
        title: in words.
        attention, skip, causal: as in `Transformer`.
        grid: for each of l, H, t, d, a its values, in that order.
        heads: "all", "few" (members with H ≤ d only) or "many" (H > d only).
        known: the known formula, as `parse_formula` reads it; empty where nobody knows
            one.
        hints: steps towards it, for a guided discovery; the last one is the answer.
    """

    name: str
    title: str
    attention: str
    grid: tuple[tuple[int, ...], ...]
    known: str
    skip: bool = False
    causal: bool = False
    heads: str = "all"
    hints: tuple[str, ...] = field(default=(), repr=False)

    @property
    def members(self) -> tuple[Sizes, ...]:
        """All sizes of the family, the smallest first."""
        found = []
        for values in product(*self.grid):
            sizes = Sizes(*values)
            kind = "many" if sizes.heads > sizes.width else "few"
            if self.heads in ("all", kind):
                found.append(sizes)
        return tuple(found)

    @property
    def varies(self) -> tuple[str, ...]:
        """The letters with more than one value; the last one changes fastest."""
        return tuple(
            letter
            for letter, values in zip(LETTERS, self.grid, strict=True)
            if len(values) > 1
        )

    def architecture(self, sizes: Sizes) -> Transformer:
        """The network of these sizes."""
        layers, heads, tokens, d, a = sizes
        more = {"heads": heads, "skip": self.skip, "causal": self.causal}
        return Transformer.uniform(d, a, layers, tokens, self.attention, **more)

    def name_of(self, sizes: Sizes) -> str:
        """The sizes that tell this member from the others.

        >>> FAMILIES["skip"].name_of(Sizes(2, 1, 2, 3, 1))
        'd = 3, a = 1, l = 2'
        """
        return ", ".join(
            f"{letter} = {sizes.values[letter]}"
            for letter in NAMES
            if letter in self.varies
        )


def _grid(**values: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """The values of l, H, t, d, a: one layer of one head on two tokens, d and a up to
    4, unless told."""
    usual = {"l": (1,), "H": (1,), "t": (2,), "d": (1, 2, 3, 4), "a": (1, 2, 3, 4)}
    return tuple({**usual, **values}[letter] for letter in LETTERS)


_ONE = _grid(t=(2, 3), d=(1, 2, 3, 4, 5))
_DEEP = _grid(l=(1, 2, 3), a=(1, 2, 3))
_HEADS = _grid(H=(1, 2, 3, 4))
_HEADS_3 = _grid(H=(1, 2, 3), a=(1, 2, 3))
_MANY = _grid(H=(3, 4, 5, 7), d=(2, 3), a=(1, 2, 3))
_TOKEN = "(alpha(a, d) if t > 1 else sigma(a, d)) + d**2 - 1"
_SKIP = "l*(alpha(a, d) + d**2 - 1)"
_FEW = "H*(alpha(a, d) + d**2) - H*max(1, H - max(d - a, 0)**2)"
_SKIP_HINTS = (
    (
        "Count the parameters. A layer has Q and K of size a × d, and V of size d × d;"
        " there are l layers. Type that number, and see at which networks it is too"
        " large."
    ),
    (
        "Q and K act only through A = KᵀQ, a d × d matrix of rank at most a. How many"
        " numbers is such a matrix? Its count has a name here, alpha(a, d). Put it in"
        " the place of the parameters of Q and K."
    ),
    (
        "A 2 × 2 example: one layer, d = 2, a = 2. A has 4 entries and V has 4, but 7"
        " are measured. Multiply A by c and divide V by c: what happens to V X XᵀA X?"
        " Does the skip, which adds X, notice?"
    ),
    (
        "Compare l = 1, 2, 3 at the same d and a: the measured numbers are multiples."
        " The skip passes X on as it is, so a change of basis between two layers would"
        f" show; each layer loses its rescaling and nothing else: {_SKIP}."
    ),
)
_HEADS_HINTS = (
    (
        "Count the parameters: H heads, each with Q and K of size a × d and V of size d"
        " × d. Only A = KᵀQ matters, of rank at most a: put alpha(a, d) in the place of"
        " Q and K. What is lost beyond H*(alpha(a, d) + d**2)?"
    ),
    (
        "Where a is much smaller than d, it is one for each head. Then look at full"
        " heads, a ≥ d: 4 are lost at H = d = a = 2, and 9 at H = d = a = 3. Which"
        " number is that, in H?"
    ),
    (
        "A 2 × 2 example: V₁X XᵀA₁X + V₂X XᵀA₂X. Put A₁ + cA₂ for A₁ and V₂ − cV₁ for"
        " V₂, and multiply out. So heads can blend. But where a < d, the new A₁ must"
        " keep a rank of at most a. What does that leave?"
    ),
    (
        "A d × d matrix of rank at most a obeys (d − a)² equations. Of the H"
        " directions in which one head can blend, H − (d − a)² are left, and never"
        f" fewer than 1, the rescaling: {_FEW}."
    ),
)

_ALL = (
    Family(
        "lightning", "one lightning layer", "lightning", _ONE, "alpha(a, d) + d**2 - 1"
    ),
    Family("softmax", "one softmax layer", "softmax", _ONE, "alpha(a, d) + d**2"),
    Family(
        "token",
        "one lightning layer, t from 1",
        "lightning",
        _grid(t=(1, 2, 3)),
        _TOKEN,
    ),
    Family("deep", "deep lightning", "lightning", _DEEP, "d**2 + l*(alpha(a, d) - 1)"),
    Family("deep-softmax", "deep softmax", "softmax", _DEEP, "d**2 + l*alpha(a, d)"),
    Family(
        "skip",
        "① lightning with skips",
        "lightning",
        _DEEP,
        _SKIP,
        skip=True,
        hints=_SKIP_HINTS,
    ),
    Family(
        "skip-softmax",
        "softmax with skips",
        "softmax",
        _DEEP,
        "l*(alpha(a, d) + d**2)",
        skip=True,
    ),
    Family(
        "heads",
        "② lightning, H heads, H ≤ d",
        "lightning",
        _HEADS,
        _FEW,
        heads="few",
        hints=_HEADS_HINTS,
    ),
    Family(
        "heads-softmax",
        "softmax, H heads",
        "softmax",
        _HEADS_3,
        "H*(alpha(a, d) + d**2)",
    ),
    Family(
        "heads-many", "lightning, H heads, H > d", "lightning", _MANY, "", heads="many"
    ),
    Family(
        "causal",
        "causal lightning",
        "lightning",
        _DEEP,
        "d**2 + l*(alpha(a, d) - 1)",
        causal=True,
    ),
    Family(
        "causal-softmax",
        "causal softmax",
        "softmax",
        _DEEP,
        "d**2 + l*alpha(a, d)",
        causal=True,
    ),
)
FAMILIES = {family.name: family for family in _ALL}
"""name → family; those with hints are guided discoveries."""
