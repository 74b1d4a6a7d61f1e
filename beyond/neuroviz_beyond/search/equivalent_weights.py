"""Other virtual weights with the same function: how far apart two points are, and which
ones are known.

Points are compared modulo rescaling for lightning (Eq. 13), and as they are for
softmax. Beyond the paper A, c and V of a layer's heads stand for M_i, and all ω for L,
in the bases of the weights that were given. The known ones stand in
Theorems 3.2, F and H (docs/mathematics/index.md) and in
beyond/docs/fibres_not_one_orbit.md.
"""

from typing import NamedTuple

import numpy as np

from neuroviz.attention.symmetry import VirtualWeights, virtual_weights
from neuroviz.rank.field import Reals
from neuroviz_beyond.transformers import Transformer
from neuroviz_beyond.transformers.alignment import align, shown
from neuroviz_beyond.transformers.evaluate import Weights, with_heads

SAME = "the same"
RESCALED = "rescaling"
SWAPPED = "values and keys swapped (Theorem 3.2)"
LAYERS_SWAPPED = "layers swapped"
SHUFFLED = "heads permuted (Theorem H)"
UNEXPLAINED = "unexplained"
_TINY = 1e-9
_ALIGNED = 1e-2  # weights that differ by more than this share lie on different orbits


class Equivalent(NamedTuple):
    """Virtual weights, and the symmetry that leads to them from the given ones."""

    symmetry: str
    virtual: VirtualWeights


def comparable(arch: Transformer, given: Weights, weights: Weights) -> VirtualWeights:
    """The matrices that a comparison uses: L and the M_i, or with heads A and V."""
    if arch.is_plain:
        return virtual_weights(Reals(), weights)
    first = with_heads(arch, given)
    second = with_heads(arch, weights)
    try:
        layers = align(arch, first, second, _ALIGNED).second
    except (ValueError, np.linalg.LinAlgError):
        # no common basis: compare in their own bases
        layers = shown("search_fiber", arch, second)
    # for each layer A, c and V one above the other, shape (heads, d + 1 + d′, d)
    M = [np.concatenate([one.A, one.c[:, None], one.V], axis=1) for one in layers]
    return VirtualWeights(np.concatenate([one.omega for one in layers]), tuple(M))


def shuffled(given: VirtualWeights, like: VirtualWeights) -> VirtualWeights:
    """The given weights with, for each head of `like`, the given head nearest to it; a
    head may repeat."""
    layers = []
    for ours, theirs in zip(given.M, like.M, strict=True):
        # squared distances, a row for each head of `like`, a column for each given one
        apart = ((ours[None] - theirs[:, None]) ** 2).sum((2, 3))
        layers.append(ours[apart.argmin(axis=1)])
    return VirtualWeights(given.L, tuple(layers))


def normalised(attention: str, virtual: VirtualWeights) -> VirtualWeights:
    """For lightning the rescaling with all ‖M_i‖ = 1 (2^l points have it, by signs);
    softmax has none.

    >>> one = VirtualWeights(np.eye(2), (2 * np.eye(2),))
    >>> round(float(np.linalg.norm(normalised("lightning", one).M[0])), 9)
    1.0
    >>> normalised("softmax", one) is one
    True
    """
    if attention == "softmax":
        return virtual
    # Eq. 13: L takes over ∏ ‖M_i‖^(3^(l − i)).
    factor = 1.0
    M = []
    for power, matrix in zip(reversed(range(len(virtual.M))), virtual.M, strict=True):
        length = float(np.linalg.norm(matrix)) or 1.0
        factor *= length ** (3**power)
        M.append(matrix / length)
    return VirtualWeights(virtual.L * factor, tuple(M))


def nearest_signs(
    attention: str, one: VirtualWeights, other: VirtualWeights
) -> VirtualWeights:
    """The other weights with those signs of their M_i, and of L, that are nearest to
    the first."""
    if attention == "softmax":  # has no choice
        return other
    signs = [
        -1 if np.vdot(M, M2) < 0 else 1 for M, M2 in zip(one.M, other.M, strict=True)
    ]
    M = tuple(sign * matrix for sign, matrix in zip(signs, other.M, strict=True))
    # a sign survives in L: all its powers 3^(l−i) are odd
    return VirtualWeights(other.L * np.prod(signs), M)


def distance(attention: str, one: VirtualWeights, other: VirtualWeights) -> float:
    """‖θ′ − θ‖ / ‖θ‖ in all entries of L and the M_i.

    For lightning first ‖M_i‖ = 1, ‖L‖ = 1 (of θ; L′ is divided by the same) and the
    nearest signs.

    >>> one = VirtualWeights(np.eye(2), (np.eye(2), np.eye(2)))
    >>> moved = VirtualWeights(-np.eye(2) / 2, (-np.eye(2), 2 * np.eye(2)))
    >>> [round(distance(kind, one, moved), 2) for kind in ("lightning", "softmax")]
    [0.0, 1.55]
    """
    here = normalised(attention, one)
    there = nearest_signs(attention, here, normalised(attention, other))
    length = (float(np.linalg.norm(here.L)) or 1.0) if attention == "lightning" else 1.0
    pairs = [(here.L / length, there.L / length), *zip(here.M, there.M, strict=True)]
    with np.errstate(over="ignore"):  # an overflow means far away
        apart = sum(float(((a - b) ** 2).sum()) for a, b in pairs)
    return float(np.sqrt(apart / (sum(float((a**2).sum()) for a, _ in pairs) or 1.0)))


def known_equivalents(
    attention: str, virtual: VirtualWeights
) -> tuple[Equivalent, ...]:
    """θ itself, and for lightning what the known exceptions to "only rescalings" lead
    to.

        L = h vᵀ, M_i = u kᵀ, M_j = c_j v vᵀ (j > i)     u and v change places   (i = l:
                                                         Theorems 3.2, F)
        d₀ = 2, M_i = J, M_{i+1} = B                     they change places, L → L /
                                                         det(B)^e, e = 3^{l−1−i}

    One after the other, as often as they lead to something new.

    >>> J, B = np.array([[0.0, 1.0], [-1.0, 0.0]]), np.diag([1.0, 3.0])
    >>> found = known_equivalents("lightning", VirtualWeights(np.eye(2), (J, B)))
    >>> [one.symmetry for one in found]
    ['rescaling', 'layers swapped']
    """
    if attention == "softmax":
        return (Equivalent(SAME, virtual),)
    found = [Equivalent(RESCALED, virtual)]
    for one in found:  # the loop appends to this list
        for new in (*_swaps(one.virtual), *_exchanges(one.virtual)):
            if all(
                distance(attention, old.virtual, new.virtual) > _TINY for old in found
            ):
                found.append(new)
    return tuple(found)


def _swaps(virtual: VirtualWeights) -> list[Equivalent]:
    """M_i = u kᵀ, L = h vᵀ and M_j = c_j v vᵀ for all j > i: u and v change places."""
    L, M = virtual
    h, s, v = _leading(L)
    if s is None:
        return []
    found = []
    for i in reversed(range(len(M))):
        u, z, k = _leading(M[i])
        if z is not None:
            # c_j = vᵀM_j v: all later M_j are c_j v vᵀ, or the loop had ended.
            later = tuple(float(v @ B @ v) * np.outer(u, u) for B in M[i + 1 :])
            new = VirtualWeights(
                s * np.outer(h, u), (*M[:i], z * np.outer(v, k), *later)
            )
            found.append(Equivalent(SWAPPED, new))
        # Go on to an earlier layer only if this one sees v alone.
        if np.linalg.norm(
            M[i] - float(v @ M[i] @ v) * np.outer(v, v)
        ) > _TINY * np.linalg.norm(M[i]):
            break
    return found


def _leading(matrix: np.ndarray) -> tuple[np.ndarray, float | None, np.ndarray]:
    """Unit vectors u, k and s with matrix = s u kᵀ; s is None unless the rank is
    one."""
    U, s, Vt = np.linalg.svd(matrix)
    one = s[0] > 0 and (len(s) == 1 or s[1] <= _TINY * s[0])
    return U[:, 0], float(s[0]) if one else None, Vt[0]


def _exchanges(virtual: VirtualWeights) -> list[Equivalent]:
    """Neighbours M_i, M_{i+1} that change places; one is a multiple c of J, the other
    invertible."""
    L, M = virtual
    if L.shape[1] != 2:
        return []
    found = []
    for i in range(len(M) - 1):
        e = 3 ** (len(M) - 2 - i)  # how often M_{i+1} occurs; M_i occurs 3e times
        A, B = M[i], M[i + 1]
        for c, other, forth in (
            (_multiple_of_J(A), B, True),
            (_multiple_of_J(B), A, False),
        ):
            det = float(np.linalg.det(other))
            if c is None or abs(det) <= _TINY * float((other**2).sum()):
                continue
            # (L; cJ, B) = (c^{3e} L; J, B) = (c^{3e} L / det(B)^e; B, J) = (c^{2e} L /
            # det(B)^e; B, cJ)
            factor = (c**2 / det) ** e
            new = (*M[:i], B, A, *M[i + 2 :])
            found.append(
                Equivalent(
                    LAYERS_SWAPPED,
                    VirtualWeights(L * factor if forth else L / factor, new),
                )
            )
    return found


def _multiple_of_J(M: np.ndarray) -> float | None:
    """c, if the 2 × 2 matrix is c J, that is antisymmetric and not 0."""
    symmetric = np.linalg.norm(M + M.T)
    return (
        None if symmetric > _TINY * np.linalg.norm(M) or not M.any() else float(M[0, 1])
    )
