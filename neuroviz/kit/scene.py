"""A figure that the reader drags: the page computes floats at once, Python computes what is exact.

*Local* is float64, in the page and at once: `javascript/scene.js`, and one file for each scene, which
`tools/javascript/scenes.js` lists. *Exact* is the panel's answer, as of every panel: its words and badges
are dimmed until the answer is that of the place which the page shows. What is dragged moves the panel's
controls, so that a state, a slider and a handle are one thing. On paper, in tests, and where scenes do
not run, plotly draws the same parts.
"""

from neuroviz.kit import theme
from neuroviz.kit.plot import Parts

_ROLES = (
    "ground", "panel", "ink", "soft", "axis", "grid", "wash", "measured", "certified", "outside", "focus",
    "ghost", "symmetry", "singular", "ruling",
)  # fmt: skip


def as_scene(
    parts: Parts, name: str, place: dict, local: dict, ranges: dict, choices: dict | None = None
) -> Parts:
    """The parts of a figure, for the scene of this name.

    Args:
        parts: what plotly would draw.
        name: as in `tools/javascript/scenes.js`.
        place: control → value, of those that the scene drags: where the parts are exact.
        local: what the scene's formulas need.
        ranges: control → least, most and step, of those in `place` that are sliders.
        choices: control → values, in the order of the list, of those in `place` that are lists.
    """
    look = {
        "colors": {role: theme.color(role) for role in _ROLES},
        "diverging": [code for _, code in theme.scale("diverging")],
        "sizes": {size: theme.size(size) for size in ("base", "title", "note", "marker", "line")},
        "font": theme.FONT,
    }
    moves = {"place": place, "ranges": ranges, "choices": choices or {}}
    meta = {"scene": name, **moves, "local": local, "look": look}
    return parts._replace(layout={**parts.layout, "meta": meta})
