"""The door to the panels: each by its name, loaded when it is first asked for."""

from importlib import import_module

_PANELS = {
    "CertificateExplorer": "beyond.proof.certificate_panel",
    "CounterexampleExplorer": "deep.counterexample_panel",
    "DimensionExplorer": "deep.dimension_panel",
    "ExponentialsExplorer": "beyond.proof.exponentials_panel",
    "FactorizationExplorer": "factorization.panel",
    "FiberExplorer": "single_layer.panel",
    "Figure3Explorer": "softmax.figure3_panel",
    "FlagExplorer": "beyond.why.flag_panel",
    "FlowExplorer": "beyond.training.panel",
    "FormulaExplorer": "beyond.formula.panel",
    "HypothesesExplorer": "deep.hypotheses_panel",
    "LedgerExplorer": "deep.ledger_panel",
    "MemorisationExplorer": "beyond.memorisation.panel",
    "OneLayerExplorer": "softmax.one_layer_panel",
    "PeelExplorer": "beyond.why.peeling_panel",
    "ProductsExplorer": "singular.products_panel",
    "ProofExplorer": "beyond.proof.immersion_panel",
    "RealModelsExplorer": "beyond.transformers.real_models_panel",
    "RescalingExplorer": "deep.rescaling_panel",
    "SearchExplorer": "beyond.search.panel",
    "SectionExplorer": "singular.section_panel",
    "SingletonExplorer": "beyond.proof.uniqueness_panel",
    "SingularityExplorer": "singular.singularity_panel",
    "SoftmaxExplorer": "softmax.overview_panel",
    "SurfaceExplorer": "singular.surface_panel",
    "SweepExplorer": "beyond.sweep.panel",
    "UnrollingExplorer": "deep.unrolling_panel",
    "VariantsExplorer": "beyond.transformers.variants_panel",
    "VirtualWeightsExplorer": "deep.virtual_panel",
}
_GONE = {
    "TeleportExplorer": "studies/teleportation has the result and the script that counted it",
}
__all__ = sorted(_PANELS)
__path__: list[str] = []  # `from neuroviz.explorables.presets import presets` still works: see `moved`


def __getattr__(name: str) -> object:
    if name in _PANELS:
        return getattr(import_module(f"neuroviz.{_PANELS[name]}"), name)
    if name in _GONE:
        raise AttributeError(f"there is no panel {name} any more: {_GONE[name]}")
    raise AttributeError(f"module 'neuroviz.explorables' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
