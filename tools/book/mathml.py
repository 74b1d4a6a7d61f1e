"""A part of Sphinx: formulas become MathML, which browsers draw by themselves."""

import re
import xml.etree.ElementTree as ET

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

_MATHML = "http://www.w3.org/1998/Math/MathML"
_LONG = 22  # leaves of a formula in a line of text, beyond which it may be broken
_RELATIONS = set("=≠≤≥<>∈→↦⊂≅≈,;∖⟶⇒⇔≔∼")
_ROWS = ("mrow", "math", "mtd", "mstyle")
_SCRIPTS = ("msub", "msup", "msubsup", "munder", "mover", "munderover")
_SIGNS = set("+−±∓")
_BARS = set("|‖")
_ENDS = set(")]}⟩⌉⌋!…⋯")  # operators that end a term: a sign behind them joins two
_WORD = {"mi", "mn", "msub", "msup", "msubsup", "mover", "munder", "mfrac", "msqrt"}

ET.register_namespace("", _MATHML)


def mathml(latex: str, display: str) -> str:
    """A formula as MathML; a long one in a line of text in several pieces, so that the
    line can break.

    >>> mathml("A = K^\\\\top Q", "inline").count("<msup>")
    1
    >>> "<mi>Sym</mi><mspace" in mathml(r"\\mathrm{Sym} M_1", "inline")
    True
    >>> mathml("x" + "+x" * 20 + "= y", "inline").count("<math")
    2
    >>> '<mo form="prefix">−</mo>' in mathml("a = -b", "inline")
    True

    Raises:
        ValueError: if a command is not understood.
    """
    # Letters of other alphabets are characters of their own only where the letter
    # stands in braces.
    braced = re.sub(
        r"\\math(bb|cal|sf|bf|frak|scr)\s+([A-Za-z0-9])", r"\\math\1{\2}", latex
    )
    try:
        root = ET.fromstring(convert(braced, display=display))
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise ValueError(f"this formula has no MathML: {latex!r} ({why})") from error
    _tidy(root)
    pieces = _pieces(root) if display == "inline" else [root]
    found = "<wbr>".join(ET.tostring(piece, encoding="unicode") for piece in pieces)
    if "\\" in found:
        raise ValueError(
            f"this formula has no MathML, a command is left over: {latex!r}"
        )
    if other := re.search(r'mathvariant="(?!normal)[^"]*"', found):
        # they draw a plain letter
        raise ValueError(f"browsers do not know {other[0]}: {latex!r}")
    return found


def _name(element: ET.Element) -> str:
    return element.tag.removeprefix(f"{{{_MATHML}}}")


def _is_roman(element: ET.Element) -> bool:
    return _name(element) == "mi" and element.get("mathvariant") == "normal"


def _tidy(element: ET.Element) -> None:
    """Words in one piece, and a thin space between them, or a function such as dim, and
    what follows."""
    for child in element:
        _tidy(child)
    if _name(element) == "mn" and element.get("mathvariant") == "bold":
        # Browsers know no bold variant; bold digits are characters of their own.
        element.text = element.text.translate(
            {ord("0") + i: 0x1D7CE + i for i in range(10)}
        )
        del element.attrib["mathvariant"]
    if _name(element) == "mi" and element.text in ("±", "∓", "⟺"):
        element.tag = f"{{{_MATHML}}}mo"
    if _name(element) == "mo" and element.text in ("⊤", "∞"):
        element.tag = f"{{{_MATHML}}}mi"  # a name: no room beside it
    # In others, such as a fraction, a child's place is its meaning.
    if _name(element) not in _ROWS:
        return
    kept: list[ET.Element] = []
    for child in element:
        # A row around one thing is that thing.
        while _name(child) == "mrow" and len(child) == 1:
            child = child[0]
        # The converter makes an element of each letter of a word.
        joins = kept and _is_roman(child) and _is_roman(kept[-1])
        if joins and (
            len(child.text or "") == len(kept[-1].text or "") == 1 or _is_word(kept[-1])
        ):
            kept[-1].text += child.text
            continue
        kept.append(child)
    spaced: list[ET.Element] = []
    for child in kept:
        if spaced and _is_word(spaced[-1]) and _name(child) in _WORD:
            spaced.append(ET.Element(f"{{{_MATHML}}}mspace", width="0.167em"))
        spaced.append(child)
    for child in spaced:
        if _is_word(child):
            child.attrib.pop("mathvariant", None)  # upright by themselves
    element[:] = spaced
    _say_forms(element)


def _say_forms(row: ET.Element) -> None:
    """Whether a sign begins a term or joins two, and a bar opens or closes.

    Browsers guess it from the place in the row: they take all but the first and the
    last for operators between two terms, with room at both sides.
    """
    found = [one for one in map(_operator, row) if one is not None]
    bars = [one for one in found if one.text in _BARS and "form" not in one.attrib]
    if len(bars) % 2 == 0:
        for number, bar in enumerate(bars):
            bar.attrib |= {
                "form": "postfix" if number % 2 else "prefix",
                "stretchy": "false",
            }
    is_begun = False
    for child in row:
        if _name(child) == "mspace":
            continue
        operator = _operator(child)
        if operator is None:
            is_begun = True
            continue
        if operator.text in _SIGNS and not is_begun:
            operator.set("form", "prefix")
        is_begun = operator.text in _ENDS or operator.get("form") == "postfix"


def _operator(element: ET.Element) -> ET.Element | None:
    """It, or what it is of that has an index or a power."""
    if _name(element) == "mo":
        return element
    return _operator(element[0]) if _name(element) in _SCRIPTS else None


def _is_word(element: ET.Element) -> bool:
    return _name(element) == "mi" and len(element.text or "") > 1


def _pieces(root: ET.Element) -> list[ET.Element]:
    """The formula, or its pieces, each of which ends with a relation or comma of the
    outermost level."""
    row = root[0] if len(root) == 1 and _name(root[0]) == "mrow" else root
    if sum(1 for leaf in row.iter() if not len(leaf)) <= _LONG:
        return [root]
    groups: list[list[ET.Element]] = [[]]
    depth = 0
    for child in row:
        groups[-1].append(child)
        if _name(child) == "mo":
            if child.text in "([{⟨⌈⌊":
                depth += 1
            elif child.text in ")]}⟩⌉⌋":
                depth -= 1
            if child.text in _RELATIONS and depth <= 0:
                groups.append([])
    found = []
    for group in filter(None, groups):
        piece = ET.Element(root.tag, root.attrib)
        inner = ET.SubElement(piece, f"{{{_MATHML}}}mrow")
        inner.extend(group)
        found.append(piece)
    return found


def _inline(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def _block(writer: HTML5Translator, node: nodes.math_block) -> None:
    formula = mathml(node.astext(), "block")
    writer.body.append(
        f'<div class="nv-formula" tabindex="0" role="group">{formula}</div>\n'
    )
    raise nodes.SkipNode


def joined(html: str) -> str:
    """The page with every formula of a line kept together with the punctuation that
    follows it.

    >>> joined('of <math display="inline">X</math>, and')
    'of <span class="nv-joined"><math display="inline">X</math>,</span> and'
    """
    formula = r'<math\b[^>]*display="inline"[^>]*>(?:(?!</math>).)*</math>'
    return re.sub(
        rf"({formula}[,.;:?!)]+)",
        r'<span class="nv-joined">\1</span>',
        html,
        flags=re.DOTALL,
    )


def _keep_together(
    _app: Sphinx, _page: str, _template: str, context: dict, _tree: object
) -> None:
    if "body" in context:
        context["body"] = joined(context["body"])


def setup(app: Sphinx) -> dict:
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.connect("html-page-context", _keep_together)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
