"""How long a round of learning takes, against a plain loop over parties: run `make bench`.

    python benchmarks/learning.py                  # MNIST, one thread
    python benchmarks/learning.py --device cuda

Three ways take the same rounds, from the same start and on the same batches, in turns, so that
noise hits all alike:

    loop, all rows    ordinary modules in a loop; a round begins with everybody's embeddings of all
                      training rows; each party sends its batch through a fusion model that takes
                      embeddings side by side
    loop, drawn rows  the same, but only the rows that the round has drawn are embedded
    package           `VerticalModel.train`, without measuring gradients, without test rows

On a CPU times are the processor's own, of the one thread: other work on the machine counts little.

Before anything is timed, loop and package are compared on a few rows in 64 bits: every weight must
be equal; in 32 bits, after the first round, their test losses. How far these have come apart when
all is timed is printed. An evaluation embeds the 2,048 rows of the sample and all test rows and
takes losses and scores.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from scdn.data import Dataset, load
from scdn.learning.features import Rows
from scdn.learning.local import Order
from scdn.learning.losses import scores
from scdn.learning.parties import Maker
from scdn.learning.split import View, split
from scdn.learning.tensors import Place
from scdn.learning.vertical import VerticalModel
from scdn.rng import generator
from scdn.scenario.model import Learning

STEPS, RATE, BATCH, SEED = 5, 0.1, 64, 0
AT_ONCE = 8192  # rows that the loop embeds in one piece: faster here than all at once


# The loop


@dataclass
class Party:
    """One party of the loop: its module and its columns of all rows."""

    module: nn.Module
    train: Tensor
    test: Tensor


class Loop:
    """The same algorithm, party by party."""

    def __init__(self, model: VerticalModel, views: dict[str, View], all_rows: bool) -> None:
        self.all_rows = all_rows
        self.rows, self.seed, self.sample = model.rows, model.seed, model.server.sample
        self.parties = [
            Party(_module(model, name), *(_columns(model.rows, part, view) for part in _PARTS))
            for name, view in views.items()
        ]
        self.fusion = _fusion(model)
        self.width = model.server.fusion.width

    def train(self, round_: int) -> None:
        """One round; parties and server move at once, so the server's turn comes last."""
        targets = self.rows.targets["train"]
        draws = generator(self.seed, "batches", round_)
        drawn = [draws.choice(len(targets), BATCH, replace=False) for _ in range(STEPS)]
        batches = torch.from_numpy(np.stack(drawn)).to(targets.device)
        stale = self._stale(batches)
        labels = targets[batches]
        for place, party in enumerate(self.parties):
            own = list(party.module.parameters())
            for step in range(STEPS):
                mine = party.module(party.train[batches[step]])
                before, after = place * self.width, (place + 1) * self.width
                table = [stale[step][:, :before], mine, stale[step][:, after:]]
                _step(own, self.fusion(torch.cat(table, 1)), labels[step])
        own = list(self.fusion.parameters())
        for step in range(STEPS):
            _step(own, self.fusion(stale[step]), labels[step])

    @torch.no_grad()
    def _stale(self, batches: Tensor) -> Tensor:
        """Everybody's embeddings of the drawn rows, (steps, batch, parties · width)."""
        rows = batches.flatten()
        if self.all_rows:
            sent = [_embedded(party.module, party.train)[rows] for party in self.parties]
        else:
            sent = [party.module(party.train[rows]) for party in self.parties]
        return torch.cat(sent, 1).view(*batches.shape, -1)

    @torch.no_grad()
    def metrics(self) -> dict[str, float]:
        """Losses and scores, of the same rows as the package's."""
        labels = self.rows.targets["train"][self.sample]
        table = torch.cat([party.module(party.train[self.sample]) for party in self.parties], 1)
        found = {"train_loss": float(functional.cross_entropy(self.fusion(table), labels))}
        table = torch.cat([_embedded(party.module, party.test) for party in self.parties], 1)
        return found | scores(self.fusion(table), self.rows.targets["test"], "classification")


_PARTS = ("train", "test")


def _step(parameters: list[Tensor], outputs: Tensor, targets: Tensor) -> None:
    """One step of SGD of these parameters and no others."""
    slopes = torch.autograd.grad(functional.cross_entropy(outputs, targets), parameters)
    with torch.no_grad():
        for parameter, slope in zip(parameters, slopes, strict=True):
            parameter.sub_(slope, alpha=RATE)


def _embedded(module: nn.Module, inputs: Tensor) -> Tensor:
    return torch.cat([module(piece) for piece in torch.split(inputs, AT_ONCE)])


def _columns(rows: Rows, part: str, view: View) -> Tensor:
    inputs = rows.inputs[part][view.modality]
    return inputs[:, torch.from_numpy(view.columns).to(inputs.device)]


def _module(model: VerticalModel, name: str) -> nn.Module:
    """An ordinary module with the weights that the package gave this party."""
    team = next(team for team in model.teams if name in team.names)
    weights = {key: p[team.names.index(name)].clone() for key, p in team.parameters.items()}
    place = team.names.index(name)
    held = team.sight.held
    columns = team.sight.columns.shape[1] if held is None else int(held[place].sum())
    weights["0.weight"] = weights["0.weight"][:, :columns]  # those added for the stack are zero
    hidden, width = weights["0.weight"].shape[0], weights["2.weight"].shape[0]
    module = nn.Sequential(nn.Linear(columns, hidden), nn.ReLU(), nn.Linear(hidden, width))
    module.to(model.place.device, model.place.dtype).load_state_dict(weights)
    return module


def _fusion(model: VerticalModel) -> nn.Module:
    own = model.server.fusion.parameters
    weights = {
        "0.weight": own["blocks"].flatten(0, 1).T,
        "0.bias": own["bias"],
        "2.weight": own["head.1.weight"],
        "2.bias": own["head.1.bias"],
    }
    (hidden, inputs), width = weights["0.weight"].shape, weights["2.weight"].shape[0]
    module = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, width))
    module.to(model.place.device, model.place.dtype).load_state_dict(weights)
    return module


# Both


def begin(dataset: Dataset, rows: Rows, parties: int, precision: str, device: str):
    """The package's model and who holds what."""
    learning = Learning(
        split="random",
        input="own",
        batch_size=BATCH,
        server_turn="parallel",
        damping="none",
        precision=precision,
        device=device,
    )
    names = [f"party-{n + 1}" for n in range(parties)]
    views = dict(zip(names, split(dataset, learning.split, parties, SEED), strict=True))
    maker = Maker.of(dataset, learning)
    return VerticalModel.start(rows, maker, views, learning, SEED, measure=False), views


def advance(model: VerticalModel, round_: int) -> None:
    """The package's round."""
    order = Order(STEPS, RATE)
    model.train(round_, dict.fromkeys(model.present, order), order)


def check(dataset: Dataset, parties: int, rounds: int = 5) -> None:
    """Every weight of loops and package is equal after a few rounds, in 64 bits."""
    few = replace(
        dataset,
        train={name: x[:600].astype(np.float64) for name, x in dataset.train.items()},
        test={name: x[:300].astype(np.float64) for name, x in dataset.test.items()},
        train_y=dataset.train_y[:600],
        test_y=dataset.test_y[:300],
    )
    rows = Rows.of(few, Place("cpu", "float64"))
    model, views = begin(few, rows, parties, "float64", "cpu")
    loops = [Loop(model, views, all_rows) for all_rows in (True, False)]
    start = model.metrics()
    for round_ in range(rounds):
        advance(model, round_)
        for loop in loops:
            loop.train(round_)
    end = model.metrics()
    assert end["test_loss"] < start["test_loss"]  # something was learned
    for loop in loops:
        for name, party in zip(views, loop.parties, strict=True):
            _same(_module(model, name), party.module)
        _same(_fusion(model), loop.fusion)
        for key, number in loop.metrics().items():
            assert abs(end[key] - number) < 1e-9, key


def _same(one: nn.Module, other: nn.Module) -> None:
    for key, value in one.state_dict().items():
        torch.testing.assert_close(other.state_dict()[key], value, rtol=1e-9, atol=1e-12)


def measure(dataset: Dataset, rows: Rows, parties: int, repeats: int, device: str) -> list[float]:
    """Median seconds of a round of each way, and of an evaluation of loop and package.

    The last number is the largest difference of the ways' test losses at the end.
    """
    model, views = begin(dataset, rows, parties, "float32", device)
    whole, drawn = (Loop(model, views, all_rows) for all_rows in (True, False))
    ways = (
        whole.train,
        drawn.train,
        lambda round_: advance(model, round_),
        lambda _: drawn.metrics(),
        lambda _: model.metrics(),
    )
    seconds: list[list[float]] = [[] for _ in ways]
    for round_ in range(repeats + 1):
        for found, way in zip(seconds, ways, strict=True):
            found.append(_seconds(way, round_, device))
        if round_ == 0:
            assert _apart(model, whole, drawn) < 1e-4
    medians = [statistics.median(found[1:]) for found in seconds]  # the first warms up
    return [*medians, _apart(model, whole, drawn)]


def _apart(*models) -> float:
    losses = [model.metrics()["test_loss"] for model in models]
    return max(losses) - min(losses)


def _seconds(way, round_: int, device: str) -> float:
    clock = time.perf_counter if device == "cuda" else time.process_time
    began = clock()
    way(round_)
    if device == "cuda":
        torch.cuda.synchronize()
    return clock() - began


def main() -> None:
    """Parses, runs, prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parties", default="2,6,10,50,200")
    parser.add_argument("--seconds", type=float, default=20, help="for each row, about")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    args = parser.parse_args()
    torch.set_num_threads(1)
    dataset = load("mnist").scaled("standard")
    for parties in (2, 5):
        check(dataset, parties)
    rows = Rows.of(dataset, Place(args.device))
    print(
        "| N | loop, all rows | loop, drawn rows | package | all rows / package | "
        "drawn rows / package | package per party | evaluation, loop | evaluation, package | "
        "rounds | losses differ by |"
    )
    print("|---:|" + "---:|" * 10, flush=True)
    for parties in (int(n) for n in args.parties.split(",")):
        once = sum(measure(dataset, rows, parties, 1, args.device)[:-1])
        repeats = min(30, max(2, round(args.seconds / once)))
        *found, apart = measure(dataset, rows, parties, repeats, args.device)
        whole, drawn, package, plain, evaluation = (1000 * seconds for seconds in found)
        print(
            f"| {parties} | {whole:,.0f} ms | {drawn:,.1f} ms | {package:.1f} ms | "
            f"{whole / package:,.0f} | {drawn / package:.1f} | {package / parties:.2f} ms | "
            f"{plain:,.0f} ms | {evaluation:,.0f} ms | {repeats} | {apart:.0e} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
