"""One input of the walk: its tokens, how they attend, and the equation with its numbers."""

import numpy as np

from neuroviz.kit import theme
from neuroviz.kit.matrices import Row, Tile, largest_entry, matrices_view
from neuroviz.kit.plot import View, headline, label, outside_words
from neuroviz.kit.words import colored, numbered, percent, signed, tiny
from neuroviz.softmax.one_layer_probes import Probe
from neuroviz.softmax.one_layer_study import STEPS, OneLayerStudy

_LINES = 8  # of the equation, at most


def is_limit(study: OneLayerStudy) -> bool:
    """Whether the last step is shown, which reads nothing."""
    return study.setting.step == "limit"


def is_dead(study: OneLayerStudy) -> bool:
    """Whether the step that is shown gives nothing here."""
    return bool(study.step.dies) and not is_limit(study)


def tokens_view(study: OneLayerStudy, x_domain: tuple[float, float], y_domain: tuple[float, float]) -> View:
    """The tokens, and the column of the output that is looked at, on the axes x and y."""
    view = matrices_view([Row("", _tiles(study))], x_domain, y_domain)
    return view._replace(annotations=[*view.annotations, _over(_what_is_on(study), x_domain)])


def _over(text: str, x_domain: tuple[float, float]) -> dict:
    """A headline over a column of the figure, whatever the plane below it needs of its width."""
    return headline(text) | {"xref": "paper", "yref": "paper", "x": x_domain[0]}


def _what_is_on(study: OneLayerStudy) -> str:
    t, step = study.setting.tokens, study.setting.step
    if step == "limit":
        return f"{t} random token{'s' if t > 1 else ''}"
    if t == 1:
        return outside_words("t = 1: a single token")
    rest = "the other 0" if t - (1 if step != "two tokens" else 2) == 1 else "the others 0"
    if step == "two tokens":
        return "two tokens on" + (f", {rest}" if t > 2 else "")
    return f"one token on, {rest}"


def _tiles(study: OneLayerStudy) -> tuple[Tile | None, ...]:
    if is_limit(study):
        here = study.limit.here
        limit = largest_entry(here.Y, here.mean)
        return (
            Tile("tokens", study.limit.X, largest_entry(study.limit.X), above="X"),
            Tile("outputs", here.Y, limit, above="φ(X)"),
            Tile("mean", here.mean[:, :1], limit, above="mean"),
            None,
        )
    probe = study.probe or study.read.steps[0].probes[-1]
    # Their images are what V, read by now, makes of them: nothing else is known of the layer.
    Vx = study.read.V @ (study.read.scale * probe.x)[:, None]
    Vy = None if probe.y is None else study.read.V @ (study.read.scale * probe.y)[:, None]
    out = probe.Y[:, [probe.column]]
    limit = largest_entry(Vx, out) if Vy is None else largest_entry(Vx, Vy, out)
    shows_images = study.setting.step != "V"
    return (
        Tile("tokens", probe.X, largest_entry(probe.X), above="X"),
        Tile("Vx", Vx, limit, above="Vx") if shows_images else None,
        None if Vy is None else Tile("Vy", Vy, limit, above="Vy"),
        Tile(
            f"column {probe.column + 1} of the output",
            out,
            limit,
            above="out",
            below=f"column {probe.column + 1}",
            frame="focus",
        ),
    )


def attention_view(
    study: OneLayerStudy, x_domain: tuple[float, float], y_domain: tuple[float, float]
) -> View:
    """How the token of the column that is looked at attends to all of them, on the axes x2 and y2."""
    t = study.setting.tokens
    column, shares, names = _attention(study)
    seen = [share for share in shares if share is not None]
    colors = [theme.color("soft" if name.startswith("0") else "focus") for name in names]
    trace = {
        "type": "bar",
        "name": "attention",
        "xaxis": "x2",
        "yaxis": "y2",
        "x": list(range(t)),
        "y": shares,
        "width": 0.62,
        "marker": {"color": colors},
        "text": ["" if share is None else f"{share:.3f}" for share in shares],
        "textposition": "outside",
        "textfont": {"size": theme.size("note")},
        "cliponaxis": False,
        "hovertemplate": "attention %{y:.6f}<extra></extra>",
    }
    axes = {
        "xaxis2": {
            "domain": x_domain,
            "anchor": "y2",
            "range": [-0.6, t - 0.4],
            "tickvals": list(range(t)),
            "ticktext": names,
            "tickfont": {"size": theme.size("base"), "color": theme.color("ink")},
            "ticks": "",
            "showgrid": False,
        },
        "yaxis2": {
            "domain": y_domain,
            "anchor": "x2",
            "range": [0, 1.25],
            "visible": False,
        },
    }
    even = {
        "type": "line",
        "xref": "x2",
        "yref": "y2",
        "x0": -0.5,
        "x1": t - 0.5,
        "y0": 1 / t,
        "y1": 1 / t,
        "line": {"color": theme.color("ghost"), "width": 1.2, "dash": "dot"},
        "layer": "below",  # the numbers over the bars stand on it
        "visible": is_limit(study),
    }
    how = "how the last token attends" if column == t - 1 and t > 1 else "how token 1 attends"
    if seen and is_limit(study) and t > 1:
        how += f" (dotted: 1/{t})"
    words = (
        colored("ink", how) if seen else outside_words(f"{how}: cannot be seen")
    )  # both in base size: the panel's findings are elsewhere
    note = label(
        words,
        0,
        1,
        "2",
        xref="x2 domain",
        yref="y2 domain",
        xanchor="left",
        yanchor="bottom",
        yshift=2,
        font={"size": theme.size("base")},
    )
    return View([trace], axes, [note], [even])


def _attention(study: OneLayerStudy) -> tuple[int, list[float | None], list[str]]:
    """Which column, how it attends (None for what was lost), and the names of the tokens."""
    t = study.setting.tokens
    if is_limit(study):
        return 0, study.limit.here.attention[:, 0].tolist(), [numbered("x", i + 1) for i in range(t)]
    probe = study.probe
    if probe is None:
        return 0, [1.0], ["x"]  # a single token has nowhere else to look
    on = 1 if probe.y is None else 2
    names = ["x", "y"][:on] + ["0"] * (t - on)
    return probe.column, [None if np.isnan(share) else share for share in probe.attention], names


def equation_view(study: OneLayerStudy, left: float) -> View:
    """The equation of the step, and what its numbers are here, as text."""
    lines = [*_lines(study), *[("", "ink")] * _LINES][:_LINES]
    size, high = theme.size("base"), theme.size("height")
    between = 2.0 * size / (high - theme.margin()["t"] - theme.margin()["b"])
    places = [0.955 - between * i for i in range(_LINES)]
    walk = _walk(study)
    places += [0.02 + 0.85 * between * i for i in range(len(walk) - 1, -1, -1)]
    notes = [
        label(
            colored(role, text) if text else "",
            left,
            place,
            xref="paper",
            yref="paper",
            xanchor="left",
            yanchor="middle",
            align="left",
            font={"size": size},
        )
        for (text, role), place in zip((*lines, *walk), places, strict=True)
    ]
    return View([], {}, [headline(_gives(study)) | {"xref": "paper", "yref": "paper", "x": left}, *notes], [])


def _walk(study: OneLayerStudy) -> list[tuple[str, str]]:
    """The four steps: done, here, or still to come; each with its role."""
    here, found = STEPS.index(study.setting.step), []
    for i, name in enumerate(("one token on: V", "one token on: Sym A", "two tokens on: A", "the limit")):
        dead = i < 3 and study.read.steps[i].dies
        mark, role = ("✓", "certified") if i < here else ("●", "focus") if i == here else ("○", "soft")
        if dead and i <= here:
            mark, role = "▨", "outside"
        text = f"{mark} {i + 1}  {name}"
        found.append((f"<b>{text}</b>" if i == here else text, role))
    return found


def _gives(study: OneLayerStudy) -> str:
    if is_limit(study):
        return "nearly a lightning layer"
    if is_dead(study):
        return outside_words("every A fits")
    if study.setting.step == "V":
        return "the last column gives Vx" if study.setting.tokens > 1 else "the output is Vx"
    return "column 1 gives xᵀAx" if study.setting.step == "one token" else "column 1 gives yᵀAx"


def _lines(study: OneLayerStudy) -> list[tuple[str, str]]:
    """Lines of text, each with its role."""
    if is_limit(study):
        return _limit_lines(study)
    if study.probe is None:
        return [("There is no second token", "ink"), ("to switch on.", "ink"), *_same(study)]
    return {"V": _value_lines, "one token": _one_lines, "two tokens": _two_lines}[study.setting.step](
        study, study.probe
    )


def _value_lines(study: OneLayerStudy, probe: Probe) -> list[tuple[str, str]]:
    t = study.setting.tokens
    k = probe.place[0]
    column = study.read.V[:, k]
    why = "a token 0 attends to all alike" if t > 1 else "one token attends to itself"
    return [
        (_put_in(study, probe), "ink"),
        (why, "soft"),
        (f"out = Vx / {t}" if t > 1 else "out = Vx", "ink"),
        (f"out = {_vector(probe.Y[:, probe.column])}", "ink"),
        (f"<b>{_column_name(probe.x)} = {_vector(column)}</b>", "focus"),
        (f"true: {_vector(study.V[:, k])}", "soft"),
    ]


def _one_lines(study: OneLayerStudy, probe: Probe) -> list[tuple[str, str]]:
    t = study.setting.tokens
    if is_dead(study):
        equation = "out = s · Vx = s · 0 = 0" if t > 1 else "out = Vx: the share is 1"
        return [
            (_put_in(study, probe), "ink"),
            (equation, "ink"),
            (study.step.dies, "outside"),
            *_same(study),
        ]
    share = probe.attention[0]
    lines = [
        (_put_in(study, probe), "ink"),
        (f"out = s Vx,  s = E/(E + {t - 1})", "ink"),
        ("E = exp(xᵀAx / τ)", "soft"),
    ]
    if np.isnan(probe.logit):
        return [*lines, ("▨ s is 1 or 0 within rounding:", "outside"), ("E is lost", "outside")]
    times = "" if t == 2 else f"{t - 1}"
    return [
        *lines,
        (f"s = {_digits(share)}" if share < 0.999 else f"1 − s = {_digits(1 - share)}", "ink"),
        (f"E = {times}s/(1 − s) = {_digits(probe.exponential)}", "ink"),
        (f"xᵀAx = τ log E = {_digits(probe.logit)}", "ink"),
        *_entry(study),
    ]


def _two_lines(study: OneLayerStudy, probe: Probe) -> list[tuple[str, str]]:
    t = study.setting.tokens
    rest = f" + {t - 2}" if t > 2 else ""
    if is_dead(study):
        return [
            (_put_in(study, probe), "ink"),
            ("out = (E·0 + F·0)/(…) = 0", "ink"),
            (study.step.dies, "outside"),
            *_same(study),
        ]
    lines = [
        (_put_in(study, probe), "ink"),
        (f"out = (E Vx + F Vy)/(E + F{rest})", "ink"),
        ("F = exp(yᵀAx / τ)", "soft"),
    ]
    if np.isnan(probe.logit):
        return [*lines, ("▨ E or F is lost in rounding", "outside")]
    return [
        *lines,
        (f"E = {_digits(probe.beside)} is known from x alone", "ink"),
        (f"F = {_digits(probe.exponential)} is all that fits", "ink"),
        (f"yᵀAx = τ log F = {_digits(probe.logit)}", "ink"),
        *_entry(study),
    ]


def _entry(study: OneLayerStudy) -> list[tuple[str, str]]:
    """The entry that is known now; where it takes more probes, what this one read beside the truth."""
    entry = study.entry
    if entry is None:
        read = study.read
        stronger = (read.basis != np.eye(len(read.basis))).any()
        why = "Ve near 0: a stronger e joins" if stronger else ""
        return [(f"true: {_digits(study.true_logit)}", "soft"), (why, "soft")]
    i, j = (numbered("", k + 1) for k in entry)
    name, found, truth = study.reading
    if entry[0] == entry[1]:  # on the diagonal Sym A is A
        name = "A"
    return [
        (f"<b>so {name}{i}{j} = {signed(float(found[entry]), 4)}</b>", "focus"),
        (f"true: {signed(float(truth[entry]), 4)}", "soft"),
    ]


def _same(study: OneLayerStudy) -> list[tuple[str, str]]:
    return [
        ("", "ink"),
        ("With another A, drawn at random,", "ink"),
        (f"the outputs differ by {tiny(study.read.mismatch)}", "ink"),
    ]


def _limit_lines(study: OneLayerStudy) -> list[tuple[str, str]]:
    here, s = study.limit.here, study.setting
    lines = [
        ("φ = mean + (1/τ) · term + …", "ink"),
        ("mean = V X 11ᵀ/t knows V", "soft"),
        ("term = V X C XᵀA X/t is lightning,", "soft"),
        ("with keys and values centred by C", "soft"),
    ]
    if not study.V.any():
        return [*lines, ("▨ V = 0: all of it is 0", "outside")]
    if s.tokens == 1:
        return [*lines, ("▨ t = 1: C = 0, and φ is the mean", "outside")]
    return [
        *lines,
        (f"φ − mean: {gap_text(here.mean_gap)}{_slope(study.limit.mean_slope)}", "ink"),
        (f"<b>less term/τ: {gap_text(here.first_gap)}{_slope(study.limit.first_slope)}</b>", "focus"),
        (f"2A, V/2 against φ: {gap_text(here.rescaled_gap)}", "ink"),
    ]


def _slope(slope: float | None) -> str:
    return "" if slope is None else f", slope {slope:.2f}"


def gap_text(part: float) -> str:
    """A part of the whole, in percent or, where it is tiny, in powers of ten."""
    return percent(part) if part > 1e-4 else tiny(part)


def _put_in(study: OneLayerStudy, probe: Probe) -> str:
    unit = _unit(study.read.scale)
    text = f"x = {_combination(probe.x, unit)}"
    return text if probe.y is None else f"{text},  y = {_combination(probe.y, unit)}"


def _unit(scale: float) -> str:
    """A power of 2 in front of a vector.

    >>> _unit(0.25), _unit(1.0), _unit(8.0)
    ('¼', '', '8')
    """
    known = {1.0: "", 0.5: "½", 0.25: "¼", 0.125: "⅛"}
    return known.get(scale, f"{scale:g} " if scale > 1 else f"1/{1 / scale:g} ").strip()


def _combination(vector: np.ndarray, unit: str) -> str:
    """A whole combination of basis vectors.

    >>> _combination(np.array([1.0, -2.0]), "¼")
    '¼(e₁ − 2e₂)'
    """
    found = ""
    for i, entry in enumerate(vector.tolist(), start=1):
        if entry:
            times = "" if abs(entry) == 1 else f"{abs(entry):g}"
            sign = ("−" if entry < 0 else "") if not found else (" − " if entry < 0 else " + ")
            found += f"{sign}{times}{numbered('e', i)}"
    if not unit:
        return found
    if np.count_nonzero(vector) > 1:
        return f"{unit}({found})"
    space = " " if unit[-1].isdigit() else ""
    return f"−{unit}{space}{found[1:]}" if found[0] == "−" else f"{unit}{space}{found}"


def _column_name(x: np.ndarray) -> str:
    return f"V{numbered('e', int(np.argmax(x)) + 1)}"


def _vector(entries: np.ndarray) -> str:
    return "(" + ", ".join(signed(float(entry)) for entry in entries) + ")"


def _digits(value: float) -> str:
    """Four digits, with powers of ten where the number is very small or large.

    >>> _digits(-0.31251), _digits(31234.5), _digits(0.0)
    ('−0.3125', '3.12·10⁴', '0')
    """
    if value == 0:
        return "0"
    if not 1e-3 <= abs(value) < 1e4:
        return tiny(value, digits=2).replace("-", "−")
    return f"{value:.4g}".replace("-", "−")
