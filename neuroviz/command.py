"""The command `neuroviz`: the notebooks in a folder of the reader's choice, and
JupyterLab on them."""

import os
import shutil
import sys
from argparse import ArgumentParser
from importlib.util import find_spec
from pathlib import Path

import neuroviz

_HERE = Path(__file__).parent
# installed, or a checkout
_COURSE = _HERE / "course" if (_HERE / "course").exists() else _HERE.parent
_FOLDER = "neuroviz-notebooks"
_FIRST = "notebooks/00_start.ipynb"


def course() -> list[str]:
    """The notebooks, and what they and its pages link to, as paths below the folder of
    a reader.

    >>> [name for name in course() if "start" in name or "glossary" in name]
    ['docs/glossary.md', 'notebooks/00_start.ipynb']
    """
    kinds = (
        "notebooks/*.ipynb",
        "beyond/notebooks/*.ipynb",
        "docs/*.md",
        "docs/mathematics/*.md",
        "beyond/docs/*.md",
        "beyond/studies/*/*.*",
        "beyond/formal/*.v",
    )
    return sorted(
        path.relative_to(_COURSE).as_posix()
        for kind in kinds
        for path in _COURSE.glob(kind)
    )


def copy_notebooks(folder: str | Path) -> tuple[list[str], list[str]]:
    """Copy the notebooks into a folder. A file that is there stays as it is.

    Returns:
        The paths of what was copied, and of what was kept and differs.

    Raises:
        OSError: if the folder cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first, again = copy_notebooks(folder), copy_notebooks(folder)
    >>> first[0] == course(), again
    (True, ([], []))
    """
    copied, kept = [], []
    for name in course():
        source, target = _COURSE / name, Path(folder, name)
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            unfinished = target.with_name(f"{target.name}.part")
            shutil.copyfile(source, unfinished)
            unfinished.replace(target)
            copied.append(name)
        elif target.read_bytes() != source.read_bytes():
            kept.append(name)
    return copied, kept


def main(words: list[str] | None = None) -> None:
    """Run `neuroviz lab [DIR]` or `neuroviz notebooks DIR`."""
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
    asked, options = parser.parse_known_args(words)
    if asked.command == "notebooks" and options:
        parser.error(f"unknown: {' '.join(options)}")
    if asked.command == "lab" and not find_spec("jupyterlab"):
        parser.exit(
            1, "neuroviz lab needs JupyterLab: pip install 'neuroviz[notebooks]'\n"
        )
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
