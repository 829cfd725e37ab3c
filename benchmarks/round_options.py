"""Measure how long a mission's plan takes with one option of a round and with several.

    python benchmarks/round_options.py
    python benchmarks/round_options.py --sizes 10 50 --seeds 30

Problems are the random ones of `random_problems.py`, with the bits of MNIST's messages and random
gains. *Search* is one exact search over all options at a fixed worth of progress; *plan* is a whole
plan of a mission, which searches at several worths. Times are those of the processor, so that other
processes do not count; set OMP_NUM_THREADS=1, so that they are those of a clock.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import replace
from itertools import product

import numpy as np
from random_problems import FAMILIES, random_problem

from scdn.control.problem import RoundProblem
from scdn.control.round_option import RoundOption
from scdn.control.solve import solve_best, warm_up
from scdn.methods import PLAN_BOXES, PLAN_GAP, RoundContext, mission_controller
from scdn.mission.option_worth import GAIN_SHARES, problems_by_worth
from scdn.mission.round_search import MissionRound
from scdn.rng import generator
from scdn.scenario import Prices

REPORT_BITS = {2: 67_000, 4: 127_000, 8: 249_000, 32: 983_000}  # of MNIST's default messages
CHOICES = {
    "1": [(1.0, 8)],
    "3: bits": [(1.0, 2), (1.0, 4), (1.0, 8)],
    "3: durations": [(0.5, 8), (1.0, 8), (2.0, 8)],
    "9": list(product((0.5, 1.0, 2.0), (2, 4, 8))),
}


def mission_round(problem: RoundProblem, seed: int, choice: str) -> MissionRound:
    """Return a mission's round with random gains of the devices."""
    draw = generator(seed, "round-options")
    iterations = np.arange(problem.max_iterations + 1) / problem.max_iterations
    gains = draw.uniform(0.1, 1.0, (len(problem), 1)) / len(problem) * np.sqrt(iterations)
    options = tuple(
        RoundOption(
            duration,
            bits,
            duration * problem.max_delay_s,
            np.full(len(problem), float(REPORT_BITS[bits])),
            stay=duration,
            gain_share=GAIN_SHARES[bits],
            seconds=duration,
        )
        for duration, bits in CHOICES[choice]
    )
    return MissionRound(
        gains, 0.5, Prices(), "energy", 20, progress_left=20.0, worth_j=20.0, options=options
    )


def measure(devices: int, choice: str, seeds: int) -> str:
    """Return a row of the table: medians and the slowest, in milliseconds."""
    searches, plans, boxes = [], [], []
    for seed, family in product(range(seeds), FAMILIES):
        problem = replace(random_problem(devices, seed, family), max_delay_s=0.02)
        mission = mission_round(problem, seed, choice)
        variants = problems_by_worth(problem, mission, 20.0, 10.0)
        began = time.process_time()
        best = solve_best(variants, gap=PLAN_GAP, max_boxes=PLAN_BOXES)
        searches.append(1e3 * (time.process_time() - began))
        boxes.append(best.boxes or 0)
        began = time.process_time()
        mission_controller(problem, RoundContext(problem.server_m, mission=mission))
        plans.append(1e3 * (time.process_time() - began))
    return (
        f"| {devices} | {choice} | {statistics.median(searches):.1f} | {max(searches):.0f} "
        f"| {statistics.median(boxes):.0f} | {statistics.median(plans):.1f} | {max(plans):.0f} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 50])
    parser.add_argument("--seeds", type=int, default=15)
    arguments = parser.parse_args()
    warm_up()
    print("| devices | options | search (ms) | slowest | boxes | plan (ms) | slowest |")
    print("|---|---|---|---|---|---|---|")
    for devices, choice in product(arguments.sizes, CHOICES):
        print(measure(devices, choice, arguments.seeds), flush=True)


if __name__ == "__main__":
    main()
