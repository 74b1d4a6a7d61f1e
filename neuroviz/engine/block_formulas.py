"""What does nothing in a transformer's layers, by name: the ledger of the symmetries that we know.

Parameters less these is a prediction of the dimension; `formulas` says where it is known to hold.
"""

from neuroviz.engine.architecture import Architecture


def known_redundancies(arch: Architecture) -> dict[str, int]:
    """Directions in which no function changes, for softmax, t ≥ 2 and equal widths d; name → dimension.

    With r = min(a, d), n = H/G heads a group, s = min(v, d, n d), d⁺ = d + 1 with biases and d without:

        bases of keys and queries     GL_a a group, as far as K and Q have full rank: (parameters of the K and
                                      Q of a group) − r(d + n d⁺ − r); with rotary positions only what
                                      commutes with them: a
        bases of values and outputs   v d + n v d − s(d + n d − s) a group
        temperatures                  1 a head: β is a factor of Q
        key biases                    a a group: the same number for all logits of a column (not if rotary)
        value biases                  columns of S sum to 1: only one constant vector a layer is seen
        shifts between layers         a constant vector added to all tokens is undone by the next biases
                                      (an MLP lets d − m directions pass)
        bases between layers          d² an interface without skips, two interfaces with an MLP between
        hidden units of MLPs          1 a unit (c u₁, u₂ / cᵉ), or more where there are more than needed

    >>> from neuroviz.engine.block import Block
    >>> block = Block(value_dim=2, biases=True)
    >>> known_redundancies(Architecture((4, 4), (2,), attention="softmax", heads=2, skip=True, block=block))
    {'bases of keys and queries': 8, 'bases of values and outputs': 8, 'key biases': 4, 'value biases': 4}
    """
    block, d = arch.block, arch.widths[0]
    found: dict[str, int] = {}

    def add(name: str, count: int) -> None:
        if count:
            found[name] = found.get(name, 0) + count

    for (H, (d_in, d_out, a)), times in arch.distinct_layers.items():
        groups, v = block.kv_heads or H, block.value_dim
        add("bases of keys and queries", times * _query_bases(arch, H, a))
        if v:
            bases = groups * _value_bases(v, d_in, H // groups * d_out)
            add("bases of values and outputs", times * bases)
        if block.temperature:
            add("temperatures", times * H)
        if block.biases and not block.rotary:
            add("key biases", times * groups * a)
        if block.biases:
            add("value biases", times * (groups * v if v else (H - 1) * d_out))
    if block.biases:
        passing = d if block.mlp is None else max(0, d - block.mlp[0])  # what the U₁ of an MLP does not see
        add("shifts between layers", (arch.num_layers - 1) * passing + block.positions * d)
    if block.mlp:
        m, e = block.mlp
        each = 2 * d * m - seen_of_an_mlp(d, m, e)
        add("hidden units of the MLPs", (arch.num_layers - 1) * each)
    if not arch.skip:
        add("bases between layers", (arch.num_layers - 1) * d * d * (2 if block.mlp else 1))
    return found


def seen_of_an_mlp(d: int, m: int, e: int) -> int:
    """μ = min(2 d m − m, d C(d + e − 1, e)); a binomial that is larger is not written out.

    >>> seen_of_an_mlp(3, 2, 2), seen_of_an_mlp(3, 100, 2), seen_of_an_mlp(10**9, 8, 10**9)
    (10, 18, 15999999992)
    """
    most, few = 2 * d * m - m, min(d - 1, e)
    many = d + e - 1 - few
    binomial = 1
    for i in range(1, few + 1):
        binomial = binomial * (many + i) // i  # C(many + i, i): it grows with i
        if d * binomial >= most:
            return most
    return min(most, d * binomial)


def what_is_missing(arch: Architecture) -> str | None:
    """Why `known_redundancies` is not known to be all that there is for this network; None where it is.

    >>> from neuroviz.engine.block import Block
    >>> what_is_missing(Architecture((3, 3), (4,), attention="softmax", block=Block(rotary=True)))
    'rotary positions with head dimensions above the width'
    """
    block, d, depth = arch.block, arch.widths, arch.num_layers
    if arch.attention == "lightning":
        return "lightning with this in its block"
    if arch.tokens == 1:
        return "a single token with anything in its block"
    if depth > 1 and len(set(d)) > 1:
        return "anything in the blocks of a deep network of unequal widths"
    if block.rotary and max(arch.head_dims) > d[0]:
        return "rotary positions with head dimensions above the width"
    if block.rotary and arch.causal and arch.tokens == 2:
        return "rotary positions of two masked tokens"
    if block.biases and block.mlp and d[0] == 1:
        return "biases and MLPs at width one"
    if block.positions and not arch.skip:
        H = arch.heads[0]
        groups = block.kv_heads or H
        v = min(block.value_dim or d[1], H // groups * d[1])
        # A vector that a token's keys and values do not see; and one that, added to all tokens, changes no
        # query and no sum of values: logits change by a constant a column only.
        hidden = groups * (v + arch.head_dims[0]) < d[0]
        if hidden or min(d[1], groups * v) + H * arch.head_dims[0] < d[0]:
            return "learned positions that the first layer does not see in full, without skips"
    if block.mlp and depth > 1 and block.mlp[1] == 1:
        return "MLPs of power one"  # they let shifts pass, and are matrices of rank m
    if depth > 1 and not arch.skip:
        if block.value_dim and min(block.kv_heads or H for H in arch.heads[:-1]) * block.value_dim < d[0]:
            return "values of all key-value heads together of lower rank than the width, without skips"
        if block.mlp and block.mlp[0] < d[0]:
            return "MLPs that are narrower than the layers, without skips"
    return None


def _query_bases(arch: Architecture, H: int, a: int) -> int:
    """Of all groups of a layer of H heads."""
    block, d = arch.block, arch.widths[0]
    groups = block.kv_heads or H
    if block.rotary:
        return groups * a
    n, wide, rank = H // groups, d + block.biases, min(a, d)
    return groups * (a * d + n * a * wide - rank * (d + n * wide - rank))


def _value_bases(v: int, d: int, outputs: int) -> int:
    rank = min(v, d, outputs)
    return v * (d + outputs) - rank * (d + outputs - rank)
