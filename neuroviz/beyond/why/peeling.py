"""Why Theorem C is true: layers that peel off.

The peel lemma. At M_1 = αβᵀ − βαᵀ two tokens X = (x_1, x_2) leave the first lightning layer as

    X XᵀM_1X = Δ · XJ,   Δ = x_1ᵀM_1x_2,   J = (0 1; −1 0):   x_1 → −Δ x_2,  x_2 → Δ x_1,

a scale and a quarter turn, which the rest of the network F passes on: φ(X) = Δ^κ F(X) J, κ = 3^{l−1}.
So the kernel of the derivative in (L, M_1, …, M_l) is that of F and one rescaling ("Peel lemma").
"""

import numpy as np

from neuroviz.engine.field import Field, PrimeField
from neuroviz.engine.measure import ExactMeasurement
from neuroviz.engine.network import Layer, jacobian
from neuroviz.engine.rank import arithmetic_of, exact_rank, schwartz_zippel
from neuroviz.engine.symmetry import VirtualWeights, as_network

_SPARE_ROWS = 2


def antisymmetric(over: Field, alpha: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """αβᵀ − βαᵀ: the layer that peels off.

    >>> from neuroviz.engine.field import Reals
    >>> antisymmetric(Reals(), *np.eye(2))
    array([[ 0.,  1.],
           [-1.,  0.]])
    """
    product = over.matmul(alpha[:, None], beta[None])
    return over.reduce(product - product.T)


def first_layer(over: Field, M: np.ndarray, X: np.ndarray) -> np.ndarray:
    """X XᵀM X: the tokens after a lightning layer with virtual weights M; X of shape (…, d₀, t)."""
    return over.matmul(X, over.matmul(X.mT, over.matmul(M, X)))


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

    >>> from neuroviz.engine.field import Reals
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
    scale = over.matmul(x.mT, over.matmul(M, y))[..., 0, 0]
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
        rows = over.matmul(cotangents, X.mT[:, None])
        return rows.reshape(*rows.shape[:2], -1)
    weights = as_network(virtual)  # Q_i is M_i and the last V is L
    free = [
        np.full(matrix.size, name == "Q" or (name == "V" and layer is weights[-1]))
        for layer in weights
        for name, matrix in zip(Layer._fields, layer, strict=True)
    ]
    return jacobian(over, attention, weights, X, cotangents, rescale=rescale)[..., np.concatenate(free)]


def measure_kernel(
    virtual: VirtualWeights, over: PrimeField, rng: np.random.Generator, seed: int | None = None
) -> ExactMeasurement:
    """The exact rank of the derivative in (L, M_1, …, M_l) on two-token inputs.

    The kernel always contains the l rescalings; a rank that leaves no more is certain. Otherwise inputs and
    weights may have been unlucky mod p, with the probability `error_bound` ("Exact rank").

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
    depth, kernel = len(Ms), columns - value
    note = f"rank {value} of {columns} entries of L and the M, so a kernel of dimension {kernel}"
    error = 0.0
    if kernel == depth:
        note += ": the rescalings and nothing else"
    else:  # the degree in L, the M_i (M_1 may be a product of two vectors), X and the cotangent
        degree = 1 + (3**depth - 1) // 2 + (3 ** (depth - 1) if depth else 0) + 3**depth
        error = schwartz_zippel(value, degree, over.p)
    arithmetic = arithmetic_of(columns)
    return ExactMeasurement(value, inputs, seed, note, columns, over.p, error, "weights", arithmetic)
