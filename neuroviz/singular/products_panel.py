"""A layer as a table of products, what a complex v adds to the closure, and sequences that run off."""

from dataclasses import dataclass
from math import cos, radians, sin

import ipywidgets as widgets
import numpy as np

from neuroviz.engine.field import Reals
from neuroviz.engine.layer import Pair, fiber_case
from neuroviz.kit import theme
from neuroviz.kit.panel import Panel
from neuroviz.singular.forms import CLOSURE, nearest_layer, resultant
from neuroviz.singular.products_figure import LIMIT_WORDS, ConjugatePath, ProductsStudy, products_parts
from neuroviz.singular.ranks import SEQUENCES, conjugate_table, follow_sequence, forms_table

_MODES = [
    ("a real layer", "layer"),
    ("v complex (Cor. A.6)", "complex"),
    ("a sequence that runs off", "sequence"),
]
_KINDS = {"generic": "smooth", "rank one": "crossing", "boundary": "boundary", "zero": "boundary"}
_STEPS = tuple(round(10 ** (i / 4)) for i in range(17))  # n from 1 to 10,000
_PATH = tuple(i / 40 for i in range(41))


@dataclass(frozen=True)
class ProductsRequest:
    """What the controls ask for.

    Attributes:
        mode: "layer", "complex" or "sequence".
        d_out: d′, 1 or 2.
        lengths, angles: of ℓ₁ and l₂; angles in degrees.
        v_angles: of the rows of V, which have length 1.
        imaginary: in the mode "complex", the length of the imaginary part of v.
        sequence, step: which sequence, and how far it has gone.
    """

    mode: str
    d_out: int
    lengths: tuple[float, float]
    angles: tuple[float, float]
    v_angles: tuple[float, float]
    imaginary: float
    sequence: str
    step: int


def study_products(request: ProductsRequest) -> ProductsStudy:
    """The table, and everything that is true of its function."""
    if request.mode == "complex":
        return _complex_study(request)
    if request.mode == "sequence":
        return _sequence_study(request)
    columns = [length * _unit(angle) for length, angle in zip(request.lengths, request.angles, strict=True)]
    A, V = np.column_stack(columns), np.array([_unit(angle) for angle in request.v_angles[: request.d_out]])
    return _real_study(request, Pair(A, V), Pair(A, V))


def _unit(degrees: float) -> np.ndarray:
    return np.array([cos(radians(degrees)), sin(radians(degrees))])


def _real_study(request: ProductsRequest, shown: Pair, judged: Pair, **more: object) -> ProductsStudy:
    """The table of one layer; kind and ranks are those of `judged`."""
    cells = forms_table(*shown)
    return ProductsStudy(
        mode=request.mode,
        columns=tuple(map(tuple, shown.A.T.tolist())),
        rows=tuple(map(tuple, shown.V.tolist())),
        cells=cells,
        kind=_KINDS[fiber_case(Reals(), judged)],
        rank_a=int(np.linalg.matrix_rank(judged.A, tol=1e-9)),
        rank_v=int(np.linalg.matrix_rank(judged.V, tol=1e-9)),
        resultants=tuple(float(resultant(*row)) for row in cells),
        distance=0.0,
        imaginary=0.0,
        **{"limit": None} | more,
    )


def _complex_study(request: ProductsRequest) -> ProductsStudy:
    real = request.v_angles[0]
    k, h = np.array(request.lengths), np.ones(request.d_out)

    def v_at(imaginary: float) -> np.ndarray:
        return _unit(real) + 1j * imaginary * _unit(real + 90)

    if not request.imaginary or not k.any():
        v = _unit(real)
        pair = Pair(np.outer(v, k), np.outer(h, v))
        path = _distances(v_at, k, h)
        return _real_study(request, pair, pair, path=path)
    v = v_at(request.imaginary)
    cells = conjugate_table(v, k, h)
    path = _distances(v_at, k, h)
    return ProductsStudy(
        mode="complex",
        columns=tuple(tuple(complex(c) for c in kj * v) for kj in k),
        rows=tuple(tuple(complex(c) for c in hm * v.conj()) for hm in h),
        cells=cells,
        limit=None,
        kind=CLOSURE,
        rank_a=1,
        rank_v=1,
        resultants=tuple(float(resultant(*row)) for row in cells),
        distance=None if path is None else float(nearest_layer(*cells[0]).distance),
        imaginary=request.imaginary,
        factors=request.lengths,
        path=path,
    )


def _distances(v_at, k: np.ndarray, h: np.ndarray) -> ConjugatePath | None:
    """How far from the nearest layer each imaginary part leads; known for d′ = 1."""
    if len(h) > 1:
        return None
    rows = [conjugate_table(v_at(t), k, h)[0] for t in _PATH]
    pair = np.moveaxis(np.array(rows), 0, -1)  # (2, 3, places)
    return ConjugatePath(_PATH, tuple(np.round(nearest_layer(*pair).distance, 12).tolist()))


def _sequence_study(request: ProductsRequest) -> ProductsStudy:
    sequence = follow_sequence(request.sequence, request.d_out, _STEPS)
    return _real_study(
        request,
        sequence.layers[request.step],
        sequence.limit,
        limit=forms_table(*sequence.limit),
        sequence=sequence,
        step=request.step,
    )


class ProductsExplorer(Panel):
    """The table of products ℓ_k · v_m of a layer with d = 2, its closure, and sequences that stay inside.

    Controls: mode (layer, complex, sequence), l1_angle, l2_angle, v_angle, imaginary, n (how far a
    sequence has gone); under "More": d_out (d′), l1_length, l2_length, v2_angle, sequence. See `Panel`
    for what all panels share.

    >>> panel = ProductsExplorer(state="mode=complex;imaginary=0.5")
    >>> "no layer" in panel.description
    True
    """

    title = "A layer as a table of products"

    def _make_controls(self) -> tuple[dict[str, widgets.Widget], dict[str, widgets.Widget]]:
        def angle(label: str, value: int) -> widgets.IntSlider:
            return widgets.IntSlider(value=value, min=0, max=180, step=5, description=label)

        def length(label: str, value: float) -> widgets.FloatSlider:
            return widgets.FloatSlider(value=value, min=-2, max=2, step=0.1, description=label)

        first = {
            "mode": widgets.Dropdown(options=_MODES, description="show"),
            "l1_angle": angle("angle of ℓ₁", 20),
            "l2_angle": angle("angle of ℓ₂", 110),
            "v_angle": angle("angle of v", 65),
            "imaginary": widgets.FloatSlider(
                value=0.4, min=0, max=1, step=0.02, description="imaginary part"
            ),
            "n": widgets.IntSlider(value=6, min=0, max=len(_STEPS) - 1, description="along n"),
        }
        more = {
            "sequence": widgets.Dropdown(options=list(SEQUENCES), description="sequence"),
            "d_out": widgets.IntSlider(value=1, min=1, max=2, description="output width d′"),
            "l1_length": length("length of ℓ₁", 1.0),
            "l2_length": length("length of ℓ₂", 0.8),
            "v2_angle": angle("angle of v₂", 150),
        }
        first["n"].readout = False  # the slider counts steps; n itself stands above the table
        return first, more

    def _arrange(self) -> None:
        mode = self.controls["mode"].value
        for name in ("l1_angle", "l2_angle"):
            self.controls[name].disabled = mode != "layer"
        for name in ("l1_length", "l2_length", "v_angle"):
            self.controls[name].disabled = mode == "sequence"
        self.controls["v2_angle"].disabled = mode != "layer" or self.controls["d_out"].value == 1
        self.controls["imaginary"].disabled = mode != "complex"
        for name in ("n", "sequence"):
            self.controls[name].disabled = mode != "sequence"

    def _read(self) -> ProductsRequest:
        value = {name: control.value for name, control in self.controls.items()}
        return ProductsRequest(
            mode=value["mode"],
            d_out=value["d_out"],
            # Sliders of such steps stop beside 0 and 1.
            lengths=(round(value["l1_length"], 6), round(value["l2_length"], 6)),
            angles=(value["l1_angle"], value["l2_angle"]),
            v_angles=(value["v_angle"], value["v2_angle"]),
            imaginary=round(value["imaginary"], 6),
            sequence=value["sequence"],
            step=value["n"],
        )

    _answer = staticmethod(study_products)

    draw = staticmethod(products_parts)

    def _badge(self, answer: ProductsStudy) -> str:
        source = {"layer": "Prop. A.5", "complex": "Cor. A.6", "sequence": "Thm. 3.4"}[answer.mode]
        return theme.badge("proved", source)

    def _describe(self, answer: ProductsStudy) -> str:
        if answer.mode == "sequence":
            return _sequence_words(answer)
        if answer.mode == "complex":
            return _complex_words(answer)
        said = {
            "smooth": "All products of a row share the root of its v, all of a column that of its ℓ: that "
            "makes the table a layer.",
            "crossing": "A = u kᵀ and V = h vᵀ: every cell is a multiple of u v. Either factor may be that "
            "of the values, so two sets of weights have this table, and two branches cross.",
            "boundary": "Keys and values use the same form: every cell is a multiple of its square. Beside "
            "this function lie some that are no layers.",
        }[answer.kind]
        if not any(any(q) for row in answer.cells for q in row):
            said = "Every product is 0, and so is the function: a layer, with A = 0 and any V."
        return (
            f"A table of {2 * len(answer.rows)} products ℓ v, rank A = {answer.rank_a}, rank V = "
            f"{answer.rank_v}. {said}"
        )


def _complex_words(study: ProductsStudy) -> str:
    start = (
        f"A = v kᵀ, V = h (v*)ᵀ, v* conjugate to v, imaginary part {study.imaginary:g}: every cell is c·|v|²"
    )
    if study.kind != CLOSURE:
        return f"{start}. At 0 this is v², a boundary point; make v complex to leave the layers."
    away = "" if study.distance is None else f", at distance {study.distance:.2g} from the nearest"
    return (
        f"{start}, a form without real roots. So this is no layer{away}; but the resultants are 0: the point "
        "has left the set of layers and stays in its Zariski closure."
    )


def _sequence_words(study: ProductsStudy) -> str:
    sequence, i = study.sequence, study.step
    return (
        f"n = {sequence.steps[i]}: |A| = {sequence.sizes_a[i]:.3g}, |V| = {sequence.sizes_v[i]:.3g}, and the "
        f"function is {sequence.distances[i]:.2g} from its limit, a layer ({LIMIT_WORDS[sequence.kind]}). "
        "Why no sequence leaves: |A| |V| ≤ √2 |φ|, so where functions converge only a rescaling can run off; "
        "undo it, and the weights have a limit too."
    )
