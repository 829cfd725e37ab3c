"""Logging the numbers of a run to TensorBoard or MLflow."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scdn.errors import InputError, describe_error, input_error, require_package
from scdn.file_io import write_atomic
from scdn.record.round_totals import energy_terms

LogRound = Callable[[dict[str, Any]], None]  # takes the event of a round

MLFLOW_RUN = "mlflow-run"  # file with the id of the MLflow run, which a resumed run continues


def check_log(kind: str) -> None:
    """Refuse a tool that is not installed, or whose store cannot be used."""
    require_package(kind, kind, "--log")
    try:
        if kind == "mlflow":
            import mlflow

            mlflow.search_experiments(max_results=1)
        else:
            from torch.utils.tensorboard import SummaryWriter  # noqa: F401
    except Exception as error:  # a tool and its store may raise anything
        raise _unusable(kind, error) from None


def open_log(kind: str, name: str, method: str, folder: Path) -> LogRound:
    """Return a function that logs the events of rounds; TensorBoard's files are in `folder`.

    If the tool fails later, logging ends with a warning and the run continues.
    """
    try:
        log = _tensorboard(folder) if kind == "tensorboard" else _mlflow(name, method, folder)
    except Exception as error:  # as in check_log
        raise _unusable(kind, error) from None
    failed = False

    def log_until_failure(event: dict[str, Any]) -> None:
        nonlocal failed
        if failed:
            return
        try:
            log(event)
        except Exception as error:  # as in check_log
            failed = True
            warnings.warn(f"--log {kind} stopped: {describe_error(error)}", stacklevel=2)

    return log_until_failure


def _unusable(kind: str, error: Exception) -> InputError:
    fault = f"{kind} cannot be used ({describe_error(error)})"
    return input_error("scdn", "--log", fault, "mend that, or leave --log out")


def logged_numbers(event: dict[str, Any]) -> dict[str, float]:
    """Return the numbers of a round that are logged."""
    numbers = {key: v for key, v in event["metrics"].items() if isinstance(v, int | float)}
    numbers |= energy_terms(event)
    numbers["active"] = len(event["active"])
    numbers["latency_s"] = event["latency_s"]
    return numbers


def _tensorboard(folder: Path) -> LogRound:
    from torch.utils.tensorboard import SummaryWriter

    writer: Any = None

    def log(event: dict[str, Any]) -> None:
        nonlocal writer
        if writer is None:  # drops rounds that a killed process logged and this one repeats
            writer = SummaryWriter(str(folder / "tensorboard"), purge_step=event["round"])
        for key, value in logged_numbers(event).items():
            writer.add_scalar(key, value, event["round"])
        writer.flush()

    return log


def _mlflow(name: str, method: str, folder: Path) -> LogRound:
    import mlflow

    mlflow.set_experiment(name)
    run_id_file = folder / MLFLOW_RUN
    if run_id_file.exists():
        mlflow.start_run(run_id=run_id_file.read_text().strip())
    else:
        write_atomic(run_id_file, mlflow.start_run(run_name=method).info.run_id + "\n")
    return lambda event: mlflow.log_metrics(logged_numbers(event), step=event["round"])
