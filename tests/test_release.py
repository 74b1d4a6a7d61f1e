"""What a plain installation can do: the command, the notebooks, and everything but
torch and loky."""

import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from neuroviz import command
from tools.notebooks import sources

ROOT = Path(__file__).parents[1]
BEGIN = "neuroviz/course/"


@pytest.fixture
def run_without(tmp_path, run_python, monkeypatch):
    """Run a few lines where `import torch` and `import loky` fail, in the child
    processes of a panel too."""
    for name in ("torch", "loky"):
        lacking = (
            f"raise ModuleNotFoundError(\"No module named '{name}'\", name='{name}')\n"
        )
        (tmp_path / f"{name}.py").write_text(lacking)
    monkeypatch.setenv(
        "PYTHONPATH",
        os.pathsep.join(
            [str(tmp_path), str(ROOT), str(ROOT / "beyond"), str(ROOT / "tests")]
        ),
    )
    return run_python


# Without torch and loky


@pytest.mark.long
def test_all_panels_open_without_torch(run_without):
    said = run_without(
        "import all_explorables as explorables\n"
        "for name in explorables.__all__:\n"
        "    panel = getattr(explorables, name)()\n"
        "    panel.wait(120)\n"
        "    print(panel.status.split()[0])\n"
        "    panel.close()\n"
        "print(len(explorables.__all__))"
    ).split()
    assert said[:-1] == ["done"] * int(said[-1])


def test_measurements_and_all_names_are_there_without_torch(run_without):
    said = run_without(
        "from neuroviz import *\n"
        "from neuroviz_beyond import sweep\n"
        "net = Architecture.uniform(d=4, a=2, layers=2)\n"
        "(record,) = sweep([net], progress=False)\n"
        "print(measure_dimension(net).value, record.value)\n"
        "from neuroviz.rank.arithmetic import fastest_arithmetic\n"
        "print(fastest_arithmetic().name)"
    )
    assert said == "38 38\nfloat32"


@pytest.mark.parametrize(
    "call",
    [
        "nb.functional_dimension(None, None)",
        "nb.module_symmetries(None)",
        "import_module('neuroviz.attention.modules')",
        (
            "import_module('neuroviz.softmax.figure3')"
            ".float32_rank(nv.Architecture.uniform(3, 2, 2))"
        ),
        "nb.sweep([nv.Architecture.uniform(3, 2, 2)], workers=2)",
    ],
)
def test_what_needs_more_says_how_to_get_it(run_without, call):
    name = "loky" if "workers" in call else "torch"
    said = run_without(
        "import neuroviz as nv\nimport neuroviz_beyond as nb\n"
        "from importlib import import_module\n"
        f"try:\n    {call}\nexcept ImportError as error:\n    print(error)"
    )
    assert f"needs {name}: pip install {name}" in said and "\n" not in said


def test_the_float32_curve_says_so_in_the_panel(run_without):
    said = run_without(
        "from neuroviz.explorables import Figure3Explorer\n"
        "panel = Figure3Explorer(state='last=3;peer=yes')\n"
        "panel.wait(120)\n"
        "print(panel.status)\n"
        "panel.controls['peer'].value = False\n"
        "panel.wait(120)\n"
        "print(panel.status)\n"
        "panel.close()"
    ).splitlines()
    assert said[0].startswith("this needs torch") and said[1].startswith("done")


@pytest.mark.full
@pytest.mark.parametrize("path", sources(), ids=lambda path: path.stem)
def test_a_notebook_runs_without_them(run_without, path):
    said = run_without(
        f"import runpy\nrunpy.run_path({str(path)!r})\nprint('\\nto its end')"
    )
    assert said.endswith("to its end")


# The command


def test_the_notebooks_are_copied_with_the_pages_they_link_to(tmp_path, capsys):
    command.main(["notebooks", str(tmp_path / "mine")])
    here = {
        path.with_suffix(".ipynb").relative_to(ROOT).as_posix() for path in sources()
    }
    pages = {
        path
        for kind in (
            "docs/**/*.md",
            "beyond/docs/*.md",
            "beyond/formal/*.v",
            "beyond/studies/*/*.*",
        )
        for path in ROOT.glob(kind)
    }
    pages = {path.relative_to(ROOT).as_posix() for path in pages}
    copied = {
        path.relative_to(tmp_path / "mine").as_posix()
        for path in (tmp_path / "mine").rglob("*.*")
    }
    assert copied == {name for name in here | pages if ".ipynb_checkpoints" not in name}
    assert f"{len(copied)} files copied" in capsys.readouterr().out
    links = set()
    for name in copied:
        text = (tmp_path / "mine" / name).read_text(encoding="utf-8")
        for link in re.findall(
            r"\]\(((?!http|#)[^)\s]+?)(?:#[^)]*)?\)", text if name[-2:] != ".v" else ""
        ):
            links.add((name, link))
            assert (tmp_path / "mine" / name).parent.joinpath(link).exists(), (
                name,
                link,
            )
    assert len(links) > 20


def test_without_what_is_beyond_the_path_is_copied_and_links_lead_to_the_repository(
    tmp_path, monkeypatch
):
    found = command.find_spec
    monkeypatch.setattr(
        command,
        "find_spec",
        lambda name: None if name == "neuroviz_beyond" else found(name),
    )
    command.main(["notebooks", str(tmp_path)])
    assert not (tmp_path / "beyond").exists()
    outside = 0
    for path in tmp_path.rglob("*.*"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\]\((\.\./)+beyond", text), path
        whole = re.findall(r"\]\(https://[^)]*/blob/HEAD/(beyond/[^)#]*)", text)
        assert all((ROOT / target).exists() for target in whole), path
        outside += len(whole)
    assert outside > 10


def test_a_changed_notebook_is_kept_and_named(tmp_path, capsys):
    command.main(["notebooks", str(tmp_path)])
    changed = tmp_path / "notebooks" / "00_start.ipynb"
    gone = tmp_path / "docs" / "glossary.md"
    changed.write_text("mine")
    gone.unlink()
    capsys.readouterr()
    command.main(["notebooks", str(tmp_path)])
    said = capsys.readouterr().out
    assert changed.read_text() == "mine" and gone.exists()
    assert (
        "1 files copied" in said
        and said.count(".ipynb") == 1
        and "notebooks/00_start.ipynb" in said
    )


@pytest.mark.parametrize(
    "words", [["notebooks"], ["notebooks", "a", "--no-browser"], ["labs"]]
)
def test_a_wrong_command_is_refused(words, capsys):
    with pytest.raises(SystemExit) as stopped:
        command.main(words)
    assert stopped.value.code == 2 and "usage: neuroviz" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_named(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    with pytest.raises(SystemExit):
        command.main(["notebooks", str(tmp_path / "file")])
    assert f"neuroviz cannot write into {tmp_path / 'file'}" in capsys.readouterr().err


def test_lab_without_jupyterlab_says_how_to_get_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    with pytest.raises(SystemExit):
        command.main(["lab", str(tmp_path / "mine")])
    assert "pip install jupyterlab" in capsys.readouterr().err
    assert not (tmp_path / "mine").exists()


def test_lab_opens_the_first_notebook_of_the_copy(tmp_path, monkeypatch):
    from jupyterlab import labapp

    opened = []
    monkeypatch.setattr(
        labapp, "main", lambda words: opened.append((Path.cwd(), words))
    )
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        command.main(["lab", "--no-browser"])
    ((where, words),) = opened
    assert where == tmp_path / "neuroviz-notebooks" and "--no-browser" in words
    assert (where / next(word for word in words if word.endswith(".ipynb"))).exists()


# The files


def test_nothing_says_to_install_a_name_that_is_somebody_elses_on_pypi():
    asked = re.compile(r"install ['\"]?neuroviz\S*( @ git\+)?")
    assert not asked.search("pip install 'neuroviz[class]'")[1]
    read = 0
    for folder in ("docs", "neuroviz", "notebooks", "beyond", "tools", "."):
        under = "*" if folder == "." else "**/*"
        for path in (ROOT / folder).glob(under):
            if path.suffix not in (".md", ".py"):
                continue
            for found in asked.finditer(path.read_text(encoding="utf-8")):
                read += 1
                assert found[1], f"{path}: {found[0]}"
    assert read  # the README's, with its address


@pytest.mark.full
def test_what_is_built_installs_and_works(tmp_path):
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONPATH"
    }
    for project in (ROOT, ROOT / "beyond"):
        subprocess.run(
            [
                *(sys.executable, "-m", "build", "--no-isolation"),
                *("--outdir", tmp_path, project),
            ],
            check=True,
            capture_output=True,
        )
    (wheel,) = tmp_path.glob("neuroviz-*.whl")
    (beyond,) = tmp_path.glob("neuroviz_beyond-*.whl")
    (source,) = tmp_path.glob("neuroviz-*.tar.gz")
    with zipfile.ZipFile(wheel) as file:
        names = set(file.namelist())
        page = file.read(
            next(name for name in names if name.endswith("METADATA"))
        ).decode()
    texts = list(command.course())
    path = {name for name in texts if not name.startswith("beyond/")}
    assert {f"{BEGIN}{name}" for name in path} == {
        name for name in names if name.startswith(BEGIN)
    }
    scripts = {path.name for path in (ROOT / "neuroviz/kit/javascript").rglob("*.*")}
    assert scripts <= {
        name.rpartition("/")[2] for name in names if "/javascript/" in name
    }
    assert "neuroviz/py.typed" in names
    with zipfile.ZipFile(beyond) as file:
        other = set(file.namelist())
        page += file.read(
            next(name for name in other if name.endswith("METADATA"))
        ).decode()
    assert "neuroviz_beyond/py.typed" in other
    further = {
        name.removeprefix("beyond/") for name in texts if name.startswith("beyond/")
    }
    begin = f"neuroviz_beyond/{BEGIN.partition('/')[2]}"
    assert further and {f"{begin}{name}" for name in further} == {
        name for name in other if name.startswith(begin)
    }
    licences = {one.partition("/licenses/")[2] for one in names | other} - {""}
    assert licences == {"LICENSE", "LICENSE-docs"}
    assert "](docs/" not in page and "](../" not in page
    assert "/blob/HEAD/docs/library.md)" in page
    with tarfile.open(source) as file:
        packed = {name.partition("/")[2] for name in file.getnames()}
    assert {
        "beyond/notebooks/unrolling.ipynb",
        "tests/test_release.py",
    } <= packed

    venv.create(tmp_path / "new", with_pip=True)
    python = (
        tmp_path / "new" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    )
    ask = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = Path(
        subprocess.run(ask, check=True, capture_output=True, text=True).stdout.strip()
    )
    # what neuroviz needs
    ours = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "ours.pth").write_text("\n".join(ours))
    subprocess.run(
        [
            *(python, "-m", "pip", "install", "-q", "--no-deps", "--no-index"),
            *(wheel, beyond),
        ],
        check=True,
    )

    def run(*words):
        done = subprocess.run(
            words, cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    lines = (
        "import neuroviz\n"
        "from neuroviz.explorables import LedgerExplorer\n"
        "print(neuroviz.__file__, neuroviz.__version__, LedgerExplorer().status)"
    )
    where, version, status, *_ = run(python, "-c", lines).split()
    assert Path(where).is_relative_to(packages) and status == "done"
    lines = (
        "import neuroviz as nv\n"
        "import neuroviz_beyond as nb\n"
        "from neuroviz_beyond.explorables import MemorisationExplorer\n"
        "proof = nb.certify(nv.Architecture((4, 3, 5), (2, 2)))\n"
        "print(nb.__file__, proof.dimension, MemorisationExplorer().status)"
    )
    where, dimension, status, *_ = run(python, "-c", lines).split()
    assert Path(where).is_relative_to(packages)
    assert (dimension, status) == ("36", "done")
    assert run(python.with_name("neuroviz"), "--version") == f"neuroviz {version}"
    run(python.with_name("neuroviz"), "notebooks", "copy")
    for name in command.course():
        assert (tmp_path / "copy" / name).read_bytes() == (ROOT / name).read_bytes()
