"""What every panel does: read controls, answer, draw, keep its state; `Shell` has the
widgets.

A subclass says what its controls are, how they become a request, what answers the
request, and how the answer is drawn. `Panel` does the rest: state strings, reset,
"More", errors that leave the panel alive, and work in the background.

In a notebook a panel lives until the cell that made it runs again; in a script, as long
as somebody holds it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import is_dataclass
from inspect import getattr_static
from math import isclose
from typing import TYPE_CHECKING, ClassVar

import ipywidgets as widgets

from neuroviz.kit import asking, cells, lecture, theme
from neuroviz.kit.background import Background, EventLoop, background, late
from neuroviz.kit.controls import read_control, show, write_control
from neuroviz.kit.page import Chart, let_go, widgets_in
from neuroviz.kit.picture import Picture
from neuroviz.kit.picture_check import check_picture
from neuroviz.kit.plot import Parts, without_answers
from neuroviz.kit.presets import row_of_presets
from neuroviz.kit.settings import Controls, make_controls, read_setting
from neuroviz.kit.shell import Shell
from neuroviz.kit.status import Values, values_of

if TYPE_CHECKING:
    from IPython.display import DisplayHandle

# Pixels. In a narrower figure large words meet: the surface's headings first.
_ROOM_FOR_A_LECTURE = 1040
# Pixels. Large letters may bring a scroll bar, which must not switch them off again.
_SCROLL_BAR = 20
_ITS_PAGE = "docs/panel.md shows how"
_ASKING = "nv-asking"
"""The class of a panel in the page whose words wait for a guess: scene.css hides what
is of the class nv-answer in it."""


class Panel(Shell):
    """The base class of all panels.

    A subclass has a `title`, a `setting`, `_answer`, `draw` and `_describe`, and what
    else it wants of the part headed "What a subclass says"; docs/panel.md shows how.

    Args:
        only: names of the controls to show; the others keep their values and stay in
            the state. With `only`, "More" is hidden: for a lecture.
        state: a state string to start from, as the panel's own `state` gives it.
        presets: label → state, as buttons above the figure; what a state does not name
            is as the panel was opened. Each is tried on the controls before its button
            exists.
        asks: a topic. The panel opens without its words and badges, until a question of
            the same topic is answered, the reader moves it, or presses "Show me".

    Attributes:
        controls: name → widget.
        figure: a widget that can also be shown alone; a chart has the attributes of a
            plotly Figure.
        facts: what Python says of a scene, as plain data; see the docstring of
            `neuroviz.kit.picture`.
        description: in words, what the figure shows now; of an earlier setting, it
            says so first.
        asks: the topic, or None.
        status: the visible line: busy, done, or the error.
        state: a short string; assigning it restores the panel.
    """

    title: ClassVar[str] = ""
    _background: Background | EventLoop | None = None  # until the panel opens

    def __init__(
        self,
        *,
        only: Iterable[str] | None = None,
        state: str | None = None,
        presets: Mapping[str, str] | None = None,
        asks: str | None = None,
    ) -> None:
        try:
            self.asks = asking.topic_of(asks)
            self._open(only, state, presets)
        except BaseException:
            self.close()
            raise
        for part in widgets_in(self):
            let_go(part)
        cells.keep(self)

    def _open(
        self,
        only: Iterable[str] | None,
        state: str | None,
        presets: Mapping[str, str] | None,
    ) -> None:
        self._check_class()
        self._background = background()
        first, more = self._make_controls()
        self.controls: dict[str, widgets.Widget] = {**first, **more}
        shown = set(self.controls) if only is None else self._known(only)
        self._theme = theme.current()
        self._quiet = False
        self._has_guessed = False
        self.status = ""
        self._described = ""
        self._badges = ""
        self._described_of: Values = {}  # the controls' values in both
        super().__init__()
        self._only = None if only is None else [n for n in self.controls if n in shown]
        self._lay_out(first, more, shown, self._may_hide, self._extra_buttons())
        for control in self.controls.values():
            control.observe(self._on_change, names="value")
        self._reset_button.on_click(lambda _: self.reset())
        self._cancel_button.on_click(lambda _: self.cancel())
        self._show_me.on_click(lambda _: self.show_words())
        self._lecture.observe(self._on_lecture, names="value")
        self._state_text.observe(self._on_state_text, names="value")

        default = self._read()
        default_values = values_of(self.controls)
        request = default if state is None else self._restore(state)
        self._opened_with = {
            name: control.value for name, control in self.controls.items()
        }
        self._arrange()
        # A panel opens with a picture: its default one where the state takes long.
        slow = self._is_slow(request)
        self._shown = self._answer(default if slow else request)
        self._shown_of: Values = default_values if slow else values_of(self.controls)
        self.figure = Chart(
            self._seen(self._shown), self.controls, self.walks, self._shown_of
        )
        self.figure.observe(self._on_width, names="width")
        self._box.children = [self.figure]
        self._show_answer(self._shown, started=None)
        if presets is not None:
            place = self.children.index(self._box)
            self.children = [
                *self.children[:place],
                row_of_presets(self, presets),
                *self.children[place:],
            ]
        if slow:
            self._refresh()
        if self.asks is not None:
            asking.listen(self)

    def _check_class(self) -> None:
        """Whether the subclass says what every panel needs.

        Raises:
            TypeError: if not.
        """
        kind = type(self)
        makes_controls = kind._make_controls is not Panel._make_controls
        if not (is_dataclass(kind.setting) or makes_controls):
            raise TypeError(
                f"{kind.__name__}.setting is to be a frozen dataclass whose fields "
                f"declare the controls; got {kind.setting!r} ({_ITS_PAGE})"
            )
        if callable(getattr_static(kind.setting, "is_slow", None)):
            raise TypeError(
                f"{kind.setting.__name__}.is_slow is to be a property: write @property "
                f"above it ({_ITS_PAGE})"
            )
        if kind._answer is Panel._answer:
            raise TypeError(
                f"{kind.__name__} has no _answer, which takes the setting and returns "
                f"what is drawn: _answer = staticmethod(function) ({_ITS_PAGE})"
            )
        for name in ("_answer", "draw"):
            if not isinstance(getattr_static(self, name), staticmethod):
                raise TypeError(
                    f"{kind.__name__}.{name} is to be static: {name} = "
                    f"staticmethod(function) ({_ITS_PAGE})"
                )

    # What a subclass says.

    setting: ClassVar[type | None] = None
    """A frozen, picklable dataclass whose fields declare the controls: see
    `neuroviz.kit.settings`."""
    walks: ClassVar[tuple[str, ...]] = ()
    """Sliders that can be played."""

    def _make_controls(self) -> tuple[Controls, Controls]:
        """The controls seen at first, and those under "More": name → widget, in tab
        order."""
        return make_controls(self.setting)

    def _arrange(self) -> None:
        """Disable the controls that do nothing at the moment."""

    def _read(self) -> object:
        """The controls as one frozen, picklable setting; ValueError says what is wrong
        with them."""
        return read_setting(self.setting, self.controls)

    @staticmethod
    def _answer(request: object) -> object:
        """The result object. Static and importable: a child process may run it, or its
        `in_steps`."""
        raise NotImplementedError

    def _is_slow(self, request: object) -> bool:
        """Whether the answer takes longer than about 0.3 s: by default the setting's
        `is_slow`, if any."""
        return getattr(request, "is_slow", False)

    @staticmethod
    def draw(answer: object) -> Parts | Picture:
        """The figure of an answer as plain data: of a plotly figure, or of a scene that
        the page draws."""
        raise NotImplementedError(f"a panel needs draw ({_ITS_PAGE})")

    def _describe(self, answer: object) -> str:
        """In a sentence or two, what the figure shows."""
        raise NotImplementedError(f"a panel needs _describe ({_ITS_PAGE})")

    def _badge(self, answer: object) -> str:
        """The badge of the claim in the title, from `theme.badge_html`."""
        return ""

    def _extra_buttons(self) -> list[widgets.Widget]:
        """Further buttons beside Reset; asked for once, before there is a figure."""
        return []

    # What every panel has.

    def _in_words(self) -> tuple[str, str]:
        said = asking.FIRST_GUESS if self.is_asking else self.description
        return self.title, said

    def _keep(self, shown: DisplayHandle) -> None:
        self.figure.keep(shown)

    def _drawn(self) -> str:
        drawn = self.figure.as_html()
        return f'<div class="{_ASKING}">{drawn}</div>' if self.is_asking else drawn

    @property
    def description(self) -> str:
        """In words, what the figure shows; it says so where that is not yet, or cannot
        be, of the values that the controls have now."""
        if self._described_of == values_of(self.controls):
            return self._described
        return f"Of an earlier setting: {self._described}"

    @property
    def is_asking(self) -> bool:
        """Whether its words wait for a guess."""
        if self.asks is None or self._has_guessed:
            return False
        return not asking.is_answered(self.asks)

    def show_words(self) -> None:
        """Show what the panel says, also where it asks first."""
        self._has_guessed = True
        self._say()

    def ask_again(self) -> None:
        """Keep the words back once more, as when the panel was opened."""
        self._has_guessed = False
        self._say()

    def on_answers(self) -> None:
        """Words and badges come, as a topic was answered, or go."""
        self._say()

    @property
    def _may_hide(self) -> bool:
        """Whether controls may go out of sight: not those that were asked for by
        name."""
        return self._only is None

    @property
    def facts(self) -> dict:
        """What Python says of a scene, as plain data; of a panel with a chart,
        TypeError."""
        return self.figure.facts

    @property
    def state(self) -> str:
        """All controls as name=value;…: assigning such a string restores the panel,
        seed included."""
        return ";".join(
            f"{name}={write_control(control.value)}"
            for name, control in self.controls.items()
        )

    @state.setter
    def state(self, text: str) -> None:
        self._restore(text)
        self._refresh()

    def complete(self, state: str) -> str:
        """The given state, completed to all controls; the panel itself does not change.

        What the text does not name is as the panel was opened.

        Raises:
            ValueError: if the text is no state of this panel.
        """
        before = {name: control.value for name, control in self.controls.items()}
        with ExitStack() as held:  # the page gets no message of these changes
            for control in self.controls.values():
                held.enter_context(control.hold_sync())
            try:
                self._assign(self._opened_with)
                self._restore(state)
                return self.state
            finally:
                self._assign(before)
                # a panel may arrange its controls while it restores a state
                self._arrange()

    def reset(self) -> None:
        """Back to the values the panel was opened with."""
        self._assign(self._opened_with)
        self._refresh()

    def cancel(self) -> None:
        """Stop what is being measured in the background; the last picture stays."""
        if self._background.cancel():
            self._set_status(
                "cancelled; the figure still shows the previous setting", "stale"
            )
            self._set_working(False)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for work in the background; False when the time ran out. For scripts and
        tests.

        True also where the work failed: `status` says so.
        """
        return self._background.wait(seconds)

    def close(self) -> None:
        """Take the panel off the page with all its widgets, and end its child process,
        which may be at work."""
        if self._background is not None:
            self._background.close()
        for part in widgets_in(self):
            if part is self:
                super().close()
            else:
                part.close()
        cells.forget(self)

    def _known(self, only: Iterable[str]) -> set[str]:
        try:
            names = {only} if isinstance(only, str) else set(only)
        except TypeError:
            names = {only}
        if unknown := names - set(self.controls):
            known = ", ".join(self.controls)
            got = ", ".join(sorted(map(repr, unknown)))
            raise ValueError(f"only= names the controls to show, of {known}; got {got}")
        return names

    def _restore(self, text: str) -> object:
        """Set the controls from a state string, all or none; returns the request they
        make."""
        if not isinstance(text, str):
            raise ValueError(f"a state is a text such as {self.state!r}; got {text!r}")
        values = {}
        for part in text.split(";"):
            part = part.strip()
            if not part:
                continue
            name, equals, value = part.partition("=")
            if not equals or name not in self.controls:
                known = ", ".join(self.controls)
                raise ValueError(
                    f"a state is name=value;… with names of {known}; got {part!r}"
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
        quiet = self._quiet
        self._quiet = True
        try:
            for name, value in values.items():
                self.controls[name].value = value
        finally:
            self._quiet = quiet

    def _on_change(self, change: dict) -> None:
        if self._quiet or _is_rounding(change):
            return
        self._has_guessed = True
        self._refresh()

    def _on_tools(self, change: dict) -> None:
        self._write_state()
        super()._on_tools(change)

    def _go_to(self, state: str) -> None:
        """As if the reader had entered this state."""
        self._write_state()  # what is typed may be this state: to say it is no change
        self._state_text.value = state

    def _on_state_text(self, change: dict) -> None:
        if self._quiet:
            return
        try:
            self.state = change["new"]
        except ValueError as error:
            self._fail(error)

    def _redraw(self, answer: object) -> None:
        self.figure.show(self._seen(answer), self._shown_of)

    def _seen(self, answer: object) -> Parts | Picture:
        """The figure, as far as it may be seen: a chart has its headlines once somebody
        has guessed. Of a scene the page hides them."""
        parts = self.draw(answer)
        if isinstance(parts, Picture):
            check_picture(parts, self.controls)
        self._hides_answers = self.is_asking and isinstance(parts, Parts)
        return without_answers(parts) if self._hides_answers else parts

    def _bring_answers(self) -> None:
        """The figure follows the words, which have come or gone."""
        is_chart = "facts" not in self.figure.drawn
        if self._shown is None or not is_chart:
            return
        if self._hides_answers != self.is_asking:
            with theme.using(self._theme):
                self._redraw(self._shown)

    def _on_width(self, change: dict) -> None:
        width = change["new"]
        if 0 < width < _ROOM_FOR_A_LECTURE:
            self._draw_in_size("notebook")
        elif width >= _ROOM_FOR_A_LECTURE + _SCROLL_BAR and self._lecture.value:
            self._draw_in_size("lecture")

    def _on_lecture(self, change: dict) -> None:
        """Large letters, and the controls under "More" put away; a second press brings
        all back."""
        size = "lecture" if change["new"] else "notebook"
        self._more.value = False  # that folds the controls; the row of tools stays
        foldable = self._may_hide and self._has_more
        show(self._more, foldable and not change["new"])
        narrow = 0 < self.figure.width < _ROOM_FOR_A_LECTURE
        self._draw_in_size("notebook" if narrow else size)
        lecture.set_size(self, size)
        lecture.say(size)

    def _draw_in_size(self, size: str) -> None:
        """Draw the figure with letters of this size; in a narrow place large words
        would collide."""
        if self._theme["size"] != size:
            self._theme = self._theme | {"size": size}
            with theme.using(self._theme):
                if self._shown is not None:
                    self._redraw(self._shown)

    def _refresh(self) -> None:
        started = time.perf_counter()

        def working() -> None:
            self._set_status("working …", "busy")

        of = values_of(self.controls)
        try:
            self._arrange()
            self._follow_state()
            request = self._read()
            of = values_of(self.controls)  # a control may have been arranged
            slow = self._is_slow(request)
            if slow:
                working()
                self._set_working(True)
                self._background.submit(
                    type(self)._answer,
                    request,
                    lambda result: self._on_answer(result, started, of),
                    lambda step: self._set_status(
                        f"working … {step}, {_seconds(started):.0f} s", "busy", of
                    ),
                )
                return
            # The answer to an older request would come after this one.
            self._background.cancel()
            with late(working):
                answer = self._answer(request)
        except Exception as error:
            # every error is shown to the reader: the panel stays alive
            self._background.cancel()
            answer = error
        self._on_answer(answer, started, of)

    def _on_answer(self, result: object, started: float, of: Values) -> None:
        """Show the answer to the request that the controls made when they had these
        values."""
        self._set_working(False)
        if isinstance(result, Exception):
            self._fail(result)
            return
        self._shown = None  # unknown, in case the next lines fail half way
        self._shown_of = of
        try:
            with theme.using(self._theme):  # the theme that the figure was made in
                self._redraw(result)
                self._show_answer(result, started)
            self._shown = result
        except Exception as error:  # shown to the reader: the panel stays alive
            self._fail(error)

    def _show_answer(self, answer: object, started: float | None) -> None:
        described = self._words("_describe", answer)
        self._badges = self._words("_badge", answer)
        self._described = described
        self._described_of = self._shown_of
        self._say()
        self._follow_state()
        seconds = 0.0 if started is None else _seconds(started)
        took = ""
        if seconds >= 1:
            took = f" in {seconds:.1f} s"
        elif seconds > 0:
            took = f" in {1000 * seconds:.0f} ms"
        self._set_status(f"done{took}", of=self._shown_of)

    def _words(self, name: str, answer: object) -> str:
        """What a method of the subclass says of an answer."""
        words = getattr(self, name)(answer)
        if not isinstance(words, str):
            raise TypeError(
                f"{type(self).__name__}.{name} returns a text; got {words!r}: does it "
                f"lack a return? ({_ITS_PAGE})"
            )
        return words

    def _say(self) -> None:
        """Write the title, the badges and the description, as far as they may be
        seen."""
        if self.is_asking:
            self.add_class(_ASKING)
            self._write(self.title, "", asking.FIRST_GUESS, self._shown_of)
        else:
            self.remove_class(_ASKING)
            self._write(self.title, self._badges, self._described, self._described_of)
        show(self._show_me, self.is_asking)
        self._bring_answers()

    def _follow_state(self) -> None:
        """Write the state where it is seen: a move of a slider costs a message less."""
        if self._tools.value:
            self._write_state()

    def _write_state(self) -> None:
        quiet = self._quiet
        self._quiet = True
        with self._state_text.hold_sync():
            self._state_text.value = self._state_text.placeholder = self.state
        self._quiet = quiet

    def _fail(self, error: Exception) -> None:
        # a missing package raises ImportError
        expected = isinstance(error, ValueError | ImportError)
        self._set_status(
            str(error) if expected else f"{type(error).__name__}: {error}", "error"
        )


def _is_rounding(change: dict) -> bool:
    """Whether the page has only written a number in its own way: it makes 0.8 of a
    slider 0.7999999999999998 when it first shows it."""
    old = change["old"]
    new = change["new"]
    return isinstance(old, float) and isinstance(new, float) and isclose(old, new)


def _seconds(started: float) -> float:
    return time.perf_counter() - started
