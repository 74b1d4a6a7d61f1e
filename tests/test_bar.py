"""A bar is drawn around work that reports, where it is asked for or takes long."""

from time import time

import numpy as np
import pytest

from neuroviz.attention import Architecture
from neuroviz.kit import bar as bars
from neuroviz.kit.bar import bar, showing
from neuroviz.rank import measure_dimension

NET = Architecture.uniform(4, 2, 2)


def test_a_bar_shows_the_stage_and_the_time_left(capsys):
    with showing(True) as report:
        measure_dimension(NET, report=report)
    shown = capsys.readouterr().err
    assert "elimination: 100%" in shown and "< about" in shown


def test_short_work_has_a_bar_only_if_asked_for(capsys):
    for progress in (None, False, np.bool_(False)):
        with showing(progress) as report:
            measure_dimension(NET, report=report)
    assert capsys.readouterr().err == ""


def test_long_work_has_a_bar_from_some_seconds_on(capsys, monkeypatch):
    now = [time()]
    monkeypatch.setattr(bars, "time", lambda: now[0])
    with bar(after=4.0) as report:
        report("derivative", 0.1)
        assert capsys.readouterr().err == ""
        now[0] += 5
        report("derivative", 0.2)
    assert "derivative:  20%" in capsys.readouterr().err


def test_a_reader_may_hear_instead_and_stop_the_work():
    def stop(what, part):
        if what == "elimination":
            raise KeyboardInterrupt

    with showing(stop) as report, pytest.raises(KeyboardInterrupt):
        measure_dimension(NET, report=report)


def test_anything_else_is_refused():
    with (
        pytest.raises(ValueError, match="progress is True, False, None or a function"),
        showing("yes"),
    ):
        pass
