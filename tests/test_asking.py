"""A panel that asks first keeps its words until somebody has guessed, or moved it."""

import pytest

from neuroviz.explorables import LedgerExplorer, SurfaceExplorer
from neuroviz.kit import asking, theme
from neuroviz.kit.controls import is_shown
from neuroviz.lessons import forget_guesses, show_answers
from neuroviz.lessons.teaching import predict


@pytest.fixture(autouse=True)
def nothing_is_answered():
    forget_guesses()
    yield
    forget_guesses()


def seen(panel):
    """All words of a panel that Python sends to the page."""
    title = panel._title_html.value
    return f"{title} {panel._description_html.value} {' '.join(panel._in_words())}"


def says_nothing(panel):
    return (
        panel.is_asking
        and panel.description not in seen(panel)
        and "nv-badge" not in seen(panel)
        and "nv-asking" in panel._dom_classes
        and is_shown(panel._show_me)
        and asking.FIRST_GUESS in seen(panel)
    )


def says_all(panel):
    return (
        not panel.is_asking
        and panel.description in seen(panel)
        and "nv-badge" in seen(panel)
        and "nv-asking" not in panel._dom_classes
        and not is_shown(panel._show_me)
        and asking.FIRST_GUESS not in seen(panel)
    )


def press(panel, label):
    """A preset of the panel."""
    (row,) = [one for one in panel.children if "nv-presets" in one._dom_classes]
    (button,) = [one for one in row.children if one.description == label]
    button.click()


def test_a_panel_without_a_topic_says_all():
    assert says_all(LedgerExplorer())


def test_it_opens_without_its_words_and_says_them_when_its_question_is_answered():
    panel = LedgerExplorer(asks="count")
    other = LedgerExplorer(asks="another topic")
    question = predict("How many?", 16, asks="count")
    assert says_nothing(panel)
    question.commit(3)
    assert says_all(panel)
    assert says_nothing(other)


def test_a_panel_that_opens_after_the_answer_says_all():
    predict("How many?", 16, guess=3, asks="count")
    assert says_all(LedgerExplorer(asks="count"))


@pytest.mark.parametrize(
    "act",
    [
        lambda panel: setattr(panel.controls["layers"], "value", 3),
        lambda panel: press(panel, "three"),
        lambda panel: panel._show_me.click(),
    ],
    ids=["moved", "a preset", "show me"],
)
def test_it_says_them_to_who_moves_it_or_asks_for_them(act):
    panel = LedgerExplorer(asks="count", presets={"three": "layers=3"})
    other = LedgerExplorer(asks="count")
    assert says_nothing(panel)
    act(panel)
    assert says_all(panel)
    assert says_nothing(other)  # it was not moved


def test_a_state_that_a_teacher_pastes_moves_nothing():
    panel = LedgerExplorer(asks="count")
    panel.state = "layers=3"
    assert panel.controls["layers"].value == 3
    assert says_nothing(panel)


def test_a_slow_first_state_moves_nothing():
    """The panel itself asks for it, not the reader."""
    panel = LedgerExplorer(
        asks="count", state="width=8;width_out=8;head_dim=8;layers=4"
    )
    panel.wait(60)
    assert says_nothing(panel)


def test_the_page_that_writes_a_number_in_its_own_way_moves_nothing():
    panel = SurfaceExplorer(asks="crossing")
    panel.controls["where"].value = 0.8 - 2e-16
    assert says_nothing(panel)
    panel.controls["where"].value = 0.81
    assert says_all(panel)


def test_who_teaches_opens_all_and_closes_all_again():
    panel = SurfaceExplorer(asks="crossing")
    question = predict("How many?", 2, guess=1, asks="crossing")
    forget_guesses()
    assert says_nothing(panel)
    assert question.committed is None
    show_answers()
    assert says_all(panel)
    assert says_all(SurfaceExplorer(asks="yet another topic"))
    forget_guesses()
    panel.controls["along"].value = 0.3
    assert says_all(panel)
    forget_guesses()
    assert says_nothing(panel)


def test_a_guess_is_taken_back_by_its_button():
    question = predict("How many?", 2, guess=1)
    assert is_shown(question._again)
    question._again.click()
    assert question.committed is None
    assert question.message == question._outcome.value == ""
    assert not question._entry.disabled
    assert not is_shown(question._again)
    question.commit(2)
    assert "Right." in question.message


def test_a_choice_is_taken_back_too():
    question = predict("Larger?", "yes", guess="no", choices={"yes": "a", "no": "b"})
    question.take_back()
    assert question._entry.value is None
    question.commit("yes")
    assert question.committed == "yes"


def test_a_picture_for_a_page_without_python_keeps_its_answers_back():
    panel = SurfaceExplorer(asks="crossing")
    assert panel._drawn().startswith('<div class="nv-asking">')
    panel.show_words()
    assert "nv-asking" not in panel._drawn().partition("<script>")[0]


@pytest.mark.parametrize("topic", ["", "  ", 3, ("crossing",)])
def test_a_topic_is_a_text(topic):
    with pytest.raises(ValueError, match="asks names a topic"):
        LedgerExplorer(asks=topic)
    with pytest.raises(ValueError, match="asks names a topic"):
        predict("How many?", 2, asks=topic)


# Lecture


def is_large(question):
    return "nv-lecture" in question._dom_classes


def test_a_question_grows_and_shrinks_with_the_panels():
    question = predict("How many?", 2)
    choice = predict("Larger?", "yes", choices={"yes": "a", "no": "b"})
    panel = LedgerExplorer()
    assert not is_large(question)
    panel._lecture.value = True
    assert is_large(question) and is_large(choice)
    panel._lecture.value = False
    assert not is_large(question) and not is_large(choice)


def test_a_question_opens_in_the_size_in_use():
    with theme.using({"size": "lecture"}):
        assert is_large(predict("How many?", 2))
    assert not is_large(predict("How many?", 2))
