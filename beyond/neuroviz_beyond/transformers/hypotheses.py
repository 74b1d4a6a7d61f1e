"""What the theorems about networks with heads, skips, masks and blocks ask of a
network, each with whether it holds."""

from collections.abc import Iterable

from neuroviz.attention.formulas import Hypothesis
from neuroviz.attention.sizes import in_short
from neuroviz_beyond.transformers.block import Block
from neuroviz_beyond.transformers.transformer import Transformer


def hypotheses_of(theorem: str, arch: Transformer) -> tuple[Hypothesis, ...]:
    """What a theorem asks, with the numbers of a network.

    Args:
        theorem: "Theorem E", H, K, M, N, R, S, W or A′, or "Thm. 3.2" of the paper.

    >>> arch = Transformer((3, 2, 3), (1, 2), heads=(1, 2))
    >>> for asked in hypotheses_of("Theorem N", arch):
    ...     print(asked.holds, asked.says)
    True lightning
    True nothing in the block but values and shared keys
    True no skips
    True t ≥ 2 (t = 3)
    True two layers or more (l = 2)
    True inner widths δ, with d₀ ≥ δ ≤ d_l (3→2→3)
    True G v ≥ δ in every layer
    True δ ≥ 2, or a mask (δ = 2)
    False a ≥ 2 or ⌊G/2⌋ v ≥ δ before the last layer, or a mask (it fails in layer 1)
    """
    return _ASKED[theorem](arch)


def theorem_m_of_each_layer(arch: Transformer) -> tuple[Hypothesis, ...]:
    """What Theorem M asks of the layers, each by itself, that Theorem N or S adds
    up."""
    few = []
    sharp = []
    for H, (d, d_out, a) in zip(arch.heads, arch.layers, strict=True):
        # Equations for each row and for each column of a blend: (7), (8) of Theorem M.
        v = min(arch.block.value_dim or d, d, d_out)
        p = max(0, d - a) ** 2
        q = (d - v) * (d_out - v)
        few.append(H <= min(d, d_out))
        sharp.append(min(p, q) <= 1 or max(p, q) >= H - 1)
    return (
        _kind(arch, "lightning"),
        _values_only(arch),
        _tokens(arch, 2),
        Hypothesis("heads that share nothing", arch.groups == arch.heads),
        _in_each("H ≤ min(d, d′)", few),
        _in_each("p ≤ 1, q ≤ 1, p ≥ H − 1 or q ≥ H − 1", sharp),
    )


def _theorem_m(arch: Transformer) -> tuple[Hypothesis, ...]:
    depth = arch.num_layers
    return (
        Hypothesis(f"one layer (l = {depth})", depth == 1),
        *theorem_m_of_each_layer(arch),
    )


def _theorem_n(arch: Transformer) -> tuple[Hypothesis, ...]:
    # One layer has no inner width, and fails "two layers or more" whatever δ is.
    inner = arch.widths[1:-1] or arch.widths[1:]
    delta = inner[0]
    v = arch.block.value_dim or delta
    groups = arch.groups
    is_filled = [G * v >= delta for G in groups]
    is_rich = [
        arch.causal or a >= 2 or G // 2 * v >= delta
        for G, a in zip(groups[:-1], arch.head_dims[:-1], strict=True)
    ]
    is_bottleneck = {*inner} == {delta} and delta <= min(arch.widths)
    rich = "a ≥ 2 or ⌊G/2⌋ v ≥ δ before the last layer, or a mask"
    return (
        _kind(arch, "lightning"),
        _values_only(arch),
        Hypothesis("no skips", not arch.skip),
        _tokens(arch, 2),
        Hypothesis(f"two layers or more (l = {arch.num_layers})", arch.num_layers > 1),
        Hypothesis(
            f"inner widths δ, with d₀ ≥ δ ≤ d_l ({in_short(arch.widths, '→')})",
            is_bottleneck,
        ),
        _in_layers("G v ≥ δ in every layer", is_filled),
        Hypothesis(f"δ ≥ 2, or a mask (δ = {delta})", arch.causal or delta > 1),
        _in_layers(rich, is_rich),
    )


def _theorem_s(arch: Transformer) -> tuple[Hypothesis, ...]:
    d = arch.widths[0]
    v = arch.block.value_dim or d
    is_filled = [G * v >= d for G in arch.groups[:-1]]
    return (
        Hypothesis(
            "lightning, with skips", arch.attention == "lightning" and arch.skip
        ),
        _values_only(arch),
        _tokens(arch, 2),
        _in_layers("G v ≥ d before the last layer", is_filled),
    )


def _theorem_k(arch: Transformer) -> tuple[Hypothesis, ...]:
    return (_kind(arch, "lightning"), *_one_masked_head(arch))


def _theorem_a_prime(arch: Transformer) -> tuple[Hypothesis, ...]:
    return (_kind(arch, "softmax"), *_one_masked_head(arch))


def _one_masked_head(arch: Transformer) -> tuple[Hypothesis, ...]:
    return (
        Hypothesis("a causal mask", arch.causal),
        _tokens(arch, 2),
        Hypothesis("one head a layer", set(arch.heads) == {1}),
        Hypothesis("no skips, and nothing in the block", _is_bare(arch)),
    )


def _theorem_e(arch: Transformer) -> tuple[Hypothesis, ...]:
    is_even = arch.skip or arch.num_layers == 1 or len(set(arch.widths)) == 1
    return (
        _kind(arch, "softmax"),
        _tokens(arch, 2),
        Hypothesis("nothing in the block", arch.block.is_plain),
        Hypothesis(
            f"skips, one layer, or equal widths ({in_short(arch.widths, '→')})", is_even
        ),
    )


def _theorem_w(arch: Transformer) -> tuple[Hypothesis, ...]:
    return (
        _kind(arch, "softmax"),
        _tokens(arch, 3),
        Hypothesis("no skips", not arch.skip),
        _values_only(arch),
    )


def _theorem_h(arch: Transformer) -> tuple[Hypothesis, ...]:
    block = arch.block
    delta = min(arch.widths)
    v = block.value_dim or delta
    is_alone = arch.skip or arch.num_layers == 1
    is_bottleneck = {*arch.widths[1:-1]} == {delta}
    is_filled = [is_alone or G * v >= delta for G in arch.groups]
    return (
        _kind(arch, "softmax"),
        _tokens(arch, 2),
        Hypothesis("no rotary or learned positions", not _has_positions(arch)),
        Hypothesis("no MLPs", block.mlp is None),
        Hypothesis(
            f"skips, one layer, or inner widths δ, the least "
            f"({in_short(arch.widths, '→')})",
            is_alone or is_bottleneck,
        ),
        _in_layers("skips, one layer, or G v ≥ δ in every layer", is_filled),
    )


def _theorem_r(arch: Transformer) -> tuple[Hypothesis, ...]:
    block = arch.block
    d = arch.widths[0]
    v = block.value_dim or d
    is_filled = [arch.skip or G * v >= d for G in arch.groups]
    is_pair = block.rotary and arch.causal and arch.tokens == 2
    found = (
        _kind(arch, "softmax"),
        _tokens(arch, 2),
        Hypothesis("rotary or learned positions", _has_positions(arch)),
        Hypothesis("no biases, no MLPs", not block.biases and block.mlp is None),
        Hypothesis(
            f"equal widths ({in_short(arch.widths, '→')})", len(set(arch.widths)) == 1
        ),
        _in_layers("a ≤ d in every layer", [a <= d for a in arch.head_dims]),
        Hypothesis(f"v ≤ d (v = {v}, d = {d})", v <= d),
        _in_layers("skips, or G v ≥ d in every layer", is_filled),
    )
    if not is_pair:
        return found
    narrow = [2 * a <= d + 1 for a in arch.head_dims]
    return (*found, _in_layers("two masked tokens: 2 a ≤ d + 1", narrow))


def _theorem_32(arch: Transformer) -> tuple[Hypothesis, ...]:
    return (
        _kind(arch, "lightning"),
        _tokens(arch, 2),
        Hypothesis("one layer", arch.num_layers == 1),
        Hypothesis("one head", set(arch.heads) == {1}),
    )


_ASKED = {
    "Thm. 3.2": _theorem_32,
    "Theorem A′": _theorem_a_prime,
    "Theorem E": _theorem_e,
    "Theorem H": _theorem_h,
    "Theorem K": _theorem_k,
    "Theorem M": _theorem_m,
    "Theorem N": _theorem_n,
    "Theorem R": _theorem_r,
    "Theorem S": _theorem_s,
    "Theorem W": _theorem_w,
}


def _kind(arch: Transformer, attention: str) -> Hypothesis:
    return Hypothesis(attention, arch.attention == attention)


def _values_only(arch: Transformer) -> Hypothesis:
    block = arch.block
    holds = block == Block(block.value_dim, block.kv_heads)
    return Hypothesis("nothing in the block but values and shared keys", holds)


def _tokens(arch: Transformer, least: int) -> Hypothesis:
    return Hypothesis(f"t ≥ {least} (t = {arch.tokens})", arch.tokens >= least)


def _in_each(says: str, holds: list[bool]) -> Hypothesis:
    """A hypothesis on every layer, where there may be one only."""
    if len(holds) == 1:
        return Hypothesis(says, holds[0])
    return _in_layers(f"{says} in every layer", holds)


def _in_layers(says: str, holds: Iterable[bool]) -> Hypothesis:
    """A hypothesis on each of some layers, the first of them layer 1."""
    failing = [i for i, fits in enumerate(holds, start=1) if not fits]
    if not failing:
        return Hypothesis(says, True)
    layers = "layer" if len(failing) == 1 else "layers"
    return Hypothesis(f"{says} (it fails in {layers} {in_short(failing)})", False)


def _is_bare(arch: Transformer) -> bool:
    return not arch.skip and arch.block.is_plain


def _has_positions(arch: Transformer) -> bool:
    return arch.block.rotary or arch.block.positions
