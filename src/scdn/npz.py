"""Files of NumPy arrays: read without pickles, with one error for all damage, and written whole."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scdn.file_io import write_atomic


def read_npz(path: Path, keys: Iterable[str] | None = None) -> dict[str, NDArray[Any]]:
    """Read all arrays of a file, or those named.

    Raises `KeyError` for a missing array, and `ValueError` if the file is damaged.
    """
    try:
        with path.open("rb") as file:
            if not zipfile.is_zipfile(file):  # NumPy's error would advise to allow pickles
                raise zipfile.BadZipFile
            file.seek(0)
            with np.load(file, allow_pickle=False) as arrays:
                return {key: arrays[key] for key in (arrays.files if keys is None else keys)}
    # NotImplementedError: a compression that zipfile does not know
    except (TypeError, EOFError, NotImplementedError, zipfile.BadZipFile, zlib.error):
        raise ValueError("not a whole npz file") from None


def write_npz(path: Path, **arrays: Any) -> None:
    """Write arrays to an `.npz` file; the file is complete or not there at all."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    write_atomic(path, buffer.getvalue())
