"""A run's numbers for those who keep their runs in TensorBoard or MLflow."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from scdn.faults import refuse

Log = Callable[[dict[str, Any]], None]


def check_log(kind: str) -> None:
    """Refuses a tool that is not installed."""
    if find_spec(kind) is None:
        raise refuse("scdn", "--log", f"{kind} is not installed", f"pip install 'scdn[{kind}]'")


def open_log(kind: str, name: str, method: str, folder: Path) -> Log:
    """Takes round events from now on; TensorBoard's go into the run's own folder."""
    return _tensorboard(folder) if kind == "tensorboard" else _mlflow(name, method)


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

    writer = SummaryWriter(str(folder / "tensorboard"))

    def log(event: dict[str, Any]) -> None:
        for key, value in numbers(event).items():
            writer.add_scalar(key, value, event["round"])
        writer.flush()

    return log


def _mlflow(name: str, method: str) -> Log:
    import mlflow

    mlflow.set_experiment(name)
    mlflow.start_run(run_name=method)
    return lambda event: mlflow.log_metrics(numbers(event), step=event["round"])
