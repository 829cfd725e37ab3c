"""Static networks: final score, processing energy and iterations of four methods, for N = 2, 4, 6.

Energy is in processing joules per device and round, over devices, rounds and runs.
"""

from __future__ import annotations

import math
from typing import Any

from scdn.paper import method_grid, plotting
from scdn.paper.artefact import ArtefactSpec, Drawing, Numbers, Part, Results, ResultTable
from scdn.paper.method_grid import GridCell, Row, can_show, jobs
from scdn.paper.published_tables import PUBLISHED_STARTS, published_tables
from scdn.paper.static.claims import LABELS, published_columns
from scdn.paper.summaries import Summary, summarise
from scdn.paper.training_run import TrainingRecord
from scdn.paper.value_text import plus_minus, without_repeats
from scdn.report.matplotlib_style import style_axes

__all__ = ["can_show", "jobs", "numbers", "show"]


def numbers(spec: ArtefactSpec, results: Results) -> Numbers:
    """Return the rows of the tables, and what the claims need."""
    return {
        "devices": list(spec.sweep["devices"]),
        **method_grid.grid_numbers(spec, results, _columns),
    }


def _columns(cell: GridCell, runs: list[TrainingRecord]) -> Row:
    row: Row = {
        "devices": cell.devices,
        "score": summarise(run["score"][-1] for run in runs),
        "last": [run["score"][-1] for run in runs],
        "energy": summarise(method_grid.per_device(runs, "processing_j")),
        "iterations": summarise(method_grid.per_device(runs, "iterations")),
        "active": summarise(
            active / present
            for run in runs
            for active, present in zip(run["active"], run["present"], strict=True)
            if present
        ),
    }
    if cell.method.startswith("sc-dn"):
        row["importance"] = method_grid.correlation(runs, "importance", "planned")
        row["distance"] = method_grid.correlation(runs, "distance_m", "planned")
    return row


# --- tables ---------------------------------------------------------------------------------------


def show(numbers: Numbers) -> list[Part]:
    """Return a picture of scores and joules, and a table for each start."""
    starts = dict.fromkeys(group.start for group in method_grid.row_groups(numbers))
    return [_drawing(numbers), *(_table(numbers, start) for start in starts)]


def _table(numbers: Numbers, start: str) -> ResultTable:
    """Return the published values of each method and network size, and ours below them."""
    groups = [group for group in method_grid.row_groups(numbers) if group.start == start]
    published = published_tables()[f"static_{numbers['data']}_{PUBLISHED_STARTS[start]}"]
    trivial = f"{groups[0].rows[0]['trivial']:.{method_grid.score_decimals(numbers)}f}"
    rows: list[tuple[str, ...]] = [("trivial predictor", "", "", trivial, *[""] * 6)]
    for label in dict.fromkeys(LABELS.values()):
        for n in numbers["devices"]:
            if label in published:
                rows.append((label, str(n), "paper", *_published_cells(published, label, n)))
            rows += [
                (label, str(n), method_grid.source_label(group, row), *_cells(numbers, row))
                for group in groups
                for row in group.rows
                if (LABELS[row["method"]], row["devices"]) == (label, n)
            ]
    return ResultTable(
        f"Server starts: {start}",
        ("method", "N", "source", method_grid.score_label(numbers), *method_grid.JOULES_HEADER,
         "largest J", "iterations"),
        without_repeats(rows, 2),
        f"Mean ± standard deviation (smallest … largest). {method_grid.MEANS_NOTE}",
    )  # fmt: skip


def _cells(numbers: Numbers, row: Row) -> tuple[str, ...]:
    score = row["score"]
    return (
        plus_minus(score["mean"], score["std"], method_grid.score_decimals(numbers), row["runs"]),
        *method_grid.joules_cells(row, "energy"),
        f"{row['energy']['max']:.3g}",
        _with_range(row["iterations"]),
    )


def _published_cells(published: dict[str, Any], label: str, devices: int) -> tuple[str, ...]:
    columns = published_columns(published, label, devices)
    unit = "kJ" if any("kJ" in name for name in published[label]) else "J"
    return (
        f"{columns['Final']:g} ± {columns['Std Final']:g}",
        f"{_published_range(columns, 'Energy')} {unit}",
        *[""] * 4,
        _published_range(columns, "Iters"),
    )


def _published_range(columns: dict[str, float], quantity: str) -> str:
    mean, low, high, std = (columns[f"{part} {quantity}"] for part in ("Avg", "Min", "Max", "Std"))
    return f"{mean:g} ± {std:g} ({low:g} … {high:g})"


def _with_range(summary: Summary) -> str:
    text = plus_minus(summary["mean"], summary["std"])
    return f"{text} ({summary['min']:.3g} … {summary['max']:.3g})"


# --- picture --------------------------------------------------------------------------------------


def _drawing(numbers: Numbers) -> Drawing:
    groups = [
        group
        for group in method_grid.row_groups(numbers)
        if group.start == numbers["starts"][0] and method_grid.is_judged(numbers, group)
    ]

    def draw(figure: Any) -> None:
        panels = figure.subplots(2, len(groups), squeeze=False, sharex=True)
        labels = {"score": method_grid.score_label(numbers), "energy": "J per device and round"}
        blocks = [group.block for group in groups]
        for column, (_, block, update, rows) in enumerate(groups):
            for axes, (quantity, label) in zip(panels[:, column], labels.items(), strict=True):
                is_score = quantity == "score"
                style_axes(axes, "" if is_score else "devices", label if column == 0 else "")
                limits = plotting.SCORE_LIMITS[numbers["metric"]] if is_score else (0.0, math.inf)
                _draw_methods(axes, rows, quantity, limits)
                axes.set_xticks(numbers["devices"])
            top = panels[0][column]
            top.set_title(f"{block}, {update} update", fontsize=9.5, loc="left")
            label = "trivial" if column == len(groups) - 1 else ""
            plotting.add_reference_line(top, rows[0]["trivial"], label)
            first = blocks.index(block)
            if first < column:
                for axes, other in zip(panels[:, column], panels[:, first], strict=True):
                    axes.sharey(other)
                    axes.tick_params(labelleft=False)
        for block in dict.fromkeys(blocks):
            rows = [row for group in groups if group.block == block for row in group.rows]
            _fit_axes(panels[:, blocks.index(block)], numbers["metric"], rows)
        plotting.add_legend(figure, panels[0][0], 5)

    return Drawing(
        f"static-{numbers['data']}",
        f"Static networks, {numbers['data']}: final score and processing energy",
        draw,
        (3.2 * max(2, len(groups)), 5.2),
    )


def _fit_axes(panels: Any, metric: str, rows: list[Row]) -> None:
    scores: dict[str, list[Any]] = {}
    for row in rows:
        scores.setdefault(LABELS[row["method"]], []).append(row["score"])
    diverged = {LABELS[row["method"]] for row in rows if row["diverged"]}
    plotting.fit_score_axis(panels[0], metric, scores, diverged, rows[0]["trivial"])
    plotting.fit_axis(panels[1], [row["energy"] for row in rows], zero=True)


def _draw_methods(axes: Any, rows: list[Row], quantity: str, limits: tuple[float, float]) -> None:
    """Draw means and deviations over the number of devices, methods side by side."""
    methods = list(dict.fromkeys(row["method"] for row in rows))
    for index, method in enumerate(methods):
        points = [row for row in rows if row["method"] == method]
        x = [row["devices"] + 0.12 * (index - len(methods) / 2) for row in points]
        mean, std = ([row[quantity][part] for row in points] for part in ("mean", "std"))
        axes.errorbar(
            x, mean, plotting.clipped_deviations(mean, std, limits),
            fmt="o-", markersize=4, linewidth=1.3, capsize=2,
            color=plotting.COLOURS[index % len(plotting.COLOURS)], label=LABELS[method],
        )  # fmt: skip
