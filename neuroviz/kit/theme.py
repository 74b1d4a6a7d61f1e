"""Colours, fonts and sizes: the only place with a hex code.

A figure asks for a role ("measured", "formula", "outside"), never for a colour, and
every role has a second cue beside its hue (filled or hollow, dashed, hatched, a glyph
in the badge).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from html import escape
from pathlib import Path

FONT = "'Source Sans 3','Segoe UI','Helvetica Neue','Liberation Sans',Arial,sans-serif"

_ROLES = {  # light, dark
    "ground": ("#FFFFFF", "#15181C"),
    "panel": ("#F6F7F9", "#1E2227"),
    "ink": ("#14171A", "#F2F4F7"),
    "soft": ("#4A545E", "#B8C1CA"),
    "axis": ("#9AA3AD", "#7C8794"),
    "grid": ("#E3E7EB", "#2E343B"),
    "wash": ("#E6EBF0", "#262C33"),
    "measured": ("#1668B0", "#5AA9F0"),
    "formula": ("#14171A", "#F2F4F7"),
    "certified": ("#00806A", "#4FD6B0"),
    "outside": ("#A03A86", "#F0A0DC"),
    "focus": ("#D0450E", "#FF8A4C"),
    "ghost": ("#9AA3AD", "#7C8794"),
    "symmetry": ("#B9C3CD", "#56616C"),
    "singular": ("#F2B800", "#FFD21F"),
    "boundary": ("#14171A", "#FFFFFF"),
    "sheet a": ("#86B4DE", "#5E93C4"),
    "sheet mid": ("#CFD8E0", "#7F8B96"),
    "sheet b": ("#E3B994", "#B98A6C"),
    "ruling": ("#27435C", "#0B1622"),
    "layer 1": ("#BFE0F2", "#23496A"),
    "layer 2": ("#5FA8D3", "#3E7FB0"),
    "layer 3": ("#1B5E8C", "#83BFE8"),
    "layer 4": ("#0B2F4E", "#D3EBFA"),
}
_MODES = {
    mode: {role: codes[place] for role, codes in _ROLES.items()}
    for place, mode in enumerate(("light", "dark"))
}

# Colour scales as plotly wants them: entries of weights (a range symmetric about 0),
# and measured minus formula (from the largest deficit to 0, which has a colour of its
# own).
_SCALES = {
    "light": {
        "diverging": [
            [0, "#0B4F8A"],
            [0.25, "#7FB0D8"],
            [0.5, "#F7F7F7"],
            [0.75, "#EBA06B"],
            [1, "#A63A00"],
        ],
        "deficit": [
            [0, "#6E1F5D"],
            [0.6, "#C98ABB"],
            [0.92, "#EBD3E5"],
            [0.921, "#EEF1F4"],
            [1, "#EEF1F4"],
        ],
    },
    "dark": {
        "diverging": [
            [0, "#6CB4F2"],
            [0.25, "#2F5F88"],
            [0.5, "#22272D"],
            [0.75, "#9A5A2E"],
            [1, "#FFA866"],
        ],
        "deficit": [
            [0, "#F7C3EA"],
            [0.6, "#8A4B7B"],
            [0.92, "#43293D"],
            [0.921, "#262C33"],
            [1, "#262C33"],
        ],
    },
}

# Between these places of a scale letters in ink have more contrast than letters in the
# colour of the ground; tests/test_theme.py compares the two along each scale.
_INK_READS = {
    "light": {"diverging": (0.12506, 0.90626), "deficit": (0.38549, 1)},
    "dark": {"diverging": (0.16397, 0.79245), "deficit": (0.47557, 1)},
}

_SIZES = {
    "notebook": {
        "base": 14,
        "title": 15,
        "tick": 12,
        "note": 12,
        "marker": 8,
        "line": 2.2,
        "height": 370,
    },
    "lecture": {
        "base": 18,
        "title": 21,
        "tick": 16,
        "note": 16,
        "marker": 11,
        "line": 3.0,
        "height": 370,
    },
}

# Glyph, role of the border, and the words a reader sees. Glyph and words say it without
# the colour.
_STATUS = {
    "proved": ("■", "certified", "proved"),
    "proved here": ("□", "certified", "proved here"),
    "exact": ("●", "measured", "exact"),
    "certified": ("◆", "certified", "certified"),
    "float": ("≈", "ghost", "floating point"),
    "observed": ("○", "measured", "observed"),
    "conjectured": ("◇", "soft", "conjectured"),
    "no formula": ("–", "soft", "no formula"),
    "outside hypotheses": ("▨", "outside", "outside hypotheses"),
}

_chosen = {"mode": "light", "size": "notebook"}
"""What `use` has chosen, for all threads."""
_here: ContextVar[dict[str, str] | None] = ContextVar(
    "what `using` says in this thread", default=None
)


def use(mode: str | None = None, size: str | None = None) -> None:
    """Choose how figures made from now on look: mode "light" or "dark", size "notebook"
    or "lecture".

    Raises:
        ValueError: if the mode or the size is unknown.

    >>> use("dark"); color("ground")
    '#15181C'
    >>> use("light")
    """
    asked = (("mode", mode, _MODES), ("size", size, _SIZES))
    found = {
        key: _known(key, value, known)
        for key, value, known in asked
        if value is not None
    }
    here = _here.get()
    (_chosen if here is None else here).update(found)


def current() -> dict[str, str]:
    """The mode and the size in use, as arguments for `using`."""
    here = _here.get()
    return dict(_chosen if here is None else here)


@contextmanager
def using(choice: dict[str, str]) -> Iterator[None]:
    """The mode and size of an earlier `current()`, for the length of a with block, in
    this thread alone.

    What other threads choose meanwhile stays.
    """
    token = _here.set(current())
    try:
        use(**choice)
        yield
    finally:
        _here.reset(token)


def color(role: str) -> str:
    """The hex code of a role in the mode in use.

    Raises:
        ValueError: if there is no such role.
    """
    colors = _MODES[current()["mode"]]
    return colors[_known("role", role, colors)]


def scale(name: str) -> list[list]:
    """Places from 0 to 1 with colours: "diverging" for entries, "deficit" for measured
    minus formula.

    Raises:
        ValueError: if there is no such scale.
    """
    scales = _SCALES[current()["mode"]]
    return scales[_known("scale", name, scales)]


def letters_on(name: str, place: float) -> str:
    """The role, "ink" or "ground", of the letters that stand out more where a scale has
    a colour.

    By the contrast ratio of WCAG 2.2; whatever the colour, one of the two has a ratio
    of 4 or more.

    Args:
        name: of a scale, as in `scale`.
        place: on it, from 0 to 1.

    Raises:
        ValueError: if there is no such scale, or no such place on it.

    >>> letters_on("diverging", 0.0), letters_on("diverging", 0.5)
    ('ground', 'ink')
    """
    first, last = _INK_READS[current()["mode"]][
        _known("scale", name, _INK_READS["light"])
    ]
    if not 0 <= place <= 1:
        raise ValueError(f"a place on a scale is a number from 0 to 1; got {place!r}")
    return "ink" if first <= place <= last else "ground"


def size(name: str) -> float:
    """A font size, marker size, line width or figure height in pixels, in the size in
    use.

    Raises:
        ValueError: if there is no such size.
    """
    sizes = _SIZES[current()["size"]]
    return sizes[_known("size", name, sizes)]


def _known(what: str, value: str, known: dict) -> str:
    if not isinstance(value, str) or value not in known:
        raise ValueError(
            f"{what} must be one of {', '.join(map(repr, known))}; got {value!r}"
        )
    return value


def margin() -> dict[str, int]:
    """Pixels around the plots of every figure: left, right, top and bottom as "l", "r",
    "t" and "b".

    >>> margin()["l"]
    16
    """
    return {"l": 16, "r": 16, "t": round(2.2 * size("title")), "b": 12}


def template() -> dict:
    """The plotly template that all figures share, as plain data."""
    c = _MODES[current()["mode"]]
    s = _SIZES[current()["size"]]
    small = {"size": max(12, s["tick"] - 3), "color": c["soft"]}
    both = {"gridcolor": c["grid"], "zeroline": False, "linecolor": c["axis"]}
    axis = both | {
        "showgrid": True,
        "showline": True,
        "ticks": "outside",
        "ticklen": 4,
        "tickcolor": c["axis"],
        "tickfont": {"size": s["tick"], "color": c["soft"]},
        "title": {"font": {"size": s["base"]}, "standoff": 8},
        "automargin": True,
        "fixedrange": True,  # a drag that zooms would lose the picture
    }
    axis3 = both | {
        "showbackground": False,
        "showspikes": False,
        "nticks": 5,
        "ticks": "",
        "tickfont": small,
        "title": {"font": {"size": s["base"], "color": c["ink"]}},
    }
    buttons = (
        "zoom2d pan2d select2d lasso2d zoomIn2d zoomOut2d autoScale2d resetScale2d"
    )
    layout = {
        "font": {"family": FONT, "size": s["base"], "color": c["ink"]},
        "paper_bgcolor": c["ground"],
        "plot_bgcolor": c["ground"],
        "margin": margin(),
        "xaxis": axis,
        "yaxis": axis,
        "scene": {
            "xaxis": axis3,
            "yaxis": axis3,
            "zaxis": axis3,
            "dragmode": "turntable",
        },
        "colorway": [
            c[role] for role in ("measured", "focus", "certified", "outside", "soft")
        ],
        "showlegend": False,
        "hovermode": "closest",
        "uirevision": "keep",  # how a reader has turned it outlasts a redraw
        "annotationdefaults": {
            "font": {"size": s["note"], "color": c["ink"]},
            "showarrow": False,
            "arrowcolor": c["soft"],
            "arrowwidth": 1.5,
            "arrowhead": 2,
        },
        "hoverlabel": {
            "font": {"family": FONT, "size": s["tick"]},
            "bgcolor": c["panel"],
            "bordercolor": c["axis"],
        },
        "modebar": {
            "orientation": "v",
            "bgcolor": "rgba(0,0,0,0)",
            "color": c["ghost"],
            "activecolor": c["ink"],
            "remove": buttons.split(),
        },
    }
    return {"layout": layout}


def glyph(status: str) -> tuple[str, str]:
    """The sign of a status, and the role of its colour.

    >>> glyph("exact")
    ('●', 'measured')
    """
    return _STATUS[_known("status", status, _STATUS)][:2]


def badge_html(
    status: str, source: str = "", opens: tuple[str, str] | None = None
) -> str:
    """The badge of a status as HTML: glyph, words and source, with a border in the
    role's colour.

    Args:
        opens: what is seen when it is pressed: its name, and itself as HTML; see
            `neuroviz.kit.reasons`.

    >>> "proved here" in badge_html("proved here", "Theorem C")
    True
    """
    sign, role, words = _STATUS[_known("status", status, _STATUS)]
    text = f"{sign} {words}" + (f" · {source}" if source else "")
    light = _MODES["light"]
    look = f"border-color:{light[role]};color:{light['ink']};background:#FFFFFF"
    if opens is None:
        return f'<span class="nv-badge" style="{look}">{escape(text)}</span>'
    name, inside = opens
    press = f'type="button" popovertarget="{name}" title="what this rests on"'
    button = f'<button {press} class="nv-badge" style="{look}">{escape(text)}</button>'
    return button + inside


_PANEL = (
    Path(__file__)
    .with_name("javascript")
    .joinpath("panel.css")
    .read_text(encoding="utf-8")
)


def css() -> str:
    """The style sheet of a panel: the variables that `javascript/panel.css` reads, and
    that."""
    sizes = {
        size: f"--nv-base: {s['base']}px; --nv-title: {s['title'] + 2}px;"
        f" --nv-height: {s['height'] + 4}px;"
        for size, s in _SIZES.items()
    }
    # Errors stand on white in both modes, so theirs is the light colour.
    light = _MODES["light"]
    colors = (
        f"--nv-focus: {color('focus')}; --nv-soft: {light['soft']}; --nv-outside:"
        f" {light['outside']};"
    )
    return (
        f"<style>\n.nv {{ font-family: {FONT}; {colors} {sizes['notebook']} }}\n"
        f".nv.nv-lecture {{ {sizes['lecture']} }}\n{_PANEL}</style>"
    )
