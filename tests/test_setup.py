"""The lists of dependencies agree, the commands that are named exist, the package is
quick to import."""

import ast
import importlib.util
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import neuroviz
from tools import environment, links

ROOT = Path(__file__).parents[1]
CONDA_NAMES = {"torch": "pytorch-cpu"}  # where conda-forge has another name than PyPI


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


PYPROJECT = tomllib.loads(text("pyproject.toml"))
PROJECT = PYPROJECT["project"]
EXTRAS = PROJECT["optional-dependencies"]
GROUPS = {  # without those that only put others together
    name: [entry for entry in group if isinstance(entry, str)]
    for name, group in PYPROJECT["dependency-groups"].items()
}


def requirements(*lists: list[str]) -> dict[str, Requirement]:
    return {canonicalize_name(r.name): r for r in map(Requirement, sum(lists, []))}


def pins() -> dict[str, Version]:
    lines = [
        line
        for line in text("constraints.txt").splitlines()
        if not line.startswith("#")
    ]
    pairs = [re.fullmatch(r"([\w.-]+)==([\w.]+)", line).groups() for line in lines]
    return {canonicalize_name(name): Version(version) for name, version in pairs}


# Dependencies


def test_the_other_project_has_the_same_version_and_needs_no_more():
    other = tomllib.loads(text("beyond/pyproject.toml"))["project"]
    assert other["version"] == PROJECT["version"]
    assert (
        tomllib.loads(text("beyond/pyproject.toml"))["build-system"]
        == (PYPROJECT["build-system"])
    )
    needed = requirements(other["dependencies"])
    assert str(needed.pop("neuroviz").specifier) == f"=={PROJECT['version']}"
    ours = requirements(PROJECT["dependencies"])
    assert all(str(ours[name]) == str(needed[name]) for name in needed)


def test_every_dependency_is_pinned_inside_its_range():
    wanted = requirements(PROJECT["dependencies"], *EXTRAS.values(), *GROUPS.values())
    del wanted["neuroviz-beyond"]  # comes from this folder
    assert set(wanted) <= set(pins())
    for name, requirement in wanted.items():
        assert requirement.specifier.contains(pins()[name]), (
            f"{requirement} does not allow {pins()[name]}"
        )


def test_an_extra_or_group_repeats_the_range_of_another():
    ranges: dict[str, set[str]] = {}
    lists = [PROJECT["dependencies"], *EXTRAS.values(), *GROUPS.values()]
    for requirement in map(Requirement, sum(lists, [])):
        ranges.setdefault(canonicalize_name(requirement.name), set()).add(
            str(requirement.specifier)
        )
    assert {name: found for name, found in ranges.items() if len(found) > 1} == {}


def test_a_group_repeats_nothing_that_the_extras_bring():
    brought = requirements(
        PROJECT["dependencies"],
        *(EXTRAS[name] for name in ("notebooks", "torch", "workers", "class")),
    )
    assert not brought.keys() & requirements(*GROUPS.values()).keys()


def test_the_workflow_tries_every_python_that_the_package_names():
    jobs = yaml.safe_load(text(".github/workflows/tests.yml"))["jobs"]
    pythons = jobs["linux"]["strategy"]["matrix"]["python"]
    found = [
        re.fullmatch(r"Programming .* (3\.\d+)", c) for c in PROJECT["classifiers"]
    ]
    assert pythons == [one[1] for one in found if one]
    assert f">={pythons[0]}" == PROJECT["requires-python"]
    ends = {
        entry["resolution"]: entry["python"]
        for entry in jobs["versions"]["strategy"]["matrix"]["include"]
    }
    assert ends == {"lowest-direct": pythons[0], "highest": pythons[-1]}


@pytest.mark.parametrize("name", ["tests.yml", "book.yml", "release.yml"])
def test_every_file_that_a_workflow_names_exists(name):
    named = set(
        re.findall(r"[\w./-]+\.(?:py|txt|toml)\b", text(f".github/workflows/{name}"))
    )
    assert named and all((ROOT / one).exists() for one in named - {"versions.txt"})


def in_conda_words(*lists: list[str]) -> set[str]:
    return {
        CONDA_NAMES.get(name, name) + str(r.specifier)
        for name, r in requirements(*lists).items()
    }


def test_conda_gets_the_same_dependencies_as_pip():
    lists = [
        PROJECT["dependencies"],
        *(EXTRAS[name] for name in ("notebooks", "torch", "workers", "class")),
    ]
    listed = yaml.safe_load(text("environment.yml"))["dependencies"]
    python = next(entry for entry in listed if entry.startswith("python="))
    assert set(listed) - {python, "pip"} == in_conda_words(*lists)
    assert (
        Version(python.removeprefix("python="))
        in Requirement(f"x{PROJECT['requires-python']}").specifier
    )
    # With a binder/ folder there, repo2docker reads nothing outside it.
    assert text("binder/environment.yml") == text("environment.yml")


@pytest.mark.skipif(
    not importlib.util.find_spec("repo2docker"), reason="repo2docker is not installed"
)
def test_repo2docker_can_plan_the_image():
    words = [
        "--no-build",
        "--debug",
        "--user-id",
        "1000",
        "--user-name",
        "jovyan",
        str(ROOT),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "repo2docker", *words], capture_output=True, text=True
    )
    plan = done.stdout + done.stderr
    assert done.returncode == 0, plan
    assert '--file "binder/environment.yml"' in plan
    assert "RUN ./binder/postBuild" in plan
    assert "binder/start" in plan


@pytest.mark.parametrize("name", [".ci/run", "binder/postBuild", "binder/start"])
def test_a_shell_script_can_run(name):
    assert text(name).startswith("#!")
    if shutil.which("bash"):
        subprocess.run(["bash", "-n", ROOT / name], check=True)
    if os.name == "posix":
        assert (ROOT / name).stat().st_mode & stat.S_IXUSR, f"chmod +x {name}"


def test_the_settings_for_jupyterlab_exist_there():
    schemas = Path(sys.prefix, "share", "jupyter", "lab", "schemas")
    if not schemas.exists():
        pytest.skip("this JupyterLab is not part of this Python's environment")
    for plugin, settings in json.loads(
        text("binder/labconfig/default_setting_overrides.json")
    ).items():
        package, name = plugin.split(":")
        schema = json.loads(
            (schemas / package / f"{name}.json").read_text(encoding="utf-8")
        )
        assert settings.keys() <= schema["properties"].keys()


def test_the_licences_are_said_everywhere():
    assert PROJECT["license"] == "MIT AND CC-BY-4.0"
    assert text("LICENSE").startswith("MIT License\n")
    assert text("LICENSE-docs").startswith(
        "Creative Commons Attribution 4.0 International\n"
    )
    assert text("beyond/LICENSE") == text("LICENSE")
    assert all(f"]({name})" in text("README.md") for name in PROJECT["license-files"])
    assert "\nlicense: MIT\n" in text("CITATION.cff")  # of the software


def test_the_version_is_said_once():
    assert f"version: {PROJECT['version']}\n" in text("CITATION.cff")
    assert f"\n## {PROJECT['version']} (" in text("CHANGELOG.md")
    assert neuroviz.__version__ == PROJECT["version"]


# The browser

ASKS_FOR_A_BROWSER = "def test_browser(chromium):\n    assert chromium\n"


@pytest.mark.parametrize(("ci", "outcome"), [("", "1 skipped"), ("true", "1 error")])
def test_only_a_reader_may_be_without_a_browser(tmp_path, ci, outcome):
    (tmp_path / "test_small.py").write_text(ASKS_FOR_A_BROWSER)
    shutil.copy(ROOT / "conftest.py", tmp_path)
    env = os.environ | {"PATH": str(tmp_path), "CI": ci, "CHROMIUM": ""}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-rs",
        "-p",
        "no:xdist",
        "--rootdir",
        tmp_path,
        tmp_path,
    ]
    done = subprocess.run(
        command, cwd=tmp_path, env=env, capture_output=True, text=True
    )
    if "1 passed" in done.stdout:
        pytest.skip("this machine has a browser outside its PATH")
    assert (
        outcome in done.stdout
        and "no Chromium or Chrome on this machine" in done.stdout
    )


# The repository's address


def test_the_address_stands_in_one_place():
    url = links.repository()
    for name, rewrite in links.PLACES.items():
        assert rewrite(text(name), url) == text(name), "run `make links`"
    assert links.binder(url) in text("README.md") and links.pages(url) in text(
        "README.md"
    )


def test_a_new_address_reaches_every_place():
    new = "https://github.com/geometers/attention"
    old = links.repository().removeprefix("https://github.com/")
    readme, install, citation, project, beyond = (
        rewrite(text(name), new) for name, rewrite in links.PLACES.items()
    )
    assert not any(old in page for page in (readme, install, citation, beyond))
    assert f'uvx --from "neuroviz[notebooks] @ git+{new}"' in install
    assert project.count(old) == 1  # [project.urls]
    assert all(f"({new}/{kind}/HEAD/" in project for kind in ("raw", "blob"))
    assert f'"neuroviz[notebooks] @ git+{new}"' in readme
    assert f'"neuroviz-beyond @ git+{new}#subdirectory=beyond"' in readme
    start = "HEAD?urlpath=lab/tree/notebooks/00_start.ipynb"
    assert f"mybinder.org/v2/gh/geometers/attention/{start}" in readme
    assert f"git clone {new}\ncd attention\n" in readme
    assert f'repository-code: "{new}"' in citation


def page_of(project: str, page: str) -> str:
    """A text as the package's page has it."""
    hooks = tomllib.loads(text(project))["tool"]["hatch"]["metadata"]["hooks"]
    for found in hooks["fancy-pypi-readme"]["substitutions"]:
        page = re.sub(found["pattern"], found["replacement"], page)
    return page


def test_a_page_outside_the_repository_has_whole_links():
    url = links.repository()
    for written, whole in {
        "![A](docs/a.png)": f"![A]({url}/raw/HEAD/docs/a.png)",
        "![A\nB](a.png)": f"![A\nB]({url}/raw/HEAD/a.png)",
        "[B](docs/b.md#c)": f"[B]({url}/blob/HEAD/docs/b.md#c)",
        "[D](https://example.org), [E](#e)": "[D](https://example.org), [E](#e)",
    }.items():
        assert page_of("pyproject.toml", written) == whole
    for folder, few in (("", 10), ("beyond/", 2)):
        page = page_of(f"{folder}pyproject.toml", text(f"{folder}README.md"))
        targets = re.findall(r"\]\(([^)]+)\)", page)
        assert all(target.startswith("https://") for target in targets)
        pages = [target.partition("#")[0] for target in targets]
        inside = [one.split("/HEAD/")[1] for one in pages if url in one]
        assert len(inside) > few and all((ROOT / target).exists() for target in inside)


def test_binder_needs_an_address_it_knows():
    assert "v2/gl/geometers%2Fattention/HEAD" in links.binder(
        "https://gitlab.com/geometers/attention"
    )
    with pytest.raises(
        ValueError, match="needs an address of the form .* says 'https://example.org/x'"
    ):
        links.binder("https://example.org/x")


# The commands

COMMANDS = text("Makefile") + text("tools/maintenance.mk")
TARGETS = set(re.findall(r"^([a-z-]+):(?!=)", COMMANDS, flags=re.MULTILINE))


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "CONTRIBUTING.md",
        "docs/install.md",
        ".ci/run",
        ".github/workflows/book.yml",
        ".pre-commit-config.yaml",
    ],
)
def test_every_make_command_that_is_mentioned_exists(name):
    mentioned = set(re.findall(r"(?m)(?:`|^|run: )make ([a-z-]+)", text(name)))
    assert mentioned and mentioned <= TARGETS


def test_the_plain_lines_do_what_make_does():
    names = re.search(r'\$\(INSTALL\) -e (".*" -e beyond)', text("Makefile"))[1]
    page = text("docs/install.md")
    assert page.count(f"-m pip install -c constraints.txt -e {names}") == 2
    index = re.search(r"CPU_INDEX \?= (\S+)", text("Makefile"))[1]
    assert f"--extra-index-url {index}" in page


@pytest.fixture
def copy(tmp_path):
    """A copy of what `make env` reads, with an environment that looks finished."""
    if not shutil.which("make"):
        pytest.skip("no make on this machine")
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("tools", "binder"):
        shutil.copytree(
            ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__")
        )
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / ".installed").touch()
    return tmp_path


def environment_for_make(**changes: str) -> dict[str, str]:
    """What is set here, but for what belongs to the `make` that runs the tests."""
    ours = (
        "CPU",
        "CPU_INDEX",
        "PYTHON",
        "LAB_ARGS",
        "MAKEFLAGS",
        "MAKELEVEL",
        "MAKEOVERRIDES",
        "MFLAGS",
    )
    return {
        name: value for name, value in os.environ.items() if name not in ours
    } | changes


def make(
    folder: Path, *words: str, user: str | None = None, **changes: str
) -> subprocess.CompletedProcess:
    env = environment_for_make(**changes)
    return subprocess.run(
        ["make", *words], cwd=folder, env=env, user=user, capture_output=True, text=True
    )


def test_make_alone_names_the_two_commands():
    done = make(ROOT)
    assert done.returncode == 0
    assert "make lab" in done.stdout and "make test" in done.stdout


def test_a_finished_environment_is_left_alone(copy):
    assert make(copy, "env").returncode == 0
    done = make(
        copy, "env"
    )  # how long that takes stands in beyond/benchmarks/README.md
    assert (
        done.returncode == 0
        and "pip" not in done.stdout
        and "python" not in done.stdout
    )


@pytest.mark.parametrize("name", ["pyproject.toml", "constraints.txt"])
def test_a_changed_list_is_installed(copy, name):
    later = time.time() + 60
    os.utime(copy / name, (later, later))
    assert "-m pip install" in make(copy, "-n", "env").stdout


def test_the_cpu_choice_is_remembered(copy):
    assert "download.pytorch.org/whl/cpu" in make(copy, "-n", "env", "CPU=1").stdout
    assert "download.pytorch.org" not in make(copy, "-n", "env").stdout
    (copy / ".venv" / ".cpu").touch()
    assert "download.pytorch.org/whl/cpu" in make(copy, "-n", "env").stdout


@pytest.mark.parametrize("user", [0, 1000])
def test_jupyterlab_is_told_to_start_as_root_and_only_then(copy, user):
    pretended = copy / "bin" / "id"
    pretended.parent.mkdir()
    pretended.write_text(f'#!/bin/sh\n[ "$1" = -u ] && echo {user}\n')
    pretended.chmod(0o755)
    said = make(
        copy, "-n", "lab", PATH=f"{pretended.parent}{os.pathsep}{os.environ['PATH']}"
    ).stdout
    assert "jupyterlab --notebook-dir=. notebooks/00_start.ipynb" in said
    assert ("--allow-root" in said) == ("you are root" in said) == (user == 0)


@pytest.mark.long
def test_make_lab_serves_the_first_notebook_also_as_root(copy):
    (copy / "notebooks").mkdir()
    shutil.copy(ROOT / "notebooks" / "00_start.ipynb", copy / "notebooks")
    python = copy / ".venv" / "bin" / "python"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    words = "LAB_ARGS=--no-browser --ServerApp.ip=127.0.0.1 --ServerApp.port=0"
    env = environment_for_make(HOME=str(copy), JUPYTER_TOKEN="known")
    command = {"args": ["make", "lab", words], "cwd": copy, "env": env, "text": True}
    with subprocess.Popen(
        **command, stderr=subprocess.PIPE, start_new_session=True
    ) as server:
        said = ""
        address = None
        for line in server.stderr:
            said += line
            if address := re.search(r"http://127.0.0.1:\d+/", line):
                break
        try:
            assert address, said
            page = f"{address[0]}api/contents/notebooks/00_start.ipynb?token=known"
            while True:  # it names its address before it listens there
                try:
                    with urllib.request.urlopen(page, timeout=60) as answer:
                        assert json.load(answer)["content"]["cells"]
                    break
                except urllib.error.URLError:
                    assert server.poll() is None, said + server.stderr.read()
                    time.sleep(0.1)
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.stderr.read()


def test_a_missing_python_is_explained(copy):
    (copy / ".venv" / ".installed").unlink()
    done = make(copy, "env", "PYTHON=python-of-tomorrow")
    assert done.returncode != 0
    assert "there is no python-of-tomorrow here" in done.stderr


@pytest.mark.parametrize(
    ("version", "has_venv", "said"),
    [
        (
            (3, 9, 2),
            True,
            "(?s)3.11 or newer.*is Python 3.9.*make lab PYTHON=python3.12",
        ),
        ((3, 12, 0), False, "apt install python3-venv"),
    ],
)
def test_an_old_python_and_one_without_venv_are_explained(
    version, has_venv, said, capsys
):
    with pytest.raises(SystemExit):
        environment.check_python(version, can_make_environments=has_venv)
    assert re.search(said, capsys.readouterr().err)


def test_an_old_python_can_read_the_explanation():
    tree = ast.parse(text("tools/environment.py"), feature_version=(3, 4))
    assert not any(
        isinstance(node, ast.JoinedStr | ast.NamedExpr) for node in ast.walk(tree)
    )
    oldest = Requirement(f"x{PROJECT['requires-python']}").specifier
    assert str(oldest) == ">=" + ".".join(map(str, environment.MINIMUM))


@pytest.mark.parametrize(
    ("pip", "old"),
    [("23.2.1", True), ("25.0.1", True), ("25.1", False), ("26.3", False)],
)
def test_a_pip_that_does_not_know_groups_is_found(tmp_path, pip, old):
    packages = tmp_path / "lib" / "python3.12" / "site-packages"
    (packages / f"pip-{pip}.dist-info").mkdir(parents=True)
    assert environment.has_old_pip(str(tmp_path)) == old


def test_a_package_cut_off_while_it_was_installed_is_found(tmp_path):
    packages = tmp_path / "lib" / "python3.12" / "site-packages"
    whole = packages / "whole-1.0.dist-info"
    cut = packages / "cut-1.0.dist-info"
    for path in (whole / "METADATA", whole / "INSTALLER", cut / "METADATA"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert environment.half_installed(str(tmp_path)) == [str(cut)]
