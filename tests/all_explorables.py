"""The panels of both packages, by name."""

import neuroviz.explorables
import neuroviz_beyond.explorables

__all__ = sorted([*neuroviz.explorables.__all__, *neuroviz_beyond.explorables.__all__])


def __getattr__(name: str) -> type:
    if name in neuroviz.explorables.__all__:
        return getattr(neuroviz.explorables, name)
    return getattr(neuroviz_beyond.explorables, name)
