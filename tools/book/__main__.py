"""python -m tools.book [--out build/book] [--jobs 2] [NAME ...]: build the site and say where it is."""

import argparse
import sys
from pathlib import Path

from tools.book.site import ROOT, build

MEGABYTE = 1e6
MOST_MEGABYTES = 25


def main() -> None:
    asked = argparse.ArgumentParser(prog="python -m tools.book", description="Build the static edition.")
    asked.add_argument(
        "notebooks", nargs="*", metavar="NAME", help="such as 00_start; all of them without any"
    )
    asked.add_argument("--out", type=Path, default=ROOT / "build" / "book")
    asked.add_argument("--jobs", type=int, default=1, help="notebooks to run at a time")
    words = asked.parse_args()
    site = build(words.out.resolve(), words.notebooks or None, words.jobs)
    size = sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) / MEGABYTE
    sys.stdout.write(f"{site / 'index.html'}: {size:.1f} MB, open it in a browser\n")
    if size > MOST_MEGABYTES:
        sys.exit(
            f"the site has {size:.1f} MB; {MOST_MEGABYTES} is the most (fewer stills: tools/book/stills.py)"
        )


if __name__ == "__main__":
    main()
