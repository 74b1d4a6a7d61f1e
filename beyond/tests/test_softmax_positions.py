"""Theorem R: the steps of its proof that can be computed, the edges of its hypotheses,
and what is only observed."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from neuroviz.kit.measured import measure_dimension
from neuroviz.rank.elimination import exact_rank
from neuroviz.rank.field import DEFAULT_PRIME, PrimeField
from neuroviz_beyond.transformers import Block, Transformer
from neuroviz_beyond.transformers.block_formulas import speaks_of_positions
from neuroviz_beyond.transformers.formulas import expected_dimension
from neuroviz_beyond.transformers.real_models import MODELS, real_model

OVER = PrimeField(DEFAULT_PRIME)


def times(*matrices):
    """The product of matrices over F_p, one factor at a time."""
    found = matrices[0]
    for matrix in matrices[1:]:
        found = OVER.reduce(found @ matrix)
    return found


def turn(slopes):
    """R: a rotation of each pair of coordinates, of a point of the circle for each
    slope."""
    R = np.zeros((2 * len(slopes), 2 * len(slopes)))
    for place, m in enumerate(slopes):
        inverse = pow(1 + m * m, -1, OVER.p)
        c = (1 - m * m) * inverse % OVER.p
        s = 2 * m * inverse % OVER.p
        R[2 * place : 2 * place + 2, 2 * place : 2 * place + 2] = [[c, -s], [s, c]]
    return OVER.reduce(R)


def power(R, exponent):
    """Also of negative exponents: R⁻¹ is Rᵀ."""
    found = np.eye(len(R))
    for _ in range(abs(exponent)):
        found = times(found, R if exponent > 0 else R.T)
    return found


# Step 3: what the heads of one group hide


def silent(R, d, heads, shifts, symmetric_at_zero=False, seed=0):
    """The dimension of the (K̇, Q̇) with K̇ᵀ Rˢ Q_h + Kᵀ Rˢ Q̇_h = 0 for all shifts s
    and heads h; with `symmetric_at_zero` also the symmetric part of this for s = 0."""
    a = len(R)
    rng = np.random.default_rng([seed, d, a, heads])
    K = OVER.random(rng, (a, d))
    Q = OVER.random(rng, (heads, a, d))
    columns = []
    for part in range(1 + heads):
        for i, j in np.ndindex(a, d):
            dot = np.zeros((a, d))
            dot[i, j] = 1
            rows = []
            for s in (0,) * symmetric_at_zero + shifts:
                turned = power(R, s)
                for h in range(heads):
                    moved = np.zeros((d, d))
                    if part == 0:
                        moved = times(dot.T, turned, Q[h])
                    elif part == h + 1:
                        moved = times(K.T, turned, dot)
                    rows.append(moved + moved.T if s == 0 else moved)
            columns.append(np.stack(rows).ravel())
    matrix = OVER.reduce(np.stack(columns, axis=1))
    return matrix.shape[1] - exact_rank(matrix, OVER)


@pytest.mark.parametrize("shifts", [(1, 2), (-1, 1), (1, 2, 3)])
@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize(
    ("a", "d"), [(2, 2), (2, 3), (4, 4), (4, 6), (6, 6), (6, 7), (8, 8)]
)
def test_what_commutes_with_all_rotations_is_silent_and_nothing_else(
    a, d, heads, shifts
):
    R = turn(range(2, 2 + a // 2))
    assert silent(R, d, heads, shifts) == a


@pytest.mark.parametrize(("a", "d"), [(2, 3), (4, 4), (6, 7)])
def test_without_rotations_or_with_equal_angles_more_is_silent(a, d):
    equal = turn([2] * (a // 2))
    assert silent(np.eye(a), d, 1, (1, 2)) == a * a
    assert silent(equal, d, 1, (1, 2)) == 2 * (a // 2) ** 2


def test_two_tokens_without_a_mask_need_the_squares_of_the_rotations():
    """A quarter turn: R² = −1 commutes with everything, R does not. The angles of a
    rotary layer are at most 1 < π/2."""
    quarter = turn([1])
    assert silent(quarter, 2, 1, (-1, 1)) == 4
    assert silent(quarter, 2, 1, (1, 2)) == 2
    # angles φ and φ + π have the same square
    opposite = np.zeros((4, 4))
    opposite[:2, :2] = turn([2])
    opposite[2:, 2:] = OVER.reduce(-turn([2]))
    assert silent(opposite, 4, 1, (-1, 1)) == 8 and silent(opposite, 4, 1, (1, 2)) == 4


@pytest.mark.parametrize(
    ("d", "a", "heads"),
    [
        (d, a, heads)
        for d in range(2, 9)
        for a in range(2, d + 1, 2)
        for heads in (1, 2)
    ],
)
def test_two_masked_tokens_hide_antisymmetric_matrices_between_few_coordinates(
    d, a, heads
):
    """s = 1, and the symmetric part of s = 0: a, or C((2a − d)₊, 2) if that is more and
    there is one head; proved for 2a ≤ d + 1."""
    found = silent(turn(range(2, 2 + a // 2)), d, heads, (1,), symmetric_at_zero=True)
    common = max(0, 2 * a - d)
    more = max(0, common * (common - 1) // 2 - a) if heads == 1 else 0
    assert found == a + more
    assert more == 0 or 2 * a > d + 1


# Step 1: bilinear parts


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("shift", [1, 2])
def test_the_forms_of_two_places_are_independent_in_both_directions(d, shift):
    """A_h^{(s)} and A_h^{(−s)ᵀ} of two heads with one key; for Q = K they agree."""
    rng = np.random.default_rng(d)
    R = turn([2])
    K = OVER.random(rng, (2, d))
    Q = OVER.random(rng, (2, 2, d))

    def rank(Q, R):
        forms = []
        for one in Q:
            forms.append(times(K.T, power(R, shift), one))
            forms.append(times(K.T, power(R, -shift), one).T)
        return exact_rank(np.stack(forms).reshape(len(forms), -1), OVER)

    assert rank(Q, R) == 4
    assert rank(K[None], R) == 1


# The statement


@pytest.mark.parametrize(
    ("change", "source"),
    [
        ({}, "Theorem R"),
        ({"causal": True}, "Theorem R"),
        ({"skip": True}, "Theorem R"),
        ({"tokens": 2}, "Theorem R"),
        ({"tokens": 2, "causal": True}, "Theorem R"),  # 2a = 4 ≤ d + 1
        ({"tokens": 2, "causal": True, "head_dims": (4, 4)}, "Beyond the paper"),
        ({"tokens": 3, "causal": True, "head_dims": (4, 4)}, "Theorem R"),
        ({"head_dims": (6, 6)}, None),
        (
            {"head_dims": (5, 5), "block": Block(2, positions=True)},
            "Beyond the paper",
        ),
        ({"tokens": 1}, None),
        ({"widths": (4, 4, 3)}, None),
        ({"block": Block(2, rotary=True, temperature=True)}, "Theorem R"),
        ({"block": Block(2, rotary=True, positions=True)}, "Theorem R"),
        ({"block": Block(2, 2, rotary=True, positions=True)}, "Theorem R"),
        ({"block": Block(2, positions=True)}, "Theorem R"),
        ({"block": Block(1, rotary=True)}, None),
        ({"block": Block(1, rotary=True), "skip": True}, "Theorem R"),
        ({"block": Block(5, rotary=True), "skip": True}, "Beyond the paper"),
        ({"block": Block(2, rotary=True, biases=True)}, "Beyond the paper"),
        ({"block": Block(2, rotary=True, mlp=(4, 2))}, "Beyond the paper"),
    ],
)
def test_the_theorem_answers_inside_its_hypotheses_only(change, source):
    arch = Transformer((4, 4, 4), (2, 2), 3, "softmax", 2, block=Block(2, rotary=True))
    arch = replace(arch, **change)
    found = expected_dimension(arch)
    assert speaks_of_positions(arch) == (source == "Theorem R")
    if source is None:
        assert found.value is None
    else:
        status = "proved here" if source == "Theorem R" else "observed"
        assert (found.source, found.status) == (source, status)
        assert measure_dimension(arch).value == found.value


def test_learned_positions_are_seen_in_full_and_also_on_a_line():
    """They add d t dimensions, rotary or not; d = 1 needs no independent forms."""
    for d, rotary, causal in product((1, 2, 3), (False, True), (False, True)):
        if rotary and d == 1:
            continue
        a = 2 if rotary else 1
        with_positions = Transformer(
            (d, d, d), (a, a), 3, "softmax", 2, True, causal, Block(None, None, rotary)
        )
        without = measure_dimension(with_positions).value
        block = replace(with_positions.block, positions=True)
        found = replace(with_positions, block=block)
        assert measure_dimension(found).value == without + 3 * d
        assert expected_dimension(found).value == without + 3 * d


# What is observed


def wide_pairs():
    """Two masked tokens with rotary positions and 2 a > d + 1."""
    switches = (False, True)
    for d, depth, groups, share in product(range(2, 8), (1, 2), (1, 2), (1, 2)):
        for a in product(range(2, d + 1, 2), repeat=depth):
            for v, skip, positions, temperature in product(
                (None, d, max(1, d - 1)), switches, switches, switches
            ):
                if 2 * max(a) <= d + 1 or (share > 1 and v is None):
                    continue
                block = Block(
                    v,
                    groups if share > 1 else None,
                    rotary=True,
                    temperature=temperature,
                    positions=positions,
                )
                arch = Transformer(
                    (d,) * (depth + 1),
                    a,
                    2,
                    "softmax",
                    groups * share,
                    skip,
                    True,
                    block,
                )
                is_filled = skip or groups * (v or d) >= d
                if is_filled and arch.num_parameters <= 300:
                    yield arch


@pytest.mark.long
def test_wide_pairs_are_observed_on_their_grid():
    networks = list(wide_pairs())
    more = 0
    for arch in networks[::10]:
        found = expected_dimension(arch)
        assert found.status == "observed" and f"({len(networks)} networks" in found.note
        more += "logits of two masked tokens" in found.note
        assert measure_dimension(arch).value == found.value, str(arch)
    assert more > 5


@pytest.mark.full
def test_wide_pairs_are_observed_on_their_whole_grid():
    for arch in wide_pairs():
        assert measure_dimension(arch).value == expected_dimension(arch).value


def test_stacks_of_rotary_models_are_proved():
    rotary = [model for model in MODELS if model.rotary]
    proved = [model for model in rotary if not model.has_narrow_mask]
    assert len(proved) == 8 and {model.theorem for model in proved} == {"Theorem R"}


def test_of_a_sliding_window_the_theorem_speaks_up_to_its_length():
    """The architecture has no window, which is the model on shorter inputs."""
    mistral = real_model("Mistral-7B")
    assert mistral.theorem == ""
    assert expected_dimension(mistral.architecture()).source == "Theorem R"
