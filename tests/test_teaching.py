"""Commit to a number first, then see the true one."""

import ipywidgets as widgets
import numpy as np
import pytest
from panels import walk
from polynomial import Polynomial

import neuroviz as nv
from neuroviz.attention.expected import Expected
from neuroviz.deep.span import measure_span
from neuroviz.lessons import teaching
from neuroviz.lessons.teaching import Choice, Prediction, predict
from neuroviz.lessons.wrong_answers import Mistake, wrong_answers

ARCH = nv.Architecture.uniform(4, 2, 2)
MEASURED = nv.measure_dimension(ARCH)
EXPECTED = nv.expected_dimension(ARCH)
FLOAT = nv.measure_dimension(ARCH, method="float")

# guess, answer, what is said
VERDICTS = [
    (40, 38, "You said 40; it is 38. Close: only 2 too many."),
    (0, 0, "You said 0; it is 0. Right."),
    (0, 1, "You said 0; it is 1. Close: only 1 too few."),
    (64, 38, "You said 64; it is 38. A fair try: 26 too many."),
    # 10 percent are still close, and more are not
    (44, 40, "You said 44; it is 40. Close: only 4 too many."),
    (35, 40, "You said 35; it is 40. A fair try: 5 too few."),
    # a number that is no count is not told how many it lacks
    (-1, 1, "You said −1; it is 1. A fair try."),
    (0.5, 1, "You said 0.5; it is 1. Close."),
    (37.5, 38, "You said 37.5; it is 38. Close."),
]


def html(prediction):
    """What the page shows, apart from the style sheet."""
    texts = [
        w.value
        for w in walk(prediction)
        if isinstance(w, (widgets.HTML, widgets.HTMLMath))
    ]
    return " ".join(text for text in texts if not text.startswith("<style>"))


def button(prediction):
    return next(w for w in walk(prediction) if isinstance(w, widgets.Button))


def entry(prediction):
    return next(
        w
        for w in walk(prediction)
        if isinstance(w, (widgets.Text, widgets.RadioButtons))
    )


@pytest.mark.parametrize("answer", [38, MEASURED, EXPECTED])
def test_nothing_is_given_away_before_the_commitment(answer):
    """Run All works with nothing filled in: the question waits."""
    prediction = predict("How many dimensions?", answer)
    assert isinstance(prediction, (Prediction, widgets.VBox))
    assert prediction.committed is None and prediction.message == ""
    assert "38" not in html(prediction) and "How many dimensions?" in html(prediction)
    assert prediction._in_words() == ("Predict.", "How many dimensions?")
    assert not button(prediction).disabled and not entry(prediction).disabled


@pytest.mark.parametrize(("guess", "answer", "said"), VERDICTS)
def test_a_guess_in_code_or_in_the_box_is_answered_with_the_difference(
    guess, answer, said
):
    assert predict("How many?", answer, guess=guess).message == said
    prediction = predict("How many?", answer)
    entry(prediction).value = str(guess)
    button(prediction).click()
    assert (
        prediction.committed == guess
        and prediction.message == said
        and said in html(prediction)
    )
    assert button(prediction).description == "Locked in" and entry(prediction).disabled
    assert 'aria-live="polite"' in html(prediction)


def test_the_first_number_counts():
    prediction = predict("How many?", 38, guess=40)
    for attempt in (lambda: prediction.commit(38), button(prediction).click):
        attempt()
        assert prediction.committed == 40 and "You said 40" in prediction.message


def test_a_cell_that_runs_again_shows_its_answer_again(monkeypatch):
    cell = {"id": "a-cell"}
    monkeypatch.setattr(teaching, "running_cell", lambda: cell["id"])
    monkeypatch.setattr(teaching, "_LOCKED", {})
    predict("How many?", 38).commit(40)
    assert predict("How many?", 38).message.endswith("Close: only 2 too many.")
    # the cell was edited
    assert predict("How many?", 39).message.endswith("Close: only 1 too many.")
    assert predict("And here?", 38).committed is None
    assert (
        predict("How many?", "few", choices={"few": "Yes.", "many": "No."}).committed
        is None
    )
    assert predict("How many?", 38, guess=38).message.endswith("Right.")
    cell["id"] = "another"
    assert predict("How many?", 38).committed is None
    cell["id"] = ""  # a script remembers nothing
    predict("How many?", 38).commit(1)
    assert predict("How many?", 38).committed is None


def test_a_choice_is_remembered_as_long_as_it_can_be_made(monkeypatch):
    monkeypatch.setattr(teaching, "running_cell", lambda: "a-cell")
    monkeypatch.setattr(teaching, "_LOCKED", {})
    predict("Past a = d?", "it stands still", choices=WORDS).commit("it grows")
    assert (
        predict("Past a = d?", "it stands still", choices=WORDS).committed == "it grows"
    )
    others = {word: why for word, why in WORDS.items() if word != "it grows"} | {
        "neither": "No."
    }
    assert predict("Past a = d?", "it stands still", choices=others).committed is None


def test_an_empty_box_is_no_guess_nor_are_words():
    """Pressing the button with nothing filled in must not give the answer away as "You
    said 0"."""
    prediction = predict("How many?", 38)
    for typed in ("", "many", "1/0", "1e9999999", "1E9999999", "nan", "--1", "1.2.3"):
        entry(prediction).value = typed
        button(prediction).click()
        assert (
            prediction.committed is None
            and "number" in html(prediction)
            and "38" not in html(prediction)
        )
    entry(prediction).value = "38"
    button(prediction).click()
    assert prediction.message.endswith("Right.")


@pytest.mark.parametrize(
    ("typed", "number"),
    [
        ("-1", -1),
        ("−1", -1),
        ("0.5", 0.5),
        ("0,5", 0.5),
        ("1/2", 0.5),
        (" 38 ", 38),
        ("38.0", 38),
    ],
)
def test_any_number_can_be_typed(typed, number):
    prediction = predict("PQ is …", 38, wrong={-1: "A product of exponentials?"})
    entry(prediction).value = typed
    button(prediction).click()
    assert prediction.committed == number
    assert isinstance(prediction.committed, int) == (number == int(number))
    assert ("A product" in prediction.message) == (number == -1)
    assert prediction.message.endswith("Right.") == (number == 38)


def test_an_answer_brings_its_status_and_its_reason():
    shown = html(predict("How many?", MEASURED, guess=40))
    assert "● exact" in shown and "Certain" in shown and "2 too many" in shown
    assert "≈ floating point" in html(predict("How many?", FLOAT, guess=40))
    shown = html(predict("How many?", EXPECTED, guess=38))
    assert (
        "■ proved · Cor. 3.8" in shown and "bottleneck" in shown and "Right." in shown
    )
    assert "nv-badge" not in html(predict("How many?", 38, guess=38))


def test_whole_numbers_of_numpy_are_whole_numbers():
    number = np.int64(38)
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
        np.float64(38),
    ],
    ids=repr,
)
def test_an_answer_that_is_no_number_is_refused_at_once(answer):
    with pytest.raises(
        ValueError, match="the answer is a whole number, a Measurement or an Expected"
    ):
        predict("How many?", answer)


@pytest.mark.parametrize(
    "guess", ["40", True, [40], EXPECTED, float("nan"), float("inf"), 1j], ids=repr
)
def test_a_guess_that_is_no_number_is_refused_and_commits_to_nothing(guess):
    prediction = predict("How many?", 38)
    with pytest.raises(ValueError, match="a guess is a number"):
        prediction.commit(guess)
    assert prediction.committed is None and prediction.message == ""
    prediction.commit(38)
    assert prediction.committed == 38


def test_a_question_is_text_that_may_hold_latex_and_not_html():
    """An unescaped a<d would open a tag, and the rest of the formula would be gone from
    the page."""
    (shown,) = [
        w.value
        for w in walk(predict("$a<d$, with $a>0$", 38))
        if isinstance(w, widgets.HTMLMath)
    ]
    assert shown == "<b>Predict.</b> $a&lt;d$, with $a&gt;0$"


def test_reasons_and_hints_are_escaped_and_not_shown_before_the_commitment():
    answer = Expected(3, "proved", "<i>Thm</i>", "<script>alert(1)</script>")
    prediction = predict("How many?", answer, wrong={2: "<b>hint</b>"})
    assert "script" not in html(prediction) and "hint" not in html(prediction)
    prediction.commit(2)
    shown = html(prediction)
    assert "<script>" not in shown and "<i>" not in shown and "<b>hint" not in shown
    assert "&lt;script&gt;" in shown and "&lt;b&gt;hint" in shown


def test_enter_commits_the_guess():
    prediction = predict("How many?", 38)
    prediction._entry.value = "40"
    prediction._entry._handle_custom_msg({"event": "submit"}, [])
    assert prediction.committed == 40


# Hints for known wrong answers


def test_a_known_mistake_gets_its_hint_and_another_does_not():
    hints = {40: "A factor can move.", 64: "Those are parameters."}
    said = [
        predict("How many?", 38, guess=guess, wrong=hints).message for guess in (41, 64)
    ]
    assert said == [
        "You said 41; it is 38. Close: only 3 too many.",
        "You said 64; it is 38. A fair try: 26 too many. Those are parameters.",
    ]


def test_the_hint_of_the_first_mistake_stands_before_the_reason():
    mistakes = (Mistake("one", 40, "First."), Mistake("other", 40, "Second."))
    said = predict("How many?", MEASURED, guess=40, wrong=mistakes).message
    assert said.index("First.") < said.index("Certain") and "Second." not in said
    assert predict(
        "How many?", 38, guess=38, wrong={38: "Wrong way."}
    ).message.endswith("Right.")
    said = predict("How many?", MEASURED, guess=46, wrong=wrong_answers(ARCH)).message
    assert "the basis inside each head" in said


@pytest.mark.parametrize(
    "wrong", [40, "40", ["40"], {"40": "text"}, {40: 3}, {40.0: "text"}, [(40, "text")]]
)
def test_wrong_answers_that_are_none_are_refused_at_once(wrong):
    with pytest.raises(ValueError):
        predict("How many?", 38, wrong=wrong)


# Answers in words

WORDS = {
    "it grows": "Count again.",
    "it stands still": "The rank is bounded.",
    "it falls": "Why?",
}


def test_a_choice_waits_and_gives_nothing_away():
    choice = predict("Past a = d?", "it stands still", choices=WORDS)
    assert (
        isinstance(choice, Choice) and choice.committed is None and choice.message == ""
    )
    assert not any(remark in html(choice) for remark in WORDS.values())
    button(choice).click()
    assert choice.committed is None and "Choose one first" in html(choice)


@pytest.mark.parametrize(
    ("guess", "said"),
    [
        ("it stands still", "You said: it stands still. Right. The rank is bounded."),
        ("it falls", "You said: it falls. The answer is: it stands still. Why?"),
    ],
)
def test_a_choice_is_answered_with_the_remark_on_it(guess, said):
    assert (
        predict("Past a = d?", "it stands still", guess=guess, choices=WORDS).message
        == said
    )
    choice = predict("Past a = d?", "it stands still", choices=WORDS)
    entry(choice).value = guess
    button(choice).click()
    assert choice.message == said and said in html(choice)
    assert button(choice).description == "Locked in"
    choice.commit("it grows")
    assert choice.committed == guess


@pytest.mark.parametrize(
    "call",
    [
        {"answer": "it explodes", "choices": WORDS},
        {"answer": "it falls", "choices": {"it falls": "Only one."}},
        {"answer": "it falls", "choices": ["it falls", "it grows"]},
        {"answer": "it falls", "choices": {"it falls": 1, "it grows": 2}},
        {"answer": "it falls", "choices": WORDS, "wrong": {1: "text"}},
        {"answer": "it falls", "choices": WORDS, "guess": "it explodes"},
        {"answer": "it falls", "choices": WORDS, "guess": 1},
    ],
)
def test_choices_that_do_not_fit_are_refused(call):
    with pytest.raises(ValueError):
        predict("Past a = d?", **call)


# How sure a measurement is, in its own words


def test_only_a_rank_of_the_slice_is_said_to_meet_a_bound_of_the_symmetries():
    assert "the symmetries prove" in predict("?", MEASURED, guess=1).message
    by_weights = nv.measure_dimension(Polynomial((2, 2, 1), 1))
    span = measure_span(nv.Architecture((3, 3), (2,)), 0)
    assert by_weights.route == "weights" and span.error_bound == 0
    for found in (by_weights, span):
        assert "the symmetries prove" not in predict("?", found, guess=1).message
    assert f"Certain: {span.note}." in predict("?", span, guess=1).message
