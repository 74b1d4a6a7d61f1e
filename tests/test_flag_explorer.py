"""The flag of Lemma D: the recursion against exact ranks, the formula against its terms, and the panel."""

import random
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from panels import plain, said, title, trace

from neuroviz.beyond.why.flag import flag_steps, formula_terms, measure_span
from neuroviz.beyond.why.flag_figure import flag_parts
from neuroviz.beyond.why.flag_panel import FlagExplorer, study_flag
from neuroviz.engine.architecture import Architecture
from neuroviz.engine.field import PrimeField
from neuroviz.engine.formulas import effective_widths, general_formula
from neuroviz.engine.measure import measure_dimension
from neuroviz.engine.network import random_weights
from neuroviz.engine.rank import exact_rank
from neuroviz.engine.symmetry import virtual_weights
from neuroviz.kit import theme
from neuroviz.kit.plot import make


def random_architectures(count, seed, most=7):
    chance = random.Random(seed)
    for _ in range(count):
        layers = chance.randint(1, 4)
        yield Architecture(
            [chance.randint(1, most) for _ in range(layers + 1)],
            [chance.randint(1, 4) for _ in range(layers)],
            chance.randint(1, 3),
            chance.choice(("lightning", "softmax")),
        )


# Lemma D


@pytest.mark.parametrize("arch", [*random_architectures(60, seed=1)], ids=str)
def test_the_spans_have_the_dimensions_of_the_recursion(arch):
    for step in flag_steps(arch, seed=3)[1:-1]:
        assert step.measured.value == step.seen <= step.arriving <= step.width
        assert step.measured.value == measure_span(arch, step.index, seed=4).value


def test_the_random_architectures_lose_something_in_every_way():
    steps = [step for arch in random_architectures(60, seed=1) for step in flag_steps(arch)[1:-1]]
    assert any(step.seen < step.arriving for step in steps)
    assert any(step.arriving < step.width for step in steps)
    assert any(step.seen == step.arriving == step.width for step in steps)


def test_rows_and_columns_are_needed_to_span_the_flag():
    """The check can fail: with the rows of M₃ alone the span is too small."""
    arch, over = Architecture((9, 8, 9, 1), (2, 2, 1)), PrimeField()
    virtual = virtual_weights(over, random_weights(over, arch, np.random.default_rng(0)))
    assert exact_rank(np.concatenate([virtual.L, virtual.M[2]]), over) == 2 < measure_span(arch, 2).value == 3


@pytest.mark.parametrize("arch", [*random_architectures(60, seed=2)], ids=str)
def test_what_each_layer_sees_adds_up_and_the_flag_is_nested(arch):
    steps = flag_steps(arch)
    assert tuple(step.seen for step in steps) == effective_widths(arch)
    for step, after in zip(steps[1:-1], steps[2:], strict=True):
        assert sum(count for _, count in step.parts) == step.seen
        assert all(count >= 0 for _, count in step.parts)
        part, added = step.parts[-1]
        assert part == step.index + 1 and added <= 2 * arch.head_dims[step.index]
        if after is not steps[-1]:
            assert step.parts[:-1] == after.parts


@pytest.mark.parametrize("arch", [*random_architectures(150, seed=5)], ids=str)
def test_the_general_formula_is_the_sum_of_its_terms(arch):
    assert sum(term.value for term in formula_terms(arch)) == general_formula(arch).value


@pytest.mark.parametrize("arch", [*random_architectures(40, seed=6, most=5)], ids=str)
def test_the_sum_is_what_is_measured(arch):
    assert sum(term.value for term in formula_terms(arch)) == measure_dimension(arch).value


def test_the_symmetric_parts_alone_count_after_a_collapse_and_with_one_token():
    def kinds(*args):
        return [term.kind for term in formula_terms(Architecture(*args)) if "M" in term.kind]

    assert kinds((3, 3, 3, 3), (2, 1, 2)) == ["M", "M", "symmetric M"]
    assert kinds((3, 3, 3), (2, 2)) == ["M", "M"]
    assert kinds((3, 3, 3), (2, 2), 1) == ["symmetric M", "symmetric M"]
    assert kinds((3, 3, 3), (1, 2), 3, "softmax") == ["M", "M"]
    assert [term.kind for term in formula_terms(Architecture((3, 2), (1,), 1, "softmax"))] == ["rank"]


def test_there_is_no_span_after_the_last_layer():
    with pytest.raises(ValueError, match="from 0 to 1 in .* got 2"):
        measure_span(Architecture((2, 2, 2), (1, 1)), 2)


def test_a_span_that_fills_its_space_is_certain():
    assert measure_span(Architecture((3, 3, 3), (2, 2)), 1).error_bound == 0
    assert 0 < measure_span(Architecture((9, 8, 9, 1), (2, 2, 1)), 2).error_bound < 1e-4


# The panel

VISIBLE = ["widths", "head_dims", "kind", "tokens"]
MORE = ["seed"]
STATES = [
    "",
    "kind=softmax",
    "tokens=1",
    "kind=softmax;tokens=1",
    "widths=1,1;head_dims=1",
    "widths=1,1,1,1,1;head_dims=10,10,10,10;tokens=1",
    "widths=10,10;head_dims=10",
    "widths=6,5,4,5;head_dims=1,2,1",
    "widths=3,3,3;head_dims=1,2",
    "widths=4,5,3,6,2;head_dims=1,1,3,1",
    "widths=8,10,10,9,1;head_dims=1,1,1,1;tokens=4",
    "widths=1,10,1,10,1;head_dims=1,10,1,10;kind=softmax",
]
BAD_STATES = [
    "widths=3", "widths=", "widths=3,3,3", "widths=3,x,3,3", "widths=0,1,1,1", "widths=11,1,1,1",
    "widths=1,1,1,1,1,1;head_dims=1,1,1,1,1", "head_dims=1", "head_dims=1,2,3,4", "head_dims=0,1,1",
    "head_dims=11,1,1", "head_dims=1.5,1,1", "tokens=0", "tokens=5", "kind=hard", "seed=-1", "depth=3",
]  # fmt: skip


@cache
def study(state):
    panel = FlagExplorer(state=state or None)
    request = panel._read()
    panel.close()
    return study_flag(request)


@pytest.fixture(scope="module")
def shared():
    panel = FlagExplorer()
    yield panel
    panel.close()


@pytest.fixture
def panel(shared):
    shared.reset()
    assert shared.status.startswith("done")
    return shared


def headlines(figure):
    return [
        re.sub(r"</?b>|</?span[^>]*>", "", a.text)
        for a in figure.layout.annotations
        if a.text.startswith("<b>") and a.y == 1
    ]


def cells(figure, name):
    one = trace(figure, name)
    return sorted(zip(one.x, one.base, strict=True))


def random_states(count, seed):
    for arch in random_architectures(count, seed):
        widths, head_dims = (",".join(map(str, sizes)) for sizes in (arch.widths, arch.head_dims))
        yield f"widths={widths};head_dims={head_dims};kind={arch.attention};tokens={arch.tokens};seed={seed}"


def test_few_controls_are_visible_and_the_rest_is_under_more(panel):
    assert list(panel.controls) == VISIBLE + MORE
    homes = {child: box for box in panel.children for child in getattr(box, "children", ())}
    assert all(homes[panel.controls[name]].layout.display == "flex" for name in VISIBLE)
    assert all(homes[panel.controls[name]].layout.display == "none" for name in MORE)


def test_it_opens_on_a_network_that_loses_something_in_both_ways(panel):
    assert headlines(panel.figure) == [
        "of 8, 9 dimensions later layers see 7, 3",
        "sum 87, as measured",
    ]
    assert "after layer 2, 3 of 9 are seen (5 unseen, 1 empty)" in panel.description
    assert "□ proved here · Theorem C: 87" in title(panel) and "● exact · 87 mod 8 388 593" in title(panel)


@pytest.mark.parametrize("state", [*STATES, *random_states(10, seed=7)])
def test_every_column_has_a_cell_for_each_dimension_of_its_width(state):
    s = study(state)
    figure, arch = make(flag_parts(s)), s.arch
    everything = [
        cell
        for one in figure.data
        if one.type == "bar" and one.xaxis in (None, "x")
        for cell in zip(one.x, one.base, strict=True)
    ]
    assert sorted(everything) == [(i, k) for i, width in enumerate(arch.widths) for k in range(width)]
    w, inner = effective_widths(arch), range(1, arch.num_layers)
    r = [min(arch.widths[: i + 1]) for i in range(arch.num_layers)]
    unseen, empty = (
        cells(figure, name) for name in ("arrives, but no later layer sees it", "no token gets here")
    )
    assert unseen == [(i, k) for i in inner for k in range(w[i], r[i])]
    assert empty == [(i, k) for i in inner for k in range(r[i], arch.widths[i])]


@pytest.mark.parametrize("state", STATES)
def test_the_marks_are_the_measured_spans_and_the_bars_the_recursion(state):
    s = study(state)
    figure = make(flag_parts(s))
    assert list(trace(figure, "dimension of the span (measured)").y) == [
        measure_span(s.arch, step.index).value for step in s.inner
    ]
    heights = [y for y in trace(figure, "w by the recursion").y if y is not None]
    assert heights == [w for w in effective_widths(s.arch)[1:-1] for _ in range(2)]


@pytest.mark.parametrize("state", STATES)
def test_the_bars_of_the_sum_follow_each_other_and_end_at_the_dimension(state):
    s = study(state)
    figure = make(flag_parts(s))
    bars = {}
    for one in figure.data:
        if one.name.startswith("term: "):
            sign = -1 if one.name == "term: rescalings" else 1
            bars |= {y: (base, sign * x) for y, base, x in zip(one.y, one.base, one.x, strict=True)}
    level = 0
    for row in sorted(bars, reverse=True):
        base, value = bars[row]
        assert base == (level if value >= 0 else level + value)
        level += value
    assert len(bars) == len(s.terms) and level == s.expected.value
    assert list(trace(figure, "dimension (measured)").x) == [s.exact.value]
    assert set(trace(figure, "dimension by the formula").x) == {s.expected.value}


def test_the_text_in_the_gaps_says_what_fits():
    texts = said(make(flag_parts(study("widths=6,5,4,5;head_dims=1,2,1"))))
    assert "2a₂ = 4:<br>1 fits" in texts and "2a₃ = 2:<br>no room" in texts
    assert "+2a₂ = 4" in said(make(flag_parts(study(""))))


def test_the_symmetric_parts_are_named_after_a_collapse():
    texts = said(make(flag_parts(study("widths=3,3,3;head_dims=1,2"))))
    assert "M₁: α(1, 3)" in texts and "M₂: σ(2, 3)" in texts


def test_a_disagreement_would_be_seen(panel):
    s = study("")
    wrong = replace(s, exact=replace(s.exact, value=86))
    assert headlines(make(flag_parts(wrong)))[1] == "sum 87, but measured 86"
    assert "DISAGREE" in panel._describe(wrong) and "≠ measured" in panel._badge(wrong)
    step = s.steps[2]
    steps = (*s.steps[:2], replace(step, measured=replace(step.measured, value=4)), s.steps[3])
    wrong = replace(s, steps=steps)
    assert headlines(make(flag_parts(wrong)))[0] == "seen: 7, 3 by the recursion, 7, 4 MEASURED"
    assert "DISAGREE" in panel._describe(wrong)
    assert "DISAGREE" not in panel._describe(s)


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("size", ["notebook", "lecture"])
def test_a_figure_has_its_ground_and_readable_letters_in_every_look(mode, size):
    theme.use(mode, size)
    try:
        figure = make(flag_parts(study("")))
        assert figure.layout.template.layout.paper_bgcolor == theme.color("ground")
        assert figure.layout.height == theme.size("height")
        sizes = [a.font.size for a in figure.layout.annotations if a.font.size]
        sizes += [one.textfont.size for one in figure.data if one.textfont.size]
        assert min(sizes) >= (14 if size == "lecture" else 12)
        # Dark letters on light cells and light ones on dark cells.
        for layer, letters in ((2, "ink"), (3, "ground")):
            assert trace(figure, f"seen by layer {layer}").textfont.color == theme.color(letters)
    finally:
        theme.use("light", "notebook")


def test_a_state_restores_the_figure_exactly(panel):
    for state in random_states(3, seed=2):
        panel.state = state
        before = panel.state, panel.description, plain(panel.figure)
        panel.reset()
        panel.state = state
        assert (panel.state, panel.description, plain(panel.figure)) == before
    again = FlagExplorer(state=state)
    assert (again.state, again.description, plain(again.figure)) == before
    again.close()


def test_the_largest_network_is_measured_too(panel):
    panel.state = "widths=10,10,10,10,10;head_dims=10,10,10,10;kind=softmax"
    assert panel.status.startswith("done") and "500 dimensions" in panel.description


def test_widths_and_head_dimensions_may_be_typed_one_after_the_other(panel):
    before = plain(panel.figure)
    panel.controls["widths"].value = "3, 3 3"
    assert "a per layer needs 2 numbers" in panel.status and "add or remove some" in panel.status
    assert plain(panel.figure) == before  # the last picture stays
    panel.controls["head_dims"].value = "1 2"
    assert panel.status.startswith("done") and panel.description.startswith("lightning 3→3→3, a = 1, 2")


@pytest.mark.parametrize("state", BAD_STATES)
def test_a_bad_state_is_refused_and_changes_nothing(panel, state):
    before = panel.state, panel.description, plain(panel.figure)
    with pytest.raises(ValueError):
        panel.state = state
    assert (panel.state, panel.description, plain(panel.figure)) == before
    with pytest.raises(ValueError):
        FlagExplorer(state=state)
