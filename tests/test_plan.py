"""`scdn plan`: what is refused, what is answered, Max VFL and GSP, and violations."""

from __future__ import annotations

import copy
import json
import math

import numpy as np
import pytest
from command_line import refused, scdn
from conftest import ROOT, many
from jsonschema import Draft202012Validator
from problems import DEFAULTS, Model, close, random_request

from scdn.cli import plan_command as cli_plan
from scdn.control.evaluation import evaluate
from scdn.control.plan_request import make_request, problem_of, read_request
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


def faulty_fields(request):
    with pytest.raises(InputError) as caught:
        make_request(request)
    return [fault.field for fault in caught.value.faults]


NONPOSITIVE = [
    "radio.carrier_hz",
    "radio.bandwidth_hz",
    "radio.min_distance_m",
    "max_delay_s",
    "learning.rounds",
    "learning.batch_size",
    "learning.steps_per_iteration",
    "learning.compute_deadline_s",
    "learning.epsilon",
    "movement.altitude_scale_m",
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
def test_a_wrong_value_is_refused_with_one_fault_at_its_field(path, value):
    [field] = faulty_fields(changed(path, value))
    assert field.startswith(path) or (path == "devices.0.id" and field == "devices.1.id")


def test_missing_fields_and_contradictions_are_refused():
    for missing in ("region_m", "server", "devices"):
        assert faulty_fields({k: v for k, v in GOOD.items() if k != missing}) == [missing]
    assert faulty_fields(changed("devices.0", {"position_m": [1, 1, 1]})) == ["devices.0.id"]
    assert faulty_fields(changed("devices.0", {"id": "a"})) == ["devices.0.position_m"]
    fast = {**DEVICE, "learning_rate": 2.5, "optimizer": {"kind": "proximal", "mu": 0.5}}
    assert faulty_fields(changed("devices.0", fast)) == ["devices.0.learning_rate"]
    kept_out = {**GOOD, "candidates_m": [[5, 5, 5]], "keep_out_m": [[0, 0, 0, 9, 9, 9]]}
    assert faulty_fields(kept_out) == ["candidates_m"]
    assert faulty_fields({**GOOD, "candidates_m": [[5, 5, 0.5], [500, 5, 5]]}) == ["candidates_m"]
    assert faulty_fields({**GOOD, "candidates_m": [[5, 5, 100]]}) == ["candidates_m"]


def test_unusual_values_that_are_allowed_give_a_feasible_plan():
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


def test_absent_fields_take_the_documented_defaults():
    request = make_request({**GOOD, "devices": [DEVICE]})
    radio = {"model": "air-to-ground", "noise_figure_db": 0, "snr_gap_db": 0, "duty_cycle": 1}
    own_tables = {"two_ray": None, "log_distance": None, "options": None}
    movement = {"model": "paper", "path": "straight", "rotary_wing": None, "rover": None}
    assert request.model_dump(mode="json", by_alias=True) == {
        **DEFAULTS,
        "region_m": GOOD["region_m"],
        "server": GOOD["server"],
        "round_s": None,
        "radio": DEFAULTS["radio"] | radio | own_tables,
        "movement": DEFAULTS["movement"] | movement,
        "devices": [{**DEFAULTS["devices"][0], "min_power_w": 0, "wall_loss_db": 0, **DEVICE}],
    }


@pytest.mark.parametrize(
    ("optimizer", "field"),
    [
        ({"kind": "momentum", "rho": 0.5}, "devices.0.optimizer.rho"),
        ({"kind": "proximal", "mu": 0.99}, "devices.0.learning_rate"),  # 0.1 ≥ 1/(2·10·0.99)
    ],
)
def test_devices_outside_theorem_1_are_warned_about_and_refused_when_strict(
    tmp_path, optimizer, field
):
    path = tmp_path / "r.json"
    request = changed("devices.0.optimizer", optimizer)
    request["learning"] = {**request.get("learning", {}), "steps_per_iteration": 2}
    path.write_text(json.dumps(request))
    warned = scdn("plan", path, "--json")
    assert warned.returncode == 0
    assert field in warned.stderr
    json.loads(warned.stdout)
    refused(scdn("plan", path, "--json", "--strict"), 1)


def test_plan_reads_files_and_standard_input_and_obeys_its_options(tmp_path):
    path = tmp_path / "r.json"
    path.write_text(json.dumps(GOOD))
    text = scdn("plan", path)
    assert text.returncode == 0
    assert "optimal" in text.stdout
    from_stdin = json.loads(scdn("plan", "-", "--json", stdin=json.dumps(GOOD)).stdout)
    from_file = json.loads(scdn("plan", path, "--json", "--set", "max_delay_s=0.06").stdout)
    for answer in (from_stdin, from_file):
        del answer["solve_seconds"]
    assert from_stdin == from_file
    limited = json.loads(scdn("plan", path, "--json", "--gap", "1e-2", "--time-limit", "5").stdout)
    assert limited["gap"] <= 1e-2


def test_every_fault_of_a_request_is_named_in_its_own_line(tmp_path):
    path = tmp_path / "r.json"
    bad = copy.deepcopy(GOOD)
    bad["devices"][0].update(max_power_w=-1, position_m=[1, 2, 900])
    bad["radio"] = {"bandwidth_hz": 0}
    path.write_text(json.dumps(bad))
    lines = refused(scdn("plan", path, "--json"), 3)
    assert {line.split(": ")[1] for line in lines} == {
        "radio.bandwidth_hz",
        'devices.0.max_power_w ("a")',
        'devices.0.position_m ("a")',
    }


def test_unreadable_requests_and_wrong_options_are_refused(tmp_path):
    path = tmp_path / "r.json"
    for text in ("", "[]", "3", "{", '{"a": 1', "\x00\x01", "null"):
        path.write_text(text)
        refused(scdn("plan", path, "--json"))
    refused(scdn("plan", tmp_path, "--json"), 1)
    for wrong in (["--gap", "0"], ["--gap", "x"], ["--time-limit", "-1"], ["--solver", "magic"]):
        refused(scdn("plan", ROOT / "examples" / "request.json", *wrong), 1)
    refused(scdn("plan", ROOT / "examples" / "request.json", "--draw", tmp_path / "x.gif"), 1)


def test_requests_may_be_toml(tmp_path):
    path = tmp_path / "r.toml"
    path.write_text(
        "region_m = [100, 100, 100]\nserver = {position_m = [50, 50, 50]}\n"
        '[[devices]]\nid = "a"\nposition_m = [1, 2, 3]\n'
    )
    assert json.loads(scdn("plan", path, "--json").stdout)["status"] == "optimal"


@pytest.mark.parametrize("form", ["plan-request", "plan", "scenario"])
def test_printed_schemas_are_valid_json_schemas(form):
    schema = json.loads(scdn("schema", form).stdout)
    Draft202012Validator.check_schema(schema)


def test_schemas_accept_what_is_read_and_written_and_nothing_else(examples):
    requests = Draft202012Validator(json.loads(scdn("schema", "plan-request").stdout))
    plans = Draft202012Validator(json.loads(scdn("schema", "plan").stdout))
    stored = json.loads((examples / "request.json").read_text())
    for request in (GOOD, stored, *(random_request(seed) for seed in range(20))):
        requests.validate(request)
    for wrong in (changed("nonsense", 1), changed("max_delay_s", 0), changed("devices.0.id", 3)):
        assert not requests.is_valid(wrong)
    for solver in ("exact", "paper", "gsp"):
        completed = scdn("plan", examples / "request.json", "--json", "--solver", solver)
        answer = json.loads(completed.stdout)
        plans.validate(answer)
        assert ("repaired" in answer) == (solver == "paper")
        if solver == "paper":
            assert answer["repaired"]["violations"] == []
            assert answer["repaired"]["server"] == answer["server"]


@pytest.mark.parametrize("solver", [s for s in SOLVERS if s not in ("exact", "paper")])
def test_max_vfl_and_gsp_satisfy_every_device_and_never_beat_the_bound(solver):
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


def test_matched_solvers_differ_in_power_and_clock_only(examples):
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


def test_gsp_takes_the_position_with_the_least_mean_delay(examples):
    problem = problem_of(read_request(examples / "request.json"))
    chosen = solve(problem, "gsp").server_m

    def mean_delay(server):
        return problem.delay_s(problem.max_power_w, problem.path_loss(server)).mean()

    for position in (*problem.position_m, [50.0, 50.0, 80.0], [25.0, 75.0, 40.0]):
        assert mean_delay(chosen) <= mean_delay(np.array(position)) + 1e-15


def test_violations_name_the_violated_constraint(examples):
    problem = problem_of(read_request(examples / "request.json"))
    decision = solve(problem).decision
    assert evaluate(problem, decision).violations == ()

    def violated(**change):
        return {v.constraint for v in evaluate(problem, decision._replace(**change)).violations}

    ones = np.ones(len(problem))
    assert violated(power_w=decision.power_w / 2) == {"max_delay_s"}
    assert violated(power_w=9 * ones) == {"max_power_w"}
    assert violated(power_w=-ones) >= {"min_power_w"}
    assert violated(cpu_hz=decision.cpu_hz / 2) == {"compute_deadline_s"}
    assert violated(cpu_hz=9e9 * ones) == {"cpu_max_hz"}
    assert violated(cpu_hz=ones) == {"cpu_min_hz", "compute_deadline_s"}
    assert violated(iterations=9 * ones, cpu_hz=2.3e9 * ones) >= {"max_iterations"}
    assert violated(iterations=-ones) == {"min_iterations"}
    assert violated(iterations=decision.iterations - 0.5) == {"whole_iterations"}
    assert violated(active=~decision.active) == {"inactive_iterations", "inactive_power_w"}
    assert "keep_out" in violated(server_m=np.array([45.0, 50.0, 10.0]))
    assert "min_flight_m" in violated(server_m=np.array([1.0, 5.0, 0.5]))
    assert "ceiling" in violated(server_m=np.array([1.0, 5.0, 100.0]))
    assert "region_x" in violated(server_m=np.array([-1.0, 5.0, 10.0]))


def test_the_command_offers_every_solver():
    assert cli_plan._SOLVERS == SOLVERS  # written twice, so that --help need not load solvers
