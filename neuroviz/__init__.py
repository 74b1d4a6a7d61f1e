"""neuroviz: the functions that attention networks can express, to be moved, measured
and proved.

    >>> import neuroviz as nv
    >>> arch = nv.Architecture.uniform(d=4, a=2, layers=2)
    >>> nv.expected_dimension(arch).value, nv.measure_dimension(arch).value
    (38, 38)

Importing this package loads neither torch, plotly nor ipywidgets: what needs them is
loaded when asked for.
"""

from neuroviz.attention import Architecture
from neuroviz.attention.expected import Expected
from neuroviz.attention.formulas import (
    expected_dimension,
    general_formula,
    paper_formula,
)
from neuroviz.attention.identifiability import Identifiability, is_identifiable
from neuroviz.attention.ledger import KernelLedger
from neuroviz.attention.unrolling import unroll
from neuroviz.kit.measured import kernel_ledger, measure_dimension, rank_by_inputs
from neuroviz.kit.printing import print_everywhere
from neuroviz.rank.cost import Cost, estimate_cost
from neuroviz.rank.results import InputsCurve, Measurement

print_everywhere()

__all__ = [
    "Architecture",
    "Cost",
    "Expected",
    "Identifiability",
    "InputsCurve",
    "KernelLedger",
    "Measurement",
    "estimate_cost",
    "expected_dimension",
    "general_formula",
    "is_identifiable",
    "kernel_ledger",
    "measure_dimension",
    "paper_formula",
    "rank_by_inputs",
    "unroll",
]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("neuroviz")
    raise AttributeError(f"module 'neuroviz' has no attribute {name!r}")
