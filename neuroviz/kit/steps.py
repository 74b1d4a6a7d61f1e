"""Work in steps: a generator that yields how far it is, and returns what it found."""

from collections.abc import Callable, Generator
from functools import wraps
from inspect import signature
from typing import TypeVar, get_args

Result = TypeVar("Result")


def finish(
    steps: Generator[object, None, Result], tell: Callable[[object], None] | None = None
) -> Result:
    """Run a generator to its end; returns what it returns, and tells what it yields.

    >>> def add(numbers):
    ...     for number in numbers:
    ...         yield f"{number} is taken"
    ...     return sum(numbers)
    >>> finish(add([1, 2]), print)
    1 is taken
    2 is taken
    3
    """
    # A `for` loop would lose what the generator returns.
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            return end.value
        if tell is not None:
            tell(step)


def in_steps(
    steps: Callable[..., Generator[object, None, Result]],
) -> Callable[..., Result]:
    """A function that runs a generator function to its end, and has it as its attribute
    `in_steps`.

    The generator function has positional arguments, and is annotated with
    Generator[yielded, sent, returned], of which `returned` is the result of the whole.
    """

    @wraps(steps)
    def whole(*arguments: object) -> Result:
        return finish(steps(*arguments))

    shape = signature(steps)
    whole.__signature__ = shape.replace(
        return_annotation=get_args(shape.return_annotation)[-1]
    )
    whole.in_steps = steps
    return whole


def retold(
    steps: Generator[object, None, Result], words: Callable[[object], str]
) -> Generator[str, None, Result]:
    """The same steps in other words: `result = yield from retold(steps, words)`.

    >>> def half():
    ...     yield 0.5
    >>> list(retold(half(), "{:.0%} done".format))
    ['50% done']
    """
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            return end.value
        yield words(step)
