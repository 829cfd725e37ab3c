"""Dynamic networks: score, energy and iterations per round of six methods.

*Known* samples were embedded by the departed devices before they left; *later* samples were
recorded after that. Energy is in processing joules per device and round.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from scdn.paper.artefact import ArtefactSpec, Drawing, Numbers, Results, ResultTable
from scdn.paper.dynamic.claims import LABELS, ROUNDS
from scdn.paper.method_grid import (
    MEANS_NOTE,
    GridCell,
    Row,
    RowGroup,
    can_show,
    grid_numbers,
    jobs,
    per_device,
    row_groups,
    score_decimals,
    score_label,
)
from scdn.paper.plotting import (
    SCORE_LIMITS,
    add_legend,
    add_reference_line,
    fit_axis,
    fit_score_axis,
    plot_band,
)
from scdn.paper.published_tables import PUBLISHED_STARTS, published_tables
from scdn.paper.summaries import rounded, summarise, summarise_curves
from scdn.paper.training_run import TrainingRecord, mean_per_round
from scdn.paper.value_text import count_runs, plus_minus
from scdn.report.matplotlib_figures import style_axes
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
            "all_energy": summarise(per_device(runs, "processing_j")),
            "last": [rounded(run["score"][-1]) for run in runs],
            "last_later": [rounded(run["later"][-1]) for run in runs],
            "exit": [
                run["score"][exit_ - 1 : exit_ + 1]
                for run, exit_ in zip(runs, exits, strict=True)
                if exit_ is not None and 0 < exit_ < len(run["score"])
            ],
        }

    return grid_numbers(spec, results, columns)


def _first_exit(scenario: dict[str, Any]) -> int | None:
    """Return the round in which a device leaves for the first time; None if none does."""
    exited = churn_trace(make_scenario(scenario)).exited
    return int(exited.min()) if len(exited) and exited.min() != NEVER else None


# --- tables ---------------------------------------------------------------------------------------


def show(numbers: Numbers) -> list[ResultTable | Drawing]:
    """Return curves and tables at the paper's rounds, for each start, block and update."""
    parts: list[ResultTable | Drawing] = []
    for group in row_groups(numbers):
        is_own_update = group.update == numbers["updates"][group.block][0]
        if is_own_update or group.start == numbers["starts"][0]:
            parts.append(_drawing(numbers, group))
        parts += [_score_table(numbers, group), _iterations_table(numbers, group)]
    return parts


def _score_table(numbers: Numbers, group: RowGroup) -> ResultTable:
    decimals, rows = score_decimals(numbers), group.rows
    ends = ("end", "end, later samples", "J per device and round", "matched J")
    blank = [""] * (2 * len(ROUNDS) + len(ends) - 1)
    cells = [("trivial predictor", f"{rows[0]['trivial']:.{decimals}f}", *blank)]
    for row in rows:
        scores = _points(row["score"], decimals, row["runs"])
        later = _points(row["later"], decimals, row["runs"])
        cells.append(
            (
                _label(row),
                *_at_rounds(scores),
                scores[-1] if scores else "",
                later[-1] if later else "",
                plus_minus(row["all_energy"]["mean"], row["all_energy"]["std"]),
                f"{row['matched']['mean']:.3g}" if "matched" in row else "",
                *_published_cells(numbers, group.start, "metric", row),
            )
        )
    note = (
        f"{count_runs(max(row['runs'] for row in rows))}. {MEANS_NOTE} Later samples were never "
        "embedded by the departed devices, whose embeddings are estimated from the others'."
    )
    return _table(score_label(numbers), group, ends, cells, note)


def _iterations_table(numbers: Numbers, group: RowGroup) -> ResultTable:
    cells = []
    for row in group.rows:
        points = _points(row["iterations"], 1, row["runs"])
        published = _published_cells(numbers, group.start, "iterations", row)
        end = points[-1] if points else ""
        cells.append((_label(row), *_at_rounds(points), end, *published))
    return _table("iterations", group, ("end",), cells, "")


def _table(
    quantity: str,
    group: RowGroup,
    ends: tuple[str, ...],
    cells: Sequence[tuple[str, ...]],
    note: str,
) -> ResultTable:
    return ResultTable(
        f"{quantity}: {group.start}, block “{group.block}”, {group.update} update",
        ("method", *(f"round {n}" for n in ROUNDS), *ends, *(f"paper: {n}" for n in ROUNDS)),
        tuple(cells),
        note,
    )


def _label(row: Row) -> str:
    diverged = f" ({row['diverged']} of {row['runs']} diverged)" if row["diverged"] else ""
    return LABELS[row["method"]] + diverged


def _points(curve: Mapping[str, Sequence[float]], decimals: int, runs: int) -> list[str]:
    """Return mean and deviation of each round as text."""
    pairs = zip(curve["mean"], curve["std"], strict=True)
    return [plus_minus(mean, std, decimals, runs) for mean, std in pairs]


def _at_rounds(points: list[str]) -> list[str]:
    return [points[n - 1] if n <= len(points) else "" for n in ROUNDS]


def _published_cells(numbers: Numbers, start: str, quantity: str, row: Row) -> list[str]:
    name = f"dynamic_{numbers['data']}_{quantity}_{PUBLISHED_STARTS[start]}"
    method = published_tables()[name].get(LABELS[row["method"]])
    if method is None:
        return [""] * len(ROUNDS)
    pairs = zip(method["mean"], method["std"], strict=True)
    return [f"{mean:g} ± {std:g}" for mean, std in pairs]


# --- pictures -------------------------------------------------------------------------------------


def _drawing(numbers: Numbers, group: RowGroup) -> Drawing:
    start, block, update, rows = group

    def draw(figure: Any) -> None:
        panels = figure.subplots(1, 4)
        labels = {
            "score": f"{score_label(numbers)}, known samples",
            "later": f"{score_label(numbers)}, later samples",
            "energy": "J per device",
            "iterations": "iterations",
        }
        known, later, energy, iterations = panels
        later.sharey(known)
        for axes, (quantity, label) in zip(panels, labels.items(), strict=True):
            style_axes(axes, "round", label)
            is_score = axes in (known, later)
            limits = SCORE_LIMITS[numbers["metric"]] if is_score else (0.0, math.inf)
            for index, row in enumerate(rows):
                _draw_curve(axes, row, quantity, index, limits)
        trivial = rows[0]["trivial"]
        scores = {LABELS[row["method"]]: (row["score"], row["later"]) for row in rows}
        diverged = {LABELS[row["method"]] for row in rows if row["diverged"]}
        for axes in (known, later):
            add_reference_line(axes, trivial, "trivial")
            fit_score_axis(axes, numbers["metric"], scores, diverged, trivial)
        fit_axis(energy, [row["energy"] for row in rows], zero=True)
        iterations.set_ylim(-0.15, 5.3)
        add_legend(figure, known, len(rows))

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
    plot_band(
        axes, range(1, length + 1), curve["mean"], curve["std"], LABELS[method], index, limits,
        linestyle=(0, (3, 4)) if method.startswith("zoc") else "-",
        linewidth=2.2 if method.startswith("sc-dn") else 1.4,
        markevery=(index % every, every),
    )  # fmt: skip
