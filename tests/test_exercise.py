"""Checks accept every correct answer, say what is wrong with others, and never break a
Run All."""

from fractions import Fraction

import numpy as np
import pytest
from verdicts import assert_right, assert_waits, assert_wrong, checkers

import neuroviz as nv
from neuroviz.kit import theme
from neuroviz.lessons import checks_deep, checks_one_layer
from neuroviz.lessons.checks_deep import (
    check_meeting,
    check_more_than_factors,
    check_rescaling,
    check_unseen,
    check_wrong_pattern,
)
from neuroviz.lessons.checks_one_layer import (
    check_boundary_layer,
    check_large_fibre,
    check_second_branch,
    check_singular_goal,
)
from neuroviz.lessons.exercise import NOTHING, Verdict, checker, exercise, matrix

A = nv.Architecture
EYE = np.eye(2, 3)
ONES = np.array([1.0, 1.0])
TWOS = np.array([2.0, -1.0])
HALF = Fraction(1, 2)
TINY = Fraction(1, 10**400)
HUGE = 1e200 * np.array([[1.0, 3.0], [3.0, 9.0]])

# check, answer
RIGHT = [
    (check_large_fibre, ([[1, 0, 0], [1, 0, 0]], EYE)),
    # the keys may lose the rank as well
    (check_large_fibre, (EYE, [[1, 2, 3], [2, 4, 6]])),
    (check_large_fibre, (1e-12 * np.array([[1, 0, 0], [1, 0, 0]]), 1e12 * EYE)),
    (check_second_branch, (np.outer(ONES, TWOS), [TWOS], np.outer(TWOS, TWOS), [ONES])),
    (
        check_second_branch,
        (np.outer(ONES, TWOS), [TWOS], -3 * np.outer(TWOS, TWOS), [-ONES / 3]),
    ),
    # d′ = 2
    (
        check_second_branch,
        (np.outer(ONES, TWOS), [TWOS] * 2, np.outer(TWOS, TWOS), [ONES] * 2),
    ),
    (check_boundary_layer, ([[1, 2], [1, 2]], [[1, 1]])),
    (check_boundary_layer, ([[-1, 2], [3, -6]], [[Fraction(1, 3), -1]])),
    (check_boundary_layer, ([[0.1, 0.2], [0.1, 0.2]], [[0.3, 0.3]])),
    (check_singular_goal, ((1, 0, 1), (0, 0, 0))),
    (check_singular_goal, ((1, 1, 1), (-2, -2, -2))),
    (check_singular_goal, ([1.5, 0, 1], [3.0, 0, 2])),
    (check_singular_goal, ((1e200, 0, 1e200), (1, 0, 1))),
    (check_singular_goal, (np.array([1, 0, 2]), np.array([10**18, 0, 2 * 10**18]))),
    (check_rescaling, ((Fraction(1, 2**9 * 27 * 5), 2, 3, 5),)),
    (check_rescaling, ([2**-13, 2, 2, 2],)),  # powers of two are exact as floats
    (check_rescaling, ((-1, -1, -1, -1),)),
    (check_rescaling, ((8, 2, HALF, Fraction(1, 512)),)),
    (check_wrong_pattern, (A((3, 3, 3), (1, 2)),)),
    (check_wrong_pattern, (A((2, 4, 2), (2, 2)),)),
    (check_wrong_pattern, (A((4, 4, 4), (3, 3), tokens=1),)),
    (check_wrong_pattern, (A((3, 3, 3, 3), (2, 1, 2)),)),
    (check_unseen, (A((9, 8, 9, 1), (2, 2, 1)),)),
    (check_unseen, (A((4, 4, 1), (3, 1)),)),
    (check_more_than_factors, (A((3, 3, 3), (1, 2)),)),
    (
        check_more_than_factors,
        (A((3, 3, 3, 3), (2, 1, 3), tokens=2, attention="softmax"),),
    ),
    (check_meeting, ([[1, 0], [0, -1]], [2, 1], [1, 0])),
    (check_meeting, ([[0, 1], [0, 0]], [1, 0], [-1, 0])),
    (check_meeting, ([[1, 5], [-5, 0]], [0, 3], [0, 1])),
]

# check, answer, what is said
WRONG = [
    (check_large_fibre, (EYE, EYE), "as many as in GL₂"),
    (check_large_fibre, ([[1, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 1, 0]]), "KᵀQ is 0"),
    (check_large_fibre, (np.zeros((2, 3)), EYE), "Q is 0"),
    (check_large_fibre, (np.eye(3), EYE), "Q needs 2 row"),
    (check_large_fibre, ([[1, 2], [3]], EYE), "Q is a matrix"),
    (check_large_fibre, ([[1, 0, np.nan], [0, 1, 0]], EYE), "finite"),
    (check_second_branch, (np.eye(2), [ONES], np.eye(2) * 2, [ONES / 2]), "rescaling"),
    (check_second_branch, (np.eye(2), [ONES], np.eye(2), [ONES]), "c = 1"),
    (
        check_second_branch,
        (np.outer(ONES, TWOS), [TWOS], np.outer(TWOS, ONES), [TWOS]),
        "functions differ",
    ),
    (
        check_second_branch,
        (np.outer(ONES, TWOS), [TWOS], np.outer(TWOS, TWOS), [2 * ONES]),
        "differ",
    ),
    (check_second_branch, (0 * np.eye(2), [ONES], 0 * np.eye(2), [TWOS]), "is 0"),
    (check_second_branch, (np.eye(2), [ONES], np.eye(3), [ONES]), "A2 needs 2"),
    (check_boundary_layer, ([[1, 2], [2, 4]], [[1, 1]]), "crossing"),
    (check_boundary_layer, ([[1, 1], [2, 2]], [[1, 1]]), "transpose"),
    (check_boundary_layer, ([[1, 2], [3, 4]], [[1, 1]]), "smooth"),
    (check_boundary_layer, ([[1, 0], [1, 0]], [[1, 1]]), "0"),
    (check_boundary_layer, ([[1, 2], [1, 2]], [1, 1]), "V is a matrix"),
    (check_singular_goal, ((1, 0, -1), (1, 2, 1)), "A layer has"),
    (check_singular_goal, ((0, 0, 0), (0, 0, 0)), "A layer has"),
    (check_singular_goal, ((1, 0, 1), (0, 1, 0)), "smooth"),
    (check_singular_goal, ((1, 0), (0, 1, 0)), "q1"),
    (check_singular_goal, ((10**400, 0, 10**400), (1, 0, 1)), "too large or too small"),
    (check_singular_goal, ((TINY, 0, TINY), (0, 0, 0)), "too large or too small"),
    (
        check_second_branch,
        (1e200 * np.eye(2), [ONES], 1e200 * np.eye(2), [ONES]),
        "too large or too small",
    ),
    (check_boundary_layer, (HUGE, HUGE[:1]), "too large or too small"),
    (check_rescaling, ((HALF, 2, 3, 4),), "has changed"),
    (check_rescaling, ((Fraction(1, 8), 2, 2, 2),), "has changed"),
    (check_rescaling, ((1, 1, 1, 1),), "0 or 1"),
    (check_rescaling, ((0, 2, 2, 2),), "0 or 1"),
    (check_rescaling, ((HALF, 2),), "4 numbers"),
    (check_rescaling, ("half",), "4 numbers"),
    (check_rescaling, ((Fraction(1, 8_388_593), 2, 2, 2),), "modulo"),
    (check_wrong_pattern, (A.uniform(4, 2, 2),), "Eq. 14 is right"),
    (check_wrong_pattern, (A((3, 3, 3), (2, 1)),), "off by 0"),
    (check_wrong_pattern, (A((3, 3), (2,)),), "2 layers or more"),
    (check_wrong_pattern, (A.uniform(4, 2, 2, attention="softmax"),), "lightning"),
    (check_wrong_pattern, (A.uniform(40, 2, 2),), "smaller network"),
    (check_wrong_pattern, ((3, 3, 3),), "nv.Architecture"),
    (check_unseen, (A((5, 3, 4), (2, 2)),), "all are seen"),
    (check_unseen, (A((2, 4, 2), (2, 2)),), "all are seen"),  # empty is not unseen
    (check_more_than_factors, (A.uniform(4, 2, 2),), "number of layers"),
    (check_more_than_factors, (A.uniform(4, 2, 2, tokens=1),), "two tokens"),
    (check_meeting, ([[1, 0], [0, 1]], [1, 0], [0, 1]), "apart"),
    (check_meeting, ([[0, 1], [-1, 0]], [1, 0], [0, 1]), "antisymmetric"),
    (check_meeting, ([[1, 0], [0, -1]], [1, 0], [1, 0]), "from the beginning"),
    (check_meeting, ([[1, 0], [0, 1]], [2e3, 1], [1, 0]), "not exactly"),
]

CHECKERS = checkers(checks_one_layer, checks_deep)


@pytest.mark.parametrize(
    ("check", "answer"), RIGHT, ids=lambda x: getattr(x, "__name__", None)
)
def test_every_correct_answer_passes(check, answer):
    assert_right(check, answer)


@pytest.mark.parametrize(
    ("check", "answer", "said"), WRONG, ids=lambda x: getattr(x, "__name__", None)
)
def test_a_wrong_answer_fails_and_hears_why(check, answer, said):
    assert_wrong(check, answer, said)


@pytest.mark.parametrize("check", CHECKERS, ids=lambda check: check.__name__)
def test_nothing_filled_in_is_no_error_and_no_pass(check):
    assert_waits(check)
    assert (
        not NOTHING and not NOTHING.filled_in and "Nothing filled in" in repr(NOTHING)
    )


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1.0, 1e200, 1e300])
def test_the_nearest_layer_is_as_far_as_the_forms_are_large(size):
    """For q₁ = q₂ = size · (X² + Y²) the least √(q₁² + q₂²) on unit vectors is √2 ·
    size."""
    said = check_singular_goal((size, 0, size), (size, 0, size)).message
    assert (
        f"{np.sqrt(2) * size:.3g} away in the Bombieri norm" in said
        and "boundary point" in said
    )


def test_every_check_is_tried_with_right_and_wrong_answers():
    assert (
        {check for check, _ in RIGHT} == set(CHECKERS) == {check for check, *_ in WRONG}
    )


@pytest.mark.parametrize("seed", range(10))
def test_random_swaps_and_random_boundary_points_pass(seed):
    rng = np.random.default_rng(seed)
    d = rng.integers(2, 5)
    d_out = rng.integers(1, 4)
    u, k, v = rng.standard_normal((3, d))
    h = rng.standard_normal(d_out)
    c = rng.standard_normal()
    one = np.outer(u, k)
    other = c * np.outer(v, k)
    assert check_second_branch(one, np.outer(h, v), other, np.outer(h, u) / c)
    assert not check_second_branch(one, np.outer(h, v), other.T, np.outer(h, u) / c)
    v = rng.integers(1, 9, 2)
    k = rng.integers(1, 9, 2)
    h = int(rng.integers(1, 9))
    layer = np.outer(v, k).tolist(), [(h * v).tolist()]
    assert check_boundary_layer(*layer)


def test_a_check_does_not_hide_errors_of_its_own():
    @checker
    def check_broken(answer):
        return Verdict(answer / 0 > 1, "")

    with pytest.raises(ZeroDivisionError):
        check_broken(1)


# The box


def test_the_box_shows_the_task_the_difficulty_and_the_minutes():
    shown = exercise(
        "Give x with x < 2.", check_unseen, difficulty=2, minutes=7
    )._repr_html_()
    assert (
        "x &lt; 2" in shown
        and "●●○ takes thought · 7 min" in shown
        and "check_unseen" in shown
    )


def test_a_verdict_is_escaped_and_announced():
    shown = Verdict(False, "a < b")._repr_html_()
    assert "a &lt; b" in shown and 'role="status"' in shown and "✗ Not yet." in shown


def test_boxes_are_dark_on_white_in_every_theme():
    light = NOTHING._repr_html_()
    with theme.using({"mode": "dark"}):
        assert NOTHING._repr_html_() == light and theme.current()["mode"] == "dark"


@pytest.mark.parametrize(
    "wrong",
    [
        {"task": ""},
        {"task": 3},
        {"check": len},
        {"difficulty": 4},
        {"difficulty": True},
        {"minutes": 2.5},
    ],
    ids=repr,
)
def test_a_box_that_is_none_is_refused(wrong):
    with pytest.raises(ValueError):
        exercise(**{"task": "Give a network.", "check": check_unseen, **wrong})


@pytest.mark.parametrize(
    "given", [3, [], [[]], [[[1]]], "a", [["a"]], [[1, 2], [3]], [[np.inf]]], ids=repr
)
def test_what_is_no_matrix_is_refused(given):
    with pytest.raises(ValueError, match="Q"):
        matrix("Q", given)
