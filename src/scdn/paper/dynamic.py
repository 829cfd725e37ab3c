"""Dynamic networks: score, energy and iterations per round of six methods.

*Known* samples are those the departed had embedded before they left; *later* ones were recorded
after. Energy is processing joules per device and round.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scdn.paper.artefact import Drawing, Found, Numbers, Setting, Table
from scdn.paper.blocks import (
    MEANS,
    PUBLISHED_STARTS,
    Cell,
    Group,
    Row,
    about,
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
from scdn.paper.digits import plus_minus, rounded
from scdn.paper.draw import WITHIN, band, fit, fit_scores, legend, level, tidy
from scdn.paper.dynamic_claims import NAMES, ROUNDS, claims
from scdn.paper.judging import runs_of
from scdn.paper.learning import Record
from scdn.paper.published import published
from scdn.scenario import make_scenario
from scdn.world.churn import NEVER, churn_trace

__all__ = ["claims", "in_part", "jobs", "numbers", "show"]


def numbers(setting: Setting, found: Found) -> Numbers:
    """Curves over rounds, and what the claims need."""
    scenarios = {job.key: job.arguments["scenario"] for job in jobs(setting)}

    def row(cell: Cell, runs: list[Record]) -> Row:
        left = [_first_exit(scenarios[cell.key(run["seed"])]) for run in runs]
        matched = {}
        if all("matched_j" in run["each"] for run in runs):
            matched = {"matched": spread(flat(runs, "matched_j"))}
        return {
            **row_of(cell, runs),
            **matched,
            "score": _curve([run["score"] for run in runs]),
            "later": _curve([run["later"] for run in runs]),
            "iterations": _curve([_per_device(run, "iterations") for run in runs]),
            "energy": _curve([_per_device(run, "processing_j") for run in runs]),
            "all_energy": spread(flat(runs, "processing_j")),
            "last": [rounded(run["score"][-1]) for run in runs],
            "last_later": [rounded(run["later"][-1]) for run in runs],
            "exit": [
                run["score"][r - 1 : r + 1]
                for run, r in zip(runs, left, strict=True)
                if r is not None and 0 < r < len(run["score"])
            ],
        }

    return {
        **about(setting),
        "rows": [row(cell, runs) for cell, runs in records(setting, found)],
        "paired": [
            {"beside": start, **row(cell, runs)} for start, cell, runs in paired(setting, found)
        ],
    }


def _per_device(run: Record, what: str) -> list[float]:
    return [float(np.mean(values)) if values else 0.0 for values in run["each"][what]]


def _curve(curves: Sequence[Sequence[float]]) -> dict[str, list[float]]:
    """Mean and deviation over the runs that got as far."""
    length = max(map(len, curves), default=0)
    mean, std = [], []
    for n in range(length):
        values = [curve[n] for curve in curves if len(curve) > n]
        mean.append(rounded(float(np.mean(values))))
        std.append(rounded(float(np.std(values, ddof=1))) if len(values) > 1 else 0.0)
    return {"mean": mean, "std": std}


def _first_exit(scenario: dict[str, Any]) -> int | None:
    """The round during which somebody leaves for the first time; None: nobody does."""
    exited = churn_trace(make_scenario(scenario)).exited
    return int(exited.min()) if len(exited) and exited.min() != NEVER else None


# --- shown ----------------------------------------------------------------------------------------


def show(numbers: Numbers) -> list[Table | Drawing]:
    """For each start and block: curves, and tables at the paper's rounds beside the published."""
    parts: list[Table | Drawing] = []
    for group in groups_of(numbers):
        own = group.update == numbers["updates"][group.block][0]
        if own or group.start == numbers["starts"][0]:
            parts.append(_drawing(numbers, group))
        parts += [_table(numbers, group, what) for what in ("metric", "iterations")]
    return parts


def _table(numbers: Numbers, group: Group, what: str) -> Table:
    start, block, update, rows = group
    theirs = published()[f"dynamic_{numbers['data']}_{what}_{PUBLISHED_STARTS[start]}"]
    label, known, digits, note = "iterations", "iterations", 1, ""
    shown: list[tuple[str, ...]] = []
    ends: tuple[str, ...] = ("end",)
    if what == "metric":
        label, known, digits = metric(numbers), "score", decimals(numbers)
        ends = ("end", "end, later samples", "J per device and round", "matched J")
        most, trivial = max(row["runs"] for row in rows), rows[0]["trivial"]
        note = (
            f"{runs_of(most)}. {MEANS} Later samples are those that the departed never embedded: "
            "what they would have sent is estimated from the others."
        )
        blank = [""] * (2 * len(ROUNDS) + len(ends) - 1)
        shown = [("trivial predictor", f"{trivial:.{digits}f}", *blank)]
    for row in rows:
        name, runs = NAMES[row["method"]], row["runs"]
        at = [plus_minus(*point, digits, runs) for point in _points(row[known])]
        cells = [at[n - 1] if n <= len(at) else "" for n in ROUNDS]
        last = [at[-1] if at else ""]
        if what == "metric":
            later = _points(row["later"])
            last += [plus_minus(*later[-1], digits, runs) if later else ""]
            last += [plus_minus(row["all_energy"]["mean"], row["all_energy"]["std"])]
            last += [f"{row['matched']['mean']:.3g}" if "matched" in row else ""]
        paper = theirs.get(name)
        beside = (
            [f"{m:g} ± {s:g}" for m, s in zip(paper["mean"], paper["std"], strict=True)]
            if paper
            else [""] * len(ROUNDS)
        )
        lost = f" ({row['diverged']} of {row['runs']} diverged)" if row["diverged"] else ""
        shown.append((name + lost, *cells, *last, *beside))
    return Table(
        f"{label}: {start}, block “{block}”, {update} update",
        ("method", *(f"round {n}" for n in ROUNDS), *ends, *(f"paper: {n}" for n in ROUNDS)),
        tuple(shown),
        note,
    )


def _points(curve: Mapping[str, Sequence[float]]) -> list[tuple[float, float]]:
    """Mean and deviation of each round."""
    return list(zip(curve["mean"], curve["std"], strict=True))


def _drawing(numbers: Numbers, group: Group) -> Drawing:
    start, block, update, rows = group

    def draw(figure: Any) -> None:
        panels = figure.subplots(1, 4)
        labels = {
            "score": f"{metric(numbers)}, known samples",
            "later": f"{metric(numbers)}, later samples",
            "energy": "J per device",
            "iterations": "iterations",
        }
        known, later, energy, iterations = panels
        later.sharey(known)
        for axes, (what, label) in zip(panels, labels.items(), strict=True):
            tidy(axes, "round", label)
            within = WITHIN[numbers["metric"]] if axes in (known, later) else (0.0, math.inf)
            for place, row in enumerate(rows):
                _draw_curve(axes, row, what, place, within)
        trivial = rows[0]["trivial"]
        scores = {NAMES[row["method"]]: (row["score"], row["later"]) for row in rows}
        lost = {NAMES[row["method"]] for row in rows if row["diverged"]}
        for axes in (known, later):
            level(axes, trivial, "trivial")
            fit_scores(axes, numbers["metric"], scores, lost, trivial)
        fit(energy, [row["energy"] for row in rows], zero=True)
        iterations.set_ylim(-0.15, 5.3)
        legend(figure, known, len(rows))

    return Drawing(
        f"dynamic-{numbers['data']}-{block}-{update}-{start}",
        f"Dynamic network, {numbers['data']}: block “{block}”, {update} update, start {start}",
        draw,
        (14.0, 4.0),
    )


def _draw_curve(axes: Any, row: Row, what: str, place: int, within: tuple[float, float]) -> None:
    """Of one method; dashes and markers in turn, so that curves that coincide are seen."""
    curve, method = row[what], row["method"]
    length = len(curve["mean"])
    every = max(1, length // 6)
    band(
        axes, range(1, length + 1), curve["mean"], curve["std"], NAMES[method], place, within,
        linestyle=(0, (3, 4)) if method.startswith("zoc") else "-",
        linewidth=2.2 if method.startswith("sc-dn") else 1.4,
        markevery=(place % every, every),
    )  # fmt: skip
