"""An executed notebook as Markdown for the site, its panels as files beside it."""

import json
import re
from dataclasses import dataclass
from html import escape, unescape

import nbformat

from neuroviz.kit.asking import FIRST_GUESS
from tools.book.capture import PANEL, PRESETS, QUESTION
from tools.book.mathml import mathml
from tools.book.questions import (
    choices_of,
    has_section,
    last_section,
    mark_folds,
    marked,
)
from tools.book.stills import add_stills
from tools.notebooks import place_of

_SHORT = 14  # lines of code that stand open
_FOR_LAB = re.compile(r"<!-- lab -->.*?<!-- end of lab -->\n?", re.DOTALL)
_FOR_PAGE = re.compile(r"<!-- page: (.*?) -->", re.DOTALL)
# What an exercise says of its cell, which is not on a page.
_OF_THE_CELL = re.compile(r'<span class="nv-how">.*?</span>', re.DOTALL)
# Beside the button, as a finger sees no tooltip.
_LIVE = (
    '<button type="button" class="nv-live" hidden>Live: all controls</button>'
    '<p class="nv-cost" hidden>{} Python into this page, some 11 MB, once; nothing is'
    ' installed.</p><p class="nv-says" role="status"></p>'
)
# Below a chart, while it is wider than its place.
_SWIPE = '<p class="nv-swipe">The chart goes on: move it sideways.</p>'
# Stands in the place of the description while a scene is elsewhere than its still.
_MOVED = (
    '<p class="nv-moved">The picture has moved. The words for its new place come'
    ' with Live. <button type="button" class="nv-return">Back to where it was'
    "</button></p>"
)


@dataclass(frozen=True)
class Page:
    """The Markdown of a notebook.

    Attributes:
        panels: name → what a browser loads of a panel.
        questions: name → what `capture.texts` says of a question.
    """

    text: str
    panels: dict[str, str]
    questions: dict[str, dict]


def page(notebook: nbformat.NotebookNode, name: str, lab: bool = False) -> Page:
    """The page of an executed notebook; name is that of `tools.notebooks.name_of`.

    With `lab` the page leads to the notebook in JupyterLite, which is there.
    """
    parts: list[str] = []
    panels: dict[str, dict] = {}
    names: dict[int, str] = {}  # number of a panel in the notebook → its name
    questions: dict[str, dict] = {}
    asked = ""  # the question whose section it is
    section = ""
    there = lab_page(to_the_top(name), name) if lab else ""
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", [])
        hidden = cell.metadata.get("jupyter", {}).get("source_hidden", False)
        if {"instructor", "exercise"} & {*tags}:
            continue
        if cell.cell_type == "markdown":
            text = linked(without_comments(for_page(cell.source)))
            section = last_section(text) or section
            parts.append(mark_folds(text, asked) if asked else text)
            if has_section(text):
                asked = ""
        else:
            parts.append(code(cell.source, hidden))
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if PANEL in data:
                identity = f"{name.replace('/', '-')}-{len(panels) + 1}"
                # A list of its own: rows of presets below add to it.
                panels[identity] = data[PANEL] | {"stills": [*data[PANEL]["stills"]]}
                if "number" in data[PANEL]:  # a figure has none
                    names[data[PANEL]["number"]] = identity
                parts.append(panel(identity, name, panels[identity]))
            elif QUESTION in data:
                asked = f"{name.replace('/', '-')}-{len(questions) + 1}"
                questions[asked] = data[QUESTION] | {"section": section}
                # the code has the answer, and all hints
                parts[-1] = marked(asked, "fold", parts[-1])
                parts.append(question(asked, data[QUESTION]))
            elif PRESETS in data:
                identity = names[data[PRESETS]["number"]]
                row = add_stills(panels[identity]["stills"], data[PRESETS]["presets"])
                parts.append(presets(row, identity))
            else:
                parts.append(on_paper(shown(output), there))
    first, *rest = parts
    text = "\n\n".join([_with_files(first, name, lab), *rest]) + "\n"
    scripts = {identity: script(identity, data) for identity, data in panels.items()}
    return Page(text, scripts, questions)


def _with_files(first: str, name: str, lab: bool) -> str:
    """The heading, then where the notebook itself is to be had."""
    heading, _, rest = first.partition("\n")
    top = to_the_top(name)
    here = (
        f'open it <a href="{lab_page(top, name)}">in the browser</a>, or take '
        if lab
        else "take "
    )
    files = (
        f'<p class="nv-files">To write in this notebook and run it: {here}'
        f'<a href="{top}files/{name}.ipynb" download>{name}.ipynb</a> or '
        f'<a href="{top}files/{name}.py" download>{name}.py</a>, and see '
        f'<a href="{top}downloads.html">how to run it</a>.</p>'
    )
    return f"{heading}\n\n{files}\n{rest}"


def lab_page(top: str, name: str) -> str:
    """The address of a notebook in JupyterLite, from a page below the top.

    >>> lab_page("../", "00_start")
    '../lab/lab/index.html?path=notebooks/00_start.ipynb'
    """
    return f"{top}lab/lab/index.html?path={place_of(name)}.ipynb"


def to_the_top(name: str) -> str:
    """The way from the page of a notebook to the top of the site.

    >>> to_the_top("00_start"), to_the_top("beyond/unrolling")
    ('../', '../../')
    """
    return "../" * place_of(name).count("/")


def linked(text: str) -> str:
    """Links to notebooks lead to their pages; links to files that the site has not
    become plain text.

    JupyterLab's anchors keep capitals, those of the site do not.

    >>> linked("[up](#Walk-along)")
    '[up](#walk-along)'
    >>> linked("[Start](00_start.ipynb), [up](../00_start.ipynb)")
    '[Start](00_start.md), [up](../00_start.md)'
    >>> linked("[Unrolling](../beyond/notebooks/unrolling.ipynb), [more](../README.md)")
    '[Unrolling](../beyond/notebooks/unrolling.md), more'
    >>> linked("[status](mathematics/index.md#status), [code](../tools/links.py)")
    '[status](mathematics/index.md#status), code'
    >>> linked("[why](../notebooks/00_start.ipynb#How-do-we-know?)")
    '[why](../notebooks/00_start.md#how-do-we-know)'
    >>> linked("[B](../beyond/docs/softmax_uniqueness.md), [more](../beyond)")
    '[B](../beyond/docs/softmax_uniqueness.md), more'
    """

    def turned(found: re.Match) -> str:
        words = found["words"]
        target = found["target"]
        if target.startswith("#"):
            return found[0].replace(target, target.lower())
        if re.match(r"[a-z]+:", target):
            return found[0]
        path, _, place = target.partition("#")
        inside = re.fullmatch(
            r"(\.\./)*((beyond/)?(notebooks|docs)/)?(mathematics/)?"
            r"[\w-]+\.(ipynb|md)",
            path,
        )
        if not inside or path.endswith(("../README.md", "../CONTRIBUTING.md")):
            return words
        if path.endswith(".ipynb"):
            place = re.sub(r"[^\w-]", "", place.lower())
        page = path.removesuffix(".ipynb").removesuffix(".md")
        return f"[{words}]({page}.md{'#' + place if place else ''})"

    return re.sub(
        r"(?<!!)\[(?P<words>[^\]\[]+)\]\((?P<target>[^()\s]+)\)", turned, text
    )


def for_page(text: str) -> str:
    """What a notebook says to readers in JupyterLab alone goes; what it says to those
    of a page alone, in a comment, appears.

    >>> for_page("<!-- lab -->Press Shift and Enter. <!-- end of lab -->Read.")
    'Read.'
    >>> for_page("Read. <!-- page: Press **Live**. -->")
    'Read. Press **Live**.'
    """
    return _FOR_PAGE.sub(r"\1", _FOR_LAB.sub("", text))


def without_comments(text: str) -> str:
    """Remarks to the teacher and checks are comments, which a page does not need.

    >>> without_comments("Look. <!-- teacher (2 min): wait. -->")
    'Look. '
    >>> without_comments("38 count.\\n<!-- check: n == 38 -->\\nSo it is.")
    '38 count.\\nSo it is.'
    """
    comment = r"<!--(?:(?!-->).)*-->"
    line = rf"^[ \t]*{comment}[ \t]*\n"
    return re.sub(rf"{line}|{comment}", "", text, flags=re.DOTALL | re.MULTILINE)


def on_paper(shown: str, lab: str) -> str:
    """An exercise has no cell on a page; `lab` is the notebook in the browser, or
    empty.

    >>> on_paper('Find Q. <span class="nv-how">Fill in the next cell.</span>', "")
    'Find Q. On paper here; in JupyterLab the next cell checks it.'
    """
    there = f'JupyterLab or <a href="{lab}">in the browser</a>' if lab else "JupyterLab"
    return _OF_THE_CELL.sub(
        f"On paper here; in {there} the next cell checks it.", shown
    )


def fenced(text: str, kind: str) -> str:
    """Text between fences that are longer than any in it."""
    longest = max(map(len, re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{kind}\n{text.rstrip()}\n{fence}"


def code(source: str, folded: bool) -> str:
    """A cell of code; long ones are folded, and so are those that the notebook says to
    fold."""
    lines = source.count("\n") + 1
    shown_as = fenced(source, "python")
    if not folded and lines <= _SHORT:
        return shown_as
    return (
        f'<details class="nv-code"><summary>Code, {lines}'
        f" line{'s' * (lines > 1)}</summary>\n\n{shown_as}\n\n</details>"
    )


def shown(output: dict) -> str:
    """What a cell shows, as text."""
    if output["output_type"] == "error":
        return fenced(f"{output['ename']}: {output['evalue']}", "text")
    if output["output_type"] == "stream":
        return fenced(output["text"], "text") if output["name"] == "stdout" else ""
    data = output.get("data", {})
    if "text/html" in data:
        typeset = re.sub(
            r"\$([^$]+)\$",
            lambda m: mathml(unescape(m[1]), "inline"),
            data["text/html"],
        )
        return "\n".join(line for line in typeset.splitlines() if line.strip())
    return fenced(data["text/plain"], "text")


def question(identity: str, data: dict) -> str:
    """A question to the reader, with the answer folded, and with what book/guess.ts
    needs to take a guess first."""
    remarks = ""
    if data["remarks"]:
        what = "Wrong guesses, and what each of them overlooks:"
        if data["kind"] == "choice":  # the right one is among them
            what = "The choices, one by one:"
        listed = data["remarks"]
        if data["kind"] == "number":
            listed = sorted(listed, key=lambda remark: float(remark[0]))
        lines = [f"* {_said(guess)}: {hint}" for guess, hint in listed]
        remarks = "\n".join([f"{what}\n", *lines])
    badge = f"{data['badge']} " if data["badge"] else ""
    asks = f' data-asks="{escape(data["asks"])}"' if data["asks"] else ""
    known = {
        "answer": data["answer"],
        "choices": choices_of(data),
        "remarks": dict(data["remarks"]),
    }
    guess = escape(json.dumps(known, ensure_ascii=False))
    fold = (
        f'<details class="nv-question"{asks} data-guess="{guess}">\n<summary>\n\n'
        f"**Predict.** {data['question']}\n\n"
        "</summary>\n\n"
        f"{badge}**{_said(data['answer'])}**. {data['why']}\n\n"
        f"<!-- remarks -->\n\n{remarks}\n\n</details>"
    )
    return marked(identity, "question", fold)


def _said(guess: str) -> str:
    """A guess as it is read: a number has a minus sign, and no hyphen."""
    return re.sub(r"^-(?=\d)", "−", guess)


def presets(listed: list[dict], identity: str = "") -> str:
    """Labels, of which book/panel.ts makes buttons; `identity` is that of the panel,
    where they stand elsewhere.

    >>> two = {"label": "two layers", "state": "layers=2", "still": 3}
    >>> presets([two, {"label": "a < d", "state": "a=2", "still": None}])
    '<p class="nv-presets">Buttons of the panel:
    <span data-state="layers=2" data-still="3">two layers</span>
    <span data-state="a=2" title="needs Live">a &lt; d</span></p>'
    """
    words = ""
    for preset in listed:
        still = preset["still"]
        place = ' title="needs Live"' if still is None else f' data-still="{still}"'
        state = escape(preset["state"])
        words += f' <span data-state="{state}"{place}>{escape(preset["label"])}</span>'
    of = f' data-panel="{identity}"' if identity else ""
    return f'<p class="nv-presets"{of}>Buttons of the panel:{words}</p>'


def script(identity: str, data: dict) -> str:
    """The data of a panel as a script: a page from a folder may load scripts, but no
    other files."""
    names = "name", "here", "main", "height", "figure", "stills"
    kept = {key: data[key] for key in names if key in data}
    text = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
    return f"neurovizPanel({json.dumps(identity)},{text});\n"


def panel(identity: str, notebook: str, data: dict) -> str:
    """The place of a panel in the page: all its words are there before any script
    runs."""
    here = data["here"]
    still = data["stills"][here]
    if not data["control"]:
        return _figure(identity, data)
    stills = data["stills"][: data["main"]]
    last = len(stills) - 1
    if data["words"]:
        options = ""
        for place, one in enumerate(stills):
            chosen = " selected" if place == here else ""
            label = escape(one["label"])
            options += f'<option value="{place}"{chosen}>{label}</option>'
        control = f'<select id="{identity}-control">{options}</select>'
    else:
        control = (
            f'<input type="range" id="{identity}-control" min="0" max="{last}" step="1"'
            f' value="{here}" aria-valuetext="{escape(still["label"])}"><output'
            f' for="{identity}-control">{escape(still["label"])}</output>'
        )
    file = f"{to_the_top(notebook)}files/{notebook}.ipynb"
    others = escape(", ".join(data["others"])) or "everything else"
    live = _LIVE.format(
        "Live and the buttons below fetch"
        if any(preset["still"] is None for preset in data["presets"])
        else "Live fetches"
    )
    said = still["description"]
    asking = asked = ""
    if data["open"]["asks"]:
        # All words are in the page; the style sheet hides them until it is moved.
        said = unescape(re.sub("<[^>]*>", "", still["title"].partition("<span")[0]))
        asking = " nv-asking"
        asked = (
            f'<div class="nv-asked">{FIRST_GUESS} '
            '<button type="button" class="nv-show">Show me</button></div>'
        )
    is_scene = "facts" in data["figure"]
    swipe = "" if is_scene else _SWIPE
    lines = [
        (
            f'<div class="nv-panel{asking}" id="{identity}" data-here="{here}" '
            f'data-open="{escape(json.dumps(data["open"]))}">'
        ),
        f'<div class="nv-title">{still["title"]}</div>',
        (
            '<div class="nv-control"><label'
            f' for="{identity}-control">{escape(data["control"])}</label>'
        ),
        f"{control}{live}</div>",
        *([presets(data["presets"])] if data["presets"] else []),
        (
            '<div class="nv-scroll"><div class="nv-figure" role="group"'
            f' aria-label="{escape(said.strip())}"'
            f' style="min-height:{data["height"]}px"></div></div>{swipe}'
        ),
        (
            '<div class="nv-words"><div class="nv-description"'
            f' aria-live="polite">{escape(still["description"])}</div>'
            f"{_MOVED * is_scene}{asked}</div>"
        ),
        f'<div class="nv-below">This is one control of the panel. Live has the others,'
        f" and so has "
        f'<a href="{file}" download>the notebook</a>: {others}. '
        f'<span class="nv-at">State: <code>{escape(data["state"])}</code></span></div>',
        "</div>",
    ]
    return "\n".join(lines)


def _figure(identity: str, data: dict) -> str:
    """The place of a figure that nothing moves; what it says is in it."""
    said = escape(data["stills"][0]["description"])
    return (
        f'<div class="nv-panel" id="{identity}" data-here="0">\n<div class="nv-scroll">'
        f'<div class="nv-figure" role="group" aria-label="{said}"'
        f' style="min-height:{data["height"]}px"></div></div>{_SWIPE}\n</div>'
    )
