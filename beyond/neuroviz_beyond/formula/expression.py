"""Formulas that a reader types: Python expressions in d, a, t, l, H; all but arithmetic
is refused.

Known are whole numbers, these letters, + - * / // **, comparisons, x if … else y, and
alpha(a, d), sigma(a, w), min, max. Numbers are floats, so that nothing takes long.
"""

import ast
import re
from collections.abc import Callable

from neuroviz.attention.expected import alpha, sigma

NAMES = {
    "d": "width",
    "a": "head dimension",
    "t": "tokens",
    "l": "layers",
    "H": "heads",
}
MAX_LENGTH = 300  # so each whole number in it is below the largest float, 1.8 · 10³⁰⁸
NEW_FORM = "a formula is a Python expression: 2*a*d + d**2, not 2ad + d²"
_KNOWN = (
    "d, a, t, l, H, whole numbers, + - * / // **, < <= == != >= >, x if … else y,"
    " alpha, sigma, min, max"
)
_FUNCTIONS = {"alpha": alpha, "sigma": sigma, "min": min, "max": max}
_BETWEEN = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Pow)
_COMPARE = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)


def parse_formula(text: str) -> Callable[[int, int, int, int, int], float]:
    """The function of d, a, t, l and H that a text means.

    Raises:
        ValueError: if anything but what is known here is in it; it says at which
            character, from 1.

    >>> parse_formula("l * (alpha(a, d) + d**2)")(d=2, a=1, t=2, l=3, H=1)
    21.0
    >>> parse_formula("2ad + d²")
    Traceback (most recent call last):
    ...
    ValueError: character 8: '²' means nothing here; a formula is ...
    """
    if not isinstance(text, str) or len(text) > MAX_LENGTH:
        raise ValueError(
            f"a formula is a text of at most {MAX_LENGTH} characters; got {text!r:.40}"
        )
    if not text.strip():
        raise ValueError("type a formula, such as 2*a*d + d**2; the box is empty")
    if strange := re.search(r"[^A-Za-z0-9_\s,.()+\-*/<>=!]|[^\x00-\x7f]", text):
        _refuse(strange.start(), f"{strange[0]!r} means nothing here; {NEW_FORM}")
    if side := re.search(r"(?<!\w)\d+(?=[A-Za-z_])", text):
        _refuse(side.end(), f"a * is missing after {side[0][:20]}; {NEW_FORM}")
    begin = len(text) - len(text.lstrip())  # spaces that Python does not see
    try:
        # A line break would end the formula.
        tree = ast.parse(re.sub(r"\s", " ", text).strip(), mode="eval")
        _check(tree.body, begin)
        code = compile(tree, "formula", "eval")
    except SyntaxError as error:
        _refuse(
            begin + max((error.offset or 1) - 1, 0),
            f"Python cannot read this ({error.msg}); {NEW_FORM}",
        )
    except (MemoryError, RecursionError):
        raise ValueError(
            "there are too many brackets in each other: take some away"
        ) from None

    def formula(d: int, a: int, t: int, l: int, H: int) -> float:  # noqa: E741
        sizes = dict(zip(NAMES, map(float, (d, a, t, l, H)), strict=True))
        # `_check` has let nothing but arithmetic and four functions through.
        return eval(code, {"__builtins__": {}, **_FUNCTIONS}, sizes)

    return formula


def _refuse(place: int, said: str) -> None:
    raise ValueError(f"character {place + 1}: {said}") from None


def _check(node: ast.AST, begin: int) -> None:
    """Refuse everything but listed nodes, and turn whole numbers into floats; `begin`
    spaces stand before the formula."""
    said = f"this means nothing here; known are {_KNOWN}"
    parts = []
    match node:
        case ast.Constant(value=value) if type(value) is int:
            said = ""
            node.value = float(value)
        case ast.Constant():
            said = (
                f"numbers are whole here; got {node.value!r}: write a fraction, such as"
                " d*(d + 1)/2"
            )
        case ast.Name(id=name):
            said = "" if name in NAMES else f"{_advice(name)}; known are {_KNOWN}"
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            said = ""
            parts = [operand]
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _BETWEEN):
            said = ""
            parts = [left, right]
        case ast.Compare(left=left, ops=ops, comparators=others) if all(
            isinstance(op, _COMPARE) for op in ops
        ):
            said = ""
            parts = [left, *others]
        case ast.IfExp(test=test, body=body, orelse=orelse):
            said = ""
            parts = [body, test, orelse]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if (
            name in _FUNCTIONS
        ):
            wrong = len(args) < 2 or (len(args) > 2 and name in ("alpha", "sigma"))
            said = f"{name} takes two values; got {len(args)}" if wrong else ""
            parts = args
        case ast.Call(func=function):
            _check(function, begin)  # report an unknown name before anything else
            said = f"a number is followed by (: a * is missing; {NEW_FORM}"
    if said:
        _refuse(begin + node.col_offset, said)
    for part in parts:
        _check(part, begin)


def _advice(name: str) -> str:
    """A suggestion for an unknown name."""
    if name in _FUNCTIONS:
        return f"{name} needs its values: {name}(a, d)"
    if name.swapcase() in NAMES:
        return f"did you mean {name.swapcase()}? {name} is no letter of a formula"
    if set(name) <= set(NAMES):
        return f"{name} is one word for Python: write {'*'.join(name)}"
    return f"{name[:40]!r} is no letter of a formula"
