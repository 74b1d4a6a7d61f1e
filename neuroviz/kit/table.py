"""A small table for a notebook's cell: read by eye, by a screen reader, and as plain text."""

import re
from dataclasses import dataclass
from html import escape, unescape

from neuroviz.kit import theme


@dataclass(frozen=True)
class Table:
    """Rows of HTML; the first row and the first column are headings. Dark on white in every theme.

    Raises:
        ValueError: if there is no row, or one of another length.

    >>> Table((("", "a"), ("<b>V</b>", "1 &lt; 2")))
       a
    V  1 < 2
    """

    rows: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        lengths = [len(row) for row in self.rows]
        if not lengths or min(lengths) != max(lengths) or not min(lengths):
            raise ValueError(f"a table needs rows of one length, at least 1; got lengths {lengths}")

    def __repr__(self) -> str:
        plain = [[_plain(cell) for cell in row] for row in self.rows]
        widths = [max(map(len, column)) for column in zip(*plain, strict=True)]
        lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in plain)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        with theme.using({"mode": "light"}):
            ground, ink, grid = (theme.color(role) for role in ("ground", "ink", "grid"))
        line = f"padding:6px 14px;text-align:left;color:{ink};background:{ground};border:1px solid {grid}"

        def row_html(cells: tuple[str, ...], top: bool) -> str:
            found = []
            for i, cell in enumerate(cells):
                kind, scope = ("th", f' scope="{"col" if top else "row"}"') if top or i == 0 else ("td", "")
                found.append(f'<{kind}{scope} style="{line}">{cell}</{kind}>')
            return f"<tr>{''.join(found)}</tr>"

        body = "".join(row_html(row, number == 0) for number, row in enumerate(self.rows))
        return f'<table style="border-collapse:collapse;font-family:{escape(theme.FONT)}">{body}</table>'


def _plain(cell: str) -> str:
    return unescape(re.sub("<[^>]*>", "", cell.replace("<br>", "; ")))


def light(role: str, text: str) -> str:
    """Bold words in the colour that a role has on white."""
    with theme.using({"mode": "light"}):
        return f'<b style="color:{theme.color(role)}">{text}</b>'
