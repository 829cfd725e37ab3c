r"""Write the figures that the studio's introduction shows, from recorded runs.

    scdn compare examples/wildfire.toml --methods mission,sc-dn,max-vfl,gsp,vafl,zoc \
        --seeds 10 --target top3=95 --target top3=97 --out runs/wildfire
    scdn compare examples/smart-grid.toml --methods mission,sc-dn,max-vfl,gsp,vafl \
        --seeds 10 --target top3=95 --target top3=97 --out runs/smart-grid
    python web/introduction_data.py record runs/wildfire runs/smart-grid
    python web/introduction_data.py figures

`record` keeps what is needed of these runs in docs/results/introduction.jsonl, one run a line;
`figures` computes web/src/introduction/figures.json from that file.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from scdn.record.run_reader import Run, find_runs
from scdn.record.target_results import target_results
from scdn.targets import parse_targets

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "results" / "introduction.jsonl"
FIGURES = ROOT / "web" / "src" / "introduction" / "figures.json"

TARGETS = ("top3=95", "top3=97")
METHODS = ("mission", "sc-dn", "max-vfl", "gsp", "vafl")
KEEPING, FORGETTING = "sc-dn", "zoc"  # they differ only in what they keep of departed devices
SHOWN_SEED = 1  # the scenario's own
CLEARLY = 1.01  # a pair of runs within 1 % is a tie

Record = dict[str, Any]


# --- from runs to docs/results --------------------------------------------------------------------


def record(run: Run) -> Record:
    """Return what a run cost until its targets; of SC-DN and ZOC also scores and departures."""
    results = target_results(run.start, run.rounds, parse_targets(TARGETS))
    kept = {
        "network": run.scenario["name"],
        "method": run.method,
        "seed": run.seed,
        "targets": {
            target: {name: result[name] for name in ("round", "joules", "seconds")}
            for target, result in zip(TARGETS, results, strict=True)
        },
    }
    if run.scenario["name"] == "wildfire" and run.method in (KEEPING, FORGETTING):
        kept |= _departures(run)
    return kept


def _departures(run: Run) -> Record:
    shock = run.scenario["churn"]["shocks"][0]
    burning = run.rounds[shock["round"]]
    return {
        "report_bits": max(device["bits_sent"] for device in run.rounds[0]["devices"]),
        "top3": [round(event["metrics"]["top3"], 2) for event in run.rounds],
        "future_top3": [_future_score(event) for event in run.rounds],
        "exited": [event["exited"] for event in run.rounds],
        "fire": {name: shock[name] for name in ("round", "centre_m", "radius_m")},
        "at_fire": {
            "region_m": run.scenario["region_m"],
            "server_m": [round(x, 1) for x in burning["server"]["position_m"]],
            "devices": [
                {"id": device["id"], "position_m": [round(x, 1) for x in device["position_m"]]}
                for device in burning["devices"]
            ],
        },
    }


def _future_score(event: Record) -> float | None:
    """Return the score of events that departed devices never saw; None before the first exit."""
    future = event["metrics"].get("future")
    return None if future is None else round(future["top3"], 2)


# --- from docs/results to the page ----------------------------------------------------------------


def figures(records: Sequence[Record]) -> Record:
    """Return what the introduction shows."""
    shown = next(r for r in records if r["method"] == KEEPING and r["seed"] == SHOWN_SEED)
    return {
        "report_bits": shown["report_bits"],
        "departure": _departure_figures(records),
        "networks": {
            network: {target: _costs(records, network, target) for target in TARGETS}
            for network in ("wildfire", "smart-grid")
        },
    }


def _departure_figures(records: Sequence[Record]) -> Record:
    runs = {
        (r["method"], r["seed"]): r for r in records if r["network"] == "wildfire" and "top3" in r
    }
    kept, forgotten = runs[KEEPING, SHOWN_SEED], runs[FORGETTING, SHOWN_SEED]
    if kept["exited"] != forgotten["exited"]:
        raise ValueError("both runs must lose the same devices")
    seeds = sorted(seed for method, seed in runs if method == KEEPING)
    return {
        "kept": kept["top3"],
        "kept_future": kept["future_top3"],
        "forgotten": forgotten["top3"],
        "exited": kept["exited"],
        "fire": kept["fire"],
        **kept["at_fire"],
        "runs": len(seeds),
        "mean_change": {  # points in a round in which a device leaves
            name: round(statistics.mean(_changes(runs[method, seed] for seed in seeds)), 2)
            for name, method in (("kept", KEEPING), ("forgotten", FORGETTING))
        },
    }


def _changes(runs: Iterable[Record]) -> list[float]:
    """Return by how much the score changed in each round in which someone left."""
    return [
        after - before
        for run in runs
        for before, after, exited in zip(
            run["top3"], run["top3"][1:], run["exited"][1:], strict=False
        )
        if exited
    ]


def _costs(records: Sequence[Record], network: str, target: str) -> list[Record]:
    """Return what each method's runs cost until a target: medians, and pairs with the mission's.

    A run that misses the target costs infinitely much; a median that is infinite is null.
    """
    costs = []
    mission = _by_seed(records, network, "mission", target, "joules")
    for method in METHODS:
        joules = _by_seed(records, network, method, target, "joules")
        seconds = _by_seed(records, network, method, target, "seconds")
        costs.append(
            {
                "method": method,
                "runs": len(joules),
                "reached": sum(map(math.isfinite, joules.values())),
                "joules": _finite_median(joules.values()),
                "seconds": _finite_median(seconds.values()),
                "cheaper": sum(joules[seed] < mission[seed] / CLEARLY for seed in joules),
                "dearer": sum(joules[seed] > mission[seed] * CLEARLY for seed in joules),
            }
        )
    return costs


def _by_seed(
    records: Sequence[Record], network: str, method: str, target: str, measure: str
) -> dict[int, float]:
    costs = {
        r["seed"]: r["targets"][target][measure]
        for r in records
        if (r["network"], r["method"]) == (network, method)
    }
    return {seed: math.inf if cost is None else cost for seed, cost in costs.items()}


def _finite_median(values: Iterable[float]) -> float | None:
    median = statistics.median(values)
    return round(median, 3) if math.isfinite(median) else None


def read_records(path: Path = RESULTS) -> list[Record]:
    """Return the recorded results."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def figures_text(records: Sequence[Record]) -> str:
    """Return the file that the page includes."""
    return json.dumps(figures(records), indent=1, allow_nan=False) + "\n"


def main() -> None:
    """Record runs, or write the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=("record", "figures"))
    parser.add_argument("runs", nargs="*", type=Path, help="folders of runs to record")
    args = parser.parse_args()
    if args.action == "record":
        lines = [json.dumps(record(run)) for run in find_runs(args.runs)]
        RESULTS.write_text("\n".join(lines) + "\n")
    else:
        FIGURES.write_text(figures_text(read_records()))


if __name__ == "__main__":
    main()
