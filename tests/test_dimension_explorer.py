"""The explorer of dimensions: what its controls ask for, what it shows, and that nothing breaks it."""

from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import pytest
from panels import PATIENCE, title

import neuroviz as nv
from neuroviz.deep.dimension_figure import dimension_parts
from neuroviz.engine import formulas, measure
from neuroviz.engine import random_rank as points
from neuroviz.engine.rank import FloatRank
from neuroviz.explorables import DimensionExplorer
from neuroviz.kit import plot as parts
from neuroviz.kit import theme
from neuroviz.kit.plot import make

KINDS = ("lightning", "softmax")
VISIBLE = ["width", "head_dim", "tokens", "layers", "kind"]
MORE = ["equal", "width_in", "width_out", "head_dims", "seed", "inputs"]

# state, the architecture it asks for, the number of inputs
ASKED = [
    ("", (4, 4, 4), (2, 2), 3, "lightning", None),
    ("width=3;layers=3", (3, 3, 3, 3), (2, 2, 2), 3, "lightning", None),
    ("head_dims=1,3;kind=softmax", (4, 4, 4), (1, 3), 3, "softmax", None),
    ("head_dims= 3 1 ;tokens=1", (4, 4, 4), (3, 1), 1, "lightning", None),
    ("equal=no;width=3;width_in=5;width_out=6", (5, 3, 6), (2, 2), 3, "lightning", None),
    ("equal=no;layers=1;width=9;width_in=5;width_out=2", (5, 2), (2,), 3, "lightning", None),
    ("equal=yes;width=3;width_in=5;width_out=6", (3, 3, 3), (2, 2), 3, "lightning", None),
    ("equal=no;layers=3;width=5;width_in=2;width_out=2", (2, 5, 5, 2), (2, 2, 2), 3, "lightning", None),
    ("inputs=2;seed=5", (4, 4, 4), (2, 2), 3, "lightning", 2),
    ("inputs=40;kind=softmax;layers=1", (4, 4), (2,), 3, "softmax", 40),
]  # fmt: skip

BAD_TEXTS = [
    ("2", "needs 2 numbers"),
    ("2,2,2", "needs 2 numbers"),
    ("2,x", "needs whole numbers"),
    ("2,1.5", "needs whole numbers"),
    ("2,0", "goes from 1 to"),
    ("2,-1", "goes from 1 to"),
    ("2,13", "goes from 1 to"),
    ("2,99999999999999999999", "goes from 1 to"),
    ("2;2", "needs whole numbers"),
    (",", "needs 2 numbers"),
    ("two", "needs whole numbers"),
    ("<b>2</b>", "needs whole numbers"),
    ("9" * 5000 + ",2", "a per layer"),
]

BAD_STATES = [
    "width=0", "width=13", "width=x", "width=", "tokens=7", "layers=0", "layers=9", "kind=hardmax", "equal=1",
    "seed=-1", "seed=1000001", "inputs=41", "head_dims=1,2,3", "layers=3;head_dims=2,2", "depth=3", "δ=4",
]  # fmt: skip


@pytest.fixture(scope="module")
def shared():
    panel = DimensionExplorer()
    yield panel
    panel.cancel()
    panel.close()


@pytest.fixture
def panel(shared):
    """A panel at its start: the same one, since it has to survive everything."""
    shared.reset()
    assert shared.wait(PATIENCE) and shared.status.startswith("done")
    return shared


@pytest.fixture
def cold():
    """No measurement is remembered from before, and none of this test afterwards."""
    measure.clear_cache()
    yield
    measure.clear_cache()


def trace(panel, name):
    (found,) = [t for t in panel.figure.data if t.name == name]
    return found


def plain(figure):
    found = go.Figure(figure).to_plotly_json()
    found["layout"].pop("template", None)
    for one in found["data"]:
        one.pop("uid", None)
    return found


def shown(panel):
    """What a reader sees, apart from the status line."""
    return panel.state, panel.description, plain(panel.figure)


def headlines(panel):
    return [a.text for a in panel.figure.layout.annotations if a.text.startswith("<b>") and a.y == 1]


def agrees_with_measurements(panel, arch, inputs=None, seed=0):
    """Whether every measured mark of the figure is what measuring the architecture gives."""
    exact = nv.measure_dimension(arch, seed=seed).value
    ranks = nv.rank_by_inputs(arch, seed).ranks
    seen = exact if inputs is None else ranks[min(inputs, len(ranks)) - 1]
    sigma = nv.measure_dimension(arch, method="float", seed=seed, inputs=inputs).singular_values
    kept = trace(panel, "singular values of the weights that move the function").y
    noise = trace(panel, "singular values that are rounding noise").y
    return (
        trace(panel, "exact rank (measured)").x[0] == seen + 0.5
        and list(trace(panel, "this architecture (measured)").y) == [exact]
        and tuple(trace(panel, "exact rank by inputs (measured)").y) == ranks
        and np.array_equal([*kept, *noise], np.maximum(sigma, 1e-17))
        and len(kept) == seen
        and str(arch) in panel.description
        and f"{arch.num_parameters} parameters" in panel.description
        and f"{exact} dimensions" in panel.description
    )


# What it asks for and what it shows


def test_few_controls_are_visible_and_the_rest_is_under_more(panel):
    assert list(panel.controls) == VISIBLE + MORE
    homes = {}
    for box in panel.children:
        for child in getattr(box, "children", ()):
            homes[child] = box
    assert all(homes[panel.controls[name]].layout.display == "flex" for name in VISIBLE)
    assert all(homes[panel.controls[name]].layout.display == "none" for name in MORE)


@pytest.mark.parametrize(("state", "widths", "head_dims", "tokens", "kind", "inputs"), ASKED)
def test_the_figure_shows_measurements_of_the_architecture_asked_for(
    panel, state, widths, head_dims, tokens, kind, inputs
):
    arch = nv.Architecture(widths, head_dims, tokens, kind)
    panel.state = state
    assert panel.wait(PATIENCE) and panel.status.startswith("done")
    assert agrees_with_measurements(panel, arch, inputs, panel.controls["seed"].value)
    assert trace(panel, "dimension by the formula").x[0] == nv.expected_dimension(arch).value + 0.5


def test_that_check_sees_another_architecture(panel):
    assert agrees_with_measurements(panel, nv.Architecture((4, 4, 4), (2, 2)))
    for other in [((4, 4, 4), (2, 2), 2), ((4, 4, 4), (2, 3)), ((4, 4, 4), (2, 2), 3, "softmax")]:
        assert not agrees_with_measurements(panel, nv.Architecture(*other))
    assert not agrees_with_measurements(panel, nv.Architecture((4, 4, 4), (2, 2)), inputs=2)
    assert not agrees_with_measurements(panel, nv.Architecture((4, 4, 4), (2, 2)), seed=1)


@pytest.mark.parametrize(
    "state", ["", "equal=no;width=3;width_in=5;width_out=6", "equal=no;layers=1;width_in=5"]
)
def test_the_curve_runs_over_the_width_that_it_names(panel, state):
    panel.state = state
    start = panel._read().arch
    measured = trace(panel, "measured")
    inner_only = panel.figure.layout.xaxis2.title.text.startswith("δ (inner")
    input_only = panel.figure.layout.xaxis2.title.text.startswith("d₀")
    assert len(measured.x) == 8
    for width, value in zip(measured.x, measured.y, strict=True):
        widths = [width] * len(start.widths)
        if inner_only:
            widths[0], widths[-1] = start.widths[0], start.widths[-1]
        elif input_only:
            widths[1:] = start.widths[1:]
        assert nv.measure_dimension(nv.Architecture(widths, start.head_dims)).value == value


def test_controls_without_a_say_are_greyed_out(panel):
    off = {name for name, control in panel.controls.items() if control.disabled}
    assert off == {"width_in", "width_out"}
    panel.controls["equal"].value = False
    panel.controls["head_dims"].value = "2,2"
    assert {name for name, control in panel.controls.items() if control.disabled} == {"head_dim"}


@pytest.mark.parametrize("seed", [0, 1, 999_999])
def test_the_seed_changes_the_spectrum_and_no_dimension(panel, seed):
    panel.state = f"seed={seed}"
    assert agrees_with_measurements(panel, nv.Architecture((4, 4, 4), (2, 2)), seed=seed)
    assert list(trace(panel, "this architecture (measured)").y) == [38]


def test_the_description_says_in_words_what_is_shown(panel):
    for part in (
        "lightning 4→4→4, a = 2, 2, t = 3",
        "64 parameters",
        "38 dimensions",
        "exact",
        "agrees",
        "Cor. 3.8",
    ):
        assert part in panel.description, part
    panel.state = "inputs=2"
    enough = nv.rank_by_inputs(nv.Architecture((4, 4, 4), (2, 2))).enough
    assert "2 input" in panel.description and f"{enough} are enough" in panel.description
    panel.state = "inputs=0;width=2;layers=8"
    assert "cannot decide" in panel.description


def test_the_badge_names_the_evidence_and_its_source(panel):
    badge = title(panel)
    for part in ("● exact · 38 mod 8 388 593", "■ proved · Cor. 3.8: 38"):
        assert part in badge, badge
    panel.state = "head_dims=1,2"
    assert "□ proved here · Theorem C" in title(panel)


# A disagreement is seen, whoever is wrong


def test_a_wrong_formula_leaves_the_measurements_alone_and_the_panel_says_so(panel, monkeypatch, cold):
    before = {t.name: t.y for t in panel.figure.data}
    alpha = formulas.alpha
    monkeypatch.setattr(formulas, "alpha", lambda a, d: alpha(a, d) + 1)
    panel.controls["tokens"].value = 4  # another picture of the same numbers
    assert list(trace(panel, "this architecture (measured)").y) == [38]
    assert trace(panel, "measured").y == before["measured"]
    assert trace(panel, "dimension by the formula").x[0] == 40.5
    formula, measured = (trace(panel, name).y for name in ("formula", "measured"))
    assert all(f > m for f, m in zip(formula, measured, strict=True))
    assert "DIFFER" in headlines(panel)[1]
    assert "DISAGREE" in panel.description and "40" in panel.description
    assert "≠ measured" in title(panel)

    monkeypatch.setattr(formulas, "alpha", alpha)
    panel.controls["tokens"].value = 5
    assert "agree" in headlines(panel)[1] and "DISAGREE" not in panel.description and "≠" not in title(panel)


def test_a_wrong_measurement_leaves_the_formula_alone_and_the_panel_says_so(panel, monkeypatch, cold):
    formula = trace(panel, "formula").y
    rank = points.exact_rank
    monkeypatch.setattr(points, "exact_rank", lambda matrix, over: rank(matrix, over) - 1)
    panel.controls["tokens"].value = 4
    assert list(trace(panel, "this architecture (measured)").y) == [37]
    assert trace(panel, "formula").y == formula and trace(panel, "dimension by the formula").x[0] == 38.5
    assert (
        "DIFFER" in headlines(panel)[1] and "DISAGREE" in panel.description and "≠ measured" in title(panel)
    )
    assert "37 dimensions" in panel.description and "a proof" not in panel.description


def test_a_float_rank_that_contradicts_the_exact_one_is_said(panel, monkeypatch, cold):
    """Sure of itself, and wrong: the spectrum alone would not show it."""
    real = measure.float_rank

    def too_small(J):
        found = real(J)
        return FloatRank(found.value - 3, found.singular_values, found.noise, found.gap, True)

    monkeypatch.setattr(measure, "float_rank", too_small)
    panel.controls["tokens"].value = 4
    assert "35" in panel.description
    assert any("35" in (a.text or "") for a in panel.figure.layout.annotations)


# In place


def test_a_panel_that_is_open_keeps_its_colours_when_the_theme_changes(panel):
    """`theme.use` is for figures made from then on: half of each would be legible on neither ground."""
    try:
        theme.use("dark")
        panel.state = "head_dims=1,2"
        moved = str(plain(panel.figure))
        dark = {theme.color(role) for role in ("outside", "measured", "ink")}
    finally:
        theme.use("light")
    assert not any(color in moved for color in dark)


# Nothing breaks it


def test_the_largest_network_is_drawn_without_what_would_take_too_long(panel):
    panel.state = "width=12;head_dim=12;layers=8;tokens=6;kind=softmax"
    assert panel.status.startswith("working")
    assert panel.wait(PATIENCE) and panel.status.startswith("done")
    assert "3456 parameters" in panel.description
    assert len(trace(panel, "singular values of the weights that move the function").x) == 0
    exact = trace(panel, "this architecture (measured)").y[0]
    assert exact == nv.expected_dimension(nv.Architecture.uniform(12, 12, 8, 6, "softmax")).value
    assert "agrees" in panel.description


def test_a_slow_network_can_be_cancelled(panel):
    before = plain(panel.figure)
    panel.state = "width=12;head_dim=12;layers=8;tokens=6;kind=lightning"
    assert panel.status.startswith("working")
    panel.cancel()
    assert panel.status.startswith("cancelled") and panel.wait(0) and plain(panel.figure) == before
    panel.controls["layers"].value = 1
    assert panel.wait(PATIENCE) and panel.status.startswith("done")


@pytest.mark.parametrize(("text", "said"), BAD_TEXTS)
def test_head_dimensions_that_make_no_sense_are_refused_in_words(panel, text, said):
    before = panel.description, plain(panel.figure)
    panel.controls["head_dims"].value = text
    assert said in panel.status and not panel.status.startswith(("done", "working"))
    assert (panel.description, plain(panel.figure)) == before
    panel.controls["head_dims"].value = "1,3"
    assert panel.status.startswith("done") and "a = 1, 3" in panel.description


def test_more_layers_than_head_dimensions_is_a_message_and_not_the_end(panel):
    panel.controls["head_dims"].value = "2,1"
    panel.controls["layers"].value = 3
    assert "needs 3 numbers" in panel.status
    panel.controls["head_dims"].value = ""
    assert panel.status.startswith("done") and "a = 2, 2, 2" in panel.description


@pytest.mark.parametrize("state", BAD_STATES)
def test_a_bad_state_is_refused_and_changes_nothing(panel, state):
    before = shown(panel)
    with pytest.raises(ValueError):
        panel.state = state
    assert shown(panel) == before and panel.wait(0)
    with pytest.raises(ValueError):
        DimensionExplorer(state=state)


def test_an_error_inside_the_measurement_is_shown_and_the_panel_recovers(panel, monkeypatch, cold):
    def broken(*_):
        raise MemoryError("no room for the matrix")

    before = plain(panel.figure)
    with monkeypatch.context() as bad:
        bad.setattr(points, "exact_rank", broken)
        panel.controls["tokens"].value = 4
        assert panel.status == "MemoryError: no room for the matrix"
        assert plain(panel.figure) == before and "t = 3" in panel.description
    panel.controls["tokens"].value = 5
    assert panel.status.startswith("done") and "t = 5" in panel.description


def test_a_figure_that_was_half_drawn_is_made_whole_again(panel, monkeypatch):
    """An error in the middle of an update must not leave parts of one picture in another."""
    before = plain(panel.figure)
    set_changes, calls = parts._set_changes, []

    def fails_on_the_way(target, old, new):
        calls.append(target)
        if len(calls) == 9:
            raise RuntimeError("the ninth change went wrong")
        set_changes(target, old, new)

    with monkeypatch.context() as bad:
        bad.setattr(parts, "_set_changes", fails_on_the_way)
        panel.controls["width"].value = 6
        assert "the ninth change went wrong" in panel.status
    panel.controls["width"].value = 4
    assert panel.status.startswith("done") and plain(panel.figure) == before


def test_a_float_rank_against_the_exact_one_is_seen_even_when_it_is_decided():
    """Deep networks have them: softmax 4→2→3→4→2→5→4→2→1, a = 4, 4, 1, 3, 3, 2, 4, 1, t = 2."""
    panel = DimensionExplorer()
    agreeing = panel._shown
    wrong = replace(agreeing, spectrum=replace(agreeing.spectrum, value=37, decided=True))
    says = [note.text for note in make(dimension_parts(wrong)).layout.annotations]
    assert any("floats say something else" in text and "they read 37" in text for text in says)
    assert "reads 37, against the exact rank" in panel._describe(wrong)
    says = [note.text for note in make(dimension_parts(agreeing)).layout.annotations]
    assert not any("floats say" in text for text in says) and "Floating point" not in panel._describe(
        agreeing
    )
