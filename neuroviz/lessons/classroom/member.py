"""A notebook takes part in a class: its guesses go to the teacher, its answers wait for
them."""

import asyncio
import json
import sys
import threading
import time
from collections.abc import Callable
from http.client import HTTPException
from http.cookiejar import CookieJar
from urllib.error import HTTPError
from urllib.request import HTTPCookieProcessor, ProxyHandler, Request, build_opener

from neuroviz.lessons.classroom.poll import letters_of

PATIENCE = 5.0
"""Seconds for an answer of the class."""

EVERY = 1.0
"""Seconds between two questions whether the answer is open."""

GONE = 60.0
"""Seconds without an answer, after which the class counts as over."""

OPEN = "open"
AGAIN = "again"
"""What a guess waits for: the answer is shown, or the class votes again."""


class Member:
    """A seat in a class, for the questions of a notebook.

    Args:
        address: what stands on the wall, such as "http://192.168.1.20:8900".

    Raises:
        ValueError: if no class answers there.
    """

    def __init__(self, address: str) -> None:
        self.address = _read(address)
        # Its own cookies, and no proxy: a class is on the network of the room.
        cookies = HTTPCookieProcessor(CookieJar())
        self._opener = build_opener(cookies, ProxyHandler({}))
        try:
            state = self._ask("/class/state")
        except (OSError, HTTPException, ValueError, KeyError) as error:
            raise ValueError(
                f"no class answers at {self.address} ({error}): compare the address"
                " with the one on the wall, and see whether this computer is in the"
                " same network"
            ) from None
        self.questions = len(state["questions"])

    def _ask(self, path: str, sent: dict | None = None) -> dict:
        data = None if sent is None else json.dumps(sent, ensure_ascii=False).encode()
        request = Request(
            self.address + path, data, {"Content-Type": "application/json"}
        )
        with self._opener.open(request, timeout=PATIENCE) as answer:
            return json.load(answer)

    def send(
        self, question: str, guess: int | float | str, heard: Callable[[str], None]
    ) -> None:
        """Send a guess, and wait in the background for what the teacher does.

        Args:
            question: its text.
            guess: the first of each vote counts.
            heard: called on the event loop of the caller with `OPEN` or `AGAIN`, once.
                Where the class has no such question, or is gone, `OPEN` comes at once:
                the notebook goes on as without a class.
        """
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            loop = None

        def wait() -> None:
            what = self._wait_for(question, guess)
            if loop is None:
                heard(what)
            else:
                loop.call_soon_threadsafe(heard, what)

        threading.Thread(target=wait, daemon=True).start()

    def _wait_for(self, question: str, guess: int | float | str) -> str:
        until = time.monotonic() + GONE
        sent = {"question": letters_of(question), "guess": guess}
        name = ""
        vote = 0
        while time.monotonic() < until:
            try:
                if not name:
                    found = self._ask("/class/lock", sent)
                    name = found["asked"]
                    vote = found["questions"][name]["vote"]
                else:
                    found = self._ask("/class/state")
                asked = found["questions"][name]
                if asked["answer"] is not None:
                    return OPEN
                if asked["vote"] > vote:
                    return AGAIN
                until = time.monotonic() + GONE
            except HTTPError as error:
                if error.code in (404, 422):  # not a question of this class
                    return OPEN
            except (OSError, HTTPException, ValueError):
                pass  # the network is away, or the class is started again
            except KeyError:
                name = ""  # another class: it gets the guess, too
            time.sleep(EVERY)
        return OPEN


def _read(address: str) -> str:
    if sys.platform == "emscripten":
        raise ValueError(
            "JupyterLab in the browser cannot join a class: open the page of this"
            " notebook at the address on the wall"
        )
    if not isinstance(address, str) or not address.strip():
        raise ValueError(
            "the address of a class is a text, such as"
            f" 'http://192.168.1.20:8900'; got {address!r}"
        )
    address = address.strip().rstrip("/")
    return address if "://" in address else f"http://{address}"


_joined: Member | None = None


def join(address: str) -> None:
    """Take part in a class: guesses of this notebook go to the teacher, and answers
    wait until they are shown to all.

    A question that the class does not have is answered at once, as ever. `leave` ends
    it; so does the end of the class.

    Args:
        address: what stands on the wall, such as "http://192.168.1.20:8900".

    Raises:
        ValueError: if no class answers there.

    >>> join("")
    Traceback (most recent call last):
    ValueError: the address of a class is a text, such as 'http://192.168.1.20:8900';...
    """
    global _joined
    _joined = Member(address)
    print(f"You are in the class: it has {_joined.questions} questions.")


def leave() -> None:
    """Answer questions at once again, without the class."""
    global _joined
    _joined = None


def joined() -> Member | None:
    """The class in which this notebook takes part."""
    return _joined
