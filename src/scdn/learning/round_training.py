"""One round's training: parties propose updates, a step along them is taken, the server trains."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from scdn.learning.batches import table_rows
from scdn.learning.fusion_server import FITTED_LENGTHS, SEARCHED_LENGTHS, FusionServer
from scdn.learning.party_backend import PartyBackend, RoundTask
from scdn.learning.progress import contributions
from scdn.learning.row_cache import RowCache
from scdn.learning.step_rule import StepTaken
from scdn.scenario import LearningSettings

TOLERATED_RISE = 1.01  # a searched step stands if the held-out loss is below so many times before's
SHORTENING = 4.0  # of a searched step after which the loss is higher
MAX_SHORTENINGS = 2


@dataclass
class RoundTraining:
    """The rows of a round, and the embeddings that the server has of them.

    `VerticalModel.train` creates one for each round, or for each arrival of an asynchronous round.
    Once the parties have trained it calls `take_step`, then one of the two methods that train the
    server.

    Attributes
    ----------
    stale
        The members' embeddings of the drawn rows when the round began, (members, steps, batch,
        width); `stale_held_out` of the rows held out, (members, 1, rows, width).
    weights
        The members' weights in each step, (steps, members), if the memory has a mask;
        `held_out_weights` are those for rows held out, (1, members).
    heard
        The parties that report in this round.
    senders
        The parties whose embeddings differ after the round.
    """

    learning: LearningSettings
    parties: PartyBackend
    server: FusionServer
    task: RoundTask
    stale: Tensor
    stale_held_out: Tensor
    weights: Tensor | None
    held_out_weights: Tensor | None
    heard: set[str]
    senders: set[str]
    fresh: Tensor | None = field(default=None, init=False)  # as `stale`, after the step
    fresh_held_out: Tensor | None = field(default=None, init=False)
    attempt: int = field(default=0, init=False)  # of several steps, until one is not too long

    # --- the parties' step ----------------------------------------------------------------------

    def take_step(self) -> StepTaken:
        """Apply the parties' updates, as far as the scenario's `step` says."""
        length = self.task.step_length
        if length is not None:
            self.parties.apply_updates(length, self.task.training)
            return StepTaken(length)
        return self._fit_step() if self.learning.step == "fitted" else self._search_step()

    def _fit_step(self) -> StepTaken:
        """Take the part of the updates, at most all, with the least loss on the trained rows."""
        trained = self._embed("drawn", self.task.batches, self.stale, "trained")
        length = self.server.best_step_length(
            self.task.batches, self.stale, trained, FITTED_LENGTHS, self.weights
        )
        updated = self.parties.apply_updates(length, self.task.training)
        unchanged = length == 1.0 and updated == self.senders and not self.learning.adds_noise
        if unchanged and self.server.heard is None:
            self.fresh = trained
        return StepTaken(length)

    def _search_step(self) -> StepTaken:
        """Take the step with the least loss on rows that nobody trained on.

        The search extrapolates the embeddings. Parties then send those after the step, and where
        the true loss is higher than before, the step is shortened.
        """
        rows, stale, weights = self.task.held_out, self.stale_held_out, self.held_out_weights
        trained = self._embed("held_out", rows, stale, "trained")
        diverged = self.server.non_finite_members(trained)
        if diverged:
            indices = self.server.member_indices(diverged)
            trained = trained.index_copy(0, indices, stale[indices])
            self.senders -= set(diverged)  # they stay as they are
        names = self.task.training - set(diverged)
        length = self.server.best_step_length(rows, stale, trained, SEARCHED_LENGTHS, weights)
        limit = TOLERATED_RISE * self.server.mean_loss(rows, stale, weights)
        for shortenings in range(MAX_SHORTENINGS + 1):
            self.parties.apply_updates(length, names)
            self.attempt = shortenings
            self.fresh_held_out = self._embed("held_out", rows, stale, self._after)
            if self.server.mean_loss(rows, self.fresh_held_out, weights) <= limit:
                return StepTaken(length, shortenings, diverged, sendings=shortenings + 1)
            length /= SHORTENING
        self.parties.apply_updates(0.0, names)
        self.attempt, self.fresh_held_out = MAX_SHORTENINGS + 1, None
        return StepTaken(0.0, MAX_SHORTENINGS + 1, diverged, sendings=MAX_SHORTENINGS + 2)

    def contributions(self) -> dict[str, float]:
        """Return by how much each party's update lowered the loss of the rows held out."""
        if self.fresh_held_out is None:  # the step was taken back, or no rows are held out
            return dict.fromkeys(self.task.training & self.senders, 0.0)
        return contributions(
            self.server,
            self.task.held_out,
            self.stale_held_out,
            self.fresh_held_out,
            self.task.training & self.senders,
            self.held_out_weights,
        )

    def held_out_losses(self) -> tuple[float, ...]:
        """Return the loss of the rows held out before the step, and after it."""
        tables = (self.stale_held_out, self.fresh_held_out)
        known = [self.stale_held_out if table is None else table for table in tables]
        return tuple(self._held_out_loss(table) for table in known)

    def final_held_out_loss(self) -> float:
        """Return the loss of the rows held out once the server has trained."""
        return self.held_out_losses()[-1]

    def _held_out_loss(self, embeddings: Tensor) -> float:
        return self.server.mean_loss(self.task.held_out, embeddings, self.held_out_weights)

    # --- the server's training ------------------------------------------------------------------

    def train_server_by_sgd(self, steps: int, rate: float) -> None:
        """Take one step per drawn batch, on the embeddings before or after the parties' step."""
        batches, embeddings = self.task.batches[:steps], self.stale
        if self.learning.server_turn == "after" and steps:
            embeddings = self._fresh(batches)
        weights = None if self.weights is None else self.weights[:steps]
        self.server.train(batches, embeddings[:, :steps], rate, weights)

    def train_server_by_adam(
        self, steps: int, round_index: int, draw: np.random.Generator, mask: np.random.Generator
    ) -> None:
        """Add the round's rows to those of recent rounds, and train on them."""
        batches, held_out = self.task.batches, self.task.held_out
        if self.fresh_held_out is None:
            self.fresh_held_out = self._embed(
                "held_out", held_out, self.stale_held_out, self._after
            )
        tables = [self._fresh(batches).flatten(1, 2), self.fresh_held_out.flatten(1, 2)]
        rows = torch.cat([batches.flatten(), held_out.flatten()])
        is_held_out = torch.arange(len(rows), device=rows.device) >= batches.numel()
        embeddings = torch.cat(tables, 1)
        if self.server.heard is None:  # all embeddings are true ones
            self.server.hear(round_index, rows, is_held_out, embeddings)
        elif self.heard:  # else there is nothing new about these rows
            present = len(self.parties.names)
            self.server.hear(round_index, rows, is_held_out, embeddings, self.heard, present)
        self.server.train_on_recent_rows(steps, self.learning.batch_size, draw, mask)

    # --- embeddings -----------------------------------------------------------------------------

    def keep_heard(self, cache: RowCache) -> None:
        """Keep what parties reported after their step, for when they are not heard."""
        sent = ((self.task.batches, self.fresh), (self.task.held_out, self.fresh_held_out))
        for rows, embeddings in sent:
            if embeddings is not None:
                for name in sorted(self.senders):
                    table = embeddings[self.server.fusion.members.index(name)]
                    cache.hear(name, rows[: table.shape[0]].flatten(), table.flatten(0, 1))
        for name, part in self.task.table_parts.items():
            if name not in self.senders:  # its training diverged
                continue
            rows = table_rows(part, self.learning.table_rounds, cache.count)
            tables = {"table": rows.to(self.task.batches.device)}
            for table in self.parties.embed(tables, f"part {part}", [name]).values():
                cache.hear(name, tables["table"], table, is_report=False)
                cache.parties[name].table_parts = part + 1

    def _fresh(self, batches: Tensor) -> Tensor:
        if self.fresh is None:
            self.fresh = self._embed("drawn", batches, self.stale, self._after)
        return self.fresh

    @property
    def _after(self) -> str:
        return f"after {self.attempt}"

    def _embed(self, table: str, rows: Tensor, stale: Tensor, phase: str) -> Tensor:
        """Return embeddings of (steps, batch) rows, stale but for those of the senders."""
        stale = stale[:, : len(rows)]
        sent = self.parties.embed({table: rows.flatten()}, phase, self.senders)
        if not sent:
            return stale
        fresh = torch.stack(list(sent.values())).view(len(sent), *stale.shape[1:])
        return stale.index_copy(0, self.server.member_indices(tuple(sent)), fresh)
