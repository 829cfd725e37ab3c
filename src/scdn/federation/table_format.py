"""Tables of embeddings and gradients as arrays of a message: raw, or in few bits per number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from scdn.federation.wire_format import Arrays, WireError
from scdn.learning.number_coding import CodedTable
from scdn.learning.table_sender import Round, TableSender

# Of an embedding or a gradient: the squares of such numbers, summed over a table, are still finite
# in 32 bits. The root mean square of honest tables was 54 at most.
MAX_VALUE = 1e9
_CODES, _RANGES = "_codes", "_ranges"


def table_arrays(name: str) -> dict[str, tuple[str, tuple[int | str, ...]]]:
    """Return the arrays that a table may have in a message, for its schema."""
    return {
        f"{name}?": ("f", (name, "w")),
        f"{name}{_CODES}?": ("u", (f"{name} bytes",)),
        f"{name}{_RANGES}?": ("f", (2, "w")),
    }


def table_of(array: str) -> str:
    """Return the table that an array of a message belongs to."""
    return array.removesuffix(_CODES).removesuffix(_RANGES)


def has_table(arrays: Mapping[str, Any], name: str) -> bool:
    """Return whether a message has a table, or a part of one."""
    return any(array in arrays for array in (name, name + _CODES, name + _RANGES))


class NotFiniteError(WireError):
    """Raised where numbers that would be sent are not finite, or too large to be sent."""


def pack_table(
    sender: TableSender, party: str, table: str, values: Tensor, phase: str, at: Round
) -> Arrays:
    """Return a table as arrays of a message."""
    if not values.isfinite().all():
        raise NotFiniteError(f"{table} is no longer finite")
    if not sender.rounds:
        return {table: values.detach().cpu().numpy()}
    try:
        coded = sender.code(party, table, values, phase, at)
    except ValueError as error:
        raise NotFiniteError(f"{table}: {error}") from None
    return {table + _CODES: coded.codes, table + _RANGES: coded.ranges}


def unpack_table(
    receiver: TableSender, party: str, table: str, arrays: Arrays, like: Tensor, phase: str
) -> Tensor:
    """Return a table from a message's arrays; its size, type and device are those of `like`."""
    if not receiver.rounds:
        values = _array(arrays, table)
        if values.shape != tuple(like.shape):
            raise WireError(f"{table} has shape {values.shape}, must be {tuple(like.shape)}")
        return bounded(table, like.new_tensor(values))
    coded = CodedTable(_array(arrays, table + _CODES), _array(arrays, table + _RANGES))
    if coded.ranges.shape != (2, like.shape[1]) or coded.ranges.dtype != np.float32:
        raise WireError(f"{table} must have 32-bit ranges of {like.shape[1]} columns")
    try:
        received = receiver.receive(party, table, coded, like, phase)
    except ValueError as error:
        raise WireError(f"{table}: {error}") from None
    return bounded(table, received)


def bounded(table: str, values: Tensor) -> Tensor:
    """Return a table; raise an error where its numbers are too large to be computed with."""
    if values.numel() and not bool((values.abs() <= MAX_VALUE).all()):  # NaN is not below it
        raise WireError(f"{table} has numbers that are too large")
    return values


def bounded_array(table: str, values: NDArray[Any]) -> NDArray[Any]:
    """Return an array of a message as `bounded` returns a table."""
    if not bool((np.abs(values) <= MAX_VALUE).all()):
        raise WireError(f"{table} has numbers that are too large")
    return values


def _array(arrays: Arrays, name: str) -> NDArray[Any]:
    if name not in arrays:
        raise WireError(f"array {name!r} is missing")
    return np.asarray(arrays[name])
