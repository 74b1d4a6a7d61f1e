"""The explorer of virtual weights: what its pictures claim, and how it survives."""

from dataclasses import replace

import numpy as np
import pytest
from panels import random_states, title

from neuroviz.attention import Architecture
from neuroviz.attention.symmetry import walk_in_gl
from neuroviz.deep import rescaling
from neuroviz.deep import virtual as module
from neuroviz.deep.virtual_facts import virtual_facts
from neuroviz.deep.virtual_panel import VirtualWeightsExplorer
from neuroviz.kit.controls import is_shown
from neuroviz.kit.words import signed
from neuroviz.rank.field import Reals
from neuroviz.rank.point import outputs

PANEL = VirtualWeightsExplorer


def said(facts):
    return " ".join(line["text"] for line in facts["says"])


def changes(study):
    """How far each matrix has moved, by its name."""
    parts = (*study.weights, *study.virtual, study.outputs)
    return {part.name: part.change for part in parts}


def above(panel):
    """What the weights have become, in words."""
    return [matrix["above"] or "" for matrix in panel.facts["matrices"]]


# Eq. 8 and Eq. 9: what moves and what does not


def test_a_view_shows_its_own_controls_and_no_others(panel):
    def hidden():
        return {name for name, c in panel.controls.items() if not is_shown(c)}

    assert hidden() == {"log_1", "log_2", "log_3", "log_4", "off"}
    panel.controls["view"].value = "rescale"
    assert hidden() == {"interface", "walk", "along", "lost", "alone"}


@pytest.mark.parametrize(
    ("kind", "walk", "place"),
    [
        ("lightning", "rotation", "first"),
        ("softmax", "stretch", "middle"),
        ("lightning", "shear", "last"),
    ],
)
def test_a_change_of_basis_moves_q_k_v_and_no_virtual_weight_and_no_output(
    panel, kind, walk, place
):
    """Eq. 9, at every interface of four layers."""
    sizes = "layers=4;width=3;width_in=4;width_out=4"
    panel.state = f"{sizes};interface={place};walk={walk};kind={kind}"
    i = {"first": 1, "middle": 2, "last": 3}[place]
    moved = changes(panel._shown)
    weights = [f"{letter}{'₀₁₂₃₄'[layer]}" for layer in (i, i + 1) for letter in "QKV"]
    names = weights[2:]
    assert list(moved) == [*weights, "L", "M₁", "M₂", "M₃", "M₄", "φ(X)"]
    assert all(moved[name] > 0.1 for name in names)
    assert all(change < 1e-9 for name, change in moved.items() if name not in names)
    assert any("C⁻¹" in text for text in above(panel))
    # no C, also where V moves alone
    panel.controls["along"].value = 0
    panel.controls["alone"].value = 0.3
    assert not any("C⁻¹" in text for text in above(panel))


def test_the_study_has_two_networks_with_the_same_virtual_weights(panel):
    """Recomputed for two layers: L = V₂V₁, M₁ = K₁ᵀQ₁, M₂ = V₁ᵀK₂ᵀQ₂V₁."""
    study = panel._shown
    parts = {part.name: part for part in (*study.weights, *study.virtual)}
    for which in ("start", "now"):
        V1, Q2, K2, V2, L, M2 = (
            getattr(parts[name], which) for name in ("V₁", "Q₂", "K₂", "V₂", "L", "M₂")
        )
        assert np.allclose(V2 @ V1, L) and np.allclose(V1.T @ K2.T @ Q2 @ V1, M2)
    for name, change in (
        ("V₁", lambda W: study.C @ W),
        ("Q₂", lambda W: W @ np.linalg.inv(study.C)),
    ):
        start = parts[name].start
        now = parts[name].now
        assert np.allclose(change(start), now) and not np.allclose(start, now)


def test_the_facts_say_moved_only_where_the_matrices_differ(panel):
    assert panel.facts["basis"]["agrees"] and "stand still" in said(panel.facts)
    panel.controls["alone"].value = 0.05
    assert "L, M₂ and φ(X) MOVED" in said(panel.facts)
    assert [part.name for part in panel._shown.virtual if part.is_same] == ["M₁"]


@pytest.mark.parametrize(
    ("error", "same"), [(1e-12, True), (1e-10, True), (1e-8, False), (0.1, False)]
)
def test_a_matrix_is_the_same_up_to_one_in_a_thousand_million(panel, error, same):
    study = panel._shown
    L = study.virtual[0]
    off = replace(
        study, virtual=(replace(L, now=L.start * (1 + error)), *study.virtual[1:])
    )
    assert ("MOVED" in said(virtual_facts(off))) == (not same)
    assert (off.moved == ()) == same


@pytest.mark.parametrize("alone", [-0.3, 0.05])
@pytest.mark.parametrize("kind", ["lightning", "softmax"])
def test_moving_v_alone_is_no_symmetry_and_the_panel_says_so(panel, alone, kind):
    panel.state = f"alone={alone};kind={kind}"
    moved = changes(panel._shown)
    assert min(moved["L"], moved["M₂"], moved["φ(X)"]) > 1e-3 and moved["M₁"] < 1e-9
    assert (
        "not a symmetry" in panel.description
        and "need the same virtual weights" in panel.description
    )
    assert "outside hypotheses" in title(panel) and "same function" not in title(panel)
    panel.controls["alone"].value = 0.0
    assert "proved" in title(panel) and "not a symmetry" not in panel.description


# Lemma 3.5: the change of basis recovered, or not


@pytest.mark.parametrize(
    ("walk", "along", "layers"),
    [("rotation", -1, 2), ("stretch", 0.35, 4), ("shear", 1, 3), ("shear", 0, 2)],
)
def test_the_recovered_change_of_basis_is_that_of_the_walk(panel, walk, along, layers):
    panel.state = f"walk={walk};along={along};layers={layers};interface=last;width=3"
    i = layers - 1
    shown_C = np.array(panel.facts["basis"]["recovered"])
    assert np.allclose(shown_C, walk_in_gl(walk, 3, along), atol=1e-9)
    others = [C for j, C in enumerate(panel._shown.recovered, start=1) if j != i]
    assert (
        all(np.allclose(C, np.eye(3), atol=1e-9) for C in others)
        and len(others) == layers - 2
    )
    assert panel._shown.off < 1e-9 and "C is recovered" in panel.description


def test_a_wrong_recovery_would_be_seen(panel):
    study = panel._shown
    wrong = replace(study, recovered=(study.C.T,))
    assert wrong.off > 0.1
    assert not virtual_facts(wrong)["basis"]["agrees"]


@pytest.mark.parametrize("place", ["first", "last"])
def test_where_v_has_lost_rank_the_recovery_is_refused_in_words(panel, place):
    panel.state = f"lost=yes;layers=3;interface={place}"
    study = panel._shown
    name = "V₁" if place == "first" else "V₂ ⋯ V₁"
    assert study.recovered is None and study.refusal in panel.description
    assert f"{name} has rank 2; got rank 1" in study.refusal
    assert "outside hypotheses · Lemma 3.5" in title(
        panel
    ) and "proved · Eq. 9" in title(panel)
    assert (
        panel.facts["basis"]["recovered"] is None and not panel.facts["basis"]["agrees"]
    )
    # The function is the same all the same, and so are the virtual weights.
    assert (
        study.moved == () and changes(study)["Q₂" if place == "first" else "Q₃"] > 0.1
    )


@pytest.mark.parametrize(
    "state", ["width=3;width_in=2", "width=4;width_in=1;layers=4;interface=last"]
)
def test_a_network_that_widens_hides_its_basis_without_any_loss_of_rank(panel, state):
    panel.state = state
    assert panel._shown.moved == () and panel._shown.refusal
    assert "L and M do not determine" in said(panel.facts["bars"])
    assert "outside hypotheses · Lemma 3.5" in title(panel)


def test_lemma_35_is_claimed_only_under_its_hypotheses(panel):
    assert (
        "proved · Lemma 3.5" in title(panel) and "no other C fits" in panel.description
    )
    # δ > d_l: C is found, but the lemma does not say that it must be
    panel.state = "width=3;width_out=2"
    assert (
        "C is recovered" in panel.description and "does not apply" in panel.description
    )
    assert "outside hypotheses · Lemma 3.5" in title(panel)


def test_the_input_is_scaled_so_that_lightning_outputs_have_size_one():
    for layers, width in ((1, 1), (4, 1), (4, 4)):
        arch = Architecture.uniform(width, 2, layers)
        weights, X = module.example_network(arch, np.random.default_rng(0))
        assert np.abs(outputs(arch, Reals(), weights, X)).max() == pytest.approx(1)


# Eq. 13: what L must answer


@pytest.mark.parametrize("layers", [2, 3, 4])
def test_with_the_answer_of_eq_13_the_outputs_stand_still(panel, layers):
    panel.state = (
        f"view=rescale;layers={layers};log_1=-0.8;log_2=1;log_3=0.45;log_4=-0.3"
    )
    study = panel._shown
    start = panel._shown.outputs.start
    now = panel._shown.outputs.now
    assert np.abs(start - now).max() < 1e-9 and np.abs(start).max() == pytest.approx(1)
    assert study.exponents == tuple(3 ** (layers - i) for i in range(1, layers + 1))
    assert not study.unanswered.is_same  # and without the answer they do not
    ratio = np.linalg.norm(study.unanswered.now) / np.linalg.norm(
        study.unanswered.start
    )
    assert ratio * study.balance == pytest.approx(1)
    assert "the function has not" in said(panel.facts)


@pytest.mark.parametrize("off", [-1, 0.05])
def test_another_factor_than_that_of_eq_13_is_seen(panel, off):
    panel.state = f"view=rescale;off={off}"
    start = panel._shown.outputs.start
    now = panel._shown.outputs.now
    assert np.allclose(now, 2**off * start) and f"× {signed(2**off)}" in said(
        panel.facts
    )
    assert "another function" in panel.description and "missed" in panel.description
    assert "the function has not" not in said(panel.facts)


def test_softmax_has_no_rescaling_and_the_best_factor_leaves_a_distance(panel):
    panel.state = "view=rescale;layers=3;kind=softmax"
    study = panel._shown
    assert not study.outputs.is_same and study.outputs.change > 0.01
    worse = [
        np.linalg.norm(c * study.unanswered.now - study.outputs.start)
        for c in (0.9 * study.factor, 1.1 * study.factor)
    ]
    assert min(worse) > np.linalg.norm(study.outputs.now - study.outputs.start)
    assert "no λ₀ can answer" in said(panel.facts["bars"])
    assert "at best off by" in said(panel.facts)
    assert "proved here · Theorem B" in title(
        panel
    ) and "outside hypotheses · Eq. 13" in title(panel)
    panel.state = "log_1=0;log_2=0;log_3=0"
    assert panel._shown.outputs.is_same
    assert "no λ₀ can answer" not in said(panel.facts["bars"])


@pytest.mark.parametrize(
    ("state", "badge"),
    [
        ("", "proved · Thm. 3.7: nothing else"),
        ("head_dim=1", "outside hypotheses · Thm. 3.7"),
        ("width=1", "outside hypotheses · Thm. 3.7"),
        ("kind=softmax;width=1;head_dim=1", "proved here · Theorem B"),
    ],
)
def test_the_whole_fibre_is_claimed_only_where_it_is_known(state, badge):
    panel = VirtualWeightsExplorer(state=f"view=rescale;{state}")
    assert badge in title(panel)
    panel.close()


def test_theorem_b_is_not_claimed_where_m_is_antisymmetric():
    arch = Architecture((2, 2), (2,), 3, "softmax")
    turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
    one = {"1.Q": np.eye(2), "1.K": np.eye(2), "1.V": np.eye(2)}
    assert rescaling._is_covered(arch, one)
    assert not rescaling._is_covered(arch, one | {"1.Q": turn})
    assert not rescaling._is_covered(arch, one | {"1.V": np.zeros((2, 2))})


def test_eq_9_holds_at_random_and_extreme_settings(panel):
    """The threshold of "same" is never met by chance: rounding stays far below it."""
    for state in random_states(VirtualWeightsExplorer, 30, seed=4, keep="view=basis"):
        panel._restore(f"{state};alone=0")
        study = module.study_interface(panel._read())
        assert max(part.change for part in (*study.virtual, study.outputs)) < 1e-11, (
            state
        )
