"""Oort: the choice of devices by measured utility per joule."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from problems import random_network_request, random_request
from run_scenarios import scenario, without_times

from scdn.control.evaluation import evaluate
from scdn.control.gsp import least_delay_position
from scdn.control.oort import EXPLORED_SHARE, PartyUtilities, oort
from scdn.control.plan_request import make_request, problem_of
from scdn.data import fetch
from scdn.errors import InputError
from scdn.simulation.measured_utilities import MeasuredUtilities
from scdn.simulation.runner import resume, run

seeds = st.integers(0, 10_000)
SITE = {"region_m": [100, 100, 50], "server": {"position_m": [50, 50, 20]}}


def alike(count):
    """Return the problem of devices that all cost the same."""
    devices = [{"id": f"d{n}", "position_m": [40, 30, 0]} for n in range(count)]
    return problem_of(make_request({**SITE, "devices": devices}))


def random_case(seed, draws=None):
    """Return a problem, utilities of which some are not measured yet, and iterations."""
    rng = np.random.default_rng(seed)
    request = random_request if seed % 2 else random_network_request
    try:
        problem = problem_of(make_request(request(seed, count=int(rng.integers(0, 9)))))
    except InputError:
        assume(False)
    count, at = len(problem), int(rng.integers(1, 30))
    last_round = rng.integers(-1, at, count)
    gains = np.where(last_round < 0, np.nan, rng.normal(0.05, 0.1, count))
    drawn = rng.random(count) if draws is None else np.full(count, draws)
    return problem, PartyUtilities(gains, last_round, at, drawn), rng.integers(0, 6, count) * 1.0


@given(seeds)
def test_half_of_the_devices_in_reach_take_part_with_the_least_power_and_clock(seed):
    problem, utilities, iterations = random_case(seed)
    decision = oort(problem, utilities, iterations)
    chosen = decision.active
    assert decision.server_m.tolist() == least_delay_position(problem).tolist()
    assert evaluate(problem, decision).violations == ()
    needed = problem.least_power(decision.server_m)
    able = (needed <= problem.max_power_w) & (problem.iteration_limit() >= 1)
    assert not (chosen & ~able).any()
    assert chosen.sum() == -(-able.sum() // 2)
    assert decision.power_w[chosen].tolist() == needed[chosen].tolist()
    assert decision.cpu_hz.tolist() == problem.least_cpu_hz(decision.iterations).tolist()
    assert (decision.iterations[chosen] >= 1).all()
    assert (decision.iterations[chosen] <= np.maximum(iterations[chosen], 1)).all()


@given(seeds, st.floats(0, 1))
def test_a_device_that_gains_more_or_costs_less_is_not_dropped(seed, part):
    problem, utilities, iterations = random_case(seed, draws=1.0)
    utilities = replace(utilities, gains=np.nan_to_num(utilities.gains, nan=0.05))
    before = oort(problem, utilities, iterations)
    assume(before.active.any())
    device = int(np.flatnonzero(before.active)[0])
    gains, capacitance = utilities.gains.copy(), problem.capacitance.copy()
    gains[device] += part
    capacitance[device] *= part
    assert oort(problem, replace(utilities, gains=gains), iterations).active[device]
    assert oort(replace(problem, capacitance=capacitance), utilities, iterations).active[device]


@given(seeds)
def test_of_devices_that_cost_the_same_the_more_useful_are_chosen(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 12))
    problem = alike(count)
    gains, heard = rng.normal(0.05, 0.1, count), np.full(count, 4)
    utilities = PartyUtilities(gains, heard, 5, np.ones(count))
    chosen = oort(problem, utilities, np.full(count, 2.0)).active
    useful = np.clip(gains, 0, np.quantile(np.maximum(gains, 0), 0.95))  # by hand
    assert useful[chosen].min() >= useful[~chosen].max()


@given(seeds)
def test_exploring_choices_go_to_those_not_heard_for_longest(seed):
    problem, utilities, iterations = random_case(seed, draws=0.0)
    decision = oort(problem, utilities, iterations)
    rest = (problem.least_power(decision.server_m) <= problem.max_power_w) & ~decision.active
    rest &= problem.iteration_limit() >= 1
    heard = utilities.last_round
    if rest.any():
        assert heard[decision.active].max() <= heard[rest].min()


def test_the_share_of_exploring_choices_is_as_documented():
    """Only an exploring choice takes a device that is useless, heard a round before the others."""
    problem = alike(8)
    record, explored = MeasuredUtilities(), 0
    names = list(problem.ids)
    record.observe(dict.fromkeys(names[4:], 0.0), 298)
    record.observe(dict.fromkeys(names[:4], 1.0), 299)
    rounds = 300
    for seed in range(rounds):
        chosen = oort(problem, record.for_round(names, 300, seed), np.ones(8)).active
        explored += int(chosen[4:].sum())
    deviation = np.sqrt(EXPLORED_SHARE * (1 - EXPLORED_SHARE) / (4 * rounds))
    assert explored / (4 * rounds) == pytest.approx(EXPLORED_SHARE, abs=4 * deviation)


def test_nobody_is_written_off():
    """A device without a gain that costs more than others is chosen again and again."""
    near = [{"id": f"n{k}", "position_m": [50 + k, 50, 0]} for k in range(5)]
    devices = [*near, {"id": "far", "position_m": [20, 20, 0]}]
    problem = problem_of(make_request({**SITE, "devices": devices}))
    record, heard = MeasuredUtilities(), []
    for index in range(120):
        decision = oort(problem, record.for_round(problem.ids, index, 1), np.ones(6))
        names = problem.selected_ids(decision.active)
        record.observe({name: 0.0 if name == "far" else 0.1 for name in names}, index)
        heard += [index] * ("far" in names)
    assert len(heard) >= 3
    assert max(np.diff(heard)) < 60


def test_what_was_measured_last_counts():
    record = MeasuredUtilities()
    record.observe({"a": 0.3, "b": 0.1}, 2)
    record.observe({"a": -0.2}, 4)
    again = MeasuredUtilities.from_state_dict(record.state_dict())
    for kept in (record, again):
        utilities = kept.for_round(["b", "c", "a"], 5, 0)
        np.testing.assert_array_equal(utilities.gains, [0.1, np.nan, -0.2])
        assert utilities.last_round.tolist() == [2, -1, 4]


def test_a_run_measures_utilities_and_resumes_to_the_same_events(tmp_path):
    fetch("digits")
    setting = scenario(method="oort", seed=3, max_delay_s=0.0016, learning={"rounds": 6})
    reference = tmp_path / "sc-dn"
    run(setting.model_copy(update={"method": "sc-dn"}), reference)
    known = []

    def look(_, simulation):
        known.append(dict(simulation.utilities.gains))

    whole = run(setting, tmp_path / "whole", reference=reference, on_round=look)
    assert len(known[-1]) > 2
    for event, gains in zip(whole.rounds, known, strict=True):
        assert set(event["active"]) - set(event["exited"]) <= set(gains)
    assert len({tuple(event["active"]) for event in whole.rounds}) > 1

    def stop(event, _):
        if event["round"] == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(setting, tmp_path / "cut", reference=reference, on_round=stop)
    assert without_times(resume(tmp_path / "cut")) == without_times(whole)
