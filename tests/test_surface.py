"""The slices of Figure 1: equations by sympy, points by a contour, ranks by the
network."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import inf

import numpy as np
import pytest
import sympy as sp

from neuroviz.singular.chart import chart_of, half_sizes, in_drawing, singular_places
from neuroviz.singular.curves import (
    Window,
    _cosines,
    null_vectors,
    polynomial,
    zeros,
)
from neuroviz.singular.forms import (
    BOUNDARY,
    CLOSURE,
    CROSSING,
    OFF,
    SMOOTH,
    discriminant,
    forms_of,
    kind_of,
    minors,
    resultant,
)
from neuroviz.singular.surface import SLICES, Slice, s1k, s3

X, Y, m, t, x, y, z = sp.symbols("X Y m t x y z")
ALPHAS = (1, Fraction(1, 2), 2, 3, -3, Fraction(7, 2))
KAPPAS = (-1, 0, 2, Fraction(1, 2), -3, 5)
NAMED = [SLICES["S1"], *map(s1k, KAPPAS), SLICES["S2"], *map(s3, ALPHAS), SLICES["S4"]]


RANDOM = [Slice.random(seed) for seed in (1, 4, 2, 7)]
SOME = [*SLICES.values(), s3(2), *RANDOM[1:]]


def label(part: Slice) -> str:
    return " ".join(
        [part.name, *(f"{name}={value}" for name, value in part.parameters)]
    )


every_slice = pytest.mark.parametrize("part", SOME, ids=label)
named_slice = pytest.mark.parametrize("part", NAMED, ids=label)


def parameter(part: Slice):
    return part.parameters[0][1] if part.parameters else None


# The pairs and the surfaces of "Figure 1", typed from the page and not from the code.
TABLE = {
    "S1": (
        lambda _: (X**2 + x * X * Y + Y**2, y * (X**2 - Y**2) + z * X * Y),
        lambda _: z**2 - (x**2 - 4) * y**2,
    ),
    "S1k": (
        lambda k: (X**2 + x * X * Y + Y**2, y * X**2 + z * X * Y + k * y * Y**2),
        lambda k: (z - x * y) * (z - k * x * y) + (k - 1) ** 2 * y**2,
    ),
    "S2": (
        lambda _: ((1 + x) * X**2 + (x - 1) * Y**2, y * (X**2 + Y**2) + z * X * Y),
        lambda _: 4 * y**2 - (1 - x**2) * z**2,
    ),
    "S3": (
        lambda a: (
            X**2 + a * x * X * Y + y * Y**2,
            x * X**2 + a * y * X * Y + z * Y**2,
        ),
        lambda a: (z - x * y) ** 2 - a**2 * (y - x**2) * (x * z - y**2),
    ),
    "S4": (
        lambda _: (X**2 + x * X * Y + y * Y**2, z * X**2 + X * Y + Y**2),
        lambda _: (1 - y * z) ** 2 - (1 - x * z) * (x - y),
    ),
}


@named_slice
def test_a_named_slice_holds_the_pairs_and_the_surface_of_the_table(part):
    pair, surface = (entry(parameter(part)) for entry in TABLE[part.name])
    for form, expected in zip(part.forms(x, y, z), pair, strict=True):
        a, b, c = form
        assert sp.expand(a * X**2 + b * X * Y + c * Y**2 - expected) == 0
    ratio = sp.cancel(part.resultant(x, y, z) / surface)
    assert ratio.is_number and ratio != 0


RULINGS = {  # the lines with root [m:1] of "Figure 1", with a free coordinate t
    "S1": lambda _: (-(m + 1 / m), t, t * (1 - m**2) / m),
    "S3": lambda a: (t, -a * m * t - m**2, (a**2 - 1) * m**2 * t + a * m**3),
    "S4": lambda _: (-(m**2 + t) / m, t, -(m + 1) / m**2),
}


@pytest.mark.parametrize(
    "part", [part for part in NAMED if part.name in RULINGS], ids=label
)
def test_the_rulings_of_the_table_lie_on_the_surface_and_are_those_solved_for(
    part,
):
    line = RULINGS[part.name](parameter(part))
    for a, b, c in part.forms(*line):
        assert sp.simplify(a * m**2 + b * m + c) == 0
    assert sp.simplify(part.resultant(*line)) == 0
    for root in (2, -3, Fraction(1, 2), Fraction(-5, 3)):
        point, direction = part.lines(np.arctan2([1.0], [float(root)]))
        for s in (0, 1, 5):
            away = (
                np.array(
                    [sp.sympify(entry).subs({m: root, t: s}) for entry in line],
                    dtype=float,
                )
                - point
            )
            np.testing.assert_allclose(np.cross(away, direction), 0, atol=1e-10)


def test_the_angle_charts_of_the_table_lie_on_their_surfaces():
    """S1: s = ±2 cosh τ, z = 2y sinh τ; S2: s = cos θ, y = (z/2) sin θ."""
    for sign in (-1, 1):
        assert (
            sp.simplify(
                SLICES["S1"].resultant(sign * 2 * sp.cosh(t), y, 2 * y * sp.sinh(t))
            )
            == 0
        )
    assert sp.simplify(SLICES["S2"].resultant(sp.cos(t), z * sp.sin(t) / 2, z)) == 0


CURVES = {
    "S1": lambda _: ((t, 0, 0), t**2 - 4),
    "S1k": lambda _: ((t, 0, 0), t**2 - 4),
    "S2": lambda _: ((t, 0, 0), 1 - t**2),
    "S3": lambda a: ((t, t**2, t**3), (a**2 - 4) * t**2),
    "S4": lambda _: ((t, t, 1 / t), t * (t - 4)),
    # the singular curve, and an expression with the sign of the discriminant of the
    # common form
}


@named_slice
def test_the_singular_curve_of_the_table_is_all_of_it_and_its_kinds_are_right(part):
    curve, sign = CURVES[part.name](parameter(part))
    q1, q2 = part.forms(*curve)
    assert all(sp.simplify(minor) == 0 for minor in minors(q1, q2))
    ratio = sp.cancel(discriminant(q1) / sign) if sign != 0 else 1
    assert discriminant(q1) == 0 if sign == 0 else ratio.is_number and ratio > 0
    # No other point: the ideal of the minors contains what vanishes on the curve (S1,
    # S2: y and z).
    ideal = sp.groebner(
        [sp.nsimplify(sp.expand(m)) for m in minors(*part.forms(x, y, z))], x, y, z
    )
    others = {"S3": (y - x**2, z - x**3), "S4": (x - y, x * z - 1)}.get(
        part.name, (y, z)
    )
    # S3 at infinity of its ratio, and S4, need no more; S1 and S2 hold y², yz, z²
    # instead of y, z.
    power = 1 if part.name in ("S3", "S4") else 2
    assert all(ideal.contains(sp.expand(other**power)) for other in others)


@named_slice
def test_the_pieces_and_pinch_points_are_those_of_the_table(part):
    curve, sign = CURVES[part.name](parameter(part))
    pieces = part.singular_curve(count=40)
    assert pieces
    for piece in pieces:
        for p in piece.points:
            expected = [
                float(sp.sympify(entry).subs(t, sp.Float(p[0], 30))) for entry in curve
            ]
            np.testing.assert_allclose(p, expected, atol=1e-12)
        middle = sp.sympify(sign).subs(t, sp.Float(piece.points[20, 0], 30))
        assert piece.kind == (
            CROSSING if middle > 0 else CLOSURE if middle < 0 else BOUNDARY
        )
    pinches = {"S1": [-2, 2], "S1k": [-2, 2], "S2": [-1, 1], "S3": [0], "S4": [4]}[
        part.name
    ]
    points = (
        []
        if sign == 0
        else [[float(sp.sympify(e).subs(t, s)) for e in curve] for s in pinches]
    )
    np.testing.assert_array_equal(part.pinch_points(), np.array(points).reshape(-1, 3))
    ends = np.array([piece.points[end] for piece in pieces for end in (0, -1)])
    for p in points:
        assert part.kind(*map(Fraction, p)) == part.kind(*p) == BOUNDARY
        ends_here = ends[np.linalg.norm(ends - p, axis=-1) < 1e-9]
        assert len(ends_here) == 2, "one piece ends here, and one begins"
        np.testing.assert_array_equal(ends_here, [p, p])


@pytest.mark.parametrize("name, make, value", [("S1k", s1k, 1), ("S3", s3, 0)])
def test_a_parameter_at_which_all_of_the_surface_is_singular_is_refused(
    name, make, value
):
    """There R is a square, so this is not a matter of taste."""
    assert sp.expand(TABLE[name][1](value) - (z - x * y) ** 2) == 0
    with pytest.raises(ValueError, match="singular; got"):
        make(value)


def test_next_to_the_dotted_curve_nothing_is_taken_for_a_layer():
    """R is of second order there, so a bound on R alone would let these pass."""
    rng = np.random.default_rng(0)
    s = 2 - 10.0 ** rng.uniform(-5, 0, 2000)
    turn = rng.uniform(0, 2 * np.pi, 2000)
    size = 10.0 ** rng.uniform(-6, -4, 2000)
    p = s, size * np.cos(turn), size * np.sin(turn)
    assert (SLICES["S1"].kind(*p) == OFF).all()
    assert (np.abs(SLICES["S1"].resultant(*p)) < 1e-7).all()


def on_the_surface(part: Slice, window: Window, count: int, seed: int) -> np.ndarray:
    """Points where R changes sign along random segments, by bisection, which knows
    nothing of rulings."""
    rng = np.random.default_rng(seed)
    stretch = np.where(
        np.array(window.stretch) == 0, 1 / min(window.half_length, 1e9), window.stretch
    )
    ends = (
        np.array(window.centre)
        + window.radius * rng.uniform(-1, 1, (2, 200_000, 3)) / stretch
    )
    inside, outside = ends[:, window.inside(ends).all(0)]
    change = part.resultant(*inside.T) * part.resultant(*outside.T) < 0
    inside = inside[change][:count]
    outside = outside[change][:count]
    sign = np.sign(part.resultant(*inside.T))
    for _ in range(60):
        middle = (inside + outside) / 2
        same = (np.sign(part.resultant(*middle.T)) == sign)[:, None]
        inside = np.where(same, middle, inside)
        outside = np.where(same, outside, middle)
    return (inside + outside) / 2


def distance_from_strips(part: Slice, strips, points: np.ndarray) -> np.ndarray:
    """How far each point is from the ruling of its root, on a strip with this root; inf
    if none has it."""
    found = np.full(len(points), inf)
    for i, p in enumerate(points):
        for theta, strip in product(
            (root.angle / 2 for root in part.roots(*p, tol=1e-6)), strips
        ):
            if strip.theta[0] == strip.theta[-1]:  # a plane
                plane = strip.points(2).reshape(-1, 3)
                normal = np.linalg.svd(plane - plane[0])[2][2]
                if abs(np.exp(2j * theta) - np.exp(2j * strip.theta[0])) < 1e-6:
                    found[i] = min(found[i], abs(normal @ (p - plane[0])))
            elif any(
                strip.theta[0] <= angle <= strip.theta[-1]
                for angle in (theta, theta + np.pi)
            ):
                point, direction = part.lines(np.array([theta]))
                found[i] = min(found[i], np.linalg.norm(np.cross(p - point, direction)))
    return found


@every_slice
def test_where_the_resultant_changes_sign_the_chart_has_a_ruling(part):
    points = on_the_surface(part, part.window, 40, seed=0)
    assert len(points) == 40, "the surface has to be met often enough to say something"
    strips = part.rulings()
    assert (distance_from_strips(part, strips, points) < 1e-6).all()
    most = max(range(len(strips)), key=lambda i: np.ptp(strips[i].theta))
    fewer = strips[:most] + strips[most + 1 :]
    assert (distance_from_strips(part, fewer, points) == inf).any(), (
        "a missing strip has to be noticed"
    )


@every_slice
def test_every_point_of_the_chart_is_a_layer_in_the_window_with_the_root_of_its_ruling(
    part,
):
    strips = part.rulings(count=60)
    assert strips
    for strip in strips:
        assert strip.theta.shape == (60,) and (np.diff(strip.theta) >= 0).all()
        mesh = strip.points(7)
        window = part.window
        assert mesh.shape == (60, 7, 3) and np.isfinite(mesh).all()
        grown = replace(
            window, radius=window.radius + 1e-6, half_length=window.half_length + 1e-6
        )
        assert grown.inside(mesh).all()
        forms = part.forms(*np.moveaxis(mesh, -1, 0))
        size = np.sqrt(sum(c**2 for q in forms for c in q))
        assert (np.abs(resultant(*forms)) <= 1e-12 * size**4 + 1e-18).all()
        assert np.isin(kind_of(*forms), (SMOOTH, CROSSING, BOUNDARY)).all()
        u = np.cos(strip.theta)[:, None]
        v = np.sin(strip.theta)[:, None]
        for a, b, c in forms:
            assert (
                np.abs(a * u * u + b * u * v + c * v * v) <= 1e-9 * size + 1e-12
            ).all()
        moved = mesh + 0.05
        assert (part.kind(*np.moveaxis(moved, -1, 0)) == OFF).mean() > 0.9, (
            "beside it are no layers"
        )


def test_a_line_at_infinity_is_none_and_one_far_out_is():
    nowhere, far = SLICES["S1"].lines(np.array([0.0, 1e-6]))[0]
    assert np.isnan(nowhere).all() and np.isfinite(far).all()


@every_slice
def test_a_ruling_meets_the_singular_curve_at_most_twice_and_where_it_says(part):
    theta = np.random.default_rng(0).uniform(0.1, np.pi - 0.1, 20)
    base, along = part.lines(theta)
    places = np.array(singular_places(part, theta, base - along, base + along)).T
    for here, direction, found in zip(base, along, places, strict=True):
        found = found[np.abs(found) < 1e6]
        for u in found:
            at = here + u * direction
            singular = part.nearest_singular(*at)
            assert np.linalg.norm(singular - at) <= 1e-6 * max(1, np.abs(at).max())
            assert part.kind(*singular) in (CROSSING, BOUNDARY)
        elsewhere = np.linspace(-3, 3, 20)
        elsewhere = elsewhere[(np.abs(elsewhere[:, None] - found) > 1e-3).all(axis=1)]
        assert (part.kind(*(here + elsewhere[:, None] * direction).T) == SMOOTH).all()
    assert np.isfinite(places).any() or label(part) in (
        "S3 alpha=1",
        "random 1",
        "random 4",
    )


def singular_point(part: Slice, angle: float) -> np.ndarray:
    """The solution of sin·q₁ = cos·q₂ by numpy; a point of the curve that no polynomial
    was needed for."""
    *steps, origin = [np.sin(angle), -np.cos(angle)] @ np.array(part.pairs, dtype=float)
    return np.linalg.solve(np.array(steps).T, -origin)


@pytest.mark.parametrize("part", [s3(1), s3(3), SLICES["S4"], *RANDOM[:3]], ids=label)
def test_each_ratio_gives_one_point_of_the_curve(part):
    window = Window(30.0)
    pieces = replace(part, window=window).singular_curve(count=600)
    for angle in np.random.default_rng(0).uniform(0.05, np.pi - 0.05, 40):
        p = singular_point(part, angle)
        assert (
            np.abs(minors(*part.forms(*p))).max()
            < 1e-6 * max(1, np.abs(part.forms(*p)).max()) ** 2
        )
        if not window.inside(p):
            continue
        nearest = min(
            pieces, key=lambda piece: np.linalg.norm(piece.points - p, axis=-1).min()
        )
        assert np.linalg.norm(nearest.points - p, axis=-1).min() < 0.5, (
            "the piece passes by"
        )
        np.testing.assert_allclose(
            part.nearest_singular(*p), p, atol=1e-6 * max(1, np.abs(p).max())
        )
        if (
            len(part.pinch_points()) == 0
            or np.linalg.norm(part.pinch_points() - p, axis=-1).min() > 0.1
        ):
            assert part.kind(*p) == nearest.kind


@pytest.mark.parametrize("seed", range(4))
def test_pinch_points_are_where_the_discriminant_of_the_common_form_changes_sign(seed):
    part = Slice.random(seed)
    signs = []
    for angle in np.linspace(0, np.pi, 4001) + 1e-4:
        q = [np.cos(angle), np.sin(angle)] @ np.array(
            part.forms(*singular_point(part, angle))
        )
        signs.append(np.sign(discriminant(q)))
    pinches = part.pinch_points()
    assert len(pinches) == np.count_nonzero(np.diff(signs)) <= 4
    assert (part.kind(*pinches.T) == BOUNDARY).all()
    assert part.kind(*(singular_point(part, 0.7))) in (CROSSING, CLOSURE)


@pytest.mark.parametrize("part", [*NAMED, *RANDOM[:3]], ids=label)
def test_forms_that_change_places_have_the_same_pinch_points_and_pieces(part):
    """A ratio goes to its inverse, and the infinite one to 0."""
    exchanged = Slice(
        "exchanged",
        part.origin[::-1],
        tuple(pair[::-1] for pair in part.directions),
        window=part.window,
    )
    np.testing.assert_allclose(exchanged.pinch_points(), part.pinch_points(), atol=1e-9)
    kinds, same_kinds = (
        sorted(piece.kind for piece in one.singular_curve())
        for one in (part, exchanged)
    )
    assert kinds == same_kinds


def test_a_slice_whose_singular_points_fill_a_plane_or_a_surface_says_so():
    zero = (0, 0, 0)
    a = (1, 0, 0)
    b = (0, 1, 0)
    c = (0, 0, 1)
    with pytest.raises(ValueError, match="fill a plane"):
        Slice(
            "flat", (a, zero), ((b, zero), (c, zero), (zero, (1, 0, 1)))
        ).singular_curve()
    # S1k at its forbidden value
    square = Slice(
        "square", ((1, 0, 1), zero), ((b, zero), (zero, (1, 0, 1)), (zero, b))
    )
    for ask in (square.singular_curve, square.pinch_points):
        with pytest.raises(ValueError, match="fill a surface"):
            ask()


@every_slice
def test_the_nearest_singular_point_is_on_the_curve_and_none_is_nearer(part):
    """Also beside a pinch point."""
    pieces = replace(part, window=Window(20.0)).singular_curve(count=4000)
    curve = np.concatenate([piece.points for piece in pieces])
    near = curve[np.linalg.norm(curve, axis=-1) < 5]
    rng = np.random.default_rng(0)
    for p in near[rng.integers(0, len(near), 12)] + rng.normal(0, 0.05, (12, 3)):
        found = np.array(part.nearest_singular(*p))
        assert (
            np.linalg.norm(found - p) <= np.linalg.norm(curve - p, axis=-1).min() + 1e-9
        )
        assert part.kind(*found, tol=1e-8) in (CROSSING, BOUNDARY, CLOSURE)


def test_slices_that_hold_no_surface_are_refused():
    rng = np.random.default_rng(0)
    digits = [-3, -2, -1, 1, 2, 3]
    f, g, _, k = (
        forms_of(rng.choice(digits, (2, 2)), rng.choice(digits, (1, 2)))
        for _ in range(4)
    )
    middle = (np.array(f) + np.array(g)).tolist()
    one, *others = [
        forms_of(A, [[1, 2]])
        for A in np.random.default_rng(0).integers(-3, 4, (4, 2, 2))
    ]
    # the root [−3:1]
    shared = [forms_of(A, [[1, 3]]) for A in ([[1, 2], [3, 4]], [[0, 1], [2, 1]])]
    for origin, directions, said in (
        (k, (f, g, middle), "linearly independent"),
        (one, others, "have a common factor"),
        (
            ((0, 0, 0), (0, 0, 0)),
            (*shared, f),
            "a plane of functions of own has one root",
        ),
        (k, (f, g, (1, 2, 3)), "pair of forms"),
    ):
        with pytest.raises(ValueError, match=said):
            Slice("own", origin, directions)
    with pytest.raises(
        ValueError, match=r"has the parameters \['alpha'\]; got \['beta'\]"
    ):
        SLICES["S3"].at(beta=2)


def test_the_slices_are_named_and_a_float_parameter_is_the_rational_number_that_it_is():
    assert list(SLICES) == ["S1", "S1k", "S2", "S3", "S4"]
    assert SLICES["S3"].at(alpha=2.0) == s3(2) and hash(s3(2)) == hash(s3(2.0))
    assert s3(0.1).parameters == (("alpha", Fraction(0.1)),)
    assert s1k(-1).forms(x, y, z) == SLICES["S1"].forms(x, y, z)


@pytest.mark.parametrize(
    "zero", [0, 3, Fraction(1, 3), Fraction(-7, 1234), Fraction(9999, 10_000)]
)
def test_a_zero_of_a_form_that_is_a_small_fraction_is_exact(zero):
    """Beside √2, which is none; the zero [0:1] is where a form has a lower degree than
    is said."""
    linear = polynomial(-zero, 1)
    other = polynomial(-2, 0, 1)
    found = zeros(linear * other, 4)
    exact = [(u, v) for u, v in found if isinstance(u, int)]
    assert exact == [(0, 1), (Fraction(zero).denominator, Fraction(zero).numerator)]
    slopes = sorted(v / u for u, v in found if not isinstance(u, int))
    assert slopes == pytest.approx([-(2**0.5), 2**0.5])


def test_a_zero_with_a_larger_denominator_is_near():
    ((u, v),) = zeros(polynomial(-1, 10_001), 1)
    assert v / u == pytest.approx(
        1 / 10_001, rel=1e-12
    ) and u**2 + v**2 == pytest.approx(1)


@pytest.mark.parametrize(("lo", "hi"), [(0.1, 0.7), (-1 / 3, 1e5), (1e-9, 0.3)])
def test_an_interval_is_sampled_from_end_to_end_and_denser_there(lo, hi):
    t = _cosines(lo, hi, 101)
    steps = np.diff(t)
    assert (t[0], t[-1]) == (lo, hi) and (steps > 0).all()
    assert t + t[::-1] == pytest.approx(np.full(101, lo + hi)), "from both ends alike"
    assert steps[0] == pytest.approx(
        (hi - lo) * (1 - np.cos(np.pi / 100)) / 2, rel=1e-6
    )
    assert steps.max() > 50 * steps[0]


@pytest.mark.parametrize("name", SLICES)
def test_the_window_of_a_slice_shows_its_singular_curve_large_and_its_pinch_points(
    name,
):
    """In the drawing, which reaches to 1 across; a pinch point stands in its inner
    part, off the middle."""
    part = SLICES[name]
    chart = chart_of(part)
    curve = in_drawing(part, np.concatenate([piece.points for piece in chart.pieces]))
    reached = np.ptp(curve, axis=0)
    assert (reached[reached > 1e-9] > 0.4).all() and reached.any()
    assert len(chart.pinches) == len(part.pinch_points()) > 0
    away = np.linalg.norm(in_drawing(part, chart.pinches) / half_sizes(part), axis=1)
    assert (away < 0.9).all() and (name == "S3" or (away > 0.3).all())


def test_a_line_enters_and_leaves_a_cylinder_by_its_side_or_by_its_ends():
    cylinder = Window(5.0, stretch=(0.0, 1.0, 1.0), half_length=3.0)
    point = np.array([[0.0, 4.0, 0.0], [0.0, 4.0, 0.0], [0.0, 4.0, 0.0]])
    direction = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 1.5]])
    enters, leaves = cylinder.cut(point, direction)
    np.testing.assert_allclose(enters, [[-3, 4, 0], [0, 4, -3], [-2, 4, -3]])
    np.testing.assert_allclose(leaves, [[3, 4, 0], [0, 4, 3], [2, 4, 3]])
    missed = cylinder.cut(np.array([0.0, 6.0, 0.0]), np.array([1.0, 0.0, 0.0]))
    assert np.isnan(missed).all()


def test_a_null_vector_holds_no_rounding_of_its_rows():
    """The third entry of the last row is rounding: a vector that ended in it would not
    be at infinity."""
    rows = [[1.0, 0.0, 0.0, 0.5], [0.0, 1.0, 2.0, 0.0], [0.0, 0.0, 1e-13, 1.0]]
    assert null_vectors(rows) == [[0, -2, 1, 0]]
