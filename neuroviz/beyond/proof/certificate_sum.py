"""A dimension by theorem: what the statement asks for, and the terms of its number as a pile."""

from neuroviz.beyond.proof.certificate_bounds import NOWHERE, title_of, word
from neuroviz.beyond.proof.certificate_study import CertificateStudy
from neuroviz.kit import theme
from neuroviz.kit.plot import View
from neuroviz.kit.words import grouped

_MOST_HYPOTHESES = 6
_BAR, _WORDS = (0.0, 0.85), 1.0


def sum_view(study: CertificateStudy, x_domain: tuple[float, float]) -> View:
    """The pile and the checklist, on the axes x2 and y2; empty where bounds meet or nothing is proved."""
    return View(_traces(study), _axes(study, x_domain), _annotations(study), [_line(study)])


def _terms(study: CertificateStudy) -> list[tuple[str, int, str]]:
    """Name, number and how it comes about."""
    count = study.count
    if count is None:
        return [("", 0, "")] * 3
    return [
        ("values V", sum(count.values), _parts(count.values)),
        ("attention A", sum(count.heads), _parts(count.heads)),
        ("rescalings", -count.rescalings, _parts((1,) * count.rescalings)),
    ]


def _parts(numbers: tuple[int, ...]) -> str:
    """A sum over the layers, in few characters."""
    if len(numbers) < 2 or not any(numbers):
        return ""
    if len(set(numbers)) == 1:
        return f"{len(numbers)} × {grouped(numbers[0])}"
    if len(numbers) < 4:
        return " + ".join(map(grouped, numbers))
    return f"sum over {len(numbers)} layers"


def _top(study: CertificateStudy) -> int:
    return sum(value for _, value, _ in _terms(study) if value > 0) or 1


def _spans(study: CertificateStudy) -> list[tuple[float, float]]:
    """From where to where each term goes: the last one hangs down from the top of the others."""
    (_, values, _), (_, heads, _), (_, less, _) = _terms(study)
    return [(0, values), (values, values + heads), (values + heads + less, values + heads)]


def _traces(study: CertificateStudy) -> list[dict]:
    shown = study.count is not None
    colors = ("wash", "panel", "symmetry")
    found = []
    for (name, value, how), (low, high), role in zip(_terms(study), _spans(study), colors, strict=True):
        x0, x1 = _BAR
        found.append(
            {
                "type": "scatter",
                "name": name or "term",
                "xaxis": "x2",
                "yaxis": "y2",
                "mode": "lines",
                "x": [x0, x1, x1, x0, x0] if shown else [],
                "y": [low, low, high, high, low] if shown else [],
                "fill": "toself",
                "fillcolor": theme.color(role),
                "line": {"color": theme.color("formula"), "width": 1.5},
                "hoverinfo": "text",
                "text": f"{name}: {grouped(value)}{f' = {how}' if how else ''}",
            }
        )
    return found


def _axes(study: CertificateStudy, x_domain: tuple[float, float]) -> dict:
    shown, top = study.count is not None, _top(study)
    return {
        "xaxis2": {
            "anchor": "y2",
            "domain": x_domain if shown else NOWHERE,
            "range": [-0.15, 4.0],
            "visible": False,
            "fixedrange": True,
        },
        "yaxis2": {
            "anchor": "x2",
            "domain": (0.0, 1.0) if shown else NOWHERE,
            "range": [-0.03 * top, 1.12 * top],
            "visible": shown,
            "showgrid": False,
            "nticks": 5,
            "tickformat": "~s",
            "title": {"text": "dimension"},
            "fixedrange": True,
        },
    }


def _annotations(study: CertificateStudy) -> list[dict]:
    shown, proof = study.count is not None, study.certificate
    number = grouped(proof.dimension) if shown else ""
    return [
        title_of(f"{proof.source} gives {number}" if shown else "", "2"),
        *_term_words(study),
        word(
            f"<b>= {number}</b>" if shown else "",
            _WORDS,
            1.0,
            "2",
            "certified",
            yref="y2 domain",
            xanchor="left",
            yanchor="top",
            size=round(1.3 * theme.size("title")),
        ),
        _check_word("it asks for" if shown else "", 0, "soft"),
        *(_hypothesis_word(study, i) for i in range(_MOST_HYPOTHESES)),
    ]


def _term_words(study: CertificateStudy) -> list[dict]:
    """Beside each part of the pile; parts that are very thin keep their words apart."""
    line = 3.1 * theme.size("note") / (theme.size("height") - 90)
    middles = [(low + high) / 2 / _top(study) for low, high in _spans(study)]
    middles[0] = max(middles[0], 0.6 * line)
    middles[1] = min(max(middles[1], middles[0] + line), 0.86 - line)
    middles[2] = max(min(middles[2], 0.86), middles[1] + line)
    found = []
    for (name, value, how), middle in zip(_terms(study), middles, strict=True):
        text = f"{name}: <b>{grouped(value)}</b>{f'<br>{how}' if how else ''}"
        if name == "rescalings" and not value:
            text = "rescalings: none"
        text, role = text if name else "", "ink" if value else "soft"
        found.append(word(text, _WORDS, middle * _top(study), "2", role, xanchor="left", align="left"))
    return found


def _hypothesis_word(study: CertificateStudy, i: int) -> dict:
    if i >= len(study.hypotheses):
        return _check_word("", i + 1, "ink")
    each = study.hypotheses[i]
    mark, role = ("■", "certified") if each.holds else ("▨", "outside")
    return _check_word(f"{mark} {each.text}", i + 1, role)


def _check_word(text: str, line: int, role: str) -> dict:
    """A line of the checklist, in the lower right of the pile."""
    return word(
        text,
        2.5,
        0.62,
        "2",
        role,
        yref="y2 domain",
        xanchor="left",
        yanchor="top",
        yshift=-round(1.7 * line * theme.size("base")),
        size=theme.size("base"),
    )


def _line(study: CertificateStudy) -> dict:
    """The dimension across the pile."""
    shown = study.count is not None
    value = study.certificate.dimension if shown else 0
    return {
        "type": "line",
        "xref": "x2",
        "yref": "y2",
        "x0": -0.1,
        "x1": 0.95,
        "y0": value,
        "y1": value,
        "visible": shown,
        "line": {"color": theme.color("certified"), "width": theme.size("line") + 2},
    }
