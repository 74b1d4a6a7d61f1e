"""The README's table of what is known: the product says so of networks inside each
row, edges included, and of networks just outside it does not."""

from typing import NamedTuple

import pytest
from texts import ROOT

from neuroviz.kit.measured import measure_dimension
from neuroviz_beyond.transformers import Block, Transformer
from neuroviz_beyond.transformers.formulas import expected_dimension

SURE = ("proved", "proved here", "exact")
"""Statuses of a number that a theorem gives, with layers that are measured or not."""


class Row(NamedTuple):
    """Networks that a row is about, and networks that it only seems to be about."""

    inside: list[Transformer]
    outside: list[Transformer] = ()


def softmax(widths, head_dims, tokens=3, heads=1, *, skip=False, mask=False, **block):
    return Transformer(
        widths, head_dims, tokens, "softmax", heads, skip, mask, Block(**block)
    )


def lightning(widths, head_dims, heads=1, *, skip=False, mask=False, **block):
    return Transformer(
        widths, head_dims, 2, "lightning", heads, skip, mask, Block(**block)
    )


TURNED = {"rotary": True}
PLACED = {"positions": True}
ROWS = {
    "(Thm. 3.2, Cor. 3.3)": Row([lightning((3, 2), (1,))]),
    "(Cor. 3.8)": Row([lightning((3, 2, 3), (2, 2))]),
    "(Theorem C)": Row(
        [
            lightning((3, 2, 3), (1, 2)),
            lightning((2, 3, 2), (2, 2)),
            lightning((2, 3, 2), (2, 2), value_dim=2),
            Transformer((2, 3, 2), (2, 2), 1),
        ]
    ),
    "(Thm. 3.9)": Row([softmax((3, 2), (1,))]),
    "(Corollary A, Theorem B); independently by Konda": Row(
        [softmax((3, 2, 3), (1, 2)), softmax((2, 4, 2), (1, 2), 2)]
    ),
    "(Theorems E and H)": Row(
        [
            softmax((3, 3, 3), (4, 2), 2, 2),
            softmax((3, 3, 3), (2, 2), 2, 3, value_dim=1),
            softmax((3, 3, 3), (2, 2), 2, 4, value_dim=3, kv_heads=2, mask=True),
            softmax((3, 3, 3), (2, 2), 2, 2, skip=True, value_dim=1),
        ],
        [softmax((3, 3, 3), (2, 2), 2, 2, value_dim=1)],
    ),
    "(Theorem W)": Row(
        [softmax((2, 4, 2), (2, 4), 3, (2, 1))],
        [softmax((2, 4, 2), (2, 4), 2, (2, 1))],
    ),
    "(Theorem R)": Row(
        [
            softmax((4, 4), (2,), 2, skip=True, mask=True, **TURNED),
            softmax((4, 4), (4,), 3, skip=True, mask=True, **TURNED),
            softmax((4, 4), (4,), 2, skip=True, **TURNED),
            softmax((4, 4, 4), (2, 2), 3, 2, value_dim=2, **TURNED),
            softmax((4, 4, 4), (3, 4), 2, 2, mask=True, **PLACED),
            softmax((4, 4), (4,), 2, value_dim=4, **PLACED),
        ],
        [
            softmax((4, 4), (4,), 2, skip=True, mask=True, **TURNED),
            softmax((4, 4), (6,), 3, skip=True, **TURNED),
            softmax((4, 4), (5,), 2, skip=True, **PLACED),
            softmax((4, 4), (2,), 2, skip=True, value_dim=5, **PLACED),
            softmax((4, 4, 4), (2, 2), 3, 3, value_dim=1, **TURNED),
            softmax((4, 4), (2,), 3, skip=True, biases=True, **TURNED),
            softmax((4, 4), (2,), 3, skip=True, biases=True, **PLACED),
            softmax((4, 4, 4), (2, 2), 3, skip=True, mlp=(4, 2), **TURNED),
            softmax((4, 4, 3), (2, 2), 3, **TURNED),
        ],
    ),
    "(Theorems K and S)": Row(
        [
            lightning((2, 3, 2), (1, 2), mask=True),
            lightning((2, 3, 2), (1, 2), mask=True, value_dim=2),
            lightning((2, 2, 2), (1, 2), (4, 3), skip=True),
            lightning((2, 2, 2), (2, 2), (2, 1), skip=True, value_dim=1),
        ],
        [lightning((2, 2, 2), (2, 2), (1, 2), skip=True, value_dim=1)],
    ),
    "(Theorem M)": Row(
        [
            lightning((4, 3), (5,), 3),
            lightning((3, 4), (1,), 3, mask=True),
            lightning((6, 6), (3,), 5, value_dim=4),
            lightning((6, 6), (5,), 6, value_dim=4),
        ],
        [
            lightning((3, 4), (2,), 4),
            lightning((4, 3), (2,), 4),
            lightning((6, 6), (4,), 6, value_dim=4),
            lightning((3, 3), (2,), 2, value_dim=3, kv_heads=1),
        ],
    ),
    "(Theorem N)": Row(
        [
            lightning((2, 2, 2), (2, 1), (2, 1)),
            lightning((3, 2, 4), (1, 1), (3, 5)),
            lightning((1, 1, 1), (1, 1), (2, 2), mask=True),
            lightning((2, 2, 2), (1, 1), (1, 2), mask=True),
            lightning((2, 2, 2), (1, 1), (4, 2), value_dim=1),
        ],
        [
            lightning((2, 2, 2), (1, 1), (2, 2), value_dim=1),
            lightning((3, 3, 3), (1, 2), (3, 3), value_dim=2),
            lightning((2, 2, 2), (1, 2), (1, 2)),
            lightning((1, 1, 1), (1, 1), (2, 2)),
            lightning((2, 2, 2), (2, 2), (2, 1), value_dim=1),
            lightning((2, 3, 2), (2, 2), (2, 2)),
        ],
    ),
}
OBSERVED = {
    "265": lightning((3, 4), (2,), 4),
    "14": lightning((6, 6), (4,), 6, value_dim=4),
    "978": softmax((4, 4), (4,), 2, skip=True, mask=True, **TURNED),
    "10,385": softmax((4, 4), (2,), 3, skip=True, biases=True, **TURNED),
    "114": lightning((3, 3, 3), (2, 2), mlp=(3, 2)),
}


def how_sure():
    """The last cells of the table."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = text.split("## What is known")[1].split("\n## ")[0]
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("|")]
    return [cells[-1].removesuffix(" |") for cells in rows[2:]]


def test_every_row_that_is_proved_or_observed_is_tried_here():
    cells = how_sure()
    proved = [cell for cell in cells if cell.startswith("proved")]
    observed = [cell for cell in cells if cell.startswith("observed")]
    assert len(proved) == len(ROWS) and len(observed) == len(OBSERVED)
    for named in ROWS:
        assert sum(named in cell for cell in proved) == 1, named
    for count in OBSERVED:
        said = f"observed: {count} networks, none different"
        assert sum(cell.startswith(said) for cell in observed) == 1, count


@pytest.mark.parametrize("row", ROWS)
def test_a_row_is_true_of_its_networks_and_claims_none_beyond_its_edges(row):
    for arch in ROWS[row].inside:
        found = expected_dimension(arch)
        assert found.status in SURE, arch
        if arch.num_parameters <= 200:
            assert measure_dimension(arch).value == found.value, arch
    for arch in ROWS[row].outside:
        assert expected_dimension(arch).status not in SURE, arch


@pytest.mark.parametrize("count", OBSERVED)
def test_what_a_row_calls_observed_the_answer_calls_so_on_the_same_grid(count):
    found = expected_dimension(OBSERVED[count])
    assert found.status == "observed" and f"({count} " in found.note
