"""The arithmetic of a prime field is that of Python's whole numbers, and softmax is a
softmax."""

import math
import random

import numpy as np
import pytest
import sympy

from neuroviz.rank.exponentials import INDEPENDENT, SYMMETRIC
from neuroviz.rank.field import DEFAULT_PRIME, SECOND_PRIME, PrimeField, Reals
from neuroviz.rank.pivots import inverse as inverse_of

DRAW = {True: SYMMETRIC.draw, False: INDEPENDENT.draw}

PRIMES = [3, 5, 7, 101, 65_537, SECOND_PRIME, DEFAULT_PRIME]


def whole(rng: random.Random, p: int, *shape: int) -> np.ndarray:
    """Residues of least absolute value, among them the extreme ones."""
    extremes = [0, 1, -1, p // 2, -(p // 2)]
    entries = [
        rng.choice([*extremes, rng.randrange(-(p // 2), p // 2 + 1)])
        for _ in range(math.prod(shape))
    ]
    return np.array(entries, dtype=object).reshape(shape)


def congruent(x: np.ndarray, y: np.ndarray, p: int) -> bool:
    """Equal modulo p, counted in Python's whole numbers."""
    return all(
        (int(a) - int(b)) % p == 0
        for a, b in zip(np.ravel(x), np.ravel(y), strict=True)
    )


def is_reduced(x: np.ndarray, p: int) -> bool:
    # Up to rounding at ±p/2, and zero is always 0.
    x = np.ravel(x)
    return bool(
        (x == np.rint(x)).all()
        and (np.abs(x) <= p // 2 + 4).all()
        and (x[x % p == 0] == 0).all()
    )


def largest_entries(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Factors of inner length n whose entries are all (p − 1)/2 or next to it: the
    largest sums there are."""
    x = np.array(
        [[p // 2 - (i + j) % 3 for j in range(n)] for i in range(2)], dtype=object
    )
    return x, x.T - 1


@pytest.mark.parametrize("p", PRIMES)
def test_reduction_is_exact_up_to_2_to_the_53(p):
    rng = random.Random(p)
    limit = 2**53 - 2 * p
    large = [rng.randrange(-limit, limit) for _ in range(2000)]
    near_ties = [
        p * (limit // p - k) + offset
        for k in range(200)
        for offset in (0, p // 2, p // 2 + 1)
    ]
    numbers = large + near_ties + [-n for n in near_ties]
    reduced = PrimeField(p).reduce(np.array(numbers, dtype=np.float64))
    assert congruent(reduced, np.array(numbers, dtype=object), p) and is_reduced(
        reduced, p
    )


@pytest.mark.parametrize("p", PRIMES)
def test_matrix_products_are_those_of_whole_numbers(p):
    F = PrimeField(p)
    rng = random.Random(p + 1)
    for m, n, k in [
        (1, 1, 1),
        (2, 3, 4),
        (5, 1, 5),
        (3, 510, 2),
        (3, 511, 2),
        (3, 512, 2),
        (2, 513, 3),
    ]:
        x = whole(rng, p, m, n)
        y = whole(rng, p, n, k)
        ours = F.matmul(x.astype(float), y.astype(float))
        assert congruent(ours, x @ y, p) and is_reduced(ours, p)


@pytest.mark.parametrize("p", [SECOND_PRIME, DEFAULT_PRIME])
@pytest.mark.parametrize("n", [1023, 1536, 4097])
def test_inner_sums_longer_than_float64_holds_are_exact(p, n):
    x, y = largest_entries(n, p)
    ours = PrimeField(p).matmul(x.astype(float), y.astype(float))
    assert congruent(ours, x @ y, p) and is_reduced(ours, p)


def test_without_blocks_the_same_sums_are_wrong():
    """The check above can fail: one long float64 sum rounds."""
    p = DEFAULT_PRIME
    n = 4097
    F, (x, y) = PrimeField(p), largest_entries(n, p)
    assert not congruent(F.reduce(x.astype(float) @ y.astype(float)), x @ y, p)
    assert congruent(F.matmul(x.astype(float), y.astype(float)), x @ y, p)


def test_a_batch_of_long_products_is_its_members():
    F = PrimeField()
    rng = np.random.default_rng(0)
    x = F.random(rng, (3, 1, 2, 700))
    y = F.random(rng, (4, 700, 2))
    together = F.matmul(x, y)
    assert together.shape == (3, 4, 2, 2)
    for i in range(3):
        for j in range(4):
            assert congruent(
                together[i, j],
                x[i, 0].astype(int).astype(object) @ y[j].astype(int),
                F.p,
            )


@pytest.mark.parametrize("p", PRIMES)
def test_random_elements_are_residues_and_all_of_them(p):
    drawn = PrimeField(p).random(np.random.default_rng(0), (4, 500))
    assert drawn.shape == (4, 500) and is_reduced(drawn, p)
    if p < 10:
        assert set(drawn.ravel()) == set(range(-(p // 2), p // 2 + 1))


@pytest.mark.parametrize(
    "p", [-7, 561, 2887 * 2897, 2**23, 2**23 + 9, 7.0, "7", None, True]
)
def test_what_is_no_odd_prime_below_2_to_the_23_is_refused(p):
    with pytest.raises(
        ValueError,
        match=f"odd prime below 2²³ = 8388608.*got {p!r}: try {DEFAULT_PRIME}",
    ):
        PrimeField(p)


def test_a_field_accepts_exactly_the_odd_primes():
    def accepted(n: int) -> bool:
        try:
            return bool(PrimeField(n))
        except ValueError:
            return False

    assert [n for n in range(500) if accepted(n)] == list(sympy.primerange(3, 500))
    assert (
        PrimeField(np.int64(101)) == PrimeField(101)
        and type(PrimeField(np.int64(101)).p) is int
    )
    assert sympy.prevprime(2**23) == DEFAULT_PRIME != SECOND_PRIME


# Softmax


@pytest.mark.parametrize("p", [3, 7, 101, DEFAULT_PRIME])
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("t", [1, 2, 3, 4])
def test_each_token_pays_attention_that_sums_to_one(p, symmetric, t):
    F = PrimeField(p)
    S = F.softmax(np.zeros((50, t, t)), DRAW[symmetric], None, np.random.default_rng(t))
    assert S.shape == (50, t, t) and is_reduced(S, p)
    assert congruent(S.sum(axis=-2), np.ones((50, t), dtype=object), p)


def test_attention_is_free_but_for_its_sums():
    """Over F₃ every column that sums to 1 occurs, and about equally often."""
    S = PrimeField(3).softmax(
        np.zeros((9000, 2, 2)), INDEPENDENT.draw, None, np.random.default_rng(0)
    )
    columns, often = np.unique(np.mod(S[:, :, 0], 3), axis=0, return_counts=True)
    assert len(columns) == 3 and often.min() > 2700


def around_the_triangle(S: np.ndarray, p: int) -> np.ndarray:
    """S₁₂S₂₃S₃₁ − S₂₁S₃₂S₁₃ mod p: zero when the exponentials are symmetric, whatever
    the columns sum to."""
    S = S.astype(np.int64).astype(object)
    there = S[:, 0, 1] * S[:, 1, 2] * S[:, 2, 0]
    back = S[:, 1, 0] * S[:, 2, 1] * S[:, 0, 2]
    return (there - back) % p


def test_symmetric_logits_have_symmetric_exponentials():
    F = PrimeField()
    symmetric, other = (
        F.softmax(np.zeros((200, 3, 3)), DRAW[kind], None, np.random.default_rng(0))
        for kind in (True, False)
    )
    assert (
        not around_the_triangle(symmetric, F.p).any()
        and around_the_triangle(other, F.p).all()
    )
    assert (
        symmetric[:, 0, 1] != symmetric[:, 1, 0]
    ).all()  # each column is divided by a sum of its own
    assert symmetric.all(), "without zeros the triangle says that they are shared"


def test_real_softmax_is_the_definition():
    """Eq. 15, column by column."""
    s = np.random.default_rng(0).normal(size=(4, 3, 3))
    S = Reals().softmax(s, INDEPENDENT.draw, None, np.random.default_rng(0))
    for n in range(4):
        for i in range(3):
            e = [math.exp(s[n, j, i]) for j in range(3)]
            np.testing.assert_allclose(S[n, :, i], [x / sum(e) for x in e], rtol=1e-14)


def test_real_softmax_survives_logits_that_no_exponential_does():
    S = Reals().softmax(
        np.array([[[1e4, -1e4], [1e4 - 1, 1e4]]]),
        INDEPENDENT.draw,
        None,
        np.random.default_rng(0),
    )
    np.testing.assert_allclose(
        S[0, :, 0], [1 / (1 + math.exp(-1)), 1 / (1 + math.e)], rtol=1e-12
    )
    np.testing.assert_allclose(S[0, :, 1], [0, 1])


# Invertible matrices


@pytest.mark.parametrize("p", PRIMES)
@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_an_inverse_is_one_on_both_sides(p, n):
    F = PrimeField(p)
    rng = random.Random(n)
    found = 0
    while found < 20:
        x = whole(rng, p, n, n)
        if sympy.Matrix(x).det() % p == 0:
            continue
        found += 1
        inverse = inverse_of(F, x.astype(float))
        whole_inverse = inverse.astype(np.int64).astype(object)
        assert is_reduced(inverse, p)
        assert congruent(x @ whole_inverse, np.eye(n, dtype=int), p)
        assert congruent(whole_inverse @ x, np.eye(n, dtype=int), p)


@pytest.mark.parametrize("p", PRIMES)
def test_a_matrix_is_refused_exactly_where_its_determinant_is_zero(p):
    F = PrimeField(p)
    rng = random.Random(p)
    refused = 0
    for _ in range(60):
        x = np.array([[rng.randrange(-2, 3) for _ in range(3)] for _ in range(3)])
        try:
            inverse_of(F, F.reduce(x.astype(float)))
        except ValueError as error:
            assert str(error) == f"the 3 × 3 matrix has no inverse mod {p}"
            assert sympy.Matrix(x).det() % p == 0
            refused += 1
        else:
            assert sympy.Matrix(x).det() % p != 0
    assert 0 < refused < 60
    with pytest.raises(ValueError):
        inverse_of(F, np.array([[1.5]]))
    with pytest.raises(ValueError, match="Singular"):
        inverse_of(Reals(), np.ones((2, 2)))
