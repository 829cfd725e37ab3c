"""Tables of numbers in 2, 4, 8 or 16 bits each, as they are sent.

A column's numbers become levels that divide the column's range evenly. Rounding is stochastic: a
number goes to the level above or below it, the nearer the likelier, so that it is right on
average. The levels follow from the range as it is sent, so sender and receiver have the same.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import DTypeLike, NDArray

from scdn.learning.round_protocol import FIGURE_BITS

CODE_BITS = (2, 4, 8, 16)


class CodedTable(NamedTuple):
    """A table in few bits; one without rows has no codes, and need not be sent.

    Attributes
    ----------
    codes
        The levels of all numbers, row by row and without gaps. A byte's first number is in its
        lowest bits, and a number's low byte comes first.
    ranges
        The lowest (first row) and highest number of each column, or the 32-bit numbers next to
        them outside the range.
    """

    codes: NDArray[np.uint8]
    ranges: NDArray[np.float32]


def encode_table(
    values: NDArray[np.floating[Any]], bits: int, draw: np.random.Generator
) -> CodedTable:
    """Round a table of rows and columns to so many bits per number.

    Raises ValueError where a number is not finite, or too large for a range of 32-bit numbers.
    """
    top = _highest_level(bits)
    if values.ndim != 2:
        raise ValueError(f"a table has rows and columns, got the shape {values.shape}")
    table = values.astype(np.float64)
    ranges = _column_ranges(table)
    if not np.isfinite(ranges).all():  # NaN and infinity are in the range of their column
        raise ValueError("numbers to be coded must be finite and fit in 32 bits")
    lowest, highest = ranges.astype(np.float64)
    span = np.where(highest > lowest, highest - lowest, 1.0)
    # Inexact in the last digit, the highest number's position could get a level that is not there.
    position = np.minimum((table - lowest) * top / span, top)
    below = np.floor(position)
    levels = below + (draw.random(table.shape) < position - below)
    return CodedTable(_pack(levels.ravel().astype(np.uint16), bits), ranges)


def decode_table(coded: CodedTable, rows: int, bits: int, dtype: DTypeLike) -> NDArray[Any]:
    """Return the rounded numbers of a table of so many rows.

    Raises ValueError where the codes or ranges cannot be those of such a table.
    """
    top = _highest_level(bits)
    codes, ranges = coded
    if ranges.ndim != 2 or len(ranges) != 2:
        raise ValueError(f"ranges have two rows, got the shape {ranges.shape}")
    lowest, highest = ranges.astype(np.float64)
    if not (np.isfinite(ranges).all() and (lowest <= highest).all()):
        raise ValueError("ranges must be finite, the lowest numbers first")
    shape = (rows, len(lowest))
    size = _packed_size(rows * len(lowest), bits)
    if rows < 0 or codes.dtype != np.uint8 or codes.shape != (size,):
        got = f"got {codes.dtype} of the shape {codes.shape}"
        raise ValueError(f"a table of shape {shape} has {size} bytes of codes, {got}")
    levels = _unpack(codes, rows * len(lowest), bits).reshape(shape).astype(np.float64)
    # Products are exact: a 32-bit number has 24 digits, a level at most 16, and there is room for
    # 53. So the ends of the range are exact, and nothing is outside it.
    return ((lowest * (top - levels) + highest * levels) / top).astype(dtype)


def rounded_table(
    values: torch.Tensor,
    bits: int,
    draw: np.random.Generator,
    reference: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return what the receiver has of a table that is sent in so many bits per number.

    With a `reference`, which is what both sides have of the same rows from an earlier sending, only
    the difference is sent; so errors of earlier sendings are corrected. Differences and sums are
    taken in the precision of `values`. Tables in 32 bits, and those that cannot be coded because
    training diverged, are returned as they are.
    """
    if bits == FIGURE_BITS:
        return values
    difference = values.detach() if reference is None else values.detach() - reference
    array = difference.to("cpu", torch.float64).numpy()
    if not np.isfinite(_column_ranges(array)).all():
        return values
    coded = encode_table(array, bits, draw)
    decoded = torch.from_numpy(decode_table(coded, len(array), bits, np.float64)).to(difference)
    return decoded if reference is None else decoded + reference


def _highest_level(bits: int) -> int:
    if bits not in CODE_BITS:
        raise ValueError(f"numbers are coded in 2, 4, 8 or 16 bits, got {bits}")
    return 2**bits - 1


def _column_ranges(table: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the lowest and highest number of each column, rounded outwards to 32 bits.

    They are not finite where a column's numbers are not, or are too large for 32 bits.
    """
    if not len(table):
        return np.zeros((2, table.shape[1]), np.float32)
    ends = np.stack([table.min(axis=0), table.max(axis=0)])
    outwards = np.array([[-np.inf], [np.inf]], np.float32)
    with np.errstate(over="ignore"):
        ranges = ends.astype(np.float32)
        inside = np.stack([ranges[0] > ends[0], ranges[1] < ends[1]])
        return np.where(inside, np.nextafter(ranges, outwards), ranges)


def _packed_size(numbers: int, bits: int) -> int:
    return -(-numbers * bits // 8)


def _pack(levels: NDArray[np.uint16], bits: int) -> NDArray[np.uint8]:
    if bits == 16:
        return levels.astype("<u2").view(np.uint8)
    per_byte = 8 // bits
    padded = np.zeros((_packed_size(levels.size, bits), per_byte), np.uint8)
    padded.ravel()[: levels.size] = levels
    shifts = np.arange(per_byte, dtype=np.uint8) * np.uint8(bits)
    return np.bitwise_or.reduce(padded << shifts, axis=1)


def _unpack(codes: NDArray[np.uint8], numbers: int, bits: int) -> NDArray[np.unsignedinteger[Any]]:
    if bits == 16:
        return np.ascontiguousarray(codes).view("<u2")
    shifts = np.arange(8 // bits, dtype=np.uint8) * np.uint8(bits)
    return ((codes[:, None] >> shifts) & np.uint8(2**bits - 1)).ravel()[:numbers]
