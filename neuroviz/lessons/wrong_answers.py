"""The wrong answers to "how many dimensions?" that have a reason, and a hint for each of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from neuroviz.engine.architecture import Architecture, check_architecture
from neuroviz.engine.expected import alpha, sigma
from neuroviz.engine.formulas import collapsing_layer, effective_widths, expected_dimension


@dataclass(frozen=True)
class Mistake:
    """A wrong number that comes from a known misunderstanding.

    Attributes:
        name: the misunderstanding, in a few words.
        value: the number that it leads to.
        hint: what to think of next; it never says the answer.
    """

    name: str
    value: int
    hint: str


def wrong_answers(arch: Architecture) -> tuple[Mistake, ...]:
    """What known mistakes make of the dimension of this network; likelier ones first.

    The right count is, with w the effective widths and α or σ for each attention matrix,

        Σ_{i<l} w_i(w_{i−1} − w_i) + d_l w_{l−1} + Σ_i α(a_i, w_{i−1})   less l for lightning

    (`general_formula`), and each mistake replaces one piece of it. Left out are mistakes that give the
    right number for this network, and those that give the number of a mistake before them.

    Args:
        arch: a network of the paper: one head a layer, no skip, no mask.

    Raises:
        ValueError: for any other network.

    >>> [(m.name, m.value) for m in wrong_answers(Architecture.uniform(d=4, a=2, layers=2))][:3]
    [('no rescaling', 40), ('one rescaling', 39), ('Q and K separately', 46)]
    """
    check_architecture("wrong_answers", arch)
    right = expected_dimension(arch).value
    found: dict[int, Mistake] = {}
    for name, value in _values(arch):
        if value not in found and value != right:
            found[value] = Mistake(name, value, _HINTS[name])
    return tuple(found.values())


_HINTS = {
    "no rescaling": (
        "In every lightning layer a factor can move from A to V, and the function stays as it is."
    ),
    "one rescaling": ("A factor can move from A to V within each layer, so ask how many layers there are."),
    "a rescaling under softmax": (
        "Does softmax leave room for a factor? Double A, and attention gets sharper."
    ),
    "lightning's number": "Does softmax leave room for a factor? Double A, and attention gets sharper.",
    "softmax's number": ("That fits softmax. Lightning has a freedom that softmax does not have: which one?"),
    "Q and K separately": (
        "Q and K enter through A = KᵀQ only: the basis inside each head can be changed freely."
    ),
    "Q and K separately, no rescaling": (
        "Two things are still counted that do nothing: the basis inside each head, and a factor "
        "between A and V."
    ),
    "every A has full rank": (
        "A = KᵀQ is a product through a dimensions, so for small a not every matrix is one."
    ),
    "a² beyond a = d": (
        "With a head wider than its tokens the basis change is no longer free: part of it acts on a "
        "space where Q and K have nothing."
    ),
    "no interfaces": (
        "The basis in which one layer hands its tokens to the next is seen by nobody outside: each "
        "such place costs the square of its width."
    ),
    "too many interfaces": (
        "Bases can be changed between two layers only: the input and the output are fixed."
    ),
    "every width counts in full": (
        "Is every coordinate between the layers filled, and looked at? Tokens that came through a "
        "small width stay in a small space."
    ),
    "no collapse": (
        "After a layer of rank one all tokens are parallel. What does xᵀA x tell about an A, if x "
        "never turns?"
    ),
    "as with two tokens": "A single token attends to itself alone. Which part of A does xᵀA x show?",
    "softmax as with two tokens": (
        "A single token attends to itself alone, and its attention weights have to add up to one. "
        "What shows of A?"
    ),
    "all values": "With a single token there is nothing to attend to: what can a product of the V do?",
    "parameters": (
        "That is the number of parameters. Some ways to change them leave the function as it is: how many?"
    ),
    "what is lost": "That is how many directions do nothing. How many are left?",
    "one matrix A and one V": ("There is more than one layer, and each has an attention matrix of its own."),
}


def _values(arch: Architecture) -> Iterator[tuple[str, int]]:
    """Each mistake with its number, also where it is none."""
    layers, lightning, alone = arch.num_layers, arch.attention == "lightning", arch.tokens == 1
    seen, factors = effective_widths(arch), layers if lightning else 0
    collapse = 0 if alone else collapsing_layer(arch) or layers

    def right_size(a: int, w: int, layer: int) -> int:
        return (sigma if lightning and layer > collapse else alpha)(a, w)

    right = expected_dimension(arch).value
    whole = _count(arch, seen, right_size)
    two_tokens = _count(arch, seen, lambda a, w, _: alpha(a, w))
    # What is special about this network first: elsewhere these are no mistakes.
    if lightning:
        yield "as with two tokens" if alone else "no collapse", two_tokens - layers
    elif alone:
        yield "softmax as with two tokens", two_tokens
    yield "every width counts in full", _count(arch, arch.widths, lambda a, w, _: alpha(a, w)) - factors
    if lightning:
        yield "no rescaling", whole
        yield "one rescaling", whole - 1
        yield "softmax's number", two_tokens
    elif alone:
        yield "all values", sum(d_in * d_out for d_in, d_out, _ in arch.layers)
    else:
        yield "lightning's number", two_tokens - layers
        yield "a rescaling under softmax", two_tokens - 1
    separately = _count(arch, seen, lambda a, w, _: 2 * a * w)
    yield "Q and K separately", separately - factors
    yield "Q and K separately, no rescaling", separately
    yield "a² beyond a = d", _count(arch, seen, lambda a, w, _: a * (2 * w - a)) - factors
    yield "every A has full rank", _count(arch, seen, lambda a, w, _: w * w) - factors
    # Each inner basis costs w_i²: without it L = V_l ⋯ V_1 is counted as so many separate matrices V_i.
    between = sum(w * w for w in seen[1:-1])
    yield "no interfaces", right + between
    if layers > 1:
        yield "too many interfaces", right - seen[-2] ** 2
    yield "parameters", arch.num_parameters
    yield "what is lost", arch.num_parameters - right
    d, d_out, a = arch.widths[0], arch.widths[-1], arch.head_dims[0]
    yield "one matrix A and one V", alpha(a, d) + d * d_out - (1 if lightning else 0)


def _count(arch: Architecture, w: tuple[int, ...], size: Callable[[int, int, int], int]) -> int:
    """Σ_{i<l} w_i(w_{i−1} − w_i) + d_l w_{l−1} + Σ_i size(a_i, w_{i−1}, i)."""
    flags = sum(w[i] * (w[i - 1] - w[i]) for i in range(1, arch.num_layers)) + w[-1] * w[-2]
    return flags + sum(size(a, w[i - 1], i) for i, a in enumerate(arch.head_dims, start=1))
