"""Colours and sizes: legible in every mode, asked for by role, and written down in one
place only."""

import re
from itertools import product
from pathlib import Path
from threading import Event, Thread

import plotly.graph_objects as go
import pytest
from test_accessibility import contrast

import neuroviz
from neuroviz.kit import theme

PACKAGE = Path(neuroviz.__file__).parent
MODES = ("light", "dark")
SIZES = ("notebook", "lecture")
# roles that letters are set in
TEXT_ROLES = ("ink", "soft", "measured", "formula", "certified", "outside")
STATUSES = {
    "proved": "■",
    "proved here": "□",
    "exact": "●",
    "certified": "◆",
    "float": "≈",
    "observed": "○",
    "conjectured": "◇",
    "no formula": "–",
    "outside hypotheses": "▨",
}
HEX = re.compile(r"#(?:[0-9a-fA-F]{8}|[0-9a-fA-F]{6}|[0-9a-fA-F]{3,4})\b")


@pytest.mark.parametrize(
    ("role", "ground"),
    # Nothing is written in "certified" on a wash, and nothing may be: 4.1 in the light.
    sorted(
        set(product(TEXT_ROLES, ("ground", "panel", "wash"))) - {("certified", "wash")}
    ),
)
@pytest.mark.parametrize("mode", MODES)
def test_text_can_be_read_on_what_lies_behind_it(look, mode, role, ground):
    look(mode)
    assert contrast(theme.color(role), theme.color(ground)) >= 4.5


@pytest.mark.parametrize("mode", MODES)
def test_marks_and_focus_rings_stand_out_from_the_ground(look, mode):
    look(mode)
    for role in ("measured", "formula", "certified", "outside", "focus"):
        assert contrast(theme.color(role), theme.color("ground")) >= 3, role


def mixed(stops, place):
    """The colour at a place of a scale, rounded to a hex code."""
    (a, low), (b, high) = next(
        (p, q) for p, q in zip(stops, stops[1:], strict=False) if p[0] <= place <= q[0]
    )
    ends = ([int(code[i : i + 2], 16) for i in (1, 3, 5)] for code in (low, high))
    share = (place - a) / (b - a)
    return "#" + "".join(
        f"{round((1 - share) * x + share * y):02X}" for x, y in zip(*ends, strict=True)
    )


@pytest.mark.parametrize("name", ["diverging", "deficit"])
@pytest.mark.parametrize("mode", MODES)
def test_letters_on_a_scale_take_the_colour_that_stands_out_more(look, mode, name):
    look(mode)
    roles = []
    for place in [k / 200 for k in range(201)]:
        behind = mixed(theme.scale(name), place)
        role = theme.letters_on(name, place)
        found = {r: contrast(theme.color(r), behind) for r in ("ink", "ground")}
        assert found[role] >= 4 and found[role] > max(found.values()) - 0.05, place
        roles.append(role)
    assert set(roles) == {"ink", "ground"}  # neither would do for all of it


def test_at_the_light_ends_of_the_dark_scale_the_letters_are_dark(look):
    look("dark")
    for place in (0, 1):
        behind = mixed(theme.scale("diverging"), place)
        assert contrast(theme.color(theme.letters_on("diverging", place)), behind) > 7
        assert contrast(theme.color("ink"), behind) < 3


@pytest.mark.parametrize(
    ("name", "place"), [("rain", 0.5), ("diverging", -0.1), ("diverging", float("nan"))]
)
def test_there_are_no_letters_where_there_is_no_scale(name, place):
    with pytest.raises(ValueError, match="one of|from 0 to 1"):
        theme.letters_on(name, place)


@pytest.mark.parametrize("size", SIZES)
def test_the_margin_is_that_of_the_template(look, size):
    look(size=size)
    assert theme.template()["layout"]["margin"] == theme.margin()
    assert theme.margin()["t"] > theme.size("title")


def test_a_ghost_is_too_faint_for_text():
    """The check above has a failing case."""
    assert contrast(theme.color("ghost"), theme.color("ground")) < 4.5


def test_both_modes_know_the_same_roles(look):
    roles = set(theme._MODES["light"])
    assert roles == set(theme._MODES["dark"])
    look("dark")
    dark = {role: theme.color(role) for role in roles}
    look("light")
    assert all(dark[role] != theme.color(role) for role in roles)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", SIZES)
def test_the_template_is_opaque_and_in_the_look_asked_for(look, mode, size):
    look(mode, size)
    layout = go.layout.Template(theme.template()).layout
    assert layout.paper_bgcolor == layout.plot_bgcolor == theme.color("ground")
    assert layout.font.color == theme.color("ink") and layout.font.size == theme.size(
        "base"
    )
    assert (contrast(layout.paper_bgcolor, "#000000") < 3) == (mode == "dark")
    assert min(theme.size("tick"), theme.size("note")) >= (
        14 if size == "lecture" else 12
    )


@pytest.mark.parametrize(
    "wrong", [("pink",), ("Dark",), ("dark", "huge"), (None, "Lecture"), (1,), ("",)]
)
def test_an_unknown_look_is_refused_and_the_known_ones_are_named(wrong):
    with pytest.raises(
        ValueError,
        match=r"must be one of 'light', 'dark'|must be one of 'notebook', 'lecture'",
    ):
        theme.use(*wrong)
    assert theme.color("ground") == "#FFFFFF"  # nothing has changed


def test_mode_and_size_are_chosen_one_by_one(look):
    look("dark")
    look(size="lecture")
    assert theme.color("ground") == "#15181C" and theme.size("base") == 18
    look()
    assert theme.color("ground") == "#15181C" and theme.size("base") == 18


@pytest.mark.parametrize("ask", [theme.color, theme.size, theme.badge_html])
@pytest.mark.parametrize("name", ["meassured", "", None])
def test_an_unknown_role_size_or_status_is_refused_in_words(ask, name):
    with pytest.raises(ValueError, match="one of"):
        ask(name)


@pytest.mark.parametrize(("status", "glyph"), STATUSES.items())
def test_a_badge_says_its_status_without_the_colour(status, glyph):
    badge = theme.badge_html(status, "Cor. 3.8")
    words = "floating point" if status == "float" else status
    assert f"{glyph} {words} · Cor. 3.8" in badge and "·" not in theme.badge_html(
        status
    )


def test_badges_differ_without_their_colour():
    texts = [HEX.sub("", theme.badge_html(status)) for status in STATUSES]
    assert len(set(texts)) == len(STATUSES)


@pytest.mark.parametrize("mode", MODES)
def test_the_text_of_a_badge_can_be_read(look, mode):
    look(mode)
    badge = theme.badge_html("proved")
    ink, ground = (
        re.search(rf"{name}:(#\w+)", badge)[1] for name in (";color", "background")
    )
    assert contrast(ink, ground) >= 4.5


def test_a_badge_escapes_its_source():
    assert "<script>" not in theme.badge_html(
        "proved", "<script>"
    ) and "&lt;script&gt;" in theme.badge_html("proved", "<script>")


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: str(p.relative_to(PACKAGE))
)
def test_hex_codes_stand_in_the_theme_only(path):
    found = HEX.findall(path.read_text(encoding="utf-8"))
    assert bool(found) == (path.name == "theme.py"), found


def test_the_search_finds_hex_codes_and_lets_comments_pass():
    assert all(map(HEX.search, ('"#1668B0"', "'#fff'", "color:#14171A;", "#15181CFF")))
    assert not any(map(HEX.search, ("# a comment", "issue #12", "#define", "# 1668B0")))


def test_a_look_of_a_block_holds_in_its_thread_alone_and_undoes_no_choice_of_another(
    look,
):
    look("light", "notebook")
    seen = []
    inside = Event()
    chosen = Event()

    def callback():
        with theme.using({"size": "lecture"}):
            inside.set()
            chosen.wait()
            seen.append(theme.current())
        seen.append(theme.current())

    thread = Thread(target=callback)
    thread.start()
    inside.wait()
    assert theme.current() == {"mode": "light", "size": "notebook"}
    theme.use("dark")  # as a cell does
    chosen.set()
    thread.join()
    assert theme.current() == {"mode": "dark", "size": "notebook"}
    assert seen == [
        {"mode": "light", "size": "lecture"},
        {"mode": "dark", "size": "notebook"},
    ]


def test_a_choice_within_a_block_lasts_as_long_as_the_block(look):
    look("light")
    with theme.using({"size": "lecture"}):
        theme.use("dark")
        assert theme.current() == {"mode": "dark", "size": "lecture"}
        with (
            pytest.raises(ValueError, match="mode must be one of"),
            theme.using({"mode": "grey"}),
        ):
            pass
        assert theme.current() == {"mode": "dark", "size": "lecture"}
    assert theme.current() == {"mode": "light", "size": "notebook"}
