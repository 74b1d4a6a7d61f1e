"""A real JupyterLab in a real Chromium: Run All, move a slider by keyboard, and look at
what is there."""

import json
import os
import re
import secrets
import shutil
import urllib.error
import urllib.request
from html import unescape
from pathlib import Path
from types import SimpleNamespace

import nbformat
import plotly.graph_objects as go
import pytest
from class_site import NUMBER, held, make_site, teacher_of
from panels import PATIENCE, eventually, free_port, serving, title

from conftest import QUIET
from neuroviz.explorables import HypothesesExplorer, SurfaceExplorer
from neuroviz.kit.page import SAVED
from tools.moving import animated, dragged
from tools.notebooks import FOLDERS, LANGUAGE, place_of
from tools.notebooks import KERNEL as KERNEL_SPEC

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parent.parent
PANEL = ".nv:has(.nv-title)"
KERNEL = ".jp-Notebook-ExecutionIndicator"
HOLDS = ".nv-handle, [role=gridcell]"  # what one drags in a scene, or chooses
SAID = f"document.querySelector('{PANEL} .nv-description').innerText"


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A JupyterLab server on a copy of the notebooks, with settings of its own: its
    address."""
    home = tmp_path_factory.mktemp("lab")
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, home / folder)
    port = free_port()
    token = secrets.token_hex(16)
    environment = os.environ | {
        name: str(home / name.lower()) for name in ("JUPYTER_CONFIG_DIR", "HOME")
    }
    address = f"http://127.0.0.1:{port}"
    words = [
        "--no-browser",
        "--allow-root",
        f"--port={port}",
        "--ServerApp.port_retries=0",
        f"--IdentityProvider.token={token}",
        f"--ServerApp.root_dir={home}",
        "--LabApp.expose_app_in_browser=True",  # a test runs code beside the cells
        f"--LabApp.workspaces_dir={home}/workspaces",
        f"--LabApp.user_settings_dir={home}/settings",
    ]

    def url(notebook: str, place: str = "lab/tree") -> str:
        return f"{address}/{place}/{place_of(notebook)}?token={token}&reset"

    def kernels() -> list[dict]:
        """Those that the server knows; none where it fails, as it does while one is
        going: ask again."""
        try:
            with urllib.request.urlopen(
                f"{address}/api/kernels?token={token}", timeout=PATIENCE
            ) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code != 500:
                raise
            return []

    with serving(
        "jupyterlab",
        words,
        f"{address}/api?token={token}",
        home / "lab.log",
        env=environment,
    ):
        yield SimpleNamespace(url=url, kernels=kernels, notebooks=home / "notebooks")


@pytest.fixture
def open_page(playwright, chromium, tmp_path):
    """Opens a page in a fresh browser, and remembers what the console complains
    about."""
    context = playwright.chromium.launch_persistent_context(
        str(tmp_path / "profile"),
        executable_path=chromium,
        args=QUIET,
        viewport={"width": 1280, "height": 900},
    )

    context.set_default_timeout(1000 * PATIENCE)

    def open_at(address: str, before: str = ""):
        page = context.new_page()
        page.add_init_script(before)
        page.complaints = []
        page.on(
            "console",
            lambda said: said.type == "error" and page.complaints.append(said.text),
        )
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.goto(address, wait_until="domcontentloaded")
        return page

    yield open_at
    # what a failing test leaves to look at
    for number, page in enumerate(context.pages):
        page.screenshot(path=tmp_path / f"page-{number}.png")
    context.close()


def run_all(page, lab) -> None:
    """Run every cell and wait until the kernel has been idle for a while."""
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    # The light says "idle" before there is a kernel: wait for one that the page has
    # connected to.
    for _ in range(2 * PATIENCE):
        if any(
            kernel["connections"] and kernel["execution_state"] == "idle"
            for kernel in lab.kernels()
        ):
            break
        page.wait_for_timeout(500)
    page.wait_for_selector(f"{KERNEL}[data-status='idle']")
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    # Cells off the screen are not in the page, so their numbers cannot be read: ask the
    # kernel's light, or the first cell's prompt, [*] or [1], where the light was back
    # to idle before anybody looked.
    begun = (
        "[...document.querySelectorAll('.jp-InputPrompt')].some(one =>"
        " /\\[[*0-9]/.test(one.innerText))"
    )
    page.wait_for_function(
        f"() => !!document.querySelector(\"{KERNEL}[data-status='busy']\") || {begun}"
    )
    idle = 0
    for _ in range(2 * PATIENCE):
        page.wait_for_timeout(500)
        idle = idle + 1 if page.locator(f"{KERNEL}[data-status='idle']").count() else 0
        if idle == 4:
            return
    pytest.fail("the notebook does not finish")


@pytest.fixture
def start(lab, open_page, request):
    """The first notebook as it comes, all cells run."""
    # a test before may have saved its outputs
    shutil.copy(ROOT / "notebooks/00_start.ipynb", lab.notebooks)
    page = open_page(lab.url("00_start.ipynb", *getattr(request, "param", ())))
    run_all(page, lab)
    return page


def look_at(page, panel: int) -> dict:
    """Scroll to a panel, wait for its figure, and say what is in it."""
    page.mouse.move(640, 500)
    # cells far from the screen are not in the page: scroll until the panel is
    for _ in range(80):
        if page.locator(PANEL).count() > panel:
            break
        page.mouse.wheel(0, 400)
        page.wait_for_timeout(60)
    page.locator(PANEL).nth(panel).scroll_into_view_if_needed()
    here = f"document.querySelectorAll('{PANEL}')[{panel}]"
    plot, scene = (
        f"{here}.querySelector('{kind}')" for kind in (".js-plotly-plot", ".nv-scene")
    )
    page.wait_for_function(
        f"{scene}?.querySelector('{HOLDS}') || {plot}?.data?.length &&"
        f" {plot}.querySelector('.main-svg')"
    )
    return page.evaluate(f"""() => {{
        const scene = {scene}, plot = {plot};
        const panel = {here}.clientWidth, width = scene?.clientWidth;
        const inside = (what) => scene.querySelectorAll(what).length;
        const longer = (sum, trace) => sum + (trace.x || trace.z || []).length;
        return scene
            ? {{traces: inside("svg > g"), points: inside("{HOLDS}"), width, panel}}
            : {{traces: plot.data.length, points: plot.data.reduce(longer, 0),
               width: plot._fullLayout.width, panel}};
    }}""")


def move_a_slider(page, panel: int, place: int = 0) -> None:
    """One key on a slider, or another choice, or a preset: the picture changes, and it
    is done."""
    here = page.locator(PANEL).nth(panel)
    here.scroll_into_view_if_needed()
    node = f"document.querySelectorAll('{PANEL}')[{panel}]"
    plot = f"{node}.querySelector('.js-plotly-plot')"
    scene = f"{node}.querySelector('.nv-scene')"
    shown = (
        f"JSON.stringify({plot} ? [{plot}.data.map(trace => [trace.x, trace.y, trace.z,"
        f" trace.text]), ({plot}.layout.annotations || []).map(note => note.text)] :"
        f" {scene}.innerHTML)"
    )
    before = page.evaluate(shown)
    handles = here.locator(".noUi-target:not([disabled]) .noUi-handle:visible")
    if handles.count():
        handle = handles.nth(place)
        lowest = handle.get_attribute("aria-valuenow") == handle.get_attribute(
            "aria-valuemin"
        )
        handle.focus()
        page.keyboard.press("ArrowRight" if lowest else "ArrowLeft")
    elif not here.locator("select:visible").count():
        here.locator(".nv-presets button").last.click()
    else:
        choice = here.locator("select:visible").first
        choice.select_option(
            index=0 if choice.evaluate("list => list.selectedIndex") else 1
        )
    page.wait_for_function(f"before => {shown} !== before", arg=before)
    says = f"{node}.querySelector('.nv-status').innerText"
    page.wait_for_function(f"{says}.startsWith('done')")


def press_a_button(page, label: str, says: str) -> None:
    """A preset of the first panel takes it to where its label says."""
    panel = page.locator(PANEL).first
    panel.scroll_into_view_if_needed()
    assert says not in page.evaluate(SAID)
    panel.locator(".nv-presets").get_by_role("button", name=label, exact=True).click()
    page.wait_for_function(f"says => {SAID}.includes(says)", arg=says)


def save(page) -> None:
    page.keyboard.press("Escape")
    page.keyboard.press("Control+s")
    page.wait_for_function("!document.querySelector('.jp-mod-dirty')")


HERE = f"document.querySelector('{PANEL}')"
INSIDE = """(panel, one) => {
  const [outer, inner] = [panel, one].map((node) => node.getBoundingClientRect());
  const fits = outer.left <= inner.left && inner.right <= outer.right;
  return fits && outer.top <= inner.top;
}"""


def errors_shown(page) -> list[str]:
    """Errors and warnings that cells print, and panels' status lines in trouble."""
    mime = "[data-mime-type='application/vnd.jupyter.{}']"
    places = (
        f".jp-OutputArea-output{mime.format('stderr')},"
        f" .jp-OutputArea-output{mime.format('error')}"
    )
    return page.locator(f"{places}, .nv-error, .nv-gone").all_inner_texts()


CUT_OFF = f"""() => {{
    const canvas = document.createElement('canvas').getContext('2d'), found = [];
    for (const list of document.querySelectorAll('{PANEL} select')) {{
        if (!list.offsetParent) continue;
        const style = getComputedStyle(list);
        const [left, right] = [style.paddingLeft, style.paddingRight].map(parseFloat);
        const room = list.clientWidth - left - right;
        canvas.font = style.font;
        for (const {{text}} of list.options)
            if (canvas.measureText(text).width > room + 1) found.push(text);
    }}
    return found;
}}"""
"""Options that are longer than their lists are wide."""


@pytest.mark.parametrize(
    ("notebook", "panels"),
    [
        ("00_start.ipynb", 1),
        pytest.param("01_matrix_factorization.ipynb", 1, marks=pytest.mark.full),
        pytest.param("02_single_layer_fibers.ipynb", 1, marks=pytest.mark.full),
        pytest.param("03_singular_locus.ipynb", 4, marks=pytest.mark.full),
        pytest.param("04_deep_dimension.ipynb", 4, marks=pytest.mark.full),
        pytest.param("05_softmax_conjecture.ipynb", 5, marks=pytest.mark.full),
        pytest.param("beyond/unrolling.ipynb", 1, marks=pytest.mark.full),
        pytest.param("beyond/proofs.ipynb", 4, marks=pytest.mark.full),
        pytest.param("beyond/beyond.ipynb", 3, marks=pytest.mark.full),
        pytest.param("beyond/heads.ipynb", 2, marks=pytest.mark.full),
        pytest.param("beyond/transformers.ipynb", 2, marks=pytest.mark.full),
        pytest.param("beyond/memorisation.ipynb", 1, marks=pytest.mark.full),
    ],
)
def test_a_notebook_runs_and_answers_in_a_real_browser(
    lab, open_page, notebook, panels
):
    page = open_page(lab.url(notebook))
    run_all(page, lab)
    for panel in range(panels):
        seen = look_at(page, panel)
        assert seen["traces"] >= 2 and seen["points"] > 0, seen
        assert abs(seen["width"] - seen["panel"]) < 30, seen
        assert page.evaluate(CUT_OFF) == []
    assert page.locator(PANEL).count() == panels

    for panel in range(panels):
        # another basis moves no pole
        is_still = notebook == "beyond/transformers.ipynb" and panel == 1
        move_a_slider(page, panel, -1 if is_still else 0)
    if notebook == "04_deep_dimension.ipynb":
        press_a_button(
            page, "four layers, basis in the middle", says="Between the layers 2 and 3"
        )
    page.locator(PANEL).first.scroll_into_view_if_needed()

    buttons = page.locator(f"{PANEL} .modebar-btn").evaluate_all(
        "all => all.map(b => b.dataset.title)"
    )
    assert not [
        t for t in buttons if re.search("share|cloud|produced", t, re.IGNORECASE)
    ], buttons
    assert errors_shown(page) == []
    assert page.complaints == []
    if folder := os.environ.get("NEUROVIZ_PICTURES"):  # `make pictures`
        page.keyboard.press("Escape")
        page.keyboard.press("Control+b")  # no file browser in the picture
        page.wait_for_timeout(1500)
        page.locator(PANEL).first.scroll_into_view_if_needed()
        picture = Path(folder) / f"{Path(notebook).stem}.png"
        if notebook == "00_start.ipynb":
            picture.write_bytes(animated(dragged(page, PANEL, "layers"), seconds=0.8))
        else:
            page.screenshot(path=picture)
    if notebook != "beyond/memorisation.ipynb":  # it has lists and fields alone
        assert rooms_of(page) == [266, 108]
        enlarge(page)
        assert rooms_of(page) == [340, 156] and page.evaluate(CUT_OFF) == []


SLIDERS = ".nv-controls .widget-slider:visible"


def with_sliders(page):
    return page.locator(PANEL).filter(has=page.locator(SLIDERS)).first


def rooms_of(page) -> list[int]:
    """Pixels of a slider of the first panel that shows one, and of its label."""
    slider = with_sliders(page).locator(SLIDERS).first
    boxes = slider, slider.locator(".widget-label")
    return [round(box.bounding_box()["width"]) for box in boxes]


def enlarge(page) -> None:
    """The mode Lecture, pressed in the first panel that shows a slider."""
    panel = with_sliders(page)
    panel.get_by_role("button", name="⋯", exact=True).click()
    panel.get_by_role("button", name="Lecture", exact=True).click()
    page.wait_for_selector(f"{PANEL}.nv-lecture")


@pytest.mark.long
def test_what_is_dragged_in_the_page_python_says_exactly(lab, open_page):
    """The point goes with the pointer; controls, words and badge follow, as in a panel
    opened there."""
    code = "from neuroviz.explorables import SurfaceExplorer\nSurfaceExplorer()"
    page = open_page(lab.url(written(lab, "surface.ipynb", code)))
    run_all(page, lab)
    look_at(page, 0)
    here = page.locator(PANEL).first
    grip = here.locator(".nv-handle[aria-label='the point']")
    here.get_by_role("button", name="⋯").click()
    page.wait_for_selector(f"{PANEL} .nv-state input")
    state = f"document.querySelector('{PANEL} .nv-state input').placeholder"
    opened = page.evaluate(state)
    box = grip.bounding_box()
    x = box["x"] + box["width"] / 2
    y = box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 40, y + 30, steps=10)
    page.mouse.up()
    page.wait_for_function(f"opened => {state} !== opened", arg=opened)
    page.wait_for_function(f"!document.querySelector('{PANEL} .nv-old')")
    page.wait_for_function(
        f"document.querySelector('{PANEL} .nv-status').innerText.startsWith('done')"
    )
    seen: list[str] = []

    def stands_still() -> bool:
        """Moves are sent 25 times a second: the last may come after the hand let go."""
        page.wait_for_timeout(500)
        seen.append(page.evaluate(f"{state} + {SAID}"))
        return len(seen) > 1 and seen[-1] == seen[-2]

    assert eventually(stands_still)
    panel = SurfaceExplorer(state=page.evaluate(state))
    assert (
        here.locator(".nv-description").inner_text().split()
        == panel.description.split()
    )
    # to the two digits that are shown
    for words, name in (("which line", "where"), ("along it", "along")):
        assert float(readout_of(here, words)) == pytest.approx(
            panel.controls[name].value, abs=0.0051
        )
    panel.close()
    assert errors_shown(page) == [] and page.complaints == []


@pytest.mark.long
def test_the_network_of_a_cell_is_chosen_by_mouse_and_by_keyboard(lab, open_page):
    """Sliders, badges, words and ring follow, as in a panel opened there."""
    code = "from neuroviz.explorables import HypothesesExplorer\nHypothesesExplorer()"
    page = open_page(lab.url(written(lab, "map.ipynb", code)))
    run_all(page, lab)
    look_at(page, 0)
    here = page.locator(PANEL).first

    def is_at(head_1: int, head_2: int) -> None:
        """Once Python has answered."""
        network = f"a₁ = {head_1}, a₂ = {head_2}:"
        here.locator(".cell.chosen").and_(
            here.get_by_role("gridcell", name=network)
        ).wait_for()
        panel = HypothesesExplorer(state=f"head_1={head_1};head_2={head_2}")
        words = f"document.querySelector('{PANEL} .nv-description').textContent"
        page.wait_for_function(f"said => {words} === said", arg=panel.description)
        page.wait_for_function(f"!document.querySelector('{PANEL} .nv-old')")
        assert here.locator(".nv-badge").all_inner_texts() == badges_of(panel)
        readouts = [readout_of(here, f"head dimension {name}") for name in ("a₁", "a₂")]
        assert readouts == [str(head_1), str(head_2)]
        panel.close()

    is_at(1, 3)
    film = here.locator(".nv-view-film")
    assert not film.is_visible()
    here.get_by_role("gridcell", name="a₁ = 4, a₂ = 2:").click()
    is_at(4, 2)
    film.get_by_text("the film of lightning 4→4→4, a = 4, 2, t = 3").wait_for()
    film.get_by_text("random tokens come in").wait_for()

    # After the last control the Tab key reaches the map, at the chosen cell.
    here.locator(".nv-controls :is(.noUi-handle, select):visible").last.focus()
    focused = "document.activeElement.ariaLabel"
    for _ in range(5):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.role === 'gridcell'"):
            break
    assert "a₁ = 4, a₂ = 2:" in page.evaluate(focused)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    assert "a₁ = 5, a₂ = 3:" in page.evaluate(focused)
    is_at(4, 2)  # until now one has looked
    page.keyboard.press("Enter")
    is_at(5, 3)
    assert "a₁ = 5, a₂ = 3:" in page.evaluate(focused)

    # A badge answers, and leads to the page of its statement.
    here.locator("button.nv-badge").nth(1).click()
    opened = page.locator(".nv-why:popover-open")
    assert "Corollary 3.8" in opened.inner_text() and "✗" in opened.inner_text()
    leads = opened.locator("a").get_attribute("href")
    there = "lab/tree/docs/mathematics/deep_networks.md?factory=Markdown%20Preview"
    assert leads.endswith(there)
    page.keyboard.press("Escape")
    opened.wait_for(state="hidden")
    assert errors_shown(page) == [] and page.complaints == []


@pytest.mark.long
def test_a_button_far_from_its_panel_leads_there_and_back(lab, open_page):
    """It stands two windows below; the panel comes to the top, and has the focus."""
    page = open_page(
        lab.url(
            written(
                lab,
                "lead.ipynb",
                "from neuroviz.explorables import FiberExplorer\n"
                "from neuroviz.kit.presets import presets\n"
                "panel = FiberExplorer()\npanel",
                "print('\\n' * 80)",
                "presets(panel, {'rank one': 'preset=rank-one'})",
            )
        )
    )
    run_all(page, lab)
    preset = page.get_by_role("button", name="rank one", exact=True)
    preset.scroll_into_view_if_needed()
    focused = "document.activeElement.textContent"
    top = "document.activeElement.getBoundingClientRect().top"
    preset.click()
    page.wait_for_function(f"{focused} === 'Back to the text'")
    assert 0 <= page.evaluate(top) < 200
    page.keyboard.press("Enter")
    page.wait_for_function(f"{focused} === 'rank one'")
    assert 0 <= page.evaluate(top) < 900
    assert page.get_by_text("Back to the text").count() == 0
    assert errors_shown(page) == [] and page.complaints == []


def badges_of(panel) -> list[str]:
    """What the badges of a panel say, in Python."""
    pieces = re.findall(r"nv-badge[^>]*>([^<]*)<", title(panel))
    return [unescape(piece) for piece in pieces]


def readout_of(panel, slider: str) -> str:
    """The number beside a slider, without its zeros at the end."""
    shown = panel.locator(".widget-slider:visible", has_text=slider).locator(
        ".widget-readout"
    )
    return f"{float(shown.inner_text().replace('−', '-')):.3g}"


@pytest.mark.full
def test_the_keyboard_reaches_everything_and_the_state_is_copied_or_selected(start):
    page = start
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    look_at(page, 0)
    page.locator(PANEL).first.get_by_role("button", name="⋯").click()
    button = page.locator(f"{PANEL} .nv-copy button")
    button.click()
    page.wait_for_function(
        "document.querySelector('.nv-copy button').innerText === 'Copied'"
    )
    said = page.evaluate("navigator.clipboard.readText()")
    assert said.startswith('LedgerExplorer(state="width=') and said.endswith('")')

    typed = page.locator(f"{PANEL} .nv-state input")
    typed.fill("width=99")  # not entered yet
    button.click()
    page.wait_for_selector(".nv-error")
    assert ["width goes from 1 to 8" in one for one in errors_shown(page)] == [True]
    for wide in (820, 1280):  # in a narrow window, too, the message stays in its panel
        page.set_viewport_size({"width": wide, "height": 720})
        assert page.evaluate(
            f"(panel => ({INSIDE})(panel, panel.querySelector('.nv-error')))({HERE})"
        )
    assert page.evaluate("navigator.clipboard.readText()") == said
    typed.fill(said.split('"')[1])
    typed.press("Enter")
    page.wait_for_selector(".nv-error", state="detached")
    assert errors_shown(page) == []

    page.evaluate(
        "() => { navigator.clipboard.writeText = () => Promise.reject(new"
        " Error('refused')); }"
    )
    button.click()
    page.wait_for_function("document.activeElement.matches('.nv-copy input')")
    assert (
        page.evaluate("getSelection().toString() || document.activeElement.value")
        == said
    )
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.innerText") in ("Copy", "Copied")
    assert page.complaints == []

    # Tab reaches every control, each has a name, and one sees where one is.
    here = page.locator(PANEL).first
    here.locator("button", has_text="More").click()
    name = (
        "e => e.getAttribute('aria-label') || e.labels?.[0]?.innerText || e.innerText"
    )
    controls = (
        ".nv-controls :is(.noUi-handle:not([aria-disabled=true]), select, input,"
        " button)"
    )
    wanted = here.locator(controls).evaluate_all(
        f"all => all.filter(e => !e.disabled).map({name})"
    )
    assert len(wanted) > 5 and all(wanted)
    here.locator(".noUi-handle").first.focus()
    reached = []
    while len(reached) < 60 and page.evaluate(
        f"!!document.activeElement.closest('{PANEL}')"
    ):
        reached.append(page.evaluate(f"({name})(document.activeElement)"))
        ring = (
            "(s => [s.outlineStyle,"
            " s.outlineWidth])(getComputedStyle(document.activeElement))"
        )
        assert page.evaluate(ring) == ["solid", "3px"], reached[-1]
        page.keyboard.press("Tab")
    assert [one for one in wanted if one not in reached] == []


@pytest.mark.full
def test_after_a_commitment_the_keyboard_goes_on(start):
    page = start
    entry = page.locator(".jp-OutputArea input[placeholder='a number']").first
    entry.scroll_into_view_if_needed()
    entry.click()
    page.keyboard.type("46")
    page.keyboard.press("Enter")
    page.wait_for_function("document.activeElement.innerText === 'Locked in'")
    active = (
        "[...document.querySelectorAll('.jp-Cell')].findIndex(c =>"
        " c.matches('.jp-mod-active'))"
    )
    before = page.evaluate(active)
    page.keyboard.press("Shift+Enter")
    page.wait_for_function(f"{active} === {before + 1}")
    # The cell has been run again, and still shows the answer.
    said = page.locator(".jp-OutputArea", has_text="You said 46; it is 38")
    said.first.wait_for()
    page.wait_for_timeout(1500)
    assert (
        said.count() == 1
        and page.locator(".jp-OutputArea button", has_text="Locked in").count() == 1
    )
    assert page.complaints == []


@pytest.mark.full
def test_a_cell_that_runs_again_shows_its_new_panel_and_no_other(start):
    page = start
    for _ in range(2):
        look_at(page, 0)
        page.evaluate(f"document.querySelector('{PANEL}').dataset.earlier = 'yes'")
        # its code is folded at first
        cell = page.locator(".jp-CodeCell", has=page.locator(PANEL))
        cell.locator(".jp-Placeholder, .cm-content").first.click()
        page.keyboard.press("Control+Enter")
        page.wait_for_function(
            f"document.querySelector('{PANEL}:not([data-earlier]) .nv-handle')"
        )
        move_a_slider(page, 0)
        assert page.locator(PANEL).count() == 1
    assert errors_shown(page) == []
    assert page.complaints == []


@pytest.mark.full
@pytest.mark.parametrize("start", [["lab/tree"], ["notebooks"]], indirect=True)
def test_two_tabs_on_one_kernel_a_page_loaded_again_and_a_restart(start, open_page):
    """In JupyterLab, and in Notebook 7, whose pages the same server has."""
    page = start
    look_at(page, 0)
    save(page)
    other = open_page(page.url)
    look_at(other, 0)
    for here, there in ((page, other), (other, page)):
        before = here.evaluate(SAID)
        here.bring_to_front()
        move_a_slider(here, 0)
        here.wait_for_function(f"before => {SAID} !== before", arg=before)
        there.bring_to_front()
        there.wait_for_function(f"said => {SAID} === said", arg=here.evaluate(SAID))
    other.close()

    page.goto(page.url, wait_until="domcontentloaded")  # the kernel goes on
    look_at(page, 0)
    move_a_slider(page, 0)

    page.evaluate(f"document.querySelector('{PANEL}').dataset.earlier = 'yes'")
    page.get_by_role("menuitem", name="Kernel", exact=True).click()
    page.get_by_role("menuitem", name="Restart Kernel and Run All Cells…").click()
    page.locator(".jp-Dialog .jp-mod-accept").click()
    page.wait_for_selector(f"{PANEL}[data-earlier]", state="detached")
    look_at(page, 0)
    move_a_slider(page, 0)
    assert errors_shown(page) == []
    # Notebook complains without a panel, too
    assert page.complaints == [] or "/lab/" not in page.url


SESSION = "window.jupyterapp.shell.currentWidget?.sessionContext.session"
IN_THE_KERNEL = f"{SESSION}.kernel"
LINE = f"document.querySelector('{PANEL} .nv-status').innerText"
OLD = f"""[...document.querySelectorAll('{PANEL} .nv-old')].map(one => {{
    if (one.matches('.nv-figure')) return 'figure';
    return one.querySelector('.nv-title') ? 'badges' : 'description';
}}).sort().join()"""
"""Which pieces of the first panel are dimmed, as they are of other values of its
controls."""
SLEEPS = """
import pathlib, time
pathlib.Path({asleep!r}).touch()
while not pathlib.Path({wake!r}).exists():
    time.sleep(0.05)
"""
"""A cell that says when it has begun, and sleeps until it is woken."""


@pytest.mark.long
def test_a_second_window_and_a_sleeping_cell_dim_an_answer_beside_another_setting(
    start, open_page, tmp_path
):
    """No event arrives here: a cell sleeps, then another window restarts the kernel."""
    page = start
    look_at(page, 0)
    assert page.evaluate(OLD) == "" and page.evaluate(LINE).startswith("done")

    # A cell that sleeps, below a panel that nobody has touched.
    page.keyboard.press("Escape")
    other = open_page(page.url)
    other.wait_for_selector(f"{KERNEL}[data-status='idle']")
    other.wait_for_function(f"!!{SESSION}?.kernel")  # it comes after its sign
    asleep = tmp_path / "asleep"
    wake = tmp_path / "wake"
    cell = SLEEPS.format(asleep=str(asleep), wake=str(wake))
    other.evaluate(f"code => void {IN_THE_KERNEL}.requestExecute({{ code }})", cell)
    assert eventually(asleep.exists)
    page.bring_to_front()
    page.locator(f"{PANEL} .noUi-handle").first.press("ArrowRight")
    page.wait_for_function(f"{LINE} === 'waiting for Python'")
    assert page.evaluate(OLD) == "badges,description,figure"
    wake.touch()
    page.wait_for_function(f"{LINE}.startsWith('done')")
    page.wait_for_function(f"{OLD} === ''")

    # The kernel is restarted in the second window; the first one is told nothing.
    before = page.evaluate(SAID)
    other.bring_to_front()
    other.evaluate(f"{IN_THE_KERNEL}.restart()")
    other.wait_for_selector(f"{KERNEL}[data-status='idle']")
    page.bring_to_front()
    page.locator(f"{PANEL} .noUi-handle").first.press("ArrowRight")
    page.wait_for_function(f"{OLD} === 'badges,description,figure'")
    page.wait_for_function(f"{LINE}.includes('Run the cell again')")
    assert (
        page.evaluate(SAID) == before
        and page.evaluate(OLD) == "badges,description,figure"
    )
    other.close()


@pytest.mark.full
def test_without_a_kernel_a_notebook_has_pictures_and_says_how_to_get_the_panels(
    start, lab
):
    page = start
    look_at(page, 0)
    page.wait_for_selector("img.nv-kept", state="attached")
    assert not page.locator("img.nv-kept:visible").count()
    save(page)
    page.get_by_role("menuitem", name="Kernel", exact=True).click()
    page.get_by_role("menuitem", name="Shut Down Kernel", exact=True).click()
    page.locator(f"{PANEL} .nv-gone", has_text="this kernel has ended").wait_for()
    page.locator(f"{PANEL} .noUi-handle").first.press("ArrowRight")
    page.wait_for_selector(f"{PANEL} .nv-old.nv-figure")
    page.goto(page.url, wait_until="domcontentloaded")
    gone = page.locator(".jp-OutputArea-output", has_text="model not found")
    gone.nth(1).wait_for()  # the question and the panel
    for one in gone.all():
        said = one.evaluate(
            "e => [getComputedStyle(e).fontSize, getComputedStyle(e,"
            " '::after').content]"
        )
        assert said == ["0px", f'"{SAVED}"']
    page.wait_for_function("document.querySelector('img.nv-kept').naturalWidth > 800")
    assert page.locator("img.nv-kept:visible").count() == 1
    run_all(page, lab)
    look_at(page, 0)
    assert gone.count() == 0


@pytest.mark.full
def test_a_plain_key_in_a_panel_does_nothing_to_the_notebook(start):
    page = start
    look_at(page, 0)
    page.locator(f"{PANEL} .noUi-handle").first.click()
    for _ in range(2):
        page.keyboard.press("d")
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(1000)
    assert page.locator(PANEL).count() == 1
    page.keyboard.press("Shift+Enter")  # which goes on to the next cell, as ever
    page.wait_for_function(f"!document.activeElement.closest('{PANEL}')")
    assert page.complaints == []


@pytest.mark.full
def test_the_buttons_of_figure_3_save_files(lab, open_page, tmp_path):
    page = open_page(lab.url("05_softmax_conjecture.ipynb"))
    run_all(page, lab)
    look_at(page, 2)
    here = page.locator(PANEL).nth(2)
    here.get_by_role("button", name="⋯").click()
    for name, begins in (("CSV", b"delta,"), ("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with page.expect_download() as saved:
            here.get_by_role("button", name=name, exact=True).click()
        saved.value.save_as(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(begins)


def written(lab, name: str, *cells: str) -> str:
    """A notebook of these cells."""
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell) for cell in cells]
    )
    notebook.metadata = {"kernelspec": KERNEL_SPEC, "language_info": LANGUAGE}
    nbformat.write(notebook, lab.notebooks / name)
    return name


@pytest.mark.full
def test_a_notebook_takes_part_in_a_class(lab, open_page, tmp_path):
    with held(make_site(tmp_path / "site")) as room:
        name = written(
            lab,
            "class.ipynb",
            f"from neuroviz.lessons import join\njoin('{room.students}')",
            "from neuroviz.lessons.teaching import predict\n"
            "predict('How many dimensions?', 38, wrong={64: 'All of them.'})",
        )
        page = open_page(lab.url(name))
        run_all(page, lab)
        page.get_by_label("My guess").fill("64")
        page.get_by_role("button", name="Lock in, then show").click()
        page.get_by_text("Locked in: the answer comes").wait_for()
        teacher = teacher_of(room)
        teacher.ask("POST", "/", {"again": NUMBER})
        page.get_by_text("You said 64. The class votes again.").wait_for()
        page.get_by_label("My guess").fill("64")
        page.get_by_role("button", name="Lock in, then show").click()
        page.get_by_text("Locked in: the answer comes").wait_for()
        teacher.ask("POST", "/", {"open": NUMBER})
        page.get_by_text("All of them.").wait_for()
        assert page.complaints == []


@pytest.mark.full
def test_home_and_end_go_to_the_ends_that_a_slider_has_now(lab, open_page):
    code = (
        "from neuroviz_beyond.explorables import UnrollingExplorer\nUnrollingExplorer()"
    )
    page = open_page(lab.url(written(lab, "unrolled.ipynb", code)))
    run_all(page, lab)
    look_at(page, 0)
    layers, place = (
        page.locator(f".noUi-handle[aria-label='{name}']")
        for name in ("layers l", "place k")
    )
    now = (
        "name =>"
        " document.querySelector(`.noUi-handle[aria-label='${name}']`).ariaValueNow"
    )
    for _ in range(2):
        layers.press("ArrowRight")
    page.wait_for_function(f"({now.replace('Now', 'Max')})('place k') === '40.0'")
    for key, end in (("End", "40.0"), ("Home", "1.0"), ("End", "40.0")):
        place.press(key)
        page.wait_for_function(f"end => ({now})('place k') === end", arg=end)
        in_scene = (
            "document.querySelector('.nv-scene [aria-label=\"place k\"]').ariaValueNow"
        )
        page.wait_for_function(f"end => Number({in_scene}) === Number(end)", arg=end)
    assert page.complaints == []


def test_an_option_that_is_cut_off_would_be_seen(bare_page):
    lists = "".join(
        f"<select style='width:{width}px'><option>an option</option></select>"
        for width in (30, 200)
    )
    bare_page.set_content(
        f"<div class='nv'><p class='nv-title'>a panel</p>{lists}</div>"
    )
    assert bare_page.locator(PANEL).count() == 1 and bare_page.evaluate(CUT_OFF) == [
        "an option"
    ]


@pytest.mark.long
def test_the_page_forgets_an_empty_text_and_no_space(bare_page, tmp_path):
    """Why figures have spaces. Where "" is no longer forgotten,
    `parts._without_empty_texts` can go."""
    shown = {}
    for empty in ("", " "):
        figure = go.Figure(
            {"x": [1, 2], "y": [1, 2], "text": [empty, "b"], "mode": "markers+text"}
        )
        (tmp_path / "page.html").write_text(
            figure.to_html(div_id="plot"), encoding="utf-8"
        )
        bare_page.goto((tmp_path / "page.html").as_uri())
        bare_page.wait_for_selector("#plot .textpoint", state="attached")
        bare_page.evaluate("() => Plotly.update('plot', {text: [['a', 'b']]}, {})")
        shown[empty] = bare_page.evaluate(
            "() => [...document.querySelectorAll('#plot .textpoint')].map(point =>"
            " point.textContent)"
        )
    assert shown == {"": ["b"], " ": ["a", "b"]}
