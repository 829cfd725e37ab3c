"""The asynchronous schedule: a virtual clock, and training of one party at a time."""

from __future__ import annotations

import json

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from reference_learning import create_model, small_learning
from small_models import CLASSES, LOCAL_STEPS, VIEWS

from scdn.learning.local_optimizers import LocalSteps
from scdn.learning.schedules.asynchronous import arrival_server_steps, train_arrivals
from scdn.learning.virtual_clock import PartyCycle, VirtualClock

SECONDS = st.dictionaries(st.sampled_from("abcdef"), st.floats(0.1, 10), min_size=1, max_size=6)


def cycles(seconds, late=False):
    return {
        name: PartyCycle(LOCAL_STEPS.get(name, LocalSteps(1, 0.1)), s, late)
        for name, s in seconds.items()
    }


@given(st.lists(SECONDS, min_size=1, max_size=6), st.integers(0, 9))
def test_arrivals_are_ordered_by_time_and_as_many_as_asked(rounds, count):
    clock, before = VirtualClock(), 0.0
    for seconds in rounds:
        arrivals = clock.next_arrivals(cycles(seconds), count)
        assert len(arrivals) == count
        times = [before, *(arrival.at_s for arrival in arrivals)]
        assert times == sorted(times)
        assert {arrival.name for arrival in arrivals} <= set(seconds)
        before = clock.now_s


@given(st.integers(1, 9))
def test_parties_report_as_often_as_their_speed_allows(ratio):
    clock = VirtualClock()
    seconds = cycles({"a": 1.0, "b": ratio})
    reports = [arrival.name for _ in range(20) for arrival in clock.next_arrivals(seconds, 2)]
    times = clock.now_s
    assert reports.count("a") == pytest.approx(times, abs=1)
    assert reports.count("b") == pytest.approx(times / ratio, abs=1)


def test_staleness_counts_reports_of_other_parties():
    clock = VirtualClock()
    arrivals = [a for _ in range(4) for a in clock.next_arrivals(cycles({"a": 1.0, "b": 3.4}), 2)]
    assert [(a.name, a.staleness) for a in arrivals] == [
        ("a", 0), ("a", 0), ("a", 0), ("b", 3), ("a", 1), ("a", 0), ("a", 0), ("b", 3),
    ]  # fmt: skip


def test_a_new_plan_applies_from_a_partys_next_cycle():
    clock = VirtualClock()
    short, long = PartyCycle(LocalSteps(1, 0.1), 1.0), PartyCycle(LocalSteps(9, 0.1), 9.0)
    (first,) = clock.next_arrivals({"a": short}, 1)
    (second,) = clock.next_arrivals({"a": long}, 1)
    (third,) = clock.next_arrivals({"a": long}, 1)
    assert (first.at_s, first.cycle) == (1.0, short)
    assert (second.at_s, second.cycle) == (2.0, short)
    assert (third.at_s, third.cycle) == (11.0, long)


@given(st.lists(SECONDS, min_size=2, max_size=5))
def test_a_restored_clock_continues_like_the_original(rounds):
    one = VirtualClock()
    one.next_arrivals(cycles(rounds[0]), 3)
    other = VirtualClock()
    other.load_state_dict(json.loads(json.dumps(one.state_dict())))
    for seconds in rounds[1:]:
        assert one.next_arrivals(cycles(seconds), 4) == other.next_arrivals(cycles(seconds), 4)


@given(st.integers(1, 50), st.integers(0, 500))
def test_shares_of_the_servers_steps_add_up(arrivals, steps):
    shares = [arrival_server_steps(index, arrivals, steps) for index in range(arrivals)]
    assert sum(shares) == steps
    assert max(shares) - min(shares) <= 1
    for count in range(arrivals + 1):  # and never run ahead of the arrivals
        assert sum(shares[:count]) == count * steps // arrivals


@given(st.lists(SECONDS, min_size=1, max_size=5), st.lists(st.floats(0, 20), min_size=5))
def test_reports_wait_while_the_server_computes(rounds, busy_s):
    clock, free_s = VirtualClock(), 0.0
    for seconds, busy in zip(rounds, busy_s, strict=False):
        arrivals = clock.next_arrivals(cycles(seconds), 4)
        times = [free_s, *(arrival.at_s for arrival in arrivals)]
        assert times == sorted(times)
        clock.now_s += busy
        free_s = clock.now_s


def test_parties_go_on_while_the_server_computes():
    clock = VirtualClock()
    seconds = cycles({"a": 1.0, "b": 3.0})
    assert [a.at_s for a in clock.next_arrivals(seconds, 1)] == [1.0]
    clock.now_s += 5.0
    arrivals = clock.next_arrivals(seconds, 3)
    assert [(a.name, a.at_s) for a in arrivals] == [("a", 6.0), ("b", 6.0), ("a", 7.0)]


def test_without_cycles_the_clock_stands_still():
    clock = VirtualClock()
    assert clock.next_arrivals({}, 4) == []
    assert clock.now_s == 0.0


def test_a_dropped_report_takes_time_and_changes_nothing():
    model = create_model(CLASSES, VIEWS, small_learning(), measure_gradients=False)
    before = {t.names: {k: p.clone() for k, p in t.parameters.items()} for t in model.stacks}
    fusion = dict(model.server.fusion.parameters)
    clock = VirtualClock()
    arrivals = clock.next_arrivals(cycles(dict.fromkeys(LOCAL_STEPS, 2.0), late=True), 3)
    train_arrivals(model, 0, LocalSteps(0, 0.1), arrivals, 0)
    assert clock.now_s == 2.0
    for stack in model.stacks:
        for key, value in stack.parameters.items():
            assert torch.equal(value, before[stack.names][key])
    assert all(torch.equal(p, fusion[k]) for k, p in model.server.fusion.parameters.items())


@pytest.mark.parametrize(
    ("optimizer", "arrival_steps"), [("adam", "party"), ("sgd", "party"), ("sgd", "shared")]
)
def test_an_arrival_trains_one_party_against_current_embeddings(optimizer, arrival_steps):
    """By SGD the server takes the party's steps or its share of 20, by Adam its share."""
    learning = small_learning(server_optimizer=optimizer, arrival_steps=arrival_steps)
    model, expected = (
        create_model(CLASSES, VIEWS, learning, measure_gradients=False) for _ in range(2)
    )
    arrivals = VirtualClock().next_arrivals(cycles({"a": 1.0, "c": 1.5, "b": 0.4}), 3)
    assert [a.name for a in arrivals] == ["b", "b", "a"]
    train_arrivals(model, 0, LocalSteps(20, 0.05), arrivals, 6)
    for index, (name, share) in enumerate(zip("bba", (6, 7, 7), strict=True)):
        steps = LOCAL_STEPS[name]
        by_adam = optimizer == "adam"
        server_steps = share if by_adam or arrival_steps == "shared" else steps.count
        expected.train(
            0,
            {name: steps},
            LocalSteps(server_steps, 0.05),
            batches=6 if by_adam else max(steps.count, server_steps),
            training_parties=1,
            arrival=index,
        )
    for one, other in zip(model.stacks, expected.stacks, strict=True):
        assert all(torch.equal(one.parameters[k], other.parameters[k]) for k in one.parameters)
    assert model.metrics() == expected.metrics()
