"""Recorded runs as a table with one row per round."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from scdn.errors import input_error
from scdn.file_io import write_atomic
from scdn.record.round_totals import (
    TERMS,
    device_numbers,
    energy_terms,
    executed_iterations,
    finite_number,
    round_bits,
)
from scdn.record.run_reader import Event, Run

FORECAST = ("expected_loss", "validation_loss", "worth_j")


def rounds_frame(runs: Sequence[Run]) -> pd.DataFrame:
    """Return one row per run and round: metrics, joules, seconds, iterations and counts.

    Rounds are counted from 0, as in events.
    """
    rows = pd.DataFrame(
        [
            {"run": n, "method": run.method, "seed": run.seed} | round_row(event)
            for n, run in enumerate(runs)
            for event in run.rounds
        ]
    )
    if rows.empty:
        return rows
    rows["joules"] = rows[list(TERMS)].sum(axis=1)
    rows["bits"] = rows["bits_sent"] + rows["bits_received"]
    by_run = rows.groupby("run", sort=False)
    for name in (*TERMS, "joules"):
        rows[f"cumulative_{name}"] = by_run[name].cumsum()
    rows["cumulative_s"] = by_run["latency_s"].cumsum()
    return rows.drop(columns="run")


def exported_rounds(runs: Sequence[Run]) -> pd.DataFrame:
    """Return the table of rounds for people, who count them from 1."""
    rows = rounds_frame(runs)
    return rows if rows.empty else rows.assign(round=rows["round"] + 1)


def round_row(event: Event) -> dict[str, Any]:
    """Return the numbers of a round; NaN where one is missing."""
    devices = event.get("devices") or []
    return {
        "round": event["round"],
        **_numbers(event.get("metrics") or {}),
        **energy_terms(event),
        "processing_j_per_device": _mean(device_numbers(event, "processing_j")),
        "latency_s": finite_number(event, "latency_s"),
        "iterations": _mean(device_numbers(event, "iterations")),
        "executed_iterations": _mean([executed_iterations(device) for device in devices]),
        "active": len(event.get("active") or ()),
        "present": len(devices),
        "bits_sent": round_bits(event, "bits_sent"),
        "bits_received": round_bits(event, "bits_received"),
        "wall_s": finite_number(event, "seconds"),
        **_forecast(event),
    }


def _forecast(event: Event) -> dict[str, float]:
    """Return what a mission expected of a round and what came of it; nothing without a mission."""
    forecast = event.get("forecast") or {}
    return {key: finite_number(forecast, key) for key in FORECAST if key in forecast}


def _numbers(table: Mapping[str, Any], prefix: str = "") -> dict[str, float]:
    """Return the numbers of nested tables under joined names; NaN for null and not finite ones."""
    flat: dict[str, float] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            flat |= _numbers(value, f"{prefix}{key}_")
        elif value is None:
            flat[prefix + key] = math.nan
        elif isinstance(value, int | float) and not isinstance(value, bool):
            flat[prefix + key] = float(value) if math.isfinite(value) else math.nan
    flat.pop("reason", None)
    return flat


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan


def export_table(runs: Sequence[Run], path: str | Path) -> None:
    """Write the table of rounds, counted from 1, as .csv or .parquet."""
    check_table_name(path)
    buffer = io.BytesIO()
    rows = exported_rounds(runs)
    if Path(path).suffix.lower() == ".csv":
        rows.to_csv(buffer, index=False)
    else:
        rows.to_parquet(buffer, index=False)
    write_atomic(path, buffer.getvalue())


def check_table_name(path: str | Path) -> None:
    """Check that a file name ends with .csv or .parquet."""
    if Path(path).suffix.lower() not in (".csv", ".parquet"):
        allowed = "must end with .csv or .parquet"
        raise input_error("table", str(path), "has another ending", allowed)
