"""Whole runs: begun or taken up again, recorded round by round."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from scdn.control.solve import warm_up
from scdn.data.dataset import trivial_score
from scdn.errors import input_error, require_package
from scdn.learning.replay import forget
from scdn.learning.state import pack, unpack
from scdn.learning.vertical import VerticalModel
from scdn.methods import Method, exact, method, paper
from scdn.record import checkpoint
from scdn.record.lock import alone
from scdn.record.read import EVENTS, Run, read_run
from scdn.record.write import Recorder, refuse_used
from scdn.scenario.model import Scenario
from scdn.scenario.read import make_scenario
from scdn.simulation.events import start_event
from scdn.simulation.loop import DivergedError, Simulation
from scdn.simulation.stage import Staging, simulated
from scdn.world.geometry import server_start

Event = dict[str, Any]
Watch = Callable[[Event, Simulation], None]

REFERENCE_METHOD = "sc-dn"
REFERENCE = "reference"  # the SC-DN run that rivals take their iterations from
_FIXED = "departed/"


def run(
    scenario: Scenario,
    out: str | Path,
    *,
    reference: str | Path | None = None,
    baselines: Event | None = None,
    watch: Watch | None = None,
    stage: Staging = simulated,
) -> Run:
    """Runs a scenario with its method and seed, and records it in `out`; `stage` says where."""
    folder, chosen = Path(out), method(scenario.method)
    trivial = {"trivial": None, "best_party": None, "centralised": None}
    refuse_used(folder)
    means = _reference(scenario, chosen, folder, reference, watch)
    simulation = begin(scenario, means, stage=stage)
    dataset = simulation.material.dataset
    told = {**trivial, "trivial": trivial_score(dataset), **(baselines or {})}
    with alone(folder):
        refuse_used(folder)  # by one who was faster
        checkpoint.clear(folder)
        _save(folder, simulation)
        recorder = Recorder.new(folder, start_event(scenario, chosen.name, dataset, told))
        return _go(simulation, recorder, watch)


def resume(
    out: str | Path,
    *,
    watch: Watch | None = None,
    stage: Staging = simulated,
    patience_s: float = 0.0,
) -> Run:
    """Goes on with the run in `out` where its checkpoint was made.

    `patience_s`: how long to wait for the process that had the run, if it is about to end.
    """
    folder = Path(out)
    if not (folder / EVENTS).exists():
        if (folder / REFERENCE / EVENTS).exists():  # stopped while its reference ran
            allowed = "start it again with the same command"
            raise input_error(str(folder), "run", "has not begun", allowed)
        raise input_error(str(folder), "run", "is not there", "must be the folder of a run")
    found = read_run(folder)
    if _is_over(found):
        return found
    with alone(folder, patience_s):
        return _take_up(folder, watch, stage)


def _is_over(found: Run) -> bool:
    return found.end is not None and found.end.get("status") in ("done", "diverged")


def _take_up(folder: Path, watch: Watch | None, stage: Staging) -> Run:
    found = read_run(folder)
    if _is_over(found):  # meanwhile
        return found
    arrays, words, fixed = checkpoint.load(folder)
    for place, tables in fixed.items():
        arrays |= {f"{_FIXED}{place}/{key}": table for key, table in tables.items()}
    scenario = make_scenario(found.scenario, str(folder / EVENTS))
    simulation = begin(scenario, tuple(words["reference"]), words, stage)
    unpack(simulation.model, arrays, words["model"])
    simulation.take_up(words)
    recorder = Recorder.resumed(folder, simulation.round)
    before = found.rounds[simulation.round - 1]["metrics"] if simulation.round else None
    return _go(simulation, recorder, watch, before)


def begin(
    scenario: Scenario,
    reference: tuple[float, ...],
    words: Event | None = None,
    stage: Staging = simulated,
) -> Simulation:
    """A run before round 0, or one to be taken up where a checkpoint's `words` were written."""
    chosen = method(scenario.method)
    if chosen.controller is exact:
        warm_up()  # loading the solver is no part of a plan's time
    if chosen.controller is paper:
        require_package("cvxpy", "paper", f"method {chosen.name}")
    place = stage(scenario, words)
    material = place.material
    empty = words is not None
    model = VerticalModel.start(
        material.rows,
        material.maker,
        {} if empty else material.views,
        scenario.learning,
        scenario.seed,
        chosen.memory,
        measure=chosen.schedule == "synchronous",
        parties=place.parties,
    )
    loss = 0.0 if empty else float(model.metrics()["train_loss"])
    start = server_start(scenario)
    return place.driver(scenario, chosen, material, place.trace, reference, loss, model, start)


def mean_iterations(found: Run) -> tuple[float, ...]:
    """Each round's iterations averaged over the devices that were present."""
    return tuple(
        float(np.mean([device["iterations"] for device in event["devices"]] or [0.0]))
        for event in found.rounds
    )


def _go(
    simulation: Simulation, recorder: Recorder, watch: Watch | None, metrics: Event | None = None
) -> Run:
    """The loop, each round recorded before the next begins; `metrics` are the last ones known."""
    status, reason = "done", None
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
    finally:
        forget()  # a GPU's memory is for whatever comes next
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
    fixed: dict[str, dict[str, Any]] = {}
    for key in [key for key in arrays if key.startswith(_FIXED)]:
        place, _, table = key.removeprefix(_FIXED).partition("/")
        fixed.setdefault(place, {})[table] = arrays.pop(key)
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
    place = folder / REFERENCE if given is None else Path(given)
    own = scenario.model_copy(update={"method": REFERENCE_METHOD})
    if given is None and not (place / EVENTS).exists():
        found = run(own, place, watch=watch)
    else:
        _check_reference(read_run(place), own, place)
        found = resume(place, watch=watch) if given is None else read_run(place)
    means = mean_iterations(found)
    if found.end is None:
        raise input_error(str(place), "reference", "has not ended", "resume it first")
    missing = scenario.learning.rounds - len(means)  # where it ran away, its last mean holds
    return means + (means[-1:] or (0.0,)) * missing


def _check_reference(found: Run, own: Scenario, place: Path) -> None:
    """Refuses a run of another method, scenario or seed; rates of their own are allowed."""
    allowed = f"must be a run of {REFERENCE_METHOD} with the same scenario and seed"
    if found.method != REFERENCE_METHOD:
        raise input_error(str(place), "reference", f"is of {found.method}", allowed)
    mine, theirs = (
        _without_rates(scenario.model_dump(mode="json", by_alias=True))
        for scenario in (own, make_scenario(found.scenario, str(place)))
    )
    if mine != theirs:
        differs = next(key for key in mine if mine[key] != theirs.get(key))
        raise input_error(str(place), "reference", f"differs in {differs}", allowed)


def _without_rates(scenario: Event) -> Event:
    def bare(table: Event) -> Event:
        return {k: v for k, v in table.items() if k not in ("learning_rate", "server_rate")}

    lists = {key: [bare(entry) for entry in scenario.get(key, [])] for key in ("fleet", "devices")}
    return {**scenario, **lists, "learning": bare(scenario.get("learning", {}))}
