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


def chart(**more) -> dict:
    """Charts side by side, each a third of the page wide, with a note."""
    note = {"xref": "paper", "xanchor": "left", "x": 0, "y": 1, "text": "ab cd"} | more
    parts = {"": [0.05, 0.3], "2": [0.36, 0.63], "3": [0.7, 1]}
    axes = {f"xaxis{n}": {"domain": part} for n, part in parts.items()}
    rows = {f"yaxis{n}": {"domain": [0, 1]} for n in parts}
    return {"height": 370, **axes, **rows, "annotations": [note]}


def test_three_charts_have_room_for_two_gaps_and_a_note_left_of_all_stays_with_one():
    (narrow,) = ask(STACKED, {"layout": chart(), "widths": [334]})
    heights = [
        (high - low) * narrow["height"]
        for low, high in (narrow[f"yaxis{n}"]["domain"] for n in ("", "2", "3"))
    ]
    assert heights == pytest.approx([370] * 3)
    assert narrow["annotations"][0]["y"] == pytest.approx(1)


def test_a_line_breaks_where_it_is_too_long_and_not_a_letter_before():
    letter = 6.3  # pixels; beside the page's width 60 are for the axis
    for letters, said in ((5, "ab cd"), (4, "ab<br>cd")):
        width = 60 + letter * (letters + 0.5)
        (narrow,) = ask(STACKED, {"layout": chart(), "widths": [width]})
        assert narrow["annotations"][0]["text"] == said


def test_one_chart_stays_as_it_is():
    layout = figure_of(SameFunctionExplorer)["layout"]
    (narrow,) = ask(STACKED, {"layout": layout, "widths": [334]})
    assert narrow == layout


def test_numbers_that_would_touch_are_left_out():
    figure = figure_of(SameFunctionExplorer)
    wide, narrow = ask(NUMBERS, {"figure": figure, "widths": [1100, 738]})
    assert set(wide) == {"%{text}"} and set(narrow) == {""}
