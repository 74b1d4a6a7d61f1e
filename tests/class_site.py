"""A small site with questions, and a class on it, for tests."""

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from types import SimpleNamespace

from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

from neuroviz.lessons.classroom.poll import Poll
from tools.book import questions

HEAD = (
    "<!doctype html><html lang=en><head><title>{}</title>"
    "<meta name=viewport content='width=device-width'></head><body>"
)
PAGE = "notebooks/one"
NUMBER = "one-1"
CHOICE = "one-2"
ASKED = {
    NUMBER: {
        "question": "How many dimensions?",
        "kind": "number",
        "answer": "38",
        "remarks": [["64", "That is the number of parameters."]],
        "asks": "dimensions",
        "section": "Count",
    },
    CHOICE: {
        "question": "Is it <b>larger</b>?",
        "kind": "choice",
        "answer": "yes",
        "remarks": [["yes", "Indeed."], ["no", "Try a = 1."]],
        "asks": None,
        "section": "Compare",
    },
}


def fold(name: str) -> str:
    """A question as `tools.book.pages.question` writes it, typeset."""
    one = ASKED[name]
    remarks = "".join(f"<li>{guess}: {hint}</li>" for guess, hint in one["remarks"])
    asks = f' data-asks="{one["asks"]}"' if one["asks"] else ""
    why = " Count them." if one["kind"] == "number" else ""
    text = (
        f'<details class="nv-question"{asks}>'
        f"<summary><p>Predict. {one['question']}</p></summary>"
        f"<p><strong>{one['answer']}</strong>.{why}</p>"
        f"<!-- remarks --><p>Wrong guesses:</p><ul>{remarks}</ul></details>"
    )
    return questions.marked(name, "question", text)


def make_site(folder: Path, plan: Sequence[str] = ()) -> Path:
    """A site of a front page, a page with two questions, and the teacher's plan, which
    asks these questions."""
    why = "<details><summary>Why?</summary><p>Because 38 count.</p></details>"
    texts = {
        "index.html": "The front page",
        f"{PAGE}.html": fold(NUMBER) + questions.mark_folds(why, NUMBER) + fold(CHOICE),
        "docs/lessons.html": "Answer: 38",
        "searchindex.js": "38",
        "_static/large.js": "x" * 4000,
    }
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(HEAD.format(name) + text, encoding="utf-8")
    questions.write(folder, ASKED, {PAGE: "01 One"}, plan)
    return folder


def some_polls() -> dict[str, Poll]:
    """The two questions, without a site."""
    number = Poll(
        NUMBER,
        PAGE,
        "01 One",
        "Count",
        "How many dimensions?",
        (),
        {"64": "That is the number of parameters."},
        "38",
        "",
        "<p>It is 38.</p>",
        ("<p>Because 38 count.</p>",),
    )
    choice = Poll(
        CHOICE,
        PAGE,
        "01 One",
        "Compare",
        "Is it larger?",
        ("yes", "no"),
        {"no": "Try a = 1."},
        "yes",
        "Indeed.",
        "<p>Yes.</p>",
        (),
    )
    return {NUMBER: number, CHOICE: choice}


@contextmanager
def held(site: Path, *words: str, files: int = 0, browser: str = ""):
    """A class in a process of its own, which may have so many files open, and opens the
    teacher's page by such a command: .students and .teacher are addresses."""
    command = [sys.executable, "-m", "neuroviz", "class", str(site)]
    if not browser:
        command.append("--no-browser")
    asked = ("--address", "127.0.0.1", "--port", "0", "--linger", "0.3", *words)
    limit = ["prlimit", f"--nofile={files}:{files}"] if files else []
    process = subprocess.Popen(
        [*limit, *command, *asked],
        env=os.environ | {"BROWSER": browser},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        said = [process.stdout.readline() for _ in range(2)]
        found = re.findall(r"http://([\d.:]+)/(?:\?t=(\S+))?", "".join(said))
        if len(found) != 2:
            process.terminate()
            raise AssertionError(f"{said} {process.communicate()}")
        (students, _), (teacher, token) = found
        yield SimpleNamespace(
            students=students, teacher=teacher, token=token, process=process
        )
    finally:
        process.terminate()
        process.communicate(timeout=20)


class Visitor:
    """A student or a teacher as a page is one: cookies are kept, JSON is sent."""

    def __init__(self, host: str) -> None:
        self.host = host
        self.cookie = ""

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        headers: dict | None = None,
    ) -> SimpleNamespace:
        """The answer: .status, .headers, .text, and .json where it is JSON."""
        port = HTTPConnection(self.host, timeout=20)
        own = {"Content-Type": "application/json", "Origin": f"http://{self.host}"}
        if self.cookie:
            own["Cookie"] = self.cookie
        data = json.dumps(body) if isinstance(body, dict) else body
        port.request(method, path, data, {**own, **(headers or {})})
        answer = port.getresponse()
        text = answer.read().decode()
        if given := answer.getheader("Set-Cookie"):
            self.cookie = given.partition(";")[0]
        port.close()
        is_json = (answer.getheader("Content-Type") or "").startswith(
            "application/json"
        )
        return SimpleNamespace(
            status=answer.status,
            headers=answer.headers,
            text=text,
            json=json.loads(text) if is_json else None,
        )

    def get(self, path: str, **headers: str) -> SimpleNamespace:
        return self.ask("GET", path, headers=headers)

    def lock(self, guess: object, question: str = NUMBER) -> SimpleNamespace:
        return self.ask("POST", "/class/lock", {"question": question, "guess": guess})

    def state(self, question: str = NUMBER) -> dict:
        """What this seat is told of a question."""
        return self.get(f"/class/state?page={PAGE}").json["questions"][question]


def raw(host: str, text: str) -> bytes:
    """All that comes back for what is sent."""
    address, _, port = host.partition(":")
    with socket.create_connection((address, int(port)), timeout=10) as way:
        way.sendall(text.encode())
        found = b""
        while part := way.recv(65536):
            found += part
    return found


def teacher_of(room: SimpleNamespace) -> Visitor:
    """The teacher, whose token has become a cookie."""
    teacher = Visitor(room.teacher)
    teacher.get(f"/?t={room.token}")
    return teacher


def heard(visitor: Visitor, path: str, until: float = 5.0) -> str:
    """The first message of a socket."""

    async def listen() -> str:
        headers = {"Cookie": visitor.cookie, "Origin": f"http://{visitor.host}"}
        request = HTTPRequest(f"ws://{visitor.host}{path}", headers=headers)
        socket = await websocket_connect(request)
        try:
            return await asyncio.wait_for(socket.read_message(), until)
        finally:
            socket.close()

    return asyncio.run(listen())
