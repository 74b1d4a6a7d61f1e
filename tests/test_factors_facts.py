"""The facts of two factorisations of one A: measured, and what the page computes is
Python's."""

import random

import numpy as np
import pytest
from node import ask, check_types

from neuroviz.attention.expected import alpha
from neuroviz.attention.symmetry import WALKS
from neuroviz.factorization import study as module
from neuroviz.factorization.determinantal import measure_product, rank_one_point, ruling
from neuroviz.factorization.factors_facts import factors_facts
from neuroviz.factorization.panel import FactorizationExplorer
from neuroviz.factorization.study import (
    RANKS,
    FactorizationSetting,
    study_factorization,
)
from neuroviz.kit.plot import plain
from neuroviz.rank.floats import numerical_rank

SIZES = [(1, 1), (2, 1), (2, 2), (3, 2), (3, 3), (2, 4), (4, 2), (6, 8)]


def facts_of(**setting):
    return factors_facts(study_factorization(FactorizationSetting(**setting)))


def said(facts: dict) -> str:
    return " ".join(line["text"] for line in facts["says"])


@pytest.mark.parametrize(("d", "a"), SIZES)
def test_the_dimensions_are_measured_and_stand_beside_the_formula(d, a):
    facts = facts_of(d=d, a=a)["dimensions"]
    heads = facts["heads"]
    assert heads == list(range(1, max(d + 2, a) + 1))
    assert facts["matrices"]["measured"] == [
        measure_product(d, b).dimension for b in heads
    ]
    assert facts["fiber"]["measured"] == [measure_product(d, b).fiber for b in heads]
    assert facts["matrices"]["formula"] == [alpha(b, d) for b in heads]
    assert facts["fiber"]["formula"] == [2 * b * d - alpha(b, d) for b in heads]
    dimension, fiber = (
        facts[what]["measured"][a - 1] for what in ("matrices", "fiber")
    )
    assert said(facts).startswith(f"{2 * a * d} − {fiber} = {dimension} dimension")
    assert said(facts).endswith("s") == (dimension != 1)


def test_a_wrong_formula_leaves_the_measurement_alone_and_the_facts_say_so(monkeypatch):
    before = facts_of()["dimensions"]
    monkeypatch.setattr(module, "alpha", lambda a, d: alpha(a, d) + 1)
    after = facts_of()["dimensions"]
    assert after["matrices"]["measured"] == before["matrices"]["measured"]
    assert "DIFFER" in said(after) and "DIFFER" not in said(before)


def test_a_product_that_changed_would_be_said(monkeypatch):
    """The equality is measured: a wrong symmetry is said."""
    facts = facts_of(walk="shear")
    assert said(facts["matrices"]) == "Q and K move, A stands still"
    assert said(facts["spectrum"]) == "rank 2, start and now"
    wrong = lambda over, weights, layer, C: {
        "1.Q": C @ weights["1.Q"],
        "1.K": C.T @ weights["1.K"],
    }
    monkeypatch.setattr(module, "change_head_basis", wrong)
    facts = facts_of(walk="shear")
    assert said(facts["matrices"]) == "A has CHANGED"
    assert said(facts["spectrum"]) == "rank 2 now"


@pytest.mark.parametrize(
    ("setting", "finding"),
    [
        ({}, "Q and K move, A stands still"),
        ({"along": 0.0}, "C = 1: nothing has moved yet"),
        ({"a": 1}, "GL₁ has no rotation: nothing moves"),
        ({"a": 1, "walk": "shear"}, "GL₁ has no shear: nothing moves"),
        ({"a": 1, "walk": "stretch"}, "Q and K move, A stands still"),
        ({"a": 1, "walk": "stretch", "rank": "Q"}, "A = 0, and stands still"),
        ({"entries": "Q12=0.5"}, "your numbers: a new A that stands still"),
    ],
)
def test_each_case_has_its_finding(setting, finding):
    assert said(facts_of(**setting)["matrices"]) == finding


def test_only_the_cone_has_a_singular_point():
    assert facts_of(d=3)["surface"] is None
    cone = facts_of(d=2)["surface"]
    assert said(cone) == "a cone, singular at its tip" and cone["lines"][0][
        "text"
    ].endswith("trace 0")
    assert cone["tip"] == "singular: A = 0"
    smooth = facts_of(d=2, trace=0.05)["surface"]
    assert said(smooth) == "a hyperboloid, smooth"
    assert smooth["lines"][0]["text"].endswith("trace 0.05")


@pytest.mark.parametrize(
    ("setting", "about"),
    [
        ({"a": 2}, "● A, of rank 2: off the surface"),
        ({"a": 2, "rank": "Q"}, "● A, of rank 1"),
        ({"a": 1}, "● A, of rank 1"),
        ({"a": 2, "height": 0.0}, "● A, the zero matrix"),
    ],
)
def test_it_is_said_where_a_is(setting, about):
    assert facts_of(d=2, **setting)["surface"]["lines"][1] == {
        "text": about,
        "role": "focus",
    }


def test_the_first_factors_are_those_of_the_panel():
    panel = FactorizationExplorer(state="d=4;a=3;entries=Q12=0.5")
    for found, M in zip(
        panel.facts["matrices"]["start"], panel._shown.start[:2], strict=True
    ):
        np.testing.assert_array_equal(found, M)
    panel.close()


# Types and formulas, under node

AGREE = 1e-9
PRODUCTS = """
import { productOf, startOf } from "factorization/factors_product";
import { metBy, pointAt, rulingAt } from "factorization/factors_slice";
import { drawnAt, unitOf } from "factorization/factors_solids";
say(given.map(([formulas, place]: any) => {
  const found = productOf(formulas, place, startOf(formulas, place));
  if (!found.point) return found;
  const { trace } = found.point;
  const at = pointAt(trace, found.point);
  const from = [3, -4, 2] as const;
  const toward = at.map((t, i) => t - from[i]);
  const met = metBy({ from, toward } as any, trace, at, 99);
  const ruling = (family: any) => rulingAt(trace, found.point!, family, 2);
  const lines = ["image", "kernel"].map(ruling);
  const drawn = { ...drawnAt(found.point), unit: unitOf(found.point) };
  return { ...found, lines, met: pointAt(trace, met), drawn };
}));
"""
ALONG_THE_CONE = """
import { metBy } from "factorization/factors_slice";
const [from, near] = [[2, 0, 0], [1, 0, 1]] as any;
say(metBy({ from, toward: [-1, 0, 1] as any }, 0, near, 9));
"""
ENTERED = """
import { entered } from "factorization/factors_entries";
import { productOf, startOf } from "factorization/factors_product";
const { formulas, place, entry, value } = given as any;
const product = productOf(formulas, place, startOf(formulas, place));
say(entered(product, place, entry, value, formulas.largest));
"""
WORDS = """
import { asWords, entriesIn } from "factorization/factors_product";
say(given.map((words: string) => asWords(entriesIn(words))));
"""


def some_setting(draw: random.Random) -> FactorizationSetting:
    count = draw.randrange(4)
    names = [
        f"{draw.choice('QK')}{draw.randint(1, 4)}{draw.randint(1, 4)}"
        for _ in range(count)
    ]
    return FactorizationSetting(
        d=draw.choice([1, 2, 2, 2, 3, 4, 6]),
        a=draw.choice([1, 1, 2, 3, 8]),
        walk=draw.choice(WALKS),
        along=draw.randint(-100, 100) / 100,
        off_orbit=draw.choice([0.0, draw.randint(-100, 100) / 100]),
        rank=draw.choice(list(RANKS)),
        seed=draw.randint(0, 9),
        trace=draw.randint(0, 30) / 20,
        angle=draw.randint(0, 360),
        height=draw.randint(-100, 100) / 100,
        entries=" ".join(f"{name}={draw.randint(-60, 60) / 20}" for name in names),
    )


@pytest.mark.long
def test_the_page_factors_1000_random_products_as_python_does():
    draw = random.Random(5)
    ranks = set()
    has_left = set()
    studies = [study_factorization(some_setting(draw)) for _ in range(1000)]
    given = [[factors_facts(one)["formulas"], one.place] for one in studies]
    for study, page in zip(studies, ask(PRODUCTS, plain(given)), strict=True):
        point = study.point
        far = np.abs([*point.place, point.height]).max() if point else 0
        size = max(np.abs(study.products[0]).max(), far)
        near = {"atol": AGREE * (1 + size), "err_msg": str(study.place)}
        for name, layer in (("start", study.start), ("now", study.now)):
            for M, N in zip(page[name], layer[:2], strict=True):
                np.testing.assert_allclose(M, N, **near)
        np.testing.assert_allclose(page["A"], study.products, **near)
        spectra = [np.linalg.svd(A, compute_uv=False) for A in study.products]
        np.testing.assert_allclose(page["spectra"], spectra, **near)
        assert page["ranks"] == [numerical_rank(M) for M in study.start[:2]]
        assert page["fiberDimension"] == study.here
        np.testing.assert_allclose(page["C"], study.C, atol=AGREE)
        np.testing.assert_allclose(
            np.array(page["back"]) @ study.C, np.eye(study.a), atol=AGREE
        )
        has_left.add(study.is_off_orbit)
        ranks.add(point and point.rank)
        if point is None:
            assert page["point"] is None and study.d != 2
            continue
        assert_same_point(page, point, near)
    assert ranks == {None, 0, 1, 2} and has_left == {False, True}


def assert_same_point(page, point, near):
    other = page["point"]
    assert other["rank"] == point.rank
    at = (point.trace, point.angle, point.height)
    foot = rank_one_point(other["trace"], other["angle"], other["height"])
    for one, same in (
        (other["trace"], point.trace),
        (other["place"], point.place),
        (foot, rank_one_point(*at)),
    ):
        np.testing.assert_allclose(one, same, **near)
    lines = [ruling(*at, family, 2) for family in ("image", "kernel")]
    np.testing.assert_allclose(page["lines"], lines, **near)
    # A large matrix is drawn smaller, and all others as they are.
    drawn = page["drawn"]
    x, y, z = drawn["place"]
    assert drawn["unit"] >= 1 and np.hypot(x, y) < 1.68 and abs(z) < 1.16
    np.testing.assert_allclose(
        np.multiply(drawn["unit"], drawn["place"]), point.place, **near
    )
    # A double root has half the digits.
    np.testing.assert_allclose(page["met"], foot, atol=1e-6 * (1 + np.abs(foot).max()))


def test_numbers_that_the_page_sets_are_numbers_that_python_takes():
    words = ["Q12=0.5, K23=-1 Q71=2", "Q11=.25", ""]
    assert ask(WORDS, words) == ["Q12=0.5 K23=-1 Q71=2", "Q11=0.25", ""]


@pytest.mark.long
def test_facts_of_random_places_have_the_form_that_the_page_expects():
    draw = random.Random(6)
    studies = [study_factorization(some_setting(draw)) for _ in range(60)]
    check_types(
        "FactorsFacts",
        "factorization/factors_facts",
        [plain(factors_facts(one)) for one in studies],
    )
    check_types(
        "FactorsPlace",
        "factorization/factors_facts",
        [one.place for one in studies[:20]],
    )


def test_a_ray_in_the_direction_of_the_cone_meets_it_once():
    """x² + y² = z² along (2 − t, 0, t): at t = 1."""
    met = ask(ALONG_THE_CONE, None)
    assert (met["angle"], met["height"]) == pytest.approx((0, 1))


@pytest.mark.parametrize(("value", "is_taken"), [(2.0, True), (4.0, False)])
def test_no_entry_of_the_start_leaves_what_python_takes(value, is_taken):
    """C⁻ᵀ K is K divided by 3 in its first row: 4 there asks for 12 at the start."""
    panel = FactorizationExplorer(state="a=2;walk=stretch;along=1")
    place = panel.figure.drawn["place"]
    formulas = panel.facts["formulas"]
    panel.close()
    entry = {"when": "now", "factor": 1, "i": 0, "j": 0}
    given = {"formulas": formulas, "place": place, "entry": entry, "value": value}
    found = ask(ENTERED, given)
    assert (found["entries"] != place["entries"]) == is_taken
    FactorizationSetting(a=2, walk="stretch", along=1.0, entries=found["entries"])
