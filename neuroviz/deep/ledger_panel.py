"""Where the parameters of a network go, and how far the paper's formula reaches around it."""

from dataclasses import dataclass, replace

import ipywidgets as widgets

from neuroviz.deep.dimension import paper_name, would_mislead
from neuroviz.deep.ledger_figure import FormulaMap, LedgerStudy, MapCell, ledger_parts
from neuroviz.deep.waterfall import FAMILIES
from neuroviz.engine.architecture import ATTENTION_KINDS, Architecture
from neuroviz.engine.formulas import expected_dimension, paper_formula, paper_promises
from neuroviz.engine.ledger import KernelLedger, kernel_ledger
from neuroviz.engine.measure import Measurement, measure_dimension
from neuroviz.engine.orbit_slice import gauge_slice
from neuroviz.kit.badges import measured_badge, theory_badge
from neuroviz.kit.controls import whole_numbers
from neuroviz.kit.panel import Panel

MAX_WIDTH, MAX_HEAD, MAX_TOKENS, MAX_LAYERS = 8, 8, 6, 6
_COLUMNS, _ROWS = 6, 5  # of the map
_QUICK_MILLISECONDS = 250


@dataclass(frozen=True)
class LedgerRequest:
    """What the controls ask for.

    Attributes:
        arch: the network of the ledger.
        seed: what the random networks are drawn from.
        inner_only: the columns of the map are the inner widths, not all widths but the last.
        last_only: the rows of the map are the last head dimension, not all of them together.
    """

    arch: Architecture
    seed: int
    inner_only: bool = False
    last_only: bool = False

    @property
    def here(self) -> tuple[int, int] | None:
        """Where the network stands on the map; None where its varied widths are not all alike."""
        d = self.arch.widths
        varied = set(d[1:-1] if self.inner_only else d[:-1])
        return (varied.pop(), self.arch.head_dims[-1]) if len(varied) == 1 else None

    def at(self, width: int, head_dim: int) -> Architecture:
        """The same architecture with the varied widths and head dimensions set to other values."""
        d, a = self.arch.widths, self.arch.head_dims
        inner = (width,) * (len(d) - 2)
        return replace(
            self.arch,
            widths=(d[0] if self.inner_only else width, *inner, d[-1]),
            head_dims=(*a[:-1], head_dim) if self.last_only else (head_dim,) * len(a),
        )

    @property
    def columns(self) -> tuple[int, ...]:
        """The widths of the map."""
        return _shown(self.here[0] if self.here else 1, _COLUMNS)

    @property
    def rows(self) -> tuple[int, ...]:
        """The head dimensions of the map."""
        return _shown(self.arch.head_dims[-1], _ROWS)


def _shown(here: int, count: int) -> tuple[int, ...]:
    """1, 2, …, count; a larger value that the reader has chosen takes the last place.

    >>> _shown(2, 5), _shown(8, 5)
    ((1, 2, 3, 4, 5), (1, 2, 3, 4, 8))
    """
    return (*range(1, count), max(here, count))


def study_ledger(request: LedgerRequest) -> LedgerStudy:
    """Measure everything that the figure of one network shows."""
    arch = request.arch
    paper = paper_formula(arch)
    cells = tuple(
        MapCell(d, a, measure_dimension(at, seed=request.seed), paper_formula(at), paper_promises(at))
        for a in request.rows
        for d in request.columns
        for at in [request.at(d, a)]
    )
    found = FormulaMap(
        cells,
        request.columns,
        request.rows,
        _width_title(request),
        _head_title(request),
        arch.tokens,
        paper_name(paper),
        paper.source.split(",")[0],
        request.here,
    )
    return LedgerStudy(
        ledger=kernel_ledger(arch, request.seed),
        exact=measure_dimension(arch, seed=request.seed),
        expected=expected_dimension(arch),
        paper=paper,
        map=found,
    )


def _width_title(request: LedgerRequest) -> str:
    d = request.arch.widths
    if request.inner_only:
        alike = "" if request.here else "s, all"
        return f"inner width{alike} δ (d₀ = {d[0]}, d′ = {d[-1]})"
    return f"width d (d′ = {d[-1]})"


def _head_title(request: LedgerRequest) -> str:
    if not request.last_only or request.arch.num_layers == 1:
        return "head dimension a"
    return "last head dimension"


class LedgerExplorer(Panel):
    """Where the parameters of an attention network go, and how far the paper's formula reaches.

    Left, the ledger: parameters, less what each family of symmetries costs, is the dimension. Right,
    measured minus the paper's formula for the same network with other widths and head dimensions.

    Controls: d (input and inner widths), d′, a, t, layers, kind; under "More": widths (such as 4,3,5,
    instead of d, d′ and layers), a per layer (such as 2,1), seed. See `Panel` for what panels share.

    >>> panel = LedgerExplorer()
    >>> panel.controls["layers"].value = 3
    >>> panel.description.split(",")[0]
    'lightning 4→4→4→4'
    """

    title = "Where do the parameters go?"

    def _make_controls(self) -> tuple[dict[str, widgets.Widget], dict[str, widgets.Widget]]:
        def slider(label: str, value: int, most: int) -> widgets.IntSlider:
            return widgets.IntSlider(value=value, min=1, max=most, description=label)

        def text(label: str, example: str) -> widgets.Text:
            return widgets.Text(
                value="", placeholder=f"such as {example}", description=label, continuous_update=False
            )

        first = {
            "width": slider("width d", 4, MAX_WIDTH),
            "width_out": slider("output width d′", 4, MAX_WIDTH),
            "head_dim": slider("head dimension a", 2, MAX_HEAD),
            "tokens": slider("tokens t", 3, MAX_TOKENS),
            "layers": slider("layers l", 2, MAX_LAYERS),
            "kind": widgets.Dropdown(options=ATTENTION_KINDS, value="lightning", description="attention"),
        }
        more = {
            "widths": text("widths", "4,3,5"),
            "head_dims": text("a per layer", "2,1"),
            "seed": widgets.BoundedIntText(value=0, min=0, max=10**6, description="seed"),
        }
        return first, more

    def _arrange(self) -> None:
        for name in ("width", "width_out", "layers"):
            self.controls[name].disabled = bool(self.controls["widths"].value.strip())
        self.controls["head_dim"].disabled = bool(self.controls["head_dims"].value.strip())

    def _read(self) -> LedgerRequest:
        value = {name: control.value for name, control in self.controls.items()}
        widths = (value["width"],) * value["layers"] + (value["width_out"],)
        if typed := value["widths"].strip():
            widths = whole_numbers("widths", typed, "4,3,5", MAX_WIDTH)
            if not 2 <= len(widths) <= MAX_LAYERS + 1:
                raise ValueError(
                    f"widths needs 2 to {MAX_LAYERS + 1} numbers, d₀, d₁, …, d′; got {len(widths)} in "
                    f"{typed!r}: add or remove some, or clear the box to use the sliders"
                )
        layers = len(widths) - 1
        head_dims = (value["head_dim"],) * layers
        if typed_heads := value["head_dims"].strip():
            head_dims = whole_numbers("a per layer", typed_heads, "2,1", MAX_HEAD)
            if len(head_dims) != layers:
                raise ValueError(
                    f"a per layer needs {layers} numbers, one for each layer; got {len(head_dims)} in "
                    f"{typed_heads!r}: add or remove some, or clear the box to use the slider a"
                )
        arch = Architecture(widths, head_dims, value["tokens"], value["kind"])
        return LedgerRequest(
            arch, value["seed"], inner_only=bool(typed) and layers > 1, last_only=bool(typed_heads)
        )

    _answer = staticmethod(study_ledger)

    def _is_slow(self, request: LedgerRequest) -> bool:
        """From sizes alone, so that it never depends on the machine; milliseconds on a laptop-like core."""
        columns = [gauge_slice(request.at(d, a)).num_free for d in request.columns for a in request.rows]
        ledger = 10 + 8e-4 * request.arch.num_parameters**2
        cells = sum(1 + 3e-4 * number**2 for number in columns)
        # With one token no rank is full, so each is measured at two points.
        return ledger + cells * (2 if request.arch.tokens == 1 else 1) > _QUICK_MILLISECONDS

    draw = staticmethod(ledger_parts)

    def _badge(self, answer: LedgerStudy) -> str:
        return measured_badge(answer.ledger.measured) + theory_badge(answer.expected, answer.ledger.dimension)

    def _describe(self, answer: LedgerStudy) -> str:
        return " ".join([_say_ledger(answer.ledger, answer.exact), _say_theory(answer), _say_map(answer.map)])


def _say_ledger(ledger: KernelLedger, exact: Measurement) -> str:
    costs = ", ".join(f"{name} {_sum(ledger.parts[name])}" for name in FAMILIES if ledger.parts.get(name))
    idle, n = ledger.parameters - ledger.dimension, ledger.dimension
    rest = (
        f"{ledger.unexplained} unexplained: {ledger.note}"
        if ledger.unexplained
        else "nothing is left unexplained"
    )
    return (
        f"{ledger.arch}: of {ledger.parameters} parameters {idle} do nothing ({costs}; {rest}). "
        f"{n} dimension{'s remain' if n != 1 else ' remains'} (exact, {_how_sure(ledger, exact)})."
    )


def _how_sure(ledger: KernelLedger, exact: Measurement) -> str:
    """The second measurement, across the orbits of the symmetries, is a proof where it has full rank."""
    if exact.value != ledger.dimension:
        return f"but a second measurement, across the orbits, finds {exact.value}: they DISAGREE"
    if exact.error_bound == 0:
        return "full rank across the orbits of these symmetries, a proof"
    return f"wrong with chance ≤ {ledger.error_bound:.0e}"


def _sum(parts: tuple[int, ...]) -> str:
    if len(parts) < 2:
        return str(sum(parts))
    equal = len(parts) > 2 and len(set(parts)) == 1
    return f"{f'{len(parts)} × {parts[0]}' if equal else ' + '.join(map(str, parts))} = {sum(parts)}"


def _say_theory(answer: LedgerStudy) -> str:
    expected, paper = answer.expected, answer.paper
    if expected.value is None:
        return "No formula is known."
    agrees = expected.value == answer.ledger.dimension
    verdict = "agrees" if agrees else f"says {expected.value}: they DISAGREE"
    instead = f" {paper_name(paper)} would say {paper.value}." if would_mislead(paper, expected) else ""
    return f"Theory {verdict}: {expected.source}, {expected.status}; {expected.note}.{instead}"


def _say_map(found: FormulaMap) -> str:
    cells, off, covered = len(found.cells), len(found.off), sum(cell.covered for cell in found.cells)
    verdict = f"0 in all {cells} cells" if not off else f"not 0 in {off} of {cells} cells"
    parts = [f"Map, measured minus {found.formula}: {verdict}."]
    if found.contradicted:
        parts.append(f"{len(found.contradicted)} of them CONTRADICT {found.statement}.")
    elif not covered:
        parts.append(f"{found.statement} applies in none of them.")
    elif covered < cells:
        framed = "the framed one" if covered == 1 else f"the {covered} framed ones"
        parts.append(
            f"{found.statement} is about {framed}; {found.formula} is right in {len(found.unneeded)} more."
        )
    if found.here is None:
        parts.append("The chosen network has unequal inner widths and is not on the map.")
    return " ".join(parts)
