"""What the front page shows: a network whose weights move while its output stands
still, and where one can go from there.

The picture is drawn here, so that it is there without a script; `web/front/` moves what
is drawn here. Colours are variables of `look.css`, and turn to dark by themselves.
"""

import json
import re
from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np

from neuroviz.attention import Architecture
from neuroviz.rank.field import Reals
from neuroviz.rank.point import outputs
from tools.notebooks import name_of, place_of, sources

START = "00_start"
# No question of the course is about this network: what is seen here answers none.
NETWORK = Architecture((5, 6, 5), (3, 3), tokens=3)
SEED = 376  # no output is much larger than the others
DIGITS = 4  # of a weight
SIZES = (0.6, 1)  # of an output: then the weights of both layers are about as large

_CELL = 26
_BETWEEN = 8  # Q, K and V
_LETTER = 24  # left of a matrix
_APART = 46  # two layers
_LARGEST = 1.2  # an entry as large as this has the colour at the end of the scale
_BAR, _TOKEN = 18, 16  # a bar with the space beside it, and the space between tokens
_HALF = 132  # the longest bar
_DISC = 84  # its radius


@dataclass(frozen=True)
class Section:
    """A notebook of the course, as the first one lists it."""

    name: str
    title: str
    minutes: str
    question: str


def sections() -> list[Section]:
    """The five that follow the first notebook.

    >>> [one.name[:2] for one in sections()], sections()[1].question
    (['01', '02', '03', '04', '05'], 'Which weights give one layer the same function?')
    """
    row = re.compile(
        r"^# \| \[\d\d (?P<title>[^]]+)\]\((?P<name>\w+)\.ipynb\)"
        r" \| (?P<minutes>\d+) \| (?P<question>[^|]+) \|$",
        re.MULTILINE,
    )
    return [
        Section(
            one["name"],
            one["title"],
            one["minutes"],
            one["question"][0].upper() + one["question"][1:],
        )
        for one in row.finditer(_source(START))
    ]


def _source(name: str) -> str:
    (path,) = [path for path in sources() if name_of(path) == name]
    return Path(path).read_text(encoding="utf-8")


def minutes() -> str:
    """How long the first notebook takes, in its own words.

    >>> minutes()
    '15 minutes'
    """
    return re.search(r"About (\d+ minutes)", _source(START))[1]


def facts() -> dict:
    """Weights, an input and the output of the network, by Python.

    >>> found = facts()
    >>> np.array(found["layers"][0]["Q"]).shape, np.array(found["output"]).shape
    ((3, 5), (5, 3))
    """
    rng = np.random.default_rng(SEED)
    over = Reals()
    X = rng.uniform(-1, 1, (NETWORK.widths[0], NETWORK.tokens)).round(DIGITS)
    layers = []
    before = X
    for (d, d_out, a), wanted in zip(NETWORK.layers, SIZES, strict=True):
        one = Architecture((d, d_out), (a,), NETWORK.tokens)
        shapes = one.parameter_shapes
        weights = {name: rng.uniform(-1, 1, shape) for name, shape in shapes.items()}
        size = np.sqrt(np.mean(outputs(one, over, weights, before[None]) ** 2))
        # The output is of degree 1 in each of Q, K and V.
        weights = {
            name: (matrix * np.cbrt(wanted / size)).round(DIGITS)
            for name, matrix in weights.items()
        }
        before = outputs(one, over, weights, before[None])[0]
        # "1.Q" is "Q" of the one layer.
        layers.append({name[2:]: matrix.tolist() for name, matrix in weights.items()})
    return {
        "schema": "front/1",
        "parameters": NETWORK.num_parameters,
        "layers": layers,
        "input": X.tolist(),
        "output": before.tolist(),
    }


# The picture


def picture() -> str:
    """The scene as HTML; the script finds its parts by their classes."""
    found = facts()
    count = found["parameters"]
    data = json.dumps(found, separators=(",", ":"))
    return "\n".join(
        [
            '<div class="nv-front-scene">',
            '<div class="weights">',
            f'<p class="says"><b>{count} weights</b> <span>can all move</span></p>',
            _weights(found["layers"]),
            "</div>",
            '<div class="hold">',
            _disc(),
            '<p class="hint"><b>Drag the ring</b>, or any single weight sideways.</p>',
            "</div>",
            '<div class="output">',
            '<p class="says"><b>The output</b> <span>stands still</span></p>',
            _output(np.array(found["output"])),
            '<p class="most"></p>',
            "</div>",
            f'<script type="application/json" class="facts">{data}</script>',
            "</div>",
        ]
    )


def shade(entry: float) -> str:
    """The colour of an entry, of five; `web/front/shade.ts` once more.

    >>> shade(0.0), shade(-9.0)
    ('var(--nv-d2)', 'var(--nv-d0)')
    >>> shade(0.9)
    'color-mix(in srgb,var(--nv-d4) 50%,var(--nv-d3))'
    """
    place = 2 + 2 * max(-1.0, min(1.0, entry / _LARGEST))
    low = int(place)
    # Steps of 5 %: in a frame few cells change.
    share = 5 * round(20 * (place - low))
    if not share:
        return f"var(--nv-d{low})"
    return f"color-mix(in srgb,var(--nv-d{low + 1}) {share}%,var(--nv-d{low}))"


def _weights(layers: list[dict]) -> str:
    """Q, K and V of each layer below one another, a cell each entry."""
    parts = []
    left = 0
    tall = max(_CELL * sum(map(len, layer.values())) + 2 * _BETWEEN for layer in layers)
    for i, layer in enumerate(layers):
        left += _LETTER if i == 0 else _APART
        columns = len(layer["Q"][0])
        top = (tall - _CELL * sum(map(len, layer.values())) - 2 * _BETWEEN) / 2
        for name, matrix in layer.items():
            middle = top + _CELL * len(matrix) / 2 + 5
            parts.append(
                f'<text x="{left - 12}" y="{middle:g}" text-anchor="middle">{name}'
                "</text>"
            )
            parts += [
                f'<rect x="{left + _CELL * column}" y="{top + _CELL * row:g}"'
                f' width="{_CELL - 2}" height="{_CELL - 2}" rx="2"'
                f' style="fill:{shade(entry)}"/>'
                for row, entries in enumerate(matrix)
                for column, entry in enumerate(entries)
            ]
            top += _CELL * len(matrix) + _BETWEEN
        left += _CELL * columns
    name = f"The weights of a network of {len(layers)} layers"
    return _svg((-4, -4, left + 8, tall + 8), name, parts)


def _output(output: np.ndarray) -> str:
    """A bar each entry, token by token: hollow ones, which stay, over filled ones."""
    rows, tokens = output.shape
    largest = np.abs(output).max()
    # A weight that moves alone moves the output; its bars may grow so much.
    scale = _HALF / largest / 1.15
    filled = []
    hollow = []
    words = []
    for token, column in enumerate(output.T):
        start = token * (_BAR * rows + _TOKEN)
        middle = start + _BAR * rows / 2
        words.append(
            f'<text x="{middle:g}" y="{_HALF + 20}" text-anchor="middle">token'
            f" {token + 1}</text>"
        )
        for row, value in enumerate(column):
            tall = abs(value) * scale
            at = (
                f'x="{start + _BAR * row + 1}" y="{-tall if value > 0 else 0:.2f}"'
                f' width="{_BAR - 3}" height="{tall:.2f}"'
            )
            filled.append(f'<rect class="now" {at}/>')
            hollow.append(f'<rect class="start" {at}/>')
    wide = tokens * (_BAR * rows + _TOKEN) - _TOKEN
    rule = f'<path class="rule" d="M0 0H{wide}"/>'
    parts = [*filled, rule, *hollow, *words]
    name = f"The output for an input of {tokens} tokens, {rows} numbers each"
    box = (-4, -_HALF - 4, wide + 8, 2 * _HALF + 32)
    return _svg(box, name, parts, f' data-scale="{scale:.6f}"')


def _disc() -> str:
    """Where the ring goes: each point of it is a change of all weights."""
    parts = [
        f'<circle class="disc" r="{_DISC}"/>',
        f'<path class="rule" d="M-{_DISC} 0H{_DISC}M0-{_DISC}V{_DISC}"/>',
        '<polyline class="trail"/>',
    ]
    room = _DISC + 12
    return _svg(
        (-room, -room, 2 * room, 2 * room),
        "Changes of all weights",
        parts,
        f' data-radius="{_DISC}"',
    )


def _svg(box: tuple[float, ...], name: str, parts: list[str], more: str = "") -> str:
    view = " ".join(f"{number:g}" for number in box)
    inside = "".join(parts)
    return (
        f'<svg viewBox="{view}" role="group" aria-label="{escape(name)}"{more}>'
        f"{inside}</svg>"
    )


# Where to go

# A sign for each section: two factors of a matrix; a curve to walk along; a curve that
# crosses itself; layers; a function that saturates.
SIGNS = {
    "01": '<path d="M16 18h14v26H16zM34 4h26v10H34z"/>'
    '<path class="held" d="M34 18h26v26H34z"/>',
    "02": '<path d="M8 4C12 32 26 38 66 43"/><circle class="held" cx="20" cy="30"'
    ' r="5"/>',
    "03": '<path d="M4 6C24 12 46 46 60 38C70 31 58 14 42 20C28 26 16 38 4 42"/>'
    '<circle class="held" cx="30.5" cy="25.5" r="5"/>',
    "04": '<path d="M4 6h64v8H4zM4 20h46v8H4z"/><path class="held" d="M4 34h28v8H4z"/>',
    "05": '<path d="M4 43H68"/><path class="held" d="M4 41C30 41 32 36 38 24C43 13 46 7'
    ' 68 7"/>',
}


def begin(chosen: list[str]) -> str:
    """The page that one begins with.

    >>> begin(["00_start", "beyond/heads"]), begin(["beyond/heads"]), begin([])
    ('notebooks/00_start.html', 'beyond/notebooks/heads.html', 'downloads.html')
    """
    first = START if START in chosen else next(iter(chosen), None)
    return f"{place_of(first)}.html" if first else "downloads.html"


def cards(chosen: list[str]) -> str:
    """A card a section: its question, and the way to its page; one that is not in this
    site leads nowhere."""
    rows = []
    for one in sections():
        inside = (
            f'<svg viewBox="0 0 72 48" aria-hidden="true">{SIGNS[one.name[:2]]}</svg>'
            f'<span class="number">{one.name[:2]}</span>'
            f'<strong class="question">{escape(one.question)}</strong>'
            f'<span class="title">{escape(one.title)} · {one.minutes} minutes</span>'
        )
        rows.append(
            f'<li><a href="{place_of(one.name)}.html">{inside}</a></li>'
            if one.name in chosen
            else f"<li><div>{inside}</div></li>"
        )
    return '<ul class="cards">\n' + "\n".join(rows) + "\n</ul>"


def more(chosen: list[str]) -> str:
    """The notebooks beyond the course, as the first one names them; empty where there
    are none."""
    named = re.findall(
        r"\[([^]]+)\]\(\.\./(beyond)/notebooks/(\w+)\.ipynb\)", _source(START)
    )
    links = [
        f'<a href="{place_of(f"{folder}/{name}")}.html">{escape(words)}</a>'
        for words, folder, name in named
        if f"{folder}/{name}" in chosen
    ]
    return f"For those who want more: {', '.join(links)}." if links else ""
