"""The base class of schedules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from scdn.learning.local_optimizers import LocalSteps
from scdn.learning.step_rule import StepTaken
from scdn.learning.vertical_model import VerticalModel
from scdn.learning.virtual_clock import Arrival, PartyCycle, VirtualClock
from scdn.scenario import LearningSettings


class Schedule:
    """For which reports the server waits in a round, and when devices go on working.

    To add a schedule, subclass this and name the class in a method:
    `Method("mine", controller, schedule="package.module:NAME")`; or register it under a name. As it
    stands the base class waits for every report that was begun, and trains on all of them together.

    Life cycle: a run creates one object from the scenario's `[learning]` settings. In every round,
    once the server has planned it, three methods are called in this order:

    1. `collect` gets the cycle that each party would begin now, which is its computation and its
       report. It advances the clock to the end of the round and returns the reports that arrive.
       Cycles that are still running go on in the next round, by the plan that they began with.
    2. `train` gets these reports and trains the parties and the server.
    3. `end_round` gets the reports with what they really sent, and corrects the clock.

    A party trains on the gradients that the server computes when its cycle begins
    (`VerticalModel.begin_cycles`, which the clock sees to). In a federation the clock waits for the
    devices' replies, and the schedule stays the same.

    Then the server's computing, the rest of its stay and its flight are added to the clock, while
    parties go on and reports wait. `state_dict` is called after each round, `load_state_dict` once,
    on a new object, when a run resumes. Where `waits_for_all` is set, a round's end needs no clock,
    and none of the three methods is called.

    A round is billed for the reports that it collects. Equal terms: in every recorded round the
    server takes its `server_steps`, on the rows of that round, whatever the schedule.

    Attributes
    ----------
    clock
        The cycles that are running. `first_reports` and `next_arrivals` are two ways to advance it.
    """

    name: ClassVar[str] = ""
    waits_for_all: ClassVar[bool] = False  # no report is ever left for a later round
    restarts_at_once: ClassVar[bool] = False  # parties may report several times in a round
    trains_alone: ClassVar[bool] = False  # each report is trained on by itself

    def __init__(self, learning: LearningSettings) -> None:
        self.learning = learning
        self.clock = VirtualClock()

    @property
    def trains_ahead(self) -> bool:
        """Return whether parties train when their cycles begin, and not when they report."""
        return not self.waits_for_all

    def collect(
        self, cycles: Mapping[str, PartyCycle], devices: int, begins: Mapping[str, int]
    ) -> list[Arrival]:
        """Advance the clock to the end of the round; return its reports, at most one per device.

        `cycles` has the cycle that each party would begin now; one that is not in it gives up its
        running cycle. `devices` is the number of devices that are present, and `begins` is how many
        cycles a party with a battery may begin. Schedules that restart at once may return several
        reports of a device, but no more than there are devices.
        """
        return self.clock.first_reports(cycles, devices, begins)

    def collect_parts(
        self, cycles: Mapping[str, PartyCycle], devices: int, begins: Mapping[str, int]
    ) -> Iterator[list[Arrival]]:
        """Yield the reports of `collect` in parts, each of which is trained on before the next."""
        yield self.collect(cycles, devices, begins)

    def train(
        self,
        model: VerticalModel,
        round_index: int,
        server_steps: LocalSteps,
        arrivals: list[Arrival],
        batches: int,
    ) -> list[StepTaken]:
        """Train on all reports together; return the step that was taken.

        `batches` is the number of batches to draw.
        """
        trained = {a.name: a.cycle for a in arrivals if a.trains(model.present)}
        step = model.train(
            round_index,
            {name: cycle.local_steps for name, cycle in trained.items()},
            server_steps,
            batches=batches,
            training_parties=len(arrivals),
            heard=list(trained),
            table_senders=[name for name, cycle in trained.items() if cycle.sends_table],
        )
        return [step]

    def end_round(self, arrivals: list[Arrival]) -> None:
        """Correct the clock where more or less was sent than planned."""
        self.clock.wait_for(arrivals)

    def state_dict(self) -> dict[str, Any]:
        """Return the state as values that JSON can hold."""
        return {"clock": self.clock.state_dict()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore what `state_dict` returned."""
        self.clock.load_state_dict(state["clock"])
