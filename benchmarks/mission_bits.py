"""Measure what the bits per number do to a mission: fixed ones, and chosen in every round.

    python benchmarks/mission_bits.py run results.jsonl --seeds 3 --jobs 2
    python benchmarks/mission_bits.py table results.jsonl

The method `mission` on two of the fixed networks in `benchmarks/networks`, by the protocol's bill.
`run` appends to the file and skips what is in it.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

from network_runs import network_scenario, run_once
from result_file import Record, run_missing, run_or_show

NAMES = ("paper-dynamic", "wildfire")
VARIANTS = {"32": "[32]", "8": "[8]", "4": "[4]", "2": "[2]", "chosen": "[]"}
TARGETS = ("top3=95", "top3=97")
FIRST_ROUNDS = 4


def train(network: str, bits: str, seed: int) -> Record:
    """Run one mission; return what it cost to reach the targets, and its first losses."""
    targets = ",".join(f'"{target}"' for target in TARGETS)
    settings = [f"seed={seed}", "method=mission", f"targets=[{targets}]"]
    recorded = run_once(network_scenario(network, [*settings, f"mission.bits={VARIANTS[bits]}"]))
    end = recorded.end or {}
    return {
        "network": network,
        "bits": bits,
        "seed": seed,
        "joules": [target["joules"] for target in end["targets"]],
        "top3": end["metrics"]["top3"],
        "first_losses": [e["metrics"]["test_loss"] for e in recorded.rounds[:FIRST_ROUNDS]],
        "number_bits": sorted({event["plan"]["number_bits"] for event in recorded.rounds}),
    }


def run_all(path: Path, seeds: int, jobs: int) -> None:
    """Run what the file does not have yet, and append it."""
    wanted = (
        (network, bits, seed) for seed, bits, network in product(range(seeds), VARIANTS, NAMES)
    )
    run_missing(path, train, wanted, ("network", "bits", "seed"), jobs)


def rows(records: Sequence[Record]) -> Iterator[str]:
    """Yield a table: joules to the targets, the last score, and progress against that of 32 bits.

    Progress is the third power of the inverse loss, as in a mission's forecast.
    """
    first = " | ".join(f"progress {number}" for number in range(1, FIRST_ROUNDS + 1))
    yield f"| network | bits | seeds | J to 95 % | J to 97 % | top-3 | {first} |"
    yield "|---|---|---:|---:|---:|---:|" + "---:|" * FIRST_ROUNDS
    losses = {(r["network"], r["bits"], r["seed"]): r["first_losses"] for r in records}
    for network, bits in product(NAMES, VARIANTS):
        chosen = [r for r in records if (r["network"], r["bits"]) == (network, bits)]
        if not chosen:
            continue
        joules = [
            statistics.median([r["joules"][n] or float("inf") for r in chosen]) for n in (0, 1)
        ]
        ratios = [
            statistics.geometric_mean(
                (losses[network, "32", r["seed"]][n] / r["first_losses"][n]) ** 3 for r in chosen
            )
            for n in range(FIRST_ROUNDS)
        ]
        cells = " | ".join(f"{ratio:.2f}" for ratio in ratios)
        yield (
            f"| {network} | {bits} | {len(chosen)} | {joules[0]:.2f} | {joules[1]:.1f} "
            f"| {statistics.mean(r['top3'] for r in chosen):.2f} | {cells} |"
        )


def main() -> None:
    """Run, or print the table."""
    run_or_show(__doc__, run_all, rows, seeds=3)


if __name__ == "__main__":
    main()
