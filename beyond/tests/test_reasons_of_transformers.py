"""What the badge of a transformer's dimension answers: the theorem with its numbers,
and hypotheses that hold exactly where it answers."""

import re
from html import unescape

import pytest
from texts import ROOT, headings
from variants import random_blocks, random_variants

import neuroviz as nv
import neuroviz_beyond as nb
from neuroviz.kit.measured import measure_dimension
from neuroviz_beyond.reasons import PAGES, Reasons
from neuroviz_beyond.transformers import Block, Transformer
from neuroviz_beyond.transformers.block_formulas import (
    speaks_of_fibers,
    speaks_of_positions,
)
from neuroviz_beyond.transformers.formulas import (
    expected_dimension,
    what_theorem_n_lacks,
)
from neuroviz_beyond.transformers.hypotheses import hypotheses_of
from neuroviz_beyond.transformers.reasons import dimension_badges, of_a_formula

# One network for each rare way to a formula.
RARE = [
    Transformer((2, 3, 2), (2, 2), 2, "softmax", causal=True),
    Transformer((2, 3, 2), (2, 2), 2, causal=True),
    Transformer((2, 4, 2), (2, 4), 3, "softmax", heads=(2, 1)),
    Transformer((3, 2, 3), (2, 2), 2, "softmax", heads=(2, 1)),
    Transformer((2, 3), (2,), 2, heads=3),
    Transformer((3, 2), (2,), 2, heads=3),
    Transformer((3, 3), (1,), 2, skip=True),
    Transformer((2, 2), (2,), 1, "softmax", heads=2),
    Transformer((2, 2), (2,), 1, causal=True),
    Transformer((3, 2, 3), (1, 2), heads=(1, 2)),
    Transformer((2, 2, 2), (1, 1), heads=3),
    Transformer.uniform(2, 2, 2, 2, "softmax", causal=True, block=Block(rotary=True)),
    Transformer.uniform(2, 4, 1, 2, "softmax", causal=True, block=Block(rotary=True)),
    Transformer.uniform(2, 2, 2, 3, block=Block(mlp=(3, 2))),
    Transformer((3, 3), (2,), heads=6, block=Block(value_dim=1)),
    Transformer((2, 3, 2), (2, 2), 2, block=Block(value_dim=2)),
    Transformer((2, 3, 2), (2, 2), 2, causal=True, block=Block(value_dim=2)),
]


def networks(count=400):
    blocks = random_blocks(seed=3)
    found = [*RARE, *random_variants(count, seed=5, most=60)]
    return [*found, *(next(blocks) for _ in range(count))]


def evaluated(sum_in_words):
    return eval(sum_in_words.replace("·", "*").replace("−", "-"))


def test_what_a_formula_says_is_a_sum_that_has_its_value():
    seen = set()
    for arch in networks():
        found = expected_dimension(arch)
        reasons = of_a_formula(found, arch)
        if found.value is None:
            assert reasons.says.startswith("No formula is known for")
            assert not reasons.hypotheses
            continue
        _, formula, value = re.split(r": dim = | = (?=-?\d+$)", reasons.says)
        assert evaluated(formula) == int(value) == found.value, arch
        seen.add(found.source)
    named = {theorem for source in seen for theorem in source.split(", ")}
    assert named >= {f"Theorem {letter}" for letter in "CEHKMNRSW"} | {
        "Theorem A′",
        "Thm. 3.2",
        "One token",
        "Exact rank",
        "Beyond the paper",
    }


def test_all_hypotheses_hold_where_a_theorem_answers():
    for arch in networks():
        found = expected_dimension(arch)
        for asked in of_a_formula(found, arch).hypotheses:
            assert asked.holds, (arch, found.source, asked)


@pytest.mark.parametrize(
    ("theorem", "speaks"),
    [
        ("Theorem H", speaks_of_fibers),
        ("Theorem R", speaks_of_positions),
    ],
)
def test_hypotheses_fail_where_the_theorem_does_not_speak(theorem, speaks):
    said = []
    for arch in networks():
        holds = all(asked.holds for asked in hypotheses_of(theorem, arch))
        assert holds == speaks(arch), arch
        said.append(holds)
    assert set(said) == {True, False}


@pytest.mark.long
def test_hypotheses_of_theorem_n_fail_exactly_where_it_lacks_something():
    said = []
    for arch in networks(1500):
        is_its_kind = arch.attention == "lightning" and not arch.skip
        has_values = arch.block == Block(arch.block.value_dim, arch.block.kv_heads)
        is_deep = arch.num_layers > 1 and arch.tokens > 1
        about = is_its_kind and has_values and is_deep
        holds = all(asked.holds for asked in hypotheses_of("Theorem N", arch))
        assert holds == (about and what_theorem_n_lacks(arch) is None), arch
        said.append(holds)
    assert set(said) == {True, False}


@pytest.mark.long
@pytest.mark.parametrize("theorem", ["Theorem M", "Theorem S"])
def test_hypotheses_of_lightning_fail_where_another_theorem_or_none_answers(theorem):
    """One head is Theorem 3.2, and one layer with a skip Theorem M or 3.2."""
    said = []
    for arch in networks(1500):
        if arch.heads == (1,) or (theorem == "Theorem S" and arch.num_layers == 1):
            continue
        holds = all(asked.holds for asked in hypotheses_of(theorem, arch))
        found = expected_dimension(arch)
        assert holds == found.source.startswith(theorem), (arch, found)
        said.append(holds)
    assert set(said) == {True, False}


@pytest.mark.parametrize(
    ("theorem", "arch"),
    [
        ("Theorem M", Transformer((3, 3), (2,), heads=2, block=Block(biases=True))),
        ("Theorem M", Transformer((3, 3, 3), (2, 2), heads=2)),
        ("Theorem M", Transformer((3, 2), (2,), heads=3)),
        ("Theorem N", Transformer.uniform(2, 2, 2, heads=2, block=Block(rotary=True))),
        (
            "Theorem S",
            Transformer.uniform(2, 2, 2, skip=True, block=Block(temperature=True)),
        ),
    ],
    ids=str,
)
def test_what_a_theorem_of_lightning_is_not_about_fails_in_one_line(theorem, arch):
    assert [asked.holds for asked in hypotheses_of(theorem, arch)].count(False) == 1


@pytest.mark.parametrize("theorem", ["Theorem A′", "Theorem E", "Theorem K"])
def test_where_all_hypotheses_hold_the_theorem_has_the_number(theorem):
    """Another theorem may answer in its place, with the same number."""
    tried = 0
    for arch in networks():
        if all(asked.holds for asked in hypotheses_of(theorem, arch)):
            assert expected_dimension(arch).status in ("proved", "proved here"), arch
            tried += 1
    assert tried > 0


@pytest.mark.parametrize(("causal", "source"), [(False, "C"), (True, "K")])
def test_values_that_can_be_any_matrices_are_explained_as_those_without_a_rank(
    causal, source
):
    arch = Transformer((2, 3, 2), (2, 2), 2, causal=causal, block=Block(value_dim=2))
    found = of_a_formula(expected_dimension(arch), arch)
    assert found.source == f"Theorem {source}" and "Block(value_dim=2)" in found.code
    assert "it is what lightning 2→3→2, a = 2, 2, t = 2" in found.facts[-1]
    assert all(asked.holds for asked in found.hypotheses)


def test_a_hypothesis_that_fails_in_one_layer_names_it():
    arch = Transformer((3, 2, 3), (1, 2), heads=(1, 2))
    failing = [one.says for one in hypotheses_of("Theorem N", arch) if not one.holds]
    assert failing == [
        "a ≥ 2 or ⌊G/2⌋ v ≥ δ before the last layer, or a mask (it fails in layer 1)"
    ]


def test_lines_of_python_say_the_number_again():
    names = {"nv": nv, "nb": nb}
    for arch in [*RARE, *random_variants(30, seed=8, most=40)]:
        found = expected_dimension(arch)
        exact = measure_dimension(arch)
        badges = dimension_badges(exact, found, arch)
        lines = [unescape(one) for one in re.findall("<pre>([^<]*)</pre>", badges)]
        assert len(lines) == 1 + (found.value is not None), arch
        values = [exact.value, found.value]
        assert [eval(one, names) for one in lines] == values[: len(lines)]


@pytest.mark.parametrize("source", PAGES)
def test_every_source_has_its_heading(source):
    page, heading = PAGES[source]
    assert heading in [words for _, words in headings(ROOT / page)]


def test_reasons_of_this_package_know_its_pages_and_those_of_the_paper():
    for source in ("Theorem R", "Thm. 3.2"):
        page, heading = PAGES[source]
        _, html = Reasons("a statement", source).as_html()
        assert f'data-page="{page}"' in html and heading in unescape(html)
    with pytest.raises(KeyError):
        Reasons("a statement", "Theorem X").as_html()
