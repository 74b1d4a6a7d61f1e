"""What is known about the functions of one architecture: which statement says so, and
with what right.

Questions in a fixed order, each with an answer, a status and a source
(docs/mathematics/index.md): the dimension, how it can be proved, which weights share a
function, and what is still open. What is proved, and under which hypotheses, stands in
the table of `statements`, and is never used outside them.
"""

from dataclasses import dataclass, field, replace

from neuroviz.attention.expected import Expected
from neuroviz.attention.formulas import paper_formula
from neuroviz.attention.identifiability import orbit_theorem
from neuroviz.kit.measured import measure_dimension
from neuroviz.kit.words import sentence
from neuroviz.rank.cost import is_quick
from neuroviz.rank.question import ask
from neuroviz.rank.results import Measurement
from neuroviz.softmax.statements import ASKED, StatusEntry, statements
from neuroviz_beyond.certificate.certificate import Certificate
from neuroviz_beyond.transformers import Transformer
from neuroviz_beyond.transformers.block_formulas import speaks_of_fibers
from neuroviz_beyond.transformers.formulas import expected_dimension
from neuroviz_beyond.transformers.transformer import as_transformer

QUESTIONS = (
    "dimension",
    "the paper's formula",
    "exact rank",
    "certificates",
    *ASKED,
)
# larger networks are measured only when asked
_MOST_PARAMETERS = 1500
_MOST_SECONDS = 5


@dataclass(frozen=True)
class StatusBoard:
    """What is known for one architecture.

    Attributes:
        arch: the architecture.
        entries: one for each question that makes sense for it, in the order of
            `QUESTIONS`.
        expected: what theory says about the dimension.
        measured: the exact rank; None where the network is too large to be measured
            unasked.
        routes: those of `certificate.ROUTES` that can prove the dimension.
        certificate: the proof that confirmed it, or None.
    """

    arch: Transformer
    entries: tuple[StatusEntry, ...]
    expected: Expected
    measured: Measurement | None
    routes: tuple[str, ...]
    certificate: Certificate | None = field(default=None, compare=False)

    def entry(self, question: str) -> StatusEntry | None:
        """The entry of a question; None where the question makes no sense for this
        architecture.

        Raises:
            ValueError: if nobody asks this question.
        """
        if question not in QUESTIONS:
            raise ValueError(
                f"question is one of {', '.join(map(repr, QUESTIONS))}; got"
                f" {question!r}"
            )
        return next(
            (entry for entry in self.entries if entry.question == question), None
        )

    def __str__(self) -> str:
        rows = [
            f"{e.question:<22}{e.answer}  ({e.status}: {e.source})"
            for e in self.entries
        ]
        return "\n".join([str(self.arch), *rows])


def what_is_known(
    arch: Transformer,
    measured: Measurement | None = None,
    certificate: Certificate | None = None,
) -> StatusBoard:
    """The status board of an architecture: dimension, proofs, fibres, and what is open.

    "Generic" is meant throughout: for almost all weights. A fibre of (L, M₁, …, M_l) ↦
    φ is looked at inside the set 𝓥 of virtual weights that the architecture reaches;
    its dimension is dim 𝓥 = D (Lemma D) less that of the functions.

    Args:
        arch: any. Beyond the paper (heads, skips, a mask, a block) the board tells the
            dimension, the exact rank, and which weights share a function.
        measured: its exact dimension, if it has been measured already; by default it is
            measured, unless the network has more than 1500 parameters, or it would take
            more than some seconds.
        certificate: a proof to be shown as what confirmed the dimension; it is verified
            first.

    Raises:
        ValueError: if `arch` is no Transformer, or if the certificate is of another
            one or does not hold.

    >>> board = what_is_known(Transformer((3, 3, 3), (2, 2), attention="softmax"))
    >>> board.entry("function → (L, M)").answer, board.entry("function → (L, M)").source
    ('one point', 'Theorem B')
    >>> what_is_known(Transformer((3, 3, 3), (1, 2))).entry("function → (L, M)").status
    'no formula'
    """
    arch = as_transformer("what_is_known", arch)
    small = arch.num_parameters <= _MOST_PARAMETERS
    if measured is None and small and is_quick(ask(arch), _MOST_SECONDS):
        measured = measure_dimension(arch)
    if certificate is not None and certificate.arch != arch.paper:
        raise ValueError(
            f"the certificate must be of {arch}; got one of {certificate.arch}"
        )
    if certificate is not None and not (checked := certificate.verify()):
        raise ValueError(
            f"the certificate does not hold: {checked.finding}; make another one"
        )
    expected = expected_dimension(arch)
    value = "open" if expected.value is None else str(expected.value)
    dimension = StatusEntry(
        "dimension", value, expected.status, expected.source, sentence(expected.note)
    )
    # The paper's formula, certificates and the table speak of plain networks only.
    if not arch.is_plain:
        found = dimension, _rank(arch, expected, measured), _fiber(arch)
        return StatusBoard(arch, found, expected, measured, ())
    paper = paper_formula(arch.paper)
    # A theorem can always prove it; ball arithmetic where the rank on the slice is
    # full.
    is_right = measured is not None and measured.value == expected.value
    full = (
        is_right
        and measured.route == "slice"
        and measured.value == measured.num_columns
    )
    routes = ("theorem", "ball") if full else ("theorem",)
    outside = f"{paper.value}, does not apply".replace("-", "−")
    by_paper = outside if paper.status == "outside hypotheses" else str(paper.value)
    found = (
        dimension,
        StatusEntry(
            "the paper's formula",
            by_paper,
            paper.status,
            paper.source,
            sentence(paper.note),
        ),
        _rank(arch, expected, measured),
        _certificates(expected, routes, certificate),
        *statements(arch.paper),
    )
    return StatusBoard(arch, found, expected, measured, routes, certificate)


def _fiber(arch: Transformer) -> StatusEntry:
    """Beyond the paper: which weights share a function."""
    theorem = orbit_theorem(arch)
    generic = "For almost all weights; our proof, not peer-reviewed"
    one_head = set(arch.heads) == {1} and arch.block.is_plain and arch.tokens > 1
    if speaks_of_fibers(arch):
        between = []
        if not arch.skip:
            between.append("bases")
        if arch.block.biases:
            between.append("shifts")
        moves = []
        if max(arch.heads) > 1:
            moves.append("orders of heads")
        if between and arch.num_layers > 1:
            moves.append(f"{' and '.join(between)} between layers")
        answer = f"one orbit of {', '.join(moves)}" if moves else "one point"
        seen = "A, V, c, ω" if arch.block.biases else "A and V"
        note = (
            f"All {seen} with one function (see where_theorem_h_fails). {generic}; by"
            " Ax's theorem."
        )
        return StatusEntry("heads or a skip", answer, "proved here", "Theorem H", note)
    if one_head and arch.num_layers == 1:
        plain = statements(arch.paper)[0]  # function → (L, M)
        return replace(
            plain,
            note=(
                f"{plain.note} A skip or a mask does not change what the function"
                " tells."
            ),
        )
    if theorem == "Theorem L":
        note = f"Only (cA, V/c), c ≠ 0, in each layer has the same function. {generic}."
        return StatusEntry(
            "heads or a skip", "rescalings in each layer", "proved here", theorem, note
        )
    if one_head and arch.attention == "softmax":  # so it is the mask
        note = f"No other (L, M) has the same function. {generic}; by Ax's theorem."
        return StatusEntry(
            "function → (L, M)", "one point", "proved here", "Theorem A′", note
        )
    note = (
        "The fibres: no statement says which weights share a function. The dimension"
        " has a row of its own."
    )
    return StatusEntry(
        "heads or a skip", "open: the fibres", "no formula", "What is not proved", note
    )


def _rank(
    arch: Transformer, expected: Expected, measured: Measurement | None
) -> StatusEntry:
    source = (
        "Exponentials as free elements" if arch.attention == "softmax" else "Exact rank"
    )
    if measured is None:
        note = (
            f"{arch.num_parameters} parameters and t = {arch.tokens} are too much to be"
            " measured unasked: call measure_dimension, and pass what it finds."
        )
        return StatusEntry("exact rank", "not measured", "no formula", source, note)
    answer = str(measured.value)
    verdict = "Theory says the same."
    if expected.value is None:
        verdict = "No formula says it."
    elif measured.value != expected.value:
        answer = f"{answer}, against {expected.value}"
        verdict = f"Theory says {expected.value}: they DISAGREE."
    note = f"{sentence(measured.note)} {verdict}"
    return StatusEntry("exact rank", answer, measured.status, source, note)


def _certificates(
    expected: Expected, routes: tuple[str, ...], certificate: Certificate | None
) -> StatusEntry:
    can = " or ".join(routes)
    if certificate is None:
        note = f"The dimension can be proved by {can}."
        return StatusEntry(
            "certificates", f"possible: {can}", expected.status, "Certificates", note
        )
    status = (
        certificate.data["status"] if certificate.route == "theorem" else "certified"
    )
    confirmed = f"Confirmed by {certificate.route}, and checked again another way."
    note = f"{confirmed} {sentence(certificate.argument)} It can be proved by {can}."
    return StatusEntry(
        "certificates", f"by {certificate.route}", status, certificate.source, note
    )
