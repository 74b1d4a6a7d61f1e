"""A whole grid of networks, measured while one watches; stopped, and taken up again."""

import time
from collections.abc import Generator, Iterable
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

import ipywidgets as widgets

from neuroviz.beyond.sweep.figure import SweepCell, SweepMap, map_parts
from neuroviz.beyond.sweep.map import headline
from neuroviz.engine.architecture import Architecture
from neuroviz.engine.cost import estimate_cost
from neuroviz.engine.formulas import expected_dimension
from neuroviz.engine.measure import METHODS
from neuroviz.engine.records import Record, Sweep
from neuroviz.engine.sweep import measured
from neuroviz.kit import theme
from neuroviz.kit.export import Export
from neuroviz.kit.panel import Panel
from neuroviz.kit.plot import Parts
from neuroviz.kit.words import grouped

MOST = 10
AXES = {
    "inner": "inner width δ",
    "first": "input width d₀",
    "last": "output width d<sub>l</sub>",
    "head": "head dimension a",
    "head_1": "head dimension a₁ of layer 1",
    "layers": "layers l",
    "tokens": "tokens t",
}
"""What can be varied: name → title of the axis."""

_FIXED = {"layers": 2, "tokens": 3, "first": 4, "inner": 4, "last": 4, "head": 2}
_AT_ONCE = 0.3  # seconds of measuring that moving a control may cost
_BATCH = 0.2  # seconds after which the page hears what has been measured meanwhile


@dataclass(frozen=True)
class SweepRequest:
    """What the controls ask for.

    Attributes:
        x, y: names in `AXES`; the same twice makes a single row.
        x_most, y_most: the axes go from 1 to here.
        sizes: the sizes that are not on an axis, by name.
        attention, method, seed: of all networks.
        show: as in `SweepMap`.
        known: what has been measured already.
    """

    x: str
    y: str
    x_most: int
    y_most: int
    sizes: tuple[tuple[str, int], ...]
    attention: str
    method: str
    seed: int
    show: str = "dimension"
    known: tuple[Record, ...] = ()

    @property
    def places(self) -> dict[tuple[int, int], Architecture]:
        """Column and row → the network there."""
        rows = (1,) if self.x == self.y else range(1, self.y_most + 1)
        return {place: self._network(*place) for place in product(range(1, self.x_most + 1), rows)}

    def _network(self, column: int, row: int) -> Architecture:
        size = dict(self.sizes) | {self.y: row} | {self.x: column}
        layers, head = size["layers"], size["head"]
        widths = (size["first"], *(size["inner"] for _ in range(layers - 1)), size["last"])
        heads = (size.get("head_1", head), *(head for _ in range(layers - 1)))
        return Architecture(widths, heads, size["tokens"], self.attention)

    @property
    def missing(self) -> tuple[Architecture, ...]:
        """What is still to be measured, or measured again because it failed; the cheap ones first."""
        done = {record.arch for record in self.known if not record.failed}
        todo = dict.fromkeys(arch for arch in self.places.values() if arch not in done)
        return tuple(sorted(todo, key=self.seconds))

    def seconds(self, arch: Architecture) -> float:
        """What the measurement of one network takes, about."""
        return _seconds(arch, self.method)


@cache
def _seconds(arch: Architecture, method: str) -> float:
    return estimate_cost(arch, method).seconds


def measure_cheap(request: SweepRequest) -> SweepRequest:
    """The request with what can be measured at once among the known."""
    at_once, total = [], 0.0
    for arch in request.missing:
        total += request.seconds(arch)
        if total > _AT_ONCE:
            break
        at_once.append(arch)
    known = {record.arch: record for record in request.known}
    known |= {record.arch: record for record in measured(at_once, request.method, request.seed)}
    return replace(request, known=tuple(known.values()))


def measure_missing(request: SweepRequest) -> Generator[tuple[Record, ...], None, tuple[Record, ...]]:
    """All that is missing, a few records at a time; the last ones are returned."""
    batch, last = [], time.monotonic()
    for record in measured(request.missing, request.method, request.seed):
        batch.append(record)
        if time.monotonic() - last > _BATCH:
            yield tuple(batch)
            batch, last = [], time.monotonic()
    return tuple(batch)


def sweep_study(request: SweepRequest) -> SweepMap:
    """The map of what is known."""
    known = {record.arch: record for record in request.known}
    one_row = request.x == request.y
    cells = tuple(
        SweepCell(column, "" if one_row else row, (known[arch],) if arch in known else (), 1)
        for (column, row), arch in request.places.items()
    )
    return SweepMap(
        cells,
        tuple(range(1, request.x_most + 1)),
        ("",) if one_row else tuple(range(1, request.y_most + 1)),
        AXES[request.x],
        "" if one_row else AXES[request.y],
        request.show,
    )


class SweepExplorer(Panel):
    """Measure a grid of networks, one in each cell: Start fills it in, Stop keeps what is there.

    Small networks are measured at once; the others by a process of their own, while the page stays alive.
    Start goes on with what is missing, also after a stop, and tries again what has failed. The button CSV
    saves the records that are shown.

    Controls: x and y (what varies: inner, first, last, head, head_1, layers or tokens), x_most and y_most
    (from 1 to here), show (dimension, deficit, status); under "More": layers, tokens, first, inner, last and
    head (the sizes that do not vary), attention, method, seed. See `Panel` for what all panels share.

    >>> panel = SweepExplorer()
    >>> panel.figure.layout.annotations[0].text
    '<b>40 of 40 networks agree with theory, 0 failed</b>'
    """

    title = "Sweep: measure a whole grid"

    def __init__(self, *, only: Iterable[str] | None = None, state: str | None = None) -> None:
        self._records: dict[tuple, Record] = {}
        self._running: SweepRequest | None = None
        self._first_part: tuple[float, float] | None = None  # when it came, and the cost of what was left
        super().__init__(only=only, state=state)

    def _make_controls(self) -> tuple[dict[str, widgets.Widget], dict[str, widgets.Widget]]:
        def slider(label: str, value: int, most: int = MOST) -> widgets.IntSlider:
            return widgets.IntSlider(value=value, min=1, max=most, description=label)

        def choice(label: str, options: list, value: str) -> widgets.Dropdown:
            return widgets.Dropdown(options=options, value=value, description=label)

        axes = [(title.replace("<sub>l</sub>", "ₗ"), name) for name, title in AXES.items()]
        first = {
            "x": choice("across", axes, "inner"),
            "x_most": slider("across, 1 to", 8),
            "y": choice("up", axes, "head"),
            "y_most": slider("up, 1 to", 5),
            "show": choice(
                "show",
                [("dimension", "dimension"), ("measured − theory", "deficit"), ("how sure", "status")],
                "dimension",
            ),
        }
        labels = {
            "layers": "layers l", "tokens": "tokens t", "first": "input width d₀", "inner": "inner width δ",
            "last": "output width dₗ", "head": "head dim. a",
        }  # fmt: skip
        more = {name: slider(labels[name], value) for name, value in _FIXED.items()} | {
            "attention": choice("attention", ["lightning", "softmax"], "lightning"),
            "method": choice("method", list(METHODS), "exact"),
            "seed": widgets.BoundedIntText(value=0, min=0, max=10**6, description="seed"),
        }
        return first, more

    def _extra_buttons(self) -> list[widgets.Widget]:
        self._cancel_button.description = "Stop"
        self._cancel_button.tooltip = "stop measuring; Start goes on with what is missing"
        self.start_button = widgets.Button(
            description="Start",
            tooltip="measure what is missing",
            layout={"flex": "0 0 auto", "width": self._cancel_button.layout.width},
        )
        self.start_button.on_click(lambda _: self.start())
        self.export = Export(formats=("csv",))
        return [self.start_button, self.export]

    def _arrange(self) -> None:
        axes = {self.controls["x"].value, self.controls["y"].value}
        for name in _FIXED:
            self.controls[name].disabled = name in axes
        self.controls["y_most"].disabled = len(axes) == 1

    def _read(self) -> SweepRequest:
        value = {name: control.value for name, control in self.controls.items()}
        sizes = tuple((name, value.pop(name)) for name in _FIXED)
        request = SweepRequest(sizes=sizes, **value)
        keys = [(arch, request.method, request.seed) for arch in dict.fromkeys(request.places.values())]
        return replace(request, known=tuple(self._records[key] for key in keys if key in self._records))

    _answer = staticmethod(measure_cheap)

    @staticmethod
    def draw(answer: SweepRequest) -> Parts:
        """The map of what is known."""
        return map_parts(sweep_study(answer))

    def _say(self, answer: object, started: float | None) -> None:
        self._keep(answer)
        super()._say(answer, started)

    def _keep(self, answer: SweepRequest) -> None:
        """What was measured is not measured again, and can be saved."""
        self._remember(answer.known)
        self.start_button.disabled = self.running or not answer.missing
        name = f"sweep_{answer.attention}_{answer.x}-{answer.y}_{answer.method}"
        self.export.offer(Sweep(answer.known).to_csv(), name)

    def _remember(self, records: Iterable[Record]) -> None:
        self._records |= {(record.arch, record.method, record.seed): record for record in records}

    # Start and stop

    @property
    def running(self) -> bool:
        """Whether a sweep is on its way."""
        return self._running is not None

    def start(self) -> None:
        """Measure what is missing, in a process of its own; the figure fills in meanwhile."""
        request, started = self._read(), time.perf_counter()
        if not request.missing:
            self._set_status("done: everything is measured")
            return
        self._running, self._first_part = request, None
        self._cancel_button.disabled, self.start_button.disabled = False, True
        self._set_status(f"measuring {_networks(len(request.missing))} …")
        self._submit(measure_missing, request, lambda result: self._finish(result, started), self._take)

    def cancel(self) -> None:
        """Stop measuring; what has been measured stays."""
        if self._background.cancel():
            self._stopped()
            self._set_status(f"stopped; Start goes on with the other {len(self._read().missing)}")

    def _stopped(self) -> None:
        self._running = None
        self._cancel_button.disabled, self.start_button.disabled = True, not self._read().missing

    def _refresh(self) -> None:
        if self.running and _networks_of(self._read()) == _networks_of(self._running):
            self._arrange()  # another view of the same networks: the sweep goes on
            self._draw_meanwhile()
            return
        self._running = None  # the shell ends it
        super()._refresh()

    def _take(self, records: tuple[Record, ...]) -> None:
        """Some records of the sweep that is running."""
        self._remember(records)
        self._draw_meanwhile()

    def _draw_meanwhile(self) -> None:
        """What is known by now, and how much is left; a button that blinked could not be pressed."""
        request = self._read()
        with self._cancel_button.hold_sync(), self._status_html.hold_sync():
            self._arrive(request, time.perf_counter())
            self._cancel_button.disabled = False
            if self._shown is not None:  # otherwise the status says why it could not be drawn
                self._set_status(self._say_progress(request))

    def _say_progress(self, request: SweepRequest) -> str:
        todo, left = len(self._running.missing), len(request.missing)
        now, cost = time.perf_counter(), sum(map(request.seconds, request.missing))
        said = f"measuring: {todo - left} of {todo}"
        if left == todo or self._first_part is None:  # the clock starts once the process has
            self._first_part = (now, cost) if left < todo else None
            return said
        then, before = self._first_part
        return said + (f", {_duration((now - then) * cost / (before - cost))} left" if cost < before else "")

    def _finish(self, result: object, started: float) -> None:
        if not isinstance(result, Exception):
            self._remember(result)
        self._stopped()
        self._arrive(result if isinstance(result, Exception) else self._read(), started)

    # What it says

    def _badge(self, answer: SweepRequest) -> str:
        good = [record for record in answer.known if not record.failed]
        badges = []
        for status in dict.fromkeys(record.status for record in good):
            here = [record for record in good if record.status == status]
            prime = f" mod {grouped(here[0].prime)}" if here[0].prime else ""
            badges.append(theme.badge(status, f"{len(here)} rank{'s' if len(here) > 1 else ''}{prime}"))
        theory = {record: expected_dimension(record.arch).status for record in good}
        for status in dict.fromkeys(theory.values()):
            here = Sweep(tuple(record for record in good if theory[record] == status))
            names = ", ".join(dict.fromkeys(record.source for record in here))
            badges.append(theme.badge(status, names + (" ≠ measured" if here.disagreements else "")))
        return "".join(badges)

    def _describe(self, answer: SweepRequest) -> str:
        left = "" if self.running else _say_missing(answer)
        return " ".join(filter(None, (_say_grid(answer), _say_found(answer), left)))


def _networks_of(request: SweepRequest) -> SweepRequest:
    return replace(request, show="", known=())


def _networks(count: int) -> str:
    return f"{count} network{'s' if count != 1 else ''}"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _say_grid(request: SweepRequest) -> str:
    axes = dict.fromkeys((request.x, request.y))
    letters = {"layers": "l", "tokens": "t", "first": "d₀", "inner": "δ", "last": "dₗ", "head": "a"}
    fixed = ", ".join(f"{letters[n]} = {value}" for n, value in request.sizes if n not in axes)
    across = f"{AXES[request.x]} 1–{request.x_most} across"
    up = "" if request.x == request.y else f", {AXES[request.y]} 1–{request.y_most} up"
    return f"{request.attention.capitalize()}, {fixed}: {across}{up}.".replace("<sub>l</sub>", "ₗ")


def _say_found(request: SweepRequest) -> str:
    said = f"{headline(sweep_study(request))}."
    values = [record.value for record in request.known if not record.failed]
    if values:
        least, most = min(values), max(values)
        span = f"s go from {least} to" if least < most else " is"
        said += f" The dimension{span} {most}."
    bounds = [r.error_bound for r in request.known if r.error_bound is not None]
    if bounds and max(bounds) > 0:
        said += f" Each is wrong with chance ≤ {max(bounds):.0e}."
    elif bounds:
        said += " Each is a proof at full rank."
    return said


def _say_missing(request: SweepRequest) -> str:
    if not request.missing:
        return ""
    seconds = sum(map(request.seconds, request.missing))
    took = _duration(seconds) if seconds >= 1 else "1 s"
    return f"Start measures the other {_networks(len(request.missing))}: about {took}."
