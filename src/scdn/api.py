"""One-line calls from Python: plan a round, run a scenario, compare methods, predict."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scdn.control.plan import Plan
from scdn.control.plan_request import PlanRequest, make_request, problem_of, read_request
from scdn.control.solve import Solver, solve
from scdn.errors import input_error
from scdn.scenario import Scenario, read_scenario

if TYPE_CHECKING:
    import pandas as pd

    from scdn.simulation.trained_model import TrainedModel


def plan(
    request: PlanRequest | dict[str, Any] | str | Path,
    solver: Solver = "exact",
    *,
    gap: float = 1e-4,
    settings: Sequence[str] = (),
) -> Plan:
    """Return the plan of one round.

    Parameters
    ----------
    request
        A plan request: a file, a table of its values, or a `PlanRequest`.
    solver
        One of the solvers of `scdn.solve`.
    gap
        Relative gap at which `exact` stops.
    settings
        Overrides of a file's values, each `key.path=value`.
    """
    if isinstance(request, dict):
        request = make_request(request)
    elif not isinstance(request, PlanRequest):
        request = read_request(request, settings)
    return solve(problem_of(request), solver, gap=gap)


def run(
    scenario: Scenario | str | Path,
    method: str | None = None,
    seed: int | None = None,
    *,
    out: str | Path | None = None,
    settings: Sequence[str] = (),
) -> pd.DataFrame:
    """Run a scenario and return one row per round: metrics, joules, seconds, iterations.

    Parameters
    ----------
    scenario
        A scenario, or the file of one.
    method, seed
        Replace those of the scenario.
    out
        The folder in which the run is recorded; by default it is not kept.
    settings
        Overrides of a file's values, each `key.path=value`.
    """
    from scdn.record.run_tables import rounds_frame
    from scdn.simulation.runner import run as record_run  # loads PyTorch, which plans do not need

    chosen = _read(scenario, settings)
    if seed is not None and seed < 0:
        raise input_error("scdn.run", "seed", f"got {seed}", "must be 0 or more")
    changes = {"method": method, "seed": seed}
    chosen = chosen.model_copy(update={k: v for k, v in changes.items() if v is not None})
    with _runs_folder(out) as folder:
        return rounds_frame([record_run(chosen, folder)])


def compare(
    scenario: Scenario | str | Path,
    methods: Sequence[str],
    seeds: int | Sequence[int] = 3,
    *,
    out: str | Path | None = None,
    jobs: int = 1,
    settings: Sequence[str] = (),
) -> pd.DataFrame:
    """Run several methods on the same networks and return one row per run and round.

    Parameters
    ----------
    scenario
        A scenario, or the file of one.
    methods
        Names of methods.
    seeds
        The seeds, or how many of them to take from the scenario's own on.
    out
        The folder in which the runs are recorded; runs that are there already are not repeated.
    jobs
        How many runs to execute at the same time, each in a process of its own.
    settings
        Overrides of a file's values, each `key.path=value`.
    """
    from scdn.record.run_tables import rounds_frame
    from scdn.simulation.compare import compare as compare_runs
    from scdn.simulation.runner import REFERENCE_FOLDER

    chosen = _read(scenario, settings)
    listed = range(chosen.seed, chosen.seed + seeds) if isinstance(seeds, int) else seeds
    with _runs_folder(out) as folder:
        runs = compare_runs(chosen, methods, listed, folder, jobs=jobs)
        return rounds_frame([run for run in runs if run.folder.parent.name != REFERENCE_FOLDER])


def load(run: str | Path) -> TrainedModel:
    """Return the trained model of a recorded run, finished or running; `predict` uses it.

    Parameters
    ----------
    run
        The folder of the run.
    """
    from scdn.simulation.trained_model import TrainedModel

    return TrainedModel.load(run)


def _read(scenario: Scenario | str | Path, settings: Sequence[str]) -> Scenario:
    return scenario if isinstance(scenario, Scenario) else read_scenario(scenario, settings)


@contextmanager
def _runs_folder(out: str | Path | None) -> Iterator[Path]:
    """Yield the folder of the runs, or one that is removed afterwards."""
    if out is not None:
        yield Path(out)
        return
    with tempfile.TemporaryDirectory(prefix="scdn-") as folder:
        yield Path(folder) / "run"
