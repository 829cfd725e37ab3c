"""Oort: the devices with the most utility per joule, at GSP's position.

After F. Lai et al., "Oort: Efficient Federated Learning via Guided Participant Selection" (OSDI
2021), which chooses clients by their loss times a penalty for slow ones. In vertical training all
parties share one loss, so the utility is by how much a device's latest update lowered it; and since
the aim is energy, the cost is the device's joules in the round. Kept from the original: utilities
are clipped at a quantile, grow with the time since a device was heard, and a share of the choices
explores. Left out: its schedule of exploration and its pacer, which tune it over many more rounds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scdn.arrays import Array, IntArray, Mask
from scdn.control.evaluation import Decision, evaluate
from scdn.control.gsp import least_delay_position
from scdn.control.max_vfl import at_maximum
from scdn.control.problem import RoundProblem

CHOSEN_SHARE = 0.5  # of the devices in reach, rounded up
EXPLORED_SHARE = 0.15  # of the choices, in the mean
CONFIDENCE = 0.1  # Oort's factor of the bonus for devices that were not heard lately
CLIPPED_QUANTILE = 0.95  # Oort's: a gain counts no more than this quantile of the measured ones
LEAST_J = 1e-12  # joules are at least this where they divide


@dataclass(frozen=True, eq=False)
class PartyUtilities:
    """What the server has measured of a round's devices so far.

    Attributes
    ----------
    gains
        (N,): by how much the latest measured update of each device lowered the loss; NaN before.
    last_round
        (N,): the round of that update; -1 before.
    round
        The round to plan.
    draws
        (N,): uniform in 0 … 1, from which it follows how many choices explore.
    """

    gains: Array
    last_round: IntArray
    round: int
    draws: Array

    def confident(self) -> Array:
        """Return each device's utility: its clipped gain in 0 … 1, and Oort's bonus.

        A device that has not been tried is as good as the best one.
        """
        tried = ~np.isnan(self.gains)
        gains = np.maximum(self.gains[tried], 0.0)
        most = float(np.quantile(gains, CLIPPED_QUANTILE)) if tried.any() else 0.0
        clipped = np.ones(len(tried))
        clipped[tried] = np.minimum(gains / most, 1.0) if most > 0 else 0.0
        heard_in = np.maximum(self.last_round + 1, 1)  # rounds are counted from 1, as Oort does
        return clipped + np.sqrt(CONFIDENCE * np.log(self.round + 1) / heard_in)


def oort(problem: RoundProblem, utilities: PartyUtilities, iterations: Array) -> Decision:
    """Choose devices by utility per joule; all have the least power and clock that suffice.

    Each takes the given iterations, but at least one.
    """
    counts = np.minimum(np.maximum(np.rint(iterations), 1.0), np.floor(problem.iteration_limit()))
    everyone = at_maximum(problem, least_delay_position(problem), matched=True, iterations=counts)
    able = everyone.active & (counts > 0)
    chosen = _choose(able, utilities, device_joules(problem, everyone))
    return keep_only(problem, everyone, chosen)


def device_joules(problem: RoundProblem, decision: Decision) -> Array:
    """Return what each device spends on sending and computing in the round."""
    spent = evaluate(problem, decision)
    return spent.transmission_j + spent.processing_j


def keep_only(problem: RoundProblem, decision: Decision, chosen: Mask) -> Decision:
    """Return the decision with only some devices active, at the least clock that suffices."""
    iterations = np.where(chosen, decision.iterations, 0.0)
    power = np.where(chosen, decision.power_w, 0.0)
    clock = problem.least_cpu_hz(iterations)
    return Decision(decision.server_m, chosen, iterations, power, clock)


def _choose(eligible: Mask, utilities: PartyUtilities, joules: Array) -> Mask:
    """Return the devices with the best utility per joule, and those heard least lately."""
    count = int(np.ceil(CHOSEN_SHARE * eligible.sum()))
    explored = int((utilities.draws[eligible][:count] < EXPLORED_SHARE).sum())
    per_joule = utilities.confident() / np.maximum(joules, LEAST_J)
    order = np.argsort(-per_joule, kind="stable")
    best = order[eligible[order]][: count - explored]
    chosen = np.zeros(len(eligible), dtype=bool)
    chosen[best] = True
    longest = np.lexsort((joules, utilities.last_round))  # of equals the cheapest
    chosen[longest[(eligible & ~chosen)[longest]][:explored]] = True
    return chosen
