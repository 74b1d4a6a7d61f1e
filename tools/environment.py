"""Prepare .venv for pip. `make env` runs this with whatever Python it finds: old ones
have to understand it.

Four things can be wrong before pip has a chance: the Python is too old, it cannot make
virtual environments, an earlier run was interrupted, or pip itself is too old. The
first two end in a message, the others are repaired.
"""

import glob
import os
import re
import shutil
import subprocess
import sys

MINIMUM = (3, 11)
PIP = (25, 1)  # the first that knows `--group`
VENV = ".venv"


def stop(message):
    sys.stderr.write("\nneuroviz: " + message + "\n\n")
    sys.exit(1)


def check_python(version, can_make_environments):
    """Say what is missing and what to do about it, or nothing."""
    if tuple(version[:2]) < MINIMUM:
        stop(
            "Python {}.{} or newer is needed; {} is Python {}.{}.\n"
            "If a newer one is installed, name it:  make lab PYTHON=python3.12\n"
            "(or get one from https://www.python.org/downloads/, or use conda: see"
            " docs/install.md).".format(
                *(MINIMUM + (sys.executable,) + tuple(version[:2]))
            )
        )
    if not can_make_environments:
        stop(
            "this Python cannot make virtual environments (its `venv` or `ensurepip` is"
            " missing): {}.\nOn Debian and Ubuntu:  sudo apt install python3-venv  "
            " (for another Python than the system's,\nthe package of that version, such"
            " as python3.12-venv). Then repeat.".format(sys.executable)
        )


def can_make_environments():
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        return False
    return True


def half_installed(venv):
    """The records of packages whose installation was cut off: pip trusts them, but
    INSTALLER comes last."""
    records = glob.glob(
        os.path.join(venv, "lib", "python*", "site-packages", "*.dist-info")
    )
    return sorted(
        record
        for record in records
        if not os.path.exists(os.path.join(record, "INSTALLER"))
    )


def usable(venv):
    """Whether there is an environment whose Python runs, is new enough, and has a
    complete pip."""
    python = os.path.join(venv, "bin", "python")
    if not os.path.exists(python) or any(
        "pip-" in os.path.basename(r) for r in half_installed(venv)
    ):
        return False
    question = "import sys, pip; sys.exit(sys.version_info[:2] < {!r})".format(MINIMUM)
    with open(os.devnull, "w") as nowhere:
        return (
            subprocess.call([python, "-c", question], stdout=nowhere, stderr=nowhere)
            == 0
        )


def has_old_pip(venv):
    """Whether its pip does not know the groups of pyproject.toml."""
    found = glob.glob(
        os.path.join(venv, "lib", "python*", "site-packages", "pip-*.dist-info")
    )
    numbers = [re.match(r"pip-(\d+)\.(\d+)", os.path.basename(one)) for one in found]
    return not any(tuple(map(int, n.groups())) >= PIP for n in numbers if n)


def has_torch(venv):
    return bool(
        glob.glob(
            os.path.join(venv, "lib", "python*", "site-packages", "torch-*.dist-info")
        )
    )


def main(cpu, goal):
    if not usable(VENV):
        check_python(sys.version_info, can_make_environments())
        shutil.rmtree(VENV, ignore_errors=True)
        print(
            "neuroviz: making {} with Python {}.{}".format(VENV, *sys.version_info[:2])
        )
        if subprocess.call([sys.executable, "-m", "venv", VENV]) != 0:
            stop("making the virtual environment failed; the reason stands above.")
    for record in half_installed(VENV):
        print(
            "neuroviz: repeating the interrupted installation of "
            + os.path.basename(record)
        )
        shutil.rmtree(record)
    if has_old_pip(VENV):
        python = os.path.join(VENV, "bin", "python")
        wanted = "pip>={}.{}".format(*PIP)
        words = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        if subprocess.call([python] + words + ["--upgrade", wanted]) != 0:
            stop("{} is needed, and did not come: see above.".format(wanted))
    # No "Jupyter news" window over the first notebook.
    settings = os.path.join(VENV, "etc", "jupyter", "labconfig")
    os.makedirs(settings, exist_ok=True)
    shutil.copy(
        os.path.join("binder", "labconfig", "default_setting_overrides.json"), settings
    )
    if cpu == "1":
        # Remembered before the download starts, so that a plain `make lab` afterwards
        # goes on with it.
        open(os.path.join(VENV, ".cpu"), "a").close()
    elif not cpu and sys.platform.startswith("linux") and not has_torch(VENV):
        print(
            "neuroviz: on Linux, torch brings CUDA along: about 3 GB to download, 5 GB"
            " on disk. Without a GPU, stop this (Ctrl-C) and use: "
            " make {} CPU=1".format(goal)
        )
    sys.stdout.flush()


if __name__ == "__main__":
    main(cpu=sys.argv[1], goal=sys.argv[2])
