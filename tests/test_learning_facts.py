"""The surface that learns: its words are true, its twins are as singular as the layers,
and its flow ends where Python's does."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flows import forms_table
from node import ask, check_types

from neuroviz.attention.layer import product_table
from neuroviz.kit.plot import plain
from neuroviz.singular.chart import in_drawing
from neuroviz.singular.flow import (
    SINGULAR_BELOW,
    gradient_flow,
    random_starts,
    random_targets,
)
from neuroviz.singular.forms import (
    BOUNDARY,
    CLOSURE,
    CROSSING,
    OFF,
    SMOOTH,
    forms_of,
    kind_of,
    layer_with_root,
    nearest_layer,
)
from neuroviz.singular.learning import COIN, HALF, nearest_is_singular
from neuroviz.singular.learning_facts import (
    CHOICES,
    KINDS,
    MOVES,
    RANGES,
    RUNS,
    TIME,
    TOLERANCE,
    learning_facts,
)
from neuroviz.singular.learning_panel import (
    LearningExplorer,
    LearningSetting,
    study_learning,
)

AGREE = 1e-9


def forms_at(*place):
    return HALF.forms(*place)


def nearest_ratio(q1, q2) -> float:
    """σ₂/σ₁ of A at the layer that `nearest_layer` finds."""
    q1, q2 = (tuple(map(float, q)) for q in (q1, q2))
    near = nearest_layer(q1, q2)
    A, _ = layer_with_root(q1, q2, float(near.X), float(near.Y))
    sigma = np.linalg.svd(np.array(A, dtype=float), compute_uv=False)
    return float(sigma[1] / sigma[0])


def flow_to(place, runs: int, time: float, seed: int = 1):
    table = forms_table(*forms_at(*place))
    return gradient_flow(table, *random_starts(runs, seed), times=(0, time))


def table_forms(table: np.ndarray) -> np.ndarray:
    """The coefficients of both forms, shape (N, 6)."""
    T = table[..., 0, :, :]
    return np.stack([T[..., 0, 0], 2 * T[..., 0, 1], T[..., 1, 1]], -1).reshape(-1, 6)


def distances(flow) -> tuple[np.ndarray, np.ndarray]:
    """Of all runs, where they end; and to the nearest layer."""
    pair = table_forms(flow.target)
    least = nearest_layer(pair[:, :3].T, pair[:, 3:].T).distance
    return np.sqrt(2 * flow.loss[-1]), least


# What is said of a target


def test_the_targets_of_the_moves_lie_where_their_questions_say():
    kinds = [kind_of(*forms_at(*move.target)) for move in MOVES]
    assert kinds == [SMOOTH, CLOSURE, OFF]
    for move in MOVES:
        setting = LearningSetting(*map(float, move.target))
        assert setting.target == move.target and study_learning(setting).is_asked
        drawn = in_drawing(HALF, np.array(move.target, dtype=float))
        assert np.linalg.norm(drawn) < 1
    assert [move.shows_coin for move in MOVES] == [False, False, True]


@pytest.mark.parametrize("move", MOVES, ids=[move.name for move in MOVES])
def test_the_answer_of_a_move_is_where_400_layers_of_python_end(move):
    assert nearest_is_singular(*forms_at(*move.target)) == (move.right == "all")
    flow = flow_to(move.target, 400, 300)
    singular = flow.ratio < SINGULAR_BELOW
    found = "none" if not singular.any() else "all" if singular.all() else "some"
    assert found == move.right and move.right in CHOICES
    away, least = distances(flow)
    assert (away < least + 0.01).all(), "the words name one place for all of them"


def test_all_runs_to_a_target_on_the_coin_end_at_the_pinch_point():
    """Up to turning and a factor: both forms are multiples of one square."""
    flow = flow_to((1, 0, Fraction(6, 10)), 40, 300)
    assert (flow.ratio < 1e-9).all() and (flow.angle < 1e-3).all()
    beside = flow_to((1, Fraction(5, 100), Fraction(6, 10)), 40, 300)
    assert (beside.ratio > SINGULAR_BELOW).all()


def test_no_answer_is_said_of_a_target_that_is_asked_about():
    panel = LearningExplorer()
    words = ("smooth", "singular", "nearest")
    for move in MOVES:
        panel.state = ";".join(
            f"{name}={float(t)}" for name, t in zip(RANGES, move.target, strict=True)
        )
        assert not any(word in panel.description for word in words)
        assert KINDS[kind_of(*forms_at(*move.target))] in panel.description
    for state, said in (
        ("s=1;y=0;z=0.5", "at distance 0.559, and singular"),
        ("s=1;y=0.1;z=0.5", ", and smooth"),
        ("s=3;y=0;z=0", "its own nearest layer, and singular"),
    ):
        panel.state = state
        assert said in panel.description, state
    panel.close()


# The nearest layer


@pytest.mark.long
def test_in_the_slice_the_nearest_layer_is_singular_on_the_line_and_the_coin():
    """Exactly decided, and against the layer that is found: at all rational points of a
    grid."""
    singular = 0
    steps = [Fraction(n, 5) for n in range(-10, 11)]
    for s, y, z in product(
        [Fraction(n, 5) for n in range(21)], (0, Fraction(1, 5), -1), steps
    ):
        q1, q2 = forms_at(s, y, z)
        is_on_line = s >= 2 and y == 0 and z == 0
        said = is_on_line or COIN.has(s, y, z)
        assert nearest_is_singular(q1, q2) == said, (s, y, z)
        if (s, y, z) == (0, 0, 0):  # all layers are as near, and all are singular
            continue
        # On the rim the distance is flat: the root is found to half of the digits.
        assert (nearest_ratio(q1, q2) < 1e-4) == said, (s, y, z)
        singular += said
    assert singular > 80


def test_beside_the_coin_by_a_little_the_nearest_layer_is_smooth():
    for place in ((1, Fraction(1, 10**6), 0), (1, 0, 1 + Fraction(1, 10**6))):
        assert not nearest_is_singular(*forms_at(*place))
    for place in ((1, 0, 1), (2, 0, 0), (0, 0, 0)):
        assert nearest_is_singular(*forms_at(*place))


def test_the_half_that_is_not_drawn_has_the_mirror_image_of_the_coin():
    steps = [Fraction(n, 5) for n in range(-10, 11)]
    for s, y, z in product(steps[:11], (0, Fraction(1, 5)), steps):
        is_on_line = (s, y, z) == (-2, 0, 0)
        said = is_on_line or (y == 0 and (s + 1) ** 2 + z**2 <= 1)
        assert nearest_is_singular(*forms_at(s, y, z)) == said, (s, y, z)


def random_pair(rng, is_split: bool) -> tuple:
    """k⊗u² + p⊗w² with u ⊥ w in whole numbers; or a pair in general position."""
    if not is_split:
        return tuple(tuple(map(int, rng.integers(-6, 7, 3))) for _ in range(2))
    k, p = rng.integers(-5, 6, (2, 2))
    a, b = rng.integers(-4, 5, 2)
    u2 = np.array([a * a, 2 * a * b, b * b])
    w2 = np.array([b * b, -2 * a * b, a * a])
    return tuple(tuple(map(int, k[i] * u2 + p[i] * w2)) for i in range(2))


@pytest.mark.long
def test_of_all_pairs_the_nearest_layer_is_singular_where_the_statement_says():
    rng = np.random.default_rng(5)
    count = {True: 0, False: 0}
    for n in range(3000):
        q1, q2 = random_pair(rng, n % 2 == 0)
        traces = np.array([a + c for a, _, c in (q1, q2)])
        parts = np.array([(a - c, b) for a, b, c in (q1, q2)])
        if not parts.any():  # all layers are as near
            continue
        if abs(np.linalg.norm(traces @ parts) - np.square(parts).sum()) < 1e-9:
            continue  # at the rim the root is found to half of the digits
        said = nearest_is_singular(q1, q2)
        assert (nearest_ratio(q1, q2) < 1e-6) == said, (q1, q2)
        count[said] += 1
    assert min(count.values()) > 300, count


def test_floats_are_not_decided():
    with pytest.raises(ValueError, match="decided exactly"):
        nearest_is_singular((1.0, 1, 1), (0, 0, 0))


def rational_unit(rng, d: int) -> list[Fraction]:
    """A unit vector with rational entries, by stereographic projection."""
    t = [Fraction(int(n), 7) for n in rng.integers(-20, 21, d - 1)]
    square = sum(x * x for x in t)
    return [*(2 * x / (1 + square) for x in t), (square - 1) / (square + 1)]


@pytest.mark.parametrize("d", [2, 3, 5])
def test_for_any_width_no_layer_is_nearer_than_k_u_squared(d):
    """|T restricted to v⊥|² ≥ |p|² for rational unit v, exactly; |p|² at v = u; and
    without the condition some v is nearer."""
    rng = np.random.default_rng(d)
    u = [Fraction(3, 5), Fraction(4, 5)] + [Fraction(0)] * (d - 2)
    w = [Fraction(-4, 5), Fraction(3, 5)] + [Fraction(0)] * (d - 2)

    def inner(x, y):
        return sum(a * b for a, b in zip(x, y, strict=True))

    def away(k, p, v):
        """The squared Frobenius norm of all Π(k_i uuᵀ + p_i wwᵀ)Π, Π = 1 − vvᵀ."""
        project = [[Fraction(i == j) - v[i] * v[j] for j in range(d)] for i in range(d)]
        pu, pw = ([inner(row, x) for row in project] for x in (u, w))
        return sum(
            (k[n] * pu[i] * pu[j] + p[n] * pw[i] * pw[j]) ** 2
            for n in range(d)
            for i in range(d)
            for j in range(d)
        )

    held = failed = 0
    for n in range(60):
        k, p = ([Fraction(int(n)) for n in rng.integers(-3, 4, d)] for _ in range(2))
        if n % 2:
            k = [2 * a + b / 2 for a, b in zip(p, k, strict=True)]
        holds = inner(p, k) >= inner(p, p)
        assert away(k, p, u) == inner(p, p)
        others = [rational_unit(rng, d) for _ in range(4)]
        # u, turned a little towards w: 9999² + 200² = 10001²
        turned = [
            (9999 * a + 200 * b) / Fraction(10001) for a, b in zip(u, w, strict=True)
        ]
        found = [away(k, p, v) for v in (*others, turned, w)]
        if holds:
            assert min(found) >= inner(p, p)
            held += 1
        else:
            assert min(found) < inner(p, p)
            failed += 1
    assert min(held, failed) > 15


# Where random targets lead

WINDOWS = {
    # (2y, z) in a disc, s along it: where this was first counted
    "a cylinder": (0.22, lambda rng, n: _cylinder(rng, n)),
    # what the picture shows
    "the ball": (0.18, lambda rng, n: _ball(rng, n)),
}


def _cylinder(rng, n):
    far = 1.8 * np.sqrt(rng.random(n))
    turn = 2 * np.pi * rng.random(n)
    return np.stack([4 * rng.random(n), far * np.cos(turn) / 2, far * np.sin(turn)], 1)


def _ball(rng, n):
    way = rng.standard_normal((n, 3))
    way *= (2 * np.cbrt(rng.random(n)) / np.linalg.norm(way, axis=1))[:, None]
    return np.array([2, 0, 0]) + way * [1, 0.5, 1]


@pytest.mark.parametrize("window", WINDOWS)
def test_random_targets_leave_a_part_of_the_runs_in_a_second_valley(window):
    """600 runs, one for each target, within four standard errors; hardly one is
    singular."""
    share, draw = WINDOWS[window]
    runs = 600
    places = draw(np.random.default_rng(11), runs)
    target = np.array([forms_table(*forms_at(*place)) for place in places])
    flow = gradient_flow(target, *random_starts(runs, 11), times=(0, 300))
    away, least = distances(flow)
    rest = np.mean(away > least + 0.01)
    assert abs(rest - share) < 4 * np.sqrt(share * (1 - share) / runs)
    assert np.mean(flow.ratio < SINGULAR_BELOW) < 0.01


def test_a_second_valley_can_be_singular():
    """q₁ = X² + 2XY, q₂ = Y²: the nearest layer is smooth, a valley 1 away is not, and
    a part of the runs ends there."""
    q1, q2 = (1, 2, 0), (0, 0, 1)
    assert not nearest_is_singular(q1, q2) and nearest_ratio(q1, q2) > 0.01
    flow = gradient_flow(forms_table(q1, q2), *random_starts(200, 2), times=(0, 300))
    away, least = distances(flow)
    singular = flow.ratio < SINGULAR_BELOW
    assert 0.15 < singular.mean() < 0.45  # 0.29 of 400
    np.testing.assert_allclose(away[singular], 1, atol=1e-3)
    assert (least < 0.2).all()
    np.testing.assert_allclose(away[~singular], least[~singular], atol=1e-3)


# Types and formulas, under node


@pytest.mark.long
def test_the_facts_have_their_types_and_no_target_changes_them():
    facts = plain(learning_facts())
    check_types("LearningFacts", "singular/learning_facts", [facts])
    panel = LearningExplorer()
    before = panel.facts
    panel.controls["s"].value = 1.5
    assert panel.facts == before
    panel.close()
    assert {*facts["kinds"]} == {SMOOTH, CROSSING, BOUNDARY, CLOSURE, OFF}
    assert facts["flow"]["runs"] == RUNS


_TWINS = """
import { twinOf, formsAt, restsOf, kindOf, isOnCoin } from "singular/learning_twin";
const { pairs, places, coin } = given;
say({
  twins: pairs.map((pair: any) => twinOf(Float64Array.from(pair))),
  own: places.map((place: any) => twinOf(formsAt(place))),
  nearest: places.map((place: any) => restsOf(formsAt(place))[0].distance),
  kinds: places.map(kindOf),
  singular: places.map((place: any) => {
    return kindOf(place) === "crossing" || isOnCoin(place, coin);
  }),
});
"""


def random_places(count: int, seed: int) -> np.ndarray:
    """As the sliders have them: a fourth anywhere, and more where something is
    special."""
    rng = np.random.default_rng(seed)
    low, high, _ = np.array(list(RANGES.values())).T
    places = rng.uniform(low, high, (count, 3)).round(2)
    places[1::4, 1] = 0
    places[2::4, 1:] = 0
    places[2::16, 0] = 2
    for n in range(3, count, 4):  # on a sheet: s² − 4 = (3/2)²
        places[n] = 2.5, 0.02 * rng.integers(-40, 41), 0
        places[n, 2] = 1.5 * places[n, 1] * rng.choice([-1, 1])
    return places.round(2) + 0.0


def test_twins_rests_and_kinds_agree_with_python_at_1000_random_states():
    rng = np.random.default_rng(3)
    A = rng.standard_normal((1000, 2, 2))
    A[700:] = rng.standard_normal((300, 2, 1)) * rng.standard_normal((300, 1, 2))
    V = rng.standard_normal((1000, 1, 2))
    pairs = np.stack([np.stack(q, -1) for q in forms_of(A, V)], 1)
    places = random_places(1000, 4)
    named = [dict(zip(RANGES, place.tolist(), strict=True)) for place in places]
    found = ask(
        _TWINS,
        {
            "pairs": pairs.reshape(-1, 6).tolist(),
            "places": named,
            "coin": plain(learning_facts())["coin"],
        },
    )

    twins = np.array([[twin[name] for name in RANGES] for twin in found["twins"]])
    kinds = kind_of(*forms_at(*twins.T), tol=1e-7)
    assert (twins[:, 0] >= 0).all()
    assert (kinds[:700] == SMOOTH).all()
    assert {*kinds[700:]} == {CROSSING}
    own = np.array([[twin[name] for name in RANGES] for twin in found["own"]])
    places_on_s0 = places[:, 0] == 0
    np.testing.assert_allclose(own[~places_on_s0], places[~places_on_s0], atol=AGREE)

    q1, q2 = forms_at(*places.T)
    expected = nearest_layer(q1, q2).distance
    np.testing.assert_allclose(found["nearest"], expected, atol=1e-7)

    settings = [LearningSetting(*place) for place in places.tolist()]
    exact = [study_learning(setting) for setting in settings]
    assert found["kinds"] == [study.kind for study in exact]
    assert found["singular"] == [study.is_singular for study in exact]
    assert {*found["kinds"]} == {SMOOTH, CROSSING, BOUNDARY, CLOSURE, OFF}
    assert 200 < sum(found["singular"]) < 800


_ENDS = """
import { Layers, distanceOf } from "singular/learning_flow";
const { targets, weights, time, tolerance } = given;
say(targets.map((target: any, n: number) => {
  const one = new Layers(1, tolerance);
  one.weights.set(weights[n]);
  one.aim(Float64Array.from(target));
  one.advance(0.02);
  one.advance(time - 0.02);
  const forms = new Float64Array(6);
  one.forms(0, forms);
  const away = distanceOf(forms, one.target);
  return { weights: [...one.weights], forms: [...forms], ratio: one.ratio(0), away };
}));
"""


@pytest.mark.long
def test_the_flow_of_the_page_ends_where_the_flow_of_python_ends():
    runs = 100
    A, V = random_starts(runs, 5)
    weights = np.hstack([A.reshape(runs, 4), V.reshape(runs, 2)])
    elsewhere = 0
    for kind in ("gaussian", "realisable", "dotted", "dotted, noisy"):
        target = random_targets(kind, runs, 5)
        flow = gradient_flow(target, A, V, times=(0, TIME), rtol=1e-9)
        given = {
            "targets": table_forms(target).tolist(),
            "weights": weights.tolist(),
            "time": TIME,
            "tolerance": TOLERANCE,
        }
        found = ask(_ENDS, given)
        ends = np.array([one["forms"] for one in found])
        expected = table_forms(product_table(flow.A[-1], flow.V[-1]))
        gap = np.abs(ends - expected).max(axis=1)
        assert np.quantile(gap, 0.97) < 1e-4
        # A run that starts between two valleys may be led into either of them.
        elsewhere += (gap > 1e-3).sum()
        away = [one["away"] for one in found]
        same = gap < 1e-4
        np.testing.assert_allclose(
            np.array(away)[same], distances(flow)[0][same], atol=1e-3
        )
        ratio = np.array([one["ratio"] for one in found])
        clear = same & (flow.ratio > 1e-4)
        np.testing.assert_allclose(ratio[clear], flow.ratio[clear], rtol=0.05)
        assert ((ratio < SINGULAR_BELOW) == (flow.ratio < SINGULAR_BELOW)).mean() > 0.99
    assert elsewhere <= 2


def test_the_page_draws_normal_numbers():
    program = """
    import { normals } from "singular/learning_flow";
    const next = normals(given);
    say(Array.from({ length: 20000 }, next));
    """
    values = np.array(ask(program, 7))
    assert abs(values.mean()) < 0.03 and values.std() == pytest.approx(1, abs=0.03)
    assert np.mean(np.abs(values) < 1.96) == pytest.approx(0.95, abs=0.01)
    assert values.tolist() != ask(program, 8)
