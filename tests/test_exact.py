"""The exact solver: its plans are feasible, their value is true, and no search finds a better."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from conftest import LONG, ROOT, many
from problems import Model, close, random_network_request, random_request

from scdn.control.evaluation import evaluate
from scdn.control.exact import position_objective as position_objective_module
from scdn.control.exact.branch_and_bound import solve_exact
from scdn.control.exact.closed_form import decision_at, device_costs
from scdn.control.exact.position_objective import position_objective
from scdn.control.plan_request import make_request, problem_of
from scdn.control.solve import solve, solve_many
from scdn.errors import InputError

GAP = 1e-4


def _problem(request):
    return problem_of(make_request(request))


def _answer(request, **options):
    plan = solve(_problem(request), gap=GAP, **options)
    return plan, plan.answer().model_dump(mode="json")


def _slack(model):
    """Return what a search over a grid of relaxed iterations may miss, relative."""
    return 1e-9 if model.integer_iterations else 2e-5


@pytest.mark.parametrize("part", range(8))
def test_no_random_search_finds_a_better_plan(part):
    for trial in range(many(300)):
        _check_against_search(random_request(10_000 * part + trial), trial)


@pytest.mark.parametrize("part", range(8))
def test_no_random_search_finds_a_better_plan_with_other_links_and_movements(part):
    for trial in range(many(300)):
        _check_against_search(random_network_request(10_000 * part + trial), trial)


def _check_against_search(request, seed):
    model = Model(request)
    plan, answer = _answer(request)
    assert answer["status"] == "optimal", request
    assert answer["violations"] == [], request
    assert model.allowed(answer["server"]["position_m"]), request
    assert answer["objective"] == close(model.objective(answer)), request
    assert plan.lower_bound <= plan.objective + 1e-12 * abs(plan.objective)
    assert plan.gap <= GAP, request
    searched = model.search(seed)
    assert plan.lower_bound <= searched * (1 + 1e-12), request
    assert plan.objective <= searched * (1 + GAP) + _slack(model) * abs(searched), request


@pytest.mark.parametrize("seed", range(many(60)))
def test_no_refined_grid_finds_a_better_plan(seed):
    """N ≤ 4: a grid of 4 m, then of 1 m, 0.2 m and 0.1 m around its best cells."""
    dice = np.random.default_rng(seed)
    size = [40.0, 40.0, 30.0]
    base = random_request(seed, count=1 + seed % 4)
    devices = [
        {**device, "position_m": [float(dice.uniform(0, s)) for s in size]}
        for device in base["devices"]
    ]
    server = {"position_m": [float(dice.uniform(0, 0.9 * s)) for s in size]}
    delay = float(10 ** dice.uniform(-1.5, -0.9))
    request = {"region_m": size, "server": server, "devices": devices, "max_delay_s": delay}
    problem = _problem(request)
    plan = solve(problem, gap=GAP)
    objective = position_objective(problem, device_costs(problem))
    centres, step = np.array([[20.0, 20.0, 15.0]]), np.array([20.0, 20.0, 15.0])
    best = math.inf
    for cell in (4.0, 1.0, 0.2, 0.1):
        offsets = [np.arange(-s, s + cell / 2, cell) for s in step]
        cloud = np.stack(np.meshgrid(*offsets, indexing="ij"), -1).reshape(-1, 3)
        points = np.clip((centres[:, None] + cloud).reshape(-1, 3), 0, np.array(size) * (1 - 1e-9))
        points = np.concatenate([points, points * [1, 1, 0]])
        points = np.unique(points[problem.allowed(points)], axis=0)
        bounds = objective.bound(points, np.zeros_like(points))
        values = objective.constant + bounds.centre_value
        best = min(best, float(values.min()))
        centres, step = points[np.argsort(values)[:6]], np.full(3, 1.5 * cell)
    assert plan.lower_bound <= best
    assert plan.objective <= best * (1 + GAP)


@pytest.mark.parametrize("seed", range(many(80)))
def test_numpy_bounds_equal_the_compiled_ones(seed):
    """The same bounds for the same boxes, and the same search unless a last bit decides a tie."""
    kind = random_request if seed % 2 else random_network_request
    request = kind(seed, count=[0, 1, 3, 8, 30, 70][seed % 6])
    problem = _problem(request)
    objectives = [
        position_objective(problem, device_costs(problem), backend)
        for backend in ("numba", "numpy")
    ]
    centre, half_width = _random_boxes(problem, np.random.default_rng(seed))
    compiled, plain = (objective.bound(centre, half_width) for objective in objectives)
    tolerance = 1e-9 * abs(objectives[0].constant)
    assert compiled.lower_bound == pytest.approx(plain.lower_bound, rel=1e-9, abs=tolerance)
    assert compiled.centre_value == pytest.approx(plain.centre_value, rel=1e-9, abs=tolerance)
    compiled, plain = (solve_exact(problem, 1e-3, backend=name) for name in ("numba", "numpy"))
    assert compiled.boxes == pytest.approx(plain.boxes, rel=0.05, abs=8)
    values = [evaluate(problem, result.decision).objective for result in (compiled, plain)]
    assert max(compiled.lower_bound, plain.lower_bound) <= min(values) + 1e-12 * abs(values[0])
    assert values[0] == pytest.approx(values[1], rel=1e-3)


@pytest.mark.parametrize("seed", range(many(80)))
def test_numpy_barrier_equals_the_compiled_one(seed):
    kind = random_request if seed % 2 else random_network_request
    problem = _problem(kind(seed, count=1 + seed % 9))
    position = np.random.default_rng(seed).uniform(0.1, 0.9, 3) * problem.region_m
    results = []
    for backend in ("numba", "numpy"):
        objective = position_objective(problem, device_costs(problem), backend)
        active = objective.active_at(position)
        results.append(
            (active, *objective.barrier(position, active, 0.1, objective.movement.at(position)))
        )
    (active, cost, gradient), (plain_active, plain_cost, plain_gradient) = results
    assert active.tolist() == plain_active.tolist()
    assert cost == pytest.approx(plain_cost, rel=1e-9)
    assert gradient == pytest.approx(plain_gradient, rel=1e-9, abs=1e-9 * abs(cost))


@pytest.mark.parametrize("backend", ["numba", "numpy"])
@pytest.mark.parametrize("seed", range(many(20)))
def test_barrier_hessian_is_differences_of_gradients(seed, backend):
    """To the last bit, axis by axis; an axis without a shift has none."""
    problem = _problem(random_request(seed, count=4))
    objective = position_objective(problem, device_costs(problem), backend)
    position = np.random.default_rng(seed).uniform(0.2, 0.8, 3) * problem.region_m
    active = np.ones(len(objective.devices), bool)
    shifts = np.where(np.arange(3) == seed % 4, 0.0, [1e-4, -1e-4, 1e-3])
    movement = objective.movement.at(position)
    _, gradient = objective.barrier(position, active, 0.1, movement)
    hessian = objective.barrier_hessian(position, shifts, active, 0.1, movement, gradient)
    for axis, shift in enumerate(shifts):
        moved = position + shift * (np.arange(3) == axis)
        change = objective.barrier(moved, active, 0.1, movement)[1] - gradient
        assert (hessian[:, axis] == (change / shift if shift else 0.0)).all()


def _random_boxes(problem, dice):
    size = problem.region_m
    half_width = size / 2 * 10 ** dice.uniform(-4, 0, (40, 3))
    centre = np.clip(dice.uniform(0, 1, (40, 3)) * size, half_width, size - half_width)
    centre[::4, 2] = half_width[::4, 2] = 0
    return centre, half_width


@pytest.mark.parametrize("seed", range(many(60)))
def test_bounds_are_below_the_objective_in_their_box(seed):
    dice = np.random.default_rng(seed)
    problem = _problem({**random_request(seed, count=1 + seed % 9), "keep_out_m": []})
    objective = position_objective(problem, device_costs(problem))
    centre, half_width = _random_boxes(problem, dice)
    boxes = objective.bound(centre, half_width)
    for c, w, lower_bound in zip(centre, half_width, boxes.lower_bound, strict=True):
        corners_and_faces = dice.choice([-1.0, 1.0, 0.0], (30, 3))
        points = c + w * np.concatenate([corners_and_faces, dice.uniform(-1, 1, (60, 3))])
        points = points[(points[:, 2] > 0) == (c[2] > 0)]
        points = points[points[:, 2] < problem.ceiling_m]
        values = objective.bound(points, np.zeros_like(points)).centre_value
        if len(values):
            assert lower_bound <= values.min() + 1e-12 * abs(values.min())


def test_compiled_objective_is_the_true_one():
    for seed in range(many(300)):
        problem = _problem(random_request(seed))
        costs = device_costs(problem)
        objective = position_objective(problem, costs)
        position = np.random.default_rng(seed).uniform(0, 0.99, 3) * problem.region_m
        true = evaluate(problem, decision_at(problem, costs, position)).objective
        assert objective.constant + objective.value(position) == pytest.approx(true, rel=1e-9)


def test_threads_and_repetition_change_no_bit(monkeypatch):
    request = random_request(3, count=120, max_delay_s=0.06, region_m=[100, 100, 100])
    request["devices"] = [
        {**d, "position_m": [min(x, 100.0) for x in d["position_m"]]} for d in request["devices"]
    ]
    request["server"] = {"position_m": [50, 50, 50]}
    answers = []
    for shared in (0, 10**12, 0):
        monkeypatch.setattr(position_objective_module, "_SHARED", shared)
        _, answer = _answer(request)
        del answer["solve_seconds"]
        answers.append(json.dumps(answer))
    assert len(set(answers)) == 1


def test_warm_start_keeps_the_proof_and_saves_boxes():
    request = random_request(12, count=6)
    problem = _problem(request)
    cold = solve_exact(problem, GAP)
    warm = solve_exact(problem, GAP, warm_start=cold.decision.server_m)
    values = [evaluate(problem, r.decision).objective for r in (cold, warm)]
    assert values[1] <= values[0] * (1 + GAP)
    assert warm.boxes <= cold.boxes


def test_lower_bound_holds_after_stopping_early():
    problem = _problem(random_request(21, count=40, max_delay_s=0.06))
    plan = solve(problem, gap=1e-9, time_limit_s=1e-9)
    assert plan.status == "time_limit"
    best = solve(problem, gap=GAP)
    assert plan.lower_bound <= best.objective
    assert plan.gap > 1e-9


SERVER = {"position_m": [5.0, 5.0, 5.0]}
DEVICE = {"id": "a", "position_m": [5.0, 5.0, 0.0]}


@pytest.mark.parametrize(
    "request_",
    [
        {"devices": []},
        {"devices": [], "keep_out_m": [[0, 0, 0, 10, 10, 4]], "server": SERVER},
        {"devices": [DEVICE], "server": {"position_m": [0, 0, 0]}},
        {"devices": [DEVICE], "server": {"position_m": [10, 10, 10]}},
        {"devices": [{**DEVICE, "payload_bits": 0}]},
        {"devices": [{**DEVICE, "position_m": [5.0, 5.0, 5.0]}]},
        {"devices": [{**DEVICE, "id": str(i)} for i in range(5)]},
        {"devices": [DEVICE], "max_iterations": 0},
        {"devices": [DEVICE], "max_delay_s": 1e-9},
        {"devices": [DEVICE], "movement": {"min_flight_m": 50}},
        {"devices": [{**DEVICE, "position_m": [5, 5, 9]}], "movement": {"min_flight_m": 0}},
        {"devices": [DEVICE], "movement": {"climb_j": 0, "hover_j": 0, "lateral_j_per_m": 0}},
        {"devices": [DEVICE], "weights": {"movement": 0, "transmission": 0}},
        {"devices": [DEVICE], "weights": {"convergence": 0}},
        {"devices": [{**DEVICE, "survival": 0}]},
        {"devices": [{**DEVICE, "importance": 0}]},
        {"devices": [DEVICE], "keep_out_m": [[0, 0, 0, 10, 10, 9.5]]},  # only above it
        {"devices": [DEVICE], "keep_out_m": [[-1, -1, -1, 5, 11, 11], [5, -1, -1, 11, 11, 11]]},
        {"devices": [DEVICE], "radio": {"a2g": {"nlos_loss_db": 1}}},
        {"devices": [DEVICE], "radio": {"a2g": {"los_slope": 0, "exponent": 3.5}}},
        {"devices": [DEVICE], "radio": {"margin_db": 900}},
        {"devices": [DEVICE], "candidates_m": [[5, 5, 5]]},
    ],
)
def test_edge_cases_are_solved_to_optimality(request_):
    request = {"region_m": [10, 10, 10], "server": SERVER, **request_}
    model = Model(request)
    plan, answer = _answer(request)
    assert answer["status"] == "optimal"
    assert answer["violations"] == []
    assert answer["objective"] == close(model.objective(answer))
    assert model.allowed(answer["server"]["position_m"])
    searched = model.search(1, 200, 200)
    assert plan.lower_bound <= searched
    assert plan.objective <= searched * (1 + GAP)


def test_server_lands_when_no_device_is_in_reach():
    plan, answer = _answer(
        {"region_m": [100] * 3, "server": {"position_m": [50, 50, 50]}, "max_delay_s": 1e-7,
         "devices": [DEVICE]}
    )  # fmt: skip
    assert plan.server_m.tolist() == [50, 50, 0]
    assert answer["devices"][0]["reason"] == "out_of_reach"


def test_a_device_whose_clock_carries_not_one_iteration_is_too_slow():
    slow = {**DEVICE, "id": "slow", "flops_per_cycle": 1e-6}
    slow_and_far = {**slow, "id": "slow and far", "max_power_w": 1e-15}
    request = {"region_m": [10] * 3, "server": SERVER, "devices": [DEVICE, slow, slow_and_far]}
    _, answer = _answer(request)
    reasons = [device["reason"] for device in answer["devices"]]
    assert reasons == [None, "clock_too_slow", "out_of_reach"]


def test_a_plan_with_an_infinite_delay_is_refused_in_one_line():
    request = {"region_m": [10] * 3, "server": SERVER, "devices": [DEVICE]}
    with pytest.raises(InputError, match="max_delay_s: is inf"):
        _answer({**request, "radio": {"carrier_hz": 1e-300}})


def test_a_device_in_reach_that_costs_too_much_is_not_worth_it():
    request = {
        "region_m": [10] * 3,
        "server": SERVER,
        "devices": [DEVICE],
        "weights": {"processing": 1e9},
    }
    _, answer = _answer(request)
    assert answer["devices"][0]["reason"] == "not_worth_it"
    assert answer["devices"][0]["cpu_hz"] == 1e7


def test_solve_many_gives_the_plans_of_solve():
    problems = [_problem(random_request(seed, count=3)) for seed in range(6)]
    expected = [solve(problem).objective for problem in problems]
    assert [plan.objective for plan in solve_many(problems)] == expected
    assert [plan.objective for plan in solve_many(problems, jobs=2)] == expected


HARD = sorted((ROOT / "tests" / "hard").glob("*.json"))


@pytest.mark.parametrize("path", HARD, ids=lambda path: path.stem)
def test_hard_instances_are_solved_to_their_known_optimum(path):
    """Stored requests that were hard once, with the interval their optimum was proven to be in."""
    stored = json.loads(path.read_text())
    plan, answer = _answer(stored["request"])
    assert answer["violations"] == []
    assert answer["status"] == "optimal"
    low, high = stored["optimum"]
    assert plan.lower_bound <= high
    assert plan.objective >= low
    assert plan.gap <= GAP


def test_algorithm_3_is_never_better():
    pytest.importorskip("cvxpy")
    from scdn.control.algorithm3.algorithm3 import Algorithm3Settings, solve_algorithm3

    settings = Algorithm3Settings(iterations=30 if LONG else 10)
    for seed in range(many(40)):
        request = random_request(seed, count=1 + seed % 5, candidates_m=None)
        problem = _problem(request)
        best, paper = solve(problem, gap=GAP), solve_algorithm3(problem, settings)
        value = evaluate(problem, paper.repaired)
        assert value.violations == ()
        repaired = min(value.objective, *paper.true_objective)  # whichever iteration is best
        assert best.lower_bound <= repaired * (1 + 1e-12)
        assert best.objective <= repaired * (1 + GAP)


def test_a_thousand_devices_take_thousands_of_boxes_not_millions():
    request = random_request(5, count=1000, region_m=[100, 100, 100], max_delay_s=0.06)
    for device in request["devices"]:
        device["position_m"] = [min(x, 100.0) for x in device["position_m"]]
    request |= {"server": {"position_m": [50, 50, 50]}, "keep_out_m": [], "candidates_m": None}
    request |= {"radio": {}, "integer_iterations": True}
    result = solve_exact(_problem(request), 1e-3)
    assert result.status == "optimal"
    assert result.boxes < 20_000
