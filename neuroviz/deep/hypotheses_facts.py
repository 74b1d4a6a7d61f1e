"""The facts of the map of hypotheses: what its picture says, as plain data.

`web/deep/hypotheses_facts.ts` types them. Words are lists of {"text": …, "role": …}: a
line each in "says", one after the other in "legend".
"""

from dataclasses import asdict

from neuroviz.attention.architecture import ATTENTION_KINDS
from neuroviz.deep.dimension import paper_name
from neuroviz.deep.hypotheses import (
    MAX_SIZE,
    MAX_TOKENS,
    SIZES,
    HypothesesStudy,
    MapCell,
)
from neuroviz.deep.hypotheses_film import film_facts
from neuroviz.kit import theme
from neuroviz.kit.picture import Facts, Picture, words

SCHEMA = "hypotheses/2"
MOST = 50
"""No network of `SIZES` is off by more."""
_NAMED = 4  # cells that contradict a statement are named up to so many


def hypotheses_picture(study: HypothesesStudy) -> Picture:
    """The map and the angles. The picture moves two controls, and follows the
    others."""
    sizes = dict.fromkeys(("head_1", "head_2", "inner", "outer"), (1, MAX_SIZE, 1))
    ranges = sizes | {"tokens": (1, MAX_TOKENS, 1)}
    choices = {"kind": [*ATTENTION_KINDS], "over": ["heads", "widths"]}
    place = asdict(study.setting)
    return Picture("deep/hypotheses", hypotheses_facts(study), place, ranges, choices)


def hypotheses_facts(study: HypothesesStudy) -> Facts:
    """What the picture says.

    >>> from neuroviz.deep.hypotheses import HypothesesSetting, study_hypotheses
    >>> facts = hypotheses_facts(study_hypotheses(HypothesesSetting()))
    >>> facts["map"]["says"], facts["angles"]["says"]
    ([{'text': 'Eq. 14 is off in 4 of 25 cells'}], [{'text': 'tokens parallel'}])
    """
    return {
        "schema": SCHEMA,
        "map": _map(study),
        "angles": _angles(study),
        "film": film_facts(study),
    }


# The map


def _map(study: HypothesesStudy) -> Facts:
    """Each cell with what is measured and what the formula says there."""
    columns, rows = _axes(study)
    return {
        "says": words(_headline(study)),
        "legend": _legend(study),
        "columns": columns,
        "rows": rows,
        "most": MOST,
        "cells": [_cell(cell) for cell in study.cells],
    }


def _axes(study: HypothesesStudy) -> tuple[Facts, Facts]:
    """The controls that the map varies: for its columns and for its rows."""
    d, delta, _ = study.arch.widths
    a1, a2 = study.arch.head_dims
    if study.over == "heads":
        first = _axis("head_1", "a₁", f"a₁ (widths {d}→{delta}→{d})")
        return first, _axis("head_2", "a₂", "a₂")
    first = _axis("inner", "inner width δ", f"inner width δ (a = {a1}, {a2})")
    return first, _axis("outer", "outer widths", "outer widths d₀ = d₂")


def _axis(control: str, name: str, title: str) -> Facts:
    return {"control": control, "name": name, "title": title, "values": list(SIZES)}


def _cell(cell: MapCell) -> Facts:
    name = paper_name(cell.paper)
    outside = not cell.covered
    not_here = f", which does not apply: {cell.paper.note}" if outside else ""
    return {
        "column": cell.column,
        "row": cell.row,
        "measured": cell.measured.value,
        "formula": cell.paper.value,
        "covered": cell.covered,
        "cause": cell.cause,
        "says": f"measured {cell.measured.value}, {name}: {cell.paper.value}{not_here}",
    }


def _headline(study: HypothesesStudy) -> str:
    if study.contradicted:
        return f"{_statement(study)} DIFFERS"
    name = paper_name(study.paper)
    off = len(study.off)
    cells = len(study.cells)
    if not off:
        return f"{name} is right in all {cells} cells"
    return f"{name} is off in {'all' if off == cells else f'{off} of'} {cells} cells"


def _statement(study: HypothesesStudy) -> str:
    """The statement of the paper that the formula comes from, such as Cor. 3.8."""
    return study.paper.source.split(",")[0]


def _legend(study: HypothesesStudy) -> list:
    """What the cells hold, and what the frame means."""
    text, role = _frame(study)
    cells = f"measured − {paper_name(study.paper)}; below: measured, cause · "
    return [{"text": cells, "role": "soft"}, {"text": text, "role": role}]


def _frame(study: HypothesesStudy) -> tuple[str, str]:
    """Where the statement applies, in words with their role."""
    statement = _statement(study)
    covered = sum(cell.covered for cell in study.cells)
    if study.contradicted:
        named = study.contradicted[:_NAMED]
        places = ", ".join(f"({cell.column}, {cell.row})" for cell in named)
        more = ", …" if len(study.contradicted) > _NAMED else ""
        return f"▨ at {places}{more}", "outside"
    if not covered:
        one_token = "t = 1: " if study.arch.tokens == 1 else ""
        return f"▨ {one_token}{statement} does not apply", "outside"
    if covered == len(study.cells):
        sign, role = theme.glyph(study.cells[0].paper.status)
        return f"{sign} {statement} applies in every cell", role
    return f"frame: {statement} applies", "certified"


# The angles


def _angles(study: HypothesesStudy) -> Facts:
    """For each pair of tokens its angle, as they come in and after each layer."""
    names = ["input", *(f"layer {i}" for i in range(1, len(study.angles)))]
    many = len(study.angles[0]) > 1
    return {
        "says": words(_verdict(study)),
        "axis": "angle between two tokens (degrees)",
        "key": "one pair, one line" if many else "",
        "stages": [
            {"name": name, "degrees": list(degrees)}
            for name, degrees in zip(names, study.angles, strict=True)
        ],
    }


def _verdict(study: HypothesesStudy) -> str:
    if study.arch.tokens == 1:
        return "one token"
    if study.collapsed is not None:
        return "tokens parallel" if study.collapsed else "tokens on one line"
    near = min(max(degrees) for degrees in study.angles) < 1
    return "tokens nearly parallel" if near else "tokens apart"
