"""What the server's computing takes: clock cycles, seconds and joules, as for a device."""

from __future__ import annotations

from dataclasses import dataclass

from scdn.learning.server_work import ServerWork
from scdn.scenario import MobileServer
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
