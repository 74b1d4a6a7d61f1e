"""The unrolled network in words: names of factors and links, the finding, and one term
in sentences."""

from neuroviz.attention.unrolling import Factor
from neuroviz.kit.words import numbered, power_of_ten, rough, superscript
from neuroviz_beyond.unrolling.unrolling import NOTHING_BELOW, UnrollStudy

_MOST_FACTORS = 8  # of a product that is written out


def name_of(factor: Factor) -> str:
    """A factor in Unicode.

    >>> name_of(Factor(2, True))
    'M₂ᵀ'
    """
    return f"{numbered('M', factor.layer)}{'ᵀ' if factor.transposed else ''}"


def token(study: UnrollStudy, index: int) -> str:
    """A token by its number, counted from 1, or y and x where there are only these
    two."""
    if study.two_tokens:
        return "x" if index == study.indices[-1] else "y"
    return numbered("x", index + 1)


def number(value: float) -> str:
    """A number with three digits, and 0 for what rounding leaves of it.

    >>> number(-0.53612), number(1234.5), number(2.5e-17), number(4.123e-5)
    ('−0.536', '1234', '0', '4.12·10⁻⁵')
    """
    if abs(value) < NOTHING_BELOW:
        return "0"
    sign = "−" if value < 0 else ""
    mantissa, exponent = f"{abs(value):.2e}".split("e")
    if -3 <= int(exponent) <= 4:
        return f"{sign}{abs(value):.{max(0, 2 - int(exponent))}f}"
    return f"{sign}{mantissa}·{power_of_ten(int(exponent))}"


def coefficient_name(layers: int) -> str:
    """The product of Eq. 28 with its exponents: 3^{l−h} for M_h, and one M₁ less, as it
    stands last.

    >>> coefficient_name(2)
    'Ly · (yᵀM₁y)² · yᵀM₂y · yᵀM₁x'
    """
    names = []
    for h in range(1, layers + 1):
        often = 3 ** (layers - h) - (h == 1)
        name = f"{numbered('yᵀM', h)}y"
        if often:
            names.append(f"({name}){_power(often)}" if often > 1 else name)
    return " · ".join(["Ly", *names, "yᵀM₁x"])


def number_of_terms(study: UnrollStudy) -> str:
    """How many terms each output has, t^n, and about how many that is."""
    places = len(study.factors)
    count = study.tokens**places
    if places == 1:
        return str(count)
    about = f"= {count}" if count < 100_000 else f"≈ {rough(count).removeprefix('1·')}"
    return f"{study.tokens}{_power(places)} {about}"


def _power(exponent: int) -> str:
    return "" if exponent == 1 else superscript(exponent)


def term_in_numbers(study: UnrollStudy) -> str:
    """The product that the term is, and its value; of a long one the first factors.

    >>> from neuroviz_beyond.unrolling.unrolling import UnrollSetting, study_unrolling
    >>> term_in_numbers(study_unrolling(UnrollSetting(layers=1, place=1)))
    '(−1.34) · (−0.747) = 0.997'
    """
    factors = [number(one) for one in (study.start, *study.values)]
    shown = [*factors[:_MOST_FACTORS], "…"] if len(factors) > _MOST_FACTORS else factors
    product = " · ".join(f"({one})" if one[0] == "−" else one for one in shown)
    return f"{product} = {number(study.value)}"


def finding(study: UnrollStudy) -> str:
    """What the strip shows, as a finding."""
    after = study.reflection
    here = name_of(study.factor)
    other = name_of(study.turned_factor)
    if study.two_tokens:
        zero = " = 0" if study.vanishes else ""
        return f"Only y and x: {coefficient_name(study.layers)}{zero}"
    if after is None:
        return (
            "k in base 3 tells M: layer = 1 + final zeros; a 2 before them: transposed"
        )
    if after.indices == study.indices:
        return "Turned round, the window holds the same tokens as before"
    if study.vanishes and study.cancels:
        return "Both terms are zero: an antisymmetric M stands between equal tokens"
    if study.cancels:
        return f"{here} becomes {other} = −{here}, and the two terms cancel"
    if not after.changed:
        return (
            f"{here} stands between equal tokens: turning the window changes no number"
        )
    return f"{here} becomes {other}, the other numbers change places"


def describe(answer: UnrollStudy) -> str:
    """In a few sentences, what the figure shows."""
    if answer.two_tokens:
        return _say_two_tokens(answer)
    return f"{_say_term(answer)} {_say_reflection(answer)}"


def _say_term(answer: UnrollStudy) -> str:
    count = number_of_terms(answer)
    total = number(answer.output)
    if answer.summed is None:
        rest = (
            f"{count} such terms, too many to add here, make up the {total} that the"
            " layers give."
        )
    else:
        end = "which is what the layers give"
        if not answer.adds_up:
            end = f"but the layers give {total}: they DISAGREE"
        rest = f"All {count} of them add up to {number(answer.summed)}, {end}."
    output = numbered("φ(X)", answer.indices[-1] + 1)
    return f"One term of the output {output}: {number(answer.value)}. {rest}"


def _say_reflection(answer: UnrollStudy) -> str:
    after = answer.reflection
    k = answer.place
    window = (
        f"the tokens at {numbered('j', answer.window[0])} to"
        f" {numbered('j', answer.window[-1])}"
    )
    if after is None:
        return f"The mirror at place {k}, {name_of(answer.factor)}, reaches {window}."
    if after.indices == answer.indices:
        return (
            f"Turned round, {window} are the same as before: the term is its own mirror"
            " image."
        )
    both = f"Together the two terms are {number(answer.value + after.value)}."
    return f"{finding(answer)}: {window} are turned round about place {k}. {both}"


def _say_two_tokens(answer: UnrollStudy) -> str:
    x, y = (numbered("x", answer.indices[j] + 1) for j in (-1, 0))
    text = (
        f"Of {number_of_terms(answer)} terms one is linear in x = {x} and has else only"
        f" y = {y}: {coefficient_name(answer.layers)} = {number(answer.coefficient)}"
        " (Eq. 28)."
    )
    if not answer.reads_off:
        return (
            f"{text} The product of the values is {number(answer.value)}: they"
            " DISAGREE."
        )
    if answer.antisymmetric is not None and answer.layers > 1:
        M = numbered("M", answer.antisymmetric)
        return (
            f"{text} {M} is antisymmetric, so yᵀ{M}y = 0 for every y and nothing can be"
            " read off: Theorem 3.7 leaves such an M out."
        )
    others = ", ".join(numbered("M", h) for h in range(2, answer.layers + 1))
    symmetric = f" Of {others} only the symmetric part shows in it." if others else ""
    return f"{text} The proof of Theorem 3.7 starts from it.{symmetric}"
