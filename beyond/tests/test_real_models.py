"""Real models: the table, what is lost inside a layer whatever stands around it, and
the small networks."""

from dataclasses import replace
from itertools import product

import pytest
import torch
from torch.func import jacrev, vmap

from neuroviz.kit.measured import measure_dimension
from neuroviz_beyond.transformers.block_formulas import (
    known_redundancies,
    what_is_missing,
)
from neuroviz_beyond.transformers.formulas import expected_dimension
from neuroviz_beyond.transformers.real_models import MODELS, SYMMETRIES, real_model

NUMBERS = {  # of beyond/docs/real_models.md: weights, dimension
    "GPT-2 small": (28_348_416, 27_150_336),
    "GPT-2 XL": (491_827_200, 481_843_200),
    "LLaMA-7B": (2_147_483_648, 2_130_575_360),
    "Llama-3-8B": (1_342_177_280, 1_337_950_208),
}
KINDS = (
    "GPT-2 small",
    "BERT-base",
    "StarCoder 15.5B",
    "LLaMA-7B",
    "Llama-3-8B",
    "Gemma-7B",
    "Falcon-7B",
)


def test_the_numbers_of_the_table_in_the_docs_come_out():
    found = {
        name: (real_model(name).parameters, real_model(name).dimension)
        for name in NUMBERS
    }
    assert found == NUMBERS


def test_the_count_is_that_of_the_shapes_and_has_a_formula_and_a_source():
    for model in MODELS:
        d = model.width
        H = model.heads
        G = model.kv_heads
        a = model.head_dim
        biases = (H + 2 * G) * a + d if model.biases else 0
        assert model.parameters == model.layers * (
            2 * H * a * d + 2 * G * a * d + biases
        )
        lost = (
            G * (a if model.rotary else a * a)
            + G * a * a
            + (2 * G * a if model.biases else 0)
        )
        assert sum(model.redundant.values()) == model.layers * lost
        assert set(model.redundant) <= set(SYMMETRIES)
        assert what_is_missing(model.architecture()) is None
        assert "20" in model.source and (
            "arXiv" in model.source or "released weights" in model.source
        )
    assert len({model.name for model in MODELS}) == len(MODELS) == 19


def test_a_theorem_proves_the_stack_of_every_model_whose_mask_a_block_has():
    for model in MODELS:
        found = expected_dimension(model.architecture())
        assert found.status == "proved here"
        narrow = model.name in ("GPT-3 175B", "Mistral-7B")
        assert model.theorem == ("" if narrow else found.source)
        assert found.source == ("Theorem R" if model.rotary else "Theorem H")
        # a stack also lets shifts pass, if it has biases
        shifts = (model.layers - 1) * model.width * model.biases
        assert found.value == model.dimension - shifts


# What stands around the layers


def _norm(kind, x, gain, shift):
    if kind == "none":
        return x
    if kind == "LayerNorm":
        x = x - x.mean(-1, keepdim=True)
    x = gain * x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-5)
    return x + shift if kind == "LayerNorm" else x


def _lost_in_floating_point(kind, biases, layers=2, d=4, H=2, G=1, a=2):
    """Silent directions of the attention weights in a small transformer with norms and
    MLPs.

    Masked; tokens are rows here. The norms' and the MLPs' weights are fixed.
    """
    draw = torch.Generator().manual_seed(1)

    def random(*shape):
        return torch.randn(*shape, generator=draw, dtype=torch.float64)

    shapes = {}
    for i in range(layers):
        for h in range(H):
            shapes |= {(i, "Q", h): (d, a), (i, "O", h): (a, d)} | (
                {(i, "q", h): (a,)} if biases else {}
            )
        for g in range(G):
            shapes |= {(i, "K", g): (d, a), (i, "V", g): (d, a)}
            shapes |= {(i, "k", g): (a,), (i, "v", g): (a,)} if biases else {}
        shapes |= {(i, "o", 0): (d,)} if biases else {}
    sizes = [torch.Size(shape).numel() for shape in shapes.values()]
    fixed = [(0.5 + random(d) ** 2, random(d)) for _ in range(2 * layers + 1)]
    mlps = [(random(d, 2 * d) / 2, random(2 * d, d) / 2) for _ in range(layers)]
    future = torch.triu(torch.ones(4, 4, dtype=torch.bool), 1)

    def run(flat, x):
        parts = zip(shapes, flat.split(sizes), strict=True)
        w = {name: part.reshape(shapes[name]) for name, part in parts}
        for i in range(layers):
            y = _norm(kind, x, *fixed[2 * i])
            out = 0
            for h in range(H):
                g = h * G // H
                q, k, v = (
                    y @ w[i, n, j] + w.get((i, n.lower(), j), 0)
                    for n, j in zip("QKV", (h, g, g), strict=True)
                )
                S = (q @ k.T).masked_fill(future, -torch.inf).softmax(-1)
                out = out + S @ v @ w[i, "O", h]
            x = x + out + w.get((i, "o", 0), 0)
            x = (
                x
                + torch.tanh(_norm(kind, x, *fixed[2 * i + 1]) @ mlps[i][0] + 0.3)
                @ mlps[i][1]
            )
        return _norm(kind, x, *fixed[-1])

    flat = 0.8 * random(sum(sizes))
    X = random(60, 4, d)
    J = vmap(lambda x: jacrev(lambda f: run(f, x))(flat))(X).reshape(-1, len(flat))
    values = torch.linalg.svdvals(J / J.norm(dim=1, keepdim=True))
    kept = int((values > 1e-11 * values[0]).sum())
    assert values[kept - 1] > 1e5 * values[kept:].sum()  # a clear gap
    return len(flat) - kept


def _small(biases):
    """The model that `_lost_in_floating_point` is, as one of the table."""
    sizes = {"layers": 2, "width": 4, "heads": 2, "kv_heads": 1, "head_dim": 2}
    return replace(real_model("StarCoder 15.5B"), **sizes, biases=biases)


def test_with_rms_norms_and_mlps_exactly_the_symmetries_inside_the_layers_are_lost():
    for biases in (False, True):
        model = _small(biases)
        assert (
            _lost_in_floating_point("RMSNorm", biases)
            == model.parameters - model.dimension
        )


def test_layer_norms_hide_more_and_this_is_how_many():
    """l(2(H + G)a + 1), for l = 2, H = 2, G = 1, a = 2."""
    model = _small(True)
    lost = _lost_in_floating_point("LayerNorm", True)
    assert lost == model.parameters - model.dimension + 2 * (2 * 3 * 2 + 1)


# Small networks, measured


def small_networks(model, widest):
    """Those of the model's kind and proportions: head dimensions 2, 4, 8, and widths up
    to this one."""
    found = []
    for a, heads in product((2, 4, 8), range(1, min(model.heads, 2 * widest) + 1)):
        width, rest = divmod(model.width * heads * a, model.heads * model.head_dim)
        sharing = min(model.heads // model.kv_heads, heads)
        if not rest and a <= width <= widest and not heads % sharing:
            sizes = {
                "width": width,
                "heads": heads,
                "kv_heads": heads // sharing,
                "head_dim": a,
            }
            found.append(replace(model, layers=1, **sizes).architecture())
    assert found
    return found


@pytest.mark.parametrize("name", KINDS)
def test_the_formula_is_right_on_small_networks_of_every_kind(name):
    for arch in small_networks(real_model(name), widest=6):
        assert measure_dimension(arch).kernel == sum(
            known_redundancies(arch).values()
        ), arch


def test_an_unknown_model_is_refused():
    with pytest.raises(ValueError, match="a model is one of GPT-2 small"):
        real_model("GPT-2 tiny")
