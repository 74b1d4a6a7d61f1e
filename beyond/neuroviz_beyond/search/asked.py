"""What the theorem about a case of the search asks of the weights that are given."""

from neuroviz.attention.formulas import Hypothesis
from neuroviz.attention.symmetry import VirtualWeights
from neuroviz.kit.words import numbered
from neuroviz.rank.floats import numerical_rank
from neuroviz_beyond.search.cases import SearchCase, case_weights
from neuroviz_beyond.transformers.alignment import where_theorem_h_fails

_ABOUT_RANKS = ("Theorem 3.7", "Theorem F")


def what_is_asked(
    case: SearchCase, target: VirtualWeights, seed: int
) -> tuple[Hypothesis, ...]:
    """Each hypothesis, and whether these weights satisfy it, as far as floats tell.

    >>> from neuroviz_beyond.search.cases import CASES, SearchSetting, study_search
    >>> study = study_search(SearchSetting("lightning-turn", starts=1))
    >>> for asked in what_is_asked(study.case, study.search.target, seed=0):
    ...     print(asked.holds, asked.says)
    True t ≥ 2 (t = 3)
    True L ≠ 0
    False M₁ is not antisymmetric
    True rk M₁ ≥ 2 (it is 2)
    True M₂ is not antisymmetric
    """
    t = case.arch.tokens
    found = [Hypothesis(f"t ≥ 2 (t = {t})", t >= 2)]
    if case.source == "Theorem H":
        return (*found, *_conditions(case, seed))
    ranks = [numerical_rank(M) for M in target.M]
    found.append(Hypothesis("L ≠ 0", numerical_rank(target.L) > 0))
    if case.source == "Theorem 3.9":
        return tuple(found)
    if case.source == "Theorem 3.2":
        return (*found, Hypothesis(f"M₁ ≠ 0 (it has rank {ranks[0]})", ranks[0] > 0))
    for i, (M, rank) in enumerate(zip(target.M, ranks, strict=True), start=1):
        letter = numbered("M", i)
        has_symmetric_part = numerical_rank(M + M.T) > 0
        found.append(Hypothesis(f"{letter} is not antisymmetric", has_symmetric_part))
        # Theorem F allows rank one in the last layer.
        is_asked = case.source == "Theorem 3.7" or i < len(ranks)
        if case.source in _ABOUT_RANKS and is_asked:
            says = f"rk {letter} ≥ 2 (it is {rank})"
            found.append(Hypothesis(says, bool(rank >= 2)))
    return tuple(found)


def _conditions(case: SearchCase, seed: int) -> list[Hypothesis]:
    """Those of Theorem H."""
    failing = where_theorem_h_fails(case.arch, case_weights(case, seed))
    says = "the conditions of Theorem H"
    if failing:
        says += f"; {failing[0]}"
    return [Hypothesis(says, not failing)]
