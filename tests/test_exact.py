"""The exact solver: its plans hold, their value is true, and nothing better is to be found."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from conftest import ROOT, many
from problems import Model, close, random_request

from scdn.control.exact import position_objective as surface_module
from scdn.control.exact.branch_and_bound import solve_exact
from scdn.control.exact.closed_form import decision_at, device_costs
from scdn.control.exact.position_objective import position_objective
from scdn.control.plan_request import make_request, problem_of
from scdn.control.problem import evaluate
from scdn.control.solve import solve, solve_many

GAP = 1e-4


def _problem(request):
    return problem_of(make_request(request))


def _answer(request, **options):
    plan = solve(_problem(request), gap=GAP, **options)
    return plan, plan.answer().model_dump(mode="json")


def _slack(model):
    """What a search over a grid of relaxed iterations may miss."""
    return 1e-9 if model.whole else 2e-5


@pytest.mark.parametrize("part", range(8))
def test_no_search_finds_anything_better(part):
    for trial in range(many(300)):
        request = random_request(10_000 * part + trial)
        model = Model(request)
        plan, answer = _answer(request)
        assert answer["status"] == "optimal", request
        assert answer["violations"] == [], request
        assert model.allowed(answer["server"]["position_m"]), request
        assert answer["objective"] == close(model.objective(answer)), request
        assert plan.lower_bound <= plan.objective + 1e-12 * abs(plan.objective)
        assert plan.gap <= GAP, request
        found = model.search(trial)
        assert plan.lower_bound <= found * (1 + 1e-12), request
        assert plan.objective <= found * (1 + GAP) + _slack(model) * abs(found), request


@pytest.mark.parametrize("seed", range(many(60)))
def test_a_refined_grid_agrees(seed):
    """N ≤ 4: a grid of 5 m, then 1 m and 0.1 m around its best cells."""
    dice = np.random.default_rng(seed)
    size = [40.0, 40.0, 30.0]
    base = random_request(seed, count=1 + seed % 4)
    devices = [
        {**device, "position_m": [float(dice.uniform(0, s)) for s in size]}
        for device in base["devices"]
    ]
    place = {"position_m": [float(dice.uniform(0, 0.9 * s)) for s in size]}
    delay = float(10 ** dice.uniform(-1.5, -0.9))
    request = {"region_m": size, "server": place, "devices": devices, "max_delay_s": delay}
    problem = _problem(request)
    plan = solve(problem, gap=GAP)
    surface = position_objective(problem, device_costs(problem))
    centres, step = np.array([[20.0, 20.0, 15.0]]), np.array([20.0, 20.0, 15.0])
    best = math.inf
    for cell in (4.0, 1.0, 0.2, 0.1):
        offsets = [np.arange(-s, s + cell / 2, cell) for s in step]
        cloud = np.stack(np.meshgrid(*offsets, indexing="ij"), -1).reshape(-1, 3)
        points = np.clip((centres[:, None] + cloud).reshape(-1, 3), 0, np.array(size) * (1 - 1e-9))
        points = np.concatenate([points, points * [1, 1, 0]])
        points = np.unique(points[problem.allowed(points)], axis=0)
        values = surface.constant + surface.bound(points, np.zeros_like(points)).value
        best = min(best, float(values.min()))
        centres, step = points[np.argsort(values)[:6]], np.full(3, 1.5 * cell)
    assert plan.lower_bound <= best
    assert plan.objective <= best * (1 + GAP)


@pytest.mark.parametrize("seed", range(many(80)))
def test_the_plain_version_does_the_same(seed):
    """The same bounds for the same boxes; and the same search, unless a last bit tips a tie."""
    request = random_request(seed, count=[0, 1, 3, 8, 30, 70][seed % 6])
    problem = _problem(request)
    surfaces = [
        position_objective(problem, device_costs(problem), backend)
        for backend in ("numba", "numpy")
    ]
    centre, width = _random_boxes(problem, np.random.default_rng(seed))
    fast, plain = (surface.bound(centre, width) for surface in surfaces)
    for mine, theirs in ((fast.floor, plain.floor), (fast.value, plain.value)):
        assert mine == pytest.approx(theirs, rel=1e-9, abs=1e-9 * abs(surfaces[0].constant))
    fast, plain = (solve_exact(problem, 1e-3, backend=backend) for backend in ("numba", "numpy"))
    assert fast.boxes == pytest.approx(plain.boxes, rel=0.05, abs=8)
    values = [evaluate(problem, result.decision).objective for result in (fast, plain)]
    assert max(fast.lower_bound, plain.lower_bound) <= min(values) + 1e-12 * abs(values[0])
    assert values[0] == pytest.approx(values[1], rel=1e-3)


@pytest.mark.parametrize("backend", ["numba", "numpy"])
@pytest.mark.parametrize("seed", range(many(20)))
def test_slopes_are_differences_of_gradients(seed, backend):
    """To the last bit, axis by axis; an axis without a shift has none."""
    problem = _problem(random_request(seed, count=4))
    surface = position_objective(problem, device_costs(problem), backend)
    dice = np.random.default_rng(seed)
    place, on = dice.uniform(0.2, 0.8, 3) * problem.region_m, np.ones(len(surface.devices), bool)
    shifts = np.where(np.arange(3) == seed % 4, 0.0, [1e-4, -1e-4, 1e-3])
    _, gradient = surface.barrier(place, on, 0.1)
    slopes = surface.barrier_slopes(place, shifts, on, 0.1, gradient)
    for axis, shift in enumerate(shifts):
        moved = place + shift * (np.arange(3) == axis)
        change = surface.barrier(moved, on, 0.1)[1] - gradient
        assert (slopes[:, axis] == (change / shift if shift else 0.0)).all()


def _random_boxes(problem, dice):
    size = problem.region_m
    width = size / 2 * 10 ** dice.uniform(-4, 0, (40, 3))
    centre = np.clip(dice.uniform(0, 1, (40, 3)) * size, width, size - width)
    centre[::4, 2] = width[::4, 2] = 0
    return centre, width


@pytest.mark.parametrize("seed", range(many(60)))
def test_bounds_are_below_the_objective_in_their_box(seed):
    dice = np.random.default_rng(seed)
    problem = _problem({**random_request(seed, count=1 + seed % 9), "keep_out_m": []})
    surface = position_objective(problem, device_costs(problem))
    size = problem.region_m
    centre, width = _random_boxes(problem, dice)
    boxes = surface.bound(centre, width)
    for index in range(len(centre)):
        corner = dice.choice([-1.0, 1.0, 0.0], (30, 3))
        points = centre[index] + width[index] * np.concatenate(
            [corner, dice.uniform(-1, 1, (60, 3))]
        )
        points = points[(points[:, 2] > 0) == (centre[index, 2] > 0)]
        points = points[points[:, 2] < size[2]]
        values = surface.bound(points, np.zeros_like(points)).value
        if len(values):
            assert boxes.floor[index] <= values.min() + 1e-12 * abs(values.min())


def test_the_objective_over_positions_is_the_true_one():
    for seed in range(many(300)):
        problem = _problem(random_request(seed))
        found = device_costs(problem)
        surface = position_objective(problem, found)
        place = np.random.default_rng(seed).uniform(0, 0.99, 3) * problem.region_m
        true = evaluate(problem, decision_at(problem, found, place)).objective
        assert surface.constant + surface.value(place) == pytest.approx(true, rel=1e-9)


def test_threads_and_repetition_change_nothing(monkeypatch):
    request = random_request(3, count=120, max_delay_s=0.06, region_m=[100, 100, 100])
    request["devices"] = [
        {**d, "position_m": [min(x, 100.0) for x in d["position_m"]]} for d in request["devices"]
    ]
    request["server"] = {"position_m": [50, 50, 50]}
    answers = []
    for shared in (0, 10**12, 0):
        monkeypatch.setattr(surface_module, "_SHARED", shared)
        _, answer = _answer(request)
        del answer["solve_seconds"]
        answers.append(json.dumps(answer))
    assert len(set(answers)) == 1


def test_a_warm_start_keeps_the_proof():
    request = random_request(12, count=6)
    problem = _problem(request)
    cold = solve_exact(problem, GAP)
    warm = solve_exact(problem, GAP, warm_start=cold.decision.server_m)
    values = [evaluate(problem, r.decision).objective for r in (cold, warm)]
    assert values[1] <= values[0] * (1 + GAP)
    assert warm.boxes <= cold.boxes


def test_stopping_early_is_honest():
    problem = _problem(random_request(21, count=40, max_delay_s=0.06))
    plan = solve(problem, gap=1e-9, time_limit_s=1e-9)
    assert plan.status == "time_limit"
    best = solve(problem, gap=GAP)
    assert plan.lower_bound <= best.objective
    assert plan.gap > 1e-9


PLACE = {"position_m": [5.0, 5.0, 5.0]}
ONE = {"id": "a", "position_m": [5.0, 5.0, 0.0]}


@pytest.mark.parametrize(
    "request_",
    [
        {"devices": []},
        {"devices": [], "keep_out_m": [[0, 0, 0, 10, 10, 4]], "server": PLACE},
        {"devices": [ONE], "server": {"position_m": [0, 0, 0]}},
        {"devices": [ONE], "server": {"position_m": [10, 10, 10]}},
        {"devices": [{**ONE, "payload_bits": 0}]},
        {"devices": [{**ONE, "position_m": [5.0, 5.0, 5.0]}]},
        {"devices": [{**ONE, "id": str(i)} for i in range(5)]},
        {"devices": [ONE], "max_iterations": 0},
        {"devices": [ONE], "max_delay_s": 1e-9},
        {"devices": [ONE], "movement": {"min_flight_m": 50}},
        {"devices": [{**ONE, "position_m": [5, 5, 9]}], "movement": {"min_flight_m": 0}},
        {"devices": [ONE], "movement": {"climb_j": 0, "hover_j": 0, "lateral_j_per_m": 0}},
        {"devices": [ONE], "weights": {"movement": 0, "transmission": 0}},
        {"devices": [ONE], "weights": {"convergence": 0}},
        {"devices": [{**ONE, "survival": 0}]},
        {"devices": [{**ONE, "importance": 0}]},
        {"devices": [ONE], "keep_out_m": [[0, 0, 0, 10, 10, 10]]},  # only its faces are free
        {"devices": [ONE], "keep_out_m": [[-1, -1, -1, 5, 11, 11], [5, -1, -1, 11, 11, 11]]},
        {"devices": [ONE], "radio": {"a2g": {"nlos_loss_db": 1}}},
        {"devices": [ONE], "radio": {"a2g": {"los_slope": 0, "exponent": 3.5}}},
        {"devices": [ONE], "radio": {"margin_db": 900}},
        {"devices": [ONE], "candidates_m": [[5, 5, 5]]},
    ],
)
def test_edges(request_):
    request = {"region_m": [10, 10, 10], "server": PLACE, **request_}
    model = Model(request)
    plan, answer = _answer(request)
    assert answer["status"] == "optimal"
    assert answer["violations"] == []
    assert answer["objective"] == close(model.objective(answer))
    assert model.allowed(answer["server"]["position_m"])
    found = model.search(1, 200, 200)
    assert plan.lower_bound <= found
    assert plan.objective <= found * (1 + GAP)


def test_everybody_off_and_the_server_down():
    plan, answer = _answer(
        {"region_m": [100] * 3, "server": {"position_m": [50, 50, 50]}, "max_delay_s": 1e-7,
         "devices": [ONE]}
    )  # fmt: skip
    assert plan.server_m.tolist() == [50, 50, 0]
    assert answer["devices"][0]["reason"] == "out_of_reach"


def test_not_worth_it_is_told_from_out_of_reach():
    request = {
        "region_m": [10] * 3,
        "server": PLACE,
        "devices": [ONE],
        "weights": {"processing": 1e9},
    }
    _, answer = _answer(request)
    assert answer["devices"][0]["reason"] == "not_worth_it"
    assert answer["devices"][0]["cpu_hz"] == 1e7


def test_many_problems_at_once():
    problems = [_problem(random_request(seed, count=3)) for seed in range(6)]
    one = [plan.objective for plan in solve_many(problems)]
    two = [plan.objective for plan in solve_many(problems, jobs=2)]
    assert one == two == [solve(problem).objective for problem in problems]


HARD = sorted((ROOT / "tests" / "hard").glob("*.json"))


@pytest.mark.parametrize("path", HARD, ids=lambda path: path.stem)
def test_hard_instances(path):
    """Stored requests that were hard once, with the interval their optimum was proven to be in."""
    stored = json.loads(path.read_text())
    plan, answer = _answer(stored["request"])
    assert answer["violations"] == []
    assert answer["status"] == "optimal"
    low, high = stored["optimum"]
    assert plan.lower_bound <= high
    assert plan.objective >= low
    assert plan.gap <= GAP


def test_the_papers_plan_is_never_better():
    pytest.importorskip("cvxpy")
    for seed in range(many(40)):
        request = random_request(seed, count=1 + seed % 5, candidates_m=None)
        problem = _problem(request)
        best, paper = solve(problem, gap=GAP), solve(problem, "paper")
        assert paper.repaired is not None
        assert paper.repaired.evaluation.violations == ()
        assert best.lower_bound <= paper.repaired.objective * (1 + 1e-12)
        assert best.objective <= paper.repaired.objective * (1 + GAP)


def test_a_thousand_devices_take_thousands_of_boxes_not_millions():
    request = random_request(5, count=1000, region_m=[100, 100, 100], max_delay_s=0.06)
    for device in request["devices"]:
        device["position_m"] = [min(x, 100.0) for x in device["position_m"]]
    request |= {"server": {"position_m": [50, 50, 50]}, "keep_out_m": [], "candidates_m": None}
    request |= {"radio": {}, "integer_iterations": True}
    found = solve_exact(_problem(request), 1e-3)
    assert found.status == "optimal"
    assert found.boxes < 20_000
