"""What each switch of a transformer's layer does to its ledger, and heads that blend."""

from dataclasses import dataclass

import ipywidgets as widgets

from neuroviz.beyond.transformers.blending import STEPS, blend_heads
from neuroviz.beyond.transformers.variants import BLENDING, costs, effects
from neuroviz.beyond.transformers.variants_figure import BlendCell, VariantStudy, variants_parts
from neuroviz.beyond.transformers.variants_heads import MOST_HEADS
from neuroviz.engine.architecture import ATTENTION_KINDS, Architecture
from neuroviz.engine.block import Block
from neuroviz.engine.formulas import expected_dimension
from neuroviz.engine.ledger import KernelLedger, kernel_ledger
from neuroviz.kit import theme
from neuroviz.kit.badges import measured_badge, theory_badge
from neuroviz.kit.controls import read_control, write_control
from neuroviz.kit.panel import Panel
from neuroviz.kit.words import percent, tiny

MAX_WIDTH, MAX_HEAD, MAX_TOKENS, MAX_LAYERS = 4, 4, 4, 3
_MAP_WIDTHS, _MAP_TOKENS = (3, 6), 3  # outputs enough that the heads, up to six, stay independent
_QUICK_MILLISECONDS = 250
_SHARED = [("own", "own"), ("two heads share", "pairs"), ("all heads share", "all")]
_KEPT = ("blend", "before", "seed")  # what changes no network
_ON_OFF = {
    "skip": "skip",
    "causal": "mask",
    "mlp": "MLP",
    "rotary": "rotary positions",
    "biases": "biases",
    "temperature": "temperatures",
    "positions": "learned positions",
}
_SIZES = {"width": "d", "head_dim": "a", "layers": "l", "tokens": "t", "hidden": "m", "power": "power"}


@dataclass(frozen=True)
class VariantRequest:
    """What the controls ask for.

    Attributes:
        arch: the network.
        before: the one it is compared with, or None.
        toggle: what lies between them, in words.
        place: of the heads on their way.
        seed: what the random networks are drawn from.
        ignored: what was asked for and cannot be, in sentences.
    """

    arch: Architecture
    before: Architecture | None
    toggle: str
    place: float
    seed: int
    ignored: tuple[str, ...] = ()


def study_variants(request: VariantRequest) -> VariantStudy:
    """Measure everything that the figure of one request shows."""
    arch, d = request.arch, _MAP_WIDTHS[0]
    columns, rows = tuple(range(d)), tuple(range(1, MOST_HEADS + 1))
    cells = tuple(
        BlendCell(k, H, kernel_ledger(Architecture(_MAP_WIDTHS, (d - k,), _MAP_TOKENS, arch.attention, H)))
        for k in columns
        for H in rows
    )
    short, bare = (
        max(0, arch.widths[0] - arch.head_dims[0]),
        Block(temperature=arch.block.temperature, positions=arch.block.positions, mlp=arch.block.mlp),
    )
    return VariantStudy(
        ledger=kernel_ledger(arch, request.seed),
        expected=expected_dimension(arch),
        before=request.before and kernel_ledger(request.before, request.seed),
        toggle=request.toggle,
        blend=blend_heads(arch, request.place, request.seed),
        cells=cells,
        columns=columns,
        rows=rows,
        map_title=f"heads H of one {arch.attention} layer, {_MAP_WIDTHS[0]}→{_MAP_WIDTHS[1]}",
        here=(short, arch.heads[0]) if short in columns and arch.block == bare else None,
        ignored=request.ignored,
    )


class VariantsExplorer(Panel):
    """Switch heads, skips, masks and MLPs on and off, and see which directions of the weights do nothing.

    Left, the ledger: parameters, less what each family of symmetries costs, is the dimension; the thin bars
    are those of the network before the last switch. Right, the heads of the first layer, which blend where
    they can; below, where heads blend at all.

    Controls: heads, skip, causal, mlp, kind, blend; under "More": width, head_dim, layers, tokens, value_dim,
    shared (keys and values), rotary, biases, temperature, positions, hidden and power (of the MLP), before
    (what was different before, such as skip=no; set by each switch), seed. See `Panel` for what panels share.

    >>> panel = VariantsExplorer()
    >>> panel.controls["skip"].value = True
    >>> panel.controls["before"].value
    'skip=no'
    """

    title = "Which switch frees which directions?"

    def _make_controls(self) -> tuple[dict[str, widgets.Widget], dict[str, widgets.Widget]]:
        def slider(label: str, value: int, most: int, least: int = 1) -> widgets.IntSlider:
            return widgets.IntSlider(value=value, min=least, max=most, description=label)

        def switch(label: str) -> widgets.Checkbox:
            return widgets.Checkbox(value=False, description=label, indent=True)

        ranks = [("full matrix V", "full"), *[(f"rank {v}", str(v)) for v in range(1, MAX_WIDTH + 1)]]
        first = {
            "heads": slider("heads H", 3, MOST_HEADS),
            "kind": widgets.Dropdown(options=ATTENTION_KINDS, value="lightning", description="attention"),
            "blend": widgets.FloatSlider(
                value=0.5, min=0.0, max=1.0, step=1 / STEPS, description="blend", readout_format=".2f"
            ),
            "skip": switch("skip"),
            "causal": switch("causal mask"),
            "mlp": switch("MLP between"),
        }
        more = {
            "width": slider("width d", 3, MAX_WIDTH),
            "head_dim": slider("head dimension a", 2, MAX_HEAD),
            "layers": slider("layers l", 2, MAX_LAYERS),
            "tokens": slider("tokens t", 3, MAX_TOKENS),
            "value_dim": widgets.Dropdown(options=ranks, value="full", description="values"),
            "shared": widgets.Dropdown(options=_SHARED, value="own", description="keys, values"),
            "rotary": switch("rotary positions"),
            "biases": switch("biases"),
            "temperature": switch("temperatures"),
            "positions": switch("learned positions"),
            "hidden": slider("MLP units m", 4, 6),
            "power": slider("MLP power", 2, 3, least=2),
            "before": widgets.Text(
                value="heads=2", placeholder="such as skip=no", description="before", continuous_update=False
            ),
            "seed": widgets.BoundedIntText(value=0, min=0, max=10**6, description="seed"),
        }
        return first, more

    def _lay_out(self, *args: object, **kwargs: object) -> list[widgets.Widget]:
        rows = super()._lay_out(*args, **kwargs)
        if theme.size("base") <= 14:
            self.controls["mlp"].layout.width = "250px"  # so that "More" stands in the same row
        return rows

    def _on_change(self, change: dict) -> None:
        names = [name for name, control in self.controls.items() if control is change["owner"]]
        if not self._quiet and names[0] not in _KEPT:
            self._assign({"before": f"{names[0]}={write_control(change['old'])}"})
        super()._on_change(change)

    def _arrange(self) -> None:
        value = {name: control.value for name, control in self.controls.items()}
        idle = {
            "mlp": value["layers"] == 1,
            "hidden": not value["mlp"] or value["layers"] == 1,
            "power": not value["mlp"] or value["layers"] == 1,
            "rotary": value["head_dim"] % 2 == 1,
            "shared": value["value_dim"] == "full" or value["heads"] == 1,
            "blend": value["heads"] == 1,
        }
        for name, disabled in idle.items():
            self.controls[name].disabled = disabled

    def _read(self) -> VariantRequest:
        value = {name: control.value for name, control in self.controls.items()}
        old = self._compared(value["before"])
        arch, ignored = _network(value)
        before = _network(value | old)[0] if old else None
        words = [_toggle(name, old[name], value[name]) for name in old if old[name] != value[name]]
        # A slider of step 0.05 stops at 0.15000000000000002.
        place = round(value["blend"], 6)
        if not words:
            before = None
        return VariantRequest(arch, before, ", ".join(words), place, value["seed"], ignored)

    def _compared(self, text: str) -> dict[str, object]:
        """What "before" says was different: the values of some controls."""
        found = {}
        for part in filter(None, (part.strip() for part in text.split(","))):
            name, equals, value = part.partition("=")
            if not equals or name not in self.controls or name in _KEPT:
                names = ", ".join(known for known in self.controls if known not in _KEPT)
                raise ValueError(
                    f"before is what was different then, such as skip=no, heads=2, with names of {names}; "
                    f"got {part!r}: correct it, or clear the box to compare with nothing"
                )
            found[name] = read_control(name, self.controls[name], value)
        return found

    _answer = staticmethod(study_variants)

    def _is_slow(self, request: VariantRequest) -> bool:
        """From sizes alone, so that it never depends on the machine; milliseconds on a laptop-like core."""
        networks = [arch for arch in (request.arch, request.before) if arch]
        return sum(20 + 1.0e-3 * arch.num_parameters**2 for arch in networks) > _QUICK_MILLISECONDS

    draw = staticmethod(variants_parts)

    def _badge(self, answer: VariantStudy) -> str:
        return measured_badge(answer.ledger.measured) + theory_badge(answer.expected, answer.ledger.dimension)

    def _describe(self, answer: VariantStudy) -> str:
        sentences = (_say_ledger(answer.ledger), _say_toggle(answer), _say_blend(answer), *answer.ignored)
        return " ".join(filter(None, sentences))


def _network(value: dict[str, object]) -> tuple[Architecture, tuple[str, ...]]:
    """The network that controls ask for, and in sentences what of it cannot be."""
    H, a, layers, ignored = value["heads"], value["head_dim"], value["layers"], []
    value_dim = None if value["value_dim"] == "full" else int(value["value_dim"])
    rotary, mlp, groups = value["rotary"], None, None
    if rotary and a % 2:
        rotary = False
        ignored.append(f"Rotary positions are off: they turn coordinates in pairs, and a = {a} is odd.")
    if value["mlp"] and layers == 1:
        ignored.append("There is no MLP: it stands between layers, and there is one layer.")
    elif value["mlp"]:
        mlp = (value["hidden"], value["power"])
    if value["shared"] != "own" and H > 1:
        if value_dim is None:
            ignored.append("Each head has keys and values of its own: to share them, give values a rank.")
        elif value["shared"] == "pairs" and H % 2:
            ignored.append(f"Each head has keys and values of its own: {H} heads are no pairs.")
        else:
            groups = H // 2 if value["shared"] == "pairs" else 1
    block = Block(value_dim, groups, rotary, value["biases"], value["temperature"], value["positions"], mlp)
    arch = Architecture.uniform(
        value["width"],
        a,
        layers,
        value["tokens"],
        value["kind"],
        heads=H,
        skip=value["skip"],
        causal=value["causal"],
        block=block,
    )
    return arch, tuple(ignored)


def _toggle(name: str, old: object, new: object) -> str:
    """What was switched, in a few words."""
    if name in _ON_OFF:
        return f"{_ON_OFF[name]} {'on' if new else 'off'}"
    if name == "heads":
        return f"{new} head{'s' if new > 1 else ''} instead of {old}"
    if name in _SIZES:
        return f"{_SIZES[name]} = {new} instead of {old}"
    if name == "value_dim":
        return "full values" if new == "full" else f"values of rank {new}"
    if name == "shared":
        return {"own": "own keys", "pairs": "keys shared by two", "all": "keys shared by all"}[new]
    return f"{new} instead of {old}"


def _say_ledger(ledger: KernelLedger) -> str:
    parts = [f"{name} {count}" for name, count in costs(ledger).items() if count]
    if ledger.unexplained:
        parts.append(f"{ledger.unexplained} unexplained: {ledger.note}")
    idle = ledger.parameters - ledger.dimension
    do = "does" if idle == 1 else "do"
    costly = f" ({'; '.join(parts)})" if parts else ""
    sure = f"wrong with chance ≤ {ledger.error_bound:.0e}"
    return (
        f"{ledger.arch}: of {ledger.parameters} parameters {idle} {do} nothing"
        f"{costly}; dimension {ledger.dimension} (exact, {sure})."
    )


def _say_toggle(study: VariantStudy) -> str:
    if study.before is None:
        return ""
    return f"{study.toggle[0].upper()}{study.toggle[1:]}: {'; '.join(effects(study.before, study.ledger))}."


def _say_blend(study: VariantStudy) -> str:
    blend = study.blend
    H = len(blend.g)
    if H == 1:
        return "One head has nothing to blend with."
    count = study.ledger.parts.get(BLENDING, (0,))[0]
    if blend.keeps:
        end = ""
        if blend.reached < blend.place:
            end = f" (followed as far as {percent(blend.reached)})"
        return (
            f"The {H} heads of layer 1 blend in {count} directions; at {percent(blend.place)} of one "
            f"way{end}, all outputs on 20 inputs are the same up to {tiny(blend.deviation)}."
        )
    if count:
        said = f"The {H} heads of layer 1 blend in {count} directions, but no way is drawn, as {blend.why}"
    else:
        said = f"The heads of layer 1 do not blend, as {blend.why}"
    if not blend.place:
        return f"{said}: move the slider blend to force them."
    return (
        f"{said}: forced to at {percent(blend.place)}, they change outputs by up to "
        f"{percent(blend.deviation)}."
    )
