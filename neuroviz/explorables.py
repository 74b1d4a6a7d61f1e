"""The door to the panels: each by its name, loaded when it is first asked for."""

from importlib import import_module

_PANELS = {
    "DimensionExplorer": "deep.dimension_panel",
    "FactorizationExplorer": "factorization.panel",
    "FiberExplorer": "single_layer.panel",
    "Figure3Explorer": "softmax.figure3_panel",
    "FlagExplorer": "beyond.why.flag_panel",
    "FlowExplorer": "beyond.training.panel",
    "FormulaExplorer": "beyond.formula.panel",
    "HypothesesExplorer": "deep.hypotheses_panel",
    "LedgerExplorer": "deep.ledger_panel",
    "MemorisationExplorer": "beyond.memorisation.memorisation",
    "ProofExplorer": "beyond.proof.immersion_panel",
    "RealModelsExplorer": "beyond.transformers.real_models",
    "SameFunctionExplorer": "beyond.transformers.same_function_panel",
    "SearchExplorer": "beyond.search.panel",
    "SectionExplorer": "singular.section_panel",
    "SingletonExplorer": "beyond.proof.uniqueness_panel",
    "SurfaceExplorer": "singular.surface_panel",
    "UnrollingExplorer": "beyond.unrolling.panel",
    "VariantsExplorer": "beyond.transformers.variants_panel",
    "VirtualWeightsExplorer": "deep.virtual_panel",
}
_GONE = {
    "CertificateExplorer": (
        "nv.measure_dimension(arch, method='certified').certificate has verify()"
    ),
    "CounterexampleExplorer": (
        "docs/library.md tries random architectures, with nv.sweep"
    ),
    "ExponentialsExplorer": (
        'docs/mathematics.md has its counts, in "Relations between logits"'
    ),
    "OneLayerExplorer": (
        "the notebook 02_single_layer_fibers shows softmax beside lightning"
    ),
    "PeelExplorer": "the notebook further/proofs peels a layer off",
    "ProductsExplorer": "neuroviz.singular.forms.forms_of gives the products as forms",
    "RescalingExplorer": "VirtualWeightsExplorer(state='view=rescale') rescales",
    "SingularityExplorer": (
        "neuroviz.singular.ranks.singular_facts counts the kernel in any size"
    ),
    "SoftmaxExplorer": "nv.what_is_known(arch) says what is known",
    "SweepExplorer": (
        "docs/library.md sweeps with nv.sweep; to_pandas gives a table for"
        " plotly.express"
    ),
    "TeleportExplorer": (
        "studies/teleportation has the result and the script that counted it"
    ),
}
__all__ = sorted(_PANELS)
# `from neuroviz.explorables.presets import presets` still works: see `moved`
__path__: list[str] = []


def __getattr__(name: str) -> object:
    if place := _PANELS.get(name):
        return getattr(import_module(f"neuroviz.{place}"), name)
    if name in _GONE:
        raise AttributeError(f"there is no panel {name} any more: {_GONE[name]}")
    raise AttributeError(f"module 'neuroviz.explorables' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
