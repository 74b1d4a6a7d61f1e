"""The exponential of one pair of tokens, let go: is what was true still true?"""

from dataclasses import dataclass
from fractions import Fraction

from neuroviz.attention.formulas import Hypothesis
from neuroviz.kit.badges import badge
from neuroviz.kit.panel import Panel
from neuroviz.kit.picture import Picture
from neuroviz.kit.reasons import Reasons
from neuroviz.kit.settings import choice, real
from neuroviz.kit.words import signed
from neuroviz.softmax.new_variable import (
    MEET,
    PRIME,
    SILENT,
    Table,
    nearest_whole,
    real_letters,
    ring_letters,
    table_of,
)
from neuroviz.softmax.new_variable_facts import (
    CURVE,
    FREE,
    MODULO,
    new_variable_facts,
)

_STATEMENTS = (
    ("k and q: a direction is silent", SILENT),
    ("M antisymmetric: the tokens meet", MEET),
)
_STAGES = (
    ("eʸ, as the tokens have it", CURVE),
    ("any number", FREE),
    (f"a whole number modulo {PRIME}", MODULO),
)
# Seven whole numbers are in the range of P: one for each residue.
RANGES = {"y": (-1.3, 1.3, 0.01), "P": (-2.0, 4.0, 0.01)}
_CHOICES = {"stage": [key for _, key in _STAGES]}


@dataclass(frozen=True)
class NewVariableSetting:
    """What is claimed, what P is, and where the dot (y, P) stands."""

    statement: str = choice("claim", _STATEMENTS)
    stage: str = choice("P is", _STAGES)
    P: float = real("P", 3.2, *RANGES["P"], more=True)
    y: float = real("y, by the tokens", 0.6, *RANGES["y"], more=True)


@dataclass(frozen=True)
class NewVariableStudy:
    """The table of numbers at this place; its equation is decided exactly."""

    setting: NewVariableSetting
    table: Table


def study_new_variable(setting: NewVariableSetting) -> NewVariableStudy:
    """The table, from the numbers as the controls show them."""
    P = Fraction(str(setting.P))
    if setting.stage == MODULO:
        letters = ring_letters(nearest_whole(P))
    else:
        y = Fraction(str(setting.y))
        free = P if setting.stage == FREE else None
        letters = real_letters(setting.statement, y, free)
    return NewVariableStudy(setting, table_of(setting.statement, letters))


def new_variable_picture(study: NewVariableStudy) -> Picture:
    """The dot (y, P), and beside it the table with both sides of its equation."""
    place = {name: getattr(study.setting, name) for name in ("stage", "y", "P")}
    facts = new_variable_facts(study.setting.statement)
    return Picture("softmax/new-variable", facts, place, RANGES, _CHOICES)


class NewVariableExplorer(Panel):
    """Let go of the exponential: an equation in x, M and P = e^y, while P is dragged to
    any number, or counted modulo 7.

    Controls: see `NewVariableSetting`. The dot (y, P) is dragged along its curve and
    off it, and a token on the axis below.

    >>> panel = NewVariableExplorer(state="stage=free;P=0")
    >>> "a·d = b·c" in panel.description
    True
    >>> panel.state = "statement=meet;stage=free;P=0"
    >>> "a·d ≠ b·c" in panel.description
    True
    """

    title = "Let go of the exponential: what stays true?"
    setting = NewVariableSetting
    _answer = staticmethod(study_new_variable)
    draw = staticmethod(new_variable_picture)

    def _arrange(self) -> None:
        stage = self.controls["stage"].value
        self.controls["P"].disabled = stage == CURVE
        self.controls["y"].disabled = stage == MODULO

    def _badge(self, answer: NewVariableStudy) -> str:
        if answer.setting.statement == SILENT:
            says = (
                "a·d and b·c are the same polynomial in the weights, the tokens, P and "
                "Q, so they are equal over every field, for all numbers."
            )
            return badge("exact", "an identity in P and Q", Reasons(says, "Lemma G"))
        reasons = Reasons(
            "Ax's theorem lets exponentials go whose exponents are independent.",
            "Lemma G",
            (Hypothesis("y and z are independent (here y + z = 0)", False),),
        )
        if answer.setting.stage == CURVE:
            return badge("exact", "true for PQ = 1 only", reasons)
        return badge("outside hypotheses", "Ax: y + z = 0", reasons)

    def _describe(self, answer: NewVariableStudy) -> str:
        setting = answer.setting
        table = answer.table
        left, right = table.sides
        sign = "=" if table.holds else "≠"
        numbers = f"{_shown(left)} {sign} {_shown(right)}"
        return (
            f"{_where(setting)}: a·d {sign} b·c, {numbers}; rank {table.rank}."
            f" {_WHY[setting.statement, setting.stage == CURVE]}"
        )


def _where(setting: NewVariableSetting) -> str:
    if setting.stage == MODULO:
        whole = nearest_whole(Fraction(str(setting.P)))
        return f"P = {whole % PRIME} modulo {PRIME}"
    if setting.stage == CURVE:
        return f"P = eʸ with y = {signed(setting.y)}"
    return f"y = {signed(setting.y)} and P = {signed(setting.P)}, whatever eʸ is"


def _shown(value: object) -> str:
    """A side with its digits: two sides that differ are never shown as one number."""
    return signed(float(value), digits=4)


_WHY = {
    (SILENT, True): (
        "Both products are made of the same letters, by multiplication: turning k up"
        " and q down does nothing."
    ),
    (SILENT, False): (
        "Both products are made of the same letters, so they do not ask what P is; the"
        " derivative has the rank that it has for true tokens."
    ),
    (MEET, True): (
        "With an antisymmetric M the second exponent is −y, so PQ = 1, and both new"
        " tokens are equal."
    ),
    (MEET, False): (
        "True tokens have PQ = 1, and rank 1. The exponents y and −y depend on each"
        " other: Ax's theorem does not let P go alone."
    ),
}
