"""Who comes, who leaves, and whose link fails.

Exits and entries do not depend on what a method does, so they are drawn once, as a trace that every
method replays. A device that enters during round r is there from round r + 1 on; one that leaves
during round r was there when it began. Link failures do depend on the plan, and are decided by the
delay that a report turned out to have.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Strict

from scdn.arrays import Array, IntArray, Mask, floats
from scdn.errors import Fault, InputError
from scdn.file_io import Table, read_document, to_json, write_atomic
from scdn.rng import generator
from scdn.scenario import DeviceGroup, ListedDevice, Scenario, Shock
from scdn.scenario.field_types import (
    FrozenModel,
    SchemaVersion,
    WholeNumber,
    required_setting,
    setting,
)
from scdn.scenario.rules import device_faults, outside_region_faults
from scdn.scenario.validation import validate_document
from scdn.world.fleet import Fleet, draw_group, initial_fleet

ALWAYS, NEVER = -1, np.iinfo(np.int64).max


def log_survival(age: ArrayLike, shape: ArrayLike, scale: ArrayLike) -> Array:
    """Ln S(a) = −(a/λ)^k: Weibull in rounds since entry."""
    return -np.power(floats(age) / floats(scale), floats(shape))


def survival(age: ArrayLike, shape: ArrayLike, scale: ArrayLike) -> Array:
    """Chance that a device of this age lasts one more round, p = S(a + 1)/S(a)."""
    age = floats(age)
    return np.exp(log_survival(age + 1, shape, scale) - log_survival(age, shape, scale))


def link_failed(delay_s: ArrayLike, max_delay_s: float) -> Mask:
    """Whether a report came too late (with the model's relative tolerance of 1e-9)."""
    return floats(delay_s) > max_delay_s * (1 + 1e-9)


@dataclass(frozen=True, eq=False)
class ChurnTrace:
    """Everybody who is ever in the network, and when."""

    rounds: int
    quiet_rounds: int
    exits: bool
    fleet: Fleet
    entered: IntArray  # the round during which a device came, ALWAYS for those of the start
    exited: IntArray  # the round during which it left, or NEVER

    def present(self, round_: int) -> Mask:
        """Who is there when the round begins."""
        return (self.entered < round_) & (self.exited >= round_)

    def leaving(self, round_: int) -> Mask:
        """Who leaves during the round."""
        return self.exited == round_

    def entering(self, round_: int) -> Mask:
        """Who enters during the round; there from the next one on."""
        return self.entered == round_

    def departed(self, round_: int) -> Mask:
        """Who has left before the round begins."""
        return self.exited < round_

    def survival(self, round_: int) -> Array:
        """Each device's chance to last the round, as its age and lifetime say."""
        fleet = self.fleet
        if not self.exits or round_ < self.quiet_rounds:
            return np.ones(len(fleet))
        return survival(self._age(round_), fleet.weibull_shape, fleet.weibull_scale_rounds)

    def _age(self, round_: int) -> IntArray:
        return np.maximum(0, round_ - np.maximum(self.entered + 1, self.quiet_rounds))

    def take(self, which: Mask) -> ChurnTrace:
        """Some of the devices."""
        return replace(
            self,
            fleet=self.fleet.take(which),
            entered=self.entered[which],
            exited=self.exited[which],
        )

    def save(self, path: str | Path) -> None:
        """Writes the trace as JSON."""
        write_atomic(path, to_json(self.document()) + "\n")

    def document(self) -> Table:
        """The trace as `make_trace` reads it."""
        devices = [
            {
                **device.model_dump(mode="json"),
                "entered": None if entered == ALWAYS else int(entered),
                "exited": None if exited == NEVER else int(exited),
            }
            for device, entered, exited in zip(
                self.fleet.to_devices(), self.entered, self.exited, strict=True
            )
        ]
        return {
            "schema": 1,
            "rounds": self.rounds,
            "quiet_rounds": self.quiet_rounds,
            "exits": self.exits,
            "devices": devices,
        }


class _TraceDevice(ListedDevice):
    entered: WholeNumber | None = setting(
        None, "round during which it came; null: there at the start", ge=0
    )
    exited: WholeNumber | None = setting(None, "round during which it left; null: it stayed", ge=0)


class _TraceFile(FrozenModel):
    schema_version: SchemaVersion = setting(1, "form of this file", alias="schema")
    rounds: WholeNumber = required_setting("how many rounds it covers", gt=0)
    quiet_rounds: WholeNumber = setting(0, "rounds in which nobody ages", ge=0)
    exits: bool = setting(True, "whether devices expect to leave by their lifetimes")
    devices: Annotated[tuple[_TraceDevice, ...], Strict(False)] = required_setting("everybody")


def read_trace(source: str | Path) -> ChurnTrace:
    """A trace from a file that `ChurnTrace.save` or a person wrote."""
    return make_trace(read_document(source), str(source))


def make_trace(document: Table, source: str = "trace") -> ChurnTrace:
    """The trace in a table, checked."""
    file = validate_document(_TraceFile, document, source, _trace_faults)
    return ChurnTrace(
        rounds=file.rounds,
        quiet_rounds=file.quiet_rounds,
        exits=file.exits,
        fleet=Fleet.from_devices(file.devices),
        entered=np.array(
            [ALWAYS if d.entered is None else d.entered for d in file.devices], dtype=np.int64
        ),
        exited=np.array(
            [NEVER if d.exited is None else d.exited for d in file.devices], dtype=np.int64
        ),
    )


def _trace_faults(file: _TraceFile) -> list[Fault]:
    faults = list(device_faults(file.devices, (np.inf, np.inf, np.inf)))
    for index, device in enumerate(file.devices):
        entered = ALWAYS if device.entered is None else device.entered
        if device.exited is not None and device.exited <= entered:
            allowed = f"must be after it entered (round {entered})"
            faults.append(Fault(f"devices.{index}.exited", f"got {device.exited}", allowed))
    return faults


def churn_trace(scenario: Scenario) -> ChurnTrace:
    """The scenario's trace: replayed where it names one, else drawn from its seed."""
    if scenario.churn.trace is None:
        return draw_trace(scenario)
    trace = read_trace(scenario.churn.trace)
    faults = [
        fault
        for index, place in enumerate(trace.fleet.position_m)
        for fault in outside_region_faults(
            f"devices.{index}.position_m", place.tolist(), scenario.region_m
        )
    ]
    if trace.rounds < scenario.learning.rounds:
        allowed = f"must be ≥ learning.rounds = {scenario.learning.rounds}"
        faults.append(Fault("rounds", f"got {trace.rounds}", allowed))
    if faults:
        raise InputError(scenario.churn.trace, faults)
    return trace


def draw_trace(scenario: Scenario) -> ChurnTrace:
    """A trace drawn from the scenario's seed."""
    churn, rounds = scenario.churn, scenario.learning.rounds
    first = initial_fleet(scenario)
    newcomers, entry_rounds = _draw_entries(scenario)
    fleet = Fleet.concatenate([first, newcomers])
    entered = np.concatenate([np.full(len(first), ALWAYS), entry_rounds])
    trace = ChurnTrace(
        rounds, churn.quiet_rounds, churn.exits, fleet, entered, np.full(len(fleet), NEVER)
    )
    luck = np.concatenate(
        [
            generator(scenario.seed, "exits", newcomer).uniform(0.0, 1.0, (len(group), rounds))
            for newcomer, group in enumerate((first, newcomers))
        ]
    )
    exited = trace.exited.copy()
    for round_ in range(rounds):
        here = (entered < round_) & (exited == NEVER)
        exited[here & (luck[:, round_] >= trace.survival(round_))] = round_
        for number, shock in enumerate(churn.shocks):
            if shock.round == round_:
                struck = _struck(shock, fleet, generator(scenario.seed, "shock", number))
                exited[here & struck] = round_
    return ChurnTrace(rounds, churn.quiet_rounds, churn.exits, fleet, entered, exited)


def _struck(shock: Shock, fleet: Fleet, draw: np.random.Generator) -> Mask:
    step = fleet.position_m[:, :2] - floats(shock.centre_m)
    near = np.hypot(step[:, 0], step[:, 1]) <= shock.radius_m
    return near & (draw.uniform(0.0, 1.0, len(fleet)) < shock.exit_probability)


def _draw_entries(scenario: Scenario) -> tuple[Fleet, IntArray]:
    """Newcomers in the order they enter: Poisson in number, each of a group by its share."""
    groups = scenario.fleet or (DeviceGroup(kind="newcomer"),)
    shares = np.array([group.entry_share for group in groups])
    counts = generator(scenario.seed, "entries").poisson(
        scenario.churn.entry_rate, scenario.learning.rounds
    )
    entry_rounds = np.repeat(np.arange(len(counts)), counts)
    total = len(entry_rounds)
    if total == 0:
        return Fleet.from_devices([]), np.zeros(0, dtype=np.int64)
    draw = generator(scenario.seed, "entry-kinds")
    which = draw.choice(len(groups), size=total, p=shares / shares.sum())
    parts, order = [], []
    for index, group in enumerate(groups):
        mine = np.flatnonzero(which == index)
        draw = generator(scenario.seed, "newcomers", index)
        parts.append(draw_group(group, len(mine), draw, scenario.region_m, group.count + 1))
        order.append(mine)
    back = np.argsort(np.concatenate(order), kind="stable")
    return Fleet.concatenate(parts).take(back), entry_rounds
