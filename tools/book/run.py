"""Run a notebook the way a reader would, and keep what its cells show."""

import hashlib
import os
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from tools.notebooks import KERNEL, from_source

ROOT = Path(__file__).parents[2]
_PACKAGES = ("neuroviz", "beyond/neuroviz_beyond")
_CELL_SECONDS = 900
_OWN = ("run.py", "stills.py", "capture.py")


def executed(source: Path, kept: Path) -> nbformat.NotebookNode:
    """A notebook with its outputs, in which panels and questions are data (see
    capture.py).

    Args:
        source: the .py. The .ipynb beside it may hold what a reader did and saved.
        kept: a folder for results; what was run on the same sources is taken from
            there.
    """
    kept.mkdir(parents=True, exist_ok=True)
    target = kept / f"{source.stem}.ipynb"
    mark = fingerprint(source)
    if target.exists():
        found = nbformat.read(target, as_version=4)
        if found.metadata.get("fingerprint") == mark:
            return found
    notebook = from_source(source.read_text(encoding="utf-8"))
    start = f"from tools.book import capture\ncapture.install({source.stem!r})"
    notebook.cells.insert(0, nbformat.v4.new_code_cell(start))
    place = {"metadata": {"path": str(source.parent)}}
    client = NotebookClient(
        notebook, timeout=_CELL_SECONDS, kernel_name=KERNEL["name"], resources=place
    )
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    client.execute(env=os.environ | {"PYTHONPATH": path})
    del notebook.cells[0]
    notebook.metadata["fingerprint"] = mark
    nbformat.write(notebook, target)
    return notebook


def fingerprint(source: Path) -> str:
    """What the outputs of a notebook depend on: its text, both packages, and how panels
    are captured."""
    paths = [source]
    for package in _PACKAGES:
        paths += sorted((ROOT / package).rglob("*.py"))
    paths += [Path(__file__).with_name(name) for name in _OWN]
    found = hashlib.sha256()
    for path in paths:
        found.update(path.read_bytes())
    return found.hexdigest()
