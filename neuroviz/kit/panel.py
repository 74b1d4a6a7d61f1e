"""The shell of every panel: title and badge, controls, figure, description, footer.

A subclass says what its controls are, how they become a request, what answers the request, and
how the answer is drawn. The shell does the rest: state strings, reset, "More", errors that leave
the panel alive, and work in the background.

In a notebook a panel lives until the cell that made it runs again; in a script, as long as somebody holds it.
"""

import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from html import escape
from typing import ClassVar

import ipywidgets as widgets

from neuroviz.kit import cells, theme
from neuroviz.kit.background import Background
from neuroviz.kit.controls import label_width, read_control, write_control
from neuroviz.kit.page import Chart, CopyButton, let_go, parts
from neuroviz.kit.plot import Parts
from neuroviz.kit.settings import Controls, make_controls, read_setting

_ROOM_FOR_A_LECTURE = 900  # pixels; below, a figure in lecture size has no room for its words


class Panel(widgets.VBox):
    """What all panels share; see the methods marked "a subclass says".

    Args:
        only: names of the controls to show; the others keep their values and stay in the state.
            With `only`, Reset and the state box are hidden: for a lecture.
        state: a state string to start from, as the panel's own `state` gives it.

    Attributes:
        controls: name → widget.
        figure: a widget that can also be shown alone, with the attributes of a plotly Figure.
        description: in words, what the figure shows now.
        status: the visible line: busy, done, or the error.
        state: a short string; assigning it restores the panel.
    """

    title: ClassVar[str] = ""
    _background: Background | None = None  # until the panel opens

    def __init__(self, *, only: Iterable[str] | None = None, state: str | None = None) -> None:
        try:
            self._open(only, state)
        except BaseException:
            self.close()
            raise
        for part in parts(self):
            let_go(part)
        cells.keep(self)

    def _open(self, only: Iterable[str] | None, state: str | None) -> None:
        self._background = Background()
        first, more = self._make_controls()
        self.controls: dict[str, widgets.Widget] = {**first, **more}
        shown = set(self.controls) if only is None else self._known(only)
        self._theme = theme.current()
        self._quiet = False
        self._description = self._status = ""
        super().__init__(self._lay_out(first, more, shown, for_lecture=only is not None))
        self.add_class("nv")

        request = default = self._read()
        if state is not None:
            request = self._restore(state)
        self._opened_with = {name: control.value for name, control in self.controls.items()}
        self._arrange()
        # A panel never opens empty. Where its state takes long, it opens on its default picture.
        slow = self._is_slow(request)
        self._shown = self._answer(default if slow else request)
        self.figure = Chart(self.draw(self._shown), self._on_click)
        self.figure.observe(self._on_width, names="width")
        self._box.children = [self.figure]
        self._say(self._shown, started=None)
        if slow:
            self._refresh()

    def _lay_out(
        self,
        first: dict[str, widgets.Widget],
        more: dict[str, widgets.Widget],
        shown: set[str],
        for_lecture: bool,
    ) -> list[widgets.Widget]:
        """Everything the panel shows, from top to bottom, which is also the order of the Tab key."""
        large = theme.size("base") > 14
        for name, control in self.controls.items():
            # At 1280 three of the large ones stand beside "More".
            width, usual = (370, 150) if large else (340, 120)
            control.layout.width = f"{width}px"
            control.style.description_width = f"{label_width(control, width, usual)}px"
            if name not in shown:
                control.layout.display = "none"
            control.observe(self._on_change, names="value")
        button = {"flex": "0 0 auto", "width": "120px" if large else "90px"}
        row = {"display": "flex", "flex_flow": "row wrap", "width": "100%", "min_height": "34px"}
        figure_height = f"{theme.size('height') + 4:.0f}px"

        self._title_html = widgets.HTML(layout={"min_height": "34px", "margin": "0"})
        self._more = widgets.ToggleButton(
            description="More ▾", tooltip="show or hide the other controls", layout=button
        )
        first_row = widgets.Box([*first.values(), self._more], layout=row)
        self._more_row = widgets.Box(list(more.values()), layout=row | {"display": "none"})
        for controls in (first_row, self._more_row):
            controls.add_class("nv-controls")  # chart.js gives the handles of their sliders names
        self._box = widgets.Box(
            layout={"height": figure_height, "overflow": "hidden", "display": "block", "width": "100%"}
        )
        self._description_html = widgets.HTML(layout={"width": "100%", "margin": "0"})
        self._reset_button = widgets.Button(
            description="Reset", tooltip="back to how it was opened", layout=button
        )
        self._cancel_button = widgets.Button(
            description="Cancel", tooltip="stop what is being measured", layout=button, disabled=True
        )
        self._status_html = widgets.HTML(
            layout={"flex": "1 0 120px", "min_width": "0", "min_height": "28px", "overflow": "hidden"}
        )
        self._state_text = widgets.Text(
            description="State",
            continuous_update=False,
            layout={"flex": "0 1 380px", "min_width": "120px"},
            style={"description_width": "48px"},
        )
        # Copy takes its placeholder: the text itself may be one that was refused, or is being typed.
        self._state_text.add_class("nv-state")
        self._copy_button = CopyButton(name=type(self).__name__)
        if for_lecture:  # few controls: those under "More" stand there with the others
            self._more.layout.display = "none"
            self._more_row.layout.display = "flex" if shown & set(more) else "none"
            for hidden in (self._reset_button, self._state_text, self._copy_button):
                hidden.layout.display = "none"

        self._more.observe(self._on_more, names="value")
        self._reset_button.on_click(lambda _: self.reset())
        self._cancel_button.on_click(lambda _: self.cancel())
        self._state_text.observe(self._on_state_text, names="value")
        footer = [self._reset_button, self._cancel_button, *self._extra_buttons()]
        footer += [self._status_html, self._state_text, self._copy_button]
        return [
            widgets.HTML(theme.css(), layout={"display": "none"}),
            self._title_html,
            first_row,
            self._more_row,
            self._box,
            self._description_html,
            widgets.HBox(footer, layout={"width": "100%"}),
        ]

    # What a subclass says.

    setting: ClassVar[type | None] = None
    """A frozen, picklable dataclass whose fields declare the controls: see `neuroviz.kit.settings`."""

    def _make_controls(self) -> tuple[Controls, Controls]:
        """The controls seen at first, and those under "More": name → widget, in tab order."""
        return make_controls(self._its_setting())

    def _arrange(self) -> None:
        """Disable the controls that have no say at the moment."""

    def _read(self) -> object:
        """The controls as one frozen, picklable setting; ValueError says what is wrong with them."""
        return read_setting(self._its_setting(), self.controls)

    @classmethod
    def _its_setting(cls) -> type:
        if cls.setting is None:
            raise NotImplementedError(
                f"{cls.__name__} needs a setting, a dataclass that declares its controls"
            )
        return cls.setting

    @staticmethod
    def _answer(request: object) -> object:
        """The result object that answers a request. Static and importable: it may run in a child process."""
        raise NotImplementedError

    _answer_in_steps: ClassVar[Callable | None] = None
    """For slow requests, if any: a generator that yields how far it is, in words, and returns the answer."""

    def _is_slow(self, request: object) -> bool:
        """Whether the answer takes longer than about 0.3 s; the setting may know."""
        return getattr(request, "is_slow", False)

    @staticmethod
    def draw(answer: object) -> Parts:
        """The figure of an answer as plain data."""
        raise NotImplementedError

    def _describe(self, answer: object) -> str:
        """In a sentence or two, what the figure shows."""
        raise NotImplementedError

    def _badge(self, answer: object) -> str:
        """The badge of the claim in the title, from `theme.badge`."""
        return ""

    def _extra_buttons(self) -> list[widgets.Widget]:
        """Further buttons of the footer, after Cancel; asked for once, before there is a figure."""
        return []

    def _on_click(self, trace: dict, point: int) -> None:
        """The reader has clicked on a point of a trace of the figure."""

    # What every panel has.

    @property
    def description(self) -> str:
        """In words, what the figure shows now."""
        return self._description

    @property
    def status(self) -> str:
        """The status line: busy, done, or the error."""
        return self._status

    @property
    def state(self) -> str:
        """All controls as name=value;…: assigning such a string restores the panel, seed included."""
        return ";".join(f"{name}={write_control(control.value)}" for name, control in self.controls.items())

    @state.setter
    def state(self, text: str) -> None:
        self._restore(text)
        self._refresh()

    def complete(self, state: str) -> str:
        """A state with every control in it; the panel itself stays where it is.

        What the text does not name is as the panel was opened.

        Raises:
            ValueError: if the text is no state of this panel.
        """
        before = {name: control.value for name, control in self.controls.items()}
        with ExitStack() as held:  # the page hears of none of this
            for control in self.controls.values():
                held.enter_context(control.hold_sync())
            try:
                self._assign(self._opened_with)
                self._restore(state)
                return self.state
            finally:
                self._assign(before)

    def reset(self) -> None:
        """Back to the values the panel was opened with."""
        self._assign(self._opened_with)
        self._refresh()

    def cancel(self) -> None:
        """Stop what is being measured in the background; the last picture stays."""
        if self._background.cancel():
            self._set_status("cancelled; the figure still shows the previous setting")
            self._box.add_class("nv-stale")
            self._cancel_button.disabled = True

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for work in the background; False when the time ran out. For scripts and tests."""
        return self._background.wait(seconds)

    def close(self) -> None:
        """Take the panel off the page with all its widgets, and end its child process."""
        if self._background is not None:
            self._background.cancel()
            self._background.close()
        for part in parts(self):
            super(Panel, part).close() if part is self else part.close()
        cells.forget(self)

    def _known(self, only: Iterable[str]) -> set[str]:
        try:
            names = {only} if isinstance(only, str) else set(only)
        except TypeError:
            names = {only}
        if unknown := names - set(self.controls):
            raise ValueError(
                f"only= names the controls to show, of {', '.join(self.controls)}; "
                f"got {', '.join(sorted(map(repr, unknown)))}"
            )
        return names

    def _restore(self, text: str) -> object:
        """Set the controls from a state string, all or none; returns the request they make."""
        if not isinstance(text, str):
            raise ValueError(f"a state is a text such as {self.state!r}; got {text!r}")
        values = {}
        for part in filter(None, (part.strip() for part in text.split(";"))):
            name, equals, value = part.partition("=")
            if not equals or name not in self.controls:
                raise ValueError(
                    f"a state is name=value;… with names of {', '.join(self.controls)}; got {part!r}"
                )
            values[name] = read_control(name, self.controls[name], value)
        before = {name: control.value for name, control in self.controls.items()}
        self._assign(values)
        try:
            return self._read()
        except ValueError:
            self._assign(before)
            raise

    def _assign(self, values: dict[str, object]) -> None:
        quiet, self._quiet = self._quiet, True
        try:
            for name, value in values.items():
                self.controls[name].value = value
        finally:
            self._quiet = quiet

    def _on_change(self, _change: object) -> None:
        if not self._quiet:
            self._refresh()

    def _on_more(self, change: dict) -> None:
        self._more_row.layout.display = "flex" if change["new"] else "none"
        self._more.description = "Less ▴" if change["new"] else "More ▾"

    def _on_state_text(self, change: dict) -> None:
        if self._quiet:
            return
        try:
            self.state = change["new"]
        except ValueError as error:
            self._fail(error)

    def _redraw(self, answer: object) -> None:
        self.figure.show(self.draw(answer))

    def _on_width(self, change: dict) -> None:
        """In a narrow place large words would collide: the figure is drawn in the usual size."""
        if 0 < change["new"] < _ROOM_FOR_A_LECTURE and self._theme["size"] == "lecture" and self._shown:
            self._theme = self._theme | {"size": "notebook"}
            with theme.using(self._theme):
                self._redraw(self._shown)
                self._box.layout.height = f"{theme.size('height') + 4:.0f}px"

    def _refresh(self) -> None:
        started = time.perf_counter()
        try:
            self._arrange()
            self._write_state()
            request = self._read()
            slow = self._is_slow(request)
        except Exception as error:  # shown to the reader, as everything below: the panel stays alive
            self._background.cancel()
            self._cancel_button.disabled = True
            self._fail(error)
            return
        self._set_status("working …")
        if slow:
            self._cancel_button.disabled = False
            self._submit(
                type(self)._answer_in_steps or type(self)._answer,
                request,
                lambda result: self._arrive(result, started),
                lambda step: self._hear(step, started),
            )
            return
        self._background.cancel()
        self._cancel_button.disabled = True
        try:
            answer = self._answer(request)
        except Exception as error:
            self._fail(error)
            return
        self._arrive(answer, started)

    def _submit(
        self,
        work: Callable,
        request: object,
        done: Callable[[object], None],
        partly: Callable[[object], None],
    ) -> None:
        """Start work in the background; done(exception) where it cannot even start."""
        try:
            self._background.submit(work, request, done, partly)
        except Exception as error:
            done(error)

    def _hear(self, step: str, started: float) -> None:
        """Say how far slow work is."""
        self._set_status(f"working … {step}, {time.perf_counter() - started:.0f} s")

    def _arrive(self, result: object, started: float) -> None:
        self._cancel_button.disabled = True
        if isinstance(result, Exception):
            self._fail(result)
            return
        self._shown = None  # nobody knows, if what follows fails half way
        try:
            with theme.using(self._theme):  # the one the figure was made in
                self._redraw(result)
                self._say(result, started)
            self._shown = result
        except Exception as error:  # shown to the reader: the panel stays alive
            self._fail(error)

    def _say(self, answer: object, started: float | None) -> None:
        self._box.remove_class("nv-stale")
        self._description = self._describe(answer)
        self._description_html.value = (
            f'<div class="nv-description" aria-live="polite">{escape(self._description)}</div>'
        )
        self._title_html.value = f'<div class="nv-title">{escape(self.title)} {self._badge(answer)}</div>'
        self._write_state()
        took = "" if started is None else f" in {1000 * (time.perf_counter() - started):.0f} ms"
        self._set_status(f"done{took}")

    def _write_state(self) -> None:
        quiet, self._quiet = self._quiet, True
        self._state_text.value = self._state_text.placeholder = self.state
        self._quiet = quiet

    def _set_status(self, text: str) -> None:
        self._status = text
        self._status_html.value = f'<div class="nv-status" role="status">{escape(text)}</div>'

    def _fail(self, error: Exception) -> None:
        self._box.add_class("nv-stale")  # the picture is of an earlier setting
        expected = isinstance(error, ValueError)
        text = str(error) if expected else f"{type(error).__name__}: {error}"
        self._status = text
        self._status_html.value = (
            f'<div class="nv-status nv-error" role="alert" title="{escape(text)}">▨ {escape(text)}</div>'
        )
