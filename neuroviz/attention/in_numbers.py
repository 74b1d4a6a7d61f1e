"""The formulas for the dimension with a network's own numbers put in."""

from neuroviz.attention.architecture import Architecture
from neuroviz.attention.expected import alpha, sigma
from neuroviz.attention.formulas import effective_widths, numbered, symmetric_after

_MOST_TERMS = 4  # of a sum that is written out


def paper_formula_in_numbers(arch: Architecture) -> str:
    """The sum that `paper_formula` computes.

    >>> print(paper_formula_in_numbers(Architecture((4, 3, 5), (2, 2))))
    3·(4 + 5 − 3) + 12 + 8 − 2
    >>> print(paper_formula_in_numbers(Architecture((3, 4), (2,), attention="softmax")))
    8 + 3·4
    """
    d = arch.widths
    alphas = [alpha(a, d_in) for d_in, _, a in arch.layers]
    if arch.num_layers == 1:
        said = f"{alphas[0]} + {d[0]}·{d[1]}"
    else:
        delta = min(d[1:-1])
        said = f"{delta}·({d[0]} + {d[-1]} − {delta}) + {sum_of(alphas)}"
    if arch.attention == "lightning":
        said += f" − {arch.num_layers}"
    return said


def general_formula_in_numbers(arch: Architecture) -> str:
    """The sum that `general_formula` computes: Σ w_{i−1} w_i + Σ α − Σ w_i², and −l for
    lightning, with σ for α where only symmetric parts are seen.

    >>> print(general_formula_in_numbers(Architecture((3, 3, 3), (1, 2))))
    9 + 9 + 5 + 6 − 9 − 2
    """
    w = effective_widths(arch)
    if arch.attention == "softmax" and arch.tokens == 1:
        r = min(arch.widths)
        return f"{r}·({arch.widths[0]} + {arch.widths[-1]} − {r})"
    hidden_after = symmetric_after(arch)
    matrices = [w[i] * w[i + 1] for i in range(arch.num_layers)]
    heads = []
    for i, a in enumerate(arch.head_dims):  # as in `visible_count`
        is_hidden = hidden_after is not None and i >= hidden_after
        heads.append(sigma(a, w[i]) if is_hidden else alpha(a, w[i]))
    said = f"{sum_of(matrices)} + {sum_of(heads)}"
    inner = [width**2 for width in w[1:-1]]
    if inner:
        said += f" − {sum_of(inner, ' − ')}"
    if arch.attention == "lightning":
        said += f" − {arch.num_layers}"
    return said


def alphas_in_numbers(arch: Architecture) -> str:
    """What each α is.

    >>> alphas_in_numbers(Architecture((4, 3, 5), (2, 2)))
    'α(a₁, d₀) = α(2, 4) = 12, α(a₂, d₁) = α(2, 3) = 8'
    """
    said = []
    for i, (d_in, _, a) in enumerate(arch.layers[:_MOST_TERMS], start=1):
        name = f"α({numbered('a', i)}, {numbered('d', i - 1)})"
        said.append(f"{name} = α({a}, {d_in}) = {alpha(a, d_in)}")
    if arch.num_layers > _MOST_TERMS:
        said.append("…")
    return ", ".join(said)


def sum_of(terms: list[int], between: str = " + ") -> str:
    """Term by term; equal terms of a long sum are counted.

    >>> sum_of([5, 3]), sum_of([5, 3, 3, 3, 3])
    ('5 + 3', '5 + 4·3')
    """
    if len(terms) <= _MOST_TERMS:
        return between.join(map(str, terms))
    said = []
    for value in dict.fromkeys(terms):
        times = terms.count(value)
        said.append(f"{times}·{value}" if times > 1 else str(value))
    return between.join(said)
