"""What the figure of the unrolled network shows: one term of Eq. 12, its reflection, and their names."""

from dataclasses import dataclass

from neuroviz.engine.virtual import Factor
from neuroviz.kit.plot import power_of_ten, rough

_SUBSCRIPT = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_NOTHING_BELOW = 1e-12  # what rounding leaves of a zero
_SAME = 1e-9  # floats this close, relative to their size, are the same number


@dataclass(frozen=True)
class Reflection:
    """The window of the indices around a place turned round, and what that does to the term.

    Attributes:
        indices: the tokens afterwards, j_1, …, j_{n+1}, from 0.
        start: L x_{j_1} afterwards.
        values: of the links afterwards.
        value: of the term afterwards.
        moved: (from, to): places whose number stands at the place opposite afterwards.
        changed: places whose number is another one now; 0 stands for L x_{j_1}.
    """

    indices: tuple[int, ...]
    start: float
    values: tuple[float, ...]
    value: float
    moved: tuple[tuple[int, int], ...]
    changed: tuple[int, ...]


@dataclass(frozen=True)
class UnrollStudy:
    """One term of Eq. 12, and what the reflection at one place makes of it.

    Attributes:
        layers, tokens: l and t.
        factors: M̃_1, …, M̃_n.
        place: k, from 1.
        window: the numbers of the indices that the mirror at k reaches, from 1.
        indices: j_1, …, j_n and j_{n+1} = i, from 0.
        start: L x_{j_1}, one number: L has one row here.
        values: x_{j_k}ᵀ M̃_k x_{j_{k+1}} for each place.
        value: of the term, the product of all of these.
        output: what the network gives for token i.
        summed: all t^n terms for token i added one by one, or None where they are too many.
        antisymmetric: the layer whose M is antisymmetric, or None.
        two_tokens: whether this is the term of Eq. 28: one token y everywhere, x at the end.
        coefficient: Eq. 28 by its formula if `two_tokens`, else None.
        reflection: None unless asked for.
        adjusted: the number of the index that was typed and then set, so that the window has equal
            ends, or None.
    """

    layers: int
    tokens: int
    factors: tuple[Factor, ...]
    place: int
    window: tuple[int, ...]
    indices: tuple[int, ...]
    start: float
    values: tuple[float, ...]
    value: float
    output: float
    summed: float | None
    antisymmetric: int | None
    two_tokens: bool
    coefficient: float | None
    reflection: Reflection | None
    adjusted: int | None = None

    @property
    def factor(self) -> Factor:
        """M̃_k at the chosen place."""
        return self.factors[self.place - 1]

    @property
    def turned_factor(self) -> Factor:
        """Its transpose."""
        return Factor(self.factor.layer, not self.factor.transposed)

    @property
    def focus(self) -> int:
        """The place that the figure points at: the mirror's, or with y and x only, the last one."""
        return len(self.factors) if self.two_tokens else self.place

    @property
    def equal_ends(self) -> bool:
        """Whether the window begins and ends with the same token."""
        return self.indices[self.window[0] - 1] == self.indices[self.window[-1] - 1]

    @property
    def same_output(self) -> bool:
        """Whether the reflected term belongs to the same output token."""
        return self.reflection is None or self.reflection.indices[-1] == self.indices[-1]

    @property
    def vanishes(self) -> bool:
        """Whether the term is zero, up to rounding."""
        return abs(self.value) < _NOTHING_BELOW

    @property
    def cancels(self) -> bool:
        """Whether the term and its reflection are two terms of one output that add up to zero."""
        after = self.reflection
        if after is None or not self.same_output or after.indices == self.indices:
            return False
        return same(self.value, -after.value)

    @property
    def adds_up(self) -> bool:
        """Whether all terms together are what the layers give; True where nobody added them up."""
        return self.summed is None or same(self.summed, self.output)

    @property
    def reads_off(self) -> bool:
        """Whether the term is the one of Eq. 28; True where it was not asked for."""
        return self.coefficient is None or same(self.coefficient, self.value)


def same(one: float, other: float) -> bool:
    """Whether two floats are the same number up to rounding.

    >>> same(0.1 + 0.2, 0.3), same(0.3, -0.3), same(1e-17, 0.0)
    (True, False, True)
    """
    return abs(one - other) <= _SAME * max(abs(one), abs(other)) + _NOTHING_BELOW


def name_of(factor: Factor) -> str:
    """A factor in Unicode.

    >>> name_of(Factor(2, True))
    'M₂ᵀ'
    """
    return f"M{subscript(factor.layer)}{'ᵀ' if factor.transposed else ''}"


def subscript(number: int) -> str:
    """A number in small digits below the line."""
    return str(number).translate(_SUBSCRIPT)


def token(study: UnrollStudy, index: int) -> str:
    """A token by its number, counted from 1, or y and x where there are only these two."""
    if study.two_tokens:
        return "x" if index == study.indices[-1] else "y"
    return f"x{subscript(index + 1)}"


def ternary(place: int) -> str:
    """The digits of a place in base 3.

    >>> ternary(12)
    '110'
    """
    return (ternary(place // 3) if place > 2 else "") + str(place % 3)


def number(value: float) -> str:
    """A number with three digits, and 0 for what rounding leaves of it.

    >>> number(-0.53612), number(1234.5), number(2.5e-17), number(4.123e-5)
    ('−0.536', '1234', '0', '4.12·10⁻⁵')
    """
    if abs(value) < _NOTHING_BELOW:
        return "0"
    sign = "−" if value < 0 else ""
    mantissa, exponent = f"{abs(value):.2e}".split("e")
    if -3 <= int(exponent) <= 4:
        return f"{sign}{abs(value):.{max(0, 2 - int(exponent))}f}"
    return f"{sign}{mantissa}·{power_of_ten(int(exponent))}"


def link_name(study: UnrollStudy, place: int, indices: tuple[int, ...]) -> str:
    """The link at a place, such as x₂ᵀM₁x₁."""
    left, right = (token(study, j) for j in indices[place - 1 : place + 1])
    return f"{left}ᵀ{name_of(study.factors[place - 1])}{right}"


def coefficient_name(layers: int) -> str:
    """The product of Eq. 28 with its exponents: 3^{l−h} for M_h, and one M₁ less, as it stands last.

    >>> coefficient_name(2)
    'Ly · (yᵀM₁y)² · yᵀM₂y · yᵀM₁x'
    """
    names = []
    for h in range(1, layers + 1):
        often, name = 3 ** (layers - h) - (h == 1), f"yᵀM{subscript(h)}y"
        if often:
            names.append(f"({name}){_power(often)}" if often > 1 else name)
    return " · ".join(["Ly", *names, "yᵀM₁x"])


def number_of_terms(study: UnrollStudy) -> str:
    """How many terms each output has, t^n, and about how many that is."""
    places = len(study.factors)
    count = study.tokens**places
    if places == 1:
        return str(count)
    about = f"= {count}" if count < 100_000 else f"≈ {rough(count).removeprefix('1·')}"
    return f"{study.tokens}{_power(places)} {about}"


def _power(exponent: int) -> str:
    return "" if exponent == 1 else str(exponent).translate(_SUPERSCRIPT)
