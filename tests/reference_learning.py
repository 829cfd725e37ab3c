"""A reference implementation of vertical learning: a plain loop over parties.

Every party has an ordinary module and the fusion model is one on embeddings side by side. Only the
initial weights and the random draws (rows of a step, members left out of it) come from outside.
"""

from __future__ import annotations

import copy
from dataclasses import astuple, dataclass
from math import prod

import numpy as np
import torch
from reference_rate_free import (
    ReferenceHeard,
    adapted_rate_scale,
    between,
    hear,
    held_out_count,
    held_out_rows,
    searched_step,
    train_by_adam,
)
from torch import nn
from torch.nn import functional as F  # noqa: N812

from scdn.data import Dataset
from scdn.learning import round_start
from scdn.learning.dataset_tensors import DatasetTensors
from scdn.learning.feature_split import FeatureView
from scdn.learning.fusion_server import FITTED_LENGTHS
from scdn.learning.local_optimizers import LocalSteps
from scdn.learning.models import Cnn
from scdn.learning.party_factory import PartyFactory
from scdn.learning.step_rule import StepTaken
from scdn.learning.vertical_model import VerticalModel
from scdn.rng import generator
from scdn.scenario import LearningSettings

BATCHES = 6  # drawn in a round in which the server does not need one per step
CONV = "reference_learning:tiny_conv"


def tiny_conv(shape, width):
    """Build a user's model for small images."""
    channels, height, across = shape
    return nn.Sequential(
        nn.Conv2d(channels, 3, 3), nn.Tanh(), nn.Flatten(),
        nn.Linear(3 * (height - 2) * (across - 2), width),
    )  # fmt: skip


# --- data -----------------------------------------------------------------------------------------


def table_dataset(task="classification", columns=25, rows=90, tests=40, classes=5, seed=0):
    """Make random rows, and targets that depend on all columns."""
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(rows + tests, columns))
    if task == "classification":
        y = (x @ draw.normal(size=(columns, classes))).argmax(1)
    else:
        y = np.tanh(x @ draw.normal(size=columns) / columns**0.5) + 0.1 * draw.normal(size=len(x))
    names = tuple(f"c{column}" for column in range(columns))
    labels = tuple("abcdefgh"[:classes]) if task == "classification" else ()
    parts = {"table": x[:rows]}, y[:rows], {"table": x[rows:]}, y[rows:]
    return Dataset("made", *parts, task=task, classes=labels, features=names)


def image_dataset(size=12, channels=2, rows=60, tests=20, seed=0):
    """Make small images of four classes."""
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(rows + tests, size, size, channels))
    y = draw.integers(0, 4, rows + tests)
    x += y[:, None, None, None] * 0.3
    parts = {"image": x[:rows]}, y[:rows], {"image": x[rows:]}, y[rows:]
    return Dataset("pictures", *parts, classes=("a", "b", "c", "d"))


def table_view(columns):
    """Return a party's view of these columns of a table."""
    columns = np.asarray(columns)
    return FeatureView("table", columns, np.ones(len(columns), bool), (len(columns),))


def small_learning(**overrides):
    """Return learning settings with small models in 64 bits."""
    usual = {"hidden": 6, "fusion_hidden": 7, "batch_size": 9, "sample_rows": 50}
    usual |= {"precision": "float64", "unheard": "known"}
    return LearningSettings(**(usual | overrides))


def create_model(dataset, views, learning, seed=3, memory="keep", **more):
    """Create the model under test."""
    factory = PartyFactory.from_dataset(dataset, learning)
    rows = DatasetTensors.from_dataset(dataset, factory.options)
    model = VerticalModel.create(rows, factory, views, learning, seed, memory, **more)
    model.exchange()
    return model


# --- the reference --------------------------------------------------------------------------------


def n_steps(count, rate=0.1, optimizer="sgd", value=0.0):
    """Return local steps; `value` is μ or ρ."""
    return LocalSteps(count, rate, optimizer, value)


@dataclass
class ReferenceParty:
    """One party: a module, and its inputs of all rows."""

    module: nn.Module
    train: torch.Tensor
    test: torch.Tensor


class ReferenceModel:
    """Repeats the training of a `VerticalModel`, with the same random draws."""

    def __init__(self, dataset, views, learning, model, memory):
        self.dataset, self.learning, self.memory = dataset, learning, memory
        self.task = dataset.task
        self.width = len(dataset.classes) or 1
        kind = torch.int64 if self.task == "classification" else torch.float64
        self.targets = torch.from_numpy(dataset.train_y).to(kind)
        self.test_targets = torch.from_numpy(dataset.test_y).to(kind)
        self.sample = model.server.sample.clone()
        self.parties: dict[str, ReferenceParty] = {}
        self.members = list(views)
        self.tables: dict[str, torch.Tensor] = {}
        self.test_tables: dict[str, torch.Tensor] = {}
        self.departed: set[str] = set()
        self.gradient_stats: dict[str, tuple[float, float, float | None]] = {}
        self.heard: list[ReferenceHeard] = []
        self.rate_scale = 1.0
        self.last_step: tuple[float, int, list[str]] = (0.0, 0, [])
        first = nn.Linear(len(views) * self.width, learning.fusion_hidden)
        last = nn.Linear(learning.fusion_hidden, self.width)
        initial = model.server.fusion.parameters
        with torch.no_grad():
            self.fusion = nn.Sequential(first, nn.ReLU(), last).double()
            for index in range(len(views)):
                first.weight[:, self._block(index)] = initial["blocks"][index].T
            first.bias.copy_(initial["bias"])
            last.weight.copy_(initial["head.1.weight"])
            last.bias.copy_(initial["head.1.bias"])
        self._add(views, model)

    # --- parties

    def add_parties(self, views, model):
        """Add parties with the initial weights that they have in the model under test."""
        old = self.fusion[0]
        wide = nn.Linear(old.in_features + len(views) * self.width, old.out_features).double()
        with torch.no_grad():
            wide.weight[:, : old.in_features] = old.weight
            wide.bias.copy_(old.bias)
            for index, name in enumerate(views, len(self.members)):
                block = model.server.fusion.members.index(name)
                fresh = model.server.fusion.parameters["blocks"][block]
                wide.weight[:, self._block(index)] = fresh.T
        self.fusion[0] = wide
        self.members += list(views)
        self._add(views, model)

    @torch.no_grad()
    def remove_parties(self, names):
        """Remove parties, as the memory does."""
        for name in names:
            party = self.parties.pop(name)
            if self.memory == "keep":
                self.tables[name] = party.module(party.train)
                self.test_tables[name] = party.module(party.test)
            elif self.memory == "dropout":
                self.departed.add(name)
            else:
                index = self.members.index(name)
                kept = [
                    column
                    for other in range(len(self.members))
                    if other != index
                    for column in range(other * self.width, (other + 1) * self.width)
                ]
                old = self.fusion[0]
                cut = nn.Linear(max(len(kept), 1), old.out_features).double()
                cut.weight = nn.Parameter(old.weight[:, kept].clone())
                cut.bias = nn.Parameter(old.bias.clone())
                self.fusion[0] = cut
                self.members.remove(name)

    # --- one round

    def train(self, draws, local_steps, server):
        """Train a round with the model's draws, of which `flags` are those who count in a step."""
        batches, flags = draws.batches, draws.flags
        stale = [self._embeddings(batch) for batch in batches]
        before = copy.deepcopy(self.fusion)
        references = {name: self._sample_gradient(name) for name in self.parties}
        for name in self.parties:
            if name not in local_steps or local_steps[name].count == 0:
                trial_smoothness = self.trial_smoothness(name, batches[0], stale[0])
                self.gradient_stats[name] = (*self.gradient_stats[name][:2], trial_smoothness)
        results = {}
        for name, steps in local_steps.items():
            results[name] = self._train_party(name, steps, batches, stale, before, flags)
        for name, (module, gradients) in results.items():
            old = self.parties[name].module
            smoothness = self._measured_smoothness(
                name, old, module, (batches[0], stale[0], before, flags)
            )
            if gradients:
                self._measure(name, gradients, references[name], smoothness)
        trained = {name: result[0] for name, result in results.items() if result[1]}
        self.last_step = self._move(trained, batches, draws)
        if self.learning.step == "searched" and trained:
            length, _, diverged = self.last_step
            steps_per_round = 1 if draws.arrival is None else len(self.parties)
            self.rate_scale = adapted_rate_scale(
                self.rate_scale, length, diverged, len(trained), steps_per_round
            )
        if self.learning.server_optimizer == "adam":
            hear(self, draws.round, torch.cat(batches), draws.held_out(self))
            flags = draws.server_flags(server.count)
            train_by_adam(self, draws.model.seed, draws.key, server.count, flags)
        else:
            shown = stale
            if self.learning.server_turn == "after":
                shown = [self._embeddings(batch) for batch in batches]
            self._train_by_sgd(shown, batches, server, flags)

    def _move(self, trained, batches, draws):
        """Move the parties as far as the step rule says."""
        if trained and self.learning.step == "searched":
            return searched_step(self, trained, draws.held_out(self))
        fraction = self._fraction(trained, batches)
        for name, module in trained.items():
            self.parties[name].module = between(self.parties[name].module, module, fraction)
        return fraction, 0, []

    def _train_by_sgd(self, shown, batches, server, flags):
        optimizer = torch.optim.SGD(self.fusion.parameters(), lr=server.rate)
        for step in range(server.count):
            optimizer.zero_grad()
            side = self._side_by_side(shown[step], flags, step)
            self._loss(self.fusion(side), self.targets[batches[step]]).backward()
            optimizer.step()

    def _train_party(self, name, steps, batches, stale, fusion, flags):
        """Train one party; return its new module and the gradients of its steps."""
        party = self.parties[name]
        module = copy.deepcopy(party.module)
        start = [p.detach().clone() for p in module.parameters()]
        momentum = steps.optimizer_value if steps.optimizer == "momentum" else 0.0
        optimizer = torch.optim.SGD(module.parameters(), lr=steps.rate, momentum=momentum)
        gradients = []
        for step in range(steps.count):
            gradients.append(
                self._batch_gradient(
                    name, module, (batches[step], stale[step], fusion, flags), step
                )
            )
            if steps.optimizer == "proximal":
                for p, origin in zip(module.parameters(), start, strict=True):
                    p.grad += steps.optimizer_value * (p.detach() - origin)
            optimizer.step()
        module.zero_grad()
        return module, gradients

    def _batch_gradient(self, name, module, round_, step=0):
        """Return the gradient of a step's batch for a party's module."""
        rows, stale, fusion, flags = round_
        module.zero_grad()
        embeddings = module(self.parties[name].train[rows])
        if self.learning.labels == "server":
            embeddings.backward(self._embedding_gradient(name, rows, stale, fusion, flags, step))
        else:
            side = self._side_by_side(dict(stale) | {name: embeddings}, flags, step)
            self._loss(fusion(side), self.targets[rows]).backward()
        return [p.grad.clone() for p in module.parameters()]

    def _measured_smoothness(self, name, old, new, round_):
        """Return the change of the first batch's gradient over the change of the parameters."""

        def distance_between(one, other):
            pairs = zip(one, other, strict=True)
            return float(sum((b - a).detach().square().sum() for a, b in pairs)) ** 0.5

        distance = distance_between(list(old.parameters()), list(new.parameters()))
        if self.learning.smoothness == "norms":
            return None
        if distance == 0:
            return self.gradient_stats[name][2]
        before, after = (
            self._batch_gradient(name, old, round_),
            self._batch_gradient(name, new, round_),
        )
        if not any(gradient.any() for gradient in before):
            return self.gradient_stats[name][2]
        return distance_between(before, after) / distance

    def trial_smoothness(self, name, rows, stale):
        """Return the same for a trial step against the gradient over the sample."""
        old = self.parties[name].module
        new, gradients = copy.deepcopy(old), self._sample_gradient(name)
        with torch.no_grad():
            for p, gradient in zip(new.parameters(), gradients, strict=True):
                p -= self.learning.server_rate * gradient
        flags = None
        if self.departed:
            flags = [[float(other not in self.departed) for other in self.members]]
        return self._measured_smoothness(name, old, new, (rows, stale, self.fusion, flags))

    @torch.no_grad()
    def _fraction(self, trained, batches):
        """Return the fraction of its update that each party applies."""
        damping = self.learning.damping
        if not trained:
            return 1.0
        if self.learning.step == "rate":
            return {"none": 1.0, "active": 1 / len(trained)}.get(damping, damping)
        mean_losses = []
        for fraction in FITTED_LENGTHS:  # all embeddings change by this fraction of their update
            losses = []
            for rows in batches:
                table = self._embeddings(rows)
                for name, module in trained.items():
                    after = module(self.parties[name].train[rows])
                    table[name] = table[name] + fraction * (after - table[name])
                outputs = self.fusion(self._side_by_side(table) * self.scale)
                losses.append(float(self._loss(outputs, self.targets[rows])))
            mean_losses.append(np.mean(losses))
        return FITTED_LENGTHS[int(np.argmin(mean_losses))]

    def _embedding_gradient(self, name, rows, table, fusion, flags, step):
        """Return the loss's gradient at a party's embeddings, as the server computes it."""
        embeddings = table[name].clone().requires_grad_()
        side = self._side_by_side(dict(table) | {name: embeddings}, flags, step)
        self._loss(fusion(side), self.targets[rows]).backward()
        return embeddings.grad

    # --- measurements

    @torch.no_grad()
    def loss_of_rows(self, rows, table):
        """Return the mean loss of training rows at everybody's embeddings of them."""
        outputs = self.fusion(self._side_by_side(table) * self.scale)
        return float(self._loss(outputs, self.targets[rows]))

    def _sample_gradient(self, name):
        """Return a party's gradient of the loss over the sample."""
        party = self.parties[name]
        with torch.no_grad():
            table = self._embeddings(self.sample)
        module = copy.deepcopy(party.module)
        table[name] = module(party.train[self.sample])
        outputs = self.fusion(self._side_by_side(table) * self.scale)
        loss = self._loss(outputs, self.targets[self.sample])
        return torch.autograd.grad(loss, list(module.parameters()))

    def _measure(self, name, gradients, reference, smoothness):
        def square(tensors):
            return sum(float(t.square().sum()) for t in tensors)

        if self.learning.step == "searched" and not np.isfinite(sum(map(square, gradients))):
            return
        mean = np.mean([square(g) for g in gradients])
        away = [[a - b for a, b in zip(g, reference, strict=True)] for g in gradients]
        bound = max(mean, self.gradient_stats[name][0])
        self.gradient_stats[name] = bound, np.mean([square(g) for g in away]), smoothness

    @property
    def scale(self):
        """The factor that makes up for departed members without embeddings."""
        return len(self.members) / max(len(self.members) - len(self.departed), 1)

    @torch.no_grad()
    def test_embeddings(self):
        """Return the test embeddings of all members, departed ones included."""
        table = {name: party.module(party.test) for name, party in self.parties.items()}
        blank = torch.zeros(len(self.test_targets), self.width, dtype=torch.float64)
        table |= self.test_tables
        return {name: table.get(name, blank) for name in self.members}

    @torch.no_grad()
    def metrics(self):
        """Return the training loss on the sample, and scores on the test rows."""
        outputs = self.fusion(self._side_by_side(self._embeddings(self.sample)) * self.scale)
        train_loss = float(self._loss(outputs, self.targets[self.sample]))
        outputs = self.fusion(self._side_by_side(self.test_embeddings()) * self.scale)
        scores = numpy_scores(outputs.numpy(), self.dataset.test_y, self.task)
        return {"train_loss": train_loss} | scores

    @torch.no_grad()
    def exclusion_losses(self):
        """Return the loss on the sample with each party's embeddings zeroed in turn."""
        embeddings = self._embeddings(self.sample)
        losses = {}
        for name in self.parties:
            table = dict(embeddings) | {name: torch.zeros_like(embeddings[name])}
            outputs = self.fusion(self._side_by_side(table) * self.scale)
            losses[name] = float(self._loss(outputs, self.targets[self.sample]))
        return losses

    # --- helpers

    def _block(self, index):
        return slice(index * self.width, (index + 1) * self.width)

    @torch.no_grad()
    def _embeddings(self, rows):
        table = {name: party.module(party.train[rows]) for name, party in self.parties.items()}
        table |= {name: left[rows] for name, left in self.tables.items()}
        blank = torch.zeros(len(rows), self.width, dtype=torch.float64)
        return {name: table.get(name, blank) for name in self.members}

    def _side_by_side(self, table, flags=None, step=None):
        if flags is None:
            return torch.cat([table[name] for name in self.members], 1)
        counted = [float(flag) for flag in flags[step]]
        scale = len(self.members) / sum(counted)
        pieces = zip(self.members, counted, strict=True)
        return torch.cat([table[name] * flag * scale for name, flag in pieces], 1)

    def _loss(self, outputs, targets):
        if self.task == "classification":
            return F.cross_entropy(outputs, targets)
        return F.mse_loss(outputs[:, 0], targets)

    def _add(self, views, model):
        for name, view in views.items():
            stack = next(stack for stack in model.stacks if name in stack.names)
            index = stack.names.index(name)
            weights = {key: p[index] for key, p in stack.parameters.items()}
            module = self._module(view, weights).double()
            inputs = (self._inputs(view, part) for part in (self.dataset.train, self.dataset.test))
            self.parties[name] = ReferenceParty(module, *inputs)
            self.gradient_stats[name] = astuple(model.gradient_stats[name])

    def _module(self, view, weights):
        learning = self.learning
        if len(view.shape) == 3:
            module = Cnn(self._padded(view), self.width) if learning.model == "cnn" else None
            module = module or tiny_conv(self._padded(view), self.width)
            module.load_state_dict(weights)
            return module.double()
        held = len(view.columns)
        if learning.input == "masked":
            held = self.dataset.train["table"].shape[1]
        module = nn.Sequential(
            nn.Linear(held, learning.hidden), nn.ReLU(), nn.Linear(learning.hidden, self.width)
        ).double()
        more = weights["0.weight"][:, held:]
        assert not more.any()
        module.load_state_dict(weights | {"0.weight": weights["0.weight"][:, :held]})
        return module

    def _padded(self, view):
        """Return an image's shape as its model takes it."""
        channels, height, across = view.shape
        if self.learning.input == "masked":
            _, height, across, channels = self.dataset.train["image"].shape
        least = 28 if self.learning.model == "cnn" else 0
        return channels, max(height, least), max(across, least)

    def _inputs(self, view, part):
        """Return all rows as the party sees them."""
        if view.modality == "table":
            rows = part["table"]
            if self.learning.input == "masked":
                seen = np.zeros_like(rows)
                seen[:, view.columns] = rows[:, view.columns]
                return torch.from_numpy(seen)
            return torch.from_numpy(rows[:, view.columns])
        rows = part["image"].transpose(0, 3, 1, 2)  # channels first
        flat = rows.reshape(len(rows), -1)
        if self.learning.input == "masked":
            seen = np.zeros_like(flat)
            seen[:, view.columns] = flat[:, view.columns]
            piece = seen.reshape(rows.shape)
        else:
            piece = flat[:, view.columns].reshape(len(rows), *view.shape)
        _, tall, wide = self._padded(view)
        top, left = (tall - piece.shape[2]) // 2, (wide - piece.shape[3]) // 2
        bottom, right = tall - piece.shape[2] - top, wide - piece.shape[3] - left
        framed = np.pad(piece, ((0, 0), (0, 0), (top, bottom), (left, right)))
        assert framed.shape[1:] == self._padded(view)
        assert prod(framed.shape) >= prod(piece.shape)
        return torch.from_numpy(framed)


def numpy_scores(outputs, targets, task):
    """Return loss and scores, computed with NumPy."""
    if task == "regression":
        mse = float(np.mean((outputs[:, 0] - targets) ** 2))
        return {"test_loss": mse, "mse": mse}
    shifted = outputs - outputs.max(1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    order = np.argsort(-outputs, axis=1)
    return {
        "test_loss": float(-logs[np.arange(len(targets)), targets].mean()),
        "top1": 100 * float(np.mean(order[:, 0] == targets)),
        "top3": 100 * float(np.mean([y in row[:3] for y, row in zip(targets, order, strict=True)])),
    }


# --- the comparison -------------------------------------------------------------------------------


class RecordedDraws:
    """Records the batches and masks that a round of the model under test draws."""

    def __init__(self, model, round_=0, arrival=None):
        self.model, self.round, self.arrival = model, round_, arrival
        self.batches: list[torch.Tensor] = []
        self.masks: list[list[list[float]] | None] = []  # of the parties' steps, of the server's

    @property
    def key(self):
        """The round, and the arrival in an asynchronous one."""
        return (self.round,) if self.arrival is None else (self.round, self.arrival)

    @property
    def flags(self):
        """Who counts in a step of the parties: `flags[step][member]`."""
        return self.masks[0]

    def server_flags(self, steps):
        """Return who counts in a step of a server that trains by Adam."""
        server, draw = self.model.server, generator(self.model.seed, "mask", *self.key)
        flags = server.memory.training_mask(server.fusion.members, steps, draw)
        return None if flags is None else flags.tolist()

    def held_out(self, reference):
        """Return the rows of the round that nobody trains on."""
        count, size = len(reference.targets), reference.learning.batch_size
        return held_out_rows(self.model.seed, count, size)

    def __enter__(self):
        server = self.model.server
        self.draw, training_weights = round_start.draw_round, server.training_weights

        def spy_draw(*arguments):
            assert not self.batches
            rows = self.draw(*arguments)
            self.batches = list(rows.batches)
            return rows

        def spy_weights(*arguments):
            weights = training_weights(*arguments)
            self.masks.append(None if weights is None else weights.ne(0).double().tolist())
            return weights

        round_start.draw_round, server.training_weights = spy_draw, spy_weights
        return self

    def __exit__(self, *_):
        round_start.draw_round = self.draw
        del self.model.server.training_weights


def round_batches(model, round_, steps, arrival=None):
    """Return the batches of a round's steps."""
    key = (round_,) if arrival is None else (round_, arrival)
    draw, count = generator(model.seed, "batches", *key), model.data.count("train")
    training = np.arange(count)
    if model.learning.holds_rows_out:
        order = generator(model.seed, "held-out").permutation(count)
        training = np.sort(order[held_out_count(count, model.learning.batch_size) :])
    size = min(model.learning.batch_size, len(training))
    drawn = [training[draw.choice(len(training), size, replace=False)] for _ in range(steps)]
    return torch.from_numpy(np.array(drawn))


class ModelPair:
    """The model under test and the reference, which go through the same events."""

    def __init__(self, dataset, views, learning, memory="keep", seed=3):
        self.model = create_model(dataset, views, learning, seed, memory)
        self.reference = ReferenceModel(dataset, views, learning, self.model, memory)
        self.round = 0
        self.steps: list[StepTaken] = []
        self.draws: list[RecordedDraws] = []

    def train(self, local_steps, server, arrivals=()):
        """Train both for a round; `arrivals` are its parties in an asynchronous one."""
        for index, name in enumerate(arrivals):
            self._train({name: local_steps[name]}, server, index)
        if not arrivals:
            self._train(local_steps, server)
        self.round += 1

    def _train(self, local_steps, server, arrival=None):
        by_adam = self.model.learning.server_optimizer == "adam"
        batches = BATCHES if by_adam else None
        with RecordedDraws(self.model, self.round, arrival) as draws:
            step = self.model.train(
                self.round, local_steps, server, batches=batches, arrival=arrival
            )
        self.model.exchange()
        self.reference.train(draws, local_steps, server)
        length, shortenings, diverged = self.reference.last_step
        assert step.length == length
        assert step.shortenings == shortenings
        assert set(step.diverged) == set(diverged)
        self.steps.append(step)
        self.draws.append(draws)

    def add_parties(self, views):
        self.model.add_parties(views)
        self.model.exchange()
        self.reference.add_parties(views, self.model)

    def remove_parties(self, names):
        self.model.remove_parties(names)
        self.reference.remove_parties(names)

    def check(self, gradient_stats=True):
        """Check that all numbers of both models are equal."""
        model, reference = self.model, self.reference
        assert sorted(model.present) == sorted(reference.parties)
        assert list(model.server.fusion.members) == reference.members
        for stack in model.stacks:
            for index, name in enumerate(stack.names):
                module = reference.parties[name].module
                for key, expected in module.named_parameters():
                    parameter = stack.parameters[key][index]
                    if parameter.shape != expected.shape:  # padded columns keep zero weights
                        assert not parameter[:, expected.shape[1] :].any()
                        parameter = parameter[:, : expected.shape[1]]
                    assert_close(parameter, expected, f"{name} {key}")
        own = model.server.fusion.parameters
        first, _, last = reference.fusion
        for index, name in enumerate(reference.members):
            assert_close(
                own["blocks"][index].T, first.weight[:, reference._block(index)], f"block of {name}"
            )
        assert_close(own["bias"], first.bias, "bias")
        assert_close(own["head.1.weight"], last.weight, "head")
        assert_close(own["head.1.bias"], last.bias, "head's bias")
        kept = model.server.memory.embeddings
        assert set(kept) == set(reference.tables)
        for name, expected in reference.tables.items():
            assert_close(kept[name].training, expected, f"kept embeddings of {name}")
        assert_close(model.step_rule.rate_scale, reference.rate_scale, "scale of the rates")
        metrics, expected = model.metrics(), reference.metrics()
        for key, number in expected.items():
            assert_close(metrics[key], number, key)
        if gradient_stats:
            for name in reference.parties:
                bound, variance, smoothness = reference.gradient_stats[name]
                assert_close(model.gradient_stats[name].bound_sq, bound, f"bound of {name}")
                assert_close(model.gradient_stats[name].variance, variance, f"variance of {name}")
                assert (model.gradient_stats[name].smoothness is None) == (smoothness is None)
                if smoothness is not None:
                    assert_close(
                        model.gradient_stats[name].smoothness, smoothness, f"smoothness of {name}"
                    )


def assert_close(actual, expected, name=""):
    """Check that numbers are equal to a relative 1e-6."""
    as_tensor = torch.as_tensor
    actual = as_tensor(actual, dtype=torch.float64).detach()
    expected = as_tensor(expected, dtype=torch.float64).detach()
    torch.testing.assert_close(
        actual, expected, rtol=1e-6, atol=1e-10, msg=lambda text: f"{name}: {text}"
    )
