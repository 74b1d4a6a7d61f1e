"""Where the paper's dimension formula stops, which hypothesis fails there, and what
happens to the tokens."""

from neuroviz.attention.formulas import general_formula
from neuroviz.deep.dimension import agreement, paper_name
from neuroviz.deep.hypotheses import (
    HypothesesSetting,
    HypothesesStudy,
    study_hypotheses,
)
from neuroviz.deep.hypotheses_facts import hypotheses_picture
from neuroviz.kit.badges import badge, measured_badge, theory_badge
from neuroviz.kit.panel import Panel
from neuroviz.kit.reasons import of_a_formula
from neuroviz.kit.words import in_two_lines


class HypothesesExplorer(Panel):
    """Where Eq. 14 fails for two layers, and why.

    Left, measured minus formula over the head dimensions or over the widths: a cell
    that is clicked moves the controls to its network and plays its film: the tokens,
    what a layer sees of its A, and the bar that goes from Eq. 14 to the exact rank.
    Until then, at the right, the angles between the tokens of a random network, layer
    by layer: they are 0 after a layer of rank one.

    Controls: a₁, a₂, inner width δ, outer widths, attention, what the map is over;
    under "More": t, seed. See `Panel`.

    >>> panel = HypothesesExplorer(state="head_1=1")
    >>> "A₁ has rank one" in panel.description
    True
    """

    title = "Put the formula to the test"
    setting = HypothesesSetting
    _answer = staticmethod(study_hypotheses)
    draw = staticmethod(hypotheses_picture)

    def _badge(self, answer: HypothesesStudy) -> str:
        measured = answer.measured
        paper = answer.paper
        badges = measured_badge(measured, answer.arch)
        if paper.status == "outside hypotheses":
            badges += badge(
                "outside hypotheses",
                f"{paper_name(paper)}: {paper.value}",
                of_a_formula(paper, answer.arch),
            )
        return badges + theory_badge(answer.expected, measured.value, answer.arch)

    def _describe(self, answer: HypothesesStudy) -> str:
        measured = answer.measured.value
        expected = answer.expected
        paper = answer.paper
        name = paper_name(paper)
        off = "right"
        if measured != paper.value:
            off = f"off by {measured - paper.value:+d}".replace("-", "−")
        why = ""
        if paper.status == "outside hypotheses":
            note = general_formula(answer.arch).note
            why = f": {note}".replace("the general formula", "it")
        said = (
            f"{answer.arch}: dimension {measured}, measured exactly; {name} says"
            f" {paper.value}, {off}."
        )
        general = f"The general formula {agreement(expected, measured)}{why}."
        in_map = (
            f"In the map {name} is off in {len(answer.off)} of {len(answer.cells)}"
            " networks."
        )
        return in_two_lines([said, general, in_map], spare=[in_map])
