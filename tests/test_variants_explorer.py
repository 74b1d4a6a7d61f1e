"""Switches on and off: both ledgers measured, heads that blend, and no combination that fails."""

from dataclasses import replace

import numpy as np
import pytest
from panels import PATIENCE, bare, headlines, plain, text, texts, title, trace

from neuroviz.beyond.transformers.blending import blend_heads
from neuroviz.beyond.transformers.variants import FAMILIES, costs, effects
from neuroviz.beyond.transformers.variants_figure import variants_parts
from neuroviz.beyond.transformers.variants_panel import VariantRequest, VariantsExplorer, study_variants
from neuroviz.engine.architecture import Architecture
from neuroviz.engine.block import Block
from neuroviz.engine.formulas import expected_dimension
from neuroviz.engine.ledger import kernel_ledger
from neuroviz.kit import theme
from neuroviz.kit.plot import make

THREE = Architecture.uniform(3, 2, 2, heads=3)
CASES = {
    "start": (THREE, Architecture.uniform(3, 2, 2, heads=2), 0.5),
    "skip": (replace(THREE, skip=True), THREE, 0.5),
    "softmax": (replace(THREE, attention="softmax"), THREE, 1.0),
    "plain": (Architecture.uniform(3, 2, 2), Architecture.uniform(3, 2, 2, heads=2), 0.0),
    "alone": (Architecture.uniform(2, 1, 1, heads=2), None, 0.5),
    "unexplained": (Architecture.uniform(2, 2, 2, heads=3), Architecture.uniform(2, 2, 2, heads=2), 0.3),
    "all": (
        Architecture.uniform(
            3, 2, 2, attention="softmax", heads=4, block=Block(2, 2, False, True, True, True, (4, 2))
        ),
        Architecture.uniform(
            3, 2, 2, attention="softmax", heads=4, block=Block(2, 2, False, True, False, True, (4, 2))
        ),
        0.5,
    ),
}


def study(name):
    arch, before, place = CASES[name]
    return study_variants(VariantRequest(arch, before, "skip on" if before else "", place, 0))


def lines(panel):
    return " ".join(texts(panel.figure))


# The ledgers


@pytest.mark.parametrize("name", CASES)
def test_the_bars_are_the_ledger_and_each_begins_where_the_one_before_ends(name):
    found = study(name)
    figure, ledger = make(variants_parts(found)), found.ledger
    assert ledger == kernel_ledger(CASES[name][0])
    level = ledger.parameters
    assert list(trace(figure, "parameters").x) == [level]
    explained, rest = (
        trace(figure, n) for n in ("directions that symmetries explain", "unexplained directions")
    )
    for length, base in zip((*explained.x, *rest.x), (*explained.base, *rest.base), strict=True):
        assert base + length == level
        level = base
    assert [level] == list(trace(figure, "dimension (measured)").x) == [ledger.dimension]
    assert sum(explained.x) == sum(ledger.entries.values()) and sum(rest.x) == ledger.unexplained


@pytest.mark.parametrize("name", CASES)
def test_the_thin_bars_are_the_ledger_before(name):
    found, old = study(name), CASES[name][1]
    bars = trace(make(variants_parts(found)), "before")
    if old is None:
        assert not bars.x
        return
    ledger = kernel_ledger(old)
    assert found.before == ledger
    assert (bars.x[0], bars.x[-1]) == (ledger.parameters, ledger.dimension)
    assert sum(bars.x[1:-1]) == ledger.parameters - ledger.dimension


def test_the_formula_is_a_hollow_mark_and_another_formula_moves_it_alone():
    found = study("skip")
    assert found.expected == expected_dimension(CASES["skip"][0])
    assert not trace(
        make(variants_parts(found)), "dimension by the formula"
    ).x  # heads, skip, lightning: none
    soft = study("softmax")
    mark = trace(make(variants_parts(soft)), "dimension by the formula")
    assert mark.marker.symbol == "diamond-open" and list(mark.x) == [soft.expected.value]
    wrong = replace(soft, expected=replace(soft.expected, value=70))
    figure = make(variants_parts(wrong))
    assert list(trace(figure, "dimension by the formula").x) == [70]
    assert list(trace(figure, "dimension (measured)").x) == [soft.ledger.dimension]


def test_a_wrong_ledger_is_shown_as_it_is():
    found = study("start")
    wrong = replace(found, ledger=replace(found.ledger, dimension=77))
    figure = make(variants_parts(wrong))
    assert list(trace(figure, "dimension (measured)").x) == [77]
    assert "77 dimensions" in headlines(figure)[0]


def test_effects_tell_what_came_to_life_and_what_stayed():
    skip = study("skip")
    assert effects(skip.before, skip.ledger) == [
        "the 9 of “bases between layers” come to life",
        "as before: bases of keys and queries, rescalings, heads that blend",
    ]
    assert effects(skip.ledger, skip.before)[0] == "bases between layers: 0 → 9"
    start = study("start")
    assert effects(start.before, start.ledger) == ["42 parameters more, 26 dimensions"]
    assert effects(start.ledger, start.before) == ["42 parameters fewer, 26 dimensions"]
    idle = study("all")
    assert effects(idle.before, idle.ledger) == ["8 parameters more, and no other dimension"]
    masked = kernel_ledger(replace(THREE, causal=True))
    assert effects(start.ledger, masked) == ["nothing in the ledger changes"]


def test_plain_networks_use_the_same_names_as_the_others():
    plain_costs = costs(kernel_ledger(Architecture.uniform(3, 2, 2)))
    assert plain_costs == {"bases of keys and queries": 8, "bases between layers": 9, "rescalings": 2}
    assert set(plain_costs) <= set(FAMILIES)


# The heads, and the map


def test_the_heads_are_those_of_the_blend_and_its_deviation_is_said():
    found = study("start")
    blend = blend_heads(THREE, 0.5)
    figure = make(variants_parts(found))
    assert np.array_equal(trace(figure, "A₂′, now").z, blend.now[1])
    assert np.array_equal(trace(figure, "A₂, drawn").z, blend.before[1])
    assert "the function stays" in headlines(figure)[1] and found.blend.deviation < 1e-12
    off = replace(found, blend=replace(found.blend, deviation=0.25))
    assert "10" in headlines(make(variants_parts(off)))[1] and headlines(
        make(variants_parts(off))
    ) != headlines(figure)
    assert "outputs off by" in headlines(make(variants_parts(study("softmax"))))[1]


def test_frames_say_whether_the_function_stays():
    def frames(name):
        return {s.line.color for s in make(variants_parts(study(name))).layout.shapes if s.visible}

    assert frames("start") == {theme.color("certified")}
    assert frames("softmax") == {theme.color("outside")}
    assert frames("plain") == set()


def test_every_cell_of_the_map_is_a_ledger_and_the_border_is_the_formula():
    found = study("start")
    assert len(found.cells) == 18
    for cell in found.cells:
        assert cell.ledger == kernel_ledger(Architecture((3, 6), (3 - cell.column,), 3, heads=cell.row))
        assert (cell.blends > 0) == (cell.row > cell.column**2 + 1)
    soft = study("softmax")
    assert not any(cell.blends for cell in soft.cells)
    assert not trace(make(variants_parts(soft)), "border H = (d − a)² + 1").x


def test_the_numbers_of_the_map_come_from_the_ledgers():
    found = study("start")
    changed = tuple(
        replace(cell, ledger=replace(cell.ledger, entries=cell.ledger.entries | {"heads that blend": 91}))
        for cell in found.cells
    )
    figure = make(variants_parts(replace(found, cells=changed)))
    assert set(map(bare, trace(figure, "blends, measured").text)) == {"91"}


def test_the_ring_is_around_the_network_where_it_is_on_the_map():
    ring = trace(make(variants_parts(study("start"))), "this network")
    assert (ring.x, ring.y) == ((3,), (1,))
    assert study("all").here is None  # values of rank 2: another condition


# The panel


def test_a_switch_is_compared_with_the_network_before_it():
    panel = VariantsExplorer()
    panel.controls["skip"].value = True
    assert panel.controls["before"].value == "skip=no" and "skip on: 81 → 90" in lines(panel)
    panel.controls["kind"].value = "softmax"
    assert panel.controls["before"].value == "kind=lightning"
    assert "softmax instead of lightning: 90 → 102" in lines(panel)
    panel.controls["blend"].value = 0.2  # no switch
    assert panel.controls["before"].value == "kind=lightning"
    panel.controls["before"].value = "kind=lightning, skip=no"
    assert "softmax instead of lightning, skip on: 81 → 102" in lines(panel)
    panel.controls["before"].value = ""
    assert "parameters do nothing" in lines(panel) and not trace(panel.figure, "before").x


def test_a_comparison_with_itself_is_none():
    panel = VariantsExplorer(state="before=heads=3")
    assert "parameters do nothing" in lines(panel)


@pytest.mark.parametrize("wrong", ["heads", "colour=red", "blend=0.5", "skip=maybe", "heads=99"])
def test_a_wrong_comparison_is_explained_and_the_panel_lives_on(wrong):
    panel = VariantsExplorer()
    shown = plain(panel.figure)
    panel.controls["before"].value = wrong
    assert not panel.status.startswith("done") and wrong.split("=")[0] in panel.status
    assert plain(panel.figure) == shown
    panel.controls["before"].value = "heads=1"
    assert panel.status.startswith("done")


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (
            "rotary=yes;head_dim=3",
            "Rotary positions are off: they turn coordinates in pairs, and a = 3 is odd.",
        ),
        ("mlp=yes;layers=1", "There is no MLP: it stands between layers"),
        ("shared=all", "to share them, give values a rank"),
        ("shared=pairs;value_dim=2;heads=3", "3 heads are no pairs"),
    ],
)
def test_what_cannot_be_is_said_and_not_done_in_silence(state, words):
    panel = VariantsExplorer(state=f"{state};before=")
    assert panel.wait(PATIENCE) and panel.status.startswith("done")
    assert words in panel.description
    panel.reset()
    assert words in panel.description
    calm = VariantsExplorer()
    assert not any(word in calm.description for word in ("are off", "There is no", "of its own"))


def test_controls_without_a_say_are_disabled():
    panel = VariantsExplorer(state="heads=1;head_dim=1;layers=1")
    off = {name for name, control in panel.controls.items() if control.disabled}
    assert off == {"mlp", "hidden", "power", "rotary", "shared", "blend"}
    panel.state = "heads=2;head_dim=2;layers=2;mlp=yes;value_dim=1"
    assert not any(control.disabled for control in panel.controls.values())


def test_badges_follow_the_switches():
    panel = VariantsExplorer(state="kind=softmax")
    assert "exact" in title(panel) and "proved here · Theorem E: 93" in title(panel)
    panel.controls["kind"].value = "lightning"
    assert "observed" in title(panel) and "81 mod 8 388 593" in title(panel)
    panel.controls["skip"].value = True
    assert "no formula" in title(panel)


def test_the_words_give_the_numbers_and_the_reason():
    panel = VariantsExplorer()
    assert "of 126 parameters 45 do nothing" in panel.description
    assert "The 3 heads of layer 1 blend in 3 directions; at 50 % of one way" in panel.description
    panel.controls["heads"].value = 2
    assert "do not blend, as H = 2 is not more than (d − a)² + 1 = 2" in panel.description
    panel.controls["blend"].value = 0
    assert "move the slider blend to force them" in panel.description
    panel.state = "heads=4;value_dim=2;shared=all;rotary=yes;blend=0.5"
    assert "blend in 12 directions, but no way is drawn, as rotary positions" in panel.description


def test_slow_work_is_declared_by_size():
    panel = VariantsExplorer()
    small = VariantRequest(THREE, None, "", 0.5, 0)
    large = replace(small, arch=Architecture.uniform(4, 4, 3, heads=6))
    assert not panel._is_slow(small) and panel._is_slow(large)


def test_a_state_is_text_without_surprises():
    panel = VariantsExplorer(state="skip=yes;before=skip=no,heads=2;blend=0.35")
    assert "before=skip=no,heads=2" in panel.state and "blend=0.35" in panel.state
    assert text(True) in panel.state
