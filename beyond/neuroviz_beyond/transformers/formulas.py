"""The formulas of networks with heads, skips, masks and blocks: Transformer → Expected.

A formula answers under its own name only where its hypotheses hold. One layer of a deep
lightning network whose own dimension has no proved formula is measured, if that is
quick; nothing else is. `docs/mathematics/index.md` lists the statements and the proofs.
"""

from dataclasses import replace
from functools import lru_cache

from neuroviz.attention import Architecture, formulas
from neuroviz.attention.expected import Expected
from neuroviz.attention.formulas import general_formula
from neuroviz.rank.cost import is_quick
from neuroviz.rank.measure import measure_dimension
from neuroviz.rank.question import ask
from neuroviz_beyond.transformers.block import Block
from neuroviz_beyond.transformers.block_formulas import (
    block_formula,
    no_formula,
    one_lightning_layer,
    softmax_of_any_widths,
    visible_count,
)
from neuroviz_beyond.transformers.transformer import Transformer, as_transformer

CERTAINTY = ("no formula", "observed", "exact", "proved here", "proved")
"""The statuses of a formula, the least certain first."""


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
    "Theorem A′", "Theorem W", "Theorem R", "Theorem K", "Theorem S", "Theorem M",
    "Theorem N", "Beyond the paper"):

        softmax     width d: Σ H_i (α_i + d²), less (l − 1) d² without skips
                    one layer: H (α + d d′)
                    one head, masked: D of Lemma D
                    heads, any widths, t ≥ 3: `softmax_of_any_widths`
        lightning   one head, masked: D − l
                    one layer: D₁ = H (α + d d′) − m, m = H max(1, H − (d − a)₊²), for
                    H ≤ min(d, d′) (`one_lightning_layer`)
                    skips, width d, G v ≥ d before the last layer: Σ D_i, the layers
                    one by one
                    d₀ ≥ δ = d₁ = … = d_{l−1} ≤ d_l, G v ≥ δ, no collapse:
                    Σ D_i − (l − 1) δ²
                    one head a layer, v ≥ min(d, d′): as without a value_dim

    With one token a mask does nothing, and softmax is linear. Where a D_i has no proved
    formula that layer is measured by itself, if it is small; the note names each such
    layer, and the status is "exact". What is observed, not proved, has its grid in the
    note. Where nothing is known the value is None.

    >>> expected_dimension(Architecture((10, 10, 10), (2, 2))).value
    170
    >>> expected_dimension(Transformer((4, 4), (2,), heads=3, skip=True)).status
    'proved here'
    >>> found = expected_dimension(Transformer((2, 2, 2), (1, 1), heads=3))
    >>> found.value, found.status, found.source
    (20, 'exact', 'Theorem N, Exact rank')
    """
    arch = as_transformer("expected_dimension", net)
    block = arch.block
    if arch.is_plain:
        return formulas.expected_dimension(arch.paper)
    has_values_only = block == Block(value_dim=block.value_dim, kv_heads=block.kv_heads)
    if arch.attention == "lightning" and arch.tokens > 1 and has_values_only:
        return _lightning_variant(arch)
    if not block.is_plain:
        return block_formula(arch)
    if arch.tokens == 1:
        # The layers of a softmax are matrices [1 +] Σ V_h then, as those of the paper's
        # network are; and a mask hides nothing.
        if arch.attention == "softmax" or replace(arch, causal=False).is_plain:
            return general_formula(arch.paper)
        return no_formula("several heads or skips on a single token")
    return _softmax_variant(arch)


def _softmax_variant(arch: Transformer) -> Expected:
    """Of softmax with heads, a skip or a mask, an empty block, and t ≥ 2."""
    d = arch.widths
    value = visible_count(arch)
    source = "Theorem E"
    shared = (arch.num_layers - 1) * d[0] ** 2
    if arch.skip:
        # `visible_count` subtracts the bases between layers, which are no symmetry
        # here.
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
    """Of lightning with heads, a skip, a mask or ranks of values, and t ≥ 2."""
    if arch.num_layers == 1:  # a skip or a mask does not change what one layer shows
        return one_lightning_layer(arch.heads[0], arch.layers[0], arch.block)
    if arch.skip:
        d = arch.widths[0]
        v = arch.block.value_dim or d
        # Theorem S asks for G v ≥ d before the last layer only.
        if min(arch.groups[:-1]) * v < d:
            return no_formula(
                "lightning with skips and values that do not fill the width"
            )
        return _sum_of_layers(arch, "Theorem S", 0, "with skips the layers add up")
    if arch.block.is_plain and set(arch.heads) == {1}:  # so it is masked
        # D − l: under a mask a layer of rank one does not make the tokens parallel.
        note = "masked: one rescaling a layer, and no rank-one collapse"
        value = visible_count(arch) - arch.num_layers
        return Expected(value, "proved here", "Theorem K", note)
    if missing := what_theorem_n_lacks(arch):
        full = with_full_values(arch)
        return no_formula(missing) if full == arch else expected_dimension(full)
    shared = (arch.num_layers - 1) * arch.widths[1] ** 2
    note = f"the layers add up, less (l − 1) δ² = {shared} for the bases between them"
    return _sum_of_layers(arch, "Theorem N", shared, note)


def with_full_values(arch: Transformer) -> Transformer:
    """The network without a value_dim that has the same functions, where there is one
    head a layer and v ≥ min(d, d′): then V = O W is any matrix. Else the network.

    >>> print(with_full_values(Transformer((2, 3, 2), (2, 2), block=Block(2))))
    lightning 2→3→2, a = 2, 2, t = 3
    """
    block = arch.block
    has_values_only = block == Block(value_dim=block.value_dim, kv_heads=block.kv_heads)
    if block.is_plain or not has_values_only or set(arch.heads) != {1}:
        return arch
    if any(block.value_dim < min(d, d_out) for d, d_out, _ in arch.layers):
        return arch
    return replace(arch, block=Block())


def what_theorem_n_lacks(arch: Transformer) -> str | None:
    """Which networks Theorem N is not about, if this is one of them; None where its
    hypotheses hold.

    Of lightning without skips, l ≥ 2 and t ≥ 2, it asks for inner widths that are all
    δ, with d₀ ≥ δ ≤ d_l; for values that together fill them, G v ≥ δ; and without a
    mask for δ ≥ 2, and before the last layer for a ≥ 2 or ⌊G/2⌋ v ≥ δ.

    >>> what_theorem_n_lacks(Transformer((3, 2, 3), (1, 2), heads=2))
    >>> what_theorem_n_lacks(Transformer((3, 2, 3), (1, 2), heads=(1, 2)))
    'several lightning heads, with a single head of rank one before the last layer'
    """
    delta = arch.widths[1]
    v = arch.block.value_dim or delta
    groups = arch.groups
    heads = "several lightning heads"
    if set(arch.heads) == {1}:
        heads = "lightning layers of one head with values of a given rank"
    if {*arch.widths[1:-1]} != {delta} or delta > min(arch.widths):
        return (
            f"{heads} in deep networks, unless all inner widths are δ, with d₀ ≥ δ ≤"
            " d_l"
        )
    if min(groups) * v < delta:
        return "lightning without skips and values that do not fill the inner width"
    if arch.causal:
        return None
    if delta == 1:
        return f"{heads} on tokens that lie on a line"
    for G, a in zip(groups[:-1], arch.head_dims[:-1], strict=True):
        if a == 1 and G // 2 * v < delta:
            # v ≥ δ leaves ⌊G/2⌋ = 0 only: a single group.
            if v >= delta and arch.block.kv_heads is None:
                return f"{heads}, with a single head of rank one before the last layer"
            return (
                "lightning heads of rank one before the last layer, unless half of the"
                " values fill the inner width"
            )
    return None


def _sum_of_layers(arch: Transformer, theorem: str, shared: int, said: str) -> Expected:
    """Σ D_i less what is shared, with the right of the layer that is known least.

    Args:
        shared: (l − 1) δ² for the bases between layers, or 0 with skips.
        said: the note of the sum.
    """
    value = -shared
    layers = []
    for (H, layer), times in arch.distinct_layers.items():
        one = layer_alone(H, layer, arch.block)
        if one.value is None:
            return no_formula(
                f"{one.note.removeprefix('no formula is known for ')}: {theorem} adds"
                " up the layers, and this one is too large to be measured unasked"
            )
        value += times * one.value
        layers.append(one)
    weakest = min(layers, key=lambda one: CERTAINTY.index(one.status))
    if weakest.status in ("observed", "exact"):
        not_proved = [one.note for one in layers if one.status in ("observed", "exact")]
        note = "; ".join([said, *not_proved])
        return Expected(value, weakest.status, f"{theorem}, {weakest.source}", note)
    if any(one.source == "Theorem M" for one in layers):
        return Expected(value, "proved here", f"{theorem}, Theorem M", said)
    return Expected(value, "proved here", theorem, f"{said}; one rescaling a layer")


@lru_cache(maxsize=4096)
def layer_alone(H: int, layer: tuple[int, int, int], block: Block) -> Expected:
    """The dimension of one layer: by a proved formula, else measured if that is quick,
    else by a formula that agreed on a grid."""
    known = one_lightning_layer(H, layer, block)
    if known.status in ("proved", "proved here"):
        return known
    d, d_out, a = layer
    # Two tokens, no mask: the dimension of one layer depends on neither (Theorem M).
    alone = Transformer((d, d_out), (a,), 2, heads=H, block=block)
    if not is_quick(ask(alone)):
        return known
    found = measure_dimension(alone).value
    heads = "one head" if H == 1 else f"{H} heads"
    note = f"the layer {d}→{d_out} of {heads}, a = {a}, was measured by itself: {found}"
    return Expected(found, "exact", "Exact rank", note)
