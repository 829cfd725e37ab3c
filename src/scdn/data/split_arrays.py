"""Train/test splits that the names of arrays, files or folders tell, such as `x_train`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scdn.errors import input_error

Arrays = dict[str, NDArray[Any]]

# t10k: the test rows of MNIST and of the sets that are named like it
_PARTS = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("val", "valid", "validation"), "validation"),
    **dict.fromkeys(("test", "testing", "t10k"), "test"),
}
_PART_NAME = re.compile(rf"(?:^|[^a-z0-9])({'|'.join(_PARTS)})(?:$|[^a-z0-9])", re.IGNORECASE)


def part_of(name: str) -> str:
    """Return `"train"`, `"validation"` or `"test"` if a name says so, else an empty text."""
    match = _PART_NAME.search(name)
    return _PARTS[match.group(1).lower()] if match else ""


def split_arrays(arrays: Mapping[str, NDArray[Any]]) -> tuple[Arrays, Arrays | None]:
    """Return the training and test arrays, named without their part: `x` for `x_train`.

    If not all arrays come as training and test, there is no split: all of them, and None.
    Validation arrays count as training rows. Raises `ValueError` where they do not fit these.
    """
    parts: dict[str, Arrays] = defaultdict(dict)
    for name, array in arrays.items():
        parts[part_of(name)][_PART_NAME.sub("", name)] = array
    named = {frozenset(group) for group in parts.values()}
    if not {"train", "test"} <= parts.keys() or "" in parts or len(named) > 1:
        return dict(arrays), None
    train = parts["train"]
    for name, array in parts.get("validation", {}).items():
        if array.ndim == 0 or array.shape[1:] != train[name].shape[1:]:
            fault = f"{array.shape}, those of training {train[name].shape}"
            raise ValueError(f"validation rows of {name} have shape {fault}")
        train[name] = np.concatenate([train[name], array])
    return train, parts["test"]


def folder_entries(folder: Path) -> list[Path]:
    """Return what is in a folder, in order, without hidden files."""
    try:
        return sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        reason = f"cannot be read ({error.strerror})"
        allowed = "must be a readable folder"
        raise input_error(str(folder), "folder", reason, allowed) from None
