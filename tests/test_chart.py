"""The figure of a panel in the page: plain data kept in step with Python, and drawn; in
a page without a kernel."""

import random

import pytest
from node import ask

from neuroviz.kit.page import script
from neuroviz.kit.plot import changes
from tools.book.stills import applied

CHANGED = """
import { changed, type Change } from "kit/panel/changes";
type Pair = { old: unknown; changes: Change[] };
say(given.map(({ old, changes }: Pair) => changes.reduce(changed, old)));
"""


def plain_data(draw: random.Random, depth: int = 0) -> object:
    """A number, a word, nothing, or a list or an object of such."""
    kind = draw.choice("number word none list object".split() if depth < 4 else "n")
    size = draw.randrange(4)
    if kind == "list":
        return [plain_data(draw, depth + 1) for _ in range(size)]
    if kind == "object":
        return {name: plain_data(draw, depth + 1) for name in "abc"[:size]}
    return {"word": "a word", "none": None}.get(kind, draw.randrange(3))


def test_what_python_says_has_changed_makes_the_same_figure_in_the_page():
    draw = random.Random(1)
    pairs = [
        ({"x": plain_data(draw)}, {draw.choice("xy"): plain_data(draw)})
        for _ in range(1000)
    ]
    steps = [changes(old, new) for old, new in pairs]
    assert sum(len(some) > 1 for some in steps) > 200
    given = [
        {"old": old, "changes": some}
        for (old, _), some in zip(pairs, steps, strict=True)
    ]
    assert ask(CHANGED, given) == [new for _, new in pairs]
    assert [
        applied(old, some) for (old, _), some in zip(pairs, steps, strict=True)
    ] == [new for _, new in pairs]


def test_a_change_leaves_the_old_figure_as_it_was_and_shares_the_rest():
    program = """
    import { changed } from "kit/panel/changes";
    const old = { drawn: { of: { a: 1 }, data: [{ x: [1, 2] }, { x: [3] }] } };
    const next = changed(old, [["drawn", "data", 0, "x"], [5]]);
    const { data, of } = next.drawn;
    const isShared = data[1] === old.drawn.data[1] && of === old.drawn.of;
    say([old, next, isShared]);
    """
    old = {"drawn": {"of": {"a": 1}, "data": [{"x": [1, 2]}, {"x": [3]}]}}
    now = {"drawn": {"of": {"a": 1}, "data": [{"x": [5]}, {"x": [3]}]}}
    assert ask(program, None) == [old, now, True]


BEGIN = """async ([source, drawn]) => {
  const heard = {};
  const state = {
    drawn,
    painter: "plotly",
    code: new DataView(new ArrayBuffer(0)),
    controls: {},
    walks: [],
    width: 0,
    keeps: false,
  };
  window.sent = [];
  window.model = {
    get: (name) => state[name],
    set: (name, value) => { state[name] = value; },
    save_changes: () => {},
    send: (message) => sent.push(message),
    on: (name, listen) => { heard[name] = listen; },
    off: () => {},
    widget_manager: {},
  };
  window.python = (message) => heard["msg:custom"](message, []);
  // In the place of plotly.js: a picture takes until its `finish` is called.
  window.pictures = [];
  window.finish = [];
  const plotly = {
    react: (box, data) => new Promise((finish) => {
      pictures.push(data);
      window.finish.push(finish);
    }),
    purge: () => {},
  };
  window.neurovizPainters = {
    plotly: {
      ready: Promise.resolve(plotly),
      take: () => {},
      askUntilThere: () => () => {},
    },
  };
  const script = new Blob([source], { type: "text/javascript" });
  const address = URL.createObjectURL(script);
  const widget = (await import(address)).default();
  widget.initialize({ model });
  window.close = widget.render({ model, el: document.getElementById("figure") });
}"""
OF = "document.querySelector('.nv-plotly').dataset.setting"


@pytest.fixture
def page(bare_page):
    """A chart that Python has said once, at revision 3; `pictures` are what is
    drawn."""
    bare_page.set_content("<div class='nv'><div id='figure'></div></div>")
    drawn = {"data": [{"y": 1}], "layout": {}, "of": {"a": 1}, "revision": 3}
    bare_page.evaluate(BEGIN, [script("chart.js"), drawn])
    bare_page.wait_for_function("pictures.length === 1")
    return bare_page


def change(number: int, revision: int) -> dict:
    """What Python says once the control stands there."""
    steps = [[["data", 0, "y"], number], [["of", "a"], number]]
    return {"changes": steps, "from": revision - 1, "to": revision}


@pytest.mark.browser
@pytest.mark.parametrize("first", [0, 1])
def test_a_figure_says_which_setting_it_is_of_once_it_is_drawn(page, first):
    """Two are being drawn; whichever is done first, at the end the newest counts."""
    page.evaluate("python", change(2, 4))
    page.wait_for_function("pictures.length === 2")
    assert page.evaluate("pictures") == [[{"y": 1}], [{"y": 2}]]
    assert page.evaluate(OF) is None
    page.evaluate("finish[0]()" if first == 0 else "finish[1]()")
    page.wait_for_function(f"{OF} === '{{\"a\":{first + 1}}}'")
    page.evaluate("finish[1]()" if first == 0 else "finish[0]()")
    page.wait_for_timeout(50)
    assert page.evaluate(OF) == '{"a":2}'


@pytest.mark.browser
def test_a_page_that_missed_a_message_asks_for_the_whole_figure(page):
    assert page.evaluate("sent") == [{"want": "figure", "unless": 3}]
    page.evaluate("python", change(2, 5))
    assert page.evaluate("sent")[1:] == [{"want": "figure"}]
    whole = {"data": [{"y": 7}], "layout": {}, "of": {"a": 7}, "revision": 5}
    page.evaluate("python", {"whole": whole})
    page.wait_for_function("pictures.length === 2")
    page.evaluate("python", change(8, 6))
    page.wait_for_function("pictures.length === 3")
    assert page.evaluate("pictures.slice(1)") == [[{"y": 7}], [{"y": 8}]]
    assert page.evaluate("sent.length") == 2


@pytest.mark.browser
def test_messages_of_one_frame_are_drawn_once(page):
    page.evaluate(
        "messages => messages.forEach(python)", [change(n, n + 2) for n in range(2, 9)]
    )
    page.wait_for_function("pictures.length === 2")
    page.wait_for_timeout(100)
    assert page.evaluate("pictures") == [[{"y": 1}], [{"y": 8}]]


@pytest.mark.browser
def test_a_figure_that_is_closed_draws_nothing_more(page):
    page.evaluate("close()")
    page.evaluate("python", change(2, 4))
    page.wait_for_timeout(100)
    assert page.evaluate("pictures.length") == 1
