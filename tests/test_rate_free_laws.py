"""Laws of training without learning rates: the rows, the searched step, the server's own steps."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_learning import create_model, n_steps, small_learning
from reference_rate_free import held_out_count
from run_scenarios import BASE, scenario
from small_models import CLASSES, LOCAL_STEPS, NUMBERS, VIEWS, same, started

from scdn.data import fetch
from scdn.learning.batches import draw_round
from scdn.learning.local_optimizers import LocalSteps
from scdn.learning.recent_rows import HeardRows, RecentRows
from scdn.learning.round_start import member_embeddings
from scdn.learning.schedules.asynchronous import train_arrivals
from scdn.learning.server_adam import server_batches
from scdn.learning.step_rule import MAX_RATE_CHANGE, StepRule, StepTaken
from scdn.learning.tensors import TensorOptions
from scdn.learning.virtual_clock import Arrival, PartyCycle
from scdn.rng import generator
from scdn.scenario import LearningSettings
from scdn.simulation.loop import Simulation
from scdn.simulation.runner import run
from scdn.world.fleet import OPTIMIZERS

SEEDS = st.integers(0, 2**31)
COUNTS, SIZES = st.integers(1, 900), st.integers(1, 80)
SERVER = LocalSteps(30, 0.0)

# --- the rows of a round --------------------------------------------------------------------------


@given(
    SEEDS, st.lists(st.integers(0, 99), min_size=1, max_size=4), st.integers(0, 9), COUNTS, SIZES
)
def test_rows_held_out_are_trained_on_in_no_round(seed, rounds, steps, count, size):
    learning = LearningSettings(batch_size=size)
    drawn = [draw_round(seed, (round_,), steps, count, learning) for round_ in rounds]
    pool = held_out_count(count, size)
    trained = {row for rows in drawn for row in rows.batches.flatten().tolist()}
    held_out = {row for rows in drawn for row in rows.held_out.flatten().tolist()}
    assert trained | held_out <= set(range(count))
    assert len(held_out) == pool
    assert count == 1 or not trained & held_out
    for rows in drawn:
        assert rows.batches.shape == (steps, min(size, max(count - pool, 1)))
        assert rows.held_out.shape == (1, pool)
        assert len(rows.held_out.unique()) == rows.held_out.numel()
        assert rows.flat().tolist() == [*rows.batches.flatten(), *rows.held_out.flatten()]


@given(SEEDS, st.integers(0, 99), st.integers(0, 6), st.integers(0, 6), COUNTS)
def test_a_rounds_rows_do_not_depend_on_how_many_batches_follow(seed, round_, few, more, count):
    learning = LearningSettings(batch_size=16)
    short, long = (draw_round(seed, (round_,), n, count, learning) for n in (few, few + more))
    assert torch.equal(long.batches[:few], short.batches)
    assert torch.equal(long.held_out, short.held_out)


@pytest.mark.parametrize("step", ["searched", "fitted", "rate"])
@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_rows_are_held_out_where_something_needs_them(step, optimizer):
    learning = LearningSettings(step=step, server_optimizer=optimizer)
    drawn = draw_round(5, (2,), 4, 1000, learning)
    assert learning.holds_rows_out == (drawn.held_out.numel() > 0)
    assert learning.holds_rows_out == (step == "searched" or optimizer == "adam")


def test_every_round_holds_the_same_rows_out():
    """So the server knows them of a party that is not heard now and has not changed since."""
    learning = LearningSettings()
    drawn = {tuple(draw_round(5, (n,), 4, 1000, learning).held_out[0].tolist()) for n in range(9)}
    assert len(drawn) == 1


# --- the server's batches -------------------------------------------------------------------------


@given(SEEDS, st.integers(0, 40), st.integers(0, 90), st.integers(1, 64))
def test_the_server_uses_every_row_before_one_again(seed, steps, count, size):
    batches = server_batches(generator(seed, "server"), steps, count, size, "cpu")
    assert batches.dtype == torch.int64
    assert batches.shape == ((steps, min(size, count)) if count else (0, 0))
    order = batches.flatten().tolist()
    for first in range(0, len(order), max(count, 1)):
        one_pass = order[first : first + count]
        assert len(set(one_pass)) == len(one_pass)
        assert set(one_pass) <= set(range(count))
    fewer = server_batches(generator(seed, "server"), steps // 2, count, size, "cpu")
    assert torch.equal(batches[: len(fewer)], fewer)


# --- recent rows ----------------------------------------------------------------------------------


def heard(round_, rows=5, members=("a", "b")):
    draw = generator(round_, "test-heard", rows)
    embeddings = {name: torch.from_numpy(draw.normal(size=(rows, 3))) for name in members}
    numbers, held_out = torch.from_numpy(draw.integers(0, 99, rows)), torch.arange(rows) >= 3
    return HeardRows(round_, numbers, held_out, embeddings)


@given(st.integers(1, 5), st.lists(st.integers(0, 3), max_size=12))
def test_recent_rows_are_those_last_heard_in_each_of_the_last_rounds(limit, gaps):
    recent, reports, round_ = RecentRows(limit), {}, 0
    for number, gap in enumerate(gaps):  # without a gap: again in the same round
        round_ += gap
        reports[round_] = heard(round_, rows=4 + number % 3)
        recent.add(reports[round_])
    assert recent.rounds == [reports[key] for key in sorted(reports)[-limit:]]


@given(st.integers(0, 40), st.lists(st.integers(3, 9), min_size=1, max_size=9))
def test_no_round_is_kept_whose_successors_have_rows_enough(enough, sizes):
    recent = RecentRows(5, enough)
    for round_, size in enumerate(sizes):
        recent.add(heard(round_, size))
    counts = [int((~one.held_out).sum()) for one in recent.rounds]
    assert [one.round for one in recent.rounds] == list(range(len(sizes)))[-len(counts) :]
    assert sum(counts[1:]) < max(enough, 1)
    assert len(counts) == min(5, len(sizes)) or sum(counts) >= enough


@given(st.lists(st.integers(1, 9), max_size=4), st.sets(st.sampled_from("abc")))
def test_recent_rows_survive_a_round_trip(sizes, members):
    options = TensorOptions("cpu", "float64")
    recent, restored = RecentRows(3), RecentRows(3)
    for round_, size in enumerate(sizes):
        recent.add(heard(round_, size, sorted(members)))
    restored.load_state_dict(recent.state_dict(), options)
    assert len(restored.rounds) == len(recent.rounds) == min(len(sizes), 3)
    for one, other in zip(recent.rounds, restored.rounds, strict=True):
        assert one.round == other.round
        assert torch.equal(one.rows, other.rows)
        assert torch.equal(one.held_out, other.held_out)
        assert other.held_out.dtype == torch.bool
        assert list(one.embeddings) == list(other.embeddings)
        assert all(torch.equal(one.embeddings[n], other.embeddings[n]) for n in members)


@pytest.mark.parametrize("memory", ["keep", "zero-out", "dropout"])
def test_the_server_forgets_recent_rows_of_those_of_whom_nothing_is_kept(memory):
    model = started(memory=memory)
    model.train(0, LOCAL_STEPS, SERVER, batches=4)
    model.remove_parties(["a"])
    (only,) = model.server.recent.rounds
    assert set(only.embeddings) == set(VIEWS) - (set() if memory == "keep" else {"a"})


@pytest.mark.parametrize("limit", [1, 3])
def test_the_server_has_no_more_than_its_limit_of_rounds(limit):
    model = started(server_rounds=limit)
    for round_ in range(4):
        model.train(round_, LOCAL_STEPS, SERVER, batches=4)
    assert [rows.round for rows in model.server.recent.rounds] == list(range(4 - limit, 4))
    for rows in model.server.recent.rounds:
        drawn = draw_round(model.seed, (rows.round,), 4, 90, model.learning)
        assert torch.equal(rows.rows, drawn.flat())
        assert rows.held_out.tolist() == [False] * 36 + [True] * 18


def test_rows_that_were_heard_are_not_computed_again():
    """The server trains on embeddings of earlier rounds as they were then."""
    model = started()
    model.train(0, LOCAL_STEPS, SERVER, batches=4)
    before = {n: table.clone() for n, table in model.server.recent.rounds[0].embeddings.items()}
    model.train(1, LOCAL_STEPS, SERVER, batches=4)
    after = model.server.recent.rounds[0].embeddings
    assert all(torch.equal(after[name], before[name]) for name in VIEWS)


# --- the step rule --------------------------------------------------------------------------------

LENGTHS = st.one_of(st.just(0.0), st.floats(2**-12, 2**12))


@given(LENGTHS, st.integers(1, 30), st.integers(1, 40), st.booleans(), st.floats(1e-6, 1e6))
def test_rates_follow_the_step_within_bounds(length, parties, steps, diverged, scale):
    rule = StepRule(LearningSettings(), scale)
    rule.adapt(StepTaken(length, 0, ("a",) if diverged else ()), parties, steps)
    change = rule.rate_scale / scale
    assert MAX_RATE_CHANGE ** (-1 / steps) * (1 - 1e-9) <= change
    assert change <= MAX_RATE_CHANGE ** (1 / steps) * (1 + 1e-9)
    if diverged:
        assert change < 1
    elif 1 / parties <= length <= 1:  # parties that train at once overshoot together
        assert change == pytest.approx(1)
    elif length:
        assert (change - 1) * (length - 1) >= -1e-9
    if not diverged and steps == 1 and 1 <= length <= 4:
        assert rule.rate_scale == pytest.approx(scale * length)
    if not diverged and steps == 1 and 1 / 4 <= length * parties < 1:
        assert rule.rate_scale == pytest.approx(scale * length * parties)


@given(LENGTHS, st.integers(1, 40))
def test_rates_stay_where_nobody_trained(length, steps):
    rule = StepRule(LearningSettings(), 3.0)
    rule.adapt(StepTaken(length), 0, steps)
    assert rule.rate_scale == 3.0


@given(st.floats(1e-30, 1e6), st.floats(1e-6, 1.0))
def test_rates_that_are_retried_come_back_to_every_scale_between_the_smallest_and_the_first(
    first, smallest
):
    rule, tried = StepRule(LearningSettings(), first), []
    for _ in range(80):
        tried.append(rule.rate_scale)
        rule.retry_rates(too_small=rule.rate_scale < smallest)
    assert max(tried[-8:]) >= smallest  # never small for good
    assert min(tried) >= min(first, smallest / MAX_RATE_CHANGE)


@given(st.lists(LENGTHS, min_size=1, max_size=12))
def test_all_arrivals_of_a_round_change_rates_by_no_more_than_one_step(lengths):
    rule = StepRule(LearningSettings())
    for length in lengths:
        rule.adapt(StepTaken(length), 1, len(lengths))
    assert 1 / MAX_RATE_CHANGE - 1e-9 <= rule.rate_scale <= MAX_RATE_CHANGE + 1e-9


@given(LENGTHS, st.integers(0, 30), st.sampled_from(["fitted", "rate"]), st.integers(0, 9))
def test_other_steps_leave_rates_to_the_scenario(length, round_, step, every):
    rule = StepRule(LearningSettings(step=step, halve_rate_every=every))
    rule.adapt(StepTaken(length), 1)
    assert rule.rate_factor(round_) == (0.5 ** (round_ // every) if every else 1.0)
    assert StepRule(LearningSettings(), 3.0).rate_factor(round_) == 3.0


@pytest.mark.parametrize("step", ["searched", "fitted", "rate"])
def test_rates_are_lowered_only_where_the_step_is_searched(step):
    rule = StepRule(LearningSettings(step=step), 3.0)
    rule.retry_rates(too_small=False)
    assert rule.rate_scale == (3 / MAX_RATE_CHANGE if step == "searched" else 3)


def test_only_a_rate_gives_a_length_beforehand():
    def length(training=("a", "b", "c"), began=None, **learning):
        return StepRule(LearningSettings(**learning)).fixed_length(training, began)

    assert length() is None
    assert length(step="fitted") is None
    assert length(step="rate") == 1.0
    assert length(step="rate", damping="active") == 1 / 3
    assert length(step="rate", damping="active", began=4) == 1 / 4
    assert length(step="rate", damping=0.3) == 0.3
    assert length(training=()) == length(training=(), step="fitted") == 1.0


# --- rounds ---------------------------------------------------------------------------------------


def _embeddings(model, rows):
    tables, _ = member_embeddings(model, {"held_out": rows}, "after 0", model.present)
    return tables["held_out"]


@settings(max_examples=15)
@given(st.sampled_from([1e-8, 1e-3, 0.1, 1.0, 30.0, 1e6, 1e100]), SEEDS, st.integers(1, 6))
def test_a_searched_step_never_raises_the_loss_by_more_than_the_tolerance(rate, seed, count):
    """Measured on the rows held out, whatever the rate, with one party or several."""
    model = started(seed=seed)
    server = model.server
    rows = draw_round(seed, (0,), 6, 90, model.learning).held_out
    before = _embeddings(model, rows)
    loss = server.mean_loss(rows, before)
    step = model.train(0, {"a": n_steps(count, rate), "b": n_steps(2, rate)}, LocalSteps(0, 0.0))
    after = _embeddings(model, rows)
    assert server.mean_loss(rows, after) <= 1.01 * loss
    assert (step.length == 0) == (step.shortenings == 3)
    if step.length == 0 or set(step.diverged) == {"a", "b"}:
        assert torch.equal(after, before)


@pytest.mark.parametrize("length", [0.0, 0.25, 1.0, 7.0])
def test_parameters_go_so_far_along_the_way(length):
    start, end = started().stacks[0], started(seed=4).stacks[0]
    moved = start.interpolate(end, length)
    for key, value in moved.parameters.items():
        expected = (1 - length) * start.parameters[key] + length * end.parameters[key]
        torch.testing.assert_close(value, expected, rtol=1e-12, atol=1e-12)


def test_a_step_that_is_not_taken_leaves_parameters_as_they_are():
    start = started().stacks[0]
    infinite = {key: torch.full_like(p, math.inf) for key, p in start.parameters.items()}
    moved = start.interpolate(replace(start, parameters=infinite), 0.0)
    assert all(torch.equal(moved.parameters[key], p) for key, p in start.parameters.items())


@pytest.mark.parametrize("rate", [1.0, 10.0])
def test_a_larger_rate_of_sgd_gives_the_same_embeddings_after_a_searched_step(rate):
    """One step of SGD is a direction: a rate that is half as large doubles the step's length."""
    one, other = started(), started()
    first = one.train(0, {"b": n_steps(1, rate)}, LocalSteps(0, 0.0))
    second = other.train(0, {"b": n_steps(1, rate / 2)}, LocalSteps(0, 0.0))
    assert 2**-8 < first.length < 2**11
    assert second.length == 2 * first.length
    for stack, twin in zip(one.stacks, other.stacks, strict=True):
        for key, value in stack.parameters.items():
            torch.testing.assert_close(value, twin.parameters[key], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dataset", [CLASSES, NUMBERS], ids=["classes", "numbers"])
def test_the_server_never_gets_worse_on_the_rows_held_out(dataset):
    model = started(dataset)
    for round_ in range(3):
        before = model.server.fusion
        model.train(round_, LOCAL_STEPS, SERVER, batches=4)
        recent = model.server.recent.rounds
        rows = torch.cat([entry.rows[entry.held_out] for entry in recent])[None]
        tables = [
            torch.stack([entry.embeddings[name][entry.held_out] for name in before.members])
            for entry in recent
        ]
        embeddings = torch.cat(tables, 1)[:, None]
        trained, after = model.server.fusion, model.server.mean_loss(rows, embeddings)
        model.server.fusion = before
        assert after <= model.server.mean_loss(rows, embeddings)
        model.server.fusion = trained


def test_the_server_trains_where_nobody_else_does():
    model, untouched = started(), started()
    step = model.train(0, {}, LocalSteps(300, 0.0), batches=9)
    assert (step.length, step.shortenings, model.step_rule.rate_scale) == (1.0, 0, 1.0)
    assert model.server.take_work().steps == 300
    assert model.metrics()["train_loss"] < untouched.metrics()["train_loss"]
    for stack, twin in zip(model.stacks, untouched.stacks, strict=True):
        assert all(torch.equal(p, twin.parameters[key]) for key, p in stack.parameters.items())


def test_without_server_steps_only_parties_train():
    model, untouched = started(), started()
    model.train(0, LOCAL_STEPS, LocalSteps(0, 0.0), batches=4)
    fusion, before = (m.server.fusion.parameters for m in (model, untouched))
    assert all(torch.equal(fusion[key], before[key]) for key in before)
    assert not same(model, untouched)
    assert len(model.server.recent.rounds) == 1


@given(st.lists(st.sampled_from(["a", "b", "late", "gone"]), max_size=7), st.integers(0, 40))
@settings(max_examples=20)
def test_arrivals_share_exactly_the_servers_steps(names, steps):
    model = create_model(CLASSES, VIEWS, small_learning(), measure_gradients=False)
    arrivals = [
        Arrival(
            "a" if name == "late" else name, 1.0, 0, PartyCycle(n_steps(2), 1.0, name == "late")
        )
        for name in names
    ]
    taken = train_arrivals(model, 0, LocalSteps(steps, 0.0), arrivals, 3)
    lapsed = sum(
        (k + 1) * steps // len(names) - k * steps // len(names)
        for k, name in enumerate(names)
        if name in ("late", "gone")
    )
    assert model.server.take_work().steps == steps - lapsed
    assert len(taken) == (sum(name in "ab" for name in names) or not names)
    assert len(model.server.recent.rounds) <= 1  # all arrivals share the round's rows


# --- whole runs -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def digits():
    fetch("digits")


@pytest.mark.parametrize(
    "settings_",
    [
        {"max_iterations": 0},
        {"learning": {"server_steps": 0}},
        {"learning": {"server_steps": 7, "server_rounds": 1}},
        {"learning": {"batch_size": 5000, "server_steps": 7}},
        {"learning": {"labels": "server", "payload": "embeddings", "server_steps": 7}},
        {"learning": {"smoothness": "measured", "server_steps": 7}},
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["sc-dn", "max-vfl", "vafl"])
@pytest.mark.usefixtures("digits")
def test_limiting_settings_run_to_the_end(tmp_path, name, settings_):
    group = {**BASE["fleet"][0], "flops_per_cycle": [1.0, 1.0]}  # everybody can train
    setting = scenario(method=name, seed=3, max_delay_s=1.0, fleet=[group], **settings_)
    recorded = run(setting, tmp_path / "out")
    assert recorded.end["status"] == "done"
    entries = [entry for event in recorded.rounds for entry in event["devices"]]
    assert any(entry["executed_iterations"] for entry in entries) == (setting.max_iterations > 0)
    for event in recorded.rounds:
        if not any(arrival["dropped"] for arrival in event.get("arrivals", ())):
            rows = 1 if setting.max_iterations else 0  # without any, there is nothing to train on
            assert event["server"]["steps"] == rows * setting.learning.server_steps
        if setting.max_iterations == 0:
            assert event["step"]["lengths"] == [1.0]
        assert math.isfinite(event["metrics"]["train_loss"])


@pytest.mark.parametrize("step", ["searched", "fitted"])
@pytest.mark.usefixtures("digits")
def test_rounds_outside_theorem_1_are_recorded_and_counted(tmp_path, monkeypatch, step):
    """Proximal SGD of at most Q steps needs η < 1/(2·Q·μ), where η is the step really taken."""
    problems, carry_out = [], Simulation.realise

    def record(simulation, plan):
        problems.append(plan.problem)
        return carry_out(simulation, plan)

    monkeypatch.setattr(Simulation, "realise", record)
    group = {**BASE["fleet"][0], "optimizers": ["proximal", "sgd"], "mu": [0.2, 0.9]}
    learning = {"step": step, "rounds": 6, "server_steps": 20}
    setting = scenario(seed=3, method="max-vfl", fleet=[group], learning=learning)
    recorded = run(setting, tmp_path / "out")
    counted = 0
    for problem, event in zip(problems, recorded.rounds, strict=True):
        (length,) = event["step"]["lengths"]
        trained = {entry["id"] for entry in event["devices"] if entry["executed_iterations"]}
        outside = []
        for n, name in enumerate(problem.ids):
            rate, mu = problem.learning_rate[n], problem.optimizer_value[n]
            is_proximal = problem.optimizer[n] == OPTIMIZERS.index("proximal")
            if step == "searched" and is_proximal:
                assert rate * 2 * setting.max_iterations * mu < 1  # as P^r's bound sees it
            taken = rate * length * 2 * setting.max_iterations * mu
            if is_proximal and name in trained and taken >= 1:
                outside.append(name)
        assert event["step"]["outside_theorem_1"] == outside
        counted += bool(outside)
    assert recorded.end["rounds_outside_theorem_1"] == counted
    assert (0 < counted < 6) if step == "searched" else counted < 6


def test_each_arrival_has_the_rate_of_its_own_step():
    model = started()
    steps = {
        "a": LocalSteps(4, 0.05, "proximal", 0.5),
        "b": LocalSteps(2, 0.3, "proximal", 0.5),
    }
    arrivals = [
        Arrival(name, float(n), 0, PartyCycle(steps[name], 1.0)) for n, name in enumerate(steps)
    ]
    taken = train_arrivals(model, 0, SERVER, arrivals, 4)
    assert [set(step.rates) for step in taken] == [{"a"}, {"b"}]
    for step, (name, local) in zip(taken, steps.items(), strict=True):
        assert step.rates[name] == step.length * local.rate


@pytest.mark.usefixtures("digits")
def test_any_learning_rate_reaches_the_same_score(tmp_path):
    """Six devices that stay train for eight rounds; without a search the rate decides."""
    group = {**BASE["fleet"][0], "weibull_scale_rounds": 1e9, "flops_per_cycle": [1e-3, 1e-3]}
    scores, first_steps = {}, []
    for step, rate in [("searched", 0.01), ("searched", 0.1), ("searched", 1.0),
                       ("rate", 0.01), ("rate", 0.1), ("rate", 1.0)]:  # fmt: skip
        setting = scenario(
            seed=3,
            method="max-vfl",
            max_delay_s=1.0,
            churn={"entry_rate": 0.0},
            fleet=[group | {"learning_rate": rate}],
            learning={
                "step": step,
                "rounds": 8,
                "halve_rate_every": 99,
                "server_steps": 50,
                "hidden": 32,
                "fusion_hidden": 32,
                "batch_size": 64,
            },
        )
        recorded = run(setting, tmp_path / f"{step}-{rate}")
        for event in recorded.rounds:
            assert all(entry["executed_iterations"] == 5 for entry in event["devices"])
        scores.setdefault(step, []).append(recorded.rounds[-1]["metrics"]["top1"])
        if step == "searched":
            first_steps.append(rate * recorded.rounds[0]["step"]["lengths"][0])
    assert min(scores["searched"]) > 85
    assert np.ptp(scores["searched"]) < 5
    assert min(scores["rate"]) < min(scores["searched"])
    assert max(first_steps) < 8 * min(first_steps)  # although rates differ by a factor of 100
