"""An answer is shown as good only beside the values of the controls that it is of.

`test_browser.py` tries the same in JupyterLab.
"""

from pathlib import Path

import pytest
from panels import PATIENCE, answers

from neuroviz.explorables import LedgerExplorer
from neuroviz.kit import theme
from neuroviz.kit.page import script
from neuroviz.kit.status import values_of
from neuroviz.lessons.teaching import predict

HERE = Path(__file__).parent
PAGE = f"""{theme.css()}<div class="nv">
  <div id="line"></div>
  <button class="jupyter-button">preset</button>
  <span class="nv-copy"><button class="jupyter-button">Copy</button></span>
  <div id="slider"><div class="noUi-target"><div class="noUi-handle"></div></div></div>
  <div id="box"><input type="text"></div>
  <div class="widget-html">
    <div class="nv-title">panel
      <span class="of-badge" data-setting='OF'>
        <span class="nv-badge">exact</span>
      </span>
    </div>
  </div>
  <div class="nv-figure"><div class="of-figure" data-setting='OF'>…</div></div>
  <div class="widget-html">
    <div class="nv-description of-description" data-setting='OF'>…</div>
  </div>
</div>""".replace("OF", '{"number": 2, "kind": "plain", "word": ""}')
ALL = ["figure", "badge", "description"]


@pytest.fixture
def page(bare_page):
    """A panel in a page, answered for number = 2; the tests are Python."""
    bare_page.set_content(PAGE)
    bare_page.add_script_tag(path=HERE / "status.js")
    bare_page.evaluate("source => begin(source, 'done in 3 ms')", script("status.js"))
    return bare_page


def seen(page) -> tuple[str, list[str]]:
    """What the status line says, and what is dimmed."""
    return page.evaluate("line().textContent"), page.evaluate("dimmed()")


def dims(page, pieces: list[str]) -> None:
    page.wait_for_function("pieces => String(dimmed()) === String(pieces)", arg=pieces)


# In Python


def test_during_work_each_piece_is_of_the_last_answer_and_the_status_of_the_request():
    panel = LedgerExplorer(state="layers=1;width=2")
    before = values_of(panel.controls)
    panel.state = "layers=6;width=8"
    assert panel.status.startswith("working")
    now = values_of(panel.controls)
    assert answers(panel) == {
        "badges": before,
        "description": before,
        "figure": before,
        "status": now,
    }
    assert panel.wait(PATIENCE)
    assert answers(panel) == dict.fromkeys(
        ("badges", "description", "figure", "status"), now
    )
    panel.state = "layers=6;width=8;seed=1"
    panel.cancel()
    assert (
        answers(panel)["figure"] == now
        and answers(panel)["status"] == values_of(panel.controls) != now
    )
    panel.close()


def test_a_panel_that_opens_with_a_slow_state_shows_the_picture_of_another_as_such():
    panel = LedgerExplorer(state="layers=6;width=8")
    assert (
        answers(panel)["figure"]
        != answers(panel)["status"]
        == values_of(panel.controls)
    )
    panel.close()


def test_what_is_told_of_a_guess_is_of_that_guess():
    question = predict("How many?", 3)
    question._button.click()
    told = question._outcome.value
    assert "Type a number" in told and "&quot;guess&quot;: &quot;&quot;" in told
    question._entry.value = "5"
    assert question._status.said == {"text": "", "kind": "done", "of": {"guess": "5"}}
    question._button.click()
    told = question._outcome.value
    assert "2 too many" in told and "&quot;guess&quot;: &quot;5&quot;" in told


# In a page


def test_a_picture_that_cannot_be_drawn_is_no_answer_that_is_done(page):
    assert seen(page)[0] == "done in 3 ms"
    figure = "document.querySelector('.of-figure')"
    page.evaluate(f"{figure}.innerHTML = '<p class=nv-failed>…</p>'")
    page.wait_for_function("line().textContent === '▨ the picture cannot be drawn'")
    page.evaluate(f"{figure}.innerHTML = '…'")
    page.wait_for_function("line().textContent === 'done in 3 ms'")


@pytest.mark.parametrize(
    "moved", [("number", "value", 3), ("kind", "index", 1), ("word", "value", "a")]
)
def test_what_is_of_other_values_is_dimmed_and_python_is_waited_for(page, moved):
    assert seen(page) == ("done in 3 ms", [])
    page.evaluate("([name, key, value]) => controls[name].set(key, value)", moved)
    if moved[0] == "word":
        page.evaluate("document.querySelector('#box input').value = 'a'")
    dims(page, ALL)
    assert seen(page)[0] == "waiting for Python"
    assert page.evaluate("line().className") == "nv-status nv-busy nv-waiting"
    back = {"number": 2, "kind": 0, "word": ""}[moved[0]]
    page.evaluate(
        "([name, key, value]) => controls[name].set(key, value)", [*moved[:2], back]
    )
    if moved[0] == "word":
        page.evaluate("document.querySelector('#box input').value = ''")
    dims(page, [])  # back where the answer is of
    assert seen(page)[0] == "done in 3 ms"


def test_each_piece_is_dimmed_by_its_own_values_and_a_message_on_new_ones_is_shown(
    page,
):
    page.evaluate("controls.number.set('value', 3)")
    dims(page, ALL)
    page.evaluate(
        "python({number: 3, kind: 'plain', word: ''}, '<b>no</b>', 'error', ['figure'])"
    )
    dims(page, ["badge", "description"])
    # text, no HTML
    assert seen(page)[0] == "▨ <b>no</b>" and page.evaluate("line().role") == "alert"
    page.evaluate("python({number: 3, kind: 'plain', word: ''}, 'done')")
    dims(page, [])
    assert page.evaluate("line().role") == "status"


@pytest.mark.long
def test_a_picture_that_follows_a_drag_closely_is_not_dimmed_and_one_that_stops_is(
    page,
):
    worst = page.evaluate("""async () => {
      let worst = 0;
      for (let at = 3; at < 60; at++) {
        controls.number.set("value", at);
        const of = { number: at, kind: "plain", word: "" };
        setTimeout(() => python(of, "done"), 40);
        await new Promise((resolve) => setTimeout(resolve, 16));
        worst = Math.max(worst, dimmed().length);
      }
      return worst;
    }""")
    assert worst == 0
    page.evaluate("for (let at = 60; at < 70; at++) controls.number.set('value', at)")
    dims(page, ALL)


def test_numbers_that_differ_by_rounding_dust_are_the_same(page):
    page.evaluate("controls.number.set('value', 0.1 + 0.2)")
    page.evaluate("python({number: 0.3, kind: 'plain', word: ''}, 'done')")
    page.wait_for_timeout(400)
    assert seen(page) == ("done", [])


def test_the_picture_is_not_of_a_held_slider_that_tells_python_later(
    page,
):
    page.evaluate(
        "heldAt = 5;"
        " document.querySelector('.noUi-handle').classList.add('noUi-active')"
    )
    dims(page, ALL)
    assert seen(page)[0] == "let go of the slider: Python answers then"
    page.evaluate(
        "document.querySelector('.noUi-handle').classList.remove('noUi-active')"
    )
    dims(page, [])


def test_a_text_that_is_not_entered_yet_is_not_what_the_picture_is_of(page):
    page.evaluate("document.querySelector('#box input').value = 'new'")
    dims(page, ALL)
    assert seen(page)[0] == "press Enter: Python answers then"


def test_a_button_that_python_does_not_hear_waits_and_one_that_it_hears_does_not(page):
    page.locator("button", has_text="Copy").click()
    page.wait_for_timeout(400)
    assert seen(page)[0] == "done in 3 ms" and page.evaluate("statusLine.sent") == []
    page.locator("button", has_text="preset").click()
    page.wait_for_function("line().textContent === 'waiting for Python'")
    assert seen(page)[1] == []  # the controls have not moved: what is shown is of them
    page.evaluate("statusLine.tell('msg:custom', statusLine.sent[0])")
    page.wait_for_function("line().textContent === 'done in 3 ms'")


@pytest.mark.long
def test_a_kernel_that_was_restarted_elsewhere_is_told_from_one_that_is_busy(page):
    page.evaluate("kernel.isBusy = true; controls.number.set('value', 3)")
    dims(page, ALL)
    page.wait_for_timeout(3500)
    assert seen(page) == ("waiting for Python", ALL)
    page.evaluate("python({number: 3, kind: 'plain', word: ''}, 'done')")
    dims(page, [])
    page.evaluate(
        "kernel.isBusy = false; kernel.comms = {}; controls.number.set('value', 4)"
    )
    page.wait_for_function("line().textContent.includes('this kernel was restarted')")
    assert page.evaluate("line().role") == "alert" and seen(page)[1] == ALL


def test_a_lost_connection_is_said_and_forgotten_and_an_ended_kernel_is_not(page):
    page.evaluate("kernel.connectionStatusChanged.emit('connecting')")
    assert "this page has lost its kernel" in seen(page)[0]
    page.evaluate("kernel.connectionStatusChanged.emit('connected')")
    assert seen(page) == ("done in 3 ms", [])
    page.evaluate("kernel.statusChanged.emit('restarting')")
    page.evaluate("kernel.connectionStatusChanged.emit('connected')")
    assert "this kernel has ended" in seen(page)[0] and seen(page)[1] == []
    page.evaluate("controls.number.set('value', 3)")
    dims(page, ALL)
