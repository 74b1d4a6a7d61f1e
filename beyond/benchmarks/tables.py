"""What a benchmark returns, and how it is kept: numbers in results.json, the same as
tables in README.md."""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

README = Path(__file__).with_name("README.md")
RESULTS = Path(__file__).with_name("results.json")
LIBRARY = README.parents[1] / "docs" / "library.md"

Cell = str | float | None


@dataclass(frozen=True)
class Finding:
    """One line of the summary.

    Attributes:
        what, found: what was asked, and the answer, in words.
        goal: what it should be; "" where there is no goal.
        met: whether it is; None where that cannot be said on this machine, or there is
            no goal.
    """

    what: str
    found: str
    goal: str = ""
    met: bool | None = None


@dataclass(frozen=True)
class Table:
    """The numbers of a benchmark.

    Attributes:
        name: of its place in README.md.
        header: what stands above each column.
        forms: how the numbers of each column are written, as in `format`.
        rows: numbers, text, or None where nothing was measured.
        note: what has to be said below.
        findings: its lines of the summary.
    """

    name: str
    header: tuple[str, ...]
    forms: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str
    findings: tuple[Finding, ...] = ()

    def column(self, title: str) -> list[Cell]:
        """The cells below a title.

        Raises:
            ValueError: if there is no such column.
        """
        if title not in self.header:
            raise ValueError(
                f"the columns of {self.name} are {', '.join(self.header)}; got"
                f" {title!r}"
            )
        return [row[self.header.index(title)] for row in self.rows]

    def markdown(self) -> str:
        """The table as GitHub shows it, with its note.

        >>> rows = (1024, 0.5), ("all", None)
        >>> print(Table("t", ("n", "s"), (",", ".2f"), rows, "One run.").markdown())
        | n | s |
        | ---: | ---: |
        | 1,024 | 0.50 |
        | all | – |
        <BLANKLINE>
        One run.
        """
        lines = [self.header, ("---:",) * len(self.header)]
        lines += [tuple(map(_written, row, self.forms)) for row in self.rows]
        return f"{_lines(lines)}\n\n{self.note}"


def _written(cell: Cell, form: str) -> str:
    if cell is None:
        return "–"
    return cell if isinstance(cell, str) else format(cell, form)


def _lines(rows: list[tuple[str, ...]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def summary(tables: list[Table]) -> str:
    """All findings as one table."""
    verdict = {True: "yes", False: "**no**", None: ""}
    rows = [("what", "found", "goal", "met"), ("---",) * 4]
    rows += [
        (f.what, f.found, f.goal, verdict[f.met])
        for table in tables
        for f in table.findings
    ]
    return _lines(rows)


def store(tables: list[Table]) -> None:
    """Write results.json, all tables of README.md, and the summary of docs/library.md;
    the rest stays."""
    kept = {table.name: table for table in read(RESULTS)} if RESULTS.exists() else {}
    text = README.read_text(encoding="utf-8")
    tables = in_order_of(text, kept | {table.name: _rounded(table) for table in tables})
    RESULTS.write_text(
        json.dumps({t.name: asdict(t) for t in tables}, ensure_ascii=False, indent=1)
        + "\n",
        encoding="utf-8",
    )
    README.write_text(filled(text, tables), encoding="utf-8")
    page = LIBRARY.read_text(encoding="utf-8")
    LIBRARY.write_text(_replaced(page, "summary", summary(tables)), encoding="utf-8")


def _rounded(table: Table) -> Table:
    """With six digits for each number: the rest is noise, and would be another one in
    each run."""
    rows = tuple(
        tuple(float(f"{cell:.6g}") if isinstance(cell, float) else cell for cell in row)
        for row in table.rows
    )
    return replace(table, rows=rows)


def read(path: Path = RESULTS) -> list[Table]:
    """The tables of results.json.

    Raises:
        ValueError: if the file is something else.
    """
    tables = []
    for name, parts in json.loads(path.read_text(encoding="utf-8")).items():
        try:
            findings = tuple(Finding(**finding) for finding in parts.pop("findings"))
            rows = tuple(map(tuple, parts.pop("rows")))
            header = tuple(parts.pop("header"))
            forms = tuple(parts.pop("forms"))
            tables.append(
                Table(**parts, header=header, forms=forms, rows=rows, findings=findings)
            )
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError(
                f"{path.name} holds what `python -m benchmarks` writes; {name!r} is not"
                f" that ({error}): remove the file and run it anew"
            ) from None
    return tables


def in_order_of(text: str, tables: dict[str, Table]) -> list[Table]:
    """The tables in the order of their places in a text.

    Raises:
        ValueError: if one has no place, or two.
    """
    for name in tables:
        _places(text, name)
    return sorted(
        tables.values(), key=lambda table: text.index(f"<!-- {table.name} -->")
    )


def filled(text: str, tables: list[Table]) -> str:
    """A text with each table, and the summary, between its markers.

    >>> table = Table("one", ("n",), ("d",), ((1,),), "")
    >>> text = "<!-- summary --><!-- end summary --><!-- one -->old<!-- end one -->"
    >>> "| 1 |" in filled(text, [table])
    True
    """
    for name, inside in [
        ("summary", summary(tables)),
        *((table.name, table.markdown()) for table in tables),
    ]:
        text = _replaced(text, name, inside)
    return text


def _replaced(text: str, name: str, inside: str) -> str:
    start, end = _places(text, name)
    return f"{text[:start]}\n\n{inside.strip()}\n\n{text[end:]}"


def _places(text: str, name: str) -> tuple[int, int]:
    """Where the inside of a pair of markers begins and ends."""
    start = f"<!-- {name} -->"
    end = f"<!-- end {name} -->"
    if (
        text.count(start) != 1
        or text.count(end) != 1
        or text.index(start) > text.index(end)
    ):
        raise ValueError(
            f"{README.name} needs {start!r} and {end!r} once each, in that order"
        )
    return text.index(start) + len(start), text.index(end)
