"""What all tests share: a Jupyter of their own, and a browser where there is one."""

import os
import random
import shutil
import sys
import tempfile
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import pytest

# A test loads ipykernel, and after it the bar would be a widget.
import tqdm.auto  # noqa: F401

# numpy reads these when it is imported, which is later. Most matrices here are small:
# threads only wait.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

MOST_CASES = 10
MOST_IN_A_BROWSER = 3
"""Of a test with more cases, `make test` runs so many, drawn by the test's name; `make
test-all` runs all."""

LONG = (
    "test_panel",
    "test_background",
    "test_all_panels",
    "test_editions",
    "test_checks",
    "test_browser",
    "test_book",
    "test_sweep",
    "test_scene",
    "test_live",
    "test_touch",
    "test_factors_scene",
)
OF_THE_SITE = ("test_book", "test_phone", "test_axe")
"""Files that look at the same site."""

CHROMIUMS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
CHROME_ON_MACOS = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--full",
        action="store_true",
        help="every case of every test, and those marked full or long",
    )
    parser.addoption(
        "--long",
        action="store_true",
        help="the tests marked long, and no others",
    )


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Files that need no browser first, so that a worker starts one browser; among
    them, and among the others, long files first, so that no worker ends with one. Leave
    out what only `--full` runs, and either the tests that are marked long or all
    others."""
    in_browser = {item.path for item in items if "playwright" in item.fixturenames}
    items.sort(key=lambda item: (item.path in in_browser, item.path.stem not in LONG))
    if config.getoption("--full"):
        return
    cases: dict[str, list[pytest.Item]] = {}
    left_out = set()
    for item in items:
        cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
        is_long = item.get_closest_marker("long") is not None
        is_full = item.get_closest_marker("full") is not None
        is_of_others = is_long != config.getoption("--long")
        if is_long and _is_file_asked_for(item, config):
            is_of_others = False
        if (is_full or is_of_others) and not _is_asked_for(item, config):
            left_out.add(item)
    for name, found in cases.items():
        found = [item for item in found if item not in left_out]
        in_browser = found and "browser" in found[0].fixturenames
        most = MOST_IN_A_BROWSER if in_browser else MOST_CASES
        if len(found) > most:
            left_out |= {*found} - {*random.Random(name).sample(found, most)}
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """`--dist loadfile` in the order of the files above, where xdist would begin with
    those of most tests; who looks at the site does so in one worker, for another one
    would build it again."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class ByFile(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return "the site" if Path(file).stem in OF_THE_SITE else file

    config.option.loadscopereorder = False
    return ByFile(config, log)


def _is_asked_for(item: pytest.Item, config: pytest.Config) -> bool:
    return any("::" in argument and argument in item.nodeid for argument in config.args)


def _is_file_asked_for(item: pytest.Item, config: pytest.Config) -> bool:
    return any(item.path.name == Path(argument).name for argument in config.args)


@pytest.fixture
def few(request):
    """Of what a test goes through one by one, `few(all, most)` in `make test`, drawn by
    the test's name; all in `make test-all`."""

    def drawn(found: Iterable, most: int = MOST_IN_A_BROWSER) -> list:
        found = list(found)
        if request.config.getoption("--full") or len(found) <= most:
            return found
        return random.Random(request.node.name).sample(found, most)

    return drawn


def pytest_configure(config: pytest.Config) -> None:
    """Keep the reader's own Jupyter settings and kernels out of the tests, and the
    tests out of them."""
    config.jupyter_home = tempfile.TemporaryDirectory(
        prefix="neuroviz-tests-", ignore_cleanup_errors=True
    )
    for name in (
        "JUPYTER_CONFIG_DIR",
        "JUPYTER_DATA_DIR",
        "JUPYTER_RUNTIME_DIR",
        "IPYTHONDIR",
    ):
        folder = Path(config.jupyter_home.name) / name.lower()
        folder.mkdir()
        os.environ[name] = str(folder)


def pytest_unconfigure(config: pytest.Config) -> None:
    config.jupyter_home.cleanup()


def find_chromium() -> str | None:
    """The path of a Chromium or Chrome, or None. CHROMIUM=/path/to/it has the first
    word."""
    for name in (os.environ.get("CHROMIUM", ""), *CHROMIUMS):
        if name and (path := shutil.which(name)):
            return path
    return str(CHROME_ON_MACOS) if CHROME_ON_MACOS.exists() else None


def is_set(variable: str) -> bool:
    return os.environ.get(variable, "").lower() not in ("", "0", "false", "no")


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a browser for Playwright. A reader may be without; a test machine
    (CI=true) may not."""
    path = find_chromium()
    if path is None:
        complaint = (
            "no Chromium or Chrome on this machine: install one (Debian and Ubuntu: apt"
            " install chromium), or give its path, CHROMIUM=/path/to/chromium"
        )
        if is_set("CI"):
            pytest.fail(complaint)
        pytest.skip(complaint)
    return path


@pytest.fixture(scope="session")
def playwright():
    """What drives browsers, one for all tests of a worker: there cannot be two. While
    it is there no test can run a loop of `asyncio` of its own."""
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as found:
        yield found


LEFT_OUT = (
    # Every window would load two pages for its address bar, which no test uses: a
    # third of the processor time of all tests in a browser.
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    # What Playwright leaves out itself: of two lists Chromium takes the last one.
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "TcpPortRandomizationWin",
    "ThirdPartyStoragePartitioning",
    "AimEnabled",
)
QUIET = (
    "--no-sandbox",
    "--no-first-run",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--disable-features={','.join(LEFT_OUT)}",
)
"""A browser that asks nothing of a network by itself."""


@pytest.fixture(scope="session")
def browser(playwright, chromium):
    """A browser without a kernel, the same one for all tests of a worker."""
    browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
    yield browser
    browser.close()


@pytest.fixture
def new_page(browser):
    """Opens an empty page that shares nothing with other pages: `new_page(viewport=)`,
    with the settings of a browser's context."""
    contexts = []

    def open_page(**settings):
        context = browser.new_context(**settings)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(600_000)
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture
def bare_page(new_page):
    """A page with nothing on it."""
    return new_page()


@pytest.fixture
def scene(bare_page):
    """Shows a panel's scene: `scene(state, motion, kind=)` is its page."""
    import scenes

    return partial(scenes.show, bare_page)


@pytest.fixture
def phone(new_page):
    """Opens a panel's scene for a finger: `phone(kind, width, height)` is its page."""
    import scenes

    return partial(scenes.show_on_phone, new_page)


@pytest.fixture(scope="module")
def shared(request):
    """One panel, of the class that a file calls PANEL, for all of its tests: it has to
    survive everything."""
    panel = request.module.PANEL()
    yield panel
    panel.cancel()
    panel.close()


@pytest.fixture
def panel(shared):
    """That panel, as it opens."""
    shared.reset()
    assert shared.wait(600) and shared.status.startswith("done")
    return shared


@pytest.fixture
def steady_torch():
    """Torch with the same random numbers every time, on one thread."""
    import torch
    from threadpoolctl import threadpool_limits

    with torch.random.fork_rng(devices=[]), threadpool_limits(1):
        torch.manual_seed(0)
        yield


@pytest.fixture
def look():
    """Takes a look, which goes back afterwards."""
    from neuroviz.kit import theme

    yield theme.use
    theme.use("light", "notebook")


@pytest.fixture
def run_python():
    """Run a few lines in a fresh interpreter and return what they print."""
    import subprocess

    def run(code: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return run


@pytest.fixture
def nobody_else_limits_threads():
    """threadpoolctl 3.8 lets one thread at a time limit OpenBLAS: one of an earlier
    test may still be it."""
    from threadpoolctl import OpenBLASController

    if hasattr(OpenBLASController, "clear_controlling_thread"):
        OpenBLASController.clear_controlling_thread(force=True)
