"""Write constraints.txt from what is installed beside this Python: `make
constraints`."""

import re
import subprocess
import sys
from pathlib import Path

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


if __name__ == "__main__":
    # --all: setuptools too, which torch needs at run time.
    frozen = subprocess.check_output(
        [sys.executable, "-m", "pip", "freeze", "--all"], text=True
    )
    path = Path(__file__).parents[1] / "constraints.txt"
    path.write_text(constraints(frozen), encoding="utf-8", newline="\n")
