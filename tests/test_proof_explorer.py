"""Theorem A under the reader's hands: the bars are measured kernels, the words say what they show."""

from dataclasses import replace
from math import isfinite, log10

import numpy as np
import pytest
from panels import ends, headlines, plain, random_states, texts, title, trace

from neuroviz.beyond.proof.immersion_figure import immersion_parts
from neuroviz.beyond.proof.immersion_lines import _number
from neuroviz.beyond.proof.immersion_panel import ProofExplorer
from neuroviz.kit import theme
from neuroviz.kit.plot import make

ALWAYS = ["experiment", "layers", "symmetric"]
MORE = ["weak_layer", "size", "causal", "width", "copies", "seed"]
OF_A_LAYER = [f"{name}_{i}" for i in (1, 2, 3, 4) for name in ("mode", "mu", "nu")]
STATES = [
    "",
    "experiment=frozen",
    "experiment=only-1",
    "experiment=only-2;mu_2=0;nu_2=0",
    "experiment=only-4",
    "experiment=only-3;layers=4;width=3;mu_3=0.9",
    "experiment=own;mode_1=collapsed;layers=3",
    "experiment=own;mode_1=free;mu_1=1;nu_1=0;mode_2=free;mu_2=1;nu_2=1",
    "experiment=own;mode_2=collapsed",
    "symmetric=0",
    "symmetric=0;experiment=frozen",
    "symmetric=0;weak_layer=2",
    "symmetric=0;weak_layer=2;layers=4;experiment=frozen;width=3",
    "symmetric=0;width=1",
    "symmetric=0;causal=yes",
    "symmetric=0;causal=yes;weak_layer=4;layers=4;experiment=only-4",
    "symmetric=0;size=0",
    "symmetric=0;weak_layer=4",
    "size=0;layers=3",
    "causal=yes;experiment=own;mode_1=collapsed",
    "copies=4;experiment=own;mode_1=collapsed;mode_2=free",
    "layers=1;width=1;experiment=frozen",
    "layers=4;width=3;seed=1000000",
]
BAD_STATES = [
    "experiment=only-5", "experiment=none", "layers=0", "layers=5", "symmetric=1.1", "mode_1=thawed",
    "mu_1=-0.1", "nu_4=2", "weak_layer=0", "size=x", "causal=maybe", "width=4", "copies=0", "seed=-1",
    "mode_5=free", "layers",
]  # fmt: skip


@pytest.fixture(scope="module")
def shared():
    panel = ProofExplorer()
    yield panel
    panel.close()


@pytest.fixture
def panel(shared):
    shared.reset()
    assert shared.status.startswith("done")
    return shared


EVERY_STATE = [*STATES, *random_states(ProofExplorer, 6, seed=3)]


def shown(panel):
    return [name for name, control in panel.controls.items() if control.layout.display != "none"]


# Controls


def test_controls_of_a_layer_appear_where_they_have_a_say(panel):
    assert list(panel.controls) == ALWAYS + OF_A_LAYER + MORE
    assert shown(panel) == ALWAYS + MORE
    panel.state = "experiment=only-2"
    assert shown(panel) == [*ALWAYS, "mu_2", "nu_2", *MORE]
    panel.state = "experiment=own"
    assert shown(panel) == [*ALWAYS, "mode_1", "mode_2", *MORE]
    panel.state = "experiment=own;mode_1=free;causal=yes"
    assert shown(panel) == [*ALWAYS, "mode_1", "nu_1", "mode_2", *MORE]
    assert all(panel.controls[name].disabled for name in OF_A_LAYER if name not in shown(panel))
    panel.reset()
    assert shown(panel) == ALWAYS + MORE


def test_few_controls_are_seen_at_first(panel):
    homes = {child: box for box in panel.children for child in getattr(box, "children", ())}
    assert all(homes[panel.controls[name]].layout.display == "flex" for name in ALWAYS)
    assert all(homes[panel.controls[name]].layout.display == "none" for name in MORE)


@pytest.mark.parametrize("state", STATES)
def test_a_control_without_a_say_changes_nothing(panel, state):
    panel.state = state
    before = panel.description, plain(panel.figure)
    for control in [control for control in panel.controls.values() if control.disabled]:
        control.value = next(end for end in ends(control) if end != control.value)
        assert (panel.description, plain(panel.figure)) == before


def test_the_name_of_a_slider_says_what_it_weakens(panel):
    assert panel.controls["symmetric"].description == "Sym M₁ times"
    panel.state = "causal=yes;weak_layer=2"
    assert panel.controls["symmetric"].description == "M₂ times" and panel.controls["copies"].disabled
    panel.state = "weak_layer=3"
    assert panel.controls["symmetric"].disabled and "no layer 3 to weaken" in panel.description


# What it shows


def test_the_staircase_is_the_finding(panel):
    lines, stairs, floats = headlines(panel.figure)
    assert stairs == "hidden directions: 12 → 8 → 4 → 0"
    assert floats == "floats agree: no zeros of 12, without Ax"
    assert lines.endswith("% of the tokens’ distance is left")
    assert "leave 8, 4, 0" in panel.description and "Step 1 (proved here, with Ax 1971)" in panel.description
    assert "□ proved here · Theorem A<" in title(panel) and "kernel 0 mod 8 388 593" in title(panel)


def test_what_copies_hide_is_hidden_on_two_different_tokens_only(panel):
    panel.state = "symmetric=0"
    assert "4 directions do nothing at all (exact)" in panel.description
    panel.state = "symmetric=0;copies=2"
    assert "4 directions do nothing on inputs with two different tokens (exact)" in panel.description


def test_freezing_all_shows_l_and_freeing_a_layer_its_matrix(panel):
    panel.state = "experiment=frozen"
    assert headlines(panel.figure)[0] == "frozen: nothing moves"
    assert "8 of 12 directions do nothing, in M₁ and M₂" in panel.description
    assert "Step 3 (proved here): with every S = I" in panel.description
    panel.state = "experiment=only-1"
    assert "4 of 12 directions do nothing, in M₂" in panel.description
    assert "Steps 2 and 4 (proved here): only layer 1 acts" in panel.description
    panel.state = "mu_1=1;nu_1=0"
    assert "8 of 12 directions do nothing, in M₁ and M₂" in panel.description
    assert "These P, Q hide M₁" in panel.description and "Steps 2 and 4" not in panel.description


def test_an_antisymmetric_first_layer_leaves_four_directions(panel):
    panel.controls["symmetric"].value = 0.0
    lines, stairs, floats = headlines(panel.figure)
    assert stairs == "4 directions do nothing: M₁ is antisymmetric"
    assert lines == "they meet in layer 1: the rest is blind"
    assert floats == "floats agree: 4 zeros of 12, without Ax"
    assert any("▨ cannot be made: P₁Q₁ = 1" in text for text in texts(panel.figure))
    assert "▨ outside hypotheses · Theorem A<" in title(panel)
    panel.controls["symmetric"].value = 0.05
    assert headlines(panel.figure)[1] == "hidden directions: 12 → 8 → 4 → 0"


def test_where_a_hypothesis_fails_and_the_kernel_is_zero_all_the_same_that_is_said(panel):
    panel.state = "symmetric=0;weak_layer=2"
    assert headlines(panel.figure)[1] == "M₂ is antisymmetric, but last: nothing is left"
    assert "no layer comes after it" in panel.description
    panel.state = "weak_layer=1;causal=yes"
    assert headlines(panel.figure)[1] == "the argument breaks, yet nothing is left"
    assert "the conclusion holds all the same" in panel.description
    assert "▨ outside hypotheses · Theorem A′" in title(panel)
    assert any("▨ cannot be made: Q₁ = 1" in text for text in texts(panel.figure))


def test_without_l_the_matrices_are_hidden(panel):
    panel.state = "size=0"
    assert headlines(panel.figure)[1] == "8 directions do nothing: L = 0"
    assert "L = 0 makes every output 0" in panel.description


@pytest.mark.parametrize("state", EVERY_STATE)
def test_every_bar_is_a_measured_kernel(panel, state):
    panel.state = state
    s, figure = panel._shown, panel.figure
    bars = [t for t in figure.data if t.type == "bar"]
    heights = np.array([t.y for t in bars])
    size = s.setting.width**2
    expected = [size * (s.setting.layers + 1)] + [one.so_far.kernel for one in s.experiments]
    np.testing.assert_array_equal(heights.sum(axis=0), [*expected, s.everything.kernel, s.here.kernel])
    for block, hidden in enumerate(s.here.blocks):
        assert heights[block][-1] == hidden
    numbers = [
        t
        for t in texts(figure)
        if t in {f"<b>{n}</b>" for n in (*expected, s.everything.kernel, s.here.kernel)}
    ]
    assert numbers == [f"<b>{n}</b>" for n in (*expected, s.everything.kernel, s.here.kernel)]
    hatched = [shape == "/" for shape in bars[0].marker.pattern.shape]
    assert hatched == [False, *(not one.possible for one in s.experiments), False, False]
    assert sum("▨" in text for text in figure.layout.xaxis3.ticktext) == sum(hatched)


@pytest.mark.parametrize("state", EVERY_STATE)
def test_the_dots_are_the_measured_spectrum_split_at_the_exact_rank(panel, state):
    panel.state = state
    s = panel._shown
    kept, rest = (
        trace(panel.figure, f"singular values {where} the exact rank (measured)")
        for where in ("up to", "beyond")
    )
    assert len(kept.y) == s.everything.measured.value and len(rest.y) == s.everything.kernel
    np.testing.assert_array_equal([*kept.y, *rest.y], np.maximum(s.spectrum.singular_values, 1e-17))


@pytest.mark.parametrize("state", EVERY_STATE)
def test_the_world_lines_are_the_places_of_the_tokens(panel, state):
    panel.state = state
    s = panel._shown
    for j in (0, 1):
        line = trace(panel.figure, f"token {j + 1}")
        np.testing.assert_allclose(line.x, s.places[:, j])
        assert list(line.y) == list(range(s.setting.layers + 1))
    behind = trace(panel.figure, "tokens behind the layers")
    x, slope = np.array(behind.x), trace(panel.figure, "x₂").y[0]
    scale = s.tokens[0][0, 1] - s.tokens[0][0, 0]
    if s.setting.width > 1:  # in units of the first coordinate, seen from x₁
        rows = np.concatenate([tokens[1] for tokens in s.tokens[1:]]) - s.tokens[0][1, 0]
        np.testing.assert_allclose(rows / scale, np.array(behind.y), atol=1e-12)
    np.testing.assert_allclose(slope * x, np.array(behind.y), atol=1e-12)


@pytest.mark.parametrize("state", EVERY_STATE)
def test_every_mark_has_a_finite_place_inside_its_picture(panel, state):
    panel.state = state
    for one in panel.figure.data:
        assert len(one.x) == len(one.y)
        across = panel.figure.layout[(one.xaxis or "x").replace("x", "xaxis")]
        up = panel.figure.layout[(one.yaxis or "y").replace("y", "yaxis")]
        low, high = sorted(up.range)
        for x, y in zip(one.x, one.y, strict=True):
            if x is None:
                continue
            height = log10(y) if up.type == "log" else y
            assert isfinite(x) and isfinite(height)
            assert across.range[0] <= x <= across.range[1], one.name
            assert low - 1e-9 <= height <= high + 1e-9, one.name


def test_a_disagreement_would_be_said(panel):
    shown = panel._shown
    wrong = replace(
        shown, everything=replace(shown.everything, measured=replace(shown.here.measured, value=9))
    )
    assert "DISAGREES" in panel._describe(wrong) and "another number than 9" in panel._describe(wrong)
    last = shown.experiments[-1]
    left = replace(last, so_far=replace(last.so_far, measured=replace(last.so_far.measured, value=11)))
    figure = make(immersion_parts(replace(shown, experiments=(*shown.experiments[:-1], left))))
    assert "1 left: this DISAGREES" in headlines(figure)[1]
    unsure = replace(shown, spectrum=replace(shown.spectrum, decided=False))
    assert headlines(make(immersion_parts(unsure)))[2] == "floats cannot decide: they read rank 12"
    assert "Floating point cannot decide" in panel._describe(unsure)
    off = replace(shown, spectrum=replace(shown.spectrum, value=11))
    assert headlines(make(immersion_parts(off)))[2] == "floats say rank 11: another number"


def test_directions_that_mix_matrices_have_their_own_bar(panel):
    shown = panel._shown
    mixed = replace(shown.here, measured=replace(shown.here.measured, value=10))
    figure = make(immersion_parts(replace(shown, here=mixed)))
    assert trace(figure, "hidden in several matrices at once (measured)").y[-1] == mixed.mixed == 2


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (0.5, "0.5"), (float("inf"), "∞"), (12345.0, "1·10⁴"), (0.0001, "1·10⁻⁴")]
)
def test_exponentials_are_written_as_a_reader_does(value, text):
    assert _number(value) == text


# As every panel


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("size", ["notebook", "lecture"])
def test_a_figure_has_its_ground_and_readable_letters_in_every_look(mode, size):
    with theme.using({"mode": mode, "size": size}):
        figure = make(immersion_parts(ProofExplorer(state="symmetric=0;layers=4")._shown))
        assert figure.layout.template.layout.paper_bgcolor == theme.color("ground")
        assert figure.layout.height == theme.size("height")
        sizes = [a.font.size for a in figure.layout.annotations if a.font.size]
        assert min(sizes) >= (14 if size == "lecture" else 12)


@pytest.mark.parametrize("name", OF_A_LAYER)
def test_controls_of_a_layer_go_to_both_ends(panel, name):
    panel.state = "experiment=own;layers=4;" + ";".join(f"mode_{i}=free" for i in (1, 2, 3, 4))
    for value in ends(panel.controls[name]):
        panel.controls[name].value = value
        assert panel.status.startswith("done"), (panel.state, panel.status)


@pytest.mark.parametrize("state", BAD_STATES)
def test_a_bad_state_is_refused_and_changes_nothing(panel, state):
    before = panel.state, panel.description, plain(panel.figure)
    with pytest.raises(ValueError):
        panel.state = state
    assert (panel.state, panel.description, plain(panel.figure)) == before
    with pytest.raises(ValueError):
        ProofExplorer(state=state)


def test_a_layer_that_is_not_there_cannot_be_free(panel):
    panel.state = "layers=2;experiment=only-4"
    assert panel.description.startswith("There is no layer 4 to free: there are only layers 1 to 2.")
    panel.state = "layers=4"
    assert "to free" not in panel.description
