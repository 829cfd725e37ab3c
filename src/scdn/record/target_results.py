"""Whether and at what cost a recorded run reached its targets."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict
from itertools import pairwise

from scdn.errors import input_error
from scdn.record.headline_metric import Headline, metrics_of_run
from scdn.record.round_totals import cumulative_totals, finite_number, someone_trained
from scdn.record.run_reader import Event, Run
from scdn.targets import Target, parse_targets

_NOT_REACHED = {"round": None, "joules": None, "seconds": None, "bits": None}


def recorded_targets(run: Run) -> tuple[Target, ...]:
    """Return the targets in the run's own scenario."""
    texts = run.scenario.get("targets") or ()
    try:
        return parse_targets(texts)
    except (ValueError, TypeError, AttributeError) as error:
        raise input_error(str(run.folder), "targets", f"got {texts!r}", str(error)) from None


def target_results(start: Event, rounds: Sequence[Event], targets: Sequence[Target]) -> list[Event]:
    """Return for each target whether the run reached it, in which round and at what cost.

    A target is reached in the first of two consecutive rounds that meet it and in which someone
    trained. The cost is everything up to and including that round: joules billed, simulated
    seconds, and bits. The run is given by its start event and its round events.
    """
    metrics, costs = metrics_of_run(start), cumulative_totals(rounds)
    results = []
    for target in targets:
        result: Event = {"metric": target.metric, "value": target.value, "reached": False}
        result |= _NOT_REACHED
        index = _reached_at(metrics.get(target.metric), target.value, rounds)
        if index is not None:
            result |= {"reached": True, "round": rounds[index]["round"], **asdict(costs[index])}
        results.append(result)
    return results


def _reached_at(metric: Headline | None, value: float, rounds: Sequence[Event]) -> int | None:
    """Return the index of the first of two consecutive rounds that meet a target, if any do."""
    if metric is None:
        return None
    meets = [
        metric.reaches(finite_number(event.get("metrics") or {}, metric.metric), value)
        and someone_trained(event)
        for event in rounds
    ]
    for index, (event, following) in enumerate(pairwise(rounds)):
        if meets[index] and meets[index + 1] and following["round"] == event["round"] + 1:
            return index
    return None


def check_targets(targets: Sequence[Target], recorded: Collection[str], source: str) -> None:
    """Refuse targets of metrics that are not recorded."""
    for target in targets:
        if target.metric not in recorded:
            allowed = f"must be one of {', '.join(sorted(recorded))}"
            raise input_error(source, "targets", f"{target.metric} is not recorded", allowed)
