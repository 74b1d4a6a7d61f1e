"""The command `neuroviz`: the notebooks in a folder of the reader's choice, and
JupyterLab on them."""

import os
import re
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from importlib.metadata import metadata
from importlib.util import find_spec
from pathlib import Path

import neuroviz

_KINDS = ("notebooks/*.ipynb", "docs/*.md", "docs/mathematics/*.md")
_KINDS_BEYOND = ("notebooks/*.ipynb", "docs/*.md", "studies/*/*.*", "formal/*.v")
_FOLDER = "neuroviz-notebooks"
_FIRST = "notebooks/00_start.ipynb"
_SITE = "build/book/site"  # where `make site` puts it
_OF_CLASS = ("tornado", "segno", "psutil")
_LINK_BEYOND = re.compile(rb"\]\((?:\.\./)+(beyond/[^)\s]+)\)")


def course() -> dict[str, Path]:
    """The notebooks, and what they and its pages link to: paths below the folder of a
    reader, and where each lies. What is beyond the paper is there with
    `neuroviz_beyond`.

    >>> [name for name in course() if "start" in name or "glossary" in name]
    ['docs/glossary.md', 'notebooks/00_start.ipynb']
    """
    found = _texts_of("neuroviz", _KINDS, "")
    if find_spec("neuroviz_beyond"):
        found |= _texts_of("neuroviz_beyond", _KINDS_BEYOND, "beyond/")
    return dict(sorted(found.items()))


def _texts_of(package: str, kinds: tuple[str, ...], prefix: str) -> dict[str, Path]:
    here = Path(find_spec(package).origin).parent
    # Installed they are part of the package, in a checkout they lie beside it.
    texts = here / "course" if (here / "course").exists() else here.parent
    found = {}
    for kind in kinds:
        for path in texts.glob(kind):
            found[f"{prefix}{path.relative_to(texts).as_posix()}"] = path
    return found


def _content(source: Path, has_beyond: bool) -> bytes:
    """A text to be copied; links to what is not copied lead to the repository."""
    text = source.read_bytes()
    if has_beyond or source.suffix not in (".md", ".ipynb"):
        return text
    address = f"{_repository()}/blob/HEAD/".encode()
    return _LINK_BEYOND.sub(rb"](" + address + rb"\1)", text)


def _repository() -> str:
    for line in metadata("neuroviz").get_all("Project-URL", []):
        name, _, address = line.partition(", ")
        if name == "Repository":
            return address
    return ""


def copy_notebooks(folder: str | Path) -> tuple[list[str], list[str]]:
    """Copy the notebooks into a folder. A file that is there stays as it is.

    Returns:
        The paths of what was copied, and of what was kept and differs.

    Raises:
        OSError: if the folder cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first, again = copy_notebooks(folder), copy_notebooks(folder)
    >>> first[0] == list(course()), again
    (True, ([], []))
    """
    copied = []
    kept = []
    texts = course()
    has_beyond = any(name.startswith("beyond/") for name in texts)
    for name, source in texts.items():
        target = Path(folder, name)
        content = _content(source, has_beyond)
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            unfinished = target.with_name(f"{target.name}.part")
            unfinished.write_bytes(content)
            unfinished.replace(target)
            copied.append(name)
        elif target.read_bytes() != content:
            kept.append(name)
    return copied, kept


def main(words: list[str] | None = None) -> None:
    """Run `neuroviz lab [DIR]`, `neuroviz notebooks DIR` or `neuroviz class [SITE]`."""
    parser = ArgumentParser(prog="neuroviz", description=__doc__)
    parser.add_argument(
        "--version", action="version", version=f"neuroviz {neuroviz.__version__}"
    )
    commands = parser.add_subparsers(dest="command", required=True)
    lab = commands.add_parser(
        "lab", help="copy them, then open JupyterLab; its own options may follow"
    )
    lab.add_argument(
        "folder", metavar="DIR", nargs="?", default=_FOLDER, help=f"default: {_FOLDER}"
    )
    notebooks = commands.add_parser("notebooks", help="copy them, nothing more")
    notebooks.add_argument("folder", metavar="DIR")
    _add_class(commands)
    asked, options = parser.parse_known_args(words)
    if asked.command != "lab" and options:
        parser.error(f"unknown: {' '.join(options)}")
    if asked.command == "class":
        _hold_class(parser, asked)
        return
    if asked.command == "lab" and not find_spec("jupyterlab"):
        parser.exit(1, "neuroviz lab needs JupyterLab: pip install jupyterlab\n")
    try:
        copied, kept = copy_notebooks(asked.folder)
    except OSError as error:
        parser.exit(1, f"neuroviz cannot write into {asked.folder}: {error}\n")
    print(f"{asked.folder}: {len(copied)} files copied")
    if kept:
        print(
            "Kept, though they differ from this version's (another DIR gets these):",
            *kept,
            sep="\n  ",
        )
    if asked.command == "lab":
        from jupyterlab.labapp import main as open_lab

        os.chdir(asked.folder)
        if getattr(os, "geteuid", lambda: 1)() == 0:
            print("You are root: JupyterLab gets --allow-root")
            options.append("--allow-root")
        sys.exit(open_lab(["--notebook-dir=.", _FIRST, *options]))


def _port(text: str) -> int:
    return _between(text, 0, 65535, "a port")


def _seats(text: str) -> int:
    return _between(text, 1, 100_000, "a number of seats")


def _between(text: str, least: int, most: int, what: str) -> int:
    """A whole number of the command line."""
    try:
        number = int(text)
    except ValueError:
        number = None
    if number is None or not least <= number <= most:
        raise ArgumentTypeError(
            f"{what} is a whole number from {least} to {most}; got {text!r}"
        )
    return number


def _add_class(commands) -> None:
    """The arguments of `neuroviz class`."""
    words = commands.add_parser(
        "class", help="serve the built pages to a class, and count its guesses"
    )
    words.add_argument(
        "site", metavar="SITE", nargs="?", default=_SITE, help=f"default: {_SITE}"
    )
    words.add_argument("--port", type=_port, default=8900, help="default: 8900")
    words.add_argument("--address", help="listen on this address of the computer alone")
    words.add_argument(
        "--name",
        action="append",
        default=[],
        help="another name by which students reach this computer",
    )
    words.add_argument("--most", type=_seats, default=200, help="seats; default: 200")
    words.add_argument(
        "--per-address",
        type=_seats,
        default=4,
        help="seats at one address; behind a proxy all students have one; default: 4",
    )
    words.add_argument(
        "--linger",
        type=float,
        default=60,
        metavar="SECONDS",
        help="after the end, at most, until all pages show what was not open;"
        " default: 60",
    )
    words.add_argument(
        "--no-browser", action="store_true", help="do not open the teacher's page"
    )


def _hold_class(parser: ArgumentParser, asked: Namespace) -> None:
    missing = [name for name in _OF_CLASS if not find_spec(name)]
    if missing:
        parser.exit(
            1,
            f"neuroviz class needs {', '.join(missing)}: pip install"
            f" {' '.join(missing)}\n",
        )
    if not Path(asked.site, "index.html").is_file():
        parser.exit(
            1,
            f"{asked.site} is not the folder of the pages. `make site` builds them in"
            f" a copy of {_repository()}, in {_SITE}; or give the folder of pages"
            " that somebody has built: neuroviz class SITE\n",
        )
    from neuroviz.lessons.classroom import server

    server.main(asked)
