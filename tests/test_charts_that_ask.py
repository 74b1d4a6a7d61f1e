"""A chart that asks: what waits for a guess is the same in Python and on the pages."""

from node import ask

from neuroviz.explorables import Figure3Explorer
from neuroviz.kit.plot import (
    ANSWER,
    Plot,
    complete,
    compose,
    without_answers,
)

SEEN = """
import { withoutAnswers } from "book/stills";
say(given.map(withoutAnswers));
"""


def some_chart():
    plot = Plot("", (0, 1), (0, 1))
    plot.headline("all stop at D", before="fourteen networks")
    plot.text("a name", 0, 0, "note", "ink", name=ANSWER)
    plot.text("an axis", 1, 0, "note", "ink")
    plot.points("numbers", [0], [1], {}, meta=ANSWER)
    plot.points("places", [0], [1], {})
    return compose(plot.view())


def shown(parts):
    """Words and traces that are seen."""
    notes = [n["text"] for n in parts.layout["annotations"] if n.get("visible", True)]
    return notes, [t["name"] for t in parts.traces if t.get("visible", True)]


def test_headlines_and_what_is_named_an_answer_wait():
    chart = some_chart()
    assert shown(chart)[1] == ["numbers", "places"]
    assert shown(chart)[0] == ["<b>all stop at D</b>", "a name", "an axis"]
    notes, traces = shown(without_answers(chart))
    assert notes == ["<b>fourteen networks</b>", "an axis"] and traces == ["places"]
    assert without_answers(chart).layout["hovermode"] is False
    assert "hovermode" not in chart.layout


def test_the_pages_keep_back_the_same():
    charts = [some_chart(), Figure3Explorer.draw(Figure3Explorer()._shown)]
    drawn = [complete(chart) for chart in charts]
    given = [{"data": one.traces, "layout": one.layout} for one in drawn]
    found = ask(SEEN, given)
    for chart, one in zip(charts, found, strict=True):
        wanted = complete(without_answers(chart))
        assert [one["data"], one["layout"]] == [wanted.traces, wanted.layout]
