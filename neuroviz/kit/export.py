"""Buttons that save what a panel shows: the page itself makes the files, and needs no
kernel for it."""

import re

import anywidget
import traitlets

from neuroviz.kit.page import script


class Export(anywidget.AnyWidget):
    """The buttons CSV, SVG and PNG, for the panel (class nv) that they stand in.

    The table comes along as text; plotly draws the picture in the page.

    Attributes:
        table: the text of the CSV file.
        name: of the files, without its ending.
        formats: which buttons there are.
        scale: pixels of the PNG for one of the page.
    """

    table = traitlets.Unicode("").tag(sync=True)
    name = traitlets.Unicode("figure").tag(sync=True)
    scale = traitlets.Float(2.0).tag(sync=True)
    formats = traitlets.Tuple(("csv", "svg", "png")).tag(sync=True)

    _esm = script("export.js")

    def offer(self, table: str, name: str) -> None:
        """Set what the buttons save.

        Raises:
            ValueError: if the name is none that every system takes for a file.
        """
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", name):
            signs = (
                "letters, digits, '-', '_' and '.', and starts with one of the"
                " first two"
            )
            raise ValueError(f"the name of a file has {signs}; got {name!r}")
        with self.hold_sync():
            self.table = table
            self.name = name
