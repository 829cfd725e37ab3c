"""The least changes that help devices which rest, against the exact solver."""

from __future__ import annotations

import numpy as np
import pytest

from scdn.control.least_changes import resting_devices, with_setting
from scdn.control.plan_request import make_request, problem_of
from scdn.control.solve import solve

HERE = [50.0, 50.0, 40.0]


def _problem(**changes):
    """Return a problem whose server is at one place, with devices that rest for every reason."""
    near, far = [50.0, 40.0, 0.0], [5.0, 95.0, 0.0]
    devices = [
        {"id": "heard", "position_m": near, "importance": 3.0},
        {"id": "far", "position_m": far, "max_power_w": 1e-4, "importance": 50.0},
        {"id": "far, unimportant", "position_m": far, "max_power_w": 1e-4, "importance": 1e-3},
        {"id": "slow", "position_m": near, "cpu_max_hz": 5e7, "importance": 50.0},
        {"id": "dear", "position_m": near, "importance": 1e-6},
        {"id": "weak", "position_m": far, "max_power_w": 50.0, "importance": 2.0},
    ]
    request = {
        "region_m": [100, 100, 100],
        "candidates_m": [HERE],
        "server": {"position_m": HERE},
        "max_delay_s": 0.06,
        "devices": devices,
        **changes,
    }
    return problem_of(make_request(request))


def _reason(problem, device):
    plan = solve(problem)
    return plan.reasons()[problem.ids.index(device)]


def _resting(problem, most_devices=10, **limits):
    return list(resting_devices(problem, np.array(HERE), most_devices=most_devices, **limits))


def _with_setting(problem, device, setting, value):
    """Return the whole network's problem in which a device, or all, have another value."""
    if hasattr(problem, setting) and isinstance(getattr(problem, setting), np.ndarray):
        values = getattr(problem, setting).copy()
        values[problem.ids.index(device)] = value
        changed = with_setting(problem, setting, value)
        object.__setattr__(changed, setting, values)
        return changed
    return with_setting(problem, setting, value)


@pytest.mark.parametrize("weights", [{}, {"transmission": 400.0}, {"processing": 5.0}])
@pytest.mark.parametrize("rate_model", ["shannon", "pade"])
def test_a_least_change_ends_the_reason_and_one_percent_less_does_not(weights, rate_model):
    problem = _problem(weights=weights, radio={"rate_model": rate_model})
    resting = _resting(problem)
    assert {reason for _, reason, _ in resting} == {
        "out_of_reach",
        "clock_too_slow",
        "not_worth_it",
    }
    for device, reason, changes in resting:
        assert _reason(problem, device) == reason
        for change in changes:
            exact = _with_setting(problem, device, change.setting, change.value)
            assert _reason(exact, device) == change.then != reason
            one_percent_less = change.value * (0.99 if change.value > change.now else 1.01)
            short = _with_setting(problem, device, change.setting, one_percent_less)
            assert _reason(short, device) == reason


def test_every_device_that_rests_gets_a_change():
    problem = _problem()
    reasons = dict(zip(problem.ids, solve(problem).reasons(), strict=True))
    resting = _resting(problem)
    assert {device.id for device in resting} == {name for name in reasons if reasons[name]}
    assert all(device.changes for device in resting)
    assert len(_resting(problem, most_devices=1)) == 1


def test_without_iterations_the_change_is_one_iteration():
    heard = next(device for device in _resting(_problem(max_iterations=0)) if device.id == "heard")
    assert [(c.setting, c.value, c.then) for c in heard.changes] == [("max_iterations", 1.0, None)]


def test_a_delay_beyond_the_duty_cycle_is_not_proposed():
    resting = _resting(_problem(), most_delay_s=0.06)
    assert "max_delay_s" not in {c.setting for device in resting for c in device.changes}
