"""Figure 3 of the paper, with its evidence: dimension against width, and how far a float can be trusted."""

from importlib.util import find_spec
from pathlib import Path

from neuroviz.kit.plot import Parts, compose, make
from neuroviz.softmax.figure3 import Figure3Study
from neuroviz.softmax.figure3_curve import curve_view
from neuroviz.softmax.figure3_floats import float32_view, gap_view

_PICTURES = (".png", ".svg")
_LEFT, _RIGHT = (0.0, 0.56), (0.66, 1.0)
_UPPER, _LOWER = (0.62, 1.0), (0.0, 0.36)
# Without the float32 view the other one is as high as the curve; an empty sliver stays below it.
_WHOLE, _NOTHING = (0.0, 1.0), (0.0, 0.001)


def save_figure3(study: Figure3Study, path: str | Path) -> None:
    """Write the study as .csv, or its figure as .png or .svg.

    Pictures need the package kaleido, and a Chrome that it can drive. The panel `Figure3Explorer` has
    buttons that need neither: there the browser draws.

    Raises:
        ValueError: if the file is to be something else, or a picture and kaleido is not installed.
    """
    path = Path(path)
    if path.suffix.lower() == ".csv":
        study.save(path)
    elif path.suffix.lower() not in _PICTURES:
        raise ValueError(f"a study is saved as .csv, .png or .svg; got {path.name!r}")
    elif find_spec("kaleido") is None:
        raise ValueError(
            f"{path.name} needs the package kaleido, which is not installed: press the SVG or PNG button of "
            "Figure3Explorer, or run: pip install kaleido"
        )
    else:
        make(figure3_parts(study)).write_image(path, width=1100, scale=2)


def figure3_parts(study: Figure3Study) -> Parts:
    """The views."""
    upper, lower = (_UPPER, _LOWER) if study.setting.peer else (_WHOLE, _NOTHING)
    return compose(
        curve_view(study, _LEFT), gap_view(study, _RIGHT, upper), float32_view(study, _RIGHT, lower)
    )
