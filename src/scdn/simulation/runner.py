"""Runs from start to end: created or resumed, and recorded round by round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from scdn.control.solve import warm_up
from scdn.errors import input_error, require_package
from scdn.learning.cuda_graphs import release_graphs
from scdn.learning.final_scores import evaluate_model
from scdn.learning.metrics import recorded_names, trivial_scores
from scdn.learning.schedules import schedule
from scdn.learning.tensors import StateDict
from scdn.learning.vertical_model import VerticalModel
from scdn.methods import (
    Method,
    algorithm3_controller,
    exact_controller,
    method,
    mission_controller,
    with_validation_rows,
)
from scdn.mission.mission_control import MissionOverError
from scdn.record import checkpoint
from scdn.record.run_lock import lock_run_folder
from scdn.record.run_reader import EVENTS, Event, Run, read_run
from scdn.record.run_warnings import run_warnings
from scdn.record.run_writer import Recorder, check_unused
from scdn.record.target_results import check_targets, recorded_targets, target_results
from scdn.scenario import Scenario, make_scenario
from scdn.simulation.divergence import DivergedError
from scdn.simulation.events import start_event
from scdn.simulation.loop import Simulation
from scdn.simulation.mission_summary import mission_summary
from scdn.simulation.plan_within_batteries import ServerBatteryError
from scdn.simulation.run_environment import EnvironmentFactory, simulated_environment
from scdn.targets import parse_targets
from scdn.world.geometry import server_start

OnRound = Callable[[Event, Simulation], None]  # called after each round is recorded

REFERENCE_METHOD = "sc-dn"  # rivals take its mean iterations
REFERENCE_FOLDER = "reference"  # of that run, within a rival's own folder
_DEPARTED = "departed/"  # prefix of arrays of departed parties, which never change again


def run(
    scenario: Scenario,
    out: str | Path,
    *,
    reference: str | Path | None = None,
    baselines: Callable[[Scenario], Event] | None = None,
    on_round: OnRound | None = None,
    environment: EnvironmentFactory = simulated_environment,
) -> Run:
    """Run a scenario with its method and seed, record it, and return the recorded run.

    Parameters
    ----------
    scenario
        What to run.
    out
        The folder of the run; it must not hold another one.
    reference
        The folder of a run of SC-DN with the same scenario and seed, which rivals take their
        iterations from. By default a rival's reference is run first, within `out`.
    baselines
        Returns scores of training without a network, to record in the start event.
    on_round
        Called with the event and the simulation after each round.
    environment
        Creates the network, the data and the parties; simulated by default.
    """
    folder, chosen = Path(out), method(scenario.method)
    check_unused(folder)
    iterations = _reference_iterations(scenario, chosen, folder, reference, on_round)
    simulation = create_simulation(scenario, iterations, environment=environment)
    dataset = simulation.data.dataset
    further = simulation.model.server.further_metrics
    recorded_metrics = recorded_names(dataset.task, further)
    wanted = [*scenario.targets, *filter(None, (scenario.mission.target,))]
    check_targets(parse_targets(wanted), recorded_metrics, scenario.name)
    trivial = trivial_scores(dataset, further)
    scores: Event = {"trivial": trivial, "best_party": None, "centralised": None}
    scores |= baselines(scenario) if baselines is not None else {}
    start = start_event(scenario, chosen.name, dataset, scores)
    with lock_run_folder(folder):
        check_unused(folder)  # another process may have started a run meanwhile
        checkpoint.clear(folder)
        _save_checkpoint(folder, simulation)
        return _run_rounds(simulation, Recorder.create(folder, start), on_round)


def resume(
    out: str | Path,
    *,
    on_round: OnRound | None = None,
    environment: EnvironmentFactory = simulated_environment,
    wait_s: float = 0.0,
) -> Run:
    """Continue the run in `out` from its checkpoint; return at once if it has ended.

    `wait_s` is how long to wait for another process that still holds the run.
    """
    folder = Path(out)
    if not (folder / EVENTS).exists():
        if (folder / REFERENCE_FOLDER / EVENTS).exists():
            fault, allowed = "has not begun", "start it again with the same command"
        else:
            fault, allowed = "is not there", "must be the folder of a run"
        raise input_error(str(folder), "run", fault, allowed)
    recorded = read_run(folder)
    if _has_ended(recorded):
        return recorded
    with lock_run_folder(folder, wait_s):
        return _resume_locked(folder, on_round, environment)


def _has_ended(recorded: Run) -> bool:
    return recorded.end is not None and recorded.end.get("status") in ("done", "diverged")


def _resume_locked(folder: Path, on_round: OnRound | None, environment: EnvironmentFactory) -> Run:
    recorded = read_run(folder)
    if _has_ended(recorded):  # while this process waited for the lock
        return recorded
    checkpoint.remove_leftovers(folder)
    model_state, state = load_checkpoint(folder)
    scenario = make_scenario(recorded.scenario, str(folder / EVENTS))
    iterations = tuple(state["reference_iterations"])
    simulation = create_simulation(scenario, iterations, state, environment)
    simulation.model.load_state_dict(model_state)
    simulation.load_state_dict(state)
    recorder = Recorder.reopen(folder, simulation.round)
    metrics = recorded.rounds[simulation.round - 1]["metrics"] if simulation.round else None
    return _run_rounds(simulation, recorder, on_round, metrics)


def create_simulation(
    scenario: Scenario,
    reference_iterations: tuple[float, ...],
    state: Event | None = None,
    environment: EnvironmentFactory = simulated_environment,
) -> Simulation:
    """Return a simulation before round 0, or without parties if a checkpoint's `state` follows."""
    chosen = method(scenario.method)
    scenario = with_validation_rows(scenario)
    if chosen.controller in (exact_controller, mission_controller):
        warm_up()  # loading the solver is no part of a plan's time
    if chosen.controller is algorithm3_controller:
        require_package("cvxpy", "paper", f"method {chosen.name}")
    surroundings = environment(scenario, state)
    data = surroundings.data
    model = VerticalModel.create(
        data.tensors,
        data.factory,
        data.views if state is None else {},
        scenario.learning,
        scenario.seed,
        chosen.memory,
        measure_gradients=schedule(chosen.schedule).waits_for_all and not chosen.uses_progress,
        parties=surroundings.parties,
        sends_sample=chosen.uses_importance or scenario.learning.validation > 0,
        measures_progress=chosen.measures_progress,
    )
    return surroundings.simulation_class(
        scenario=scenario,
        method=chosen,
        data=data,
        trace=surroundings.trace,
        reference_iterations=reference_iterations,
        initial_loss=float(model.metrics()["train_loss"]) if state is None else 0.0,
        model=model,
        server_m=server_start(scenario),
    )


def mean_iterations(rounds: Sequence[Event], count: int) -> tuple[float, ...]:
    """Return the iterations of so many rounds, averaged over the devices that were present.

    Where a run ended earlier, its last mean goes on.
    """
    means = tuple(
        float(np.mean([device["iterations"] for device in event["devices"]] or [0.0]))
        for event in rounds
    )
    return means + (means[-1:] or (0.0,)) * (count - len(means))


def _run_rounds(
    simulation: Simulation,
    recorder: Recorder,
    on_round: OnRound | None,
    metrics: Event | None = None,
) -> Run:
    """Run the rounds that are left, each recorded before the next begins.

    `metrics` are those of the last recorded round, for the summary of a run without another one.
    """
    status, reason = "done", None
    try:
        for event in simulation.loop():
            simulation.model.account.add_to_event(event)
            recorder.append(event)
            _save_checkpoint(recorder.folder, simulation)
            metrics = event["metrics"]
            if on_round is not None:
                on_round(event, simulation)
    except DivergedError as error:
        status, reason = "diverged", str(error)
    except (MissionOverError, ServerBatteryError) as error:
        reason = str(error)
    except KeyboardInterrupt:
        recorder.write_summary(_summary(simulation, recorder.folder, "stopped", None, metrics))
        raise
    finally:
        release_graphs()  # frees memory of the GPU
    summary = _summary(simulation, recorder.folder, status, reason or simulation.ended, metrics)
    recorder.write_summary(summary)
    recorder.append({"event": "end", **summary})
    return read_run(recorder.folder)


def _summary(
    simulation: Simulation, folder: Path, status: str, reason: str | None, metrics: Event | None
) -> Event:
    recorded = read_run(folder)
    judged = [] if status == "diverged" else recorded.rounds  # such a run has reached nothing
    targets = target_results(recorded.start, judged, recorded_targets(recorded))
    evaluation = None
    if status == "done":
        evaluation = evaluate_model(simulation.model, simulation.data.dataset.classes)
    return {
        "status": status,
        "reason": reason,
        "method": simulation.method.name,
        "seed": simulation.scenario.seed,
        "rounds": simulation.round,
        "metrics": metrics,
        "evaluation": evaluation,
        "energy": simulation.ledger.totals(),
        **simulation.model.account.summary(),
        "targets": targets,
        "warnings": run_warnings(
            recorded.start,
            recorded.rounds,
            targets,
            rests_on_purpose=simulation.method.measures_progress,
            diverged=status == "diverged",
        ),
        "fallbacks": simulation.fallbacks,
        "rounds_outside_theorem_1": sum(
            bool(event["step"]["outside_theorem_1"])
            for event in recorded.rounds
            if "step" in event  # not in rounds of earlier versions
        ),
        **mission_summary(simulation, folder, status, targets, reason),
    }


def load_checkpoint(folder: Path) -> tuple[StateDict, Event]:
    """Return the state of the model, and all values, in a run's checkpoint; change no file."""
    arrays, values, departed = checkpoint.load(folder)
    for party, tables in departed.items():
        arrays |= {f"{_DEPARTED}{party}/{key}": table for key, table in tables.items()}
    return StateDict(arrays, values["model"]), values


def _save_checkpoint(folder: Path, simulation: Simulation) -> None:
    arrays, model_values = simulation.model.state_dict()
    departed: dict[str, dict[str, Any]] = {}
    for key in [key for key in arrays if key.startswith(_DEPARTED)]:
        party, _, table = key.removeprefix(_DEPARTED).partition("/")
        departed.setdefault(party, {})[table] = arrays.pop(key)
    if simulation.flown is not None:
        checkpoint.save_round(folder, simulation.round - 1, *simulation.flown.to_arrays())
    values = {
        **simulation.state_dict(),
        "model": model_values,
        "input_format": simulation.data.form.state_dict(),
    }
    checkpoint.save(folder, arrays, values, departed)


# --- the reference of a rival ---------------------------------------------------------------------


def _reference_iterations(
    scenario: Scenario,
    chosen: Method,
    folder: Path,
    reference: str | Path | None,
    on_round: OnRound | None,
) -> tuple[float, ...]:
    """Return SC-DN's mean iterations per round, from a run that exists or is run first."""
    if not chosen.rival:
        return ()
    path = folder / REFERENCE_FOLDER if reference is None else Path(reference)
    wanted = scenario.model_copy(update={"method": REFERENCE_METHOD})
    if reference is None and not (path / EVENTS).exists():
        recorded = run(wanted, path, on_round=on_round)
    else:
        recorded = read_run(path)
        _check_reference(recorded, wanted, path)
        if reference is None:
            recorded = resume(path, on_round=on_round)
    if recorded.end is None:
        raise input_error(str(path), "reference", "has not ended", "resume it first")
    return mean_iterations(recorded.rounds, scenario.learning.rounds)


def _check_reference(recorded: Run, wanted: Scenario, path: Path) -> None:
    """Check method, scenario and seed of a reference; learning rates and targets may differ."""
    allowed = f"must be a run of {REFERENCE_METHOD} with the same scenario and seed"
    if recorded.method != REFERENCE_METHOD:
        raise input_error(str(path), "reference", f"is of {recorded.method}", allowed)
    expected, actual = (
        _without_rates(scenario.model_dump(mode="json", by_alias=True, exclude={"targets"}))
        for scenario in (wanted, make_scenario(recorded.scenario, str(path)))
    )
    if expected != actual:
        differing = next(key for key in expected if expected[key] != actual.get(key))
        raise input_error(str(path), "reference", f"differs in {differing}", allowed)


def _without_rates(scenario: Event) -> Event:
    def without(table: Event) -> Event:
        return {k: v for k, v in table.items() if k not in ("learning_rate", "server_rate")}

    lists = {key: [without(item) for item in scenario.get(key, [])] for key in ("fleet", "devices")}
    return {**scenario, **lists, "learning": without(scenario.get("learning", {}))}
