"""Nobody waits (VAFL): every report trains the server when it arrives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from scdn.learning.local_optimizers import LocalSteps
from scdn.learning.schedules.schedule_base import Schedule
from scdn.learning.step_rule import StepTaken
from scdn.learning.vertical_model import VerticalModel
from scdn.learning.virtual_clock import Arrival, PartyCycle


class AsynchronousSchedule(Schedule):
    """Trains one party at a time, which then begins its next cycle at once.

    When a report arrives, that party and the server train against everybody's current embeddings. A
    recorded round ends after as many arrivals as devices are present. Where embeddings were sent
    more or fewer times than planned, the cycle that a party is in when the round ends lasts longer
    or shorter.

    With `learning.gradients = "start"` a party trains on the gradients of the moment at which its
    cycle begins, as a real device must: then the server trains while the device works.
    """

    name = "asynchronous"
    restarts_at_once = True
    trains_alone = True
    _part: tuple[int, int] | None = None  # reports trained on before in this round, and of how many

    @property
    def trains_ahead(self) -> bool:
        """Return whether parties train when their cycles begin, and not when they report."""
        return self.learning.gradients == "start"

    def collect(
        self, cycles: Mapping[str, PartyCycle], devices: int, begins: Mapping[str, int]
    ) -> list[Arrival]:
        """Advance the clock by as many arrivals as there are devices."""
        return self.clock.next_arrivals(cycles, devices, begins)

    def collect_parts(
        self, cycles: Mapping[str, PartyCycle], devices: int, begins: Mapping[str, int]
    ) -> Iterator[list[Arrival]]:
        """Yield one report after another, where a party's next cycle begins with its gradients."""
        if not self.trains_ahead:
            yield self.collect(cycles, devices, begins)
            return
        index = 0
        for index, arrival in enumerate(self.clock.arrivals(cycles, devices, begins), 1):
            self._part = index - 1, devices
            yield [arrival]
        self._part = None
        if not index:
            yield []

    def train(
        self,
        model: VerticalModel,
        round_index: int,
        server_steps: LocalSteps,
        arrivals: list[Arrival],
        batches: int,
    ) -> list[StepTaken]:
        """Train on each report by itself; return the step of each that trained."""
        first, count = self._part or (0, len(arrivals))
        return train_arrivals(model, round_index, server_steps, arrivals, batches, first, count)

    def end_round(self, arrivals: list[Arrival]) -> None:
        """Move the ends of cycles where more or less was sent than planned."""
        self.clock.postpone(arrivals)


def arrival_server_steps(index: int, arrivals: int, steps: int) -> int:
    """Return the server's steps at arrival `index` (from 0) of so many, of the round's `steps`.

    The shares differ by at most one and add up to `steps`.
    """
    return (index + 1) * steps // arrivals - index * steps // arrivals


def train_arrivals(
    model: VerticalModel,
    round_index: int,
    server_steps: LocalSteps,
    arrivals: list[Arrival],
    batches: int,
    first: int = 0,
    count: int | None = None,
) -> list[StepTaken]:
    """Train on reports `first` and following, of `count` in a recorded round: party and server.

    By Adam, and with `arrival_steps = "shared"`, the server divides its `server_steps` among the
    arrivals; those of a late one lapse. Otherwise it takes as many as the arriving party. `batches`
    is the number that a synchronous round draws. Return the step of each arrival that trained.
    """
    by_adam = model.learning.server_optimizer == "adam"
    divides = by_adam or model.learning.arrival_steps == "shared"
    if divides and not arrivals:
        return [model.train(round_index, {}, server_steps, batches=batches, heard=())]
    count = len(arrivals) if count is None else count
    steps_taken = []
    for index, arrival in enumerate(arrivals, first):
        steps = arrival.cycle.local_steps
        if not arrival.trains(model.present):
            continue
        server_count = steps.count
        if divides:
            server_count = arrival_server_steps(index, count, server_steps.count)
        step = model.train(
            round_index,
            {arrival.name: steps},
            replace(server_steps, count=server_count),
            batches=batches if by_adam or model.server.heard is not None else None,
            training_parties=1,
            arrival=index,
            heard=[arrival.name],
            table_senders=[arrival.name] if arrival.cycle.sends_table else (),
        )
        steps_taken.append(step)
    return steps_taken
