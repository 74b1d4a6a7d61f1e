"""Theorem A's tokens in a browser: held by mouse, finger and keyboard, without a
kernel."""

import pytest
from scenes import dragged, middle, named, place, redraw, said, settle, touch

from neuroviz.softmax.immersion_panel import ProofExplorer

pytestmark = pytest.mark.browser


@pytest.mark.long
def test_a_token_is_dragged_until_it_meets_the_other(scene):
    page = scene(kind=ProofExplorer)
    one, other = (named(f"token {token} after layer 1") for token in (1, 2))
    (_, y), (u, _) = middle(page, one), middle(page, other)
    dragged(page, one, u - 3, y)
    here = place(page)
    assert (here["experiment"], here["mode_1"], here["mode_2"]) == (
        "own",
        "free",
        "true",
    )
    assert here["mu_1"] + here["nu_1"] == pytest.approx(1, abs=1e-9)
    # Layer 2 hears of it at once: equal tokens stay equal, and no share of theirs
    # shows.
    assert middle(page, one) == pytest.approx((u, y), abs=2)
    assert not page.locator(named("token 1 after layer 2")).is_visible()
    other, (u, y) = (
        named("token 2 at the start"),
        middle(page, named("token 2 at the start")),
    )
    dragged(page, other, u - 60, y)
    assert 0 < place(page)["input_2"] < 1 and middle(page, other) == pytest.approx(
        (u - 60, y), abs=2
    )
    assert "nv-ahead" in page.locator(".nv").get_attribute(
        "class"
    ) and "only Python says" in said(page)


def test_the_dot_goes_with_the_pointer_and_a_layer_is_frozen_by_a_click(
    scene,
):
    page = scene("experiment=only-1;mu_1=0.2;nu_1=0.2", kind=ProofExplorer)
    dot = named("(μ, ν) of layer 1")
    token = named("token 2 after layer 1")
    (x, y), before = middle(page, dot), middle(page, token)
    dragged(page, dot, x + 30, y - 10)
    assert middle(page, dot) == pytest.approx((x + 30, y - 10), abs=2)
    here = place(page)
    assert here["experiment"] == "only-1" and here["mu_1"] > 0.3 and here["nu_1"] > 0.2
    assert middle(page, token)[0] < before[0]
    layer = page.locator("[role=button][aria-label^='layer 1: ']")
    assert layer.get_attribute("aria-label") == "layer 1: free; press to freeze it"
    layer.click(position={"x": 4, "y": 40})
    here = place(page)
    assert (here["experiment"], here["mode_1"], here["mode_2"]) == (
        "own",
        "frozen",
        "frozen",
    )
    settle(page)
    assert (
        layer.get_attribute("aria-label")
        == "layer 1: frozen; press to have it as it is"
    )
    assert "layer 1: frozen" in page.locator(".layer .name").all_text_contents()
    layer.press("Enter")
    assert place(page)["mode_1"] == "true"


def test_the_keyboard_alone_sets_the_layers(scene):
    page = scene(kind=ProofExplorer)
    for label, key, name, way in (
        ("(μ, ν) of layer 1", "ArrowRight", "mu_1", 1),
        ("(μ, ν) of layer 1", "Shift+ArrowDown", "nu_1", -1),
        ("token 1 after layer 2", "ArrowRight", "mu_2", 1),
        ("token 2 after layer 2", "ArrowRight", "nu_2", -1),
        ("token 1 at the start", "ArrowRight", "input_1", 1),
    ):
        page.locator(named(label)).focus()
        # now the layer is the reader's own
        page.keyboard.press("ArrowUp" if "(" in label else "ArrowLeft")
        before = place(page)[name]
        page.keyboard.press(key)
        assert way * (place(page)[name] - before) > 0.005, (label, key)


def test_a_press_in_a_square_brings_the_dot_there(scene):
    page = scene("experiment=only-1;mu_1=0.8;nu_1=0.8", kind=ProofExplorer)
    x, y = middle(page, named("(μ, ν) of layer 1"))
    page.mouse.click(x - 20, y + 10)
    settle(page)
    here = place(page)
    assert here["experiment"] == "only-1" and here["mu_1"] < 0.7 and here["nu_1"] < 0.75
    assert middle(page, named("(μ, ν) of layer 1")) == pytest.approx(
        (x - 20, y + 10), abs=2
    )


def test_a_layer_that_a_relation_ties_has_nothing_to_hold(scene):
    page = scene("symmetric=0;experiment=frozen", kind=ProofExplorer)
    names = page.locator(".layer .name").all_text_contents()
    assert names == ["layer 1: cannot be set", "layer 2: frozen"]
    for label in ("(μ, ν) of layer 1", "token 1 after layer 1"):
        assert not page.locator(named(label)).count()
    assert page.locator("[role=button]").count() == 1


@pytest.mark.long
@pytest.mark.parametrize("width", [1100, 390])
def test_while_the_panel_asks_the_answers_are_hidden_and_the_numbers_are_not(
    scene, width
):
    states = (
        "experiment=own;mode_1=collapsed",
        "experiment=frozen",
        "experiment=frozen;symmetric=0",
    )
    page = scene(states[0], kind=ProofExplorer)
    page.add_style_tag(content=".nv-asking .nv-answer { visibility: hidden }")
    answers = ("they meet", "sees one token", "M₂ is hidden", "does nothing", "Q₁ = 1")
    seen = """(words) => [...box.querySelectorAll("tspan, h4 span")].some((one) =>
      !one.querySelector("tspan") && one.textContent.includes(words)
      && getComputedStyle(one).visibility === "visible")"""
    told = set()
    for state in states:
        redraw(page, ProofExplorer(state=state), width)
        settle(page)
        told |= {one for one in answers if page.evaluate(seen, one)}
        page.evaluate("box.closest('.nv').classList.add('nv-asking')")
        assert not any(page.evaluate(seen, one) for one in answers)
        assert page.locator("text", has_text="Q = ").first.is_visible()
        assert page.locator(".count").first.is_visible()
        page.evaluate("box.closest('.nv').classList.remove('nv-asking')")
    assert told == set(answers)


def test_under_a_mask_token_1_has_no_share(scene):
    page = scene("causal=yes", kind=ProofExplorer)
    assert not page.locator(named("token 1 after layer 1")).count()
    assert page.locator(named("token 2 after layer 1")).is_visible()
    assert (
        page.locator(named("(μ, ν) of layer 1"))
        .get_attribute("aria-valuetext")
        .startswith("ν₁")
    )
    assert not page.locator(".meeting").count()


def test_bars_are_as_long_as_their_numbers_and_what_cannot_be_made_is_hatched(
    scene,
):
    state = "symmetric=0;layers=3;experiment=frozen"
    for width, side in ((1100, "height"), (390, "width")):
        page = scene(state, kind=ProofExplorer)
        panel = ProofExplorer(state=state)
        columns = panel.facts["hidden"]["columns"]
        redraw(page, panel, width)
        settle(page)
        bars = page.locator(".column").all()
        assert len(bars) == len(columns)
        unit = None
        for bar, column in zip(bars, columns, strict=True):
            blocks = [
                float(one.get_attribute(side)) for one in bar.locator(".block").all()
            ]
            unit = unit or sum(blocks) / column["silent"]
            assert blocks == pytest.approx([unit * n for n in column["blocks"] if n])
            hatched = bar.locator(".hatched").count()
            assert hatched == (0 if column["possible"] else len(blocks))
            assert bar.locator(".count").text_content() == str(column["silent"])


def test_tokens_run_down_the_layers_and_stop_where_one_takes_hold(scene):
    page = scene(kind=ProofExplorer)
    page.get_by_role("button", name="run down the layers").click()
    first = "layer 1: from x₁ to x₂ it was 1.00, and is 0.66 after it"
    page.wait_for_function("words => box.textContent.includes(words)", arg=first)
    assert page.locator(".running circle").count() == 2
    x, y = middle(page, named("token 1 after layer 1"))
    dragged(page, named("token 1 after layer 1"), x + 10, y)
    assert page.locator(".running circle").count() == 0
    assert "from x₁ to x₂ it was" not in said(page)


def test_what_was_said_of_a_run_goes_with_it(scene):
    page = scene(kind=ProofExplorer)
    page.get_by_role("button", name="run down the layers").click()
    page.wait_for_function("box.textContent.includes('from x₁ to x₂ it was')")
    page.get_by_role("button", name="run down the layers").click()
    assert "from x₁ to x₂ it was" in said(page)
    page.evaluate("box.talk.set({input_2: 0.6})")
    settle(page)
    assert "from x₁ to x₂ it was" not in said(page)


def test_a_finger_drags_a_token_on_a_phone(phone):
    page = phone(ProofExplorer, 390, 844)
    label = "token 1 after layer 1"
    page.locator(named(label)).scroll_into_view_if_needed()
    box = page.locator(f"{named(label)} .ring").bounding_box()
    start = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    touch(page, start, (30, 0))
    here = page.evaluate("['experiment', 'mode_1'].map(neurovizScenes.talkOf(box).get)")
    assert here == ["own", "free"] and page.evaluate("cancelled") == []
    after = page.locator(f"{named(label)} .ring").bounding_box()
    assert after["x"] - box["x"] == pytest.approx(30, abs=6)
