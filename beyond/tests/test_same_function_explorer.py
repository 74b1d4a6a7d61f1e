"""Two transformers that compute the same: what is moved is what Theorem H allows, and
the poles are poles."""

from dataclasses import replace

import numpy as np
import pytest
from panels import said, title, trace

from neuroviz.rank.field import Reals
from neuroviz_beyond.transformers import evaluate
from neuroviz_beyond.transformers.same_function import (
    TwinSetting,
    as_block_weights,
    forward,
    poles,
    study_twins,
)
from neuroviz_beyond.transformers.same_function_panel import SameFunctionExplorer

PANEL = SameFunctionExplorer
ALL = TwinSetting(swapped="both", basis=-0.8, shift=0.9, biases=True)
MOVED = [
    ALL,
    replace(ALL, biases=False),
    replace(ALL, skip=True),
    replace(ALL, third=0.0, seed=3),
    TwinSetting(),
]
SIGNS = TwinSetting(swapped="layer 2", basis=0.0, signs=True, third=0.0)


def test_the_networks_are_transformers():
    for setting in (ALL, replace(ALL, skip=True), replace(ALL, third=0.0)):
        study = study_twins(setting)
        X = np.random.default_rng(1).standard_normal((5, 2, 3))
        tokens = setting.arch.tokens
        for network in (study.first, study.second):
            weights = as_block_weights(network, setting.biases)
            whole = forward(
                network, X, np.array([1.0, 1.0, setting.third]), setting.has_skip
            )
            there = evaluate.forward(Reals(), setting.arch, weights, X[..., :tokens])
            assert np.allclose(whole[..., :tokens], there, atol=1e-12)


@pytest.mark.parametrize("setting", MOVED, ids=str)
def test_what_is_moved_leaves_outputs_and_poles_where_they_are(setting):
    study = study_twins(setting)
    assert study.moved < 1e-13 and study.failing == ()
    assert study.found.heads == study.places and study.found.error < 1e-12
    for i, order in enumerate(study.places):
        assert study.partners[i] == tuple((k, 1) for k in order)
    off = study_twins(replace(setting, off=0.3))
    assert off.moved > 1e-3 and isinstance(off.found, str) and None in off.partners[0]


@pytest.mark.parametrize("biases", [False, True])
def test_two_tokens_do_not_see_the_signs_and_a_third_one_does(biases):
    two = study_twins(replace(SIGNS, biases=biases, shift=0.5))
    assert (
        two.moved < 1e-13
        and isinstance(two.found, str)
        and "add up to 0" in two.failing[0]
    )
    assert {sign for _, sign in two.partners[0]} == {-1} and {
        sign for _, sign in two.partners[1]
    } == {1}
    for third in (0.05, 1.0):
        three = study_twins(replace(SIGNS, biases=biases, shift=0.5, third=third))
        assert (
            three.moved > 1e-3
            and three.partners[0] == (None, None)
            and not three.failing
        )


@pytest.mark.parametrize("setting", [ALL, replace(ALL, third=0.0), SIGNS], ids=str)
def test_a_pole_is_one(setting):
    """In the complex plane the second output column of one layer grows as 1/ε near each
    of them."""
    study = study_twins(setting)
    layer = study.second[0]
    w = np.array([0.3, -1.1])
    x = np.array([0.7, 0.4])
    weight = np.array([1.0, 1.0, setting.third])
    for A, V, c in zip(layer.A, layer.V, layer.c, strict=True):
        head = layer._replace(A=A[None], V=V[None], c=c[None])
        rate = float(w @ (A @ x + c))
        found = poles(rate, setting.third, 30.0)
        assert len(found) >= 2 and (np.abs(found.imag) <= 30).all()
        outputs = []
        for epsilon in (1e-3, 1e-4):
            X = np.stack([x + (found[0] + epsilon) * w, x + 0j, x + 0j], axis=1)
            logits = X.T @ (A @ X[:, 1] + c)
            shares = weight * np.exp(logits)
            outputs.append(np.linalg.norm(head.V[0] @ X @ (shares / shares.sum())))
        assert 9 < outputs[1] / outputs[0] < 11


def test_settings_that_are_none_are_refused():
    for wrong in ({"view": "roots"}, {"swapped": "all"}):
        with pytest.raises(ValueError, match="is one of"):
            TwinSetting(**wrong)


# The panel


def test_weights_move_and_outputs_stand_still(panel):
    assert "other weights, the same outputs" in " ".join(said(panel.figure))
    before = {
        name: trace(panel.figure, name).z
        for name in ("φ(X) of the first", "V of the second, layer 2, head 1")
    }
    panel.controls["basis"].value = -0.5
    after = {name: trace(panel.figure, name).z for name in before}
    outputs, V = before
    assert np.allclose(before[outputs], after[outputs]) and not np.allclose(
        before[V], after[V]
    )
    assert np.allclose(trace(panel.figure, "φ(X) of the second").z, after[outputs])
    assert (
        "proved here · Theorem H" in title(panel)
        and "layer 1, heads 2, 1" in panel.description
    )


def test_controls_speak_where_the_theorem_does(panel):
    off = {name for name, control in panel.controls.items() if control.disabled}
    assert off == {"shift"}
    panel.state = "skip=yes;biases=yes"
    assert {name for name, control in panel.controls.items() if control.disabled} == {
        "basis"
    }
    panel.state = "signs=yes"
    assert panel.controls["skip"].disabled and panel.controls["basis"].disabled


def test_a_skip_that_nobody_ticked_is_told_with_its_reason(panel):
    """−A and −V need a skip, as V₁ + V₂ = 0: the caption said "skip" beside a box
    without a tick."""
    panel.state = "signs=yes;third=0;view=poles"
    assert panel._shown.setting.has_skip and not panel.controls["skip"].value
    assert "a skip, as V₁ + V₂ = 0 needs one" in panel.description
    assert panel.controls["skip"].description == "skip: needed"
    panel.state = "skip=yes;signs=yes;third=0"
    assert "d = 2, skip" in panel.description and panel.controls["skip"].value
    panel.state = "signs=no;skip=no"
    assert (
        "skip" not in panel.description and panel.controls["skip"].description == "skip"
    )


def test_the_badge_says_how_far_the_theorem_reaches(panel):
    panel.state = "signs=yes;third=0"
    assert (
        "outside hypotheses" in title(panel)
        and "Theorem H says nothing: Condition 4" in panel.description
    )
    panel.controls["third"].value = 0.5
    assert (
        "floating point" in title(panel) and "the outputs differ" in panel.description
    )
    panel.controls["third"].value = 1.0
    assert "proved here" in title(panel) and "align refuses" in panel.description


def test_poles_lie_on_poles_exactly_where_the_logits_agree(panel):
    panel.state = "view=poles;swapped=layer 1"
    for one, other in (("q₁", "q₂′"), ("q₂", "q₁′")):
        first, second = (
            [t for t in panel.figure.data if t.name == name][0] for name in (one, other)
        )
        assert np.allclose(first.x, second.x) and np.allclose(first.y, second.y)
    assert "layer 1: q₁ = q₂′, q₂ = q₁′" in " ".join(said(panel.figure))
    panel.state = "view=poles;swapped=none;signs=yes;third=1"
    first, second = (
        [t for t in panel.figure.data if t.name == name][0] for name in ("q₁", "q₁′")
    )
    assert np.allclose(
        first.x, -np.array(second.x)
    ) and "no pole is shared" in " ".join(said(panel.figure))
