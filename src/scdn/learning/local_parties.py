"""The parties of this process. A device that takes part over a network is one such party."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import torch
from torch import Tensor

from scdn.learning.dataset_tensors import DatasetTensors
from scdn.learning.feature_split import FeatureView
from scdn.learning.gradient_stats import GradientRecorder, GradientStats, measured_smoothness
from scdn.learning.local_optimizers import LocalOptimizer, batch_key
from scdn.learning.message_noise import MessageNoise
from scdn.learning.party_backend import RoundTask, SentEmbeddings
from scdn.learning.party_factory import PartyFactory, stack_parties
from scdn.learning.party_loss import GradientLoss, PartyLoss
from scdn.learning.party_stack import IMAGES_PER_PIECE, MAX_ROWS_APART, PartyStack
from scdn.learning.smoothness import loss_curvature, party_smoothness
from scdn.learning.stack_training import StackTraining, train_stack
from scdn.learning.table_sender import GRADIENTS, SAMPLE_GRADIENTS, TableSender
from scdn.learning.tensors import Arrays, StateDict, Tensors, strip_prefix, to_arrays
from scdn.rng import generator

_NEW_ROWS = 8 * MAX_ROWS_APART  # that are gathered at a time; of these no bit depends on others


@dataclass
class LocalParties:
    """Parties of this process, in stacks of one structure: a `PartyBackend`."""

    data: DatasetTensors
    factory: PartyFactory
    seed: int
    sample: Tensor  # indices of the training rows that statistics are measured on
    stacks: list[PartyStack] = field(default_factory=list)
    views: dict[str, FeatureView] = field(default_factory=dict)
    round: tuple[int, int] = (0, 0)
    sender: TableSender = field(init=False)
    noise: MessageNoise = field(init=False)
    _start: list[PartyStack] = field(default_factory=list)  # before this round's training
    _trained: list[PartyStack] = field(default_factory=list)
    _training: set[str] = field(default_factory=set)
    _ahead: dict[str, Tensors] = field(default_factory=dict)  # trained, for reports in later rounds
    _inputs: dict[tuple[str, ...], tuple[list[Tensor], list[Tensor]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.sender = TableSender(self.factory.learning.number_bits, self.seed)
        self.noise = MessageNoise(self.factory.learning.privacy, self.seed)

    @property
    def number_bits(self) -> int:
        """Return the bits of each number in tables that are sent."""
        return self.sender.number_bits

    @number_bits.setter
    def number_bits(self, bits: int) -> None:
        self.sender.number_bits = bits

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the parties, stack by stack."""
        return tuple(name for stack in self.stacks for name in stack.names)

    def add(self, views: Mapping[str, FeatureView]) -> dict[str, int]:
        """Create a model for each party, in the stack of its structure."""
        parties = [self.factory.create(name, view, self.seed) for name, view in views.items()]
        self.views |= views
        for stack in stack_parties(parties, self.factory.options):
            structures = [other.structure for other in self.stacks]
            if stack.structure in structures:
                index = structures.index(stack.structure)
                self.stacks[index] = self.stacks[index].concat(stack)
            else:
                self.stacks.append(stack)
        self._inputs.clear()
        return {party.name: party.connections for party in parties}

    def remove(self, names: Collection[str]) -> None:
        """Remove parties for good."""
        remaining = set(self.names) - set(names)
        self.views = {name: view for name, view in self.views.items() if name in remaining}
        self.stacks = self._selected(self.stacks, remaining)
        self._ahead = {name: trained for name, trained in self._ahead.items() if name in remaining}
        self._inputs.clear()

    # --- one round ------------------------------------------------------------------------------

    def measure_gradients(
        self, names: Collection[str], task: RoundTask
    ) -> dict[str, GradientStats]:
        """Measure gradients at the task's batches without taking a step."""
        all_stats: dict[str, GradientStats] = {}
        for stack in self._selected(self.stacks, names):
            sample = stack.views.gather(self.data, "train", self.sample)
            recorder = self._recorder(stack, task, sample)
            party_loss = self._received(task.party_loss(stack.names), stack.names)
            for step, batch in enumerate(task.batches):
                inputs = stack.views.gather(self.data, "train", batch)
                recorder.add(_gradients(stack, stack.parameters, party_loss, step, inputs), None)
            rate, gradients = self.factory.learning.server_rate, recorder.reference
            trial = {name: p - rate * gradients[name] for name, p in stack.parameters.items()}
            all_stats |= self._stats(recorder, stack, trial, party_loss, task.batches[0])
        return all_stats

    def train(self, task: RoundTask) -> dict[str, GradientStats]:
        """Take the task's local steps; the updates stay pending until they are applied."""
        if task.ahead:
            self._train_ahead(task)
            return {}
        self._start, self._trained = list(self.stacks), list(self.stacks)
        self._training = task.training
        stats: dict[str, GradientStats] = {}
        for index, stack in enumerate(self.stacks):
            for names in self._batches(stack, task):
                training = self._stack_training(stack, names, task)
                trained = train_stack(training)
                self._trained[index] = self._trained[index].updated_with(trained)
                if training.recorder is not None:
                    stats |= self._stats(
                        training.recorder,
                        training.stack,
                        trained.parameters,
                        training.party_loss,
                        task.batches[0],
                    )
            for name in sorted(task.late & set(stack.names)):
                late = replace(stack.select([name]), parameters=self._ahead.pop(name))
                self._trained[index] = self._trained[index].updated_with(late)
        self._ahead = {n: trained for n, trained in self._ahead.items() if n not in self._training}
        return stats

    def _train_ahead(self, task: RoundTask) -> None:
        """Take the task's local steps, and keep the result until the parties report."""
        for stack in self.stacks:
            for names in self._batches(stack, task):
                trained = train_stack(self._stack_training(stack, names, task))
                for name in trained.names:
                    self._ahead[name] = trained.select([name]).parameters

    def apply_updates(self, step_length: float, names: Collection[str]) -> set[str]:
        """Go so far along these parties' last updates; return the parties that were updated."""
        updated = self._training & set(names)
        self.stacks = []
        for start, trained in zip(self._start, self._trained, strict=True):
            end = trained if updated == self._training else start.with_parts(trained, updated)
            self.stacks.append(start.interpolate(end, step_length))
        return updated

    def _batches(self, stack: PartyStack, task: RoundTask) -> Iterable[list[str]]:
        """Group a stack's training parties by whether their optimisers can step in one batch."""
        names_by_key: dict[type[LocalOptimizer], list[str]] = {}
        for name in stack.names:
            if name in task.training - task.late:
                key = batch_key(task.local_steps[name].optimizer)
                names_by_key.setdefault(key, []).append(name)
        return names_by_key.values()

    def _stack_training(
        self, stack: PartyStack, names: Sequence[str], task: RoundTask
    ) -> StackTraining:
        selected, recorder = stack.select(names), None
        if task.sample_loss is not None:
            inputs = self._fixed_inputs(stack)[0]
            sample = torch.stack([inputs[n] for n in stack.indices(names)])
            recorder = self._recorder(selected, task, sample)
        return StackTraining(
            selected,
            self.data,
            task.batches,
            self._received(task.party_loss(selected.names), selected.names),
            [task.local_steps[name] for name in selected.names],
            recorder,
        )

    # --- embeddings and statistics --------------------------------------------------------------

    def embed(
        self, tables: Mapping[str, Tensor], phase: str, names: Collection[str]
    ) -> dict[str, Tensor]:
        """Return embeddings of training rows; in phase `"trained"`, after the pending updates."""
        stacks = self._trained if phase == "trained" else self.stacks
        rows, purpose = torch.cat(list(tables.values())), " ".join([phase, *tables])
        embeddings: dict[str, Tensor] = {}
        for stack in self._selected(stacks, names):
            values = self._perturbed(stack, stack.embed_rows(self.data, "train", rows), purpose)
            embeddings |= dict(zip(stack.names, values, strict=True))
        return self.sender.send(embeddings, tables, phase, self.round)

    def training_embeddings(self, names: Collection[str]) -> dict[str, Tensor]:
        """Return embeddings of all training rows."""
        rows = torch.arange(self.data.count("train"), device=self.factory.options.device)
        return self.embed({"table": rows}, "left", names)

    def evaluation_embeddings(self, names: Collection[str]) -> Iterator[SentEmbeddings]:
        """Yield embeddings of the sample and the test rows."""
        for stack in self.stacks:
            selected = stack.select(names)
            if selected.names:
                indices = stack.indices(names)
                sample, test = ([rows[n] for n in indices] for rows in self._fixed_inputs(stack))
                embedded = self._perturbed(selected, selected.embed_separately(sample), "sample")
                by_name = dict(zip(selected.names, embedded, strict=True))
                sent = self.sender.send(by_name, {"sample": self.sample}, "after", self.round)
                yield SentEmbeddings(
                    selected.names,
                    list(sent.values()),
                    self._perturbed(selected, selected.embed_separately(test), "test"),
                )

    def new_row_embeddings(
        self, inputs: Mapping[str, Tensor], names: Collection[str], purpose: str
    ) -> dict[str, Tensor]:
        """Return embeddings of rows that are not in the data set, (rows, columns) by modality.

        A party whose kind of rows is not given has none. `purpose` names the noise, if any.
        """
        data = DatasetTensors({"test": dict(inputs)}, {})
        embeddings: dict[str, Tensor] = {}
        for stack in self._selected(self.stacks, names):
            if stack.views.modality not in inputs:
                continue
            rows = torch.arange(data.count("test"), device=self.factory.options.device)
            pieces = [
                stack.embed_separately(
                    [own.clone() for own in stack.views.gather(data, "test", piece)]
                )
                for piece in torch.split(rows, _NEW_ROWS)
            ]
            tables = [torch.cat(parts) for parts in zip(*pieces, strict=True)]
            tables = self._perturbed(stack, tables, purpose)
            embeddings |= dict(zip(stack.names, tables, strict=True))
        return embeddings

    def smoothness(self) -> dict[str, float]:
        """Return L_n of every party, from the spectral norms of its model."""
        constants: dict[str, float] = {}
        curvature = loss_curvature(self.factory.task)
        for stack in self.stacks:
            shape = stack.views.shape
            values = party_smoothness(stack.module, stack.parameters, shape, curvature)
            constants |= dict(zip(stack.names, values.tolist(), strict=True))
        return constants

    def sample_gradients(self, stack: PartyStack, party_loss: PartyLoss) -> Tensors:
        """Return each party's gradient of a loss over the sample of rows."""
        return _sample_gradients(stack, party_loss, torch.stack(self._fixed_inputs(stack)[0]))

    # --- state ----------------------------------------------------------------------------------

    def state_dict(self) -> StateDict:
        """Return the parameters of all stacks, and the parties' features."""
        arrays: Arrays = {}
        for index, stack in enumerate(self.stacks):
            arrays |= to_arrays(stack.parameters, f"stack/{index}")
        for index, view in enumerate(self.views.values()):
            arrays[f"view/{index}/columns"] = view.columns
            arrays[f"view/{index}/held"] = view.held
        for index, trained in enumerate(self._ahead.values()):
            arrays |= to_arrays(trained, f"ahead/{index}")
        return StateDict(
            arrays,
            {
                "stacks": [list(stack.names) for stack in self.stacks],
                "views": {name: [view.modality, *view.shape] for name, view in self.views.items()},
                "ahead": list(self._ahead),
            },
        )

    def load_state_dict(self, state: StateDict) -> None:
        """Create the parties again, with the parameters they had."""
        arrays, values = state
        for index, (name, (modality, *shape)) in enumerate(values["views"].items()):
            columns, held = arrays[f"view/{index}/columns"], arrays[f"view/{index}/held"]
            self.views[name] = FeatureView(modality, columns, held, tuple(shape))
        options = self.factory.options
        for index, names in enumerate(values["stacks"]):
            parties = [self.factory.create(name, self.views[name], self.seed) for name in names]
            (stack,) = stack_parties(parties, options)
            saved = strip_prefix(arrays, f"stack/{index}/")
            parameters = {name: options.tensor(array) for name, array in saved.items()}
            self.stacks.append(replace(stack, parameters=parameters))
        for index, name in enumerate(values.get("ahead", ())):
            saved = strip_prefix(arrays, f"ahead/{index}/")
            self._ahead[name] = {key: options.tensor(array) for key, array in saved.items()}

    # --- helpers --------------------------------------------------------------------------------

    @staticmethod
    def _selected(stacks: Sequence[PartyStack], names: Collection[str]) -> list[PartyStack]:
        """Return the parts of stacks that are in `names`, without empty ones."""
        return [part for stack in stacks if (part := stack.select(names)).names]

    def _recorder(self, stack: PartyStack, task: RoundTask, sample: Tensor) -> GradientRecorder:
        assert task.sample_loss is not None  # noqa: S101
        loss = self._received(task.sample_loss(stack.names), stack.names, of_sample=True)
        return GradientRecorder(_sample_gradients(stack, loss, sample))

    def _received(
        self, loss: PartyLoss, names: Sequence[str], *, of_sample: bool = False
    ) -> PartyLoss:
        """Return a loss with gradients as parties receive them."""
        table = SAMPLE_GRADIENTS if of_sample else GRADIENTS
        loss = self.noise.on_loss(loss, names, table, self.round)
        return self.sender.send_gradients(loss, names, self.round, of_sample=of_sample)

    def _stats(
        self,
        recorder: GradientRecorder,
        stack: PartyStack,
        end: Tensors,
        party_loss: PartyLoss,
        batch: Tensor,
    ) -> dict[str, GradientStats]:
        """Return statistics; L_n is how a batch's gradient changes from the stack to `end`."""
        stats = recorder.stats(stack.names)
        if self.factory.learning.smoothness != "measured":
            return stats
        inputs = stack.views.gather(self.data, "train", batch)
        before, after = (
            _gradients(stack, parameters, party_loss, 0, inputs)
            for parameters in (stack.parameters, end)
        )
        constants = measured_smoothness(stack.parameters, end, before, after)
        return {
            name: replace(stats[name], smoothness=constant)
            for name, constant in zip(stack.names, constants, strict=True)
            if name in stats
        }

    def _perturbed(self, stack: PartyStack, embeddings: list[Tensor], phase: str) -> list[Tensor]:
        """Add each party's own noise if the scenario asks for it; it differs in every phase."""
        deviation = self.factory.learning.perturbation
        if not deviation:
            named = zip(stack.names, embeddings, strict=True)
            return [self._private(name, table, phase) for name, table in named]
        streams = (
            generator(self.seed, f"perturb:{name}:{phase}", *self.round) for name in stack.names
        )
        return [
            table + deviation * self.factory.options.tensor(draw.standard_normal(table.shape))
            for table, draw in zip(embeddings, streams, strict=True)
        ]

    def _private(self, name: str, table: Tensor, phase: str) -> Tensor:
        return self.noise.on_embeddings(table, f"noise:{name}:{phase}", self.round)

    def _fixed_inputs(self, stack: PartyStack) -> tuple[list[Tensor], list[Tensor]]:
        """Return each party's inputs of the sample and the test rows, gathered once."""
        if stack.names not in self._inputs:
            test = torch.arange(self.data.count("test"), device=self.factory.options.device)
            self._inputs[stack.names] = (
                [rows.clone() for rows in stack.views.gather(self.data, "train", self.sample)],
                [rows.clone() for rows in stack.views.gather(self.data, "test", test)],
            )
        return self._inputs[stack.names]


def _gradients(
    stack: PartyStack, parameters: Tensors, party_loss: PartyLoss, step: int, inputs: Tensor
) -> Tensors:
    loss = partial(party_loss.losses, party_loss.step_tensors(step))
    return stack.gradients(parameters, loss, inputs)


def _sample_gradients(stack: PartyStack, party_loss: PartyLoss, sample: Tensor) -> Tensors:
    """Compute gradients over the sample; on a CPU images in pieces that fit its cache.

    A loss to first order is a sum over rows.
    """
    is_image = len(stack.views.shape) == 3
    if stack.options.device != "cpu" or not is_image or not isinstance(party_loss, GradientLoss):
        return _gradients(stack, stack.parameters, party_loss, 0, sample)
    pieces = zip(
        party_loss.gradients.split(IMAGES_PER_PIECE, 2),
        sample.split(IMAGES_PER_PIECE, 1),
        strict=True,
    )
    total = {name: torch.zeros_like(values) for name, values in stack.parameters.items()}
    for gradients, inputs in pieces:
        part = _gradients(stack, stack.parameters, GradientLoss(gradients), 0, inputs)
        for name, values in part.items():
            total[name] += values
    return total
