"""neuroviz: the functions that attention networks can express, to be moved, measured
and proved.

    >>> import neuroviz as nv
    >>> arch = nv.Architecture.uniform(d=4, a=2, layers=2)
    >>> nv.expected_dimension(arch).value, nv.measure_dimension(arch).value
    (38, 38)

Importing this package loads neither torch, plotly nor ipywidgets: what needs them is
loaded when asked for.
"""

from functools import partial
from importlib import import_module

from neuroviz.certificate.certificate import Certificate
from neuroviz.engine.architecture import Architecture
from neuroviz.engine.cost import Cost, estimate_cost
from neuroviz.engine.expected import Expected
from neuroviz.engine.formulas import expected_dimension, general_formula, paper_formula
from neuroviz.engine.identifiability import Identifiability, is_identifiable
from neuroviz.engine.ledger import KernelLedger, kernel_ledger
from neuroviz.engine.measure import (
    InputsCurve,
    Measurement,
    measure_dimension,
    rank_by_inputs,
)
from neuroviz.engine.printing import print_everywhere
from neuroviz.engine.sweep import Record, Sweep, sweep
from neuroviz.engine.unrolling import unroll
from neuroviz.moved import keep_old_addresses

keep_old_addresses()
print_everywhere()
_LATER = {
    "Alignment": "neuroviz.beyond.transformers.alignment",
    "FiberSearch": "neuroviz.beyond.search.result",
    "LocalCheck": "neuroviz.certificate.small_ranks",
    "StatusBoard": "neuroviz.softmax.known",
    "align": "neuroviz.beyond.transformers.alignment",
    "functional_dimension": "neuroviz.nn.functional",
    "local_check": "neuroviz.certificate.small_ranks",
    "module_symmetries": "neuroviz.nn.symmetries",
    "search_fiber": "neuroviz.beyond.search.search",
    "theorem_h_margins": "neuroviz.beyond.transformers.alignment",
    "try_formula": "neuroviz.beyond.formula.family",
    "what_is_known": "neuroviz.softmax.known",
    "where_theorem_h_fails": "neuroviz.beyond.transformers.alignment",
}

__all__ = [
    "Alignment",
    "Architecture",
    "Certificate",
    "Cost",
    "Expected",
    "FiberSearch",
    "Identifiability",
    "InputsCurve",
    "KernelLedger",
    "LocalCheck",
    "Measurement",
    "Record",
    "StatusBoard",
    "Sweep",
    "align",
    "estimate_cost",
    "expected_dimension",
    "functional_dimension",
    "general_formula",
    "is_identifiable",
    "kernel_ledger",
    "local_check",
    "measure_dimension",
    "module_symmetries",
    "paper_formula",
    "rank_by_inputs",
    "search_fiber",
    "sweep",
    "theorem_h_margins",
    "try_formula",
    "unroll",
    "what_is_known",
    "where_theorem_h_fails",
]


def _refuse(error: ImportError, *_args: object, **_options: object) -> None:
    raise error


def __getattr__(name: str) -> object:
    if name in _LATER:
        try:
            return getattr(import_module(_LATER[name]), name)
        except ImportError as error:
            if error.name != "torch":
                raise
            # without torch, `from neuroviz import *` still works
            return partial(_refuse, error)
    if name == "__version__":
        from importlib.metadata import version

        return version("neuroviz")
    raise AttributeError(f"module 'neuroviz' has no attribute {name!r}")
