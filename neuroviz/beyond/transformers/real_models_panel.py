"""The attention of real models: small networks of the same kind measured, the rest extrapolated."""

import ipywidgets as widgets

from neuroviz.beyond.transformers.real_models import MODELS, RealModel
from neuroviz.beyond.transformers.real_models_figure import real_model_parts
from neuroviz.beyond.transformers.real_models_study import (
    ModelSetting,
    ModelStudy,
    small_blocks,
    study_in_steps,
    study_real_model,
)
from neuroviz.kit import theme
from neuroviz.kit.panel import Panel
from neuroviz.kit.words import grouped, percent

_PARTS = [
    ("all", "all"),
    ("bases of keys, queries", "keys"),
    ("bases of values, outputs", "values"),
    ("biases", "biases"),
]
_BASES = [("share of the weights", "share"), ("directions a layer", "directions")]
CAVEAT = "norm layers and MLPs are not in the formula"
# Squares of numbers of columns, added up: those of the first picture take about 0.3 s.
_QUICK = 300_000


class RealModelsExplorer(Panel):
    """How many directions of a real model's attention weights do nothing, as far as anybody can say.

    Left, over the width: small networks of the model's kind, measured exactly on top of the formula, and the
    formula from there to the model, where nothing was measured. Right, all models, by symmetry.

    Controls: model, parts (which symmetries the right side compares), base; under "More": layers and
    largest width of what is measured, seed. See `Panel` for what all panels share.

    >>> panel = RealModelsExplorer()
    >>> "27 150 336 remain" in panel.description
    True
    """

    title = "And in a real model?"

    def _make_controls(self) -> tuple[dict[str, widgets.Widget], dict[str, widgets.Widget]]:
        def whole(label: str, value: int, least: int, most: int, step: int = 1) -> widgets.IntSlider:
            return widgets.IntSlider(value=value, min=least, max=most, step=step, description=label)

        first = {
            "model": widgets.Dropdown(options=[model.name for model in MODELS], description="model"),
            "parts": widgets.Dropdown(options=_PARTS, description="symmetries"),
            "base": widgets.Dropdown(options=_BASES, description="compared as"),
        }
        more = {
            "layers": whole("layers measured", 1, 1, 3),
            "widest": whole("measured up to", 8, 4, 12, step=2),
            "seed": widgets.BoundedIntText(value=0, min=0, max=10**6, description="seed"),
        }
        return first, more

    def _lay_out(self, *args: object, **kwargs: object) -> list[widgets.Widget]:
        rows = super()._lay_out(*args, **kwargs)
        if theme.size("base") <= 14:
            self.controls["base"].layout.width = "300px"  # so that "More" stands in the same row
        return rows

    def _read(self) -> ModelSetting:
        return ModelSetting(**{name: control.value for name, control in self.controls.items()})

    _answer = staticmethod(study_real_model)
    _answer_in_steps = staticmethod(study_in_steps)

    def _is_slow(self, request: ModelSetting) -> bool:
        return sum(arch.num_parameters**2 for arch in small_blocks(request)) > _QUICK

    draw = staticmethod(real_model_parts)

    def _badge(self, answer: ModelStudy) -> str:
        count, wrong = len(answer.blocks), len(answer.wrong)
        prime = grouped(answer.blocks[0].measured.prime)
        measured = f"{count} small networks mod {prime}" + (f", {wrong} ≠ formula" if wrong else "")
        return theme.badge("exact", measured) + theme.badge("observed", f"extrapolated: {CAVEAT}")

    def _describe(self, answer: ModelStudy) -> str:
        return " ".join(
            (_say_model(answer.model), _say_measured(answer), _say_left_out(answer.model))
        ).strip()


def _say_model(model: RealModel) -> str:
    keys = "" if model.queries_per_key == 1 else f" on {_several(model.kv_heads, 'key-value head')}"
    parts = ", ".join(f"{grouped(count)} {name}" for name, count in model.redundant.items())
    return (
        f"{model.name}: {model.layers} layers of {model.heads} heads{keys}, d = {grouped(model.width)}, "
        f"a = {model.head_dim}. Of {grouped(model.parameters)} attention weights the formula takes away "
        f"{percent(model.share)} ({parts}); {grouped(model.dimension)} remain."
    )


def _say_measured(study: ModelStudy) -> str:
    widths, count = [block.formula.width for block in study.blocks], len(study.blocks)
    to = f" to {max(widths)}" if max(widths) > min(widths) else ""
    layers = _several(study.setting.layers, "layer")
    sharing = study.model.queries_per_key
    keys = f"; up to {sharing} heads share one key" if sharing > 1 else ""
    kind = f"of the same kind ({layers}, d = {min(widths)}{to}{keys}), measured exactly"
    if study.wrong:
        return f"It is WRONG on {len(study.wrong)} of {_several(count, 'small network')} {kind}."
    every = f"all {count} small networks" if count > 1 else "one small network"
    return f"It is right on {every} {kind}; the rest is extrapolated, and {CAVEAT}."


def _say_left_out(model: RealModel) -> str:
    shifts = f"without norm layers and MLPs {grouped(model.shifts)} shifts between layers" * bool(
        model.shifts
    )
    hidden = f"with the model's LayerNorms at least {grouped(model.hidden_by_norm)} directions"
    said = "; ".join(filter(None, (shifts, hidden * bool(model.hidden_by_norm))))
    also = f"Lost as well: {said}." if said else ""
    return f"{also} (About this model: {model.note}.)" if model.note else also


def _several(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' if count != 1 else ''}"
