"""Commit to a number first, then see the true one."""

from html import escape

import ipywidgets as widgets

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
        self._entry = widgets.IntText(
            value=None, description="My guess", layout={"width": "200px"}, style={"description_width": "70px"}
        )
        self._button = widgets.Button(
            description="Lock in, then show", tooltip="commit to this number and see the answer"
        )
        self._button.on_click(lambda _: self.commit(self._entry.value))
        self._outcome = widgets.HTML()
        super().__init__(
            [
                widgets.HTML(theme.css(), layout={"display": "none"}),
                widgets.HTMLMath(f"<b>Predict.</b> {question}"),
                widgets.HBox([self._entry, self._button]),
                self._outcome,
            ]
        )
        self.add_class("nv")

    def commit(self, guess: int) -> None:
        """Lock the guess in and show the answer; a second commitment changes nothing."""
        if self.committed is not None:
            return
        self.committed = guess
        self._entry.value = guess
        self._entry.disabled = self._button.disabled = True
        value, status, why = _read(self._answer)
        difference = guess - value
        verdict = (
            "Right." if not difference else f"{abs(difference)} too {'many' if difference > 0 else 'few'}."
        )
        self.message = f"You said {guess}; it is {value}. {verdict} {why}".strip()
        badge = theme.badge(*status) if status else ""
        self._outcome.value = f'<div aria-live="polite">{badge} {escape(self.message)}</div>'


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
    if guess is not None and (isinstance(guess, bool) or not isinstance(guess, int)):
        raise ValueError(f"a guess is a whole number, or None to be asked; got {guess!r}")
    prediction = Prediction(question, answer)
    if guess is not None:
        prediction.commit(guess)
    return prediction


def _read(answer: int | Measurement | Expected) -> tuple[int, tuple[str, ...], str]:
    """The number, its badge and its reason."""
    if isinstance(answer, Measurement):
        return answer.value, (answer.status,), _sentence(answer.note)
    if isinstance(answer, Expected) and answer.value is not None:
        return answer.value, (answer.status, answer.source), _sentence(answer.note)
    if isinstance(answer, int) and not isinstance(answer, bool):
        return answer, (), ""
    raise ValueError(
        f"the answer is a whole number, a Measurement or an Expected with a value; got {answer!r}"
    )


def _sentence(note: str) -> str:
    return note[:1].upper() + note[1:] + "."
