"""Silent directions: each is in the kernel of the exact derivative, for everything in a
Block."""

from functools import cache

import numpy as np
import pytest
from variants import random_variants

from neuroviz.attention.directions import null_space, symmetry_directions
from neuroviz.rank.field import PrimeField, Reals
from neuroviz.rank.rows import RowSpace
from neuroviz_beyond.transformers import Block, Transformer
from neuroviz_beyond.transformers.block_formulas import known_redundancies
from neuroviz_beyond.transformers.evaluate import (
    jacobian,
    random_weights,
)

F = PrimeField()
FAMILIES = [
    "bases of keys and queries",
    "bases of values and outputs",
    "temperatures",
    "key biases",
    "value biases",
    "shifts between layers",
    "hidden units of the MLPs",
    "affine maps between layers",
    "bases between layers",
    "rescalings",
    "heads that blend",
]


def derivative_at(arch, weights, inputs=3):
    """All outputs on a few inputs; the same inputs and exponentials each time."""
    rng = np.random.default_rng(1)
    X = arch.random_inputs(F, inputs, rng)
    return jacobian(F, arch, weights, X, None, rng).reshape(-1, arch.num_parameters)


def directions_at(arch, weights):
    """name → the rows of all layers together."""
    return {
        n: np.concatenate(parts)
        for n, parts in symmetry_directions(arch, F, weights).items()
    }


def changes(J, rows):
    return bool(F.matmul(J, rows.T).any())


@cache
def every_family():
    """Networks in which each family is found, both kinds, with and without what else
    there may be."""
    return (
        random_variants(90, seed=0)
        + [
            Transformer.uniform(
                3,
                2,
                2,
                attention="softmax",
                skip=skip,
                block=Block(biases=True, mlp=mlp),
            )
            for skip in (False, True)
            # constants that an MLP does not see, and that it lets pass
            for mlp in ((2, 2), (2, 1))
        ]
        + [
            Transformer.uniform(
                d, 1, layers, 2, "softmax", heads=heads, skip=True, block=block
            )
            for d, layers in ((1, 3), (2, 4))
            for heads, block in (
                (1, Block(biases=True, mlp=(2, 2))),
                (
                    2,
                    Block(
                        value_dim=2, kv_heads=1, biases=True, mlp=(3, 2), positions=True
                    ),
                ),
            )
        ]
        + [
            Transformer.uniform(
                d,
                2,
                4,
                2,
                "lightning",
                skip=True,
                block=Block(2, None, rotary, True, mlp=(3, 2)),
            )
            for d in (1, 2)
            for rotary in (False, True)
        ]
    )


def test_each_direction_of_each_family_leaves_the_function_alone():
    """J v = 0 exactly, modulo p: an independent check of everything that the ledger
    counts."""
    seen = dict.fromkeys(FAMILIES, 0)
    for n, arch in enumerate(every_family()):
        weights = random_weights(F, arch, np.random.default_rng(n))
        J = derivative_at(arch, weights)
        found = directions_at(arch, weights)
        for name, rows in found.items():
            assert not changes(J, rows), (str(arch), name)
            seen[name] += len(rows) > 0
        if arch.attention == "softmax":
            assert set(known_redundancies(arch)) <= set(found), arch
    assert set(seen) == set(FAMILIES) and min(seen.values()) >= 8, seen
    skips = Transformer((3, 3), (2,), attention="softmax", heads=2, skip=True)
    weights = random_weights(F, skips, np.random.default_rng(0))
    # only what has a reason is there
    assert list(directions_at(skips, weights)) == FAMILIES[:1]


EVERYTHING = Transformer(
    (3, 3, 3),
    (2, 2),
    3,
    "softmax",
    2,
    block=Block(2, None, False, True, True, True, (3, 2)),
)
BLENDING = Transformer(
    (3, 3, 3), (2, 2), 3, heads=3, block=Block(value_dim=3, biases=True)
)


@pytest.mark.parametrize(
    "arch", [EVERYTHING, BLENDING, Transformer((3, 3, 3), (2, 2), 3)], ids=str
)
def test_at_other_weights_the_same_directions_do_something(arch):
    """A check that can fail; only key biases are the same direction everywhere."""
    weights, other = (
        random_weights(F, arch, np.random.default_rng(seed)) for seed in (0, 1)
    )
    J = derivative_at(arch, weights)
    for name, rows in directions_at(arch, other).items():
        if len(rows) and name != "key biases":
            assert changes(J, rows), name


def test_a_key_bias_matters_once_keys_are_rotated_and_for_lightning():
    for kind, rotary in (("softmax", True), ("lightning", False)):
        arch = Transformer(
            (3, 3), (2,), 3, kind, block=Block(biases=True, rotary=rotary)
        )
        weights = random_weights(F, arch, np.random.default_rng(0))
        shapes = arch.parameter_shapes.items()
        row = np.concatenate(
            [np.full(shape, float(n == "1.k")).ravel() for n, shape in shapes]
        )[None]
        assert changes(derivative_at(arch, weights), row)
        assert "key biases" not in symmetry_directions(arch, F, weights)


def blends(arch, seed=0):
    """What the blends of each layer add to the families before them."""
    space = RowSpace(F, arch.num_parameters)
    found = symmetry_directions(
        arch, F, random_weights(F, arch, np.random.default_rng(seed))
    )
    return [[space.add(rows) for rows in parts] for parts in found.values()][-1]


@pytest.mark.parametrize(("d", "H"), [(2, 2), (2, 6), (3, 3), (3, 5)])
def test_heads_blend_from_more_than_the_square_of_what_their_rank_lacks(d, H):
    """Beside one rescaling each, H − (d − a)² − 1 directions a head."""
    for a in range(1, d + 2):
        expected = H * (max(1, H - max(0, d - a) ** 2) - 1)
        assert blends(Transformer((d, H * d), (a,), heads=H)) == [expected], a


@pytest.mark.parametrize(("d", "a", "H"), [(2, 1, 1), (2, 1, 3), (2, 2, 2), (3, 2, 5)])
def test_in_floats_heads_blend_in_as_many_directions_as_in_the_field(d, a, H):
    """The derivative does not see them; with dependent and with independent rows of all
    heads."""
    arch = Transformer((d, H * d), (a,), heads=H)
    over = Reals()
    rng = np.random.default_rng(2)
    weights = random_weights(over, arch, rng)
    J = jacobian(over, arch, weights, arch.random_inputs(over, 40, rng)).reshape(
        -1, arch.num_parameters
    )
    found = {
        name: np.concatenate(parts)
        for name, parts in symmetry_directions(arch, over, weights).items()
        if parts
    }
    after = np.concatenate([*found.values()])
    before = np.concatenate(
        [rows for name, rows in found.items() if name != "heads that blend"]
    )
    assert np.abs(J @ after.T).max() < 1e-9 * np.abs(J).max()
    rank = [np.linalg.matrix_rank(rows, tol=1e-9) for rows in (before, after)]
    assert [rank[1] - rank[0]] == (blends(arch) if H > 1 else [0])


@pytest.mark.parametrize("more", [{}, {"skip": True, "causal": True}])
def test_heads_that_share_one_key_and_one_value_always_blend(more):
    """Σ_h O_h (W X XᵀKᵀ) Q_h X: any g acts on the Q_h and O_h, whatever the ranks."""
    for block in (
        Block(value_dim=1, kv_heads=1),
        Block(value_dim=2, kv_heads=1, rotary=True, biases=True),
    ):
        arch = Transformer((4, 4, 4), (2, 2), heads=4, block=block, **more)
        assert blends(arch) == [4 * 3] * 2
        assert (
            sum(
                blends(
                    Transformer(
                        (4, 4, 4), (2, 2), heads=4, block=Block(value_dim=1), **more
                    )
                )
            )
            == 0
        )


def test_a_null_space_is_all_of_it_in_both_fields():
    rng = np.random.default_rng(0)
    for over in (F, Reals()):
        M = over.matmul(over.random(rng, (5, 3)), over.random(rng, (3, 7)))
        basis = null_space(over, M)
        assert basis.shape == (4, 7)
        assert np.abs(over.matmul(M, basis.T)).max() < 1e-9
    np.testing.assert_allclose(basis @ basis.T, np.eye(4), atol=1e-12)
    assert (
        null_space(F, np.zeros((0, 3))).shape
        == null_space(Reals(), np.zeros((2, 3))).shape
        == (3, 3)
    )
    assert (
        null_space(F, np.eye(3)).shape == null_space(Reals(), np.eye(3)).shape == (0, 3)
    )


@pytest.mark.parametrize(
    ("largest", "least", "is_null"),
    [
        (1.0, 3e-9, False),
        (1.0, 3e-10, True),
        (1000.0, 3e-6, False),
        (1000.0, 3e-7, True),
        (0.01, 3e-9, False),  # a small matrix is measured by 1
        (0.01, 3e-10, True),
    ],
)
def test_over_the_reals_a_direction_counts_as_lost_below_1e_9_of_the_largest_or_of_1(
    largest, least, is_null
):
    rng = np.random.default_rng(3)
    left, right = (np.linalg.qr(rng.standard_normal((n, n)))[0] for n in (4, 3))
    sigma = np.zeros((4, 3))
    np.fill_diagonal(sigma, [largest, largest / 2, least])
    found = null_space(Reals(), left @ sigma @ right)
    assert len(found) == is_null
    if is_null:
        assert abs(abs(found[0] @ right[2]) - 1) < 1e-9
