"""Sliders → Architecture → figure. Every panel is a VBox with the same surface; no mathematics here."""

from neuroviz.explorables.dimension import DimensionExplorer

__all__ = ["DimensionExplorer"]
