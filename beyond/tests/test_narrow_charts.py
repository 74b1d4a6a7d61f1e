"""What a page changes in a chart that is narrower than it was made for."""

import pytest
from node import ask

from neuroviz.explorables import Figure3Explorer
from neuroviz_beyond.explorables import SameFunctionExplorer, SearchExplorer
from tools.book import stills

STACKED = """
import { stacked } from "book/stacked";
say(given.widths.map((width: number) => stacked(given.layout, width)));
"""
NUMBERS = """
import { withoutTouching } from "kit/panel/cell_numbers";
const { data, layout } = given.figure;
say(given.widths.map((width: number) => {
  return withoutTouching(data, layout, width).map((trace) => trace.texttemplate);
}));
"""


def figure_of(kind: type, state: str = "") -> dict:
    panel = kind(state=state)
    assert panel.wait(600)
    figure = stills.plain(panel.figure)
    panel.close()
    return figure


@pytest.mark.parametrize("kind", [Figure3Explorer, SearchExplorer])
def test_charts_side_by_side_stand_one_below_the_other(kind):
    layout = figure_of(kind)["layout"]
    wide, narrow = ask(STACKED, {"layout": layout, "widths": [700, 334]})
    assert wide == layout
    assert [narrow[axis]["domain"] for axis in ("xaxis", "xaxis2")] == [[0, 1]] * 2
    (low, high), (second_low, second_high) = (
        narrow[axis]["domain"] for axis in ("yaxis", "yaxis2")
    )
    assert 0 <= second_low < second_high < low < high <= 1
    assert (high - low) * narrow["height"] > 0.8 * layout["height"]


def test_a_headline_breaks_and_goes_with_its_chart():
    layout = figure_of(SearchExplorer)["layout"]
    (narrow,) = ask(STACKED, {"layout": layout, "widths": [334]})
    first, *_, last = (
        note for note in narrow["annotations"] if note["text"].startswith("<b>")
    )
    assert "<br>" in next(
        note["text"] for note in narrow["annotations"] if "2 points" in note["text"]
    )
    (own,) = (note for note in narrow["annotations"] if note.get("xref") == "paper")
    assert own["x"] == 0
    assert own["y"] == pytest.approx(narrow["yaxis2"]["domain"][1])


def test_one_chart_stays_as_it_is():
    layout = figure_of(SameFunctionExplorer)["layout"]
    (narrow,) = ask(STACKED, {"layout": layout, "widths": [334]})
    assert narrow == layout


def test_numbers_that_would_touch_are_left_out():
    figure = figure_of(SameFunctionExplorer)
    wide, narrow = ask(NUMBERS, {"figure": figure, "widths": [1100, 738]})
    assert set(wide) == {"%{text}"} and set(narrow) == {""}
