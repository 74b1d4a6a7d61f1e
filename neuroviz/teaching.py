"""Commit to a number first, then see the true one."""

from html import escape
from operator import index

import ipywidgets as widgets
import numpy as np

from neuroviz import theme
from neuroviz.formulas import Expected
from neuroviz.measure import Measurement


class Prediction(widgets.VBox):
    """A question that keeps its answer until the reader has committed to a number.

    Attributes:
        committed: the number the reader locked in, or None.
        message: what the reader is told; empty before the commitment.
    """

    def __init__(self, question: str, answer: int | Measurement | Expected) -> None:
        self._answer = answer
        self.committed: int | None = None
        self.message = ""
        self._entry = widgets.Text(
            description="My guess",
            placeholder="a whole number",
            layout={"width": "240px"},
            style={"description_width": "70px"},
        )
        self._button = widgets.Button(
            description="Lock in, then show", tooltip="commit to this number and see the answer"
        )
        self._button.on_click(lambda _: self._on_click())
        self._entry.on_msg(
            lambda _, message, __: self._on_click() if message.get("event") == "submit" else None
        )
        self._outcome = widgets.HTML()
        super().__init__(
            [
                widgets.HTML(theme.css(), layout={"display": "none"}),
                widgets.HTMLMath(f"<b>Predict.</b> {escape(question)}"),
                widgets.HBox([self._entry, self._button]),
                self._outcome,
            ]
        )
        self.add_class("nv")

    def commit(self, guess: int) -> None:
        """Lock the guess in and show the answer; a second commitment changes nothing.

        Raises:
            ValueError: if the guess is not a whole number.
        """
        guess = _whole("a guess", guess)
        if self.committed is not None:
            return
        self.committed = guess
        self._entry.value = str(guess)
        self._entry.disabled = self._button.disabled = True
        value, status, why = _read(self._answer)
        off = abs(guess - value)
        verdict = "Right." if not off else f"{off} too {'many' if guess > value else 'few'}."
        self.message = f"You said {guess}; it is {value}. {verdict} {why}".strip()
        badge = theme.badge(*status) if status else ""
        self._outcome.value = f'<div aria-live="polite">{badge} {escape(self.message)}</div>'

    def _on_click(self) -> None:
        try:
            guess = int(self._entry.value)
        except ValueError:
            self._outcome.value = '<div role="alert">Type a whole number first; any guess will do.</div>'
        else:
            self.commit(guess)


def predict(question: str, answer: int | Measurement | Expected, guess: int | None = None) -> Prediction:
    """Ask for a number before showing the true one.

    Run All works with nothing filled in: the question waits. A guess given in code is locked in at once.

    Args:
        question: text, may contain LaTeX in dollar signs.
        answer: a number, or a `Measurement` or `Expected`, whose status and note are then shown too.
        guess: the reader's number, or None to ask for it.

    Raises:
        ValueError: if the answer is no number, or the guess is not a whole number.

    >>> predict("How many dimensions?", 38, guess=40).message
    'You said 40; it is 38. 2 too many.'
    >>> predict("How many dimensions?", 38).message
    ''
    """
    _read(answer)
    prediction = Prediction(question, answer)
    if guess is not None:
        prediction.commit(guess)
    return prediction


def _read(answer: int | Measurement | Expected) -> tuple[int, tuple[str, ...], str]:
    """The number, its badge and its reason, in words for a reader."""
    if isinstance(answer, Measurement):
        return answer.value, (answer.status,), _how_sure(answer)
    if isinstance(answer, Expected) and answer.value is not None:
        return answer.value, (answer.status, answer.source), answer.note[:1].upper() + answer.note[1:] + "."
    try:
        return _whole("the answer", answer), (), ""
    except ValueError:
        raise ValueError(
            f"the answer is a whole number, a Measurement or an Expected with a value; got {answer!r}"
        ) from None


def _how_sure(found: Measurement) -> str:
    """What the measurement's note says, without the library's words."""
    if found.method == "float":
        clear = "clearly" if found.decided else "but the spectrum does not decide"
        return f"Read off a spectrum, {clear}."
    if found.error_bound == 0:
        return "Certain: the rank meets an upper bound that the symmetries prove."
    return f"Measured exactly; wrong with a chance of at most {found.error_bound:.0e}."


def _whole(what: str, value: object) -> int:
    try:
        number = index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{what} is a whole number; got {value!r}")
    return number
