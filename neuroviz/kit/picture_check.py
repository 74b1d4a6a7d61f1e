"""Checks of a picture before the page gets it, where a mistake would be an empty box:
what the page draws, and which controls its handles move."""

import ipywidgets as widgets

from neuroviz.kit.controls import options_of
from neuroviz.kit.picture import Facts, Picture
from neuroviz.kit.settings import Controls

_ITS_PAGE = "docs/scene.md shows how"
_SLIDERS = (widgets.IntSlider, widgets.FloatSlider)


def check_picture(picture: Picture, controls: Controls) -> None:
    """Refuse a picture that does not say what its scene needs, of controls that its
    panel has.

    Raises:
        ValueError: if not.
    """
    _check_facts(picture.facts)
    _check_names(picture, controls)
    for name, given in picture.ranges.items():
        _check_range(name, given, controls[name])
    for name in picture.place:
        if hasattr(controls[name], "options"):
            _check_choices(name, picture.choices, options_of(controls[name]))


def _check_facts(facts: Facts) -> None:
    if "schema" not in facts:
        raise ValueError(
            'the facts of a Picture name their form and its version: "schema": '
            f'"product/1"; got facts of {_listed(facts)} only ({_ITS_PAGE})'
        )
    if isinstance(says := facts.get("says"), str):
        raise ValueError(
            'the facts of a Picture hold lines with roles: "says": '
            f'words("…"), of neuroviz.kit.picture; got {says!r} ({_ITS_PAGE})'
        )


def _check_names(picture: Picture, controls: Controls) -> None:
    """Refuse names that are no controls, and what is said of others than its place."""
    place = picture.place
    ranges = picture.ranges
    if unknown := [name for name in place if name not in controls]:
        raise ValueError(
            "the place of a Picture has controls of its panel, of "
            f"{_listed(controls)}; got {unknown[0]!r} ({_ITS_PAGE})"
        )
    for what, named in (("ranges", ranges), ("choices", picture.choices)):
        if elsewhere := [name for name in named if name not in place]:
            raise ValueError(
                f"the {what} of a Picture are of controls in its place, of "
                f"{_listed(place)}; got {elsewhere[0]!r} ({_ITS_PAGE})"
            )
    sliders = [name for name in place if isinstance(controls[name], _SLIDERS)]
    lacking = [name for name in sliders if name not in ranges]
    # A scene may ask for no range at all.
    if ranges and lacking:
        raise ValueError(
            "the ranges of a Picture have least, most and step of each slider in its "
            f"place; {lacking[0]!r} has none ({_ITS_PAGE})"
        )


def _check_range(name: str, given: tuple, control: widgets.Widget) -> None:
    if not isinstance(control, _SLIDERS):
        raise ValueError(
            f"the ranges of a Picture are of sliders; {name!r} is none: leave it out "
            f"({_ITS_PAGE})"
        )
    its_own = (control.min, control.max, control.step)
    if tuple(given) != its_own:
        raise ValueError(
            f"the range of {name!r} in a Picture is that of its slider, {its_own}; got "
            f"{given}: let one constant be both ({_ITS_PAGE})"
        )


def _check_choices(name: str, choices: dict[str, list], its_own: list) -> None:
    given = choices.get(name)
    if given is None or [*given] != its_own:
        raise ValueError(
            f"the choices of {name!r} in a Picture are the values of its list, "
            f"{its_own}, in this order; got {given} ({_ITS_PAGE})"
        )


def _listed(names: dict) -> str:
    return ", ".join(map(str, names)) or "none"
