"""The unrolled network: tree and strip agree, the numbers are the package's, and nothing breaks the panel."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from panels import plain, texts, trace

from neuroviz.beyond.unrolling import unrolling as module
from neuroviz.beyond.unrolling.figure import grow, unrolling_parts
from neuroviz.beyond.unrolling.panel import UnrollingExplorer
from neuroviz.beyond.unrolling.unrolling import readable_network, study_unrolling
from neuroviz.beyond.unrolling.words import coefficient_name, name_of, number
from neuroviz.engine.field import Reals
from neuroviz.engine.network import forward
from neuroviz.engine.symmetry import virtual_weights
from neuroviz.engine.unrolling import link_values, reflect, term, unroll
from neuroviz.kit import theme
from neuroviz.kit.plot import make

PANEL = UnrollingExplorer
PLACES = [(layers, place) for layers in (1, 2, 3, 4) for place in range(1, len(unroll(layers)) + 1)]

BAD_STATES = [
    ("place=5", "place goes from 1 to 4 with 2 layers; got 5"),
    ("layers=1;place=2", "place goes from 1 to 1 with 1 layer; got 2"),
    ("layers=4;place=41", "place goes from 1 to 40"),
    ("place=0", "place goes from 1 to 40"),
    ("output=4", "output goes from 1 to 3 with 3 tokens; got 4"),
]  # fmt: skip


@cache
def reader():
    """A panel that only turns states into requests; nobody looks at its figure."""
    return UnrollingExplorer()


def study(state=""):
    """The study of a state, from the settings that a panel opens with."""
    panel = reader()
    panel._assign(panel._opened_with)
    return study_unrolling(panel._restore(state))


def shown(panel):
    return panel.state, panel.description, plain(panel.figure)


def network_of(answer, seed=0):
    weights, X = readable_network(answer.layers, seed, answer.antisymmetric)
    return weights, virtual_weights(Reals(), weights), X[:, : answer.tokens]


# The tree and the strip


@pytest.mark.parametrize("layers", [1, 2, 3, 4])
def test_the_tree_by_the_recursion_stands_over_the_strip_by_the_ternary_rule_with_the_same_factors(layers):
    grown = sorted(grow(layers), key=lambda node: node.place)
    assert [(node.place, node.factor) for node in grown] == [*enumerate(unroll(layers), start=1)]
    answer = study(f"layers={layers}")
    figure = make(unrolling_parts(answer))
    nodes, bars = trace(figure, "layers"), trace(figure, "factors")
    assert len(trace(figure, "copies of X").x) == 3**layers
    assert len(bars.x) == len(nodes.x) == len(answer.factors)
    for k, factor in enumerate(unroll(layers)):
        assert bars.x[k] == 2 * k + 1.5  # over the leaves 2k + 1 and 2k + 2
        assert bars.marker.color[k] == theme.color(f"layer {factor.layer}")
        assert (bars.marker.pattern.shape[k] == "/") == factor.transposed
    for text in nodes.customdata:
        name, place = text.split("gives ")[1].split(" at place ")
        assert name_of(unroll(layers)[int(place) - 1]) == name
    names = trace(figure, "names").text
    digits = trace(figure, "k in base 3").text
    if layers < 4:
        assert [n.strip("</b>") for n in names] == ["L", *map(name_of, answer.factors)]
        plain_digits = [d.replace("<b>", "").replace("</b>", "") for d in digits]
        assert [int(d, 3) for d in plain_digits] == list(range(1, len(answer.factors) + 1))
    else:  # no room
        assert list(names) == ["<b>L</b>"] and len(digits) == 1
        assert "values" not in {one.name for one in figure.data}


def test_a_node_stands_over_its_key_child_and_the_wash_lies_behind_the_key():
    for node in grow(3):
        assert node.x == node.children[1]
    value, key, query = grow(3)[-1].children
    assert value < key < query
    (wash,) = make(unrolling_parts(study("layers=3"))).layout.shapes
    assert (wash.x0, wash.x1) == (8.5, 17.5)
    root_value, root_key, _ = grow(2)[-1].children
    (key_node,) = [node for node in grow(2) if node.x == root_key and node.factor.layer == 1]
    assert key_node.children[0] > key_node.children[2]  # mirrored: its value stands on the right
    (value_node,) = [node for node in grow(2) if node.x == root_value and node.factor.layer == 1]
    assert value_node.children[0] < value_node.children[2]


# The numbers


@pytest.mark.parametrize(
    "state",
    [
        "seed=0",
        "layers=1;tokens=2;place=1;reflect=yes;seed=1",
        "tokens=4;output=4;index_seed=7;reflect=yes;seed=2",
        "layers=3;place=9;reflect=yes;antisymmetric=yes;seed=3",
        "layers=3;place=4;two_tokens=yes;output=2;seed=4",
        "layers=4;place=27;reflect=yes;index_seed=5;seed=5",
    ],
)
def test_the_values_are_the_links_and_their_product_is_the_term(state):
    answer = study(state)
    _, virtual, X = network_of(answer, seed=int(state.rpartition("=")[2]))
    assert answer.values == link_values(Reals(), virtual, X, answer.indices)
    assert answer.start == pytest.approx(float((virtual.L @ X[:, answer.indices[0]])[0]))
    product = answer.start * np.prod(answer.values)
    assert answer.value == pytest.approx(float(term(Reals(), virtual, X, answer.indices)[0]))
    assert answer.value == pytest.approx(product, abs=1e-12)
    if answer.reflection:
        after = answer.reflection
        assert after.indices == reflect(answer.layers, answer.indices, answer.place)
        assert after.value == pytest.approx(after.start * np.prod(after.values), abs=1e-12)
    if answer.layers < 4:
        drawn = trace(make(unrolling_parts(answer)), "values").text[: len(answer.values) + 1]
        assert list(drawn) == [number(v) for v in (answer.start, *answer.values)]


@pytest.mark.parametrize(("layers", "tokens"), [(1, 2), (1, 4), (2, 2), (2, 3), (2, 4)])
@pytest.mark.parametrize("antisymmetric", ["no", "yes"])
def test_all_terms_together_are_what_the_layers_give(layers, tokens, antisymmetric):
    answer = study(f"layers={layers};tokens={tokens};output={tokens};antisymmetric={antisymmetric}")
    weights, _, X = network_of(answer)
    layered = forward(Reals(), "lightning", weights, X[None])[0, 0, tokens - 1]
    assert answer.summed == pytest.approx(layered) and answer.output == pytest.approx(layered)
    assert answer.adds_up and abs(layered) > 1e-6
    assert not replace(answer, summed=answer.summed + 0.01).adds_up


def test_where_the_terms_are_too_many_nobody_claims_to_have_added_them(panel):
    panel.state = "layers=3"
    assert study("layers=3").summed is None
    assert "too many to add" in panel.description and "3¹³" in panel.description
    panel.state = "layers=2"
    assert "3⁴ = 81 of them add up to" in panel.description


def test_the_weights_are_drawn_so_that_products_can_be_read():
    for seed in range(2):
        weights, X = readable_network(4, seed)
        virtual = virtual_weights(Reals(), weights)
        for N in [virtual.L @ X, *(X.T @ M @ X for M in virtual.M)]:
            assert (abs(N) > 0.699).all() and (abs(N) < 1.401).all()
        assert (np.sign(X.T @ virtual.M[0] @ X) < 0).any()


# The reflection


@pytest.mark.parametrize(("layers", "place"), PLACES[::3])
def test_with_equal_ends_one_number_changes_and_the_others_change_places(layers, place):
    for index_seed in (0, 1):
        answer = study(f"layers={layers};place={place};reflect=yes;index_seed={index_seed}")
        after = answer.reflection
        assert after.start == answer.start and after.indices[-1] == answer.indices[-1]
        assert set(after.changed) <= {place}
        goes_to = dict(after.moved) | {
            k: k for k in range(1, len(answer.factors) + 1) if k not in dict(after.moved)
        }
        for k, value in enumerate(answer.values, start=1):
            if k not in after.changed:
                assert after.values[goes_to[k] - 1] == pytest.approx(value)
        if after.changed:
            assert after.values[place - 1] != pytest.approx(answer.values[place - 1])


@pytest.mark.parametrize("layers", [2, 3, 4])
@pytest.mark.parametrize("seed", [0, 1])
def test_an_antisymmetric_factor_makes_the_two_terms_cancel(layers, seed):
    top = 3 ** (layers - 1)
    state = f"layers={layers};place={top};reflect=yes;seed={seed}"
    for tokens in (3, 4):
        answer = study(f"{state};tokens={tokens};antisymmetric=yes")
        assert answer.cancels and not answer.vanishes
        assert answer.reflection.value == pytest.approx(-answer.value)
        said = texts(make(unrolling_parts(answer)))
        assert "sum <b>0</b>" in said and any("the two terms cancel" in text for text in said)
        other = study(f"{state};tokens={tokens}")
        assert not other.cancels and not any("cancel" in text for text in texts(make(unrolling_parts(other))))


def test_terms_never_fail_to_cancel_where_they_have_to():
    for layers, place in PLACES:
        answer = study(f"layers={layers};place={place};reflect=yes;antisymmetric=yes")
        assert answer.value + answer.reflection.value == pytest.approx(0, abs=1e-9)
        M = network_of(answer)[1].M[answer.factor.layer - 1]
        assert M == pytest.approx(-M.T, abs=1e-12) and abs(M).max() > 0.1


def test_the_picture_says_what_became_of_the_factor(panel):
    assert not any("⇄" in text for text in texts(panel.figure))
    panel.controls["reflect"].value = True
    assert "<b>M₂ ⇄ M₂ᵀ</b>" in texts(panel.figure)
    assert "M₂ becomes M₂ᵀ, the other numbers change places" in panel.description
    before, after = (trace(panel.figure, name) for name in ("tokens", "tokens afterwards"))
    assert list(before.text) == ["x₂", "x₁", "x₃", "x₂", "x₁"]
    assert list(after.text) == ["x₂", "x₁", "x₂", "x₃", "x₁"]
    panel.controls["place"].value = 2
    assert "<b>M₁ᵀ ⇄ M₁</b>" in texts(panel.figure)
    assert "own mirror image" in panel.description
    panel.controls["reflect"].value = False
    assert "tokens afterwards" not in {one.name for one in panel.figure.data}


def test_a_state_with_typed_tokens_opens_with_drawn_ones(panel):
    panel.state = "layers=3;equal_ends=no;indices=2,1,3,2"
    assert panel.status.startswith("done") and panel.controls["layers"].value == 3


# Eq. 28


@pytest.mark.parametrize("layers", [1, 2, 3, 4])
@pytest.mark.parametrize("output", [1, 2])
def test_with_y_and_x_only_the_term_is_the_coefficient_of_eq_28(panel, layers, output):
    panel.state = f"layers={layers};place=1;output={output};two_tokens=yes"
    answer = study(panel.state)
    y, x = answer.indices[0], answer.indices[-1]
    assert x == output - 1 and set(answer.indices[:-1]) == {y} and y != x
    assert answer.coefficient == pytest.approx(answer.value) and answer.reads_off
    assert not replace(answer, coefficient=answer.coefficient * 1.01).reads_off
    _, virtual, X = network_of(answer)
    N = [X.T @ M @ X for M in virtual.M]
    powers = [3 ** (layers - h) - (h == 1) for h in range(1, layers + 1)]
    by_hand = answer.start * np.prod([N[h][y, y] ** powers[h] for h in range(layers)]) * N[0][y, x]
    assert answer.value == pytest.approx(by_hand)
    assert coefficient_name(layers) in panel.description and number(by_hand) in panel.description
    assert set(trace(panel.figure, "tokens").text) == {"y", "x"}


def test_an_antisymmetric_m_leaves_nothing_to_read_off(panel):
    for layers, place in [(2, 1), (2, 3), (3, 9), (4, 3)]:
        panel.state = f"layers={layers};place={place};two_tokens=yes;antisymmetric=yes"
        assert study(panel.state).coefficient == pytest.approx(0, abs=1e-12)
        assert "nothing can be read off" in panel.description
    panel.state = "layers=1;place=1"  # here M₁ stands between y and x only
    assert abs(study(panel.state).coefficient) > 0.1
    assert "nothing can be read off" not in panel.description


def test_a_wrong_coefficient_or_sum_is_said(panel, monkeypatch):
    monkeypatch.setattr(module, "part_linear_in_one_token", lambda *_: np.array([7.0]))
    panel.state = "two_tokens=yes"
    assert "DISAGREE" in panel.description
    panel.state = "two_tokens=no"
    assert "DISAGREE" not in panel.description
    monkeypatch.setattr(module, "_all_terms", lambda *_: (1.0, 2.0, 3.0))
    panel.state = "output=2"
    assert "DISAGREE" in panel.description


# The panel


def test_the_place_follows_the_layers_in_one_refresh(panel, monkeypatch):
    drawn = []
    update = panel._redraw
    monkeypatch.setattr(panel, "_redraw", lambda new: (drawn.append((new.layers, new.place)), update(new)))
    for layers in (3, 4, 1, 2):
        panel.controls["layers"].value = layers
        assert panel.controls["place"].max == len(unroll(layers))
    assert drawn == [(3, 9), (4, 27), (1, 1), (2, 3)]  # from the place of M_l to that of M_l
    drawn.clear()
    panel.state = "layers=4;place=40"
    panel.controls["layers"].value = 3  # there is no place 40
    panel.controls["place"].value = 4
    panel.controls["layers"].value = 4  # there is a place 4
    assert drawn == [(4, 40), (3, 9), (3, 4), (4, 4)]


@pytest.mark.parametrize("state", ["place=40;layers=4", "layers=4;place=40", "output=4;tokens=4", "layers=1"])
def test_a_state_may_name_its_parts_in_any_order(panel, state):
    panel.state = state
    wanted = dict(part.split("=") for part in state.split(";"))
    assert {name: str(panel.controls[name].value) for name in wanted} == wanted
    assert panel.status.startswith("done")


@pytest.mark.parametrize(("state", "said"), BAD_STATES)
def test_a_bad_state_is_refused_in_words_and_changes_nothing(panel, state, said):
    before, most = shown(panel), panel.controls["place"].max
    with pytest.raises(ValueError) as refused:
        panel.state = state
    assert said in str(refused.value)
    assert shown(panel) == before and panel.controls["place"].max == most
    with pytest.raises(ValueError):
        UnrollingExplorer(state=state)


def test_presets_leave_the_controls_as_they_were():
    panel = UnrollingExplorer(presets={"only y and x": "two_tokens=yes;layers=4"})
    assert panel.controls["place"].max == 4 and not panel.controls["reflect"].disabled
    panel.close()
