"""Theorem A as experiments: free the exponentials, freeze layers, and count what the weights still hide.

A direction of the virtual weights that does nothing at all does nothing in every experiment. "All frozen"
shows the whole of L˙, "all frozen but layer i" the whole of M˙_i: so nothing is left. Each experiment is run
here with its exact rank over F_p; where a hypothesis fails (L = 0, or an antisymmetric M_k, whose
exponentials are tied by PQ = 1), an experiment that the proof needs shows nothing or cannot be made, and the
kernel that appears is counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from neuroviz.architecture import Architecture
from neuroviz.field import DEFAULT_PRIME, PrimeField, Reals
from neuroviz.measure import Measurement, from_spectrum
from neuroviz.network import conditioned_tokens, conditioned_weights
from neuroviz.rank import RowSpace, exact_rank, schwartz_zippel
from neuroviz.symmetry import VirtualWeights
from neuroviz.two_tokens import FROZEN, Shares, follow, free_jacobian, shares, softmax_shares

MODES = ("true", "free", "frozen", "collapsed")
MOST_LAYERS = 4
_PARTS = 1000  # the sliders' steps, as fractions modulo a prime
_SPARE_ROWS = 2


@dataclass(frozen=True)
class ImmersionSetting:
    """A network on two tokens, and what the reader does to the exponentials of each layer.

    Attributes:
        modes: for each of the l layers "true" (the exponentials of its logits), "free" (those of
            `freed`), "frozen" (P = Q = 0) or "collapsed" (PQ = 1).
        freed: for each layer (μ, ν), from 0 to 1: used where the mode is "free".
        width: d₀, and the number of rows of L, from 1 to 3.
        copies: m = t − 1, how many copies of x_2 there are; 1 under a mask.
        causal: whether token 1 sees itself only (Theorem A′).
        weak_layer, symmetric: the symmetric part of M_k, of the weak layer k, is multiplied by this, from 0
            to 1; under a mask the whole of M_k is.
        size: L is multiplied by this, from 0 to 1.
        seed: what the random weights and tokens are drawn from.

    Raises:
        ValueError: if one of them is none of the above.
    """

    modes: tuple[str, ...] = ("true", "true")
    freed: tuple[tuple[float, float], ...] = ((0.3, 0.3), (0.3, 0.3))
    width: int = 2
    copies: int = 1
    causal: bool = False
    weak_layer: int = 1
    symmetric: float = 1.0
    size: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not 1 <= len(self.modes) <= MOST_LAYERS or len(self.freed) != len(self.modes):
            raise ValueError(
                f"modes and freed have one entry for each of 1 to {MOST_LAYERS} layers; "
                f"got {len(self.modes)} and {len(self.freed)}"
            )
        for mode in self.modes:
            if mode not in MODES:
                raise ValueError(f"a mode is one of {', '.join(map(repr, MODES))}; got {mode!r}")
        numbers = [*(share for pair in self.freed for share in pair), self.symmetric, self.size]
        if not all(0 <= number <= 1 for number in numbers):
            raise ValueError(f"shares, symmetric and size are between 0 and 1; got {numbers}")
        if self.width not in (1, 2, 3):
            raise ValueError(f"width must be 1, 2 or 3; got {self.width!r}")
        if self.copies < 1 or (self.causal and self.copies != 1):
            raise ValueError(f"copies must be at least 1, and 1 under a mask; got {self.copies!r}")
        if self.weak_layer not in range(1, len(self.modes) + 1):
            raise ValueError(f"weak_layer is from 1 to {len(self.modes)}; got {self.weak_layer!r}")

    @property
    def layers(self) -> int:
        """l."""
        return len(self.modes)

    def tied(self, layer: int) -> bool:
        """Whether the exponentials of a layer satisfy a relation, so that nobody may free them.

        Sym M_k = 0 makes p + q = 0, so PQ = 1. Under a mask only M_k = 0 does it: Q = 1.
        """
        return layer == self.weak_layer and self.symmetric == 0


@dataclass(frozen=True)
class Experiment:
    """What the derivative shows when exponentials are set to certain values.

    Attributes:
        free_layer: the one layer that is not frozen; None where all are.
        possible: whether the relations between the exponentials allow it.
        patterns: what was done instead, layer by layer: as the proof says, but tied layers as they are.
        alone: the exact rank in (L, M_1, …, M_l) of this experiment; the kernel is num_columns − value.
        so_far: the rank of all experiments up to this one.
    """

    free_layer: int | None
    possible: bool
    patterns: tuple[str, ...]
    alone: Measurement
    so_far: Measurement


@dataclass(frozen=True, eq=False)
class ImmersionStudy:
    """Two tokens on their way through the layers, and which directions of the weights do nothing.

    Attributes:
        setting: as given.
        tokens: X_0, …, X_l with the exponentials as they are set, each (n, 2).
        places: the same as fractions of the way from x_1 (0) to x_2 (1): rows X_i, columns tokens.
        given: the shares, layer by layer; where they are tied, the true ones.
        true: the shares that the exponentials of the logits give.
        patterns: "free", "frozen", "collapsed" or "even" (tied, Q = 1), layer by layer: what `here` assumes.
        here: the exact rank of the experiment that is set.
        experiments: those of the proof, in its order.
        everything: the exact rank with all exponentials as free as they are: the derivative itself, by Ax's
            theorem.
        spectrum: the derivative with its true exponentials, in floating point, without Ax's theorem.
    """

    setting: ImmersionSetting
    tokens: tuple[np.ndarray, ...]
    places: np.ndarray
    given: tuple[Shares, ...]
    true: tuple[Shares, ...]
    patterns: tuple[str, ...]
    here: Measurement
    experiments: tuple[Experiment, ...]
    everything: Measurement
    spectrum: Measurement

    @property
    def complete(self) -> bool:
        """Whether the experiments of the proof leave nothing."""
        return kernel(self.experiments[-1].so_far) == 0


def kernel(measured: Measurement) -> int:
    """How many directions do nothing, from a `Measurement` of a rank."""
    return measured.num_columns - measured.value


def study_immersion(setting: ImmersionSetting) -> ImmersionStudy:
    """The experiments of Theorem A (under a mask of Theorem A′), measured.

    >>> study = study_immersion(ImmersionSetting())
    >>> [kernel(one.so_far) for one in study.experiments], kernel(study.everything)
    ([8, 4, 0], 0)
    >>> antisymmetric = study_immersion(ImmersionSetting(symmetric=0.0))
    >>> [kernel(one.so_far) for one in antisymmetric.experiments], kernel(antisymmetric.everything)
    ([4, 4, 4], 4)
    """
    virtual, X = _real_network(setting)
    true = softmax_shares(virtual.M, X, setting.copies, setting.causal)
    given = _set_shares(setting, virtual, X)
    tokens = follow(Reals(), given, X)
    where = _network_key(setting)
    patterns = _allowed(setting, tuple("free" if mode == "true" else mode for mode in setting.modes))
    return ImmersionStudy(
        setting=setting,
        tokens=tuple(tokens),
        places=_places(given),
        given=tuple(given),
        true=tuple(true),
        patterns=patterns,
        here=_rank(where, patterns),
        experiments=_experiments(where, setting.tied(setting.weak_layer)),
        everything=_rank(where, _allowed(setting, ("free",) * setting.layers)),
        spectrum=_spectrum(where),
    )


def _network_key(setting: ImmersionSetting) -> ImmersionSetting:
    """The part of a setting that its ranks depend on."""
    return replace(setting, modes=("true",) * setting.layers, freed=((0.0, 0.0),) * setting.layers)


def _allowed(setting: ImmersionSetting, wanted: tuple[str, ...]) -> tuple[str, ...]:
    """The patterns, but tied layers as their relation has them."""
    tied = "even" if setting.causal else "collapsed"
    return tuple(tied if setting.tied(i) else pattern for i, pattern in enumerate(wanted, start=1))


def _set_shares(setting: ImmersionSetting, virtual: VirtualWeights, X: np.ndarray) -> list[Shares]:
    """What the reader set, layer by layer; "true" means: of the tokens that the layer gets."""
    found: list[Shares] = []
    for i, mode in enumerate(setting.modes):
        if mode == "true" or setting.tied(i + 1):
            mine = softmax_shares(virtual.M[i : i + 1], X, setting.copies, setting.causal)[0]
        elif mode == "free":
            mu, nu = setting.freed[i]
            mine = Shares(0.0 if setting.causal else mu, nu)
        elif mode == "frozen":
            mine = FROZEN
        else:
            mine = Shares(0.0, 1.0) if setting.causal else shares(1.0, 1.0, setting.copies)
        found.append(Shares(float(mine.mu), float(mine.nu)))
        X = follow(Reals(), found[-1:], X)[-1]
    return found


def _places(given: Sequence[Shares]) -> np.ndarray:
    """Where the tokens are on the way from x_1 to x_2: follow the numbers 0 and 1 instead."""
    return np.array([row[0] for row in follow(Reals(), given, np.array([[0.0, 1.0]]))])


@lru_cache(maxsize=512)
def _rank(network: ImmersionSetting, patterns: tuple[str, ...]) -> Measurement:
    virtual = _prime_network(network)
    rows = _rows(network, virtual, patterns, np.random.default_rng([network.seed, 5]))
    return _measured(network, exact_rank(rows, PrimeField(DEFAULT_PRIME)), rows.shape)


@lru_cache(maxsize=256)
def _experiments(network: ImmersionSetting, tied: bool) -> tuple[Experiment, ...]:
    virtual = _prime_network(network)
    over = PrimeField(DEFAULT_PRIME)
    space, found = None, []
    for free_layer in (None, *range(1, network.layers + 1)):
        wanted = tuple("free" if layer == free_layer else "frozen" for layer in range(1, network.layers + 1))
        patterns = _allowed(network, wanted)
        rows = _rows(network, virtual, patterns, np.random.default_rng([network.seed, 5]))
        space = space or RowSpace(over, rows.shape[1])
        space.add(rows)
        possible = not tied or network.weak_layer == free_layer
        so_far = _measured(network, space.dimension, rows.shape)
        found.append(Experiment(free_layer, possible, patterns, _rank(network, patterns), so_far))
    return tuple(found)


def _rows(
    network: ImmersionSetting, virtual: VirtualWeights, patterns: tuple[str, ...], rng: np.random.Generator
) -> np.ndarray:
    """The derivative mod p on enough inputs, one functional each, with shares of the given patterns."""
    over = PrimeField(DEFAULT_PRIME)
    L, Ms = virtual
    columns = L.size + sum(M.size for M in Ms)
    inputs = columns + _SPARE_ROWS
    X = over.random(rng, (inputs, network.width, 2))
    functionals = over.random(rng, (inputs, len(L), 2))
    given = []
    for pattern in patterns:
        mu, nu = over.random(rng, (2, inputs))
        if network.causal:
            mu = np.zeros(inputs)
        if pattern == "frozen":
            mu, nu = np.zeros((2, inputs))
        elif pattern == "collapsed":
            nu = over.reduce(1 - mu)
        elif pattern == "even":
            nu = np.full(inputs, over.reduce(np.array(float((over.p + 1) // 2))))
        given.append(Shares(mu, nu))
    return free_jacobian(over, virtual, X, given, functionals)


def _measured(network: ImmersionSetting, value: int, shape: tuple[int, int]) -> Measurement:
    """A rank as a Measurement. Entries have degree at most l² + 4l + 2 in all that is drawn."""
    inputs, columns = shape
    depth = network.layers
    error = 0.0 if value == columns else schwartz_zippel(value, depth**2 + 4 * depth + 2, DEFAULT_PRIME)
    note = f"rank {value} of {columns} entries of L and the M, so a kernel of dimension {columns - value}"
    return Measurement(
        value,
        "exact",
        "exact",
        inputs,
        network.seed,
        note,
        None,
        columns,
        prime=DEFAULT_PRIME,
        error_bound=error,
    )


@lru_cache(maxsize=256)
def _prime_network(network: ImmersionSetting) -> VirtualWeights:
    """Random virtual weights mod p, weakened as the setting says (and multiplied by 1000)."""
    over = PrimeField(DEFAULT_PRIME)
    rng = np.random.default_rng([network.seed, network.layers, network.width, 4])
    n = network.width
    L, *Ms = over.random(rng, (network.layers + 1, n, n))
    weak, part = network.weak_layer - 1, float(round(network.symmetric * _PARTS))
    if network.causal:
        Ms[weak] = over.reduce(part * Ms[weak])
    elif network.symmetric < 1:
        symmetric, anti = over.reduce(Ms[weak] + Ms[weak].T), over.reduce(Ms[weak] - Ms[weak].T)
        Ms[weak] = over.reduce(part * symmetric + _PARTS * anti)
    return VirtualWeights(over.reduce(round(network.size * _PARTS) * L), tuple(Ms))


def _real_network(network: ImmersionSetting) -> tuple[VirtualWeights, np.ndarray]:
    """Virtual weights whose spectrum can be read, and two tokens that are drawn: shape (n, 2)."""
    n = network.width
    rng = np.random.default_rng([network.seed, network.layers, n, 6])
    arch = Architecture.uniform(n, n, network.layers, network.copies + 1, "softmax")
    Ms = [K.T @ Q / 4 for Q, K, _ in conditioned_weights(arch, rng)]
    L, _ = np.linalg.qr(rng.standard_normal((n, n)))
    weak = network.weak_layer - 1
    if network.causal:
        Ms[weak] = network.symmetric * Ms[weak]
    else:
        Ms[weak] = network.symmetric * (Ms[weak] + Ms[weak].T) / 2 + (Ms[weak] - Ms[weak].T) / 2
    X = np.array([[-0.8, 0.9], [0.1, 0.35], [0.2, -0.3]])[:n]
    return VirtualWeights(network.size * L, tuple(Ms)), X


@lru_cache(maxsize=256)
def _spectrum(network: ImmersionSetting) -> Measurement:
    virtual, _ = _real_network(network)
    n = network.width
    columns = virtual.L.size + sum(M.size for M in virtual.M)
    rng = np.random.default_rng([network.seed, 7])
    inputs = 2 * columns
    X = conditioned_tokens(Architecture.uniform(n, n, network.layers, 2, "softmax"), inputs, rng)
    given = softmax_shares(virtual.M, X, network.copies, network.causal)
    functionals = rng.standard_normal((inputs, n, 2))
    return from_spectrum(free_jacobian(Reals(), virtual, X, given, functionals), inputs, network.seed)
