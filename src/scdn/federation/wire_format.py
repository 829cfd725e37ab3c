"""Convert messages to bytes and back: a JSON header followed by raw arrays.

    magic · length of the header (4 bytes) · header · the arrays' numbers, one after another

The header lists the arrays with their types and shapes. Sizes are checked against the bytes that
are really there before an array is made, floats must be finite, and nothing is ever unpickled.
`incoming_messages.py` checks what the fields and arrays of a message are.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

MAGIC = b"scdn2\n"
MAX_BYTES = 256 << 20  # of a message
_MAX_HEADER_BYTES = 1 << 20
_MAX_ARRAYS = 64
_DTYPES = {"<f4", "<f8", "<i8", "|u1"}

Arrays = dict[str, NDArray[Any]]


class WireError(ValueError):
    """A message is malformed; the text says briefly in what way."""


@dataclass(frozen=True, eq=False)
class Frame:
    """One message: its kind, fields that JSON can hold, and arrays."""

    kind: str
    fields: dict[str, Any] = field(default_factory=dict)
    arrays: Arrays = field(default_factory=dict)


def encode(frame: Frame) -> bytes:
    """Return a message as bytes."""
    arrays = {name: _portable(array) for name, array in frame.arrays.items()}
    header = json.dumps(
        {
            "kind": frame.kind,
            "fields": frame.fields,
            "arrays": [[name, a.dtype.str, list(a.shape)] for name, a in arrays.items()],
        },
        allow_nan=False,
    ).encode()
    size = len(header).to_bytes(4, "big")
    return b"".join([MAGIC, size, header, *(array.tobytes() for array in arrays.values())])


def _portable(array: NDArray[Any]) -> NDArray[Any]:
    """Convert an array to one of the little-endian types that messages may hold."""
    dtype = {"f": array.dtype if array.dtype.itemsize in (4, 8) else "f4", "i": "i8", "u": "u1"}
    return np.ascontiguousarray(array, np.dtype(dtype[array.dtype.kind]).newbyteorder("<"))


def decode(raw: bytes, max_bytes: int = MAX_BYTES) -> Frame:
    """Return the message in `raw`, or raise `WireError`."""
    if len(raw) > max_bytes:
        raise WireError(f"message has {len(raw)} bytes, at most {max_bytes} are read")
    start = len(MAGIC) + 4
    if raw[: len(MAGIC)] != MAGIC or len(raw) < start:
        raise WireError("not a message of this program and version")
    size = int.from_bytes(raw[len(MAGIC) : start], "big")
    if size > min(_MAX_HEADER_BYTES, len(raw) - start):
        raise WireError(f"header of {size} bytes is too large or cut off")
    header = _decode_header(raw[start : start + size])
    arrays = _decode_arrays(header["arrays"], raw, start + size)
    return Frame(header["kind"], header["fields"], arrays)


def _decode_header(raw: bytes) -> dict[str, Any]:
    try:
        header = json.loads(raw, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise WireError("header is not JSON") from None
    types = {"kind": str, "fields": dict, "arrays": list}
    if not isinstance(header, dict) or set(header) != set(types):
        raise WireError("header has the wrong keys")
    if not all(isinstance(header[key], type_) for key, type_ in types.items()):
        raise WireError("header has values of the wrong type")
    return header


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)  # NaN and Infinity, which Python's JSON would accept


def _decode_arrays(listed: list[Any], raw: bytes, start: int) -> Arrays:
    if len(listed) > _MAX_ARRAYS:
        raise WireError(f"message has {len(listed)} arrays, at most {_MAX_ARRAYS} are read")
    arrays: Arrays = {}
    for entry in listed:
        name, dtype, shape = _decode_entry(entry)
        count = math.prod(shape)
        size = count * np.dtype(dtype).itemsize
        if math.prod(size for size in shape if size) > MAX_BYTES:  # where another one is 0
            raise WireError(f"{name} has more elements than a message can hold")
        if name in arrays or size > len(raw) - start:
            raise WireError(f"array of {size} bytes is duplicate or cut off")
        array = np.frombuffer(raw, dtype, count, start).reshape(shape)
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise WireError(f"{name} has numbers that are not finite")
        arrays[name] = array
        start += size
    if start != len(raw):
        raise WireError(f"message has {len(raw) - start} bytes too many")
    return arrays


def _decode_entry(entry: Any) -> tuple[str, str, tuple[int, ...]]:
    match entry:
        case [str(name), str(dtype), [*shape]] if dtype in _DTYPES and len(shape) <= 4:
            if all(type(size) is int and 0 <= size <= MAX_BYTES for size in shape):
                return name, dtype, tuple(shape)
    raise WireError("header lists an array in the wrong form")
