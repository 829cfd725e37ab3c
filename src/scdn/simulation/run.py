"""Whole runs: begun or taken up again, recorded round by round."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from scdn.faults import refuse, show
from scdn.learning.data.dataset import trivial_score
from scdn.learning.state import pack, unpack
from scdn.learning.vertical import VerticalModel
from scdn.methods import Method, method
from scdn.record import checkpoint
from scdn.record.read import EVENTS, Run, read_run
from scdn.record.write import Recorder
from scdn.scenario.model import Scenario
from scdn.scenario.read import make_scenario
from scdn.simulation.events import start_event
from scdn.simulation.loop import DivergedError, Simulation
from scdn.simulation.material import Material
from scdn.world.churn import churn_trace
from scdn.world.geometry import server_start

Event = dict[str, Any]
Watch = Callable[[Event, Simulation], None]

REFERENCE = "reference"  # the SC-DN run that rivals take their iterations from
_FIXED = "departed/"


def run(
    scenario: Scenario,
    out: str | Path,
    *,
    reference: str | Path | None = None,
    baselines: Event | None = None,
    watch: Watch | None = None,
) -> Run:
    """Runs a scenario with its method and seed, and records it in `out`."""
    folder, chosen = Path(out), method(scenario.method)
    trivial = {"trivial": None, "best_party": None, "centralised": None}
    _refuse_used(folder)
    means = _reference(scenario, chosen, folder, reference, watch)
    simulation = begin(scenario, means)
    dataset = simulation.material.dataset
    told = {**trivial, "trivial": trivial_score(dataset), **(baselines or {})}
    _save(folder, simulation)
    recorder = Recorder.new(folder, start_event(scenario, chosen.name, dataset, told))
    return _go(simulation, recorder, watch)


def resume(out: str | Path, *, watch: Watch | None = None) -> Run:
    """Goes on with the run in `out` where its checkpoint was made."""
    folder = Path(out)
    if not (folder / EVENTS).exists():
        if (folder / REFERENCE / EVENTS).exists():  # stopped while its reference ran
            allowed = "start it again with the same command"
            raise refuse(str(folder), "run", "has not begun", allowed)
        raise refuse(str(folder), "run", "is not there", "must be the folder of a run")
    found = read_run(folder)
    if found.end is not None and found.end.get("status") in ("done", "diverged"):
        return found
    arrays, words, fixed = checkpoint.load(folder)
    for name, tables in fixed.items():
        arrays |= {f"{_FIXED}{name}/{key}": table for key, table in tables.items()}
    scenario = make_scenario(found.scenario, str(folder / EVENTS))
    simulation = begin(scenario, tuple(words["reference"]), empty=True)
    unpack(simulation.model, arrays, words["model"])
    simulation.take_up(words)
    return _go(simulation, Recorder.resumed(folder, simulation.round), watch)


def begin(scenario: Scenario, reference: tuple[float, ...], *, empty: bool = False) -> Simulation:
    """A run before round 0, or with a model that is to be taken up (`empty`)."""
    chosen = method(scenario.method)
    trace = churn_trace(scenario)
    material = Material.of(scenario, trace)
    model = VerticalModel.start(
        material.rows,
        material.maker,
        {} if empty else material.views,
        scenario.learning,
        scenario.seed,
        chosen.memory,
        measure=chosen.schedule == "synchronous",
    )
    loss = 0.0 if empty else float(model.metrics()["train_loss"])
    place = server_start(scenario)
    return Simulation(scenario, chosen, material, trace, reference, loss, model, place)


def mean_iterations(found: Run) -> tuple[float, ...]:
    """Each round's iterations averaged over the devices that were present."""
    return tuple(
        float(np.mean([device["iterations"] for device in event["devices"]] or [0.0]))
        for event in found.rounds
    )


def _go(simulation: Simulation, recorder: Recorder, watch: Watch | None) -> Run:
    """The loop, each round recorded before the next begins."""
    status, reason, metrics = "done", None, None
    try:
        for event in simulation.loop():
            recorder.add(event)
            _save(recorder.folder, simulation)
            metrics = event["metrics"]
            if watch is not None:
                watch(event, simulation)
    except DivergedError as error:
        status, reason = "diverged", str(error)
    except KeyboardInterrupt:
        recorder.summary(_summary(simulation, "stopped", None, metrics))
        raise
    summary = _summary(simulation, status, reason, metrics)
    recorder.summary(summary)
    recorder.add({"event": "end", **summary})
    return read_run(recorder.folder)


def _summary(
    simulation: Simulation, status: str, reason: str | None, metrics: Event | None
) -> Event:
    return {
        "status": status,
        "reason": reason,
        "method": simulation.method.name,
        "seed": simulation.scenario.seed,
        "rounds": simulation.round,
        "metrics": metrics,
        "energy": simulation.ledger.totals(),
        "fallbacks": simulation.fallbacks,
    }


def _save(folder: Path, simulation: Simulation) -> None:
    arrays, words = pack(simulation.model)
    fixed: dict[str, dict[str, Any]] = {name: {} for name in words["left"]}
    for key in [key for key in arrays if key.startswith(_FIXED)]:
        name, _, table = key.removeprefix(_FIXED).rpartition("/")
        fixed[name][table] = arrays.pop(key)
    checkpoint.save(folder, arrays, {**simulation.words(), "model": words}, fixed)


def _reference(
    scenario: Scenario,
    chosen: Method,
    folder: Path,
    given: str | Path | None,
    watch: Watch | None,
) -> tuple[float, ...]:
    """SC-DN's mean iterations, from a run that is there or one that is made first."""
    if not chosen.rival:
        return ()
    if given is None:
        place = folder / REFERENCE
        if (place / EVENTS).exists():
            found = resume(place, watch=watch)
        else:
            found = run(scenario.model_copy(update={"method": "sc-dn"}), place, watch=watch)
    else:
        found = read_run(given)
        mine = scenario.model_dump(mode="json", by_alias=True)
        for key in (
            "name",
            "seed",
            "max_iterations",
        ):  # settings of its own, such as a rate, may differ
            if found.scenario.get(key) != mine[key]:
                got = f"its {key} is {show(found.scenario.get(key))}"
                raise refuse(str(given), "reference", got, f"must be {show(mine[key])}")
    means = mean_iterations(found)
    if len(means) < scenario.learning.rounds:
        allowed = f"must have {scenario.learning.rounds}"
        raise refuse(str(given or folder), "reference", f"has {len(means)} rounds", allowed)
    return means


def _refuse_used(folder: Path) -> None:
    if (folder / EVENTS).exists():
        allowed = "choose another folder, or go on with --resume"
        raise refuse(str(folder), "folder", "has a run already", allowed)
