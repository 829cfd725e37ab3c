"""The paper's update on MNIST as a check: static networks, and one of four parties leaving.

    python benchmarks/exits.py --seeds 20

PyTorch's initialisation, own columns, standardised inputs, a fresh batch of 64 per step, five
iterations of one step, the server likewise and in parallel, no damping, rate 0.1 halved every five
rounds, 30 rounds. The party leaves at the start of round 10.
"""

from __future__ import annotations

import argparse

import numpy as np

from scdn.data import load
from scdn.learning.features import Rows
from scdn.learning.local import Order, halved
from scdn.learning.parties import Maker
from scdn.learning.split import split
from scdn.learning.state import pack, unpack
from scdn.learning.vertical import VerticalModel
from scdn.scenario.model import Learning

LEARNING = Learning(server_turn="parallel", damping="none")
ROUNDS, LEAVES, STEPS, RATE = 30, 10, 5, 0.1


def begun(data, rows, parties: int, seed: int, memory: str = "keep") -> VerticalModel:
    """A model before round 0."""
    names = [f"party-{n + 1}" for n in range(parties)]
    views = dict(zip(names, split(data, "random", parties, seed), strict=True)) if parties else {}
    maker = Maker.of(data, LEARNING)
    return VerticalModel.start(rows, maker, views, LEARNING, seed, memory, measure=False)


def train(model: VerticalModel, first: int, end: int) -> None:
    """Some rounds."""
    for round_ in range(first, end):
        rate = halved(RATE, round_, LEARNING.halve_rate_every)
        orders = dict.fromkeys(model.present, Order(STEPS, rate))
        model.train(round_, orders, Order(STEPS, rate))


def leave(data, rows, before: VerticalModel, party: str, memory: str) -> tuple[dict, dict]:
    """Scores at once and at the end, if `party` leaves under this memory."""
    arrays, words = pack(before)
    model = unpack(begun(data, rows, 0, before.seed, memory), arrays, words)
    model.leave([party])
    at_once = model.metrics()
    train(model, LEAVES, ROUNDS)
    return at_once, model.metrics()


def main() -> None:
    """Parses, runs, prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    args = parser.parse_args()
    data = load("mnist").scaled("standard")
    rows = Rows.of(data, Maker.of(data, LEARNING).place)

    def row(name: str, values: list[float]) -> None:
        print(f"| {name} | {np.mean(values):.1f} ± {np.std(values, ddof=1):.1f} |", flush=True)

    print("| | top-3 (%) |\n|---|---|")
    for parties in (2, 4, 6):
        scores = []
        for seed in range(args.seeds):
            model = begun(data, rows, parties, seed)
            train(model, 0, ROUNDS)
            scores.append(model.metrics()["top3"])
        row(f"{parties} parties, all stay", scores)
    found: dict[str, list[float]] = {}
    for seed in range(args.seeds):
        model = begun(data, rows, 4, seed)
        train(model, 0, LEAVES)
        found.setdefault("before the exit", []).append(model.metrics()["top3"])
        party = f"party-{seed % 4 + 1}"
        for memory in ("keep", "zero-out"):
            at_once, after = leave(data, rows, model, party, memory)
            found.setdefault(f"{memory}: at once", []).append(at_once["top3"])
            found.setdefault(f"{memory}: after round 30", []).append(after["top3"])
            for how, scores in after["future_by"].items():
                if memory == "keep":
                    key = f"keep, later samples, {how}"
                    found.setdefault(key, []).append(scores["top3"])
    for name, values in found.items():
        row(f"one of 4 leaves, {name}", values)


if __name__ == "__main__":
    main()
