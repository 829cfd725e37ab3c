"""The fixed rules of benchmarks/fixed_rule.py: they are methods, they are fixed, and are ranked."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from conftest import ROOT
from hypothesis import assume, given
from hypothesis import strategies as st
from problems import random_request

sys.path.append(str(ROOT / "benchmarks"))

from fixed_rule import (
    ITERATIONS,
    MEASURES,
    PLACES,
    SHARES,
    TARGETS,
    Rule,
    best_rules,
    fixed_rule,
    medians,
    rows,
)

from scdn.check import check_method
from scdn.control.oort import device_joules
from scdn.control.plan_request import make_request, problem_of
from scdn.errors import InputError
from scdn.methods import RoundContext

START = np.array([50.0, 50.0, 20.0])  # of the checker's server
seeds = st.integers(0, 10_000)


@pytest.mark.parametrize("place", PLACES)
def test_a_rule_is_a_method(place):
    for iterations, share in product(ITERATIONS, SHARES):
        assert check_method(fixed_rule(place, iterations, share, 1.0, START)) == []
    assert check_method(fixed_rule(place, 1, 1.0, 2.0, START)) == []


@given(seeds, st.sampled_from(PLACES), st.sampled_from(SHARES), st.sampled_from([0.5, 1.0, 2.0]))
def test_the_cheapest_devices_take_part_at_one_place_within_the_duration(
    seed, place, share, duration
):
    try:
        problem = problem_of(make_request(random_request(seed)))
    except InputError:
        assume(False)
    controller = fixed_rule(place, 1, share, duration, problem.server_m).controller
    plan = controller(problem, RoundContext())
    active = plan.decision.active
    assert plan.evaluation.violations == ()
    assert plan.problem.max_delay_s == duration * problem.max_delay_s
    assert active.sum() <= np.ceil(share * len(problem))
    everyone = controller_of_all(place, duration, problem)
    costs = device_joules(everyone.problem, everyone.decision)
    assert not (active & ~everyone.decision.active).any()
    rest = everyone.decision.active & ~active
    if active.any() and rest.any():
        assert active.sum() == np.ceil(share * len(problem))
        assert costs[active].max() <= costs[rest].min()
    if active.any() and place != "gsp followed":
        later = replace(problem, server_m=plan.server_m)
        if not np.array_equal(plan.server_m, problem.server_m):
            assert np.array_equal(controller(later, RoundContext()).server_m, plan.server_m)


def controller_of_all(place, duration, problem):
    return fixed_rule(place, 1, 1.0, duration, problem.server_m).controller(problem, RoundContext())


def record(rule, seed, joules):
    costs = {"round": 1, "joules": joules, "seconds": joules}
    targets = dict.fromkeys(TARGETS, costs)
    return {"network": "wildfire", "bill": "paper", "seed": seed, "targets": targets} | (
        rule._asdict()
    )


def test_runs_that_do_not_get_there_are_infinite():
    good, lucky = Rule("gsp", 1, 0.5), Rule("start", "max", 1.0)
    short = good._replace(duration=2.0)
    records = [record(good, seed, 10.0 + seed) for seed in range(3)]
    records += [record(lucky, seed, joules) for seed, joules in enumerate((1.0, None, None))]
    records += [record(short, seed, 5.0) for seed in range(3)]
    for target, measure in product(TARGETS, MEASURES):
        assert medians(records, target, measure) == {good: 11.0, lucky: np.inf, short: 5.0}
    assert best_rules(records, 2, range(3)) == [good]
    first = list(rows(records))[2]
    assert "gsp, 1 iterations, 50%, 1× | 11 J" in first
    assert first.endswith("gsp, 1 iterations, 50%, 2× | 5 J |")


def test_a_rule_that_lacks_a_seed_is_not_ranked():
    records = [record(Rule("gsp", 1, 0.5), seed, 10.0) for seed in range(2)]
    records.append(record(Rule("start", 1, 0.5), 0, 1.0))
    assert best_rules(records, 3, range(2)) == [Rule("gsp", 1, 0.5)]
