"""The least changes with which devices that rest would take part, the server being where it is.

A device rests because it is out of reach, its clock is too slow, or what it adds is not worth its
energy. Each reason ends at a value of one setting, and all other settings stay as they are. Values
are rounded to four digits, to the side on which they suffice.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Literal, NamedTuple

import numpy as np

from scdn.arrays import Array
from scdn.control.exact.closed_form import decision_at, device_costs
from scdn.control.plan import Reason, make_plan
from scdn.control.problem import RoundProblem

ChangedSetting = Literal[
    "max_delay_s", "max_power_w", "cpu_max_hz", "compute_deadline_s", "max_iterations",
    "importance", "weights.transmission",
]  # fmt: skip
_DIGITS = 4
_MOST_DOUBLINGS = 60
_HALVINGS = 50
_MOST_POWER_W = 1e3  # no device sends with more


class LeastChange(NamedTuple):
    """A setting's least change that ends a device's reason to rest."""

    setting: ChangedSetting
    now: float
    value: float
    then: Reason | None  # why the device would still rest; None: it would take part


class RestingDevice(NamedTuple):
    """A device that rests, why, and the changes that would each end this reason."""

    id: str
    reason: Reason
    changes: tuple[LeastChange, ...]


def resting_devices(
    problem: RoundProblem, server_m: Array, *, most_delay_s: float = math.inf, most_devices: int
) -> Iterator[RestingDevice]:
    """Yield the first devices that rest with the server at a position, with their least changes.

    Parameters
    ----------
    problem
        The round's problem.
    server_m
        Where the server is; changes are least for this position.
    most_delay_s
        A limit that the time limit of reports cannot exceed, such as the duty cycle's.
    most_devices
        How many devices to examine.
    """
    most: dict[ChangedSetting, float] = {"max_delay_s": most_delay_s, "max_power_w": _MOST_POWER_W}
    reasons = _reasons(problem, server_m)
    resting = [(index, reason) for index, reason in enumerate(reasons) if reason is not None]
    for index, reason in resting[:most_devices]:
        device = problem.take(np.array([index]))
        changes = _least_changes(device, server_m, reason, most)
        yield RestingDevice(problem.ids[index], reason, tuple(changes))


def _least_changes(
    device: RoundProblem, server_m: Array, reason: Reason, most: dict[ChangedSetting, float]
) -> Iterator[LeastChange]:
    for setting, value in _candidates(device, server_m, reason):
        if value > most.get(setting, math.inf) or math.isinf(value):
            continue
        then = _reasons(with_setting(device, setting, value), server_m)[0]
        if then != reason:
            yield LeastChange(setting, _current(device, setting), value, then)


def with_setting(problem: RoundProblem, setting: ChangedSetting, value: float) -> RoundProblem:
    """Return the problem with another value of a setting, for all its devices."""
    if setting == "weights.transmission":
        return replace(problem, weights=problem.weights.model_copy(update={"transmission": value}))
    if setting == "compute_deadline_s":
        learning = problem.learning.model_copy(update={"compute_deadline_s": value})
        return replace(problem, learning=learning)
    if setting == "max_delay_s":
        return replace(problem, max_delay_s=value)
    if setting == "max_iterations":
        return replace(problem, max_iterations=round(value))
    values = np.full(len(problem), value)
    if setting == "max_power_w":
        return replace(problem, max_power_w=values)
    if setting == "cpu_max_hz":
        return replace(problem, cpu_max_hz=values)
    return replace(problem, importance=values)


def _current(device: RoundProblem, setting: ChangedSetting) -> float:
    if setting == "weights.transmission":
        return device.weights.transmission
    if setting == "compute_deadline_s":
        return device.learning.compute_deadline_s
    value = getattr(device, setting)
    return float(value[0]) if isinstance(value, np.ndarray) else float(value)


def _reasons(problem: RoundProblem, server_m: Array) -> list[Reason | None]:
    decision = decision_at(problem, device_costs(problem), server_m)
    return make_plan(problem, "exact", "heuristic", decision, 0.0).reasons()


def _candidates(
    device: RoundProblem, server_m: Array, reason: Reason
) -> Iterator[tuple[ChangedSetting, float]]:
    """Yield settings of one device's problem with the value at which the reason ends."""
    if reason == "out_of_reach":
        delay = device.delay_s(device.max_power_w, device.path_loss(server_m))
        yield "max_delay_s", _rounded_up(float(delay[0]))
        yield "max_power_w", _rounded_up(float(device.least_power(server_m)[0]))
    elif reason == "clock_too_slow":
        yield "cpu_max_hz", _rounded_up(float(device.least_cpu_hz(1.0)[0]))
        with np.errstate(divide="ignore"):
            needed = device.cycles(np.ones(1)) / device.cpu_max_hz
        yield "compute_deadline_s", _rounded_up(float(needed[0]))
    elif reason == "not_worth_it" and device.max_iterations < 1:
        yield "max_iterations", 1.0
    elif reason == "not_worth_it":
        yield "importance", _least_importance(device, server_m)
        weight = device.weights.transmission
        paid = with_setting(device, "weights.transmission", 1.0)
        gain = float(device_costs(device).gain[0])
        cost = _transmission_cost(paid, server_m)
        if gain > 0 and cost > 0 and gain / cost < weight:
            yield "weights.transmission", _rounded_down(gain / cost)


def _transmission_cost(device: RoundProblem, server_m: Array) -> float:
    """Return the weighted energy of a report at the least power that arrives in time."""
    power = np.minimum(device.least_power(server_m), device.max_power_w)
    delay = device.delay_s(power, device.path_loss(server_m))
    return device.weights.transmission * float((power * delay)[0])


def _least_importance(device: RoundProblem, server_m: Array) -> float:
    """Return the least importance with which a device takes part; infinite if none helps.

    What a device saves rises with its importance, so the least one is found by bisection.
    """

    def takes_part(importance: float) -> bool:
        changed = with_setting(device, "importance", importance)
        return bool(decision_at(changed, device_costs(changed), server_m).active[0])

    low = float(device.importance[0])
    high = max(low, 1e-6)
    for _ in range(_MOST_DOUBLINGS):
        high *= 2
        if takes_part(high):
            break
    else:
        return math.inf
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if takes_part(middle) else (middle, high)
    return _rounded_up(high)


def _rounded_up(value: float) -> float:
    return _rounded(value * (1 + 1e-9), up=True)


def _rounded_down(value: float) -> float:
    return _rounded(value * (1 - 1e-9), up=False)


def _rounded(value: float, up: bool) -> float:
    """Return a positive number with few digits that is not below, or not above, the value."""
    if not 0 < value < math.inf:
        return value
    places = _DIGITS - 1 - math.floor(math.log10(value))
    scaled = Decimal(value).scaleb(places)
    whole = scaled.to_integral_value(ROUND_CEILING if up else ROUND_FLOOR)
    return float(whole.scaleb(-places))
