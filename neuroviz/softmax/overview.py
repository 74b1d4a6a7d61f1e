"""What the figure of the two kinds of attention shows: results, put together and nothing computed."""

from dataclasses import dataclass
from math import isfinite

from neuroviz.certificate.certificate import ROUTES
from neuroviz.engine.architecture import Architecture
from neuroviz.engine.formulas import Expected
from neuroviz.engine.ledger import KernelLedger
from neuroviz.engine.measure import Measurement
from neuroviz.softmax.known import StatusBoard


@dataclass(frozen=True)
class SoftmaxSetting:
    """One network in both kinds of attention.

    Attributes:
        widths, head_dims, tokens: as in `Architecture`.
        temperature: τ of the float spectra, above 0.
        route: by which of `certificate.ROUTES` the dimension is to be confirmed.
        seed: what networks and inputs are drawn from.

    Raises:
        ValueError: if the temperature is not above 0 and finite, the route is unknown, or a size is wrong.
    """

    widths: tuple[int, ...] = (4, 4, 4)
    head_dims: tuple[int, ...] = (2, 2)
    tokens: int = 3
    temperature: float = 1.0
    route: str = "theorem"
    seed: int = 0

    def __post_init__(self) -> None:
        self.arch("softmax")
        if self.route not in ROUTES:
            raise ValueError(f"route must be one of {', '.join(map(repr, ROUTES))}; got {self.route!r}")
        if not (isfinite(self.temperature) and self.temperature > 0):
            raise ValueError(f"a temperature is a finite number above 0; got {self.temperature!r}")

    def arch(self, attention: str) -> Architecture:
        """The network with one kind of attention."""
        return Architecture(self.widths, self.head_dims, self.tokens, attention)


@dataclass(frozen=True)
class Side:
    """All that is measured and known of one kind of attention.

    Attributes:
        arch: the network.
        exact, expected, ledger: its dimension, measured and by theory, and where the other parameters go.
        spectrum: in floating point, at the temperature of the setting; None where the matrix is too large.
        board: what is known.
        refusal: why the chosen route proves nothing here; "" where it does.
    """

    arch: Architecture
    exact: Measurement
    expected: Expected
    ledger: KernelLedger
    spectrum: Measurement | None
    board: StatusBoard
    refusal: str = ""

    @property
    def split(self) -> tuple[float, float] | None:
        """σ_r and σ_{r+1} at the exact rank r; None without a spectrum, or where nothing is dropped."""
        if self.spectrum is None or self.exact.value >= len(self.spectrum.singular_values):
            return None
        kept, dropped = self.spectrum.singular_values[self.exact.value - 1 : self.exact.value + 1]
        return float(kept), float(dropped)


@dataclass(frozen=True)
class SoftmaxStudy:
    """A network as lightning and as softmax."""

    setting: SoftmaxSetting
    lightning: Side
    softmax: Side

    @property
    def difference(self) -> int:
        """How many dimensions softmax has more: l, where every layer is seen in full."""
        return self.softmax.exact.value - self.lightning.exact.value
