"""What symmetries leave alone and what they do not."""

from fractions import Fraction

import numpy as np
import pytest
from definition import RandomExponential, Residue, output, residues

from neuroviz.attention import Architecture
from neuroviz.attention.directions import symmetry_directions
from neuroviz.attention.layers import by_layer
from neuroviz.attention.symmetry import (
    change_head_basis,
    change_interface,
    recover_head_basis,
    recover_interfaces,
    rescale,
    swap_keys_and_values,
    virtual_weights,
)
from neuroviz.rank import outputs
from neuroviz.rank.elimination import exact_rank
from neuroviz.rank.field import DEFAULT_PRIME, PrimeField, Reals
from neuroviz.rank.pivots import inverse
from neuroviz.rank.point import random_point
from neuroviz.rank.weights import flatten

BOTH = ("lightning", "softmax")
F = PrimeField()
both_fields = pytest.mark.parametrize("over", [F, Reals()], ids=repr)


SMALL = [
    Architecture(widths, head_dims, tokens, attention)
    for widths, head_dims, tokens in [
        ((2, 3), (2,), 3),
        ((2, 2), (3,), 2),  # a > d
        ((3, 2), (2,), 1),  # one token
        ((3, 2, 3), (2, 1), 2),
        ((2, 4, 2), (2, 2), 2),  # widening
        ((3, 1, 2), (1, 3), 3),  # tokens on a line
    ]
    for attention in BOTH
]
every_small = pytest.mark.parametrize("arch", SMALL, ids=str)


def random_weights(over, arch, rng):
    """All weights of a network by name, drawn from a field."""
    return random_point(arch, over, rng).weights


def as_residues(matrix: np.ndarray, p: int) -> list[list[Residue]]:
    return [[Residue(int(x) % p, p) for x in row] for row in matrix]


def is_same_function(
    attention: str, first, second, tokens: int, p: int = DEFAULT_PRIME
) -> bool:
    """Whether two networks agree mod p on random tokens, by the definition.

    Softmax: equal logits have equal exponentials, others have others.
    """
    number = residues(p, seed=1)
    exp = RandomExponential(number)
    inputs = [
        [[number() for _ in range(first["1.V"].shape[1])] for _ in range(tokens)]
        for _ in range(2)
    ]
    found = []
    for weights in (first, second):
        layers = [
            [as_residues(layer[name], p) for name in "QKV"]
            for layer in by_layer(weights)
        ]
        found.append([output(attention, layers, X, exp) for X in inputs])
    return found[0] == found[1]


@pytest.mark.parametrize(
    ("C", "said"),
    [
        (np.zeros((2, 2)), "C must be invertible; got the matrix"),
        (np.full((2, 2), np.nan), "C must be finite"),
        (np.eye(3), "C must be 2 × 2, the head dimension a; got shape"),
    ],
)
def test_a_matrix_that_changes_no_basis_is_refused(C, said):
    weights = {"1.Q": np.ones((2, 3)), "1.K": np.ones((2, 3)), "1.V": np.eye(3)}
    with pytest.raises(ValueError, match=said):
        change_head_basis(Reals(), weights, 1, C)


def test_a_fraction_is_a_factor():
    weights = {"1.Q": np.ones((2, 3)), "1.K": np.ones((2, 3)), "1.V": np.eye(3)}
    assert rescale(Reals(), weights, 1, Fraction(1, 2))["1.V"][0, 0] == 2


@pytest.mark.parametrize("c", ["x", 1 + 2j, 0, np.inf, 1e-320, 10**400])
def test_a_factor_without_an_inverse_is_refused(c):
    weights = {"1.Q": np.ones((2, 3)), "1.K": np.ones((2, 3)), "1.V": np.eye(3)}
    with pytest.raises(ValueError, match="a rescaling needs a finite factor c"):
        rescale(Reals(), weights, 1, c)


def test_weights_without_a_layer_have_no_virtual_ones():
    with pytest.raises(ValueError, match="weights are named 1.Q, 1.K, 1.V"):
        virtual_weights(Reals(), {})


def invertible(over, rng, size):
    """A random matrix with an inverse: lower times upper triangular."""
    lower, upper = np.tril(over.random(rng, (2, size, size)), -1)
    return over.matmul(
        lower + np.eye(size), upper.T + np.diag(rng.choice([-2.0, 2.0, 3.0], size))
    )


def continuous_actions(over, attention: str, weights, rng):
    """Every continuous symmetry with a random group element."""
    layers = by_layer(weights)
    for i, layer in enumerate(layers, start=1):
        C = invertible(over, rng, len(layer["Q"]))
        yield f"head {i}", change_head_basis(over, weights, i, C)
        if i < len(layers):
            C = invertible(over, rng, len(layer["V"]))
            yield f"interface {i}", change_interface(over, weights, i, C)
        if attention == "lightning":
            c = invertible(over, rng, 1)[0, 0]
            yield f"rescaling {i}", rescale(over, weights, i, c)


# The actions, against the definition


@every_small
def test_every_action_leaves_the_function_alone_exactly_and_in_floats(arch):
    """Over F_p token by token; over the reals on random inputs; the weights themselves
    do move."""
    rng = np.random.default_rng(2)
    weights = random_weights(F, arch, rng)
    for name, moved in continuous_actions(F, arch.attention, weights, rng):
        assert is_same_function(arch.attention, weights, moved, arch.tokens), name
        assert (flatten(arch, moved) != flatten(arch, weights)).any(), name
    weights = random_weights(Reals(), arch, rng)
    X = arch.random_inputs(Reals(), 20, rng)
    before = outputs(arch, Reals(), weights, X)
    for name, moved in continuous_actions(Reals(), arch.attention, weights, rng):
        after = outputs(arch, Reals(), moved, X)
        np.testing.assert_allclose(
            after, before, rtol=1e-8, atol=1e-11 * np.abs(before).max(), err_msg=name
        )


def wrong_actions(weights, rng):
    """Near misses: each forgets or confuses one thing."""
    Q = weights["1.Q"]
    K = weights["1.K"]
    V = weights["1.V"]
    C = invertible(F, rng, len(Q))
    D = invertible(F, rng, len(V))
    back = inverse(F, D)
    first = {"1.Q": F.matmul(C, Q), "1.K": F.matmul(C, K)}
    yield "C for its inverse transpose", BOTH, {**weights, **first}
    first["1.K"] = F.matmul(inverse(F, C), K)
    yield "not transposed", BOTH, {**weights, **first}
    yield "keys forgotten", BOTH, {**weights, "1.Q": F.matmul(C, Q)}
    changed = {**weights, "1.V": F.matmul(D, V)}
    yield "only the layer before", BOTH, changed
    wrong = {}
    for forgotten in "QKV":
        wrong[forgotten] = {name: back for name in "QKV" if name != forgotten}
    wrong["C"] = dict.fromkeys("QKV", D)
    wrong["ᵀ"] = dict.fromkeys("QKV", back.T)
    for name, matrices in wrong.items():
        after = {}
        for kind, matrix in matrices.items():
            after[f"2.{kind}"] = F.matmul(weights[f"2.{kind}"], matrix)
        yield f"interface: {name}", BOTH, {**changed, **after}
    queries = F.reduce(5 * Q)
    both = {"1.Q": queries, "1.V": F.reduce(5 * V)}
    yield "V times c", ("lightning",), {**weights, **both}
    yield "values forgotten", ("lightning",), {**weights, "1.Q": queries}
    yield "of a softmax layer", ("softmax",), rescale(F, weights, 1, 5)


@pytest.mark.parametrize("attention", BOTH)
def test_what_is_nearly_an_action_changes_the_function(attention):
    rng = np.random.default_rng(5)
    weights = random_weights(F, Architecture((3, 3, 2), (2, 2), 3, attention), rng)
    kept = [
        name
        for name, kinds, moved in wrong_actions(weights, rng)
        if attention in kinds and is_same_function(attention, weights, moved, tokens=3)
    ]
    assert kept == []


@both_fields
def test_what_is_no_layer_or_no_group_element_is_refused(over):
    weights = random_weights(
        over, Architecture((2, 3, 2), (2, 4)), np.random.default_rng(0)
    )
    acts = {
        "head": lambda layer, C: change_head_basis(over, weights, layer, C),
        "interface": lambda layer, C: change_interface(over, weights, layer, C),
        "rescale": lambda layer, c: rescale(over, weights, layer, c),
        "swap": lambda layer, _: swap_keys_and_values(over, weights, layer),
    }
    refused = [
        (act, layer, np.eye(2), "layer must be a whole number from 1 to 2")
        for act in acts
        for layer in (0, 3, True)
    ]
    refused += [
        ("head", 1, C, "C must be 2 × 2, the head dimension a; got")
        for C in (np.eye(3), np.ones(4))
    ]
    refused += [
        (
            "interface",
            1,
            np.eye(2),
            "C must be 3 × 3, the width between the two layers; got shape",
        ),
        (
            "interface",
            2,
            np.eye(2),
            "an interface lies between two layers; got layer=2, the last of 2",
        ),
        ("head", 1, np.ones((2, 2)), "inverse|invertible"),
        ("interface", 1, np.ones((3, 3)), "inverse|invertible"),
        ("rescale", 1, 0, "needs a finite factor c that is not zero"),
    ]
    if over is F:
        refused += [
            ("head", 1, 1.5 * np.eye(2), "has whole entries; got 1.5"),
            ("rescale", 1, 1.5, "has whole entries; got 1.5"),
            ("rescale", 1, F.p, "not zero"),
        ]
    else:
        refused += [("rescale", 1, c, "factor c") for c in (np.inf, np.nan)]
    for act, layer, element, said in refused:
        with pytest.raises(ValueError, match=said):
            acts[act](layer, element)


# The swap


def with_rank_one(over, weights, layer, rng):
    """The same network with a random A = u kᵀ and V = h vᵀ in that layer, and these
    vectors."""
    a, d = weights[f"{layer}.Q"].shape
    u, k, v = (over.random(rng, (1, d)) for _ in range(3))
    h = over.random(rng, (len(weights[f"{layer}.V"]), 1))
    mix = over.random(rng, (a, 1))
    # A = (mix k)ᵀ (rest u) with mixᵀ rest = 1
    rest = np.zeros((a, 1))
    rest[:1] = inverse(over, mix[:1])
    thin = {
        f"{layer}.Q": over.matmul(rest, k),
        f"{layer}.K": over.matmul(mix, u),
        f"{layer}.V": over.matmul(h, v),
    }
    return {**weights, **thin}, (u, k, h, v)


@pytest.mark.parametrize(("layer", "head_dim"), [(1, 1), (2, 2), (3, 4)])
def test_where_keys_and_values_have_rank_one_they_may_change_places(layer, head_dim):
    """Theorem 3.2, inside a deep network: exact over F_p, and A, V are v kᵀ, h uᵀ, no
    multiple of the old."""
    rng = np.random.default_rng([layer, head_dim])
    arch = Architecture((3, 2, 3, 2), (head_dim,) * 3, 3)
    drawn = random_weights(F, arch, rng)
    weights, (u, k, h, v) = with_rank_one(F, drawn, layer, rng)
    swapped = swap_keys_and_values(F, weights, layer)
    assert is_same_function("lightning", weights, swapped, tokens=3)
    shapes = {name: M.shape for name, M in swapped.items()}
    assert shapes == arch.parameter_shapes
    A = F.matmul(swapped[f"{layer}.K"].T, swapped[f"{layer}.Q"])
    V = swapped[f"{layer}.V"]
    V_then = F.matmul(h, u)
    # u, k, h, v are known up to factors: compare A ⊗ V, in which they cancel.
    there = F.reduce(np.multiply.outer(A, V))
    assert not F.reduce(
        there - F.reduce(np.multiply.outer(F.matmul(v.T, k), V_then))
    ).any()
    old = F.matmul(weights[f"{layer}.K"].T, weights[f"{layer}.Q"])
    assert exact_rank(np.array([old.ravel(), A.ravel()]), F) == 2


def test_other_exchanges_and_the_swap_in_softmax_change_the_function():
    """u and k may not change places, nor k and v, and softmax has no swap at all."""
    rng = np.random.default_rng(3)
    drawn = random_weights(F, Architecture((3, 3), (1,)), rng)
    weights, (u, k, h, v) = with_rank_one(F, drawn, 1, rng)

    def is_same(Q, K, v):
        other = {"1.Q": Q, "1.K": K, "1.V": F.matmul(h, v)}
        return is_same_function("lightning", weights, other, 3)

    assert is_same(k, u, v)
    assert not is_same(u, k, v)
    assert not is_same(v, u, k)
    swapped = swap_keys_and_values(F, weights, 1)
    assert not is_same_function("softmax", weights, swapped, 3)


@both_fields
def test_a_swap_needs_rank_one_twice(over):
    rng = np.random.default_rng(4)
    generic = random_weights(over, Architecture((3, 3), (2,)), rng)
    one, _ = with_rank_one(over, generic, 1, rng)
    for weights, said in [
        (generic, "A = KᵀQ of rank 2"),
        ({**one, "1.V": generic["1.V"]}, "V of rank 3"),
        ({**one, "1.Q": 0 * one["1.Q"]}, "A = KᵀQ of rank 0"),
        ({**one, "1.V": 0 * one["1.V"]}, "V of rank 0"),
    ]:
        with pytest.raises(
            ValueError, match=f"only where A and V have rank one; got {said}"
        ):
            swap_keys_and_values(over, weights, 1)


# Virtual weights


def by_hand(weights, p: int):
    """L and M in Python's whole numbers, product by product."""
    whole = {}
    for name, matrix in weights.items():
        whole[name] = matrix.astype(np.int64).astype(object)
    Ms = []
    depth = len(by_layer(weights))
    for i in range(1, depth + 1):
        M = whole[f"{i}.K"].T @ whole[f"{i}.Q"]
        for before in range(i - 1, 0, -1):
            M = whole[f"{before}.V"].T @ M @ whole[f"{before}.V"]
        Ms.append(M % p)
    L = whole[f"{depth}.V"]
    for before in range(depth - 1, 0, -1):
        L = L @ whole[f"{before}.V"]
    return L % p, Ms


@every_small
def test_head_bases_and_interfaces_leave_the_virtual_weights_alone(arch):
    """Eq. 8: they are products of weights."""
    rng = np.random.default_rng(2)
    weights = random_weights(F, arch, rng)
    L, M = virtual_weights(F, weights)
    exact_L, exact_M = by_hand(weights, F.p)
    assert L.shape == (arch.widths[-1], arch.widths[0]) and len(M) == arch.num_layers
    for ours, exact in zip((L, *M), (exact_L, *exact_M), strict=True):
        assert (np.mod(ours, F.p) == exact).all()
    for name, moved in continuous_actions(F, arch.attention, weights, rng):
        after = virtual_weights(F, moved)
        same = all(
            (x == y).all() for x, y in zip((L, *M), (after.L, *after.M), strict=True)
        )
        assert same == (not name.startswith("rescaling")), name


@pytest.mark.parametrize("layer", range(1, 5))
def test_a_rescaling_multiplies_the_virtual_weights_as_it_should(layer):
    """M_i by c, each later M_j by c⁻², L by c⁻¹: so λ₀ ∏ λ_i^(3^(l−i)) = 1 (Eq. 13)."""
    rng = np.random.default_rng(layer)
    weights = random_weights(F, Architecture((3, 2, 4, 3, 2), (2, 1, 3, 2)), rng)
    c = 12345
    inverse = pow(c, -1, F.p)
    before = virtual_weights(F, weights)
    after = virtual_weights(F, rescale(F, weights, layer, c))
    factors = [1] * (layer - 1) + [c] + [inverse**2 % F.p] * (4 - layer)
    for M, moved, factor in zip(before.M, after.M, factors, strict=True):
        assert not F.reduce(moved - F.reduce(M * factor)).any()
    assert not F.reduce(after.L - F.reduce(before.L * inverse)).any()
    product = inverse
    for i, factor in enumerate(factors, start=1):
        product = product * pow(factor, 3 ** (4 - i), F.p) % F.p
    assert product == 1


# Directions


def one_parameter_groups(arch, weights, c):
    """(row of directions, weights moved by g(c), moved by g(1/c) or g(−c), the factor
    between): see below."""
    back = inverse(F, np.array([[c]]))[0, 0]
    found = symmetry_directions(arch, F, weights)
    layers = by_layer(weights)
    for i, layer in enumerate(layers, start=1):
        a, d = layer["Q"].shape
        width = len(layer["V"])
        families = [("head bases", change_head_basis, a, d, d)]
        if i < len(layers):
            read_by = sum(map(len, layers[i].values()))
            families.append(("interfaces", change_interface, width, d, read_by))
        for name, change, size, columns, rows in families:
            # Of a unit E in a row and a column that the others span nothing new is
            # seen.
            acting = [
                (r, c) for r, c in np.ndindex(size, size) if r < rows or c < columns
            ]
            for row, place in zip(found[name][i - 1], acting, strict=False):
                # E² = 0 off the diagonal, and 1 ± cE are inverse to each other; on it,
                # c and 1/c are.
                E = np.zeros((size, size))
                E[place] = 1
                plus, minus = (c - 1, back - 1) if E.trace() else (c, -c)
                there, here = (
                    change(F, weights, i, F.reduce(np.eye(size) + x * E))
                    for x in (plus, minus)
                )
                yield row, there, here, plus - minus
        if arch.attention == "lightning":
            there = rescale(F, weights, i, c)
            here = rescale(F, weights, i, back)
            yield found["rescalings"][i - 1][0], there, here, c - back


@every_small
def test_directions_are_the_derivatives_of_the_actions_exactly(arch):
    """Each entry moves as c, as 1/c or linearly: g(c) − g(1/c) is (c − 1/c) times the
    derivative at 1."""
    weights = random_weights(F, arch, np.random.default_rng(1))
    for row, there, here, factor in one_parameter_groups(arch, weights, 1234.0):
        secant = F.reduce(flatten(arch, there) - flatten(arch, here))
        assert not F.reduce(secant - F.reduce(row * F.reduce(np.array(factor)))).any()
        assert row.any()


def test_an_interface_has_as_many_directions_as_one_counts():
    """δ² − (δ − rk V)(δ − rk [Q; K; V] of the next layer)."""
    for widths, a in [((3, 2, 3), 2), ((2, 4, 1), 1), ((1, 5, 2), 1), ((2, 6, 6), 2)]:
        arch, (before, width, after) = Architecture(widths, (a, a)), widths
        weights = random_weights(F, arch, np.random.default_rng(0))
        (rows,) = symmetry_directions(arch, F, weights)["interfaces"]
        still = (width - min(before, width)) * (width - min(width, 2 * a + after))
        assert len(rows) == exact_rank(rows, F) == width**2 - still


# Finding C


@pytest.mark.parametrize("over", [F, PrimeField(101), Reals()], ids=repr)
def test_the_change_of_basis_is_found_again(over):
    """Lemma 3.1: exact over F_p, and to rounding in floats."""
    for a, d in [(1, 1), (1, 4), (2, 5), (3, 4), (4, 4)]:
        rng = np.random.default_rng([a, d])
        while True:  # over a small field a random Q may have too small a rank
            weights = random_weights(over, Architecture((d, 2), (a,)), rng)
            if isinstance(over, Reals) or all(
                exact_rank(weights[name], over) == a for name in ("1.Q", "1.K")
            ):
                break
        C = invertible(over, rng, a)
        (head,) = by_layer(weights)
        (moved,) = by_layer(change_head_basis(over, weights, 1, C))
        found = recover_head_basis(over, head, moved)
        np.testing.assert_allclose(over.reduce(found - C), 0, atol=1e-9)


def test_the_basis_is_found_where_the_first_columns_are_dependent():
    rng = np.random.default_rng(0)
    Q = F.random(rng, (3, 7))
    K = F.random(rng, (3, 7))
    Q[:, :2] = 0
    Q[:, 3] = F.reduce(3 * Q[:, 2])
    C = invertible(F, rng, 3)
    other = {"Q": F.matmul(C, Q), "K": F.matmul(inverse(F, C).T, K)}
    assert (recover_head_basis(F, {"Q": Q, "K": K}, other) == C).all()


@both_fields
def test_between_layers_without_a_common_basis_nothing_is_found(over):
    """A rank drop, a > d, another product, other shapes: each is named."""
    rng = np.random.default_rng(1)
    (head,) = by_layer(random_weights(over, Architecture((3, 2), (2,)), rng))
    (other,) = by_layer(random_weights(over, Architecture((3, 2), (2,)), rng))
    one = over.matmul(over.random(rng, (2, 1)), over.random(rng, (1, 3)))
    weights = random_weights(over, Architecture((2, 2), (3,)), rng)
    (wide,) = by_layer(weights)
    C = invertible(over, rng, 3)
    (moved,) = by_layer(change_head_basis(over, weights, 1, C))
    nudge = (1.0 if over is F else 1e-5) * np.eye(2, 3)
    for first, second, said in [
        (
            {**head, "Q": one},
            head,
            r"rank a = 2 \(Lemma 3.1\); got Q of rank 1: other factorisations",
        ),
        ({**head, "K": one}, head, "got K of rank 1"),
        (head, {**head, "Q": one}, "got Q′ of rank 1"),
        (head, {**head, "K": 0 * one}, "got K′ of rank 0"),
        (
            wide,
            moved,
            (
                r"rank a = 3 \(Lemma 3.1\); got Q of rank 2: with a > d = 2 its rows"
                r" cannot"
            ),
        ),
        (head, other, "need the same product KᵀQ; got products that differ by"),
        (head, {**head, "K": head["K"] + nudge}, "need the same product KᵀQ"),
        (head, wide, r"of one shape; got \(2, 3\), \(2, 3\), \(3, 2\), \(3, 2\)"),
    ]:
        with pytest.raises(ValueError, match=said):
            recover_head_basis(over, first, second)


def test_rounding_is_no_other_product_and_where_a_is_small_keys_are_compared_too():
    rng = np.random.default_rng(2)
    (head,) = by_layer(random_weights(Reals(), Architecture((3, 2), (2,)), rng))
    rounded = {**head, "K": head["K"] + 1e-13 * np.eye(2, 3)}
    np.testing.assert_allclose(
        recover_head_basis(Reals(), head, rounded), np.eye(2), atol=1e-9
    )
    # These products differ by 2e−14, far below the largest entry, and yet no C carries
    # K to K′.
    Q = np.diag([1, 1e-7])
    K = np.diag([1, -1e-7])
    with pytest.raises(ValueError, match="nearly equal"):
        recover_head_basis(Reals(), {"Q": Q, "K": Q}, {"Q": Q, "K": K})


@both_fields
@pytest.mark.parametrize(
    ("widths", "head_dims"),
    [((3, 2, 3), (2, 1)), ((4, 3, 3, 2, 2), (2, 3, 1, 4)), ((2, 2), (2,))],
)
def test_the_bases_between_the_layers_are_found_again(widths, head_dims, over):
    """Lemma 3.5: whatever happens inside the heads, U_i′ = C_i U_i has one solution."""
    rng = np.random.default_rng(widths)
    weights = other = random_weights(over, Architecture(widths, head_dims), rng)
    chosen = [invertible(over, rng, d) for d in widths[1:-1]]
    for i, C in enumerate(chosen, start=1):
        other = change_interface(over, other, i, C)
    for i, a in enumerate(head_dims, start=1):
        other = change_head_basis(over, other, i, invertible(over, rng, a))
    for ours, C in zip(recover_interfaces(over, weights, other), chosen, strict=True):
        np.testing.assert_allclose(over.reduce(ours - C), 0, atol=1e-8)


@both_fields
def test_between_networks_on_other_orbits_no_bases_are_found(over):
    """Another shape, a lost rank, widening, other rows, other virtual weights: each is
    named."""
    rng = np.random.default_rng(3)
    weights, other = (
        random_weights(over, Architecture((3, 2, 3), (2, 2)), rng) for _ in range(2)
    )
    thin = over.matmul(over.random(rng, (2, 1)), over.random(rng, (1, 3)))
    wide = random_weights(over, Architecture((2, 3, 2), (2, 2)), rng)
    # Later layers look at the first coordinate only, so the second row of V_1 is free.
    only_first = np.array([1.0, 0.0])
    lost = {**weights}
    for name in ("2.Q", "2.K", "2.V"):
        lost[name] = weights[name] * only_first
    first_row = weights["1.V"][:1]
    second_row = other["1.V"][1:]
    free = {**lost, "1.V": np.concatenate([first_row, second_row])}
    one = virtual_weights(over, lost)
    two = virtual_weights(over, free)
    assert all((x == y).all() for x, y in zip(one.M, two.M, strict=True))
    for first, second, said in [
        (weights, wide, "need the same shapes in every layer"),
        ({**weights, "1.V": thin}, weights, "has rank 2; got rank 1"),
        (weights, {**weights, "1.V": thin}, "got rank 1"),
        (wide, wide, "has rank 3; got rank 2"),
        (lost, free, "the rows of V_1.* span different spaces"),
        (
            weights,
            {**weights, "1.Q": other["1.Q"]},
            "need the same virtual weights; got M_1 that differ",
        ),
        (weights, {**weights, "2.Q": other["2.Q"]}, "got M_2 that differ"),
        (weights, {**weights, "2.V": other["2.V"]}, "got L that differ"),
    ]:
        with pytest.raises(ValueError, match=said):
            recover_interfaces(over, first, second)
