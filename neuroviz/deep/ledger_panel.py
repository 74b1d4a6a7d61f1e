"""Where the parameters of a network go: what each family of symmetries costs, and what remains."""

from dataclasses import dataclass

from neuroviz.deep.dimension import paper_name, would_mislead
from neuroviz.deep.ledger_figure import FAMILIES, LedgerStudy, ledger_parts
from neuroviz.engine.architecture import ATTENTION_KINDS, Architecture
from neuroviz.engine.formulas import expected_dimension, paper_formula
from neuroviz.engine.ledger import KernelLedger, kernel_ledger
from neuroviz.engine.measure import Measurement, measure_dimension
from neuroviz.engine.orbit_slice import gauge_slice
from neuroviz.kit.badges import measured_badge, theory_badge
from neuroviz.kit.controls import typed_head_dims, typed_widths
from neuroviz.kit.panel import Panel
from neuroviz.kit.settings import choice, seed, text, whole

MAX_WIDTH, MAX_HEAD, MAX_TOKENS, MAX_LAYERS = 8, 8, 6, 6
_QUICK_MILLISECONDS = 250


@dataclass(frozen=True)
class LedgerSetting:
    """A network: widths d, …, d, d′ and equal head dimensions, or what is typed."""

    width: int = whole("width d", 4, 1, MAX_WIDTH)
    width_out: int = whole("output width d′", 4, 1, MAX_WIDTH)
    head_dim: int = whole("head dimension a", 2, 1, MAX_HEAD)
    tokens: int = whole("tokens t", 3, 1, MAX_TOKENS)
    layers: int = whole("layers l", 2, 1, MAX_LAYERS)
    kind: str = choice("attention", ATTENTION_KINDS)
    widths: str = text("widths", placeholder="such as 4,3,5")
    head_dims: str = text("a per layer", placeholder="such as 2,1")
    seed: int = seed()

    def __post_init__(self) -> None:
        _ = self.arch  # refuses what makes no network

    @property
    def arch(self) -> Architecture:
        """The network."""
        widths = (self.width,) * self.layers + (self.width_out,)
        if typed := self.widths.strip():
            widths = typed_widths(
                typed, "4,3,5", MAX_WIDTH, MAX_LAYERS, ", or clear the box to use the sliders"
            )
        layers = len(widths) - 1
        head_dims = (self.head_dim,) * layers
        if typed := self.head_dims.strip():
            head_dims = typed_head_dims(
                typed, "2,1", MAX_HEAD, layers, ", or clear the box to use the slider a"
            )
        return Architecture(widths, head_dims, self.tokens, self.kind)

    @property
    def is_slow(self) -> bool:
        """From sizes alone, so that it never depends on the machine; milliseconds on a laptop-like core."""
        arch = self.arch
        once_more = 1 + 3e-4 * gauge_slice(arch).num_free ** 2
        # With one token no rank is full, so it is measured at two points.
        once_more *= 2 if arch.tokens == 1 else 1
        return 10 + 8e-4 * arch.num_parameters**2 + once_more > _QUICK_MILLISECONDS


def study_ledger(setting: LedgerSetting) -> LedgerStudy:
    """Measure everything that the figure of one network shows."""
    arch = setting.arch
    return LedgerStudy(
        ledger=kernel_ledger(arch, setting.seed),
        exact=measure_dimension(arch, seed=setting.seed),
        expected=expected_dimension(arch),
        paper=paper_formula(arch),
    )


class LedgerExplorer(Panel):
    """Where the parameters of an attention network go: less each family of symmetries, the dimension.

    Controls: d (input and inner widths), d′, a, t, layers, kind; under "More": widths (such as 4,3,5,
    instead of d, d′ and layers), a per layer (such as 2,1), seed. See `Panel` for what panels share.

    >>> panel = LedgerExplorer()
    >>> panel.controls["layers"].value = 3
    >>> panel.description.split(",")[0]
    'lightning 4→4→4→4'
    """

    title = "Where do the parameters go?"
    setting = LedgerSetting

    def _arrange(self) -> None:
        for name in ("width", "width_out", "layers"):
            self.controls[name].disabled = bool(self.controls["widths"].value.strip())
        self.controls["head_dim"].disabled = bool(self.controls["head_dims"].value.strip())

    _answer = staticmethod(study_ledger)

    draw = staticmethod(ledger_parts)

    def _badge(self, answer: LedgerStudy) -> str:
        return measured_badge(answer.ledger.measured) + theory_badge(answer.expected, answer.ledger.dimension)

    def _describe(self, answer: LedgerStudy) -> str:
        return f"{_say_ledger(answer.ledger, answer.exact)} {_say_theory(answer)}"


def _say_ledger(ledger: KernelLedger, exact: Measurement) -> str:
    costs = ", ".join(f"{name} {_sum(ledger.parts[name])}" for name in FAMILIES if ledger.parts.get(name))
    idle, n = ledger.parameters - ledger.dimension, ledger.dimension
    rest = (
        f"{ledger.unexplained} unexplained: {ledger.note}"
        if ledger.unexplained
        else "nothing is left unexplained"
    )
    return (
        f"{ledger.arch}: of {ledger.parameters} parameters {idle} do nothing ({costs}; {rest}). "
        f"{n} dimension{'s remain' if n != 1 else ' remains'} (exact, {_how_sure(ledger, exact)})."
    )


def _how_sure(ledger: KernelLedger, exact: Measurement) -> str:
    """The second measurement, across the orbits of the symmetries, is a proof where it has full rank."""
    if exact.value != ledger.dimension:
        return f"but a second measurement, across the orbits, finds {exact.value}: they DISAGREE"
    if exact.error_bound == 0:
        return "full rank across the orbits of these symmetries, a proof"
    return f"wrong with chance ≤ {ledger.error_bound:.0e}"


def _sum(parts: tuple[int, ...]) -> str:
    if len(parts) < 2:
        return str(sum(parts))
    equal = len(parts) > 2 and len(set(parts)) == 1
    return f"{f'{len(parts)} × {parts[0]}' if equal else ' + '.join(map(str, parts))} = {sum(parts)}"


def _say_theory(answer: LedgerStudy) -> str:
    expected, paper = answer.expected, answer.paper
    if expected.value is None:
        return "No formula is known."
    agrees = expected.value == answer.ledger.dimension
    verdict = "agrees" if agrees else f"says {expected.value}: they DISAGREE"
    instead = f" {paper_name(paper)} would say {paper.value}." if would_mislead(paper, expected) else ""
    return f"Theory {verdict}: {expected.source}, {expected.status}; {expected.note}.{instead}"
