"""The door to the panels: each by its name, loaded when it is first asked for."""

from importlib import import_module

_PANELS = {
    "FactorizationExplorer": "factorization.panel",
    "FiberExplorer": "single_layer.panel",
    "Figure3Explorer": "softmax.figure3_panel",
    "HypothesesExplorer": "deep.hypotheses_panel",
    "LearningExplorer": "singular.learning_panel",
    "LedgerExplorer": "deep.ledger_panel",
    "NewVariableExplorer": "softmax.new_variable_panel",
    "ProofExplorer": "softmax.immersion_panel",
    "ResultantExplorer": "singular.resultant_panel",
    "SectionExplorer": "singular.section_panel",
    "SurfaceExplorer": "singular.surface_panel",
    "VirtualWeightsExplorer": "deep.virtual_panel",
}
__all__ = sorted(_PANELS)


def __getattr__(name: str) -> object:
    if name not in _PANELS:
        raise AttributeError(f"module 'neuroviz.explorables' has no attribute {name!r}")
    return getattr(import_module(f"neuroviz.{_PANELS[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
