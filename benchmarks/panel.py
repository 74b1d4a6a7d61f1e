"""From slider to figure: the dimension panel, in units of what cannot be avoided.

*Slider to figure* is the time that `panel.controls[name].value = …` takes, with all measurements
forgotten before: the panel measures exactly and in floating point, at eight widths and input by input,
and has moved its figure when the assignment returns. The setting before differs in that one slider.

What cannot be avoided is, in the same run and on the same figure,

    SVD      numpy.linalg.svd(J, compute_uv=False) of the Jacobian whose spectrum the panel draws: all
             outputs of as many inputs as the panel takes, one column for each parameter, its rows and
             columns already scaled. Building J is not counted.
    update   one batch_update of the whole figure with nothing new, everything set to what it is already.

What such an update costs depends on how it is written, so there are three of them:

    in place     the x and y of each trace, the range of each axis, the position and text of each
                 annotation, the corners of each shape: what a moved slider changes, and what the goal
                 is held against
    lists anew   the same, but `layout.update(annotations=…, shapes=…)` with the whole lists, which
                 plotly then reads, checks and stores anew
    x, y only    `trace.update(x=trace.x, y=trace.y)` and no layout at all: less than any slider needs

Wall-clock medians; the two sides take turns, so that a busy moment does not decide.

    python benchmarks/panel.py [--quick] [--write]
"""

from statistics import median
from time import perf_counter

import numpy as np
from timing import arguments, machine, one_thread, table, write

import neuroviz as nv
from neuroviz import measure
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
    # The slowest for their size: no full rank on one token (a second point is measured), and deep ones.
    ("tokens", 2, 1, "layers=3;kind=lightning;width=6;head_dim=3"),
    ("tokens", 2, 1, "layers=5;kind=lightning;width=2;head_dim=3"),
    ("tokens", 2, 1, "layers=8;kind=softmax;width=4;head_dim=2"),
]


def timed(call) -> float:
    """Wall-clock time of one call in seconds."""
    start = perf_counter()
    call()
    return perf_counter() - start


def the_jacobian(arch: nv.Architecture) -> np.ndarray:
    """The matrix that the panel decomposes, scaled as it scales it: caught on its way."""
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


def update_in_place(figure) -> None:
    """The values of every trace, axis, annotation and shape, each set to what it is."""
    with figure.batch_update():
        for trace in figure.data:
            trace.update(x=trace.x, y=trace.y)
        for axis in AXES:
            figure.layout[axis].range = figure.layout[axis].range
        for note in figure.layout.annotations:
            note.x, note.y, note.text = note.x, note.y, note.text
        for shape in figure.layout.shapes:
            shape.x0, shape.x1, shape.y0, shape.y1 = shape.x0, shape.x1, shape.y0, shape.y1


def update_lists_anew(figure) -> None:
    """The same with the lists of annotations and shapes as wholes."""
    layout = figure.layout
    with figure.batch_update():
        for trace in figure.data:
            trace.update(x=trace.x, y=trace.y)
        layout.update(
            annotations=layout.annotations,
            shapes=layout.shapes,
            **{axis: {"range": layout[axis].range} for axis in AXES},
        )


def update_traces(figure) -> None:
    """The values of the traces and nothing else."""
    with figure.batch_update():
        for trace in figure.data:
            trace.update(x=trace.x, y=trace.y)


UPDATES = {"in place": update_in_place, "lists anew": update_lists_anew, "x, y only": update_traces}


def times(move: tuple, repeats: int) -> tuple[nv.Architecture, list[float]]:
    """The architecture that the slider arrives at; medians of slider to figure, the SVD, each update."""
    name, before, after, others = move
    panel = DimensionExplorer(state=f"{others};{name}={after}")
    arch = nv.Architecture(*read_back(panel))
    J = the_jacobian(arch)
    found = []
    for _ in range(repeats):
        panel.controls[name].value = before
        measure.clear_cache()
        slider = timed(lambda: setattr(panel.controls[name], "value", after))
        if not panel.status.startswith("done"):
            raise RuntimeError(f"{arch} was not drawn at once: {panel.status}")
        svd = timed(lambda: np.linalg.svd(J, compute_uv=False))
        updates = [timed(lambda update=update: update(panel.figure)) for update in UPDATES.values()]
        found.append((slider, svd, *updates))
    panel.close()
    return arch, [median(column) for column in zip(*found, strict=True)]


def read_back(panel: DimensionExplorer) -> tuple:
    """What the controls ask for, all widths equal: widths, head dims, tokens, kind."""
    value = {name: control.value for name, control in panel.controls.items()}
    layers = value["layers"]
    return (value["width"],) * (layers + 1), (value["head_dim"],) * layers, value["tokens"], value["kind"]


def main() -> None:
    options = arguments(__doc__, quick="three moves only")
    lines, worst = [], [0.0] * len(UPDATES)
    with one_thread():
        times(MOVES[0], 2)  # once, untimed: imports, and what the libraries build on their first call
        for move in MOVES[1:4] if options.quick else MOVES:
            arch, (slider, svd, *updates) = times(move, 5 if options.quick else REPEATS)
            ratios = [slider / (svd + update) for update in updates]
            worst = [max(pair) for pair in zip(worst, ratios, strict=True)]
            name, before, after, _ = move
            lines.append([str(arch), f"{name} {before} → {after}", str(arch.num_parameters)])
            lines[-1] += [f"{1e3 * value:.1f}" for value in (slider, svd, *updates)]
            lines[-1] += [f"{ratio:.1f}" for ratio in ratios]
            print(*lines[-1], sep="  ", flush=True)
    lines.append(["worst"] + [""] * (len(UPDATES) + 4) + [f"{ratio:.1f}" for ratio in worst])
    header = ["to", "slider", "parameters", "slider to figure, ms", "SVD, ms"]
    header += [f"update {how}, ms" for how in UPDATES] + [f"ratio {how}" for how in UPDATES]
    text = table(header, lines)
    text += f"\n\nGoal: a ratio of at most {GOAL} for each, updates in place. {machine()}"
    print(f"\n{text}")
    if options.write:
        write("panel", text)


if __name__ == "__main__":
    main()
