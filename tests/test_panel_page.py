"""The panel on the page that shows how to add one: it opens, moves and says what is
measured; what a panel lacks is said when it opens."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import plotly.graph_objects as go
import pytest
from panels import headlines

from neuroviz.kit.panel import Panel
from neuroviz.kit.picture import Picture
from neuroviz.kit.plot import Parts
from neuroviz.kit.settings import choice, whole
from neuroviz.rank import measure_dimension

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture
def page():
    """What the two pages define."""
    names = {"__name__": "a_page"}
    network = (DOCS / "own_network.md").read_text(encoding="utf-8")
    first = network[network.index("```python") :].split("```")[1]
    lines = re.findall(r"^(?:>>>|\.\.\.) ?(.*)$", first, re.MULTILINE)
    exec("\n".join(lines), names)
    (code,) = re.findall(
        r"```python\n(.*?)```",
        (DOCS / "panel.md").read_text(encoding="utf-8"),
        re.DOTALL,
    )
    exec(code, names)
    return names


def test_the_panel_of_the_page_says_what_is_measured(page):
    panel = page["GatedExplorer"]()
    for width, hidden in ((3, 2), (1, 1), (5, 3)):
        panel.state = f"width={width};hidden={hidden}"
        dimension = measure_dimension(page["Gated"](width, hidden)).value
        parameters = hidden * (2 * width + 1)
        said = f"{parameters} parameters, dimension {dimension}."
        assert panel.description == said
        assert list(panel.figure.data[0].y) == [parameters, dimension]
        (headline,) = headlines(panel.figure)
        assert said == f"{headline}."
    panel.controls["hidden"].value = 4
    assert panel.state == "width=5;hidden=4" and panel.status.startswith("done")
    panel.close()


def test_every_setting_of_the_page_is_answered_where_its_class_is_no_module(page):
    """As in a notebook: another process could not import it."""
    panel = page["GatedExplorer"]()
    panel.state = "width=8;hidden=60"
    assert panel.status.startswith("done"), panel.status
    panel.close()


@dataclass(frozen=True)
class Setting:
    a: int = whole("a", 2, 1, 6)


@dataclass(frozen=True)
class SlowByMethod(Setting):
    def is_slow(self):
        return False


class Whole(Panel):
    title = "One that lacks nothing"
    setting = Setting
    _answer = staticmethod(lambda setting: setting.a)
    draw = staticmethod(lambda a: Parts([], {}))
    _describe = staticmethod(lambda a: f"a = {a}")


@pytest.mark.parametrize(
    ("lacks", "error", "said"),
    [
        ({"setting": None}, TypeError, "setting is to be a frozen dataclass"),
        ({"setting": SlowByMethod}, TypeError, "is_slow is to be a property"),
        ({"_answer": Panel._answer}, TypeError, "has no _answer, which takes"),
        ({"_answer": lambda a: a}, TypeError, "_answer is to be static"),
        ({"draw": lambda a: a}, TypeError, "draw is to be static"),
        ({"draw": staticmethod(lambda a: go.Figure())}, TypeError, "got Figure"),
        ({"draw": staticmethod(Panel.draw)}, NotImplementedError, "needs draw"),
        ({"_describe": Panel._describe}, NotImplementedError, "needs _describe"),
        ({"_describe": lambda self, a: None}, TypeError, "_describe returns a text"),
        ({"_badge": lambda self, a: None}, TypeError, "_badge returns a text"),
    ],
)
def test_what_a_panel_lacks_is_said_when_it_opens(lacks, error, said):
    Whole().close()
    with pytest.raises(error, match=said):
        type("Lacking", (Whole,), lacks)()


@dataclass(frozen=True)
class Places:
    a: int = whole("a", 2, 1, 6)
    b: int = whole("b", 0, 0, 9, 3)
    kind: str = choice("kind", [("Plain", "plain"), ("Fancy", "fancy")])


PICTURE = Picture(
    "deep/product",
    {"schema": "product/1"},
    place={"a": 2, "b": 0, "kind": "plain"},
    ranges={"a": (1, 6, 1), "b": (0, 9, 3)},
    choices={"kind": ["plain", "fancy"]},
)


class Scene(Panel):
    """A panel whose picture is wrong beyond a = 2."""

    title = "A scene"
    setting = Places
    wrong: ClassVar[dict] = {}
    _answer = staticmethod(lambda setting: setting.a)
    draw = staticmethod(lambda a: PICTURE._replace(**(Scene.wrong if a > 2 else {})))
    _describe = staticmethod(lambda a: f"a = {a}")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"facts": {"product": 6}}, "form and its version.*got facts of product only"),
        ({"facts": {"schema": "p/1", "says": "one"}}, r"words\(.*got 'one'"),
        ({"place": {"c": 2}}, "controls of its panel, of a, b, kind; got 'c'"),
        ({"place": {"a": 2, "kind": "plain"}}, "ranges .* controls in its place.*'b'"),
        ({"place": {"a": 2, "b": 0}}, "choices .* controls in its place.*got 'kind'"),
        ({"ranges": {"a": (1, 6, 1)}}, "of each slider in its place; 'b' has none"),
        ({"ranges": {**PICTURE.ranges, "a": (0, 6, 1)}}, r"slider, \(1, 6, 1\); got"),
        ({"ranges": {**PICTURE.ranges, "kind": (0, 1, 1)}}, "'kind' is none: leave"),
        ({"choices": {}}, r"list, \['plain', 'fancy'\], in this order; got None"),
        ({"choices": {"kind": ["fancy", "plain"]}}, r"got \['fancy', 'plain'\]"),
    ],
)
def test_a_picture_that_the_page_could_not_draw_is_refused(monkeypatch, wrong, said):
    """When the panel opens, and when it moves: then it lives on."""
    monkeypatch.setattr(Scene, "wrong", wrong)
    panel = Scene()
    panel.controls["a"].value = 3
    assert re.search(said, panel.status), panel.status
    panel.controls["a"].value = 1
    assert panel.status.startswith("done")
    panel.close()
    with pytest.raises(ValueError, match=said):
        Scene(state="a=3")


def test_a_scene_may_ask_for_no_range_at_all(monkeypatch):
    monkeypatch.setattr(Scene, "wrong", {"ranges": {}})
    Scene(state="a=3").close()
