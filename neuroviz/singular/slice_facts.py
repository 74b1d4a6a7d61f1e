"""The facts of a slice in space: what two scenes say of it, as plain data.

`web/singular/slice_facts.ts` types them. Points of space are in the units of the
drawing, where the window is about a unit ball.
"""

from functools import lru_cache

import numpy as np

from neuroviz.kit import theme
from neuroviz.kit.picture import Facts
from neuroviz.singular.chart import Chart, tone
from neuroviz.singular.space import camera_of, labels_of

_STEPS = 11  # places along a ruling of which the tone is said


@lru_cache(maxsize=64)
def slice_facts(chart: Chart, room: float = 1.0) -> Facts:
    """What no moved point changes, seen from `room` times further away than it fills
    the picture.

    >>> from neuroviz.singular.chart import chart_of
    >>> from neuroviz.singular.surface_panel import SurfaceSetting
    >>> facts = slice_facts(chart_of(SurfaceSetting().slice))
    >>> facts["name"], facts["labels"][0]["lines"]
    ('S1', ['isolated points:', 'no real common root'])
    """
    camera = camera_of(chart).backed(room)
    along = np.linspace(-1, 1, _STEPS)
    with theme.using({"size": "notebook"}):
        height = theme.size("height")
        labels = labels_of(chart, room)
    return {
        "name": chart.slice.name,
        "camera": {"eye": list(camera.eye), "center": list(camera.center)},
        # Which of two crossing sheets, from −1 to 1: for each strip, ruling by ruling.
        "tones": [
            tone(chart, strip.theta, strip.starts, strip.ends, along)
            .round(3)
            .ravel()
            .tolist()
            for strip in chart.strips
        ],
        "labels": [
            {
                "lines": text.split("\n"),
                "at": np.asarray(at).tolist(),
                "away": [round(way / height, 4) for way in away],
            }
            for text, at, away in labels
        ],
    }
