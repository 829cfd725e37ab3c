"""What a mission used against what no plan falls below, in one sentence."""

from __future__ import annotations

import math

from scdn.record.run_reader import Event


def mission_sentence(end: Event) -> str | None:
    """Return the sentence for a run's end event or summary; None without a mission.

    Joules are called priced where prices make them differ from those of the bill.
    """
    mission = end.get("mission")
    if not mission:
        return None
    billed_j = end.get("energy", {}).get("total_j", mission["priced_j"])
    priced = "" if math.isclose(mission["priced_j"], billed_j, rel_tol=1e-6) else "priced "
    used = f"used {format_joules(mission['priced_j'])} {priced}J"
    if mission.get("has_late_reports"):
        return f"{used}; no bound is known for runs in which reports are late"
    if mission["bound_j"] is None:
        return f"{used}; no bound was computed, since there are too many devices and rounds"
    least = f"{format_joules(mission['bound_j'])} {priced}J"
    return f"{used}; under these gain curves no plan needs less than {least}"


def format_joules(joules: float) -> str:
    """Return joules with the digits that a reader needs."""
    return f"{joules:.3g}" if joules < 1000 else f"{joules:.0f}"
