"""Relations between logits: which exponentials are free, and that true attention knows
no others."""

import flint
import numpy as np
import pytest
from differentials import virtual_jacobian

from neuroviz.attention import Architecture
from neuroviz.attention.conditioned import conditioned_tokens, conditioned_weights
from neuroviz.attention.layers import by_layer
from neuroviz.attention.symmetry import VirtualWeights
from neuroviz.rank.exponentials import INDEPENDENT
from neuroviz.rank.field import Reals
from neuroviz.rank.spectrum import from_spectrum

KINDS = ("generic", "symmetric", "antisymmetric", "rank-one", "zero")
# length of an antisymmetric M: tokens of length 1 attend unevenly, but not to one alone
_TURN = 4.0


def rng(*seed):
    return np.random.default_rng(seed)


def matrix_of(kind, A, B):
    """A matrix of a kind, made of two others."""
    if kind == "rank-one":
        return np.outer(A[:, 0], B[:, 0])
    return {
        "generic": A,
        "symmetric": A + A.T,
        "antisymmetric": A - A.T,
        "zero": 0 * A,
    }[kind]


def places(tokens):
    """All (j, i) with j ≠ i, column by column."""
    return [(j, i) for i in range(tokens) for j in range(tokens) if j != i]


def expected(kind, width, tokens):
    """The table of docs/mathematics/free_exponentials.md, "Relations"."""
    pairs = tokens * (tokens - 1) // 2
    if kind == "zero" or (kind == "antisymmetric" and width == 1):
        return 0
    if kind == "antisymmetric":
        return pairs
    if kind == "symmetric" or width == 1:
        return 2 * pairs - (tokens - 1) * (tokens - 2) // 2
    return 2 * pairs


@pytest.mark.parametrize("tokens", [2, 3, 4])
@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_the_count_of_the_table_is_the_rank_of_the_quadratic_forms(kind, width, tokens):
    """The differences (x_j − x_i)ᵀMx_i as forms in X, in whole numbers: no points, no
    prime."""
    M = matrix_of(kind, *rng(0, width).integers(-99, 100, (2, width, width)))
    rows = []
    for j, i in places(tokens):
        form = np.zeros((tokens, width, tokens, width), dtype=int)
        form[j, :, i] += M
        form[i, :, i] -= M
        form = form.reshape(tokens * width, -1)
        rows.append((form + form.T)[np.triu_indices(tokens * width)].tolist())
    assert flint.fmpz_mat(rows).rank() == expected(kind, width, tokens)


# What Ax's theorem concludes


def true_attention(M, X):
    logits = np.swapaxes(X, -1, -2) @ M @ X
    return Reals().softmax(logits, INDEPENDENT.draw, None, rng(0))


@pytest.mark.parametrize("kind", ["symmetric", "antisymmetric", "generic"])
def test_true_attention_satisfies_the_equations_of_the_table(kind):
    S = true_attention(
        matrix_of(kind, *rng(0).standard_normal((2, 3, 3))),
        rng(1).standard_normal((20, 3, 3)),
    )
    one_way = S[:, 0, 1] * S[:, 1, 2] * S[:, 2, 0]
    other = S[:, 1, 0] * S[:, 2, 1] * S[:, 0, 2]
    assert np.allclose(one_way, other, rtol=1e-9, atol=0) == (kind == "symmetric")
    pairs = S[:, 0, 1] * S[:, 1, 0], S[:, 0, 0] * S[:, 1, 1]
    assert np.allclose(*pairs, rtol=1e-9, atol=0) == (kind == "antisymmetric")


@pytest.mark.parametrize(
    ("kind", "missing"), [("generic", 0), ("symmetric", 0), ("antisymmetric", 1)]
)
def test_no_equation_of_degree_two_binds_free_exponentials_of_two_tokens(kind, missing):
    """1, X, P, Q and all their products on 200 real inputs: dependent exactly where PQ
    = 1."""
    M = matrix_of(kind, *rng(0).standard_normal((2, 2, 2)))
    X = rng(1).standard_normal((200, 2, 2)) * 0.7
    s = np.swapaxes(X, -1, -2) @ M @ X
    logits = np.stack([s[:, j, i] - s[:, i, i] for j, i in places(2)], axis=1)
    functions = np.concatenate(
        [np.ones((200, 1)), X.reshape(200, -1), np.exp(logits)], 1
    )
    n = functions.shape[1]
    table = np.stack(
        [functions[:, a] * functions[:, b] for a in range(n) for b in range(a, n)],
        axis=1,
    )
    sigma = np.linalg.svd(table / np.linalg.norm(table, axis=0), compute_uv=False)
    assert (sigma < 1e-10).sum() == missing


@pytest.mark.parametrize(
    ("kind", "dimension"),
    [("generic", 6), ("symmetric", 5), ("antisymmetric", 3), ("rank-one", 4)],
)
def test_the_set_of_attention_matrices_of_three_tokens_has_this_dimension(
    kind, dimension
):
    """Of rank one fewer than the 6 free exponentials: Ax asks for linear independence
    only."""
    step = 1e-5

    def attention(z):
        a, b, x = z.reshape(3, 3, 3)
        return true_attention(matrix_of(kind, a, b), x).ravel()

    z = rng(7).standard_normal(27) * 0.6
    J = [
        (attention(z + step * e) - attention(z - step * e)) / (2 * step)
        for e in np.eye(27)
    ]
    sigma = np.linalg.svd(np.array(J), compute_uv=False)
    assert (sigma > 1e-6 * sigma[0]).sum() == dimension


# Kernels


@pytest.mark.parametrize(
    ("tokens", "width", "layers"),
    [(2, 1, 2), (2, 2, 1), (2, 2, 2), (3, 2, 2), (4, 3, 3)],
)
@pytest.mark.parametrize("place", ["first", "last", "all"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_kernel_is_not_zero_exactly_where_a_layer_before_the_last_collapses(
    kind, place, tokens, width, layers
):
    """M = 0, or antisymmetric and two tokens (or tokens on a line, where antisymmetric
    is 0): in floats."""
    arch = Architecture.uniform(width, width, layers, tokens, "softmax")
    Ms = []
    weights = conditioned_weights(arch.layers, "softmax", rng(1))
    for k, layer in enumerate(by_layer(weights), start=1):
        special = {"first": k == 1, "last": k == layers, "all": True}[place]
        M = layer["K"].T @ layer["Q"]
        length = np.linalg.norm(M)
        # M is nearly symmetric: the rest of it is of no use here
        if special and kind == "antisymmetric":
            M = rng(3, k).standard_normal(M.shape)
            length = _TURN
        made = matrix_of(kind if special else "generic", M, M.T)
        Ms.append(made * length / (np.linalg.norm(made) or 1.0))
    L, _ = np.linalg.qr(rng(2).standard_normal((width, width)))
    columns = width**2 * (1 + layers)
    X = conditioned_tokens(width, tokens, columns + 2, rng(4))
    every = np.eye(width * tokens)
    J = virtual_jacobian(
        Reals(),
        VirtualWeights(L, tuple(Ms)),
        X,
        every.reshape(1, -1, width, tokens),
        "softmax",
    )
    found = from_spectrum(J.reshape(-1, columns), len(X), 0)
    nothing = kind == "zero" or (
        kind == "antisymmetric" and (tokens == 2 or width == 1)
    )
    collapses = nothing and place != "last" and layers > 1
    assert found.gap > 1e6 and found.kernel == (
        (layers - 1) * width**2 if collapses else 0
    )
