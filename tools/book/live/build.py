"""What a page needs to open panels that answer: the widgets of the page, a worker, and
the Python for it.

Python itself and numpy come from a Pyodide distribution; the rest is the site's.
"""

import gzip
import json
import shutil
from collections.abc import Iterable
from importlib.metadata import distribution
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
PYODIDE = "https://cdn.jsdelivr.net/pyodide/v0.29.3/full/"
LIST = "pyodide-lock.json"
_CORE = (
    "pyodide.js",
    "pyodide.mjs",
    "pyodide.asm.js",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    LIST,
)
# What few panels need comes with the first of them: module → package of Pyodide.
LATER = {"flint": "python-flint"}
# What a kernel of JupyterLite starts with; of these a page needs numpy.
FIRST = ("micropip", "ipython", "jedi", "ssl", "sqlite3", "numpy")
PURE = (
    "anywidget",
    "comm",
    "ipywidgets",
    "neuroviz",
    "neuroviz-beyond",
    "psygnal",
    "threadpoolctl",
    "tqdm",
    "traitlets",
    "typing_extensions",
)
OURS = {
    "neuroviz": ROOT / "neuroviz",
    "neuroviz-beyond": ROOT / "beyond" / "neuroviz_beyond",
}
_NOT_NEEDED = {
    "..",
    "tests",
    "labextension",
    "nbextension",
    "share",
    "RECORD",
    "direct_url.json",
}
_NOT_NEEDED |= {".so", ".pyd", ".js", ".map", ".ts", ".pyi", ".css", ".pyc", ".pth"}


def build(folder: Path, pyodide: str = PYODIDE) -> None:
    """Write the files of live panels into a folder.

    Args:
        folder: of the site; pages import `start.js` there.
        pyodide: where a Pyodide distribution is, with a slash at its end; from the
            folder, or elsewhere.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("live.js", "live.css"):
        (folder / name).write_bytes(gzip.decompress((HERE / f"{name}.gz").read_bytes()))
    for name in ("worker.js", "page.py"):
        shutil.copy(HERE / name, folder)
    made = wheels(folder)
    settings = {
        "wheels": [path.name for path in made],
        "size": sum(path.stat().st_size for path in made),
    }
    (folder / "start.js").write_text(
        'import { Python } from "./live.js";\n'
        "const beside = (name) => new URL(name, import.meta.url).href;\n"
        f"const settings = {json.dumps(settings | {'later': LATER})};\n"
        "settings.wheels = settings.wheels.map(beside);\n"
        'settings.page = beside("page.py");\nsettings.pyodide ='
        f" beside({json.dumps(pyodide)});\n"
        'export default () => new Python(beside("worker.js"), settings);\n',
        encoding="utf-8",
    )


def needed(known: dict[str, dict], names: Iterable[str]) -> dict[str, dict]:
    """The packages of a distribution with these names, and what they need; those that
    it has.

    >>> depends = {"a": ["b"], "b": [], "c": []}
    >>> known = {name: {"depends": others} for name, others in depends.items()}
    >>> list(needed(known, ["a", "d"]))
    ['a', 'b']
    """
    found = {}
    waiting = [*names]
    while waiting:
        name = waiting.pop().replace("_", "-")
        if name in known and name not in found:
            found[name] = known[name]
            waiting += known[name]["depends"]
    return found


def copy_distribution(whole: Path, folder: Path) -> None:
    """Copy what a site needs of a release of Pyodide: Python, and packages of its pages
    and JupyterLite."""
    known = json.loads((whole / LIST).read_text(encoding="utf-8"))["packages"]
    packages = needed(known, [*FIRST, *LATER.values()]).values()
    folder.mkdir(parents=True)
    for name in (*_CORE, *(package["file_name"] for package in packages)):
        shutil.copy(whole / name, folder)


def wheels(folder: Path) -> list[Path]:
    """The package, and the pure Python that it needs, as they are installed here: a
    wheel each.

    Left out is what a page has no use for: tests, compiled twins of a module,
    JavaScript for servers.
    """
    return [_wheel(folder, name) for name in PURE]


def _wheel(folder: Path, name: str) -> Path:
    found = distribution(name)
    stem = f"{name.replace('-', '_')}-{found.version}"
    path = folder / f"{stem}-py3-none-any.whl"
    files = {str(one): one.locate() for one in found.files or ()}
    if name in OURS:  # installed as a link to a folder here
        ours = (one for one in OURS[name].rglob("*") if one.is_file())
        files |= {one.relative_to(OURS[name].parent).as_posix(): one for one in ours}
    with ZipFile(path, "w", ZIP_DEFLATED, compresslevel=9) as packed:
        for inside, one in sorted(files.items()):
            own = "/kit/javascript/" in inside
            if own or not _NOT_NEEDED & {*Path(inside).parts, one.suffix}:
                packed.write(one, inside)
        # The one that was installed lists what is left out here.
        packed.writestr(f"{stem}.dist-info/RECORD", "")
    return path
