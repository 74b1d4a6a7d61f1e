"""The peel lemma, exactly, and where it fails."""

import numpy as np
import pytest

from neuroviz.beyond.why.peeling import (
    antisymmetric,
    first_layer,
    measure_kernel,
    scale_and_turn,
    virtual_jacobian,
    without_first_layer,
)
from neuroviz.engine.field import PrimeField, Reals
from neuroviz.engine.rank import RowSpace, exact_rank
from neuroviz.engine.symmetry import VirtualWeights
from neuroviz.engine.virtual import token_form

F = PrimeField()
SIZES = [(width, layers) for width in (2, 3, 4) for layers in (1, 2, 3)]


def draw(seed, *shape, over=F):
    return over.random(np.random.default_rng(seed), shape)


def peeling_network(width, layers, over=F):
    """A random network whose M_1 is αβᵀ − βαᵀ."""
    alpha, beta = draw(1, 2, width, over=over)
    rest = draw(2, layers - 1, width, width, over=over)
    L = draw(3, width, width, over=over)
    return VirtualWeights(L, (antisymmetric(over, alpha, beta), *rest))


def with_first(virtual, M):
    return VirtualWeights(virtual.L, (M, *virtual.M[1:]))


def rank_one(width):
    u = draw(4, width, 1)
    return F.matmul(u, u.T)


def kernel_dimension(virtual):
    return measure_kernel(virtual, F, np.random.default_rng(5)).kernel


def derivative(virtual):
    """Enough rows of the derivative to see everything."""
    columns = virtual.L.size + sum(M.size for M in virtual.M)
    X = draw(6, columns + 2, virtual.L.shape[1], 2)
    J = virtual_jacobian(F, virtual, X, draw(7, columns + 2, 1, len(virtual.L), 2))
    return J.reshape(-1, columns)


def kernel_basis(J):
    """As many random vectors of the kernel as it has dimensions; independent ones."""
    space = RowSpace(F, J.shape[1])
    space.add(J)
    rng = np.random.default_rng(8)
    vectors = [space.orthogonal_vector(rng) for _ in range(J.shape[1] - space.dimension)]
    basis = np.array(vectors).reshape(-1, J.shape[1])
    assert not len(basis) or exact_rank(basis, F) == len(basis)
    return basis


def rescaling_of(virtual, layer):
    """M˙_i = M_i, L˙ = −3^{l−i} L, which no lightning network notices (Eq. 13)."""
    depth = len(virtual.M)
    Ms = [M if i == layer else np.zeros(M.shape) for i, M in enumerate(virtual.M, start=1)]
    return np.concatenate([*(M.ravel() for M in Ms), F.reduce(-(3.0 ** (depth - layer)) * virtual.L).ravel()])


# The lemma


@pytest.mark.parametrize("width", [2, 3, 4])
def test_an_antisymmetric_layer_only_scales_and_turns(width):
    M = antisymmetric(F, *draw(1, 2, width))
    X = draw(2, 5, width, 2)
    scale, turned = scale_and_turn(F, M, X)
    np.testing.assert_array_equal(first_layer(F, M, X), F.reduce(scale[:, None, None] * turned))
    np.testing.assert_array_equal(turned, np.stack([-X[..., 1], X[..., 0]], axis=-1))


def test_no_other_layer_does():
    X = draw(2, 5, 3, 2)
    for M in (rank_one(3), draw(3, 3, 3)):
        scale, turned = scale_and_turn(F, M, X)
        assert (first_layer(F, M, X) != F.reduce(scale[:, None, None] * turned)).any()


@pytest.mark.parametrize(("width", "layers"), SIZES)
def test_the_scale_and_the_turn_pass_through_the_rest_of_the_network(width, layers):
    """φ(X) = Δ^κ F(X) J with κ = 3^{l−1}."""
    virtual = peeling_network(width, layers)
    X = draw(9, 4, width, 2)
    scale, _ = scale_and_turn(F, virtual.M[0], X)
    rest = without_first_layer(virtual)
    Y = token_form(F, rest, X) if rest.M else F.matmul(rest.L, X)
    factor = np.ones(len(X))
    for _ in range(3 ** (layers - 1)):
        factor = F.reduce(factor * scale)
    turned = F.matmul(Y, np.array([[0.0, 1.0], [-1.0, 0.0]]))
    np.testing.assert_array_equal(token_form(F, virtual, X), F.reduce(factor[:, None, None] * turned))


@pytest.mark.parametrize(("width", "layers"), SIZES)
def test_the_kernel_is_one_rescaling_and_the_kernel_of_the_rest(width, layers):
    """As subspaces: both are in it, they meet in 0 only, and together they are all of it."""
    virtual = peeling_network(width, layers)
    J, rest = derivative(virtual), without_first_layer(virtual)
    tail = kernel_basis(derivative(rest))
    still = np.zeros((len(tail), width * width))  # M_1 does not move
    together = np.concatenate([rescaling_of(virtual, 1)[None], np.concatenate([still, tail], axis=1)])
    assert not F.matmul(J, together.T).any()
    assert exact_rank(together, F) == len(together) == J.shape[1] - exact_rank(J, F) == layers


def test_in_every_direction_of_the_kernel_the_first_matrix_moves_along_itself():
    virtual = peeling_network(3, 3)
    moves = kernel_basis(derivative(virtual))[:, :9]
    assert exact_rank(np.concatenate([moves, virtual.M[0].reshape(1, 9)]), F) == 1


@pytest.mark.parametrize(("width", "layers"), SIZES)
def test_at_a_symmetric_matrix_of_rank_one_the_kernel_is_larger(width, layers):
    """All tokens become parallel, and the antisymmetric part of every later M is unseen."""
    virtual = with_first(peeling_network(width, layers), rank_one(width))
    unseen = (layers - 1) * width * (width - 1) // 2
    found, tail = kernel_dimension(virtual), kernel_dimension(without_first_layer(virtual))
    assert found == layers + unseen
    assert (found == 1 + tail) == (layers == 1)


def test_the_later_symmetric_parts_must_not_vanish():
    """The hypothesis Sym M_j ≠ 0: two antisymmetric layers in a row hide more."""
    virtual = peeling_network(2, 3)
    second = antisymmetric(F, *draw(11, 2, 2))
    bad = VirtualWeights(virtual.L, (virtual.M[0], second, virtual.M[2]))
    assert kernel_dimension(bad) > 1 + kernel_dimension(without_first_layer(bad))


@pytest.mark.parametrize(("width", "layers"), SIZES)
def test_a_generic_first_layer_has_the_rescalings_as_its_kernel(width, layers):
    virtual = with_first(peeling_network(width, layers), draw(12, width, width))
    J = derivative(virtual)
    rescalings = np.array([rescaling_of(virtual, i) for i in range(1, layers + 1)])
    assert not F.matmul(J, rescalings.T).any()
    assert exact_rank(rescalings, F) == layers == J.shape[1] - exact_rank(J, F)


def test_a_rescaling_with_another_exponent_is_noticed():
    virtual = peeling_network(2, 2)
    wrong = rescaling_of(virtual, 1)
    wrong[-virtual.L.size :] = F.reduce(-2 * virtual.L.ravel())  # instead of −3
    assert F.matmul(derivative(virtual), wrong[:, None]).any()


def test_only_a_kernel_of_the_rescalings_alone_is_certain():
    sure = measure_kernel(peeling_network(2, 2), F, np.random.default_rng(0))
    assert sure.error_bound == 0 and sure.status == "exact" and "nothing else" in sure.note
    larger = with_first(peeling_network(2, 2), rank_one(2))
    unsure = measure_kernel(larger, F, np.random.default_rng(0))
    assert 0 < unsure.error_bound < 1e-4 and "nothing else" not in unsure.note


# The derivative that all of this rests on


@pytest.mark.parametrize("layers", [0, 1, 2, 3])
def test_the_derivative_in_the_virtual_weights_is_that_of_eq_10(layers):
    over, rng = Reals(), np.random.default_rng(3)
    L, M = rng.standard_normal((2, 3)), rng.standard_normal((layers, 3, 3)) / 2
    X = rng.standard_normal((4, 3, 2)) / 2

    def outputs(parameters):
        Ms = parameters[: 9 * layers].reshape(layers, 3, 3)
        last = VirtualWeights(parameters[9 * layers :].reshape(2, 3), tuple(Ms))
        return (token_form(over, last, X) if layers else last.L @ X).reshape(4, -1)

    here = np.concatenate([M.ravel(), L.ravel()])
    J = virtual_jacobian(over, VirtualWeights(L, tuple(M)), X)
    assert J.shape == (4, 4, here.size)
    for column, unit in enumerate(np.eye(here.size)):
        slope = (outputs(here + 1e-6 * unit) - outputs(here - 1e-6 * unit)) / 2e-6
        np.testing.assert_allclose(J[..., column], slope, atol=1e-6 * max(1.0, np.abs(slope).max()))


def test_mistakes_are_refused_in_words():
    with pytest.raises(ValueError, match="two tokens; got 3"):
        scale_and_turn(F, draw(0, 2, 2), draw(1, 2, 3))
    with pytest.raises(ValueError, match="no first layer"):
        without_first_layer(VirtualWeights(np.eye(2), ()))
