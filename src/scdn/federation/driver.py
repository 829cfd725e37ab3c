"""The round of `Simulation` with real devices: who answers, who goes and who comes is seen."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from scdn.control.plan import Plan
from scdn.control.problem import RoundProblem
from scdn.federation.labels import Alignment
from scdn.federation.remote import Remote
from scdn.federation.roster import Roster
from scdn.learning.split import View
from scdn.rng import generator
from scdn.scenario.model import Group, Scenario
from scdn.simulation.loop import Event, Simulation
from scdn.simulation.material import Material
from scdn.simulation.outcome import Outcome
from scdn.world.churn import NEVER, ChurnTrace
from scdn.world.fleet import Fleet, draw_group, names

ELSEWHERE = View("table", np.zeros(0, np.int64), np.zeros(0, bool), (0,))


class Apart(Material):
    """A run's material where features are with devices."""

    def entering(self, name: str) -> View:  # noqa: ARG002
        """What a newcomer holds is not for the server to know."""
        return ELSEWHERE


@dataclass
class Federation(Simulation):
    """A run between two rounds, its parties elsewhere."""

    roster: Roster = field(kw_only=True)
    remote: Remote = field(kw_only=True)
    rows: Alignment = field(kw_only=True)
    scripted: bool = field(default=False, kw_only=True)  # exits and entries follow a trace
    wait_s: float = field(default=60.0, kw_only=True)  # for devices that a trace expects
    _lost: set[str] = field(default_factory=set, kw_only=True)  # who left without being told to

    def plan(self, problem: RoundProblem) -> tuple[Plan, str | None]:
        """The method's plan; each device will hear its own part."""
        plan, fallback = super().plan(problem)
        decision = plan.decision
        self.remote.plan = {
            name: {
                "iterations": decision.iterations[n],
                "power_w": decision.power_w[n],
                "cpu_hz": decision.cpu_hz[n],
            }
            for n, name in enumerate(problem.ids)
        }
        return plan, fallback

    def as_it_went(self, plan: Plan, outcome: Outcome) -> Outcome:
        """Who did not answer, and who is gone for good."""
        ids, missed = plan.problem.ids, self.remote.missed
        leaving = {name for name, yes in zip(ids, outcome.leaving, strict=True) if yes}
        trained = set(self.remote.trained) - missed
        left = self.roster.gone([n for n in ids if n not in leaving], missed) - trained
        self._lost |= left
        if left:
            self.trace = departed(self.trace, left, self.round)
        late = np.array([name in missed - left for name in ids], bool)
        return outcome.with_missing(plan, late, np.array([name in left for name in ids], bool))

    def arrivals(self) -> None:
        """Lets newcomers in, and says good-bye to those who go."""
        going = self.trace.leaving(self.round) & self._present
        goers = self.trace.fleet.id[going].tolist()
        self.roster.bye([name for name in goers if name not in self._lost], "you have left")
        self.roster.dismiss(goers)
        self._lost.clear()
        if self.scripted:
            self._expected()
            return
        for name in self._ready(self.look()):
            guest = self.roster.guests[name]
            device = device_of(self.scenario, name, guest.position_m)
            self.trace = arrived(self.trace, device, self.round)

    def look(self) -> list[str]:
        """Newcomers at the door; who was only away is seated again."""
        new, back = self.roster.look(self.holding)
        for name in self.remote.invite(back):
            self.remote.rejoin(name)
            self.roster.post.note(f"{name}: is back")
        return new

    def holding(self, party: str) -> int | None:
        """The state that the server has of a party that is present."""
        going = self.trace.fleet.id[self.trace.leaving(self.round)]
        one = None if party in going else self.remote.here.get(party)
        return None if one is None else one.state

    def witnessed(self, event: Event) -> None:
        """Measured time and bytes beside the modelled ones."""
        post = self.roster.post
        for device in event["devices"]:
            meter = post.meters.get(device["id"])
            if meter is not None:
                device["measured"] = asdict(meter)
        event["federation"] = {
            "missed": sorted(self.remote.missed),
            "late": dict(post.late),
            "wrong": dict(post.strikes),
        }
        post.meters.clear()

    def words(self) -> Event:
        """With what only a federation has to remember."""
        told = {
            "trace": self.trace.table(),
            "run": self.roster.post.run,
            "salt": self.roster.salt,
            "devices": self.roster.devices,
            "silent": dict(self.roster.silent),
        }
        return {**super().words(), "federation": told}

    def take_up(self, words: Mapping[str, Any]) -> None:
        """Goes on from a checkpoint, once the devices are back that were there."""
        super().take_up(words)
        heard = {name for name in self.remote.names if not self.roster.silent[name]}
        deadline = time.monotonic() + self.wait_s
        while not heard <= set(self.roster.guests) and time.monotonic() < deadline:
            self.look()
            if not heard <= set(self.roster.guests):
                time.sleep(0.3)
        for name in sorted(heard - set(self.roster.guests)):
            self.roster.post.note(f"{name}: has not come back")

    # --- inside ---------------------------------------------------------------------------------

    def _expected(self) -> None:
        """Waits for those whom the trace lets enter in this round."""
        wanted = set(self.trace.fleet.id[self.trace.coming(self.round)].tolist())
        if not wanted:
            return
        deadline = time.monotonic() + self.wait_s
        while not wanted <= set(self.roster.guests) and time.monotonic() < deadline:
            self.look()
            if not wanted <= set(self.roster.guests):
                time.sleep(0.3)
        ready = self._ready([name for name in wanted if name in self.roster.guests])
        for name in wanted - set(ready):
            self.roster.post.note(f"{name}: the trace lets it enter, but it did not come")
            self.trace = never_came(self.trace, name)

    def _ready(self, new: list[str]) -> list[str]:
        """Newcomers who have the run's rows and made a model."""
        able = []
        for name in sorted(new):
            keys = {row.tobytes() for row in self.roster.guests[name].keys}
            lacks = sum(
                row.tobytes() not in keys
                for part in (self.rows.train, self.rows.test)
                for row in part
            )
            if lacks:
                self.roster.post.note(f"{name}: lacks {lacks} of the run's rows; not let in")
                self.roster.bye([name], f"{lacks} of the run's rows are missing")
                self.roster.post.banned.add(self.roster.guests[name].node)
                self.roster.dismiss([name])
            else:
                able.append(name)
        ready = self.remote.invite(able)
        self.roster.dismiss(set(able) - set(ready))
        return ready


# --- the trace, as it turns out -------------------------------------------------------------------


def departed(trace: ChurnTrace, gone: set[str], round_: int) -> ChurnTrace:
    """With some who leave in this round."""
    mask = np.array([name in gone for name in trace.fleet.id], bool) & trace.present(round_)
    return replace(trace, exited=np.where(mask, round_, trace.exited))


def arrived(trace: ChurnTrace, device: Fleet, round_: int) -> ChurnTrace:
    """With one who enters in this round."""
    return replace(
        trace,
        fleet=Fleet.join([trace.fleet, device]),
        entered=np.append(trace.entered, round_),
        exited=np.append(trace.exited, NEVER),
    )


def never_came(trace: ChurnTrace, name: str) -> ChurnTrace:
    """Without one who was to enter."""
    return trace.only(trace.fleet.id != name)


def device_of(
    scenario: Scenario, name: str, position_m: tuple[float, float, float] | None = None
) -> Fleet:
    """The hardware and place of a device that the scenario does not list: drawn by its name."""
    group = scenario.fleet[0] if scenario.fleet else Group()
    draw = generator(scenario.seed, f"guest:{name}")
    found = draw_group(group, 1, draw, scenario.region_m)
    inside = position_m is not None and all(
        0 <= x <= size for x, size in zip(position_m, scenario.region_m, strict=True)
    )
    place = np.array([position_m]) if inside else found.position_m
    return replace(found, id=names([name]), position_m=place)


def words_of(words: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """What a checkpoint has of the federation."""
    return {} if words is None else words["federation"]
