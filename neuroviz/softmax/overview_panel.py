"""One network as lightning and as softmax: dimension, ledger, spectrum, and what is known of each."""

import ipywidgets as widgets

from neuroviz.certificate.certificate import ROUTES, Certificate, certify
from neuroviz.engine.architecture import Architecture
from neuroviz.engine.formulas import expected_dimension
from neuroviz.engine.ledger import kernel_ledger
from neuroviz.engine.measure import Measurement, measure_dimension
from neuroviz.engine.orbit_slice import gauge_slice
from neuroviz.kit import theme
from neuroviz.kit.badges import theory_badge
from neuroviz.kit.controls import typed_head_dims, typed_widths
from neuroviz.kit.panel import Panel
from neuroviz.kit.words import grouped, signed
from neuroviz.softmax.known import measure_at_temperature, routes_that_prove, what_is_known
from neuroviz.softmax.overview import Side, SoftmaxSetting, SoftmaxStudy
from neuroviz.softmax.overview_figure import softmax_parts, temperature_text

MAX_WIDTH, MAX_HEAD, MAX_TOKENS, MAX_LAYERS = 8, 8, 6, 6
_MOST_SPECTRUM, _MOST_BALL, _MOST_RANK = 900, 130, 400  # sizes up to which a panel answers within seconds
_QUICK_MILLISECONDS = 250


def study_softmax(setting: SoftmaxSetting) -> SoftmaxStudy:
    """Measure a network as lightning and as softmax, and put beside it what is known.

    >>> study = study_softmax(SoftmaxSetting((4, 3, 5), (2, 2)))
    >>> study.lightning.exact.value, study.softmax.exact.value, study.difference
    (36, 38, 2)
    """
    return SoftmaxStudy(setting, _side(setting, "lightning"), _side(setting, "softmax"))


def _side(setting: SoftmaxSetting, attention: str) -> Side:
    arch, seed = setting.arch(attention), setting.seed
    exact = measure_dimension(arch, seed=seed)
    certificate, refusal = _confirm(arch, setting.route, exact, seed)
    drawn = arch.num_parameters <= _MOST_SPECTRUM
    return Side(
        arch=arch,
        exact=exact,
        expected=expected_dimension(arch),
        ledger=kernel_ledger(arch, seed),
        spectrum=measure_at_temperature(arch, setting.temperature, seed) if drawn else None,
        board=what_is_known(arch, exact, certificate),
        refusal=refusal,
    )


def _confirm(arch: Architecture, route: str, exact: Measurement, seed: int) -> tuple[Certificate | None, str]:
    """A certificate by the chosen route, or why there is none."""
    most = {"ball": _MOST_BALL, "exact rank": _MOST_RANK}.get(route)
    if most is not None and exact.num_columns > most:
        return None, f"{exact.num_columns} columns; this panel tries it up to {most}"
    if route not in routes_that_prove(arch, exact):
        return None, f"rank {exact.value} of {exact.num_columns} columns is not full"
    try:
        return certify(arch, route, seed), ""
    except ValueError as error:  # a point that will not do: the message says so
        return None, str(error)


class SoftmaxExplorer(Panel):
    """The same sizes as lightning and as softmax: what is measured, and what is known.

    For each kind the parameters and where they go, the singular values in floating point with the exact
    rank, and a board of what is known and by which theorem. The temperature moves the singular values only.

    Controls: d, a, t, layers, log₁₀ τ; under "More": inner (δ; 0: all widths d), widths (such as 4,3,5,
    instead of d, δ and layers), a per layer (such as 2,1), proof (which certificate), seed. See `Panel`.

    >>> panel = SoftmaxExplorer()
    >>> panel.controls["layers"].value = 3
    >>> panel.description.split(":")[0]
    'Widths 4→4→4→4, a = 2, 2, 2, t = 3'
    """

    title = "Lightning and softmax"

    def _make_controls(self) -> tuple[dict[str, widgets.Widget], dict[str, widgets.Widget]]:
        def slider(label: str, value: int, most: int, least: int = 1) -> widgets.IntSlider:
            return widgets.IntSlider(value=value, min=least, max=most, description=label)

        def text(label: str, example: str) -> widgets.Text:
            return widgets.Text(
                value="", placeholder=f"such as {example}", description=label, continuous_update=False
            )

        first = {
            "width": slider("width d", 4, MAX_WIDTH),
            "head_dim": slider("head dimension a", 2, MAX_HEAD),
            "tokens": slider("tokens t", 3, MAX_TOKENS),
            "layers": slider("layers l", 2, MAX_LAYERS),
            "temperature": widgets.FloatSlider(
                value=0.0,
                min=-1.5,
                max=5.0,
                step=0.25,
                description="log₁₀ τ",
                tooltip="temperature: A is divided by τ",
                readout_format=".2f",
            ),
        }
        more = {
            "inner": slider("inner δ (0: d)", 0, MAX_WIDTH, least=0),
            "widths": text("widths", "4,3,5"),
            "head_dims": text("a per layer", "2,1"),
            "proof": widgets.Dropdown(options=ROUTES, value="theorem", description="proof by"),
            "seed": widgets.BoundedIntText(value=0, min=0, max=10**6, description="seed"),
        }
        return first, more

    def _arrange(self) -> None:
        typed = bool(self.controls["widths"].value.strip())
        for name in ("width", "layers", "inner"):
            self.controls[name].disabled = typed
        if self.controls["layers"].value == 1:
            self.controls["inner"].disabled = True  # one layer has no inner width
        self.controls["head_dim"].disabled = bool(self.controls["head_dims"].value.strip())

    def _read(self) -> SoftmaxSetting:
        value = {name: control.value for name, control in self.controls.items()}
        d, inner, layers = value["width"], value["inner"] or value["width"], value["layers"]
        widths = (d, *(inner,) * (layers - 1), d)
        if typed := value["widths"].strip():
            widths = typed_widths(
                typed, "4,3,5", MAX_WIDTH, MAX_LAYERS, ", or clear the box to use the sliders"
            )
            layers = len(widths) - 1
        head_dims = (value["head_dim"],) * layers
        if typed_heads := value["head_dims"].strip():
            otherwise = ", or clear the box to use the slider a"
            head_dims = typed_head_dims(typed_heads, "2,1", MAX_HEAD, layers, otherwise)
        # A step of 0.25 is exact; 10⁰ is 1, the temperature at which weights are well conditioned.
        temperature = 10 ** value["temperature"]
        return SoftmaxSetting(widths, head_dims, value["tokens"], temperature, value["proof"], value["seed"])

    _answer = staticmethod(study_softmax)

    def _is_slow(self, request: SoftmaxSetting) -> bool:
        """From sizes alone, so that it never depends on the machine; milliseconds on a laptop-like core."""
        n = request.arch("softmax").num_parameters
        columns = gauge_slice(request.arch("softmax")).num_free
        spectra = 5e-6 * n**3 if n <= _MOST_SPECTRUM else 0
        took = 2 * (10 + 1.2e-3 * n**2 + spectra)
        if request.route == "exact rank" and columns <= _MOST_RANK:
            took += 2e-2 * columns**2
        if request.route == "ball" and columns <= _MOST_BALL:
            took += 0.3 * columns**2
        return took > _QUICK_MILLISECONDS

    draw = staticmethod(softmax_parts)

    def _badge(self, answer: SoftmaxStudy) -> str:
        one, two = answer.lightning, answer.softmax
        prime = grouped(two.exact.prime)
        measured = f"lightning {one.exact.value}, softmax {two.exact.value} mod {prime}"
        # With what right theory says the same stands in the first row of the board; here, where it does not.
        contradicted = "".join(
            theory_badge(side.expected, side.exact.value)
            for side in (one, two)
            if side.expected.value != side.exact.value
        )
        return theme.badge(two.exact.status, measured) + contradicted

    def _describe(self, answer: SoftmaxStudy) -> str:
        said = (_say_dimensions(answer), _say_fibers(answer), _say_proof(answer), _say_spectra(answer))
        return " ".join(filter(None, said))


def _say_dimensions(study: SoftmaxStudy) -> str:
    one, two, more = study.lightning, study.softmax, study.difference
    sizes = str(one.arch).removeprefix("lightning ")
    depth = one.arch.num_layers
    if more == depth:
        each = " for each layer" if depth > 1 else ""
        why = f"one more{each}, as softmax notices a rescaling of A"
    else:
        why = f"softmax has {signed(more)} more" if more > 0 else f"softmax has {signed(-more)} fewer"
        if more == 0:
            why = "the same number"
    disagree = [
        f"theory says {side.expected.value} for {side.arch.attention}: they DISAGREE"
        for side in (one, two)
        if side.expected.value != side.exact.value
    ]
    said = "; ".join([why, *disagree])
    return (
        f"Widths {sizes}: {one.exact.value} dimension{'' if one.exact.value == 1 else 's'} as lightning, "
        f"{two.exact.value} as softmax, measured exactly; {said}."
    )


def _say_fibers(study: SoftmaxStudy) -> str:
    one, two = (side.board.entry("function → (L, M)") for side in (study.lightning, study.softmax))
    return (
        f"Virtual weights with the same generic function: lightning, {one.answer} ({one.source}, "
        f"{one.status}); softmax, {two.answer} ({two.source}, {two.status})."
    )


def _say_proof(study: SoftmaxStudy) -> str:
    """What a route that computes has found; a theorem stands in the board already."""
    if study.setting.route == "theorem":
        return ""
    parts = []
    for side in (study.lightning, study.softmax):
        if side.refusal:
            parts.append(f"{side.arch.attention}, none ({side.refusal})")
        else:
            parts.append(f"{side.arch.attention}, {side.board.entry('certificates').source}")
    return f"Certificate by {study.setting.route}, checked again: {'; '.join(parts)}."


def _say_spectra(study: SoftmaxStudy) -> str:
    two, tau = study.softmax, study.setting.temperature
    if two.spectrum is None:
        return f"With {two.arch.num_parameters} parameters the spectra are too large for this panel."
    if two.spectrum.value == two.exact.value:
        reads = "floating point reads the same number"
    else:
        reads = f"floating point reads {two.spectrum.value}"
    unsure = "" if two.spectrum.decided else ", without a gap that decides"
    if tau == 1:
        return f"At temperature 1 {reads} for softmax{unsure}."
    return (
        f"At temperature {temperature_text(tau)} {reads} for softmax{unsure}; the dimension does not depend "
        "on the temperature. For lightning A/τ is a rescaling."
    )
