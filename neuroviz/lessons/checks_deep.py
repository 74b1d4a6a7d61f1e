"""Checks of the exercises about deep networks: notebooks 04, 05 and further.

Each decides by a measurement of the network that it is given, never by a formula alone.
"""

from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import numpy as np

from neuroviz.attention import Architecture
from neuroviz.attention.expected import Expected
from neuroviz.attention.formulas import paper_formula
from neuroviz.attention.symmetry import VirtualWeights
from neuroviz.attention.unrolling import token_form
from neuroviz.deep.hypotheses import MAX_SIZE
from neuroviz.deep.ledger import MAX_HEAD, MAX_LAYERS, MAX_TOKENS, MAX_WIDTH
from neuroviz.deep.span import measure_span
from neuroviz.kit.measured import measure_dimension
from neuroviz.kit.words import sentence
from neuroviz.lessons.exercise import checker, matrix
from neuroviz.rank.field import DEFAULT_PRIME, PrimeField, Reals
from neuroviz.softmax.two_tokens import follow, softmax_shares

_MOST_PARAMETERS = 400  # a smaller network is measured at once
_EQUAL = 1e-9


@checker
def check_rescaling(factors: object) -> str:
    """Whether λ₀, λ₁, λ₂, λ₃, none of them 1 or 0, leave three lightning layers alone
    (Eq. 13).

    Two random networks are compared at random inputs, modulo a prime: fractions are
    exact.

    >>> check_rescaling((Fraction(1, 2), 2, 3, 4))
    ✗ Not yet. The function has changed.
    How often does each matrix stand in a term of three layers?
    """
    given = _four_fractions(factors)
    if any(number in (0, 1) for number in given):
        raise ValueError("None of the four factors may be 0 or 1.")
    over = PrimeField(DEFAULT_PRIME)
    rng = np.random.default_rng(0)
    if any(
        number.numerator % over.p == 0 or number.denominator % over.p == 0
        for number in given
    ):
        raise ValueError(
            f"The check computes modulo {over.p}: take fractions without this factor."
        )
    # L = V₃V₂V₁, M₁, M₂ and M₃; and two inputs of three tokens.
    L, *M = over.random(rng, (4, 3, 3))
    X = over.random(rng, (2, 3, 3))
    residues = [
        number.numerator * pow(number.denominator, -1, over.p) % over.p
        for number in given
    ]
    factors = over.reduce(np.array(residues, dtype=float))
    new_L, *new_M = (over.reduce(c * W) for c, W in zip(factors, (L, *M), strict=True))
    before = token_form(over, VirtualWeights(L, tuple(M)), X)
    if np.array_equal(before, token_form(over, VirtualWeights(new_L, tuple(new_M)), X)):
        return f"The function is the same, exactly modulo {over.p}."
    raise ValueError(
        "The function has changed. How often does each matrix stand in a term of three"
        " layers?"
    )


WRITTEN = (
    Architecture((3, 3, 3), (1, 2)),
    Architecture((2, 4, 2), (2, 2)),
    Architecture((3, 3, 3), (2, 2), tokens=1),
)
"""Networks outside the hypotheses of Corollary 3.8 in the text of notebook 04."""

_MAPPED_WIDTHS = (3, 3, 3)
_MAPPED_HEADS = (2, 2)


def is_shown(arch: Architecture) -> bool:
    """Whether notebook 04, or a lesson with it, has shown a network: in its text or as
    a cell of its map.

    With two tokens or more, how many they are changes nothing.

    >>> is_shown(Architecture((3, 3, 3), (1, 5))), is_shown(Architecture((3, 3), (1,)))
    (True, False)
    """
    shown = [(net.widths, net.head_dims, net.tokens > 1) for net in WRITTEN]
    if (arch.widths, arch.head_dims, arch.tokens > 1) in shown:
        return True
    if arch.num_layers != 2 or arch.tokens == 1:
        return False
    if max(arch.widths + arch.head_dims) > MAX_SIZE:
        return False
    first, _, last = arch.widths
    is_over_widths = first == last and arch.head_dims == _MAPPED_HEADS
    return arch.widths == _MAPPED_WIDTHS or is_over_widths


def _in_the_ledger(arch: object) -> tuple[str, str] | None:
    """The panel that adds up a network, where its controls reach so far."""
    arch = small_network(arch)
    fits = (
        max(arch.widths) <= MAX_WIDTH
        and max(arch.head_dims) <= MAX_HEAD
        and arch.tokens <= MAX_TOKENS
        and arch.num_layers <= MAX_LAYERS
    )
    if not fits:
        return None
    state = (
        f"widths={','.join(map(str, arch.widths))}"
        f";head_dims={','.join(map(str, arch.head_dims))}"
        f";tokens={arch.tokens};kind={arch.attention}"
    )
    return "LedgerExplorer", state


def _lightning_in_the_ledger(arch: object) -> tuple[str, str] | None:
    """The same network with lightning, where the surplus is lost."""
    return _in_the_ledger(replace(small_network(arch), attention="lightning"))


_PARAMETERS = ("parameters", lambda arch: arch.num_parameters)


@checker(shown=is_shown, panel=_in_the_ledger, fewest=_PARAMETERS)
def check_wrong_pattern(arch: object) -> str:
    """Whether Eq. 14, used anyway, misses the dimension of a deep lightning network by
    2 or more, and the network is none of those that notebook 04 has shown.

    >>> check_wrong_pattern(Architecture.uniform(d=4, a=2, layers=2))
    ✗ Not yet. Here Eq. 14 is right: all hypotheses of Cor. 3.8 hold. Break one.
    >>> check_wrong_pattern(Architecture((2, 4, 2), (2, 2))).message[-48:]
    'But the course has shown this one: find another.'
    """
    arch = _deep_network(arch)
    pattern = paper_formula(arch)
    found = measure_dimension(arch)
    off = abs(pattern.value - found.value)
    if off >= 2:
        said = f"Eq. 14 says {pattern.value}, the network has {found.value}"
        return f"{said}. {_reason(pattern)}"
    if pattern.status != "outside hypotheses":
        raise ValueError(
            "Here Eq. 14 is right: all hypotheses of Cor. 3.8 hold. Break one."
        )
    said = f"Eq. 14 says {pattern.value}, the network has {found.value}: off by {off}."
    raise ValueError(f"{said} {_reason(pattern)} That alone is not enough.")


@checker(shown=is_shown, panel=_in_the_ledger, fewest=_PARAMETERS)
def check_mostly_silent(arch: object) -> str:
    """Whether a lightning or softmax network has fewer than 30 parameters, and less
    than a third of them as its dimension.

    >>> check_mostly_silent(Architecture((2, 2, 2), (2, 2)))
    ✗ Not yet. 24 parameters and dimension 10: that is not less than a third.
    """
    arch = small_network(arch)
    count = arch.num_parameters
    if count >= 30:
        raise ValueError(f"It has {count} parameters: take fewer than 30.")
    dimension = measure_dimension(arch).value
    said = f"{count} parameters and dimension {dimension}"
    if 3 * dimension >= count:
        raise ValueError(f"{said}: that is not less than a third.")
    return f"{said}."


@checker
def check_unseen(arch: object) -> str:
    """Whether later layers look at fewer dimensions than arrive, after some layer
    before the last (Lemma D).

    Arriving: min(d₀, …, d_i). Seen: the measured rank of the rows of L, M_{i+1},
    M_{i+1}ᵀ, …

    >>> check_unseen(Architecture((5, 3, 4), (2, 2)))
    ✗ Not yet. After layer 1 arrive 3 dimensions, and all are seen.
    """
    arch = _deep_network(arch)
    places = range(1, arch.num_layers)
    counts = [
        (i, min(arch.widths[: i + 1]), measure_span(arch, i).value) for i in places
    ]
    for i, arriving, seen in counts:
        if seen < arriving:
            return (
                f"After layer {i} arrive {arriving} dimensions, and {seen} of them are"
                " seen."
            )
    further = "; so it is further on" if len(counts) > 1 else ""
    raise ValueError(
        f"After layer 1 arrive {counts[0][1]} dimensions, and all are seen{further}."
    )


@checker(shown=is_shown, panel=_lightning_in_the_ledger, fewest=_PARAMETERS)
def check_more_than_factors(arch: object) -> str:
    """Whether softmax has more than l dimensions more than lightning, at the same sizes
    with t ≥ 2.

    >>> check_more_than_factors(Architecture.uniform(4, 2, 2, attention="softmax"))
    ✗ Not yet. Softmax has 40 dimensions and lightning 38:
    the difference is the number of layers.
    """
    arch = _deep_network(arch, attention=None)
    if arch.tokens < 2:
        raise ValueError("The task asks for two tokens or more.")
    softmax = measure_dimension(replace(arch, attention="softmax")).value
    lightning = measure_dimension(replace(arch, attention="lightning")).value
    said = f"Softmax has {softmax} dimensions and lightning {lightning}"
    more = softmax - lightning
    if more > arch.num_layers:
        return f"{said}: {more} more, with {arch.num_layers} layers."
    raise ValueError(f"{said}: the difference is the number of layers.")


@checker
def check_meeting(M: object, x1: object, x2: object) -> str:
    """Whether two different tokens come out of a softmax layer equal, where M (2 × 2)
    is not antisymmetric.

    >>> check_meeting([[1, 0], [0, 1]], [1, 0], [0, 1])
    ✗ Not yet. The tokens come out 0.654 apart. When is PQ = 1?
    """
    M = matrix("M", M, 2, 2)
    x1 = matrix("x1", [x1], 1, 2)[0]
    x2 = matrix("x2", [x2], 1, 2)[0]
    size = np.abs(M).max()
    if np.abs(M + M.T).max() <= 1e-6 * size:
        raise ValueError(
            "This M is antisymmetric, or 0: then all tokens meet. Take another one."
        )
    before = np.linalg.norm(x1 - x2)
    if before <= 1e-6 * max(np.linalg.norm(x1), np.linalg.norm(x2)):
        raise ValueError("The two tokens are equal from the beginning.")
    X = np.stack([x1, x2], axis=1)
    after = follow(Reals(), softmax_shares((M,), X), X)[-1]
    apart = np.linalg.norm(after[:, 0] - after[:, 1])
    delta = x1 - x2
    # log PQ = −δᵀMδ, so this is PQ = 1. `apart` alone does not tell: it is 0 up to
    # rounding, too, where one token has all the attention.
    if abs(delta @ M @ delta) <= _EQUAL * size * (delta @ delta):
        return f"The tokens come out {apart:.2g} apart, and M is not antisymmetric."
    if apart <= _EQUAL * before:
        raise ValueError(
            "One token attends to the other alone: equal up to rounding, but not"
            " exactly."
        )
    raise ValueError(f"The tokens come out {apart:.3g} apart. When is PQ = 1?")


def small_network(
    arch: object, kinds: tuple[type, ...] = (Architecture,)
) -> Architecture:
    """The answer, once it is a network of these kinds that can be measured at once."""
    if not isinstance(arch, kinds):
        raise ValueError(
            "The answer is a network, nv.Architecture(widths=(d0, d1, d2), "
            f"head_dims=(a1, a2), tokens=t) with numbers; got {arch!r}."
        )
    if (size := arch.num_parameters) > _MOST_PARAMETERS:
        most = f"at most {_MOST_PARAMETERS} parameters"
        raise ValueError(f"Take a smaller network, with {most}; this one has {size}.")
    return arch


def _deep_network(arch: object, attention: str | None = "lightning") -> Architecture:
    """The answer, once it is a deep network that can be measured at once."""
    arch = small_network(arch)
    if attention is not None and arch.attention != attention:
        raise ValueError(f"Take a {attention} network; got {arch}.")
    if arch.num_layers < 2:
        raise ValueError(f"Take 2 layers or more; got {arch}.")
    return arch


def _reason(pattern: Expected) -> str:
    return sentence(pattern.note)


def _four_fractions(given: object) -> list[Fraction]:
    found = []
    with suppress(TypeError, ValueError, OverflowError):
        found = [Fraction(number) for number in given]
    if len(found) != 4:
        raise ValueError(
            f"The answer is 4 numbers, such as Fraction(1, 2) or 3; got {given!r}."
        )
    return found
