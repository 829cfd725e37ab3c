"""Tables and a plot of the measurements that `solvers.py` makes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd


@dataclass(frozen=True)
class SolverRun:
    """One problem solved by one solver."""

    solver: str
    family: str
    devices: int
    seed: int
    seconds: float
    work: float  # boxes, evaluations, nodes or iterations
    gap: float = math.nan  # the gap asked for; NaN where nothing is proven
    excess: float = math.nan  # objective above the proven optimum, relative
    proven: bool = True
    proven_gap: float = math.nan
    peak_gib: float = math.nan


def to_frame(runs: Sequence[SolverRun]) -> pd.DataFrame:
    """Return the runs as a table, one row per run."""
    return pd.DataFrame([vars(run) for run in runs], columns=list(SolverRun.__annotations__))


def markdown_table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table with right-aligned columns."""
    rows = [head, ["---:"] * len(head), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def format_seconds(value: float) -> str:
    """Return a duration with two or three digits."""
    if not math.isfinite(value):
        return "-"
    if value < 1:
        return f"{float(f'{value * 1e3:.2g}'):g} ms"
    return f"{float(f'{value:.3g}'):g} s"


def format_percent(value: float) -> str:
    """Return a relative excess in percent."""
    if abs(value) >= 0.1:
        return f"{100 * value:,.0f} %"
    return f"{100 * value:.1g} %" if abs(value) >= 5e-7 else "0 %"


def exact_table(runs: pd.DataFrame, gaps: Sequence[float]) -> str:
    """Return the exact solver's times and boxes on one family of problems."""
    lines = []
    for devices, of_size in runs.groupby("devices"):
        for gap in gaps:
            cell = of_size[of_size.gap == gap]
            if cell.empty:
                lines.append([f"{devices:,}", f"{gap:g}", "skipped", *["-"] * 5])
                continue
            unproven = cell[~cell.proven]
            lines.append([
                f"{devices:,}",
                f"{gap:g}",
                str(len(cell)),
                format_seconds(cell.seconds.median()),
                format_seconds(cell.seconds.max()),
                f"{cell.work.median():,.0f}",
                f"{cell.work.max():,.0f}",
                "0" if unproven.empty
                else f"{len(unproven)} (gap up to {unproven.proven_gap.max():.2g})",
            ])  # fmt: skip
    head = ["N", "gap", "seeds", "median", "max", "boxes, median", "boxes, max", "not proven"]
    return markdown_table(head, lines)


def other_solvers_table(runs: pd.DataFrame) -> str:
    """Return the times of the other solvers, and how far above the optimum they end."""
    lines = [
        [
            solver,
            f"{devices:,}",
            str(len(cell)),
            format_seconds(cell.seconds.median()),
            format_seconds(cell.seconds.max()),
            f"{cell.work.median():,.0f}",
            format_percent(cell.excess.median()),
            format_percent(cell.excess.max()),
            str((~cell.proven).sum()) if cell.gap.iloc[0] > 0 else "all",
        ]
        for solver, of_solver in runs.groupby("solver", sort=False)
        for devices, cell in of_solver.groupby("devices")
    ]
    head = ["solver", "N", "seeds", "median", "max", "work", "above, median", "above, max"]
    return markdown_table([*head, "not proven"], lines)


def side_by_side_table(runs: pd.DataFrame) -> str:
    """Return the median seconds of every solver on the default family."""
    medians = (
        runs[runs.family == "default"]
        .groupby(["solver", "devices"], sort=False)
        .seconds.median()
        .unstack("devices")
        .sort_index(axis="columns")
    )
    lines = [[solver, *map(format_seconds, row)] for solver, row in medians.iterrows()]
    return markdown_table(["median time", *(f"N = {n:,}" for n in medians.columns)], lines)


def plot_times(runs: pd.DataFrame, path: Path) -> None:
    """Plot time against the number of devices: medians as lines, maxima as faint points."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    for solver, of_solver in runs.groupby("solver", sort=False):
        color = None
        for family, style in (("default", "-"), ("worth it", "--")):
            seconds = of_solver[of_solver.family == family].groupby("devices").seconds
            if not len(seconds):
                continue
            label = solver if family == "default" else f"{solver}, worth it"
            medians, slowest = seconds.median(), seconds.max()
            (line,) = axes.plot(
                medians.index, medians, style, marker="o", ms=3, color=color, label=label
            )
            color = line.get_color()
            axes.plot(slowest.index, slowest, "^", ms=4, color=color, alpha=0.35)
    axes.set(xscale="log", yscale="log", xlabel="devices", ylabel="seconds (△ slowest seed)")
    sizes = sorted(runs.devices.unique())
    axes.set_xticks(sizes, [f"{n:,}" for n in sizes], rotation=45)
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    figure.legend(loc="outside right upper", fontsize="small", frameon=False)
    figure.savefig(path, dpi=150)
    plt.close(figure)
