"""Weights move, virtual weights do not: a change of basis between two layers (Eq. 9)."""

from dataclasses import dataclass

import numpy as np

from neuroviz.engine.architecture import Architecture
from neuroviz.kit import theme
from neuroviz.kit.matrices import Row, Tile, largest_entry, matrices_view
from neuroviz.kit.plot import Parts, View, compose, headline, label, outside_words
from neuroviz.kit.words import colored, numbered, percent, tiny

SAME = 1e-9
"""What rounding may leave, relative to a matrix: what has moved by less is the same."""
MAX_LAYERS = 4


@dataclass(frozen=True, eq=False)
class Moved:
    """A matrix before and after.

    Attributes:
        name: such as "V₁".
        start, now: of one shape.
    """

    name: str
    start: np.ndarray
    now: np.ndarray

    @property
    def change(self) -> float:
        """How far it has moved: ‖now − start‖ over the larger of the two norms; 0 for zeros."""
        size = max(float(np.linalg.norm(self.start)), float(np.linalg.norm(self.now)))
        return float(np.linalg.norm(self.now - self.start)) / size if size else 0.0

    @property
    def is_same(self) -> bool:
        """Whether no more than rounding has moved it."""
        return self.change <= SAME


@dataclass(frozen=True, eq=False)
class InterfaceStudy:
    """Everything that the figure of one change of basis shows.

    Attributes:
        arch: of both networks.
        interface: i, from 1 to l − 1: the place between the layers i and i + 1.
        C: the change of basis there, δ × δ.
        weights: V_i, Q_{i+1}, K_{i+1}, V_{i+1}: all that it moves.
        virtual: L, M_1, …, M_l.
        outputs: φ(X) for one X.
        rank: of U_i = V_i ⋯ V_1 at the start; Lemma 3.5 is about rank δ.
        covered: whether the hypotheses of Lemma 3.5 hold.
        recovered: C_1, …, C_{l−1} as found from the two networks alone, or None.
        refusal: why none were found, "" if they were.
        misfit: where none were found: what the best C_1, …, C_{l−1} leave of Eq. 9, relative.
        free: how far the next layer was moved where U_i cannot reach.
        alone: by which part of itself the first row of V_i was moved, with nothing to undo it.
    """

    arch: Architecture
    interface: int
    C: np.ndarray
    weights: tuple[Moved, ...]
    virtual: tuple[Moved, ...]
    outputs: Moved
    rank: int
    covered: bool
    recovered: tuple[np.ndarray, ...] | None
    refusal: str
    misfit: float
    free: float
    alone: float

    @property
    def moved(self) -> tuple[Moved, ...]:
        """What should have stood still and has not."""
        return tuple(part for part in (*self.virtual, self.outputs) if not part.is_same)

    @property
    def off(self) -> float:
        """By how much the entries of the recovered matrices differ from the applied ones, at most."""
        applied = [
            self.C if i == self.interface else np.eye(len(C)) for i, C in enumerate(self.recovered, start=1)
        ]
        return max(float(np.abs(a - b).max()) for a, b in zip(applied, self.recovered, strict=True))


_BARS = (0.0, 0.23)
_COLUMNS = 4 + 1 + 1 + MAX_LAYERS + 1 + 1 + 1  # weights, a gap, L, the M, outputs, a gap, C
_FIRST_STILL = 5  # the column of L
_BAR = 0.026  # width of a bar, as a part of the figure's


def interface_parts(study: InterfaceStudy) -> Parts:
    """Matrices and their moves."""
    table = _table(study)
    return compose(table, _bars(study, table))


def _table(study: InterfaceStudy) -> View:
    i, still = study.interface, (*study.virtual, study.outputs)
    gap = Tile("", np.zeros((0, 0)), 1.0)
    spare = [gap] * (_COLUMNS - 7 - len(still))
    # Fixed by the start, so that the upper row keeps its colours while the lower one moves.
    limits = [1.6 * largest_entry(part.start) for part in study.weights]
    limits[1] = limits[2] = max(limits[1:3])
    became = _became(study)
    limit_C = largest_entry(study.C)
    C = numbered("C", i)

    def verdict(part: Moved) -> str:
        return colored("certified", "<b>same</b>") if part.is_same else outside_words("<b>moved</b>")

    def frame(part: Moved) -> str:
        return "certified" if part.is_same else "outside"

    upper = [
        *(
            Tile(f"{part.name}, start", part.start, limit, f"<b>{part.name}</b>")
            for part, limit in zip(study.weights, limits, strict=True)
        ),
        gap,
        *(
            Tile(
                f"{part.name}, start",
                part.start,
                largest_entry(part.start),
                f"<b>{part.name}</b>",
                frame=frame(part),
            )
            for part in still
        ),
        gap,
        Tile(f"{C}, applied", study.C, limit_C, f"<b>{C}</b>"),
        *spare,
    ]
    if study.recovered is None:
        found = Tile("", np.zeros((0, len(study.C))), 1.0, outside_words("<b>?</b>"))
    else:
        near = study.off <= SAME * limit_C
        found = Tile(
            f"{C}, recovered",
            study.recovered[i - 1],
            limit_C,
            "recovered",
            frame="certified" if near else "outside",
        )
    lower = [
        *(
            Tile(f"{part.name}, now", part.now, limit, text)
            for part, limit, text in zip(study.weights, limits, became, strict=True)
        ),
        gap,
        *(
            Tile(f"{part.name}, now", part.now, largest_entry(part.start), verdict(part), frame=frame(part))
            for part in still
        ),
        gap,
        found,
        *spare,
    ]
    rows = [
        Row("○<br>start", tuple(upper)),
        Row(colored("focus", "<b>●<br>now</b>"), tuple(lower)),
    ]
    # Between table and bars stand a finding, and below it what stands over the highest bar.
    margin = theme.margin()
    between = _over_bars() + 1.4 * theme.size("title")
    bottom = _BARS[1] + between / (theme.size("height") - margin["t"] - margin["b"])
    view = matrices_view(rows, (0.0, 1.0), (bottom, 1.0))
    title = headline(_what_moves(study)) | {"xref": "paper", "yref": "paper"}
    return view._replace(annotations=[*view.annotations, title])


def _became(study: InterfaceStudy) -> tuple[str, ...]:
    """What stands over the moved weights; short, because these texts keep the columns apart."""
    i, prime = study.interface, "′" if study.free else ""
    first = f"{'D' if study.alone else ''}C{numbered('V', i)}"
    return first, *(f"{numbered(letter, i + 1)}{prime}C⁻¹" for letter in "QKV")


def _what_moves(study: InterfaceStudy) -> str:
    if study.moved:
        names = [part.name for part in study.moved]
        return outside_words(f"{_and(names)} MOVED: {numbered('V', study.interface)} alone is no symmetry")
    moving = [part.name for part in study.weights if not part.is_same]
    if not moving:
        return "nothing has moved yet"
    verb = "moves" if len(moving) == 1 else "move"
    return f"{_and(moving)} {verb}; L, every M and the outputs stand still"


def _and(names: list[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def _bars(study: InterfaceStudy, table: View) -> View:
    """How far each matrix of the table has moved: under it, on the same x axis."""
    still = (*study.virtual, study.outputs)
    parts = [*enumerate(study.weights), *enumerate(still, start=_FIRST_STILL)]
    centres = [(edges[0] + edges[-1]) / 2 for edges in (table.traces[j]["x"] for j, _ in parts)]
    changes = [part.change for _, part in parts]
    is_weight = [j < _FIRST_STILL for j, _ in parts]
    roles = [
        "focus" if weight else "certified" if part.is_same else "outside"
        for weight, (_, part) in zip(is_weight, parts, strict=True)
    ]
    hatched = ["/" if role == "outside" else "" for role in roles]
    top = max(*changes, 1.0)
    bars = {
        "type": "bar",
        "name": "how far each matrix has moved",
        "xaxis": "x",
        "yaxis": "y2",
        "x": centres,
        "y": changes,
        "width": _BAR * table.axes["xaxis"]["range"][1],
        "customdata": [part.name for _, part in parts],
        "marker": {
            "color": [theme.color(role) for role in roles],
            "pattern": {
                "shape": hatched,
                "bgcolor": [theme.color("ground" if shape else "focus") for shape in hatched],
                "fgcolor": [theme.color(role) for role in roles],
                "size": 7,
            },
        },
        "cliponaxis": False,
        "hovertemplate": "%{customdata}: moved by %{y:.2%} (%{y:.1e})<extra></extra>",
    }
    texts = [
        _over_bar(part, weight, x, role)
        for x, role, weight, (_, part) in zip(centres, roles, is_weight, parts, strict=True)
    ]
    texts += [_text_at("", 0, 0, "ink")] * (4 + 2 + MAX_LAYERS - len(texts))
    heading = label(
        "moved<br>by",
        0,
        0.5,
        xanchor="left",
        align="left",
        yref="y2 domain",
        font={"size": theme.size("base")},
    )
    finding = headline(_what_is_recovered(study)) | {
        "xref": "paper",
        "yref": "y2 domain",
        "yshift": _over_bars(),
    }
    base = {
        "type": "line",
        "xref": "x",
        "yref": "y2",
        "x0": table.traces[0]["x"][0],
        "x1": centres[-1] + 1,
        "y0": 0,
        "y1": 0,
        "line": {"color": theme.color("axis"), "width": 1.4},
    }
    axes = {
        "yaxis2": {
            "domain": _BARS,
            "range": [0, 1.02 * top],
            "anchor": "x",
            "visible": False,
            "fixedrange": True,
        }
    }
    return View([bars], axes, [*texts, heading, finding], [base])


def _over_bars() -> float:
    """How much room the number over a bar takes, in pixels."""
    return 1.6 * theme.size("base")


def _over_bar(part: Moved, is_weight: bool, x: float, role: str) -> dict:
    text = "0" if part.is_same else percent(part.change)
    quiet = is_weight and part.is_same
    return _text_at(f"<b>{text}</b>", x, part.change, "soft" if quiet else role)


def _text_at(text: str, x: float, y: float, role: str) -> dict:
    font = {"size": theme.size("base"), "color": theme.color(role)}
    return label(text, x, y, yref="y2", yanchor="bottom", yshift=2, font=font)


def _what_is_recovered(study: InterfaceStudy) -> str:
    C = numbered("C", study.interface)
    if study.recovered is not None:
        how = f", off by {tiny(study.off)}" if study.off else " exactly"
        return f"the two networks determine {C}: recovered{how}"
    if study.moved:
        return outside_words("no C to recover: these are two functions")
    delta = len(study.C)
    lost = f"{_up_to(study.interface)} has rank {study.rank} of {delta}"
    if study.misfit > SAME:
        return outside_words(f"same L and M, and no C connects them: {lost}")
    return outside_words(f"L and M do not determine {C}: {lost}")


def _up_to(i: int) -> str:
    """U_i, written out."""
    return "V₁" if i == 1 else f"{numbered('V', i)}{'⋯' if i > 2 else ''}V₁"
