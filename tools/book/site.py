"""Put the site together: sources in Markdown, then Sphinx, then the files that pages
load."""

import gzip
import json
import re
import shutil
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from posixpath import normpath

import plotly.offline
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

from neuroviz.kit import theme
from neuroviz.kit.page import bundle, painters
from neuroviz.rank.checks import SlipError
from tools import links
from tools.book import font, front, questions, reference
from tools.book.live import build as live
from tools.book.pages import lab_page, linked, page, without_comments
from tools.book.run import executed
from tools.notebooks import from_source, name_of, place_of, sources, to_text

ROOT = Path(__file__).parents[2]
STATIC = Path(__file__).with_name("static")
PLAN = "docs/class_session.md"
"""Its questions stand first in the teacher's list."""
TEMPLATES = Path(__file__).with_name("templates")
_HERE = f'<a href="{lab_page("", "00_start")}">JupyterLab in the browser</a>'
_LAB = (
    f"{_HERE} has all notebooks. Nothing is installed. What you change is kept in this"
    " browser; to take it along choose *Save Notebook*, then *Download*, in the menu"
    " *File*."
)
# roles that the style sheets of pages name
_OF_THE_PAGE = ("ground", "panel", "ink", "soft", "axis", "grid", "certified", "focus")


def build(
    out: Path,
    notebooks: Iterable[str] | None = None,
    jobs: int = 1,
    pyodide: str = live.PYODIDE,
    lab: bool = False,
    modules: Iterable[str] | None = None,
) -> Path:
    """Build the site into a folder and return that of its pages, which may be copied
    anywhere.

    Args:
        out: a folder for everything; what was run before is kept there, and used where
            nothing changed.
        notebooks: the names of the notebooks to run, such as "00_start" or
            "beyond/unrolling"; None for all of them. The others are left out of the
            site.
        jobs: how many notebooks to run at a time.
        pyodide: where a page finds Python: an address, or a folder beside `lab/`, such
            as "../pyodide/".
        lab: whether JupyterLab will stand in `lab/`: then a page leads there.
        modules: the names of the modules that get a page; None for all of them. Names
            of the others are plain text.

    Raises:
        SlipError: if there is no notebook of that name, or jobs is less than 1.
        ValueError: if a panel fails.
    """
    if jobs < 1:
        raise SlipError(
            f"jobs is how many notebooks run at a time, 1 or more; got {jobs}"
        )
    every = {name_of(path): path for path in sources()}
    chosen = list(every if notebooks is None else notebooks)
    if unknown := [name for name in chosen if name not in every]:
        raise SlipError(f"notebooks are {', '.join(every)}; got {', '.join(unknown)}")
    every_module = reference.modules()
    modules = every_module if modules is None else list(modules)
    source = out / "source"
    site = out / "site"
    for folder in (source, site):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)

    with ThreadPoolExecutor(jobs) as pool:
        results = list(
            pool.map(lambda name: executed(every[name], out / "run"), chosen)
        )
    panels = {}
    asked = {}
    for name, notebook in zip(chosen, results, strict=True):
        made = page(notebook, name, lab)
        _write(source / f"{place_of(name)}.md", _only_to(made.text, chosen))
        panels |= made.panels
        asked |= made.questions
    for name in texts():
        text = without_comments((ROOT / f"{name}.md").read_text(encoding="utf-8"))
        _write(source / f"{name}.md", _only_to(linked(text), chosen))
    for name in modules:
        text = reference.module_page(name)
        for other in every_module:
            if other not in modules:
                text = _unlinked(text, f"{other}.md")
        _write(source / "reference" / f"{name}.md", text)
    _write(
        source / "index.md",
        _only_to(_filled("index.md", chosen, lab), chosen),
    )
    _write(source / "downloads.md", _filled("downloads.md", chosen, lab))
    listed = _filled("reference.md", chosen, modules=modules)
    _write(source / "reference.md", listed)

    _sphinx(source, site)
    _files(site, chosen, panels, pyodide)
    plan = (ROOT / PLAN).read_text(encoding="utf-8")
    questions.write(site, asked, called(chosen), questions.planned(plan))
    return site


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


def _only_to(text: str, chosen: list[str]) -> str:
    """Links to notebooks that are not in this site become plain text."""
    for path in sources():
        if name_of(path) not in chosen:
            text = _unlinked(text, f"{path.stem}.md")
    return text


def _unlinked(text: str, target: str) -> str:
    return re.sub(
        rf"\[([^\]\[]+)\]\([^()\s]*{re.escape(target)}[^()\s]*\)", r"\1", text
    )


def texts() -> list[str]:
    """The pages of docs/ and beyond/docs/, as their paths without ending; those of the
    mathematics come last, in the order in which its first page names them.

    >>> texts()[0], [name for name in texts() if "mathematics" in name][:2]
    ('docs/class_evening', ['docs/mathematics/index', 'docs/mathematics/conventions'])
    """
    folders = ("docs", "docs/mathematics", "beyond/docs")
    found = [
        sorted(f"{folder}/{path.stem}" for path in (ROOT / folder).glob("*.md"))
        for folder in folders
    ]
    first = f"{folders[1]}/index"
    text = (ROOT / f"{first}.md").read_text(encoding="utf-8")
    named = re.findall(r"\]\(([^)#:]+)\.md", text.partition("## Pages")[2])
    order = [first, *(normpath(f"{folders[1]}/{name}") for name in named)]
    others = [name for name in found[2] if name not in order]
    # `order.index` fails at a page that the first one does not name.
    mathematics = found[1] + [name for name in found[2] if name in order]
    return found[0] + others + sorted(mathematics, key=order.index)


def _filled(
    name: str, notebooks: list[str], lab: bool = False, modules: Iterable[str] = ()
) -> str:
    """A page of templates/, its lists filled in."""
    url = links.repository()
    address = "" if "/OWNER/" in url else url
    rows = [
        f'| {_heading(one)} | <a href="files/{one}.ipynb" download>{one}.ipynb</a> '
        f'| <a href="files/{one}.py" download>{one}.py</a> |'
        for one in notebooks
    ]
    lists = {
        "NOTEBOOKS": _listed("Notebooks", [one for one in notebooks if "/" not in one]),
        "FURTHER": _listed("More notebooks", [one for one in notebooks if "/" in one]),
        "LAB": _LAB if lab else "",
        "HERE": f"{_HERE}, without an installation. " if lab else "",
        "BEGIN": front.begin(notebooks),
        "MINUTES": front.minutes(),
        "PICTURE": front.picture(),
        "CARDS": front.cards(notebooks),
        "MORE": front.more(notebooks),
        "TEXTS": "\n".join(one for one in texts() if one.count("/") == 1),
        "MATHEMATICS": "\n".join(one for one in texts() if "/mathematics/" in one),
        "BEYOND": "\n".join(one for one in texts() if one.startswith("beyond/")),
        "MODULES": "\n".join(f"reference/{one}" for one in modules),
        "FILES": "\n".join(
            ["| notebook | for JupyterLab | as text |", "| --- | --- | --- |", *rows]
        ),
        "CLONE": (
            f"git clone {address}\ncd neuroviz\nmake lab" if address else "make lab"
        ),
    }
    text = (TEMPLATES / name).read_text(encoding="utf-8")
    for key, value in lists.items():
        text = text.replace(f"@{key}@", value)
    return text


def _listed(caption: str, notebooks: list[str]) -> str:
    """A part of the side bar; an empty one is left out."""
    rows = "\n".join(place_of(one) for one in notebooks)
    return (
        f"```{{toctree}}\n:caption: {caption}\n:maxdepth: 1\n:hidden:\n\n{rows}\n```"
        if notebooks
        else ""
    )


def called(notebooks: Iterable[str]) -> dict[str, str]:
    """The pages of notebooks, and what a class calls them.

    >>> for page, title in called(["00_start", "beyond/heads"]).items():
    ...     print(f"{page}: {title}")
    notebooks/00_start: 00 Start
    beyond/notebooks/heads: Turn what a layer does not notice
    """
    titles = {one.name: f"{one.name[:2]} {one.title}" for one in front.sections()}
    titles[front.START] = "00 Start"
    return {place_of(name): titles.get(name) or _heading(name) for name in notebooks}


def _heading(notebook: str) -> str:
    source = ROOT / f"{place_of(notebook)}.py"
    lines = source.read_text(encoding="utf-8").splitlines()
    return next(line.removeprefix("# # ") for line in lines if line.startswith("# # "))


def _sphinx(source: Path, site: Path) -> None:
    settings = {
        "project": "neuroviz",
        "html_title": "neuroviz",
        "extensions": ["myst_parser", "tools.book.mathml", "tools.book.captions"],
        "myst_enable_extensions": ["dollarmath"],
        "myst_dmath_double_inline": True,
        "myst_heading_anchors": 6,
        "html_math_renderer": "mathml",
        "html_theme": "furo",
        "html_favicon": str(STATIC / "icon.svg"),
        "html_static_path": [str(STATIC)],
        "html_css_files": ["look.css", "book.css", "box.css"],
        "html_js_files": [("book.js", {"defer": "defer"})],
        "html_copy_source": False,
        "html_show_sourcelink": False,
        "html_show_copyright": False,
        # it would fetch pages, which a folder on a disk does not allow
        "html_show_search_summary": False,
        "html_last_updated_fmt": None,
        "pygments_style": "default",
        # then a piece of code is in one colour
        "suppress_warnings": ["misc.highlighting_failure"],
        "templates_path": [],
    }
    doctrees = site.parent / "doctrees"
    shutil.rmtree(doctrees, ignore_errors=True)
    with patch_docutils(), docutils_namespace():
        app = Sphinx(
            str(source),
            None,
            str(site),
            str(doctrees),
            "html",
            confoverrides=settings,
            status=None,
            warningiserror=True,
        )
        app.connect("html-page-context", _for_the_front)
        app.connect("html-page-context", _break_names)
        app.build()
    if app.statuscode:
        raise ValueError("the site was built with warnings, which are above")


def _for_the_front(app: Sphinx, page: str, *_: object) -> None:
    """What only the front page loads."""
    if page == "index":
        app.add_css_file("front.css")
        app.add_js_file("front.js", defer="defer")


def breakable(name: str) -> str:
    """The name of a module, which a narrow page breaks between its words alone.

    >>> breakable("neuroviz.rank.small_field")
    'neuroviz.<wbr>rank.<wbr>small_<wbr>field'
    """
    return re.sub(r"(?<=[a-z0-9][._])(?=[a-z0-9])", "<wbr>", name)


def _break_names(
    _app: Sphinx, _page: str, _template: str, context: dict, _tree: object
) -> None:
    """Those in the title of a page of the reference, and in links to such a page."""
    for side in ("prev", "next"):
        found = context.get(side)
        if found and found["title"].startswith("neuroviz"):
            context[side] = found | {"title": breakable(found["title"])}
    if "body" in context:
        title = r"(?<=<h1>)neuroviz[\w.]*"
        context["body"] = re.sub(
            title, lambda found: breakable(found[0]), context["body"], count=1
        )


def _files(
    site: Path, notebooks: list[str], panels: dict[str, str], pyodide: str
) -> None:
    """What the pages load, and what readers take away."""
    static = site / "_static"
    _write(static / "plotly.min.js", plotly.offline.get_plotlyjs())
    for name in set(painters()) - {"plotly"}:
        _write(static / f"{name}.js", gzip.decompress(bundle(name)).decode())
    _write(
        static / "look.js",
        f"window.neurovizLook={json.dumps(look(), separators=(',', ':'))};\n",
    )
    _write(static / "look.css", look_css())
    live.build(static / "live", pyodide if "://" in pyodide else f"../{pyodide}")
    shown = font.characters(
        path.read_text(encoding="utf-8") for path in site.rglob("*.html")
    )
    font.write(static / font.PART, shown)
    for name, text in panels.items():
        _write(static / "panels" / f"{name}.js", text)
    for name in notebooks:
        source = (ROOT / f"{place_of(name)}.py").read_text(encoding="utf-8")
        _write(site / "files" / f"{name}.py", source)
        # Not the .ipynb that stands there: JupyterLab saves what a reader did into it.
        _write(site / "files" / f"{name}.ipynb", to_text(from_source(source)))
    # page hosts would leave out folders that begin with an underscore
    (site / ".nojekyll").touch()


def look() -> dict:
    """The plotly templates of both modes, and the dark code for each light one."""
    found: dict = {}
    for mode in ("light", "dark"):
        with theme.using({"mode": mode}):
            found[mode] = theme.template()
    return found | {"turn": turn()}


def turn() -> dict[str, str]:
    """The hex code in dark mode of each in light mode.

    Ink and a boundary drawn in ink have one light code and two dark ones, almost alike:
    the first counts.

    >>> with theme.using({"mode": "light"}): ground = theme.color("ground")
    >>> with theme.using({"mode": "dark"}): turn()[ground] == theme.color("ground")
    True
    """
    light = theme._MODES["light"]
    dark = theme._MODES["dark"]
    pairs = [(light[role], dark[role]) for role in light]
    for name, stops in theme._SCALES["light"].items():
        pairs += [
            (a[1], b[1])
            for a, b in zip(stops, theme._SCALES["dark"][name], strict=True)
        ]
    found: dict[str, str] = {}
    for one, other in pairs:
        found.setdefault(one.upper(), other.upper())
    return found


def look_css() -> str:
    """The colours of the theme for the page around the figures."""

    def block(mode: str) -> str:
        with theme.using({"mode": mode}):
            named = [f"--nv-{role}: {theme.color(role)};" for role in _OF_THE_PAGE]
        stops = theme._SCALES[mode]["diverging"]
        named += [f"--nv-d{n}: {code};" for n, (_, code) in enumerate(stops)]
        return " ".join(named)

    roles = {
        "content-font-color": "ink",
        "ui-font-color": "ink",
        "layout-color": "panel",
        "border-color": "axis",
    }
    # what a dark JupyterLab says, for the widgets of live panels
    with theme.using({"mode": "dark"}):
        code = {
            f"{name}{n}": theme.color(role)
            for name, role in roles.items()
            for n in range(4)
        }
        code["layout-color3"] = theme.color("axis")
    widgets = " ".join(f"--jp-{name}: {value};" for name, value in code.items())
    light = block("light")
    dark = block("dark")
    return (
        f"body {{ {light} --nv-font: {theme.FONT}; }}\n"
        f'body[data-theme="dark"] {{ {dark} }}\n'
        '@media (prefers-color-scheme: dark) { body:not([data-theme="light"]) {'
        f" {dark} }} }}\n"
        f":root:has(body[data-theme='dark']) {{ {widgets} }}\n"
        f"@media (prefers-color-scheme: dark) {{\n"
        f":root:not(:has(body[data-theme='light'])) {{ {widgets} }} }}\n"
        f"@media print {{ body[data-theme] {{ {light} }} }}\n"
    )
