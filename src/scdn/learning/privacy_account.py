"""How often each row's numbers were sent with noise, and the ε that this amounts to for a device.

One row of one device is protected: replacing its features changes what is sent of this row by at
most twice the clip, and so does replacing its label for the gradients that come back. All sendings
of a row compose. What a row does to the models, and through them to what is sent later, is not
counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from scdn.errors import require_package
from scdn.learning.batches import table_rows
from scdn.learning.party_backend import RoundTask
from scdn.learning.round_protocol import tables_after_step
from scdn.learning.round_training import RoundTraining
from scdn.learning.step_rule import StepTaken
from scdn.scenario import LearningSettings, Privacy

SENSITIVITY = 2.0  # of a row's numbers, in clips: one vector of that length becomes its opposite
# Rényi orders: as close to 1 as large ε need, as far from it as small ones need.
ORDERS = tuple(float(order) for order in 1 + np.logspace(-3, 3, 241))
EMBEDDINGS, GRADIENTS = "embeddings", "gradients"

Counts = NDArray[np.int64]


@lru_cache(maxsize=4096)
def epsilon(noise: float, sendings: int, delta: float) -> float | None:
    """Return ε of so many sendings of a row, with noise in multiples of the clip.

    None where there is no noise, and so no bound. The accountant is that of Opacus.
    """
    if not sendings:
        return 0.0
    if not noise:
        return None
    from opacus.accountants import RDPAccountant

    accountant = RDPAccountant()
    accountant.history = [(noise / SENSITIVITY, 1.0, sendings)]
    return float(accountant.get_epsilon(delta, alphas=list(ORDERS)))


@dataclass
class PrivacyAccount:
    """By party, how often each training row's embedding was sent, and each row's gradient.

    It is kept only where the scenario asks for privacy. Departed parties stay in it.
    """

    learning: LearningSettings
    train_rows: int
    counts: dict[str, dict[str, Counts]] = field(
        default_factory=lambda: {EMBEDDINGS: {}, GRADIENTS: {}}
    )

    def __post_init__(self) -> None:
        if self.privacy.is_counted:
            require_package("opacus", "privacy", "learning.privacy")

    @property
    def privacy(self) -> Privacy:
        """Return the scenario's settings."""
        return self.learning.privacy

    @property
    def is_on(self) -> bool:
        """Return whether anything is counted."""
        return self.privacy.is_on

    def add_round(
        self,
        training: RoundTraining,
        step: StepTaken,
        sample: Tensor,
        first_samples: Iterable[str],
    ) -> None:
        """Count what was sent in a round, as `round_protocol` says."""
        if not self.is_on:
            return
        task = training.task
        rows = {"drawn": _rows(task.batches), "held_out": _rows(task.held_out)}
        sample_rows = _rows(sample)
        for name in training.heard - task.repeated:
            for part in rows.values():
                self._add(EMBEDDINGS, name, part)
        for name in first_samples:
            self._add(EMBEDDINGS, name, sample_rows)
        chosen_on = "held_out" if self.learning.step == "searched" else "drawn"
        after = [*(rows[table] for table in tables_after_step(self.learning)), sample_rows]
        self._add_gradients(task, sample_rows)
        for name in task.training:
            if self.learning.step != "rate":
                self._add(EMBEDDINGS, name, rows[chosen_on])
            parts = list(after)
            if name in task.table_parts:
                rounds = max(1, self.learning.table_rounds)
                table = table_rows(task.table_parts[name], rounds, self.train_rows)
                parts.append(_rows(table))
            for sent in parts:
                self._add(EMBEDDINGS, name, sent, step.sendings)

    def add_ahead(self, task: RoundTask, sample: Tensor) -> None:
        """Count what parties send and receive that train now and report in a later round."""
        if not self.is_on:
            return
        self._add_gradients(task, _rows(sample))
        for name in task.training:
            self._add(EMBEDDINGS, name, _rows(task.batches))
            self._add(EMBEDDINGS, name, _rows(task.held_out))

    def _add_gradients(self, task: RoundTask, sample_rows: Counts) -> None:
        """Count the gradients of a task; late parties have received theirs before."""
        for name in task.training - task.late:
            self._add(GRADIENTS, name, _rows(task.batches))
            if task.sample_loss is not None:
                self._add(GRADIENTS, name, sample_rows)

    def _add(self, kind: str, name: str, rows: Counts, times: int = 1) -> None:
        counts = self.counts[kind].setdefault(name, np.zeros(self.train_rows, np.int64))
        counts += times * np.bincount(rows, minlength=self.train_rows)

    def sendings(self, kind: str, name: str) -> int:
        """Return how often the numbers of a party's most exposed row were sent."""
        counts = self.counts[kind].get(name)
        return 0 if counts is None else int(counts.max())

    def entry(self, name: str) -> dict[str, Any]:
        """Return a device's ε so far, of its most exposed row, and the sendings behind it."""
        privacy = self.privacy
        result: dict[str, Any] = {"delta": privacy.delta}
        for kind, clip, noise, what in (
            (EMBEDDINGS, privacy.embedding_clip, privacy.embedding_noise, "features"),
            (GRADIENTS, privacy.gradient_clip, privacy.gradient_noise, "label"),
        ):
            if clip is not None:
                sendings = self.sendings(kind, name)
                result |= {
                    f"{what}_epsilon": epsilon(noise, sendings, privacy.delta),
                    f"{what}_sendings": sendings,
                }
        if privacy.label_epsilon is not None:  # however often gradients are sent
            sendings = self.sendings(GRADIENTS, name)
            drawn = privacy.label_epsilon if sendings else 0.0
            result |= {"label_epsilon": drawn, "label_sendings": sendings}
        return result

    def summary(self) -> dict[str, Any]:
        """Return the entry of every device that took part, for the summary of a run."""
        if not self.is_on:
            return {}
        names = sorted({name for counts in self.counts.values() for name in counts})
        return {"privacy": {name: self.entry(name) for name in names}}

    def add_to_event(self, event: dict[str, Any]) -> None:
        """Add each device's entry to a round's event."""
        if self.is_on:
            for device in event["devices"]:
                device["privacy"] = self.entry(device["id"])

    def state_dict(self) -> dict[str, Any]:
        """Return the counts as values that JSON can hold; there are none where privacy is off."""
        if not self.is_on:
            return {}
        return {
            "privacy": {
                kind: {name: counts.tolist() for name, counts in by_name.items()}
                for kind, by_name in self.counts.items()
            }
        }

    def load_state_dict(self, values: dict[str, Any]) -> None:
        """Restore what `state_dict` returned."""
        for kind, by_name in values.get("privacy", {}).items():
            self.counts[kind] = {
                name: np.array(counts, np.int64) for name, counts in by_name.items()
            }


def _rows(rows: Tensor) -> Counts:
    return rows.flatten().cpu().numpy()
