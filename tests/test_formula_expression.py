"""Formulas that a reader types: they mean what Python means, and nothing else is understood."""

import pickle
import random
import re
from fractions import Fraction

import pytest

from neuroviz.beyond.formula.expression import LARGEST, MAX_LENGTH, NAMES, FormulaError, parse_formula
from neuroviz.engine.expected import alpha, sigma

SIZES = {"d": 3, "a": 2, "t": 5, "l": 4, "H": 6}

# formula, the place that the error points at (None: Python's), a part of what it says
ERRORS = [
    ("", 0, "type a formula"),
    ("2*a*d +", None, "Python cannot read this"),
    ("(d + a", 0, "never closed"),
    ("  d + a)", None, "Python cannot read this"),
    ("2ad + d²", 7, "a formula is a Python expression: 2*a*d + d**2, not 2ad + d²"),
    ("2ad + d**2", 1, "a * is missing after 2; a formula is a Python expression: 2*a*d + d**2"),
    ("α(a, d) + 1", 0, "a formula is a Python expression"),
    ("d^2", 1, "a formula is a Python expression"),
    ("1 + l(a + d)", 4, "a * is missing"),
    ("t + ad", 4, "write a*d"),
    ("pos(d - a)", 0, "write that"),
    ("a + D", 4, "did you mean d?"),
    ("foo(3)", 0, "'foo' is no letter"),
    ("alpha", 0, "alpha needs its values"),
    ("1 + min(d)", 4, "min takes 2 to 8 values; got 1"),
    ("alpha(a, d, t)", 0, "alpha takes 2 values; got 3"),
    ("d, a", 0, "means nothing here"),
    ("3.5", 0, "numbers are whole here"),
    ("1 + 9999999999999", 4, "up to 10¹²; this one has 13 digits"),
    ("d" * (MAX_LENGTH + 1), MAX_LENGTH, f"at most {MAX_LENGTH}"),
    ("(" * 299 + "d", None, ""),
]

# What Python would run and a formula may not say
PYTHON = [
    "__import__('os').system('true')", "d.__class__", "lambda: d", "[d for d in (1,)]", "(d := 3)", "'d'",
    'f"{d}"', "d; a", "print(d)", "alpha.__globals__", "min(*(1, 2))", "max(d, key=a)", "max(d, a, key=a)",
    "0x10", "1_000", "d @ a", "~d", "not d", "d and a", "True", "None", "#d", "\\", "d % a", "d << 9",
    "d is a", "(d,)", "...", "1e5", "1j", "d[a]", "await d", "(yield)",
]  # fmt: skip

# formula, a part of what it says: understood, but without a value at SIZES
WITHOUT_VALUE = [
    ("d/2", "gives 3/2"),
    ("1/(d - 3)", "divisor is 0"),
    ("2**-1", "exponent"),
    ("10**12 + 1", "up to 10¹²"),
    ("1/10**12/10**12", "up to 10¹²"),
    ("2**2**2**2**99", "this power is larger"),
    ("alpha(a - 5, d)", "whole numbers ≥ 0"),
]


def random_formula(draw, depth):
    """A formula as text for the reader, and as text for Python with numbers that are fractions."""
    if depth == 0 or draw.random() < 0.2:
        leaf = draw.choice([*NAMES, str(draw.randint(0, 9))])
        return leaf, f"F({leaf})" if leaf.isdigit() else leaf
    one, two, three = (random_formula(draw, depth - 1) for _ in range(3))
    shape = draw.choice(
        ["{} + {}", "{} - {}", "{}*({})", "-{} + {}", "min({}, {})", "max({}, {}, {})", "({})**2", "{} / 7",
         "({}) // 3", "({} < {})*{}", "({} if {} >= {} else 1)", "({} == {}) + {}", "{} - {} - {}"]
    )  # fmt: skip
    exact = re.sub(r"(?<!\*)\b(\d)", r"F(\1)", shape)  # 1/7 is no float
    ours, pythons = zip(one, two, three, strict=True)
    return f"({shape.format(*ours)})", f"({exact.format(*pythons)})"


def test_random_formulas_have_the_value_that_python_gives_them():
    draw, tried = random.Random(0), 0
    names = {name: Fraction(value) for name, value in SIZES.items()} | {"F": Fraction}
    for _ in range(400):
        text, python = random_formula(draw, 3)
        wanted = eval(python, {"min": min, "max": max, "__builtins__": {}}, names)
        try:
            found = parse_formula(text).value(SIZES)
        except FormulaError as error:
            assert wanted.denominator != 1 or len(text) > MAX_LENGTH or "10¹²" in str(error), (text, error)
            continue
        assert found == wanted, text
        tried += 1
    assert tried > 100


def test_the_functions_are_those_of_the_mathematics():
    d, a = SIZES["d"], SIZES["a"]
    assert parse_formula("alpha(a, d)*100 + sigma(a, d)").value(SIZES) == 100 * alpha(a, d) + sigma(a, d)
    assert parse_formula("\td\n+ a ").value(SIZES) == d + a
    assert parse_formula("1 if d > 3 else 1/0 if d > 4 else 2").value(SIZES) == 2, "only what is asked for"


@pytest.mark.parametrize(("text", "place", "said"), ERRORS)
def test_what_cannot_be_read_is_an_error_at_its_place(text, place, said):
    with pytest.raises(FormulaError) as caught:
        parse_formula(text)
    error = caught.value
    assert said in str(error) and str(error).startswith(f"character {error.place + 1}: ")
    assert 0 <= error.place <= len(text) and (place is None or error.place == place)
    assert "\n" not in str(error) and str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize("text", PYTHON)
def test_nothing_else_that_python_understands_is_understood(text):
    with pytest.raises(FormulaError):
        parse_formula(text)


@pytest.mark.parametrize(("text", "said"), WITHOUT_VALUE)
def test_a_formula_without_a_value_says_at_which_network(text, said):
    formula = parse_formula(text)
    with pytest.raises(FormulaError) as caught:
        formula.value(SIZES, where="the third network")
    assert said in str(caught.value) and "the third network" in str(caught.value)
    with pytest.raises(FormulaError, match="d = 3, a = 2, t = 5, l = 4, H = 6"):
        formula.value(SIZES)


def test_the_same_formulas_have_a_value_where_nothing_is_wrong():
    assert parse_formula("d/2").value(SIZES | {"d": 4}) == 2
    assert parse_formula("1/(d - 3)").value(SIZES | {"d": 4}) == 1
    assert parse_formula("10**12").value(SIZES) == LARGEST
    assert parse_formula("1**(10**12)").value(SIZES) == 1


def test_any_text_is_understood_or_refused_and_never_anything_else():
    draw, outcomes = random.Random(1), set()
    parts = [
        *"datlH0123456789+-*/(),. <>=!²α_'[]{}\\éß🙂\n\t",
        *"min( alpha( ** // ==".split(),
        " if ",
        " else ",
    ]
    for _ in range(3000):
        text = "".join(draw.choice(parts) for _ in range(draw.randint(0, 9)))
        try:
            assert abs(parse_formula(text).value(SIZES)) <= LARGEST
            outcomes.add("value")
        except FormulaError as error:
            assert 0 <= error.place <= len(text)
            outcomes.add("error")
    assert outcomes == {"value", "error"}


def test_a_text_is_needed():
    with pytest.raises(ValueError, match="a formula is a text"):
        parse_formula(3)
