"""Files of NumPy arrays: read without pickles, with one error for all damage, and written whole."""

from __future__ import annotations

import io
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scdn.file_io import MEBIBYTE, write_atomic

UNPACKED_LIMIT = 4096 * MEBIBYTE  # a small compressed file may unpack to any size

_ZIP32_LIMIT = 1024 * MEBIBYTE  # beyond, an entry of the archive needs longer sizes
_LEVEL = 7  # as fast as the default, and somewhat smaller


def read_npz(path: Path, keys: Iterable[str] | None = None) -> dict[str, NDArray[Any]]:
    """Read all arrays of a file, or those named.

    Raises `KeyError` for a missing array, and `ValueError` if the file is damaged or too large.
    """
    try:
        with path.open("rb") as file:
            if not zipfile.is_zipfile(file):  # NumPy's error would advise to allow pickles
                raise zipfile.BadZipFile
            with zipfile.ZipFile(file) as archive:
                check_unpacked_size(sum(entry.file_size for entry in archive.infolist()))
            file.seek(0)
            with np.load(file, allow_pickle=False) as arrays:
                return {
                    key: _array(arrays, key) for key in (arrays.files if keys is None else keys)
                }
    # RuntimeError: encrypted, or a compression that zipfile does not know.
    # MemoryError: the header of an array promises more than the file holds.
    except (
        *(TypeError, EOFError, RuntimeError, OverflowError, MemoryError),
        *(zipfile.BadZipFile, zlib.error, lzma.LZMAError),
    ):
        raise ValueError("not a whole npz file") from None


def _array(arrays: Mapping[str, Any], key: str) -> NDArray[Any]:
    array = arrays[key]
    if not isinstance(array, np.ndarray):  # NumPy returns the bytes of other files
        raise TypeError(key)
    return array


def check_unpacked_size(size: int) -> None:
    """Raise `ValueError` for content that would need too much memory."""
    if size > UNPACKED_LIMIT:
        limit = f"at most {UNPACKED_LIMIT // MEBIBYTE} MiB are allowed"
        raise ValueError(f"unpacks to {size // MEBIBYTE} MiB, {limit}")


def write_npz(path: Path, **arrays: Any) -> None:
    """Write arrays to an `.npz` file; the file is complete or not there at all.

    The archive is made in a thread of its own, since Ctrl-C interrupts the main thread alone: in
    the middle of an entry, zipfile would raise an error of its own and hide the interrupt.
    """
    buffer = io.BytesIO()
    with ThreadPoolExecutor(1) as thread:
        thread.submit(np.savez, buffer, **arrays).result()
    write_atomic(path, buffer.getvalue())


def compressed_npz(
    arrays: Mapping[str, NDArray[Any]],
    *,
    smallest: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> bytes:
    """Return an `.npz` file as bytes: deflated, or `smallest`, which takes ten times as long.

    `progress` is called with the number of bytes that were packed so far.
    """
    buffer = io.BytesIO()
    kind = zipfile.ZIP_LZMA if smallest else zipfile.ZIP_DEFLATED
    packed = 0
    with zipfile.ZipFile(buffer, "w", kind, compresslevel=_LEVEL) as archive:
        for key, array in arrays.items():
            content = _npy_bytes(array)
            large = len(content) > _ZIP32_LIMIT
            with archive.open(f"{key}.npy", "w", force_zip64=large) as member:
                for start in range(0, len(content), MEBIBYTE):
                    packed += member.write(content[start : start + MEBIBYTE])
                    progress(packed)
    return buffer.getvalue()


def _npy_bytes(array: NDArray[Any]) -> memoryview:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, allow_pickle=False)
    return buffer.getbuffer()
