"""The panel that attacks: what it draws is what the search found, and it says no more than that."""

from dataclasses import replace

import numpy as np
import pytest
from panels import PATIENCE, bare, headlines, said, texts, title, trace

from neuroviz.beyond.search.cases import CASES, KIND_KEYS, SearchSetting, study_search
from neuroviz.beyond.search.equivalent_weights import SWAPPED, UNEXPLAINED
from neuroviz.beyond.search.figure import search_parts
from neuroviz.beyond.search.initial_guesses import KINDS
from neuroviz.beyond.search.panel import SearchExplorer
from neuroviz.beyond.search.search import VERIFIED
from neuroviz.kit.plot import make

_STUDIES = {}


def study(case="rank-one", starts=16, kind="all", seed=0):
    key = case, starts, kind, seed
    if key not in _STUDIES:
        _STUDIES[key] = study_search(SearchSetting(*key))
    return _STUDIES[key]


def test_every_start_is_a_dot_where_it_ended():
    answer = study("lightning-221", 24)
    figure, search = make(search_parts(answer)), answer.search
    dots = [t for t in figure.data if t.type == "scatter" and t.name != "points of the fibre"]
    drawn = {t.name: len(t.x) for t in dots}
    assert sum(drawn.values()) == 24 and drawn["no solution"] == 24 - search.verified
    others = trace(figure, "other solutions")
    wanted = [
        o for o in search.outcomes if o.point is not None and search.classes[o.point].symmetry == SWAPPED
    ]
    np.testing.assert_allclose(others.x, [o.distance for o in wanted])
    assert len(trace(figure, "points of the fibre").x) == 2
    for name in ("other solutions", "the given weights again"):
        assert max(trace(figure, name).y) <= VERIFIED
    (wash,) = [shape for shape in figure.layout.shapes if shape.layer == "below"]
    assert wash.y1 == VERIFIED


@pytest.mark.parametrize("case", ["rank-one", "softmax-turn", "lightning-331"])
def test_the_bars_count_every_start_once_by_its_kind_and_its_end(case):
    answer = study(case)
    bars = [t for t in make(search_parts(answer)).data if t.type == "bar"]
    by_kind = np.array([bar.x for bar in bars]).sum(axis=0)
    assert list(by_kind) == [sum(o.kind == kind for o in answer.search.outcomes) for kind in KINDS]
    nowhere = next(bar for bar in bars if bar.name == "nowhere")
    assert sum(nowhere.x) == 16 - answer.search.verified


def test_the_headlines_say_what_was_found():
    assert headlines(make(search_parts(study())))[0] == "2 points: given +  values and keys swapped"
    assert "came back" in headlines(make(search_parts(study("softmax-1", 4))))[0]
    assert headlines(make(search_parts(study("softmax-turn", 4))))[0].startswith("a continuum")
    nothing = make(search_parts(study("lightning-331", 3, "transposes")))
    assert headlines(nothing)[0] == "nothing converged: no information"
    assert any("no weights found" in bare(t) for t in texts(nothing))


def test_a_point_that_nothing_explains_is_shown_and_said():
    answer = study()
    strange = [
        replace(p, symmetry=UNEXPLAINED) if p.symmetry == SWAPPED else p for p in answer.search.classes
    ]
    wrong = replace(answer, search=replace(answer.search, classes=tuple(strange)))
    assert "unexplained" in headlines(make(search_parts(wrong)))[0]
    third = replace(answer, search=replace(answer.search, classes=(*answer.search.classes, strange[-1])))
    assert "They DISAGREE" in SearchExplorer()._describe(third)
    assert "DISAGREE" not in SearchExplorer()._describe(answer)


def test_both_sets_of_weights_are_drawn_and_they_differ():
    figure = make(search_parts(study()))
    tiles = {t.name: np.array(t.z, dtype=float) for t in figure.data if t.type == "heatmap" and t.name}
    assert set(tiles) == {"L, given", "M₁, given", "L, other", "M₁, other"}
    assert np.abs(tiles["M₁, given"] - tiles["M₁, other"]).max() > 0.05
    target = study().search.target.M[0]
    np.testing.assert_allclose(tiles["M₁, given"], target / np.linalg.norm(target), atol=1e-12)
    single = make(search_parts(study("softmax-1", 4)))
    assert not any(t.name.endswith("other") for t in single.data if t.type == "heatmap")


@pytest.mark.parametrize("case", CASES)
def test_every_case_is_drawn_and_described_without_error(case):
    answer = study(case, 4)
    figure = make(search_parts(answer))
    panel = SearchExplorer()
    assert panel._describe(answer).count(". ") <= 6 and answer.case.known in panel._describe(answer)
    assert answer.case.source in panel._badge(answer)
    assert not any("$" in t for t in said(figure))


@pytest.mark.parametrize("kind", KIND_KEYS)
def test_every_kind_of_start_alone_is_a_search(kind):
    panel = SearchExplorer(state=f"case=rank-one;starts=10;kind={kind}")
    assert panel.status.startswith("done")
    shown = {o.kind for o in panel._shown.search.outcomes}
    assert shown == (set(KINDS) if kind == "all" else set(KIND_KEYS[kind]))


def test_a_long_search_runs_behind_can_be_cancelled_and_leaves_the_last_picture():
    panel = SearchExplorer()
    before = panel.description
    panel.state = "case=softmax-2;starts=200"
    assert panel.status.startswith("working")
    panel.cancel()
    assert panel.status.startswith("cancelled") and panel.description == before
    panel.state = "case=lightning-turn;starts=20"
    assert panel.wait(PATIENCE) and panel.status.startswith("done")
    assert "layers swapped" in panel.description
    panel.close()


def test_a_state_comes_back_and_its_setting_is_the_search_that_is_shown():
    panel = SearchExplorer(state="case=rank-one;starts=20;kind=random;seed=3")
    other = SearchExplorer(state=panel.state)
    assert other.description == panel.description and other.state == panel.state
    assert panel.setting == SearchSetting("rank-one", 20, "random", 3)
    assert study_search(panel.setting).search.note in panel.description


def test_a_bad_state_leaves_the_panel_as_it_was():
    panel = SearchExplorer()
    before = panel.state
    for wrong in ("case=gpt", "starts=5", "kind=lucky", "seed=-1"):
        with pytest.raises(ValueError):
            panel.state = wrong
    assert panel.state == before


def test_the_words_say_what_a_search_can_and_cannot_do():
    panel = SearchExplorer()
    assert (
        "2 classes modulo rescaling" in panel.description and "values and keys swapped" in panel.description
    )
    assert "Theorem 3.2" in title(panel) and "floating point" in title(panel)
    assert "cannot prove it" in panel._describe(study("softmax-1", 4))
    assert "cannot prove it" not in panel.description
    assert "no information" in panel._describe(study("lightning-331", 3, "transposes"))
    few = study("rank-one", 3, "near")
    assert "These starts did not find all" in panel._describe(few)


def test_a_long_search_says_how_far_it_is_and_ends_with_the_same_answer():
    panel = SearchExplorer()
    heard = []
    set_status = panel._set_status
    panel._set_status = lambda text: (heard.append(text), set_status(text))
    panel.state = "case=softmax-2;starts=10"
    assert panel.wait(PATIENCE) and panel.status.startswith("done")
    steps = [text for text in heard if "of 10 starts" in text]
    assert len(steps) == 10 and steps[-1].startswith("working … 10 of 10 starts, ")
    assert panel._shown.search.note == study_search(panel.setting).search.note
    panel.close()
