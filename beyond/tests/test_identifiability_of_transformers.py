"""What the function of a network with heads, skips or a block tells about its
weights."""

from dataclasses import replace

import numpy as np
import pytest

from neuroviz.attention.identifiability import is_identifiable, orders_of_heads
from neuroviz.rank import outputs, point
from neuroviz.rank.field import Reals
from neuroviz.rank.weights import flatten, unflatten
from neuroviz_beyond.transformers import Block, Transformer

HEADS = Transformer.uniform(3, 2, 2, 3, "softmax", heads=2, skip=True)
GROUPS = replace(
    HEADS, heads=4, causal=True, block=Block(2, 2, biases=True, temperature=True)
)
BASES = Transformer((3, 2, 3), (2, 2), 2, "softmax", heads=2)
FULL = replace(GROUPS, head_dims=(3, 3), skip=False, block=Block(3, 2))


def heads(w, i=2):
    """The A of all heads of a layer."""
    keys = np.repeat(w[f"{i}.K"], len(w[f"{i}.Q"]) // len(w[f"{i}.K"]), axis=0)
    return np.einsum("hai,haj->hij", keys, w[f"{i}.Q"]) * w.get(f"{i}.beta", 1)


def ratios(matrix):
    return matrix / matrix[0, 0]


BUT = "one orbit, but for the order of heads, which changes it (Theorem H)"


@pytest.mark.parametrize(
    ("arch", "quantity", "expected", "ending"),
    [
        (HEADS, heads, True, BUT),
        (HEADS, lambda w: heads(w).sum(0), True, "one orbit (Theorem H)"),
        (HEADS, lambda w: w["1.Q"].sum(), False, "is not zero"),
        (GROUPS, lambda w: heads(w)[:2].sum(0), True, BUT),
        (GROUPS, lambda w: heads(w).prod(0), True, "one orbit (Theorem H)"),
        (GROUPS, lambda w: w["1.k"][0], False, "is not zero"),
        (BASES, lambda w: heads(w), False, "is not zero"),
        (
            BASES,
            lambda w: (w["2.V"][:, None] @ w["1.V"]).sum((0, 1)),
            True,
            "one orbit (Theorem H)",
        ),
        # Keys and values of full rank: a head may change its group.
        (FULL, lambda w: heads(w, 1).sum(0), True, "mod 8388593 and 8388587"),
        # Lightning: heads blend. One head with skips: Theorem L.
        (
            Transformer((2, 2), (2,), heads=2),
            lambda w: ratios(heads(w, 1)[0]),
            False,
            "is not zero",
        ),
        (
            Transformer((3, 3, 3), (2, 2), heads=2),
            lambda w: ratios(heads(w, 1)[0]),
            True,
            "mod 8388593 and 8388587",
        ),
        (
            Transformer((3, 3, 3), (2, 2), skip=True),
            lambda w: ratios(heads(w, 2)[0]),
            True,
            "orbit (Theorem L)",
        ),
    ],
)
def test_with_heads_theorem_h_says_how_far_a_yes_reaches(
    arch, quantity, expected, ending
):
    found = is_identifiable(arch, quantity)
    assert (found.value, found.status) == (expected, "exact") and found.note.endswith(
        ending
    )
    assert is_identifiable(
        arch, lambda w: np.abs(np.asarray(quantity(w), dtype=float))
    ).value in (
        expected,
        None,
    )


@pytest.mark.parametrize("arch", [HEADS, GROUPS, BASES])
def test_the_orders_of_heads_that_are_tried_leave_the_function_alone(arch):
    rng = np.random.default_rng(0)
    drawn = point.random_point(arch, Reals(), rng)
    parameters = flatten(arch, drawn.weights) / 2
    X = arch.random_inputs(Reals(), 3, rng)
    before = outputs(arch, Reals(), unflatten(arch, parameters), X)
    orders = [*orders_of_heads(arch)]
    assert len(orders) == 2 * (2 if arch is GROUPS else 1)
    for order in orders:
        after = outputs(arch, Reals(), unflatten(arch, parameters[order]), X)
        assert np.allclose(before, after) and not np.allclose(
            parameters, parameters[order]
        )
