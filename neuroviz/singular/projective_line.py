"""Roots of a quadratic form on the projective line, and kinds of points of a slice, in
words."""

from neuroviz.singular.forms import Root

KIND_WORDS = {
    "smooth": "a smooth point",
    "crossing": "a crossing of two sheets",
    "boundary": "a boundary point",
    "closure only": "in the Zariski closure only",
    "off": "off the surface",
}


def root_text(root: Root) -> str:
    """The number m = X/Y.

    >>> root_text(Root(-1, 2)), root_text(Root(1, 0)), root_text(Root(1e-17, 1.0))
    ('−0.5', '∞', '0')
    >>> root_text(Root(1e9, 1.0)), root_text(Root(1.01e9, 1.0))
    ('1e+09', '∞')
    """
    return (
        "∞" if abs(root.m) > 1e9 else f"{round(root.m, 9) + 0.0:.3g}".replace("-", "−")
    )


def pair_text(root: Root) -> str:
    """The root [X:Y], with Y = 1 where it can be.

    >>> pair_text(Root(-1, 2)), pair_text(Root(1, 0))
    ('[−0.5:1]', '[1:0]')
    """
    m = root_text(root)
    return "[1:0]" if m == "∞" else f"[{m}:1]"


def factor_text(root: Root) -> str:
    """The linear form that vanishes at a root.

    >>> [factor_text(Root(*root)) for root in ((-1, 2), (1, 0), (1, 1), (0, 1))]
    ['X + 0.5 Y', 'Y', 'X − Y', 'X']
    """
    m = root_text(root)
    if m in ("∞", "0"):
        return {"∞": "Y", "0": "X"}[m]
    times = m.removeprefix("−")
    return (
        f"X {'+' if m.startswith('−') else '−'} {'' if times == '1' else times + ' '}Y"
    )
