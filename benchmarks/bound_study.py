"""The command line that the studies of Lemma 1 and Theorem 1 share."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch

from scdn.data import Dataset, load
from scdn.learning.dataset_tensors import DatasetTensors
from scdn.learning.tensors import TensorOptions
from scdn.paper.theory_bounds.theorem1 import (
    HALVE_RATE_EVERY,
    LEARNING_RATE,
    LEARNING_SETTINGS,
    STEPS,
)

Study = Callable[[Sequence[int], int, int], dict]  # of numbers of parties, seeds and rounds


def load_mnist() -> tuple[Dataset, DatasetTensors]:
    """Return MNIST in 64 bits."""
    dataset = load("mnist").scaled("standard", np.float64)
    return dataset, DatasetTensors.from_dataset(dataset, TensorOptions("cpu", "float64"))


def settings(rounds: int) -> dict:
    """Return the settings of all runs."""
    return LEARNING_SETTINGS | {
        "rate": LEARNING_RATE,
        "halve_rate_every": HALVE_RATE_EVERY,
        "steps": STEPS,
        "rounds": rounds,
    }


def run_or_read(
    parser: argparse.ArgumentParser, study: Study, indent: int | None = None
) -> tuple[argparse.Namespace, dict]:
    """Parse the options; run the study and write it, or read an earlier one."""
    parser.add_argument("--parties", default="2,4")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--show", type=Path, help="print the tables of an earlier study")
    parser.add_argument("-o", "--output", type=Path, help="write the study to this file")
    args = parser.parse_args()
    if args.show:
        return args, json.loads(args.show.read_text())
    torch.set_num_threads(1)
    results = study([int(n) for n in args.parties.split(",")], args.seeds, args.rounds)
    if args.output:
        args.output.parent.mkdir(parents=True, exist_ok=True)
        args.output.write_text(json.dumps(results, indent=indent, ensure_ascii=False) + "\n")
    return args, results
