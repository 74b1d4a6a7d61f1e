"""What Python tells the page about a picture: facts, the controls that it moves, and
the theme.

A picture is drawn once, by the page. Python says what is true (`facts`), in numbers and
words; the page decides where that stands and how it looks, and computes what follows a
pointer. Nothing here knows a drawing library.
"""

from typing import Any, NamedTuple

from neuroviz.kit import theme

_ROLES = (
    "ground",
    "panel",
    "ink",
    "soft",
    "axis",
    "grid",
    "wash",
    "measured",
    "certified",
    "outside",
    "focus",
    "ghost",
    "symmetry",
    "singular",
    "boundary",
    "ruling",
    "sheet a",
    "sheet mid",
    "sheet b",
    "layer 1",
    "layer 2",
    "layer 3",
    "layer 4",
)
_SIZES = ("base", "title", "note", "tick", "marker", "line", "height")
Facts = dict[str, Any]
"""What is true in a picture, or in a part of it: plain data."""


class Picture(NamedTuple):
    """A picture of the page.

    Attributes:
        name: of the scene: its section, a folder of `web/`, and its own, as `scenes.ts`
            of that folder lists it, such as "deep/ledger".
        facts: plain data; `facts["schema"]` names its form and version, such as
            "fiber/1".
        place: control → value, of those that the picture moves or follows: where the
            facts are exact.
        ranges: control → least, most and step, of those in `place` that are sliders.
        choices: control → values, in the order of the list, of those in `place` that
            are lists.
    """

    name: str
    facts: Facts
    place: dict[str, Any]
    ranges: dict[str, tuple[float, float, float]]
    choices: dict[str, list] = {}

    @property
    def painter(self) -> str:
        """The script that draws it: that of its section.

        >>> Picture("deep/ledger", {}, {}, {}).painter
        'scenes/deep'
        """
        section, _, name = self.name.partition("/")
        if not name:
            raise ValueError(
                "the name of a Picture is a section, a slash, and a scene of it, such"
                f' as "deep/ledger"; got "{self.name}"'
            )
        return f"scenes/{section}"

    def message(self) -> dict[str, Any]:
        """All that the page gets."""
        return {**self._asdict(), "look": look()}


def look() -> dict[str, Any]:
    """The theme in use: what the roles of facts look like."""
    return {
        "colors": {role: theme.color(role) for role in _ROLES},
        "diverging": [code for _, code in theme.scale("diverging")],
        "deficit": theme.scale("deficit"),
        "sizes": {name: theme.size(name) for name in _SIZES},
        "font": theme.FONT,
    }


def words(*lines: str, last: str | None = None) -> list[dict[str, str]]:
    """A few lines for the page; `last` is the role of the last one.

    >>> words("outputs", "= same", last="certified")
    [{'text': 'outputs'}, {'text': '= same', 'role': 'certified'}]
    """
    said = [{"text": line} for line in lines]
    if last is not None:
        said[-1]["role"] = last
    return said
