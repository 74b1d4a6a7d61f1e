"""Exercises: a task with its difficulty and its minutes, and checks that accept every
correct answer."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import wraps
from html import escape
from inspect import signature

import numpy as np

from neuroviz.kit import theme
from neuroviz.rank.checks import whole_number

DIFFICULTIES = ("easy", "takes thought", "hard")


@dataclass(frozen=True)
class Verdict:
    """What a check says of an answer, in a sentence or two; true if and only if the
    answer is correct.

    Attributes:
        passed, message: whether it is correct, and what is said of it.
        filled_in: whether there is an answer.
        panel: name and state of the panel that shows the answer below the sentence, as
            `neuroviz.explorables` has it; None for none.
    """

    passed: bool
    message: str
    filled_in: bool = True
    panel: tuple[str, str] | None = None

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        glyph, words, _ = self._look()
        return f"{glyph} {words} {self.message}"

    def _repr_html_(self) -> str:
        glyph, words, role = self._look()
        inside = f"<b>{glyph} {words}</b> {escape(self.message)}"
        return _box(
            role, "border-left:6px solid {};padding:6px 12px", inside, ' role="status"'
        )

    def _ipython_display_(self) -> None:
        from IPython.display import HTML, display

        display(HTML(self._repr_html_()))
        if self.panel is not None:
            from neuroviz import explorables

            name, state = self.panel
            display(getattr(explorables, name)(state=state, only=[]))

    def _look(self) -> tuple[str, str, str]:
        if not self.filled_in:
            return "○", "Open.", "ghost"
        return (
            ("✓", "Correct.", "certified")
            if self.passed
            else ("✗", "Not yet.", "focus")
        )


NOTHING = Verdict(
    False,
    "Nothing filled in yet: put your answer in the place of the dots.",
    filled_in=False,
)
OUT_OF_RANGE = Verdict(
    False,
    "Some numbers are too large or too small for this check, which computes with"
    " floats: take others.",
)


Check = Callable[..., "str | Verdict"]
"""What `checker` makes a check of."""


def checker(
    check: Check | None = None,
    *,
    shown: Callable[..., bool] | None = None,
    panel: Callable[..., "tuple[str, str] | None"] | None = None,
    fewest: tuple[str, Callable[..., int]] | None = None,
) -> Callable[..., Verdict]:
    """Make a check of an exercise: it returns what is said of a correct answer, and
    raises what is missing.

    A check takes the answer in one or more parts; of another number of parts the
    learner is told how many there are. It computes whether the answer does
    what the task asks, so that every correct answer passes; it never compares with one
    solution. A ValueError is said to the learner, and so is that numbers leave the
    range of floats; nothing filled in is no error. (A check may also return a `Verdict`
    of its own.)

    Args:
        shown: whether the course has shown an answer that is correct: it is refused.
        panel: name and state of the panel that shows an answer, right or wrong; None
            where no panel can.
        fewest: what can be least in a correct answer, and how many of it there are. The
            verdict says the least number so far.

    >>> @checker(shown=lambda number: number == 2, fewest=("steps", abs))
    ... def check_even(number):
    ...     if number % 2:
    ...         raise ValueError(f"{number} is no multiple of two.")
    ...     return f"{number} is divided by two."
    >>> check_even(...), check_even(3), check_even(2), check_even(4)
    (○ Open. Nothing filled in yet: put your answer in the place of the dots.,
     ✗ Not yet. 3 is no multiple of two.,
     ✗ Not yet. 2 is divided by two. But the course has shown this one: find another.,
     ✓ Correct. 4 is divided by two. Fewest steps so far: 4.)
    """
    if check is None:
        return lambda check: checker(check, shown=shown, panel=panel, fewest=fewest)
    form = signature(check)

    @wraps(check)
    def checked(*answer: object, **named: object) -> Verdict:
        try:
            parts = form.bind(*answer, **named).args
        except TypeError:
            given = len(answer) + len(named)
            return Verdict(False, _how_many(check.__name__, [*form.parameters], given))
        if any(part is None or part is ... for part in parts):
            return NOTHING
        found = _decided(check, parts)
        with np.errstate(all="ignore"):  # too large is no answer of the course
            is_shown = bool(found) and shown is not None and shown(*parts)
        if is_shown:
            found = replace(found, passed=False, message=f"{found.message} {SHOWN}")
        # A copied answer is refused by now, and sets no record.
        if found and fewest is not None:
            name, count = fewest
            least = _fewest(check.__name__, name, count(*parts))
            found = replace(found, message=f"{found.message} {least}")
        if found.panel is None and panel is not None:
            # it may be no answer at all
            with suppress(ValueError, ArithmeticError), np.errstate(**_STRICT):
                found = replace(found, panel=panel(*parts))
        return found

    checked.is_checker = True
    checked.refuses = shown is not None
    return checked


_STRICT = {"over": "raise", "invalid": "raise", "divide": "raise"}

SHOWN = "But the course has shown this one: find another."


def _decided(check: Check, parts: tuple) -> Verdict:
    """What a check says of an answer, or what is missing in it."""
    try:
        with np.errstate(over="raise", invalid="raise"):
            said = check(*parts)
    except ValueError as error:
        return Verdict(False, str(error))
    except (FloatingPointError, OverflowError):
        return OUT_OF_RANGE
    return said if isinstance(said, Verdict) else Verdict(True, said)


def _how_many(name: str, parts: list[str], given: int) -> str:
    """What is said of an answer in other parts."""
    needed = "one part" if len(parts) == 1 else f"{len(parts)} parts"
    call = f"{name}({', '.join(parts)})"
    return f"The answer has {needed}, as in {call}; {given} came."


_FEWEST: dict[str, int] = {}
"""Name of a check → the least number of a correct answer, as long as Python runs."""


def _fewest(check: str, name: str, count: int) -> str:
    """A sentence about the least number so far with which an exercise was solved.

    >>> _fewest("an example", "parameters", 20)
    'Fewest parameters so far: 20.'
    >>> _fewest("an example", "parameters", 14)
    'Fewest parameters so far: 14.'
    >>> _fewest("an example", "parameters", 30)
    'It has 30 parameters; fewest so far: 14.'
    """
    least = min(count, _FEWEST.get(check, count))
    _FEWEST[check] = least
    if count == least:
        return f"Fewest {name} so far: {least}."
    return f"It has {count} {name}; fewest so far: {least}."


@dataclass(frozen=True)
class Exercise:
    """A task in a box, with its difficulty and its minutes; the answer goes into the
    next cell.

    Attributes:
        task: what is asked for, plain text.
        check: a function made by `checker`, which decides.
        difficulty: 1 (easy), 2 (takes thought) or 3 (hard).
        minutes: how long it takes somebody who has read up to here, a whole number ≥ 1.

    Raises:
        ValueError: if an argument is none of this.

    >>> @checker
    ... def check_even(number):
    ...     return Verdict(number % 2 == 0, f"{number} is divided by two.")
    >>> exercise("Give an even number.", check_even, difficulty=1, minutes=2)
    Exercise (●○○ easy · 2 min). Give an even number. Then call check_even.
    """

    task: str
    check: Callable[..., Verdict]
    difficulty: int = 1
    minutes: int = 5

    def __post_init__(self) -> None:
        if not isinstance(self.task, str) or not self.task.strip():
            raise ValueError(f"a task is a text; got {self.task!r}")
        if not getattr(self.check, "is_checker", False):
            raise ValueError(
                f"check is a function made by `checker`; got {self.check!r}"
            )
        if isinstance(self.difficulty, bool) or self.difficulty not in (1, 2, 3):
            raise ValueError(f"difficulty is 1, 2 or 3; got {self.difficulty!r}")
        whole_number("minutes", self.minutes)

    def __repr__(self) -> str:
        return (
            f"Exercise ({self._facts()}). {self.task} Then call {self.check.__name__}."
        )

    def _repr_html_(self) -> str:
        how = (
            "Fill in the next cell and run it;"
            f" <code>{escape(self.check.__name__)}</code> accepts every correct answer"
        )
        how += " that the course has not shown." if self.check.refuses else "."
        what = (
            f"<b>Exercise</b> · {self._facts()}<br>{escape(self.task)}<br>"
            # a page says something else in its place
            f'<span class="nv-how">{how}</span>'
        )
        return _box(
            "measured", "border:2px solid {};border-radius:6px;padding:8px 14px", what
        )

    def _facts(self) -> str:
        dots = "●" * self.difficulty + "○" * (len(DIFFICULTIES) - self.difficulty)
        return f"{dots} {DIFFICULTIES[self.difficulty - 1]} · {self.minutes} min"


exercise = Exercise
"""What a notebook calls."""


def matrix(
    name: str, given: object, rows: int | None = None, columns: int | None = None
) -> np.ndarray:
    """An answer, nested lists or an array, as a matrix of finite floats.

    Args:
        name: what the task calls it.
        rows, columns: how many there have to be; None for any number.

    Raises:
        ValueError: if it is none, or of another shape.

    >>> matrix("Q", [[1, 0, 0]], columns=3)
    array([[1., 0., 0.]])
    """
    wanted = f"{rows or 'one or more'} row(s) and {columns or 'one or more'} column(s)"
    try:
        if any(isinstance(entry, str) for entry in np.ravel(_as_objects(given))):
            raise TypeError("numpy would read the number in a text")
        found = np.array(given, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is a matrix with {wanted}; got {given!r}.") from None
    if found.ndim != 2 or 0 in found.shape:
        row = ", and one row is written [[…]]" if found.ndim == 1 else ""
        raise ValueError(
            f"{name} is a matrix with {wanted}{row}; got an array of shape"
            f" {found.shape}."
        )
    # Where any number will do, its own is the one that is wanted.
    if found.shape != (rows or len(found), columns or found.shape[1]):
        raise ValueError(f"{name} needs {wanted}; got shape {found.shape}.")
    if not np.isfinite(found).all():
        raise ValueError(
            f"All entries of {name} are finite numbers; some of these are not."
        )
    return found


def _as_objects(given: object) -> np.ndarray:
    return np.array(given, dtype=object)


def _box(role: str, look: str, inside: str, attributes: str = "") -> str:
    """HTML in a box, dark on white in every theme; its border, in the colour of a role,
    is no only cue."""
    with theme.using({"mode": "light"}):
        border, ink, ground = map(theme.color, (role, "ink", "ground"))
    font = escape(theme.FONT)
    look = look.format(border)
    style = f"font-family:{font};background:{ground};color:{ink};{look};max-width:75em"
    return f'<div{attributes} style="{style}">{inside}</div>'
