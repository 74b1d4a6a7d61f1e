"""The picture of memorisation: every network at what the experiment found, over D and
over P."""

import pytest
from panels import headlines, trace

from neuroviz_beyond.memorisation.memorisation import (
    TARGETS,
    MemorisationExplorer,
    stored_curves,
)

PANEL = MemorisationExplorer


@pytest.mark.parametrize("over", ["D", "P"])
@pytest.mark.parametrize("targets", TARGETS)
def test_every_network_is_drawn_at_what_the_experiment_found(panel, targets, over):
    panel.state = f"targets={targets};over={over}"
    curves = [curve for curve in stored_curves() if curve.targets == targets]
    for attention in ("lightning", "softmax"):
        one = trace(panel.figure, attention)
        drawn = [(x, y) for x, y in zip(one.x, one.y, strict=True) if x is not None]
        assert drawn == [
            (N / (c.dimension if over == "D" else c.arch.num_parameters), share)
            for c in curves
            if c.arch.attention == attention
            for N, share in c.shares.items()
        ]
        low, high = panel.figure.layout.xaxis.range
        assert all(low < x < high for x, _ in drawn)
    assert set(trace(panel.figure, f"N = {over}").x) == {1}


def test_a_small_change_is_learnt_up_to_d_by_all_and_the_words_say_so(panel):
    said = {}
    for targets in TARGETS:
        for over in "DP":
            panel.state = f"targets={targets};over={over}"
            said[targets, over] = headlines(panel.figure)[0], panel.description
    assert said["nearby", "D"][0] == "all 14 stop at N = D"
    assert "over D: all at 1. Tasks learnt beyond D: none." in said["nearby", "D"][1]
    assert said["nearby", "P"][0] == "half is learnt up to N/P from 0.18 to 0.96"
    assert said["random", "D"][0] == "none learnt beyond N = D"
    assert "over D: from 0.62 or less to 1." in said["random", "D"][1]
    assert said["teacher", "D"][0] == "D is no limit where a solution exists"
    assert "this is no memorising" in said["teacher", "D"][1]
