"""The panel of real models: what is measured is on the left of the wash, and everything else says so."""

from dataclasses import replace
from math import log10

import pytest
from panels import PATIENCE, ends, headlines, plain, random_states, said, texts, title, trace

from neuroviz.beyond.transformers.real_models import MODELS, real_model
from neuroviz.beyond.transformers.real_models_figure import real_model_parts
from neuroviz.beyond.transformers.real_models_panel import CAVEAT, RealModelsExplorer
from neuroviz.beyond.transformers.real_models_study import PARTS, ModelSetting, study_real_model
from neuroviz.kit import theme
from neuroviz.kit.plot import make, redraw


def study(model="GPT-2 small", **more):
    return study_real_model(ModelSetting(model, **{"widest": 4} | more))


def open_panel(state="widest=4"):
    panel = RealModelsExplorer(state=state)
    assert panel.wait(PATIENCE)
    return panel


def test_filled_marks_are_measurements_and_hollow_ones_the_formula():
    found = study()
    figure = make(real_model_parts(found))
    measured = trace(figure, "measured")
    assert list(measured.x) == [2, 4, 4]
    assert list(measured.y) == [b.measured.kernel / b.measured.num_columns for b in found.blocks]
    assert not measured.marker.symbol.endswith("open")
    assert trace(figure, "formula").marker.symbol.endswith("open")
    assert trace(figure, "extrapolated").marker.symbol.endswith("open")


def test_a_measurement_that_is_off_moves_the_filled_mark_only_and_is_called_wrong():
    right = study()
    off = replace(right.blocks[0], measured=replace(right.blocks[0].measured, value=15))
    wrong = replace(right, blocks=(off, *right.blocks[1:]))
    before, after = make(real_model_parts(right)), make(real_model_parts(wrong))
    assert trace(after, "measured").y != trace(before, "measured").y
    assert trace(after, "formula").y == trace(before, "formula").y
    assert "formula right on 3 of 3 small networks" in headlines(before)
    assert "formula WRONG on 1 of 3 small networks" in headlines(after)
    panel = open_panel()
    assert "It is WRONG on 1 of 3 small networks" in panel._describe(wrong)
    assert "1 ≠ formula" in panel._badge(wrong)
    panel.close()


@pytest.mark.parametrize("widest", [4, 6])
@pytest.mark.parametrize("base", ["share", "directions"])
@pytest.mark.parametrize("model", ["GPT-2 small", "Gemma-7B", "Falcon-7B"])
def test_nothing_that_was_measured_lies_in_the_wash_and_the_model_does(model, base, widest):
    figure = make(real_model_parts(study(model, base=base, widest=widest)))
    (wash,) = figure.layout.shapes
    assert max(trace(figure, "measured").x) < wash.x0 < trace(figure, "extrapolated").x[0] < wash.x1
    assert any("nothing was" in t for t in texts(figure))
    assert any("extrapolated" in t and model in t for t in texts(figure))


@pytest.mark.parametrize("base", ["share", "directions"])
@pytest.mark.parametrize("model", ["GPT-2 small", "GPT-3 175B", "Gemma-7B", "Llama-3-8B", "Falcon-7B"])
def test_every_mark_lies_on_the_axes(model, base):
    figure = make(real_model_parts(study(model, base=base)))
    (left, right), (low, high) = figure.layout.xaxis.range, figure.layout.yaxis.range
    for name in ("measured", "formula", "extrapolated"):
        one = trace(figure, name)
        assert all(left < log10(x) < right for x in one.x)
        assert all(low < log10(y) < high for y in one.y)


def test_the_bars_are_the_symmetries_of_the_models_and_add_up():
    found = study()
    figure = make(real_model_parts(found))
    bars = [t for t in figure.data if t.type == "bar"]
    for i, model in enumerate(found.ranking):
        assert sum(bar.x[i] for bar in bars) == pytest.approx(model.share)
    lengths = [sum(bar.x[i] for bar in bars) for i in range(len(MODELS))]
    assert lengths == sorted(lengths, reverse=True)


@pytest.mark.parametrize("parts", PARTS)
def test_only_the_symmetries_that_are_asked_for_have_bars(parts):
    figure = make(real_model_parts(study(parts=parts)))
    shown = {t.name for t in figure.data if t.type == "bar" and any(t.x)}
    assert shown == set(PARTS[parts])


def test_the_chosen_model_stands_out_among_the_others():
    figure = make(real_model_parts(study("Llama-3-8B")))
    (bold,) = [t for t in figure.layout.yaxis2.ticktext if "<b>" in t]
    assert "Llama-3-8B" in bold


@pytest.mark.parametrize("choice", [("light", "notebook"), ("dark", "lecture")])
def test_an_update_in_place_gives_the_same_figure(choice):
    with theme.using({"mode": choice[0], "size": choice[1]}):
        first = study()
        second = study("Gemma-7B", parts="values", base="directions", layers=2, widest=6)
        figure = make(real_model_parts(first))
        redraw(figure, real_model_parts(first), real_model_parts(second))
        assert plain(figure) == plain(make(real_model_parts(second)))
        redraw(figure, None, real_model_parts(first))
        assert plain(figure) == plain(make(real_model_parts(first)))


def test_every_control_goes_to_both_ends_without_an_error():
    panel = open_panel()
    for name, control in panel.controls.items():
        for value in ends(control):
            control.value = value
            assert panel.wait(PATIENCE)
            assert panel.status.startswith("done"), (name, value, panel.status)
        panel.reset()
        assert panel.wait(PATIENCE)
    panel.close()


def test_every_model_has_a_picture():
    panel = open_panel()
    for model in MODELS:
        panel.controls["model"].value = model.name
        assert panel.wait(PATIENCE) and panel.status.startswith("done"), (model.name, panel.status)
        assert panel.description.startswith(f"{model.name}: {model.layers} layers")
    panel.close()


def test_random_states_come_back():
    for state in random_states(RealModelsExplorer, 4, seed=0):
        small = ";".join(part for part in state.split(";") if not part.startswith(("widest", "layers")))
        panel = open_panel(f"{small};widest=4;layers=2")
        other = open_panel(panel.state)
        assert other.state == panel.state and other.description == panel.description
        panel.close(), other.close()


def test_the_caveat_is_always_visible():
    panel = open_panel()
    for name in ("GPT-2 small", "Gemma-7B", "Falcon-7B"):
        panel.controls["model"].value = name
        assert panel.wait(PATIENCE)
        assert CAVEAT in panel.description and CAVEAT in title(panel)
        assert "observed" in title(panel) and "extrapolated" in title(panel)
        assert "3 small networks mod 8 388 593" in title(panel) or name == "Gemma-7B"
    panel.close()


def test_the_words_are_the_numbers_of_the_model():
    panel = open_panel()
    assert "Of 28 348 416 attention weights" in panel.description
    assert "27 150 336 remain" in panel.description
    assert "8 448 shifts between layers" in panel.description
    assert f"{real_model('GPT-2 small').hidden_by_norm:,}".replace(",", " ") in panel.description
    panel.controls["model"].value = "LLaMA-7B"
    assert panel.wait(PATIENCE)
    assert "2 130 575 360 remain" in panel.description and "shifts" not in panel.description
    assert not any("$" in t for t in said(panel.figure))
    panel.close()


def test_small_work_is_done_at_once_and_large_work_in_the_background():
    panel = open_panel()
    assert not panel._is_slow(ModelSetting("GPT-2 small"))
    assert panel._is_slow(ModelSetting("GPT-2 small", layers=2))
    panel.close()
