"""A rank over a prime field is exact, against a second program; a float rank says when
it cannot tell."""

import flint
import numpy as np
import pytest

from neuroviz.rank.elimination import exact_rank
from neuroviz.rank.exact import schwartz_zippel
from neuroviz.rank.field import DEFAULT_PRIME, SECOND_PRIME, PrimeField
from neuroviz.rank.floats import float_rank, numerical_rank, without_rounding
from neuroviz.rank.rows import RowSpace

P = DEFAULT_PRIME
# around 45 columns, where flint hands over, and blocks of 32 rows and a few columns
# more
SHAPES = [
    *((n, n) for n in (1, 2, 31, 44, 45, 46, 63, 64, 66, 97, 130, 200)),
    *((rows, 60) for rows in (1, 31, 32, 33, 59, 65, 300)),
    *((rows, columns) for rows in (1, 32, 64) for columns in (90, 700)),
    (700, 90),
]


def random_matrix(
    F: PrimeField, rows: int, columns: int, rank: int, seed: int = 0
) -> np.ndarray:
    """A random matrix of rank at most `rank`, and of exactly that rank but for bad
    luck."""
    rng = np.random.default_rng([seed, rows, columns, rank])
    return F.matmul(F.random(rng, (rows, rank)), F.random(rng, (rank, columns)))


def flint_rank(matrix: np.ndarray, p: int) -> int:
    rows, columns = matrix.shape
    return flint.nmod_mat(rows, columns, [int(x) % p for x in matrix.ravel()], p).rank()


def ranks_to_try(rows: int, columns: int) -> list[int]:
    most = min(rows, columns)
    return sorted({0, 1, most // 2, most - 1, most})


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{shape[0]}x{shape[1]}")
def test_the_exact_rank_is_flints(shape):
    """Full, deficient, zero; tall, wide and square; around every size where the method
    changes."""
    F = PrimeField()
    for wanted in ranks_to_try(*shape):
        matrix = random_matrix(F, *shape, wanted)
        assert exact_rank(matrix, F) == flint_rank(matrix, P) == wanted


@pytest.mark.parametrize("columns", [7, 59, 60, 61, 100, 131])
@pytest.mark.parametrize("p", [3, 5, 101, SECOND_PRIME])
def test_the_exact_rank_is_flints_over_small_fields_and_sparse_matrices(p, columns):
    """Over F₃ pivots vanish by chance all the time."""
    F = PrimeField(p)
    rng = np.random.default_rng([p, columns])
    for rows in (20, columns, 2 * columns):
        for density in (0.01, 0.1, 1.0):
            matrix = F.random(rng, (rows, columns)) * (
                rng.uniform(size=(rows, columns)) < density
            )
            assert exact_rank(matrix, F) == flint_rank(matrix, p)


def staircases():
    """Matrices whose pivots are where a block looks last."""
    n = 150
    yield "zero", np.zeros((n, n)), 0
    yield "identity", np.eye(n), n
    yield "reversed identity", np.eye(n)[::-1], n
    yield (
        "pivots at the far right",
        np.concatenate([np.zeros((40, 500)), np.eye(40)], axis=1),
        40,
    )
    yield "all rows equal", np.ones((n, n)), 1
    yield "every row twice", np.repeat(np.eye(n), 2, axis=0), n
    yield "zero rows between", np.kron(np.eye(n), [[0.0], [1.0], [0.0]]), n
    yield (
        "one row after a thousand zeros",
        np.concatenate([np.zeros((1000, n)), np.ones((1, n))]),
        1,
    )
    yield "upper triangular", np.triu(np.ones((n, n))), n
    yield "one column only", np.outer(np.arange(n) - n // 2, np.eye(n)[-1]), 1


@pytest.mark.parametrize(
    ("matrix", "expected"), [pytest.param(m, r, id=name) for name, m, r in staircases()]
)
def test_the_exact_rank_of_matrices_built_to_be_awkward(matrix, expected):
    assert exact_rank(matrix, PrimeField()) == flint_rank(matrix, P) == expected


def test_a_prime_that_divides_the_determinant_lowers_the_rank():
    """A rank mod p bounds the rank over Q from below only."""
    matrix = np.diag([1.0, 101.0])
    assert exact_rank(PrimeField(101).reduce(matrix), PrimeField(101)) == 1
    assert exact_rank(matrix, PrimeField()) == 2


@pytest.mark.parametrize("shape", [(0, 5), (0, 70), (5, 0), (0, 0)])
def test_an_empty_matrix_has_rank_zero(shape):
    assert exact_rank(np.zeros(shape), PrimeField()) == 0


def long_combination() -> tuple[np.ndarray, int]:
    """[I | B] and one combination of its rows, every coefficient and every entry of B
    near p/2."""
    F = PrimeField()
    n = 1030
    B = P // 2 - np.add.outer(np.arange(n), np.arange(5)) % 3.0
    coefficients = P // 2 - np.arange(n) % 2.0
    combination = np.concatenate([coefficients, F.matmul(coefficients[None], B)[0]])
    return (
        np.concatenate([np.concatenate([np.eye(n), B], axis=1), combination[None]]),
        n,
    )


def row_space_rank(matrix: np.ndarray) -> int:
    space = RowSpace(PrimeField(), matrix.shape[1])
    space.add(matrix)
    return space.dimension


@pytest.mark.parametrize(
    "rank", [row_space_rank, lambda matrix: exact_rank(matrix, PrimeField())]
)
def test_more_pivots_than_one_exact_sum_are_still_exact(rank):
    matrix, expected = long_combination()
    assert rank(matrix) == expected


def test_without_blocks_more_pivots_than_one_exact_sum_go_wrong(monkeypatch):
    """The check above can fail: beyond 511 products a float64 sum may round."""
    matrix, expected = long_combination()
    monkeypatch.setattr(PrimeField, "matmul", lambda self, x, y: self.reduce(x @ y))
    assert row_space_rank(matrix) == expected + 1


# Rows that arrive bit by bit


@pytest.mark.parametrize("columns", [5, 59, 60, 130])
def test_a_row_space_grows_as_the_rank_of_the_rows_so_far(columns):
    F = PrimeField()
    rng = np.random.default_rng(columns)
    matrix = random_matrix(F, 2 * columns, columns, columns - 2)
    space = RowSpace(F, columns)
    start = 0
    while start < len(matrix):
        count = int(rng.integers(0, 45))
        before = space.dimension
        grown = space.add(matrix[start : start + count])
        start += count
        assert space.dimension == before + grown == flint_rank(matrix[:start], P)
    assert space.dimension == columns - 2


@pytest.mark.parametrize("columns", [3, 40, 130])
def test_of_many_rows_at_once_the_independent_ones_are_those_of_one_after_the_other(
    columns,
):
    """Rows repeat, vanish, and are combinations of earlier ones: also such that only
    late columns tell."""
    F = PrimeField()
    matrix = random_matrix(F, 2 * columns, columns, columns - 1)
    matrix[1::3, : columns // 2] = matrix[0, : columns // 2]
    matrix[2::7] = 0
    one_by_one = RowSpace(F, columns)
    at_once = RowSpace(F, columns)
    expected = [one_by_one.add(row[None]) == 1 for row in matrix]
    assert at_once.add_each(matrix).tolist() == expected
    assert not all(expected[: sum(expected)])  # not just the first ones
    assert at_once.add_each(matrix).sum() == 0


@pytest.mark.parametrize(
    ("rows", "columns", "wanted"), [(1, 3, 1), (20, 12, 7), (40, 70, 33), (90, 70, 69)]
)
def test_an_orthogonal_vector_is_orthogonal_to_every_row(rows, columns, wanted):
    """And n − rank of them span all that is orthogonal."""
    F = PrimeField()
    rng = np.random.default_rng(columns)
    matrix = random_matrix(F, rows, columns, wanted)
    space = RowSpace(F, columns)
    space.add(matrix)
    vectors = np.array(
        [space.orthogonal_vector(rng) for _ in range(columns - wanted + 2)]
    )
    assert not F.matmul(matrix, vectors.T).any()
    assert (vectors == F.reduce(vectors)).all() and vectors.any(axis=1).all()
    assert flint_rank(vectors, P) == columns - wanted
    assert F.matmul(random_matrix(F, 1, columns, 1, seed=5), vectors.T).any()


def test_without_rows_everything_is_orthogonal_and_with_all_of_them_only_zero():
    F = PrimeField(7)
    rng = np.random.default_rng(0)
    space = RowSpace(F, 3)
    drawn = {tuple(space.orthogonal_vector(rng)) for _ in range(8000)}
    assert len(drawn) == 7**3
    space.add(np.eye(3))
    assert not space.orthogonal_vector(rng).any()


# The probability of bad luck


def test_a_random_singular_point_is_as_likely_as_schwartz_zippel_allows():
    """det of a random 2 × 2 matrix over F₃₁ vanishes about once in 31, below the bound
    2 · 1/26."""
    F = PrimeField(31)
    rng = np.random.default_rng(0)
    short = np.mean([exact_rank(F.random(rng, (2, 2)), F) < 2 for _ in range(3000)])
    assert 0.02 < short < schwartz_zippel(found=1, degree=1, p=31) == 2 / 26


@pytest.mark.parametrize(
    ("found", "degree", "bound"),
    [
        (0, 5, 5 / (P - 5)),
        (0, P - 6, 1 - 1 / (P - 5)),
        (0, P - 5, 1.0),
        (1, P // 2 + 1, 1.0),
        (9, P, 1.0),
    ],
)
def test_a_probability_is_never_more_than_one(found, degree, bound):
    assert schwartz_zippel(found, degree, P) == pytest.approx(bound)


# Floating point


def spectrum(values: list[float], rows: int = 30, seed: int = 0) -> np.ndarray:
    """A matrix with these singular values, and rows and columns of about equal
    length."""
    rng = np.random.default_rng(seed)
    n = len(values)
    left, right = (np.linalg.qr(rng.normal(size=(m, n)))[0] for m in (rows, n))
    return left * values @ right.T


@pytest.mark.parametrize("shape", [(1, 1), (5, 5), (30, 7), (7, 30)])
def test_a_clear_spectrum_is_decided_and_right(shape):
    rng = np.random.default_rng(1)
    for wanted in range(min(shape) + 1):
        matrix = rng.normal(size=(shape[0], wanted)) @ rng.normal(
            size=(wanted, shape[1])
        )
        found = float_rank(matrix)
        assert (found.value, found.decided) == (wanted, True)
        assert len(found.singular_values) == min(shape)
        assert (np.diff(found.singular_values) <= 0).all()


@pytest.mark.parametrize(
    ("values", "expected", "decided"),
    [
        ([1, 0.5, 1e-3, 1e-17, 1e-17], 3, True),
        ([0, 0, 0], 0, True),
        ([1, 1, 1, 1e-11, 1e-17], None, False),  # near the noise
        ([1, 1, 1, 1e-13, 1e-17], None, False),
        ([1, 1, 1, 1e-11], 4, True),  # 1,500 times the noise of 30 rows
        ([1, 1, 1, 1e-12], None, False),  # 150 times
        (
            [1, 1, 1, 1e-13],
            None,
            False,
        ),  # nothing is dropped: an infinite gap alone decides nothing
        ([10.0**-k for k in range(17)], None, False),  # no gap
    ],
    ids=str,
)
def test_a_spectrum_is_decided_where_it_splits_far_from_the_noise(
    values, expected, decided
):
    found = float_rank(spectrum(values))
    assert found.decided == decided and expected in (None, found.value)


@pytest.mark.parametrize(("dropped", "decided"), [(0.0, True), (100.0, False)])
def test_what_is_dropped_from_a_large_matrix_has_to_be_as_small_as_a_computed_zero(
    dropped, decided
):
    """In 400 rows 400 units of rounding are noise, but zeros come out at a few: 100 may
    be a true value."""
    values = [1, 0.5, 0.2, dropped * np.finfo(float).eps]
    found = float_rank(spectrum(values, rows=400))
    assert found.value == 3 and found.gap > 1e12 and found.decided == decided


@pytest.mark.parametrize("factor", [1e-200, 1e-9, 1e9, 1e200])
def test_scaling_a_matrix_or_one_row_changes_no_rank(factor):
    matrix = spectrum([1, 0.5, 0.2, 0, 0])
    assert float_rank(factor * matrix).value == 3
    if 1e-9 <= factor <= 1e9:
        matrix[0] *= factor
        assert float_rank(matrix).value == 3


@pytest.mark.parametrize("axis", [0, 1], ids=["rows", "columns"])
def test_a_line_of_rounding_errors_does_not_count(axis):
    """A derivative that cancels to 1e−16 is a zero that rounding has touched, and must
    not be blown up."""
    rng = np.random.default_rng(2)
    matrix = rng.normal(size=(40, 6)) @ rng.normal(size=(6, 40))
    line = 1e-16 * rng.normal(size=40)
    matrix[(3, slice(None)) if axis == 0 else (slice(None), 3)] = line
    found = float_rank(matrix)
    assert found.value == 6 or not found.decided


@pytest.mark.parametrize(
    ("length", "change", "is_rounding"),
    [(1e-13, 0.1, True), (1e-13, 0.01, False), (1e-11, 0.1, False)],
)
@pytest.mark.parametrize("axis", [0, 1], ids=["rows", "columns"])
def test_a_line_is_rounding_if_it_is_short_and_changes_at_a_near_point(
    length, change, is_rounding, axis
):
    """10⁻¹² of the longest, a twentieth of itself: a small derivative is as smooth as a
    large one."""
    matrix = np.random.default_rng(0).normal(size=(5, 5))
    matrix[2] *= (
        length / np.linalg.norm(matrix[2]) * np.linalg.norm(matrix, axis=1).max()
    )
    near = matrix.copy()
    near[2] *= 1 + change
    matrix, near = (matrix, near) if axis == 0 else (matrix.T, near.T)
    kept = without_rounding(matrix, near)
    expected = matrix.copy()
    if is_rounding:
        expected[(2, slice(None)) if axis == 0 else (slice(None), 2)] = 0
    np.testing.assert_array_equal(kept, expected)


@pytest.mark.parametrize("entry", [np.nan, np.inf, -np.inf])
def test_a_matrix_that_overflowed_is_refused(entry):
    matrix = np.eye(3)
    matrix[1, 2] = entry
    with pytest.raises(
        ValueError, match="overflowed or are undefined.*take smaller inputs or weights"
    ):
        float_rank(matrix)
    with pytest.raises(ValueError, match="needs a matrix with entries; got shape"):
        float_rank(matrix[:0])


@pytest.mark.parametrize(
    ("sigma", "rank"),
    [
        ([1, 2e-9], 2),
        ([1, 5e-10], 1),
        ([50, 6e-8], 2),  # above 1 the largest counts
        ([50, 4e-8], 1),
        ([1e-3, 2e-9, 5e-10], 2),  # below 1 it does not
        ([1e-10, 0], 0),
    ],
)
def test_a_singular_value_counts_above_1e_9_and_above_1e_9_of_the_largest(sigma, rank):
    assert numerical_rank(np.diag(sigma)) == rank
    assert numerical_rank(np.diag(sigma) / 1e3, tol=1e-12) == (
        rank if max(sigma) <= 1 else 2
    )
