"""What the server's computing takes: clock cycles, seconds and joules, as for a device."""

from __future__ import annotations

from dataclasses import dataclass

from scdn.learning.batches import HELD_OUT_BATCHES
from scdn.learning.fusion_server import FITTED_LENGTHS, SEARCHED_LENGTHS
from scdn.learning.round_training import MAX_SHORTENINGS
from scdn.learning.server_adam import CHECK_EVERY
from scdn.learning.server_work import ServerWork
from scdn.scenario import LearningSettings, MobileServer
from scdn.world.energy import cycles, processing_j


@dataclass(frozen=True)
class ServerCompute:
    """The server's computing in a round; `seconds` and `joules` are 0 where it is not counted."""

    work: ServerWork
    seconds: float = 0.0
    joules: float = 0.0


def server_compute(work: ServerWork, connections: int, server: MobileServer) -> ServerCompute:
    """Return what this work with a fusion model of so many connections takes.

    A row of which only the outputs are computed takes a third of a row's gradient.
    """
    if server.cpu_hz == 0:
        return ServerCompute(work)
    rows = work.gradient_rows + work.forward_rows / 3
    taken = float(cycles(rows, 1, connections, server.flops_per_cycle))
    joules = float(processing_j(taken, server.capacitance, server.cpu_hz))
    return ServerCompute(work, taken / server.cpu_hz, joules)


def most_server_work(
    learning: LearningSettings,
    batches: int,
    *,
    arrivals: int,
    parties: int,
    heard_held_out: int,
    measures_progress: bool,
    trains_ahead: bool = False,
) -> ServerWork:
    """Return the most that the server may have to compute in a round.

    Parties train together, or `arrivals` times, against `batches` of rows. `parties` is how many
    train at once, and `heard_held_out` how many held-out rows of earlier rounds the server has.
    `trains_ahead` says whether some may begin in a round and report in a later one.
    """
    drawn = batches * learning.batch_size
    held_out = HELD_OUT_BATCHES * learning.batch_size if learning.holds_rows_out else 0
    gradients = (1 + trains_ahead) * drawn if learning.labels == "server" else 0
    gradients *= 1 if learning.privacy.label_epsilon is None else parties
    outputs = 0
    if learning.step == "fitted":
        outputs = len(FITTED_LENGTHS) * drawn
    elif learning.step == "searched":  # every length, the loss before, and after each attempt
        outputs = (len(SEARCHED_LENGTHS) + 1 + MAX_SHORTENINGS + 1) * held_out
    if measures_progress:  # each party alone and left out, and the loss before and after, thrice
        outputs += (2 * parties + 6) * held_out
    if learning.server_optimizer == "sgd":
        trained = 1 if learning.arrival_steps == "shared" else arrivals  # times the drawn rows
        return ServerWork(arrivals * gradients + trained * drawn, arrivals * outputs,
                          trained * batches)  # fmt: skip
    steps = learning.server_steps  # of a whole round, also where arrivals share them
    checks = 2 * arrivals + steps // CHECK_EVERY
    return ServerWork(
        arrivals * gradients + steps * learning.batch_size,
        arrivals * outputs + checks * (heard_held_out + held_out),
        steps,
    )
