"""How long a panel takes when a slider is moved: `panel.controls[name].value = …` until
it returns.

All caches are emptied and the panel is opened; then a walk sets one slider to one value
after the other. What a step leaves behind helps the next one, as it does for a reader.
Every step is one that the panel answers at once, without its background process.
Processor time; the median of three walks for each step.
"""

from statistics import median

from benchmarks.tables import Finding, Table
from benchmarks.timing import Effort, clear_caches, machine, one_thread, seconds
from neuroviz.explorables import LedgerExplorer, SurfaceExplorer

GOAL_MILLISECONDS = 300
SIZES = [  # the panels open at width 4, a = 2, t = 3, l = 2
    ("width", [3, 2, 5, 6, 7]),
    ("head_dim", [1, 3, 4, 5]),
    ("tokens", [2, 1, 4, 5]),
    ("layers", [1, 3]),
]
SHARES = [
    ("where", [i / 20 for i in range(1, 20)]),
    ("along", [i / 8 for i in range(-7, 8)]),
]
WALKS = [
    *((LedgerExplorer, "layers=2;kind=lightning", *walk) for walk in SIZES),
    *((LedgerExplorer, "layers=2;kind=softmax", *walk) for walk in SIZES),
    *((SurfaceExplorer, "", *walk) for walk in SHARES),
]
HEADER = ("panel", "slider", "from … to", "moves", "median, ms", "slowest, ms")


def walk(panel_class: type, state: str, name: str, values: list) -> list[float]:
    """The seconds of each step.

    Raises:
        RuntimeError: if the panel did not answer a step at once.
    """
    clear_caches()
    panel = panel_class(state=state)
    control = panel.controls[name]
    times = []
    try:
        for value in values:
            if value == control.value:
                raise RuntimeError(
                    f"{panel_class.__name__} stands at {name}={value} already: that is"
                    " no move"
                )
            times.append(
                seconds(lambda value=value: setattr(control, "value", value))[0]
            )
            if not panel.status.startswith("done"):
                raise RuntimeError(
                    f"{panel_class.__name__} at {panel.state} was not drawn at once:"
                    f" {panel.status}"
                )
    finally:
        panel.close()
    return times


def run(effort: Effort) -> list[Table]:
    rows = []
    with one_thread():
        for panel_class, state, name, values in WALKS:
            walks = [
                walk(panel_class, state, name, values)
                for _ in range(1 if effort.quick else 3)
            ]
            steps = [1e3 * median(times) for times in zip(*walks, strict=True)]
            span = f"{min(values):g} … {max(values):g}".replace("-", "−")
            rows.append(
                (
                    panel_class.__name__,
                    name,
                    span,
                    len(steps),
                    median(steps),
                    max(steps),
                )
            )
    slowest = max(rows, key=lambda row: row[-1])
    finding = Finding(
        "a slider moved, slowest of all steps",
        f"{slowest[-1]:.0f} ms ({slowest[0]}, {slowest[1]}); medians"
        f" {min(r[4] for r in rows):.0f} to {max(r[4] for r in rows):.0f} ms",
        f"≤ {GOAL_MILLISECONDS} ms",
        slowest[-1] <= GOAL_MILLISECONDS,
    )
    return [
        Table(
            "sliders",
            HEADER,
            ("", "", "", "", ".0f", ".0f"),
            tuple(rows),
            machine(),
            (finding,),
        )
    ]
