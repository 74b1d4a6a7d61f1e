"""What a sweep's heat map holds: cells over two sizes of the networks, and what they come to."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from neuroviz.engine.architecture import Architecture
from neuroviz.engine.records import Record, Sweep


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


@dataclass(frozen=True)
class SweepCell:
    """One place of the map: the values of the axes there, and what was measured of the networks there."""

    column: int | str
    row: int | str
    records: tuple[Record, ...]

    @property
    def values(self) -> tuple[int, ...]:
        """The numbers that were found, increasing."""
        return tuple(sorted({record.value for record in self.records if not record.failed}))

    @property
    def failed(self) -> int:
        """How many records have no number."""
        return sum(record.failed for record in self.records)

    @property
    def undecided(self) -> bool:
        """Whether one of the numbers is a rank that floating point could not decide."""
        return any(record.decided is False for record in self.records)

    @property
    def differences(self) -> tuple[int, ...]:
        """Measured minus theory, where both say something, which an undecided rank does not; increasing."""
        said = [r for r in self.records if not r.failed and r.expected is not None and r.decided is not False]
        return tuple(sorted({record.value - record.expected for record in said}))


@dataclass(frozen=True)
class SweepMap:
    """A sweep over two sizes: the places that have networks, the values on the axes, and their titles."""

    cells: tuple[SweepCell, ...]
    columns: tuple[int | str, ...]
    rows: tuple[int | str, ...]
    column_title: str
    row_title: str

    @property
    def headline(self) -> str:
        """What the map says: how many networks agree with theory, and how many failed."""
        records = tuple(dict.fromkeys(record for cell in self.cells for record in cell.records))
        off, failed = len(Sweep(records).disagreements), sum(record.failed for record in records)
        unsure = sum(record.decided is False for record in records)
        unknown = sum(not r.failed and r.expected is None for r in records)
        agree = len(records) - off - failed - unsure - unknown
        of = f"of {len(records)} network{'s' if len(records) != 1 else ''}"
        one = "s" * (len(records) == 1)
        parts = [
            f"{off} {of} DIFFER{one.upper()} from theory" if off else f"{agree} {of} agree{one} with theory"
        ]
        parts += [f"{unsure} undecided"] if unsure else []
        parts += [f"no formula for {unknown}"] if unknown else []
        return ", ".join([*parts, f"{failed} failed"])


def sweep_map(sweep: Sweep, x: str, y: str) -> SweepMap:
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
    )
