"""What a theorem asks of the weights of a search's case, decided for these weights."""

import pytest

from neuroviz_beyond.search.asked import what_is_asked
from neuroviz_beyond.search.cases import CASES, SearchSetting, study_search


@pytest.mark.parametrize("key", CASES)
def test_a_case_outside_of_its_theorem_has_a_hypothesis_that_fails(key):
    study = study_search(SearchSetting(key, starts=1))
    case = study.case
    asked = what_is_asked(case, study.search.target, study.setting.seed)
    assert len(asked) >= 2
    holds = all(one.holds for one in asked)
    assert holds == (case.status != "outside hypotheses"), (case.name, asked)
