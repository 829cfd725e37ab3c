"""The settings of a federated server, and which scenarios can be federated."""

from __future__ import annotations

import time
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from scdn.data.dataset import TaskKind
from scdn.errors import input_error, printable
from scdn.federation.membership import PATIENCE_S
from scdn.federation.row_alignment import KeyedLabels, read_labels
from scdn.scenario import Scenario

_LOG_FILE = "federation.log"


@dataclass(frozen=True)
class ServerSettings:
    """A server's settings, as Flower's run configuration holds them; "" and 0 mean not given."""

    out: str
    scenario: str = ""
    labels: str = ""
    key: str = ""
    label: str = ""
    task: TaskKind = "classification"
    classes: int = 0
    devices: int = 0
    wait_s: float = 120.0
    timeout_s: float = 30.0
    patience_s: float = PATIENCE_S
    min_rows: int = 0
    reference: str = ""
    resume: bool = False
    predict: str = ""  # folder of a request to predict rows with the run in `out`

    @classmethod
    def from_run_config(cls, config: dict[str, Any]) -> ServerSettings:
        """Read the settings from a run's configuration."""
        known = {field.name for field in fields(cls)}
        values = {key.replace("-", "_"): value for key, value in config.items()}
        settings = cls(**{key: value for key, value in values.items() if key in known})
        needed = ["out"] if settings.predict else ["out", "labels"]
        if not settings.resume and not settings.predict:
            needed.append("scenario")
        for name in needed:
            if not getattr(settings, name):
                raise input_error("run config", name, "is missing", "must be a path")
        return settings

    def to_run_config(self) -> dict[str, Any]:
        """Return the settings as a run's configuration."""
        return {f.name.replace("_", "-"): getattr(self, f.name) for f in fields(self)}

    @property
    def log_file(self) -> Path:
        """Return the path of the run's log."""
        return Path(self.out) / _LOG_FILE

    def log(self, text: str) -> None:
        """Append a line to the run's log; text may come from devices, and is escaped."""
        with self.log_file.open("a", encoding="utf-8") as file:
            file.write(printable(f"{time.strftime('%H:%M:%S')} {text}") + "\n")

    def read_labels(self) -> KeyedLabels:
        """Read the server's labels."""
        return read_labels(Path(self.labels), self.key, self.label, self.task, self.classes)


def federated_scenario(scenario: Scenario) -> Scenario:
    """Return the scenario with labels on the server alone, or say why it cannot be federated."""
    learning = scenario.learning
    if "labels" not in learning.model_fields_set:
        learning = learning.model_copy(update={"labels": "server"})
    if learning.labels != "server":
        allowed = "must be server: devices get gradients, never labels"
        raise input_error(scenario.name, "learning.labels", f"got {learning.labels!r}", allowed)
    if learning.unheard != "imputed":
        allowed = "must be imputed: a server knows what it has heard"
        raise input_error(scenario.name, "learning.unheard", f"got {learning.unheard!r}", allowed)
    if learning.augment_flip or learning.augment_shift:
        problem = "images are augmented in simulated runs only"
        allowed = "augment_flip must be false and augment_shift 0 to be federated"
        raise input_error(scenario.name, "learning", problem, allowed)
    if "gradients" not in learning.model_fields_set:
        learning = learning.model_copy(update={"gradients": "start"})
    if learning.gradients != "start":
        allowed = "must be start: a device needs gradients when it begins to work"
        raise input_error(scenario.name, "learning.gradients", "got 'arrival'", allowed)
    return scenario.model_copy(update={"learning": learning})
