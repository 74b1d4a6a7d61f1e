"""The panel of Theorem 3.9: what it shows is what was read, and where nothing can be read it says so."""

from dataclasses import replace

import numpy as np
import pytest
from panels import bare, ends, headlines, texts, title, trace

from neuroviz.kit import theme
from neuroviz.kit.plot import make, redraw
from neuroviz.softmax.one_layer_figure import one_layer_parts
from neuroviz.softmax.one_layer_panel import OneLayerExplorer
from neuroviz.softmax.one_layer_study import STEPS, OneLayerSetting, study_one_layer

SETTINGS = [
    OneLayerSetting(),
    OneLayerSetting("one token", part=0.5, log_temperature=-1.0),
    OneLayerSetting("two tokens", width=4, out=4, tokens=5),
    OneLayerSetting("two tokens", tokens=1),
    OneLayerSetting("one token", size=0.0),
    OneLayerSetting("limit", log_temperature=1.0),
    OneLayerSetting("limit", size=0.0, tokens=2),
    OneLayerSetting("two tokens", fitted=False, log_temperature=-2.0, width=1, out=1),
]


@pytest.mark.parametrize("choice", [("light", "notebook"), ("dark", "lecture")])
def test_an_update_in_place_gives_the_same_figure(choice):
    with theme.using({"mode": choice[0], "size": choice[1]}):
        studies = [study_one_layer(setting) for setting in SETTINGS]
        figure, before = make(one_layer_parts(studies[-1])), studies[-1]
        for study in studies:
            redraw(figure, one_layer_parts(before), one_layer_parts(study))
            assert figure.to_dict() == make(one_layer_parts(study)).to_dict()
            before = study
        redraw(figure, None, one_layer_parts(studies[0]))
        assert figure.to_dict() == make(one_layer_parts(studies[0])).to_dict()


@pytest.mark.parametrize("step", STEPS)
def test_every_control_goes_to_both_ends_in_every_step(step):
    panel = OneLayerExplorer(state=f"step={step}")
    for name, control in panel.controls.items():
        before = control.value
        for value in (*ends(control), before):
            control.value = value
            assert panel.status.startswith("done"), (name, value, panel.status)


def test_headlines_say_what_is_known():
    panel = OneLayerExplorer()
    assert "V is known: 6 of 6 entries" in headlines(panel.figure)
    panel.state = "step=one token;part=0.5"
    assert "Sym A: 3 of 9 entries are known" in headlines(panel.figure)
    panel.state = "step=two tokens;part=1"
    assert "A is known: 9 of 9 entries" in headlines(panel.figure)
    panel.state = "step=limit"
    assert any(text.startswith("the rest falls as 1/τ²") for text in headlines(panel.figure))
    panel.state = "step=limit;tokens=2"
    assert any(text.startswith("the rest falls as 1/τ³") for text in headlines(panel.figure))


def test_what_cannot_be_read_is_said_and_not_drawn():
    panel = OneLayerExplorer(state="step=two tokens;size=0")
    assert "V = 0: no entry of A is seen" in headlines(panel.figure)
    assert "s · 0 = 0" not in panel.description and "0 = 0 holds for every F" in panel.description
    assert "■ proved · Thm. 3.9, V = 0" in title(panel)  # the theorem says that A is not determined
    assert len(trace(panel.figure, "not known").x) == 18  # Sym A and A
    panel.state = "step=one token;size=1;tokens=1"
    assert "t = 1: no entry of A is seen" in headlines(panel.figure)
    assert "A is invisible" in panel.description and "outside hypotheses" in title(panel)
    panel.state = "step=two tokens;tokens=2"
    assert "proved" in title(panel) and "outside" not in title(panel)
    assert len(trace(panel.figure, "not known").x or ()) == 0


def test_cells_show_what_was_read_and_not_the_truth():
    study = study_one_layer(OneLayerSetting("two tokens"))
    figure = make(one_layer_parts(replace(study, A=study.A + 5, V=study.V + 5)))
    drawn = np.array(trace(figure, "A, read").z, dtype=float)
    np.testing.assert_allclose(drawn, study.read.A)
    np.testing.assert_allclose(np.array(trace(figure, "true A").z, dtype=float), study.A + 5)


def test_the_number_mod_p_is_that_of_the_exact_walk():
    study = study_one_layer(OneLayerSetting("two tokens"))
    wrong = replace(study, exact=replace(study.exact, A=study.exact.A + 1))
    assert any("15 of 15 whole entries" in text for text in texts(make(one_layer_parts(study))))
    assert any("6 of 15 whole entries" in text for text in texts(make(one_layer_parts(wrong))))
    assert "15 of 15 mod 8 388 593" in title(OneLayerExplorer())


def test_the_equation_carries_the_numbers_of_the_probe():
    study = study_one_layer(OneLayerSetting("one token", part=0.1))
    lines = [bare(text) for text in texts(make(one_layer_parts(study)))]
    probe = study.probe
    assert f"s = {probe.attention[0]:.4g}" in lines
    assert f"E = 2s/(1 − s) = {probe.exponential:.4g}" in lines
    assert f"so A₁₁ = {study.A[0, 0]:.4f}".replace("-", "−").rstrip("0") in lines


def test_tokens_of_length_one_lose_entries_where_attention_is_sharp():
    panel = OneLayerExplorer(state="step=two tokens;width=4;tokens=5;log_temperature=-2;length=one")
    assert "rounding hides" in panel.description and "were read" in panel.description
    assert any("of 16 read, off by" in text for text in headlines(panel.figure))
    known = headlines(panel.figure)
    panel.controls["length"].value = "fitted"
    assert "A is known: 16 of 16 entries" in headlines(panel.figure)
    assert "A is known: 16 of 16 entries" not in known


def test_the_limit_draws_its_gaps_at_the_temperature_of_the_slider():
    panel = OneLayerExplorer(state="step=limit;log_temperature=2")
    here = trace(panel.figure, "here")
    assert set(here.x) == {100.0} and len(here.x) == 3
    limit = panel._shown.limit.here
    assert list(here.y) == [limit.rescaled_gap, limit.mean_gap, limit.first_gap]
    assert "slopes 1.00 and 2.00" in panel.description
    panel.state = "step=V"
    assert len(trace(panel.figure, "here").x or ()) == 0
    assert panel.figure.layout.xaxis5.visible is False


def test_the_limit_of_small_weights_is_described_where_rounding_takes_over_early():
    state = (
        "step=limit;part=0.345921;log_temperature=2;size=1.89381;length=one;width=1;head_dim=4;out=3;"
        "tokens=2;seed=1000000"
    )
    panel = OneLayerExplorer(state=state)
    assert panel.status == "done" and panel.state == state
    assert "slopes 1.00 and 3.00 (one more" in panel.description
    assert any(text.startswith("the rest falls as 1/τ³") for text in headlines(panel.figure))

    study = study_one_layer(OneLayerSetting("limit"))
    rounding = replace(study, limit=replace(study.limit, first_slope=None))
    assert "these gaps fall into rounding" in panel._describe(rounding)
    assert any("into rounding" in text for text in headlines(make(one_layer_parts(rounding))))


def test_the_limit_has_no_say_in_how_much_of_a_step_is_done():
    panel = OneLayerExplorer(state="step=limit")
    assert panel.controls["part"].disabled and panel.controls["length"].disabled
    panel.controls["step"].value = "V"
    assert not panel.controls["part"].disabled
