"""Printing where the output has few signs, as a file on Windows has: → as ->, − as -,
instead of an error."""

import codecs
import sys
import unicodedata

_SIGNS = {
    "→": "->",
    "←": "<-",
    "↦": "|->",
    "↑": "^",
    "⇄": "<->",
    "−": "-",
    "–": "-",
    "—": "-",
    "─": "-",
    "━": "-",
    "·": "*",
    "×": "x",
    "÷": "/",
    "±": "+-",
    "≤": "<=",
    "≥": ">=",
    "≪": "<<",
    "≫": ">>",
    "≠": "!=",
    "≈": "~",
    "∞": "infinity",
    "√": "sqrt ",
    "∏": "product ",
    "∈": " in ",
    "⊗": "(x)",
    "∘": "o",
    "∂": "d",
    "‖": "||",
    "⟨": "<",
    "⟩": ">",
    "′": "'",
    "’": "'",
    "“": '"',
    "”": '"',
    "…": "...",
    "⋯": "...",
    "°": " degrees",
    "●": "*",
    "○": "o",
    "◆": "*",
    "◇": "o",
    "■": "#",
    "□": "#",
    "▨": "#",
    "✓": "yes",
    "✗": "no",
    "✕": "x",
    "½": "1/2",
    "¼": "1/4",
    "①": "(1)",
    "②": "(2)",
    "⊥": "perp",
    "⟂": "perp",
    "\u2002": " ",
    "\u2003": " ",
}
_HANDLER = "neuroviz"


def plain(text: str) -> str:
    """A text in signs that every output has; what has no such form is written as Python
    writes it.

    >>> plain("3→3, d₁ = −10⁻¹² ≤ θ"), plain("名")
    ('3->3, d1 = -10^-12 <= theta', '\\\\u540d')
    """
    said = ""
    was_raised = False
    for sign in text:
        # Of ² this is "<super> 0032": how it differs from a plain sign, and that one.
        kind, _, code = unicodedata.decomposition(sign).partition(" ")
        is_raised = kind == "<super>"
        if is_raised and not was_raised:
            said += "^"
        # A sign of several letters, such as ™, has several codes.
        if kind in ("<super>", "<sub>", "<font>") and " " not in code:
            sign = chr(int(code, 16))
        # The last word of GREEK SMALL LETTER THETA; a slanted θ is plain by now.
        if unicodedata.name(sign, "").startswith("GREEK "):
            found = unicodedata.name(sign).split()[-1]
            sign = found.lower() if sign.islower() else found.capitalize()
        said += _SIGNS.get(sign, sign)
        was_raised = is_raised
    return said.encode("ascii", "backslashreplace").decode("ascii")


def print_everywhere() -> None:
    """Let standard output write all signs of neuroviz, as far as it would fail at
    them."""
    output = sys.stdout
    # Only strict fails; what a notebook puts in its place writes all signs.
    if getattr(output, "errors", None) != "strict" or not hasattr(
        output, "reconfigure"
    ):
        return
    try:
        "".join(_SIGNS).encode(output.encoding)
    except UnicodeEncodeError:
        codecs.register_error(_HANDLER, _replaced)
        output.reconfigure(errors=_HANDLER)


def _replaced(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return plain(error.object[error.start : error.end]), error.end
