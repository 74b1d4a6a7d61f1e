"""The facts of Theorem A’s experiments: bars are measured kernels, and nothing wrong is
claimed."""

import random
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from node import ask, check_types
from panels import title
from test_immersion import STATES

from neuroviz.kit.plot import plain
from neuroviz.rank.field import Reals
from neuroviz.softmax import immersion
from neuroviz.softmax.immersion import MODES
from neuroviz.softmax.immersion_facts import immersion_facts
from neuroviz.softmax.immersion_panel import (
    EXPERIMENTS,
    LAYERS,
    ProofExplorer,
    ProofSetting,
    proof_picture,
    study_proof,
)
from neuroviz.softmax.two_tokens import follow

PANEL = ProofExplorer
AGREE = 1e-9


def said(facts: dict) -> str:
    return " ".join(line["text"] for line in facts["says"])


@pytest.mark.parametrize(
    ("state", "line", "bars", "words"),
    [
        (
            "",
            "% of the tokens’ distance is left",
            "still silent: 12 → 8 → 4 → 0",
            "leave 8, 4, 0",
        ),
        ("", "", "", "Step 1: what is silent here stays silent"),
        (
            "experiment=frozen",
            "frozen: nothing moves",
            "",
            "8 of 12 directions are silent, in M₁ and M₂",
        ),
        ("experiment=frozen", "", "", "Step 3: with every S = I"),
        ("experiment=only-1;mu_1=1;nu_1=0", "", "", "These P, Q hide M₁"),
        (
            "experiment=only-4",
            "",
            "",
            "There is no layer 4 to free: there are only layers 1 to 2.",
        ),
        (
            "symmetric=0",
            "they meet in layer 1: later layers see one token",
            "4 directions are silent: M₁ is",
            "",
        ),
        (
            "symmetric=0;weak_layer=2",
            "",
            "M₂ is antisymmetric, but last: nothing is left",
            "no layer",
        ),
        (
            "symmetric=0;causal=yes",
            "",
            "the argument breaks, yet nothing is left",
            "holds all the same",
        ),
        ("size=0", "", "8 directions are silent: L = 0", "L = 0 makes every output 0"),
    ],
)
def test_headlines_and_words_say_what_was_found(panel, state, line, bars, words):
    panel.state = state
    facts = panel.facts
    assert line in said(facts["tokens"]) and bars in said(facts["hidden"])
    assert words in panel.description


def test_badges_and_hatching_follow_the_hypotheses(panel):
    assert "□ proved here · Theorem A<" in title(
        panel
    ) and "network as it is: 0 silent" in title(panel)
    assert panel.facts["hidden"]["relation"] is None
    panel.state = "symmetric=0"
    assert "▨ outside hypotheses · Theorem A<" in title(panel)
    assert panel.facts["hidden"]["relation"] == ("layer 1 cannot be frozen: P₁Q₁ = 1")
    panel.state = "causal=yes"
    assert "▨ outside hypotheses · Theorem A′" in title(panel)
    assert panel.facts["hidden"]["relation"] == ("layer 1 cannot be frozen: Q₁ = 1")


@pytest.mark.parametrize("state", STATES)
def test_every_bar_is_a_measured_kernel(panel, state):
    panel.state = state
    s = panel._shown
    hidden = panel.facts["hidden"]
    columns = hidden["columns"]
    size = panel._shown.setting.width**2
    expected = [size * (s.setting.layers + 1)] + [
        one.so_far.kernel for one in s.experiments
    ]
    expected += [s.everything.kernel, s.here.kernel]
    assert [column["silent"] for column in columns] == expected
    for column in columns:
        assert len(column["blocks"]) == len(hidden["matrices"])
        assert sum(column["blocks"]) + column["mixed"] == column["silent"]
    assert tuple(columns[-1]["blocks"]) == s.here.blocks
    possible = [True, *(one.possible for one in s.experiments), True, True]
    assert [column["possible"] for column in columns] == possible
    kinds = ["before", *["experiment"] * (s.setting.layers + 1), "everything", "here"]
    assert [column["kind"] for column in columns] == kinds


@pytest.mark.parametrize("state", STATES)
def test_an_experiment_sees_the_matrices_of_which_less_is_silent_than_before(
    panel, state
):
    panel.state = state
    hidden = panel.facts["hidden"]
    for before, column in pairwise(hidden["columns"][:-2]):
        pairs = zip(hidden["matrices"], before["blocks"], column["blocks"], strict=True)
        assert column["sees"] == [name for name, was, is_now in pairs if is_now < was]
    failing = [column["fails"] for column in hidden["columns"]]
    left = [panel._shown.left.kernel > 0, panel._shown.everything.kernel > 0]
    assert failing[-3:] == [*left, False] and not any(failing[:-3])


@pytest.mark.parametrize("state", STATES)
def test_the_tokens_go_where_the_shares_take_them(panel, state):
    panel.state = state
    s = panel._shown
    x = np.array(panel._shown.setting.inputs)
    for given, places in zip(s.given, s.places[1:], strict=True):
        x = x @ np.array([[1 - given.mu, given.nu], [given.mu, 1 - given.nu]])
        np.testing.assert_allclose(places, x, atol=1e-12)


NOTHING = ("P = Q = 0", ["does nothing"])


@pytest.mark.parametrize(
    ("state", "layers"),
    [
        ("experiment=frozen", [NOTHING, NOTHING]),
        (
            "experiment=own;mode_1=collapsed",
            [("P = Q = 1", ["they meet"]), ("", ["sees one token", "M₂ is hidden"])],
        ),
        (
            "experiment=own;mode_1=free;mu_1=1;nu_1=1;mode_2=frozen",
            [("P = Q = ∞", ["they swap"]), NOTHING],
        ),
        ("experiment=only-1;mu_1=0.5;nu_1=0.2", [("P = 1, Q = 0.25", []), NOTHING]),
        ("experiment=frozen;causal=yes", 2 * [("Q = 0", ["does nothing"])]),
    ],
)
def test_what_happens_in_a_layer_is_said_apart_from_its_numbers(panel, state, layers):
    panel.state = state
    said = [(one["numbers"], one["does"]) for one in panel.facts["tokens"]["layers"]]
    assert said == layers


def test_a_disagreement_would_be_said(panel):
    shown = panel._shown
    wrong = replace(
        shown,
        everything=replace(
            shown.everything, measured=replace(shown.here.measured, value=9)
        ),
    )
    assert "DISAGREES" in panel._describe(wrong)
    last = shown.experiments[-1]
    left = replace(
        last,
        so_far=replace(last.so_far, measured=replace(last.so_far.measured, value=11)),
    )
    facts = immersion_facts(replace(shown, experiments=(*shown.experiments[:-1], left)))
    assert "1 left: this DISAGREES" in said(facts["hidden"])
    assert facts["hidden"]["says"][-1]["role"] == "outside"


def test_directions_that_mix_matrices_are_counted_apart(panel):
    shown = panel._shown
    mixed = replace(shown.here, measured=replace(shown.here.measured, value=10))
    column = immersion_facts(replace(shown, here=mixed))["hidden"]["columns"][-1]
    assert column["mixed"] == mixed.mixed == 2


# Types and formulas, under node

RUNS = """
import { modesOf, runOf } from "softmax/immersion_layers";
import { meetingOf } from "softmax/two_tokens";
say(given.map(([formulas, places]: any) => places.map((place: any) => {
  const run = runOf(formulas, place);
  return { ...run, met: meetingOf(run), modes: modesOf(formulas, place) };
})));
"""


def some_network(draw: random.Random, seed: int) -> ProofSetting:
    sizes = {name: draw.randint(1, 4) for name in ("layers", "weak_layer")}
    rest = {
        "symmetric": draw.choice([0, 0.35, 1]),
        "width": draw.randint(1, 3),
        "seed": seed,
    }
    return ProofSetting(**sizes, **rest, causal=seed % 3 == 0)


def some_setting(draw: random.Random, network: ProofSetting) -> ProofSetting:
    experiments = [key for _, key in EXPERIMENTS] + 4 * ["own"]
    chosen = {f"mode_{i}": draw.choice(list(MODES)) for i in LAYERS}
    chosen |= {
        f"{share}_{i}": draw.randint(0, 100) / 100
        for i in LAYERS
        for share in ("mu", "nu")
    }
    chosen |= {f"input_{i}": draw.randint(0, 100) / 100 for i in (1, 2)}
    return replace(network, experiment=draw.choice(experiments), **chosen)


@pytest.mark.long
def test_the_page_sets_1000_random_layers_as_python_does():
    draw = random.Random(5)
    given = []
    asked = []
    seen = set()
    for seed in range(20):
        network = some_network(draw, seed)
        settings = [some_setting(draw, network) for _ in range(50)]
        formulas = immersion_facts(study_proof(network))["formulas"]
        asked.append(settings)
        given.append([plain(formulas), [vars(one) for one in settings]])
    for settings, found in zip(asked, ask(RUNS, given), strict=True):
        for setting, page in zip(settings, found, strict=True):
            network = setting.network
            note = str(setting)
            shares = immersion._set_shares(network, *immersion.real_network(network))
            places = [
                row[0] for row in follow(Reals(), shares, np.array([network.inputs]))
            ]
            np.testing.assert_allclose(page["shares"], shares, atol=AGREE, err_msg=note)
            np.testing.assert_allclose(page["places"], places, atol=AGREE, err_msg=note)
            gaps = [abs(one - two) for one, two in places]
            if all(gap < 1e-10 or gap > 1e-8 for gap in gaps):  # else it is rounding
                met = next((i for i, gap in enumerate(gaps) if gap < 1e-9), None)
                assert page["met"] == met, note
            tied = network.tied_layer
            modes = [
                "true" if i == tied else mode for i, mode in enumerate(network.modes, 1)
            ]
            assert page["modes"] == modes
            seen |= set(setting.modes)
    assert seen == set(MODES)


HANDS = """
import * as code from "softmax/immersion_layers";
say(given.map(([formulas, place, layer, token, at, step]: any) => {
  const run = code.runOf(formulas, place);
  const dragged = code.sharesAt(run, layer, token, at, 200);
  const moved = code.setFree(formulas, place, layer, dragged);
  const stepped = code.sharesAfterStep(run, layer, token, step);
  const after = code.setFree(formulas, place, layer, stepped);
  const later = [{ ...place, ...moved }, { ...place, ...after }];
  return [run, dragged, ...later.map((one) => code.runOf(formulas, one))];
}));
"""


@pytest.mark.long
def test_a_dragged_token_comes_to_the_pointer_as_far_as_its_shares_let_it():
    draw = random.Random(8)
    given = []
    for seed in range(300):
        network = some_network(draw, seed)
        formulas = immersion_facts(study_proof(network))["formulas"]
        free = [i for i in range(1, network.layers + 1) if i != formulas["tied"]]
        if not free:
            continue
        setting = some_setting(draw, network)
        token = 2 if network.causal else draw.choice([1, 2])
        given.append(
            [
                plain(formulas),
                vars(setting),
                draw.choice(free),
                token,
                draw.random(),
                0.001,
            ]
        )
    met = 0
    moved = 0
    for (_, place, layer, token, at, _), found in zip(
        given, ask(HANDS, given), strict=True
    ):
        run, shares, dragged, stepped = found
        s, u = run["places"][layer - 1]
        if abs(u - s) < 1e-6:
            continue
        one, two = dragged["places"][layer]
        goal = min(max(at, min(s, u)), max(s, u))
        if abs(1 - sum(shares)) < 1e-9 and abs(one - two) * 200 < 1e-6:
            met += 1  # near the other token they meet
            assert abs((one, two)[token - 1] - goal) * 200 <= 5
        else:
            assert (one, two)[token - 1] == pytest.approx(goal, abs=AGREE), place
        share = run["shares"][layer - 1][token - 1]
        if 0.01 < share < 0.99:
            change = (
                stepped["places"][layer][token - 1] - run["places"][layer][token - 1]
            )
            assert change == pytest.approx(0.001 * abs(u - s))  # a step to the right
            moved += 1
        assert dragged["shares"][: layer - 1] == run["shares"][: layer - 1]
    assert met > 5 and moved > 50


SQUARES = """
import { sharesInSquare } from "softmax/immersion_layers";
const { size, places } = given as any;
say(places.map(([at, isCausal]: any) => sharesInSquare(at, size, isCausal, 0.01)));
"""


def test_a_dot_stays_in_its_square_and_near_the_diagonal_the_tokens_meet():
    places = [
        [[20, 20], False],
        [[60, 33], False],
        [[60, 33], True],
        [[-9, 99], False],
    ]
    found = ask(SQUARES, {"size": [100, 80], "places": places})
    assert found[0] == [0.2, 0.25]
    assert sum(found[1]) == pytest.approx(1) and found[1][0] == pytest.approx(
        0.59, abs=0.011
    )
    assert found[2] == [0.6, 33 / 80]
    assert found[3] == [0, 1]


@pytest.mark.parametrize("size", [(200, 40), (40, 200), (100, 100)])
def test_near_is_a_distance_in_pixels_also_where_the_square_is_wide_or_tall(size):
    wide, tall = size
    away = np.hypot(wide, tall)
    # from the middle of the diagonal, at a right angle to it
    places = [
        [[wide / 2 - far * tall / away, tall / 2 - far * wide / away], False]
        for far in (3, 12)
    ]
    near, far = ask(SQUARES, {"size": size, "places": places})
    assert sum(near) == pytest.approx(1) and sum(far) < 0.95


@pytest.mark.long
def test_facts_of_random_places_have_the_form_that_the_page_expects():
    draw = random.Random(6)
    settings = [some_setting(draw, some_network(draw, seed)) for seed in range(30)]
    pictures = [proof_picture(study_proof(one)) for one in settings]
    check_types(
        "ImmersionFacts",
        "softmax/immersion_facts",
        [plain(one.facts) for one in pictures],
    )
    check_types(
        "ImmersionPlace",
        "softmax/immersion_facts",
        [plain(one.place) for one in pictures],
    )
