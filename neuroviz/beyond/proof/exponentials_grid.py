"""The exponentials of one layer in a grid, free or determined, and how many are free in each layer."""

from neuroviz.beyond.proof.exponentials import places
from neuroviz.beyond.proof.exponentials_study import ExponentialsStudy
from neuroviz.beyond.proof.logit_relations import Relation
from neuroviz.kit import theme
from neuroviz.kit.plot import View, headline, label
from neuroviz.kit.words import colored, numbered

_MOST = 4  # tokens: there are always this many rows and columns of cells, and those beyond t are invisible
_LETTERS = "abcdfghkmnuv"  # not e, i, j, l, which mean other things
_WIDTH = 330  # pixels of the view in a panel of 850: squares must not touch there
_GAP = 0.05  # between cells, in cells


def grid_view(study: ExponentialsStudy, x_domain: tuple[float, float], y_domain: tuple[float, float]) -> View:
    """E_ji of the special layer, one column for each attending token i, on the axes x and y."""
    t = study.setting.tokens
    every = [(j, i) for i in range(1, _MOST + 1) for j in range(1, _MOST + 1)]
    font = {"size": theme.size("note") if t == _MOST else theme.size("base")}
    ticks = {"showgrid": False, "showline": False, "ticks": "", "tickvals": list(range(1, t + 1))}
    ticks["tickfont"] = {"color": theme.color("ink"), "size": theme.size("note")}
    return View(
        [_hover(study)],
        {
            "xaxis": ticks
            | {
                "domain": x_domain,
                "range": [0.5, t + 0.5],
                "ticktext": ["token i = 1", *(f"i = {i}" for i in range(2, t + 1))],
            },
            "yaxis": ticks
            | {
                "domain": y_domain,
                "range": [t + 0.5, 0.5],
                "ticktext": ["to j = 1", *(f"j = {j}" for j in range(2, t + 1))],
            },
        },
        [headline(_finding(study)), *(_text(study, j, i, font) for j, i in every)],
        [_cell(study, j, i) for j, i in every],
    )


def names_of(study: ExponentialsStudy) -> dict[tuple[int, int], str]:
    """A letter for every exponential of the special layer: P and Q for two tokens, as in the proofs.

    >>> from neuroviz.beyond.proof.exponentials_study import ExponentialsSetting, study_exponentials
    >>> names_of(study_exponentials(ExponentialsSetting()))
    {(2, 1): 'P', (1, 2): 'Q'}
    """
    t = study.setting.tokens
    return dict(zip(places(t), "PQ" if t == 2 else _LETTERS, strict=False))


def product_of(study: ExponentialsStudy, relation: Relation) -> str:
    """What an exponential is, in letters: a product of powers of the others.

    >>> from neuroviz.beyond.proof.exponentials_study import ExponentialsSetting, study_exponentials
    >>> study = study_exponentials(ExponentialsSetting("symmetric", tokens=3))
    >>> [product_of(study, one) for one in study.independence.layers[0].relations]
    ['adf/bc']
    """
    names = names_of(study)

    def product(sign: int) -> str:
        return "".join(names[place[1:]] * (sign * n) for place, n in relation.powers if sign * n > 0)

    above, below = product(1) or "1", product(-1)
    return f"{above}/{below}" if below else above


def equation_of(relation: Relation) -> str:
    """A relation without a quotient.

    >>> equation_of(Relation((1, 1, 2), (((1, 2, 1), -1),), proved=True))
    'E₁₂E₂₁ = 1'
    """
    powers = [(relation.determined, 1), *((place, -n) for place, n in relation.powers)]

    def side(sign: int) -> str:
        factors = sorted(place[1:] for place, n in powers for _ in range(max(sign * n, 0)))
        return "".join(numbered(numbered("E", j), i) for j, i in factors) or "1"

    return f"{side(1)} = {side(-1)}"


def _relations(study: ExponentialsStudy) -> dict[tuple[int, int], Relation]:
    layer = study.independence.layers[study.setting.special - 1]
    return {one.determined[1:]: one for one in layer.relations}


def _text(study: ExponentialsStudy, j: int, i: int, font: dict) -> dict:
    """The letter of a free exponential, that of a determined one with its product, 1 on the diagonal."""
    names, relations, t = names_of(study), _relations(study), study.setting.tokens
    text, role = "", "ink"
    if max(i, j) <= t:
        text, role = (f"<b>{names[j, i]}</b>", "ground") if i != j else ("1", "soft")
    if one := relations.get((j, i)):
        between = "<br>" if t == _MOST else " "
        sign = "≠" if study.setting.treat == "free" else "="
        text, role = f"<b>{names[j, i]}</b>{between}{sign} {product_of(study, one)}", "outside"
    return label(
        text,
        min(i, t),
        min(j, t),
        xanchor="center",
        yanchor="middle",
        font=font | {"color": theme.color(role)},
    )


def _cell(study: ExponentialsStudy, j: int, i: int) -> dict:
    t, free = study.setting.tokens, study.setting.treat == "free"
    if i == j:
        fill, border, dash, width = "wash", "wash", "solid", 0
    elif (j, i) in _relations(study):
        fill, border, dash, width = "ground", "outside", "solid" if free else "dash", 3 if free else 2
    else:
        fill, border, dash, width = "measured", "measured", "solid", 0
    x, y = min(i, t), min(j, t)
    return {
        "type": "rect",
        "xref": "x",
        "yref": "y",
        "x0": x - 0.5 + _GAP,
        "x1": x + 0.5 - _GAP,
        "y0": y - 0.5 + _GAP,
        "y1": y + 0.5 - _GAP,
        "fillcolor": theme.color(fill),
        "line": {"color": theme.color(border), "width": width, "dash": dash},
        "opacity": 1.0 if max(i, j) <= t else 0.0,
        "layer": "below",
    }


def _hover(study: ExponentialsStudy) -> dict:
    """Invisible marks that say what a cell is."""
    relations, where = _relations(study), places(study.setting.tokens)
    return {
        "name": "exponentials (measured: free or determined)",
        "xaxis": "x",
        "yaxis": "y",
        "x": [i for _, i in where],
        "y": [j for j, _ in where],
        "mode": "markers",
        "marker": {"size": 24, "opacity": 0.0},
        "customdata": [
            f"exp(s<sub>{j}{i}</sub> − s<sub>{i}{i}</sub>): "
            + (equation_of(relations[j, i]) if (j, i) in relations else "free: nothing determines it")
            for j, i in where
        ],
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def _finding(study: ExponentialsStudy) -> str:
    found = study.independence.layers[study.setting.special - 1].independent
    layer, drawn = f"layer {study.setting.special}", study.setting.treat == "free"
    if found.value == found.num_columns:
        return f"{layer}: all {found.value} exponentials are free"
    if drawn:
        truth = f"only {found.value} {_are(found.value)} free" if found.value else "but every one is 1"
        return f"{layer}: {found.num_columns} drawn, " + colored("outside", truth)
    if not found.value:
        return f"{layer}: every exponential is 1"
    return f"{layer}: {found.value} of {found.num_columns} exponentials {_are(found.value)} free"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def layers_view(
    study: ExponentialsStudy, x_domain: tuple[float, float], y_domain: tuple[float, float]
) -> View:
    """One row of squares for each layer: its differences of logits, independent or not; on x2 and y2."""
    layers = study.independence.layers
    total = layers[0].independent.num_columns
    size = min(1.1 * theme.size("tick"), 0.8 * _WIDTH * 0.62 / max(total, 10))
    independent = [(n + 0.5, -one.layer) for one in layers for n in range(one.independent.value)]
    dependent = [(n + 0.5, -one.layer) for one in layers for n in range(one.independent.value, total)]
    texts = [f"{one.independent.value} of {one.independent.num_columns}" for one in layers]
    texts += [""] * (3 - len(texts))
    return View(
        [
            _squares("independent differences of logits (measured)", independent, True, size),
            _squares("differences that others determine (measured)", dependent, False, size),
        ],
        {
            "xaxis2": {
                "domain": x_domain,
                "anchor": "y2",
                "range": [-0.2, max(total, 10) / 0.62],
                "showgrid": False,
                "showline": False,
                "ticks": "",
                "showticklabels": False,
            },
            "yaxis2": {
                "domain": y_domain,
                "anchor": "x2",
                "range": [-len(layers) - 0.6, -0.4],
                "tickvals": [-one.layer for one in layers],
                "ticktext": [f"layer {one.layer}" for one in layers],
                "tickfont": {"color": theme.color("ink"), "size": theme.size("note")},
                "showgrid": False,
                "showline": False,
                "ticks": "",
            },
        },
        [
            headline(_relation_words(study), "2"),
            *(
                label(
                    text,
                    total,
                    -min(k, len(layers)),
                    "2",
                    xanchor="left",
                    yanchor="middle",
                    xshift=8,
                    font={"size": theme.size("note")},
                )
                for k, text in enumerate(texts, start=1)
            ),
        ],
        [],
    )


def _relation_words(study: ExponentialsStudy) -> str:
    """The relation between the exponentials, and how many more there are."""
    relations = list(_relations(study).values())
    if not relations:
        return "logits: no linear relation"
    first = equation_of(relations[0])
    if study.setting.tokens == 2 and len(relations) == 1:
        first = "PQ = 1"
    if len(relations) > 1:
        first += f", {len(relations)} such"
    return colored("outside", f"relation: {first}" if len(first) < 16 else first)


def _squares(name: str, at: list[tuple[float, int]], filled: bool, size: float) -> dict:
    return {
        "name": name,
        "xaxis": "x2",
        "yaxis": "y2",
        "x": [x for x, _ in at],
        "y": [y for _, y in at],
        "mode": "markers",
        "cliponaxis": False,
        "marker": {
            "symbol": "square",
            "size": round(size if filled else size - 2),
            "color": theme.color("measured" if filled else "ground"),
            "line": {"color": theme.color("outside"), "width": 0 if filled else 2},
        },
        "hovertemplate": f"{name}<extra></extra>",
    }
