"""Convert a map-style `torch.utils.data.Dataset`, or any sequence of (x, y) pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from scdn.data.dataset import Dataset, TaskKind
from scdn.errors import input_error


class MapStyleDataset(Protocol):
    """A data set with a length whose rows are (x, y) pairs, such as PyTorch's map-style ones."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Any: ...


def from_torch_dataset(
    name: str,
    train: MapStyleDataset,
    test: MapStyleDataset,
    *,
    task: TaskKind = "classification",
    classes: Sequence[str] = (),
    channels: Literal["first", "last"] = "first",
) -> Dataset:
    """Return a data set: vectors become table rows, pictures images.

    `channels` is the position of the colour channels in a picture. Without names in `classes`,
    the class names are the numbers up to the largest label.
    """
    parts = {part: _collect(name, part, rows) for part, rows in (("train", train), ("test", test))}
    modalities = {part: _modality(name, x, channels) for part, (x, _) in parts.items()}
    dtype = np.float64 if task == "regression" else np.int64
    targets = {part: y.astype(dtype).reshape(len(y)) for part, (_, y) in parts.items()}
    if task == "classification" and not classes:
        classes = [str(number) for number in range(1 + max(int(y.max()) for y in targets.values()))]
    table = modalities["train"].get("table")
    return Dataset(
        name=name,
        train=modalities["train"],
        train_y=targets["train"],
        test=modalities["test"],
        test_y=targets["test"],
        task=task,
        classes=tuple(classes),
        features=() if table is None else tuple(f"x{column}" for column in range(table.shape[1])),
        provenance=f"converted from a {type(train).__name__}",
    )


def _collect(name: str, part: str, rows: MapStyleDataset) -> tuple[NDArray[Any], NDArray[Any]]:
    if len(rows) == 0:
        raise input_error(name, part, "has no rows", "needs at least 1")
    pairs = [rows[index] for index in range(len(rows))]
    try:
        x = np.stack([np.asarray(pair[0]) for pair in pairs])
        return x, np.array([np.asarray(pair[1]).item() for pair in pairs])
    except (ValueError, TypeError, IndexError) as error:
        allowed = "must be pairs (x, y), all x of one shape"
        raise input_error(name, part, str(error), allowed) from None


def _modality(name: str, x: NDArray[Any], channels: str) -> dict[str, NDArray[Any]]:
    if x.ndim == 2:
        return {"table": x.astype(np.float64)}
    if x.ndim not in (3, 4):
        raise input_error(name, "x", f"has {x.ndim - 1} dimensions", "must have 1, 2 or 3")
    pixels = x if x.dtype == np.uint8 else x.astype(np.float32)
    if x.ndim == 3:
        return {"image": pixels[..., None]}
    return {"image": np.moveaxis(pixels, 1, -1) if channels == "first" else pixels}
