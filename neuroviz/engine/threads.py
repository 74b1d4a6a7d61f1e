"""Small matrix products on one thread: there, waiting for another one takes longer than the product."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache


@contextmanager
def one_thread() -> Iterator[None]:
    """Within the block every thread pool that is loaded, numpy's and torch's, has one thread."""
    pools = _pools("torch" in sys.modules)
    # To ask takes a tenth of the time that setting takes.
    if all(pool.num_threads == 1 for pool in pools.lib_controllers):
        yield
        return
    with pools.limit(limits=1):
        yield


@cache
def _pools(_with_torch: bool):
    """Finding them takes longer than a small rank; torch, which may be loaded later, brings more of them."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
