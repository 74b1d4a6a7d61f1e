"""Where the parameters go, as a waterfall; beside it the paper's formula put to the test on a grid."""

from neuroviz.deep.dimension import LedgerStudy
from neuroviz.deep.formula_map import FormulaMap, MapCell, map_view
from neuroviz.deep.waterfall import waterfall_view
from neuroviz.kit.plot import Parts, compose

__all__ = ["FormulaMap", "LedgerStudy", "MapCell", "ledger_parts"]

_LEFT, _RIGHT = (0.0, 0.6), (0.68, 1.0)


def ledger_parts(study: LedgerStudy) -> Parts:
    """Waterfall and map."""
    parts = compose(waterfall_view(study, _LEFT), map_view(study.map, _RIGHT))
    return Parts(parts.traces, parts.layout | {"barmode": "overlay"})
