"""A family of small networks, measured exactly, and a formula that someone proposes for all of them.

Every member is measured, the proposed formula is evaluated there, and the first member at which they
differ is the counterexample. Counterexamples to earlier formulas are remembered by their sizes, and a
new formula meets them first.
"""

from dataclasses import dataclass

from neuroviz.beyond.formula.families import FAMILIES, Family, Sizes
from neuroviz.beyond.formula.language import parse_formula
from neuroviz.beyond.formula.value import NAMES, Formula
from neuroviz.engine.formulas import Expected, expected_dimension
from neuroviz.engine.measure import Measurement, measure_dimension


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
class FamilySetting:
    """A family and a formula for it, as someone asks for them.

    Attributes:
        family: a name in `FAMILIES`.
        formula: a text that `parse_formula` reads.
        along: the letter that runs along an axis; where the family has one value of it only, another
            one is taken (`axis`).
        remembered: members that were counterexamples to earlier formulas, the earliest first.
        known: whether the known formula is asked for.
        seed: what the random networks are drawn from.

    Raises:
        ValueError: if something is none of the above, or the formula gives no whole number somewhere.
    """

    family: str = "lightning"
    formula: str = "2ad + d²"
    along: str = "d"
    remembered: tuple[Sizes, ...] = ()
    known: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if self.family not in FAMILIES:
            raise ValueError(f"a family is one of {', '.join(FAMILIES)}; got {self.family!r}")
        if self.along not in NAMES:
            raise ValueError(f"along is one of {', '.join(NAMES)}; got {self.along!r}")
        members = FAMILIES[self.family].members
        if strangers := [sizes for sizes in self.remembered if sizes not in members]:
            raise ValueError(
                f"only networks of the family {self.family!r} can be remembered; got {strangers[0]}"
            )
        _propose(FAMILIES[self.family], parse_formula(self.formula))

    @property
    def axis(self) -> str:
        """`along`, or the last letter that varies where the family has one value of `along` only."""
        varies = FAMILIES[self.family].varies
        return self.along if self.along in varies else varies[-1]


@dataclass(frozen=True)
class Known:
    """The formula that is known for a family, and what theory says of its least certain member."""

    formula: str
    expected: Expected


@dataclass(frozen=True)
class FamilyStudy:
    """A formula put to the test on every member of a family.

    Attributes:
        setting: what was asked for.
        verdicts: one for each member, in the family's order.
        remembered: counterexamples met so far: those of the setting, then `first` if it is new.
        known: None unless it was asked for.
    """

    setting: FamilySetting
    verdicts: tuple[Verdict, ...]
    remembered: tuple[Verdict, ...]
    known: Known | None

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
        """The first counterexample: among those met before, then in the family's order."""
        return next((verdict for verdict in (*self.remembered, *self.wrong) if verdict.difference), None)


def study_family(setting: FamilySetting) -> FamilyStudy:
    """Measure every member exactly, and compare with the proposed formula.

    >>> study = study_family(FamilySetting("skip", "l(α(a, d) + d²)"))
    >>> study.family.name_of(study.first.sizes), study.first.proposed, study.first.measured.value
    ('d = 1, a = 1, l = 1', 2, 1)
    """
    family = FAMILIES[setting.family]
    proposed = _propose(family, parse_formula(setting.formula))
    verdicts = {
        sizes: Verdict(sizes, measure_dimension(family.architecture(sizes), seed=setting.seed), value)
        for sizes, value in proposed.items()
    }
    met = [verdicts[sizes] for sizes in setting.remembered]
    first = next((verdict for verdict in (*met, *verdicts.values()) if verdict.difference), None)
    if first is not None and first not in met:
        met.append(first)
    return FamilyStudy(
        setting, tuple(verdicts.values()), tuple(met), what_is_known(family) if setting.known else None
    )


def _propose(family: Family, formula: Formula) -> dict[Sizes, int]:
    return {sizes: formula.value(sizes.values, family.name_of(sizes)) for sizes in family.members}


_CERTAINTY = ("no formula", "observed", "proved here", "proved")


def what_is_known(family: Family) -> Known:
    """The known formula of a family, with the status of the member about which least is known.

    >>> what_is_known(FAMILIES["heads"]).expected.status
    'observed'
    """
    expected = [expected_dimension(family.architecture(sizes)) for sizes in family.members]
    return Known(family.known, min(expected, key=lambda one: _CERTAINTY.index(one.status)))
