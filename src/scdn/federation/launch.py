"""A server from its settings: what a ServerApp does once it has its line."""

from __future__ import annotations

import time
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from scdn.errors import input_error
from scdn.federation.labels import Labels, read_labels
from scdn.federation.post import Line
from scdn.federation.server import Wishes, go_on, serve
from scdn.record.read import Run
from scdn.scenario.read import read_scenario

LOG = "federation.log"


@dataclass(frozen=True)
class Settings:
    """A run's settings, as Flower carries them; empty text and 0 stand for nothing."""

    out: str
    scenario: str = ""
    labels: str = ""
    key: str = ""
    label: str = ""
    task: Literal["classification", "regression"] = "classification"
    classes: int = 0
    devices: int = 0
    wait_s: float = 120.0
    timeout_s: float = 30.0
    reference: str = ""
    resume: bool = False

    @classmethod
    def of(cls, table: dict[str, Any]) -> Settings:
        """From a run's configuration."""
        known = {field.name for field in fields(cls)}
        told = {key.replace("-", "_"): value for key, value in table.items()}
        found = cls(**{key: value for key, value in told.items() if key in known})
        for name in ("out", "labels", *(() if found.resume else ("scenario",))):
            if not getattr(found, name):
                raise input_error("run config", name, "is missing", "must be a path")
        return found

    def table(self) -> dict[str, Any]:
        """For a run's configuration."""
        return {f.name.replace("_", "-"): getattr(self, f.name) for f in fields(self)}


def labels_of(settings: Settings) -> Labels:
    """The server's labels."""
    return read_labels(
        Path(settings.labels),
        settings.key or None,
        settings.label or None,
        settings.task,
        settings.classes or None,
        0,
    )


def carry_out(settings: Settings, line: Line) -> Run:
    """Runs, or goes on; what happens on the way is noted in the run's folder."""
    out = Path(settings.out)
    out.mkdir(parents=True, exist_ok=True)

    def note(text: str) -> None:
        with (out / LOG).open("a") as file:
            file.write(f"{time.strftime('%H:%M:%S')} {text}\n")

    labels = labels_of(settings)
    wishes = Wishes(settings.devices or None, settings.wait_s, settings.timeout_s)
    if settings.resume:
        return go_on(labels, line, out, wishes, note)
    scenario = read_scenario(settings.scenario)
    reference = Path(settings.reference) if settings.reference else None
    return serve(scenario, labels, line, out, wishes, note, reference=reference)
