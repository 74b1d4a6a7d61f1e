"""The shell of every panel, with a toy inside; the figure in front."""

import asyncio
import gc
import gzip
import json
import os
import signal
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import all_explorables as explorables
import ipywidgets as widgets
import pytest
from ipywidgets.widgets.widget import _instances
from jupyter_client.manager import start_new_kernel
from panels import PATIENCE, eventually, is_alive, plain, walk
from plotly.offline import get_plotlyjs_version

from neuroviz.kit import theme
from neuroviz.kit.controls import is_shown
from neuroviz.kit.page import SAVED, Chart, CopyButtons, bundle, painters
from neuroviz.kit.panel import Panel
from neuroviz.kit.picture import Picture
from neuroviz.kit.plot import Parts
from neuroviz.kit.presets import presets
from neuroviz.kit.status import Status
from neuroviz.single_layer.panel import FiberExplorer
from neuroviz.singular.surface_panel import SurfaceExplorer

ROOT = Path(__file__).parent.parent
# values of "number" from which the toy does this
SLOW = 10
FAILS = 20
DIES = 30
HANGS = 40

BAD_STATES = [
    ("number=999", "number goes from 0 to 50; got 999"),
    ("number=-1", "number goes from 0 to 50; got -1"),
    ("number=2.5", "number is a number from 0 to 50; got '2.5'"),
    ("number=", "number is a number"),
    ("number=two", "got 'two'"),
    ("factor=9", "factor goes from 0.0 to 2.0; got 9"),
    ("factor=nan", "factor goes from 0.0 to 2.0; got nan"),
    ("factor=inf", "factor goes from"),
    ("factor=x", "factor is a number from"),
    ("kind=baroque", "kind is one of plain, fancy; got 'baroque'"),
    ("kind=", "kind is one of"),
    ("flag=maybe", "flag is yes or no; got 'maybe'"),
    ("colour=red", "got 'colour=red'"),
    ("Number=3", "names of number, kind, factor, flag, word"),
    ("number", "a state is name=value"),
    ("=3", "a state is name=value"),
    # what was right in it must not be taken over either
    ("number=3;kind=baroque", "kind is one of"),
    # each alone legal, not together
    ("number=3;word=forbidden", "word may be anything but 'forbidden'"),
]


@dataclass(frozen=True)
class ToyRequest:
    number: int
    factor: float
    kind: str


def answer_toy(request: ToyRequest) -> tuple[float, ...]:
    if request.number >= HANGS:
        time.sleep(PATIENCE)
    if request.number >= DIES:
        os._exit(1)
    if request.number >= FAILS:
        raise ArithmeticError(f"<b>{request.number}</b> & more")
    return tuple(request.factor * request.number * i for i in range(4))


class Toy(Panel):
    """Four multiples of a number; slow from 10 on, and worse beyond."""

    title = "A & B"

    def _make_controls(self):
        first = {
            "number": widgets.IntSlider(value=2, min=0, max=50),
            "kind": widgets.Dropdown(options=["plain", "fancy"], value="plain"),
        }
        more = {
            "factor": widgets.FloatSlider(value=1.0, min=0.0, max=2.0, step=0.05),
            "flag": widgets.Checkbox(value=False),
            "word": widgets.Text(value="", continuous_update=False),
        }
        return first, more

    def _read(self):
        value = {name: control.value for name, control in self.controls.items()}
        if value["word"] == "forbidden":
            raise ValueError("word may be anything but 'forbidden'")
        return ToyRequest(value["number"], value["factor"], value["kind"])

    _answer = staticmethod(answer_toy)

    def _is_slow(self, request):
        # one failure on each side
        return request.number >= SLOW and request.number != FAILS

    @staticmethod
    def draw(answer):
        return Parts([{"y": answer}], {})

    def _describe(self, answer):
        return f"a < b: the last is {answer[-1]:.6g}"


@pytest.fixture
def toy():
    panel = Toy()
    yield panel
    panel.cancel()
    panel.close()


def named(panel, description):
    """The button or box of the shell with this description."""
    return next(
        w for w in walk(panel) if getattr(w, "description", "").startswith(description)
    )


def copy_of(panel):
    """The button beside the state."""
    return next(w for w in walk(panel) if isinstance(w, CopyButtons))


def box_of(panel, widget):
    """The box that a widget stands in."""
    return next(w for w in walk(panel) if widget in getattr(w, "children", ()))


def row_of(panel, name):
    return box_of(panel, panel.controls[name])


def shown(panel):
    """Everything a reader sees, apart from the status line."""
    return (
        panel.state,
        panel.description,
        panel.figure.to_json(),
        [w.value for w in panel.controls.values()],
    )


def status_of(panel):
    """The status line as the page gets it."""
    return next(w for w in walk(panel) if isinstance(w, Status))


def description_of(panel):
    """The line of the description as the page gets it."""
    return next(
        widget.value
        for widget in walk(panel)
        if str(getattr(widget, "value", "")).startswith('<div class="nv-description"')
    )


def kind_of(panel):
    """Whether the status line says done, busy, stale or error."""
    return status_of(panel).said["kind"]


def is_css(widget):
    return str(widget.value).startswith("<style>")


def last(panel):
    return panel.figure.data[0].y[-1]


# The shell


def test_a_panel_is_a_box_with_the_surface_of_all_panels_and_its_controls_move_it(
    toy,
):
    assert isinstance(toy, widgets.VBox) and "nv" in toy._dom_classes
    assert list(toy.controls) == ["number", "kind", "factor", "flag", "word"]
    assert isinstance(toy.figure, Chart) and toy.figure in walk(toy)
    assert toy.status == "done" and toy.description == "a < b: the last is 6"
    assert toy.state == "number=2;kind=plain;factor=1;flag=no;word="
    toy.controls["number"].value = 4
    assert last(toy) == 12 and toy.description == "a < b: the last is 12"
    assert toy.status.startswith("done in ") and toy.status.endswith(" ms")


def test_texts_are_escaped_and_a_screen_reader_is_told_what_changed(toy):
    assert any('aria-live="polite"' in str(getattr(w, "value", "")) for w in walk(toy))
    assert kind_of(toy) == "done"
    seen = " ".join(
        str(w.value) for w in walk(toy) if isinstance(w, widgets.HTML) and not is_css(w)
    )
    assert "a &lt; b" in seen and "A &amp; B" in seen
    assert "a < b" not in seen and "A & B" not in seen
    toy.controls["number"].value = FAILS
    # text, no HTML: see the tests of the status line in a browser
    assert kind_of(toy) == "error"
    assert status_of(toy).said["text"] == f"ArithmeticError: <b>{FAILS}</b> & more"


def test_who_cannot_show_a_panel_shows_its_words(toy):
    shown = toy._repr_mimebundle_()
    assert (
        shown.pop("application/vnd.jupyter.widget-view+json")["model_id"]
        == toy.model_id
    )
    assert shown["text/plain"] == f"{toy.title} {toy.description} {SAVED}"
    assert "A &amp; B" in shown["text/html"] and "a &lt; b" in shown["text/html"]
    assert len(shown) == 2 and SAVED in shown["text/html"]


def test_few_controls_are_visible_and_the_rest_with_reset_state_and_copy_unfolds(
    toy,
):
    more = named(toy, "More")
    row = row_of(toy, "factor")
    assert toy.controls["number"] not in row.children and not is_shown(row)
    more.value = True
    assert is_shown(row) and more.description.startswith("Less")
    more.value = False
    assert not is_shown(row) and more.description.startswith("More")
    tools = named(toy, "⋯")
    row = box_of(toy, named(toy, "Reset"))
    assert not is_shown(row) and {named(toy, "State"), copy_of(toy)} < {*row.children}
    tools.value = True
    assert is_shown(row)


def test_while_work_runs_the_status_dims_what_it_is_about_and_cancel_is_there(toy):
    cancel = named(toy, "Cancel")
    assert not is_shown(cancel) and kind_of(toy) == "done"
    toy.controls["number"].value = HANGS
    assert kind_of(toy) == "busy" and is_shown(cancel)
    cancel.click()
    assert kind_of(toy) == "stale" and not is_shown(cancel)
    # a plain answer that takes long is announced while it is computed
    late = threading.Event()
    status_of(toy).observe(
        lambda change: change["new"]["kind"] == "busy" and late.set(), "said"
    )
    toy._answer = lambda request: late.wait(PATIENCE) and answer_toy(request)
    toy.controls["number"].value = 3
    assert late.is_set() and last(toy) == 9 and kind_of(toy) == "done"


def test_only_hides_the_others_which_keep_their_values_and_stay_in_the_state():
    panel = Toy(only=["number", "flag"], state="factor=0.5")
    assert [n for n, c in panel.controls.items() if is_shown(c)] == [
        "number",
        "flag",
    ]
    # nothing to unfold: what is shown is there
    assert is_shown(row_of(panel, "flag"))
    assert not is_shown(box_of(panel, named(panel, "Reset")))
    assert is_shown(named(panel, "⋯"))
    for large in (True, False):  # "⋯" is the way to large letters
        named(panel, "Lecture").value = large
        assert not is_shown(named(panel, "More"))
    assert "factor=0.5" in panel.state and last(panel) == 3
    assert all(not is_shown(control) for control in Toy(only=[]).controls.values())
    assert is_shown(Toy(only="kind").controls["kind"])
    assert not is_shown(row_of(Toy(only=["kind"]), "flag"))


@pytest.mark.parametrize(
    "only", [["numbr"], ["number", "x"], "numbers", [3], 3, [3, "x"]]
)
def test_only_refuses_what_is_no_control_and_lists_what_is(only):
    with pytest.raises(
        ValueError, match="only= names the controls to show, of number, kind"
    ):
        Toy(only=only)


# The state


@pytest.mark.parametrize(
    "state",
    [
        "number=7;kind=fancy;factor=0.7;flag=yes;word=two words",
        "number=0;kind=plain;factor=0;flag=no;word=",
        "number=9;kind=plain;factor=1.35;flag=yes;word=a=b",
    ],
)
def test_a_state_comes_back_as_it_was_and_brings_the_figure_with_it(toy, state):
    toy.state = state
    assert toy.state == state
    other = Toy(state=state)
    assert (
        shown(other)[:2] == shown(toy)[:2]
        and other.figure.data[0].y == toy.figure.data[0].y
    )


def test_whatever_a_box_holds_its_state_can_be_read_back(toy):
    toy.controls["word"].value = "a;b"
    toy.controls["number"].value = 3
    again = Toy(state=toy.state)
    assert again.controls["number"].value == 3 and again.state == toy.state


def test_a_state_holds_no_rounding_dust_and_may_name_only_a_few_controls(
    toy,
):
    toy.controls["factor"].value = 0.7000000000000004
    assert "factor=0.7;" in toy.state
    toy.controls["factor"].value = 0.5
    toy.state = " number=4 ; kind=fancy ;"
    assert (
        toy.state == "number=4;kind=fancy;factor=0.5;flag=no;word=" and last(toy) == 6
    )


def test_what_the_page_writes_in_its_own_way_asks_for_no_other_answer(toy):
    toy.controls["factor"].value = 0.7
    drawn, said, state = toy.figure.drawn, toy.description, toy.state
    toy.controls["factor"].value = 0.7000000000000004
    assert toy.figure.drawn is drawn
    assert (toy.description, toy.state) == (said, state)
    toy.controls["factor"].value = 0.700001
    assert toy.figure.drawn is not drawn


@pytest.mark.parametrize(("state", "said"), BAD_STATES)
def test_a_bad_state_is_refused_wherever_it_is_given_and_leaves_the_panel_as_it_was(
    toy, state, said
):
    before = shown(toy)
    box = named(toy, "State")
    named(toy, "⋯").value = True
    for give in (
        lambda: setattr(toy, "state", state),
        lambda: toy.complete(state),
        lambda: Toy(state=state),
        lambda: presets(toy, {"near": "number=3", "far": state}),
    ):
        with pytest.raises(ValueError) as refused:
            give()
        assert said in str(refused.value) and shown(toy) == before
    assert "the preset 'far' is no state of Toy" in str(refused.value)
    box.value = state
    assert said in toy.status and kind_of(toy) == "error"
    assert shown(toy) == before
    for good in (before[0], "number=4"):
        box.value = good
        assert toy.status.startswith("done") and kind_of(toy) != "error"
    assert last(toy) == 12 and box.value == toy.state


@pytest.mark.parametrize("state", [None, 5, b"number=3", ["number=3"]])
def test_a_state_that_is_no_text_is_refused_in_words(toy, state):
    with pytest.raises(ValueError, match="state"):
        toy.state = state


def test_a_state_moves_many_controls_and_draws_once(toy, monkeypatch):
    drawn = []
    draw = toy._redraw
    monkeypatch.setattr(
        toy, "_redraw", lambda answer: (drawn.append(answer), draw(answer))
    )
    toy.state = "number=5;factor=0.5;kind=fancy"
    assert len(drawn) == 1


@pytest.mark.parametrize("state", [None, "number=5;factor=0.5", "flag=yes"])
def test_reset_goes_back_to_how_the_panel_was_opened(state):
    panel = Toy(state=state)
    opened = shown(panel)
    panel.state = "number=9;kind=fancy;factor=2;flag=no;word=x"
    panel.reset()
    assert shown(panel) == opened
    panel.controls["number"].value = 1
    named(panel, "Reset").click()
    assert shown(panel) == opened


@pytest.mark.parametrize(
    "state", ["", "number=4", "flag=yes;number=0", "word=two words;factor=0.7"]
)
def test_a_state_is_completed_with_what_the_panel_was_opened_with(state):
    panel = Toy(state="kind=fancy;factor=0.5")
    panel.controls["number"].value = 7
    before = shown(panel)
    whole = panel.complete(state)
    assert shown(panel) == before  # it was only tried
    panel.reset()
    panel.state = state
    assert panel.state == whole and "kind=fancy" in whole
    assert panel.complete(whole) == whole


def test_a_folded_state_follows_once_it_is_unfolded(toy):
    box = named(toy, "State")
    tools = named(toy, "⋯")
    toy.controls["number"].value = 7
    assert box.value == ""
    tools.value = True
    assert box.value == box.placeholder == toy.state
    toy.controls["number"].value = 3
    assert box.value == toy.state and "number=3;" in box.value


def test_a_link_goes_where_the_box_of_the_state_was_before(toy):
    opened = toy.state
    tools = named(toy, "⋯")
    tools.value = True
    tools.value = False
    toy.controls["number"].value = 7
    toy._go_to(opened)
    assert toy.state == opened


def test_the_button_copies_what_it_finds_in_the_page(toy):
    """The class and the box of the state; the browser test presses the button."""
    box = named(toy, "State")
    named(toy, "⋯").value = True
    assert "nv-state" in box._dom_classes
    for state in (
        "number=7;factor=0.7;word=it's",
        'word=say "A & B" \\ é',
        "word=50%25",
    ):
        toy.state = state
        quoted = json.dumps(box.placeholder, ensure_ascii=False)
        copied = f"{copy_of(toy).name}(state={quoted})"
        assert (
            copied.startswith('Toy(state="number=')
            and eval(copied, {"Toy": Toy}).state == toy.state
        )
    toy.controls["number"].value = 3
    assert "number=3;" in box.placeholder == box.value == toy.state
    box.value = "number=many"  # refused: there to be corrected, and not to be copied
    assert kind_of(toy) == "error" and box.placeholder == toy.state != box.value


# Presets


def test_a_preset_is_a_button_with_a_label_that_drives_the_panel(toy):
    row = presets(toy, {"seven": "number=7", "a fancy four": "kind=fancy;number=4"})
    assert "number=2" in toy.state and last(toy) == 6  # building the row moves nothing
    seven, four = row.children
    assert all(isinstance(button, widgets.Button) for button in row.children)
    assert (four.description, four.tooltip) == ("a fancy four", "kind=fancy;number=4")
    four.click()
    assert (
        last(toy) == 12 and "kind=fancy" in toy.state and toy.status.startswith("done")
    )
    toy.controls["factor"].value = 0.5
    seven.click()
    assert toy.state == "number=7;kind=plain;factor=1;flag=no;word=" and last(toy) == 21


def test_presets_of_a_panel_stand_above_its_figure():
    # between two steps of the slider
    panel = Toy(state="factor=0.51", presets={"seven": "number=7"})
    (row,) = [w for w in panel.children if "nv-presets" in w._dom_classes]
    assert panel.figure in panel.children[panel.children.index(row) + 1].children
    row.children[0].click()
    assert panel.state == "number=7;kind=plain;factor=0.5;flag=no;word="
    unnamed = ({name: "number=3"} for name in ("", " ", 3))
    for wrong in ({}, ["number=3"], {"far": "number=99"}, *unnamed):
        with pytest.raises(ValueError, match="preset"):
            Toy(presets=wrong)


def test_the_second_click_on_a_preset_draws_nothing_and_starts_nothing(
    toy, monkeypatch
):
    quick, slow = presets(
        toy, {"quick": "number=7", "slow": f"number={HANGS}"}
    ).children
    quick.click()
    drawn = []
    monkeypatch.setattr(toy, "_redraw", drawn.append)
    quick.click()
    assert not drawn and last(toy) == 21
    slow.click()
    pid = toy._background._child.process.pid
    slow.click()
    assert toy._background.running and toy._background._child.process.pid == pid
    toy.cancel()
    slow.click()  # what was cancelled may be asked for again
    assert toy._background.running


def test_a_preset_leads_out_of_an_error(toy):
    (start,) = presets(toy, {"start": toy.state}).children
    toy.controls["word"].value = "forbidden"
    start.click()
    assert toy.status.startswith("done") and toy.controls["word"].value == ""
    named(toy, "State").value = "number=999"
    assert kind_of(toy) == "error"
    start.click()
    assert toy.status.startswith("done")


# Errors


def test_a_failing_answer_is_shown_and_the_panel_lives_on(toy):
    before = last(toy)
    toy.controls["number"].value = FAILS
    assert toy.status == f"ArithmeticError: <b>{FAILS}</b> & more"
    assert last(toy) == before
    toy.controls["number"].value = 5
    assert toy.status.startswith("done") and last(toy) == 15 and kind_of(toy) != "error"


def test_a_description_says_where_it_is_of_an_earlier_setting(toy, monkeypatch):
    now = toy.description
    earlier = f"Of an earlier setting: {now}"
    toy.controls["number"].value = FAILS  # it fails
    assert toy.description == earlier
    toy.controls["number"].value = HANGS  # it is not there yet
    assert toy.description == earlier
    toy.cancel()
    assert toy.description == earlier
    with pytest.raises(ValueError):
        toy.state = "number=999"
    toy.controls["number"].value = 2
    assert toy.description == now
    with pytest.raises(ValueError):
        toy.state = "number=999"
    assert toy.description == now
    with monkeypatch.context() as broken:
        broken.setattr(toy, "_describe", no_more_processes)
        toy.controls["number"].value = 3
    # the figure is of 3, and the words are not
    assert last(toy) == 9 and toy.description == earlier
    toy.show_words()
    assert toy.description == earlier and "&quot;number&quot;: 2" in description_of(toy)


def test_controls_that_do_not_go_together_are_refused_in_words(toy):
    toy.controls["word"].value = "forbidden"
    assert toy.status == "word may be anything but 'forbidden'" and last(toy) == 6
    toy.controls["number"].value = 5
    assert "forbidden" in toy.status and last(toy) == 6
    toy.controls["word"].value = ""
    assert toy.status.startswith("done") and last(toy) == 15


def no_more_processes(*_, **__):
    raise OSError("no more processes")


def broken_pipe(*_):
    raise BrokenPipeError("broken pipe")


@pytest.mark.parametrize(
    "hook", ["_arrange", "_read", "_is_slow", "draw", "_redraw", "_describe"]
)
def test_what_fails_before_the_work_or_while_drawing_is_shown_and_the_panel_recovers(
    toy, monkeypatch, hook
):
    with monkeypatch.context() as broken:
        broken.setattr(toy, hook, no_more_processes)
        toy.controls["number"].value = 5
        assert toy.status == "OSError: no more processes" and last(toy) == (
            15 if hook == "_describe" else 6
        )
    toy.controls["number"].value = 6
    assert toy.status.startswith("done") and last(toy) == 18


@pytest.mark.parametrize(
    ("where", "fault"),
    [
        ("subprocess.Popen", no_more_processes),
        ("neuroviz.kit.child.Pipe", no_more_processes),
        ("threading.Thread.start", no_more_processes),
        ("neuroviz.kit.request.pickle.dumps", broken_pipe),
    ],
)
def test_slow_work_that_cannot_start_is_reported_and_the_next_can(
    toy, monkeypatch, where, fault
):
    with monkeypatch.context() as broken:
        broken.setattr(where, fault)
        toy.controls["number"].value = 11
        assert any(said in toy.status for said in ("no more processes", "broken pipe"))
        assert kind_of(toy) == "error" and named(toy, "Cancel").disabled
        assert toy.wait(0) and not toy._background.running and last(toy) == 6
        opened = Toy(state="number=11")
        assert kind_of(opened) == "error" and last(opened) == 6
        opened.close()
    toy.controls["number"].value = 12
    assert toy.wait(PATIENCE) and last(toy) == 36 and toy.status.startswith("done")


# Slow requests


@pytest.mark.long
def test_a_slow_request_says_working_at_once_and_is_drawn_when_it_is_done(toy):
    toy.controls["number"].value = 11
    assert toy.status.startswith("working")
    assert last(toy) == 6 and not named(toy, "Cancel").disabled
    assert toy.wait(PATIENCE) and last(toy) == 33 and toy.status.startswith("done in")
    assert named(toy, "Cancel").disabled
    assert not toy._background.cancel()  # nothing left to end

    # What goes wrong over there is shown here.
    toy.controls["number"].value = FAILS + 1
    assert toy.wait(PATIENCE) and last(toy) == 33
    assert toy.status == f"ArithmeticError: <b>{FAILS + 1}</b> & more"
    toy.controls["number"].value = DIES
    assert (
        toy.wait(PATIENCE)
        and "ended before it answered" in toy.status
        and last(toy) == 33
    )
    assert kind_of(toy) == "error" and named(toy, "Cancel").disabled
    toy.controls["number"].value = 12
    assert toy.wait(PATIENCE) and last(toy) == 36 and toy.status.startswith("done")


def test_a_slow_state_opens_on_the_first_picture_and_arrives_later():
    panel = Toy(state="number=11;factor=2")
    assert (
        panel.status.startswith("working")
        and last(panel) == 6
        and "number=11;" in panel.state
    )
    assert (
        panel.wait(PATIENCE) and last(panel) == 66 and panel.status.startswith("done")
    )
    panel.reset()
    assert panel.wait(PATIENCE) and last(panel) == 66 and "number=11;" in panel.state
    panel.close()


def test_cancel_ends_the_work_at_once_and_the_old_figure_stays(toy):
    toy.controls["number"].value = HANGS
    process = toy._background._child.process
    named(toy, "Cancel").click()
    assert toy.wait(0) and process.poll() == -signal.SIGKILL  # and not by itself
    assert (
        toy.status.startswith("cancelled")
        and last(toy) == 6
        and named(toy, "Cancel").disabled
    )
    assert f"number={HANGS}" in toy.state
    toy.cancel()  # with nothing to end, nothing happens
    assert toy.status.startswith("cancelled")
    toy.controls["number"].value = 3
    assert toy.status.startswith("done") and last(toy) == 9


@pytest.mark.parametrize("then", ["number=3", "word=forbidden"])
def test_a_quick_request_or_a_refused_one_ends_a_slow_one(toy, then):
    toy.controls["number"].value = HANGS
    name, value = then.split("=")
    toy.controls[name].value = int(value) if value.isdigit() else value
    assert not toy._background.running and named(toy, "Cancel").disabled
    assert toy.wait(0) and last(toy) == (9 if name == "number" else 6)


def test_a_newer_request_discards_the_older_one(toy):
    for number in (HANGS, 11, 12, HANGS + 1, 13):
        toy.controls["number"].value = number
    assert toy.wait(PATIENCE) and last(toy) == 39
    time.sleep(0.2)
    assert last(toy) == 39 and toy.status.startswith("done")


@pytest.mark.long
def test_results_come_on_the_thread_of_the_event_loop(toy, monkeypatch):
    threads = []
    draw = toy._redraw
    monkeypatch.setattr(
        toy,
        "_redraw",
        lambda answer: (threads.append(threading.get_ident()), draw(answer)),
    )

    async def a_notebook():
        toy.controls["number"].value = 11
        beats = 0
        while toy._background.running and beats < 100 * PATIENCE:
            await asyncio.sleep(0.01)
            beats += 1
        assert last(toy) == 33 and beats > 3  # the loop was free all the while
        return threading.get_ident()

    assert asyncio.run(a_notebook()) == threads[0] and len(threads) == 1


def test_on_a_loop_a_result_that_is_already_queued_does_not_overwrite_a_newer_one(toy):
    async def a_notebook():
        toy.controls["number"].value = 11
        # Until the child has answered, without giving the loop a turn to deliver it.
        assert toy._background._job.is_over.wait(PATIENCE)
        toy.controls["number"].value = 4
        await asyncio.sleep(0.2)

    asyncio.run(a_notebook())
    assert last(toy) == 12 and toy.status.startswith("done")


@pytest.mark.long
def test_wait_in_a_notebook_cell_does_not_wait_for_itself(toy):
    """A cell runs on the loop that would deliver the result."""

    async def a_cell():
        toy.controls["number"].value = 11
        return toy.wait(PATIENCE), last(toy), toy.status

    arrived, y, status = asyncio.run(a_cell())
    assert arrived and y == 33 and status.startswith("done")


@pytest.mark.long
def test_a_panel_that_nobody_holds_takes_its_child_with_it():
    panel = Toy(state=f"number={SLOW}")
    assert panel.wait(PATIENCE)
    pid = panel._background._child.process.pid
    os.kill(pid, signal.SIGSTOP)  # it does not notice by itself that the panel is gone
    del panel
    gc.collect()
    assert not is_alive(pid)


@pytest.mark.parametrize("number", [11, HANGS])
def test_a_closed_panel_leaves_no_process(toy, number):
    """Whether its work is done or goes on."""
    toy.controls["number"].value = number
    assert number == HANGS or toy.wait(PATIENCE)
    pid = toy._background._child.process.pid
    assert is_alive(pid) and toy._background.running == (number == HANGS)
    toy.close()
    assert eventually(lambda: not is_alive(pid)) and not toy._background.running


# The end of a panel


def in_a_notebook_of_its_own(code):
    """The code with the toy and a count of the widgets and panels that are alive."""
    return (
        f"import gc, sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "import ipywidgets as widgets\n"
        "from ipywidgets.widgets.widget import _instances\n"
        "from neuroviz import explorables\n"
        "from neuroviz.kit.panel import Panel\n"
        "from test_panel import SLOW, Toy\n"
        "def alive(kind):\n"
        "    gc.collect()\n"
        "    return sum(isinstance(one, kind) for one in gc.get_objects())\n" + code
    )


@pytest.mark.long
def test_two_hundred_panels_that_are_dropped_leave_none_alive(run_python):
    code = (
        "kept = Toy()\n"
        "before = alive(widgets.Widget), len(_instances)\n"
        "for number in range(200):\n"
        # its child ends as well
        "    panel = Toy(state=f'number={SLOW}' if number == 7 else None)\n"
        "    panel.figure.width = 900\n"  # the page shows the figure
        "del panel\n"
        "print(alive(Panel), (alive(widgets.Widget), len(_instances)) == before)\n"
        "kept.controls['number'].value = 3\n"
        "print(kept.status.startswith('done'), kept.comm is not None)\n"
    )
    assert run_python(in_a_notebook_of_its_own(code)).split() == [
        "1",
        "True",
        "True",
        "True",
    ]


@pytest.mark.long
def test_every_panel_that_is_dropped_leaves_nothing_and_one_that_is_closed_too(
    run_python,
):
    code = (
        "for name in explorables.__all__:\n"
        "    for way in 'dropped', 'closed':\n"
        "        panel = getattr(explorables, name)()\n"
        "        panel.figure.width = 900\n"
        "        if way == 'closed':\n"
        "            panel.close()\n"
        "            panel = [panel.figure, *panel.controls.values()]\n"
        "            print(*(name for one in panel if one.comm is not None))\n"
        "        panel = None\n"
        "        if alive(widgets.Widget) or _instances:\n"
        "            print(name, way, alive(widgets.Widget), len(_instances))\n"
    )
    assert run_python(in_a_notebook_of_its_own(code)) == ""


@pytest.fixture(scope="module")
def notebook():
    """A kernel: runs a cell, by the name that a page gives it, and returns what it
    prints or shows."""
    manager, client = start_new_kernel(startup_timeout=PATIENCE)

    def run(cell, code):
        content = {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
        }
        # False: nobody is there
        content |= {"allow_stdin": True, "stop_on_error": True}
        request = client.session.msg(
            "execute_request", content, metadata={"cellId": cell}
        )
        client.shell_channel.send(request)
        heard = []
        while True:
            message = client.get_iopub_msg(timeout=PATIENCE)
            if message["parent_header"].get("msg_id") != request["header"]["msg_id"]:
                continue
            said = message["content"]
            if said.get("execution_state") == "idle":
                return heard
            assert message["msg_type"] != "error", said
            heard.append((message["msg_type"], said))

    run("the first", in_a_notebook_of_its_own(""))
    yield run
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def printed(heard):
    return "".join(said["text"] for kind, said in heard if kind == "stream").split()


@pytest.mark.long
def test_a_cell_that_runs_again_ends_the_panels_it_made_before(notebook):
    for _ in range(3):
        heard = notebook("shows", "Toy()")
    assert printed(notebook("counts", "print(alive(Panel), len(_instances))"))[0] == "1"
    (view,) = [said["data"] for kind, said in heard if kind == "execute_result"]
    shown = view["application/vnd.jupyter.widget-view+json"]["model_id"]
    opened = [number for number, (kind, _) in enumerate(heard) if kind == "comm_open"]
    closed = [number for number, (kind, _) in enumerate(heard) if kind == "comm_close"]
    assert closed and max(closed) < min(opened)  # before the page hears of the new ones
    ids = [heard[number][1]["comm_id"] for number in opened]
    assert shown in ids and not {
        heard[number][1]["comm_id"] for number in closed
    } & set(ids)

    once = printed(notebook("counts", "print(len(_instances))"))
    notebook("shows", "Toy(); Toy(only=['kind'])")
    assert printed(notebook("counts", "print(alive(Panel))")) == ["2"]
    notebook("shows", "Toy()")
    assert printed(notebook("counts", "print(len(_instances), alive(Panel))")) == [
        *once,
        "1",
    ]
    notebook("shows", "pass")
    assert printed(notebook("counts", "print(alive(Panel), len(_instances))")) == [
        "0",
        "0",
    ]


def test_a_panel_lives_on_when_another_cell_shows_it_again(notebook):
    notebook("makes", "panel = Toy()")
    for _ in range(2):
        notebook("shows it", "panel")
    check = (
        "panel.controls['number'].value = 4; print(panel.comm is not None,"
        " panel.figure.data[0].y[-1])"
    )
    assert printed(notebook("moves it", check)) == ["True", "12.0"]
    notebook(
        "keeps", "earlier = panel; panel.controls['number'].value = SLOW; panel.wait()"
    )
    notebook("makes", "panel = Toy()")
    asked = (
        "print(earlier.comm is None, earlier._background._child is None, panel.comm is"
        " not None)"
    )
    assert printed(notebook("asks", asked)) == ["True"] * 3
    notebook("makes", "del panel, earlier")
    assert printed(notebook("counts", "print(alive(Panel), len(_instances))")) == [
        "0",
        "0",
    ]


IN_A_CALLBACK = """
called = []
def show(n):
    called.append(Toy())
    return called[-1]
"""
PANELS_ALIVE = "print(sum(one.comm is not None for one in called))"


@pytest.mark.parametrize(
    "made", ["interactive(show, n=(0, 3))", "interact(show, n=(0, 3)).widget"]
)
def test_panels_made_inside_interact_end_when_the_next_is_made_and_with_it(
    notebook, made
):
    """A slider that moves is a message of its own, and of no cell: the test asks as
    one."""
    notebook("defines", IN_A_CALLBACK + "shown = None")
    notebook(
        "interacts", f"from ipywidgets import interact, interactive\nshown = {made}"
    )
    notebook("updates", "shown.update()")
    for value in (2, 3):
        notebook("", f"shown.children[0].value = {value}")
        assert printed(notebook("counts", PANELS_ALIVE)) == ["1"]
    assert printed(notebook("counts", "print(called[-1].comm is not None)")) == ["True"]
    notebook("", "shown.close_all(); shown.out.close()")
    assert printed(notebook("counts", PANELS_ALIVE)) == ["0"]


def test_panels_made_inside_interact_end_with_their_cell(notebook):
    notebook("defines", IN_A_CALLBACK)
    notebook("imports", "from ipywidgets import interactive")
    notebook("interacts", "shown = interactive(show, n=(0, 3)); shown.update()")
    notebook("", "shown.children[0].value = 2")
    notebook("", "shown.children[0].value = 3")
    assert printed(notebook("counts", PANELS_ALIVE)) == ["1"]
    notebook("interacts", "pass")
    assert printed(notebook("counts", PANELS_ALIVE)) == ["0"]
    notebook("", "del shown, called[:]")


# The figure


@pytest.fixture
def chart():
    """A chart, and what it says to the page."""
    chart = Chart(
        Parts(
            [{"y": (1, 2)}, {"y": [3.0, float("nan")]}], {"title": {"text": "before"}}
        )
    )
    chart.said = []
    chart.send = lambda message, buffers=None: chart.said.append((message, buffers))
    yield chart
    chart.close()


def test_a_page_gets_what_has_changed_in_one_message(chart):
    assert chart.get_state()["drawn"]["data"] == [{"y": [1, 2]}, {"y": [3.0, None]}]
    chart.show(
        Parts(
            [{"y": [1, 2]}, {"y": [4]}],
            {"title": {"text": "after"}, "showlegend": True},
        )
    )
    chart.show(
        Parts(
            [{"y": [1, 2]}, {"y": [4]}],
            {"title": {"text": "after"}, "showlegend": True},
        )
    )
    ((message, _),) = chart.said
    assert sorted(map(str, message.pop("changes"))) == [
        "[['data', 1, 'y'], [4]]",
        "[['layout', 'showlegend'], True]",
        "[['layout', 'title', 'text'], 'after']",
    ]
    assert message == {"from": 0, "to": 1}
    chart.show(Parts([{"y": [1, 2]}, {"y": [4]}], {"title": {"text": "after"}}))
    assert chart.said[1][0]["changes"] == [[["layout", "showlegend"]]]


def test_a_page_that_is_loaded_again_or_missed_something_gets_the_figure_as_it_is_now(
    chart,
):
    chart.show(Parts([{"y": [7, 8]}, {"y": [9]}], {}))
    assert chart.get_state()["drawn"]["data"][0] == {"y": [7, 8]}
    chart.said.clear()
    chart._handle_custom_msg({"want": "figure", "unless": 1}, [])
    assert chart.said == []
    chart._handle_custom_msg({"want": "figure", "unless": 0}, [])
    ((message, _),) = chart.said
    assert message["whole"]["revision"] == 1 and message["whole"]["data"][1] == {
        "y": [9]
    }


def test_a_painter_comes_with_the_first_chart_that_needs_it_and_to_a_page_that_asks(
    chart, run_python
):
    code = (
        "from neuroviz.kit.page import Chart\n"
        "from neuroviz.kit.plot import Parts\n"
        "from neuroviz.kit.picture import Picture\n"
        "chart, surface, section, ledger = Parts([], {}), *(\n"
        "    Picture(name, {}, {}, {})\n"
        "    for name in ('singular/surface', 'singular/section', 'deep/ledger')\n"
        ")\n"
        "for parts in (chart, chart, surface, section, ledger, chart):\n"
        "    it = Chart(parts)\n"
        "    print(it.painter, len(it.code) > 5000)\n"
    )
    assert run_python(code).splitlines() == [
        "plotly True",
        "plotly False",
        "scenes/singular True",
        "scenes/singular False",
        "scenes/deep True",
        "plotly False",
    ]
    chart._handle_custom_msg({"want": "painter"}, [])
    ((message, (brought,)),) = chart.said
    assert message == {"painter": True} and gzip.decompress(brought).startswith(
        b"/* plotly.js "
    )


def test_a_picture_of_no_section_says_which_there_are():
    with pytest.raises(ValueError, match='such as "deep/ledger"; got "ledger"'):
        Chart(Picture("ledger", {}, {}, {}))
    with pytest.raises(LookupError, match="no script scenes/dep .* scenes/deep"):
        Chart(Picture("dep/ledger", {}, {}, {}))


def test_plotly_has_the_version_of_its_python_package_and_painters_are_small():
    plotly = bundle("plotly")
    scenes = [bundle(name) for name in painters() if name != "plotly"]
    banner = gzip.decompress(plotly)[:200].decode()
    assert f"plotly.js {get_plotlyjs_version()}," in banner
    assert len(plotly) < 450_000
    sections = (ROOT / "web").glob("*/scenes.ts")
    of_sections = [f"scenes/{path.parent.name}" for path in sections]
    assert painters() == sorted(["plotly", *of_sections]), "run `make javascript`"
    assert max(map(len, scenes)) < 70_000


def test_a_chart_answers_as_a_figure_does_and_can_stand_alone(toy):
    toy.controls["number"].value = 3
    assert toy.figure.data[0].y == (
        0,
        3,
        6,
        9,
    ) and toy.figure.layout.height == theme.size("height")
    assert json.loads(toy.figure.to_json())["data"][0]["y"] == [0, 3, 6, 9]
    assert (
        "application/vnd.jupyter.widget-view+json" in toy.figure._repr_mimebundle_()[0]
    )
    assert toy.figure in widgets.VBox([toy.figure]).children
    with pytest.raises(AttributeError, match="_no_such"):
        toy.figure._no_such  # noqa: B018


def test_in_a_narrow_place_a_lecture_has_letters_of_the_usual_size():
    with theme.using({"mode": "dark", "size": "lecture"}):
        narrow = SurfaceExplorer()
        wide = SurfaceExplorer()
    for panel, width in ((narrow, 830), (wide, 1100)):
        panel.figure.width = width
        panel.controls["where"].value = 0.5
        panel.wait(PATIENCE)
        assert panel.status.startswith("done")
    with theme.using({"mode": "dark", "size": "notebook"}):
        usual = SurfaceExplorer(state=narrow.state)
    assert letters_of(narrow) == letters_of(usual) < letters_of(wide)


def test_in_a_place_that_grows_wide_again_a_lecture_has_large_letters_again():
    with theme.using({"size": "lecture"}):
        panel = SurfaceExplorer()
    panel.figure.width = 1085
    large = letters_of(panel)
    panel.figure.width = 830  # the side bar is opened
    small = letters_of(panel)
    assert small < large
    panel.figure.width = 1045  # a scroll bar has gone
    assert letters_of(panel) == small
    panel.figure.width = 1085
    assert letters_of(panel) == large
    panel._lecture.value = False
    panel.figure.width = 830
    panel.figure.width = 1085
    assert letters_of(panel) == small


def letters_of(panel):
    return panel.figure.drawn["look"]["sizes"]["base"]


def test_the_lecture_switch_makes_letters_large_and_goes_back_without_loss():
    panel = SurfaceExplorer(state="where=0.3")
    state = panel.state
    usual = plain(panel.figure)
    panel._more.value = True
    panel._lecture.value = True
    panel.controls["along"].value = 0.25
    assert (
        "nv-lecture" in panel._dom_classes
        and not panel._more.value
        and not is_shown(panel._more)
    )
    assert panel.figure.drawn["look"]["sizes"]["base"] == 18
    panel._lecture.value = False
    panel.state = state
    assert plain(panel.figure) == usual
    assert "nv-lecture" not in panel._dom_classes and is_shown(panel._more)
    narrow = SurfaceExplorer()
    narrow.figure.width = 830
    narrow._lecture.value = True
    assert narrow.figure.drawn["look"]["sizes"]["base"] == 14


@pytest.mark.parametrize(
    "hook", ["_make_controls", "_read", "_answer", "draw", "_describe"]
)
def test_a_panel_that_cannot_open_or_forgets_something_says_so_and_can_be_closed(hook):
    forgotten = NotImplementedError, TypeError
    faults = (vars(Panel)[hook], forgotten), (staticmethod(no_more_processes), OSError)
    for fault, error in faults:
        before = len(_instances)
        broken = type("Broken", (Toy,), {hook: fault})
        panel = broken.__new__(broken)
        with pytest.raises(error):
            panel.__init__()
        panel.close()
        panel.close()
        assert len(_instances) == before


@pytest.mark.parametrize(
    "arguments",
    [{"only": ["colour"]}, {"state": "number=999"}, {"state": 5}, {"no": 1}],
)
@pytest.mark.parametrize(
    "kind", [Toy, *(getattr(explorables, name) for name in explorables.__all__)]
)
def test_a_panel_that_is_refused_what_it_should_show_can_be_closed(kind, arguments):
    panel = kind.__new__(kind)
    with pytest.raises((ValueError, TypeError)):
        panel.__init__(**arguments)
    panel.close()


def test_a_scene_has_facts_and_says_that_it_is_no_plotly_figure(toy):
    scene = FiberExplorer()
    assert scene.facts["schema"] == "fiber/1" and scene.facts is scene.figure.facts
    with pytest.raises(
        AttributeError, match="'data': a scene is no plotly Figure; .* in .facts"
    ):
        scene.figure.data  # noqa: B018
    with pytest.raises(TypeError, match="no plotly Figure"):
        scene.figure.figure  # noqa: B018
    with pytest.raises(TypeError, match="only a scene has facts"):
        toy.facts  # noqa: B018
    assert not hasattr(scene.figure, "unfold")
    scene.close()
