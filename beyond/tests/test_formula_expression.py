"""Formulas that a reader types: they mean what Python means, and nothing else is
understood."""

import random
import re

import pytest

from neuroviz.attention.expected import alpha, sigma
from neuroviz_beyond.formula.expression import MAX_LENGTH, NAMES, parse_formula

SIZES = {"d": 3, "a": 2, "t": 5, "l": 4, "H": 6}

# formula, the character that the error points at, from 0 (None: Python's), a part of
# what it says
ERRORS = [
    ("2*a*d +", None, "Python cannot read this"),
    ("(d + a", 0, "never closed"),
    ("  d + a)", None, "Python cannot read this"),
    ("2ad + d²", 7, "a formula is a Python expression: 2*a*d + d**2, not 2ad + d²"),
    (
        "2ad + d**2",
        1,
        "a * is missing after 2; a formula is a Python expression: 2*a*d + d**2",
    ),
    ("α(a, d) + 1", 0, "a formula is a Python expression"),
    ("d^2", 1, "a formula is a Python expression"),
    ("1 + l(a + d)", 4, "a * is missing"),
    ("t + ad", 4, "write a*d"),
    ("a + D", 4, "did you mean d?"),
    ("foo(3)", 0, "'foo' is no letter"),
    ("   1 + foo", 7, "'foo' is no letter"),
    ("  (d + a", 2, "never closed"),
    ("alpha", 0, "alpha needs its values"),
    ("1 + min(d)", 4, "min takes two values; got 1"),
    ("alpha(a, d, t)", 0, "alpha takes two values; got 3"),
    ("d, a", 0, "means nothing here"),
    ("3.5", 0, "numbers are whole here"),
]

# What Python would run and a formula may not say
PYTHON = [
    "__import__('os').system('true')",
    "d.__class__",
    "lambda: d",
    "[d for d in (1,)]",
    "(d := 3)",
    "'d'",
    'f"{d}"',
    "d; a",
    "print(d)",
    "alpha.__globals__",
    "min(*(1, 2))",
    "max(d, key=a)",
    "max(d, a, key=a)",
    "0x10",
    "1_000",
    "d @ a",
    "~d",
    "not d",
    "d and a",
    "True",
    "None",
    "#d",
    "\\",
    "d % a",
    "d << 9",
    "d is a",
    "(d,)",
    "...",
    "1e5",
    "1j",
    "d[a]",
    "await d",
    "(yield)",
    "2 2",
    "1 000 d",
]


def random_formula(draw, depth):
    """A formula as a text."""
    if depth == 0 or draw.random() < 0.2:
        return draw.choice([*NAMES, str(draw.randint(0, 9))])
    parts = (random_formula(draw, depth - 1) for _ in range(3))
    shape = draw.choice(
        [
            "{} + {}",
            "{} - {}",
            "{}*({})",
            "-{} + {}",
            "min({}, {})",
            "max({}, {}, {})",
            "({})**2",
            "{} / 8",
            "({}) // 3",
            "({} < {})*{}",
            "({} if {} >= {} else 1)",
            "({} == {}) + {}",
            "{} - {} - {}",
        ]
    )
    return f"({shape.format(*parts)})"


def test_random_formulas_have_the_value_that_python_gives_them():
    draw = random.Random(0)
    for _ in range(400):
        text = random_formula(draw, 3)
        if len(text) <= MAX_LENGTH:
            assert parse_formula(text)(**SIZES) == eval(text, {}, SIZES), text


def test_the_functions_are_those_of_the_mathematics():
    d = SIZES["d"]
    a = SIZES["a"]
    assert parse_formula("alpha(a, d)*100 + sigma(a, d)")(**SIZES) == 100 * alpha(
        a, d
    ) + sigma(a, d)
    assert parse_formula("\td\n+ a ")(**SIZES) == d + a
    assert parse_formula("1 if d > 3 else 1/0 if d > 4 else 2")(**SIZES) == 2, (
        "only what is asked for"
    )


@pytest.mark.parametrize(("text", "place", "said"), ERRORS)
def test_what_cannot_be_read_is_an_error_at_its_character(text, place, said):
    with pytest.raises(ValueError) as caught:
        parse_formula(text)
    number, error = re.fullmatch(r"character (\d+): (.*)", str(caught.value)).groups()
    assert said in error and 1 <= int(number) <= len(text) + 1
    assert place is None or int(number) == place + 1


@pytest.mark.parametrize("text", ["", "  ", 3, "d" * (MAX_LENGTH + 1), "(" * 299 + "d"])
def test_what_is_no_formula_at_all_is_refused(text):
    with pytest.raises(ValueError, match="a formula|brackets"):
        parse_formula(text)


@pytest.mark.parametrize("text", PYTHON)
def test_nothing_else_that_python_understands_is_understood(text):
    with pytest.raises(ValueError, match="character"):
        parse_formula(text)


def test_any_text_is_understood_or_refused_and_never_anything_else():
    draw = random.Random(1)
    outcomes = set()
    parts = [
        *"datlH0123456789+-*/(),. <>=!²α_'[]{}\\éß🙂\n\t",
        *"min( alpha( ** // ==".split(),
        " if ",
        " else ",
    ]
    for _ in range(3000):
        text = "".join(draw.choice(parts) for _ in range(draw.randint(0, 9)))
        try:
            parse_formula(text)(**SIZES)
            outcomes.add("value")
        except ArithmeticError:
            outcomes.add("no value")
        except ValueError:
            outcomes.add("error")
    assert outcomes >= {"value", "error"}


@pytest.mark.parametrize("text", ["9**9**9**9", "d**d**d**d**d"])
def test_a_tower_of_powers_is_too_large_before_it_is_computed(text):
    with pytest.raises(OverflowError):
        parse_formula(text)(**SIZES)


@pytest.mark.parametrize(
    ("text", "value"), [("-" * 290 + "d", 3), ("min(" + "d, " * 90 + "a)", 2)]
)
def test_a_long_formula_has_its_value(text, value):
    assert parse_formula(text)(**SIZES) == value
