"""A sweep as a heat map over any two sizes of its networks: dimensions, what differs from theory, how sure.

A cell holds whatever records fall into it: one number, or the smallest and the largest of several. What
failed has a mark, and a place that no network has is empty.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import plotly.graph_objects as go

from neuroviz.beyond.sweep.cells import cells_view
from neuroviz.beyond.sweep.map import SHOWS, SweepCell, SweepMap
from neuroviz.engine.architecture import Architecture
from neuroviz.engine.records import Record, Sweep
from neuroviz.kit.plot import Parts, compose, make


@dataclass(frozen=True)
class Axis:
    """What a network's place on an axis is: the title of the axis, and its value there."""

    title: str
    of: Callable[[Architecture], int | str]


def _all_equal(name: str, numbers: Iterable[int], arch: Architecture) -> int:
    found = sorted(set(numbers))
    if len(found) != 1:
        has = f"has {', '.join(map(str, found))}" if found else "has none"
        raise ValueError(f"the axis {name!r} needs one value for a network; {arch} {has}: take another axis")
    return found[0]


def _of_layer(name: str, layer: int, arch: Architecture) -> int:
    if arch.num_layers < layer:
        raise ValueError(f"the axis {name!r} needs {layer} layers; {arch} has fewer: take another axis")
    return arch.head_dims[layer - 1]


AXES: dict[str, Axis] = {
    "layers": Axis("layers l", lambda arch: arch.num_layers),
    "tokens": Axis("tokens t", lambda arch: arch.tokens),
    "width": Axis("width d", lambda arch: _all_equal("width", arch.widths, arch)),
    "d0": Axis("input width d₀", lambda arch: arch.widths[0]),
    "inner width": Axis("inner width δ", lambda arch: _all_equal("inner width", arch.widths[1:-1], arch)),
    "dl": Axis("output width d<sub>l</sub>", lambda arch: arch.widths[-1]),
    "a": Axis("head dimension a", lambda arch: _all_equal("a", arch.head_dims, arch)),
    "a1": Axis("head dimension a₁", lambda arch: _of_layer("a1", 1, arch)),
    "a2": Axis("head dimension a₂", lambda arch: _of_layer("a2", 2, arch)),
    "attention": Axis("attention", lambda arch: arch.attention),
    "parameters": Axis("parameters", lambda arch: arch.num_parameters),
}
"""The axes that a sweep can be drawn over, by name."""


def sweep_figure(sweep: Sweep, x: str, y: str, show: str = "dimension") -> go.Figure:
    """A heat map of a sweep.

    Args:
        sweep: what `neuroviz.sweep` returns.
        x, y: two of `AXES`: "layers", "tokens", "width", "d0", "inner width", "dl", "a", "a1", "a2",
            "attention", "parameters".
        show: "dimension", "deficit" (measured − theory) or "status" (how sure each number is).

    Raises:
        ValueError: if there is nothing to draw, an axis or `show` is none of these, or a network has no
            place, or several, on an axis.

    >>> from neuroviz.engine.sweep import sweep
    >>> found = sweep([Architecture.uniform(d, a, 2) for d in (2, 3) for a in (1, 2)], progress=False)
    >>> sweep_figure(found, "width", "a").layout.annotations[0].text
    '<b>4 of 4 networks agree with theory, 0 failed</b>'
    """
    return make(map_parts(sweep_map(sweep, x, y, show)))


def sweep_map(sweep: Sweep, x: str, y: str, show: str = "dimension") -> SweepMap:
    """The cells of `sweep_figure`, with the records that fall into each.

    Raises:
        ValueError: as `sweep_figure`.
    """
    if not isinstance(sweep, Sweep) or not sweep.records:
        raise ValueError(f"a heat map needs a Sweep with records, as neuroviz.sweep returns; got {sweep!r}")
    for name in (x, y):
        if name not in AXES:
            raise ValueError(f"an axis is one of {', '.join(map(repr, AXES))}; got {name!r}")
    if x == y:
        raise ValueError(f"a heat map needs two different axes; got {x!r} twice")
    places: dict[tuple, list[Record]] = {}
    for record in dict.fromkeys(sweep.records):
        places.setdefault((AXES[x].of(record.arch), AXES[y].of(record.arch)), []).append(record)
    return SweepMap(
        tuple(SweepCell(*place, tuple(records)) for place, records in places.items()),
        tuple(sorted({column for column, _ in places})),
        tuple(sorted({row for _, row in places})),
        AXES[x].title,
        AXES[y].title,
        show,
    )


def map_parts(found: SweepMap) -> Parts:
    """The figure of cells that are there already."""
    return compose(cells_view(found))


__all__ = ["AXES", "SHOWS", "Axis", "map_parts", "sweep_figure", "sweep_map"]
