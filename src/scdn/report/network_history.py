"""A run's network over its rounds: the state of every device and the server's positions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scdn.record.round_totals import finite_number
from scdn.record.run_reader import Event, Run

# A device's state in a round is one letter: its colour in the theme, and its label.
STATES = {
    "a": ("active", "active"),
    "p": ("present", "present, off"),
    "f": ("failed", "link failed"),
    "l": ("left", "leaves"),
    "g": ("gone", "departed"),
}
ABSENT = "."  # not yet entered

Position = Sequence[float]


@dataclass(frozen=True)
class DeviceHistory:
    """A device's states, a letter per round, and its positions: a single one if it never moves.

    `battery_j` is what is left in its battery after each round, if it has one.
    """

    id: str
    states: str
    positions: Sequence[Position]
    battery_j: Sequence[float | None] | None = None


@dataclass(frozen=True, eq=False)
class NetworkHistory:
    """What the charts of presence, of batteries and of the server's path show of a run."""

    label: str
    rounds: Sequence[int]
    region_m: Position
    server_m: Sequence[Position | None]
    devices: Sequence[DeviceHistory]
    server_battery_j: Sequence[float | None] | None = None

    @classmethod
    def from_run(cls, run: Run) -> NetworkHistory:
        """Collect the history from the run's round events."""
        present = [_positions_by_id(event) for event in run.rounds]
        ids = dict.fromkeys(
            name
            for event, positions in zip(run.rounds, present, strict=True)
            for name in (*positions, *_ids(event, "exited"))
        )
        servers = [event.get("server") or {} for event in run.rounds]
        server = [entry.get("position_m") for entry in servers]
        entries = [{d["id"]: d for d in event.get("devices") or ()} for event in run.rounds]
        devices = [
            DeviceHistory(
                name,
                _states(run.rounds, name),
                _positions([at.get(name) for at in present]),
                _battery_levels([by_id.get(name) or {} for by_id in entries]),
            )
            for name in ids
        ]
        known = [position for device in devices for position in device.positions]
        return cls(
            label=f"{run.method}, seed {run.seed}",
            rounds=[event["round"] + 1 for event in run.rounds],
            region_m=_region(run.scenario, [*known, *filter(None, server)]),
            server_m=server,
            devices=devices,
            server_battery_j=_battery_levels(servers),
        )

    @property
    def has_batteries(self) -> bool:
        """Return whether anything runs on a battery."""
        return any(d.battery_j for d in self.devices) or self.server_battery_j is not None


def _positions_by_id(event: Event) -> dict[str, Position | None]:
    return {device["id"]: device.get("position_m") for device in event.get("devices") or ()}


def _battery_levels(entries: Sequence[Event]) -> list[float | None] | None:
    """Return the battery level after each round, None where it is absent; None without any."""
    levels = [finite_number(entry, "battery_j") for entry in entries]
    known = [None if math.isnan(level) else level for level in levels]
    return known if any(level is not None for level in known) else None


def _ids(event: Event, key: str) -> Sequence[str]:
    return [str(name) for name in event.get(key) or ()]


def _states(rounds: Sequence[Event], name: str) -> str:
    states, seen = "", False
    for event in rounds:
        if name in _ids(event, "exited"):
            state = "l"
        elif name in _positions_by_id(event):
            in_use = "a" if name in _ids(event, "active") else "p"
            state = "f" if name in _ids(event, "link_failed") else in_use
        else:
            state = "g" if seen else ABSENT
        seen = seen or state != ABSENT
        states += state
    return states


def _positions(by_round: Sequence[Position | None]) -> list[Position]:
    """Return one position if it never changes, else one per round, the last known when absent."""
    known = [position for position in by_round if position]
    if not known or all(position == known[0] for position in known):
        return known[:1]
    last, positions = known[0], []
    for position in by_round:
        last = position or last
        positions.append(last)
    return positions


def _region(scenario: dict[str, Any], positions: Sequence[Position]) -> Position:
    region = scenario.get("region_m")
    if isinstance(region, list) and len(region) == 3:
        return region
    return [max([1.0, *(position[axis] for position in positions)]) for axis in range(3)]
