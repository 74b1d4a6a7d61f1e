"""The status board: its dimension is the measured one, and no statement is used outside
its hypotheses."""

from dataclasses import replace

import pytest
from architectures import random_architectures
from differentials import virtual_rank
from texts import MATHEMATICS, headings
from variants import random_variants

from neuroviz.kit.measured import measure_dimension
from neuroviz.rank.point import num_parameters
from neuroviz.softmax.statements import STATEMENTS, _facts
from neuroviz_beyond.certificate.certificate import ROUTES, certify
from neuroviz_beyond.proofs.known import QUESTIONS, what_is_known
from neuroviz_beyond.transformers import Block, Transformer
from neuroviz_beyond.transformers.transformer import as_transformer

STATUSES = {
    "proved",
    "proved here",
    "exact",
    "certified",
    "observed",
    "conjectured",
    "no formula",
    "outside hypotheses",
}
FIBER = "function → (L, M)"
LAYERS = "(L, M) → (A, V)"
PAPER = "the paper's formula"
NORMS = "other normalisations"
BLOCKS = "heads or a skip"
SPECIAL = "special weights"
MASK = "a mask"
OPEN = "What is not proved"
FIBERS = "open: the fibres"
SMALL = {"depth": 3, "width": 4, "tokens": 3}
# for boards whose measurement does not matter
SOME = measure_dimension(Transformer((2, 2), (1,)))


def entry(question, widths, head_dims, tokens=3, attention="lightning"):
    return what_is_known(Transformer(widths, head_dims, tokens, attention)).entry(
        question
    )


@pytest.mark.parametrize(
    "arch", list(random_architectures(20, seed=1, **SMALL)), ids=str
)
def test_the_dimension_of_the_board_is_the_exact_rank(arch):
    board = what_is_known(arch)
    assert board.measured == measure_dimension(arch)
    masked = measure_dimension(replace(as_transformer("", arch), causal=True)).value
    assert (
        board.entry(MASK).answer == f"dimension {masked}"
        or masked == board.measured.value
    )
    assert (
        board.entry("dimension").answer
        == board.entry("exact rank").answer
        == str(board.measured.value)
    )
    assert board.entry("exact rank").status == "exact"


def test_every_entry_has_an_answer_a_status_a_sentence_and_a_source_in_the_docs():
    named = " ".join(words for path in MATHEMATICS for _, words in headings(path))
    for arch in random_architectures(60, seed=2, **SMALL):
        board = what_is_known(arch, measured=SOME)
        assert [e.question for e in board.entries] == [
            q for q in QUESTIONS if board.entry(q)
        ]
        missing = {NORMS} if arch.attention == "lightning" else set()
        assert set(QUESTIONS) - {e.question for e in board.entries} == missing
        for e in board.entries:
            assert (
                e.answer
                and e.note.endswith(".")
                and e.status in STATUSES
                and "{" not in e.note
            )
            assert not ("open" in e.answer and e.status.startswith("proved"))
            for item in (
                e.source.replace("Thm.", "Theorem")
                .replace("Cor.", "Corollary")
                .split(", ")
            ):
                assert item in named, e


def test_a_measurement_that_contradicts_theory_is_said_to():
    arch = Transformer((3, 3, 3), (2, 2))
    found = measure_dimension(arch)
    wrong = what_is_known(arch, replace(found, value=found.value - 1)).entry(
        "exact rank"
    )
    assert (
        wrong.answer == f"{found.value - 1}, against {found.value}"
        and "DISAGREE" in wrong.note
    )
    assert "DISAGREE" not in what_is_known(arch, found).entry("exact rank").note


@pytest.mark.parametrize("attention", ["softmax", "lightning"])
def test_a_skip_is_spoken_of_where_all_widths_are_equal(attention):
    for widths, is_spoken_of in (((3, 3), True), ((3, 2), False)):
        said = entry(BLOCKS, widths, (2,), attention=attention).note
        assert said.startswith("With several heads")
        assert ("heads or a skip" in said) == is_spoken_of


@pytest.mark.parametrize(
    ("layers", "variant", "moves"),
    [
        (1, {}, "orders of heads"),
        (2, {}, "orders of heads, bases between layers"),
        (2, {"skip": True}, "orders of heads"),
        (
            2,
            {"block": Block(biases=True)},
            "orders of heads, bases and shifts between layers",
        ),
    ],
)
def test_what_moves_in_the_orbit_of_theorem_h_is_named(layers, variant, moves):
    arch = Transformer.uniform(3, 2, layers, 3, "softmax", heads=2, **variant)
    assert what_is_known(arch).entry(BLOCKS).answer == f"one orbit of {moves}"


# The fibres of (L, M) ↦ φ


SWAP = "rescalings and one swap"
PLAIN = "rescalings"
ANSWERS = [
    # question, widths, head dimensions, tokens, attention, answer, status, source
    (FIBER, (1, 1), (1,), 2, "softmax", "one point", "proved", "Thm. 3.9"),
    (FIBER, (1, 5, 2), (4, 1), 3, "softmax", "one point", "proved here", "Theorem B"),
    (FIBER, (3, 1, 3), (2, 2), 1, "softmax", "L, but no M", "proved here", "One token"),
    (FIBER, (3, 1), (2,), 3, "lightning", PLAIN, "proved", "Thm. 3.2"),
    (FIBER, (3, 2), (1,), 3, "lightning", PLAIN, "proved", "Thm. 3.2"),
    (FIBER, (1, 1), (1,), 3, "lightning", PLAIN, "proved", "Thm. 3.2"),
    (FIBER, (3, 1), (1,), 3, "lightning", SWAP, "proved", "Thm. 3.2"),
    (FIBER, (2, 4, 2), (5, 2), 3, "lightning", "2 rescalings", "proved", "Thm. 3.7"),
    (FIBER, (2, 4, 1), (2, 2), 3, "lightning", "2 rescalings", "proved", "Thm. 3.7"),
    (FIBER, (1, 2, 3), (2, 2), 3, "lightning", "2 rescalings", "proved here", "Eq. 13"),
    (FIBER, (1, 2), (2,), 1, "lightning", PLAIN, "proved here", "Eq. 13"),
    *(
        row
        for kind in ("lightning", "softmax")
        for row in (
            (LAYERS, (3, 3), (2,), 3, kind, "the same thing", "proved", "Eq. 8"),
            (
                LAYERS,
                (4, 3, 3, 4),
                (2, 2, 1),
                3,
                kind,
                "one orbit of GL(3), 2 times",
                "proved",
                "Lemma 3.5",
            ),
            (
                LAYERS,
                (1, 1, 1),
                (1, 1),
                3,
                kind,
                "one orbit of GL(1)",
                "proved",
                "Lemma 3.5",
            ),
            (
                LAYERS,
                (4, 3, 2, 4),
                (2, 2, 2),
                3,
                kind,
                "one orbit of bases",
                "proved here",
                "Lemma D",
            ),
            (
                LAYERS,
                (2, 4, 2),
                (2, 2),
                3,
                kind,
                "dimension 20",
                "proved here",
                "Lemma D",
            ),
        )
    ),
    (
        NORMS,
        (4, 3, 4),
        (2, 2),
        3,
        "softmax",
        "one point?",
        "conjectured",
        "Conjecture 3.10",
    ),
    (
        FIBER,
        (2, 2, 1),
        (2, 1),
        3,
        "lightning",
        "rescalings and one swap",
        "proved here",
        "Theorem F",
    ),
    (
        FIBER,
        (3, 3, 3),
        (2, 1),
        3,
        "lightning",
        "2 rescalings",
        "proved here",
        "Theorem F",
    ),
    (
        FIBER,
        (3, 1, 3),
        (2, 2),
        3,
        "lightning",
        "2 rescalings",
        "proved here",
        "Theorem F",
    ),
    # a swap rescales
    (
        FIBER,
        (3, 1, 1),
        (2, 1),
        3,
        "lightning",
        "2 rescalings",
        "proved here",
        "Theorem F",
    ),
    (NORMS, (2, 4, 2), (2, 2), 3, "softmax", "open", "no formula", OPEN),
    (NORMS, (4, 2, 3, 4), (2, 2, 2), 3, "softmax", "open", "no formula", OPEN),
    (
        NORMS,
        (2, 4, 2),
        (2, 2),
        1,
        "softmax",
        "the same function",
        "proved here",
        "One token",
    ),
    (BLOCKS, (3, 2), (2,), 2, "softmax", "one orbit", "proved here", "Theorem H"),
    (BLOCKS, (3, 3, 3), (2, 2), 2, "softmax", "one orbit", "proved here", "Theorem H"),
    (BLOCKS, (3, 2, 3), (2, 2), 2, "softmax", "one orbit", "proved here", "Theorem H"),
    (
        BLOCKS,
        (2, 4, 2),
        (2, 2),
        3,
        "softmax",
        "dimension, not fibres",
        "proved here",
        "Theorem W",
    ),
    (BLOCKS, (2, 4, 2), (2, 2), 2, "softmax", "open", "no formula", OPEN),
    (BLOCKS, (3, 3, 3), (2, 2), 1, "softmax", "open", "no formula", OPEN),
    (
        BLOCKS,
        (3, 3, 3),
        (2, 2),
        2,
        "lightning",
        "dimension, not fibres",
        "proved here",
        "Theorem N",
    ),
    (
        BLOCKS,
        (3, 2),
        (2,),
        2,
        "lightning",
        "dimension, not fibres",
        "proved here",
        "Theorem M",
    ),
    (
        BLOCKS,
        (1, 1, 1),
        (2, 2),
        2,
        "lightning",
        "dimension, not fibres",
        "proved here",
        "Theorem S",
    ),
    (BLOCKS, (2, 3, 2), (2, 2), 2, "lightning", "open", "no formula", OPEN),
    (BLOCKS, (2, 1, 2), (2, 2), 2, "lightning", "open", "no formula", OPEN),
    (SPECIAL, (3, 3), (2,), 2, "lightning", "all covered", "proved", "Thm. 3.2"),
    (SPECIAL, (3, 3), (2,), 2, "softmax", "all covered", "proved", "Thm. 3.9"),
    (SPECIAL, (3, 3), (2,), 1, "lightning", "open", "no formula", OPEN),
    (SPECIAL, (3, 3), (2,), 1, "softmax", "none", "proved here", "One token"),
    (
        SPECIAL,
        (3, 3, 3),
        (2, 2),
        2,
        "softmax",
        "open: antisymmetric M",
        "no formula",
        OPEN,
    ),
    (
        SPECIAL,
        (1, 3, 3),
        (2, 2),
        2,
        "lightning",
        "all covered",
        "proved here",
        "Eq. 13",
    ),
    (MASK, (3, 3), (2,), 1, "lightning", "nothing changes", "proved here", "One token"),
    (
        MASK,
        (3, 3, 3),
        (1, 2),
        3,
        "lightning",
        "dimension 20",
        "proved here",
        "Theorem K",
    ),
    (
        MASK,
        (2, 4, 2),
        (2, 2),
        3,
        "softmax",
        "the same dimension, one point",
        "proved here",
        "Theorem A′",
    ),
    (PAPER, (4, 3, 4), (2, 2), 3, "lightning", "33", "proved", "Cor. 3.8"),
    (
        PAPER,
        (3, 3, 3),
        (1, 2),
        3,
        "lightning",
        "20, does not apply",
        "outside hypotheses",
        "Cor. 3.8",
    ),
]


def test_each_question_is_answered_by_the_statement_whose_hypotheses_hold():
    for question, widths, head_dims, tokens, attention, *said in ANSWERS:
        found = entry(question, widths, head_dims, tokens, attention)
        assert [found.answer, found.status, found.source] == said, (
            question,
            widths,
            attention,
        )
    assert entry(NORMS, (4, 3, 4), (2, 2)) is None


def test_every_statement_of_the_table_answers_for_some_network():
    rows = {(one.question, one.answer.split("{")[0], one.source) for one in STATEMENTS}
    networks = [
        what_is_known(arch, measured=SOME)
        for arch in random_architectures(1200, seed=8, **SMALL)
    ]
    used = [e for board in networks for e in board.entries]
    assert all(
        any(
            (e.question, e.source) == (q, source) and e.answer.startswith(a)
            for e in used
        )
        for q, a, source in rows
    )


@pytest.mark.parametrize(
    ("widths", "head_dims", "tokens", "more", "source", "says"),
    [
        ((4, 3, 4), (2, 2), 1, True, "One token", "two tokens"),
        ((3, 3), (2,), 1, True, "One token", "Theorem 3.2 needs two tokens"),
        ((3, 3, 3), (1, 2), 3, True, "Rank-one collapse", "it is 1 in layer 1"),
        ((3, 3, 3), (1, 1), 3, True, "Rank-one collapse", "it is 1 in layers 1, 2"),
        ((3, 1, 3, 3), (2, 2, 2), 3, False, OPEN, "it is 1 in layers 2, 3"),
    ],
)
def test_where_a_hypothesis_fails_the_fibre_is_open_and_the_failure_is_named(
    widths, head_dims, tokens, more, source, says
):
    found = entry(FIBER, widths, head_dims, tokens)
    assert (
        found.status == "no formula" and found.source == source and says in found.note
    )
    assert found.answer.endswith("more than rescalings" if more else "not described")


@pytest.mark.parametrize(
    "arch", list(random_architectures(20, seed=3, **SMALL)), ids=str
)
def test_the_dimension_of_the_fibre_is_that_of_virtual_weights_less_the_functions(
    arch,
):
    """dim 𝓥 = D is the exact rank of the weights ↦ (L, M), which is taken here; it is
    no formula."""
    found = what_is_known(arch).entry(FIBER)
    cost = virtual_rank(arch, symmetric=False) - measure_dimension(arch).value
    if found.answer.startswith("dimension"):
        assert found.answer.split(",")[0] == f"dimension {cost}"
    elif "rescaling" in found.answer:
        assert cost == arch.num_layers
    elif found.answer == "one point":
        assert cost == 0
    else:
        assert arch.tokens == 1 and arch.attention == "softmax" and cost > 0


@pytest.mark.parametrize(
    "arch", list(random_architectures(20, seed=4, **SMALL)), ids=str
)
def test_the_dimension_of_the_weights_with_one_L_and_M_is_counted_right(arch):
    found = what_is_known(arch).entry(LAYERS)
    heads = sum(
        min(a, d) * (2 * a - min(a, d)) if a <= d else 2 * a * d - d * d
        for d, _, a in arch.layers
    )
    fiber = arch.num_parameters - heads - virtual_rank(arch, symmetric=False)
    if "orbit" in found.answer:
        assert fiber == sum(width**2 for width in arch.widths[1:-1])
        assert f"dimension {fiber}." in found.note
    elif arch.num_layers == 1:
        assert fiber == 0
    else:
        assert found.answer == f"dimension {fiber}"


# Certificates


@pytest.mark.parametrize(
    "arch", list(random_architectures(20, seed=5, **SMALL)), ids=str
)
def test_a_route_is_offered_exactly_where_it_proves_the_dimension(arch):
    offered = what_is_known(arch).routes
    for route in ROUTES:
        if route == "ball" and num_parameters(arch.slice()) > 25:
            continue  # the attempt that fails would raise the precision to the end
        try:
            proved = certify(arch, route).dimension
        except ValueError:
            assert route not in offered
        else:
            assert route in offered and proved == measure_dimension(arch).value


@pytest.mark.parametrize(
    ("route", "status"), [("theorem", "proved here"), ("ball", "certified")]
)
def test_a_certificate_is_shown_as_what_confirmed_the_dimension(route, status):
    arch = Transformer((3, 3, 3), (2, 2), attention="softmax")
    proof = certify(arch, route)
    found = what_is_known(arch, certificate=proof).entry("certificates")
    assert (found.answer, found.status, found.source) == (
        f"by {route}",
        status,
        proof.source,
    )


def test_a_certificate_of_another_network_or_a_changed_one_is_refused():
    arch = Transformer((3, 3, 3), (2, 2))
    proof = certify(arch, "theorem")
    with pytest.raises(ValueError, match="must be of"):
        what_is_known(replace(arch, tokens=2), certificate=proof)
    with pytest.raises(ValueError, match="does not hold"):
        what_is_known(arch, certificate=replace(proof, dimension=proof.dimension + 1))


def test_a_network_of_any_size_has_a_board_without_a_measurement():
    board = what_is_known(Transformer.uniform(12288, 128, 96, 3, "softmax"))
    assert board.entry("dimension").answer == "451411968"
    assert board.entry("exact rank").status == "no formula" and board.routes == (
        "theorem",
    )


@pytest.mark.parametrize(
    "arch", [*random_variants(20, 6), Transformer((2, 3, 2), (2, 2), 3, "softmax", 2)]
)
def test_beyond_the_paper_the_board_tells_dimension_rank_and_fibre(arch):
    dimension, rank, fiber = what_is_known(arch).entries
    assert dimension.answer in ("open", rank.answer) and "DISAGREE" not in rank.note
    assert (dimension.answer == "open") == (dimension.status == "no formula")
    if fiber.source == "Theorem H":
        assert dimension.source == "Theorem H" or arch.block.is_plain
        assert ("orders of heads" in fiber.answer) == (max(arch.heads) > 1)
        assert ("bases" in fiber.answer) == (arch.num_layers > 1 and not arch.skip)
    elif max(arch.heads) > 1 or not arch.block.is_plain:
        assert (fiber.answer, fiber.status) == ("open: the fibres", "no formula")


@pytest.mark.parametrize(
    ("arch", "answer", "source", "redundant"),
    [
        (
            Transformer.uniform(3, 2, 2, skip=True),
            "rescalings in each layer",
            "Theorem L",
            2,
        ),
        (Transformer.uniform(3, 1, 2, skip=True), FIBERS, OPEN, 2),
        (Transformer.uniform(3, 2, 2, skip=True, causal=True), FIBERS, OPEN, 2),
        (Transformer.uniform(3, 2, 2, causal=True), FIBERS, OPEN, 2 + 9),
        (Transformer((3, 1), (1,), causal=True), SWAP, "Thm. 3.2", 1),
        (
            Transformer((2, 4, 2), (2, 2), 3, "softmax", causal=True),
            "one point",
            "Theorem A′",
            20,
        ),
        (
            Transformer.uniform(3, 2, 1, 3, "softmax", causal=True),
            "one point",
            "Theorem H",
            0,
        ),
    ],
)
def test_one_head_with_a_skip_or_a_mask_has_a_fibre_of_its_dimension(
    arch, answer, source, redundant
):
    """Beside the bases of the heads so many directions leave the function alone."""
    board = what_is_known(arch)
    assert [(e.answer, e.source) for e in board.entries[2:]] == [(answer, source)]
    bases = sum(a * a if a <= d else 2 * a * d - d * d for d, _, a in arch.layers)
    assert arch.num_parameters - bases - board.measured.value == redundant


def test_open_fibres_beside_a_proved_dimension_are_said_to_be_about_fibres():
    board = what_is_known(Transformer((3, 3), (2,), heads=3))
    dimension = board.entry("dimension")
    assert (dimension.answer, dimension.source) == ("45", "Theorem M")
    fibers = board.entry(BLOCKS)
    assert (fibers.answer, fibers.status) == (FIBERS, "no formula")
    assert fibers.note.startswith("The fibres:") and "dimension" in fibers.note


def test_what_is_no_architecture_or_no_question_is_refused():
    with pytest.raises(ValueError, match="needs an Architecture or a Transformer"):
        what_is_known("softmax")
    with pytest.raises(ValueError, match="question is one of"):
        what_is_known(Transformer((2, 2), (1,))).entry("depth")


@pytest.mark.parametrize(
    ("widths", "is_one"),
    [
        ((3, 2, 3), True),
        ((2, 2, 2), True),
        ((4, 2, 2, 3), True),
        ((2, 3, 3), False),  # wider than the input
        ((3, 3, 2), False),  # wider than the output
        ((4, 3, 2, 3), False),  # of two widths
        ((3, 3), False),  # without a width in between
    ],
)
def test_a_bottleneck_has_one_inner_width_that_neither_end_is_below(widths, is_one):
    arch = Transformer(widths, (2,) * (len(widths) - 1), 3, "lightning")
    assert ("bottleneck" in _facts(arch)) == is_one
