"""Dimensions that others published of polynomial networks, measured here.

The networks are x ↦ W_l (… W₂ (W₁ x)^r …)^r, powers entry by entry.

Usevich, Borsoi, Dérand and Clausel, Identifiability of Deep Polynomial Neural Networks,
arXiv 2506.17093, with the reworked appendices of version 3: Sections 1 to 5 and
Appendix A were read, in a text without pages. So a statement is named by its number.

Dao and Rodriguez, Minimal Filling Architectures of Polynomial Neural Networks, arXiv
2605.09609: the paper itself was not read; the numbers below stand in its repository
daokevin06/MFA_PNNs at commit f958bb6, whose files name Proposition 2.5 and Table 2.
"""

from itertools import pairwise, product
from math import comb

import pytest
from polynomial import Polynomial

from neuroviz.rank import measure_dimension


def dimension(widths, power):
    return measure_dimension(Polynomial(widths, power)).value


def free_parameters(widths):
    """All parameters but one for each hidden neuron, whose scale is free."""
    return sum(m * n for m, n in pairwise(widths)) - sum(widths[1:-1])


def coefficients(widths, power):
    """Those of as many forms as there are outputs."""
    degree = power ** (len(widths) - 2)
    return widths[-1] * comb(widths[0] + degree - 1, degree)


def two_layers_are_identifiable(d0, d1, d2, power):
    """Proposition 12 of Usevich et al., a sufficient condition.

    Where (4) holds, the power and both widths before the output are 2 or more.
    """
    return power * (min(d1, d0) - 1) >= 2 * d1 - min(d2, d1)


def is_identifiable(widths, power):
    """Theorem 11 and Remark 13: if any two layers are, from the least width before."""
    hidden = range(1, len(widths) - 1)
    return all(
        two_layers_are_identifiable(min(widths[:i]), widths[i], widths[i + 1], power)
        for i in hidden
    )


def grid(layers, widest):
    return product(range(1, widest + 1), repeat=layers + 1)


@pytest.mark.parametrize(
    ("layers", "widest", "power"),
    [(2, 5, 2), (2, 5, 3), (2, 4, 5), (3, 4, 2), (3, 4, 3), (3, 3, 5), (4, 4, 2)],
)
def test_identifiable_networks_have_all_their_free_parameters(layers, widest, power):
    """Proposition 10 of Usevich et al., and the bound (8) for all networks."""
    some_are_identifiable = False
    some_have_fewer = False
    for widths in grid(layers, widest):
        found = dimension(widths, power)
        free = free_parameters(widths)
        assert found <= min(free, coefficients(widths, power)), widths
        if is_identifiable(widths, power):
            assert found == free, widths
            some_are_identifiable = True
        elif found < free:
            some_have_fewer = True
    assert some_are_identifiable
    assert some_have_fewer


@pytest.mark.parametrize("layers", [2, 3, 4, 5])
@pytest.mark.parametrize("width", [2, 3, 4])
def test_networks_of_one_width(width, layers):
    """Corollary 16 of Usevich et al.: squares do, for more than one output."""
    assert dimension((width,) * (layers + 1), 2) == (
        layers * width**2 - (layers - 1) * width
    )


@pytest.mark.parametrize(
    "widths", [(2, 3, 2), (2, 3, 4, 2), (3, 4, 3, 1), (2, 2, 4, 1)], ids=str
)
def test_a_power_that_is_large_enough_for_any_widths(widths):
    """Corollary 17 of Usevich et al.: twice the widest hidden layer, less one."""
    assert dimension(widths, 2 * max(widths[1:-1]) - 1) == free_parameters(widths)


@pytest.mark.parametrize(
    "widths", [(2, 4, 5), (3, 7, 7), (2, 3, 7, 3), (3, 2, 4, 4)], ids=str
)
def test_squares_of_too_many_neurons_depend_on_each_other(widths):
    """Remark 18 of Usevich et al.: more than d(d + 1)/2 after a layer of width d."""
    assert any(n > m * (m + 1) // 2 for m, n in pairwise(widths[:-1]))
    assert dimension(widths, 2) < free_parameters(widths)


@pytest.mark.parametrize(
    ("widths", "published"),
    [
        # notebooks/verify_proposition.ipynb: filling, Proposition 2.5
        ((2, 3, 3), 9),
        ((3, 6, 4), 24),
        ((4, 6, 3), 30),
        ((2, 4, 5, 4), 20),
        ((2, 3, 4, 4), 20),
        ((2, 3, 4, 5, 3), 27),
        ((2, 3, 4, 5, 4), 36),
        # the notes verify_exhaustive_list.md on Table 2: Lemma 1, then Lemma 2
        ((2, 3, 3, 4, 4, 2, 1), 33),
        ((5, 5, 3, 1), 32),
        ((5, 4, 3, 1), 25),
        ((4, 5, 5, 3, 1), 47),
        # written (3, 5, 6, 9, 3, 1), in a line on networks that end in 5, 6, 4, 3, 1
        ((3, 5, 6, 4, 3, 1), 58),
        # data/processed/counterexamples.csv
        ((2, 3, 4, 5, 4, 6, 4, 1), 65),
        # data/raw/2_1_architectures.csv
        ((2, 2, 1), 3),
        ((2, 2, 2, 1), 5),
        ((2, 2, 2, 2, 2, 2, 2, 1), 13),
        ((2, 1, 2, 1), 2),
        # data/raw/2_2_architectures.csv
        ((2, 2, 2), 6),
        ((2, 9, 2), 6),
        ((2, 2, 2, 2, 2, 2, 2, 2), 16),
        # data/raw/2_3_architectures.csv
        ((2, 2, 3), 8),
        # data/raw/3_1_architectures.csv
        ((3, 2, 1), 5),
        ((3, 3, 1), 6),
        ((3, 2, 4, 1), 7),
        ((3, 5, 8, 1), 15),
    ],
    ids=str,
)
def test_dimensions_with_squares_as_dao_and_rodriguez_have_them(widths, published):
    assert dimension(widths, 2) == published
