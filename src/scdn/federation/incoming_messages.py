"""Read what the other side sends: the one place where bytes become messages that are used.

Whatever is wrong with a message, reading it raises `WireError` and nothing else, so that no message
ends a run or a device. A message is read in three steps: its bytes (`wire_format.py`), its fields
and the shapes of its arrays (`messages.py`), and here whether it belongs to the request, and how
large the numbers of its tables are once they have the precision in which they are used. What a
well-formed message says is judged in `anomaly_detection.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from numpy.typing import NDArray
from torch import Tensor

from scdn.errors import InputError, describe_error, printable
from scdn.federation.messages import (
    REFUSED,
    SCHEMAS,
    Message,
    RefusedReply,
    check_message,
)
from scdn.federation.table_format import bounded, unpack_table
from scdn.federation.wire_format import MAX_BYTES, Arrays, WireError, decode
from scdn.learning.gradient_stats import GradientStats
from scdn.learning.table_sender import TableSender
from scdn.learning.tensors import TensorOptions

_MAX_TEXT = 200  # characters of an error that are logged, or sent back

Tables = dict[str, Tensor]


class Reply(NamedTuple):
    """A checked reply."""

    fields: Any
    arrays: Arrays


class CheckedRequest(NamedTuple):
    """A checked request of the server."""

    kind: str
    fields: Any
    arrays: Arrays


class RefusedError(Exception):
    """A device refused a request in a well-formed reply."""


@contextmanager
def only_wire_errors() -> Iterator[None]:
    """Turn whatever is raised by reading or using a message into a `WireError` of one line."""
    try:
        yield
    except RefusedError:
        raise
    except InputError as error:
        raise WireError("; ".join(error.lines())[:_MAX_TEXT]) from None
    except WireError as error:
        raise WireError(printable(str(error)[:_MAX_TEXT])) from None
    except Exception as error:  # a message can make a library raise anything
        raise WireError(printable(describe_error(error)[:_MAX_TEXT])) from None


def read_request(raw: bytes) -> CheckedRequest:
    """Return a request that the server sent."""
    with only_wire_errors():
        frame = decode(raw)
        if frame.kind not in SCHEMAS:
            raise WireError(f"unknown kind of request: {frame.kind[:40]}")
        fields = check_message(SCHEMAS[frame.kind][0], frame)
        return CheckedRequest(frame.kind, fields, frame.arrays)


def read_reply(
    raw: bytes,
    kind: str,
    run: str,
    nonce: str,
    sizes: Mapping[str, int],
    max_bytes: int = MAX_BYTES,
) -> Reply:
    """Return a device's reply to a request of this kind, run and nonce.

    `sizes` are sizes that its arrays must have. Raise `RefusedError` where the device refuses.
    """
    with only_wire_errors():
        frame = decode(raw, max_bytes)
        schema: type[Message] = RefusedReply if frame.kind == REFUSED else SCHEMAS[kind][1]
        if frame.kind not in (kind, REFUSED):
            raise WireError(f"replied {frame.kind[:40]} to {kind}")
        fields = check_message(schema, frame, sizes)
        if isinstance(fields, RefusedReply):  # it may not have been able to read whose nonce it is
            raise RefusedError(printable(fields.reason))
        if fields.nonce != nonce or fields.run != run:
            raise WireError("belongs to another request")
        return Reply(fields, frame.arrays)


class TableReader(NamedTuple):
    """Reads tables of embeddings, (rows, width), from the arrays of a message."""

    options: TensorOptions
    width: int

    def coded(
        self,
        coder: TableSender,
        party: str,
        arrays: Arrays,
        rows: Mapping[str, int],
        phase: str,
    ) -> Tables:
        """Return tables that are sent in few bits, or as they are; `rows` are their sizes."""
        tables: Tables = {}
        with only_wire_errors():
            for table, count in rows.items():
                like = torch.zeros(
                    count, self.width, dtype=self.options.dtype, device=self.options.device
                )
                if count:
                    like = unpack_table(coder, party, table, arrays, like, phase)
                tables[table] = like
        return tables

    def plain(self, table: str, array: NDArray[Any]) -> Tensor:
        """Return a table that is always sent as it is."""
        with only_wire_errors():
            return bounded(table, self.options.tensor(array.copy()))


def reply_statistics(reply: Reply) -> dict[str, float | None]:
    """Return what a device has measured of its model, by name."""
    names = ("bound_sq", "variance", "measured_smoothness", "smoothness")
    return {name: getattr(reply.fields, name, None) for name in names}


def gradient_stats(
    statistics: Mapping[str, Mapping[str, float | None]],
) -> dict[str, GradientStats]:
    """Return the statistics of devices that have measured their gradients."""
    stats = {}
    for name, measured in statistics.items():
        bound_sq, variance = measured["bound_sq"], measured["variance"]
        if bound_sq is not None and variance is not None:
            stats[name] = GradientStats(bound_sq, variance, measured["measured_smoothness"])
    return stats
