"""Formulas that a reader types, read safely: α(a, d) + d² − 1, never handed to Python.

    sum     = product { ("+" | "−") product }          product = signed { ("*" | "/" | "//") signed }
    signed  = { "+" | "−" } power                      power   = atom [ ("^" | "**") signed | ² ]
    atom    = number | d | a | t | l | H | "(" sum ")" | function "(" sum { "," sum } ")"

Things that stand side by side are multiplied: 2ad is 2·a·d. Arithmetic is exact, in fractions, and
no number may pass `LARGEST`, so that no formula takes long.
"""

from collections.abc import Callable
from dataclasses import dataclass

from neuroviz.beyond.formula.value import LARGEST, NAMES, Formula, FormulaError, Step

MAX_LENGTH, MAX_DEPTH, MAX_ARGUMENTS = 400, 40, 8

_SIGNS = {"−": "-", "–": "-", "×": "*", "·": "*", "⋅": "*", "∙": "*", "÷": "/", "^": "**", "ℓ": "l", "δ": "d"}
_POWERS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹", range(10), strict=True))
_WORDS = {"alpha": "α", "sigma": "σ", "min": "min", "max": "max", "pos": "pos"}
_VOCABULARY = "numbers, d, a, t, l, H, α(a, d), min, max, pos and + − * / // ^"
_ARGUMENTS = {"min": (2, MAX_ARGUMENTS), "max": (2, MAX_ARGUMENTS), "pos": (1, 1), "α": (2, 2), "σ": (2, 2)}
_EXAMPLES = {"min": "min(a, d)", "max": "max(a, d)", "pos": "pos(d − a)", "α": "α(a, d)", "σ": "σ(a, d)"}


def parse_formula(text: str) -> Formula:
    """Read a formula in d, a, t, l and H.

    Known are + − * / // ^ (also ** × · ²), brackets, min and max, pos(x) = max(x, 0), and the counts
    α(a, d) and σ(a, w) of `engine.expected` (also alpha and sigma). Things side by side are multiplied.

    Raises:
        FormulaError: if something else is in it; it points at the place.

    >>> sorted(parse_formula("l·(α(a, d) + d²)").names)
    ['a', 'd', 'l']
    >>> parse_formula("2ad + * d")
    Traceback (most recent call last):
    ...
    neuroviz.beyond.formula.value.FormulaError: a number, ... is needed here; got '*': change it
    2ad + * d
          ^
    """
    if not isinstance(text, str):
        raise ValueError(f"a formula is a text such as '2ad + d²'; got {text!r}")
    if len(text) > MAX_LENGTH:
        raise FormulaError(
            f"a formula has at most {MAX_LENGTH} characters here; got {len(text)}: make it shorter",
            text,
            MAX_LENGTH,
        )
    if not text.strip():
        raise FormulaError("type a formula, such as 2ad + d²; the box is empty", text, 0)
    return Formula(text, _Reader(text).read())


# From characters to tokens


@dataclass(frozen=True)
class _Token:
    kind: str  # "number", "name", "function", "power", an operator, "(", ")", "," or "end"
    value: int | str
    place: int
    length: int = 1


def _tokens(text: str) -> list[_Token]:
    found, place = [], 0
    while place < len(text):
        token = None if text[place].isspace() else _token(text, place)
        if token:
            found.append(token)
        place += token.length if token else 1
    return [*found, _Token("end", "", len(text.rstrip()) + (text != text.rstrip()))]


def _token(text: str, place: int) -> _Token:
    sign = _SIGNS.get(text[place], text[place])
    if sign in "0123456789":
        return _number(text, place)
    if sign in _POWERS:
        end = _while(text, place, _POWERS)
        digits = "".join(str(_POWERS[c]) for c in text[place:end])
        return _Token("power", _small(digits, text, place, end), place, end - place)
    if text[place : place + 2] in ("//", "**"):
        return _Token(text[place : place + 2], "", place, 2)
    if sign in ("+", "-", "*", "/", "**", "(", ")", ","):
        return _Token(sign, "", place)
    if sign in ("α", "σ"):
        return _Token("function", sign, place)
    if sign in NAMES or sign.isalpha():
        return _word(text, place, sign)
    raise FormulaError(_unknown_sign(text[place]), text, place)


def _while(text: str, place: int, allowed: object) -> int:
    while place < len(text) and text[place] in allowed:
        place += 1
    return place


def _number(text: str, place: int) -> _Token:
    end = _while(text, place, "0123456789")
    if text[end : end + 1] == "." or text[end : end + 2].lower() in ("e+", "e-"):
        raise FormulaError(
            "numbers are whole here; got a decimal point or an exponent: write a fraction, such as d/2",
            text,
            end,
        )
    return _Token("number", _small(text[place:end], text, place, end), place, end - place)


def _small(digits: str, text: str, place: int, end: int) -> int:
    if len(digits.lstrip("0")) > len(str(LARGEST)) or int(digits) > LARGEST:
        raise FormulaError(
            f"numbers go up to 10¹² here; got one of {end - place} digits", text, place, end - place
        )
    return int(digits)


def _word(text: str, place: int, sign: str) -> _Token:
    """A function, or the first of some letters side by side, each of which is a name."""
    end = place
    while end < len(text) and text[end].isalpha() and text[end] not in "ασ":
        end += 1
    word = text[place:end]
    if function := next((name for name in _WORDS if word == name or word.endswith(name)), None):
        if word == function:
            return _Token("function", _WORDS[function], place, len(word))
        word = word.removesuffix(function)  # 2a·max(…) typed as 2amax(…)
    if unknown := [c for c in word if _SIGNS.get(c, c) not in NAMES]:
        raise FormulaError(_unknown_word(word, unknown[0]), text, place, len(word))
    return _Token("name", sign, place)


def _unknown_word(word: str, letter: str) -> str:
    if word.lower() in _WORDS:
        return f"functions are written in small letters; got {word}: write {word.lower()}"
    other = letter.swapcase()
    hint = f": did you mean {other}?" if len(word) == 1 and other in NAMES else ""
    return f"a formula is made of {_VOCABULARY}; got {word!r}{hint}"


def _unknown_sign(sign: str) -> str:
    if sign in "=<>":
        return f"only one side is needed, without a comparison; got {sign!r}: take max, min or pos for cases"
    if sign in "[]{}":
        return f"brackets are round here; got {sign!r}: write ( and )"
    if sign in ".":
        return "numbers are whole here; got a decimal point: write a fraction, such as d/2"
    return f"a formula is made of {_VOCABULARY}; got {sign!r}: take it out"


# From tokens to steps


_STARTS = ("number", "name", "function", "(")


class _Reader:
    """Recursive descent over the grammar at the top of this module, writing steps as it goes."""

    def __init__(self, text: str) -> None:
        self.text, self.tokens, self.at, self.depth = text, _tokens(text), 0, 0
        self.steps: list[Step] = []

    def read(self) -> tuple[Step, ...]:
        self.sum()
        if self.here.kind != "end":
            said = {")": "this bracket was never opened", ",": "a comma stands only inside min, max, α and σ"}
            raise self.error(said.get(self.here.kind, "an operation such as + or * is needed here"))
        return tuple(self.steps)

    @property
    def here(self) -> _Token:
        return self.tokens[self.at]

    def error(self, message: str, token: _Token | None = None) -> FormulaError:
        token = token or self.here
        came = "the formula ends" if token.kind == "end" else f"got {_quoted(self.text, token)}"
        what = "go on" if token.kind == "end" else "change it"
        return FormulaError(f"{message}; {came}: {what}", self.text, token.place, token.length)

    def next(self) -> _Token:
        self.at += 1
        return self.tokens[self.at - 1]

    def write(self, kind: str, operand: int | str, token: _Token) -> None:
        self.steps.append(Step(kind, operand, token.place, token.length))

    def deeper(self, part: Callable[[], None]) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise FormulaError(
                f"brackets, signs and powers go {MAX_DEPTH} deep here; this goes deeper: make it simpler",
                self.text,
                self.here.place,
            )
        part()
        self.depth -= 1

    def sum(self) -> None:
        self.product()
        while self.here.kind in ("+", "-"):
            sign = self.next()
            self.product()
            self.write(sign.kind, 2, sign)

    def product(self) -> None:
        self.signed()
        before = None  # the last operation, where it was written
        while True:
            if self.here.kind in ("*", "/", "//"):
                before = self.next()
                self.signed()
                self.write(before.kind, 2, before)
            elif self.here.kind in _STARTS:
                if before and before.kind in ("/", "//"):
                    raise self.error(
                        f"after {before.kind} it is not clear how far the divisor goes: write brackets or a *"
                    )
                if self.here.kind == "number" and self.tokens[self.at - 1].kind == "number":
                    raise self.error("two numbers side by side: write them together, or a * between them")
                token = self.here
                self.power()
                self.write("*", 2, token)
            else:
                return

    def signed(self) -> None:
        if self.here.kind not in ("+", "-"):
            self.power()
            return
        sign = self.next()
        self.deeper(self.signed)
        if sign.kind == "-":
            self.write("negative", 1, sign)

    def power(self) -> None:
        self.atom()
        if self.here.kind == "power":
            token = self.next()
            self.write("number", token.value, token)
            self.write("**", 2, token)
            if self.here.kind in ("power", "**", "number"):
                raise self.error("one power at a time: write brackets or a *")
        elif self.here.kind == "**":
            token = self.next()
            self.deeper(self.signed)
            self.write("**", 2, token)

    def atom(self) -> None:
        token = self.here
        if token.kind not in _STARTS:
            raise self.error("a number, a name or a bracket is needed here")
        self.at += 1
        if token.kind in ("number", "name"):
            self.write(token.kind, token.value, token)
            if token.kind == "name" and self.here.kind == "number":
                raise self.error(
                    f"a number after a name can mean a power or a product: write {token.value}^… or "
                    f"{token.value}*…"
                )
        elif token.kind == "(":
            self.deeper(self.sum)
            self.close(token)
        else:
            self.call(token)

    def call(self, function: _Token) -> None:
        if self.here.kind != "(":
            raise self.error(f"{function.value} needs its brackets, as in {_EXAMPLES[function.value]}")
        opened = self.next()
        self.deeper(self.sum)
        count = 1
        while self.here.kind == ",":
            self.at += 1
            self.deeper(self.sum)
            count += 1
        self.close(opened)
        least, most = _ARGUMENTS[function.value]
        if not least <= count <= most:
            needed = f"{least}" if least == most else f"{least} to {most}"
            raise FormulaError(
                f"{function.value} needs {needed} value{'s' if most > 1 else ''} between its brackets, as in "
                f"{_EXAMPLES[function.value]}; got {count}",
                self.text,
                function.place,
                function.length,
            )
        self.write(function.value, count, function)

    def close(self, opened: _Token) -> None:
        if self.here.kind == "end":
            raise FormulaError(
                "this bracket is never closed: add a )", self.text, opened.place, opened.length
            )
        if self.here.kind != ")":
            where = "min, max, α and σ" if self.here.kind == "," else "brackets"
            raise self.error(
                f"a comma stands only inside {where}"
                if self.here.kind == ","
                else "an operation such as + or *, or a closing bracket, is needed here"
            )
        self.at += 1


def _quoted(text: str, token: _Token) -> str:
    return repr(text[token.place : token.place + min(token.length, 20)])
