"""What a round costs, read from its event: joules by term, simulated seconds and bits.

Everything that adds up energy, time or traffic of recorded rounds does it here, so that a new term
of the energy ledger has one place to enter.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

DEVICE_TERMS = ("transmission_j", "processing_j", "circuit_j", "idle_j")
_SERVER_TERMS = {  # in the ledger and in the event's `server`
    "movement_j": "movement_j",
    "server_compute_j": "compute_j",
    "server_transmission_j": "transmission_j",
}
OPTIONAL_TERMS = ("server_compute_j", "server_transmission_j", "circuit_j", "idle_j")
TERMS = ("transmission_j", "processing_j", "movement_j", *OPTIONAL_TERMS)


@dataclass(frozen=True)
class RoundTotals:
    """Everything billed, the simulated seconds, and the bits of both directions."""

    joules: float = 0.0
    seconds: float = 0.0
    bits: float = 0.0

    def __add__(self, other: RoundTotals) -> RoundTotals:
        return RoundTotals(
            self.joules + other.joules, self.seconds + other.seconds, self.bits + other.bits
        )


def round_totals(event: Mapping[str, Any]) -> RoundTotals:
    """Return what one round cost."""
    joules = sum(energy_terms(event).values())
    bits = round_bits(event, "bits_sent") + round_bits(event, "bits_received")
    return RoundTotals(joules, finite_number(event, "latency_s", 0.0), bits)


def cumulative_totals(events: Iterable[Mapping[str, Any]]) -> list[RoundTotals]:
    """Return what all rounds up to each one cost."""
    return list(accumulate(map(round_totals, events)))


def energy_terms(event: Mapping[str, Any]) -> dict[str, float]:
    """Return the joules of a round by term; a term that is not recorded is 0."""
    server = event.get("server") or {}
    joules = {term: sum(device_numbers(event, term)) for term in DEVICE_TERMS}
    joules |= {term: finite_number(server, key, 0.0) for term, key in _SERVER_TERMS.items()}
    return {term: joules[term] for term in TERMS}


def round_bits(event: Mapping[str, Any], key: str) -> float:
    """Return the bits of a round that devices sent (`bits_sent`) or received (`bits_received`)."""
    return finite_number(event, key, sum(device_numbers(event, key)))


def someone_trained(event: Mapping[str, Any]) -> bool:
    """Return whether a device trained in this round and its report came in time."""
    silent = {*(event.get("exited") or ()), *(event.get("link_failed") or ())}
    reporting = set(event.get("active") or ()) - silent
    for device in event.get("devices") or ():
        planned = finite_number(device, "iterations", 0.0) if device["id"] in reporting else 0.0
        if finite_number(device, "executed_iterations", planned) > 0:
            return True
    return False


def executed_iterations(device: Mapping[str, Any]) -> float:
    """Return the iterations of reports in time; planned ones where a run did not record them."""
    return finite_number(device, "executed_iterations", finite_number(device, "iterations", 0.0))


def device_numbers(event: Mapping[str, Any], key: str) -> list[float]:
    """Return a number of every device; 0 where it is missing."""
    return [finite_number(device, key, 0.0) for device in event.get("devices") or ()]


def finite_number(table: Mapping[str, Any], key: str, default: float = math.nan) -> float:
    """Return a number of a table, or the default where it is missing or not finite."""
    value = table.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return default
    return float(value)
