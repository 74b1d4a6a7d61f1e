"""The benchmarks say what was measured, and compare like with like. Nothing is timed
here."""

import doctest
import os
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from benchmarks import jacobian, notebooks, plot, ranks, scene, sweeps, tables
from benchmarks.__main__ import NAMES
from benchmarks.tables import Finding, Table
from benchmarks.timing import Effort
from neuroviz.attention import Architecture
from neuroviz.rank.arithmetic import Float32, Float64, Int8, int8_is_exact

SIZES = (256, 512)


def rank_table(**seconds: tuple) -> Table:
    """A table of ranks with the given columns, the others empty."""
    columns = [
        seconds.get(name.replace(" ", "_"), (None,) * len(SIZES))
        for name in ranks.ENGINES
    ]
    rows = tuple(zip(SIZES, *columns, strict=True))
    header = ("n", *(f"{name}, s" for name in ranks.ENGINES))
    return Table("ranks", header, ("",) * len(header), rows, "")


NETWORKS = Table(
    "networks",
    ("parameters P", "seconds", "peak, MB"),
    ("",) * 3,
    ((768, 0.02, 250.0), (3072, 0.4, 340.0)),
    "",
)


@pytest.mark.parametrize("name", ["tables", "ranks", "plot"])
def test_the_examples_are_true(name):
    found = doctest.testmod(import_module(f"benchmarks.{name}"))
    assert found.attempted and not found.failed


def test_the_readme_shows_what_results_json_holds():
    text = tables.README.read_text(encoding="utf-8")
    found = tables.read()
    assert tables.filled(text, found) == text
    first = found[0]
    other = replace(first, rows=(("changed", *first.rows[0][1:]), *first.rows[1:]))
    assert tables.filled(text, [other, *found[1:]]) != text


def test_every_benchmark_can_be_run_and_every_table_has_its_place():
    assert all(callable(import_module(f"benchmarks.{name}").run) for name in NAMES)
    text = tables.README.read_text(encoding="utf-8")
    assert {
        one.name for one in tables.in_order_of(text, {t.name: t for t in tables.read()})
    } >= set(NAMES)


@pytest.mark.parametrize(
    "text", ["", "<!-- one -->", "<!-- end one --><!-- one -->", "<!-- one -->" * 2]
)
def test_a_table_without_its_place_is_refused(text):
    with pytest.raises(ValueError, match="once each, in that order"):
        tables.filled(
            f"<!-- summary --><!-- end summary -->{text}",
            [Table("one", (), (), (), "")],
        )


def test_what_was_measured_before_stays(tmp_path, monkeypatch):
    marks = "".join(
        f"<!-- {name} -->\n<!-- end {name} -->\n" for name in ("summary", "one", "two")
    )
    (tmp_path / "README.md").write_text(marks, encoding="utf-8")
    (tmp_path / "library.md").write_text(
        "# library\n<!-- summary -->\n<!-- end summary -->\n"
    )
    monkeypatch.setattr(tables, "LIBRARY", tmp_path / "library.md")
    monkeypatch.setattr(tables, "README", tmp_path / "README.md")
    monkeypatch.setattr(tables, "RESULTS", tmp_path / "results.json")
    one = Table(
        "one",
        ("s",),
        (".2f",),
        ((1 / 3,), (None,)),
        "",
        (Finding("how long", "0.3 s", "< 1 s", True),),
    )
    tables.store([one])
    tables.store([Table("two", ("n",), ("",), ((2,),), "")])
    first, second = tables.read(tmp_path / "results.json")
    assert (first.rows, first.findings, second.rows) == (
        ((0.333333,), (None,)),
        one.findings,
        ((2,),),
    )
    for page in (tables.README, tables.LIBRARY):
        assert "| how long | 0.3 s | < 1 s | yes |" in page.read_text(encoding="utf-8")


def test_a_file_of_something_else_is_refused(tmp_path):
    (tmp_path / "other.json").write_text('{"one": {"rows": []}}')
    with pytest.raises(ValueError, match="run it anew"):
        tables.read(tmp_path / "other.json")


def test_the_four_jacobians_are_one_matrix():
    name, parameters, rows, *_ = jacobian.line(
        Architecture((2, 3), (1,), attention="softmax")
    )
    assert (parameters, rows) == (10, 27)
    with pytest.raises(RuntimeError, match="differ"):
        jacobian._check_equal(np.eye(2), 1.001 * np.eye(2))


@pytest.mark.parametrize(
    "arithmetic", [Float64(), Float32(), Int8()], ids=lambda a: a.name
)
def test_a_random_matrix_is_stored_as_it_is_eliminated(arithmetic, monkeypatch):
    if arithmetic.name == "int8" and not int8_is_exact():
        pytest.skip("byte products are not exact on this machine")
    # several parts, the last one smaller
    monkeypatch.setattr(ranks, "_BYTES_AT_ONCE", 8 * 40 * 7)
    matrix = ranks.random_matrix(arithmetic, 40)
    assert (
        matrix.dtype == arithmetic.dtype
        and matrix.shape == (42, 40)
        and matrix.any(axis=1).all()
    )
    monkeypatch.setattr(ranks, "seconds", lambda call: (7.0, call()))
    assert ranks.elimination_seconds(arithmetic, 40) == 7


def test_a_rank_that_cannot_be_right_ends_the_benchmark():
    with pytest.raises(RuntimeError, match="rank 20"):
        ranks._of_full_rank(40, lambda: 20)


@pytest.mark.parametrize(("exact", "fast"), [(False, False), (True, False)])
def test_without_fast_byte_products_the_table_says_so(exact, fast, monkeypatch):
    monkeypatch.setattr(ranks, "int8_is_exact", lambda: exact)
    monkeypatch.setattr(ranks, "int8_is_fast", lambda: fast)
    assert ranks.engine_seconds("int8", 64, Effort()) is None
    assert "not on this machine" in ranks.int8_words()
    (finding,) = ranks._int8_findings([8192], {"int8": [None], "float64": [5.0]})
    assert (finding.found, finding.met) == ("not on this machine", None)


def test_with_them_the_goal_is_held_against_float64():
    fast, slow = (
        ranks._int8_findings([8192], {"int8": [s], "float64": [5.0]})[0]
        for s in (1.0, 2.0)
    )
    assert (fast.found, fast.met, slow.met) == ("5.0 × as fast", True, False)


def test_one_page_that_was_lucky_does_not_decide_which_scene_is_slower():
    now = [120.0, 125.0, 130.0, 135.0, 160.0]
    assert scene.ratio(now, [2 * one for one in now]) == pytest.approx(0.5, rel=0.1)
    lucky = [70.0, *now[1:]]
    assert scene.ratio(now, lucky) == pytest.approx(1, rel=0.05)


def test_a_sweep_is_over_different_shapes_and_always_the_same_ones():
    found = sweeps.shapes(50)
    assert len(set(found)) == 50 and found == sweeps.shapes(50)
    assert {arch.attention for arch in found} == {"lightning", "softmax"}


def test_memory_counts_a_process_and_what_it_starts():
    if not Path("/proc/self/smaps_rollup").exists():
        pytest.skip("Linux only")
    code = "x = bytearray(60_000_000); print(len(x), flush=True); input()"
    alone = notebooks.megabytes(os.getpid())
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        child.stdout.readline()
        assert child.pid in notebooks.descendants(os.getpid())
        assert notebooks.megabytes(os.getpid()) - alone > 55
    finally:
        child.communicate(b"\n")
    assert (
        child.pid not in notebooks.descendants(os.getpid())
        and notebooks.megabytes(child.pid) == 0
    )


def test_the_picture_has_a_line_for_each_engine_that_was_measured():
    table = rank_table(float64=(0.1, 0.6), product=(0.05, 0.2), row_space=(0.2, None))
    figure = plot.cost_figure([table, NETWORKS])
    drawn = {trace.name: list(trace.y) for trace in figure.data}
    assert drawn == {
        "exact, float64": [0.1, 0.6],
        "row space": [0.2],
        "plain float64 product": [0.05, 0.2],
        "measure_dimension": [0.02, 0.4],
    }
    assert "3.0 × the time of" in figure.layout.annotations[0].text


def test_names_at_the_ends_of_lines_keep_apart():
    table = rank_table(
        float64=(0.1, 0.6), product=(0.1, 0.6), flint=(0.3, None), row_space=(0.3, None)
    )
    places = [
        (note.x, note.y)
        for note in plot.cost_figure([table, NETWORKS]).layout.annotations[1:5]
    ]
    for x in {x for x, _ in places}:
        first, second = sorted(y for at, y in places if at == x)
        assert second - first >= plot._APART - 1e-9


def test_the_picture_needs_its_tables():
    with pytest.raises(ValueError, match="there is no networks and no ranks"):
        plot.cost_figure([])


def test_the_front_page_shows_the_summary_of_the_stored_results():
    assert tables.summary(tables.read()) in tables.LIBRARY.read_text(encoding="utf-8")
