"""The facts of the map of hypotheses: measured, and covered by a theorem only where one
holds."""

import random
from dataclasses import replace

import pytest
from node import ask, check_types
from panels import words_of
from test_accessibility import contrast

from neuroviz.attention import Architecture
from neuroviz.attention.formulas import general_formula, paper_formula
from neuroviz.deep.hypotheses import SIZES, HypothesesSetting, study_hypotheses
from neuroviz.deep.hypotheses_facts import MOST, hypotheses_facts, hypotheses_picture
from neuroviz.kit import theme
from neuroviz.kit.measured import measure_dimension
from neuroviz.kit.plot import plain


def study(**setting):
    return study_hypotheses(HypothesesSetting(**setting))


def facts_of(**setting):
    return hypotheses_facts(study(**setting))


def some_setting(draw: random.Random) -> HypothesesSetting:
    sizes = [draw.choice(SIZES) for _ in range(4)]
    kind = draw.choice(["lightning", "softmax"])
    over = draw.choice(["heads", "widths"])
    return HypothesesSetting(*sizes, draw.randint(1, 4), kind, over, draw.randint(0, 9))


def on_the_map(
    setting: HypothesesSetting, facts: dict, cell: dict
) -> HypothesesSetting:
    """The setting of a cell: that of the map, but for the controls of the two axes."""
    moved = {facts[axis]["control"]: cell[axis[:-1]] for axis in ("columns", "rows")}
    return replace(setting, **moved)


def said(words: list) -> str:
    return " ".join(line["text"] for line in words)


@pytest.mark.parametrize("over", ["heads", "widths"])
@pytest.mark.parametrize("kind", ["lightning", "softmax"])
def test_a_cell_says_what_is_measured_where_its_controls_go(kind, over):
    setting = HypothesesSetting(kind=kind, over=over, outer=3)
    facts = plain(hypotheses_facts(study_hypotheses(setting)))["map"]
    assert len(facts["cells"]) == len(SIZES) ** 2
    for cell in facts["cells"]:
        arch = on_the_map(setting, facts, cell).arch
        paper = paper_formula(arch)
        assert cell["measured"] == measure_dimension(arch).value
        assert cell["formula"] == paper.value
        applies = paper.status != "outside hypotheses"
        assert cell["covered"] == applies == ("does not apply" not in cell["says"])
        assert applies or cell["says"].endswith(paper.note)
        assert f"measured {cell['measured']}, Eq. " in cell["says"]
        assert f": {cell['formula']}" in cell["says"]


def test_the_numbers_come_from_the_measurements_and_a_contradiction_is_said():
    found = study()
    wrong = [
        replace(cell, measured=replace(cell.measured, value=cell.measured.value + 7))
        for cell in found.cells
    ]
    facts = hypotheses_facts(replace(found, cells=tuple(wrong)))["map"]
    for cell, before in zip(facts["cells"], found.cells, strict=True):
        assert cell["measured"] == before.measured.value + 7
        assert cell["measured"] - cell["formula"] == before.difference + 7
    assert said(facts["says"]) == "Cor. 3.8 DIFFERS"
    assert said(facts["legend"]).endswith("▨ at (2, 2), (2, 3), (2, 4), (3, 2), …")


@pytest.mark.parametrize(
    ("setting", "finding", "legend"),
    [
        ({}, "Eq. 14 is off in 4 of 25 cells", "frame: Cor. 3.8 applies"),
        (
            {"over": "widths"},
            "Eq. 14 is off in 20 of 25 cells",
            "▨ Cor. 3.8 does not apply",
        ),
        (
            {"tokens": 1},
            "Eq. 14 is off in 24 of 25 cells",
            "▨ t = 1: Cor. 3.8 does not apply",
        ),
        (
            {"kind": "softmax"},
            "Eq. 16 is right in all 25 cells",
            "□ Eq. 16 applies in every cell",
        ),
    ],
)
def test_the_finding_and_where_the_statement_applies_are_said(setting, finding, legend):
    facts = facts_of(**setting)["map"]
    assert said(facts["says"]) == finding
    assert said(facts["legend"]).endswith(legend)


def test_axes_are_named_with_what_the_map_does_not_vary():
    heads, widths = (facts_of(over=over)["map"] for over in ("heads", "widths"))
    assert heads["columns"]["title"] == "a₁ (widths 4→4→4)"
    assert widths["columns"]["title"] == "inner width δ (a = 1, 3)"
    assert widths["rows"]["title"] == "outer widths d₀ = d₂"


@pytest.mark.parametrize(
    ("setting", "verdict"),
    [
        ({}, "tokens parallel"),
        ({"head_1": 2}, "tokens apart"),
        ({"outer": 1}, "tokens on one line"),
        ({"tokens": 1}, "one token"),
        ({"kind": "softmax", "inner": 3}, "tokens nearly parallel"),
    ],
)
def test_the_angles_are_those_of_the_study_and_their_verdict_is_said(setting, verdict):
    found = study(**setting)
    facts = hypotheses_facts(found)["angles"]
    assert said(facts["says"]) == verdict
    assert [stage["degrees"] for stage in facts["stages"]] == [
        list(one) for one in found.angles
    ]
    assert [stage["name"] for stage in facts["stages"]] == [
        "input",
        "layer 1",
        "layer 2",
    ]
    assert bool(facts["key"]) == (len(found.angles[0]) > 1)


def test_no_network_is_off_by_more_than_the_darkest_colour():
    sizes = [(o, i, a, b) for o in SIZES for i in SIZES for a in SIZES for b in SIZES]
    for attention in ("lightning", "softmax"):
        for tokens in (1, 2):
            for o, i, a, b in sizes:
                arch = Architecture((o, i, o), (a, b), tokens, attention)
                assert (
                    abs(general_formula(arch).value - paper_formula(arch).value) <= MOST
                )


# Types and cells, under node


@pytest.mark.long
def test_facts_of_random_maps_have_the_form_that_the_page_expects():
    draw = random.Random(8)
    pictures = [
        hypotheses_picture(study_hypotheses(some_setting(draw))) for _ in range(40)
    ]
    facts = [plain(picture.facts) for picture in pictures]
    check_types("HypothesesFacts", "deep/hypotheses_facts", facts)
    check_types(
        "HypothesesPlace", "deep/hypotheses_facts", [one.place for one in pictures]
    )
    assert not any("$" in word for one in facts for word in words_of(one))


CELLS = """
import { cellAt, differenceOf, frameOf, isOfMap, nameOf } from "deep/hypotheses_cells";
say(given.map(([facts, exact, places]: any) => ({
  cells: facts.cells.map((one: any) => [
    differenceOf(one), nameOf(one, facts), frameOf(one, facts.cells),
  ]),
  at: places.map((place: any) => {
    const { column, row } = cellAt(place, facts);
    return [column, row, isOfMap(facts, exact, place)];
  }),
})));
"""


@pytest.mark.long
def test_the_page_finds_frames_and_1000_random_places_as_python_does():
    draw = random.Random(21)
    settings = [some_setting(draw) for _ in range(40)]
    maps = [hypotheses_picture(study_hypotheses(setting)) for setting in settings]
    places = [[vars(some_setting(draw)) for _ in range(25)] for _ in maps]
    for n, (picture, some) in enumerate(zip(maps, places, strict=True)):
        axes = [picture.facts["map"][name]["control"] for name in ("columns", "rows")]
        some[:20] = [
            picture.place | {name: one[name] for name in axes} for one in some[:20]
        ]
        some[0] = vars(settings[n])
    given = [
        [plain(one.facts["map"]), one.place, some]
        for one, some in zip(maps, places, strict=True)
    ]
    for (facts, exact, some), found in zip(given, ask(CELLS, given), strict=True):
        covered = {
            (cell["column"], cell["row"]) for cell in facts["cells"] if cell["covered"]
        }
        for cell, (difference, name, frame) in zip(
            facts["cells"], found["cells"], strict=True
        ):
            x = cell["column"]
            y = cell["row"]
            assert (
                int(difference.replace("−", "-")) == cell["measured"] - cell["formula"]
            )
            assert name.startswith(
                f"{difference} {cell['measured']} {cell['cause']}".strip()
            )
            assert name.endswith(
                f"{facts['columns']['name']} = {x}, {facts['rows']['name']} = {y}:"
                f" {cell['says']}"
            )
            beside = {
                "left": (x - 1, y),
                "right": (x + 1, y),
                "below": (x, y - 1),
                "above": (x, y + 1),
            }
            edges = [side for side, place in beside.items() if place not in covered]
            assert frame == (edges if (x, y) in covered else [])
        axes = [facts[name]["control"] for name in ("columns", "rows")]
        for place, (column, row, is_of_map) in zip(some, found["at"], strict=True):
            assert [column, row] == [place[name] for name in axes]
            same = all(place[name] == exact[name] for name in exact if name not in axes)
            assert is_of_map == same


WAYS = """
import { cellAfter, cellAt } from "deep/hypotheses_cells";
const [facts, place] = given;
const at = (keys: string[]) => keys.reduce(
  (cell, key) => cellAfter(key, cell, facts.cells)!, cellAt(place, facts),
);
const between = cellAt({ ...place, head_1: 2.6, head_2: 4.4 }, facts);
const cells = [
  at(["ArrowRight"]),
  at(["ArrowUp"]),
  at(["ArrowLeft"]),
  at(["ArrowDown", "End"]),
  at(["Home"]),
  between,
];
const other = cellAfter("x", facts.cells[0], facts.cells);
say([...cells.map(({ column, row }) => [column, row]), [other]]);
"""


def test_arrows_go_from_cell_to_cell_and_end_at_the_edge():
    picture = hypotheses_picture(study(head_1=1, head_2=3))
    found = ask(WAYS, [plain(picture.facts["map"]), picture.place])
    assert found == [[2, 3], [1, 4], [1, 3], [5, 2], [1, 3], [3, 4], [None]]


SHADES = """
import { shadeOf } from "deep/hypotheses_cells";
const { deficit, most, differences } = given;
say(differences.map((one: number) => {
  const cell = { measured: one, formula: 0 } as any;
  const { color, letters } = shadeOf(cell, most, deficit);
  return [color.match(/[0-9]+/g)!.map(Number), letters];
}));
"""


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_one_number_has_one_colour_on_all_maps_and_its_letters_are_read(look, mode):
    """A difference and its negative share it, 0 has its own, and the largest is the
    darkest."""
    look(mode)
    deficit = theme.scale("deficit")
    differences = [*range(-MOST, MOST + 1)]
    found = ask(SHADES, {"deficit": deficit, "most": MOST, "differences": differences})
    colors = ["#{:02X}{:02X}{:02X}".format(*color) for color, _ in found]
    assert colors == colors[::-1] and len(set(colors)) == MOST + 1
    assert colors[0] == deficit[0][1] and colors[MOST] == deficit[-1][1]
    for color, (_, letters) in zip(colors, found, strict=True):
        assert contrast(color, {"black": "#000000", "white": "#FFFFFF"}[letters]) >= 4.5
