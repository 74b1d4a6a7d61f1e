"""The dimension of networks with something in their `Block`: parameters less silent
directions, by name."""

from collections import Counter
from functools import lru_cache
from math import comb, inf

from neuroviz.attention.expected import Expected, alpha
from neuroviz_beyond.transformers.block import Block
from neuroviz_beyond.transformers.transformer import Transformer


def observed(value: int, note: str) -> Expected:
    """What agreed with exact ranks on a grid, and is not proved."""
    return Expected(value, "observed", "Beyond the paper", note)


def no_formula(what: str) -> Expected:
    """Nothing is known about these networks."""
    return Expected(
        None, "no formula", "Beyond the paper", f"no formula is known for {what}"
    )


def block_formula(arch: Transformer) -> Expected:
    """What theory says about a network with anything in its block.

    >>> block = Block(biases=True)
    >>> arch = Transformer((4, 4), (2,), attention="softmax", block=block)
    >>> block_formula(arch).value
    34
    """
    block = arch.block
    is_bare_lightning = (
        arch.attention == "lightning"
        and not arch.skip
        and not arch.causal
        and arch.tokens > 1
    )
    has_mlps_only = block.mlp is not None and block == Block(mlp=block.mlp)
    has_one_head = set(arch.heads) == {1}
    has_one_width = len(set(arch.widths)) == 1
    if is_bare_lightning and has_mlps_only and has_one_head and has_one_width:
        d = arch.widths[0]
        hidden, power = block.mlp
        # The count was compared there only: m ≥ d hidden units, and no layer of rank
        # one before the last.
        if 1 < d <= hidden and power > 1 and min(arch.head_dims[:-1], default=2) > 1:
            return _lightning_mlps(arch)
    # Theorem H goes first: it reaches two tokens, skips and biases, too.
    if not speaks_of_fibers(arch):
        has_values_only = block == Block(
            value_dim=block.value_dim, kv_heads=block.kv_heads
        )
        is_softmax = arch.attention == "softmax" and arch.tokens > 1
        if has_values_only and is_softmax and not arch.skip:
            return softmax_of_any_widths(arch)
        if missing := what_is_missing(arch):
            return no_formula(missing)
    lost = lost_directions(arch)
    value = arch.num_parameters - sum(lost.values())
    note = f"parameters less {_listed(lost)}"
    if speaks_of_fibers(arch):
        return Expected(value, "proved here", "Theorem H", note)
    if speaks_of_positions(arch):
        return Expected(value, "proved here", "Theorem R", note)
    if has_wide_masked_pairs(arch):
        grid = "978 networks of two masked tokens with 2 a > d + 1, d ≤ 7, l ≤ 2"
    else:
        grid = "10,385 random networks with l ≤ 6, d ≤ 4, t ≤ 4"
    return observed(value, f"{note} ({grid}, none different)")


def _listed(lost: dict[str, int]) -> str:
    said = ", ".join(f"{name} {count}" for name, count in lost.items())
    return said or "nothing is lost"


def speaks_of_fibers(arch: Transformer) -> bool:
    """Whether Theorem H is about almost all weights: softmax without rotary or learned
    positions and MLPs.

    One layer of any widths, or skips, or a bottleneck whose values fill the inner width
    δ: G v ≥ δ.
    """
    block = arch.block
    delta = min(arch.widths)
    if (
        arch.attention == "lightning"
        or arch.tokens == 1
        or block.rotary
        or block.positions
        or block.mlp
    ):
        return False
    if arch.skip or arch.num_layers == 1:
        return True
    # Full values have v = min(d, d′), which is δ at least.
    filled = min(arch.groups) * (block.value_dim or delta) >= delta
    return filled and {*arch.widths[1:-1]} == {delta}


def speaks_of_positions(arch: Transformer) -> bool:
    """Whether Theorem R is about almost all weights: softmax of one width d with rotary
    or learned positions, without biases and MLPs.

    Head dimensions and ranks of values are at most d, and without skips the values fill
    the width: G v ≥ d. Of two masked tokens, if positions are rotary, 2 a ≤ d + 1.

    >>> turned = Block(value_dim=2, rotary=True)
    >>> speaks_of_positions(Transformer.uniform(4, 2, 2, 3, "softmax", block=turned))
    False
    >>> speaks_of_positions(
    ...     Transformer.uniform(4, 2, 2, 3, "softmax", skip=True, block=turned)
    ... )
    True
    """
    return _has_positions_only(arch) and not has_wide_masked_pairs(arch)


def _has_positions_only(arch: Transformer) -> bool:
    block = arch.block
    d = arch.widths[0]
    if (
        arch.attention == "lightning"
        or arch.tokens == 1
        or not (block.rotary or block.positions)
        or block.biases
        or block.mlp
        or len(set(arch.widths)) > 1
    ):
        return False
    v = block.value_dim or d
    is_filled = arch.skip or min(arch.groups) * v >= d
    return is_filled and max(arch.head_dims) <= d and v <= d


def has_wide_masked_pairs(arch: Transformer) -> bool:
    """Whether all that Theorem R lacks is 2 a ≤ d + 1, for two masked tokens."""
    is_pair = arch.block.rotary and arch.causal and arch.tokens == 2
    is_wide = 2 * max(arch.head_dims) > arch.widths[0] + 1
    return is_pair and is_wide and _has_positions_only(arch)


def lost_directions(arch: Transformer) -> dict[str, int]:
    """What the dimension lacks of the parameters: `known_redundancies`, and what was
    observed for two masked tokens, (C((2a − d)₊, 2) − a)₊ for each group of one head.

    >>> arch = Transformer((3, 3), (2,), attention="softmax", heads=2)
    >>> lost_directions(arch)
    {'bases of keys and queries': 8}
    """
    lost = known_redundancies(arch)
    if not has_wide_masked_pairs(arch):
        return lost
    more = 0
    for (H, (d, _, a)), times in arch.distinct_layers.items():
        groups = arch.block.kv_heads or H
        # Groups of several heads lose nothing more: Theorem R, "Where it stops".
        if groups == H:
            more += times * groups * max(0, comb(max(0, 2 * a - d), 2) - a)
    if more:
        lost["logits of two masked tokens"] = more
    return lost


@lru_cache(maxsize=64)
def effective_widths(arch: Transformer) -> tuple[int, ...]:
    """w₀, …, w_l: how much of each width the later layers can see (Lemma D; with heads
    Theorem W).

        r₀ = d₀,  r_i = min(d_i, H_i min(v, r_{i−1}));   w_l = d_l,  w₀ = d₀,  and
                  between them
        w_{i−1} = min(r_{i−1}, G_i min(v, n_i w_i) + (G_i + H_i) min(a_i, r_{i−1}))

    for G groups of n heads that share keys and values, and v = ∞ for full values. In a
    bottleneck of one head (inner widths at most d₀ and d_l) these are the widths
    themselves.

    >>> effective_widths(Transformer((2, 4, 2), (2, 2)))
    (2, 2, 2)
    """
    r = [arch.widths[0]]
    w = list(arch.widths)
    v = arch.block.value_dim or inf
    for H, width in zip(arch.heads, arch.widths[1:], strict=True):
        r.append(min(width, H * min(v, r[-1])))
    for i in range(arch.num_layers - 1, 0, -1):
        H = arch.heads[i]  # of layer i + 1, which reads the tokens of width d_i
        a = arch.head_dims[i]
        G = arch.block.kv_heads or H
        seen_by_values = G * min(v, H // G * w[i + 1])
        seen_by_keys_and_queries = (G + H) * min(a, r[i])
        w[i] = min(r[i], seen_by_values + seen_by_keys_and_queries)
    return tuple(w)


def visible_count(arch: Transformer) -> int:
    """D = Σ G_i [dim_v(w_{i−1}, n_i w_i) + dim_{a_i}(w_{i−1}, n_i w_{i−1})] − Σ_{0<i<l}
    w_i².

    dim is `_determinantal`, and w are the `effective_widths`.
    """
    inner = effective_widths(arch)[1:-1]
    count = 0
    for of_values, of_keys_and_queries in seen_of_layers(arch):
        count += of_values + of_keys_and_queries
    return count - sum(width**2 for width in inner)


def seen_of_layers(arch: Transformer) -> list[tuple[int, int]]:
    """The terms of each layer in `visible_count`: of values, and of keys and queries.

    >>> seen_of_layers(Transformer((3, 3), (2,), heads=2))
    [(18, 16)]
    """
    w = effective_widths(arch)
    v = arch.block.value_dim or inf
    found = []
    for H, a, w_in, w_out in zip(
        arch.heads, arch.head_dims, w[:-1], w[1:], strict=True
    ):
        G = arch.block.kv_heads or H
        n = H // G
        # [V_h]_h and [A_h]_h of the heads of one group, side by side
        of_values = _determinantal(v, w_in, n * w_out)
        of_keys_and_queries = _determinantal(a, w_in, n * w_in)
        found.append((G * of_values, G * of_keys_and_queries))
    return found


def softmax_of_any_widths(arch: Transformer) -> Expected:
    """Theorem W: softmax with heads in layers of any widths has `visible_count`
    dimensions for t ≥ 3.

    For two tokens it is an upper bound; in a bottleneck it is reached (Theorem H), else
    no formula is known.

    >>> arch = Transformer((2, 4, 2), (2, 4), 3, "softmax", heads=(2, 1))
    >>> softmax_of_any_widths(arch).value
    32
    >>> for widths in ((2, 3, 2), (1, 2, 9, 2)):
    ...     thin = (1,) * (len(widths) - 1)
    ...     arch = Transformer(widths, thin, 3, "softmax", heads=2)
    ...     print(softmax_of_any_widths(arch).note)
    nothing but the bases of heads and layers is lost
    of the widths, 1, 2, 4, 2 can be seen by later layers;
    nothing but the bases of heads and layers is lost
    """
    w = effective_widths(arch)
    value = visible_count(arch)
    if arch.tokens == 2 and not speaks_of_fibers(arch):
        return no_formula(
            f"two tokens, heads and these widths; it is at most {value} (Theorem W)"
        )
    note = "nothing but the bases of heads and layers is lost"
    if w != arch.widths:
        seen = ", ".join(map(str, w))
        note = f"of the widths, {seen} can be seen by later layers; {note}"
    theorem = "Theorem W" if arch.tokens > 2 else "Theorem H"
    return Expected(value, "proved here", theorem, note)


def _determinantal(rank: float, m: int, n: int) -> int:
    """dim_r(m, n) = s (m + n − s), s = min(r, m, n): dimension of the m × n matrices of
    rank at most r."""
    rank = min(rank, m, n)
    return rank * (m + n - rank)


def one_lightning_layer(
    H: int, layer: tuple[int, int, int], block: Block | None = None
) -> Expected:
    """Theorem M: the dimension of one lightning layer d → d′ of H ≤ min(d, d′) heads.

        H α(a, d) + H v (d + d′ − v) − max(H, H² − H p − H q),
        p = (d − a)₊²,  q = (d − v)(d′ − v)

    It is proved for min(p, q) ≤ 1 or max(p, q) ≥ H − 1; full values have q = 0. One
    head is Theorem 3.2. For d < H ≤ d′ and full values the same formula, but at most
    d′ d² (d + 1)/2, is observed.

    Args:
        H: the number of heads.
        layer: d, d′, a.
        block: with a value_dim, if values have a rank v, and nothing else.

    >>> found = one_lightning_layer(3, (3, 3, 2))
    >>> found.value, found.source
    (45, 'Theorem M')
    >>> one_lightning_layer(3, (2, 3, 2)).status
    'observed'
    """
    block = block or Block()
    d, d_out, a = layer
    if (block.kv_heads or H) < H:
        return no_formula("one lightning layer whose heads share keys and values")
    v = min(block.value_dim or d, d, d_out)
    if H == 1:
        value = alpha(a, d) + v * (d + d_out - v) - 1
        return Expected(
            value,
            "proved",
            "Thm. 3.2",
            "one head: only the rescaling (cA, V/c) is lost",
        )
    of_keys = max(0, d - a) ** 2
    of_values = (d - v) * (d_out - v)
    # The blends that keep the ranks (step 2 of the proof): H² numbers g_hj, with p
    # equations a row and q a column; the g_hh, the rescalings, are in none of them.
    mixing = max(H, H * H - H * of_keys - H * of_values)
    value = H * alpha(a, d) + H * v * (d + d_out - v) - mixing
    why = "one rescaling a head" if mixing == H else "as heads blend"
    lost = f"{mixing} directions are lost: {why}"
    if H <= min(d, d_out):
        is_proved = min(of_keys, of_values) <= 1 or max(of_keys, of_values) >= H - 1
        if is_proved:
            return Expected(value, "proved here", "Theorem M", lost)
        return observed(
            value,
            f"{H} heads with values of rank {v}: Theorem M says that it is not more"
            " (14 networks with 6 ≤ d, d′, H ≤ 8, none different)",
        )
    # A layer is a table of d′ d² (d + 1)/2 coefficients, which is the most that it has.
    if H <= d_out and v == min(d, d_out):
        return observed(
            min(value, d_out * d * d * (d + 1) // 2),
            f"{H} heads, d < H ≤ d′ (265 networks of one layer with d ≤ 5, d′ ≤ 8,"
            " a ≤ d + 1, none different)",
        )
    if H > d_out:
        return no_formula(f"more lightning heads than outputs (H = {H}, d′ = {d_out})")
    return no_formula(
        f"{H} lightning heads with values of rank {v} from width {d} to {d_out}"
    )


def _lightning_mlps(arch: Transformer) -> Expected:
    """Σ (α_i + d² − 1) + (l − 1)(μ − 2 d²), μ = min(2 d m − m, d C(d + e − 1, e))."""
    d = arch.widths[0]
    depth = arch.num_layers
    layers = sum(alpha(a, d) + d * d - 1 for a in arch.head_dims)
    value = layers + (depth - 1) * (seen_of_an_mlp(d, *arch.block.mlp) - 2 * d * d)
    where = f"MLPs of power {arch.block.mlp[1]} between layers of rank 2 or more"
    return observed(
        value,
        f"{where} (114 networks with d, l ≤ 3, up to 5 hidden units, powers 2 to 4 and"
        " up to 100 parameters, none different)",
    )


def known_redundancies(arch: Transformer) -> dict[str, int]:
    """Directions in which the function does not change, for softmax, t ≥ 2, width d or
    a bottleneck; name → dimension.

    With r = min(a, d), n = H/G heads a group, s = min(v, d, n d), d⁺ = d + 1 with
    biases and d without:

        bases of keys and queries     GL_a a group, as far as K and Q have full rank:
                                      (parameters of the K and Q of a group)
                                      − r(d + n d⁺ − r); with rotary positions only what
                                      commutes with them: a
        bases of values and outputs   v d + n v d − s(d + n d − s) a group
        temperatures                  1 a head: β is a factor of Q
        key biases                    a a group: the same number for all logits of a
                                      column (not if rotary)
        value biases                  columns of S sum to 1: only one constant vector a
                                      layer is seen
        shifts between layers         a constant vector added to all tokens is undone by
                                      the next biases (an MLP lets d − m directions
                                      pass)
        bases between layers          d² an interface without skips, two interfaces with
                                      an MLP between
        hidden units of MLPs          1 a unit (c u₁, u₂ / cᵉ), or more where there are
                                      more than needed
        affine maps between layers    skips, biases and MLPs of power 2: a constant
                                      added before an MLP makes the tokens after it an
                                      affine map of what they were; such maps pass the
                                      layers, and only their product has to be 1, which
                                      is d² equations for (l − 1) min(d, m) constants

    >>> block = Block(value_dim=2, biases=True)
    >>> arch = Transformer((4, 4), (2,), 2, "softmax", heads=2, skip=True, block=block)
    >>> known_redundancies(arch)
    {'bases of keys and queries': 8, 'bases of values and outputs': 8,
     'key biases': 4, 'value biases': 4}
    """
    block = arch.block
    v = block.value_dim
    found = Counter()
    for (H, (d_in, d_out, a)), times in arch.distinct_layers.items():
        groups = block.kv_heads or H
        in_group = H // groups

        if block.rotary:
            bases = a
        else:
            # K is a × d, and the Q of a group with their biases are a × n d⁺. Biases of
            # K are a family of their own.
            bases = _bases(a, d_in, in_group * (d_in + block.biases))
        found["bases of keys and queries"] += times * groups * bases

        if v:
            bases = _bases(v, d_in, in_group * d_out)
            found["bases of values and outputs"] += times * groups * bases

        if block.temperature:
            found["temperatures"] += times * H

        if block.biases and not block.rotary:
            found["key biases"] += times * groups * a

        if block.biases:
            # Beside an output bias all of them are silent; else all but one, as the
            # function sees their sum.
            unseen = groups * v if v else (H - 1) * d_out
            found["value biases"] += times * unseen

    d = min(arch.widths)  # δ, where this is a bottleneck
    inner = arch.num_layers - 1
    if block.biases:
        # directions that U₁ does not see
        passing = max(0, d - block.mlp[0]) if block.mlp else d
        found["shifts between layers"] = inner * passing
        if block.positions:
            found["shifts between layers"] += arch.widths[0]

    if block.mlp:
        m, e = block.mlp
        silent = 2 * d * m - seen_of_an_mlp(d, m, e)
        found["hidden units of the MLPs"] = inner * silent
        if e == 2 and arch.skip and block.biases:
            found["affine maps between layers"] = max(0, inner * min(d, m) - d * d)

    if not arch.skip:
        interfaces = 2 * inner if block.mlp else inner
        found["bases between layers"] = interfaces * d * d
    return {name: count for name, count in found.items() if count}


def seen_of_an_mlp(d: int, m: int, e: int) -> int:
    """μ = min(2 d m − m, d C(d + e − 1, e)): what is seen of an MLP y ↦ U₂ (U₁ y)ᵉ.

    These are its parameters less one rescaling for each of the m hidden units; and the
    coefficients of d forms of degree e, the most that it can have. A binomial that is
    larger is not written out.

    >>> seen_of_an_mlp(3, 2, 2), seen_of_an_mlp(3, 100, 2)
    (10, 18)
    >>> seen_of_an_mlp(10**9, 8, 10**9)
    15999999992
    """
    most = 2 * d * m - m
    # C(d + e − 1, e) = C(d + e − 1, d − 1); the smaller one has the fewer factors.
    few = min(d - 1, e)
    if few > most.bit_length():  # C(n, k) ≥ 2ᵏ for n ≥ 2 k
        return most
    return min(most, d * comb(d + e - 1, few))


def what_is_missing(arch: Transformer) -> str | None:
    """Why `lost_directions` is not known to be all that there is for this network; None
    where it is, by a proof or on a grid.

    >>> block = Block(rotary=True)
    >>> what_is_missing(Transformer((3, 3), (4,), attention="softmax", block=block))
    'rotary positions with head dimensions above the width'
    """
    block = arch.block
    d = arch.widths
    depth = arch.num_layers
    if arch.attention == "lightning":
        return "lightning with this in its block"
    if arch.tokens == 1:
        return "a single token with anything in its block"
    if depth > 1 and len(set(d)) > 1:
        return "anything in the blocks of a deep network of unequal widths"
    if block.rotary and max(arch.head_dims) > d[0]:
        return "rotary positions with head dimensions above the width"
    is_masked_pair = block.rotary and arch.causal and arch.tokens == 2
    if is_masked_pair and not _has_positions_only(arch):
        return "rotary positions of two masked tokens"
    if block.positions and not arch.skip:
        H = arch.heads[0]
        groups = arch.groups[0]
        a = arch.head_dims[0]
        v = min(block.value_dim or d[1], H // groups * d[1])
        # Two kinds of vectors may be hidden: one that keys and values do not see; and,
        # added to all tokens, one that changes no query and no sum of values: it
        # changes each column of logits by a constant only.
        sees_each = groups * (v + a) >= d[0]
        sees_common = min(d[1], groups * v) + H * a >= d[0]
        if not (sees_each and sees_common):
            return (
                "learned positions that the first layer does not see in full, without"
                " skips"
            )
    if block.mlp and depth > 1 and block.mlp[1] == 1:
        # They are matrices of rank m, and let shifts pass.
        return "MLPs of power one"
    if depth > 1 and not arch.skip:
        if block.value_dim and min(arch.groups[:-1]) * block.value_dim < d[0]:
            return "values that together have lower rank than the width, without skips"
        # The last layer need not fill the width, but see all of it: w_{l−1} = d, as in
        # `effective_widths`.
        H = arch.heads[-1]
        groups = arch.groups[-1]
        v = min(block.value_dim or d[-1], H // groups * d[-1])
        if groups * v + (groups + H) * arch.head_dims[-1] < d[0]:
            return "a last layer that does not see all of the width, without skips"
        if block.mlp and block.mlp[0] < d[0]:
            return "MLPs that are narrower than the layers, without skips"
    return None


def _bases(inner: int, m: int, n: int) -> int:
    """What a product of m × inner and inner × n does not show of its factors."""
    return inner * (m + n) - _determinantal(inner, m, n)
