"""All real models side by side: what each symmetry costs them, by formula; nothing here is measured."""

from neuroviz.beyond.transformers.real_models import SYMMETRIES, RealModel
from neuroviz.beyond.transformers.real_models_study import PARTS, ModelStudy
from neuroviz.kit import theme
from neuroviz.kit.plot import View, headline, label
from neuroviz.kit.words import grouped, percent

Table = dict[RealModel, list[float]]  # the longest bar first: what each of SYMMETRIES costs
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
    # Once for the whole view: each count is derived from a model's whole architecture.
    table = {model: [study.shown(model, name) for name in SYMMETRIES] for model in study.ranking}
    return View(_traces(study, table), _axes(study, table, x_domain), _annotations(study, table), [])


def _parts(study: ModelStudy) -> tuple[str, ...]:
    return PARTS[study.setting.parts]


def _lengths(study: ModelStudy, table: Table, name: str) -> list[float]:
    """How long one part of each bar is; 0 where it is not asked for."""
    column, shown = SYMMETRIES.index(name), name in _parts(study)
    return [row[column] if shown else 0.0 for row in table.values()]


def _ends(study: ModelStudy, table: Table) -> list[float]:
    """How long each bar is."""
    return [sum(parts) for parts in zip(*(_lengths(study, table, name) for name in SYMMETRIES), strict=True)]


def _traces(study: ModelStudy, table: Table) -> list[dict]:
    models, ends = list(table), _ends(study, table)
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
        bars.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": name,
                **_ON,
                "x": _lengths(study, table, name),
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


def _axes(study: ModelStudy, table: Table, x_domain: tuple[float, float]) -> dict:
    return {
        "barmode": "stack",
        "xaxis2": {
            "anchor": "y2",
            "domain": x_domain,
            "range": [0, 1.32 * max(_ends(study, table))],
            "visible": False,
        },
        "yaxis2": {
            "anchor": "x2",
            "domain": (0.0, 1.0),
            # The longest bar on top, and over it room for the names of its parts.
            "range": [len(table) - 0.4, -1.7],
            "tickvals": list(range(len(table))),
            "ticktext": [_name(model, study.model) for model in table],
            "ticks": "",
            "showgrid": False,
        },
    }


def _name(model: RealModel, chosen: RealModel) -> str:
    if model != chosen:
        return model.name
    return f'<span style="color:{theme.color("focus")}"><b>{model.name}</b></span>'


def _annotations(study: ModelStudy, table: Table) -> list[dict]:
    said = headline(_SAID[study.setting.parts], "2")
    said["xshift"] = -9 * theme.size("tick")  # over the names of the models, too
    return [said, *_part_names(study, table)]


def _part_names(study: ModelStudy, table: Table) -> list[dict]:
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
        start += _lengths(study, table, name)[0]
    return found
