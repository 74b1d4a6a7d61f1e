"""Serve all panels on one page, for projecting: `make dashboard`. Nothing on it comes
from elsewhere."""

import os
import sys
from pathlib import Path

from tools.notebooks import from_source, to_text

FOLDER = Path(__file__).parents[1] / "dashboard"
# Extensions of JupyterLab and Notebook 7 that ask for parts that voila's page has not.
_WITHOUT = "jupyterlab-jupytext", "@jupyter-notebook/lab-extension"


def arguments(*words: str) -> list[str]:
    """What voila is told, and further options of its own.

    A kernel that no page is connected to ends after twenty minutes.

    >>> arguments("--port=8900")[1::5]
    ['--template=neuroviz', '--port=8900']
    """
    page = [str(FOLDER / "panels.ipynb"), "--template=neuroviz"]
    alone = [
        "--MappingKernelManager.cull_idle_timeout=1200",
        "--MappingKernelManager.cull_interval=60",
    ]
    return [
        *page,
        *(f"--VoilaConfiguration.extension_denylist={name}" for name in _WITHOUT),
        *alone,
        *words,
    ]


def notebook() -> str:
    """The text of dashboard/panels.ipynb, which is written from the .py beside it."""
    return to_text(from_source((FOLDER / "panels.py").read_text(encoding="utf-8")))


def write() -> None:
    """Write the .ipynb, if it is another one."""
    target = FOLDER / "panels.ipynb"
    if not target.exists() or target.read_text(encoding="utf-8") != notebook():
        target.write_text(notebook(), encoding="utf-8", newline="\n")


def main() -> None:
    write()
    # Read when voila is loaded: where the template stands; and one thread, as most
    # matrices are small.
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    os.environ["JUPYTER_PATH"] = os.pathsep.join(
        filter(None, (str(FOLDER / "jupyter"), os.environ.get("JUPYTER_PATH")))
    )
    from voila.app import Voila

    Voila.launch_instance(arguments(*sys.argv[1:]))


if __name__ == "__main__":
    main()
