"""Checkpoints: the arrays and values of a run in one file, which is replaced as a whole.

Arrays that never change again (the tables of a departed party) have a file of their own, which is
written once.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scdn import __version__
from scdn.errors import InputError, input_error
from scdn.file_io import make_folder, to_json
from scdn.npz import read_npz, write_npz

Arrays = Mapping[str, NDArray[Any]]

FOLDER = "checkpoint"
FORMAT = 7  # increase it whenever a checkpoint of the version before cannot be loaded
_STATE = "state.npz"
_VALUES = "values"
_VALUES_OF_FORMAT_1 = "words"


def save(
    run: Path, arrays: Arrays, values: Mapping[str, Any], constants: Mapping[str, Arrays]
) -> None:
    """Write a state; `constants` has named groups of arrays that never change again."""
    folder = run / FOLDER
    make_folder(folder)
    for number, (name, tables) in enumerate(constants.items()):
        path = folder / _constant_file(number)
        if not path.exists():
            _write(path, tables, {"name": name})
    version = {"format": FORMAT, "scdn": __version__}
    _write(folder / _STATE, arrays, {**version, **values, "constants": list(constants)})


def save_round(run: Path, number: int, arrays: Arrays, values: Mapping[str, Any]) -> None:
    """Write what is kept of one round, in a file of its own."""
    folder = run / FOLDER
    make_folder(folder)
    _write(folder / _round_file(number), arrays, values)


def load_rounds(run: Path, count: int) -> list[tuple[dict[str, NDArray[Any]], dict[str, Any]]]:
    """Return what `save_round` wrote of the first `count` rounds."""
    return [_read(run / FOLDER / _round_file(number)) for number in range(count)]


def clear(run: Path) -> None:
    """Remove the checkpoint of an earlier run in the same folder."""
    shutil.rmtree(run / FOLDER, ignore_errors=True)


def remove_leftovers(run: Path) -> None:
    """Remove what a process left that was killed while it wrote; nobody else may write now."""
    for leftover in (run / FOLDER).glob(".*.npz.*"):
        leftover.unlink(missing_ok=True)


def load(run: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any], dict[str, Arrays]]:
    """Return what `save` last wrote: arrays, values and constants."""
    folder = run / FOLDER
    arrays, values = _read(folder / _STATE)
    _check_format(folder / _STATE, values)
    constants: dict[str, Arrays] = {}
    for number, name in enumerate(values.pop("constants")):
        constants[name], header = _read(folder / _constant_file(number))
        if header["name"] != name:
            fault = f"is of {header['name']!r}"
            raise input_error(str(folder), _constant_file(number), fault, f"must be of {name!r}")
    return arrays, values, constants


def _constant_file(number: int) -> str:
    return f"fixed-{number}.npz"


def _round_file(number: int) -> str:
    return f"round-{number}.npz"


def _write(path: Path, arrays: Arrays, values: Mapping[str, Any]) -> None:
    write_npz(path, **{_VALUES: np.array(to_json(dict(values), indent=None)), **arrays})


def _read(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    try:
        arrays = read_npz(path)
        if _VALUES_OF_FORMAT_1 in arrays and _VALUES not in arrays:
            return arrays, {"format": 1}
        return arrays, json.loads(str(arrays.pop(_VALUES)))
    except FileNotFoundError:
        raise _error(path, "is not there", "the run must have one") from None
    except (OSError, ValueError, KeyError) as error:
        raise _error(path, f"is damaged ({type(error).__name__})", "cannot resume") from None


def _check_format(path: Path, values: Mapping[str, Any]) -> None:
    number = values.get("format")
    if number != FORMAT:
        writer = f"scdn {values['scdn']}" if "scdn" in values else "an earlier version of scdn"
        fault = f"has format {number}, written by {writer}"
        allowed = f"scdn {__version__} reads format {FORMAT}: start the run again in another folder"
        raise _error(path, fault, allowed)


def _error(path: Path, found: str, allowed: str) -> InputError:
    return input_error(str(path), "checkpoint", found, allowed)
