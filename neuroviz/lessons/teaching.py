"""Commit to an answer first, then see the true one, with a hint that fits what went
wrong."""

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from html import escape
from math import isfinite
from numbers import Rational
from operator import index
from weakref import WeakSet

import ipywidgets as widgets
import numpy as np

from neuroviz.attention.expected import Expected
from neuroviz.kit import asking, lecture, theme
from neuroviz.kit.cells import running_cell
from neuroviz.kit.controls import HIDDEN, SharedLook, show
from neuroviz.kit.page import Lasting
from neuroviz.kit.status import Status, stands_for, values_of
from neuroviz.kit.words import at_most, sentence
from neuroviz.lessons.classroom.member import OPEN, joined
from neuroviz.lessons.typed_numbers import number_in
from neuroviz.lessons.wrong_answers import Mistake
from neuroviz.rank.results import Measurement

_UNTIL_TYPED = 0.2  # seconds
_LOCKED: dict[tuple[str, str], int | float | str] = {}
"""Answers that were locked in, by cell and question: a cell that runs again shows its
answer again."""

_QUESTIONS: WeakSet["Question"] = WeakSet()
"""All that somebody holds."""

_HELD = "Locked in: the answer comes when your teacher shows it."

Answer = int | Measurement | Expected
Wrong = Mapping[int, str] | Iterable[Mistake]


class Question(Lasting):
    """A question that keeps its answer until the reader has committed to one.

    A kind of question says how a guess is checked, what stands in the entry (a
    ValueError asks for it), and what the reader is told, with the badge of the true
    answer: `_checked`, `_entered` and `_judge`.

    Attributes:
        committed: what the reader locked in, or None.
        message: what the reader is told; empty before the commitment.
    """

    def __init__(self, question: str, entry: widgets.Widget) -> None:
        self.committed: int | float | str | None = None
        self.message = ""
        self.asks: str | None = None
        self._question = question
        self._place = (running_cell(), question)
        self._entry = entry
        make = SharedLook().make
        self._button = make(
            widgets.Button,
            "nv-tool",
            description="Lock in, then show",
            tooltip="commit to this answer and see the true one",
        )
        self._button.on_click(self._on_press)
        self._again = make(
            widgets.Button,
            "nv-tool",
            HIDDEN,
            description="Take it back",
            tooltip="forget this answer, and ask again",
        )
        self._again.on_click(lambda _: self.take_back())
        self._outcome = make(widgets.HTML, "nv-outcome")
        self._controls = {"guess": entry}
        self._status = make(Status, controls=self._controls)
        self._keep_still()
        entry.observe(lambda _: self._keep_still(), "value")
        beside = widgets.HBox if isinstance(entry, widgets.Text) else widgets.VBox
        asked = f"<b>Predict.</b> {escape(question)}"
        answered = [entry, self._button, self._again, self._status]
        super().__init__(
            [
                make(widgets.HTML, "nv-sheet", value=theme.css()),
                make(widgets.HTMLMath, "nv-predict", value=asked),
                make(beside, children=answered),
                self._outcome,
            ]
        )
        self.add_class("nv")
        self.on_size(theme.current()["size"])
        lecture.follow(self)
        _QUESTIONS.add(self)

    def _in_words(self) -> tuple[str, str]:
        return "Predict.", self._question

    def commit(self, guess: int | float | str) -> None:
        """Lock an answer in and show the true one; a second commitment changes nothing.

        Raises:
            ValueError: if it is no answer to this question.
        """
        guess = self._checked(guess)
        if self.committed is not None:
            return
        self._entry.value = str(guess)
        self.committed = guess
        if self._place[0]:  # outside of notebooks no cell runs again
            _LOCKED[self._place] = guess
        self._entry.disabled = True
        self._button.description = "Locked in"
        self._button.tooltip = "your answer is locked in"
        if (its_class := joined()) is None:
            self._show(guess)
        else:
            self._tell('role="status"', _HELD)
            its_class.send(self._question, guess, self._hear)

    def _show(self, guess: int | float | str) -> None:
        """The true answer, beside this guess."""
        self.message, status = self._judge(guess)
        show(self._again, True)
        badge = theme.badge_html(*status) if status else ""
        self._tell('aria-live="polite"', f"{badge} {escape(self.message)}")
        if self.asks is not None:
            asking.answer(self.asks)

    def _hear(self, what: str) -> None:
        """What the teacher of a class does."""
        guess = self.committed
        if guess is None:
            return
        if what == OPEN:
            self._show(guess)
            return
        self.take_back()
        said = f"You said {guess}. The class votes again."
        self._tell('role="status"', escape(said.replace("-", "−")))

    def on_size(self, size: str) -> None:
        """Have letters for a notebook or for a lecture, as the panels have."""
        lecture.set_size(self, size)

    def take_back(self) -> None:
        """Forget the answer, and ask again; panels of the topic stay open."""
        if self.committed is None:
            return
        self.committed = None
        self.message = ""
        _LOCKED.pop(self._place, None)
        self._entry.disabled = False
        self._entry.value = "" if isinstance(self._entry, widgets.Text) else None
        self._button.description = "Lock in, then show"
        self._button.tooltip = "commit to this answer and see the true one"
        show(self._again, False)
        self._outcome.value = ""

    def recall(self) -> None:
        """Show the answer again that was locked in before this cell of a notebook was
        run again, if any."""
        if self._place in _LOCKED:
            with suppress(ValueError):  # the question may have changed since
                self.commit(_LOCKED[self._place])

    def _tell(self, role: str, words: str) -> None:
        """Write below the entry, in HTML, what is to be said of the guess that stands
        in it."""
        self._outcome.value = (
            f"<div {role} {stands_for(values_of(self._controls))}>{words}</div>"
        )

    def _keep_still(self) -> None:
        """Nothing is said of a guess until it is locked in; the page knows that Python
        has seen it."""
        self._status.say("", "done", values_of(self._controls))

    def _on_press(self, _: widgets.Button | None = None) -> None:
        if self.committed is None:
            try:
                self.commit(self._entered())
            except ValueError as missing:
                self._tell('role="alert"', escape(str(missing)))
                return
        # the text field closes, and Shift-Enter has to work on from here
        self._button.focus()


class Prediction(Question):
    """A question whose answer is a whole number; the guess may be any number."""

    def __init__(self, question: str, answer: Answer, wrong: Wrong = ()) -> None:
        self._answer = _read(answer)
        self._hints = _hints(wrong)
        said = {"description": "My guess", "placeholder": "a number"}
        entry = widgets.Text(**said, continuous_update=False)
        entry.add_class("nv-entry")
        entry.on_msg(self._on_entry_message)
        super().__init__(question, entry)

    def _on_entry_message(
        self, _entry: widgets.Text, message: dict, _buffers: list
    ) -> None:
        if message.get("event") == "submit":
            self._on_enter()

    def _on_enter(self) -> None:
        """The page tells of the Enter key first, and then what was typed."""
        try:
            asyncio.get_running_loop().call_later(_UNTIL_TYPED, self._on_press)
        except RuntimeError:  # a plain script has no event loop
            self._on_press()

    def _checked(self, guess: object) -> int | float:
        return _number("a guess", guess)

    def _judge(self, guess: int | float) -> tuple[str, tuple[str, ...]]:
        value, status, why = self._answer
        verdict = "Right." if guess == value else _miss(guess, value)
        # a mistake that gives the right number gets no hint
        hint = "" if guess == value else self._hints.get(guess, "")
        said = f"You said {guess}; it is {value}. {verdict}".replace("-", "−")
        return " ".join(filter(None, (said, hint, why))), status

    def _entered(self) -> int | float:
        return _number("a guess", number_in(self._entry.value))


class Choice(Question):
    """A question with a few answers to choose from; each has a remark of its own."""

    def __init__(self, question: str, answer: str, choices: Mapping[str, str]) -> None:
        self._answer = answer
        self._remarks = dict(choices)
        entry = widgets.RadioButtons(options=list(choices), value=None)
        entry.add_class("nv-entry")
        super().__init__(question, entry)

    def _checked(self, guess: object) -> str:
        if not isinstance(guess, str) or guess not in self._remarks:
            raise ValueError(
                f"a guess is one of {', '.join(map(repr, self._remarks))}; got"
                f" {guess!r}"
            )
        return guess

    def _judge(self, guess: str) -> tuple[str, tuple[str, ...]]:
        verdict = (
            "Right." if guess == self._answer else f"The answer is: {self._answer}."
        )
        return f"You said: {guess}. {verdict} {self._remarks[guess]}".strip(), ()

    def _entered(self) -> str:
        if self._entry.value is None:
            raise ValueError("Choose one first; any guess will do.")
        return self._entry.value


def predict(
    question: str,
    answer: Answer | str,
    guess: int | float | str | None = None,
    wrong: Wrong | None = None,
    choices: Mapping[str, str] | None = None,
    asks: str | None = None,
) -> Prediction | Choice:
    """Ask for an answer before showing the true one.

    Run All works with nothing filled in: the question waits. A guess given in code is
    locked in at once. In JupyterLab an answer outlasts its cell: run again, the cell
    shows it again, until the kernel is restarted.

    Args:
        question: text, may contain LaTeX in dollar signs.
        answer: a number, or a `Measurement` or `Expected`, whose status and note are
            then shown too; with `choices`, the right one of them.
        guess: the reader's answer, or None to ask for it. For a number it may be any
            number, such as −1 or 0.5.
        wrong: hints for known wrong numbers: a mapping number → hint, or
            `wrong_answers(arch)`. The hint of the first mistake that fits is shown.
        choices: answer → remark, for two or more answers in words; the remark on the
            chosen one is shown.
        asks: a topic: an answer shows the words of all panels opened with the same
            `asks`.

    Raises:
        ValueError: if the answer, the guess, a wrong number or a choice is not what it
            should be.

    >>> predict("How many dimensions?", 38, guess=40).message
    'You said 40; it is 38. Close: only 2 too many.'
    >>> wrong = {40: "A factor can move."}
    >>> predict("How many dimensions?", 38, guess=40, wrong=wrong).message
    'You said 40; it is 38. Close: only 2 too many. A factor can move.'
    >>> choices = {"yes": "Indeed.", "no": "Try a = 1."}
    >>> predict("Larger?", "yes", guess="no", choices=choices).message
    'You said: no. The answer is: yes. Try a = 1.'
    """
    if choices is None:
        prediction = Prediction(question, answer, () if wrong is None else wrong)
    elif wrong is not None:
        raise ValueError(
            "with choices each of them has its own remark: leave wrong out"
        )
    else:
        _check_choices(answer, choices)
        prediction = Choice(question, answer, choices)
    prediction.asks = asking.topic_of(asks)
    if guess is not None:
        prediction.commit(guess)
    else:
        prediction.recall()
    return prediction


def forget_guesses() -> None:
    """Ask all questions of this notebook again, and close the panels that ask first:
    for who has rehearsed.

    >>> question = predict("How many dimensions?", 38, guess=40)
    >>> forget_guesses()
    >>> question.committed, question.message
    (None, '')
    """
    for question in list(_QUESTIONS):
        question.take_back()
    _LOCKED.clear()
    asking.ask_again()


def _check_choices(answer: object, choices: object) -> None:
    fits = isinstance(choices, Mapping) and len(choices) > 1
    if not fits or not all(
        isinstance(text, str) for pair in choices.items() for text in pair
    ):
        raise ValueError(
            "choices map two or more answers, as text, to a remark on each; got"
            f" {choices!r}"
        )
    if answer not in choices:
        raise ValueError(
            f"the answer is one of the choices, {', '.join(choices)}; got {answer!r}"
        )


def _hints(wrong: Wrong) -> dict[int, str]:
    """Number → hint; where two mistakes give one number, the first counts."""
    if isinstance(wrong, Mapping):
        pairs = wrong.items()
    else:
        wrong = (
            [wrong]
            if isinstance(wrong, str) or not isinstance(wrong, Iterable)
            else list(wrong)
        )
        if not all(isinstance(mistake, Mistake) for mistake in wrong):
            raise ValueError(
                "wrong is a mapping from numbers to hints, or wrong_answers(arch); got"
                f" {wrong!r}"
            )
        pairs = [(mistake.value, mistake.hint) for mistake in wrong]
    found: dict[int, str] = {}
    for number, hint in pairs:
        if not isinstance(hint, str):
            raise ValueError(f"a hint is a text; got {hint!r}")
        found.setdefault(_whole("a wrong number", number), hint)
    return found


def _read(answer: Answer) -> tuple[int, tuple[str, ...], str]:
    """The number, its badge and its reason, in words for a reader."""
    if isinstance(answer, Measurement):
        return answer.value, (answer.status,), _how_sure(answer)
    if isinstance(answer, Expected) and answer.value is not None:
        return answer.value, (answer.status, answer.source), sentence(answer.note)
    try:
        return _whole("the answer", answer), (), ""
    except ValueError:
        raise ValueError(
            "the answer is a whole number, a Measurement or an Expected with a value;"
            f" got {answer!r}"
        ) from None


def _how_sure(found: Measurement) -> str:
    """What the measurement's note says, without the library's words."""
    if found.method == "float":
        return (
            "Read off a spectrum,"
            f" {'clearly' if found.decided else 'but the spectrum does not decide'}."
        )
    if found.error_bound:
        chance = at_most(found.error_bound)
        return f"Measured exactly; wrong with a chance of at most {chance}."
    if found.route == "slice":
        return "Certain: the rank meets an upper bound that the symmetries prove."
    # the note says why: full rank, or a bound
    return f"Certain: {found.note.rstrip('.')}."


def _miss(guess: int | float, value: int) -> str:
    """How far a guess is away, in words for somebody who dared to guess; counts are
    told exactly.

    >>> _miss(37, 38), _miss(64, 38), _miss(-1, 1)
    ('Close: only 1 too few.', 'A fair try: 26 too many.', 'A fair try.')
    """
    off = abs(guess - value)
    # A tenth of a small number is less than one, and one off is near.
    is_near = off <= max(1, abs(value) / 10)
    if not isinstance(guess, int) or min(guess, value) < 0:
        return "Close." if is_near else "A fair try."
    way = "many" if guess > value else "few"
    return (
        f"Close: only {off} too {way}." if is_near else f"A fair try: {off} too {way}."
    )


def _number(what: str, value: object) -> int | float:
    """The number, as an int where it is whole.

    >>> from fractions import Fraction
    >>> _number("a guess", 40.0), _number("a guess", Fraction(1, 2))
    (40, 0.5)
    """
    with suppress(ValueError):
        return _whole(what, value)
    is_real = isinstance(value, (float, np.floating, Rational))
    if is_real and not isinstance(value, bool) and isfinite(value):
        return int(value) if value == int(value) else float(value)
    raise ValueError(f"{what} is a number; got {value!r}")


def _whole(what: str, value: object) -> int:
    with suppress(TypeError):
        if not isinstance(value, (bool, np.bool_)):
            return index(value)
    raise ValueError(f"{what} is a whole number; got {value!r}")
