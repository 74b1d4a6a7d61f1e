"""What theory says of a dimension, in words that several panels share."""

from neuroviz.attention.expected import Expected


def would_mislead(paper: Expected, expected: Expected) -> bool:
    """Whether the paper's formula, taken outside its hypotheses, would give another
    number."""
    return paper.status == "outside hypotheses" and paper.value != expected.value


def paper_name(paper: Expected) -> str:
    """The name of the paper's formula without its hypotheses: the number of an
    equation, if it has one."""
    bare = {"Cor. 3.8": "Eq. 14", "Cor. 3.3": "Eq. 7", "Eq. 16, Corollary A": "Eq. 16"}
    return bare.get(paper.source, paper.source)


def agreement(expected: Expected, measured: int) -> str:
    """The verb of a sentence about theory: it agrees, or says another number."""
    return (
        "agrees"
        if expected.value == measured
        else f"says {expected.value}: they DISAGREE"
    )


def say_theory(expected: Expected, measured: int) -> str:
    """Whether theory agrees with a measurement, and its source; empty where there is no
    formula."""
    if expected.value is None:
        return ""
    return (
        f"Theory {agreement(expected, measured)}: {expected.source}, {expected.status}."
    )
