"""What symmetries leave alone and what they do not."""

import random
from fractions import Fraction

import numpy as np
import pytest
from definition import RandomExponential, Residue, derivative, output, residues

from neuroviz.engine.architecture import Architecture
from neuroviz.engine.field import DEFAULT_PRIME, SECOND_PRIME, PrimeField, Reals
from neuroviz.engine.network import (
    Layer,
    flatten,
    forward,
    jacobian,
    layer_shapes,
    random_tokens,
    random_weights,
)
from neuroviz.engine.rank import exact_rank
from neuroviz.engine.symmetry import (
    change_head_basis,
    change_interface,
    head_directions,
    interface_directions,
    recover_head_basis,
    recover_interfaces,
    rescale,
    rescaling_direction,
    swap_keys_and_values,
    symmetry_directions,
    virtual_weights,
)

BOTH = ("lightning", "softmax")

# The actions, against the definition


def random_architectures(count: int, seed: int):
    draw = random.Random(seed)
    for _ in range(count):
        depth = draw.randint(1, 4)
        widths = [draw.randint(1, 6) for _ in range(depth + 1)]
        yield Architecture(
            widths, [draw.randint(1, 4) for _ in range(depth)], draw.randint(1, 4), draw.choice(BOTH)
        )


SMALL = [
    Architecture(widths, head_dims, tokens, attention)
    for widths, head_dims, tokens in [
        ((2, 3), (2,), 3),
        ((2, 2), (3,), 2),  # a > d
        ((1, 1), (1,), 2),
        ((3, 2), (2,), 1),  # one token
        ((3, 2, 3), (2, 1), 2),
        ((2, 4, 2), (2, 2), 2),  # widening
        ((3, 1, 2), (1, 3), 3),  # tokens on a line
        ((2, 3, 2, 2), (1, 2, 4), 2),
    ]
    for attention in BOTH
]
every_small = pytest.mark.parametrize("arch", SMALL, ids=str)


def as_residues(matrix: np.ndarray, p: int) -> list[list[Residue]]:
    return [[Residue(int(x) % p, p) for x in row] for row in matrix]


def is_same_function(attention: str, first, second, tokens: int, p: int = DEFAULT_PRIME) -> bool:
    """Whether two networks agree mod p on random tokens, by the definition.

    Softmax: equal logits have equal exponentials, others have others.
    """
    number = residues(p, seed=1)
    exp = RandomExponential(number)
    inputs = [[[number() for _ in range(first[0].V.shape[1])] for _ in range(tokens)] for _ in range(2)]
    outputs = [
        [output(attention, [[as_residues(M, p) for M in layer] for layer in weights], X, exp) for X in inputs]
        for weights in (first, second)
    ]
    return outputs[0] == outputs[1]


def continuous_actions(over, attention: str, weights, rng):
    """Every continuous symmetry with a random group element."""
    for i, (Q, _, V) in enumerate(weights):
        yield f"head {i}", change_head_basis(over, weights, i, over.random_invertible(rng, len(Q)))
        if i < len(weights) - 1:
            yield f"interface {i}", change_interface(over, weights, i, over.random_invertible(rng, len(V)))
        if attention == "lightning":
            yield f"rescaling {i}", rescale(over, weights, i, over.random_invertible(rng, 1)[0, 0])


@pytest.mark.parametrize("p", [DEFAULT_PRIME, SECOND_PRIME])
@every_small
def test_every_action_leaves_the_function_alone_exactly(arch, p):
    """Over F_p, token by token; the weights themselves do move."""
    F, rng = PrimeField(p), np.random.default_rng(2)
    weights = random_weights(F, arch, rng)
    for name, moved in continuous_actions(F, arch.attention, weights, rng):
        assert is_same_function(arch.attention, weights, moved, arch.tokens, p), name
        assert (flatten(moved) != flatten(weights)).any(), name


def test_every_action_leaves_random_networks_alone_one_after_the_other():
    """All actions in a row, on architectures that nobody chose."""
    F = PrimeField()
    for arch in random_architectures(40, seed=8):
        rng = np.random.default_rng(arch.num_parameters)
        start = weights = random_weights(F, arch, rng)
        kinds = sum(1 for _ in continuous_actions(F, arch.attention, weights, rng))
        for k in range(kinds):
            _, weights = list(continuous_actions(F, arch.attention, weights, rng))[k]
        assert is_same_function(arch.attention, start, weights, arch.tokens), arch
        assert [M.shape for layer in weights for M in layer] == [M.shape for layer in start for M in layer]


@every_small
def test_every_action_leaves_the_function_alone_in_floats(arch):
    """With random group elements of condition at most 4, on random inputs."""
    R, rng = Reals(), np.random.default_rng(3)
    weights = random_weights(R, arch, rng)
    X = random_tokens(R, arch, 20, rng)
    before = forward(R, arch.attention, weights, X)
    for name, moved in continuous_actions(R, arch.attention, weights, rng):
        after = forward(R, arch.attention, moved, X)
        np.testing.assert_allclose(after, before, rtol=1e-8, atol=1e-11 * np.abs(before).max(), err_msg=name)
        assert np.abs(flatten(moved) - flatten(weights)).max() > 1e-3, name


def doubling_and_exchanging(rng: np.random.Generator, size: int) -> np.ndarray:
    """A signed permutation times powers of two: a group element without rounding."""
    return np.eye(size)[rng.permutation(size)] * 2.0 ** rng.integers(-3, 4, size) * rng.choice([-1, 1], size)


@pytest.mark.parametrize("arch", [a for a in SMALL if a.attention == "lightning"], ids=str)
def test_real_actions_leave_the_function_alone_in_fractions(arch):
    """Over Q, with group elements that floats hold exactly."""
    R, rng = Reals(), np.random.default_rng(4)
    weights = tuple(
        Layer(*(rng.integers(-9, 10, s).astype(float) for s in shapes)) for shapes in layer_shapes(arch)
    )
    moved = weights
    for i, (Q, _, V) in enumerate(weights):
        moved = change_head_basis(R, moved, i, doubling_and_exchanging(rng, len(Q)))
        moved = rescale(R, moved, i, -8.0)
        if i < len(weights) - 1:
            moved = change_interface(R, moved, i, doubling_and_exchanging(rng, len(V)))
    tokens = [[Fraction(int(x), 7) for x in rng.integers(-9, 10, arch.widths[0])] for _ in range(arch.tokens)]
    first, second = (
        output(
            arch.attention, [[[[Fraction(x) for x in r] for r in M] for M in lay] for lay in w], tokens, None
        )
        for w in (weights, moved)
    )
    assert first == second and (flatten(weights) != flatten(moved)).any()


def replace(weights, i, **changes):
    return (*weights[:i], weights[i]._replace(**changes), *weights[i + 1 :])


def wrong_actions(F, weights, rng):
    """Near misses: each forgets or confuses one thing."""
    Q, K, V = weights[0]
    C, D = F.random_invertible(rng, len(Q)), F.random_invertible(rng, len(V))
    back, after = F.inverse(D), weights[1]
    yield "head: C for its inverse transpose", BOTH, replace(weights, 0, Q=F.matmul(C, Q), K=F.matmul(C, K))
    yield (
        "head: not transposed",
        BOTH,
        replace(weights, 0, Q=F.matmul(C, Q), K=F.matmul(F.inverse(C), K)),
    )
    yield "head: keys forgotten", BOTH, replace(weights, 0, Q=F.matmul(C, Q))
    yield "interface: only the layer before", BOTH, replace(weights, 0, V=F.matmul(D, V))
    for forgotten in ("Q", "K", "V"):
        moved = {n: F.matmul(getattr(after, n), back) for n in "QKV" if n != forgotten}
        yield (
            f"interface: {forgotten} forgotten",
            BOTH,
            replace(replace(weights, 0, V=F.matmul(D, V)), 1, **moved),
        )
    moved = {n: F.matmul(getattr(after, n), D) for n in "QKV"}
    yield "interface: C for its inverse", BOTH, replace(replace(weights, 0, V=F.matmul(D, V)), 1, **moved)
    moved = {n: F.matmul(getattr(after, n), back.T) for n in "QKV"}
    yield "interface: transposed", BOTH, replace(replace(weights, 0, V=F.matmul(D, V)), 1, **moved)
    yield "rescaling: V times c", ("lightning",), replace(weights, 0, Q=F.reduce(5 * Q), V=F.reduce(5 * V))
    yield "rescaling: values forgotten", ("lightning",), replace(weights, 0, Q=F.reduce(5 * Q))
    yield "rescaling: of a softmax layer", ("softmax",), rescale(F, weights, 0, 5)


@pytest.mark.parametrize("attention", BOTH)
def test_what_is_nearly_an_action_changes_the_function(attention):
    """The checks above can fail."""
    F, rng = PrimeField(), np.random.default_rng(5)
    weights = random_weights(F, Architecture((3, 3, 2), (2, 2), 3, attention), rng)
    kept = [
        name
        for name, kinds, moved in wrong_actions(F, weights, rng)
        if attention in kinds and is_same_function(attention, weights, moved, tokens=3)
    ]
    assert kept == []


@pytest.mark.parametrize("over", [PrimeField(), PrimeField(7), Reals()], ids=repr)
def test_one_change_after_another_is_their_product_and_the_inverse_undoes_it(over):
    rng = np.random.default_rng(6)
    weights = random_weights(over, Architecture((3, 2, 3), (2, 2)), rng)
    C, D = over.random_invertible(rng, 2), over.random_invertible(rng, 2)
    for change in (change_head_basis, change_interface):
        one, other = (
            change(over, change(over, weights, 0, C), 0, D),
            change(over, weights, 0, over.matmul(D, C)),
        )
        undone = change(over, change(over, weights, 0, C), 0, over.inverse(C))
        np.testing.assert_allclose(flatten(one), flatten(other), atol=1e-12)
        np.testing.assert_allclose(flatten(undone), flatten(weights), atol=1e-12)
    twice, once = rescale(over, rescale(over, weights, 1, 2), 1, 3), rescale(over, weights, 1, 6)
    np.testing.assert_allclose(over.reduce(flatten(twice) - flatten(once)), 0, atol=1e-12)


@pytest.mark.parametrize("layer", [-1, 2, True, "0", None])
def test_a_layer_that_is_not_there_is_refused(layer):
    weights = random_weights(PrimeField(), Architecture((2, 2, 2), (2, 2)), np.random.default_rng(0))
    for act in (
        lambda: change_head_basis(PrimeField(), weights, layer, np.eye(2)),
        lambda: change_interface(PrimeField(), weights, layer, np.eye(2)),
        lambda: rescale(PrimeField(), weights, layer, 2),
        lambda: swap_keys_and_values(PrimeField(), weights, layer),
    ):
        with pytest.raises(ValueError, match="layers are counted from 0 to 1 here; got layer="):
            act()


@pytest.mark.parametrize("over", [PrimeField(), Reals()], ids=repr)
def test_what_is_no_group_element_is_refused(over):
    weights = random_weights(over, Architecture((2, 3, 2), (2, 4)), np.random.default_rng(0))
    for C in (np.eye(3), np.ones((2, 1)), np.ones(4)):
        with pytest.raises(ValueError, match=r"C must be 2 × 2, the head dimension a; got shape"):
            change_head_basis(over, weights, 0, C)
    with pytest.raises(ValueError, match=r"C must be 3 × 3, the width between the two layers; got shape"):
        change_interface(over, weights, 0, np.eye(2))
    with pytest.raises(ValueError, match="an interface lies between two layers; got layer=1, the last of 2"):
        change_interface(over, weights, 1, np.eye(2))
    for act, size in ((change_head_basis, 2), (change_interface, 3)):
        with pytest.raises(ValueError, match="inverse|Singular"):
            act(over, weights, 0, np.ones((size, size)))
    with pytest.raises(ValueError, match="needs a finite factor c that is not zero; got 0"):
        rescale(over, weights, 0, 0)


def test_a_multiple_of_the_prime_is_zero_and_no_factor():
    weights = random_weights(PrimeField(7), Architecture((2, 2), (2,)), np.random.default_rng(0))
    with pytest.raises(ValueError, match="not zero; got 14"):
        rescale(PrimeField(7), weights, 0, 14)


# The swap


def with_rank_one(over, weights, i, rng):
    """The same network with a random A = u kᵀ and V = h vᵀ in layer i, and these vectors."""
    Q, K, V = weights[i]
    a, d = Q.shape
    u, k, v = (over.random(rng, (1, d)) for _ in range(3))
    h, mix = over.random(rng, (len(V), 1)), over.random(rng, (a, 1))
    # A = (mix k)ᵀ (rest u) with mixᵀ rest = 1
    rest = np.zeros((a, 1))
    rest[:1] = over.inverse(mix[:1])
    layer = Layer(over.matmul(rest, k), over.matmul(mix, u), over.matmul(h, v))
    return (*weights[:i], layer, *weights[i + 1 :]), (u, k, h, v)


@pytest.mark.parametrize("i", range(3))
@pytest.mark.parametrize("head_dim", [1, 2, 4])
def test_where_keys_and_values_have_rank_one_they_may_change_places(i, head_dim):
    """Theorem 3.2, inside a deep network: exact over F_p, and A, V are v kᵀ, h uᵀ."""
    F, rng = PrimeField(), np.random.default_rng([i, head_dim])
    arch = Architecture((3, 2, 3, 2), (head_dim,) * 3, 3)
    weights, (u, k, h, v) = with_rank_one(F, random_weights(F, arch, rng), i, rng)
    swapped = swap_keys_and_values(F, weights, i)
    assert is_same_function("lightning", weights, swapped, tokens=3)
    assert [M.shape for layer in swapped for M in layer] == [M.shape for layer in weights for M in layer]
    Q, K, V = swapped[i]
    A, V_then = F.matmul(K.T, Q), F.matmul(h, u)
    # u, k, h, v are known up to factors: compare A ⊗ V, in which they cancel.
    there = F.reduce(np.multiply.outer(A, V))
    assert not F.reduce(there - F.reduce(np.multiply.outer(F.matmul(v.T, k), V_then))).any()


def test_no_rescaling_of_the_layer_does_what_the_swap_does():
    """The new A is no multiple of the old one, so the fibre has two pieces."""
    F, rng = PrimeField(), np.random.default_rng(1)
    weights, _ = with_rank_one(F, random_weights(F, Architecture((3, 3), (2,)), rng), 0, rng)
    swapped = swap_keys_and_values(F, weights, 0)
    old, new = (F.matmul(layer.K.T, layer.Q).ravel() for layer in (weights[0], swapped[0]))
    assert exact_rank(np.array([old, new]), F) == 2


def test_the_swap_in_floats_and_twice_is_nothing():
    R, rng = Reals(), np.random.default_rng(2)
    arch = Architecture((4, 3), (2,))
    weights, _ = with_rank_one(R, random_weights(R, arch, rng), 0, rng)
    X = random_tokens(R, arch, 20, rng)
    swapped = swap_keys_and_values(R, weights, 0)
    again = swap_keys_and_values(R, swapped, 0)
    before = forward(R, "lightning", weights, X)
    for moved in (swapped, again):
        np.testing.assert_allclose(forward(R, "lightning", moved, X), before, rtol=1e-8, atol=1e-10)
    ratio = virtual_weights(R, again).M[0] / virtual_weights(R, weights).M[0]
    np.testing.assert_allclose(ratio, ratio[0, 0])


def test_other_exchanges_and_the_swap_in_softmax_change_the_function():
    """u and k may not change places, nor k and v, and softmax has no swap at all."""
    F, rng = PrimeField(), np.random.default_rng(3)
    arch = Architecture((3, 3), (1,))
    weights, (u, k, h, v) = with_rank_one(F, random_weights(F, arch, rng), 0, rng)
    assert is_same_function("lightning", weights, (Layer(k, u, F.matmul(h, v)),), 3)
    assert not is_same_function("lightning", weights, (Layer(u, k, F.matmul(h, v)),), 3)
    assert not is_same_function("lightning", weights, (Layer(v, u, F.matmul(h, k)),), 3)
    assert not is_same_function("softmax", weights, swap_keys_and_values(F, weights, 0), 3)


@pytest.mark.parametrize("over", [PrimeField(), Reals()], ids=repr)
def test_a_swap_needs_rank_one_twice(over):
    rng = np.random.default_rng(4)
    generic = random_weights(over, Architecture((3, 3), (2,)), rng)
    one, _ = with_rank_one(over, generic, 0, rng)
    for weights, said in [
        (generic, "A = KᵀQ of rank 2"),
        (replace(one, 0, V=generic[0].V), "V of rank 3"),
        (replace(one, 0, Q=generic[0].Q, K=generic[0].K), "A = KᵀQ of rank 2"),
        (replace(one, 0, Q=0 * one[0].Q), "A = KᵀQ of rank 0"),
        (replace(one, 0, V=0 * one[0].V), "V of rank 0"),
    ]:
        with pytest.raises(ValueError, match=f"only where A and V have rank one; got {said}"):
            swap_keys_and_values(over, weights, 0)


# Virtual weights


def by_hand(weights, p: int):
    """L and M in Python's whole numbers, product by product."""
    whole = [Layer(*(M.astype(np.int64).astype(object) for M in layer)) for layer in weights]
    Ms = []
    for i, layer in enumerate(whole):
        M = layer.K.T @ layer.Q
        for before in reversed(whole[:i]):
            M = before.V.T @ M @ before.V
        Ms.append(M % p)
    L = whole[-1].V
    for before in reversed(whole[:-1]):
        L = L @ before.V
    return L % p, Ms


@every_small
def test_virtual_weights_are_products_of_weights(arch):
    """Eq. 8."""
    F = PrimeField()
    weights = random_weights(F, arch, np.random.default_rng(0))
    virtual, (L, M) = virtual_weights(F, weights), by_hand(weights, F.p)
    assert virtual.L.shape == (arch.widths[-1], arch.widths[0]) and len(virtual.M) == arch.num_layers
    for ours, exact in zip((virtual.L, *virtual.M), (L, *M), strict=True):
        assert (np.mod(ours, F.p) == exact).all()


@every_small
def test_virtual_weights_determine_the_lightning_function(arch):
    """Lemma 3.6: φ = L G_{l−1} M_l ⋯ G_0 M_1 X with G_i = G_{i−1} M_i G_{i−1} M_iᵀ G_{i−1}; exact."""
    F, rng = PrimeField(), np.random.default_rng(1)
    weights = random_weights(F, arch, rng)
    X = random_tokens(F, arch, 1, rng)[0]
    L, Ms = virtual_weights(F, weights)
    G, Y = F.matmul(X, X.T), X
    for M in Ms:
        Y = F.matmul(G, F.matmul(M, Y))
        GM = F.matmul(G, M)
        G = F.matmul(F.matmul(GM, G), F.matmul(M.T, G))
    found = forward(F, "lightning", weights, X[None])[0]
    assert not F.reduce(found - F.matmul(L, Y)).any()


@every_small
def test_head_bases_and_interfaces_leave_the_virtual_weights_alone(arch):
    F, rng = PrimeField(), np.random.default_rng(2)
    weights = random_weights(F, arch, rng)
    before = virtual_weights(F, weights)
    for name, moved in continuous_actions(F, arch.attention, weights, rng):
        after = virtual_weights(F, moved)
        same = all((x == y).all() for x, y in zip((before.L, *before.M), (after.L, *after.M), strict=True))
        assert same == (not name.startswith("rescaling")), name


@pytest.mark.parametrize("i", range(4))
def test_a_rescaling_multiplies_the_virtual_weights_as_it_should(i):
    """M_i by c, each later M_j by c⁻², L by c⁻¹; the earlier ones stay."""
    F, rng = PrimeField(), np.random.default_rng(i)
    weights = random_weights(F, Architecture((3, 2, 4, 3, 2), (2, 1, 3, 2)), rng)
    c = 12345
    inverse = pow(c, -1, F.p)
    before, after = virtual_weights(F, weights), virtual_weights(F, rescale(F, weights, i, c))
    for j in range(4):
        factor = 1 if j < i else c if j == i else inverse**2 % F.p
        assert not F.reduce(after.M[j] - F.reduce(before.M[j] * factor)).any()
    assert not F.reduce(after.L - F.reduce(before.L * inverse)).any()


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_all_rescalings_together_satisfy_the_identity_of_powers(depth):
    """Eq. 13: L′ = λ₀ L, M_i′ = λ_i M_i with λ₀ ∏ λ_i^(3^(l−i)) = 1; other exponents do not fit."""
    F, rng, draw = PrimeField(), np.random.default_rng(depth), random.Random(depth)
    weights = random_weights(F, Architecture.uniform(2, 2, depth), rng)
    moved = weights
    for i in range(depth):
        moved = rescale(F, moved, i, draw.randrange(2, F.p))
    before, after = virtual_weights(F, weights), virtual_weights(F, moved)

    def factor(new, old):
        ratio = int(new[0, 0]) * pow(int(old[0, 0]), -1, F.p) % F.p
        assert not F.reduce(new - F.reduce(old * float(F.reduce(np.array(float(ratio)))))).any()
        return ratio

    ratios = [factor(after.M[i], before.M[i]) for i in range(depth)]
    product = wrong = factor(after.L, before.L)
    for i, ratio in enumerate(ratios, start=1):
        product = product * pow(ratio, 3 ** (depth - i), F.p) % F.p
        wrong = wrong * pow(ratio, 2 ** (depth - i), F.p) % F.p
    assert product == 1 and (wrong != 1) == (depth > 1)


# Directions


def generators(size: int):
    """The unit matrices, in the order of the rows of the directions."""
    for entry in np.eye(size * size):
        yield entry.reshape(size, size)


def one_parameter_groups(over, weights, c):
    """(row of directions, weights moved by g(c), moved by g(1/c) or g(−c), the factor between): see below."""
    back = over.inverse(np.array([[c]]))[0, 0]
    for i, (Q, _, V) in enumerate(weights):
        families = [(head_directions, change_head_basis, len(Q))]
        if i < len(weights) - 1:
            families.append((interface_directions, change_interface, len(V)))
        for directions, change, size in families:
            for row, E in zip(directions(over, weights, i), generators(size), strict=True):
                # E² = 0 off the diagonal, and 1 ± cE are inverse to each other; on it, c and 1/c are.
                on_diagonal = bool(E.trace())
                plus, minus = (c - 1, back - 1) if on_diagonal else (c, -c)
                there, here = (
                    change(over, weights, i, over.reduce(np.eye(size) + x * E)) for x in (plus, minus)
                )
                yield row, there, here, plus - minus
        there, here = rescale(over, weights, i, c), rescale(over, weights, i, back)
        yield rescaling_direction(over, weights, i)[0], there, here, c - back


@every_small
def test_directions_are_the_derivatives_of_the_actions_exactly(arch):
    """Each entry moves as c, as 1/c or linearly: g(c) − g(1/c) is (c − 1/c) times the derivative at 1."""
    F = PrimeField()
    weights = random_weights(F, arch, np.random.default_rng(1))
    for row, there, here, factor in one_parameter_groups(F, weights, 1234.0):
        secant = F.reduce(flatten(there) - flatten(here))
        assert not F.reduce(secant - F.reduce(row * F.reduce(np.array(factor)))).any()
        assert row.any()


@every_small
def test_directions_are_the_derivatives_of_the_actions_in_floats(arch):
    """By central differences; all of the group, not only its one-parameter subgroups."""
    R, rng, h = Reals(), np.random.default_rng(2), 1e-5
    weights = random_weights(R, arch, rng)
    for i, (Q, _, V) in enumerate(weights):
        families = [(head_directions, change_head_basis, len(Q))]
        if i < len(weights) - 1:
            families.append((interface_directions, change_interface, len(V)))
        for directions, change, size in families:
            E = rng.standard_normal((size, size))
            there, here = (flatten(change(R, weights, i, np.eye(size) + s * E)) for s in (h, -h))
            np.testing.assert_allclose(
                (there - here) / (2 * h), E.ravel() @ directions(R, weights, i), atol=1e-7
            )


@every_small
def test_along_the_directions_the_function_does_not_change_exactly(arch):
    """Every row of the Jacobian over F_p, times every direction, is 0."""
    F, rng = PrimeField(), np.random.default_rng(3)
    weights = random_weights(F, arch, rng)
    J = jacobian(F, arch.attention, weights, random_tokens(F, arch, 6, rng), rng=rng)
    J = J.reshape(-1, arch.num_parameters)
    families = symmetry_directions(F, arch.attention, weights)
    assert list(families) == ["head bases", "interfaces", "rescalings"][: 3 - (arch.attention == "softmax")]
    for name, parts in families.items():
        for rows in parts:
            assert not F.matmul(J, rows.T).any(), name


@every_small
def test_along_the_directions_the_definition_does_not_change(arch):
    """The same against derivatives by dual numbers, token by token."""
    F, rng, p = PrimeField(), np.random.default_rng(4), DEFAULT_PRIME
    weights = random_weights(F, arch, rng)
    number = residues(p, seed=2)
    tokens = [[number() for _ in range(arch.widths[0])] for _ in range(arch.tokens)]
    moving = [[as_residues(M, p) for M in layer] for layer in weights]
    J = derivative(arch.attention, moving, tokens, RandomExponential(number))
    J = F.reduce(np.array([[float(x.n) for x in row] for row in J]))
    for parts in symmetry_directions(F, arch.attention, weights).values():
        for rows in parts:
            assert not F.matmul(J, rows.T).any()


def test_wrong_directions_move_the_function():
    """The checks above can fail: with a sign or a layer wrong the product is not 0."""
    F, rng = PrimeField(), np.random.default_rng(5)
    for attention in BOTH:
        arch = Architecture((3, 3, 3), (2, 2), 3, attention)
        weights = random_weights(F, arch, rng)
        J = jacobian(F, attention, weights, random_tokens(F, arch, 6, rng), rng=rng)
        J = J.reshape(-1, arch.num_parameters)
        one_layer = sum(M.size for M in weights[0])
        wrong = {
            "K with the other sign": np.abs(head_directions(F, weights, 0)[:1]) * np.sign(flatten(weights)),
            "interface without the next layer": np.concatenate(
                [interface_directions(F, weights, 0)[:1, :one_layer], np.zeros((1, one_layer))], axis=1
            ),
        }
        if attention == "softmax":
            wrong["rescaling"] = rescaling_direction(F, weights, 0)
        for name, rows in wrong.items():
            assert F.matmul(J, rows.T).any(), (attention, name)


@pytest.mark.parametrize("d", [1, 2, 3, 4])
@pytest.mark.parametrize("a", [1, 2, 3, 5])
def test_a_head_has_as_many_directions_as_lemma_3_1_says(a, d):
    """a² for a ≤ d; beyond, 2ad − d², since C may act as it likes where Q and K do not reach."""
    F = PrimeField()
    weights = random_weights(F, Architecture((d, 2), (a,)), np.random.default_rng([a, d]))
    rows = head_directions(F, weights, 0)
    assert rows.shape == (a * a, 2 * a * d + 2 * d)
    assert exact_rank(rows, F) == (a * a if a <= d else 2 * a * d - d * d)


@pytest.mark.parametrize(("widths", "a"), [((3, 2, 3), 2), ((2, 4, 1), 1), ((1, 5, 2), 1), ((2, 6, 6), 2)])
def test_an_interface_has_as_many_directions_as_its_stabiliser_leaves(widths, a):
    """δ² in a bottleneck; in general δ² − (δ − rk V)(δ − rk [Q; K; V] of the next layer)."""
    F = PrimeField()
    weights = random_weights(F, Architecture(widths, (a, a)), np.random.default_rng(0))
    before, width, after = widths
    rows = interface_directions(F, weights, 0)
    still = (width - min(before, width)) * (width - min(width, 2 * a + after))
    assert len(rows) == width**2 and exact_rank(rows, F) == width**2 - still


# Finding C


@pytest.mark.parametrize("over", [PrimeField(), PrimeField(101), Reals()], ids=repr)
@pytest.mark.parametrize(("a", "d"), [(1, 1), (1, 4), (2, 2), (2, 5), (3, 4), (4, 4)])
def test_the_change_of_basis_is_found_again(a, d, over):
    """Lemma 3.1: exact over F_p, and to rounding in floats."""
    rng = np.random.default_rng([a, d])
    for _ in range(5):
        while True:  # over a small field a random Q may have too small a rank
            weights = random_weights(over, Architecture((d, 2), (a,)), rng)
            if isinstance(over, Reals) or all(exact_rank(M, over) == a for M in weights[0][:2]):
                break
        C = over.random_invertible(rng, a)
        other = change_head_basis(over, weights, 0, C)
        np.testing.assert_allclose(
            over.reduce(recover_head_basis(over, weights[0], other[0]) - C), 0, atol=1e-9
        )


def test_the_basis_is_found_where_the_first_columns_are_dependent():
    F, rng = PrimeField(), np.random.default_rng(0)
    Q, K = F.random(rng, (3, 7)), F.random(rng, (3, 7))
    Q[:, :2] = 0
    Q[:, 3] = F.reduce(3 * Q[:, 2])
    C = F.random_invertible(rng, 3)
    other = Layer(F.matmul(C, Q), F.matmul(F.inverse(C).T, K), None)
    assert (recover_head_basis(F, Layer(Q, K, None), other) == C).all()


@pytest.mark.parametrize("over", [PrimeField(), Reals()], ids=repr)
def test_between_layers_without_a_common_basis_nothing_is_found(over):
    """A rank drop, a > d, another product, other shapes: each is named."""
    rng = np.random.default_rng(1)
    head = random_weights(over, Architecture((3, 2), (2,)), rng)[0]
    other = random_weights(over, Architecture((3, 2), (2,)), rng)[0]
    one = over.matmul(over.random(rng, (2, 1)), over.random(rng, (1, 3)))
    wide = random_weights(over, Architecture((2, 2), (3,)), rng)[0]
    moved = change_head_basis(over, (wide,), 0, over.random_invertible(rng, 3))[0]
    for first, second, said in [
        (head._replace(Q=one), head, r"rank a = 2 \(Lemma 3.1\); got Q of rank 1: other factorisations"),
        (head._replace(K=one), head, "got K of rank 1"),
        (head, head._replace(Q=one), "got Q′ of rank 1"),
        (head, head._replace(K=0 * one), "got K′ of rank 0"),
        (wide, moved, r"rank a = 3 \(Lemma 3.1\); got Q of rank 2: with a > d = 2 its rows cannot"),
        (head, other, "need the same product KᵀQ; got products that differ by"),
        (head, Layer(head.K, head.Q, head.V), "need the same product KᵀQ"),
        (head, wide, r"of one shape; got \(2, 3\), \(2, 3\), \(3, 2\), \(3, 2\)"),
    ]:
        with pytest.raises(ValueError, match=said):
            recover_head_basis(over, first, second)


def test_one_entry_off_is_another_product():
    """Exactly over F_p; in floats from the tolerance on."""
    rng = np.random.default_rng(2)
    for over, nudge in ((PrimeField(), 1.0), (Reals(), 1e-5)):
        head = random_weights(over, Architecture((3, 2), (2,)), rng)[0]
        near = head._replace(K=head.K + nudge * np.eye(2, 3))
        with pytest.raises(ValueError, match="need the same product"):
            recover_head_basis(over, head, near)
    rounding = head._replace(K=head.K + 1e-13 * np.eye(2, 3))
    np.testing.assert_allclose(recover_head_basis(Reals(), head, rounding), np.eye(2), atol=1e-9)


def test_where_a_is_small_in_one_direction_the_keys_are_compared_as_well():
    """The two products differ by 2e−14, far below the largest entry, and yet no C carries K to K′."""
    Q, K = np.diag([1, 1e-7]), np.diag([1, -1e-7])
    with pytest.raises(ValueError):
        recover_head_basis(Reals(), Layer(Q, Q, None), Layer(Q, K, None))


@pytest.mark.parametrize("over", [PrimeField(), Reals()], ids=repr)
@pytest.mark.parametrize(
    ("widths", "head_dims"), [((3, 2, 3), (2, 1)), ((4, 3, 3, 2, 2), (2, 3, 1, 4)), ((2, 2), (2,))]
)
def test_the_bases_between_the_layers_are_found_again(widths, head_dims, over):
    """Lemma 3.5: whatever happens inside the heads, U_i′ = C_i U_i has one solution."""
    rng = np.random.default_rng(widths)
    weights = other = random_weights(over, Architecture(widths, head_dims), rng)
    chosen = [over.random_invertible(rng, d) for d in widths[1:-1]]
    for i, C in enumerate(chosen):
        other = change_interface(over, other, i, C)
    for i, a in enumerate(head_dims):
        other = change_head_basis(over, other, i, over.random_invertible(rng, a))
    found = recover_interfaces(over, weights, other)
    assert len(found) == len(chosen)
    for ours, C in zip(found, chosen, strict=True):
        np.testing.assert_allclose(over.reduce(ours - C), 0, atol=1e-8)


@pytest.mark.parametrize("over", [PrimeField(), Reals()], ids=repr)
def test_between_networks_on_other_orbits_no_bases_are_found(over):
    """Another shape, a lost rank, widening, other rows, other virtual weights: each is named."""
    rng = np.random.default_rng(3)
    weights = random_weights(over, Architecture((3, 2, 3), (2, 2)), rng)
    other = random_weights(over, Architecture((3, 2, 3), (2, 2)), rng)
    thin = over.matmul(over.random(rng, (2, 1)), over.random(rng, (1, 3)))
    wide = random_weights(over, Architecture((2, 3, 2), (2, 2)), rng)
    # Later layers look at the first coordinate only, so the second row of V_1 is free.
    blind = tuple(M * np.array([1.0, 0.0]) for M in weights[1])
    lost = (weights[0], Layer(*blind))
    free = replace(lost, 0, V=np.concatenate([weights[0].V[:1], other[0].V[1:]]))
    assert all(
        (x == y).all()
        for x, y in zip(virtual_weights(over, lost).M, virtual_weights(over, free).M, strict=True)
    )
    for first, second, said in [
        (weights, wide, "need the same shapes in every layer"),
        (replace(weights, 0, V=thin), weights, "has rank 2; got rank 1"),
        (weights, replace(weights, 0, V=thin), "got rank 1"),
        (wide, wide, "has rank 3; got rank 2"),
        (lost, free, "the rows of V_1.* span different spaces"),
        (weights, replace(weights, 0, Q=other[0].Q), "need the same virtual weights; got M_1 that differ"),
        (weights, replace(weights, 1, Q=other[1].Q), "got M_2 that differ"),
        (weights, replace(weights, 1, V=other[1].V), "got L that differ"),
        (weights, rescale(over, weights, 0, 2), "need the same virtual weights"),
    ]:
        with pytest.raises(ValueError, match=said):
            recover_interfaces(over, first, second)


# What the actions and directions refuse


@pytest.mark.parametrize("c", [np.nan, np.inf, -np.inf])
def test_a_factor_is_a_finite_number(c):
    weights = random_weights(Reals(), Architecture((2, 2), (2,)), np.random.default_rng(0))
    with pytest.raises(ValueError, match="factor c"):
        rescale(Reals(), weights, 0, c)


def test_a_broken_number_is_no_element_of_a_prime_field():
    F = PrimeField()
    weights = random_weights(F, Architecture((2, 2), (2,)), np.random.default_rng(0))
    with pytest.raises(ValueError):
        rescale(F, weights, 0, 1.5)
    with pytest.raises(ValueError):
        change_head_basis(F, weights, 0, 1.5 * np.eye(2))


@pytest.mark.parametrize("directions", [head_directions, interface_directions, rescaling_direction])
@pytest.mark.parametrize("layer", [-1, 2])
def test_a_layer_that_is_not_there_has_no_directions(directions, layer):
    weights = random_weights(PrimeField(), Architecture((2, 2, 2), (2, 2)), np.random.default_rng(0))
    with pytest.raises(ValueError, match="layers are counted from 0 to 1"):
        directions(PrimeField(), weights, layer)


def test_after_the_last_layer_there_are_no_interface_directions():
    weights = random_weights(PrimeField(), Architecture((2, 2, 2), (2, 2)), np.random.default_rng(0))
    with pytest.raises(ValueError, match="an interface lies between two layers"):
        interface_directions(PrimeField(), weights, 1)
