"""The explorer of singular points in any size: what its picture claims is what is counted."""

import pytest
from panels import bare, headlines, said

from neuroviz.kit import theme
from neuroviz.kit.plot import make
from neuroviz.singular.ranks import singular_facts
from neuroviz.singular.singularity_figure import singularity_parts
from neuroviz.singular.singularity_panel import SingularityExplorer

VISIBLE = ["d", "d_out", "a", "s", "b"]
MORE = ["values", "seed"]
STATES = [
    "",
    "b=0.6",
    "s=0.5;b=0.5;d=3;a=3",
    "a=2;s=1;b=1",
    "a=2;values=no;b=0.3",
    "a=1;d_out=1;s=1;b=0.5",
    "d=2;d_out=1;a=2;s=0.99",
    "d=6;d_out=6;a=6;seed=9",
]
BAD_STATES = ["d=1", "d=7", "d_out=0", "a=0", "s=1.01", "b=-0.1", "values=1", "seed=-1", "rank=1"]


@pytest.fixture(scope="module")
def shared():
    panel = SingularityExplorer()
    yield panel
    panel.close()


@pytest.fixture
def panel(shared):
    shared.reset()
    assert shared.status.startswith("done")
    return shared


# What it shows


@pytest.mark.parametrize(
    ("state", "finding", "verdict"),
    [
        ("d=4;s=1;b=1", "kernel jumps from 1 to d = 4 at the boundary", "singular: boundary"),
        ("d=5;a=5;s=1;b=1", "kernel jumps from 1 to d = 5 at the boundary", "singular: boundary"),
        ("s=1;b=0.99", "kernel 1: only the rescaling", "singular: branches cross"),
        ("s=0.99;b=1", "kernel 1: only the rescaling", "a smooth point"),
        ("a=2;s=1;b=0.5", "kernel 1: only the rescaling", "singular: branches cross"),
        ("a=2;s=1;values=no", "kernel 1: only the rescaling", "singular: rank A < a"),
        ("a=4;s=1;values=no", "kernel 1: only the rescaling", "a smooth point"),
        ("a=1;d_out=1", "kernel jumps from 1 to d = 4 at the boundary", "outside Theorem 3.4"),
    ],
)
def test_the_headlines_say_what_is_found(panel, state, finding, verdict):
    panel.state = state
    found = headlines(panel.figure)
    assert found[0] == finding and found[-1] == verdict


@pytest.mark.parametrize("state", STATES)
def test_the_numbers_shown_are_those_counted(panel, state):
    panel.state = state
    facts = singular_facts(panel._read())
    texts = " ".join(map(bare, said(panel.figure)))
    assert f"kernel: {facts.kernel} (exact)" in texts and f"exact rank {facts.image}" in texts
    values = [t for t in panel.figure.layout.annotations if t.align == "right" and "<b>" in t.text][0].text
    rows = [bare(row) for row in values.split("<br>")]
    assert rows[0] == f"{facts.rank_a}, {facts.rank_v}"
    assert rows[2:5] == [str(facts.dimension), str(facts.directions), str(facts.kernel)]
    assert rows[5].split()[0] == str(facts.image)
    assert rows[6:] == [str(facts.preimages), "–" if facts.span is None else str(facts.span)]


@pytest.mark.parametrize("state", STATES)
def test_every_singular_value_is_drawn_once_and_those_of_the_kernel_are_hollow(panel, state):
    panel.state = state
    study = panel._shown
    drawn = {x: (y, t.marker.symbol) for t in panel.figure.data[:3] for x, y in zip(t.x, t.y, strict=True)}
    assert sorted(drawn) == list(range(1, study.facts.directions + 1))
    hollow = [x for x, (_, symbol) in drawn.items() if symbol == "circle-open"]
    assert sorted(hollow) == list(range(study.facts.image + 1, study.facts.directions + 1))
    assert all(drawn[x][0] < 1e-9 for x in hollow) and len(hollow) == study.facts.kernel


def test_the_curves_say_how_many_values_fall(panel):
    panel.state = "d=4;s=1;b=1"
    assert headlines(panel.figure)[1:3] == ["3 fall to 0 as s → 1", "3 fall to 0 as b → 1"]
    panel.state = "s=1;b=0.5"
    assert headlines(panel.figure)[1:3] == ["none falls to 0 as s → 1", "3 fall to 0 as b → 1"]
    panel.state = "s=0.5;b=1"
    assert headlines(panel.figure)[1:3] == ["3 fall to 0 as s → 1", "none falls to 0 as b → 1"]
    panel.state = "d=2;a=2;s=1;b=1"
    assert headlines(panel.figure)[1] == "1 falls to 0 as s → 1"
    panel.state = "d=4;a=2;s=1;b=1"
    assert headlines(panel.figure)[1] == "3 fall to 0 as s → 1"


def test_a_curve_meets_the_spectrum_where_the_reader_stands(panel):
    panel.state = "s=0.5;b=0.25"
    values = panel._shown.spectrum[::-1]
    for path, place in ((panel._shown.by_s, 0.5), (panel._shown.by_b, 0.25)):
        at = path.places.index(place)
        assert path.values[at] == pytest.approx(values[: len(path.values[at])], abs=1e-6)


def test_the_description_says_why_a_smaller_rank_is_singular_for_a_below_d(panel):
    panel.state = "a=2;s=1;b=0.5"
    assert "reaches 23 dimensions where the set has 19" in panel.description
    panel.state = "a=4;s=1;b=0.5"
    assert "where the set has" not in panel.description


def test_badges_say_what_is_proved_and_what_is_counted(panel):
    panel.state = "s=1;b=1"
    assert "Thm. 3.4" in panel._title_html.value and "● exact · kernel 4" in panel._title_html.value
    panel.state = "a=2;values=no"
    assert "proved here · Thm. 3.4, a &lt; d" in panel._title_html.value
    panel.state = "a=1;d_out=1"
    assert "▨ outside hypotheses · Thm. 3.4" in panel._title_html.value


def test_v_of_one_row_cannot_keep_a_larger_rank(panel):
    assert not panel.controls["values"].disabled
    panel.controls["d_out"].value = 1
    assert panel.controls["values"].disabled


# What every picture owes its reader


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("size", ["notebook", "lecture"])
def test_a_figure_has_its_ground_and_readable_letters_in_every_look(panel, mode, size):
    answer = panel._shown
    theme.use(mode, size)
    try:
        figure = make(singularity_parts(answer))
        assert figure.layout.template.layout.paper_bgcolor == theme.color("ground")
        assert figure.layout.height == theme.size("height")
        sizes = [a.font.size for a in figure.layout.annotations if a.font.size]
        assert min(sizes) >= (14 if size == "lecture" else 12)
    finally:
        theme.use("light", "notebook")


@pytest.mark.parametrize("state", BAD_STATES)
def test_a_bad_state_is_refused_and_changes_nothing(panel, state):
    before = panel.state, panel.description
    with pytest.raises(ValueError):
        panel.state = state
    assert (panel.state, panel.description) == before


def test_few_controls_are_visible_and_the_rest_is_under_more(panel):
    assert list(panel.controls) == VISIBLE + MORE
    homes = {child: box for box in panel.children for child in getattr(box, "children", ())}
    assert all(homes[panel.controls[name]].layout.display == "flex" for name in VISIBLE)
    assert all(homes[panel.controls[name]].layout.display == "none" for name in MORE)
