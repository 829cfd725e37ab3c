"""Settings of a mission: what the method `mission` is to reach, and with what."""

from __future__ import annotations

from typing import Literal

from scdn.scenario.field_types import FrozenModel, Positive, TargetText, setting

Goal = Literal["energy", "time", "best"]


class Mission(FrozenModel):
    """What the method `mission` is to reach, and what it may spend."""

    goal: Goal = setting(
        "energy",
        "energy or time: the least of it to the target; best: the best model within the budgets",
    )
    target: TargetText | None = setting(
        None, "value to reach, such as top3=95; by default the first of `targets`"
    )
    budget_j: Positive | None = setting(None, "priced joules that the whole run may take")
    deadline_s: Positive | None = setting(None, "simulated seconds that the whole run may take")
    worth_j: Positive | None = setting(
        None,
        "priced joules that a fall of the loss by 1 is worth; by default it follows from the goal",
    )
