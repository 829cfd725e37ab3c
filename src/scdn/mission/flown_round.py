"""What a mission keeps of a round that was flown, for its bound and as arrays in a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields, replace
from typing import Any

import numpy as np

from scdn.arrays import Array
from scdn.control.problem import DEVICE_COLUMNS, RoundProblem
from scdn.scenario import Radio, RoundLearningSettings, Weights
from scdn.world.movement_models import MovementModel

_ARRAYS = ("server_m", "iterations", "path_loss", "gains")
_NUMBERS = ("base_gain", "fixed_j", "billed_j")
_PROBLEM_ARRAYS = ("region_m", "keep_out_m", *DEVICE_COLUMNS)
_PROBLEM_NUMBERS = ("max_delay_s", "max_iterations", "integer_iterations")


@dataclass(frozen=True, eq=False)
class FlownRound:
    """A round of a run, as its bound needs it.

    Attributes
    ----------
    problem
        The round's problem, with the limits that devices have without their batteries.
    server_m, iterations, path_loss
        Where the server was, the iterations that devices executed and reported in time, and their
        true path losses.
    gains, base_gain
        The gain curves that the mission had fitted after the round: the progress that each device
        adds by its iterations, (N, τ^g + 1), and what a round brings besides.
    fixed_j
        Priced joules that the round takes in any case, beside what its problem knows.
    billed_j
        All priced joules of the round.
    has_late_reports
        Whether reports of other rounds were used in it, or ones of it are to come.
    """

    problem: RoundProblem
    server_m: Array
    iterations: Array
    path_loss: Array
    gains: Array
    base_gain: float
    fixed_j: float
    billed_j: float
    has_late_reports: bool = False

    @property
    def counts(self) -> Array:
        """Return whole iterations that were executed, no more than the problem allows."""
        return np.minimum(np.rint(self.iterations), self.problem.max_iterations)

    @property
    def gain(self) -> float:
        """Return the progress that the round made by its gain curves."""
        rows, counts = np.arange(len(self.problem)), self.counts.astype(np.int64)
        return self.base_gain + float(self.gains[rows, counts].sum())

    def to_arrays(self) -> tuple[dict[str, Array], dict[str, Any]]:
        """Return arrays and plain values that `from_arrays` makes the same round of."""
        problem = self.problem
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        arrays |= {f"problem/{name}": getattr(problem, name) for name in _PROBLEM_ARRAYS}
        arrays["problem/server_m"] = problem.server_m
        arrays["problem/movement"] = np.array(astuple(problem.movement), dtype=np.float64)
        if problem.candidates_m is not None:
            arrays["problem/candidates_m"] = problem.candidates_m
        values = {name: getattr(self, name) for name in _NUMBERS}
        values |= {f"problem/{name}": getattr(problem, name) for name in _PROBLEM_NUMBERS}
        values["has_late_reports"] = self.has_late_reports
        values["problem/ids"] = list(problem.ids)
        for name in ("radio", "learning", "weights"):
            values[f"problem/{name}"] = getattr(problem, name).model_dump(mode="json")
        return arrays, values

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], values: Mapping[str, Any]) -> FlownRound:
        """Return the round that was kept."""
        kinds = {"bool": bool, "float": float}
        movement: dict[str, Any] = {
            field.name: kinds[str(field.type)](value)
            for field, value in zip(fields(MovementModel), arrays["problem/movement"], strict=True)
        }
        columns: dict[str, Any] = {name: arrays[f"problem/{name}"] for name in _PROBLEM_ARRAYS}
        problem = RoundProblem(
            **columns,
            **{name: values[f"problem/{name}"] for name in _PROBLEM_NUMBERS},
            server_m=arrays["problem/server_m"],
            candidates_m=arrays.get("problem/candidates_m"),
            ids=tuple(values["problem/ids"]),
            radio=Radio.model_validate(values["problem/radio"]),
            learning=RoundLearningSettings.model_validate(values["problem/learning"]),
            weights=Weights.model_validate(values["problem/weights"]),
            movement=MovementModel(**movement),
        )
        kept = {name: arrays[name] for name in _ARRAYS} | {name: values[name] for name in _NUMBERS}
        late = values.get("has_late_reports", False)  # not in runs of earlier versions
        return cls(problem=problem, **kept, has_late_reports=late)


def without_battery_limits(planned: RoundProblem, before: RoundProblem) -> RoundProblem:
    """Return the problem that was planned, with the limits from before batteries lowered them.

    It has the scenario's deadline of computing, which a plan in a hurry shortens.
    """
    return replace(
        planned,
        learning=before.learning,
        fixed_cost=0.0,
        max_power_w=before.max_power_w,
        cpu_max_hz=before.cpu_max_hz,
        candidates_m=before.candidates_m,
        iteration_caps=None,
        deadlines_s=None,
        forgone=None,
    )
