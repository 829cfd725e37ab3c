"""Compare all methods by the joules and seconds they take to a target, on equal terms.

    python benchmarks/mission_study.py run study.jsonl --seeds 10 --jobs 2
    python benchmarks/mission_study.py table study.jsonl --picture curves.png

Networks are the fixed ones of `benchmarks/networks` by both bills, and `--real` those of `examples`
by their own prices. Every method has the product's learning, the same rows and the same server
steps per round; rivals take SC-DN's mean iterations of the same seed, at the least clock and power.
A run that does not reach a target counts as infinite. `run` appends to the file and skips what is
in it; runs of SC-DN are kept in `--work`, since rivals need them. Other rivals' runs end when they
have reached all targets.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import accumulate, product
from pathlib import Path

import numpy as np
from network_runs import network_scenario, run_once, run_to_targets
from result_file import Record, argument_parser, read, run_missing
from two_bills import BILLS, NAMES

from scdn.arrays import Array
from scdn.job_pool import PoolJob, run_jobs
from scdn.record.round_totals import DEVICE_TERMS, cumulative_totals, energy_terms
from scdn.record.run_reader import Run, read_run
from scdn.record.target_results import target_results
from scdn.scenario import Scenario, make_scenario, read_scenario
from scdn.simulation.compare import run_or_resume
from scdn.simulation.runner import REFERENCE_METHOD
from scdn.targets import parse_targets

TARGETS = dict.fromkeys(NAMES, ("top3=95", "top3=97"))
REAL = {"wildfire-real": "wildfire", "smart-grid-real": "smart-grid", "building": "building"}
TARGETS |= {"wildfire-real": ("top3=95", "top3=97"), "smart-grid-real": ("top3=95", "top3=97")}
TARGETS["building"] = ("macro_f1=0.7", "macro_f1=0.8")
METHODS = ("mission", "oort", "gsp-matched", "max-vfl-matched", "vafl-matched")
EXAMPLES = Path(__file__).parent.parent / "examples"


def scenario_of(network: str, bill: str, seed: int, method: str, *further: str) -> Scenario:
    """Return the scenario of one run, with some further settings."""
    targets = ",".join(f'"{target}"' for target in TARGETS[network])
    settings = [f"seed={seed}", f"method={method}", f"targets=[{targets}]", *further]
    if network in REAL:
        return read_scenario(EXAMPLES / f"{REAL[network]}.toml", settings)
    return network_scenario(network, [*settings, *BILLS[bill]])


def train(work: Path, network: str, bill: str, seed: int, method: str) -> Record:
    """Run one method; return what it cost to reach the targets, and its curve until then."""
    scenario = scenario_of(network, bill, seed, method)
    if method == REFERENCE_METHOD:
        recorded = read_run(reference_run(work, network, bill, seed))
    elif method == "mission":
        recorded = run_once(scenario)
    else:
        reference = reference_run(work, network, bill, seed)
        recorded = run_to_targets(scenario, parse_targets(TARGETS[network]), reference=reference)
    key = {"network": network, "bill": bill, "seed": seed, "method": method}
    return {**key, **_costs(recorded, TARGETS[network])}


def reference_run(work: Path, network: str, bill: str, seed: int) -> Path:
    """Return the folder of SC-DN's run, which is made if it is missing."""
    scenario = scenario_of(network, bill, seed, REFERENCE_METHOD)
    return run_or_resume(scenario, work / f"{network}-{bill}-{seed}")


def _costs(recorded: Run, targets: Sequence[str]) -> Record:
    wanted = parse_targets(targets)
    results = target_results(recorded.start, recorded.rounds, wanted)
    diverged = recorded.end is not None and recorded.end["status"] == "diverged"
    measures = ("round", "joules", "seconds", "bits")
    totals, metric = cumulative_totals(recorded.rounds), wanted[0].metric
    priced = list(accumulate(_priced_j(recorded)))
    for result in results:
        result["priced_j"] = None if result["round"] is None else priced[result["round"]]
    return {
        "targets": {
            target: {name: None if diverged else result[name] for name in (*measures, "priced_j")}
            for target, result in zip(targets, results, strict=True)
        },
        "score": recorded.rounds[-1]["metrics"][metric] if recorded.rounds else None,
        "joules": [round(total.joules, 4) for total in totals],
        "seconds": [round(total.seconds, 3) for total in totals],
        "scores": [round(event["metrics"][metric], 3) for event in recorded.rounds],
        "mission": (recorded.end or {}).get("mission"),
    }


def _priced_j(recorded: Run) -> Iterator[float]:
    """Yield the priced joules of each round."""
    prices = make_scenario(recorded.scenario).mission_prices
    for event in recorded.rounds:
        terms = energy_terms(event)
        devices = sum(terms[term] for term in DEVICE_TERMS)
        yield prices.device * devices + prices.server * (sum(terms.values()) - devices)


def run_all(args: argparse.Namespace) -> None:
    """Run SC-DN where it is missing, then everybody else."""
    key = ("network", "bill", "seed", "method")
    networks = [(name, bill) for bill, name in product(args.bills, args.networks)]
    if args.real:
        networks = [(name, "protocol") for name in REAL]
    seeds = range(args.first_seed, args.first_seed + args.seeds)
    cells = [(*cell, seed) for seed, cell in product(seeds, networks)]
    if set(args.methods) - {"mission"}:  # rivals need it
        references = [PoolJob(str(cell), reference_run, (args.work, *cell)) for cell in cells]
        for count, _ in enumerate(run_jobs(references, workers=args.jobs), 1):
            print(f"\r{count} of {len(cells)} runs of SC-DN", end="", file=sys.stderr, flush=True)
    for methods in ((REFERENCE_METHOD,), args.methods):
        wanted = [(*cell, method) for cell, method in product(cells, methods)]
        run_missing(args.file, partial(train, args.work), wanted, key, args.jobs)


# --- tables ---------------------------------------------------------------------------------------


def costs_of(
    records: Sequence[Record], network: str, bill: str, target: str, measure: str
) -> dict[str, dict[int, float]]:
    """Return each method's cost to a target by seed; infinite where it was not reached."""
    costs: dict[str, dict[int, float]] = defaultdict(dict)
    for record in records:
        if (record["network"], record["bill"]) == (network, bill):
            cost = record["targets"][target][measure]
            costs[record["method"]][record["seed"]] = math.inf if cost is None else cost
    return costs


def ratio_interval(ours: dict[int, float], theirs: dict[int, float]) -> tuple[float, float]:
    """Return a paired 95 % interval of the ratio of medians, by a bootstrap over seeds."""
    seeds = sorted(set(ours) & set(theirs))
    a, b = np.array([ours[s] for s in seeds]), np.array([theirs[s] for s in seeds])
    draws = np.random.default_rng(0).integers(0, len(seeds), (4000, len(seeds)))
    with np.errstate(invalid="ignore"):
        ratios = np.median(a[draws], axis=1) / np.median(b[draws], axis=1)
    ratios = np.where(np.isnan(ratios), 1.0, ratios)  # neither reaches it
    low, high = np.quantile(ratios, (0.025, 0.975), method="nearest")
    return float(low), float(high)


def rows(records: Sequence[Record]) -> Iterator[str]:
    """Yield the median cost of each method to each target, and the mission's against the best."""
    present = sorted({record["method"] for record in records}, key=_order)
    yield "| network | bill | to | unit | " + " | ".join(present) + " | mission / best rival |"
    yield "|---|---|---|---|" + "---:|" * (len(present) + 1)
    for network, bill in product((*NAMES, *REAL), BILLS):
        joules = "priced_j" if network in REAL else "joules"  # elsewhere all joules are alike
        for target, measure in product(TARGETS[network], (joules, "seconds")):
            costs = costs_of(records, network, bill, target, measure)
            if not costs:
                continue
            medians = {name: float(np.median(list(c.values()))) for name, c in costs.items()}
            cells = [_cell(medians.get(name)) for name in present]
            unit = {"joules": "J", "priced_j": "priced J", "seconds": "s"}[measure]
            yield (
                f"| {network} | {bill} | {target} | {unit} | "
                + " | ".join([*cells, _against_best(costs, medians)])
                + " |"
            )


def _order(name: str) -> tuple[int, str]:
    return (0 if name == "mission" else 1 if name == REFERENCE_METHOD else 2, name)


def _cell(value: float | None) -> str:
    return "" if value is None else "–" if math.isinf(value) else f"{value:.3g}"


def _against_best(costs: dict[str, dict[int, float]], medians: dict[str, float]) -> str:
    rivals = {name: value for name, value in medians.items() if name != "mission"}
    if not rivals or "mission" not in medians or math.isinf(min(rivals.values())):
        return ""
    best = min(rivals, key=lambda name: rivals[name])
    low, high = ratio_interval(costs["mission"], costs[best])
    return f"{medians['mission'] / rivals[best]:.2f} ({low:.2f} … {high:.2f}) of {best}"


def bound_rows(records: Sequence[Record]) -> Iterator[str]:
    """Yield the mission's joules divided by its bound: median and range, to targets and in all."""
    yield "| network | bill | to the easier target | to the harder one | whole run |"
    yield "|---|---|---:|---:|---:|"
    for network, bill in product((*NAMES, *REAL), BILLS):
        missions = [
            record["mission"]
            for record in records
            if (record["network"], record["bill"], record["method"]) == (network, bill, "mission")
        ]
        if missions:
            by_target = [
                [entry for mission in missions for entry in mission["to_targets"]
                 if entry["target"] == target]
                for target in TARGETS[network]
            ]  # fmt: skip
            cells = [_times_bound(entries) for entries in (*by_target, missions)]
            yield f"| {network} | {bill} | " + " | ".join(cells) + " |"


def _times_bound(entries: Sequence[Record]) -> str:
    ratios = [e["priced_j"] / e["bound_j"] for e in entries if e["priced_j"] and e["bound_j"]]
    if not ratios:
        return "–"
    low, high = min(ratios), max(ratios)
    return f"{np.median(ratios):.2f} ({low:.2f} … {high:.2f}, {len(ratios)} runs)"


# --- the picture ----------------------------------------------------------------------------------

SHOWN = {
    "mission": "#c0392b",
    "sc-dn": "#2c5f8a",
    "gsp-matched": "#7a9e3a",
    "oort": "#8e6bb0",
    "vafl-matched": "#8a8a8a",
}


def draw(records: Sequence[Record], bill: str, path: Path) -> None:
    """Draw each method's median score against its joules, on a logarithmic scale."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(NAMES), figsize=(13, 3.6), sharey=True)
    for axis, network in zip(axes, NAMES, strict=True):
        for method, color in SHOWN.items():
            chosen = [
                (record["joules"], record["scores"])
                for record in records
                if (record["network"], record["bill"], record["method"]) == (network, bill, method)
            ]
            if chosen:
                joules, score = _median_curve(chosen)
                axis.plot(joules, score, color=color, lw=2.4 if method == "mission" else 1.4,
                          label=method.removesuffix("-matched"))  # fmt: skip
        axis.set(title=network, xscale="log", xlabel="joules", ylim=(85, 98.5))
        axis.grid(alpha=0.25)
        for value in (95, 97):
            axis.axhline(value, color="black", lw=0.6, ls=":")
    axes[0].set_ylabel("top-3 accuracy (%)")
    axes[-1].legend(loc="lower right", fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def _median_curve(curves: Sequence[tuple[list[float], list[float]]]) -> tuple[Array, Array]:
    """Return the median over seeds of the best score so far, where half of them have one.

    A run that has ended keeps its last score.
    """
    grid = np.geomspace(0.5, max(joules[-1] for joules, _ in curves), 200)
    scores = np.full((len(curves), len(grid)), np.nan)
    for row, (joules, values) in zip(scores, curves, strict=True):
        reached = np.searchsorted(joules, grid, side="right") - 1
        row[:] = np.where(reached >= 0, np.maximum.accumulate(values)[reached], np.nan)
    known = np.isfinite(scores).sum(axis=0) > len(curves) / 2
    median = np.median(np.nan_to_num(scores[:, known], nan=0.0), axis=0)
    return grid[known], median


def main() -> None:
    """Run, or print the table."""
    parser = argument_parser(__doc__, seeds=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--networks", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--bills", nargs="+", choices=BILLS, default=("paper", "protocol"))
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--real", action="store_true", help="the networks of examples instead")
    parser.add_argument("--work", type=Path, default=Path("out/mission-study"))
    parser.add_argument("--picture", type=Path, help="draw the first bill's curves to this PNG")
    args = parser.parse_args()
    if args.action == "run":
        run_all(args)
    if args.picture is not None:
        draw(read(args.file), args.bills[0], args.picture)
    records = read(args.file)
    print("\n".join([*rows(records), "", *bound_rows(records)]))


if __name__ == "__main__":
    main()
