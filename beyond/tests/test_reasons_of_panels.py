"""Every badge of the panels beyond the paper answers, and a tick is a hypothesis that
holds for the setting in hand."""

import re
from html import unescape

import pytest

import neuroviz as nv
import neuroviz_beyond as nb
import neuroviz_beyond.explorables as explorables
from neuroviz_beyond.reasons import PAGES

# Panel → states; those after "" are special, or outside of a theorem.
STATES = {
    "BlendingExplorer": (
        "",
        "slant=0.3",
        "view=heads;head_dim=2",
        "view=heads;head_dim=2;shared=yes",
        "view=heads;head_dim=2;heads=4",
    ),
    "FlagExplorer": ("", "widths=3,3,3;head_dims=1,2", "kind=softmax;tokens=1"),
    "FormulaExplorer": (
        "",
        "family=skip;formula=l*(alpha(a, d) + d**2 - 1);known=yes",
        "family=heads-many;known=yes",
        "family=deep;known=yes",
    ),
    "MemorisationExplorer": ("", "targets=random", "targets=teacher;over=P"),
    "RealModelsExplorer": ("", "parts=keys", "parts=biases"),
    "SameFunctionExplorer": (
        "",
        "off=0.3",
        "swapped=both;skip=yes;biases=yes",
        "signs=yes;third=0",
        "signs=yes;third=0.5",
        "signs=yes;third=1",
    ),
    "SearchExplorer": ("starts=10", "starts=10;case=softmax-heads"),
    "SingletonExplorer": (
        "",
        "candidate=unrelated;travel=1",
        "candidate=other M₂;symmetric=0",
        "candidate=negative;rho=1;symmetric=0;causal=yes",
        "candidate=positive;symmetric=0;causal=yes",
        "candidate=the same",
        "size=0",
    ),
    "UnrollingExplorer": ("", "layers=1;place=1", "layers=4", "two_tokens=yes"),
    "VariantsExplorer": (
        "",
        "heads=1;layers=1;tokens=1;causal=yes",
        "heads=6",
        "kind=softmax;skip=yes;rotary=yes;value_dim=1",
        "mlp=yes;skip=yes",
        "kind=softmax;mlp=yes;biases=yes;skip=yes",
    ),
}
CASES = [(name, state) for name, states in STATES.items() for state in states]


def badges_of(name, state):
    """Of a panel each badge, and what it opens."""
    panel = getattr(explorables, name)(state=state)
    panel.wait()
    found = panel._badges
    panel.close()
    assert "<span" not in found  # a badge that does not answer
    return re.findall(
        r'<button [^>]*popovertarget="([^"]+)"[^>]*>([^<]*)</button>'
        r'<div popover id="([^"]+)"(.*?)</div>',
        found,
        re.DOTALL,
    )


def test_every_panel_is_tried():
    assert set(STATES) == set(explorables.__all__)


@pytest.mark.parametrize(("name", "state"), CASES)
def test_every_badge_answers_and_no_proved_one_has_a_hypothesis_that_fails(name, state):
    badges = badges_of(name, state)
    assert badges
    for target, said, opened, inside in badges:
        assert target == opened
        page, heading = re.search(
            r'data-page="([^"]+)" data-heading="([^"]+)"', inside
        ).groups()
        assert (page, unescape(heading)) in PAGES.values()
        assert re.search(r"<p>[^<]{20,}</p>", inside)
        if "outside hypotheses" in said:
            assert "✗" in inside, (said, inside)
        elif "proved" in said:
            assert "✗" not in inside, (said, inside)


@pytest.mark.parametrize(("name", "state"), CASES)
def test_its_python_runs(name, state):
    lines = 0
    for *_, inside in badges_of(name, state):
        for code in re.findall("<pre>([^<]*)</pre>", inside):
            *imports, call = unescape(code).split("\n")
            names = {"nv": nv, "nb": nb}
            exec("\n".join(imports), names)
            assert eval(call, names) is not None
            lines += 1
    assert lines > 0


def inside_of(name, state):
    return " ".join(unescape(inside) for *_, inside in badges_of(name, state))


def test_a_hypothesis_turns_with_the_setting():
    for name, state, broken, said in (
        ("BlendingExplorer", "slant=0", "slant=0.3", "x₁ᵀPx₂ = 0"),
        (
            "BlendingExplorer",
            "view=heads;head_dim=2",
            "view=heads;head_dim=2;shared=yes",
            "heads as almost all",
        ),
        (
            "BlendingExplorer",
            "view=heads;heads=2",
            "view=heads;heads=4",
            "H ≤ min(d, d′)",
        ),
        ("SingletonExplorer", "size=1", "size=0", "L ≠ 0"),
        ("SingletonExplorer", "symmetric=1", "symmetric=0", "Sym M₁ ≠ 0"),
        (
            "SameFunctionExplorer",
            "third=0",
            "third=0;signs=yes",
            "Condition 4",
        ),
        ("MemorisationExplorer", "", "targets=random", "numbers near"),
    ):
        assert f"✓ {said}" in inside_of(name, state)
        assert f"✗ {said}" in inside_of(name, broken)


def test_a_mask_asks_for_less():
    both = inside_of("SingletonExplorer", "candidate=positive;symmetric=0;causal=yes")
    assert "✓ M₁ ≠ 0" in both and "Sym M₁" not in both
    minus = "candidate=negative;rho=1;symmetric=0;causal=yes"
    assert "✗ Sym M₁ ≠ 0" in inside_of("SingletonExplorer", minus)
