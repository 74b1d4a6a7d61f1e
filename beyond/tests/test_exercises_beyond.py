"""Checks of exercises beyond the paper accept every correct answer and say what is
wrong with others; checks of the paper's exercises refuse transformers."""

import numpy as np
import pytest
from verdicts import assert_right, assert_waits, assert_wrong, checkers

import neuroviz as nv
import neuroviz_beyond as nb
from neuroviz.lessons.checks_deep import check_wrong_pattern
from neuroviz.lessons.wrong_answers import wrong_answers
from neuroviz_beyond.lessons import checks
from neuroviz_beyond.lessons.checks import (
    check_blending,
    check_larger_and_poorer,
    check_mixtures,
    check_shuffle,
)

A = nv.Architecture
T = nb.Transformer

ROW = np.outer([1, 0, 0], [1, 2, 3])
SAME_QUERIES = np.outer([0, 1, 1], [1, 2, 3])
SAME_KEYS = np.outer([1, 0, 0], [0, 1, 0])

# check, answer
RIGHT = [
    (check_mixtures, (ROW, SAME_QUERIES)),
    (check_mixtures, (ROW.tolist(), SAME_KEYS.astype(float))),
    (check_mixtures, (10**9 * ROW, -SAME_QUERIES)),
    (check_blending, (T((4, 4), (3,), heads=3),)),
    (check_blending, (T((3, 5), (2,), tokens=2, heads=4),)),
    (check_larger_and_poorer, (A((4, 1, 4), (4, 4)), A((4, 3, 4), (1, 2)))),
    (
        check_larger_and_poorer,
        (A((3, 3), (9,), attention="softmax"), T((3, 3), (2,), heads=2, skip=True)),
    ),
    (check_shuffle, (((2, 3, 1, 0), (3, 0, 1, 2)),)),
    (check_shuffle, (np.array([[2, 3, 1, 0], [3, 0, 1, 2]]),)),
]

# check, answer, what is said
WRONG = [
    (check_mixtures, (SAME_QUERIES, SAME_KEYS), "A₁ + A₂ has rank 2"),
    (check_mixtures, (np.eye(3), ROW), "A₁ has rank 3"),
    (check_mixtures, (ROW, 0 * ROW), "A₂ has rank 0"),
    (check_mixtures, (ROW, -2 * ROW), "multiple"),
    (check_mixtures, (ROW / 2, SAME_KEYS), "whole numbers"),
    (check_mixtures, (ROW[:2], SAME_KEYS), "3 row"),
    # a small mixture of theirs is near to rank 1
    (check_mixtures, (10**9 * ROW, np.outer([0, 1, 0], [0, 0, 1])), "rank 2"),
    (check_blending, (T((4, 4), (3,), heads=2),), "nothing more"),
    (check_blending, (T((4, 4), (4,), heads=3),), "a < d"),
    (check_blending, (A((4, 4), (3,)),), "two heads"),
    (check_blending, (T((4, 2), (3,), heads=3),), "as many heads as outputs"),
    (
        check_blending,
        (T((4, 4), (3,), attention="softmax", heads=3),),
        "one lightning layer",
    ),
    (check_blending, (T((4, 4), (3,), tokens=1, heads=3),), "two tokens"),
    (check_blending, ("heads",), "nv.Architecture"),
    (
        check_larger_and_poorer,
        (A((3, 3), (2,)), A((2, 2), (1,))),
        "21 parameters and 16 dimensions",
    ),
    (check_larger_and_poorer, (A((2, 2), (1,)), A((3, 3), (2,))), "8 parameters"),
    (check_larger_and_poorer, (A.uniform(9, 9, 3), A((2, 2), (1,))), "smaller network"),
    # the other way round
    (check_shuffle, (((2, 3, 1, 0), (1, 2, 3, 0)),), "Layer 2: head 0"),
    (check_shuffle, (((3, 2, 0, 1), (3, 0, 1, 2)),), "Layer 1: head 0"),
    (check_shuffle, ([[0, 1, 2, 3]],), "2 lists"),
    (check_shuffle, ([[1, 2, 3, 4], [1, 2, 3, 4]],), "from 0 to 3"),
    (check_shuffle, (3,), "2 lists"),
]

CHECKERS = checkers(checks)


@pytest.mark.parametrize(
    ("check", "answer"), RIGHT, ids=lambda x: getattr(x, "__name__", None)
)
def test_every_correct_answer_beyond_passes(check, answer):
    assert_right(check, answer)


@pytest.mark.parametrize(
    ("check", "answer", "said"), WRONG, ids=lambda x: getattr(x, "__name__", None)
)
def test_a_wrong_answer_beyond_fails_and_hears_why(check, answer, said):
    assert_wrong(check, answer, said)


@pytest.mark.parametrize("check", CHECKERS, ids=lambda check: check.__name__)
def test_nothing_filled_in_is_no_error_and_no_pass_beyond(check):
    assert_waits(check)


def test_every_check_beyond_is_tried_with_right_and_wrong_answers():
    assert (
        {check for check, _ in RIGHT} == set(CHECKERS) == {check for check, *_ in WRONG}
    )


def test_a_transformer_is_no_answer_to_a_question_about_architectures():
    answer = (T.uniform(4, 2, 2, heads=2),)
    assert_wrong(check_wrong_pattern, answer, "nv.Architecture")


def test_a_transformer_has_no_known_wrong_answers():
    with pytest.raises(ValueError, match="wrong_answers"):
        wrong_answers(T((4, 4), (2,), heads=2))
