"""What a reader waits for before anything happens: the import, and a second `make env`.

The import is taken in fresh processes, beside an import of numpy alone, which neuroviz cannot do
without; best of 9, processor time. `make env` is called in an environment that is complete.

    python benchmarks/start.py [--quick] [--write]
"""

import subprocess
import sys
import time
from pathlib import Path

from timing import arguments, machine, table, write

ROOT = Path(__file__).parent.parent
MODULES = ("numpy", "neuroviz", "neuroviz.modules", "neuroviz.explorables")


def import_seconds(module: str, repeats: int) -> float:
    """Processor time that importing a module takes in a fresh interpreter."""
    code = f"import time; t = time.process_time(); import {module}; print(time.process_time() - t)"
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
        for _ in range(repeats)
    ]
    return min(float(run.stdout) for run in runs)


def make_seconds() -> float:
    """How long `make env` takes when there is nothing to do."""
    subprocess.run(["make", "env"], cwd=ROOT, capture_output=True, check=True)
    start = time.perf_counter()
    subprocess.run(["make", "env"], cwd=ROOT, capture_output=True, check=True)
    return time.perf_counter() - start


def main() -> None:
    options = arguments(__doc__, quick="each import once")
    seconds = {module: import_seconds(module, 1 if options.quick else 9) for module in MODULES}
    lines = [
        [f"import {module}", f"{taken:.3f}", f"{taken / seconds['numpy']:.1f}"]
        for module, taken in seconds.items()
    ]
    lines.append(["make env, the second time", f"{make_seconds():.3f}", ""])
    text = table(["", "seconds", "ratio to numpy"], lines)
    text += f"\n\nGoal: importing neuroviz well under 0.3 s, a second `make env` under 1 s. {machine()}"
    print(text)
    if options.write:
        write("start", text)


if __name__ == "__main__":
    main()
