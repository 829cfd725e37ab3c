"""Plans whose flights go round keep-out boxes: true energies, and nothing better elsewhere."""

from __future__ import annotations

import math

import numpy as np
import pytest
from conftest import many
from problems import random_network_request

from scdn.control.cut_off import cut_off_faults
from scdn.control.exact.closed_form import device_costs
from scdn.control.exact.position_objective import position_objective
from scdn.control.plan_request import make_request, problem_of, request_warnings
from scdn.control.plan_text import plan_text
from scdn.control.solve import solve
from scdn.errors import InputError

WALL = [40, 0, 0, 50, 80, 60]  # from one face, with a gap at the other and room above


def request(**changes):
    document = {
        "region_m": [100, 100, 60],
        "server": {"position_m": [10, 10, 0]},
        "keep_out_m": [WALL],
        "devices": [{"id": "a", "position_m": [90, 10, 0], "max_power_w": 1e-3}],
        "movement": {"model": "rover", "path": "around"},
        "round_s": 10,
        "max_delay_s": 0.1,
        "weights": {"movement": 1e-6},
    }
    return {**document, **changes}


def plan(**changes):
    return solve(problem_of(make_request(request(**changes))))


def random_problem(seed):
    """Return a random problem with boxes in the way, or None if no position is allowed."""
    rng, document = np.random.default_rng([seed, 9]), random_network_request(seed)
    size = np.array(document["region_m"])
    document["movement"]["path"] = "around"
    boxes = []
    for _ in range(rng.integers(1, 6)):
        low, width = rng.uniform(0, 0.9, 3) * size, rng.uniform(0.02, 0.5, 3) * size
        low[2] *= rng.random() < 0.4
        width[2] = size[2] if rng.random() < 0.4 else width[2]
        boxes.append([*low.tolist(), *(low + width).tolist()])
    document["keep_out_m"] = boxes
    document["weights"]["movement"] = float(10 ** rng.uniform(-5, -2))
    try:
        return problem_of(make_request(document))
    except InputError:
        return None


@pytest.mark.parametrize("part", range(4))
def test_no_position_is_better_and_the_energy_is_that_of_the_flight(part):
    for seed in range(1000 * part, 1000 * part + many(150)):
        problem = random_problem(seed)
        if problem is None:
            continue
        try:
            found = solve(problem)
        except InputError:  # the server stands in a box that nobody leaves, or all is cut off
            assert not problem.reachable(problem.server_m) or not problem.allowed(problem.server_m)
            continue
        assert found.status == "optimal"
        assert found.gap <= 1e-4
        assert found.evaluation.violations == ()
        rng = np.random.default_rng(seed)
        points = problem.candidates_m
        if points is None:
            points = rng.uniform(0, 1, (600, 3)) * problem.region_m
            near = found.server_m + rng.normal(0, 0.01, (300, 3)) * problem.region_m
            points = np.concatenate([points, near, points * [1, 1, 0], near * [1, 1, 0]])
        points = points[problem.allowed(points) & problem.reachable(points)]
        if not len(points):
            continue
        objective = position_objective(problem, device_costs(problem))
        values = objective.constant + objective.bound(points, 0 * points).centre_value
        assert found.lower_bound <= values.min() * (1 + 1e-12)
        assert found.objective <= values.min() * (1 + 1e-4)


def test_the_way_round_a_wall_is_billed_and_shown():
    found = plan()
    x, y, _ = found.server_m
    corners = math.dist([10, 10], [40, 80]) + 10
    length = corners + math.dist([50, 80], [x, y])
    assert x > 50
    assert found.evaluation.terms["movement_j"] == pytest.approx(5 * 10 + 30 * length)
    path = np.array(found.document()["server"]["path_m"])
    assert path[:, :2].tolist() == [[10, 10], [40, 80], [50, 80], [x, y]]
    assert "round 2 corners" in plan_text(found)
    straight = plan(movement={"model": "rover"})
    assert "path_m" not in straight.document()["server"]


def test_a_uav_flies_over_a_wall_that_a_rover_must_go_round():
    low_wall = [40, 0, 0, 50, 100, 20]
    flown = plan(keep_out_m=[low_wall], movement={"model": "landing", "path": "around"}, round_s=60)
    assert flown.server_m[0] > 50
    path = np.array(flown.document()["server"]["path_m"])
    assert path[:, 2].max() == 30  # its cruise altitude
    assert plan(keep_out_m=[low_wall]).server_m[0] <= 40


def test_a_wall_that_cannot_be_passed_is_said():
    wall = [40, 0, 0, 50, 100, 60]
    document = request(keep_out_m=[wall])
    warnings = request_warnings(make_request(document))
    assert len(warnings) == 1
    assert "keep_out_m: cuts off 56% of the ground" in warnings[0]
    assert plan(keep_out_m=[wall]).server_m[0] <= 40
    candidates = [[20, 20, 0], [90, 90, 0], [45, 50, 0]]
    problem = problem_of(make_request({**document, "candidates_m": candidates}))
    assert [fault.field for fault in cut_off_faults(problem)] == ["candidates_m.1"]
    assert solve(problem).server_m.tolist() == [20, 20, 0]
    warnings = request_warnings(make_request({**document, "candidates_m": candidates}))
    assert any("candidates_m.2: is inside a keep-out box" in line for line in warnings)


def test_a_start_inside_a_box_is_said_and_left():
    document = request(server={"position_m": [45, 40, 0]})
    warnings = request_warnings(make_request(document))
    assert any("server.position_m: is inside a keep-out box" in line for line in warnings)
    found = solve(problem_of(make_request(document)))
    assert found.evaluation.violations == ()
    assert found.server_m.tolist() != [45, 40, 0]


def test_the_server_does_not_land_inside_a_box():
    """Boxes are closed at the region's faces, with or without ways round them."""
    for path in ("straight", "around"):
        document = {
            "region_m": [100, 100, 100],
            "server": {"position_m": [50, 50, 50]},
            "keep_out_m": [[20, 20, 0, 80, 80, 30]],
            "devices": [],
            "movement": {"path": path},
        }
        found = solve(problem_of(make_request(document)))
        x, y, z = found.server_m
        assert not (20 < x < 80 and 20 < y < 80 and z < 30)


def test_algorithm_3_behind_a_wall_is_a_plan_with_a_violation_and_a_repair():
    pytest.importorskip("cvxpy")
    document = {
        "region_m": [100, 100, 100],
        "server": {"position_m": [90, 50, 50]},
        "movement": {"path": "around"},
        "keep_out_m": [[70, 0, 0, 72, 100, 100]],
        "weights": {"movement": 1e-6},
        "devices": [
            {"id": "a", "position_m": [10, 20, 0]},
            {"id": "b", "position_m": [20, 70, 0]},
        ],
    }
    found = solve(problem_of(make_request(document)), "paper")
    assert "no_way" in {violation.constraint for violation in found.evaluation.violations}
    assert found.repaired is not None
    assert found.repaired.evaluation.violations == ()
    for solver in ("exact", "gsp"):
        assert solve(problem_of(make_request(document)), solver).server_m[0] >= 72
