"""Progress of long commands: the time left is that of the work left, at the speed of now."""

import sys

import pytest

from scdn.cli import progress_bar
from scdn.cli.progress_bar import ProgressBar, Work, format_duration
from scdn.data import fetch
from scdn.record.run_reader import EVENTS
from scdn.scenario import read_scenario
from scdn.simulation.compare import compare


@pytest.fixture
def clock(monkeypatch):
    """Set the seconds since the command began with `clock.append`."""
    seconds = [0.0]
    monkeypatch.setattr(progress_bar.time, "monotonic", lambda: seconds[-1])
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    return seconds


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (99.4, "99 s"), (100, "2 min"), (5999, "100 min"), (6000, "1.7 h")],
)
def test_a_duration_is_shown_in_its_unit(seconds, text):
    assert format_duration(seconds) == text


def test_work_from_before_does_not_count_as_speed():
    assert Work(0, 5, 10).seconds_left(50) == pytest.approx(50)
    assert Work(90, 95, 100).seconds_left(50) == pytest.approx(50)
    assert Work(10, 10, 20).seconds_left(7) == pytest.approx(70)  # nothing is done yet


def test_a_resumed_run_estimates_from_the_rounds_since_then(clock, capsys):
    bar = ProgressBar()
    clock.append(60.0)
    bar.show(91, 100, "resumed")
    clock.append(120.0)
    bar.show(92, 100, "resumed")
    clock.append(600.0)
    bar.show(100, 100, "resumed")
    lines = capsys.readouterr().err.splitlines()
    assert [line.split("  ")[-1] for line in lines] == [
        "9 min left",
        "8 min left",
        "10 min in total",
    ]


def test_a_comparison_counts_rounds_and_not_kept_runs_as_its_work(examples, tmp_path):
    fetch("digits")
    quick = read_scenario(examples / "quick.toml", ["learning.rounds=3"])
    compare(quick, ["max-vfl"], [1], tmp_path)
    shown = []
    compare(quick, ["max-vfl"], [1, 2], tmp_path, done=lambda _, progress: shown.append(progress))
    assert [progress.runs for progress in shown] == [1, 2]
    assert all(progress.total_runs == 2 and progress.total_rounds == 6 for progress in shown)
    assert all(progress.rounds_before == 3 for progress in shown)
    assert [progress.rounds for progress in shown] == [3, 6]
    assert (tmp_path / "max-vfl" / "seed-2" / EVENTS).exists()
