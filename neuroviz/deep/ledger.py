"""Where the parameters of one network go: numbers only, no picture."""

from dataclasses import dataclass, field

from neuroviz.attention.architecture import ATTENTION_KINDS
from neuroviz.attention.expected import Expected
from neuroviz.attention.formulas import paper_formula
from neuroviz.engine.architecture import Architecture
from neuroviz.engine.formulas import expected_dimension
from neuroviz.engine.gauge_slice import num_columns
from neuroviz.engine.ledger import KernelLedger, kernel_ledger
from neuroviz.engine.measure import Measurement, measure_dimension
from neuroviz.kit.controls import typed_head_dims, typed_widths
from neuroviz.kit.settings import choice, seed, text, whole

MAX_WIDTH, MAX_HEAD, MAX_HEADS, MAX_TOKENS, MAX_LAYERS = 8, 8, 4, 6, 6
_QUICK_MILLISECONDS = 250
_CLEAR = ", or clear the box to use the"
# The controls that the scene moves by dragging.
PLACE = (
    "width",
    "width_out",
    "head_dim",
    "heads",
    "tokens",
    "layers",
    "kind",
    "widths",
    "head_dims",
)
FAMILIES = {
    "head bases": "bases of keys and queries",
    "interfaces": "bases between layers",
    "rescalings": "heads that blend",
}
"""Each family, and the name of what several heads have in its place, or beside it."""


@dataclass(frozen=True)
class LedgerSetting:
    """A network: widths d, …, d, d′, equal head dimensions, or what is typed; H heads
    in each layer."""

    width: int = whole("width d", 4, 1, MAX_WIDTH)
    width_out: int = whole("output width d′", 4, 1, MAX_WIDTH)
    head_dim: int = whole("head dimension a", 2, 1, MAX_HEAD)
    heads: int = whole("heads H", 1, 1, MAX_HEADS, more=True)
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
        widths = (self.width,) * self.layers + (self.width_out,)
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
        return Architecture(widths, head_dims, self.tokens, self.kind, heads=self.heads)

    @property
    def is_slow(self) -> bool:
        """Whether the study takes more than 250 ms on a laptop-like core, estimated
        from the sizes alone."""
        arch = self.arch
        # With one token no rank is full, so it is measured at two points.
        once_more = (1 + 3e-4 * num_columns(arch) ** 2) * (2 if arch.tokens == 1 else 1)
        return 10 + 8e-4 * arch.num_parameters**2 + once_more > _QUICK_MILLISECONDS


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
    arch, seed = setting.arch, setting.seed
    measured, expected = measure_dimension(arch, seed=seed), expected_dimension(arch)
    paper = paper_formula(arch) if arch.is_plain else expected
    place = {name: getattr(setting, name) for name in PLACE}
    return LedgerStudy(kernel_ledger(arch, seed), measured, expected, paper, place)


def parts_of(ledger: KernelLedger, family: str) -> tuple[int, ...]:
    """What a family costs, layer by layer; nothing where there is none of it.

    >>> ledger = kernel_ledger(Architecture((3, 3), (2,), heads=3))
    >>> [parts_of(ledger, family) for family in FAMILIES]
    [(12,), (), (6,)]
    """
    return tuple(
        map(
            sum,
            zip(
                *filter(None, map(ledger.parts.get, (family, FAMILIES[family]))),
                strict=True,
            ),
        )
    )
