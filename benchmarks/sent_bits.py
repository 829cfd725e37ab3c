"""Measure what fewer bits per number cost, and what sending whole tables buys after exits.

    python benchmarks/sent_bits.py run results.jsonl --seeds 10 --jobs 2
    python benchmarks/sent_bits.py table results.jsonl

SC-DN on two of the fixed networks in `benchmarks/networks`, with the product's defaults and labels
on the server, so that gradients are sent as well. *Known* scores use embeddings of test rows that
departed devices had made before they left, *later* ones impute them. `run` appends to the file and
skips what is in it.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

from network_runs import network_scenario, run_once
from result_file import Record, mean_text, run_missing, run_or_show

NAMES = ("paper-dynamic", "wildfire")
VARIANTS = {
    "32 bits": ("learning.number_bits=32",),
    "16 bits": ("learning.number_bits=16",),
    "8 bits": ("learning.number_bits=8",),
    "4 bits": ("learning.number_bits=4",),
    "2 bits": ("learning.number_bits=2",),
    "4 bits, table in 10 reports": ("learning.number_bits=4", "learning.table_rounds=10"),
    "4 bits, table if survival < 0.98": (
        "learning.number_bits=4",
        "learning.table_rounds=10",
        "learning.table_survival=0.98",
    ),
}


def train(network: str, variant: str, seed: int) -> Record:
    """Run one scenario; return its scores and its bill."""
    settings = [f"seed={seed}", "learning.labels=server", *VARIANTS[variant]]
    recorded = run_once(network_scenario(network, settings))
    end = recorded.end or {}
    metrics, energy = end["metrics"], end["energy"]
    reports = sum(
        device["bits_sent"] > 0 for event in recorded.rounds for device in event["devices"]
    )
    return {
        "network": network,
        "variant": variant,
        "seed": seed,
        "status": end["status"],
        "known": metrics["top3"],
        "later": metrics.get("future", metrics)["top3"],
        "departed": sum(len(event["exited"]) for event in recorded.rounds),
        "up_bits": energy["bits_sent"] / max(1, reports),
        "down_bits": energy["bits_received"] / max(1, reports),
        "joules": energy["total_j"],
        "transmission_j": energy["transmission_j"],
        "movement_j": energy["movement_j"],
    }


def run_all(path: Path, seeds: int, jobs: int) -> None:
    """Run what the file does not have yet, and append it."""
    wanted = (
        (network, variant, seed)
        for seed, variant, network in product(range(seeds), VARIANTS, NAMES)
    )
    run_missing(path, train, wanted, ("network", "variant", "seed"), jobs)


def rows(records: Sequence[Record]) -> Iterator[str]:
    """Yield a table: top-3 on known and later samples, and bits and joules per run."""
    yield "| network | sent | seeds | known | later | kbit up | kbit down | J | diverged |"
    yield "|---|---|---:|---:|---:|---:|---:|---:|---:|"
    for network, variant in product(NAMES, VARIANTS):
        chosen = [r for r in records if (r["network"], r["variant"]) == (network, variant)]
        if not chosen:
            continue
        known, later = (mean_text([r[name] for r in chosen], 2) for name in ("known", "later"))
        bits = [statistics.mean(r[name] for r in chosen) / 1e3 for name in ("up_bits", "down_bits")]
        joules = statistics.mean(r["joules"] for r in chosen)
        diverged = sum(r["status"] != "done" for r in chosen)
        yield (
            f"| {network} | {variant} | {len(chosen)} | {known} | {later} "
            f"| {bits[0]:.0f} | {bits[1]:.0f} | {joules:.0f} | {diverged} |"
        )


def main() -> None:
    """Run, or print the table."""
    run_or_show(__doc__, run_all, rows, seeds=10)


if __name__ == "__main__":
    main()
