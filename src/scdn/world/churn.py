"""Which devices enter and leave the network in which round, and which links fail.

Exits and entries do not depend on the method, so they are drawn once, as a trace that every method
replays. A device that enters during round r is present from round r + 1 on; one that leaves during
round r was present at its beginning. Link failures depend on the plan: a link fails when the delay
of its report exceeds the limit.
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
    """Return ln S(a) = −(a/λ)^k, the Weibull law of lifetimes, for an age a in rounds."""
    return -np.power(floats(age) / floats(scale), floats(shape))


def survival(age: ArrayLike, shape: ArrayLike, scale: ArrayLike) -> Array:
    """Return the probability to survive one more round, p = S(a + 1)/S(a)."""
    age = floats(age)
    return np.exp(log_survival(age + 1, shape, scale) - log_survival(age, shape, scale))


def link_failed(delay_s: ArrayLike, max_delay_s: float) -> Mask:
    """Return whether a report came too late (with the model's relative tolerance of 1e-9)."""
    return floats(delay_s) > max_delay_s * (1 + 1e-9)


@dataclass(frozen=True, eq=False)
class ChurnTrace:
    """Every device that is ever in the network, with the rounds of its entry and exit."""

    rounds: int
    quiet_rounds: int
    exits: bool
    fleet: Fleet
    entered: IntArray  # round during which a device entered; ALWAYS: present from the start
    exited: IntArray  # round during which it left, or NEVER

    def present(self, round_: int) -> Mask:
        """Return which devices are present when the round begins."""
        return (self.entered < round_) & (self.exited >= round_)

    def leaving(self, round_: int) -> Mask:
        """Return which devices leave during the round."""
        return self.exited == round_

    def entering(self, round_: int) -> Mask:
        """Return which devices enter during the round; they are present from the next one on."""
        return self.entered == round_

    def departed(self, round_: int) -> Mask:
        """Return which devices have left before the round begins."""
        return self.exited < round_

    def survival(self, round_: int) -> Array:
        """Return each device's probability to survive the round, from its age and lifetime."""
        fleet = self.fleet
        if not self.exits or round_ < self.quiet_rounds:
            return np.ones(len(fleet))
        age = np.maximum(0, round_ - np.maximum(self.entered + 1, self.quiet_rounds))
        return survival(age, fleet.weibull_shape, fleet.weibull_scale_rounds)

    def take(self, which: Mask) -> ChurnTrace:
        """Return the trace of some of the devices."""
        return replace(
            self,
            fleet=self.fleet.take(which),
            entered=self.entered[which],
            exited=self.exited[which],
        )

    def save(self, path: str | Path) -> None:
        """Write the trace as JSON."""
        write_atomic(path, to_json(self.document()) + "\n")

    def document(self) -> Table:
        """Return the trace in the form that `make_trace` reads."""
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
        None, "round during which it entered; null: present from the start", ge=0
    )
    exited: WholeNumber | None = setting(None, "round during which it left; null: it stayed", ge=0)


class _TraceFile(FrozenModel):
    schema_version: SchemaVersion = setting(1, "form of this file", alias="schema")
    rounds: WholeNumber = required_setting("number of rounds covered", gt=0)
    quiet_rounds: WholeNumber = setting(0, "rounds in which devices do not age", ge=0)
    exits: bool = setting(True, "whether devices leave at the end of their lifetimes")
    devices: Annotated[tuple[_TraceDevice, ...], Strict(False)] = required_setting("every device")


def read_trace(source: str | Path) -> ChurnTrace:
    """Read a trace from a file, such as one that `ChurnTrace.save` wrote."""
    return make_trace(read_document(source), str(source))


def make_trace(document: Table, source: str = "trace") -> ChurnTrace:
    """Make a trace from a table, after checking it."""
    file = validate_document(_TraceFile, document, source, _trace_faults)
    entered = [ALWAYS if device.entered is None else device.entered for device in file.devices]
    exited = [NEVER if device.exited is None else device.exited for device in file.devices]
    return ChurnTrace(
        rounds=file.rounds,
        quiet_rounds=file.quiet_rounds,
        exits=file.exits,
        fleet=Fleet.from_devices(file.devices),
        entered=np.array(entered, dtype=np.int64),
        exited=np.array(exited, dtype=np.int64),
    )


def _trace_faults(file: _TraceFile) -> list[Fault]:
    faults = list(device_faults(file.devices, (np.inf, np.inf, np.inf)))
    for index, device in enumerate(file.devices):
        entered = ALWAYS if device.entered is None else device.entered
        if device.exited is not None and device.exited <= entered:
            allowed = f"must be after the round of its entry, {entered}"
            faults.append(Fault(f"devices.{index}.exited", f"got {device.exited}", allowed))
    return faults


def churn_trace(scenario: Scenario) -> ChurnTrace:
    """Return the trace that the scenario names, or else draw one from its seed."""
    if scenario.churn.trace is None:
        return draw_trace(scenario)
    trace = read_trace(scenario.churn.trace)
    faults = [
        fault
        for index, position in enumerate(trace.fleet.position_m.tolist())
        for fault in outside_region_faults(
            f"devices.{index}.position_m", position, scenario.region_m
        )
    ]
    if trace.rounds < scenario.learning.rounds:
        allowed = f"must be ≥ learning.rounds = {scenario.learning.rounds}"
        faults.append(Fault("rounds", f"got {trace.rounds}", allowed))
    if faults:
        raise InputError(scenario.churn.trace, faults)
    return trace


def draw_trace(scenario: Scenario) -> ChurnTrace:
    """Draw a trace from the scenario's seed."""
    churn, rounds = scenario.churn, scenario.learning.rounds
    initial = initial_fleet(scenario)
    newcomers, entry_rounds = _draw_entries(scenario)
    fleet = Fleet.concatenate([initial, newcomers])
    entered = np.concatenate([np.full(len(initial), ALWAYS), entry_rounds])
    exited = np.full(len(fleet), NEVER)
    trace = ChurnTrace(rounds, churn.quiet_rounds, churn.exits, fleet, entered, exited)
    uniforms = np.concatenate(
        [
            generator(scenario.seed, "exits", stream).uniform(0.0, 1.0, (len(devices), rounds))
            for stream, devices in enumerate((initial, newcomers))
        ]
    )
    for round_ in range(rounds):  # fills the trace's `exited`, which survival does not look at
        present = (entered < round_) & (exited == NEVER)
        exited[present & (uniforms[:, round_] >= trace.survival(round_))] = round_
        for number, shock in enumerate(churn.shocks):
            if shock.round == round_:
                struck = _struck(shock, fleet, generator(scenario.seed, "shock", number))
                exited[present & struck] = round_
    return trace


def _struck(shock: Shock, fleet: Fleet, draw: np.random.Generator) -> Mask:
    """Return which devices of the shock's disc it destroys."""
    step = fleet.position_m[:, :2] - floats(shock.centre_m)
    near = np.hypot(step[:, 0], step[:, 1]) <= shock.radius_m
    return near & (draw.uniform(0.0, 1.0, len(fleet)) < shock.exit_probability)


def _draw_entries(scenario: Scenario) -> tuple[Fleet, IntArray]:
    """Draw the newcomers in the order of their entry, and the round of each entry.

    Their number is Poisson; a newcomer belongs to a group with probability `entry_share`.
    """
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
    group_of = draw.choice(len(groups), size=total, p=shares / shares.sum())
    newcomers = []
    for index, group in enumerate(groups):
        draw = generator(scenario.seed, "newcomers", index)
        count = int((group_of == index).sum())
        newcomers.append(draw_group(group, count, draw, scenario.region_m, group.count + 1))
    by_entry = np.argsort(np.argsort(group_of, kind="stable"), kind="stable")
    return Fleet.concatenate(newcomers).take(by_entry), entry_rounds
