"""Write each notebook, notebooks/NN_name.ipynb or beyond/notebooks/name.ipynb, from
the .py beside it.

The result depends on the source alone: no outputs, no widget state, no timestamps, and
cell names that stay put, so that a change of one sentence is a change of one line in
the history.
"""

import sys
from argparse import ArgumentParser
from collections import Counter
from hashlib import sha256
from pathlib import Path

import jupytext
import nbformat

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "notebooks"
FOLDERS = ("notebooks", "beyond/notebooks")
"""Those of the course, and of what is beyond the paper."""
KERNEL = {
    "display_name": "Python 3 (ipykernel)",
    "language": "python",
    "name": "python3",
}

# As the kernel says it, but for its version: what reads a notebook without a kernel
# takes it from here.
LANGUAGE = {
    "codemirror_mode": {"name": "ipython", "version": 3},
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "nbconvert_exporter": "python",
    "pygments_lexer": "ipython3",
}


def sources(root: Path = ROOT) -> list[Path]:
    """The sources in the order of reading: the numbered ones, then those beyond the
    paper."""
    found = []
    for folder in FOLDERS:
        found += sorted((root / folder).glob("*.py"))
    return found


def name_of(path: Path) -> str:
    """What a notebook is called where all of them stand together.

    >>> [name_of(path) for path in sources() if path.stem in ("00_start", "unrolling")]
    ['00_start', 'beyond/unrolling']
    """
    is_beyond = path.parent.parent.name == "beyond"
    return f"beyond/{path.stem}" if is_beyond else path.stem


def place_of(name: str) -> str:
    """Where the notebook of a name lies, without its ending.

    >>> place_of("00_start"), place_of("beyond/unrolling")
    ('notebooks/00_start', 'beyond/notebooks/unrolling')
    """
    folder, _, stem = name.rpartition("/")
    return f"{folder}/notebooks/{stem}" if folder else f"notebooks/{stem}"


def from_source(source: str) -> nbformat.NotebookNode:
    """The notebook that a py:percent text describes."""
    notebook = jupytext.reads(source, fmt="py:percent")
    seen = Counter()
    for cell in notebook.cells:
        # Named after its text: a cell inserted above renames no other.
        name = sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:8]
        seen[name] += 1
        cell.id = name if seen[name] == 1 else f"{name}-{seen[name]}"
        if cell.cell_type == "code":
            cell.outputs = []
            cell.execution_count = None
    # Not kept: jupytext's own metadata. A declared pair makes JupyterLab compare two
    # modification times, which are arbitrary after a clone, and refuse to open the
    # notebook.
    notebook.metadata = nbformat.from_dict(
        {"kernelspec": KERNEL, "language_info": LANGUAGE}
    )
    notebook.nbformat = 4
    notebook.nbformat_minor = 5
    return notebook


def to_text(notebook: nbformat.NotebookNode) -> str:
    nbformat.validate(notebook)
    return nbformat.writes(notebook).rstrip("\n") + "\n"


def main() -> None:
    # takes nothing; --help writes nothing
    ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    for source in sources():
        target = source.with_suffix(".ipynb")
        text = to_text(from_source(source.read_text(encoding="utf-8")))
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8", newline="\n")
            sys.stdout.write(f"written: {target.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
