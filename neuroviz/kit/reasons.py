"""What a badge answers when it is pressed: what it rests on, for the setting in
hand."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha1
from html import escape
from typing import ClassVar

from neuroviz.attention import Architecture
from neuroviz.attention.expected import Expected
from neuroviz.attention.formulas import (
    Hypothesis,
    effective_widths,
    paper_hypotheses,
    symmetric_after,
)
from neuroviz.attention.in_numbers import (
    alphas_in_numbers,
    general_formula_in_numbers,
    paper_formula_in_numbers,
)
from neuroviz.attention.sizes import in_short
from neuroviz.kit.words import at_most, grouped
from neuroviz.rank.results import ExactMeasurement

_PAPER = "docs/mathematics"
PAGES = {
    "Lemma 3.1": (
        f"{_PAPER}/one_lightning_layer.md",
        "Lemma 3.1. Factorising the attention matrix",
    ),
    "Thm. 3.2": (
        f"{_PAPER}/one_lightning_layer.md",
        "Theorem 3.2. The fibre of one lightning layer",
    ),
    "Cor. 3.3": (
        f"{_PAPER}/one_lightning_layer.md",
        "Corollary 3.3. Dimension of one lightning layer (Eq. 7)",
    ),
    "Thm. 3.4": (
        f"{_PAPER}/singular_points.md",
        "Theorem 3.4. Singular and boundary points of one layer",
    ),
    "Prop. A.5": (
        f"{_PAPER}/singular_points.md",
        "Proposition A.5. A layer as a table of products",
    ),
    "Cor. A.6": (
        f"{_PAPER}/singular_points.md",
        "Corollary A.6. What the Zariski closure adds",
    ),
    "Nearest layer": (f"{_PAPER}/nearest_layer.md", "The nearest layer"),
    "Eq. 9": (f"{_PAPER}/deep_networks.md", "Eq. 9. Change of basis between layers"),
    "Lemma 3.5": (
        f"{_PAPER}/deep_networks.md",
        "Lemma 3.5. Only these changes of basis",
    ),
    "Thm. 3.7": (
        f"{_PAPER}/deep_networks.md",
        "Theorem 3.7. Fibres of deep lightning networks",
    ),
    "Eq. 13": (
        f"{_PAPER}/deep_networks.md",
        "Eq. 13. Rescaling the virtual weights",
    ),
    "Cor. 3.8": (
        f"{_PAPER}/deep_networks.md",
        "Corollary 3.8. Dimension of a lightning bottleneck (Eq. 14)",
    ),
    "One token": (f"{_PAPER}/general_formula.md", "One token"),
    "Thm. 3.9": (f"{_PAPER}/softmax.md", "Theorem 3.9. One softmax layer"),
    "Eq. 16": (
        f"{_PAPER}/softmax.md",
        "Conjecture 3.10. Normalised attention (Eq. 16)",
    ),
    "Theorem A": (
        f"{_PAPER}/softmax.md",
        "Theorem A. Softmax: the parametrisation is an immersion",
    ),
    "Theorem A′": ("beyond/docs/causal_softmax.md", "Theorem A′. Causal softmax"),
    "Theorem B": (
        "beyond/docs/softmax_uniqueness.md",
        "Theorem B. Softmax: the function determines the virtual weights",
    ),
    "Lemma G": (f"{_PAPER}/softmax.md", "Lemma G. All exponentials are free"),
    "Corollary A": (
        f"{_PAPER}/softmax.md",
        "Corollary A. Dimension of softmax networks",
    ),
    "Theorem C": (
        "beyond/docs/lightning_dimension.md",
        "Theorem C. The dimension of any lightning network",
    ),
    "exact rank": (f"{_PAPER}/exact_rank.md", "Exact rank"),
}
"""Source of a badge → the page that has it, and the heading there."""

LONGEST_LINE = 200  # of Python that is shown


@dataclass(frozen=True)
class Reasons:
    """What a badge rests on.

    Another package knows more pages: its own kind of reasons has a larger `pages`.

    Attributes:
        says: the statement, with the reader's numbers in it.
        source: a name of `pages`.
        hypotheses: each with whether it holds.
        facts: what else there is to know, a line each.
        code: a line of Python that repeats it; empty if there is none.
    """

    pages: ClassVar[Mapping[str, tuple[str, str]]] = PAGES

    says: str
    source: str = ""
    hypotheses: tuple[Hypothesis, ...] = ()
    facts: tuple[str, ...] = ()
    code: str = ""

    def as_html(self) -> tuple[str, str]:
        """The name of what the badge opens, and that as HTML."""
        parts = [f"<p>{escape(self.says)}</p>"]
        if self.hypotheses:
            parts.append(_listed(map(_in_words, self.hypotheses)))
        if self.facts:
            parts.append(_listed(self.facts))
        if self.code:
            parts.append(f"<pre>{escape(self.code)}</pre>")
        if self.source:
            page, heading = self.pages[self.source]
            words = escape(heading)
            where = f'data-page="{page}" data-heading="{words}"'
            parts.append(f'<a class="nv-page" {where}>{words}</a>')
        inside = "".join(parts)
        # The badge opens it by this name; equal ones of a page may share it.
        name = f"nv-why-{sha1(inside.encode()).hexdigest()[:10]}"
        return name, (
            f'<div popover id="{name}" class="nv-why" role="dialog" '
            f'aria-label="What this rests on">{inside}</div>'
        )


def _listed(lines: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"


def _in_words(asked: Hypothesis) -> str:
    return f"{'✓' if asked.holds else '✗'} {asked.says}"


def of_a_measurement(
    found: ExactMeasurement, net: object = None, code: str = ""
) -> Reasons:
    """Prime, columns, and the chance of an error.

    Args:
        code: what repeats it, where `net` is no network of the paper.

    >>> from neuroviz.kit.measured import measure_dimension
    >>> net = Architecture((3, 3), (2,))
    >>> print(*of_a_measurement(measure_dimension(net), net).facts, sep="; ")
    16 columns, across the orbits of the symmetries; modulo the prime 8 388 593;
    certain: the rank is full, and no larger one is possible
    """
    columns = f"{grouped(found.num_columns)} columns"
    if found.route == "slice":
        facts = [f"{columns}, across the orbits of the symmetries"]
    else:
        facts = [f"{columns}, one for each parameter"]
    facts.append(f"modulo the prime {grouped(found.prime)}")
    if found.error_bound:
        facts.append(
            "that a random point hid something has a chance of at most"
            f" {at_most(found.error_bound)}"
        )
    elif found.value == found.num_columns:
        facts.append("certain: the rank is full, and no larger one is possible")
    else:
        facts.append("certain: the symmetries prove the same upper bound")
    return Reasons(
        says="The rank of the derivative weights ↦ function at a random point, "
        f"computed without rounding: {found.value}.",
        source="exact rank",
        facts=tuple(facts),
        code=code or ("" if net is None else _line(net, "measure_dimension")),
    )


def of_a_formula(expected: Expected, arch: object) -> Reasons | None:
    """The formula with the network's numbers, and its hypotheses; None for networks
    beyond the paper.

    >>> arch = Architecture((4, 3, 5), (2, 2))
    >>> of_a_formula(Expected(36, "proved", "Cor. 3.8", ""), arch).says
    'Cor. 3.8: dim = 3·(4 + 5 − 3) + 12 + 8 − 2 = 36'
    """
    if type(arch) is not Architecture or expected.value is None:
        return None
    source = expected.source.split(",")[0]
    is_general = expected.source in ("Theorem C", "Corollary A", "One token")
    if is_general:
        says = general_formula_in_numbers(arch)
        facts = (
            _general_in_letters(arch),
            "no hypotheses: it holds for every network of this kind",
        )
        function = "general_formula"
    else:
        says = paper_formula_in_numbers(arch)
        facts = (alphas_in_numbers(arch),)
        function = "paper_formula"
    hypotheses = () if is_general else paper_hypotheses(arch)
    if expected.status == "proved here":
        facts += ("our proof, not peer-reviewed",)
    return Reasons(
        says=f"{expected.source}: dim = {says} = {expected.value}",
        source=source,
        hypotheses=hypotheses,
        facts=facts,
        code=_line(arch, function),
    )


def _general_in_letters(arch: Architecture) -> str:
    """What the sum of `general_formula_in_numbers` consists of."""
    if arch.attention == "softmax" and arch.tokens == 1:
        return "r (d₀ + d_l − r), where r is the least width"
    hides = symmetric_after(arch) is not None
    heads = "α, or σ where symmetric parts are seen" if hides else "α"
    last = " − l" if arch.attention == "lightning" else ""
    widths = in_short(effective_widths(arch))
    inner = " − Σ wᵢ²" if arch.num_layers > 1 else ""
    return (
        f"Σ wᵢ₋₁ wᵢ + Σ {heads}{inner}{last}, for the widths w = {widths} that later "
        "layers can see"
    )


def _line(net: object, function: str) -> str:
    """Python that says the number again; of a network that takes too long to write,
    nothing."""
    line = f"nv.{function}(nv.{net!r}).value"
    if type(net) is not Architecture or len(line) > LONGEST_LINE:
        return ""
    return line
