"""A few small ranks decide about networks of every width; at special points they see
what is special."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from architectures import random_architectures
from differentials import virtual_jacobian

from neuroviz.attention import Architecture
from neuroviz.attention.formulas import general_formula
from neuroviz.attention.symmetry import VirtualWeights
from neuroviz.kit.measured import measure_dimension
from neuroviz.rank.elimination import exact_rank
from neuroviz.rank.field import PrimeField
from neuroviz.softmax.two_tokens import Shares, free_jacobian, softmax_shares
from neuroviz_beyond.certificate.small_rank_pieces import (
    PIECES,
    Pattern,
    Point,
    columns_at,
    counted,
    free_shares,
    pieces_at,
    random_point,
)
from neuroviz_beyond.certificate.small_ranks import MOST_LAYERS, local_check, pattern_of
from neuroviz_beyond.certificate.verify import count_another_way

BOTH = ("lightning", "softmax")
OVER = PrimeField()


def has_logits(arch):
    return arch.attention == "lightning" or arch.tokens > 1


# The dimension


def test_the_count_by_codimensions_is_the_general_formula():
    """Codimensions and minima against widths and dimensions."""
    for arch in random_architectures(1000, seed=1, depth=5, width=7, head=5):
        assert count_another_way(arch) == general_formula(arch).value, arch


@pytest.mark.parametrize("tokens", [1, 2, 3])
@pytest.mark.parametrize("attention", BOTH)
@pytest.mark.parametrize(("layers", "largest"), [(1, 4), (2, 4), (3, 3)])
def test_every_small_network(layers, largest, attention, tokens):
    sizes = range(1, largest + 1)
    for widths in itertools.product(sizes, repeat=layers + 1):
        for head_dims in itertools.product(sizes, repeat=layers):
            arch = Architecture(widths, head_dims, tokens, attention)
            check = local_check(arch)
            assert check.covers == has_logits(arch)
            if check.covers:
                assert check.holds and check.dimension == general_formula(arch).value, (
                    arch
                )


def test_it_is_the_dimension_that_is_measured():
    """Against exact ranks in all weights, where neither symmetries nor formulas are
    used."""
    for arch in random_architectures(80, seed=1, depth=3, width=4, head=4):
        if has_logits(arch):
            assert (
                local_check(arch).dimension
                == measure_dimension(arch, route="weights").value
            ), arch


def test_it_is_the_general_formula_for_large_networks():
    seen = set()
    for arch in random_architectures(500, seed=2, depth=7, width=1000, head=300):
        if has_logits(arch):
            assert local_check(arch).dimension == general_formula(arch).value, arch
    for arch in random_architectures(500, seed=3, depth=7, width=6, head=3):
        if has_logits(arch):
            assert local_check(arch).dimension == general_formula(arch).value, arch
            seen |= {*pattern_of(arch).directions}
    assert seen == {"all", "rank one", "symmetric", "line"}


def test_small_ranks_do_not_know_the_width():
    small, large = (
        local_check(Architecture.uniform(width, 2, 3)) for width in (6, 10**6)
    )
    assert [replace(piece, copies=1) for piece in small.pieces] == [
        replace(piece, copies=1) for piece in large.pieces
    ]
    assert max(piece.columns for piece in large.pieces) == 4 * 3 + 2
    assert large.dimension == general_formula(large.arch).value


def test_where_it_says_nothing():
    for arch, why in (
        (Architecture((3, 2, 3), (2, 2), 1, "softmax"), "attends to itself alone"),
        (Architecture.uniform(2, 2, MOST_LAYERS + 1), "grow with the layers"),
    ):
        check = local_check(arch)
        assert not check.covers and why in check.reason
        assert not check.holds and check.dimension is None and check.at_least is None
    with pytest.raises(ValueError, match="local_check needs an Architecture"):
        local_check((3, 3))


# The pieces: together they are the whole derivative, at every point on the core


def wide(point, vector, width):
    return np.concatenate([vector, np.zeros(width - point.pattern.core)])


def directions(point, width, outputs):
    """A basis of the directions in which the virtual weights of a whole network may
    move; as rows."""
    pattern = point.pattern
    depth = len(point.M)

    def direction(L=None, M=()):
        """L˙ and some M˙_i, as one vector in the order of the columns."""
        blocks = [np.zeros((width, width)) for _ in range(depth)]
        for i, block in dict(M).items():
            blocks[i] = OVER.reduce(block)
        return np.concatenate(
            [*blocks, np.zeros((outputs, width)) if L is None else L]
        ).ravel()

    e = np.eye(width)
    h = np.eye(outputs)[:, :1]
    Ms = [np.pad(M, (0, width - pattern.core)) for M in point.M]
    pairs = list(itertools.combinations_with_replacement(e, 2))
    basis = []
    for i, kind in enumerate(pattern.directions):
        if kind == "all":
            basis += [direction(M={i: np.outer(a, b)}) for a in e for b in e]
        elif kind == "symmetric":
            basis += [
                direction(M={i: np.outer(a, b) + np.outer(b, a)}) for a, b in pairs
            ]
        elif kind == "rank one":
            basis += [
                direction(M={i: np.outer(a, wide(point, point.v, width))})
                for a in e[1:]
            ]
            basis += [
                direction(M={i: np.outer(wide(point, point.u, width), b)}) for b in e
            ]
        else:
            line = np.outer(
                wide(point, point.line, width), wide(point, point.line, width)
            )
            basis.append(direction(M={i: line}))
    if point.line is None:
        basis += [direction(L=np.outer(g, b)) for g in np.eye(outputs) for b in e]
    else:
        line = wide(point, point.line, width)
        on_it = [i for i, kind in enumerate(pattern.directions) if kind == "line"]
        basis += [direction(L=np.outer(g, line)) for g in np.eye(outputs)]
        for a in e[1:]:
            turn = OVER.reduce(np.outer(a, line) + np.outer(line, a))
            basis.append(
                direction(
                    L=h * a, M={i: OVER.reduce(Ms[i][0, 0] * turn) for i in on_it}
                )
            )
    return np.array(basis)


def whole_derivative(point, basis, X, functionals, given):
    """⟨functional, φ˙⟩ of a whole network in all entries of L and the M, by others;
    then along a basis."""
    width = X.shape[1]
    outputs = functionals.shape[1]
    L = np.eye(outputs)[:, :1] * wide(point, point.L, width)
    virtual = VirtualWeights(
        L, tuple(np.pad(M, (0, width - point.pattern.core)) for M in point.M)
    )
    if point.pattern.attention == "lightning":
        J = virtual_jacobian(OVER, virtual, X, functionals[:, None])[:, 0]
    else:
        J = free_jacobian(
            OVER, virtual, X, [Shares(*one) for one in given], functionals
        )
    return OVER.matmul(J, basis.T)


def whole_kernel(point, width, outputs):
    """The kernel of the derivative of the whole network."""
    basis = directions(point, width, outputs)
    rng = np.random.default_rng(5)
    inputs = basis.shape[1] + 2
    X = OVER.random(rng, (inputs, width, point.pattern.tokens))
    functionals = OVER.random(rng, (inputs, outputs, point.pattern.tokens))
    J = whole_derivative(
        point, basis, X, functionals, free_shares(point, OVER, inputs, rng)
    )
    return len(basis) - exact_rank(J, OVER)


def kernel_at(point, width, outputs):
    pieces = counted(
        pieces_at(point, OVER, np.random.default_rng(0)),
        width - point.pattern.core,
        outputs,
    )
    return sum(piece.copies * piece.kernel for piece in pieces)


def free(attention, *M, L=(1.0, 3.0)):
    """A point where all entries may move."""
    M = tuple(np.array(one, dtype=float) for one in M)
    ranks = tuple(np.linalg.matrix_rank(one, rtol=1e-9) for one in M)
    return Point(
        Pattern(attention, 2, len(L), ("all",) * len(M), ranks), np.array(L), M
    )


SKEW = ((0, 1), (-1, 0))
THIN = ((1, 2), (3, 6))
FULL = ((1, 2), (-3, 4))
ZERO = ((0, 0), (0, 0))
SPECIAL = {
    "lightning, rank-one first layer": free("lightning", THIN, FULL),
    "lightning, antisymmetric first layer": free("lightning", SKEW, FULL),
    "lightning, antisymmetric second layer": free("lightning", FULL, SKEW),
    "lightning, two antisymmetric layers": free("lightning", SKEW, SKEW),
    "lightning, a boundary point": free("lightning", ((1, 2), (3, 6)), L=(1.0, 3.0)),
    "lightning, no A": free("lightning", FULL, ZERO),
    "lightning, no L": free("lightning", FULL, FULL, L=(0.0, 0.0)),
    "softmax, antisymmetric first layer": free("softmax", SKEW, FULL),
    "softmax, antisymmetric first of three": free("softmax", SKEW, FULL, THIN),
    "softmax, antisymmetric second of three": free("softmax", FULL, SKEW, FULL),
    "softmax, no L": free("softmax", FULL, L=(0.0, 0.0)),
    "softmax, two coordinates": free("softmax", FULL, THIN),
}


def patterns():
    found = {}
    for layers in (1, 2, 3):
        for widths in itertools.product((1, 3), repeat=layers):
            for head_dims in itertools.product((1, 2), repeat=layers):
                for tokens, attention in (
                    (1, "lightning"),
                    (2, "lightning"),
                    (2, "softmax"),
                ):
                    pattern = pattern_of(
                        Architecture((*widths, 2), head_dims, tokens, attention)
                    )
                    found[pattern] = random_point(
                        pattern, OVER, np.random.default_rng(1)
                    )
    return list(found.values())


def test_each_column_is_a_derivative_taken_elsewhere():
    """Entry by entry: the columns of all pieces are among those of the whole
    network."""
    rng = np.random.default_rng(6)
    inputs = 7
    for point in [*patterns(), *SPECIAL.values()]:
        n = point.pattern.core
        X = OVER.random(rng, (inputs, n + 2, point.pattern.tokens))
        functionals = OVER.random(rng, (inputs, point.pattern.tokens))
        given = free_shares(point, OVER, inputs, rng)
        pieces = columns_at(point, OVER, X, functionals, given)
        basis = directions(point, n + 2, 1)
        whole = {
            *map(
                tuple,
                whole_derivative(point, basis, X, functionals[:, None], given).T
                % OVER.p,
            )
        }
        # The columns of another output are those of a network with L = 0, but for what
        # moves L.
        own = [column for name in PIECES[:4] for column in pieces[name]]
        assert {tuple(column % OVER.p) for column in own} <= whole, point.pattern
        other = [
            tuple(column % OVER.p) for name in PIECES[4:] for column in pieces[name]
        ]
        assert {*other} <= whole | {
            *map(tuple, [column % OVER.p for column in pieces["core"]])
        }


def test_two_tokens_that_became_equal_share_equally():
    """What the free shares say after an antisymmetric layer, against real softmaxes."""
    point = SPECIAL["softmax, antisymmetric second of three"]
    X = np.random.default_rng(0).standard_normal((4, 2, 2))
    real = softmax_shares(point.M, X)
    free = free_shares(point, OVER, 4, np.random.default_rng(0))
    for layer, (mu, nu) in enumerate(free):
        closes = [
            abs(real[layer].mu + real[layer].nu - 1).max() < 1e-12,
            not ((mu + nu - 1) % OVER.p).any(),
        ]
        halves = [
            abs(real[layer].mu - 0.5).max() < 1e-12,
            not ((2 * mu - 1) % OVER.p).any(),
        ]
        assert closes == [layer > 0] * 2 and halves == [layer > 1] * 2


@pytest.mark.parametrize(("width", "outputs"), [(2, 1), (3, 2), (4, 1), (5, 2)])
def test_the_pieces_make_up_the_whole_derivative_at_generic_points(width, outputs):
    """The gluing, measured: against derivatives taken elsewhere, in all entries of a
    wide network."""
    points = patterns()
    assert len(points) > 30
    for point in points if width < 5 else points[::4]:
        if (
            point.pattern.core == 1
            and point.pattern.attention == "lightning"
            and width > 1
        ):
            continue  # tokens on a line have no other coordinate
        kernel = kernel_at(point, width, outputs)
        assert (
            kernel == whole_kernel(point, width, outputs) == point.pattern.symmetries
        ), point.pattern


@pytest.mark.parametrize("name", SPECIAL)
@pytest.mark.parametrize(("width", "outputs"), [(2, 1), (3, 2), (5, 1)])
def test_the_pieces_make_up_the_whole_derivative_at_special_points(
    name, width, outputs
):
    assert kernel_at(SPECIAL[name], width, outputs) == whole_kernel(
        SPECIAL[name], width, outputs
    )


# What must not hold


AS_GOOD = [
    "lightning, antisymmetric first layer",
    "lightning, antisymmetric second layer",
]
AS_GOOD += ["softmax, two coordinates"]


@pytest.mark.parametrize("name", SPECIAL)
def test_a_special_point_has_a_larger_kernel_or_is_as_good_as_any(name):
    pieces = pieces_at(SPECIAL[name], OVER, np.random.default_rng(0))
    assert all(piece.holds for piece in pieces) == (name in AS_GOOD)
    assert all(piece.kernel >= piece.expected for piece in pieces)


def test_kernels_at_special_points_are_what_the_theorems_say():
    # Two tokens become equal, and the later layer's four entries are invisible
    # ("Theorem A").
    assert kernel_at(SPECIAL["softmax, antisymmetric first layer"], 2, 2) == 4
    for width in (2, 3, 7):  # A = v kᵀ, V = h vᵀ (Lemma A.3)
        assert kernel_at(SPECIAL["lightning, a boundary point"], width, 3) == width
    # lightning still has l (Peel lemma): a special point can do as well as any
    for layers in (1, 2, 3):
        assert (
            kernel_at(free("lightning", SKEW, *(FULL,) * (layers - 1)), 4, 1) == layers
        )


def test_a_wrong_number_of_symmetries_does_not_hold():
    check = local_check(Architecture.uniform(4, 2, 2))
    core = check.pieces[0]
    assert core.expected == 2 and check.holds
    for wrong in (0, 1, 3):
        changed = replace(
            check, pieces=(replace(core, expected=wrong), *check.pieces[1:])
        )
        assert (
            not changed.holds and changed.dimension is None and changed.at_least == 38
        )


def test_a_collapse_must_be_known_for_the_check_to_hold():
    """With a rank-one first layer, counting all entries of the second is wrong, and is
    seen to be."""
    arch = Architecture((3, 3, 3), (1, 2))
    pattern = pattern_of(arch)
    assert (
        pattern.directions == ("rank one", "symmetric")
        and local_check(arch).dimension == 18
    )
    naive = replace(pattern, directions=("all", "all"))
    point = random_point(naive, OVER, np.random.default_rng(0))
    assert kernel_at(point, 3, 3) == whole_kernel(point, 3, 3) > pattern.symmetries
