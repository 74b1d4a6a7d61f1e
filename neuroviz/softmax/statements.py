"""What docs/mathematics states about the functions of one architecture, as a table.

Under each question stand statements: hypotheses | answer | status | source, and the
answer in a sentence or two. Of each question the first statement counts whose
hypotheses all hold. "Tokens" are two or more. What stands in the braces is put in.
"""

from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate

from neuroviz.attention import Architecture
from neuroviz.attention.formulas import (
    collapsing_layer,
    effective_widths,
    general_formula,
)
from neuroviz.attention.sizes import in_short


@dataclass(frozen=True)
class StatusEntry:
    """One question about an architecture.

    Attributes:
        question: one of `known.QUESTIONS`.
        answer: in a few words.
        status: "proved", "proved here", "exact", "certified", "observed",
            "conjectured", "no formula" (nobody has an answer, as far as we know) or
            "outside hypotheses".
        source: the paper's item, or a heading that docs/mathematics/index.md lists.
        note: the answer in a sentence or two, with what it assumes.
    """

    question: str
    answer: str
    status: str
    source: str
    note: str


_TABLE = """
# function → (L, M)
softmax, one token | L, but no M | proved here | One token
    A single token attends to itself alone: the function is x ↦ Lx, and every choice of
    M has it.
softmax, one layer | one point | proved | Thm. 3.9
    Where V is not 0, no other (A, V) has the same function.
softmax | one point | proved here | Theorem B
    No other virtual weights, of this architecture or any other of this kind, have the
    same function, as soon as L is not 0 and no M is antisymmetric. It rests on Ax's
    theorem; our proof, not peer-reviewed.
one layer, tokens, forms may swap | rescalings and one swap | proved | Thm. 3.2
    A = u kᵀ and V = h vᵀ have rank one: besides the rescalings (cA, V/c), the forms u
    of the keys and v of the values may change places.
one layer, tokens | {rescalings} | proved | Thm. 3.2
    Only (cA, V/c), c ≠ 0, has the same function as (A, V).
d₀ = 1 | {rescalings} | proved here | Eq. 13
    Tokens are numbers: the function is a power of |x| times x times L ∏ M_i^(3^(l−i)),
    and only this product shows. So: the rescalings of Eq. 13, and nothing else.
tokens, all M of rank 2 | {rescalings} | proved | Thm. 3.7
    Only the rescalings of Eq. 13, one a layer, have the same function: all M have rank
    2 or more, and generic ones are not antisymmetric. With the sizes of all M fixed,
    {signs} points remain, by their signs.
tokens, all M but the last of rank 2, last forms may swap
    | rescalings and one swap | proved here | Theorem F
    L = h uᵀ and M_l = c kᵀ have rank one, and u and c may change places: two classes of
    rescalings, and no others. Our proof, not peer-reviewed.
tokens, all M but the last of rank 2 | {rescalings} | proved here | Theorem F
    Only the rescalings of Eq. 13, one a layer: the last M may have rank one. Our proof,
    not peer-reviewed.
one token, A hidden | dimension {fiber}, more than rescalings | no formula | One token
    {outside} It is more than the rescalings: in every layer only the symmetric part of
    M is seen. {unknown}
A hidden | dimension {fiber}, more than rescalings | no formula | Rank-one collapse
    {outside} It is more than the rescalings: in every layer after layer {collapse} only
    the symmetric part of M is seen. {unknown}
always | dimension {fiber}, not described | no formula | What is not proved
    {outside} {unknown}
# (L, M) → (A, V)
one layer | the same thing | proved | Eq. 8
    One layer: L = V and M₁ = A.
bottleneck | one orbit of {groups} | proved | Lemma 3.5
    Inner widths δ = {inner} ≤ d₀, d_l: where L has rank δ, all (A, V) with the same (L,
    M) differ by a change of basis between the layers; this orbit has dimension {bases}.
no width is too large | one orbit of bases | proved here | Lemma D
    No bottleneck, as Lemma 3.5 asks for; but L and the later M together span all that
    each inner layer can hold, so its proof goes through: one orbit of basis changes, of
    dimension {bases}.
always | dimension {layers} | proved here | Lemma D
    Of the widths {widths} later layers see {seen}. The (A, V) with one generic (L, M)
    form a set of dimension {layers}, which contains the changes of basis; whether it is
    one orbit is not said.
# special weights
softmax, one token | none | proved here | One token
    x ↦ Lx for all weights: there are no special ones.
softmax, one layer | all covered | proved | Thm. 3.9
    All weights are covered: V = 0 leaves A free, and there is no other exception.
one layer, tokens | all covered | proved | Thm. 3.2
    All weights are covered: rank one allows a swap; A = 0 or V = 0 gives the zero
    function.
softmax | open: antisymmetric M | no formula | What is not proved
    Theorem B covers all weights with L ≠ 0 and no antisymmetric M (0 is one). Elsewhere
    the fibre can be larger, and we do not describe it; Konda (2026) does for two
    tokens, and for two layers.
d₀ = 1 | all covered | proved here | Eq. 13
    All weights are covered: the function is zero exactly when L or some M is.
one token | open | no formula | What is not proved
    Only the symmetric part of each M is seen, and where one is 0 the function is zero.
    Other special fibres are not described.
always | open: more points occur | no formula | Fibres that are not one orbit
    Where an M is antisymmetric or has rank one there can be more points: two layers may
    change places, for instance. There is no list of them.
# other normalisations
softmax, one token | the same function | proved here | One token
    With one token the only attention weight is 1, whatever it is normalised from.
softmax, one layer or bottleneck | one point? | conjectured | Conjecture 3.10
    The paper conjectures single points, and the same dimension, for normalised
    attention; the proofs told here are for softmax. Konda (2026) proves single points
    where f is real-analytic.
softmax | open | no formula | What is not proved
    Conjecture 3.10 is about bottlenecks; for widths such as these nothing is claimed.
# a mask
one token | nothing changes | proved here | One token
    A single token attends to itself alone, with a mask and without.
softmax | the same dimension, one point | proved here | Theorem A′
    Causal networks have the same dimension, and for almost all weights no other (L, M)
    has the function.
lightning | dimension {masked} | proved here | Theorem K
    Causal networks have this dimension, D − l, whatever the ranks: nothing collapses.
# heads or a skip
softmax, tokens, one layer or bottleneck | one orbit | proved here | Theorem H
    {blocks} all weights with the same function are one orbit of the permutations of
    heads and, without skips, of the changes of basis between layers. For almost all
    weights; our proof, not peer-reviewed.
softmax, three tokens | dimension, not fibres | proved here | Theorem W
    {blocks} the dimension is known for all widths. The fibres are open. Our proof, not
    peer-reviewed.
tokens, one layer or equal widths | some formulas | observed | Beyond the paper
    {blocks} some formulas for the dimension agreed with exact ranks on a grid. One head
    with skips is proved: the function determines every layer (Theorems S and L). Other
    fibres are open.
always | open | no formula | What is not proved
    For one token, and for unequal widths and more than one layer, we have no statement
    about heads or skips.
"""
IN_TABLE = tuple(line[2:] for line in _TABLE.splitlines() if line.startswith("# "))
"""The questions of the table."""


def statements(arch: Architecture) -> tuple[StatusEntry, ...]:
    """Of each question the first statement whose hypotheses hold, filled in."""
    facts, values, found = _facts(arch), _values(arch), {}
    for hypotheses, one in _read(_TABLE):
        if hypotheses <= facts and one.question not in found:
            answer, note = (text.format_map(values) for text in (one.answer, one.note))
            found[one.question] = replace(one, answer=answer, note=note)
    if arch.attention == "lightning":  # nothing is normalised
        found.pop("other normalisations", None)
    return tuple(found.values())


@cache
def _read(table: str) -> tuple[tuple[frozenset[str], StatusEntry], ...]:
    """Questions begin with #, notes are indented; a statement that is too long for one
    line goes on after its hypotheses, with "|"."""
    found, question = [], ""
    for line in table.strip().replace("\n    | ", " | ").splitlines():
        if line.startswith("# "):
            question = line[2:]
        elif line.startswith(" "):
            hypotheses, one = found[-1]
            note = f"{one.note} {line.strip()}".strip()
            found[-1] = hypotheses, replace(one, note=note)
        else:
            hypotheses, answer, status, source = line.split(" | ")
            one = StatusEntry(question, answer, status, source, note="")
            found.append((frozenset(hypotheses.split(", ")), one))
    return tuple(found)


def _facts(arch: Architecture) -> set[str]:
    """The hypotheses of the table that hold, by name; for almost all weights."""
    d, a, inner, ranks = arch.widths, arch.head_dims, arch.widths[1:-1], _ranks(arch)
    collapse = _collapse(arch)
    bottleneck = len(set(inner)) == 1 and inner[0] <= min(d[0], d[-1])
    holds = {
        "always": True,
        arch.attention: True,
        "one token": arch.tokens == 1,
        "tokens": arch.tokens > 1,
        "three tokens": arch.tokens > 2,
        "one layer": arch.num_layers == 1,
        "d₀ = 1": d[0] == 1,
        "one layer or equal widths": arch.num_layers == 1 or len(set(d)) == 1,
        "bottleneck": bottleneck,
        "one layer or bottleneck": arch.num_layers == 1 or bottleneck,
        "no width is too large": effective_widths(arch) == d,
        "all M of rank 2": all(rank > 1 for _, rank in ranks),
        "all M but the last of rank 2": all(rank > 1 for _, rank in ranks[:-1]),
        # After a collapse layers see the symmetric part of their M only: its transpose
        # does as well.
        "A hidden": collapse is not None and any(r > 1 for r, _ in ranks[collapse:]),
        "forms may swap": d[0] > 1 and a[0] == 1 and d[1] == 1,
        "last forms may swap": (
            arch.tokens > 1 and d[-1] == a[-1] == 1 and ranks[-1][0] > 1
        ),
    }
    return {name for name, true in holds.items() if true}


def _values(arch: Architecture) -> dict[str, object]:
    """What stands in the braces of the table."""
    depth, inner = arch.num_layers, arch.widths[1:-1]
    thin = [i for i, (_, rank) in enumerate(_ranks(arch), start=1) if rank < 2]
    fails = ["two tokens"] if arch.tokens == 1 else []
    if depth > 1 and thin:
        fails.append(
            f"rank 2 in every layer (it is 1 in layer{'s' * (len(thin) > 1)}"
            f" {in_short(thin)})"
        )
    # D of Lemma D
    virtual = general_formula(replace(arch, attention="softmax", tokens=2)).value
    # The bases of the heads that all (A, V) forget (Lemma 3.1)
    heads = sum(a * a if a <= d else 2 * a * d - d * d for d, _, a in arch.layers)
    theorem = "Theorem 3.2" if depth == 1 else "Theorem 3.7"
    fiber = virtual - general_formula(arch).value
    return {
        "rescalings": "rescalings" if depth == 1 else f"{depth} rescalings",
        "signs": 2**depth if depth <= 60 else f"2^{depth}",
        "fiber": fiber,
        "masked": virtual - depth,
        "outside": (
            f"{theorem} needs {' and '.join(fails)}. By Lemma D and Theorem C a generic"
            f" fibre has dimension {fiber}."
        ),
        "unknown": "We know no proof of what the whole fibre is.",
        "collapse": _collapse(arch),
        "groups": (
            f"GL({inner[0]})" + (f", {depth - 1} times" if depth > 2 else "")
            if inner
            else ""
        ),
        "inner": inner[0] if inner else "",
        "bases": sum(width**2 for width in inner),
        "layers": arch.num_parameters - heads - virtual,
        "widths": in_short(arch.widths),
        "seen": in_short(effective_widths(arch)),
        "blocks": (
            f"With several heads{' or a skip' if len(set(arch.widths)) == 1 else ''}"
        ),
    }


def _ranks(arch: Architecture) -> list[tuple[int, int]]:
    """(r_{i−1}, rk M_i) at generic weights: tokens of layer i fill r_{i−1}
    dimensions."""
    widths = accumulate(arch.widths[:-1], min)
    return [(r, min(a, r)) for r, a in zip(widths, arch.head_dims, strict=True)]


def _collapse(arch: Architecture) -> int | None:
    """After which layer all tokens are parallel: a single one is from the start."""
    return 0 if arch.tokens == 1 else collapsing_layer(arch)
