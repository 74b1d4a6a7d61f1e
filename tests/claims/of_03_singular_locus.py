"""What notebooks/03_singular_locus.py says in words: see tests/test_claims.py."""

from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from claims.common import dim
from neuroviz.explorables import SectionExplorer, SingularityExplorer, SurfaceExplorer
from neuroviz.lessons.checks_one_layer import check_boundary_layer
from neuroviz.singular.forms import (
    common_roots,
    discriminant,
    forms_of,
    kind_of,
    nearest_layer,
    preimages_of,
    resultant,
)
from neuroviz.singular.products_table import products_table
from neuroviz.singular.projective_line import roots_view
from neuroviz.singular.ranks import (
    Approach,
    conjugate_table,
    follow_sequence,
    forms_table,
    singular_facts,
    singular_values,
)
from neuroviz.singular.space import stretch_of
from neuroviz.singular.surface import SLICES
from neuroviz.singular.surface_panel import SurfaceRequest, study_surface

S1, S3, S4 = (SLICES[name] for name in ("S1", "S3", "S4"))
HALF = Fraction(1, 2)


def layers(entries=(-1, 0, 1)):
    """All A and V with such entries, for d = 2 and d′ = 1."""
    return [
        (np.reshape(found[:4], (2, 2)), np.reshape(found[4:], (1, 2))) for found in product(entries, repeat=6)
    ]


def two_products_say_it_all():
    """Equal forms and equal outputs sort 729 layers in the same way."""
    inputs = np.random.default_rng(0).integers(-99, 100, (4, 2, 2))
    by_forms, by_outputs = {}, {}
    for number, (A, V) in enumerate(layers()):
        outputs = tuple(int(y) for X in inputs for y in (V @ X @ X.T @ A @ X).ravel())
        by_forms.setdefault(forms_of(A, V), []).append(number)
        by_outputs.setdefault(outputs, []).append(number)
    return sorted(by_forms.values()) == sorted(by_outputs.values()) and 100 < len(by_forms) < 700


def random_forms_have_nothing_in_common():
    draw = np.random.default_rng(1).integers(-99, 100, (500, 2, 3)).tolist()
    return sum(resultant(*map(tuple, pair)) == 0 for pair in draw) < 5


def the_equation_finds_common_roots():
    """Forms with roots that are written down: R, as it stands in the text, is 0 if a root is shared."""
    for p, q, r, s in product(range(-2, 3), repeat=4):
        (a1, b1, c1), (a2, b2, c2) = (1, -p - q, p * q), (2, -2 * (r + s), 2 * r * s)
        R = (a1 * c2 - a2 * c1) ** 2 - (a1 * b2 - a2 * b1) * (b1 * c2 - b2 * c1)
        if (R == 0) != bool({p, q} & {r, s}) or R != resultant((a1, b1, c1), (a2, b2, c2)):
            return False
    return True


def on_s4(x):
    """The kind of the point x = y = 1/z of the slice S4."""
    x = Fraction(x)
    return kind_of(*S4.forms(x, x, 1 / x))


def zero_on_s1(m, y):
    """Whether the resultant vanishes at z² = (s² − 4) y² with s = m + 1/m, and does not beside it."""
    m, y = Fraction(m), Fraction(y)
    s, z = m + 1 / m, y * (m - 1 / m)
    q1 = (1, s, 1)
    return z * z == (s * s - 4) * y * y and resultant(q1, (y, z, -y)) == 0 != resultant(q1, (y, z + 1, -y))


def a_line_for_every_root_but_two():
    for m in (-3, -1, Fraction(1, 7), 1, 2, 1000):
        line = S1.ruling(Fraction(m), 1)
        roots = {common_roots(*S1.forms(*line.at(t)))[0] for t in (1, 2, 5)}
        if {root.X / Fraction(root.Y) for root in roots} != {m}:
            return False
    for nowhere in ((1, 0), (0, 1)):
        with pytest.raises(ValueError, match="no point"):
            S1.ruling(*nowhere)
    return True


def the_ring_goes_round():
    """The ring's place on the circle, in degrees, as "which line" goes from one end to the other."""
    panel, seen = SurfaceExplorer(state="along=0.75"), []
    for where in np.linspace(0, 1, 21):
        panel.controls["where"].value = where
        seen.append(np.degrees(panel._shown.point.roots[0].angle))
    turns = np.diff(seen) % 360
    return (turns < 80).all() and (turns > 0).all() and 280 < turns.sum() < 360


def the_ring_is_at_the_common_root():
    for where in (0.1, 0.35, 0.8):
        shown = SurfaceExplorer(state=f"where={where};along=0.75")
        ring = shown.figure.data[-1]
        half = np.arctan2(ring.y[0], ring.x[0]) / 2
        X, Y = np.cos(half), np.sin(half)
        if max(abs(a * X * X + b * X * Y + c * Y * Y) for a, b, c in shown._shown.point.forms) > 1e-9:
            return False
    return True


def the_point_of_the_second_preimage():
    q1, q2 = S1.forms(3, 0, 0)
    return (q1, q2) == ((1, 3, 1), (0, 0, 0)) and len(preimages_of(q1, q2)) == 2


def the_two_preimages_are_the_swap():
    for pair in ((S1.forms(3, 0, 0)), ((1, 0, -1), (2, 0, -2))):
        (A, V), (A2, V2) = [
            (np.array(w.A, dtype=float), np.array(w.V, dtype=float)) for w in preimages_of(*pair)
        ]
        ranks = [np.linalg.matrix_rank(M, rtol=1e-9) for M in (A, V, A2, V2)]
        keys_are_values = [
            np.linalg.matrix_rank(np.hstack([M, W.T]), rtol=1e-9) for M, W in ((A, V2), (A2, V), (A, V))
        ]
        if ranks != [1, 1, 1, 1] or keys_are_values != [1, 1, 2]:
            return False
    return True


def gradient_vanishes(q1, q2):
    """Of R, by exact differences: R is of degree 2 in each coefficient."""
    start = [*q1, *q2]
    for i in range(6):
        ahead, behind = ([c + e * (i == j) for j, c in enumerate(start)] for e in (1, -1))
        if resultant(tuple(ahead[:3]), tuple(ahead[3:])) != resultant(tuple(behind[:3]), tuple(behind[3:])):
            return False
    return True


def singular_where_ranks_are_one():
    """The surface R = 0 has a tangent space at a layer exactly where A has rank 2 (V is never 0 here)."""
    for A, V in layers():
        if V.any() and A.any():
            rank_two = A[0, 0] * A[1, 1] != A[0, 1] * A[1, 0]
            if gradient_vanishes(*forms_of(A, V)) == rank_two:
                return False
    return True


def boundary_where_keys_are_values():
    """Beside a boundary point, and beside no other layer, is a proportional pair that is no layer."""
    for A, V in layers():
        pair = forms_of(A, V)
        if not any(map(any, pair)):
            continue
        keys_are_values = all(V[0, 0] * A[1, k] == V[0, 1] * A[0, k] for k in (0, 1))
        near = {kind_of(*beside) for beside in proportional_neighbours(*pair)}
        if keys_are_values != ("closure only" in near) or keys_are_values != (kind_of(*pair) == "boundary"):
            return False
    return True


def proportional_neighbours(q1, q2):
    """Where the forms are proportional, c₁q and c₂q: the pairs c₁q′ and c₂q′ with q′ near q."""
    main = max((q1, q2), key=lambda q: sum(c * c for c in q))
    place = next(i for i, c in enumerate(main) if c)
    factors = [Fraction(int(q[place]), int(main[place])) for q in (q1, q2)]
    if any(tuple(f * c for c in main) != tuple(q) for f, q in zip(factors, (q1, q2), strict=True)):
        return
    for moves in product((-1, 0, 1), repeat=3):
        other = [int(c) + Fraction(m, 10**6) for c, m in zip(main, moves, strict=True)]
        yield tuple(tuple(f * c for c in other) for f in factors)


def surface_at(state):
    panel = SurfaceExplorer(state=state)
    panel.wait(60)
    return panel._shown


def buttons_lead_there():
    states = [f"moves=curve;where={where}" for where in (0.928571, 0.785714, 0.642857)]
    points = [surface_at(state).point for state in states]
    return np.allclose([p.at for p in points], [(3, 0, 0), (2, 0, 0), (1, 0, 0)], atol=1e-4) and [
        p.facts.kind for p in points
    ] == ["crossing", "boundary", "closure only"]


def kinds_on_the_line(values):
    return {(kind_of((1, s, 1), (0, 0, 0)), len(common_roots((1, s, 1), (0, 0, 0)))) for s in values}


def distances():
    places = np.linspace(0, 2, 21)
    return [float(nearest_layer((1.0, s, 1.0), (0.0, 0.0, 0.0)).distance) for s in places]


def no_layer_but_a_zero():
    """At dotted points R = 0, and no real form divides both."""
    return all(
        resultant((1, s, 1), (0, 0, 0)) == 0 and kind_of((1, s, 1), (0, 0, 0)) == "closure only"
        for s in (Fraction(n, 10) for n in range(-19, 20))
    )


def on_s3(alpha, x):
    x, slice_ = Fraction(x), S3.at(alpha=alpha)
    return kind_of(*slice_.forms(x, x * x, x**3))


def along_s3(alpha):
    return [on_s3(alpha, x) for x in (-1, -HALF, 0, HALF, 1)]


def sections():
    """What the opening plane, moved along the yellow line, finds: how far out, and the section."""
    panel = SectionExplorer()
    for step in range(-48, 49, 6):
        panel.controls["offset"].value = step / 64
        yield abs(step), panel._shown.section


@cache
def a_section_before_at_and_behind():
    """Outside, at, and between the pinch points; an isolated point lies on no curve of its section."""
    kinds = {}
    for step, section in sections():
        ((kind, point),) = section.singular
        kinds.setdefault(kind, set()).add(step)
        apart = [np.linalg.norm(run.points - point, axis=1).min() for run in section.runs]
        roots = common_roots(*S1.forms(*point), tol=1e-6)
        if len(roots) != {"crossing": 2, "boundary": 1, "closure only": 0}[kind]:
            return False
        if kind == "closure only" and min(apart, default=1) < 0.05:
            return False
        if kind == "crossing" and min(apart) > 0.05:
            return False
    return (
        max(kinds["closure only"]) < min(kinds["boundary"]) <= max(kinds["boundary"]) < min(kinds["crossing"])
    )


def a_complex_table():
    v = np.array([1 + 2j, 3 - 1j])
    expected = [abs(v[0]) ** 2, 2 * (v[0] * v[1].conjugate()).real, abs(v[1]) ** 2]
    (row,) = conjugate_table(np.array([1, 1j]), np.array([1, 2]), np.array([1]))
    return (
        row == [(1, 0, 1), (2, 0, 2)]
        and resultant(*row) == 0
        and kind_of(*row) == "closure only"
        and np.allclose(conjugate_table(v, np.ones(1), np.ones(1))[0][0], expected)
        and discriminant(tuple(expected)) < 0
    )


def the_closure_adds_definite_multiples_only():
    """All pairs of small forms with R = 0: layers, or multiples of one form without real roots."""
    kinds = set()
    for found in product((-1, 0, 1), repeat=6):
        q1, q2 = found[:3], found[3:]
        kind = kind_of(q1, q2)
        if (resultant(q1, q2) == 0) == (kind == "off"):
            return False
        if kind == "closure only":
            proportional = np.linalg.matrix_rank([q1, q2], rtol=1e-9) == 1
            if not proportional or discriminant(q1 if any(q1) else q2) >= 0:
                return False
        elif kind != "off" and forms_of(*preimages_of(q1, q2)[0]) != (q1, q2):
            exact = np.array(forms_of(*preimages_of(q1, q2)[0]), dtype=float)
            if not np.allclose(exact, (q1, q2)):
                return False
        kinds.add(kind)
    return kinds == {"smooth", "crossing", "boundary", "closure only", "off"}


def a_sequence_that_runs_off():
    """Its limit is the function of a layer, and the forms converge to the forms of that layer."""
    found = follow_sequence("rescaled", 1, (1, 10, 100, 1000))
    sizes, apart = found.sizes_a, found.distances
    limit, last = (np.array(forms_table(*pair)) for pair in (found.limit, found.layers[-1]))
    return (
        sizes[-1] > 1000
        and list(sizes) == sorted(sizes)
        and apart[-1] < 1e-2 < 0.1 < apart[0]
        and np.allclose(limit, last, atol=1e-2)
    )


def where_s_and_b_lead():
    """s = 1: ranks one. b moves V and not A; at 0 the forms of keys and values are perpendicular."""
    spread = [singular_facts(Approach(4, 2, 4, s, 0)) for s in (0, HALF, 1)]
    ends = [Approach(4, 2, 4, 1, b) for b in (0, HALF, 1)]
    pairs = [end.numerators() for end in ends]
    A = [pair.A / np.linalg.norm(pair.A) for pair in pairs]
    V = [pair.V / np.linalg.norm(pair.V) for pair in pairs]
    return (
        [(f.rank_a, f.rank_v) for f in spread] == [(4, 2), (4, 2), (1, 1)]
        and np.allclose(A[0], A[1])
        and np.allclose(A[1], A[2])
        and not np.allclose(V[0], V[2])
        and np.allclose(V[0] @ A[0], 0)
        and np.linalg.matrix_rank(np.hstack([A[2], V[2].T]), rtol=1e-9) == 1
        and [round(end.angle) for end in ends] == [90, 45, 0]
    )


def zeros_at(s, b, d=4):
    return int((singular_values(Approach(d, 2, d, s, b)) < 1e-9).sum())


def a_crossing_has_smooth_sheets():
    for d, d_out in ((2, 1), (3, 2), (4, 2)):
        facts = singular_facts(Approach(d, d_out, d, 1, 0))
        if facts.kernel != 1 or facts.image != facts.dimension or facts.span <= facts.image:
            return False
    return True


def the_singularity_panel(state):
    panel = SingularityExplorer(state=state)
    panel.wait(60)
    return panel


def decided_up_to_a_billionth():
    kinds = [kind_of((1.0, 2.0 + e, 1.0), (0.0, 0.0, 0.0)) for e in (1e-12, 1e-7)]
    exact = kind_of((1, 2 + Fraction(1, 10**30), 1), (0, 0, 0))
    return kinds == ["boundary", "crossing"] and exact == "crossing"


def no_change_of_sign_at_the_dots():
    """All around dotted points R is positive; around a crossing it has both signs."""

    def signs(s):
        ring = np.linspace(0, 2 * np.pi, 60)
        values = S1.resultant(np.full(60, s), 0.01 * np.cos(ring), 0.01 * np.sin(ring))
        return set(np.sign(values[np.abs(values) > 1e-12]))

    return [signs(s) for s in (0.0, 1.0, -1.9)] == [{1.0}] * 3 and signs(3.0) == {1.0, -1.0}


def sliders_stop_at_pinch_points():
    kinds = []
    panel = SurfaceExplorer(state="moves=curve")
    for where in (0.78, 0.785, 0.79, 0.215, 0.7, 0.9):
        panel.controls["where"].value = where
        kinds.append(panel._shown.point.facts.kind)
    return kinds == ["boundary"] * 4 + ["closure only", "crossing"]


def forms_are_products():
    """Values at whole numbers: q_k(X, Y) is that of column k of A times that of V."""
    rng = np.random.default_rng(2)
    for A, V, point in zip(
        *(rng.integers(-9, 10, (50, *shape)) for shape in ((2, 2), (1, 2), (2,))), strict=True
    ):
        X, Y = point.tolist()
        values = [a * X * X + b * X * Y + c * Y * Y for a, b, c in forms_of(A.tolist(), V.tolist())]
        if values != [int(column @ point) * int(V[0] @ point) for column in A.T]:
            return False
    return True


@cache
def opened():
    return SurfaceExplorer()


def drawn(name, panel=None):
    (found,) = [trace for trace in (panel or opened()).figure.data if trace.name == name]
    return found


def channels(code):
    return [int(code[n : n + 2], 16) for n in (1, 3, 5)]


def pieces(name):
    """The connected parts of a mesh, in the coordinates of the slice."""
    mesh = drawn(name)
    window = S1.window
    corners = np.transpose([mesh.x, mesh.y, mesh.z]).astype(float) / stretch_of(S1) + np.array(window.centre)
    i, j, k = (np.array(faces, dtype=int) for faces in (mesh.i, mesh.j, mesh.k))
    links = coo_matrix(
        (np.ones(2 * len(i)), (np.tile(i, 2), np.concatenate([j, k]))), shape=[len(corners)] * 2
    )
    count, of = connected_components(links, directed=False)
    return [corners[of == n] for n in range(count)]


def colours_of_the_picture():
    """Blue and sand the ends of the sheets' scale, dark the lines, yellow the line, solid and dotted."""
    scale = [channels(code) for _, code in drawn("the surface").colorscale]
    (r, g, b), (r2, g2, b2) = scale[-1], scale[0]
    solid, dotted = "two sheets cross here", "isolated points of the closure: no real common root"
    yellows = [channels(drawn(name).color) for name in (solid, dotted)]
    return (
        b > g > r
        and r2 > g2 > b2
        and max(channels(drawn("rulings").color)) < 100
        and all(red > green > 150 > 50 > blue for red, green, blue in yellows)
    )


def dark_lines_are_straight():
    found = pieces("rulings")
    thin = [np.linalg.svd(line - line.mean(axis=0), compute_uv=False) for line in found]
    return len(found) > 30 and all(sigma[1] < 0.05 * sigma[0] for sigma in thin)


def dotted_between_the_pinch_points():
    """Many pieces with |s| < 2 and two with |s| > 2, all of them at y = z = 0, but for how thick they are."""
    solid = pieces("two sheets cross here")
    dotted = pieces("isolated points of the closure: no real common root")
    off = max(np.abs(piece[:, 1:]).max() for piece in solid + dotted)
    return (
        len(solid) == 2
        and len(dotted) > 5
        and off < 0.1
        and all(np.abs(piece[:, 0]).max() < 2.1 for piece in dotted)
        and all(np.abs(piece[:, 0]).min() > 1.9 for piece in solid)
        and max(np.abs(piece[:, 0]).max() for piece in dotted) > 1.7
    )


def drawn_from_lines_and_not_contoured():
    """No trace that plotly contours, and every corner of the surface solves the equation."""
    kinds = {trace.type for trace in opened().figure.data}
    (corners,) = [np.concatenate(pieces("the surface"))]
    return kinds == {"mesh3d", "scatter"} and np.abs(S1.resultant(*corners.T)).max() < 1e-9


def on_the_right():
    """Of the surface, and of the plane: where the flat picture begins."""
    beside = [
        (panel.figure.layout.scene.domain.x, panel.figure.layout.xaxis.domain)
        for panel in (opened(), SectionExplorer())
    ]
    flat = drawn("roots of q₁").type == drawn("roots of q₂").type == "scatter"
    return flat and all(space[1] < flat_[0] for space, flat_ in beside)


def ends_by_hand(q):
    """Where the roots of a form have to be drawn: on the circle, or None if they are complex."""
    m = np.roots(np.array(q, dtype=float))
    if np.abs(m.imag).max() > 1e-6:
        return None
    twice = 2 * np.arctan2(1.0, m.real)
    return np.transpose([np.cos(twice), np.sin(twice)])


def a_chord_has_two_ends_exactly_at_real_roots():
    """On and off the singular curve of three slices; at complex roots one point inside, and no line."""
    requests = [SurfaceRequest(S1, False, w, a) for w in (0.1, 0.3, 0.6, 0.8) for a in (-0.5, 0.75)]
    requests += [SurfaceRequest(S1, True, w, 0.0) for w in (0.02, 0.1, 0.3, 0.5, 0.65, 0.9, 0.97)]
    requests += [SurfaceRequest(S3.at(alpha=HALF * n), True, w, 0.0) for n in (3, 5) for w in (0.1, 0.4, 0.8)]
    seen = {"real": 0, "complex": 0}
    for request in requests:
        point = study_surface(request).point
        traces = {one["name"]: one for one in roots_view(point, (0.0, 1.0)).traces}
        for name, q in zip("₁₂", point.forms, strict=True):
            trace, ends = traces[f"roots of q{name}"], ends_by_hand(q) if any(q) else None
            places = np.transpose([trace["x"], trace["y"]])
            if not any(q):
                good = not len(places)
            elif ends is None:
                seen["complex"] += 1
                good = len(places) == 1 and np.linalg.norm(places) < 0.999
            else:
                seen["real"] += 1
                apart = np.linalg.norm(places[:, None] - ends, axis=-1)
                good = len(places) == 2 and max(apart.min(axis=0).max(), apart.min(axis=1).max()) < 1e-6
            if not good or trace["mode"] != "lines+markers" or "shape" in trace["line"]:
                return False
    return min(seen.values()) > 5


def chords_stand_still_along_a_line():
    """Their ends, beside the yellow line; and q₂, whose chord is dashed, is 0 on it."""
    panel, ends, sizes = SurfaceExplorer(), [], []
    for along in (0.75, 0.3, 0.05, -0.2, -0.9, 0.0):
        panel.controls["along"].value = along
        ends.append([(*drawn(f"roots of q{n}", panel).x, *drawn(f"roots of q{n}", panel).y) for n in "₁₂"])
        sizes.append(np.abs(np.array(panel._shown.point.forms[1], dtype=float)).max())
    kinds = panel._shown.point.facts.kind
    return (
        np.allclose(ends[0], ends[1:-1])
        and min(sizes[:-1]) > 0.01 > 1e-12 > sizes[-1]
        and kinds == "crossing"
        and (ends[-1][0], ends[-1][1]) == (ends[0][0], ())
        and drawn("roots of q₂", panel).line.dash == "dash"
    )


def proportional_on_the_yellow_line_only():
    def rank(s, y, z):
        return np.linalg.matrix_rank(np.array(S1.forms(s, y, z), dtype=float), tol=1e-9)

    at = [piece.points for piece in opened()._shown.chart.pieces]
    return all(rank(*point) == 1 for points in at for point in points) and all(
        rank(*point + [0, 0.01, 0.02]) == 2 for points in at for point in points
    )


def called(panel, name, *options):
    """Whether there is a control of this name, with such words in its list."""
    (control,) = [one for one in panel.controls.values() if one.description == name]
    return all(any(option in words for words in control._options_labels) for option in options)


def from_right_to_left():
    panel = SurfaceExplorer(state="moves=curve")
    seen = []
    for where in (0.95, 0.9, 0.785714, 0.7, 0.5):
        panel.controls["where"].value = where
        seen.append(float(panel._shown.point.at[0]))
    return (
        seen == sorted(seen, reverse=True)
        and seen[0] > 2 > seen[-1]
        and called(panel, "where on it")
        and called(panel, "the point moves", "along the yellow curve")
    )


def roots_are_conjugate():
    pairs = [np.roots([1, s, 1]) for s in (-1.99, -1.0, 0.0, 0.5, 1.9)]
    return all(np.isclose(a, b.conjugate()) and abs(a.imag) > 0.05 for a, b in pairs)


def its_columns_are_multiples_of_v():
    A, v = np.array([[1, 2], [3, 6]]), np.array([1, 3])
    return [np.linalg.matrix_rank(np.column_stack([M, v]), rtol=1e-9) for M in (A, A.T)] == [1, 2]


def pinch_points_are_boundary():
    pinches = [tuple(map(float, pinch)) for pinch in opened()._shown.chart.pinches]
    return sorted(pinches) == [(-2, 0, 0), (2, 0, 0)] and {kind_of(*S1.forms(s, 0, 0)) for s in (-2, 2)} == {
        "boundary"
    }


def kinds_in_a_slice(preset):
    return {str(piece.kind) for piece in surface_at(f"preset={preset}").chart.pieces}


def a_table_of_forms():
    """Column k and row m of a table of 2 × 2: the product of the two forms, at a point."""
    A, V, point = np.array([[1, 1], [-1, 1]]), np.array([[1, 1], [1, -2]]), np.array([0.7, -1.3])
    X, Y = point
    values = np.array(forms_table(A, V)) @ [X * X, X * Y, Y * Y]
    cells = [row[1:] for row in products_table(A, V).rows[1:]]
    return np.allclose(values, np.outer(V @ point, point @ A)) and (len(cells), len(cells[0])) == (2, 2)


CLAIMS = [
    ("Everything that a function shows of its layer is in two products", two_products_say_it_all),
    ("$$q_1 = \\ell_1 \\cdot v, \\qquad q_2 = \\ell_2 \\cdot v .$$", forms_are_products),
    (
        "The first is $X^2 - Y^2 = (X - Y)(X + Y)$, the second $X^2 + 2XY + Y^2 = (X + Y)^2$",
        lambda: forms_of([[1, 1], [-1, 1]], [[1, 1]]) == ((1, 0, -1), (1, 2, 1)),
    ),
    (
        "so one dimension is lost, and 5 remain",
        lambda: dim((2, 1), (2,), tokens=2) == 5 == dim((2, 1), (2,), tokens=3),
    ),
    (
        "and two forms usually have none. To have one is a single equation",
        random_forms_have_nothing_in_common,
    ),
    (
        "$$R = (a_1c_2 - a_2c_1)^2 - (a_1b_2 - a_2b_1)(b_1c_2 - b_2c_1) = 0 .$$",
        the_equation_finds_common_roots,
    ),
    (
        "For $X^2 + Y^2$ and $(X+Y)^2$ it is not, so no layer has these two forms",
        lambda: (
            resultant(*forms_of([[1, 1], [-1, 1]], [[1, 1]])) == 0 != resultant((1, 0, 1), (1, 2, 1))
            and nearest_layer((1.0, 0.0, 1.0), (1.0, 2.0, 1.0)).distance > 0.5
        ),
    ),
    (
        "$$q_1 = X^2 + sXY + Y^2, \\qquad q_2 = y\\,(X^2 - Y^2) + z\\,XY .$$",
        lambda: all(
            S1.forms(s, y, z) == ((1, s, 1), (y, z, -y)) for s, y, z in product((-2, 0, 3), repeat=3)
        ),
    ),
    (
        "In it the resultant is zero where $z^2 = (s^2 - 4)\\,y^2$",
        lambda: all(zero_on_s1(m, y) for m in (2, 3, Fraction(5, 2)) for y in (1, -2, Fraction(1, 3))),
    ),
    ("The blue and the sand-coloured sheet", colours_of_the_picture),
    ("The **dark lines** on them are straight", dark_lines_are_straight),
    ("On the right are the roots of $q_1$ and $q_2$", on_the_right),
    ("Two real roots are joined by a chord; a pair of complex", a_chord_has_two_ends_exactly_at_real_roots),
    (
        "every real root belongs to one straight line (but for $[1:0]$ and $[0:1]$",
        a_line_for_every_root_but_two,
    ),
    ("The ring marks the root that both share", the_ring_is_at_the_common_root),
    ("The ring goes round the circle", the_ring_goes_round),
    (
        "Both chords stand still: on the way $q_2$ is only multiplied by a number",
        chords_stand_still_along_a_line,
    ),
    ("On the yellow line this number is 0, and the dashed chord is gone", chords_stand_still_along_a_line),
    ("where $q_1 = X^2 + 3XY + Y^2$ and $q_2 = 0$", the_point_of_the_second_preimage),
    ("On the yellow line $q_1$ and $q_2$ are proportional", proportional_on_the_yellow_line_only),
    (
        "what is a key for one layer is a value for the other",
        the_two_preimages_are_the_swap,
    ),
    ("and $A$ and $V$ have rank one here", the_two_preimages_are_the_swap),
    ("It is singular exactly where $A$ and $V$ have rank at most 1", singular_where_ranks_are_one),
    (
        "It has a boundary exactly where, besides, keys and values use the same",
        boundary_where_keys_are_values,
    ),
    ("drag **where on it** from right to left, through $s = 2$", from_right_to_left),
    ('"on the line, s = 3": "moves=curve;where=0.928571"', buttons_lead_there),
    (
        "discriminant of $q_1$, which is $s^2 - 4$",
        lambda: all(discriminant((1, s, 1)) == s * s - 4 for s in range(-4, 5)),
    ),
    (
        "At s = 3 the set is singular and has no boundary",
        lambda: kinds_on_the_line([3]) == {("crossing", 2)} and gradient_vanishes((1, 3, 1), (0, 0, 0)),
    ),
    (
        "For $|s| > 2$ there are two real roots and two preimages",
        lambda: (
            kinds_on_the_line([-100, -3, Fraction(-21, 10), Fraction(201, 100), 4]) == {("crossing", 2)}
            and len(preimages_of((1, 4, 1), (0, 0, 0))) == 2
        ),
    ),
    ("At $s = \\pm 2$ they meet", lambda: kinds_on_the_line([-2, 2]) == {("boundary", 1)}),
    ("This is a **pinch point**, and a boundary point of the set of functions", pinch_points_are_boundary),
    ("they have become complex, conjugate to each other", roots_are_conjugate),
    ("No real layer has this function. Yet the equation $R = 0$ holds", no_layer_but_a_zero),
    ("That is why the middle is dotted", dotted_between_the_pinch_points),
    (
        "it has no layers near it, and comes to them only at the pinch points",
        lambda: (
            (lambda far: far == sorted(far, reverse=True) and far[0] > 0.9 and far[-2] > 0.04)(distances())
            and distances()[-1] < 1e-9
        ),
    ),
    (
        "Other slices of the same six-dimensional set look different",
        lambda: (
            [kinds_in_a_slice(preset) for preset in ("figure-1", "tangent", "isolated")]
            == [{"crossing", "closure only"}, {"boundary"}, {"closure only"}]
        ),
    ),
    (
        "As **preset** of the panel, choose *tangent developable*",
        lambda: (
            called(opened(), "preset", "tangent developable", "crossing along a twisted cubic")
            and called(opened(), "α of S3")
        ),
    ),
    (
        "there *all* singular points are boundary",
        lambda: (
            set(along_s3(2)) == {"boundary"}
            and {piece.kind for piece in surface_at("preset=tangent").chart.pieces} == {"boundary"}
        ),
    ),
    (
        "At $\\alpha = 2$ both roots of the common form meet, all along the curve; below 2 they are complex",
        lambda: (
            along_s3(Fraction(13, 5)) == ["crossing"] * 2 + ["boundary"] + ["crossing"] * 2
            and along_s3(Fraction(3, 2)) == ["closure only"] * 2 + ["boundary"] + ["closure only"] * 2
        ),
    ),
    (
        "The sheets no longer cross",
        lambda: (
            "crossing" in along_s3(Fraction(13, 5))
            and "crossing" not in along_s3(Fraction(3, 2)) + along_s3(Fraction(19, 10))
        ),
    ),
    (
        "the curve is isolated, but for one pinch point",
        lambda: (lambda chart: len(chart.pinches) == 1 and all(piece.dotted for piece in chart.pieces))(
            surface_at("preset=crossing;alpha=1.5").chart
        ),
    ),
    ("and look at the curve on the right", on_the_right),
    ("In front, a curve that crosses itself (two sheets). Behind", a_section_before_at_and_behind),
    ("The pinch point is where one turns into the other", a_section_before_at_and_behind),
    ("one for each column $\\ell_k$ of $A$ and each row $v_m$ of $V$: a table", a_table_of_forms),
    ("Their resultant is 0, and still no real layer has them", a_complex_table),
    ("This is all that the Zariski closure adds", the_closure_adds_definite_multiples_only),
    ("Here the weights $A$ grow without bound", a_sequence_that_runs_off),
    ("The function converges, and its limit is a layer", a_sequence_that_runs_off),
    (
        "Usually one, the rescaling. And at the boundary?",
        lambda: (
            [singular_facts(Approach(d, 2, d, HALF, HALF)).kernel for d in (2, 3, 4)] == [1, 1, 1]
            and [singular_facts(Approach(d, 2, d, 1, 1)).kernel for d in (2, 3, 4)] == [2, 3, 4]
        ),
    ),
    ("**b** turns the values' form $v$ into the keys' form $u$", where_s_and_b_lead),
    (
        "The point is singular now",
        lambda: (
            [singular_facts(Approach(4, 2, 4, s, 0)).kind for s in (0, HALF, Fraction(99, 100), 1)]
            == ["smooth"] * 3 + ["crossing"]
        ),
    ),
    ("and the kernel is still the rescaling alone", a_crossing_has_smooth_sheets),
    (
        "$d - 1 = 3$ more singular values reach zero",
        lambda: (
            singular_facts(Approach(d=4, d_out=2, a=4, s=1, b=1)).kernel == 4
            and singular_facts(Approach(d=4, d_out=2, a=4, s=1, b=0)).kernel == 1
        ),
    ),
    (
        "at $b = 1$ and not before",
        lambda: [zeros_at(1, Fraction(b, 100)) for b in (0, 50, 90, 99, 100)] == [1, 1, 1, 1, 4],
    ),
    (
        "for instance with $v = (1, 3)$, $k = (1, 2)$ and $h = 1$",
        lambda: (
            bool(check_boundary_layer([[1, 2], [3, 6]], [[1, 3]]))
            and not check_boundary_layer([[1, 3], [2, 6]], [[1, 3]])
        ),
    ),
    (
        "Whole numbers are checked exactly",
        lambda: (
            bool(check_boundary_layer([[10**20, 2 * 10**20], [3 * 10**20, 6 * 10**20]], [[1, 3]]))
            and not check_boundary_layer([[10**20, 2 * 10**20], [3 * 10**20, 6 * 10**20 + 1]], [[1, 3]])
        ),
    ),
    ("The columns of $A$ are multiples of $v$", its_columns_are_multiples_of_v),
    (
        "with **s** at 1, and take the tick off *V goes to rank one too*",
        lambda: (
            "for a < d that makes the function singular"
            in the_singularity_panel("a=2;s=1;values=no").description
            and "A smooth point" in the_singularity_panel("a=4;s=1;values=no").description
        ),
    ),
    ("for decimal numbers up to a relative error of $10^{-9}$", decided_up_to_a_billionth),
    ("and the sliders stop at pinch points", sliders_stop_at_pinch_points),
    ("The surface is drawn from its straight lines, never contoured", drawn_from_lines_and_not_contoured),
    ("where $R$ is zero but does not change its sign", no_change_of_sign_at_the_dots),
    (
        "Find a point of the slice *along a hyperbola* (S4)",
        lambda: (
            called(opened(), "preset", "along a hyperbola")
            and called(opened(), "slice", "S4: along a hyperbola")
        ),
    ),
    (
        "The pinch point $(4, 4, \\tfrac14)$",
        lambda: (
            [on_s4(x) for x in (HALF, 3, Fraction(399, 100), 4, Fraction(401, 100), 5, 100)]
            == ["closure only"] * 3 + ["boundary"] + ["crossing"] * 3
        ),
    ),
]

ELSEWHERE = [
    ("That equation is called the **resultant**", "test_forms.py::test_the_resultant_is_the_resultant"),
    (
        "The blue and the sand-coloured sheet are functions of layers",
        "test_surface.py::test_every_point_of_the_chart_is_a_layer_in_the_window_with_the_root_of_its_ruling",
    ),
    (
        "all functions share one root, the root of $v$",
        "test_surface.py::test_every_point_of_the_chart_is_a_layer_in_the_window_with_the_root_of_its_ruling",
    ),
    (
        "The surface crosses itself along the **yellow line**, and the middle of that line is **dotted**",
        "test_surface_explorer.py::test_the_default_is_like_figure_1",
    ),
    (
        "a pair of complex roots is a point inside",
        "test_forms.py::test_the_circle_shows_real_roots_on_its_rim_and_complex_ones_inside",
    ),
    (
        "Each choice lies on one of the two sheets, and they cross",
        "test_surface_explorer.py::test_where_two_sheets_cross_their_colours_differ",
    ),
    (
        "Watch the two ends of the chord",
        "test_surface_explorer.py::test_sliding_through_a_pinch_point_two_chords_meet_and_a_point_inside_appears",
    ),
    (
        "an isolated solution of $R = 0$",
        "test_section.py::test_across_the_axis_of_s1_there_are_two_lines_one_or_an_isolated_point",
    ),
    (
        "A table belongs to a layer if it can be written as products like this",
        "test_products.py::test_every_cell_is_the_product_of_its_column_and_its_row",
    ),
    (
        "The set of functions is closed.",
        "test_singular.py::test_the_weights_run_off_and_the_functions_converge_to_a_layer",
    ),
    (
        "the table has at least some length $c > 0$",
        "test_singular.py::test_the_sizes_of_a_and_v_are_bounded_by_that_of_the_function",
    ),
    (
        "In higher dimension there is nothing to draw, but the theorem is the same",
        "test_singular.py::test_the_kernel_is_one_and_jumps_to_d_exactly_at_the_boundary",
    ),
    (
        "Singular is the *set*, where two sheets meet",
        "test_singular.py::test_where_branches_cross_their_tangent_spaces_differ",
    ),
    (
        "$(w k^\\top, -h w^\\top)$ for any vector $w$",
        "test_singular.py::test_the_directions_that_the_lemma_names_do_nothing_and_are_all",
    ),
    (
        "On which side the linear form has to stand is easily mixed up",
        "test_forms.py::test_the_keys_decide_what_a_boundary_point_is_and_not_the_queries",
    ),
    (
        "For $a < d$ the points with $\\mathrm{rank}\\, A < a$ are singular as well",
        "test_singular.py::test_for_a_below_d_a_smaller_rank_of_a_is_singular_whatever_v_is",
    ),
]
