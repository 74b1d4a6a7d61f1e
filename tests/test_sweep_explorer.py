"""The heat map of a sweep: every number from a record; and the panel that fills one in, stops and goes on."""

import csv
import io
import os
import time
from dataclasses import replace

import pytest
from panels import PATIENCE, bare, ends, headlines, plain, random_states, said, texts, title, trace

from neuroviz.beyond.sweep import panel as sweep_module
from neuroviz.beyond.sweep.figure import AXES, map_parts, sweep_figure, sweep_map
from neuroviz.beyond.sweep.map import SHOWS, SweepCell, SweepMap
from neuroviz.beyond.sweep.panel import AXES as VARIED
from neuroviz.beyond.sweep.panel import (
    SweepExplorer,
    SweepRequest,
    measure_cheap,
    measure_missing,
    sweep_study,
)
from neuroviz.engine.architecture import Architecture
from neuroviz.engine.sweep import Record, Sweep, sweep
from neuroviz.kit import theme
from neuroviz.kit.background import Background
from neuroviz.kit.plot import make, redraw

GRID = [Architecture((4, inner, 4), (a, a)) for inner in (1, 2, 3, 4) for a in (1, 2, 3)]
FOUND = sweep(GRID, progress=False)
LARGE = "layers=6;x_most=10;y_most=8;first=8;last=8"  # some seconds, most of them after a control was moved


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
    assert (
        numbers(sweep_figure(changed(3, value=999), "inner width", "a"))[3]
        == f"999 ▨ +{999 - FOUND.records[3].value}"
    )


def test_a_disagreement_is_seen_in_the_headline_the_cell_and_the_difference():
    off = changed(4, value=FOUND.records[4].value - 3)
    for show, seen in (("dimension", f"{FOUND.records[4].value - 3} ▨ −3"), ("deficit", "−3")):
        figure = sweep_figure(off, "inner width", "a", show)
        assert numbers(figure)[4] == seen
        assert headlines(figure) == ["1 of 12 networks DIFFER from theory, 0 failed"]
    assert trace(sweep_figure(off, "inner width", "a"), "numbers").textfont.color[4] == theme.color("outside")
    map_ = sweep_figure(off, "inner width", "a", "deficit")
    shades = [shade for row in trace(map_, "measured").z for shade in row]
    assert sorted(shades) == [-3] + 11 * [0]
    assert set(numbers(sweep_figure(FOUND, "inner width", "a", "deficit"))) == {"0"}


def test_a_failed_cell_has_a_mark_and_the_reason_on_hovering():
    figure = sweep_figure(failing(5), "inner width", "a")
    assert numbers(figure)[5] == "✕"
    x, y = trace(figure, "numbers").x[5], trace(figure, "numbers").y[5]
    measured = trace(figure, "measured")
    assert measured.z[y][x] is None and "the worker died &lt;&> so" in measured.text[y][x]
    assert headlines(figure) == ["11 of 12 networks agree with theory, 1 failed"]
    assert any("✕ failed" in text for text in texts(figure))
    assert not any("✕" in text for text in texts(sweep_figure(FOUND, "inner width", "a")))


def test_what_is_not_measured_yet_is_ground_with_a_dot():
    found = sweep_map(FOUND, "inner width", "a")
    cells = (replace(found.cells[0], records=()), *found.cells[1:])
    figure = make(map_parts(replace(found, cells=cells)))
    assert numbers(figure)[0] == "·" and trace(figure, "measured").z[0][0] is None
    assert trace(figure, "measured").text[0][0] == "not measured yet"
    assert headlines(figure) == ["11 of 12 cells measured: 11 of 11 networks agree with theory, 0 failed"]


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


@pytest.mark.parametrize(
    ("record", "shown"),
    [
        ({"status": "exact", "error_bound": 0.0}, "● full rank"),
        ({"status": "exact", "error_bound": 3e-12}, "● ≤ 10⁻¹²"),
        ({"status": "float", "gap": 2e9, "decided": True}, "≈ gap 10⁹"),
        ({"status": "float", "gap": float("inf"), "decided": True}, "≈ gap ∞"),
        ({"status": "float", "gap": 3.0, "decided": False}, "≈ undecided"),
        ({"status": "certified", "route": "theorem"}, "◆ theorem"),
    ],
)
def test_how_sure_a_number_is(record, shown):
    one = Sweep((replace(FOUND.records[0], **{"error_bound": None, "prime": None} | record),))
    assert numbers(sweep_figure(one, "layers", "a", "status")) == [shown]


def test_an_undecided_rank_neither_agrees_nor_differs():
    off = changed(0, value=7, status="float", decided=False, gap=2.0)
    figure = sweep_figure(off, "inner width", "a")
    assert numbers(figure)[0] == "7 ?"
    assert headlines(figure) == ["11 of 12 networks agree with theory, 1 undecided, 0 failed"]
    assert numbers(sweep_figure(off, "inner width", "a", "deficit"))[0] == "?"


def test_a_network_without_a_formula_is_counted_apart():
    figure = sweep_figure(changed(0, expected=None), "inner width", "a", "deficit")
    assert headlines(figure) == ["11 of 12 networks agree with theory, no formula for 1, 0 failed"]
    assert numbers(figure)[0] == "–"


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
        ((FOUND, "a", "layers", "colour"), "show is one of 'dimension', 'deficit', 'status'; got 'colour'"),
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


@pytest.mark.parametrize("choice", [("light", "notebook"), ("dark", "lecture")])
def test_an_update_in_place_gives_the_same_figure(choice):
    with theme.using({"mode": choice[0], "size": choice[1]}):
        maps = [sweep_map(found, "inner width", y, show) for found in (FOUND, failing(3), changed(2, value=1))
                for y in ("a", "layers") for show in SHOWS]  # fmt: skip
        figure, old = make(map_parts(maps[0])), maps[0]
        for new in [*maps, *maps[::-1]]:
            redraw(figure, map_parts(old), map_parts(new))
            assert plain(figure) == plain(make(map_parts(new)))
            old = new
        redraw(figure, None, map_parts(maps[4]))
        assert plain(figure) == plain(make(map_parts(maps[4])))


def test_texts_have_no_dollars_and_no_figure_has_a_legend():
    for show in SHOWS:
        figure = sweep_figure(failing(1), "attention", "dl", show)
        assert not any("$" in text for text in said(figure))


# The panel


@pytest.fixture
def panel():
    made = SweepExplorer()
    yield made
    made.cancel()
    made.close()


def table(panel):
    return list(csv.DictReader(io.StringIO(panel.export.table)))


def eventually(fact):
    end = time.monotonic() + PATIENCE
    while not fact() and time.monotonic() < end:
        time.sleep(0.02)
    return fact()


def measured_cells(panel):
    return sum(number != "·" for number in numbers(panel.figure))


def test_it_opens_on_a_grid_that_is_measured(panel):
    assert headlines(panel.figure) == ["40 of 40 networks agree with theory, 0 failed"]
    assert "The dimensions go from 13 to 46. Each is a proof at full rank." in panel.description
    assert "40 ranks mod 8 388 593" in title(panel) and "≠" not in title(panel)
    assert panel.status == "done" and panel.start_button.disabled and panel._cancel_button.disabled


def test_every_control_goes_to_both_ends_without_an_error(panel):
    for name, control in panel.controls.items():
        for value in ends(control) if name != "seed" else (0, 10**6):
            control.value = value
            assert panel.status.startswith("done"), (name, value, panel.status)
            assert len(numbers(panel.figure)) in (64, 40, 8, 5, 50, 80, 10)
        panel.reset()
    assert measured_cells(panel) == 40


@pytest.mark.parametrize("x", VARIED)
@pytest.mark.parametrize("y", VARIED)
def test_any_two_axes_make_a_map_and_the_same_one_twice_a_row(x, y):
    panel = SweepExplorer(state=f"x={x};y={y};x_most=3;y_most=2;layers=3")
    assert panel.status == "done"
    assert len(numbers(panel.figure)) == (3 if x == y else 6)
    assert panel.controls["y_most"].disabled == (x == y)
    for name in ("layers", "tokens", "first", "inner", "last", "head"):
        assert panel.controls[name].disabled == (name in (x, y))
    assert not panel._shown.missing and "DIFFER" not in panel.description
    panel.close()


def test_the_network_of_a_place_has_the_sizes_of_its_place():
    fixed = (("layers", 3), ("tokens", 5), ("first", 4), ("inner", 2), ("last", 3), ("head", 2))
    request = SweepRequest("head_1", "tokens", 3, 2, fixed, "softmax", "exact", 0)
    assert request.places[3, 2] == Architecture((4, 2, 2, 3), (3, 2, 2), 2, "softmax")
    assert len(request.places) == 6
    deep = replace(request, x="layers", y="inner").places
    assert deep[1, 1] == deep[1, 2] == Architecture((4, 3), (2,), 5, "softmax")


def test_random_states_are_answered_at_once_and_come_back(panel):
    for state in random_states(SweepExplorer, 12, seed=2):
        panel.state = state
        assert panel.status.startswith("done"), (state, panel.status)
        assert panel.state == state and "DIFFER" not in panel.description


def test_moving_a_control_measures_only_what_is_cheap(panel):
    panel.state = LARGE
    assert 0 < measured_cells(panel) < 80 and not panel.running
    assert "Start measures the other" in panel.description and not panel.start_button.disabled
    cheap = {record.arch for record in panel._shown.known}
    costs = [panel._shown.seconds(arch) for arch in cheap]
    assert max(costs) <= min(map(panel._shown.seconds, panel._shown.missing))


def test_start_fills_the_map_in_while_the_page_stays_alive(panel, monkeypatch):
    panel.state = LARGE
    at_first, drawn, draw = measured_cells(panel), [], panel._redraw
    monkeypatch.setattr(panel, "_redraw", lambda new: (draw(new), drawn.append(measured_cells(panel))))
    panel.start_button.click()
    assert panel.running and panel.start_button.disabled and not panel._cancel_button.disabled
    assert panel.status.startswith("measuring")
    assert panel.wait(PATIENCE)
    assert drawn == sorted(drawn) and any(at_first < count < 80 for count in drawn)  # it came in parts
    assert measured_cells(panel) == 80 and panel.status.startswith("done in")
    assert headlines(panel.figure) == ["80 of 80 networks agree with theory, 0 failed"]
    assert panel.start_button.disabled and panel._cancel_button.disabled
    assert [int(line["value"]) for line in table(panel)] == [r.value for r in panel._shown.known]
    assert set(panel._shown.known) == set(sweep(panel._shown.places.values(), progress=False))


def test_stop_keeps_what_is_there_and_start_goes_on_with_the_rest(panel, monkeypatch):
    panel.state = LARGE
    at_first = measured_cells(panel)
    panel.start()
    assert eventually(lambda: measured_cells(panel) > at_first)
    process = panel._background._process
    panel.cancel()
    there = measured_cells(panel)
    assert process.poll() is not None and not panel.running
    assert panel.status == f"stopped; Start goes on with the other {80 - there}"
    assert "nv-stale" not in panel._box._dom_classes  # what is shown is right
    assert not panel.start_button.disabled and panel._cancel_button.disabled
    asked, submit = [], Background.submit

    def listening(self, work, request, *rest):
        asked.append(request)
        submit(self, work, request, *rest)

    monkeypatch.setattr(Background, "submit", listening)
    panel.start()
    assert len(asked[0].missing) == 80 - there
    assert panel.wait(PATIENCE) and measured_cells(panel) == 80
    panel.start()
    assert len(asked) == 1 and panel.status == "done: everything is measured"


def test_another_view_of_a_running_sweep_lets_it_run_and_another_grid_ends_it(panel):
    panel.state = LARGE
    panel.start()
    process = panel._background._process
    for show in SHOWS:
        panel.controls["show"].value = show
        assert panel.running and panel._background._process is process
        assert not panel._cancel_button.disabled and panel.start_button.disabled
    panel.controls["tokens"].value = 2
    assert not panel.running and process.poll() is not None
    assert panel.status.startswith("done") and panel._cancel_button.disabled
    there = measured_cells(panel)
    time.sleep(0.3)
    assert measured_cells(panel) == there


def test_what_was_measured_is_not_measured_again_when_one_comes_back(panel):
    panel.state = LARGE
    panel.start()
    assert panel.wait(PATIENCE)
    panel.reset()
    assert measured_cells(panel) == 40
    panel.state = LARGE
    assert measured_cells(panel) == 80 and panel.status.startswith("done")
    other = SweepExplorer(state=LARGE)
    assert measured_cells(other) < 80
    other.close()


def test_a_process_that_ends_early_is_reported_and_the_panel_lives_on(panel):
    panel.state = LARGE
    panel.start()
    os.kill(panel._background._process.pid, 9)
    assert panel.wait(PATIENCE) and not panel.running and panel._cancel_button.disabled
    assert "ended before it answered" in panel.status and not panel.start_button.disabled
    panel.start()
    assert panel.wait(PATIENCE) and measured_cells(panel) == 80


def test_what_failed_is_marked_counted_and_tried_again(panel):
    arch = panel._shown.places[8, 5]
    key = (arch, "exact", 0)
    good = panel._records[key]
    panel._records[key] = Record(arch, "exact", 0, None, "failed", good.expected, good.source, note="no luck")
    failed = replace(panel._shown, known=tuple(panel._records.values()))
    assert failed.missing == (arch,)
    assert (
        "39 of 40 networks agree with theory, 1 failed" in headlines(make(map_parts(sweep_study(failed))))[0]
    )
    panel.controls["show"].value = "deficit"  # the network is cheap: it is measured again at once
    assert panel._records[key] == good and len(table(panel)) == 40


def test_all_parts_together_are_what_is_missing(monkeypatch):
    monkeypatch.setattr(sweep_module, "_AT_ONCE", 0.05)  # seconds, of some 0.3
    request = measure_cheap(replace(SweepExplorer()._read(), known=(), x_most=10, y_most=10))
    assert request.known and request.missing
    parts = measure_missing(request)
    records = []
    while True:
        try:
            records += next(parts)
        except StopIteration as end:
            records += end.value
            break
    assert {record.arch for record in records} == set(request.missing)


@pytest.mark.parametrize("method", ["float", "certified"])
def test_other_methods_say_what_they_are(panel, method):
    panel.state = f"method={method};x_most=3;y_most=2;first=2;last=2;show=status"
    if panel._shown.missing:
        panel.start()
        assert panel.wait(PATIENCE)
    assert {"float": "≈ floating point", "certified": "◆ certified"}[method] in title(panel)
    assert all(number[0] in "≈◆" for number in numbers(panel.figure))
    assert "mod" not in title(panel) and "chance" not in panel.description


def test_in_a_lecture_start_and_stop_stay():
    with theme.using({"mode": "dark", "size": "lecture"}):
        panel = SweepExplorer(only=["x_most"])
        panel._fit.width = 1200
        footer = next(box for box in panel.children if panel.start_button in getattr(box, "children", ()))
        assert panel._cancel_button in footer.children and panel.export in footer.children
        assert panel._cancel_button.description == "Stop"
        assert panel.start_button.layout.display != "none"
        panel.close()


def test_the_files_are_named_after_the_grid(panel):
    assert panel.export.name == "sweep_lightning_inner-head_exact" and len(table(panel)) == 40
    assert table(panel)[0]["source"] == panel._shown.known[0].source


# Parts of an answer, from the child process


def three(argument):
    yield argument
    yield argument + 1
    return argument + 2


def breaks(argument):
    yield argument
    raise ArithmeticError("half way")


def unsendable(argument):
    yield argument
    yield lambda: None


@pytest.fixture(scope="module")
def background():
    made = Background()
    yield made
    made.close()


def asked(background, work, argument):
    parts, ends_ = [], []
    background.submit(work, argument, ends_.append, parts.append)
    assert background.wait(PATIENCE)
    return parts, ends_


def test_parts_come_in_order_and_before_the_end(background):
    assert asked(background, three, 5) == ([5, 6], [7])
    assert asked(background, abs, -5) == ([], [5])
    done = []
    background.submit(three, 1, done.append)  # nobody asks for the parts
    assert background.wait(PATIENCE) and done == [3]


def test_an_error_half_way_ends_the_answer_and_the_child_lives_on(background):
    for work in (breaks, unsendable):
        parts, (error,) = asked(background, work, 5)
        assert parts == [5] and isinstance(error, Exception)
    assert asked(background, three, 5) == ([5, 6], [7])


def test_parts_of_an_older_answer_never_arrive_after_a_newer_question(background):
    old = []
    background.submit(three, 1, old.append, old.append)
    assert asked(background, three, 10) == ([10, 11], [12])
    seen = list(old)
    time.sleep(0.1)
    assert old == seen and set(old) <= {1, 2, 3}


def test_cells_know_how_many_networks_they_wait_for():
    cell = SweepCell(1, 1, FOUND.records[:1], 3)
    found = SweepMap((cell,), (1,), (1,), "x", "y", "dimension")
    assert "2 not measured yet" in trace(make(map_parts(found)), "measured").text[0][0]
