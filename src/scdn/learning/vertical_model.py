"""Vertical learning: the parties, the server, and one round of training.

One round is stochastic parallel block coordinate descent: the parties train at the same time, each
against everybody's embeddings and the fusion model as they were when the round began; then
embeddings are exchanged. The server trains at the same time too (`server_turn = "parallel"`, as in
the paper) or afterwards, on fresh embeddings.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from scdn.errors import input_error
from scdn.learning.batches import draw_batches
from scdn.learning.changed_embeddings import restore_embeddings, tables_to_keep
from scdn.learning.dataset_tensors import DatasetTensors
from scdn.learning.feature_split import FeatureView
from scdn.learning.fusion_server import FusionServer
from scdn.learning.gradient_stats import GradientStats, filled_smoothness
from scdn.learning.importance import importance
from scdn.learning.local_optimizers import LocalSteps
from scdn.learning.local_parties import LocalParties
from scdn.learning.party_backend import PartyBackend
from scdn.learning.party_factory import PartyFactory
from scdn.learning.party_stack import PartyStack
from scdn.learning.privacy_account import PrivacyAccount
from scdn.learning.round_start import (
    begin_cycles,
    begin_round,
    member_embeddings,
    round_task,
    sample_loss,
)
from scdn.learning.server_factory import create_server
from scdn.learning.smoothness import global_smoothness
from scdn.learning.step_rule import StepRule, StepTaken
from scdn.learning.tensors import StateDict, Tensors, single_threaded
from scdn.rng import generator
from scdn.scenario import LearningSettings

PROBE_BATCHES = 8  # from which a new party's first gradient statistics are measured


@dataclass
class VerticalModel:
    """Everything that learns: the parties, wherever they are, and the server.

    Attributes
    ----------
    gradient_stats
        By party: what it last reported about its gradients.
    connections
        By party, departed ones included: the number of connections of its model.
    measures_gradients
        Whether gradient statistics are measured, for a controller that needs them.
    sends_sample
        Whether the sample is part of reports, for a controller that uses importance.
    measures_progress
        Whether the server measures what each party's update contributed.
    unsent
        Parties whose current embeddings the server does not have yet.
    sent_in
        By party: the round, and the arrival in it, in which it last sent its sample and test rows.
    pending
        Parties that have begun a cycle and have not reported yet.
    begun_tables
        By party: what it sent when it began a cycle in this round; reports do not repeat it.
    step_rule
        How far parties go along their updates.
    """

    learning: LearningSettings
    data: DatasetTensors
    factory: PartyFactory
    server: FusionServer
    seed: int
    parties: PartyBackend
    gradient_stats: dict[str, GradientStats] = field(default_factory=dict)
    connections: dict[str, int] = field(default_factory=dict)
    measures_gradients: bool = True
    sends_sample: bool = True
    measures_progress: bool = False
    unsent: set[str] = field(default_factory=set)
    sent_in: dict[str, tuple[int, int]] = field(default_factory=dict)
    pending: set[str] = field(default_factory=set)
    begun_tables: dict[str, Tensor] = field(default_factory=dict)
    step_rule: StepRule = field(init=False)
    account: PrivacyAccount = field(init=False)

    def __post_init__(self) -> None:
        self.step_rule = StepRule(self.learning)
        self.account = PrivacyAccount(self.learning, self.data.count("train"))

    @classmethod
    def create(
        cls,
        data: DatasetTensors,
        factory: PartyFactory,
        views: Mapping[str, FeatureView],
        learning: LearningSettings,
        seed: int,
        memory_name: str = "keep",
        measure_gradients: bool = True,
        parties: PartyBackend | None = None,
        sends_sample: bool = True,
        measures_progress: bool = False,
    ) -> VerticalModel:
        """Create a model before round 0, with new models for the first parties.

        `parties` is the backend that holds them; by default they are in this process.
        """
        server = create_server(
            factory,
            tuple(views),
            seed,
            memory_name,
            data.count("train"),
            data.numbered_targets,
            data.targets["test"],
            labels_seed=seed if parties is None else None,  # devices know the run's seed
        )
        if parties is None:
            parties = LocalParties(data, factory, seed, server.sample)
        model = cls(
            learning,
            data,
            factory,
            server,
            seed,
            parties,
            measures_gradients=measure_gradients,
            sends_sample=sends_sample,
            measures_progress=measures_progress,
        )
        with single_threaded():
            model._add(views)
        return model

    # --- parties --------------------------------------------------------------------------------

    @property
    def present(self) -> tuple[str, ...]:
        """Return the names of the parties that can train."""
        return self.parties.names

    @property
    def local_parties(self) -> LocalParties:
        """Return the parties' backend where it is in this process."""
        if not isinstance(self.parties, LocalParties):
            raise TypeError("the parties are not in this process")
        return self.parties

    @property
    def stacks(self) -> list[PartyStack]:
        """The parties of this process, by structure."""
        return self.local_parties.stacks

    def add_parties(self, views: Mapping[str, FeatureView]) -> None:
        """Add parties: a model for each, and a block of the fusion model."""
        for name in views:
            if name in self.connections:
                raise input_error("learning", name, "has taken part before", "must have a new name")
        with single_threaded():
            self.server.fusion = self.server.fusion.with_members(tuple(views))
            self._add(views)

    def remove_parties(self, names: Collection[str]) -> None:
        """Remove parties for good; the server's memory decides what it keeps of them."""
        for name in names:
            if name not in self.present:
                raise input_error("learning", name, "cannot leave", "must be present")
        self.exchange()
        with single_threaded():
            self.server.remove_members(tuple(names), tables_to_keep(self, names))
            self.parties.remove(names)
            self.pending -= set(names)
            self.sent_in = {n: at for n, at in self.sent_in.items() if n not in names}

    # --- one round ------------------------------------------------------------------------------

    def train(
        self,
        round_index: int,
        local_steps: Mapping[str, LocalSteps],
        server_steps: LocalSteps,
        *,
        batches: int | None = None,
        training_parties: int | None = None,
        arrival: int | None = None,
        heard: Collection[str] | None = None,
        table_senders: Collection[str] = (),
    ) -> StepTaken:
        """Train the parties and the server for one round; return how far the parties went.

        `batches` is the number of batches to draw, by default as many as anybody has steps.
        `training_parties` is the number of parties that began to train, for the damping: one whose
        link failed or that left during the round has no local steps. `arrival` is the index of an
        arrival in an asynchronous round. A server that trains by Adam ignores the rate of its
        steps. `heard` are the parties that report in this round, by default all; those of
        `table_senders` add a part of their whole table. Parties that are `pending` have trained
        when they began their cycle.
        """
        for name in local_steps:
            if name not in self.present:
                raise input_error("learning", name, "cannot train", "must be present")
        self._at(round_index, 0 if arrival is None else arrival + 1)
        by_adam = self.learning.server_optimizer == "adam"
        # By Adam all arrivals share the round's rows, which the other parties have sent already.
        shares_rows = arrival is None or by_adam or not self.pending.isdisjoint(local_steps)
        rows_key = (round_index,) if shares_rows else (round_index, arrival or 0)
        if batches is None:
            batches = max([server_steps.count, *(steps.count for steps in local_steps.values())])
        with single_threaded():
            training = begin_round(
                self, rows_key, batches, local_steps, training_parties, heard, table_senders
            )
            stats = self.parties.train(training.task)
            self.pending -= local_steps.keys()
            step = training.take_step()
            going = training.task.training - set(step.diverged)
            rates = {name: step.length * local_steps[name].rate for name in going}
            gains = training.contributions() if self.measures_progress else {}
            losses = training.held_out_losses() if self.measures_progress else ()
            self._keep_stats(stats)
            steps_per_round = 1 if arrival is None else len(self.present)
            self.step_rule.adapt(step, len(training.task.training), steps_per_round)
            known = self.server.sample_embeddings.keys() | self.unsent
            first_samples = frozenset(training.heard - training.senders - known)
            self.unsent |= training.senders | first_samples
            self.account.add_round(training, step, self.server.sample, first_samples)
            if by_adam:
                key = (round_index,) if arrival is None else (round_index, arrival)
                draws = (generator(self.seed, purpose, *key) for purpose in ("server", "mask"))
                training.train_server_by_adam(server_steps.count, round_index, *draws)
            else:
                training.train_server_by_sgd(server_steps.count, server_steps.rate)
            if self.server.heard is not None:
                training.keep_heard(self.server.heard)
            if self.measures_progress:
                losses = (*losses, training.final_held_out_loss())
        if arrival is not None and training.task.late:
            self.exchange()  # its sample is in its report
        step = replace(step, rates=rates, first_samples=first_samples)
        return replace(step, contributions=gains, held_out_losses=losses)

    def begin_cycles(
        self, round_index: int, local_steps: Mapping[str, LocalSteps], batches: int
    ) -> None:
        """Let parties begin to work on these steps; their updates are pending until they report.

        In a round, the rows are the same for all: its `batches`.
        """
        if self.parties.round[0] != round_index:
            self._at(round_index, 0)
        with single_threaded():
            begin_cycles(self, round_index, local_steps, batches)

    def _at(self, round_index: int, arrival: int) -> None:
        """Set the round, and the arrival in it, that messages belong to."""
        if self.parties.round[0] != round_index:
            self.begun_tables = {}  # of rows that were drawn before
        self.parties.round = (round_index, arrival)

    def exchange(self) -> None:
        """Let parties send embeddings of the sample and the test rows, if they have changed.

        Whatever needs these embeddings calls this; a round alone does not.
        """
        if not self.unsent:
            return
        with single_threaded():
            for sent in self.parties.evaluation_embeddings(self.unsent):
                self.server.receive(sent)
                self.sent_in |= dict.fromkeys(sent.names, self.parties.round)
                if self.server.heard is not None and self.sends_sample:
                    for name, table in zip(sent.names, sent.sample, strict=True):
                        self.server.heard.hear(name, self.server.sample, table)
        self.unsent = set()

    # --- reports --------------------------------------------------------------------------------

    def metrics(self) -> dict[str, Any]:
        """Return losses and scores of the current models."""
        self.exchange()
        with single_threaded():
            return self.server.metrics()

    def sample_scores(self) -> dict[str, float]:
        """Return `loss` and all scores of the current models on the sample."""
        self.exchange()
        with single_threaded():
            return self.server.sample_scores()

    def importance(self, names: Sequence[str] | None = None) -> dict[str, float]:
        """Return γ of the parties present, or of those in `names` (Algorithm 2)."""
        names = self.present if names is None else names
        self.exchange()
        with single_threaded():
            losses = self.server.exclusion_losses(names)
        return dict(zip(names, importance(losses, self.learning.importance_max), strict=True))

    def smoothness(self) -> tuple[dict[str, float], float]:
        """Return L_n of the parties present, and L of the whole model.

        Where smoothness is measured, the largest L_n stands for L; see `filled_smoothness`.
        """
        if self.learning.smoothness == "measured":
            constants = filled_smoothness(self.gradient_stats, self.present)
            return constants, max(constants.values(), default=self.learning.global_smoothness)
        with single_threaded():
            constants = self.parties.smoothness()
            by_party = torch.tensor(list(constants.values()) or [0.0])
            return constants, global_smoothness(
                self.server.fusion.spectral_norm_product(), by_party
            )

    def sample_gradients(self, stack: PartyStack) -> Tensors:
        """Return each party's gradient of the loss over the sample of rows."""
        return self.local_parties.sample_gradients(stack, sample_loss(self, stack.names))

    # --- state ----------------------------------------------------------------------------------

    def state_dict(self) -> StateDict:
        """Return everything that the next round needs."""
        parties, server = self.parties.state_dict(), self.server.state_dict()
        values = {
            "parties": parties.values,
            "server": server.values,
            "gradient_stats": {name: asdict(s) for name, s in self.gradient_stats.items()},
            "connections": self.connections,
            "round": list(self.parties.round),
            "number_bits": self.parties.number_bits,
            "sent_in": {name: list(at) for name, at in self.sent_in.items()},
            "unsent": sorted(self.unsent),
            "pending": sorted(self.pending),
            "rate_scale": self.step_rule.rate_scale,
            **self.account.state_dict(),
        }
        return StateDict(parties.arrays | server.arrays, values)

    def load_state_dict(self, state: StateDict) -> None:
        """Restore a state into a model of the same run that was created without parties."""
        arrays, values = state
        self.server.load_state_dict(StateDict(arrays, values["server"]))
        self.parties.load_state_dict(StateDict(arrays, values["parties"]))
        stats = values["gradient_stats"]
        self.gradient_stats = {name: GradientStats(**table) for name, table in stats.items()}
        self.connections = dict(values["connections"])
        self.step_rule.rate_scale = values["rate_scale"]
        self.account.load_state_dict(values)
        self.sent_in = {name: (at[0], at[1]) for name, at in values["sent_in"].items()}
        self.unsent, self.pending = set(values["unsent"]), set(values["pending"])
        restore_embeddings(self)
        self.parties.round = (values["round"][0], values["round"][1])
        self.parties.number_bits = values.get("number_bits", self.parties.number_bits)

    # --- parts of a round -----------------------------------------------------------------------

    def _add(self, views: Mapping[str, FeatureView]) -> None:
        """Add parties to the backend, and measure their first gradient statistics."""
        self.connections |= self.parties.add(views)
        if self.server.heard is not None:
            return  # nothing is heard of a party before its first report
        self.unsent |= set(views)
        if self.measures_gradients and views:
            batches = self.draw(generator(self.seed, f"probe:{min(views)}"), PROBE_BATCHES)
            stale, _ = member_embeddings(self, {"drawn": batches}, "probe", self.present)
            task = round_task(
                self, batches, {}, stale["drawn"], self.server.evaluation_weights(PROBE_BATCHES)
            )
            self.gradient_stats |= self.parties.measure_gradients(set(views), task)

    def _keep_stats(self, stats: Mapping[str, GradientStats]) -> None:
        """Keep what parties reported about their gradients."""
        for name, latest in stats.items():
            if self.counts(latest):
                before = self.gradient_stats.get(name, GradientStats())
                self.gradient_stats[name] = before.updated_with(latest)

    def counts(self, stats: GradientStats) -> bool:
        """Return whether statistics count: a searched step leaves out parties that diverged."""
        return stats.is_finite or not self.step_rule.is_searched

    # --- rows and embeddings --------------------------------------------------------------------

    def draw(self, draw: np.random.Generator, steps: int) -> Tensor:
        """Draw one batch of training rows per step."""
        batches = draw_batches(draw, steps, self.data.count("train"), self.learning.batch_size)
        return batches.to(self.factory.options.device)
