"""The explorer of virtual weights: what its pictures claim, and how it survives."""

import json
from dataclasses import replace
from itertools import combinations, product
from math import isfinite

import numpy as np
import pytest
from panels import ends, plain, random_states, text, texts, title, trace

from neuroviz.deep import virtual_panel as module
from neuroviz.deep.virtual_figure import Moved, interface_parts
from neuroviz.deep.virtual_panel import VirtualWeightsExplorer
from neuroviz.engine.architecture import Architecture
from neuroviz.engine.field import Reals
from neuroviz.engine.network import forward
from neuroviz.engine.symmetry import walk_in_gl
from neuroviz.kit import plot as parts
from neuroviz.kit import theme, words
from neuroviz.kit.plot import make

FIRST = ["layers", "width", "interface", "walk", "along"]
MORE = ["lost", "free", "alone", "width_in", "width_out", "head_dim", "kind", "seed"]

STATES = [
    "",
    "along=0",
    "along=-1;walk=stretch;kind=softmax",
    "layers=4;width=4;width_in=4;width_out=4;interface=middle;walk=shear",
    "layers=4;width=1;width_in=1;width_out=1;head_dim=1;interface=last",
    "layers=3;width=4;width_in=2;interface=last",
    "width=3;width_out=1;head_dim=4",
    "lost=yes",
    "lost=yes;free=0",
    "lost=yes;width=1;free=-1;alone=0.3",
    "alone=0.1;kind=softmax",
    "alone=-0.3;layers=4;width=2;interface=middle;seed=7",
]

BAD_STATES = [
    "layers=1", "layers=5", "width=0", "interface=second", "walk=run", "along=1.1", "lost=1", "alone=0.4",
    "free=x", "width_in=5", "kind=hardmax", "seed=-1", "depth=2",
]  # fmt: skip


@pytest.fixture(scope="module")
def shared():
    panel = VirtualWeightsExplorer()
    panel.start = panel.state
    yield panel
    panel.close()


@pytest.fixture
def panel(shared):
    shared.reset()
    return shared


def at(panel, state):
    panel.state = f"{panel.start};{state}"  # of two values of one name the later one counts
    assert panel.status.startswith("done"), panel.status
    return panel


def shown(panel):
    return panel.state, panel.description, plain(panel.figure)


def frames(figure):
    """The colour of the frame around each matrix of the table, by its name."""
    tables = [t for t in figure.data if t.type == "heatmap"]
    shapes = figure.layout.shapes[: len(tables)]
    return {t.name: s.line.color for t, s in zip(tables, shapes, strict=True) if s.visible}


def bars(figure):
    found = trace(figure, "how far each matrix has moved")
    return dict(zip(found.customdata, found.y, strict=True))


# Eq. 8 and Eq. 9: what moves and what does not


def test_few_controls_are_visible_and_the_rest_is_under_more(panel):
    assert list(panel.controls) == FIRST + MORE
    homes = {child: box for box in panel.children for child in getattr(box, "children", ())}
    assert all(homes[panel.controls[name]].layout.display == "flex" for name in FIRST)
    assert all(homes[panel.controls[name]].layout.display == "none" for name in MORE)


@pytest.mark.parametrize("kind", ["lightning", "softmax"])
@pytest.mark.parametrize("walk", ["rotation", "stretch", "shear"])
@pytest.mark.parametrize("place", ["first", "middle", "last"])
def test_a_change_of_basis_moves_q_k_v_and_no_virtual_weight_and_no_output(panel, kind, walk, place):
    """Eq. 9, at every interface of four layers."""
    panel.state = f"layers=4;width=3;width_in=4;width_out=4;interface={place};walk={walk};kind={kind}"
    i = {"first": 1, "middle": 2, "last": 3}[place]
    moved = bars(panel.figure)
    names = [f"V{'₀₁₂₃₄'[i]}", *(f"{letter}{'₀₁₂₃₄'[i + 1]}" for letter in "QKV")]
    assert list(moved) == [*names, "L", "M₁", "M₂", "M₃", "M₄", "φ(X)"]
    assert all(moved[name] > 0.1 for name in names)
    assert all(moved[name] < 1e-9 for name in list(moved)[4:])


def test_the_matrices_shown_are_those_of_two_networks_with_the_same_virtual_weights(panel):
    """Recomputed from what the figure draws, for two layers: L = V₂V₁, M₁ = K₁ᵀQ₁, M₂ = V₁ᵀK₂ᵀQ₂V₁."""
    for which in ("start", "now"):
        V1, Q2, K2, V2, L, M2 = (
            np.array(trace(panel.figure, f"{name}, {which}").z)
            for name in ("V₁", "Q₂", "K₂", "V₂", "L", "M₂")
        )
        assert np.allclose(V2 @ V1, L) and np.allclose(V1.T @ K2.T @ Q2 @ V1, M2)
    C = np.array(trace(panel.figure, "C₁, applied").z)
    for name, change in (("V₁", lambda W: C @ W), ("Q₂", lambda W: W @ np.linalg.inv(C))):
        start, now = (np.array(trace(panel.figure, f"{name}, {which}").z) for which in ("start", "now"))
        assert np.allclose(change(start), now) and not np.allclose(start, now)


def test_frames_say_same_only_where_the_matrices_agree(panel):
    certified, outside = theme.color("certified"), theme.color("outside")
    still = [f"{name}, {which}" for name in ("L", "M₁", "M₂", "φ(X)") for which in ("start", "now")]
    assert set(frames(panel.figure)) == {*still, "C₁, recovered"}
    assert set(frames(panel.figure).values()) == {certified}
    assert sum("same" in text for text in texts(panel.figure)) == 4

    panel.controls["alone"].value = 0.05
    found = frames(panel.figure)
    assert [name for name in still if found[name] == certified] == ["M₁, start", "M₁, now"]
    assert [name for name in still if found[name] == outside] == [n for n in still if "M₁" not in n]
    assert any("L, M₂ and φ(X) MOVED" in text for text in texts(panel.figure))


@pytest.mark.parametrize(("error", "same"), [(1e-12, True), (1e-10, True), (1e-8, False), (0.1, False)])
def test_a_matrix_is_the_same_up_to_one_in_a_thousand_million(panel, error, same):
    """The frames, the words over them and the bars follow the matrices, whoever made them."""
    study = panel._shown
    L = study.virtual[0]
    off = replace(study, virtual=(replace(L, now=L.start * (1 + error)), *study.virtual[1:]))
    figure = make(interface_parts(off))
    role = "certified" if same else "outside"
    assert frames(figure)["L, now"] == frames(figure)["L, start"] == theme.color(role)
    assert any("MOVED" in text for text in texts(figure)) == (not same)
    assert (off.moved == ()) == same


def test_the_distance_is_relative_and_at_most_two_sizes():
    one = np.array([[3.0, 4.0]])
    assert Moved("", one, one).change == 0 and Moved("", 0 * one, 0 * one).change == 0
    assert Moved("", one, 0 * one).change == Moved("", 1e30 * one, one).change == pytest.approx(1)
    assert Moved("", one, -one).change == pytest.approx(2)
    assert Moved("", 1e-20 * one, 2e-20 * one).change == pytest.approx(0.5)


@pytest.mark.parametrize("alone", [-0.3, -0.05, 0.05, 0.3])
@pytest.mark.parametrize("kind", ["lightning", "softmax"])
def test_moving_v_alone_is_no_symmetry_and_the_panel_says_so(panel, alone, kind):
    panel.state = f"alone={alone};kind={kind}"
    moved = bars(panel.figure)
    assert min(moved["L"], moved["M₂"], moved["φ(X)"]) > 1e-3 and moved["M₁"] < 1e-9
    assert "not a symmetry" in panel.description and "need the same virtual weights" in panel.description
    assert "outside hypotheses" in title(panel) and "same function" not in title(panel)
    panel.controls["alone"].value = 0.0
    assert "proved" in title(panel) and "not a symmetry" not in panel.description


def test_at_the_start_nothing_has_moved(panel):
    panel.state = "along=0"
    assert set(bars(panel.figure).values()) == {0.0}
    assert any("nothing has moved yet" in text for text in texts(panel.figure))
    assert "C = 1" in panel.description
    panel.state = "along=0.5;width=1"
    assert "but the stretch" in panel.description
    panel.state = "walk=stretch"
    assert bars(panel.figure)["V₁"] > 0.1


# Lemma 3.5: the change of basis recovered, or not


@pytest.mark.parametrize("walk", ["rotation", "stretch", "shear"])
@pytest.mark.parametrize("along", [-1, 0, 0.35])
@pytest.mark.parametrize("layers", [2, 4])
def test_the_recovered_change_of_basis_is_that_of_the_walk(panel, walk, along, layers):
    panel.state = f"walk={walk};along={along};layers={layers};interface=last;width=3"
    i = layers - 1
    shown_C = np.array(trace(panel.figure, f"C{'₀₁₂₃'[i]}, recovered").z)
    assert np.allclose(shown_C, walk_in_gl(walk, 3, along), atol=1e-9)
    others = [C for j, C in enumerate(panel._shown.recovered, start=1) if j != i]
    assert all(np.allclose(C, np.eye(3), atol=1e-9) for C in others) and len(others) == layers - 2
    assert panel._shown.off < 1e-9 and "C is recovered" in panel.description


def test_a_wrong_recovery_would_be_seen(panel):
    study = panel._shown
    wrong = replace(study, recovered=(study.C.T,))
    assert wrong.off > 0.1
    assert frames(make(interface_parts(wrong)))["C₁, recovered"] == theme.color("outside")


@pytest.mark.parametrize("free", [0.5, 0.0, -1.0])
@pytest.mark.parametrize("place", ["first", "last"])
def test_where_v_has_lost_rank_the_recovery_is_refused_in_words(panel, free, place):
    panel.state = f"lost=yes;free={free};layers=3;interface={place}"
    study = panel._shown
    name = "V₁" if place == "first" else "V₂ ⋯ V₁"
    assert study.recovered is None and study.refusal in panel.description
    assert f"{name} has rank 2; got rank 1" in study.refusal
    assert "outside hypotheses · Lemma 3.5" in title(panel) and "proved · Eq. 9" in title(panel)
    assert not any(name.endswith("recovered") for name in frames(panel.figure))
    # The function is the same all the same, and so are the virtual weights.
    assert study.moved == () and all(
        bars(panel.figure)[name] > 0.1 for name in ("Q₂", "Q₃") if name in bars(panel.figure)
    )


def test_where_v_has_lost_rank_there_are_networks_that_no_change_of_basis_reaches(panel):
    """Lemma 3.5 fails there: equal virtual weights, and no C."""
    panel.state = "lost=yes;along=0"
    assert panel._shown.moved == () and panel._shown.misfit > 0.01
    assert bars(panel.figure)["V₁"] == 0 and bars(panel.figure)["Q₂"] > 0.1
    assert any("no C connects them" in text for text in texts(panel.figure))
    assert "no C leads" in panel.description
    panel.controls["free"].value = 0.0  # then the two are connected, which L and M do not tell
    panel.controls["along"].value = 0.4
    assert panel._shown.misfit < 1e-9
    assert any("do not determine C₁" in text for text in texts(panel.figure))
    assert "some C does lead" in panel.description


@pytest.mark.parametrize("state", ["width=3;width_in=2", "width=4;width_in=1;layers=4;interface=last"])
def test_a_network_that_widens_has_free_weights_without_any_loss_of_rank(panel, state):
    panel.state = state
    assert not panel.controls["free"].disabled
    assert panel._shown.moved == () and panel._shown.refusal and panel._shown.free == 0.5
    assert "outside hypotheses · Lemma 3.5" in title(panel)


def test_lemma_35_is_claimed_only_under_its_hypotheses(panel):
    assert "proved · Lemma 3.5" in title(panel) and "the only one" in panel.description
    panel.state = "width=3;width_out=2"  # δ > d_l: C is found, but the lemma does not say that it must be
    assert "C is recovered" in panel.description and "does not apply" in panel.description
    assert "outside hypotheses · Lemma 3.5" in title(panel)


def test_controls_without_a_say_are_greyed_out(panel):
    assert {name for name, c in panel.controls.items() if c.disabled} == {"interface", "free"}
    panel.state = "layers=3;lost=yes"
    assert not any(c.disabled for c in panel.controls.values())


def test_the_input_is_scaled_so_that_lightning_outputs_have_size_one():
    for layers, width in ((1, 1), (4, 1), (4, 4)):
        arch = Architecture.uniform(width, 2, layers)
        weights, X = module.example_network(arch, np.random.default_rng(0))
        assert np.abs(forward(Reals(), "lightning", weights, X)).max() == pytest.approx(1)


# In place, and nothing breaks it


@pytest.mark.parametrize("state", STATES)
def test_every_number_drawn_is_finite_and_no_text_carries_a_dollar(shared, state):
    panel = at(shared, state)
    found = []

    def collect(value, key=""):
        if isinstance(value, dict):
            for inner_key, inner in value.items():
                collect(inner, inner_key)
        elif isinstance(value, list):
            for inner in value:
                collect(inner, key)
        elif isinstance(value, float):
            assert isfinite(value), key
        elif isinstance(value, str):
            found.append(value)

    collect(plain(panel.figure))
    assert not any("$" in text or "nan" in text.lower().split() for text in [*found, panel.description])
    assert "measured" not in " ".join(t.name for t in panel.figure.data)


def test_the_figure_keeps_its_elements_whatever_is_asked(panel):
    figure, traces = panel.figure, panel.figure.data
    sizes = len(figure.layout.annotations), len(figure.layout.shapes)
    for state in STATES:
        at(panel, state)
        assert panel.figure is figure and all(a is b for a, b in zip(figure.data, traces, strict=True))
        assert (len(figure.layout.annotations), len(figure.layout.shapes)) == sizes


def test_after_any_walk_the_figure_is_the_one_a_new_panel_would_draw(panel):
    for state in [*STATES, *random_states(VirtualWeightsExplorer, 12, seed=1)]:
        panel.state = state
        assert panel.status.startswith("done"), (state, panel.status)
        assert plain(panel.figure) == plain(make(interface_parts(module.study_interface(panel._read())))), (
            state
        )


PAIRED = ["layers", "width", "width_in", "lost", "alone"]


def test_both_ends_of_every_control_are_legal_and_so_are_two_at_once(panel):
    for settings in [*((name,) for name in panel.controls), *combinations(PAIRED, 2)]:
        for values in product(*(ends(panel.controls[name]) for name in settings)):
            asked = ";".join(f"{n}={text(value)}" for n, value in zip(settings, values, strict=True))
            at(panel, asked)
            assert str(panel._read().arch) in panel.description, asked


def test_eq_9_holds_at_random_and_extreme_settings(panel):
    """The threshold of "same" is never met by chance: rounding stays far below it."""
    for state in random_states(VirtualWeightsExplorer, 60, seed=4):
        panel._restore(f"{state};alone=0")
        study = module.study_interface(panel._read())
        assert max(part.change for part in (*study.virtual, study.outputs)) < 1e-11, state


@pytest.mark.parametrize("name", FIRST + MORE)
def test_every_control_changes_the_picture(panel, name):
    panel.state = "layers=3;lost=yes"
    pictures = []
    for value in ends(panel.controls[name]):
        panel.controls[name].value = value
        pictures.append(plain(panel.figure))
    assert pictures[0] != pictures[1]


@pytest.mark.parametrize("state", BAD_STATES)
def test_a_bad_state_is_refused_and_changes_nothing(panel, state):
    before = shown(panel)
    with pytest.raises(ValueError):
        panel.state = state
    assert shown(panel) == before


def test_a_slider_beside_zero_is_zero(panel):
    """A slider of step 0.05 gives 5e-17 where it says 0."""
    panel.controls["along"].value = 5e-17
    panel.controls["alone"].value = -5e-17
    assert set(bars(panel.figure).values()) == {0.0}


def test_a_figure_that_was_half_drawn_is_made_whole_again(panel, monkeypatch):
    before, set_changes, calls = plain(panel.figure), parts._set_changes, []

    def fails_on_the_way(target, old, new):
        calls.append(target)
        if len(calls) == 9:
            raise RuntimeError("the ninth change went wrong")
        set_changes(target, old, new)

    with monkeypatch.context() as bad:
        bad.setattr(parts, "_set_changes", fails_on_the_way)
        panel.controls["layers"].value = 4
        assert "the ninth change went wrong" in panel.status
    panel.controls["layers"].value = 3
    panel.reset()
    assert panel.status.startswith("done") and plain(panel.figure) == before


def test_only_shows_these_controls_and_no_others():
    one = VirtualWeightsExplorer(only=["along", "lost"])
    assert [n for n, c in one.controls.items() if c.layout.display != "none"] == ["along", "lost"]
    one.close()
    with pytest.raises(ValueError, match="layers, width, interface"):
        VirtualWeightsExplorer(only=["depth"])


@pytest.mark.parametrize("size", ["notebook", "lecture"])
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_panel_opens_in_every_theme(size, mode):
    with theme.using({"mode": mode, "size": size}):
        one = VirtualWeightsExplorer(state="layers=4")
        assert one.status.startswith("done")
        assert theme.color("focus") in json.dumps(plain(one.figure))
        one.close()


def test_numbers_are_written_as_people_write_them():
    assert words.signed(0.35) == "0.35" and words.signed(-20.0) == "−20" and words.signed(10.0) == "10"
    assert words.numbered("M", 4) == "M₄" and words.percent(1.0) == "100 %"
