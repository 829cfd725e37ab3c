"""What a mission is told about a round: who reported, what it took, and how well the model does."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from scdn.arrays import Array
from scdn.control.plan import Plan
from scdn.control.problem import RoundProblem
from scdn.learning.schedules import PlannedSchedule
from scdn.learning.virtual_clock import Arrival
from scdn.mission.flown_round import FlownRound, without_battery_limits
from scdn.mission.mission_control import MissionControl, RoundCosts
from scdn.mission.option_worth import gain_share
from scdn.mission.round_search import MissionRound
from scdn.simulation.battery_rounds import late_reports_j, worst_case
from scdn.simulation.outcome import Outcome, RoundResult
from scdn.simulation.round_options import round_options
from scdn.simulation.server_compute import ServerCompute
from scdn.simulation.waited_reports import measured_paces
from scdn.world.movement_models import MovementJ

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scdn.simulation.loop import Simulation


def begin_round(simulation: Simulation, problem: RoundProblem) -> MissionRound | None:
    """Return what a round's plan needs to know of the run's mission; None without a mission."""
    if simulation.mission is None:
        return None
    options, paces = round_options(simulation, problem), measured_paces(simulation, problem.ids)
    working = simulation.schedule.clock.running
    mission_round = simulation.mission.begin_round(problem, options, paces, working)
    if not isinstance(simulation.schedule, PlannedSchedule):  # it waits, whatever the plan says
        mission_round = simulation.mission.round = replace(mission_round, may_be_late=False)
    return mission_round


def observe_round(
    simulation: Simulation,
    plan: Plan,
    result: RoundResult,
    costs: RoundCosts,
    scores: Mapping[str, float],
) -> dict[str, Any]:
    """Tell a run's mission about a round; return the entry `forecast` of the round's event."""
    mission = simulation.mission
    if mission is None:
        raise TypeError("the run has no mission")
    trained, ids = result.outcome.executed_iterations, plan.problem.ids
    iterations = dict(zip(ids, trained.tolist(), strict=True))
    contributions = {n: c for n, c in result.contributions().items() if iterations.get(n, 0.0) > 0}
    losses = result.steps[-1].held_out_losses if result.steps else ()
    mission.worth_j = plan.worth_j
    share = gain_share(plan.problem.option)
    if result.arrivals is None:
        return mission.observe(iterations, contributions, losses, scores, costs, ids, share)
    working = simulation.schedule.clock.running
    staleness = {a.name: a.staleness for a in result.arrivals if a.trains(ids)}
    return mission.observe(
        iterations, contributions, losses, scores, costs, ids, share, staleness, working
    )


def round_costs(
    plan: Plan,
    result: RoundResult,
    movement: MovementJ,
    compute: ServerCompute,
    latency_s: float,
    mission: MissionControl,
) -> RoundCosts:
    """Return what a round took, and what of it was not in its problem.

    The latter is what it would have been with the scenario's own bits per number and duration.
    """
    prices, outcome = mission.scenario.mission_prices, result.outcome
    taking_part = outcome.transmission_j + outcome.processing_j + outcome.circuit_j
    planned = _planned_j(plan, outcome, result.arrivals)
    downlink = prices.server * float(outcome.server_transmission_j.sum())
    devices, idle = prices.device * taking_part, prices.device * float(outcome.idle_j.sum())
    fixed = prices.server * compute.joules + idle
    circuit_w = mission.scenario.electronics.circuit_w
    circuit = prices.device * circuit_w * float(outcome.sending_s.sum())
    overhead = float((devices - prices.device * planned).sum()) + downlink - circuit
    longer_idle = 0.0
    if (option := plan.problem.option) is not None:
        overhead, circuit = overhead / option.sent_share, circuit / option.delay_share
        longer_idle = option.idle_j
    moved = prices.server * float(movement.total)
    return RoundCosts(
        joules=float(devices.sum()) + downlink + fixed + moved,
        seconds=latency_s,
        fixed_j=max(fixed - longer_idle, 0.0),
        overhead_j=max(overhead, 0.0),
        circuit_j=circuit,
        compute_j=prices.server * compute.joules,
        fixed_s=compute.seconds,
    )


def _planned_j(plan: Plan, outcome: Outcome, arrivals: Sequence[Arrival] | None) -> Array:
    """Return the joules of each device that the round's problem counts.

    Where the server does not wait for all, these are of the devices that have reported, or left:
    computing as their cycles were planned, and sending as this plan would let them.
    """
    sending = np.where(outcome.active, plan.evaluation.transmission_j, 0.0)
    if arrivals is None:
        return sending + np.where(outcome.active, plan.evaluation.processing_j, 0.0)
    names = {arrival.name for arrival in arrivals}
    reported = np.array([name in names for name in plan.problem.ids], dtype=np.bool_)
    sending = np.minimum(sending, outcome.transmission_j)
    return np.where(reported | outcome.leaving, sending + outcome.processing_j, 0.0)


def check_limits(
    simulation: Simulation, mission: MissionControl, problem: RoundProblem, plan: Plan
) -> None:
    """End a mission before a round for which its budget or its deadline may be too small.

    A device that is late is billed for what it has begun, if it reports in this round.
    """
    prices, worst = mission.scenario.mission_prices, worst_case(simulation, problem, plan)
    late_j = late_reports_j(simulation)
    reports_j = np.array([late_j.get(name, 0.0) for name in problem.ids]) + worst.outcome.idle_j
    devices_j = float(np.maximum(worst.device_j, reports_j).sum())
    joules = prices.device * devices_j + prices.server * worst.server_j
    mission.check_limits(joules, worst.latency_s)


def flown_round(
    simulation: Simulation,
    mission: MissionControl,
    problem: RoundProblem,
    plan: Plan,
    result: RoundResult,
    costs: RoundCosts,
) -> FlownRound:
    """Return what the mission's bound needs of a round that `observe_round` was told about.

    `problem` is the round's, with the limits that devices have without their batteries.
    """
    forecast, outcome = mission.forecast, result.outcome
    latest, most = mission.rounds - 1, problem.max_iterations
    share = gain_share(plan.problem.option)
    return FlownRound(
        problem=without_battery_limits(plan.problem, problem),
        server_m=plan.server_m,
        iterations=outcome.executed_iterations,
        path_loss=outcome.path_loss,
        gains=share * forecast.gains(problem.ids, latest, most),
        base_gain=share * forecast.base,
        fixed_j=costs.compute_j + _least_idling_j(mission, outcome),
        billed_j=costs.joules,
        has_late_reports=has_late_reports(simulation, result),
    )


def has_late_reports(simulation: Simulation, result: RoundResult) -> bool:
    """Return whether a round used reports of others, or some of its own are to come."""
    stale = any(arrival.staleness for arrival in result.arrivals or ())
    return stale or bool(simulation.schedule.clock.running)


def _least_idling_j(mission: MissionControl, outcome: Outcome) -> float:
    """Return the priced joules that devices idle away in any round, however short."""
    scenario = mission.scenario
    least_s = min(scenario.mission.durations) * (scenario.round_s or 0.0)
    least_j = scenario.electronics.idle_w * least_s * len(outcome.idle_j)
    return scenario.mission_prices.device * min(least_j, float(outcome.idle_j.sum()))
