"""Checkpoints: arrays and words of a run in one file, replaced whole.

What never changes again (a departed party's tables) has a file of its own, written once.
"""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scdn.errors import input_error
from scdn.file_io import OutputError, to_json, write_atomic
from scdn.npz import read_npz

Arrays = Mapping[str, NDArray[Any]]

FOLDER = "checkpoint"
_STATE = "state.npz"
_WORDS = "words"


def save(
    run: Path, arrays: Arrays, words: Mapping[str, Any], fixed: Mapping[str, Arrays] | None = None
) -> None:
    """Stores a state; `fixed` has named groups of arrays that stay as they are for ever."""
    folder = run / FOLDER
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made ({error.strerror})") from None
    names = list(fixed or {})
    for number, name in enumerate(names):
        path = folder / f"fixed-{number}.npz"
        if not path.exists():
            write_atomic(path, _packed((fixed or {})[name], {"name": name}))
    write_atomic(folder / _STATE, _packed(arrays, {**words, "fixed": names}))


def clear(run: Path) -> None:
    """Removes what an earlier run may have left."""
    shutil.rmtree(run / FOLDER, ignore_errors=True)


def load(run: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any], dict[str, Arrays]]:
    """The last stored state: arrays, words, and the fixed groups."""
    folder = run / FOLDER
    arrays, words = _unpacked(folder / _STATE)
    for litter in folder.glob(".*.npz.*"):  # of a process that was killed while it wrote
        litter.unlink(missing_ok=True)
    fixed: dict[str, Arrays] = {}
    for number, name in enumerate(words.pop("fixed")):
        fixed[name], told = _unpacked(folder / f"fixed-{number}.npz")
        if told["name"] != name:
            found = f"is of {told['name']!r}"
            raise input_error(str(folder), f"fixed-{number}.npz", found, f"must be of {name!r}")
    return arrays, words, fixed


def _packed(arrays: Arrays, words: Mapping[str, Any]) -> bytes:
    buffer = io.BytesIO()
    content: dict[str, Any] = {_WORDS: np.array(to_json(dict(words), indent=None)), **arrays}
    np.savez(buffer, **content)
    return buffer.getvalue()


def _unpacked(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    try:
        arrays = read_npz(path)
        return arrays, json.loads(str(arrays.pop(_WORDS)))
    except FileNotFoundError:
        raise input_error(str(path), "checkpoint", "is not there", "nothing to resume") from None
    except (OSError, ValueError, KeyError) as error:
        found_ = f"is damaged ({type(error).__name__})"
        raise input_error(str(path), "checkpoint", found_, "cannot resume") from None
