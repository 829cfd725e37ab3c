"""Progress that is measured, its forecast, and plans by what it is worth."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import random_network_request
from run_scenarios import scenario

from scdn.control.evaluation import Decision, evaluate
from scdn.control.plan_request import make_request, problem_of
from scdn.control.solve import solve
from scdn.control.worth import RoundWorth, problem_by_worth
from scdn.data import fetch
from scdn.errors import InputError
from scdn.mission.forecast import USUAL_EXPONENT, MeasuredProgress, ProgressForecast
from scdn.record.run_reader import read_run
from scdn.scenario import Prices, make_scenario
from scdn.simulation.runner import resume, run

NAMES = ["a", "b", "c"]
ALIKE = Prices(device=1, server=1)
amounts = st.floats(-0.1, 1)


def observed(*rounds, most=4):
    """Return a forecast after rounds of contributions and iterations, each with a progress of 1."""
    forecast = ProgressForecast()
    for index, (contributions, iterations) in enumerate(rounds):
        measured = MeasuredProgress(
            before=1.0 + index,
            after=2.0 + index,
            contributions=contributions,
            update_share=0.5,
            iterations=iterations,
            present=len(NAMES),
        )
        forecast.observe(measured, index, most)
    return forecast


histories = st.lists(
    st.dictionaries(st.sampled_from(NAMES), st.tuples(amounts, st.integers(1, 4))), max_size=8
)


def _split(rounds):
    """Return contributions and iterations of each round."""
    return [
        ({name: gain for name, (gain, _) in entry.items()}, {n: k for n, (_, k) in entry.items()})
        for entry in rounds
    ]


@given(histories, st.integers(8, 60))
def test_gains_are_concave_in_the_iterations_and_never_negative(rounds, at):
    forecast = observed(*_split(rounds))
    gains = forecast.gains(NAMES, at, 4)
    steps = np.diff(gains, axis=1)
    assert forecast.base > 0
    assert gains.shape == (3, 5)
    assert (gains[:, 0] == 0).all()
    assert (steps >= 0).all()
    assert (np.diff(steps, axis=1) <= 1e-12).all()


@given(histories)
def test_a_forecast_resumes_from_its_state(rounds):
    forecast = observed(*_split(rounds))
    state = json.loads(json.dumps(forecast.state_dict()))
    assert ProgressForecast.from_state_dict(state) == forecast


def test_a_party_that_rests_is_not_written_off():
    bad, good = {"a": -0.1, "b": 0.2}, {"b": 0.2}
    counts = dict.fromkeys(NAMES, 4)
    forecast = observed((bad, counts), *[(good, counts)] * 30)
    first, later = (forecast.amounts(NAMES, at) for at in (1, 31))
    assert 0 < first[0] < 0.02 * later[1]
    assert later[0] > 0.9 * later[1]
    assert later[2] == pytest.approx(later[1])  # never measured: as good as the best


@given(st.floats(0.3, 0.9), st.floats(0.7, 1.3))
def test_the_exponent_follows_parties_whose_iterations_change(exponent, decay):
    rounds = []
    for index in range(40):
        counts = {name: 1 + (index + turn) % 4 for turn, name in enumerate(NAMES)}
        gains = {name: decay**index * count**exponent for name, count in counts.items()}
        rounds.append((gains, counts))
    assert observed(*rounds).exponent == pytest.approx(exponent, abs=0.1)


def test_equal_iterations_say_nothing_about_the_exponent():
    counts = dict.fromkeys(NAMES, 2)
    rounds = [(dict.fromkeys(NAMES, 0.5**index), counts) for index in range(20)]
    assert observed(*rounds).exponent == USUAL_EXPONENT


@given(st.integers(0, 500), st.floats(1, 300))
def test_no_other_decision_has_a_better_worth(seed, worth):
    """At the plan's position every device's choice is the best of all its choices."""
    rng = np.random.default_rng(seed)
    try:
        problem = problem_of(make_request(random_network_request(seed, count=3)))
    except InputError:
        return
    most = problem.max_iterations
    gains = rng.uniform(0, 0.5, (3, 1)) * (np.arange(most + 1) / most) ** rng.uniform(0.2, 1)
    by_worth = problem_by_worth(problem, RoundWorth(worth * gains, ALIKE, 10.0))
    plan = solve(by_worth, gap=1e-4)
    assert plan.status == "optimal"
    assert plan.evaluation.violations == ()
    assert plan.evaluation.terms["convergence"] == pytest.approx(
        worth * (gains[:, -1] - gains[np.arange(3), plan.decision.iterations.astype(int)]).sum()
    )
    power = by_worth.least_power(plan.server_m)
    for device in range(3):
        for iterations in range(most + 1):
            active = plan.decision.active.copy()
            counts = plan.decision.iterations.copy()
            active[device], counts[device] = iterations > 0, iterations
            clocks = by_worth.least_cpu_hz(counts)
            other = Decision(plan.server_m, active, counts, np.where(active, power, 0.0), clocks)
            value = evaluate(by_worth, other)
            assert value.violations or value.objective >= plan.objective * (1 - 1e-9)


def test_more_worth_never_buys_less_progress():
    problem = problem_of(make_request(random_network_request(7, count=6)))
    gains = np.full((6, 1), 0.2) * np.sqrt(np.arange(problem.max_iterations + 1))
    spent = []
    for worth in (1e-3, 1, 10, 100, 1e4):
        plan = solve(problem_by_worth(problem, RoundWorth(worth * gains, ALIKE, 10.0)), gap=1e-6)
        spent.append(gains[np.arange(6), plan.decision.iterations.astype(int)].sum())
    assert spent == sorted(spent)


def test_a_mission_records_its_forecast_and_resumes_to_the_same_events(tmp_path):
    fetch("digits")
    setting = scenario(method="mission", learning={"rounds": 5})
    whole = run(setting, tmp_path / "whole")
    events = [event["forecast"] for event in whole.rounds]
    assert any(event["measured"] for event in events)
    for event in events:
        assert event["expected"].keys() == event["measured"].keys()

    def stop(event, _):
        if event["round"] == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(setting, tmp_path / "cut", on_round=stop)
    resumed = resume(tmp_path / "cut")
    assert [e["forecast"] for e in resumed.rounds] == events
    assert read_run(tmp_path / "cut").rounds[-1]["metrics"] == whole.rounds[-1]["metrics"]


def test_all_joules_of_a_mission_are_alike_unless_they_have_prices():
    assert make_scenario({"fleet": [{"count": 1}]}).mission_prices == ALIKE
    priced = make_scenario({"fleet": [{"count": 1}], "prices": {"device": 2, "server": 0.1}})
    assert priced.mission_prices == Prices(device=2, server=0.1)
