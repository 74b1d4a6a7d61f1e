"""`neuroviz class`: two servers in one process, which end with the class."""

import asyncio
import logging
import secrets
import socket
import sys
import time
import webbrowser
from argparse import Namespace
from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from math import ceil

import psutil
import segno
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application

from neuroviz.kit.words import counted
from neuroviz.lessons.classroom import handlers
from neuroviz.lessons.classroom.room import Room
from neuroviz.lessons.classroom.site import NoSiteError, Site

TRIED_PORTS = 10
MOST_ADDRESSES = 4
"""Of this computer, that the projector offers."""

CONNECTIONS_A_SEAT = 8
MOST_FILES = 4096
KEPT_FILES = 96
"""Of these, for the teacher, the site and the program itself."""

NETWORK_STAYS = 2.0
"""Seconds, before this computer is asked again for its addresses."""

GRACE = 3.0
"""Seconds after the end in which a page with several questions asks for all of them."""

NOWHERE = ("127.", "169.254.")
"""Addresses begin so that nobody else reaches."""

BOUNDS = {
    "max_body_size": 1024,
    "max_buffer_size": 2**20,
    "max_header_size": 8192,
    "idle_connection_timeout": 30,
    "body_timeout": 5,
}
SOCKETS = {
    "websocket_ping_interval": 15,
    "websocket_ping_timeout": 15,
    "websocket_max_message_size": 256,
    "log_function": lambda handler: None,  # a line would say which address asks
}


class BoundedServer(HTTPServer):
    """A server with a number of connections that no address can use up alone."""

    def initialize(self, *arguments: object, most: int, each: int, **settings) -> None:
        super().initialize(*arguments, **settings)
        self._most = most
        self._each = each
        self._open: Counter[str] = Counter()

    def handle_stream(self, stream, address: tuple) -> None:
        its = self._open[address[0]]
        if its >= self._each or self._open.total() >= self._most:
            stream.close()
            return
        self._open[address[0]] += 1
        super().handle_stream(stream, address)

    def on_close(self, connection) -> None:
        super().on_close(connection)
        address = connection.context.address[0]
        self._open[address] -= 1
        if not self._open[address]:
            del self._open[address]


def addresses() -> list[str]:
    """The IPv4 addresses of this computer on networks, that of the default route
    first."""
    found = []
    states = psutil.net_if_stats()
    for name, its in psutil.net_if_addrs().items():
        if name not in states or not states[name].isup:
            continue
        for one in its:
            if one.family == socket.AF_INET and not one.address.startswith(NOWHERE):
                found.append(one.address)
    first = _of_the_default_route()
    return sorted(found, key=lambda one: one != first)


class Names:
    """The names by which students reach this computer; a network may change meanwhile.

    Args:
        address: the only one that is listened on, or None for all.
        others: names that somebody has given to it.
    """

    def __init__(self, address: str | None, others: Collection[str]) -> None:
        own = socket.gethostname().removesuffix(".local").lower()
        self._address = address
        self._always = {"localhost", "127.0.0.1", f"{own}.local"}
        self._always.update(name.lower() for name in others)
        self._near: list[str] = []
        self._until = 0.0
        self.port = 0

    def near(self) -> list[str]:
        """Its addresses, asked for again every few seconds."""
        if self._address:
            return [self._address]
        if time.monotonic() > self._until:
            self._near = addresses()
            self._until = time.monotonic() + NETWORK_STAYS
        return self._near

    def urls(self) -> list[str]:
        return [f"http://{one}:{self.port}/" for one in self.near()[:MOST_ADDRESSES]]

    def where(self) -> list[dict[str, str]]:
        """The addresses with their codes, for the wall."""
        return [{"url": url, "code": qr_code(url)} for url in self.urls()]

    def __contains__(self, host: str) -> bool:
        """Whether a page was asked for by one of them, with the port."""
        name, _, port = host.partition(":")
        # browsers leave port 80 out
        if (port or "80") != str(self.port):
            return False
        return name in self._always or name in self.near()


def raise_limit_of_files() -> int:
    """How many files and connections this process may have open, after as many as
    possible were asked for."""
    try:
        import resource
    except ImportError:  # Windows waits for no more than 512
        return 512
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    wanted = MOST_FILES if hard == unlimited else min(hard, MOST_FILES)
    if soft != unlimited and soft < wanted:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return MOST_FILES if soft == unlimited else min(soft, MOST_FILES)


def _of_the_default_route() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
        try:
            way.connect(("192.0.2.1", 9))  # an address of documentation; sends nothing
            return way.getsockname()[0]
        except OSError:
            return ""


def listen(port: int, address: str) -> list[socket.socket]:
    """The port that was asked for, or one of the nine after it.

    Raises:
        OSError: if all are taken, or the address is none of this computer.
    """
    last = port + TRIED_PORTS - 1
    for one in range(port, last + 1):
        try:
            return bind_sockets(one, address, family=socket.AF_INET)
        except OSError as error:
            if not _is_taken(error):
                here = ", ".join(addresses()) or "in no network"
                raise OSError(
                    f"{address} is no address that this computer can listen on"
                    f" ({error}); it is {here}"
                ) from error
    raise OSError(f"ports {port} to {last} are taken: name another with --port")


def _is_taken(error: OSError) -> bool:
    # EADDRINUSE of macOS, Linux and Windows, and EACCES, which Windows says, too
    return error.errno in (48, 98, 10048, 10013)


async def run(asked: Namespace) -> None:
    """Hold a class until the teacher ends it.

    Args:
        asked: what the command was told; see `neuroviz.command`.

    Raises:
        NoSiteError: if there is no site to serve.
        OSError: if no port is free.
    """
    site = Site(asked.site)
    listeners = handlers.Listeners()
    room = Room(
        site.polls(),
        asked.most,
        asked.per_address,
        listeners.changed,
        lambda: listeners.here,
    )
    listeners.room = room
    shared = {"room": room, "site": site, "listeners": listeners} | SOCKETS

    names = Names(asked.address, asked.name)
    near = names.near()
    # 0.0.0.0 is every network of this computer.
    students = listen(asked.port, asked.address or ("0.0.0.0" if near else "127.0.0.1"))
    names.port = students[0].getsockname()[1]
    # half of all files for what is fetched, half for the pages that listen
    half = max(32, (raise_limit_of_files() - KEPT_FILES) // 2)
    shared["most_sockets"] = min(half, handlers.MOST_PAGES * asked.most)
    for_students = BoundedServer(
        Application(
            [
                ("/class/state", handlers.State),
                ("/class/lock", handlers.Lock),
                ("/class/socket", handlers.StudentSocket),
                ("/(.*)", handlers.SiteFile),
            ],
            hosts=names,
            **shared,
        ),
        most=min(half, CONNECTIONS_A_SEAT * asked.most),
        each=CONNECTIONS_A_SEAT * asked.per_address,
        **BOUNDS,
    )

    own = bind_sockets(0, "127.0.0.1", family=socket.AF_INET)  # 0: any free port
    own_port = own[0].getsockname()[1]
    token = secrets.token_urlsafe(24)
    ticket = secrets.token_urlsafe(24)
    ended = asyncio.Event()
    for_teacher = HTTPServer(
        Application(
            [
                ("/(projector)?", handlers.TeacherPage),
                ("/socket", handlers.TeacherSocket),
                ("/projector/socket", handlers.ProjectorSocket),
                ("/pages/(.*)", handlers.TeacherSite),
                ("/(.*)", handlers.TeacherFile),
            ],
            hosts={f"127.0.0.1:{own_port}", f"localhost:{own_port}"},
            token=token,
            tickets={ticket},
            ended=ended,
            where=names.where,
            note=note_on(site),
            **shared,
        ),
        **BOUNDS,
    )
    for_students.add_sockets(students)
    for_teacher.add_sockets(own)
    teacher = f"http://127.0.0.1:{own_port}/?t="
    print(in_words(site, names.urls(), teacher + token), flush=True)
    if not asked.no_browser:
        # Others on this computer can read how the browser was called: a ticket that was
        # used opens nothing.
        webbrowser.open(teacher + ticket)
    beat = asyncio.create_task(listeners.beat())
    try:
        await ended.wait()
        await _until_all_have_heard(room, asked.linger)
    finally:
        beat.cancel()
        for_students.stop()
        for_teacher.stop()
        await for_students.close_all_connections()
        print(f"Over. {room.came} came; their guesses are forgotten.", flush=True)


async def _until_all_have_heard(room: Room, most: float) -> None:
    """After the end pages ask for what is still closed: those that are open at once, a
    telephone that sleeps when it wakes."""
    end = time.monotonic() + most
    room.seconds_left = ceil(most)
    await asyncio.sleep(min(most, GRACE))
    if room.unaware:
        seats = "seat has" if room.unaware == 1 else "seats have"
        print(
            f"The class has ended. {room.unaware} {seats} not heard it: they have"
            f" {most:g} seconds. Ctrl+C ends at once.",
            flush=True,
        )
    while room.unaware and (left := end - time.monotonic()) > 0:
        room.seconds_left = ceil(left)
        room.changed(False)
        await asyncio.sleep(GRACE / 10)


def qr_code(url: str) -> str:
    """An address as a drawing that telephones read."""
    # Of a given size, a browser would cut it off.
    return segno.make(url, error="m").svg_inline(border=4, light="white", omitsize=True)


def note_on(site: Site) -> str:
    """What students can see all the same, for the teacher."""
    live = "Live runs from here." if site.has_python else "Live needs the internet."
    return (
        "Before you show an answer, the page's question has none. Panels, downloads,"
        f" Live and lab/ have the answers: this is no examination. {live}"
    )


def in_words(site: Site, urls: list[str], teacher: str) -> str:
    count = len(site.questions)
    if urls:
        students = f"Students: {urls[0]}"
    else:
        students = (
            "This computer is in no network: no telephone can join, you can count"
            " hands. Connect it, or open a hotspot, and start again."
        )
    return (
        f"{counted(count, 'question')}. {students}\n"
        f"Teacher, on this computer alone: {teacher}\n"
        f"{note_on(site)}\n"
        "Ctrl+C ends the class."
    )


def main(asked: Namespace) -> None:
    """Hold the class, and say in a sentence what prevents it."""
    # They would say which address has asked for what.
    for name in ("tornado.general", "tornado.access"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        asyncio.run(run(asked))
    except KeyboardInterrupt:
        pass
    except (NoSiteError, OSError) as error:
        sys.exit(f"neuroviz class: {error}")
