"""Where the paper's dimension formula stops, which hypothesis fails there, and what happens to the tokens."""

from neuroviz.deep.dimension import agreement, paper_name
from neuroviz.deep.hypotheses import HypothesesSetting, HypothesesStudy, study_hypotheses
from neuroviz.deep.hypotheses_figure import hypotheses_parts
from neuroviz.kit import theme
from neuroviz.kit.badges import measured_badge, theory_badge
from neuroviz.kit.panel import Panel


class HypothesesExplorer(Panel):
    """Where Eq. 14 stops to hold for two layers, and why.

    Left, measured minus formula over the head dimensions or over the widths; right, the angles between the
    tokens of a random network, layer by layer: they are 0 after a layer of rank one.

    Controls: a₁, a₂, inner width δ, outer widths, t, attention, what the map is over; under "More": seed.
    See `Panel`.

    >>> panel = HypothesesExplorer(state="head_1=1")
    >>> "A₁ has rank one" in panel.description
    True
    """

    title, setting = "Where the formula stops", HypothesesSetting
    _answer, draw = staticmethod(study_hypotheses), staticmethod(hypotheses_parts)

    def _badge(self, answer: HypothesesStudy) -> str:
        measured, paper = answer.measured, answer.paper
        badges = measured_badge(measured)
        if paper.status == "outside hypotheses":
            badges += theme.badge("outside hypotheses", f"{paper_name(paper)}: {paper.value}")
        return badges + theory_badge(answer.expected, measured.value)

    def _describe(self, answer: HypothesesStudy) -> str:
        arch, measured, expected, paper = answer.arch, answer.measured, answer.expected, answer.paper
        off = measured.value - paper.value
        verdict = f"off by {off:+d}".replace("-", "−") if off else "right"
        parts = [
            f"{arch}: {measured.value} dimensions, measured exactly; {paper_name(paper)} says {paper.value}, "
            f"{verdict}.",
            f"The general formula {agreement(expected, measured.value)}: {expected.note}.",
            f"Over the {dict(heads='head dimensions').get(answer.over, answer.over)} {paper_name(paper)} is "
            f"off in {len(answer.off)} of {len(answer.cells)} networks.",
        ]
        if answer.collapsed and "parallel" not in expected.note:
            parts.append(f"After layer {answer.collapsed} all tokens of the network drawn here are parallel.")
        return " ".join(parts)
