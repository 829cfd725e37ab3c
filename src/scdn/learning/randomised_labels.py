"""Labels drawn at random, in place of the true ones in what a server with the labels tells devices.

Each training row's label is replaced once per run: with ε it stays the same e^ε times as often as
it becomes any one of the others (randomised response). All devices get the gradients of these, in
all rounds, so that neither repetition nor several devices together say more about a label.

A gradient also has what the model says about the row, from all devices' features. So each device
gets the gradient of a prediction from its own embedding alone, with what the others add to the
fusion model's first layer replaced by its mean over the rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from scdn.data.dataset import TaskKind
from scdn.errors import input_error
from scdn.learning.fusion_model import FusionModel, masked
from scdn.learning.tensors import Arrays, to_arrays
from scdn.rng import generator


@dataclass(frozen=True)
class RandomisedLabels:
    """The label of each training row as devices may learn it.

    Attributes
    ----------
    labels
        By row; rows that differ by augmentation alone have one.
    kept
        The probability with which a row has its true label.
    """

    labels: Tensor
    kept: float

    @classmethod
    def draw(
        cls, targets: Tensor, classes: int, task: TaskKind, epsilon: float, seed: int | None
    ) -> RandomisedLabels:
        """Draw the labels; `seed` is None where they must be a secret."""
        if task == "regression":
            problem = f"{epsilon:g}, but the data set has numbers to predict, not classes"
            raise input_error(
                "scenario", "learning.privacy.label_epsilon", problem, "must be absent"
            )
        kept = kept_probability(epsilon, classes)
        draw = np.random.default_rng() if seed is None else generator(seed, "randomised-labels")
        stays = draw.random(len(targets)) < kept
        other = draw.integers(1, max(2, classes), len(targets))
        shift = torch.from_numpy(np.where(stays, 0, other)).to(targets)
        return cls((targets + shift) % classes, kept)

    def gradients(
        self,
        fusion: FusionModel,
        embeddings: Tensor,
        rows: Tensor,
        parties: Tensor,
        weights: Tensor | None,
    ) -> Tensor:
        """Return for these parties the gradients of each batch's mean loss at their embeddings.

        `embeddings` are all members', (members, steps, batch, width), `parties` are indices of
        members, and `rows` are (steps, batch).
        """
        labels = self.labels[rows % len(self.labels)]
        blocks, bias = fusion.parameters["blocks"], fusion.parameters["bias"]
        inputs = masked(embeddings, weights)
        means = torch.stack(
            [x.flatten(0, 1).mean(0) @ b for x, b in zip(inputs, blocks, strict=True)]
        )
        results = []
        for party in parties.tolist():
            leaf = embeddings[party].detach().requires_grad_()
            own = masked(leaf[None], None if weights is None else weights[:, party : party + 1])[0]
            others = means.sum(0) - means[party] + bias
            losses = self.losses(fusion.head(own @ blocks[party] + others), labels)
            results.append(torch.autograd.grad(losses.mean(-1).sum(), leaf)[0])
        return torch.stack(results) if results else embeddings[:0]

    def losses(self, outputs: Tensor, labels: Tensor) -> Tensor:
        """Return each row's loss: of the drawn label's probability, if outputs predict true ones.

        It is least, on average, for the outputs for which cross-entropy with true labels is.
        """
        classes = outputs.shape[-1]
        changed = (1 - self.kept) / max(1, classes - 1)
        predicted = torch.softmax(outputs, -1).gather(-1, labels[..., None])[..., 0]
        return -torch.log(changed + (self.kept - changed) * predicted)


def label_arrays(drawn: RandomisedLabels | None) -> Arrays:
    """Return drawn labels for a checkpoint: drawn once more, they would say more."""
    return {} if drawn is None else to_arrays({"labels": drawn.labels}, "device")


def with_label_arrays(drawn: RandomisedLabels | None, arrays: Arrays) -> RandomisedLabels | None:
    """Return the labels of a checkpoint in place of new ones."""
    if drawn is None:
        return None
    labels = torch.from_numpy(arrays["device/labels"]).to(drawn.labels)
    return replace(drawn, labels=labels)


def kept_probability(epsilon: float, classes: int) -> float:
    """Return with which probability randomised response leaves a label as it is."""
    return 1 / (1 + max(0, classes - 1) * math.exp(-epsilon))
