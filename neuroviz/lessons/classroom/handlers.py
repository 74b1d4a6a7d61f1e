"""What the two servers of a class answer: that of the students, on the network, and
that of the teacher, on this computer alone."""

import asyncio
import gzip
import json
import mimetypes
import secrets
import traceback
from collections.abc import Callable
from urllib.parse import urlsplit

from tornado.iostream import StreamClosedError
from tornado.web import HTTPError, RequestHandler
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from neuroviz.kit import theme
from neuroviz.lessons.classroom.room import RefusedError, Room
from neuroviz.lessons.classroom.site import LATER, STATIC, File, Site

MOST_PAGES = 4
"""Pages that one seat may have open."""

PIECE = 2**18
"""Bytes of a file that are sent at once."""

PATIENCE = 10.0
"""Seconds for a piece to be read."""

BEAT = 5.0
"""Seconds between two words to all pages. One that misses three of them says that the
class does not answer."""

TOGETHER = 0.05
"""Seconds: the teacher hears once of all that happens meanwhile, so no flood."""

OF_TEACHERS = ("teacher.js", "teacher.css", "projector.js", "projector.css")

ROLES = "ground panel ink soft grid wash ghost measured certified focus".split()
"""Colours of the theme that the teacher's pages use."""

WHERE_PYTHON_IS = "https://cdn.jsdelivr.net"
"""Where Live finds Python if the site has none of its own."""


class Listeners:
    """The open sockets of a class, and what they are told."""

    def __init__(self) -> None:
        self.room: Room
        self.students: dict[WebSocketHandler, str] = {}
        self.watching: dict[WebSocketHandler, Callable[[], str]] = {}
        self._is_told = False

    @property
    def here(self) -> set[str]:
        """The seats that have a page open."""
        return set(self.students.values())

    async def beat(self) -> None:
        """A page whose network is gone, or whose class stands still, hears nothing; so
        it says it, and looks for the class again."""
        while True:
            await asyncio.sleep(BEAT)
            for socket in [*self.students, *self.watching]:
                _send(socket, "beat")

    def changed(self, for_all: bool) -> None:
        """Tell the teacher, soon; and all pages, at once, that they have to ask."""
        if for_all:
            for socket in list(self.students):
                _send(socket, "look")
        if not self._is_told:
            self._is_told = True
            asyncio.get_running_loop().call_later(TOGETHER, self._tell)

    def _tell(self) -> None:
        self._is_told = False
        for socket, says in list(self.watching.items()):
            _send(socket, says())

    def for_teacher(self) -> str:
        return json.dumps(self.room.for_teacher(self.here))

    def for_projector(self) -> str:
        return json.dumps(self.room.for_projector(self.here))


def _send(socket: WebSocketHandler, text: str) -> None:
    try:
        written = socket.write_message(text)
    except WebSocketClosedError:
        return  # it closes itself
    written.add_done_callback(_forget)


def _forget(written: asyncio.Future) -> None:
    """A page that went away meanwhile is no error of ours."""
    if not written.cancelled() and written.exception():
        if not isinstance(
            written.exception(), (WebSocketClosedError, StreamClosedError)
        ):
            written.result()


def file_at(address: str) -> str:
    """The file at an address of a site: of a folder it is the first page.

    >>> file_at(""), file_at("docs/"), file_at("docs/lessons.html")
    ('index.html', 'docs/index.html', 'docs/lessons.html')
    """
    is_folder = address == "" or address.endswith("/")
    return f"{address}index.html" if is_folder else address


class Handler(RequestHandler):
    """Answers what comes by a name of this computer and from a page of its own."""

    @property
    def room(self) -> Room:
        return self.settings["room"]

    @property
    def site(self) -> Site:
        return self.settings["site"]

    @property
    def listeners(self) -> Listeners:
        return self.settings["listeners"]

    @property
    def cookie_name(self) -> str:
        """Cookies of one host reach all its ports: the port is in the name."""
        return f"neuroviz{self.request.host.rpartition(':')[2]}"

    def prepare(self) -> None:
        if self.request.host.lower() not in self.settings["hosts"]:
            raise HTTPError(421)  # somebody's name that leads here: DNS rebinding
        if not self.is_from_here:
            raise HTTPError(403)
        if self.request.method == "POST" and not self.is_json:
            raise HTTPError(415)

    @property
    def is_from_here(self) -> bool:
        """Whether the page that asks is one of ours, or nobody's."""
        headers = self.request.headers
        # A link elsewhere may lead here; what a page elsewhere fetches is refused.
        is_link = headers.get("Sec-Fetch-Mode") == "navigate"
        if headers.get("Sec-Fetch-Site") == "cross-site" and not is_link:
            return False
        origin = headers.get("Origin")
        try:
            return origin is None or urlsplit(origin).netloc.lower() == self.host
        except ValueError:
            return False

    @property
    def host(self) -> str:
        return self.request.host.lower()

    @property
    def is_json(self) -> bool:
        kind = self.request.headers.get("Content-Type", "")
        return kind.split(";")[0].strip() == "application/json"

    def set_default_headers(self) -> None:
        python = "" if self.site.has_python else WHERE_PYTHON_IS
        policy = {
            "default-src": "'self'",
            # Live runs Python, which is compiled in the page.
            "script-src": f"'self' 'unsafe-inline' 'unsafe-eval' blob: {python}",
            "style-src": "'self' 'unsafe-inline'",
            "img-src": "'self' data: blob:",
            "font-src": "'self' data:",
            "connect-src": f"'self' {python}",
            "worker-src": "'self' blob:",
            "frame-ancestors": "'self'",
            "base-uri": "'self'",
            "form-action": "'none'",
        }
        rules = "; ".join(f"{name} {value.strip()}" for name, value in policy.items())
        self.set_header("Content-Security-Policy", rules)
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Referrer-Policy", "no-referrer")
        self.set_header("Cache-Control", "no-cache")
        self.clear_header("Server")

    def write_error(self, status_code: int, **_: object) -> None:
        """Nothing of what was asked comes back."""
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(f"{status_code} {self._reason}\n")

    def log_exception(self, kind: type | None, error: object, trace: object) -> None:
        """Say that something is wrong in the class, and nothing of who asked what."""
        if not isinstance(error, (HTTPError, StreamClosedError)):
            traceback.print_exception(kind, error, trace)

    def compute_etag(self) -> None:
        """Files alone have a tag, and theirs is known."""

    def keep(self, value: str) -> None:
        """Give the browser a cookie that ends with it, and that no script reads."""
        self.set_cookie(
            self.cookie_name, value, httponly=True, samesite="Strict", expires_days=None
        )

    def body(self) -> dict:
        """What was sent, as JSON."""
        try:
            found = json.loads(self.request.body)
        except (ValueError, RecursionError):
            raise HTTPError(400) from None
        if not isinstance(found, dict):
            raise HTTPError(400)
        return found

    async def give(self, file: File) -> None:
        text = file.kind.startswith("text/")
        self.set_header(
            "Content-Type", f"{file.kind}; charset=utf-8" if text else file.kind
        )
        self.set_header("Etag", file.tag)
        if self.check_etag_header():
            self.set_status(304)
            return
        if file.packed is not None:
            self.set_header("Vary", "Accept-Encoding")
        content = file.content
        if file.packed is not None and self.takes_gzip:
            self.set_header("Content-Encoding", "gzip")
            content = file.packed
        self.set_header("Content-Length", str(len(content)))
        await self.send(content)

    async def send(self, content: bytes) -> None:
        """Send it piece by piece: who reads slowly holds no copy of it, and who reads
        nothing is left."""
        for begin in range(0, len(content), PIECE):
            self.write(content[begin : begin + PIECE])
            try:
                await asyncio.wait_for(self.flush(), PATIENCE)
            except TimeoutError:
                self.request.connection.stream.close()
                return

    @property
    def takes_gzip(self) -> bool:
        return "gzip" in self.request.headers.get("Accept-Encoding", "")


class StudentHandler(Handler):
    """Answers who has a seat, and gives one to who has none."""

    def sit(self) -> str:
        """The seat: a random name in a cookie, which ends with the browser."""
        address = self.request.remote_ip
        cookie = self.get_cookie(self.cookie_name)
        try:
            self.room.allow(address, cookie)
            seat = self.room.seat(cookie, address)
        except RefusedError as refused:
            raise HTTPError(429, reason=str(refused)) from None
        self.keep(seat)
        return seat


class SiteFile(StudentHandler):
    """A file of the site."""

    async def get(self, name: str) -> None:
        name = file_at(name)
        if self.site.is_later(name):
            self.set_header("Content-Type", "text/html; charset=utf-8")
            self.write(LATER)
            return
        if name not in self.site:
            raise HTTPError(404)
        loop = asyncio.get_running_loop()
        await self.give(await loop.run_in_executor(None, self.site.file, name))


class State(StudentHandler):
    """What a page is told of its questions."""

    def get(self) -> None:
        page = self.get_query_argument("page", "")
        self.write(self.room.for_student(self.sit(), page))


class Lock(StudentHandler):
    """A guess is locked in."""

    def post(self) -> None:
        seat = self.sit()
        sent = self.body()
        name = self.room.find(str(sent.get("question")))
        if name is None:
            raise HTTPError(404)
        try:
            self.room.vote(seat, name, sent.get("guess"), sent.get("vote"))
        except ValueError:
            raise HTTPError(422) from None
        state = self.room.for_student(seat, self.room.polls[name].page)
        self.write(state | {"asked": name})


class StudentSocket(WebSocketHandler, StudentHandler):
    """Tells a page to ask again; what a page says here is not read."""

    async def get(self) -> None:
        self.seat = self.get_cookie(self.cookie_name)
        if not self.room.has(self.seat):
            raise HTTPError(403)
        sockets = self.listeners.students
        is_full = len(sockets) >= self.settings["most_sockets"]
        if is_full or [*sockets.values()].count(self.seat) >= MOST_PAGES:
            raise HTTPError(429, reason="too many pages")
        await super().get()

    def open(self, *_: str) -> None:
        self.listeners.students[self] = self.seat
        self.listeners.changed(False)

    def on_message(self, _: str | bytes) -> None:
        self.close()

    def on_close(self) -> None:
        self.listeners.students.pop(self, None)
        self.listeners.changed(False)


class TeacherHandler(Handler):
    """Answers who has the token that the command has printed."""

    def prepare(self) -> None:
        super().prepare()
        given = self.get_query_argument("t", None)
        has_token = self.is_token(self.get_cookie(self.cookie_name))
        # In this order: who has the cookie uses up no ticket.
        if not (has_token or self.is_token(given) or self.is_ticket(given)):
            raise HTTPError(403)

    def is_token(self, text: str | None) -> bool:
        token = self.settings["token"]
        return secrets.compare_digest((text or "").encode(), token.encode())

    def is_ticket(self, text: str | None) -> bool:
        """Whether it is a ticket, which lets one request in."""
        tickets = self.settings["tickets"]
        is_valid = text in tickets
        tickets.discard(text)
        return is_valid


class TeacherPage(TeacherHandler):
    """The teacher's page, what it does, and the page for the projector."""

    def get(self, name: str) -> None:
        if "t" in self.request.query_arguments:
            # A projector may show the address bar: the token becomes a cookie.
            self.keep(self.settings["token"])
            self.redirect("/")
            return
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.write((STATIC / f"{name or 'teacher'}.html").read_bytes())

    def post(self, _: str) -> None:
        # A browser sends it with every POST, and `prepare` has compared it.
        if "Origin" not in self.request.headers:
            raise HTTPError(403)
        try:
            self.do(self.body())
        except ValueError as error:
            # in words: this is the teacher's own page
            self.set_status(422)
            self.set_header("Content-Type", "text/plain; charset=utf-8")
            self.finish(str(error))
        except (KeyError, TypeError):
            raise HTTPError(422) from None

    def do(self, asked: dict) -> None:
        """One thing: {"open": question}, and so on."""
        room = self.room
        match asked:
            case {"choose": name} if name in room.polls:
                room.choose(name)
            case {"bars": bool(are_shown)}:
                room.show_bars(are_shown)
            case {"held": bool(is_held)}:
                room.hold(is_held)
            case {"again": name} if name in room.polls:
                room.vote_again(name)
            case {"open": name} if name in room.polls:
                room.open(name)
            case {"hands": name, "guess": guess, "by": by} if name in room.polls:
                room.count_hands(name, guess, by)
            case {"end": True}:
                room.end()
                self.settings["ended"].set()
            case _:
                raise ValueError("nothing that a teacher does")


class TeacherFile(TeacherHandler):
    """The counts, where the class is, and what the two pages are made of."""

    async def get(self, name: str) -> None:
        if name == "counts.csv":
            self.set_header("Content-Type", "text/csv; charset=utf-8")
            self.set_header("Content-Disposition", 'attachment; filename="counts.csv"')
            # a table program reads letters right by this mark alone
            self.write("\ufeff" + self.room.table())
        elif name == "where.json":
            where = self.settings["where"]()
            self.write({"where": where, "note": self.settings["note"]})
        elif name == "look.css":
            self.set_header("Content-Type", "text/css; charset=utf-8")
            colors = "; ".join(f"--nv-{role}: {theme.color(role)}" for role in ROLES)
            self.write(f":root {{ color-scheme: light; {colors}; }}")
        elif name in OF_TEACHERS:
            content = (STATIC / name).read_bytes()
            kind = mimetypes.guess_type(name)[0] or "text/plain"
            await self.give(
                File(kind, f'"{self.room.name}"', content, gzip.compress(content))
            )
        else:
            raise HTTPError(404)


class TeacherSite(TeacherHandler):
    """The whole site, with answers and plans: for this computer and the wall."""

    async def get(self, name: str) -> None:
        name = file_at(name)
        loop = asyncio.get_running_loop()
        try:
            file = await loop.run_in_executor(None, self.site.whole, name)
        except KeyError:
            raise HTTPError(404) from None
        await self.give(file)


class WatchingSocket(WebSocketHandler, TeacherHandler):
    """Says how the class is, again whenever it changes."""

    def says(self) -> str:
        raise NotImplementedError

    def open(self, *_: str) -> None:
        self.listeners.watching[self] = self.says
        _send(self, self.says())

    def on_message(self, _: str | bytes) -> None:
        """Nothing: what the teacher does is posted."""

    def on_close(self) -> None:
        self.listeners.watching.pop(self, None)


class TeacherSocket(WatchingSocket):
    """All that the teacher sees."""

    def says(self) -> str:
        return self.listeners.for_teacher()


class ProjectorSocket(WatchingSocket):
    """All that the projector shows."""

    def says(self) -> str:
        return self.listeners.for_projector()
