"""What a server asks of the parties, wherever they are."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from torch import Tensor

from scdn.learning.feature_split import FeatureView
from scdn.learning.gradient_stats import GradientStats
from scdn.learning.local_optimizers import LocalSteps
from scdn.learning.party_loss import PartyLoss
from scdn.learning.tensors import StateDict


@dataclass(frozen=True)
class RoundTask:
    """What the server asks parties to do in a round.

    The two functions return the loss of the named parties, so that each party learns of its own
    loss alone.
    """

    batches: Tensor  # (steps, batch) indices of training rows
    held_out: Tensor  # (1, rows), or (0, 0): rows of this round that nobody trains on
    local_steps: Mapping[str, LocalSteps]
    party_loss: Callable[[Sequence[str]], PartyLoss]
    sample_loss: Callable[[Sequence[str]], PartyLoss] | None  # over the sample; None: no statistics
    step_length: float | None = None  # how far to go along the updates; None: chosen after training
    table_parts: Mapping[str, int] = field(default_factory=dict)  # to send, by party: which part
    late: frozenset[str] = frozenset()  # parties whose update was trained ahead, in another task
    repeated: frozenset[str] = frozenset()  # late parties that had sent their embeddings before
    ahead: bool = False  # whether updates stay pending until a later task has the party in `late`

    @property
    def training(self) -> set[str]:
        """Return the parties that have steps to take."""
        return {name for name, steps in self.local_steps.items() if steps.count}


class SentEmbeddings(NamedTuple):
    """Embeddings (rows, width) of the sample and of the test rows, one tensor per party."""

    names: Sequence[str]
    sample: Sequence[Tensor]
    test: Sequence[Tensor]


class PartyBackend(Protocol):
    """The parties as `VerticalModel` sees them: in this process, or devices behind messages.

    Life cycle. `add` is called before round 0 and whenever parties join; `measure_gradients`
    follows, if the controller needs statistics. In every round the model calls, in this order,
    `embed` (the embeddings that everybody trains against), `train`, possibly `embed` again,
    `apply_updates`, and `embed` once more if the server trains last; where a searched step was too
    long, `apply_updates` and `embed` follow again. Where the server does not wait for all, parties
    are asked to `embed` and to `train` ahead when their cycles begin. Before it measures
    anything it calls `evaluation_embeddings` of the parties whose parameters have changed. `remove`
    ends a party; before that, `training_embeddings` may be asked for. `state_dict` is called after
    each round, `load_state_dict` once, on a backend without parties, when a run resumes.
    """

    round: tuple[int, int]  # the round and the arrival in it that is trained, or was last
    number_bits: int  # of each number in the tables of that round

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the parties that can train."""

    def add(self, views: Mapping[str, FeatureView]) -> dict[str, int]:
        """Add parties and return the number of connections of their models."""

    def remove(self, names: Collection[str]) -> None:
        """Remove parties for good."""

    def measure_gradients(
        self, names: Collection[str], task: RoundTask
    ) -> dict[str, GradientStats]:
        """Measure gradients at the task's batches without taking a step."""

    def train(self, task: RoundTask) -> dict[str, GradientStats]:
        """Take the task's local steps; the updates stay pending until they are applied.

        Parties in `late` have taken theirs already, in a task with `ahead`.
        """

    def apply_updates(self, step_length: float, names: Collection[str]) -> set[str]:
        """Go so far along these parties' last updates; return the parties that were updated.

        A second call in the same round replaces the first.
        """

    def embed(
        self, tables: Mapping[str, Tensor], phase: str, names: Collection[str]
    ) -> dict[str, Tensor]:
        """Return embeddings (rows, width) of training rows, of those of `names` that send them.

        `tables` has the rows of each table that is sent, by its name: `drawn` (to train on),
        `held_out` or `table` (a part of all rows). The result has the tables one after another.
        `phase` is the moment in the round: `before`, `trained` (pending updates count in full), or
        `after N` for the Nth time that updates were applied in the round, from 0.
        """

    def training_embeddings(self, names: Collection[str]) -> dict[str, Tensor]:
        """Return embeddings of all training rows, of parties that are about to leave."""

    def evaluation_embeddings(self, names: Collection[str]) -> Iterator[SentEmbeddings]:
        """Yield current embeddings of the sample and the test rows, of those of `names`."""

    def smoothness(self) -> dict[str, float]:
        """Return L_n of every party, from the spectral norms of its model."""

    def state_dict(self) -> StateDict:
        """Return everything that a resumed run needs."""

    def load_state_dict(self, state: StateDict) -> None:
        """Restore what `state_dict` returned."""
