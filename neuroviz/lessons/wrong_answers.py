"""The wrong answers to "how many dimensions?" that have a reason, and a hint for each
of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from neuroviz.attention import Architecture
from neuroviz.attention.architecture import check_architecture
from neuroviz.attention.expected import alpha
from neuroviz.attention.formulas import effective_widths, expected_dimension


@dataclass(frozen=True)
class Mistake:
    """A wrong number that a known misunderstanding leads to; the hint never says the
    answer."""

    name: str
    value: int
    hint: str


def wrong_answers(arch: Architecture) -> tuple[Mistake, ...]:
    """What known mistakes make of the dimension of this network; likelier ones first.

    The right count is, with w the effective widths and α or σ for each attention
    matrix,

        Σ_{i<l} w_i(w_{i−1} − w_i) + d_l w_{l−1} + Σ_i α(a_i, w_{i−1})   less l for
                                                                         lightning

    (`general_formula`), and each mistake replaces one piece of it. Left out are
    mistakes that give the right number for this network, and those that give the number
    of a mistake before them.

    Raises:
        ValueError: if this is no network of the paper, with one head a layer, no skip
            and no mask.

    >>> mistakes = wrong_answers(Architecture.uniform(d=4, a=2, layers=2))
    >>> [(one.name, one.value) for one in mistakes[:3]]
    [('no rescaling', 40), ('one rescaling', 39), ('Q and K separately', 46)]
    """
    check_architecture("wrong_answers", arch)
    right = expected_dimension(arch).value
    found: dict[int, Mistake] = {}
    for mistake in _mistakes(arch, right):
        # setdefault: of two mistakes with one number the likelier one stays.
        if mistake.value != right:
            found.setdefault(mistake.value, mistake)
    return tuple(found.values())


_ALONE = "A single token attends to itself alone"
_PARALLEL = "After a layer of rank one all tokens are parallel."

_ONE_LIGHTNING_TOKEN = f"{_ALONE}. Which part of A does xᵀA x show?"
_COLLAPSE = f"{_PARALLEL} What does xᵀA x tell about an A, if x never turns?"
_HALF_A_COLLAPSE = (
    f"{_PARALLEL} How many dimensions has the symmetric part of a later A?"
)
_ONE_SOFTMAX_TOKEN = (
    f"{_ALONE}, and its attention weights have to add up to one. What shows of A?"
)
_WIDTHS = (
    "Is every coordinate between the layers filled, and looked at? Tokens that came"
    " through a small width stay in a small space."
)
_RESCALING = (
    "In every lightning layer a factor can move from A to V, and the function stays as"
    " it is."
)
_RESCALINGS = (
    "A factor can move from A to V within each layer, so ask how many layers there are."
)
_FITS_SOFTMAX = (
    "That fits softmax. Lightning has a freedom that softmax does not have: which one?"
)
_PRODUCT_OF_V = (
    "With a single token there is nothing to attend to: what can a product of the V do?"
)
_GAIN = "Does softmax leave room for a factor? Double A, and attention gets sharper."
_Q_AND_K = (
    "Q and K enter through A = KᵀQ only: the basis inside each head can be changed"
    " freely."
)
_TWO_FAMILIES = (
    "Two silent families are still counted: the basis inside each head, and a factor of"
    " A and V."
)
_ONE_OF_THREE_FAMILIES = (
    "Three families are silent: the bases inside the heads, the bases between the"
    " layers, and the factors of A and V. Which of them do you still count?"
)
_WIDE_HEAD = (
    "With a head wider than its tokens the basis change is no longer free: part of it"
    " acts on a space where Q and K have nothing."
)
_RANK_OF_A = (
    "A = KᵀQ is a product through a dimensions, so for small a not every matrix is one."
)
_INTERFACES = (
    "The basis in which one layer hands its tokens to the next is seen by nobody"
    " outside: each such place costs the square of its width."
)
_FULL_WIDTHS = (
    "The bases between the layers and inside the heads are taken away. Which factor is"
    " still free, and is every coordinate between the layers filled?"
)
_HEADS_AND_FACTORS = (
    "The bases inside the heads and the factors are taken away. Where else is a basis?"
)
_FACTORS_ONLY = (
    "The factors are taken away. There are bases, too, that nobody sees: where?"
)
_HEADS_ONLY = (
    "The bases inside the heads are taken away. Where else is a basis, and where a"
    " factor?"
)
_ENDS_ARE_FIXED = (
    "Bases can be changed between two layers only: the input and the output are fixed."
)
_PARAMETERS = (
    "That is the number of parameters. Some ways to change them leave the function as"
    " it is: how many?"
)
_SILENT = "So many are silent. How many are left?"
_MORE_LAYERS = (
    "There is more than one layer, and each has an attention matrix of its own."
)


class _Counts(NamedTuple):
    """What the mistakes start from."""

    right: int
    widths: tuple[int, ...]  # the effective ones
    two_tokens: int  # the right count of softmax with two tokens or more
    factors: int  # l for lightning, 0 for softmax
    # Each inner basis costs w_i²: without it L = V_l ⋯ V_1 is counted as so many
    # separate matrices V_i.
    interfaces: int


def _mistakes(arch: Architecture, right: int) -> Iterator[Mistake]:
    """Each mistake with its number, also where it is none."""
    widths = effective_widths(arch)
    factors = arch.num_layers if arch.attention == "lightning" else 0
    interfaces = sum(w * w for w in widths[1:-1])
    known = _Counts(right, widths, _count(arch, widths, alpha), factors, interfaces)
    # Mistakes about this network's peculiarity come first: elsewhere they are none.
    yield from _of_tokens(arch, known)
    wide = _count(arch, arch.widths, alpha) - factors
    yield Mistake("every width counts in full", wide, _WIDTHS)
    yield from _of_the_kind(arch, known)
    yield from _of_heads(arch, known)
    yield from _of_interfaces(arch, known)
    yield from _of_the_question(arch, known)


def _of_tokens(arch: Architecture, known: _Counts) -> Iterator[Mistake]:
    """A single token, or parallel ones, show less of A."""
    as_with_two = known.two_tokens - known.factors
    if arch.attention == "softmax":
        if arch.tokens == 1:
            name = "softmax as with two tokens"
            yield Mistake(name, as_with_two, _ONE_SOFTMAX_TOKEN)
    elif arch.tokens == 1:
        yield Mistake("as with two tokens", as_with_two, _ONE_LIGHTNING_TOKEN)
    else:
        yield Mistake("no collapse", as_with_two, _COLLAPSE)
        # Who knows that something is lost, and not how much, is still at the collapse.
        for value in range(known.right + 1, as_with_two):
            yield Mistake("a part of the collapse", value, _HALF_A_COLLAPSE)


def _of_the_kind(arch: Architecture, known: _Counts) -> Iterator[Mistake]:
    """What holds for lightning is taken for softmax, or the other way round."""
    layers = arch.num_layers
    if arch.attention == "lightning":
        yield Mistake("no rescaling", known.right + layers, _RESCALING)
        yield Mistake("one rescaling", known.right + layers - 1, _RESCALINGS)
        yield Mistake("softmax's number", known.two_tokens, _FITS_SOFTMAX)
    elif arch.tokens == 1:
        entries = sum(d_in * d_out for d_in, d_out, _ in arch.layers)
        yield Mistake("all values", entries, _PRODUCT_OF_V)
    else:
        yield Mistake("lightning's number", known.two_tokens - layers, _GAIN)
        yield Mistake("a rescaling under softmax", known.two_tokens - 1, _GAIN)


def _of_heads(arch: Architecture, known: _Counts) -> Iterator[Mistake]:
    """Another count in place of α."""
    # Without the bases between layers, at their full widths.
    # Q and K are a × w each.
    separately = _count(arch, arch.widths, lambda a, w: 2 * a * w)
    yield Mistake("Q and K separately", separately - known.factors, _Q_AND_K)
    if separately == known.right + known.interfaces:
        # The number of two mistakes.
        name = "interfaces only, or all but these"
        yield Mistake(name, separately, _ONE_OF_THREE_FAMILIES)
    else:
        yield Mistake("Q and K separately, no rescaling", separately, _TWO_FAMILIES)
    # α(a, w) for a ≤ w, which falls again beyond it.
    beyond = _count(arch, known.widths, lambda a, w: a * (2 * w - a))
    yield Mistake("a² beyond a = d", beyond - known.factors, _WIDE_HEAD)
    full = _count(arch, known.widths, lambda a, w: w * w)
    yield Mistake("every A has full rank", full - known.factors, _RANK_OF_A)


def _of_interfaces(arch: Architecture, known: _Counts) -> Iterator[Mistake]:
    """Too few or too many bases between layers."""
    yield Mistake("no interfaces", known.right + known.interfaces, _INTERFACES)
    if arch.attention == "lightning":
        full = _count(arch, arch.widths, alpha)
        yield Mistake("full widths, no rescaling", full, _FULL_WIDTHS)
    parameters = arch.num_parameters
    # Q and K have 2ad entries, of which A = KᵀQ shows α(a, d).
    in_heads = sum(2 * a * d_in - alpha(a, d_in) for d_in, _, a in arch.layers)
    heads_and_factors = parameters - in_heads - known.factors
    yield Mistake("heads and factors only", heads_and_factors, _HEADS_AND_FACTORS)
    yield Mistake("heads only", parameters - in_heads, _HEADS_ONLY)
    yield Mistake("factors only", parameters - known.factors, _FACTORS_ONLY)
    if arch.num_layers > 1:
        # One more basis, of the last inner width, is taken away.
        value = known.right - known.widths[-2] ** 2
        yield Mistake("too many interfaces", value, _ENDS_ARE_FIXED)


def _of_the_question(arch: Architecture, known: _Counts) -> Iterator[Mistake]:
    """An answer to another question."""
    parameters = arch.num_parameters
    yield Mistake("parameters", parameters, _PARAMETERS)
    yield Mistake("what is lost", parameters - known.right, _SILENT)
    d = arch.widths[0]
    d_out = arch.widths[-1]
    one_layer = alpha(arch.head_dims[0], d) + d * d_out
    if arch.attention == "lightning":
        one_layer -= 1
    yield Mistake("one matrix A and one V", one_layer, _MORE_LAYERS)


def _count(
    arch: Architecture, w: tuple[int, ...], size: Callable[[int, int], int]
) -> int:
    """Σ_{i<l} w_i(w_{i−1} − w_i) + d_l w_{l−1} + Σ_i size(a_i, w_{i−1})."""
    inner = sum(w[i] * (w[i - 1] - w[i]) for i in range(1, arch.num_layers))
    last = w[-1] * w[-2]
    # map ends with the heads: w has one width more, that of the output.
    return inner + last + sum(map(size, arch.head_dims, w))
