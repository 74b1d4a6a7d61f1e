"""The records of a sweep: one network, what was measured, and what theory says; as a line, a row, a table."""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from math import inf
from pathlib import Path

from neuroviz.engine.architecture import Architecture
from neuroviz.engine.block import Block

VERSION = 2
"""Of the records: another one when the same seed no longer gives the same ones."""


@dataclass(frozen=True)
class Record:
    """What was measured of one architecture: the numbers of its `Measurement`, and what theory says.

    Attributes:
        value: the dimension; None where it failed.
        status: that of the measurement, or "failed".
        expected, source: `expected_dimension`, and the statement it comes from.
        error_bound, prime: exact only.
        gap, decided: float only.
        note: how the number was found, or why there is none.
    """

    arch: Architecture
    method: str
    seed: int
    value: int | None
    status: str
    expected: int | None = None
    source: str = ""
    error_bound: float | None = None
    prime: int | None = None
    gap: float | None = None
    decided: bool | None = None
    route: str | None = None
    note: str = ""

    @property
    def failed(self) -> bool:
        """Whether there is no number."""
        return self.status == "failed"

    def row(self) -> dict[str, object]:
        """All of it as a flat dictionary, for tables: the sizes first."""
        arch, measured = self.arch, fields(self)[1:]
        row = {"attention": arch.attention, "layers": arch.num_layers, "tokens": arch.tokens}
        row |= {name: " ".join(map(str, getattr(arch, name))) for name in ("widths", "head_dims", "heads")}
        row |= {"skip": arch.skip, "causal": arch.causal, "block": str(arch.block)}
        return row | {"parameters": arch.num_parameters} | {f.name: getattr(self, f.name) for f in measured}

    def to_json(self) -> str:
        """One line of a sweep's file."""
        said = {"version": VERSION} | asdict(self)
        if self.gap == inf:  # JSON has no word for it
            said["gap"] = "inf"
        return json.dumps(said, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, line: str | bytes) -> "Record":
        """The record of a line.

        Raises:
            ValueError: if the line is no record, or one of another version.
        """
        try:
            read = json.loads(line)
            if (version := read.pop("version")) == VERSION:
                gap, block = read["gap"], Block(**read["arch"].get("block", {}))
                arch = Architecture(**read["arch"] | {"block": block})
                return cls(**read | {"arch": arch, "gap": None if gap is None else float(gap)})
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"a line of a sweep's file is what Record.to_json writes; this is not ({error})"
            ) from None
        raise ValueError(
            f"a record of version {VERSION} is needed; this one is of version {version!r}, and its numbers "
            "may be of other random points: give the sweep another file"
        )


_COLUMNS = tuple(Record(Architecture((1, 1), (1,)), "exact", 0, None, "failed").row())


@dataclass(frozen=True)
class Sweep:
    """The records of a sweep, in the order of the architectures that were asked for."""

    records: tuple[Record, ...]

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    @property
    def failed(self) -> tuple[Record, ...]:
        """The records without a number; their notes say why."""
        return tuple(record for record in self.records if record.failed)

    @property
    def disagreements(self) -> tuple[Record, ...]:
        """The records whose number is not the expected one; undecided float ranks are not counted."""
        known = (r for r in self.records if None not in (r.value, r.expected) and r.decided is not False)
        return tuple(record for record in known if record.value != record.expected)

    def to_pandas(self):
        """A pandas DataFrame, one row a record (needs pandas, which neuroviz does not install)."""
        try:
            import pandas
        except ImportError:
            raise ValueError("to_pandas needs pandas: pip install pandas, or use to_csv") from None
        table = pandas.DataFrame([record.row() for record in self.records], columns=_COLUMNS)
        # Whole numbers stay whole where some are missing.
        kinds = dict.fromkeys(("value", "expected", "prime"), "Int64")
        return table.astype(kinds | {"error_bound": "float64", "gap": "float64", "decided": "boolean"})

    def to_csv(self, path: str | Path | None = None) -> str | None:
        """A table with one line a record: written to a file, or returned as text where no path is given."""
        text = io.StringIO()
        table = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(record.row() for record in self.records)
        if path is None:
            return text.getvalue()
        path_of("path", path).write_text(text.getvalue(), encoding="utf-8", newline="\n")

    def __repr__(self) -> str:
        kinds = Counter(record.status for record in self.records).items()
        inside = ", ".join(f"{count} {status}" for status, count in kinds)
        return f"Sweep({len(self.records)} records: {inside}; {len(self.disagreements)} unlike theory)"


def path_of(name: str, file: str | Path) -> Path:
    """Where a file is to be written.

    Raises:
        ValueError: if that is no path, a folder, or in a folder that is not there.

    >>> path_of("file", 3)
    Traceback (most recent call last):
    ValueError: file needs to be a path, such as 'sweep.jsonl'; got 3
    """
    if not isinstance(file, (str, Path)) or not str(file):
        raise ValueError(f"{name} needs to be a path, such as 'sweep.jsonl'; got {file!r}")
    path = Path(file)
    if path.is_dir():
        raise ValueError(f"{name} needs to be a file; {str(path)!r} is a folder: name a file in it")
    if not path.parent.is_dir():
        raise ValueError(f"{name} is in a folder that is not there: make {str(path.parent)!r} first")
    return path
