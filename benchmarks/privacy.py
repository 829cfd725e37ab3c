"""Attack the messages of federations, and print what can be inferred from them.

    python benchmarks/privacy.py run docs/results/privacy.jsonl --seeds 3
    python benchmarks/privacy.py table docs/results/privacy.jsonl

Server and devices run in this process and exchange the bytes that `scdn federate` sends; attacks
read only these (`privacy_attacks.py`). Up to three devices of each run are attacked, or attack.
`run` appends to the file and skips what is in it. MNIST must have been fetched.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

from privacy_attacks import (
    LabelAttack,
    inverted_share,
    inverted_share_after,
    known_labels,
    mean_share,
    membership_auc,
    ridge_r2,
)
from recorded_messages import RecordedFederation, record
from result_file import Record, mean_text, run_missing, run_or_show

from scdn.scenario import Scenario, read_scenario

EXAMPLES = Path(__file__).parents[1] / "examples"
STEADY = ("churn.exits=false", "churn.entry_rate=0", "method=sc-dn-greedy", "max_delay_s=100")
DIGITS = ("learning.rounds=10",)
NETWORKS = {  # an example, and its settings
    "digits, 4 devices": ("quick.toml", (*DIGITS, "fleet.0.count=4")),
    "digits, 12 devices": ("quick.toml", (*DIGITS, "fleet.0.count=12")),
    "occupancy, 7 devices": ("building.toml", ("learning.rounds=10", "learning.number_bits=32")),
    "MNIST, 4 devices": (
        "quick.toml",
        (
            *("learning.dataset=mnist", "learning.rounds=10", "fleet.0.count=4"),
            "fleet.0.flops_per_cycle=0.0066",
        ),
    ),
}
NO_DEFENCE = "none"  # and initial weights from the run's seed
CLIPS = {  # of embeddings and gradients: about the median lengths in undefended runs
    "digits, 4 devices": (4.0, 0.1),
    "digits, 12 devices": (5.5, 0.06),
    "occupancy, 7 devices": (1.7, 0.9),
    "MNIST, 4 devices": (2.2, 0.2),
}
GRADIENT_NOISE = {f"noise {x:g} on gradients": x for x in (0.5, 1.0, 2.0, 4.0, 100.0)}
EMBEDDING_NOISE = {f"noise {x:g} on embeddings": x for x in (0.03, 0.1, 0.3, 1.0)}
BITS = {f"{bits} bits": bits for bits in (8, 4, 2)}
DEFENDED_SEEDS = 1
OWN_WEIGHTS = "own initial weights"
DEFENCES = (NO_DEFENCE, OWN_WEIGHTS, *GRADIENT_NOISE, *EMBEDDING_NOISE, *BITS)
DEFENDED = ("digits, 12 devices", "occupancy, 7 devices", "MNIST, 4 devices")
SLOW = ("MNIST, 4 devices",)  # one seed
ATTACKED = 3  # devices of a run
STARTS = 3  # of a device whose weights a server knows


def scenario_of(network: str, defence: str, seed: int) -> Scenario:
    """Return the scenario of a network in which every device trains in every round."""
    example, settings = NETWORKS[network]
    changed = (*STEADY, *settings, *_defence_settings(network, defence), f"seed={seed}")
    return read_scenario(EXAMPLES / example, changed)


def _defence_settings(network: str, defence: str) -> list[str]:
    embedding_clip, gradient_clip = CLIPS[network]
    section = "learning.privacy"
    if defence in GRADIENT_NOISE:
        noise = f"{section}.gradient_noise={GRADIENT_NOISE[defence]}"
        return ["learning.labels=server", f"{section}.gradient_clip={gradient_clip}", noise]
    if defence in EMBEDDING_NOISE:
        noise = f"{section}.embedding_noise={EMBEDDING_NOISE[defence]}"
        return [f"{section}.embedding_clip={embedding_clip}", noise]
    return [f"learning.number_bits={BITS[defence]}"] if defence in BITS else []


def attack(network: str, defence: str, seed: int) -> Record:
    """Run one federation; return its score, its bill and what the attacks find."""
    with tempfile.TemporaryDirectory() as folder:
        scenario, own_weights = scenario_of(network, defence, seed), defence == OWN_WEIGHTS
        recorded = record(scenario, Path(folder), own_weights=own_weights)
        end = recorded.run.end or {}
        names = sorted(recorded.features)[: ATTACKED if defence == NO_DEFENCE else 2]
        by_device = [
            (_attack_labels(recorded, name, seed) if defence not in EMBEDDING_NOISE else {})
            | (_attack_features(recorded, name, defence) if defence not in GRADIENT_NOISE else {})
            for name in names
        ]
    energy = end["energy"]
    return {
        "network": network,
        "defence": defence,
        "seed": seed,
        "rounds": len(recorded.run.rounds),
        "top1": end["metrics"]["top1"],
        "bits": energy["bits_sent"] + energy["bits_received"],
        "joules": energy["total_j"],
        "membership": membership_auc(recorded),
        "epsilon": _largest_epsilon(end.get("privacy", {})),
        "devices": by_device,
    }


def _largest_epsilon(privacy: Record) -> float | None:
    entries = [entry for device in privacy.values() for entry in device.items()]
    return max((value for name, value in entries if name.endswith("_epsilon")), default=None)


def _attack_labels(recorded: RecordedFederation, device: str, seed: int) -> Record:
    attack = LabelAttack(recorded, device, known_labels(recorded, seed))
    return {
        "one_message": attack.from_one_message(),
        "clustered_features": attack.from_features_by_clustering(),
        "known_labels": attack.from_features_and_messages(),
        "known_labels_features": attack.from_features(),
        "all_labels_features": attack.from_features_with_all_labels(),
    }


def _attack_features(recorded: RecordedFederation, device: str, defence: str) -> Record:
    ridge, ridge_without = ridge_r2(recorded, device)
    features = recorded.features[device]
    few_columns = features.shape[1] <= STARTS * recorded.width  # else inputs are not determined
    starts = STARTS if few_columns and defence == NO_DEFENCE else 0
    return {
        "columns": features.shape[1],
        "inverted": inverted_share(recorded, device) if few_columns else None,
        "inverted_without": mean_share(features),
        "inverted_after_starts": inverted_share_after(recorded, device, starts) if starts else None,
        "ridge": ridge,
        "ridge_without": ridge_without,
    }


def run_all(path: Path, seeds: int, jobs: int) -> None:
    """Run what the file does not have yet, and append it."""
    wanted = (
        (network, defence, seed)
        for seed, defence, network in product(range(seeds), DEFENCES, NETWORKS)
        if defence == NO_DEFENCE or (network in DEFENDED and seed < DEFENDED_SEEDS)
        if network not in SLOW or (seed == 0 and defence in (NO_DEFENCE, *GRADIENT_NOISE))
    )
    run_missing(path, attack, wanted, ("network", "defence", "seed"), jobs)


# --- tables -----------------------------------------------------------------------------------

ATTACKS = {  # what is inferred: with messages, without them, and the unit
    "labels, k-means on one message (%)": ("one_message", "clustered_features", 100),
    "labels, ten of each class known (%)": ("known_labels", "known_labels_features", 100),
    "rows within 0.1 sd, from the first table (%)": ("inverted", "inverted_without", 100),
    "rows within 0.1 sd, three starts (%)": ("inverted_after_starts", "inverted_without", 100),
    "features by ridge, 200 rows known (R²)": ("ridge", "ridge_without", 1),
}


def rows(records: Sequence[Record]) -> Iterator[str]:
    """Yield two tables: leaks without a defence, and what each defence takes and gives."""
    yield from leak_rows(records)
    yield ""
    yield from defence_rows(records)


def leak_rows(records: Sequence[Record]) -> Iterator[str]:
    """Yield what each attack finds without a defence, and as much without messages."""
    yield "| network | seeds | what is inferred | from messages | without them |"
    yield "|---|---:|---|---:|---:|"
    for network in NETWORKS:
        chosen = select(records, network, NO_DEFENCE)
        first = network
        for title, (key, without, unit) in ATTACKS.items():
            values, others = (device_means(chosen, k, unit) for k in (key, without))
            if values:
                digits = 1 if unit == 100 else 2
                texts = f"{mean_text(values, digits)} | {mean_text(others, digits)}"
                yield f"| {first} | {len(values)} | {title} | {texts} |"
                first = ""
        if chosen:
            auc = mean_text([record["membership"] for record in chosen], 2)
            yield f"| {first} | {len(chosen)} | membership by the loss (AUC) | {auc} | 0.50 |"


def defence_rows(records: Sequence[Record]) -> Iterator[str]:
    """Yield score, bits, joules and ε of each defence, and what is still inferred.

    Labels are those that a device finds that knows ten of each class, and the same without
    messages. All are of the first seed.
    """
    yield (
        "| network | defence | top-1 | Mbit | J | ε | labels (%) | by own columns "
        "| rows within 0.1 sd (%) | ridge R² |"
    )
    yield "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|"
    for network in DEFENDED:
        first = network
        for defence in DEFENCES:
            for result in select(records, network, defence)[:1]:
                epsilon = "" if result.get("epsilon") is None else f"{result['epsilon']:.3g}"
                inferred = [
                    _text(device_means([result], key, unit), digits)
                    for key, unit, digits in (
                        ("known_labels", 100, 1),
                        ("known_labels_features", 100, 1),
                        ("inverted", 100, 1),
                        ("ridge", 1, 2),
                    )
                ]
                bill = f"{result['bits'] / 1e6:.1f} | {result['joules']:.0f}"
                score = f"{result['top1']:.1f}"
                yield f"| {first} | {defence} | {score} | {bill} | {epsilon} | " + (
                    " | ".join(inferred) + " |"
                )
                first = ""


def select(records: Sequence[Record], network: str, defence: str) -> list[Record]:
    """Return the records of a network and a defence."""
    return [r for r in records if (r["network"], r["defence"]) == (network, defence)]


def device_means(records: Sequence[Record], key: str, unit: float = 1) -> list[float]:
    """Return the mean over the attacked devices of each run, of those that have a value."""
    by_run = ([d[key] for d in r["devices"] if d.get(key) is not None] for r in records)
    return [unit * statistics.mean(values) for values in by_run if values]


def _text(values: Sequence[float], digits: int) -> str:
    return f"{values[0]:.{digits}f}" if values else ""


def main() -> None:
    """Run, or print the tables."""
    run_or_show(__doc__, run_all, rows, seeds=3)


if __name__ == "__main__":
    main()
