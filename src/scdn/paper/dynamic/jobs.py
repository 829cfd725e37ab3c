"""Dynamic networks: score, energy and iterations per round of six methods.

*Known* samples were embedded by the departed devices before they left; *later* samples were
recorded after that. Energy is in processing joules per device and round.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scdn.paper import method_grid, plotting
from scdn.paper.artefact import ArtefactSpec, Drawing, Numbers, Part, Results, ResultTable
from scdn.paper.dynamic.claims import LABELS, ROUNDS
from scdn.paper.method_grid import GridCell, Row, RowGroup, can_show, jobs
from scdn.paper.published_tables import PUBLISHED_STARTS, published_tables
from scdn.paper.summaries import rounded, summarise, summarise_curves
from scdn.paper.training_run import TrainingRecord, mean_per_round
from scdn.paper.value_text import plus_minus, without_repeats
from scdn.report.matplotlib_style import style_axes
from scdn.scenario import make_scenario
from scdn.world.churn import NEVER, churn_trace

__all__ = ["can_show", "jobs", "numbers", "show"]


def numbers(spec: ArtefactSpec, results: Results) -> Numbers:
    """Return curves over rounds, and what the claims need."""
    scenarios = {job.key: job.arguments["scenario"] for job in jobs(spec)}

    def columns(cell: GridCell, runs: list[TrainingRecord]) -> Row:
        exits = [_first_exit(scenarios[cell.key(run["seed"])]) for run in runs]
        return {
            "score": summarise_curves([run["score"] for run in runs]),
            "later": summarise_curves([run["later"] for run in runs]),
            "iterations": summarise_curves([mean_per_round(run, "iterations") for run in runs]),
            "energy": summarise_curves([mean_per_round(run, "processing_j") for run in runs]),
            "all_energy": summarise(method_grid.per_device(runs, "processing_j")),
            "last": [rounded(run["score"][-1]) for run in runs],
            "last_later": [rounded(run["later"][-1]) for run in runs],
            "exit": [
                run["score"][exit_ - 1 : exit_ + 1]
                for run, exit_ in zip(runs, exits, strict=True)
                if exit_ is not None and 0 < exit_ < len(run["score"])
            ],
        }

    return method_grid.grid_numbers(spec, results, columns)


def _first_exit(scenario: dict[str, Any]) -> int | None:
    """Return the round in which a device leaves for the first time; None if none does."""
    exited = churn_trace(make_scenario(scenario)).exited
    return int(exited.min()) if len(exited) and exited.min() != NEVER else None


# --- tables ---------------------------------------------------------------------------------------


def show(numbers: Numbers) -> list[Part]:
    """Return, for each start, curves of every block and update and tables at the paper's rounds."""
    groups = list(method_grid.row_groups(numbers))
    parts: list[Part] = []
    for start in dict.fromkeys(group.start for group in groups):
        of_start = [group for group in groups if group.start == start]
        parts += [
            _drawing(numbers, group)
            for group in of_start
            if method_grid.is_judged(numbers, group)
            and (
                start == numbers["starts"][0] or group.update == numbers["updates"][group.block][0]
            )
        ]
        parts += [_score_table(numbers, of_start), _iterations_table(numbers, of_start)]
    return parts


def _score_table(numbers: Numbers, groups: list[RowGroup]) -> ResultTable:
    decimals = method_grid.score_decimals(numbers)
    ends = ("end", "end, later samples", *method_grid.JOULES_HEADER)

    def cells(row: Row) -> tuple[str, ...]:
        score, later = (_points(row[key], decimals, row["runs"]) for key in ("score", "later"))
        return (
            *_at_rounds(score),
            later[-1] if later else "",
            *method_grid.joules_cells(row, "all_energy"),
        )

    trivial = f"{groups[0].rows[0]['trivial']:.{decimals}f}"
    first = ("trivial predictor", "", trivial, *[""] * (len(ROUNDS) + len(ends) - 1))
    return ResultTable(
        f"{method_grid.score_label(numbers)}, server starts: {groups[0].start}",
        ("method", "source", *(f"round {n}" for n in ROUNDS), *ends),
        (first, *_rows(numbers, groups, "metric", cells)),
        f"{method_grid.MEANS_NOTE} Later samples were never embedded by the departed devices; "
        "their embeddings are estimated from the others'.",
    )


def _iterations_table(numbers: Numbers, groups: list[RowGroup]) -> ResultTable:
    def cells(row: Row) -> tuple[str, ...]:
        return _at_rounds(_points(row["iterations"], 1, row["runs"]))

    return ResultTable(
        f"Iterations, server starts: {groups[0].start}",
        ("method", "source", *(f"round {n}" for n in ROUNDS), "end"),
        _rows(numbers, groups, "iterations", cells),
    )


def _rows(
    numbers: Numbers, groups: list[RowGroup], quantity: str, cells: Callable[[Row], tuple[str, ...]]
) -> tuple[tuple[str, ...], ...]:
    """Return the published values of each method, and ours below them."""
    start = PUBLISHED_STARTS[groups[0].start]
    published = published_tables()[f"dynamic_{numbers['data']}_{quantity}_{start}"]
    width = len(cells(groups[0].rows[0]))
    rows = []
    for label in dict.fromkeys(LABELS.values()):
        if label in published:
            pairs = zip(published[label]["mean"], published[label]["std"], strict=True)
            values = [f"{mean:g} ± {std:g}" for mean, std in pairs]
            rows.append((label, "paper", *values, *[""] * (width - len(values))))
        rows += [
            (label, method_grid.source_label(group, row), *cells(row))
            for group in groups
            for row in group.rows
            if LABELS[row["method"]] == label
        ]
    return without_repeats(rows, 1)


def _points(curve: Mapping[str, Sequence[float]], decimals: int, runs: int) -> list[str]:
    """Return mean and deviation of each round as text."""
    pairs = zip(curve["mean"], curve["std"], strict=True)
    return [plus_minus(mean, std, decimals, runs) for mean, std in pairs]


def _at_rounds(points: list[str]) -> tuple[str, ...]:
    """Return the points of the paper's rounds, and the last one."""
    at_rounds = [points[n - 1] if n <= len(points) else "" for n in ROUNDS]
    return (*at_rounds, points[-1] if points else "")


# --- pictures -------------------------------------------------------------------------------------


def _drawing(numbers: Numbers, group: RowGroup) -> Drawing:
    start, block, update, rows = group

    def draw(figure: Any) -> None:
        panels = figure.subplots(1, 4)
        labels = {
            "score": f"{method_grid.score_label(numbers)}, known samples",
            "later": f"{method_grid.score_label(numbers)}, later samples",
            "energy": "J per device",
            "iterations": "iterations",
        }
        known, later, energy, iterations = panels
        later.sharey(known)
        for axes, (quantity, label) in zip(panels, labels.items(), strict=True):
            style_axes(axes, "round", label)
            is_score = axes in (known, later)
            limits = plotting.SCORE_LIMITS[numbers["metric"]] if is_score else (0.0, math.inf)
            for index, row in enumerate(rows):
                _draw_curve(axes, row, quantity, index, limits)
        trivial = rows[0]["trivial"]
        scores = {LABELS[row["method"]]: (row["score"], row["later"]) for row in rows}
        diverged = {LABELS[row["method"]] for row in rows if row["diverged"]}
        for axes in (known, later):
            plotting.add_reference_line(axes, trivial, "trivial")
            plotting.fit_score_axis(axes, numbers["metric"], scores, diverged, trivial)
        plotting.fit_axis(energy, [row["energy"] for row in rows], zero=True)
        iterations.set_ylim(-0.15, 5.3)
        plotting.add_legend(figure, known, len(rows))

    return Drawing(
        f"dynamic-{numbers['data']}-{block}-{update}-{start}",
        f"Dynamic network, {numbers['data']}: block “{block}”, {update} update, start {start}",
        draw,
        (14.0, 4.0),
    )


def _draw_curve(
    axes: Any, row: Row, quantity: str, index: int, limits: tuple[float, float]
) -> None:
    """Draw one method; dashes and shifted markers keep coinciding curves visible."""
    curve, method = row[quantity], row["method"]
    length = len(curve["mean"])
    every = max(1, length // 6)
    plotting.plot_band(
        axes, range(1, length + 1), curve["mean"], curve["std"], LABELS[method], index, limits,
        linestyle=(0, (3, 4)) if method.startswith("zoc") else "-",
        linewidth=2.2 if method.startswith("sc-dn") else 1.4,
        markevery=(index % every, every),
    )  # fmt: skip
