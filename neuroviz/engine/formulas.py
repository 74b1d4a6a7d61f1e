"""Closed formulas for the dimension of the neuromanifold: Architecture → Expected.

A formula answers under its own name only where its hypotheses hold. Elsewhere it says
which hypothesis fails, and `expected_dimension` answers with the general formula, which
has none. Nothing here measures anything; `docs/mathematics.md` has the statements and
the proofs.
"""

from dataclasses import replace

from neuroviz.engine.architecture import Architecture, check_architecture, in_short
from neuroviz.engine.block import Block
from neuroviz.engine.block_formulas import (
    block_formula,
    effective_widths,
    one_lightning_layer,
    softmax_of_any_widths,
    visible_count,
)
from neuroviz.engine.expected import Expected, alpha, no_formula, observed


def collapsing_layer(arch: Architecture) -> int | None:
    """The first layer before the last whose A_i has rank one, as a number from 1; None
    if there is none.

    After it all tokens of a lightning network are parallel, and later layers see only
    the symmetric part of their A ("Rank-one collapse").

    >>> collapsing_layer(Architecture((3, 3, 3), (1, 2)))
    1
    """
    before_the_last = zip(arch.head_dims[:-1], effective_widths(arch), strict=False)
    return next(
        (i for i, sizes in enumerate(before_the_last, start=1) if min(sizes) == 1), None
    )


def general_formula(arch: Architecture) -> Expected:
    """The dimension of any deep lightning or softmax network: no hypotheses.

    With w the effective widths and D = Σ_{i<l} w_i(w_{i−1} − w_i) + d_l w_{l−1} + Σ_i
    α(a_i, w_{i−1}):

        softmax     t ≥ 2: D
                    t = 1: r(d₀ + d_l − r), r = min of all widths
        lightning   t ≥ 2: D − l, with σ for α in every layer after a rank-one collapse
                    t = 1: D − l with σ for α in every layer

    Source: Corollary A, Theorem C of docs/mathematics.md (proved here, not
    peer-reviewed).

    >>> general_formula(Architecture((3, 3, 1), (1, 3))).value
    12
    """
    check_architecture("general_formula", arch)
    d, w, depth = arch.widths, effective_widths(arch), arch.num_layers
    if arch.attention == "softmax" and arch.tokens == 1:
        r = min(d)
        note = (
            "a single token attends to itself alone, so the network is a linear map of"
            f" rank at most {r}"
        )
        return Expected(r * (d[0] + d[-1] - r), "proved here", "One token", note)
    note = (
        f"the general formula holds for every {arch.attention} network; our proof, not"
        " peer-reviewed"
    )
    if w != d:
        note = (
            f"of the widths, {in_short(w)} can be seen by later layers; our proof, not"
            " peer-reviewed"
        )
    if arch.attention == "softmax":
        return Expected(visible_count(arch), "proved here", "Corollary A", note)
    layer = 0 if arch.tokens == 1 else collapsing_layer(arch)
    count = visible_count(arch, symmetric_after=layer)
    if arch.tokens == 1:
        note = "a single token sees xᵀAx only: the symmetric part of each A counts"
    elif layer:
        why = (
            f"{numbered('A', layer)} has rank one: after layer {layer} all tokens are"
            " parallel"
        )
        if w[layer - 1] == 1:
            why = f"the tokens of layer {layer} lie on a line"
        loss = ", which costs nothing here" if count == visible_count(arch) else ""
        note = f"{why}, and later layers see only the symmetric part of their A{loss}"
    return Expected(count - depth, "proved here", "Theorem C", note)


# The paper's statements

_STATEMENTS = {  # (kind, whether deep): source, status
    ("lightning", False): ("Cor. 3.3", "proved"),
    ("lightning", True): ("Cor. 3.8", "proved"),
    ("softmax", False): ("Thm. 3.9", "proved"),
    ("softmax", True): ("Eq. 16, Corollary A", "proved here"),
}
_NOTES = {
    "Cor. 3.3": (
        "one lightning layer: α(a, d) + d d′, less 1 for the rescaling (cA, V/c)"
    ),
    "Cor. 3.8": (
        "a bottleneck of rank ≥ 2 in every layer (Eq. 14); the −l is one rescaling a"
        " layer"
    ),
    "Thm. 3.9": (
        "one softmax layer: the fibre in (A, V) is a point, so nothing but the head"
        " basis is lost"
    ),
    "Eq. 16": (
        "a softmax bottleneck: Conjecture 3.10 of the paper, proved here, not"
        " peer-reviewed"
    ),
}


def _failing(arch: Architecture) -> list[str]:
    """The hypotheses of the paper's statement about this kind of network that do not
    hold."""
    (first, *inner, last), depth = arch.widths, arch.num_layers
    failing = ["t ≥ 2 (there is one token)"] if arch.tokens == 1 else []
    if depth == 1:
        return failing
    if len(set(inner)) > 1:
        failing.append(f"equal inner widths (they are {in_short(inner)})")
    if max(inner) > min(first, last):
        said = f"δ = {max(inner)}, d₀ = {first}, {numbered('d', depth)} = {last}"
        failing.append(f"inner widths at most the first and the last ({said})")
    if arch.attention == "softmax":
        return failing
    if min(inner) < 2:
        failing.append("δ ≥ 2 (an inner width is 1)")
    ranks = [
        (i, a, d_in)
        for i, (d_in, _, a) in enumerate(arch.layers, start=1)
        if not 2 <= a <= d_in
    ]
    if len(ranks) > 1:
        failing.append(
            "2 ≤ a ≤ d in every layer (it fails in layers"
            f" {in_short([i for i, *_ in ranks])})"
        )
    elif ranks:
        ((i, a, d_in),) = ranks
        head, width = numbered("a", i), numbered("d", i - 1)
        failing.append(f"2 ≤ {head} ≤ {width} ({head} = {a}, {width} = {d_in})")
    return failing


def paper_formula(arch: Architecture) -> Expected:
    """What the paper's formula for this kind of network says, with the hypotheses that
    fail.

    Corollary 3.3 and 3.8 for lightning, Theorem 3.9 and Eq. 16 for softmax. Where a
    hypothesis fails the status is "outside hypotheses" and the value is what the bare
    pattern would give (δ read as the smallest inner width): something to compare with,
    never an answer.

    >>> arch = Architecture((3, 3, 3), (1, 2))
    >>> paper_formula(arch).value, expected_dimension(arch).value
    (20, 18)
    """
    check_architecture("paper_formula", arch)
    source, status = _STATEMENTS[arch.attention, arch.num_layers > 1]
    item = source.split(",")[0]
    d = arch.widths
    delta = min(d[1:-1] or d)  # d d′ = δ (d + d′ − δ) with δ = min(d, d′)
    value = delta * (d[0] + d[-1] - delta) + sum(
        alpha(a, d_in) for d_in, _, a in arch.layers
    )
    value -= arch.num_layers * (arch.attention == "lightning")
    if failing := _failing(arch):
        return Expected(
            value, "outside hypotheses", source, f"{item} needs {'; '.join(failing)}"
        )
    return Expected(value, status, source, _NOTES[item])


def expected_dimension(arch: Architecture) -> Expected:
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
    >>> expected_dimension(Architecture((2, 4, 2), (2, 2))).source
    'Theorem C'
    """
    check_architecture("expected_dimension", arch, variants=True)
    # layers do not interact
    block, apart = arch.block, arch.skip or arch.num_layers == 1
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
        named = paper_formula(arch)
        if named.status != "outside hypotheses":
            return named
        general = general_formula(arch)
        return replace(general, note=f"{named.note}. So: {general.note}")
    if arch.tokens == 1:
        plain = replace(arch, heads=1, skip=False, causal=False)
        if arch.attention == "softmax" or plain == replace(arch, causal=False):
            return general_formula(plain)
        return no_formula("several heads or skips on a single token")
    return (_softmax_variant if arch.attention == "softmax" else _lightning_variant)(
        arch
    )


def _softmax_variant(arch: Architecture) -> Expected:
    d, value, source = arch.widths, visible_count(arch), "Theorem E"
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


def _lightning_variant(arch: Architecture) -> Expected:
    d, depth = arch.widths[0], arch.num_layers
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


def _layer_by_layer(arch: Architecture) -> Expected:
    """Theorem S: with skips the dimension is the sum of those of the layers, each
    alone."""
    d, v = arch.widths[0], arch.block.value_dim
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


def numbered(letter: str, index: int) -> str:
    """A letter with a subscript, in Unicode.

    >>> numbered("M", 2)
    'M₂'
    """
    return letter + str(index).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))
