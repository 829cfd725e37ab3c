"""Messages as bytes: a JSON header and raw arrays. Nothing in them is ever run, or a pickle.

    magic · length of the header (4 bytes) · header · the arrays' numbers, one after another

The header says which arrays follow, their kinds and shapes. Sizes are checked against what is
really there before anything is made of it, and floats must be finite.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

MAGIC = b"scdn1\n"
LIMIT = 256 << 20  # bytes of a message
_HEADER_LIMIT = 1 << 20
_MOST_ARRAYS = 64
_KINDS = {"<f4", "<f8", "<i8", "|u1"}

Arrays = dict[str, NDArray[Any]]


class WireError(ValueError):
    """A message that is not what it should be; says what is wrong in few words."""


@dataclass(frozen=True, eq=False)
class Frame:
    """One message: what it is about, words that JSON can hold, and arrays."""

    kind: str
    words: dict[str, Any] = field(default_factory=dict)
    arrays: Arrays = field(default_factory=dict)


def encode(frame: Frame) -> bytes:
    """A message as bytes."""
    arrays = {name: _plain(array) for name, array in frame.arrays.items()}
    header = json.dumps(
        {
            "kind": frame.kind,
            "words": frame.words,
            "arrays": [[name, a.dtype.str, list(a.shape)] for name, a in arrays.items()],
        },
        allow_nan=False,
    ).encode()
    size = len(header).to_bytes(4, "big")
    return b"".join([MAGIC, size, header, *(array.tobytes() for array in arrays.values())])


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    """An array in one of the kinds that travel."""
    kind = {"f": array.dtype if array.dtype.itemsize in (4, 8) else "f4", "i": "i8", "u": "u1"}
    return np.ascontiguousarray(array, np.dtype(kind[array.dtype.kind]).newbyteorder("<"))


def decode(raw: bytes, limit: int = LIMIT) -> Frame:
    """The message in some bytes, or a `WireError`."""
    if len(raw) > limit:
        raise WireError(f"{len(raw)} bytes, at most {limit} are read")
    start = len(MAGIC) + 4
    if raw[: len(MAGIC)] != MAGIC or len(raw) < start:
        raise WireError("not a message of this program")
    size = int.from_bytes(raw[len(MAGIC) : start], "big")
    if size > min(_HEADER_LIMIT, len(raw) - start):
        raise WireError(f"a header of {size} bytes that is not there")
    header = _header(raw[start : start + size])
    return Frame(header["kind"], header["words"], _arrays(header["arrays"], raw, start + size))


def _header(raw: bytes) -> dict[str, Any]:
    try:
        header = json.loads(raw, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise WireError("a header that is not JSON") from None
    kinds = {"kind": str, "words": dict, "arrays": list}
    if not isinstance(header, dict) or set(header) != set(kinds):
        raise WireError("a header of another form")
    if not all(isinstance(header[key], kind) for key, kind in kinds.items()):
        raise WireError("a header of another form")
    return header


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _arrays(told: list[Any], raw: bytes, start: int) -> Arrays:
    if len(told) > _MOST_ARRAYS:
        raise WireError(f"{len(told)} arrays, at most {_MOST_ARRAYS} are read")
    found: Arrays = {}
    for entry in told:
        name, kind, shape = _entry(entry)
        count = math.prod(shape)
        size = count * np.dtype(kind).itemsize
        if name in found or size > len(raw) - start:
            raise WireError(f"an array of {size} bytes that is not there, or stands twice")
        array = np.frombuffer(raw, kind, count, start).reshape(shape)
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise WireError(f"{name} has numbers that are not finite")
        found[name] = array
        start += size
    if start != len(raw):
        raise WireError(f"{len(raw) - start} bytes too many")
    return found


def _entry(entry: Any) -> tuple[str, str, tuple[int, ...]]:
    match entry:
        case [str(name), str(kind), [*shape]] if kind in _KINDS and len(shape) <= 4:
            if all(type(size) is int and 0 <= size <= LIMIT for size in shape):
                return name, kind, tuple(shape)
    raise WireError("an array of another form")
