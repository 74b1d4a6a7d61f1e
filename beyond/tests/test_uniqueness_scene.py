"""Theorem B's two networks in a browser: held by mouse, finger and keyboard, without a
kernel."""

import pytest
from scenes import (
    ask,
    dragged,
    middle,
    named,
    pause,
    place,
    redraw,
    said,
    settle,
    touch,
)

from neuroviz_beyond.proofs.uniqueness_panel import SingletonExplorer

pytestmark = pytest.mark.browser


@pytest.mark.long
def test_the_dot_of_the_second_network_goes_its_way(scene):
    page = scene(kind=SingletonExplorer)
    dot = named("(μ, ν) of θ′")
    token = named("token 2 of θ′ after layer 1")
    assert not page.locator(named("(μ, ν) of θ")).is_visible()  # θ stands still
    (x, y), before = middle(page, dot), middle(page, token)
    dragged(page, dot, x, y - 20)
    assert place(page)["travel"] > 0.42
    assert middle(page, dot)[1] == pytest.approx(y - 20, abs=4)
    assert middle(page, token)[0] < before[0] - 5
    dragged(page, token, *before)
    assert place(page)["travel"] == pytest.approx(0.4, abs=0.02)


def test_the_words_of_python_are_dimmed_until_it_says_them_of_this_place(
    scene,
):
    page = scene("candidate=unrelated;travel=0.4", kind=SingletonExplorer)
    page.locator(named("(μ, ν) of θ′")).focus()
    page.keyboard.press("Shift+ArrowRight")
    settle(page)
    assert place(page)["travel"] == pytest.approx(0.5)
    assert "nv-ahead" in page.locator(".nv").get_attribute("class")
    assert "only Python says" in said(page)
    redraw(page, SingletonExplorer(state="candidate=unrelated;travel=0.5"))
    settle(page)
    assert "nv-ahead" not in page.locator(".nv").get_attribute("class")


def test_where_they_meet_there_is_a_ring_and_python_says_where(scene):
    page = scene("candidate=negative;travel=1", kind=SingletonExplorer)
    for side, words in (("left", "they meet at x₁"), ("right", "they meet at x₂")):
        view = page.locator(f".nv-view-{side}")
        assert view.locator("circle.meeting").is_visible()
        assert view.locator(".where").text_content() == words
    page.evaluate("box.talk.set({travel: 0.4})")
    settle(page)
    assert not page.locator("circle.meeting").first.is_visible()


def test_a_token_that_is_out_of_sight_is_named_at_the_edge(scene):
    for state, words in (
        ("candidate=positive;travel=0.7", "← x₁, 2.22 times as far"),
        ("candidate=positive;travel=1", "← x₁, ∞ times as far"),
        ("candidate=positive;travel=1;causal=yes", "x₂ →, ∞ times as far"),
    ):
        page = scene(state, kind=SingletonExplorer)
        for side in ("left", "right"):
            assert words in page.locator(f".nv-view-{side} svg").text_content()
        band = page.locator(".nv-view-left .band").bounding_box()
        text = page.locator(
            ".nv-view-left text.role-focus.nv-label:not(.where)"
        ).bounding_box()
        assert text["x"] > band["x"] - 5  # with its outline
        assert text["x"] + text["width"] < band["x"] + band["width"] + 5


def test_after_peeling_the_second_layer_moves(scene):
    page = scene("candidate=other M₂;travel=0.4", kind=SingletonExplorer)
    band = page.locator(".nv-view-left .band")
    before = float(band.get_attribute("y"))
    page.evaluate("box.talk.set({travel: 0.8})")
    settle(page)
    assert float(band.get_attribute("y")) > before + 50


def test_without_a_way_there_is_nothing_to_play_or_to_hold(scene, bare_page):
    page = scene(kind=SingletonExplorer)
    redraw(page, SingletonExplorer(state="candidate=the same"))
    settle(page)
    assert not page.locator(".nv-play").is_visible()
    assert page.locator(".nv-hint").inner_text() == ""
    assert not any(one.is_visible() for one in page.locator(".nv-handle").all())


def test_powers_are_set_as_powers(scene):
    page = scene("candidate=positive;rho=1/3", kind=SingletonExplorer)
    assert page.locator(".nv-view-maps h4 sup").all_text_contents() == ["1/3", "1/3"]


@pytest.mark.long
def test_a_finger_drags_the_dot_on_a_phone(phone):
    page = phone(SingletonExplorer, 390, 844)
    dot = page.locator(f"{named('(μ, ν) of θ′')} .ring")
    dot.scroll_into_view_if_needed()
    box = dot.bounding_box()
    start = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    touch(page, start, (0, -30))
    assert page.evaluate("neurovizScenes.talkOf(box).get('travel')") > 0.45
    assert page.evaluate("cancelled") == []
    assert dot.bounding_box()["y"] == pytest.approx(box["y"] - 30, abs=8)


def test_on_a_phone_tab_reaches_the_maps_first_as_they_stand_first(scene):
    page = scene("candidate=negative", kind=SingletonExplorer)

    def kinds() -> list[str]:
        hands = [one for one in ask(page, "hands") if not one.startswith("save")]
        kinds = ["map" if "(μ, ν)" in one else one.split()[0] for one in hands]
        return [one for n, one in enumerate(kinds) if [one] != kinds[n - 1 : n]]

    assert kinds() == ["token", "map", "token", "go"]
    redraw(page, SingletonExplorer(state="candidate=negative"), 390)
    assert kinds() == ["map", "go", "token"]
    redraw(page, SingletonExplorer(state="candidate=negative"))
    assert kinds() == ["token", "map", "token", "go"]


# ▶


@pytest.mark.long
@pytest.mark.parametrize(
    ("state", "moments", "words"),
    [
        (
            "travel=0",
            (0, "arrival"),
            ["true exponentials", "P′ goes to 0 and Q′ to ∞", "meet in θ′ only"],
        ),
        (
            "candidate=positive;travel=0",
            (0, 0.5, 0.58, "arrival"),
            [
                "true exponentials",
                "Q and Q′ go to 0",
                "x₁ runs away",
                "x₁ has left the picture",
                "meet in θ′ only",
            ],
        ),
        (
            "candidate=other M₂;travel=0",
            (0, 0.5),
            [
                "true exponentials",
                "layer 1 is frozen",
                "in layer 2 P′Q′ goes to 1",
                "meet in θ′ only",
            ],
        ),
        (
            "candidate=negative;travel=0",
            (0, "arrival"),
            ["true exponentials", "so P′ goes to ∞", "in both, in different places"],
        ),
    ],
)
def test_play_holds_where_something_happens_and_says_what(
    scene, bare_page, state, moments, words
):
    bare_page.clock.install()
    page = scene(state, kind=SingletonExplorer)
    pause(page)
    page.clock.run_for(500)
    page.locator(".nv-play").click()
    stops, told = [], []
    for _ in range(160):
        page.clock.run_for(100)
        stops.append(place(page)["travel"])
        said_now = page.locator(".nv-story").text_content()
        told += [said_now] * (said_now not in told)
    assert len(told) == len(words), told
    for now, word in zip(told, words, strict=True):
        assert word in now
    held = [at for at in dict.fromkeys(stops) if stops.count(at) >= 9]
    assert held[-1] == 1
    known = [at for at in moments if at != "arrival"]
    assert held[: len(known)] == pytest.approx(known, abs=0.03)
    assert len(held) == len(moments) + 1
    if "arrival" in moments:
        assert known[-1] < held[-2] < 0.9


def test_where_motion_is_reduced_it_goes_from_moment_to_moment(scene, bare_page):
    bare_page.clock.install()
    page = scene("candidate=other M₂;travel=0", "reduce", SingletonExplorer)
    pause(page)
    page.locator(".nv-play").click()
    stops = []
    for _ in range(60):
        page.clock.run_for(100)
        stops.append(place(page)["travel"])
    assert list(dict.fromkeys(stops)) == [0, 0.5, 1]


def test_play_begins_at_the_beginning_and_goes_on_where_it_was_stopped(
    scene, bare_page
):
    bare_page.clock.install()
    page = scene("candidate=unrelated;travel=0.4", kind=SingletonExplorer)
    pause(page)
    page.clock.run_for(500)
    play = page.locator(".nv-play")
    play.click()
    page.clock.run_for(200)
    assert place(page)["travel"] == 0
    page.clock.run_for(3000)
    play.click()
    stopped = place(page)["travel"]
    assert 0 < stopped < 1
    play.click()
    page.clock.run_for(100)
    assert place(page)["travel"] == pytest.approx(stopped, abs=0.05)
