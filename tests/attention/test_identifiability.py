"""What the function tells about the weights, on quantities whose answer is known by
hand, both ways."""

import tracemalloc
import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy
from definition import RandomExponential, Residue, derivative, rank, residues

from neuroviz.attention import Architecture, identifiability
from neuroviz.attention.identifiability import is_identifiable, orbit_theorem
from neuroviz.attention.symmetry import swap_keys_and_values, virtual_weights
from neuroviz.kit.measured import measure_dimension
from neuroviz.rank import outputs, point
from neuroviz.rank.field import DEFAULT_PRIME, SECOND_PRIME, Reals
from neuroviz.rank.floats import DECISIVE_GAP
from neuroviz.rank.weights import unflatten


def lightning(*sizes):
    return Architecture(*sizes, attention="lightning")


def softmax(*sizes):
    return Architecture(*sizes, attention="softmax")


# Quantities, written as a reader would


def depth(w):
    return len(w) // 3


def A(w, i=0):
    return w[f"{i + 1}.K"].T @ w[f"{i + 1}.Q"]


def M(w, i=0):
    U = np.eye(w["1.V"].shape[1], dtype=int)
    for k in range(1, i + 1):
        U = w[f"{k}.V"] @ U
    return U.T @ A(w, i) @ U


def L(w):
    product = w["1.V"]
    for k in range(2, depth(w) + 1):
        product = w[f"{k}.V"] @ product
    return product


def ratios(matrix):
    return matrix / matrix[0, 0]


def minor(matrix, j=0, k=1):
    return matrix[0, j] * matrix[1, k] - matrix[0, k] * matrix[1, j]


def square(matrix):
    """‖·‖²."""
    return (matrix * matrix).sum()


ONE = lightning((3, 3), (2,))
SOFT = softmax((3, 3), (2,))
THIN = lightning((3, 3), (1,))
DEEP = lightning((3, 2, 3), (2, 2))
SOFT_DEEP = softmax((3, 2, 3), (2, 2))
THREE = lightning((2, 2, 2, 2), (2, 2, 2))
ALONE = lightning((3, 3), (2,), 1)  # one token
SOFT_ALONE = softmax((3, 3), (2,), 1)
COLLAPSE = lightning((3, 3, 3), (1, 2))
NO_COLLAPSE = lightning((3, 3, 3), (2, 2))
SOFT_COLLAPSE = softmax((3, 3, 3), (1, 2))
TALL = lightning((2, 2), (3,))  # a > d
SOFT_TALL = softmax((2, 2), (3,))
WIDE = lightning((2, 4, 2), (2, 2))
SOFT_WIDE = softmax((2, 4, 2), (2, 2))

# (architecture, what, the quantity, whether the function determines it)
KNOWN = [
    # One lightning layer: A and V up to (cA, V/c).
    (ONE, "all of A", A, False),
    (ONE, "A up to scale", lambda w: ratios(A(w)), True),
    (ONE, "an entry of Q", lambda w: w["1.Q"][0, 0], False),
    (
        ONE,
        "the row space of Q",
        lambda w: minor(w["1.Q"], 0, 1) / minor(w["1.Q"], 0, 2),
        True,
    ),
    (ONE, "a constant", lambda w: 7, True),
    (
        ONE,
        "one good and one bad entry",
        lambda w: [A(w)[0, 1] / A(w)[0, 0], w["1.Q"][0, 0]],
        False,
    ),
    # One softmax layer: A and V themselves.
    (SOFT, "A", A, True),
    (SOFT, "A + Q/10", lambda w: A(w)[:2] + w["1.Q"] / 10, False),
    # a = 1: C is a number.
    (THIN, "q ⊗ k ⊗ V", lambda w: w["1.V"] * w["1.Q"][0, 0] * w["1.K"][0, 1], True),
    # Two layers: L and M up to λ₀ λ₁³ λ₂ = 1.
    (DEEP, "L", L, False),
    (DEEP, "L up to scale", lambda w: ratios(L(w)), True),
    (DEEP, "M₂", lambda w: M(w, 1), False),
    (DEEP, "L M₁³ M₂", lambda w: L(w)[0, 0] * M(w, 0)[0, 0] ** 3 * M(w, 1)[0, 0], True),
    (
        DEEP,
        "L M₁² M₂",
        lambda w: L(w)[0, 0] * M(w, 0)[0, 0] ** 2 * M(w, 1)[0, 0],
        False,
    ),
    (DEEP, "V₁ up to scale", lambda w: ratios(w["1.V"]), False),
    (
        DEEP,
        "the row space of V₁",
        lambda w: minor(w["1.V"], 0, 1) / minor(w["1.V"], 0, 2),
        True,
    ),
    (
        DEEP,
        "det A₂ in the right basis",
        lambda w: minor(A(w, 1)) * minor(w["1.V"]) ** 2 / square(M(w, 1)),
        True,
    ),
    (SOFT_DEEP, "L", L, True),
    (SOFT_DEEP, "M₁ and M₂", lambda w: [M(w, 0), M(w, 1)], True),
    # One token.
    (ALONE, "symmetric part of A", lambda w: ratios(A(w) + A(w).T), True),
    (
        ALONE,
        "antisymmetric part of A",
        lambda w: (A(w)[0, 1] - A(w)[1, 0]) / A(w)[0, 0],
        False,
    ),
    (SOFT_ALONE, "A", lambda w: A(w)[0, 0], False),
    (softmax((3, 2, 3), (2, 2), 1), "V₂V₁", L, True),
    # Rank-one collapse: all tokens are parallel in the second layer.
    (
        COLLAPSE,
        "antisymmetric part of M₂",
        lambda w: (M(w, 1)[0, 1] - M(w, 1)[1, 0]) / M(w, 1)[0, 0],
        False,
    ),
    (COLLAPSE, "symmetric part of M₂", lambda w: ratios(M(w, 1) + M(w, 1).T), True),
    (
        NO_COLLAPSE,
        "antisymmetric part of M₂",
        lambda w: (M(w, 1)[0, 1] - M(w, 1)[1, 0]) / M(w, 1)[0, 0],
        True,
    ),
    (SOFT_COLLAPSE, "M₂", lambda w: M(w, 1), True),
    # a > d: Q and K are less than ever determined, A as always.
    (
        TALL,
        "row space of Q",
        lambda w: minor(w["1.Q"].T, 0, 1) / minor(w["1.Q"].T, 0, 2),
        False,
    ),
    (SOFT_TALL, "A", A, True),
    # Widening: the inner coordinates are free, the virtual weights are not.
    (SOFT_WIDE, "M₂", lambda w: M(w, 1), True),
    (
        SOFT_WIDE,
        "the column space of V₁",
        lambda w: minor(w["1.V"].T, 0, 1) / minor(w["1.V"].T, 0, 2),
        False,
    ),
]


def each_of(known):
    """A test for each of these."""
    cases = [
        pytest.param(arch, quantity, yes, id=f"{arch}: {what}")
        for arch, what, quantity, yes in known
    ]
    return pytest.mark.parametrize(("arch", "quantity", "expected"), cases)


def in_floats(quantity):
    """The same in absolute value; asking for floats leads away from the prime field."""
    return lambda w: np.abs(
        np.asarray(quantity(w), dtype=float) + 0 * float(w["1.Q"][0, 0])
    )


@each_of(KNOWN)
def test_rational_quantities_are_decided_exactly(arch, quantity, expected):
    found = is_identifiable(arch, quantity)
    assert (found.value, found.status, found.margin) == (expected, "exact", None)
    assert bool(found) is expected


@each_of(KNOWN)
def test_the_same_quantities_are_decided_in_floats_with_a_margin(
    arch, quantity, expected
):
    found = is_identifiable(arch, in_floats(quantity))
    assert (found.value, found.status) == (expected, "float")
    assert found.margin < 1e-11 if expected else found.margin > 1e-2


# Against a second program

TINY = [
    (lightning((2, 1), (1,), 2), 14),
    (lightning((2, 2), (1,), 1), 16),
    (softmax((2, 1), (1,), 2), 14),
    (lightning((2, 2), (2,), 2), 20),
    (softmax((2, 2), (2,), 1), 20),
    (lightning((2, 1, 1), (1, 1), 2), 20),
    (softmax((2, 1, 2), (1, 1), 2), 20),
]


@pytest.mark.parametrize(("arch", "inputs"), TINY, ids=str)
def test_the_answer_is_whether_the_gradient_adds_to_the_rank_of_the_definition(
    arch, inputs
):
    """The Jacobian token by token, the gradient by sympy, the rank by elimination:
    nothing of the package."""
    p = 2**31 - 1
    number = residues(p, seed=3)
    draw = lambda rows, columns: [
        [number() for _ in range(columns)] for _ in range(rows)
    ]
    shapes = list(arch.parameter_shapes.values())
    weights = []
    for first in range(0, len(shapes), 3):
        weights.append(tuple(draw(*shape) for shape in shapes[first : first + 3]))
    exp = RandomExponential(number)
    rows = []
    for _ in range(inputs):
        rows += derivative(
            arch.attention, weights, draw(arch.tokens, arch.widths[0]), exp
        )
    total = rank(rows)
    symbols = sympy.symbols(f"x:{arch.num_parameters}")
    symbolic = unflatten(arch, np.array(symbols, dtype=object))
    entries = (
        x.n for layer in weights for matrix in layer for row in matrix for x in row
    )
    values = dict(zip(symbols, entries, strict=True))
    quantities = [
        lambda w: A(w)[0, 0],
        lambda w: A(w)[0, 1] * w["1.V"][0, 0],
        lambda w: w["1.Q"][0, 1] * w["1.K"][0, 0],
        lambda w: w["1.Q"][0, 0],
        lambda w: L(w)[0, 0],
        lambda w: L(w)[0, 0] * M(w, 0)[0, 1],
        lambda w: L(w)[0, 0] * M(w, 0)[0, 0] ** 3 * M(w, depth(w) - 1)[0, 0],
        lambda w: M(w, depth(w) - 1)[0, 1] - M(w, depth(w) - 1)[1, 0],
        lambda w: w[f"{depth(w)}.V"][0, 0],
        lambda w: (A(w)[0, 1] + A(w)[1, 0]) * w["1.V"][0, 0],
        lambda w: np.trace(w["1.Q"] @ w["1.K"].T),
    ]
    answers = []
    for quantity in quantities:
        gradient = [
            Residue(int(sympy.diff(quantity(symbolic), x).subs(values)) % p, p)
            for x in symbols
        ]
        answers.append(rank([*rows, gradient]) == total)
        assert is_identifiable(arch, quantity).value == answers[-1]
    assert total == measure_dimension(arch).value and not all(answers) and any(answers)


# Floating point

FLOAT = [
    (SOFT, "‖A‖", lambda w: np.linalg.norm(A(w)), True),
    (ONE, "A / ‖A‖", lambda w: A(w) / np.linalg.norm(A(w)), True),
    (
        ONE,
        "singular values of Q",
        lambda w: np.linalg.svd(w["1.Q"], compute_uv=False),
        False,
    ),
    (
        SOFT,
        "first singular values of A",
        lambda w: np.linalg.svd(A(w), compute_uv=False)[:2],
        True,
    ),
    (
        ONE,
        "ratio of singular values of A",
        lambda w: np.divide(*np.linalg.svd(A(w), compute_uv=False)[:2]),
        True,
    ),
    (SOFT, "inverse of V", lambda w: np.linalg.inv(w["1.V"]), True),
    (
        SOFT,
        "projection on the rows of Q",
        lambda w: np.linalg.pinv(w["1.Q"]) @ w["1.Q"],
        True,
    ),
    (
        SOFT,
        "largest eigenvalue of A",
        lambda w: np.abs(np.linalg.eigvals(A(w))).max(),
        True,
    ),
    (SOFT, "a branch", lambda w: A(w)[0, 0] if A(w)[0, 0] > 0 else A(w)[0, 1], True),
    (SOFT, "a sign", lambda w: np.sign(w["1.Q"]), True),
    (SOFT, "a rank", lambda w: np.linalg.matrix_rank(w["1.Q"], rtol=1e-9), True),
    (DEEP, "‖M₂‖", lambda w: np.linalg.norm(M(w, 1)), False),
    (SOFT_DEEP, "‖M₂‖", lambda w: np.linalg.norm(M(w, 1)), True),
]


@each_of(FLOAT)
def test_quantities_that_are_not_rational_are_decided_in_floats(
    arch, quantity, expected
):
    found = is_identifiable(arch, quantity, 1)
    assert (found.value, found.status, found.seed) == (expected, "float", 1)
    assert found.margin < 1e-8 if expected else found.margin > 1e-2
    assert f"{found.margin:.1g} of its gradient" in found.note


def test_over_many_seeds_a_float_answer_is_never_wrong():
    """Undecided it may be, at networks that happen to be badly conditioned."""
    decided = 0
    for seed in range(12):
        for arch, what, quantity, expected in FLOAT[::4]:
            value = is_identifiable(arch, quantity, seed).value
            assert value in (expected, None), (what, seed)
            decided += value is not None
    assert decided > 0.9 * 12 * len(FLOAT[::4])


def test_the_unit_of_a_quantity_matters_only_where_squares_leave_the_floats():
    for factor in (1e-8, 1e8, 1e100):
        assert (
            is_identifiable(SOFT, lambda w: factor * np.linalg.norm(A(w))).value is True
        )
        assert (
            is_identifiable(SOFT, lambda w: factor * np.linalg.norm(w["1.Q"])).value
            is False
        )
    for factor in (1e-12, 1e-160, 1e-300):
        assert is_identifiable(
            SOFT, lambda w: factor * np.linalg.norm(w["1.Q"])
        ).value in (
            False,
            None,
        )
    found = is_identifiable(SOFT, lambda w: 1e-12 * np.linalg.norm(A(w)))
    assert found.value is None and "multiply it by a large number" in found.note
    with pytest.raises(
        ValueError, match=r"could not be decided: .*; look at \.value and \.margin"
    ):
        bool(found)


def test_a_quantity_that_drowns_beside_a_constant_is_never_decided_wrongly():
    """Beside 1e16 a change of size 1 is rounded away: that it is not seen is no proof
    that there is none."""
    for constant in (1e6, 1e12, 1e16, 1e18):
        found = is_identifiable(SOFT, lambda w: np.linalg.norm(w["1.Q"]) + constant)
        assert found.value in (False, None), constant
        found = is_identifiable(SOFT, lambda w: np.linalg.norm(A(w)) + constant)
        assert found.value in (True, None), constant


@pytest.mark.parametrize(("unit", "value"), [(1e-9, True), (3e-11, None)])
def test_slopes_count_from_1e_10_on(unit, value):
    found = is_identifiable(SOFT, lambda w: unit * np.linalg.norm(A(w)))
    assert found.value is value and ("multiply it by" in found.note) == (value is None)


@pytest.mark.parametrize(("constant", "value"), [(1e5, True), (1e7, None)])
def test_a_number_that_does_not_change_is_trusted_up_to_a_million(constant, value):
    """Beside a larger one a small change would be rounded away."""
    assert is_identifiable(SOFT, in_floats(lambda w: constant)).value is value


@pytest.mark.parametrize(("frequency", "value"), [(30, False), (300, None)])
def test_what_turns_within_a_few_steps_of_a_difference_is_not_decided(frequency, value):
    """Steps of 1e-3 and 2e-3 see its slope with errors of 0.0006 at 30 and 0.06 at 300
    radians."""
    found = is_identifiable(SOFT, lambda w: np.sin(frequency * w["1.Q"][0, 0]))
    assert found.value is value and ("not smooth here" in found.note) == (value is None)


def test_between_identifiable_and_not_nothing_is_decided():
    """A trace of Q in a function of A: too little for floats, plain over a prime
    field."""
    found = is_identifiable(
        SOFT, lambda w: np.linalg.norm(A(w)) + 1e-4 * np.linalg.norm(w["1.Q"])
    )
    assert found.value is None and 1e-6 < found.margin < 1e-3
    assert "too little for a change, too much for rounding" in found.note
    assert (
        is_identifiable(
            SOFT, lambda w: square(A(w)) + square(w["1.Q"]) * Fraction(1, 10**9)
        ).value
        is False
    )


@pytest.mark.parametrize(
    ("share", "value"),
    [(1e-9, True), (1e-7, None), (1e-5, None), (1e-3, None), (1e-2, False)],
)
def test_a_share_of_a_gradient_is_none_up_to_1e_8_and_some_from_1e_3_on(share, value):
    """A is determined and Q is not; about 0.3 of the share that is added lies along
    silent directions."""
    found = is_identifiable(
        SOFT, lambda w: np.linalg.norm(A(w)) + share * np.linalg.norm(w["1.Q"])
    )
    assert found.value is value and share / 5 < found.margin < share / 2


def test_an_exact_answer_takes_as_much_memory_as_was_asked_for(monkeypatch):
    """A network that is not quick: the memory is looked at before the work begins."""
    asked = []
    arch = lightning((10, 10, 10), (8, 8))
    monkeypatch.setattr(identifiability, "is_quick", lambda question: False)
    monkeypatch.setattr(
        identifiability, "check_memory", lambda what, size: asked.append((what, size))
    )
    tracemalloc.start()
    assert is_identifiable(arch, lambda w: w["1.Q"].sum()).status == "exact"
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert asked == [(f"the derivative of {arch}", pytest.approx(peak, rel=0.1))]


def test_without_a_clear_kernel_nothing_is_decided_in_floats(monkeypatch):
    true = identifiability._silent_directions
    for gap, expected in ((DECISIVE_GAP / 2, None), (DECISIVE_GAP * 2, True)):
        known = lambda *args, gap=gap: replace(true(*args), gap=gap)
        monkeypatch.setattr(identifiability, "_silent_directions", known)
        found = is_identifiable(SOFT, lambda w: np.linalg.norm(A(w)))
        assert found.value is expected
        assert ("splits by" in found.note) == (expected is None)


@pytest.fixture
def draw_badly_at_first(monkeypatch):
    """Where V is 0 the Jacobian has almost no rank, and its kernel says nothing about
    other points."""
    calls = []

    def begin(unlucky):
        def special(net, over, rng):
            calls.append(net)
            drawn = point.random_point(net, over, rng)
            if len(calls) > unlucky:
                return drawn
            weights = dict(drawn.weights)
            for i in range(1, net.num_layers + 1):
                weights[f"{i}.V"] = 0 * weights[f"{i}.V"]
            return replace(drawn, weights=weights)

        monkeypatch.setattr(identifiability, "random_point", special)
        return calls

    return begin


def test_a_point_of_too_small_a_rank_is_passed_over(draw_badly_at_first):
    calls = draw_badly_at_first(1)
    assert is_identifiable(SOFT, A).value is True and len(calls) == 1 + 2


def test_where_no_point_is_good_the_seed_is_blamed(draw_badly_at_first):
    draw_badly_at_first(8)
    with pytest.raises(ValueError, match="none of 8 random points mod 8388593"):
        is_identifiable(SOFT, A)


def test_where_one_point_is_good_the_quantity_is_blamed(draw_badly_at_first):
    draw_badly_at_first(7)
    with pytest.raises(ValueError, match="the quantity is undefined"):
        is_identifiable(SOFT, lambda w: 1 / (A(w) - A(w)))


@pytest.mark.parametrize("prime", [DEFAULT_PRIME, SECOND_PRIME])
def test_a_multiple_of_a_prime_is_no_constant(prime):
    """Modulo that prime alone its derivative is zero."""
    for quantity in (
        lambda w: prime * w["1.V"][0, 0],
        lambda w: w["1.V"][0, 0] ** prime,
    ):
        assert is_identifiable(ONE, quantity).value is False


# What may be written


EXACT = {
    "a Fraction in front": lambda w: Fraction(1, 3) * A(w)[0, 0],
    "a Fraction behind": lambda w: A(w) * Fraction(2, 7),
    "a float": lambda w: 0.25 * A(w) - 1.5,
    "numpy numbers": lambda w: (
        np.float64(2) * A(w)[0, 0] + np.int64(3) / A(w)[0, 1] - np.float32(0.5)
    ),
    "whole powers": lambda w: [
        A(w)[0, 0] ** 3,
        A(w)[0, 1] ** -2,
        A(w)[0, 2] ** 0,
        A(w)[1, 1] ** 2.0,
    ],
    "mean and variance": lambda w: [np.mean(A(w)), np.var(A(w))],
    "einsum": lambda w: np.einsum("ij,kj->ik", A(w), w["1.V"]),
    "other numpy": lambda w: [
        *np.cumsum(A(w)),
        *np.diff(A(w)).ravel(),
        *np.cross(A(w)[0], A(w)[1]),
    ],
    "signs": lambda w: [-A(w)[0, 0], +A(w)[0, 1], 1 - A(w)[0, 2]],
    "the identity less A": lambda w: np.eye(3) - A(w).conj(),
}


@pytest.mark.parametrize("quantity", EXACT.values(), ids=EXACT.keys())
def test_what_is_rational_is_exact_however_it_is_written(quantity):
    """Each is a function of A and V: softmax determines it; one step off it is not."""
    off = lambda w: np.ravel(np.asarray(quantity(w), dtype=object)) + w["1.Q"][0, 0]
    found = [is_identifiable(SOFT, each) for each in (quantity, off)]
    assert [(each.value, each.status) for each in found] == [
        (True, "exact"),
        (False, "exact"),
    ]


@pytest.mark.parametrize(
    ("denominator", "status"), [(2**20, "exact"), (2**21, "float")]
)
def test_a_float_with_a_denominator_above_a_million_may_have_been_rounded(
    denominator, status
):
    assert is_identifiable(SOFT, lambda w: A(w) * (1 / denominator)).status == status


def test_whatever_works_on_real_weights_is_answered():
    """Exactly or in floats: but not with an error about a class that the reader never
    saw."""
    import scipy.linalg
    import torch

    def in_place(w):
        product = np.linalg.norm(A(w))
        w["1.K"][:] = 0.0
        return product

    for quantity in (
        in_place,
        lambda w: np.trace(A(w)).item(),
        lambda w: np.trace(A(w)).real,
        lambda w: A(w)[0, 0].astype(float),
        lambda w: A(w)[0, 0].reshape(1) * 2,
        lambda w: np.cov(A(w)),
        lambda w: scipy.linalg.svdvals(A(w))[:2],
        lambda w: torch.linalg.norm(torch.from_numpy(A(w))),
        lambda w: virtual_weights(Reals(), w).M[0],
    ):
        assert is_identifiable(SOFT, quantity).value is True


# What is refused

UNDEFINED = "undefined at random weights: it divides by something"


def test_weights_that_are_not_there_are_named():
    with pytest.raises(KeyError, match="no weights 'V1': the network has 1.Q, 1.K"):
        is_identifiable(SOFT, lambda w: w["V1"])


def test_arrays_of_two_shapes_are_refused():
    with pytest.raises(ValueError, match="a number or an array of numbers; "):
        is_identifiable(SOFT, lambda w: [w["1.V"], w["1.Q"]])


@pytest.mark.parametrize("nothing", [lambda w: [], lambda w: w["1.V"][:0]])
def test_an_answer_without_numbers_is_refused(nothing):
    with pytest.raises(ValueError, match="at least one number; got an empty array"):
        is_identifiable(SOFT, nothing)


NO_NUMBERS = "must give finite real numbers at random weights; got"


@pytest.mark.parametrize(
    ("arch", "quantity", "seed", "said"),
    [
        (SOFT, lambda w: A(w) / (minor(w["1.Q"]) - minor(w["1.Q"])), 0, UNDEFINED),
        (SOFT, lambda w: (0 * w["1.V"][0, 0]) ** -1, 0, UNDEFINED),
        # A of rank 2 has determinant 0.
        (SOFT, lambda w: 1 / (A(w)[0] @ np.cross(A(w)[1], A(w)[2])), 0, UNDEFINED),
        (SOFT, lambda w: None, 0, NO_NUMBERS),
        (SOFT, lambda w: w["1.Q"][0, 0] > 0, 0, NO_NUMBERS),
        (SOFT, lambda w: np.sqrt(-1 - np.square(w["1.Q"])), 0, NO_NUMBERS),
        (SOFT, lambda w: 1j * A(w), 0, NO_NUMBERS),
        (SOFT, lambda w: np.exp(1e6 * np.square(w["1.Q"])), 0, NO_NUMBERS),
        (SOFT, lambda w: [A(w)[0, 0], np.nan], 0, NO_NUMBERS),
        (SOFT, np.eye(2), 0, "quantity must be a function of the weights; got ndarray"),
        ((3, 3), A, 0, "a measurement needs a network.*tuple has no parameter_shapes"),
        (SOFT, A, -1, "seed must be a whole number ≥ 0"),
    ],
)
def test_what_is_no_question_is_refused(arch, quantity, seed, said):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        with pytest.raises(ValueError, match=said):
            is_identifiable(arch, quantity, seed=seed)


def test_the_readers_own_mistakes_come_out_as_they_are():
    for error, quantity in (
        (KeyError, lambda w: {}["weights"]),
        (IndexError, lambda w: w["1.Q"][:, 7]),
        (TypeError, lambda: 1),
        (np.linalg.LinAlgError, lambda w: np.linalg.inv(w["1.Q"])),
    ):
        with pytest.raises(error):
            is_identifiable(SOFT, quantity)


# For all weights, not only near ones


@pytest.mark.parametrize(
    "arch",
    [SOFT_DEEP, SOFT_TALL, DEEP, ONE, THIN, THREE, TALL, lightning((3, 3, 3), (2, 1))],
)
def test_where_the_fibre_is_one_orbit_a_yes_is_for_all_weights(arch):
    note = is_identifiable(arch, lambda w: ratios(L(w))).note
    assert note.endswith(
        f"one orbit (Theorem {'B' if arch.attention == 'softmax' else 'F'})"
    )
    assert "orbit" not in is_identifiable(arch, lambda w: w["1.Q"][0, 0]).note


@pytest.mark.parametrize("arch", [SOFT_WIDE, WIDE, SOFT_ALONE, COLLAPSE])
def test_elsewhere_no_more_is_said_than_locally(arch):
    assert "orbit" not in is_identifiable(arch, lambda w: ratios(M(w))).note


@pytest.mark.parametrize(
    "arch", [lightning((3, 1), (1,)), lightning((3, 3, 1), (2, 1))]
)
def test_two_classes_of_weights_disagree_on_what_is_identifiable_near_each(arch):
    """Theorem F: values and keys of the last layer may be swapped, and the ratios in L
    are others."""
    found = is_identifiable(arch, lambda w: ratios(L(w)))
    assert found.value and "orbit" not in found.note
    drawn = point.random_point(arch, Reals(), np.random.default_rng(0))
    other = swap_keys_and_values(Reals(), drawn.weights, arch.num_layers)
    X = arch.random_inputs(Reals(), 5, np.random.default_rng(1))
    here = outputs(arch, Reals(), drawn.weights, X)
    assert np.allclose(here, outputs(arch, Reals(), other, X))
    assert not np.allclose(ratios(L(drawn.weights)), ratios(L(other)))


@pytest.mark.parametrize("kind", ["lightning", "softmax"])
def test_the_gap_above_the_silent_directions_is_between_two_neighbours_of_the_spectrum(
    kind,
):
    """At the dimension it is wide; one more or one less is inside what is kept, or
    inside the rounding."""
    arch = Architecture((3, 2, 2), (2, 1), 3, kind)
    dimension = measure_dimension(arch).value
    gaps = [
        identifiability._silent_directions(arch, n, 0).gap
        for n in (dimension - 1, dimension, dimension + 1)
    ]
    assert gaps[1] > DECISIVE_GAP and max(gaps[0], gaps[2]) < 1e4


@pytest.mark.parametrize(
    ("tokens", "lightning", "softmax"), [(1, "", ""), (2, "Theorem F", "Theorem B")]
)
def test_the_theorem_about_orbits_asks_for_two_tokens(tokens, lightning, softmax):
    for attention, theorem in (("lightning", lightning), ("softmax", softmax)):
        net = Architecture((3, 3, 3), (2, 2), tokens, attention)
        assert orbit_theorem(net) == theorem
