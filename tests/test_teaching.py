"""Commit to a number first, then see the true one."""

import ipywidgets as widgets
import numpy as np
import pytest

import neuroviz as nv
from neuroviz.formulas import Expected
from neuroviz.teaching import Prediction, predict

ARCH = nv.Architecture.uniform(4, 2, 2)
MEASURED, EXPECTED = nv.measure_dimension(ARCH), nv.expected_dimension(ARCH)
FLOAT = nv.measure_dimension(ARCH, method="float")

# guess, answer, what is said
VERDICTS = [
    (38, 38, "You said 38; it is 38. Right."),
    (40, 38, "You said 40; it is 38. 2 too many."),
    (37, 38, "You said 37; it is 38. 1 too few."),
    (0, 0, "You said 0; it is 0. Right."),
    (-3, 2, "You said -3; it is 2. 5 too few."),
]


def walk(widget):
    yield widget
    for child in getattr(widget, "children", ()):
        yield from walk(child)


def html(prediction):
    """What the page shows, apart from the style sheet."""
    texts = [w.value for w in walk(prediction) if isinstance(w, (widgets.HTML, widgets.HTMLMath))]
    return " ".join(text for text in texts if not text.startswith("<style>"))


def button(prediction):
    return next(w for w in walk(prediction) if isinstance(w, widgets.Button))


def entry(prediction):
    """The box for the number, of whatever kind it is."""
    return next(w for w in walk(prediction) if isinstance(w, (widgets.IntText, widgets.Text)))


def fill_in(prediction, number):
    box = entry(prediction)
    box.value = number if isinstance(box, widgets.IntText) else str(number)


@pytest.mark.parametrize("answer", [38, MEASURED, EXPECTED])
def test_nothing_is_given_away_before_the_commitment(answer):
    """Run All works with nothing filled in: the question waits."""
    prediction = predict("How many dimensions?", answer)
    assert isinstance(prediction, (Prediction, widgets.VBox))
    assert prediction.committed is None and prediction.message == ""
    assert "38" not in html(prediction) and "How many dimensions?" in html(prediction)
    assert not button(prediction).disabled and not entry(prediction).disabled


@pytest.mark.parametrize(("guess", "answer", "said"), VERDICTS)
def test_the_difference_is_said_in_words(guess, answer, said):
    assert predict("How many?", answer, guess=guess).message == said


@pytest.mark.parametrize(("guess", "answer", "said"), VERDICTS)
def test_the_button_commits_what_is_in_the_box(guess, answer, said):
    prediction = predict("How many?", answer)
    fill_in(prediction, guess)
    button(prediction).click()
    assert prediction.committed == guess and prediction.message == said and said in html(prediction)
    assert button(prediction).disabled and entry(prediction).disabled


def test_the_first_number_counts():
    prediction = predict("How many?", 38, guess=40)
    for attempt in (lambda: prediction.commit(38), button(prediction).click):
        attempt()
        assert prediction.committed == 40 and "You said 40" in prediction.message


def test_an_empty_box_is_no_guess():
    """Pressing the button with nothing filled in must not give the answer away as "You said 0"."""
    prediction = predict("How many?", 38)
    button(prediction).click()
    assert prediction.committed is None and "38" not in html(prediction)
    fill_in(prediction, 38)
    button(prediction).click()
    assert prediction.message.endswith("Right.")


def test_a_measured_answer_brings_its_status_and_how_it_was_found():
    shown = html(predict("How many?", MEASURED, guess=40))
    assert "● exact" in shown and "Certain" in shown and "2 too many" in shown
    assert "≈ floating point" in html(predict("How many?", FLOAT, guess=40))


def test_a_formula_brings_its_status_its_source_and_its_reason():
    shown = html(predict("How many?", EXPECTED, guess=38))
    assert "■ proved · Cor. 3.8" in shown and "bottleneck" in shown and "Right." in shown


def test_a_plain_number_claims_no_status():
    assert "nv-badge" not in html(predict("How many?", 38, guess=38))


@pytest.mark.parametrize("number", [np.int64(38), np.int32(38), np.linalg.matrix_rank(np.eye(38))])
def test_whole_numbers_of_numpy_are_whole_numbers(number):
    assert predict("How many?", number, guess=38).message.endswith("Right.")
    assert predict("How many?", 38, guess=number).message.endswith("Right.")


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "38",
        38.0,
        True,
        [38],
        Expected(None, "no formula", "", ""),
        ARCH,
        np.array([38]),
        np.float64(38),
    ],
    ids=repr,
)
def test_an_answer_that_is_no_number_is_refused_at_once(answer):
    with pytest.raises(ValueError, match="the answer is a whole number, a Measurement or an Expected"):
        predict("How many?", answer)


@pytest.mark.parametrize("guess", ["40", 40.0, True, [40], EXPECTED], ids=repr)
def test_a_guess_that_is_no_number_is_refused_and_commits_to_nothing(guess):
    with pytest.raises(ValueError, match="a guess is a whole number"):
        predict("How many?", 38, guess=guess)
    prediction = predict("How many?", 38)
    with pytest.raises(ValueError):
        prediction.commit(guess)
    assert prediction.committed is None and prediction.message == ""
    prediction.commit(38)
    assert prediction.committed == 38


def test_a_question_may_hold_latex():
    question = r"How large is $\alpha(a, d)$ for $\begin{pmatrix} 1 & 2 \end{pmatrix}$?"
    prediction = predict(question, 38)
    (shown,) = [w for w in walk(prediction) if isinstance(w, widgets.HTMLMath)]
    assert r"$\alpha(a, d)$" in shown.value


@pytest.mark.parametrize(
    "text", ["$a<d$, with $a>0$", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>"]
)
def test_a_question_is_text_and_not_html(text):
    """An unescaped a<d would open a tag, and the rest of the formula would be gone from the page."""
    shown = html(predict(text, 38)).replace("<b>Predict.</b>", "")
    assert "<" not in shown.replace("<div", "").replace("</div", "") and "&lt;" in shown


def test_a_reason_is_escaped():
    answer = Expected(3, "proved", "<i>Thm</i>", "<script>alert(1)</script>")
    shown = html(predict("How many?", answer, guess=2))
    assert "<script>" not in shown and "<i>" not in shown and "&lt;script&gt;" in shown


def test_a_screen_reader_is_told_the_outcome():
    assert 'aria-live="polite"' in html(predict("How many?", 38, guess=38))


def test_enter_commits_the_guess():
    prediction = predict("How many?", 38)
    prediction._entry.value = "40"
    prediction._entry._handle_custom_msg({"event": "submit"}, [])
    assert prediction.committed == 40
