"""Sliders → Architecture → figure. Every panel is a VBox with the same surface; no mathematics here."""

from neuroviz.explorables.dimension import DimensionExplorer
from neuroviz.explorables.factorization import FactorizationExplorer
from neuroviz.explorables.fiber import FiberExplorer
from neuroviz.explorables.ledger import LedgerExplorer

__all__ = ["DimensionExplorer", "FactorizationExplorer", "FiberExplorer", "LedgerExplorer"]
