"""The panel of Figure 3: its controls, what it says, and the files that it offers."""

import csv
import io

import pytest
import traitlets
from panels import PATIENCE, headlines, title, trace

from neuroviz.kit import theme
from neuroviz.kit.export import Export
from neuroviz.kit.panel import Panel
from neuroviz.softmax.figure3 import Figure3Setting
from neuroviz.softmax.figure3_panel import Figure3Explorer


@pytest.fixture
def panel():
    made = Figure3Explorer()
    yield made
    made.cancel()
    made.close()


def settled(panel):
    assert panel.wait(PATIENCE)
    return panel.status.startswith("done")


def table(panel):
    return list(csv.DictReader(io.StringIO(panel.export.table)))


def test_it_opens_on_the_figure_of_the_paper(panel):
    assert panel._read() == Figure3Setting()
    assert "softmax 25, 40, 57, 76, 97, 120, 145, 172; all on the formula" in panel.description
    assert "8 ranks mod 8 388 593" in title(panel) and "Eq. 16, Corollary A" in title(panel)
    assert headlines(panel.figure)[0] == "softmax: 8 of 8 exact ranks on the formula"


@pytest.mark.parametrize(
    "state",
    [
        "layers=1;tokens=1;head_dim=4;first=1;last=1;kind=both",
        "layers=4;tokens=1;head_dim=1;first=1;last=3;kind=both;peer=yes;inputs=10;runs=1;certificates=yes",
        "layers=4;tokens=6;head_dim=4;first=3;last=4;kind=lightning;peer=yes;inputs=10;runs=2",
        "layers=3;tokens=2;head_dim=1;first=5;last=2;kind=lightning;peer=yes;inputs=20;runs=1",
    ],
)
def test_the_far_corners_are_answered_as_well(panel, state):
    panel.state = state
    assert settled(panel), panel.status
    assert "DISAGREE" not in panel.description and "≠ measured" not in title(panel)


def test_a_state_comes_back(panel):
    panel.state = "layers=3;tokens=2;head_dim=1;first=2;last=5;kind=both;seed=7"
    other = Figure3Explorer(state=panel.state)
    assert other.description == panel.description and other.state == panel.state
    assert other.export.table == panel.export.table
    other.close()
    with pytest.raises(ValueError, match="first goes from 1 to 12; got 13"):
        panel.state = "first=13"


def test_the_two_ends_of_the_widths_may_pass_one_another(panel):
    panel.state = "first=6;last=4"
    assert [line["delta"] for line in table(panel)] == ["4", "5", "6"]
    there = panel.export.table
    panel.state = "first=4;last=6"
    assert panel.export.table == there


def test_the_float32_procedure_runs_in_the_background_and_can_be_cancelled(panel):
    assert panel.controls["inputs"].disabled and panel.controls["runs"].disabled
    before = panel.export.table
    panel.controls["peer"].value = True
    assert panel._background.running and panel.export.table == before
    panel.cancel()
    assert panel.status.startswith("cancelled") and not panel._background.running
    assert panel.export.table == before
    assert not panel.controls["inputs"].disabled


def test_what_takes_long_is_declared():
    panel = Figure3Explorer()
    assert not panel._is_slow(Figure3Setting())
    assert not panel._is_slow(Figure3Setting(attention="both"))
    assert panel._is_slow(Figure3Setting(peer=True, inputs=1, runs=1, last=3))
    assert panel._is_slow(Figure3Setting(certificates=True, last=3))
    assert panel._is_slow(Figure3Setting(layers=4, last=12))
    panel.close()


def test_it_says_where_float32_is_wrong(panel):
    panel.state = "first=9;last=10;peer=yes;inputs=100;runs=1"
    assert settled(panel)
    assert "misses 2 of 2, as " in panel.description
    assert "counts as 0 what lies below" in panel.description and "too few inputs" not in panel.description
    (nine, ten) = table(panel)
    assert int(nine["float32"]) < 145 and int(ten["float32"]) < 172
    assert list(trace(panel.figure, "float32, wrong, softmax").y) == [
        int(nine["float32"]),
        int(ten["float32"]),
    ]


def test_it_says_when_inputs_are_too_few_for_any_arithmetic(panel):
    panel.state = "first=12;last=12;tokens=1;layers=1;peer=yes;inputs=10;runs=1"
    assert settled(panel)
    assert "it has too few inputs at δ = 12" in panel.description
    assert "counts as 0" not in panel.description


def test_the_files_are_of_what_is_shown(panel):
    assert panel.export.name == "figure3_softmax_l2_t3_a2_d3-10"
    assert [line["exact"] for line in table(panel)] == ["25", "40", "57", "76", "97", "120", "145", "172"]
    panel.state = "kind=lightning;first=3;last=4"
    assert panel.export.name == "figure3_lightning_l2_t3_a2_d3-4"
    assert [line["exact"] for line in table(panel)] == ["23", "38"]
    assert [int(line["exact"]) for line in table(panel)] == list(
        trace(panel.figure, "exact (measured), lightning").y
    )


def footer(panel):
    return next(box for box in panel.children if panel._reset_button in getattr(box, "children", ()))


def test_the_buttons_stand_in_the_footer_of_this_panel_only(panel):
    assert panel.export not in footer(panel).children  # before there is a figure
    panel._fit.width = 900
    assert panel.export in footer(panel).children
    assert panel.export.formats == ("csv", "svg", "png")
    assert Panel._extra_buttons(panel) == []
    lecture = Figure3Explorer(only=["layers"])
    lecture._fit.width = 900
    assert lecture.export in footer(lecture).children
    lecture.close()


def test_a_name_that_is_no_file_is_refused():
    export = Export()
    export.offer("a,b\n1,2\n", "figure3_l-2.x")
    for name in ("", "../figure", "two words", "a/b", ".hidden"):
        with pytest.raises(ValueError, match="the name of a file has letters"):
            export.offer("", name)
    assert (export.table, export.name) == ("a,b\n1,2\n", "figure3_l-2.x")
    with pytest.raises(traitlets.TraitError):
        export.table = 3
    export.close()


@pytest.mark.parametrize("size", ["notebook", "lecture"])
def test_it_opens_in_both_sizes_and_modes(size):
    for mode in ("light", "dark"):
        with theme.using({"mode": mode, "size": size}):
            panel = Figure3Explorer(state="kind=both")
            assert panel.status == "done"
            assert all(f"{name}=" in panel.state for name in panel.controls)
            panel.close()
