"""Measure the networks of real scale: reach, planning time, what changes a plan, and joules.

    OMP_NUM_THREADS=1 python benchmarks/real_networks.py run docs/results/real-networks.json
    python benchmarks/real_networks.py table docs/results/real-networks.json
    python benchmarks/real_networks.py table docs/results/real-networks.json --part sensitivity

Plans are those of rounds 0, 10 and 20 of several seeds, from the start and from where the first
plan put the server. Their time includes making the problem and its flight routes, and is both wall
time and processor time: on a busy machine the latter is closer to a quiet machine's. `building`
draws nothing at random, so its rounds differ by nothing; there the server starts in each room.
"""

from __future__ import annotations

import argparse
import copy
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from feasibility_and_sensitivity import changed_controls, map_device_field, set_field, times
from network_runs import run_once

from scdn.control.plan import Plan
from scdn.control.plan_request import PlanRequest, make_request, problem_of
from scdn.control.solve import solve, warm_up
from scdn.scenario import Scenario, read_scenario
from scdn.simulation.request_builder import round_request

EXAMPLES = Path(__file__).parents[1] / "examples"
NETWORKS = ("wildfire", "smart-grid", "building")
TEN_DEVICES = {"wildfire": "fleet.0.count=8", "smart-grid": "fleet.0.count=8"}
DOCKS_M = ((5, 4, 0), (20, 4, 0), (36, 4, 0), (20, 17, 0), (1, 10, 0))  # other ones of building
ROUNDS = (0, 10, 20)
RUN_ROUNDS = 10
LIMIT_S = 20.0  # for one exact solve; plans that are not proven by then are marked
LEAST_MOVE = 0.005  # of the longest side; less is within the proven gap

Record = dict[str, Any]
Change = Callable[[dict[str, Any]], None]


def network(name: str, *settings: str) -> Scenario:
    """Return an example with some settings changed."""
    return read_scenario(EXAMPLES / f"{name}.toml", settings)


def markdown_table(head: list[str], lines: list[list[str]], text: tuple[int, ...] = (0,)) -> str:
    """Return a table; columns of text are aligned to the left, numbers to the right."""
    marks = ["---" if index in text else "---:" for index in range(len(head))]
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, marks, *lines])


# --- reach and planning time ----------------------------------------------------------------------


def plan_records(name: str, seeds: int) -> Iterator[Record]:
    """Yield one record per plan: how many devices it reached, and how long it took."""
    for seed in range(seeds if name in TEN_DEVICES else 1):
        settings = [f"seed={seed}", *([TEN_DEVICES[name]] if name in TEN_DEVICES else [])]
        for round_ in ROUNDS if name in TEN_DEVICES else (0,):
            request = round_request(network(name, *settings), round_)
            starts = [request.server.position_m, *(DOCKS_M if name not in TEN_DEVICES else ())]
            for start in starts:
                key = {"network": name, "seed": seed, "round": round_}
                own = start == starts[0]  # where the scenario has it
                plan, record = timed_plan(_from(request, start))
                yield key | {"own_start": own, "from_start": True} | record
                _, record = timed_plan(_from(request, plan.server_m))
                yield key | {"own_start": False, "from_start": False} | record


def _from(request: PlanRequest, position_m: Any) -> PlanRequest:
    server = request.server.model_copy(update={"position_m": tuple(map(float, position_m))})
    return request.model_copy(update={"server": server})


def timed_plan(request: PlanRequest) -> tuple[Plan, Record]:
    """Plan a request, from the parsed form to the proven plan."""
    wall, cpu = time.perf_counter(), time.process_time()
    problem = problem_of(request)
    plan = solve(problem, time_limit_s=LIMIT_S)
    cpu_ms, wall_ms = 1e3 * (time.process_time() - cpu), 1e3 * (time.perf_counter() - wall)
    reached = problem.least_power(problem.server_m) <= problem.max_power_w
    return plan, {
        "devices": len(problem),
        "in_reach": int(reached.sum()),
        "active": int(plan.decision.active.sum()),
        "boxes": plan.boxes,
        "gap": plan.gap,
        "wall_ms": wall_ms,
        "cpu_ms": cpu_ms,
    }


def plan_table(records: list[Record]) -> str:
    """Return a line per network."""
    lines = []
    for name in NETWORKS:
        rows = [row for row in records if row["network"] == name]
        starts = [row for row in rows if row["own_start"]]
        cpu, wall = ([row[key] for row in rows] for key in ("cpu_ms", "wall_ms"))
        lines.append(
            [
                name,
                f"{np.mean([row['devices'] for row in rows]):.1f}",
                _percent(row["in_reach"] / row["devices"] for row in starts),
                _percent(row["active"] / row["devices"] for row in starts),
                str(len(rows)),
                f"{np.median(cpu):.0f}",
                f"{np.median([row['cpu_ms'] for row in rows if row['from_start']]):.0f}",
                f"{np.quantile(cpu, 0.9):.0f}",
                f"{max(cpu):.0f}",
                f"{np.median(wall):.0f}",
                f"{np.median([row['boxes'] for row in rows]):.0f}",
                f"{max(row['gap'] for row in rows):.1e}",
            ]
        )
    head = ["network", "devices", "in reach from the start", "active after the move", "plans"]
    head += [
        "ms, median",
        "from the start",
        "90 %",
        "most",
        "wall ms, median",
        "boxes",
        "largest gap",
    ]
    return markdown_table(head, lines)


def _percent(shares: Iterator[float]) -> str:
    return f"{100 * np.mean(list(shares)):.0f} %"


# --- sensitivity ----------------------------------------------------------------------------------


def changes(base: dict[str, Any]) -> Iterator[tuple[str, Change]]:
    """Yield every change of a network's request, with its name."""
    request = make_request(base)
    weights, radio, learning = request.weights, request.radio, request.learning
    for name, factor in (("× 10", 10.0), ("÷ 10", 0.1)):
        value = weights.convergence * factor
        yield f"weight of convergence {name}", set_field("weights.convergence", value)
        yield f"price of a device's joule {name}", _device_price(weights.transmission * factor)
        value = weights.movement * factor
        yield f"price of the server's joule {name}", set_field("weights.movement", value)
    for name, factor in (("× 2", 2.0), ("÷ 2", 0.5)):
        yield f"max_delay_s {name}", set_field("max_delay_s", request.max_delay_s * factor)
        yield f"max_power_w {name}", map_device_field(None, "max_power_w", times(factor))
        value = learning.compute_deadline_s * factor
        yield f"compute_deadline_s {name}", set_field("learning.compute_deadline_s", value)
    yield "round_s × 3", set_field("round_s", 3 * (request.round_s or 0))
    if radio.duty_cycle < 1:
        yield "round_s ÷ 3, and so airtime", set_field("round_s", (request.round_s or 0) / 3)
    yield "margin + 5 dB", set_field("radio.margin_db", radio.margin_db + 5)
    yield "at Shannon's limit (gap 0 dB)", set_field("radio.snr_gap_db", 0.0)
    yield "without walls or leaves", map_device_field(None, "wall_loss_db", lambda _: 0.0)
    yield "least power = full power", _send_at_full_power
    yield "max_iterations 2", set_field("max_iterations", 2)
    if request.movement.path == "around":
        yield "straight through walls", set_field("movement.path", "straight")
    start = [list(request.server.position_m)]
    yield "server held at its start", set_field("candidates_m", start)


def _device_price(price: float) -> Change:
    def change(document: dict[str, Any]) -> None:
        document["weights"].update(transmission=price, processing=price)

    return change


def _send_at_full_power(document: dict[str, Any]) -> None:
    for device in document["devices"]:
        device["min_power_w"] = device["max_power_w"]


def sensitivity_records(name: str) -> Iterator[Record]:
    """Yield the exact plan of round 0, and with each change."""
    request = round_request(network(name))
    document = json.loads(request.model_dump_json(by_alias=True))
    base = solve(problem_of(make_request(document)), time_limit_s=LIMIT_S)
    least_move_m = LEAST_MOVE * max(request.region_m)
    yield {"network": name, "change": "as it is", **_plan_record(base), "differs": ""}
    for label, change in changes(document):
        changed = copy.deepcopy(document)
        change(changed)
        plan = solve(problem_of(make_request(changed)), time_limit_s=LIMIT_S)
        differs = changed_controls(plan, base, least_move_m)
        yield {"network": name, "change": label, **_plan_record(plan), "differs": differs}


def _plan_record(plan: Plan) -> Record:
    decision, active = plan.decision, plan.decision.active

    def mean(values: Any) -> float:
        return float(values[active].mean()) if active.any() else 0.0

    return {
        "server_m": [round(float(c), 2) for c in plan.server_m],
        "active": int(active.sum()),
        "devices": len(active),
        "iterations": mean(decision.iterations),
        "power_mw": mean(1e3 * decision.power_w),
        "clock_mhz": mean(decision.cpu_hz / 1e6),
        "movement_j": plan.evaluation.terms["movement_j"],
        "objective": plan.objective,
        "proven": plan.status == "optimal",
    }


def sensitivity_table(records: list[Record], name: str) -> str:
    """Return a line per change of one network."""
    lines = [
        [
            row["change"],
            ", ".join(f"{c:.4g}" for c in row["server_m"]),
            f"{row['active']} of {row['devices']}",
            f"{row['iterations']:.1f}",
            f"{row['power_mw']:.3g}",
            f"{row['clock_mhz']:.3g}",
            _joules(row["movement_j"]),
            f"{row['objective']:.4g}",
            row["differs"] + ("" if row["proven"] else " (NOT PROVEN)"),
        ]
        for row in records
        if row["network"] == name
    ]
    head = ["change", "server (m)", "active", "iterations", "mW", "MHz", "server's J", "objective"]
    return markdown_table([*head, "differs in"], lines, text=(0, 1, 8))


# --- joules ---------------------------------------------------------------------------------------

PARTS = {
    "devices: sending": "transmission_j",
    "devices: computing": "processing_j",
    "devices: radio circuits": "circuit_j",
    "devices: idling": "idle_j",
    "server: staying": "hover_j",
    "server: climbing and sinking": "climb_j",
    "server: travelling": "lateral_j",
    "server: sending": "server_transmission_j",
    "server: computing": "server_compute_j",
}


def run_record(name: str) -> Record:
    """Return the energy of a run of SC-DN over a few rounds."""
    result = run_once(network(name, "method=sc-dn", f"learning.rounds={RUN_ROUNDS}"))
    end = result.end
    return {
        "network": name,
        "rounds": RUN_ROUNDS,
        "energy": end["energy"],
        "metrics": end["metrics"],
    }


def joules_table(records: list[Record]) -> str:
    """Return a line per part of the bill, and a column per network."""
    by_name = {row["network"]: row["energy"] for row in records}
    lines = [
        [part, *(_joules(by_name[name][key]) for name in NETWORKS)] for part, key in PARTS.items()
    ]
    lines.append(["together", *(_joules(by_name[name]["total_j"]) for name in NETWORKS)])
    lines.append(["time (s)", *(f"{by_name[name]['latency_s']:.0f}" for name in NETWORKS)])
    bits = [(by_name[n]["bits_sent"] + by_name[n]["bits_received"]) / 1e6 for n in NETWORKS]
    lines.append(["sent, both ways (Mbit)", *(f"{megabits:.1f}" for megabits in bits)])
    return markdown_table(["part of the bill (J)", *NETWORKS], lines)


def _joules(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


# --- command line ---------------------------------------------------------------------------------


def run_all(path: Path, seeds: int, parts: tuple[str, ...]) -> None:
    """Measure and write the file; parts that are not asked for stay as they are."""
    results = json.loads(path.read_text()) if path.exists() else {}
    warm_up()
    if "plans" in parts:
        for name in NETWORKS:  # compiles what is not compiled yet
            next(plan_records(name, 1))
        results["plans"] = [row for name in NETWORKS for row in plan_records(name, seeds)]
    if "sensitivity" in parts:
        results["sensitivity"] = [row for name in NETWORKS for row in sensitivity_records(name)]
    if "joules" in parts:
        results["joules"] = [run_record(name) for name in NETWORKS]
    path.write_text(json.dumps(results, indent=1) + "\n")


def main() -> None:
    """Measure if asked to, and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=("run", "table"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--part", choices=("plans", "sensitivity", "joules"))
    parser.add_argument("--seeds", type=int, default=10)
    args = parser.parse_args()
    parts = (args.part,) if args.part else ("plans", "sensitivity", "joules")
    if args.action == "run":
        run_all(args.file, args.seeds, parts)
    results = json.loads(args.file.read_text())
    if "plans" in parts:
        print(plan_table(results["plans"]), "\n")
    if "sensitivity" in parts:
        for name in NETWORKS:
            print(f"{name}\n\n{sensitivity_table(results['sensitivity'], name)}\n")
    if "joules" in parts:
        print(joules_table(results["joules"]))


if __name__ == "__main__":
    main()
