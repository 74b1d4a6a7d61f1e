"""An exponential that is let go: its two equations, over Q, modulo primes and on the
curve."""

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from node import ask, check_types

import neuroviz as nv
from neuroviz.kit.plot import plain
from neuroviz.softmax.new_variable import (
    MEET,
    PRIME,
    SILENT,
    Letters,
    Power,
    Residue,
    nearest_whole,
    real_letters,
    ring_letters,
    second_token,
    table_of,
)
from neuroviz.softmax.new_variable_facts import formulas_of, new_variable_facts
from neuroviz.softmax.new_variable_panel import (
    RANGES,
    NewVariableExplorer,
    NewVariableSetting,
    new_variable_picture,
    study_new_variable,
)

PANEL = NewVariableExplorer
STEP = 1e-6


def silent_at(k, q, first, second, P, Q):
    """The table of the silent direction, in whatever numbers."""
    return table_of(SILENT, Letters(k, q, first, second, second - first, P, Q, 1))


def new_tokens(k, q, first, second, shift_P=0.0, shift_Q=0.0):
    """The layer itself, written with its softmax: its two logit differences may be
    shifted by a constant, so that P and Q are any positive numbers."""
    tokens = np.array([first, second])
    logits = np.outer(tokens, k * q * tokens)
    logits[1, 0] += shift_P
    logits[0, 1] += shift_Q
    shares = np.exp(logits)
    return tokens @ (shares / shares.sum(axis=0))


@pytest.mark.parametrize("shift", [0.0, 1.3, -2.0])
def test_the_table_has_the_derivatives_of_the_layer_on_the_curve_and_off_it(shift):
    """A P that is let go, as far as it is positive, is that of a shifted logit."""
    draw = random.Random(3)
    for _ in range(20):
        k, q, first, second = (draw.uniform(-1.2, 1.2) for _ in range(4))
        apart = second - first
        P = math.exp(apart * k * q * first + shift)
        Q = math.exp(-apart * k * q * second)
        a, b, c, d = silent_at(k, q, first, second, P, Q)
        by_k, by_q = (
            new_tokens(k + h, q + g, first, second, shift)
            - new_tokens(k - h, q - g, first, second, shift)
            for h, g in ((STEP, 0), (0, STEP))
        )
        scales = np.array([(1 + P) ** 2, (1 + Q) ** 2]) / (2 * STEP)
        np.testing.assert_allclose(by_k * scales, [a, c], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(by_q * scales, [b, d], rtol=1e-5, atol=1e-6)


def test_the_attention_matrix_of_an_antisymmetric_m_has_this_table():
    M = np.array([[0.0, -1.0], [1.0, 0.0]])
    first = np.array([1.0, 0.0])
    for y in (-1.1, 0.3, 1.2):
        X = np.stack([first, first + [0, y]], axis=1)
        shares = np.exp(X.T @ M @ X)
        shares = shares / shares.sum(axis=0)
        letters = real_letters(MEET, Fraction(str(y)), None)
        P = float(letters.P)
        Q = float(letters.Q)
        table = np.array([float(one) for one in table_of(MEET, letters)])
        np.testing.assert_allclose(
            shares * [1 + P, 1 + Q], table.reshape(2, 2), atol=1e-12
        )
        assert np.linalg.matrix_rank(shares, tol=1e-12) == 1


def test_a_d_is_b_c_as_polynomials_over_the_rationals():
    """A polynomial that is 0 on a grid with more points than its degree in each letter
    is the zero polynomial: of a·d and b·c the degrees are 1, and 5 in the tokens."""
    two = (Fraction(1), Fraction(2))
    six = tuple(map(Fraction, range(6)))
    for k, q, P, Q in itertools.product(two, repeat=4):
        for first, second in itertools.product(six, repeat=2):
            a, b, c, d = silent_at(k, q, first, second, P, Q)
            assert a * d == b * c
    # The other equation is none in the letters.
    one = Fraction(1)
    table = table_of(MEET, Letters(one, one, one, one, one, Fraction(2), one, one))
    assert table.a * table.d != table.b * table.c


@pytest.mark.parametrize("prime", [2, 3, 5, 7])
def test_a_d_is_b_c_for_all_residues(prime):
    every = np.meshgrid(*[np.arange(prime)] * 6, indexing="ij")
    a, b, c, d = (entry % prime for entry in silent_at(*every))
    assert ((a * d - b * c) % prime == 0).all()
    P, Q = every[4], every[5]
    meets = (1 - P * Q) % prime == 0
    assert meets.mean() == pytest.approx((prime - 1) / prime**2)


def test_the_rank_modulo_7_is_that_of_true_tokens_where_the_letters_say_so():
    for P in range(PRIME):
        assert table_of(SILENT, ring_letters(P)).rank == 1
    ranks = [table_of(MEET, ring_letters(P)).rank for P in range(PRIME)]
    assert ranks.count(1) == 1 and set(ranks) == {1, 2}
    # What the library measures of such a layer, modulo its own large prime.
    layer = nv.Architecture((1, 1), (1,), tokens=2, attention="softmax")
    found = nv.measure_dimension(layer)
    weights = 3  # k, q and v
    assert weights - found.value == 1


def test_the_ring_has_the_weights_and_the_first_token_of_the_curve():
    real = real_letters(SILENT, Fraction(1, 3), None)
    ring = ring_letters(0)
    for name in ("k", "q", "first"):
        factor = getattr(real, name).factor
        residue = factor.numerator * pow(factor.denominator, -1, PRIME) % PRIME
        assert getattr(ring, name) == Residue(residue)
    assert ring.apart.value == (ring.second.value - ring.first.value) % PRIME


def test_y_is_the_difference_of_logits():
    for y in (Fraction(-1), Fraction(3, 7)):
        letters = real_letters(SILENT, y, None)
        k, q, first, second = (
            getattr(letters, name).factor for name in ("k", "q", "first", "second")
        )
        assert second == second_token(y) and (second - first) * k * q * first == y
        assert letters.P == Power(Fraction(1), y)
        assert letters.Q.exponent == -(second - first) * k * q * second


def test_powers_of_e_are_compared_exactly():
    e = Power(Fraction(1), Fraction(1))
    near = Power(Fraction(27182818284590452, 10**16))
    assert float(e) == pytest.approx(float(near), rel=1e-15)
    assert not e.is_equal(near) and e.is_equal(Power(Fraction(1), Fraction(1)))
    nothing = Power(Fraction(0), Fraction(5))
    assert nothing.is_equal(Power(Fraction(0))) and not nothing.is_equal(e)


@pytest.mark.parametrize("stage", ["curve", "free", "modulo"])
def test_the_equation_of_the_silent_direction_holds_everywhere(stage):
    draw = random.Random(8)
    for _ in range(100):
        y, P = some_place(draw)
        study = study_new_variable(NewVariableSetting(SILENT, stage, P=P, y=y))
        assert study.table.holds and study.table.rank <= 1


def test_tokens_meet_on_the_curve_only():
    draw = random.Random(9)
    for _ in range(100):
        y, P = some_place(draw)
        on_curve = NewVariableSetting(MEET, "curve", P=P, y=y)
        assert study_new_variable(on_curve).table.rank == 1
        off = NewVariableSetting(MEET, "free", P=P, y=y)
        assert study_new_variable(off).table.rank == (1 if (y, P) == (0, 1) else 2)


@pytest.mark.parametrize(
    ("state", "words", "badge"),
    [
        ("", "P = eʸ with y = 0.6: a·d = b·c", "exact"),
        ("stage=free;P=0", "and P = 0, whatever eʸ is: a·d = b·c, 0 = 0", "exact"),
        ("stage=modulo;P=-2", "P = 5 modulo 7: a·d = b·c", "exact"),
        ("statement=meet", "rank 1. With an antisymmetric M", "PQ = 1 only"),
        ("statement=meet;stage=free;P=2", "a·d ≠ b·c", "outside hypotheses"),
        ("statement=meet;stage=modulo;P=3", "1 ≠ 2; rank 2", "outside hypotheses"),
    ],
)
def test_words_and_badges_say_what_holds(panel, state, words, badge):
    panel.state = state
    assert words in panel.description
    assert badge in panel._badge(panel._shown)


def test_sliders_that_do_nothing_are_disabled(panel):
    panel.state = "stage=curve"
    assert panel.controls["P"].disabled and not panel.controls["y"].disabled
    panel.state = "stage=modulo"
    assert panel.controls["y"].disabled and not panel.controls["P"].disabled


# Types and formulas, under node

FOUND = """
import { foundAt, momentOf, valueOfP } from "softmax/new_variable_table";
say(given.map(([formulas, place]: any) => {
  const found = foundAt(formulas, place);
  const moment = momentOf(formulas, place, found.holds);
  return { ...found, moment, P: valueOfP(place) };
}));
"""


def some_place(draw: random.Random) -> tuple[float, float]:
    """A place of the sliders; now and then the tokens are equal, or P is 0 or 1."""
    y = draw.choice([0.0] + 9 * [draw.randint(-130, 130) / 100])
    P = draw.choice([0.0, 1.0] + 8 * [draw.randint(-200, 400) / 100])
    return y, P


def some_setting(draw: random.Random) -> NewVariableSetting:
    y, P = some_place(draw)
    statement = draw.choice([SILENT, MEET])
    return NewVariableSetting(
        statement, draw.choice(["curve", "free", "modulo"]), P=P, y=y
    )


def moment_of(study) -> str:
    """What there is to see at a place, by its name."""
    setting = study.setting
    meets = setting.statement == MEET
    holds = study.table.holds
    if setting.stage == "modulo":
        return "chance" if meets and holds else "modulo"
    if setting.y == 0 and not meets:
        return "equal"
    if setting.stage == "curve" or (meets and holds):
        return "curve"
    if setting.P == 0:
        return "zero"
    return "free" if setting.P > 0 else "negative"


def place_of(setting: NewVariableSetting) -> dict:
    return {name: getattr(setting, name) for name in ("stage", "y", "P")}


def test_the_page_computes_1000_random_tables_as_python_does():
    draw = random.Random(4)
    settings = [some_setting(draw) for _ in range(1000)]
    given = [[formulas_of(one.statement), place_of(one)] for one in settings]
    seen = set()
    for setting, page in zip(settings, ask(FOUND, plain(given)), strict=True):
        study = study_new_variable(setting)
        table = [float(one) for one in study.table]
        sides = [float(one) for one in study.table.sides]
        np.testing.assert_allclose(page["table"], table, atol=1e-9, err_msg=setting)
        np.testing.assert_allclose(page["sides"], sides, atol=1e-9, err_msg=setting)
        assert page["holds"] == study.table.holds, setting
        assert page["rank"] == study.table.rank, setting
        assert page["moment"] == moment_of(study), setting
        if setting.stage == "modulo":
            assert page["P"] == nearest_whole(Fraction(str(setting.P)))
        seen.add((setting.statement, moment_of(study)))
    moments = {moment for _, moment in seen}
    assert moments == set(new_variable_facts(SILENT)["moments"])


STORY = """
import { storyAt } from "softmax/new_variable_story";
say(given.map((share: any) => storyAt(share)));
"""


def test_the_story_goes_along_the_curve_through_zero_and_round_the_ring():
    shares = [n / 1000 for n in range(1001)]
    story = ask(STORY, shares)
    stages = [key for key, _ in itertools.groupby(one["stage"] for one in story)]
    assert stages == ["curve", "free", "modulo"]
    for one in story:
        assert RANGES["y"][0] <= one["y"] <= RANGES["y"][1]
        assert RANGES["P"][0] <= one["P"] <= RANGES["P"][1]
        if one["stage"] == "curve":
            continue
        assert one["y"] == 0.6
    free = [one["P"] for one in story if one["stage"] == "free"]
    # It leaves the curve where it was, holds at 0, and goes below.
    assert free[0] == pytest.approx(math.exp(0.6), abs=0.05)
    assert free.count(0) > 50 and min(free) < -1.5 and max(free) > 3.5
    ring = {round(one["P"]) for one in story if one["stage"] == "modulo"}
    assert ring >= {-2, -1, 0, 1, 2, 3} and story[-1]["P"] == 3


AXIS = """
import { Axis } from "softmax/new_variable_axis";
const axis = new Axis(40, 4, 284, [600, 320], 120);
say(given.map(([P, bend]: any) => {
  const { at } = axis.at(P, bend);
  return [at, axis.valueAt(at[1]), axis.wholeAt(at)];
}));
"""


def test_the_axis_is_straight_or_a_ring_and_takes_a_pointer_to_its_number():
    wholes = range(-2, 5)
    straight = ask(AXIS, [[P, 0] for P in wholes])
    for P, (at, value, _) in zip(wholes, straight, strict=True):
        assert at[0] == 40 and value == pytest.approx(P)
    ring = ask(AXIS, [[P, 1] for P in wholes])
    for P, (at, _, whole) in zip(wholes, ring, strict=True):
        assert math.dist(at, (300, 160)) == pytest.approx(120) and whole == P
    places = np.array([at for at, _, _ in ring])
    sides = np.linalg.norm(places - np.roll(places, 1, axis=0), axis=1)
    np.testing.assert_allclose(sides, sides[0])


@pytest.mark.long
def test_facts_have_the_form_that_the_page_expects():
    draw = random.Random(6)
    pictures = [
        new_variable_picture(study_new_variable(some_setting(draw))) for _ in range(20)
    ]
    check_types(
        "NewVariableFacts",
        "softmax/new_variable_facts",
        [plain(one.facts) for one in pictures],
    )
    check_types(
        "NewVariablePlace",
        "softmax/new_variable_facts",
        [plain(one.place) for one in pictures],
    )
