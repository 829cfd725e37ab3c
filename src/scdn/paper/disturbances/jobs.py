"""Final scores, energy and lost reports with drawn fading and with optimisers drawn every round."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scdn.paper.artefact import ArtefactSpec, Numbers, Part, Results, ResultTable
from scdn.paper.disturbances.claims import LABELS
from scdn.paper.method_grid import own_settings, per_active_device, per_device, with_worst_end
from scdn.paper.summaries import rounded, summarise
from scdn.paper.sweep import ArtefactJob
from scdn.paper.training_run import training_job
from scdn.paper.value_text import plus_minus, without_repeats
from scdn.scenario import Scenario


def jobs(spec: ArtefactSpec) -> list[ArtefactJob]:
    """Return one run per condition, method and seed; rivals wait for SC-DN."""
    leader = spec.sweep["methods"][0]
    scenarios = list(_scenarios(spec))
    return [
        training_job(
            f"{number}-{method}-{seed}", scenario, method, seed, f"{number}-{leader}-{seed}"
        )
        for seed in spec.seeds
        for number, _, scenario in scenarios
        for method in spec.sweep["methods"]
    ]


def _scenarios(spec: ArtefactSpec) -> Iterator[tuple[int, str, Scenario]]:
    (devices,) = spec.sweep["devices"]
    own = [*own_settings(spec, spec.sweep["block"]), f"fleet.0.count={devices}"]
    for number, (condition, settings) in enumerate(spec.sweep["conditions"].items()):
        yield number, condition, spec.scenario([*own, *settings])


def numbers(spec: ArtefactSpec, results: Results) -> Numbers:
    """Return one row per condition and method."""
    rows = []
    for number, (condition, settings) in enumerate(spec.sweep["conditions"].items()):
        for method in spec.sweep["methods"]:
            runs = [results[f"{number}-{method}-{seed}"] for seed in spec.seeds]
            rounds = max(len(run["score"]) for run in results.values())
            runs = [with_worst_end(run, rounds, spec.metric) for run in runs]
            rows.append(
                {
                    "condition": condition,
                    "settings": list(settings),
                    "method": method,
                    "runs": len(runs),
                    "diverged": sum(run["status"] != "done" for run in runs),
                    "last": [rounded(run["score"][-1]) for run in runs],
                    "sent": sum(sum(run["active"]) for run in runs),
                    "failed": sum(sum(run["failed"]) for run in runs),
                    "iterations": summarise(map(float, per_device(runs, "iterations"))),
                    "energy_active": summarise(per_active_device(runs, "processing_j")),
                }
            )
    return {"rows": rows}


def show(numbers: Numbers) -> list[Part]:
    """Return a table."""
    return [
        ResultTable(
            "Dynamic MNIST network, block “true”, steady update",
            ("condition", "method", "end: top-3 (%)", "reports lost", "executed iterations",
             "J per active device and round"),
            without_repeats(map(_cells, numbers["rows"]), 1),
            "A report is lost if the drawn channel is worse than the plan's by so much that it "
            "comes after the time limit. Conditions: "
            + "; ".join(
                f"{row['condition']}: {', '.join(row['settings']) or 'nothing drawn'}"
                for row in numbers["rows"]
                if row["method"] == "sc-dn"
            )
            + ".",
        )
    ]  # fmt: skip


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    score = summarise(row["last"])
    diverged = f", {row['diverged']} diverged" if row["diverged"] else ""
    lost = 100 * row["failed"] / row["sent"] if row["sent"] else 0.0
    return (
        row["condition"],
        LABELS.get(row["method"], "SC-DN"),
        plus_minus(score["mean"], score["std"], 1, row["runs"]) + diverged,
        f"{row['failed']} of {row['sent']} ({lost:.1f} %)",
        f"{row['iterations']['mean']:.3g}",
        f"{row['energy_active']['mean']:.3g}",
    )
