"""What notebooks/06_beyond_the_paper.py says in words: see tests/test_claims.py."""

import re
from dataclasses import fields
from functools import cache
from itertools import product

import numpy as np
import torch
from torch import nn

import neuroviz as nv
from claims.common import A, dim, lost, shown, uniform
from neuroviz.blending import blend_heads
from neuroviz.block import Block
from neuroviz.blocks import block_forward, random_block_weights
from neuroviz.checks_beyond import check_blending
from neuroviz.explorables import FormulaExplorer, RealModelsExplorer, VariantsExplorer
from neuroviz.families import FAMILIES
from neuroviz.family import FamilySetting, study_family, what_is_known
from neuroviz.field import Reals
from neuroviz.module_ledger import moved
from neuroviz.questions import SEEN, UNSEEN, key_bias
from neuroviz.real_models import MODELS, SYMMETRIES, real_model

REAL = Reals()
SOFTMAX = {"attention": "softmax"}
KEYS, VALUES = SYMMETRIES[:2]


def plain(**more):
    return uniform(4, 2, 2, heads=2, **SOFTMAX, **more)


def what_is_plain():
    found = nv.kernel_ledger(plain()).entries
    heads, between = found["bases of keys and queries"], found["bases between layers"]
    return (heads, between, sum(found.values()), lost(plain())) == (16, 16, 32, 32)


def what_a_skip_breaks():
    """The interfaces alone, in softmax; with no skip both kinds are lost."""
    found = nv.kernel_ledger(plain(skip=True)).entries
    return {name for name, count in found.items() if count} == {"bases of keys and queries"} and lost(
        plain(skip=True)
    ) == 16


def a_dimension_more_an_interface(d=3):
    """Without parameters, d² for each interface."""
    return [
        dim(*(args := ((d,) * (depth + 1), (2,) * depth)), skip=True, **SOFTMAX) - dim(*args, **SOFTMAX)
        for depth in (1, 2, 3)
    ] == [0, d * d, 2 * d * d]


def a_skip_before_and_after(kind):
    study = shown(VariantsExplorer, f"heads=1;kind={kind};skip=yes;before=skip=no")[0]
    names = ("interfaces", "rescalings") if kind == "lightning" else ("interfaces",)
    before = [study.before.entries[name] for name in names]
    entries = study.ledger.entries
    return before, [entries.get("bases between layers", 0), entries.get("rescalings", 0)]


def the_rescaling_survives_a_skip():
    arch = A((3, 3), (2,), skip=True)
    weights, X = random_block_weights(REAL, arch, np.random.default_rng(0)), tokens()
    other = weights | {"1.Q": 3 * weights["1.Q"], "1.V": weights["1.V"] / 3}
    same = [
        np.allclose(outputs(arch, w, X), outputs(arch, weights, X))
        for w in (other, weights | {"1.V": 0 * weights["1.V"]})
    ]
    return same == [True, False] and lost(arch) == 4 + 1


def tokens(d=3):
    return np.random.default_rng(7).standard_normal((4, d, 3))


def outputs(arch, weights, X):
    return block_forward(REAL, arch, weights, X, np.random.default_rng(0))


def blends(kind):
    """How far the outputs are off at places on the way, for the heads of the panel."""
    arch = uniform(3, 2, 2, 3, heads=kind)
    return [blend_heads(arch, place).deviation for place in (0.25, 0.5, 0.75, 1.0)]


def two_heads_change_places():
    two = blend_heads(uniform(3, 2, 2, 3, heads=2), 1.0)
    off = blends(2)
    swapped = all(np.allclose(np.abs(two.now[h]), np.abs(two.before[1 - h])) for h in (0, 1))
    return min(off[:3]) > 0.05 and off[3] < 1e-12 and swapped


def three_heads_keep_rank_and_function():
    found = [blend_heads(uniform(3, 2, 2, 3, heads=3), place) for place in (0.25, 0.5, 1.0)]
    return all(
        blend.deviation < 1e-12
        and [np.linalg.matrix_rank(M, tol=1e-8) for M in blend.now] == [2, 2, 2]
        and np.abs(blend.g - np.diag(np.diag(blend.g))).max() > 0.1
        for blend in found
    )


def heads_blend_from_that_number_on():
    """More is lost than bases and one rescaling a head exactly for H > (d − a)² + 1."""
    for d in (2, 3, 4):
        for a, heads in product(range(1, d + 1), range(1, d + 1)):
            more = lost(uniform(d, a, 1, 2, heads=heads)) - heads * a * a - heads
            if (more > 0) != (heads > (d - a) ** 2 + 1):
                return False
    return True


def bases_under_rotation(a):
    """Without and with rotary positions, for two heads."""
    return [lost(uniform(4, a, 1, heads=2, **SOFTMAX, block=Block(rotary=on))) for on in (False, True)]


def beyond_the_cap():
    formula = "min(H(α(a, d) + d²) − H·max(1, H − pos(d − a)²), d³(d + 1)/2)"
    return study_family(FamilySetting("heads-many", formula)).verdicts


def the_first_button():
    state = "family=heads-many;along=H;formula=min(H(α(a, d) + d²) − H·max(1, H − pos(d − a)²), d³(d + 1)/2)"
    return "wrong at 3 of 21 networks" in shown(FormulaExplorer, state)[1]


def it_is_the_answer_with_a_cap():
    capped = f"min({FAMILIES['heads'].known}, d³(d + 1)/2)"
    few = study_family(FamilySetting("heads", FAMILIES["heads"].known))
    same = [v.proposed for v in study_family(FamilySetting("heads-many", capped)).verdicts]
    return not few.wrong and same == [v.proposed for v in beyond_the_cap()]


def many_heads():
    """Dimensions for more and more heads, of width 2 and 3."""
    two = [dim((2, 2), (a,), 3, heads=H) for a in (1, 2) for H in (7, 8, 10)]
    return set(two) == {12} and [dim((3, 3), (3,), 3, heads=H) for H in (7, 9)] == [54, 54]


def hints_from_parameters_to_what_is_not_proved():
    found = [(what_is_known(f).expected.status, f.hints[0]) for f in FAMILIES.values() if f.hints]
    return len(found) == 2 and all(
        status == "observed" and hint.startswith("Count the parameters") for status, hint in found
    )


def the_mlp_is_that():
    """Two lightning layers with U₂(U₁y)² between them, written out."""
    arch = uniform(3, 2, 2, 3, block=Block(mlp=(6, 2)))
    w, X = random_block_weights(REAL, arch, np.random.default_rng(0)), tokens()
    found = []
    for x in X:
        for layer in "12":
            x = w[f"{layer}.V"][0] @ x @ x.T @ w[f"{layer}.K"][0].T @ w[f"{layer}.Q"][0] @ x
            if layer == "1":
                x = w["1.U2"] @ (w["1.U1"] @ x) ** 2
        found.append(x)
    return np.allclose(outputs(arch, w, X), found) and w["1.U1"].shape == (6, 3)


def every_combination_is_exact(count=30):
    draw, kinds = np.random.default_rng(2), set()
    for _ in range(count):
        on = draw.integers(0, 2, 10).astype(bool).tolist()
        value_dim = 1 if on[0] else None
        block = Block(
            value_dim, 1 if on[0] and on[1] else None, on[2], on[3], on[4], on[5], (3, 2) if on[6] else None
        )
        arch = uniform(
            2, 2, 2, 3, ("softmax", "lightning")[on[7]], heads=2, skip=on[8], causal=on[9], block=block
        )
        kinds.add(nv.measure_dimension(arch).status)
    return kinds == {"exact"}


def what_a_block_has():
    names = {f.name for f in fields(Block)}
    return names == {"value_dim", "kv_heads", "rotary", "biases", "temperature", "positions", "mlp"}


def the_note_lists_it():
    block = Block(value_dim=2, kv_heads=1, biases=True, mlp=(6, 2))
    net = plain(skip=True, causal=True, block=block)
    expected = nv.expected_dimension(net)
    named = sum(int(count) for count in re.findall(r" (\d+)(?:,| \()", expected.note.split("less ")[1])[:5])
    return (
        expected.value == nv.measure_dimension(net).value == net.num_parameters - named
        and "key biases 4" in expected.note
    )


def a_key_bias_moves_the_outputs(kind, rotary):
    arch = A((4, 4), (2,), attention=kind, heads=2, block=Block(biases=True, rotary=rotary))
    weights = random_block_weights(REAL, arch, np.random.default_rng(0))
    other = weights | {"1.k": weights["1.k"] + 1}
    return not np.allclose(*(outputs(arch, w, tokens(4)) for w in (weights, other)))


def key_biases():
    blocks = [Block(value_dim=2, biases=True, rotary=on) for on in (False, True)]
    return [key_bias(uniform(4, 2, 1, heads=2, skip=True, **SOFTMAX, block=block)) for block in blocks]


def share(name, parts=SYMMETRIES):
    model = real_model(name)
    return sum(model.redundant.get(part, 0) for part in parts) / model.parameters


def three_reasons_of_about_the_same_size():
    """GPT-2 small's share over Llama-3-8B's, by what changes: each factor measured by the formula."""
    gpt, llama = real_model("GPT-2 small"), real_model("Llama-3-8B")
    narrow = (gpt.head_dim / gpt.width) / (llama.head_dim / llama.width)
    rotary = share("OPT-6.7B") / share("LLaMA-7B")
    shared = share("LLaMA-7B") / share("Llama-3-8B")
    whole = share("GPT-2 small") / share("Llama-3-8B")
    biases = share("GPT-2 small") / share("GPT-2 small", (KEYS, VALUES))
    return (
        (gpt.heads, llama.heads, llama.queries_per_key) == (12, 32, 4)
        and all(1.9 < factor < 2.8 for factor in (narrow, rotary, shared))
        and abs(narrow * rotary * shared / whole - 1) < 0.1
        and biases < 1.02
    )


def shape(name):
    model = real_model(name)
    return model.layers, model.width, model.heads, model.kv_heads, model.head_dim


def rotary_models_of_today():
    """Of the models in the table from 2023 on."""
    recent = [m for m in MODELS if int(re.search(r"20[12]\d", m.source).group()) >= 2023]
    return sum(m.rotary for m in recent) > 0.8 * len(recent) > 5


def marks_of_the_models():
    panel = RealModelsExplorer(state="widest=4")
    assert panel.wait(60) and panel.status.startswith("done")
    figure = panel.figure
    panel.close()
    marks = {
        t.name: t.marker.symbol for t in figure.data if t.name in ("measured", "formula", "extrapolated")
    }
    rows = [[t.x[i] for t in figure.data if t.type == "bar"] for i in range(len(MODELS))]
    return (
        (marks["measured"], marks["formula"], marks["extrapolated"].split("-")[0])
        == ("square", "square-open", "diamond")
        and len(rows) == len(MODELS)
        and all(sum(row) > 0 for row in rows)
    )


def the_tanh_network():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        mlp = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
        found = nv.functional_dimension(mlp, lambda count: torch.randn(count, 3))
    return found.value == 26 == sum(p.numel() for p in mlp.parameters()) and found.status == "float"


def relu():
    return nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))


@cache
def eight_relu_networks(seed):
    """The cell of the notebook with a seed: the bound and eight measurements."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        bound = nv.module_symmetries(relu()).bound
        found = [nv.functional_dimension(relu(), lambda n: 3 * torch.randn(n, 2)).value for _ in range(8)]
    return bound, found


@cache
def the_encoder_layer():
    with torch.random.fork_rng():
        torch.manual_seed(4)
        layer = nn.TransformerEncoderLayer(6, 2, 8, batch_first=True, norm_first=True, activation="gelu")
        found = nv.functional_dimension(layer, lambda count: torch.randn(count, 4, 6))
    return layer, nv.module_symmetries(layer), found


def its_symmetries_are_all():
    layer, known, found = the_encoder_layer()
    parameters = sum(p.numel() for p in layer.parameters())
    return parameters == 302 and found.value == known.bound == 302 - sum(known.entries.values()) < 302


def its_outputs_stay():
    layer, known, _ = the_encoder_layer()
    before = layer.double().eval()
    x = torch.randn(5, 4, 6, generator=torch.Generator().manual_seed(0)).double()
    for name in known.entries:
        other = moved(layer, name)
        pairs = zip(other.parameters(), before.parameters(), strict=True)
        if (other(x) - before(x)).abs().max() > 1e-12 or max((p - q).abs().max() for p, q in pairs) < 1e-3:
            return False
    return True


def taken_until_it_is_steady():
    found = the_encoder_layer()[2]
    return re.match(r"steady: (\d+) on \d+, \d+ and \d+ inputs", found.note) and "evidence" in found.note


def the_solution():
    three, two = (nv.Architecture(widths=(4, 4), head_dims=(3,), heads=H) for H in (3, 2))
    return bool(check_blending(three)) and not check_blending(two)


CLAIMS = [
    ("count what does nothing in nineteen published models", lambda: len(MODELS) == 19),
    ("$4a^2 = 16$ directions, and between the layers another $d^2 = 16$", what_is_plain),
    (
        "It adds d² dimensions an interface",
        lambda: (
            a_dimension_more_an_interface()
            and dim(*((4,) * 3, (2, 2)), heads=2, skip=True, **SOFTMAX)
            - dim(*((4,) * 3, (2, 2)), heads=2, **SOFTMAX)
            == 16
        ),
    ),
    ("Which of the two symmetries does the added input break?", what_a_skip_breaks),
    (
        "the heads turn into mixtures of each other, and the function stays",
        three_heads_keep_rank_and_function,
    ),
    ("With two they are forced to, and it does not, until they have changed places", two_heads_change_places),
    ("Most models of today turn queries and keys by their place", rotary_models_of_today),
    (
        "It does not. A skip adds $X$ and never looks at $A$ and $V$",
        lambda: (
            nv.kernel_ledger(uniform(4, 2, 2, skip=True)).entries["rescalings"] == 2
            and the_rescaling_survives_a_skip()
        ),
    ),
    (
        "what is gone is the change of basis between the layers",
        lambda: a_skip_before_and_after("lightning") == ([9, 2], [0, 2]),
    ),
    (
        "(Softmax never had the rescaling, and loses the same change of basis.)",
        lambda: (
            a_skip_before_and_after("softmax") == ([9], [0, 0])
            and "rescalings" not in nv.kernel_ledger(plain()).entries
        ),
    ),
    (
        "At $d = 3$, $a = 2$ it is the third head",
        lambda: [lost(uniform(3, 2, 1, heads=h)) - 5 * h for h in (1, 2, 3)] == [0, 0, 3],
    ),
    (
        "from $H > (d - a)^2 + 1$ on a head can take on something of the others",
        heads_blend_from_that_number_on,
    ),
    (
        "$a$ directions a head instead of $a^2$",
        lambda: [bases_under_rotation(a) for a in (2, 4)] == [[8, 4], [32, 8]],
    ),
    ("formulas that were measured and not proved", hints_from_parameters_to_what_is_not_proved),
    (
        "one fits eighteen networks and fails at the seventh head",
        lambda: (lambda wrong: len(wrong) == 3 and {v.sizes.heads for v in wrong} == {7})(
            [v for v in beyond_the_cap() if v.difference]
        ),
    ),
    ("a formula that is right at 18 of 21 networks and then fails", the_first_button),
    ("(It is the answer to ②, with a cap", it_is_the_answer_with_a_cap),
    ("lie in a space of $d^3(d+1)/2$ dimensions, and no number of heads leads out of it", many_heads),
    ("What else a layer of a transformer has is in its `Block`", what_a_block_has),
    ("Every combination can be measured exactly", every_combination_is_exact),
    ("The MLP is $U_2 (U_1 y)^e$ with an entrywise power", the_mlp_is_that),
    ("The note lists what does nothing", the_note_lists_it),
    (
        "to all logits of a column, and a softmax does not see that",
        lambda: (
            not a_key_bias_moves_the_outputs("softmax", rotary=False)
            and a_key_bias_moves_the_outputs("lightning", rotary=False)
        ),
    ),
    (
        "which depends on j; so the bias is seen",
        lambda: a_key_bias_moves_the_outputs("softmax", rotary=True) and key_biases() == [UNSEEN, SEEN],
    ),
    (
        "4.2 % of the attention weights of GPT-2 small do nothing, and 0.3 % of Llama-3-8B's",
        lambda: (round(share("GPT-2 small"), 3), round(share("Llama-3-8B"), 3)) == (0.042, 0.003),
    ),
    ("Three reasons of about the same size", three_reasons_of_about_the_same_size),
    ("filled squares are small networks that were measured exactly, and hollow ones", marks_of_the_models),
    (
        "Compare two models of the same shape, one with biases and one with rotary positions",
        lambda: (
            shape("OPT-6.7B") == shape("LLaMA-7B")
            and (real_model("OPT-6.7B").biases, real_model("LLaMA-7B").rotary) == (True, True)
            and not real_model("OPT-6.7B").rotary
        ),
    ),
    (
        "$a$ directions instead of $a^2$ for each group of keys: 128 times fewer",
        lambda: (
            real_model("OPT-6.7B").redundant["bases of keys and queries"]
            == 128 * real_model("LLaMA-7B").redundant["bases of keys and queries"]
        ),
    ),
    (
        "The bases of values and outputs stay, so of all directions about half are left, 0.79 %",
        lambda: (
            real_model("OPT-6.7B").redundant[VALUES] == real_model("LLaMA-7B").redundant[VALUES]
            and abs(share("LLaMA-7B") / share("OPT-6.7B") - 0.5) < 0.005
            and f"{share('LLaMA-7B'):.2%}" == "0.79%"
            and f"{share('OPT-6.7B'):.1%}" == "1.6%"
        ),
    ),
    (
        "where 71 heads share a single key and value, it is by this formula one in ten thousand",
        lambda: (
            (lambda m: 0.9e-4 < sum(m.redundant.values()) / m.parameters < 1.1e-4)(real_model("Falcon-7B"))
            and min(MODELS, key=lambda m: m.share).name == "Falcon-7B"
            and min(MODELS, key=lambda m: m.share + m.hidden_by_norm / m.parameters).name == "Falcon-7B"
            and shape("Falcon-7B")[2:4] == (71, 1)
        ),
    ),
    (
        "The rank is taken on more and more of them until it is steady, in floating point",
        taken_until_it_is_steady,
    ),
    ("All 26 parameters count", the_tanh_network),
    (
        "so 3 of 13 do nothing",
        lambda: (
            eight_relu_networks(1) == (10, [10] * 8) and sum(p.numel() for p in relu().parameters()) == 13
        ),
    ),
    (
        "and at some weights more, because a neuron that never bends",
        lambda: max(eight_relu_networks(3)[1]) == 10 and sum(v < 10 for v in eight_relu_networks(3)[1]) >= 2,
    ),
    ("A transformer layer of torch has 302 parameters at these sizes", its_symmetries_are_all),
    ("Move the weights along each of these symmetries: the output stays", its_outputs_stay),
    ("which is two at $a = d - 1$. So three heads", the_solution),
]

ELSEWHERE = [
    (
        "thin ones for the network before the last switch",
        "test_variants_explorer.py::test_the_thin_bars_are_the_ledger_before",
    ),
    (
        "the dimension is an exact rank, and each bar is the rank of the directions of its symmetry",
        "test_variants_explorer.py::test_the_bars_are_the_ledger_and_each_begins_where_the_one_before_ends",
    ),
    (
        "At the right the matrices $A_h$ of the heads, as drawn and as they are now",
        "test_variants_explorer.py::test_the_heads_are_those_of_the_blend_and_its_deviation_is_said",
    ),
    (
        "in how many directions heads of one layer blend",
        "test_variants_explorer.py::test_every_cell_of_the_map_is_a_ledger_and_the_border_is_the_formula",
    ),
    (
        "there are (d − a)² conditions on H numbers",
        "test_variant_symmetry.py::test_heads_blend_from_more_than_the_square_of_what_their_rank_lacks",
    ),
    (
        "Every network of a family is measured",
        "test_family.py::test_every_member_is_measured_and_the_formula_is_evaluated_there",
    ),
    (
        "the panel shows the first one at which you are wrong",
        "test_family.py::test_the_first_counterexample_is_the_smallest_network_unless_one_is_remembered",
    ),
    (
        "Where your formula fits everywhere, you have evidence and no proof",
        "test_formula_explorer.py::test_a_right_formula_is_called_evidence_and_no_proof",
    ),
    (
        "the diamond is the real model, far out, where nothing was measured",
        "test_real_models_explorer.py::test_nothing_that_was_measured_lies_in_the_wash_and_the_model_does",
    ),
    (
        "At the right all models by formula, one bar each",
        "test_real_models_explorer.py::test_the_bars_are_the_symmetries_of_the_models_and_add_up",
    ),
    (
        "so these directions do nothing whatever stands around it",
        "test_real_models.py::test_with_rms_norms_and_mlps_exactly_the_symmetries_inside_the_layers_are_lost",
    ),
    (
        "More may do nothing: what remains is an upper bound for the dimension",
        "test_real_models.py::test_layer_norms_hide_more_and_this_is_how_many",
    ),
    (
        "never bends on the inputs drawn hides more",
        "test_module_ledger.py::test_dead_and_always_active_neurons_hide_more_than_the_bound_says",
    ),
]
