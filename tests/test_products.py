"""The table of products: every cell is what it says, in the colours of its two factors."""

import re

import numpy as np
import pytest

from neuroviz.kit import theme
from neuroviz.kit.table import Table
from neuroviz.singular.products_table import form_text, products_table

A, V = np.array([[1, -3, 2], [-1, 0.5, 0]]), np.array([[1, 1], [0, -2]])


def value(text, X, Y):
    """A form, read from the table and evaluated."""
    text = text.replace("−", "-").replace("²", "**2").replace("XY", "X*Y").replace(" · ", "*")
    return eval(re.sub(r"(\d) (?=[XY])", r"\1*", text), {"X": X, "Y": Y})


def test_every_cell_is_the_product_of_its_column_and_its_row():
    rows = [[re.sub("<[^>]*>", "", cell) for cell in row] for row in products_table(A, V).rows]
    assert [len(row) for row in rows] == [4, 4, 4]
    for X, Y in ((0.7, -1.3), (2.0, 1.0)):
        columns = [value(name.split(" = ")[1], X, Y) for name in rows[0][1:]]
        np.testing.assert_allclose(columns, np.array([X, Y]) @ A)
        for row, expected in zip(rows[1:], V @ [X, Y], strict=True):
            assert value(row[0].split(" = ")[1], X, Y) == pytest.approx(expected)
            for cell, column in zip(row[1:], columns, strict=True):
                for side in cell.split(" = "):
                    assert value(side, X, Y) == pytest.approx(column * expected)


def test_a_row_shares_the_colour_of_its_factor_and_a_column_that_of_its_own():
    with theme.using({"mode": "light"}):
        blue, orange = theme.color("layer 3"), theme.color("focus")
    with theme.using({"mode": "dark"}):  # the table is white there as well
        (_, *top), *rows = products_table(A, V).rows
    assert all(re.findall("#[0-9A-Fa-f]{6}", name) == [blue] for name in top) and blue != orange
    for name, *cells in rows:
        assert re.findall("#[0-9A-Fa-f]{6}", name) == [orange]
        assert all(re.findall("#[0-9A-Fa-f]{6}", cell) == [blue, orange] for cell in cells)


def test_tiny_and_zero_coefficients_are_left_out():
    assert form_text((1e-9, 1.0, 0.0)) == "XY" and form_text((0, 0, 0)) == "0"


@pytest.mark.parametrize("shapes", [((3, 2), (1, 2)), ((2, 2), (1, 3)), ((2,), (1, 2)), ((2, 0), (1, 2))])
def test_other_shapes_are_refused(shapes):
    with pytest.raises(ValueError, match="A has 2 rows and V 2 columns; got"):
        products_table(*map(np.ones, shapes))


def test_a_table_has_headings_for_a_screen_reader_and_rows_of_one_length():
    html = Table((("", "a &lt; b"), ("c", "d")))._repr_html_()
    assert (
        html.count('<th scope="col"') == 2 and html.count('<th scope="row"') == 1 and html.count("<td") == 1
    )
    assert repr(Table((("", "a &lt; b"), ("c", "d")))) == "   a < b\nc  d"
    for rows in ((), (("a",), ("b", "c")), ((),)):
        with pytest.raises(ValueError, match="rows of one length"):
            Table(rows)
