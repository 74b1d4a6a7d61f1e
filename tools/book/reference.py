"""The reference: a page for each module, from the docstrings, as Markdown."""

import importlib
import importlib.util
import inspect
import pkgutil
import re
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import neuroviz
import neuroviz_beyond
from tools.book.pages import fenced

_OURS = "neuroviz", "neuroviz_beyond"
_PANELS = "neuroviz.explorables", "neuroviz_beyond.explorables"
_DRAW_NOTHING = ("bar", "measured", "settings", "steps", "words")
"""Modules of `kit` that draw nothing."""
_SECTIONS = ("Args", "Attributes", "Raises", "Returns", "Yields", "Controls", "Usage")


def modules() -> list[str]:
    """The modules that have a page, those that list public names first; what draws has
    none."""
    packages = neuroviz, neuroviz_beyond
    found = [
        one
        for package in packages
        for one in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        if not one.ispkg
    ]
    rest = (one.name for one in found if not _draws(one.name))
    first = ["neuroviz", "neuroviz.explorables", "neuroviz.lessons.teaching"]
    first += ["neuroviz_beyond", "neuroviz_beyond.explorables"]
    return first + sorted(name for name in rest if name not in first)


def _draws(name: str) -> bool:
    """Whether a module is one of `kit` that draws, or a figure or panel made with
    it."""
    if name.startswith("neuroviz.kit."):
        return name.rpartition(".")[2] not in _DRAW_NOTHING
    source = Path(importlib.util.find_spec(name).origin).read_text(encoding="utf-8")
    others = "|".join(_DRAW_NOTHING)
    return bool(
        re.search(rf"neuroviz\.kit(?!\.({others})\b)|import ipywidgets", source)
    )


def own_names(module: ModuleType) -> list[str]:
    """The public functions and classes that a module defines, in its order.

    >>> from neuroviz.rank import elimination
    >>> "exact_rank" in own_names(elimination), "Float64" in own_names(elimination)
    (True, False)
    """
    names = []
    for name, value in vars(module).items():
        is_code = inspect.isclass(value) or inspect.isroutine(value)
        if name.startswith("_") or not is_code:
            continue
        # What is imported has the name of another module.
        if getattr(value, "__module__", "") == module.__name__:
            names.append(name)
    return names


def module_page(name: str) -> str:
    """The page of a module: what it is about, then each of its functions and
    classes."""
    module = importlib.import_module(name)
    parts = [f"# {name}", prose(inspect.getdoc(module) or "")]
    # Once each: asking for a name can load the module that a second question would find
    # in its place.
    values = {one: getattr(module, one) for one in getattr(module, "__all__", ())}
    listed = {
        one: value for one, value in values.items() if _home(value) not in ("", name)
    }
    if name in _PANELS:  # its modules have no pages of their own
        return "\n\n".join(
            [
                *parts,
                *(entry(f"{name}.{one}", value, 2) for one, value in listed.items()),
            ]
        )
    if listed:
        rows = [_row(one, value) for one, value in listed.items()]
        parts += ["| name | what it is |\n| --- | --- |\n" + "\n".join(rows)]
    for one in own_names(module):
        parts.append(entry(f"{name}.{one}", getattr(module, one), level=2))
    return "\n\n".join(filter(None, parts)) + "\n"


def _home(value: object) -> str:
    """The module of ours in which a function or class is written; empty for
    anything else."""
    home = getattr(value, "__module__", None) or ""
    return home if home.partition(".")[0] in _OURS else ""


def _row(name: str, value: object) -> str:
    home = _home(value)
    first = (inspect.getdoc(value) or "").split("\n\n")[0].replace("\n", " ")
    return f"| [`{name}`]({home}.md#{anchor(f'{home}.{name}')}) | {escaped(first)} |"


def anchor(path: str) -> str:
    """The name under which a page can be linked at a function or class; upper and lower
    case are one there.

    >>> anchor("neuroviz_beyond.sweeps.sweep"), anchor("neuroviz_beyond.sweeps.Sweep")
    ('neuroviz_beyond-sweeps-sweep', 'class-neuroviz_beyond-sweeps-sweep')
    """
    kind = "class-" if path.rpartition(".")[2][:1].isupper() else ""
    return kind + re.sub(r"[^a-z0-9_-]", "-", path.lower())


def entry(path: str, value: object, level: int) -> str:
    """A function or class: heading, signature, docstring; a class with its public
    methods."""
    parts = [f"({anchor(path)})=\n{'#' * level} {escaped(path.rpartition('.')[2])}"]
    if written := signature(path.rpartition(".")[2], value):
        parts.append(fenced(written, "python"))
    text = inspect.getdoc(value) or ""
    if inspect.isclass(value) and text.startswith(f"{value.__name__}("):
        text = ""  # what dataclasses write where nothing is written
    parts.append(prose(text))
    if inspect.isclass(value):
        for name, method in vars(value).items():
            plain = getattr(method, "__func__", method)
            is_property = isinstance(plain, property)
            if name.startswith("_") or not (inspect.isfunction(plain) or is_property):
                continue
            if doc := inspect.getdoc(plain):
                said = f"`{name}`" if is_property else f"`{_call(name, plain)}`"
                parts.append(
                    f'{said}\n\n<div class="nv-method">\n\n{prose(doc)}\n\n</div>'
                )
    return "\n\n".join(filter(None, parts))


def signature(name: str, value: object) -> str:
    """A call as it is written, annotations included; empty where Python does not say.

    >>> from neuroviz.attention.unrolling import unroll
    >>> signature("unroll", unroll).startswith("unroll(")
    True
    """
    text = _call(name, value)
    if len(text) <= 100:
        return text
    # A line for each argument, which begins with its name.
    return re.sub(
        r", (?=\*{0,2}\w+(?::|=|,|\)))", ",\n    ", text.replace("(", "(\n    ", 1)
    )


def _call(name: str, value: object) -> str:
    """The same in one line.

    >>> from neuroviz_beyond.transformers.comparison import Verdict
    >>> _call("worse", Verdict.worse)
    "worse(self, other: 'Verdict') -> 'Verdict'"
    """
    try:
        known = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    short = [
        one.replace(default=...) if len(repr(one.default)) > 60 else one
        for one in known.parameters.values()
    ]
    found = str(known.replace(parameters=short)).replace("Ellipsis", "...")
    # A function or class as a default is written by its name alone.
    found = re.sub(r"<(?:function|class) '?([\w.]+)'?[^>]*>", r"\1", found)
    home = r"\b(?:neuroviz(?:_beyond)?(?:\.\w+)+|collections\.abc|typing|types)\."
    return name + re.sub(home, "", found)


def escaped(text: str) -> str:
    """Plain text as Markdown; what stands between backquotes stays code.

    >>> escaped("a_i * `b_j` < 1")
    'a\\\\_i \\\\* `b_j` \\\\< 1'
    """
    parts = re.split(r"(`[^`]+`)", text)
    return "".join(
        (
            p
            if p[:1] == "`" and len(p) > 1
            else re.sub(r"([\\`*_\[\]<>$|#{}~])", r"\\\1", p)
        )
        for p in parts
    )


def prose(doc: str) -> str:
    """A docstring as Markdown: paragraphs, formulas as they are set, lists of
    arguments, examples.

    >>> print(prose("Adds.\\n\\n    a + b\\n\\nArgs:\\n    a: one,\\n        or two."))
    Adds.
    <BLANKLINE>
    ```text
    a + b
    ```
    <BLANKLINE>
    **Args**
    <BLANKLINE>
    * `a`: one, or two.
    """
    return "\n\n".join(
        _block(block) for block in re.split(r"\n\s*\n", doc) if block.strip()
    )


def _block(block: str) -> str:
    lines = block.strip("\n").splitlines()
    heading = lines[0].removesuffix(":")
    if heading in _SECTIONS and len(lines) > 1 and lines[1].startswith(" "):
        return f"**{heading}**\n\n{_items(dedent(chr(10).join(lines[1:])))}"
    text = dedent("\n".join(lines))
    if text.startswith(">>>"):
        return fenced(text, "pycon")
    if all(line.startswith("  ") for line in lines):
        return fenced(text, "text")
    if re.match(r"[*-] ", text):
        # `escaped` makes plain text of a star, and lets a dash be: both begin an item.
        return re.sub(r"(?m)^\\\* ", "* ", escaped(text))
    return escaped(text)


def _items(text: str) -> str:
    """name: what it is, one each; lines that are indented belong to the one before."""
    joined = re.sub(r"\n\s+", " ", text)
    return "\n".join(
        (
            f"* `{found[1]}`: {escaped(found[2])}"
            if (found := re.match(r"([\w.*, ]+): (.*)", line))
            else f"* {escaped(line)}"
        )
        for line in joined.splitlines()
    )
