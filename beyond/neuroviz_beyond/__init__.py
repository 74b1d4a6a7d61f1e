"""neuroviz_beyond: what goes beyond the paper, for researchers.

    >>> import neuroviz as nv
    >>> import neuroviz_beyond as nb
    >>> nb.certify(nv.Architecture((4, 3, 5), (2, 2))).source
    'Cor. 3.8'

Each name is loaded when it is first asked for.
"""

from importlib import import_module

_PLACES = {
    "Alignment": "transformers.alignment",
    "Certificate": "certificate.certificate",
    "FiberSearch": "search.result",
    "LocalCheck": "certificate.small_ranks",
    "Record": "sweeps",
    "StatusBoard": "proofs.known",
    "Sweep": "sweeps",
    "align": "transformers.alignment",
    "certify": "certificate.certificate",
    "functional_dimension": "modules.functional",
    "local_check": "certificate.small_ranks",
    "module_symmetries": "modules.symmetries",
    "search_fiber": "search.search",
    "sweep": "sweeps",
    "theorem_h_margins": "transformers.alignment",
    "try_formula": "formula.family",
    "what_is_known": "proofs.known",
    "where_theorem_h_fails": "transformers.alignment",
}
__all__ = sorted(_PLACES)


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module 'neuroviz_beyond' has no attribute {name!r}")
    return getattr(import_module(f"neuroviz_beyond.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
