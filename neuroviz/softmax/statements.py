"""What docs/mathematics states about the functions of one architecture, question by
question.

"Tokens" are two or more.
"""

from dataclasses import dataclass, replace
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
        question: one of `ASKED`, or of those that a package beyond adds.
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


@dataclass(frozen=True)
class Statement:
    """An answer to a question, for the networks that fulfil its hypotheses.

    Attributes:
        question, status, source: as in `StatusEntry`.
        hypotheses: names of `_facts`, all of which have to hold.
        answer, note: what stands in braces is put in, by its name in `_values`.
    """

    question: str
    hypotheses: tuple[str, ...]
    answer: str
    status: str
    source: str
    note: str


STATEMENTS = (
    # function → (L, M)
    Statement(
        question="function → (L, M)",
        hypotheses=("softmax", "one token"),
        answer="L, but no M",
        status="proved here",
        source="One token",
        note=(
            "A single token attends to itself alone: the function is x ↦ Lx, and "
            "every choice of M has it."
        ),
    ),
    Statement(
        question="function → (L, M)",
        hypotheses=("softmax", "one layer"),
        answer="one point",
        status="proved",
        source="Thm. 3.9",
        note="Where V is not 0, no other (A, V) has the same function.",
    ),
    Statement(
        question="function → (L, M)",
        hypotheses=("softmax",),
        answer="one point",
        status="proved here",
        source="Theorem B",
        note=(
            "No other virtual weights, of this architecture or any other of this "
            "kind, have the same function, as soon as L is not 0 and no M is "
            "antisymmetric. It rests on Ax's theorem; our proof, not peer-reviewed."
        ),
    ),
    Statement(
        question="function → (L, M)",
        hypotheses=("one layer", "tokens", "forms may swap"),
        answer="rescalings and one swap",
        status="proved",
        source="Thm. 3.2",
        note=(
            "A = u kᵀ and V = h vᵀ have rank one: besides the rescalings (cA, V/c), "
            "the forms u of the keys and v of the values may change places."
        ),
    ),
    Statement(
        question="function → (L, M)",
        hypotheses=("one layer", "tokens"),
        answer="{rescalings}",
        status="proved",
        source="Thm. 3.2",
        note="Only (cA, V/c), c ≠ 0, has the same function as (A, V).",
    ),
    Statement(
        question="function → (L, M)",
        hypotheses=("d₀ = 1",),
        answer="{rescalings}",
        status="proved here",
        source="Eq. 13",
        note=(
            "Tokens are numbers: the function is a power of |x| times x times L ∏ "
            "M_i^(3^(l−i)), and only this product shows. So: the rescalings of Eq. "
            "13, and nothing else."
        ),
    ),
    Statement(
        question="function → (L, M)",
        hypotheses=("tokens", "all M of rank 2"),
        answer="{rescalings}",
        status="proved",
        source="Thm. 3.7",
        note=(
            "Only the rescalings of Eq. 13, one a layer, have the same function: "
            "all M have rank 2 or more, and generic ones are not antisymmetric. "
            "With the sizes of all M fixed, {signs} points remain, by their signs."
        ),
    ),
    Statement(
        question="function → (L, M)",
        hypotheses=("tokens", "all M but the last of rank 2", "last forms may swap"),
        answer="rescalings and one swap",
        status="proved here",
        source="Theorem F",
        note=(
            "L = h uᵀ and M_l = c kᵀ have rank one, and u and c may change places: "
            "two classes of rescalings, and no others. Our proof, not "
            "peer-reviewed."
        ),
    ),
    Statement(
        question="function → (L, M)",
        hypotheses=("tokens", "all M but the last of rank 2"),
        answer="{rescalings}",
        status="proved here",
        source="Theorem F",
        note=(
            "Only the rescalings of Eq. 13, one a layer: the last M may have rank "
            "one. Our proof, not peer-reviewed."
        ),
    ),
    Statement(
        question="function → (L, M)",
        hypotheses=("one token", "A hidden"),
        answer="dimension {fiber}, more than rescalings",
        status="no formula",
        source="One token",
        note=(
            "{outside} It is more than the rescalings: in every layer only the "
            "symmetric part of M is seen. {unknown}"
        ),
    ),
    Statement(
        question="function → (L, M)",
        hypotheses=("A hidden",),
        answer="dimension {fiber}, more than rescalings",
        status="no formula",
        source="Rank-one collapse",
        note=(
            "{outside} It is more than the rescalings: in every layer after layer "
            "{collapse} only the symmetric part of M is seen. {unknown}"
        ),
    ),
    Statement(
        question="function → (L, M)",
        hypotheses=("always",),
        answer="dimension {fiber}, not described",
        status="no formula",
        source="What is not proved",
        note="{outside} {unknown}",
    ),
    # (L, M) → (A, V)
    Statement(
        question="(L, M) → (A, V)",
        hypotheses=("one layer",),
        answer="the same thing",
        status="proved",
        source="Eq. 8",
        note="One layer: L = V and M₁ = A.",
    ),
    Statement(
        question="(L, M) → (A, V)",
        hypotheses=("bottleneck",),
        answer="one orbit of {groups}",
        status="proved",
        source="Lemma 3.5",
        note=(
            "Inner widths δ = {inner} ≤ d₀, d_l: where L has rank δ, all (A, V) "
            "with the same (L, M) differ by a change of basis between the layers; "
            "this orbit has dimension {bases}."
        ),
    ),
    Statement(
        question="(L, M) → (A, V)",
        hypotheses=("no width is too large",),
        answer="one orbit of bases",
        status="proved here",
        source="Lemma D",
        note=(
            "No bottleneck, as Lemma 3.5 asks for; but L and the later M together "
            "span all that each inner layer can hold, so its proof goes through: "
            "one orbit of basis changes, of dimension {bases}."
        ),
    ),
    Statement(
        question="(L, M) → (A, V)",
        hypotheses=("always",),
        answer="dimension {layers}",
        status="proved here",
        source="Lemma D",
        note=(
            "Of the widths {widths} later layers see {seen}. The (A, V) with one "
            "generic (L, M) form a set of dimension {layers}, which contains the "
            "changes of basis; whether it is one orbit is not said."
        ),
    ),
    # special weights
    Statement(
        question="special weights",
        hypotheses=("softmax", "one token"),
        answer="none",
        status="proved here",
        source="One token",
        note="x ↦ Lx for all weights: there are no special ones.",
    ),
    Statement(
        question="special weights",
        hypotheses=("softmax", "one layer"),
        answer="all covered",
        status="proved",
        source="Thm. 3.9",
        note=(
            "All weights are covered: V = 0 leaves A free, and there is no other "
            "exception."
        ),
    ),
    Statement(
        question="special weights",
        hypotheses=("one layer", "tokens"),
        answer="all covered",
        status="proved",
        source="Thm. 3.2",
        note=(
            "All weights are covered: rank one allows a swap; A = 0 or V = 0 gives "
            "the zero function."
        ),
    ),
    Statement(
        question="special weights",
        hypotheses=("softmax",),
        answer="open: antisymmetric M",
        status="no formula",
        source="What is not proved",
        note=(
            "Theorem B covers all weights with L ≠ 0 and no antisymmetric M (0 is "
            "one). Elsewhere the fibre can be larger, and we do not describe it; "
            "Konda (2026) does for two tokens, and for two layers."
        ),
    ),
    Statement(
        question="special weights",
        hypotheses=("d₀ = 1",),
        answer="all covered",
        status="proved here",
        source="Eq. 13",
        note=(
            "All weights are covered: the function is zero exactly when L or some M is."
        ),
    ),
    Statement(
        question="special weights",
        hypotheses=("one token",),
        answer="open",
        status="no formula",
        source="What is not proved",
        note=(
            "Only the symmetric part of each M is seen, and where one is 0 the "
            "function is zero. Other special fibres are not described."
        ),
    ),
    Statement(
        question="special weights",
        hypotheses=("always",),
        answer="open: more points occur",
        status="no formula",
        source="Fibres that are not one orbit",
        note=(
            "Where an M is antisymmetric or has rank one there can be more points: "
            "two layers may change places, for instance. There is no list of them."
        ),
    ),
    # other normalisations
    Statement(
        question="other normalisations",
        hypotheses=("softmax", "one token"),
        answer="the same function",
        status="proved here",
        source="One token",
        note=(
            "With one token the only attention weight is 1, whatever it is "
            "normalised from."
        ),
    ),
    Statement(
        question="other normalisations",
        hypotheses=("softmax", "one layer or bottleneck"),
        answer="one point?",
        status="conjectured",
        source="Conjecture 3.10",
        note=(
            "The paper conjectures single points, and the same dimension, for "
            "normalised attention; the proofs told here are for softmax. Konda "
            "(2026) proves single points where f is real-analytic."
        ),
    ),
    Statement(
        question="other normalisations",
        hypotheses=("softmax",),
        answer="open",
        status="no formula",
        source="What is not proved",
        note=(
            "Conjecture 3.10 is about bottlenecks; for widths such as these nothing "
            "is claimed."
        ),
    ),
    # a mask
    Statement(
        question="a mask",
        hypotheses=("one token",),
        answer="nothing changes",
        status="proved here",
        source="One token",
        note="A single token attends to itself alone, with a mask and without.",
    ),
    Statement(
        question="a mask",
        hypotheses=("softmax",),
        answer="the same dimension, one point",
        status="proved here",
        source="Theorem A′",
        note=(
            "Causal networks have the same dimension, and for almost all weights no "
            "other (L, M) has the function."
        ),
    ),
    Statement(
        question="a mask",
        hypotheses=("lightning",),
        answer="dimension {masked}",
        status="proved here",
        source="Theorem K",
        note=(
            "Causal networks have this dimension, D − l, whatever the ranks: "
            "nothing collapses."
        ),
    ),
    # heads or a skip
    Statement(
        question="heads or a skip",
        hypotheses=("softmax", "tokens", "one layer or bottleneck"),
        answer="one orbit",
        status="proved here",
        source="Theorem H",
        note=(
            "{blocks} all weights with the same function are one orbit of the "
            "permutations of heads and, without skips, of the changes of basis "
            "between layers. For almost all weights; our proof, not peer-reviewed."
        ),
    ),
    Statement(
        question="heads or a skip",
        hypotheses=("softmax", "three tokens"),
        answer="dimension, not fibres",
        status="proved here",
        source="Theorem W",
        note=(
            "{blocks} the dimension is known for all widths. The fibres are open. "
            "Our proof, not peer-reviewed."
        ),
    ),
    Statement(
        question="heads or a skip",
        hypotheses=("lightning", "tokens", "one layer"),
        answer="dimension, not fibres",
        status="proved here",
        source="Theorem M",
        note=(
            "{blocks} the dimension is known up to min(d, d′) heads. The fibres of "
            "several heads are open. Our proof, not peer-reviewed."
        ),
    ),
    Statement(
        question="heads or a skip",
        hypotheses=("lightning", "tokens", "bottleneck", "tokens leave the line"),
        answer="dimension, not fibres",
        status="proved here",
        source="Theorem N",
        note=(
            "{blocks} the dimensions of the layers add up, without skips less those of "
            "the bases between them, unless a single head of rank one stands before "
            "the last layer. With skips the function of one head a layer determines "
            "every layer (Theorems S and L); other fibres are open. Our proofs, not "
            "peer-reviewed."
        ),
    ),
    Statement(
        question="heads or a skip",
        hypotheses=("lightning", "tokens", "one layer or equal widths"),
        answer="dimension, not fibres",
        status="proved here",
        source="Theorem S",
        note=(
            "With a skip the dimensions of the layers add up. Several heads without "
            "skips, and the fibres, are open. Our proof, not peer-reviewed."
        ),
    ),
    Statement(
        question="heads or a skip",
        hypotheses=("always",),
        answer="open",
        status="no formula",
        source="What is not proved",
        note=(
            "For one token, and for unequal widths and more than one layer, we have "
            "no statement about heads or skips."
        ),
    ),
)
"""Of each question the first statement counts whose hypotheses all hold."""
ASKED = tuple(dict.fromkeys(one.question for one in STATEMENTS))
"""The questions, in order."""


def statements(arch: Architecture) -> tuple[StatusEntry, ...]:
    """Of each question the first statement whose hypotheses hold, filled in."""
    facts = _facts(arch)
    values = _values(arch)
    found: dict[str, StatusEntry] = {}
    for one in STATEMENTS:
        if one.question in found or not facts.issuperset(one.hypotheses):
            continue
        found[one.question] = StatusEntry(
            question=one.question,
            answer=one.answer.format_map(values),
            status=one.status,
            source=one.source,
            note=one.note.format_map(values),
        )
    if arch.attention == "lightning":  # nothing is normalised
        found.pop("other normalisations", None)
    return tuple(found.values())


def _facts(arch: Architecture) -> set[str]:
    """The hypotheses of the table that hold, by name; for almost all weights."""
    d = arch.widths
    a = arch.head_dims
    inner = d[1:-1]
    ranks = _ranks(arch)
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
        "tokens leave the line": min(d) > 1,
        "no width is too large": effective_widths(arch) == d,
        "all M of rank 2": all(rank > 1 for _, rank in ranks),
        "all M but the last of rank 2": all(rank > 1 for _, rank in ranks[:-1]),
        # After a collapse layers see the symmetric part of their M only: its transpose
        # does as well.
        "A hidden": collapse is not None and any(r > 1 for r, _ in ranks[collapse:]),
        # A = u kᵀ and V = h vᵀ for all weights; with d₀ = 1 there is one form only.
        "forms may swap": d[0] > 1 and a[0] == 1 and d[1] == 1,
        # L and M_l of rank one; with r_{l−1} = 1 both use the one form there is.
        "last forms may swap": (
            arch.tokens > 1 and d[-1] == a[-1] == 1 and ranks[-1][0] > 1
        ),
    }
    return {name for name, true in holds.items() if true}


def _values(arch: Architecture) -> dict[str, object]:
    """What stands in the braces of the table."""
    depth = arch.num_layers
    inner = arch.widths[1:-1]
    # D of Lemma D: softmax on two tokens loses nothing of it (Corollary A).
    virtual = general_formula(replace(arch, attention="softmax", tokens=2)).value
    # The bases of the heads that all (A, V) forget: the fibre of (Q, K) ↦ KᵀQ (Lemma
    # 3.1)
    heads = 0
    for d, _, a in arch.layers:
        heads += a * a if a <= d else 2 * a * d - d * d
    theorem = "Theorem 3.2" if depth == 1 else "Theorem 3.7"
    fiber = virtual - general_formula(arch).value
    groups = ""
    if inner:
        groups = f"GL({inner[0]})"
    if depth > 2:
        groups += f", {depth - 1} times"
    blocks = "With several heads"
    if len(set(arch.widths)) == 1:
        blocks += " or a skip"
    return {
        "rescalings": "rescalings" if depth == 1 else f"{depth} rescalings",
        "signs": 2**depth if depth <= 60 else f"2^{depth}",
        "fiber": fiber,
        "masked": virtual - depth,
        "outside": (
            f"{theorem} needs {_what_fails(arch)}. By Lemma D and Theorem C a generic"
            f" fibre has dimension {fiber}."
        ),
        "unknown": "We know no proof of what the whole fibre is.",
        "collapse": _collapse(arch),
        "groups": groups,
        "inner": inner[0] if inner else "",
        "bases": sum(width**2 for width in inner),
        "layers": arch.num_parameters - heads - virtual,
        "widths": in_short(arch.widths),
        "seen": in_short(effective_widths(arch)),
        "blocks": blocks,
    }


def _what_fails(arch: Architecture) -> str:
    """The hypotheses of Theorem 3.2 or 3.7 that do not hold."""
    fails = []
    if arch.tokens == 1:
        fails.append("two tokens")
    thin = [i for i, (_, rank) in enumerate(_ranks(arch), start=1) if rank < 2]
    if arch.num_layers > 1 and thin:
        layers = "layer" if len(thin) == 1 else "layers"
        fails.append(f"rank 2 in every layer (it is 1 in {layers} {in_short(thin)})")
    return " and ".join(fails)


def _ranks(arch: Architecture) -> list[tuple[int, int]]:
    """(r_{i−1}, rk M_i) at generic weights: tokens of layer i fill r_{i−1}
    dimensions."""
    widths = accumulate(arch.widths[:-1], min)
    return [(r, min(a, r)) for r, a in zip(widths, arch.head_dims, strict=True)]


def _collapse(arch: Architecture) -> int | None:
    """After which layer all tokens are parallel: a single one is from the start."""
    return 0 if arch.tokens == 1 else collapsing_layer(arch)
