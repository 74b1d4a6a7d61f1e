"""What several notebooks' claims are computed with."""

import ast
from functools import cache

import numpy as np

import neuroviz as nv
from neuroviz.engine.field import DEFAULT_PRIME, PrimeField
from tools.notebooks import FOLDER

A, uniform = nv.Architecture, nv.Architecture.uniform
OVER = PrimeField(DEFAULT_PRIME)


def measured(arch):
    """The exact dimension of an architecture."""
    return nv.measure_dimension(arch).value


def dim(*sizes, **more):
    """The same, from what an architecture is made of."""
    return measured(A(*sizes, **more))


def lost(arch):
    """How many directions do nothing."""
    return arch.num_parameters - measured(arch)


@cache
def shown(kind, state=""):
    """What a panel holds in a state, and what it says."""
    panel = kind(state=state)
    assert panel.wait(60) and panel.status.startswith("done"), panel.status
    found = panel._shown, panel.description
    panel.close()
    return found


def random_networks(count):
    """Small ones with at most four layers, lightning and softmax."""
    draw, found = np.random.default_rng(3), []
    while len(found) < count:
        depth, t = int(draw.integers(1, 5)), int(draw.integers(1, 5))
        widths, heads = draw.integers(1, 6, depth + 1).tolist(), draw.integers(1, 4, depth).tolist()
        found.append(A(widths, heads, t, ("lightning", "softmax")[int(draw.integers(2))]))
    return found


def buttons(notebook, panel):
    """The states that the buttons of a notebook carry which drive a panel, from one row to the next."""
    source = (FOLDER / f"{notebook}.py").read_text(encoding="utf-8")
    rows = [
        call.args
        for call in ast.walk(ast.parse(source))
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "presets"
    ]
    return [state for driven, row in rows if driven.id == panel for state in ast.literal_eval(row).values()]


def domains(figure):
    """Name → where a trace stands: its part of the width, from left to right, and of the height."""
    found = {}
    for trace in figure.data:
        axes = trace.xaxis or "x", trace.yaxis or "y"
        x, y = (figure.layout[f"{one[0]}axis{one[1:]}"].domain for one in axes)
        found[trace.name] = (*x, *y)
    return found


def under_more(kind, *names):
    """Whether these controls stand under "More", and are hidden until it is pressed."""
    panel = kind()
    found = all(panel.controls[name] in panel._more_row.children for name in names)
    found = found and panel._more_row.layout.display == "none"
    panel.close()
    return found
