"""How many random numbers can a network learn by heart: as many as it has parameters,
or dimensions?

A network is asked for N numbers, one random functional of its output at each of N
random inputs:

    f: weights → R^N,   f_i(θ) = ⟨C_i, φ_θ(X_i)⟩

Its derivative has rank min(N, D) at generic weights, for D the dimension
("Memorisation"). So for N > D the numbers that can be reached have measure 0, and for N
≤ D they contain an open set, which need not be all. What an optimiser makes of that is
an experiment: `python -m neuroviz_beyond.memorisation.memorisation` writes
memorisation.json again (minutes); with --quick it takes three networks and writes
nothing.
"""

import json
import sys
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np

from neuroviz.attention import Architecture
from neuroviz.attention.conditioned import conditioned_tokens, conditioned_weights
from neuroviz.attention.formulas import Hypothesis
from neuroviz.kit import theme
from neuroviz.kit.badges import badge
from neuroviz.kit.measured import measure_dimension
from neuroviz.kit.panel import Panel
from neuroviz.kit.plot import BOTTOM, LEFT, Parts, Plot, compose, kind_dash, kind_mark
from neuroviz.kit.settings import choice
from neuroviz.rank.field import Reals
from neuroviz.rank.point import Point, derivative, outputs
from neuroviz.rank.weights import flatten, unflatten
from neuroviz_beyond.reasons import Reasons, repeated

# In order: f(θ) plus a small step, started at θ; Gaussian numbers; outputs of another
# network.
TARGETS = {
    "nearby": "a small change",
    "random": "random numbers",
    "teacher": "another’s outputs",
}
_SHAPES = {
    "lightning": [
        ((4, 4), (1,)),
        ((4, 4), (4,)),
        ((3, 3), (8,)),
        ((3, 3, 3), (2, 2)),
        ((3, 3, 3), (1, 2)),
        ((5, 2, 5), (2, 2)),
        ((2, 6, 2), (2, 2)),
        ((2, 2, 2, 2), (2, 2, 2)),
    ],
    "softmax": [
        ((4, 4), (1,)),
        ((3, 3), (8,)),
        ((3, 3, 3), (2, 2)),
        ((4, 2, 4), (2, 2)),
        ((2, 6, 2), (2, 2)),
        ((2, 2, 2, 2), (2, 2, 2)),
    ],
}
CASES = tuple(
    Architecture(*shape, attention=kind)
    for kind, shapes in _SHAPES.items()
    for shape in shapes
)
"""Their order by parameters (24 to 57) is not that by dimensions (10 to 34)."""
LEARNT = 1e-6  # a task is learnt when the relative error is below this
STEPS = 400
"""Most steps of a run."""
DRAWS = 8
"""Tasks for each N."""
STARTS = 3
"""Most starts for each task."""
STORED = Path(__file__).with_name("memorisation.json")
_SOLVED = 1e-9  # a run with a smaller error ends
_PATIENCE = 40  # so many steps have to win a hundredth, or the run ends
_NEARBY = 1e-6  # length of a small change, relative to the numbers

Weights = dict[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Task:
    """Numbers that a network is asked for.

    Attributes:
        arch: the network.
        X: inputs, shape (N, d₀, t).
        C: a functional of the output for each, shape (N, 1, d_l, t).
        y: the numbers, shape (N,).
        scale: what a miss is measured by: ‖y‖, or the step of a small change.
    """

    arch: Architecture
    X: np.ndarray
    C: np.ndarray
    y: np.ndarray
    scale: float

    def rest(self, weights: Weights) -> np.ndarray:
        """f(θ) − y."""
        return values(self.arch, weights, self.X, self.C) - self.y

    def jacobian(self, weights: Weights) -> np.ndarray:
        """The derivative of f at these weights, shape (N, parameters)."""
        here = Point(self.arch, Reals(), weights, {})
        return derivative(here, self.X, cotangents=self.C)[:, 0]


def values(
    arch: Architecture, weights: Weights, X: np.ndarray, C: np.ndarray
) -> np.ndarray:
    """f(θ): one functional of the output for each input, shape (N,)."""
    return (outputs(arch, Reals(), weights, X) * C[:, 0]).sum(axis=(1, 2))


def draw_task(
    arch: Architecture, targets: str, count: int, draw: int, start: int = 0
) -> tuple[Task, Weights]:
    """N = `count` numbers to learn, and weights to start from; entries of f and the
    numbers have size 1."""
    rng = np.random.default_rng([0, list(TARGETS).index(targets), count, draw])
    X = conditioned_tokens(arch.widths[0], arch.tokens, count, rng)
    C = rng.standard_normal((count, 1, arch.widths[-1], arch.tokens))
    teacher = conditioned_weights(arch.layers, arch.attention, rng)
    # A deep lightning network makes some inputs very large and others very small: each
    # functional is divided by the size of its output, so that all equations count.
    sizes = np.linalg.norm(outputs(arch, Reals(), teacher, X), axis=(1, 2))
    C = C / sizes[:, None, None, None]
    teacher = _scaled(arch, teacher, X, C)
    step = rng.standard_normal(count)
    y = values(arch, teacher, X, C)
    if targets == "nearby":
        length = _NEARBY * float(np.linalg.norm(y))
        moved = y + length * step / np.linalg.norm(step)
        return Task(arch, X, C, moved, scale=length), teacher
    if targets == "random":
        y = step
    # The start has random numbers of its own, so all starts of a task share the task.
    rng = np.random.default_rng([0, count, draw, start, 1])
    weights = conditioned_weights(arch.layers, arch.attention, rng)
    task = Task(arch, X, C, y, scale=float(np.linalg.norm(y)))
    return task, _scaled(arch, weights, X, C)


def _scaled(
    arch: Architecture, weights: Weights, X: np.ndarray, C: np.ndarray
) -> Weights:
    """The network with V_l divided so that f(θ) has root mean square 1."""
    size = np.sqrt(np.mean(values(arch, weights, X, C) ** 2))
    last = f"{arch.num_layers}.V"
    return {**weights, last: weights[last] / size}


def learn(task: Task, weights: Weights, steps: int = STEPS) -> tuple[float, ...]:
    """The misfit ‖f(θ) − y‖ / scale, at the start and after each Levenberg–Marquardt
    step.

    The step is −Jᵀ(JJᵀ + μ)⁻¹(f − y) with the exact derivative: nowhere along silent
    directions. μ falls after a good step and grows after a bad one, which is taken back
    (Nielsen's rule). A run ends at 10⁻⁹, or when 40 steps have won less than 1 %.

    >>> misses = learn(*draw_task(Architecture((2, 2), (1,)), "nearby", 5, draw=0))
    >>> misses[-1] < LEARNT, len(misses) < 20
    (True, True)
    """
    net = task.arch
    here = flatten(net, weights)
    rest = task.rest(weights)
    J = task.jacobian(weights)
    mu = 1e-3 * float((J * J).sum()) / len(J)  # of the mean of the diagonal of JJᵀ
    growth = 2.0
    misses = [float(np.linalg.norm(rest)) / task.scale]
    while len(misses) <= steps and misses[-1] > _SOLVED and np.isfinite(mu):
        if len(misses) > _PATIENCE and misses[-1] > 0.99 * misses[-1 - _PATIENCE]:
            break
        # = −(JᵀJ + μ)⁻¹Jᵀ(f − y), by a matrix of size N instead of P
        step = -J.T @ np.linalg.solve(J @ J.T + mu * np.eye(len(J)), rest)
        with np.errstate(over="ignore", invalid="ignore"):
            after = task.rest(unflatten(net, here + step))
            won = rest @ rest - after @ after
            # ‖f − y‖² less ‖f − y + J step‖², what the linear model leaves of it
            promised = step @ (mu * step - J.T @ rest)
        if np.isfinite(won) and won > 0:
            here = here + step
            rest = after
            J = task.jacobian(unflatten(net, here))
            mu *= max(1 / 3, 1 - (2 * won / promised - 1) ** 3)
            growth = 2.0
        else:
            mu *= growth
            growth *= 2
        misses.append(float(np.linalg.norm(rest)) / task.scale)
    return tuple(misses)


@dataclass(frozen=True)
class Curve:
    """A network of dimension D, a kind of targets, and N → for each task what each
    start misses."""

    arch: Architecture
    targets: str
    dimension: int
    misses: dict[int, list[list[float]]]

    @cached_property
    def shares(self) -> dict[int, float]:
        """N → the share of tasks that some start learnt."""
        return {
            N: float(np.mean([min(task) < LEARNT for task in m]))
            for N, m in self.misses.items()
        }

    @property
    def capacity(self) -> int | None:
        """The largest N of which at least half of the tasks was learnt; None if there
        is none."""
        return max(
            (N for N, share in self.shares.items() if share >= 0.5), default=None
        )

    @property
    def beyond(self) -> int:
        """How many tasks with N > D were learnt."""
        tasks = [
            task
            for N, tasks in self.misses.items()
            if N > self.dimension
            for task in tasks
        ]
        return sum(min(task) < LEARNT for task in tasks)


def counts_for(dimension: int) -> list[int]:
    """The N that are tried: from 0.6 D to 1.2 D, and all of D − 1, D, D + 1."""
    far = {round(share * dimension) for share in (0.6, 0.7, 0.8, 0.9, 1.1, 1.2)}
    return sorted(far | {dimension - 1, dimension, dimension + 1})


def try_numbers(
    arch: Architecture, targets: str, count: int, draws: int = DRAWS
) -> list[list[float]]:
    """`draws` tasks of N = `count` numbers, each from several starts until one
    succeeds: what is missing."""
    starts = 1 if targets == "nearby" else STARTS  # nearby tasks start at θ only
    tasks: list[list[float]] = []
    for draw in range(draws):
        misses: list[float] = []
        for start in range(starts):
            task, weights = draw_task(arch, targets, count, draw, start)
            misses.append(learn(task, weights)[-1])
            if misses[-1] < LEARNT:
                break
        tasks.append(misses)
    return [[float(f"{miss:.1e}") for miss in misses] for misses in tasks]


@cache
def stored_curves() -> tuple[Curve, ...]:
    """The result that comes with the package."""
    rows = json.loads(STORED.read_text(encoding="utf-8"))["curves"]
    found = []
    for row in rows:
        arch = Architecture(
            row["widths"], row["head_dims"], row["tokens"], attention=row["attention"]
        )
        found.append(Curve(arch, row["targets"], row["dimension"], dict(row["trials"])))
    return tuple(found)


@dataclass(frozen=True)
class MemorisationSetting:
    """What is to be learnt, and what the number N of numbers is divided by."""

    targets: str = choice(
        "to be learnt", [(words, key) for key, words in TARGETS.items()]
    )
    over: str = choice("N over", [("the dimension D", "D"), ("the parameters P", "P")])


@dataclass(frozen=True, eq=False)
class MemorisationStudy:
    """What the experiment found for one kind of targets: a curve for each network."""

    setting: MemorisationSetting
    curves: tuple[Curve, ...]

    def per(self, curve: Curve) -> int:
        """D or P of a network."""
        return (
            curve.dimension if self.setting.over == "D" else curve.arch.num_parameters
        )

    @property
    def span(self) -> str:
        """The smallest and the largest capacity of a network over D or P, in words."""
        found = [
            (curve.capacity or min(curve.misses)) / self.per(curve)
            for curve in self.curves
        ]
        less = " or less" * any(curve.capacity is None for curve in self.curves)
        low = min(found)
        high = max(found)
        return "all at 1" if low == high == 1 else f"from {low:.2g}{less} to {high:.2g}"


def study_memorisation(setting: MemorisationSetting) -> MemorisationStudy:
    """The curves of the experiment."""
    return MemorisationStudy(
        setting, tuple(c for c in stored_curves() if c.targets == setting.targets)
    )


def memorisation_parts(study: MemorisationStudy) -> Parts:
    """The share of tasks that were learnt, over N/D or N/P."""
    over = study.setting.over
    plot = Plot("", (0.0, 1.0), (0.0, 1.0))
    for attention, role in (("lightning", "ink"), ("softmax", "soft")):
        x = []
        y = []
        said = []
        for curve in (one for one in study.curves if one.arch.attention == attention):
            name = (
                f"{curve.arch}, D = {curve.dimension}, P = {curve.arch.num_parameters}"
            )
            x += [*(N / study.per(curve) for N in curve.shares), None]
            y += [*curve.shares.values(), None]
            said += [*(f"{name}, N = {N}" for N in curve.shares), ""]
        color = theme.color(role)
        size = theme.size("marker") - 2
        marker = {"symbol": kind_mark(attention), "size": size, "color": color}
        line = {"color": color, "width": 1.3, "dash": kind_dash(attention)}
        look = {
            "mode": "lines+markers",
            "line": line,
            "text": said,
            "cliponaxis": False,
        }
        plot.points(attention, x, y, marker, **look, hover="%{text}: %{y:.0%} learnt")
    title = {"D": "N / dimension D", "P": "N / parameters P"}[over]
    plot.axis("x", 0.56 if over == "D" else 0.05, 1.24, title)
    plot.axis(
        "y",
        -0.04,
        1.12,
        "tasks learnt",
        tickvals=[0, 0.5, 1],
        ticktext=["0", "½", "all"],
    )
    limit = theme.color("certified" if over == "D" else "ghost")
    plot.line(f"N = {over}", [1, 1], [-0.04, 1.12], limit, 1.6, "dot")
    found = "none learnt beyond N = D"
    if any(curve.beyond for curve in study.curves):
        found = "D is no limit where a solution exists"
    elif study.span == "all at 1":
        found = f"all {len(study.curves)} stop at N = D"
    plot.headline(found if over == "D" else f"half is learnt up to N/P {study.span}")
    plot.corner(["●── lightning   ■– – softmax", f"dotted: N = {over}"], LEFT, BOTTOM)
    return compose(plot.view())


class MemorisationExplorer(Panel):
    """Fourteen networks, asked for N numbers beforehand: did they learn as many as P,
    or as D?

    Controls: see `MemorisationSetting`.

    >>> panel = MemorisationExplorer(state="over=D")
    >>> panel.description.split(":")[0]
    'In 14 networks the largest N of which half is learnt, over D'
    """

    title = "What does the dimension buy?"
    setting = MemorisationSetting
    draw = staticmethod(memorisation_parts)
    _answer = staticmethod(study_memorisation)

    def _badge(self, answer: MemorisationStudy) -> str:
        exact = badge("exact", f"{len(CASES)} dimensions D", _of_the_dimensions(answer))
        return exact + badge("float", "what is learnt", _of_what_is_learnt(answer))

    def _describe(self, answer: MemorisationStudy) -> str:
        beyond = sum(curve.beyond for curve in answer.curves) or "none"
        said = (
            f"In {len(answer.curves)} networks the largest N of which half is learnt,"
            " over "
        )
        said += (
            f"{answer.setting.over}: {answer.span}. Tasks learnt beyond D: {beyond}. "
        )
        if answer.setting.targets == "teacher":
            return (
                said
                + "These numbers come from another network of the shape: this is no"
                " memorising."
            )
        return said + "Beyond D almost all choices of the numbers are out of reach."


def _of_the_dimensions(study: MemorisationStudy) -> Reasons:
    sizes = [curve.dimension for curve in study.curves]
    arch = study.curves[0].arch
    return Reasons(
        "The rank of the derivative weights ↦ function at a random point, computed "
        f"without rounding: {min(sizes)} to {max(sizes)} in {len(sizes)} networks.",
        "exact rank",
        facts=(f"the first network is {arch}: {sizes[0]}",),
        code=f"nv.measure_dimension(nv.{arch!r}).value",
    )


def _of_what_is_learnt(study: MemorisationStudy) -> Reasons:
    """The theorem about N random numbers, and what runs have found of it."""
    targets = study.setting.targets
    tasks = sum(len(tasks) for curve in study.curves for tasks in curve.misses.values())
    beyond = sum(curve.beyond for curve in study.curves)
    return Reasons(
        "N equations at generic inputs have rank min(N, D) at almost all weights: "
        "numbers near the present ones can be learnt for N ≤ D, and for N > D the "
        "numbers within reach have measure 0.",
        "Memorisation",
        (Hypothesis("numbers near the present ones", targets == "nearby"),),
        (
            f"{tasks} tasks, {beyond} learnt beyond D",
            f"learnt: a relative error below {LEARNT:g}, by a damped Newton method in "
            f"floating point with up to {STARTS} starts",
            "a run that fails proves nothing",
        ),
        repeated(study_memorisation, study.setting, ".span"),
    )


def main(quick: bool) -> None:
    """Run the experiment, say what is found, and write it down."""
    draws = 3 if quick else DRAWS
    rows = []
    for targets in TARGETS:
        for arch in CASES[:3] if quick else CASES:
            row = {
                "widths": arch.widths,
                "head_dims": arch.head_dims,
                "tokens": arch.tokens,
            }
            D = measure_dimension(arch).value
            row |= {"attention": arch.attention, "targets": targets, "dimension": D}
            row["trials"] = [
                [N, try_numbers(arch, targets, N, draws)] for N in counts_for(D)
            ]
            shares = Curve(arch, targets, D, dict(row["trials"])).shares.items()
            print(
                f"{targets} {arch}, D = {D}: ",
                *(f"{N}: {share:.0%}" for N, share in shares),
                flush=True,
            )
            rows.append(json.dumps(row))
    if not quick:
        settings = {"seed": 0, "draws": draws, "starts": STARTS}
        curves = ",\n".join(rows)
        settings |= {"steps": STEPS, "learnt": LEARNT}
        STORED.write_text(
            f'{{"settings": {json.dumps(settings)},\n"curves": [\n{curves}\n]}}\n',
            "utf-8",
        )


if __name__ == "__main__":
    main(quick="--quick" in sys.argv[1:])
