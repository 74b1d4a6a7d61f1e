"""What every check of an exercise has to do, in whichever package it is."""

import inspect

from neuroviz.lessons.exercise import NOTHING


def checkers(*modules):
    """All checks in these modules."""
    return [
        check
        for module in modules
        for check in vars(module).values()
        if getattr(check, "is_checker", False)
    ]


def assert_right(check, answer):
    verdict = check(*answer)
    assert verdict, verdict.message
    assert verdict.filled_in and repr(verdict).startswith("✓ Correct.")


def assert_wrong(check, answer, said):
    verdict = check(*answer)
    assert not verdict and verdict.filled_in
    assert said in verdict.message and repr(verdict).startswith("✗ Not yet.")


def assert_waits(check):
    """It waits for an answer while a part of it is blank."""
    parts = len(inspect.signature(check).parameters)
    for blank in (..., None):
        for place in range(parts):
            answer = [blank if i == place else 1 for i in range(parts)]
            assert check(*answer) is NOTHING
