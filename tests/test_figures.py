"""Figures as plain data: drawn, redrawn in place with one message, and the small pieces they share."""

import json
from math import inf

import plotly.graph_objects as go
import pytest

from neuroviz.deep.dimension import DimensionSetting, study_dimension
from neuroviz.deep.dimension_figure import dimension_parts
from neuroviz.kit import theme
from neuroviz.kit.plot import make, power_of_ten, rough

SETTINGS = {
    "start": DimensionSetting(),
    "widths": DimensionSetting(beside="widths", kind="softmax"),
    "inputs": DimensionSetting(beside="inputs", inputs=2, width=3),
    "undecided": DimensionSetting(width=2, layers=8),
    "rank one": DimensionSetting(width=3, head_dims="1,2", beside="widths"),
}


def plain(figure):
    """A figure as JSON, without what plotly adds by itself and without the template."""
    found = json.loads(figure.to_json())
    found["layout"].pop("template", None)
    for one in found["data"]:
        one.pop("uid", None)
        one.pop("type", None)
    return found


@pytest.fixture(scope="module")
def drawn():
    return {name: dimension_parts(study_dimension(setting)) for name, setting in SETTINGS.items()}


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("size", ["notebook", "lecture"])
def test_a_figure_has_its_opaque_ground_and_readable_letters_in_every_look(mode, size):
    theme.use(mode, size)
    try:
        figure = go.Figure(make(dimension_parts(study_dimension(SETTINGS["rank one"]))))
        layout = figure.layout.template.layout
        assert layout.paper_bgcolor == layout.plot_bgcolor == theme.color("ground")
        assert figure.layout.height == theme.size("height")
        sizes = [a.font.size for a in figure.layout.annotations if a.font.size]
        least = 14 if size == "lecture" else 12
        assert min([*sizes, layout.font.size, layout.xaxis.tickfont.size]) >= least
    finally:
        theme.use("light", "notebook")


# Small pieces


def test_factors_and_powers_of_ten_are_written_in_unicode():
    factors = {1.0: "1", 9.6: "10", 42.0: "40", 949.0: "900", 960.0: "1·10³", 3.17e13: "3·10¹³", inf: "∞"}
    assert {value: rough(value) for value in factors} == factors
    powers = {0: "1", 1: "10¹", -16: "10⁻¹⁶", 23: "10²³"}
    assert {exponent: power_of_ten(exponent) for exponent in powers} == powers
