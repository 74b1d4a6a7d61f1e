"""The ledger as a waterfall and the map beside it: where the numbers come from, and that nothing breaks."""

import random
import re
from dataclasses import replace
from functools import cache
from itertools import combinations

import ipywidgets as widgets
import plotly.graph_objects as go
import pytest
from panels import PATIENCE, trace

import neuroviz as nv
from neuroviz.deep import ledger_panel as module
from neuroviz.deep.formula_map import _text_color
from neuroviz.deep.ledger_figure import ledger_parts
from neuroviz.deep.ledger_panel import LedgerExplorer, LedgerRequest, study_ledger
from neuroviz.deep.waterfall import FAMILIES, family_parts
from neuroviz.engine import formulas, measure
from neuroviz.engine import random_rank as points
from neuroviz.engine.ledger import kernel_ledger
from neuroviz.kit import theme
from neuroviz.kit.plot import make, redraw

VISIBLE = ["width", "width_out", "head_dim", "tokens", "layers", "kind"]
MORE = ["widths", "head_dims", "seed"]

# widths, head dims, tokens, kind, columns are inner widths only, rows are the last head dimension only
CASES = {
    "start": ((4, 4, 4), (2, 2), 3, "lightning", False, False),
    "softmax": ((4, 4, 4), (2, 2), 3, "softmax", False, False),
    "one layer": ((4, 4), (2,), 3, "lightning", False, False),
    "one layer, one output": ((3, 1), (2,), 3, "lightning", False, False),
    "one layer, softmax": ((4, 2), (3,), 2, "softmax", False, False),
    "one output": ((4, 4, 1), (1, 1), 3, "lightning", False, False),
    "collapse": ((3, 3, 3), (1, 2), 3, "lightning", True, True),
    "widening": ((2, 4, 2), (2, 2), 3, "lightning", True, False),
    "the paper's formula negative": ((2, 8, 2), (2, 2), 3, "lightning", True, False),
    "one token": ((4, 4, 4), (2, 2), 1, "lightning", False, False),
    "one token, softmax": ((4, 4, 4), (2, 2), 1, "softmax", False, False),
    "one token, one layer": ((3, 2), (5,), 1, "lightning", False, False),
    "width one": ((1, 1), (1,), 3, "lightning", False, False),
    "deep and thin": ((1,) * 7, (8,) * 6, 3, "lightning", False, False),
    "unequal inner widths": ((2, 5, 4, 6, 3), (1, 2, 3, 4), 2, "lightning", True, True),
    "beyond the map": ((7, 7, 4), (6, 6), 3, "lightning", False, False),
    "two causes": ((2, 5, 5, 2), (1, 2, 2), 3, "lightning", True, True),
}
EXPLAINED = ["start", "softmax", "one layer", "one layer, one output", "one layer, softmax", "width one"]
LEFT_OVER = ["collapse", "widening", "one token", "one token, softmax", "two causes"]

ASKED = [
    ("", (4, 4, 4), (2, 2), 3, "lightning"),
    ("width=3;width_out=5;layers=3", (3, 3, 3, 5), (2, 2, 2), 3, "lightning"),
    ("layers=1;width_out=1;kind=softmax", (4, 1), (2,), 3, "softmax"),
    ("widths=4,3,5;head_dims=2,1", (4, 3, 5), (2, 1), 3, "lightning"),
    ("widths= 2 4 2 ;tokens=1;layers=5;width=8", (2, 4, 2), (2, 2), 1, "lightning"),
    ("head_dims=1,3;head_dim=8", (4, 4, 4), (1, 3), 3, "lightning"),
    ("widths=3,2", (3, 2), (2,), 3, "lightning"),
]
BAD_TEXTS = [
    ("widths", "4", "2 to 7 numbers"),
    ("widths", ",", "2 to 7 numbers"),
    ("widths", "1,1,1,1,1,1,1,1", "2 to 7 numbers"),
    ("widths", "4,x", "whole numbers"),
    ("widths", "4,0", "from 1 to 8"),
    ("widths", "4,9", "from 1 to 8"),
    ("widths", "<b>4</b>", "whole numbers"),
    ("head_dims", "2", "needs 2 numbers"),
    ("head_dims", "2,1,2", "needs 2 numbers"),
    ("head_dims", "2,9", "from 1 to 8"),
    ("head_dims", "2,1.5", "whole numbers"),
    ("head_dims", "9" * 5000 + ",2", "a per layer"),
]
BAD_STATES = [
    "width=0", "width=9", "width_out=x", "layers=7", "layers=0", "tokens=7", "kind=hardmax", "seed=-1",
    "widths=4", "head_dims=1,2,3", "layers=3;head_dims=2,2", "widths=4,4;head_dims=2,2", "depth=3",
]  # fmt: skip


@cache
def request_of(name):
    widths, head_dims, tokens, kind, inner_only, last_only = CASES[name]
    arch = nv.Architecture(widths, head_dims, tokens, kind)
    return LedgerRequest(arch, 0, inner_only, last_only)


@cache
def study(name):
    return study_ledger(request_of(name))


@pytest.fixture(scope="module")
def shared():
    panel = LedgerExplorer()
    yield panel
    panel.cancel()
    panel.close()


@pytest.fixture
def panel(shared):
    """A panel at its start: the same one, since it has to survive everything."""
    shared.reset()
    assert shared.wait(PATIENCE) and shared.status.startswith("done")
    return shared


def plain(figure):
    found = go.Figure(figure).to_plotly_json()
    found["layout"].pop("template", None)
    for one in found["data"]:
        one.pop("uid", None)
    return found


def texts(figure):
    """Every text in a figure: on it, beside its axes, and what appears on hovering."""
    found = []

    def collect(value, key=""):
        if isinstance(value, dict):
            for inner_key, inner in value.items():
                collect(inner, inner_key)
        elif isinstance(value, (list, tuple)):
            for inner in value:
                collect(inner, key)
        elif isinstance(value, str) and key in ("text", "ticktext", "name", "hovertemplate", "customdata"):
            found.append(value)

    collect(plain(figure))
    return found


def numbers_above(figure):
    """The six large numbers, from left to right."""
    large = round(1.5 * theme.size("title"))
    notes = sorted((a for a in figure.layout.annotations if a.font.size == large), key=lambda a: a.x)
    return [re.sub("</?b>", "", a.text) for a in notes]


def bars(figure):
    """x → (height, base) of every bar that is drawn."""
    return {
        x: (y, (t.base or [0] * len(t.x))[i])
        for t in figure.data
        if t.type == "bar" and t.visible is not False
        for i, (x, y) in enumerate(zip(t.x, t.y, strict=True))
    }


def map_texts(figure):
    """(column, row) → (difference, measured) as they stand in the cells."""
    cells = trace(figure, "measured minus formula, and measured")
    found = {}
    for x, y, text in zip(cells.x, cells.y, cells.text, strict=True):
        difference, measured = re.sub("<(?!br)[^>]*>", "", text).split("<br>")
        found[x, round(y)] = (int(difference.replace("−", "-")), int(measured))
    return found


def shape(figure, kind):
    (found,) = [s for s in figure.layout.shapes if s.type == kind]
    return found


def headlines(figure):
    return [a.text for a in figure.layout.annotations if a.text.startswith("<b>") and a.y == 1]


def ends(control):
    if hasattr(control, "min"):
        return control.min, control.max
    if isinstance(control, widgets.Dropdown):
        return control.options[0], control.options[-1]
    return ("",)


def title(panel):
    return next(w.value for w in panel.children if "nv-title" in str(getattr(w, "value", ""))[:30])


# The waterfall


@pytest.mark.parametrize("name", CASES)
def test_the_bars_are_the_ledger(name):
    ledger, figure = kernel_ledger(request_of(name).arch), make(ledger_parts(study(name)))
    drawn = bars(figure)
    costs = [ledger.entries.get(family, 0) for family in FAMILIES]
    assert drawn[0] == (ledger.parameters, 0) and drawn[5] == (ledger.dimension, 0)
    assert [drawn[i][0] for i in (1, 2, 3)] == costs
    assert trace(figure, "unexplained directions").y[0] == ledger.unexplained
    above = [f"−{cost}" if cost else "0" for cost in (*costs, ledger.unexplained)]
    assert numbers_above(figure) == [str(ledger.parameters), *above, str(ledger.dimension)]


@pytest.mark.parametrize("name", CASES)
def test_each_bar_begins_where_the_one_before_it_ends_and_the_last_meets_the_dimension(name):
    drawn = bars(make(ledger_parts(study(name))))
    level = drawn[0][0]
    for i in range(1, 5):
        height, base = drawn.get(i, (0, level))
        assert base + height == level
        level = base
    assert level == drawn[5][0]


def test_a_wrong_ledger_is_shown_as_it_is():
    """The last bar is the measurement, not what the formula says, and not what the others leave over."""
    right = study("start")
    wrong = replace(right, ledger=replace(right.ledger, dimension=35, entries={"head bases": 11}))
    figure = make(ledger_parts(wrong))
    assert numbers_above(figure) == ["64", "−11", "0", "0", "0", "35"]
    assert bars(figure)[5] == (35, 0) and "29 of 64" in headlines(figure)[0]
    assert set(trace(figure, "dimension by the formula").y) == {38}
    assert (
        trace(figure, "dimension (measured)").y != trace(make(ledger_parts(right)), "dimension (measured)").y
    )


def test_a_wrong_formula_moves_its_own_mark_and_no_bar():
    right = study("start")
    wrong = replace(right, expected=replace(right.expected, value=41))
    assert bars(make(ledger_parts(wrong))) == bars(make(ledger_parts(right)))
    assert set(trace(make(ledger_parts(wrong)), "dimension by the formula").y) == {41}
    assert "Cor. 3.8<br><b>41</b>" in texts(make(ledger_parts(wrong)))


@pytest.mark.parametrize("name", CASES)
def test_the_formula_is_a_tick_across_the_last_bar_with_its_source(name):
    s, figure = study(name), make(ledger_parts(study(name)))
    tick = trace(figure, "dimension by the formula")
    assert list(tick.y) == [nv.expected_dimension(s.ledger.arch).value] * 2
    assert tick.x[0] < 5 < tick.x[1]
    source = s.expected.source.replace(", ", "<br>")
    assert f"{source}<br><b>{s.expected.value}</b>" in texts(figure)


@pytest.mark.parametrize("name", CASES)
def test_the_paper_is_said_not_to_apply_exactly_where_it_says_another_number_without_a_right(name):
    s, figure = study(name), make(ledger_parts(study(name)))
    beside = trace(figure, "the paper's formula outside its hypotheses")
    misleads = s.paper.status == "outside hypotheses" and s.paper.value != s.ledger.dimension
    said = f"<b>{s.paper.value}</b><br>does not<br>apply".replace("-", "−")
    assert any(text.endswith(said) for text in texts(figure)) == misleads
    assert list(beside.y) == ([s.paper.value] * 2 if misleads and s.paper.value >= 1 else [])
    assert beside.line.dash == "dot" and beside.line.color == theme.color("outside")


def test_both_sides_of_that_occur_above():
    assert study("the paper's formula negative").paper.value < 1
    assert study("collapse").paper.value > study("collapse").ledger.dimension
    assert study("start").paper.status == "proved"


@pytest.mark.parametrize("name", CASES)
def test_unexplained_directions_have_a_bar_and_a_cause_exactly_where_there_are_some(name):
    s, figure = study(name), make(ledger_parts(study(name)))
    some = s.ledger.unexplained > 0
    if name in EXPLAINED or name in LEFT_OVER:
        assert some == (name in LEFT_OVER)
    bar = trace(figure, "unexplained directions")
    assert bar.visible == some and bar.marker.pattern.shape == "/"
    cause = [text for text in texts(figure) if text.startswith("▨") and "unexplained" in text]
    assert len(cause) == some
    if some:
        start = s.ledger.note[:40]
        assert start in cause[0].replace("<br>", " ")
        assert s.ledger.note in module._say_ledger(s.ledger, s.exact)


def test_the_headline_counts_what_does_nothing():
    assert headlines(make(ledger_parts(study("start"))))[0] == "<b>26 of 64 parameters do nothing</b>"
    s = study("start")
    one = replace(s, ledger=replace(s.ledger, dimension=63))
    assert headlines(make(ledger_parts(one)))[0] == "<b>1 of 64 parameters does nothing</b>"


def test_the_parts_of_a_family_stay_short():
    def said(*parts):
        return family_parts(replace(study("start").ledger, parts={"interfaces": parts}), "interfaces")

    assert said() == "" and said(9) == "9" and said(4, 4) == "4 + 4" and said(4, 4, 4) == "3 × 4"
    assert said(4, 9, 4) == "4 + 9 + 4" and said(4, 9, 4, 4) == "4 + 9 + …"


def test_where_a_family_costs_nothing_the_reason_is_said():
    said = {name: " ".join(texts(make(ledger_parts(study(name))))) for name in CASES}
    assert "one layer" in said["one layer"] and "one layer" not in said["start"]
    assert "doubling<br>A is seen" in said["softmax"] and "doubling" not in said["start"]
    assert "doubling" not in said["one token, softmax"]  # one token does not see A at all


# The map


@pytest.mark.parametrize("name", CASES)
def test_a_cell_holds_the_measurement_minus_the_formula(name):
    asked, figure = request_of(name), make(ledger_parts(study(name)))
    d, a = asked.arch.widths, asked.arch.head_dims
    colours = trace(figure, "distance between measurement and formula").z
    columns, rows = figure.layout.xaxis2.ticktext, figure.layout.yaxis2.ticktext
    found = map_texts(figure)
    assert len(found) == len(columns) * len(rows) == 30
    for (x, y), (difference, measured) in found.items():
        width, head = int(columns[x]), int(rows[y])
        inner = (width,) * (len(d) - 2)
        widths = (d[0] if asked.inner_only else width, *inner, d[-1])
        heads = (*a[:-1], head) if asked.last_only else (head,) * len(a)
        arch = nv.Architecture(widths, heads, asked.arch.tokens, asked.arch.attention)
        assert measured == nv.measure_dimension(arch).value
        assert difference == measured - nv.paper_formula(arch).value
        assert colours[y][x] == -abs(difference)


def test_a_wrong_measurement_is_seen_on_the_map():
    s = study("start")
    cells = tuple(
        replace(c, measured=replace(c.measured, value=c.measured.value - (c.column == c.row == 3)))
        for c in s.map.cells
    )
    wrong = replace(s, map=replace(s.map, cells=cells))
    figure = make(ledger_parts(wrong))
    assert [place for place, (difference, _) in map_texts(figure).items() if difference] == [(2, 2)]
    assert headlines(figure)[1] == "<b>Cor. 3.8 DIFFERS</b>"
    assert "▨ at (3, 3)" in " ".join(texts(figure))
    assert "1 of them CONTRADICT Cor. 3.8" in module._say_map(wrong.map)
    assert "DIFFERS" not in headlines(make(ledger_parts(s)))[1] and "CONTRADICT" not in module._say_map(s.map)


@pytest.mark.parametrize("name", CASES)
def test_the_paper_is_right_in_the_frame_and_off_only_outside(name):
    found = study(name).map
    assert found.contradicted == ()
    assert len(found.off) + len(found.unneeded) + sum(c.covered for c in found.cells) == len(found.cells)


@pytest.mark.parametrize("d_out", [1, 2])
def test_for_one_layer_the_frame_is_what_the_paper_asks_for_and_zero_is_everywhere(d_out):
    """Cor. 3.3 asks for d > 1, and a > 1 or d′ > 1: neither matters for the dimension."""
    found = study_ledger(LedgerRequest(nv.Architecture((3, d_out), (2,)), 0)).map
    framed = {(c.column, c.row) for c in found.cells if c.covered}
    assert framed == {(d, a) for d in range(2, 7) for a in range(1 if d_out > 1 else 2, 6)}
    assert found.off == () and len(found.unneeded) == 30 - len(framed) > 0
    assert f"Eq. 7 is right in {len(found.unneeded)} more." in module._say_map(found)


@pytest.mark.parametrize("name", CASES)
def test_the_frame_is_drawn_around_the_covered_cells(name):
    found, frame = study(name).map, shape(make(ledger_parts(study(name))), "path")
    covered = {(found.columns.index(c.column), found.rows.index(c.row)) for c in found.cells if c.covered}
    assert frame.opacity == (1 if covered else 0)
    sides = sum(
        (x + i, y + j) not in covered for x, y in covered for i, j in ((1, 0), (-1, 0), (0, 1), (0, -1))
    )
    assert frame.path.count("M") == max(sides, 1)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("start", "Eq. 14 is right in all 30 cells"),
        ("one layer", "Eq. 7 is right in all 30 cells"),
        ("one layer, softmax", "Thm. 3.9 is right in all 30 cells"),
        ("softmax", "Eq. 16 is right in all 30 cells"),
        ("collapse", "Eq. 14 is off in 22 of 30 cells"),
        ("one token", "Eq. 14 is off in 20 of 30 cells"),
        ("one token, softmax", "Eq. 16 is off in all 30 cells"),
    ],
)
def test_the_headline_of_the_map_is_the_finding(name, said):
    figure = make(ledger_parts(study(name)))
    assert headlines(figure)[1] == f"<b>{said}</b>"
    assert any("t = 1: " in text for text in texts(figure)) == (study(name).ledger.arch.tokens == 1)


@pytest.mark.parametrize("name", CASES)
def test_the_ring_is_around_the_chosen_network_or_not_there(name):
    asked, s, figure = request_of(name), study(name), make(ledger_parts(study(name)))
    ring = shape(figure, "rect")
    if name == "unequal inner widths":
        assert ring.opacity == 0 and "not on the map" in module._say_map(s.map)
        return
    assert ring.opacity == 1 and ring.line.color == theme.color("focus")
    x, y = round((ring.x0 + ring.x1) / 2), round((ring.y0 + ring.y1) / 2)
    assert map_texts(figure)[x, y] == (s.ledger.dimension - s.paper.value, s.ledger.dimension)
    assert asked.at(*asked.here) == asked.arch


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_every_number_can_be_read_on_its_cell(mode):
    """Contrast at least 3 : 1, what large text needs, along the whole scale."""

    def rgb(code):
        return [int(code[i : i + 2], 16) for i in (1, 3, 5)]

    def luminance(color):
        parts = [c / 255 for c in color]
        r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    def on_scale(at):
        stops = theme.scale("deficit")
        low, high = next((p, q) for p, q in zip(stops, stops[1:], strict=False) if p[0] <= at <= q[0])
        share = (at - low[0]) / (high[0] - low[0])
        return [x + share * (y - x) for x, y in zip(rgb(low[1]), rgb(high[1]), strict=True)]

    theme.use(mode)
    try:
        for percent in range(0, 101):
            share = percent / 100
            # the heat map runs from −1 to 0.0857 times the largest distance
            light, dark = sorted(
                (luminance(rgb(_text_color(share))), luminance(on_scale((1 - share) / 1.0857))), reverse=True
            )
            assert (light + 0.05) / (dark + 0.05) >= 3, share
    finally:
        theme.use("light")


# What every picture owes its reader


@pytest.mark.parametrize("name", CASES)
def test_texts_hold_no_dollar_and_no_python(name):
    s = study(name)
    for text in [
        *texts(make(ledger_parts(s))),
        module._say_ledger(s.ledger, s.exact),
        module._say_map(s.map),
    ]:
        assert "$" not in text and not re.search(r"\b(None|nan|inf|np\.)\b", text), text


@pytest.mark.parametrize("name", CASES)
def test_everything_drawn_is_inside_its_axes(name):
    figure = make(ledger_parts(study(name)))
    low, high = figure.layout.yaxis.range
    for height, base in bars(figure).values():
        assert low <= base and base + height <= high
    for one in figure.data[:6]:
        assert all(low <= y <= high for y in one.y)
    for note in figure.layout.annotations:
        if note.yref == "y":
            assert low <= note.y <= high


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("size", ["notebook", "lecture"])
def test_a_figure_has_its_opaque_ground_and_readable_letters_in_every_look(mode, size):
    theme.use(mode, size)
    try:
        figure = make(ledger_parts(study("collapse")))
        layout = figure.layout.template.layout
        assert layout.paper_bgcolor == layout.plot_bgcolor == theme.color("ground")
        assert figure.layout.height == theme.size("height")
        sizes = [a.font.size for a in figure.layout.annotations if a.font.size]
        assert min(sizes) >= (14 if size == "lecture" else 12)
        assert trace(figure, "dimension (measured)").marker.color == theme.color("measured")
    finally:
        theme.use("light", "notebook")


@pytest.mark.parametrize("name", CASES)
def test_every_state_has_the_same_elements_in_the_same_order(name):
    start, figure = make(ledger_parts(study("start"))), make(ledger_parts(study(name)))
    assert [t.name for t in figure.data] == [t.name for t in start.data]
    for kind in ("annotations", "shapes"):
        assert len(figure.layout[kind]) == len(start.layout[kind])


@pytest.mark.parametrize("seed", range(20))
def test_redrawing_gives_exactly_the_figure_that_drawing_gives(seed):
    old, new = random.Random(seed).choices(list(CASES), k=2)
    figure = make(ledger_parts(study(old)))
    redraw(figure, ledger_parts(study(old)), ledger_parts(study(new)))
    assert plain(figure) == plain(make(ledger_parts(study(new))))
    redraw(figure, None, ledger_parts(study(old)))
    assert plain(figure) == plain(make(ledger_parts(study(old))))


def test_the_comparison_sees_a_figure_that_was_not_redrawn():
    figure = make(ledger_parts(study("start")))
    redraw(figure, ledger_parts(study("softmax")), ledger_parts(study("softmax")))
    assert plain(figure) != plain(make(ledger_parts(study("softmax"))))


# The panel


def test_few_controls_are_visible_and_the_rest_is_under_more(panel):
    assert list(panel.controls) == VISIBLE + MORE
    homes = {child: box for box in panel.children for child in getattr(box, "children", ())}
    assert all(homes[panel.controls[name]].layout.display == "flex" for name in VISIBLE)
    assert all(homes[panel.controls[name]].layout.display == "none" for name in MORE)


@pytest.mark.parametrize(("state", "widths", "head_dims", "tokens", "kind"), ASKED)
def test_the_panel_shows_the_ledger_of_the_network_asked_for(panel, state, widths, head_dims, tokens, kind):
    ledger = kernel_ledger(nv.Architecture(widths, head_dims, tokens, kind))
    panel.state = state
    assert panel.wait(PATIENCE) and panel.status.startswith("done")
    above = numbers_above(panel.figure)
    assert (above[0], above[-1]) == (str(ledger.parameters), str(ledger.dimension))
    for part in (str(ledger.arch), f"{ledger.parameters} parameters", f"{ledger.dimension} dimension"):
        assert part in panel.description


def test_the_description_says_in_words_what_is_shown(panel):
    for part in (
        "lightning 4→4→4, a = 2, 2, t = 3: of 64 parameters 26 do nothing",
        "head bases 4 + 4 = 8, interfaces 16, rescalings 1 + 1 = 2",
        "nothing is left unexplained",
        "38 dimensions remain (exact, full rank across the orbits of these symmetries, a proof)",
        "Theory agrees: Cor. 3.8, proved",
        "measured minus Eq. 14: 0 in all 30 cells",
        "Cor. 3.8 is about the 6 framed ones; Eq. 14 is right in 24 more",
    ):
        assert part in panel.description, part
    panel.state = "widths=3,3,3;head_dims=1,2"
    for part in ("2 unexplained: A₁ has rank one", "chance ≤", "Eq. 14 would say 20", "not 0 in 22 of 30"):
        assert part in panel.description, part


def test_two_measurements_that_disagree_are_said():
    s = study("start")
    wrong = replace(s.exact, value=37)
    assert "finds 37: they DISAGREE" in module._say_ledger(s.ledger, wrong)
    assert "DISAGREE" not in module._say_ledger(s.ledger, s.exact)


def test_the_badge_names_the_evidence_and_its_source(panel):
    for part in ("● exact · 38 mod 8 388 593", "■ proved · Cor. 3.8: 38"):
        assert part in title(panel)
    panel.state = "widths=3,3,3;head_dims=1,2"
    assert "□ proved here · Theorem C: 18" in title(panel)


def test_a_wrong_formula_leaves_the_measurements_alone_and_the_panel_says_so(panel, monkeypatch):
    alpha = formulas.alpha
    with monkeypatch.context() as bad:
        bad.setattr(formulas, "alpha", lambda a, d: alpha(a, d) + 1)
        panel.controls["tokens"].value = 4
        assert numbers_above(panel.figure)[-1] == "38"
        assert "says 40: they DISAGREE" in panel.description and "≠ measured" in title(panel)
        assert "6 of them CONTRADICT Cor. 3.8" in panel.description
    panel.controls["tokens"].value = 5
    assert "DISAGREE" not in panel.description and "≠" not in title(panel)


def test_a_wrong_measurement_leaves_the_formula_alone_and_the_panel_says_so(panel, monkeypatch):
    eliminate = points.eliminate
    measure.clear_cache()
    with monkeypatch.context() as bad:
        bad.setattr(points, "eliminate", lambda matrix, arithmetic: eliminate(matrix, arithmetic) - 1)
        panel.controls["tokens"].value = 6
        assert panel.wait(PATIENCE) and panel.status.startswith("done")
        assert numbers_above(panel.figure)[-1] == "37" and "they DISAGREE" in panel.description
        assert set(trace(panel.figure, "dimension by the formula").y) == {38}
        assert "1 unexplained" in panel.description and "please tell us" in panel.description
    measure.clear_cache()


def test_controls_without_a_say_are_greyed_out(panel):
    def off():
        return {name for name, control in panel.controls.items() if control.disabled}

    assert off() == set()
    panel.controls["widths"].value = "4,3,5"
    assert off() == {"width", "width_out", "layers"}
    panel.controls["head_dims"].value = "2,2"
    assert off() == {"width", "width_out", "layers", "head_dim"}


@pytest.mark.parametrize("name", VISIBLE + MORE)
def test_both_ends_of_every_control_are_legal(panel, name):
    for value in ends(panel.controls[name]):
        panel.controls[name].value = value
        assert panel.wait(PATIENCE) and panel.status.startswith("done"), (value, panel.status)
        assert str(panel._read().arch) in panel.description


@pytest.mark.parametrize(("one", "two"), list(combinations(["width", "width_out", "head_dim", "tokens"], 2)))
def test_extremes_of_two_controls_are_legal_together(panel, one, two):
    for kind in ("lightning", "softmax"):
        for first in ends(panel.controls[one]):
            for second in ends(panel.controls[two]):
                panel.state = f"kind={kind};{one}={first};{two}={second}"
                assert panel.wait(PATIENCE) and panel.status.startswith("done"), (panel.state, panel.status)
                assert str(panel._read().arch) in panel.description


def test_the_largest_network_is_measured_in_the_background_and_can_be_cancelled(panel):
    before = plain(panel.figure)
    panel.state = "width=8;width_out=8;head_dim=8;layers=6;tokens=6"
    assert panel.status.startswith("working")
    panel.cancel()
    assert panel.status.startswith("cancelled") and plain(panel.figure) == before
    panel.controls["tokens"].value = 2
    assert panel.wait(PATIENCE) and panel.status.startswith("done")
    assert numbers_above(panel.figure) == ["1152", "−384", "−320", "−6", "0", "442"]
    assert list(panel.figure.layout.xaxis2.ticktext) == ["1", "2", "3", "4", "5", "8"]


def test_after_any_walk_the_figure_is_the_one_a_new_panel_would_draw(panel):
    draw = random.Random(1)
    for _ in range(12):
        layers = draw.randint(1, 3)
        widths = ",".join(str(draw.randint(1, 5)) for _ in range(layers + 1)) if draw.random() < 0.4 else ""
        heads = ",".join(str(draw.randint(1, 5)) for _ in range(layers)) if draw.random() < 0.4 else ""
        state = (
            f"width={draw.randint(1, 6)};width_out={draw.randint(1, 6)};head_dim={draw.randint(1, 4)};"
            f"tokens={draw.randint(1, 4)};layers={layers};kind={draw.choice(('lightning', 'softmax'))};"
            f"widths={widths};head_dims={heads};seed={draw.randint(0, 9)}"
        )
        panel.state = state
        assert panel.wait(PATIENCE) and panel.status.startswith("done"), (state, panel.status)
        assert panel.state == state
        assert plain(panel.figure) == plain(make(ledger_parts(study_ledger(panel._read())))), state
    shown = panel.description, plain(panel.figure)
    again = LedgerExplorer(state=state)
    assert again.wait(PATIENCE) and (again.description, plain(again.figure)) == shown
    again.close()


def test_the_seed_changes_no_number(panel):
    before = plain(panel.figure)
    panel.state = "seed=999999"
    assert plain(panel.figure) == before and panel._shown.ledger.measured.seed == 999_999


@pytest.mark.parametrize(("name", "text", "said"), BAD_TEXTS)
def test_sizes_that_make_no_sense_are_refused_in_words(panel, name, text, said):
    before = panel.description, plain(panel.figure)
    panel.controls[name].value = text
    assert said in panel.status and not panel.status.startswith(("done", "working"))
    assert (panel.description, plain(panel.figure)) == before
    panel.controls[name].value = ""
    assert panel.status.startswith("done")


@pytest.mark.parametrize("state", BAD_STATES)
def test_a_bad_state_is_refused_and_changes_nothing(panel, state):
    before = panel.state, panel.description, plain(panel.figure)
    with pytest.raises(ValueError):
        panel.state = state
    assert (panel.state, panel.description, plain(panel.figure)) == before


@pytest.mark.parametrize("only", [["width", "seed"], [], "kind"])
def test_only_shows_these_controls_and_no_others(only):
    panel = LedgerExplorer(only=only)
    names = [only] if isinstance(only, str) else only
    assert [n for n, c in panel.controls.items() if c.layout.display != "none"] == names
    panel.controls["tokens"].value = 2
    assert "t = 2" in panel.description
    panel.close()
