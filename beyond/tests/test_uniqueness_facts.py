"""The facts of two networks: what is read off the exact comparison, and what the
picture needs."""

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from node import ask, check_types
from test_singletons import OTHER, SECOND, setting_of

from neuroviz.kit.plot import plain
from neuroviz_beyond.proofs import uniqueness
from neuroviz_beyond.proofs.uniqueness import study_singleton
from neuroviz_beyond.proofs.uniqueness_facts import (
    uniqueness_facts,
    uniqueness_picture,
    verdict,
)
from neuroviz_beyond.proofs.weight_pairs import CANDIDATES, UniquenessSetting

AGREE = 1e-9
AWAY = 3  # farther away the page does not draw a token


def facts_of(*args, **change) -> tuple:
    study = study_singleton(setting_of(*args, **change))
    return study, uniqueness_facts(study)


def said(lines: list) -> list[str]:
    return [line["text"] for line in lines]


@pytest.mark.parametrize(
    ("setting", "seen", "follows"),
    [
        (setting_of("unrelated"), "θ′ collapses, θ does not", OTHER),
        (setting_of("positive", Fraction(1, 2)), "θ collapses, θ′ does not", OTHER),
        (setting_of("negative"), "they meet at x₁ and at x₂", OTHER),
        (setting_of("other M₂", layers=1), "all is frozen, and LX ≠ L′X", OTHER),
        (setting_of("unrelated", travel=0.5), "on the way", "move it on to 1"),
        (
            setting_of("other M₂", symmetric=0.0),
            "Sym M₁ = 0: nothing tells them apart",
            SECOND,
        ),
        (setting_of("unrelated", size=0.0), "L = 0: nothing tells them apart", SECOND),
        (setting_of("positive", Fraction(1)), "θ′ is θ", "nothing to tell apart"),
        (
            setting_of("negative", symmetric=0.0),
            "both collapse, in different places",
            OTHER,
        ),
    ],
)
def test_the_verdict_is_read_off_the_exact_comparison(setting, seen, follows):
    found = study_singleton(setting)
    assert verdict(found) == (seen, follows)
    lines = uniqueness_facts(found)["verdict"]
    assert said(lines) == [seen, follows]
    is_open = follows in ("move it on to 1", "nothing to tell apart")
    role = "outside" if found.case == "outside" else "certified"
    # Without a difference there is nothing to prove, and equal functions are equal.
    assert lines[-1]["role"] == ("soft" if is_open and not found.ending.same else role)
    if not found.ending.same and setting.travel == 1:
        same = replace(
            found, ending=replace(found.ending, left_meet=True, right_meet=False)
        )
        assert verdict(same)[0] == "θ collapses, θ′ does not"


def test_shares_are_allowed_on_a_curve_and_the_way_is_that_of_the_network_that_moves():
    study, facts = facts_of("same symmetric part", travel=0.4, layers=3)
    one, two = (network["map"] for network in facts["networks"])
    assert two["curve"] and not one["curve"]
    assert two["way"] and not one["way"]
    assert (one["allowed"], two["allowed"]) == ("all", "curve")
    assert two["way"] == [[*map(float, shares)] for shares in study.right.path]
    assert two["curve"] == [[*map(float, shares)] for shares in study.right.curve]
    assert [one["title"], two["title"]] == ["(μ₁, ν₁) of θ", "(μ₁′, ν₁′) of θ′"]


@pytest.mark.parametrize("causal", [False, True])
def test_nothing_infinite_is_in_the_facts(causal):
    _, facts = facts_of("positive", Fraction(2), causal=causal)
    one, two = facts["networks"]
    assert one["meets"] is None and two["meets"].startswith("they meet")
    assert said(two["says"]) == ["θ′: the tokens meet"]
    assert one["far"] == two["far"] == "∞ times as far"
    for network in (one, two):
        for point in network["map"]["way"] + network["map"]["curve"]:
            assert np.isfinite(point).all()


@pytest.mark.parametrize(
    ("setting", "relations"),
    [
        (setting_of("unrelated"), "no relation: all of them are free"),
        (setting_of("positive"), "P′ = P², Q′ = Q²"),
        (
            setting_of("other M₂", layers=2, travel=0.8),
            "layer 1 is frozen; layer 2 is free",
        ),
    ],
)
def test_the_relations_are_said_over_the_maps(setting, relations):
    study = study_singleton(setting)
    facts = uniqueness_facts(study)
    assert said(facts["relations"]) == [relations]
    count = study.relations.independent
    of_all = len(study.relations.letters)
    assert facts["independent"].startswith(f"{count} of {of_all} logits independent")


@pytest.mark.parametrize(
    ("candidate", "layers", "letters"),
    [
        ("unrelated", 2, "M₁′ M₂ L"),
        ("other M₂", 2, "M₁ M₂′ L"),
        ("other M₂", 1, "M₁ L′"),
        ("the same", 1, "M₁ L"),
    ],
)
def test_another_matrix_has_a_prime(candidate, layers, letters):
    _, facts = facts_of(candidate, layers=layers)
    one, two = facts["networks"]
    assert " ".join(two["letters"]) == letters
    assert " ".join(one["letters"]) == letters.replace("′", "")


# Types and formulas, under node

WAYS = """
import { bothAt, drawnAt, movedAt } from "beyond/uniqueness_way";
say(given.map(([formulas, travels]: any) => travels.map((travel: number) => [
  movedAt(formulas, travel),
  drawnAt(formulas, travel),
  bothAt(formulas, travel),
])));
"""


def some_setting(draw: random.Random, seed: int) -> UniquenessSetting:
    candidate = list(CANDIDATES)[seed % len(CANDIDATES)]
    rho = draw.choice(["1/3", "1/2", "1", "2", "3"])
    sizes = {
        "layers": draw.randint(1, 3),
        "symmetric": draw.choice([0.0, 0.5, 1.0, 1.0]),
    }
    travel = draw.choice([0.0, 0.5, 1.0, round(draw.random(), 2)])
    return UniquenessSetting(
        candidate, rho, travel, causal=seed % 3 == 0, seed=seed, **sizes
    )


def test_the_page_goes_1000_random_ways_as_python_does():
    draw = random.Random(10)
    cases = set()
    ways = []
    given = []
    for seed in range(28):
        setting = some_setting(draw, seed)
        study = study_singleton(setting)
        exact = (one.in_floats() for one in uniqueness.two_networks(setting))
        ways.append(uniqueness._Way(setting, study.case, study.relations.power, *exact))
        travels = [0.0, 0.5, 1.0, *(round(draw.random(), 2) for _ in range(33))]
        given.append([plain(uniqueness_facts(study)["formulas"]), travels])
        cases.add(study.case)
    for way, (_, travels), found in zip(ways, given, ask(WAYS, given), strict=True):
        for travel, (moved, drawn, both) in zip(travels, found, strict=True):
            note = f"{way.setting} at {travel}"
            assert moved == way.moved(travel)
            for stop, page, finite in zip(way.at(travel), both, drawn, strict=True):
                np.testing.assert_allclose(
                    page["shares"], stop.shares, atol=AGREE, err_msg=note
                )
                clipped = np.clip(stop.places, -AWAY, AWAY)
                np.testing.assert_allclose(
                    finite["places"], clipped, atol=AGREE, err_msg=note
                )
    assert cases == {"A", "B2", "B1, ρ < 0", "B1, ρ > 0", "peel", "same", "outside"}


NEAREST = """
import { bothAt, nearest, stopsOf } from "beyond/uniqueness_way";
say(given.map(([formulas, range, travel]: any) => {
  const stops = stopsOf(formulas, range);
  const pixels = (share: number) => 200 * share;
  const seen = (both: any) => both[1].shares[0].map(pixels) as any;
  const pointer = seen(bothAt(formulas, travel));
  return [stops.map((one) => one.travel), nearest(stops, seen, pointer, travel)];
}));
"""


def test_what_is_dragged_along_its_way_comes_to_the_pointer():
    travels = [0.0, 0.13, 0.4, 0.62, 1.0]
    formulas = plain(facts_of("same symmetric part")[1]["formulas"])
    found = ask(NEAREST, [[formulas, [0, 1, 0.01], travel] for travel in travels])
    for travel, (stops, near) in zip(travels, found, strict=True):
        assert len(stops) == 101 and (stops[0], stops[-1]) == (0, 1)
        assert near == pytest.approx(travel, abs=0.011)


@pytest.mark.long
def test_facts_of_random_places_have_the_form_that_the_page_expects():
    draw = random.Random(11)
    pictures = [
        uniqueness_picture(study_singleton(some_setting(draw, n))) for n in range(30)
    ]
    check_types(
        "UniquenessFacts", "beyond/uniqueness_facts", [plain(p.facts) for p in pictures]
    )
    check_types(
        "UniquenessPlace", "beyond/uniqueness_facts", [plain(p.place) for p in pictures]
    )
