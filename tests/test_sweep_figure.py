"""The heat map of a sweep: every number from a record, and what differs or failed is seen."""

from dataclasses import replace

import pytest
from panels import bare, headlines, texts, trace

from neuroviz.beyond.sweep.figure import sweep_figure
from neuroviz.beyond.sweep.map import AXES
from neuroviz.engine.architecture import Architecture
from neuroviz.engine.sweep import Sweep, sweep
from neuroviz.kit import theme

GRID = [Architecture((4, inner, 4), (a, a)) for inner in (1, 2, 3, 4) for a in (1, 2, 3)]
FOUND = sweep(GRID, progress=False)


def changed(at, **what):
    """The sweep with another record at one place."""
    records = list(FOUND.records)
    records[at] = replace(records[at], **what)
    return Sweep(tuple(records))


def failing(at):
    return changed(at, value=None, status="failed", note="the worker died <&> so")


def numbers(figure):
    return [" ".join(bare(text).split()) for text in trace(figure, "numbers").text]


# The figure


def test_every_number_on_the_map_is_that_of_a_record():
    figure = sweep_figure(FOUND, "inner width", "a")
    assert numbers(figure) == [str(record.value) for record in FOUND]
    places = zip(trace(figure, "numbers").x, trace(figure, "numbers").y, strict=True)
    for (x, y), record in zip(places, FOUND, strict=True):
        assert (x + 1, y + 1) == (record.arch.widths[1], record.arch.head_dims[0])
        assert trace(figure, "measured").z[y][x] == record.value
    assert headlines(figure) == ["12 of 12 networks agree with theory, 0 failed"]
    assert numbers(sweep_figure(changed(3, value=999), "inner width", "a"))[3].startswith("999 ▨ +9")


def test_a_disagreement_is_seen_in_the_headline_the_cell_and_the_difference():
    off = changed(4, value=FOUND.records[4].value - 3)
    figure = sweep_figure(off, "inner width", "a")
    assert numbers(figure)[4] == f"{FOUND.records[4].value - 3} ▨ −3"
    assert headlines(figure) == ["1 of 12 networks DIFFER from theory, 0 failed"]
    assert trace(figure, "numbers").textfont.color[4] == theme.color("outside")
    assert [shade for row in trace(figure, "measured").z for shade in row].count(None) == 1


def test_a_failed_cell_has_a_mark_and_the_reason_on_hovering():
    figure = sweep_figure(failing(5), "inner width", "a")
    assert numbers(figure)[5] == "✕"
    x, y = trace(figure, "numbers").x[5], trace(figure, "numbers").y[5]
    measured = trace(figure, "measured")
    assert measured.z[y][x] is None and "the worker died &lt;&> so" in measured.text[y][x]
    assert headlines(figure) == ["11 of 12 networks agree with theory, 1 failed"]
    assert any("✕ failed" in text for text in texts(figure))
    assert not any("✕" in text for text in texts(sweep_figure(FOUND, "inner width", "a")))


def test_a_place_without_a_network_is_empty():
    figure = sweep_figure(Sweep(FOUND.records[:-1]), "inner width", "a")
    assert trace(figure, "measured").z[2][3] is None and trace(figure, "measured").text[2][3] is None
    assert len(numbers(figure)) == 11


def test_several_networks_in_a_cell_show_the_smallest_and_the_largest_and_say_so():
    figure = sweep_figure(FOUND, "inner width", "layers")
    for inner, shown in zip((1, 2, 3, 4), numbers(figure), strict=True):
        values = [record.value for record in FOUND if record.arch.widths[1] == inner]
        assert shown == f"{min(values)}–{max(values)}"
        assert trace(figure, "measured").z[0][inner - 1] == max(values)
    assert any("smallest–largest" in text for text in texts(figure))
    assert not any("smallest–largest" in text for text in texts(sweep_figure(FOUND, "inner width", "a")))
    same = Sweep(FOUND.records[:1] * 2 + FOUND.records[3:4])
    assert numbers(sweep_figure(same, "inner width", "a")) == [str(r.value) for r in same.records[1:]]
    part = sweep_figure(failing(5), "inner width", "layers")
    assert numbers(part)[1].endswith("1 ✕")


def test_an_undecided_rank_neither_agrees_nor_differs():
    off = changed(0, value=7, status="float", decided=False, gap=2.0)
    figure = sweep_figure(off, "inner width", "a")
    assert numbers(figure)[0] == "7 ?"
    assert headlines(figure) == ["11 of 12 networks agree with theory, 1 undecided, 0 failed"]
    assert any("? undecided" in text for text in texts(figure))


def test_a_network_without_a_formula_is_counted_apart():
    figure = sweep_figure(changed(0, expected=None), "inner width", "a")
    assert headlines(figure) == ["11 of 12 networks agree with theory, no formula for 1, 0 failed"]


@pytest.mark.parametrize("name", AXES)
def test_every_axis_places_a_uniform_network(name):
    archs = [Architecture.uniform(d, a, l) for d in (2, 3) for a in (1, 2) for l in (2, 3)]  # noqa: E741
    other = "a" if name != "a" else "layers"
    figure = sweep_figure(sweep(archs, progress=False), name, other)
    assert headlines(figure) == ["8 of 8 networks agree with theory, 0 failed"]
    assert list(figure.layout.xaxis.ticktext) == sorted(
        {str(AXES[name].of(arch)) for arch in archs}, key=lambda text: (len(text), text)
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((FOUND, "depth", "a"), "an axis is one of 'layers', 'tokens', .*; got 'depth'"),
        ((FOUND, "a", "a"), "two different axes; got 'a' twice"),
        ((FOUND, "a", "width"), r"'width' needs one value .* 4→1→4, .* has 1, 4: take another axis"),
        ((Sweep(()), "a", "layers"), "needs a Sweep with records"),
        ((FOUND.records, "a", "layers"), "needs a Sweep with records"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_what_to_do(arguments, message):
    with pytest.raises(ValueError, match=message):
        sweep_figure(*arguments)


def test_a_network_that_has_no_place_on_an_axis_is_named():
    shallow = sweep([Architecture((3, 3), (2,))], progress=False)
    with pytest.raises(ValueError, match=r"'inner width' needs one value .* has none: take another axis"):
        sweep_figure(shallow, "inner width", "a")
    with pytest.raises(ValueError, match=r"'a2' needs 2 layers; .* has fewer"):
        sweep_figure(shallow, "a2", "layers")


def test_a_map_with_too_many_columns_for_numbers_still_has_its_colours_and_marks():
    archs = [Architecture((d, e, f), (1, 1)) for d in range(1, 9) for e in range(1, 9) for f in (1, 5)]
    found = sweep(archs, progress=False)
    figure = sweep_figure(found, "parameters", "layers")
    assert set(numbers(figure)) == {""} and len(figure.layout.xaxis.tickvals) <= 26
    records = (replace(found.records[0], value=99), replace(found.records[1], value=None, status="failed"))
    marked = sweep_figure(Sweep((*records, *found.records[2:])), "parameters", "layers")
    assert {"", "▨"} <= set(numbers(marked))
