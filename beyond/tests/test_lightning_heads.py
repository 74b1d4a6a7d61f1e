"""Theorem M: the steps of its proof that can be computed, what the formula says at the
edges of its hypotheses, and what is only observed."""

from itertools import product
from typing import NamedTuple

import numpy as np
import pytest

from neuroviz.kit.measured import measure_dimension
from neuroviz.rank.elimination import exact_rank
from neuroviz.rank.field import DEFAULT_PRIME, PrimeField
from neuroviz_beyond.transformers import Block, Transformer
from neuroviz_beyond.transformers.block_formulas import one_lightning_layer
from neuroviz_beyond.transformers.formulas import expected_dimension

OVER = PrimeField(DEFAULT_PRIME)


def times(*matrices):
    """The product of matrices over F_p, one factor at a time."""
    found = matrices[0]
    for matrix in matrices[1:]:
        found = OVER.reduce(found @ matrix)
    return found


def of_rank(rng, rank, rows, columns):
    """A random matrix, or one that factors."""
    if rank >= min(rows, columns):
        return OVER.random(rng, (rows, columns))
    return times(OVER.random(rng, (rows, rank)), OVER.random(rng, (rank, columns)))


# (1) The kernel in all directions


def kernel_in_all_directions(A, V):
    """The directions (Ȧ, V̇) with Σ V̇_h y (A_hᵀ y)ᵀ + V_h y (Ȧ_hᵀ y)ᵀ = 0 for all y."""
    H, d, _ = A.shape
    d_out = V.shape[1]
    rng = np.random.default_rng(7)
    rows = []
    for y in OVER.random(rng, (d * (d + 1) // 2 + 2, d)):
        keys = OVER.reduce(y @ A)  # A_hᵀ y
        values = OVER.reduce(V @ y)
        # entry (i, j): Σ_h (V̇_h)_il y_l keys_hj + values_hi (Ȧ_h)_lj y_l
        of_values = np.einsum("ik,l,hj->ijhkl", np.eye(d_out), y, keys)
        of_keys = np.einsum("hi,l,jk->ijhlk", values, y, np.eye(d))
        parts = [part.reshape(d_out * d, -1) for part in (of_values, of_keys)]
        rows.append(np.concatenate(parts, axis=1))
    matrix = np.concatenate(rows)
    columns = H * d * (d + d_out)
    return columns - exact_rank(OVER.reduce(matrix), OVER)


@pytest.mark.parametrize(
    ("d", "d_out", "a", "heads"),
    [
        (d, d_out, a, heads)
        for d, d_out, a in product(range(1, 6), range(1, 6), (1, 2, 5))
        for heads in range(1, min(d, d_out) + 1)
    ],
)
def test_the_kernel_in_all_directions_is_the_square_of_the_number_of_heads(
    d, d_out, a, heads
):
    rng = np.random.default_rng([d, d_out, a, heads])
    A = np.stack([of_rank(rng, a, d, d) for _ in range(heads)])
    V = OVER.random(rng, (heads, d_out, d))
    assert kernel_in_all_directions(A, V) == heads**2


@pytest.mark.parametrize(("d", "d_out", "heads"), [(2, 2, 3), (3, 3, 4), (3, 2, 4)])
def test_with_more_heads_than_a_width_the_kernel_is_larger(d, d_out, heads):
    rng = np.random.default_rng(heads)
    A = OVER.random(rng, (heads, d, d))
    V = OVER.random(rng, (heads, d_out, d))
    assert kernel_in_all_directions(A, V) > heads**2


@pytest.mark.parametrize(("d", "heads"), [(2, 1), (2, 2), (3, 3), (4, 3), (5, 5)])
def test_at_the_point_of_the_proof_it_is_that_small_unless_two_forms_are_parallel(
    d, heads
):
    """A_h = u_h k_hᵀ, V_h = o_h w_hᵀ; with w₁ parallel to u₁ there is more."""
    rng = np.random.default_rng(d)
    u, w, k, o = OVER.random(rng, (4, heads, d))

    def kernel(w):
        A = OVER.reduce(np.einsum("hi,hj->hij", u, k))
        V = OVER.reduce(np.einsum("hi,hj->hij", o, w))
        return kernel_in_all_directions(A, V)

    parallel = w.copy()
    parallel[0] = OVER.reduce(3 * u[0])
    assert kernel(w) == heads**2 < kernel(parallel)


# (2) What is tangent to the family


class OfRank(NamedTuple):
    """A matrix, and bases of its left and right kernels as columns."""

    matrix: np.ndarray
    left: np.ndarray
    right: np.ndarray


def kernel_of(R):
    """A basis of the right kernel of a matrix of full row rank, as columns."""
    rank, d = R.shape
    if rank >= d:
        return np.zeros((d, 0))
    # R = [B | C] with an invertible B: the kernel is spanned by (−B⁻¹C, 1)
    solved = solve(R[:, :rank], R[:, rank:])
    return np.concatenate([OVER.reduce(-solved), np.eye(d - rank)])


def drawn(rng, rank, rows, columns, heads):
    rank = min(rank, rows, columns)
    found = []
    for _ in range(heads):
        left = OVER.random(rng, (rows, rank))
        right = OVER.random(rng, (rank, columns))
        found.append(OfRank(times(left, right), kernel_of(left.T), kernel_of(right)))
    return found


def solve(B, C):
    """B⁻¹ C over F_p, by elimination."""
    n = len(B)
    M = np.concatenate([B, C], axis=1)
    for k in range(n):
        pivot = k + int(np.flatnonzero(M[k:, k])[0])
        M[[k, pivot]] = M[[pivot, k]]
        M[k] = OVER.reduce(M[k] * pow(int(M[k, k]), -1, OVER.p))
        for row in range(n):
            if row != k:
                M[row] = OVER.reduce(M[row] - M[row, k] * M[k])
    return M[:, n:]


def systems(A, V):
    """The equations of (2) in the g_hk, h ≠ k: on rows for the A, columns for the V."""
    H = len(A)
    pairs = [pair for pair in np.ndindex(H, H) if pair[0] != pair[1]]
    place = {pair: n for n, pair in enumerate(pairs)}
    equations = []
    for h in range(H):
        for matrices, is_row in ((A, True), (V, False)):
            here = matrices[h]
            count = here.left.shape[1] * here.right.shape[1]
            of_h = np.zeros((count, len(pairs)))
            for k in range(H):
                if k != h:
                    seen = times(here.left.T, matrices[k].matrix, here.right)
                    pair = (h, k) if is_row else (k, h)
                    of_h[:, place[pair]] = seen.ravel()
            equations.append(of_h)
    return np.concatenate(equations)


SYSTEMS = [
    (d, d_out, a, v, heads)
    for d, d_out in ((2, 2), (3, 3), (4, 3), (3, 5), (5, 5), (6, 6), (7, 7), (6, 8))
    for heads in range(2, min(d, d_out) + 1)
    for a in range(max(1, d - 3), d + 1)
    for v in range(max(1, min(d, d_out) - 3), min(d, d_out) + 1)
]


@pytest.mark.parametrize(("d", "d_out", "a", "v", "heads"), SYSTEMS)
def test_the_systems_of_rows_and_columns_have_as_much_rank_as_they_can(
    d, d_out, a, v, heads
):
    rng = np.random.default_rng([d, d_out, a, v, heads])
    of_keys = (d - a) ** 2
    of_values = (d - v) * (d_out - v)
    matrix = systems(drawn(rng, a, d, d, heads), drawn(rng, v, d_out, d, heads))
    assert len(matrix) == heads * (of_keys + of_values)
    rank = exact_rank(matrix, OVER) if matrix.size else 0
    assert rank == min(heads**2 - heads, heads * (of_keys + of_values))


def test_heads_that_share_their_kernels_leave_the_systems_short():
    rng = np.random.default_rng(0)
    one = drawn(rng, 2, 3, 3, 1)[0]
    twice = one._replace(matrix=OVER.reduce(2 * one.matrix))
    matrix = systems([one, twice, one], drawn(rng, 3, 3, 3, 3))
    assert len(matrix) == 3 and exact_rank(matrix, OVER) == 0


@pytest.mark.parametrize("heads", range(2, 8))
@pytest.mark.parametrize("q", [2, 3, 5])
def test_one_equation_a_row_takes_one_unknown_of_each_row_in_the_limit(heads, q):
    """p = 1: A_k diagonal, 0 at k, 1 at k − 1 and above H, ε elsewhere; at ε = 0 the
    equation of row h is g_{h,h+1} = 0."""
    rng = np.random.default_rng([heads, q])
    d = max(heads, 3)
    V = drawn(rng, d - 1, d - 1 + q, d, heads)

    def of_limit(epsilon):
        A = []
        for k in range(heads):
            entries = np.full(d, float(epsilon))
            entries[heads:] = 1
            entries[k - 1 if k else heads - 1] = 1
            entries[k] = 0
            kernel = np.eye(d)[:, [k]]
            A.append(OfRank(np.diag(entries), kernel, kernel))
        return systems(A, V)

    rows = of_limit(0)[:: 1 + q]  # p = 1 equation of a row, then q of a column
    assert (rows != 0).sum() == heads == exact_rank(rows, OVER)
    most = min(heads**2 - heads, heads + heads * q)
    assert exact_rank(of_limit(0), OVER) == exact_rank(of_limit(5), OVER) == most


# The statement


def test_the_answer_is_the_formula_of_the_page_and_names_the_theorem():
    for d, d_out, a in product(range(1, 7), range(1, 7), range(1, 8)):
        for heads in range(2, min(d, d_out) + 1):
            found = one_lightning_layer(heads, (d, d_out, a))
            alpha = a * (2 * d - a) if a <= d else d * d
            lost = heads * max(1, heads - max(0, d - a) ** 2)
            assert found.value == heads * (alpha + d * d_out) - lost
            assert (found.status, found.source) == ("proved here", "Theorem M")
            # the layer's coefficients are enough
            assert found.value <= d_out * d * d * (d + 1) // 2


def test_up_to_five_heads_every_rank_of_values_is_proved():
    proved = []
    for d, d_out, a in product(range(1, 9), range(1, 9), range(1, 9)):
        for heads in range(2, min(d, d_out) + 1):
            for v in range(1, min(d, d_out) + 1):
                found = one_lightning_layer(heads, (d, d_out, a), Block(v))
                proved.append((heads, found.status))
    assert {status for heads, status in proved if heads <= 5} == {"proved here"}
    assert {status for heads, status in proved if heads > 5} == {
        "proved here",
        "observed",
    }


def test_one_lightning_layer_with_values_of_any_rank_is_measured_as_it_says():
    answered = 0
    for d, d_out, a, heads, v in product(
        range(1, 4), range(1, 4), range(1, 4), range(1, 4), range(1, 4)
    ):
        arch = Transformer((d, d_out), (a,), 3, heads=heads, block=Block(value_dim=v))
        theory = expected_dimension(arch)
        full = v >= min(d, d_out)
        too_many = heads > d_out or (heads > d and not full)
        assert (theory.value is None) == (heads > 1 and too_many)
        if heads > 1 and not too_many:
            status = "proved here" if heads <= d else "observed"
            assert theory.status == status
        if theory.value is not None:
            answered += 1
            assert measure_dimension(arch).value == theory.value, str(arch)
    assert answered > 120


@pytest.mark.parametrize(
    "arch",
    [
        Transformer((2, 2), (2,), 3, heads=3),
        Transformer((2, 4), (2,), 3, heads=3, block=Block(1)),
        Transformer((3, 3), (2,), 3, heads=2, block=Block(2, kv_heads=1)),
        Transformer.uniform(3, 2, 2, heads=2, skip=True, block=Block(1)),
        Transformer((3, 3), (2,), 1, heads=2),
    ],
)
def test_outside_the_hypotheses_nothing_is_claimed(arch):
    found = expected_dimension(arch)
    assert (found.value, found.status) == (None, "no formula")


def test_more_heads_than_outputs_have_another_dimension_than_the_formula():
    """H = 7 at d = d′ = 2: the formula gives 7, the rank is 12."""
    by_formula = 7 * (4 + 4) - 7 * 7
    found = measure_dimension(Transformer((2, 2), (2,), 2, heads=7)).value
    assert (by_formula, found) == (7, 12)


# What is observed, on the grids that the notes name


def wide():
    """d < H ≤ d′."""
    for d, d_out, a, heads in product(
        range(1, 6), range(2, 9), range(1, 7), range(2, 9)
    ):
        if d < heads <= d_out and a <= d + 1:
            yield Transformer((d, d_out), (a,), 2, heads=heads)


def out_of_reach():
    """Values of rank v where neither row nor column systems are enough: H ≥ 6."""
    for d, d_out, a, heads, v in product(
        range(6, 9), range(6, 9), range(3, 7), range(6, 9), range(3, 8)
    ):
        of_keys = (d - a) ** 2
        of_values = (d - v) * (d_out - v)
        small = min(of_keys, of_values) > 1
        if heads <= min(d, d_out) and small and max(of_keys, of_values) < heads - 1:
            yield Transformer((d, d_out), (a,), 2, heads=heads, block=Block(v))


@pytest.mark.long
@pytest.mark.parametrize(("grid", "count"), [(wide, 265), (out_of_reach, 14)])
def test_what_is_observed_agrees_on_its_grid(grid, count):
    networks = list(grid())
    assert len(networks) == count
    for arch in networks:
        found = expected_dimension(arch)
        assert found.status == "observed" and f"({count} networks" in found.note
        assert measure_dimension(arch).value == found.value, str(arch)
