"""`scdn tune`: find settings with which a scenario learns better."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

from scdn.cli.command_parser import (
    Subparsers,
    add_command,
    add_scenario_options,
    read_scenario_from,
    whole_number,
    write_output,
)
from scdn.cli.progress_bar import ProgressBar, Work

if TYPE_CHECKING:
    from scdn.tuning.tuner import TrialCost, TuningProgress, TuningResult

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_STEPS = 50  # of the progress bar
_EXAMPLE = (
    "scdn data fetch digits\nscdn tune examples/quick.toml --budget 30s --jobs 2 --out runs/tuning"
)


def add_to(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = add_command(
        subparsers,
        "tune",
        _tune,
        "Find settings with which a scenario learns better; test rows are never looked at.",
        _EXAMPLE,
    )
    add_scenario_options(parser)
    parser.add_argument(
        "--budget",
        type=_duration,
        default=_duration("20m"),
        metavar="TIME",
        help="how long to search, such as 90s, 20m or 2h; default: 20m",
    )
    parser.add_argument(
        "--metric", metavar="NAME", help="what to improve; default: the data's score"
    )
    parser.add_argument(
        "--trials", type=whole_number(1), metavar="N", help="try no more than this; default: any"
    )
    parser.add_argument(
        "--jobs", type=whole_number(1), default=1, metavar="N", help="parallel trials; default: 1"
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        help="folder for the results, where earlier trials go on; default: runs/NAME-tuning",
    )


def _duration(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", text)
    if match is None or not float(match[1]):
        raise argparse.ArgumentTypeError(f"got {text!r}, must be a time such as 90s, 20m or 2h")
    return float(match[1]) * _UNITS[match[2]]


def _tune(options: argparse.Namespace) -> int:
    from scdn.scenario.toml_writer import to_toml
    from scdn.tuning.search_space import changes
    from scdn.tuning.tuner import tune
    from scdn.tuning.tuning_picture import draw_tuning

    scenario = read_scenario_from(options)
    out = Path(options.out or Path("runs") / f"{scenario.name}-tuning")
    result = tune(
        scenario,
        out,
        options.budget,
        metric_name=options.metric,
        trials=options.trials,
        jobs=options.jobs,
        on_progress=_Shown(options.budget).show,
    )
    shown = result.metric
    print(
        f"{shown.format(result.score)} on rows held out ({_cost(result.cost)}); "
        f"as it was {shown.format(result.own_score)} ({_cost(result.own_cost)})"
    )
    print(_counts(result))
    lines = changes(scenario, result.values)
    print("\n".join(lines) if lines else "No settings that were tried are better than its own.")
    write_output(str(out / "best.toml"), to_toml(result.best_scenario))
    draw_tuning(result, out / "tuning.png")
    print(f"wrote {out / 'tuning.png'}")
    print(f"Train it with  scdn run {out / 'best.toml'} --out runs/tuned")
    return 0


def _cost(cost: TrialCost) -> str:
    return f"{cost.joules:.4g} J, {cost.seconds:.4g} s"


def _counts(result: TuningResult) -> str:
    states = [trial.state.name for trial in result.trials]
    pruned = states.count("PRUNED")
    return f"{len(states)} trials, {pruned} of them ended early"


class _Shown:
    """Shows the progress of a tuning, a step of the bar at a time."""

    def __init__(self, budget_s: float) -> None:
        self._budget_s, self._bar, self._last = budget_s, ProgressBar(lines=10), -1

    def show(self, progress: TuningProgress) -> None:
        """Show it if it has gone on."""
        step = min(int(_STEPS * progress.elapsed_s / self._budget_s), _STEPS - 1)
        if step == self._last:
            return
        self._last = step
        best = "" if progress.best is None else f", best {progress.best:.4g}"
        own = "" if progress.own is None else f", as it was {progress.own:.4g}"
        work = Work(0, max(1, round(progress.elapsed_s)), max(1, round(self._budget_s)))
        self._bar.show(step, _STEPS, f"{progress.trials} trials{best}{own}", work)
