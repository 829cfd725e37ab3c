"""Compare defences of labels: what an attacker who knows the defence finds, and the score's price.

    python benchmarks/label_privacy.py run docs/results/label-privacy.jsonl --seeds 3
    python benchmarks/label_privacy.py table docs/results/label-privacy.jsonl
    python benchmarks/label_privacy.py figure docs/results/label-privacy.jsonl PICTURE.png

Attacks read the messages of a federation in this process, as in `privacy.py`; two devices attack.
Prices are differences of runs of one seed that differ in the defence alone: of those that are
attacked, and on MNIST also of simulations with other seeds. MNIST must have been fetched.
"""

from __future__ import annotations

import math
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

from label_attacks import AdaptiveLabelAttack
from matplotlib.figure import Figure
from privacy import CLIPS, DEFENDED, EXAMPLES, NETWORKS, STEADY
from privacy_attacks import known_labels
from recorded_messages import record
from result_file import Record, mean_text, read, run_missing, run_or_show

from scdn.scenario import Scenario, read_scenario
from scdn.simulation.runner import run

NO_DEFENCE = "none"
NOISE = {f"noise {x:g}": x for x in (1.0, 2.0, 4.0)}
DRAWN = {f"drawn labels, ε = {x:g}": x for x in (1.0, 1.5, 1.75, 2.0, 3.0)}
DEFENCES = (NO_DEFENCE, *NOISE, *DRAWN)
ATTACKED = 2  # devices of a run
PRICED = "MNIST, 4 devices"  # the only one of the three on which the parties' training matters
PAIRS = 10  # seeds of a price
MORE_PAIRS = (NO_DEFENCE, "noise 1", *(f"drawn labels, ε = {x}" for x in ("1.5", "1.75", "2")))
MANY_PAIRS = 30  # seeds of their prices: these are near the goal of two points
FIRST_PAIR = 200  # its first seed; attacks have seeds from 0
LONG = "digits, 12 devices, 40 rounds"  # attacked alone: rows are drawn again and again
LONG_DEFENCES = ("noise 1", "noise 2", "drawn labels, ε = 1.5")


def scenario_of(network: str, defence: str, seed: int) -> Scenario:
    """Return the scenario of a network in which every device trains in every round."""
    rounds = ("learning.rounds=40",) if network == LONG else ()
    network = "digits, 12 devices" if network == LONG else network
    example, settings = NETWORKS[network]
    changed = (*STEADY, *settings, "learning.labels=server", *_settings(network, defence), *rounds)
    return read_scenario(EXAMPLES / example, (*changed, f"seed={seed}"))


def _settings(network: str, defence: str) -> list[str]:
    section = "learning.privacy"
    if defence in NOISE:
        clip = f"{section}.gradient_clip={CLIPS[network][1]}"
        return [clip, f"{section}.gradient_noise={NOISE[defence]}"]
    return [f"{section}.label_epsilon={DRAWN[defence]}"] if defence in DRAWN else []


def measure(kind: str, network: str, defence: str, seed: int) -> Record:
    """Return what attackers find in one federation, or the score of one simulation."""
    result: Record = {"kind": kind, "network": network, "defence": defence, "seed": seed}
    scenario = scenario_of(network, defence, seed)
    with tempfile.TemporaryDirectory() as folder:
        if kind == "score":
            end = run(scenario, Path(folder) / "run").end or {}
            return result | _bill(end)
        recorded = record(scenario, Path(folder))
        known = known_labels(recorded, seed)
        devices = [
            AdaptiveLabelAttack(recorded, name, known).results()
            for name in sorted(recorded.features)[:ATTACKED]
        ]
        return result | _bill(recorded.run.end or {}) | {"devices": devices}


def _bill(end: Record) -> Record:
    energy = end["energy"]
    entries = end.get("privacy", {}).values()
    return {
        "top1": end["metrics"]["top1"],
        "bits": energy["bits_sent"] + energy["bits_received"],
        "joules": energy["total_j"],
        "epsilon": max((entry["label_epsilon"] for entry in entries), default=None),
    }


def run_all(path: Path, seeds: int, jobs: int) -> None:
    """Run what the file does not have yet, and append it."""
    scores = (
        ("score", PRICED, defence, FIRST_PAIR + pair)
        for pair, defence in product(range(MANY_PAIRS), DEFENCES)
        if pair < PAIRS or defence in MORE_PAIRS
    )
    attacks = (
        ("attack", network, defence, seed)
        for seed, network, defence in product(range(seeds), DEFENDED, DEFENCES)
    )
    attacks = (*attacks, *(("attack", LONG, defence, 0) for defence in LONG_DEFENCES))
    key = ("kind", "network", "defence", "seed")
    run_missing(path, measure, [*attacks, *scores], key, jobs)


# --- tables and the figure ------------------------------------------------------------------------

ATTACKS = (("few", "few_without"), ("all", "all_without"))  # with messages, and without


def select(records: Sequence[Record], kind: str, network: str, defence: str) -> list[Record]:
    """Return the records of one kind, network and defence."""
    return [
        r for r in records if (r["kind"], r["network"], r["defence"]) == (kind, network, defence)
    ]


def found(records: Sequence[Record], key: str) -> list[float]:
    """Return the labels found in each run, in percent, in the mean of its devices."""
    return [100 * statistics.mean(device[key] for device in r["devices"]) for r in records]


def price(records: Sequence[Record], network: str, defence: str) -> list[float]:
    """Return the points of top-1 that a defence costs, by seed."""
    pairs = []
    for kind in ("score", "attack"):
        before = {r["seed"]: r["top1"] for r in select(records, kind, network, NO_DEFENCE)}
        after = select(records, kind, network, defence)
        pairs += [before[r["seed"]] - r["top1"] for r in after if r["seed"] in before]
    return pairs


def with_error(values: Sequence[float]) -> str:
    """Return the mean and its standard error."""
    if len(values) < 2:
        return f"{values[0]:.1f}"
    error = statistics.stdev(values) / math.sqrt(len(values))
    return f"{statistics.mean(values):.1f} ± {error:.1f}"


def rows(records: Sequence[Record]) -> Iterator[str]:
    """Yield each defence's ε, price, bill and the labels that are still found."""
    yield (
        "| network | defence | ε | price (top-1) | Mbit | J | k-means (%) "
        "| ten of each class known (%) "
        "| own columns | all other labels known (%) | own columns |"
    )
    yield "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    for network in (*DEFENDED, LONG):
        first = network
        for defence in DEFENCES:
            scores = select(records, "score", network, defence)
            attacks = select(records, "attack", network, defence)
            if not attacks:
                continue
            epsilon = "" if attacks[0]["epsilon"] is None else f"{attacks[0]['epsilon']:.3g}"
            costs = [] if defence == NO_DEFENCE else price(records, network, defence)
            cost = with_error(costs) if costs else ""
            measured = scores or attacks
            bits, joules = (statistics.mean(r[key] for r in measured) for key in ("bits", "joules"))
            cells = [epsilon, cost, f"{bits / 1e6:.1f}", f"{joules:.0f}"]
            keys = ("one_message", *(key for pair in ATTACKS for key in pair))
            cells += [mean_text(found(attacks, key), 1) for key in keys]
            yield f"| {first} | {defence} | " + " | ".join(cells) + " |"
            first = ""


def draw(records: Sequence[Record]) -> Figure:
    """Return a panel for each network: price against what messages add to own columns."""
    figure = Figure(figsize=(10, 3.6), layout="constrained")
    for axes, network in zip(figure.subplots(1, 3), DEFENDED, strict=True):
        for name, family, colour in (
            ("noise on gradients", NOISE, "C0"),
            ("drawn labels", DRAWN, "C1"),
        ):
            points = []
            for defence, strength in family.items():
                attacks = select(records, "attack", network, defence)
                costs = price(records, network, defence)
                if attacks and costs:
                    more, less = (statistics.mean(found(attacks, key)) for key in ATTACKS[0])
                    points.append((more - less, statistics.mean(costs), strength))
            if points:
                axes.plot(
                    *zip(*[p[:2] for p in points], strict=True),
                    "o-",
                    ms=4,
                    color=colour,
                    label=name,
                )
            for x, y, strength in points:
                axes.annotate(
                    f"{strength:g}", (x, y), (3, 3), textcoords="offset points", fontsize=7
                )
        axes.axvline(5, color="0.6", ls=":", lw=1)
        axes.axhline(2, color="0.6", ls=":", lw=1)
        axes.set_title(network)
        axes.set_xlabel("labels beyond own columns (points)")
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("price (points of top-1)")
    figure.axes[0].legend(fontsize=8)
    return figure


def main() -> None:
    """Run, print the table or draw the figure."""
    if len(sys.argv) == 4 and sys.argv[1] == "figure":
        draw(read(Path(sys.argv[2]))).savefig(sys.argv[3], dpi=150)
        return
    run_or_show(__doc__, run_all, rows, seeds=3)


if __name__ == "__main__":
    main()
