"""The facts of the virtual weights have their form; and the page computes what Python
computes."""

import random

import numpy as np
import pytest
from node import ask, check_types

from neuroviz.attention.symmetry import WALKS
from neuroviz.deep.virtual import LOGS, RANGES, SAME, VirtualSetting
from neuroviz.deep.virtual_facts import virtual_facts, virtual_picture
from neuroviz.deep.virtual_panel import study_virtual
from neuroviz.kit.plot import plain
from neuroviz.kit.words import percent, signed

AGREE = 1e-9
SEEN = """
import { seenAt } from "deep/virtual_network";
import { barOf } from "deep/virtual_words";
say(given.map(([facts, place]: any) => {
  const { C, parts } = seenAt(facts.formulas, place);
  const bars = facts.matrices.map((one: any) => barOf(one, parts[one.key], facts));
  return { C, parts, bars };
}));
"""
SAME_OR_NOT = """
import { movedOf } from "deep/virtual_network";
say(given.map(([start, now, same]: any) => movedOf(start, now, same).isSame));
"""
NUMBERS = """
import { percent, short, signed } from "deep/virtual_words";
say(given.map((value: any) => [signed(value), percent(Math.abs(value)), short(value)]));
"""


def some_setting(draw: random.Random) -> VirtualSetting:
    sizes = {
        name: draw.randint(1, 4)
        for name in ("width", "width_in", "width_out", "head_dim")
    }
    lists = {
        "view": ["basis", "rescale"],
        "place": ["first", "middle", "last"],
        "walk": WALKS,
    }
    lists |= {"kind": ["lightning", "softmax"], "alone": [0, -0.3, 0.25]}
    return VirtualSetting(
        **sizes,
        **{name: draw.choice(values) for name, values in lists.items()},
        **{name: draw.randint(-20, 20) / 20 for name in (*LOGS, "off", "along")},
        layers=draw.randint(2, 4),
        lost=draw.random() < 0.2,
        seed=draw.randint(0, 9),
    )


@pytest.mark.long
def test_the_page_moves_the_weights_of_1000_random_pairs_of_networks_as_python_does():
    draw = random.Random(7)
    studies = [study_virtual(some_setting(draw)) for _ in range(1000)]
    given = [
        plain([virtual_facts(study), virtual_picture(study).place]) for study in studies
    ]
    for study, (facts, _), page in zip(studies, given, ask(SEEN, given), strict=True):
        parts = (*getattr(study, "weights", ()), *study.virtual, study.outputs)
        if facts["basis"] is None:
            assert page["C"] is None
        else:
            np.testing.assert_allclose(page["C"], study.C, atol=AGREE)
        assert len(page["parts"]) == len(parts)
        for matrix, bar, part in zip(
            facts["matrices"], page["bars"], parts, strict=True
        ):
            found = page["parts"][matrix["key"]]
            size = np.abs(part.now).max()
            assert matrix["name"] == part.name and found["isSame"] == part.is_same
            np.testing.assert_allclose(
                found["start"], part.start, rtol=AGREE, atol=AGREE
            )
            np.testing.assert_allclose(
                found["now"], part.now, rtol=AGREE, atol=AGREE * (1 + size)
            )
            assert found["change"] == pytest.approx(part.change, abs=AGREE)
            start, end = map(np.linalg.norm, (part.start, part.now))
            log = np.log2(end / start) if start and end else 0
            assert found["log"] == pytest.approx(log, abs=AGREE)
            check_bar(bar, matrix, part, facts, log)


def check_bar(bar, matrix, part, facts, log):
    """A bar is 0 where nothing has moved, else as high as its number says."""
    is_factor = facts["basis"] is None and not (
        matrix["isStill"] and facts["formulas"]["kind"] == "softmax"
    )
    if part.is_same and (matrix["isStill"] or facts["basis"] is not None):
        assert (bar["height"], bar["words"]) == (0, "0")
        assert bar["role"] == ("certified" if matrix["isStill"] else "soft")
        return
    assert bar["height"] == pytest.approx(log if is_factor else part.change, abs=AGREE)
    assert matrix["isStill"] == (bar["role"] == "outside")
    off = "off by " if facts["basis"] is None and not is_factor else ""
    said = (
        signed(value) if is_factor else off + percent(value)
        for value in near(bar["height"])
    )
    assert bar["words"] in said


def near(value):
    """Numbers that rounding may make of one."""
    return value, value - AGREE, value + AGREE


@pytest.mark.parametrize("error", [1e-12, 1e-10, 1e-8, 0.1])
def test_the_page_says_same_up_to_one_in_a_thousand_million_as_python_does(error):
    study = study_virtual(VirtualSetting())
    L = study.virtual[0].start
    same = virtual_facts(study)["formulas"]["same"]
    assert same == SAME
    assert ask(SAME_OR_NOT, plain([[L, L * (1 + error), same]])) == [error < 1e-9]


def test_the_page_says_numbers_as_python_does():
    draw = random.Random(3)
    values = [
        draw.choice([0.001, 0.1, 1, 10]) * draw.uniform(-9, 9) for _ in range(500)
    ]
    values += [0.0, 1.0, -1.0, 0.0995, 0.04, -0.04, 12.3, 0.584]
    for value, (sign, part, short) in zip(values, ask(NUMBERS, values), strict=True):
        assert sign == signed(value) and part in map(percent, near(abs(value)))
        assert len(short) <= 4 or abs(value) < 0.05 and short.startswith("−.")
        assert abs(float(short.replace("−", "-")) - value) <= max(
            0.051, 0.05 * abs(value)
        )


@pytest.mark.long
def test_facts_of_random_places_have_the_form_that_the_page_expects():
    draw = random.Random(5)
    pictures = [virtual_picture(study_virtual(some_setting(draw))) for _ in range(60)]
    check_types(
        "VirtualFacts",
        "deep/virtual_facts",
        [plain(picture.facts) for picture in pictures],
    )
    check_types(
        "VirtualPlace", "deep/virtual_facts", [picture.place for picture in pictures]
    )
    assert all(set(picture.ranges) == set(RANGES) for picture in pictures)


def test_the_start_fixes_the_colours():
    """No entry at the start is beyond the scale; a weight may grow before its colour
    ends."""
    draw = random.Random(6)
    for _ in range(100):
        study = study_virtual(some_setting(draw))
        parts = (*getattr(study, "weights", ()), *study.virtual, study.outputs)
        for matrix, part in zip(virtual_facts(study)["matrices"], parts, strict=True):
            assert np.abs(part.start).max() <= matrix["limit"]
