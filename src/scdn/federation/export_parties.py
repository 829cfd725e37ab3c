"""Split a stored data set into one file for each party and one for the server's labels.

This is for trying a federation on one machine and for comparing it with a simulation. The features
are scaled as in a simulation, since a device could only scale by the rows it holds.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from scdn.data import Dataset
from scdn.federation.row_alignment import KeyedLabels
from scdn.file_io import make_folder
from scdn.learning.feature_split import FeatureView, row_shape
from scdn.npz import write_npz
from scdn.scenario import Scenario
from scdn.simulation.run_data import RunData
from scdn.world.churn import ChurnTrace

LABELS_FILE = "labels.npz"


def export_parties(scenario: Scenario, trace: ChurnTrace, folder: Path) -> list[str]:
    """Write `labels.npz` and a `NAME.npz` for every party of the trace; return the names."""
    data = RunData.from_scenario(scenario, trace)
    views = data.views | {
        name: data.newcomer_view(name) for name in trace.fleet.id if name not in data.views
    }
    make_folder(folder)
    dataset = data.dataset
    targets = np.concatenate([dataset.train_y, dataset.test_y])
    keys = [f"row-{n:07d}" for n in range(len(targets))]
    labels = KeyedLabels(
        name=dataset.name,
        keys=keys,
        targets=targets,
        test=np.arange(len(keys)) >= len(dataset.train_y),
        task=dataset.task,
        classes=dataset.classes,
        provenance=dataset.provenance,
    )
    labels.save(folder / LABELS_FILE)
    for name, view in views.items():
        _write_features(folder / f"{name}.npz", dataset, keys, view)
    return list(views)


def _write_features(path: Path, dataset: Dataset, keys: list[str], view: FeatureView) -> None:
    values = np.concatenate([dataset.train[view.modality], dataset.test[view.modality]])
    if values.ndim == 4:  # images channel by channel, as convolutions read them
        values = values.transpose(0, 3, 1, 2)
    write_npz(
        path,
        key=np.array(keys),
        values=values.reshape(len(values), -1)[:, view.columns],
        columns=view.columns,
        shape=np.array(view.shape),
        full_shape=np.array(row_shape(dataset, view.modality)),
        modality=np.array(view.modality),
    )
