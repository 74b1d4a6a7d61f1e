"""The slices of Figure 1 by name. docs/mathematics/singular_points.md: "Figure 1"."""

from collections.abc import Callable

import numpy as np

from neuroviz.singular.curves import Window
from neuroviz.singular.forms import Number, Pair
from neuroviz.singular.slice import Slice, exact

__all__ = ["SLICES", "Slice", "s1k", "s3"]

_ALONG_THE_AXIS = Window(1.0, stretch=(0.0, 1.0, 0.5), half_length=3.5)


def _affine(name: str, pair: Callable[..., Pair], **more: object) -> Slice:
    """A slice from its pair (q₁, q₂), written as a function of the coordinates that is
    affine in them."""
    corners = (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)
    origin, *others = (np.array(pair(*corner), dtype=object) for corner in corners)
    return Slice(
        name, origin.tolist(), [(other - origin).tolist() for other in others], **more
    )


def s1k(kappa: Number = 0) -> Slice:
    """S1κ: S1 is κ = −1; at κ = 0 the surface is of degree 3, z² − syz + y² = 0.

    q₁ = X² + sXY + Y², q₂ = yX² + zXY + κyY²;  (z − sy)(z − κsy) + (κ − 1)²y² = 0.

    Raises:
        ValueError: for κ = 1, where the singular points fill the surface z = sy.
    """
    k = exact("kappa", kappa)
    if k == 1:
        raise ValueError(
            "S1k needs a kappa other than 1, where all of the surface z = sy is"
            " singular; got 1"
        )
    return _affine(
        "S1k",
        lambda s, y, z: ((1, s, 1), (y, z, k * y)),
        parameters=(("kappa", k),),
        coordinates=("s", "y", "z"),
        window=_ALONG_THE_AXIS,
        family=s1k,
    )


def s3(alpha: Number = 3) -> Slice:
    """S3: along the twisted cubic (x, x², x³); dotted for |α| < 2, crossing for |α| >
    2, boundary for 2.

    q₁ = X² + αxXY + yY², q₂ = xX² + αyXY + zY²;  (z − xy)² = α²(y − x²)(xz − y²).
    At the origin q₁ = X², q₂ = 0: a pinch point whatever α.

    Raises:
        ValueError: for α = 0, where the singular points fill the surface z = xy.
    """
    a = exact("alpha", alpha)
    if a == 0:
        raise ValueError(
            "S3 needs an alpha other than 0, where all of the surface z = xy is"
            " singular; got 0"
        )
    return _affine(
        "S3",
        lambda x, y, z: ((1, a * x, y), (x, a * y, z)),
        parameters=(("alpha", a),),
        window=Window(1.25),
        family=s3,
    )


SLICES = {
    # z² = (s² − 4)y², as in Figure 1: two sheets cross along |s| > 2, a dotted segment
    # for |s| < 2.
    "S1": _affine(
        "S1",
        lambda s, y, z: ((1, s, 1), (y, z, -y)),
        coordinates=("s", "y", "z"),
        window=_ALONG_THE_AXIS,
    ),
    "S1k": s1k(),
    # 4y² = (1 − s²)z²: a surface over |s| ≤ 1, with dotted rays outside.
    "S2": _affine(
        "S2",
        lambda s, y, z: ((1 + s, 0, s - 1), (y, z, y)),
        coordinates=("s", "y", "z"),
        window=Window(1.0, stretch=(0.0, 2.0, 1.0), half_length=1.6),
    ),
    "S3": s3(),
    # (1 − yz)² = (1 − xz)(x − y): along x = y = 1/z, dotted for 0 < x < 4, a pinch
    # point at (4, 4, ¼).
    "S4": _affine(
        "S4",
        lambda x, y, z: ((1, x, y), (z, 1, 1)),
        window=Window(6.0, (2.0, 2.0, 0.0), (1.0, 1.0, 3.0)),
    ),
}
"""The slices of "Figure 1. The surface" by name; `SLICES["S3"].at(alpha=2)` for other
parameters."""
