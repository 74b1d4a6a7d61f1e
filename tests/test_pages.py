"""The pages of docs/ and beyond/docs/: every link leads somewhere, every statement is
listed and stands once, and no page is so long that nobody finds it there."""

import re
from os.path import relpath
from pathlib import Path

import pytest
from texts import MATHEMATICS, PAGES, ROOT, anchor, fault, faults, headings

from tools.notebooks import sources

INDEX = ROOT / "docs/mathematics/index.md"
CODE = sorted(
    path
    for folder, kind in (
        *((folder, "py") for folder in ("neuroviz", "beyond", "tools", "tests")),
        *(("beyond/formal", "v"), ("web", "ts")),
    )
    for path in (ROOT / folder).rglob(f"*.{kind}")
    if "node_modules" not in path.parts
)
KINDS = {"Thm": "Theorem", "Cor": "Corollary", "Prop": "Proposition", "Eq": "Eq."}


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def statements(text: str) -> set[str]:
    """The statements that a text names, in full; a range of equations one by one.

    >>> sorted(statements("By Thm. 3.2, Lemma D and Theorem A′ (Eq. 10–11)."))
    ['Eq. 10', 'Eq. 11', 'Lemma D', 'Theorem 3.2', 'Theorem A′']
    """
    found = set()
    for kind, name, last in re.findall(
        r"\b(Theorem|Thm|Lemma|Corollary|Cor|Proposition|Prop|Conjecture|Eq(?=\.? \d))"
        r"\.?\s+([A-Z]\.\d+|\d+(?:\.\d+)?|[A-Z]′?(?!\w))(?:–(\d+))?",
        text,
    ):
        full = KINDS.get(kind, kind)
        for one in range(int(name), int(last) + 1) if last else (name,):
            found.add(f"{full} {one}")
    return found


def said_first(words: str) -> set[str]:
    """The statement that a heading begins with, and the equations in its brackets.

    >>> sorted(said_first("Corollary 3.8. Dimension of a bottleneck (Eq. 14)"))
    ['Corollary 3.8', 'Eq. 14']
    >>> said_first("Remarks on Theorem H")
    set()
    """
    first, _, _ = words.partition(". ") if words[:3] != "Eq." else (words, "", "")
    begins = statements(first) if re.match(r"[A-Z][a-z]*\.? [A-Z\d]", words) else set()
    return begins | statements(" ".join(re.findall(r"\((Eq[^)]*)\)", words)))


# Links


def test_every_link_leads_to_a_file_and_a_heading():
    found = {relative(path): said for path in PAGES if (said := faults(path))}
    assert len(PAGES) > 50 and found == {}


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ("docs/glossary.md", ""),
        ("docs/mathematics/softmax.md#lemma-g-all-exponentials-are-free", ""),
        ("docs/mathematics.md#lemma-g-all-exponentials-are-free", "file"),
        ("docs/mathematics/softmax.md#lemma-g", "heading"),
        ("notebooks/00_start.ipynb#One-number", ""),
        ("notebooks/00_start.ipynb#one-number", "heading"),
    ],
)
def test_a_link_that_leads_nowhere_is_seen(link, said):
    found = fault(ROOT / "README.md", link)
    assert bool(found) == bool(said) and found.endswith(said)


def lines_above(page: Path, place: str) -> int:
    """How many lines of a page stand above the heading that a link names."""
    lines = page.read_text(encoding="utf-8").splitlines()
    return next(
        number
        for number, line in enumerate(lines)
        if line.startswith("#") and anchor(line.lstrip("#").strip()) == place
    )


def test_a_link_of_a_notebook_into_a_page_leads_near_its_top():
    """JupyterLab opens such a link at the top of the page, whatever comes after its
    #."""
    links = {
        ((path.parent / page).resolve(), place)
        for path in sources()
        for page, place in re.findall(
            r"\]\(([^()\s#]+\.md)#([\w-]+)\)", path.read_text(encoding="utf-8")
        )
    }
    assert len(links) > 4
    assert max(lines_above(*link) for link in links) < 40


# The mathematics


def test_a_page_of_mathematics_is_short_and_leads_to_the_list():
    for path in MATHEMATICS:
        text = path.read_text(encoding="utf-8")
        name = relative(path)
        assert text.count("\n") <= 500, name
        assert text.startswith("# ") and [k for k, _ in headings(path)].count(1) == 1, (
            name
        )
        assert path == INDEX or "index.md)" in text.split("\n\n")[1], name


def test_every_statement_is_listed_and_every_page():
    """`##` is a statement, `###` a part of it; a page with one statement is it."""
    page, own = (
        INDEX.read_text(encoding="utf-8"),
        ("#pages", "#all-statements", "#status"),
    )
    links = set(re.findall(r"\]\(((?!https:)[^()\s]+)\)", page)) - {*own}
    wanted = set()
    for path in MATHEMATICS:
        name = Path(relpath(path, INDEX.parent)).as_posix()
        titles = {f"#{anchor(words)}" for level, words in headings(path) if level == 2}
        wanted |= {name, *(f"{name}{title}" for title in titles)}
    ours = {f"index.md{place}" for place in own}
    assert links == wanted - ours - {"index.md"}


def test_every_statement_that_code_names_stands_once():
    titles = [words for path in MATHEMATICS for _, words in headings(path)]
    stands = [name for words in titles for name in said_first(words)]
    # the layers and networks of the paper, which are conventions here, and one proof
    plain = statements((INDEX.parent / "conventions.md").read_text(encoding="utf-8"))
    plain |= statements((INDEX.parent / "deep_networks.md").read_text(encoding="utf-8"))
    named = {
        (name, relative(path))
        for path in CODE
        if "tests" not in path.parts
        for name in statements(path.read_text(encoding="utf-8"))
    }
    assert len({name for name, _ in named}) > 30
    wrong = {
        (name, where)
        for name, where in named
        if stands.count(name) != 1 and not (name[:3] == "Eq." and name in plain)
    }
    assert wrong == set()


PLACE = re.compile(
    r"(?<![\w/])((?:beyond/)?docs/\w[\w/]+\.md)((?:[,:(]?\s+(?:and\s+)?\"[^\"]+\")*)"
)


def missing(text: str) -> list[str]:
    """The pages that a text names and that are not there, and what it names in those
    that are."""
    found = []
    for page, quoted in PLACE.findall(re.sub(r"\s*\n\s*(?:#|\*)?\s*", " ", text)):
        if not (ROOT / page).exists():
            found.append(page)
            continue
        inside = (ROOT / page).read_text(encoding="utf-8")
        bold = " ".join(words for _, words in headings(ROOT / page))
        bold += " ".join(re.findall(r"\*\*([^*]+)\*\*", inside))
        found += [
            f"{page}: {name}"
            for name in re.findall(r'"([^"]+)"', quoted)
            if name not in bold
        ]
    return found


def test_the_pages_that_code_names_are_there():
    texts = {
        relative(path): path.read_text(encoding="utf-8")
        for path in CODE
        if path != Path(__file__)
    }
    assert sum(bool(PLACE.search(text)) for text in texts.values()) > 30
    wrong = {name: said for name, text in texts.items() if (said := missing(text))}
    assert wrong == {}


def test_a_page_that_is_gone_is_seen():
    text = 'As in docs/mathematics.md, "Lemma G",\nand docs/mathematics/softmax.md: '
    text += '"Lemma G",\n"Lemma H".'
    assert missing(text) == [
        "docs/mathematics.md",
        "docs/mathematics/softmax.md: Lemma H",
    ]
