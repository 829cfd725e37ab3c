"""The batteries of devices and server: what is left in them, and who leaves when it is used up.

Batteries lie over the churn trace, which stays as it is: a device that can never again pay for a
report leaves at the end of the round, and is absent from then on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from scdn.arrays import Array, Mask, floats
from scdn.record.run_reader import Event
from scdn.simulation.outcome import Outcome
from scdn.simulation.server_compute import ServerCompute
from scdn.world.fleet import Fleet
from scdn.world.movement_models import MovementJ


@dataclass(frozen=True, eq=False)
class Budget:
    """What a round may take: of each device, and of the server; infinite without a battery.

    Devices with rations take no more than these, if they can do with a single iteration.
    """

    devices_j: Array
    server_j: float
    rations_j: float | Array = np.inf

    @property
    def is_unlimited(self) -> bool:
        """Return whether nobody has a battery."""
        return np.isinf(self.server_j) and bool(np.isinf(self.devices_j).all())


@dataclass
class Batteries:
    """What is left in every battery between two rounds.

    In each round `levels` limits the plan, `spend` takes what was used, and `exits` then names the
    devices that leave because of it; `depart` is called once they have left.

    Attributes
    ----------
    server_j
        What is left in the server's battery; None: it has none.
    left_j
        What is left in those of devices that have spent something, by id.
    departed
        The devices that have left because their batteries were used up.
    """

    server_j: float | None = None
    left_j: dict[str, float] = field(default_factory=dict)
    departed: set[str] = field(default_factory=set)
    exits: list[str] = field(default_factory=list)

    def present(self, fleet: Fleet) -> Mask:
        """Return which devices of the trace have not left because of their batteries."""
        if not self.departed:
            return np.ones(len(fleet), dtype=np.bool_)
        return np.array([name not in self.departed for name in fleet.id], dtype=np.bool_)

    def levels(self, fleet: Fleet) -> Array:
        """Return what is left in the batteries of these devices; infinite where there is none."""
        full = np.where(np.isnan(fleet.battery_j), np.inf, fleet.battery_j)
        pairs = zip(fleet.id, full.tolist(), strict=True)
        return floats([self.left_j.get(name, level) for name, level in pairs])

    def budget(self, fleet: Fleet, reserved: Mapping[str, float]) -> Budget:
        """Return what the next round may take; `reserved` is for cycles that are running."""
        taken = floats([reserved.get(name, 0.0) for name in fleet.id])
        server_j = np.inf if self.server_j is None else self.server_j
        return Budget(self.levels(fleet) - taken, server_j)

    def spend(
        self, fleet: Fleet, outcome: Outcome, movement: MovementJ, compute: ServerCompute
    ) -> Outcome:
        """Take what a round used; return its outcome, with idle power only while there is any."""
        levels = self.levels(fleet)
        after_work = np.maximum(levels - (outcome.device_j - outcome.idle_j), 0.0)
        idle_j = np.minimum(outcome.idle_j, after_work)
        for name, level in zip(fleet.id, (after_work - idle_j).tolist(), strict=True):
            if np.isfinite(level):
                self.left_j[name] = level
        if self.server_j is not None:
            sending_j = float(outcome.server_transmission_j.sum())
            spent_j = float(movement.total) + compute.joules + sending_j
            self.server_j = max(0.0, self.server_j - spent_j)
        return replace(outcome, idle_j=idle_j)

    def depart(self) -> None:
        """Make the devices of `exits` absent."""
        self.departed |= set(self.exits)
        self.exits = []

    def add_to_event(self, event: Event, fleet: Fleet) -> None:
        """Add what is left to the event of a round of these devices, if anybody has a battery."""
        levels = self.levels(fleet)
        if self.server_j is not None:
            event["server"]["battery_j"] = self.server_j
        if np.isfinite(levels).any():
            event["exits_by_battery"] = self.exits
        for entry, level in zip(event["devices"], levels.tolist(), strict=True):
            if np.isfinite(level):
                entry["battery_j"] = level

    # --- checkpoints ----------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Return the state between two rounds, for a checkpoint."""
        return {**asdict(self), "departed": sorted(self.departed)}

    @classmethod
    def from_state_dict(cls, state: Mapping[str, Any]) -> Batteries:
        """Return the batteries with this state."""
        return cls(**{**state, "departed": set(state["departed"])})
