"""A question of a page that stands alone takes a guess, and then opens its answer."""

import shutil

import pytest
from one_panel import HEAD

from neuroviz.lessons import teaching
from tools.book import capture, pages, site

pytestmark = pytest.mark.browser

NUMBER = {"wrong": {40: "A factor can move.", -2: "It is a count."}}
CHOICE = {"choices": {"yes": "Indeed.", "no": "Try a = 1."}, "asks": "a topic"}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Where a page with two questions is: 38, and yes."""
    folder = tmp_path_factory.mktemp("asking")
    folds = [
        pages.question(
            "x-1", capture.texts(teaching.predict("How many?", 38, **NUMBER))
        ),
        pages.question("x-2", capture.texts(teaching.predict("So?", "yes", **CHOICE))),
    ]
    # MyST makes paragraphs of what stands between empty lines
    inside = "".join(folds).replace("**", "")
    site._files(folder, [], {}, "../pyodide/")
    shutil.copytree(site.STATIC, folder / "_static", dirs_exist_ok=True)
    path = folder / "index.html"
    script = '<script src="_static/book.js"></script>'
    path.write_text(f"{HEAD}<body><article>{inside}</article>{script}", "utf-8")
    return path


@pytest.fixture
def asking(place, new_page):
    """That page."""
    page = new_page(viewport={"width": 390, "height": 844})
    page.goto(place.as_uri())
    return page


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("38", "You said 38. Right."),
        ("38.0", "You said 38. Right."),
        ("40", "You said 40. It is 38. A factor can move."),
        ("-2", "You said −2. It is 38. It is a count."),
        ("1/2", "You said 0.5. It is 38."),
    ],
)
def test_a_number_is_judged_and_its_answer_opens(asking, typed, said):
    box = asking.locator(".nv-class").first
    fold = box.locator("details")
    assert "How many?" in box.inner_text() and "38" not in box.inner_text()
    assert fold.get_attribute("open") is None
    box.locator("input").fill(typed)
    box.get_by_role("button").click()
    assert box.get_by_role("status").inner_text() == said
    assert fold.get_attribute("open") is not None and "38" in fold.inner_text()
    assert box.locator("input").is_disabled()


def test_what_is_no_number_is_asked_for_again(asking):
    box = asking.locator(".nv-class").first
    box.locator("input").fill("many")
    box.get_by_role("button").click()
    assert "is not a number alone" in box.get_by_role("status").inner_text()
    assert box.locator("details").get_attribute("open") is None


def test_a_choice_has_its_remark_and_tells_the_panels_of_its_topic(asking):
    asking.evaluate(
        "document.querySelector('[data-asks]').addEventListener('toggle', () => {"
        " window.opened = true; })"
    )
    box = asking.locator(".nv-class").nth(1)
    box.get_by_label("no").check()
    box.get_by_role("button").click()
    assert box.get_by_role("status").inner_text() == (
        "You said no. It is yes. Try a = 1."
    )
    asking.wait_for_function("window.opened")


def test_the_answer_can_be_had_without_a_guess_and_ends_the_question(asking):
    box = asking.locator(".nv-class").first
    box.get_by_text("Show the answer").click()
    asking.wait_for_function(
        "document.querySelector('.nv-told').textContent === 'The answer is 38.'"
    )
    assert not box.locator("form").is_visible()


def test_a_page_without_scripts_has_its_fold(place):
    text = place.read_text("utf-8")
    assert text.index("<summary>") < text.index("How many?") < text.index("</summary>")
