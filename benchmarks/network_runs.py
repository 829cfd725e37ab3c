"""Scenarios of the fixed networks in `benchmarks/networks`, and runs whose record is not kept."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from scdn.record.run_reader import Event, Run, read_run
from scdn.record.target_results import target_results
from scdn.scenario import Scenario, read_scenario
from scdn.simulation.loop import Simulation
from scdn.simulation.runner import run
from scdn.targets import Target

FOLDER = Path(__file__).parent / "networks"


def network_scenario(network: str, settings: Sequence[str] = ()) -> Scenario:
    """Return the scenario of a fixed network with some settings changed."""
    return read_scenario(FOLDER / f"{network}.toml", settings)


def run_once(scenario: Scenario) -> Run:
    """Run a scenario in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        return run(scenario, Path(folder) / "run")


class _Enough(Exception):  # noqa: N818  it is no error
    """Raised to end a run that has reached its targets, or had its rounds."""


def run_to_targets(
    scenario: Scenario,
    targets: Sequence[Target],
    *,
    rounds: int | None = None,
    reference: Path | None = None,
) -> Run:
    """Run a scenario in a temporary folder until it has reached all targets, or had its rounds."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "run"

        def stop(_: Event, simulation: Simulation) -> None:
            if simulation.method.name != scenario.method:  # the reference of a rival
                return
            recorded = read_run(folder)
            results = target_results(recorded.start, recorded.rounds, targets)
            if len(recorded.rounds) == rounds or all(result["reached"] for result in results):
                raise _Enough

        with suppress(_Enough):
            run(scenario, folder, reference=reference, on_round=stop)
        return read_run(folder)
