"""The forward pass is the definition, and the Jacobian is its derivative."""

import math
from dataclasses import replace

import numpy as np
import pytest
from definition import Residue, derivative, output

from neuroviz.engine.architecture import Architecture
from neuroviz.engine.network import (
    Layer,
    flatten,
    forward,
    jacobian,
    layer_shapes,
    random_tokens,
    random_weights,
    unflatten,
)
from neuroviz.engine.tape import Tape
from neuroviz.rank.field import DEFAULT_PRIME, SECOND_PRIME, PrimeField, Reals

ARCHITECTURES = [
    Architecture(widths, head_dims, tokens, attention)
    for widths, head_dims, tokens in [
        ((2, 3), (2,), 3),  # one layer
        ((2, 2), (4,), 2),  # a > d
        ((3, 2), (2,), 1),  # one token
        ((1, 1), (1,), 3),  # as narrow as it gets
        ((3, 1, 2), (2, 1), 3),  # tokens on a line
        ((2, 4, 3), (1, 3), 2),  # widening
        ((2, 2, 2, 2), (1, 2, 1), 2),  # deep
    ]
    for attention in ("lightning", "softmax")
]
LIGHTNING = [arch for arch in ARCHITECTURES if arch.attention == "lightning"]
every_architecture = pytest.mark.parametrize("arch", ARCHITECTURES, ids=str)
every_lightning = pytest.mark.parametrize("arch", LIGHTNING, ids=str)


def point(arch: Architecture, inputs: int = 2, seed: int = 0, over=Reals()):  # noqa: B008
    rng = np.random.default_rng(seed)
    weights, X = random_weights(over, arch, rng), random_tokens(over, arch, inputs, rng)
    if isinstance(over, Reals):
        weights = tuple(Layer(*(0.7 * M for M in layer)) for layer in weights)
    return weights, X


@every_architecture
def test_the_forward_pass_is_the_definition(arch):
    """Eq. 1–4 and Eq. 15, token by token."""
    weights, X = point(arch)
    ours = forward(Reals(), arch.attention, weights, X)
    assert ours.shape == (2, arch.widths[-1], arch.tokens)
    for x, y in zip(X, ours, strict=True):
        lists = [tuple(M.tolist() for M in layer) for layer in weights]
        expected = output(arch.attention, lists, x.T.tolist(), math.exp)
        np.testing.assert_allclose(y.T, expected, rtol=1e-11, atol=1e-12)


def by_hand(arch, weights, X, p, attention_weights):
    """Outputs and derivative over F_p with the attention weights that the package drew
    as exponentials."""
    residues = lambda M: [[Residue(int(n) % p, p) for n in row] for row in M.tolist()]
    lists = [tuple(residues(M) for M in layer) for layer in weights]

    def replay(n):
        drawn = [S[n].T.ravel() for S in attention_weights]
        numbers = iter(np.concatenate(drawn) if drawn else [])
        return lambda s: Residue(int(next(numbers)) % p, p)

    outputs = [
        output(arch.attention, lists, residues(x.T), replay(n)) for n, x in enumerate(X)
    ]
    rows = [
        derivative(arch.attention, lists, residues(x.T), replay(n))
        for n, x in enumerate(X)
    ]
    numbers = lambda nested: np.vectorize(lambda r: r.n, otypes=[object])(
        np.array(nested, dtype=object)
    )
    return numbers(outputs), numbers(rows)


@pytest.fixture
def drawn(monkeypatch):
    """What a prime field's softmax drew, layer by layer."""
    kept, softmax = [], PrimeField.softmax

    def keep(self, *arguments):
        kept.append(softmax(self, *arguments))
        return kept[-1]

    monkeypatch.setattr(PrimeField, "softmax", keep)
    return kept


@pytest.mark.parametrize("p", [DEFAULT_PRIME, SECOND_PRIME, 3])
@every_architecture
def test_over_a_prime_field_outputs_and_derivatives_are_the_definitions(arch, p, drawn):
    """Entry by entry, against dual numbers over whole numbers mod p."""
    over = PrimeField(p)
    weights, X = point(arch, over=over)
    J = jacobian(over, arch.attention, weights, X, rng=np.random.default_rng(1))
    outputs, rows = by_hand(arch, weights, X, p, drawn)
    drawn.clear()
    Y = forward(over, arch.attention, weights, X, np.random.default_rng(1))
    assert (np.swapaxes(Y, 1, 2).astype(int) % p == outputs).all()
    assert J.shape == (2, arch.widths[-1] * arch.tokens, arch.num_parameters)
    assert (J.astype(int) % p == rows).all()
    J[1, 0, -1] += 1  # one wrong entry is seen
    assert not (J.astype(int) % p == rows).all()


@every_lightning
def test_rescaled_tokens_multiply_all_rows_of_an_input_by_one_number(arch):
    """Lightning is homogeneous, so the rank of the rows is not touched."""
    weights, X = point(arch)
    J = jacobian(Reals(), "lightning", weights, X)
    rescaled = jacobian(Reals(), "lightning", weights, X, rescale=True)
    for plain, ours in zip(J, rescaled, strict=True):
        ratio = np.abs(plain).max() / np.abs(ours).max()
        np.testing.assert_allclose(
            ratio * ours, plain, rtol=1e-8, atol=1e-9 * np.abs(plain).max()
        )


@pytest.mark.parametrize(
    "arch", [*ARCHITECTURES, Architecture((3, 4), (2,), heads=3)], ids=str
)
def test_flattened_weights_unflatten_to_themselves(arch):
    weights = random_weights(Reals(), arch, np.random.default_rng(0))
    vector = flatten(weights)
    assert vector.shape == (arch.num_parameters,)
    for layer, again, shapes in zip(
        weights, unflatten(arch, vector), layer_shapes(arch), strict=True
    ):
        for M, N, shape in zip(layer, again, shapes, strict=True):
            assert M.shape == N.shape == shape and (M == N).all()
    for shape in ((arch.num_parameters + 1,), (arch.num_parameters, 1), ()):
        with pytest.raises(ValueError, match="parameters; got an array of shape"):
            unflatten(arch, np.zeros(shape))


def test_tokens_are_rescaled_only_where_that_changes_no_rank():
    arch = Architecture((2, 2), (2,), tokens=2)
    for attention, over in (("softmax", Reals()), ("lightning", PrimeField())):
        weights, X = point(arch, over=over)
        with pytest.raises(
            ValueError, match=f"lightning over the reals.*got {attention}"
        ):
            jacobian(
                over, attention, weights, X, rng=np.random.default_rng(0), rescale=True
            )
    with pytest.raises(
        ValueError,
        match="lightning over the reals.*got lightning 2→2, a = 2, t = 2, skip",
    ):
        jacobian(Reals(), replace(arch, skip=True), *point(arch), rescale=True)


WITH_DEGREES = {
    # of w → the step, with x of degree 1: the degree of the value, and of its
    # derivative in w
    "w + x": (lambda tape, w, x: tape.add(w, x), 1, 0),
    "x + w": (lambda tape, w, x: tape.add(x, w), 1, 0),
    "w x": (lambda tape, w, x: tape.matmul(w, x), 2, 1),
    "x w": (lambda tape, w, x: tape.matmul(x, w), 2, 1),
    "wᵀ x": (lambda tape, w, x: tape.inner_products(w, x), 2, 1),
    "xᵀ w": (lambda tape, w, x: tape.inner_products(x, w), 2, 1),
    "w times x": (lambda tape, w, x: tape.times(w, x), 2, 1),
    "w³": (lambda tape, w, x: tape.power(w, 3), 3, 2),
    "(w x)³ + x": (
        lambda tape, w, x: tape.add(tape.power(tape.matmul(w, x), 3), x),
        6,
        5,
    ),
    "rows of w": (lambda tape, w, x: tape.split(w, [(1, 1), (1, 1)])[1], 1, 0),
    "w for three heads": (lambda tape, w, x: tape.share(w, 3), 1, 0),
    "their sum": (lambda tape, w, x: tape.over_heads(tape.share(w, 3)), 1, 0),
    "softmax of w, shares of degree 2": (
        lambda tape, w, x: tape.softmax(w, np.eye(2)[None, None], 2),
        2,
        4,
    ),
}


@pytest.mark.parametrize("name", WITH_DEGREES)
def test_each_step_of_a_tape_has_the_degree_of_its_formula(name):
    """The cotangent, of degree 1, counts in a derivative."""
    step, of_the_value, of_the_derivative = WITH_DEGREES[name]
    tape = Tape(Reals())
    w, x = tape.parameter(np.eye(2)), tape.constant(np.eye(2))
    result = step(tape, w, x)
    assert (result.degree, tape.degree(result, [w])) == (
        of_the_value,
        1 + of_the_derivative,
    )
