"""Each known wrong answer is the formula with one piece replaced, and its hint gives
nothing away."""

from itertools import product

import pytest

import neuroviz as nv
from neuroviz.lessons.wrong_answers import _mistakes, wrong_answers

ARCHS = [
    nv.Architecture((d0, d1, d2), (a, b), tokens=t, attention=kind)
    for d0, d1, d2, a, b, t, kind in product(
        (1, 2, 3, 5),
        (1, 2, 4),
        (1, 3),
        (1, 2, 4),
        (1, 6),
        (1, 3),
        ("lightning", "softmax"),
    )
]


def by_name(arch):
    return {mistake.name: mistake.value for mistake in wrong_answers(arch)}


def test_a_bottleneck_by_hand():
    """d = 4, a = 2, l = 2: α = 12 in each layer, 16 for L, less 2."""
    assert (
        nv.expected_dimension(nv.Architecture.uniform(4, 2, 2)).value
        == 16 + 2 * 12 - 2
        == 38
    )
    # full rank of every A gives 46 as well, and is left out
    assert by_name(nv.Architecture.uniform(4, 2, 2)) == {
        "no rescaling": 40,
        "one rescaling": 39,
        "Q and K separately": 16 + 2 * 16 - 2,
        "Q and K separately, no rescaling": 16 + 2 * 16,
        "no interfaces": 38 + 16,
        "heads only": 64 - 2 * 4,
        "factors only": 64 - 2,
        "too many interfaces": 38 - 16,
        "parameters": 64,
        "what is lost": 64 - 38,
        "one matrix A and one V": 12 + 16 - 1,
    }


THIN = ((3, 3, 3), (1, 2))
FOURS = ((4, 4, 4), (3, 3))


@pytest.mark.parametrize(
    ("arch", "name", "value"),
    [
        # α = 4, while 2ad − a² = 3
        (nv.Architecture.uniform(2, 3, 2), "a² beyond a = d", 4 + 2 * 3 - 2),
        # α(2, 3) = 8 in the second layer, for σ(2, 3) = 6
        (nv.Architecture(*THIN), "no collapse", 20),
        # 4 for the 2 that are seen
        (nv.Architecture((2, 4, 2), (2, 2)), "every width counts in full", 14),
        (nv.Architecture(*THIN), "softmax's number", 22),
        (nv.Architecture(*THIN, attention="softmax"), "lightning's number", 20),
        (nv.Architecture(*FOURS, 1), "as with two tokens", 16 + 2 * 15 - 2),
        (
            nv.Architecture(*FOURS, 1, "softmax"),
            "softmax as with two tokens",
            16 + 2 * 15,
        ),
    ],
)
def test_a_mistake_by_hand(arch, name, value):
    assert by_name(arch)[name] == value


# What is taken away of the parameters → what the mistake is called: alike for both.
TAKEN = {
    (): "parameters",
    ("heads",): "heads only",
    ("factors",): "factors only",
    ("factors", "heads"): "heads and factors only",
    ("factors", "interfaces"): "Q and K separately",
}


@pytest.mark.parametrize(
    ("arch", "others"),
    [
        (
            nv.Architecture(*THIN),
            {
                ("interfaces",): "interfaces only, or all but these",
                ("heads", "interfaces"): "softmax's number",
                ("factors", "heads", "interfaces"): "no collapse",
            },
        ),
        (
            nv.Architecture((2, 4, 2), (2, 2)),
            {
                ("interfaces",): "Q and K separately, no rescaling",
                ("heads", "interfaces"): "full widths, no rescaling",
                ("factors", "heads", "interfaces"): "every width counts in full",
            },
        ),
    ],
    ids=str,
)
def test_who_takes_away_some_silent_families_gets_the_hint_about_the_others(
    arch, others
):
    """In notebook 04: each subset of the families, with the number that it leads to."""
    # All heads are at most as wide as their tokens: each basis has a² entries.
    silent = {
        "heads": sum(a * a for a in arch.head_dims),
        "interfaces": sum(width * width for width in arch.widths[1:-1]),
        "factors": arch.num_layers,
    }
    expected = {}
    for taken, name in (TAKEN | others).items():
        left = arch.num_parameters - sum(silent[family] for family in taken)
        expected[left] = name
    assert len(expected) == 2 ** len(silent)
    found = {mistake.value: mistake.name for mistake in wrong_answers(arch)}
    assert {value: found.get(value) for value in expected} == expected


def test_a_number_of_two_mistakes_has_a_hint_that_fits_both():
    """27 = 36 − 9: without the bases between layers; or without all else that is
    silent."""
    arch = nv.Architecture(*THIN)
    right = nv.expected_dimension(arch).value
    (one,) = [m for m in wrong_answers(arch) if m.value == 36 - 9 == right + 9]
    assert "Which of them do you still count?" in one.hint


def test_the_right_number_is_no_mistake_and_no_number_stands_twice():
    for arch in ARCHS:
        values = [mistake.value for mistake in wrong_answers(arch)]
        assert nv.expected_dimension(arch).value not in values
        assert len(values) == len(set(values))


def test_each_mistake_differs_from_the_truth_somewhere_and_its_hint_has_no_number():
    every = {
        (m.name, m.hint)
        for arch in ARCHS
        for m in _mistakes(arch, nv.expected_dimension(arch).value)
    }
    assert every == {(m.name, m.hint) for arch in ARCHS for m in wrong_answers(arch)}
    assert len({name for name, _ in every}) == len(every) == 25
    for _, hint in every:
        assert hint[-1] in ".?" and "  " not in hint and not {*hint} & {*"0123456789"}


@pytest.mark.parametrize("arch", [None, (4, 4)], ids=str)
def test_other_networks_are_refused(arch):
    with pytest.raises(ValueError, match="wrong_answers"):
        wrong_answers(arch)
