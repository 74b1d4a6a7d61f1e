"""Figure 3 of the paper and its panel: every mark is a measurement; where floats are
wrong it is seen."""

import csv
import io
from dataclasses import replace

import numpy as np
import pytest
import torch
from panels import PATIENCE, headlines, title, trace

from neuroviz.attention import Architecture
from neuroviz.attention.modules import AttentionNetwork
from neuroviz.kit.measured import measure_dimension
from neuroviz.kit.plot import make
from neuroviz.kit.words import tiny
from neuroviz.rank.field import Reals
from neuroviz.rank.floats import float_rank
from neuroviz.rank.point import Point, derivative
from neuroviz.softmax.figure3 import (
    Figure3Setting,
    float32_rank,
    procedure_jacobian,
    study_figure3,
)
from neuroviz.softmax.figure3_figure import figure3_parts
from neuroviz.softmax.figure3_panel import Figure3Explorer

PANEL = Figure3Explorer
SOFTMAX = [25, 40, 57, 76, 97, 120, 145, 172]
NINE = Architecture.uniform(9, 2, 2, 3, "softmax")


def small(**more):
    return study_figure3(Figure3Setting(last=5, **more))


@pytest.fixture(scope="module")
def missed():
    """A study in which float32 misses δ = 9 and 10, and is right at δ = 8 or not."""
    return study_figure3(Figure3Setting(first=8, peer=True, inputs=100, runs=1))


def test_the_exact_ranks_are_those_of_the_paper_and_lightning_has_two_less():
    study = study_figure3(Figure3Setting(lightning=True))
    assert [p.width for p in study.of("softmax")] == list(range(3, 11))
    assert [p.exact.value for p in study.of("softmax")] == SOFTMAX
    assert [p.exact.value for p in study.of("lightning")] == [
        rank - 2 for rank in SOFTMAX
    ]
    assert all(p.on_formula and p.exact.error_bound == 0 for p in study.points)
    assert all(
        p.floating.decided and p.floating.value == p.exact.value for p in study.points
    )


@pytest.mark.parametrize(
    "setting",
    [
        Figure3Setting(first=1, last=4, lightning=True, seed=3),
        Figure3Setting(layers=3, tokens=2, head_dim=1, first=2, last=4, lightning=True),
        Figure3Setting(layers=1, tokens=1, head_dim=4, first=3, last=3),
    ],
)
def test_every_point_is_a_measurement_of_a_uniform_network(setting):
    study = study_figure3(setting)
    assert [p.arch for p in study.points] == list(setting.architectures)
    for p in study.points:
        assert p.arch == Architecture.uniform(
            p.width, setting.head_dim, setting.layers, setting.tokens, p.arch.attention
        )
        assert p.exact == measure_dimension(p.arch, seed=setting.seed)
        assert p.floating == measure_dimension(
            p.arch, method="float", seed=setting.seed
        )
        assert p.on_formula and p.float32 is None


# The float32 procedure


def drawn(arch, seed, inputs):
    """The network and the inputs of the procedure, from torch's generator."""
    generator = torch.Generator().manual_seed(seed)
    network = AttentionNetwork(arch)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.normal_(generator=generator)
    return network, torch.randn(
        inputs, arch.widths[0], arch.tokens, generator=generator
    )


def one_backward_for_each_row(arch, seed, inputs):
    network, X = drawn(arch, seed, inputs)
    parameters = list(network.parameters())
    rows = []
    outputs = network(X).flatten()
    for i in range(len(outputs)):
        network.zero_grad()
        outputs[i].backward(retain_graph=True)
        rows.append(torch.cat([parameter.grad.flatten() for parameter in parameters]))
    return torch.stack(rows)


@pytest.mark.parametrize("kind", ["softmax", "lightning"])
def test_all_rows_at_once_are_the_rows_one_by_one(kind):
    arch = Architecture.uniform(4, 2, 2, 3, kind)
    at_once = procedure_jacobian(arch, 0, 5)
    one_by_one = one_backward_for_each_row(arch, 0, 5)
    assert at_once.dtype == one_by_one.dtype == torch.float32
    assert at_once.shape == one_by_one.shape == (5 * 3 * 4, arch.num_parameters)
    assert (at_once - one_by_one).abs().max() < 1e-5 * one_by_one.abs().max()
    other = one_backward_for_each_row(arch, 1, 5)
    assert (at_once - other).abs().max() > 0.1 * other.abs().max()


def in_float64(arch, seed, inputs):
    """The same draws once more, differentiated by the structured reverse pass."""
    network, X = drawn(arch, seed, inputs)
    weights = {}
    for i, layer in enumerate(network.layers, start=1):
        for name, parameter in layer.named_parameters():
            weights[f"{i}.{name}"] = parameter.detach().double().numpy()
    J = derivative(Point(arch, Reals(), weights, {}), X.double().numpy())
    return J.reshape(-1, arch.num_parameters)


@pytest.mark.parametrize("kind", ["softmax", "lightning"])
def test_its_derivatives_are_those_of_the_numpy_network_up_to_rounding(kind):
    arch = Architecture.uniform(5, 2, 2, 3, kind)
    J = in_float64(arch, 2, 30)
    assert (
        np.abs(procedure_jacobian(arch, 2, 30).numpy() - J).max()
        < 1e-3 * np.abs(J).max()
    )


@pytest.mark.parametrize("arch", [NINE, Architecture((5, 4, 2), (3, 3), 3)], ids=str)
def test_its_rank_is_what_torch_counts_above_its_tolerance(arch):
    found = float32_rank(arch, seed=1, inputs=40)
    J = procedure_jacobian(arch, 1, 40)
    assert found.value == torch.linalg.matrix_rank(J)
    assert found.value == (found.singular_values > found.tolerance).sum()
    assert len(J) == 40 * 3 * arch.widths[-1] > J.shape[1]
    assert found.tolerance == len(J) * torch.finfo(torch.float32).eps


def test_what_it_misses_is_lost_to_the_tolerance_and_not_to_rounding():
    """The very same weights and inputs have rank 145, as float64 sees without doubt."""
    found = float32_rank(NINE, seed=0, inputs=100)
    assert found.value < 145 and found.num_inputs >= found.enough
    double = float_rank(in_float64(NINE, 0, 100))
    assert double.value == 145 and double.decided


def test_more_runs_can_only_raise_its_rank():
    ranks = [float32_rank(NINE, seed=seed, inputs=60).value for seed in range(3)]
    assert float32_rank(NINE, seed=0, inputs=60, runs=3).value == max(ranks)
    assert float32_rank(NINE, seed=0, inputs=60, runs=3).seed == ranks.index(max(ranks))
    easy = Architecture((2, 2), (1,))
    assert float32_rank(easy, seed=5, runs=3).seed == 5, "of equal ones the first"


def test_a_float32_rank_without_further_words_is_one_run_on_250_inputs_from_seed_0():
    arch = Architecture((2, 2), (1,))
    found = float32_rank(arch)
    assert (found.seed, found.num_inputs, found.runs) == (0, 250, 1)


def test_a_wrong_rank_is_flagged_and_drawn_with_its_error(missed):
    by_width = {p.width: p for p in missed.points}
    for width in (9, 10):
        p = by_width[width]
        assert (
            p.float32_is_wrong
            and p.float32_difference == p.float32.value - p.exact.value < 0
        )
    wrong = [p for p in missed.points if p.float32_is_wrong]
    figure = make(figure3_parts(missed))
    crosses = trace(figure, "float32, wrong, softmax")
    assert list(crosses.y) == [p.float32.value for p in wrong]
    assert list(crosses.text) == [f"−{-p.float32_difference}" for p in wrong]
    assert f"row-by-row float32 misses {len(wrong)} of 3" in headlines(figure)
    assert "softmax: 3 of 3 exact ranks on the formula" in headlines(figure)


def test_a_right_rank_is_not_flagged():
    study = small(peer=True, inputs=100, runs=1)
    assert not any(p.float32_is_wrong for p in study.points)
    figure = make(figure3_parts(study))
    assert len(trace(figure, "float32, wrong, softmax").x) == 0
    assert list(trace(figure, "float32, right, softmax").y) == SOFTMAX[:3]
    assert "row-by-row float32 misses 0 of 3" in headlines(figure)


def test_an_overflow_is_no_rank_and_is_said():
    study = study_figure3(
        Figure3Setting(layers=4, last=4, lightning=True, peer=True, inputs=20, runs=2)
    )
    points = study.of("lightning")
    assert all(p.float32.value is None and p.float32_is_wrong for p in points)
    assert all(p.float32_difference is None for p in points)
    over = sum(p.float32.value is None for p in study.points)
    (said,) = [
        line
        for line in headlines(make(figure3_parts(study)))
        if line.startswith("row-by-row")
    ]
    assert f"overflows at {over} of 4" in said
    lines = list(csv.DictReader(io.StringIO(study.to_csv())))
    assert lines[-1]["float32"] == "" and lines[-1]["float32_inputs"] == "20"


def test_too_few_inputs_are_known():
    starved, fed = (float32_rank(Architecture((3, 3), (2,)), inputs=n) for n in (1, 50))
    assert starved.num_inputs < starved.enough and "are needed" in starved.note
    assert starved.value < 16 == fed.value and "are needed" not in fed.note


# The drawing


def test_what_is_called_measured_is_never_the_formula():
    study = small(lightning=True)
    points = tuple(
        replace(p, exact=replace(p.exact, value=p.exact.value + 7))
        for p in study.points
    )
    before = make(figure3_parts(study))
    after = make(figure3_parts(replace(study, points=points)))
    for kind in ("softmax", "lightning"):
        moved = [y + 7 for y in trace(before, f"exact (measured), {kind}").y]
        assert list(trace(after, f"exact (measured), {kind}").y) == moved
        assert trace(after, f"formula, {kind}").y == trace(before, f"formula, {kind}").y
    assert "DIFFER at δ = 3, 4, 5" in headlines(after)[0]
    assert "all 6 on the formula" in headlines(before)[0]


def test_a_tampered_formula_and_a_tampered_float_are_drawn_as_they_are():
    study = small()
    first, *others = study.points
    theory = replace(first, expected=replace(first.expected, value=30))
    figure = make(figure3_parts(replace(study, points=(theory, *others))))
    assert list(trace(figure, "formula, softmax").y) == [30, 40, 57]
    assert list(trace(figure, "exact (measured), softmax").y) == SOFTMAX[:3]
    assert "DIFFER at δ = 3" in headlines(figure)[0]
    floating = replace(first, floating=replace(first.floating, value=24))
    figure = make(figure3_parts(replace(study, points=(floating, *others))))
    assert list(trace(figure, "float64 (measured), softmax").y) == [24, 40, 57]
    assert "float64: 1 of 3 decide WRONGLY" in headlines(figure)


def test_a_gap_below_what_decides_is_hollow_and_counted():
    study = small()
    first, *others = study.points
    unsure = replace(first, floating=replace(first.floating, gap=1e5, decided=False))
    figure = make(figure3_parts(replace(study, points=(unsure, *others))))
    assert list(trace(figure, "gap that cannot decide, softmax").y) == [1e5]
    assert len(trace(figure, "gap that decides, softmax").y) == 2
    assert "float64: 2 of 3 gaps decide" in headlines(figure)
    assert "float64: all 3 gaps decide" in headlines(make(figure3_parts(study)))


def test_both_kinds_stand_at_their_width_and_the_numbers_say_how_far_apart_they_are():
    study = small(lightning=True)
    figure = make(figure3_parts(study))
    soft, light = (
        trace(figure, f"exact (measured), {kind}") for kind in ("softmax", "lightning")
    )
    assert list(soft.x) == list(light.x) == [3, 4, 5]
    apart = [f"+{one - other}" for one, other in zip(soft.y, light.y, strict=True)]
    assert list(soft.text) == apart == ["+2"] * 3 and not any(
        map(str.strip, light.text)
    )
    alone = trace(make(figure3_parts(small())), "exact (measured), softmax")
    assert list(alone.text) == ["25", "40", "57"]


def test_the_axis_reaches_down_to_a_singular_value_below_all_float32():
    """σ_1 may be large where the last true one is small: their ratio has no least."""
    study = small(peer=True, inputs=20, runs=1)
    first, *others = study.points
    sigma = np.ones(first.exact.value)
    sigma[-1] = 1e-60
    float32 = replace(first.float32, singular_values=sigma)
    changed = replace(study, points=(replace(first, float32=float32), *others))
    figure = make(figure3_parts(changed))
    assert figure.layout.yaxis3.range[0] == -61


# Files


def test_the_table_says_what_the_study_holds(missed):
    lines = list(csv.DictReader(io.StringIO(missed.to_csv())))
    assert len(lines) == len(missed.points)
    for line, p in zip(lines, missed.points, strict=True):
        assert (int(line["delta"]), line["attention"]) == (p.width, "softmax")
        assert (int(line["layers"]), int(line["tokens"]), int(line["head_dim"])) == (
            2,
            3,
            2,
        )
        assert int(line["parameters"]) == p.arch.num_parameters
        assert (int(line["exact"]), int(line["prime"])) == (
            p.exact.value,
            p.exact.prime,
        )
        assert float(line["error_bound"]) == p.exact.error_bound
        assert (int(line["float"]), line["decided"]) == (p.floating.value, "yes")
        assert float(line["gap"]) == pytest.approx(p.floating.gap, rel=1e-5)
        assert int(line["float32"]) == p.float32.value
        assert int(line["formula"]) == p.expected.value
        assert (line["status"], line["source"]) == (
            "proved here",
            "Eq. 16, Corollary A",
        )
        assert (line["seed"], line["float32_inputs"], line["float32_runs"]) == (
            "0",
            "100",
            "1",
        )


def test_the_table_is_empty_where_nothing_was_asked():
    line, *_ = csv.DictReader(io.StringIO(small().to_csv()))
    assert line["float32"] == line["float32_inputs"] == ""


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"first": 0}, "first must be a whole number ≥ 1; got 0"),
        ({"layers": 2.0}, "layers must be a whole number ≥ 1; got 2.0"),
        ({"inputs": 0}, "inputs must be a whole number ≥ 1"),
        ({"runs": True}, "runs must be a whole number ≥ 1; got True"),
        ({"seed": -1}, "seed must be a whole number ≥ 0; got -1"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        Figure3Setting(**wrong)


# The panel


def table(panel):
    return list(csv.DictReader(io.StringIO(panel.export.table)))


def test_it_opens_on_the_figure_of_the_paper(panel):
    assert panel._read() == Figure3Setting()
    assert (
        "softmax 25, 40, 57, 76, 97, 120, 145, 172; all on the formula"
        in panel.description
    )
    assert "8 ranks" in title(panel) and "Eq. 16, Corollary A" in title(panel)
    assert headlines(panel.figure)[0] == "softmax: 8 of 8 exact ranks on the formula"


def test_the_files_are_of_what_is_shown_whichever_end_of_the_widths_comes_first(panel):
    assert panel.export.name == "figure3_softmax_l2_t3_a2_d3-10"
    assert [int(line["exact"]) for line in table(panel)] == SOFTMAX
    first = panel.controls["first"]
    last = panel.controls["last"]
    assert (first.min, first.max) == (last.min, last.max) == (1, 12)
    panel.state = "lightning=yes;first=4;last=3"
    assert panel.export.name == "figure3_softmax_lightning_l2_t3_a2_d3-4"
    assert [line["exact"] for line in table(panel)] == ["25", "40", "23", "38"]
    assert list(trace(panel.figure, "exact (measured), lightning").y) == [23, 38]


def test_of_one_width_no_second_one_is_named(panel):
    for state, said in (
        ("first=4;last=4", "2 layers, δ = 4, exact"),
        ("last=5", "2 layers, δ = 4, …, 5, exact"),
    ):
        panel.state = state
        assert said in panel.description


def test_every_whole_number_can_be_chosen_but_of_inputs_every_tenth(panel):
    steps = {
        name: control.step
        for name, control in panel.controls.items()
        if hasattr(control, "step")
    }
    assert steps.pop("inputs") == 10 and len(steps) > 5 and set(steps.values()) == {1}


def test_the_float32_procedure_runs_in_the_background_and_can_be_cancelled(panel):
    assert panel.controls["inputs"].disabled and panel.controls["runs"].disabled
    before = panel.export.table
    panel.controls["peer"].value = True
    assert panel._background.running and panel.export.table == before
    panel.cancel()
    assert panel.status.startswith("cancelled") and not panel._background.running
    assert panel.export.table == before
    assert not panel.controls["inputs"].disabled


def test_it_says_how_many_float_ranks_are_right_and_where_none_is_decided(panel):
    study = small()
    first, *others = study.points
    wrong = replace(first, floating=replace(first.floating, value=24))
    unsure = replace(wrong, floating=replace(wrong.floating, decided=False))
    gap = tiny(min(point.floating.gap for point in study.points))
    for points, said in (
        (study.points, f"In float64 3 of 3 come out right, with gaps from {gap} on."),
        ([wrong, *others], "In float64 2 of 3 come out right, with gaps from"),
        (
            [unsure, *others],
            "In float64 2 of 3 come out right; it cannot decide at δ = 3.",
        ),
        ([others[0]], "In float64 1 of 1 comes out right, with a gap of"),
    ):
        assert said in panel._describe(replace(study, points=tuple(points)))


def test_what_takes_long_is_declared():
    assert not Figure3Setting().is_slow and not Figure3Setting(lightning=True).is_slow
    for slow in ({"peer": True, "last": 3}, {"layers": 4, "last": 12}):
        assert Figure3Setting(**slow).is_slow


@pytest.mark.long
def test_it_says_where_float32_is_wrong_and_where_inputs_are_too_few(panel):
    panel.state = "first=9;last=9;peer=yes;inputs=60;runs=1"
    assert panel.wait(PATIENCE) and panel.status.startswith("done")
    assert "misses 1 of 1, as " in panel.description
    assert (
        "counts as 0 what lies below" in panel.description
        and "too few inputs" not in panel.description
    )
    (read,) = [int(line["float32"]) for line in table(panel)]
    assert read < 145 and list(trace(panel.figure, "float32, wrong, softmax").y) == [
        read
    ]
    panel.state = "first=12;last=12;tokens=1;layers=1;peer=yes;inputs=10;runs=1"
    assert panel.wait(PATIENCE) and panel.status.startswith("done")
    assert "it has too few inputs at δ = 12" in panel.description
    assert "counts as 0" not in panel.description


def test_a_name_that_is_no_file_is_refused(panel):
    before = panel.export.table, panel.export.name
    for name in ("", "../figure", "two words", "a/b", ".hidden"):
        with pytest.raises(ValueError, match="the name of a file has letters"):
            panel.export.offer("", name)
    assert (panel.export.table, panel.export.name) == before
