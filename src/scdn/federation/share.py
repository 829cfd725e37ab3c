"""Shares a stored data set out as devices and a server would have it: files, one for each.

For trying a federation on one machine, and for comparing it with a simulation: scaled as in a
simulation, since a device by itself could only scale by what it holds.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scdn.data import Dataset
from scdn.federation.labels import Labels
from scdn.file_io import OutputError, write_atomic
from scdn.learning.split import View, whole_shape
from scdn.scenario.model import Scenario
from scdn.simulation.material import Material
from scdn.world.churn import ChurnTrace

LABELS = "labels.npz"


def share_out(scenario: Scenario, trace: ChurnTrace, folder: Path) -> dict[str, Path]:
    """Writes `labels.npz` and `NAME.npz` for everyone who is ever in the trace."""
    material = Material.of(scenario, trace)
    views: Mapping[str, View] = material.views | {
        name: material.entering(name) for name in trace.fleet.id if name not in material.views
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made ({error.strerror})") from None
    dataset = material.dataset
    Labels.of(dataset).save(folder / LABELS)
    return {name: _device(folder / f"{name}.npz", dataset, view) for name, view in views.items()}


def _device(path: Path, dataset: Dataset, view: View) -> Path:
    values = np.concatenate([_flat(part[view.modality]) for part in (dataset.train, dataset.test)])
    save(
        path,
        key=np.array(keys_of(dataset)),
        values=values[:, view.columns],
        columns=view.columns,
        shape=np.array(view.shape),
        whole=np.array(whole_shape(dataset, view.modality)),
        modality=np.array(view.modality),
    )
    return path


def keys_of(dataset: Dataset) -> list[str]:
    """A key for each row, training rows first."""
    return [f"row-{n:07d}" for n in range(len(dataset.train_y) + len(dataset.test_y))]


def save(path: Path, **arrays: Any) -> None:
    """An `.npz` file, whole or not at all."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    write_atomic(path, buffer.getvalue())


def _flat(values: NDArray[Any]) -> NDArray[Any]:
    if values.ndim == 4:
        values = values.transpose(0, 3, 1, 2)
    return values.reshape(len(values), -1)
