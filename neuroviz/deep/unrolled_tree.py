"""The upper view: the ternary tree of a deep lightning network, from the recursion that the layers are."""

from typing import NamedTuple

from neuroviz.deep.unrolled_plan import MAX_LAYERS, Plan, axes_of, lines, row_name
from neuroviz.deep.unrolled_term import UnrollStudy, name_of
from neuroviz.engine.virtual import Factor
from neuroviz.kit import theme
from neuroviz.kit.plot import View, headline, label

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


def tree_view(study: UnrollStudy, plan: Plan) -> View:
    """The tree, on the axes x and y; y counts layers."""
    nodes = grow(study.layers)
    axes = axes_of(study, "", plan.tree, [-_BELOW, study.layers + _ABOVE])
    return View(_traces(study, nodes), axes, _annotations(study, nodes[-1]), [_wash(study, plan)])


def _traces(study: UnrollStudy, nodes: list[Node]) -> list[dict]:
    size = {node.place: theme.size("marker") + 4 + 2 * node.factor.layer for node in nodes}
    here = next(node for node in nodes if node.place == study.focus)
    edges = [
        (kind, (node.x, node.factor.layer, child, node.factor.layer - 1))
        for node in nodes
        for kind, child in zip(("value", "key", "query"), node.children, strict=True)
    ]
    thin = 0.7 * theme.size("line")
    return [
        lines("value and query", [edge for kind, edge in edges if kind != "key"], "soft", thin, "solid"),
        lines("key", [edge for kind, edge in edges if kind == "key"], "soft", thin, "dot"),
        {
            "type": "scatter",
            "name": "copies of X",
            "x": list(range(3**study.layers)),
            "y": [0] * 3**study.layers,
            "mode": "markers",
            "cliponaxis": False,
            "marker": {"size": 5, "color": theme.color("ink")},
            "hoverinfo": "skip",
        },
        {
            "type": "scatter",
            "name": "layers",
            "x": [node.x for node in nodes],
            "y": [node.factor.layer for node in nodes],
            "customdata": [_hover(node) for node in nodes],
            "mode": "markers",
            "cliponaxis": False,
            "marker": {
                "size": [size[node.place] for node in nodes],
                "color": [theme.color(f"layer {node.factor.layer}") for node in nodes],
                "opacity": 1,  # plotly makes marks of different sizes transparent
                "line": {"color": theme.color("ink"), "width": 1.2},
            },
            "hovertemplate": "%{customdata}<extra></extra>",
        },
        {
            "type": "scatter",
            "name": "the layer at the chosen place",
            "x": [here.x],
            "y": [here.factor.layer],
            "mode": "markers",
            "cliponaxis": False,
            "marker": {
                "symbol": "circle-open",
                "size": size[here.place] + 7,
                "color": theme.color("focus"),
                "line": {"width": 3},
            },
            "hoverinfo": "skip",
        },
    ]


def _hover(node: Node) -> str:
    mirrored = ", mirrored" if node.factor.transposed else ""
    return f"layer {node.factor.layer}{mirrored}: gives {name_of(node.factor)} at place {node.place}"


def _annotations(study: UnrollStudy, root: Node) -> list[dict]:
    layers, factors, level = study.layers, len(study.factors), study.layers - 1
    value, key, query = root.children
    look = {
        "font": {"size": theme.size("note"), "color": theme.color("soft")},
        "yanchor": "bottom",
    }
    away = theme.size("marker") + 5
    rows = [f"layer {h}" if h else "copies of X" for h in range(MAX_LAYERS + 1)]
    return [
        headline(
            f"{layers} layer{'s' if layers > 1 else ''}: {3**layers} copies of X, and between them "
            f"{factors} factor{'s' if factors > 1 else ''} M"
        ),
        label("value", value, level, **look, xanchor="right", xshift=-away),
        label("key, mirrored", key, level, **look, xanchor="left", xshift=away),
        label("query", query, level, **look, xanchor="left", xshift=away),
        *(row_name(name, min(h, layers), "y", h <= layers) for h, name in enumerate(rows)),
    ]


def _wash(study: UnrollStudy, plan: Plan) -> dict:
    """The quiet area behind the key's subtree and its part of the strip."""
    layers, third = study.layers, 3 ** (study.layers - 1)
    (low, high), pixel = plan.tree, plan.strip[1] / plan.height
    key_level = low + (high - low) * (layers - 1 + _BELOW) / (layers + _BELOW + _ABOVE)
    return {
        "type": "rect",
        "layer": "below",
        "xref": "x",
        "yref": "paper",
        "x0": third - 0.5,
        "x1": 2 * third - 0.5,
        "y0": (plan.bars[0] - 3) * pixel,
        "y1": key_level + (1.2 * theme.size("marker") + theme.size("note")) * pixel,
        "fillcolor": theme.color("wash"),
        "line": {"width": 0},
    }
