"""The formulas of networks with heads, skips, masks and blocks: Transformer → Expected.

A formula answers under its own name only where its hypotheses hold. Nothing here
measures anything; `docs/mathematics/index.md` lists the statements and the proofs.
"""

from dataclasses import replace

from neuroviz.attention import Architecture, formulas
from neuroviz.attention.expected import Expected, alpha
from neuroviz.attention.formulas import general_formula
from neuroviz_beyond.transformers.block import Block
from neuroviz_beyond.transformers.block_formulas import (
    block_formula,
    no_formula,
    observed,
    one_lightning_layer,
    softmax_of_any_widths,
    visible_count,
)
from neuroviz_beyond.transformers.transformer import Transformer, as_transformer


def expected_dimension(net: Transformer | Architecture) -> Expected:
    """The dimension that theory predicts: the paper's formula where it applies, else
    the general one.

    One layer    lightning α(a, d) + dd′ − 1 (Cor. 3.3)
                 softmax α(a, d) + dd′ (Thm. 3.9)
    Bottleneck   lightning δ(d₀ + d_l − δ) + Σ α(a_i, d_{i−1}) − l (Cor. 3.8, Eq. 14)
                 softmax without the −l (Eq. 16: Conjecture 3.10 of the paper, proved
                 here as Corollary A)
    Otherwise    `general_formula`, and the note names the hypothesis that fails

    Several heads, skips or a mask, with α_i = α(a_i, d_{i−1}) and t ≥ 2 ("Theorem E",
    "Theorem A′", "Theorem W", "Theorem K", "Theorem S", "Beyond the paper"):

        softmax     width d: Σ H_i (α_i + d²), less (l − 1) d² without skips
                    one layer: H (α + d d′)
                    one head, masked: D of Lemma D
                    heads, any widths, t ≥ 3: `softmax_of_any_widths`
        lightning   one head, masked: D − l
                    skips, width d, H v ≥ d: the sum of the layers, one by one
                    one layer: H (α + d d′) − m, m = H max(1, H − (d − a)₊²), for
                    H ≤ d′; at most d′ d² (d + 1)/2
                    width d ≥ 2, all H_i ≤ d, no collapse:
                    Σ (H_i (α_i + d²) − m_i) − (l − 1) d²

    With one token a mask does nothing, and softmax is linear. The formulas for several
    lightning heads are observed, not proved: their notes give the grid. Where nothing
    is known the value is None.

    >>> expected_dimension(Architecture((10, 10, 10), (2, 2))).value
    170
    >>> expected_dimension(Transformer((4, 4), (2,), heads=3, skip=True)).status
    'observed'
    """
    arch = as_transformer("expected_dimension", net)
    # layers do not interact
    block = arch.block
    apart = arch.skip or arch.num_layers == 1
    if (
        block.value_dim
        and block == Block(block.value_dim)
        and arch.attention == "lightning"
    ):
        if apart and arch.tokens > 1:
            return _layer_by_layer(arch)
    if not block.is_plain:
        return block_formula(arch)
    if arch.is_plain:
        return formulas.expected_dimension(arch.paper)
    if arch.tokens == 1:
        if arch.attention == "softmax" or replace(arch, causal=False).is_plain:
            return general_formula(arch.paper)
        return no_formula("several heads or skips on a single token")
    return (_softmax_variant if arch.attention == "softmax" else _lightning_variant)(
        arch
    )


def _softmax_variant(arch: Transformer) -> Expected:
    d = arch.widths
    value = visible_count(arch)
    source = "Theorem E"
    shared = (arch.num_layers - 1) * d[0] ** 2
    if arch.skip:
        value += shared
        note = (
            "a skip fixes the bases between layers: nothing but the bases of the heads"
            " is lost"
        )
    elif arch.num_layers == 1:
        note = "one layer: nothing but the bases of the heads is lost"
    elif set(arch.heads) == {1}:  # one head each, so the mask is what is special
        source = "Theorem A′"
        note = (
            "a mask changes nothing that can be seen: the D of the same network"
            " without it"
        )
    elif len(set(d)) == 1:
        note = f"(l − 1) d² = {shared} for the bases between layers; heads do not mix"
    else:
        return softmax_of_any_widths(arch)
    return Expected(value, "proved here", source, note)


def _lightning_variant(arch: Transformer) -> Expected:
    d = arch.widths[0]
    depth = arch.num_layers
    if arch.skip or depth == 1:  # a mask does not change the dimension of one layer
        return _layer_by_layer(arch)
    if set(arch.heads) == {1}:
        note = "masked: one rescaling a layer, and no rank-one collapse"
        return Expected(visible_count(arch) - depth, "proved here", "Theorem K", note)
    if arch.causal:
        return no_formula("several lightning heads with a mask, in more than one layer")
    if len(set(arch.widths)) > 1 or max(arch.heads) > d:
        return no_formula(
            "several lightning heads in deep networks, unless all widths are d ≥ 2 and"
            " H ≤ d"
        )
    layers = tuple(zip(arch.heads, arch.head_dims, strict=True))
    if any(H == min(a, d) == 1 for H, a in layers[:-1]):
        return no_formula(
            "several lightning heads after a layer of one head of rank one"
        )
    # H heads have H rescalings, and from H > (d − a)² + 1 on they blend.
    value = sum(
        H * (alpha(a, d) + d * d - max(1, H - max(0, d - a) ** 2)) for H, a in layers
    )
    return observed(
        value - (depth - 1) * d * d,
        "deep, of one width, H ≤ d (150 networks, none different)",
    )


def _layer_by_layer(arch: Transformer) -> Expected:
    """Theorem S: with skips the dimension is the sum of those of the layers, each
    alone."""
    d = arch.widths[0]
    v = arch.block.value_dim
    if arch.num_layers > 1 and v and min(arch.heads[:-1]) * v < d:
        return no_formula("lightning with skips and values that do not fill the width")
    layers = [
        one_lightning_layer(H, layer, v)
        for H, layer in zip(arch.heads, arch.layers, strict=True)
    ]
    worst = next((one for one in layers if one.value is None), layers[0])
    if worst.value is None or len(layers) == 1:
        return worst
    value = sum(one.value for one in layers)
    open_ = [one for one in layers if one.status == "observed"]
    if open_:
        note = f"with skips the layers add up; {open_[0].note}, each layer"
        return Expected(value, "observed", "Theorem S, Beyond the paper", note)
    return Expected(
        value,
        "proved here",
        "Theorem S",
        "with skips the layers add up; one rescaling a layer",
    )
