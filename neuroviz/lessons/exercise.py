"""Exercises: a task with its difficulty and its minutes, and checks that accept every correct answer."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from html import escape

import numpy as np

from neuroviz.engine.block import whole_number
from neuroviz.kit import theme

DIFFICULTIES = ("easy", "takes thought", "hard")


@dataclass(frozen=True)
class Verdict:
    """What a check says of an answer; true if and only if the answer is correct.

    Attributes:
        passed: whether the answer is correct.
        message: what was found, or what is missing, in a sentence or two.
        filled_in: whether there was an answer at all.
    """

    passed: bool
    message: str
    filled_in: bool = True

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        glyph, words, _ = self._look()
        return f"{glyph} {words} {self.message}"

    def _repr_html_(self) -> str:
        glyph, words, role = self._look()
        # As a badge: dark on white in every theme, and the border is not the only cue.
        border, ink, ground = (_on_white(name) for name in (role, "ink", "ground"))
        return (
            f'<div role="status" style="font-family:{escape(theme.FONT)};background:{ground};color:{ink};'
            f'border-left:6px solid {border};padding:6px 12px;max-width:75em">'
            f"<b>{glyph} {words}</b> {escape(self.message)}</div>"
        )

    def _look(self) -> tuple[str, str, str]:
        if not self.filled_in:
            return "○", "Open.", "ghost"
        return ("✓", "Correct.", "certified") if self.passed else ("✗", "Not yet.", "focus")


NOTHING = Verdict(False, "Nothing filled in yet: put your answer in the place of the dots.", filled_in=False)


def checker(check: Callable[..., Verdict]) -> Callable[..., Verdict]:
    """Make a check of an exercise: nothing filled in is no error, and a ValueError is said to the learner.

    A check takes the answer in one or more parts. It computes whether the answer does what the task asks, so
    that every correct answer passes; it never compares with one solution.

    >>> @checker
    ... def check_even(number):
    ...     return Verdict(number % 2 == 0, f"{number} is divided by two.")
    >>> check_even(...), check_even(3), check_even(4)
    (○ Open. Nothing filled in yet: put your answer in the place of the dots.,
     ✗ Not yet. 3 is divided by two.,
     ✓ Correct. 4 is divided by two.)
    """

    @wraps(check)
    def checked(*answer: object) -> Verdict:
        if any(part is None or part is ... for part in answer):
            return NOTHING
        try:
            return check(*answer)
        except ValueError as error:
            return Verdict(False, str(error))

    checked.is_checker = True
    return checked


@dataclass(frozen=True)
class Exercise:
    """A task as its box shows it; make one with `exercise`.

    Attributes:
        task: what is asked for, plain text.
        check: the checker that decides.
        difficulty: 1, 2 or 3.
        minutes: how long it takes somebody who has read up to here.
    """

    task: str
    check: Callable[..., Verdict]
    difficulty: int
    minutes: int

    def __repr__(self) -> str:
        return f"Exercise ({self._facts()}). {self.task} Then call {self.check.__name__}."

    def _repr_html_(self) -> str:
        border, ink, ground = (_on_white(role) for role in ("measured", "ink", "ground"))
        return (
            f'<div style="font-family:{escape(theme.FONT)};background:{ground};color:{ink};'
            f'border:2px solid {border};border-radius:6px;padding:8px 14px;max-width:75em">'
            f"<b>Exercise</b> · {self._facts()}<br>{escape(self.task)}<br>"
            f"Fill in the next cell and run it; <code>{escape(self.check.__name__)}</code> accepts every "
            f"correct answer.</div>"
        )

    def _facts(self) -> str:
        dots = "●" * self.difficulty + "○" * (len(DIFFICULTIES) - self.difficulty)
        return f"{dots} {DIFFICULTIES[self.difficulty - 1]} · {self.minutes} min"


def exercise(task: str, check: Callable[..., Verdict], difficulty: int = 1, minutes: int = 5) -> Exercise:
    """A task in a box, with its difficulty and its minutes; the answer goes into the next cell.

    Args:
        task: what is asked for, plain text.
        check: a function made by `checker`.
        difficulty: 1 (easy), 2 (takes thought) or 3 (hard).
        minutes: a whole number ≥ 1.

    Raises:
        ValueError: if an argument is none of this.

    >>> @checker
    ... def check_even(number):
    ...     return Verdict(number % 2 == 0, f"{number} is divided by two.")
    >>> exercise("Give an even number.", check_even, difficulty=1, minutes=2)
    Exercise (●○○ easy · 2 min). Give an even number. Then call check_even.
    """
    if not isinstance(task, str) or not task.strip():
        raise ValueError(f"a task is a text; got {task!r}")
    if not getattr(check, "is_checker", False):
        raise ValueError(f"check is a function made by `checker`; got {check!r}")
    levels = range(1, len(DIFFICULTIES) + 1)
    if isinstance(difficulty, bool) or difficulty not in levels:
        raise ValueError(f"difficulty is 1, 2 or 3; got {difficulty!r}")
    return Exercise(task, check, difficulty, whole_number("minutes", minutes))


def matrix(name: str, given: object, rows: int | None = None, columns: int | None = None) -> np.ndarray:
    """An answer as a matrix of finite floats.

    Args:
        name: what the task calls it.
        given: nested lists, or an array.
        rows, columns: how many there have to be; None for any number.

    Raises:
        ValueError: if it is none, or of another shape.

    >>> matrix("Q", [[1, 0, 0]], columns=3)
    array([[1., 0., 0.]])
    """
    wanted = f"{rows or 'any number of'} row(s) of {columns or 'any number of'} number(s)"
    try:
        found = np.array(given, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is a matrix, {wanted}; got {given!r}.") from None
    if found.ndim != 2 or 0 in found.shape:
        raise ValueError(f"{name} is a matrix, {wanted}; got an array of shape {found.shape}.")
    if (rows or len(found)) != len(found) or (columns or found.shape[1]) != found.shape[1]:
        raise ValueError(f"{name} needs {wanted}; got shape {found.shape}.")
    if not np.isfinite(found).all():
        raise ValueError(f"All entries of {name} are finite numbers; some of these are not.")
    return found


def _on_white(role: str) -> str:
    """A colour of the light mode: the boxes are white in every theme."""
    with theme.using({"mode": "light"}):
        return theme.color(role)
