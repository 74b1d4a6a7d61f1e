"""Closed formulas for the dimension of the neuromanifold: Architecture → Expected.

A formula answers under its own name only where its hypotheses hold. Elsewhere it says which
hypothesis fails, and `expected_dimension` answers with the general formula, which has none.
Nothing here measures anything; `docs/mathematics.md` has the statements and the proofs.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate

from neuroviz.engine.architecture import Architecture, check_architecture, in_short
from neuroviz.engine.block import Block
from neuroviz.engine.block_formulas import known_redundancies, seen_of_an_mlp, what_is_missing
from neuroviz.engine.expected import Expected, alpha, sigma


def effective_widths(arch: Architecture) -> tuple[int, ...]:
    """w₀, …, w_l: how much of each width the later layers can see (Lemma D).

        r_i = min(d₀, …, d_i);   w_l = d_l;   w_{i−1} = min(r_{i−1}, w_i + 2 min(a_i, r_{i−1}));
        then w₀ := d₀.

    In a bottleneck (inner widths at most d₀ and d_l) these are the widths themselves.

    >>> effective_widths(Architecture((2, 4, 2), (2, 2)))
    (2, 2, 2)
    """
    check_architecture("effective_widths", arch)
    return _effective_widths(arch)


@lru_cache(maxsize=64)
def _effective_widths(arch: Architecture) -> tuple[int, ...]:
    d = arch.widths
    r = list(accumulate(d, min))
    w = list(d)
    for i in range(arch.num_layers, 0, -1):
        w[i - 1] = min(r[i - 1], w[i] + 2 * min(arch.head_dims[i - 1], r[i - 1]))
    w[0] = d[0]
    return tuple(w)


def collapsing_layer(arch: Architecture) -> int | None:
    """The first layer before the last whose A_i has rank one, as a number from 1; None if there is none.

    After it all tokens of a lightning network are parallel, and later layers see only the
    symmetric part of their A ("Rank-one collapse").

    >>> collapsing_layer(Architecture((3, 3, 3), (1, 2)))
    1
    """
    check_architecture("collapsing_layer", arch)
    w = effective_widths(arch)
    for i, a in enumerate(arch.head_dims[:-1], start=1):
        if min(a, w[i - 1]) == 1:
            return i
    return None


def _count(arch: Architecture, symmetric_after: int | None = None) -> int:
    """D of Lemma D; layers after `symmetric_after` count the symmetric part of their A only."""
    w = effective_widths(arch)
    count = sum(w[i] * (w[i - 1] - w[i]) for i in range(1, arch.num_layers)) + w[-1] * w[-2]
    for i, a in enumerate(arch.head_dims, start=1):
        only_symmetric = symmetric_after is not None and i > symmetric_after
        count += (sigma if only_symmetric else alpha)(a, w[i - 1])
    return count


def general_formula(arch: Architecture) -> Expected:
    """The dimension of any deep lightning or softmax network: no hypotheses.

    With w the effective widths and D = Σ_{i<l} w_i(w_{i−1} − w_i) + d_l w_{l−1} + Σ_i α(a_i, w_{i−1}):

        softmax     t ≥ 2: D                       t = 1: r(d₀ + d_l − r), r = min of all widths
        lightning   t ≥ 2: D − l, with σ for α in every layer after a rank-one collapse
                    t = 1: D − l with σ for α in every layer

    Source: Corollary A, Theorem C of docs/mathematics.md (proved here, not peer-reviewed).

    >>> general_formula(Architecture((3, 3, 1), (1, 3))).value
    12
    """
    check_architecture("general_formula", arch)
    if arch.attention == "softmax":
        if arch.tokens == 1:
            r = min(arch.widths)
            return Expected(
                r * (arch.widths[0] + arch.widths[-1] - r),
                "proved here",
                "One token",
                f"a single token attends to itself alone, so the network is a linear map of rank at most {r}",
            )
        note = _seen(arch, effective_widths(arch))
        return Expected(_count(arch), "proved here", "Corollary A", note)
    if arch.tokens == 1:
        return Expected(
            _count(arch, symmetric_after=0) - arch.num_layers,
            "proved here",
            "Theorem C",
            "a single token sees xᵀAx only: the symmetric part of each A counts",
        )
    layer, w = collapsing_layer(arch), effective_widths(arch)
    if layer is None:
        return Expected(_count(arch) - arch.num_layers, "proved here", "Theorem C", _seen(arch, w))
    collapsed = _count(arch, symmetric_after=layer)
    why = (
        f"the tokens of layer {layer} lie on a line"
        if w[layer - 1] == 1
        else f"A{_sub(layer)} has rank one: after layer {layer} all tokens are parallel"
    )
    loss = ", which costs nothing here" if collapsed == _count(arch) else ""
    return Expected(
        collapsed - arch.num_layers,
        "proved here",
        "Theorem C",
        f"{why}, and later layers see only the symmetric part of their A{loss}",
    )


def _seen(arch: Architecture, w: tuple[int, ...]) -> str:
    """How much of each width counts, or that the formula is general."""
    if w == arch.widths:
        return f"the general formula holds for every {arch.attention} network; our proof, not peer-reviewed"
    return f"of the widths, {in_short(w)} can be seen by later layers; our proof, not peer-reviewed"


@dataclass(frozen=True)
class _NamedFormula:
    """One statement of the paper: when it is about this network, what it needs, what it then says."""

    source: str
    status: str
    note: str
    concerns: Callable[[Architecture], bool]
    failures: Callable[[Architecture], list[str]]
    value: Callable[[Architecture], int]


def _bottleneck_pattern(arch: Architecture) -> int:
    """δ(d₀ + d_l − δ) + Σ α(a_i, d_{i−1}), δ the smallest inner width (Eq. 16; Eq. 14 less l)."""
    d = arch.widths
    delta = min(d[1:-1])
    return delta * (d[0] + d[-1] - delta) + sum(alpha(a, d_in) for d_in, _, a in arch.layers)


def _needs_two_tokens(arch: Architecture) -> list[str]:
    return ["t ≥ 2 (there is one token)"] if arch.tokens == 1 else []


def _not_a_bottleneck(arch: Architecture) -> list[str]:
    d = arch.widths
    failed, inner = [], d[1:-1]
    if len(set(inner)) > 1:
        failed.append(f"equal inner widths (they are {in_short(inner)})")
    if max(inner) > min(d[0], d[-1]):
        failed.append(
            f"inner widths at most the first and the last (δ = {max(inner)}, d₀ = {d[0]}, "
            f"d{_sub(arch.num_layers)} = {d[-1]})"
        )
    return failed


def _not_corollary_3_8(arch: Architecture) -> list[str]:
    failed = _needs_two_tokens(arch) + _not_a_bottleneck(arch)
    if min(arch.widths[1:-1]) < 2:
        failed.append("δ ≥ 2 (an inner width is 1)")
    ranks = [(i, a, d_in) for i, (d_in, _, a) in enumerate(arch.layers, start=1) if not 2 <= a <= d_in]
    if len(ranks) == 1:
        ((i, a, d_in),) = ranks
        failed.append(f"2 ≤ a{_sub(i)} ≤ d{_sub(i - 1)} (a{_sub(i)} = {a}, d{_sub(i - 1)} = {d_in})")
    elif ranks:
        layers = in_short([i for i, _, _ in ranks])
        failed.append(f"2 ≤ a ≤ d in every layer (it fails in layers {layers})")
    return failed


_NAMED = (
    _NamedFormula(
        source="Cor. 3.3",
        status="proved",
        note="one lightning layer: α(a, d) + d d′, less 1 for the rescaling (cA, V/c)",
        concerns=lambda arch: arch.attention == "lightning" and arch.num_layers == 1,
        failures=_needs_two_tokens,
        value=lambda arch: alpha(arch.head_dims[0], arch.widths[0]) + arch.widths[0] * arch.widths[1] - 1,
    ),
    _NamedFormula(
        source="Cor. 3.8",
        status="proved",
        note="a bottleneck of rank ≥ 2 in every layer (Eq. 14); the −l is one rescaling a layer",
        concerns=lambda arch: arch.attention == "lightning" and arch.num_layers >= 2,
        failures=_not_corollary_3_8,
        value=lambda arch: _bottleneck_pattern(arch) - arch.num_layers,
    ),
    _NamedFormula(
        source="Thm. 3.9",
        status="proved",
        note="one softmax layer: the fibre in (A, V) is a point, so nothing but the head basis is lost",
        concerns=lambda arch: arch.attention == "softmax" and arch.num_layers == 1,
        failures=_needs_two_tokens,
        value=lambda arch: alpha(arch.head_dims[0], arch.widths[0]) + arch.widths[0] * arch.widths[1],
    ),
    _NamedFormula(
        source="Eq. 16, Corollary A",
        status="proved here",
        note="a softmax bottleneck: Conjecture 3.10 of the paper, proved here, not peer-reviewed",
        concerns=lambda arch: arch.attention == "softmax" and arch.num_layers >= 2,
        failures=lambda arch: _needs_two_tokens(arch) + _not_a_bottleneck(arch),
        value=_bottleneck_pattern,
    ),
)


def paper_formula(arch: Architecture) -> Expected:
    """What the paper's formula for this kind of network says, with the hypotheses that fail.

    Corollary 3.3 and 3.8 for lightning, Theorem 3.9 and Eq. 16 for softmax. Where a hypothesis
    fails the status is "outside hypotheses" and the value is what the bare pattern would give
    (δ read as the smallest inner width): something to compare with, never an answer.

    >>> paper_formula(Architecture((3, 3, 3), (1, 2))).value, expected_dimension(
    ...     Architecture((3, 3, 3), (1, 2))
    ... ).value
    (20, 18)
    """
    check_architecture("paper_formula", arch)
    formula = next(named for named in _NAMED if named.concerns(arch))
    failed = formula.failures(arch)
    if failed:
        note = f"{formula.source.split(',')[0]} needs " + "; ".join(failed)
        return Expected(formula.value(arch), "outside hypotheses", formula.source, note)
    return Expected(formula.value(arch), formula.status, formula.source, formula.note)


def paper_promises(arch: Architecture) -> bool:
    """Whether the statement behind `paper_formula`, with all that it asks for, is about this network.

    The same as its hypotheses, but for one lightning layer: there Corollary 3.3 of the paper (Eq. 7,
    proved) also asks for d > 1, and a > 1 or d′ > 1. The dimension needs neither ("Corollary 3.3" in
    docs/mathematics.md), so `paper_formula` does not ask for them. For deep softmax the statement is
    Conjecture 3.10 of the paper (Eq. 16, proved here).

    >>> arch = Architecture((3, 1), (1,))
    >>> paper_promises(arch), paper_formula(arch).status
    (False, 'proved')
    """
    check_architecture("paper_promises", arch)
    if arch.attention == "lightning" and arch.num_layers == 1:
        ((d, d_out, a),) = arch.layers
        if d == 1 or (a == 1 and d_out == 1):
            return False
    return paper_formula(arch).status != "outside hypotheses"


def expected_dimension(arch: Architecture) -> Expected:
    """The dimension that theory predicts: the paper's formula where it applies, else the general one.

    One layer    lightning α(a, d) + dd′ − 1 (Cor. 3.3), softmax α(a, d) + dd′ (Thm. 3.9)
    Bottleneck   lightning δ(d₀ + d_l − δ) + Σ α(a_i, d_{i−1}) − l (Cor. 3.8, Eq. 14), softmax without
                 the −l (Eq. 16: Conjecture 3.10 of the paper, proved here as Corollary A)
    Otherwise    `general_formula`, and the note names the hypothesis that fails
    Heads, skip, mask   see `variant_formula`; where nothing is known the value is None

    >>> expected_dimension(Architecture((10, 10, 10), (2, 2))).value
    170
    >>> expected_dimension(Architecture((2, 4, 2), (2, 2))).source
    'Theorem C'
    """
    check_architecture("expected_dimension", arch, variants=True)
    if not arch.is_plain:
        return variant_formula(arch)
    named = paper_formula(arch)
    if named.status != "outside hypotheses":
        return named
    general = general_formula(arch)
    return Expected(general.value, general.status, general.source, f"{named.note}. So: {general.note}")


def variant_formula(arch: Architecture) -> Expected:
    """The dimension of networks with several heads, skips or a mask, where a formula is known.

    With α_i = α(a_i, d_{i−1}) and t ≥ 2 ("Theorem E", "Theorem A′", "Beyond the paper"):

        softmax     width d: Σ H_i (α_i + d²), less (l − 1) d² without skips; one layer: H (α + d d′)
                    one head, masked: D of Lemma D
        lightning   one head, skips, width d: Σ (α_i + d² − 1);   one head, masked: D − l
                    one layer: H (α + d d′) − m, m = H max(1, H − (d − a)₊²), for H ≤ d′;
                    at most d′ d² (d + 1)/2
                    width d ≥ 2, all H_i ≤ d, no collapse: Σ (H_i (α_i + d²) − m_i) − (l − 1) d²

    With one token a mask does nothing, and softmax is linear. The lightning formulas are observed, not
    proved: their notes give the grid.

    >>> variant_formula(Architecture.uniform(4, 2, 3, attention="softmax", heads=2, skip=True)).value
    168
    >>> variant_formula(Architecture((4, 3, 5), (2, 2), heads=2)).status
    'no formula'
    """
    check_architecture("variant_formula", arch, variants=True)
    if arch.is_plain:
        return expected_dimension(arch)
    if not arch.block.is_plain:
        return _with_a_block(arch)
    if arch.tokens == 1:
        return _one_token(arch)
    if arch.attention == "softmax":
        return _softmax_variant(arch)
    return _lightning_variant(arch)


def _with_a_block(arch: Architecture) -> Expected:
    """Softmax: parameters less the redundancies that have a name."""
    if arch.attention == "lightning" and _is_one_layer_of_values(arch):
        return _lightning_values(arch)
    if arch.attention == "lightning" and _is_one_head_and_mlps(arch):
        return _lightning_mlps(arch)
    missing = what_is_missing(arch)
    if missing:
        return _nobody_knows(missing)
    lost = known_redundancies(arch)
    value = arch.num_parameters - sum(lost.values())
    said = ", ".join(f"{name} {count}" for name, count in lost.items()) or "nothing is lost"
    if _is_theorem_e(arch):
        return Expected(value, "proved here", "Theorem E", f"parameters less {said}")
    note = f"parameters less {said} (3,000 random networks, none different)"
    return _observed(value, note)


def _is_theorem_e(arch: Architecture) -> bool:
    """Heads, skips, masks, value ranks and shared keys are all that it speaks of; without skips G v ≥ d."""
    block, d = arch.block, arch.widths[0]
    if block != Block(value_dim=block.value_dim, kv_heads=block.kv_heads):
        return False
    if block.value_dim > min(arch.widths):
        return False
    if block.kv_heads and max(arch.head_dims) > d:
        return False
    groups = min(block.kv_heads or H for H in arch.heads)
    return arch.num_layers == 1 or arch.skip or groups * block.value_dim >= d


def _is_one_layer_of_values(arch: Architecture) -> bool:
    value_dim = arch.block.value_dim
    alone = arch.num_layers == 1 and not arch.skip and not arch.causal and arch.tokens > 1
    return alone and value_dim is not None and arch.block == Block(value_dim=value_dim)


def _lightning_values(arch: Architecture) -> Expected:
    """H α + H v (d + d′ − v) − max(H, H² − H (d − a)₊² − H (d − v)(d′ − v)), at most d′ d² (d + 1)/2."""
    ((d, d_out, a),), (H,) = arch.layers, arch.heads
    v = min(arch.block.value_dim, d, d_out)
    if H > d_out or (H > d and v < d):
        return _nobody_knows(f"{H} lightning heads with values of rank {v} from width {d} to {d_out}")
    mixing = max(H, H * H - H * max(0, d - a) ** 2 - H * (d - v) * (d_out - v))
    value = H * alpha(a, d) + H * v * (d + d_out - v) - mixing
    return _observed(
        min(value, d_out * d * d * (d + 1) // 2),
        f"one layer, {H} heads with values of rank {v} (534 networks, none different)",
    )


def _is_one_head_and_mlps(arch: Architecture) -> bool:
    d, block = arch.widths[0], arch.block
    plain = set(arch.heads) == {1} and not arch.skip and not arch.causal and arch.tokens > 1
    if not plain or block.mlp is None or block != Block(mlp=block.mlp) or len(set(arch.widths)) > 1:
        return False
    hidden, power = block.mlp
    return d > 1 and hidden >= d and power > 1 and min(arch.head_dims[:-1], default=2) > 1


def _lightning_mlps(arch: Architecture) -> Expected:
    """Σ (α_i + d² − 1) + (l − 1)(μ − 2 d²), μ = min(2 d m − m, d C(d + e − 1, e))."""
    d, (hidden, power) = arch.widths[0], arch.block.mlp
    mu = seen_of_an_mlp(d, hidden, power)
    layers = sum(alpha(a, d) + d * d - 1 for a in arch.head_dims)
    return _observed(
        layers + (arch.num_layers - 1) * (mu - 2 * d * d),
        f"MLPs of power {power} between layers of rank 2 or more (724 networks, none different)",
    )


def _one_token(arch: Architecture) -> Expected:
    if arch.attention == "softmax":
        r = min(arch.widths)
        value = r * (arch.widths[0] + arch.widths[-1] - r)
        return Expected(
            value, "proved here", "One token", "a single token attends to itself alone: the network is linear"
        )
    without = replace(arch, causal=False)
    if without.is_plain:
        return general_formula(without)
    return _nobody_knows("several heads or skips on a single token")


def _softmax_variant(arch: Architecture) -> Expected:
    d, depth = arch.widths, arch.num_layers
    layers = zip(arch.heads, arch.layers, strict=True)
    count = sum(H * (alpha(a, d_in) + d_in * d_out) for H, (d_in, d_out, a) in layers)
    if depth == 1 and not arch.skip:
        return Expected(
            count, "proved here", "Theorem E", "one layer: nothing but the bases of the heads is lost"
        )
    if arch.skip:
        note = "a skip fixes the bases between layers: nothing but the bases of the heads is lost"
        return Expected(count, "proved here", "Theorem E", note)
    if set(arch.heads) == {1}:  # so it is the mask
        note = "a mask changes nothing that can be seen: the D of the same network without it"
        return Expected(_count(replace(arch, causal=False)), "proved here", "Theorem A′", note)
    if len(set(d)) == 1:
        note = f"(l − 1) d² = {(depth - 1) * d[0] ** 2} for the bases between layers; heads do not mix"
        return Expected(count - (depth - 1) * d[0] ** 2, "proved here", "Theorem E", note)
    return _nobody_knows("several softmax heads in layers of unequal widths")


def _lightning_variant(arch: Architecture) -> Expected:
    d, depth, H = arch.widths, arch.num_layers, arch.heads[0]
    if set(arch.heads) == {1}:
        if arch.skip and arch.causal:
            return _nobody_knows("lightning with skips and a mask")
        if arch.skip:
            value = sum(alpha(a, d_in) + d_in * d_in - 1 for d_in, _, a in arch.layers)
            return _observed(value, "one rescaling a layer survives the skip (144 networks, none different)")
        value = _count(replace(arch, causal=False)) - depth
        return _observed(value, "masked, no rank-one collapse (480 networks, none different)")
    if arch.skip or arch.causal:
        return _nobody_knows("several lightning heads with skips or a mask")
    if depth == 1:
        ((d_in, d_out, a),) = arch.layers
        if H > d_out:
            return _nobody_knows(f"more lightning heads than outputs (H = {H}, d′ = {d_out})")
        value = H * (alpha(a, d_in) + d_in * d_out) - _mixing(H, a, d_in)
        value = min(value, d_out * d_in**2 * (d_in + 1) // 2)
        return _observed(value, f"one layer, {H} heads, H ≤ d′ (210 networks, none different)")
    if len(set(d)) > 1 or max(arch.heads) > d[0] or d[0] == 1:
        return _nobody_knows(
            "several lightning heads in deep networks, unless all widths are d ≥ 2 and H ≤ d"
        )
    layers = tuple(zip(arch.heads, arch.head_dims, strict=True))
    if any(h == min(a, d[0]) == 1 for h, a in layers[:-1]):
        return _nobody_knows("several lightning heads after a layer of one head of rank one")
    width = d[0]
    value = sum(h * (alpha(a, width) + width**2) - _mixing(h, a, width) for h, a in layers)
    return _observed(
        value - (depth - 1) * width**2, "deep, of one width, H ≤ d (150 networks, none different)"
    )


def _mixing(H: int, a: int, d: int) -> int:
    """Rescalings of H heads, and from H > (d − a)² + 1 on the directions in which heads blend."""
    return H * max(1, H - max(0, d - a) ** 2)


def _observed(value: int, note: str) -> Expected:
    return Expected(value, "observed", "Beyond the paper", note)


def _nobody_knows(what: str) -> Expected:
    return Expected(None, "no formula", "Beyond the paper", f"no formula is known for {what}")


def _sub(number: int) -> str:
    return "".join("₀₁₂₃₄₅₆₇₈₉"[int(digit)] for digit in str(number))
