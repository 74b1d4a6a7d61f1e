"""The peel lemma, exactly, and where it fails."""

import numpy as np
import pytest
from differentials import virtual_jacobian

from neuroviz.attention.symmetry import VirtualWeights
from neuroviz.attention.unrolling import token_form
from neuroviz.rank.elimination import exact_rank
from neuroviz.rank.field import PrimeField
from neuroviz.rank.rows import RowSpace

F = PrimeField()
SIZES = [(width, layers) for width in (2, 3, 4) for layers in (1, 2, 3)]


def draw(seed, *shape):
    return F.random(np.random.default_rng(seed), shape)


def antisymmetric(seed, width):
    """αβᵀ − βαᵀ: the layer that peels off."""
    alpha, beta = draw(seed, 2, width)
    product = F.matmul(alpha[:, None], beta[None])
    return F.reduce(product - product.T)


def rank_one(width):
    u = draw(4, width, 1)
    return F.matmul(u, u.T)


def peeling_network(width, layers, first=None):
    """A random network whose M_1 is antisymmetric, or given."""
    first = antisymmetric(1, width) if first is None else first
    return VirtualWeights(
        draw(3, width, width), (first, *draw(2, layers - 1, width, width))
    )


def rest_of(virtual):
    """F: the network without its first layer."""
    return VirtualWeights(virtual.L, virtual.M[1:])


def first_layer(M, X):
    """X XᵀMX, and what the lemma says of it at an antisymmetric M: Δ · XJ with Δ =
    x_1ᵀMx_2."""
    scale = F.matmul(X[..., :1].mT, F.matmul(M, X[..., 1:]))
    turned = np.concatenate([F.reduce(-X[..., 1:]), X[..., :1]], axis=-1)
    return F.matmul(X, F.matmul(X.mT, F.matmul(M, X))), scale, turned


def derivative(virtual):
    """Enough rows of the derivative to see everything."""
    columns = virtual.L.size + sum(M.size for M in virtual.M)
    X = draw(6, columns + 2, virtual.L.shape[1], 2)
    J = virtual_jacobian(F, virtual, X, draw(7, columns + 2, 1, len(virtual.L), 2))
    return J.reshape(-1, columns)


def kernel_dimension(virtual):
    J = derivative(virtual)
    return J.shape[1] - exact_rank(J, F)


def kernel_basis(J):
    """As many random vectors of the kernel as it has dimensions; independent ones."""
    space = RowSpace(F, J.shape[1])
    space.add(J)
    rng = np.random.default_rng(8)
    vectors = [
        space.orthogonal_vector(rng) for _ in range(J.shape[1] - space.dimension)
    ]
    basis = np.array(vectors).reshape(-1, J.shape[1])
    assert not len(basis) or exact_rank(basis, F) == len(basis)
    return basis


def rescaling_of(virtual, layer):
    """M˙_i = M_i, L˙ = −3^{l−i} L, which no lightning network notices (Eq. 13)."""
    depth = len(virtual.M)
    Ms = [
        M if i == layer else np.zeros(M.shape) for i, M in enumerate(virtual.M, start=1)
    ]
    return np.concatenate(
        [
            *(M.ravel() for M in Ms),
            F.reduce(-(3.0 ** (depth - layer)) * virtual.L).ravel(),
        ]
    )


@pytest.mark.parametrize("width", [2, 3, 4])
def test_an_antisymmetric_layer_only_scales_and_turns_and_no_other_layer_does(width):
    X = draw(2, 5, width, 2)
    for M, peels in (
        (antisymmetric(1, width), True),
        (rank_one(width), False),
        (draw(3, width, width), False),
    ):
        out, scale, turned = first_layer(M, X)
        assert (out == F.reduce(scale * turned)).all() == peels


@pytest.mark.parametrize(("width", "layers"), SIZES)
def test_the_scale_and_the_turn_pass_through_the_rest_of_the_network(width, layers):
    """φ(X) = Δ^κ F(X) J with κ = 3^{l−1}."""
    virtual = peeling_network(width, layers)
    X = draw(9, 4, width, 2)
    rest, (_, scale, _) = rest_of(virtual), first_layer(virtual.M[0], X)
    Y = token_form(F, rest, X) if rest.M else F.matmul(rest.L, X)
    out = F.matmul(Y, np.array([[0.0, 1.0], [-1.0, 0.0]]))
    for _ in range(3 ** (layers - 1)):
        out = F.reduce(out * scale)
    np.testing.assert_array_equal(token_form(F, virtual, X), out)


@pytest.mark.parametrize(("width", "layers"), SIZES)
def test_the_kernel_is_one_rescaling_and_the_kernel_of_the_rest(width, layers):
    """As subspaces: both are in it, they meet in 0 only, and together they are all of
    it."""
    virtual = peeling_network(width, layers)
    J = derivative(virtual)
    tail = kernel_basis(derivative(rest_of(virtual)))
    still = np.zeros((len(tail), width * width))  # M_1 does not move
    together = np.concatenate(
        [rescaling_of(virtual, 1)[None], np.concatenate([still, tail], axis=1)]
    )
    assert not F.matmul(J, together.T).any()
    assert (
        exact_rank(together, F)
        == len(together)
        == J.shape[1] - exact_rank(J, F)
        == layers
    )


@pytest.mark.parametrize(("width", "layers"), SIZES)
def test_at_a_symmetric_matrix_of_rank_one_the_kernel_is_larger(width, layers):
    """All tokens become parallel, and the antisymmetric part of every later M is
    unseen."""
    virtual = peeling_network(width, layers, rank_one(width))
    found = kernel_dimension(virtual)
    tail = kernel_dimension(rest_of(virtual))
    assert found == layers + (layers - 1) * width * (width - 1) // 2
    assert (found == 1 + tail) == (layers == 1)


def test_the_later_symmetric_parts_must_not_vanish():
    """The hypothesis Sym M_j ≠ 0: two antisymmetric layers in a row hide more."""
    L, M = peeling_network(2, 3)
    bad = VirtualWeights(L, (M[0], antisymmetric(11, 2), M[2]))
    assert kernel_dimension(bad) > 1 + kernel_dimension(rest_of(bad))


@pytest.mark.parametrize(("width", "layers"), SIZES)
def test_a_generic_first_layer_has_the_rescalings_as_its_kernel(width, layers):
    virtual = peeling_network(width, layers, draw(12, width, width))
    J = derivative(virtual)
    rescalings = np.array([rescaling_of(virtual, i) for i in range(1, layers + 1)])
    assert not F.matmul(J, rescalings.T).any()
    assert exact_rank(rescalings, F) == layers == J.shape[1] - exact_rank(J, F)


def test_a_rescaling_with_another_exponent_is_noticed():
    virtual = peeling_network(2, 2)
    wrong = rescaling_of(virtual, 1)
    wrong[-virtual.L.size :] = F.reduce(-2 * virtual.L.ravel())  # instead of −3
    assert F.matmul(derivative(virtual), wrong[:, None]).any()
