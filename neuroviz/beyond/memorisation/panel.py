"""What the dimension buys: how many numbers a network can learn by heart."""

from dataclasses import dataclass

from neuroviz.beyond.memorisation.memorisation import CASES, Curve, stored_curves
from neuroviz.kit import theme
from neuroviz.kit.badges import exact_badge
from neuroviz.kit.panel import Panel
from neuroviz.kit.plot import BOTTOM, LEFT, Parts, Plot, compose, kind_dash, kind_mark
from neuroviz.kit.settings import choice

_TARGETS = [("a small change", "nearby"), ("random numbers", "random"), ("another’s outputs", "teacher")]


@dataclass(frozen=True)
class MemorisationSetting:
    """What is to be learnt, and what the number N of numbers is divided by."""

    targets: str = choice("to be learnt", _TARGETS)
    over: str = choice("N over", [("the dimension D", "D"), ("the parameters P", "P")])


@dataclass(frozen=True, eq=False)
class MemorisationStudy:
    """What the experiment found for one kind of targets: a curve for each network."""

    setting: MemorisationSetting
    curves: tuple[Curve, ...]

    def per(self, curve: Curve) -> int:
        """D or P of a network."""
        return curve.dimension if self.setting.over == "D" else curve.arch.num_parameters

    @property
    def span(self) -> str:
        """The smallest and the largest capacity of a network over D or P, in words."""
        found = [(curve.capacity or min(curve.misses)) / self.per(curve) for curve in self.curves]
        less = " or less" * any(curve.capacity is None for curve in self.curves)
        low, high = min(found), max(found)
        return "all at 1" if low == high == 1 else f"from {low:.2g}{less} to {high:.2g}"


def study_memorisation(setting: MemorisationSetting) -> MemorisationStudy:
    """The curves of the experiment."""
    return MemorisationStudy(setting, tuple(c for c in stored_curves() if c.targets == setting.targets))


def memorisation_parts(study: MemorisationStudy) -> Parts:
    """The share of tasks that were learnt, over N/D or N/P."""
    over, plot = study.setting.over, Plot("", (0.0, 1.0), (0.0, 1.0))
    for attention, role in (("lightning", "ink"), ("softmax", "soft")):
        x, y, said = [], [], []
        for curve in (one for one in study.curves if one.arch.attention == attention):
            name = f"{curve.arch}, D = {curve.dimension}, P = {curve.arch.num_parameters}"
            x += [*(N / study.per(curve) for N in curve.shares), None]
            y += [*curve.shares.values(), None]
            said += [*(f"{name}, N = {N}" for N in curve.shares), ""]
        color, size = theme.color(role), theme.size("marker") - 2
        marker = {"symbol": kind_mark(attention), "size": size, "color": color}
        line = {"color": color, "width": 1.3, "dash": kind_dash(attention)}
        look = {"mode": "lines+markers", "line": line, "text": said, "cliponaxis": False}
        plot.points(attention, x, y, marker, **look, hover="%{text}: %{y:.0%} learnt")
    title = {"D": "N / dimension D", "P": "N / parameters P"}[over]
    plot.axis("x", 0.56 if over == "D" else 0.05, 1.24, title)
    plot.axis("y", -0.04, 1.12, "tasks learnt", tickvals=[0, 0.5, 1], ticktext=["0", "½", "all"])
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
    """Fourteen networks, asked for N numbers beforehand: did they learn as many as P, or as D?

    Controls: see `MemorisationSetting`.

    >>> panel = MemorisationExplorer(state="over=D")
    >>> panel.description.split(":")[0]
    'In 14 networks the largest N of which half is learnt, over D'
    """

    title = "What does the dimension buy?"
    setting, draw = MemorisationSetting, staticmethod(memorisation_parts)
    _answer = staticmethod(study_memorisation)

    def _badge(self, answer: MemorisationStudy) -> str:
        exact = exact_badge(f"{len(CASES)} dimensions D")
        return exact + theme.badge("float", "what is learnt")

    def _describe(self, answer: MemorisationStudy) -> str:
        beyond = sum(curve.beyond for curve in answer.curves) or "none"
        said = f"In {len(answer.curves)} networks the largest N of which half is learnt, over "
        said += f"{answer.setting.over}: {answer.span}. Tasks learnt beyond D: {beyond}. "
        if answer.setting.targets == "teacher":
            return said + "These numbers come from another network of the shape: this is no memorising."
        return said + "Beyond D almost all choices of the numbers are out of reach."
