"""What is known about the functions of one architecture: which statement says so, and with what right.

Questions in a fixed order, each with an answer, a status and a source (docs/mathematics.md): the
dimension, how it can be proved, which weights share a function, and what is still open. No statement is
applied outside its hypotheses: where one fails, the entry names it and says what remains.

At the end, the temperature: it divides A, so it changes a spectrum in floating point, and no dimension.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import accumulate
from math import isfinite

import numpy as np

from neuroviz.certificate.certificate import Certificate
from neuroviz.engine.architecture import Architecture, check_architecture, in_short
from neuroviz.engine.cost import is_quick
from neuroviz.engine.field import Reals
from neuroviz.engine.formulas import (
    Expected,
    collapsing_layer,
    effective_widths,
    expected_dimension,
    general_formula,
    paper_formula,
)
from neuroviz.engine.measure import Measurement, from_spectrum, measure_dimension
from neuroviz.engine.network import Layer, conditioned_tokens, conditioned_weights, jacobian
from neuroviz.engine.orbit_slice import num_columns

QUESTIONS = (
    "dimension",
    "the paper's formula",
    "exact rank",
    "certificates",
    "function → (L, M)",
    "(L, M) → (A, V)",
    "special weights",
    "other normalisations",
    "heads or a skip",
)
_MOST_PARAMETERS, _MOST_SECONDS = 1500, 5  # beyond, the exact rank is not measured unasked


@dataclass(frozen=True)
class StatusEntry:
    """One question about an architecture.

    Attributes:
        question: one of `QUESTIONS`.
        answer: in a few words.
        status: "proved", "proved here", "exact", "certified", "observed", "conjectured", "no formula"
            (nobody has an answer, as far as we know) or "outside hypotheses".
        source: the paper's item, or a heading of docs/mathematics.md.
        note: the answer in a sentence or two, with what it assumes.
    """

    question: str
    answer: str
    status: str
    source: str
    note: str


@dataclass(frozen=True)
class StatusBoard:
    """What is known for one architecture.

    Attributes:
        arch: the architecture.
        entries: one for each question that makes sense for it, in the order of `QUESTIONS`.
        expected: what theory says about the dimension.
        measured: the exact rank; None where the network is too large to be measured unasked.
        routes: those of `certificate.ROUTES` that can prove the dimension.
        certificate: the proof that confirmed it, or None.
    """

    arch: Architecture
    entries: tuple[StatusEntry, ...]
    expected: Expected
    measured: Measurement | None
    routes: tuple[str, ...]
    certificate: Certificate | None = field(default=None, compare=False)

    def entry(self, question: str) -> StatusEntry | None:
        """The entry of a question; None where the question makes no sense for this architecture.

        Raises:
            ValueError: if nobody asks this question.
        """
        if question not in QUESTIONS:
            raise ValueError(f"question is one of {', '.join(map(repr, QUESTIONS))}; got {question!r}")
        return next((entry for entry in self.entries if entry.question == question), None)

    def __str__(self) -> str:
        rows = [f"{e.question:<22}{e.answer}  ({e.status}: {e.source})" for e in self.entries]
        return "\n".join([str(self.arch), *rows])


def what_is_known(
    arch: Architecture,
    measured: Measurement | None = None,
    certificate: Certificate | None = None,
) -> StatusBoard:
    """The status board of an architecture: dimension, proofs, fibres, and what is open.

    "Generic" is meant throughout: for almost all weights. A fibre of (L, M₁, …, M_l) ↦ φ is looked at
    inside the set 𝓥 of virtual weights that the architecture reaches; its dimension is dim 𝓥 = D
    (Lemma D) less that of the functions.

    Args:
        arch: any `Architecture`.
        measured: its exact dimension, if it has been measured already; by default it is measured, unless
            the network has more than 1500 parameters, or it would take more than some seconds.
        certificate: a proof to be shown as what confirmed the dimension; it is verified first.

    Raises:
        ValueError: if `arch` is no Architecture, or the certificate is of another one or does not hold.

    >>> board = what_is_known(Architecture((3, 3, 3), (2, 2), attention="softmax"))
    >>> board.entry("function → (L, M)").answer, board.entry("function → (L, M)").source
    ('one point', 'Theorem B')
    >>> what_is_known(Architecture((3, 3, 3), (1, 2))).entry("function → (L, M)").status
    'no formula'
    """
    check_architecture("what_is_known", arch)
    small = arch.num_parameters <= _MOST_PARAMETERS
    if measured is None and small and is_quick(arch, num_columns(arch), seconds=_MOST_SECONDS):
        measured = measure_dimension(arch)
    if certificate is not None:
        _check_certificate(arch, certificate)
    expected, routes = expected_dimension(arch), routes_that_prove(arch, measured)
    found = (
        StatusEntry("dimension", str(expected.value), expected.status, expected.source, _sentence(expected)),
        _paper(arch),
        _rank(arch, expected, measured),
        _certificates(expected, routes, certificate),
        _function_to_virtual(arch),
        _virtual_to_layers(arch),
        _special_weights(arch),
        *_normalisations(arch),
        _heads_and_skips(arch),
    )
    return StatusBoard(arch, found, expected, measured, routes, certificate)


def _sentence(expected: Expected) -> str:
    return expected.note[0].upper() + expected.note[1:] + "."


# The dimension


def _paper(arch: Architecture) -> StatusEntry:
    paper = paper_formula(arch)
    applies = paper.status != "outside hypotheses"
    answer = str(paper.value) if applies else f"{paper.value}, does not apply".replace("-", "−")
    return StatusEntry("the paper's formula", answer, paper.status, paper.source, _sentence(paper))


def _rank(arch: Architecture, expected: Expected, measured: Measurement | None) -> StatusEntry:
    source = "Exponentials as free elements" if arch.attention == "softmax" else "Exact rank"
    if measured is None:
        note = (
            f"{arch.num_parameters} parameters and t = {arch.tokens} are too much to be measured unasked: "
            "call measure_dimension, and pass what it finds."
        )
        return StatusEntry("exact rank", "not measured", "no formula", source, note)
    agrees = measured.value == expected.value
    verdict = "Theory says the same." if agrees else f"Theory says {expected.value}: they DISAGREE."
    answer = str(measured.value) if agrees else f"{measured.value}, against {expected.value}"
    note = f"{measured.note[0].upper()}{measured.note[1:]}. {verdict}"
    return StatusEntry("exact rank", answer, measured.status, source, note)


def routes_that_prove(arch: Architecture, measured: Measurement | None) -> tuple[str, ...]:
    """Those of `certificate.ROUTES` that can prove the dimension, as far as a measurement tells.

    A theorem always can. An exact rank can where it meets an upper bound, which the general formula is; ball
    arithmetic where the rank on the slice across the symmetries is full.

    >>> arch = Architecture((3, 3, 3), (1, 2))
    >>> routes_that_prove(arch, measure_dimension(arch)), routes_that_prove(arch, None)
    (('theorem', 'exact rank'), ('theorem',))
    """
    found = ["theorem"]
    if measured is not None and measured.value == expected_dimension(arch).value:
        found.append("exact rank")
        if measured.route == "slice" and measured.value == measured.num_columns:
            found.append("ball")
    return tuple(found)


def _certificates(
    expected: Expected, routes: tuple[str, ...], certificate: Certificate | None
) -> StatusEntry:
    can = ", ".join(routes)
    missing = "" if "ball" in routes else (
        " Ball arithmetic proves a full rank on the slice of the symmetries, and there is none here to prove."
        if "exact rank" in routes
        else ""
    )  # fmt: skip
    if certificate is None:
        note = f"These routes can prove the dimension: {can}.{missing}"
        return StatusEntry("certificates", f"possible: {can}", expected.status, "Certificates", note)
    by_theorem = certificate.route == "theorem"
    status = certificate.data["status"] if by_theorem else "certified"
    argument = certificate.argument[0].upper() + certificate.argument[1:]
    note = (
        f"Confirmed by {certificate.route}, and checked again another way. {argument}. "
        f"Routes that can: {can}."
    )
    return StatusEntry("certificates", f"by {certificate.route}", status, certificate.source, note)


def _check_certificate(arch: Architecture, certificate: Certificate) -> None:
    if certificate.arch != arch:
        raise ValueError(f"the certificate must be of {arch}; got one of {certificate.arch}")
    if not (checked := certificate.verify()):
        raise ValueError(f"the certificate does not hold: {checked.finding}; make another one")


# Which weights share a function


def _ranks(arch: Architecture) -> list[tuple[int, int]]:
    """(r_{i−1}, rk M_i) at generic weights: tokens of layer i fill r_{i−1} dimensions."""
    widths = accumulate(arch.widths[:-1], min)
    return [(r, min(a, r)) for r, a in zip(widths, arch.head_dims, strict=True)]


def _fiber_dimension(arch: Architecture) -> int:
    """Of a generic fibre of (L, M) ↦ φ: D, dimension of the virtual weights, less that of the functions."""
    D = general_formula(replace(arch, attention="softmax", tokens=2)).value
    return D - general_formula(arch).value


def _function_to_virtual(arch: Architecture) -> StatusEntry:
    question = "function → (L, M)"
    if arch.attention == "softmax":
        return StatusEntry(question, *_softmax_fiber(arch))
    return StatusEntry(question, *_lightning_fiber(arch))


def _softmax_fiber(arch: Architecture) -> tuple[str, str, str, str]:
    if arch.tokens == 1:
        note = "A single token attends to itself alone: the function is x ↦ Lx, and every choice of M has it."
        return "L, but no M", "proved here", "One token", note
    if arch.num_layers == 1:
        note = "Where V is not 0, no other (A, V) has the same function."
        return "one point", "proved", "Thm. 3.9", note
    note = (
        "No other virtual weights, of this architecture or any other of this kind, have the same function, "
        "as soon as L is not 0 and no M is antisymmetric. It rests on Ax's theorem; our proof, not "
        "peer-reviewed."
    )
    return "one point", "proved here", "Theorem B", note


def _lightning_fiber(arch: Architecture) -> tuple[str, str, str, str]:
    depth, d, a = arch.num_layers, arch.widths, arch.head_dims
    curves = "rescalings" if depth == 1 else f"{depth} rescalings"
    if depth == 1 and arch.tokens > 1:
        if d[0] > 1 and a[0] == 1 and d[1] == 1:
            note = (
                "A = u kᵀ and V = h vᵀ have rank one: besides the rescalings (cA, V/c), the forms u of the "
                "keys and v of the values may change places."
            )
            return "rescalings and one swap", "proved", "Thm. 3.2", note
        return curves, "proved", "Thm. 3.2", "Only (cA, V/c), c ≠ 0, has the same function as (A, V)."
    if d[0] == 1:
        note = (
            "Tokens are numbers: the function is a power of |x| times x times L ∏ M_i^(3^(l−i)), and only "
            "this product shows. So: the rescalings of Eq. 13, and nothing else."
        )
        return curves, "proved here", "Eq. 13", note
    ranks = _ranks(arch)
    if arch.tokens > 1 and all(rank > 1 for _, rank in ranks):
        note = (
            f"Only the rescalings of Eq. 13, one a layer, have the same function: all M have rank 2 or more, "
            f"and generic ones are not antisymmetric. With the sizes of all M fixed, "
            f"{2**depth if depth <= 60 else f'2^{depth}'} points "
            "remain, by their signs."
        )
        return curves, "proved", "Thm. 3.7", note
    return _outside_theorem_3_7(arch, ranks)


def _outside_theorem_3_7(arch: Architecture, ranks: list[tuple[int, int]]) -> tuple[str, str, str, str]:
    """No description of the whole fibre: its dimension, and the points beyond the rescalings that we know."""
    depth, k = arch.num_layers, _fiber_dimension(arch)
    needs = "Theorem 3.2" if depth == 1 else "Theorem 3.7"
    fails = ["two tokens"] if arch.tokens == 1 else []
    thin = [i for i, (_, rank) in enumerate(ranks, start=1) if rank < 2]
    if depth > 1 and thin:
        fails.append(
            f"rank 2 in every layer (it is 1 in layer{'s' if len(thin) > 1 else ''} {in_short(thin)})"
        )
    collapse = 0 if arch.tokens == 1 else collapsing_layer(arch)
    # From here on layers see the symmetric part of their M only: its transpose does as well.
    hidden = collapse is not None and any(r > 1 for r, _ in ranks[collapse:])
    swap = arch.tokens > 1 and arch.widths[-1] == arch.head_dims[-1] == 1 and ranks[-1][0] > 1
    more, source = "", "What is not proved"
    if hidden:
        source = "One token" if arch.tokens == 1 else "Rank-one collapse"
        which = "every layer" if arch.tokens == 1 else f"every layer after layer {collapse}"
        more = f" It is more than the rescalings: in {which} only the symmetric part of M is seen."
    elif swap:
        source = "Fibres that are not one orbit"
        more = " It is more than the rescalings: L = h uᵀ and M_l = c kᵀ have rank one, and u and c may swap."
    answer = f"dimension {k}, {'more than rescalings' if more else 'not described'}"
    note = (
        f"{needs} needs {' and '.join(fails)}. By Lemma D and Theorem C a generic fibre has dimension {k}."
        f"{more} We know no proof of what the whole fibre is."
    )
    return answer, "no formula", source, note


def _virtual_to_layers(arch: Architecture) -> StatusEntry:
    question, d, depth = "(L, M) → (A, V)", arch.widths, arch.num_layers
    if depth == 1:
        return StatusEntry(question, "the same thing", "proved", "Eq. 8", "One layer: L = V and M₁ = A.")
    inner = d[1:-1]
    cost = sum(width**2 for width in inner)
    groups = f"GL({inner[0]})" + (f", {depth - 1} times" if depth > 2 else "")
    if len(set(inner)) == 1 and inner[0] <= min(d[0], d[-1]):
        note = (
            f"Inner widths δ = {inner[0]} ≤ d₀, d_l: where L has rank δ, all (A, V) with the same (L, M) "
            f"differ by a change of basis between the layers; this orbit has dimension {cost}."
        )
        return StatusEntry(question, f"one orbit of {groups}", "proved", "Lemma 3.5", note)
    if effective_widths(arch) == d:
        note = (
            "No bottleneck, as Lemma 3.5 asks for; but L and the later M together span all that each inner "
            f"layer can hold, so its proof goes through: one orbit of basis changes, of dimension {cost}."
        )
        return StatusEntry(question, "one orbit of bases", "proved here", "Lemma D", note)
    k = arch.num_parameters - _fixed_by_virtual(arch)
    w = in_short(effective_widths(arch))
    note = (
        f"Of the widths {in_short(d)} later layers see {w}. The (A, V) with one generic (L, M) "
        f"form a set of dimension {k}, which contains the changes of basis; whether it is one orbit is not "
        "said."
    )
    return StatusEntry(question, f"dimension {k}", "proved here", "Lemma D", note)


def _fixed_by_virtual(arch: Architecture) -> int:
    """Parameters less this number is dim {(A, V)} − D: the bases of the heads (Lemma 3.1), and D."""
    heads = sum(a * a if a <= d_in else 2 * a * d_in - d_in * d_in for d_in, _, a in arch.layers)
    return heads + general_formula(replace(arch, attention="softmax", tokens=2)).value


# What is open


def _special_weights(arch: Architecture) -> StatusEntry:
    """Fibres through weights that are not generic."""
    question = "special weights"
    softmax = arch.attention == "softmax"
    if softmax and arch.tokens == 1:
        note = "x ↦ Lx for all weights: there are no special ones."
        return StatusEntry(question, "none", "proved here", "One token", note)
    if arch.num_layers == 1 and arch.tokens > 1:
        source = "Thm. 3.9" if softmax else "Thm. 3.2"
        note = (
            "All weights are covered: V = 0 leaves A free, and there is no other exception."
            if softmax
            else "All weights are covered: rank one allows a swap; A = 0 or V = 0 gives the zero function."
        )
        return StatusEntry(question, "all covered", "proved", source, note)
    if softmax:
        note = (
            "Theorem B covers all weights with L ≠ 0 and no antisymmetric M (0 is one). Elsewhere the fibre "
            "can be larger, and it is not described."
        )
        return StatusEntry(question, "open: antisymmetric M", "no formula", "What is not proved", note)
    if arch.widths[0] == 1:
        note = "All weights are covered: the function is zero exactly when L or some M is."
        return StatusEntry(question, "all covered", "proved here", "Eq. 13", note)
    if arch.tokens == 1:
        note = (
            "Only the symmetric part of each M is seen, and where one is 0 the function is zero. Other "
            "special fibres are not described."
        )
        return StatusEntry(question, "open", "no formula", "What is not proved", note)
    note = (
        "Where an M is antisymmetric or has rank one there can be more points: two layers may change places, "
        "for instance. There is no list of them."
    )
    return StatusEntry(
        question, "open: more points occur", "no formula", "Fibres that are not one orbit", note
    )


def _normalisations(arch: Architecture) -> Iterator[StatusEntry]:
    """The same widths with attention normalised by something else than exp; no question for lightning."""
    if arch.attention == "lightning":
        return
    question, inner = "other normalisations", arch.widths[1:-1]
    if arch.tokens == 1:
        note = "With one token the only attention weight is 1, whatever it is normalised from."
        yield StatusEntry(question, "the same function", "proved here", "One token", note)
    elif not inner or (len(set(inner)) == 1 and inner[0] <= min(arch.widths[0], arch.widths[-1])):
        note = (
            "The paper conjectures single points, and the same dimension, for normalised attention; the "
            "proofs told here are for softmax."
        )
        yield StatusEntry(question, "one point?", "conjectured", "Conjecture 3.10", note)
    else:
        note = "Conjecture 3.10 is about bottlenecks; for widths such as these nothing is claimed."
        yield StatusEntry(question, "open", "no formula", "What is not proved", note)


def _heads_and_skips(arch: Architecture) -> StatusEntry:
    """The same network with several heads, or with a skip connection."""
    question, equal = "heads or a skip", len(set(arch.widths)) == 1
    if arch.tokens > 1 and (equal or arch.num_layers == 1):
        softmax = arch.attention == "softmax"
        about = "With several heads" + (" or a skip" if equal else "")
        if softmax:
            note = (
                f"{about} the dimension is known, under the conditions of Theorem E. Generic fibres are "
                "discrete, up to the symmetries named there; how many points they have is open."
            )
            return StatusEntry(question, "dimension, not fibres", "proved here", "Theorem E", note)
        note = (
            f"{about} there are formulas for the dimension of some lightning networks: they agreed with "
            "exact ranks on a grid, and no proof is known. The fibres are open."
        )
        return StatusEntry(question, "some formulas", "observed", "Beyond the paper", note)
    why = "one token" if arch.tokens == 1 else "unequal widths and more than one layer"
    note = f"For {why} we have no statement about several heads or skips."
    return StatusEntry(question, "open", "no formula", "What is not proved", note)


# Both kinds of attention at the same sizes, and the temperature


def measure_at_temperature(arch: Architecture, temperature: float, seed: int = 0) -> Measurement:
    """The float measurement of `measure_dimension`, with A/τ in place of A in every layer.

    Softmax with exp(·/τ) is softmax with A/τ, and for lightning A/τ is a rescaling. So the dimension does
    not depend on τ. What floating point can see of it does: hot softmax averages all tokens alike, cold
    softmax picks one, and either way singular values sink into the rounding. Weights and inputs are those
    of τ = 1 but for the factor. A rank other than that at τ = 1 is never `decided`, however wide its gap.

    Args:
        arch: any `Architecture`.
        temperature: τ, above 0.
        seed: as in `measure_dimension`.

    Raises:
        ValueError: if the temperature is not a finite number above 0, or the spectrum leaves the float range.

    >>> measure_at_temperature(Architecture((3, 3, 3), (2, 2), attention="softmax"), 1.0).value
    25
    """
    number = isinstance(temperature, (int, float, np.number)) and not isinstance(temperature, bool)
    if not (number and isfinite(temperature) and temperature > 0):
        raise ValueError(f"a temperature is a finite number above 0; got {temperature!r}")
    base = measure_dimension(arch, method="float", seed=seed)
    if temperature == 1:
        return base
    rng = np.random.default_rng([base.seed, 2])  # the point of measure_dimension
    weights = tuple(Layer(Q / temperature, K, V) for Q, K, V in conditioned_weights(arch, rng))
    X = conditioned_tokens(arch, base.num_inputs, rng)
    J = jacobian(Reals(), arch.attention, weights, X, rescale=arch.attention == "lightning")
    found = from_spectrum(J.reshape(-1, J.shape[-1]), base.num_inputs, base.seed)
    decided = bool(found.decided and base.decided and found.value == base.value)
    note = f"at temperature {temperature:.3g}: {found.note}"
    if found.decided and not decided:
        note = (
            f"undecided: at temperature {temperature:.3g} there is a gap at rank {found.value}, but the "
            f"dimension does not depend on the temperature, and at 1 floats read {base.value}; the "
            "exact rank can tell"
        )
    return replace(found, decided=decided, note=note)
