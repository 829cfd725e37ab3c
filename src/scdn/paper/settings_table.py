"""The settings on which verdicts depend, for every block of the learning artefacts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scdn.paper.artefact import ResultTable, read_spec
from scdn.paper.method_grid import own_settings
from scdn.scenario import Scenario

_DATA = ("mnist", "cifar10", "pawpularity")
_NOTE = (
    "ε is the number added to the denominator of Theorem 1's bound, which the paper does not "
    "name: every reading of the paper has the value that gives its first published objective, "
    "9.92e4; the block true has the product's. In a round the server takes as many steps as a "
    "device may, and VAFL's arrivals share them (`learning.arrival_steps`). Max VFL, GSP and "
    "VAFL switch devices off that cannot meet the delay limit from where the server is, so "
    "energy is given per device present and per active device. A report is billed as the "
    "device's model (`learning.payload`). VAFL's iterations are those that it executed. A run "
    "that diverged has the worst possible score: 0 % of top-3, or an error of 1. `scdn paper "
    "run NAME --set learning.epsilon=1e-3` shows what another choice gives."
)


def settings_table(overrides: Mapping[str, Sequence[str]]) -> ResultTable:
    """Return one row per data set and judged block; the note names artefacts with `overrides`."""
    specs = {data: read_spec(f"static-{data}") for data in _DATA}
    rows = [
        (data, block, *_cells(spec.scenario(own_settings(spec, block))))
        for data, spec in specs.items()
        for block in spec.judged_blocks
    ]
    header = (
        "data", "block", "ε", "ψ^G", "T^max (s)", "steps per iteration", "batch", "device's rate",
        "server's rate", "update", "L_n from", "initialisation", "inputs", "cycles: FLOPs each",
    )  # fmt: skip
    others = [f"{name} with {', '.join(settings)}" for name, settings in overrides.items()]
    note = f"Run with other settings: {'; '.join(others)}. {_NOTE}" if others else _NOTE
    return ResultTable("Settings on which verdicts depend", header, tuple(rows), note)


def _cells(scenario: Scenario) -> tuple[str, ...]:
    learning, (group,) = scenario.learning, scenario.fleet
    return (
        f"{learning.epsilon:g}",
        f"{scenario.weights.convergence:g}",
        f"{scenario.max_delay_s:g}",
        str(learning.steps_per_iteration),
        str(learning.batch_size),
        f"{group.learning_rate:g}",
        f"{learning.server_rate:g}",
        "paper" if learning.step == "rate" else "steady",
        learning.smoothness,
        learning.initialisation,
        f"{learning.scaling}, {learning.input}",
        "{:g} to {:g}".format(*group.flops_per_cycle),
    )
