"""The slice that every network reaches by symmetries, and how far two networks are from
one orbit."""

import numpy as np
import pytest
from variants import random_architectures

from neuroviz.attention.formulas import paper_formula
from neuroviz.engine.architecture import Architecture
from neuroviz.engine.gauge_slice import gauge_slice, num_columns
from neuroviz.engine.measure import measure_dimension
from neuroviz.engine.network import (
    Layer,
    flatten,
    forward,
    layer_shapes,
    random_tokens,
    random_weights,
)
from neuroviz.rank.field import DEFAULT_PRIME, SECOND_PRIME, PrimeField, Reals

BOTH = ("lightning", "softmax")
BOTTLENECKS = [
    Architecture(widths, head_dims, 3, attention)
    for widths, head_dims in [
        ((3, 3), (2,)),
        ((3, 2, 3), (2, 2)),
        ((4, 4, 4), (4, 2)),
        ((5, 3, 3, 4), (2, 3, 1)),
        ((2, 1, 2), (1, 1)),
        ((4, 2, 2, 2, 3), (3, 2, 1, 2)),
    ]
    for attention in BOTH
]
NOT_BOTTLENECKS = [
    Architecture(widths, head_dims, 3, attention)
    for widths, head_dims in [
        ((2, 4, 2), (2, 2)),  # widening
        ((2, 5, 3, 4), (1, 2, 4)),  # widening, then narrower, a > d
        ((3, 3), (5,)),  # a > d
        ((4, 2, 3, 2), (2, 2, 2)),  # unequal
        ((1, 3, 2), (2, 2)),  # tokens on a line
        ((3, 3, 1), (1, 3)),  # a narrow end
    ]
    for attention in BOTH
]
every_architecture = pytest.mark.parametrize(
    "arch", BOTTLENECKS + NOT_BOTTLENECKS, ids=str
)


# The slice


def carry_into_the_slice(weights, attention):
    """Weights of the slice with the same function, by symmetries; written from Lemma
    3.1, Eq. 9 and Eq. 13.

    B_i maps the slice's tokens after layer i to the network's: it starts as the
    identity, and where a layer widens, the tokens stay in the image of what came
    before.
    """
    B, carried = np.eye(weights[0].V.shape[1]), []
    for i, (Q, K, V) in enumerate(weights):
        Q, K, V = Q @ B, K @ B, V @ B
        a, r = Q.shape
        if a > r:  # more rows than needed: Q ↦ A, K ↦ I
            Q, K = K.T @ Q, np.eye(r)
        C = K[:, : len(K)]  # head basis: K ↦ C⁻¹K, Q ↦ CᵀQ
        Q, K = C.T @ Q, np.linalg.solve(C, K)
        if attention == "lightning":  # rescaling: A ↦ A/c, V ↦ cV
            Q, V = Q / Q[0, 0], V * Q[0, 0]
        if i < len(weights) - 1:  # interface: V ↦ B⁻¹V
            B = V[:, : min(V.shape)]
            V = np.linalg.lstsq(B, V, rcond=None)[0]
        carried.append(Layer(Q, K, V))
    return tuple(carried)


@every_architecture
def test_symmetries_carry_a_random_network_into_the_slice(arch):
    """The function stays what it was: all that the upper bound rests on."""
    across, rng = gauge_slice(arch), np.random.default_rng(1)
    weights = random_weights(Reals(), arch, rng)
    carried = carry_into_the_slice(weights, arch.attention)
    X = 0.5 * random_tokens(Reals(), arch, 4, rng)
    np.testing.assert_allclose(
        forward(Reals(), arch.attention, carried, X),
        forward(Reals(), arch.attention, weights, X),
        rtol=1e-6,
        atol=1e-9,
    )
    assert [tuple(M.shape for M in layer) for layer in carried] == [
        tuple(s) for s in layer_shapes(across.reduced)
    ]
    fixed = ~across.free
    member = flatten(across.weights(Reals(), rng))
    np.testing.assert_allclose(flatten(carried)[fixed], member[fixed], atol=1e-8)


@every_architecture
def test_the_free_entries_of_the_slice_are_random_and_the_others_are_not(arch):
    across = gauge_slice(arch)
    rng = np.random.default_rng(0)
    points = np.array([flatten(across.weights(PrimeField(), rng)) for _ in range(6)])
    varies = (points != points[0]).any(axis=0)
    assert (varies == across.free).all()
    assert num_columns(arch) == across.free.sum() and across.free.shape == (
        across.reduced.num_parameters,
    )


@pytest.mark.parametrize("arch", BOTTLENECKS, ids=str)
def test_in_a_bottleneck_the_free_entries_are_counted_by_the_papers_formula(arch):
    """Eq. 14 and Eq. 16, written out."""
    d = arch.widths
    alphas = sum(min(a, d_in) * (2 * d_in - min(a, d_in)) for d_in, _, a in arch.layers)
    values = d[1] * (d[0] + d[-1] - d[1]) if arch.num_layers > 1 else d[0] * d[1]
    rescalings = arch.num_layers if arch.attention == "lightning" else 0
    assert (
        num_columns(arch) == values + alphas - rescalings == paper_formula(arch).value
    )


def test_the_slice_never_has_fewer_free_entries_than_there_are_dimensions():
    """Measured over all parameters: nothing of the slice is used."""
    for arch in random_architectures(60, seed=3):
        everywhere = measure_dimension(arch, route="weights", prime=DEFAULT_PRIME).value
        assert num_columns(arch) >= everywhere, arch
        assert (
            measure_dimension(arch, route="slice", prime=SECOND_PRIME).value
            == everywhere
        ), arch


@every_architecture
def test_a_reduced_network_is_no_wider_than_its_narrowest_earlier_layer(arch):
    reduced = gauge_slice(arch).reduced
    inner = [min(arch.widths[: i + 1]) for i in range(arch.num_layers)]
    assert reduced.widths == (*inner, arch.widths[-1])
    assert all(a <= d_in for d_in, _, a in reduced.layers)
    assert (reduced.tokens, reduced.attention) == (arch.tokens, arch.attention)
    assert num_columns(reduced) == num_columns(arch)
