"""What a page needs to open panels that answer: the widgets of the page, a worker, and the Python for it.

Python itself and numpy come from a Pyodide distribution; the rest is the site's.
"""

import gzip
import json
import shutil
from importlib.metadata import distribution
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
PYODIDE = "https://cdn.jsdelivr.net/pyodide/v0.29.3/full/"
# What few panels need comes with the first of them: module → package of Pyodide.
LATER = {"flint": "python-flint"}
PURE = (
    "anywidget", "comm", "ipywidgets", "neuroviz", "psygnal", "threadpoolctl", "tqdm", "traitlets",
    "typing_extensions",
)  # fmt: skip
_NOT_NEEDED = {"..", "tests", "labextension", "nbextension", "share", "RECORD", "direct_url.json"}
_NOT_NEEDED |= {".so", ".pyd", ".js", ".map", ".ts", ".pyi", ".css", ".pyc", ".pth"}


def build(folder: Path, pyodide: str = PYODIDE) -> None:
    """Write the files of live panels into a folder.

    Args:
        folder: of the site; pages import `start.js` there.
        pyodide: where a Pyodide distribution is, with a slash at its end; from the folder, or elsewhere.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("live.js", "live.css"):
        (folder / name).write_bytes(gzip.decompress((HERE / f"{name}.gz").read_bytes()))
    for name in ("worker.js", "page.py"):
        shutil.copy(HERE / name, folder)
    made = wheels(folder)
    settings = {"wheels": [path.name for path in made], "size": sum(path.stat().st_size for path in made)}
    (folder / "start.js").write_text(
        'import { Python } from "./live.js";\n'
        "const beside = (name) => new URL(name, import.meta.url).href;\n"
        f"const settings = {json.dumps(settings | {'later': LATER})};\n"
        "settings.wheels = settings.wheels.map(beside);\n"
        f'settings.page = beside("page.py");\nsettings.pyodide = beside({json.dumps(pyodide)});\n'
        'export default () => new Python(beside("worker.js"), settings);\n',
        encoding="utf-8",
    )


def wheels(folder: Path) -> list[Path]:
    """The package, and the pure Python that it needs, as they are installed here: a wheel each.

    Left out is what a page has no use for: tests, compiled twins of a module, JavaScript for servers.
    """
    return [_wheel(folder, name) for name in PURE]


def _wheel(folder: Path, name: str) -> Path:
    found = distribution(name)
    path = folder / f"{name}-{found.version}-py3-none-any.whl"
    files = {str(one): one.locate() for one in found.files or ()}
    if name == "neuroviz":  # installed as a link to this folder
        ours = (one for one in (ROOT / "neuroviz").rglob("*") if one.is_file())
        files |= {one.relative_to(ROOT).as_posix(): one for one in ours}
    with ZipFile(path, "w", ZIP_DEFLATED, compresslevel=9) as packed:
        for inside, one in sorted(files.items()):
            own = "/kit/javascript/" in inside
            if own or not _NOT_NEEDED & {*Path(inside).parts, one.suffix}:
                packed.write(one, inside)
        packed.writestr(f"{name}-{found.version}.dist-info/RECORD", "")
    return path
