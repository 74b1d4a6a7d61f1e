"""Every scene of both packages, at a state from which it moves."""

from neuroviz.deep.hypotheses_panel import HypothesesExplorer
from neuroviz.deep.ledger_panel import LedgerExplorer
from neuroviz.deep.virtual_panel import VirtualWeightsExplorer
from neuroviz.factorization.panel import FactorizationExplorer
from neuroviz.single_layer.panel import FiberExplorer
from neuroviz.singular.learning_panel import LearningExplorer
from neuroviz.singular.resultant_panel import ResultantExplorer
from neuroviz.singular.section_panel import SectionExplorer
from neuroviz.singular.surface_panel import SurfaceExplorer
from neuroviz.softmax.immersion_panel import ProofExplorer
from neuroviz.softmax.new_variable_panel import NewVariableExplorer
from neuroviz_beyond.blending.panel import BlendingExplorer
from neuroviz_beyond.proofs.uniqueness_panel import SingletonExplorer
from neuroviz_beyond.unrolling.panel import UnrollingExplorer

# A state; another one, which it goes to in a moment; and where ▶ ends.
MOVING = [
    (SurfaceExplorer, "moves=curve;where=0.2", {"where": 0.6}, {"where": 0}),
    # beyond, it misses
    (SectionExplorer, "turn=0;offset=0.6", {"turn": 60}, {"offset": 0.90625}),
    (LearningExplorer, "s=1.2;y=0.3;z=0.4", {"s": 2.2}, {}),
    (ProofExplorer, "", {"experiment": "only-2"}, {}),
    (
        NewVariableExplorer,
        "stage=free;y=0.6;P=2",
        {"stage": "modulo"},
        {"stage": "modulo", "P": 3},
    ),
    (
        SingletonExplorer,
        "candidate=negative;travel=0.8",
        {"travel": 0.2},
        {"travel": 1},
    ),
    (FactorizationExplorer, "along=0.6", {"rank": "Q"}, {"along": 1}),
    (FiberExplorer, "off=0.2;along=0.9", {"negative": True}, {"along": 1.5, "off": 0}),
    (LedgerExplorer, "layers=2", {"width": 6}, {}),
    (
        UnrollingExplorer,
        "layers=3;place=9",
        {"reflect": True},
        {"place": 9, "reflect": True},
    ),
    (ResultantExplorer, "third=30", {"third": 150}, {"third": 30}),
    (VirtualWeightsExplorer, "along=0.6", {"along": -0.5}, {"along": 1}),
    (BlendingExplorer, "angle=300", {"angle": 40}, {"angle": 360}),
    (BlendingExplorer, "view=heads;turn=30", {"turn": 200}, {"turn": 90}),
    (VirtualWeightsExplorer, "view=rescale;log_1=-1", {"log_1": 0.5}, {"log_1": 1}),
]

WITH_HANDLES = {kind for kind, *_ in MOVING}
SCENES = WITH_HANDLES | {HypothesesExplorer}  # whose cells are pressed
