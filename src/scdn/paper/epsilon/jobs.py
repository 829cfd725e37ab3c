"""Planned iterations, active devices, energy and score of SC-DN over ε."""

from __future__ import annotations

from functools import partial
from typing import Any

from scdn.paper.artefact import ArtefactSpec, Drawing, Numbers, Part, Results, ResultTable
from scdn.paper.method_grid import own_settings, per_device
from scdn.paper.plotting import add_legend, plot_band, use_log_scale
from scdn.paper.published_tables import published_tables
from scdn.paper.static.claims import published_columns
from scdn.paper.summaries import summarise
from scdn.paper.sweep import ArtefactJob
from scdn.paper.training_run import training_job
from scdn.paper.value_text import plus_minus, without_repeats
from scdn.report.matplotlib_style import style_axes

METHOD = "sc-dn-paper"


def jobs(spec: ArtefactSpec) -> list[ArtefactJob]:
    """Return one run per value, size and seed."""
    planned = []
    for seed in spec.seeds:
        for epsilon in spec.sweep["epsilons"]:
            for devices in spec.sweep["devices"]:
                own = own_settings(spec, "published")
                size = f"fleet.0.count={devices}"
                scenario = spec.scenario([*own, f"learning.epsilon={epsilon}", size])
                key = f"{epsilon:g}-{devices}-{seed}"
                planned.append(training_job(key, scenario, METHOD, seed))
    return planned


def numbers(spec: ArtefactSpec, results: Results) -> Numbers:
    """Return one row per size and value."""
    rows = []
    for devices in spec.sweep["devices"]:
        for epsilon in spec.sweep["epsilons"]:
            runs = [results[f"{epsilon:g}-{devices}-{seed}"] for seed in spec.seeds]
            row: dict[str, Any] = {"devices": devices, "epsilon": epsilon, "runs": len(runs)}
            for quantity in ("planned", "active", "processing_j"):
                row[quantity] = summarise(map(float, per_device(runs, quantity)))
            rows.append({**row, "score": summarise(run["score"][-1] for run in runs)})
    return {"rows": rows, "rounds": len(runs[0]["score"])}


def show(numbers: Numbers) -> list[Part]:
    """Return a picture and a table."""
    title = "Planned iterations and active devices over ε, static MNIST networks, block “published”"
    return [Drawing("epsilon", title, partial(_draw, numbers)), _table(numbers)]


def _table(numbers: Numbers) -> ResultTable:
    table = published_tables()["static_mnist_center"]
    rows = [
        (
            str(row["devices"]),
            f"{published_columns(table, 'SC-DN', row['devices'])['Avg Iters']:g}",
            f"{row['epsilon']:g}",
            f"{row['planned']['mean']:.2f}",
            f"{100 * row['active']['mean']:.0f} %",
            f"{row['processing_j']['mean']:.3g}",
            plus_minus(row["score"]["mean"], row["score"]["std"], 1, row["runs"]),
        )
        for row in numbers["rows"]
    ]
    return ResultTable(
        "Sensitivity to ε",
        ("N", "paper: iterations", "ε", "planned iterations", "active", "J per device and round",
         f"top-3 after {numbers['rounds']} rounds (%)"),
        without_repeats(rows, 2),
        "The paper's own value is unknown; 2.303e-08 gives its first published objective and is "
        "used for every reading of the paper.",
    )  # fmt: skip


def _draw(numbers: Numbers, figure: Any) -> None:
    panels = figure.subplots(1, 2)
    labels = {"planned": "planned iterations", "active": "share of devices active"}
    for axes, (quantity, label) in zip(panels, labels.items(), strict=True):
        style_axes(axes, "ε", label)
        for number, n in enumerate(dict.fromkeys(row["devices"] for row in numbers["rows"])):
            rows = [row for row in numbers["rows"] if row["devices"] == n]
            x, y = [row["epsilon"] for row in rows], [row[quantity]["mean"] for row in rows]
            plot_band(axes, x, y, None, f"{n} devices" if axes is panels[0] else "", number,
                      markevery=1)  # fmt: skip
        use_log_scale(axes, "x")
        axes.axvline(2.303e-8, color="#5f6b78", linewidth=1, linestyle=(0, (2, 3)))
    add_legend(figure)
