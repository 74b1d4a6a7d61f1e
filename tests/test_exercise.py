"""Checks accept every correct answer, say what is wrong with others, and never break a
Run All."""

import json
import os
import re
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from verdicts import assert_right, assert_waits, assert_wrong, checkers

import neuroviz as nv
from neuroviz import explorables
from neuroviz.attention.formulas import paper_formula
from neuroviz.explorables import HypothesesExplorer
from neuroviz.kit import theme
from neuroviz.lessons import checks_deep, checks_one_layer
from neuroviz.lessons import exercise as exercise_module
from neuroviz.lessons.checks_deep import (
    WRITTEN,
    check_meeting,
    check_more_than_factors,
    check_mostly_silent,
    check_rescaling,
    check_unseen,
    check_wrong_pattern,
    is_shown,
)
from neuroviz.lessons.checks_one_layer import (
    check_boundary_layer,
    check_large_fiber,
    check_second_branch,
    check_singular_goal,
)
from neuroviz.lessons.exercise import (
    NOTHING,
    SHOWN,
    Verdict,
    checker,
    exercise,
    matrix,
)
from neuroviz.singular.forms import BOUNDARY, kind_of
from neuroviz.singular.surface import SLICES
from tools.editions import read, tasks
from tools.notebooks import sources

ROOT = Path(__file__).parents[1]
A = nv.Architecture
EYE = np.eye(2, 3)
ONES = np.array([1.0, 1.0])
TWOS = np.array([2.0, -1.0])
HALF = Fraction(1, 2)
TINY = Fraction(1, 10**400)
HUGE = 1e200 * np.array([[1.0, 3.0], [3.0, 9.0]])


def swap_of_the_page(c=1.0):
    u, k, v, h = checks_one_layer.RANK_ONE
    one = np.outer(u, k), np.outer(h, v)
    return *one, c * np.outer(v, k), np.outer(h, u) / c


# check, answer
RIGHT = [
    (check_large_fiber, ([[1, 0, 0], [1, 0, 0]], EYE)),
    # the keys may lose the rank as well
    (check_large_fiber, (EYE, [[1, 2, 3], [2, 4, 6]])),
    (check_large_fiber, (1e-12 * np.array([[1, 0, 0], [1, 0, 0]]), 1e12 * EYE)),
    (check_second_branch, (np.outer(ONES, TWOS), [TWOS], np.outer(TWOS, TWOS), [ONES])),
    (
        check_second_branch,
        (np.outer(ONES, TWOS), [TWOS], -3 * np.outer(TWOS, TWOS), [-ONES / 3]),
    ),
    # d′ = 2
    (
        check_second_branch,
        (np.outer(ONES, TWOS), [TWOS] * 2, np.outer(TWOS, TWOS), [ONES] * 2),
    ),
    (check_boundary_layer, ([[1, 2], [1, 2]], [[1, 1]])),
    (check_boundary_layer, ([[-1, 2], [3, -6]], [[Fraction(1, 3), -1]])),
    (check_boundary_layer, ([[0.1, 0.2], [0.1, 0.2]], [[0.3, 0.3]])),
    (check_singular_goal, ((1, 0, 2), (0, 0, 0))),
    (check_singular_goal, ((1, 1, 1), (-2, -2, -2))),
    (check_singular_goal, ((2, 0, 1), (1, 0, 0))),
    # at the rim of the coin, where floats do not decide
    (check_singular_goal, ((1, 0, 1), (2, 4, 2))),
    (check_singular_goal, ([1.5, 0, 1], [3.0, 0, 2])),
    (check_singular_goal, ((1e200, 0, 1e200), (1, 0, 1))),
    (check_singular_goal, (np.array([1, 0, 2]), np.array([10**18, 0, 2 * 10**18]))),
    (check_rescaling, ((Fraction(1, 2**9 * 27 * 5), 2, 3, 5),)),
    (check_rescaling, ([2**-13, 2, 2, 2],)),  # powers of two are exact as floats
    (check_rescaling, ((-1, -1, -1, -1),)),
    (check_rescaling, ((8, 2, HALF, Fraction(1, 512)),)),
    (check_wrong_pattern, (A((4, 3, 3), (1, 3)),)),
    (check_wrong_pattern, (A((2, 5, 2), (2, 3)),)),
    (check_wrong_pattern, (A((4, 4, 4), (1, 3), tokens=1),)),
    (check_wrong_pattern, (A((4, 4, 4), (3, 3), tokens=1),)),
    (check_mostly_silent, (A((1, 3, 1), (1, 1)),)),
    (check_mostly_silent, (A((1, 1), (2,)),)),
    (check_wrong_pattern, (A((3, 3, 3, 3), (2, 1, 2)),)),
    (check_unseen, (A((9, 8, 9, 1), (2, 2, 1)),)),
    (check_unseen, (A((4, 4, 1), (3, 1)),)),
    (check_more_than_factors, (A((4, 3, 3), (1, 3)),)),
    (
        check_more_than_factors,
        (A((3, 3, 3, 3), (2, 1, 3), tokens=2, attention="softmax"),),
    ),
    (check_meeting, ([[1, 0], [0, -1]], [2, 1], [1, 0])),
    (check_meeting, ([[0, 1], [0, 0]], [1, 0], [-1, 0])),
    (check_meeting, ([[1, 5], [-5, 0]], [0, 3], [0, 1])),
]

# check, answer, what is said
WRONG = [
    (check_large_fiber, (EYE, EYE), "as many as in GL₂"),
    (check_large_fiber, ([[1, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 1, 0]]), "KᵀQ is 0"),
    (check_large_fiber, (np.zeros((2, 3)), EYE), "Q is 0"),
    (check_large_fiber, (np.eye(3), EYE), "Q needs 2 row"),
    (check_large_fiber, ([[1, 2], [3]], EYE), "Q is a matrix"),
    (check_large_fiber, ([[1, 0, np.nan], [0, 1, 0]], EYE), "finite"),
    (check_second_branch, (np.eye(2), [ONES], np.eye(2) * 2, [ONES / 2]), "rescaling"),
    (check_second_branch, (np.eye(2), [ONES], np.eye(2), [ONES]), "c = 1"),
    (
        check_second_branch,
        (np.outer(ONES, TWOS), [TWOS], np.outer(TWOS, ONES), [TWOS]),
        "functions differ",
    ),
    (
        check_second_branch,
        (np.outer(ONES, TWOS), [TWOS], np.outer(TWOS, TWOS), [2 * ONES]),
        "differ",
    ),
    (check_second_branch, (0 * np.eye(2), [ONES], 0 * np.eye(2), [TWOS]), "is 0"),
    (check_second_branch, (np.eye(2), [ONES], np.eye(3), [ONES]), "A2 needs 2"),
    (check_boundary_layer, ([[1, 2], [2, 4]], [[1, 1]]), "crossing"),
    (check_boundary_layer, ([[1, 1], [2, 2]], [[1, 1]]), "transpose"),
    (check_boundary_layer, ([[1, 2], [3, 4]], [[1, 1]]), "smooth"),
    (check_boundary_layer, ([[1, 0], [1, 0]], [[1, 1]]), "0"),
    (check_boundary_layer, ([[1, 2], [1, 2]], [1, 1]), "V is a matrix"),
    (check_singular_goal, ((1, 0, -1), (1, 2, 1)), "A layer has"),
    (check_singular_goal, ((0, 0, 0), (0, 0, 0)), "A layer has"),
    (check_singular_goal, ((1, 0, 1), (0, 1, 0)), "smooth"),
    (check_singular_goal, ((1, 0), (0, 1, 0)), "q1"),
    (check_singular_goal, ((10**400, 0, 10**400), (1, 0, 1)), "too large or too small"),
    (check_singular_goal, ((TINY, 0, TINY), (0, 0, 0)), "too large or too small"),
    (
        check_second_branch,
        (1e200 * np.eye(2), [ONES], 1e200 * np.eye(2), [ONES]),
        "too large or too small",
    ),
    (check_boundary_layer, (HUGE, HUGE[:1]), "too large or too small"),
    (check_rescaling, ((HALF, 2, 3, 4),), "has changed"),
    (check_rescaling, ((Fraction(1, 8), 2, 2, 2),), "has changed"),
    (check_rescaling, ((1, 1, 1, 1),), "0 or 1"),
    (check_rescaling, ((0, 2, 2, 2),), "0 or 1"),
    (check_rescaling, ((HALF, 2),), "4 numbers"),
    (check_rescaling, ("half",), "4 numbers"),
    (check_rescaling, ((Fraction(1, 8_388_593), 2, 2, 2),), "modulo"),
    *[(check_wrong_pattern, (net,), SHOWN) for net in WRITTEN],
    (check_wrong_pattern, (A((3, 3, 3), (1, 2), tokens=2),), SHOWN),
    (check_wrong_pattern, (A((3, 3, 3), (1, 3)),), SHOWN),
    (check_wrong_pattern, (A((2, 5, 2), (2, 2)),), SHOWN),
    (check_more_than_factors, (A((3, 3, 3), (1, 2)),), SHOWN),
    (check_mostly_silent, (A((1, 3, 1), (2, 2)),), SHOWN),
    (check_large_fiber, (checks_one_layer.THIN / 2, EYE), SHOWN),
    (check_second_branch, swap_of_the_page(), SHOWN),
    (check_second_branch, swap_of_the_page(-2.0), SHOWN),
    (check_singular_goal, ((1, 0, 1), (0, 0, 0)), SHOWN),
    (check_singular_goal, ((2, 2, 2), (0, 1, 0)), SHOWN),
    (check_singular_goal, ((1, 0, 1), (1, 2, 1)), SHOWN),
    (check_boundary_layer, ([["1", 2], [3, 6]], [[1, 3]]), "A is a matrix"),
    (check_second_branch, ("A", "V", "A2", "V2"), "A is a matrix"),
    (check_mostly_silent, (A((1, 1, 1), (1, 1), attention="softmax"),), "a third"),
    (check_mostly_silent, (A.uniform(4, 2, 2),), "fewer than 30"),
    (check_mostly_silent, ("a network",), "nv.Architecture"),
    (check_wrong_pattern, (A.uniform(4, 2, 2),), "Eq. 14 is right"),
    (check_wrong_pattern, (A((3, 3, 3), (2, 1)),), "off by 0"),
    (check_wrong_pattern, (A((3, 3), (2,)),), "2 layers or more"),
    (check_wrong_pattern, (A.uniform(4, 2, 2, attention="softmax"),), "lightning"),
    (check_wrong_pattern, (A.uniform(40, 2, 2),), "smaller network"),
    (check_wrong_pattern, ((3, 3, 3),), "head_dims=(a1, a2)"),
    (check_unseen, (A((5, 3, 4), (2, 2)),), "all are seen"),
    (check_unseen, (A((2, 4, 2), (2, 2)),), "all are seen"),  # empty is not unseen
    (check_more_than_factors, (A.uniform(4, 2, 2),), "number of layers"),
    (check_more_than_factors, (A.uniform(4, 2, 2, tokens=1),), "two tokens"),
    (check_meeting, ([[1, 0], [0, 1]], [1, 0], [0, 1]), "apart"),
    (check_meeting, ([[0, 1], [-1, 0]], [1, 0], [0, 1]), "antisymmetric"),
    (check_meeting, ([[1, 0], [0, -1]], [1, 0], [1, 0]), "from the beginning"),
    (check_meeting, ([[1, 0], [0, 1]], [2e3, 1], [1, 0]), "not exactly"),
]

CHECKERS = checkers(checks_one_layer, checks_deep)


@pytest.mark.parametrize(
    ("check", "answer"), RIGHT, ids=lambda x: getattr(x, "__name__", None)
)
def test_every_correct_answer_passes(check, answer):
    assert_right(check, answer)


@pytest.mark.parametrize(
    ("check", "answer", "said"), WRONG, ids=lambda x: getattr(x, "__name__", None)
)
def test_a_wrong_answer_fails_and_hears_why(check, answer, said):
    assert_wrong(check, answer, said)


@pytest.mark.parametrize("check", CHECKERS, ids=lambda check: check.__name__)
def test_nothing_filled_in_is_no_error_and_no_pass(check):
    assert_waits(check)
    assert (
        not NOTHING and not NOTHING.filled_in and "Nothing filled in" in repr(NOTHING)
    )


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1.0, 1e200, 1e300])
def test_the_nearest_layer_is_as_far_as_the_forms_are_large(size):
    """For q₁ = q₂ = size · (X² + Y²) the least √(q₁² + q₂²) on unit vectors is √2 ·
    size."""
    said = check_singular_goal((size, 0, size), (size, 0, size)).message
    assert (
        f"{np.sqrt(2) * size:.3g} away in the Bombieri norm" in said
        and "boundary point" in said
    )


def test_every_check_is_tried_with_right_and_wrong_answers():
    assert (
        {check for check, _ in RIGHT} == set(CHECKERS) == {check for check, *_ in WRONG}
    )


@pytest.mark.parametrize("seed", range(10))
def test_random_swaps_and_random_boundary_points_pass(seed):
    rng = np.random.default_rng(seed)
    d = rng.integers(2, 5)
    d_out = rng.integers(1, 4)
    u, k, v = rng.standard_normal((3, d))
    h = rng.standard_normal(d_out)
    c = rng.standard_normal()
    one = np.outer(u, k)
    other = c * np.outer(v, k)
    assert check_second_branch(one, np.outer(h, v), other, np.outer(h, u) / c)
    assert not check_second_branch(one, np.outer(h, v), other.T, np.outer(h, u) / c)
    v = rng.integers(1, 9, 2)
    k = rng.integers(1, 9, 2)
    h = int(rng.integers(1, 9))
    layer = np.outer(v, k).tolist(), [(h * v).tolist()]
    assert check_boundary_layer(*layer)


def test_a_check_does_not_hide_errors_of_its_own():
    @checker
    def check_broken(answer):
        return Verdict(answer / 0 > 1, "")

    with pytest.raises(ZeroDivisionError):
        check_broken(1)


def test_another_number_of_parts_is_said_and_is_no_error():
    said = check_wrong_pattern((3, 3, 3), (1, 2))
    assert not said and said.message == (
        "The answer has one part, as in check_wrong_pattern(arch); 2 came."
    )
    assert check_wrong_pattern(arch=A((4, 3, 3), (1, 3)))
    assert "1 came" in check_wrong_pattern(net=A((4, 3, 3), (1, 3))).message
    assert "4 parts, as in check_second_branch(A, V, A2, V2); 0 came" in repr(
        check_second_branch()
    )


def test_the_fewest_so_far_are_remembered(monkeypatch):
    monkeypatch.setattr(exercise_module, "_FEWEST", {})
    large = check_mostly_silent(A((1, 3, 1), (1, 1))).message
    assert large == "14 parameters and dimension 1. Fewest parameters so far: 14."
    assert (
        "Fewest parameters so far: 5." in check_mostly_silent(A((1, 1), (2,))).message
    )
    again = check_mostly_silent(A((1, 3, 1), (1, 1))).message
    assert "It has 14 parameters; fewest so far: 5." in again
    wrong = check_wrong_pattern(A((4, 3, 3), (1, 3))).message
    assert "Fewest parameters so far: 47." in wrong  # another exercise
    check_wrong_pattern(A((2, 2, 2), (1, 1), tokens=1))  # neither is a wrong answer
    check_wrong_pattern(WRITTEN[1])  # what is refused does not count
    thin = check_large_fiber([[1, 0, 0], [0, 0, 0]], [[0, 2, 0], [0, 0, 0]])
    assert "KᵀQ is 0" not in thin.message
    assert "Fewest entries other than 0 so far: 2." in thin.message
    assert exercise_module._FEWEST == {
        "check_mostly_silent": 5,
        "check_wrong_pattern": 47,
        "check_large_fiber": 2,
    }


def test_the_least_of_the_first_exercises_can_be_reached():
    """Each factor of a product that is not 0 has an entry."""
    thin = check_large_fiber([[1, 0, 0], [0, 0, 0]], [[1, 0, 0], [0, 0, 0]])
    assert thin and checks_one_layer._entries([[1, 0]], [[2, 0]]) == 2
    swap = [[1, 0], [0, 0]], [[0, 1]], [[0, 0], [1, 0]], [[1, 0]]
    assert check_second_branch(*swap) and checks_one_layer._entries(*swap) == 4


def test_no_network_below_5_parameters_is_mostly_silent():
    """So 5 is the least that the exercise can reach."""
    found = set()
    for depth in (1, 2, 3):
        for sizes in product((1, 2, 3, 4), repeat=2 * depth + 1):
            net = A(sizes[: depth + 1], sizes[depth + 1 :])
            if net.num_parameters < 6 and check_mostly_silent(net):
                found.add(net.num_parameters)
    assert found == {5}


NOTEBOOKS = ROOT / "notebooks"


def above(name, check):
    """What a notebook says above the stub of an exercise."""
    text = (NOTEBOOKS / name).read_text(encoding="utf-8")
    return text[: text.index(f"\n{check}(")]


def test_what_notebook_04_shows_is_refused():
    """All networks that it writes out, and all cells of its maps."""
    text = (NOTEBOOKS / "04_deep_dimension.py").read_text(encoding="utf-8")
    text = re.sub(
        r'# %% \[markdown\] tags=\["solution"\].*?(?=\n# %%)', "", text, flags=re.S
    )
    calls = re.findall(r"\b(?:nv\.Architecture|A)\((?:[^()]|\([^()]*\))*\)", text)
    shown = set()
    for call in calls:
        with suppress(NameError):  # one of many, in a loop
            shown.add(eval(call, {"nv": nv, "A": A}))
    assert set(WRITTEN) <= shown
    (opened,) = re.findall(r'HypothesesExplorer\(\s*state="([^"]*)"', text)
    lessons = (ROOT / "docs" / "lessons.md").read_text(encoding="utf-8")
    states = [opened, *re.findall(r'": "([^"]*inner=[^"]*)"', text)]
    states += re.findall(r"HypothesesExplorer` `([^`]*)`", lessons)
    for state in states:
        panel = HypothesesExplorer(state=opened)
        panel.state = panel.complete(state)
        assert panel.wait(60)
        for cell in panel._shown.cells:
            sizes = cell.column, cell.row
            net = panel._shown.arch
            if panel._shown.over == "heads":
                net = replace(net, head_dims=sizes)
            else:
                net = replace(net, widths=(sizes[1], sizes[0], sizes[1]))
            assert net.tokens == 1 or is_shown(net)
            shown.add(net)
        panel.close()
    wrong = [net for net in shown if _is_wrong(net)]
    assert len(states) == 6 and len(wrong) > 12
    for net in wrong:
        assert check_wrong_pattern(net).message.endswith(SHOWN), net


def _is_wrong(net):
    is_deep = net.attention == "lightning" and net.num_layers > 1
    formula = paper_formula(net).value
    return is_deep and abs(formula - nv.measure_dimension(net).value) >= 2


def test_what_the_first_notebooks_show_is_refused():
    text = above("01_matrix_factorization.py", "check_large_fiber")
    (thin,) = re.findall(r"\nthin = (.*)", text)
    assert np.array_equal(eval(thin, {"np": np}), checks_one_layer.THIN)
    assert "u, k, v, h = RANK_ONE" in above(
        "02_single_layer_fibers.py", "check_second_branch"
    )
    text = above("03_singular_locus.py", "check_singular_goal")
    (pair,) = re.findall(r"\np1, p2 = (.*?)  #", text)
    assert np.array_equal(eval(pair), checks_one_layer.NO_LAYER)


def test_no_boundary_point_of_the_slice_is_a_layer_without_zeros():
    """So notebook 03 cannot have shown an answer before it asks for one."""
    text = above("03_singular_locus.py", "check_boundary_layer")
    assert "LearningExplorer" not in text
    for s in (2, -2):
        q1, q2 = SLICES["S1"].forms(s, 0, 0)
        assert kind_of(q1, q2) == BOUNDARY and not any(q2)


@pytest.mark.parametrize(
    "path",
    [path for path in sources() if tasks(read(path))],
    ids=lambda path: path.stem,
)
def test_solutions_are_accepted(path):
    for task in tasks(read(path)):
        names = {"np": np, "nv": nv, "Fraction": Fraction}
        exec(task.imports, names)
        *lines, call = task.solution.strip().splitlines()
        exec("\n".join(lines), names)
        assert eval(call, names), task.stub


# In a notebook


def in_a_notebook(tmp_path, code):
    """What a cell shows: its outputs as plain data, and what it prints."""
    script = f"""
import json
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
shell = InteractiveShell.instance()
with capture_output() as seen:
    shell.run_cell({code!r})
found = [[str(one.data) for one in seen.outputs], seen.stdout]
print(json.dumps(found))
"""
    there = {**os.environ, "IPYTHONDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=there
    )
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)


IMPORTS = """
import neuroviz as nv
from neuroviz.lessons.checks_deep import check_wrong_pattern
"""


@pytest.mark.long
def test_a_verdict_brings_the_network_of_the_answer(tmp_path):
    answer = "check_wrong_pattern(nv.Architecture((4, 3, 3), (1, 3)))"
    (verdict, panel), _ = in_a_notebook(tmp_path, IMPORTS + answer)
    assert "✓ Correct." in verdict
    assert "lightning 4→3→3" in panel
    alone, _ = in_a_notebook(tmp_path, f"{IMPORTS}check_wrong_pattern(...)")
    assert len(alone) == 1 and "Nothing filled in" in alone[0]


@pytest.mark.parametrize("net", [A((9, 2, 2), (2, 2)), A.uniform(2, 1, 7)], ids=str)
def test_a_network_beyond_the_controls_of_the_panel_has_a_verdict_alone(net):
    verdict = check_wrong_pattern(net)
    assert verdict.message and verdict.panel is None


# check, answer → panel, and the beginning of what it says
IN_A_PANEL = [
    (check_large_fiber, ([[1, 0, 0], [1, 0, 0]], EYE), "here it has dimension 5"),
    (check_large_fiber, (EYE, EYE), "4 of 12 directions are silent"),
    (
        check_second_branch,
        (np.outer(ONES, TWOS), [ONES + TWOS], np.outer(ONES + TWOS, TWOS), [ONES]),
        "The outputs are what they were",
    ),
    (check_boundary_layer, ([[1, 2], [1, 2]], [[1, 1]]), "a root is common"),
    (check_boundary_layer, ([[1, 2], [2, 4]], [[1, 1]]), "two roots are common"),
    (check_boundary_layer, ([[1, 2], [3, 4]], [[1, 1]]), "a root is common"),
    (check_singular_goal, ((2, 0, 1), (1, 0, 0)), "and singular"),
    (check_singular_goal, ((3, 0, 1), (0, 1, 1)), "and smooth"),
    (
        check_mostly_silent,
        (A((1, 3, 1), (1, 1)),),
        "of 14 parameters 13 directions are silent",
    ),
    (check_wrong_pattern, (A((3, 3, 3), (2, 1)),), "a = 2, 1"),
    (check_more_than_factors, (A((4, 3, 3), (1, 3)),), "23 dimensions remain"),
]


@pytest.mark.parametrize(
    ("check", "answer", "said"), IN_A_PANEL, ids=lambda x: getattr(x, "__name__", None)
)
def test_the_panel_beside_a_verdict_shows_the_answer(check, answer, said):
    name, state = check(*answer).panel
    panel = getattr(explorables, name)(state=state, only=[])
    assert panel.wait(60) and said in panel.description
    panel.close()


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("is_swap", [True, False])
def test_the_panel_of_two_layers_has_walked_from_one_to_the_other(sign, is_swap):
    u, k, v = np.array([[1.0, 2, 0], [3, -1, 1], [0.5, 1, -2]])
    h = np.array([2.0, 1])
    other = (v, u) if is_swap else (u, v)
    pairs = [(u, v), (other[0] * 1.5 * sign, other[1] / 1.5 * sign)]
    (A, V), (A2, V2) = [(np.outer(a, k), np.outer(h, b)) for a, b in pairs]
    name, state = check_second_branch(A, V, A2, V2).panel
    panel = getattr(explorables, name)(state=state, only=[])
    assert panel.wait(60)
    start, now = panel._shown.start, panel._shown.now
    assert np.allclose(start.A, A / np.linalg.norm(A))
    assert np.allclose(start.V, V / np.linalg.norm(V))
    # the walk's slider has steps of a hundredth of an octave
    assert np.allclose(now.A, A2 / np.linalg.norm(A), rtol=0.004)
    assert np.allclose(now.V, V2 / np.linalg.norm(V), rtol=0.004)
    panel.close()


def test_a_pair_with_another_function_has_its_first_layer_alone_in_the_panel():
    _, state = check_second_branch(np.eye(2), [ONES], np.eye(2), [TWOS]).panel
    assert "preset=generic;" in state and ";along=0;entries=A11=0.5" in state


def test_an_answer_that_a_panel_cannot_hold_has_a_verdict_alone():
    """Too large a number; a degree that joins two roots; a hundredth that moves the
    target off the coin."""
    assert check_large_fiber(10 * np.array([[1, 0, 0], [1, 0, 0]]), EYE).panel is None
    assert check_boundary_layer([[1000, 1], [1001, 2]], [[1, 1]]).panel is None
    goal = (Fraction(1), Fraction(1), Fraction(1)), (Fraction(1, 10**4), 1, 0)
    assert "smooth" in check_singular_goal(*goal).message
    assert check_singular_goal(*goal).panel is None


def test_a_slip_is_a_sentence_and_the_line_in_which_it_stands(tmp_path):
    line = "check_wrong_pattern(nv.Architecture((3, 3, 3), (1,)))"
    shown, printed = in_a_notebook(tmp_path, f"{IMPORTS}my_net = 3\n{line}")
    first, second = printed.strip().splitlines()
    assert not shown and first == line
    assert second.startswith("ValueError: each layer needs one head dimension")
    assert second.endswith("give head_dims with 2 number(s)")


# The box


def test_the_box_shows_the_task_the_difficulty_and_the_minutes():
    shown = exercise(
        "Give x with x < 2.", check_unseen, difficulty=2, minutes=7
    )._repr_html_()
    assert (
        "x &lt; 2" in shown
        and "●●○ takes thought · 7 min" in shown
        and "check_unseen" in shown
    )


def test_a_verdict_is_escaped_and_announced():
    shown = Verdict(False, "a < b")._repr_html_()
    assert "a &lt; b" in shown and 'role="status"' in shown and "✗ Not yet." in shown


def test_boxes_are_dark_on_white_in_every_theme():
    light = NOTHING._repr_html_()
    with theme.using({"mode": "dark"}):
        assert NOTHING._repr_html_() == light and theme.current()["mode"] == "dark"


@pytest.mark.parametrize(
    "wrong",
    [
        {"task": ""},
        {"task": 3},
        {"check": len},
        {"difficulty": 4},
        {"difficulty": True},
        {"minutes": 2.5},
    ],
    ids=repr,
)
def test_a_box_that_is_none_is_refused(wrong):
    with pytest.raises(ValueError):
        exercise(**{"task": "Give a network.", "check": check_unseen, **wrong})


@pytest.mark.parametrize(
    "given", [3, [], [[]], [[[1]]], "a", [["a"]], [[1, 2], [3]], [[np.inf]]], ids=repr
)
def test_what_is_no_matrix_is_refused(given):
    with pytest.raises(ValueError, match="Q"):
        matrix("Q", given)
