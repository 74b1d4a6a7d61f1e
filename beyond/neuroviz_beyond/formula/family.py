"""A family of small networks, measured exactly, and a formula that someone proposes for
all of them.

The first member at which they differ is the counterexample.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real

from neuroviz.attention.expected import Expected
from neuroviz.kit.measured import measure_dimension
from neuroviz.kit.settings import choice, seed, switch, text, whole
from neuroviz.rank.results import Measurement
from neuroviz_beyond.formula.expression import NAMES, parse_formula
from neuroviz_beyond.formula.families import FAMILIES, Family, Sizes
from neuroviz_beyond.transformers import Transformer
from neuroviz_beyond.transformers.formulas import CERTAINTY, expected_dimension

LARGEST = 10**12  # a formula that gives a larger number is refused
FIRST = "2*a*d + d**2"
"""What a reader begins with: the number of parameters of one layer."""


@dataclass(frozen=True)
class Verdict:
    """One member of a family: what was measured, and what the formula says."""

    sizes: Sizes
    measured: Measurement
    proposed: int

    @property
    def difference(self) -> int:
        """Proposed − measured: 0 where the formula is right."""
        return self.proposed - self.measured.value


@dataclass(frozen=True)
class Tried:
    """What `try_formula` found.

    Attributes:
        family: of the networks.
        first: the first counterexample; None if the formula is right everywhere.
        measured: how many networks were measured.
    """

    family: Family
    first: Verdict | None
    measured: int

    def __repr__(self) -> str:
        if self.first is None:
            return (
                f"right at all {self.measured} networks ({self.family.title}):"
                " evidence, no proof"
            )
        where = self.family.name_of(self.first.sizes)
        found = self.first.measured.value
        return (
            f"wrong at {where}: the formula says {self.first.proposed}, measured"
            f" {found}"
        )


def try_formula(
    formula: Callable | str, family: str = "lightning", seed: int = 0
) -> Tried:
    """Measure the networks of a family one by one, until a formula is wrong at one.

    Args:
        formula: a function of some of d, a, t, l, H, by these names; or a text that
            `parse_formula` reads.
        family: a name in `FAMILIES`.
        seed: what the random networks are drawn from.

    Raises:
        ValueError: if there is no such family, a letter is unknown, or a value is no
            whole number.

    >>> try_formula(lambda d, a: 2*a*d + d**2)
    wrong at d = 1, a = 1, t = 2: the formula says 3, measured 1
    >>> try_formula(lambda d, a, l: l * (a*(2*d - a) + d**2 - 1), "skip")
    wrong at d = 1, a = 2, l = 1: the formula says 0, measured 1
    >>> try_formula("l*(alpha(a, d) + d**2 - 1)", "skip")
    right at all 36 networks (① lightning with skips): evidence, no proof
    """
    chosen = _family(family)
    value = _values(chosen, formula if callable(formula) else parse_formula(formula))
    for number, sizes in enumerate(chosen.members, start=1):
        verdict = Verdict(
            sizes,
            measure_dimension(chosen.architecture(sizes), seed=seed),
            value(sizes),
        )
        if verdict.difference:
            return Tried(chosen, verdict, number)
    return Tried(chosen, None, len(chosen.members))


def _family(name: str) -> Family:
    if name not in FAMILIES:
        raise ValueError(f"a family is one of {', '.join(FAMILIES)}; got {name!r}")
    return FAMILIES[name]


def _values(family: Family, formula: Callable) -> Callable[[Sizes], int]:
    """What a formula says of each member."""
    try:
        letters = list(inspect.signature(formula).parameters)
    except (TypeError, ValueError):
        letters = ["…"]
    if unknown := [letter for letter in letters if letter not in NAMES]:
        raise ValueError(
            f"a formula is a function of letters of {', '.join(NAMES)}; got"
            f" {unknown[0]}"
        )

    def value(sizes: Sizes) -> int:
        where = family.name_of(sizes)
        try:
            found = formula(*(sizes.values[letter] for letter in letters))
        except (ArithmeticError, TypeError) as error:
            raise ValueError(f"the formula has no value at {where}: {error}") from error
        if not (
            isinstance(found, Real)
            and abs(found) <= LARGEST
            and abs(found - round(found)) < 1e-9  # quotients are rounded
        ):
            raise ValueError(
                f"a dimension is a whole number up to 10¹²; the formula gives {found!r}"
                f" at {where}: // divides and rounds down"
            )
        return round(found)

    return value


@dataclass(frozen=True)
class FamilySetting:
    """A family and a formula for it, as a reader asks for them.

    Raises:
        ValueError: if a name is unknown, or the formula gives no whole number
            somewhere.
    """

    family: str = choice(
        "family", [(family.title, name) for name, family in FAMILIES.items()]
    )
    formula: str = text(
        "dimension =",
        FIRST,
        more=False,
        placeholder=f"such as {FIRST}",
        tooltip="press Enter to try it",
        layout={"width": "560px"},
    )
    hints: int = whole(
        "hints", 0, 0, max(len(family.hints) for family in FAMILIES.values())
    )
    known: bool = switch("show what is known")
    seed: int = seed()

    def __post_init__(self) -> None:
        family = _family(self.family)
        # A formula without a value is refused before anything is measured.
        value = _values(family, parse_formula(self.formula))
        for sizes in family.members:
            value(sizes)


@dataclass(frozen=True)
class FamilyStudy:
    """A formula put to the test on every member of a family.

    Attributes:
        setting: what was asked for.
        verdicts: one for each member, in the family's order.
        expected: what theory says of the member about which least is known; None unless
            asked for.
    """

    setting: FamilySetting
    verdicts: tuple[Verdict, ...]
    expected: Expected | None

    @property
    def family(self) -> Family:
        """The family that was measured."""
        return FAMILIES[self.setting.family]

    @property
    def wrong(self) -> tuple[Verdict, ...]:
        """The members at which the formula is wrong."""
        return tuple(verdict for verdict in self.verdicts if verdict.difference)

    @property
    def first(self) -> Verdict | None:
        """The first counterexample, in the family's order; None if the formula is right
        everywhere."""
        return next(iter(self.wrong), None)


def study_family(setting: FamilySetting) -> FamilyStudy:
    """Measure every member exactly, and compare with the proposed formula.

    >>> study = study_family(FamilySetting("skip", "l*(alpha(a, d) + d**2)"))
    >>> first = study.first
    >>> study.family.name_of(first.sizes), first.proposed, first.measured.value
    ('d = 1, a = 1, l = 1', 2, 1)
    """
    family = FAMILIES[setting.family]
    propose = _values(family, parse_formula(setting.formula))
    verdicts = tuple(
        Verdict(
            sizes,
            measure_dimension(family.architecture(sizes), seed=setting.seed),
            propose(sizes),
        )
        for sizes in family.members
    )
    return FamilyStudy(
        setting, verdicts, status_of_family(family) if setting.known else None
    )


def status_of_family(family: Family) -> Expected:
    """What theory says about the member of a family that it knows least about.

    >>> status_of_family(FAMILIES["heads"]).status
    'proved here'
    """
    return least_known(family)[1]


def least_known(family: Family) -> tuple[Transformer, Expected]:
    """The first member about which theory knows least, and what it says.

    >>> print(least_known(FAMILIES["heads-many"])[0])
    lightning 2→2, a = 1, t = 2, 3 heads
    """
    networks = [family.architecture(sizes) for sizes in family.members]
    pairs = [(network, expected_dimension(network)) for network in networks]
    return min(pairs, key=lambda pair: CERTAINTY.index(pair[1].status))
