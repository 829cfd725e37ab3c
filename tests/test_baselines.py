"""Baselines: one network trained to the end, without parties, rounds or a rate to set."""

import json
import math

import numpy as np
import pytest
import torch
from command_line import scdn, scdn_process
from small_models import started, tensors
from torch import nn

from scdn.data import fetch
from scdn.data.dataset import Dataset
from scdn.data.store import put
from scdn.learning import joint_training
from scdn.learning.joint_training import train_jointly
from scdn.record.run_reader import find_runs
from scdn.scenario import read_scenario
from scdn.simulation import baselines as baselines_module
from scdn.simulation.baselines import baselines, new_model
from scdn.simulation.run_data import RunData
from scdn.world.churn import churn_trace

QUICK = ["fleet.0.count=2", "learning.sample_rows=64"]


def test_gradients_are_those_of_one_plain_network():
    """The same layers as ordinary modules, with one backward pass through all of them."""
    model = started(precision="float64")
    network = joint_training._JointNetwork(model)
    rows, parameters = torch.arange(40), network._parameters()
    inputs = {**parameters, "targets": model.server.targets[rows]}
    for number, stack in enumerate(model.stacks):
        inputs[f"inputs/{number}"] = stack.views.gather(model.data, "train", rows)
    gradients = network._gradients(list(parameters), inputs)

    leaves = {name: value.clone().requires_grad_() for name, value in parameters.items()}
    first = leaves["fusion/bias"]
    for number, stack in enumerate(model.stacks):
        features = stack.views.gather(model.data, "train", rows)
        for index, name in enumerate(stack.names):
            weight, bias, out, out_bias = (
                leaves[f"{number}/{key}"][index]
                for key in ("0.weight", "0.bias", "2.weight", "2.bias")
            )
            hidden = torch.relu(features[index] @ weight.T + bias)
            block = leaves["fusion/blocks"][model.server.fusion.members.index(name)]
            first = first + (hidden @ out.T + out_bias) @ block
    outputs = torch.relu(first) @ leaves["fusion/head.1.weight"].T + leaves["fusion/head.1.bias"]
    nn.functional.cross_entropy(outputs, inputs["targets"]).backward()
    for name, leaf in leaves.items():
        torch.testing.assert_close(gradients[name], leaf.grad)


def test_training_lowers_the_loss_and_ends_with_the_best_parameters(two_modalities, monkeypatch):
    data = RunData.from_scenario(two_modalities, churn_trace(two_modalities))
    model, seen = new_model(data, data.views), []
    before = model.metrics()["test_loss"]
    measure = joint_training._JointNetwork._held_out_loss
    monkeypatch.setattr(
        joint_training._JointNetwork,
        "_held_out_loss",
        lambda self, parameters: seen.append(measure(self, parameters)) or seen[-1],
    )
    loss = train_jointly(model)
    network = joint_training._JointNetwork(model)
    assert loss == min(seen) < seen[0] / 2
    assert measure(network, network._parameters()) == loss
    assert model.metrics()["test_loss"] < before / 2


def test_rows_held_out_are_not_trained_on():
    network = joint_training._JointNetwork(started())
    assert not set(network.held_out.tolist()) & set(network.rows.tolist())
    assert len(network.held_out) + len(network.rows) == network.model.data.count("train")


def test_training_depends_on_the_seed_alone():
    one, other = started(), started()
    assert train_jointly(one) == train_jointly(other)
    assert all(torch.equal(value, tensors(other)[key]) for key, value in tensors(one).items())


def test_a_model_that_cannot_learn_stays_as_it_is(monkeypatch):
    monkeypatch.setattr(joint_training, "RATE", math.inf)
    model = started()
    before = {key: value.clone() for key, value in tensors(model).items()}
    train_jointly(model, 4)
    assert all(torch.equal(value, before[key]) for key, value in tensors(model).items())


def test_baselines_depend_on_neither_rounds_nor_rates(examples):
    fetch("digits")
    settings = (["learning.rounds=1"], ["learning.rounds=12", "fleet.0.learning_rate=0.01"])
    one, other = (baselines(read_scenario(examples / "quick.toml", QUICK + s)) for s in settings)
    assert one == other
    assert one["best_party"]["top1"] < one["centralised"]["top1"]
    assert one["centralised"]["top1"] > 95  # logistic regression reaches that on these digits


def test_several_kinds_of_rows_are_fused_in_one_model(two_modalities):
    scores = baselines(two_modalities)
    assert scores["centralised"]["mse"] < scores["best_party"]["mse"]


@pytest.fixture
def two_modalities(examples):
    """A regression whose target is half in the image, half in the table."""
    draw = np.random.default_rng(0)
    image, table = draw.uniform(size=(600, 4, 4, 1)), draw.uniform(size=(600, 4))
    target = image[:, :2].mean((1, 2, 3)) + table.mean(1) / 2
    put(
        Dataset(
            "both",
            {"image": image[:500], "table": table[:500]},
            target[:500],
            {"image": image[500:], "table": table[500:]},
            target[500:],
            task="regression",
            features=("a", "b", "c", "d"),
        )
    )
    settings = ["learning.dataset=both", "learning.split=modality", "learning.model=mlp"]
    return read_scenario(examples / "quick.toml", settings + QUICK)


@pytest.mark.parametrize("jobs", [1, 2])
def test_baselines_are_announced_while_they_train_and_kept(jobs, examples, tmp_path):
    fetch("digits")
    command = ["compare", examples / "quick.toml", "--methods", "max-vfl,sc-dn", "--seeds", "1"]
    command += ["--out", tmp_path / "out", "--jobs", jobs, "--set", "learning.rounds=1"]
    run = scdn if jobs == 1 else scdn_process  # lines of other processes are written by them
    done = run(*command)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("baselines: ")]
    assert sum("trying party" in line for line in lines) == 4
    assert "trying party 1 of 4 alone" in lines[0]
    (recorded,) = find_runs([tmp_path / "out" / "max-vfl"])
    start = recorded.start
    for name, text in (("best_party", "the best party"), ("centralised", "the centralised model")):
        score = f"{start['baselines'][name]['top1']:.1f} % top-1, after "
        assert sum(text in line and "to the end" in line for line in lines) == 1
        assert sum(text in line and score in line for line in lines) == 1
    assert "baselines: " not in scdn(*command).stderr  # they are kept


def test_progress_is_said_every_few_seconds(two_modalities, monkeypatch):
    monkeypatch.setattr(baselines_module, "PROGRESS_S", -1.0)
    lines = []
    baselines_module.baselines(two_modalities, lines.append)
    passes = [line for line in lines if "the centralised model: " in line and " passes" in line]
    numbers = [int(line.split(": ")[2].split()[0]) for line in passes]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) >= 9  # three rates, each with three passes of patience


def test_a_comparison_shows_the_baselines(examples, tmp_path):
    fetch("digits")
    command = ["compare", examples / "quick.toml", "--methods", "max-vfl", "--seeds", "1"]
    command += ["--out", tmp_path, "--set", "learning.rounds=1"]
    rows = scdn(*command).stdout.splitlines()
    compared = json.loads(scdn(*command, "--json").stdout)["compared"]
    assert compared["baselines"]["trivial"] < compared["baselines"]["centralised"]
    for name in ("trivial", "best party", "centralised"):
        (row,) = [row for row in rows if row.startswith(f"{name} (no network)")]
        score, *others = row.removeprefix(f"{name} (no network)").split()
        assert float(score) == pytest.approx(compared["baselines"][name], rel=1e-3)
        assert set(others) == {"–"}
