"""What a child process is told: where to work, and the call, by the names of its
function and classes."""

import io
import os
import pickle
import sys
from collections.abc import Callable
from functools import cache
from inspect import unwrap
from pkgutil import resolve_name
from types import FunctionType


def packed(work: Callable, argument: object) -> bytes:
    """A request, as `kit/worker.py` reads it: the folder and the path to work in, and
    the pickled call.

    Raises:
        ValueError: if the call cannot be pickled.
    """
    call = io.BytesIO()
    try:
        _Pickler(call).dump((work, argument))
    except Exception as error:
        raise ValueError(
            "work in the background needs an importable function and a picklable"
            f" argument; got {work!r} and {argument!r} ({error})"
        ) from error
    # The call is packed by itself: the child reads it once it has the folder and path.
    return pickle.dumps((current_folder(), search_path(), call.getvalue()))


class _Pickler(pickle.Pickler):
    """Pickles a function or a class by its name, also after its module has been loaded
    anew.

    The name means another object then, and pickle alone would refuse the one that a
    panel has kept.
    """

    # a cached function is no function to Python
    _NAMED = (FunctionType, type, type(cache(abs)))

    def reducer_override(self, thing: object) -> object:
        if not isinstance(thing, self._NAMED):
            return NotImplemented
        if thing.__module__ == "__main__":
            raise ValueError(
                f"{thing.__qualname__} stands in a notebook or script: put it into a"
                " module"
            )
        name = f"{thing.__module__}:{thing.__qualname__}"
        try:
            present = resolve_name(name)
        except (AttributeError, ImportError, ValueError):
            return NotImplemented  # pickle says what is wrong with it
        # Of a function that is wrapped the name means what wraps it, and that is more.
        if present is thing or unwrap(present) is thing:
            return NotImplemented
        return resolve_name, (name,)


def current_folder() -> str | None:
    """The folder where this process works; None where it has been removed."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return None


def search_path() -> list[str]:
    """`sys.path`, with the standard library first.

    A file beside a notebook may have the name of a standard module that is loaded here
    already.
    """
    library = os.path.dirname(os.__file__)
    standard = {
        library,
        os.path.join(library, "lib-dynload"),
        os.path.join(sys.base_prefix, "DLLs"),
    }
    # import passes over what is no text
    entries = [entry for entry in sys.path if isinstance(entry, str)]
    # False comes first; the sort is stable, so the rest keeps its order.
    return sorted(entries, key=lambda entry: entry not in standard)
