"""The facts of an exponential that is let go: what its picture says, as plain data.

`web/softmax/new_variable_facts.ts` types them. The words of all moments go to the page,
which says them in step with what is dragged or played. Words are lists of {"text": …,
"role": …}, a line each.
"""

from neuroviz.kit.picture import Facts, words
from neuroviz.softmax.new_variable import (
    FIRST,
    KEY,
    MEET,
    PRIME,
    QUERY,
    ring_letters,
)

SCHEMA = "new_variable/1"
CURVE = "curve"
FREE = "free"
MODULO = "modulo"


def new_variable_facts(statement: str) -> Facts:
    """What the picture says of a statement at every moment, and what its formulas need.

    >>> facts = new_variable_facts("meet")
    >>> facts["table"]["rows"], facts["moments"]["curve"][0]["text"]
    (['from x₁', 'from x₂'], 'a·d = b·c: the tokens meet')
    """
    meets = statement == MEET
    return {
        "schema": SCHEMA,
        "stages": {
            CURVE: words("P = eʸ: the tokens decide"),
            FREE: words("P is let go: any number"),
            MODULO: words(f"P is a whole number modulo {PRIME}"),
        },
        "ring": [f"modulo {PRIME}", "no eʸ here"],
        "table": _MEETING_TABLE if meets else _SILENT_TABLE,
        "moments": _MEETING if meets else _SILENT,
        "formulas": formulas_of(statement),
    }


def formulas_of(statement: str) -> Facts:
    """The weights and the first token, and all letters modulo 7 but P."""
    ring = {name: one.value for name, one in ring_letters(0)._asdict().items()}
    names = "k", "q", "first", "second", "apart", "Q"
    return {
        "statement": statement,
        "k": float(KEY),
        "q": float(QUERY),
        "first": float(FIRST),
        "prime": PRIME,
        "ring": {name: ring[name] for name in names},
    }


_SILENT_TABLE = {
    "columns": ["move k", "move q"],
    "rows": ["new x₁", "new x₂"],
    "note": "derivatives, times (1+P)² and (1+Q)²",
    "why": "both are (x₂ − x₁)⁴ k q x₁ x₂ P Q",
    "true_rank": 1,
}
_MEETING_TABLE = {
    "columns": ["new x₁", "new x₂"],
    "rows": ["from x₁", "from x₂"],
    "note": "attention S, times 1+P and 1+Q",
    "why": "a·d is 1, b·c is PQ",
    "true_rank": 1,
}
_SILENT = {
    "curve": words("a·d = b·c: a direction is silent"),
    "equal": words("x₁ = x₂: every derivative is 0"),
    "free": words("P is not eʸ, and still a·d = b·c"),
    "zero": words("no tokens have P = 0, and still a·d = b·c"),
    "negative": words("even with P < 0: a·d = b·c"),
    "modulo": words(f"modulo {PRIME}, too: a·d = b·c"),
    "chance": words(f"modulo {PRIME}, too: a·d = b·c"),
}
_MEETING = {
    "curve": words("a·d = b·c: the tokens meet"),
    "equal": words("a·d = b·c: the tokens meet"),
    "free": words("P is not eʸ: they no longer meet", last="outside"),
    "zero": words("P = 0: they do not meet", last="outside"),
    "negative": words("P < 0: they do not meet", last="outside"),
    "modulo": words(f"modulo {PRIME}: the rank is wrong", last="outside"),
    "chance": words(f"equal by chance, once in {PRIME}", last="outside"),
}
