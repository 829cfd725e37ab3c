"""A round's plan that nobody's battery is too small for.

The method plans as if batteries were full. Where the worst case of that plan would take more than a
device has left, the device gets lower limits of power, clock and iterations, and the method plans
again. Where it would take more than the server has left, the positions that it cannot pay for are
excluded. So batteries change nothing until somebody's runs low.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from scdn.arrays import Array, Mask
from scdn.control.evaluation import evaluate
from scdn.control.exact.allowed_boxes import allowed_boxes
from scdn.control.plan import Plan
from scdn.control.problem import RoundProblem
from scdn.control.round_option import RoundOption
from scdn.control.solve import Solver
from scdn.methods import Method, RoundContext
from scdn.simulation.batteries import Budget
from scdn.simulation.plan_with_fallback import plan_round
from scdn.simulation.worst_case import ReportReserve, WorstCase
from scdn.world.decibels import db_to_ratio

MOST_PLANS = 6  # then devices that would spend too much are switched off
SAFETY = 1 + 1e-6  # against rounding error, and the tolerance of time limits
_PARTS_OF_A_FLIGHT = (0.0, 0.25, 0.5, 0.75)  # positions to try where a flight is too expensive


class ServerBatteryError(Exception):
    """Raised when the server's battery does not pay for another round; the run is over."""


def plan_within_batteries(
    method: Method,
    problem: RoundProblem,
    context: RoundContext,
    budget: Budget,
    reserve: Callable[[RoundProblem], ReportReserve],
    worst_case: Callable[[Plan], WorstCase],
) -> tuple[Plan, Solver | None]:
    """Return a plan whose worst case the budget pays for, and the fallback that made it, if any."""
    if budget.is_unlimited:
        return plan_round(method, problem, context)
    options = () if context.mission is None else context.mission.options
    changed = budget.devices_j < least_of_options_j(problem, options, reserve)
    limited, seconds = _without(problem, changed), 0.0
    for attempt in range(MOST_PLANS):
        plan, fallback = plan_round(method, limited, _within_limits(context, limited))
        seconds += plan.solve_seconds
        worst = worst_case(plan)
        allowed_j = _allowed_j(plan, worst, budget)
        too_much = _takes_more(plan, worst, allowed_j)
        if attempt == MOST_PLANS - 1:
            too_much = _takes_more(plan, worst, budget.devices_j)
            plan = _switched_off(plan, too_much)
            worst = worst_case(plan)
        elif too_much.any():
            reserved = reserve(plan.problem)
            limited = _lower_limits(limited, plan, worst, too_much, allowed_j, reserved)
        changed = changed | too_much
        if SAFETY * worst.server_j > budget.server_j:
            context, shortened = _shortest_rounds(context)
            if not shortened:
                limited = _with_affordable_positions(limited, plan, worst, budget.server_j)
        elif not _takes_more(plan, worst, allowed_j).any() or attempt == MOST_PLANS - 1:
            return replace(plan, battery_limited=changed, solve_seconds=seconds), fallback
    raise _server_error(budget.server_j, worst.server_j)


def _takes_more(plan: Plan, worst: WorstCase, allowed_j: Array) -> Mask:
    """Return the active devices that may spend more than they are allowed to."""
    return plan.decision.active & (SAFETY * worst.device_j > allowed_j)


def _allowed_j(plan: Plan, worst: WorstCase, budget: Budget) -> Array:
    """Return what each device may spend: its ration, or what a single iteration takes."""
    problem, decision = plan.problem, plan.decision
    one = np.minimum(decision.iterations, 1.0)
    saved_j = plan.evaluation.processing_j - problem.processing_j(one, problem.least_cpu_hz(one))
    least_j = SAFETY * (worst.device_j - np.where(decision.active, saved_j, 0.0))
    return np.minimum(np.maximum(budget.rations_j, least_j), budget.devices_j)


def _within_limits(context: RoundContext, problem: RoundProblem) -> RoundContext:
    """Return the context with no more iterations of rivals than the limits allow."""
    if context.iterations is None:
        return context
    most = np.floor(problem.most_iterations() * (1 + 1e-12))
    return replace(context, iterations=np.minimum(context.iterations, most))


def _shortest_rounds(context: RoundContext) -> tuple[RoundContext, bool]:
    """Return the context with the options of the shortest stay, and whether there were others."""
    if context.mission is None or not context.mission.options:
        return context, False
    options = context.mission.options
    shortest = min(option.stay for option in options)
    kept = tuple(option for option in options if option.stay == shortest)
    mission = replace(context.mission, options=kept)
    return replace(context, mission=mission), len(kept) < len(options)


def _switched_off(plan: Plan, which: Mask) -> Plan:
    """Return the plan without some of its active devices."""
    decision = plan.decision
    active = decision.active & ~which
    rest = decision._replace(
        active=active,
        iterations=np.where(active, decision.iterations, 0.0),
        power_w=np.where(active, decision.power_w, 0.0),
        cpu_hz=np.where(active, decision.cpu_hz, plan.problem.cpu_min_hz),
    )
    value = evaluate(plan.problem, rest)
    return replace(plan, decision=rest, evaluation=value, status="heuristic")


# --- devices --------------------------------------------------------------------------------------


def least_of_options_j(
    problem: RoundProblem,
    options: Sequence[RoundOption],
    reserve: Callable[[RoundProblem], ReportReserve],
) -> Array:
    """Return the least that must be reserved for a report under any option of the round."""
    variants = [option.of(problem) for option in options] or [problem]
    least_j = [least_report_j(variant, reserve(variant)) for variant in variants]
    return np.asarray(np.min(least_j, axis=0))


def least_report_j(problem: RoundProblem, reserve: ReportReserve) -> Array:
    """Return the least that must be reserved for a report to any position of the server.

    It is one of a single iteration; of none, where the fastest clock does not carry one.
    """
    loss = _least_loss(problem)
    with np.errstate(invalid="ignore"):
        needed = np.maximum(problem.least_power_per_loss() * loss, problem.min_power_w)
        sends = (problem.payload_bits > 0) & np.isfinite(needed)
        power = np.where(sends, np.minimum(needed, problem.max_power_w), 0.0)
        sending_s = np.where(sends, _sending_s(problem, power, loss, reserve), 0.0)
    clock = problem.least_cpu_hz(1.0)
    processing = np.where(clock <= problem.cpu_max_hz, problem.processing_j(1.0, clock), 0.0)
    return processing + (power + reserve.circuit_w) * reserve.repeats * sending_s


def _least_loss(problem: RoundProblem) -> Array:
    """Return a lower bound of each device's path loss over the positions of the server."""
    if problem.candidates_m is not None:
        candidates = problem.candidates_m[problem.allowed(problem.candidates_m)]
        return problem.path_loss(candidates).min(axis=0, initial=np.inf)
    boxes = allowed_boxes(problem)
    bounds = problem.link.bounds(boxes[:, 0], boxes[:, 1], problem.position_m)
    return np.asarray(
        bounds.range.low.min(axis=0, initial=np.inf) * db_to_ratio(problem.wall_loss_db)
    )


def _sending_s(problem: RoundProblem, power: Array, loss: Array, reserve: ReportReserve) -> Array:
    """Return how long a planned report may take, where it is not late."""
    if reserve.fades:
        return np.full(len(problem), problem.max_delay_s)
    return np.minimum(problem.delay_s(power, loss), problem.max_delay_s)


def _without(problem: RoundProblem, which: Mask) -> RoundProblem:
    """Return the problem with some devices that cannot send."""
    return replace(problem, max_power_w=np.where(which, 0.0, problem.max_power_w))


def _lower_limits(
    problem: RoundProblem,
    plan: Plan,
    worst: WorstCase,
    which: Mask,
    allowed_j: Array,
    reserve: ReportReserve,
) -> RoundProblem:
    """Return the problem with limits that some devices can pay for.

    They keep as many of their planned iterations as leave enough for a report to the planned
    position; if not even one does, they can report to a nearer one. Power and clock are limited to
    what is left after that.
    """
    chosen, server_m, planned = plan.problem, plan.server_m, np.rint(plan.decision.iterations)
    needed = chosen.least_power(server_m)
    sending_s = reserve.repeats * _sending_s(chosen, needed, chosen.path_loss(server_m), reserve)
    longest_s = reserve.repeats * max(chosen.max_delay_s, problem.max_delay_s)
    outcome = worst.outcome
    waiting_j = outcome.idle_j + reserve.circuit_w * outcome.receiving_s

    def left_j(iterations: Array, on_air_s: Array) -> Array:
        processing = problem.processing_j(iterations, problem.least_cpu_hz(iterations))
        fixed = waiting_j + reserve.circuit_w * on_air_s + processing
        return np.asarray(allowed_j / SAFETY - fixed)

    least = np.minimum(planned, 1.0)
    iterations, fits = least, np.zeros(len(problem), dtype=np.bool_)
    for fewer in range(int(planned.max(initial=0.0)) + 1):
        counts = np.maximum(planned - fewer, least)
        enough = ~fits & (needed * sending_s <= left_j(counts, sending_s))
        iterations, fits = np.where(enough, counts, iterations), fits | enough
    power = np.maximum(left_j(iterations, longest_s) / longest_s, np.where(fits, needed, 0.0))
    power = np.where(power < problem.min_power_w, 0.0, np.maximum(power, 0.0))
    trains = which & (iterations > 0)
    caps = problem.iteration_cap()
    return replace(
        problem,
        max_power_w=np.where(which, np.minimum(power, problem.max_power_w), problem.max_power_w),
        cpu_max_hz=np.where(
            trains,
            np.minimum(problem.least_cpu_hz(iterations), problem.cpu_max_hz),
            problem.cpu_max_hz,
        ),
        iteration_caps=np.where(trains, np.minimum(iterations, caps), caps),
    )


# --- the server -----------------------------------------------------------------------------------


def _with_affordable_positions(
    problem: RoundProblem, plan: Plan, worst: WorstCase, server_j: float
) -> RoundProblem:
    """Return the problem with positions that the server can pay for; the planned one is not.

    Where there are no candidates, it may stay, go a part of the planned way, or land there.
    """
    if problem.stays:
        raise _server_error(server_j, worst.server_j)
    positions = problem.candidates_m
    if positions is None:
        parts = np.array(_PARTS_OF_A_FLIGHT)[:, None]
        on_the_way = problem.server_m + parts * (plan.server_m - problem.server_m)
        positions = np.concatenate([on_the_way, on_the_way * [1.0, 1.0, 0.0]])
    positions = positions[problem.allowed(positions) & problem.reachable(positions)]
    cost_j = problem.movement_j(positions).staying_longer(worst.stays).total + worst.working_j
    affordable = SAFETY * cost_j <= server_j
    if not affordable.any():
        raise _server_error(server_j, float(cost_j.min(initial=worst.server_j)))
    return replace(problem, candidates_m=positions[affordable])


def _server_error(left_j: float, needed_j: float) -> ServerBatteryError:
    return ServerBatteryError(
        f"the server's battery is used up: {left_j:.4g} J are left, "
        f"and another round may take {needed_j:.4g} J"
    )
