"""The pages of text: their headings, and where their links lead."""

import re
from functools import cache
from pathlib import Path

from tools.notebooks import from_source, sources

ROOT = Path(__file__).parents[1]
MATHEMATICS = sorted((ROOT / "docs/mathematics").glob("*.md"))
BEYOND = sorted((ROOT / "beyond/docs").glob("*.md"))
HOW_TO = ("library.md", "transformers.md")
"""Pages of beyond/docs that say what one does, and prove nothing."""
MATHEMATICS += [path for path in BEYOND if path.name not in HOW_TO]
TEXTS = sorted({*(ROOT / "docs").rglob("*.md"), *BEYOND, *ROOT.glob("*.md")})
TEXTS += [ROOT / f"{folder}/README.md" for folder in ("beyond", "neuroviz")]
TEXTS += [ROOT / "beyond/benchmarks/README.md"]
TEXTS += sorted(ROOT.glob("beyond/studies/*/README.md"))
PAGES = [*TEXTS, *sources()]
LINK = re.compile(r"\]\((?!https?:|mailto:)([^()\s]+)\)")


@cache
def read(path: Path) -> str:
    """A page without its code, or what a notebook's cells of text say."""
    text = path.read_text(encoding="utf-8")
    if path.suffix in (".py", ".ipynb"):
        text = path.with_suffix(".py").read_text(encoding="utf-8")
        text = "\n\n".join(
            cell.source
            for cell in from_source(text).cells
            if cell.cell_type == "markdown"
        )
    text = re.sub(r"^( *)```.*?^\1```$", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]+`(?!\])", "``", text)


def headings(path: Path) -> list[tuple[int, str]]:
    """Level and words of each heading.

    >>> headings(ROOT / "docs/mathematics/ledger.md")
    [(1, 'The ledger')]
    """
    found = re.findall(r"^(#+) (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return [(len(marks), words.strip()) for marks, words in found]


def anchor(words: str) -> str:
    """The name under which a page can be linked at a heading.

    >>> anchor("Theorem 3.2. The fibre of one lightning layer")
    'theorem-32-the-fibre-of-one-lightning-layer'
    """
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", words.lower()))


def fault(page: Path, link: str) -> str:
    """Why a link of a page leads nowhere; empty if it leads somewhere."""
    name, _, place = link.partition("#")
    target = page.parent / name if name else page
    if not target.exists():
        return f"{link}: there is no such file"
    if not place or target.suffix not in (".md", ".ipynb", ".py"):
        return ""
    if target.suffix == ".md":
        known = {anchor(words) for _, words in headings(target)}
    else:  # JupyterLab keeps capitals and points
        titles = re.findall(r"^#+ (.*)$", read(target), re.MULTILINE)
        known = {re.sub(r"\s", "-", words) for words in titles}
    return "" if place in known else f"{link}: there is no such heading"


def faults(page: Path, text: str | None = None) -> list[str]:
    """What is wrong with the links of a page, or of a text that stood in its place."""
    found = LINK.findall(read(page) if text is None else text)
    return [said for link in found if (said := fault(page, link))]
