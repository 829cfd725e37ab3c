"""Theorem 1 on a real run: its bound on the gradients of a round, and the measured gradients.

‖∇_n F‖² is measured over the sample of rows at the start of a round. The bound is accumulated as
plans use it (`scdn.theory`, no device leaves), with Q² and σ² as the package measures them, and
with two estimates of smoothness:

    paper     L_n and L from spectral norms
    measured  L_n: the largest ‖g(θ_q) − g(θ_0)‖/‖θ_q − θ_0‖ on the round's first batch; L: the
              largest ‖∇F(Θ) − ∇F(Θ_0)‖/‖Θ − Θ_0‖ at four points of the round's joint update of
              parties and server
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from scdn.arrays import Array
from scdn.data import Dataset
from scdn.learning.dataset_tensors import DatasetTensors
from scdn.learning.feature_split import split_features
from scdn.learning.local_optimizers import LocalSteps, batched_optimizer, halved_rate
from scdn.learning.losses import row_losses
from scdn.learning.party_factory import PartyFactory
from scdn.learning.party_stack import PartyStack
from scdn.learning.tensors import Tensors, single_threaded
from scdn.learning.vertical_model import VerticalModel
from scdn.paper.artefact import artefact_defaults
from scdn.paper.summaries import mean_std, rounded, rounded_list
from scdn.rng import generator
from scdn.scenario import LearningSettings
from scdn.theory import drift, progress, sgd, theorem_1

LEARNING_RATE, HALVE_RATE_EVERY, STEPS = 0.1, 5, 5
LEARNING_SETTINGS = {
    "dataset": "mnist",
    "scaling": "standard",
    "split": "random",
    "batch_size": 64,
    "local_optimizer": "own",
    "server_optimizer": "sgd",
    "server_turn": "parallel",
    "step": "rate",
    "damping": "none",
    "precision": "float64",
}
PATH_FRACTIONS = (0.25, 0.5, 0.75, 1.0)  # of a round's update, where full gradients are compared
GRADIENT_KEYS = ("rate", "squares", "bound_sq", "variance")
ESTIMATES = ("paper", "measured")  # of smoothness
SMOOTHNESS = ("paper_party", "paper_whole", "measured_party", "measured_whole")

Measurements = dict[str, Any]  # of one run


def learning_settings() -> LearningSettings:
    """Return the settings of every run, none of which follows the product's defaults."""
    return LearningSettings.model_validate(artefact_defaults()["learning"] | LEARNING_SETTINGS)


def create_model(
    dataset: Dataset, tensors: DatasetTensors, parties: int, seed: int
) -> VerticalModel:
    """Return a model before round 0."""
    learning = learning_settings()
    names = [f"party-{n + 1}" for n in range(parties)]
    views = dict(zip(names, split_features(dataset, learning.split, parties, seed), strict=True))
    return VerticalModel.create(
        tensors, PartyFactory.from_dataset(dataset, learning), views, learning, seed
    )


# --- a party's path through a round ---------------------------------------------------------------


@dataclass(frozen=True)
class LocalPath:
    """The local steps of a stack of parties in one round: rows are steps 1 … τ, columns parties.

    Gradients g are those of the round's first batch.
    """

    distance: Tensor  # ‖θ_q − θ_0‖
    gradient_change: Tensor  # ‖g(θ_q) − g(θ_0)‖
    largest_sq: Tensor  # (parties,) the largest squared norm of any gradient
    largest_first_batch_sq: Tensor  # (parties,) of the first batch only
    end: Tensors

    @property
    def smoothness(self) -> Tensor:
        """Return each party's measured L."""
        ratio = self.gradient_change / self.distance
        return torch.where(self.distance > 0, ratio, 0.0).max(0).values


def trace_local_path(
    model: VerticalModel, stack: PartyStack, batches: Tensor, local_steps: Sequence[LocalSteps]
) -> LocalPath:
    """Return the steps that the stack's parties will take in the coming round."""
    with single_threaded():
        flat = batches.flatten()
        sent: Tensors = {}
        for other in model.stacks:
            embeddings = other.embed_rows(model.data, "train", flat)
            sent |= dict(zip(other.names, embeddings, strict=True))
        stale = model.server.member_embeddings(sent, flat)
        stale = stale.view(len(stale), *batches.shape, -1)
        party_loss = model.server.party_loss(stack.names, batches, stale, "shared")

        def gradients(at: Tensors, step: int) -> Tensors:
            inputs = stack.views.gather(model.data, "train", batches[step])
            losses = partial(party_loss.losses, party_loss.step_tensors(step))
            return stack.gradients(at, losses, inputs)

        optimizer_class = batched_optimizer(steps.optimizer for steps in local_steps)
        optimizer = optimizer_class(stack.parameters, local_steps, model.factory.options)
        start = gradients(stack.parameters, 0)
        distances, changes, step_norms, first_batch_norms = [], [], [], [party_norms(start)]
        for step in range(len(batches)):
            step_gradient = gradients(optimizer.parameters, step)
            optimizer.step(step_gradient, step)
            gradient = gradients(optimizer.parameters, 0)
            step_norms.append(party_norms(step_gradient))
            first_batch_norms.append(party_norms(gradient))
            changes.append(party_norms(gradient, start))
            distances.append(party_norms(optimizer.parameters, stack.parameters))
    largest_first_batch = torch.stack(first_batch_norms).max(0).values
    largest = torch.maximum(largest_first_batch, torch.stack(step_norms).max(0).values)
    return LocalPath(
        torch.stack(distances),
        torch.stack(changes),
        largest**2,
        largest_first_batch**2,
        optimizer.parameters,
    )


def party_norms(tensors: Tensors, minus: Tensors | None = None) -> Tensor:
    """Return each party's Euclidean norm over all its tensors, or over a difference."""
    parts = [t if minus is None else t - minus[name] for name, t in tensors.items()]
    return torch.stack([p.flatten(1).square().sum(1) for p in parts]).sum(0).sqrt()


# --- the joint update of parties and server -------------------------------------------------------


def all_parameters(model: VerticalModel) -> list[Tensors]:
    """Return each stack's parameters, then the fusion model's."""
    stacks = [dict(stack.parameters) for stack in model.stacks]
    return [*stacks, dict(model.server.fusion.parameters)]


def full_gradient(model: VerticalModel, at: list[Tensors]) -> list[Tensors]:
    """Return the gradient over the sample in all parameters, at these values."""
    with single_threaded():
        free = [{name: p.detach().requires_grad_() for name, p in part.items()} for part in at]
        sent: Tensors = {}
        for stack, parameters in zip(model.stacks, free[:-1], strict=True):
            inputs = stack.views.gather(model.data, "train", model.server.sample)
            embeddings = stack.forward(parameters, stack.buffers, inputs)
            sent |= dict(zip(stack.names, embeddings, strict=True))
        fusion = model.server.fusion
        table = torch.stack([sent[name] for name in fusion.members])
        outputs = replace(fusion, parameters=free[-1]).outputs(table)
        targets = model.server.targets[model.server.sample]
        loss = row_losses(outputs, targets, model.server.task).mean()
        gradient = iter(torch.autograd.grad(loss, [p for part in free for p in part.values()]))
        return [{name: next(gradient) for name in part} for part in free]


def total_norm(tensors: list[Tensors], minus: list[Tensors]) -> float:
    """Return the Euclidean norm of the difference of all parameters or gradients."""
    pairs = zip(tensors, minus, strict=True)
    return sum(float((a[n] - b[n]).square().sum()) for a, b in pairs for n in a) ** 0.5


def smoothness_along_path(
    model: VerticalModel, before: list[Tensors], gradient: list[Tensors]
) -> float:
    """Return L along the update from `before`, where the gradient was `gradient`, to now."""
    after = all_parameters(model)
    ratios = []
    for fraction in PATH_FRACTIONS:
        at = [
            {name: torch.lerp(a[name], b[name], fraction) for name in a}
            for a, b in zip(before, after, strict=True)
        ]
        ratios.append(total_norm(full_gradient(model, at), gradient) / total_norm(at, before))
    return max(ratios)


# --- a run ----------------------------------------------------------------------------------------


def measure(
    dataset: Dataset,
    tensors: DatasetTensors,
    parties: int,
    seed: int,
    rounds: int,
    halve_every: int,
) -> Measurements:
    """Train one run; return squared gradients, smoothness and gradient statistics per round.

    Learning rates halve after every `halve_every` rounds.
    """
    model = create_model(dataset, tensors, parties, seed)
    measured: dict[str, list[Any]] = {key: [] for key in (*GRADIENT_KEYS, *SMOOTHNESS)}
    start_loss = model.metrics()["train_loss"]
    for round_index in range(rounds):
        rate = halved_rate(LEARNING_RATE, round_index, halve_every)
        local_steps = LocalSteps(STEPS, rate)
        batches = model.draw(generator(seed, "batches", round_index), STEPS)
        before = all_parameters(model)
        gradient = full_gradient(model, before)
        squares: dict[str, float] = {}
        path_smoothness: dict[str, float] = {}
        for stack, part in zip(model.stacks, gradient[:-1], strict=True):
            for name, value in model.sample_gradients(stack).items():
                torch.testing.assert_close(part[name], value)
            squares |= dict(zip(stack.names, (party_norms(part) ** 2).tolist(), strict=True))
            path = trace_local_path(model, stack, batches, [local_steps] * len(stack.names))
            path_smoothness |= dict(zip(stack.names, path.smoothness.tolist(), strict=True))
        party_smoothness, global_smoothness = model.smoothness()
        names = model.present
        measured["rate"].append(rate)
        measured["squares"].append([squares[name] for name in names])
        measured["bound_sq"].append([model.gradient_stats[name].bound_sq for name in names])
        measured["variance"].append([model.gradient_stats[name].variance for name in names])
        measured["paper_party"].append([party_smoothness[name] for name in names])
        measured["paper_whole"].append(global_smoothness)
        measured["measured_party"].append([path_smoothness[name] for name in names])
        model.train(round_index, dict.fromkeys(names, local_steps), local_steps)
        measured["measured_whole"].append(smoothness_along_path(model, before, gradient))
    top3 = model.metrics()["top3"]
    return {"start_loss": start_loss, "top3": round(top3, 2)} | measured


def theorem_bounds(run: Measurements, estimate: str, rounds: int) -> Array:
    """Return Theorem 1's right-hand side, (rounds, parties), for a run of so many rounds."""
    rate = np.array(run["rate"])[:rounds]
    party = np.array(run[f"{estimate}_party"])[:rounds]
    weight = sgd(STEPS)
    drifts = [
        drift(STEPS, step_size, weight.largest, party_l, global_l)
        for step_size, party_l, global_l in zip(rate, party, run[f"{estimate}_whole"], strict=False)
    ]
    gain = progress(STEPS, rate[:, None], weight.mean, weight.largest)
    bound_sq, variance = (np.array(run[key])[:rounds] for key in ("bound_sq", "variance"))
    start = run["start_loss"] / party.size
    return theorem_1(start, bound_sq, variance, np.stack(drifts), gain)


def summary(run: Measurements) -> Measurements:
    """Return sums over parties and rounds, and how often a bound is violated."""
    squares = np.array(run["squares"])
    rounds = len(squares)
    weight = sgd(STEPS)
    gain = progress(STEPS, np.array(run["rate"])[:, None], weight.mean, weight.largest)
    gains = np.broadcast_to(gain, squares.shape)
    sums: Measurements = {"sum": squares.sum()}
    so_far = squares.sum(1).cumsum()
    for estimate in ESTIMATES:
        bounds = theorem_bounds(run, estimate, rounds)
        if_ended = np.array([theorem_bounds(run, estimate, r).sum() for r in range(1, rounds + 1)])
        sums |= {
            f"{estimate}_bound": bounds.sum(),
            f"{estimate}_bound_start": (run["start_loss"] / squares.size / gains).sum(),
            f"{estimate}_below_so_far": int((bounds.sum(1).cumsum() < so_far).sum()),
            f"{estimate}_below_if_ended": int((if_ended < so_far).sum()),
            f"{estimate}_below_single": int((bounds < squares).sum()),
        }
    return sums


def averaged(runs: Sequence[Measurements]) -> dict[str, Any]:
    """Return curves averaged over runs, and what verdicts need of each run."""
    rounds = len(runs[0]["rate"])
    below = ("below_so_far", "below_if_ended", "below_single")
    sides = {
        "measured": [np.sum(run["squares"], axis=1).cumsum() for run in runs],
        **{
            f"bound_{estimate}": [
                theorem_bounds(run, estimate, rounds).sum(1).cumsum() for run in runs
            ]
            for estimate in ESTIMATES
        },
    }
    return {
        "so_far": {name: mean_std(curves)["mean"] for name, curves in sides.items()},
        "ratio": {
            estimate: rounded_list([run[f"{estimate}_bound"] / run["sum"] for run in runs])
            for estimate in ESTIMATES
        },
        "below": {
            estimate: sum(run[f"{estimate}_{count}"] for run in runs for count in below)
            for estimate in ESTIMATES
        },
        "smoothness": {
            key: mean_std([[float(np.mean(values)) for values in run[key]] for run in runs])["mean"]
            for key in SMOOTHNESS
        },
        "falls": {
            estimate: [
                bool(np.mean(run[f"{estimate}_party"][-1]) < np.mean(run[f"{estimate}_party"][0]))
                for run in runs
            ]
            for estimate in ESTIMATES
        },
    }


def rounded_values(value: Any) -> Any:
    """Round all floats in nested dicts and lists to six digits."""
    if isinstance(value, dict):
        return {key: rounded_values(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded_values(item) for item in value]
    return rounded(float(value)) if isinstance(value, float | np.floating) else value
