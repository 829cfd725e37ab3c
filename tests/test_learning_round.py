"""A round in stacked tensors equals a plain loop over parties, whatever is mixed in it."""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np
import pytest
import torch
from conftest import many
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_learning import (
    CONV,
    Both,
    Draws,
    Job,
    batches_of,
    begin,
    close,
    images,
    small,
    some_view,
    table,
    taught,
)

from scdn.learning.gradients import turning
from scdn.learning.guide import SlopeGuide
from scdn.learning.local import Order, halved, stretches
from scdn.learning.split import entering, split
from scdn.learning.vertical import train_together
from scdn.rng import generator
from scdn.theory import MOMENTUM, PROXIMAL, SGD, step_weights

COLUMNS = 25
SETS = {task: table(task, COLUMNS) for task in ("classification", "regression")}
PICTURES = images()
UNEQUAL = {  # two teams: shares of up to 8 columns stack, longer ones do not
    "a": some_view([0, 3, 1, 7, 9]),
    "b": some_view(range(10, 21)),
    "c": some_view([2, 4, 5, 6]),
    "d": some_view([24, 22, 23, 21]),
    "e": some_view([8]),
}
MIXED = {
    "a": Job(3),
    "b": Job(5, 0.2, "momentum", 0.25),
    "c": Job(0, 0.1, "momentum", 0.2),
    "d": Job(2, 0.1, "proximal", 0.9),
    "e": Job(4, 0.05, "momentum", 0.9),
}
KINDS = {
    "sgd": Job(4, 0.1),
    "proximal": Job(4, 0.3, "proximal", 0.9),
    "momentum": Job(4, 0.1, "momentum", 0.6),
}
MEMORIES = ("keep", "zero-out", "dropout")


@pytest.fixture(autouse=True)
def _calm():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def rounds(both, jobs, server, count=3):
    for _ in range(count):
        both.train(jobs, server)
    both.check()


@pytest.mark.parametrize("labels", ["shared", "server"])
@pytest.mark.parametrize("memory", MEMORIES)
def test_how_fast_gradients_turn(labels, memory):
    learning = small(labels=labels, smoothness="measured")
    both = Both(SETS["classification"], UNEQUAL, learning, memory)
    first = dict(both.model.sizes)
    probe = both.model._drawn(generator(both.model.seed, "probe:a"), 8)[0]
    for name in UNEQUAL:
        close(first[name].smoothness, both.naive.tried(name, probe, both.naive._embeddings(probe)))
    rounds(both, MIXED, Job(3))
    both.leave(["b"])
    rounds(both, {name: job for name, job in MIXED.items() if name != "b"}, Job(3))
    found, whole = both.model.smoothness()
    assert found == {name: both.model.sizes[name].smoothness for name in both.model.present}
    assert whole == max(found.values())
    assert all(0 < found[name] != first[name].smoothness for name in found)  # "c" rested, too


def test_a_newcomer_that_showed_nothing_is_as_rough_as_the_roughest():
    both = Both(SETS["classification"], UNEQUAL, small(smoothness="measured"))
    del both.model.sizes["b"]
    found, whole = both.model.smoothness()
    assert found["b"] == whole == max(found.values())
    both.model.sizes.clear()
    assert both.model.smoothness() == ({}, both.model.learning.global_smoothness)


def test_how_fast_nothing_and_infinity_turn():
    def row(*values):
        return {"p": torch.tensor(values)[:, None]}

    zero, one = row(0.0, 0.0, 0.0, 0.0, 0.0), row(0.0, 1.0, 1.0, 1.0, 1.0)
    after = row(1.0, 4.0, 5.0, torch.inf, torch.nan)
    before = row(1.0, 1.0, 0.0, 1.0, 1.0)
    assert turning(zero, one, before, after) == [None, 3.0, None, torch.inf, torch.inf]


@pytest.mark.parametrize("labels", ["shared", "server"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_optimiser(kind, labels):
    learning = small(labels=labels, damping="none")
    rounds(Both(SETS["classification"], UNEQUAL, learning), dict.fromkeys(UNEQUAL, KINDS[kind]),
           Job(3))  # fmt: skip


@pytest.mark.parametrize("turn", ["parallel", "after"])
@pytest.mark.parametrize("damping", ["none", "active", "fitted", 0.3])
@pytest.mark.parametrize("labels", ["shared", "server"])
def test_mixed_parties_in_every_schedule(turn, damping, labels):
    learning = small(server_turn=turn, damping=damping, labels=labels)
    rounds(Both(SETS["regression"], UNEQUAL, learning), MIXED, Job(6))
    rounds(Both(SETS["classification"], UNEQUAL, learning), MIXED, Job(2))


@pytest.mark.parametrize("inputs", ["own", "masked"])
@pytest.mark.parametrize("labels", ["shared", "server"])
@pytest.mark.parametrize("memory", MEMORIES)
def test_coming_and_going(memory, labels, inputs):
    learning = small(labels=labels, input=inputs, dropout=0.4)
    both = Both(SETS["classification"], UNEQUAL, learning, memory)
    server = Job(3)
    rounds(both, MIXED, server, 2)
    both.leave(["a"])
    both.check()
    rest = {name: job for name, job in MIXED.items() if name != "a"}
    both.train(rest, server)
    both.check(sizes=memory != "dropout")
    both.enter({"n": some_view(range(5, 14)), "m": some_view([3, 2])})  # one to each team
    both.check(sizes=memory != "dropout")
    both.train(rest | {"n": Job(2), "m": Job(3, 0.2, "momentum", 0.3)}, server)
    both.leave(["b", "n"])  # now a team is empty
    both.train({"c": Job(4, 0.2, "proximal", 0.5), "m": Job(1)}, server)
    both.check(sizes=memory != "dropout")


def test_shares_of_the_split():
    """Eight parties of 25 columns: shares of 3 and 4."""
    data = SETS["classification"]
    views = {f"p{n}": view for n, view in enumerate(split(data, "random", 8, 1))}
    assert len({len(view.columns) for view in views.values()}) == 2
    both = Both(data, views, small())
    rounds(both, {name: Job(1 + n % 3) for n, name in enumerate(views)}, Job(2), 2)
    both.enter({"late": entering(data, "random", 8, 1, "late")})
    rounds(both, {"late": Job(5), "p3": Job(2)}, Job(2), 2)


@pytest.mark.parametrize("inputs", ["own", "masked"])
def test_images_with_a_model_of_the_users(inputs):
    views = {f"p{n}": view for n, view in enumerate(split(PICTURES, "strips", 2, 0))}
    views |= {f"q{n}": view for n, view in enumerate(split(PICTURES, "patches", 4, 0))}
    both = Both(PICTURES, views, small(model=CONV, input=inputs))
    assert len(both.model.teams) == (2 if inputs == "own" else 1)
    jobs = {name: list(KINDS.values())[n % 3] for n, name in enumerate(views)}
    rounds(both, jobs | {"p0": Job(0)}, Job(2), 2)
    both.leave(["q1", "p1"])
    both.enter({"new": entering(PICTURES, "patches", 4, 0, "new")})
    rounds(both, {"q0": Job(3), "new": Job(2)}, Job(2), 2)


def test_the_papers_convolutions_on_padded_patches():
    data = images(size=16, channels=1, rows=24, tests=8)
    views = {f"p{n}": view for n, view in enumerate(split(data, "patches", 4, 0))}
    both = Both(data, views, small(model="cnn", batch_size=4, sample_rows=12))
    jobs = {"p0": Job(2), "p1": KINDS["momentum"], "p2": Job(1, 0.1, "proximal", 0.5)}
    rounds(both, jobs, Job(2), 2)


# Everything at once


@st.composite
def jobs_of(draw, names):
    found = {}
    for name in names:
        if draw(st.booleans()) or draw(st.booleans()):
            kind = draw(st.sampled_from(["sgd", "proximal", "momentum"]))
            number = draw(st.floats(0.05, 0.95))
            steps = draw(st.integers(0, 5))
            found[name] = Job(steps, draw(st.sampled_from([0.05, 0.2])), kind, number)
    return found


@st.composite
def views_of(draw, name):
    columns = draw(st.lists(st.integers(0, COLUMNS - 1), min_size=1, max_size=12, unique=True))
    return {name: some_view(columns)}


@settings(max_examples=many(300))
@given(st.data())
def test_any_course_of_events(data):
    task = data.draw(st.sampled_from(["classification", "regression"]))
    learning = small(
        labels=data.draw(st.sampled_from(["shared", "server"])),
        server_turn=data.draw(st.sampled_from(["parallel", "after"])),
        damping=data.draw(st.sampled_from(["none", "active", "fitted", 0.35])),
        input=data.draw(st.sampled_from(["own", "masked"])),
        dropout=data.draw(st.sampled_from([0.0, 0.3, 0.7])),
        batch_size=data.draw(st.sampled_from([1, 8, 200])),
        initialisation=data.draw(st.sampled_from(["default", "kaiming"])),
    )
    memory = data.draw(st.sampled_from(MEMORIES))
    if learning.damping == "fitted" and memory == "dropout":
        memory = "keep"
    views = {}
    for place in range(data.draw(st.integers(1, 4))):
        views |= data.draw(views_of(f"p{place}"))
    both = Both(SETS[task], views, learning, memory, data.draw(st.integers(0, 2**31)))
    fresh, left = len(views), False
    for _ in range(data.draw(st.integers(1, 5))):
        present = sorted(both.model.present)
        event = data.draw(st.sampled_from(["train", "train", "enter", "leave"]))
        if event == "enter":
            newcomers = {}
            for place in range(data.draw(st.integers(1, 2))):
                newcomers |= data.draw(views_of(f"p{fresh + place}"))
            fresh += len(newcomers)
            both.enter(newcomers)
        elif event == "leave" and len(present) > 1:
            going = data.draw(
                st.lists(
                    st.sampled_from(present), min_size=1, max_size=len(present) - 1, unique=True
                )
            )
            both.leave(going)
            left = True
        else:
            both.train(data.draw(jobs_of(present)), Job(data.draw(st.integers(1, 4)), 0.1))
        both.check(sizes=not (left and memory == "dropout"))


# Several runs at once


def runs(learning, memory):
    """Three seeds of one scenario, and the loop for each."""
    found = []
    for seed in (1, 2, 3):
        both = Both(SETS["classification"], UNEQUAL, learning, memory, seed)
        if seed == 2:
            both.leave(["a"])
        if seed == 3:
            both.enter({"n": some_view([5, 6, 7])})
        found.append(both)
    return found


def jobs_in(both, round_):
    jobs = {name: job for name, job in MIXED.items() if name in both.model.present}
    if "n" in both.model.present:
        jobs |= {"n": Job(1 + round_, 0.1, "proximal", 0.7)}
    if both.model.seed == 2 and round_ == 1:  # one of its teams rests
        jobs = {"b": Job(7)}
    return jobs


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("labels", ["shared", "server"])
def test_runs_together_are_runs_alone(memory, labels):
    learning = small(labels=labels)
    boths = runs(learning, memory)
    alone = runs(learning, memory)
    for round_ in range(3):
        jobs = [jobs_in(both, round_) for both in boths]
        orders = [{name: job.order for name, job in each.items()} for each in jobs]
        with ExitStack() as stack:
            draws = [stack.enter_context(Draws(both.model)) for both in boths]
            train_together([both.model for both in boths], round_, orders, Order(2, 0.1))
        for both, drawn, each, single, order in zip(boths, draws, jobs, alone, orders, strict=True):
            drawn.follow(both.naive, each, Job(2, 0.1))
            both.check(sizes=memory != "dropout")
            single.model.train(round_, order, Order(2, 0.1))
    for both, single in zip(boths, alone, strict=True):
        pairs = zip(both.model.teams, single.model.teams, strict=True)
        for team, other in pairs:
            for key, value in team.parameters.items():
                close(value, other.parameters[key], key)


# What a round's steps add up to


class Path:
    """Takes a tally's place and keeps every gradient."""

    def __init__(self):
        self.steps = []

    def add(self, gradients, who):
        self.steps.append(({name: g.clone() for name, g in gradients.items()}, who))

    def of(self, place, name):
        found = []
        for gradients, who in self.steps:
            places = list(range(len(gradients[name]))) if who is None else who.tolist()
            if place in places:
                found.append(gradients[name][places.index(place)])
        return found


@pytest.mark.parametrize("labels", ["shared", "server"])
def test_updates_are_gradients_weighed_as_the_paper_says(labels):
    model = begin(SETS["classification"], UNEQUAL, small(labels=labels))
    counts = {"a": 5, "b": 6, "c": 1, "d": 3, "e": 6}
    for kind in KINDS:
        for number in (0.1, 0.8):
            _weighs(model, {n: Job(q, 0.3, kind, number) for n, q in counts.items()})
    mixed = zip(counts.items(), [*KINDS, "proximal", "momentum"], strict=True)
    _weighs(model, {name: Job(q, 0.3, kind, 0.4) for (name, q), kind in mixed})


def _weighs(model, jobs):
    batches = batches_of(model, 0, max(job.steps for job in jobs.values()))
    stale = _stale(model, batches)
    for team in model.teams:
        guide = model.server.guide(team.names, batches, stale, model.learning.labels)
        path = Path()
        orders = [jobs[name].order for name in team.names]
        after = taught(team, model.rows, batches, guide, orders, tally=path)
        for place, name in enumerate(team.names):
            job = jobs[name]
            weights = _weights(job)
            for key, start in team.parameters.items():
                gradients = path.of(place, key)
                assert len(gradients) == job.steps
                moved = sum(w * g for w, g in zip(weights, gradients, strict=True))
                close(
                    after.parameters[key][place], start[place] - job.rate * moved, f"{name} {key}"
                )
            code = {"sgd": SGD, "proximal": PROXIMAL, "momentum": MOMENTUM}[job.kind]
            found = step_weights(np.array([code]), [job.steps], [job.rate], [job.number])
            assert found.mean == pytest.approx(np.mean(weights), rel=1e-9)
            assert found.largest == pytest.approx(max(weights), rel=1e-9)


def _weights(job):
    """The paper's coefficients of a round's gradients."""
    q = job.steps
    if job.kind == "proximal":
        return [(1 - job.rate * job.number) ** (q - 1 - j) for j in range(q)]
    if job.kind == "momentum":
        return [(1 - job.number ** (q - j)) / (1 - job.number) for j in range(q)]
    return [1.0] * q


def _stale(model, batches):
    """Everybody's embeddings of the rows, (members, steps, batch, width)."""
    found = {}
    for team in model.teams:
        for place, name in enumerate(team.names):
            alone = team.only([name])
            each = [alone.embed_rows(model.rows, "train", batch)[0] for batch in batches]
            found[name] = torch.stack(each)
            assert place == team.names.index(name)
    return torch.stack([found[name] for name in model.server.fusion.members])


def test_a_team_of_one_does_what_it_does_in_company():
    model = begin(SETS["classification"], UNEQUAL, small())
    batches = batches_of(model, 4, 5)
    stale = _stale(model, batches)
    for team in model.teams:
        orders = [MIXED[name].order for name in team.names]
        guide = model.server.guide(team.names, batches, stale, "shared")
        together = taught(team, model.rows, batches, guide, orders)
        for place, name in enumerate(team.names):
            own = model.server.guide([name], batches, stale, "shared")
            alone = taught(team.only([name]), model.rows, batches, own, [orders[place]])
            for key, value in alone.parameters.items():
                close(value[0], together.parameters[key][place], f"{name} {key}")


def test_no_steps_no_change():
    model = begin(SETS["classification"], UNEQUAL, small())
    (team, *_) = model.teams
    guide = SlopeGuide(torch.full((len(team.names), 1, 9, 5), torch.nan))
    batches = batches_of(model, 0, 1)
    after = taught(team, model.rows, batches, guide, [Order(0, 0.1)] * len(team.names))
    assert all(torch.equal(after.parameters[key], p) for key, p in team.parameters.items())


@given(st.lists(st.integers(0, 9), max_size=7))
def test_stretches_give_everyone_its_steps_once(steps):
    taken = {party: [] for party in range(len(steps))}
    for who, first, end in stretches(steps):
        assert first < end
        for party in who:
            taken[party] += range(first, end)
    assert taken == {party: list(range(count)) for party, count in enumerate(steps)}


def test_rates_halve():
    rates = [halved(0.8, round_, 5) for round_ in range(12)]
    assert rates == [0.8] * 5 + [0.4] * 5 + [0.2] * 2
