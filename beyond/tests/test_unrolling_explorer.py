"""The unrolled network: tree and strip agree, the numbers are the package's, and
nothing breaks the panel."""

import random
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from node import ask, check_types
from panels import plain, words_of

from neuroviz.attention.symmetry import virtual_weights
from neuroviz.attention.unrolling import link_values, reflect, term, unroll
from neuroviz.kit.plot import plain as plain_data
from neuroviz.rank.field import Reals
from neuroviz_beyond.transformers.evaluate import forward
from neuroviz_beyond.unrolling import unrolling as module
from neuroviz_beyond.unrolling.panel import UnrollingExplorer
from neuroviz_beyond.unrolling.unrolled_facts import unrolled_facts
from neuroviz_beyond.unrolling.unrolling import (
    UnrollSetting,
    readable_network,
    study_unrolling,
)
from neuroviz_beyond.unrolling.words import coefficient_name, number

PANEL = UnrollingExplorer
PLACES = [
    (layers, place)
    for layers in (1, 2, 3, 4)
    for place in range(1, len(unroll(layers)) + 1)
]

BAD_STATES = [
    ("place=5", "place goes from 1 to 4 with 2 layers; got 5"),
    ("layers=1;place=2", "place goes from 1 to 1 with 1 layer; got 2"),
    ("layers=4;place=41", "place goes from 1 to 40"),
    ("place=0", "place goes from 1 to 40"),
    ("output=4", "output goes from 1 to 3 with 3 tokens; got 4"),
]


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
    assert answer.start == pytest.approx(
        float((virtual.L @ X[:, answer.indices[0]])[0])
    )
    product = answer.start * np.prod(answer.values)
    assert answer.value == pytest.approx(
        float(term(Reals(), virtual, X, answer.indices)[0])
    )
    assert answer.value == pytest.approx(product, abs=1e-12)
    if answer.reflection:
        after = answer.reflection
        assert after.indices == reflect(answer.layers, answer.indices, answer.place)
        assert after.value == pytest.approx(
            after.start * np.prod(after.values), abs=1e-12
        )


@pytest.mark.parametrize(("layers", "tokens"), [(1, 2), (1, 4), (2, 2), (2, 3), (2, 4)])
@pytest.mark.parametrize("antisymmetric", ["no", "yes"])
def test_all_terms_together_are_what_the_layers_give(layers, tokens, antisymmetric):
    answer = study(
        f"layers={layers};tokens={tokens};output={tokens};antisymmetric={antisymmetric}"
    )
    weights, _, X = network_of(answer)
    layered = forward(Reals(), "lightning", weights, X[None])[0, 0, tokens - 1]
    assert answer.summed == pytest.approx(layered) and answer.output == pytest.approx(
        layered
    )
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
        answer = study(
            f"layers={layers};place={place};reflect=yes;index_seed={index_seed}"
        )
        after = answer.reflection
        assert after.start == answer.start and after.indices[-1] == answer.indices[-1]
        assert set(after.changed) <= {place}
        goes_to = dict(after.moved) | {
            k: k
            for k in range(1, len(answer.factors) + 1)
            if k not in dict(after.moved)
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
        assert any(
            "cancel" in text for text in words_of(unrolled_facts(answer)["term"])
        )
        other = study(f"{state};tokens={tokens}")
        assert not other.cancels
        assert not any(
            "cancel" in text for text in words_of(unrolled_facts(other)["term"])
        )


def test_terms_never_fail_to_cancel_where_they_have_to():
    for layers, place in PLACES:
        answer = study(f"layers={layers};place={place};reflect=yes;antisymmetric=yes")
        assert answer.value + answer.reflection.value == pytest.approx(0, abs=1e-9)
        M = network_of(answer)[1].M[answer.factor.layer - 1]
        assert M == pytest.approx(-M.T, abs=1e-12) and abs(M).max() > 0.1


def test_the_picture_says_what_became_of_the_factor(panel):
    assert "becomes" not in panel.description
    panel.controls["reflect"].value = True
    assert "M₂ becomes M₂ᵀ, the other numbers change places" in panel.description
    assert "M₂ becomes M₂ᵀ, the other numbers change places" in words_of(
        panel.facts["term"]
    )
    panel.controls["place"].value = 2
    assert "own mirror image" in panel.description


# Eq. 28


@pytest.mark.parametrize("layers", [1, 2, 3, 4])
@pytest.mark.parametrize("output", [1, 2])
def test_with_y_and_x_only_the_term_is_the_coefficient_of_eq_28(panel, layers, output):
    panel.state = f"layers={layers};place=1;output={output};two_tokens=yes"
    answer = study(panel.state)
    y = answer.indices[0]
    x = answer.indices[-1]
    assert x == output - 1 and set(answer.indices[:-1]) == {y} and y != x
    assert answer.coefficient == pytest.approx(answer.value) and answer.reads_off
    assert not replace(answer, coefficient=answer.coefficient * 1.01).reads_off
    _, virtual, X = network_of(answer)
    N = [X.T @ M @ X for M in virtual.M]
    powers = [3 ** (layers - h) - (h == 1) for h in range(1, layers + 1)]
    by_hand = (
        answer.start
        * np.prod([N[h][y, y] ** powers[h] for h in range(layers)])
        * N[0][y, x]
    )
    assert answer.value == pytest.approx(by_hand)
    assert (
        coefficient_name(layers) in panel.description
        and number(by_hand) in panel.description
    )
    assert panel.facts["formulas"]["isOfTwo"]


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
    monkeypatch.setattr(
        panel,
        "_redraw",
        lambda new: (drawn.append((new.layers, new.place)), update(new)),
    )
    for layers in (3, 4, 1, 2):
        panel.controls["layers"].value = layers
        assert panel.controls["place"].max == len(unroll(layers))
    # from the place of M_l to that of M_l
    assert drawn == [(3, 9), (4, 27), (1, 1), (2, 3)]
    drawn.clear()
    panel.state = "layers=4;place=40"
    panel.controls["layers"].value = 3  # there is no place 40
    panel.controls["place"].value = 4
    panel.controls["layers"].value = 4  # there is a place 4
    assert drawn == [(4, 40), (3, 9), (3, 4), (4, 4)]


@pytest.mark.parametrize(
    "state", ["place=40;layers=4", "layers=4;place=40", "output=4;tokens=4", "layers=1"]
)
def test_a_state_may_name_its_parts_in_any_order(panel, state):
    panel.state = state
    wanted = dict(part.split("=") for part in state.split(";"))
    assert {name: str(panel.controls[name].value) for name in wanted} == wanted
    assert panel.status.startswith("done")


@pytest.mark.parametrize(("state", "said"), BAD_STATES)
def test_a_bad_state_is_refused_in_words_and_changes_nothing(panel, state, said):
    before = shown(panel)
    most = panel.controls["place"].max
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


# The page, under node

_TERMS = """
import { shownAt } from "beyond/unrolled_term";
say(given.map(([formulas, place]: any) => shownAt(formulas, place)));
"""
_TREES = """
import { grow } from "beyond/unrolled_tree";
say(given.map((layers: number) => grow(layers)));
"""


def random_study(draw):
    layers = draw.randint(1, 4)
    tokens = draw.randint(2, 4)
    at = {
        "place": draw.randint(1, (3**layers - 1) // 2),
        "output": draw.randint(1, tokens),
    }
    of = {name: draw.random() < 0.2 for name in ("antisymmetric", "two_tokens")}
    seeds = {"index_seed": draw.randint(0, 99), "seed": draw.randint(0, 5)}
    return study_unrolling(
        UnrollSetting(layers, tokens, **at, reflect=True, **of, **seeds)
    )


@pytest.mark.long
def test_the_page_multiplies_1000_random_terms_as_python_does():
    draw = random.Random(8)
    studies = [random_study(draw) for _ in range(1000)]
    asked = [
        [plain_data(unrolled_facts(one)["formulas"]), plain_data(one.moves)]
        for one in studies
    ]
    for study_, page in zip(studies, ask(_TERMS, asked), strict=True):
        factors = [(one["layer"], one["isTransposed"]) for one in page["factors"]]
        assert factors == list(study_.factors)
        assert (
            page["window"] == [study_.window[0], study_.window[-1]]
            and page["focus"] == study_.focus
        )
        for one, other in ((study_, page["term"]), (study_.reflection, page["turned"])):
            if one:
                assert other["tokens"] == list(one.indices)
                numbers = [other["start"], *other["values"]], [one.start, *one.values]
                np.testing.assert_allclose(*numbers, atol=1e-9)
                assert other["value"] == pytest.approx(one.value, rel=1e-9, abs=1e-9)


@pytest.mark.long
def test_facts_of_random_terms_have_the_form_that_the_page_expects():
    draw = random.Random(9)
    facts = [plain_data(unrolled_facts(random_study(draw))) for _ in range(40)]
    check_types("UnrolledFacts", "beyond/unrolled_facts", facts)


def test_the_tree_by_the_recursion_has_the_factors_of_the_strip_by_the_ternary_rule():
    for layers, grown in zip((1, 2, 3, 4), ask(_TREES, [1, 2, 3, 4]), strict=True):
        found = sorted(
            (node["place"], node["layer"], node["isTransposed"]) for node in grown
        )
        assert found == [
            (k, *factor) for k, factor in enumerate(unroll(layers), start=1)
        ]
