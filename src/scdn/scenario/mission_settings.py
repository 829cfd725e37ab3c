"""Settings of a mission: what the method `mission` is to reach, and with what."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, Strict

from scdn.scenario.field_types import FrozenModel, Number, NumberBits, Positive, TargetText, setting

Goal = Literal["energy", "time", "best"]
Multiple = Annotated[Number, Field(gt=0, le=1000)]


class Mission(FrozenModel):
    """What the method `mission` is to reach, and what it may spend."""

    goal: Goal = setting(
        "energy",
        "energy or time: the least of it to the target; best: the best model within the budgets",
    )
    target: TargetText | None = setting(
        None, "value to reach, such as top3=95; by default the hardest of `targets`"
    )
    budget_j: Positive | None = setting(None, "priced joules that the whole run may take")
    deadline_s: Positive | None = setting(None, "simulated seconds that the whole run may take")
    worth_j: Positive | None = setting(
        None,
        "priced joules that a unit of progress is worth, where progress is the loss, relative to "
        "the first one, to the power of -3; by default it follows from the goal",
    )
    schedule: Literal["auto", "synchronous"] = setting(
        "auto",
        "auto: in each round the server waits for all reports or goes on without those of slow "
        "devices, which are used later; synchronous: it waits for all",
    )
    durations: Annotated[tuple[Multiple, ...], Strict(False)] = setting(
        (1.0,),
        "durations of a round to choose from in every round, as multiples of max_delay_s and, "
        "where that is given, of round_s",
    )
    bits: Annotated[tuple[NumberBits, ...], Strict(False)] = setting(
        (),
        "bits per number that is sent to choose from in every round, 2, 4, 8, 16 or 32; by default "
        "learning.number_bits, and 4 and 8 where that is more",
    )
