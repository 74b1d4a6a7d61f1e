"""What the checks in the notebooks compute with: see tests/test_checks.py."""

import ast
import re
from functools import cache

import numpy as np

import neuroviz as nv
from neuroviz.kit.panel import Panel
from neuroviz.rank.field import DEFAULT_PRIME, PrimeField

OVER = PrimeField(DEFAULT_PRIME)
_SECONDS = 120
TWO_LINES = 300  # signs, below a panel of 1,085 pixels


def _kind(more):
    """The networks of the paper; with heads, a skip or a mask those beyond it."""
    if not more.keys() & {"heads", "skip", "causal", "block"}:
        return nv.Architecture
    from neuroviz_beyond import Transformer

    return Transformer


def A(*sizes, **more):  # noqa: N802 (short, for checks)
    """A network from its widths, head dimensions, …"""
    return _kind(more)(*sizes, **more)


def uniform(*sizes, **more):
    """A network from its width, head dimension and layers, …"""
    return _kind(more).uniform(*sizes, **more)


def measured(arch):
    """The exact dimension of an architecture."""
    return nv.measure_dimension(arch).value


def dim(*sizes, **more):
    """The same, from what an architecture is made of."""
    return measured(A(*sizes, **more))


def lost(arch):
    """How many directions are silent."""
    return arch.num_parameters - measured(arch)


@cache
def shown(kind, state=""):
    """What a panel holds in a state, and what it says."""
    panel = kind(state=state)
    try:
        if not (panel.wait(_SECONDS) and panel.status.startswith("done")):
            raise ValueError(
                f"{kind.__name__}(state={state!r}) is not done: {panel.status}"
            )
        return panel._shown, panel.description
    finally:
        panel.close()


# What follows runs the checks.


def refusal(check, text):
    """Why an expression is no check of a text; empty if it is one."""
    tree = ast.parse(check, mode="eval")
    if not any(isinstance(node, ast.Name) for node in ast.walk(tree)):
        return "names nothing that could become false"
    said = re.sub(r"(?<=\d)(?:,|\{,\}|\\,|[  ])(?=\d{3}(?!\d))", "", text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and any(
            isinstance(op, ast.Eq) for op in node.ops
        ):
            for number in numbers([node.left, *node.comparators]):
                if number >= 10 and not re.search(rf"(?<![\d.]){number}(?!\d)", said):
                    return f"{number} does not stand in the text"
    return ""


def numbers(nodes):
    """The whole numbers that are written out, alone or in a tuple or list."""
    for node in nodes:
        if isinstance(node, ast.Constant) and type(node.value) is int:
            yield node.value
        elif isinstance(node, (ast.Tuple, ast.List)):
            yield from numbers(node.elts)


def failing(checks, names):
    """Of (expression, text) those that are no checks or are not true among the names,
    with the reason."""
    found = []
    names = {**globals(), **names}
    for check, text in checks:
        try:
            if reason := refusal(check, text):
                found.append(f"{check}: {reason}")
            elif (
                not isinstance(value := eval(f"({check})", names), (bool, np.bool_))
                or not value
            ):
                found.append(f"{check}: {value!r}")
        except Exception as error:
            found.append(f"{check}: {type(error).__name__}: {error}")
    return found


def not_done(names, buttons=None):
    """Panels of a notebook that are not done or say too much, also after their (first
    so many) buttons."""
    found = []
    for panel in (shown for shown in names["Out"].values() if isinstance(shown, Panel)):
        rows = [part for part in panel.children if "nv-presets" in part._dom_classes]
        for button in (
            None,
            *[button for row in rows for button in row.children][:buttons],
        ):
            if button:
                button.click()
            done = panel.wait(_SECONDS) and panel.status.startswith("done")
            if not done or len(panel.description) > TWO_LINES:
                label = button.description if button else "as it opens"
                said = panel.description
                found.append(
                    f"{type(panel).__name__}, {label}:"
                    f" {panel.status if not done else said}"
                )
    return found
