"""All panels on one page: each can be chosen, one is alive at a time, and nothing comes
from elsewhere."""

import os
from urllib.parse import quote

import pytest
from panels import free_port, serving

from neuroviz import explorables
from neuroviz.kit import theme
from tools import dashboard

SOURCE = dashboard.FOLDER / "panels.py"


@pytest.fixture
def page():
    """What the notebook defines, run as plain Python."""
    before, names = theme.current(), {}
    exec(compile(SOURCE.read_text(encoding="utf-8"), str(SOURCE), "exec"), names)
    yield names
    for panel in names["stage"].children:
        panel.close()
    theme.use(**before)


def test_both_files_say_the_same():
    written = (dashboard.FOLDER / "panels.ipynb").read_text(encoding="utf-8")
    assert written == dashboard.notebook(), (
        "run `make dashboard`, or tools.dashboard.write()"
    )


def test_every_panel_can_be_chosen(page):
    assert sorted(name for _, name in page["choice"].options) == sorted(
        explorables.__all__
    )
    assert len({title for title, _ in page["choice"].options}) == len(
        explorables.__all__
    )


def test_only_one_panel_is_alive(page):
    (first,) = page["stage"].children
    assert first.comm is not None
    page["choice"].value = "FiberExplorer"
    (second,) = page["stage"].children
    assert isinstance(second, explorables.FiberExplorer)
    assert first.comm is None and second.comm is not None


def test_panels_are_large_and_follow_the_room(page):
    assert theme.current() == {"mode": "light", "size": "lecture"}
    page["look"].value = "dark"
    (panel,) = page["stage"].children
    assert theme.current() == {"mode": "dark", "size": "lecture"}
    assert panel.figure.drawn["look"]["colors"]["ground"] == theme.color("ground")
    assert theme.color("ground") in page["room"].value
    # of the boxes: black on black is not seen
    arrow = quote(f"stroke='{theme.color('ink')}'")
    assert arrow in page["room"].value
    page["look"].value = "light"
    assert arrow not in page["room"].value


@pytest.fixture
def server(tmp_path):
    """The address of a dashboard with settings of its own."""
    port = free_port()
    environment = os.environ | {
        name: str(tmp_path / name.lower()) for name in ("JUPYTER_CONFIG_DIR", "HOME")
    }
    words = [
        "--no-browser",
        f"--port={port}",
        "--Voila.ip=127.0.0.1",
        "--port_retries=0",
    ]
    address = f"http://127.0.0.1:{port}"
    # not the page itself, which would start a kernel
    ready = f"{address}/voila/static/voila.js"
    place = {"cwd": dashboard.FOLDER.parent, "env": environment}
    with serving("tools.dashboard", words, ready, tmp_path / "voila.log", **place):
        yield address


@pytest.mark.browser
@pytest.mark.xdist_group("dashboard")
def test_a_slider_moves_a_panel_on_the_served_page(server, bare_page):
    here = bare_page
    here.set_viewport_size({"width": 1280, "height": 720})
    left, complaints = [], []
    here.on(
        "request",
        lambda r: (
            None if r.url.startswith((server, "data:", "blob:")) else left.append(r.url)
        ),
    )
    here.on(
        "console", lambda m: complaints.append(m.text) if m.type == "error" else None
    )
    here.on("pageerror", lambda error: complaints.append(str(error)))
    here.goto(server)
    panel = ".nv:has(.nv-title)"
    here.wait_for_selector(f"{panel} .nv-handle")
    assert here.locator("pre.highlight, .jp-CodeMirrorEditor").count() == 0  # no code
    # A projector has few lines: beside its choices the page leaves all of them to the
    # panel.
    high = "name => document.querySelector(name).scrollHeight"
    inside = here.locator(panel).evaluate(
        "panel => panel.getBoundingClientRect().height"
    )
    assert here.evaluate(high, ".jp-Cell:has(.nv-dashboard)") <= inside + 34
    top = here.locator(".nv-dashboard").evaluate(
        "page => page.getBoundingClientRect().y"
    )
    assert top == 0

    here.locator("select").first.select_option("Where do the parameters go?")
    here.wait_for_function(
        f"document.querySelector('{panel}')?.innerText.includes('Where do')"
    )
    here.wait_for_selector(f"{panel} .nv-handle")
    assert here.locator(panel).count() == 1
    words = f"document.querySelector('{panel} .nv-description').innerText"
    before = here.evaluate(words)
    here.locator(f"{panel} .noUi-handle:visible").first.focus()
    here.keyboard.press("ArrowRight")
    here.wait_for_function(f"before => {words} !== before", arg=before)

    # A scene has handles, and they move the panel's controls.
    before = here.evaluate(words)
    here.locator(f"{panel} .nv-handle").last.focus()
    here.keyboard.press("ArrowRight")
    here.wait_for_function(f"before => {words} !== before", arg=before)
    # What plotly draws has a button beside a walk's slider; with less motion it plays
    # in a few steps.
    for title, walk, motion, steps in (
        ("Which transformers compute the same?", "basis", "no-preference", [10, 1]),
        ("Which transformers compute the same?", "third", "reduce", [11, 1]),
        ("Which transformers compute the same?", "shift", "reduce", [5, 1]),
        ("Does training end at singular points?", "time", "reduce", [9, 600]),
    ):
        here.emulate_media(reduced_motion=motion)
        here.locator("select").first.select_option(title)
        play = here.get_by_role("button", name=f"play {walk}")
        if walk == "shift":
            here.get_by_label("biases").click()
        here.wait_for_function("button => !button.disabled", arg=play.element_handle())
        play.evaluate("""button => {
            const handle = button.parentElement.querySelector(".noUi-handle");
            window.places = new Set();
            const note = () => places.add(+handle.ariaValueText);
            new MutationObserver(note).observe(handle, {attributes: true});
            button.click();
        }""")
        ended = "button => places.size && button.textContent === '▶'"
        here.wait_for_function(ended, arg=play.element_handle())
        assert here.evaluate("[places.size, [...places].at(-1)]") == steps
    assert (left, complaints) == ([], [])
