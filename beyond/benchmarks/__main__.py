"""All benchmarks, one after the other: `python -m benchmarks`; see README.md beside
this file."""

import argparse
from importlib import import_module

from benchmarks import tables
from benchmarks.plot import save_picture
from benchmarks.timing import Effort

NAMES = (
    "figure3",
    "jacobian",
    "ranks",
    "networks",
    "parts",
    "sliders",
    "sweeps",
    "linear_time",
    "start",
    "page",
    "scene",
    "live",
    "notebooks",
)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__.split(":")[0]
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; without: all"
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--quick",
        action="store_true",
        help="small sizes, about a minute; writes nothing",
    )
    how.add_argument(
        "--large", action="store_true", help="also what takes minutes, and some GB"
    )
    options = parser.parse_args()
    if unknown := set(options.names) - set(NAMES):
        parser.error(
            f"the benchmarks are {', '.join(NAMES)}; got {', '.join(sorted(unknown))}"
        )
    effort = Effort(options.quick, options.large)
    found = []
    for name in options.names or NAMES:
        print(f"== {name}", flush=True)
        for table in import_module(f"benchmarks.{name}").run(effort):
            print(f"\n{table.markdown()}\n", flush=True)
            found.append(table)
    print(tables.summary(found))
    if not options.quick:
        tables.store(found)
        save_picture(tables.read())


if __name__ == "__main__":
    main()
