"""The trained models of a run, to compute outputs of new rows: the server's, and the parties'."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor

from scdn.arrays import Mask
from scdn.learning.dataset_tensors import DatasetTensors
from scdn.learning.fusion_server import FusionServer
from scdn.learning.future_rows import future_embeddings
from scdn.learning.local_parties import LocalParties
from scdn.learning.party_factory import PartyFactory
from scdn.learning.recent_rows import RecentRows
from scdn.learning.server_factory import create_server
from scdn.learning.tensors import StateDict, single_threaded


@dataclass(frozen=True, eq=False, kw_only=True)
class FusionInference:
    """The server as a checkpoint has it.

    A party that is absent for a row counts for it as one that has just left: the memory of departed
    devices decides what stays of it, and what it keeps is imputed as after an exit.

    Attributes
    ----------
    sent_in
        By party that is present and was heard: the round, and the arrival in it, of its last
        report of test rows.
    """

    server: FusionServer
    sent_in: Mapping[str, tuple[int, int]]
    _servers: dict[tuple[str, ...], FusionServer] = field(default_factory=dict)

    @classmethod
    def of_server(
        cls, state: StateDict, factory: PartyFactory, memory_name: str, seed: int, train_rows: int
    ) -> FusionInference:
        """Restore the server's part of what `VerticalModel.state_dict` returned."""
        server = _restored_server(state, factory, memory_name, seed, train_rows)
        return FusionInference(server=server, sent_in=_sent_in(state))

    @property
    def never_embedded(self) -> tuple[str, ...]:
        """Return the members that embed no new row: departed ones, and those never heard."""
        return tuple(name for name in self.server.fusion.members if name not in self.sent_in)

    def outputs(
        self, embeddings: Mapping[str, Tensor], rows: int, absent: Mapping[str, Mask]
    ) -> Tensor:
        """Return the outputs of new rows; `absent` says by party for which rows it has no values.

        It has every party that embeds rows; a party without embeddings is absent for all rows.
        """
        names = sorted(absent)
        patterns = np.stack([absent[name] for name in names], 1) if names else np.empty((rows, 0))
        kinds, kind_of_row = np.unique(patterns, axis=0, return_inverse=True)
        fusion = self.server.fusion
        outputs = fusion.parameters["bias"].new_empty(rows, fusion.width)
        with single_threaded():
            for number, kind in enumerate(kinds):
                away = tuple(name for name, is_away in zip(names, kind, strict=True) if is_away)
                which = torch.from_numpy(np.flatnonzero(kind_of_row == number))
                which = which.to(outputs.device)
                sent = {n: table[which] for n, table in embeddings.items() if n not in away}
                outputs[which] = self._outputs_without(away, sent, len(which))
        return outputs

    @torch.no_grad()
    def _outputs_without(
        self, away: tuple[str, ...], sent: Mapping[str, Tensor], rows: int
    ) -> Tensor:
        server = self.server_without(away)
        return server.outputs(future_embeddings(server, sent, rows, server.imputation), rows)

    def member_table(self, sent: Mapping[str, Tensor], rows: int) -> Tensor:
        """Return what the fusion model takes of new rows, (members, rows, width)."""
        server = self.server
        return server.masked_table(future_embeddings(server, sent, rows, server.imputation), rows)

    def server_without(self, names: tuple[str, ...]) -> FusionServer:
        """Return the server as it would be if these parties left now."""
        if names not in self._servers:
            server = self.server
            memory, heard = copy(server.memory), server.heard
            memory.departed, memory.embeddings = list(memory.departed), dict(memory.embeddings)
            changed = replace(
                server,
                memory=memory,
                sample_embeddings=dict(server.sample_embeddings),
                test_embeddings={},
                recent=RecentRows(1),
                heard=None if heard is None else replace(heard, parties=dict(heard.parties)),
            )
            changed.remove_members(names, {})
            self._servers[names] = changed
        return self._servers[names]


@dataclass(frozen=True, eq=False, kw_only=True)
class Inference(FusionInference):
    """Parties and server as a checkpoint has them."""

    parties: LocalParties

    @classmethod
    def from_state_dict(
        cls, state: StateDict, factory: PartyFactory, memory_name: str, seed: int, train_rows: int
    ) -> Inference:
        """Restore what `VerticalModel.state_dict` returned, without a data set."""
        server = _restored_server(state, factory, memory_name, seed, train_rows)
        parties = LocalParties(DatasetTensors({}, {}), factory, seed, server.sample)
        parties.load_state_dict(StateDict(state.arrays, state.values["parties"]))
        return cls(parties=parties, server=server, sent_in=_sent_in(state))

    def embed(self, inputs: Mapping[str, Tensor], purpose: str = "predict") -> dict[str, Tensor]:
        """Return the parties' embeddings of rows, (rows, columns) by modality.

        With the purpose `test` the noise, if any, is that of the run's own test rows.
        """
        embeddings: dict[str, Tensor] = {}
        with single_threaded():
            for at in sorted(set(self.sent_in.values())):
                self.parties.round = at
                names = {name for name, sent_in in self.sent_in.items() if sent_in == at}
                embeddings |= self.parties.new_row_embeddings(inputs, names, purpose)
        return embeddings

    def test_outputs(self, inputs: Mapping[str, Tensor]) -> Tensor:
        """Return outputs of the run's own test rows, which departed parties may have embedded."""
        rows = len(next(iter(inputs.values())))
        kept = {name: left.test for name, left in self.server.memory.embeddings.items()}
        with single_threaded():
            return self.server.outputs(self.embed(inputs, "test") | kept, rows)


def _restored_server(
    state: StateDict, factory: PartyFactory, memory_name: str, seed: int, train_rows: int
) -> FusionServer:
    none = factory.options.tensor(np.zeros(0))
    server = create_server(factory, (), seed, memory_name, train_rows, none, none)
    server.load_state_dict(StateDict(state.arrays, state.values["server"]))
    return server


def _sent_in(state: StateDict) -> dict[str, tuple[int, int]]:
    return {name: (at[0], at[1]) for name, at in state.values["sent_in"].items()}
