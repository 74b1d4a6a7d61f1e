"""The rank at a random point, block by block, in parts, and on combinations."""

import tracemalloc

import flint
import numpy as np
import pytest
from architectures import random_architectures

from neuroviz.attention import Architecture
from neuroviz.rank import exact, measure_dimension, point
from neuroviz.rank.arithmetic import Float32, Float64
from neuroviz.rank.exact import LARGE, _Search, say_nothing
from neuroviz.rank.field import DEFAULT_PRIME, PrimeField
from neuroviz.rank.memory import check_memory
from neuroviz.rank.outline import outline
from neuroviz.rank.point import num_parameters, random_point, random_rows

WIDE = Architecture.uniform(d=20, a=20, layers=3, attention="softmax")  # 1,600 columns
COLLAPSED = Architecture((24, 24, 24, 24), (1, 24, 24), 3)  # fewer than its 1,770


def search(net, inputs=None, report=say_nothing):
    return _Search(net, outline(net), num_parameters(net), inputs, report)


def test_a_large_rank_that_meets_the_bound_is_taken_modulo_a_small_prime():
    found = measure_dimension(WIDE)
    assert found.value == found.num_columns == 1600 >= LARGE
    assert (found.prime, found.error_bound) == (241, 0.0)
    assert found.arithmetic in ("float32", "int8")
    assert measure_dimension(Architecture.uniform(3, 2, 2)).arithmetic == "flint"
    other = measure_dimension(Architecture.uniform(6, 3, 2), prime=8_388_587)
    assert other.prime == 8_388_587


def test_one_that_does_not_is_taken_again_modulo_a_large_prime():
    found = measure_dimension(COLLAPSED)
    assert found.value < found.num_columns >= LARGE
    assert (found.prime, found.arithmetic) == (8_388_593, "float64")
    assert 0 < found.error_bound < 1e-2


def test_memory_is_looked_at_again_before_the_large_prime(monkeypatch):
    """There an entry takes eight bytes instead of one."""
    asked = []

    def check(what, size):
        asked.append(size)
        check_memory(what, size)

    monkeypatch.setattr(exact, "check_memory", check)
    found = measure_dimension(COLLAPSED)
    assert asked == [found.num_columns**2, 8 * found.num_columns**2]


@pytest.mark.parametrize("attention", ["lightning", "softmax"])
@pytest.mark.parametrize("route", ["slice", "weights"])
def test_block_by_block_the_rank_is_the_same(attention, route, monkeypatch):
    arch = Architecture((5, 4, 5), (3, 3), 3, attention)
    whole = measure_dimension(arch, route=route).value
    on_four = measure_dimension(arch, route=route, inputs=4).value
    net = arch.slice() if route == "slice" else arch
    columns = num_parameters(net)
    blocks = []
    rows = exact.random_rows

    def counted(*arguments):
        for block in rows(*arguments):
            blocks.append(len(block))
            yield block

    monkeypatch.setattr(exact, "random_rows", counted)
    # Seven rows at a time.
    at_once = 8 * 7 * (columns + outline(net).numbers)
    monkeypatch.setattr(point, "BYTES_AT_ONCE", at_once)

    def rank(inputs, arithmetic, all_outputs=False):
        searched = search(net, inputs if all_outputs else None)
        searched.num_inputs = inputs
        return searched.rank_at_a_point(arithmetic, np.random.default_rng(1))

    assert rank(columns + 2, Float64()) == whole
    assert max(blocks) == 7 and sum(blocks) == columns + 2
    assert rank(columns + 2, Float32()) == whole
    assert rank(4, Float64(), all_outputs=True) == on_four
    # The check can fail: too few inputs.
    assert rank(columns // 2, Float64()) < whole


def test_the_matrix_is_never_there_twice():
    """Peak memory, beyond the matrix, is that of a block of rows and some columns."""

    def stop_late(what, part):
        if what == "elimination" and part > 0.3:
            raise StopIteration

    net = Architecture.uniform(36, 36, 3, 3, "softmax").slice()
    columns = num_parameters(net)
    searched = search(net, report=stop_late)
    tracemalloc.start()
    with pytest.raises(StopIteration):
        searched.rank_at_a_point(Float32(), np.random.default_rng(0))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.5 * columns**2 + 5 * point.BYTES_AT_ONCE
    assert peak < 0.8 * 8 * columns**2  # far from float64 rows of everything


def test_too_few_functionals_fall_short(monkeypatch):
    """One functional for each of n + 2 inputs is enough; one for each of half as many
    is not."""
    arch = Architecture.uniform(3, 2, 2)
    columns = num_parameters(arch.slice())
    monkeypatch.setattr(exact, "_SPARE_ROWS", 2 - columns // 2)
    assert measure_dimension(arch).value == columns + 2 - columns // 2 < columns


def by_flint(net, seed):
    """The rank of all columns, none of them mixed, by another library."""
    columns = num_parameters(net)
    rng = np.random.default_rng([seed, 1])
    drawn = random_point(net, PrimeField(), rng)
    rows = []
    for part in random_rows(drawn, outline(net), columns + 2, False, rng):
        rows += [[int(x) for x in row] for row in part]
    return flint.nmod_mat(rows, DEFAULT_PRIME).rank()


def test_combinations_of_the_columns_have_the_rank_of_all_of_them():
    """However many of them are expected to do, and modulo a small prime too."""
    lost = expectations = short = 0
    for arch in random_architectures(20, seed=8):
        for net in (arch, arch.slice()):
            columns = num_parameters(net)
            if columns < 45:
                continue
            true = by_flint(net, seed=0)
            lost += true < columns
            for expected in {1, true // 2, true - 1, true, true + 1, columns}:
                for p in (DEFAULT_PRIME, 241):
                    rng = np.random.default_rng([expected, p])
                    searched = search(net)
                    searched.num_inputs = 0
                    rank = searched.rank_of_combinations(PrimeField(p), expected, rng)
                    # A random point modulo 241 may have a smaller rank itself.
                    assert rank == true or (p == 241 and rank < true), (net, expected)
                    short += rank < true
                    spare = 2 if p > 241 else 8
                    is_enough = searched.num_inputs == expected + spare
                    assert is_enough or rank >= min(expected, columns)
                    expectations += 1
    assert lost > 7 and expectations > 100 and short < expectations / 20


def test_combinations_that_are_not_generic_are_seen_to_lose_rank(monkeypatch):
    """The check above can fail: here only one combination is there, many times."""
    net = Architecture.uniform(4, 2, 2)
    draw = PrimeField.random

    def repeated(over, rng, shape):
        drawn = draw(over, rng, shape)
        return np.repeat(drawn[:, :1], shape[1], axis=1) if shape == (64, 64) else drawn

    rng = np.random.default_rng(0)
    assert search(net).rank_of_combinations(PrimeField(), 64, rng) == 38
    monkeypatch.setattr(PrimeField, "random", repeated)
    rng = np.random.default_rng(0)
    assert search(net).rank_of_combinations(PrimeField(), 64, rng) == 1
