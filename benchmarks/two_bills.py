"""Run the same networks by the paper's bill and by the protocol's, and print both bills.

    python benchmarks/two_bills.py run results.jsonl --seeds 3 --jobs 2
    python benchmarks/two_bills.py table results.jsonl

SC-DN with the product's learning on the fixed networks in `benchmarks/networks`. By the paper's
bill a device sends its model, the server's sending and computing are free, and the server knows the
embeddings of everybody who is present. `run` appends to the file and skips what is in it.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

from network_runs import network_scenario, run_once
from result_file import Record, run_missing, run_or_show

NAMES = ("paper-static", "paper-dynamic", "wildfire", "smart-grid")
BILLS = {
    "paper": (
        'learning.payload="model"',
        'learning.unheard="known"',
        "server.transmit_w=0",
        "server.cpu_hz=0",
    ),
    "protocol": (),
    "protocol, 4 bits": ("learning.number_bits=4",),
}
TERMS = (
    "movement_j",
    "processing_j",
    "transmission_j",
    "server_transmission_j",
    "server_compute_j",
)


def train(network: str, bill: str, seed: int) -> Record:
    """Run one scenario; return its score and its bill."""
    recorded = run_once(network_scenario(network, [f"seed={seed}", *BILLS[bill]]))
    end = recorded.end or {}
    energy = end["energy"]
    heights = [event["server"]["position_m"][2] for event in recorded.rounds]
    active = [
        len(event["active"]) / len(event["devices"])
        for event in recorded.rounds
        if event["devices"]
    ]
    return {
        "network": network,
        "bill": bill,
        "seed": seed,
        "top3": end["metrics"]["top3"],
        "active": statistics.mean(active),
        "height_m": statistics.mean(heights),
        "seconds": energy["latency_s"],
        "up_bits": energy["bits_sent"],
        "down_bits": energy["bits_received"],
        **{term: energy[term] for term in (*TERMS, "total_j")},
    }


def run_all(path: Path, seeds: int, jobs: int) -> None:
    """Run what the file does not have yet, and append it."""
    wanted = ((network, bill, seed) for seed, bill, network in product(range(seeds), BILLS, NAMES))
    run_missing(path, train, wanted, ("network", "bill", "seed"), jobs)


def rows(records: Sequence[Record]) -> Iterator[str]:
    """Yield a table of means over the seeds."""
    terms = [term.removesuffix("_j").replace("_", " ") for term in TERMS]
    yield (
        "| network | bill | top-3 | active | height (m) | Mbit up | Mbit down | s | J | "
        + " | ".join(terms)
        + " |"
    )
    yield "|---|---|" + "---:|" * (7 + len(terms))
    for network, bill in product(NAMES, BILLS):
        chosen = [r for r in records if (r["network"], r["bill"]) == (network, bill)]
        if chosen:
            yield _row(network, bill, chosen)


def _row(network: str, bill: str, records: Sequence[Record]) -> str:
    def mean(name: str) -> float:
        return statistics.mean(record[name] for record in records)

    cells = [
        f"{mean('top3'):.1f}",
        f"{100 * mean('active'):.0f} %",
        f"{mean('height_m'):.0f}",
        f"{mean('up_bits') / 1e6:.0f}",
        f"{mean('down_bits') / 1e6:.0f}",
        f"{mean('seconds'):.0f}",
        *(f"{mean(term):.3g}" for term in ("total_j", *TERMS)),
    ]
    return f"| {network} | {bill} | " + " | ".join(cells) + " |"


def main() -> None:
    """Run, or print the table."""
    run_or_show(__doc__, run_all, rows, seeds=3)


if __name__ == "__main__":
    main()
