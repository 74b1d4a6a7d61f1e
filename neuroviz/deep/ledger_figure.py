"""Where the parameters go, as a waterfall; beside it the paper's formula put to the test on a grid."""

import plotly.graph_objects as go
from plotly.basedatatypes import BaseFigure

from neuroviz.deep.dimension import LedgerStudy
from neuroviz.deep.formula_map import FormulaMap, MapCell, map_view
from neuroviz.deep.waterfall import waterfall_view
from neuroviz.kit.plot import Parts, compose, make, redraw

__all__ = ["FormulaMap", "LedgerStudy", "MapCell", "ledger_figure", "update_ledger"]

_LEFT, _RIGHT = (0.0, 0.6), (0.68, 1.0)


def ledger_figure(study: LedgerStudy) -> go.Figure:
    """Waterfall and map as a figure of its own; `update_ledger` moves it to another study."""
    return make(_parts(study))


def update_ledger(figure: BaseFigure, old: LedgerStudy | None, new: LedgerStudy) -> None:
    """Bring a figure that shows one study (None: nobody knows which) to another, in one message."""
    redraw(figure, None if old is None else _parts(old), _parts(new))


def _parts(study: LedgerStudy) -> Parts:
    parts = compose(waterfall_view(study, _LEFT), map_view(study.map, _RIGHT))
    return Parts(parts.traces, parts.layout | {"barmode": "overlay"})
