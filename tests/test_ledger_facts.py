"""The facts of a ledger: all measured, they add up; and the page counts and moves
weights as Python does."""

import random
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from node import ask, check_types

import neuroviz as nv
from neuroviz.deep import ledger as sizes
from neuroviz.deep.ledger import FAMILIES, LedgerSetting, parts_of, study_ledger
from neuroviz.deep.ledger_facts import ledger_facts, ledger_picture
from neuroviz.kit.plot import plain
from neuroviz.rank import outputs
from neuroviz.rank.field import Reals
from neuroviz.rank.weights import flatten

AGREE = 1e-9
# widths, head dims, tokens, kind
CASES = {
    "start": ((4, 4, 4), (2, 2), 3, "lightning"),
    "softmax": ((4, 4, 4), (2, 2), 3, "softmax"),
    "one layer": ((4, 4), (2,), 3, "lightning"),
    "one layer, one output": ((3, 1), (2,), 3, "lightning"),
    "one layer, softmax": ((4, 2), (3,), 2, "softmax"),
    "one output": ((4, 4, 1), (1, 1), 3, "lightning"),
    "collapse": ((3, 3, 3), (1, 2), 3, "lightning"),
    "widening": ((2, 4, 2), (2, 2), 3, "lightning"),
    "the paper's formula negative": ((2, 8, 2), (2, 2), 3, "lightning"),
    "one token": ((4, 4, 4), (2, 2), 1, "lightning"),
    "one token, softmax": ((4, 4, 4), (2, 2), 1, "softmax"),
    "one token, one layer": ((3, 2), (5,), 1, "lightning"),
    "width one": ((1, 1), (1,), 3, "lightning"),
    "deep and thin": ((1,) * 7, (8,) * 6, 3, "lightning"),
    "unequal inner widths": ((2, 5, 4, 6, 3), (1, 2, 3, 4), 2, "lightning"),
    "two causes": ((2, 5, 5, 2), (1, 2, 2), 3, "lightning"),
}
EXPLAINED = [
    "start",
    "softmax",
    "one layer",
    "one layer, one output",
    "one layer, softmax",
    "width one",
]
LEFT_OVER = ["collapse", "widening", "one token", "one token, softmax", "two causes"]
LIMITS = {"width": sizes.MAX_WIDTH, "layers": sizes.MAX_LAYERS}


@cache
def study(name):
    widths, head_dims, tokens, kind = CASES[name]
    typed = {
        "widths": ",".join(map(str, widths)),
        "head_dims": ",".join(map(str, head_dims)),
    }
    return study_ledger(LedgerSetting(**typed, tokens=tokens, kind=kind))


# Facts


@pytest.mark.parametrize("name", CASES)
def test_what_is_taken_away_leaves_the_dimension(name):
    ledger = nv.kernel_ledger(nv.Architecture(*CASES[name]))
    facts = ledger_facts(study(name))
    assert [family["name"] for family in facts["families"]] == list(FAMILIES)
    costs = [family["cost"] for family in facts["families"]]
    assert costs == [ledger.entries.get(family, 0) for family in FAMILIES]
    assert [sum(family["parts"]) for family in facts["families"]] == costs
    found = {
        name: facts[name]["count"]
        for name in ("parameters", "unexplained", "dimension")
    }
    wanted = {"parameters": ledger.parameters, "unexplained": ledger.unexplained}
    assert found == wanted | {"dimension": ledger.dimension}
    assert found["parameters"] - sum(costs) - found["unexplained"] == found["dimension"]
    idle = ledger.parameters - ledger.dimension
    assert facts["says"][0]["text"].startswith(
        f"{idle} of {ledger.parameters} direction"
    )
    assert str(ledger.measured.prime) in facts["dimension"]["says"]


def test_a_wrong_ledger_is_shown_as_it_is():
    """The dimension is the measurement, not what the formula says, and not what the
    others leave over."""
    right = study("start")
    wrong = replace(
        right,
        ledger=replace(
            right.ledger, dimension=35, entries={}, parts={"head bases": (11,)}
        ),
    )
    facts = ledger_facts(wrong)
    assert [family["cost"] for family in facts["families"]] == [11, 0, 0]
    assert facts["parameters"]["count"] == 64 and facts["dimension"]["count"] == 35
    assert facts["says"] == [{"text": "29 of 64 directions are silent"}]
    assert facts["formula"]["value"] == 38


@pytest.mark.parametrize(
    ("state", "says"),
    [
        (
            {"layers": 1, "width": 1, "width_out": 1, "head_dim": 1},
            "2 of 3 directions are silent",
        ),
        (
            {"layers": 1, "width": 1, "width_out": 1, "head_dim": 1, "kind": "softmax"},
            "1 of 3 directions is silent",
        ),
    ],
)
def test_one_direction_is_and_several_are_silent(state, says):
    assert ledger_facts(study_ledger(LedgerSetting(**state)))["says"] == [
        {"text": says}
    ]


@pytest.mark.parametrize("name", CASES)
def test_the_formula_is_said_and_the_papers_only_where_it_misleads(name):
    s = study(name)
    facts = ledger_facts(study(name))
    expected = nv.expected_dimension(s.ledger.network)
    assert facts["formula"] == {"source": expected.source, "value": expected.value}
    misleads = (
        s.paper.status == "outside hypotheses" and s.paper.value != s.ledger.dimension
    )
    assert (facts["paper"] is not None) == misleads
    assert not misleads or facts["paper"]["value"] == s.paper.value


def test_where_there_is_no_formula_none_is_said():
    s = study("start")
    unknown = replace(s, expected=replace(s.expected, value=None))
    assert ledger_facts(unknown)["formula"] is None


@pytest.mark.parametrize("name", [*EXPLAINED, *LEFT_OVER])
def test_unexplained_directions_have_a_cause(name):
    s = study(name)
    facts = ledger_facts(study(name))
    assert (facts["unexplained"]["count"] > 0) == (name in LEFT_OVER)
    assert facts["unexplained"]["says"] == s.ledger.note


# Types and formulas, under node

COUNTS = """
import { controlsFor, countsOf, longer, networkAt, without } from "deep/ledger_network";
import { numbersOf, rowsOf } from "deep/ledger_words";
const [limits, places] = given as any;
say(places.map(([place, facts]: any) => {
  const net = networkAt(place, limits)!;
  const counts = countsOf(net);
  const isLast = net.headDims.length === limits.layers;
  const isDeep = net.headDims.length > 1;
  const others = isDeep ? net.headDims.map((_, i) => without(net, i)) : [];
  if (!isLast) others.push(longer(net));
  return {
    net, counts, again: controlsFor(net), others: others.map(controlsFor),
    local: numbersOf(counts, null), rows: rowsOf(net, counts, null),
    exact: facts && numbersOf(counts, facts), said: facts && rowsOf(net, counts, facts),
  };
}));
"""
MOTIONS = """
import { networkAt } from "deep/ledger_network";
import { generatorsOf, movedBy, weightsOf } from "deep/ledger_weights";
import { outputOf } from "kit/attention";
const [limits, places, shares] = given as any;
const all = ["head bases", "interfaces", "rescalings", "dimension"] as const;
say(places.map((place: any, n: number) => {
  const net = networkAt(place, limits)!;
  const { layers, X } = weightsOf(net);
  const motions = all.map((motion) => {
    const now = movedBy(layers, motion, shares[n]);
    const has = motion === "head bases" || motion === "interfaces";
    const generators = has ? generatorsOf(layers, motion) : [];
    return [motion, generators, now, outputOf(now, X, net.kind)];
  });
  return [layers, X, outputOf(layers, X, net.kind), motions];
}));
"""
PLACES = """
import { networkAt } from "deep/ledger_network";
import { beside, fitOf, layersAt, spacingOf } from "deep/ledger_places";
const [limits, places] = given as any;
say(places.map(([place, given]: any) => {
  const net = networkAt(place, limits)!;
  const canGrow = net.headDims.length < limits.layers;
  const room = { ...given, canGrow };
  const fit = fitOf(net, room, null);
  const boxes = layersAt(net, room, fit);
  const spacing = spacingOf(net, room);
  return { fit, boxes, spacing, beside: beside(room), room };
}));
"""
WORDS = """
import { inParts, inWords, little, subscript } from "deep/ledger_words";
const functions: any = { inParts, inWords, little, subscript };
say((given as any).map(([name, value]: any) => functions[name](value)));
"""


def random_place(draw: random.Random, most: int, deepest: int) -> dict:
    """Controls of the ledger panel that say a network, in the ways that there are to
    say it."""
    layers = draw.randint(1, deepest)
    numbers = [draw.randint(1, most) for _ in range(2 * layers + 1)]
    place = {
        "width": draw.randint(1, most),
        "width_out": draw.randint(1, most),
        "layers": layers,
    }
    place |= {"head_dim": draw.randint(1, most), "tokens": draw.randint(1, 4)}
    place |= {"kind": draw.choice(["lightning", "softmax"])}
    place |= {"widths": "", "head_dims": ""}
    if draw.random() < 0.8:
        place["widths"] = ",".join(map(str, numbers[: layers + 1]))
    if draw.random() < 0.8:
        place["head_dims"] = " ".join(map(str, numbers[layers + 1 :]))
    return place


@pytest.mark.long
def test_the_page_counts_the_parameters_of_1000_random_networks_as_python_does():
    draw = random.Random(5)
    places = [
        random_place(draw, *draw.choice([(8, 2), (5, 3), (4, 4)])) for _ in range(1000)
    ]
    found = ask(COUNTS, [LIMITS, [[place, None] for place in places]])
    for place, page in zip(places, found, strict=True):
        arch = LedgerSetting(**place).arch
        counts = page["counts"]
        assert (tuple(page["net"]["widths"]), tuple(page["net"]["headDims"])) == (
            arch.widths,
            arch.head_dims,
        )
        # the controls that it would set
        assert LedgerSetting(**place | page["again"]).arch == arch
        ledger = nv.kernel_ledger(arch)
        parts = {name: parts_of(ledger, name) for name in FAMILIES}
        assert (
            counts["parameters"] == ledger.parameters == page["local"]["parameters"]
        ), arch
        assert tuple(counts["parts"]["head bases"]) == parts["head bases"], arch
        assert sum(counts["parts"]["rescalings"]) == ledger.entries.get(
            "rescalings", 0
        ), arch
        expected = nv.expected_dimension(arch).value
        assert counts["dimension"] == ledger.dimension == expected, arch
        if counts["isSure"]:
            assert {name: tuple(counts["parts"][name]) for name in FAMILIES} == parts
            assert counts["unexplained"] == ledger.unexplained, arch
            assert page["local"]["costs"] == [
                *map(sum, parts.values()),
                ledger.unexplained,
            ]
        else:
            assert sum(counts["parts"]["interfaces"]) >= sum(parts["interfaces"]), arch
        # What the page does not know it does not say.
        numbers = [row["number"] for row in page["rows"]]
        true = [
            ledger.parameters,
            *map(sum, parts.values()),
            ledger.unexplained,
            ledger.dimension,
        ]
        for number, wanted in zip(numbers, true, strict=True):
            assert number == "…" or int(number.replace("−", "")) == wanted, arch
    assert sum(page["counts"]["isSure"] for page in found) > 400


def test_a_layer_more_or_less_keeps_the_others():
    draw = random.Random(8)
    places = [random_place(draw, 5, 6) for _ in range(300)]
    for place, page in zip(
        places, ask(COUNTS, [LIMITS, [[one, None] for one in places]]), strict=True
    ):
        arch = LedgerSetting(**place).arch
        others = [LedgerSetting(**place | one).arch for one in page["others"]]
        less = others[: arch.num_layers * (arch.num_layers > 1)]
        more = others[-1]
        for i, one in enumerate(less):
            assert one.head_dims == arch.head_dims[:i] + arch.head_dims[i + 1 :]
            assert (one.widths[0], one.widths[-1]) == (arch.widths[0], arch.widths[-1])
        if arch.num_layers < sizes.MAX_LAYERS:
            assert more.head_dims == (*arch.head_dims, arch.head_dims[-1])
            assert more.widths == (*arch.widths[:-1], *arch.widths[-2:])


def test_controls_that_say_no_network_give_none():
    start = random_place(random.Random(1), 4, 2) | {
        "layers": 2,
        "widths": "",
        "head_dims": "",
    }
    wrong = [
        {"widths": "4"},
        {"widths": "4,x"},
        {"widths": "4,9"},
        {"head_dims": "2,1,2"},
    ]
    wrong += [{"widths": "1,2,3,4,5,6,7,8"}, {"head_dims": "0,2"}]
    program = """import { networkAt } from "deep/ledger_network";
    const [limits, places] = given as any;
    say(places.map((place: any) => networkAt(place, limits)));"""
    assert ask(program, [LIMITS, [start | one for one in wrong]]) == [None] * len(wrong)
    for one in wrong:
        with pytest.raises(ValueError):
            LedgerSetting(**start | one)


def by_name(layers: list[dict]) -> dict[str, np.ndarray]:
    """The page's layers as weights by name."""
    weights = {}
    for i, layer in enumerate(layers, start=1):
        for name in "QKV":
            weights[f"{i}.{name}"] = np.array(layer[name])
    return weights


def exponential(E: np.ndarray) -> np.ndarray:
    """By its eigenvalues, which are distinct for these E; the page sums the series."""
    values, vectors = np.linalg.eig(E)
    return ((vectors * np.exp(values)) @ np.linalg.inv(vectors)).real


def moved_in_python(arch, weights, motion, generators, s):
    """The weights after a time s; as they are for the straight line, which is no
    symmetry."""
    moved = dict(weights)
    layers = range(1, arch.num_layers + 1)
    if motion == "rescalings":
        for i in layers:
            moved[f"{i}.Q"] = np.exp(s) * weights[f"{i}.Q"]
            moved[f"{i}.V"] = np.exp(-s) * weights[f"{i}.V"]
    if motion == "head bases":
        for i, E in zip(layers, generators, strict=True):
            C = exponential(s * E)
            moved[f"{i}.Q"] = C @ weights[f"{i}.Q"]
            moved[f"{i}.K"] = np.linalg.inv(C).T @ weights[f"{i}.K"]
    if motion == "interfaces":
        for i, E in enumerate(generators, start=1):
            C = exponential(s * E)
            moved[f"{i}.V"] = C @ moved[f"{i}.V"]
            for name in "QKV":
                read = moved[f"{i + 1}.{name}"]
                moved[f"{i + 1}.{name}"] = read @ np.linalg.inv(C)
    return moved


def test_the_page_moves_weights_and_computes_outputs_as_python_does():
    draw = random.Random(6)
    still = 0
    moving = 0
    places = [random_place(draw, 4, 3) for _ in range(250)]
    shares = [draw.uniform(-1, 1) for _ in places]
    found = ask(MOTIONS, [LIMITS, places, shares])
    for place, s, (layers, X, output, motions) in zip(
        places, shares, found, strict=True
    ):
        kind = place["kind"]
        arch = LedgerSetting(**place).arch
        X = np.array(X)[None]
        before = by_name(layers)
        in_python = outputs(arch, Reals(), before, X)[0]
        np.testing.assert_allclose(output, in_python, rtol=AGREE, atol=AGREE)
        for motion, generators, moved, after in motions:
            now = by_name(moved)
            in_python = outputs(arch, Reals(), now, X)[0]
            np.testing.assert_allclose(after, in_python, rtol=AGREE, atol=AGREE)
            if motion != "dimension":
                generators = [np.array(E) for E in generators]
                wanted = moved_in_python(arch, before, motion, generators, s)
                for name, expected in wanted.items():
                    np.testing.assert_allclose(now[name], expected, atol=AGREE)
            if motion == "dimension" or (motion, kind) == ("rescalings", "softmax"):
                moving += np.abs(np.subtract(after, output)).max() > AGREE
            else:
                np.testing.assert_allclose(after, output, atol=AGREE)
                change = flatten(arch, now) - flatten(arch, before)
                still += np.abs(change).max(initial=0) > 0.01
    assert still > 500 and moving > 300


def test_in_1000_random_rooms_the_layers_stand_in_the_picture_and_apart():
    draw = random.Random(9)
    given = []
    for _ in range(1000):
        place = random_place(draw, 8, 6)
        note, button, width, height = draw.choice(
            [
                (12, 22, 450, 230),
                (12, 44, 358, 290),
                (16, 22, 450, 220),
                (16, 44, 358, 290),
            ]
        )
        given.append(
            [place, {"width": width, "height": height, "note": note, "button": button}]
        )
    for (place, room), page in zip(given, ask(PLACES, [LIMITS, given]), strict=True):
        boxes = page["boxes"]
        fit = page["fit"]
        gap = page["spacing"]["gap"]
        assert 2 <= fit["wide"] <= 24 and 2 <= fit["tall"] <= 20, (place, room, fit)
        end = page["beside"] + (room["button"] if page["room"]["canGrow"] else 0)
        assert boxes[-1]["right"] + end <= room["width"] + 1, (place, room)
        for box, after in zip(boxes, boxes[1:], strict=False):
            assert (
                after["left"] - box["right"] >= gap - 1e-6 >= page["beside"] - 1e-6
            ), (place, room)
            # The words above a layer, such as "a = 8", are some three letters wide.
            assert after["left"] - box["left"] >= 2.8 * room["note"], (place, room)
        for box in boxes:
            # Above it stand the words that say a, and above them the buttons.
            words = 8 + room["note"]
            assert box["crown"] - words >= room["button"], (place, room)
            assert box["tops"]["Q"] < box["tops"]["K"] < box["tops"]["V"] < box["low"]
            assert box["low"] + 18 <= room["height"], (place, room)


def test_numbers_in_words():
    shares = [0.004, 0.5, 9.99, 10, 69.325, 6932.51]
    said = [
        "less than 1 %",
        "50 %",
        "999 %",
        "10 times its size",
        "69 times its size",
        "6,900 times its size",
    ]
    asked = [["inWords", share] for share in shares]
    parts = [[], [9], [4, 4], [4, 4, 4], [4, 9, 4], [4, 9, 4, 4]]
    asked += [["inParts", one] for one in parts]
    sums = ["", "", ": 4 + 4", ": 3 × 4", ": 4 + 9 + 4", ": 4 + 9 + 4 + 4"]
    asked += [["little", 3.2e-16], ["little", 0], ["subscript", 12]]
    found = [words.replace("\u00a0", " ") for words in ask(WORDS, asked)]
    assert found == [*said, *sums, "3·10⁻¹⁶", "0", "₁₂"]


def rows_of(*names: str, **more) -> list[dict]:
    """What the page writes in its rows: name → words, for each study."""
    studies = [study(name) for name in names]
    given = [[one.place, plain(ledger_facts(one)) | more] for one in studies]
    return [
        {
            row["name"]: (
                "".join(said["text"] for said in row["why"]).replace("\u00a0", " ")
            )
            for row in page["said"]
        }
        for page in ask(COUNTS, [LIMITS, given])
    ]


def test_beside_each_bar_stands_why_it_is_there():
    names = [
        "start",
        "softmax",
        "one layer",
        "collapse",
        "deep and thin",
        "one token, softmax",
        "two causes",
    ]
    start, softmax, one, collapse, thin, token, causes = rows_of(*names)
    # Of the a² = 64 changes of basis (a − d)² = 49 move neither Q nor K: 2ad − d² = 15
    # directions.
    assert thin["head bases"] == "another basis, 2ad − d² for a > d: 6 × 15"
    assert start["head bases"] == "another basis inside a head: 4 + 4"
    assert start["rescalings"] == "A × c and V ÷ c in a layer: 1 + 1"
    assert start["parameters"] == "all entries of Q, K and V: 32 + 32"
    assert one["interfaces"] == "one layer: nothing between" != start["interfaces"]
    assert (
        softmax["rescalings"] == "softmax sees A × c: none"
        and token["rescalings"] == "softmax: none"
    )
    assert start["unexplained"] == "nothing left"
    assert collapse["unexplained"] == study("collapse").ledger.note
    assert start["dimension"] == "exact rank · Cor. 3.8: 38"
    assert (
        collapse["dimension"]
        == "exact rank · Theorem C: 18 · Eq. 14: 20 · does not apply"
    )
    # measured: the page alone is not sure of them
    assert causes["interfaces"].endswith(": 25 + 25")
    (negative,) = rows_of("the paper's formula negative")
    assert "−" in negative["dimension"] and "does not apply" in negative["dimension"]
    (unknown,) = rows_of("start", formula=None)
    assert unknown["dimension"] == "exact rank · no formula"


@pytest.mark.long
def test_facts_of_random_networks_have_the_form_that_the_page_expects():
    draw = random.Random(4)
    studies = [
        study_ledger(LedgerSetting(**random_place(draw, 5, 3))) for _ in range(60)
    ]
    studies += map(study, CASES)
    pictures = [ledger_picture(one) for one in studies]
    check_types(
        "LedgerFacts", "deep/ledger_facts", [plain(one.facts) for one in pictures]
    )
    check_types(
        "LedgerPlace", "deep/ledger_facts", [plain(one.place) for one in pictures]
    )


SWING = """
import { swing } from "deep/ledger_weights";
say(given.map(swing));
"""


def test_a_motion_goes_to_both_sides_holds_there_and_comes_home():
    shares = [n / 100 for n in range(101)]
    found = dict(zip(shares, ask(SWING, shares), strict=True))
    assert [found[at] for at in (0, 0.5, 1)] == pytest.approx([0, 0, 0])
    steps = np.diff(list(found.values()))
    assert abs(steps).max() < 0.12  # nothing leaps
    assert sum(steps == 0) >= 28  # of 100: it holds
    assert {found[0.25], found[0.75]} == {1, -1}
