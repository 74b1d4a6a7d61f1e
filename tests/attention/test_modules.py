"""The torch modules are the networks of `neuroviz.attention`: one function, with one
derivative.

That it is the one of the definition says test_definition.py.
"""

import copy
from math import exp

import numpy as np
import pytest
import torch
from definition import output
from torch.utils.flop_counter import FlopCounterMode

from neuroviz.attention import Architecture
from neuroviz.attention.layers import by_layer
from neuroviz.attention.modules import (
    AttentionNetwork,
    LightningAttention,
    SoftmaxAttention,
)
from neuroviz.rank import outputs
from neuroviz.rank.field import Reals
from neuroviz.rank.point import Point, derivative, random_point

pytestmark = pytest.mark.usefixtures("steady_torch")
SIZES = [
    ((2, 3), (4,), 2),  # a > d: A is unconstrained
    ((4, 3, 5), (2, 2), 3),
    ((2, 4, 2), (2, 1), 4),  # widens
    ((1, 1), (1,), 1),
    ((2, 2, 2, 2), (1, 2, 1), 3),
]
NETWORKS = [
    Architecture(*sizes, attention)
    for attention in ("lightning", "softmax")
    for sizes in SIZES
]
KINDS = [LightningAttention, SoftmaxAttention]

all_networks = pytest.mark.parametrize("arch", NETWORKS, ids=str)
both_kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


def a_network(arch, inputs=3, seed=0):
    """Weights and tokens in numpy, of a size that keeps 27th powers in range."""
    rng = np.random.default_rng(seed)
    drawn = random_point(arch, Reals(), rng).weights
    weights = {name: 0.7 * weight for name, weight in drawn.items()}
    return weights, arch.random_inputs(Reals(), inputs, rng)


def with_weights(arch, weights, *temperature):
    """The module with weights from numpy."""
    network = AttentionNetwork(arch, *temperature, dtype=torch.float64)
    network.load_weights(weights)
    return network


def assert_close(actual, expected, rtol):
    """Entry by entry, relative to the largest entry."""
    np.testing.assert_allclose(
        actual, expected, rtol=0, atol=rtol * np.abs(expected).max()
    )


def autograd_jacobian(network, X):
    """The derivative in every weight by torch, shape (N, outputs, parameters)."""
    theta = dict(network.named_parameters())
    blocks = torch.func.jacrev(
        lambda theta: torch.func.functional_call(network, theta, (X,))
    )(theta)
    outputs = network.arch.widths[-1] * X.shape[-1]
    J = torch.cat(
        [block.reshape(len(X), outputs, -1) for block in blocks.values()], dim=-1
    )
    return J.detach().numpy()


# --- the same function ----------------------------------------------------------------


@all_networks
def test_the_module_and_numpy_are_the_same_function_with_the_same_derivative(arch):
    weights, X = a_network(arch)
    network = with_weights(arch, weights)
    Y = outputs(arch, Reals(), weights, X)
    J = derivative(Point(arch, Reals(), weights, {}), X)
    assert_close(network(torch.from_numpy(X)).detach().numpy(), Y, rtol=1e-12)
    assert_close(autograd_jacobian(network, torch.from_numpy(X)), J, rtol=1e-9)


@pytest.mark.parametrize("attention", ["lightning", "softmax"])
def test_these_comparisons_notice_keys_in_the_place_of_queries(attention):
    """A check that cannot fail is no check: Aᵀ for A is the mistake one makes."""
    arch = Architecture((4, 3, 5), (2, 2), 3, attention)
    weights, X = a_network(arch)
    exchanged = dict(weights)
    for i in (1, 2):
        exchanged[f"{i}.Q"] = weights[f"{i}.K"]
        exchanged[f"{i}.K"] = weights[f"{i}.Q"]
    wrong = with_weights(arch, exchanged)
    tokens = torch.from_numpy(X)
    with pytest.raises(AssertionError):
        assert_close(
            wrong(tokens).detach().numpy(),
            outputs(arch, Reals(), weights, X),
            rtol=1e-2,
        )
    with pytest.raises(AssertionError):
        assert_close(
            autograd_jacobian(wrong, tokens),
            derivative(Point(arch, Reals(), weights, {}), X),
            rtol=1e-2,
        )


def test_weights_go_into_a_module_and_come_back():
    arch = Architecture((4, 3, 5), (2, 2))
    weights, _ = a_network(arch)
    network = with_weights(arch, weights)
    read = network.weights()
    for name, weight in read.items():
        np.testing.assert_array_equal(weight, weights[name])
    turned = with_weights(arch, dict(reversed(weights.items()))).weights()
    for name, weight in turned.items():
        np.testing.assert_array_equal(weight, weights[name])
    network.load_weights({name: 2 * weight for name, weight in weights.items()})
    for name, weight in read.items():  # what was read stays
        np.testing.assert_array_equal(weight, weights[name])
    with pytest.raises(ValueError, match=r"has the weights .*; got .*one array"):
        network.load_weights({**weights, "2.V": weights["1.V"]})
    with pytest.raises(ValueError, match="has the weights"):
        network.load_weights({"1.Q": weights["1.Q"]})


# --- batches, types, devices, temperature ---------------------------------------------


@both_kinds
@pytest.mark.parametrize("batch", [(), (5,), (2, 3), (0,)], ids=str)
def test_a_batch_of_any_shape_is_its_inputs_one_by_one(kind, batch):
    layer = kind(d_in=4, d_out=3, a=2, dtype=torch.float64)
    X = torch.randn(*batch, 4, 6, dtype=torch.float64)
    Y = layer(X)
    assert Y.shape == (*batch, 3, 6)
    singles = [layer(one) for one in X.reshape(-1, 4, 6)]
    for whole, single in zip(Y.reshape(-1, 3, 6), singles, strict=True):
        torch.testing.assert_close(whole, single)


@both_kinds
@pytest.mark.parametrize(
    ("dtype", "rtol"),
    [(torch.float64, 1e-12), (torch.float32, 1e-5), (torch.bfloat16, 0.2)],
    ids=str,
)
def test_every_floating_type_computes_the_same_function_to_its_own_precision(
    kind, dtype, rtol
):
    exact = kind(4, 3, 2, dtype=torch.float64)
    X = torch.randn(4, 6, dtype=torch.float64)
    layer = copy.deepcopy(exact).to(dtype)
    Y = layer(X.to(dtype))
    assert Y.dtype == dtype
    assert_close(Y.detach().double().numpy(), exact(X).detach().numpy(), rtol)


@both_kinds
@pytest.mark.parametrize(
    "device", ["cpu", "meta"] + ["cuda"] * torch.cuda.is_available()
)
def test_a_layer_lives_on_any_device(kind, device):
    layer = kind(4, 3, 2, device=device, dtype=torch.float64)
    Y = layer(torch.ones(5, 4, 6, device=device, dtype=torch.float64))
    assert (Y.device.type, Y.dtype, Y.shape) == (device, torch.float64, (5, 3, 6))


@both_kinds
def test_the_first_weights_give_logits_and_values_of_variance_one(kind):
    """Stated in reset_parameters; 40 layers of 30 tokens, so a few percent of
    scatter."""
    values = []
    logits = []
    for _ in range(40):
        layer = kind(20, 10, 5)
        X = torch.randn(20, 30)
        scores = (layer.K @ X).mT @ (layer.Q @ X)
        logits.append(scores[~torch.eye(30, dtype=torch.bool)])
        values.append((layer.V @ X).ravel())
    assert torch.cat(values).var().item() == pytest.approx(1, rel=0.1)
    one, same, other = (kind(3, 3, 2) for _ in range(3))
    for layer, seed in ((one, 7), (same, 7), (other, 8)):
        layer.reset_parameters(torch.Generator().manual_seed(seed))
    assert torch.equal(one.Q, same.Q) and not torch.equal(one.Q, other.Q)
    assert torch.cat(logits).var().item() == pytest.approx(1, rel=0.1)


@pytest.mark.parametrize("temperature", [0.5, 3.0])
def test_a_temperature_divides_the_attention_matrix(temperature):
    """Eq. 15: S = exp(·/τ)."""
    arch = Architecture((4, 3, 5), (2, 2), attention="softmax")
    weights, X = a_network(arch)
    tempered = with_weights(arch, weights, temperature)(torch.from_numpy(X))
    divided = dict(weights)
    for i in (1, 2):
        divided[f"{i}.Q"] = weights[f"{i}.Q"] / temperature
    torch.testing.assert_close(
        tempered, with_weights(arch, divided)(torch.from_numpy(X))
    )
    layers = [tuple(layer.values()) for layer in by_layer(weights)]
    found = tempered[0].T.tolist()
    plain = output("softmax", layers, X[0].T, exp)
    sharp = output("softmax", layers, X[0].T, lambda s: exp(s / temperature))
    assert_close(found, sharp, rtol=1e-12)
    # and it is not without effect
    assert np.abs(np.subtract(found, plain)).max() > 1e-2


# --- linear in t: where the name comes from -------------------------------------------


def flops(layer, t):
    """Multiplications and additions of a forward and backward pass, counted, not
    timed."""
    with FlopCounterMode(display=False) as counter:
        layer(
            torch.empty(layer.d_in, t, device="meta", requires_grad=True)
        ).sum().backward()
    return counter.get_total_flops()


def growth(layer, t=1000):
    """By how much more the third thousand of tokens costs than the second."""
    return (flops(layer, 3 * t) - flops(layer, 2 * t)) / (
        flops(layer, 2 * t) - flops(layer, t)
    )


def test_lightning_attention_is_linear_in_the_number_of_tokens_and_softmax_is_not():
    """(3² − 2²) / (2² − 1²) = 5/3 once t² is all that matters."""
    assert growth(LightningAttention(8, 6, 4, device="meta")) == 1
    assert growth(SoftmaxAttention(8, 6, 4, device="meta")) == pytest.approx(
        5 / 3, rel=0.01
    )


def test_the_cost_of_lightning_attention_is_what_its_docstring_says():
    (d_in, d_out, a), t = (8, 6, 4), 1000
    layer = LightningAttention(d_in, d_out, a, device="meta")
    with FlopCounterMode(display=False) as counter:
        layer(torch.empty(d_in, t, device="meta"))
    assert counter.get_total_flops() == 2 * (
        t * a * (3 * d_in + d_out) + a * d_in * d_out
    )


# --- errors that teach ----------------------------------------------------------------


LIGHTNING = LightningAttention(4, 3, 2)
SOFTMAX = SoftmaxAttention(4, 3, 2)
POINT = Architecture((1, 1), (1,))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: LIGHTNING(torch.ones(6, 4)),
            r"\(…, 4, t\).*got \(6, 4\).*transpose with X.mT",
        ),
        (lambda: SOFTMAX(torch.ones(5, 6)), r"\(…, 4, t\).*got \(5, 6\).*width 5"),
        (
            lambda: LIGHTNING(torch.ones(4)),
            r"got \(4,\): a single token x .* x\[:, None\]",
        ),
        (
            lambda: LIGHTNING(torch.ones(4, 6).double()),
            r"float64.*float32.*X.to\(torch.float32\)",
        ),
        (lambda: LightningAttention(0, 3, 2), "a whole number ≥ 1; got 0"),
        (lambda: SoftmaxAttention(4, 3, 2.5), "a whole number ≥ 1; got 2.5"),
        (lambda: SoftmaxAttention(4, 3, 2, temperature=0), "finite number > 0; got 0"),
        (
            lambda: SoftmaxAttention(4, 3, 2, temperature="hot"),
            "finite number > 0; got 'hot'",
        ),
        (
            lambda: AttentionNetwork(POINT, temperature=2.0),
            "lightning attention has no temperature; got",
        ),
    ],
)
def test_an_error_says_what_is_needed_what_came_and_what_to_do(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_modules_print_what_they_are():
    network = AttentionNetwork(
        Architecture((4, 3), (2,), attention="softmax"), temperature=0.5
    )
    assert "softmax 4→3, a = 2, t = 3" in repr(network)
    assert "SoftmaxAttention(d_in=4, d_out=3, a=2, temperature=0.5)" in repr(network)


@pytest.mark.parametrize("X", [None, np.ones((3, 5)), [[1.0]]], ids=repr)
def test_what_is_no_tensor_is_refused(X):
    with pytest.raises(ValueError, match="tokens need to be a torch tensor; got"):
        LightningAttention(3, 3, 2)(X)


def test_whole_tokens_are_converted_and_not_the_weights():
    with pytest.raises(ValueError, match=r"X\.to\(torch\.float\d+\)$"):
        LightningAttention(3, 3, 2)(torch.ones((3, 5), dtype=torch.int64))
