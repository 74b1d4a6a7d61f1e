"""Resolve the versions in constraints.txt anew, but for torch: `make constraints`."""

import re
import shutil
import subprocess
import venv
from argparse import ArgumentParser
from pathlib import Path

ROOT = Path(__file__).parents[1]

HEADER = """\
# The versions that were tested together, for Python 3.11 and newer on any system: every
# install command of this project says `pip install -c constraints.txt …`. Written by
# `make constraints`; the ranges that the package itself asks for are in pyproject.toml.
"""


def constraints(frozen: str) -> str:
    """`pip freeze` without this package, and without the build labels that only one
    system has (+cpu).

    >>> frozen = "torch==2.13.0+cpu\\n-e git+https://host/neuroviz\\nattrs==26.1.0"
    >>> print(constraints(frozen).removeprefix(HEADER))
    attrs==26.1.0
    torch==2.13.0
    <BLANKLINE>
    """
    pins = [
        line.split("+")[0]
        for line in frozen.splitlines()
        if re.match(r"[\w.-]+==", line)
    ]
    kept = [pin for pin in pins if not pin.startswith(("neuroviz==", "pip=="))]
    return HEADER + "".join(f"{pin}\n" for pin in sorted(kept, key=str.lower))


def main() -> None:
    # takes nothing; --help writes nothing
    ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    path = ROOT / "constraints.txt"
    folder = ROOT / ".venv-new"
    torch = re.search(r"(?m)^torch==.*$", path.read_text(encoding="utf-8"))[0]
    venv.create(folder, clear=True, with_pip=True)
    pip = [folder / "bin" / "python", "-m", "pip"]
    subprocess.run([*pip, "install", "--quiet", "--upgrade", "pip"], check=True)
    # The newest soupsieve needs Python 3.11.5, and Debian 12 has 3.11.2.
    wanted = [
        torch,
        "soupsieve<3",
        "-e",
        ".[notebooks,torch,workers,class]",
        "-e",
        "beyond",
    ]
    subprocess.run([*pip, "install", *wanted, "--group", "dev"], cwd=ROOT, check=True)
    # --all: setuptools too, which torch needs at run time.
    frozen = subprocess.check_output([*pip, "freeze", "--all"], text=True)
    path.write_text(constraints(frozen), encoding="utf-8", newline="\n")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
