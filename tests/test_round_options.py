"""A round's duration and bits per number as controls: found with one proof, executed, billed."""

from __future__ import annotations

import math
from functools import partial
from itertools import product

import numpy as np
import pytest
from federation_helpers import (
    device,
    differences,
    largest_difference,
    network_of,
    scripted_scenario,
    server,
)
from hypothesis import assume, given
from hypothesis import strategies as st
from problems import random_network_request, random_request
from run_scenarios import scenario, without_times

from scdn.control.evaluation import evaluate
from scdn.control.exact.best_option import least_cost, solve_best_exact, undominated
from scdn.control.exact.branch_and_bound import solve_exact
from scdn.control.exact.closed_form import decision_at, device_costs
from scdn.control.plan_request import make_request, problem_of
from scdn.control.round_option import RoundOption
from scdn.control.solve import solve, solve_best
from scdn.data import fetch
from scdn.errors import InputError
from scdn.federation.export_parties import export_parties
from scdn.methods import METHODS, PLAN_BOXES, PLAN_GAP, Method, mission_controller
from scdn.mission.option_worth import GAIN_SHARES, problems_by_worth
from scdn.mission.round_search import MissionRound, best_offer
from scdn.scenario import Prices, make_scenario
from scdn.simulation.round_options import round_options
from scdn.simulation.runner import create_simulation, resume, run
from scdn.world.churn import churn_trace

GAP, BOXES = 1e-3, 5_000
ROUNDING = 1e-9


# --- one search over all options ------------------------------------------------------------------


def random_options(problem, rng):
    """Return up to five options with random times, bits, stays and shares of the gains."""
    count = int(rng.integers(1, 6))
    return tuple(
        RoundOption(
            float(duration),
            int(bits),
            problem.max_delay_s * float(duration),
            problem.payload_bits * bits / 32,
            stay=float(duration),
            gain_share=float(rng.choice([1.0, rng.uniform(0.3, 1)])),
            sent_share=bits / 32,
            delay_share=float(duration),
            idle_j=float(rng.choice([0.0, duration])),
            seconds=float(duration),
        )
        for duration, bits in zip(
            rng.choice([0.5, 1.0, 1.0, 1.5, 3.0], count),
            rng.choice([2, 4, 8, 16, 32], count),
            strict=True,
        )
    )


def random_round(seed):
    """Return a random problem, and a mission's round with options for it; None: refused."""
    rng = np.random.default_rng([seed, 2])
    make = random_network_request if seed % 2 else random_request
    try:
        problem = problem_of(make_request(make(seed, int(rng.integers(1, 5)))))
        solve(problem, max_boxes=100)
    except InputError:
        return None
    most = problem.max_iterations
    shares = (np.arange(most + 1) / max(most, 1)) ** rng.uniform(0.2, 1)
    gains = rng.uniform(0, 1, (len(problem), 1)) * shares
    mission = MissionRound(
        gains,
        float(rng.uniform(0, 1)),
        Prices(device=1, server=float(rng.choice([1, 0.1]))),
        str(rng.choice(["energy", "time", "best"])),
        rounds_left=10,
        fixed_j=1.0,
        overhead_j=float(rng.choice([0, 0.5])),
        circuit_j=float(rng.choice([0, 0.1])),
        options=random_options(problem, rng),
    )
    return problem, mission


def variants_of(seed, worth):
    found = random_round(seed)
    return None if found is None else problems_by_worth(*found, worth, 10.0)


seeds, worths = st.integers(0, 3000), st.floats(0.1, 300)


@given(seeds, worths)
def test_the_best_option_is_the_best_of_separate_solves(seed, worth):
    """And its lower bound holds for every option."""
    variants = variants_of(seed, worth)
    if variants is None:
        return
    together = solve_best(variants, gap=GAP, max_boxes=BOXES * len(variants))
    alone = [solve(variant, gap=GAP, max_boxes=BOXES) for variant in variants]
    assume(together.status == "optimal" and all(plan.status == "optimal" for plan in alone))
    objectives = [plan.objective for plan in alone]
    assert together.evaluation.violations == ()
    assert any(together.problem is variant for variant in variants)
    assert together.objective <= min(objectives) + GAP * abs(together.objective) + ROUNDING
    assert together.objective >= min(plan.lower_bound for plan in alone) - ROUNDING
    assert together.lower_bound <= min(objectives) + ROUNDING
    assert together.gap <= GAP


@given(seeds, worths)
def test_what_is_dominated_is_never_better(seed, worth):
    """Where the dominated option has its best plan, another one that is kept costs no more."""
    variants = variants_of(seed, worth)
    if variants is None:
        return
    kept = undominated(variants)
    assert kept
    for index in set(range(len(variants))) - set(kept):
        left_out = solve(variants[index], gap=GAP, max_boxes=BOXES)
        at_same_place = [
            evaluate(
                variants[other],
                decision_at(variants[other], device_costs(variants[other]), left_out.server_m),
            ).objective
            for other in kept
        ]
        assert min(at_same_place) <= left_out.objective * (1 + ROUNDING) + ROUNDING


@given(seeds, worths, st.integers(0, 100))
def test_no_decision_is_below_the_least_cost(seed, worth, place):
    variants = variants_of(seed, worth)
    if variants is None:
        return
    rng = np.random.default_rng(place)
    for variant in variants:
        costs = device_costs(variant)
        least = least_cost(variant, costs)
        plan = solve(variant, gap=GAP, max_boxes=BOXES)
        anywhere = rng.uniform(0, 1, 3) * variant.region_m * rng.choice([0, 1], 3)
        value = evaluate(variant, decision_at(variant, costs, anywhere)).objective
        assert least <= min(plan.objective, value)


def test_domination_leaves_something_out_and_something_in():
    """So that the law above is about something."""
    counts = [
        (len(undominated(variants)), len(variants))
        for seed in range(60)
        if (variants := variants_of(seed, 10.0)) and len(variants) > 1
    ]
    assert any(kept < all_ for kept, all_ in counts)
    assert any(kept > 1 for kept, _ in counts)


@given(seeds, worths)
def test_one_option_is_the_plain_solve(seed, worth):
    found = random_round(seed)
    if found is None:
        return
    problem, mission = found
    for round_ in (MissionRound(mission.gains, 1.0, mission.prices, "energy", 10), mission):
        variant = problems_by_worth(problem, round_, worth, 10.0)[0]
        plain = solve_exact(variant, GAP, max_boxes=BOXES)
        best = solve_best_exact([variant], GAP, max_boxes=BOXES)
        assert best.index == 0
        assert (best.result.lower_bound, best.result.boxes) == (plain.lower_bound, plain.boxes)
        for one, other in zip(best.result.decision, plain.decision, strict=True):
            assert np.array_equal(one, other)


@given(seeds, worths)
def test_the_scenarios_own_option_changes_nothing(seed, worth):
    """Duration 1 with the scenario's bits is the problem without options."""
    found = random_round(seed)
    if found is None:
        return
    problem, mission = found
    own = RoundOption(1.0, 32, problem.max_delay_s, problem.payload_bits)
    plain = MissionRound(mission.gains, 1.0, mission.prices, "energy", 10, overhead_j=0.5)
    chosen = MissionRound(
        mission.gains, 1.0, mission.prices, "energy", 10, overhead_j=0.5, options=(own,)
    )
    one, other = (
        solve_best(problems_by_worth(problem, entry, worth, 10.0), gap=GAP, max_boxes=BOXES)
        for entry in (plain, chosen)
    )
    assert one.objective == other.objective
    assert np.array_equal(one.server_m, other.server_m)


@given(seeds)
def test_an_offer_counts_what_its_option_costs_and_brings(seed):
    found = random_round(seed)
    if found is None:
        return
    problem, mission = found
    solver = partial(solve_best, gap=GAP, max_boxes=BOXES)
    offer = best_offer(problem, mission, solver)
    plan, option = offer.plan, offer.plan.problem.option
    counts = np.rint(plan.decision.iterations).astype(int)
    gain = mission.base + mission.gains[np.arange(len(problem)), counts].sum()
    assert option in mission.options
    assert offer.gain == pytest.approx(option.gain_share * gain)
    joules = sum(plan.evaluation.weighted[t] for t in ("transmission", "processing", "movement"))
    per_device = mission.overhead_j * option.sent_share + mission.circuit_j * option.delay_share
    joules += mission.fixed_j + option.idle_j + per_device * plan.decision.active.sum()
    assert offer.joules == pytest.approx(joules)
    assert plan.problem.max_delay_s == option.max_delay_s


def one_device(options, **settings):
    """Return a problem of one device, and a mission's round with these options for it."""
    request = {
        "region_m": [100, 100, 100],
        "server": {"position_m": [50, 50, 0]},
        "max_delay_s": 0.3,
        "devices": [{"id": "d", "position_m": [80, 50, 0]}],
    }
    problem = problem_of(make_request(request | settings))
    gains = np.sqrt(np.arange(problem.max_iterations + 1))[None]
    entries = tuple(
        RoundOption(
            duration,
            bits,
            problem.max_delay_s * duration,
            problem.payload_bits * bits / 32,
            gain_share=GAIN_SHARES[bits],
            seconds=duration,
        )
        for duration, bits in options
    )
    return problem, MissionRound(gains, 1.0, Prices(), "energy", 10, options=entries)


def chosen(options, worth, second_price=0.0, **settings):
    problem, mission = one_device(options, **settings)
    goal = "time" if second_price else "energy"
    mission = MissionRound(mission.gains, 1.0, mission.prices, goal, 10, options=mission.options)
    variants = problems_by_worth(problem, mission, worth, 10.0, second_price)
    option = solve_best(variants).problem.option
    return option.duration, option.number_bits


def test_few_bits_are_chosen_only_where_they_save_more_than_they_forgo():
    options = [(1.0, 32), (1.0, 8), (1.0, 4), (1.0, 2)]
    assert chosen(options, 100.0) == (1.0, 8)
    narrow = {"radio": {"bandwidth_hz": 1e4}}  # 4 bits in time would need more than the most power
    assert chosen(options, 100.0, **narrow) == (1.0, 2)


def test_a_round_is_short_only_where_seconds_have_a_price():
    options = [(1.0, 4), (2.0, 4)]
    assert chosen(options, 1.0) == (2.0, 4)  # less power for the report
    assert chosen(options, 1.0, second_price=1e6) == (1.0, 4)


# --- runs -----------------------------------------------------------------------------------------

OPTIONS = {"durations": [1, 0.75, 2], "bits": [4, 32, 2, 8]}
PROTOCOL = {"payload": "protocol", "unheard": "imputed", "labels": "server"}


def in_turn(problem, context):
    """Plan with one option after another, round by round, so that a run has them all."""
    options = context.mission.options
    option = options[context.mission.rounds_left % len(options)]
    mission = MissionRound(
        context.mission.gains, 1.0, context.mission.prices, "energy", 10, options=(option,)
    )
    variants = problems_by_worth(problem, mission, 1e3, 10.0)
    return solve_best(variants, gap=PLAN_GAP, max_boxes=PLAN_BOXES)


@pytest.fixture
def in_turn_method(monkeypatch):
    fetch("digits")
    entry = Method("in-turn", in_turn, uses_importance=False, uses_progress=True)
    monkeypatch.setitem(METHODS._entries, entry.name, entry)
    return entry.name


def turning(**settings):
    learning = {**PROTOCOL, "rounds": 12, **settings.pop("learning", {})}
    return scenario(
        max_delay_s=0.2,
        round_s=6.0,
        churn={"entry_rate": 0.4},
        mission=settings.pop("mission", OPTIONS),
        learning=learning,
        **settings,
    )


def table(rows, bits):
    """The bits of a table of ten columns: in whole bytes, with two limits for each column."""
    return rows * 10 * 32 if bits == 32 else 8 * math.ceil(rows * 10 * bits / 8) + 10 * 64


def slow_bits(setting, bits, sendings):
    """Both directions of one device that trains, with labels on the server, in a mission."""
    learning = setting.learning
    drawn = table(learning.steps_per_iteration * setting.max_iterations * 16, bits)
    held_out, sample = table(2 * 16, bits), table(64, bits)
    up = drawn + held_out + 3 * 32 + held_out + sendings * (drawn + held_out + sample)
    return up, 8 * 32 + drawn + 32 * sendings


def test_rounds_are_executed_and_billed_with_the_bits_and_the_duration_of_their_plan(
    tmp_path, in_turn_method
):
    setting = turning(method=in_turn_method)
    seen = []
    recorded = run(
        setting,
        tmp_path / "run",
        on_round=lambda _, simulation: seen.append(simulation.model.parties.number_bits),
    )
    choices = [
        (event["plan"]["duration"], event["plan"]["number_bits"]) for event in recorded.rounds
    ]
    assert set(choices) == set(product(OPTIONS["durations"], OPTIONS["bits"]))
    assert seen == [bits for _, bits in choices]
    trained = 0
    for event, (duration, bits) in zip(recorded.rounds, choices, strict=True):
        assert event["latency_s"] == pytest.approx(6.0 * duration)  # longer than any report
        assert event["server"]["hover_j"] == pytest.approx(duration * hover_of_one_round(event))
        (sendings,) = event["step"]["sendings"]
        for entry in event["devices"]:
            assert entry["delay_s"] is None or entry["delay_s"] <= 0.2 * duration * (1 + 1e-9)
            if entry["executed_iterations"] and entry["id"] not in event["step"]["diverged"]:
                up, down = slow_bits(setting, bits, sendings)
                assert (entry["bits_sent"], entry["bits_received"]) == (up, down)
                trained += 1
    assert trained > 20
    assert recorded.end["energy"]["bits_sent"] == sum(e["bits_sent"] for e in recorded.rounds)


def hover_of_one_round(event):
    """By the paper's model, at the default constants."""
    return math.exp(event["server"]["position_m"][2] / 20)


@pytest.mark.parametrize("batteries", [False, True])
def test_a_run_with_options_resumes_to_the_same_events(tmp_path, in_turn_method, batteries):
    fleet = [{"count": 4, "altitude_m": [0, 30], "flops_per_cycle": [1.9e-5, 4.4e-5]}]
    if batteries:
        fleet[0]["battery_j"] = [0.5, 3.0]
    setting = turning(
        method=in_turn_method,
        fleet=fleet,
        learning={"rounds": 7},
        server={"battery_j": 1e4} if batteries else {},
    )
    whole = run(setting, tmp_path / "whole")
    assert len({event["plan"]["number_bits"] for event in whole.rounds}) > 2

    def stop(event, _):
        if event["round"] in (1, 4):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(setting, tmp_path / "cut", on_round=stop)
    with pytest.raises(KeyboardInterrupt):
        resume(tmp_path / "cut", on_round=stop)
    assert without_times(resume(tmp_path / "cut")) == without_times(whole)
    for event in whole.rounds if batteries else ():
        assert event["server"]["battery_j"] >= 0
        assert all(entry["battery_j"] >= 0 for entry in event["devices"])


def test_a_server_that_cannot_pay_for_a_long_round_takes_the_shortest(tmp_path, in_turn_method):
    setting = turning(
        method=in_turn_method,
        mission={"durations": [1000, 1], "bits": [8]},
        learning={"rounds": 4},
        server={"battery_j": 500.0},
    )
    recorded = run(setting, tmp_path / "run")
    assert recorded.end["status"] == "done"
    assert [event["plan"]["duration"] for event in recorded.rounds] == [1.0] * 4
    assert recorded.rounds[-1]["server"]["battery_j"] >= 0


@pytest.mark.parametrize("killed", [False, True])
def test_a_federation_with_options_has_the_events_of_a_simulation(tmp_path, in_turn_method, killed):
    setting, _ = scripted_scenario(
        tmp_path, f"method={in_turn_method}", "mission.durations=[1, 2]", "mission.bits=[4, 32, 2]"
    )
    simulated = run(setting, tmp_path / "simulated")
    export_parties(setting, churn_trace(setting), tmp_path)
    network = network_of(tmp_path)
    for node, name in enumerate(churn_trace(setting).fleet.id.tolist(), 1):
        network.plug(node, device(tmp_path, name))
    log = []

    def stop(event, _):
        if killed and event["round"] == 2:
            raise KeyboardInterrupt

    served = server(tmp_path, tmp_path / "run", network, log)
    if killed:
        with pytest.raises(KeyboardInterrupt):
            served.run(setting, on_round=stop)
        federated = server(tmp_path, tmp_path / "run", network, log).resume()
    else:
        federated = served.run(setting)
    assert len({event["plan"]["number_bits"] for event in federated.rounds}) == 3
    assert len(list(differences(simulated.rounds, federated.rounds))) > 200
    assert largest_difference(simulated.rounds, federated.rounds) < 1e-9
    assert not any("dropped" in line or "refused" in line for line in log)


def test_a_mission_chooses_and_records_its_options(tmp_path):
    fetch("digits")
    setting = turning(method="mission", learning={"rounds": 3})
    for event in run(setting, tmp_path / "run").rounds:
        assert event["plan"]["duration"] in OPTIONS["durations"]
        assert event["plan"]["number_bits"] in OPTIONS["bits"]
        assert event["plan"]["gap"] <= PLAN_GAP


# --- what there is to choose from -----------------------------------------------------------------


@pytest.mark.parametrize("method", ["sc-dn", "gsp", "vafl"])
def test_other_methods_have_no_options(method):
    fetch("digits")
    setting = turning(method=method, learning={"rounds": 1})
    simulation = create_simulation(setting, (1.0,))
    problem = simulation.build_problem(
        simulation.collect_reports(), simulation.estimate_importance()
    )
    assert round_options(simulation, problem) == ()


def test_by_default_numbers_have_at_most_the_bits_of_the_scenario():
    def bits(**learning):
        return make_scenario({"fleet": [{"count": 1}], "learning": learning}).round_bits

    assert bits(payload="model", unheard="known") == (32,)
    assert bits(unheard="known") == (32,)
    assert bits() == (4, 8, 32)
    assert bits(number_bits=8) == (4, 8)
    assert bits(number_bits=2) == (2,)


def test_the_mission_plans_with_the_options_of_its_context():
    problem, mission = one_device([(1.0, 32), (2.0, 8)])
    context = type("Context", (), {"mission": mission, "warm_start": None})
    plan = mission_controller(problem, context)
    assert plan.problem.option is mission.options[1]  # which dominates the other
