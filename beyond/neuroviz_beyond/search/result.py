"""What a search of a fibre found: where each start ended, which points there are, and
words for it."""

from dataclasses import dataclass

from neuroviz.attention.symmetry import VirtualWeights
from neuroviz.kit.words import signed, tiny
from neuroviz.rank.results import counted
from neuroviz_beyond.search.equivalent_weights import RESCALED, SAME
from neuroviz_beyond.transformers import Transformer


@dataclass(frozen=True, eq=False)
class StartOutcome:
    """How one start ended.

    Attributes:
        kind: of `initial_guesses.KINDS`.
        virtual: the virtual weights at the end, or what stands for them
            (`equivalent_weights.comparable`).
        verified: whether they agree on fresh inputs up to 1e−8.
        residual: the largest ‖φ′(X) − φ(X)‖ / ‖φ(X)‖ over 100 fresh inputs X.
        distance: `equivalent_weights.distance` from the weights that were given.
        point: which of the classes it belongs to; None where it is none, or part of a
            continuum.
    """

    kind: str
    virtual: VirtualWeights
    verified: bool
    residual: float
    distance: float
    point: int | None


@dataclass(frozen=True, eq=False)
class FiberPoint:
    """A point of the fibre that starts ended in; for lightning a class modulo
    rescaling.

    Attributes:
        virtual: its virtual weights; for lightning with all ‖M_i‖ = 1.
        found: how many starts ended here.
        radius: how far apart they ended, at most, from `virtual`.
        distance: from the weights that were given, as in `StartOutcome`.
        residual: of `virtual` on fresh inputs.
        sigma_min: the smallest singular value of the derivative of φ/‖φ‖ in θ/‖θ‖,
            along the virtual weights of the architecture, rescalings left out.
        kernel: how many of these singular values are 0: 0 at a point that is isolated
            to first order.
        symmetry: what leads from the given weights to here, of `equivalent_weights`, or
            "unexplained".
    """

    virtual: VirtualWeights
    found: int
    radius: float
    distance: float
    residual: float
    sigma_min: float
    kernel: int
    symmetry: str

    @property
    def is_given(self) -> bool:
        """Whether it is the point that was given, up to rescaling."""
        return self.symmetry in (SAME, RESCALED)


@dataclass(frozen=True, eq=False)
class Continuum:
    """Verified solutions that are not isolated, and differ.

    Attributes:
        found: how many starts ended in one.
        kernel: the dimension of the kernel of the derivative there, rescalings left
            out: lowest, highest.
        farthest: the largest distance from the weights that were given.
        example: one of them.
    """

    found: int
    kernel: tuple[int, int]
    farthest: float
    example: VirtualWeights


@dataclass(frozen=True, eq=False)
class FiberSearch:
    """What a search found.

    Attributes:
        arch, target, seed: what was searched: the virtual weights of the network that
            was given.
        outcomes: one for each start.
        classes: the points that were found, the most often found first.
        continuum: solutions that are no points, or None.
        sigma_min, kernel: at the given weights, as in `FiberPoint`.
    """

    arch: Transformer
    target: VirtualWeights
    seed: int
    outcomes: tuple[StartOutcome, ...]
    classes: tuple[FiberPoint, ...]
    continuum: Continuum | None
    sigma_min: float
    kernel: int

    @property
    def starts(self) -> int:
        """How many starts were done."""
        return len(self.outcomes)

    @property
    def verified(self) -> int:
        """How many agree on fresh inputs."""
        return sum(outcome.verified for outcome in self.outcomes)

    @property
    def others(self) -> tuple[FiberPoint, ...]:
        """The classes but for that of the weights that were given."""
        return tuple(point for point in self.classes if not point.is_given)

    @property
    def note(self) -> str:
        """What was found, in a sentence that claims no more."""
        done = counted(self.starts, "start")
        if not self.verified:
            return f"{done}, none verified on fresh inputs: no information."
        said = [f"{done}, {self.verified} verified on fresh inputs"]
        if self.continuum:
            low, high = self.continuum.kernel
            kernel = f"{low}" if low == high else f"{low} to {high}"
            isolated = (
                "none"
                if self.continuum.found == self.verified
                else f"{self.continuum.found} not"
            )
            away = (
                f"up to {self.continuum.farthest:.2g} away from the weights given, and"
                " the derivative has a"
            )
            said.append(
                f"{isolated} isolated: they are {away} kernel of dimension {kernel}"
                " there"
            )
        modulo = " modulo rescaling" if self.arch.attention == "lightning" else ""
        if len(self.classes) == 1:
            (point,) = self.classes
            every = "all" if point.found == self.verified else f"{point.found}"
            known = "" if point.is_given else f", {point.symmetry}"
            least = point.sigma_min
            sigma = tiny(least) if least < 0.01 else signed(least, 2)
            said.append(
                f"{every} within {tiny(point.radius)} of one point{modulo}{known}"
                f", σ_min = {sigma}"
            )
        elif self.classes:
            each = ", ".join(
                f"{point.symmetry}: {point.found}" for point in self.classes
            )
            said.append(f"{len(self.classes)} classes{modulo} ({each})")
        return "; ".join(said) + "."
