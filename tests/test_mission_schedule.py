"""Missions that go on without slow devices: who is waited for, what late reports are worth."""

from __future__ import annotations

import json
from dataclasses import replace as dataclass_replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_scenarios import BASE, scenario, without_times

from scdn.control.plan_request import make_request, problem_of
from scdn.control.solve import solve_best
from scdn.data import fetch
from scdn.federation.observed_clock import ObservedClock
from scdn.learning.local_optimizers import LocalSteps
from scdn.learning.replayed_clock import RecordedArrival, ReplayedClock
from scdn.learning.schedules import PlannedSchedule
from scdn.learning.virtual_clock import PartyCycle, VirtualClock
from scdn.methods import method
from scdn.mission.forecast import (
    USUAL_STALENESS_EXPONENT,
    MeasuredProgress,
    ProgressForecast,
    staleness_share,
)
from scdn.mission.late_offers import offer_with_late_reports, rounds_until_heard
from scdn.mission.option_worth import problems_by_worth
from scdn.mission.round_search import MissionRound, best_offer, work_seconds
from scdn.mission.waiting import (
    DEADLINE_SHARES,
    SLOWER,
    compute_deadlines,
    full_work_s,
    sets_to_wait_for,
)
from scdn.record.event_schema import AnyEvent
from scdn.record.mission_result import mission_sentence
from scdn.scenario import Prices, make_scenario
from scdn.simulation.estimate import estimate
from scdn.simulation.runner import resume, run
from scdn.simulation.waited_reports import longest_wait_s, reports_to_wait_for

ALIKE = Prices(device=1, server=1)
SOLVE = partial(solve_best, gap=1e-3, max_boxes=20_000)
FULL_S = 1.0  # what all iterations take at the highest clock, where a device is as fast as usual
slowness = st.lists(st.sampled_from([1.0, 1.2, 2.0, 5.0, 10.0, 30.0]), min_size=1, max_size=7)


def network(slower, deadline_s=40.0):
    """Return the problem of devices around a mast that take so many times as long as usual."""
    device = {"flops_per_cycle": 1.0, "connections": 1.0, "cpu_min_hz": 1e-3, "capacitance": 1e-8}
    rng = np.random.default_rng(len(slower))
    request = {
        "region_m": [100, 100, 50],
        "server": {"position_m": [50, 50, 20]},
        "movement": {"model": "mast"},
        "max_delay_s": 0.05,
        "max_iterations": 5,
        "learning": {"compute_deadline_s": deadline_s, "batch_size": 64},
        "devices": [
            {
                "id": f"d{n}",
                "position_m": [*rng.uniform(45, 55, 2).tolist(), 0],
                "cpu_max_hz": 3 * 5 * 64 / FULL_S / times,
                **device,
            }
            for n, times in enumerate(slower)
        ],
    }
    return problem_of(make_request(request))


def in_a_hurry(problem, exponent=0.5, **settings):
    """Return a mission's round with the goal time, of devices that all help as much."""
    most = problem.max_iterations
    gains = np.full((len(problem), 1), 0.3) * np.sqrt(np.arange(most + 1) / most)
    gains = gains + 0.1 * (np.arange(most + 1) > 0)
    usual = {"may_be_late": True, "hearing": 0.1, "progress_left": 20.0, "fixed_j": 0.05}
    usual |= {"goal": "time", "rounds_left": 50}
    return MissionRound(gains, 0.3, ALIKE, staleness_exponent=exponent, **{**usual, **settings})


def offers(problem, mission):
    waiting = best_offer(problem, mission, SOLVE)
    return waiting, offer_with_late_reports(problem, mission, SOLVE, waiting)


# --- whom to wait for -----------------------------------------------------------------------------


@given(slowness)
def test_sets_to_wait_for_are_the_fastest_devices_and_time_rises_with_their_number(slower):
    problem = network(slower)
    work_s = full_work_s(problem)
    assert work_s == pytest.approx(FULL_S * np.array(slower), rel=1e-9)
    sets = sets_to_wait_for(problem, np.ones(len(slower)))
    for waited in sets:
        assert 1 <= waited.sum() < len(slower)
        assert work_s[~waited].min() >= SLOWER * work_s[waited].max()
    counts = [waited.sum() for waited in sets]
    times = [work_s[waited].max() for waited in sets]
    assert counts == sorted(set(counts))
    assert times == sorted(set(times))
    if max(slower) < SLOWER * min(slower):
        assert sets == []


@given(slowness, st.permutations(range(7)))
def test_the_forecasted_time_of_a_round_rises_with_the_reports_it_waits_for(slower, order):
    """By any plan, and by the plans of a mission for each of its sets."""
    problem = network(slower)
    plan = best_offer(problem, in_a_hurry(problem), SOLVE).plan
    seconds = work_seconds(plan, None)
    chosen = [n for n in order if n < len(slower)]
    lasting = [seconds[chosen[: count + 1]].max() for count in range(len(chosen))]
    assert lasting == sorted(lasting)
    deadlines = [
        max(compute_deadlines(problem, waited)[len(DEADLINE_SHARES) :], default=np.inf)
        for waited in sets_to_wait_for(problem, np.ones(len(slower)))
    ]
    assert deadlines == sorted(deadlines)


@given(slowness, st.floats(0.0, 2.0))
def test_a_round_waits_for_somebody_and_late_reports_come_in_later_rounds(slower, exponent):
    problem = network(slower)
    waiting, late = offers(problem, in_a_hurry(problem, exponent))
    if late is None or late.plan.waits_for is None:
        return
    active = set(problem.selected_ids(late.plan.decision.active))
    assert 1 <= len(late.plan.waits_for) < len(active)
    assert set(late.plan.waits_for) <= active
    assert late.plan.evaluation.violations == ()
    assert late.ratio < waiting.ratio
    seconds = work_seconds(late.plan, None)
    waited = np.isin(problem.ids, late.plan.waits_for)
    rounds = rounds_until_heard(seconds, seconds[waited].max(), late.seconds)
    assert (rounds[waited] == 1).all()
    assert late.gain <= waiting.gain + 1e-9 or late.seconds <= waiting.seconds


@pytest.mark.parametrize("count", [2, 6])
def test_with_one_device_ten_times_slower_a_mission_in_a_hurry_goes_on_without_it(count):
    problem = network([1.0] * (count - 1) + [10.0])
    waiting, late = offers(problem, in_a_hurry(problem))
    assert late is not None
    assert late.plan.waits_for == problem.ids[:-1]
    assert late.plan.decision.active[-1]  # and it trains
    assert late.seconds < waiting.seconds / 2


@pytest.mark.parametrize("count", [1, 2, 6])
def test_with_equal_devices_it_waits_for_all(count):
    problem = network([1.0] * count)
    assert offers(problem, in_a_hurry(problem))[1] is None


@pytest.mark.parametrize(
    "settings", [{"may_be_late": False}, {"goal": "energy"}, {"goal": "best", "joules_left": 50.0}]
)
def test_it_waits_for_all_where_it_must_or_seconds_have_no_price(settings):
    problem = network([1.0] * 5 + [10.0])
    assert offers(problem, in_a_hurry(problem, **settings))[1] is None


def test_a_round_that_costs_nothing_is_planned_in_a_hurry():
    """The cheapest plan has no joules and no seconds, so that the price of seconds has no scale."""
    problem = network([1.0, 1.0])
    assert best_offer(problem, in_a_hurry(problem, fixed_j=0.0), SOLVE).plan.waits_for is None


def test_devices_that_were_measured_to_be_slow_are_not_waited_for():
    problem = network([1.0] * 6)
    paces = np.array([1.0, 10.0, 1.0, 1.0, 1.0, 1.0])
    _, late = offers(problem, in_a_hurry(problem, paces=paces))
    assert late is not None
    assert late.plan.waits_for == ("d0", "d2", "d3", "d4", "d5")
    as_slow = offers(problem, in_a_hurry(problem, paces=np.full(6, 10.0)))[1]
    assert as_slow is None


SLOW_ONES = pytest.mark.parametrize("slower", [[1.0] * 5 + [10.0], [1.0] * 3 + [10.0] * 3])


@SLOW_ONES
@given(st.integers(1, 60))
def test_a_target_that_waiting_reaches_in_the_rounds_that_are_left_is_not_missed(slower, rounds):
    problem = network(slower)
    mission = in_a_hurry(problem, rounds_left=rounds)
    waiting, late = offers(problem, mission)
    if late is not None and rounds * waiting.gain >= mission.progress_left:
        assert rounds * late.gain >= mission.progress_left


@SLOW_ONES
@given(st.floats(2, 300), st.floats(0.5, 50))
def test_without_a_target_the_limits_allow_as_much_progress_as_waiting(slower, seconds, joules):
    problem = network(slower)
    limits = {"progress_left": None, "seconds_left": seconds, "joules_left": joules}
    mission = in_a_hurry(problem, goal="best", **limits)
    waiting, late = offers(problem, mission)

    def progress(offer):
        rounds = [mission.rounds_left, seconds // offer.seconds, joules // offer.joules]
        return min(rounds) * offer.gain

    assert late is None or progress(late) >= progress(waiting)


def test_a_hurry_with_too_small_a_budget_still_keeps_the_deadline():
    """Else the mission would end before its first slow round, with time and joules left."""
    problem = network([1.0, 1.2, 2.0])
    limits = {"progress_left": 1.0, "joules_left": 0.01}
    slow = best_offer(problem, in_a_hurry(problem, **limits), SOLVE)
    assert slow.seconds > 20
    for seconds in (20.0, 5.0):
        mission = in_a_hurry(problem, **limits, seconds_left=seconds)
        assert best_offer(problem, mission, SOLVE).seconds_for(1.0) <= seconds


def test_a_device_that_rests_but_is_still_late_is_not_waited_for():
    """Else the round would last until its report, and not as long as the plan says."""
    problem = network([1.0] * 5 + [10.0])
    problem = dataclass_replace(problem, capacitance=problem.capacitance * [1, 1, 1, 1, 1, 1e9])
    for working, waits_for in (((), None), (("d5",), problem.ids[:-1])):
        mission = in_a_hurry(problem, working=frozenset(working))
        late = offers(problem, mission)[1]
        assert not late.plan.decision.active[-1]
        assert late.plan.waits_for == waits_for


def test_a_late_report_is_worth_less_the_more_staleness_costs():
    problem = network([1.0] * 5 + [10.0])
    gains = [offers(problem, in_a_hurry(problem, exponent))[1].gain for exponent in (0, 0.5, 2)]
    assert gains == sorted(gains, reverse=True)
    assert gains[0] > gains[-1]


def test_deadlines_are_those_of_the_scenario_unless_all_devices_are_much_faster():
    tight, loose = network([1.0, 2.0], deadline_s=2.0), network([1.0, 2.0])
    assert compute_deadlines(tight) == [share * 2.0 for share in DEADLINE_SHARES]
    assert compute_deadlines(loose)[: len(DEADLINE_SHARES)] == [s * 40.0 for s in DEADLINE_SHARES]
    assert compute_deadlines(loose)[len(DEADLINE_SHARES)] == pytest.approx(2.0)
    mission = in_a_hurry(loose)
    variants = problems_by_worth(loose, mission, 1.0, 10.0, second_price=1.0)
    assert min(v.learning.compute_deadline_s for v in variants) == pytest.approx(0.36 * 2.0)


# --- after how many reports a round ends ----------------------------------------------------------


def cycle(seconds, late=False):
    return PartyCycle(LocalSteps(1, 0.1), seconds, late)


class WaitsFor:
    def __init__(self, *names):
        self.waits_for = names or None


@given(st.dictionaries(st.sampled_from("abcdef"), st.floats(0.1, 20), min_size=1), st.data())
def test_the_reports_that_are_waited_for_end_the_round(seconds, data):
    """Whoever is waited for and begins now has reported; whoever is due later has not."""
    waited = data.draw(st.sets(st.sampled_from(sorted(seconds)), min_size=1))
    clock, cycles = VirtualClock(), {name: cycle(s) for name, s in seconds.items()}
    for _ in range(4):
        busy = set(clock.running)
        count = reports_to_wait_for(WaitsFor(*waited), cycles, clock)
        assert 1 <= count <= len(seconds)
        ends_s = clock.now_s + max((seconds[n] for n in waited - busy), default=0.0)
        arrived = {arrival.name for arrival in clock.first_reports(cycles, count)}
        assert len(arrived) >= 1
        assert waited - busy <= arrived
        if waited - busy:
            assert clock.now_s == pytest.approx(ends_s)
    assert reports_to_wait_for(WaitsFor(), cycles, clock) is None


def test_a_round_does_not_wait_for_a_slow_device_in_place_of_one_that_is_cut_off():
    schedule = PlannedSchedule(make_scenario({"fleet": [{"count": 3}]}).learning)
    names = {"a": False, "b": True, "slow": False}
    recorded = [
        RecordedArrival(name, n + 1.0, drop) for n, (name, drop) in enumerate(names.items())
    ]
    schedule.clock = ReplayedClock(recorded=recorded)
    cycles = {"a": cycle(1.0), "b": cycle(2.0), "slow": cycle(50.0)}
    schedule.reports = reports_to_wait_for(WaitsFor("a", "b"), cycles, schedule.clock)
    assert [arrival.name for arrival in schedule.collect(cycles, 3, {})] == ["a", "b"]
    assert schedule.clock.running.keys() == {"slow"}


def round_of(cycles, *waited, clock=None):
    """Return who arrives in a round with these cycles that waits for some of them."""
    schedule = PlannedSchedule(make_scenario({"fleet": [{"count": 3}]}).learning)
    schedule.clock = clock or schedule.clock
    schedule.reports = reports_to_wait_for(WaitsFor(*waited), cycles, schedule.clock)
    return [arrival.name for arrival in schedule.collect(cycles, 3, {})], schedule.clock


def test_a_round_does_not_wait_for_a_slow_device_where_all_that_it_waits_for_are_cut_off():
    cut_off = {"a": cycle(1.0, late=True), "b": cycle(2.0, late=True), "slow": cycle(50.0)}
    names, clock = round_of(cut_off, "a", "b")
    assert names == ["a", "b"]
    assert clock.now_s == 2.0
    names, clock = round_of({"slow": cycle(50.0)}, "a", "b", clock=clock)  # they have left
    assert names == []
    assert clock.now_s == 2.0
    assert round_of({"a": cycle(1.0), "slow": cycle(50.0, late=True)}, "a")[0] == ["a"]


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from("abcdef"), st.tuples(st.floats(0.1, 20), st.booleans()), min_size=1
        ),
        min_size=1,
        max_size=4,
    ),
    st.data(),
)
def test_no_round_takes_longer_than_its_worst_case(rounds, data):
    """Whoever is late, cut off or leaves."""
    clock = VirtualClock()
    for devices in rounds:
        cycles = {name: cycle(*values) for name, values in devices.items()}
        left = data.draw(st.dictionaries(st.sampled_from("abcdef"), st.floats(0.1, 20)))
        planned_s = {n: c.seconds for n, c in cycles.items()} | left
        cycles = {name: cycles[name] for name in sorted(cycles.keys() - left.keys())}
        names = sorted(planned_s.keys() | clock.running.keys())
        waited = data.draw(st.sets(st.sampled_from(names), min_size=1))
        unplanned_s = dict.fromkeys("abcdef", 0.0)
        longest_s = longest_wait_s(WaitsFor(*waited), clock, planned_s, unplanned_s)
        began_s = clock.now_s
        round_of(cycles, *waited, clock=clock)
        assert clock.now_s - began_s <= longest_s + 1e-9


def test_the_worst_case_knows_how_slow_devices_were_measured_to_be():
    clock = VirtualClock(paces={"a": 3.0, "b": 1.0})
    nothing = dict.fromkeys("ab", 0.0)
    cycles_s = {"a": 2.0, "b": 5.0}
    assert longest_wait_s(WaitsFor("a"), clock, cycles_s, nothing) == 6.0
    clock.first_reports({"a": cycle(2.0), "b": cycle(5.0)}, 0)  # both begin
    assert longest_wait_s(WaitsFor("a"), clock, {}, nothing) == 6.0
    assert longest_wait_s(WaitsFor(), clock, {}, {"a": 0.5, "b": 0.0}) == 6.5


def test_a_clock_that_replays_measures_how_slow_devices_are():
    recorded = [RecordedArrival("a", 1.0, False), RecordedArrival("b", 10.0, False)]
    clock = ReplayedClock(recorded=recorded)
    cycles = {"a": cycle(1.0), "b": cycle(1.0)}
    clock.first_reports(cycles, 2)
    assert clock.paces == {"a": 1.0, "b": 10.0}
    assert clock.pace("c") == 5.5  # unknown: the usual pace
    again = ReplayedClock(recorded=recorded)
    again.load_state_dict(json.loads(json.dumps(clock.state_dict())))
    assert again.paces == clock.paces
    plain = VirtualClock()
    plain.first_reports(cycles, 2)
    assert plain.paces == {}


def test_the_time_until_a_report_is_dropped_says_nothing_about_the_device():
    recorded = [RecordedArrival("a", 300.0, True), RecordedArrival("b", 301.0, False)]
    clock = ReplayedClock(recorded=recorded)
    clock.first_reports({"a": cycle(1.0), "b": cycle(1.0)}, 2)
    assert clock.paces == {"b": 301.0}


def test_how_long_a_device_was_silent_is_not_its_pace():
    finished, seconds = iter([("a", None), ("b", "ready")]), iter([0.0, 300.0, 301.0])
    messenger = SimpleNamespace(next_finished=lambda _: next(finished))
    remote = SimpleNamespace(messenger=messenger, ready={})
    clock = ObservedClock(remote=remote, clock=lambda: next(seconds))
    clock.first_reports({"a": cycle(1.0), "b": cycle(1.0)}, 2)
    assert clock.paces == {"b": 301.0}


# --- what late reports are worth ------------------------------------------------------------------


@given(st.integers(0, 100), st.integers(0, 100), st.floats(0, 2))
def test_the_share_of_a_late_report_falls_with_its_staleness(one, other, exponent):
    shares = staleness_share([0, min(one, other), max(one, other)], exponent)
    assert shares[0] == 1.0
    assert 0 < shares[2] <= shares[1] <= 1


def measured(index, gains, staleness, working=()):
    return MeasuredProgress(
        before=1.0 + index,
        after=2.0 + index,
        contributions=gains,
        update_share=0.5,
        iterations=dict.fromkeys(gains, 4),
        present=4,
        staleness=staleness,
        working=working,
    )


@given(st.floats(0.1, 1.5), st.floats(0.5, 1.5))
def test_the_discount_is_measured_on_late_reports(exponent, decay):
    """Late devices that help as much as others, but for their staleness, show what it costs."""
    forecast = ProgressForecast()
    fresh = dict.fromkeys("abc", 1.0)
    forecast.observe(measured(0, fresh, {}), 0, 4)
    for index in range(1, 60):
        staleness = 1 + index % 5
        level = decay**index
        gains = dict.fromkeys(fresh, level) | {"late": level * (1 + staleness) ** -exponent}
        forecast.parties.pop("late", None)  # it is compared with the others
        forecast.observe(measured(index, gains, {"late": staleness}), index, 4)
    assert forecast.staleness_exponent == pytest.approx(exponent, abs=0.15)


def test_without_late_reports_the_forecast_stays_as_it_is():
    one, other = ProgressForecast(), ProgressForecast()
    for index in range(5):
        gains = {"a": 0.5 + index, "b": 0.25}
        one.observe(measured(index, gains, {}), index, 4)
        other.observe(measured(index, gains, {"a": 0, "b": 0}), index, 4)
    assert one == other
    assert one.staleness_exponent == USUAL_STALENESS_EXPONENT


@given(st.lists(st.tuples(st.floats(0, 2), st.integers(0, 9)), max_size=6))
def test_the_measured_discount_is_in_the_checkpoint(reports):
    forecast = ProgressForecast()
    for index, (gain, staleness) in enumerate(reports):
        gains = {"a": 1.0, "b": gain}
        forecast.observe(measured(index, gains, {"b": staleness}), index, 4)
    state = json.loads(json.dumps(forecast.state_dict()))
    assert ProgressForecast.from_state_dict(state) == forecast
    for name in ("staleness_exponent", "staleness_fit"):  # a run of an earlier version
        del state[name]
    earlier = ProgressForecast.from_state_dict(state)
    assert earlier.staleness_exponent == USUAL_STALENESS_EXPONENT


def test_a_device_that_works_does_not_become_more_promising():
    resting, working = ProgressForecast(), ProgressForecast()
    for forecast, late in ((resting, ()), (working, ("late",))):
        forecast.observe(measured(0, {"a": 1.0, "late": 0.1}, {}), 0, 4)
        for index in range(1, 8):
            forecast.observe(measured(index, {"a": 1.0}, {}, late), index, 4)
    assert resting.amounts(["a", "late"], 8)[1] > working.amounts(["a", "late"], 8)[1]


# --- runs -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module", autouse=True)
def _digits():
    fetch("digits")


def one_slow(slower=10.0, **settings):
    """Return a scenario of a mission in a hurry, in which one of five devices is slower."""
    fast = {
        **BASE["fleet"][0],
        "count": 4,
        "flops_per_cycle": 4e-5,
        "cpu_max_hz": 2.3e9,
        "weibull_scale_rounds": 1e6,
        "altitude_m": 0,
    }
    slow = {**fast, "kind": "slow", "count": 1, "cpu_max_hz": 2.3e9 / slower}
    learning = {
        "payload": "protocol",
        "unheard": "imputed",
        "rounds": 8,
        "server_steps": 20,
        "compute_deadline_s": 40.0,
    }
    usual = {
        "seed": 4,
        "method": "mission",
        "max_delay_s": 0.05,
        "fleet": [fast, slow],
        "churn": {"entry_rate": 0.0, "exits": False},
        "mission": {"goal": "time", "target": "top1=99", **settings.pop("mission", {})},
        "learning": {**learning, **settings.pop("learning", {})},
    }
    return scenario(**usual, **settings)


LOOSE = {"compute_deadline_s": 200.0}


def waited_for(recorded):
    return [event["plan"].get("waits_for") for event in recorded.rounds]


@pytest.fixture(scope="module")
def late_run(tmp_path_factory):
    return run(one_slow(), tmp_path_factory.mktemp("late") / "run")


def test_late_reports_are_used_in_later_rounds_at_a_discount(late_run):
    waits = waited_for(late_run)
    assert any(waits)
    stale = [a for e in late_run.rounds for a in e.get("arrivals") or () if a["staleness"]]
    assert {a["id"] for a in stale} == {"slow-1"}
    for event in late_run.rounds:
        AnyEvent.model_validate(event)
        names = event["plan"].get("waits_for")
        if names is None:
            continue
        assert len(names) >= 1
        assert "slow-1" not in names
        assert event["forecast"]["staleness_exponent"] > 0
        in_time = {a["id"] for a in event["arrivals"] if not a["staleness"]}
        assert in_time >= set(names)
        assert event["forecast"]["expected"].keys() == event["forecast"]["measured"].keys()
        for device in event["devices"]:  # what is billed is that of reports that arrived
            own = [a for a in event["arrivals"] if a["id"] == device["id"]]
            for key in ("bits_sent", "transmission_j", "processing_j"):
                assert device[key] == pytest.approx(sum(a[key] for a in own))


def test_a_run_with_late_reports_has_no_bound_and_says_so(late_run):
    assert late_run.end["mission"]["bound_j"] is None
    assert "late" in mission_sentence(late_run.end)


def test_a_round_without_the_slow_device_is_shorter(late_run, tmp_path):
    waits = run(one_slow(mission={"schedule": "synchronous"}), tmp_path / "waits")
    assert not any(waited_for(waits))
    assert all("arrivals" not in event for event in waits.rounds)
    seconds = [sum(e["latency_s"] for e in r.rounds) for r in (late_run, waits)]
    assert seconds[0] < seconds[1] / 2


def test_a_mission_with_late_reports_resumes_to_the_same_events(late_run, tmp_path):
    assert waited_for(late_run)[2] is not None

    def stop(event, simulation):
        if event["round"] == 2:
            assert simulation.schedule.clock.running  # somebody is late
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(one_slow(), tmp_path / "cut", on_round=stop)
    assert without_times(resume(tmp_path / "cut")) == without_times(late_run)


@pytest.mark.parametrize(
    ("slower", "mission"),
    [(1.0, {"goal": "time"}), (10.0, {"goal": "energy"}), (10.0, {"goal": "best"})],
)
def test_a_mission_that_need_not_choose_is_the_synchronous_one(tmp_path, slower, mission):
    """With equal devices, or where seconds have no price: bit for bit."""
    events = []
    for schedule in ("auto", "synchronous"):
        setting = one_slow(slower, mission={**mission, "schedule": schedule})
        recorded = without_times(run(setting, tmp_path / schedule))
        del recorded[0]["scenario"]["mission"]["schedule"]
        events.append(recorded)
    assert events[0] == events[1]


PATIENT = dataclass_replace(method("mission"), name="patient", schedule="synchronous")


def test_a_mission_with_the_synchronous_schedule_never_goes_on_without_a_device(tmp_path):
    setting = one_slow(learning={"rounds": 3}).model_copy(
        update={"method": "test_mission_schedule:PATIENT"}
    )
    recorded = run(setting, tmp_path / "run")
    assert not any(waited_for(recorded))
    assert all("arrivals" not in event for event in recorded.rounds)


def test_devices_go_on_while_the_server_stays_in_place(tmp_path):
    """A round that lasts for `round_s` brings late reports nearer by as much."""
    recorded = run(one_slow(40.0, round_s=8.0, learning=LOOSE), tmp_path / "run")
    assert any(waited_for(recorded))
    ended_s = 0.0
    for event in recorded.rounds:
        began_s, ended_s = ended_s, ended_s + event["latency_s"]
        assert event["latency_s"] >= 8.0 - 1e-9
        for arrival in event.get("arrivals") or ():
            assert began_s <= arrival["at_s"] <= ended_s
    stale = [a for e in recorded.rounds for a in e.get("arrivals") or () if a["staleness"]]
    assert {a["id"] for a in stale} == {"slow-1"}


def test_a_late_device_that_leaves_has_spent_what_it_had_begun(tmp_path):
    """By the plan that it began with, whatever the latest plan asks of it."""
    begun = {}

    def leave(event, simulation):
        running = simulation.schedule.clock.running
        if event["round"] == 1:
            running["slow-1"] = dataclass_replace(running["slow-1"], processing_j=7.0)
            begun.update(running)
            simulation.trace.exited[simulation.trace.fleet.id == "slow-1"] = 2

    recorded = run(one_slow(), tmp_path / "run", on_round=leave)
    assert begun.keys() == {"slow-1"}
    event = recorded.rounds[2]
    assert event["exited"] == ["slow-1"]
    (device,) = [d for d in event["devices"] if d["id"] == "slow-1"]
    assert device["processing_j"] == 7.0
    assert device["bits_sent"] == device["transmission_j"] == 0
    assert all(d["id"] != "slow-1" for e in recorded.rounds[3:] for d in e["devices"])


def test_in_an_estimate_late_reports_bring_what_is_forecast_of_them():
    rounds = estimate(one_slow()).rounds
    assert any(a["staleness"] for event in rounds for a in event.get("arrivals") or ())
    for event in rounds:
        forecast = event["forecast"]
        assert forecast["validation_loss"] == pytest.approx(forecast["expected_loss"])


def test_a_device_that_is_late_until_the_deadline_does_not_end_the_mission(tmp_path):
    """Rounds go on without it as long as they are over before the deadline."""
    setting = one_slow(40.0, mission={"deadline_s": 15}, learning={**LOOSE, "rounds": 30})
    recorded = run(setting, tmp_path / "run")
    seconds = [event["latency_s"] for event in recorded.rounds]
    assert "deadline" in recorded.end["mission"]["ended"]
    assert 15 - 2 * max(seconds[1:]) < sum(seconds) <= 15


def test_batteries_pay_for_late_reports(tmp_path):
    plain = one_slow()
    groups = tuple(g.model_copy(update={"battery_j": (0.5, 0.5)}) for g in plain.fleet)
    recorded = run(plain.model_copy(update={"fleet": groups}), tmp_path / "run")
    levels = [d["battery_j"] for e in recorded.rounds for d in e["devices"]]
    assert min(levels) >= 0
    assert any(waited_for(recorded))


def test_a_report_that_is_still_to_come_counts_against_the_budget(tmp_path):
    """What a late device has begun is billed in a later round, whatever that round's plan is."""
    setting = one_slow(mission={"budget_j": 1000.0})

    def make_expensive(event, simulation):
        running = simulation.schedule.clock.running
        if event["round"] == 0:  # as if it had begun with a plan that costs more than later ones
            running["slow-1"] = dataclass_replace(running["slow-1"], processing_j=2000.0)

    recorded = run(setting, tmp_path / "run", on_round=make_expensive)
    assert len(recorded.rounds) == 1
    assert "budget" in recorded.end["mission"]["ended"]
