"""A run's numbers for those who keep their runs in TensorBoard or MLflow."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scdn.errors import InputError, input_error, require_package
from scdn.file_io import write_atomic

Log = Callable[[dict[str, Any]], None]

MLFLOW_RUN = "mlflow-run"  # the file with MLflow's name for a run, so that a resumed one goes on


def check_log(kind: str) -> None:
    """Refuses a tool that is not installed, or that cannot keep anything."""
    require_package(kind, kind, "--log")
    try:
        if kind == "mlflow":
            import mlflow

            mlflow.search_experiments(max_results=1)
        else:
            from torch.utils.tensorboard import SummaryWriter  # noqa: F401
    except Exception as error:  # whatever a tool and its store may raise
        raise _unusable(kind, error) from None


def open_log(kind: str, name: str, method: str, folder: Path) -> Log:
    """Takes round events from now on; TensorBoard's go into the run's own folder.

    A tool that fails later on is left with a warning: the run itself goes on.
    """
    try:
        log = _tensorboard(folder) if kind == "tensorboard" else _mlflow(name, method, folder)
    except Exception as error:  # as above
        raise _unusable(kind, error) from None
    failed = False

    def careful(event: dict[str, Any]) -> None:
        nonlocal failed
        if failed:
            return
        try:
            log(event)
        except Exception as error:  # as above
            failed = True
            warnings.warn(f"--log {kind} ends here: {_first_line(error)}", stacklevel=2)

    return careful


def _unusable(kind: str, error: Exception) -> InputError:
    found = f"{kind} cannot be used ({_first_line(error)})"
    return input_error("scdn", "--log", found, "mend that, or leave it out")


def _first_line(error: Exception) -> str:
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__


def numbers(event: dict[str, Any]) -> dict[str, float]:
    """What is worth a curve in a round's event."""
    found = {key: v for key, v in event["metrics"].items() if isinstance(v, int | float)}
    for term in ("transmission_j", "processing_j"):
        found[term] = sum(device[term] for device in event["devices"])
    found["movement_j"] = event["server"]["movement_j"]
    found["active"] = len(event["active"])
    found["latency_s"] = event["latency_s"]
    return found


def _tensorboard(folder: Path) -> Log:
    from torch.utils.tensorboard import SummaryWriter

    writer: Any = None

    def log(event: dict[str, Any]) -> None:
        nonlocal writer
        if writer is None:  # rounds that a killed process had logged and a resumed one repeats
            writer = SummaryWriter(str(folder / "tensorboard"), purge_step=event["round"])
        for key, value in numbers(event).items():
            writer.add_scalar(key, value, event["round"])
        writer.flush()

    return log


def _mlflow(name: str, method: str, folder: Path) -> Log:
    import mlflow

    mlflow.set_experiment(name)
    known = folder / MLFLOW_RUN
    if known.exists():
        mlflow.start_run(run_id=known.read_text().strip())
    else:
        write_atomic(known, mlflow.start_run(run_name=method).info.run_id + "\n")
    return lambda event: mlflow.log_metrics(numbers(event), step=event["round"])
