"""What the ledger and `is_identifiable` know of transformers, beside their symmetries:
causes, theorems about fibres, and orders of heads."""

from collections.abc import Iterator, Mapping

import numpy as np

from neuroviz.attention.identifiability import orbit_theorem, orders_of_heads
from neuroviz.attention.ledger import (
    cause_of_the_rest,
    hidden_after,
    hidden_by_tokens,
)
from neuroviz.rank.weights import flatten, unflatten
from neuroviz_beyond.transformers.block_formulas import (
    effective_widths,
    lost_directions,
    speaks_of_fibers,
    what_is_missing,
)
from neuroviz_beyond.transformers.transformer import Transformer


@cause_of_the_rest.register
def _cause(net: Transformer, entries: Mapping[str, int], dimension: int) -> str | None:
    """What hides parameters, as far as anybody knows."""
    one_head = set(net.heads) == {1} and not net.skip and net.block.is_plain
    # A mask hides nothing from a softmax.
    if one_head and (not net.causal or net.attention == "softmax"):
        return cause_of_the_rest(net.paper, entries, dimension)
    if net.tokens == 1:
        return hidden_by_tokens(net.paper)
    if net.attention == "softmax":
        return None if net.block.is_plain else _cause_in_a_block(net, entries)
    if not net.block.is_plain:
        return None
    return _cause_of_lightning_heads(net, dimension)


def _cause_in_a_block(net: Transformer, entries: Mapping[str, int]) -> str | None:
    """What `expected_dimension` says of these directions, or why it says nothing."""
    if missing := what_is_missing(net):
        return f"no cause is proved; the formulas do not reach {missing}"
    observed = [
        f"{name} {count}"
        for name, count in lost_directions(net).items()
        if name not in entries
    ]
    return f"observed, not proved: {', '.join(observed)}" if observed else None


def _cause_of_lightning_heads(net: Transformer, dimension: int) -> str | None:
    """Of a lightning network with several heads, a skip or a mask, and t ≥ 2."""
    if not (net.skip or net.causal):
        d, d_out, _ = net.layers[0]
        # the table of a layer (Theorem M): d′ × d quadratic forms in d variables
        most = d_out * d * d * (d + 1) // 2
        if net.num_layers == 1 and dimension == most:
            return (
                f"a layer has {most} coefficients, and with so many heads it reaches "
                "all of them"
            )
        for i, (H, a) in enumerate(
            zip(net.heads[:-1], net.head_dims[:-1], strict=True), start=1
        ):
            # A single head of rank one makes all tokens parallel.
            if H == a == 1:
                return hidden_after(i)
    if any(H > d_out for H, d_out in zip(net.heads, net.widths[1:], strict=True)):
        return (
            "a layer has more heads than outputs: then more can be lost, and no rule "
            "for it is known"
        )
    return None


@orbit_theorem.register
def _orbit_theorem(net: Transformer) -> str:
    """Theorems B, F, H and L; "" where heads share keys and values of full rank, too:
    there they may change groups."""
    if net.tokens == 1:
        return ""
    if net.is_plain:
        return orbit_theorem(net.paper)
    if net.attention == "softmax":
        return _orbit_theorem_of_softmax(net)
    # Theorem L: one head, no mask, skips, d ≥ 2 and rk A ≥ 2.
    has_one_head = net.block.is_plain and set(net.heads) == {1}
    has_rank = min(net.widths[0], *net.head_dims) > 1
    if net.skip and not net.causal and has_one_head and has_rank:
        return "Theorem L"
    return ""


def _orbit_theorem_of_softmax(net: Transformer) -> str:
    one_head = set(net.heads) == {1} and not net.skip and net.block.is_plain
    # Remark 5 on Theorem H: the function of one head a layer determines the virtual
    # weights. These determine Q, K and V, up to bases, where later layers see all of
    # each width.
    if one_head and effective_widths(net) == net.widths:
        return "Theorem H"
    groups = net.block.kv_heads
    can_regroup = False
    if groups not in (None, 1):
        v = net.block.value_dim
        # Remark 3: shared keys and values of full rank let a head change its group.
        for H, (d_in, d_out, a) in zip(net.heads, net.layers, strict=True):
            fills = v >= min(H // groups * d_out, d_in)
            if H != groups and a >= d_in and fills:
                can_regroup = True
    return "Theorem H" if speaks_of_fibers(net) and not can_regroup else ""


@orders_of_heads.register
def _orders_of_heads(net: Transformer) -> Iterator[np.ndarray]:
    """Two neighbouring groups, or two neighbouring heads of the first group, change
    places: these generate all orders that keep groups together."""
    # Each parameter holds its place in the vector, so a moved weight is an order.
    places = unflatten(net, np.arange(net.num_parameters))
    for i, H in enumerate(net.heads, start=1):
        G = net.block.kv_heads or H
        heads = np.arange(H).reshape(G, -1)
        # pairs: the order of the groups, and that of the heads
        swaps = [(order, heads[order].ravel()) for order in _neighbours(G, G)]
        swaps += [(np.arange(G), order) for order in _neighbours(H // G, H)]
        for of_groups, of_heads in swaps:
            moved = dict(places)
            for names, order in (("KVkv", of_groups), ("QOq", of_heads)):
                for name in names:
                    if f"{i}.{name}" in places:
                        moved[f"{i}.{name}"] = places[f"{i}.{name}"][order]
            if f"{i}.beta" in places:
                moved[f"{i}.beta"] = places[f"{i}.beta"][of_heads]
            yield flatten(net, moved)


def _neighbours(count: int, among: int) -> Iterator[np.ndarray]:
    """Two neighbours of the first `count` change places."""
    for k in range(1, count):
        order = np.arange(among)
        order[[k - 1, k]] = (k, k - 1)
        yield order
