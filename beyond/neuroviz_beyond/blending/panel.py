"""Something to move: a token that comes back at three places, and heads that blend."""

from neuroviz.attention.expected import alpha
from neuroviz.attention.formulas import Hypothesis
from neuroviz.kit.badges import badge
from neuroviz.kit.controls import show
from neuroviz.kit.panel import Panel
from neuroviz.kit.words import counted, grouped, in_two_lines, signed
from neuroviz_beyond.blending.blending_facts import blending_picture
from neuroviz_beyond.blending.special_layer import tokens_of
from neuroviz_beyond.blending.study import (
    BlendingSetting,
    HeadsStudy,
    TokenStudy,
    study_blending,
)
from neuroviz_beyond.reasons import Reasons, repeated
from neuroviz_beyond.transformers.hypotheses import hypotheses_of
from neuroviz_beyond.transformers.reasons import line
from neuroviz_beyond.transformers.transformer import Transformer

_OF_THE_TOKEN = ("angle", "slant")
_HALFWAY = 45  # degrees
_OF_THE_HEADS = ("turn", "width", "head_dim", "heads", "shared", "follow", "seed")


class BlendingExplorer(Panel):
    """Turn a token, or two heads, round a circle, and see where the layer notices.

    View "token": f⁰(ω x₁, x₂) beside f⁰(x₁, x₂), the special layer of Theorem N. View
    "heads": A′ = g A and V′ = V g⁻¹, as in Theorem M, with the ranks of A₁′ and A₂′.

    Controls: see `BlendingSetting`; those of a view are shown with it.

    >>> panel = BlendingExplorer(state="angle=120")
    >>> "the same output" in panel.description
    True
    >>> panel.state = "view=heads;head_dim=2;turn=30"
    >>> "rank goes up to 3" in panel.description
    True
    """

    title = "What a lightning layer does not notice"
    setting = BlendingSetting
    draw = staticmethod(blending_picture)
    _answer = staticmethod(study_blending)

    def _arrange(self) -> None:
        is_token = self.controls["view"].value == "token"
        for name in (*_OF_THE_TOKEN, *_OF_THE_HEADS):
            belongs = (name in _OF_THE_TOKEN) == is_token
            self.controls[name].disabled = not belongs
            if self._may_hide:
                show(self.controls[name], belongs)

    def _badge(self, answer: TokenStudy | HeadsStudy) -> str:
        if isinstance(answer, TokenStudy):
            return _token_badge(answer)
        return _heads_badges(answer)

    def _describe(self, answer: TokenStudy | HeadsStudy) -> str:
        if isinstance(answer, TokenStudy):
            return _say_token(answer)
        return in_two_lines([_say_turn(answer), _say_ranks(answer), _say_count(answer)])


# One token


def _token_badge(study: TokenStudy) -> str:
    s = study.setting
    orthogonal = Hypothesis(f"x₁ᵀPx₂ = 0; here it is {signed(s.slant)}", s.slant == 0)
    # P is the identity here.
    m = [sum(x * x for x in token) for token in tokens_of(s.exact_slant)]
    lengths = Hypothesis(
        f"m₁, m₂ ≠ 0 for m = xᵀPx; here {m[0]} and {float(m[1]):g}", all(m)
    )
    if s.slant == 0:
        says = (
            "Theorem N, step (a): column 1 is ω³ m₁x₁ and column 2 is m₂x₂, with "
            "m = xᵀPx. So f⁰(ωx₁, x₂) = f⁰(x₁, x₂) exactly where ω³ = 1."
        )
        reasons = Reasons(says, "Theorem N", (orthogonal, lengths))
        claim = badge("proved here", "Theorem N, step (a)", reasons)
    else:
        says = (
            "Step (a) of Theorem N is about orthogonal tokens. For others ω x₁ᵀPx₂ x₂ "
            "is added to column 1 and ω² x₁ᵀPx₂ x₁ to column 2."
        )
        reasons = Reasons(says, "Theorem N", (orthogonal, lengths))
        claim = badge("outside hypotheses", "Theorem N needs x₁ᵀPx₂ = 0", reasons)
    angles = ", ".join(f"{angle}°" for angle in study.returns)
    places = len(study.returns)
    said = Reasons(
        "f⁰ at ω = 1 and at both other cube roots of 1, computed with numbers a + bω, "
        "ω² = −1 − ω, without rounding. No other ω comes back: x₁ and x₂ are "
        "independent, and column 1 has the part ω³x₁.",
        "Theorem N",
        facts=(f"equal at {angles}",),
        code=repeated(study_blending, s, ".returns"),
    )
    found = counted(places, "place")
    return claim + badge("exact", found, said)


def _say_token(study: TokenStudy) -> str:
    s = study.setting
    if s.slant == 0:
        how = (
            f"Column 1 is multiplied by ω³, which has turned by 3 · {s.angle}° = "
            f"{3 * s.angle}°; column 2 by 1."
        )
    else:
        how = (
            f"x₁ᵀPx₂ = {signed(s.slant)}: column 1 is ω³x₁ + ω x₁ᵀPx₂ x₂, and column 2 "
            "moves as well. Only ω = 1 is left."
        )
    if study.is_same:
        roots = {0: "1", 120: "a cube root of 1", 240: "a cube root of 1"}
        which = roots[s.angle % 360]
        return f"{how} ω is {which}: the same output, exactly."
    return f"{how} The output is {study.distance:.2f} away from that at ω = 1."


# Two heads


def _heads_badges(study: HeadsStudy) -> str:
    count, s = study.count, study.setting
    d, a, H = s.width, s.head_dim, s.heads
    network = Transformer((d, d), (a,), heads=H)
    most = min(d, 2 * a)
    generic = f"heads as almost all have them: halfway between two the rank is {most}"
    hypotheses = (
        *hypotheses_of("Theorem M", network),
        Hypothesis(generic, min(study.all_ranks[_HALFWAY]) == most),
    )
    conditions = f"(d − a)₊² = {count.conditions}"
    if count.formula is None:
        says = "Theorem M has no formula for more heads than the width."
        reasons = Reasons(says, "Theorem M", hypotheses)
        claim = badge("outside hypotheses", "Theorem M", reasons)
    else:
        says = (
            f"Theorem M: g has H·max(1, H − (d − a)₊²) = {H}·max(1, {H} − "
            f"{count.conditions}) = {count.formula} directions that keep all ranks."
        )
        said = f"Theorem M: {count.formula}"
        status = "proved here"
        if not hypotheses[-1].holds:
            says += " It says so of almost all weights; these are special."
            said += " at almost all weights"
            status = "outside hypotheses"
        reasons = Reasons(says, "Theorem M", hypotheses, (conditions,))
        claim = badge(status, said, reasons)
    measured = Reasons(
        f"Of the directions of all A and V, {count.measured} are silent at random "
        "weights: their number less the rank of weights ↦ function, without rounding.",
        "exact rank",
        facts=(f"modulo the prime {grouped(count.prime)}",),
        code=f"{H * (alpha(a, d) + d**2)} - {line(network, 'nv.measure_dimension')}",
    )
    ranks = f"ranks {study.ranks[0]} and {study.ranks[1]}"
    said = Reasons(
        f"A₁′ has rank {study.ranks[0]} and A₂′ rank {study.ranks[1]} at {s.turn}°, by "
        "elimination with whole numbers.",
        "Theorem M",
        facts=(f"a = {a} asks for ranks up to {min(a, d)}",),
        code=repeated(study_blending, s, ".ranks"),
    )
    return (
        claim
        + badge("exact", f"kernel {count.measured}", measured)
        + badge("exact", ranks, said)
    )


def _say_turn(study: HeadsStudy) -> str:
    s = study.setting
    if not s.follow:
        moves = "here the outputs are the same" if study.is_same else "the outputs move"
        return f"A′ = gA without V′ = Vg⁻¹: {moves}."
    return "A′ = gA and V′ = Vg⁻¹: the outputs stand still for every g."


def _say_ranks(study: HeadsStudy) -> str:
    s = study.setting
    a, d = s.head_dim, s.width
    if a >= d:
        return f"a = {a} asks nothing of a {d} × {d} matrix: all turns are allowed."
    if s.shared:
        return (
            "With the same queries U₁ᵀA₂W₁ = 0, and every A₁′ has rank "
            f"{study.ranks[0]}: these special weights blend."
        )
    if study.is_inside:
        return f"Here both ranks are {max(study.ranks)}, as a = {a} asks."
    return f"But the rank goes up to {max(study.ranks)} > a = {a}: not of this family."


def _say_count(study: HeadsStudy) -> str:
    count, s = study.count, study.setting
    found = f"{s.heads} heads at almost all weights: {count.measured} silent directions"
    if count.formula is None:
        return f"{found}, measured; H > d has no formula."
    of_them = count.formula - s.heads
    blends = f"{of_them} of them blend" if of_them else "one rescaling for each"
    return f"{found}, {blends}."
