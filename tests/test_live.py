"""Panels that answer in a page without a server: the same widgets, the same Python, in
a worker."""

import gzip
import hashlib
import inspect
import json
import shutil
import subprocess
import sys
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from zipfile import ZipFile

import all_explorables as explorables
import anywidget
import pytest
from axe import complaints
from fingers import PHONE, SMALL
from node import ask
from one_panel import page_of
from panels import PATIENCE
from scenes import settle

from benchmarks.live import PAGE, served
from neuroviz.explorables import LedgerExplorer
from neuroviz.kit.event_loop import EventLoop
from neuroviz.rank import elimination
from neuroviz.singular import curves
from neuroviz.softmax.figure3 import Figure3Setting, study_figure3
from neuroviz_beyond.certificate import balls
from neuroviz_beyond.transformers import alignment
from tools.book.live import build as live
from tools.book.live import lite
from tools.notebooks import sources

ROOT = Path(__file__).parents[1]
PANEL = ".nv:has(.nv-title)"
# a numpy for Pyodide, where a test machine has one
WHEELS = ROOT.parent / "shared" / "live" / "test-only"
NEED_FLINT = {
    f"{name}Explorer" for name in ("Flow", "SameFunction", "Section", "Surface")
}

DRAWN = ("LedgerExplorer", "FormulaExplorer")  # a scene, and a chart
OF_A_PAGE = ("document-title", "html-has-lang")  # which is bare here

# Long work where there are no processes


def test_a_panel_answers_without_processes_and_without_flint(monkeypatch):
    monkeypatch.setattr("neuroviz.kit.panel.background", EventLoop)
    monkeypatch.setattr(elimination, "_HAS_FLINT", False)
    panel = LedgerExplorer()
    panel.controls["layers"].value = 3
    assert panel.wait(PATIENCE) and panel.status.startswith("done")
    slow = explorables.LedgerExplorer(state="width=6;layers=3")
    assert slow.wait(PATIENCE) and slow.status.startswith("done")
    said = list(study_figure3.in_steps(Figure3Setting(last=4)))
    assert said == ["softmax, δ = 3", "softmax, δ = 4"]


# The files


def test_the_files_of_a_live_page_are_small_and_whole(tmp_path):
    live.build(tmp_path)
    sent = sum(len(gzip.compress(path.read_bytes())) for path in tmp_path.iterdir())
    assert sent < 2.5e6  # Python and numpy are another 10 MB
    names = {path.name.split("-")[0] for path in tmp_path.glob("*.whl")}
    assert names == {name.replace("-", "_") for name in live.PURE}
    assert "https://cdn.jsdelivr.net/pyodide/v" in (tmp_path / "start.js").read_text()


# anywidget gives the script of a widget two seconds, of which a slow page needs more.
TIMEOUTS = """
import { amd } from "book/amd";
const all = given.map((milliseconds: number) => AbortSignal.timeout(milliseconds));
await new Promise((then) => setTimeout(then, 2200));
say(all.map((one: AbortSignal) => one.aborted && !amd.factory));
process.exit();
"""


@pytest.mark.long
def test_a_page_waits_long_for_a_widget_and_not_for_anything_else():
    script = Path(anywidget.__file__).with_name("nbextension") / "index.js"
    assert "AbortSignal.timeout(2e3)" in script.read_text(encoding="utf-8")
    assert ask(TIMEOUTS, [2000, 100]) == [False, True]


# In a browser


@pytest.fixture(scope="module")
def pyodide(tmp_path_factory) -> Path:
    """A Pyodide distribution: its core from npm, numpy beside it."""
    wheel = next(iter(WHEELS.glob("numpy-*wasm32.whl")), None)
    try:
        folder = lite.core(tmp_path_factory.mktemp("pyodide"))
        lock = json.loads((folder / "pyodide-lock.json").read_text())
        (folder / "whole-lock.json").write_text(json.dumps(lock))
        numpy = lock["packages"]["numpy"]
        if wheel is None:
            with urllib.request.urlopen(live.PYODIDE + numpy["file_name"]) as answer:
                (folder / numpy["file_name"]).write_bytes(answer.read())
    except OSError as error:
        pytest.skip(f"Pyodide or its numpy cannot be fetched: {error}")
    lock["packages"] = {
        "numpy": entry(numpy, shutil.copy(wheel, folder)) if wheel else numpy
    }
    (folder / "pyodide-lock.json").write_text(json.dumps(lock))
    return folder


def entry(old, wheel):
    """A package of a distribution, from another file."""
    wheel = Path(wheel)
    number = wheel.name.split("-")[1]
    mark = hashlib.sha256(wheel.read_bytes()).hexdigest()
    return old | {"version": number, "file_name": wheel.name, "sha256": mark}


@pytest.fixture(scope="module")
def visit(browser):
    """Opens a page of a folder that is served; what it complains of, and asks
    elsewhere, is remembered."""
    with ExitStack() as servers:

        def open_at(folder: Path, place: str, **settings):
            size = {"width": 1280, "height": 720}
            context = browser.new_context(**{"viewport": size} | settings)
            page = context.new_page()
            page.set_default_timeout(1000 * PATIENCE)
            home = servers.enter_context(served(folder))
            page.complaints = []
            page.folder = folder
            page.on(
                "console",
                lambda m: page.complaints.append(m.text) if m.type == "error" else None,
            )
            page.on("pageerror", lambda error: page.complaints.append(str(error)))
            page.on(
                "request",
                lambda r: (
                    r.url.startswith((home, "data:", "blob:"))
                    or page.complaints.append(r.url)
                ),
            )
            page.goto(f"{home}/{place}")
            return page

        yield open_at


@pytest.fixture(scope="module")
def bare(tmp_path_factory, pyodide, visit):
    """A page with nothing but live panels; its Python has started."""
    folder = tmp_path_factory.mktemp("bare")
    (folder / "index.html").write_text(PAGE)
    live.build(folder / "live", "../pyodide/")
    (folder / "pyodide").symlink_to(pyodide)
    return visit(folder, "index.html")


def opened(page, name, state=None):
    """Show a panel; what it describes."""
    page.wait_for_function("() => Boolean(window.show)")
    words = page.evaluate("how => window.show(how)", {"panel": name, "state": state})
    said = page.evaluate("window.said")
    assert said[0].startswith("Python is being fetched") and said[-1] == ""
    return words


def done(page, before):
    """Wait until the panel says something else, and is done."""
    return page.evaluate("before => window.changed(before)", before)


@pytest.mark.browser
def test_a_panel_in_a_page_says_what_it_says_in_python(bare):
    before = opened(bare, "LedgerExplorer", "layers=2")
    here = LedgerExplorer(state="layers=2")
    assert before == here.description
    bare.get_by_label("layers l", exact=True).first.focus()
    bare.keyboard.press("ArrowRight")
    here.controls["layers"].value = 3
    assert done(bare, before) == here.description
    bare.keyboard.press("d")  # a key in a panel does nothing else
    bare.locator(PANEL).get_by_role("button", name="⋯").click()
    state = bare.locator(".nv-state input")
    assert state.input_value() == here.state
    state.fill("layers=99")
    state.press("Enter")
    bare.wait_for_selector(".nv-error")
    assert bare.complaints == []


@pytest.mark.browser
def test_the_newest_of_many_moves_is_answered_long_work_is_ended_and_an_error_is_said(
    bare,
):
    before = opened(bare, "LedgerExplorer", "layers=1;width=3")
    bare.get_by_label("width d", exact=True).first.focus()
    for _ in range(5):  # quicker than the answers
        bare.keyboard.press("ArrowRight")
    bare.wait_for_function(
        "document.querySelector('.nv-description').innerText.includes('lightning 8→')"
    )
    assert (
        bare.inner_text(".nv-description")
        == LedgerExplorer(state="layers=1;width=8").description
        != before
    )
    bare.get_by_role("button", name="⋯").click()
    state = bare.locator(".nv-state input")
    # seconds: it says how far it is, and can be ended
    state.fill("width=8;width_out=8;head_dim=8;layers=6")
    state.press("Enter")
    bare.get_by_text("working … elimination, ").wait_for()
    bare.get_by_role("button", name="Cancel").click()
    bare.get_by_text("cancelled; the figure").wait_for()
    for wrong in ("no state", "layers=99"):
        with pytest.raises(Exception, match="a state is|layers"):
            bare.evaluate(
                "how => window.show(how)", {"panel": "LedgerExplorer", "state": wrong}
            )
    assert opened(bare, "LedgerExplorer", "layers=2").startswith("lightning 4→4→4")
    assert bare.complaints == []


@pytest.mark.long
@pytest.mark.browser
def test_live_puts_the_panel_in_the_place_of_its_stills_and_a_link_opens_its_state(
    tmp_path, pyodide, visit
):
    presets = {"three layers": "layers=3"}
    page_of(tmp_path, LedgerExplorer, "layers", presets=presets)
    (tmp_path / "pyodide").symlink_to(pyodide)

    page = visit(
        tmp_path, "index.html", permissions=["clipboard-read", "clipboard-write"]
    )
    # its still is there; then the same of the panel itself
    page.get_by_role("button", name="three layers").click()
    page.locator(".nv-description", has_text="4→4→4→4,").wait_for()
    assert page.locator(".nv-place").count() == 0
    page.get_by_role("button", name="Live").click()
    page.locator(".nv-place .nv-description", has_text="4→4→4,").wait_for()
    assert (
        not page.get_by_role("button", name="Live").is_visible()
        and page.locator("progress").count() == 0
    )
    named = {"role": "group", "name": "Where do the parameters go?"}
    assert page.get_by_role(**named).evaluate(
        "place => place === document.activeElement"
    )
    page.get_by_role("button", name="three layers").click()
    page.locator(".nv-place .nv-description", has_text="4→4→4→4,").wait_for()
    page.evaluate("document.querySelector('.nv-place').dataset.light = 'yes'")
    page.evaluate("document.body.dataset.theme = 'dark'")  # it opens again, as it is
    page.wait_for_selector("[data-light]", state="detached")
    page.wait_for_selector(".nv-place .nv-description")
    assert "4→4→4→4," in page.inner_text(".nv-place .nv-description")
    page.get_by_role("button", name="⋯").click()
    page.get_by_role("button", name="Link").click()
    page.get_by_role("button", name="Copied").wait_for()
    link = page.evaluate("navigator.clipboard.readText()")
    assert "#LedgerExplorer@one:" in link
    page.goto("about:blank")
    page.goto(link)  # to whom it was sent
    page.locator(".nv-place .nv-description", has_text="4→4→4→4,").wait_for()
    assert page.complaints == []


@pytest.fixture
def served_panel(tmp_path, visit):
    """A page from a server that has lost the files of Live."""

    def show(**settings):
        presets = {"three layers": "layers=3"}
        page_of(tmp_path, LedgerExplorer, "layers", presets=presets)
        (tmp_path / "_static" / "live" / "start.js").unlink()
        return visit(tmp_path, "index.html", **settings)

    return show


@pytest.mark.long
@pytest.mark.browser
def test_live_says_what_it_fetches_before_it_does(served_panel):
    page = served_panel(**PHONE)
    words = "Live fetches Python into this page, some 11 MB, once"
    assert words in page.locator(".nv-panel").inner_text()
    page.wait_for_selector(".nv-handle[transform]")  # a frame after it is there
    assert page.evaluate(SMALL) == []


@pytest.mark.browser
def test_live_that_fails_says_in_plain_words_what_to_do_and_tries_again(served_panel):
    page = served_panel()
    asked = []
    page.on("request", lambda one: asked.append(one.url))
    for count in (1, 2):
        page.get_by_role("button", name="Live").click()
        page.locator(".nv-says", has_text="Python did not come").wait_for()
        said = page.locator(".nv-says").inner_text()
        assert "press Live again" in said and "downloaded" in said
        assert not [raw for raw in ("http", "Error", "import", ".js") if raw in said]
        assert sum("start.js" in url for url in asked) == count
        page.wait_for_selector(".nv-live:not([aria-disabled])")


@pytest.mark.full
@pytest.mark.browser
@pytest.mark.parametrize("name", explorables.__all__)
def test_every_panel_opens_in_a_page(bare, name):
    if name in NEED_FLINT:  # the distribution of the tests has none
        with pytest.raises(Exception, match=live.LATER["flint"]):
            opened(bare, name)
        return
    before = opened(bare, name)
    handle = bare.locator(".nv-controls .noUi-handle[aria-disabled=false]").first
    if handle.count():
        handle.focus()
        bare.keyboard.press("ArrowRight")
        bare.keyboard.press("ArrowRight")
        done(bare, before)
    assert bare.complaints == []


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in DRAWN else pytest.mark.full)
        for name in explorables.__all__
        if name not in NEED_FLINT
    ],
)
def test_axe_finds_nothing_in_a_live_panel(bare, name, width):
    """With all its controls unfolded."""
    opened(bare, name)
    bare.set_viewport_size({"width": width, "height": 844})
    bare.locator("#place").evaluate("(place, w) => place.style.width = w", f"{width}px")
    for label in ("⋯", "More"):
        button = bare.locator(PANEL).get_by_role("button", name=label)
        if button.is_visible():
            button.click()
    settle(bare)
    found = [one for one in complaints(bare) if not one.startswith(OF_A_PAGE)]
    bare.set_viewport_size({"width": 1280, "height": 720})
    bare.locator("#place").evaluate("place => place.style.width = '900px'")
    assert not found, "\n".join(found)


FLINT = """
    polynomial common_factor zeros _rank _LayerOfBalls _attend _attend_moved _gradient
""".split()
IMPORTS = """
from __future__ import annotations
from fractions import Fraction
from functools import reduce
from math import atan2, cos, sin
from typing import NamedTuple, Self
import flint
from flint import arb_mat
"""
ASKED = """
form = polynomial(-6, 1, 1)
common = common_factor([form * form, form * 3], 4)
found = [form.gcd(form * form), zeros(form, 3), common]
row = [Fraction(1, 3), Fraction(2, 3)]
found += [_rank([row, [Fraction(1), Fraction(n)]]) for n in (2, 3)]
found += [flint.nmod_mat(2, 2, [1, 2, 3, n], 8388593).rank() for n in (6, 7)]
layer = _LayerOfBalls(*(arb_mat([[1, 2], [0, k]]) for k in (3, 5, 7)))
X, functional = arb_mat([[1, 0], [2, 1]]), arb_mat([[1, 1], [0, 2]])
found.append(_gradient("softmax", [layer], X, functional))
"""


@pytest.mark.full
@pytest.mark.browser
def test_flint_answers_in_the_next_pyodide_as_it_does_here(tmp_path, visit):
    """Alone: it has a wheel for Pyodide 314, and numpy has none that a registry
    gives."""
    try:
        lite.core(tmp_path, "/pyodide/v314.0.7/full/").rename(tmp_path / "pyodide")
        options = [
            "--no-deps",
            "--only-binary",
            ":all:",
            "--python-version",
            "3.14",
            "--abi",
            "cp314",
        ]
        options += [
            "--platform",
            "pyemscripten_2026_0_wasm32",
            "-d",
            tmp_path,
            "python-flint",
        ]
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "-q", *options], check=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"Pyodide 314 or its python-flint cannot be fetched: {error}")
    (wheel,) = tmp_path.glob("python_flint-*.whl")
    (tmp_path / "index.html").write_text('<link rel="icon" href="data:,">')
    names = vars(curves) | vars(alignment) | vars(balls)
    code = IMPORTS + "".join(inspect.getsource(names[name]) for name in FLINT)
    page = visit(tmp_path, "index.html")
    exec(ASKED, names)
    assert page.evaluate(CELLS, [[wheel.name], [code, ASKED, "str(found)"], []]) == str(
        names["found"]
    )
    assert names["found"][1:6] == [
        [(0, 1), (1, -3), (1, 2)],
        (names["form"], 2),
        1,
        2,
        1,
    ]
    assert page.complaints == []


# Notebooks

NOTEBOOKS = {
    path.stem: path.with_suffix(".ipynb").relative_to(ROOT) for path in sources()
}
CELLS = """async ([wheels, cells, known]) => {
  const { loadPyodide } = await import(new URL("pyodide/pyodide.mjs", location));
  const py = await loadPyodide();
  await py.loadPackage([...known, ...wheels], { messageCallback() {} });
  let last;
  for (const cell of cells) last = await py.runPythonAsync(cell);
  return last.description ?? last;
}"""


@pytest.mark.long
@pytest.mark.browser
def test_the_cells_of_the_first_notebook_run_without_a_server(bare):
    wheels = [f"live/{path.name}" for path in bare.folder.glob("live/*.whl")]
    cells = json.loads((ROOT / NOTEBOOKS["00_start"]).read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    stubs = (bare.folder / "live" / "page.py").read_text().partition("_panels")[0]
    assert "27 dimensions remain" in bare.evaluate(
        CELLS, [wheels, [stubs, *code], ["numpy"]]
    )
    assert bare.complaints == []


@pytest.fixture(scope="module")
def lab(tmp_path_factory, pyodide) -> Path:
    """A site with JupyterLite alone; its distribution has what a kernel needs, too."""
    folder = tmp_path_factory.mktemp("lab")
    whole = shutil.copytree(pyodide, folder / "whole")
    try:
        add_packages(whole, ("micropip", "ipython", "jedi"))
        python = lite.environment(folder / "environment")
    except subprocess.CalledProcessError as error:
        pytest.skip(f"JupyterLite cannot be fetched: {error}")
    live.copy_distribution(whole, folder / "pyodide")
    lite.build(folder / "lab", python, "../pyodide/")
    return folder


def add_packages(distribution: Path, names: tuple[str, ...]) -> None:
    """Fetch pure packages in the versions of the distribution; those compiled there are
    empty here."""
    lock = json.loads((distribution / "pyodide-lock.json").read_text())
    known = json.loads((distribution / "whole-lock.json").read_text())["packages"]
    pure = {
        name: one
        for name, one in known.items()
        if one["file_name"].endswith("none-any.whl")
    }
    found = lock["packages"]
    found |= live.needed(pure, names)
    asked = [
        f"{one['name']}=={one['version']}"
        for name, one in found.items()
        if name != "numpy"
    ]
    options = [
        "--no-deps",
        "--only-binary",
        ":all:",
        "--python-version",
        "3.13",
        "-d",
        str(distribution),
    ]
    subprocess.run(
        [sys.executable, "-m", "pip", "download", "-q", *options, *asked], check=True
    )
    for path in distribution.glob("*none-any.whl"):
        name = path.name.split("-")[0].replace("_", "-").lower()
        found[name] = entry(known[name], path)
    for name in ("ssl", "sqlite3"):  # a kernel does not start without
        path = distribution / f"{name}-1.0.0-py3-none-any.whl"
        with ZipFile(path, "w") as empty:
            empty.writestr(
                f"{name}-1.0.0.dist-info/METADATA", f"Name: {name}\nVersion: 1.0.0\n"
            )
        found[name] = entry(known[name], path) | {
            "package_type": "package",
            "imports": [],
        }
    for package in found.values():
        package["depends"] = [
            one for one in package["depends"] if one.replace("_", "-") in found
        ]
    (distribution / "pyodide-lock.json").write_text(json.dumps(lock))


RUN_ALL = """async () => {
  const until = async (there) => {
    while (!there()) await new Promise((go) => setTimeout(go, 100));
  };
  await until(() => window.jupyterapp?.shell.currentWidget?.context?.isReady);
  const { content, sessionContext } = jupyterapp.shell.currentWidget;
  await sessionContext.ready;
  await jupyterapp.commands.execute("notebook:run-all-cells");
  return [...content.model.cells].flatMap((cell) => cell.outputs?.toJSON() ?? []);
}"""


@pytest.mark.full
@pytest.mark.browser
def test_a_link_opens_its_panel_in_jupyterlite_and_a_reader_keeps_the_work(lab, visit):
    place = "lab/lab/index.html?path=notebooks/00_start.ipynb"
    page = visit(lab, f"{place}#LedgerExplorer:layers%3D3")
    page.locator(".nv-description", has_text="4→4→4→4,").wait_for()
    cell = "jupyterapp.shell.currentWidget.content.model.cells.get(0).sharedModel"
    page.evaluate(f"{cell}.setSource('# My work')")
    page.evaluate("jupyterapp.commands.execute('docmanager:save')")
    with page.expect_download() as taken:
        page.evaluate("jupyterapp.commands.execute('docmanager:download')")
    assert "# My work" in taken.value.path().read_text()
    page.goto(page.url.split("/lab/")[0] + f"/{place}")  # another day
    page.get_by_role("heading", name="My work").wait_for()
    assert page.complaints == []


@pytest.mark.full
@pytest.mark.browser
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_every_notebook_runs_in_jupyterlite(lab, visit, name):
    page = visit(lab, f"lab/lab/index.html?path={NOTEBOOKS[name].as_posix()}")
    outputs = page.evaluate(RUN_ALL)
    if name == "00_start":
        page.get_by_placeholder("a number").fill("46")
        page.keyboard.press("Enter")
        page.get_by_text("You said 46; it is 38").wait_for()
    page.context.close()
    errors = [one["evalue"] for one in outputs if one["output_type"] == "error"]
    assert errors == ["No module named 'flint'"] * (name in lite.NEED_FLINT)
    if not errors:
        assert "application/vnd.jupyter.widget-view+json" in json.dumps(outputs)
        assert page.complaints == []
