"""Noise on embeddings and gradients before they are sent: rows are shortened, then perturbed.

In a simulation noise comes from the run's seed, so that runs can be repeated. In a federation
everybody knows the seed, so each sender draws noise from a source that nobody else can repeat.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from scdn.learning.party_loss import GradientLoss, PartyLoss
from scdn.rng import generator
from scdn.scenario import Privacy


@dataclass(frozen=True)
class MessageNoise:
    """The scenario's `learning.privacy`, and where noise comes from.

    Attributes
    ----------
    seed
        The run's, in a simulation; None where noise must be a secret.
    """

    privacy: Privacy
    seed: int | None

    def on_embeddings(self, table: Tensor, purpose: str, at: Sequence[int]) -> Tensor:
        """Return embeddings (rows, width) as they are sent; `purpose` and `at` name the draw."""
        privacy = self.privacy
        return self._noisy(table, privacy.embedding_clip, privacy.embedding_noise, purpose, at)

    def on_gradients(self, gradients: Tensor, purpose: str, at: Sequence[int]) -> Tensor:
        """Return gradients (..., rows, width) of the mean loss of these rows as they are sent."""
        privacy = self.privacy
        if privacy.gradient_clip is None:
            return gradients
        clip = privacy.gradient_clip / gradients.shape[-2]  # a row has this share of the mean loss
        return self._noisy(gradients, clip, privacy.gradient_noise, purpose, at)

    def on_loss(
        self, loss: PartyLoss, names: Sequence[str], table: str, at: Sequence[int]
    ) -> PartyLoss:
        """Return the loss with the gradients that these parties receive."""
        if self.privacy.gradient_clip is None or not isinstance(loss, GradientLoss):
            return loss
        received = [
            self.on_gradients(values, f"noise:{name}:{table}", at)
            for name, values in zip(names, loss.gradients, strict=True)
        ]
        return GradientLoss(torch.stack(received))

    def _noisy(
        self, values: Tensor, clip: float | None, noise: float, purpose: str, at: Sequence[int]
    ) -> Tensor:
        if clip is None:
            return values
        shortened = torch.renorm(values.flatten(0, -2), 2, 0, clip).view_as(values)
        if not noise:
            return shortened
        draw = np.random.default_rng() if self.seed is None else generator(self.seed, purpose, *at)
        drawn = torch.from_numpy(draw.standard_normal(tuple(values.shape)))
        return shortened + noise * clip * drawn.to(values)
