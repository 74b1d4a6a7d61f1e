"""Rods, tubes, balls and sheets: closed, as thick as asked, and in plotly's words."""

from collections import Counter

import numpy as np
import pytest

from neuroviz.kit.solids import balls, dashes, join, rods, sheet, tubes


def corners(solid) -> np.ndarray:
    return np.array([solid[name] for name in "xyz"]).T


def faces(solid) -> np.ndarray:
    return np.array([solid[name] for name in "ijk"]).T


def distance_to_segment(points, p, q) -> np.ndarray:
    t = np.clip((points - p) @ (q - p) / ((q - p) @ (q - p)), 0, 1)[:, None]
    return np.linalg.norm(points - p - t * (q - p), axis=1)


def test_a_rod_is_as_thick_as_asked_and_closed():
    p, q = np.array([0.0, 1.0, 2.0]), np.array([3.0, -1.0, 0.5])
    solid = rods([(p, q)], 0.1)
    np.testing.assert_allclose(distance_to_segment(corners(solid), p, q), 0.1, atol=1e-4)
    edges = Counter(frozenset(pair) for f in faces(solid) for pair in zip(f, np.roll(f, 1), strict=True))
    assert set(edges.values()) == {2}, "every edge belongs to two triangles"


def test_a_tube_keeps_its_width_around_a_bend():
    t = np.linspace(0, 2, 60)
    curve = np.stack([np.cos(t), np.sin(t), t / 3], axis=1)
    solid = tubes([curve], 0.05)
    away = np.linalg.norm(corners(solid)[:, None] - curve, axis=-1).min(axis=1)
    np.testing.assert_allclose(away, 0.05, atol=2e-3)
    edges = Counter(frozenset(pair) for f in faces(solid) for pair in zip(f, np.roll(f, 1), strict=True))
    assert set(edges.values()) == {2}


def test_what_has_no_length_makes_nothing():
    point = np.ones(3)
    for solid in (rods([(point, point)], 0.1), tubes([], 0.1), tubes([np.ones((5, 3))], 0.1), balls([], 1.0)):
        assert solid == {name: [] for name in "xyzijk"}


def test_dashes_have_one_length_and_end_with_the_curve():
    line = np.stack([np.linspace(0, 3, 50), np.zeros(50), np.zeros(50)], axis=1)
    pieces = dashes(line, 0.2, 0.1)
    assert len(pieces) > 5
    for piece in pieces:
        assert piece[-1, 0] - piece[0, 0] == pytest.approx(0.2)
    assert pieces[0][0, 0] == 0 and pieces[-1][-1, 0] == pytest.approx(3)
    gaps = [after[0, 0] - before[-1, 0] for before, after in zip(pieces, pieces[1:], strict=False)]
    assert min(gaps) > 0.05
    assert dashes(np.ones((4, 3)), 0.2, 0.1) == []


def test_balls_are_round_and_where_they_should_be():
    centers = [(0, 0, 0), (2, 0, 1)]
    points = corners(balls(centers, 0.3))
    away = np.linalg.norm(points[:, None] - np.array(centers, dtype=float), axis=-1).min(axis=1)
    np.testing.assert_allclose(away, 0.3, atol=1e-4)


def test_a_sheet_is_its_grid_of_points_unrounded():
    grid = np.random.default_rng(0).normal(size=(4, 3, 3))
    points, triangles = sheet(grid)
    assert np.array_equal(corners(join([(points, triangles)])), grid.reshape(-1, 3))
    assert len(triangles) == 2 * 3 * 2 and set(triangles.ravel()) == set(range(12))
