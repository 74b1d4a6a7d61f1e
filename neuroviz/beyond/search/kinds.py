"""Which kinds of start led where: a bar for each kind."""

from neuroviz.beyond.search.cases import SearchStudy
from neuroviz.beyond.search.initial_guesses import KINDS
from neuroviz.beyond.search.map import is_given
from neuroviz.beyond.search.result import StartOutcome
from neuroviz.kit import theme
from neuroviz.kit.plot import View, headline
from neuroviz.kit.words import colored

_ENDS = ("given", "other", "loose", "none")
_ROLES = {"given": "certified", "other": "focus", "loose": "outside", "none": "ghost"}
_WORDS = {"given": "the given", "other": "others", "loose": "not isolated", "none": "nowhere"}
_AXIS = "3"


def kinds_view(study: SearchStudy, x_domain: tuple[float, float], y_domain: tuple[float, float]) -> View:
    """Horizontal bars on the axes x3 and y3; the words of the headline say what the colours are."""
    counts = {end: {kind: 0 for kind in KINDS} for end in _ENDS}
    for outcome in study.search.outcomes:
        counts[_end(study, outcome)][outcome.kind] += 1
    traces = [_bars(end, counts[end]) for end in _ENDS]
    most = max(sum(counts[end][kind] for end in _ENDS) for kind in KINDS)
    axes = {
        f"xaxis{_AXIS}": {
            "domain": x_domain,
            "anchor": f"y{_AXIS}",
            "range": [0, most],
            "visible": False,
            "fixedrange": True,
        },
        f"yaxis{_AXIS}": {
            "domain": y_domain,
            "anchor": f"x{_AXIS}",
            "range": [len(KINDS) - 0.4, -0.6],
            "tickvals": list(range(len(KINDS))),
            "ticktext": [f"{kind}\u2002" for kind in KINDS],
            "showgrid": False,
            "showline": False,
            "ticks": "",
            "fixedrange": True,
        },
        "barmode": "stack",
        "bargap": 0.25,
    }
    return View(traces, axes, [headline(_headline(counts), _AXIS)], [])


def _end(study: SearchStudy, outcome: StartOutcome) -> str:
    if not outcome.verified:
        return "none"
    if outcome.point is None:
        return "loose"
    return "given" if is_given(study.search.classes[outcome.point]) else "other"


def _bars(end: str, counts: dict[str, int]) -> dict:
    color, hollow = theme.color(_ROLES[end]), end == "none"
    return {
        "type": "bar",
        "orientation": "h",
        "name": _WORDS[end],
        "xaxis": f"x{_AXIS}",
        "yaxis": f"y{_AXIS}",
        "x": list(counts.values()),
        "y": list(range(len(KINDS))),
        "text": [str(count) if count else "" for count in counts.values()],
        "textposition": "inside",
        "constraintext": "none",
        "insidetextanchor": "middle",
        "textangle": 0,
        "textfont": {"size": theme.size("note"), "color": theme.color("soft" if hollow else "ground")},
        "marker": {
            "color": theme.color("ground") if hollow else color,
            "line": {"color": color, "width": 1.2},
        },
        "hovertemplate": f"%{{x}} ended: {_WORDS[end]}<extra></extra>",
    }


def _headline(counts: dict[str, dict[str, int]]) -> str:
    seen = [end for end in _ENDS if any(counts[end].values())]
    words = [colored("soft" if end == "none" else _ROLES[end], _WORDS[end]) for end in seen]
    return "ended at: " + " · ".join(words)
