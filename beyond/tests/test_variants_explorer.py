"""Switches on and off: both ledgers measured, what a switch did in words, and no
combination that fails."""

from dataclasses import replace

import pytest
from checks import TWO_LINES
from panels import PATIENCE, headlines, plain, texts, title, trace

from neuroviz.kit.measured import kernel_ledger
from neuroviz.kit.plot import make
from neuroviz_beyond.transformers import Block, Transformer
from neuroviz_beyond.transformers.formulas import expected_dimension
from neuroviz_beyond.transformers.variants import (
    VariantSetting,
    effects,
    study_variants,
)
from neuroviz_beyond.transformers.variants_panel import VariantsExplorer, variants_parts

THREE = Transformer.uniform(3, 2, 2, heads=3)
EVERYTHING = {
    "heads": 4,
    "kind": "softmax",
    "value_dim": "2",
    "shared": "pairs",
    "biases": True,
    "temperature": True,
    "positions": True,
    "mlp": True,
    "before": "temperature=no",
}
CASES = {  # setting → its network, and the one before
    "start": ({}, THREE, Transformer.uniform(3, 2, 2, heads=2)),
    "skip": ({"skip": True, "before": "skip=no"}, replace(THREE, skip=True), THREE),
    "softmax": (
        {"kind": "softmax", "before": "kind=lightning"},
        replace(THREE, attention="softmax"),
        THREE,
    ),
    "alone": (
        {"width": 2, "head_dim": 1, "layers": 1, "heads": 2, "before": ""},
        Transformer.uniform(2, 1, 1, heads=2),
        None,
    ),
    "unexplained": (
        {"width": 2},
        Transformer.uniform(2, 2, 2, heads=3),
        Transformer.uniform(2, 2, 2, heads=2),
    ),
    "all": (
        EVERYTHING,
        *(
            Transformer.uniform(
                3,
                2,
                2,
                attention="softmax",
                heads=4,
                block=Block(2, 2, False, True, on, True, (4, 2)),
            )
            for on in (True, False)
        ),
    ),
}
LONG = (
    "heads=6;value_dim=4;shared=all;biases=yes;width=1;tokens=1;head_dim=3;"
    "before=heads=2,kind=softmax"
)


def study(name):
    return study_variants(VariantSetting(**CASES[name][0]))


def lines(panel):
    return " ".join(texts(panel.figure))


@pytest.mark.parametrize("name", CASES)
def test_the_bars_are_the_ledger_and_thin_ones_that_before(name):
    found = study(name)
    old = CASES[name][2]
    figure = make(variants_parts(found))
    ledger = found.ledger
    assert ledger == kernel_ledger(CASES[name][1])
    level = ledger.parameters
    assert list(trace(figure, "parameters").x) == [level]
    explained, rest = (
        trace(figure, n)
        for n in ("directions that symmetries explain", "unexplained directions")
    )
    for length, base in zip(
        (*explained.x, *rest.x), (*explained.base, *rest.base), strict=True
    ):
        assert base + length == level
        level = base
    assert (
        [level] == list(trace(figure, "dimension (measured)").x) == [ledger.dimension]
    )
    assert (
        sum(explained.x) == sum(ledger.entries.values())
        and sum(rest.x) == ledger.unexplained
    )
    assert (sum(rest.x) > 0) == (name == "unexplained")

    before = trace(figure, "before").x
    if old is None:
        assert not before
    else:
        ledger = kernel_ledger(old)
        assert found.before == ledger and (before[0], before[-1]) == (
            ledger.parameters,
            ledger.dimension,
        )
        assert sum(before[1:-1]) == ledger.parameters - ledger.dimension


def test_measurement_and_formula_are_shown_as_they_are_also_where_they_differ():
    found = study("unexplained")
    assert found.expected == expected_dimension(CASES["unexplained"][1])
    # H > d′: the layers were measured, each by itself
    assert list(trace(make(variants_parts(found)), "dimension by the formula").x) == [
        20
    ]
    none = study_variants(VariantSetting(width=2, layers=1))
    assert none.expected.value is None
    assert not trace(make(variants_parts(none)), "dimension by the formula").x
    soft = study("softmax")
    wrong = replace(
        soft,
        expected=replace(soft.expected, value=70),
        ledger=replace(soft.ledger, dimension=77),
    )
    for one, formula, measured in ((soft, 93, 93), (wrong, 70, 77)):
        figure = make(variants_parts(one))
        assert list(trace(figure, "dimension by the formula").x) == [formula]
        assert list(trace(figure, "dimension (measured)").x) == [measured]
        assert f"{measured} dimensions" in headlines(figure)[0]


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
    assert effects(idle.before, idle.ledger) == [
        "8 parameters more, and no other dimension"
    ]
    assert effects(start.ledger, kernel_ledger(replace(THREE, causal=True))) == [
        "nothing in the ledger changes"
    ]


# The panel


def test_a_switch_is_compared_with_the_network_before_it():
    panel = VariantsExplorer()
    panel.controls["skip"].value = True
    assert panel.controls["before"].value == "skip=no" and "skip on: 81 → 90" in lines(
        panel
    )
    panel.controls["kind"].value = "softmax"
    assert panel.controls["before"].value == "kind=lightning"
    assert "softmax instead of lightning: 90 → 102" in lines(panel)
    panel.controls["seed"].value = 1  # no switch
    assert panel.controls["before"].value == "kind=lightning"
    panel.controls["before"].value = "kind=lightning, skip=no"
    assert "softmax instead of lightning, skip on: 81 → 102" in lines(panel)
    for nothing in ("", "kind=softmax"):  # a comparison with itself is none
        panel.controls["before"].value = nothing
        assert (
            "directions are silent" in lines(panel)
            and not trace(panel.figure, "before").x
        )


@pytest.mark.parametrize(
    "wrong", ["heads", "colour=red", "seed=1", "skip=maybe", "heads=99", "before=heads"]
)
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
        ("rotary=yes;head_dim=3", "Without effect: rotary (a = 3 is odd)."),
        (f"{LONG};rotary=yes;layers=3", "unexplained: one token sees"),
        (
            f"{LONG};rotary=yes;mlp=yes;layers=1",
            "rotary (a = 3 is odd), MLP (there is one layer).",
        ),
        ("shared=all", "shared keys (give values a rank)"),
        ("shared=pairs;value_dim=2;heads=3", "3 heads: no pairs"),
    ],
)
def test_what_cannot_be_is_said_and_not_done_in_silence(state, words):
    panel = VariantsExplorer(state=f"before=;{state}")
    assert panel.wait(PATIENCE) and panel.status.startswith("done")
    assert words in panel.description and len(panel.description) <= TWO_LINES
    assert not VariantSetting().ignored


def test_controls_without_a_say_are_disabled():
    panel = VariantsExplorer(state="heads=1;head_dim=1;layers=1")
    off = {name for name, control in panel.controls.items() if control.disabled}
    assert off == {"mlp", "rotary", "shared"}
    panel.state = "heads=2;head_dim=2;layers=2;mlp=yes;value_dim=1"
    assert not any(control.disabled for control in panel.controls.values())


def test_badges_and_words_give_the_numbers_and_their_status():
    panel = VariantsExplorer(state="kind=softmax")
    assert "exact" in title(panel) and "proved here · Theorem E: 93" in title(panel)
    panel.controls["kind"].value = "lightning"
    assert "proved here · Theorem N, Theorem M: 81" in title(panel)
    assert "126 parameters; 45 directions are silent" in panel.description
    panel.controls["skip"].value = True
    assert "proved here · Theorem S, Theorem M: 90" in title(panel)
    panel.state = "skip=no;causal=yes"
    assert "proved here · Theorem N, Theorem M: 81" in title(panel)
    panel.state = "layers=1;heads=4"
    assert "no formula" in title(panel)
