"""What a device has said so far, as far as later replies are compared with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

import torch
from torch import Tensor

from scdn.federation.incoming_messages import Tables

_KEPT_VALUES = 64  # of each figure
SIZE, CHANGE = "size", "update"  # of embeddings, and by training, among the figures


@dataclass
class ReplyHistory:
    """A party's good replies.

    Attributes
    ----------
    figures
        The last values of each figure, and of the size of its embeddings.
    mean
        The mean embedding of its last reply, (width,).
    state
        The number of the model's state that `values` belong to.
    values, known
        Embeddings of training rows, (rows, width), and which rows have one, (rows,).
    fewest_bits
        The fewest bits per number with which `values` were sent.
    replies
        The number of its good replies.
    """

    figures: dict[str, list[float]] = field(default_factory=dict)
    mean: Tensor | None = None
    state: int | None = None
    values: Tensor | None = None
    known: Tensor | None = None
    fewest_bits: int = 32
    replies: int = 0

    def accept_figures(self, figures: Mapping[str, float | None]) -> None:
        """Remember what a party has measured; zero and None are no measurements."""
        for kind, value in figures.items():
            if value:
                self.figures[kind] = [*self.figures.get(kind, []), value][-_KEPT_VALUES:]

    def usual(self, kind: str) -> float:
        """Return the median of a figure so far: one that grows steadily is soon far above it.

        Embeddings of honest devices may grow so: of their size, the largest is returned.
        """
        values = self.figures.get(kind) or [0.0]
        return max(values) if kind == SIZE else median(values)

    def with_tables(
        self, state: int, tables: Tables, rows: Mapping[str, Tensor], count: int, tolerance: float
    ) -> tuple[ReplyHistory, float]:
        """Return the history with embeddings in a state, and the part of rows that contradict it.

        A row has one embedding in one state of a model. `rows` are the numbers of the tables' rows,
        of `count` training rows.
        """
        compared = contradicted = 0
        values, known = self.values, self.known
        if state != self.state:
            values, known = None, None
        for name in [name for name in tables if name in rows and len(tables[name])]:
            table, numbers = tables[name], rows[name]
            if values is None or known is None:
                values = table.new_zeros(count, table.shape[1])
                known = torch.zeros(count, dtype=torch.bool, device=table.device)
            else:
                values, known = values.clone(), known.clone()
            gaps = (values[numbers] - table).abs().amax(1)[known[numbers]]
            compared += len(gaps)
            contradicted += int((gaps > tolerance).sum())
            values[numbers], known[numbers] = table, True
        part = contradicted / compared if compared else 0.0
        return replace(self, state=state, values=values, known=known), part

    def state_dict(self) -> dict[str, Any]:
        """Return the figures, the mean and the number of replies; tables are not kept."""
        mean = None if self.mean is None else self.mean.tolist()
        return {"figures": self.figures, "mean": mean, "replies": self.replies}

    @classmethod
    def from_state_dict(cls, state: Mapping[str, Any]) -> ReplyHistory:
        """Create the history that `state_dict` was called on."""
        mean = state["mean"]
        mean = None if mean is None else torch.tensor(mean, dtype=torch.float64)
        return cls(dict(state["figures"]), mean, replies=state["replies"])


def part_that_differs(tables: Tables, others: Tables, tolerance: float) -> float:
    """Return on which part of the rows of the same tables two replies differ."""
    gaps = [
        (tables[name] - others[name]).abs().amax(1)
        for name in tables.keys() & others.keys()
        if len(tables[name]) == len(others[name]) > 0
    ]
    return float(torch.cat(gaps).gt(tolerance).double().mean()) if gaps else 0.0


def size_of(tables: Tables) -> float:
    """Return the root mean square of the largest of some tables."""
    return max((root_mean_square(table) for table in tables.values()), default=0.0)


def root_mean_square(table: Tensor) -> float:
    """Return the root mean square of a table's numbers."""
    return float(table.double().square().mean().sqrt()) if table.numel() else 0.0
