"""The server of a federated run: wait for devices, align rows by key, then run or resume.

A run's folder has, beside what a simulation writes, `rows.npz` (the run's rows in order, as hashed
keys), `alignment.json` (which rows were left out) and `federation.log`.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from scdn.data.input_format import InputFormat
from scdn.errors import input_error
from scdn.federation.federated_rounds import (
    POLL_S,
    UNKNOWN_FEATURES,
    FederatedRunData,
    FederatedSimulation,
    draw_device,
    is_inside,
    without_device,
)
from scdn.federation.membership import PATIENCE_S, Membership
from scdn.federation.messenger import Messenger, Request, Transport
from scdn.federation.remote_parties import RemoteParties
from scdn.federation.row_alignment import AlignedRows, KeyedLabels, align, devices_to_leave_out
from scdn.federation.server_settings import ServerSettings, federated_scenario
from scdn.federation.wire_format import Arrays
from scdn.file_io import write_atomic
from scdn.learning.batches import sample_rows
from scdn.learning.dataset_tensors import DatasetTensors
from scdn.learning.party_factory import PartyFactory
from scdn.learning.table_sender import SAMPLE_GRADIENTS
from scdn.methods import method
from scdn.npz import read_npz, write_npz
from scdn.record.run_reader import Run
from scdn.scenario import Scenario, read_scenario
from scdn.simulation.run_environment import RunEnvironment
from scdn.simulation.runner import OnRound, resume, run
from scdn.world.churn import ALWAYS, NEVER, ChurnTrace, churn_trace, make_trace
from scdn.world.fleet import Fleet, initial_fleet

_ROWS_FILE = "rows.npz"
_ALIGNMENT_FILE = "alignment.json"
_LOCK_S = 30.0  # a killed server's process of the run ends a little after it and frees the folder


def run_server(settings: ServerSettings, transport: Transport) -> Run:
    """Run or resume as the settings say; write what happens to the log in the run's folder."""
    out = Path(settings.out)
    out.mkdir(parents=True, exist_ok=True)
    server = FederatedServer(
        settings.read_labels(),
        transport,
        out,
        settings.devices or None,
        settings.wait_s,
        settings.timeout_s,
        settings.log,
        settings.patience_s,
        settings.min_rows,
    )
    if settings.resume:
        return server.resume()
    reference = Path(settings.reference) if settings.reference else None
    return server.run(read_scenario(settings.scenario), reference=reference)


@dataclass
class FederatedServer:
    """Runs a scenario with the devices that connect; `run` and `resume` return when it is over."""

    labels: KeyedLabels
    transport: Transport
    out: Path
    devices: int | None = None  # to start with; None: as many as the scenario's network has
    wait_s: float = 120.0  # for the initial devices, and for those that a trace lets enter
    timeout_s: float = 30.0  # for a reply
    log: Callable[[str], None] = lambda _: None
    patience_s: float = PATIENCE_S  # with a device that is not connected, until it has left
    min_rows: int = 0  # that first devices share; 0: half of those of a device in the middle
    _membership: Membership = field(init=False)

    def __post_init__(self) -> None:
        messenger = Messenger(self.transport, secrets.token_hex(8), self.timeout_s, log=self.log)
        labels = len(self.labels.keys)
        salt = secrets.token_hex(16)
        self._membership = Membership(messenger, salt, labels, self.patience_s)

    def run(
        self, scenario: Scenario, *, reference: Path | None = None, on_round: OnRound | None = None
    ) -> Run:
        """Start a new run."""
        scenario, environment = federated_scenario(scenario), self._environment
        return self._ended(
            run(scenario, self.out, reference=reference, on_round=on_round, environment=environment)
        )

    def resume(self) -> Run:
        """Continue the run in the folder from its checkpoint; devices reconnect by themselves."""
        return self._ended(resume(self.out, environment=self._environment, wait_s=_LOCK_S))

    def _ended(self, result: Run) -> Run:
        self._membership.say_goodbye(list(self._membership.members), "the run is over")
        return result

    def _environment(
        self, scenario: Scenario, checkpoint: Mapping[str, Any] | None
    ) -> RunEnvironment:
        if checkpoint is None:
            trace = self._initial_trace(scenario)
            if scenario.churn.trace is None:
                trace = self._without_devices_that_lack_rows(trace)
            rows = self._align_rows(trace)
        else:
            federation = checkpoint["federation"]
            trace = make_trace(federation["trace"], "checkpoint")
            self._membership.load_state_dict(federation)
            rows = self._restore_rows()
        data, remote = self._data_and_parties(scenario, rows, trace)
        if checkpoint is None:
            missing = sorted(set(data.views) - set(remote.ask_to_join(data.views)))
            if missing and (scenario.churn.trace is not None or len(missing) == len(data.views)):
                raise input_error("devices", ", ".join(missing), "did not join", "see their logs")
            for name in missing:  # they may join later
                self._membership.refuse(name, "did not join", ends=False)
                trace = without_device(trace, name)
                del data.views[name]
        simulation = partial(
            FederatedSimulation,
            membership=self._membership,
            remote=remote,
            rows=rows,
            follows_trace=scenario.churn.trace is not None,
            wait_s=self.wait_s,
        )
        return RunEnvironment(trace, data, remote, simulation)

    # --- the initial devices --------------------------------------------------------------------

    def _initial_trace(self, scenario: Scenario) -> ChurnTrace:
        """Wait for the initial devices and return a trace that starts with them."""
        members = self._membership.members
        if scenario.churn.trace is not None:
            trace = churn_trace(scenario)
            expected = set(trace.fleet.id[trace.present(0)].tolist())
            self._wait_for(lambda: expected <= set(members), len(expected))
            missing = sorted(expected - set(members))
            if missing:
                raise input_error(
                    "devices", ", ".join(missing), "did not connect", "the trace starts with them"
                )
            return trace
        known = initial_fleet(scenario)
        count = self.devices or len(known)
        self._wait_for(lambda: len(members) >= count, count)
        if not members:
            waited = f"waited {self.wait_s:g} s"
            raise input_error("devices", "network", "no device has connected", waited)
        for name, member in members.items():
            if member.position_m is not None and not is_inside(scenario, member.position_m):
                self.log(f"{name}: its position is outside of the region, and not used")
        others = sorted(set(members) - set(known.id))
        fleet = Fleet.concatenate(
            [
                known.take(np.array([name in members for name in known.id], bool)),
                *(draw_device(scenario, name, members[name].position_m) for name in others),
            ]
        )
        churn, rounds = scenario.churn, scenario.learning.rounds
        entered, exited = np.full(len(fleet), ALWAYS), np.full(len(fleet), NEVER)
        return ChurnTrace(rounds, churn.quiet_rounds, churn.exits, fleet, entered, exited)

    def _wait_for(self, enough: Callable[[], bool], count: int) -> None:
        self.log(f"waiting for {count} devices")
        members = self._membership.members
        deadline = time.monotonic() + self.wait_s
        while not enough() and time.monotonic() < deadline:
            new, _ = self._membership.discover(lambda _: None)
            for name in new:
                self.log(f"{name}: connected, {len(members[name].keys)} rows")
            if not enough():
                time.sleep(POLL_S)
        if not enough():
            self.log(f"waited {self.wait_s:g} s; {len(members)} devices are connected")

    # --- rows, data and parties -----------------------------------------------------------------

    def _without_devices_that_lack_rows(self, trace: ChurnTrace) -> ChurnTrace:
        """Send devices away without which far more rows are shared; return the others' trace."""
        members, salt = self._membership.members, self._membership.salt
        keys = {name: members[name].keys for name in trace.fleet.id.tolist()}
        for name in devices_to_leave_out(self.labels, keys, salt, self.min_rows):
            self._membership.refuse(name, "lacks too many of the rows", ends=True)
            trace = without_device(trace, name)
        return trace

    def _align_rows(self, trace: ChurnTrace) -> AlignedRows:
        """Match the labels with the initial devices' keys, and record the result."""
        members, initial = self._membership.members, trace.fleet.id[trace.present(0)].tolist()
        keys = {name: members[name].keys for name in initial}
        rows = align(self.labels, keys, self._membership.salt)
        if rows.report["matched"] < self.min_rows:
            problem = f"only {rows.report['matched']} are with the server and every device"
            allowed = f"must be at least --min-rows {self.min_rows}"
            raise input_error("keys", "rows", problem, allowed)
        for line in rows.lines():
            self.log(line)
        self.out.mkdir(parents=True, exist_ok=True)
        write_npz(self.out / _ROWS_FILE, train=rows.train, test=rows.test, **_targets(rows))
        write_atomic(self.out / _ALIGNMENT_FILE, json.dumps(rows.report, indent=2) + "\n")
        return rows

    def _restore_rows(self) -> AlignedRows:
        """Match the labels with the rows that the run was started with."""
        recorded = read_npz(self.out / _ROWS_FILE)
        keys = np.concatenate([recorded["train"], recorded["test"]])
        rows = align(self.labels, {"the run": keys}, self._membership.salt)
        current = {"train": rows.train, "test": rows.test, **_targets(rows)}
        same = [np.array_equal(current[name], array) for name, array in recorded.items()]
        if not all(same):
            raise input_error(
                str(self.out), "labels", "are not those the run began with", "must be the same"
            )
        return rows

    def _data_and_parties(
        self, scenario: Scenario, rows: AlignedRows, trace: ChurnTrace
    ) -> tuple[FederatedRunData, RemoteParties]:
        learning, seed = scenario.learning, scenario.seed
        measurement = set() if method(scenario.method).uses_importance else {SAMPLE_GRADIENTS}
        if measurement and not learning.validation:  # then the sample is for reports alone
            measurement.add("sample")
        self._membership.messenger.measurement |= measurement
        factory = PartyFactory.from_dataset(rows.dataset, learning)
        train_rows, test_rows = len(rows.train), len(rows.test)
        sample = sample_rows(train_rows, learning, seed)
        steps = learning.steps_per_iteration * scenario.max_iterations

        def join_request(name: str) -> Request:
            fields = {
                "name": name,
                "seed": seed,
                "task": factory.task,
                "width": factory.width,
                "steps": steps,
                "label": self.labels.label[:1000],
                "learning": learning.model_dump(mode="json"),
            }
            arrays: Arrays = {"train": rows.train, "test": rows.test, "sample": sample}
            return Request("join", fields, arrays)

        remote = RemoteParties(
            self._membership.messenger,
            factory.options,
            learning,
            seed,
            factory.width,
            train_rows,
            len(sample),
            test_rows,
            join_request,
        )
        views = dict.fromkeys(trace.fleet.id[trace.present(0)].tolist(), UNKNOWN_FEATURES)
        tensors = DatasetTensors.from_dataset(rows.dataset, factory.options)
        dataset = rows.dataset
        form = InputFormat(
            dataset.name, train_rows, dataset.task, dataset.classes, (), {}, "", {}, {}
        )
        return FederatedRunData(scenario, dataset, tensors, factory, views, form), remote


def _targets(rows: AlignedRows) -> Arrays:
    return {"train_targets": rows.dataset.train_y, "test_targets": rows.dataset.test_y}
