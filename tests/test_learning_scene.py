"""The surface that learns in a browser: three guesses and their answers, and a target
held by mouse, finger and keyboard, without a kernel."""

import re

import numpy as np
import pytest
from scenes import (
    ask,
    dragged,
    middle,
    named,
    painted,
    place,
    redraw,
    said,
    settle,
    touch,
)

from neuroviz.kit import theme
from neuroviz.singular.learning_facts import CHOICES, MOVES, RANGES
from neuroviz.singular.learning_panel import LearningExplorer

pytestmark = pytest.mark.browser

TARGET = named("the target")
OWN = "s=1.2;y=0.3;z=0.4"
# What answers a question, as far as one sees it.
ANSWERS = """() => [
  ...box.querySelectorAll(".answer, .rests, .nearest"),
].filter((one) => {
  const {visibility} = getComputedStyle(one);
  return visibility !== "hidden" && (one.textContent || one.childElementCount);
}).length"""
# Of the headline of the chart.
TIME = """Number(
  /^time ([\\d.]+)/.exec(box.querySelector(".nv-view-chart h4").textContent)?.[1],
)"""
DONE = "box.querySelector('.answer').textContent !== ''"


def learning(scene, state="", motion="no-preference"):
    page = scene(state, motion, LearningExplorer)
    painted(page)
    return page


def press(page, text):
    page.locator(".side button", has_text=text).click()
    painted(page)


def answer_of(page) -> str:
    page.wait_for_function(DONE, timeout=60_000)
    return page.locator(".answer").text_content()


def shown(page) -> bool:
    return page.evaluate(ANSWERS) > 0


def counted(page) -> tuple[int, ...]:
    """Of the headline of the chart: the time, how many layers are singular, of how
    many."""
    words = page.locator(".nv-view-chart h4").text_content()
    found = re.fullmatch(r"time ([\d.]+): (\d+) of (\d+) singular", words)
    return tuple(float(number) for number in found.groups())


@pytest.mark.long
def test_each_move_asks_before_it_answers_and_the_last_one_shows_the_coin(scene):
    page = learning(scene, motion="reduce")
    for number, move in enumerate(MOVES):
        assert page.locator(".question").text_content() == move.asks
        assert page.locator(".choices button").all_text_contents() == [*CHOICES]
        assert not shown(page) and move.says not in said(page)
        assert not page.locator(".nv-play").is_visible()
        guess = "some" if number else move.right
        press(page, guess)
        assert not shown(page), "while they learn, nothing is given away"
        found = answer_of(page)
        painted(page)
        assert shown(page)
        mark = "✓" if guess == move.right else "✗"
        assert found == f"{mark} You guessed {guess}. {move.says}"
        time, singular, count = counted(page)
        assert time > 10
        assert (singular, count) == (40 if move.right == "all" else 0, 40)
        dots = page.locator(".nv-view-chart circle.is-singular").count()
        assert dots == singular
        coin = "the coin" in page.locator(".nv-pointers").text_content()
        assert coin == move.shows_coin
        if not move.shows_coin:
            press(page, "next move")
    # An answered move does not ask again.
    press(page, MOVES[0].name)
    assert page.locator(".choices button").count() == 0
    assert page.locator(".nv-play").is_visible() and shown(page)


@pytest.mark.long
def test_where_layers_rest_at_a_singular_point_it_is_lit(scene):
    page = learning(scene, "s=1;y=0;z=0", "reduce")
    light = page.locator(".light")
    assert float(light.get_attribute("r")) == 0
    press(page, "all")
    answer_of(page)
    painted(page)
    assert float(light.get_attribute("r")) == 30 and light.is_visible()
    # It is at the pinch point, where its label points to.
    x, y = (float(light.get_attribute(name)) for name in ("cx", "cy"))
    lines = page.locator(".nv-pointers line").all()
    ends = [[float(one.get_attribute(n)) for n in ("x1", "y1")] for one in lines]
    assert min(np.hypot(a - x, b - y) for a, b in ends) < 3


@pytest.mark.long
def test_the_target_is_dragged_the_layers_follow_and_new_ones_start(scene):
    page = learning(scene, OWN)
    x, y = middle(page, TARGET)
    dots = "[...box.querySelectorAll('.nv-view-chart circle')].map(c => c.outerHTML)"
    before = page.evaluate(dots)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 40, y - 20, steps=12)
    page.wait_for_function(f"{TIME} > 3")
    assert np.hypot(*np.subtract(middle(page, TARGET), (x + 40, y - 20))) < 4
    assert page.evaluate(dots) != before
    held = counted(page)[0]
    page.mouse.up()
    page.wait_for_function(f"{TIME} < {held}")  # other layers have started
    assert page.locator(".nv-play").inner_text() == "❚❚"
    found = answer_of(page)
    near = re.search(r"all at the nearest layer|(\d+) at the nearest layer", found)
    second = re.search(r"(\d+) in a second valley", found)
    late = re.search(r"(\d+) still on their way", found)
    numbers = [int(one[1]) for one in (near, second, late) if one and one[1]]
    assert near and sum(numbers) in (0, 40)


@pytest.mark.long
@pytest.mark.parametrize("frames", [240, 15])  # a second
def test_while_the_target_is_held_time_passes_as_it_does_for_the_reader(scene, frames):
    page = learning(scene, OWN)
    page.evaluate(
        "window.requestAnimationFrame = (next) =>"
        f" setTimeout(() => next(performance.now()), {1000 / frames})"
    )
    headline = ".nv-view-chart h4"
    now = f"[performance.now() / 1000, box.querySelector('{headline}').textContent]"
    page.mouse.move(*middle(page, TARGET))
    page.mouse.down()
    page.locator(headline, has_text="time").wait_for()
    start, first = page.evaluate(now)
    page.wait_for_timeout(1500)
    end, last = page.evaluate(now)
    page.mouse.up()
    first, last = (float(re.match(r"time ([\d.]+)", one)[1]) for one in (first, last))
    assert last - first == pytest.approx(6 * (end - start), rel=0.25)


@pytest.mark.long
def test_a_target_with_two_valleys_says_how_many_rest_in_the_second(scene):
    page = learning(scene, "s=1.9;y=0.06;z=0.84", "reduce")
    rings = page.locator(".rests circle:not(.light)")
    assert [one.is_visible() for one in rings.all()] == [True, True]
    page.locator(".nv-play").click()
    found = re.search(r"(\d+) at .* (\d+) in a second valley", answer_of(page))
    near, second = map(int, found.groups())
    assert near + second == 40 and second > 5


@pytest.mark.long
def test_the_target_snaps_to_the_dotted_line_and_stays_on_the_coin(scene):
    page = learning(scene, "s=1;y=0;z=0", "reduce")
    x, y = middle(page, TARGET)
    dragged(page, TARGET, x + 25, y + 5)
    here = place(page)
    assert (here["y"], here["z"]) == (0, 0) and here["s"] > 1.1
    assert "on the dotted line" in said(page)
    press(page, MOVES[2].name)
    press(page, "none")
    answer_of(page)
    page.evaluate("to => box.talk.set(to)", {"s": 1, "y": 0, "z": 0.5})
    painted(page)
    x, y = middle(page, TARGET)
    dragged(page, TARGET, x + 15, y + 15)
    here = place(page)
    assert here["y"] == 0 and here["z"] != 0.5
    assert (here["s"] - 1) ** 2 + here["z"] ** 2 <= 1
    assert "40 of 40 singular" in answer_of(page)


@pytest.mark.long
def test_the_keyboard_alone_answers_and_moves_the_target(scene):
    page = learning(scene, motion="reduce")
    page.locator(".choices button").first.focus()
    page.keyboard.press("Enter")
    assert "✓" in answer_of(page)
    focused = "document.activeElement.className"
    assert page.evaluate(focused) == "nv-play", "the focus is not lost with its button"
    page.locator(".choices button").focus()
    page.keyboard.press("Enter")
    painted(page)
    assert page.evaluate("document.activeElement.textContent") == CHOICES[0]
    page.locator(TARGET).focus()
    seen = {tuple(place(page).values())}
    for key in ("ArrowUp", "ArrowRight", "ArrowDown", "ArrowLeft"):
        page.keyboard.press(key)
        painted(page)
        seen.add(tuple(place(page).values()))
    assert len(seen) == 5
    words = page.locator(TARGET).get_attribute("aria-valuetext")
    assert re.fullmatch(r"s = .*, y = .*, z = .*: .* layer has this function", words)


@pytest.mark.long
def test_play_lets_new_layers_learn_pauses_and_goes_on(scene):
    page = learning(scene, OWN)
    play = page.locator(".nv-play")
    play.click()
    page.wait_for_function(f"{TIME} > 1")
    play.click()
    painted(page)
    paused = counted(page)
    page.wait_for_timeout(400)
    assert counted(page) == paused and paused[0] > 0
    play.click()
    answer_of(page)
    assert play.inner_text() == "▶" and counted(page)[0] > paused[0]
    play.click()
    page.wait_for_function(f"{TIME} < 5")  # new layers have started


@pytest.mark.long
def test_where_motion_is_reduced_the_layers_leap_in_few_steps(scene):
    page = learning(scene, OWN, "reduce")
    ask(page, "changes")
    page.locator(".nv-play").click()
    answer_of(page)
    assert 1 < ask(page, "changes") <= 15


@pytest.mark.long
def test_random_targets_are_tried_and_counted(scene):
    page = learning(scene, "s=1;y=0.45;z=0.5", "reduce")
    assert not page.locator("button", has_text="100 random targets").is_visible()
    press(page, "none")
    answer_of(page)
    page.locator("button", has_text="100 random targets").click()
    first = singular_of(page, 100)
    page.locator("button", has_text="100 random targets").click()
    assert first <= singular_of(page, 200) < 80


@pytest.mark.long
def test_targets_that_were_tried_stay_in_another_theme(scene):
    state = "s=1;y=0.45;z=0.5"
    page = learning(scene, state, "reduce")

    def in_theme(mode):
        with theme.using({"mode": mode}):
            redraw(page, LearningExplorer(state=state))
        settle(page)
        return page.locator("canvas").screenshot()

    press(page, "none")
    answer_of(page)
    before = in_theme("dark")
    in_theme("light")
    assert in_theme("dark") == before
    in_theme("light")
    page.locator("button", has_text="100 random targets").click()
    singular_of(page, 100)
    assert in_theme("dark") != before


def singular_of(page, targets):
    """How many layers ended singular, once so many targets have been tried."""
    answer = page.locator(".answer", has_text=re.compile(f"^{targets} random targets"))
    answer.wait_for(timeout=60_000)
    words = answer.text_content()
    found = re.search(rf"of {8 * targets} layers (none|\d+) ends? singular", words)
    return 0 if found[1] == "none" else int(found[1])


@pytest.mark.long
def test_python_that_answers_leaves_the_layers_alone(scene):
    page = learning(scene, OWN)
    page.locator(".nv-play").click()
    page.wait_for_function(f"{TIME} > 1")
    redraw(page, LearningExplorer(state=OWN))
    painted(page)
    assert counted(page)[0] > 0
    answer_of(page)


@pytest.mark.long
@pytest.mark.parametrize("width", [390, 820, 1100])
def test_question_answer_and_chart_have_room(scene, width):
    page = learning(scene, "s=1;y=0;z=0", "reduce")
    page.set_viewport_size({"width": width, "height": 1000})
    redraw(page, LearningExplorer(state="s=1;y=0;z=0"), width)
    press(page, "some")
    answer_of(page)
    settle(page)
    assert page.evaluate("box.scrollWidth") <= width
    answer, chart, space = (
        page.locator(one).bounding_box()
        for one in (".answer", ".nv-view-chart", ".nv-view-space")
    )
    assert answer["y"] + answer["height"] <= chart["y"] + 1
    if width == 390:
        assert space["y"] + space["height"] < answer["y"]
    else:
        assert space["x"] + space["width"] < answer["x"]


@pytest.mark.long
def test_a_finger_moves_the_target_and_answers(phone):
    page = phone(LearningExplorer, 390, 844)
    page.locator(".choices button", has_text="all").tap()
    page.wait_for_function(DONE, timeout=60_000)
    assert page.locator(".answer").text_content().startswith("✗ You guessed all.")
    page.locator(TARGET).scroll_into_view_if_needed()
    values = "['s', 'y', 'z'].map((name) => neurovizScenes.talkOf(box).get(name))"
    before = page.evaluate(values)
    ring = page.locator(f"{TARGET} .ring").bounding_box()
    start = ring["x"] + ring["width"] / 2, ring["y"] + ring["height"] / 2
    touch(page, start, (-40, 20))
    after = page.evaluate(values)
    assert np.abs(np.subtract(after, before)).max() > 0.05
    assert page.evaluate("cancelled") == [] and len(after) == len(RANGES)
