"""The checker of schedules: rounds with a slow device, their training, and a checkpoint."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from scdn.check.user_code import call, collect
from scdn.learning.dataset_tensors import DatasetTensors
from scdn.learning.feature_split import FeatureView
from scdn.learning.local_optimizers import LocalSteps
from scdn.learning.party_factory import PartyFactory
from scdn.learning.schedules import Schedule
from scdn.learning.step_rule import StepTaken
from scdn.learning.vertical_model import VerticalModel
from scdn.learning.virtual_clock import Arrival, PartyCycle
from scdn.scenario import LearningSettings

_SECONDS = {"a": 1.0, "b": 1.3, "c": 1.7, "slow": 13.0}
_STEPS = LocalSteps(2, 0.1)
_CYCLES = {name: PartyCycle(_STEPS, seconds) for name, seconds in _SECONDS.items()}
_ROUNDS = 40
_SERVER_STEPS, _COLUMNS, _ROWS = 6, 2, 60
_LEARNING = LearningSettings(hidden=4, fusion_hidden=4, batch_size=4, sample_rows=8)
_HOOKS = ("collect", "train", "end_round")
_ADVICE = "it gets the cycles, the number of devices and the cycles that may begin"


def check_schedule(schedule: type[Schedule]) -> list[str]:
    """Return the problems of a schedule: the class goes through rounds with a slow device."""
    if not isinstance(schedule, type) or not issubclass(schedule, Schedule):
        kind = (
            f"an object of {type(schedule).__name__}"
            if isinstance(schedule, Schedule)
            else "no class"
        )
        return [f"It is {kind}; name a subclass of scdn.learning.schedules.Schedule."]
    if schedule.waits_for_all:
        return collect(_unused_methods(schedule))
    return collect(_rounds(schedule), _limits(schedule), _training(schedule), _checkpoint(schedule))


def _unused_methods(schedule: type[Schedule]) -> Iterator[str]:
    for name in _HOOKS:
        if getattr(schedule, name) is not getattr(Schedule, name):
            yield f"It waits for all, and its {name} is never called; remove it or waits_for_all."


def _create(schedule: type[Schedule]) -> Schedule:
    return call("Creation", "it gets the learning settings", schedule, _LEARNING)


def _next_round(situation: str, schedule: Schedule, **changes: Any) -> list[Arrival]:
    arguments = {"cycles": _CYCLES, "devices": len(_CYCLES), "begins": {}} | changes
    arrivals = call(f"{situation}, collect", _ADVICE, schedule.collect, *arguments.values())
    call(f"{situation}, end_round", "it gets the reports", schedule.end_round, arrivals)
    return arrivals


def _rounds(schedule: type[Schedule]) -> Iterator[str]:
    """Collect many rounds: every device is heard, and time does not go back."""
    rounds, heard = _create(schedule), set[str]()
    for index in range(_ROUNDS):
        situation, before_s = f"In round {index + 1}", rounds.clock.now_s
        arrivals = _next_round(situation, rounds)
        problems = list(_arrivals(situation, rounds, arrivals, before_s))
        yield from problems
        if problems:
            return
        heard |= {arrival.name for arrival in arrivals}
    for name in sorted(set(_CYCLES) - heard):
        yield (
            f"After {_ROUNDS} rounds no report of device {name} was collected; a device that is "
            "slow is late, not gone."
        )


def _arrivals(
    situation: str, schedule: Schedule, arrivals: list[Arrival], before_s: float
) -> Iterator[str]:
    if not isinstance(arrivals, list) or not all(isinstance(a, Arrival) for a in arrivals):
        yield f"{situation}, collect returned no list of arrivals; return what the clock returns."
        return
    names, times = [a.name for a in arrivals], [before_s, *(a.at_s for a in arrivals)]
    if len(names) > len(_CYCLES):
        yield f"{situation}, collect returned more reports than devices; end the round earlier."
    if len(set(names)) < len(names) and not schedule.restarts_at_once:
        yield f"{situation}, a device reported twice; set restarts_at_once."
    if set(names) - set(_CYCLES):
        yield f"{situation}, a device reported that is not present; return what the clock returns."
    if times != sorted(times) or schedule.clock.now_s < times[-1]:
        yield f"{situation}, time went back; advance the clock only."
    if any(a.staleness < 0 for a in arrivals):
        yield f"{situation}, staleness was below 0; return what the clock returns."


def _limits(schedule: type[Schedule]) -> Iterator[str]:
    """Collect rounds without devices, and with a battery that pays for no cycle."""
    if _next_round("In a round without devices", _create(schedule), cycles={}, devices=0):
        yield "In a round without devices, collect returned reports; return none."
    arrivals = _next_round("With an empty battery", _create(schedule), begins={"a": 0})
    if any(arrival.name == "a" for arrival in arrivals):
        yield "With an empty battery, a device began a cycle; pass `begins` to the clock."
    rounds = _create(schedule)
    _next_round("In round 1", rounds)
    rest = {name: cycle for name, cycle in _CYCLES.items() if name != "slow"}
    later = [_next_round("After a device left", rounds, cycles=rest, devices=3) for _ in range(20)]
    if any(arrival.name == "slow" for arrivals in later for arrival in arrivals):
        yield "After a device left, its report arrived; pass the round's cycles to the clock."


def _training(schedule: type[Schedule]) -> Iterator[str]:
    """Train a small model: one step for all reports or for each, and the server's steps."""
    rounds, model, steps = _create(schedule), _model(), LocalSteps(_SERVER_STEPS, 0.1)
    for index in range(5):
        situation = f"In round {index + 1}"
        arrivals = _next_round(situation, rounds)
        taken = call(f"{situation}, train", "it gets the model and the reports", rounds.train,
                     model, index, steps, arrivals, _STEPS.count)  # fmt: skip
        expected = len(arrivals) if rounds.trains_alone and arrivals else 1
        if not isinstance(taken, list) or not all(isinstance(step, StepTaken) for step in taken):
            yield f"{situation}, train returned no list of steps; return what the model returns."
            return
        if len(taken) != expected:
            yield (
                f"{situation}, train returned {len(taken)} steps for {len(arrivals)} reports; "
                "return one for each if trains_alone is set, and else one."
            )
        work = model.server.take_work().steps
        if arrivals and work != _SERVER_STEPS:
            yield (
                f"{situation}, the server took {work} steps of {_SERVER_STEPS}; take its "
                "server_steps in every round, so that methods are compared on equal terms."
            )


def _model() -> VerticalModel:
    draw = torch.Generator().manual_seed(0)
    table = torch.randn(_ROWS, _COLUMNS * len(_CYCLES), generator=draw)
    targets = torch.arange(_ROWS) % 2
    data = DatasetTensors(
        {"train": {"table": table}, "test": {"table": table}}, {"train": targets, "test": targets}
    )
    factory = PartyFactory(_LEARNING, "classification", 2, {"table": (table.shape[1],)})
    own = np.arange(table.shape[1]).reshape(len(_CYCLES), _COLUMNS)
    views = {
        name: FeatureView("table", columns, np.ones(_COLUMNS, np.bool_), (_COLUMNS,))
        for name, columns in zip(_CYCLES, own, strict=True)
    }
    return VerticalModel.create(data, factory, views, _LEARNING, 0, measure_gradients=False)


def _checkpoint(schedule: type[Schedule]) -> Iterator[str]:
    rounds = _create(schedule)
    for index in range(3):
        _next_round(f"In round {index + 1}", rounds)
    state = call("state_dict", "return what the base class returns, and yours", rounds.state_dict)
    values = call("Writing state_dict as JSON", "use plain values", _through_json, state)
    restored = _create(schedule)
    call("load_state_dict", "it gets what state_dict returned", restored.load_state_dict, values)
    for _ in range(3):
        one, other = (_next_round("After a checkpoint", each) for each in (rounds, restored))
        if one != other:
            yield "After a checkpoint, reports differ; save all state in state_dict and load it."
            return


def _through_json(state: Any) -> Any:
    return json.loads(json.dumps(state, allow_nan=False))
