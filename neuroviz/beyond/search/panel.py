"""Attack the claim that the function determines the weights: search for another set of them."""

from neuroviz.beyond.search.cases import SearchSetting, SearchStudy, study_search
from neuroviz.beyond.search.figure import search_parts
from neuroviz.kit import theme
from neuroviz.kit.panel import Panel
from neuroviz.kit.words import tiny


class SearchExplorer(Panel):
    """Search the fibre of a network from many starts, and see where they end.

    Left, every start: how far from the given weights it ended, and how far from their function. Right, the
    other weights that were found, and below which kinds of start led where.

    Controls: see `SearchSetting`; `study_search` of the same setting has the starts one by one, with all
    weights: `study_search(SearchSetting("rank-one", 30)).search.to_csv(path)`.

    >>> panel = SearchExplorer()
    >>> "values and keys swapped" in panel.description
    True
    """

    title = "Attack it: search for another set of weights"
    setting, _answer = SearchSetting, staticmethod(study_search)
    draw = staticmethod(search_parts)

    def _badge(self, answer: SearchStudy) -> str:
        search, case = answer.search, answer.case
        found = f"{search.verified} of {search.starts} starts verified"
        return theme.badge("float", found) + theme.badge(case.status, case.source)

    def _describe(self, answer: SearchStudy) -> str:
        architecture = f"{str(answer.case.arch).capitalize()}."
        said = [architecture, answer.search.note, _say_known(answer), _say_limits(answer)]
        return " ".join(filter(None, said))


def _say_known(study: SearchStudy) -> str:
    case, found, said = study.case, len(study.search.classes), f"Theory says: {study.case.known}"
    if case.points is not None and (found > case.points or study.search.continuum):
        return f"{said} They DISAGREE."
    if case.points is not None and 0 < found < case.points:
        return f"{said} These starts did not find all."
    return said


def _say_limits(study: SearchStudy) -> str:
    """What a reader may conclude."""
    search = study.search
    if not search.verified:
        return "Take more starts, or starts nearer to the given weights."
    if search.continuum and not search.classes:
        return ""
    if not search.others:
        return "A search can refute that there is one point, and cannot prove it."
    apart = max(point.residual for point in search.classes)
    return f"The outputs at the points found differ by at most {tiny(apart)}, relative to their size."
