"""What a class serves to the students: the files of a built site, its questions without
their answers."""

import gzip
import hashlib
import json
import mimetypes
import threading
from dataclasses import dataclass
from pathlib import Path

from neuroviz.lessons.classroom.poll import Poll

FOLDER = "class"
QUESTIONS = f"{FOLDER}/questions.json"
ANSWERS = f"{FOLDER}/answers.json"
PAGES = f"{FOLDER}/pages"
"""Where `make site` writes what a class needs: all questions, their answers, and the
pages that ask, without the answers. Nobody is served the files themselves."""

HAS_ANSWERS = (
    "docs/lessons.html",
    "docs/class_session.html",
    "search.html",
    "searchindex.js",
)
"""Files that a class is not served: the teacher's plans, and the words of all pages."""

HEAD = (
    b'<link rel="stylesheet" href="/class/student.css">'
    b'<script type="module" src="/class/student.js"></script></head>'
)
"""What every page of the site gets: it shows what the teacher asks."""

LATER = (
    b"<!doctype html><html lang=en><head><meta charset=utf-8>"
    b"<meta name=viewport content='width=device-width'>"
    b"<title>After the class</title></head><body><main><h1>After the class</h1>"
    b"<p>This page has answers. It is there when the class is over, on the public site."
    b"</p><p><a href='/'>To the first page</a></p></main></body></html>"
)
"""In the place of a page that is kept back."""

STATIC = Path(__file__).with_name("static")
OF_STUDENTS = ("student.js", "student.css")

_PACKED = (
    ".css .html .ipynb .js .json .map .mjs .py .svg .ttf .txt .wasm .whl .xml".split()
)
_KINDS = {".mjs": "text/javascript", ".js": "text/javascript"} | {
    ".wasm": "application/wasm",
    ".ipynb": "application/json",
    ".whl": "application/zip",
    ".woff2": "font/woff2",
}


class NoSiteError(ValueError):
    """A folder is not what `make site` builds."""


@dataclass(frozen=True)
class File:
    """A file as it is sent.

    Attributes:
        kind: its media type.
        tag: changes when its content does.
        content: as it is.
        packed: the same by gzip, or None where that saves nothing.
    """

    kind: str
    tag: str
    content: bytes
    packed: bytes | None


class Site:
    """The files of a built site as they were when the class began: nothing that comes
    later is there.

    Raises:
        NoSiteError: if the folder has no site, or one without questions.
    """

    def __init__(self, folder: str | Path) -> None:
        root = Path(folder).resolve()
        if not (root / "index.html").is_file():
            raise NoSiteError(f"{root} is not a built site: it has no index.html")
        if not (root / QUESTIONS).is_file():
            raise NoSiteError(f"{root} has no questions: {QUESTIONS} is missing")
        self.questions = _read(root / QUESTIONS)
        self.answers = _read(root / ANSWERS)
        for asked in self.questions:
            if asked["id"] not in self.answers:
                raise NoSiteError(
                    f"{root / ANSWERS} has no answer to {asked['id']}: build the pages"
                    " again"
                )
        self._whole: dict[str, Path] = {}
        for path in root.rglob("*"):
            # A link in the folder may lead out of it.
            is_inside = path.resolve().is_relative_to(root)
            if path.is_file() and is_inside:
                self._whole[path.relative_to(root).as_posix()] = path
        self._paths: dict[str, Path] = {}
        for name, path in self._whole.items():
            if not _is_kept_back(name):
                self._paths[name] = path
        # Where a page asks, the class has another one.
        for path in (root / PAGES).rglob("*.html"):
            self._paths[path.relative_to(root / PAGES).as_posix()] = path
        for name in OF_STUDENTS:
            self._paths[f"{FOLDER}/{name}"] = STATIC / name
        self.has_python = "pyodide/pyodide.mjs" in self._paths
        self._files: dict[str, File] = {}
        self._reading = threading.Lock()

    def __contains__(self, name: str) -> bool:
        return name in self._paths

    @staticmethod
    def is_later(name: str) -> bool:
        """Whether it is a page that the class does not get."""
        return name in HAS_ANSWERS and name.endswith(".html")

    def polls(self) -> dict[str, Poll]:
        """The questions, as nobody has answered them."""
        found = {}
        for asked in self.questions:
            name = asked["id"]
            answer = self.answers[name]
            found[name] = Poll(
                name=name,
                page=asked["page"],
                title=asked["title"],
                section=asked["section"],
                question=asked["question"],
                choices=tuple(asked["choices"]),
                mistakes=asked["mistakes"],
                answer=answer["answer"],
                remark=answer["remark"],
                reason=answer["html"],
                folds=tuple(answer["folds"]),
                planned=asked["planned"],
            )
        return found

    def file(self, name: str) -> File:
        """A file as students get it, read and packed when it is asked for first.

        Raises:
            KeyError: if the site has no such file.
        """
        with self._reading:  # thirty telephones ask for it at once
            if name not in self._files:
                content = self._paths[name].read_bytes()
                # JupyterLab in the browser has no questions of the class
                if name.endswith(".html") and not name.startswith("lab/"):
                    content = content.replace(b"</head>", HEAD, 1)
                self._files[name] = _packed(name, content)
            return self._files[name]

    def whole(self, name: str) -> File:
        """A file as it was built, with answers, for the teacher.

        Raises:
            KeyError: if the site has no such file.
        """
        return _packed(name, self._whole[name].read_bytes())


def _packed(name: str, content: bytes) -> File:
    ending = Path(name).suffix
    kind = _KINDS.get(ending) or mimetypes.guess_type(name)[0]
    packed = gzip.compress(content, 6) if ending in _PACKED else content
    return File(
        kind=kind or "application/octet-stream",
        tag=f'"{hashlib.sha256(content).hexdigest()[:20]}"',
        content=content,
        packed=packed if len(packed) < len(content) else None,
    )


def _is_kept_back(name: str) -> bool:
    return name in HAS_ANSWERS or name.split("/")[0] == FOLDER


def _read(path: Path) -> list | dict:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise NoSiteError(f"{path} cannot be read: {error}") from None
