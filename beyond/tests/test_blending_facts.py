"""A token turned by ω and two heads turned by g: the identities exactly, the facts, and
the page's arithmetic at random states."""

import random
from fractions import Fraction

import numpy as np
import pytest
from node import ask, check_types

import neuroviz as nv
import neuroviz_beyond as nb
from neuroviz.attention.expected import alpha
from neuroviz.kit.plot import plain
from neuroviz.rank.elimination import exact_rank
from neuroviz.rank.field import PrimeField
from neuroviz_beyond.blending import heads, special_layer
from neuroviz_beyond.blending.blending_facts import (
    blending_facts,
    blending_picture,
    say_count,
)
from neuroviz_beyond.blending.panel import BlendingExplorer
from neuroviz_beyond.blending.special_layer import CubeRootNumber
from neuroviz_beyond.blending.study import BlendingSetting, study_blending

AGREE = 1e-9
OMEGA = CubeRootNumber(Fraction(0), Fraction(1))


def number(value) -> CubeRootNumber:
    return CubeRootNumber(Fraction(value))


# Theorem N, step (a)


def test_numbers_of_the_field_multiply_as_complex_numbers_do():
    draw = random.Random(1)
    omega = complex(-0.5, 3**0.5 / 2)

    def as_complex(x):
        return float(x.a) + float(x.b) * omega

    for _ in range(100):
        one, two = (
            CubeRootNumber(
                Fraction(draw.randint(-9, 9), 7), Fraction(draw.randint(-9, 9))
            )
            for _ in range(2)
        )
        for exact, floating in (
            (one * two, as_complex(one) * as_complex(two)),
            (one + two, as_complex(one) + as_complex(two)),
        ):
            assert as_complex(exact) == pytest.approx(floating, abs=AGREE)
    assert OMEGA * OMEGA * OMEGA == number(1) != OMEGA


def test_orthogonal_tokens_of_any_length_come_back_at_the_cube_roots_exactly():
    draw = random.Random(2)
    for _ in range(50):
        x, y, scale = (Fraction(draw.randint(1, 9), draw.randint(1, 9)) for _ in "123")
        one = [number(x), number(y)]
        two = [number(-scale * y), number(scale * x)]
        before = special_layer.special_layer([one, two])
        for power in (OMEGA, OMEGA * OMEGA):
            turned = [power * entry for entry in one]
            assert turned != one
            assert special_layer.special_layer([turned, two]) == before
        tilted = [two[0] + one[0], two[1] + one[1]]
        turned = [OMEGA * entry for entry in one]
        before = special_layer.special_layer([one, tilted])
        assert special_layer.special_layer([turned, tilted]) != before


def test_the_tokens_have_the_product_that_the_slider_says():
    for steps in range(11):
        slant = Fraction(steps, 20)
        one, two = special_layer.tokens_of(slant)
        assert sum(x * y for x, y in zip(one, two, strict=True)) == slant
        assert one[0] * two[1] - one[1] * two[0] == 1  # they are independent
        assert special_layer.returns(slant) == ([0] if steps else [0, 120, 240])


def test_the_layer_is_that_of_numpy_and_the_distance_is_zero_only_at_the_places():
    for slant in (0.0, 0.05, 0.5):
        one, two = special_layer.tokens_of(Fraction(slant))
        found = []
        for degrees in range(360):
            X = np.array([one, two], dtype=float).T.astype(complex)
            X[:, 0] *= np.exp(1j * np.radians(degrees))
            expected = X @ X.T @ X
            np.testing.assert_allclose(
                np.array(special_layer.at_angle(slant, degrees)).T, expected, atol=AGREE
            )
            if special_layer.distance(slant, degrees) < AGREE:
                found.append(degrees)
        assert found == special_layer.returns(Fraction(slant))


@pytest.mark.parametrize(
    ("angle", "slant", "is_same"),
    [(0, 0, True), (120, 0, True), (240, 0, True), (360, 0, True), (119, 0, False)]
    + [(0, 0.1, True), (120, 0.1, False), (240, 0.05, False), (360, 0.5, True)],
)
def test_what_is_said_of_a_token(angle, slant, is_same):
    study = study_blending(BlendingSetting(angle=angle, slant=slant))
    assert study.is_same == is_same == (study.distance < AGREE)
    panel = BlendingExplorer(state=f"angle={angle};slant={slant}")
    assert ("the same output" in panel.description) == is_same
    assert ("Theorem N needs" in panel._badges) == (slant != 0)
    assert ("3 places" if slant == 0 else "1 place<") in panel._badges


# Theorem M


def exact(matrix):
    return np.vectorize(Fraction)(matrix.astype(object))


@pytest.mark.parametrize("seed", range(5))
def test_heads_mixed_by_any_invertible_matrix_have_the_same_outputs_exactly(seed):
    rng = np.random.default_rng(seed)
    A, V, X = (exact(part) for part in heads.two_heads(3, 2, False, seed))
    while True:
        a, b, c, d = (Fraction(int(x)) for x in rng.integers(-4, 5, 4))
        if a * d != b * c:
            break
    det = a * d - b * c
    mixed = np.stack([a * A[0] + b * A[1], c * A[0] + d * A[1]])
    # V g⁻¹, with g⁻¹ = [[d, −b], [−c, a]] / det
    along = np.stack([d * V[0] - c * V[1], a * V[1] - b * V[0]]) / det
    before = heads.outputs(A, V, X)
    assert (heads.outputs(mixed, along, X) == before).all()
    assert (heads.outputs(mixed, V, X) != before).any()


def test_a_turn_is_such_a_mixture():
    for degrees in range(0, 360, 7):
        weights = heads.two_heads(3, 2, False, 0)
        A, V = (heads.turned(part, degrees) for part in weights[:2])
        np.testing.assert_allclose(
            heads.outputs(A, V, weights.X), heads.outputs(*weights), atol=1e-9
        )


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("head_dim", [1, 2, 3, 4])
@pytest.mark.parametrize("width", [2, 3, 4])
def test_ranks_are_those_of_floating_point_and_are_kept_where_they_have_to_be(
    width, head_dim, shared
):
    rank = min(head_dim, width)
    for seed in (0, 5):
        A = heads.two_heads(width, head_dim, shared, seed).A
        found = heads.ranks(width, head_dim, shared, seed)
        assert len(found) == 361
        for degrees in range(0, 361, 5):
            turned = heads.turned(A, degrees)
            sizes = np.linalg.svd(turned, compute_uv=False)
            floating = (sizes > 1e-9 * sizes.max()).sum(axis=1)
            assert found[degrees] == tuple(floating), degrees
        assert all(found[quarter] == (rank, rank) for quarter in (0, 90, 180, 270, 360))
        most = rank if shared else min(width, 2 * rank)
        assert max(map(max, found)) == most


def test_a_rank_is_that_modulo_a_prime():
    rng = np.random.default_rng(3)
    over = PrimeField()
    for _ in range(60):
        rows, columns, rank = rng.integers(1, 5, 3)
        matrix = rng.integers(-3, 4, (rows, rank)) @ rng.integers(
            -3, 4, (rank, columns)
        )
        assert heads.rank_of(matrix.tolist()) == exact_rank(over.reduce(matrix), over)


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("head_dim", [1, 2, 3, 4])
@pytest.mark.parametrize("width", [2, 3, 4])
def test_the_count_is_that_of_the_theorem_and_of_the_exact_rank(width, head_dim, n):
    count = heads.count(width, head_dim, n)
    net = nb.Transformer((width, width), (head_dim,), heads=n)
    rank = nv.measure_dimension(net).value
    assert count.measured == n * (alpha(head_dim, width) + width**2) - rank
    if n <= width:
        assert count.formula == n * max(1, n - max(width - head_dim, 0) ** 2)
        assert count.formula == count.measured
        assert nb.expected_dimension(net).value == rank
    else:
        assert count.formula is None
    setting = BlendingSetting("heads", width=width, head_dim=head_dim, heads=n)
    formula, measured = say_count(study_blending(setting))
    assert f"measured: {count.measured} silent" in measured
    assert ("no formula" in formula) == (n > width)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("head_dim=3", "all turns are allowed"),
        ("head_dim=2", "the rank goes up to 3 > a = 2"),
        ("head_dim=2;turn=90", "both ranks are 2"),
        ("head_dim=2;shared=yes", "these special weights blend"),
        ("head_dim=2;follow=no", "the outputs move"),
        ("head_dim=2;follow=no;turn=360", "here the outputs are the same"),
        ("head_dim=2;heads=3", "6 silent directions, 3 of them blend"),
        ("heads=4", "H > d has no formula"),
    ],
)
def test_what_is_said_of_heads(state, words):
    panel = BlendingExplorer(state=f"view=heads;{state}")
    assert words in panel.description
    assert "popovertarget" in panel._badges
    is_outside = state in ("heads=4", "head_dim=2;shared=yes")
    assert ("outside hypotheses" in panel._badges) == is_outside


def test_the_code_behind_the_kernel_gives_its_number():
    panel = BlendingExplorer(state="view=heads;head_dim=2;heads=3")
    codes = [part.split("</pre>")[0] for part in panel._badges.split("<pre>")[1:]]
    (code,) = [one for one in codes if "measure_dimension" in one]
    assert eval(code, {"nv": nv, "nb": nb}) == 6


# The page

MOVED = """
import { blendAt, distanceAt, returnsAt, tokenAt } from "beyond/blending_layers";
say(given.map(([facts, slant, angle, turn, follow]: any) => facts.token
  ? [tokenAt(facts.token, slant, angle), distanceAt(facts.token, slant, angle),
     returnsAt(facts.token, slant)]
  : blendAt(facts.heads.formulas, turn, follow)));
"""


def some_setting(draw: random.Random, view: str) -> BlendingSetting:
    return BlendingSetting(
        view,
        angle=draw.choice([0, 90, 120, 240, 360, draw.randint(0, 360)]),
        slant=draw.choice([0.0, draw.randint(0, 10) / 20]),
        turn=draw.choice([0, 90, 180, 270, 360, draw.randint(0, 360)]),
        width=draw.randint(2, 4),
        head_dim=draw.randint(1, 4),
        heads=draw.randint(2, 4),
        shared=draw.random() < 0.3,
        follow=draw.random() < 0.7,
        seed=draw.randint(0, 5),
    )


@pytest.mark.long
def test_the_page_moves_1000_random_states_as_python_does():
    draw = random.Random(4)
    settings = [some_setting(draw, view) for view in ("token", "heads") * 500]
    given = [
        [plain(blending_facts(study_blending(s))), s.slant, s.angle, s.turn, s.follow]
        for s in settings
    ]
    for s, found in zip(settings, ask(MOVED, given), strict=True):
        if s.view == "token":
            columns, far, returns = found
            expected = special_layer.at_angle(s.slant, s.angle)
            seen = [[complex(*entry) for entry in column] for column in columns]
            np.testing.assert_allclose(seen, expected, atol=AGREE)
            assert far == pytest.approx(
                special_layer.distance(s.slant, s.angle), abs=AGREE
            )
            assert returns == special_layer.returns(s.exact_slant)
            continue
        weights = heads.two_heads(s.width, s.head_dim, s.shared, s.seed)
        A = heads.turned(weights.A, s.turn)
        V = heads.turned(weights.V, s.turn) if s.follow else weights.V
        scale = abs(heads.outputs(*weights)).max()
        np.testing.assert_allclose(found["A"], A, atol=AGREE)
        np.testing.assert_allclose(found["V"], V, atol=AGREE)
        np.testing.assert_allclose(
            found["outputs"], heads.outputs(A, V, weights.X) / scale, atol=AGREE
        )


@pytest.mark.long
def test_facts_of_random_places_have_the_form_that_the_page_expects():
    draw = random.Random(5)
    pictures = [
        blending_picture(study_blending(some_setting(draw, view)))
        for view in ("token", "heads") * 6
    ]
    facts = [plain(one.facts) for one in pictures]
    check_types("BlendingFacts", "beyond/blending_facts", facts)
    places = [plain(one.place) for one in pictures]
    check_types("BlendingPlace", "beyond/blending_facts", places)
