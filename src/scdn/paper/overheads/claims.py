"""What the paper says about the time of importance, of Algorithm 3 and of smoothness estimation."""

from __future__ import annotations

from typing import Any

from scdn.paper.artefact import Claim, Finding, Numbers
from scdn.paper.published_tables import published_tables
from scdn.paper.stale_results import changes_text
from scdn.paper.value_text import value_range
from scdn.paper.verdicts import block_claim

SOLVERS = {
    "rebuilt": "Algorithm 3, rebuilt each time",
    "parametrised": "Algorithm 3, compiled once",
    "exact": "exact",
}
READINGS = {"round": "a round as run here", "epochs": "an epoch for each iteration"}
LIMIT_MS = float(published_tables()["importance_overhead"]["wall_ms_upper_for_N<=10"])
SMOOTHNESS_LIMIT_S = 4.0
STRAIGHT = 0.95  # R² from which on times grow linearly


def fit_text(line: dict[str, Any], unit: float) -> str:
    """Return a fitted line and its R² as text; `unit` converts seconds."""
    slope, intercept = unit * line["slope"], unit * line["intercept"]
    sign = "+" if intercept >= 0 else "−"
    return f"{slope:.3g}·N {sign} {abs(intercept):.3g}, R² {line['r2']:.3f}"


def claims(numbers: Numbers) -> list[Claim]:
    """Judge limits on times, straight lines, and the share of smoothness."""
    importance, solvers = numbers["importance"]["data"], numbers["solvers"]["ways"]
    parties = numbers["importance"]["parties"]
    fit = published_tables()["solver_runtime_seconds_fit"]
    published = published_tables()["smoothness_estimation"].values()
    shares = [row["overhead_percent"] for row in published]
    stale = None  # only Algorithm 3's problem depends on the settings of the paper's reading
    if changes := numbers.get("stale", {}).get(""):
        stale = Finding("not recomputed", changes_text(changes))
    return [
        block_claim(
            "App. alg_costs, Fig. alg2_overhead",
            f"Importance takes under {LIMIT_MS:g} ms a round for N ≤ 10.",
            {data: _below_limit(ways["seconds"]) for data, ways in importance.items()},
        ),
        block_claim(
            "Fig. alg2_overhead",
            f"The time of importance grows linearly with N (R² ≥ {STRAIGHT:g}).",
            {data: _straight(ways["seconds"], 1e3) for data, ways in importance.items()},
        ),
        block_claim(
            "Fig. alg3_timing",
            f"Algorithm 3's time grows linearly with N, {fit['slope_per_device']:g}·N − "
            f"{-fit['intercept']:g} s there (R² ≥ {STRAIGHT:g}).",
            {
                SOLVERS[way]: stale or _straight(solvers[way], 1)
                for way in ("rebuilt", "parametrised")
            },
        ),
        block_claim(
            "Table lip_train_time",
            f"Estimating smoothness takes {value_range(shares, 'g')} % of local training's time, "
            "or less.",
            {
                label: _share_of_training(numbers["smoothness"], reading, max(shares))
                for reading, label in READINGS.items()
            },
        ),
        block_claim(
            "Fig. alg2_overhead",
            "Importance adds 4 forward passes at N = 2 and 20 at N = 10, two a device, or fewer.",
            {
                data: _at_most_two_passes(ways["passes"], parties)
                for data, ways in importance.items()
            },
        ),
        block_claim(
            "Table lip_train_time",
            f"Estimating smoothness takes under {SMOOTHNESS_LIMIT_S:g} s.",
            {
                data: Finding(
                    times["estimate_s"] < SMOOTHNESS_LIMIT_S, f"{times['estimate_s']:.2g} s"
                )
                for data, times in numbers["smoothness"].items()
            },
        ),
    ]


def _below_limit(line: dict[str, Any]) -> Finding:
    most_ms = 1e3 * max(line["mean"])
    return Finding(most_ms < LIMIT_MS, f"{most_ms:.3g} ms at most")


def _straight(line: dict[str, Any], unit: float) -> Finding:
    return Finding(bool(line["r2"] >= STRAIGHT and line["slope"] > 0), fit_text(line, unit))


def _at_most_two_passes(passes: list[int], parties: list[int]) -> Finding:
    """Count passes; that ours does with one a device is not held against the paper."""
    holds = all(count <= 2 * n for count, n in zip(passes, parties, strict=True))
    return Finding(holds, f"{passes[0]} at N = {parties[0]}, {passes[-1]} at N = {parties[-1]}")


def _share_of_training(smoothness: dict[str, Any], reading: str, most: float) -> Finding:
    percents = {data: times[f"percent_{reading}"] for data, times in smoothness.items()}
    evidence = ", ".join(f"{data} {percent:.3g} %" for data, percent in percents.items())
    return Finding(max(percents.values()) <= most, evidence)
