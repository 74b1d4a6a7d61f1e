"""A deep lightning network unrolled: the tree of its layers, over the strip of factors and tokens."""

from typing import NamedTuple

from numpy import base_repr

from neuroviz.beyond.unrolling.unrolling import Term, UnrollStudy
from neuroviz.beyond.unrolling.words import finding, link_name, name_of, number, token
from neuroviz.engine.unrolling import Factor
from neuroviz.kit import theme
from neuroviz.kit.plot import Parts, Plot, View, compose, layer_letters
from neuroviz.kit.scene import as_scene
from neuroviz.kit.words import numbered

_BELOW, _ABOVE = 0.12, 0.2  # room under the leaves and over the root, in levels
_X = (0.095, 0.895)  # ends of the tree, in figure widths; row names stand left, results right
_LABELLED = 3  # most layers for which the strip has room for labels
_PANEL_WIDTH = 1068  # pixels between the margins; all sizes follow from it
_BAR = 1.72  # width of a bar, in leaves


def unrolling_parts(study: UnrollStudy) -> Parts:
    """Tree and strip; with a reflection a second strip, upside down, lies below the first."""
    strip = _Strip(study)
    plot = theme.size("height") - round(2.2 * theme.size("title")) - 12  # less the template's margins
    tree = ((strip.height + 2.1 * theme.size("title")) / plot, 1.0)
    bars = (strip.rows["bars"][0] - 3) / plot
    below = strip.view((0.0, strip.height / plot))
    parts = compose(tree_view(study, _X, tree, bars), below, barmode="overlay")
    return as_scene(parts, "unrolled", study.moves, study.local, {})


# The tree, from the recursion that the layers are


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
    # plotly would make marks of different sizes transparent
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


# The strip


class _Strip:
    """The factors of Eq. 12 in a row, the tokens of one term between them, and the mirror; y in pixels.

    Attributes:
        rows: name → (lower end, height).
        height: of all rows.
    """

    def __init__(self, study: UnrollStudy) -> None:
        self._study, self._after, self._labelled = study, study.reflection, study.layers <= _LABELLED
        self._leaf = (_X[1] - _X[0]) * _PANEL_WIDTH / (3**study.layers + 1)  # pixels between two leaves
        value, unit = 1.6 if self._labelled else 0.3, theme.size("note")
        sizes = {"tokens": 2.3, "bars": 3.6, "ternary": 1.7, "values": value}
        if self._after:
            sizes |= {"bars": 2.3, "ternary": 0.0, "lines": 3.2}
            sizes |= {"values after": value, "bars after": 2.3, "tokens after": 2.3}
        self.height = top = unit * sum(sizes.values())
        self.rows = {}
        for name, size in sizes.items():
            top -= unit * size
            self.rows[name] = (top, unit * size)

    def view(self, y: tuple[float, float]) -> View:
        """The strip, on the axes x2 and y2."""
        study, after, plot = self._study, self._after, Plot("2", _X, y)
        self._plot = plot
        self._factors("bars", study, "")
        if after:
            self._factors("bars after", after, " afterwards")
        else:
            self._ternary()
        if self._labelled:
            self._values("values", "values", study, ())
        if self._labelled and after:
            self._values("values afterwards", "values after", after, after.changed)
        self._mirror()
        self._tokens("tokens", "tokens", study.indices)
        if after:
            self._tokens("tokens afterwards", "tokens after", after.indices)
        plot.axis("x", -1.0, float(3**study.layers), visible=False, showgrid=False)
        plot.axis("y", 0, self.height, visible=False, showgrid=False)
        plot.headline(finding(study))
        self._words()
        return plot.view()

    def _middle(self, row: str) -> float:
        low, height = self.rows[row]
        return low + height / 2

    def _start(self) -> float:
        """Where L stands, in leaves: left of the first copy of X."""
        return -min(0.35, 14 / self._leaf)

    def _text(self, name: str, x: list, row: str, text: list, size: str, roles: list, **more: object) -> None:
        """Words in a row, each in the colour of a role."""
        font = {"size": theme.size(size), "color": [theme.color(role) for role in roles]}
        look = {"mode": "text", "cliponaxis": False, "textfont": font, "marker": {}, **more}
        self._plot.points(name, x, [self._middle(row)] * len(x), text=text, **look)

    def _factors(self, row: str, term: Term, suffix: str) -> None:
        """Bars, hatched where the factor is transposed, and their names; under a hatched one's a plate."""
        study, (low, height) = self._study, self.rows[row]
        places, x = range(1, len(study.factors) + 1), [_bar_at(k + 1) for k in range(len(study.factors))]
        fill = [theme.color(f"layer {factor.layer}") for factor in study.factors]
        hover = [
            f"place {k}, in base 3 {base_repr(k, 3)}: {name_of(factor)}<br>"
            f"{link_name(study, k, term.indices)} = {number(value)}"
            for k, factor, value in zip(places, study.factors, term.values, strict=True)
        ]
        here = [k == study.focus for k in places]
        widths = [theme.size("line") + 1.5 if focus else 1 for focus in here]
        line = {"color": [theme.color("focus" if focus else "ink") for focus in here], "width": widths}
        # With a colour for each bar, plotly hatches in a contrasting one only under "overlay".
        hatch = {"fillmode": "overlay", "size": 9, "solidity": 0.2}
        hatch["shape"] = ["/" if factor.transposed else "" for factor in study.factors]
        look = {"base": [low] * len(x), "width": _BAR, "customdata": hover, "hover": "%{customdata}"}
        marker = {"color": fill, "line": line, "pattern": hatch}
        self._plot.bars(f"factors{suffix}", x, [height] * len(x), marker, **look)
        names = [f"<b>{name}</b>" for name in ("L", *map(name_of, study.factors))]
        roles = ["ink", *(layer_letters(factor.layer) for factor in study.factors)]
        plates = [0, *(int(factor.transposed) for factor in study.factors)]
        count = len(names) if self._labelled else 1
        plate = {"symbol": "square", "size": 1.7 * theme.size("base"), "opacity": plates[:count]}
        plate["color"] = [theme.color("ground"), *fill][:count]
        where = [self._start(), *x][:count]
        look = {"mode": "markers+text", "marker": plate}
        self._text(f"names{suffix}", where, row, names[:count], "base", roles[:count], **look)

    def _ternary(self) -> None:
        """The places in base 3, the digit that decides about the transpose bold; of many, the chosen one."""
        study = self._study
        places = range(1, len(study.factors) + 1) if self._labelled else [study.focus]
        kept = [(base_repr(k, 3), base_repr(k, 3).rstrip("0")) for k in places]
        digits = [f"{some[:-1]}<b>{some[-1]}</b>{every[len(some) :]}" for every, some in kept]
        roles = ["focus" if k == study.focus else "soft" for k in places]
        self._text("k in base 3", list(map(_bar_at, places)), "ternary", digits, "note", roles)

    def _values(self, name: str, row: str, term: Term, changed: tuple) -> None:
        """The numbers of one term under its factors, and dots between them, for they are multiplied."""
        numbers = [term.start, *term.values]
        places = range(len(numbers))
        dots = places[1:] if 2 * self._leaf > 5 * theme.size("note") else []
        x = [self._start(), *map(_bar_at, places[1:]), *map(_token_at, dots)]
        shown = [f"<b>{number(v)}</b>" if k in changed else number(v) for k, v in enumerate(numbers)]
        roles = ["focus" if k in changed else "ink" for k in places]
        self._text(name, x, row, shown + ["·"] * len(dots), "note", roles + ["soft"] * len(dots))

    def _tokens(self, name: str, row: str, indices: tuple) -> None:
        """The tokens between the factors; those in the window carry the colour of the mirror."""
        study, places = self._study, range(1, len(indices) + 1)
        marked = {len(indices)} if study.two_tokens else set(study.window)
        roles = ["focus" if k in marked else "soft" for k in places]
        ring = {"color": list(map(theme.color, roles)), "width": [2.5 if k in marked else 1 for k in places]}
        hover = [f"{numbered('j', k)} = {j + 1}" for k, j in zip(places, indices, strict=True)]
        hover[-1] += ", the output token"
        spelled = study.two_tokens or self._labelled
        text = [token(study, j) if spelled else str(j + 1) for j in indices]
        marker = {"size": 2 * theme.size("note"), "color": theme.color("ground"), "line": ring}
        look = {"mode": "markers+text" if self._labelled else "text", "marker": marker}
        look |= {"customdata": hover, "hover": "%{customdata}"}
        inks = ["ink"] * len(indices) if self._labelled else roles
        self._text(name, list(map(_token_at, places)), row, text, "note", inks, **look)

    def _mirror(self) -> None:
        """The window and its axis; after the reflection, where each number went, and which are new."""
        study, after, wide, half = self._study, self._after, theme.size("line"), theme.size("note")
        here, moved, changed = _bar_at(study.place), [], []
        if after:
            low, height = self.rows["lines"]
            top, changed = low + height, [(here, low + height, here, low) for _ in after.changed]
            moved = [(_bar_at(before), top, _bar_at(now), low) for before, now in after.moved]
        rows = over = [self._middle(row) for row in ("tokens", "tokens after") if row in self.rows]
        first, last = _token_at(study.window[0]), _token_at(study.window[-1])
        if study.two_tokens:
            rows = over = []
        elif not self._labelled:  # without rings the line crosses the numbers
            over = [y + side * 0.8 * half for y, side in zip(rows, (1, -1), strict=False)]
            first, last = first - 0.6, last + 0.6
        for name, segments, role, width, dash in (
            ("window of the mirror", [(first, y, last, y) for y in over], "focus", wide, "solid"),
            ("axis of the mirror", [(here, y - half, here, y + half) for y in rows], "focus", wide, "dot"),
            ("numbers that moved", moved, "axis", 1.4, "solid"),
            ("numbers that changed", changed, "focus", wide, "solid"),
        ):
            xs = [v for x, _, end, _ in segments for v in (x, end, None)]
            ys = [v for _, y, _, end in segments for v in (y, end, None)]
            self._plot.line(name, xs, ys, theme.color(role), width, dash, cliponaxis=False)

    def _words(self) -> None:
        study, after, few, plot = self._study, self._after, self._labelled, self._plot
        row = "values" if few else "bars"
        results = [(f"= <b>{number(study.value)}</b>", row)]
        names = [
            ("tokens", "tokens"),
            *[("k in base 3", "ternary")] * (not after),
            *[("values", "values")] * few,
        ]
        if after:
            total = f"sum <b>{number(study.value + after.value)}</b>"
            results.append((f"= <b>{number(after.value)}</b>", f"{row} after"))
            results.append((total, "lines"))
            names += [("turned", "tokens after"), *[("values", "values after")] * few]
        for text, where in names:
            row_name(plot, text, self._middle(where))
        for text, where in results:
            place = {"xref": "paper", "xanchor": "left", "yanchor": "middle"}
            plot.text(text, _X[1], self._middle(where), "base", "ink", **place)
        if after:
            said = f"<b>{name_of(study.factor)} ⇄ {name_of(study.turned_factor)}</b>"
            look = {"bgcolor": theme.color("ground"), "borderpad": 2}
            plot.text(said, _bar_at(study.place), self._middle("lines"), "base", "focus", **look)


def _bar_at(place: int) -> float:
    """The middle of the k-th bar, in leaves: it lies over the leaves 2k − 1 and 2k."""
    return 2 * place - 0.5


def _token_at(index: int) -> float:
    """Where j_k stands, in leaves: between the bars k − 1 and k."""
    return 2 * index - 1.5
