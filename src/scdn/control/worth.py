"""A round's plan by worth: the least priced energy, with progress that is forgone as a cost.

The objective is Σ price·joules + Σ (worth of the gain forgone), where a device with its best number
of iterations forgoes nothing and one that rests forgoes all of its expected gain. No term is
negative, so gaps are relative to something real. A flight's one-off energy is spread over the
rounds that the new position is expected to serve. Everything else is the round's problem, and it is
solved with its proof.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from scdn.arrays import Array
from scdn.control.problem import RoundProblem
from scdn.scenario import Prices, Weights
from scdn.world.movement_models import MovementModel

ONE_OFF = ("climb_j", "rise_j_per_m", "sink_j_per_m", "lateral_j_per_m")


@dataclass(frozen=True, eq=False)
class RoundWorth:
    """What a round's progress is worth.

    Attributes
    ----------
    gains_j
        (N, τ^g + 1): the priced joules that the expected gain of each device is worth, by its
        number of iterations.
    prices
        The price of a joule, of the devices and of the server.
    serving_rounds
        The rounds that a new position is expected to serve.
    best_j
        (N, 1): the most that any option of the round gains, where there are several; by default the
        most of `gains_j`.
    fixed_j
        What this option costs whatever is decided.
    """

    gains_j: Array
    prices: Prices
    serving_rounds: float
    best_j: Array | None = None
    fixed_j: float = 0.0


def problem_by_worth(problem: RoundProblem, worth: RoundWorth) -> RoundProblem:
    """Return the round's problem with the worth of gains forgone in place of Theorem 1's bound."""
    best = worth.best_j
    if best is None:
        best = np.max(worth.gains_j, axis=1, keepdims=True, initial=0.0)
    return replace(
        problem,
        forgone=best - worth.gains_j,
        fixed_cost=worth.fixed_j,
        weights=Weights(
            convergence=1.0,
            transmission=worth.prices.device,
            processing=worth.prices.device,
            movement=worth.prices.server,
        ),
        movement=_spread(problem.movement, worth.serving_rounds),
        integer_iterations=True,
    )


def _spread(movement: MovementModel, rounds: float) -> MovementModel:
    """Return the movement with the energy of flights divided by so many rounds."""
    return replace(movement, **{name: getattr(movement, name) / rounds for name in ONE_OFF})
