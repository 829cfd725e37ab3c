"""Reports of devices that have trained before: they apply their updates when the server asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scdn.federation.round_progress import RoundProgress
from scdn.learning.party_backend import RoundTask

if TYPE_CHECKING:
    from scdn.federation.remote_parties import RemoteParties


def take_reports(remote: RemoteParties, task: RoundTask) -> None:
    """Begin a round, or an arrival in it, with devices that are ready to report.

    Where the step is chosen after training, they are asked for the embeddings on which it is.
    """
    remote.progress = progress = RoundProgress(
        rows={"drawn": task.batches.flatten(), "held_out": task.held_out.flatten()},
        bases={name: remote.parties[name].state for name in task.late},
        table_parts=task.table_parts,
        reports=True,
        asked=set(task.late),
        missed=set(task.late),
        before={name: remote.before[name] for name in task.late},
    )
    replies = {name: remote.ready.pop(name) for name in remote.parties if name in task.late}
    replies, _ = remote.with_statistics(replies)
    if remote.learning.step == "rate":
        progress.trained = {name: {} for name in replies}
        return
    replies = remote.ask("embed", list(replies), phase="trained")
    progress.trained |= remote.receive_trained(remote.without_diverged(replies))
