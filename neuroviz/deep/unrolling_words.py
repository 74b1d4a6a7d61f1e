"""The unrolled network in words: one term and its reflection, or what only y and x leave of the sum."""

from neuroviz.deep.unrolled_term import (
    UnrollStudy,
    coefficient_name,
    link_name,
    name_of,
    number,
    number_of_terms,
    subscript,
)


def describe(answer: UnrollStudy) -> str:
    """In a few sentences, what the figure shows."""
    if answer.two_tokens:
        return _say_two_tokens(answer)
    return f"{_say_term(answer)} {_say_reflection(answer)}"


def _output(index: int) -> str:
    return f"φ(X){subscript(index + 1)}"


def _say_term(answer: UnrollStudy) -> str:
    count, total = number_of_terms(answer), number(answer.output)
    if answer.summed is None:
        rest = f"{count} such terms, too many to add here, make up the {total} that the layers give."
    elif answer.adds_up:
        rest = f"All {count} of them add up to {number(answer.summed)}, which is what the layers give."
    else:
        added = number(answer.summed)
        rest = f"All {count} of them add up to {added}, but the layers give {total}: they DISAGREE."
    set_to = ""
    if answer.adjusted is not None:
        set_to = f" (with j{subscript(answer.adjusted)} set to {answer.indices[answer.adjusted - 1] + 1})"
    return f"One term of the output {_output(answer.indices[-1])}{set_to}: {number(answer.value)}. {rest}"


def _say_reflection(answer: UnrollStudy) -> str:
    after, k = answer.reflection, answer.place
    here, other = name_of(answer.factor), name_of(answer.turned_factor)
    window = f"the tokens at j{subscript(answer.window[0])} to j{subscript(answer.window[-1])}"
    if after is None:
        antisymmetric = ""
        if answer.antisymmetric is not None:
            antisymmetric = f" M{subscript(answer.antisymmetric)} is antisymmetric."
        return f"The mirror at place {k}, {here}, reaches {window}.{antisymmetric}"
    if after.indices == answer.indices:
        wider = " Where 3 divides k, it reaches further." if answer.layers > 1 and k % 3 else ""
        return f"Turned round, {window} are the same as before: the term is its own mirror image.{wider}"
    if not answer.equal_ends:
        elsewhere = ""
        if not answer.same_output:
            elsewhere = f" The other term even belongs to another output, {_output(after.indices[-1])}."
        return (
            f"Turning {window} round also changes the numbers at the ends of the window, which hold "
            f"different tokens: the two terms are no pair.{elsewhere}"
        )
    turned = f"Turning {window} round sends the numbers on the left of place {k} to the right and back"
    if not after.changed:
        return f"{turned}. {here} stands between equal tokens, so no number changes."
    links = " becomes ".join(link_name(answer, k, j) for j in (answer.indices, after.indices))
    if answer.antisymmetric is None:
        M, both = f"M{subscript(answer.factor.layer)}", number(answer.value + after.value)
        end = f"The two terms add up to {both}; were {M} antisymmetric, to 0."
    elif answer.vanishes:
        end = "Both terms are zero: elsewhere the antisymmetric M stands between equal tokens."
    else:
        end = f"M{subscript(answer.antisymmetric)} is antisymmetric, {other} = −{here}: the two terms cancel."
    return f"{turned}; only {links}: {here} becomes {other}. {end}"


def _say_two_tokens(answer: UnrollStudy) -> str:
    x, y = (f"x{subscript(answer.indices[j] + 1)}" for j in (-1, 0))
    text = (
        f"Of {number_of_terms(answer)} terms one is linear in x = {x} and has else only y = {y}: "
        f"{coefficient_name(answer.layers)} = {number(answer.coefficient)} (Eq. 28)."
    )
    if not answer.reads_off:
        return f"{text} The product of the values is {number(answer.value)}: they DISAGREE."
    if answer.antisymmetric is not None and answer.layers > 1:
        M = f"M{subscript(answer.antisymmetric)}"
        return (
            f"{text} {M} is antisymmetric, so yᵀ{M}y = 0 for every y and nothing can be read off: "
            "Theorem 3.7 leaves such an M out."
        )
    symmetric = ""
    if answer.layers > 1:
        others = ", ".join(f"M{subscript(h)}" for h in range(2, answer.layers + 1))
        symmetric = f" Of {others} only the symmetric part shows in it."
    return f"{text} The proof of Theorem 3.7 starts from it.{symmetric}"
