"""Theorem A as experiments: free the exponentials, freeze layers, and count what the
weights still hide.

A silent direction of the virtual weights is silent in every experiment. "All frozen"
shows the whole of L˙, "all frozen but layer i" the whole of M˙_i: so nothing is left.
Each experiment is run here with its exact rank over F_p; where a hypothesis fails (L =
0, or an antisymmetric M_k, whose exponentials are tied by PQ = 1), an experiment that
the proof needs shows nothing or cannot be made, and the kernel is counted.
"""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from neuroviz.attention import Architecture
from neuroviz.attention.conditioned import conditioned_weights
from neuroviz.attention.layers import by_layer
from neuroviz.attention.symmetry import VirtualWeights
from neuroviz.rank.elimination import exact_rank, is_for_flint
from neuroviz.rank.exact import schwartz_zippel
from neuroviz.rank.field import DEFAULT_PRIME, PrimeField, Reals
from neuroviz.rank.results import ExactMeasurement, Measurement
from neuroviz.softmax.two_tokens import (
    Shares,
    along_line,
    follow,
    free_jacobian,
    softmax_shares,
)

MODES = {
    "true": "as it is",
    "free": "free",
    "frozen": "frozen",
    "collapsed": "tokens meet",
}
"""What happens to the exponentials of a layer, and its word."""
MOST_LAYERS = 4
Pattern = str | tuple[Fraction, Fraction]
"""What a layer's (μ, ν) are, over F_p: "free" (anything), "tied" (PQ = 1; under a mask
Q = 1), or numbers."""
_SPARE_ROWS = 2  # for rows that add nothing by bad luck ("How many inputs")
_SMALL = 1e-9  # tokens have met when their distance has shrunk below this share
_NEAR = 0.6  # scales the drawn tokens; tokens farther apart hardly see each other
_STILL = (Fraction(0), Fraction(0))


@dataclass(frozen=True)
class ImmersionSetting:
    """A network on two tokens, and what the reader does to the exponentials of each
    layer.

    Attributes:
        modes: for each of the l layers "true" (the exponentials of its logits), "free"
            (those of `freed`), "frozen" (P = Q = 0) or "collapsed" (PQ = 1).
        freed: for each layer (μ, ν), from 0 to 1: used where the mode is "free".
        width: d₀, and the number of rows of L, from 1 to 3.
        causal: whether token 1 sees itself only (Theorem A′).
        weak_layer, symmetric: the symmetric part of M_k, of the weak layer k, is
            multiplied by this, from 0 to 1; under a mask the whole of M_k is. Where k >
            l there is no such layer.
        size: L is multiplied by this, from 0 to 1.
        inputs: where the tokens start on their line, from 0 at x_1 to 1 at x_2.
        seed: what the random weights and tokens are drawn from.

    Raises:
        ValueError: if one of them is none of the above.
    """

    modes: tuple[str, ...] = ("true", "true")
    freed: tuple[tuple[float, float], ...] = ((0.3, 0.3), (0.3, 0.3))
    width: int = 2
    causal: bool = False
    weak_layer: int = 1
    symmetric: float = 1.0
    size: float = 1.0
    inputs: tuple[float, float] = (0.0, 1.0)
    seed: int = 0

    def __post_init__(self) -> None:
        is_depth = 1 <= len(self.modes) <= MOST_LAYERS
        if not is_depth or len(self.freed) != len(self.modes):
            raise ValueError(
                f"modes and freed have one entry for each of 1 to {MOST_LAYERS} layers;"
                f" got {len(self.modes)} and {len(self.freed)}"
            )
        for mode in self.modes:
            if mode not in MODES:
                raise ValueError(
                    f"a mode is one of {', '.join(map(repr, MODES))}; got {mode!r}"
                )
        numbers = [self.symmetric, self.size, *self.inputs]
        for pair in self.freed:
            numbers += pair
        if not all(0 <= number <= 1 for number in numbers):
            raise ValueError(
                f"shares, symmetric, size and inputs are between 0 and 1; got {numbers}"
            )
        if self.width not in (1, 2, 3):
            raise ValueError(f"width must be 1, 2 or 3; got {self.width!r}")
        if self.weak_layer not in range(1, MOST_LAYERS + 1):
            raise ValueError(
                f"weak_layer is from 1 to {MOST_LAYERS}; got {self.weak_layer!r}"
            )

    @property
    def layers(self) -> int:
        """l."""
        return len(self.modes)

    @property
    def tied_layer(self) -> int | None:
        """The layer whose exponentials satisfy a relation, so that nobody may free
        them.

        Sym M_k = 0 makes p + q = 0, so PQ = 1. Under a mask only M_k = 0 does it: Q =
        1.
        """
        if self.symmetric == 0 and self.weak_layer <= self.layers:
            return self.weak_layer
        return None

    @property
    def holds(self) -> bool:
        """Whether the hypotheses of Theorem A (A′) hold: L ≠ 0, and no layer is
        tied."""
        return self.size > 0 and self.tied_layer is None


@dataclass(frozen=True)
class Hidden:
    """What experiments leave hidden of the weights.

    Attributes:
        measured: the exact rank of these experiments in (L, M_1, …, M_l).
        blocks: for L, M_1, …, M_l, how many directions of this matrix alone are silent;
            exact, mod p.
    """

    measured: Measurement
    blocks: tuple[int, ...]

    @property
    def kernel(self) -> int:
        """The number of silent directions."""
        return self.measured.kernel

    @property
    def mixed(self) -> int:
        """The number of silent directions beyond those that move one matrix only."""
        return self.kernel - sum(self.blocks)


@dataclass(frozen=True)
class Experiment:
    """What the derivative shows when exponentials are set to certain values.

    Attributes:
        free_layer: the one layer that is not frozen; None where all are.
        possible: whether the relations between the exponentials allow it.
        so_far: what all experiments up to this one leave hidden.
    """

    free_layer: int | None
    possible: bool
    so_far: Hidden


@dataclass(frozen=True, eq=False)
class ImmersionStudy:
    """Two tokens on their way through the layers, and which directions of the weights
    are silent.

    Attributes:
        setting: as given.
        places: of the tokens, as fractions of the way from x_1 (0) to x_2 (1): rows
            X_0, …, X_l.
        given: the shares, layer by layer; where they are tied, the true ones.
        here: what the exponentials that are set leave hidden: all X, these P and Q (in
            the mode "true": all P and Q).
        experiments: those of the proof, in its order.
        everything: what all exponentials, as free as they are, leave hidden: the kernel
            of the derivative itself, by Ax's theorem.
        forms: what the logits of each layer are on the line of the tokens: see
            `along_line`.
        place: control → value, of those that set the exponentials.
    """

    setting: ImmersionSetting
    places: np.ndarray
    given: tuple[Shares, ...]
    here: Hidden
    experiments: tuple[Experiment, ...]
    everything: Hidden
    forms: list[list[float]]
    place: dict[str, object] = field(default_factory=dict)

    @property
    def left(self) -> Hidden:
        """What the experiments of the proof leave hidden."""
        return self.experiments[-1].so_far

    @property
    def met_after(self) -> int | None:
        """The first layer after which the tokens are equal, 0 for the input; None if
        they never are."""
        for layer, (one, other) in enumerate(self.places):
            if abs(one - other) < _SMALL:
                return layer
        return None


def study_immersion(setting: ImmersionSetting) -> ImmersionStudy:
    """The experiments of Theorem A (under a mask of Theorem A′), measured.

    >>> study = study_immersion(ImmersionSetting())
    >>> [one.so_far.kernel for one in study.experiments], study.everything.kernel
    ([8, 4, 0], 0)
    >>> study = study_immersion(ImmersionSetting(symmetric=0.0))
    >>> [one.so_far.kernel for one in study.experiments], study.everything.blocks
    ([4, 4, 4], (0, 0, 4))
    """
    virtual, X = real_network(setting)
    given = _set_shares(setting, virtual, X)
    # The ranks depend on this part of a setting only.
    network = replace(
        setting,
        modes=("true",) * setting.layers,
        freed=((0.0, 0.0),) * setting.layers,
        inputs=(0.0, 1.0),
    )
    # Columns of S sum to 1: two numbers on a line go the way of the tokens on theirs.
    places = [row[0] for row in follow(Reals(), given, np.array([setting.inputs]))]
    all_free = _allowed(setting, ("free",) * setting.layers)
    return ImmersionStudy(
        setting=setting,
        places=np.array(places),
        given=tuple(given),
        here=_hidden(network, (_here(setting),)),
        experiments=_experiments(network),
        everything=_hidden(network, (all_free,)),
        forms=along_line(virtual.M, X),
    )


def _allowed(
    setting: ImmersionSetting, wanted: tuple[Pattern, ...]
) -> tuple[Pattern, ...]:
    """The patterns, with a tied layer as its relation demands."""
    found = list(wanted)
    if setting.tied_layer is not None:
        found[setting.tied_layer - 1] = "tied"
    return tuple(found)


def _meeting(setting: ImmersionSetting) -> tuple[Fraction, Fraction]:
    """(μ, ν) for P = Q = 1: the tokens meet at their mean. Under a mask for Q = ∞."""
    if setting.causal:
        return Fraction(0), Fraction(1)
    return Fraction(1, 2), Fraction(1, 2)


def _here(setting: ImmersionSetting) -> tuple[Pattern, ...]:
    """The reader's setting, as patterns."""
    found: list[Pattern] = []
    for mode, (mu, nu) in zip(setting.modes, setting.freed, strict=True):
        if mode == "true":
            found.append("free")
        elif mode == "frozen":
            found.append(_STILL)
        elif mode == "collapsed":
            found.append(_meeting(setting))
        elif setting.causal:
            found.append((Fraction(0), _exactly(nu)))
        else:
            found.append((_exactly(mu), _exactly(nu)))
    return _allowed(setting, tuple(found))


def _set_shares(
    setting: ImmersionSetting, virtual: VirtualWeights, X: np.ndarray
) -> list[Shares]:
    """The reader's setting, as numbers; "true" takes the exponentials of the tokens
    that enter the layer."""
    found: list[Shares] = []
    along = np.array([setting.inputs])
    # Columns (1 − s) x_1 + s x_2, for both places s on the line.
    X = X @ np.concatenate([1 - along, along])
    for i, pattern in enumerate(_here(setting)):
        if pattern in ("free", "tied"):
            mu, nu = softmax_shares(virtual.M[i : i + 1], X, causal=setting.causal)[0]
        else:
            mu, nu = pattern
        given = Shares(float(mu), float(nu))
        found.append(given)
        X = follow(Reals(), [given], X)[-1]
    return found


@lru_cache(maxsize=512)
def _hidden(
    network: ImmersionSetting, experiments: tuple[tuple[Pattern, ...], ...]
) -> Hidden:
    """What experiments, given by their patterns, leave hidden together."""
    over = PrimeField(DEFAULT_PRIME)
    entries = network.width**2  # of each matrix
    virtual = _prime_network(network)
    J = np.concatenate([_rows(network, virtual, patterns) for patterns in experiments])
    columns = J.shape[1]
    # The derivative has M_1, …, M_l, then L.
    *layers, last = np.split(J, columns // entries, axis=1)
    blocks = [entries - exact_rank(block, over) for block in (last, *layers)]
    value = exact_rank(J, over)
    error = 0.0
    if value < columns:
        # The degree in all that is drawn of an entry for M_1, which is the largest: the
        # gradient of X_l has degree 2, that of X_{i−1} has 2i + 3 more than that of
        # X_i, and an entry for M_i has 3i + 2 more than the gradient of X_i.
        degree = network.layers**2 + 4 * network.layers + 2
        error = schwartz_zippel(value, degree, over.p)
    measured = ExactMeasurement(
        value=value,
        num_inputs=len(J) // len(experiments),
        seed=network.seed,
        note=(
            f"rank {value} of {columns} entries of L and the M, so a kernel of "
            f"dimension {columns - value}"
        ),
        num_columns=columns,
        prime=over.p,
        error_bound=error,
        route="weights",
        arithmetic="flint" if is_for_flint(columns) else "float64",
    )
    return Hidden(measured, tuple(blocks))


def _experiments(network: ImmersionSetting) -> tuple[Experiment, ...]:
    made: list[tuple[Pattern, ...]] = []
    found = []
    tied = network.tied_layer
    for free_layer in (None, *range(1, network.layers + 1)):
        wanted: list[Pattern] = [_STILL] * network.layers
        if free_layer is not None:
            wanted[free_layer - 1] = "free"
        made.append(_allowed(network, tuple(wanted)))
        experiment = Experiment(
            free_layer=free_layer,
            # A tied layer cannot be frozen: only the experiment that frees it remains.
            possible=tied is None or tied == free_layer,
            so_far=_hidden(network, tuple(made)),
        )
        found.append(experiment)
    return tuple(found)


def _rows(
    network: ImmersionSetting, virtual: VirtualWeights, patterns: tuple[Pattern, ...]
) -> np.ndarray:
    """The derivative mod p on enough inputs, one functional each, with shares of the
    given patterns."""
    over = PrimeField(DEFAULT_PRIME)
    rng = np.random.default_rng([network.seed, 5])
    columns = virtual.L.size + sum(M.size for M in virtual.M)
    inputs = columns + _SPARE_ROWS
    X = over.random(rng, (inputs, network.width, 2))
    functionals = over.random(rng, (inputs, len(virtual.L), 2))
    drawn = over.random(rng, (network.layers, 2, inputs))
    given = [_residues(network, *one) for one in zip(patterns, drawn, strict=True)]
    return free_jacobian(over, virtual, X, given, functionals)


def _residues(network: ImmersionSetting, pattern: Pattern, drawn: np.ndarray) -> Shares:
    """The shares of one layer mod p, of the random ones where the pattern leaves a
    choice."""
    over = PrimeField(DEFAULT_PRIME)
    mu, nu = drawn
    if pattern == "free":
        return Shares(np.zeros_like(mu) if network.causal else mu, nu)
    if pattern == "tied":
        if network.width > 1 and not network.causal:
            # PQ = 1 is μ + ν = 1.
            return Shares(mu, over.reduce(1 - mu))
        # In a masked layer, or at width 1, only M_k = 0 ties the shares: there P = Q =
        # 1.
        pattern = (Fraction(0), Fraction(1, 2)) if network.causal else _meeting(network)
    return Shares(*(_residue(over, share) for share in pattern))


def _exactly(number: float) -> Fraction:
    """A slider's number as it is written: 0.3 is 3/10, not the float beside it."""
    return Fraction(str(number))


def _residue(over: PrimeField, share: Fraction) -> np.ndarray:
    """A fraction mod p, of least absolute value."""
    return over.reduce(
        np.array(float(share.numerator * pow(share.denominator, -1, over.p) % over.p))
    )


@lru_cache(maxsize=256)
def _prime_network(network: ImmersionSetting) -> VirtualWeights:
    """Random virtual weights mod p, weakened as the setting says (and the weak one
    doubled)."""
    over = PrimeField(DEFAULT_PRIME)
    rng = np.random.default_rng([network.seed, network.layers, network.width, 4])
    n = network.width
    L, *Ms = over.random(rng, (network.layers + 1, n, n))
    if network.weak_layer <= network.layers and network.symmetric < 1:
        weak = network.weak_layer - 1
        part = _residue(over, _exactly(network.symmetric))
        symmetric = over.reduce(Ms[weak] + Ms[weak].T)
        anti = over.reduce(Ms[weak] - Ms[weak].T)
        Ms[weak] = over.reduce(
            over.reduce(part * symmetric)
            + over.reduce((part if network.causal else 1) * anti)
        )
    return VirtualWeights(
        over.reduce(_residue(over, _exactly(network.size)) * L), tuple(Ms)
    )


def real_network(network: ImmersionSetting) -> tuple[VirtualWeights, np.ndarray]:
    """Virtual weights whose spectrum can be read, and two tokens that are drawn: shape
    (n, 2)."""
    n = network.width
    rng = np.random.default_rng([network.seed, network.layers, n, 6])
    arch = Architecture.uniform(n, n, network.layers, 2, "softmax")
    Ms = []
    for layer in by_layer(conditioned_weights(arch.layers, arch.attention, rng)):
        Ms.append(layer["K"].T @ layer["Q"] / 4)
    L, _ = np.linalg.qr(rng.standard_normal((n, n)))
    if network.weak_layer <= network.layers:
        weak = network.weak_layer - 1
        rest = network.symmetric if network.causal else 1.0
        symmetric = (Ms[weak] + Ms[weak].T) / 2
        anti = (Ms[weak] - Ms[weak].T) / 2
        Ms[weak] = network.symmetric * symmetric + rest * anti
    X = _NEAR * np.array([[-0.8, 0.9], [0.1, 0.35], [0.2, -0.3]])[:n]
    return VirtualWeights(network.size * L, tuple(Ms)), X
