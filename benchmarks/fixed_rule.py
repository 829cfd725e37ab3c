"""Find the fixed rule that is best in hindsight on each network, by joules to the targets.

    python benchmarks/fixed_rule.py run rules.jsonl --seeds 10 --jobs 16
    python benchmarks/fixed_rule.py table rules.jsonl

A fixed rule is a place of the server, a number of iterations, the share of the devices that take
part (those that cost least at that place) and a time limit of reports, kept for the whole run, with
the least power and clock that suffice. All rules run with the first seeds and the scenario's own
time limit; the best of them, also with a shorter and a longer limit, then run with all seeds. A
rule is judged by its median over the seeds, where a run that does not reach the target counts as
infinite. A run ends when it has reached all targets, or after `--rounds`. `run` appends to the file
and skips what is in it.
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, product
from typing import NamedTuple

import numpy as np
from network_runs import network_scenario, run_to_targets
from result_file import Record, argument_parser, read, run_missing
from two_bills import BILLS, NAMES

from scdn.arrays import Array
from scdn.control.gsp import least_delay_position, positions_to_try
from scdn.control.max_vfl import at_maximum
from scdn.control.oort import device_joules, keep_only
from scdn.control.plan import Plan, make_plan
from scdn.control.problem import RoundProblem
from scdn.methods import Method, RoundContext, register_method
from scdn.record.run_reader import Run
from scdn.record.target_results import target_results
from scdn.targets import parse_targets
from scdn.world import geometry

PLACES = ("start", "below start", "gsp", "below gsp", "cheapest half", "gsp followed")
ITERATIONS: tuple[int | str, ...] = (1, 2, 3, "max")
SHARES = (0.25, 0.5, 1.0)
DURATIONS = (1.0, 0.5, 2.0)  # times max_delay_s
TARGETS = ("top3=95", "top3=97")
MEASURES = ("joules", "seconds")
SERVING_ROUNDS = 10  # over which "cheapest half" spreads the energy of its flight
ON_GROUND = np.array([1.0, 1.0, 0.0])


class Rule(NamedTuple):
    """A fixed rule; the duration is the time limit of reports, times the scenario's."""

    place: str
    iterations: int | str
    share: float
    duration: float = 1.0


# --- the rule as a method -------------------------------------------------------------------------


def fixed_rule(
    place: str, iterations: int | str, share: float, duration: float, start_m: Array
) -> Method:
    """Return the method of a rule, for runs in which the server starts at `start_m`."""

    def controller(problem: RoundProblem, _: RoundContext) -> Plan:
        problem = replace(problem, max_delay_s=duration * problem.max_delay_s)
        limit = np.floor(problem.iteration_limit())
        counts = limit if iterations == "max" else np.minimum(float(iterations), limit)
        server_m = _server_position(problem, place, start_m)
        everyone = at_maximum(problem, server_m, matched=True, iterations=counts)
        able = np.flatnonzero(everyone.active & (counts > 0))
        cheapest = able[np.argsort(device_joules(problem, everyone)[able], kind="stable")]
        chosen = np.zeros(len(problem), dtype=bool)
        chosen[cheapest[: math.ceil(share * len(problem))]] = True
        decision = keep_only(problem, everyone, chosen)
        return make_plan(problem, "fixed-rule", "heuristic", decision, 0.0)

    about = "place, iterations, share of devices and duration of a round are fixed"
    return Method("fixed-rule", controller, uses_importance=False, about=about)


def _server_position(problem: RoundProblem, place: str, start_m: Array) -> Array:
    """Return where the server goes: to its place once, and again if nobody is in reach there."""
    moved = not np.array_equal(problem.server_m, start_m)
    hears = problem.least_power(problem.server_m) <= problem.max_power_w
    if place == "start" or not len(problem) or (moved and hears.any() and place != "gsp followed"):
        return _nearest(problem, problem.server_m)
    if place == "below start":
        return _nearest(problem, start_m * ON_GROUND)
    if place == "cheapest half":
        return _cheapest_for_half(problem)
    spot = least_delay_position(problem)
    return _nearest(problem, spot * ON_GROUND) if place == "below gsp" else spot


def _nearest(problem: RoundProblem, wanted: Array) -> Array:
    """Return the position, or the nearest one where the server may be."""
    positions = _positions(problem, wanted)
    return positions[int(np.argmin(geometry.distance(positions, wanted)))]


def _positions(problem: RoundProblem, *further: Array) -> Array:
    """Return GSP's positions; without candidates also those below them, and further ones."""
    positions = positions_to_try(problem)
    if problem.candidates_m is not None or problem.stays:
        return positions
    more = np.stack([*(positions * ON_GROUND), *further])
    allowed = problem.allowed(more) & problem.reachable(more)
    return np.concatenate([positions, more[allowed]])


def _cheapest_for_half(problem: RoundProblem) -> Array:
    """Return where a round costs least in which the cheapest half of the devices report."""
    positions = _positions(problem)
    power = problem.least_power(positions)
    sending = np.where(power <= problem.max_power_w, power * problem.max_delay_s, np.inf)
    half = np.sort(sending, axis=1)[:, : math.ceil(len(problem) / 2)].sum(axis=1)
    staying = problem.movement.staying_j(positions[:, 2])
    flight = problem.movement_j(positions).total - staying
    return positions[int(np.argmin(half + staying + flight / SERVING_ROUNDS))]


# --- runs -----------------------------------------------------------------------------------------


def train(network: str, bill: str, seed: int, rounds: int, *rule: str | float) -> Record:
    """Run one rule on one network; return what it cost to reach the targets."""
    chosen = Rule(*rule)  # type: ignore[arg-type]  # from a file's fields
    settings = [f"seed={seed}", *BILLS[bill]]
    start_m = geometry.server_start(network_scenario(network, settings))
    register_method(fixed_rule(*chosen, start_m))
    scenario = network_scenario(network, [*settings, "method=fixed-rule"])
    recorded = run_to_targets(scenario, parse_targets(TARGETS), rounds=rounds)
    key = {"network": network, "bill": bill, "seed": seed, "rounds": rounds}
    return {**key, **chosen._asdict(), **_costs(recorded)}


def _costs(recorded: Run) -> Record:
    """Return joules and seconds to the targets, and how the run went until it ended."""
    results = target_results(recorded.start, recorded.rounds, parse_targets(TARGETS))
    if recorded.end is not None and recorded.end["status"] == "diverged":
        results = [{**result, **dict.fromkeys(MEASURES)} for result in results]
    present = [len(event["devices"]) for event in recorded.rounds]
    active = [len(event["active"]) for event in recorded.rounds]
    return {
        "targets": {
            target: {measure: result[measure] for measure in ("round", *MEASURES)}
            for target, result in zip(TARGETS, results, strict=True)
        },
        "run_rounds": len(recorded.rounds),
        "top3": recorded.rounds[-1]["metrics"]["top3"] if recorded.rounds else None,
        "active": sum(active) / max(1, sum(present)),
        "fallbacks": sum(event["plan"]["fallback"] is not None for event in recorded.rounds),
    }


def run_all(args: argparse.Namespace) -> None:
    """Run every rule with the first seeds, then the best with all durations and seeds."""
    key = ("network", "bill", "seed", "rounds", *Rule._fields)
    seeds = range(args.first_seed, args.first_seed + args.seeds)
    first_seeds = seeds[: args.first]
    grid = islice(product(PLACES, ITERATIONS, SHARES), args.rules)
    rules = [Rule(*cells) for cells in grid]
    cells = [*product(args.networks, args.bills)]
    everywhere = [
        (*cell, seed, args.rounds, *rule) for seed, cell, rule in product(first_seeds, cells, rules)
    ]
    run_missing(args.file, train, everywhere, key, args.jobs)
    best = [
        (*cell, seed, args.rounds, *rule._replace(duration=duration))
        for cell in cells
        for rule in best_rules(_of_cell(read(args.file), *cell), args.refined, first_seeds)
        for duration, seed in product(DURATIONS, seeds)
    ]
    run_missing(args.file, train, best, key, args.jobs)


# --- the table ------------------------------------------------------------------------------------


def _of_cell(records: Sequence[Record], network: str, bill: str) -> list[Record]:
    return [r for r in records if (r["network"], r["bill"]) == (network, bill)]


def medians(records: Sequence[Record], target: str, measure: str) -> dict[Rule, float]:
    """Return each rule's median over the seeds, of rules that have been run with all seeds."""
    costs: Mapping[Rule, list[float]] = defaultdict(list)
    for record in records:
        cost = record["targets"][target][measure]
        rule = Rule(*(record[name] for name in Rule._fields))
        costs[rule].append(math.inf if cost is None else cost)
    seeds = max(map(len, costs.values()), default=0)
    return {rule: statistics.median(c) for rule, c in costs.items() if len(c) == seeds}


def best_rules(records: Sequence[Record], count: int, seeds: Sequence[int]) -> list[Rule]:
    """Return the best rules with the scenario's limit, so many by the joules to each target."""
    records = [r for r in records if r["duration"] == 1 and r["seed"] in seeds]
    chosen: dict[Rule, None] = {}
    for target in TARGETS:
        values = medians(records, target, "joules")
        reached = [rule for rule, value in values.items() if math.isfinite(value)]
        chosen |= dict.fromkeys(sorted(reached, key=lambda rule: values[rule])[:count])
    return list(chosen)


def rows(records: Sequence[Record]) -> Iterator[str]:
    """Yield the best rule of each network and bill, within the scenario's time limit and beyond."""
    yield "| network | bill | to | best rule | median | seeds | best rule, any limit | median |"
    yield "|---|---|---|---|---:|---:|---|---:|"
    for (network, bill), target, measure in product(product(NAMES, BILLS), TARGETS, MEASURES):
        cell = _of_cell(records, network, bill)
        if not cell:
            continue
        values = medians(cell, target, measure)
        within = {rule: value for rule, value in values.items() if rule.duration <= 1}
        best, at_all = (_best(chosen, measure) for chosen in (within, values))
        seeds = len({record["seed"] for record in cell})
        yield f"| {network} | {bill} | {target} | {best} | {seeds} | {at_all} |"


def _best(values: Mapping[Rule, float], measure: str) -> str:
    rule = min(values, key=lambda rule: values[rule])
    if math.isinf(values[rule]):
        return f"none gets there | – {measure}"
    text = f"{rule.place}, {rule.iterations} iterations, {rule.share:.0%}, {rule.duration:g}×"
    return f"{text} | {values[rule]:.3g} {'J' if measure == 'joules' else 's'}"


def main() -> None:
    """Run, or print the table."""
    parser = argument_parser(__doc__, seeds=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=1, help="seeds with which all rules run")
    parser.add_argument("--networks", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--bills", nargs="+", choices=BILLS, default=("paper", "protocol"))
    parser.add_argument("--rounds", type=int, default=30, help="after which a run ends")
    parser.add_argument("--refined", type=int, default=2, help="rules that run with all seeds")
    parser.add_argument("--rules", type=int, help="only so many rules, to try this out")
    args = parser.parse_args()
    if args.action == "run":
        run_all(args)
    print("\n".join(rows(read(args.file))))


if __name__ == "__main__":
    main()
