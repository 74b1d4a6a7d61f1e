"""The wrong answers to "how many dimensions?" that have a reason, and a hint for each
of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

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
        if mistake.value != right:
            found.setdefault(mistake.value, mistake)
    return tuple(found.values())


_GAIN = "Does softmax leave room for a factor? Double A, and attention gets sharper."
_ALONE = "A single token attends to itself alone"


def _mistakes(arch: Architecture, right: int) -> Iterator[Mistake]:
    """Each mistake with its number, also where it is none."""
    layers = arch.num_layers
    lightning = arch.attention == "lightning"
    alone = arch.tokens == 1
    seen = effective_widths(arch)
    factors = layers if lightning else 0
    two_tokens = _count(arch, seen, alpha)
    # Mistakes about this network's peculiarity come first: elsewhere they are none.
    if lightning and alone:
        hint = f"{_ALONE}. Which part of A does xᵀA x show?"
        yield Mistake("as with two tokens", two_tokens - layers, hint)
    elif lightning:
        hint = "After a layer of rank one all tokens are parallel. "
        hint += "What does xᵀA x tell about an A, if x never turns?"
        yield Mistake("no collapse", two_tokens - layers, hint)
        # Who knows that something is lost, and not how much, is still at the collapse.
        hint = "After a layer of rank one all tokens are parallel. How many dimensions "
        hint += "has the symmetric part of a later A?"
        for value in range(right + 1, two_tokens - layers):
            yield Mistake("a part of the collapse", value, hint)
    elif alone:
        hint = (
            f"{_ALONE}, and its attention weights have to add up to one. What shows"
            " of A?"
        )
        yield Mistake("softmax as with two tokens", two_tokens, hint)
    hint = (
        "Is every coordinate between the layers filled, and looked at? Tokens that came"
        " through a small "
    )
    hint += "width stay in a small space."
    yield Mistake(
        "every width counts in full", _count(arch, arch.widths, alpha) - factors, hint
    )
    if lightning:
        hint = (
            "In every lightning layer a factor can move from A to V, and the function"
            " stays as it is."
        )
        yield Mistake("no rescaling", right + layers, hint)
        hint = (
            "A factor can move from A to V within each layer, so ask how many layers"
            " there are."
        )
        yield Mistake("one rescaling", right + layers - 1, hint)
        hint = (
            "That fits softmax. Lightning has a freedom that softmax does not have:"
            " which one?"
        )
        yield Mistake("softmax's number", two_tokens, hint)
    elif alone:
        hint = (
            "With a single token there is nothing to attend to: what can a product of"
            " the V do?"
        )
        yield Mistake(
            "all values", sum(d_in * d_out for d_in, d_out, _ in arch.layers), hint
        )
    else:
        yield Mistake("lightning's number", two_tokens - layers, _GAIN)
        yield Mistake("a rescaling under softmax", two_tokens - 1, _GAIN)
    # Without the bases between layers, at their full widths.
    separately = _count(arch, arch.widths, lambda a, w: 2 * a * w)
    hint = (
        "Q and K enter through A = KᵀQ only: the basis inside each head can be changed"
        " freely."
    )
    yield Mistake("Q and K separately", separately - factors, hint)
    hint = (
        "Two silent families are still counted: the basis inside each head, and a"
        " factor of A and V."
    )
    # Each inner basis costs w_i²: without it L = V_l ⋯ V_1 is counted as so many
    # separate matrices V_i.
    inner = sum(w * w for w in seen[1:-1])
    name = "Q and K separately, no rescaling"
    if separately == right + inner:
        # The number of two mistakes: only the bases between layers are taken away, or
        # all but these.
        name = "interfaces only, or all but these"
        hint = (
            "Three families are silent: the bases inside the heads, the bases between"
            " the layers, and the factors of A and V. Which of them do you still count?"
        )
    yield Mistake(name, separately, hint)
    hint = (
        "With a head wider than its tokens the basis change is no longer free: part of"
        " it acts on a space "
    )
    hint += "where Q and K have nothing."
    beyond = _count(arch, seen, lambda a, w: a * (2 * w - a))
    yield Mistake("a² beyond a = d", beyond - factors, hint)
    hint = (
        "A = KᵀQ is a product through a dimensions, so for small a not every matrix is"
        " one."
    )
    yield Mistake(
        "every A has full rank", _count(arch, seen, lambda a, w: w * w) - factors, hint
    )
    hint = (
        "The basis in which one layer hands its tokens to the next is seen by nobody"
        " outside: each such "
    )
    hint += "place costs the square of its width."
    yield Mistake("no interfaces", right + inner, hint)
    if lightning:
        hint = (
            "The bases between the layers and inside the heads are taken away. Which"
            " factor is still free, and is every coordinate between the layers filled?"
        )
        full = _count(arch, arch.widths, alpha)
        yield Mistake("full widths, no rescaling", full, hint)
    in_heads = 0
    for d_in, _, a in arch.layers:
        in_heads += 2 * a * d_in - alpha(a, d_in)
    hint = (
        "The bases inside the heads and the factors are taken away. Where else is a"
        " basis?"
    )
    only_between = arch.num_parameters - in_heads - factors
    yield Mistake("heads and factors only", only_between, hint)
    hint = (
        "The bases inside the heads are taken away. Where else is a basis, and where a"
        " factor?"
    )
    yield Mistake("heads only", arch.num_parameters - in_heads, hint)
    hint = "The factors are taken away. There are bases, too, that nobody sees: where?"
    yield Mistake("factors only", arch.num_parameters - factors, hint)
    if layers > 1:
        hint = (
            "Bases can be changed between two layers only: the input and the output are"
            " fixed."
        )
        yield Mistake("too many interfaces", right - seen[-2] ** 2, hint)
    hint = (
        "That is the number of parameters. Some ways to change them leave the function"
        " as it is: how many?"
    )
    yield Mistake("parameters", arch.num_parameters, hint)
    yield Mistake(
        "what is lost",
        arch.num_parameters - right,
        "So many are silent. How many are left?",
    )
    d = arch.widths[0]
    d_out = arch.widths[-1]
    a = arch.head_dims[0]
    hint = "There is more than one layer, and each has an attention matrix of its own."
    yield Mistake("one matrix A and one V", alpha(a, d) + d * d_out - lightning, hint)


def _count(
    arch: Architecture, w: tuple[int, ...], size: Callable[[int, int], int]
) -> int:
    """Σ_{i<l} w_i(w_{i−1} − w_i) + d_l w_{l−1} + Σ_i size(a_i, w_{i−1})."""
    flags = (
        sum(w[i] * (w[i - 1] - w[i]) for i in range(1, arch.num_layers)) + w[-1] * w[-2]
    )
    return flags + sum(map(size, arch.head_dims, w))
