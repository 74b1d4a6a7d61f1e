"""Closed formulas for the dimension of the neuromanifold: Architecture → Expected.

A formula answers under its own name only where its hypotheses hold. Elsewhere it says
which hypothesis fails, and `expected_dimension` answers with the general formula, which
has none. Nothing here measures anything; `docs/mathematics/index.md` lists the
statements and the proofs.
"""

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from neuroviz.attention.architecture import Architecture, check_architecture
from neuroviz.attention.expected import Expected, alpha, sigma
from neuroviz.attention.sizes import in_short


@lru_cache(maxsize=64)
def effective_widths(arch: Architecture) -> tuple[int, ...]:
    """w₀, …, w_l: how much of each width the later layers can see (Lemma D).

        r₀ = d₀,  r_i = min(d_i, r_{i−1})            what reaches layer i + 1
        w_l = d_l,  w₀ = d₀,  and between them
        w_{i−1} = min(r_{i−1}, w_i + 2 min(a_i, r_{i−1}))   what it can see of it

    In a bottleneck (inner widths at most d₀ and d_l) these are the widths themselves.

    >>> effective_widths(Architecture((2, 4, 2), (2, 2)))
    (2, 2, 2)
    """
    reaching = [arch.widths[0]]
    for width in arch.widths[1:]:
        reaching.append(min(width, reaching[-1]))
    # The ends stay d₀ and d_l. Lists count from 0: head_dims[i] is a_{i+1}, of the
    # layer that reads the tokens of width w_i. Its queries see a_{i+1} coordinates, its
    # keys as many, and its values what is seen later.
    seen = list(arch.widths)
    for i in range(arch.num_layers - 1, 0, -1):
        r = reaching[i]
        seen[i] = min(r, seen[i + 1] + 2 * min(arch.head_dims[i], r))
    return tuple(seen)


def visible_count(arch: Architecture, hidden_after: int | None = None) -> int:
    """D = Σ_i [w_{i−1} w_i + α(a_i, w_{i−1})] − Σ_{0<i<l} w_i²: that of the general
    formula, with its first sum multiplied out.

    Layers after `hidden_after` count the symmetric part of their A only: σ for α.

    >>> visible_count(Architecture.uniform(d=10, a=2, layers=2))
    172
    """
    w = effective_widths(arch)
    count = 0
    for i, a in enumerate(arch.head_dims):  # layer i + 1, from w[i] to w[i + 1]
        is_hidden = hidden_after is not None and i >= hidden_after
        count += w[i] * w[i + 1]
        count += sigma(a, w[i]) if is_hidden else alpha(a, w[i])
    for width in w[1:-1]:
        count -= width**2
    return count


def collapsing_layer(arch: Architecture) -> int | None:
    """The first layer, other than the last one, whose A_i has rank one, as a number
    from 1; None if there is none.

    After it all tokens of a lightning network are parallel, and later layers see only
    the symmetric part of their A ("Rank-one collapse").

    >>> collapsing_layer(Architecture((3, 3, 3), (1, 2)))
    1
    """
    w = effective_widths(arch)
    for i, a in enumerate(arch.head_dims[:-1]):
        if min(a, w[i]) == 1:
            return i + 1
    return None


def symmetric_after(arch: Architecture) -> int | None:
    """The layer after which each A is seen through its symmetric part only: 0 for a
    single token, that of a rank-one collapse; None if there is none, as with softmax.

    >>> symmetric_after(Architecture((3, 3, 3), (1, 2)))
    1
    >>> symmetric_after(Architecture((3, 3, 3), (1, 2), attention="softmax"))
    """
    if arch.attention == "softmax":
        return None
    return 0 if arch.tokens == 1 else collapsing_layer(arch)


def general_formula(arch: Architecture) -> Expected:
    """The dimension of any deep lightning or softmax network: no hypotheses.

    With w the effective widths and D = Σ_{i<l} w_i(w_{i−1} − w_i) + d_l w_{l−1} + Σ_i
    α(a_i, w_{i−1}):

        softmax     t ≥ 2: D
                    t = 1: r(d₀ + d_l − r), r = min of all widths
        lightning   t ≥ 2: D − l, with σ for α in every layer after a rank-one collapse
                    t = 1: D − l with σ for α in every layer

    Source: Corollary A, Theorem C (docs/mathematics/index.md; proved here, not
    peer-reviewed).

    >>> general_formula(Architecture((3, 3, 1), (1, 3))).value
    12
    """
    check_architecture("general_formula", arch)
    if arch.attention == "softmax" and arch.tokens == 1:
        return _one_softmax_token(arch)
    w = effective_widths(arch)
    note = (
        f"the general formula holds for every {arch.attention} network; our proof, not"
        " peer-reviewed"
    )
    if w != arch.widths:
        note = (
            f"of the widths, {in_short(w)} can be seen by later layers; our proof, not"
            " peer-reviewed"
        )
    if arch.attention == "softmax":
        return Expected(visible_count(arch), "proved here", "Corollary A", note)
    layer = symmetric_after(arch)
    count = visible_count(arch, hidden_after=layer)
    if arch.tokens == 1:
        note = "a single token sees xᵀAx only: the symmetric part of each A counts"
    elif layer:
        note = _note_on_the_collapse(arch, layer, count)
    return Expected(count - arch.num_layers, "proved here", "Theorem C", note)


def _one_softmax_token(arch: Architecture) -> Expected:
    d = arch.widths
    r = min(d)
    note = (
        "a single token attends to itself alone, so the network is a linear map of"
        f" rank at most {r}"
    )
    return Expected(r * (d[0] + d[-1] - r), "proved here", "One token", note)


def _note_on_the_collapse(arch: Architecture, layer: int, count: int) -> str:
    why = (
        f"{numbered('A', layer)} has rank one: after layer {layer} all tokens are"
        " parallel"
    )
    if effective_widths(arch)[layer - 1] == 1:
        why = f"the tokens of layer {layer} lie on a line"
    loss = ", which costs nothing here" if count == visible_count(arch) else ""
    return f"{why}, and later layers see only the symmetric part of their A{loss}"


# The paper's statements

_STATEMENTS = {  # (kind, whether deep): source, status
    ("lightning", False): ("Cor. 3.3", "proved"),
    ("lightning", True): ("Cor. 3.8", "proved"),
    ("softmax", False): ("Thm. 3.9", "proved"),
    ("softmax", True): ("Eq. 16, Corollary A", "proved here"),
}
_NOTES = {
    "Cor. 3.3": (
        "one lightning layer: α(a, d) + d d′, less 1 for the rescaling (cA, V/c)"
    ),
    "Cor. 3.8": (
        "a bottleneck of rank ≥ 2 in every layer (Eq. 14); the −l is one rescaling a"
        " layer"
    ),
    "Thm. 3.9": (
        "one softmax layer: the fibre in (A, V) is a point, so nothing but the head"
        " basis is lost"
    ),
    "Eq. 16": (
        "a softmax bottleneck: Conjecture 3.10 of the paper, proved here, not"
        " peer-reviewed"
    ),
}


def paper_formula(arch: Architecture) -> Expected:
    """What the paper's formula for this kind of network says, with the hypotheses that
    fail.

    Corollary 3.3 and 3.8 for lightning, Theorem 3.9 and Eq. 16 for softmax. Where a
    hypothesis fails the status is "outside hypotheses" and the value is what the bare
    pattern would give (δ read as the smallest inner width): something to compare with,
    never an answer.

    >>> arch = Architecture((3, 3, 3), (1, 2))
    >>> paper_formula(arch).value, expected_dimension(arch).value
    (20, 18)
    """
    check_architecture("paper_formula", arch)
    source, status = _STATEMENTS[arch.attention, arch.num_layers > 1]
    item = source.split(",")[0]
    first, *inner, last = arch.widths
    heads = sum(alpha(a, d_in) for d_in, _, a in arch.layers)
    if arch.num_layers == 1:
        if arch.attention == "lightning":  # Corollary 3.3
            value = heads + first * last - 1
        else:  # Theorem 3.9
            value = heads + first * last
    else:
        delta = min(inner)
        bottleneck = delta * (first + last - delta)
        if arch.attention == "lightning":  # Corollary 3.8
            value = bottleneck + heads - arch.num_layers
        else:  # Eq. 16
            value = bottleneck + heads
    failing = [asked.says for asked in paper_hypotheses(arch) if not asked.holds]
    if failing:
        note = f"{item} needs {'; '.join(failing)}"
        return Expected(value, "outside hypotheses", source, note)
    return Expected(value, status, source, _NOTES[item])


class Hypothesis(NamedTuple):
    """What a statement asks of a network, in words with its numbers, and whether it
    holds."""

    says: str
    holds: bool


def paper_hypotheses(arch: Architecture) -> tuple[Hypothesis, ...]:
    """What the paper's statement about this kind of network asks, each with whether it
    holds.

    >>> for asked in paper_hypotheses(Architecture((3, 3, 3), (1, 2))):
    ...     print(asked.holds, asked.says)
    True t ≥ 2 (t = 3)
    True equal inner widths (they are 3)
    True inner widths at most the first and the last (δ = 3, d₀ = 3, d₂ = 3)
    True δ ≥ 2 (δ = 3)
    False 2 ≤ a₁ ≤ d₀ (a₁ = 1, d₀ = 3)
    """
    tokens = "there is one token" if arch.tokens == 1 else f"t = {arch.tokens}"
    found = [Hypothesis(f"t ≥ 2 ({tokens})", arch.tokens >= 2)]
    depth = arch.num_layers
    if depth == 1:
        return tuple(found)
    first, *inner, last = arch.widths
    are_equal = len(set(inner)) == 1
    widths = in_short(inner[:1] if are_equal else inner)
    largest = f"δ = {max(inner)}" if are_equal else f"the largest is {max(inner)}"
    said = f"{largest}, d₀ = {first}, {numbered('d', depth)} = {last}"
    found += [
        Hypothesis(f"equal inner widths (they are {widths})", are_equal),
        Hypothesis(
            f"inner widths at most the first and the last ({said})",
            max(inner) <= min(first, last),
        ),
    ]
    if arch.attention == "softmax":
        return tuple(found)
    delta = min(inner)
    narrow = f"δ = {delta}" if are_equal else f"the smallest is {delta}"
    if delta < 2:
        narrow = "an inner width is 1"
    found.append(Hypothesis(f"δ ≥ 2 ({narrow})", delta >= 2))
    return (*found, _on_the_heads(arch))


def _on_the_heads(arch: Architecture) -> Hypothesis:
    beyond = []
    for i, (d_in, _, a) in enumerate(arch.layers, start=1):
        if not 2 <= a <= d_in:
            beyond.append((i, a, d_in))
    if not beyond:
        return Hypothesis(
            f"2 ≤ a ≤ d in every layer (a = {in_short(arch.head_dims)})", True
        )
    if len(beyond) > 1:
        layers = in_short([i for i, _, _ in beyond])
        said = f"2 ≤ a ≤ d in every layer (it fails in layers {layers})"
        return Hypothesis(said, False)
    i, a, d_in = beyond[0]
    head = numbered("a", i)
    width = numbered("d", i - 1)
    return Hypothesis(f"2 ≤ {head} ≤ {width} ({head} = {a}, {width} = {d_in})", False)


def expected_dimension(arch: Architecture) -> Expected:
    """The dimension that theory predicts: the paper's formula where it applies, else
    the general one.

    One layer    lightning α(a, d) + dd′ − 1 (Cor. 3.3)
                 softmax α(a, d) + dd′ (Thm. 3.9)
    Bottleneck   lightning δ(d₀ + d_l − δ) + Σ α(a_i, d_{i−1}) − l (Cor. 3.8, Eq. 14)
                 softmax without the −l (Eq. 16: Conjecture 3.10 of the paper, proved
                 here as Corollary A)
    Otherwise    `general_formula`, and the note names the hypothesis that fails

    >>> expected_dimension(Architecture((10, 10, 10), (2, 2))).value
    170
    >>> expected_dimension(Architecture((2, 4, 2), (2, 2))).source
    'Theorem C'
    """
    check_architecture("expected_dimension", arch)
    named = paper_formula(arch)
    if named.status != "outside hypotheses":
        return named
    general = general_formula(arch)
    return replace(general, note=f"{named.note}. So: {general.note}")


def numbered(letter: str, index: int) -> str:
    """A letter with a subscript, in Unicode.

    >>> numbered("M", 2)
    'M₂'
    """
    return letter + str(index).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))
