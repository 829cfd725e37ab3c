"""Measure the time of a round of learning against a plain loop over the parties.

    python benchmarks/training_speed.py                  # MNIST, one thread
    python benchmarks/training_speed.py --device cuda

Three implementations train the same rounds from the same start on the same batches, in turns, so
that noise affects all of them equally:

    loop, all rows    ordinary modules in a loop; a round begins with all parties' embeddings of all
                      training rows; each party sends its batch through a fusion model that takes
                      the concatenated embeddings
    loop, drawn rows  the same, but only the rows that the round has drawn are embedded
    package           `VerticalModel.train`, without measuring gradients, without test rows

On a CPU, times are processor times of one thread, so that other work on the machine counts little.

Before anything is timed, loop and package are compared: on a few rows in 64 bits every weight must
be equal, and in 32 bits the test losses after the first round. The table shows how far the losses
differ at the end. An evaluation embeds the 2,048 rows of the sample and all test rows, and computes
losses and scores.

A second table has the product's rule of learning: rounds with `step = "searched"`, as the defaults
have it, against `step = "fitted"` in the same build, with the server trained by Adam in both, and
against the paper's server (SGD, one step per batch).
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from create_model import create_model, paper_learning, split_among_parties
from torch import Tensor, nn
from torch.nn import functional

from scdn.data import Dataset, load
from scdn.learning.dataset_tensors import DatasetTensors
from scdn.learning.feature_split import FeatureView
from scdn.learning.local_optimizers import LocalSteps
from scdn.learning.metrics import scores
from scdn.learning.tensors import TensorOptions
from scdn.learning.vertical_model import VerticalModel
from scdn.rng import generator
from scdn.scenario import LearningSettings

STEPS, RATE, BATCH, SEED = 5, 0.1, 64, 0
CHUNK = 8192  # rows that the loop embeds at a time: faster than all at once


# --- the loop -------------------------------------------------------------------------------------


@dataclass
class LoopParty:
    """One party of the loop: its module and its columns of all rows."""

    module: nn.Module
    train: Tensor
    test: Tensor


class Loop:
    """The same algorithm as the package's, party by party."""

    def __init__(self, model: VerticalModel, views: dict[str, FeatureView], all_rows: bool) -> None:
        self.all_rows = all_rows
        self.data, self.seed, self.sample = model.data, model.seed, model.server.sample
        self.parties = [
            LoopParty(_module(model, name), *(_columns(model.data, part, view) for part in _PARTS))
            for name, view in views.items()
        ]
        self.fusion = _fusion(model)
        self.width = model.server.fusion.width

    def train(self, round_: int) -> None:
        """Train one round; the server comes last, since the parties need its weights unchanged."""
        targets = self.data.targets["train"]
        rng = generator(self.seed, "batches", round_)
        drawn = [rng.choice(len(targets), BATCH, replace=False) for _ in range(STEPS)]
        batches = torch.from_numpy(np.stack(drawn)).to(targets.device)
        stale = self._stale_embeddings(batches)
        labels = targets[batches]
        for index, party in enumerate(self.parties):
            parameters = list(party.module.parameters())
            before, after = index * self.width, (index + 1) * self.width
            for step in range(STEPS):
                fresh = party.module(party.train[batches[step]])
                embeddings = [stale[step][:, :before], fresh, stale[step][:, after:]]
                _step(parameters, self.fusion(torch.cat(embeddings, 1)), labels[step])
        parameters = list(self.fusion.parameters())
        for step in range(STEPS):
            _step(parameters, self.fusion(stale[step]), labels[step])

    @torch.no_grad()
    def _stale_embeddings(self, batches: Tensor) -> Tensor:
        """Return all parties' embeddings of the drawn rows, (steps, batch, parties · width)."""
        rows = batches.flatten()
        if self.all_rows:
            embeddings = [_embed(party.module, party.train)[rows] for party in self.parties]
        else:
            embeddings = [party.module(party.train[rows]) for party in self.parties]
        return torch.cat(embeddings, 1).view(*batches.shape, -1)

    @torch.no_grad()
    def metrics(self) -> dict[str, float]:
        """Return losses and scores on the same rows as the package's."""
        labels = self.data.targets["train"][self.sample]
        embeddings = torch.cat(
            [party.module(party.train[self.sample]) for party in self.parties], 1
        )
        train_loss = float(functional.cross_entropy(self.fusion(embeddings), labels))
        embeddings = torch.cat([_embed(party.module, party.test) for party in self.parties], 1)
        outputs = self.fusion(embeddings)
        test = scores(outputs, self.data.targets["test"], "classification")
        return {"train_loss": train_loss, **test}


_PARTS = ("train", "test")


def _step(parameters: list[Tensor], outputs: Tensor, targets: Tensor) -> None:
    """Take one step of SGD with these parameters only."""
    gradients = torch.autograd.grad(functional.cross_entropy(outputs, targets), parameters)
    with torch.no_grad():
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.sub_(gradient, alpha=RATE)


def _embed(module: nn.Module, inputs: Tensor) -> Tensor:
    return torch.cat([module(chunk) for chunk in torch.split(inputs, CHUNK)])


def _columns(data: DatasetTensors, part: str, view: FeatureView) -> Tensor:
    inputs = data.inputs[part][view.modality]
    return inputs[:, torch.from_numpy(view.columns).to(inputs.device)]


def _module(model: VerticalModel, name: str) -> nn.Module:
    """Return an ordinary module with the package's weights of this party."""
    stack = next(stack for stack in model.stacks if name in stack.names)
    index = stack.names.index(name)
    weights = {key: p[index].clone() for key, p in stack.parameters.items()}
    held = stack.views.held
    columns = stack.views.columns.shape[1] if held is None else int(held[index].sum())
    weights["0.weight"] = weights["0.weight"][:, :columns]  # the stack pads with zero columns
    return _two_layers(weights, model.factory.options)


def _fusion(model: VerticalModel) -> nn.Module:
    parameters = model.server.fusion.parameters
    weights = {
        "0.weight": parameters["blocks"].flatten(0, 1).T,
        "0.bias": parameters["bias"],
        "2.weight": parameters["head.1.weight"],
        "2.bias": parameters["head.1.bias"],
    }
    return _two_layers(weights, model.factory.options)


def _two_layers(weights: dict[str, Tensor], options: TensorOptions) -> nn.Module:
    (hidden, inputs), width = weights["0.weight"].shape, weights["2.weight"].shape[0]
    module = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, width))
    module.to(options.device, options.dtype).load_state_dict(weights)
    return module


# --- the package ----------------------------------------------------------------------------------


def package_model(
    dataset: Dataset, tensors: DatasetTensors, parties: int, precision: str, device: str
) -> tuple[VerticalModel, dict[str, FeatureView]]:
    """Return the package's model and the features of each party."""
    learning = paper_learning(
        split="random",
        input="own",
        batch_size=BATCH,
        server_turn="parallel",
        step="rate",
        precision=precision,
        device=device,
    )
    views = split_among_parties(dataset, learning.split, parties, SEED)
    return create_model(dataset, tensors, learning, parties, SEED), views


def train_package(model: VerticalModel, round_: int) -> None:
    """Train one round with the package."""
    steps = LocalSteps(STEPS, RATE)
    model.train(round_, dict.fromkeys(model.present, steps), steps)


def check_equal_weights(dataset: Dataset, parties: int, rounds: int = 5) -> None:
    """Check that all weights of loops and package are equal after a few rounds in 64 bits."""
    few = replace(
        dataset,
        train={name: x[:600].astype(np.float64) for name, x in dataset.train.items()},
        test={name: x[:300].astype(np.float64) for name, x in dataset.test.items()},
        train_y=dataset.train_y[:600],
        test_y=dataset.test_y[:300],
    )
    tensors = DatasetTensors.from_dataset(few, TensorOptions("cpu", "float64"))
    model, views = package_model(few, tensors, parties, "float64", "cpu")
    loops = [Loop(model, views, all_rows) for all_rows in (True, False)]
    start = model.metrics()
    for round_ in range(rounds):
        train_package(model, round_)
        for loop in loops:
            loop.train(round_)
    end = model.metrics()
    assert end["test_loss"] < start["test_loss"]  # the model has learned
    for loop in loops:
        for name, party in zip(views, loop.parties, strict=True):
            _assert_equal(_module(model, name), party.module)
        _assert_equal(_fusion(model), loop.fusion)
        for key, number in loop.metrics().items():
            assert abs(end[key] - number) < 1e-9, key


def _assert_equal(package: nn.Module, loop: nn.Module) -> None:
    for key, value in package.state_dict().items():
        torch.testing.assert_close(loop.state_dict()[key], value, rtol=1e-9, atol=1e-12)


def measure(
    dataset: Dataset, tensors: DatasetTensors, parties: int, repeats: int, device: str
) -> list[float]:
    """Return median seconds of a round of each implementation, and of two evaluations.

    The last number is the largest difference between the final test losses.
    """
    model, views = package_model(dataset, tensors, parties, "float32", device)
    all_rows_loop, drawn_loop = (Loop(model, views, all_rows) for all_rows in (True, False))
    actions = (
        all_rows_loop.train,
        drawn_loop.train,
        lambda round_: train_package(model, round_),
        lambda _: drawn_loop.metrics(),
        lambda _: model.metrics(),
    )
    seconds: list[list[float]] = [[] for _ in actions]
    for round_ in range(repeats + 1):
        for times, action in zip(seconds, actions, strict=True):
            times.append(_seconds(action, round_, device))
        if round_ == 0:
            assert _loss_difference(model, all_rows_loop, drawn_loop) < 1e-4
    medians = [statistics.median(times[1:]) for times in seconds]  # the first is a warm-up
    return [*medians, _loss_difference(model, all_rows_loop, drawn_loop)]


STEP_RULES = {
    "searched": LearningSettings(),
    "fitted": LearningSettings(step="fitted"),
    "fitted, sgd": LearningSettings(step="fitted", server_optimizer="sgd"),
}


def measure_step_rules(
    dataset: Dataset, tensors: DatasetTensors, parties: int, repeats: int, device: str
) -> list[float]:
    """Return median seconds of a round with each of `STEP_RULES`, trained in turns."""
    models = [
        create_model(
            dataset, tensors, learning.model_copy(update={"device": device}), parties, SEED
        )
        for learning in STEP_RULES.values()
    ]

    def train(model: VerticalModel, round_: int) -> None:
        learning, local_steps = model.learning, LocalSteps(STEPS, RATE)
        count = learning.server_steps if learning.server_optimizer == "adam" else STEPS
        names = dict.fromkeys(model.present, local_steps)
        model.train(round_, names, LocalSteps(count, RATE), batches=STEPS)

    seconds: list[list[float]] = [[] for _ in models]
    for round_ in range(repeats + 1):
        for times, model in zip(seconds, models, strict=True):
            times.append(_seconds(partial(train, model), round_, device))
    return [statistics.median(times[1:]) for times in seconds]


def _loss_difference(*models) -> float:
    losses = [model.metrics()["test_loss"] for model in models]
    return max(losses) - min(losses)


def _seconds(action: Callable[[int], object], round_: int, device: str) -> float:
    clock = time.perf_counter if device == "cuda" else time.process_time
    start = clock()
    action(round_)
    if device == "cuda":
        torch.cuda.synchronize()
    return clock() - start


def main() -> None:
    """Check that the implementations agree, then time them and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parties", default="2,6,10,50,200")
    parser.add_argument("--seconds", type=float, default=20, help="approximate time for each row")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    args = parser.parse_args()
    torch.set_num_threads(1)
    dataset = load("mnist").scaled("standard")
    for parties in (2, 5):
        check_equal_weights(dataset, parties)
    tensors = DatasetTensors.from_dataset(dataset, TensorOptions(args.device))
    print(
        "| N | loop, all rows | loop, drawn rows | package | all rows / package | "
        "drawn rows / package | package per party | evaluation, loop | evaluation, package | "
        "rounds | losses differ by |"
    )
    print("|---:|" + "---:|" * 10, flush=True)
    for parties in (int(n) for n in args.parties.split(",")):
        once = sum(measure(dataset, tensors, parties, 1, args.device)[:-1])
        repeats = min(30, max(2, round(args.seconds / once)))
        *times, difference = measure(dataset, tensors, parties, repeats, args.device)
        all_rows, drawn, package, loop_evaluation, evaluation = (1000 * s for s in times)
        print(
            f"| {parties} | {all_rows:,.0f} ms | {drawn:,.1f} ms | {package:.1f} ms | "
            f"{all_rows / package:,.0f} | {drawn / package:.1f} | {package / parties:.2f} ms | "
            f"{loop_evaluation:,.0f} ms | {evaluation:,.0f} ms | {repeats} | {difference:.0e} |",
            flush=True,
        )
    print("\n| N | " + " | ".join(STEP_RULES) + " | searched / fitted | rounds |")
    print("|---:|" + "---:|" * (len(STEP_RULES) + 2), flush=True)
    for parties in (int(n) for n in args.parties.split(",")):
        once = sum(measure_step_rules(dataset, tensors, parties, 1, args.device))
        repeats = min(30, max(3, round(args.seconds / once / 2)))
        times = measure_step_rules(dataset, tensors, parties, repeats, args.device)
        cells = " | ".join(f"{1000 * s:,.1f} ms" for s in times)
        print(f"| {parties} | {cells} | {times[0] / times[1]:.2f} | {repeats} |", flush=True)


if __name__ == "__main__":
    main()
