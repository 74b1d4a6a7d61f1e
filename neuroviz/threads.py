"""Small matrix products on one thread: there, waiting for another one takes longer than the product."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache


@contextmanager
def one_thread() -> Iterator[None]:
    """Within the block every thread pool that is loaded, numpy's and torch's, has one thread."""
    with _pools().limit(limits=1):
        yield


@cache
def _pools():
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
