"""The learning side of the server: the fusion model, the labels, and what parties have sent."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from scdn.data.dataset import TaskKind
from scdn.learning.embedding_gradients import embedding_gradients
from scdn.learning.fusion_model import FusionModel, masked, member_weights
from scdn.learning.future_rows import future_embeddings
from scdn.learning.importance import exclusion_losses
from scdn.learning.imputation import IMPUTATIONS, Imputation
from scdn.learning.losses import row_losses
from scdn.learning.memories import Memory, PartyEmbeddings
from scdn.learning.metrics import Metric, scores
from scdn.learning.party_backend import SentEmbeddings
from scdn.learning.party_loss import GradientLoss, PartyLoss, SharedLabelLoss
from scdn.learning.randomised_labels import RandomisedLabels, label_arrays, with_label_arrays
from scdn.learning.recent_rows import HeardRows, RecentRows
from scdn.learning.row_cache import RowCache
from scdn.learning.server_adam import LabelledRows, server_batches, train_by_adam
from scdn.learning.server_work import ServerWork
from scdn.learning.tensors import StateDict, strip_prefix, to_arrays

# Parts of the parties' updates that the server tries: `step = "fitted"` and `step = "searched"`.
FITTED_LENGTHS = tuple(2 ** (-half / 2) for half in range(13))
SEARCHED_LENGTHS = tuple(2.0**exponent for exponent in range(-8, 13))
MAX_VALUES_FUSED = 4_000_000  # numbers in the embeddings that are fused in one piece


@dataclass
class FusionServer:
    """Holds what stays on the server, and tells parties their losses.

    Attributes
    ----------
    sample
        Indices of the training rows that importance and `train_loss` are measured on.
    further_metrics
        Metrics to compute beside the built-in ones.
    sample_embeddings, test_embeddings
        By present member: embeddings of the sample and of the test rows, as last sent.
    work
        The computing for training since `take_work` was last called.
    recent
        Rows of recent rounds as they were heard, to train on.
    heard
        What was heard of each party's training rows; None where the server knows them all.
    imputation
        How embeddings are filled in that were not heard.
    device_labels
        The labels that gradients for devices are made with, where true ones must not be.
    """

    fusion: FusionModel
    task: TaskKind
    targets: Tensor
    test_targets: Tensor
    sample: Tensor
    memory: Memory
    further_metrics: Sequence[Metric] = ()
    sample_embeddings: dict[str, Tensor] = field(default_factory=dict)
    test_embeddings: dict[str, Tensor] = field(default_factory=dict)
    work: ServerWork = field(default_factory=ServerWork)
    recent: RecentRows = field(default_factory=lambda: RecentRows(1))
    heard: RowCache | None = None
    imputation: Imputation = "learned"
    device_labels: RandomisedLabels | None = None

    # --- members and their embeddings -----------------------------------------------------------

    def receive(self, sent: SentEmbeddings) -> None:
        """Store parties' embeddings of the sample and of the test rows."""
        for name, sample, test in zip(*sent, strict=True):
            self.sample_embeddings[name], self.test_embeddings[name] = sample, test

    def remove_members(
        self, names: Sequence[str], training_embeddings: Mapping[str, Tensor]
    ) -> None:
        """Hand what parties sent to the memory, and let it shrink the fusion model."""
        for name in names:
            embeddings = PartyEmbeddings(
                training_embeddings.get(name),
                self.sample_embeddings.pop(name, self.zeros(len(self.sample))),
                self.test_embeddings.pop(name, self.zeros(len(self.test_targets))),
            )
            self.memory.add(name, embeddings)
        self.fusion = self.memory.shrink(self.fusion, names)
        dropped = set(names) - set(self.memory.embeddings)
        self.recent.forget(dropped)
        if self.heard is not None:
            self.heard.forget(dropped if self.memory.keeps_heard_rows else names)

    def member_indices(self, names: Sequence[str]) -> Tensor:
        """Return the positions of these names among the members."""
        indices = [self.fusion.members.index(name) for name in names]
        return torch.tensor(indices, dtype=torch.int64, device=self.fusion.options.device)

    def member_embeddings(self, sent: Mapping[str, Tensor], rows: Tensor) -> Tensor:
        """Return every member's embeddings of training rows, (members, rows, width)."""
        kept = {
            name: embeddings.training[rows % len(embeddings.training)]  # kept in one variant
            for name, embeddings in self.memory.embeddings.items()
            if embeddings.training is not None
        }
        if self.heard is not None:
            for name, table in sent.items():
                self.heard.hear(name, rows, table)
            kept |= self.heard.fill(self.fusion.members, rows, sent, self.imputation)
        return self.in_member_order({**sent, **kept}, len(rows))

    def non_finite_members(self, embeddings: Tensor) -> tuple[str, ...]:
        """Return the members of whose embeddings (members, ...) some are not finite."""
        finite = torch.isfinite(embeddings).flatten(1).all(1).tolist()
        return tuple(name for name, ok in zip(self.fusion.members, finite, strict=True) if not ok)

    def evaluation_weights(self, steps: int) -> Tensor | None:
        """Return the weights of members, (steps, members), if the memory has a mask."""
        flags = self.memory.evaluation_mask(self.fusion.members)
        if flags is None:
            return None
        return member_weights(self.fusion.options.tensor(flags).expand(steps, -1))

    def training_weights(self, steps: int, draw: np.random.Generator) -> Tensor | None:
        """Return the weights of members in the steps of a round."""
        flags = self.memory.training_mask(self.fusion.members, steps, draw)
        if flags is None:
            return self.evaluation_weights(steps)
        return member_weights(self.fusion.options.tensor(flags))

    # --- losses of parties ----------------------------------------------------------------------

    def party_loss(
        self,
        names: Sequence[str],
        batches: Tensor,
        stale: Tensor,
        labels: Literal["shared", "server"],
        weights: Tensor | None = None,
    ) -> PartyLoss:
        """Return the loss on which these parties train for (steps, batch) rows.

        `stale` are the members' embeddings of those rows, (members, steps, batch, width).
        """
        indices = self.member_indices(names)
        if labels == "server":
            return self._gradient_loss(stale, batches, indices, weights)
        return SharedLabelLoss(
            self.task,
            self.targets[batches],
            self.fusion.parameters["bias"],
            self.fusion.first_layer(masked(stale, weights)),
            self.fusion.parameters["blocks"][indices],
            stale[indices],
            self.fusion.layers,
            self.fusion.head_tensors,
            None if weights is None else weights[:, indices],
        )

    def sample_loss(self, names: Sequence[str]) -> PartyLoss:
        """Return the loss of these parties over the sample, to first order."""
        table = self.in_member_order(self._sample_embeddings(), len(self.sample))[:, None]
        weights, indices = self.evaluation_weights(1), self.member_indices(names)
        return self._gradient_loss(table, self.sample[None], indices, weights)

    def _gradient_loss(
        self, embeddings: Tensor, rows: Tensor, parties: Tensor, weights: Tensor | None
    ) -> GradientLoss:
        fusion, labels = self.fusion, self.device_labels
        if labels is not None:
            return GradientLoss(labels.gradients(fusion, embeddings, rows, parties, weights))
        targets = self.targets[rows]
        gradients = embedding_gradients(fusion, embeddings, targets, self.task, weights)
        return GradientLoss(gradients[parties])

    # --- training -------------------------------------------------------------------------------

    def train(
        self, batches: Tensor, embeddings: Tensor, rate: float, weights: Tensor | None = None
    ) -> None:
        """Train the fusion model with one step per batch."""
        self.work += ServerWork(gradient_rows=batches.numel(), steps=len(batches))
        self.fusion = self.fusion.train(
            masked(embeddings, weights), self.targets[batches], self.task, rate
        )

    def hear(
        self,
        round_index: int,
        rows: Tensor,
        held_out: Tensor,
        embeddings: Tensor,
        reported: Collection[str] = (),
        present: int = 0,
    ) -> None:
        """Keep the members' embeddings (members, rows, width) of a round's rows, to train on.

        `reported` are the parties that sent theirs, of so many present, where others are imputed.
        """
        tables = dict(zip(self.fusion.members, embeddings, strict=True))
        heard = HeardRows(round_index, rows, held_out, tables, frozenset(reported), present)
        self.recent.add(heard)

    def train_on_recent_rows(
        self, steps: int, batch_size: int, draw: np.random.Generator, mask_draw: np.random.Generator
    ) -> None:
        """Train the fusion model by Adam on the rows of recent rounds."""
        fusion, heard = self.fusion, self.recent.well_heard()
        if not heard:
            return
        rows = torch.cat([round_.rows for round_ in heard])
        held_out = torch.cat([round_.held_out for round_ in heard])
        tables = [round_.table(fusion.members, fusion.width, fusion.options) for round_ in heard]
        labelled = LabelledRows(torch.cat(tables), self.targets[rows])
        training, evaluation = labelled.select(~held_out), self.evaluation_weights(1)
        device = fusion.options.device
        batches = server_batches(draw, steps, len(training), batch_size, device)
        if not len(batches):
            return
        self.fusion, work = train_by_adam(
            fusion,
            self.task,
            training,
            labelled.select(held_out).weighted(None if evaluation is None else evaluation[0]),
            batches,
            self.training_weights(len(batches), mask_draw),
        )
        self.work += work

    @torch.no_grad()
    def mean_loss(self, rows: Tensor, embeddings: Tensor, weights: Tensor | None = None) -> float:
        """Return the mean loss of rows (steps, batch) at the members' embeddings of them."""
        self.work += ServerWork(forward_rows=rows.numel())
        outputs = self.fusion.outputs(masked(embeddings, weights))
        return float(row_losses(outputs, self.targets[rows], self.task).double().mean())

    def best_step_length(
        self,
        rows: Tensor,
        stale: Tensor,
        trained: Tensor,
        lengths: Sequence[float],
        weights: Tensor | None = None,
    ) -> float:
        """Return the part of the way from stale to trained embeddings with the least loss.

        Beyond 1 the embeddings are an extrapolation.
        """
        losses = [
            self.mean_loss(rows, torch.lerp(stale, trained, length), weights) for length in lengths
        ]
        losses = [loss if math.isfinite(loss) else math.inf for loss in losses]
        return lengths[losses.index(min(losses))]

    def heard_held_out_rows(self) -> int:
        """Return the rows held out in the rounds that it trains on, as often as they were heard."""
        return sum(int(heard.held_out.sum()) for heard in self.recent.rounds)

    def take_work(self) -> ServerWork:
        """Return the computing since the last call."""
        work, self.work = self.work, ServerWork()
        return work

    # --- measurement ----------------------------------------------------------------------------

    def exclusion_losses(self, names: Sequence[str]) -> list[float]:
        """Return the loss on the sample without each of `names` in turn (Algorithm 2)."""
        targets = self.targets[self.sample]
        table = self.masked_table(self._sample_embeddings(), len(self.sample))
        members = self.member_indices(names)
        return exclusion_losses(self.fusion, table, targets, self.task, members).tolist()

    @torch.no_grad()
    def metrics(self) -> dict[str, Any]:
        """Return losses and scores; after an exit also `future` and `future_by`.

        `future` has the scores on rows that departed devices never embedded, with the server's
        imputation; `future_by` has them for all three.
        """
        outputs = self.outputs(self._sample_embeddings(), len(self.sample))
        losses = row_losses(outputs, self.targets[self.sample], self.task)
        train_loss = float(losses.double().mean())
        current = self._scores(self.predict())
        metrics: dict[str, Any] = {"train_loss": train_loss, **current}
        if self.memory.departed:
            by_imputation = {
                how: self._future_scores(how) if self.memory.embeddings else current
                for how in IMPUTATIONS
            }
            # Departed devices embedded all training rows, so the training loss stays as it is.
            metrics["future"] = {"train_loss": train_loss} | by_imputation[self.imputation]
            metrics["future_by"] = by_imputation
        return metrics

    @torch.no_grad()
    def predict(self) -> Tensor:
        """Return outputs for the test rows, from kept embeddings where a party has left."""
        return self.outputs(self._test_embeddings(), len(self.test_targets))

    def _scores(self, outputs: Tensor) -> dict[str, float]:
        return scores(outputs, self.test_targets, self.task, self.further_metrics)

    def _future_scores(self, imputation: Imputation) -> dict[str, float]:
        rows = len(self.test_targets)
        filled = future_embeddings(self, self.test_embeddings, rows, imputation)
        return self._scores(self.outputs(filled, rows))

    @torch.no_grad()
    def sample_scores(self) -> dict[str, float]:
        """Return `loss` and all scores on the sample, as far as parties have sent it."""
        outputs = self.outputs(self._sample_embeddings(), len(self.sample))
        targets = self.targets[self.sample]
        values = scores(outputs, targets, self.task, self.further_metrics)
        loss = values["test_loss"]
        return {"loss": loss, "train_loss": loss, **values}

    # --- state ----------------------------------------------------------------------------------

    def state_dict(self) -> StateDict:
        """Return the fusion model, the memory and the sample; parties can send test rows again."""
        parts = [self.memory.state_dict(), self.recent.state_dict()]
        arrays = to_arrays(self.fusion.parameters, "fusion")
        samples = {str(n): table for n, table in enumerate(self.sample_embeddings.values())}
        arrays |= to_arrays(samples, "sample")
        values: dict[str, Any] = {"members": list(self.fusion.members), "memory": parts[0].values}
        values |= {"sampled": list(self.sample_embeddings), "work": asdict(self.work)}
        if self.heard is not None:
            parts.append(self.heard.state_dict())
        arrays |= label_arrays(self.device_labels)
        for part in parts:
            arrays |= part.arrays
        for part in parts[1:]:
            values |= part.values
        return StateDict(arrays, values)

    def load_state_dict(self, state: StateDict) -> None:
        """Restore what `state_dict` returned."""
        options = self.fusion.options
        saved = strip_prefix(state.arrays, "fusion/")
        parameters = {name: options.tensor(array) for name, array in saved.items()}
        members = tuple(state.values["members"])
        self.fusion = replace(self.fusion, members=members, parameters=parameters)
        self.memory.load_state_dict(StateDict(state.arrays, state.values["memory"]), options)
        self.recent.load_state_dict(state, options)
        if self.heard is not None:
            self.heard.load_state_dict(state)
        self.device_labels = with_label_arrays(self.device_labels, state.arrays)
        self.work = ServerWork(**state.values.get("work", {}))  # not in runs of earlier versions
        saved = strip_prefix(state.arrays, "sample/")
        self.sample_embeddings = {
            name: options.tensor(saved[str(n)]) for n, name in enumerate(state.values["sampled"])
        }

    # --- tables of embeddings -------------------------------------------------------------------

    def _sample_embeddings(self) -> dict[str, Tensor]:
        kept = {name: e.sample for name, e in self.memory.embeddings.items()}
        return self.sample_embeddings | kept

    def _test_embeddings(self) -> dict[str, Tensor]:
        kept = {name: e.test for name, e in self.memory.embeddings.items()}
        return self.test_embeddings | kept

    def outputs(self, embeddings: Mapping[str, Tensor], rows: int) -> Tensor:
        """Compute the fusion model's outputs, in pieces that fit into a processor's cache.

        `embeddings` are those of members, (rows, width); members without any count as zero.
        """
        size = max(1, MAX_VALUES_FUSED // max(1, len(self.fusion.members) * self.fusion.width))
        pieces = []
        for first in range(0, max(1, rows), size):
            piece = {name: table[first : first + size] for name, table in embeddings.items()}
            table = self.masked_table(piece, min(size, rows - first))
            pieces.append(self.fusion.outputs(table))
        return torch.cat(pieces)

    def masked_table(self, embeddings: Mapping[str, Tensor], rows: int) -> Tensor:
        """Return the (members, rows, width) embeddings that the fusion model takes."""
        table = self.in_member_order(embeddings, rows)
        return masked(table[:, None], self.evaluation_weights(1))[:, 0]

    def in_member_order(self, embeddings: Mapping[str, Tensor], rows: int) -> Tensor:
        """Stack embeddings in the order of the members, with zeros for missing ones."""
        members, zeros = self.fusion.members, self.zeros(rows)
        if not members:
            return zeros[None, :][:0]
        # Stacked row by row in memory, as the first layer reads it, to save it another copy.
        return torch.stack([embeddings.get(name, zeros) for name in members], 1).movedim(1, 0)

    def zeros(self, rows: int) -> Tensor:
        """Return embeddings of a member of which nothing is known."""
        return self.fusion.parameters["bias"].new_zeros(rows, self.fusion.width)
