"""The panel of real models: nineteen bars, which are the counts of the shapes, and a
caveat beside them."""

import pytest
from panels import headlines, title, trace

from neuroviz.kit.words import grouped
from neuroviz_beyond.transformers.formulas import expected_dimension
from neuroviz_beyond.transformers.real_models import (
    CAVEAT,
    MODELS,
    PARTS,
    RealModelsExplorer,
    real_model,
)

PANEL = RealModelsExplorer


def by_hand(model, parts):
    """Which share of the directions is silent, from the shape alone."""
    d = model.width
    H = model.heads
    G = model.kv_heads
    a = model.head_dim
    weights = 2 * (H + G) * a * d + ((H + 2 * G) * a + d if model.biases else 0)
    keys = G * (a if model.rotary else a * a)
    values = G * a * a
    biases = 2 * G * a * model.biases
    return {
        "all": keys + values + biases,
        "keys": keys,
        "values": values,
        "biases": biases,
    }[parts] / weights


def names_of(panel):
    """The models, from the longest bar on."""
    return [name.strip() for name in trace(panel.figure, "models").text]


@pytest.mark.parametrize("parts", PARTS)
def test_the_bars_are_the_symmetries_of_the_models_and_add_up(panel, parts):
    panel.state = f"parts={parts}"
    bars = [t for t in panel.figure.data if t.type == "bar"]
    lengths = [sum(bar.x[i] for bar in bars) for i in range(len(MODELS))]
    models = [real_model(name) for name in names_of(panel)]
    assert lengths == pytest.approx([by_hand(model, parts) for model in models])
    assert lengths == sorted(lengths, reverse=True) and len({*models}) == 19
    assert {bar.name for bar in bars if any(bar.x)} == set(PARTS[parts])
    assert list(trace(panel.figure, "what it comes to").x) == pytest.approx(lengths)


def test_the_words_are_the_numbers_of_the_models(panel):
    panel.state = "parts=all"
    assert trace(panel.figure, "what it comes to").text[0] == " 4.2 %"
    assert (
        "rotary, 71 queries a key" in trace(panel.figure, "what it comes to").text[-1]
    )
    assert "0.0099 % (Falcon-7B) to 4.2 % (GPT-2 small)" in panel.description
    panel.state = "parts=keys"
    assert headlines(panel.figure)[0] == "rotary positions leave a of a²"


def test_each_bar_says_what_proves_the_stack_of_its_model(panel):
    panel.state = "parts=all"
    bars = trace(panel.figure, "bases of values and outputs").customdata
    said = dict(zip(names_of(panel), bars, strict=True))
    stack = "its stack without norms and MLPs"
    assert f"{stack}: Theorem R, proved here" in said["Llama-3-8B"]
    shifts = f"{stack}, with {grouped(8448)} shifts more"
    assert f"{shifts}: Theorem H, proved here" in said["GPT-2 small"]
    gpt2 = real_model("GPT-2 small")
    lost = sum(gpt2.redundant.values()) + gpt2.shifts
    proved = expected_dimension(gpt2.architecture()).value
    assert lost == gpt2.parameters - proved
    for name in ("Mistral-7B", "GPT-3 175B"):
        assert "no theorem is about its mask" in said[name]
        assert "proved" not in said[name]


def test_the_caveat_is_always_visible(panel):
    for parts in PARTS:
        panel.state = f"parts={parts}"
        assert CAVEAT in panel.description and CAVEAT in title(panel)
        assert "observed" in title(panel) and "extrapolated" in title(panel)
