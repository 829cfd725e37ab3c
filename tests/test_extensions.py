"""Metrics, local optimisers and memories from a user's own module, without changing the package."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
import torch
from run_scenarios import BASE, device, scenario, scripted

import scdn
from scdn import methods
from scdn.cli import main
from scdn.control.plan import make_plan
from scdn.data import fetch
from scdn.errors import InputError
from scdn.learning.local_optimizers import LocalSteps, batch_key, batched_optimizer, local_optimizer
from scdn.learning.memories import memory
from scdn.learning.metrics import metric
from scdn.learning.stack_training import step_ranges
from scdn.learning.tensors import TensorOptions
from scdn.record.headline_metric import headline
from scdn.record.run_reader import read_run
from scdn.scenario import read_scenario
from scdn.simulation.request_builder import round_request
from scdn.simulation.runner import resume, run
from scdn.studio.run_folders import RunsFolder
from scdn.studio.run_index import RunIndex

MODULE = '''
import torch

from scdn import methods
from scdn.learning.local_optimizers import LocalOptimizer
from scdn.learning.memories import Memory
from scdn.learning.metrics import Metric


class MacroAuc(Metric):
    """The area under the ROC curve of each class against the others, averaged."""

    name = "auc"
    higher_is_better = True
    unit = ""

    def compute(self, outputs, targets):
        areas = []
        for label in targets.unique():
            positive = outputs[targets == label, label]
            negative = outputs[targets != label, label]
            areas.append((positive[:, None] > negative).double().mean())
        return float(torch.stack(areas).mean())


AUC = MacroAuc()


class Adam(LocalOptimizer):
    name = "adam"
    bound_as = "momentum"
    bound_value = 0.2

    def step(self, gradients, index):
        means, squares = (self.state.setdefault(name, {}) for name in ("mean", "square"))
        for key, gradient in gradients.items():
            zero = torch.zeros_like(gradient)
            means[key] = 0.9 * means.get(key, zero) + 0.1 * gradient
            squares[key] = 0.99 * squares.get(key, zero) + 0.01 * gradient**2
            mean = means[key] / (1 - 0.9 ** (index + 1))
            square = squares[key] / (1 - 0.99 ** (index + 1))
            rate = self.setting("rate", gradient)
            self.parameters[key] = self.parameters[key] - rate * mean / (square.sqrt() + 1e-8)


class MeanMemory(Memory):
    """Keeps the mean of a departed device's embeddings, for all rows."""

    name = "mean"
    needs_training_embeddings = True

    def add(self, name, embeddings):
        super().add(name, embeddings)
        mean = embeddings.training.mean(0)
        tables = [mean.expand(len(table), -1) for table in embeddings]
        self.embeddings[name] = type(embeddings)(*tables)


METHOD = methods.Method(
    "mean-memory", methods.method("sc-dn").controller, memory="my_extensions:MeanMemory"
)
BROKEN = 3
'''
SCENARIO = """
name = "extended"
seed = 4
max_delay_s = 0.05

[learning]
dataset = "digits"
rounds = 2
sample_rows = 256
steps_per_iteration = 2
{learning}

[churn]
exits = false
entry_rate = 0

[[devices]]
id = "a"
position_m = [40, 50, 0]
flops_per_cycle = 0.0005
{optimizer}

[[devices]]
id = "b"
position_m = [60, 50, 0]
flops_per_cycle = 0.0005

[[devices]]
id = "c"
position_m = [50, 60, 10]
flops_per_cycle = 0.0005
optimizer = {{kind = "momentum", rho = 0.2}}
"""
ADAM = 'optimizer = {kind = "custom", name = "my_extensions:Adam"}'


@pytest.fixture(autouse=True)
def _module_on_the_path(tmp_path, monkeypatch):
    (tmp_path / "my_extensions.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    fetch("digits")
    yield
    sys.modules.pop("my_extensions", None)


def scenario_file(tmp_path, learning="", optimizer=""):
    path = tmp_path / "scenario.toml"
    path.write_text(SCENARIO.format(learning=learning, optimizer=optimizer))
    return path


def run_with(tmp_path, **settings):
    tmp_path.mkdir(exist_ok=True)
    scdn.run(scenario_file(tmp_path, **settings), out=tmp_path / "run")
    return read_run(tmp_path / "run")


# --- methods --------------------------------------------------------------------------------------


def drawing_method(log):
    """Return a method that switches devices off at random, and logs every call."""

    def controller(problem, context):
        draws = context.rng.random(len(problem))
        log.append((context.round, draws.tolist()))
        plan = methods.exact_controller(problem, context)
        active = plan.decision.active & (draws < 0.7)
        decision = plan.decision._replace(
            active=active,
            iterations=np.where(active, plan.decision.iterations, 0.0),
            power_w=np.where(active, plan.decision.power_w, 0.0),
        )
        return make_plan(problem, "drawn", "heuristic", decision, 0.0)

    return methods.Method("drawn", controller)


@pytest.mark.parametrize("battery_j", [None, [2e-3, 0.4]])
def test_a_controller_knows_the_round_and_draws_from_the_runs_seed(battery_j, tmp_path):
    """Each round has draws of its own, the same again where a plan is asked for once more."""
    logs = {}
    for name, seed in (("one", 1), ("same", 1), ("other", 2)):
        log = logs[name] = []
        methods.register_method(drawing_method(log))
        group = {**BASE["fleet"][0], "weibull_scale_rounds": 1e6, "battery_j": battery_j}
        settings = {"churn": {"exits": False, "entry_rate": 0}, "fleet": [group]}
        run(scenario(method="drawn", seed=seed, **settings), tmp_path / name)
    by_round = {}
    for number, draws in logs["one"]:
        assert by_round.setdefault(number, draws) == draws
    assert list(by_round) == [0, 1, 2, 3]
    assert (len(logs["one"]) > 4) == (battery_j is not None)
    assert len({tuple(draws) for draws in by_round.values()}) == 4
    assert logs["same"] == logs["one"]
    assert logs["other"][0][1] != logs["one"][0][1]


# --- metrics --------------------------------------------------------------------------------------


def test_a_metric_is_recorded_and_becomes_the_score(tmp_path):
    recorded = run_with(tmp_path, learning='metrics = ["my_extensions:AUC", "top1"]')
    assert recorded.start["score"] == {"metric": "auc", "higher_is_better": True, "unit": ""}
    values = [event["metrics"]["auc"] for event in recorded.rounds]
    assert all(0.5 < value <= 1 for value in values)
    assert headline(recorded.start, recorded.rounds[-1]["metrics"]).metric == "auc"
    assert recorded.end["metrics"]["auc"] == values[-1]


def test_a_metric_can_be_a_target(tmp_path, capsys):
    """Its name is known when the run starts; its direction is recorded."""
    path = scenario_file(tmp_path, learning='metrics = ["top1", "my_extensions:AUC"]')
    out = tmp_path / "run"
    assert main(["run", str(path), "--out", str(out), "--target", "auc=0.5"]) == 0
    recorded = read_run(out)
    assert recorded.start["metrics"][1] == {"metric": "auc", "higher_is_better": True, "unit": ""}
    (target,) = recorded.end["targets"]
    assert (target["metric"], target["reached"], target["round"]) == ("auc", True, 0)
    report = ["report", str(out), "-o", str(tmp_path / "report.html")]
    assert main([*report, "--target", "auc=0.6"]) == 0
    assert "Energy to AUC 0.6" in (tmp_path / "report.html").read_text()
    capsys.readouterr()
    assert main(["run", str(path), "--out", str(tmp_path / "x"), "--target", "recall=0.5"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "must be one of auc, macro_f1, test_loss, top1, top3, train_loss" in line


def test_without_further_metrics_the_score_is_the_top_1_accuracy(tmp_path):
    start = run_with(tmp_path).start
    assert start["score"] == {"metric": "top1", "higher_is_better": True, "unit": "%"}
    assert "metrics" not in start


def test_reports_and_the_studio_show_a_users_metric_as_the_score(tmp_path):
    path, out = (
        scenario_file(tmp_path, learning='metrics = ["my_extensions:AUC"]'),
        tmp_path / "run",
    )
    assert main(["run", str(path), "--out", str(out)]) == 0
    assert main(["report", str(out), "-o", str(tmp_path / "report.html")]) == 0
    assert "AUC over rounds" in (tmp_path / "report.html").read_text()
    (listed,) = RunIndex(RunsFolder.at(out)).runs()
    auc = read_run(out).rounds[-1]["metrics"]["auc"]
    assert listed.score == f"AUC {auc:#.4g}"


def test_a_metric_that_is_not_finite_is_an_input_error(tmp_path):
    with (tmp_path / "my_extensions.py").open("a") as file:
        file.write("MacroAuc.compute = lambda *_: float('nan')\n")
    with pytest.raises(InputError, match="auc: returned nan"):
        run_with(tmp_path, learning='metrics = ["my_extensions:AUC"]')


@pytest.mark.parametrize(
    ("find", "name", "expected"),
    [
        (metric, "my_extensions:BROKEN", "must be an instance of Metric"),
        (metric, "top9", "must be one of"),
        (memory, "my_extensions:BROKEN", "must be a subclass of Memory"),
        (local_optimizer, "my_extensions:Missing", "there is no Missing"),
        (local_optimizer, "nowhere:Adam", "there is no module nowhere"),
    ],
)
def test_a_name_that_does_not_resolve_is_an_input_error(find, name, expected):
    with pytest.raises(InputError, match=expected):
        find(name)


# --- local optimisers -----------------------------------------------------------------------------


def test_a_device_trains_with_a_users_optimiser(tmp_path):
    plain, custom = (
        run_with(tmp_path / name, optimizer=optimizer)
        for name, optimizer in (("plain", ""), ("custom", ADAM))
    )
    iterations = {device["id"]: device["iterations"] for device in custom.rounds[0]["devices"]}
    assert iterations["a"] > 0
    losses = [run.rounds[0]["metrics"]["train_loss"] for run in (plain, custom)]
    assert losses[0] != losses[1]
    device = custom.scenario["devices"][0]
    assert device["optimizer"] == {"kind": "custom", "name": "my_extensions:Adam"}


def test_the_command_line_runs_and_plans_with_a_users_optimiser(tmp_path, capsys):
    path = scenario_file(tmp_path, optimizer=ADAM)
    assert main(["run", str(path), "--out", str(tmp_path / "run")]) == 0
    assert (tmp_path / "run" / "summary.json").exists()
    capsys.readouterr()


def test_a_users_optimiser_that_is_missing_is_wrong_input(tmp_path, capsys):
    path = scenario_file(tmp_path, optimizer=ADAM.replace("Adam", "Eve"))
    assert main(["run", str(path), "--out", str(tmp_path / "run")]) == 2
    assert "there is no Eve" in capsys.readouterr().err


def test_a_plan_request_still_refuses_a_custom_optimiser(tmp_path, capsys):
    device = {"id": "a", "position_m": [1, 1, 0], "optimizer": {"kind": "custom", "name": "x:Y"}}
    request = {"region_m": [9, 9, 9], "server": {"position_m": [1, 1, 1]}, "devices": [device]}
    path = tmp_path / "request.json"
    path.write_text(json.dumps(request))
    assert main(["plan", str(path), "--json"]) == 2
    streams = capsys.readouterr()
    assert not streams.out
    assert "optimizer" in streams.err


def adam(counts):
    """An Adam with state for parties that take these numbers of steps, and its training."""
    optimizer_class = local_optimizer("my_extensions:Adam")
    torch.manual_seed(0)
    start = {"w": torch.randn(len(counts), 3, dtype=torch.float64)}
    steps = [LocalSteps(count, 0.1, "my_extensions:Adam") for count in counts]
    return optimizer_class(start, steps, TensorOptions(precision="float64"))


def test_selected_parties_keep_their_state():
    """Training a part of the stack, in pieces, equals training it in one go."""
    whole, pieces = adam([4, 4, 4]), adam([4, 4, 4])
    parties = torch.tensor([0, 2])
    for index in range(4):
        whole.step(whole.parameters, index)
        if index < 2:
            pieces.step(pieces.parameters, index)
        else:
            selected = pieces.select(parties)
            selected.step(selected.parameters, index)
            pieces.merge(parties, selected)
    torch.testing.assert_close(pieces.parameters["w"][parties], whole.parameters["w"][parties])
    assert not torch.equal(pieces.parameters["w"][1], whole.parameters["w"][1])


def test_the_papers_optimisers_share_a_batch_and_others_do_not():
    built_in = ["sgd", "proximal", "momentum"]
    assert len({batch_key(name) for name in built_in}) == 1
    assert batch_key("my_extensions:Adam") is local_optimizer("my_extensions:Adam")
    for name in built_in:
        assert batched_optimizer([name, "sgd"]) is local_optimizer(name)
    mixed = batched_optimizer(["proximal", "momentum"])
    assert issubclass(mixed, local_optimizer("proximal"))
    assert issubclass(mixed, local_optimizer("momentum"))


@pytest.mark.parametrize("counts", [[5], [2, 5, 3]])
def test_adam_is_pytorchs(counts):
    torch.manual_seed(1)
    start = {"w": torch.randn(len(counts), 3, dtype=torch.float64)}
    gradients = torch.randn(max(counts), len(counts), 3, dtype=torch.float64)
    steps = [LocalSteps(count, 0.1 * (n + 1), "adam") for n, count in enumerate(counts)]
    optimizer = local_optimizer("adam")(start, steps, TensorOptions(precision="float64"))
    for active, first, end in step_ranges(counts):
        parties = torch.tensor(active)
        selected = optimizer.select(parties)
        for index in range(first, end):
            selected.step({"w": gradients[index][parties]}, index)
        optimizer.merge(parties, selected)
    for n, party in enumerate(steps):
        expected = start["w"][n].clone().requires_grad_()
        reference = torch.optim.Adam([expected], lr=0.03 * party.rate)
        for index in range(party.count):
            expected.grad = gradients[index, n]
            reference.step()
        torch.testing.assert_close(optimizer.parameters["w"][n], expected.detach())


def test_all_devices_may_train_by_adam(tmp_path):
    with_momentum = device("a", [30, 40, 0], optimizer={"kind": "momentum", "rho": 0.2})
    losses = {}
    for name in ("own", "adam"):
        learning = {"local_optimizer": name}
        chosen = scripted(tmp_path, [with_momentum], rounds=1, learning=learning)
        losses[name] = run(chosen, tmp_path / name).rounds[0]["metrics"]["train_loss"]
        bounded_as = round_request(chosen).devices[0].optimizer.kind
        assert bounded_as == ("momentum" if name == "own" else "sgd")
    assert losses["own"] != losses["adam"]


# --- memories -------------------------------------------------------------------------------------


def scenario_with_an_exit(tmp_path):
    """Device a leaves in round 1, after its first report."""
    path = scenario_file(tmp_path)
    shock = "entry_rate = 0\n[[churn.shocks]]\nround = 1\ncentre_m = [40, 50]\nradius_m = 5\n"
    path.write_text(path.read_text().replace("entry_rate = 0\n", shock))
    return path


def test_a_users_memory_decides_what_is_kept(tmp_path):
    path = scenario_with_an_exit(tmp_path)
    metrics = {}
    for name in ("sc-dn", "my_extensions:METHOD", "zoc"):
        folder = tmp_path / name.replace(":", "-")
        scdn.run(path, method=name, out=folder)
        last = read_run(folder).rounds[1]
        assert last["exited"] == ["a"]
        metrics[name] = last["metrics"]
    # The imputation "mean" fills in nearly the same for rows that were never embedded.
    imputed, own = metrics["sc-dn"]["future_by"]["mean"], metrics["my_extensions:METHOD"]
    assert own["test_loss"] == pytest.approx(imputed["test_loss"], rel=1e-2)
    assert own["test_loss"] != metrics["sc-dn"]["test_loss"]
    assert own["test_loss"] != metrics["zoc"]["test_loss"]


def test_a_run_with_a_users_memory_resumes(tmp_path):
    path = scenario_with_an_exit(tmp_path)
    scdn.run(path, method="my_extensions:METHOD", out=tmp_path / "whole")
    out = tmp_path / "stopped"

    def stop(*_):
        raise KeyboardInterrupt

    scenario = read_scenario(path).model_copy(update={"method": "my_extensions:METHOD"})
    with pytest.raises(KeyboardInterrupt):
        run(scenario, out, on_round=stop)
    resumed = resume(out)
    expected = read_run(tmp_path / "whole")
    assert [event["metrics"] for event in resumed.rounds] == [
        event["metrics"] for event in expected.rounds
    ]
    assert np.isfinite(resumed.rounds[-1]["metrics"]["test_loss"])
