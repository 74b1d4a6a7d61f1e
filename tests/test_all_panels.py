"""One contract for all panels: every control goes to its ends, at random too, and
nothing breaks.

Panels are found by their names in `neuroviz.explorables`, so that a new one is held to
it unasked. What only one panel promises is in its own test. The toys at the end break
the contract, each in one way.
"""

import re

import all_explorables as explorables
import ipywidgets as widgets
import pytest
from checks import TWO_LINES
from panels import (
    PATIENCE,
    Page,
    answers,
    differences,
    places,
    plain,
    random_states,
    said,
    text,
    title,
)

from neuroviz.kit import theme
from neuroviz.kit.controls import is_shown
from neuroviz.kit.page import Chart
from neuroviz.kit.panel import Panel
from neuroviz.kit.plot import Parts
from neuroviz.kit.status import values_of

# Where the walk starts, if not where the panel opens: sizes that keep the far ends of
# the other controls under some seconds. The walk still goes to both ends of the
# controls named here.
FROM = {
    "Figure3Explorer": "last=3;inputs=10;runs=1",
    "SearchExplorer": "starts=10",
}
# Long lists of slow options: one in so many, and both ends.
THINNED = {("SearchExplorer", "case"): 3}
# Random states: three, of all controls but texts. Where one can take many seconds, or
# would be refused in words, how many and what is kept in them.
RANDOM = 3
KEPT = {
    "Figure3Explorer": (2, "layers=2;last=4;peer=no"),
    "LedgerExplorer": (2, "layers=2"),
    "SearchExplorer": (1, "starts=10;case=softmax-1"),
    "SurfaceExplorer": (2, ""),
    # places beyond the term, tokens beyond the last: refused
    "UnrollingExplorer": (3, "place=1;output=2"),
    "VariantsExplorer": (1, ""),
}
LOOKS = [{"mode": "light", "size": "notebook"}, {"mode": "dark", "size": "lecture"}]
PYTHON = re.compile(r"\$|\b(nan|NaN|inf|Infinity|None|undefined)\b")


def wrong_here(panel, twin):
    """What breaks the contract in the state that the panel is in; `twin` is another
    one, to try its state."""
    if not panel.wait(PATIENCE) or not panel.status.startswith("done"):
        return [f"status {panel.status!r}"]
    found = [
        f"text {words!r}"
        for words in {*said(panel.figure), panel.description}
        if PYTHON.search(words)
    ]
    # a hint takes its room
    if not 0 < len(re.sub(r"Hint \d.*", "", panel.description.strip())) <= TWO_LINES:
        found.append(f"no description of two lines: {panel.description!r}")
    for trace in panel.figure.drawn.get("data", ()):
        if "text" in trace.get("mode", "") and "" in trace.get("text", ()):
            found.append(
                f"an empty text in {trace.get('name')!r}: the next one there would not"
                " be drawn"
            )
    if "nv-badge" not in title(panel):
        found.append("no badge")
    for what, of in answers(panel).items():
        if of != values_of(panel.controls):
            found.append(f"the {what} of {of}")
    with theme.using(panel._theme):
        fresh = Chart(panel.draw(panel._shown))
    if parts := differences(panel.figure, fresh):
        found.append(
            f"moved there, it is not the figure drawn there: {', '.join(parts[:3])}"
        )
    fresh.close()
    return found + wrong_on_return(panel, twin)


def wrong_on_return(panel, twin):
    """Whether the state goes into the controls of another panel and comes out of them
    as it was."""
    state = panel.state
    try:
        twin._restore(state)
        twin._arrange()
    except ValueError as error:
        return [f"state refused: {error}"]
    found = [] if twin.state == state else [f"state comes back as {twin.state!r}"]
    for name, control in panel.controls.items():
        one, two = (
            f"{c.value:.6g}" if isinstance(c.value, float) else c.value
            for c in (control, twin.controls[name])
        )
        if one != two:
            found.append(f"state brings {name} back as {two!r}")
    return found


def places_visited(kind, name, control):
    """The places of a control, without those that would take too long."""
    every = places(control)
    thin = THINNED.get((kind.__name__, name), 1)
    return [
        value
        for number, value in enumerate(every)
        if number % thin == 0 or number == len(every) - 1
    ]


def faults_at_the_ends(kind, start="", every=True):
    """Each control to its places, and back before the next one; what went wrong on the
    way.

    If not every place, then the last one only, or the first where it stands at the
    last.
    """
    panel = kind(state=start or None)
    twin = kind()
    found = []
    seen = []
    try:
        page = Page(panel.figure)
        found += [f"at the start: {fault}" for fault in wrong_here(panel, twin)]
        is_scene = "facts" in panel.figure.drawn
        if not is_scene and (parts := differences(panel.figure, panel.figure.figure)):
            found.append(
                f"plotly's Python reads the figure otherwise: {', '.join(parts[:3])}"
            )
        described = panel.description
        first = plain(panel.figure)
        for name, control in panel.controls.items():
            opened = control.value
            visited = [
                value
                for value in places_visited(kind, name, control)
                if value != opened
            ]
            for value in visited if every else visited[-1:]:
                control.value = value
                found += [
                    f"{name}={text(value)}: {fault}"
                    for fault in wrong_here(panel, twin)
                ]
                if page.shown != panel.figure.drawn:
                    found.append(f"{name}={text(value)}: the page shows another figure")
                if not any(seen) and plain(panel.figure) != first:
                    seen.append(panel.description != described)
            control.value = opened
            panel.wait(PATIENCE)
    finally:
        panel.close()
        twin.close()
    if seen and not any(seen):
        found.append("the picture changes and the description never does")
    return found


def faults_in_the_corner(kind):
    """All sliders to their least values, one after the other, in a panel as it opens;
    they stay there."""
    panel = kind()
    twin = kind()
    found = []
    try:
        for name, control in panel.controls.items():
            if hasattr(control, "min") and not control.disabled:
                control.value = control.min
                found += [
                    f"{panel.state}, {name} last: {fault}"
                    for fault in wrong_here(panel, twin)
                ]
    finally:
        panel.close()
        twin.close()
    return found


def faults_at_random(kind, look, count, keep=""):
    """A panel in a look is moved to random states; there it is as one that is opened
    there."""
    found = []
    with theme.using(look):
        panel = kind()
        twin = kind()
    try:
        for state in random_states(twin, count, seed=11, keep=keep):
            try:
                panel.state = state
            except ValueError as error:
                found.append(f"{state}: refused, {error}")
                continue
            found += [f"{state}: {fault}" for fault in wrong_here(panel, twin)]
            with theme.using(look):
                again = kind(state=panel.state)
            again.wait(PATIENCE)
            if not again.status.startswith("done"):
                found.append(f"{state}: opened there, status {again.status!r}")
            if again.state != panel.state or timeless(again) != timeless(panel):
                found.append(f"{state}: opened there, it says something else")
            if parts := differences(panel.figure, again.figure):
                found.append(
                    f"{state}: opened there, it shows something else:"
                    f" {', '.join(parts[:3])}"
                )
            again.close()
    finally:
        panel.close()
        twin.close()
    return found


def timeless(panel):
    """The description without what the clock of the machine says in it."""
    return re.sub(r"\b\d+(\.\d+)? m?s\b", "… s", panel.description)


SLOW = pytest.param("SearchExplorer", marks=pytest.mark.long)  # of 200 starts


@pytest.mark.parametrize(
    "name",
    [SLOW, *(name for name in explorables.__all__ if name != "SearchExplorer")],
)
def test_every_control_goes_to_its_places(name, request):
    every = request.config.getoption("--full")
    assert (
        faults_at_the_ends(getattr(explorables, name), FROM.get(name, ""), every) == []
    )


@pytest.mark.parametrize("name", explorables.__all__)
def test_all_sliders_go_to_their_least_together(name):
    assert faults_in_the_corner(getattr(explorables, name)) == []


@pytest.mark.parametrize("name", explorables.__all__)
def test_a_random_state_reached_or_opened_is_the_same_picture_dark_and_large(
    name,
):
    """The walk to the ends is in the light; there half of the colours and sizes could
    not be seen missing."""
    assert (
        faults_at_random(
            getattr(explorables, name), LOOKS[1], *KEPT.get(name, (RANDOM, ""))
        )
        == []
    )


@pytest.mark.parametrize("name", explorables.__all__)
def test_only_shows_these_controls_and_no_others(name):
    kind = getattr(explorables, name)
    whole = kind()
    asked = list(whole.controls)[:2]
    # in this state
    saying = [name for name in asked if is_shown(whole.controls[name])]
    panel = kind(only=asked)
    assert [n for n, c in panel.controls.items() if is_shown(c)] == saying != []
    whole.close()
    panel.close()


def test_what_is_named_here_exists():
    """A panel or a control that was renamed would be left out silently otherwise."""
    for name, state in [
        *FROM.items(),
        *((name, keep) for name, (_, keep) in KEPT.items()),
    ]:
        panel = getattr(explorables, name)
        assert name in explorables.__all__ and set(controls_of(state)) <= set(
            panel().controls
        ), name
    for name, control in THINNED:
        kind = getattr(explorables, name)
        every = places(kind().controls[control])
        visited = places_visited(kind, control, kind().controls[control])
        assert (visited[0], visited[-1]) == (every[0], every[-1]) and len(
            visited
        ) < len(every)


def controls_of(state):
    return [part.partition("=")[0] for part in state.split(";") if part]


# The contract can be broken


class Sound(Panel):
    """A toy that keeps the contract."""

    title = "toy"

    def _make_controls(self):
        first = {
            "number": widgets.IntSlider(value=2, min=0, max=5),
            "kind": widgets.Dropdown(
                options=[("Plain", "plain"), ("Fancy", "fancy")], value="plain"
            ),
        }
        return first, {"flag": widgets.Checkbox(value=False)}

    def _read(self):
        return tuple(control.value for control in self.controls.values())

    @staticmethod
    def _answer(request):
        return request

    @staticmethod
    def draw(answer):
        note = {"text": f"{answer[1]} {answer[0]}", "showarrow": False}
        return Parts(
            [{"y": [answer[0]]}],
            {"annotations": [note], "font": {"color": theme.color("ink")}},
        )

    def _describe(self, answer):
        return f"the number {answer[0]}"

    def _badge(self, answer):
        return theme.badge_html("exact")


class RaisesAtItsEnd(Sound):
    @staticmethod
    def _answer(request):
        return request if request[0] < 5 else [][0]


class RaisesInTheCorner(Sound):
    def _make_controls(self):
        first, more = super()._make_controls()
        return first | {"other": widgets.IntSlider(value=2, min=0, max=5)}, more

    @staticmethod
    def _answer(request):
        number, _, other, _ = request
        return (number, "plain", 5 // max(number, other), False)


class RefusesAnOption(Sound):
    def _read(self):
        if self.controls["kind"].value == "fancy":
            raise ValueError("fancy is not for today")
        return super()._read()


class ForgetsAControl(Sound):
    @property
    def state(self):
        return Panel.state.fget(self).replace("flag=yes", "flag=no")

    @state.setter
    def state(self, text):
        Panel.state.fset(self, text.partition("flag")[0])


class RefusesItsOwnState(Sound):
    @property
    def state(self):
        return Panel.state.fget(self).replace("fancy", "Fancy")


class NeverChangesItsWords(Sound):
    def _describe(self, answer):
        return "a number"


class SaysNothing(Sound):
    def _describe(self, answer):
        return " " if answer[2] else super()._describe(answer)


class LeavesAWordBehind(Sound):
    def _redraw(self, answer):
        self.figure.show(Parts(self.draw(answer).traces, self.figure.drawn["layout"]))


class TellsThePageTooLittle(Sound):
    def _redraw(self, answer):
        page, self.figure.send = (
            self.figure.send,
            lambda message: page(message | {"changes": []}),
        )
        super()._redraw(answer)
        self.figure.send = page


class ShowsAnOldFigure(Sound):
    def _redraw(self, answer):
        self.figure.show(self.draw(answer), self.figure.drawn["of"])


class WritesPython(Sound):
    @staticmethod
    def draw(answer):
        parts = Sound.draw(answer)
        parts.traces[0]["hovertemplate"] = "at nan" if answer[0] == 0 else ""
        return parts


class LeavesATextEmpty(Sound):
    @staticmethod
    def draw(answer):
        parts = Sound.draw(answer)
        parts.traces[0] |= {
            "mode": "markers+text",
            "text": ["many" if answer[0] else ""],
        }
        return parts


class WearsNoBadge(Sound):
    def _badge(self, answer):
        return "" if answer[1] == "fancy" else super()._badge(answer)


class DrawsByItsHistory(Sound):
    _visits = 0

    def _describe(self, answer):
        self._visits += 1
        return f"{super()._describe(answer)}, visit {self._visits}"


class TakesTheLookOfTheDay(Sound):
    def _redraw(self, answer):
        with theme.using(LOOKS[0]):
            super()._redraw(answer)


def test_a_sound_toy_passes():
    assert faults_at_the_ends(Sound) == faults_in_the_corner(Sound) == []
    for look in LOOKS:
        assert faults_at_random(Sound, look, 3) == []


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (RaisesAtItsEnd, "number=5: status 'IndexError"),
        (RefusesAnOption, "kind=fancy: status 'fancy is not"),
        (RefusesItsOwnState, "kind=fancy: state refused"),
        (NeverChangesItsWords, "the description never does"),
        (SaysNothing, "flag=yes: no description"),
        (ShowsAnOldFigure, "number=0: the figure of {'number': 2"),
        (
            LeavesAWordBehind,
            (
                "number=0: moved there, it is not the figure drawn there:"
                " layout.annotations.0"
            ),
        ),
        (TellsThePageTooLittle, "number=0: the page shows another figure"),
        (WritesPython, "number=0: text 'at nan'"),
        (LeavesATextEmpty, "number=0: an empty text"),
        (WearsNoBadge, "kind=fancy: no badge"),
    ],
)
def test_a_panel_that_breaks_the_contract_at_an_end_is_caught(kind, said):
    assert any(said in fault for fault in faults_at_the_ends(kind))


def test_a_panel_that_breaks_it_only_where_two_ends_meet_is_caught():
    assert faults_at_the_ends(RaisesInTheCorner) == []
    (fault,) = faults_in_the_corner(RaisesInTheCorner)
    assert "other last: status 'ZeroDivisionError" in fault


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (ForgetsAControl, "state brings flag back as False"),
        (DrawsByItsHistory, "it says something else"),
        (TakesTheLookOfTheDay, "it shows something else: layout.font.color"),
    ],
)
def test_a_panel_that_depends_on_its_past_is_caught(kind, said):
    assert any(
        said in fault
        for fault in [*faults_at_the_ends(kind), *faults_at_random(kind, LOOKS[1], 8)]
    )
