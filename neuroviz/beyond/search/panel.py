"""Attack the claim that the function determines the weights: search for another set of them."""

import ipywidgets as widgets

from neuroviz.beyond.search.cases import CASES, SearchSetting, SearchStudy, study_in_steps, study_search
from neuroviz.beyond.search.figure import search_parts
from neuroviz.beyond.search.map import is_given
from neuroviz.kit import theme
from neuroviz.kit.panel import Panel
from neuroviz.kit.words import tiny

_KINDS = [
    ("all", "all"),
    ("random", "random"),
    ("near ρM", "near"),
    ("transposes", "transposes"),
    ("swapped", "swapped"),
    ("−L", "minus-L"),
]
_QUICK = 30  # starts of one layer


class SearchExplorer(Panel):
    """Search the fibre of a network from many starts, and see where they end.

    Left, every start: how far from the given weights it ended, and how far from their function. Right, the
    other weights that were found, and below which kinds of start led where.

    Controls: case (of `search_cases.CASES`), starts, kind (of start); under "More": seed (of the
    weights and the starts). See `Panel` for what all panels share. The starts one by one, with all weights:
    `study_search(panel.setting).search.to_csv(path)`.

    >>> panel = SearchExplorer()
    >>> "values and keys swapped" in panel.description
    True
    """

    title = "Attack it: search for another set of weights"

    def _make_controls(self) -> tuple[dict[str, widgets.Widget], dict[str, widgets.Widget]]:
        cases = [(case.name, key) for key, case in CASES.items()]
        first = {
            "case": widgets.Dropdown(options=cases, value="rank-one", description="network"),
            "starts": widgets.IntSlider(value=_QUICK, min=10, max=200, step=10, description="starts"),
            "kind": widgets.Dropdown(options=_KINDS, description="kind of start"),
        }
        return first, {"seed": widgets.BoundedIntText(value=0, min=0, max=10**6, description="seed")}

    @property
    def setting(self) -> SearchSetting:
        """What the controls say, as a request to `study_search`."""
        return self._read()

    def _read(self) -> SearchSetting:
        return SearchSetting(**{name: control.value for name, control in self.controls.items()})

    _answer = staticmethod(study_search)
    _answer_in_steps = staticmethod(study_in_steps)

    def _is_slow(self, request: SearchSetting) -> bool:
        return request.starts > _QUICK or CASES[request.case].arch.num_layers > 1

    draw = staticmethod(search_parts)

    def _badge(self, answer: SearchStudy) -> str:
        search, case = answer.search, answer.case
        found = f"{search.verified} of {search.starts} starts verified"
        return theme.badge("float", found) + theme.badge(case.status, case.source)

    def _describe(self, answer: SearchStudy) -> str:
        said = [
            f"{str(answer.case.arch).capitalize()}.",
            answer.search.note,
            _say_known(answer),
            _say_limits(answer),
        ]
        return " ".join(filter(None, said))


def _say_known(study: SearchStudy) -> str:
    case, found = study.case, len(study.search.classes)
    if case.points is not None and (found > case.points or study.search.continuum):
        return f"Theory says: {case.known} They DISAGREE."
    if case.points is not None and 0 < found < case.points:
        return f"Theory says: {case.known} These starts did not find all."
    return f"Theory says: {case.known}"


def _say_limits(study: SearchStudy) -> str:
    """What a reader may conclude."""
    search = study.search
    if not search.verified:
        return "Take more starts, or starts nearer to the given weights."
    if search.continuum and not search.classes:
        return ""
    if all(is_given(point) for point in search.classes):
        return "A search can refute that there is one point, and cannot prove it."
    apart = max(point.residual for point in search.classes)
    return f"The outputs at the points found differ by at most {tiny(apart)}, relative to their size."
