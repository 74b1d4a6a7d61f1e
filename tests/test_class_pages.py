"""The pages of a class in a browser: boxes of students on telephones, the teacher's
page, and that for the projector."""

import json
import os
import re
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from class_site import (
    ASKED,
    CHOICE,
    NUMBER,
    PAGE,
    Visitor,
    held,
    make_site,
    raw,
    teacher_of,
)
from node import need_node
from test_axe import AXE, OF_A_PAGE
from test_book import built  # noqa: F401

from neuroviz.lessons.classroom.site import ANSWERS, PAGES, QUESTIONS

pytestmark = pytest.mark.browser

PHONE = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
}
DESK = {"viewport": {"width": 1280, "height": 720}}
SOON = 20_000  # milliseconds
FINGER = 44  # pixels
HAS_FOCUS = "(one) => one === document.activeElement"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return make_site(tmp_path_factory.mktemp("site"))


@pytest.fixture
def room(site):
    with held(site, "--per-address", "20") as room:
        yield room


@pytest.fixture
def student(new_page, room):
    """Opens the page that asks on a telephone of its own."""

    def open_page():
        page = new_page(**PHONE)
        page.set_default_timeout(SOON)
        page.elsewhere = []
        page.on(
            "request",
            lambda one: room.students in one.url or page.elsewhere.append(one.url),
        )
        page.goto(f"http://{room.students}/{PAGE}.html")
        return page

    return open_page


@pytest.fixture
def teacher(new_page, room):
    """The teacher's page; .wall is that for the projector."""
    page = new_page(**DESK)
    page.set_default_timeout(SOON)
    page.goto(f"http://{room.teacher}/?t={room.token}")
    page.wall = page.context.new_page()
    page.wall.set_default_timeout(SOON)
    page.wall.goto(f"http://{room.teacher}/projector")
    page.wall.get_by_text("Join the class").wait_for()
    page.wall.get_by_text("Then press Begin.").wait_for()
    page.locator("#list button", has_text="dimensions").click()
    page.wall.get_by_text("01 One · Count").wait_for()
    return page


@pytest.mark.long
def test_the_questions_of_the_plan_come_first(new_page, tmp_path):
    site = make_site(tmp_path, plan=[ASKED[CHOICE]["question"]])
    with held(site) as room:
        desk = new_page(**DESK)
        desk.set_default_timeout(SOON)
        desk.goto(f"http://{room.teacher}/?t={room.token}")
        groups = desk.locator("#list details")
        groups.nth(1).wait_for()
        said = [group.inner_text().split("\n")[0] for group in groups.all()]
        assert said == ["The plan of 50 minutes", "01 One"]
        # a telephone has no box for the exercise of the plan
        assert desk.get_by_text("Then the exercise, in pairs: on paper").is_visible()
        opened = desk.locator("#list button:visible")
        assert opened.all_inner_texts() == ["Is it <b>larger</b>?"]
        opened.click()
        desk.get_by_text("01 One · Compare").wait_for()


def box(page, number=0):
    return page.locator(".nv-class").nth(number)


def lock(page, guess):
    box(page).get_by_label("My guess").fill(guess)
    box(page).get_by_role("button", name="Lock in").tap()


def press(page, name):
    page.get_by_role("button", name=name, exact=True).click()


ASKS_AGAIN = {
    "Vote again": "Press again to vote again",
    "Show the answer to all": "Press again to show it",
}
NO_DOUBLE_CLICK = 500  # milliseconds


def insist(page, name):
    """What asks once more is pressed once more."""
    press(page, name)
    again = page.get_by_role("button", name=ASKS_AGAIN[name])
    again.wait_for()
    page.wait_for_timeout(NO_DOUBLE_CLICK)
    again.click()


@pytest.mark.long
def test_a_vote_from_the_guess_to_the_answer(student, teacher):
    one = student()
    other = student()
    lock(one, "64")
    lock(other, "−1")
    box(one).get_by_text("Locked in: the answer comes").wait_for()
    teacher.get_by_text("2 of 2 have answered").wait_for()
    assert teacher.get_by_text("That is the number of parameters.").is_visible()
    assert teacher.wall.locator(".bars").count() == 0
    press(teacher, "Show the guesses")
    teacher.wall.locator(".bars").wait_for()
    assert "parameters" not in teacher.wall.locator("main").inner_text()

    insist(teacher, "Vote again")
    box(one).get_by_text(
        "You said 64. The class votes again. Lock in the same guess, or another one."
    ).wait_for()
    teacher.wall.locator(".bars").wait_for(state="detached")
    lock(one, "38")
    teacher.get_by_text("1 of 2 have answered in the second vote").wait_for()
    insist(teacher, "Show the answer to all")
    box(one).get_by_text("You said 38. Right.").wait_for()
    box(other).get_by_text("You said −1. It is 38.").wait_for()
    assert box(one).locator(".nv-shown").inner_text() == "38. Count them."
    one.get_by_text("Why?").click()
    assert one.get_by_text("Because 38 count.").is_visible()
    teacher.wall.get_by_text("It is 38.").wait_for()
    row = teacher.wall.locator(".bars tr", has_text="64")
    assert row.locator(".count").all_text_contents() == ["1", "0"]
    assert not one.elsewhere and not other.elsewhere


@pytest.mark.long
def test_every_page_leads_to_what_the_teacher_asks(student, teacher, room):
    page = student()
    page.goto(f"http://{room.students}/")
    link = page.get_by_role("link", name="How many dimensions?")
    link.wait_for()
    teacher.get_by_text("0 of 1 have answered").wait_for()
    link.click()
    page.wait_for_url(f"**/{PAGE}.html#ask-{NUMBER}")
    lock(page, "64")
    link.wait_for(state="detached")
    insist(teacher, "Vote again")
    link.wait_for()


def lock_too_late(page, teacher, guess: str) -> None:
    """Lock a guess in without the network, which is back when the answer is shown."""
    page.context.set_offline(True)
    lock(page, guess)
    box(page).get_by_text("Not sent yet").wait_for()
    insist(teacher, "Show the answer to all")
    teacher.get_by_role("button", name="The answer is shown").wait_for()
    page.context.set_offline(False)


@pytest.mark.long
def test_a_guess_that_comes_after_the_answer_says_so(student, teacher):
    page = student()
    lock(page, "64")
    box(page).get_by_text("Locked in: the answer").wait_for()
    insist(teacher, "Vote again")
    box(page).get_by_text("The class votes again").wait_for()
    lock_too_late(page, teacher, "39")
    said = "You said 39, which came too late to be counted. It is 38."
    box(page).get_by_text(said).wait_for()


@pytest.mark.long
def test_a_first_guess_that_comes_after_the_answer_says_so(student, teacher):
    page = student()
    box(page).get_by_label("My guess").wait_for()
    lock_too_late(page, teacher, "64")
    said = "You said 64, which came too late to be counted. It is 38. That is"
    box(page).get_by_text(said).wait_for()


@pytest.mark.long
def test_a_guess_that_the_class_rounds_was_not_late(student, teacher):
    page = student()
    lock(page, "1/3")
    box(page).get_by_text("Locked in: the answer").wait_for()
    insist(teacher, "Show the answer to all")
    box(page).get_by_text("You said 0.333. It is 38.").wait_for()


@pytest.mark.long
def test_the_wall_shows_all_bars_of_a_second_vote_at_720_lines(student, teacher):
    for guess in ("64", "40", "27", "−1", "12"):
        teacher.get_by_label("A hand for").fill(guess)
        press(teacher, "Count it")
        teacher.get_by_role("rowheader", name=guess, exact=True).wait_for()
    insist(teacher, "Vote again")
    insist(teacher, "Show the answer to all")
    teacher.wall.get_by_text("It is 38.").wait_for()
    for width, height in ((1280, 720), (1024, 768), (1920, 1080)):
        teacher.wall.set_viewport_size({"width": width, "height": height})
        assert teacher.wall.evaluate("document.documentElement.scrollHeight") <= height


LONGEST = {"question": 141, "choice": 65, "remark": 146}  # letters, of the course


def in_words(length):
    return ("a word of many " * length)[: length - 1] + "s"


@pytest.mark.long
@pytest.mark.parametrize("name", [NUMBER, CHOICE])
@pytest.mark.parametrize("votes", [1, 2])
def test_nothing_on_the_wall_is_below_720_lines(new_page, tmp_path, name, votes):
    """The longest question, choices and remarks of the course, and many guesses."""
    folder = make_site(tmp_path)
    guesses = [str(number) for number in range(12)]
    if name == CHOICE:
        guesses = [f"{letter} {in_words(LONGEST['choice'])}" for letter in "abcd"]
    number = [NUMBER, CHOICE].index(name)
    questions = json.loads((folder / QUESTIONS).read_text(encoding="utf-8"))
    questions[number] |= {
        "question": in_words(LONGEST["question"]),
        "choices": guesses if name == CHOICE else [],
        "mistakes": dict.fromkeys(guesses[1:], in_words(LONGEST["remark"])),
    }
    answers = json.loads((folder / ANSWERS).read_text(encoding="utf-8"))
    answers[name]["answer"] = guesses[0]
    (folder / QUESTIONS).write_text(json.dumps(questions), encoding="utf-8")
    (folder / ANSWERS).write_text(json.dumps(answers), encoding="utf-8")
    with held(folder) as room:
        teacher = teacher_of(room)
        teacher.ask("POST", "/", {"choose": name})
        for vote in range(votes):
            if vote:
                teacher.ask("POST", "/", {"again": name})
            for guess in guesses:
                value = guess if name == CHOICE else int(guess)
                teacher.ask("POST", "/", {"hands": name, "guess": value, "by": 1})
        wall = new_page(**DESK)
        wall.set_default_timeout(SOON)
        wall.goto(f"http://{room.teacher}/?t={room.token}")
        wall.goto(f"http://{room.teacher}/projector")
        teacher.ask("POST", "/", {"bars": True})
        wall.locator(".bars").wait_for()
        size = "[document.documentElement.scrollWidth, scrollHeight]"
        size = size.replace(", ", ", document.documentElement.")
        assert wall.evaluate(size) == [1280, 720]
        teacher.ask("POST", "/", {"open": name})
        wall.locator(".remark").first.wait_for()
        assert wall.evaluate(size) == [1280, 720]


SAID_IN_PART = """() => [...document.querySelectorAll('.remark div')].filter(
  (one) => one.scrollHeight > one.clientHeight + 1).map((one) => one.textContent)"""
# to whom nearly all of a class belong, at the third question of the plan
POPULAR = (
    "After a layer of rank one all tokens are parallel. What does xᵀA x tell about an"
    " A, if x never turns?"
)
LONGEST_OF_ALL = (
    "Three families are silent: the bases inside the heads, the bases between the"
    " layers, and the factors of A and V. Which of them do you still count?"
)


@pytest.mark.long
@pytest.mark.parametrize("guesses, remark", [(6, POPULAR), (4, LONGEST_OF_ALL)])
def test_the_wall_says_all_of_a_remark(new_page, tmp_path, guesses, remark):
    folder = make_site(tmp_path)
    questions = json.loads((folder / QUESTIONS).read_text(encoding="utf-8"))
    numbers = range(1, 1 + guesses)
    questions[0]["mistakes"] = {str(number): remark for number in numbers}
    (folder / QUESTIONS).write_text(json.dumps(questions), encoding="utf-8")
    with held(folder) as room:
        teacher = teacher_of(room)
        teacher.ask("POST", "/", {"choose": NUMBER})
        for number in numbers:
            teacher.ask("POST", "/", {"hands": NUMBER, "guess": number, "by": 1})
        teacher.ask("POST", "/", {"open": NUMBER})
        wall = new_page(**DESK)
        wall.set_default_timeout(SOON)
        wall.goto(f"http://{room.teacher}/?t={room.token}")
        wall.goto(f"http://{room.teacher}/projector")
        wall.locator(".remark", has_text=remark).nth(guesses - 1).wait_for()
        assert wall.evaluate(SAID_IN_PART) == []
        wall.add_style_tag(content=".remark div { -webkit-line-clamp: 1 !important }")
        assert len(wall.evaluate(SAID_IN_PART)) == guesses  # it can be seen


@pytest.mark.long
def test_a_choice_is_made_and_its_remark_comes_with_the_answer(student, teacher):
    page = student()
    choices = box(page, 1).get_by_role("group", name="My guess").get_by_role("radio")
    choices.first.wait_for()
    assert choices.count() == 2
    button = box(page, 1).get_by_role("button", name="Lock in")
    button.tap()
    assert "Choose one first" in box(page, 1).inner_text()
    box(page, 1).get_by_label("no").check()
    button.tap()
    teacher.locator("#list button", has_text="larger").click()
    insist(teacher, "Show the answer to all")
    box(page, 1).get_by_text("You said no. It is yes. Try a = 1.").wait_for()
    # the page has no reason, and the value has been said
    assert box(page, 1).locator(".nv-shown").inner_text() == ""


NO_NUMBERS = [
    "about 60",
    "<b>",
    "--3",
    "3 4",
    "1e",
    "3/",
    "1/0",
    ".",
    "1,2,3",
    "1.234.5",
]


@pytest.mark.long
def test_what_is_no_number_is_said_and_asked_for_again(student):
    page = student()
    lock(page, "")
    assert "Type a number first. Any guess will do." in box(page).inner_text()
    for typed in ("about 60", "<b>", "--3"):
        lock(page, typed)
        said = f"“{typed}” is not a number alone. Type one, such as 7, −2, 0.5 or 3/4."
        assert said in box(page).inner_text()
    lock(page, "1,234")
    said = "“1,234” may be 1234 or 1.234. Type the one that you mean."
    assert said in box(page).inner_text()
    assert box(page).get_by_role("button").is_enabled()


@pytest.mark.long
def test_a_number_is_read_as_it_is_typed(student, teacher):
    lock(student(), "–3/4")
    teacher.get_by_role("rowheader", name="−0.75", exact=True).wait_for()


@pytest.mark.long
def test_a_guess_stays_after_a_reload_and_a_second_page_is_the_same_student(
    student, teacher
):
    page = student()
    lock(page, "64")
    box(page).get_by_text("Locked in: the answer").wait_for()
    page.reload()
    box(page).get_by_text("You said 64. Locked in").wait_for()
    second = page.context.new_page()
    second.goto(page.url)
    box(second).get_by_text("You said 64. Locked in").wait_for()
    teacher.get_by_text("1 of 1 have answered").wait_for()


@pytest.mark.long
def test_a_page_without_the_network_says_so_and_sends_later(student, teacher):
    page = student()
    box(page).get_by_label("My guess").wait_for()
    page.context.set_offline(True)
    lock(page, "64")
    box(page).get_by_text("Not sent yet. Trying again").wait_for()
    page.context.set_offline(False)
    teacher.get_by_text("1 of 1 have answered").wait_for()
    box(page).get_by_text("Locked in: the answer").wait_for()


@pytest.mark.long
def test_a_class_that_starts_again_gets_the_guesses_that_are_on_the_pages(
    new_page, site
):
    with held(site) as room:
        port = room.students.rpartition(":")[2]
        page = new_page(**PHONE)
        page.set_default_timeout(20_000)
        page.goto(f"http://{room.students}/{PAGE}.html")
        lock(page, "64")
        box(page).get_by_text("Locked in: the answer").wait_for()
    page.get_by_text("Looking for the class").wait_for()
    with held(site, "--port", port) as room:
        desk = new_page(**DESK)
        desk.goto(f"http://{room.teacher}/?t={room.token}")
        desk.locator("#list button", has_text="dimensions").click()
        desk.get_by_text("1 of 1 have answered").wait_for(timeout=20_000)


@pytest.mark.long
def test_hands_are_counted_beside_a_bar_and_for_a_new_guess(student, teacher):
    lock(student(), "64")
    teacher.get_by_role("button", name="+1 hand for 64").click()
    teacher.get_by_text("2 of 2 have answered").wait_for()
    teacher.get_by_label("A hand for").fill("−1")
    press(teacher, "Count it")
    teacher.get_by_text("3 of 3 have answered").wait_for()
    fewer = teacher.get_by_role("button", name="−1 hand for −1")
    fewer.click()
    teacher.get_by_text("2 of 2 have answered").wait_for()
    # a guess of a telephone is no hand
    fewer = teacher.get_by_role("button", name="−1 hand for 64")
    fewer.click()
    teacher.get_by_text("1 of 1 have answered").wait_for()
    assert fewer.is_disabled()


@pytest.mark.long
def test_a_row_stays_under_the_pointer_that_counts_hands(teacher):
    for guess in ("64", "64", "38"):
        teacher.get_by_label("A hand for").fill(guess)
        press(teacher, "Count it")
        teacher.get_by_role("rowheader", name=guess, exact=True).wait_for()
    rows = teacher.get_by_role("rowheader")
    assert rows.all_text_contents() == ["64", "38"]
    more = teacher.get_by_role("button", name="+1 hand for 38")
    for count in (2, 3):
        more.click()
        teacher.locator("tr", has_text="38").locator(
            ".count", has_text=str(count)
        ).wait_for()
    assert rows.all_text_contents() == ["64", "38"]
    assert more.evaluate(HAS_FOCUS)
    teacher.locator("h1").click()
    teacher.get_by_label("A hand for").fill("9")
    press(teacher, "Count it")
    teacher.get_by_role("rowheader", name="9", exact=True).wait_for()
    assert rows.all_text_contents() == ["38", "64", "9"]


@pytest.mark.long
def test_what_cannot_be_taken_back_is_asked_for_twice(student, teacher):
    page = student()
    lock(page, "64")
    teacher.get_by_text("1 of 1 have answered").wait_for()
    show = teacher.get_by_role("button", name="Show the answer to all")
    before = show.bounding_box()
    show.dblclick()  # is one press
    again = teacher.get_by_role("button", name="Press again to show it")
    again.wait_for()
    assert again.bounding_box() == before  # nothing moves
    other = student()
    other.get_by_label("My guess").wait_for()
    teacher.get_by_text("1 of 2 have answered").wait_for()  # it is drawn anew
    assert again.is_visible()
    show.wait_for()  # and the question goes
    show.focus()
    teacher.keyboard.press("Enter")
    again.wait_for()
    teacher.wait_for_timeout(NO_DOUBLE_CLICK)
    assert "It is 38" not in box(page).inner_text()
    teacher.keyboard.press("Enter")
    box(page).get_by_text("It is 38").first.wait_for()


@pytest.mark.long
def test_hands_end_with_the_answer_and_it_is_said(teacher):
    teacher.get_by_label("A hand for").fill("64")
    press(teacher, "Count it")
    insist(teacher, "Show the answer to all")
    teacher.get_by_text("The answer is out: hands are counted before it.").wait_for()
    for name in ("Count it", "+1 hand for 64", "−1 hand for 64"):
        assert teacher.get_by_role("button", name=name).is_disabled()


@pytest.mark.long
def test_answers_that_wait_no_longer_are_asked_for_twice(student, teacher):
    page = student()
    lock(page, "64")
    box(page).get_by_text("Locked in: the answer").wait_for()
    teacher.get_by_label("Answers wait for me").click()
    again = teacher.get_by_label("Press again: who has guessed sees the answer at once")
    again.wait_for()
    assert again.is_checked()
    teacher.wait_for_timeout(NO_DOUBLE_CLICK)
    assert "It is 38" not in box(page).inner_text()
    again.click()
    box(page).get_by_text("It is 38").first.wait_for()
    teacher.locator("#held:not(:checked)").wait_for()
    assert teacher.get_by_label("Answers wait for me").is_visible()


@pytest.mark.long
def test_a_full_class_is_said_at_the_top_with_what_to_do(new_page, site):
    for words, advice in (
        (
            ("--per-address", "1"),
            "all 1 seats at one address are taken. .*--per-address 200",
        ),
        (("--most", "1"), "all 1 seats of the class are taken. .*--most 2"),
    ):
        with held(site, *words) as room:
            desk = new_page(**DESK)
            desk.goto(f"http://{room.teacher}/?t={room.token}")
            desk.get_by_text("0 here, 0 came").wait_for()
            assert Visitor(room.students).lock(1).status == 200
            assert Visitor(room.students).get("/class/state").status == 429
            told = desk.locator("#full", has_text=re.compile(advice))
            told.wait_for(timeout=SOON)
            assert told.bounding_box()["y"] < 100
            width = "document.documentElement.scrollWidth"
            assert desk.evaluate(width) == DESK["viewport"]["width"]
            press(desk, "I have seen it")
            told.wait_for(state="detached")
            assert desk.locator("#full").inner_text() == ""
            assert Visitor(room.students).get("/class/state").status == 429
            told.wait_for()  # somebody else


@pytest.mark.long
def test_what_is_typed_outlasts_what_the_class_sends(student, teacher):
    teacher.get_by_label("A hand for").fill("12")
    lock(student(), "64")
    teacher.get_by_text("1 of 1 have answered").wait_for()
    assert teacher.get_by_label("A hand for").input_value() == "12"


@pytest.mark.long
def test_a_choice_that_is_set_outlasts_what_the_class_sends(room, teacher):
    desk = teacher_of(room)
    desk.ask("POST", "/", {"choose": CHOICE})
    field = teacher.locator("select#hand")
    field.wait_for()
    first, second = field.locator("option").all_inner_texts()
    field.select_option(second)
    assert Visitor(room.students).lock(first, CHOICE).status == 200
    teacher.get_by_text("1 of 1 have answered").wait_for()
    assert field.input_value() == second
    press(teacher, "Count it")
    teacher.get_by_role("button", name=f"−1 hand for {second}").wait_for()


@pytest.mark.long
def test_the_end_shows_all_answers_and_is_said(student, teacher):
    page = student()
    box(page).get_by_label("My guess").wait_for()
    teacher.on("dialog", lambda dialog: dialog.accept())
    press(teacher, "End the class")
    page.get_by_text("The class is over.").wait_for()
    box(page).get_by_text("The answer is 38.").wait_for()
    teacher.get_by_text("The class has ended. Its counts are gone.").wait_for()
    teacher.wall.get_by_text(re.compile("class (is over|has ended)")).wait_for()


@pytest.mark.long
def test_the_teacher_is_told_for_whom_an_ended_class_waits(new_page, site):
    with held(site, "--linger", "60") as room:
        desk = new_page(**DESK)
        desk.set_default_timeout(SOON)
        desk.goto(f"http://{room.teacher}/?t={room.token}")
        desk.locator("#list button").first.click()
        desk.get_by_label("A hand for").wait_for()
        Visitor(room.students).lock(64)  # and sleeps
        desk.get_by_text("1 of 1 have answered").wait_for()
        desk.on("dialog", lambda dialog: dialog.accept())
        press(desk, "End the class")
        said = re.compile(
            r"The class has ended; 1 came. 1 telephone has not heard it: it has \d+ s"
        )
        desk.get_by_text(said).wait_for()
        assert desk.locator(":is(button, input, select):enabled").count() == 0
        assert desk.get_by_text("1 of 1 have answered").is_visible()


@pytest.mark.long
def test_what_goes_wrong_is_said_in_sight(teacher):
    for guess in range(24):
        teacher.evaluate(
            "(guess) => fetch('/', {method: 'POST', body: JSON.stringify(guess),"
            " headers: {'Content-Type': 'application/json'}})",
            {"hands": NUMBER, "guess": guess, "by": 1},
        )
    teacher.get_by_text("24 of 24 have answered").wait_for()
    teacher.get_by_label("A hand for").fill("many")
    press(teacher, "Count it")
    said = teacher.locator("#says", has_text="is not a number alone")
    said.wait_for()
    assert teacher.evaluate("scrollY") > 100
    assert 0 <= said.bounding_box()["y"] < 100


HEAR_TOPIC = (
    "document.addEventListener('nv-answered', (one) => { window.topic = one.detail })"
)
ASLEEP = 20_000  # milliseconds
FOR_LONG = 200_000
AWAKE = 20_000


@pytest.mark.long
@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="Windows stops no process")
def test_all_say_that_a_class_stands_still(student, teacher, room):
    page = student()
    box(page).get_by_label("My guess").wait_for()
    teacher.get_by_text("1 here, 1 came").wait_for()
    for one in (page, teacher, teacher.wall):
        one.clock.install()
        one.reload()
    box(page).get_by_label("My guess").wait_for()
    teacher.get_by_text("1 here, 1 came").wait_for()
    teacher.wall.get_by_text("1 here").wait_for()
    os.kill(room.process.pid, signal.SIGSTOP)
    try:
        for one, words in (
            (page, "Looking for the class …"),
            (teacher, "The class does not answer. Trying again …"),
            (teacher.wall, "The class does not answer."),
        ):
            one.clock.fast_forward(ASLEEP)
            one.get_by_text(words).wait_for()
    finally:
        os.kill(room.process.pid, signal.SIGCONT)


@pytest.mark.long
def test_who_has_missed_the_end_is_told_and_the_panels_open(new_page, site):
    with held(site) as room:
        page = new_page(**PHONE)
        page.set_default_timeout(SOON)
        page.clock.install()
        page.goto(f"http://{room.students}/{PAGE}.html")
        box(page).get_by_label("My guess").wait_for()
        page.evaluate(HEAR_TOPIC)
    page.clock.run_for(3000)
    page.get_by_text("Looking for the class").wait_for()
    assert page.evaluate("window.topic") is None
    page.clock.fast_forward(FOR_LONG)  # as after a sleep: it looks anew
    page.wait_for_timeout(500)
    assert page.get_by_text("Looking for the class").is_visible()
    assert page.evaluate("window.topic") is None
    for _ in range(FOR_LONG // AWAKE):
        page.clock.fast_forward(AWAKE)
        page.wait_for_timeout(100)
    page.get_by_text("The class may be over. This page stays").wait_for()
    assert page.evaluate("window.topic") == "dimensions"


GROWING = """<style>
  html { scroll-behavior: smooth } body { padding-bottom: 1500px }
  .tall { height: 3000px } .small { height: 60px }
</style>
<div class=tall></div><div class=small></div><div class=small></div>
<script>
  const grow = new IntersectionObserver((seen) => {
    for (const { target, isIntersecting } of seen)
      if (isIntersecting) setTimeout(() => (target.style.height = "700px"), 400);
  }, { rootMargin: "600px" });
  for (const one of document.querySelectorAll(".small")) grow.observe(one);
</script>"""


@pytest.mark.long
def test_the_way_to_a_question_ends_at_it_though_panels_above_it_grow(
    new_page, tmp_path
):
    folder = make_site(tmp_path)
    asks = folder / PAGES / f"{PAGE}.html"
    text = asks.read_text(encoding="utf-8")
    asks.write_text(text.replace("<body>", f"<body>{GROWING}", 1), encoding="utf-8")
    top = "document.querySelector('.nv-class').getBoundingClientRect().top"
    # above it stands what it is about
    place = 0.45 * PHONE["viewport"]["height"]
    small = "[...document.querySelectorAll('.small')]"
    have_grown = f"{small}.every((one) => one.offsetHeight > 600)"
    is_there = f"{have_grown} && Math.abs({top} - {place}) < 20"
    with held(folder) as room:
        teacher_of(room).ask("POST", "/", {"choose": NUMBER})
        page = new_page(**PHONE)
        page.set_default_timeout(SOON)
        page.goto(f"http://{room.students}/{PAGE}.html")
        page.get_by_role("link", name="How many dimensions?").tap()
        page.wait_for_function(is_there)
        # who scrolls by hand stays there
        page.mouse.wheel(0, -500)
        page.wait_for_function(f"{top} > {place} + 400")
        page.evaluate("document.querySelector('.tall').style.height = '3100px'")
        page.wait_for_timeout(200)
        assert page.evaluate(top) > place + 400

        page.goto(f"http://{room.students}/")
        page.get_by_role("link", name="How many dimensions?").tap()
        page.wait_for_url(f"**#ask-{NUMBER}")
        page.wait_for_function(is_there)


@pytest.mark.long
def test_a_topic_is_open_once_its_answer_is(student, teacher):
    page = student()
    page.evaluate(HEAR_TOPIC)
    lock(page, "64")
    box(page).get_by_text("Locked in: the answer").wait_for()
    assert page.evaluate("window.topic") is None
    insist(teacher, "Show the answer to all")
    box(page).get_by_text("It is 38").first.wait_for()
    assert page.evaluate("window.topic") == "dimensions"


RUN_ALL = """async (off) => {
  const rules = Object.fromEntries(off.map((name) => [name, {enabled: false}]));
  const {violations} = await axe.run(document, {rules});
  return violations.map(({id, nodes}) => `${id}: ${nodes[0].html.slice(0, 150)}`);
}"""


def complaints(page, off=()):
    need_node()
    page.evaluate(AXE.read_text(encoding="utf-8"))
    return page.evaluate(RUN_ALL, [*off])


@pytest.mark.long
def test_axe_finds_nothing_in_any_of_the_pages(student, teacher):
    page = student()
    lock(page, "64")
    box(page).get_by_text("Locked in: the answer").wait_for()
    assert complaints(page, OF_A_PAGE) == []  # a page of the site has more around it
    press(teacher, "Show the guesses")
    teacher.wall.locator(".bars").wait_for()
    assert complaints(teacher) == []
    assert complaints(teacher.wall) == []


def test_a_finger_finds_every_control_of_a_box(student):
    page = student()
    box(page).get_by_label("My guess").wait_for()
    for one in page.locator(".nv-class :is(button, label:has([type=radio]))").all():
        assert one.bounding_box()["height"] > FINGER - 0.5
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= PHONE["viewport"]["width"]


@pytest.mark.long
def test_a_box_is_used_by_keyboard_alone(student, teacher):
    page = student()
    box(page).get_by_label("My guess").wait_for()
    page.keyboard.press("Tab")
    page.keyboard.type("38")
    page.keyboard.press("Enter")
    teacher.get_by_text("1 of 1 have answered").wait_for()
    assert NUMBER in box(page).get_attribute("data-question")
    # the focus is where it was, though nothing can be pressed any more
    locked = box(page).get_by_role("button", name="Locked in")
    locked.wait_for()
    assert locked.is_disabled() and locked.evaluate(HAS_FOCUS)
    page.keyboard.press("Enter")
    assert box(page).get_by_label("My guess").is_disabled()
    page.keyboard.press("Tab")
    assert box(page, 1).get_by_role("radio").first.evaluate(HAS_FOCUS)


@pytest.mark.long
def test_the_keyboard_goes_on_from_what_can_no_longer_be_pressed(teacher):
    teacher.get_by_label("A hand for").fill("64")
    teacher.keyboard.press("Tab")
    teacher.keyboard.press("Enter")
    teacher.get_by_role("rowheader", name="64", exact=True).wait_for()
    count = teacher.get_by_role("button", name="Count it")
    assert count.evaluate(HAS_FOCUS)
    show = teacher.get_by_role("button", name="Show the answer to all")
    show.focus()
    teacher.keyboard.press("Enter")
    teacher.get_by_role("button", name="Press again to show it").wait_for()
    teacher.wait_for_timeout(NO_DOUBLE_CLICK)
    teacher.keyboard.press("Enter")
    teacher.get_by_role("button", name="The answer is shown").wait_for()
    assert teacher.locator("#question").evaluate(HAS_FOCUS)


MEGABIT = 10**6 / 8
SPEED = 20 * MEGABIT  # bytes a second: a room's Wi-Fi, or a hotspot
CROWD = 30


def fetched(host, name):
    """The bytes of an answer, packed, with its headers."""
    head = f"GET {name} HTTP/1.1\r\nHost: {host}\r\nAccept-Encoding: gzip\r\n"
    return len(raw(host, f"{head}Connection: close\r\n\r\n"))


@pytest.mark.full
def test_a_room_of_thirty_has_joined_and_answered_within_a_minute(new_page, built):  # noqa: F811
    """Three telephones that load the page, and thirty clients that fetch what these
    have fetched: their time, and the time of the bytes at 20 Mbit/s."""
    with held(built, "--per-address", "100") as room:
        desk = new_page(**DESK)
        desk.goto(f"http://{room.teacher}/?t={room.token}")
        began = time.monotonic()
        asked = []
        phones = []
        for _ in range(3):
            page = new_page(**PHONE)
            page.on("request", lambda one: asked.append(one.url))
            page.goto(f"http://{room.students}/notebooks/00_start.html")
            lock(page, "64")
            phones.append(page)
        here = f"http://{room.students}"
        assert all(url.startswith((here, "data:", "blob:")) for url in asked)
        names = sorted(
            {url.removeprefix(here) for url in asked if "/class/s" not in url}
        )
        files = [name for name in names if name.startswith("/")]

        def join(_):
            visitor = Visitor(room.students)
            weight = sum(fetched(room.students, name) for name in files)
            visitor.get("/class/state?page=notebooks/00_start")
            assert visitor.lock(40, "00_start-1").status == 200
            return weight

        with ThreadPoolExecutor(CROWD) as pool:
            weights = list(pool.map(join, range(CROWD)))
        total = CROWD + len(phones)
        desk.locator("#list button").first.click()
        desk.get_by_text(f"{total} of {total} have answered").wait_for(timeout=5000)
        took = time.monotonic() - began
        on_the_way = total * max(weights) / SPEED
        print(f"{max(weights) / 1000:.0f} kB each, {took:.1f} s + {on_the_way:.1f} s")
        assert took + on_the_way < 60
        began = time.monotonic()
        insist(desk, "Show the answer to all")
        for page in phones:
            box(page).get_by_text("You said 64. It is 38.").wait_for(timeout=3000)
        assert time.monotonic() - began < 3
