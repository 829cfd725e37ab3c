"""Measure the fixed networks: reachable and slow devices, the value of a margin, planning time.

    python benchmarks/fixed_networks.py reach     # devices in reach, active, and their clocks
    python benchmarks/fixed_networks.py margin    # random links: failures, energy, accuracy
    OMP_NUM_THREADS=1 python benchmarks/fixed_networks.py planning

`reach` and `margin` print means over seeds, `planning` medians. Planning time is the sum of the
plans' seconds over the sum of the rounds' seconds, both from the events of SC-DN with the exact
solver. With `--cpu` processor time replaces wall time, so that other work on the machine counts
little.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from network_runs import network_scenario, run_once

from scdn.record.run_reader import Run
from scdn.simulation.runner import create_simulation

NETWORKS = ("paper-static", "paper-dynamic", "wildfire", "smart-grid")
PLANNING_NETWORKS = {
    "static 2": ("paper-static", 2),
    "static 4": ("paper-static", 4),
    "static 6": ("paper-static", 6),
    "dynamic": ("paper-dynamic", 6),
}
MARGINS_DB = (0, 2, 4, 6, 8)


def reach_table(seeds: int) -> str:
    """Return fractions of devices in round 0, in which the models are untrained."""
    lines = [
        "| network | devices | in reach from the start | active in the exact plan |"
        " most iterations, slower half | iterations planned |",
        "|---|---|---|---|---|---|",
    ]
    for name in NETWORKS:
        rows = []
        for seed in range(seeds):
            settings = (f"seed={seed}", "learning.payload=model")  # 32 bits for each weight
            simulation = create_simulation(network_scenario(name, settings), ())
            problem = simulation.build_problem(
                simulation.collect_reports(), simulation.estimate_importance()
            )
            in_reach = problem.least_power(simulation.server_m) <= problem.max_power_w
            plan, _ = simulation.plan(problem)
            most = np.sort(np.floor(problem.most_iterations()))
            rows.append(
                (
                    len(problem),
                    100 * in_reach.mean(),
                    100 * plan.decision.active.mean(),
                    most[: max(1, len(most) // 2)].mean(),
                    plan.decision.iterations[plan.decision.active].mean(),
                )
            )
        devices, in_reach, active, slow, planned = np.mean(rows, axis=0)
        lines.append(
            f"| {name} | {devices:.0f} | {in_reach:.0f} % | {active:.0f} % | {slow:.1f} of 5 |"
            f" {planned:.1f} |"
        )
    return "\n".join(lines)


def margin_table(seeds: int) -> str:
    """Return SC-DN's results on the static network of six with randomly drawn links."""
    lines = [
        "| margin (dB) | top-3 (%) | reports lost (%) | active per round | sending (J) |"
        " all energy (J) |",
        "|---|---|---|---|---|---|",
    ]
    for margin_db in MARGINS_DB:
        rows = []
        for seed in range(seeds):
            settings = ("fleet.0.count=6", "fading.mode=drawn", f"radio.margin_db={margin_db}")
            result = run_once(network_scenario("paper-static", [f"seed={seed}", *settings]))
            sent = sum(len(event["active"]) for event in result.rounds)
            lost = sum(len(event["link_failed"]) for event in result.rounds)
            energy = result.end["energy"]
            rows.append(
                (
                    result.end["metrics"]["top3"],
                    100 * lost / max(sent, 1),
                    sent / len(result.rounds),
                    energy["transmission_j"],
                    energy["total_j"],
                )
            )
        mean, std = np.mean(rows, axis=0), np.std(rows, axis=0, ddof=1)
        lines.append(
            f"| {margin_db} | {mean[0]:.1f} ± {std[0]:.1f} | {mean[1]:.1f} | {mean[2]:.2f} |"
            f" {mean[3]:.3g} | {mean[4]:.4g} |"
        )
    return "\n".join(lines)


def planning_time(result: Run) -> tuple[float, float, float]:
    """Return the fraction of time spent on planning, seconds per plan and seconds per round."""
    plans = [event["plan"]["solve_seconds"] for event in result.rounds]
    rounds = [event["seconds"] for event in result.rounds]
    return sum(plans) / sum(rounds), float(np.mean(plans)), float(np.mean(rounds))


def planning_table(seeds: int) -> str:
    """Return how much of a run SC-DN spends on planning."""

    def measure(network: str, seed: int) -> tuple[float, float, float]:
        name, devices = PLANNING_NETWORKS[network]
        settings = (f"fleet.0.count={devices}", "method=sc-dn", f"seed={seed}")
        return planning_time(run_once(network_scenario(name, [*settings])))

    measure("static 2", 0)  # the first run of a process also loads PyTorch, so it is not counted
    lines = [
        "| network | planning (%) | lowest … highest | a plan (ms) | a round (ms) |",
        "|---|---|---|---|---|",
    ]
    for network in PLANNING_NETWORKS:
        rows = np.array([measure(network, seed) for seed in range(seeds)])
        fraction, plan_s, round_s = np.median(rows, axis=0)
        lines.append(
            f"| {network} | {100 * fraction:.1f} |"
            f" {100 * rows[:, 0].min():.1f} … {100 * rows[:, 0].max():.1f} |"
            f" {1000 * plan_s:.2f} | {1000 * round_s:.1f} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Print one of the tables."""
    tables = {"reach": reach_table, "margin": margin_table, "planning": planning_table}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", choices=tables)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--cpu", action="store_true", help="measure processor time of planning")
    args = parser.parse_args()
    if args.cpu:
        time.perf_counter = time.process_time
    print(tables[args.table](args.seeds))


if __name__ == "__main__":
    main()
