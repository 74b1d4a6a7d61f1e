"""Which exponentials are free, exactly; and what a count answers that ignores the others' relations."""

from itertools import product

import flint
import numpy as np
import pytest

from neuroviz.beyond.proof.exponentials import (
    all_free,
    draw_attention,
    places,
    softmax_jacobian,
)
from neuroviz.beyond.proof.exponentials_study import (
    KINDS,
    PLACES,
    ExponentialsSetting,
    matrix_of,
    measure_attention,
    real_network,
    study_exponentials,
)
from neuroviz.beyond.proof.logit_relations import _whole, logit_differences, measure_independence
from neuroviz.engine.architecture import Architecture
from neuroviz.engine.field import SECOND_PRIME, PrimeField, Reals
from neuroviz.engine.network import Layer, conditioned_tokens, forward, jacobian
from neuroviz.engine.rank import exact_rank
from neuroviz.engine.symmetry import VirtualWeights

F = PrimeField()


def rng(*seed):
    return np.random.default_rng(seed)


def special(kind, width, seed=0, over=F):
    return matrix_of(over, kind, *over.random(rng(seed, width), (2, width, width)))


def independent(kind, width, tokens, layers=1, seed=0):
    """How many differences of logits are independent, layer by layer, with M_1 of this kind."""
    Ms = (special(kind, width, seed), *F.random(rng(seed, 1), (layers - 1, width, width)))
    found = measure_independence(F, Ms, tokens, rng(seed, 2))
    return [one.independent.value for one in found.layers]


def expected(kind, width, tokens):
    """The table of docs/mathematics.md, "Relations between logits"."""
    pairs = tokens * (tokens - 1) // 2
    if kind == "zero" or (kind == "antisymmetric" and width == 1):
        return 0
    if kind == "antisymmetric":
        return pairs
    if kind == "symmetric" or width == 1:
        return 2 * pairs - (tokens - 1) * (tokens - 2) // 2
    return 2 * pairs


def coefficients(M, tokens):
    """The differences of a first layer as quadratic forms in X: one row of whole numbers for each."""
    d, rows = len(M), []
    for j, i in places(tokens):
        form = np.zeros((tokens * d, tokens * d))
        form[(j - 1) * d : j * d, (i - 1) * d : i * d] += M
        form[(i - 1) * d : i * d, (i - 1) * d : i * d] -= M
        rows.append((form + form.T)[np.triu_indices(tokens * d)])
    return np.array(rows, dtype=int)


# The hypothesis of Ax's theorem


@pytest.mark.parametrize("tokens", [2, 3, 4])
@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_the_count_is_that_of_the_table_and_the_rank_of_the_coefficients(kind, width, tokens):
    """Another path: no points, no prime; the quadratic forms themselves, in whole numbers."""
    rows = coefficients(special(kind, width), tokens)
    found = independent(kind, width, tokens)
    assert found == [flint.fmpz_mat(rows.tolist()).rank()] == [expected(kind, width, tokens)]


def test_differences_of_logits_are_what_a_softmax_sees():
    X, M = rng(0).standard_normal((2, 3, 4)), rng(1).standard_normal((3, 3))
    s = np.swapaxes(X, -1, -2) @ M @ X
    found = logit_differences(Reals(), M, X)
    for n, (j, i) in enumerate(places(4)):
        np.testing.assert_allclose(found[:, n], s[:, j - 1, i - 1] - s[:, i - 1, i - 1], atol=1e-12)
    # A number added to a column of logits changes neither.
    np.testing.assert_allclose(
        Reals().softmax(s + rng(2).standard_normal((2, 1, 4)), False, rng(0)),
        Reals().softmax(s, False, rng(0)),
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("width", "tokens"), [(2, 2), (2, 3), (1, 4), (3, 4)])
def test_every_relation_of_a_first_layer_is_an_identity_of_polynomials(kind, width, tokens):
    M = special(kind, width)
    rows = dict(zip(places(tokens), coefficients(M, tokens), strict=True))
    (layer,) = measure_independence(F, (M,), tokens, rng(3)).layers
    for one in layer.relations:
        assert one.proved
        assert not (rows[one.determined[1:]] - sum(n * rows[place[1:]] for place, n in one.powers)).any()
    assert layer.independent.error_bound == 0


def test_a_relation_that_holds_mod_p_only_is_not_called_proved():
    """M + Mᵀ = 0 mod p but not in whole numbers."""
    over = PrimeField(7)
    M = np.array([[0.0, 3.0], [4.0, 0.0]])
    (layer,) = measure_independence(over, (M,), 2, rng(0)).layers
    (relation,) = layer.relations
    assert not relation.proved and layer.independent.error_bound > 0


def test_symmetric_logits_are_related_round_every_triangle():
    found = measure_independence(F, (special("symmetric", 3),), 4, rng(0))
    for one in found.layers[0].relations:
        powers = {one.determined[1:]: 1} | {place[1:]: -n for place, n in one.powers}
        tokens = sorted({t for place in powers for t in place})
        assert len(tokens) == 3 and len(powers) == 6
        assert all(powers[j, i] == -powers[i, j] for j, i in powers)
        assert all(sum(n for (_, column), n in powers.items() if column == i) == 0 for i in tokens)


@pytest.mark.parametrize(
    ("kind", "tokens", "later"),
    [("antisymmetric", 2, 0), ("antisymmetric", 3, 6), ("zero", 2, 0), ("zero", 3, 0)],
)
def test_an_antisymmetric_layer_collapses_two_tokens_and_a_zero_one_all(kind, tokens, later):
    """The layers after it see equal tokens: all their logits differ by 0."""
    assert independent(kind, 2, tokens, layers=3)[1:] == [later, later]


def test_relations_of_a_later_layer_come_with_the_chance_that_they_are_none():
    Ms = (special("antisymmetric", 2), F.random(rng(1), (2, 2)))
    first, second = measure_independence(F, Ms, 2, rng(0)).layers
    assert first.independent.error_bound == 0 < second.independent.error_bound < 1e-30
    assert not any(one.proved for one in second.relations)


def test_independence_does_not_depend_on_the_prime():
    for p, kind in product((SECOND_PRIME, 1009), KINDS):
        over = PrimeField(p)
        M = special(kind, 3, over=over)
        found = measure_independence(over, (M, over.random(rng(5), (3, 3))), 3, rng(0))
        assert [one.independent.value for one in found.layers] == independent(kind, 3, 3, layers=2)


def test_weights_with_a_relation_that_is_no_small_whole_number_are_refused():
    """No network in reach has such a relation, so the check is asked by itself."""
    assert _whole(F, (1, 2, 1), -1.0) == -1
    for place, n in (((1, 2, 1), 1234.0), (None, 1.0)):
        with pytest.raises(ValueError, match="take other weights, or another prime"):
            _whole(F, place, n)


# What Ax's theorem concludes


def true_attention(M, X):
    return Reals().softmax(np.swapaxes(X, -1, -2) @ M @ X, False, rng(0))


@pytest.mark.parametrize(
    ("kind", "holds"),
    [("symmetric", True), ("generic", False), ("rank-one", False), ("antisymmetric", False)],
)
def test_the_triangle_relation_holds_for_true_softmax_attention_where_m_is_symmetric(kind, holds):
    S = true_attention(special(kind, 3, over=Reals()), rng(1).standard_normal((20, 3, 3)))
    one_way, other = S[:, 0, 1] * S[:, 1, 2] * S[:, 2, 0], S[:, 1, 0] * S[:, 2, 1] * S[:, 0, 2]
    assert np.allclose(one_way, other, rtol=1e-9, atol=0) == holds


@pytest.mark.parametrize("kind", ["symmetric", "antisymmetric", "generic"])
def test_drawn_attention_satisfies_the_equations_of_true_attention(kind):
    M = special(kind, 3)
    S = draw_attention(F, measure_independence(F, (M,), 3, rng(0)).monomials, 30, rng(1))[0]
    np.testing.assert_array_equal(F.reduce(S.sum(axis=-2)), 1)
    one_way = F.reduce(F.reduce(S[:, 0, 1] * S[:, 1, 2]) * S[:, 2, 0])
    other = F.reduce(F.reduce(S[:, 1, 0] * S[:, 2, 1]) * S[:, 0, 2])
    assert (one_way == other).all() == (kind == "symmetric")
    pairs = F.reduce(F.reduce(S[:, 0, 1] * S[:, 1, 0]) - F.reduce(S[:, 0, 0] * S[:, 1, 1]))
    assert (pairs == 0).all() == (kind == "antisymmetric")


@pytest.mark.parametrize(("kind", "missing"), [("generic", 0), ("symmetric", 0), ("antisymmetric", 1)])
def test_no_equation_of_degree_two_binds_free_exponentials_of_two_tokens(kind, missing):
    """1, X, P, Q and all their products on 200 real inputs: dependent exactly where PQ = 1."""
    M = special(kind, 2, over=Reals())
    X = rng(1).standard_normal((200, 2, 2)) * 0.7
    functions = np.concatenate(
        [np.ones((200, 1)), X.reshape(200, -1), np.exp(logit_differences(Reals(), M, X))], 1
    )
    n = functions.shape[1]
    table = np.stack([functions[:, a] * functions[:, b] for a in range(n) for b in range(a, n)], axis=1)
    sigma = np.linalg.svd(table / np.linalg.norm(table, axis=0), compute_uv=False)
    assert (sigma < 1e-10).sum() == missing


# The set of attention matrices


@pytest.mark.parametrize("tokens", [2, 3, 4])
@pytest.mark.parametrize("kind", ["generic", "symmetric", "antisymmetric", "zero"])
def test_with_wide_tokens_attention_matrices_fill_as_many_dimensions_as_exponentials_are_free(kind, tokens):
    filled = measure_attention(F, kind, 5, tokens, rng(0))
    assert filled.value == expected(kind, 5, tokens)
    assert filled.num_columns == tokens * (tokens - 1)


def test_linear_independence_asks_less_than_algebraic_independence():
    """Rank one: the logits themselves satisfy equations, their exponentials do not (Ax needs no more)."""
    assert measure_attention(F, "rank-one", 3, 3, rng(0)).value == 4
    assert independent("rank-one", 3, 3) == [6]


@pytest.mark.parametrize("kind", ["generic", "symmetric", "antisymmetric", "rank-one"])
def test_the_dimension_of_the_set_is_that_of_true_softmax_attention(kind):
    """The derivative of S in X and M by central differences, in floating point."""
    over, step = Reals(), 1e-5
    A, B, X = rng(7).standard_normal((3, 3, 3)) * 0.6

    def attention(z):
        a, b, x = z.reshape(3, 3, 3)
        return true_attention(matrix_of(over, kind, a, b), x).ravel()

    z = np.concatenate([A.ravel(), B.ravel(), X.ravel()])
    J = [(attention(z + step * e) - attention(z - step * e)) / (2 * step) for e in np.eye(27)]
    sigma = np.linalg.svd(np.array(J), compute_uv=False)
    assert (sigma > 1e-6 * sigma[0]).sum() == measure_attention(F, kind, 3, 3, rng(0)).value


# Kernels


def test_ignoring_pq_equal_one_hides_four_directions():
    """The negative control: d₀ = l = t = 2, M_1 antisymmetric. The four entries of M_2 do nothing."""
    study = study_exponentials(ExponentialsSetting())
    assert (study.related.kernel, study.free.kernel, study.spectrum.kernel) == (4, 0, 4)
    assert study.spectrum.decided


def test_the_four_directions_are_the_entries_of_the_second_matrix():
    M, (L, N) = special("antisymmetric", 2), F.random(rng(1), (2, 2, 2))
    monomials = measure_independence(F, (M, N), 2, rng(0)).monomials
    X, c = F.random(rng(2), (20, 2, 2)), F.random(rng(3), (20, 1, 2, 2))
    J = softmax_jacobian(F, VirtualWeights(L, (M, N)), X, c, draw_attention(F, monomials, 20, rng(4)))[:, 0]
    assert not J[:, 4:8].any() and exact_rank(J, F) == 8
    free = softmax_jacobian(F, VirtualWeights(L, (M, N)), X, c, draw_attention(F, all_free(2, 2), 20, rng(4)))
    assert exact_rank(free[:, 0], F) == 12


EVERY = [
    ExponentialsSetting(kind, place, tokens, width, layers, seed=1)
    for kind, place, tokens, width, layers in product(KINDS, PLACES, (2, 3), (1, 2), (1, 2))
] + [ExponentialsSetting(kind, "first", 4, 3, 3, seed=2) for kind in KINDS]


@pytest.mark.parametrize("setting", EVERY, ids=str)
def test_the_kernel_with_relations_is_that_of_the_true_softmax(setting):
    """It is not 0 exactly where a layer before the last collapses: M = 0, or antisymmetric and two tokens.

    (Or tokens on a line, where antisymmetric is 0.) With free exponentials all layers can be frozen
    (Theorem A), so a count that ignores the relations knows one answer only.
    """
    study = study_exponentials(setting)
    nothing = setting.kind == "zero" or (
        setting.kind == "antisymmetric" and (setting.tokens == 2 or setting.width == 1)
    )
    collapses = nothing and setting.place != "last" and setting.layers > 1
    later = (setting.layers - 1) * setting.width**2
    assert study.spectrum.decided
    assert study.spectrum.kernel == study.related.kernel == (later if collapses else 0)
    assert study.free.kernel == 0


def test_tied_queries_and_keys_change_the_free_exponentials_and_not_the_kernel():
    study = study_exponentials(ExponentialsSetting("symmetric", "all", 3, 2, 2))
    assert study.independence.layers[0].independent.value == study.attention.value == 5
    assert all_free(1, 3).shape[-1] == 6
    assert study.related.kernel == study.free.kernel == study.spectrum.kernel == 0


def test_a_kernel_of_zero_is_certain_and_a_larger_one_has_a_small_chance_to_be_wrong():
    assert study_exponentials(ExponentialsSetting("generic")).related.error_bound == 0
    assert 0 < study_exponentials(ExponentialsSetting()).related.error_bound < 1e-3


# The derivative, and what is drawn


@pytest.mark.parametrize("layers", [1, 3])
def test_the_derivative_is_that_of_the_function(layers):
    virtual = real_network(ExponentialsSetting("symmetric", tokens=3, width=2, layers=layers))
    arch = Architecture.uniform(2, 2, layers, 3, "softmax")
    X = conditioned_tokens(arch, 2, rng(1))

    def outputs(z):
        *Ms, L = z.reshape(layers + 1, 2, 2)
        weights = [Layer(M, np.eye(2), np.eye(2)) for M in Ms[:-1]] + [Layer(Ms[-1], np.eye(2), L)]
        return forward(Reals(), "softmax", tuple(weights), X).reshape(2, -1)

    z = np.concatenate([*(M.ravel() for M in virtual.M), virtual.L.ravel()])
    J = softmax_jacobian(Reals(), virtual, X, np.eye(6).reshape(1, 6, 2, 3))
    for n, e in enumerate(np.eye(len(z))):
        slope = (outputs(z + 1e-6 * e) - outputs(z - 1e-6 * e)) / 2e-6
        np.testing.assert_allclose(J[..., n], slope, atol=1e-7)


def test_given_attention_takes_the_place_of_the_fields_own():
    M, L, X = rng(0).standard_normal((2, 2)), np.eye(2), rng(1).standard_normal((3, 2, 2))
    c = np.eye(4).reshape(1, 4, 2, 2)
    virtual = VirtualWeights(L, (M,))
    own = softmax_jacobian(Reals(), virtual, X, c)
    same = softmax_jacobian(Reals(), virtual, X, c, true_attention(M, X)[None])
    np.testing.assert_allclose(own, same, atol=1e-14)
    other = softmax_jacobian(Reals(), virtual, X, c, np.full((1, 3, 2, 2), 0.5))
    assert np.abs(own - other).max() > 0.01
    weights = (Layer(M, np.eye(2), L),)
    np.testing.assert_allclose(own[..., :4], jacobian(Reals(), "softmax", weights, X)[..., :4])


def test_columns_whose_sum_is_zero_are_drawn_again():
    """Mod 3 every second column sums to 0 at first."""
    S = draw_attention(PrimeField(3), all_free(2, 2), 200, rng(0))
    np.testing.assert_array_equal(PrimeField(3).reduce(S.sum(axis=-2)), 1)


@pytest.mark.parametrize(
    "wrong",
    [{"kind": "skew"}, {"place": "second"}, {"tokens": 1}, {"layers": 4}, {"layers": True}, {"width": 2.0}],
)
def test_settings_outside_the_study_are_refused(wrong):
    with pytest.raises(ValueError, match="got"):
        ExponentialsSetting(**wrong)
