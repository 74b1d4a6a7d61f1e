"""The explorer of products: the table is that of the layer, the closure adds what it should, limits stay."""

import re
from math import hypot, isfinite

import numpy as np
import pytest
from panels import bare, ends, headlines, plain, said, trace

from neuroviz.kit import theme
from neuroviz.kit.plot import make, redraw
from neuroviz.singular.forms import kind_of, real_roots
from neuroviz.singular.products_figure import products_parts
from neuroviz.singular.products_panel import ProductsExplorer, study_products
from neuroviz.singular.products_table import form_text, linear_text, root_of

VISIBLE = ["mode", "l1_angle", "l2_angle", "v_angle", "imaginary", "n"]
MORE = ["sequence", "d_out", "l1_length", "l2_length", "v2_angle"]
STATES = [
    "",
    "mode=complex;imaginary=0.6",
    "mode=sequence;sequence=to the boundary;n=9",
    "d_out=2",
    "d_out=2;l2_angle=20;v2_angle=65",
    "l2_angle=20",
    "l1_angle=65;l2_angle=65",
    "l1_length=0;l2_length=0",
    "l1_length=-1.3;l2_length=0",
    "mode=complex;imaginary=0",
    "mode=complex;imaginary=1;d_out=2;l1_length=-2",
    "mode=complex;l1_length=0;l2_length=0",
    "mode=sequence;sequence=rescaled;d_out=2;n=16",
    "mode=sequence;sequence=to zero;n=0",
]
BAD_STATES = ["mode=real", "l1_angle=181", "imaginary=1.1", "n=17", "sequence=away", "d_out=3", "depth=1"]


@pytest.fixture(scope="module")
def shared():
    panel = ProductsExplorer()
    yield panel
    panel.close()


@pytest.fixture
def panel(shared):
    shared.reset()
    assert shared.status.startswith("done")
    return shared


# What it shows


@pytest.mark.parametrize("state", [state for state in STATES if "complex" not in state])
def test_every_cell_is_the_product_of_its_column_and_its_row(panel, state):
    panel.state = state
    study = panel._shown
    for m, row in enumerate(study.cells):
        for k, q in enumerate(row):
            product = np.polymul(study.columns[k], study.rows[m])
            np.testing.assert_allclose(np.pad(product, (3 - len(product), 0)), q, atol=1e-12)
            assert form_text(q) in said(panel.figure)
    for form in (*study.columns, *study.rows):
        assert any(linear_text(form) in bare(text) for text in said(panel.figure))


@pytest.mark.parametrize("d_out", [1, 2])
def test_the_roots_of_columns_and_rows_are_the_ends_of_the_chords(panel, d_out):
    panel.state = f"d_out={d_out};l1_angle=30;l2_angle=120"
    chords = trace(panel.figure, "two real roots")
    ends_drawn = {(x, y) for x, y in zip(chords.x, chords.y, strict=True) if x is not None}
    marked = set()
    for name in ("root of ℓ_k", "root of v_m"):
        marked |= set(zip(trace(panel.figure, name).x, trace(panel.figure, name).y, strict=True))
    assert len(ends_drawn) == 4 * d_out
    for x, y in ends_drawn:
        assert min(hypot(x - a, y - b) for a, b in marked) < 1e-4


def test_a_linear_form_has_its_root_where_its_square_has():
    for form in [(1.0, 2.0), (-0.3, 0.7), (0.0, 1.0), (1.0, 0.0)]:
        p, r = form
        (root,) = real_roots((p * p, 2 * p * r, r * r))
        assert root_of(form) == pytest.approx((np.cos(root.angle), np.sin(root.angle)))
    assert root_of((1.0 + 1j, 2.0)) is None and root_of((0.0, 0.0)) is None


@pytest.mark.parametrize(
    ("state", "kind", "table", "verdict"),
    [
        ("", "smooth", "both products share the root of v", "a smooth point"),
        ("d_out=2", "smooth", "each row shares the root of its v", "a smooth point"),
        ("l2_angle=20", "crossing", "one form in every cell: two real roots", "singular: branches cross"),
        ("l1_angle=65;l2_angle=65", "boundary", "one form in every cell: a double root", "boundary point"),
        ("l1_length=0;l2_length=0", "boundary", "every product is 0", "singular: a boundary point"),
        ("mode=complex;imaginary=0", "boundary", "v real: a double root in every cell", "boundary point"),
        ("mode=complex;imaginary=0.02", "closure only", "v complex: roots leave the rim", "no layer"),
        ("mode=complex;d_out=2", "closure only", "v complex: roots leave the rim", "no layer"),
    ],
)
def test_the_kind_is_said_and_is_that_of_the_pair_of_forms(panel, state, kind, table, verdict):
    panel.state = state
    study, found = panel._shown, headlines(panel.figure)
    assert study.kind == kind and found[0] == table and any(verdict in line for line in found[1:])
    if len(study.cells) == 1:
        assert kind_of(*study.cells[0], tol=1e-9) == kind
    assert all(abs(value) < 1e-9 for value in study.resultants)
    assert ("this is no layer" in panel.description) == (kind == "closure only")


def test_two_rows_with_different_roots_make_a_rank_one_a_smooth(panel):
    panel.state = "d_out=2;l2_angle=20"
    assert (panel._shown.rank_a, panel._shown.rank_v, panel._shown.kind) == (1, 2, "smooth")


def test_a_complex_v_moves_the_roots_from_the_rim_inwards(panel):
    panel.state = "mode=complex;l1_length=1;l2_length=1"
    radii = []
    for imaginary in (0, 0.1, 0.5, 1):
        panel.controls["imaginary"].value = imaginary
        places = trace(panel.figure, "a double root, or a complex pair")
        radii.append(hypot(places.x[0], places.y[0]))  # the first disc is around the origin
        path = panel._shown.path
        assert panel._shown.distance == pytest.approx(np.interp(imaginary, path.imaginary, path.distances))
        assert panel._shown.distance == pytest.approx(np.sqrt(2) * imaginary**2, abs=1e-9)
    assert radii[0] == pytest.approx(1, abs=1e-5) and radii == sorted(radii, reverse=True)
    assert radii[-1] == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize("sequence", ["rescaled", "to the boundary", "to zero"])
def test_a_sequence_runs_off_and_its_curves_are_the_measured_sizes(panel, sequence):
    panel.state = f"mode=sequence;sequence={sequence};n=12"
    found = panel._shown.sequence
    for name, values in (("|A|", found.sizes_a), ("|V|", found.sizes_v), ("distance", found.distances)):
        assert tuple(trace(panel.figure, name).y) == values
    runs_off = "|V|" if sequence == "to the boundary" else "|A|"
    assert f"{runs_off} runs off, φ converges" in headlines(panel.figure)
    assert any(line.startswith("limit: ") for line in headlines(panel.figure))
    assert "closure only" not in panel.description and "a layer (" in panel.description
    assert f"n = {found.steps[12]}" in panel.description


def test_labels_of_curves_that_end_together_do_not_lie_on_each_other(panel):
    for sequence in ("rescaled", "to the boundary", "to zero"):
        panel.state = f"mode=sequence;sequence={sequence}"
        low, high = panel.figure.layout.yaxis2.range
        heights = sorted(a.y for a in panel.figure.layout.annotations if a.yref == "y2" and a.text)
        assert len(heights) == 4 and heights[0] >= low and heights[-1] <= high
        assert min(np.diff(heights)) > 0.06 * (high - low)


def test_controls_without_a_say_are_greyed_out(panel):
    def off():
        return {name for name, control in panel.controls.items() if control.disabled}

    assert off() == {"imaginary", "n", "sequence", "v2_angle"}
    panel.controls["mode"].value = "complex"
    assert off() == {"l1_angle", "l2_angle", "n", "sequence", "v2_angle"}
    panel.controls["mode"].value = "sequence"
    assert off() == {"l1_angle", "l2_angle", "v_angle", "imaginary", "l1_length", "l2_length", "v2_angle"}


# What every picture owes its reader


@pytest.mark.parametrize("state", STATES)
def test_texts_hold_no_dollar_and_no_python_and_every_mark_has_a_finite_place(panel, state):
    panel.state = state
    for text in [*said(panel.figure), panel.description]:
        assert "$" not in text and not re.search(r"\b(None|nan|inf|np\.|float64|Fraction)\b", text), text
    for one in panel.figure.data:
        assert len(one.x) == len(one.y)
        for x, y in zip(one.x, one.y, strict=True):
            assert x is None or y is None or (isfinite(x) and isfinite(y)), one.name


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("size", ["notebook", "lecture"])
def test_a_figure_has_its_ground_and_readable_letters_in_every_look(panel, mode, size):
    answer = panel._shown
    theme.use(mode, size)
    try:
        figure = make(products_parts(answer))
        assert figure.layout.template.layout.paper_bgcolor == theme.color("ground")
        assert figure.layout.height == theme.size("height")
        sizes = [a.font.size for a in figure.layout.annotations if a.font.size]
        assert min(sizes) >= (14 if size == "lecture" else 12)
    finally:
        theme.use("light", "notebook")


def test_the_figure_keeps_its_elements_and_is_the_one_a_new_panel_would_draw(panel):
    figure, uids = panel.figure, [t.uid for t in panel.figure.data]
    sizes = len(figure.layout.annotations), len(figure.layout.shapes)
    for state in STATES:
        panel.state = state
        assert panel.status.startswith("done"), (state, panel.status)
        assert panel.figure is figure and [t.uid for t in figure.data] == uids
        assert (len(figure.layout.annotations), len(figure.layout.shapes)) == sizes
        assert plain(figure) == plain(make(products_parts(study_products(panel._read())))), state


def test_that_comparison_sees_a_figure_that_was_not_redrawn(panel):
    one = panel._shown
    panel.state = STATES[1]
    two = panel._shown
    figure = make(products_parts(one))
    redraw(figure, products_parts(two), products_parts(two))
    assert plain(figure) == plain(make(products_parts(one))) != plain(make(products_parts(two)))
    redraw(figure, None, products_parts(two))
    assert plain(figure) == plain(make(products_parts(two)))


@pytest.mark.parametrize("name", VISIBLE + MORE)
@pytest.mark.parametrize("state", STATES[:3])
def test_both_ends_of_every_control_are_legal(panel, state, name):
    panel.state = state
    for value in ends(panel.controls[name]):
        panel.controls[name].value = value
        assert panel.status.startswith("done"), (value, panel.status)


@pytest.mark.parametrize("state", BAD_STATES)
def test_a_bad_state_is_refused_and_changes_nothing(panel, state):
    before = panel.state, panel.description
    with pytest.raises(ValueError):
        panel.state = state
    assert (panel.state, panel.description) == before


def test_few_controls_are_visible_and_the_rest_is_under_more(panel):
    assert list(panel.controls) == VISIBLE + MORE
    homes = {child: box for box in panel.children for child in getattr(box, "children", ())}
    assert all(homes[panel.controls[name]].layout.display == "flex" for name in VISIBLE)
    assert all(homes[panel.controls[name]].layout.display == "none" for name in MORE)
