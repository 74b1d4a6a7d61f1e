"""Formulas that a reader types: what they mean, that nothing else is understood, and what the errors say."""

import math
import pickle
import random
from fractions import Fraction

import pytest

from neuroviz.beyond.formula.language import MAX_DEPTH, MAX_LENGTH, parse_formula
from neuroviz.beyond.formula.value import LARGEST, NAMES, FormulaError
from neuroviz.engine.expected import alpha, sigma

SIZES = {"d": 3, "a": 2, "t": 5, "l": 4, "H": 6}
d, a, t, layers, H = SIZES.values()

MEANINGS = [
    ("7", 7),
    ("007", 7),
    ("d", d),
    ("2ad + d²", 2 * a * d + d**2),
    ("2 a d+d^2", 2 * a * d + d**2),
    ("2*a*d + d**2", 2 * a * d + d**2),
    ("2·a×d − d²", 2 * a * d - d**2),
    ("a(2d − a)", a * (2 * d - a)),
    ("(a)(d)", a * d),
    ("lH", layers * H),
    ("ℓδ", layers * d),
    ("tal", t * a * layers),
    ("-d²", -(d**2)),
    ("(-d)²", d**2),
    ("-2^2", -4),
    ("2^3^2", 512),
    ("2^-(-3)", 8),
    ("d--a", d + a),
    ("d - a - t", d - a - t),
    ("d - (a - t)", d - (a - t)),
    ("12/2/3", 2),
    ("12/(2*3)", 2),
    ("7//2", 3),
    ("-7//2", -4),
    ("1/2 + 1/2", 1),
    ("d²(d+1)/2", d**2 * (d + 1) // 2),
    ("d¹⁰", d**10),
    ("0^0", 1),
    ("min(a, d, 1)", 1),
    ("max(a, d)", d),
    ("2amax(a, d)", 2 * a * d),
    ("pos(a − d) + pos(d − a)", d - a),
    ("α(a, d)", alpha(a, d)),
    ("alpha(a, d)α(d, a)", alpha(a, d) * alpha(d, a)),
    ("σ(a, d) + sigma(1, d)", sigma(a, d) + sigma(1, d)),
    ("H(α(a, d) + d²) − H·max(1, H − pos(d − a)²)", H * (alpha(a, d) + d**2) - H * max(1, H - (d - a) ** 2)),
    ("\td\n+ a ", d + a),
]

# formula, the place that the error points at, a part of what it says
ERRORS = [
    ("", 0, "type a formula"),
    ("  ", 0, "type a formula"),
    ("2ad +", 5, "the formula ends"),
    ("2ad + ", 6, "the formula ends"),
    ("2ad + * d", 6, "needed here; got '*'"),
    ("*d", 0, "needed here; got '*'"),
    ("d**", 3, "the formula ends"),
    ("(d + a", 0, "never closed"),
    ("d + a)", 5, "never opened"),
    ("d,a", 1, "comma"),
    ("(d, a)", 2, "comma"),
    ("min(d)", 0, "min needs 2 to 8 values"),
    ("1 + pos(d, a)", 4, "pos needs 1 value"),
    ("α(a)", 0, "α needs 2 values"),
    ("max", 3, "max needs its brackets"),
    ("max a", 4, "max needs its brackets"),
    ("d = 3", 2, "only one side"),
    ("d > 3", 2, "only one side"),
    ("a + D", 4, "did you mean d?"),
    ("a + L", 4, "did you mean l?"),
    ("h", 0, "did you mean H?"),
    ("MIN(a, d)", 0, "small letters"),
    ("foo(3)", 0, "got 'foo'"),
    ("[d]", 0, "round"),
    ("d.a", 1, "decimal point"),
    ("3.5", 1, "decimal point"),
    ("1e5", 1, "got 'e'"),
    ("d2", 1, "d^… or d*…"),
    ("d²3", 2, "one power at a time"),
    ("d²^2", 2, "one power at a time"),
    ("d/2a", 3, "how far the divisor goes"),
    ("d//2(a)", 4, "how far the divisor goes"),
    ("9999999999999", 0, "up to 10¹²"),
    ("1 + " + "1" * 300, 4, "300 digits"),
    ("(" * (MAX_DEPTH + 1) + "d" + ")" * (MAX_DEPTH + 1), MAX_DEPTH + 1, "deep"),
    ("-" * 300 + "d", MAX_DEPTH + 1, "deep"),
    ("2^" * 150 + "2", None, "deep"),
    ("d" * (MAX_LENGTH + 1), MAX_LENGTH, f"at most {MAX_LENGTH}"),
    ("é", 0, "got 'é'"),
    ("①", 0, "got '①'"),
    ("٣", 0, "got '٣'"),
    ("<b>d</b>", 0, "only one side"),
    ("$d$", 0, "got '$'"),
]  # fmt: skip

# What Python would understand and a formula may not
PYTHON = [
    "__import__('os').system('true')",
    "d.__class__",
    "lambda: d",
    "d if a else t",
    "[d for d in (1,)]",
    "(d := 3)",
    "'d'",
    'f"{d}"',
    "d; a",
    "print(d)",
    "alpha.__globals__",
    "min(*(1, 2))",
    "max(d, key=a)",
    "0x10",
    "1_000",
    "d @ a",
    "~d",
    "d and a",
    "True",
    "None",
    "#d",
    "\\",
]

# formula, the place, a part of what it says: understood, but without a value at SIZES
WITHOUT_VALUE = [
    ("d/2", 0, "gives 3/2"),
    ("1/(d − 3)", 1, "divisor is 0"),
    ("d//(d − 3)", 1, "divisor is 0"),
    ("2^-1", 1, "exponent"),
    ("4^(1/2)", 1, "exponent"),
    ("10^12 + 1", 6, "up to 10¹²"),
    ("10^12*10^12", 5, "up to 10¹²"),
    ("1/10^12/10^12", 7, "up to 10¹²"),
    ("2^99", 1, "this power is larger"),
    ("2**2**2**2**99", 10, "this power is larger"),
    ("9^9^9^9", None, "10¹²"),
    ("(1/2)^999999999", 5, "this power is larger"),
    ("0 + 2^(10^12)", 5, "this power is larger"),
    ("α(a − 5, d)", 0, "whole numbers ≥ 0"),
    ("α(a/4, d)", 0, "whole numbers ≥ 0"),
]


@pytest.mark.parametrize(("text", "value"), MEANINGS)
def test_a_formula_means_what_a_mathematician_writes(text, value):
    assert parse_formula(text).value(SIZES) == value


def test_that_check_sees_another_meaning():
    assert parse_formula("-2^2").value(SIZES) != 4
    assert parse_formula("2^3^2").value(SIZES) != 64
    assert parse_formula("d - a - t").value(SIZES) != parse_formula("d - (a - t)").value(SIZES)


def random_formula(draw, depth):
    """A formula with brackets around everything, as text for the reader and as text for Python."""
    if depth == 0 or draw.random() < 0.2:
        leaf = draw.choice([*NAMES, str(draw.randint(0, 9))])
        return leaf, f"F({leaf})" if leaf.isdigit() else leaf
    kind = draw.choice(["+", "-", "*", "negative", "min", "max", "pos", "square", "side by side"])
    (one, python_one), (two, python_two) = (random_formula(draw, depth - 1) for _ in range(2))
    return {
        "negative": (f"(-{one})", f"(-{python_one})"),
        "min": (f"min({one}, {two})", f"min({python_one}, {python_two})"),
        "max": (f"max({one}, {two})", f"max({python_one}, {python_two})"),
        "pos": (f"pos({one})", f"max({python_one}, F(0))"),
        "square": (f"({one})²", f"(({python_one}) ** 2)"),
        "side by side": (f"(({one})({two}))", f"(({python_one}) * ({python_two}))"),
    }.get(kind, (f"({one} {kind} {two})", f"({python_one} {kind} {python_two})"))


def test_random_formulas_have_the_value_that_python_gives_them():
    draw, tried = random.Random(0), 0
    names = {name: Fraction(value) for name, value in SIZES.items()} | {"F": Fraction}
    for _ in range(300):
        text, python = random_formula(draw, 4)
        if len(text) > MAX_LENGTH:
            continue
        wanted = eval(python, {"min": min, "max": max, "__builtins__": {}}, names)
        try:
            found = parse_formula(text).value(SIZES)
        except FormulaError as error:
            assert "10¹²" in error.message, (text, error)
            continue
        assert found == wanted, text
        tried += 1
    assert tried > 200


def test_a_formula_knows_its_names():
    assert parse_formula("2ad + α(a, 3)").names == {"a", "d"}
    assert parse_formula("12").names == frozenset()


@pytest.mark.parametrize(("text", "place", "said"), ERRORS)
def test_what_cannot_be_read_is_an_error_at_its_place(text, place, said):
    with pytest.raises(FormulaError) as caught:
        parse_formula(text)
    error = caught.value
    assert said in error.message
    assert place is None or error.place == place
    formula, caret = error.pointed.split("\n")
    # The first caret stands under the place: what is above it is the character that is meant.
    above = caret.index("^")
    if error.place < len(text):
        shown = " " if text[error.place].isspace() else text[error.place]
        assert formula[above] == shown
    assert len(formula) <= 62 and caret.lstrip(" ").strip("^") == ""
    assert "\n" not in error.message and error.message == error.args[0]


@pytest.mark.parametrize("text", PYTHON)
def test_nothing_that_only_python_understands_is_understood(text):
    with pytest.raises(FormulaError):
        parse_formula(text)


@pytest.mark.parametrize(("text", "place", "said"), WITHOUT_VALUE)
def test_a_formula_without_a_value_says_at_which_network(text, place, said):
    formula = parse_formula(text)
    with pytest.raises(FormulaError) as caught:
        formula.value(SIZES, where="the third network")
    assert said in caught.value.message and "the third network" in caught.value.message
    assert place is None or caught.value.place == place
    with pytest.raises(FormulaError, match="d = 3, a = 2, t = 5, l = 4, H = 6"):
        formula.value(SIZES)


def test_the_same_formulas_have_a_value_where_nothing_is_wrong():
    assert parse_formula("d/2").value(SIZES | {"d": 4}) == 2
    assert parse_formula("1/(d − 3)").value(SIZES | {"d": 4}) == 1
    assert parse_formula("10^12").value(SIZES) == LARGEST
    assert parse_formula("1^(10^12)").value(SIZES) == 1


def test_any_text_is_understood_or_refused_and_never_anything_else():
    draw = random.Random(1)
    letters = "datlH0123456789+-*/^()., ²³−·×αση=\n\t_'[]{}\\éß🙂" + "minmaxposalpha"
    outcomes = set()
    for _ in range(3000):
        text = "".join(draw.choice(letters) for _ in range(draw.randint(0, 12)))
        try:
            value = parse_formula(text).value(SIZES)
            assert abs(value) <= LARGEST and math.isfinite(value)
            outcomes.add("value")
        except FormulaError as error:
            assert error.pointed and 0 <= error.place <= len(text)
            outcomes.add("error")
    assert outcomes == {"value", "error"}


def test_a_text_is_needed():
    with pytest.raises(ValueError, match="a formula is a text"):
        parse_formula(3)


def test_formulas_and_their_errors_can_be_sent_to_another_process():
    formula = parse_formula("2ad + d²")
    assert pickle.loads(pickle.dumps(formula)) == formula
    with pytest.raises(FormulaError) as caught:
        parse_formula("2ad +")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
