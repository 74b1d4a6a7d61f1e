"""What a field of a setting declares is what its control does."""

from dataclasses import dataclass
from typing import ClassVar

import ipywidgets as widgets
import pytest

from neuroviz.kit.controls import is_shown, read_control, show, write_control
from neuroviz.kit.settings import (
    choice,
    make_controls,
    read_setting,
    real,
    seed,
    switch,
    text,
    toggle,
    whole,
)


def declared():
    @dataclass(frozen=True)
    class Setting:
        width: int = whole("width d", 3, 1, 8)
        inputs: int = whole("inputs N", 250, 10, 250, step=10, more=True, slow=True)
        angle: float = real("angle", 0.3, 0.0, 2.0, 0.05)
        kind: str = choice("kind", ["plain", "masked"], "masked")
        other: str = choice(
            "other", [("in words", "key"), ("at last", "last")], name="another"
        )
        flag: bool = switch("flag", more=True)
        down: bool = toggle("down")
        word: str = text("word", placeholder="any")
        seed: int = seed()

    return Setting, *make_controls(Setting)


def test_a_control_starts_at_the_default_in_the_range_and_the_row_of_its_field():
    _, first, more = declared()
    assert list(first) == ["width", "angle", "kind", "another", "down"]
    assert list(more) == ["inputs", "flag", "word", "seed"]
    values = [control.value for control in (first | more).values()]
    assert values == [3, 0.3, "masked", "key", False, 250, False, "", 0]


def test_a_slider_moves_one_by_one_and_at_once_unless_the_field_says_otherwise():
    _, first, more = declared()
    width = first["width"]
    inputs = more["inputs"]
    assert (width.min, width.max, width.step, width.continuous_update) == (
        1,
        8,
        1,
        True,
    )
    assert (inputs.min, inputs.max, inputs.step, inputs.continuous_update) == (
        10,
        250,
        10,
        False,
    )
    angle = first["angle"]
    assert (angle.min, angle.max, angle.step, angle.readout_format) == (
        0,
        2,
        0.05,
        ".2f",
    )


def test_a_seed_is_a_number_from_0_to_a_million():
    _, _, more = declared()
    assert (more["seed"].min, more["seed"].max) == (0, 1_000_000)


@pytest.mark.parametrize("default", [0, 9])
def test_a_slider_that_starts_beyond_its_ends_is_refused(default):
    with pytest.raises(ValueError, match=f"'width' .* from 1 to 8, .*got {default}:"):
        whole("width", default, 1, 8)
    with pytest.raises(ValueError, match=f"'width' .* from 1 to 8, .*got {default}:"):
        real("width", default, 1, 8, 0.5)


def test_a_field_without_a_control_is_refused_and_what_nothing_moves_is_a_class_var():
    @dataclass(frozen=True)
    class Setting:
        most: ClassVar[int] = 8
        width: int = whole("width", 3, 1, 8)

    assert [*make_controls(Setting)[0]] == ["width"]

    @dataclass(frozen=True)
    class Lacking(Setting):
        depth: int = 3

    with pytest.raises(TypeError, match="field of Lacking .* depth has none: take"):
        make_controls(Lacking)


@pytest.mark.parametrize(
    ("moved", "read"),
    [
        (0.1 + 0.2, 0.3),
        (1 + 1e-9, 1.0),
        (1.23456789, 1.23456789),
        (0.1234567849, 0.12345678),
    ],
)
def test_a_setting_is_read_without_the_dust_of_a_slider(moved, read):
    setting, first, more = declared()
    first["angle"].value = moved
    first["another"].value = "last"
    found = read_setting(setting, first | more)
    assert (found.angle, found.other, found.width) == (read, "last", 3)


@pytest.mark.parametrize("value", ["50%", "a;b", 3, 0.5, True, 0])
def test_each_option_comes_back_from_a_state_as_it_was(value):
    part = widgets.Dropdown(options=["all", ("one", value)])
    found = read_control("part", part, write_control(value))
    assert found == value and type(found) is type(value)


def test_what_is_no_option_is_refused():
    look = widgets.Dropdown(options=[("plain", 0), ("fancy", 1)])
    with pytest.raises(ValueError, match="is one of 0, 1; got 'baroque'"):
        read_control("look", look, "baroque")


def test_sliders_have_one_layout_and_are_hidden_one_by_one():
    @dataclass(frozen=True)
    class Setting:
        width: int = whole("width", 3, 1, 8)
        angle: float = real("angle", 0.0, 0.0, 1.0, 0.1)

    width, angle = make_controls(Setting)[0].values()
    assert width.layout is angle.layout and width.style is angle.style
    show(width, False)
    assert [is_shown(width), is_shown(angle)] == [False, True]
    show(width, True)
    assert is_shown(width)
