"""All real models side by side: what each symmetry costs them, by formula; nothing here is measured."""

from neuroviz import theme
from neuroviz.figures.parts import View, headline, label
from neuroviz.figures.words import grouped, percent
from neuroviz.real_models import SYMMETRIES, RealModel
from neuroviz.real_models_study import PARTS, ModelStudy

_ON = {"xaxis": "x2", "yaxis": "y2"}
_SAID = {
    "all": "rotary, shared keys: less to lose",
    "keys": "rotary positions leave a of a²",
    "values": "a² for each key that is there",
    "biases": "biases: next to nothing",
}
_SHORT = {SYMMETRIES[0]: "keys, queries", SYMMETRIES[1]: "values, outputs"}


def bars_view(study: ModelStudy, x_domain: tuple[float, float]) -> View:
    """One bar for each model, the longest on top, on the axes x2 and y2."""
    return View(_traces(study), _axes(study, x_domain), _annotations(study), [])


def _parts(study: ModelStudy) -> tuple[str, ...]:
    return PARTS[study.setting.parts]


def _ends(study: ModelStudy) -> list[float]:
    """How long each bar is."""
    return [sum(study.shown(model, name) for name in _parts(study)) for model in study.ranking]


def _traces(study: ModelStudy) -> list[dict]:
    models, ends = study.ranking, _ends(study)
    looks = (
        {"color": theme.color("symmetry")},
        {
            "color": theme.color("ground"),
            "line": {"color": theme.color("symmetry"), "width": 1.5},
        },
        {"color": theme.color("soft")},
        {"color": theme.color("soft")},
    )
    bars = []
    for name, look in zip(SYMMETRIES, looks, strict=True):
        shown = name in _parts(study)
        bars.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": name,
                **_ON,
                "x": [study.shown(model, name) if shown else 0.0 for model in models],
                "y": list(range(len(models))),
                "customdata": [f"{m.name}: {grouped(m.redundant.get(name, 0))} {name}" for m in models],
                "width": 0.72,
                "marker": look,
                "hovertemplate": "%{customdata}, by formula<extra></extra>",
            }
        )
    words = {
        "name": "what it comes to",
        **_ON,
        "x": ends,
        "y": list(range(len(models))),
        "text": [f" {_amount(study, end)}{_kind(model)}" for model, end in zip(models, ends, strict=True)],
        "mode": "text",
        "textposition": "middle right",
        "textfont": {"size": theme.size("note"), "color": theme.color("soft")},
        "cliponaxis": False,
        "hoverinfo": "skip",
    }
    return [*bars, words]


def _amount(study: ModelStudy, value: float) -> str:
    return percent(value) if study.setting.base == "share" else grouped(round(value))


def _kind(model: RealModel) -> str:
    """Why so few, if they are."""
    why = ["rotary"] if model.rotary else []
    if model.queries_per_key > 1:
        why.append(f"{model.queries_per_key} queries a key")
    return f"  {', '.join(why)}" if why else ""


def _axes(study: ModelStudy, x_domain: tuple[float, float]) -> dict:
    models = study.ranking
    return {
        "barmode": "stack",
        "xaxis2": {
            "anchor": "y2",
            "domain": x_domain,
            "range": [0, 1.32 * max(_ends(study))],
            "visible": False,
        },
        "yaxis2": {
            "anchor": "x2",
            "domain": (0.0, 1.0),
            # The longest bar on top, and over it room for the names of its parts.
            "range": [len(models) - 0.4, -1.7],
            "tickvals": list(range(len(models))),
            "ticktext": [_name(model, study.model) for model in models],
            "ticks": "",
            "showgrid": False,
        },
    }


def _name(model: RealModel, chosen: RealModel) -> str:
    if model != chosen:
        return model.name
    return f'<span style="color:{theme.color("focus")}"><b>{model.name}</b></span>'


def _annotations(study: ModelStudy) -> list[dict]:
    top = study.ranking[0]
    said = headline(_SAID[study.setting.parts], "2")
    said["xshift"] = -9 * theme.size("tick")  # over the names of the models, too
    return [said, *_part_names(study, top)]


def _part_names(study: ModelStudy, top: RealModel) -> list[dict]:
    """The two large parts have their names over the longest bar."""
    found, start = [], 0.0
    for name in SYMMETRIES[:2]:
        shown = name in _parts(study)
        found.append(
            label(
                _SHORT[name] if shown else "",
                start,
                -0.45,
                "2",
                xanchor="left",
                yanchor="bottom",
                align="left",
                font={"size": theme.size("note"), "color": theme.color("soft")},
            )
        )
        start += study.shown(top, name) if shown else 0.0
    return found
