"""Sliders → Architecture → figure. Every panel is a VBox with the same surface; no mathematics here."""

from neuroviz.explorables.certificate import CertificateExplorer
from neuroviz.explorables.counterexample import CounterexampleExplorer
from neuroviz.explorables.dimension import DimensionExplorer
from neuroviz.explorables.exponentials import ExponentialsExplorer
from neuroviz.explorables.factorization import FactorizationExplorer
from neuroviz.explorables.fiber import FiberExplorer
from neuroviz.explorables.figure3 import Figure3Explorer
from neuroviz.explorables.flag import FlagExplorer
from neuroviz.explorables.flow import FlowExplorer
from neuroviz.explorables.formula import FormulaExplorer
from neuroviz.explorables.hypotheses import HypothesesExplorer
from neuroviz.explorables.ledger import LedgerExplorer
from neuroviz.explorables.memorisation import MemorisationExplorer
from neuroviz.explorables.one_layer import OneLayerExplorer
from neuroviz.explorables.peeling import PeelExplorer
from neuroviz.explorables.products import ProductsExplorer
from neuroviz.explorables.proof import ProofExplorer
from neuroviz.explorables.real_models import RealModelsExplorer
from neuroviz.explorables.rescaling import RescalingExplorer
from neuroviz.explorables.search import SearchExplorer
from neuroviz.explorables.section import SectionExplorer
from neuroviz.explorables.singletons import SingletonExplorer
from neuroviz.explorables.singularity import SingularityExplorer
from neuroviz.explorables.softmax import SoftmaxExplorer
from neuroviz.explorables.surface import SurfaceExplorer
from neuroviz.explorables.sweep import SweepExplorer
from neuroviz.explorables.teleport import TeleportExplorer
from neuroviz.explorables.unrolling import UnrollingExplorer
from neuroviz.explorables.variants import VariantsExplorer
from neuroviz.explorables.virtual import VirtualWeightsExplorer

__all__ = [
    "CertificateExplorer",
    "CounterexampleExplorer",
    "DimensionExplorer",
    "ExponentialsExplorer",
    "FactorizationExplorer",
    "FiberExplorer",
    "Figure3Explorer",
    "FlagExplorer",
    "FlowExplorer",
    "FormulaExplorer",
    "HypothesesExplorer",
    "LedgerExplorer",
    "MemorisationExplorer",
    "OneLayerExplorer",
    "PeelExplorer",
    "ProductsExplorer",
    "ProofExplorer",
    "RealModelsExplorer",
    "RescalingExplorer",
    "SearchExplorer",
    "SectionExplorer",
    "SingletonExplorer",
    "SingularityExplorer",
    "SoftmaxExplorer",
    "SurfaceExplorer",
    "SweepExplorer",
    "TeleportExplorer",
    "UnrollingExplorer",
    "VariantsExplorer",
    "VirtualWeightsExplorer",
]
