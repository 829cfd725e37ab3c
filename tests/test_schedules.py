"""Schedules: late reports are used later, terms are equal, and a user's own takes one file."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from reference_learning import create_model, small_learning
from run_scenarios import BASE, scenario, without_times
from small_models import CLASSES, LOCAL_STEPS, VIEWS

from scdn.check import check_schedule
from scdn.cli import main
from scdn.control.max_vfl import at_maximum
from scdn.control.plan import make_plan
from scdn.data import fetch
from scdn.learning.local_optimizers import LocalSteps
from scdn.learning.round_training import RoundTraining
from scdn.learning.schedules import SCHEDULES, BufferedSchedule, Schedule, schedule
from scdn.learning.virtual_clock import PartyCycle, VirtualClock
from scdn.methods import METHODS, Method, method
from scdn.record.event_schema import AnyEvent
from scdn.record.round_totals import round_totals
from scdn.scenario import LearningSettings
from scdn.simulation.runner import resume, run

SECONDS = st.dictionaries(st.sampled_from("abcdef"), st.floats(0.1, 10), min_size=1, max_size=6)


def cycles(seconds, late=()):
    return {name: PartyCycle(LocalSteps(1, 0.1), s, name in late) for name, s in seconds.items()}


class Patient(Schedule):
    """The base class as it is: a clock, and everybody is waited for."""

    name = "patient"


class Impatient(Schedule):
    name = "impatient"

    def collect(self, cycles, devices, begins):  # noqa: ARG002
        return self.clock.first_reports(cycles, 1, begins)


# --- the clock ------------------------------------------------------------------------------------


@given(st.lists(SECONDS, min_size=1, max_size=8), st.integers(1, 6), st.sets(st.sampled_from("ab")))
def test_a_round_has_the_first_reports_and_each_device_once(rounds, count, late):
    clock, before_s = VirtualClock(), 0.0
    for seconds in rounds:
        running = {name: due for name, due in clock.due_s.items() if name in seconds}
        expected = {**{name: clock.now_s + s for name, s in seconds.items()}, **running}
        arrivals = clock.first_reports(cycles(seconds, late), count)
        names = [arrival.name for arrival in arrivals]
        assert len(set(names)) == len(names)
        assert names == sorted(expected, key=lambda name: (expected[name], name))[: len(names)]
        in_time = [arrival for arrival in arrivals if not arrival.cycle.late]
        assert len(in_time) <= count
        assert len(in_time) == count or not clock.due_s  # dropped ones do not count
        times = [before_s, *(arrival.at_s for arrival in arrivals)]
        assert times == sorted(times)
        assert set(clock.due_s) == set(seconds) - set(names)
        before_s = clock.now_s


@given(st.integers(2, 30))
def test_staleness_counts_the_rounds_since_a_device_began(ratio):
    """A report that takes as long as `ratio` rounds arrives in the last of them."""
    clock, seconds = VirtualClock(), cycles({"a": 1.0, "b": 1.0, "slow": ratio - 0.5})
    rounds = [clock.first_reports(seconds, 2) for _ in range(2 * ratio)]
    stale = [(n, a.staleness) for n, r in enumerate(rounds) for a in r if a.name == "slow"]
    assert stale[0] == (ratio - 1, ratio - 1)
    assert all(a.staleness <= 1 for r in rounds for a in r if a.name != "slow")


def test_a_round_without_a_report_in_time_updates_nothing():
    clock = VirtualClock()
    seconds = {"a": 1.0, "slow": 5.0}
    (dropped,) = clock.first_reports(cycles({"a": 1.0}, late="a"), 2)
    assert dropped.cycle.late
    clock.first_reports(cycles(seconds), 1)
    clock.first_reports(cycles(seconds, late="a"), 1)
    assert clock.update_count == 2  # by a in the second round, and by slow in the third


# --- late updates ---------------------------------------------------------------------------------

STEPS = {name: replace(steps, optimizer="sgd") for name, steps in LOCAL_STEPS.items()}


def parameters(model, name):
    (stack,) = (stack for stack in model.stacks if name in stack.names)
    return {key: p.clone() for key, p in stack.select([name]).parameters.items()}


def equal(one, other):
    return all(torch.equal(one[key], other[key]) for key in one)


def two_rounds(labels, unheard, unfinished):
    """Train a and b, then all three; c has begun in the first round if it is `unfinished`."""
    learning = small_learning(labels=labels, unheard=unheard, step="rate", damping="none")
    model = create_model(CLASSES, VIEWS, learning, measure_gradients=False)
    server, fast = LocalSteps(4, 0.1), {name: STEPS[name] for name in "ab"}
    model.begin_cycles(0, STEPS if unfinished else fast, batches=4)
    model.train(0, fast, server, batches=4, heard="ab")
    between = {name: parameters(model, name) for name in "abc"}
    heard = None if model.server.heard is None else set(model.server.heard.parties)
    model.begin_cycles(1, fast if unfinished else STEPS, batches=4)
    model.train(1, fast | {"c": STEPS["c"]}, server, batches=4, heard="abc")
    return model, between, heard


@pytest.mark.parametrize("labels", ["server", "shared"])
@pytest.mark.parametrize("unheard", ["imputed", "known"])
def test_a_late_update_is_computed_from_what_the_server_knew_when_it_began(labels, unheard):
    late, between, heard = two_rounds(labels, unheard, unfinished=True)
    fresh, without, _ = two_rounds(labels, unheard, unfinished=False)
    first = create_model(CLASSES, VIEWS, late.learning, measure_gradients=False)
    start = parameters(first, "c")
    first.train(0, STEPS, LocalSteps(4, 0.1), batches=4, heard="abc")
    # Before the report the device stays as it is. The others have trained as if all would report:
    # the server cannot know who will be late.
    assert equal(between["c"], start)
    assert all(equal(between[name], parameters(first, name)) for name in "ab")
    assert unheard == "known" or not equal(between["a"], without["a"])
    assert heard is None or "c" in heard  # what it sent when it began
    # The report then brings the update of the first round, and not one of the second.
    trained = parameters(late, "c")
    assert all(torch.allclose(trained[k], p) for k, p in parameters(first, "c").items())
    assert not equal(trained, parameters(fresh, "c"))
    assert not late.pending


def test_a_pending_update_is_in_the_checkpoint_and_ends_with_its_party():
    learning = small_learning(step="rate")
    model, other = (
        create_model(CLASSES, views, learning, measure_gradients=False) for views in (VIEWS, {})
    )
    model.begin_cycles(0, STEPS, batches=4)
    model.train(0, {"a": STEPS["a"]}, LocalSteps(2, 0.1), batches=4, heard="a")
    assert model.pending == {"b", "c"}
    state = model.state_dict()
    values = json.loads(json.dumps(state.values))
    other.load_state_dict(state._replace(values=values))
    for each in (model, other):
        each.remove_parties(["b"])
        assert each.pending == {"c"}
        each.train(1, {"c": STEPS["c"]}, LocalSteps(2, 0.1), batches=4, heard="c")
    assert equal(parameters(model, "c"), parameters(other, "c"))
    assert model.metrics() == other.metrics()


# --- runs -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module", autouse=True)
def _digits():
    fetch("digits")


@pytest.fixture
def _own_methods(monkeypatch):
    """Register methods that differ from max-vfl in their schedule alone, for one test."""
    monkeypatch.setattr(METHODS, "_entries", dict(METHODS._entries))
    monkeypatch.setattr(SCHEDULES, "_entries", dict(SCHEDULES._entries))
    for own in (Patient, Impatient):
        SCHEDULES.register(own)
    for name in ("patient", "impatient", "buffered"):
        METHODS.register(replace(method("max-vfl"), name=name, schedule=name))


PROTOCOL = {"payload": "protocol", "unheard": "imputed", "rounds": 4, "server_steps": 20}


def base(**settings):
    learning = {**PROTOCOL, **settings.pop("learning", {})}
    usual = {"seed": 4, "max_delay_s": 0.05, "server": {"transmit_w": 0.5, "cpu_hz": 1e6}}
    return scenario(**usual, electronics={"circuit_w": 0.2}, learning=learning, **settings)


def run_with(tmp_path, name, **settings):
    return run(base(method=name, **settings), tmp_path / name)


@pytest.mark.usefixtures("_own_methods")
@pytest.mark.parametrize("name", ["patient", "buffered"])
def test_waiting_for_every_report_is_the_synchronous_schedule(tmp_path, monkeypatch, name):
    """The virtual clock gives the synchronous rounds again, if the buffer holds all reports."""
    take_step = RoundTraining.take_step

    def send_twice(training):
        return replace(take_step(training), sendings=2)

    monkeypatch.setattr(RoundTraining, "take_step", send_twice)
    learning = {"buffer_reports": 99} if name == "buffered" else {}
    expected = run_with(tmp_path, "max-vfl").rounds
    rounds = run_with(tmp_path, name, learning=learning).rounds
    assert any(event["exited"] for event in expected)
    for one, other in zip(rounds, expected, strict=True):
        assert one["metrics"] == other["metrics"]
        assert one["step"] == other["step"]
        assert one["latency_s"] == pytest.approx(other["latency_s"], rel=1e-9)
        totals, wanted = round_totals(one), round_totals(other)
        assert totals.joules == pytest.approx(wanted.joules, rel=1e-9)
        assert totals.bits == wanted.bits
        for entry, device in zip(one["devices"], other["devices"], strict=True):
            assert {k: entry[k] for k in ("bits_sent", "executed_iterations")} == {
                k: device[k] for k in ("bits_sent", "executed_iterations")
            }
        assert all(arrival["staleness"] == 0 for arrival in one["arrivals"])


def one_slow(**settings):
    """Return settings of a network in which one of five devices is ten times slower."""
    fast = {**BASE["fleet"][0], "count": 4, "flops_per_cycle": 4e-5, "weibull_scale_rounds": 1e6}
    slow = {**fast, "kind": "slow", "count": 1, "flops_per_cycle": 4e-6}
    quiet = {"fleet": [fast, slow], "churn": {"entry_rate": 0.0, "exits": False}}
    learning = {"compute_deadline_s": 40.0, "rounds": 14, **settings.pop("learning", {})}
    return {**quiet, "learning": learning, **settings}


def test_a_slow_device_is_late_and_not_gone(tmp_path):
    waits = run_with(tmp_path, "max-vfl", **one_slow()).rounds
    rounds = run_with(tmp_path, "max-vfl-buffered", **one_slow()).rounds
    seconds = [sum(event["latency_s"] for event in events) for events in (waits, rounds)]
    assert seconds[1] < seconds[0] / 4
    reports = [(event["round"], a) for event in rounds for a in event["arrivals"]]
    (late,) = [(r, a) for r, a in reports if a["id"] == "slow-1"]
    assert late[1]["staleness"] == late[0] > 5  # it began in the first round
    assert late[1]["steps"] > 0
    entries = {d["id"]: d for d in rounds[late[0]]["devices"]}
    assert entries["slow-1"]["executed_iterations"] > 0
    assert late[0] + 1 in [event["round"] for event in rounds]
    for event in rounds:
        AnyEvent.model_validate(event)
        assert sum(not a["dropped"] for a in event["arrivals"]) == 4  # of five
        assert event["server"]["steps"] == PROTOCOL["server_steps"]
        for device in event["devices"]:  # nothing is billed that did not arrive
            own = [a for a in event["arrivals"] if a["id"] == device["id"]]
            for key in ("bits_sent", "bits_received", "transmission_j", "processing_j"):
                assert device[key] == pytest.approx(sum(a[key] for a in own))


def resting(problem, context):
    """As max-vfl, but slow devices rest after the first round."""
    iterations = problem.iteration_limit()
    if context.round:
        iterations = np.where([name.startswith("slow") for name in problem.ids], 0.0, iterations)
    decision = at_maximum(problem, problem.server_m, iterations=iterations)
    active = decision.active & (iterations > 0)
    power = np.where(active, decision.power_w, 0.0)
    return make_plan(
        problem, "greedy", "heuristic", decision._replace(active=active, power_w=power), 0.0
    )


RESTING = Method("resting", resting, schedule="buffered", uses_importance=False)


def test_a_device_that_is_to_rest_ends_the_cycle_that_it_is_in(tmp_path):
    """It has been working, so that its report is used and billed."""
    rounds = run(base(method="test_schedules:RESTING", **one_slow()), tmp_path / "run").rounds
    reports = [(e["round"], a) for e in rounds for a in e["arrivals"] if a["id"] == "slow-1"]
    ((index, report),) = reports
    assert index > 1
    entry = next(d for d in rounds[index]["devices"] if d["id"] == "slow-1")
    assert not entry["active"]
    assert entry["processing_j"] == report["processing_j"] > 0
    assert entry["executed_iterations"] > 0


@pytest.mark.parametrize(("reports", "expected"), [(None, [1, 1, 2, 4, 8]), (2, [2] * 5)])
def test_the_buffer_holds_most_devices_or_as_many_as_the_scenario_says(reports, expected):
    buffered = BufferedSchedule(LearningSettings(buffer_reports=reports))
    assert [buffered.reports_needed(devices) for devices in (1, 2, 3, 5, 10)] == expected


# --- a user's own ---------------------------------------------------------------------------------

MODULE = '''
from scdn.learning.schedules import Schedule
from scdn.methods import Method, method


class GrowingBuffer(Schedule):
    """Goes on after one report in the first round, two in the second, and so on."""

    name = "growing"

    def __init__(self, learning):
        super().__init__(learning)
        self.reports = 0

    def collect(self, cycles, devices, begins):
        self.reports = min(self.reports + 1, devices)
        return self.clock.first_reports(cycles, self.reports, begins)

    def state_dict(self):
        return {**super().state_dict(), "reports": self.reports}

    def load_state_dict(self, state):
        super().load_state_dict(state)
        self.reports = state["reports"]


class Forgetful(GrowingBuffer):
    def state_dict(self):
        return {**super().state_dict(), "reports": 0}


class Deaf(Schedule):
    def collect(self, cycles, devices, begins):
        fast = {name: cycle for name, cycle in cycles.items() if cycle.seconds < 5}
        return self.clock.first_reports(fast, devices, {})


class Doubled(Schedule):
    def collect(self, cycles, devices, begins):
        return self.clock.next_arrivals(cycles, 2 * devices, begins)

    def train(self, model, round_index, server_steps, arrivals, batches):
        steps = super().train(model, round_index, server_steps, arrivals, batches)
        return steps + super().train(model, round_index, server_steps, [], batches)


class Failing(Schedule):
    def collect(self, cycles, devices, begins):
        raise KeyError("a")


class Waiting(Deaf):
    waits_for_all = True


GROWING = Method("growing", method("max-vfl").controller, schedule="my_schedules:GrowingBuffer")
'''


@pytest.fixture
def _module(tmp_path, monkeypatch):
    (tmp_path / "my_schedules.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("my_schedules", None)


@pytest.mark.usefixtures("_module")
def test_a_schedule_of_ones_own_takes_one_file(tmp_path, capsys):
    assert main(["check", "my_schedules:GrowingBuffer"]) == 0
    assert main(["check", "my_schedules:GROWING"]) == 0
    assert "no problems found (schedule)" in capsys.readouterr().out
    setting = base(method="my_schedules:GROWING", learning={"rounds": 4})
    whole = run(setting, tmp_path / "whole")
    counts = [sum(not a["dropped"] for a in event["arrivals"]) for event in whole.rounds]
    assert counts[:3] == [1, 2, 3]

    def stop(event, _):
        if event["round"] == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(setting, tmp_path / "cut", on_round=stop)
    assert without_times(resume(tmp_path / "cut")) == without_times(whole)


@pytest.mark.usefixtures("_module")
@pytest.mark.parametrize(
    ("name", "phrases"),
    [
        ("Forgetful", ["After a checkpoint, reports differ"]),
        ("Deaf", ["no report of device slow", "a device began a cycle; pass `begins`"]),
        ("Doubled", ["more reports than devices", "server took 12 steps", "returned 2 steps"]),
        ("Failing", ["collect raised KeyError"]),
        ("Waiting", ["its collect is never called"]),
    ],
)
def test_the_checker_says_what_is_wrong(name, phrases):
    problems = check_schedule(schedule(f"my_schedules:{name}"))
    for phrase in phrases:
        assert any(phrase in problem for problem in problems), problems
    assert all(problem.endswith(".") for problem in problems)


def test_built_in_schedules_have_no_problems_and_other_things_are_no_schedules():
    for entry in (*SCHEDULES, Patient, Impatient):
        assert check_schedule(entry) == []
    assert "no class" in check_schedule(3)[0]
    assert "an object of Patient" in check_schedule(Patient(LearningSettings()))[0]
    assert main(["check", "buffered"]) == 0


def test_an_unknown_schedule_is_refused_by_name(tmp_path, monkeypatch):
    monkeypatch.setattr(METHODS, "_entries", dict(METHODS._entries))
    METHODS.register(Method("odd", method("max-vfl").controller, schedule="bufered"))
    with pytest.raises(Exception, match="did you mean buffered") as error:
        run(base(method="odd"), tmp_path / "run")
    assert error.type.__name__ == "InputError"
