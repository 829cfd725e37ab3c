"""Describe a data set in a few lines: its rows, classes and parties, and how to use it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from scdn.data.dataset import Dataset

_CLASSES_SHOWN = 12
_COLUMNS_SHOWN = 8


def description_lines(dataset: Dataset, path: Path | None) -> Iterator[str]:
    """Yield the lines; `path` is where the data set is stored, None if it is shipped."""
    train, test = len(dataset.train_y), len(dataset.test_y)
    yield f"{dataset.name}: {dataset.task}, {train:,} training rows, {test:,} test rows"
    if "image" in dataset.train:
        _, height, width, channels = dataset.train["image"].shape
        colours = "1 channel" if channels == 1 else f"{channels} channels"
        kind = dataset.train["image"].dtype
        yield f"  images: {width}×{height} pixels, {colours}, {kind}"
    if "table" in dataset.train:
        yield f"  {len(dataset.features)} columns: {_shortened(dataset.features, _COLUMNS_SHOWN)}"
    for party, columns in dataset.parties.items():
        yield f"  party {party}: {_shortened(columns, _COLUMNS_SHOWN)}"
    if dataset.label:
        yield f"  label: {dataset.label}" + (f", key: {dataset.key}" if dataset.key else "")
    if dataset.classes:
        counts = np.bincount(dataset.train_y, minlength=len(dataset.classes))
        named = [f"{name} ({count:,})" for name, count in zip(dataset.classes, counts, strict=True)]
        classes = _shortened(named, _CLASSES_SHOWN)
        yield f"  {len(named)} classes (and their training rows): {classes}"
    else:
        low, high = dataset.train_y.min(), dataset.train_y.max()
        yield f"  to predict: {low:.6g} to {high:.6g}, mean {dataset.train_y.mean():.6g}"
    yield f"  from: {dataset.provenance}"
    size = f"{path}, {path.stat().st_size:,} bytes" if path else "part of scdn"
    yield f"  stored: {size}"
    yield "use it in a scenario:"
    yield "  [learning]"
    yield f'  dataset = "{dataset.name}"'
    yield f'  split = "{_natural_split(dataset)}"'


def _natural_split(dataset: Dataset) -> str:
    if dataset.parties:
        return "parties"
    if len(dataset.train) > 1:
        return "modality"
    return "strips" if "image" in dataset.train else "random"


def _shortened(names: tuple[str, ...] | list[str], limit: int) -> str:
    return ", ".join(names[:limit]) + (", …" if len(names) > limit else "")
