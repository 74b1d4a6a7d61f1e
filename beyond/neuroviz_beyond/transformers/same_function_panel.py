"""Two transformers that compute the same: weights move, outputs stand still; or the
poles that prove it."""

import numpy as np

from neuroviz.attention.formulas import Hypothesis
from neuroviz.kit import theme
from neuroviz.kit.badges import badge
from neuroviz.kit.matrices import Row, Tile, largest_entry, matrices_view
from neuroviz.kit.panel import Panel
from neuroviz.kit.plot import Parts, Plot, View, compose, headline, label
from neuroviz.kit.words import colored, in_two_lines, numbered, percent, signed
from neuroviz_beyond.reasons import Reasons, repeated
from neuroviz_beyond.transformers.same_function import (
    HEADS,
    LAYERS,
    TwinSetting,
    TwinStudy,
    poles,
    study_twins,
)

# half width and height of the part of the complex plane that is shown
_WIDE = 1.7
_HIGH = 12.6
_PLACES = ((0.02, 0.47), (0.54, 0.99))
_SHAPES = ("circle", "square")  # marks of the two heads
_NEAR = 0.25  # labels nearer than this become one text


def twin_parts(study: TwinStudy) -> Parts:
    """The picture that was asked for."""
    if study.setting.view == "poles":
        return compose(*(_plane(study, layer).view() for layer in range(LAYERS)))
    return compose(_matrices(study))


def outcome(study: TwinStudy) -> str:
    """What is seen, in a line."""
    if not study.same_outputs:
        return f"the outputs differ by {percent(study.moved)}"
    still = all(map(np.array_equal, sum(study.first, ()), sum(study.second, ())))
    return "nothing has moved yet" if still else "other weights, the same outputs"


def _matrices(study: TwinStudy) -> View:
    """A row for each network: A (with c) and V of each head, ω of each layer, and the
    outputs."""
    biases = study.setting.biases
    same = study.same_outputs
    A_most, V_most, _, omega_most = (
        1.3 * largest_entry(*parts) for parts in zip(*study.first, strict=True)
    )
    outputs = 1.2 * largest_entry(study.outputs[0])
    frame = "certified" if same else ""
    rows = []
    networks = (
        ("○ first", "first", study.first),
        (colored("focus", "● second\u2002"), "second", study.second),
    )
    for place, (heading, which, network) in enumerate(networks):
        is_first = place == 0  # names stand over the first row
        tiles = []
        for i, layer in enumerate(network, start=1):
            for h in range(HEADS):
                A = np.column_stack([layer.A[h], layer.c[h]]) if biases else layer.A[h]
                of_A = f"<b>{numbered('A', h + 1)}</b>" if is_first else ""
                of_V = f"<b>{numbered('V', h + 1)}</b>" if is_first else ""
                if is_first and biases:
                    of_A = f"{of_A}, c"
                where = f"of the {which}, layer {i}, head {h + 1}"
                tiles.append(Tile(f"A {where}", A, A_most, of_A))
                tiles.append(Tile(f"V {where}", layer.V[h], V_most, of_V))
            of_omega = "ω" if is_first else ""
            tiles.append(
                Tile("ω", layer.omega[:, None], omega_most, of_omega)
                if biases
                else None
            )
        # A space below: room for the lines between the rows, and for the names of the
        # layers.
        said = (
            f"φ(X) of the {which}",
            study.outputs[place],
            outputs,
            "<b>φ(X)</b>" if is_first else "",
            " ",
            frame,
        )
        rows.append(Row(heading, (*tiles, Tile(*said))))
    view = matrices_view(rows, (0.0, 1.0), (0.0, 0.95))
    notes = [
        headline(outcome(study)),
        *view.annotations,
        *_layer_names(view),
        _verdict(study, view),
    ]
    return view._replace(
        annotations=notes, shapes=[*view.shapes, *_threads(study, view)]
    )


def _verdict(study: TwinStudy, view: View) -> dict:
    """Between the two outputs, whether they are the same."""
    # The outputs are the last trace of each row.
    above, below = (
        view.traces[place * (len(view.traces) // 2) - 1] for place in (1, 2)
    )
    text = (
        colored("certified", "<b>= same</b>")
        if study.same_outputs
        else colored("focus", "<b>≠</b>")
    )
    x = (above["x"][0] + above["x"][-1]) / 2
    y = (above["y"][-1] + below["y"][0]) / 2
    return label(text, x, y, font={"size": theme.size("base")})


def _span(
    view: View, place: int, layer: int, head: int
) -> tuple[float, float, float, float]:
    """Left, right, top and bottom of a head's two matrices in the table."""
    in_a_row = len(view.traces) // 2  # traces of one row: the layers, and the outputs
    # The one trace of the outputs is what the division by LAYERS drops.
    at = place * in_a_row + layer * (in_a_row // LAYERS) + 2 * head
    A = view.traces[at]
    V = view.traces[at + 1]
    return A["x"][0], V["x"][-1], A["y"][0], A["y"][-1]


def _threads(study: TwinStudy, view: View) -> list[dict]:
    """A line from each head to where it is in the second network."""
    shapes = []
    for i, order in enumerate(study.places):
        for h in range(HEADS):
            left, right, _, bottom = _span(view, 0, i, h)
            to_left, to_right, top, _ = _span(view, 1, i, order[h])
            role, width = ("focus", 1.6) if order[h] != h else ("ghost", 0.8)
            line = {"color": theme.color(role), "width": theme.size("line") * width}
            ends = {
                "x0": (left + right) / 2,
                "x1": (to_left + to_right) / 2,
                "y0": bottom + 0.15,
            }
            where = {"xref": "x", "yref": "y", "y1": top - 0.15, "layer": "below"}
            shapes.append({"type": "line", **where, **ends, "line": line})
    return shapes


def _layer_names(view: View) -> list[dict]:
    """Below the second row."""
    notes = []
    font = {"size": theme.size("base"), "color": theme.color("soft")}
    for i in range(LAYERS):
        (left, _, _, bottom), (_, right, _, _) = (
            _span(view, 1, i, 0),
            _span(view, 1, i, HEADS - 1),
        )
        place = {"yanchor": "top", "yshift": -6, "font": font}
        notes.append(label(f"layer {i + 1}", (left + right) / 2, bottom, **place))
    return notes


def _plane(study: TwinStudy, layer: int) -> Plot:
    """The z-plane, x₁ = x₂ + z w, with the poles of the second output column; the other
    layers are frozen."""
    plot = Plot("2" if layer else "", _PLACES[layer], (0.04, 0.86))
    size = theme.size("marker")
    third = study.setting.third
    order = study.places[layer]
    partners = study.partners[layer]
    shared = {partner[0] for partner in partners if partner}
    plot.rule("x", 0.0, "axis", 1.0, "solid", layer="below")
    plot.rule("y", 0.0, "axis", 1.0, "solid", layer="below")
    for network in (0, 1):
        ends, alone = [], []  # logits without a partner
        for h in range(HEADS):
            rate = study.rates[network, layer, h]
            z = poles(rate, third, _HIGH)
            logit = numbered("q", h + 1) + "′" * network
            if network == 0:
                look = {
                    "color": theme.color("ink"),
                    "size": 1.8 * size,
                    "line": {"width": 2},
                }
                shape = _SHAPES[h] + "-open"
            else:  # the mark follows the head
                alone += [logit] * (h not in shared)
                look = {
                    "color": theme.color("certified" if h in shared else "focus"),
                    "size": 0.9 * size,
                }
                shape = _SHAPES[order.index(h)]
            hover = f"pole of {logit}: z = %{{x:.2f}} + %{{y:.2f}} i"
            plot.points(
                logit,
                z.real.tolist(),
                z.imag.tolist(),
                look | {"symbol": shape},
                hover=hover,
            )
            ends.append((float(np.log1p(third) / rate), logit))
        at, anchor = ((_HIGH, "bottom"), (-_HIGH, "top"))[network]
        for x, words in _gathered(ends):
            role = "focus" if any(logit in words for logit in alone) else "ink"
            plot.text(words, x, at, "base", role, yanchor=anchor)
    plot.text(
        "Re z →", _WIDE, 0, "note", "soft", xanchor="right", yanchor="bottom", yshift=2
    )
    plot.text("Im z ↑", -_WIDE, _HIGH, "note", "soft", xanchor="left", yanchor="top")
    where = ("layer 1", "layer 2, layer 1 frozen")[layer]
    said = f"{where}: {matches(partners)}"
    plot.headline(said, before=where, yshift=1.9 * theme.size("base"))
    plot.bare_axis("x", -_WIDE, _WIDE)
    plot.bare_axis("y", -_HIGH, _HIGH)
    return plot


def _gathered(ends: list[tuple[float, str]]) -> list[tuple[float, str]]:
    """Labels that would stand on each other, in one text."""
    (x, one), (y, two) = sorted(ends)
    if abs(x - y) < _NEAR:
        return [((x + y) / 2, f"{min(one, two)}, {max(one, two)}"), (0.0, "")]
    return [(x, one), (y, two)]


def matches(partners: tuple[tuple[int, int] | None, ...]) -> str:
    """Which logit is which.

    >>> matches(((1, 1), (0, -1)))
    'q₁ = q₂′, q₂ = −q₁′'
    """
    found = [(h, *partner) for h, partner in enumerate(partners, start=1) if partner]
    said = [
        f"{numbered('q', h)} = {'−' if sign < 0 else ''}{numbered('q', k + 1)}′"
        for h, k, sign in found
    ]
    return ", ".join(said) or "no pole is shared"


class SameFunctionExplorer(Panel):
    """Shuffle heads, change a basis, shift tokens, and see outputs stand still; or see
    the poles of both.

    Controls: see `TwinSetting`.

    >>> panel = SameFunctionExplorer()
    >>> "the same outputs" in panel.description
    True
    >>> panel.state = "signs=yes;third=0"
    >>> panel._shown.same_outputs, panel._shown.partners[0]
    (True, ((1, -1), (0, -1)))
    """

    title = "Which transformers compute the same?"
    setting = TwinSetting
    draw = staticmethod(twin_parts)
    walks = ("basis", "shift", "third")
    _answer = staticmethod(study_twins)

    def _arrange(self) -> None:
        controls = self.controls
        controls["skip"].disabled = controls["signs"].value
        controls["skip"].description = (
            "skip" if not controls["signs"].value else "skip: needed"
        )
        controls["basis"].disabled = controls["skip"].value or controls["signs"].value
        controls["shift"].disabled = not controls["biases"].value

    def _badge(self, answer: TwinStudy) -> str:
        if answer.failing:
            return badge("outside hypotheses", "Theorem H", _reasons(answer))
        if _has_part_of_a_token(answer):
            return badge("float", "part of a token", _reasons(answer))
        return badge("proved here", "Theorem H", _reasons(answer))

    def _describe(self, answer: TwinStudy) -> str:
        where, moved = _where(answer)
        said = [
            where,
            moved,
            "" if answer.setting.view == "poles" else _what_is_found(answer),
        ]
        if answer.failing:
            said.append(f"Theorem H says nothing: {answer.failing[0]}.")
        if answer.setting.view == "poles":
            one, two = map(matches, answer.partners)
            said.append(f"Poles of layer 1: {one}; of layer 2: {two}.")
        return in_two_lines(said, spare=[moved, where])


def _has_part_of_a_token(study: TwinStudy) -> bool:
    """A token of weight ½ is none of the theorem's, where it matters how many there
    are."""
    return study.setting.signs and study.setting.third < 1


def _reasons(study: TwinStudy) -> Reasons:
    """Theorem H on these two networks, and its conditions on the first one."""
    s = study.setting
    says = "shuffles, a basis and shifts lead from the first network to the second"
    if isinstance(study.found, str):
        says = "no shuffle, basis and shift lead from the first network to the second"
    if study.failing:
        says += ". The theorem says nothing of these weights"
    elif _has_part_of_a_token(study):
        says += f". It is about whole tokens, and the third counts {s.third:g}"
    elif isinstance(study.found, str):
        says += ", so their functions differ"
    else:
        says += ", so their functions are the same; no others are"
    apart = f"{study.moved:.2g}"
    if study.same_outputs:
        apart = "none, as far as floats tell"
    return Reasons(
        f"Theorem H: {says}.",
        "Theorem H",
        _conditions(study),
        (
            f"difference of the outputs on 64 random inputs, relative: {apart}",
            "our proof, not peer-reviewed; it uses Ax's theorem",
        ),
        repeated(study_twins, s, ".failing"),
    )


def _conditions(study: TwinStudy) -> tuple[Hypothesis, ...]:
    """The conditions of Theorem H, each with what violates it here."""
    s = study.setting
    asked = {
        "Condition 1": "the symmetric parts of the A of a layer are independent",
        "Condition 2": "no V is 0, and every Σ V, with a skip I + Σ V, is invertible",
    }
    if s.has_skip:
        asked["Condition 3"] = "no layer hides a combination of the A of the next one"
    if s.arch.tokens == 2:
        asked["Condition 4"] = "two tokens: no values add up to 0, or are ± one another"
    found = []
    for name, says in asked.items():
        failing = [said for said in study.failing if name in said]
        here = f"; {failing[0].partition(': ')[2]}" if failing else ""
        found.append(Hypothesis(f"{name}: {says}{here}", not failing))
    return tuple(found)


def _where(study: TwinStudy) -> tuple[str, str]:
    s = study.setting
    skip = "skip" if s.skip else "a skip, as V₁ + V₂ = 0 needs one"
    parts = ["2 softmax layers of 2 heads, d = 2"]
    if s.has_skip:
        parts.append(skip)
    if s.biases:
        parts.append("biases")
    tokens = {0.0: "two tokens", 1.0: "three tokens"}
    parts.append(tokens.get(s.third, f"two tokens and {s.third:g} of a third"))
    swapped = "both layers" if s.swapped == "both" else s.swapped
    moves = []
    if s.swapped != "none":
        moves.append(f"heads of {swapped} swapped")
    if s.basis and not s.has_skip:
        moves.append(f"basis exp({signed(s.basis)} E)")
    if s.shift and s.biases:
        moves.append(f"tokens shifted by {signed(s.shift)}")
    if s.signs:
        moves.append("−A and −V in layer 1, where V₁ + V₂ = 0")
    if s.off:
        moves.append(f"a step of {signed(s.off)} off")
    moved = f"Moved: {'; '.join(moves)}." if moves else ""
    return f"{', '.join(parts)}: {outcome(study)}.", moved


def _what_is_found(study: TwinStudy) -> str:
    """What `align` says."""
    found = study.found
    if not isinstance(found, str):
        orders = [", ".join(str(k + 1) for k in order) for order in found.heads]
        heads = "; ".join(
            f"layer {i}, heads {order}" for i, order in enumerate(orders, start=1)
        )
        return f"align finds them again: {heads}."
    return f"align refuses: {found.split(';')[0]}."
