"""Import images from arrays: `.npz` files and IDX files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scdn.data.dataset import Dataset, TaskKind, draw_test_rows
from scdn.data.idx import is_idx_name, read_idx
from scdn.data.split_arrays import folder_entries, part_of
from scdn.errors import input_error

SPLIT = "image-split"  # the generator that draws test rows

_CHANNELS = (1, 2, 3, 4)


@dataclass(frozen=True)
class LabelledImages:
    """Images and their labels as a file has them.

    Attributes
    ----------
    images
        (rows, height, width), (rows, height, width, channels) or (rows, channels, height, width).
    label
        The name of the labels, for errors.
    source
        The name of the file.
    """

    images: NDArray[Any]
    labels: NDArray[Any]
    label: str
    source: str


def image_dataset(
    name: str,
    train: LabelledImages,
    test: LabelledImages | None,
    *,
    task: TaskKind = "classification",
    classes: int | None = None,
    seed: int = 0,
) -> Dataset:
    """Return a data set of images; without `test`, a fifth of the rows is drawn to test on."""
    parts = [train] if test is None else [train, test]
    pixels = _to_bytes([_to_channels_last(part) for part in parts])
    targets, names = _encode(train, task, classes)
    if test is not None:
        if pixels[1].shape[1:] != pixels[0].shape[1:]:
            allowed = f"must be {pixels[0].shape[1:]} as in {train.source}"
            raise input_error(test.source, "images", f"are {pixels[1].shape[1:]}", allowed)
        test_pixels, test_y = pixels[1], _encode(test, task, classes, names)[0]
        train_pixels, train_y = pixels[0], targets
        origin = "" if test.source == train.source else f" of {test.source}"
        split = f"{len(train_y)} images, and {len(test_y)} test images{origin}"
    else:
        train_rows, test_rows = draw_test_rows(len(targets), SPLIT, seed, train.source)
        train_pixels, test_pixels = pixels[0][train_rows], pixels[0][test_rows]
        train_y, test_y = targets[train_rows], targets[test_rows]
        split = f"{len(targets)} images, split 80/20 with seed {seed}"
    return Dataset(
        name=name,
        train={"image": train_pixels},
        train_y=train_y,
        test={"image": test_pixels},
        test_y=test_y,
        task=task,
        classes=names,
        provenance=f"{train.source}, {split}",
    )


def images_from_arrays(
    arrays: Mapping[str, NDArray[Any]], source: str, label: str = ""
) -> LabelledImages:
    """Return the images in a file of arrays: the only 3-D or 4-D array, and the labels.

    `label` names the labels; it is not needed if there is but one other array.
    """
    images = [name for name, array in arrays.items() if array.ndim in (3, 4)]
    if len(images) != 1:
        fault = f"{len(images)} arrays of 3 or 4 dimensions"
        allowed = f"must be one, or its parts as x_train and x_test; has {_listed(arrays)}"
        raise input_error(source, "images", fault, allowed)
    others = [name for name in arrays if name not in images]
    if label and label not in others:
        allowed = f"must be one of {', '.join(others) or 'none'}"
        raise input_error(source, "--label", f"got {label!r}", allowed)
    if not label and len(others) != 1:
        fault = f"one of {', '.join(others)}" if others else "no array"
        raise input_error(source, "labels", fault, "name the array of labels with --label")
    label = label or others[0]
    return LabelledImages(arrays[images[0]], arrays[label], label, source)


def images_from_idx(paths: Sequence[Path]) -> tuple[LabelledImages, LabelledImages | None]:
    """Return the training and test images in IDX files, told apart by their names.

    A folder stands for the IDX files in it. Each part has a file of images and one of labels.
    """
    files = [file for path in paths for file in _idx_files(path)]
    if not files:
        raise input_error(str(paths[0]), "folder", "has no IDX files", "must have two for a part")
    groups: dict[str, list[Path]] = {"train": [], "test": []}
    for file in files:
        groups["test" if part_of(file.name) == "test" else "train"].append(file)
    if not groups["train"]:
        groups = {"train": files, "test": []}
    train = _idx_pair(groups["train"])
    return train, _idx_pair(groups["test"]) if groups["test"] else None


def _idx_files(path: Path) -> list[Path]:
    return [file for file in folder_entries(path) if is_idx_name(file)] if path.is_dir() else [path]


def has_idx_files(path: Path) -> bool:
    """Return whether a path is an IDX file, or a folder with such files."""
    return any(map(is_idx_name, _idx_files(path)))


def _idx_pair(files: Sequence[Path]) -> LabelledImages:
    source = " and ".join(map(str, files))
    if len(files) != 2:
        allowed = "must be two for a part: images and labels"
        raise input_error(source, "IDX files", f"got {len(files)}", allowed)
    arrays = sorted(((read_idx(file), file) for file in files), key=lambda entry: entry[0].ndim)
    (labels, label_file), (images, image_file) = arrays
    if labels.ndim != 1 or images.ndim == 1:
        fault = f"have {labels.ndim} and {images.ndim} dimensions"
        raise input_error(source, "IDX files", fault, "must be labels (1) and images (3 or 4)")
    if len(labels) != len(images):
        allowed = f"must be {len(images)} as in {image_file}"
        raise input_error(str(label_file), "labels", f"{len(labels)} rows", allowed)
    return LabelledImages(images, labels, "labels", str(image_file))


def _listed(arrays: Mapping[str, NDArray[Any]]) -> str:
    return ", ".join(f"{name} {array.shape}" for name, array in arrays.items())


def _to_channels_last(part: LabelledImages) -> NDArray[Any]:
    images = part.images
    if images.dtype.kind not in "buif":
        allowed = "must be whole numbers or floats"
        raise input_error(part.source, "images", f"have type {images.dtype}", allowed)
    if images.size == 0:
        raise input_error(part.source, "images", f"have shape {images.shape}", "must not be empty")
    if images.dtype.kind == "f":
        with np.errstate(over="ignore"):
            images = images.astype(np.float32, copy=False)
        if not np.isfinite(images).all():
            row = int(np.argwhere(~np.isfinite(images))[0][0])
            allowed = "must be finite in 32 bits"
            raise input_error(part.source, f"image {row + 1}", "is not finite", allowed)
    if images.ndim == 3:
        return images[..., None]
    first = images.shape[1] in _CHANNELS and images.shape[3] not in _CHANNELS
    return np.moveaxis(images, 1, -1) if first else images


def _to_bytes(parts: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """Return pixels as bytes if all are whole numbers from 0 to 255, else as 32-bit floats."""
    whole = all(
        part.dtype == np.uint8
        or (part.min() >= 0 and part.max() <= 255 and (part.astype(np.uint8) == part).all())
        for part in parts
    )
    return [np.ascontiguousarray(part, np.uint8 if whole else np.float32) for part in parts]


def _encode(
    part: LabelledImages, task: TaskKind, classes: int | None, known: tuple[str, ...] = ()
) -> tuple[NDArray[Any], tuple[str, ...]]:
    import pandas as pd  # takes a while

    from scdn.data.label_encoding import encode_labels

    labels = part.labels
    if labels.shape not in ((len(part.images),), (len(part.images), 1)):
        allowed = f"must be {len(part.images)} as of images"
        raise input_error(part.source, part.label, f"has shape {labels.shape}", allowed)
    if labels.dtype.kind == "S":
        labels = np.char.decode(labels, "utf-8", "replace")
    frame = pd.DataFrame({part.label: labels.reshape(-1)})
    return encode_labels(frame, part.label, task, classes, part.source, "", known)
