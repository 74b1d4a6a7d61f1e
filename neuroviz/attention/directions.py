"""The directions in weight space in which the function stands still, written down at
given weights.

They are the derivatives of the symmetries in `neuroviz.attention.symmetry`, and, where
a matrix product has a low rank, what it does not show of its factors.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import singledispatch

import numpy as np

from neuroviz.attention.architecture import Architecture
from neuroviz.attention.layers import by_layer
from neuroviz.rank.field import Field, PrimeField
from neuroviz.rank.floats import TOLERANCE
from neuroviz.rank.network import Network
from neuroviz.rank.question import check_members
from neuroviz.rank.rows import RowSpace
from neuroviz.rank.weights import flatten

Change = Mapping[str, np.ndarray]
"""The derivative of some of the weights; the others stand still."""


@singledispatch
def symmetry_directions(
    net: Network, over: Field, weights: Mapping[str, np.ndarray]
) -> dict[str, list[np.ndarray]]:
    """All continuous symmetries that are known of a network, by family.

        head bases     Q → C Q, K → C⁻ᵀ K in a layer               (Lemma 3.1)
        interfaces     V → C V, and Q, K, V → · C⁻¹ in the next    (Eq. 9)
        rescalings     Q → c Q, V → V / c, for lightning           (Eq. 13)

    These are the families of an `Architecture`. Of other networks none is known, until
    somebody registers a function for them, as for any `functools.singledispatch`.

    Args:
        net: any network.
        weights: over this field, by name.

    Returns:
        name of the family → one array of directions, shape (directions, number of
        parameters), for each layer or place between two layers. The rows need not be
        independent.

    >>> from neuroviz.rank.point import random_point
    >>> net = Architecture((3, 3, 3), (2, 2))
    >>> point = random_point(net, PrimeField(), np.random.default_rng(0))
    >>> families = symmetry_directions(net, PrimeField(), point.weights)
    >>> {name: [len(rows) for rows in parts] for name, parts in families.items()}
    {'head bases': [4, 4], 'interfaces': [9], 'rescalings': [1, 1]}
    """
    check_members(net)
    return {}


@symmetry_directions.register
def _of_the_paper(
    net: Architecture, over: Field, weights: Mapping[str, np.ndarray]
) -> dict[str, list[np.ndarray]]:
    layers = by_layer(weights)
    head_bases = []
    interfaces = []
    rescalings = []
    for i, layer in enumerate(layers, start=1):
        head_bases.append(as_rows(net, over, _head_bases(over, i, layer)))
        rescaled = {f"{i}.Q": layer["Q"], f"{i}.V": -layer["V"]}
        rescalings.append(as_rows(net, over, [rescaled]))
        if i < len(layers):
            changes = _interface(over, i, layer, layers[i])
            interfaces.append(as_rows(net, over, changes))
    found = {"head bases": head_bases, "interfaces": interfaces}
    if net.attention == "lightning":
        found["rescalings"] = rescalings
    return found


def _head_bases(over: Field, i: int, layer: Mapping[str, np.ndarray]) -> Iterator:
    """What leaves KᵀQ alone."""
    Q = layer["Q"]
    K = layer["K"]
    # C = 1 + ε E, for the matrix units E = e_row e_columnᵀ: E Q and −EᵀK have one row.
    for row, column in acting(over, K.T, Q):
        change_of_Q = np.zeros(Q.shape)
        change_of_K = np.zeros(K.shape)
        change_of_Q[row] = Q[column]
        change_of_K[column] = -K[row]
        yield {f"{i}.Q": change_of_Q, f"{i}.K": change_of_K}
    # Kᵀ does not see all of Q where its rank is below a, nor Q all of K.
    yield from _in_each_column(f"{i}.Q", Q.shape, null_space(over, K.T))
    yield from _in_each_column(f"{i}.K", K.shape, null_space(over, Q.T))


def _in_each_column(
    name: str, shape: tuple[int, int], vectors: np.ndarray
) -> Iterator[Change]:
    for vector in vectors:
        for column in range(shape[1]):
            change = np.zeros(shape)
            change[:, column] = vector
            yield {name: change}


def _interface(
    over: Field,
    i: int,
    before: Mapping[str, np.ndarray],
    after: Mapping[str, np.ndarray],
) -> Iterator[Change]:
    """Another basis for the tokens between layer i and the next one."""
    V = before["V"]
    readers = np.concatenate([after["Q"], after["K"], after["V"]])
    # C = 1 + ε E again: E V has one row, and −R E one column, for each R that reads.
    for row, column in acting(over, readers, V):
        written = np.zeros(V.shape)
        written[row] = V[column]
        change = {f"{i}.V": written}
        for name in ("Q", "K", "V"):
            read = np.zeros(after[name].shape)
            read[:, column] = -after[name][:, row]
            change[f"{i + 1}.{name}"] = read
        yield change


# What other networks need as well


def as_rows(net: Network, over: Field, changes: Iterable[Change]) -> np.ndarray:
    """Changes as rows, with a column for each parameter of the network."""
    still = {name: np.zeros(shape) for name, shape in net.parameter_shapes.items()}
    rows = [flatten(net, {**still, **change}) for change in changes]
    columns = sum(weight.size for weight in still.values())
    # Without any change there are no rows, but as many columns.
    return over.reduce(np.array(rows).reshape(len(rows), columns))


def null_space(over: Field, matrix: np.ndarray) -> np.ndarray:
    """A basis of {x : matrix x = 0}, as rows.

    Over the reals it is orthonormal, and singular values count as 0 as they do for
    `numerical_rank`.

    >>> null_space(PrimeField(7), np.array([[1.0, 2.0, 3.0]])).shape
    (2, 3)
    """
    if not matrix.size:
        return np.eye(matrix.shape[1])
    if isinstance(over, PrimeField):
        return row_space(over, matrix).null_space()
    _, sigma, right = np.linalg.svd(matrix)
    rank = int((sigma > TOLERANCE * max(sigma[0], 1.0)).sum())
    return right[rank:]


def row_space(over: PrimeField, matrix: np.ndarray) -> RowSpace:
    """The space of a matrix's rows."""
    space = RowSpace(over, matrix.shape[1])
    space.add_each(matrix)
    return space


def acting(
    over: Field, left: np.ndarray, right: np.ndarray
) -> Iterator[tuple[int, int]]:
    """Places (i, j) of n × n matrix units E whose pairs (left · E, E · right) span
    those of all n²; each place once, row by row.

    E_ij = e_i e_jᵀ with i among independent columns of `left`, or j among independent
    rows of `right`: the others add nothing. All n² where both have rank n; few where n
    is far above both ranks.

    For another (i, j) column i of `left` is Σ_r c_r left_r and row j of `right` is
    Σ_s d_s right_s, with independent ones, and E_ij acts on both as the sum
    Σ_r c_r E_rj + Σ_s d_s E_is − Σ_rs c_r d_s E_rs.
    """
    size = len(right)
    rows = _independent_columns(over, left)
    columns = _independent_columns(over, right.T)
    for row in range(size):
        beside = range(size) if row in rows else sorted(columns)
        for column in beside:
            yield row, column


def _independent_columns(over: Field, matrix: np.ndarray) -> set[int]:
    """Numbers of columns that span all of them; over the reals all columns."""
    # Where no column has to depend on others, to look for it is not worth its time;
    # over the reals a rank may be misread, and too many directions do no harm.
    if isinstance(over, PrimeField) and matrix.shape[1] > matrix.shape[0]:
        return set(row_space(over, matrix).pivots.tolist())
    return set(range(matrix.shape[1]))
