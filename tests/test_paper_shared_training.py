"""Training that the cases of an ablation share: the same records as without, and less work."""

from __future__ import annotations

import gc
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from scdn.control.plan import make_plan
from scdn.data import fetch
from scdn.learning.vertical_model import VerticalModel
from scdn.methods import Method, register_method
from scdn.paper.ablation import ablated_controller as ablated
from scdn.paper.ablation import jobs as ablation_jobs
from scdn.paper.ablation import shared_training
from scdn.paper.ablation.shared_training import KeptState, _shared_training
from scdn.paper.artefact import read_spec
from scdn.paper.training_run import simulate
from scdn.simulation.divergence import DivergedError
from scdn.simulation.loop import Simulation

CHURN = (
    "learning.dataset=digits",
    "learning.sample_rows=64",
    "learning.batch_size=16",
    "fleet.0.count=4",
    "fleet.0.weibull_scale_rounds=4",
    "churn.quiet_rounds=0",
    "churn.entry_rate=1.0",
)
ROUNDS = 6


@pytest.fixture(autouse=True)
def nothing_trained_before():
    fetch("digits")
    _shared_training.cache_clear()
    yield
    _shared_training.cache_clear()


@pytest.fixture
def trainings(monkeypatch):
    """The rounds in which models were trained."""
    rounds, train = [], VerticalModel.train

    def counted(model, round_index, *arguments, **options):
        rounds.append(round_index)
        return train(model, round_index, *arguments, **options)

    monkeypatch.setattr(VerticalModel, "train", counted)
    return rounds


def jobs_by_case(block, *settings):
    spec = read_spec("ablation-mnist", runs=1, rounds=ROUNDS, only=(block,))
    spec = replace(spec, overrides=(*CHURN, *settings), sweep={"iterations": [1, 2]})
    return {job.key.split("-", 1)[1]: job for job in ablation_jobs.jobs(spec)}


def without_times(record):
    return record | {"solve_s": None}


def alone(job):
    """Run a job whose training is not shared."""
    controller = ablated.partial(ablated.ablated_controller, **job.arguments["control"])
    register_method(Method("ablation", controller))
    return without_times(simulate(job.arguments))


def shared(job):
    return without_times(job.function(job.arguments))


FEW = ("full-0", "no-movement-0", "no-transmission-0", "iterations-1-0")  # Algorithm 3 takes long


@pytest.mark.parametrize(("block", "rounds"), [("published", 3), ("true", ROUNDS)])
def test_shared_training_gives_the_records_of_training_alone(block, rounds, trainings):
    jobs = jobs_by_case(block, f"learning.rounds={rounds}")
    jobs = {case: job for case, job in jobs.items() if block == "true" or case in FEW}
    records = {case: shared(job) for case, job in jobs.items()}
    count_shared = len(trainings)
    assert {case: alone(job) for case, job in jobs.items()} == records
    assert count_shared <= (len(trainings) - count_shared) / 2
    assert len(set(records["full-0"]["present"])) > 1  # devices come and go


def lazy_from(first):
    """Return a controller that asks for one iteration per device from a round on."""

    def controller(problem, context):
        plan = ablated.ablated_controller(problem, context, solver="exact", iterations=1, held=[])
        if context.round < first:
            return plan
        iterations = np.minimum(plan.decision.iterations, 1.0)
        return make_plan(
            problem, "exact", "heuristic", plan.decision._replace(iterations=iterations), 0.0
        )

    return controller


def run_lazy(first, monkeypatch, function):
    job = jobs_by_case("true")["full-0"]
    with monkeypatch.context() as patch:
        patch.setattr(ablated, "partial", lambda *_, **__: lazy_from(first))
        return function(job)


@pytest.mark.parametrize("order", [(ROUNDS, 3, 4, 3), (3, ROUNDS, 1)])
def test_histories_that_divide_in_the_middle_share_what_came_before(order, monkeypatch, trainings):
    records = {}
    for first in order:
        records[first] = run_lazy(first, monkeypatch, shared)
    trained = sorted(trainings)
    for first, record in records.items():
        _shared_training.cache_clear()
        assert run_lazy(first, monkeypatch, alone) == record
    assert len({str(record["score"]) for record in records.values()}) == len(records)
    assert trained.count(0) == 1  # they divide later
    assert len(trained) == ROUNDS + sum(ROUNDS - first for first in set(order) if first < ROUNDS)


def test_an_update_that_diverges_does_so_in_every_case(monkeypatch, trainings):
    evaluate = Simulation.evaluate

    def diverging(simulation):
        if simulation.round == 2:
            raise DivergedError("loss is no longer finite")
        return evaluate(simulation)

    monkeypatch.setattr(Simulation, "evaluate", diverging)
    jobs = jobs_by_case("true")
    first, second = shared(jobs["full-0"]), shared(jobs["no-transmission-0"])
    assert first["status"] == second["status"] == "diverged: loss is no longer finite"
    assert trainings == [0, 1, 2]


def test_another_seed_begins_anew_and_closes_the_states_of_the_last(monkeypatch):
    kept = []

    class Listed(KeptState):
        def __init__(self, state):
            super().__init__(state)
            kept.append(self._file)

    monkeypatch.setattr(shared_training, "KeptState", Listed)
    job = jobs_by_case("true")["full-0"]
    shared(job)
    assert len(kept) == ROUNDS
    other = job.arguments["scenario"] | {"seed": 1}
    shared(replace(job, arguments=job.arguments | {"scenario": other}))
    gc.collect()
    assert [file.closed for file in kept] == ROUNDS * [True] + ROUNDS * [False]


def test_cases_of_a_block_and_seed_run_in_turn():
    jobs = ablation_jobs.jobs(read_spec("ablation-mnist", runs=2))
    for before, job in pairwise(jobs):
        same = [
            all(key.startswith(block) and key.endswith(seed) for key in (before.key, job.key))
            for block in ("published", "true")
            for seed in ("-0", "-1")
        ]
        assert job.after == (before.key if any(same) else None)


def test_billed_messages_share_no_training(trainings):
    jobs = jobs_by_case("true", "learning.payload=protocol")
    records = [shared(jobs[case]) for case in ("full-0", "no-transmission-0")]
    assert len(trainings) == 2 * ROUNDS
    assert records[0] == alone(jobs["full-0"])
