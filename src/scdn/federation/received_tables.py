"""What devices have sent, as tables; a reply with a wrong one is rejected."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from scdn.federation.incoming_messages import Reply, Tables
from scdn.federation.round_progress import SentUpdate
from scdn.federation.wire_format import WireError

if TYPE_CHECKING:
    from scdn.federation.remote_parties import RemoteParties


def receive_reports(remote: RemoteParties, replies: Mapping[str, Reply]) -> dict[str, SentUpdate]:
    """Return what devices report of the sample and the test rows."""
    updates = {}
    for name, reply in replies.items():
        smoothness = reply.fields.smoothness
        if "test" not in reply.arrays:
            remote.messenger.reject(name, "array 'test' is missing")
        elif smoothness is None and remote.learning.smoothness == "norms":
            remote.without({name: None}, {name: "its smoothness is not finite"})
        elif sample := unpack(remote, name, reply, ["sample"], "after", remote.sample_rows):
            try:
                test = remote.reader.plain("test", reply.arrays["test"])
            except WireError as error:
                remote.messenger.reject(name, str(error))
            else:
                updates[name] = SentUpdate(sample, test, smoothness)
    return updates


def unpack(
    remote: RemoteParties,
    name: str,
    reply: Reply,
    tables: Collection[str],
    phase: str,
    rows: int | None = None,
) -> Tables | None:
    """Return tables of a reply; None, and a line in the log, where one is missing or wrong."""
    sizes = remote.progress.sizes
    counts = {table: sizes[table] if rows is None else rows for table in tables}
    try:
        return remote.reader.coded(remote.coder, name, reply.arrays, counts, phase)
    except WireError as error:
        remote.messenger.reject(name, str(error))
        return None
