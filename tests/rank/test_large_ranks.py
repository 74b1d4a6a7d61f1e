"""Large ranks: all arithmetics find the rank that flint finds, and each fails where it
should not be used."""

from dataclasses import replace

import numpy as np
import pytest
from test_ranks_of_matrices import flint_rank

from neuroviz.rank import arithmetic as arithmetics
from neuroviz.rank import threads
from neuroviz.rank.arithmetic import (
    Float32,
    Float64,
    Int8,
    fastest_arithmetic,
    int8_is_exact,
    int8_is_fast,
    stored,
)
from neuroviz.rank.elimination import eliminate, invert_pivots
from neuroviz.rank.field import PrimeField
from neuroviz.rank.threads import one_thread

ARITHMETICS = [Float64(), Float32(), Int8()]
NAMES = ["float64", "float32", "int8"]


def needs(arithmetic):
    if arithmetic.name == "int8" and not int8_is_exact():
        pytest.skip("this processor does not multiply bytes exactly")


def low_rank(over, rng, m, n, r):
    return over.matmul(over.random(rng, (m, r)), over.random(rng, (r, n)))


@pytest.mark.parametrize("arithmetic", ARITHMETICS, ids=NAMES)
@pytest.mark.parametrize("trial", range(8))
def test_the_rank_is_that_of_flint(arithmetic, trial):
    needs(arithmetic)
    rng = np.random.default_rng(trial)
    over = arithmetic.over
    m, n, r = rng.integers(1, (60, 200, 330)[trial % 3], 3)
    matrix = low_rank(over, rng, m, n, r)
    if trial % 2:  # columns and rows of zeros, where pivots must be looked for
        matrix[:, rng.random(n) < 0.4] = 0
        matrix[rng.random(m) < 0.5] = 0
    if trial % 4 == 0:
        matrix[: m // 2] = 0
    assert eliminate(stored(matrix, arithmetic), arithmetic) == flint_rank(
        matrix, over.p
    )


@pytest.mark.parametrize("p", [3, 5, 101])
@pytest.mark.parametrize("density", [0.01, 0.05, 0.5])
def test_small_fields_and_sparse_matrices(p, density):
    rng = np.random.default_rng(p)
    over = PrimeField(p)
    matrix = over.random(rng, (150, 140)) * (rng.random((150, 140)) < density)
    arithmetic = replace(Float64(over), block=48)
    assert eliminate(stored(matrix, arithmetic), arithmetic) == flint_rank(
        matrix, over.p
    )


def test_blocks_that_lack_pivots_leave_no_work_to_divide_by():
    matrix = np.ones((33, 3))
    matrix[:, 1] = np.arange(33)
    assert eliminate(matrix, Float64()) == 2


@pytest.mark.parametrize("arithmetic", ARITHMETICS, ids=NAMES)
def test_full_rank_and_one_less_are_told_apart(arithmetic):
    needs(arithmetic)
    rng = np.random.default_rng(1)
    over = arithmetic.over
    n = 700
    matrix = over.random(rng, (n + 2, n))
    assert eliminate(stored(matrix, arithmetic), arithmetic) == n
    matrix[:, 500] = over.reduce(matrix[:, :5].sum(axis=1))
    assert eliminate(stored(matrix, arithmetic), arithmetic) == n - 1


def test_the_largest_entries_are_multiplied_exactly():
    for arithmetic in (Float64(), Float32()):
        edge = arithmetic.over.p // 2
        left = np.full((300, arithmetic.block), edge, dtype=arithmetic.dtype)
        right = np.full((arithmetic.block, 300), -edge, dtype=arithmetic.dtype)
        target = np.full((300, 300), edge, dtype=arithmetic.dtype)
        arithmetic.subtract_product(target, left, right)
        truth = (edge + arithmetic.block * edge**2) % arithmetic.over.p
        assert {int(x) % arithmetic.over.p for x in target.ravel()} == {truth}


@pytest.mark.long
def test_the_largest_block_of_bytes_is_inverted_exactly_in_float32():
    over = Int8().over
    n = Int8().block
    assert (
        n // 2 * 124**2 < 2**24
    )  # the longest sum of products; rounding takes a residue to 124 at most
    panel = (
        np.random.default_rng(0).choice([-120, 119, 120], (n + 8, n)).astype(np.float32)
    )
    found = invert_pivots(over, panel)
    rows = found.rows
    columns = found.columns
    inverse = found.inverse
    assert inverse.dtype == np.float32
    assert (
        over.matmul(inverse.astype(float), panel[np.ix_(rows, columns)].astype(float))
        == np.eye(n)
    ).all()


def test_sums_that_are_too_long_go_wrong():
    """The check above can fail: beyond 2²⁴ a float32 sum rounds."""
    n = 2100
    left = np.full((1, n), 120, np.int8)
    right = np.full((n, 1), 120, np.int8)
    left[0, -1] = 119
    target = np.zeros((1, 1), np.int8)
    Float32().subtract_product(target, left, right)
    assert (
        int(target[0, 0]) % 241
        != -int(left[0].astype(int) @ right[:, 0].astype(int)) % 241
    )


def test_residues_of_another_prime_are_refused():
    with pytest.raises(ValueError, match="residues mod 241"):
        stored(PrimeField().random(np.random.default_rng(0), (3, 3)), Float32())


def test_bytes_that_saturate_are_noticed(monkeypatch):
    """Where pairs of products are added in 16 bits, sums stop at 2¹⁵: the self-test
    refuses them."""
    import torch

    def saturating(a, b):
        pairs = (
            a.double().reshape(len(a), -1, 2),
            (b.double() + 128).reshape(-1, 2, b.shape[1]),
        )
        sums = torch.einsum("ikp,kpj->ikj", *pairs).clamp(-(2**15), 2**15 - 1).sum(1)
        return (sums - 128 * a.double().sum(1, keepdim=True)).int()

    monkeypatch.setattr(torch, "_int_mm", saturating)
    int8_is_exact.cache_clear()
    try:
        assert not int8_is_exact()
        assert fastest_arithmetic().name == "float32"
    finally:
        int8_is_exact.cache_clear()


@pytest.mark.parametrize(
    ("of_bytes", "of_floats"), [(1.0, 2.0), (2.0, 1.0), (1.0, 1.0)]
)
def test_bytes_are_fast_where_their_products_take_less_time(
    monkeypatch, of_bytes, of_floats
):
    import torch

    readings = iter(np.cumsum([0.0, of_bytes, 0.0, of_floats]))
    monkeypatch.setattr(torch, "_int_mm", lambda a, b: None)
    monkeypatch.setattr(arithmetics, "process_time", lambda: next(readings))
    assert int8_is_fast.__wrapped__() == (of_bytes < of_floats)


def test_bytes_whose_products_add_up_exactly_are_taken(monkeypatch):
    import torch

    monkeypatch.setattr(torch, "_int_mm", lambda a, b: (a.double() @ b.double()).int())
    int8_is_exact.cache_clear()
    try:
        assert int8_is_exact()
    finally:
        int8_is_exact.cache_clear()


@pytest.mark.parametrize("arithmetic", [Float64(), Float32()], ids=NAMES[:2])
@pytest.mark.parametrize("rank", [1800, 1500])
def test_progress_is_told_often_and_as_large_as_the_work_done(
    arithmetic, rank, monkeypatch
):
    """It neither jumps nor stands still, on the clock of the products made."""
    made = [0]
    seen = []
    multiply = type(arithmetic).subtract_product

    def counted(self, target, left, right):
        made[0] += target.size * left.shape[1]
        multiply(self, target, left, right)

    monkeypatch.setattr(type(arithmetic), "subtract_product", counted)
    matrix = low_rank(arithmetic.over, np.random.default_rng(0), 1802, 1800, rank)
    tell = lambda part: seen.append((part, made[0]))
    with one_thread():  # several would count at the same time
        assert eliminate(stored(matrix, arithmetic), arithmetic, tell) == rank
    parts, work = np.transpose(seen)
    assert (np.diff(parts) >= 0).all() and parts[-1] == 1.0
    assert (
        np.diff(parts, prepend=0.0).max() < 0.12
        and np.diff(work, prepend=0.0).max() < 0.1 * work[-1]
    )
    assert np.abs(parts - work / work[-1]).max() < 0.12  # the inverses are not counted


@pytest.mark.usefixtures("nobody_else_limits_threads")
@pytest.mark.parametrize("arithmetic", [Float64(), Float32()], ids=NAMES[:2])
@pytest.mark.parametrize("rank", [1200, 700])
def test_side_by_side_the_rank_is_the_same(arithmetic, rank, monkeypatch):
    """Where several threads work, the next pivots are found beside the products of the
    block before."""
    monkeypatch.setattr(threads, "_num_threads", lambda most: 1 if most == 1 else 2)
    rng = np.random.default_rng(0)
    matrix = low_rank(arithmetic.over, rng, 1400, 1200, rank)
    assert eliminate(stored(matrix, arithmetic), arithmetic) == rank
