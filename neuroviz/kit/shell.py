"""What a panel looks like: title and status in one line, controls, presets, figure,
description, tools."""

from collections.abc import Iterable
from html import escape
from uuid import uuid4

import ipywidgets as widgets

from neuroviz.kit import lecture, theme
from neuroviz.kit.controls import HIDDEN, SharedLook, show
from neuroviz.kit.page import CopyButtons, Lasting
from neuroviz.kit.settings import Controls
from neuroviz.kit.status import Status, Values, stands_for, values_of


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
        make = SharedLook().make

        self._title_html = make(widgets.HTML, "nv-heading")
        self._status = make(Status, controls=first | more)
        self._cancel_button = make(
            widgets.Button,
            "nv-tool",
            HIDDEN,
            description="Cancel",
            tooltip="stop what is being measured",
        )
        self._more = make(
            widgets.ToggleButton,
            "nv-tool",
            description="More ▾",
            tooltip="show or hide the other controls",
        )
        self._tools = make(
            widgets.ToggleButton,
            "nv-tool",
            "nv-dots",
            description="⋯",
            tooltip="reset, state, copy",
        )
        head = [
            self._title_html,
            self._status,
            self._cancel_button,
            self._more,
            self._tools,
        ]
        # sliders.ts names the handles of the sliders in nv-controls
        self._first_row = make(widgets.Box, "nv-controls", children=[*first.values()])
        self._more_row = make(widgets.Box, "nv-controls")
        self._box = make(widgets.Box, "nv-figure")
        self._description_html = make(widgets.HTML, "nv-about")
        self._show_me = make(
            widgets.Button,
            "nv-tool",
            HIDDEN,
            description="Show me",
            tooltip="what the panel says of this",
        )

        self._reset_button = make(
            widgets.Button,
            "nv-tool",
            description="Reset",
            tooltip="back to how it was opened",
        )
        # Copy takes the placeholder, because the text may be unfinished.
        self._state_text = make(
            widgets.Text, "nv-state", description="State", continuous_update=False
        )
        self._copy_buttons = make(
            CopyButtons, name=type(self).__name__, on_link=self._go_to
        )
        self._lecture = make(
            widgets.ToggleButton,
            "nv-tool",
            value=theme.current()["size"] == "lecture",
            description="Lecture",
            tooltip="large letters, and only the first controls",
        )
        self._tools_row = make(widgets.Box, "nv-tools", HIDDEN)
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
        show(self._more, self._has_more and whole)
        show(self._more_row, not whole and bool({*shown} & set(more)))
        if not whole:  # few controls: those under "More" are in sight, too
            self.unfold()
        self._more.observe(self._on_more, names="value")
        self._tools.observe(self._on_tools, names="value")
        self.children = [
            make(widgets.HTML, "nv-sheet", value=theme.css()),
            make(widgets.Box, "nv-head", children=head),
            self._tools_row,
            self._first_row,
            self._more_row,
            self._box,
            self._description_html,
            self._show_me,
        ]
        self.add_class("nv")
        self.identity = uuid4().hex
        self.add_class(f"nv-is-{self.identity}")
        lecture.set_size(self, theme.current()["size"])

    def unfold(self) -> None:
        """Put what is folded into its rows, which may stay hidden."""
        for row, controls in self._folded:
            row.children = controls

    def _go_to(self, state: str) -> None:
        """As if the reader had entered this state."""
        raise NotImplementedError

    def _on_more(self, change: dict) -> None:
        self.unfold()
        show(self._more_row, change["new"])
        self._more.description = "Less ▴" if change["new"] else "More ▾"

    def _on_tools(self, change: dict) -> None:
        self.unfold()
        show(self._tools_row, change["new"])

    def _set_working(self, working: bool) -> None:
        self._cancel_button.disabled = not working
        show(self._cancel_button, working)

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
