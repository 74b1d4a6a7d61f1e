"""The upper view: the ternary tree of a deep lightning network, from the recursion that the layers are."""

from typing import NamedTuple

from neuroviz.deep.unrolling import UnrollStudy
from neuroviz.deep.unrolling_words import name_of
from neuroviz.engine.virtual import Factor
from neuroviz.kit import theme
from neuroviz.kit.plot import Plot, View

_BELOW, _ABOVE = 0.12, 0.2  # room under the leaves and over the root, in levels


class Node(NamedTuple):
    """One layer, applied somewhere in the tree; it stands over its key child.

    Attributes:
        factor: its M, transposed if the node lies inside an odd number of keys.
        place: which place that M takes in the product, from 1.
        x: where it stands, in leaves.
        children: where value, key and query stand.
    """

    factor: Factor
    place: int
    x: float
    children: tuple[float, float, float]


def grow(layers: int, first: int = 0, mirrored: bool = False) -> list[Node]:
    """The tree by the recursion S_h = S_{h−1} · reversed(S_{h−1})ᵀ · M_h · S_{h−1} with S_0 = X ("Eq. 12").

    Value, key and query of a layer are the three copies of S_{h−1}, from left to right. Reversing a
    product transposes it: there they stand from right to left.

    Args:
        layers: h, the height of the tree.
        first: the leaf it begins with.
        mirrored: draw S_hᵀ.

    Returns:
        The nodes, the root last.

    >>> [(name_of(node.factor), node.place) for node in grow(2)]
    [('M₁', 1), ('M₁ᵀ', 2), ('M₁', 4), ('M₂', 3)]
    """
    if layers == 0:
        return []
    size = 3 ** (layers - 1)
    starts = (first, first + size, first + 2 * size)
    below = [
        node
        for start, turned in zip(starts, (mirrored, not mirrored, mirrored), strict=True)
        for node in grow(layers - 1, start, turned)
    ]
    value, key, query = (start + (size - 1) / 2 for start in (starts[::-1] if mirrored else starts))
    # M_h stands between key and query. The k-th factor lies between the leaves 2k − 1 and 2k.
    place = (starts[1] if mirrored else starts[2]) // 2
    return [*below, Node(Factor(layers, mirrored), place, key, (value, key, query))]


def row_name(plot: Plot, text: str, y: float) -> None:
    """The name of a row, to its left."""
    plot.text(text, 0, y, "note", "soft", xref="paper", xanchor="left", yanchor="middle")


def tree_view(study: UnrollStudy, x: tuple[float, float], y: tuple[float, float], bars: float) -> View:
    """The tree, on the axes x and y; y counts layers. The wash behind the key goes down to `bars`."""
    layers, nodes, plot = study.layers, grow(study.layers), Plot("", x, y)
    size = {node.place: theme.size("marker") + 4 + 2 * node.factor.layer for node in nodes}
    here = next(node for node in nodes if node.place == study.focus)
    for name, kinds, dash in (("value and query", (0, 2), "solid"), ("key", (1,), "dot")):
        ends = [(node, node.children[kind]) for node in nodes for kind in kinds]
        across = [x for node, child in ends for x in (node.x, child, None)]
        down = [y for node, _ in ends for y in (node.factor.layer, node.factor.layer - 1, None)]
        width = 0.7 * theme.size("line")
        plot.line(name, across, down, theme.color("soft"), width, dash, cliponaxis=False)
    leaves, dot = list(range(3**layers)), {"size": 5, "color": theme.color("ink")}
    plot.points("copies of X", leaves, [0] * len(leaves), dot, cliponaxis=False)
    at, heights = [node.x for node in nodes], [node.factor.layer for node in nodes]
    colors = [theme.color(f"layer {node.factor.layer}") for node in nodes]
    look = {"size": [size[node.place] for node in nodes], "color": colors}
    # plotly makes marks of different sizes transparent
    look |= {"opacity": 1, "line": {"color": theme.color("ink"), "width": 1.2}}
    said = {"customdata": [_hover(node) for node in nodes], "hover": "%{customdata}"}
    plot.points("layers", at, heights, look, cliponaxis=False, **said)
    ring = {"symbol": "circle-open", "size": size[here.place] + 7, "color": theme.color("focus")}
    ring["line"] = {"width": 3}
    plot.points("the layer at the chosen place", [here.x], [here.factor.layer], ring, cliponaxis=False)
    plot.axis("x", -1.0, float(3**layers), visible=False, showgrid=False)
    plot.axis("y", -_BELOW, layers + _ABOVE, visible=False, showgrid=False)
    factors = len(study.factors)
    plot.headline(
        f"{layers} layer{'s' * (layers > 1)}: {3**layers} copies of X, and between them "
        f"{factors} factor{'s' * (factors > 1)} M"
    )
    away, names = theme.size("marker") + 5, ("value", "key, mirrored", "query")
    for name, child in zip(names, nodes[-1].children, strict=True):
        anchor, shift = ("right", -away) if name == "value" else ("left", away)
        place = {"yanchor": "bottom", "xanchor": anchor, "xshift": shift}
        plot.text(name, child, layers - 1, "note", "soft", **place)
    for h in range(layers + 1):
        row_name(plot, f"layer {h}" if h else "copies of X", h)
    # The quiet area behind the key's subtree and its part of the strip
    low, high = y
    level = low + (high - low) * (layers - 1 + _BELOW + 0.2) / (layers + _BELOW + _ABOVE)
    third = 3 ** (layers - 1)
    plot.region((third - 0.5, 2 * third - 0.5), (bars, level), {"width": 0}, theme.color("wash"))
    plot.view().shapes[-1]["yref"] = "paper"
    return plot.view()


def _hover(node: Node) -> str:
    mirrored = ", mirrored" if node.factor.transposed else ""
    return f"layer {node.factor.layer}{mirrored}: gives {name_of(node.factor)} at place {node.place}"
