"""The formulas for networks with heads, skips, masks and blocks, with a network's own
numbers put in."""

from neuroviz.attention.expected import Expected, alpha
from neuroviz.attention.in_numbers import sum_of
from neuroviz_beyond.transformers.block_formulas import (
    effective_widths,
    lost_directions,
    seen_of_an_mlp,
    seen_of_layers,
)
from neuroviz_beyond.transformers.formulas import layer_alone
from neuroviz_beyond.transformers.transformer import Transformer

Written = tuple[str, str]
"""A sum with numbers, and the same in letters."""


def formula_in_numbers(expected: Expected, arch: Transformer) -> Written:
    """The sum that a formula of `expected_dimension` computes.

    >>> from neuroviz_beyond.transformers.formulas import expected_dimension
    >>> arch = Transformer((3, 3, 3), (2, 2), heads=3)
    >>> formula_in_numbers(expected_dimension(arch), arch)[0]
    '45 + 45 − 9'
    """
    theorem = expected.source.split(",")[0]
    if theorem in ("Theorem N", "Theorem S"):
        return _layers_in_numbers(arch)
    if theorem in ("Theorem A′", "Theorem E", "Theorem K", "Theorem W"):
        return _seen_in_numbers(arch)
    if theorem in ("Theorem M", "Thm. 3.2"):
        return _one_layer_in_numbers(arch)
    if arch.attention == "softmax":
        return _lost_in_numbers(arch)
    if arch.block.mlp:
        return _mlps_in_numbers(arch)
    return _one_layer_in_numbers(arch)


def layers_in_numbers(arch: Transformer) -> str:
    """What each layer has by itself, and by which right."""
    said = []
    for (H, layer), times in arch.distinct_layers.items():
        d, d_out, a = layer
        one = layer_alone(H, layer, arch.block)
        heads = "1 head" if H == 1 else f"{H} heads"
        often = f"{times} times " if times > 1 else ""
        said.append(f"{often}{d}→{d_out}, {heads}, a = {a}: {one.value} ({one.source})")
    return "; ".join(said)


def _layers_in_numbers(arch: Transformer) -> Written:
    terms = [
        layer_alone(H, layer, arch.block).value
        for H, layer in zip(arch.heads, arch.layers, strict=True)
    ]
    said = sum_of(terms)
    if arch.skip:
        return said, "Σ Dᵢ, where Dᵢ is the dimension of layer i by itself"
    shared = [width**2 for width in arch.widths[1:-1]]
    letters = "Σ Dᵢ − (l − 1) δ², where Dᵢ is the dimension of layer i by itself"
    return f"{said} − {sum_of(shared, ' − ')}", letters


def _seen_in_numbers(arch: Transformer) -> Written:
    w = effective_widths(arch)
    said = sum_of([sum(terms) for terms in seen_of_layers(arch)])
    letters = "Σ H (wᵢ₋₁ wᵢ + α(a, wᵢ₋₁))"
    if not arch.block.is_plain:
        letters = "Σ G (values + keys and queries), as far as widths can be seen"
    inner = [width**2 for width in w[1:-1]]
    if inner and not arch.skip:
        said += f" − {sum_of(inner, ' − ')}"
        letters += " − Σ wᵢ²"
    if arch.attention == "lightning":
        said += f" − {arch.num_layers}"
        letters += " − l"
    seen = ", ".join(map(str, w[:8]))
    if len(w) > 8:
        seen = f"{seen}, …"
    return said, f"{letters}, for the widths w = {seen} that later layers can see"


def _one_layer_in_numbers(arch: Transformer) -> Written:
    (H,) = arch.heads
    ((d, d_out, a),) = arch.layers
    v = min(arch.block.value_dim or d, d, d_out)
    keys = alpha(a, d)
    p = max(0, d - a) ** 2
    q = (d - v) * (d_out - v)
    if H == 1:
        said = f"{keys} + {v}·({d} + {d_out} − {v}) − 1"
        return said, "α(a, d) + v (d + d′ − v) − 1, the rescaling"
    lost = f"max({H}, {H}·{H} − {H}·{p} − {H}·{q})"
    said = f"{H}·{keys} + {H}·{v}·({d} + {d_out} − {v}) − {lost}"
    letters = (
        "H α(a, d) + H v (d + d′ − v) − max(H, H² − H p − H q), where "
        f"p = (d − a)₊² = {p} and q = (d − v)(d′ − v) = {q}"
    )
    if min(d, d_out) < H:
        said = f"min({said}, {d_out * d * d * (d + 1) // 2})"
        letters += ", but at most d′ d² (d + 1)/2"
    return said, letters


def _lost_in_numbers(arch: Transformer) -> Written:
    lost = lost_directions(arch)
    said = " − ".join(map(str, [arch.num_parameters, *lost.values()]))
    names = ", ".join(f"{name} {count}" for name, count in lost.items())
    return said, f"parameters, less {names or 'nothing'}"


def _mlps_in_numbers(arch: Transformer) -> Written:
    d = arch.widths[0]
    layers = sum_of([alpha(a, d) + d * d - 1 for a in arch.head_dims])
    between = seen_of_an_mlp(d, *arch.block.mlp)
    depth = arch.num_layers
    said = f"{layers} + {depth - 1}·({between} − 2·{d * d})"
    letters = "Σ (α(a, d) + d² − 1) + (l − 1)(μ − 2 d²), where an MLP has μ dimensions"
    return said, letters
