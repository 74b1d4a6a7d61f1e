"""Why Theorem C is true: layers that peel off.

The peel lemma. At M_1 = αβᵀ − βαᵀ two tokens X = (x_1, x_2) leave the first lightning layer as

    X XᵀM_1X = Δ · XJ,   Δ = x_1ᵀM_1x_2,   J = (0 1; −1 0):   x_1 → −Δ x_2,  x_2 → Δ x_1,

a scale and a quarter turn, which the rest of the network F passes on: φ(X) = Δ^κ F(X) J, κ = 3^{l−1}.
So the kernel of the derivative in (L, M_1, …, M_l) is that of F and one rescaling ("Peel lemma").
"""

from dataclasses import dataclass
from functools import lru_cache
from math import ceil

import numpy as np

from neuroviz.engine.architecture import Architecture
from neuroviz.engine.field import DEFAULT_PRIME, Field, PrimeField, Reals
from neuroviz.engine.local_coordinates import as_network
from neuroviz.engine.measure import Measurement, from_spectrum
from neuroviz.engine.network import Layer, conditioned_tokens, conditioned_weights, jacobian
from neuroviz.engine.rank import exact_rank, schwartz_zippel
from neuroviz.engine.symmetry import VirtualWeights

ENDS = ("antisymmetric", "symmetric", "rank-one")
_PATH = (*(k / 20 for k in range(20)), 0.975, 0.99, 0.995, 0.999, 0.9999, 1.0)
_MILLIONTHS = 10**6  # the place s is a fraction with this denominator, also modulo a prime
_SPARE_ROWS = 2


# One layer, and the network without it


def antisymmetric(over: Field, alpha: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """αβᵀ − βαᵀ: the layer that peels off.

    >>> antisymmetric(Reals(), *np.eye(2))
    array([[ 0.,  1.],
           [-1.,  0.]])
    """
    product = over.matmul(alpha[:, None], beta[None])
    return over.reduce(product - product.T)


def first_layer(over: Field, M: np.ndarray, X: np.ndarray) -> np.ndarray:
    """X XᵀM X: the tokens after a lightning layer with virtual weights M; X of shape (…, d₀, t)."""
    return over.matmul(X, over.matmul(_T(X), over.matmul(M, X)))


def scale_and_turn(over: Field, M: np.ndarray, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Δ = x_1ᵀM x_2, and XJ = (−x_2, x_1): at an antisymmetric M the layer is Δ · XJ ("Peel lemma").

    Args:
        over: the field.
        M: shape (d₀, d₀); no check that it is antisymmetric, which the statement needs.
        X: two tokens, shape (…, d₀, 2).

    Returns:
        Δ of shape (…), XJ of the shape of X.

    Raises:
        ValueError: if there are not two tokens.

    >>> X = np.array([[1.0, 5.0], [2.0, 3.0]])
    >>> scale_and_turn(Reals(), antisymmetric(Reals(), *np.eye(2)), X)
    (array(-7.), array([[-5.,  1.],
           [-3.,  2.]]))
    """
    if X.shape[-1] != 2:
        raise ValueError(
            f"a quarter turn is of two tokens; got {X.shape[-1]} columns: put the other tokens to 0"
        )
    x, y = X[..., :1], X[..., 1:]
    scale = over.matmul(_T(x), over.matmul(M, y))[..., 0, 0]
    return scale, np.concatenate([over.reduce(-y), x], axis=-1)


def without_first_layer(virtual: VirtualWeights) -> VirtualWeights:
    """F, the network of (L, M_2, …, M_l); of a single layer X ↦ LX remains.

    Raises:
        ValueError: if there is no layer to take away.
    """
    if not virtual.M:
        raise ValueError("there is no first layer to take away; got virtual weights with L alone")
    return VirtualWeights(virtual.L, virtual.M[1:])


def virtual_jacobian(
    over: Field,
    virtual: VirtualWeights,
    X: np.ndarray,
    cotangents: np.ndarray | None = None,
    rescale: bool = False,
    attention: str = "lightning",
) -> np.ndarray:
    """The derivative of a network in its virtual weights, every entry of them free.

    Args:
        over: the field.
        virtual: L of shape (d_l, d₀) and M_1, …, M_l of shape (d₀, d₀); l may be 0.
        X: shape (N, d₀, t).
        cotangents, rescale, attention: as in `network.jacobian`.

    Returns:
        Shape (N, c, l d₀² + d_l d₀): M_1, …, M_l, then L, each row by row.
    """
    L, Ms = virtual
    if not Ms:  # φ(X) = L X
        size = len(L) * X.shape[-1]
        if cotangents is None:
            cotangents = np.eye(size).reshape(1, size, len(L), X.shape[-1])
        rows = over.matmul(cotangents, _T(X)[:, None])
        return rows.reshape(*rows.shape[:2], -1)
    weights = as_network(virtual)  # Q_i is M_i and the last V is L
    free = [
        np.full(matrix.size, name == "Q" or (name == "V" and layer is weights[-1]))
        for layer in weights
        for name, matrix in zip(Layer._fields, layer, strict=True)
    ]
    return jacobian(over, attention, weights, X, cotangents, rescale=rescale)[..., np.concatenate(free)]


def rescaling_of(over: Field, virtual: VirtualWeights, layer: int) -> np.ndarray:
    """The direction M˙_i = M_i, L˙ = −3^{l−i} L, which no lightning network notices (Eq. 13).

    Args:
        over, virtual: as in `virtual_jacobian`.
        layer: i, from 1 to l.

    Returns:
        A vector in the column order of `virtual_jacobian`.

    Raises:
        ValueError: if there is no such layer.
    """
    depth = len(virtual.M)
    if layer not in range(1, depth + 1):
        raise ValueError(f"layers are counted from 1 to {depth} here; got {layer!r}")
    Ms = [M if i == layer else np.zeros(M.shape) for i, M in enumerate(virtual.M, start=1)]
    return np.concatenate(
        [*(M.ravel() for M in Ms), over.reduce(-(3.0 ** (depth - layer)) * virtual.L).ravel()]
    )


def measure_kernel(
    virtual: VirtualWeights, over: PrimeField, rng: np.random.Generator, seed: int | None = None
) -> Measurement:
    """The exact rank of the derivative in (L, M_1, …, M_l) on two-token inputs.

    The kernel always contains the l rescalings; a rank that leaves no more than these is certain. Otherwise
    the inputs, and the weights, may have been unlucky mod p, with the probability `error_bound` ("Exact
    rank").

    >>> over, rng = PrimeField(), np.random.default_rng(0)
    >>> M = antisymmetric(over, *over.random(rng, (2, 3)))
    >>> found = measure_kernel(VirtualWeights(over.random(rng, (3, 3)), (M,)), over, rng)
    >>> found.kernel
    1
    """
    L, Ms = virtual
    columns = L.size + sum(M.size for M in Ms)
    inputs = columns + _SPARE_ROWS
    X = over.random(rng, (inputs, L.shape[1], 2))
    cotangents = over.random(rng, (inputs, 1, len(L), 2))
    J = virtual_jacobian(over, virtual, X, cotangents)
    value = exact_rank(J.reshape(-1, columns), over)
    depth = len(Ms)
    kernel = columns - value
    # Degree in L, the M_i (M_1 may be a product of two vectors), X and the cotangent.
    degree = 1 + (3**depth - 1) // 2 + (3 ** (depth - 1) if depth else 0) + 3**depth
    sure = kernel == depth
    note = f"rank {value} of {columns} entries of L and the M, so a kernel of dimension {kernel}" + (
        ": the rescalings and nothing else" if sure else ""
    )
    error = 0.0 if sure else schwartz_zippel(value, degree, over.p)
    return Measurement(
        value, "exact", "exact", inputs, seed, note, None, columns, prime=over.p, error_bound=error
    )


# On the way to a special first layer


@dataclass(frozen=True)
class PeelSetting:
    """A network whose M_1 is on its way to a special matrix, and two tokens to look at.

    Attributes:
        layers: l, from 1 to 4.
        place: s: M_1 is 1 − s times a random matrix plus s times the end of the way; from 0 to 1.
        angle: from x_1, which is (1, 0), to x_2, in degrees.
        length: of x_2, above 0.
        end: "antisymmetric" (αβᵀ − βαᵀ, the antisymmetric part of the random matrix), "symmetric" (ααᵀ)
            or "rank-one" (αβᵀ).
        width: d₀, and the number of rows of L, 2 or 3.
        seed: what the random weights are drawn from.
    """

    layers: int = 3
    place: float = 1.0
    angle: float = 65.0
    length: float = 0.9
    end: str = "antisymmetric"
    width: int = 2
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least, most in (("layers", 1, 4), ("width", 2, 3)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                raise ValueError(f"{name} must be a whole number from {least} to {most}; got {value!r}")
        if not 0 <= self.place <= 1:
            raise ValueError(
                f"place is between 0, a random M_1, and 1, the end of the way; got {self.place!r}"
            )
        if not self.length > 0:
            raise ValueError(f"the length of a token must be above 0; got {self.length!r}")
        if self.end not in ENDS:
            raise ValueError(f"end must be one of {', '.join(map(repr, ENDS))}; got {self.end!r}")


@dataclass(frozen=True)
class PlacedSpectrum:
    """The float measurement of all singular values with M_1 at one place of the way."""

    place: float
    spectrum: Measurement


@dataclass(frozen=True, eq=False)
class PeelStudy:
    """What a network does to two tokens, and which directions of its weights do nothing, at one place.

    Attributes:
        setting: as given.
        X, Y, start, goal: the tokens before the first layer; after it; after it at s = 0 and at s = 1.
            Columns, in the plane of the two tokens; shape (2, 2).
        turn: Δ, half the difference of the off-diagonal entries of XᵀM_1X.
        turn_share: how much of ‖XᵀM_1X‖² is Δ·J; None where XᵀM_1X = 0.
        at_start, here, at_end: exact ranks in (L, M_1, …, M_l) at s = 0, at this place and at s = 1.
        tail: the exact rank in (L, M_2, …, M_l) of the network without its first layer.
        spectrum, tail_spectrum: in floating point, at this place and without the first layer.
        path: the spectra along the whole way.
    """

    setting: PeelSetting
    X: np.ndarray
    Y: np.ndarray
    start: np.ndarray
    goal: np.ndarray
    turn: float
    turn_share: float | None
    at_start: Measurement
    here: Measurement
    at_end: Measurement
    tail: Measurement
    spectrum: Measurement
    tail_spectrum: Measurement
    path: tuple[PlacedSpectrum, ...]

    @property
    def splits(self) -> bool:
        """Whether the kernel at the end is what the lemma says: one rescaling, and that of the tail."""
        return self.at_end.kernel == 1 + self.tail.kernel


def study_peel(setting: PeelSetting) -> PeelStudy:
    """Everything about one place of the way, measured exactly and in floating point.

    >>> study = study_peel(PeelSetting(layers=2))
    >>> study.at_end.kernel, study.tail.kernel, study.splits
    (2, 1, True)
    >>> study_peel(PeelSetting(layers=2, end="symmetric")).at_end.kernel
    3
    """
    angle = np.deg2rad(setting.angle)
    X = np.array([[1.0, setting.length * np.cos(angle)], [0.0, setting.length * np.sin(angle)]])
    where = setting.layers, setting.width, setting.end, setting.seed
    network = _real_network(*where)
    Y, start, goal = (first_layer(Reals(), network.at(s).M[0][:2, :2], X) for s in (setting.place, 0.0, 1.0))
    N = X.T @ network.at(setting.place).M[0][:2, :2] @ X
    turn, size = float(N[0, 1] - N[1, 0]) / 2, float((N**2).sum())
    grid = sorted({*_PATH, setting.place})
    return PeelStudy(
        setting=setting,
        X=X,
        Y=Y,
        start=start,
        goal=goal,
        turn=turn,
        turn_share=2 * turn**2 / size if size > 1e-24 else None,
        at_start=_exact_kernel(*where, 0.0),
        here=_exact_kernel(*where, setting.place),
        at_end=_exact_kernel(*where, 1.0),
        tail=_exact_kernel(*where, None),
        spectrum=_spectrum(*where, setting.place),
        tail_spectrum=_spectrum(*where, None),
        path=tuple(PlacedSpectrum(s, _spectrum(*where, s)) for s in grid),
    )


@dataclass(frozen=True, eq=False)
class _Way:
    """A network, and the two ends that its M_1 moves between."""

    over: Field
    L: np.ndarray
    start: np.ndarray
    end: np.ndarray
    rest: tuple[np.ndarray, ...]

    def at(self, place: float | None) -> VirtualWeights:
        """The network at a place of the way; None: without its first layer."""
        if place is None:
            return VirtualWeights(self.L, self.rest)
        # Over a prime field a million times as much, which is the same up to a rescaling.
        done = place if isinstance(self.over, Reals) else float(round(place * _MILLIONTHS))
        left = (1.0 if isinstance(self.over, Reals) else _MILLIONTHS) - done
        M = self.over.reduce(self.over.reduce(left * self.start) + self.over.reduce(done * self.end))
        return VirtualWeights(self.L, (M, *self.rest))


def _ends(over: Field, end: str, S: np.ndarray, alpha: np.ndarray, beta: np.ndarray) -> tuple:
    """The random matrix S + αβᵀ − βαᵀ that the way starts from, and where it leads."""
    A = antisymmetric(over, alpha, beta)
    goal = {
        "antisymmetric": A,
        "symmetric": over.matmul(alpha[:, None], alpha[None]),
        "rank-one": over.matmul(alpha[:, None], beta[None]),
    }[end]
    return over.reduce(S + A), goal


@lru_cache(maxsize=256)
def _real_network(layers: int, width: int, end: str, seed: int) -> _Way:
    """Weights whose spectrum can be read (docs/mathematics.md, "Floating point"); α, β in the drawn plane."""
    rng = np.random.default_rng([seed, layers, width])
    over, arch = Reals(), Architecture.uniform(width, width, layers, 2)
    Ms = [K.T @ Q for Q, K, _ in conditioned_weights(arch, rng)]
    L, _ = np.linalg.qr(rng.standard_normal((width, width)))
    S = np.diag(np.linspace(1.0, 0.4, width))
    turn, _ = np.linalg.qr(rng.standard_normal((width, width)))
    alpha, beta = np.eye(width)[:2]
    # α and β as a pair only matter up to a rotation of their plane: turn them, for the rank-one ends.
    angle = rng.uniform(0, 2 * np.pi)
    alpha, beta = (
        np.cos(angle) * alpha + np.sin(angle) * beta,
        np.cos(angle) * beta - np.sin(angle) * alpha,
    )
    return _Way(over, L, *_ends(over, end, turn @ S @ turn.T, alpha, beta), tuple(Ms[1:]))


@lru_cache(maxsize=256)
def _prime_network(layers: int, width: int, end: str, seed: int) -> _Way:
    rng = np.random.default_rng([seed, layers, width, 1])
    over = PrimeField(DEFAULT_PRIME)
    L, G, *rest = over.random(rng, (layers + 1, width, width))
    alpha, beta = over.random(rng, (2, width))
    return _Way(over, L, *_ends(over, end, over.reduce(G + G.T), alpha, beta), tuple(rest))


@lru_cache(maxsize=1024)
def _exact_kernel(layers: int, width: int, end: str, seed: int, place: float | None) -> Measurement:
    way = _prime_network(layers, width, end, seed)
    return measure_kernel(way.at(place), way.over, np.random.default_rng([seed, 2]), seed)


@lru_cache(maxsize=4096)
def _spectrum(layers: int, width: int, end: str, seed: int, place: float | None) -> Measurement:
    virtual = _real_network(layers, width, end, seed).at(place)
    columns = virtual.L.size + sum(M.size for M in virtual.M)
    inputs = ceil(columns / 2) + _SPARE_ROWS
    # The same inputs along the whole way.
    rng = np.random.default_rng([seed, layers, width, 3])
    X = conditioned_tokens(Architecture.uniform(width, width, layers, 2), inputs, rng)
    J = virtual_jacobian(Reals(), virtual, X, rescale=bool(virtual.M))
    return from_spectrum(J.reshape(-1, columns), inputs, seed)


def _T(matrices: np.ndarray) -> np.ndarray:
    return np.swapaxes(matrices, -1, -2)
