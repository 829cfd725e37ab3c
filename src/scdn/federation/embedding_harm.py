"""Measure what a device's embeddings do to everybody's loss: with them, and with others instead."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from scdn.federation.incoming_messages import Tables
from scdn.federation.output_consistency import Outputs
from scdn.learning.fusion_server import FusionServer
from scdn.learning.losses import row_losses

# The loss may be higher by this part with a device's embeddings than without them. Honest devices
# were at 0.16 at most (a new device's update), and mostly below 0.03.
MAX_HARM = 0.5
# Beside it, a part of the loss that a constant prediction has: a loss near 0 doubles easily.
HARM_FLOOR = 0.02
_TINY = 1e-12


class HarmfulParties(NamedTuple):
    """Which parties do harm and how, the worst first; what each of the others gains the rest."""

    reasons: dict[str, str]
    gains: dict[str, float]  # part of the loss without it


@dataclass(frozen=True, eq=False)
class HarmMeasure:
    """Computes losses with the server's fusion model and labels; nothing of it is billed."""

    server: FusionServer

    def find_harmful(
        self,
        tables: Mapping[str, Tensor],
        rows: Tensor,
        instead: Mapping[str, Tensor],
        others: Mapping[str, Tensor],
    ) -> HarmfulParties:
        """Find parties without whose embeddings the loss would be much lower.

        The worst one is replaced first, and the others are judged again without it: so one device
        that lies does not make others look bad.

        Parameters
        ----------
        tables
            By party: embeddings to judge, (rows, width).
        rows
            The training rows that they are of.
        instead
            By party: what its embeddings are replaced by.
        others
            Embeddings of the same rows of members that are not judged.
        """
        reasons: dict[str, str] = {}
        current = {**others, **tables}
        while True:
            together = self.loss(current, rows)
            without = {
                name: self.loss({**current, name: instead[name]}, rows)
                for name in tables
                if name not in reasons
            }
            harms = {name: self.harm(together, loss) for name, loss in without.items()}
            worst = max(harms, key=harms.__getitem__, default=None)
            if worst is None or harms[worst] <= MAX_HARM:
                gains = {n: (loss - together) / max(loss, _TINY) for n, loss in without.items()}
                return HarmfulParties(reasons, gains)
            compared = describe_losses(together, without[worst])
            reasons[worst] = f"with its embeddings the loss is {compared}"
            current[worst] = instead[worst]

    def harm(self, loss: float, without: float) -> float:
        """Return by what part a loss is above the one without a device, beyond the floor."""
        excess = loss - without - HARM_FLOOR * self._trivial_loss()
        if math.isinf(loss):
            return 0.0 if math.isinf(without) else math.inf
        return max(0.0, excess / max(without, _TINY))

    def loss(self, tables: Mapping[str, Tensor], rows: Tensor) -> float:
        """Return the mean loss of training rows; infinite if it is not finite."""
        server = self.server
        targets = server.targets[rows]
        with torch.no_grad():
            outputs = server.outputs(tables, len(targets))
            loss = float(row_losses(outputs, targets, server.task).double().mean())
        return loss if math.isfinite(loss) else math.inf

    def known_of_others(self, sent: Collection[str], rows: Tensor) -> Tables:
        """Return what the server has of members that did not send these rows now."""
        heard = self.server.heard
        known = {} if heard is None else heard.parties
        return {name: party.values[rows] for name, party in known.items() if name not in sent}

    def with_imputed(self, sent: Mapping[str, Tensor], rows: Tensor) -> Tables:
        """Return what parties have sent, and what the server takes for the others."""
        server = self.server
        if server.heard is None:
            return dict(sent)
        members, how = server.fusion.members, server.imputation
        return {**sent, **server.heard.fill(members, rows, sent, how)}

    def outputs(self, samples: Mapping[str, Tensor], tests: Mapping[str, Tensor]) -> Outputs:
        """Return the server's outputs with these reports: probabilities, or predictions."""
        server, kept = self.server, self.server.memory.embeddings
        tables = (
            {**server.sample_embeddings, **{n: kept[n].sample for n in kept}, **samples},
            {**server.test_embeddings, **{n: kept[n].test for n in kept}, **tests},
        )
        with torch.no_grad():
            sample, test = (
                server.outputs(table, rows)
                for table, rows in zip(
                    tables, (len(server.sample), len(server.test_targets)), strict=True
                )
            )
        if server.task == "classification":
            sample, test = sample.softmax(1), test.softmax(1)
        return Outputs(sample, test)

    def forget(self, names: Collection[str]) -> None:
        """Let the server forget everything that parties have sent."""
        server = self.server
        server.recent.forget(names)
        if server.heard is not None:
            server.heard.forget(names)
        for name in names:
            server.sample_embeddings.pop(name, None)
            server.test_embeddings.pop(name, None)

    def _trivial_loss(self) -> float:
        """Return about what a constant prediction's loss is."""
        if self.server.task == "classification":
            return math.log(max(2, self.server.fusion.width))
        return float(self.server.targets.double().var(unbiased=False))


def describe_losses(loss: float, without: float) -> str:
    """Return two losses as text."""
    return f"{'not finite' if math.isinf(loss) else f'{loss:.3g}'} instead of {without:.3g}"
