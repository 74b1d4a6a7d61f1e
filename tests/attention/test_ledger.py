"""The ledger adds up because it is measured: against autograd, by-hand counts and
random architectures."""

import random
from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from architectures import random_architectures
from polynomial import Polynomial
from test_modules import autograd_jacobian, with_weights

from neuroviz.attention import Architecture
from neuroviz.attention.directions import symmetry_directions
from neuroviz.attention.formulas import expected_dimension, general_formula
from neuroviz.attention.identifiability import is_identifiable
from neuroviz.attention.ledger import KernelLedger
from neuroviz.kit.measured import kernel_ledger, measure_dimension, rank_by_inputs
from neuroviz.rank.field import Reals
from neuroviz.rank.point import random_point

BOTH = ("lightning", "softmax")
LINE = "lie on a line"
RANK_ONE = "has rank one"
ONE_TOKEN = "one token"
HIDDEN = "of the coordinates between layers"


def lightning(*sizes):
    return Architecture(*sizes, attention="lightning")


def softmax(*sizes):
    return Architecture(*sizes, attention="softmax")


def bottlenecks(count: int, seed: int):
    """Inner widths δ ≤ d₀, d_l, t ≥ 2, any heads with a ≤ d; lightning: no rank one
    before the last layer."""
    draw = random.Random(seed)
    for _ in range(count):
        layers = draw.randint(1, 4)
        kind = draw.choice(BOTH)
        delta = draw.randint(2, 4)
        widths = [
            draw.randint(delta, 6),
            *[delta] * (layers - 1),
            draw.randint(delta, 6),
        ]
        least = [
            2 if kind == "lightning" and i < layers - 1 else 1 for i in range(layers)
        ]
        head_dims = [draw.randint(m, d) for m, d in zip(least, widths, strict=False)]
        yield Architecture(widths, head_dims, draw.randint(2, 3), kind)


# It adds up


def check_entries(arch, ledger):
    """It adds up, and no family is larger than its group without what cannot be
    independent."""
    families = ["head bases", "interfaces", "rescalings"][
        : 3 if arch.attention == "lightning" else 2
    ]
    assert list(ledger.entries) == list(ledger.parts) == families, arch
    left = arch.num_parameters - sum(ledger.entries.values()) - ledger.unexplained
    assert (
        left
        == ledger.dimension
        == ledger.measured.value
        == expected_dimension(arch).value
    ), arch
    assert ledger.unexplained >= 0 and ledger.parameters == arch.num_parameters, arch
    assert {
        name: sum(parts) for name, parts in ledger.parts.items()
    } == ledger.entries, arch
    heads = tuple(a * a if a <= d else 2 * a * d - d * d for d, _, a in arch.layers)
    assert ledger.parts["head bases"] == heads, arch
    for i, found in enumerate(ledger.parts["interfaces"], start=1):
        width, before, (_, after, a) = (
            arch.widths[i],
            arch.widths[i - 1],
            arch.layers[i],
        )
        assert found <= width**2 - max(0, width - before) * max(
            0, width - 2 * a - after
        ), arch
    assert (
        ledger.parts.get("rescalings", (1,) * arch.num_layers) == (1,) * arch.num_layers
    ), arch


def check_causes(arch, ledger):
    """Of the causes that are possible those are named that hide something, and no
    others."""
    named = {
        cause for cause in (LINE, RANK_ONE, ONE_TOKEN, HIDDEN) if cause in ledger.note
    }
    assert bool(named) == bool(ledger.unexplained), (arch, ledger.note)
    generic = without_token_loss(arch)
    by_tokens = generic - ledger.dimension
    by_widths = ledger.parameters - sum(ledger.entries.values()) - generic
    assert (
        by_tokens >= 0
        and by_widths >= 0
        and by_tokens + by_widths == ledger.unexplained
    )
    assert bool(named - {HIDDEN}) == (by_tokens > 0), (arch, ledger.note)
    if not (arch.tokens == 1 and arch.attention == "softmax"):
        assert (HIDDEN in named) == (by_widths > 0), (arch, ledger.note)
    return named


def without_token_loss(arch: Architecture) -> int:
    """What would be left if every layer saw its whole A: with two tokens, and no layer
    of rank one.

    Then A of rank a ≥ 2 in every layer would do; here the count is the softmax
    dimension, less l.
    """
    two_tokens = Architecture(arch.widths, arch.head_dims, 2, "softmax")
    return general_formula(two_tokens).value - arch.num_layers * (
        arch.attention == "lightning"
    )


@pytest.mark.long
def test_every_ledger_adds_up_and_says_why_at_any_random_point():
    """On architectures that nobody chose: a > d, widening, widths of 1, one token, both
    kinds."""
    seen = set()
    for n, arch in enumerate(random_architectures(150, seed=1)):
        ledger = kernel_ledger(arch)
        check_entries(arch, ledger)
        seen |= check_causes(arch, ledger)
        assert 0 <= ledger.error_bound < 1e-3, arch
        if n < 20:
            other = kernel_ledger(arch, seed=1)
            assert other.measured.seed == 1
            for name in ("parts", "unexplained", "note"):
                assert getattr(other, name) == getattr(ledger, name), arch
    assert {RANK_ONE, ONE_TOKEN, HIDDEN} <= seen


def test_what_is_unexplained_is_measured_and_not_what_is_left_by_the_formula(
    monkeypatch,
):
    """With another measured dimension the ledger says another number, and that it has
    no cause."""
    arch = lightning((3, 2, 3), (2, 2))
    true = measure_dimension(arch, route="weights")
    other = replace(true, value=true.value - 4, seed=77)
    monkeypatch.setattr(
        "neuroviz.kit.measured.measure_dimension", lambda *_, **__: other
    )
    found = kernel_ledger(arch)
    assert (found.unexplained, found.dimension) == (4, true.value - 4)
    assert "no cause is known" in found.note


def test_in_a_bottleneck_every_direction_is_explained():
    """Σ a² for the heads, δ² for each interface, one rescaling a layer, and nothing is
    left."""
    for arch in bottlenecks(50, seed=2):
        ledger = kernel_ledger(arch)
        assert ledger.unexplained == 0, arch
        assert ledger.parts["head bases"] == tuple(a * a for a in arch.head_dims), arch
        assert ledger.parts["interfaces"] == tuple(d * d for d in arch.widths[1:-1]), (
            arch
        )
        if arch.attention == "lightning":
            assert ledger.parts["rescalings"] == (1,) * arch.num_layers, arch


# By hand: architecture, head bases, interfaces, rescalings, unexplained, what the note
# must say

BY_HAND = [
    (softmax((4, 4), (2,)), 4, 0, None, 0, "explain every silent direction"),
    (lightning((4, 3, 5), (2, 2)), 8, 9, 2, 0, "explain every silent direction"),
    # a > d
    (lightning((2, 2), (5,)), 2 * 5 * 2 - 4, 0, 1, 0, "explain every silent direction"),
    # One token: the antisymmetric part of A, 3 numbers at full rank; with a = 1, α − σ
    # = 5 − 5 = 0.
    (lightning((3, 3), (3,), 1), 9, 0, 1, 3, ONE_TOKEN),
    (lightning((3, 3), (1,), 1), 1, 0, 1, 0, "explain every silent direction"),
    # One token and softmax: all of A, α(2, 3) = 8.
    (softmax((3, 3), (2,), 1), 4, 0, None, 8, "no A is visible"),
    # Rank one: α(2, 3) − σ(2, 3) = 8 − 6 of the second layer.
    (lightning((3, 3, 3), (1, 2)), 5, 9, 2, 2, RANK_ONE),
    # only in the last layer
    (lightning((3, 3, 3), (2, 1)), 5, 9, 2, 0, "explain every silent direction"),
    # α(1, 3) = σ(1, 3) = 5
    (lightning((3, 3, 3), (1, 1)), 2, 9, 2, 0, "explain every silent direction"),
    # Rank one in the middle: α(3, 3) − σ(3, 3) = 9 − 6 of the third layer.
    (lightning((3, 3, 3, 3), (2, 1, 3)), 4 + 1 + 9, 18, 3, 3, RANK_ONE),
    # Widening 2 → 4: on the two coordinates that stay empty, 6 rows of 2 weights are
    # silent; 4 × 2 of these are interfaces.
    (lightning((2, 4, 2), (2, 2)), 8, 16, 2, 4, "2 of the 4 after layer 1"),
    (softmax((2, 4, 2), (2, 2)), 8, 16, None, 4, "2 of the 4 after layer 1"),
    # A narrow end: of four coordinates one output and one head of dimension one see
    # three.
    (softmax((4, 4, 1), (1, 1)), 2, 16, None, 0, "explain every silent direction"),
]


@pytest.mark.parametrize(
    ("arch", "heads", "interfaces", "rescalings", "unexplained", "said"),
    BY_HAND,
    ids=lambda x: str(x)[:40],
)
def test_ledgers_counted_by_hand(
    arch, heads, interfaces, rescalings, unexplained, said
):
    ledger = kernel_ledger(arch)
    expected = {"head bases": heads, "interfaces": interfaces, "rescalings": rescalings}
    assert ledger.entries == {name: n for name, n in expected.items() if n is not None}
    assert ledger.unexplained == unexplained
    assert said in ledger.note


# Against a second program


@pytest.mark.parametrize(
    "arch",
    [
        lightning((3, 3), (2,)),
        lightning((2, 3), (4,)),
        softmax((3, 2, 3), (2, 1)),
        lightning((3, 2, 3), (2, 2)),
        lightning((3, 3, 2), (1, 2)),  # collapse
        lightning((2, 3, 2), (2, 1), 2),  # widening
        lightning((3, 2), (2,), 1),
        softmax((3, 2), (2,), 1),
    ],
    ids=str,
)
def test_the_kernel_is_that_of_autograd(arch):
    """torch's derivative and numpy's singular values: the kernel, the directions in it,
    what is left over."""
    ledger = kernel_ledger(arch)
    rng = np.random.default_rng(0)
    start = random_point(arch, Reals(), rng).weights
    weights = {name: 0.7 * weight for name, weight in start.items()}
    X = torch.from_numpy(
        rng.standard_normal((2 * arch.num_parameters, arch.widths[0], arch.tokens))
    )
    J = autograd_jacobian(with_weights(arch, weights), X).reshape(
        -1, arch.num_parameters
    )
    J /= np.linalg.norm(J, axis=1, keepdims=True)
    sigma_J = np.linalg.svd(J, compute_uv=False)
    assert (sigma_J > 1e-9 * sigma_J[0]).sum() == ledger.dimension
    assert sigma_J[ledger.dimension - 1] > 1e-6 * sigma_J[0], (
        "this point is too close to a special one"
    )
    blocks = []
    grown = 0
    for name, parts in symmetry_directions(arch, Reals(), weights).items():
        for rows, count in zip(parts, ledger.parts[name], strict=True):
            assert np.abs(J @ rows.T).max() < 1e-10
            blocks.append(rows)
            values = np.linalg.svd(np.concatenate(blocks), compute_uv=False)
            rank = int((values > 1e-9 * values[0]).sum())
            assert rank - grown == count, name
            grown = rank
    assert arch.num_parameters - ledger.dimension - grown == ledger.unexplained


# What it says about itself


def test_a_ledger_can_be_a_key_and_is_equal_to_itself_made_again():
    arch = lightning((3, 2), (2,))
    one = kernel_ledger(arch)
    other = kernel_ledger(lightning([3, 2], [2]))
    assert isinstance(one, KernelLedger) and one == other and len({one, other}) == 1
    assert one != kernel_ledger(softmax((3, 2), (2,)))


def test_a_reader_who_changes_a_ledger_does_not_change_the_next_one():
    arch = lightning((3, 4), (2,))
    ledger = kernel_ledger(arch, seed=31)
    ledger.entries["head bases"] = 100
    ledger.parts.clear()
    again = kernel_ledger(arch, seed=31)
    assert again.entries["head bases"] == 4 and again.parts["head bases"] == (4,)


@pytest.mark.parametrize(
    ("arch", "seed", "said"),
    [
        ((3, 3), 0, "a measurement needs a network.*tuple has no parameter_shapes"),
        (lightning((2, 2), (2,)), -1, "seed must be a whole number ≥ 0; got -1"),
        (lightning((2, 2), (2,)), True, "seed must be a whole number ≥ 0; got True"),
    ],
)
def test_what_is_no_architecture_or_seed_is_refused(arch, seed, said):
    with pytest.raises(ValueError, match=said):
        kernel_ledger(arch, seed)


def test_a_probability_is_at_most_one_however_deep_the_network_is():
    assert kernel_ledger(Architecture.uniform(1, 1, 15)).error_bound == 1


# Large networks


@pytest.mark.parametrize(
    ("arch", "entries"),
    [
        # 250,000 changes of basis act on 2,000 weights; 2 · 500 · 2 − 2² of them can be
        # told apart.
        (softmax((2, 2), (500,)), {"head bases": 4 * 500 - 4, "interfaces": 0}),
        (
            softmax((2, 120, 2), (2, 2)),
            {"head bases": 8, "interfaces": (2 + 6) * 120 - 2 * 6},
        ),
    ],
    ids=["head dimension 500", "inner width 120"],
)
def test_directions_that_act_alike_are_written_down_once(arch, entries):
    ledger = kernel_ledger(arch)
    assert ledger.entries == entries
    assert (
        ledger.unexplained
        == ledger.parameters - sum(entries.values()) - ledger.dimension
    )


def test_a_ledger_that_takes_long_shows_signs_of_life_and_stays_within_its_budget(
    monkeypatch,
):
    arch = softmax((2, 2), (300,))
    heard = []
    kernel_ledger(arch, seed=5, progress=lambda what, part: heard.append((what, part)))
    parts = [part for what, part in heard if what == "symmetries"]
    assert len(parts) > 4 and parts == sorted(parts) and parts[-1] == 1.0
    with pytest.raises(ValueError, match="the budget is"):
        kernel_ledger(arch, budget=1e-9)
    with pytest.raises(ValueError, match="budget is a number of seconds > 0"):
        kernel_ledger(arch, budget=-1)
    monkeypatch.setattr("neuroviz.attention.ledger._DIRECTIONS_A_SECOND", 1)
    with pytest.raises(
        ValueError,
        match=r"the 1,196 silent directions of .* would take about .* raise budget",
    ):
        kernel_ledger(arch, seed=6)


def test_whoever_gives_no_seed_is_told_of_the_seed_zero():
    """What is found at a random point says at which: also where nobody asked for
    one."""
    arch = Architecture((2, 2), (1,))
    measured = (
        kernel_ledger(arch).measured,
        measure_dimension(arch),
        measure_dimension(arch, "float"),
    )
    others = rank_by_inputs(arch), is_identifiable(arch, lambda w: w["1.Q"][0, 0])
    assert {found.seed for found in (*measured, *others)} == {0}


def test_of_a_network_of_ones_own_the_ledger_knows_no_symmetry_and_says_so():
    ledger = kernel_ledger(Polynomial((2, 3, 1)))
    assert ledger.entries == {} and ledger.unexplained == ledger.parameters - 3
    assert "no symmetry of such a network is known here" in ledger.note


@dataclass(frozen=True)
class Scaled(Polynomial):
    """Whose one symmetry a reader registers after a first look."""


def test_a_symmetry_that_is_registered_later_counts_at_once():
    net = Scaled((1, 1, 1))
    before = kernel_ledger(net)
    assert before.entries == {} and before.unexplained == 1

    @symmetry_directions.register
    def scalings(net: Scaled, over, weights):
        # W₂ (W₁ x)² stays where W₁ → c W₁, W₂ → W₂ / c²
        change = np.concatenate(
            [weights["W1"].ravel(), over.reduce(-2 * weights["W2"]).ravel()]
        )
        return {"scalings": [change[None]]}

    after = kernel_ledger(net)
    assert after.entries == {"scalings": 1} and after.unexplained == 0
    assert after.note == "scalings explain every silent direction"
