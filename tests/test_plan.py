"""`scdn plan` as outsiders use it: what is refused, what is answered, and the simple rules."""

from __future__ import annotations

import copy
import json
import math

import numpy as np
import pytest
from command_line import refused, scdn
from conftest import ROOT, many
from jsonschema import Draft202012Validator
from problems import Model, close, random_request

from scdn.cli import plan_command as cli_plan
from scdn.control.plan_request import make_request, problem_of, read_request
from scdn.control.problem import evaluate
from scdn.control.solve import SOLVERS, solve
from scdn.errors import InputError

DEVICE = {"id": "a", "position_m": [1.0, 2.0, 3.0]}
GOOD = {
    "region_m": [100, 100, 100],
    "server": {"position_m": [50, 50, 50]},
    "devices": [DEVICE, {"id": "b", "position_m": [90, 90, 0]}],
}


def changed(path, value):
    request = copy.deepcopy(GOOD)
    node = request
    keys = path.split(".")
    for key in keys[:-1]:
        node = node[int(key)] if isinstance(node, list) else node.setdefault(key, {})
    node[int(keys[-1]) if isinstance(node, list) else keys[-1]] = value
    return request


def faults(request, **more):
    with pytest.raises(InputError) as caught:
        make_request(request, **more)
    return [fault.field for fault in caught.value.faults]


NONPOSITIVE = [
    "radio.carrier_hz",
    "radio.bandwidth_hz",
    "radio.min_distance_m",
    "max_delay_s",
    "movement.altitude_scale_m",
    "learning.rounds",
    "learning.batch_size",
    "learning.steps_per_iteration",
    "learning.compute_deadline_s",
    "learning.epsilon",
    "devices.0.flops_per_cycle",
    "devices.0.bandwidth_hz",
    "devices.0.learning_rate",
]
NEGATIVE = [
    "weights.convergence",
    "weights.transmission",
    "weights.processing",
    "weights.movement",
    "movement.hover_j",
    "movement.climb_j",
    "movement.lateral_j_per_m",
    "devices.0.max_power_w",
    "devices.0.payload_bits",
    "devices.0.capacitance",
    "devices.0.survival",
    "devices.0.importance",
]
WRONG = [
    *((path, value) for path in NONPOSITIVE for value in (0, -1)),
    *((path, -1e-9) for path in NEGATIVE),
    *(
        (path, value)
        for path in ("max_delay_s", "radio.margin_db", "devices.0.max_power_w")
        for value in (math.nan, math.inf, -math.inf, "3", None, [1], True)
    ),
    ("devices.0.survival", 1.0001),
    ("devices.0.id", "b"),
    ("devices.0.id", 7),
    ("devices.0.position_m", [1, 2, 101]),
    ("devices.0.position_m", [-0.1, 2, 1]),
    ("server.position_m", [50, 50, 101]),
    ("server.position_m", [50, 50]),
    ("devices.0.cpu_min_hz", 1e10),
    ("radio.rate_model", "turbo"),
    ("radio.a2g.exponent", "two"),
    ("devices.0.optimizer", {"kind": "adam"}),
    ("devices.0.optimizer", {}),
    ("devices.0.optimizer", {"kind": "momentum"}),
    ("devices.0.optimizer", {"kind": "sgd", "mu": 0.1}),
    *(("devices.0.optimizer", {"kind": "momentum", "rho": r}) for r in (0, 1, -1, 2)),
    *(("devices.0.optimizer", {"kind": "proximal", "mu": m}) for m in (0, 1, -1, 2)),
    ("keep_out_m", [[5, 0, 0, 1, 9, 9]]),
    ("keep_out_m", [[5, 0, 0, 9, 9]]),
    ("candidates_m", []),
    ("nonsense", 1),
    ("radio.nonsense", 1),
    ("devices.0.nonsense", 1),
    ("region_m", [100, 100]),
    ("devices", {}),
    ("schema", 2),
    ("max_iterations", -1),
    ("max_iterations", 2.5),
]


@pytest.mark.parametrize(("path", "value"), WRONG, ids=lambda x: str(x)[:30])
def test_wrong_requests_are_refused_with_one_line(path, value):
    found = faults(changed(path, value))
    assert len(found) == 1
    where = found[0]
    assert where.startswith(path) or (path == "devices.0.id" and where == "devices.1.id")


def test_more_refusals():
    for missing in ("region_m", "server", "devices"):
        assert faults({k: v for k, v in GOOD.items() if k != missing}) == [missing]
    assert faults(changed("devices.0", {"position_m": [1, 1, 1]})) == ["devices.0.id"]
    assert faults(changed("devices.0", {"id": "a"})) == ["devices.0.position_m"]
    fast = {**DEVICE, "learning_rate": 2.5, "optimizer": {"kind": "proximal", "mu": 0.5}}
    assert faults(changed("devices.0", fast)) == ["devices.0.learning_rate"]
    shut = {**GOOD, "candidates_m": [[5, 5, 5]], "keep_out_m": [[0, 0, 0, 9, 9, 9]]}
    assert faults(shut) == ["candidates_m"]
    assert faults({**GOOD, "candidates_m": [[5, 5, 0.5], [500, 5, 5]]}) == ["candidates_m"]
    assert faults({**GOOD, "candidates_m": [[5, 5, 100]]}) == ["candidates_m"]


def test_what_is_odd_but_allowed():
    for path, value in [
        ("devices", []),
        ("devices.0.max_power_w", 0),
        ("devices.0.payload_bits", 0),
        ("devices.0.bandwidth_hz", None),
        ("devices.0.importance", 0),
        ("devices.0.survival", 0),
        ("devices.0.cpu_min_hz", 0),
        ("keep_out_m", [[5, 5, 5, 5, 9, 9]]),
        ("keep_out_m", [[-5, -5, -5, 500, 9, 9]]),
        ("candidates_m", [[5, 5, 5], [500, 5, 5]]),
        ("max_iterations", 0),
        ("max_iterations", 5.0),
        ("weights", {"convergence": 0, "transmission": 0, "processing": 0, "movement": 0}),
        ("schema", 1),
    ]:
        plan = solve(problem_of(make_request(changed(path, value))))
        assert plan.evaluation.violations == ()


def test_defaults_are_the_documented_ones():
    full = json.loads((ROOT / "tests" / "defaults.json").read_text())
    request = make_request({**GOOD, "devices": [DEVICE]})
    assert request.model_dump(mode="json", by_alias=True) == {
        **full,
        "region_m": GOOD["region_m"],
        "server": GOOD["server"],
        "devices": [{**full["devices"][0], **DEVICE}],
    }


def test_theorem_1(tmp_path):
    path = tmp_path / "r.json"
    path.write_text(json.dumps(changed("devices.0.optimizer", {"kind": "momentum", "rho": 0.5})))
    warned = scdn("plan", path, "--json")
    assert warned.returncode == 0
    assert "devices.0.optimizer.rho" in warned.stderr
    json.loads(warned.stdout)
    refused(scdn("plan", path, "--json", "--strict"), 1)


def test_the_command_line(tmp_path):
    path = tmp_path / "r.json"
    path.write_text(json.dumps(GOOD))
    told = scdn("plan", path)
    assert told.returncode == 0
    assert "optimal" in told.stdout
    answer = json.loads(scdn("plan", "-", "--json", stdin=json.dumps(GOOD)).stdout)
    again = json.loads(scdn("plan", path, "--json", "--set", "max_delay_s=0.06").stdout)
    for each in (answer, again):
        del each["solve_seconds"]
    assert answer == again
    limited = json.loads(scdn("plan", path, "--json", "--gap", "1e-2", "--time-limit", "5").stdout)
    assert limited["gap"] <= 1e-2
    bad = copy.deepcopy(GOOD)
    bad["devices"][0].update(max_power_w=-1, position_m=[1, 2, 900])
    bad["radio"] = {"bandwidth_hz": 0}
    path.write_text(json.dumps(bad))
    lines = refused(scdn("plan", path, "--json"), 3)
    assert {line.split(": ")[1] for line in lines} == {
        "radio.bandwidth_hz",
        "devices.0.max_power_w",
        "devices.0.position_m",
    }
    for text in ("", "[]", "3", "{", '{"a": 1', "\x00\x01", "null"):
        path.write_text(text)
        refused(scdn("plan", path, "--json"))
    refused(scdn("plan", tmp_path, "--json"), 1)
    for wrong in (["--gap", "0"], ["--gap", "x"], ["--time-limit", "-1"], ["--solver", "magic"]):
        refused(scdn("plan", ROOT / "examples" / "request.json", *wrong), 1)
    refused(scdn("plan", ROOT / "examples" / "request.json", "--draw", tmp_path / "x.gif"), 1)


def test_toml_requests(tmp_path):
    path = tmp_path / "r.toml"
    path.write_text(
        "region_m = [100, 100, 100]\nserver = {position_m = [50, 50, 50]}\n"
        '[[devices]]\nid = "a"\nposition_m = [1, 2, 3]\n'
    )
    assert json.loads(scdn("plan", path, "--json").stdout)["status"] == "optimal"


@pytest.mark.parametrize("form", ["plan-request", "plan", "scenario"])
def test_schemas_are_schemas(form):
    schema = json.loads(scdn("schema", form).stdout)
    Draft202012Validator.check_schema(schema)


def test_schemas_describe_what_is_read_and_written(examples):
    requests = Draft202012Validator(json.loads(scdn("schema", "plan-request").stdout))
    plans = Draft202012Validator(json.loads(scdn("schema", "plan").stdout))
    stored = json.loads((examples / "request.json").read_text())
    for request in (GOOD, stored, *(random_request(seed) for seed in range(20))):
        requests.validate(request)
    for wrong in (changed("nonsense", 1), changed("max_delay_s", 0), changed("devices.0.id", 3)):
        assert not requests.is_valid(wrong)
    for solver in ("exact", "paper", "gsp"):
        done = scdn("plan", examples / "request.json", "--json", "--solver", solver)
        answer = json.loads(done.stdout)
        plans.validate(answer)
        assert ("repaired" in answer) == (solver == "paper")
        if solver == "paper":
            assert answer["repaired"]["violations"] == []
            assert answer["repaired"]["server"] == answer["server"]


@pytest.mark.parametrize("solver", [s for s in SOLVERS if s not in ("exact", "paper")])
def test_simple_rules(solver):
    for seed in range(many(200)):
        request = random_request(seed)
        plan = solve(problem_of(make_request(request)), solver)
        answer = plan.answer().model_dump(mode="json")
        assert answer["objective"] == close(Model(request).objective(answer))
        assert (answer["status"], answer["lower_bound"], answer["gap"]) == ("heuristic", None, None)
        devices = {violation["device"] for violation in answer["violations"]}
        assert devices <= {None}  # where the server stands may be forbidden; devices always hold
        if solver.startswith("gsp"):
            assert devices == set()
        best = solve(plan.problem)
        if not answer["violations"]:
            assert best.lower_bound <= plan.objective * (1 + 1e-12)


def test_matched_rules_differ_in_power_and_clock_only(examples):
    problem = problem_of(read_request(examples / "request.json"))
    for solver in ("greedy", "gsp"):
        full, matched = solve(problem, solver), solve(problem, f"{solver}-matched")
        assert np.array_equal(full.server_m, matched.server_m)
        assert np.array_equal(full.decision.iterations, matched.decision.iterations)
        assert np.array_equal(full.decision.active, matched.decision.active)
        assert np.all(matched.decision.power_w <= full.decision.power_w)
        assert np.all(matched.decision.cpu_hz <= full.decision.cpu_hz)
        assert matched.objective < full.objective
    assert np.array_equal(solve(problem, "greedy").server_m, problem.server_m)


def test_gsp_takes_the_spot_with_the_least_mean_delay(examples):
    problem = problem_of(read_request(examples / "request.json"))
    chosen = solve(problem, "gsp").server_m

    def mean_delay(place):
        return problem.delay_s(problem.max_power_w, problem.path_loss(place)).mean()

    for place in (*problem.position_m, [50.0, 50.0, 80.0], [25.0, 75.0, 40.0]):
        assert mean_delay(chosen) <= mean_delay(np.array(place)) + 1e-15


def test_violations_name_what_is_broken(examples):
    problem = problem_of(read_request(examples / "request.json"))
    decision = solve(problem).decision
    clean = evaluate(problem, decision)
    assert clean.violations == ()

    def broken(**change):
        return {v.constraint for v in evaluate(problem, decision._replace(**change)).violations}

    ones = np.ones(len(problem))
    assert broken(power_w=decision.power_w / 2) == {"max_delay_s"}
    assert broken(power_w=9 * ones) == {"max_power_w"}
    assert broken(power_w=-ones) >= {"min_power_w"}
    assert broken(cpu_hz=decision.cpu_hz / 2) == {"compute_deadline_s"}
    assert broken(cpu_hz=9e9 * ones) == {"cpu_max_hz"}
    assert broken(cpu_hz=ones) == {"cpu_min_hz", "compute_deadline_s"}
    assert broken(iterations=9 * ones, cpu_hz=2.3e9 * ones) >= {"max_iterations"}
    assert broken(iterations=-ones) == {"min_iterations"}
    assert broken(iterations=decision.iterations - 0.5) == {"whole_iterations"}
    assert broken(active=~decision.active) == {"inactive_iterations", "inactive_power_w"}
    low = decision.power_w * 0 + problem.max_power_w
    assert "keep_out" in broken(server_m=np.array([45.0, 50.0, 10.0]), power_w=low)
    assert "min_flight_m" in broken(server_m=np.array([1.0, 5.0, 0.5]))
    assert "ceiling" in broken(server_m=np.array([1.0, 5.0, 100.0]))
    assert "region_x" in broken(server_m=np.array([-1.0, 5.0, 10.0]))


def test_the_command_offers_every_solver():
    assert cli_plan._SOLVERS == SOLVERS  # written twice, so that --help need not load solvers
