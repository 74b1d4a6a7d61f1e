"""What a panel looks like: title and status in one line, controls, presets, figure,
description, tools."""

from collections.abc import Iterable
from html import escape
from uuid import uuid4

import ipywidgets as widgets

from neuroviz.kit import theme
from neuroviz.kit.controls import show, widths_of
from neuroviz.kit.page import CopyButtons, Lasting
from neuroviz.kit.settings import Controls
from neuroviz.kit.status import Status, Values, stands_for, values_of

_WIDTHS = {"notebook": (266, 108), "lecture": (340, 156)}
"""Pixels of a control, and of its label."""


class Shell(Lasting):
    """The widgets of a panel, from top to bottom, which is also the order of the Tab
    key.

    Attributes:
        identity: by which the page knows the panel: its presets elsewhere name it.
    """

    def _lay_out(
        self,
        first: Controls,
        more: Controls,
        shown: Iterable[str],
        whole: bool,
        tools: list[widgets.Widget],
    ) -> None:
        """Make the widgets; what is not `shown` is hidden, and "More" unless `whole`.

        Args:
            first: name → control, for those that are seen at first.
            more: those under "More".
            shown: names of the controls to show.
            whole: whether there is anything to unfold under "More".
            tools: further widgets beside Reset, State and Copy.
        """
        for name, control in {**first, **more}.items():
            show(control, name in shown)
        button = {"flex": "0 0 auto", "width": "auto"}
        row = {"display": "flex", "flex_flow": "row wrap", "width": "100%"}

        self._title_html = widgets.HTML(
            layout={"flex": "0 1 auto", "margin": "0 12px 0 2px"}
        )
        self._status = Status(
            first | more, layout={"flex": "1 0 110px", "min_width": "0", "margin": "0"}
        )
        self._cancel_button = _button(
            "Cancel", "stop what is being measured", button | {"display": "none"}
        )
        hidden = {} if more else {"display": "none"}
        words = {"description": "More ▾", "tooltip": "show or hide the other controls"}
        self._more = widgets.ToggleButton(**words, layout=button | hidden)
        words = {"description": "⋯", "tooltip": "reset, state, copy"}
        self._tools = widgets.ToggleButton(**words, layout=button | {"width": "40px"})
        self._head = widgets.Box(
            [
                self._title_html,
                self._status,
                self._cancel_button,
                self._more,
                self._tools,
            ],
            layout={
                "width": "100%",
                "min_height": "34px",
                "align_items": "center",
                "overflow": "hidden",
            },
        )
        self._head.add_class("nv-head")
        self._first_row = widgets.Box([*first.values()], layout=row)
        self._more_row = widgets.Box(layout=row | {"display": "none"})
        for controls in (self._first_row, self._more_row):
            # sliders.ts names the handles of their sliders
            controls.add_class("nv-controls")
        self._box = widgets.Box(
            layout={"overflow": "hidden", "display": "block", "width": "100%"}
        )
        self._box.add_class("nv-figure")
        self._description_html = widgets.HTML(layout={"width": "100%", "margin": "0"})
        self._show_me = _button(
            "Show me", "what the panel says of this", button | {"display": "none"}
        )

        self._reset_button = _button("Reset", "back to how it was opened", button)
        look = {
            "layout": {"flex": "0 1 480px", "min_width": "120px"},
            "style": {"description_width": "48px"},
        }
        self._state_text = widgets.Text(
            description="State", continuous_update=False, **look
        )
        # Copy takes the placeholder, because the text may be unfinished.
        self._state_text.add_class("nv-state")
        self._copy_buttons = CopyButtons(type(self).__name__, self._go_to)
        words = {
            "description": "Lecture",
            "tooltip": "large letters, and only the first controls",
        }
        is_large = theme.current()["size"] == "lecture"
        self._lecture = widgets.ToggleButton(value=is_large, **words, layout=button)
        self._tools_row = widgets.HBox(layout={"width": "100%", "display": "none"})
        # The page draws what is folded when it is first unfolded: that takes as long as
        # the figure.
        tools = [
            self._reset_button,
            self._lecture,
            *tools,
            self._state_text,
            self._copy_buttons,
        ]
        self._has_more = bool(more)
        self._folded = [(self._more_row, [*more.values()]), (self._tools_row, tools)]
        if not whole:  # few controls: those under "More" are in sight, too
            self._more.layout.display = "none"
            self.unfold()
            self._more_row.layout.display = "flex" if {*shown} & set(more) else "none"
        self._more.observe(self._on_more, names="value")
        self._tools.observe(self._on_tools, names="value")
        style = widgets.HTML(theme.css(), layout={"display": "none"})
        rows = [self._head, self._tools_row, self._first_row, self._more_row]
        below = [self._description_html, self._show_me]
        self.children = [style, *rows, self._box, *below]
        self.add_class("nv")
        self.identity = uuid4().hex
        self.add_class(f"nv-is-{self.identity}")
        self._fit_size(first | more, theme.current()["size"])

    def unfold(self) -> None:
        """Put what is folded into its rows, which may stay hidden."""
        for row, controls in self._folded:
            row.children = controls

    def _fit_size(self, controls: Controls, size: str) -> None:
        """Letters, widths of controls and the height of the figure for a notebook or
        for a lecture."""
        if size == "lecture":
            self.add_class("nv-lecture")
        else:
            self.remove_class("nv-lecture")
        width, label = _WIDTHS[size]
        with theme.using({"size": size}):
            for control in controls.values():
                its_width, its_label = widths_of(control, width, label)
                control.layout.width = f"{its_width}px"
                control.style.description_width = f"{its_label}px"
        self._fit_height()

    def _fit_height(self) -> None:
        self._box.layout.min_height = f"{theme.size('height') + 4:.0f}px"

    def _go_to(self, state: str) -> None:
        """As if the reader had entered this state."""
        raise NotImplementedError

    def _on_more(self, change: dict) -> None:
        self.unfold()
        self._more_row.layout.display = "flex" if change["new"] else "none"
        self._more.description = "Less ▴" if change["new"] else "More ▾"

    def _on_tools(self, change: dict) -> None:
        self.unfold()
        self._tools_row.layout.display = "" if change["new"] else "none"

    def _set_working(self, working: bool) -> None:
        self._cancel_button.disabled = not working
        self._cancel_button.layout.display = "" if working else "none"

    def _write(self, title: str, badges: str, description: str, of: Values) -> None:
        """The title with the badges of an answer, and its description; `of` says which
        values it is of."""
        answer = stands_for(of)
        self._title_html.value = (
            f'<div class="nv-title">{escape(title)} <span'
            f" {answer}>{badges}</span></div>"
        )
        said = escape(description)
        self._description_html.value = (
            f'<div class="nv-description" aria-live="polite" {answer}>{said}</div>'
        )

    def _set_status(
        self, text: str, kind: str = "done", of: Values | None = None
    ) -> None:
        """The status line, of the values that the controls have now if no others are
        given.

        Args:
            kind: "done"; "busy" has a sign that turns; "stale" says that the figure
                shows something else; "error" is read out at once.
        """
        self.status = text
        self._status.say(text, kind, values_of(self.controls) if of is None else of)


def _button(label: str, tooltip: str, layout: dict) -> widgets.Button:
    return widgets.Button(description=label, tooltip=tooltip, layout=layout)
