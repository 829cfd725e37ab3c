"""IDX files, in which MNIST and many sets like it are published: sizes, then values."""

from __future__ import annotations

import gzip
import re
import struct
import zlib
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from scdn.errors import input_error
from scdn.file_io import MEBIBYTE
from scdn.npz import check_unpacked_size

_TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
_DIMENSIONS = (1, 3, 4)  # labels, grey images, images with channels
_NAME = re.compile(r"(ubyte|idx\d?)(\.gz)?$")


def is_idx_name(path: Path) -> bool:
    """Return whether a file is named as IDX files are, such as `train-images-idx3-ubyte.gz`."""
    return _NAME.search(path.name.lower()) is not None


def read_idx(path: Path) -> NDArray[Any]:
    """Return the array in an IDX file, which may be compressed with gzip."""
    source = str(path)
    try:
        with path.open("rb") as file:
            compressed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            if not compressed:
                return parse_idx(file, source)
            with gzip.open(file) as unpacked:
                return parse_idx(unpacked, source)  # type: ignore[arg-type]
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        allowed = "must be a whole IDX file, plain or with gzip"
        raise input_error(source, "file", f"cannot be read ({reason})", allowed) from None


def parse_idx(file: BinaryIO, source: str) -> NDArray[Any]:
    """Return the array in an open IDX file; `source` names it in errors."""
    magic = file.read(4)
    if len(magic) < 4 or magic[:2] != b"\0\0" or magic[2] not in _TYPES:
        allowed = "must be 0, 0, a type from 08 to 0e and the number of dimensions"
        raise input_error(source, "magic", f"got {magic.hex() or 'nothing'}", allowed)
    dtype, dimensions = np.dtype(_TYPES[magic[2]]), magic[3]
    if dimensions not in _DIMENSIONS:
        allowed = "must be 1 for labels, 3 or 4 for images"
        raise input_error(source, "dimensions", f"got {dimensions}", allowed)
    sizes = file.read(4 * dimensions)
    if len(sizes) < 4 * dimensions:
        raise input_error(source, "sizes", "end too early", f"must be {dimensions} numbers")
    shape = struct.unpack(f">{dimensions}I", sizes)
    expected = prod(shape) * dtype.itemsize
    try:
        check_unpacked_size(expected)
    except ValueError as error:
        raise input_error(source, "sizes", str(error), f"got {list(shape)}") from None
    raw = _read_at_most(file, expected + 1)
    if len(raw) != expected:
        fault = f"{len(raw)} bytes" if len(raw) < expected else f"more than {expected} bytes"
        allowed = f"must be {expected} for the sizes {list(shape)}"
        raise input_error(source, "values", fault, allowed)
    return np.frombuffer(raw, dtype).reshape(shape).astype(dtype.newbyteorder("="))


def _read_at_most(file: BinaryIO, size: int) -> bytes:
    """Read in small steps: a single call would reserve all the memory that a header promises."""
    chunks: list[bytes] = []
    left = size
    while left and (chunk := file.read(min(left, MEBIBYTE))):
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks)
