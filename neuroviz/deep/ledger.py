"""Where the parameters of one network go: numbers only, no picture."""

from dataclasses import dataclass, field

from neuroviz.attention import Architecture
from neuroviz.attention.architecture import ATTENTION_KINDS
from neuroviz.attention.expected import Expected
from neuroviz.attention.formulas import expected_dimension, paper_formula
from neuroviz.attention.ledger import KernelLedger
from neuroviz.kit.controls import typed_head_dims, typed_widths
from neuroviz.kit.measured import kernel_ledger, measure_dimension
from neuroviz.kit.settings import QUICK_MILLISECONDS, choice, seed, text, whole
from neuroviz.rank.point import num_parameters
from neuroviz.rank.results import Measurement

MAX_WIDTH = 8
MAX_HEAD = 8
MAX_TOKENS = 6
MAX_LAYERS = 6
_CLEAR = ", or clear the box to use the"
# The controls that the scene moves by dragging.
PLACE = (
    "width",
    "width_out",
    "head_dim",
    "tokens",
    "layers",
    "kind",
    "widths",
    "head_dims",
)
FAMILIES = ("head bases", "interfaces", "rescalings")
"""The families of a ledger, in order."""


@dataclass(frozen=True)
class LedgerSetting:
    """A network: widths d, …, d, d′ and equal head dimensions, or what is typed.

    d′ = 0 stands for d: then one slider changes all widths.
    """

    width: int = whole("width d", 4, 1, MAX_WIDTH)
    width_out: int = whole("d′ (0: as d)", 0, 0, MAX_WIDTH)
    head_dim: int = whole("head dimension a", 2, 1, MAX_HEAD)
    tokens: int = whole("tokens t", 3, 1, MAX_TOKENS)
    layers: int = whole("layers l", 2, 1, MAX_LAYERS)
    kind: str = choice("attention", ATTENTION_KINDS)
    widths: str = text("widths", placeholder="such as 4,3,5")
    head_dims: str = text("a per layer", placeholder="such as 2,1")
    seed: int = seed()

    def __post_init__(self) -> None:
        _ = self.arch  # an impossible network raises here

    @property
    def arch(self) -> Architecture:
        """The network."""
        widths = (self.width,) * self.layers + (self.width_out or self.width,)
        if typed := self.widths.strip():
            widths = typed_widths(
                typed, "4,3,5", MAX_WIDTH, MAX_LAYERS, f"{_CLEAR} sliders"
            )
        layers = len(widths) - 1
        head_dims = (self.head_dim,) * layers
        if typed := self.head_dims.strip():
            head_dims = typed_head_dims(
                typed, "2,1", MAX_HEAD, layers, f"{_CLEAR} slider a"
            )
        return Architecture(widths, head_dims, self.tokens, self.kind)

    @property
    def is_slow(self) -> bool:
        """Whether the study takes more than 250 ms on a laptop-like core, estimated
        from the sizes alone."""
        arch = self.arch
        # Milliseconds: a constant, and a part that grows as the square of the columns.
        on_the_slice = 1 + 3e-4 * num_parameters(arch.slice()) ** 2
        if arch.tokens == 1:
            on_the_slice *= 2  # no rank is full, so it is measured at two points
        over_all = 10 + 8e-4 * arch.num_parameters**2
        return over_all + on_the_slice > QUICK_MILLISECONDS


@dataclass(frozen=True)
class LedgerStudy:
    """Everything the picture of the ledger shows.

    Attributes:
        ledger: where the parameters of the network go.
        exact: its dimension measured a second time, across the orbits of the
            symmetries.
        expected, paper: what theory says; what the paper's formula says, applicable or
            not.
        place: the controls that say which network it is.
    """

    ledger: KernelLedger
    exact: Measurement
    expected: Expected
    paper: Expected
    place: dict[str, object] = field(default_factory=dict)


def study_ledger(setting: LedgerSetting) -> LedgerStudy:
    """Measure everything that the picture of one network shows."""
    arch = setting.arch
    return LedgerStudy(
        ledger=kernel_ledger(arch, setting.seed),
        exact=measure_dimension(arch, seed=setting.seed),
        expected=expected_dimension(arch),
        paper=paper_formula(arch),
        place={name: getattr(setting, name) for name in PLACE},
    )


def parts_of(ledger: KernelLedger, family: str) -> tuple[int, ...]:
    """What a family costs, layer by layer; nothing where there is none of it.

    >>> ledger = kernel_ledger(Architecture((3, 3), (2,), attention="softmax"))
    >>> [parts_of(ledger, family) for family in FAMILIES]
    [(4,), (), ()]
    """
    return ledger.parts.get(family, ())
