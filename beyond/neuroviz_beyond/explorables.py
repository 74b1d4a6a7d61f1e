"""The door to the panels that go beyond the paper: each by its name, loaded when it is
first asked for."""

from importlib import import_module

_PANELS = {
    "BlendingExplorer": "blending.panel",
    "FlagExplorer": "proofs.flag_panel",
    "FormulaExplorer": "formula.panel",
    "MemorisationExplorer": "memorisation.memorisation",
    "RealModelsExplorer": "transformers.real_models",
    "SameFunctionExplorer": "transformers.same_function_panel",
    "SearchExplorer": "search.panel",
    "SingletonExplorer": "proofs.uniqueness_panel",
    "UnrollingExplorer": "unrolling.panel",
    "VariantsExplorer": "transformers.variants_panel",
}
__all__ = sorted(_PANELS)


def __getattr__(name: str) -> object:
    if name not in _PANELS:
        raise AttributeError(
            f"module 'neuroviz_beyond.explorables' has no attribute {name!r}"
        )
    return getattr(import_module(f"neuroviz_beyond.{_PANELS[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
