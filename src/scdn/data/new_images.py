"""Read images to predict: from arrays, an IDX file, or a folder of pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scdn.data.idx import is_idx_name, read_idx
from scdn.data.image_folder import read_pictures
from scdn.data.pictures import SUFFIXES, common_shape, decode_pictures
from scdn.data.split_arrays import Arrays, folder_entries
from scdn.errors import Fault, InputError, first_faults, input_error
from scdn.npz import read_npz

FILE_KEY = "file"  # the key of pictures: their path in the folder


def read_image_arrays(path: Path, shape: tuple[int, ...]) -> Arrays:
    """Return the arrays of a file, or those of a folder: `image`, and their names as `file`.

    `shape` is (height, width, channels) of the data set's images.
    """
    if path.is_dir():
        return _from_pictures(path, (shape[0], shape[1], shape[2]))
    if is_idx_name(path):
        return {"image": _images(read_idx(path), path)}
    if path.suffix.lower() != ".npz":
        allowed = "must be .npz, an IDX file, or a folder of pictures"
        raise input_error(str(path), "file", "has no images", allowed)
    return read_arrays(path)


def read_arrays(path: Path, names: Sequence[str] | None = None) -> Arrays:
    """Return the arrays of an `.npz` file, or those with these names; KeyError if one lacks."""
    try:
        return read_npz(path, names)
    except (OSError, ValueError) as error:
        reason = f"cannot be read ({getattr(error, 'strerror', None) or error})"
        raise input_error(str(path), "file", reason, "must be a whole .npz of numbers") from None


def _images(array: NDArray[Any], path: Path) -> NDArray[Any]:
    if array.ndim == 1:
        raise input_error(str(path), "file", "has labels", "must be the file of images")
    return array


def _from_pictures(folder: Path, shape: tuple[int, int, int]) -> Arrays:
    """Return the pictures in a folder, and in folders in it, by the order of their names."""
    paths, faults = [], []
    for entry in folder_entries(folder):
        for path in folder_entries(entry) if entry.is_dir() else [entry]:
            if path.suffix.lower() in SUFFIXES and path.is_file():
                paths.append(path)
            else:
                faults.append(Fault(str(path), "is no image", f"must be {', '.join(SUFFIXES)}"))
    if not paths and not faults:
        faults.append(Fault(str(folder), "is empty", "needs at least one picture"))
    if faults:
        raise InputError("images", first_faults(faults, len(faults)))
    pictures = read_pictures(paths)
    common_shape(pictures.content, pictures.names, shape)
    names = [path.relative_to(folder).as_posix() for path in paths]
    return {
        "image": decode_pictures(pictures.content, shape, pictures.names),
        FILE_KEY: np.array(names, dtype=object),
    }
