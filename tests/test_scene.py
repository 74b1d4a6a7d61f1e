"""Scenes in a real browser, without a kernel: their arithmetic is Python's, and one takes hold of things."""

import base64
import gzip
import json
import random
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from panels import PATIENCE
from test_surface_explorer import SETTINGS

from neuroviz.beyond.proof.immersion_panel import ProofExplorer
from neuroviz.beyond.proof.uniqueness_panel import SingletonExplorer
from neuroviz.beyond.training.panel import FlowExplorer
from neuroviz.beyond.unrolling.panel import UnrollingExplorer
from neuroviz.beyond.unrolling.unrolling import UnrollSetting, study_unrolling
from neuroviz.deep.ledger import FAMILIES, LedgerSetting, parts_of
from neuroviz.deep.ledger_panel import LedgerExplorer
from neuroviz.deep.virtual_panel import VirtualWeightsExplorer
from neuroviz.engine.field import Reals
from neuroviz.engine.formulas import expected_dimension
from neuroviz.engine.ledger import kernel_ledger
from neuroviz.engine.network import Layer, flatten, forward
from neuroviz.engine.rank import numerical_rank
from neuroviz.engine.symmetry import WALKS
from neuroviz.factorization.determinantal import rank_one_point, ruling
from neuroviz.factorization.figure import RANKS, heads_of
from neuroviz.factorization.panel import FactorizationExplorer, FactorizationSetting, study_factorization
from neuroviz.kit import theme
from neuroviz.kit.page import bundle
from neuroviz.kit.words import signed
from neuroviz.single_layer.panel import FiberExplorer
from neuroviz.singular import section_panel
from neuroviz.singular.chart import chart_of, half_sizes, in_drawing, local_of, stretch_of
from neuroviz.singular.section import section_of
from neuroviz.singular.section_figure import _box
from neuroviz.singular.section_panel import SectionExplorer, SectionSetting
from neuroviz.singular.space import camera_of
from neuroviz.singular.surface_panel import SurfaceExplorer
from neuroviz.singular.surface_point import point_at

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

ROOT = Path(__file__).parent.parent
AGREE = 1e-9
SIZES = ("width", "width_out", "layers", "widths", "head_dims")
NETWORK = "deep/javascript/ledger_network.js"
LOAD = "async ([name, code]) => { const blob = new Blob([code], {type: 'text/javascript'});" \
    " window[name] = await import(URL.createObjectURL(blob)); }"  # fmt: skip
SLICES = [*SETTINGS.values()]
POINT, ROOT_HANDLE = (f".nv-handle[aria-label='{name}']" for name in ("the point", "the common root"))


def some(draw: random.Random) -> float:
    return round(draw.uniform(-1, 1), 6)


def load(page, path: str = "", code: str = "") -> None:
    """A file of the package, or a bundle; and what tests ask of a page."""
    code = code or (ROOT / "neuroviz" / path).read_text(encoding="utf-8")
    for named in (
        ["code", code],
        ["helper", Path(__file__).with_name("scene.js").read_text(encoding="utf-8")],
    ):
        page.evaluate(LOAD, named)


def ask(page, name: str, *arguments: object) -> object:
    """A function of scene.js."""
    return page.evaluate("([name, all]) => helper[name](...all)", [name, [*arguments]])


# Local is what Python says


def test_the_page_cuts_1000_random_sections_as_python_does(bare_page):
    load(bare_page, "singular/javascript/section_plane.js")
    draw, kinds = random.Random(4), set()
    for settings in SLICES:
        chart = chart_of(SectionSetting(**settings).slice)
        slice, long = chart.slice, int(half_sizes(chart.slice)[0] > 1)
        angles = [[draw.choice([0, draw.randrange(-90, 91, 5)]) for _ in range(2)] for _ in range(125)]
        places = [{"turn": turn, "tilt": tilt, "offset": some(draw)} for turn, tilt in angles]
        local = local_of(chart) | {"eye": list(camera_of(chart).eye)}
        for place, page in zip(places, ask(bare_page, "sections", local, places), strict=True):
            frame, plane = section_panel._plane(chart, SectionSetting(**settings, **place))
            exact = section_of(slice, plane, 25)
            assert page["at"] == pytest.approx(frame.offset, abs=AGREE), place
            for name in ("normal", "across", "up"):
                np.testing.assert_allclose(page[name], getattr(frame, name), atol=AGREE)
            box = _box(half_sizes(slice), frame)  # Python rounds it for the figure
            np.testing.assert_allclose([page["middle"], page["size"]], box, atol=0.00051)
            # A corner is on the plane, on its ruling and in the window; chords are near to the curve.
            cut = np.array([one for run in page["runs"] for one in run]).reshape(-1, 4)
            p, (base, way) = cut[:, :3], slice.lines(cut[:, 3])
            np.testing.assert_allclose(p @ frame.normal, frame.offset, atol=AGREE)
            beside = p / stretch_of(slice) + slice.window.centre - base
            beside -= (beside * way).sum(1, keepdims=True) * way
            assert np.abs(beside * stretch_of(slice)).max(initial=0) < AGREE, place
            assert (np.linalg.norm(p[:, long:], axis=1) <= 1 + AGREE).all()
            chords = np.array([chord for run in page["runs"] for chord in pairwise(run)])[..., :3]
            for run in (in_drawing(slice, run.points) for run in exact.runs):
                if np.linalg.norm(np.ptp(run, axis=0)) > 0.1:  # less may be between two rulings as drawn
                    assert farthest(run, chords) < 0.001, place
            assert len(page["along"]) == len(exact.along), place
            found = [(one["kind"], one["p"]) for one in page["singular"]]
            wanted = [(kind, in_drawing(slice, np.array(point)).tolist()) for kind, point in exact.singular]
            order = [sorted((kind, np.round(p, 6).tolist(), p) for kind, p in all) for all in (found, wanted)]
            for one, other in zip(*order, strict=True):
                assert one[0] == other[0] and one[2] == pytest.approx(other[2], abs=AGREE), place
            kinds |= {kind for kind, _ in found}
    assert kinds == {"crossing", "boundary", "closure only"}


def farthest(points: np.ndarray, chords: np.ndarray) -> float:
    """How far the farthest of these points is from the nearest chord."""
    start, way = chords[:, 0], chords[:, 1] - chords[:, 0]
    share = ((points[:, None] - start) * way).sum(-1) / np.maximum((way * way).sum(-1), 1e-300)
    away = points[:, None] - start - np.clip(share, 0, 1)[..., None] * way
    return np.linalg.norm(away, axis=-1).min(axis=1).max()


def test_the_page_factors_1000_random_products_as_python_does(bare_page):
    load(bare_page, "factorization/javascript/product.js")
    draw, ranks, asked, studies = random.Random(5), set(), [], []
    for _ in range(1000):
        some = [
            f"{draw.choice('QK')}{draw.randint(1, 4)}{draw.randint(1, 4)}" for _ in range(draw.randrange(4))
        ]
        setting = FactorizationSetting(
            d=draw.choice([1, 2, 2, 2, 3, 4, 6]), a=draw.choice([1, 1, 2, 3, 8]), walk=draw.choice(WALKS),
            along=draw.randint(-100, 100) / 100, rank=draw.choice(list(RANKS)), seed=draw.randint(0, 9),
            trace=draw.randint(0, 30) / 20, angle=draw.randint(0, 360), height=draw.randint(-100, 100) / 100,
            entries=" ".join(f"{name}={draw.randint(-60, 60) / 20}" for name in some),
        )  # fmt: skip
        studies.append(study_factorization(setting))
        asked.append([{**heads_of(studies[-1]), "start": None}, studies[-1].place])
    found = ask(bare_page, "products", asked)
    for study, page in zip(studies, found, strict=True):
        size = max(np.abs(study.products[0]).max(), study.point.unit if study.point else 0)
        near = {"atol": AGREE * (1 + size), "err_msg": str(study.place)}
        for name, layer in (("start", study.start), ("now", study.now)):
            for M, N in zip(page[name], layer[:2], strict=True):
                np.testing.assert_allclose(M, N, **near)
        np.testing.assert_allclose(page["A"], study.products, **near)
        np.testing.assert_allclose(page["spectra"], study.spectrum, **near)
        assert page["ranks"] == [numerical_rank(M) for M in study.start[:2]] and page["here"] == study.here
        np.testing.assert_allclose(np.array(page["C"]) @ page["back"], np.eye(len(page["C"])), atol=AGREE)
        point, other = study.point, page["point"]
        ranks.add(point and point.rank)
        if point is None:
            assert other is None and study.d != 2
            continue
        assert other["rank"] == point.rank
        foot = rank_one_point(other["trace"], other["angle"], other["height"])
        for one, same in ((other["trace"], point.trace), (other["place"], point.place), (foot, point.foot)):
            np.testing.assert_allclose(one, same, **near)
        assert other["unit"] == pytest.approx(point.unit)
        lines = [ruling(point.trace, point.angle, point.height, family, 2) for family in ("image", "kernel")]
        np.testing.assert_allclose(page["lines"], lines, **near)
        np.testing.assert_allclose(
            page["met"], foot, atol=1e-6 * (1 + np.abs(foot).max())
        )  # of a double root half
    assert ranks == {None, 0, 1, 2}


def test_a_motion_is_said_in_percent_as_far_as_that_is_read_at_a_glance(bare_page):
    load(bare_page, NETWORK)
    found = ask(bare_page, "movesBy", [0.004, 0.5, 9.99, 10, 69.325, 6932.51])
    words = ["0 %", "50 %", "999 %", "10 times its size", "69 times its size", "6,900 times its size"]
    assert found == words


# To take hold of


@pytest.fixture
def scene(bare_page):
    """Shows a panel's figure as a page without a kernel does; `.place()` is where the scene is then."""

    def show(state: str = "", motion: str = "no-preference", kind: type = SurfaceExplorer):
        bare_page.emulate_media(reduced_motion=motion)
        bare_page.set_content(f"{theme.css()}<div class='nv'><div id='box'></div></div>")
        load(bare_page, code=gzip.decompress(bundle("scenes")).decode())
        redraw(bare_page, kind(state=state))
        bare_page.wait_for_selector(".nv-handle[transform]")
        return bare_page

    return show


def place(page) -> dict:
    return ask(page, "place")


def middle(page, selector: str) -> tuple[float, float]:
    """Where a handle is in the page."""
    return tuple(ask(page, "middle", selector))


def dragged(page, selector: str, x: float, y: float, steps: int = 12) -> None:
    page.mouse.move(*middle(page, selector))
    page.mouse.down()
    page.mouse.move(x, y, steps=steps)
    page.mouse.up()
    page.wait_for_timeout(100)  # a frame


def said(page) -> str:
    return page.evaluate("box.textContent")


def redraw(page, panel, width: int = 1100) -> None:
    """As Python does when it has answered."""
    ask(page, "react", panel.figure.drawn, width)
    panel.close()


def test_the_point_goes_with_the_pointer_and_its_words_are_dimmed_until_python_says_them(scene):
    page = scene()
    x, y = middle(page, POINT)
    before = place(page)
    assert "nv-ahead" not in page.locator(".nv").get_attribute("class")
    dragged(page, POINT, x + 30, y + 30)
    assert np.hypot(*np.subtract(middle(page, POINT), (x + 30, y + 30))) < 3
    assert place(page) != before and place(page)["moves"] == "surface"
    assert "nv-ahead" in page.locator(".nv").get_attribute("class")
    assert "only Python says" in said(page)
    page.wait_for_function("getComputedStyle(box.querySelector('.nv-exact')).opacity < 0.5")


def test_the_point_snaps_to_the_yellow_line_and_there_are_two_sets_of_weights(scene):
    page = scene("moves=curve;where=0.928571")
    on_line = middle(page, POINT)
    page = scene()
    assert "one set of weights" in said(page)
    dragged(page, POINT, on_line[0] + 3, on_line[1] + 3)
    assert place(page)["moves"] == "curve" and "two sets of weights" in said(page)
    assert "both roots common" in said(page)
    assert abs(place(page)["where"] - 0.928571) < 0.02


def test_a_root_is_dragged_round_the_circle_and_the_point_follows(scene):
    page = scene()
    start, (x, y) = place(page), middle(page, ROOT_HANDLE)
    before = middle(page, POINT)
    dragged(page, ROOT_HANDLE, x + 25, y - 10)
    assert place(page)["along"] == start["along"] and abs(place(page)["where"] - start["where"]) > 0.02
    assert middle(page, POINT) != before


def test_the_keyboard_takes_the_point_to_the_yellow_line_and_back_and_turns_the_surface(scene):
    page = scene()
    page.locator(POINT).focus()
    page.keyboard.press("Shift+ArrowDown")
    while "two sets of weights" not in said(page):  # down its line the point meets the yellow one, exactly
        assert place(page)["along"] > -1
        page.keyboard.press("ArrowDown")
        page.wait_for_timeout(40)
    at = middle(page, POINT)
    for moves in ("curve", "surface"):
        page.keyboard.press("Enter")
        assert place(page)["moves"] == moves and np.hypot(*np.subtract(middle(page, POINT), at)) < 3
    page.locator("canvas").focus()
    at_first = middle(page, POINT)
    for key in ("ArrowLeft", "+"):
        seen = middle(page, POINT)
        page.keyboard.press(key)
        page.wait_for_timeout(100)
        assert middle(page, POINT) != seen, key
    page.keyboard.press("Home")
    page.wait_for_timeout(100)
    assert middle(page, POINT) == at_first


def test_play_walks_through_the_pinch_point(scene):
    page = scene("moves=curve;where=0.8")
    page.locator(".nv-play").click()
    page.wait_for_function("box.textContent.includes('no real weights')")
    seen = place(page)
    page.locator(".nv-play").click()
    assert seen["moves"] == "curve" and seen["where"] < 0.78
    stopped = place(page)
    page.wait_for_timeout(1000)
    assert place(page) == stopped


@pytest.mark.parametrize("state", ["", "where=0.3;along=0.6", "preset=crossing;where=0.7;along=-0.4"])
def test_enter_takes_the_point_to_the_nearest_place_of_the_curve_and_back_to_where_it_was(scene, state):
    page = scene(state)
    page.locator(POINT).focus()
    start = place(page)
    page.keyboard.press("Enter")
    landed = place(page)
    assert landed["moves"] == "curve"
    panel = SurfaceExplorer(state=state)
    chart = chart_of(panel._read().slice)
    panel.close()

    def drawn(on_curve, where, along=0.0):
        return in_drawing(chart.slice, point_at(chart, on_curve, where, along).at)

    begin = drawn(False, start["where"], start["along"])
    away = [np.linalg.norm(drawn(True, where) - begin) for where in np.linspace(0, 1, 401)]
    assert np.linalg.norm(drawn(True, landed["where"]) - begin) < min(away) + 0.02
    page.keyboard.press("Enter")
    back = place(page)
    assert back.pop("moves") == start.pop("moves") == "surface" and back == pytest.approx(start, abs=1e-6)


def test_the_plane_walks_slowly_and_ends_where_it_still_meets_the_surface(scene):
    page = scene("offset=-1", motion="reduce", kind=SectionExplorer)
    state = place(page)
    page.locator(".nv-play").click()
    page.wait_for_function("document.querySelector('.nv-play').textContent === '▶'")
    end = place(page)
    assert 0.3 < end["offset"] < 1 and {**end, "offset": 0} == {**state, "offset": 0}
    for offset, is_met in ((end["offset"], True), (1.0, False)):
        panel = SectionExplorer(state=f"offset={offset}")
        figure = panel.figure
        (line,) = [one for one in figure.data if one.name == "the section" and one.type == "scatter"]
        assert bool(line.x is not None and len(line.x)) == is_met
        panel.close()


def test_a_second_finger_moves_nothing(scene):
    page = scene()
    touch = page.context.new_cdp_session(page)
    box = page.locator("canvas").bounding_box()
    first = {"x": box["x"] + 60, "y": box["y"] + 60, "id": 1}
    second = {"x": first["x"] + 250, "y": first["y"] + 90, "id": 2}

    def fingers(kind, *points):
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [*points]})
        page.wait_for_timeout(60)
        return middle(page, POINT)

    begin = fingers("touchStart", first)
    first["x"] += 30
    turned = fingers("touchMove", first)
    assert np.hypot(*np.subtract(turned, begin)) > 3
    for kind in ("touchStart", "touchMove"):
        assert fingers(kind, first, second) == turned, kind
        second["y"] += 20
    first["x"] += 30
    assert fingers("touchMove", first, second) != turned  # the finger that began still holds it
    fingers("touchEnd")


def test_of_eighteen_surfaces_each_is_there_when_it_comes_into_sight(scene):
    """A browser gives a page sixteen contexts, and takes the oldest away without a word."""
    page = scene()
    panel = SurfaceExplorer()
    page.evaluate(
        """([drawn, count]) => {
            for (let n = 0; n < count; n++) {
                const one = document.createElement("div");
                one.className = "one-of-many";
                document.body.append(one);
                neurovizScenes.react(one, drawn, 900);
            }
        }""",
        [panel.figure.drawn, 18],
    )
    panel.close()
    seen = page.locator(".one-of-many canvas")
    page.wait_for_timeout(500)
    for n in (0, 17, 9, 1, 0):
        seen.nth(n).scroll_into_view_if_needed()
        page.wait_for_function(
            """async (n) => {
                const canvas = document.querySelectorAll(".one-of-many canvas")[n];
                const pen = document.createElement("canvas").getContext("2d");
                const shown = Object.assign(new Image(), {src: canvas.still()});
                await shown.decode();
                pen.drawImage(shown, 0, 0, 300, 150);
                const colours = new Set(new Uint32Array(pen.getImageData(0, 0, 300, 150).data.buffer));
                return !canvas.getContext("webgl2").isContextLost() && colours.size > 100;
            }""",
            arg=n,
            timeout=20_000,
        )
    # Those that sleep have a picture: what is printed shows all.
    bare = "one.getContext('webgl2').isContextLost() && !one.style.background.includes('url(')"
    all_of_them = "[...document.querySelectorAll('.one-of-many canvas')]"
    assert page.evaluate(f"{all_of_them}.filter((one) => {bare}).length") == 0


RECTANGLE = (
    "node => (({left, right, top, bottom}) => [left, right, top, bottom])(node.getBoundingClientRect())"
)


def overlap(one, other):
    """Whether two rectangles of the page, left, right, top, bottom, have a whole pixel in common."""
    wide, high = (min(one[i + 1], other[i + 1]) - max(one[i], other[i]) for i in (0, 2))
    return wide >= 1 and high >= 1


@pytest.mark.parametrize("width", [950, 1100])
def test_in_a_lecture_the_words_of_a_fibre_of_rank_one_leave_each_other_room(scene, look, width):
    look("light", "lecture")
    page = scene("preset=rank-one;swap=yes", kind=FiberExplorer)
    redraw(page, FiberExplorer(state="preset=rank-one;swap=yes"), width)
    page.wait_for_timeout(200)
    button = page.locator("button", has_text="another input X").evaluate(RECTANGLE)
    hint = page.locator(".nv-hint").evaluate(RECTANGLE)
    assert "drag the point" in said(page) and not overlap(hint, button)
    shadow = page.locator("text", has_text="shadow").filter(has_not_text="branch")
    rectangles = shadow.evaluate_all(f"all => all.map({RECTANGLE})")
    branch = "[...box.querySelectorAll('div, text')].filter(one => /^its other branch/.test(one.textContent))"
    words = page.evaluate(f"{branch}.map({RECTANGLE})")
    assert words and rectangles
    assert not [pair for pair in [(a, b) for a in rectangles for b in words if a != b] if overlap(*pair)]


@pytest.mark.parametrize("width", [950, 1100])
def test_in_a_lecture_the_width_of_a_layer_stays_off_the_letters_of_the_next(scene, look, width):
    look("light", "lecture")
    page = scene("layers=4", kind=LedgerExplorer)
    redraw(page, LedgerExplorer(state="layers=4"), width)
    page.wait_for_timeout(600)
    lefts = page.evaluate(
        "[...box.querySelectorAll('div')].filter(one => /^(layer )?[1-4]$/.test(one.textContent))"
        ".map(one => one.getBoundingClientRect().left)"
    )
    assert len(lefts) == 4
    widths = page.evaluate(
        "[...box.querySelectorAll('text')].filter(one => one.textContent.trim() === '4')"
        ".map(one => one.getBoundingClientRect().right)"
    )
    letters = 4 + 0.75 * theme.size("note")  # Q, K and V end 4 pixels before their layer
    assert len(widths) >= 4
    for right, left in zip(sorted(widths)[:3], lefts[1:], strict=True):
        assert right < left - letters


def test_a_slice_that_changes_is_drawn_anew(scene):
    page = scene("preset=crossing")
    seen = page.locator("canvas").screenshot()
    redraw(page, SurfaceExplorer(state="preset=tangent"))
    page.wait_for_function("box.textContent.includes('α = 2:')")
    page.wait_for_timeout(300)
    assert page.locator("canvas").screenshot() != seen
    assert page.locator(POINT).count() == 1


def test_the_plane_is_dragged_through_the_surface_and_turned(scene):
    page = scene("turn=0;tilt=0;offset=0", kind=SectionExplorer)
    plane, arrow = (f".nv-handle[aria-label='{name}']" for name in ("the plane", "which way the plane looks"))
    (x, y), (u, v) = middle(page, plane), middle(page, arrow)
    dragged(page, plane, x + (u - x), y + (v - y))  # to where its arrow ended
    assert place(page)["offset"] == pytest.approx(0.55 / 2.1, abs=0.02)
    assert np.hypot(*np.subtract(middle(page, plane), (u, v))) < 3
    u, v = middle(page, arrow)
    dragged(page, arrow, u - 20, v - 25)
    turned = place(page)
    assert (turned["turn"], turned["tilt"]) != (0, 0) and turned["turn"] % 5 == turned["tilt"] % 5 == 0


def named(label: str) -> str:
    return f".nv-handle[aria-label='{label}']"


# A state; another one, which it goes to in a moment; and where ▶ ends.
MOVING = [
    (SurfaceExplorer, "moves=curve;where=0.2", {"where": 0.6}, {"where": 0}),
    (SectionExplorer, "turn=0;offset=0.6", {"turn": 60}, {"offset": 0.96875}),  # beyond, it misses
    (ProofExplorer, "", {"experiment": "only-2"}, {}),
    (SingletonExplorer, "candidate=negative;travel=0.8", {"travel": 0.2}, {"travel": 1}),
    (FactorizationExplorer, "along=0.6", {"rank": "Q"}, {"along": 1}),
    (FiberExplorer, "off=0.2;along=0.9", {"negative": True}, {"along": 1.5, "off": 0}),
    (LedgerExplorer, "layers=2", {"width": 6}, {}),
    (UnrollingExplorer, "layers=3;place=9", {"reflect": True}, None),
    (VirtualWeightsExplorer, "along=0.6", {"along": -0.5}, {"along": 1}),
    (VirtualWeightsExplorer, "view=rescale;log_1=-1", {"log_1": 0.5}, {"log_1": 1}),
]


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
@pytest.mark.parametrize(("kind", "state", "jump", "end"), MOVING)
def test_a_change_is_followed_and_play_goes_to_its_end_in_a_few_steps_where_motion_is_reduced(
    scene, bare_page, motion, kind, state, jump, end
):
    bare_page.clock.install()
    page = scene(state, motion, kind)
    page.clock.run_for(1000)  # what falls at first
    before = place(page)
    for to in (jump, before):
        ask(page, "changes")
        page.evaluate("to => box.talk.set(to)", to)
        page.clock.run_for(500)
        pictures = ask(page, "changes")
        assert pictures == 1 if motion == "reduce" else pictures > 5
    if end is None:  # there is no walk
        return
    page.locator(".nv-play").first.click()
    page.clock.run_for(10_000)
    assert place(page) == before | end
    assert page.locator(".nv-play").first.inner_text() == "▶"
    pictures = ask(page, "changes")
    assert 1 < pictures <= 15 if motion == "reduce" else pictures > 15


@pytest.mark.parametrize(("kind", "state"), [one[:2] for one in MOVING])
def test_the_tab_key_reaches_everything_in_a_scene_arrows_move_it_and_one_sees_where_one_is(
    scene, kind, state
):
    page = scene(state, kind=kind)
    wanted, reached = ask(page, "hands"), []
    assert len(wanted) > 2 and wanted[-1] == "save the picture as a PNG"
    for _ in wanted:
        page.keyboard.press("Tab")
        page.wait_for_function("helper.focused()?.[1]")
        name, _, role = ask(page, "focused")
        reached.append(name)
        if role in ("slider", "spinbutton"):
            before, heard = place(page), ask(page, "valued")
            least, value, most = map(float, heard[:3])
            assert least <= value <= most and least < most and heard[3], name
            moved = [page.keyboard.press(key) or place(page) != before for key in ("ArrowDown", "ArrowUp")]
            assert any(moved), name
    assert reached == wanted


def test_a_scene_without_webgl_has_all_but_the_picture_in_space(scene, bare_page):
    """As where the browser refuses: the canvas gives no WebGL."""
    bare_page.add_init_script(
        "const get = HTMLCanvasElement.prototype.getContext; HTMLCanvasElement.prototype.getContext ="
        " function (kind, ...more) { return kind === 'webgl2' ? null : get.call(this, kind, ...more); };"
    )
    bare_page.goto("about:blank")
    page = scene()
    assert "this browser has no WebGL" in said(page) and "one set of weights" in said(page)
    x, y = middle(page, ROOT_HANDLE)
    before = place(page)
    dragged(page, ROOT_HANDLE, x + 25, y - 10)
    assert place(page) != before


CANVAS = "box.querySelector('canvas')"


def test_what_the_graphics_card_lost_comes_back_and_the_picture_is_saved_with_all_that_is_seen(scene):
    page = scene()
    seen = page.evaluate(f"{CANVAS}.still()")
    page.evaluate(
        f"lost = {CANVAS}.getContext('webgl2').getExtension('WEBGL_lose_context'), lost.loseContext()"
    )
    page.wait_for_function(f"seen => {CANVAS}.still() !== seen", arg=seen)
    page.evaluate("lost.restoreContext()")
    page.wait_for_function(f"seen => {CANVAS}.still() === seen", arg=seen)
    with page.expect_download() as saved:
        page.get_by_role("button", name="save the picture").click()
    assert saved.value.suggested_filename == "neuroviz-surface.png"
    picture = base64.b64encode(saved.value.path().read_bytes()).decode()
    colors = ask(page, "picture", picture)
    assert colors[0] == 2200 and min(colors[1:]) > 20  # the surface, and the roots beside it


def test_in_a_narrow_place_a_scene_is_scrolled(scene):
    page = scene(kind=LedgerExplorer)
    page.evaluate("box.style.width = '384px'")
    redraw(page, LedgerExplorer(state="layers=1"), 384)
    page.get_by_role("button", name="add a layer").wait_for()
    assert page.evaluate("[box.clientWidth, box.scrollWidth]") == [384, 820]


# The ledger


def random_place(draw: random.Random, most: int, deepest: int) -> dict:
    """Controls of the ledger panel that say a network, in the ways that there are to say it."""
    layers = draw.randint(1, deepest)
    sizes = [draw.randint(1, most) for _ in range(2 * layers + 1)]
    place = {"width": draw.randint(1, most), "width_out": draw.randint(1, most), "layers": layers}
    place |= {"head_dim": draw.randint(1, most), "tokens": draw.randint(1, 4)}
    place |= {"heads": draw.choice([1, 1, 2, 3]), "kind": draw.choice(["lightning", "softmax"])}
    place |= {"widths": "", "head_dims": ""}
    if draw.random() < 0.8:
        place["widths"] = ",".join(map(str, sizes[: layers + 1]))
    if draw.random() < 0.8:
        place["head_dims"] = " ".join(map(str, sizes[layers + 1 :]))
    return place


def test_the_page_counts_the_parameters_of_1000_random_networks_as_python_does(bare_page):
    load(bare_page, NETWORK)
    draw = random.Random(5)
    places = [random_place(draw, *draw.choice([(8, 2), (5, 3), (4, 4)])) for _ in range(1000)]
    found = ask(bare_page, "ledgers", places)
    for place, page in zip(places, found, strict=True):
        arch = LedgerSetting(**place).arch
        assert (tuple(page["widths"]), tuple(page["heads"])) == (arch.widths, arch.head_dims)
        assert LedgerSetting(**place | page["again"]).arch == arch  # the controls that it would set
        ledger = kernel_ledger(arch)
        parts = {name: parts_of(ledger, name) for name in FAMILIES}
        heads, interfaces, _ = map(sum, parts.values())
        assert page["rows"][:2] == [ledger.parameters, heads], arch
        assert page["rows"][3] == ledger.entries.get("rescalings", 0), arch
        if place["heads"] == 1:
            assert page["dimension"] == ledger.dimension == expected_dimension(arch).value, arch
        if page["isSure"]:
            assert page["rows"][2] == interfaces and page["unexplained"] == ledger.unexplained, arch
            assert {name: tuple(page["parts"][name]) for name in FAMILIES} == parts
        else:
            assert page["rows"][2] >= interfaces, arch
    assert sum(page["isSure"] for page in found) > 400


def stacked(layers: list[dict]) -> tuple[Layer, ...]:
    """The page's layers, all heads together."""
    heads = [[layer, *layer["others"]] for layer in layers]
    return tuple(Layer(*(np.array([head[name] for head in one]) for name in "QKV")) for one in heads)


def test_the_page_moves_weights_and_computes_outputs_as_python_does(bare_page):
    load(bare_page, NETWORK)
    draw, still, moving = random.Random(6), 0, 0
    places = [random_place(draw, 4, 3) for _ in range(250)]
    shares = [draw.uniform(-1, 1) for _ in places]
    found = ask(bare_page, "motions", places, shares)
    for place, s, (layers, X, output, motions) in zip(places, shares, found, strict=True):
        kind, arch, X, before = place["kind"], LedgerSetting(**place).arch, np.array(X)[None], stacked(layers)
        np.testing.assert_allclose(output, forward(Reals(), arch, before, X)[0], rtol=AGREE, atol=AGREE)
        for motion, generators, moved, after in motions:
            now = stacked(moved)
            np.testing.assert_allclose(after, forward(Reals(), arch, now, X)[0], rtol=AGREE, atol=AGREE)
            for h in range(arch.heads[0]):
                one, other = (tuple(Layer(*(M[h] for M in layer)) for layer in net) for net in (before, now))
                time = s / (h + 1) if motion == "rescalings" else s
                wanted = moved_in_python(one, motion, list(map(np.array, generators)), time) or other
                for found_layer, layer in zip(other, wanted, strict=True):
                    for M, expected in zip(found_layer, layer, strict=True):
                        np.testing.assert_allclose(M, expected, atol=AGREE)
            if motion == "dimension" or (motion, kind) == ("rescalings", "softmax"):
                moving += np.abs(np.subtract(after, output)).max() > AGREE
            else:
                np.testing.assert_allclose(after, output, atol=AGREE)
                still += np.abs(flatten(now) - flatten(before)).max(initial=0) > 0.01
    assert still > 500 and moving > 300


def test_the_page_multiplies_1000_random_terms_as_python_does(bare_page):
    load(bare_page, "beyond/unrolling/javascript/term.js")
    draw, studies = random.Random(8), []
    for _ in range(1000):
        layers, tokens = draw.randint(1, 4), draw.randint(2, 4)
        at = {"place": draw.randint(1, (3**layers - 1) // 2), "output": draw.randint(1, tokens)}
        of = {name: draw.random() < 0.2 for name in ("antisymmetric", "two_tokens")}
        seeds = {"index_seed": draw.randint(0, 99), "seed": draw.randint(0, 5)}
        studies.append(study_unrolling(UnrollSetting(layers, tokens, **at, reflect=True, **of, **seeds)))
    asked = [[study.local, study.moves] for study in studies]
    found = ask(bare_page, "terms", asked)
    for study, page in zip(studies, found, strict=True):
        assert [(one["layer"], one["isTransposed"]) for one in page["factors"]] == list(study.factors)
        assert page["window"] == [study.window[0], study.window[-1]] and page["focus"] == study.focus
        for one, other in ((study, page), (study.reflection, page["turned"])):
            if one:
                assert other["indices"] == list(one.indices)
                numbers = [other["start"], *other["values"]], [one.start, *one.values]
                np.testing.assert_allclose(*numbers, atol=AGREE)
                assert other["value"] == pytest.approx(one.value, rel=AGREE, abs=AGREE)


def exponential(E: np.ndarray) -> np.ndarray:
    """By its eigenvalues, which are distinct for these E; the page sums the series."""
    values, vectors = np.linalg.eig(E)
    return ((vectors * np.exp(values)) @ np.linalg.inv(vectors)).real


def moved_in_python(layers: tuple, motion: str, generators: list, s: float) -> list | None:
    """The one-parameter group of a family on Q, K, V; None where there is no group."""
    if motion == "dimension":
        return None
    if motion == "rescalings":
        return [(Q * np.exp(s), K, V / np.exp(s)) for Q, K, V in layers]
    if motion == "head bases":
        bases = [exponential(s * E) for E in generators]
        return [(C @ Q, np.linalg.inv(C).T @ K, V) for C, (Q, K, V) in zip(bases, layers, strict=True)]
    first, last = (np.eye(n) for n in (layers[0].V.shape[1], layers[-1].V.shape[0]))
    bases = [first, *(exponential(s * E) for E in generators), last]
    inverses = map(np.linalg.inv, bases)
    return [(Q @ B, K @ B, C @ V @ B) for (Q, K, V), B, C in zip(layers, inverses, bases[1:], strict=False)]


def test_an_edge_of_a_layer_and_its_heads_go_with_the_pointer_and_the_ledger_with_them(scene):
    page = scene("layers=2", kind=LedgerExplorer)
    edge = ".nv-handle[aria-label='width d₁']"
    page.wait_for_function(
        "box.textContent.includes('020406080100') && /38.*exact rank/.test(box.textContent)"
    )
    x, y = middle(page, edge)
    dragged(page, edge, x + 44, y)
    assert abs(middle(page, edge)[0] - x - 44) < 12
    assert asked(page, *SIZES) == [4, 4, 2, "4,6,4", ""]
    assert "88 parameters in 2 layers" in said(page) and "by the formula" in said(page)
    assert "nv-ahead" in page.locator(".nv").get_attribute("class") and "only Python says" in said(page)
    redraw(page, LedgerExplorer(state="widths=4,6,4"))
    page.wait_for_function("box.textContent.includes('exact rank')")
    x, y = middle(page, edge)
    dragged(page, edge, x - 44, y)
    assert asked(page, *SIZES) == [4, 4, 2, "", ""]  # equal widths: the sliders say them again
    page.evaluate("box.talk.set({layers: 3})")
    page.wait_for_function("box.textContent.includes('96 parameters in 3 layers')")
    x, y = middle(page, heads := ".nv-handle[aria-label='heads H in each layer']")
    dragged(page, heads, x + 14, y - 14)  # two more behind the first
    assert asked(page, "heads") == [3] and np.hypot(*np.subtract(middle(page, heads), (x + 14, y - 14))) < 20
    page.wait_for_function("/^0100200300400500600288.*288 parameters in 3 layers/.test(box.textContent)")


def test_the_keyboard_alone_builds_any_network_and_on_the_way_each_is_one(scene):
    page = scene("layers=2;head_dims=1,2", kind=LedgerExplorer)
    ask(page, "listen")
    page.get_by_role("slider", name="head dimension a₁").focus()
    page.keyboard.press("ArrowUp")
    page.get_by_role("slider", name="width d₂").focus()
    page.keyboard.press("Shift+ArrowRight")
    page.get_by_role("button", name="add a layer").focus()
    page.keyboard.press("Enter")
    page.get_by_role("slider", name="head dimension a₃").focus()
    page.keyboard.press("ArrowUp")
    assert asked(page, *SIZES) == [4, 8, 3, "", "2,2,3"]
    page.get_by_role("slider", name="heads H in each layer").focus()
    page.keyboard.press("ArrowUp")
    assert asked(page, "heads") == [2]
    page.get_by_role("button", name="remove layer 1").focus()
    page.keyboard.press("Enter")
    assert asked(page, *SIZES) == [4, 8, 2, "", "2,3"]
    while (add := page.get_by_role("button", name="add a layer")).is_visible():
        add.press("Enter")
    assert ask(page, "focused")[0] == "remove layer 6"  # where there is no more to add
    seen = page.evaluate("seen")
    assert len(seen) > 10
    for place in seen:
        _ = LedgerSetting(**place).arch  # raises where the controls contradict each other


def test_a_symmetry_plays_on_the_weights_while_the_output_stands_still(scene):
    page = scene("layers=2;kind=softmax", kind=LedgerExplorer)
    play = page.get_by_role("button", name="does the output move").all()
    for button in play[:2]:
        button.click()
        page.wait_for_function("/weights move by up to 0.[1-9].*stands still, to/.test(box.textContent)")
        button.click()
    for name in ("rescalings", "dimension"):  # a doubled A is seen; and so is any other direction
        page.get_by_text(name, exact=True).click()
        page.wait_for_function("/weights move by up to .*moves by/.test(box.textContent)")
    page.evaluate("box.talk.set({layers: 1})")
    page.wait_for_function("document.querySelectorAll('.nv-play')[1].disabled")


TURN = ".nv-handle[aria-label='turn the window round']"


def test_a_factor_is_picked_and_its_window_dragged_over_and_back(scene):
    page = scene("layers=3;place=9", kind=UnrollingExplorer)
    factors, box = page.get_by_role("slider", name="place k"), page.evaluate("box.getBoundingClientRect().x")
    y = factors.locator("rect").bounding_box()["y"] + 10
    page.mouse.click(box + 506, y)  # M₂ᵀ, the sixth
    page.wait_for_function("box.textContent.includes('M₂ᵀ at place 6 joins')")
    assert asked(page, "place", "reflect") == [6, False] and "only Python says" in said(page)
    factors.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("box.textContent.includes('at place 7 joins')")
    x, y = middle(page, TURN)
    dragged(page, TURN, x, y + 40)
    page.wait_for_function("!box.textContent.includes('sum')")  # not far enough: it goes home
    dragged(page, TURN, x, y + 150)
    page.wait_for_function("box.textContent.includes('sum')")
    assert asked(page, "place", "reflect") == [7, True]
    page.locator(TURN).focus()
    page.keyboard.press("ArrowUp")
    page.wait_for_function("!box.textContent.includes('sum')")
    assert asked(page, "reflect") == [False]


def asked(page, *names: str) -> list:
    return ask(page, "asked", *names)


def drag_entry(page, name: str, up: float) -> None:
    entry = f"[role=spinbutton][aria-label='{name}']"
    x, y = middle(page, entry)
    dragged(page, entry, x, y - up)


@pytest.mark.parametrize(
    "state", ["entries=Q12=0.25", "d=2;a=2;walk=shear", "d=2;a=1;walk=stretch;along=-0.8"]
)
def test_a_number_goes_with_the_pointer_and_a_follows(scene, state):
    page = scene(state, kind=FactorizationExplorer)
    before = [ask(page, "numbers", 0, which) for which in range(3)]
    drag_entry(page, "Q, row 1, column 2", 30)
    after = [ask(page, "numbers", 0, which) for which in range(3)]
    assert float(after[0][1].replace("−", "-")) == pytest.approx(
        float(before[0][1].replace("−", "-")) + 0.5, abs=0.031
    )
    assert [one == other for one, other in zip(before[0], after[0], strict=True)].count(False) == 1
    assert before[1] == after[1] and before[2] != after[2]
    assert "Q12=" in asked(page, "entries")[0] and "only Python says" in said(page)
    first, now = ask(page, "numbers", 0, 1), ask(page, "numbers", 1, 1)
    drag_entry(page, "C⁻ᵀ K, row 1, column 1", -30)
    moved = ask(page, "numbers", 1, 1)
    assert [one == other for one, other in zip(now, moved, strict=True)].count(False) == 1
    assert ask(page, "numbers", 0, 1) != first and "K11=" in asked(page, "entries")[0]


def test_c_is_turned_by_hand_and_a_stands_still(scene):
    page = scene("d=4;a=2", kind=FactorizationExplorer)
    A, now = (ask(page, "numbers", *which) for which in ((0, 2), (1, 0)))
    x, y = middle(page, ring := ".nv-handle[aria-label='C, along the rotation']")
    dragged(page, ring, x + 5, y + 40)
    assert asked(page, "along")[0] < 0.1
    assert ask(page, "numbers", 0, 2) == A and ask(page, "numbers", 1, 0) != now


def test_a_rank_that_is_dropped_makes_the_fibre_larger_and_a_number_by_hand_brings_it_back(scene):
    page = scene(kind=FactorizationExplorer)
    assert "fibre here: 4 of 12 directions" in said(page)
    page.get_by_label("let Q lose a rank").click()
    page.wait_for_function("box.textContent.includes('fibre here: 5 of 12 directions, against 4')")
    assert asked(page, "rank") == ["Q"]
    drag_entry(page, "Q, row 1, column 1", 30)
    assert asked(page, "rank") == ["full"] and len(asked(page, "entries")[0].split()) == 12
    assert "fibre here: 4 of 12" in said(page)


@pytest.mark.parametrize(
    "state", ["d=2;a=1;walk=stretch", "d=2;a=3", "d=2;a=1;walk=stretch;entries=Q11=2 K11=-1"]
)
def test_a_moves_on_its_surface_with_the_pointer(scene, state):
    page = scene(state, kind=FactorizationExplorer)
    ball, A = ".nv-handle[aria-label='A on its surface']", ask(page, "numbers", 0, 2)
    x, y = middle(page, ball)
    dragged(page, ball, x - 25, y + 10)
    assert np.hypot(*np.subtract(middle(page, ball), (x - 25, y + 10))) < 3
    assert ask(page, "numbers", 0, 2) != A
    assert asked(page, "entries") == [""] or "K12=" in asked(page, "entries")[0]


def test_the_keyboard_alone_changes_a_number_drops_a_rank_and_moves_a(scene):
    page = scene("d=2;a=2", kind=FactorizationExplorer)
    page.locator("[aria-label='Q, row 1, column 1']").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowUp", "Shift+ArrowDown"):
        page.keyboard.press(key)
    assert asked(page, "entries")[0].startswith("Q21=")
    page.get_by_label("let Q lose a rank").press("Enter")
    assert asked(page, "rank") == ["Q"]
    page = scene("d=2;a=1", kind=FactorizationExplorer)
    for key in ("ArrowLeft", "ArrowUp"):
        page.get_by_label("A on its surface").press(key)
    assert asked(page, "angle", "height") == [328, 0.62]


# The fibre

PAIR = ".nv-handle[aria-label='the point (A, V)']"


def bars(page) -> list[float]:
    """How high the bars of φ(X) are now, in pixels."""
    return ask(page, "heights", theme.color("focus"))


@pytest.mark.parametrize(
    ("state", "goal"),
    [
        ("", {"along": -0.5}),
        ("", {"along": 0.3, "negative": True}),
        ("preset=rank-one;along=0.5", {"swap": True}),
        ("preset=rank-one;along=0.5;swap=yes", {"swap": False}),
        ("preset=zero;along=0", {"along": 1.3}),
        ("kind=softmax;tokens=1;walk=a-alone", {"along": 1.2}),
    ],
)
def test_the_point_is_dragged_along_its_fibre_and_the_bars_stand_still(scene, state, goal):
    page = scene(state, kind=FiberExplorer)
    before, still, (x, y) = place(page), bars(page), ask(page, "middleAt", PAIR, goal)
    dragged(page, PAIR, x + 2, y - 2)
    here = place(page)
    assert here["off"] == 0 and here["along"] == pytest.approx(goal.get("along", before["along"]), abs=0.1)
    assert {**here, "along": 0} == {**before, **goal, "along": 0}
    assert np.hypot(*np.subtract(middle(page, PAIR), (x, y))) < 6
    assert bars(page) == pytest.approx(still, abs=0.01)
    assert page.locator("text", has_text="shadow").last.is_visible() == here["swap"]


def test_off_the_fibre_the_point_goes_with_the_pointer_and_the_bars_move(scene):
    page = scene(kind=FiberExplorer)
    before, still, (x, y) = place(page), bars(page), middle(page, PAIR)
    dragged(page, PAIR, x + 10, y - 25)
    assert middle(page, PAIR) == pytest.approx((x + 10, y - 25), abs=2)
    assert place(page)["off"] > 0.3 and np.abs(np.subtract(bars(page), still)).max() > 10
    assert "nv-ahead" in page.locator(".nv").get_attribute("class") and "only Python says" in said(page)
    dragged(page, PAIR, x, y)
    here = place(page)  # a mouse has whole pixels
    assert here == before | {"along": pytest.approx(before["along"], abs=0.02)}
    assert bars(page) == pytest.approx(still, abs=0.01)


def test_a_bar_that_is_longer_than_the_axis_says_its_number(scene):
    page = scene("walk=a-alone;along=1.4", kind=FiberExplorer)
    page.wait_for_timeout(200)
    panel = FiberExplorer(state="walk=a-alone;along=1.4")
    outputs, reach = panel._shown.outputs_now.T.ravel(), panel.facts["outputs"]["reach"]
    panel.close()
    seen = [words.strip("◀▶ ") for words in page.locator(".now text").all_text_contents()]
    assert [words for words in seen if words] == [signed(y) for y in outputs if abs(y) > reach]
    assert len(seen) > 1


def test_the_point_on_the_other_branch_is_hollow(scene):
    for swap, filled in (("no", 1), ("yes", 0)):
        page = scene(f"preset=rank-one;along=0.5;swap={swap}", kind=FiberExplorer)
        assert page.locator(".nv-view-plane .mark.role-focus.filled").count() == filled


def test_the_keyboard_walks_steps_off_takes_another_input_and_goes_over_to_the_swap(scene):
    page = scene(kind=FiberExplorer)
    page.locator(PAIR).focus()
    for key, name, way in (("ArrowRight", "along", 1), ("Shift+ArrowDown", "off", -1)):
        before = place(page)[name]
        page.keyboard.press(key)
        assert way * (place(page)[name] - before) > 0.005
    page.wait_for_timeout(100)  # a frame
    before = bars(page)
    page.keyboard.press("Enter")
    assert place(page)["negative"]
    page.get_by_role("button", name="another input X").focus()
    page.keyboard.press("Enter")
    page.wait_for_timeout(100)
    assert place(page)["input"] == 2 and bars(page) != before
    page = scene("preset=rank-one;along=0.5", kind=FiberExplorer)
    still, seen = bars(page), {middle(page, PAIR)}
    page.locator(PAIR).focus()
    for swap, negative in ((False, True), (True, False), (True, True), (False, False)):  # all arms of both
        page.keyboard.press("Enter")
        page.wait_for_timeout(400)  # a tween
        assert place(page).items() >= {"swap": swap, "negative": negative, "along": 0.5}.items()
        assert bars(page) == pytest.approx(still, abs=0.01)
        seen.add(middle(page, PAIR))
    assert len(seen) == 4


# Charts that plotly draws


def test_a_tooltip_says_the_numbers_of_its_point(bare_page):
    figure = json.loads(json.dumps(FlowExplorer(state="runs=1;time=20").figure.drawn))
    ratio, angle = next(one["customdata"][0] for one in figure["data"] if one.get("customdata"))
    bare_page.set_content("<div id='box'></div>")
    load(bare_page, code=gzip.decompress(bundle("plotly")).decode())
    bare_page.evaluate(
        "figure => code.default.react(box, figure.data, {...figure.layout, width: 1000})", figure
    )
    bare_page.locator(".points path").hover(force=True)
    bare_page.wait_for_selector(".hovertext", timeout=1000 * PATIENCE)
    assert f"σ₂/σ₁ = {ratio}, sine of the angle {angle}" in bare_page.locator(".hovertext").text_content()
