"""Formulas that a reader types: Python expressions in d, a, t, l, H, read with `ast` and never run by Python.

Known are whole numbers, these letters, + - * / // **, comparisons (1 or 0), x if … else y, and alpha(a, d),
sigma(a, w), min, max. Arithmetic is exact, in fractions; no number passes `LARGEST`, so nothing takes long.
"""

import ast
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from neuroviz.engine.expected import alpha, sigma

NAMES = {"d": "width", "a": "head dimension", "t": "tokens", "l": "layers", "H": "heads"}
LARGEST, MAX_LENGTH = 10**12, 300
NEW_FORM = "a formula is a Python expression: 2*a*d + d**2, not 2ad + d²"
_KNOWN = "d, a, t, l, H, whole numbers, + - * / // **, < <= == != >= >, x if … else y, alpha, sigma, min, max"


class FormulaError(ValueError):
    """A formula that cannot be read, or has no value: what is wrong, and at which character, from 0."""

    def __init__(self, said: str, place: int) -> None:
        self.said, self.place = said, place
        super().__init__(said, place)

    def __str__(self) -> str:
        return f"character {self.place + 1}: {self.said}"


@dataclass(frozen=True)
class Formula:
    """A formula that was understood: its text, and the tree of it."""

    text: str
    _tree: ast.expr = field(repr=False, compare=False)

    def value(self, sizes: Mapping[str, int], where: str | None = None) -> int:
        """The whole number that the formula gives.

        Args:
            sizes: a number for each of d, a, t, l, H.
            where: how an error calls these sizes; None: "d = 2, a = 1, …".

        Raises:
            FormulaError: if the value is a fraction, a number passes `LARGEST`, or there is none.

        >>> parse_formula("a*(2*d - a) + d**2").value({"d": 3, "a": 2, "t": 2, "l": 1, "H": 1})
        17
        """
        here = ", ".join(f"{name} = {sizes[name]}" for name in sizes) if where is None else where
        try:
            result = _value(self._tree, sizes)
        except FormulaError as error:
            raise FormulaError(f"{error.said} (at {here})", error.place) from None
        if result.denominator != 1:
            said = f"a dimension is a whole number; the formula gives {result} at {here}"
            raise FormulaError(f"{said}: // divides and rounds down", 0)
        return int(result)


def parse_formula(text: str) -> Formula:
    """Read a formula in d, a, t, l and H.

    Raises:
        FormulaError: if anything but what is known here is in it.

    >>> parse_formula("l * (alpha(a, d) + d**2)").value({"d": 2, "a": 1, "t": 2, "l": 3, "H": 1})
    21
    >>> parse_formula("2ad + d²")
    Traceback (most recent call last):
    ...
    neuroviz.beyond.formula.expression.FormulaError: character 8: '²' means nothing here; a formula is ...
    """
    if not isinstance(text, str):
        raise ValueError(f"a formula is a text such as '2*a*d + d**2'; got {text!r}")
    if len(text) > MAX_LENGTH:
        raise FormulaError(f"a formula has at most {MAX_LENGTH} characters; got {len(text)}", MAX_LENGTH)
    if not text.strip():
        raise FormulaError("type a formula, such as 2*a*d + d**2; the box is empty", 0)
    if strange := re.search(r"[^A-Za-z0-9_\s,.()+\-*/<>=!]|[^\x00-\x7f]", text):
        raise FormulaError(f"{strange[0]!r} means nothing here; {NEW_FORM}", strange.start())
    if side := re.search(r"(?<!\w)\d+(?=[A-Za-z_])", text):
        raise FormulaError(f"a * is missing after {side[0][:20]}; {NEW_FORM}", side.end())
    before = len(text) - len(text.lstrip())  # Python wants none
    try:
        tree = ast.parse(re.sub(r"\s", " ", text)[before:], mode="eval").body
    except SyntaxError as error:
        place = min(before + max((error.offset or 1) - 1, 0), len(text))
        raise FormulaError(f"Python cannot read this ({error.msg}); {NEW_FORM}", place) from None
    except (MemoryError, RecursionError):
        raise FormulaError("there are too many brackets in each other: take some away", 0) from None
    for node in ast.walk(tree):
        if hasattr(node, "col_offset"):
            node.col_offset += before
    _check(tree)
    return Formula(text, tree)


def _check(node: ast.AST) -> None:
    """Refuse what is not on the list."""
    said, parts = f"this means nothing here; known are {_KNOWN}", []
    match node:
        case ast.Constant(value=value) if type(value) is int:
            said = f"numbers go up to 10¹²; this one has {len(str(value))} digits" * (value > LARGEST)
        case ast.Constant():
            said = f"numbers are whole here; got {node.value!r}: write a fraction, such as d*(d + 1)/2"
        case ast.Name(id=name):
            said = "" if name in NAMES else f"{_advice(name)}; known are {_KNOWN}"
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            said, parts = "", [operand]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            said, parts = "", [left, right]
        case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in _COMPARE for op in ops):
            said, parts = "", [left, *others]
        case ast.IfExp(test=test, body=body, orelse=orelse):
            said, parts = "", [body, test, orelse]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            least, most = (2, 2) if name in ("alpha", "sigma") else (2, 8)
            wrong = not least <= len(args) <= most
            said = f"{name} takes {least}{f' to {most}' * (most > least)} values; got {len(args)}" * wrong
            parts = args
        case ast.Call(func=ast.Name(id="pos")):
            said = "pos(x) is max(x, 0): write that"
        case ast.Call(func=function):
            _check(function)  # an unknown name is what is wrong first
            said = f"a number is followed by (: a * is missing; {NEW_FORM}"
    if said:
        raise FormulaError(said, node.col_offset)
    for part in parts:
        _check(part)


def _advice(name: str) -> str:
    """What a word that is not known may have meant."""
    if name in _FUNCTIONS:
        return f"{name} needs its values: {name}(a, d)"
    if name.swapcase() in NAMES:
        return f"did you mean {name.swapcase()}? {name} is no letter of a formula"
    if set(name) <= set(NAMES):
        return f"{name} is one word for Python: write {'*'.join(name)}"
    return f"{name[:40]!r} is no letter of a formula"


# The value


def _value(node: ast.AST, sizes: Mapping[str, int]) -> Fraction:
    """Of a tree that `_check` has passed."""
    match node:
        case ast.Constant(value=value):
            return Fraction(value)
        case ast.Name(id=name):
            return Fraction(sizes[name])
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _value(body if _value(test, sizes) else orelse, sizes)
        case ast.UnaryOp(op=op, operand=operand):
            return -_value(operand, sizes) if isinstance(op, ast.USub) else _value(operand, sizes)
        case ast.Compare(left=left, ops=ops, comparators=others):
            values = [_value(part, sizes) for part in (left, *others)]
            pairs = zip(ops, values, values[1:], strict=False)
            return Fraction(all(_COMPARE[type(op)](x, y) for op, x, y in pairs))
        case ast.BinOp(left=left, op=op, right=right):
            function, values = _OPERATIONS[type(op)], [_value(left, sizes), _value(right, sizes)]
        case ast.Call(func=ast.Name(id=name), args=args):
            function, values = _FUNCTIONS[name], [_value(part, sizes) for part in args]
    try:
        found = Fraction(function(*values))
    except ZeroDivisionError:
        raise FormulaError("nothing can be divided by 0; the divisor is 0", node.right.col_offset) from None
    except ValueError as error:
        raise FormulaError(str(error), node.col_offset) from None
    if abs(found.numerator) > LARGEST or found.denominator > LARGEST:
        raise FormulaError("numbers go up to 10¹²; this one is larger", node.col_offset)
    return found


def _power(x: Fraction, y: Fraction) -> Fraction:
    if y.denominator != 1 or y < 0:
        raise ValueError(f"an exponent is a whole number ≥ 0; this one is {y}")
    if abs(x) not in (0, 1) and y > LARGEST.bit_length():  # before it is computed
        raise ValueError("numbers go up to 10¹²; this power is larger")
    return x ** int(y)


def _count_of(count: Callable[[int, int], int]) -> Callable[[Fraction, Fraction], int]:
    def counted(*values: Fraction) -> int:
        if wrong := [value for value in values if value.denominator != 1 or value < 0]:
            raise ValueError(f"{count.__name__} needs whole numbers ≥ 0; got {wrong[0]}")
        return count(*map(int, values))

    return counted


_OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}
_OPERATIONS |= {ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Pow: _power}
_COMPARE = {ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge}
_COMPARE |= {ast.Eq: operator.eq, ast.NotEq: operator.ne}
_FUNCTIONS = {"alpha": _count_of(alpha), "sigma": _count_of(sigma), "min": min, "max": max}
