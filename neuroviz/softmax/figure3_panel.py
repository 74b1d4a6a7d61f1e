"""Figure 3 of the paper, reproduced: any layers, tokens, heads and widths, and a file
to take home."""

from dataclasses import replace

import ipywidgets as widgets

from neuroviz.kit.badges import badge, exact_badge
from neuroviz.kit.export import Export
from neuroviz.kit.panel import Panel
from neuroviz.kit.reasons import Reasons, of_a_formula
from neuroviz.kit.words import at_most, counted, tiny
from neuroviz.softmax.figure3 import (
    Figure3Point,
    Figure3Setting,
    Figure3Study,
    study_figure3,
)
from neuroviz.softmax.figure3_figure import figure3_parts


class Figure3Explorer(Panel):
    """Dimension against width, δ: by the formula, by exact ranks, in float64 and in
    float32.

    Controls: see `Figure3Setting`. The buttons CSV, SVG and PNG save what is shown. See
    `Panel` for what all panels share.

    >>> panel = Figure3Explorer()
    >>> panel.controls["lightning"].value = True
    >>> "23, 38, 55, 74, 95, 118, 143, 170" in panel.description
    True
    """

    title = "Figure 3, reproduced"
    setting = Figure3Setting
    _answer = staticmethod(study_figure3)
    draw = staticmethod(figure3_parts)

    def _extra_buttons(self) -> list[widgets.Widget]:
        self.export = Export()
        return [self.export]

    def _arrange(self) -> None:
        for name in ("inputs", "runs"):
            self.controls[name].disabled = not self.controls["peer"].value

    def _show_answer(self, answer: Figure3Study, started: float | None) -> None:
        # the buttons save the shown setting
        s = answer.setting
        least, most = s.span
        sizes = f"l{s.layers}_t{s.tokens}_a{s.head_dim}_d{least}-{most}"
        name = f"figure3_{'_'.join(s.kinds)}_{sizes}"
        self.export.offer(answer.to_csv(), name)
        super()._show_answer(answer, started)

    def _badge(self, answer: Figure3Study) -> str:
        count = len(answer.points)
        badges = [exact_badge(counted(count, "rank"), answer.points[0].exact.prime)]
        for status in dict.fromkeys(point.expected.status for point in answer.points):
            here = [point for point in answer.points if point.expected.status == status]
            names = ", ".join(dict.fromkeys(point.expected.source for point in here))
            wrong = [point for point in here if not point.on_formula]
            off = " ≠ measured" if wrong else ""
            badges.append(badge(status, f"{names}{off}", _reasons(wrong or here)))
        return "".join(badges)

    def _describe(self, answer: Figure3Study) -> str:
        setting = answer.setting
        said = [_say_exact(answer), _say_float64(answer)]
        said += [_say_float32(answer)] if setting.peer else []
        return " ".join(said)


def _reasons(points: list[Figure3Point]) -> Reasons:
    """Those of the first of these networks, and which one it is."""
    first = points[0]
    reasons = of_a_formula(first.expected, first.arch)
    which = f"shown for δ = {first.width}, the first of {len(points)}"
    return replace(reasons, facts=(*reasons.facts, which))


def _widths(points: object) -> str:
    return "δ = " + ", ".join(map(str, sorted({point.width for point in points})))


def _say_exact(study: Figure3Study) -> str:
    s = study.setting
    least, most = s.span
    ranks = "; ".join(
        f"{kind} {', '.join(str(p.exact.value) for p in study.of(kind))}"
        for kind in s.kinds
    )
    span = f"δ = {least}" + (f", …, {most}" if most > least else "")
    off = [point for point in study.points if not point.on_formula]
    verdict = (
        "all on the formula"
        if not off
        else f"they DISAGREE with the formula at {_widths(off)}"
    )
    chance = max(point.exact.error_bound for point in study.points)
    sure = (
        "each a proof at full rank"
        if chance == 0
        else f"each wrong with chance ≤ {at_most(chance)}"
    )
    layers = counted(s.layers, "layer")
    return f"{layers}, {span}, exact ranks: {ranks}; {verdict} ({sure})."


def _say_float64(study: Figure3Study) -> str:
    points = study.points
    unsure = [point for point in points if not point.floating.decided]
    right = sum(point.floating.value == point.exact.value for point in points)
    comes = "comes" if len(points) == 1 else "come"
    said = f"In float64 {right} of {len(points)} {comes} out right"
    if not unsure:
        gap = tiny(min(point.floating.gap for point in points))
        return (
            f"{said}, with"
            f" {f'gaps from {gap} on' if len(points) > 1 else f'a gap of {gap}'}."
        )
    return f"{said}; it cannot decide at {_widths(unsure)}."


def _say_float32(study: Figure3Study) -> str:
    points = study.points
    parts = []
    how = "Row-by-row float32"
    over = [point for point in points if point.float32.value is None]
    wrong = [point for point in points if point.float32_difference]
    starved = [
        point for point in wrong if point.float32.num_inputs < point.float32.enough
    ]
    low = [
        point
        for point in wrong
        if point.float32_difference < 0 and point not in starved
    ]
    if len(over) == len(points):
        return f"{how} overflows everywhere."
    if wrong:
        worst = max(wrong, key=lambda point: abs(point.float32_difference))
        instead = (
            f"as {worst.float32.value} for {worst.exact.value} at δ = {worst.width}"
        )
        parts.append(f"misses {len(wrong)} of {len(points)}, {instead}")
    if low:
        tolerance = tiny(max(point.float32.tolerance for point in low))
        parts.append(f"counts as 0 what lies below {tolerance} of the largest")
    parts += [f"has too few inputs at {_widths(starved)}"] if starved else []
    parts += [f"overflows at {_widths(over)}"] if over else []
    return f"{how} {'; it '.join(parts) or 'is right everywhere'}."
