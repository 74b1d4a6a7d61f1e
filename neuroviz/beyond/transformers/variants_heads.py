"""The heads of a layer as small matrices, as drawn and blended; and whether the function noticed."""

import numpy as np

from neuroviz.beyond.transformers.blending import Blend
from neuroviz.kit.matrices import Row, Tile, largest_entry, matrices_view
from neuroviz.kit.plot import View, headline
from neuroviz.kit.words import numbered, percent, tiny

MOST_HEADS = 6


def heads_view(blend: Blend, x_domain: tuple[float, float], y_domain: tuple[float, float], axis: str) -> View:
    """A_h before and now, on one plane."""
    limit = largest_entry(blend.before, blend.now)
    rows = [
        _row("was", "drawn", "", blend.before, limit),
        _row("now", "now", "′", blend.now, limit, _frame(blend)),
    ]
    view = matrices_view(rows, x_domain, y_domain, axis)
    return View(view.traces, view.axes, [*view.annotations, headline(_said(blend), axis)], view.shapes)


def _frame(blend: Blend) -> str:
    """Around heads that moved: the function stays, or it does not."""
    if not blend.place or len(blend.g) == 1:
        return ""
    return "certified" if blend.keeps else "outside"


def _row(heading: str, name: str, mark: str, heads: np.ndarray, limit: float, frame: str = "") -> Row:
    tiles = [
        Tile(f"{numbered('A', h)}{mark}, {name}", matrix, limit, above=numbered("A", h) + mark, frame=frame)
        for h, matrix in enumerate(heads, start=1)
    ]
    return Row(heading, (*tiles, *[None] * (MOST_HEADS - len(tiles))))


def _said(blend: Blend) -> str:
    if len(blend.g) == 1:
        return "One head: nothing to blend with"
    if not blend.place:
        return "Heads as drawn: move the slider blend"
    if blend.keeps:
        return f"Blended: the function stays ({tiny(blend.deviation)})"
    return f"Forced to blend: outputs off by {percent(blend.deviation)}"
