"""All real models side by side: what each symmetry costs them, by formula; nothing here is measured."""

from dataclasses import dataclass

from neuroviz.beyond.transformers.real_models import MODELS, SYMMETRIES, RealModel
from neuroviz.kit import theme
from neuroviz.kit.panel import Panel
from neuroviz.kit.plot import Parts, Plot, compose
from neuroviz.kit.settings import choice
from neuroviz.kit.words import grouped, percent

PARTS = {"all": SYMMETRIES, "keys": SYMMETRIES[:1], "values": SYMMETRIES[1:2], "biases": SYMMETRIES[2:]}
"""Which symmetries to compare the models by: name → those of `SYMMETRIES`."""
CAVEAT = "norm layers and MLPs are not in the formula"
_OPTIONS = [("all", "all"), ("keys, queries", "keys"), ("values, outputs", "values"), ("biases", "biases")]
_SAID = {
    "all": "rotary, shared keys: less to lose",
    "keys": "rotary positions leave a of a²",
    "values": "a² for each key that is there",
    "biases": "biases: next to nothing",
}
_ROLES = dict(zip(SYMMETRIES, ("symmetry", "ground", "soft", "soft"), strict=True))


@dataclass(frozen=True)
class ModelSetting:
    """By which of `PARTS` the models are compared."""

    parts: str = choice("symmetries", _OPTIONS)


@dataclass(frozen=True)
class ModelStudy:
    """Model → symmetry asked for → which part of its weights does nothing; the largest sum first."""

    setting: ModelSetting
    shares: dict[RealModel, dict[str, float]]


def study_models(setting: ModelSetting) -> ModelStudy:
    """Count, by formula.

    >>> study = study_models(ModelSetting("keys"))
    >>> [model.name for model in study.shares][::18]
    ['GPT-2 small', 'Falcon-7B']
    """
    names = PARTS[setting.parts]
    shares = {m: {name: m.redundant.get(name, 0) / m.parameters for name in names} for m in MODELS}
    ranking = sorted(MODELS, key=lambda model: -sum(shares[model].values()))
    return ModelStudy(setting, {model: shares[model] for model in ranking})


def real_model_parts(study: ModelStudy) -> Parts:
    """One bar for each model, the longest on top."""
    plot, models = Plot("", (0.14, 1.0), (0.0, 1.0)), list(study.shares)
    small = {"size": theme.size("note"), "color": theme.color("soft")}
    rows, ends = list(range(len(models))), [0.0] * len(models)
    for name, role in _ROLES.items():
        x = [study.shares[model].get(name, 0.0) for model in models]
        edge = {"color": theme.color("symmetry"), "width": 1.5 * (role == "ground")}
        said = [f"{m.name}: {grouped(m.redundant.get(name, 0))} {name}, by formula" for m in models]
        said = [f"{words}<br>({m.note})" if m.note else words for words, m in zip(said, models, strict=True)]
        look = {"orientation": "h", "width": 0.72, "customdata": said, "hover": "%{customdata}"}
        plot.bars(name, x, rows, {"color": theme.color(role), "line": edge}, **look)
        words = name.removeprefix("bases of ") if x[0] and name in SYMMETRIES[:2] else ""
        plot.text(words, ends[0], -0.45, "note", "soft", xanchor="left", yanchor="bottom")
        ends = [end + part for end, part in zip(ends, x, strict=True)]
    words = [f" {percent(end)}{_why(model)}" for model, end in zip(models, ends, strict=True)]
    look = {"mode": "text", "textposition": "middle right", "textfont": small, "cliponaxis": False}
    plot.points("what it comes to", ends, rows, {}, text=words, **look)
    plot.axis("x", 0, 1.2 * max(ends), visible=False)
    names = [model.name for model in models]
    plot.axis("y", len(models) - 0.4, -1.7, tickvals=rows, ticktext=names, ticks="", showgrid=False)
    plot.headline(_SAID[study.setting.parts])
    return compose(plot.view(), barmode="stack")


def _why(model: RealModel) -> str:
    """Why so few, if they are."""
    shared = f"{model.queries_per_key} queries a key" * (model.queries_per_key > 1)
    why = ", ".join(filter(None, ("rotary" * model.rotary, shared)))
    return f"  {why}" if why else ""


class RealModelsExplorer(Panel):
    """Which part of real models' attention weights does nothing, by formula. Controls: see `ModelSetting`.

    >>> RealModelsExplorer().description.split(":")[0]
    'Of the attention weights of 19 models, 0.0099 % (Falcon-7B) to 4.2 % (GPT-2 small) are silent by formula'
    """

    title = "And in a real model?"
    setting, draw = ModelSetting, staticmethod(real_model_parts)
    _answer = staticmethod(study_models)

    def _badge(self, answer: ModelStudy) -> str:
        return theme.badge("observed", f"extrapolated: {CAVEAT}")

    def _describe(self, answer: ModelStudy) -> str:
        models = list(answer.shares.items())
        ends = [f"{percent(sum(parts.values()))} ({model.name})" for model, parts in (models[-1], models[0])]
        return (
            f"Of the attention weights of {len(models)} models, {ends[0]} to {ends[1]} are silent by "
            f"formula: {', '.join(PARTS[answer.setting.parts])}. It is right on small networks of each kind; "
            f"the rest is extrapolated, and {CAVEAT}: more may be silent in the model."
        )
