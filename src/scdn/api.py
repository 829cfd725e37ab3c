"""Runs from Python: one call, one table of rounds."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from scdn.errors import input_error
from scdn.record.run_tables import rounds_frame
from scdn.scenario import Scenario, read_scenario
from scdn.simulation.runner import run as _run

if TYPE_CHECKING:
    import pandas as pd


def run(
    scenario: Scenario | str | Path,
    method: str | None = None,
    seed: int | None = None,
    *,
    out: str | Path | None = None,
    settings: tuple[str, ...] = (),
) -> pd.DataFrame:
    """Runs a scenario and returns one row per round: metrics, joules, seconds, iterations.

    Parameters
    ----------
    scenario
        A scenario, or the file of one.
    method, seed
        In place of the scenario's own.
    out
        Where the run is recorded; by default nowhere that lasts.
    settings
        Overrides of a file's values, each `key.path=value`.
    """
    chosen = scenario if isinstance(scenario, Scenario) else read_scenario(scenario, settings)
    if seed is not None and seed < 0:
        raise input_error("scdn.run", "seed", f"got {seed}", "must be 0 or more")
    told = {"method": method, "seed": seed}
    chosen = chosen.model_copy(update={k: v for k, v in told.items() if v is not None})
    if out is not None:
        return rounds_frame([_run(chosen, out)])
    with tempfile.TemporaryDirectory(prefix="scdn-") as folder:
        return rounds_frame([_run(chosen, Path(folder) / "run")])
