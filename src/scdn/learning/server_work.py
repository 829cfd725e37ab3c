"""The server's computing, counted in rows that pass through the fusion model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ServerWork:
    """Rows of which the server computed the gradient or only the outputs, and its training steps.

    A step is the gradient of one batch, by which the server trains; its rows are among
    `gradient_rows`. Adding two pieces of work adds their counts, and `ServerWork()` is none.
    """

    gradient_rows: int = 0
    forward_rows: int = 0
    steps: int = 0

    def __add__(self, other: ServerWork) -> ServerWork:
        return ServerWork(
            self.gradient_rows + other.gradient_rows,
            self.forward_rows + other.forward_rows,
            self.steps + other.steps,
        )
