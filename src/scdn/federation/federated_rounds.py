"""The rounds of `Simulation` with real devices: replies, departures and arrivals are observed."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from scdn.control.plan import Plan
from scdn.control.problem import RoundProblem
from scdn.federation.anomaly_detection import MAX_SUSPICIOUS_ROUNDS
from scdn.federation.embedding_harm import HarmMeasure
from scdn.federation.membership import Membership, Position
from scdn.federation.observed_clock import ObservedClock
from scdn.federation.remote_parties import RemoteParties
from scdn.federation.report_checks import forget_liars, liars_among
from scdn.federation.row_alignment import AlignedRows
from scdn.federation.slow_replies import find_slow
from scdn.file_io import OutputError
from scdn.learning.feature_split import FeatureView
from scdn.learning.step_rule import StepTaken
from scdn.learning.tensors import single_threaded
from scdn.learning.virtual_clock import Arrival
from scdn.record.run_reader import Event
from scdn.rng import generator
from scdn.scenario import DeviceGroup, Scenario
from scdn.simulation.arrival_rounds import recorded_arrivals
from scdn.simulation.loop import Simulation
from scdn.simulation.outcome import Outcome, RoundResult
from scdn.simulation.problem_builder import DeviceReports
from scdn.simulation.run_data import RunData
from scdn.simulation.waited_reports import waits_for_all
from scdn.world.churn import NEVER, ChurnTrace
from scdn.world.fleet import Fleet, draw_group, string_array

UNKNOWN_FEATURES = FeatureView("table", np.zeros(0, np.int64), np.zeros(0, bool), (0,))
POLL_S = 0.3  # between two looks for devices that are expected


class FederatedRunData(RunData):
    """A run's data on the server, which has no features; `form` has the task and its classes."""

    def newcomer_view(self, name: str) -> FeatureView:  # noqa: ARG002
        """Return a placeholder: a new party's features are known to its device alone."""
        return UNKNOWN_FEATURES


@dataclass
class FederatedSimulation(Simulation):
    """A run whose parties are devices: `Simulation` calls the methods below in every round.

    `plan` keeps each device's part of the plan. `apply_missing_reports` finds out which devices did
    not reply and which have left. `admit_newcomers` admits devices that have connected, and
    `add_measurements` adds measured times and bytes to the round's event.
    """

    membership: Membership = field(kw_only=True)
    remote: RemoteParties = field(kw_only=True)
    rows: AlignedRows = field(kw_only=True)
    follows_trace: bool = field(default=False, kw_only=True)  # exits and entries as scripted
    wait_s: float = field(default=60.0, kw_only=True)  # for devices that are expected
    _together: bool = field(default=False, kw_only=True)  # the round waits for all reports
    _new: set[str] = field(default_factory=set, kw_only=True)  # found before a round
    _lost: set[str] = field(default_factory=set, kw_only=True)  # departed without a goodbye

    def __post_init__(self) -> None:
        super().__post_init__()
        self.remote.detector.harm = HarmMeasure(self.model.server)
        self.membership.messenger.probe = self.membership.hello
        if not self.schedule.waits_for_all:
            recorded = recorded_arrivals(self.scenario)
            self.schedule.clock = ObservedClock(remote=self.remote, recorded=recorded)

    def collect_reports(self) -> DeviceReports:
        """Wait for a device where none is connected; no round is spent on nobody."""
        if not self._is_anybody_connected() and not self._is_anybody_found():
            waited = f"no device was connected for {self.wait_s:g} s before round {self.round + 1}"
            raise OutputError(f"{waited}; continue with --resume")
        return super().collect_reports()

    def plan(self, problem: RoundProblem) -> tuple[Plan, str | None]:
        """Plan the round as in a simulation, and keep each device's part of the plan."""
        plan, fallback = super().plan(problem)
        if isinstance(self.schedule.clock, ObservedClock):
            self.schedule.clock.begin_round()
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

    def train(self, plan: Plan, outcome: Outcome) -> RoundResult:
        """Train as in a simulation; the time of a round that waits for all is modelled."""
        self._together = waits_for_all(self, plan)
        result = super().train(plan, outcome)
        if self._together and isinstance(self.schedule.clock, ObservedClock):
            self.schedule.clock.restart()
        return result

    def train_arrivals(
        self, plan: Plan, outcome: Outcome, arrivals: list[Arrival]
    ) -> list[StepTaken]:
        """Train as in a simulation, and note whose report failed although it was ready."""
        steps = super().train_arrivals(plan, outcome, arrivals)
        if isinstance(self.schedule.clock, ObservedClock):
            names = {arrival.name for arrival in arrivals}
            self.schedule.clock.drop(names & self.remote.progress.missed)
        return steps

    def apply_missing_reports(self, plan: Plan, outcome: Outcome) -> Outcome:
        """Add the devices that did not reply, and those that have left, to the round's outcome."""
        clock = self.schedule.clock
        if isinstance(clock, ObservedClock) and not self._together:
            return self._apply_dropped_reports(plan, outcome, clock)
        ids, progress = plan.problem.ids, self.remote.progress
        missed = progress.missed
        staying = [name for name, leaves in zip(ids, outcome.leaving, strict=True) if not leaves]
        self._dismiss_suspicious(staying)
        trained = set(progress.trained) - missed
        departed = self.membership.find_departed(staying, progress.asked, missed) - trained
        self._note_departures(departed)
        unheard = np.array([name in missed - departed for name in ids], bool)
        left = np.array([name in departed for name in ids], bool)
        return outcome.with_missing_reports(plan, unheard, left)

    def _apply_dropped_reports(self, plan: Plan, outcome: Outcome, clock: ObservedClock) -> Outcome:
        """Add devices that did not report, although they should have, and those that have left.

        A device that still works is late, and not silent.
        """
        ids = plan.problem.ids
        staying = [name for name, leaves in zip(ids, outcome.leaving, strict=True) if not leaves]
        self._dismiss_suspicious(staying)
        missed = clock.dropped - clock.heard
        departed = self.membership.find_departed(staying, clock.dropped | clock.heard, missed)
        self._note_departures(departed)
        left = np.array([name in departed for name in ids], bool)
        unheard = np.array([name in missed for name in ids], bool)
        return replace(
            outcome, leaving=outcome.leaving | left, failed=(outcome.failed | unheard) & ~left
        )

    def _note_departures(self, departed: set[str]) -> None:
        """Let devices that have left without a goodbye leave in this round."""
        self._lost |= departed
        self._forget_unreported(departed)
        for name in sorted(departed):
            self._log(f"{name}: has left, in round {self.round + 1}")
        if departed:
            self.trace = with_departures(self.trace, departed, self.round)

    def _forget_unreported(self, names: Collection[str]) -> None:
        """Forget parties that have left without a report: of their test rows nothing is known.

        What the server has learned to expect of them in training rows would be missing there.
        """
        unknown = [name for name in names if self.remote.parties[name].sample is None]
        harm = self.remote.detector.harm
        if unknown and harm is not None:
            harm.forget(unknown)

    def _dismiss_suspicious(self, staying: Collection[str]) -> None:
        """Send away devices that were out of line, or slow, in too many rounds."""
        messenger, detector = self.membership.messenger, self.remote.detector
        waited_s = {n: t.waited_s for n, t in messenger.traffic.items() if n in staying}
        for name, reason in find_slow(waited_s, messenger.timeout_s).items():
            messenger.log(f"{name}: {reason}")
            detector.slow_rounds[name] += 1
        names = detector.to_dismiss(staying)
        reason = f"it was out of line, or slow, in {MAX_SUSPICIOUS_ROUNDS} rounds"
        self.membership.dismiss(names, reason)
        self.model.unsent -= set(liars_among(self.remote, names))
        self.remote.progress.missed.update(names)

    def update_network(self) -> tuple[list[str], list[str]]:
        """Process entries and exits; nothing is kept of parties that leave and ever lied.

        The fusion model relies on what they sent, so it is trained at once without them.
        """
        leaving = self.leaving()
        if leaving:
            self.model.exchange()
        liars = forget_liars(self.remote, leaving)
        entered, exited = super().update_network()
        if liars:
            purposes = ("server without liars", "mask without liars")
            draws = [generator(self.scenario.seed, purpose, self.round) for purpose in purposes]
            steps, batch_size = self.server_steps().count, self.scenario.learning.batch_size
            with single_threaded():
                self.model.server.train_on_recent_rows(steps, batch_size, *draws)
        return entered, exited

    def admit_newcomers(self) -> None:
        """Say goodbye to devices that leave, and admit new ones."""
        self.membership.took_part |= self.model.connections.keys()
        names = self.leaving()
        self.membership.say_goodbye([n for n in names if n not in self._lost], "you have left")
        self.membership.forget(names)
        self._lost.clear()
        if self.follows_trace:
            self._admit_as_scripted()
            return
        new, self._new = self._new | set(self._discover()), set()
        for name in self._ask_to_join(new):
            position = self.membership.members[name].position_m
            device = draw_device(self.scenario, name, position)
            self.trace = with_arrival(self.trace, device, self.round)
            self._log(f"{name}: has joined, takes part from round {self.round + 2}")

    def add_measurements(self, event: Event) -> None:
        """Add measured times and bytes to the event, beside the modelled ones."""
        messenger = self.membership.messenger
        for device in event["devices"]:
            traffic = messenger.traffic.get(device["id"])
            if traffic is not None:
                device["measured"] = asdict(traffic)
        event["federation"] = {
            "missed": sorted(self.remote.progress.missed),
            "left_out": dict(self.remote.left_out),
            "late": dict(messenger.late_replies),
            "wrong": dict(messenger.wrong_replies),
        }
        messenger.traffic.clear()
        self.remote.left_out.clear()

    # --- checkpoint -----------------------------------------------------------------------------

    def state_dict(self) -> Event:
        """Return a simulation's state with that of the devices."""
        self.membership.took_part |= self.model.connections.keys()
        federation = {"trace": self.trace.document(), **self.membership.state_dict()}
        federation["anomalies"] = self.remote.detector.state_dict()
        return {**super().state_dict(), "federation": federation}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore a checkpoint, and wait for the devices that were connected."""
        super().load_state_dict(state)
        if isinstance(self.schedule.clock, ObservedClock):
            self.model.pending = set()  # cycles begin again
        if "anomalies" in state["federation"]:  # not in runs of earlier versions
            self.remote.detector.load_state_dict(state["federation"]["anomalies"])
        silent_rounds = self.membership.silent_rounds
        for name in self._wait_for({n for n in self.remote.names if not silent_rounds[n]}):
            self._log(f"{name}: has not come back")

    # --- inside ---------------------------------------------------------------------------------

    def _log(self, text: str) -> None:
        self.membership.messenger.log(text)

    def _is_anybody_connected(self) -> bool:
        """Return whether a party is connected; a trace may say that there is none."""
        connected = self.membership.connected(self.remote.names)
        return bool(connected) or (self.follows_trace and not self.remote.names)

    def _is_anybody_found(self) -> bool:
        """Wait until a party is back, or a new one can join at the end of the round."""
        self._log(f"no device is connected; waiting up to {self.wait_s:g} s")
        deadline = time.monotonic() + self.wait_s
        while time.monotonic() < deadline:
            self._new |= set(self._discover())
            if self._new or self._is_anybody_connected():
                return True
            time.sleep(POLL_S)
        return False

    def _discover(self) -> list[str]:
        """Return new parties; parties that are back continue where they were."""
        new, back = self.membership.discover(self._known_state)
        for name in self.remote.ask_to_join(back):
            self.remote.rejoin(name)
            self.membership.note_return(name)
            self._log(f"{name}: is back")
        return new

    def _known_state(self, party: str) -> int | None:
        """Return the number of the model state that the server has of a party that is present."""
        known = None if party in self.leaving() else self.remote.parties.get(party)
        return None if known is None else known.state

    def _wait_for(self, expected: set[str]) -> list[str]:
        """Wait until these parties are connected; return those that are not."""
        deadline = time.monotonic() + self.wait_s
        while not expected <= set(self.membership.members) and time.monotonic() < deadline:
            self._discover()
            if not expected <= set(self.membership.members):
                time.sleep(POLL_S)
        return sorted(expected - set(self.membership.members))

    def _admit_as_scripted(self) -> None:
        """Wait for the devices that the trace lets enter in this round, and admit them."""
        staying = set(self.remote.names) - set(self.leaving())
        if not staying <= self.membership.connected(staying):
            self._discover()  # one that restarted may be back, at another node
        expected = set(self.trace.fleet.id[self.trace.entering(self.round)].tolist())
        if not expected:
            return
        missing = self._wait_for(expected)
        joined = self._ask_to_join(expected - set(missing))
        for name in expected - set(joined):
            self._log(f"{name}: should enter now, but has not connected")
            self.trace = without_device(self.trace, name)

    def _ask_to_join(self, names: Collection[str]) -> list[str]:
        """Ask devices that have all of the run's rows to join; return those that did."""
        complete = []
        for name in sorted(names):
            member = self.membership.members[name]
            missing = self.rows.missing_from(member.keys)
            if missing:
                self.membership.refuse(name, f"lacks {missing} of the run's rows", ends=True)
            else:
                complete.append(name)
        joined = self.remote.ask_to_join(complete)
        for name in sorted(set(complete) - set(joined)):
            self.membership.refuse(name, "did not join", ends=False)
        return joined


# --- the trace, as it turns out -------------------------------------------------------------------


def with_departures(trace: ChurnTrace, departed: set[str], round_: int) -> ChurnTrace:
    """Return the trace with these devices leaving in this round."""
    mask = np.array([name in departed for name in trace.fleet.id], bool) & trace.present(round_)
    return replace(trace, exited=np.where(mask, round_, trace.exited))


def with_arrival(trace: ChurnTrace, device: Fleet, round_: int) -> ChurnTrace:
    """Return the trace with a device entering in this round."""
    return replace(
        trace,
        fleet=Fleet.concatenate([trace.fleet, device]),
        entered=np.append(trace.entered, round_),
        exited=np.append(trace.exited, NEVER),
    )


def without_device(trace: ChurnTrace, name: str) -> ChurnTrace:
    """Return the trace without a device that was to enter."""
    return trace.take(trace.fleet.id != name)


def draw_device(scenario: Scenario, name: str, position_m: Position | None) -> Fleet:
    """Draw hardware and position, by its name, of a device that the scenario does not list."""
    group = scenario.fleet[0] if scenario.fleet else DeviceGroup()
    draw = generator(scenario.seed, f"guest:{name}")
    device = draw_group(group, 1, draw, scenario.region_m)
    inside = position_m is not None and is_inside(scenario, position_m)
    position = np.array([position_m]) if inside else device.position_m
    return replace(device, id=string_array([name]), position_m=position)


def is_inside(scenario: Scenario, position_m: Position) -> bool:
    """Return whether a position is in the scenario's region."""
    return all(0 <= x <= size for x, size in zip(position_m, scenario.region_m, strict=True))
