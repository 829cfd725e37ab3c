"""Rows of recent rounds with the embeddings that the server heard, on which it trains."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from scdn.learning.tensors import Arrays, StateDict, TensorOptions, strip_prefix, to_arrays


@dataclass(frozen=True)
class HeardRows:
    """The training rows of one round, as members embedded them when the round ended."""

    round: int
    rows: Tensor  # (rows,) indices of training rows
    held_out: Tensor  # (rows,): nobody trains on these
    embeddings: Mapping[str, Tensor]  # by member, (rows, width)
    reported: frozenset[str] = frozenset()  # who sent them; those of the others are imputed
    present: int = 0  # the number of parties that could have

    @property
    def share(self) -> float:
        """Return the share of the parties present that reported."""
        return len(self.reported) / max(1, self.present)

    def table(self, members: Sequence[str], width: int, options: TensorOptions) -> Tensor:
        """Return embeddings (rows, members, width), zero for members that came later."""
        table = torch.zeros(
            len(self.rows), len(members), width, dtype=options.dtype, device=options.device
        )
        for index, name in enumerate(members):
            if name in self.embeddings:
                table[:, index] = self.embeddings[name]
        return table


@dataclass
class RecentRows:
    """What the server heard in the last rounds, the oldest first.

    There are at most `limit` of them, and none whose successors have `enough` rows to train on:
    embeddings grow stale.
    """

    limit: int
    enough: float = math.inf
    rounds: list[HeardRows] = field(default_factory=list)

    def add(self, heard: HeardRows) -> None:
        """Add a round's rows, in place of what was heard earlier in the same round."""
        earlier = [other.reported for other in self.rounds if other.round == heard.round]
        heard = replace(heard, reported=heard.reported.union(*earlier))
        before = [other for other in self.rounds if other.round != heard.round]
        self.rounds = [*before, heard][-self.limit :]
        while len(self.rounds) > 1 and self._training_rows(self.rounds[1:]) >= self.enough:
            del self.rounds[0]

    def well_heard(self) -> list[HeardRows]:
        """Return the rounds to train on: at least half the share of parties of the best reported.

        Where most embeddings are imputed, the model would learn to do without the true ones.
        """
        best = max((heard.share for heard in self.rounds), default=0.0)
        return [heard for heard in self.rounds if heard.share >= best / 2]

    def _training_rows(self, rounds: Sequence[HeardRows]) -> int:
        usable = {heard.round for heard in self.well_heard()}
        return sum(int((~heard.held_out).sum()) for heard in rounds if heard.round in usable)

    def forget(self, members: Collection[str]) -> None:
        """Drop the embeddings of members of which nothing is kept."""
        for index, heard in enumerate(self.rounds):
            kept = {name: table for name, table in heard.embeddings.items() if name not in members}
            self.rounds[index] = replace(heard, embeddings=kept)

    def state_dict(self) -> StateDict:
        """Return the rows and embeddings of all rounds."""
        arrays: Arrays = {}
        for index, heard in enumerate(self.rounds):
            tensors = {"rows": heard.rows, "held_out": heard.held_out.to(torch.int64)}
            embeddings = {str(n): table for n, table in enumerate(heard.embeddings.values())}
            arrays |= to_arrays(tensors | embeddings, f"recent/{index}")
        values = [
            {
                "round": heard.round,
                "members": list(heard.embeddings),
                "reported": sorted(heard.reported),
                "present": heard.present,
            }
            for heard in self.rounds
        ]
        return StateDict(arrays, {"recent": values})

    def load_state_dict(self, state: StateDict, options: TensorOptions) -> None:
        """Restore what `state_dict` returned."""
        self.rounds = []
        for index, values in enumerate(state.values["recent"]):
            arrays = strip_prefix(state.arrays, f"recent/{index}/")
            rows, held_out = (
                torch.from_numpy(arrays[name]).to(options.device) for name in ("rows", "held_out")
            )
            embeddings = {
                name: options.tensor(arrays[str(n)]) for n, name in enumerate(values["members"])
            }
            reported = frozenset(values["reported"])
            heard = HeardRows(
                values["round"], rows, held_out.bool(), embeddings, reported, values["present"]
            )
            self.rounds.append(heard)
