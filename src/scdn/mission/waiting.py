"""Whom the server may go on without in a round, and in what time the others must have computed."""

from __future__ import annotations

import numpy as np

from scdn.arrays import Array, Mask
from scdn.control.problem import RoundProblem

DEADLINE_SHARES = (1.0, 0.6, 0.36, 0.22, 0.13)  # of the scenario's, where seconds have a price
FASTER_SHARES = (1.0, 0.6, 0.36)  # of the time that everything takes, where that is still less
SLOWER = 1.5  # times the slowest that is waited for: devices from there on may be late
MOST_SETS = 2  # of devices to wait for, beside all; those with the largest gaps


def full_work_s(problem: RoundProblem) -> Array:
    """Return how long all of a device's iterations take at its highest clock; 0 if it has none.

    They are those that the deadline allows.
    """
    most = np.floor(problem.most_iterations() * (1 + 1e-12))
    cycles = problem.cycles(most)
    return np.divide(cycles, problem.cpu_max_hz, out=np.zeros(len(problem)), where=cycles > 0)


def compute_deadlines(problem: RoundProblem, waited: Mask | None = None) -> list[float]:
    """Return times in which devices must have computed, to choose from where seconds have a price.

    They are parts of the scenario's deadline. Where all that are waited for could have done
    everything in less than the shortest of them, there are parts of that time too.
    """
    deadline_s = problem.learning.compute_deadline_s
    deadlines_s = [share * deadline_s for share in DEADLINE_SHARES]
    work_s = full_work_s(problem)
    longest_s = float((work_s if waited is None else work_s[waited]).max(initial=0.0))
    if 0 < longest_s < deadlines_s[-1]:
        deadlines_s += [share * longest_s for share in FASTER_SHARES]
    return deadlines_s


def sets_to_wait_for(problem: RoundProblem, paces: Array) -> list[Mask]:
    """Return sets of devices that the server may wait for, when it goes on without slower ones.

    It waits for the fastest, up to a gap: the next device needs `SLOWER` times as long or more.
    Each set has a device that can train, and leaves one out that can. `paces` says how many times
    as long as planned each device takes.
    """
    work_s = paces * full_work_s(problem)
    times_s = np.unique(work_s[work_s > 0])
    gaps = times_s[1:] / times_s[:-1]
    largest = sorted(np.flatnonzero(gaps >= SLOWER), key=lambda n: -gaps[n])[:MOST_SETS]
    return [work_s <= times_s[n] for n in sorted(largest)]
