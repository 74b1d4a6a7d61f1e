"""The peel lemma, exactly; where it fails; and the panel that shows both."""

import re
from dataclasses import replace
from functools import cache
from itertools import combinations
from math import isfinite, log10

import numpy as np
import pytest
from panels import ends, plain, random_states, said, title, trace

from neuroviz.beyond.why.peeling import (
    ENDS,
    PeelSetting,
    antisymmetric,
    first_layer,
    measure_kernel,
    rescaling_of,
    scale_and_turn,
    study_peel,
    virtual_jacobian,
    without_first_layer,
)
from neuroviz.beyond.why.peeling_figure import peel_parts
from neuroviz.beyond.why.peeling_panel import PeelExplorer
from neuroviz.beyond.why.peeling_plane import number
from neuroviz.beyond.why.peeling_spectra import END_NAMES
from neuroviz.engine.field import SECOND_PRIME, PrimeField, Reals
from neuroviz.engine.rank import RowSpace, exact_rank
from neuroviz.engine.symmetry import VirtualWeights
from neuroviz.engine.virtual import product_form
from neuroviz.kit import theme
from neuroviz.kit.plot import make, redraw

F = PrimeField()
SIZES = [(width, layers) for width in (2, 3, 4) for layers in (1, 2, 3)]


def draw(seed, *shape, over=F):
    return over.random(np.random.default_rng(seed), shape)


def peeling_network(width, layers, seed=0, over=F):
    """A random network whose M_1 is αβᵀ − βαᵀ."""
    alpha, beta = draw([seed, 1], 2, width, over=over)
    rest = draw([seed, 2], layers - 1, width, width, over=over)
    L = draw([seed, 3], width, width, over=over)
    return VirtualWeights(L, (antisymmetric(over, alpha, beta), *rest))


def with_first(virtual, M):
    return VirtualWeights(virtual.L, (M, *virtual.M[1:]))


def rank_one(width, seed=0):
    u = draw([seed, 4], width, 1)
    return F.matmul(u, u.T)


def kernel_dimension(virtual, seed=0):
    return measure_kernel(virtual, F, np.random.default_rng([seed, 5])).kernel


def derivative(virtual, seed=0):
    """Enough rows of the derivative to see everything."""
    columns = virtual.L.size + sum(M.size for M in virtual.M)
    X = draw([seed, 6], columns + 2, virtual.L.shape[1], 2)
    J = virtual_jacobian(F, virtual, X, draw([seed, 7], columns + 2, 1, len(virtual.L), 2))
    return J.reshape(-1, columns)


def kernel_basis(J, seed=0):
    """As many random vectors of the kernel as it has dimensions; independent ones."""
    space = RowSpace(F, J.shape[1])
    space.add(J)
    rng = np.random.default_rng([seed, 8])
    vectors = [space.orthogonal_vector(rng) for _ in range(J.shape[1] - space.dimension)]
    basis = np.array(vectors).reshape(-1, J.shape[1])
    assert not len(basis) or exact_rank(basis, F) == len(basis)
    return basis


# The lemma


@pytest.mark.parametrize("width", [2, 3, 4])
def test_an_antisymmetric_layer_only_scales_and_turns(width):
    M = antisymmetric(F, *draw(1, 2, width))
    X = draw(2, 5, width, 2)
    scale, turned = scale_and_turn(F, M, X)
    np.testing.assert_array_equal(first_layer(F, M, X), F.reduce(scale[:, None, None] * turned))
    np.testing.assert_array_equal(turned, np.stack([-X[..., 1], X[..., 0]], axis=-1))


def test_no_other_layer_does():
    X = draw(2, 5, 3, 2)
    for M in (rank_one(3), draw(3, 3, 3)):
        scale, turned = scale_and_turn(F, M, X)
        assert (first_layer(F, M, X) != F.reduce(scale[:, None, None] * turned)).any()


@pytest.mark.parametrize(("width", "layers"), SIZES)
def test_the_scale_and_the_turn_pass_through_the_rest_of_the_network(width, layers):
    """φ(X) = Δ^κ F(X) J with κ = 3^{l−1}."""
    virtual = peeling_network(width, layers)
    X = draw(9, 4, width, 2)
    scale, _ = scale_and_turn(F, virtual.M[0], X)
    rest = without_first_layer(virtual)
    Y = product_form(F, rest, X) if rest.M else F.matmul(rest.L, X)
    factor = np.ones(len(X))
    for _ in range(3 ** (layers - 1)):
        factor = F.reduce(factor * scale)
    turned = F.matmul(Y, np.array([[0.0, 1.0], [-1.0, 0.0]]))
    np.testing.assert_array_equal(product_form(F, virtual, X), F.reduce(factor[:, None, None] * turned))


@pytest.mark.parametrize(("width", "layers"), SIZES)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_kernel_is_one_rescaling_and_the_kernel_of_the_rest(width, layers, seed):
    """As subspaces: both are in it, they meet in 0 only, and together they are all of it."""
    virtual = peeling_network(width, layers, seed)
    J, rest = derivative(virtual, seed), without_first_layer(virtual)
    tail = kernel_basis(derivative(rest, seed))
    still = np.zeros((len(tail), width * width))  # M_1 does not move
    together = np.concatenate([rescaling_of(F, virtual, 1)[None], np.concatenate([still, tail], axis=1)])
    assert not F.matmul(J, together.T).any()
    assert exact_rank(together, F) == len(together) == J.shape[1] - exact_rank(J, F) == layers


def test_in_every_direction_of_the_kernel_the_first_matrix_moves_along_itself():
    virtual = peeling_network(3, 3)
    moves = kernel_basis(derivative(virtual))[:, :9]
    assert exact_rank(np.concatenate([moves, virtual.M[0].reshape(1, 9)]), F) == 1


@pytest.mark.parametrize(("width", "layers"), SIZES)
def test_at_a_symmetric_matrix_of_rank_one_the_kernel_is_larger(width, layers):
    """All tokens become parallel, and the antisymmetric part of every later M is unseen."""
    virtual = with_first(peeling_network(width, layers), rank_one(width))
    unseen = (layers - 1) * width * (width - 1) // 2
    found, tail = kernel_dimension(virtual), kernel_dimension(without_first_layer(virtual))
    assert found == layers + unseen
    assert (found == 1 + tail) == (layers == 1)


def test_the_later_symmetric_parts_must_not_vanish():
    """The hypothesis Sym M_j ≠ 0: two antisymmetric layers in a row hide more."""
    virtual = peeling_network(2, 3)
    second = antisymmetric(F, *draw(11, 2, 2))
    bad = VirtualWeights(virtual.L, (virtual.M[0], second, virtual.M[2]))
    assert kernel_dimension(bad) > 1 + kernel_dimension(without_first_layer(bad))


@pytest.mark.parametrize(("width", "layers"), SIZES)
def test_a_generic_first_layer_has_the_rescalings_as_its_kernel(width, layers):
    virtual = with_first(peeling_network(width, layers), draw(12, width, width))
    J = derivative(virtual)
    rescalings = np.array([rescaling_of(F, virtual, i) for i in range(1, layers + 1)])
    assert not F.matmul(J, rescalings.T).any()
    assert exact_rank(rescalings, F) == layers == J.shape[1] - exact_rank(J, F)


def test_a_rescaling_with_another_exponent_is_noticed():
    virtual = peeling_network(2, 2)
    wrong = rescaling_of(F, virtual, 1)
    wrong[-virtual.L.size :] = F.reduce(-2 * virtual.L.ravel())  # instead of −3
    assert F.matmul(derivative(virtual), wrong[:, None]).any()


def test_another_prime_counts_the_same():
    other = PrimeField(SECOND_PRIME)
    found = measure_kernel(peeling_network(3, 3, over=other), other, np.random.default_rng(0))
    assert found.kernel == 3 and found.prime == SECOND_PRIME


def test_only_a_kernel_of_the_rescalings_alone_is_certain():
    sure = measure_kernel(peeling_network(2, 2), F, np.random.default_rng(0))
    assert sure.error_bound == 0 and sure.status == "exact" and "nothing else" in sure.note
    larger = with_first(peeling_network(2, 2), rank_one(2))
    unsure = measure_kernel(larger, F, np.random.default_rng(0))
    assert 0 < unsure.error_bound < 1e-4 and "nothing else" not in unsure.note


# The derivative that all of this rests on


@pytest.mark.parametrize("layers", [0, 1, 2, 3])
def test_the_derivative_in_the_virtual_weights_is_that_of_eq_10(layers):
    over, rng = Reals(), np.random.default_rng(3)
    L, M = rng.standard_normal((2, 3)), rng.standard_normal((layers, 3, 3)) / 2
    X = rng.standard_normal((4, 3, 2)) / 2

    def outputs(parameters):
        Ms = parameters[: 9 * layers].reshape(layers, 3, 3)
        last = VirtualWeights(parameters[9 * layers :].reshape(2, 3), tuple(Ms))
        return (product_form(over, last, X) if layers else last.L @ X).reshape(4, -1)

    here = np.concatenate([M.ravel(), L.ravel()])
    J = virtual_jacobian(over, VirtualWeights(L, tuple(M)), X)
    assert J.shape == (4, 4, here.size)
    for column, unit in enumerate(np.eye(here.size)):
        slope = (outputs(here + 1e-6 * unit) - outputs(here - 1e-6 * unit)) / 2e-6
        np.testing.assert_allclose(J[..., column], slope, atol=1e-6 * max(1.0, np.abs(slope).max()))


def test_mistakes_are_refused_in_words():
    with pytest.raises(ValueError, match="two tokens; got 3"):
        scale_and_turn(F, draw(0, 2, 2), draw(1, 2, 3))
    with pytest.raises(ValueError, match="no first layer"):
        without_first_layer(VirtualWeights(np.eye(2), ()))
    with pytest.raises(ValueError, match="from 1 to 2 here; got 3"):
        rescaling_of(F, peeling_network(2, 2), 3)


@pytest.mark.parametrize(
    "bad",
    [
        {"layers": 0},
        {"layers": 5},
        {"layers": True},
        {"layers": 2.0},
        {"width": 1},
        {"width": 4},
        {"place": -0.1},
        {"place": 1.5},
        {"place": float("nan")},
        {"length": 0.0},
        {"length": float("nan")},
        {"end": "zero"},
    ],
    ids=str,
)
def test_a_setting_outside_what_the_picture_holds_is_refused(bad):
    with pytest.raises(ValueError, match=f"{next(iter(bad))}.* got"):
        PeelSetting(**bad)


# The study


@cache
def study(**changes):
    return study_peel(PeelSetting(**changes))


@pytest.mark.parametrize("width", [2, 3])
@pytest.mark.parametrize("layers", [1, 2, 3, 4])
@pytest.mark.parametrize("end", ENDS)
def test_kernels_only_grow_at_the_end_of_the_way(width, layers, end):
    s = study(width=width, layers=layers, end=end, place=0.35)
    assert layers == s.at_start.kernel == s.here.kernel <= s.at_end.kernel
    assert s.tail.kernel == layers - 1
    assert s.splits == (end == "antisymmetric" or layers == 1)


@pytest.mark.parametrize("layers", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_on_the_way_to_an_antisymmetric_matrix_no_singular_value_falls_to_zero(layers, seed):
    """In floating point what the lemma says exactly; and the other end shows that values can fall."""
    s = study(layers=layers, seed=seed)
    smallest = [placed.spectrum.singular_values[s.at_start.value - 1] for placed in s.path]
    assert min(smallest) > 1e-5 and all(placed.spectrum.decided for placed in s.path)
    bad = study(layers=layers, seed=seed, end="symmetric")
    if layers > 1:
        assert bad.path[-1].spectrum.singular_values[bad.at_start.value - 1] < 1e-14


def test_at_the_end_the_tokens_are_scaled_and_turned_and_before_they_are_not():
    end, before = study(angle=50.0), study(angle=50.0, place=0.9)
    assert end.turn_share == pytest.approx(1) and before.turn_share < 0.9999
    np.testing.assert_allclose(end.Y, end.turn * np.stack([-end.X[:, 1], end.X[:, 0]], axis=1), atol=1e-12)
    assert end.turn == pytest.approx(np.linalg.det(end.X)) == pytest.approx(before.turn)
    np.testing.assert_array_equal(end.Y, end.goal)
    np.testing.assert_allclose(before.Y, 0.9 * end.goal + 0.1 * end.start, atol=1e-12)


def test_at_an_end_of_rank_one_the_tokens_become_parallel():
    for end in ("symmetric", "rank-one"):
        assert np.linalg.det(study(end=end).Y) == pytest.approx(0, abs=1e-12)
    assert abs(np.linalg.det(study().Y)) > 0.1


def test_parallel_tokens_have_nothing_to_turn():
    s = study(angle=0.0)
    assert s.turn_share is None and not s.Y.any()
    assert study(angle=0.0, place=0.5).turn_share == 0


# The panel

VISIBLE = ["place", "end", "layers", "angle"]
MORE = ["length", "width", "seed"]
STATES = [
    "",
    "place=0",
    "place=1",
    "place=0.333",
    "place=1;angle=0",
    "place=0.5;angle=180;length=0.2",
    "place=1;angle=-120;length=1.2",
    "place=0.95;end=symmetric",
    "place=1;end=symmetric;layers=4;width=3",
    "end=rank-one;layers=1",
    "end=rank-one;place=1;angle=0;width=3",
    "layers=4;width=3;seed=1000000",
    "layers=1;place=1",
]
BAD_STATES = [
    "place=1.1", "place=x", "end=zero", "layers=0", "layers=5", "angle=181", "length=0.1", "width=1",
    "width=4", "seed=-1", "depth=2", "place",
]  # fmt: skip


@pytest.fixture(scope="module")
def shared():
    panel = PeelExplorer()
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


EVERY_STATE = [*STATES, *random_states(PeelExplorer, 10, seed=3)]


def test_few_controls_are_visible_and_the_rest_is_under_more(panel):
    assert list(panel.controls) == VISIBLE + MORE
    homes = {child: box for box in panel.children for child in getattr(box, "children", ())}
    assert all(homes[panel.controls[name]].layout.display == "flex" for name in VISIBLE)
    assert all(homes[panel.controls[name]].layout.display == "none" for name in MORE)


def test_the_chain_of_the_proof_is_the_headline(panel):
    assert headlines(panel.figure)[2] == "kernel: 3 ≤ 3 ≤ 3 = 1 + 2, so it is 3"
    assert headlines(panel.figure)[1] == "on the way nothing falls to 0"
    panel.controls["end"].value = "symmetric"
    assert headlines(panel.figure)[2] == "kernel: 3 ≤ 3 ≤ 5 ≠ 1 + 2: proves nothing"
    assert headlines(panel.figure)[1] == "at the end 2 values fall to 0"
    assert "2 more than 1 + 2" in panel.description


def test_sliding_to_the_end_shows_the_scale_and_the_quarter_turn(panel):
    assert headlines(panel.figure)[0] == "layer 1: 90 % a quarter turn"
    panel.controls["place"].value = 1.0
    assert headlines(panel.figure)[0] == "layer 1: times Δ = 0.82, a quarter turn"
    assert any("= −Δ x<sub>2</sub>" in text for text in said(panel.figure))
    tokens, outputs = trace(panel.figure, "tokens before"), trace(panel.figure, "tokens after")
    np.testing.assert_allclose(outputs.x, 0.8157 * np.array([-tokens.x[1], tokens.x[0]]), atol=1e-4)
    np.testing.assert_allclose(outputs.y, 0.8157 * np.array([-tokens.y[1], tokens.y[0]]), atol=1e-4)
    panel.controls["end"].value = "rank-one"
    assert headlines(panel.figure)[0] == "layer 1: both tokens fall on one line"


def test_the_arcs_of_the_quarter_turn_lead_from_token_to_token(panel):
    """x₁ to −x₂ and x₂ to x₁; for negative Δ x₁ to x₂ and x₂ to −x₁, as the outputs lie."""
    for angle, sign in ((65, 1), (-65, -1)):
        panel.controls["angle"].value = angle
        X = panel._shown.X
        arc = trace(panel.figure, "a quarter turn")
        points = np.array([[np.nan if v is None else v for v in values] for values in (arc.x, arc.y)])
        (middle,) = np.isnan(points[0]).nonzero()[0]
        np.testing.assert_allclose(points[:, 0], X[:, 0], atol=1e-12)
        np.testing.assert_allclose(points[:, middle - 1], -sign * X[:, 1], atol=1e-12)
        np.testing.assert_allclose(points[:, middle + 1], X[:, 1], atol=1e-12)
        np.testing.assert_allclose(points[:, -1], sign * X[:, 0], atol=1e-12)


@pytest.mark.parametrize("state", EVERY_STATE)
def test_every_square_is_a_direction_of_a_measured_kernel(panel, state):
    panel.state = state
    s, count = panel._shown, {t.name: len(t.x) for t in panel.figure.data}
    assert count["kernel here (measured)"] == s.here.kernel
    at_end = count["kernel at the end (measured)"] + count["kernel at the end beyond the lemma (measured)"]
    assert at_end == s.at_end.kernel
    assert count["kernel without the first layer (measured)"] == s.tail.kernel
    assert count["rescalings"] == s.setting.layers and count["the rescaling of the first layer"] == 1
    assert (count["kernel at the end beyond the lemma (measured)"] == 0) == s.splits


@pytest.mark.parametrize("state", EVERY_STATE)
def test_the_dots_are_the_measured_spectrum_split_at_the_exact_rank(panel, state):
    panel.state = state
    s, figure = panel._shown, panel.figure
    kept, zeros = trace(figure, "singular values here (measured)"), trace(figure, "zeros here (measured)")
    assert len(kept.y) == s.here.value and len(zeros.y) == s.here.kernel
    np.testing.assert_array_equal([*kept.y, *zeros.y], np.maximum(s.spectrum.singular_values, 1e-17))
    assert set(kept.x) == {s.setting.place} and max(zeros.y) < 1e-14
    falling = trace(figure, "singular values that fall to 0 (measured)")
    assert falling.y.count(None) == s.at_end.kernel - s.at_start.kernel


@pytest.mark.parametrize("state", EVERY_STATE)
def test_every_mark_has_a_finite_place_inside_its_picture(panel, state):
    panel.state = state
    for one in panel.figure.data:
        assert len(one.x) == len(one.y)
        across = panel.figure.layout[(one.xaxis or "x").replace("x", "xaxis")]
        up = panel.figure.layout[(one.yaxis or "y").replace("y", "yaxis")]
        for x, y in zip(one.x, one.y, strict=True):
            if x is None:
                continue
            height = log10(y) if up.type == "log" else y
            assert isfinite(x) and isfinite(height)
            assert across.range[0] <= x <= across.range[1], one.name
            assert up.range[0] - 1e-9 <= height <= up.range[1] + 1e-9, one.name


@pytest.mark.parametrize("state", EVERY_STATE)
def test_texts_hold_no_dollar_and_no_python(panel, state):
    panel.state = state
    for text in [*said(panel.figure), panel.description]:
        assert "$" not in text and not re.search(r"\b(None|nan|inf|np\.|float64)\b", text), text
    assert END_NAMES[panel.controls["end"].value] in panel.description or panel.controls["place"].value == 0


def test_the_badge_says_where_the_lemma_does_not_apply(panel):
    assert "□ proved here · Peel lemma" in title(panel) and "kernel 3 mod 8 388 593" in title(panel)
    panel.controls["end"].value = "rank-one"
    assert "▨ outside hypotheses · Peel lemma" in title(panel)


def test_a_disagreement_would_be_said(panel):
    wrong = replace(panel._shown, at_end=replace(panel._shown.at_end, value=12))
    assert "DISAGREE" in panel._describe(wrong)
    assert "DISAGREE" not in panel._describe(panel._shown)


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("size", ["notebook", "lecture"])
def test_a_figure_has_its_ground_and_readable_letters_in_every_look(mode, size):
    theme.use(mode, size)
    try:
        figure = make(peel_parts(study(end="symmetric")))
        assert figure.layout.template.layout.paper_bgcolor == theme.color("ground")
        assert figure.layout.height == theme.size("height")
        sizes = [a.font.size for a in figure.layout.annotations if a.font.size]
        assert min(sizes) >= (14 if size == "lecture" else 12)
    finally:
        theme.use("light", "notebook")


def test_after_any_walk_the_figure_is_the_one_a_new_panel_would_draw(panel):
    figure, uids = panel.figure, [t.uid for t in panel.figure.data]
    for state in [*STATES, *random_states(PeelExplorer, 12, seed=1)]:
        panel.reset()
        panel.state = state
        assert panel.status.startswith("done")
        assert panel.figure is figure and [t.uid for t in figure.data] == uids
        assert plain(figure) == plain(make(peel_parts(study_peel(panel._read())))), state


def test_that_comparison_sees_a_figure_that_was_not_redrawn():
    one, two = study(), study(place=0.95)
    figure = make(peel_parts(one))
    redraw(figure, peel_parts(two), peel_parts(two))
    assert plain(figure) == plain(make(peel_parts(one))) != plain(make(peel_parts(two)))
    redraw(figure, None, peel_parts(two))
    assert plain(figure) == plain(make(peel_parts(two)))


def test_a_state_restores_the_figure_exactly(panel):
    for state in random_states(PeelExplorer, 4, seed=2):
        panel.state = state
        before = panel.state, panel.description, plain(panel.figure)
        assert panel.state == state
        panel.reset()
        panel.state = state
        assert (panel.state, panel.description, plain(panel.figure)) == before
    again = PeelExplorer(state=state)
    assert (again.state, again.description, plain(again.figure)) == before
    again.close()


@pytest.mark.parametrize(("one", "two"), list(combinations(VISIBLE + MORE, 2)))
def test_extremes_of_two_controls_are_legal_together(panel, one, two):
    for first in ends(panel.controls[one]):
        for second in ends(panel.controls[two]):
            panel.controls[one].value = first
            panel.controls[two].value = second
            assert panel.status.startswith("done"), (panel.state, panel.status)
            assert f"d₀ = {panel.controls['width'].value}" in panel.description


@pytest.mark.parametrize("state", BAD_STATES)
def test_a_bad_state_is_refused_and_changes_nothing(panel, state):
    before = panel.state, panel.description, plain(panel.figure)
    with pytest.raises(ValueError):
        panel.state = state
    assert (panel.state, panel.description, plain(panel.figure)) == before
    with pytest.raises(ValueError):
        PeelExplorer(state=state)


@pytest.mark.parametrize("only", [["place"], ["end", "width"], []])
def test_only_shows_these_controls_and_no_others(only):
    panel = PeelExplorer(only=only)
    assert [n for n, c in panel.controls.items() if c.layout.display != "none"] == only
    panel.controls["layers"].value = 2
    assert panel.description.startswith("2 lightning layers")
    panel.close()


@pytest.mark.parametrize(("value", "text"), [(-0.5, "−0.50"), (-0.001, "0.00"), (1.239, "1.24")])
def test_numbers_have_a_true_minus_sign_and_no_minus_zero(value, text):
    assert number(value) == text


def test_the_last_layer_has_to_be_antisymmetric():
    """Without it the kernel of the peel lemma is that of one layer fewer: l − 1."""
    over, draw = PrimeField(), np.random.default_rng(1)
    L, *Ms = over.random(draw, (4, 3, 3))
    assert measure_kernel(without_first_layer(VirtualWeights(L, tuple(Ms))), over, draw).kernel == 2
