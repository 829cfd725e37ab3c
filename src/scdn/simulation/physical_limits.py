"""What physics forbids in a scenario: devices that nothing reaches, clocks and rounds too short."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from scdn.control.cut_off import cut_off_faults
from scdn.control.exact.allowed_boxes import allowed_boxes
from scdn.control.plan_request import problem_of, request_for_round
from scdn.control.problem import RoundProblem
from scdn.control.reach_from_anywhere import reach_from_anywhere
from scdn.errors import input_error
from scdn.scenario import Scenario
from scdn.scenario.round_settings import RotaryWing
from scdn.world import energy, geometry
from scdn.world.fleet import Fleet
from scdn.world.geometry import server_start
from scdn.world.link_budget import greatest_loss

_MOST_DEVICES = 1000  # whose reach is computed
_NAMED = 4  # devices that a line names
_ROUNDING = 1e-9  # relative: what misses a limit by no more meets it


def physical_limits(scenario: Scenario, fleet: Fleet) -> list[str]:
    """Return one line for everything that devices and server cannot do, or not as planned.

    `fleet` are the devices of all rounds, with the sizes of their reports and models: see
    `trace_with_run_sizes`.

    Raises
    ------
    InputError
        If keep-out boxes leave the server no position at all.
    """
    site = problem_of(request_for_round(scenario, (), server_start(scenario).tolist()))
    if site.candidates_m is None and not len(allowed_boxes(site)):
        allowed = "must leave the server an allowed position"
        raise input_error(scenario.name, "keep_out_m", "covers the whole region", allowed)
    return [
        *_server_limits(scenario, site),
        *(str(fault) for fault in cut_off_faults(site)),
        *_round_limits(scenario),
        *_clock_limits(scenario, fleet),
        *_reach_limits(scenario, site, fleet),
    ]


def _server_limits(scenario: Scenario, site: RoundProblem) -> Iterator[str]:
    movement = scenario.movement
    given = scenario.server.position_m is not None  # then it is checked where the file is read
    if not given and geometry.in_keep_out(site.server_m, site.keep_out_m):
        yield (
            f"server.start: {scenario.server.start} is inside a keep-out box,"
            " it has to leave it, and cannot come back"
        )
    if movement.model == "rover" and site.server_m[2] > 0:
        yield f"server.position_m: is {site.server_m[2]:g} m above the ground, where no rover is"
    craft = movement.rotary_wing or RotaryWing()
    if movement.model in ("rotary-wing", "landing") and (
        craft.sink_m_per_s > craft.induced_speed_m_per_s / 2
    ):
        yield (
            f"movement.rotary_wing.sink_m_per_s: {craft.sink_m_per_s:g} m/s is more than half of"
            f" the induced speed of {craft.induced_speed_m_per_s:g} m/s, where the power of a"
            " descent is not known"
        )


def _round_limits(scenario: Scenario) -> Iterator[str]:
    work_s = scenario.learning.compute_deadline_s + scenario.report_limit_s
    if scenario.round_s is not None and scenario.round_s < work_s * (1 - _ROUNDING):
        yield (
            f"round_s: {scenario.round_s:g} s is less than learning.compute_deadline_s plus the"
            f" time limit of a report, {work_s:g} s: the server may stay longer than plans count"
        )


def _clock_limits(scenario: Scenario, fleet: Fleet) -> Iterator[str]:
    learning = scenario.learning
    cycles = energy.cycles(
        learning.steps_per_iteration, learning.batch_size, fleet.connections, fleet.flops_per_cycle
    )
    too_slow = cycles > fleet.cpu_max_hz * learning.compute_deadline_s * (1 + _ROUNDING)
    if too_slow.any() and scenario.max_iterations > 0:
        yield (
            f"{_names(fleet.id[too_slow].tolist())}: not one iteration ends within"
            f" compute_deadline_s = {learning.compute_deadline_s:g} s, even at the fastest clock"
        )


def _reach_limits(scenario: Scenario, site: RoundProblem, fleet: Fleet) -> Iterator[str]:
    limit_s = scenario.report_limit_s
    checked = fleet.take(np.arange(min(len(fleet), _MOST_DEVICES)))
    if len(checked) < len(fleet):
        yield f"reach is checked for the first {_MOST_DEVICES} of {len(fleet)} devices"
    answers = _answers(scenario, site, checked, limit_s)
    never = checked.take(np.array([answer is False for answer in answers], dtype=np.bool_))
    unknown = checked.take(np.array([answer is None for answer in answers], dtype=np.bool_))
    if len(never):
        yield (
            f"{_names(never.id.tolist())}: cannot report within {limit_s:g} s from any position"
            " that the server may take, even at full power"
        )
    if len(unknown):
        yield (
            f"{_names(unknown.id.tolist())}: it is not known whether any position hears them"
            f" within {limit_s:g} s"
        )
    if limit_s < scenario.max_delay_s and len(never):
        full_s = scenario.max_delay_s
        answers = _answers(scenario, site, never, full_s)
        by_duty = never.take(np.array([answer is True for answer in answers], dtype=np.bool_))
        if len(by_duty):
            yield (
                f"{_names(by_duty.id.tolist())}: the duty cycle forbids it: with all of"
                f" max_delay_s = {full_s:g} s they could report"
            )


def _answers(
    scenario: Scenario, site: RoundProblem, fleet: Fleet, limit_s: float
) -> list[bool | None]:
    losses = greatest_loss(scenario, fleet, limit_s) * (1 + _ROUNDING)
    pairs = zip(fleet.position_m, losses.tolist(), strict=True)
    return [reach_from_anywhere(site, position, loss) for position, loss in pairs]


def _names(ids: Sequence[str]) -> str:
    more = len(ids) - _NAMED
    return ", ".join(ids[:_NAMED]) + (f" and {more} more" if more > 0 else "")
