"""Where the parameters of a network go: what each family of symmetries costs, and what
remains."""

from neuroviz.attention.ledger import KernelLedger
from neuroviz.deep.dimension import paper_name, say_theory, would_mislead
from neuroviz.deep.ledger import (
    FAMILIES,
    LedgerSetting,
    LedgerStudy,
    parts_of,
    study_ledger,
)
from neuroviz.deep.ledger_facts import ledger_picture
from neuroviz.kit.badges import measured_badge, theory_badge
from neuroviz.kit.panel import Panel
from neuroviz.kit.words import at_most, in_two_lines
from neuroviz.rank.results import Measurement


class LedgerExplorer(Panel):
    """Where the parameters of a network go: all of them, minus each family of
    symmetries, is the dimension.

    Controls: d (input and inner widths), d′, a, t, layers, kind; under "More": widths
    (such as 4,3,5, instead of d, d′ and layers), a per layer (such as 2,1), seed. See
    `Panel` for what panels share.

    >>> panel = LedgerExplorer()
    >>> panel.controls["layers"].value = 3
    >>> panel.description.split(",")[0]
    'lightning 4→4→4→4'
    """

    title = "Where do the parameters go?"
    setting = LedgerSetting
    _answer = staticmethod(study_ledger)
    draw = staticmethod(ledger_picture)

    def _arrange(self) -> None:
        has_widths = bool(self.controls["widths"].value.strip())
        for name in ("width", "width_out", "layers"):
            self.controls[name].disabled = has_widths
        has_head_dims = bool(self.controls["head_dims"].value.strip())
        self.controls["head_dim"].disabled = has_head_dims

    def _badge(self, answer: LedgerStudy) -> str:
        net = answer.ledger.network
        return measured_badge(answer.ledger.measured, net) + theory_badge(
            answer.expected, answer.ledger.dimension, net
        )

    def _describe(self, answer: LedgerStudy) -> str:
        theory = say_theory(answer.expected, answer.ledger.dimension)
        said = [_say_ledger(answer.ledger, answer.exact), theory]
        paper = answer.paper
        if would_mislead(paper, answer.expected):
            said.append(f"{paper_name(paper)} would say {paper.value}.")
        return in_two_lines(said, spare=[theory])


def _say_ledger(ledger: KernelLedger, exact: Measurement) -> str:
    costs = []
    for name in FAMILIES:
        parts = parts_of(ledger, name)
        if parts:
            costs.append(f"{name} {sum(parts)}")
    if ledger.unexplained:
        costs.append(f"the rest {ledger.unexplained}: {ledger.note}")
    idle = ledger.parameters - ledger.dimension
    silent = "direction is" if idle == 1 else "directions are"
    remain = "dimension remains" if ledger.dimension == 1 else "dimensions remain"
    return (
        f"{ledger.network}: of {ledger.parameters} parameters {idle} {silent} silent "
        f"({', '.join(costs)}). {ledger.dimension} {remain} "
        f"(exact{_how_sure(ledger, exact)})."
    )


def _how_sure(ledger: KernelLedger, exact: Measurement) -> str:
    """The second measurement, across the orbits of the symmetries, is a proof where it
    has full rank."""
    if exact.value != ledger.dimension:
        return (
            f", but a second measurement, across the orbits, finds {exact.value}: they"
            " DISAGREE"
        )
    if exact.error_bound:
        # The number shown is the count over all parameters; this is its own bound.
        return f", wrong with chance ≤ {at_most(ledger.error_bound)}"
    return ", with a proof"
