"""The slice that every network reaches by symmetries, counted and measured."""

from math import prod

import numpy as np
import pytest
from architectures import random_architectures

from neuroviz.attention import Architecture
from neuroviz.attention.layers import by_layer
from neuroviz.rank import measure_dimension, outputs
from neuroviz.rank.field import DEFAULT_PRIME, SECOND_PRIME, Reals
from neuroviz.rank.point import num_parameters, random_point
from neuroviz.rank.tape import Tape

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
    layers = by_layer(weights)
    B = np.eye(layers[0]["V"].shape[1])
    carried = {}
    for i, layer in enumerate(layers):
        Q, K, V = (layer[name] @ B for name in "QKV")
        a, r = Q.shape
        if a > r:  # more rows than needed: Q ↦ A, K ↦ I
            Q = K.T @ Q
            K = np.eye(r)
        C = K[:, : len(K)]  # head basis: K ↦ C⁻¹K, Q ↦ CᵀQ
        Q = C.T @ Q
        K = np.linalg.solve(C, K)
        if attention == "lightning":  # rescaling: A ↦ A/c, V ↦ cV
            Q, V = Q / Q[0, 0], V * Q[0, 0]
        if i < len(layers) - 1:  # interface: V ↦ B⁻¹V
            B = V[:, : min(V.shape)]
            V = np.linalg.lstsq(B, V, rcond=None)[0]
        carried |= {f"{i + 1}.Q": Q, f"{i + 1}.K": K, f"{i + 1}.V": V}
    return carried


def completed(across, free):
    """The matrices of a point of the slice."""
    found = {}

    class Network:
        parameter_shapes = across.network.parameter_shapes

        def record(self, tape, weights, inputs):
            found.update({name: node.value[0] for name, node in weights.items()})
            return inputs

    type(across)(Network(), across.corners).record(
        tape := Tape(Reals()),
        {name: tape.parameter(entries) for name, entries in free.items()},
        tape.constant(np.zeros((1, 1, 1))),
    )
    return found


@every_architecture
def test_symmetries_carry_a_random_network_into_the_slice(arch):
    """The function stays what it was: all that the upper bound rests on."""
    across = arch.slice()
    rng = np.random.default_rng(1)
    weights = random_point(arch, Reals(), rng).weights
    carried = carry_into_the_slice(weights, arch.attention)
    X = 0.5 * arch.random_inputs(Reals(), 4, rng)
    np.testing.assert_allclose(
        outputs(across.network, Reals(), carried, X),
        outputs(arch, Reals(), weights, X),
        rtol=1e-6,
        atol=1e-9,
    )
    shapes = {name: matrix.shape for name, matrix in carried.items()}
    assert shapes == across.network.parameter_shapes
    # What the slice holds is what the symmetries have reached.
    free = {
        name: np.full(shape, np.nan) for name, shape in across.parameter_shapes.items()
    }
    for name, matrix in completed(across, free).items():
        is_held = ~np.isnan(matrix)
        np.testing.assert_allclose(carried[name][is_held], matrix[is_held], atol=1e-8)
        assert is_held.sum() == matrix.size - prod(across.parameter_shapes[name])


@pytest.mark.parametrize("arch", BOTTLENECKS, ids=str)
def test_in_a_bottleneck_the_free_entries_are_counted_by_the_papers_formula(arch):
    """Eq. 14 and Eq. 16, written out."""
    d = arch.widths
    alphas = sum(min(a, d_in) * (2 * d_in - min(a, d_in)) for d_in, _, a in arch.layers)
    values = d[1] * (d[0] + d[-1] - d[1]) if arch.num_layers > 1 else d[0] * d[1]
    rescalings = arch.num_layers if arch.attention == "lightning" else 0
    assert num_parameters(arch.slice()) == values + alphas - rescalings


def test_the_slice_never_has_fewer_free_entries_than_there_are_dimensions():
    """Measured over all parameters: nothing of the slice is used."""
    for arch in random_architectures(60, seed=3):
        everywhere = measure_dimension(arch, route="weights", prime=DEFAULT_PRIME).value
        assert num_parameters(arch.slice()) >= everywhere, arch
        across = measure_dimension(arch, route="slice", prime=SECOND_PRIME)
        assert across.value == everywhere and across.route == "slice", arch


@every_architecture
def test_a_reduced_network_is_no_wider_than_its_narrowest_earlier_layer(arch):
    reduced = arch.slice().network
    inner = [min(arch.widths[: i + 1]) for i in range(arch.num_layers)]
    assert reduced.widths == (*inner, arch.widths[-1])
    heads = zip(arch.head_dims, inner, reduced.head_dims, strict=True)
    assert all(a == min(whole, d) for whole, d, a in heads)
