"""How much of a run is planning: SC-DN with the exact solver on MNIST, the paper's networks.

    OMP_NUM_THREADS=1 python benchmarks/share.py --seeds 10

A run's share is the sum of its plans' seconds over the sum of its rounds' seconds, both as its
events have them: a plan's from the problem to the checked plan, a round's all but writing it
down. The table has medians over the seeds. With `--cpu` the process's own seconds stand in for
the clock's, so that other work on the machine does not count.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from claims import EXAMPLES, NETWORKS

from scdn.record.read import Run
from scdn.scenario import read_scenario
from scdn.simulation.run import run


def planning(found: Run) -> tuple[float, float, float]:
    """The share of planning, seconds per plan, seconds per round."""
    plans = [event["plan"]["solve_seconds"] for event in found.rounds]
    rounds = [event["seconds"] for event in found.rounds]
    return sum(plans) / sum(rounds), float(np.mean(plans)), float(np.mean(rounds))


def one_run(network: str, seed: int) -> Run:
    """The shipped scenario with this network's size."""
    name, size = NETWORKS[network]
    scenario = read_scenario(EXAMPLES / f"{name}.toml", [size, "method=sc-dn", f"seed={seed}"])
    with tempfile.TemporaryDirectory() as folder:
        return run(scenario, Path(folder) / "run")


def main() -> None:
    """Parses, runs, prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--cpu", action="store_true", help="seconds of this process alone")
    args = parser.parse_args()
    if args.cpu:
        time.perf_counter = time.process_time
    networks = args.networks.split(",")
    one_run(networks[0], 0)  # a process's first run also loads PyTorch's parts; it is not counted
    print("| network | planning (%) | lowest … highest | a plan (ms) | a round (ms) |")
    print("|---|---|---|---|---|")
    for network in networks:
        found = np.array([planning(one_run(network, seed)) for seed in range(args.seeds)])
        share, plan, round_ = np.median(found, axis=0)
        low, high = found[:, 0].min(), found[:, 0].max()
        print(
            f"| {network} | {100 * share:.1f} | {100 * low:.1f} … {100 * high:.1f}"
            f" | {1000 * plan:.2f} | {1000 * round_:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
