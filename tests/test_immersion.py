"""The experiments of Theorem A: kernels that fall to 0, what stays where it fails, and
the panel."""

from functools import cache
from itertools import product

import numpy as np
import pytest
from panels import ends, plain, without

from neuroviz.attention.conditioned import conditioned_tokens
from neuroviz.attention.symmetry import VirtualWeights
from neuroviz.kit.controls import is_shown
from neuroviz.rank.elimination import exact_rank
from neuroviz.rank.field import PrimeField, Reals
from neuroviz.rank.floats import is_wide, nearby, without_rounding
from neuroviz.rank.spectrum import from_spectrum
from neuroviz.softmax.immersion import (
    MODES,
    ImmersionSetting,
    real_network,
    study_immersion,
)
from neuroviz.softmax.immersion_panel import ProofExplorer
from neuroviz.softmax.two_tokens import Shares, free_jacobian, softmax_shares

F = PrimeField()
SIZES = [(width, layers) for width in (1, 2, 3) for layers in (1, 2, 3, 4)]
masked = pytest.mark.parametrize("causal", [False, True])


def every_network(test):
    return masked(pytest.mark.parametrize(("width", "layers"), SIZES)(test))


@cache
def study(layers=2, **changes):
    modes = changes.pop("modes", ("true",) * layers)
    freed = changes.pop("freed", ((0.3, 0.3),) * layers)
    return study_immersion(ImmersionSetting(modes=modes, freed=freed, **changes))


def float_spectrum(network):
    """The derivative with its true exponentials, in floating point."""
    virtual, _ = real_network(network)
    n = network.width
    rng = np.random.default_rng([network.seed, 7])
    inputs = 2 * n * n * (network.layers + 1)
    X = conditioned_tokens(n, 2, inputs, rng)
    functionals = rng.standard_normal((inputs, n, 2))

    def rows(virtual, X):
        given = softmax_shares(virtual.M, X, causal=network.causal)
        return free_jacobian(Reals(), virtual, X, given, functionals)

    J = rows(virtual, X)
    if is_wide(J):  # silent directions come out as rounding
        near = VirtualWeights(
            nearby(virtual.L, rng), tuple(nearby(M, rng) for M in virtual.M)
        )
        J = without_rounding(J, rows(near, nearby(X, rng)))
    return from_spectrum(J, inputs, network.seed)


def kernels(found):
    return [one.so_far.kernel for one in found.experiments]


# The theorem


@every_network
def test_one_experiment_after_the_other_the_kernel_falls_to_zero(width, layers, causal):
    found = study(layers, width=width, causal=causal)
    assert found.setting.holds
    assert kernels(found) == [width**2 * left for left in range(layers, -1, -1)]
    assert (
        found.everything.kernel
        == found.left.kernel
        == found.everything.measured.error_bound
        == 0
    )


@every_network
def test_an_experiment_shows_l_and_the_matrix_of_the_layer_that_is_free(
    width, layers, causal
):
    for free in range(layers + 1):  # 0: all frozen
        modes = tuple("free" if i == free else "frozen" for i in range(1, layers + 1))
        here = study(layers, width=width, causal=causal, modes=modes).here
        seen = [block for block, hidden in enumerate(here.blocks) if hidden == 0]
        assert seen == [0] + [free] * (free > 0)
        assert set(here.blocks) <= {0, width**2} and here.mixed == 0


@every_network
@pytest.mark.parametrize("weak", ["nothing", "first", "last", "L", "a little"])
def test_floating_point_with_the_true_exponentials_finds_the_exact_kernel(
    width, layers, causal, weak
):
    """Without Ax's theorem: so it is a check of the free exponentials."""
    change = {
        "nothing": {},
        "first": {"symmetric": 0.0},
        "last": {"symmetric": 0.0, "weak_layer": layers},
        "L": {"size": 0.0},
        "a little": {"symmetric": 0.5, "size": 0.5},
    }[weak]
    for seed in (0, 1):
        found = study(layers, width=width, causal=causal, seed=seed, **change)
        spectrum = float_spectrum(found.setting)
        assert (
            spectrum.decided
            and spectrum.kernel == found.everything.kernel == found.left.kernel
        )


# Its hypotheses


@pytest.mark.parametrize(("width", "layers"), SIZES)
def test_behind_a_layer_without_symmetric_part_nothing_is_seen(width, layers):
    for weak in range(1, layers + 1):
        found = study(layers, width=width, symmetric=0.0, weak_layer=weak)
        assert found.everything.blocks == (0,) * (weak + 1) + (width**2,) * (
            layers - weak
        )
        assert (
            found.everything.kernel == kernels(found)[-1] == width**2 * (layers - weak)
        )
        assert not found.setting.holds and found.setting.tied_layer == weak
        assert [one.possible for one in found.experiments] == [
            one.free_layer == weak for one in found.experiments
        ]


def test_a_layer_that_is_tiny_or_not_there_is_no_weak_one():
    assert study(symmetric=0.0, weak_layer=3).setting.holds
    for change in ({"symmetric": 0.0, "weak_layer": 3}, {"symmetric": 1e-6}):
        assert kernels(study(**change)) == [8, 4, 0]


@every_network
def test_without_l_nothing_but_l_is_seen(width, layers, causal):
    found = study(layers, width=width, size=0.0, causal=causal)
    assert found.everything.blocks == (0,) + (width**2,) * layers
    assert set(kernels(found)) == {width**2 * layers}


@pytest.mark.parametrize(("width", "layers"), SIZES)
def test_under_a_mask_one_zero_layer_breaks_the_argument_and_not_the_conclusion(
    width, layers
):
    for weak in range(1, layers + 1):
        found = study(layers, width=width, symmetric=0.0, weak_layer=weak, causal=True)
        assert not all(one.possible for one in found.experiments)
        assert (
            found.everything.kernel
            == found.left.kernel
            == float_spectrum(found.setting).kernel
            == 0
        )


# Special weights, drawn here: nothing is said about them in the module


def drawn(seed, *shape):
    return F.random(np.random.default_rng(seed), shape)


def special(kind, n, layers, seed=0):
    """L and the M of a kind, mod p."""
    L, *Ms = drawn([seed, n, layers], layers + 1, n, n)
    u, v = drawn([seed, n, layers, 1], 2, layers, n)
    if kind == "all equal":
        Ms = [Ms[0]] * layers
    elif kind == "symmetric":
        Ms = [F.reduce(M + M.T) for M in Ms]
    elif kind == "rank one":
        Ms = [F.reduce(np.outer(a, b)) for a, b in zip(u, v, strict=True)]
    elif kind == "symmetric of rank one":
        Ms = [F.reduce(np.outer(a, a)) for a in u]
    elif kind == "L of rank one":
        L = F.reduce(np.outer(u[0], v[0]))
    elif kind == "antisymmetric":
        Ms = [F.reduce(M - M.T) for M in Ms]
    return VirtualWeights(L, tuple(Ms))


def free_kernel(virtual, causal=False, tied=None):
    """The kernel for free exponentials; the layers in `tied` have the shares that are
    given there."""
    columns = virtual.L.size + sum(M.size for M in virtual.M)
    n = virtual.L.shape[1]
    inputs = columns + 2
    X = drawn(7, inputs, n, 2)
    functionals = drawn(8, inputs, len(virtual.L), 2)
    given = []
    for i in range(len(virtual.M)):
        mu, nu = drawn([9, i], 2, inputs)
        free = Shares(np.zeros(inputs) if causal else mu, nu)
        given.append((tied or {}).get(i + 1, lambda one: one)(free))
    return columns - exact_rank(free_jacobian(F, virtual, X, given, functionals), F)


KINDS = [
    "generic",
    "all equal",
    "symmetric",
    "rank one",
    "symmetric of rank one",
    "L of rank one",
]


@pytest.mark.parametrize(
    ("kind", "causal"), [*product(KINDS, (False, True)), ("antisymmetric", True)]
)
def test_special_weights_that_satisfy_the_hypotheses_are_no_exception(kind, causal):
    for n, layers in product((1, 2, 3, 4), (1, 2, 3, 4)):
        assert free_kernel(special(kind, n, layers), causal) == 0, (n, layers)


def test_without_a_mask_they_are_one():
    def meet(free):
        return Shares(free.mu, F.reduce(1 - free.mu))

    antisymmetric = special("antisymmetric", 2, 2)
    assert free_kernel(antisymmetric, tied={1: meet, 2: meet}) == 4
    assert free_kernel(antisymmetric) == 0  # a count that ignores PQ = 1


def test_under_a_mask_two_zero_layers_hide_something():
    """So that one zero layer does no harm is not a matter of course."""
    half = float((F.p + 1) // 2)

    def even(free):
        return Shares(free.mu, np.full_like(free.nu, F.reduce(np.array(half))))

    L, *Ms = drawn(1, 4, 2, 2)
    for zeros, hides in (((1,), False), ((1, 2), True), ((2, 3), True)):
        M = tuple(0 * one if i in zeros else one for i, one in enumerate(Ms, start=1))
        found = free_kernel(
            VirtualWeights(L, M), causal=True, tied={i: even for i in zeros}
        )
        assert (found > 0) == hides


# What the reader sets


def test_one_pair_of_exponentials_shows_as_much_as_all_of_them():
    for modes in (("free", "free"), ("free", "true"), ("free", "free", "free", "free")):
        found = study(len(modes), modes=modes)
        assert found.here.kernel == 0


@pytest.mark.parametrize(("mu", "nu"), [(0.0, 0.0), (1.0, 1.0), (0.0, 1.0), (1.0, 0.0)])
def test_shares_of_zero_and_one_hide_the_layer_that_has_them(mu, nu):
    found = study(modes=("free", "frozen"), freed=((mu, nu), (0.3, 0.3)))
    assert found.here.blocks == (0, 4, 4)
    assert (found.met_after == 1) == (mu + nu == 1)


def test_shares_that_sum_to_one_are_a_collapse():
    for mu in (0.2, 0.5, 0.7):
        found = study(
            modes=("free", "true"), freed=((mu, round(1 - mu, 6)), (0.3, 0.3))
        )
        assert found.met_after == 1 and found.here.blocks == (0, 0, 4)
    assert (
        study(modes=("free", "true"), freed=((0.5, 0.45), (0.3, 0.3))).met_after is None
    )


@pytest.mark.parametrize("modes", list(product(MODES, repeat=2)), ids="-".join)
@masked
def test_a_layer_is_hidden_where_it_is_frozen_or_gets_equal_tokens(modes, causal):
    found = study(modes=modes, causal=causal)
    for i, mode in enumerate(modes, start=1):
        blind = found.met_after is not None and found.met_after < i
        # Under a mask the limit Q → ∞ has no derivative, and equal tokens at the end
        # hide all before.
        silent = mode == "frozen" or (causal and "collapsed" in modes)
        assert found.here.blocks[i] == (4 if blind or silent else 0)
    assert found.met_after == (
        modes.index("collapsed") + 1 if "collapsed" in modes else None
    )
    assert found.here.blocks[0] == 0


def test_a_tied_layer_stays_as_it_is_whatever_the_reader_sets():
    as_it_is = study(symmetric=0.0)
    for mode in list(MODES)[1:]:
        found = study(modes=(mode, "true"), symmetric=0.0)
        assert found.given == as_it_is.given and found.here == as_it_is.here
    assert study(modes=("frozen", "true")).given != study().given


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"modes": ("true",)}, "one entry for each"),
        ({"modes": ("true", "thawed")}, "'thawed'"),
        ({"freed": ((0.3, 1.3), (0.3, 0.3))}, "between 0 and 1"),
        ({"symmetric": -0.1}, "between 0 and 1"),
        ({"size": float("nan")}, "between 0 and 1"),
        ({"width": 4}, "1, 2 or 3; got 4"),
        ({"weak_layer": 5}, "from 1 to 4; got 5"),
    ],
)
def test_a_setting_that_is_none_is_refused_in_words(bad, words):
    with pytest.raises(ValueError, match=words):
        ImmersionSetting(**bad)


# The panel


PANEL = ProofExplorer
STATES = [
    "",
    "experiment=frozen",
    "experiment=only-3;layers=4;width=3;mu_3=0.9",
    "experiment=own;mode_1=free;mu_1=1;nu_1=0;mode_2=free;mu_2=1;nu_2=1",
    "symmetric=0",
    "symmetric=0;weak_layer=2;layers=4;experiment=frozen;width=3",
    "symmetric=0;causal=yes;weak_layer=4;layers=4;experiment=only-4",
    "causal=yes;experiment=own;mode_1=collapsed",
    "experiment=own;mode_1=collapsed;mode_2=free;size=0",
]


@pytest.mark.parametrize(
    ("state", "here"),
    [
        ("", []),
        ("experiment=only-2", ["mu_2", "nu_2"]),
        ("experiment=own", ["mode_1", "mode_2"]),
        ("experiment=own;mode_1=free;causal=yes", ["mode_1", "nu_1", "mode_2"]),
    ],
)
def test_controls_of_a_layer_are_enabled_where_they_have_a_say(panel, state, here):
    panel.state = state
    for i, what in ((i, what) for i in (1, 2, 3, 4) for what in ("mode", "mu", "nu")):
        control = panel.controls[f"{what}_{i}"]
        assert (control.disabled, not is_shown(control)) == (
            f"{what}_{i}" not in here,
            i > 2,
        )


@pytest.mark.parametrize("state", STATES)
def test_a_control_without_a_say_changes_nothing(panel, state):
    panel.state = state
    before = panel.description, without(plain(panel.figure), ("place",))
    for control in [control for control in panel.controls.values() if control.disabled]:
        control.value = next(end for end in ends(control) if end != control.value)
        assert (panel.description, without(plain(panel.figure), ("place",))) == before


def test_the_name_of_a_slider_says_what_it_weakens(panel):
    assert panel.controls["symmetric"].description == "Sym M₁ times"
    panel.state = "causal=yes;weak_layer=2"
    assert panel.controls["symmetric"].description == "M₂ times"
    panel.state = "weak_layer=3"
    assert (
        panel.controls["symmetric"].disabled
        and "no layer 3 to weaken" in panel.description
    )
