"""Lightning beside softmax: numbers come from measurements, rows from the board, and nothing breaks."""

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from panels import PATIENCE, bare, ends, headlines, plain, said, texts, title, trace
from panels import text as written

from neuroviz.certificate.certificate import ROUTES
from neuroviz.engine.architecture import Architecture
from neuroviz.engine.formulas import collapsing_layer, expected_dimension
from neuroviz.engine.ledger import kernel_ledger
from neuroviz.engine.measure import measure_dimension
from neuroviz.kit import theme
from neuroviz.kit.plot import make, redraw
from neuroviz.softmax.known import QUESTIONS
from neuroviz.softmax.overview import SoftmaxSetting
from neuroviz.softmax.overview_board import ROWS
from neuroviz.softmax.overview_figure import softmax_parts
from neuroviz.softmax.overview_panel import MAX_HEAD, MAX_LAYERS, MAX_WIDTH, SoftmaxExplorer, study_softmax

VISIBLE = ["width", "head_dim", "tokens", "layers", "temperature"]
MORE = ["inner", "widths", "head_dims", "proof", "seed"]
CASES = {
    "start": SoftmaxSetting(),
    "bottleneck": SoftmaxSetting((4, 3, 5), (2, 2)),
    "three layers": SoftmaxSetting((3, 3, 3, 3), (2, 2, 2)),
    "one layer": SoftmaxSetting((3, 2), (2,)),
    "swap": SoftmaxSetting((3, 1), (1,)),
    "collapse": SoftmaxSetting((3, 3, 3), (1, 2), route="exact rank"),
    "widening": SoftmaxSetting((2, 4, 2), (2, 2), route="ball"),
    "one token": SoftmaxSetting((3, 3), (2,), 1, route="ball"),
    "one token, deep": SoftmaxSetting((4, 4, 4), (2, 2), 1),
    "width one": SoftmaxSetting((1, 1, 1), (1, 1)),
    "all ones": SoftmaxSetting((1, 1), (1,), 1),
    "wide heads": SoftmaxSetting((2, 2), (8,)),
    "hot": SoftmaxSetting(temperature=1e5),
    "cold": SoftmaxSetting(temperature=10**-1.5),
    "ball": SoftmaxSetting((3, 3, 3), (2, 2), route="ball"),
}
BOTH = ("lightning", "softmax")


@cache
def study(name):
    return study_softmax(CASES[name])


def rows(figure):
    """What stands on each row of the board: its name, the answer for lightning, that for softmax."""
    notes = [a for a in figure.layout.annotations if a.xref == a.yref == "paper" and a.text]
    heights = sorted({a.y for a in notes if a.y < 0.4}, reverse=True)
    return [
        [bare(a.text) for a in sorted((n for n in notes if n.y == y), key=lambda a: a.x)] for y in heights
    ]


@pytest.fixture(scope="module")
def shared():
    panel = SoftmaxExplorer()
    yield panel
    panel.cancel()
    panel.close()


@pytest.fixture
def panel(shared):
    """A panel at its start: the same one, since it has to survive everything."""
    shared.reset()
    assert shared.wait(PATIENCE) and shared.status.startswith("done")
    return shared


# What is measured


@pytest.mark.parametrize("name", CASES)
def test_dimensions_and_ledgers_are_those_of_the_measurements(name):
    found, setting = study(name), CASES[name]
    for attention in BOTH:
        side = getattr(found, attention)
        arch = Architecture(setting.widths, setting.head_dims, setting.tokens, attention)
        assert side.arch == arch and side.exact == measure_dimension(arch)
        assert side.ledger == kernel_ledger(arch) and side.board.measured == side.exact
        assert side.exact.value == side.ledger.dimension == expected_dimension(arch).value


@pytest.mark.parametrize("name", CASES)
def test_softmax_has_one_dimension_more_for_each_layer_unless_something_hides_A(name):
    found = study(name)
    arch = found.lightning.arch
    if arch.tokens > 1 and collapsing_layer(arch) is None:
        assert found.difference == arch.num_layers


def test_rank_one_makes_the_difference_larger_and_a_single_token_turns_it_round():
    assert study("collapse").difference == 4 > 2
    assert study("one token").difference == -5


@pytest.mark.parametrize("tau", [0.1, 3.0, 1e4])
def test_the_temperature_moves_the_spectrum_of_softmax_and_nothing_else(tau):
    cool, hot = study("start"), study_softmax(SoftmaxSetting(temperature=tau))
    for attention in BOTH:
        one, two = getattr(cool, attention), getattr(hot, attention)
        assert one.exact == two.exact and one.ledger == two.ledger and one.board == two.board
    same = [
        np.allclose(np.log10(one[:38]), np.log10(two[:38]), atol=0.2)
        for one, two in (
            (getattr(cool, a).spectrum.singular_values, getattr(hot, a).spectrum.singular_values)
            for a in BOTH
        )
    ]
    assert same == [True, False]


def test_a_chosen_route_confirms_or_says_why_it_cannot():
    for attention in BOTH:
        confirmed = getattr(study("ball"), attention)
        assert confirmed.board.certificate.route == "ball" and confirmed.refusal == ""
        refused = getattr(study("one token"), attention)
        assert refused.board.certificate is None and "not full" in refused.refusal


def test_too_many_columns_for_a_route_are_refused_and_theorems_never_are():
    large = SoftmaxSetting((8,) * 3, (4,) * 2, 3, 1.0, "ball")
    assert "tries it up to" in study_softmax(large).softmax.refusal
    assert study_softmax(replace(large, route="theorem")).softmax.refusal == ""


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"temperature": 0.0}, "above 0"),
        ({"temperature": float("nan")}, "above 0"),
        ({"route": "hope"}, "route must be"),
        ({"head_dims": (2,)}, "head dimension"),
        ({"widths": (4, 0, 4)}, "whole numbers"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(change, match):
    with pytest.raises(ValueError, match=match):
        SoftmaxSetting(**change)


# What is drawn


@pytest.mark.parametrize("name", CASES)
def test_bars_add_up_to_the_parameters_and_begin_with_the_dimension(name):
    figure, found = make(softmax_parts(study(name))), study(name)
    for attention in BOTH:
        side = getattr(found, attention)
        bars = [t for t in figure.data if t.type == "bar" and t.name.startswith(attention)]
        sizes = [t.x[0] for t in bars]
        assert sizes[0] == side.exact.value and sum(sizes) == side.arch.num_parameters
        assert [t.base[0] for t in bars] == [sum(sizes[:i]) for i in range(len(sizes))]
        assert [t.visible for t in bars] == [size > 0 for size in sizes]
        total = f"{side.arch.num_parameters} = {side.exact.value} +"
        assert any(re.sub(r" +", " ", bare(t)).startswith(total[:-2]) for t in texts(figure))


@pytest.mark.parametrize("name", CASES)
def test_the_line_of_the_exact_rank_splits_the_singular_values(name):
    figure, found = make(softmax_parts(study(name))), study(name)
    for attention in BOTH:
        side = getattr(found, attention)
        line = trace(figure, f"{attention}: exact rank (measured)")
        kept = trace(figure, f"{attention}: singular values up to the exact rank")
        noise = trace(figure, f"{attention}: singular values that are rounding noise")
        assert set(line.x) == {side.exact.value + 0.5}
        assert len(kept.x) == side.exact.value and len(kept.x) + len(noise.x) == side.arch.num_parameters
        drawn = [*kept.y, *noise.y]
        np.testing.assert_allclose(drawn, np.maximum(side.spectrum.singular_values, 1e-17))


def test_a_changed_measurement_changes_the_picture():
    before = study("start")
    for attention in BOTH:
        side = getattr(before, attention)
        wrong = replace(side, exact=replace(side.exact, value=side.exact.value - 7))
        figure = make(softmax_parts(replace(before, **{attention: wrong})))
        assert set(trace(figure, f"{attention}: exact rank (measured)").x) == {side.exact.value - 6.5}
        assert f"exact rank {side.exact.value - 7}" in re.sub(" +", " ", bare(" ".join(texts(figure))))
        ledger = replace(side, ledger=replace(side.ledger, dimension=side.ledger.dimension - 7))
        figure = make(softmax_parts(replace(before, **{attention: ledger})))
        assert trace(figure, f"{attention}: dimension (measured)").x[0] == side.exact.value - 7


def test_a_float_reading_that_is_wrong_is_said_to_be():
    cold = headlines(make(softmax_parts(study("cold"))))
    assert any(re.search(r"floats read \d+, not 40", text) for text in cold)
    assert not any(", not" in text for text in headlines(make(softmax_parts(study("start")))))
    assert any("undecided" in text for text in headlines(make(softmax_parts(study("hot")))))


@pytest.mark.parametrize("name", CASES)
def test_the_rows_are_those_of_the_board_with_glyph_word_and_note(name):
    found, figure = study(name), make(softmax_parts(study(name)))
    shown = rows(figure)
    assert [row[0] for row in shown] == [name for name, _ in ROWS]
    for row, (_, questions) in zip(shown, ROWS, strict=True):
        for cell, attention in zip(row[1:], BOTH, strict=True):
            board = getattr(found, attention).board
            entry = next(filter(None, map(board.entry, questions)))
            assert entry.answer in cell and f"{theme.glyph(entry.status)[0]} {entry.status}" in cell
            hovers = [a.hovertext for a in figure.layout.annotations if a.hovertext]
            assert any(entry.note in re.sub("<br>", " ", text) for text in hovers)


def test_every_row_asks_a_question_that_the_board_knows():
    assert {question for _, questions in ROWS for question in questions} <= set(QUESTIONS)


@pytest.mark.parametrize("name", ["start", "collapse", "one token", "hot"])
@pytest.mark.parametrize("choice", [("light", "notebook"), ("dark", "lecture")])
def test_rows_fit_into_their_columns(name, choice):
    """Half an em a letter is more than this font takes on average; 1068 pixels are drawn on."""
    with theme.using({"mode": choice[0], "size": choice[1]}):
        size = theme.size("note")
        for row in rows(make(softmax_parts(study(name)))):
            for cell in row[1:]:
                assert 0.5 * size * len(cell) < 0.45 * 1068, cell


@pytest.mark.parametrize("choice", [("light", "notebook"), ("dark", "lecture")])
def test_an_update_in_place_gives_the_same_figure(choice):
    with theme.using({"mode": choice[0], "size": choice[1]}):
        names = ["start", "collapse", "one token", "width one", "hot", "ball", "swap"]
        figure = make(softmax_parts(study(names[0])))
        for before, after in zip(names, names[1:], strict=False):
            redraw(figure, softmax_parts(study(before)), softmax_parts(study(after)))
            assert plain(figure) == plain(make(softmax_parts(study(after))))
        redraw(figure, None, softmax_parts(study(names[0])))
        assert plain(figure) == plain(make(softmax_parts(study(names[0]))))


@pytest.mark.parametrize("name", CASES)
def test_no_text_has_a_dollar_sign(name):
    assert not any("$" in text for text in said(make(softmax_parts(study(name)))))


# The panel


def test_five_controls_are_seen_at_first(panel):
    assert list(panel.controls) == VISIBLE + MORE


@pytest.mark.parametrize("name", VISIBLE + MORE)
def test_every_control_goes_to_both_ends_without_an_error(panel, name):
    for value in ends(panel.controls[name]) if name not in ("widths", "head_dims") else ("", " "):
        panel.controls[name].value = value
        assert panel.wait(PATIENCE) and panel.status.startswith("done"), (name, value, panel.status)


@pytest.mark.parametrize(
    ("state", "widths", "head_dims"),
    [
        ("", (4, 4, 4), (2, 2)),
        ("layers=3;inner=2", (4, 2, 2, 4), (2, 2, 2)),
        ("layers=1;inner=2", (4, 4), (2,)),
        ("widths=4,3,5;head_dims=2,1;layers=6;inner=7", (4, 3, 5), (2, 1)),
        ("head_dims=1,3;head_dim=8", (4, 4, 4), (1, 3)),
    ],
)
def test_the_controls_ask_for_this_network(panel, state, widths, head_dims):
    panel.state = state
    request = panel._read()
    assert (request.widths, request.head_dims) == (widths, head_dims)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("widths", "4", "2 to 7 numbers"),
        ("widths", "4,x", "whole numbers"),
        ("widths", "4,9", "from 1 to 8"),
        ("head_dims", "2", "needs 2 numbers"),
        ("head_dims", "2,9", "from 1 to 8"),
    ],
)
def test_a_text_that_makes_no_sense_is_explained_and_the_panel_lives(panel, name, value, says):
    before = panel.description
    panel.controls[name].value = value
    assert says in panel.status and panel.description == before
    panel.controls[name].value = ""
    assert panel.wait(PATIENCE) and panel.status.startswith("done")


def test_random_states_come_back_and_none_fails(panel):
    for state in states_of_small_networks(12, seed=0):
        panel.state = state
        assert panel.wait(PATIENCE) and panel.status.startswith("done"), (state, panel.status)
        request = panel._read()
        found = panel.description
        panel.reset()
        assert panel.wait(PATIENCE)
        panel.state = state
        assert panel.wait(PATIENCE) and panel._read() == request and panel.description == found


def states_of_small_networks(count, seed):
    draw = np.random.default_rng(seed)
    for _ in range(count):
        values = {
            "width": draw.integers(1, 5),
            "head_dim": draw.integers(1, 5),
            "tokens": draw.integers(1, 5),
            "layers": draw.integers(1, 4),
            "inner": draw.integers(0, 5),
            "temperature": draw.integers(-6, 21) / 4,
            "proof": draw.choice(("theorem", "exact rank")),
            "seed": draw.integers(0, 100),
        }
        yield ";".join(f"{name}={written(value)}" for name, value in values.items())


def test_small_networks_are_answered_at_once_and_large_ones_in_the_background(panel):
    assert not panel._is_slow(CASES["start"]) and not panel._is_slow(CASES["hot"])
    large = SoftmaxSetting((MAX_WIDTH,) * (MAX_LAYERS + 1), (MAX_HEAD,) * MAX_LAYERS)
    assert panel._is_slow(large)
    assert panel._is_slow(SoftmaxSetting((6, 6, 6), (3, 3), route="ball"))


def test_the_largest_network_is_answered_without_a_spectrum(panel):
    panel.state = f"width={MAX_WIDTH};head_dim={MAX_HEAD};layers={MAX_LAYERS};tokens=2"
    assert panel.wait(PATIENCE) and panel.status.startswith("done")
    assert "too large for this panel" in panel.description
    assert sum("no spectrum here" in text for text in headlines(panel.figure)) == 2


def test_the_words_say_the_numbers_the_theorems_and_what_floats_see(panel):
    assert "38 dimensions as lightning, 40 as softmax, measured exactly" in panel.description
    assert "lightning, 2 rescalings (Thm. 3.7, proved)" in panel.description
    assert "softmax, one point (Theorem B, proved here)" in panel.description
    panel.state = "temperature=-1"
    assert "floating point reads 38 for softmax" in panel.description
    panel.state = "temperature=5"
    assert "reads the same number for softmax, without a gap that decides" in panel.description
    panel.state = "temperature=0;width=1;layers=1"
    assert "1 dimension as lightning, 2 as softmax, measured exactly; one more, as" in panel.description
    panel.reset()
    panel.state = "head_dims=1,2;widths=3,3,3;proof=ball"
    assert "18 dimensions as lightning, 22 as softmax" in panel.description
    assert "softmax has 4 more" in panel.description and "lightning, none (rank 18 of 20" in panel.description


def test_the_badges_follow_the_sliders(panel):
    assert "● exact · lightning 38, softmax 40 mod 8 388 593" in title(panel)
    panel.state = "tokens=1"
    assert "lightning 34, softmax 16" in title(panel) and "≠" not in title(panel)


def test_a_measurement_against_theory_is_said_in_the_badge_and_in_words(panel):
    side = study("start").softmax
    wrong = replace(study("start"), softmax=replace(side, exact=replace(side.exact, value=39)))
    assert "Corollary A: 40 ≠ measured" in panel._badge(wrong)
    assert "theory says 40 for softmax: they DISAGREE" in panel._describe(wrong)
    assert "DISAGREE" not in panel._describe(study("start"))


def test_all_routes_can_be_chosen(panel):
    assert tuple(panel.controls["proof"].options) == ROUTES
    for route in ROUTES:
        panel.state = f"width=3;proof={route}"
        assert panel.wait(PATIENCE) and f"by {route}" in " ".join(texts(panel.figure))
