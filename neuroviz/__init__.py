"""neuroviz: the functions that attention networks can express, to be moved, measured and proved.

    >>> import neuroviz as nv
    >>> arch = nv.Architecture.uniform(d=4, a=2, layers=2)
    >>> nv.expected_dimension(arch).value, nv.measure_dimension(arch).value
    (38, 38)

Importing this package loads neither torch, plotly nor ipywidgets: what needs them is loaded when
it is first asked for.
"""

from importlib import import_module

from neuroviz.architecture import Architecture
from neuroviz.certificate import Certificate
from neuroviz.cost import Cost, estimate_cost
from neuroviz.expected import Expected
from neuroviz.formulas import expected_dimension, general_formula, paper_formula
from neuroviz.identifiability import Identifiability, is_identifiable
from neuroviz.known import StatusBoard, what_is_known
from neuroviz.ledger import KernelLedger, kernel_ledger
from neuroviz.local_check import LocalCheck, local_check
from neuroviz.measure import InputsCurve, Measurement, measure_dimension, rank_by_inputs
from neuroviz.records import Record, Sweep
from neuroviz.search import search_fiber
from neuroviz.search_result import FiberSearch
from neuroviz.sweep import sweep
from neuroviz.unrolling import unroll

_LATER = {
    "functional_dimension": "neuroviz.functional",
    "module_symmetries": "neuroviz.module_ledger",
}

__all__ = [
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
    "unroll",
    "what_is_known",
]


def __getattr__(name: str) -> object:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module 'neuroviz' has no attribute {name!r}")
