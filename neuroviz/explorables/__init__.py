"""Sliders → Architecture → figure. Every panel is a VBox with the same surface; no mathematics here."""

from neuroviz.explorables.counterexample import CounterexampleExplorer
from neuroviz.explorables.dimension import DimensionExplorer
from neuroviz.explorables.factorization import FactorizationExplorer
from neuroviz.explorables.fiber import FiberExplorer
from neuroviz.explorables.flag import FlagExplorer
from neuroviz.explorables.flow import FlowExplorer
from neuroviz.explorables.hypotheses import HypothesesExplorer
from neuroviz.explorables.ledger import LedgerExplorer
from neuroviz.explorables.peeling import PeelExplorer
from neuroviz.explorables.products import ProductsExplorer
from neuroviz.explorables.rescaling import RescalingExplorer
from neuroviz.explorables.section import SectionExplorer
from neuroviz.explorables.singularity import SingularityExplorer
from neuroviz.explorables.surface import SurfaceExplorer
from neuroviz.explorables.unrolling import UnrollingExplorer
from neuroviz.explorables.virtual import VirtualWeightsExplorer

__all__ = [
    "CounterexampleExplorer",
    "DimensionExplorer",
    "FactorizationExplorer",
    "FiberExplorer",
    "FlagExplorer",
    "FlowExplorer",
    "HypothesesExplorer",
    "LedgerExplorer",
    "PeelExplorer",
    "ProductsExplorer",
    "RescalingExplorer",
    "SectionExplorer",
    "SingularityExplorer",
    "SurfaceExplorer",
    "UnrollingExplorer",
    "VirtualWeightsExplorer",
]
