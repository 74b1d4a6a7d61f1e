"""The picture of cost against size, from the tables of a run: a plotly figure, and a
PNG of it for README.md.

from benchmarks.plot import cost_figure
from benchmarks.tables import read
cost_figure(read())
"""

import os
import shutil
import tempfile
from math import log10
from pathlib import Path

import plotly.graph_objects as go

from benchmarks.ranks import ENGINES
from benchmarks.tables import Table
from neuroviz.kit import theme
from neuroviz.kit.plot import View, compose, headline, label, make

PICTURE = Path(__file__).parents[2] / "docs" / "pictures" / "cost.png"
SIZE = 1100, 470
_COLORS = {
    "int8": "certified",
    "float32": "measured",
    "float64": "layer 3",
    "row space": "outside",
    "flint": "focus",
    "product": "ink",
}
_DASHES = {"product": "dash", "row space": "dot", "flint": "dashdot"}
_WORDS = {
    "int8": "exact, int8",
    "float32": "exact, float32",
    "float64": "exact, float64",
    "row space": "row space",
    "flint": "python-flint",
    "product": "plain float64 product",
}
# of a power of ten: how far two labels at the right end keep from each other
_APART = 0.32


def in_seconds(time: float) -> str:
    """Two digits, and no powers of ten."""
    return f"{time:.2g} s" if time < 100 else f"{time:.0f} s"


def cost_figure(results: list[Table]) -> go.Figure:
    """Seconds against size: exact ranks by each engine, and whole measurements.

    Args:
        results: tables of a run, as `benchmarks.tables.read` gives them.

    Raises:
        ValueError: if the tables "ranks" and "networks" are not among them.
    """
    by_name = {table.name: table for table in results}
    if missing := {"ranks", "networks"} - set(by_name):
        raise ValueError(
            "the picture needs the tables ranks and networks; there is no "
            f"{' and no '.join(sorted(missing))}: run python -m benchmarks"
        )
    figure = make(
        compose(_ranks_view(by_name["ranks"]), _networks_view(by_name["networks"]))
    )
    figure.update_layout(
        width=SIZE[0], height=SIZE[1], margin={"l": 70, "r": 30, "t": 50, "b": 60}
    )
    return figure


def _ranks_view(table: Table) -> View:
    n = table.column("n")
    found = {
        name: [
            (x, y)
            for x, y in zip(n, table.column(f"{name}, s"), strict=True)
            if y is not None
        ]
        for name in ENGINES
    }
    drawn = {name: points for name, points in found.items() if points}
    traces = [
        _line(_WORDS[name], points, _COLORS[name], _DASHES.get(name, "solid"))
        for name, points in drawn.items()
    ]
    notes = []
    ends: dict[int, dict[str, float]] = {}
    for name, points in drawn.items():
        x, y = points[-1]
        ends.setdefault(x, {})[name] = log10(y)
    for x, heights in ends.items():
        for name, height in _spread(heights).items():
            notes.append(_name_of_line(_WORDS[name], log10(x), height, _COLORS[name]))
    product, float64 = (
        table.column(f"{name}, s")[-1] for name in ("product", "float64")
    )
    said = (
        f"Exact rank at n = {n[-1]:,}: {float64 / product:.1f} × the time of a plain"
        " product"
    )
    axes = _axes("", (0.0, 0.6), "columns n", "seconds", n, 0.55)
    return View(traces, axes, [headline(said), *notes], [])


def _networks_view(table: Table) -> View:
    P = table.column("parameters P")
    taken = table.column("seconds")
    trace = _line(
        "measure_dimension", list(zip(P, taken, strict=True)), "measured", "solid"
    ) | {
        "xaxis": "x2",
        "yaxis": "y2",
    }
    font = {"size": theme.size("note")}
    before_it = {
        "xanchor": "right",
        "yanchor": "bottom",
        "xshift": -4,
        "yshift": 6,
        "font": font,
    }
    notes = [
        label(
            f"{in_seconds(seconds)}, {peak:,.0f} MB",
            log10(p),
            log10(seconds),
            "2",
            **before_it,
        )
        for p, seconds, peak in zip(P, taken, table.column("peak, MB"), strict=True)
    ]
    said = f"{P[-1]:,} parameters: {in_seconds(taken[-1])}"
    axes = _axes("2", (0.7, 1.0), "parameters P", "seconds", P, 0.15, before=0.9)
    return View([trace], axes, [headline(said, "2"), *notes], [])


def _line(name: str, points: list[tuple[float, float]], color: str, dash: str) -> dict:
    return {
        "name": name,
        "x": [x for x, _ in points],
        "y": [y for _, y in points],
        "mode": "lines+markers",
        "showlegend": False,
        "line": {
            "color": theme.color(color),
            "width": theme.size("line"),
            "dash": dash,
        },
        "marker": {"size": theme.size("marker") - 1, "color": theme.color(color)},
        "hovertemplate": f"{name}, %{{x:,}}: %{{y:.3g}} s<extra></extra>",
    }


def _name_of_line(text: str, x: float, y: float, color: str) -> dict:
    font = {"size": theme.size("note"), "color": theme.color(color)}
    return label(text, x, y, xanchor="left", xshift=10, font=font)


def _spread(heights: dict[str, float]) -> dict[str, float]:
    """The heights of labels, moved apart where they would cover each other; their
    middle stays.

    >>> apart = _spread({"a": 1.0, "b": 1.0})
    >>> {name: round(height, 2) for name, height in apart.items()}
    {'a': 0.84, 'b': 1.16}
    """
    placed: dict[str, float] = {}
    last = None
    for name in sorted(heights, key=heights.get):
        last = heights[name] if last is None else max(heights[name], last + _APART)
        placed[name] = last
    if not placed:
        return placed
    moved = sum(placed[name] - heights[name] for name in placed) / len(placed)
    return {name: height - moved for name, height in placed.items()}


def _axes(
    axis: str,
    domain: tuple,
    x_title: str,
    y_title: str,
    x: list[float],
    after: float,
    before: float = 0.15,
) -> dict:
    """Logarithmic both ways; room for labels before the first and after the last size,
    in powers of ten."""
    return {
        f"xaxis{axis}": {
            "anchor": f"y{axis}",
            "domain": domain,
            "type": "log",
            "range": [log10(x[0]) - before, log10(x[-1]) + after],
            "tickvals": x,
            "ticktext": [f"{value:,}" for value in x],
            "title": {"text": x_title},
        },
        f"yaxis{axis}": {
            "anchor": f"x{axis}",
            "type": "log",
            "tickvals": [10.0**e for e in range(-4, 5)],
            "ticktext": [f"{10.0**e:g}" for e in range(-4, 5)],
            "title": {"text": y_title},
        },
    }


def save_picture(results: list[Table]) -> bool:
    """A PNG of the picture, by a browser; says so, and returns False, where there is
    none."""
    browser = next(
        filter(
            None, map(shutil.which, (os.environ.get("CHROMIUM") or "", *_CHROMIUMS))
        ),
        None,
    )
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        sync_playwright = None
    if browser is None or sync_playwright is None:
        what = (
            "playwright"
            if sync_playwright is None
            else "a Chromium (CHROMIUM=/path/to/it)"
        )
        print(f"{PICTURE.name} was not drawn anew: that needs {what}")
        return False
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = Path(folder) / "cost.html"
        cost_figure(results).write_html(
            page_file, include_plotlyjs=True, config={"displayModeBar": False}
        )
        chromium = playwright.chromium.launch(
            executable_path=browser, args=["--no-sandbox", "--disable-gpu"]
        )
        page = chromium.new_page(
            viewport={"width": SIZE[0], "height": SIZE[1]}, device_scale_factor=2
        )
        page.goto(page_file.as_uri())
        page.wait_for_selector(".js-plotly-plot .main-svg")
        page.locator(".js-plotly-plot").screenshot(path=PICTURE)
        chromium.close()
    return True


_CHROMIUMS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
