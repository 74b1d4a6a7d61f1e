"""A class as its network sees it: what is served, what is refused, and what is left."""

import asyncio
import csv
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from argparse import Namespace
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import psutil
import pytest
from class_site import (
    CHOICE,
    NUMBER,
    PAGE,
    Visitor,
    heard,
    held,
    make_site,
    raw,
    teacher_of,
)

from neuroviz import command
from neuroviz.lessons import teaching
from neuroviz.lessons.classroom import handlers, member, server
from neuroviz.lessons.classroom.site import NoSiteError, Site

ONE = f"/{PAGE}.html"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return make_site(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def crowded(site):
    """A class for tests that need no fresh one: behind one address all may sit."""
    with held(site, "--per-address", "200") as room:
        yield room


@pytest.fixture
def room(site):
    with held(site, "--per-address", "200") as room:
        yield room


# What students are served


def test_a_page_that_asks_has_no_answer_until_it_is_open(room):
    student = Visitor(room.students)
    page = student.get(ONE).text
    assert 'data-question="one-1"' in page and "How many dimensions?" in page
    assert "/class/student.js" in page
    for secret in ("38", "Indeed", "parameters", "Because"):
        assert secret not in page
    assert student.lock(64).json["questions"][NUMBER]["answer"] is None
    assert "38" not in json.dumps(student.state())
    teacher_of(room).ask("POST", "/", {"open": NUMBER})
    answer = student.state()["answer"]
    assert answer["value"] == "38" and "Because 38 count" in answer["folds"][0]
    assert answer["remark"] == "That is the number of parameters."


@pytest.mark.parametrize(
    "path",
    [
        "/searchindex.js",
        "/class/answers.json",
        "/class/questions.json",
        f"/class/pages/{PAGE}.html",
        "/class/teacher.js",
        "/counts.csv",
        "/../conftest.py",
        "/notebooks/../../secret",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/..%2f..%2fetc/passwd",
        "//etc/passwd",
        "/notebooks/one.html%00.js",
        "/notebooks\\one.html",
        "/.git/config",
        "/nothing",
    ],
)
def test_odd_paths_and_what_is_kept_back_are_not_there(crowded, path):
    answer = Visitor(crowded.students).get(path)
    assert answer.status in (400, 404)
    assert "38" not in answer.text and path.strip("/") not in answer.text


def test_a_page_of_the_teacher_says_that_it_comes_later(crowded):
    answer = Visitor(crowded.students).get("/docs/lessons.html")
    assert answer.status == 200 and "After the class" in answer.text
    assert "38" not in answer.text


def test_the_teacher_has_the_whole_site(room):
    teacher = teacher_of(room)
    assert "38" in teacher.get(ONE.replace("/notebooks", "/pages/notebooks")).text
    assert "Answer: 38" in teacher.get("/pages/docs/lessons.html").text
    assert teacher.get("/pages/../conftest.py").status == 404
    assert Visitor(room.teacher).get("/pages/index.html").status == 403
    assert Visitor(room.students).get("/pages/index.html").status == 404


def test_links_out_of_the_site_are_not_followed(tmp_path):
    folder = make_site(tmp_path / "site")
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "way.txt").symlink_to(tmp_path / "secret.txt")
    assert "way.txt" not in Site(folder)


def test_files_are_packed_for_who_takes_it_and_told_to_be_the_same(crowded):
    student = Visitor(crowded.students)
    plain = student.get("/_static/large.js")
    assert plain.text.endswith("x" * 4000)
    headers = {"Accept-Encoding": "gzip"}
    answer = plain_get(crowded.students, "/_static/large.js", headers)
    assert b"Content-Encoding: gzip" in answer and len(answer) < 1500
    again = student.get("/_static/large.js", **{"If-None-Match": plain.headers["Etag"]})
    assert again.status == 304 and not again.text


def plain_get(host, path, headers):
    """The bytes of an answer, as they come."""
    lines = [f"GET {path} HTTP/1.1", f"Host: {host}", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return raw(host, "\r\n".join(lines) + "\r\n\r\n")


def test_no_page_may_be_framed_or_load_from_elsewhere(crowded):
    headers = Visitor(crowded.students).get("/").headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy and "form-action 'none'" in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Server"] is None


# What is refused


@pytest.mark.parametrize("name", ["evil.example", "evil.example:80", "127.0.0.1:1"])
def test_a_name_that_somebody_lets_point_here_is_refused(crowded, name):
    for path in ("/", "/class/state"):
        answer = Visitor(crowded.students).get(path, Host=name)
        assert answer.status == 421 and name not in answer.text


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1"])
def test_a_page_from_elsewhere_is_refused(crowded, origin):
    student = Visitor(crowded.students)
    sent = {"question": NUMBER, "guess": 1}
    answer = student.ask("POST", "/class/lock", sent, {"Origin": origin})
    assert answer.status == 403
    teacher = teacher_of(crowded)
    answer = teacher.ask("POST", "/", {"held": True}, {"Origin": origin})
    assert answer.status == 403


def test_a_script_of_another_page_takes_no_seat(crowded):
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    answer = Visitor(crowded.students).get("/class/state", **headers)
    assert answer.status == 403 and "Set-Cookie" not in answer.headers
    link = headers | {"Sec-Fetch-Mode": "navigate"}
    assert Visitor(crowded.students).get("/", **link).status == 200


def test_nothing_of_who_asks_what_is_printed(site):
    with held(site) as room:
        student = Visitor(room.students)
        for path in ("/%ff", "/class/state?page=%ff", "/nothing"):
            assert student.get(path).status in (400, 404)
        assert student.get("/", Origin="http://[").status == 403
        odd = {"Content-Type": "multipart/form-data; boundary="}
        student.ask("POST", "/class/lock", "x", odd)
        room.process.terminate()
        out, err = room.process.communicate(timeout=20)
        assert err == "" and "127.0.0.1" not in out.replace(room.teacher, "")


def test_a_network_that_changes_gives_other_names(monkeypatch):
    here = ["192.0.2.7"]
    monkeypatch.setattr(server, "addresses", lambda: list(here))
    names = server.Names(None, ["board.example"])
    names.port = 80
    assert "192.0.2.7" in names and "board.example:80" in names
    assert "192.0.2.7:8900" not in names and "192.0.2.8" not in names
    here[:] = ["192.0.2.8"]
    names._until = 0
    assert "192.0.2.8" in names and "192.0.2.7" not in names
    assert [one["url"] for one in names.where()] == ["http://192.0.2.8:80/"]


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("prlimit"), reason="prlimit is of Linux")
def test_more_connections_than_files_do_not_silence_the_teacher(site):
    with held(site, "--per-address", "200", files=256) as room:
        address, _, port = room.students.partition(":")
        ways = []
        for _ in range(320):
            way = socket.create_connection((address, int(port)), timeout=5)
            way.sendall(b"GET / HTTP/1.1\r\n")  # and never ends
            ways.append(way)
        time.sleep(0.5)
        began = time.monotonic()
        assert teacher_of(room).get("/").status == 200
        assert time.monotonic() - began < 2
        for way in ways:
            way.close()


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("{", 400),
        ("[1, 2]", 400),
        ("null", 400),
        ("[" * 500, 400),
        ('{"question": "one-1"}', 422),
        ('{"question": "one-1", "guess": NaN}', 422),
        ('{"question": "one-1", "guess": 1e400}', 422),
        (f'{{"question": "one-1", "guess": 1{"0" * 400}}}', 422),
        ('{"question": "one-1", "guess": "<img src=x>"}', 422),
        ('{"question": "one-2", "guess": "<b>yes</b>"}', 422),
        ('{"question": "nothing", "guess": 1}', 404),
        ('{"question": {"a": 1}, "guess": 1}', 404),
    ],
)
def test_odd_bodies_are_refused(crowded, body, status):
    answer = Visitor(crowded.students).ask("POST", "/class/lock", body)
    assert answer.status == status
    assert "<img" not in answer.text


def test_a_large_body_is_refused(crowded):
    head = f"POST /class/lock HTTP/1.1\r\nHost: {crowded.students}\r\n"
    sent = f"{head}Content-Type: application/json\r\nContent-Length: 2000\r\n\r\n"
    assert raw(crowded.students, sent + "x" * 2000).startswith(b"HTTP/1.1 400")


def test_a_form_of_another_page_is_refused(crowded):
    headers = {"Content-Type": "text/plain"}
    answer = Visitor(crowded.students).ask("POST", "/class/lock", "{}", headers)
    assert answer.status == 415


def test_an_address_takes_no_more_than_its_seats(site):
    with held(site, "--per-address", "2") as room:
        for _ in range(2):
            assert Visitor(room.students).lock(1).status == 200
        for _ in range(2):
            assert Visitor(room.students).get("/class/state").status == 429
        teacher = json.loads(heard(teacher_of(room), "/socket"))
        assert teacher["refused"] == {"full at one address": 2}
        assert teacher["came"] == 2


def test_a_flood_is_refused_and_the_class_goes_on(site):
    with held(site, "--per-address", "2") as room:
        student = Visitor(room.students)
        student.get("/class/state")
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda _: student.lock(1).status, range(200)))
        assert found.count(429) > 50
        before = time.monotonic()
        assert teacher_of(room).get("/").status == 200
        assert time.monotonic() - before < 5


@pytest.mark.long
def test_who_takes_all_connections_keeps_the_teacher_out_of_none(site):
    with held(site, "--per-address", "1") as room:
        address, _, port = room.students.partition(":")
        ways = []
        for _ in range(server.CONNECTIONS_A_SEAT + 4):
            way = socket.create_connection((address, int(port)), timeout=5)
            way.sendall(b"GET / HTTP/1.1\r\n")  # and never ends
            ways.append(way)
        time.sleep(0.3)
        closed = [is_closed(way) for way in ways]
        assert closed.count(True) == 4
        assert teacher_of(room).get("/").status == 200
        for way in ways:
            way.close()


@pytest.mark.long
def test_who_never_reads_a_large_file_keeps_nobody_waiting(tmp_path):
    folder = make_site(tmp_path)
    (folder / "_static" / "huge.js").write_bytes(os.urandom(20_000_000))
    with held(folder, "--per-address", "1") as room:
        address, _, port = room.students.partition(":")
        ways = []
        for _ in range(server.CONNECTIONS_A_SEAT - 1):
            way = socket.create_connection((address, int(port)), timeout=5)
            head = f"GET /_static/huge.js HTTP/1.1\r\nHost: {room.students}\r\n\r\n"
            way.sendall(head.encode())
            ways.append(way)  # and reads nothing
        time.sleep(1)
        began = time.monotonic()
        assert Visitor(room.students).lock(64).status == 200
        assert teacher_of(room).get("/").status == 200
        assert time.monotonic() - began < 2
        memory = psutil.Process(room.process.pid).memory_info().rss
        assert memory < 150e6  # the file is there once, not for each of them
        for way in ways:
            way.close()


def is_closed(way):
    way.settimeout(0.2)
    try:
        return way.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionResetError:
        return True


# The teacher


def test_what_the_browser_is_called_with_opens_the_page_once(site, tmp_path):
    said = tmp_path / "said"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {said}.part\nmv {said}.part {said}\n')
    browser.chmod(0o755)
    with held(site, browser=f"{browser} %s") as room:
        end = time.monotonic() + 10
        while not said.exists() and time.monotonic() < end:
            time.sleep(0.1)
        address = said.read_text().strip()
        assert room.token not in address
        path = address.removeprefix(f"http://{room.teacher}")
        teacher = Visitor(room.teacher)
        assert teacher.get(path).status == 302
        assert teacher.get("/").status == 200
        assert Visitor(room.teacher).get(path).status == 403


def test_the_teachers_pages_ask_for_the_token(room):
    stranger = Visitor(room.teacher)
    for path in ("/", "/projector", "/counts.csv", "/where.json", "/?t=anything"):
        assert stranger.get(path).status == 403
    assert stranger.ask("POST", "/", {"open": NUMBER}).status == 403
    with pytest.raises(Exception, match="403"):
        heard(stranger, "/socket")
    teacher = Visitor(room.teacher)
    first = teacher.get(f"/?t={room.token}")
    assert first.status == 302 and first.headers["Location"] == "/"
    assert "HttpOnly" in first.headers["Set-Cookie"]
    assert teacher.get("/").status == 200


def test_the_teacher_is_on_this_computer_alone(site):
    with held(site) as room:
        listening = room.teacher.partition(":")[0]
        assert listening == "127.0.0.1"
        # and no address of students leads there
        assert Visitor(room.students).get("/projector").status == 404


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"open": "nothing"},
        {"held": "yes"},
        {"hands": NUMBER, "guess": 1, "by": "1"},
        {"hands": NUMBER, "guess": "many", "by": 1},
        {"end": 1},
        {"open": ["one-1"]},
    ],
)
def test_what_no_teacher_does_is_refused(crowded, asked):
    assert teacher_of(crowded).ask("POST", "/", asked).status == 422


def test_the_teacher_is_told_why_hands_are_not_counted(room):
    teacher = teacher_of(room)
    hand = {"hands": NUMBER, "guess": 38, "by": 1}
    assert teacher.ask("POST", "/", hand | {"guess": 10**7}).text == (
        "a guess is a number up to 1000000, either way"
    )
    teacher.ask("POST", "/", {"open": NUMBER})
    answer = teacher.ask("POST", "/", hand)
    assert answer.status == 422
    assert answer.text == "the answer is open, and hands are counted before it"
    assert answer.headers["Content-Type"].startswith("text/plain")


def test_students_and_watchers_hear_that_the_class_is_there(monkeypatch):
    monkeypatch.setattr(handlers, "BEAT", 0.01)
    said = []
    monkeypatch.setattr(handlers, "_send", lambda *what: said.append(what))
    listeners = handlers.Listeners()
    listeners.students["telephone"] = "seat"
    listeners.watching |= {"desk": str, "wall": str}

    async def listen():
        beating = asyncio.create_task(listeners.beat())
        while len(said) < 3:
            await asyncio.sleep(0.01)
        beating.cancel()

    asyncio.run(asyncio.wait_for(listen(), 10))
    assert said[:3] == [(one, "beat") for one in ("telephone", "desk", "wall")]


def test_hands_votes_and_counts(room):
    teacher = teacher_of(room)
    student = Visitor(room.students)
    student.lock(64)
    student.lock("yes", CHOICE)
    assert json.loads(heard(teacher, "/projector/socket"))["question"] is None
    for asked in (
        {"hands": NUMBER, "guess": 38, "by": 3},
        {"again": NUMBER},
        {"choose": CHOICE},
        {"bars": True},
    ):
        assert teacher.ask("POST", "/", asked).status == 200
    student.lock(38)
    wall = json.loads(heard(teacher, "/projector/socket"))["question"]
    assert wall["name"] == CHOICE and wall["bars"] == [{"guess": "yes", "counts": [1]}]
    table = list(csv.reader(teacher.get("/counts.csv").text.splitlines()))[1:]
    assert [row[3:6] for row in table] == [
        ["1", "38", "3"],
        ["1", "64", "1"],
        ["2", "38", "1"],
        ["1", "yes", "1"],
    ]


def test_a_lock_is_on_the_teachers_page_and_a_release_on_all_within_a_second(room):
    teacher = teacher_of(room)
    students = [Visitor(room.students) for _ in range(30)]
    began = time.monotonic()
    with ThreadPoolExecutor(10) as pool:
        list(pool.map(lambda student: student.lock(64), students))
    locked = time.monotonic() - began
    state = json.loads(heard(teacher, "/socket"))
    assert state["questions"][0]["totals"] == [30] and locked < 20

    said = []
    ears = [
        threading.Thread(
            target=lambda one=one: said.append(heard(one, "/class/socket", 20))
        )
        for one in students
    ]
    for ear in ears:
        ear.start()
    while json.loads(heard(teacher, "/socket"))["here"] < len(students):
        time.sleep(0.05)
    teacher.ask("POST", "/", {"open": NUMBER})
    for ear in ears:
        ear.join()
    assert said == ["look"] * len(students)


# What is left of it


def test_after_the_end_nothing_runs_and_no_guess_is_on_a_disk(tmp_path):
    folder = make_site(tmp_path / "site")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    environment = dict(os.environ, TMPDIR=str(tmp_path), HOME=str(tmp_path))
    process = subprocess.Popen(
        [sys.executable, "-m", "neuroviz", "class", str(folder), "--no-browser"]
        + ["--address", "127.0.0.1", "--port", "0", "--linger", "0.2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=environment | {"PYTHONDONTWRITEBYTECODE": "1"},
    )
    said = [process.stdout.readline() for _ in range(2)]
    (students, _), (teacher, token) = re.findall(
        r"http://([\d.:]+)/(?:\?t=(\S+))?", "".join(said)
    )
    student = Visitor(students)
    student.lock(54321)
    desk = Visitor(teacher)
    desk.get(f"/?t={token}")
    desk.ask("POST", "/", {"end": True})
    assert student.state()["answer"]["value"] == "38"
    out, err = process.communicate(timeout=20)
    assert process.returncode == 0 and err == ""
    assert "1 came; their guesses are forgotten." in out
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


@pytest.mark.long
def test_a_page_that_sleeps_at_the_end_has_its_answers_when_it_wakes(site):
    with held(site, "--linger", "60") as room:
        awake, asleep = (Visitor(room.students) for _ in range(2))
        for student in (awake, asleep):
            student.lock(64)
        teacher_of(room).ask("POST", "/", {"end": True})
        assert awake.state()["answer"]["value"] == "38"
        time.sleep(server.GRACE + 1)
        assert room.process.poll() is None
        assert asleep.state()["answer"]["value"] == "38"
        # all have heard: nothing is waited for
        room.process.wait(timeout=10)
        said = room.process.stdout.read()
        assert "1 seat has not heard it" in said and "2 came" in said


def test_a_taken_port_gives_way_to_the_next(site):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with held(site, "--port", str(port)) as room:
            assert port < int(room.students.rpartition(":")[2]) < port + 10


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--port", "70000"], "a port is a whole number from 0 to 65535; got '70000'"),
        (["--port", "00000006553500"], "a port is a whole number from 0 to 65535"),
        (["--port", "-1"], "a port is a whole number from 0 to 65535; got '-1'"),
        (["--most", "0"], "a number of seats is a whole number from 1 to 100000"),
        (["--per-address", "many"], "a number of seats is a whole number from 1"),
    ],
)
def test_numbers_that_make_no_class_are_refused(words, said, capsys):
    with pytest.raises(SystemExit):
        command.main(["class", *words])
    assert said in capsys.readouterr().err


def test_a_name_is_heard_in_any_letters():
    names = server.Names("127.0.0.1", ["Foo.Local"])
    names.port = 8900
    assert "foo.local:8900" in names and "bar.local:8900" not in names


def test_an_address_of_another_computer_is_refused_with_those_of_this_one():
    with pytest.raises(OSError, match=r"192\.0\.2\.7 is no address .*; it is "):
        server.listen(0, "192.0.2.7")


def test_ports_that_are_all_taken_are_named(monkeypatch):
    def taken(*_, **__):
        raise OSError(98, "taken")

    monkeypatch.setattr(server, "bind_sockets", taken)
    with pytest.raises(OSError, match="ports 8900 to 8909 are taken.*--port"):
        server.listen(8900, "127.0.0.1")


def test_without_a_network_hands_can_be_counted(site, monkeypatch, capsys):
    monkeypatch.setattr(server, "addresses", list)
    asked = Namespace(
        site=site, port=0, address=None, name=[], most=5, per_address=5, linger=0
    )
    asked.no_browser = True

    async def lesson():
        running = asyncio.create_task(server.run(asked))
        said = ""
        while "Teacher" not in said:
            await asyncio.sleep(0.05)
            said += capsys.readouterr().out
        found = re.search(r"http://([\d.:]+)/\?t=(\S+)", said)
        room = SimpleNamespace(teacher=found[1], token=found[2])
        table = await asyncio.to_thread(by_hands, room)
        await running
        return said, table

    said, table = asyncio.run(lesson())
    assert "in no network" in said and "count hands" in said
    assert ",38,1,64,7," in table


def by_hands(room):
    """Seven hands are counted, and the class is ended; its table."""
    teacher = teacher_of(room)
    assert teacher.get("/where.json").json["where"] == []
    teacher.ask("POST", "/", {"hands": NUMBER, "guess": 64, "by": 7})
    table = teacher.get("/counts.csv").text
    teacher.ask("POST", "/", {"end": True})
    return table


def test_a_site_that_brings_python_along_needs_no_other_host(tmp_path):
    folder = make_site(tmp_path)
    assert "Live needs the internet" in server.note_on(Site(folder))
    (folder / "pyodide").mkdir()
    (folder / "pyodide" / "pyodide.mjs").write_text("export {};")
    assert "Live runs from here" in server.note_on(Site(folder))
    with held(folder) as room:
        headers = Visitor(room.students).get("/pyodide/pyodide.mjs").headers
        assert "https:" not in headers["Content-Security-Policy"]
        assert headers["Content-Type"].startswith("text/javascript")


def test_a_folder_that_is_no_site_is_told_so(tmp_path):
    with pytest.raises(NoSiteError, match="no index.html"):
        Site(tmp_path)
    (tmp_path / "index.html").write_text("")
    with pytest.raises(NoSiteError, match="questions.json is missing"):
        Site(tmp_path)
    make_site(tmp_path)
    (tmp_path / "class" / "answers.json").write_text("{}")
    with pytest.raises(NoSiteError, match="has no answer to one-1: build"):
        Site(tmp_path)


@pytest.mark.parametrize("words", [["class"], ["class", "nowhere"]])
def test_without_a_site_the_command_says_where_it_comes_from(tmp_path, words):
    done = subprocess.run(
        [sys.executable, "-m", "neuroviz", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and "`make site` builds them" in done.stderr


# A notebook takes part


@pytest.fixture
def joined(site, capsys):
    with held(site, "--linger", "3") as room:
        member.join(room.students)
        assert "2 questions" in capsys.readouterr().out
        yield room
        member.leave()


def until(found, seconds=10):
    end = time.monotonic() + seconds
    while not found() and time.monotonic() < end:
        time.sleep(0.05)
    return found()


@pytest.mark.long
def test_a_guess_of_a_notebook_waits_for_the_teacher(joined):
    hints = {64: "That is the number of parameters."}
    question = teaching.predict("How many “dimensions”?", 38, wrong=hints)
    question.commit(64)
    assert question.message == "" and "your teacher shows it" in outcome(question)
    teacher = teacher_of(joined)

    def arrived():
        return json.loads(heard(teacher, "/socket"))["questions"][0]["totals"] == [1]

    assert until(arrived)
    teacher.ask("POST", "/", {"open": NUMBER})
    assert until(lambda: "it is 38" in question.message)


@pytest.mark.long
def test_a_notebook_votes_again(joined):
    question = teaching.predict("How many dimensions?", 38)
    question.commit(64)
    teacher = teacher_of(joined)
    time.sleep(0.5)
    teacher.ask("POST", "/", {"again": NUMBER})
    assert until(lambda: question.committed is None)
    assert "You said 64. The class votes again." in outcome(question)
    question.commit(38)
    teacher.ask("POST", "/", {"open": NUMBER})
    assert until(lambda: "Right." in question.message)


@pytest.mark.long
def test_a_notebook_hears_the_teacher_on_its_own_thread(joined):
    """As in a kernel: an event loop runs, and widgets are its own."""

    async def cell():
        question = teaching.predict("How many dimensions?", 38)
        heard_in = []
        question._show = lambda guess: heard_in.append(threading.current_thread())
        question.commit(64)
        await asyncio.sleep(0.5)
        await asyncio.to_thread(
            lambda: teacher_of(joined).ask("POST", "/", {"open": NUMBER})
        )
        for _ in range(100):
            if heard_in:
                return heard_in
            await asyncio.sleep(0.05)

    assert asyncio.run(cell()) == [threading.current_thread()]


def test_a_question_that_the_class_has_not_is_answered_at_once(joined):
    question = teaching.predict("Something else?", 3)
    question.commit(2)
    assert until(lambda: "it is 3" in question.message)


@pytest.mark.long
def test_the_end_of_the_class_shows_the_answer(joined):
    question = teaching.predict("How many dimensions?", 38)
    question.commit(64)
    time.sleep(0.5)
    teacher_of(joined).ask("POST", "/", {"end": True})
    assert until(lambda: "it is 38" in question.message)


@pytest.mark.long
def test_a_class_that_is_gone_is_waited_for_and_then_left(joined, monkeypatch):
    monkeypatch.setattr(member, "GONE", 1.0)
    question = teaching.predict("How many dimensions?", 38)
    joined.process.terminate()
    joined.process.wait()
    question.commit(64)
    assert until(lambda: "it is 38" in question.message)


def test_an_address_without_a_class_is_told_in_a_sentence():
    with pytest.raises(ValueError, match="no class answers at http://127.0.0.1:9 "):
        member.join("127.0.0.1:9")
    with pytest.raises(ValueError, match="the address of a class is a text"):
        member.join(8900)


def outcome(question):
    return question._outcome.value
