"""What a sweep's heat map holds: cells over two axes, how sure their numbers are, and what they come to."""

from dataclasses import dataclass

from neuroviz.engine.records import Record, Sweep

SHOWS = ("dimension", "deficit", "status")
KINDS = {  # how sure a number is, from the weakest: glyph, role, word
    "undecided": ("≈", "soft", "undecided"),
    "float": ("≈", "ghost", "floating point"),
    "exact": ("●", "measured", "exact"),
    "full rank": ("●", "measured", "full rank"),
    "certified": ("◆", "certified", "certified"),
}


@dataclass(frozen=True)
class SweepCell:
    """One place of the map.

    Attributes:
        column, row: where it stands, by the values of the axes.
        records: what was measured of the networks there, one or more.
    """

    column: int | str
    row: int | str
    records: tuple[Record, ...]

    @property
    def values(self) -> tuple[int, ...]:
        """The numbers that were found, increasing."""
        return tuple(sorted({record.value for record in self.records if not record.failed}))

    @property
    def failed(self) -> tuple[Record, ...]:
        """The records without a number."""
        return tuple(record for record in self.records if record.failed)

    @property
    def differences(self) -> tuple[int, ...]:
        """Measured minus theory, where both say something; increasing."""
        comparable = (r for r in self.records if not r.failed and is_comparable(r))
        return tuple(sorted({record.value - record.expected for record in comparable}))

    @property
    def kind(self) -> str | None:
        """How sure the weakest of its numbers is."""
        found = {kind_of(record) for record in self.records if not record.failed}
        return next((kind for kind in KINDS if kind in found), None)


@dataclass(frozen=True)
class SweepMap:
    """A sweep over two sizes.

    Attributes:
        cells: the places that have networks.
        columns, rows: the values on the axes, in order.
        column_title, row_title: what the axes vary.
        show: "dimension", "deficit" or "status".

    Raises:
        ValueError: if `show` is something else.
    """

    cells: tuple[SweepCell, ...]
    columns: tuple[int | str, ...]
    rows: tuple[int | str, ...]
    column_title: str
    row_title: str
    show: str

    def __post_init__(self) -> None:
        if self.show not in SHOWS:
            raise ValueError(f"show is one of {', '.join(map(repr, SHOWS))}; got {self.show!r}")

    @property
    def records(self) -> tuple[Record, ...]:
        """All that has been measured, each network once."""
        return tuple(dict.fromkeys(record for cell in self.cells for record in cell.records))


def is_comparable(record: Record) -> bool:
    """Whether measurement and theory both say a number: an undecided rank says none."""
    return record.expected is not None and record.decided is not False


def kind_of(record: Record) -> str:
    """How sure a number is: a key of `KINDS`."""
    if record.decided is False:
        return "undecided"
    return "full rank" if record.status == "exact" and record.error_bound == 0 else record.status


def headline(found: SweepMap) -> str:
    """What the map says, in a line: how many networks agree with theory, and how many failed."""
    records = found.records
    off = len(Sweep(records).disagreements)
    failed = sum(record.failed for record in records)
    unsure = sum(record.decided is False for record in records)
    unknown = sum(not r.failed and r.expected is None for r in records)
    agree = len(records) - off - failed - unsure - unknown
    of = f"of {len(records)} network{'s' if len(records) != 1 else ''}"
    one = "s" * (len(records) == 1)
    parts = [f"{off} {of} DIFFER{one.upper()} from theory" if off else f"{agree} {of} agree{one} with theory"]
    parts += [f"{unsure} undecided"] if unsure else []
    parts += [f"no formula for {unknown}"] if unknown else []
    return ", ".join([*parts, f"{failed} failed"])
