"""The table of matrices: where its tiles lie, what stands in their cells, and that it
can be read."""

import re
from itertools import combinations

import numpy as np
import pytest
from panels import bare

from neuroviz.kit import matrices as module
from neuroviz.kit import theme
from neuroviz.kit.matrices import Row, Tile, matrices_view
from neuroviz.kit.plot import compose, make


def test_the_table_shows_the_entries_and_one_range_of_colours():
    M = np.array([[1.0, -12.3], [0.04, 0.5]])
    row = Row(
        "start", (Tile("M", M, 20.0, above="M", below="× 2", frame="certified"), None)
    )
    figure = make(
        compose(
            matrices_view(
                [row, Row("now", (Tile("N", 2 * M, 20.0), Tile("P", M[:1], 1.0)))]
            )
        )
    )
    assert np.array_equal(figure.data[0].z, M) and (
        figure.data[0].zmin,
        figure.data[0].zmax,
    ) == (-20, 20)
    assert [[bare(text) for text in row] for row in figure.data[0].text] == [
        ["1.0", "−12"],
        [".04", "0.5"],
    ]
    assert [trace.name for trace in figure.data] == ["M", "N", "P"] and len(
        figure.layout.shapes
    ) == 1
    top, below = (min(one.y) for one in figure.data[:2])
    assert top < below and figure.layout.yaxis.range[0] > figure.layout.yaxis.range[1]


def test_the_table_fits_its_place_and_no_two_matrices_touch():
    for m, n in [(1, 1), (8, 1), (8, 6), (2, 4)]:
        tiles = tuple(
            Tile(name, np.ones((m, n)), 1.0, above=name)
            for name in ("Q", "K", "A = KᵀQ")
        )
        view = matrices_view([Row("○<br>start", tiles), Row("●<br>now", tiles)])
        width = view.axes["xaxis"]["range"][1]
        height = view.axes["yaxis"]["range"][0]
        for one, other in combinations(view.traces, 2):
            apart = [
                max(one[axis][0], other[axis][0]) - min(one[axis][-1], other[axis][-1])
                for axis in ("x", "y")
            ]
            assert max(apart) > 0
        assert max(max(t["x"]) for t in view.traces) <= width
        assert max(max(t["y"]) for t in view.traces) <= height


def test_a_heading_keeps_off_the_matrices_on_a_tablet():
    """A page shrinks the cells, and not the letters."""
    heading = "● second"
    view = matrices_view([Row(heading, (Tile("M", np.ones((2, 2)), 1.0),))])
    cell = module._plan(
        [Row(heading, (Tile("M", np.ones((2, 2)), 1.0),))], (0.0, 0.4), (0.0, 1.0)
    ).cell
    first = view.traces[0]["x"][0] * cell * 700 / 1100
    assert first >= module._pixels(heading)


@pytest.mark.parametrize("empty", ["a column", "a row", "all"])
def test_a_column_or_a_row_without_any_tile_keeps_its_place(empty):
    M = Tile("M", np.ones((2, 3)), 1.0, above="M")
    tiles = {
        "a column": [(M, None), (M, None)],
        "a row": [(M, M), (None, None)],
        "all": [(None,), (None,)],
    }
    rows = [Row(name, row) for name, row in zip("○●", tiles[empty], strict=True)]
    view = matrices_view(rows)
    assert len(view.traces) == sum(tile is M for row in rows for tile in row.tiles)
    assert [note["text"] for note in view.annotations if note["text"] != "M"] == [
        "○",
        "●",
    ]


@pytest.mark.parametrize("size", ["notebook", "lecture"])
def test_numbers_are_written_only_where_neighbours_do_not_touch(look, size):
    look(size=size)
    written = []
    for m, n in [(k, j) for k in range(1, 9) for j in range(1, 9)]:
        tiles = tuple(Tile(name, np.full((m, n), -0.7), 1.0) for name in "QK")
        rows = [Row("○", tiles), Row("●", tiles)]
        trace = matrices_view(rows, (0.0, 1.0)).traces[0]
        cell = module._plan(rows, (0.0, 1.0), (0.0, 1.0)).cell
        # A digit and a minus are about 0.56 of a letter's size wide, a point 0.3: 2
        # pixels between cells.
        has_room = cell - 2 >= (3 * 0.56 + 0.3) * theme.size("note") + 3
        written.append(bool(trace["texttemplate"]))
        assert has_room or not written[-1], (m, n, cell)
        assert {bare(text) for row in trace["text"] for text in row} == {
            "−0.7" if written[-1] else ""
        }
    assert set(written) == {True, False}


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_a_number_stands_in_the_colour_that_can_be_read_on_its_cell(look, mode):
    look(mode)
    entries = np.linspace(-1.5, 1.5, 7)[:, None]  # the ends lie beyond the limit
    (trace,) = matrices_view([Row("", (Tile("M", entries, 1.0),))], (0.0, 1.0)).traces
    colors = [re.search(r"color:(#\w+)", text)[1] for (text,) in trace["text"]]
    places = [0, 0, 0.25, 0.5, 0.75, 1, 1]
    assert colors == [
        theme.color(theme.letters_on("diverging", place)) for place in places
    ]
    assert colors[0] == theme.color("ground") != colors[3] == theme.color("ink")
