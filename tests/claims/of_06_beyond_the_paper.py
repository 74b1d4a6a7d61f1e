"""What notebooks/06_beyond_the_paper.py says in words: see tests/test_claims.py."""

import re
from dataclasses import fields
from functools import cache
from itertools import combinations, product

import numpy as np
import torch
from torch import nn

import neuroviz as nv
from claims.common import OVER, A, buttons, dim, domains, lost, shown, under_more, uniform
from neuroviz.beyond.formula.families import FAMILIES
from neuroviz.beyond.formula.family import FamilySetting, study_family, what_is_known
from neuroviz.beyond.transformers.blending import blend_heads
from neuroviz.beyond.transformers.real_models import MODELS, SYMMETRIES, real_model
from neuroviz.beyond.transformers.real_models_panel import PARTS
from neuroviz.engine.block import Block
from neuroviz.engine.block_network import block_forward, random_block_weights
from neuroviz.engine.field import Reals
from neuroviz.engine.rank import exact_rank
from neuroviz.explorables import FormulaExplorer, RealModelsExplorer, VariantsExplorer
from neuroviz.lessons.checks_beyond import check_blending
from neuroviz.lessons.questions import SEEN, UNSEEN, key_bias
from neuroviz.nn.symmetries import moved

REAL = Reals()
SOFTMAX = {"attention": "softmax"}
KINDS = ("lightning", "softmax")
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


def a_skip_adds_the_input():
    """To what one layer gives, and to nothing where its values are 0."""
    without, arch = A((3, 3), (2,), heads=2, **SOFTMAX), A((3, 3), (2,), heads=2, skip=True, **SOFTMAX)
    weights, X = random_block_weights(REAL, arch, np.random.default_rng(0)), tokens()
    silent = weights | {"1.V": 0 * weights["1.V"]}
    return np.allclose(outputs(arch, weights, X) - X, outputs(without, weights, X)) and np.array_equal(
        outputs(arch, silent, X), X
    )


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


def bars_matrices_and_the_map():
    """At the left, at the right, and below that; the bars of the network before are the thin ones."""
    panel = VariantsExplorer()
    at, traces = domains(panel.figure), {one.name: one for one in panel.figure.data}
    panel.close()
    bars = [at[name] for name in ("parameters", "directions that symmetries explain", "dimension (measured)")]
    matrices = [at[name] for h in "₁₂₃" for name in (f"A{h}, drawn", f"A{h}′, now")]
    widths = {name: set(np.ravel(traces[name].width)) for name in ("before", "parameters")}
    return (
        {place[1] for place in bars} == {at["before"][1]}
        and max(place[1] for place in bars) < min(place[0] for place in matrices)
        and min(place[2] for place in matrices) > at["blends, measured"][3]
        and max(widths["before"]) < min(widths["parameters"])
    )


def led_to(panel, kind):
    """What the buttons of a panel lead to, in turn."""
    return [shown(kind, state)[0] for state in buttons("06_beyond_the_paper", panel)]


def buttons_of_the_switches():
    """The network, and the one before; what differs is one switch."""
    studies = led_to("variants_panel", VariantsExplorer)
    skips = [(uniform(3, 2, 2, 3, kind, skip=True), uniform(3, 2, 2, 3, kind)) for kind in KINDS]
    heads = [(uniform(3, 2, 2, heads=more), uniform(3, 2, 2, heads=more - 1)) for more in (2, 3)]
    turned, still = (uniform(3, 2, 2, heads=2, **SOFTMAX, block=Block(rotary=on)) for on in (True, False))
    return [(one.ledger.arch, one.before.arch) for one in studies] == [*skips, *heads, (turned, still)]


def third_head_by_hand():
    """The panel opens on it; the second loses one rescaling a head, in each layer, and the third more."""
    opened, second = (shown(VariantsExplorer, state)[0].ledger for state in ("", "heads=2"))
    return (opened.arch, second.arch) == (uniform(3, 2, 2, heads=3), uniform(3, 2, 2, heads=2)) and [
        one.parameters - one.dimension - 9 - 2 * H * (4 + 1) for one, H in ((second, 2), (opened, 3))
    ] == [0, 6]


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


def commuting_with_rotations(a):
    """How many dimensions the matrices have that commute with a rotation of each pair of coordinates."""
    turn = np.zeros((a, a))
    for k in range(0, a, 2):
        c, s = OVER.random(np.random.default_rng([a, k]), (2,))
        turn[k : k + 2, k : k + 2] = [[c, -s], [s, c]]
    turn = OVER.reduce(turn)
    rows = [OVER.reduce(OVER.matmul(E, turn) - OVER.matmul(turn, E)).ravel() for E in units(a)]
    return a * a - exact_rank(np.array(rows), OVER)


def units(a):
    return np.eye(a * a).reshape(-1, a, a)


def keys_are_turned_by_their_place():
    """Equal tokens, one head of dimension 2: key j and query i are turned by j and i."""
    x, found = tokens(2)[0][:, :1], []
    X = np.repeat(x, 3, axis=1)[None]
    for on in (True, False):
        arch = A((2, 2), (2,), block=Block(rotary=on))
        w = random_block_weights(REAL, arch, np.random.default_rng(0))
        Q, K, V = (w[f"1.{name}"][0] @ x for name in "QKV")
        angle = [[j - i if on else 0 for i in range(3)] for j in range(3)]
        c, s = np.cos(angle), np.sin(angle)
        turned = c * (K.T @ Q) + s * (K[1] * Q[0] - K[0] * Q[1])
        found.append(
            any(np.allclose(outputs(arch, w, X)[0], V * one.sum(axis=0)) for one in (turned, turned.T))
            and np.ptp(turned.sum(axis=0)) > 0.01
        )
    return found == [True, False]


def beyond_the_cap():
    formula = "min(H*(alpha(a, d) + d**2) - H*max(1, H - max(d - a, 0)**2), d**3*(d + 1)/2)"
    return study_family(FamilySetting("heads-many", formula)).verdicts


def the_first_button():
    state, back = buttons("06_beyond_the_paper", "formula_panel")
    study, said = shown(FormulaExplorer, state)
    return (
        (len(study.verdicts), len(study.wrong)) == (21, 3)
        and "wrong at 3 of 21 networks" in said
        and shown(FormulaExplorer, back)[0].setting == shown(FormulaExplorer)[0].setting
    )


def begins_with_one_layer():
    """And the two families with hints are called ① and ②."""
    opened = FAMILIES[shown(FormulaExplorer)[0].setting.family]
    marked = [family for family in FAMILIES.values() if family.title[0] in "①②"]
    return (
        {sizes.layers for sizes in opened.members} == {1}
        and [family.title[0] for family in marked] == ["①", "②"]
        and marked == [family for family in FAMILIES.values() if family.hints]
    )


def it_is_the_answer_with_a_cap():
    capped = f"min({FAMILIES['heads'].known}, d**3*(d + 1)/2)"
    few = study_family(FamilySetting("heads", FAMILIES["heads"].known))
    same = [v.proposed for v in study_family(FamilySetting("heads-many", capped)).verdicts]
    return not few.wrong and same == [v.proposed for v in beyond_the_cap()]


def many_heads():
    """Dimensions for more and more heads, of width 2 and 3."""
    two = [dim((2, 2), (a,), 3, heads=H) for a in (1, 2) for H in (7, 8, 10)]
    return set(two) == {12} and [dim((3, 3), (3,), 3, heads=H) for H in (7, 9)] == [54, 54]


def hints_from_parameters_to_what_is_not_proved():
    found = [(what_is_known(f).status, f.hints[0]) for f in FAMILIES.values() if f.hints]
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


def with_switches(values, rotary, biases, temperature, positions, mlp, kind, skip, causal):
    value_dim, kv_heads = ((None, None), (1, None), (1, 1))[values]
    block = Block(value_dim, kv_heads, rotary, biases, temperature, positions, (3, 2) if mlp else None)
    return uniform(2, 2, 2, 3, KINDS[kind], heads=2, skip=bool(skip), causal=bool(causal), block=block)


def every_combination_is_exact():
    """Random ones, until any three switches have met in all ways; 30 of them also in floats."""
    draw, sizes, met, nets = np.random.default_rng(2), (3,) + (2,) * 8, set(), []
    ways = sum(sizes[i] * sizes[j] * sizes[k] for i, j, k in combinations(range(9), 3))
    while len(met) < ways:
        on = [int(draw.integers(size)) for size in sizes]
        nets.append(with_switches(on[0], *map(bool, on[1:6]), *on[6:]))
        met |= set(combinations(enumerate(on), 3))
    found = [nv.measure_dimension(net) for net in nets]
    floats = [nv.measure_dimension(net, "float") for net in nets[:30]]
    pairs = zip(floats, found, strict=False)
    return {one.status for one in found} == {"exact"} and all(
        one.decided and one.value == exact.value for one, exact in pairs
    )


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


def keys_and_queries_of_the_buttons():
    """OPT and LLaMA, compared by their keys: a² and a directions for each of 32 heads in 32 layers."""
    studies = [
        shown(RealModelsExplorer, state)[0] for state in buttons("06_beyond_the_paper", "models_panel")
    ]
    counts = [
        studies[1].shares[model][KEYS] * model.parameters
        for model in map(real_model, ("OPT-6.7B", "LLaMA-7B"))
    ]
    return [study.setting.parts for study in studies] == list(PARTS) and np.allclose(
        counts, [32 * 32 * 128**2, 32 * 32 * 128]
    )


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
    ("Now add a skip connection: each layer's input is added to its output", a_skip_adds_the_input),
    (
        "Most people expect a skip to add nothing, for it has no parameters",
        lambda: plain(skip=True).num_parameters == plain().num_parameters,
    ),
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
    ("thick bars for the network as it is", bars_matrices_and_the_map),
    (
        "(**rotary positions**, under *More*)",
        lambda: under_more(VariantsExplorer, "rotary") and not under_more(VariantsExplorer, "skip"),
    ),
    ("The buttons take the panel to these places", buttons_of_the_switches),
    ("d = 3, a = 2, and go from two heads to three", third_head_by_hand),
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
        "may only change in a way that commutes with all rotations",
        lambda: [commuting_with_rotations(a) for a in (2, 4, 6)] == [2, 4, 6],
    ),
    (
        "$a$ directions a head instead of $a^2$",
        lambda: [bases_under_rotation(a) for a in (2, 4)] == [[8, 4], [32, 8]],
    ),
    ("Begin with one layer; then take ① and ②", begins_with_one_layer),
    ("formulas that were measured and not proved", hints_from_parameters_to_what_is_not_proved),
    (
        "one fits eighteen networks and fails at the seventh head",
        lambda: (lambda wrong: len(wrong) == 3 and {v.sizes.heads for v in wrong} == {7})(
            [v for v in beyond_the_cap() if v.difference]
        ),
    ),
    ('the family "H > d" shows, with the first button', the_first_button),
    ("a formula that is right at 18 of 21 networks and then fails", the_first_button),
    ("(It is the answer to ②, with a cap", it_is_the_answer_with_a_cap),
    ("lie in a space of $d^3(d+1)/2$ dimensions, and no number of heads leads out of it", many_heads),
    ("What else a layer of a transformer has is in its `Block`", what_a_block_has),
    ("Every combination can be measured exactly", every_combination_is_exact),
    ("The MLP is $U_2 (U_1 y)^e$ with an entrywise power", the_mlp_is_that),
    ("The note lists what does nothing", the_note_lists_it),
    ("Rotary positions turn each key by an angle that depends on its place", keys_are_turned_by_their_place),
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
    (
        "Compare two models of the same shape, one with biases and one with rotary positions",
        lambda: (
            shape("OPT-6.7B") == shape("LLaMA-7B")
            and (real_model("OPT-6.7B").biases, real_model("LLaMA-7B").rotary) == (True, True)
            and not real_model("OPT-6.7B").rotary
        ),
    ),
    ("Which part of their keys and queries does nothing?", keys_and_queries_of_the_buttons),
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
        "The formula is right on small networks of each kind",
        "test_real_models.py::test_the_formula_is_right_on_small_networks_of_every_kind",
    ),
    (
        "All models by formula, one bar each",
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
