"""python -m tools.book [--out build/book] [--jobs 2] [NAME ...]: build the site and say
where it is."""

import argparse
import sys
from pathlib import Path

from neuroviz.rank.checks import SlipError
from tools.book.live import lite
from tools.book.live.build import LIST, PYODIDE, copy_distribution
from tools.book.site import ROOT, build

MEGABYTE = 1e6
MOST_MEGABYTES = 25


def main() -> None:
    asked = argparse.ArgumentParser(
        prog="python -m tools.book", description="Build the static edition."
    )
    asked.add_argument(
        "notebooks",
        nargs="*",
        metavar="NAME",
        help="such as 00_start; all of them without any",
    )
    asked.add_argument("--out", type=Path, default=ROOT / "build" / "book")
    asked.add_argument("--jobs", type=int, default=1, help="notebooks to run at a time")
    asked.add_argument(
        "--pyodide",
        default=PYODIDE,
        metavar="PLACE",
        help=(
            "where pages find Python: an address, or a folder with a release of"
            " Pyodide, of which the site then has a copy; default: %(default)s"
        ),
    )
    asked.add_argument(
        "--lab", action="store_true", help="JupyterLab without a server too, in lab/"
    )
    words = asked.parse_args()
    out = words.out.resolve()
    pyodide = words.pyodide
    own = None
    if "://" not in pyodide:
        own = Path(pyodide).resolve()
        pyodide = "../pyodide/"
        if not (own / LIST).is_file() or own.is_relative_to(out / "site"):
            sys.exit(
                f"{own}: a release of Pyodide, unpacked, has a {LIST}; keep it outside"
                f" {out / 'site'}"
            )
    try:
        site = build(out, words.notebooks or None, words.jobs, pyodide, words.lab)
    except SlipError as error:
        sys.exit(str(error))
    said = f"{site / 'index.html'}: {_megabytes(site):.1f} MB, open it in a browser\n"
    # Python and JupyterLab come below, for those who ask for them, and count apart.
    if _megabytes(site) > MOST_MEGABYTES:
        sys.exit(
            f"{said}{MOST_MEGABYTES} MB is the most (fewer stills:"
            " tools/book/stills.py)"
        )
    sys.stdout.write(said)
    if own:
        copy_distribution(own, site / "pyodide")
    if words.lab:
        try:
            lite.build(site / "lab", lite.environment(out / "lite"), pyodide)
        except ValueError as error:
            sys.exit(str(error))
        size = _megabytes(site / "lab")
        print(
            f"lab/lab/index.html: {size:.1f} MB, needs a server: python -m http.server"
            f" --directory {site}"
        )


def _megabytes(folder: Path) -> float:
    return (
        sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        / MEGABYTE
    )


if __name__ == "__main__":
    main()
