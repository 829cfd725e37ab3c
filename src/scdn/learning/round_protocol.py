"""The messages of a round between the server and one device, and how many bits each has.

Planner, ledger, simulation and federation all take sizes from here. Rows are never named in a
message: both sides draw them from the run's seed. Embeddings of test rows are measurement, and no
part of the protocol.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from scdn.learning.batches import sample_size, split_rows
from scdn.scenario import LearningSettings

Direction = Literal["up", "down"]

FIGURE_BITS = 32  # of a number that is no part of a table
ORDER_FIGURES = 8  # round, steps, rate, optimiser and its value, iterations, power and clock
REPORT_FIGURES = 3  # gradient bound, gradient variance and smoothness
RANGE_BITS = 64  # lowest and highest number of a table's column, where numbers are rounded


class MessagePart(NamedTuple):
    """One part of what is sent in a round; `direction` is up to the server or down to the device.

    `moment` says when: before or while the device trains, once it has trained, or with its step. A
    part of the step is sent once more whenever the step was too long and is shortened. A device
    whose training diverged has only the parts before.
    """

    name: str
    direction: Direction
    bits: int
    moment: Literal["before", "trained", "step"] = "before"


def tables_after_step(learning: LearningSettings) -> tuple[str, ...]:
    """Return the tables of a round's rows that devices send again after their step.

    A server that trains afterwards needs them all, and one that searches the step needs the rows
    held out.
    """
    if learning.server_optimizer == "adam" or learning.server_turn == "after":
        return "drawn", "held_out"
    return ("held_out",) if learning.step == "searched" else ()


def table_bits(rows: int, width: int, number_bits: int) -> int:
    """Return the bits of a table of so many rows and columns, in whole bytes.

    Rounded numbers need the range of each column as well.
    """
    if rows == 0 or width == 0:
        return 0
    if number_bits >= FIGURE_BITS:
        return rows * width * number_bits
    return 8 * -(-rows * width * number_bits // 8) + RANGE_BITS * width


@dataclass(frozen=True)
class RoundProtocol:
    """What the server and a device that reports send each other in a round.

    Attributes
    ----------
    width
        The numbers of an embedding.
    drawn, held_out
        The training rows that are drawn in a round, and those on which nobody trains.
    sample
        The rows that importance is estimated on, or that a mission judges progress on; 0 where the
        controller does neither.
    sends_sample_gradients
        Whether devices get gradients of the sample, for statistics.
    train_rows
        All training rows.
    """

    learning: LearningSettings
    width: int
    drawn: int
    held_out: int
    sample: int
    train_rows: int
    sends_sample_gradients: bool = True

    @classmethod
    def create(
        cls,
        learning: LearningSettings,
        width: int,
        train_rows: int,
        steps: int,
        *,
        uses_importance: bool,
    ) -> RoundProtocol:
        """Return the protocol of rounds in which a batch is drawn for each of so many steps."""
        training, held_out = train_rows, 0
        if learning.holds_rows_out:
            # The number of rows does not depend on the seed.
            training, held_out = map(len, split_rows(0, train_rows, learning))
        size = learning.batch_size
        sends_sample = uses_importance or learning.validation > 0
        return cls(
            learning,
            width,
            steps * min(size, training),
            held_out,
            sample_size(train_rows, learning) if sends_sample else 0,
            train_rows,
            uses_importance,
        )

    @property
    def table_part(self) -> int:
        """Return the rows of the whole table that are sent with one report."""
        rounds = self.learning.table_rounds
        return -(-self.train_rows // rounds) if rounds else 0

    @property
    def sample_bits(self) -> int:
        """Return the bits of the sample.

        A device that is heard for the first time sends it even without an update.
        """
        return self._bits(self.sample)

    def sends_table(self, survival: float) -> bool:
        """Return whether a device of this survival probability sends parts of its whole table."""
        return self.table_part > 0 and survival <= self.learning.table_survival

    def report_bits(self, survival: float) -> int:
        """Return the bits that plans count for the report of a device: all it sends, once."""
        return self.bits_of_report(with_table=self.sends_table(survival))

    def bits_of_report(self, *, with_table: bool) -> int:
        """Return the same for a device that adds a part of its whole table, or does not."""
        return bits_of(self.parts(1, 0, with_table=with_table), "up")

    def parts(
        self,
        members: int,
        fusion_parameters: int,
        *,
        with_table: bool = False,
        trains: bool = True,
    ) -> list[MessagePart]:
        """Return the parts of a round in the order in which they are sent, each sent once.

        `members` is the number of parties that the fusion model takes, this device included. A
        device without an iteration to train only sends its embeddings, and its first sample.
        """
        tables = {"drawn": self._bits(self.drawn), "held_out": self._bits(self.held_out)}
        after = sum(tables[table] for table in tables_after_step(self.learning))
        parts = [
            MessagePart("orders", "down", ORDER_FIGURES * FIGURE_BITS),
            MessagePart("embeddings before the step", "up", sum(tables.values())),
        ]
        if not trains:
            return parts
        parts += self._training_parts(members, fusion_parameters)
        parts.append(MessagePart("figures", "up", REPORT_FIGURES * FIGURE_BITS))
        if self.learning.step != "rate":
            chosen_on = self.held_out if self.learning.step == "searched" else self.drawn
            parts.append(MessagePart("trained embeddings", "up", self._bits(chosen_on), "trained"))
            parts.append(MessagePart("step", "down", FIGURE_BITS, "step"))
        parts.append(MessagePart("embeddings after the step", "up", after, "step"))
        parts.append(MessagePart("sample", "up", self.sample_bits, "step"))
        if with_table:
            table = self._bits(self.table_part)
            parts.append(MessagePart("part of the table", "up", table, "step"))
        return [part for part in parts if part.bits]

    def _training_parts(self, members: int, fusion_parameters: int) -> list[MessagePart]:
        """Return what a device needs to train and to measure its gradients."""
        sample_bits = self.sample_bits if self.sends_sample_gradients else 0
        sample = MessagePart("gradients of the sample", "down", sample_bits)
        if self.learning.labels == "server":
            return [MessagePart("gradients", "down", self._bits(self.drawn)), sample]
        others = (members - 1) * self._bits(self.drawn)
        return [
            MessagePart("embeddings of others", "down", others),
            MessagePart("fusion model", "down", FIGURE_BITS * fusion_parameters),
            sample,
        ]

    def _bits(self, rows: int) -> int:
        number_bits: int = self.learning.number_bits
        if number_bits == FIGURE_BITS and self.learning.precision == "float64":
            number_bits = 2 * FIGURE_BITS  # as they are then sent
        return table_bits(rows, self.width, number_bits)


def bits_of(parts: list[MessagePart], direction: Direction, sendings: int = 1) -> int:
    """Return the bits in one direction, if devices report so many times after a step."""
    times = {"before": 1, "trained": 1, "step": sendings}
    return sum(part.bits * times[part.moment] for part in parts if part.direction == direction)
