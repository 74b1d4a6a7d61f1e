"""The figure of one dimension, read back: what stands in it, where it comes from, and how it moves."""

import json
from dataclasses import replace
from functools import cache
from math import inf, isfinite, log10

import numpy as np
import plotly.graph_objects as go
import pytest
from panels import trace

from neuroviz.deep.dimension_figure import dimension_parts
from neuroviz.deep.dimension_panel import DimensionSetting, study_dimension
from neuroviz.engine.architecture import Architecture
from neuroviz.engine.measure import measure_dimension, rank_by_inputs
from neuroviz.kit import theme
from neuroviz.kit.plot import make, power_of_ten, rough

# widths, head dims, tokens, kind, which widths vary, chosen inputs
CASES = {
    "start": ((4, 4, 4), (2, 2), 3, "lightning", "all", None),
    "softmax": ((4, 4, 4), (2, 2), 3, "softmax", "all", None),
    "one layer": ((4, 4), (2,), 3, "lightning", "all", None),
    "one layer, d₀ moves": ((3, 5), (2,), 3, "softmax", "input", None),
    "inner width moves": ((5, 3, 6), (2, 3), 2, "lightning", "inner", None),
    "inner width moves, all alike": ((4, 4, 4), (2, 2), 3, "lightning", "inner", None),
    "d₀ moves, both alike": ((4, 4), (2,), 3, "lightning", "input", None),
    "widening": ((2, 6, 3), (2, 2), 3, "lightning", "inner", None),
    "the paper's formula negative here": ((2, 8, 2), (2, 2), 3, "lightning", "inner", None),
    "rank one": ((3, 3, 3), (1, 2), 3, "lightning", "all", None),
    "one token": ((4, 4, 4), (2, 2), 1, "lightning", "all", None),
    "one token, softmax": ((4, 4, 4), (2, 2), 1, "softmax", "all", None),
    "width one": ((1, 1), (1,), 1, "lightning", "all", None),
    "width one, deep": ((1, 1, 1, 1), (3, 1, 2), 2, "softmax", "all", None),
    "a > d": ((2, 2, 2), (5, 3), 3, "softmax", "all", None),
    "one input": ((4, 4, 4), (2, 2), 3, "lightning", "all", 1),
    "two inputs": ((4, 4, 4), (2, 2), 3, "softmax", "all", 2),
    "too many inputs": ((3, 3, 3), (2, 2), 3, "lightning", "all", 40),
    "undecided": ((2,) * 9, (2,) * 8, 3, "lightning", "all", None),
}
HUGE = "no spectrum"  # a study whose spectrum and inputs would take too long


@cache
def study(name):
    if name == HUGE:
        return replace(study("start"), spectrum=None, inputs=None)
    widths, head_dims, tokens, kind, varies, inputs = CASES[name]
    setting = DimensionSetting(
        width=widths[1 if varies == "inner" else 0],
        tokens=tokens,
        layers=len(head_dims),
        kind=kind,
        equal=varies == "all",
        width_in=widths[0],
        width_out=widths[-1],
        head_dims=",".join(map(str, head_dims)),
        inputs=inputs or 0,
    )
    assert setting.arch == Architecture(widths, head_dims, tokens, kind) and setting.varies == varies
    return study_dimension(setting)


STUDIES = [*CASES, HUGE]


def plain(figure):
    """A figure as JSON, without what plotly adds by itself and without the template."""
    found = json.loads(figure.to_json())
    found["layout"].pop("template", None)
    for one in found["data"]:
        one.pop("uid", None)
        one.pop("type", None)
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


def headlines(figure):
    return [a.text for a in figure.layout.annotations if a.text.startswith("<b>") and a.y == 1]


def points(figure, one):
    """The marks of one trace with the ranges of its axes; log₁₀ on a log axis."""
    x_axis = figure.layout[(one.xaxis or "x").replace("x", "xaxis")]
    y_axis = figure.layout[(one.yaxis or "y").replace("y", "yaxis")]
    y = [log10(v) if y_axis.type == "log" else v for v in one.y]
    return list(one.x), y, x_axis.range, y_axis.range


# What is drawn


@pytest.mark.parametrize("name", STUDIES)
def test_the_spectrum_is_that_of_the_measurement_split_at_the_exact_rank(name):
    s, figure = study(name), make(dimension_parts(study(name)))
    moving = trace(figure, "singular values of the weights that move the function")
    noise = trace(figure, "singular values that are rounding noise")
    if s.spectrum is None:
        assert len(moving.x) == len(noise.x) == 0
        assert any("too many for" in text for text in texts(figure))
        return
    sigma = s.spectrum.singular_values
    drawn = np.array([*moving.y, *noise.y])
    np.testing.assert_array_equal(drawn, np.maximum(sigma, 1e-17))  # a log axis has no zero
    assert [*moving.x, *noise.x] == list(range(1, len(sigma) + 1))
    assert len(moving.x) == s.visible and figure.layout.yaxis.type == "log"
    assert moving.marker.color == theme.color("measured") != noise.marker.color


@pytest.mark.parametrize("name", STUDIES)
def test_the_exact_rank_stands_between_the_last_kept_and_the_first_dropped_value(name):
    s, figure = study(name), make(dimension_parts(study(name)))
    line = trace(figure, "exact rank (measured)")
    assert list(line.x) == [s.visible + 0.5] * 2
    few = s.visible < s.exact.value  # then it is not the dimension, and says so
    on = f" on {s.chosen_inputs} input{'s' if s.chosen_inputs > 1 else ''}" if few else ""
    assert any(a.text == f"exact rank{on}<br><b>{s.visible}</b>" for a in figure.layout.annotations)


@pytest.mark.parametrize("name", STUDIES)
def test_the_gap_is_marked_from_the_last_kept_to_the_first_dropped_value(name):
    s, figure = study(name), make(dimension_parts(study(name)))
    (arrow,) = [a for a in figure.layout.annotations if a.showarrow]
    dropped = [] if s.spectrum is None else np.maximum(s.spectrum.singular_values[s.visible :], 1e-17)
    if len(dropped) == 0:
        assert arrow.opacity == 0
        return
    kept = s.spectrum.singular_values[s.visible - 1]
    assert arrow.y == pytest.approx(log10(kept)) and arrow.ay == pytest.approx(log10(dropped[0]))
    exact_zero = s.spectrum.singular_values[s.visible] == 0
    said = f"gap {rough(inf if exact_zero else kept / dropped[0])}"
    assert any(said in text for text in texts(figure))
    assert any("floats cannot decide" in text for text in texts(figure)) == (not s.spectrum.decided)


def test_the_undecided_case_above_is_undecided_and_the_full_rank_case_drops_nothing():
    assert not study("undecided").spectrum.decided
    assert any("full rank" in text for text in texts(make(dimension_parts(study("one token, softmax"))))) == (
        study("one token, softmax").exact.value == study("one token, softmax").arch.num_parameters
    )


@pytest.mark.parametrize("name", STUDIES)
def test_the_formula_is_drawn_into_the_spectrum_with_its_source(name):
    s, figure = study(name), make(dimension_parts(study(name)))
    mark = trace(figure, "dimension by the formula")
    assert list(mark.x) == [s.expected.value + 0.5] and mark.marker.symbol.endswith("-open")
    assert f"{s.expected.source}: <b>{s.expected.value}</b>" in texts(figure)


@pytest.mark.parametrize("name", STUDIES)
def test_every_measured_mark_is_a_measurement_and_every_formula_mark_a_formula(name):
    s, figure = study(name), make(dimension_parts(study(name)))
    measured, formula = trace(figure, "measured"), trace(figure, "formula")
    by_width = {point.width: point for point in s.widths}
    assert dict(zip(formula.x, formula.y, strict=True)) == {w: p.expected.value for w, p in by_width.items()}
    assert dict(zip(measured.x, measured.y, strict=True)) == {
        w: p.measured.value for w, p in by_width.items() if p.measured
    }
    assert not measured.marker.symbol.endswith("-open") and formula.marker.symbol.endswith("-open")
    ring = trace(figure, "this architecture (measured)")
    assert (list(ring.x), list(ring.y)) == ([s.width], [s.exact.value])
    assert measure_dimension(s.arch).value == s.exact.value


@pytest.mark.parametrize("name", CASES)
def test_the_rank_grows_with_the_inputs_up_to_its_plateau(name):
    s, figure = study(name), make(dimension_parts(study(name)))
    curve = trace(figure, "exact rank by inputs (measured)")
    ranks = rank_by_inputs(s.arch, 0).ranks
    assert tuple(curve.y) == ranks and list(curve.x) == list(range(1, len(ranks) + 1))
    assert ranks[-1] == ranks[-2] == s.exact.value
    equations = trace(figure, "equations")
    # The line of equations is above the ranks, and stops where it leaves the picture.
    assert all(r <= e for r, e in zip(curve.y, equations.y, strict=False))
    per_input, n = s.inputs.equations_per_input, s.arch.num_parameters
    assert list(equations.y) == [min(k * per_input, n) for k in equations.x] and len(equations.y) >= 1
    ring = trace(figure, "inputs in use")
    assert list(ring.y) == [s.visible] and ring.x[0] == min(s.chosen_inputs or s.inputs.enough, len(ranks))
    assert f"{s.inputs.enough} input" in headlines(figure)[2]


@pytest.mark.parametrize(
    ("name", "said"), [("one input", "<b>1 input shows"), ("two inputs", "<b>2 inputs show ")]
)
def test_too_few_inputs_are_said_in_the_headline(name, said):
    figure = make(dimension_parts(study(name)))
    assert headlines(figure)[0].startswith(said), headlines(figure)[0]
    assert study(name).visible < study(name).exact.value


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("start", "δ (all widths)"),
        ("inner width moves", "δ (inner widths)"),
        ("inner width moves, all alike", "δ (inner widths)"),
        ("one layer, d₀ moves", "d₀ (input width)"),
        ("d₀ moves, both alike", "d₀ (input width)"),
    ],
)
def test_the_axis_names_the_width_that_the_curve_moves(name, said):
    assert make(dimension_parts(study(name))).layout.xaxis2.title.text == said


# A disagreement would be seen


def wrong_formula(s):
    """The study with every formula one too large, as if we had its dimension wrong."""

    def off(expected):
        return replace(expected, value=expected.value + 1)

    points = tuple(replace(p, expected=off(p.expected)) for p in s.widths)
    return replace(s, expected=off(s.expected), widths=points)


@pytest.mark.parametrize("name", CASES)
def test_a_wrong_formula_moves_its_own_marks_and_no_measured_one(name):
    right, wrong = make(dimension_parts(study(name))), make(dimension_parts(wrong_formula(study(name))))
    for before, after in zip(right.data, wrong.data, strict=True):
        same = (before.x, before.y) == (after.x, after.y)
        if before.name in ("formula", "dimension by the formula"):
            assert not same
        elif "outside its hypotheses" not in before.name:  # that one is drawn where it is not the answer
            assert same, before.name
    all_measured = all(p.measured for p in study(name).widths)
    said = "formula and measurement agree" if all_measured else "formula agrees at all "
    assert headlines(right)[1].startswith(f"<b>{said}")
    assert "DIFFER" in headlines(wrong)[1]
    assert all(str(p.width) in headlines(wrong)[1] for p in study(name).widths if p.measured)


def test_a_wrong_measurement_moves_the_measured_marks_and_no_formula():
    s = study("start")
    points = tuple(replace(p, measured=replace(p.measured, value=p.measured.value - 1)) for p in s.widths)
    wrong = make(dimension_parts(replace(s, exact=replace(s.exact, value=s.exact.value - 1), widths=points)))
    right = make(dimension_parts(s))
    for name, moves in [("measured", True), ("this architecture (measured)", True), ("formula", False)]:
        assert (trace(right, name).y != trace(wrong, name).y) == moves, name
    assert trace(wrong, "exact rank (measured)").x != trace(right, "exact rank (measured)").x
    assert trace(wrong, "dimension by the formula").x == trace(right, "dimension by the formula").x
    assert "DIFFER" in headlines(wrong)[1]


def test_one_wrong_point_is_named():
    s = study("start")
    points = tuple(
        replace(p, expected=replace(p.expected, value=p.expected.value + (p.width == 6))) for p in s.widths
    )
    assert headlines(make(dimension_parts(replace(s, widths=points))))[1].endswith("DIFFER at δ = 6</b>")


@pytest.mark.parametrize("name", ["widening", "rank one", "one token"])
def test_the_paper_outside_its_hypotheses_is_marked_as_that(name):
    s, figure = study(name), make(dimension_parts(study(name)))
    assert s.paper.status == "outside hypotheses" and s.paper.value != s.expected.value
    cross = trace(figure, "the paper's formula outside its hypotheses, for this architecture")
    assert list(cross.x) == [s.paper.value + 0.5] and cross.marker.line.color == theme.color("outside")
    assert any(f"would say {s.paper.value}," in text and "does not apply" in text for text in texts(figure))


def test_where_the_paper_applies_nothing_is_crossed_out():
    figure = make(dimension_parts(study("start")))
    cross = trace(figure, "the paper's formula outside its hypotheses, for this architecture")
    assert len(cross.x) == 0 and not any("would say" in text for text in texts(figure))


# What every picture owes its reader


@pytest.mark.parametrize("name", STUDIES)
def test_every_mark_is_a_finite_number_inside_its_axes(name):
    figure = make(dimension_parts(study(name)))
    for one in figure.data:
        x, y, x_range, y_range = points(figure, one)
        assert len(x) == len(y)
        for at, low, high in [(v, *x_range) for v in x] + [(v, *y_range) for v in y]:
            assert isfinite(at) and low - 1e-9 <= at <= high + 1e-9, (one.name, at, low, high)
        if "outside its hypotheses" not in one.name:  # a bare formula may say anything there, -2 for one
            assert all(v > 0 for v in x) and all(v >= 0 for v in one.y)


def test_the_check_above_sees_a_mark_outside():
    figure = make(dimension_parts(study("start")))
    figure.data[0].y = (1e-40,)
    figure.data[0].x = (1,)
    with pytest.raises(AssertionError):
        _, (y,), _, (low, high) = points(figure, figure.data[0])
        assert low <= y <= high


def test_texts_are_found_wherever_they_hide():
    assert len(texts(make(dimension_parts(study("start"))))) > 40
    hidden = go.Figure({"y": [1], "hovertemplate": "a$"}, {"xaxis": {"title": {"text": "b$"}}})
    assert sorted(texts(hidden)) == ["a$", "b$"]


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("size", ["notebook", "lecture"])
def test_a_figure_has_its_opaque_ground_and_readable_letters_in_every_look(mode, size):
    theme.use(mode, size)
    try:
        figure = go.Figure(make(dimension_parts(study("rank one"))))
        layout = figure.layout.template.layout
        assert layout.paper_bgcolor == layout.plot_bgcolor == theme.color("ground")
        assert figure.layout.height == theme.size("height")
        sizes = [a.font.size for a in figure.layout.annotations if a.font.size]
        assert min([*sizes, layout.font.size, layout.xaxis.tickfont.size]) >= (
            14 if size == "lecture" else 12
        )
    finally:
        theme.use("light", "notebook")


# Small pieces


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (9.6, "10"),
        (42.0, "40"),
        (949.0, "900"),
        (960.0, "1·10³"),
        (3.17e13, "3·10¹³"),
        (inf, "∞"),
    ],
)
def test_a_factor_is_rounded_to_one_digit(value, text):
    assert rough(value) == text


@pytest.mark.parametrize(("exponent", "text"), [(0, "1"), (1, "10¹"), (-16, "10⁻¹⁶"), (23, "10²³")])
def test_powers_of_ten_are_written_in_unicode(exponent, text):
    assert power_of_ten(exponent) == text
