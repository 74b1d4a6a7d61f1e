"""What the notebooks say in words, and no cell of theirs computes: quoted, and computed here.

A claim is a piece of a notebook's text, which has to stand there as it is, and a function that says whether
it is true. Change the text, and its claim fails until both agree again.
"""

import re
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

import neuroviz as nv
from neuroviz.determinantal import drop_rank, measure_product, numerical_rank, product_jacobian
from neuroviz.exponentials_study import measure_attention
from neuroviz.family import FamilySetting, study_family
from neuroviz.field import DEFAULT_PRIME, PrimeField, Reals
from neuroviz.flag import flag_steps, formula_terms
from neuroviz.flow import attraction
from neuroviz.forms import discriminant, forms_of, kind_of, resultant
from neuroviz.memorisation import shipped_experiment
from neuroviz.one_layer_limit import limit_study
from neuroviz.peeling import measure_kernel, without_first_layer
from neuroviz.real_models import real_model
from neuroviz.search_cases import SearchSetting, study_search
from neuroviz.singular import Approach, singular_facts
from neuroviz.surface import SLICES
from neuroviz.symmetry import VirtualWeights
from neuroviz.teleport_comparison import shipped_comparisons
from neuroviz.two_tokens import logits
from tools.editions import read
from tools.notebooks import FOLDER

A, uniform = nv.Architecture, nv.Architecture.uniform
OVER = PrimeField(DEFAULT_PRIME)


def dim(*sizes, **more):
    return nv.measure_dimension(A(*sizes, **more)).value


def lost(arch):
    return arch.num_parameters - nv.measure_dimension(arch).value


def fibre_after_a_drop(d, a, seed=0):
    """Dimension of the kernel at a random K and a Q of rank a − 1, to first order."""
    Q, K = np.random.default_rng(seed).standard_normal((2, a, d))
    return 2 * a * d - numerical_rank(product_jacobian(Reals(), drop_rank(Q), K))


def layer(A, V, X):
    return V @ X @ X.T @ A @ X


def permutations_that_do_nothing(tokens):
    rng = np.random.default_rng(0)
    u, k, v, h = rng.standard_normal((4, 3))
    X = rng.standard_normal((3, tokens))
    before = layer(np.outer(u, k), np.outer(h, v), X)
    orders = permutations([u, k, v])
    return sum(np.allclose(layer(np.outer(p, q), np.outer(h, r), X), before) for p, q, r in orders)


def on_s4(x):
    """The kind of the point x = y = 1/z of the slice S4."""
    x = Fraction(x)
    return kind_of(*SLICES["S4"].forms(x, x, 1 / x))


def zero_on_s1(m, y):
    """Whether the resultant vanishes at z² = (s² − 4) y² with s = m + 1/m, and does not beside it."""
    m, y = Fraction(m), Fraction(y)
    s, z = m + 1 / m, y * (m - 1 / m)
    q1 = (1, s, 1)
    return z * z == (s * s - 4) * y * y and resultant(q1, (y, z, -y)) == 0 != resultant(q1, (y, z + 1, -y))


def beyond_the_cap():
    formula = "min(H(α(a, d) + d²) − H·max(1, H − pos(d − a)²), d³(d + 1)/2)"
    return study_family(FamilySetting("heads-many", formula)).verdicts


def random_softmax():
    return [c for c in shipped_experiment().of("random") if c.arch.attention == "softmax"]


def redundant_share(name):
    model = real_model(name)
    return sum(model.redundant.values()) / model.parameters


def jumps(rule):
    """Of each walk: what was counted for jumps to a gradient twice as long."""
    found = shipped_comparisons().values()
    return [count for walk in found for count in walk.of(rule) if count.destination == "twice"]


def random_networks(count):
    """Small ones with at most four layers, lightning and softmax."""
    draw, found = np.random.default_rng(3), []
    while len(found) < count:
        depth, t = int(draw.integers(1, 5)), int(draw.integers(1, 5))
        widths, heads = draw.integers(1, 6, depth + 1).tolist(), draw.integers(1, 4, depth).tolist()
        found.append(A(widths, heads, t, ("lightning", "softmax")[int(draw.integers(2))]))
    return found


def decided_and_right(arch):
    """Whether the float rank is decided; one that is decided and wrong ends the test."""
    seen = nv.measure_dimension(arch, "float")
    assert not seen.decided or seen.value == nv.measure_dimension(arch).value, str(arch)
    return seen.decided


def kernel(layers, width, M1, seed=1):
    draw = np.random.default_rng(seed)
    L, *Ms = OVER.random(draw, (layers + 1, width, width))
    return measure_kernel(VirtualWeights(L, (M1(draw, width), *Ms[1:])), OVER, draw).kernel


def symmetric_rank_one(draw, width):
    a = OVER.random(draw, (width,))
    return OVER.matmul(a[:, None], a[None])


def any_antisymmetric(draw, width):
    G = OVER.random(draw, (width, width))
    return OVER.reduce(G - G.T)


def heads_mix(a, heads):
    net = A((4, 4), (a,), heads=heads)
    alpha = a * (8 - a)
    return nv.measure_dimension(net).value < heads * (alpha + 16) - heads


CLAIMS = [
    ("00_start", "Sixty-four numbers go in", lambda: uniform(4, 2, 2).num_parameters == 64),
    (
        "00_start",
        "With $d = 4$ and $a = 2$: 5, 26, 47, 68.",
        lambda: [lost(uniform(4, 2, k)) for k in (1, 2, 3, 4)] == [5, 26, 47, 68],
    ),
    (
        "00_start",
        "So $5l + 16(l - 1)$",
        lambda: all(lost(uniform(4, 2, k)) == 21 * k - 16 for k in (1, 2, 3, 4, 5)),
    ),
    (
        "01_matrix_factorization",
        "For $d = 3$ and $a = 2$ the panel counts 8",
        lambda: measure_product(3, 2).dimension == 8,
    ),
    ("01_matrix_factorization", "$24 - 9 = 15$ remain", lambda: measure_product(4, 3).dimension == 15),
    ("01_matrix_factorization", "new: $4 + 1$", lambda: fibre_after_a_drop(3, 2) == 5),
    (
        "01_matrix_factorization",
        "one lost rank of $Q$ costs $d - a$ dimensions more",
        lambda: all(fibre_after_a_drop(d, a) == a * a + d - a for d in (3, 4, 5) for a in range(2, d + 1)),
    ),
    (
        "01_matrix_factorization",
        "for $a = 5$ the fibre has 24 dimensions and not 25",
        lambda: measure_product(4, 5).fibre == 24,
    ),
    (
        "01_matrix_factorization",
        "$a^2 - (a - d)^2 = 2ad - d^2$",
        lambda: all(measure_product(3, a).fibre == 6 * a - 9 for a in (3, 4, 5, 7)),
    ),
    (
        "01_matrix_factorization",
        "$2ad = 98{,}304$ entries in $Q$ and $K$, of which $a^2 = 4{,}096$, about 4.2 %",
        lambda: (2 * 768 * 64, 64**2) == (98_304, 4_096) and round(4_096 / 983.04, 1) == 4.2,
    ),
    (
        "02_single_layer_fibers",
        "So two: leave all as it is, or swap $u$ and $v$",
        lambda: permutations_that_do_nothing(2) == 2,
    ),
    (
        "02_single_layer_fibers",
        r"All six: $\varphi(x) = (u \cdot x)(k \cdot x)(v \cdot x)\,h$",
        lambda: permutations_that_do_nothing(1) == 6,
    ),
    (
        "02_single_layer_fibers",
        "3 for $d = 3$; here, where $a = 2$ bounds the rank, 2. For $a = 1$ it costs none",
        lambda: [dim((3, 3), (a,), tokens=2) - dim((3, 3), (a,), tokens=1) for a in (3, 2, 1)] == [3, 2, 0],
    ),
    (
        "02_single_layer_fibers",
        "brings its own head (4) and its own factor (1), and in between the basis of the tokens: 9 more",
        lambda: lost(uniform(3, 2, 2, 2)) - lost(uniform(3, 2, 1, 2)) == 4 + 1 + 9,
    ),
    (
        "02_single_layer_fibers",
        "It is right in every cell: the hypotheses are not needed for the dimension",
        lambda: all(
            nv.measure_dimension(net).value == nv.paper_formula(net).value
            for net in (A((d, 1), (a,), tokens=2) for d in range(1, 6) for a in range(1, 6))
        ),
    ),
    (
        "02_single_layer_fibers",
        "But 1 direction has become 3",
        lambda: (
            (
                singular_facts(Approach(d=3, d_out=3, a=3, s=1, b=0)).kernel,
                singular_facts(Approach(d=3, d_out=3, a=3, s=1, b=1)).kernel,
            )
            == (1, 3)
        ),
    ),
    (
        "03_singular_locus",
        "In it the resultant is zero where $z^2 = (s^2 - 4)\\,y^2$",
        lambda: all(zero_on_s1(m, y) for m in (2, 3, Fraction(5, 2)) for y in (1, -2, Fraction(1, 3))),
    ),
    (
        "03_singular_locus",
        "discriminant of $q_1$, which is $s^2 - 4$",
        lambda: all(discriminant((1, s, 1)) == s * s - 4 for s in range(-4, 5)),
    ),
    (
        "03_singular_locus",
        "The pinch point $(4, 4, \\tfrac14)$",
        lambda: (on_s4(3), on_s4(4), on_s4(5)) == ("closure only", "boundary", "crossing"),
    ),
    (
        "03_singular_locus",
        "$d - 1 = 3$ more singular values reach zero",
        lambda: (
            singular_facts(Approach(d=4, d_out=2, a=4, s=1, b=1)).kernel == 4
            and singular_facts(Approach(d=4, d_out=2, a=4, s=1, b=0)).kernel == 1
        ),
    ),
    (
        "03_singular_locus",
        "The first is $X^2 - Y^2 = (X - Y)(X + Y)$, the second $X^2 + 2XY + Y^2 = (X + Y)^2$",
        lambda: forms_of([[1, 1], [-1, 1]], [[1, 1]]) == ((1, 0, -1), (1, 2, 1)),
    ),
    (
        "03_where_training_ends",
        "| dotted | 99 % | nearly all | all |",
        lambda: (lambda a: a.singular > 0.9 and a.boundary > 0.8 and a.near > 0.95)(
            attraction("dotted", runs=60, time=300)
        ),
    ),
    (
        "03_where_training_ends",
        "| Gaussian | 0 % | | 8 % |",
        lambda: (lambda a: a.singular < 0.05 and a.near < 0.25)(attraction("gaussian", runs=60, time=300)),
    ),
    (
        "04_unrolling",
        "1, 4, 13, 40 places for $l = 1, 2, 3, 4$",
        lambda: [len(nv.unroll(k)) for k in (1, 2, 3, 4)] == [1, 4, 13, 40],
    ),
    ("04_unrolling", "$3^{13} = 1{,}594{,}323$", lambda: 3**13 == 1_594_323),
    (
        "04_unrolling",
        "$36$ is $1100$ in base three: two zeros, so $M_3$",
        lambda: tuple(nv.unroll(4)[35]) == (3, False) and np.base_repr(36, 3) == "1100",
    ),
    ("04_unrolling", "comes out of the fourth as 134 million", lambda: 2**27 // 10**6 == 134),
    (
        "04_unrolling",
        "For $d = 3$, $a = 2$: 4 for its head, 9 for the basis in front of it, 1 for its factor",
        lambda: lost(uniform(3, 2, 5, 2)) - lost(uniform(3, 2, 4, 2)) == 4 + 9 + 1,
    ),
    (
        "04_unrolling",
        "Set **tokens** to 1: 8 directions are unexplained",
        lambda: nv.kernel_ledger(uniform(3, 2, 4, 1)).unexplained == 8,
    ),
    (
        "04_unrolling",
        "With `1,2,2,2` six directions are unexplained",
        lambda: nv.kernel_ledger(A((3,) * 5, (1, 2, 2, 2), tokens=2)).unexplained == 6,
    ),
    (
        "04_unrolling",
        "With `1,1,1,1` the hypothesis fails in all layers, and nothing is unexplained",
        lambda: nv.kernel_ledger(A((3,) * 5, (1, 1, 1, 1), tokens=2)).unexplained == 0,
    ),
    (
        "04_deep_dimension",
        "61 remain: 58 % of the",
        lambda: nv.measure_dimension(uniform(4, 4, 3)).value == 61 and round(100 * 83 / 144) == 58,
    ),
    (
        "04_deep_dimension",
        "softmax has exactly $l$ dimensions more, whatever $\\delta$",
        lambda: all(
            dim((d,) * (k + 1), (2,) * k, attention="softmax") - dim((d,) * (k + 1), (2,) * k) == k
            for d in (2, 3, 4)
            for k in (1, 2, 3)
        ),
    ),
    (
        "04_deep_dimension",
        "0 for $a_2 = 1$, then 2, then 3",
        lambda: [dim((3, 3, 3), (2, a)) - dim((3, 3, 3), (1, a)) - 3 for a in (1, 2, 3)] == [0, 2, 3],
    ),
    (
        "04_deep_dimension",
        "A last layer of rank one costs nothing",
        lambda: all(
            nv.paper_formula(net).value == nv.measure_dimension(net).value
            for net in (A((3, 3, 3), (2, 1)), A((4, 3, 4), (2, 1)))
        ),
    ),
    (
        "04_deep_dimension",
        "For outer widths 1 and $\\delta = 5$ it is too small: it says 0",
        lambda: nv.paper_formula(A((1, 5, 1), (2, 2))).value == 0 and dim((1, 5, 1), (2, 2)) == 1,
    ),
    (
        "04_deep_dimension",
        "4.8 for $\\delta = 768$, $a = 64$ and 12 layers",
        lambda: (
            (lambda n: round(n.num_parameters / nv.expected_dimension(n).value, 1))(uniform(768, 64, 12))
            == 4.8
        ),
    ),
    (
        "04_deep_dimension",
        "has 14 parameters and dimension 1",
        lambda: A((1, 3, 1), (1, 1)).num_parameters == 14 and dim((1, 3, 1), (1, 1)) == 1,
    ),
    (
        "04_why_the_formula",
        "239 parameters, and 87 dimensions",
        lambda: (
            (lambda n: (n.num_parameters, nv.measure_dimension(n).value))(
                A((9, 8, 9, 1), (2, 2, 1), tokens=2)
            )
            == (239, 87)
        ),
    ),
    (
        "04_why_the_formula",
        "$14 + 12 + 3 + 32 + 24 + 5 - 3 = 87$",
        lambda: (
            sorted(t.value for t in formula_terms(A((9, 8, 9, 1), (2, 2, 1), tokens=2)) if t.value)
            == sorted([14, 12, 3, 32, 24, 5, -3])
        ),
    ),
    (
        "04_why_the_formula",
        "$1 + 2 \\cdot 3 = 7$ of 9, and after layer 1 all 8",
        lambda: (
            [step.measured.value for step in flag_steps(A((9, 8, 9, 1), (2, 2, 3))) if step.measured]
            == [8, 7]
        ),
    ),
    ("04_why_the_formula", "the kernel is $3 + 6 = 9$", lambda: kernel(3, 3, symmetric_rank_one) == 9),
    (
        "04_why_the_formula",
        "The kernels for $l = 2, 3$ are 2 and 3",
        lambda: [kernel(k, 4, any_antisymmetric) for k in (2, 3)] == [2, 3],
    ),
    (
        "04_sweeps",
        "40 networks. How many agree with the general formula?",
        lambda: all(
            nv.measure_dimension(n).value == nv.general_formula(n).value
            for n in (A((4, w, 4), (a, a)) for w in range(1, 9) for a in range(1, 6))
        ),
    ),
    (
        "04_sweeps",
        "At $\\delta = 4$, the width of the input",
        lambda: (
            len({dim((4, w, 4), (2, 2)) for w in (4, 5, 6, 8)}) == 1
            and dim((4, 3, 4), (2, 2)) < dim((4, 4, 4), (2, 2))
        ),
    ),
    (
        "04_sweeps",
        "From $t = 2$ on: two tokens tell everything",
        lambda: (lambda d: d[1] == d[2] == d[3] > d[0])(
            [dim((4, 4, 4), (2, 2), tokens=t) for t in (1, 2, 3, 4)]
        ),
    ),
    (
        "04_sweeps",
        "for $a = 4$ with the second head, for $a = 3$ with the third",
        lambda: (
            [(heads_mix(4, h), heads_mix(3, h)) for h in (1, 2, 3)]
            == [(False, False), (True, False), (True, True)]
        ),
    ),
    ("05_softmax_conjecture", "has 16 dimensions as lightning", lambda: dim((3, 3), (2,)) == 16),
    (
        "05_softmax_conjecture",
        "(With two tokens it is 8.",
        lambda: (
            (
                lambda r: (
                    2
                    ** round(
                        limit_study(*r.standard_normal((2, 3, 3)), r.standard_normal((3, 2))).first_slope
                    )
                )
            )(np.random.default_rng(0))
            == 8
        ),
    ),
    (
        "05_softmax_conjecture",
        "its attention matrices has 5 dimensions instead of 6",
        lambda: (
            [
                measure_attention(OVER, kind, 3, 3, np.random.default_rng(0)).value
                for kind in ("symmetric", "generic")
            ]
            == [5, 6]
        ),
    ),
    (
        "05_softmax_conjecture",
        "Softmax $l + 1$: the numbers",
        lambda: all(
            nv.measure_dimension(uniform(1, 1, k, 2, "softmax")).value == k + 1
            and nv.measure_dimension(uniform(1, 1, k, 2)).value == 1
            for k in (1, 2, 3, 4)
        ),
    ),
    (
        "05_softmax_conjecture",
        "2 everywhere: one for each of the $l = 2$ layers",
        lambda: all(
            dim((d,) * 3, (2, 2), attention="softmax") - dim((d,) * 3, (2, 2)) == 2 for d in range(3, 11)
        ),
    ),
    (
        "05_the_proof",
        "both are $-10\\,|x_1|^2$, so $|x_1| \\ge 1.2$ does it",
        lambda: all(
            p < np.log(1e-6) and np.isclose(p, -14.4)
            for p in logits(Reals(), 5 * np.eye(2), np.array([[1.2, -1.2], [0.0, 0.0]]))
        ),
    ),
    # Of long experiments a small part is repeated here.
    (
        "04_deep_dimension",
        "with at most four layers, 88 in 100 were decided, none of them wrongly",
        lambda: (lambda seen: sum(seen) > 0.65 * len(seen))(
            [decided_and_right(arch) for arch in random_networks(60)]
        ),
    ),
    (
        "04_why_the_formula",
        "more than 20,000 exact ranks, three implementations, no mismatch",
        lambda: all(
            nv.measure_dimension(arch).value
            == nv.measure_dimension(arch, prime=8_388_587).value
            == nv.general_formula(arch).value
            for arch in random_networks(80)
        ),
    ),
    (
        "05_the_proof",
        "44,060 starts of the search: no second solution",
        lambda: all(
            study_search(SearchSetting(case, starts=6)).search.classes[1:] == ()
            for case in ("softmax-1", "softmax-2")
        ),
    ),
    (
        "06_beyond_the_paper",
        "It does not. A skip adds $X$ and never looks at $A$ and $V$",
        lambda: nv.kernel_ledger(uniform(4, 2, 2, skip=True)).entries["rescalings"] == 2,
    ),
    (
        "06_beyond_the_paper",
        "At $d = 3$, $a = 2$ it is the third head",
        lambda: [lost(uniform(3, 2, 1, heads=h)) - 5 * h for h in (1, 2, 3)] == [0, 0, 3],
    ),
    (
        "06_beyond_the_paper",
        "one fits eighteen networks and fails at the seventh head",
        lambda: (lambda wrong: len(wrong) == 3 and {v.sizes.heads for v in wrong} == {7})(
            [v for v in beyond_the_cap() if v.difference]
        ),
    ),
    (
        "06_beyond_the_paper",
        "$a$ directions instead of $a^2$ for each group of keys: 128 times fewer",
        lambda: (
            real_model("OPT-6.7B").redundant["bases of keys and queries"]
            == 128 * real_model("LLaMA-7B").redundant["bases of keys and queries"]
        ),
    ),
    (
        "06_beyond_the_paper",
        "In Falcon-7B, where 71 heads share a single key and value, it is one in ten thousand",
        lambda: (lambda m: 0.9e-4 < sum(m.redundant.values()) / m.parameters < 1.1e-4)(
            real_model("Falcon-7B")
        ),
    ),
    (
        "06_so_what",
        "One number beyond $D$, and no run learns",
        lambda: (
            not any(
                trial.learnt
                for curve in shipped_experiment().of("nearby") + shipped_experiment().of("random")
                for trial in curve.trials
                if trial.count > curve.dimension
            )
        ),
    ),
    (
        "06_so_what",
        "softmax gives up long before $D$ in five of six networks",
        lambda: (
            [c.capacity is None or c.capacity < 0.95 * c.dimension for c in random_softmax()].count(True) == 5
            and len(random_softmax()) == 6
        ),
    ),
    (
        "06_so_what",
        "a jump is ahead after one step in most runs, and after 300 steps in about half of them or fewer",
        lambda: all(
            136 <= count.ahead[0] <= 180 and 23 <= count.ahead[-1] <= 103 for count in jumps("small")
        ),
    ),
    (
        "06_so_what",
        "At the start's own best rate most jumps are lost",
        lambda: all(count.lost[-1] > 150 for count in jumps("same")),
    ),
    (
        "06_so_what",
        "With the best rate for each, jumping is behind in the end",
        lambda: all(count.ahead[-1] < 50 for count in jumps("own")),
    ),
]


def words(path):
    return " ".join("\n".join(cell.source for cell in read(path).cells).split())


@pytest.mark.parametrize(("name", "quote", "holds"), CLAIMS, ids=[f"{n[:9]}-{q[:40]}" for n, q, _ in CLAIMS])
def test_a_claim_stands_in_its_notebook_and_is_true(name, quote, holds):
    assert " ".join(quote.split()) in words(FOLDER / f"{name}.py")
    assert holds()


def test_every_notebook_has_claims_here():
    assert {name for name, *_ in CLAIMS} == {path.stem for path in FOLDER.glob("*.py")}


def test_a_quote_that_is_gone_is_seen():
    assert "Sixty-five numbers go in" not in words(FOLDER / "00_start.py")
    assert re.search("Sixty-four numbers go in", words(FOLDER / "00_start.py"))


def test_the_peel_lemma_needs_an_antisymmetric_end():
    """So that the two kernels above say something: with the layer gone there are l − 1."""
    draw = np.random.default_rng(1)
    L, *Ms = OVER.random(draw, (4, 3, 3))
    rest = without_first_layer(VirtualWeights(L, tuple(Ms)))
    assert measure_kernel(rest, OVER, draw).kernel == 2
