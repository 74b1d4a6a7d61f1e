"""The program of a panel's child process, asked in this one: what it unpacks, does and
answers."""

import copyreg
import os
import pickle
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from neuroviz.kit import worker
from neuroviz.kit.steps import in_steps


def half(number):
    if number < 0:
        raise SystemExit(3)
    return number / 2


@in_steps
def halves(number) -> Generator[float, None, float]:
    for _ in range(3):
        number /= 2
        yield number
    return number


class StubbornError(Exception):
    """Cannot be built again from what it carries."""

    def __init__(self, first, second):
        super().__init__(first)


def request(work, argument, folder=None):
    return pickle.dumps((folder, sys.path, pickle.dumps((work, argument))))


@pytest.fixture(autouse=True)
def _stay(monkeypatch):
    monkeypatch.chdir(Path.cwd())
    monkeypatch.setattr(sys, "path", [*sys.path])


def test_requests_and_answers_go_over_the_connection_that_is_named_first(monkeypatch):
    class Parent:
        def __init__(self, handle):
            self.handle = handle

        def send_bytes(self, message):
            assert self.handle == 7
            sent.append(pickle.loads(message))
            if sent[-1][0]:
                raise EOFError  # the parent has ended

    sent = []
    monkeypatch.setattr(sys, "argv", ["worker.py", "7"])
    monkeypatch.setattr(worker, "Connection", Parent)
    monkeypatch.setattr(
        worker, "_take_in", lambda parent, requests: requests.put(request(halves, 8))
    )
    with pytest.raises(EOFError):
        worker.main()
    assert sent == [(False, 4), (False, 2), (False, 1), (True, 1)]


def test_work_is_done_in_the_folder_of_the_request_and_without_one_where_it_is(
    tmp_path,
):
    before = os.getcwd()
    assert worker._unpacked(request(half, 3)) == (half, 3) and os.getcwd() == before
    worker._unpacked(request(half, 3, str(tmp_path)))
    assert os.getcwd() == os.path.realpath(tmp_path)


def test_modules_are_looked_for_where_the_request_says():
    path = [*sys.path, "/nowhere"]
    worker._unpacked(pickle.dumps((None, path, pickle.dumps((half, 1)))))
    assert sys.path == path


def test_what_cannot_be_unpacked_is_an_error_in_words():
    broken = pickle.dumps((None, sys.path, b"no pickle"))
    answer = worker._result_of(broken, None)
    assert isinstance(
        answer, RuntimeError
    ) and "that a second Python can import" in str(answer)


def test_the_answer_is_the_result_and_steps_are_told_before_it():
    told = []
    assert worker._result_of(request(half, 3), told.append) == 1.5 and told == []
    assert worker._result_of(request(halves, 8), told.append) == 1 and told == [4, 2, 1]


def test_an_error_and_an_exit_of_the_work_are_answers():
    assert isinstance(worker._result_of(request(half, "a"), None), TypeError)
    assert str(worker._result_of(request(half, -1), None)) == "SystemExit: 3"


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (lambda: 0, "cannot be sent between processes"),
        (StubbornError("a", "b"), "StubbornError: a"),
    ],
    ids=["a function", "an error"],
)
def test_what_cannot_travel_is_answered_by_an_error(result, said, monkeypatch):
    # dask, in other tests, teaches pickle to build every exception again.
    monkeypatch.delitem(copyreg.dispatch_table, StubbornError, raising=False)
    is_last, answer = pickle.loads(worker._last_answer(result))
    assert is_last is True and isinstance(answer, RuntimeError) and said in str(answer)
    assert pickle.loads(worker._last_answer([1, 2])) == (True, [1, 2])
