"""From slider to figure: the dimension panel, in units of what cannot be avoided.

*Slider to figure* is the time that `panel.controls[name].value = …` takes, with all
measurements forgotten before: the panel measures exactly and in floating point, at
eight widths and input by input, and has moved its figure when the assignment returns.
The setting before differs in that one slider.

What cannot be avoided is, in the same run and on the same figure,

    SVD      numpy.linalg.svd(J, compute_uv=False) of the Jacobian whose spectrum the
             panel draws: all outputs of as many inputs as the panel takes, one column
             for each parameter, its rows and columns already scaled. Building J is not
             counted.
    update   one batch_update of the whole figure with nothing new: the x and y of each
             trace, the range of each axis, the position and text of each annotation,
             the corners of each shape.

Processor time, medians; the two sides take turns, so that a busy moment does not
decide.
"""

from statistics import median

import numpy as np
import plotly.graph_objects as go

import neuroviz as nv
from benchmarks.tables import Finding, Table
from benchmarks.timing import Effort, machine, one_thread, seconds
from neuroviz.engine import measure
from neuroviz.explorables import DimensionExplorer

GOAL, REPEATS = 5, 15
AXES = ("xaxis", "yaxis", "xaxis2", "yaxis2", "xaxis3", "yaxis3")

# The slider that is moved, from where to where, and the other controls.
MOVES = [
    ("width", 3, 4, "layers=1;kind=lightning;head_dim=2"),
    ("width", 3, 4, "layers=2;kind=lightning;head_dim=2"),
    ("width", 3, 4, "layers=2;kind=softmax;head_dim=2"),
    ("head_dim", 1, 2, "layers=3;kind=lightning;width=4"),
    ("tokens", 3, 4, "layers=3;kind=softmax;width=4;head_dim=2"),
    ("layers", 3, 4, "kind=lightning;width=3;head_dim=1"),
    ("layers", 1, 2, "kind=softmax;width=6;head_dim=3"),
    ("width", 7, 8, "layers=2;kind=lightning;head_dim=4"),
    ("width", 7, 8, "layers=2;kind=softmax;head_dim=4"),
    ("layers", 3, 4, "kind=lightning;width=4;head_dim=6"),
    ("tokens", 2, 3, "layers=4;kind=softmax;width=4;head_dim=6"),
    # The slowest for their size: no full rank on one token (a second point is
    # measured), and deep ones.
    ("tokens", 2, 1, "layers=3;kind=lightning;width=6;head_dim=3"),
    ("tokens", 2, 1, "layers=5;kind=lightning;width=2;head_dim=3"),
    ("tokens", 2, 1, "layers=8;kind=softmax;width=4;head_dim=2"),
]
HEADER = (
    "to",
    "slider",
    "parameters",
    "slider to figure, ms",
    "SVD, ms",
    "update, ms",
    "ratio",
)


def the_jacobian(arch: nv.Architecture) -> np.ndarray:
    """The matrix that the panel decomposes, scaled as it scales it: caught on its
    way."""
    caught, svd = [], np.linalg.svd

    def catch(matrix, **options):
        caught.append(matrix)
        return svd(matrix, **options)

    measure.clear_cache()
    np.linalg.svd = catch
    try:
        nv.measure_dimension(arch, method="float")
    finally:
        np.linalg.svd = svd
    (J,) = caught
    return J


def update(figure: go.FigureWidget) -> None:
    """The values of every trace, axis, annotation and shape, each set to what it is."""
    with figure.batch_update():
        for trace in figure.data:
            trace.update(x=trace.x, y=trace.y)
        for axis in AXES:
            figure.layout[axis].range = figure.layout[axis].range
        for note in figure.layout.annotations:
            note.x, note.y, note.text = note.x, note.y, note.text
        for shape in figure.layout.shapes:
            shape.x0, shape.x1, shape.y0, shape.y1 = (
                shape.x0,
                shape.x1,
                shape.y0,
                shape.y1,
            )


def times(move: tuple, repeats: int) -> tuple[nv.Architecture, list[float]]:
    """The architecture that the slider arrives at; medians of slider to figure, the
    SVD, the update.

    Raises:
        RuntimeError: if the panel did not answer at once.
    """
    name, before, after, others = move
    panel = DimensionExplorer(state=f"{others};{name}={after}")
    arch = nv.Architecture(*read_back(panel))
    J = the_jacobian(arch)
    found, figure = [], go.FigureWidget(panel.figure.figure)
    for _ in range(repeats):
        panel.controls[name].value = before
        measure.clear_cache()
        calls = (
            lambda: setattr(panel.controls[name], "value", after),
            lambda: np.linalg.svd(J, compute_uv=False),
            lambda: update(figure),
        )
        found.append([seconds(call)[0] for call in calls])
        if not panel.status.startswith("done"):
            raise RuntimeError(f"{arch} was not drawn at once: {panel.status}")
    panel.close()
    return arch, [median(column) for column in zip(*found, strict=True)]


def read_back(panel: DimensionExplorer) -> tuple:
    """What the controls ask for, all widths equal: widths, head dims, tokens, kind."""
    value = {name: control.value for name, control in panel.controls.items()}
    layers = value["layers"]
    return (
        (value["width"],) * (layers + 1),
        (value["head_dim"],) * layers,
        value["tokens"],
        value["kind"],
    )


def run(effort: Effort) -> list[Table]:
    rows = []
    with one_thread():
        # once, untimed: imports, and what the libraries build on their first call
        times(MOVES[0], 2)
        for move in MOVES[1:4] if effort.quick else MOVES:
            arch, taken = times(move, 5 if effort.quick else REPEATS)
            slider, svd, in_place = taken
            name, before, after, _ = move
            milliseconds = (1e3 * time for time in taken)
            ratio = slider / (svd + in_place)
            rows.append(
                (
                    str(arch),
                    f"{name} {before} → {after}",
                    arch.num_parameters,
                    *milliseconds,
                    ratio,
                )
            )
    worst = max(row[-1] for row in rows)
    rows.append(("worst", *(None,) * 5, worst))
    finding = Finding(
        "the dimension panel, against one SVD and one update of its figure",
        f"at most {worst:.2f} × as long",
        f"≤ {GOAL} ×",
        worst <= GOAL,
    )
    forms = ("", "", "", ".1f", ".1f", ".1f", ".2f")
    return [Table("panel", HEADER, forms, tuple(rows), machine(), (finding,))]
