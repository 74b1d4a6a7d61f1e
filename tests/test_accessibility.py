"""For readers who see few colours, or none of the page: names on every control, colours
with a second cue."""

from itertools import combinations

import all_explorables as explorables
import ipywidgets as widgets
import numpy as np
import pytest
from panels import places, walk
from test_all_panels import Sound

from neuroviz.kit import theme

MODES = ("light", "dark")
# Roles that say how something is known, and the mark that says it without colour (as
# the figures draw it).
MARKS = {
    "measured": "filled mark or solid bar",
    "formula": "hollow mark or thin line",
    "certified": "frame or thick line",
    "outside": "hatch, or a number with its sign",
    "focus": "the largest mark",
    "ghost": "thin or dotted line without marks",
    "soft": "dashed line",
}
# CIE76: from here on two marks are told apart at a glance by colour alone
COMFORTABLE = 22
# what two of these roles differ by even where colour alone is not enough
LEAST = {"protan": 9, "deutan": 9}

# Machado, Oliveira, Fernandes, "A physiologically-based model for simulation of color
# vision deficiency", 2009, severity 1.0: what becomes of linear red, green and blue.
SEEN_BY = {
    "everyone": np.eye(3),
    "protan": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deutan": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
}
TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
WHITE = TO_XYZ.sum(axis=1)


def linear(code):
    """Linear red, green and blue of a hex code."""
    channels = np.array([int(code[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(
        channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4
    )


def lab(code, eyes="everyone"):
    """CIE L*a*b* of a hex code, as these eyes see it."""
    xyz = TO_XYZ @ np.clip(SEEN_BY[eyes] @ linear(code), 0, 1) / WHITE
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def apart(one, two, eyes="everyone"):
    """How far apart two colours are for these eyes, CIE76: about 2 is just seen, 100 is
    black and white."""
    return float(np.linalg.norm(lab(one, eyes) - lab(two, eyes)))


def contrast(one, two):
    """Contrast ratio, WCAG 2.2: from 1 to 21."""
    bright, dark = sorted(
        (float(TO_XYZ[1] @ linear(code)) for code in (one, two)), reverse=True
    )
    return (bright + 0.05) / (dark + 0.05)


def test_the_measures_are_those_of_the_standards():
    assert apart("#000000", "#FFFFFF") == pytest.approx(100, abs=0.01)
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21, abs=0.01)
    # the well-known near miss
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)
    assert lab("#FF0000") == pytest.approx([53.24, 80.09, 67.20], abs=0.05)
    for eyes in SEEN_BY:  # grey stays grey
        assert lab("#808080", eyes) == pytest.approx(lab("#808080"), abs=0.05)


def test_red_and_green_that_only_differ_in_hue_are_not_told_apart():
    """The simulation can find fault."""
    red, green = "#C03A3A", "#6E7A1E"
    assert apart(red, green) > 50 and apart(red, green, "deutan") < COMFORTABLE


@pytest.mark.parametrize("eyes", SEEN_BY)
@pytest.mark.parametrize("mode", MODES)
def test_what_is_known_differently_is_told_apart_by_colour_or_by_its_mark(
    look, mode, eyes
):
    look(mode)
    for one, two in combinations(MARKS, 2):
        distance = apart(theme.color(one), theme.color(two), eyes)
        if distance < COMFORTABLE:
            assert MARKS[one] != MARKS[two], (one, two)
        assert distance >= LEAST.get(eyes, 15), (one, two, distance)


@pytest.mark.parametrize("eyes", SEEN_BY)
@pytest.mark.parametrize("mode", MODES)
def test_what_the_reader_moves_stands_out_for_all_eyes(look, mode, eyes):
    """The point in focus is found by its colour alone: it is what one looks for."""
    look(mode)
    for role in set(MARKS) - {"focus"}:
        assert (
            apart(theme.color("focus"), theme.color(role), eyes) >= 1.5 * COMFORTABLE
        ), role


@pytest.mark.parametrize("eyes", SEEN_BY)
@pytest.mark.parametrize("mode", MODES)
def test_sheets_and_layers_have_no_mark_and_need_their_colours(look, mode, eyes):
    look(mode)
    assert apart(theme.color("sheet a"), theme.color("sheet b"), eyes) >= 45
    layers = [theme.color(f"layer {k}") for k in range(1, 5)]
    assert all(apart(one, two, eyes) >= 20 for one, two in combinations(layers, 2))
    lightness = [lab(code, eyes)[0] for code in layers]
    # an order that grey keeps
    assert lightness in (sorted(lightness), sorted(lightness, reverse=True))


# Names


def nameless(panel):
    """Controls and buttons that a screen reader could only call "slider" or "button";
    names used twice."""
    found = []
    names = []
    for name, control in panel.controls.items():
        words = control.description.strip()
        found += [] if words else [name]
        names += [words]
    for widget in walk(panel):
        if (
            isinstance(widget, (widgets.Button, widgets.ToggleButton))
            and not widget.description.strip()
        ):
            found.append(f"a button, {widget.tooltip!r}")
    return found + [
        f"{words!r} twice" for words in set(names) if names.count(words) > 1
    ]


@pytest.mark.parametrize("name", explorables.__all__)
def test_every_control_has_a_name_of_its_own_and_can_be_used_with_the_keyboard(name):
    """Of the kinds that ipywidgets gives to the Tab key; canvas and images are none of
    them."""
    kinds = (
        widgets.IntSlider,
        widgets.FloatSlider,
        widgets.Dropdown,
        widgets.Checkbox,
        widgets.Text,
    )
    kinds += (widgets.BoundedIntText, widgets.Button, widgets.ToggleButton)
    panel = getattr(explorables, name)()
    assert nameless(panel) == [] and panel.title.strip()
    for control in panel.controls.values():
        assert isinstance(control, kinds)
        assert places(control) or isinstance(control, widgets.Text)
    order = [part for part in walk(panel) if part in panel.controls.values()]
    assert order == list(panel.controls.values())  # Tab goes as the page reads
    panel.close()


def test_a_nameless_control_is_found():
    class Nameless(Sound):
        def _make_controls(self):
            one, two = (widgets.IntSlider(max=5, description="same") for _ in range(2))
            return {
                "one": one,
                "two": two,
                "three": widgets.Checkbox(description=" "),
            }, {}

        def _extra_buttons(self):
            return [widgets.Button(icon="play", tooltip="go")]

    assert nameless(Nameless()) == ["three", "a button, 'go'", "'same' twice"]
