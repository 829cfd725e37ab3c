"""A federated run: waits for devices, aligns rows, and drives the rounds of `Simulation`."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from scdn.errors import input_error
from scdn.federation.driver import ELSEWHERE, Apart, Federation, device_of, words_of
from scdn.federation.labels import Alignment, Labels, align, save_report
from scdn.federation.post import Ask, Line, Post
from scdn.federation.remote import Remote
from scdn.federation.roster import Roster
from scdn.federation.share import save
from scdn.federation.wire import Arrays
from scdn.learning.features import Rows
from scdn.learning.parties import Maker
from scdn.learning.vertical import batch_draws, drawn, sample_rows
from scdn.methods import method
from scdn.npz import read_npz
from scdn.record.read import Run
from scdn.scenario.model import Scenario
from scdn.simulation.run import Watch, resume, run
from scdn.simulation.stage import Stage, Staging
from scdn.world.churn import ALWAYS, NEVER, ChurnTrace, churn_trace, make_trace
from scdn.world.fleet import Fleet, initial_fleet

ROWS = "rows.npz"  # which rows a run has, in order, as hashed keys
REPORT = "alignment.json"
PATIENCE_S = 30.0  # a killed server's process for the run ends a little after it
Note = Callable[[str], None]


@dataclass(frozen=True)
class Wishes:
    """How a server waits."""

    devices: int | None = None  # to begin with; None: as many as the scenario's network has
    wait_s: float = 120.0  # for the first devices, and for those that a trace lets enter
    timeout_s: float = 30.0  # for an answer


def federated(scenario: Scenario) -> Scenario:
    """The scenario as a federation runs it: labels stay on the server unless it says otherwise."""
    learning = scenario.learning
    if "labels" not in learning.model_fields_set:
        learning = learning.model_copy(update={"labels": "server"})
    if learning.labels != "server":
        allowed = "must be server: devices get slopes, never labels"
        raise input_error(scenario.name, "learning.labels", f"got {learning.labels!r}", allowed)
    if method(scenario.method).schedule != "synchronous":
        found = f"{scenario.method} is asynchronous"
        raise input_error(scenario.name, "method", found, "must be synchronous to be federated")
    return scenario.model_copy(update={"learning": learning})


def serve(
    scenario: Scenario,
    labels: Labels,
    line: Line,
    out: Path,
    wishes: Wishes,
    note: Note,
    *,
    reference: Path | None = None,
    watch: Watch | None = None,
) -> Run:
    """A new run, recorded in `out`."""
    with _everyone(labels, line, out, wishes, note) as stage:
        return run(federated(scenario), out, reference=reference, watch=watch, stage=stage)


def go_on(
    labels: Labels,
    line: Line,
    out: Path,
    wishes: Wishes,
    note: Note,
    *,
    watch: Watch | None = None,
) -> Run:
    """The run in `out` goes on where its checkpoint was made; devices come back by themselves."""
    with _everyone(labels, line, out, wishes, note) as stage:
        return resume(out, watch=watch, stage=stage, patience_s=PATIENCE_S)


@contextmanager
def _everyone(
    labels: Labels, line: Line, out: Path, wishes: Wishes, note: Note
) -> Iterator[Staging]:
    """A stage with whoever comes; at a run's end they are told that it is over."""
    rosters: list[Roster] = []
    yield partial(_stage, labels, line, out, wishes, note, rosters)
    for roster in rosters:
        roster.bye(list(roster.guests), "the run is over")


def _stage(
    labels: Labels,
    line: Line,
    out: Path,
    wishes: Wishes,
    note: Note,
    rosters: list[Roster],
    scenario: Scenario,
    words: Mapping[str, Any] | None,
) -> Stage:
    told = words_of(words)
    post = Post(line, told.get("run") or secrets.token_hex(8), wishes.timeout_s, note=note)
    roster = Roster(post, told.get("salt") or secrets.token_hex(16))
    rosters.append(roster)
    scripted = scenario.churn.trace is not None
    if words is None:
        trace = _first_devices(scenario, roster, wishes, note)
        first = trace.fleet.id[trace.present(0)].tolist()
        rows = align(labels, {name: roster.guests[name].keys for name in first}, roster.salt)
        for text in rows.lines():
            note(text)
        out.mkdir(parents=True, exist_ok=True)
        save(out / ROWS, train=rows.train, test=rows.test)
        save_report(rows, out / REPORT)
    else:
        trace = make_trace(told["trace"], "checkpoint")
        roster.devices |= told["devices"]
        roster.silent.update(told["silent"])
        kept = read_npz(out / ROWS)
        every = np.concatenate([kept["train"], kept["test"]])
        rows = align(labels, {"the run": every}, roster.salt)
        if not np.array_equal(rows.train, kept["train"]):
            raise input_error(
                str(out), "labels", "are not those the run began with", "must be the same"
            )
    material, remote = _material(scenario, rows, trace, post)
    if words is None:
        first = remote.invite(material.views)
        absent = set(material.views) - set(first)
        if absent:
            raise input_error(
                "devices", ", ".join(sorted(absent)), "did not start", "see their logs"
            )
    driver = partial(
        Federation,
        roster=roster,
        remote=remote,
        rows=rows,
        scripted=scripted,
        wait_s=wishes.wait_s,
    )
    return Stage(trace, material, remote, driver)


def _first_devices(scenario: Scenario, roster: Roster, wishes: Wishes, note: Note) -> ChurnTrace:
    """The network to begin with, once its devices are connected."""
    if scenario.churn.trace is not None:
        trace = churn_trace(scenario)
        expected = set(trace.fleet.id[trace.present(0)].tolist())
        _wait_for(roster, lambda: expected <= set(roster.guests), wishes, note, len(expected))
        missing = sorted(expected - set(roster.guests))
        if missing:
            raise input_error(
                "devices", ", ".join(missing), "did not come", "the trace begins with them"
            )
        return trace
    known = initial_fleet(scenario)
    count = wishes.devices or len(known)
    _wait_for(roster, lambda: len(roster.guests) >= count, wishes, note, count)
    if not roster.guests:
        raise input_error("devices", "network", "nobody came", f"waited {wishes.wait_s:g} s")
    listed = [name for name in known.id if name in roster.guests]
    others = sorted(set(roster.guests) - set(listed))
    fleet = Fleet.join(
        [
            known.take(np.array([name in roster.guests for name in known.id], bool)),
            *(device_of(scenario, name, roster.guests[name].position_m) for name in others),
        ]
    )
    churn, size = scenario.churn, len(fleet)
    entered, exited = np.full(size, ALWAYS), np.full(size, NEVER)
    rounds = scenario.learning.rounds
    return ChurnTrace(rounds, churn.quiet_rounds, churn.exits, fleet, entered, exited)


def _wait_for(
    roster: Roster, enough: Callable[[], bool], wishes: Wishes, note: Note, count: int
) -> None:
    note(f"waiting for {count} devices")
    deadline = time.monotonic() + wishes.wait_s
    while not enough() and time.monotonic() < deadline:
        new, _ = roster.look(lambda _: None)
        for name in new:
            note(f"{name}: is here, {len(roster.guests[name].keys)} rows")
        if not enough():
            time.sleep(0.3)
    if not enough():
        note(f"waited {wishes.wait_s:g} s; {len(roster.guests)} are here")


def _material(
    scenario: Scenario, rows: Alignment, trace: ChurnTrace, post: Post
) -> tuple[Apart, Remote]:
    """The server's own data, and the parties elsewhere."""
    learning, seed = scenario.learning, scenario.seed
    maker = Maker.of(rows.dataset, learning)
    count = len(rows.train)
    sample = sample_rows(count, learning, seed)
    steps = learning.steps_per_iteration * scenario.max_iterations

    def starting(name: str) -> Ask:
        words = {
            "name": name,
            "seed": seed,
            "task": maker.task,
            "width": maker.width,
            "learning": learning.model_dump(mode="json"),
        }
        arrays: Arrays = {"train": rows.train, "test": rows.test, "sample": sample}
        return Ask("start", words, arrays, {"r": count, "m": len(rows.test), "w": maker.width})

    def upcoming(round_: int) -> Tensor:
        return drawn(batch_draws(seed, round_), steps, count, learning.batch_size)

    remote = Remote(
        post,
        maker.place,
        maker.place.tensor(sample),
        maker.width,
        len(rows.test),
        starting,
        upcoming,
        refresh=learning.refresh,
    )
    first = trace.fleet.id[trace.present(0)].tolist()
    views = dict.fromkeys(first, ELSEWHERE)
    data = Rows.of(rows.dataset, maker.place)
    return Apart(scenario, rows.dataset, data, maker, views), remote
