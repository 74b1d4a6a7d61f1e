"""A certificate as a sheet of paper: what is proved, how, from what, what was changed, and the stamp."""

from textwrap import wrap

from neuroviz.beyond.proof.certificate_study import CertificateStudy
from neuroviz.kit import theme
from neuroviz.kit.plot import View, headline, label
from neuroviz.kit.words import colored, grouped

_ROWS = ("what", "how", "from", "changed")
_WIDTH = 458  # pixels of the sheet, on a panel of 1100


def document_view(study: CertificateStudy, x_domain: tuple[float, float]) -> View:
    """The sheet, on the axes x3 and y3."""
    nothing = {"type": "scatter", "x": [], "y": [], "xaxis": "x3", "yaxis": "y3", "hoverinfo": "skip"}
    axis = {"range": [0, 1], "visible": False, "fixedrange": True}
    axes = {
        "xaxis3": axis | {"anchor": "y3", "domain": x_domain},
        "yaxis3": axis | {"anchor": "x3", "domain": (0.0, 1.0)},
    }
    return View([nothing], axes, _annotations(study), [_sheet(study)])


def _size() -> float:
    """Of the letters: the longest certificate just fits."""
    return min(theme.size("base"), 16)


def _role(study: CertificateStudy) -> str:
    """Of the frame and the stamp."""
    if study.verification is None:
        return "axis"
    return "certified" if study.verification else "outside"


def _sheet(study: CertificateStudy) -> dict:
    return {
        "type": "rect",
        "xref": "x3 domain",
        "yref": "y3 domain",
        "x0": 0,
        "x1": 1,
        "y0": 0,
        "y1": 1,
        "layer": "below",
        "fillcolor": theme.color("panel"),
        "line": {"color": theme.color(_role(study)), "width": theme.size("line")},
    }


def _annotations(study: CertificateStudy) -> list[dict]:
    rows, y, found = _texts(study), 10.0, []
    line = 1.35 * _size()
    for name in _ROWS:
        text = rows.get(name, "")
        found += [_text(colored("soft", name) if text else "", 12, y), _text(text, _indent(), y)]
        y += line * (1 + text.count("<br>")) + 0.7 * line if text else 0
    return [headline(_headline(study), "3"), *found, _stamp(study)]


def _headline(study: CertificateStudy) -> str:
    if study.verification is None:
        return "No certificate"
    if study.change is None:
        return f"{grouped(study.certificate.dimension)}, checked again" if study.verification else "Refuted"
    return "A digit changed, and it still proves it" if study.verification else "A digit changed, and noticed"


def _indent() -> int:
    return round(5.6 * _size())


def _wrapped(text: str, lines: int) -> str:
    """In lines that fit beside the names of the rows."""
    width = int((_WIDTH - _indent() - 20) / (0.49 * _size()))
    found = [
        line.replace("→→", "→") for line in wrap(text.replace("→", "→→"), width)
    ]  # as wide as two letters
    return "<br>".join(found[:lines]) + (" …" if len(found) > lines else "")


def _texts(study: CertificateStudy) -> dict[str, str]:
    proof = study.shown
    if proof is None:
        return {
            "what": _wrapped(str(study.setting.arch), 3),
            "how": f"route: {study.setting.route or 'the strongest'}",
        }
    stored = (
        f"{grouped(study.numbers)} stored numbers, {grouped(study.characters)} characters of text"
        if study.numbers
        else f"the sizes of the network alone, {grouped(study.characters)} characters of text"
    )
    texts = {
        "what": f"<b>dimension {grouped(proof.dimension)}</b> of<br>{_wrapped(str(proof.arch), 2)}",
        "how": _wrapped(f"{proof.route}: {proof.argument}", 6),
        "from": _wrapped(f"{stored}; seal {proof.seal[:8]}…", 2),
    }
    if study.change is not None:
        c = study.change
        new = "seal renewed" if study.setting.tampering.endswith("resealed") else "the seal is the old one"
        texts["changed"] = colored("focus", _wrapped(f"{c.place}: {c.before} became {c.after}; {new}", 2))
    return texts


def _text(text: str, left: int, down: float) -> dict:
    return label(
        text,
        0,
        1,
        "3",
        xref="x3 domain",
        yref="y3 domain",
        xanchor="left",
        yanchor="top",
        xshift=left,
        yshift=-round(down),
        align="left",
        font={"size": _size(), "color": theme.color("ink")},
    )


def _stamp(study: CertificateStudy) -> dict:
    """What checking again says, at the foot of the sheet."""
    role = _role(study)
    if study.verification is None:
        words, finding = "<b>this route cannot here</b>", study.refusal
    elif study.verification:
        words, finding = "<b>◆ verified</b> by other means", study.verification.finding
    else:
        words, finding = "<b>▨ rejected</b>", study.verification.finding
    color = theme.color("ink" if role == "axis" else role)
    width = int((_WIDTH - 44) / (0.49 * _size()))
    lines = wrap(finding, width)
    text = "<br>".join([words, *lines[:5]]) + (" …" if len(lines) > 5 else "")
    return label(
        text,
        0,
        0,
        "3",
        xref="x3 domain",
        yref="y3 domain",
        xanchor="left",
        yanchor="bottom",
        xshift=12,
        yshift=12,
        align="left",
        borderwidth=2,
        borderpad=6,
        bordercolor=theme.color(role),
        bgcolor=theme.color("ground"),
        font={"size": _size(), "color": color},
    )
