"""JupyterLab without a server: all notebooks, with Python in the browser
(JupyterLite)."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import urllib.request
import venv
from pathlib import Path

from neuroviz.command import copy_notebooks
from tools.book.live.build import FIRST, LATER, LIST, PURE, PYODIDE, needed, wheels

_KERNEL = "@jupyterlite/pyodide-kernel-extension"
# What the package imports by itself does not count: in these notebooks the first cell
# names it, too.
NEED_FLINT = (
    "03_singular_locus",
    "05_softmax_conjecture",
    "proofs",
    "transformers",
)
_RELEASE = re.compile(r"/pyodide/v([\d.]+)/full/$")


def environment(folder: Path) -> Path:
    """The Python of an environment with JupyterLite, made if it is not there."""
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    wanted = Path(__file__).with_name("jupyterlite.txt")
    mark = folder / wanted.name
    if not mark.exists() or mark.read_text() != wanted.read_text():
        venv.create(folder, clear=True, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", wanted], check=True)
        shutil.copy(wanted, mark)
    return python


def build(folder: Path, python: Path, pyodide: str = PYODIDE) -> None:
    """Write JupyterLite into a folder of its own.

    Args:
        folder: as it will be in the site.
        python: that of `environment`.
        pyodide: as in `build.build`.

    Raises:
        ValueError: if JupyterLite cannot be built, or the distribution's list of
            packages cannot be read.
    """
    contents = folder.parent / f"{folder.name}-contents"
    for old in (folder, contents):
        shutil.rmtree(old, ignore_errors=True)
    copy_notebooks(contents)
    for path in contents.rglob("*.ipynb"):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        notebook["metadata"]["kernelspec"] = {
            "name": "python",
            "display_name": "Python (Pyodide)",
        }
        if path.stem in NEED_FLINT:
            first = next(
                cell for cell in notebook["cells"] if cell["cell_type"] == "code"
            )
            first["source"] = [
                "import flint  # in a browser it has to be named\n",
                *first["source"],
            ]
        path.write_text(
            json.dumps(notebook, ensure_ascii=False, indent=1), encoding="utf-8"
        )
    command = [python, "-m", "jupyterlite_core", "build", "--contents", "."]
    options = (
        "--apps lab --no-sourcemaps --no-unused-shared-packages --no-libarchive".split()
    )
    command += ["--output-dir", str(folder), *options]
    done = subprocess.run(command, cwd=contents, capture_output=True, text=True)
    if done.returncode:
        raise ValueError(
            "JupyterLite cannot be"
            f" built:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        )
    shutil.rmtree(contents)
    known = _write_lock(folder, pyodide)
    path = folder / "jupyter-lite.json"
    site = json.loads(path.read_text(encoding="utf-8"))
    # link.ts asks it to run cells
    site["jupyter-config-data"]["exposeAppInBrowser"] = True
    plugins = site["jupyter-config-data"].setdefault("litePluginSettings", {})
    lock = {
        "lockFileURL": f"./python/{LIST}",
        "packages": [one for one in (*FIRST, "neuroviz") if one in known],
    }
    plugins.setdefault(f"{_KERNEL}:kernel", {}).update(
        {
            # from the page in lab/
            "pyodideUrl": f"{'' if '://' in pyodide else '../'}{pyodide}pyodide.js",
            "loadPyodideOptions": lock,
            "disablePyPIFallback": True,
        }
    )
    path.write_text(json.dumps(site, indent=1), encoding="utf-8")
    shutil.copy(Path(__file__).with_name("link.js"), folder)
    page = folder / "lab" / "index.html"
    head = (
        '<link rel="icon" href="favicon.ico" /><script type="module"'
        ' src="../link.js"></script>\n  </head>'
    )
    page.write_text(
        page.read_text(encoding="utf-8").replace("</head>", head, 1), encoding="utf-8"
    )


def core(folder: Path, address: str = PYODIDE) -> Path:
    """Fetch Pyodide without its packages, from npm's registry; the folder inside with
    its files."""
    where = f"https://registry.npmjs.org/pyodide/-/pyodide-{_RELEASE.search(address)[1]}.tgz"
    with (
        urllib.request.urlopen(where) as answer,
        tarfile.open(fileobj=answer, mode="r|gz") as packed,
    ):
        packed.extractall(folder, filter="data")
    return folder / "package"


def _known(folder: Path, pyodide: str) -> dict:
    """The packages of a distribution; of a release they stand in npm's file, too."""
    try:
        if _RELEASE.search(pyodide):
            with tempfile.TemporaryDirectory() as place:
                return json.loads(
                    (core(Path(place), pyodide) / LIST).read_text(encoding="utf-8")
                )
        if "://" in pyodide:
            with urllib.request.urlopen(pyodide + LIST) as answer:
                return json.load(answer)
    except OSError as error:
        raise ValueError(
            f"JupyterLite needs the list of packages of {pyodide}, which cannot be read"
            f" ({error}); with a release of Pyodide on this computer, --pyodide FOLDER"
            " takes that"
        ) from error
    return json.loads((folder / pyodide / LIST).read_text(encoding="utf-8"))


def _write_lock(folder: Path, pyodide: str) -> set[str]:
    """Write the packages that a kernel knows, of Pyodide, of JupyterLite and ours;
    their names."""
    elsewhere = "://" in pyodide
    lock = _known(folder, pyodide)
    place = ("" if elsewhere else "../") + pyodide
    # What a cell imports beyond the first packages comes then.
    theirs = needed(lock["packages"], [*FIRST, *LATER.values()])
    packages = {
        name: one | {"file_name": place + one["file_name"]}
        for name, one in theirs.items()
    }
    python = folder / "python"
    python.mkdir()
    lites = (folder / "extensions" / _KERNEL / "static" / "pypi").glob("*.whl")
    lites = [path for path in lites if not path.name.startswith("widgetsnbextension")]
    for path in wheels(python) + lites:
        name, version = path.name.split("-")[:2]
        ours = name == "neuroviz"
        packages[name.replace("_", "-")] = {
            "name": name,
            "version": version,
            "file_name": os.path.relpath(path, python),
            "install_dir": "site",
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            "package_type": "package",
            "imports": [name],
            "depends": (
                [
                    "numpy",
                    *(one.replace("_", "-") for one in PURE if one != name),
                ]
                if ours
                else []
            ),
            "unvendored_tests": False,
        }
    lock["packages"] = packages
    (python / LIST).write_text(json.dumps(lock), encoding="utf-8")
    return set(packages)
