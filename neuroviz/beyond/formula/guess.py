"""A family measured, and a formula proposed for it: in columns, and the counterexamples in words."""

from neuroviz.beyond.formula.columns import Places, differences_view, values_view
from neuroviz.beyond.formula.family import FamilyStudy, Verdict
from neuroviz.kit import theme
from neuroviz.kit.plot import Parts, View, compose
from neuroviz.kit.words import colored

_WORDS_AT = 0.71
_MOST_MET = 8


def formula_parts(study: FamilyStudy) -> Parts:
    """The picture."""
    places = Places(study)
    return compose(values_view(study, places), differences_view(study, places), _words(study))


def _words(study: FamilyStudy) -> View:
    first, title, base = study.first, theme.size("title"), theme.size("base")
    if first:
        head = f"{study.family.name_of(first.sizes)}:"
        body = f"you say <b>{_short(first.proposed)}</b>, "
        body += "measured " + colored("measured", f"<b>{first.measured.value}</b>")
        says = f"{head}<br>{body}"
    else:
        says = f"none among {len(study.verdicts)} networks.<br>That is evidence, no proof."
    met = [_line(study, verdict) for verdict in reversed(study.remembered[-_MOST_MET:])]
    older = len(study.remembered) - len(met)
    met += [f"and {older} older"] if older else []
    at = {
        "xref": "paper",
        "yref": "paper",
        "x": _WORDS_AT,
        "xanchor": "left",
        "align": "left",
        "showarrow": False,
    }
    step = theme.size("base") * 1.45
    known = study.known
    return View(
        [],
        {},
        [
            {**at, "text": "<b>first counterexample</b>", "y": 1, "yanchor": "bottom", "yshift": 6,
             "font": {"size": title}},
            {**at, "text": says, "y": 1, "yanchor": "top", "yshift": -2, "font": {"size": base + 1}},
            {**at, "text": "<b>met so far: measured, you</b>" if met else "", "y": 1, "yanchor": "top",
             "yshift": -3.4 * step, "font": {"size": title}},
            {**at, "text": "<br>".join(met), "y": 1, "yanchor": "top", "yshift": -4.7 * step,
             "font": {"size": theme.size("note") + 1}},
            {**at, "text": _known_words(study) if known else "", "y": 0, "yanchor": "bottom",
             "font": {"size": theme.size("note") + 1}},
        ],
        [],
    )  # fmt: skip


def _short(number: int) -> str:
    return str(number).replace("-", "−")


def _line(study: FamilyStudy, verdict: Verdict) -> str:
    here = study.family.name_of(verdict.sizes)
    if verdict.difference:
        return colored("outside", f"✕ {here}: {verdict.measured.value} ≠ {_short(verdict.proposed)}")
    return f"✓ {here}: {verdict.measured.value} = {_short(verdict.proposed)}"


def _known_words(study: FamilyStudy) -> str:
    known = study.known
    if not known.formula:
        return "<b>what is known</b><br>no formula"
    said = known.formula.replace(" − H·max", "<br>   − H·max").replace(" − pos(2", "<br>   − pos(2")
    return f"<b>what is known</b> ({known.expected.status})<br>{said}"
