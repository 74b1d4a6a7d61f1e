"""Sliders → Architecture → figure. Every panel is a VBox with the same surface; no mathematics here."""

from neuroviz.explorables.counterexample import CounterexampleExplorer
from neuroviz.explorables.dimension import DimensionExplorer
from neuroviz.explorables.factorization import FactorizationExplorer
from neuroviz.explorables.fiber import FiberExplorer
from neuroviz.explorables.flag import FlagExplorer
from neuroviz.explorables.hypotheses import HypothesesExplorer
from neuroviz.explorables.ledger import LedgerExplorer
from neuroviz.explorables.peeling import PeelExplorer
from neuroviz.explorables.surface import SurfaceExplorer
from neuroviz.explorables.unrolling import UnrollingExplorer
from neuroviz.explorables.virtual import RescalingExplorer, VirtualWeightsExplorer

__all__ = [
    "CounterexampleExplorer",
    "DimensionExplorer",
    "FactorizationExplorer",
    "FiberExplorer",
    "FlagExplorer",
    "HypothesesExplorer",
    "LedgerExplorer",
    "PeelExplorer",
    "RescalingExplorer",
    "SurfaceExplorer",
    "UnrollingExplorer",
    "VirtualWeightsExplorer",
]
