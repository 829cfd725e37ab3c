"""What the shipped networks ask of a method: who is in reach, who is slow, what a margin is worth.

python benchmarks/networks.py reach      # from the start, and from the plan's place; clocks
python benchmarks/networks.py margin     # a drawn channel: link failures, energy, accuracy

Numbers are means over seeds.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np

from scdn.scenario import read_scenario
from scdn.simulation.run import begin, run

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
NETWORKS = ("paper-static", "paper-dynamic", "wildfire", "smart-grid")
MARGINS_DB = (0, 2, 4, 6, 8)


def reach(seeds: int) -> str:
    """Shares of devices, means over seeds; round 0 with models that have learned nothing yet."""
    lines = [
        "| network | devices | in reach from the start | active in the exact plan |"
        " most iterations, slower half | iterations planned |",
        "|---|---|---|---|---|---|",
    ]
    for name in NETWORKS:
        found = []
        for seed in range(seeds):
            first = begin(read_scenario(EXAMPLES / f"{name}.toml", [f"seed={seed}"]), ())
            problem = first.problem()
            heard = problem.least_power(first.server_m) <= problem.max_power_w
            plan, _ = first.plan(problem)
            most = np.sort(np.floor(problem.most_iterations()))
            found.append(
                (
                    len(problem),
                    100 * heard.mean(),
                    100 * plan.decision.active.mean(),
                    most[: max(1, len(most) // 2)].mean(),
                    plan.decision.iterations[plan.decision.active].mean(),
                )
            )
        count, start, planned, slow, taken = np.mean(found, axis=0)
        lines.append(
            f"| {name} | {count:.0f} | {start:.0f} % | {planned:.0f} % | {slow:.1f} of 5 |"
            f" {taken:.1f} |"
        )
    return "\n".join(lines)


def margin(seeds: int) -> str:
    """SC-DN on the static network of six, its links drawn around the mean."""
    lines = [
        "| margin (dB) | top-3 (%) | reports lost (%) | active per round | sending (J) |"
        " all energy (J) |",
        "|---|---|---|---|---|---|",
    ]
    for decibels in MARGINS_DB:
        found = []
        for seed in range(seeds):
            settings = [
                f"seed={seed}",
                "fleet.0.count=6",
                "fading.mode=drawn",
                f"radio.margin_db={decibels}",
            ]
            with tempfile.TemporaryDirectory() as folder:
                done = run(read_scenario(EXAMPLES / "paper-static.toml", settings), folder + "/r")
            sent = sum(len(event["active"]) for event in done.rounds)
            lost = sum(len(event["link_failed"]) for event in done.rounds)
            energy = done.end["energy"]
            found.append(
                (
                    done.end["metrics"]["top3"],
                    100 * lost / max(sent, 1),
                    sent / len(done.rounds),
                    energy["transmission_j"],
                    energy["total_j"],
                )
            )
        mean, std = np.mean(found, axis=0), np.std(found, axis=0, ddof=1)
        lines.append(
            f"| {decibels} | {mean[0]:.1f} ± {std[0]:.1f} | {mean[1]:.1f} | {mean[2]:.2f} |"
            f" {mean[3]:.3g} | {mean[4]:.4g} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Parses, runs, prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", choices=("reach", "margin"))
    parser.add_argument("--seeds", type=int, default=10)
    args = parser.parse_args()
    print(reach(args.seeds) if args.table == "reach" else margin(args.seeds))


if __name__ == "__main__":
    main()
