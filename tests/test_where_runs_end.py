"""Questions in words: the right choice is what was measured, each has its remark."""

from types import SimpleNamespace

import pytest

from neuroviz.lessons.teaching import predict
from neuroviz.lessons.where_runs_end import WHERE_RUNS_END, where_runs_end


@pytest.mark.parametrize(
    ("singular", "boundary", "answer"),
    [
        (0.1, 0.1, "at smooth points"),
        (0.9, 0.1, "at crossings"),
        (0.99, 0.97, "at boundary points"),
    ],
)
def test_where_most_runs_end_is_one_of_the_choices(singular, boundary, answer):
    assert (
        where_runs_end(SimpleNamespace(singular=singular, boundary=boundary)) == answer
    )
    for guess, remark in WHERE_RUNS_END.items():
        said = predict("Where?", answer, guess=guess, choices=WHERE_RUNS_END).message
        assert remark in said and ("Right." in said) == (guess == answer)
