"""What the badges of a transformer's dimension answer when they are pressed."""

from dataclasses import fields

from neuroviz.attention import Architecture
from neuroviz.attention.expected import Expected
from neuroviz.kit import reasons
from neuroviz.kit.badges import measured_badge, theory_badge
from neuroviz.kit.reasons import LONGEST_LINE
from neuroviz.kit.words import sentence
from neuroviz.rank.results import Measurement
from neuroviz_beyond.reasons import PAGES, Reasons
from neuroviz_beyond.transformers.formulas import with_full_values
from neuroviz_beyond.transformers.hypotheses import (
    hypotheses_of,
    theorem_m_of_each_layer,
)
from neuroviz_beyond.transformers.in_numbers import (
    formula_in_numbers,
    layers_in_numbers,
)
from neuroviz_beyond.transformers.transformer import Transformer, as_transformer

_OF_THE_PAPER = ("Theorem C", "Corollary A", "One token")
_OF_FULL_VALUES = ("Theorem C", "Theorem K")


def dimension_badges(
    found: Measurement, expected: Expected, net: Architecture | Transformer
) -> str:
    """What was measured, and what theory says; pressed, both say what they rest on.

    >>> from neuroviz.rank.measure import measure_dimension
    >>> from neuroviz_beyond.transformers.formulas import expected_dimension
    >>> net = Transformer((3, 3), (2,), heads=2)
    >>> found = measure_dimension(net), expected_dimension(net), net
    >>> "2·8 + 2·3·(3 + 3 − 3)" in dimension_badges(*found)
    True
    """
    code = line(net, "nv.measure_dimension")
    theory = of_a_formula(expected, net)
    return measured_badge(found, code=code) + theory_badge(
        expected, found.value, reasons=theory
    )


def of_a_formula(expected: Expected, net: Architecture | Transformer) -> Reasons:
    """The formula with the network's numbers, and its hypotheses; where there is none,
    why.

    >>> from neuroviz_beyond.transformers.formulas import expected_dimension
    >>> net = Transformer((3, 3, 3), (2, 2), attention="softmax", heads=2, skip=True)
    >>> of_a_formula(expected_dimension(net), net).says
    'Theorem E: dim = 34 + 34 = 68'
    """
    arch = as_transformer("of_a_formula", net)
    if expected.value is None:
        return Reasons(sentence(expected.note), "Not proved")
    if arch.is_plain:
        return reasons.of_a_formula(expected, arch.paper)
    if arch.tokens == 1 and expected.source in _OF_THE_PAPER:
        return _of_one_token(expected, arch)
    theorem, *others = expected.source.split(", ")
    full = with_full_values(arch)
    if theorem in _OF_FULL_VALUES and full != arch:
        return _of_full_values(expected, arch, full)
    numbers, letters = formula_in_numbers(expected, arch)
    facts = [f"dim = {letters}"]
    if theorem in ("Theorem N", "Theorem S"):
        facts.append(layers_in_numbers(arch))
    facts.append(_by_which_right(expected))
    asked = () if theorem == "Beyond the paper" else hypotheses_of(theorem, arch)
    if "Theorem M" in others:
        facts.insert(-1, "of Theorem M: p = (d − a)₊² and q = (d − v)(d′ − v)")
        asked += tuple(one for one in theorem_m_of_each_layer(arch) if one not in asked)
    return Reasons(
        says=f"{expected.source}: dim = {numbers} = {expected.value}",
        source=theorem if theorem in PAGES else "",
        hypotheses=asked,
        facts=tuple(facts),
        code=line(arch, "nb.expected_dimension"),
    )


def _of_one_token(expected: Expected, arch: Transformer) -> Reasons:
    """A mask does nothing to a single token, nor do heads where each attends to it
    alone: the formula is that of the paper's network."""
    found = reasons.of_a_formula(expected, arch.paper)
    alike = f"with one token it is what {arch.paper} has"
    code = line(arch, "nb.expected_dimension")
    return Reasons(
        found.says,
        found.source,
        found.hypotheses,
        facts=(*found.facts, alike),
        code=code,
    )


def _of_full_values(
    expected: Expected, arch: Transformer, full: Transformer
) -> Reasons:
    """Values that can be any matrices: the formula is that of the network without a
    value_dim."""
    found = of_a_formula(expected, full)
    alike = f"v ≥ min(d, d′), so the values are any matrices: it is what {full} has"
    code = line(arch, "nb.expected_dimension")
    return Reasons(
        found.says,
        found.source,
        found.hypotheses,
        facts=(*found.facts, alike),
        code=code,
    )


def _by_which_right(expected: Expected) -> str:
    if expected.status == "observed":
        return f"observed, not proved: {expected.note}"
    if expected.status == "exact":
        return f"our proof, not peer-reviewed, and a measurement: {expected.note}"
    if expected.status == "proved here":
        return "our proof, not peer-reviewed"
    return expected.note


def line(net: Architecture | Transformer, function: str) -> str:
    """Python that says the number again; of a network that takes too long to write,
    nothing.

    >>> line(Transformer((3, 3), (2,), heads=(2,)), "nv.measure_dimension")
    'nv.measure_dimension(nb.Transformer((3, 3), (2,), heads=2)).value'
    """
    found = f"{function}({in_python(net)}).value"
    return found if len(found) <= LONGEST_LINE else ""


def in_python(net: Architecture | Transformer) -> str:
    """A network as Python reads it, without what is switched off.

    >>> in_python(Transformer((3, 3), (2,)))
    "nv.Architecture(widths=(3, 3), head_dims=(2,), tokens=3, attention='lightning')"
    """
    arch = as_transformer("in_python", net)
    if arch.is_plain:
        return f"nv.{arch.paper!r}"
    said = []
    for field in fields(arch):
        value = getattr(arch, field.name)
        if field.name in ("widths", "head_dims"):
            said.append(repr(value))
        elif field.name == "heads":
            if value != (1,) * arch.num_layers:
                said.append(f"heads={value[0] if len(set(value)) == 1 else value}")
        elif field.name == "block" and not value.is_plain:
            said.append(f"block=nb.{value!r}")
        elif value != field.default:
            said.append(f"{field.name}={value!r}")
    return f"nb.Transformer({', '.join(said)})"
