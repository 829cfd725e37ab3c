"""Train the paper's update on MNIST: static networks, and one of four parties leaving.

    python benchmarks/party_exit.py --seeds 20

PyTorch's initialisation, own columns, standardised inputs, a fresh batch of 64 per step, five
iterations of one step, the server likewise and in parallel, no damping, rate 0.1 halved every five
rounds, 30 rounds. The party leaves at the start of round 10.
"""

from __future__ import annotations

import argparse
from collections import defaultdict

import numpy as np
from create_model import create_model, paper_learning

from scdn.data import load
from scdn.learning.dataset_tensors import DatasetTensors
from scdn.learning.local_optimizers import LocalSteps, halved_rate
from scdn.learning.tensors import TensorOptions
from scdn.learning.vertical_model import VerticalModel

LEARNING = paper_learning(server_turn="parallel", step="rate")
ROUNDS, EXIT_ROUND, STEPS, RATE = 30, 10, 5, 0.1


def train(model: VerticalModel, first: int, end: int) -> None:
    """Train the rounds from `first` up to, not including, `end`."""
    for round_ in range(first, end):
        steps = LocalSteps(STEPS, halved_rate(RATE, round_, LEARNING.halve_rate_every))
        model.train(round_, dict.fromkeys(model.present, steps), steps)


def main() -> None:
    """Train the networks and print their scores."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    args = parser.parse_args()
    dataset = load("mnist").scaled("standard")
    tensors = DatasetTensors.from_dataset(dataset, TensorOptions())

    def scores_after_exit(model: VerticalModel, party: str, memory: str) -> tuple[dict, dict]:
        """Return the scores at once and after the last round, on a copy with this memory."""
        copy = create_model(dataset, tensors, LEARNING, 0, model.seed, memory)
        copy.load_state_dict(model.state_dict())
        copy.remove_parties([party])
        at_once = copy.metrics()
        train(copy, EXIT_ROUND, ROUNDS)
        return at_once, copy.metrics()

    top3 = defaultdict(list)
    for parties in (2, 4, 6):
        for seed in range(args.seeds):
            model = create_model(dataset, tensors, LEARNING, parties, seed)
            train(model, 0, ROUNDS)
            top3[f"{parties} parties, all stay"].append(model.metrics()["top3"])
    for seed in range(args.seeds):
        model = create_model(dataset, tensors, LEARNING, 4, seed)
        train(model, 0, EXIT_ROUND)
        top3["one of 4 leaves, before the exit"].append(model.metrics()["top3"])
        for memory in ("keep", "zero-out"):
            at_once, after = scores_after_exit(model, f"party-{seed % 4 + 1}", memory)
            top3[f"one of 4 leaves, {memory}: at once"].append(at_once["top3"])
            top3[f"one of 4 leaves, {memory}: after round 30"].append(after["top3"])
            for imputation, scores in after["future_by"].items():
                if memory == "keep":
                    name = f"one of 4 leaves, keep, later samples, {imputation}"
                    top3[name].append(scores["top3"])
    print("| | top-3 (%) |\n|---|---|")
    for name, values in top3.items():
        print(f"| {name} | {np.mean(values):.1f} ± {np.std(values, ddof=1):.1f} |")


if __name__ == "__main__":
    main()
