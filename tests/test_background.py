"""Long work: what a child process and an event loop have in common; and the child,
whatever it meets."""

import asyncio
import gc
import importlib
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Generator
from functools import cache
from inspect import signature
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from panels import PATIENCE, eventually, is_alive

from neuroviz.kit import child as child_module
from neuroviz.kit.background import Background
from neuroviz.kit.background import background as of_this_machine
from neuroviz.kit.bar import showing
from neuroviz.kit.event_loop import EventLoop
from neuroviz.kit.process import ChildProcess
from neuroviz.kit.steps import in_steps

on_unix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals")


@pytest.fixture(scope="module", params=[ChildProcess, EventLoop])
def background(request):
    """One of each kind for the tests of what they share: a child takes a while to
    start."""
    shared = request.param()
    yield shared
    shared.close()


@pytest.fixture
def child():
    """A child process of the test's own."""
    own = ChildProcess()
    yield own
    own.close()


def asked(background, work, argument=None):
    """The parts of an answer, and its ends: there should be one."""
    parts = []
    ends = []
    background.submit(work, argument, ends.append, parts.append)
    assert background.wait(PATIENCE) and not background.running
    return parts, ends


def answer(background, work, argument=None):
    (end,) = asked(background, work, argument)[1]
    return end


def failure(background, work, argument=None):
    """The words of the error that work ends in."""
    error = answer(background, work, argument)
    assert isinstance(error, Exception), error
    return f"{type(error).__name__}: {error}"


def hears(capfd, *words):
    """Whether all of these words come out of the standard error."""
    heard = ""

    def have_come():
        nonlocal heard
        heard += capfd.readouterr().err
        return all(word in heard for word in words)

    return eventually(have_come)


# The work of the tests


def three(start):
    yield start
    yield start + 1
    return start + 2


@in_steps
def three_in_steps(start) -> Generator[int, None, int]:
    yield start
    with showing(None) as report:
        report("a stage", 0.5)
    yield start + 1
    return start + 2


def reports(stages):
    for stage in stages:
        with showing(None) as report:
            report(stage, 0.5)
    return stages


def breaks(start):
    yield start
    raise ArithmeticError("half way")


def for_ever(seconds):
    while True:
        time.sleep(seconds)
        yield "still here"


def leaves(status):
    sys.exit(status)


# What a child process and an event loop have in common


@pytest.mark.parametrize(
    "name", [name for name in vars(Background) if not name.startswith("_")]
)
def test_both_have_all_of_a_background_with_its_arguments(name):
    asked = getattr(Background, name)
    for kind in ChildProcess, EventLoop:
        given = getattr(kind, name)
        assert isinstance(asked, property) or signature(given) == signature(asked)


def test_there_is_nothing_to_wait_for_or_to_cancel_before_the_first_request(background):
    background.close()
    assert background.wait(0) and not background.running and not background.cancel()


def test_a_result_or_an_exception_is_the_answer(background):
    seen = []
    background.submit(abs, -3, seen.append)
    assert background.running and background.wait(PATIENCE) and not background.running
    assert seen == [3]
    assert failure(background, int, "x").startswith("ValueError: invalid literal")


def test_an_exit_of_the_work_is_an_error_like_others(background):
    assert failure(background, leaves, 3) == "RuntimeError: SystemExit: 3"
    assert answer(background, abs, -3) == 3


def test_parts_come_in_order_and_before_the_end(background):
    assert asked(background, three, 5) == ([5, 6], [7])
    assert asked(background, abs, -5) == ([], [5])
    ends = []
    background.submit(three, 1, ends.append)  # nobody asks for the parts
    assert background.wait(PATIENCE) and ends == [3]


def test_the_parts_are_the_steps_of_the_work_or_else_its_reports(background):
    assert asked(background, three_in_steps, 5) == ([5, 6], [7])
    assert asked(background, reports, "ab") == (["a, 50 %", "b, 50 %"], ["ab"])


def test_an_error_half_way_ends_the_answer(background):
    parts, (error,) = asked(background, breaks, 5)
    assert parts == [5] and isinstance(error, ArithmeticError)
    assert asked(background, three, 5) == ([5, 6], [7])


def test_nobody_hears_of_an_older_request_after_a_newer_one(background):
    old = []
    background.submit(three, 1, old.append, old.append)
    assert asked(background, three, 10) == ([10, 11], [12])
    seen = list(old)
    time.sleep(0.1)
    assert old == seen and 3 not in seen


def test_a_wait_can_run_out_and_what_is_cancelled_is_not_heard_of(background):
    seen = []
    background.submit(for_ever, 0.01, seen.append)
    assert not background.wait(0.05) and background.running
    assert background.cancel() and not background.running and background.wait(0)
    assert not background.cancel() and seen == []
    assert answer(background, abs, -3) == 3


def test_after_a_close_the_next_request_starts_afresh(background):
    seen = []
    background.submit(for_ever, 0.01, seen.append)
    background.close()
    assert not background.running and background.wait(0) and seen == []
    assert answer(background, abs, -3) == 3


def test_an_error_of_who_hears_the_parts_ends_the_work_and_is_the_answer(background):
    def stumbles(part):
        raise ArithmeticError(part)

    for work, argument, said in (for_ever, 0, "still here"), (reports, "ab", "a, 50 %"):
        ends = []
        background.submit(work, argument, ends.append, stumbles)
        assert background.wait(PATIENCE) and not background.running
        assert [repr(end) for end in ends] == [repr(ArithmeticError(said))]
    assert answer(background, abs, -3) == 3


def test_who_hears_a_part_can_cancel(background):
    parts = []
    ends = []
    background.submit(
        reports,
        "ab",
        ends.append,
        lambda part: (parts.append(part), background.cancel()),
    )
    assert background.wait(PATIENCE) and (parts, ends) == (["a, 50 %"], [])


def test_who_cancels_hears_nothing_more_not_even_of_an_error_of_its_own(background):
    ends = []

    def gives_up(_part):
        background.cancel()
        raise ArithmeticError("too late")

    background.submit(reports, "ab", ends.append, gives_up)
    assert eventually(lambda: not background.running or background.wait(0.01))
    time.sleep(0.05)
    assert ends == [] and answer(background, abs, -3) == 3


def test_who_hears_the_end_can_ask_anew(background):
    seen = []
    background.submit(
        abs, -3, lambda end: background.submit(abs, -end - 1, seen.append)
    )
    assert (
        eventually(lambda: background.wait(PATIENCE) and seen == [4])
        and not background.running
    )


def test_on_a_loop_all_is_heard_on_its_thread_and_it_is_free_meanwhile(background):
    heard = []

    def hear(what):
        heard.append((what, threading.get_ident()))

    async def page():
        background.submit(three, 5, hear, hear)
        assert heard == []
        turns = 0
        while background.running:
            await asyncio.sleep(0)
            turns += 1
        return turns, threading.get_ident()

    turns, thread = asyncio.run(page())
    assert heard == [(number, thread) for number in (5, 6, 7)] and turns >= 3


def test_on_a_loop_one_can_wait_for_the_result(background):
    async def cell():
        return asked(background, three, 5)

    assert asyncio.run(cell()) == ([5, 6], [7])


def test_a_machine_with_processes_works_in_one():
    assert isinstance(of_this_machine(), ChildProcess)


# What an event loop does alone


def test_steps_take_turns_with_the_event_loop_and_the_newest_request_wins():
    async def page():
        loop = EventLoop()
        ends = []
        loop.submit(for_ever, 0, ends.append)
        await asyncio.sleep(0)
        loop.submit(abs, -3, ends.append)  # nobody hears of the first any more
        await asyncio.sleep(0.01)
        assert ends == [3] and not loop.cancel()

        loop.submit(for_ever, 0, ends.append)
        assert loop.cancel() and not loop.running
        await asyncio.sleep(0.01)
        assert ends == [3]

        # in the middle of its steps somebody waits for it
        loop.submit(three, 1, ends.append)
        await asyncio.sleep(0)
        assert loop.wait() and ends == [3, 3]

    asyncio.run(page())


def test_a_wait_in_the_middle_of_a_step_does_not_enter_the_step_again():
    loop = EventLoop()
    waits = []
    ends = []
    loop.submit(three, 1, ends.append, lambda part: waits.append(loop.wait(0)))
    assert loop.wait() and waits == [False, False] and ends == [3]


# How a child starts, whatever it finds


def test_what_is_printed_at_pythons_start_is_no_answer(
    tmp_path, monkeypatch, child, capfd
):
    (tmp_path / "sitecustomize.py").write_text("print('welcome ' * 1000)\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert answer(child, abs, -3) == 3
    assert hears(capfd, "welcome")


@pytest.mark.parametrize(
    "entry", [Path("here"), None, b"here", 3, "no such folder", ""], ids=repr
)
def test_an_entry_of_the_path_that_imports_nothing_disturbs_nothing(
    monkeypatch, child, entry
):
    monkeypatch.setattr(sys, "path", [entry, *sys.path, entry])
    assert answer(child, abs, -3) == 3


STANDARD = (
    "array",
    "enum",
    "inspect",
    "json",
    "math",
    "queue",
    "random",
    "select",
    "signal",
    "socket",
)


def test_files_with_the_names_of_standard_modules_disturb_nothing(
    tmp_path, monkeypatch, child
):
    for name in STANDARD:
        (tmp_path / f"{name}.py").write_text(
            "raise SystemExit(f'this is not the {__name__} of Python')\n"
        )
    (tmp_path / "of_the_reader.py").write_text(
        "import queue, random, signal\ndef work(n): return n + 1\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), *sys.path])
    work = importlib.import_module("of_the_reader").work
    monkeypatch.delitem(sys.modules, "of_the_reader")
    assert answer(child, work, 3) == 4


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("PYTHONSTARTUP", "start.py"),
        ("PYTHONSAFEPATH", "1"),
        ("PYTHONINSPECT", "1"),
        ("PYTHONPATH", "here"),
        ("PYTHONWARNINGS", "always"),
    ],
)
def test_a_variable_for_python_disturbs_nothing(
    tmp_path, monkeypatch, child, variable, value
):
    (tmp_path / "start.py").write_text("print('welcome')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(variable, value)
    assert answer(child, abs, -3) == 3


def test_a_child_works_where_its_parent_is_now(tmp_path, monkeypatch, child):
    """Also after it has started: then the parent went elsewhere, and learned of another
    folder."""
    assert answer(child, abs, -3) == 3
    here = tmp_path / "my files: new"
    there = tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
        text = "import os\ndef work(name): return os.getcwd() + name\n"
        (folder / f"in_{folder.name[:2]}.py").write_text(text)
    monkeypatch.chdir(here)
    monkeypatch.setattr(sys, "path", [*sys.path, "", str(there)])
    for name in ("in_my", "in_th"):
        work = importlib.import_module(name).work
        assert answer(child, work, "!") == f"{here}!"


@on_unix
def test_a_folder_that_was_removed_disturbs_nothing(tmp_path, monkeypatch, child):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    assert answer(child, abs, -3) == 3


@on_unix
def test_an_interrupt_while_a_child_starts_or_works_is_not_for_it(child):
    seen = []
    child.submit(time.sleep, 0.1, seen.append)
    while child.running:
        os.kill(child._child.process.pid, signal.SIGINT)
        time.sleep(0.01)
    assert seen == [None]


SAYS_AND_ENDS = "import os; print('no licence', flush=True); os._exit(7)"


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("sitecustomize.py", SAYS_AND_ENDS, "status 7; its last words: no licence"),
        (
            "numpy.py",
            "raise ImportError('broken')",
            "status 1; its last words: ImportError: broken",
        ),
    ],
)
def test_a_child_that_cannot_start_says_why(
    tmp_path, monkeypatch, child, file, text, words
):
    (tmp_path / file).write_text(text)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert failure(child, abs, -3).endswith(words)
    (tmp_path / file).write_text("")
    (tmp_path / file).unlink()
    assert answer(child, abs, -3) == 3


@on_unix
def test_a_program_that_ends_at_once_is_told(monkeypatch, child):
    monkeypatch.setattr(sys, "executable", shutil.which("true"))
    for _ in range(5):
        assert failure(child, abs, -3).endswith("it ended by itself with exit status 0")


def test_without_a_python_to_start_the_error_names_it(tmp_path, monkeypatch, child):
    with monkeypatch.context() as broken:
        broken.setattr(sys, "executable", str(tmp_path / "python"))
        with pytest.raises(RuntimeError, match="python.*not there any more") as error:
            child.submit(abs, -3, print)
    assert "memory" not in str(error.value) and not child.running
    assert answer(child, abs, -3) == 3


def test_a_script_without_a_main_guard_is_not_run_a_second_time(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "print('hello', flush=True)\n"
        "from neuroviz.kit.background import background\n"
        "child = background()\n"
        "child.submit(abs, -3, print)\n"
        "child.wait()\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.stdout.split() == ["hello", "3"], done.stderr


# What travels


def test_a_function_that_cannot_be_imported_is_refused_and_the_next_request_is_answered(
    child,
):
    with pytest.raises(
        ValueError, match="importable function and a picklable argument"
    ):
        child.submit(lambda x: x, 1, print)
    with pytest.raises(
        ValueError, match="importable function and a picklable argument"
    ):
        child.submit(abs, threading.Lock(), print)
    assert not child.running and child.wait(0) and answer(child, abs, -3) == 3


def test_what_stands_in_a_notebook_is_refused_in_words(monkeypatch, child):
    def work(_):
        """Defined in a cell."""

    main = sys.modules["__main__"]
    work.__module__ = "__main__"
    work.__qualname__ = "work"
    monkeypatch.setattr(main, "work", work, raising=False)
    with pytest.raises(
        ValueError, match="work stands in a notebook or script: put it into a module"
    ):
        child.submit(work, 1, print)


def test_what_the_child_cannot_import_is_named(tmp_path, monkeypatch, child):
    (tmp_path / "soon_gone.py").write_text("def work(_): pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    work = importlib.import_module("soon_gone").work
    (tmp_path / "soon_gone.py").unlink()
    assert "No module named 'soon_gone'" in failure(child, work)


class OddError(Exception):
    """Python does not build it again from the argument that it keeps."""

    def __init__(self, one, two):
        super().__init__(one)


class LockedError(Exception):
    def __init__(self, why):
        super().__init__(why)
        self.lock = threading.Lock()


class Exits:
    """Whoever reads it leaves."""

    def __reduce__(self):
        return sys.exit, ("bye",)


class Grows:
    """Whoever reads it meets an error."""

    def __reduce__(self):
        return int, ("x",)


def raises(error):
    raise error


def odd(_):
    raise OddError("odd", 2)


def locked(_):
    raise LockedError("locked")


def returns_unsendable(_):
    return lambda: None


def yields_unsendable(_):
    yield lambda: None


def returns_exits(_):
    return Exits()


def yields_exits(_):
    yield Exits()
    time.sleep(PATIENCE)


def returns_grows(_):
    return Grows()


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (odd, "RuntimeError: OddError: odd"),
        (locked, "RuntimeError: LockedError: locked"),
        (
            returns_unsendable,
            "the answer cannot be sent between processes (AttributeError: ",
        ),
        (yields_unsendable, "AttributeError: "),
        (returns_exits, "the answer cannot be read here (SystemExit: bye)"),
        (yields_exits, "the answer cannot be read here (SystemExit: bye)"),
        (returns_grows, "the answer cannot be read here (ValueError: invalid literal"),
    ],
)
def test_an_answer_that_cannot_travel_is_an_error_that_says_so(child, work, words):
    assert words in failure(child, work)
    assert answer(child, abs, -3) == 3


def ones(size):
    yield "now"
    return np.ones(size)


@pytest.mark.long
def test_large_answers_and_arguments_arrive_whole(child):
    parts, (end,) = asked(child, ones, 5_000_000)
    assert parts == ["now"] and end.sum() == 5_000_000
    assert answer(child, len, bytes(50_000_000)) == 50_000_000


def chatters(_):
    print("to the output")
    print("to the errors", file=sys.stderr)
    os.write(1, b"\x00\x01 past Python")
    warnings.warn("of the work", stacklevel=1)
    return "answer"


def test_what_the_work_prints_is_seen_here_and_is_no_answer(monkeypatch, child, capfd):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    assert answer(child, chatters) == "answer"
    assert hears(capfd, "to the output", "to the errors", "past Python", "of the work")


# Modules that are loaded anew

FIRST = """
from dataclasses import dataclass
from functools import cache
from inspect import signature
from multiprocessing.connection import Connection
def work(n): return n + 1
@cache
def cached(n): return n + 1
@dataclass(frozen=True)
class Setting:
    n: int
    def more(self): return self.n + 1
class Panel:
    @staticmethod
    def answer(setting): return setting.more()
"""


@pytest.fixture
def module(tmp_path, monkeypatch, child):
    """A module of the test's own, and a function that loads it anew with other
    numbers."""
    # a child that is there before the module is loaded
    assert answer(child, abs, -3) == 3
    name = f"reloaded_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(FIRST)
    monkeypatch.syspath_prepend(tmp_path)
    loaded = importlib.import_module(name)

    def change():
        (tmp_path / f"{name}.py").write_text(FIRST.replace("+ 1", "+ 1000"))
        importlib.reload(loaded)

    yield loaded, change
    del sys.modules[name]


@pytest.mark.parametrize(
    "knows", [True, False], ids=["a child that knows the old code", "a new child"]
)
def test_what_was_kept_from_before_a_reload_still_works_and_with_the_new_code(
    child, module, knows
):
    loaded, change = module
    work = loaded.work
    cached = loaded.cached
    of_panel = loaded.Panel.answer
    setting = loaded.Setting(1)
    if knows:
        assert answer(child, work, 1) == 2
    change()
    assert (
        answer(child, work, 1)
        == answer(child, cached, 1)
        == answer(child, of_panel, setting)
        == 1001
    )


class Shy(ModuleType):
    """A module that loads itself when somebody asks for anything of it, and fails."""

    def __getattribute__(self, name):
        if name in ("__dict__", "__spec__"):
            raise ImportError(f"{name} is not for you")
        return super().__getattribute__(name)


@pytest.mark.parametrize(
    "odd", [Shy("odd"), None, "no module"], ids=["shy", "None", "a text"]
)
def test_an_odd_entry_among_the_modules_disturbs_nothing(monkeypatch, child, odd):
    monkeypatch.setitem(sys.modules, "odd", odd)
    assert answer(child, abs, -3) == 3
    assert answer(child, abs, -4) == 4


def test_autoreload_leaves_a_panel_able_to_work(tmp_path):
    (tmp_path / "mine.py").write_text(FIRST)
    code = (
        "from pathlib import Path\nfrom IPython.core.interactiveshell import"
        " InteractiveShell\ncell = lambda text:"
        " InteractiveShell.instance().run_cell(text).raise_error()\ncell('%load_ext"
        " autoreload')\ncell('%autoreload 2')\ncell('import mine; from"
        " neuroviz.kit.process import ChildProcess; child ="
        " ChildProcess()')\ncell('panel, setting = mine.Panel(),"
        " mine.Setting(1)')\nasked = 'child.submit(panel.answer, setting, print); _ ="
        " child.wait()'\ncell(asked)\npath ="
        " Path('mine.py')\npath.write_text(path.read_text().replace('+ 1', '+"
        " 1000'))\ncell(asked)\n"
    )
    path = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.stdout.split() == ["2", "1001"], done.stderr


@cache
def wrapped(n):
    return n


def test_the_inside_of_a_wrapped_function_is_not_taken_for_the_whole(child):
    """Both have one name, and the name is that of the whole."""
    with pytest.raises(ValueError, match="not the same object"):
        child.submit(wrapped.__wrapped__, 1, print)


# How a child ends


def kills_itself(_):
    os.kill(os.getpid(), signal.SIGKILL)


def crashes(_):
    os.abort()


def ends(status):
    print("something of no use\nthe disk is full\n")
    os._exit(status)


def hangs_up(_):
    for thing in gc.get_objects():
        if isinstance(thing, Connection):
            thing.close()
    time.sleep(PATIENCE)


def forks_and_ends(_):
    if os.fork() == 0:
        time.sleep(30)
        os._exit(0)
    os._exit(3)


@on_unix
@pytest.mark.parametrize(
    ("work", "argument", "words"),
    [
        (kills_itself, None, "it was killed, as systems do when memory runs out"),
        (crashes, None, "it crashed (Aborted)"),
        (
            ends,
            5,
            "it ended by itself with exit status 5; its last words: the disk is full",
        ),
        (
            ends,
            0,
            "it ended by itself with exit status 0; its last words: the disk is full",
        ),
        (
            hangs_up,
            None,
            (
                "it ended by itself with exit status 1; its last words: OSError: handle"
                " is closed"
            ),
        ),
        (forks_and_ends, None, "it ended by itself with exit status 3"),
    ],
)
def test_an_early_end_is_told_with_its_cause_and_the_next_request_is_answered(
    child, work, argument, words
):
    assert answer(child, abs, -3) == 3
    assert failure(child, work, argument) == (
        f"RuntimeError: the process that measured ended before it answered: {words}"
        + "; ask for less, or free memory" * (work is kills_itself)
    )
    assert answer(child, abs, -3) == 3


def says_and_ends(words):
    print(words)
    os._exit(5)


def test_last_words_are_waited_for_and_cut_to_a_line(monkeypatch, child):
    def write_slowly(_file, text):
        time.sleep(0.3)
        return len(text)

    monkeypatch.setattr(os, "write", write_slowly)
    said = failure(child, says_and_ends, "x" * 1000)
    assert said.endswith("its last words: " + "x" * 300)


@on_unix
def test_a_connection_that_breaks_ends_the_child(monkeypatch, child):
    monkeypatch.setattr(child_module, "_ENDING_SECONDS", 0.1)
    ends = []
    child.submit(for_ever, 0.01, ends.append)
    pid = child._child.process.pid
    os.kill(pid, signal.SIGSTOP)
    child._child.connection.close()
    assert child.wait(PATIENCE) and str(ends[0]).endswith("the connection to it broke")
    assert not is_alive(pid) and answer(child, abs, -3) == 3


def test_a_child_that_died_while_idle_is_replaced(child):
    assert answer(child, abs, -3) == 3
    child._child.process.kill()
    child._child.process.wait()
    assert answer(child, abs, -4) == 4


def test_an_idle_child_ends_and_the_next_request_is_answered(monkeypatch, child):
    assert child_module._IDLE_SECONDS == 120
    monkeypatch.setattr(child_module, "_IDLE_SECONDS", 0.01)
    for number in (3, 4):
        assert answer(child, abs, -number) == number
        assert eventually(lambda: child._child.process.returncode is not None)
        assert eventually(lambda: child._child.connection.closed)


class TooLate(queue.SimpleQueue):
    """Whoever waits for a request hears that the time ran out, just when there is
    one."""

    def get(self, timeout=None):
        if timeout is not None:
            assert eventually(lambda: not self.empty())
            raise queue.Empty
        return super().get()


def test_a_request_that_comes_just_when_the_idle_child_would_end_is_answered(
    monkeypatch, child
):
    monkeypatch.setattr(queue, "SimpleQueue", TooLate)
    assert answer(child, abs, -3) == 3
    pid = child._child.process.pid
    assert answer(child, abs, -4) == 4 and child._child.process.pid == pid


@on_unix
def test_a_child_goes_with_the_last_who_holds_it(child):
    own = ChildProcess()
    assert answer(own, abs, -3) == 3
    pid = own._child.process.pid
    # it does not notice by itself that nobody is there any more
    os.kill(pid, signal.SIGSTOP)
    del own
    gc.collect()
    assert not is_alive(pid)


@on_unix
def test_a_working_child_goes_with_the_last_who_holds_it():
    class Panel:
        def __init__(self):
            self.background = ChildProcess()
            self.background.submit(for_ever, 0.01, self.hear, self.hear)

        def hear(self, what):
            pass

    panel = Panel()
    pid = panel.background._child.process.pid
    os.kill(pid, signal.SIGSTOP)
    del panel
    gc.collect()
    assert not is_alive(pid)


@on_unix
def test_a_request_that_the_child_does_not_read_holds_nobody_up(child):
    assert answer(child, abs, -3) == 3
    pid = child._child.process.pid
    os.kill(pid, signal.SIGSTOP)
    seen = []
    child.submit(len, bytes(10_000_000), seen.append)
    assert not child.wait(0.2) and child.cancel() and not is_alive(pid)
    assert answer(child, abs, -3) == 3 and seen == []


def test_children_that_were_ended_leave_neither_threads_nor_files(child):
    def held():
        files = Path("/proc/self/fd")
        return threading.active_count(), (
            len(list(files.iterdir())) if files.exists() else 0
        )

    threads, files = held()
    for _ in range(10):
        child.submit(time.sleep, PATIENCE, print)
        child.cancel()
    # fewer, too: a thread of an earlier test may end meanwhile
    assert eventually(lambda: held()[0] <= threads and held()[1] <= files)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_error_of_who_hears_the_end_leaves_the_next_request_alone(child):
    def stumbles(_):
        raise ArithmeticError("on the page")

    child.submit(abs, -3, stumbles)
    assert eventually(lambda: not child.running)
    assert answer(child, abs, -3) == 3


def compute_for_ever(_):
    print(os.getpid(), file=sys.stderr, flush=True)
    while True:
        np.linalg.svd(np.ones((300, 300)))


@pytest.mark.long
@on_unix
@pytest.mark.parametrize(
    "before_the_end", ["pass", "os.fork() or time.sleep(30)"], ids=["alone", "forked"]
)
def test_a_child_in_the_middle_of_its_work_ends_with_its_parent(before_the_end):
    """Also where a process that the parent has forked still holds the connection."""
    code = (
        f"import os, sys, time; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from test_background import ChildProcess, compute_for_ever\n"
        "child = ChildProcess()\n"
        "child.submit(compute_for_ever, None, print)\n"
        f"{before_the_end}\n"
        "child.wait()\n"
    )
    # from 3.12 on Python warns of a fork beside threads, on the stream of the pid
    command = [sys.executable, "-W", "ignore", "-c", code]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, start_new_session=True
    ) as parent:
        pid = int(parent.stderr.readline())
        assert pid != parent.pid
        parent.kill()
        parent.wait()
        try:
            assert eventually(lambda: not is_alive(pid))
        finally:
            os.killpg(parent.pid, signal.SIGKILL)
