"""Theorem 1 on a real run: what its bound says of a round's gradients, and what they were.

Measured is ‖∇_n F‖², the gradient over the sample of rows at a round's start. The bound is
accumulated as plans use it (`scdn.theory`, nobody leaves), with Q² and σ² as the package measures
them, and

    paper     L_n and L from spectral norms
    measured  L_n: the largest ‖g(θ_q) − g(θ_0)‖/‖θ_q − θ_0‖ on the round's first batch; L: the
              largest ‖∇F(Θ) − ∇F(Θ_0)‖/‖Θ − Θ_0‖ over four points of the way that parties and
              server went together in the round
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from scdn.arrays import Array
from scdn.data import Dataset
from scdn.learning.features import Rows
from scdn.learning.local import Descent, Order, halved
from scdn.learning.losses import row_losses
from scdn.learning.parties import Maker
from scdn.learning.split import split
from scdn.learning.team import Team
from scdn.learning.tensors import Tensors, one_thread
from scdn.learning.vertical import VerticalModel
from scdn.paper.counting import mean_std
from scdn.paper.digits import rounded, short
from scdn.rng import generator
from scdn.scenario.model import Learning
from scdn.theory import drift, progress, sgd, theorem_1

RATE, HALVE, STEPS = 0.1, 5, 5
LEARNING = {
    "dataset": "mnist",
    "scaling": "standard",
    "split": "random",
    "batch_size": 64,
    "server_turn": "parallel",
    "damping": "none",
    "precision": "float64",
}
WAY = (0.25, 0.5, 0.75, 1.0)  # points at which the whole gradient is compared
FIGURES = ("rate", "squares", "bound_sq", "variance")
KINDS = ("paper", "measured")  # of smoothness
SMOOTHNESS = ("paper_party", "paper_whole", "measured_party", "measured_whole")

Run = dict[str, Any]


def begin(dataset: Dataset, rows: Rows, parties: int, seed: int) -> VerticalModel:
    """A model before round 0."""
    learning = Learning.model_validate(LEARNING)
    names = [f"party-{n + 1}" for n in range(parties)]
    views = dict(zip(names, split(dataset, learning.split, parties, seed), strict=True))
    return VerticalModel.start(rows, Maker.of(dataset, learning), views, learning, seed)


# A party's own way through a round


@dataclass(frozen=True)
class Walk:
    """A team's round, seen from its first batch; rows are steps 1 … τ, columns parties."""

    moved: Tensor  # ‖θ_q − θ_0‖
    changed: Tensor  # ‖g(θ_q) − g(θ_0)‖
    largest: Tensor  # (parties,) the largest squared norm of any gradient
    largest_own: Tensor  # (parties,) of the first batch's alone
    end: Tensors

    @property
    def smoothness(self) -> Tensor:
        """Each party's measured L."""
        ratio = self.changed / self.moved
        return torch.where(self.moved > 0, ratio, 0.0).max(0).values


def walk(model: VerticalModel, team: Team, batches: Tensor, orders: Sequence[Order]) -> Walk:
    """What the team's parties will do in the coming round."""
    with one_thread():
        flat = batches.flatten()
        sent: Tensors = {}
        for other in model.teams:
            each = other.embed_rows(model.rows, "train", flat)
            sent |= dict(zip(other.names, each, strict=True))
        stale = model.server.stack(sent, flat)
        stale = stale.view(len(stale), *batches.shape, -1)
        guide = model.server.guide(team.names, batches, stale, "shared")

        def gradients(at: Tensors, step: int) -> Tensors:
            inputs = team.sight.take(model.rows, "train", batches[step])
            return team.gradients(at, partial(guide.losses, guide.told(step)), inputs)

        descent = Descent(team.parameters, orders, model.place)
        first = gradients(team.parameters, 0)
        moved, changed, taken, own = [], [], [], [norms(first)]
        for step in range(len(batches)):
            gradient = gradients(descent.now, step)
            descent.step(gradient)
            here = gradients(descent.now, 0)
            taken.append(norms(gradient))
            own.append(norms(here))
            changed.append(norms(here, first))
            moved.append(norms(descent.now, team.parameters))
    alone = torch.stack(own).max(0).values
    anywhere = torch.maximum(alone, torch.stack(taken).max(0).values)
    return Walk(torch.stack(moved), torch.stack(changed), anywhere**2, alone**2, descent.now)


def norms(of: Tensors, minus: Tensors | None = None) -> Tensor:
    """Each party's Euclidean norm of all its tensors together."""
    parts = [t if minus is None else t - minus[name] for name, t in of.items()]
    return torch.stack([p.flatten(1).square().sum(1) for p in parts]).sum(0).sqrt()


# Everybody's way together


def weights(model: VerticalModel) -> list[Tensors]:
    """Everything that learns: each team's parameters, then the fusion model's."""
    return [*(dict(team.parameters) for team in model.teams), dict(model.server.fusion.parameters)]


def whole_gradient(model: VerticalModel, at: list[Tensors]) -> list[Tensors]:
    """The gradient over the sample in all of `weights`."""
    with one_thread():
        free = [{name: p.detach().requires_grad_() for name, p in part.items()} for part in at]
        sent: Tensors = {}
        for team, own in zip(model.teams, free[:-1], strict=True):
            inputs = team.sight.take(model.rows, "train", model.server.sample)
            each = team.forward(own, team.buffers, inputs)
            sent |= dict(zip(team.names, each, strict=True))
        fusion = model.server.fusion
        table = torch.stack([sent[name] for name in fusion.members])
        outputs = fusion.outputs(table, parameters=free[-1])
        targets = model.server.targets[model.server.sample]
        loss = row_losses(outputs, targets, model.server.task).mean()
        found = iter(torch.autograd.grad(loss, [p for part in free for p in part.values()]))
        return [{name: next(found) for name in part} for part in free]


def length(of: list[Tensors], minus: list[Tensors]) -> float:
    """The Euclidean norm of a difference of all weights."""
    pairs = zip(of, minus, strict=True)
    return sum(float((a[n] - b[n]).square().sum()) for a, b in pairs for n in a) ** 0.5


def way_smoothness(model: VerticalModel, before: list[Tensors], slope: list[Tensors]) -> float:
    """L along the way from `before`, where the gradient was `slope`, to the model as it stands."""
    after = weights(model)
    found = []
    for share in WAY:
        at = [
            {name: torch.lerp(a[name], b[name], share) for name in a}
            for a, b in zip(before, after, strict=True)
        ]
        found.append(length(whole_gradient(model, at), slope) / length(at, before))
    return max(found)


# A run


def measure(dataset: Dataset, rows: Rows, parties: int, seed: int, rounds: int, every: int) -> Run:
    """One run's squared gradients, smoothness and gradient figures, round by round.

    Rates halve after each `every` rounds.
    """
    model = begin(dataset, rows, parties, seed)
    found: dict[str, list[Any]] = {key: [] for key in (*FIGURES, *SMOOTHNESS)}
    start_loss = model.metrics()["train_loss"]
    for round_ in range(rounds):
        rate = halved(RATE, round_, every)
        order = Order(STEPS, rate)
        drawn = model._drawn(generator(seed, "batches", round_), STEPS)
        before = weights(model)
        slope = whole_gradient(model, before)
        squares: dict[str, float] = {}
        measured: dict[str, float] = {}
        for team, own in zip(model.teams, slope[:-1], strict=True):
            for name, value in model.sample_gradients(team).items():
                torch.testing.assert_close(own[name], value)
            squares |= dict(zip(team.names, (norms(own) ** 2).tolist(), strict=True))
            seen = walk(model, team, drawn, [order] * len(team.names))
            measured |= dict(zip(team.names, seen.smoothness.tolist(), strict=True))
        smooth, whole = model.smoothness()
        names = model.present
        found["rate"].append(rate)
        found["squares"].append([squares[name] for name in names])
        found["bound_sq"].append([model.sizes[name].bound_sq for name in names])
        found["variance"].append([model.sizes[name].variance for name in names])
        found["paper_party"].append([smooth[name] for name in names])
        found["paper_whole"].append(whole)
        found["measured_party"].append([measured[name] for name in names])
        model.train(round_, dict.fromkeys(names, order), order)
        found["measured_whole"].append(way_smoothness(model, before, slope))
    top3 = model.metrics()["top3"]
    return {"start_loss": start_loss, "top3": round(top3, 2)} | found


def bounds(run: Run, which: str, rounds: int) -> Array:
    """Theorem 1's right-hand side, (rounds, parties), for a run of so many rounds."""
    rate = np.array(run["rate"])[:rounds]
    party = np.array(run[f"{which}_party"])[:rounds]
    weight = sgd(STEPS)
    drifts = [
        drift(STEPS, own, weight.largest, each, whole)
        for own, each, whole in zip(rate, party, run[f"{which}_whole"], strict=False)
    ]
    gain = progress(STEPS, rate[:, None], weight.mean, weight.largest)
    bound_sq, variance = (np.array(run[key])[:rounds] for key in ("bound_sq", "variance"))
    start = run["start_loss"] / party.size
    return theorem_1(start, bound_sq, variance, np.stack(drifts), gain)


def summary(run: Run) -> Run:
    """Sums over parties and rounds, and where a bound is below what it bounds."""
    squares = np.array(run["squares"])
    rounds = len(squares)
    found: Run = {"sum": squares.sum()}
    so_far = squares.sum(1).cumsum()
    for which in KINDS:
        each = bounds(run, which, rounds)
        ended = np.array([bounds(run, which, r).sum() for r in range(1, rounds + 1)])
        found |= {
            f"{which}_bound": each.sum(),
            f"{which}_bound_start": (run["start_loss"] / squares.size / gains(run)).sum(),
            f"{which}_below_so_far": int((each.sum(1).cumsum() < so_far).sum()),
            f"{which}_below_if_ended": int((ended < so_far).sum()),
            f"{which}_below_single": int((each < squares).sum()),
        }
    return found


def averaged(runs: Sequence[Run]) -> dict[str, Any]:
    """Curves averaged over runs, and what verdicts need run by run."""
    rounds = len(runs[0]["rate"])
    below = ("below_so_far", "below_if_ended", "below_single")
    sides = {
        "measured": [np.sum(run["squares"], axis=1).cumsum() for run in runs],
        **{
            f"bound_{which}": [bounds(run, which, rounds).sum(1).cumsum() for run in runs]
            for which in KINDS
        },
    }
    return {
        "so_far": {name: mean_std(curves)[0] for name, curves in sides.items()},
        "ratio": {
            which: short([run[f"{which}_bound"] / run["sum"] for run in runs]) for which in KINDS
        },
        "below": {
            which: sum(run[f"{which}_{how}"] for run in runs for how in below) for which in KINDS
        },
        "smoothness": {
            key: mean_std([[float(np.mean(each)) for each in run[key]] for run in runs])[0]
            for key in SMOOTHNESS
        },
        "falls": {
            which: [
                bool(np.mean(run[f"{which}_party"][-1]) < np.mean(run[f"{which}_party"][0]))
                for run in runs
            ]
            for which in KINDS
        },
    }


def gains(run: Run) -> Array:
    """1/υ of each round and party."""
    weight = sgd(STEPS)
    rate = np.array(run["rate"])[:, None]
    each = progress(STEPS, rate, weight.mean, weight.largest)
    return np.broadcast_to(each, np.array(run["squares"]).shape)


def shorter(value: Any) -> Any:
    """Numbers with six digits, in any nesting."""
    if isinstance(value, dict):
        return {key: shorter(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shorter(item) for item in value]
    return rounded(float(value)) if isinstance(value, float | np.floating) else value
