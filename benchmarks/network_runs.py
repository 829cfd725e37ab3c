"""Scenarios of the fixed networks in `benchmarks/networks`, and runs whose record is not kept."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from scdn.record.run_reader import Run
from scdn.scenario import Scenario, read_scenario
from scdn.simulation.runner import run

FOLDER = Path(__file__).parent / "networks"


def network_scenario(network: str, settings: Sequence[str] = ()) -> Scenario:
    """Return the scenario of a fixed network with some settings changed."""
    return read_scenario(FOLDER / f"{network}.toml", settings)


def run_once(scenario: Scenario) -> Run:
    """Run a scenario in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        return run(scenario, Path(folder) / "run")
