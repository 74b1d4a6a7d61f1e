"""The flag of Lemma D: the recursion against exact ranks, and the panel."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from architectures import random_architectures
from panels import headlines, plain, said, title, trace

from neuroviz.attention import Architecture
from neuroviz.attention.formulas import effective_widths
from neuroviz.attention.symmetry import virtual_weights
from neuroviz.deep.span import flag_steps, measure_span
from neuroviz.kit.plot import make
from neuroviz.rank.elimination import exact_rank
from neuroviz.rank.field import PrimeField
from neuroviz_beyond import Transformer
from neuroviz_beyond.proofs.flag_panel import (
    FlagExplorer,
    FlagSetting,
    flag_parts,
    study_flag,
)
from neuroviz_beyond.transformers.evaluate import random_weights

# Lemma D


def test_the_spans_have_the_dimensions_of_the_recursion():
    lost = set()
    for arch in random_architectures(60, seed=1, width=7, tokens=3):
        for step in flag_steps(arch, seed=3)[1:-1]:
            assert step.measured.value == step.seen <= step.arriving <= step.width, arch
            assert step.measured.value == measure_span(arch, step.index, seed=4).value
            lost.add((step.seen < step.arriving, step.arriving < step.width))
    # in every way, and in none
    assert lost >= {(False, False), (False, True), (True, False)}


def test_rows_and_columns_are_needed_to_span_the_flag():
    """The check can fail: with the rows of M₃ alone the span is too small."""
    arch = Architecture((9, 8, 9, 1), (2, 2, 1))
    over = PrimeField()
    virtual = virtual_weights(
        over, random_weights(over, arch, np.random.default_rng(0))
    )
    assert (
        exact_rank(np.concatenate([virtual.L, virtual.M[2]]), over)
        == 2
        < measure_span(arch, 2).value
        == 3
    )


def test_what_each_layer_sees_adds_up_and_the_flag_is_nested():
    for arch in random_architectures(60, seed=2, width=7, tokens=3):
        steps = flag_steps(arch)
        assert tuple(step.seen for step in steps) == effective_widths(arch)
        for step, after in zip(steps[1:-1], steps[2:], strict=True):
            assert sum(count for _, count in step.parts) == step.seen
            assert all(count >= 0 for _, count in step.parts)
            part, added = step.parts[-1]
            assert part == step.index + 1 and added <= 2 * arch.head_dims[step.index]
            if after is not steps[-1]:
                assert step.parts[:-1] == after.parts


def test_only_a_span_that_fills_its_space_is_certain():
    assert measure_span(Architecture((3, 3, 3), (2, 2)), 1).error_bound == 0
    assert 0 < measure_span(Architecture((9, 8, 9, 1), (2, 2, 1)), 2).error_bound < 1e-4
    with pytest.raises(ValueError, match=r"from 0 to 1 in .* got 2"):
        measure_span(Architecture((2, 2, 2), (1, 1)), 2)
    with pytest.raises(ValueError, match="flag_steps"):
        flag_steps(Transformer((2, 2, 2), (2, 2), heads=2))


# The panel

PANEL = FlagExplorer
SETTINGS = [
    {},
    {"kind": "softmax"},
    {"kind": "softmax", "tokens": 1},
    {"widths": "1,1", "head_dims": "1"},
    {"widths": "1,1,1,1,1", "head_dims": "10,10,10,10", "tokens": 1},
    {"widths": "6,5,4,5", "head_dims": "1,2,1"},
    {"widths": "3,3,3", "head_dims": "1,2"},
    {"widths": "8,10,10,9,1", "head_dims": "1,1,1,1", "tokens": 4},
]


@cache
def shown(number):
    study = study_flag(FlagSetting(**SETTINGS[number]))
    return study, make(flag_parts(study))


def cells(figure, name):
    one = trace(figure, name)
    return sorted(zip(one.x, one.base, strict=True))


def test_it_opens_on_a_network_that_loses_something_in_both_ways(panel):
    assert headlines(panel.figure) == ["of 8, 9 dimensions later layers see 7, 3"]
    assert "after layer 2, 3 of 9 are seen (5 unseen, 1 empty)" in panel.description
    assert "□ proved here · Theorem C: 87" in title(panel) and "● exact · 87" in title(
        panel
    )


@pytest.mark.parametrize("number", range(len(SETTINGS)))
def test_every_column_has_a_cell_for_each_dimension_of_its_width(number):
    study, figure = shown(number)
    arch = study.arch
    everything = [
        cell
        for one in figure.data
        if one.type == "bar" and one.xaxis in (None, "x")
        for cell in zip(one.x, one.base, strict=True)
    ]
    assert sorted(everything) == [
        (i, k) for i, width in enumerate(arch.widths) for k in range(width)
    ]
    w = effective_widths(arch)
    inner = range(1, arch.num_layers)
    r = [min(arch.widths[: i + 1]) for i in range(arch.num_layers)]
    unseen, empty = (
        cells(figure, name)
        for name in ("arrives, but no later layer sees it", "no token gets here")
    )
    assert unseen == [(i, k) for i in inner for k in range(w[i], r[i])]
    assert empty == [(i, k) for i in inner for k in range(r[i], arch.widths[i])]


@pytest.mark.parametrize("number", range(len(SETTINGS)))
def test_the_marks_are_the_measured_spans_and_the_lines_the_recursion(number):
    study, figure = shown(number)
    assert list(trace(figure, "dimension of the span (measured)").y) == [
        measure_span(study.arch, step.index).value for step in study.inner
    ]
    heights = [y for y in trace(figure, "w by the recursion").y if y is not None]
    assert heights == [w for w in effective_widths(study.arch)[1:-1] for _ in range(2)]


def test_words_say_what_fits():
    assert "+2a₂ = 4" in said(shown(0)[1])
    assert {"2a₂ = 4:<br>1 fits", "2a₃ = 2:<br>no room"} <= set(said(shown(5)[1]))


def test_a_disagreement_would_be_seen(panel):
    study, _ = shown(0)
    wrong = replace(study, exact=replace(study.exact, value=86))
    assert "DISAGREE" in panel._describe(wrong) and "≠ measured" in panel._badge(wrong)
    step = study.steps[2]
    other = replace(step, measured=replace(step.measured, value=4))
    wrong = replace(study, steps=(*study.steps[:2], other, study.steps[3]))
    assert (
        headlines(make(flag_parts(wrong)))[0]
        == "seen: 7, 3 by the recursion, 7, 4 MEASURED"
    )
    assert "DISAGREE" in panel._describe(wrong) and "DISAGREE" not in panel._describe(
        study
    )


def test_widths_and_head_dimensions_may_be_typed_one_after_the_other(panel):
    before = plain(panel.figure)
    panel.controls["widths"].value = "3, 3 3"
    assert (
        "a per layer needs 2 numbers" in panel.status
        and "add or remove some" in panel.status
    )
    assert plain(panel.figure) == before  # the last picture stays
    panel.controls["head_dims"].value = "1 2"
    assert panel.status.startswith("done") and panel.description.startswith(
        "lightning 3→3→3, a = 1, 2"
    )


@pytest.mark.parametrize(
    "state",
    [
        "widths=3",
        "widths=3,3,3",
        "widths=3,x,3,3",
        "widths=11,1,1,1",
        "head_dims=0,1,1",
        "head_dims=1.5,1,1",
    ]
    + ["widths=1,1,1,1,1,1;head_dims=1,1,1,1,1", "tokens=5", "kind=hard"],
)
def test_a_bad_state_is_refused(panel, state):
    with pytest.raises(ValueError):
        panel.state = state
