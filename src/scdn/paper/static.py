"""Static networks: final score, processing energy and iterations of four methods, for N = 2, 4, 6.

Energy is processing joules per device and round, over devices, rounds and runs.
"""

from __future__ import annotations

import math
from typing import Any

from scdn.paper.artefact import Drawing, Found, Numbers, Setting, Table
from scdn.paper.blocks import (
    LABELS,
    MEANS,
    PUBLISHED_STARTS,
    Cell,
    Group,
    Row,
    about,
    correlation,
    decimals,
    flat,
    groups_of,
    in_part,
    jobs,
    metric,
    paired,
    records,
    row_of,
    spread,
)
from scdn.paper.digits import plus_minus
from scdn.paper.draw import COLOURS, WITHIN, deviations, fit, fit_scores, legend, level, tidy
from scdn.paper.learning import Record
from scdn.paper.published import published
from scdn.paper.static_claims import claims

__all__ = ["claims", "in_part", "jobs", "numbers", "show"]

_UPDATES = {"paper": "the paper's update", "steady": "the steady update"}


def numbers(setting: Setting, found: Found) -> Numbers:
    """Rows of the tables, and what the claims need."""
    return {
        **about(setting),
        "devices": list(setting.sweep["devices"]),
        "rows": [_row(cell, runs) for cell, runs in records(setting, found)],
        "paired": [
            {"beside": start, **_row(cell, runs)} for start, cell, runs in paired(setting, found)
        ],
    }


def _row(cell: Cell, runs: list[Record]) -> Row:
    row = {
        **row_of(cell, runs),
        "devices": cell.devices,
        "score": spread(run["score"][-1] for run in runs),
        "last": [run["score"][-1] for run in runs],
        "energy": spread(flat(runs, "processing_j")),
        "iterations": spread(flat(runs, "iterations")),
        "active": spread(
            a / p for run in runs for a, p in zip(run["active"], run["present"], strict=True) if p
        ),
    }
    if all("matched_j" in run["each"] for run in runs):
        row["matched"] = spread(flat(runs, "matched_j"))
    if cell.method.startswith("sc-dn"):
        row["importance"] = correlation(runs, "importance", "iterations")
        row["distance"] = correlation(runs, "distance_m", "iterations")
    return row


# --- shown ----------------------------------------------------------------------------------------


def show(numbers: Numbers) -> list[Table | Drawing]:
    """A table for each start, block and update, and a picture of scores and joules."""
    return [_drawing(numbers), *(_table(numbers, group) for group in groups_of(numbers))]


def _table(numbers: Numbers, group: Group) -> Table:
    start, block, update, rows = group
    theirs = published()[f"static_{numbers['data']}_{PUBLISHED_STARTS[start]}"]
    score, digits = metric(numbers), decimals(numbers)
    trivial = f"{rows[0]['trivial']:.{digits}f}"
    shown = [("trivial predictor", f"N = {numbers['devices'][0]}", trivial, *[""] * 6)]
    for row in rows:
        label = LABELS[row["method"]]
        lost = f", {row['diverged']} diverged" if row["diverged"] else ""
        shown.append(
            (
                label,
                f"N = {row['devices']}",
                plus_minus(row["score"]["mean"], row["score"]["std"], digits, row["runs"]) + lost,
                _range(row["energy"]),
                f"{row['matched']['mean']:.3g}" if "matched" in row else "",
                _range(row["iterations"]),
                *_theirs(theirs, label, row["devices"]),
            )
        )
    most = max(row["runs"] for row in rows)
    return Table(
        f"{start}, block “{block}”, {_UPDATES[update]} ({most} run{'s' if most > 1 else ''})",
        ("method", "", score, "J per device and round", "matched J", "iterations",
         f"paper: {score}", "paper: energy", "paper: iterations"),
        tuple(shown),
        "mean ± deviation (least … most); the paper's columns are the same whatever the block. "
        + MEANS,
    )  # fmt: skip


def _theirs(theirs: dict[str, Any], label: str, devices: int) -> tuple[str, str, str]:
    """The paper's score, energy and iterations, where it has them."""
    table, n = theirs.get(label), f"N={devices}"
    if table is None:
        return "", "", ""
    columns = {name.split(" (")[0]: values for name, values in table.items()}
    unit = "kJ" if any("kJ" in name for name in table) else "J"
    score = "Acc" if "Final Acc" in columns else "Error"
    return (
        f"{columns[f'Final {score}'][n]:g} ± {columns[f'Std {score}'][n]:g}",
        f"{_paper_range(columns, 'Energy', n)} {unit}",
        _paper_range(columns, "Iters", n),
    )


def _paper_range(columns: dict[str, Any], what: str, n: str) -> str:
    mean, low, high, std = (columns[f"{part} {what}"][n] for part in ("Avg", "Min", "Max", "Std"))
    return f"{mean:g} ± {std:g} ({low:g} … {high:g})"


def _range(found: dict[str, float]) -> str:
    return f"{plus_minus(found['mean'], found['std'])} ({found['min']:.3g} … {found['max']:.3g})"


def _drawing(numbers: Numbers) -> Drawing:
    first = [group for group in groups_of(numbers) if group.start == numbers["starts"][0]]

    def draw(figure: Any) -> None:
        panels = figure.subplots(2, len(first), squeeze=False, sharex=True)
        labels = {"score": metric(numbers), "energy": "J per device and round"}
        blocks = [group.block for group in first]
        for column, (_, block, update, rows) in enumerate(first):
            leader = blocks.index(block)
            for axes, (what, label) in zip(panels[:, column], labels.items(), strict=True):
                tidy(axes, "" if what == "score" else "devices", label if column == 0 else "")
                within = WITHIN[numbers["metric"]] if what == "score" else (0.0, math.inf)
                _draw_methods(axes, rows, what, within)
                axes.set_xticks(numbers["devices"])
            top = panels[0][column]
            top.set_title(f"{block}, {update} update", fontsize=9.5, loc="left")
            level(top, rows[0]["trivial"], "trivial" if column == len(first) - 1 else "")
            if leader < column:
                for axes, other in zip(panels[:, column], panels[:, leader], strict=True):
                    axes.sharey(other)
                    axes.tick_params(labelleft=False)
        for block in dict.fromkeys(blocks):
            _fit(panels[:, blocks.index(block)], numbers, [g for g in first if g.block == block])
        legend(figure, panels[0][0], 5)

    return Drawing(
        f"static-{numbers['data']}",
        f"Static networks, {numbers['data']}: final score and processing energy",
        draw,
        (3.2 * max(2, len(first)), 5.2),
    )


def _fit(panels: Any, numbers: Numbers, groups: list[Group]) -> None:
    """Axes for a block's scores and joules."""
    rows = [row for group in groups for row in group.rows]
    scores: dict[str, list[Any]] = {}
    for row in rows:
        scores.setdefault(LABELS[row["method"]], []).append(row["score"])
    lost = {LABELS[row["method"]] for row in rows if row["diverged"]}
    fit_scores(panels[0], numbers["metric"], scores, lost, rows[0]["trivial"])
    fit(panels[1], [row["energy"] for row in rows], zero=True)


def _draw_methods(axes: Any, rows: list[Row], what: str, within: tuple[float, float]) -> None:
    """Means and deviations over the number of devices, side by side."""
    methods = list(dict.fromkeys(row["method"] for row in rows))
    for place, method in enumerate(methods):
        mine = [row for row in rows if row["method"] == method]
        x = [row["devices"] + 0.12 * (place - len(methods) / 2) for row in mine]
        mean, std = ([row[what][part] for row in mine] for part in ("mean", "std"))
        axes.errorbar(
            x, mean, deviations(mean, std, within),
            fmt="o-", markersize=4, linewidth=1.3, capsize=2,
            color=COLOURS[place % len(COLOURS)], label=LABELS[method],
        )  # fmt: skip
