"""Warnings about a recorded run, each with the setting that would change it.

They say which devices rest for long and why, that a run sees little of its data, that most of its
energy is spent for nothing, or that the planner was stopped before it had a proof. A run as it
should be has none.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import groupby
from typing import Any, NamedTuple

from scdn.record.headline_metric import headline
from scdn.record.round_totals import (
    cumulative_totals,
    executed_iterations,
    finite_number,
)
from scdn.record.run_reader import Event, Run

LONG = 3  # rounds running that a device must rest, or a run must gain nothing, for a warning
SMALL_GAIN = 0.01  # of all that a run gained: rounds that bring less altogether gain nothing
WASTED = 0.5  # of a run's energy
_NAMED = 3  # devices that a sentence names


def run_warnings(
    start: Event,
    rounds: Sequence[Event],
    targets: Sequence[Mapping[str, Any]] = (),
    *,
    rests_on_purpose: bool = False,
    diverged: bool = False,
) -> list[str]:
    """Return sentences about what went wrong in a run, and which setting would change it.

    Parameters
    ----------
    start, rounds
        The run's start event and its round events.
    targets
        Whether and when it reached its targets, as `target_results` returns it.
    rests_on_purpose
        Whether the method lets devices rest that are not worth their energy, or a flight: then
        only other reasons count, or rounds in which nobody is active.
    diverged
        Whether training diverged: then it is no question of rows or joules.
    """
    reached = bool(targets) and all(target["reached"] for target in targets)
    chosen: set[str] = set()
    if rests_on_purpose:
        chosen = {"not_worth_it", "out_of_reach"} if reached else {"not_worth_it"}
    warnings = [*_rest_warnings(start, rounds, chosen), *_proof_warnings(start, rounds)]
    if rests_on_purpose:
        warnings += _idle_warnings(start, rounds)
    if not (diverged or reached):
        warnings += _epoch_warnings(start, rounds)
    if not diverged:
        warnings += _waste_warnings(start, rounds)
    return warnings


def recorded_warnings(run: Run) -> list[str]:
    """Return the warnings that were recorded when a run ended."""
    texts = (run.end or {}).get("warnings")
    return [str(text) for text in texts] if isinstance(texts, list) else []


# --- devices that rest ----------------------------------------------------------------------------


class _Rest(NamedTuple):
    """The rounds running in which a device rested, and the most frequent reason."""

    device: str
    first: int  # counted from 1
    last: int
    reason: str

    @property
    def rounds(self) -> int:
        return self.last - self.first + 1


def _rest_warnings(start: Event, rounds: Sequence[Event], chosen: Set[str]) -> Iterator[str]:
    """Yield one warning for each reason that is not the method's own choice."""
    by_reason: dict[str, list[_Rest]] = defaultdict(list)
    for device, reasons in _resting_rounds(rounds, chosen).items():
        longest = max(_streaks(device, reasons), key=lambda rest: rest.rounds)
        if longest.rounds >= LONG:
            by_reason[longest.reason].append(longest)
    for reason, rests in by_reason.items():
        cause, advice = _cause_and_advice(reason, start, rounds)
        yield f"{_who_rested(rests)} because {cause}: {advice}"


def _idle_warnings(start: Event, rounds: Sequence[Event]) -> Iterator[str]:
    """Yield a warning if nobody was active for long."""
    idle = {
        event["round"]: "not_worth_it"
        for event in rounds
        if event.get("devices") and not event.get("active")
    }
    longest = max(_streaks("", idle), key=lambda rest: rest.rounds, default=None)
    if longest is not None and longest.rounds >= LONG:
        worth = _now(start.get("scenario") or {}, "mission", "worth_j")
        advice = f"raise {worth}, or ask for more by mission.target"
        yield f"nobody was active in rounds {longest.first} to {longest.last}: {advice}"


def _resting_rounds(rounds: Sequence[Event], chosen: Set[str]) -> dict[str, dict[int, str]]:
    """Return the rounds in which each device rested, with the reason."""
    resting: dict[str, dict[int, str]] = defaultdict(dict)
    for event in rounds:
        active = set(event.get("active") or ())
        for device in event.get("devices") or ():
            reason = device.get("reason")
            if device["id"] not in active and isinstance(reason, str) and reason not in chosen:
                resting[device["id"]][event["round"]] = reason
    return resting


def _streaks(device: str, reasons: Mapping[int, str]) -> Iterator[_Rest]:
    numbered = enumerate(sorted(reasons))
    for _, group in groupby(numbered, key=lambda pair: pair[1] - pair[0]):
        streak = [number for _, number in group]
        common = Counter(reasons[number] for number in streak).most_common(1)[0][0]
        yield _Rest(device, streak[0] + 1, streak[-1] + 1, common)


def _who_rested(rests: Sequence[_Rest]) -> str:
    longest = max(rests, key=lambda rest: rest.rounds)
    span = f"rounds {longest.first} to {longest.last}"
    if len(rests) == 1:
        return f"{longest.device} rested in {span}"
    ordered = [longest, *(rest for rest in rests if rest is not longest)]
    names, more = [rest.device for rest in ordered[:_NAMED]], len(ordered) - _NAMED
    who = f"{', '.join(names)} and {more} more" if more > 0 else _listed(names, "and")
    return f"{who} rested for {LONG} rounds running or more ({longest.device} in {span})"


def _cause_and_advice(reason: str, start: Event, rounds: Sequence[Event]) -> tuple[str, str]:
    scenario = start.get("scenario") or {}
    if reason == "out_of_reach":
        return "the server was out of reach", _reach_advice(start, rounds)
    if reason == "clock_too_slow":
        deadline = _now(scenario, "learning", "compute_deadline_s")
        advice = f"raise {deadline}, or lower {_listed(_rows_per_iteration(scenario), 'or')}"
        return "not one iteration ends in time", advice
    if reason == "battery":
        capacity, iterations = _hardware(scenario, "battery_j"), _now(scenario, "max_iterations")
        return "of a low battery", f"raise {capacity}, or lower {iterations}"
    epsilon = _now(scenario, "learning", "epsilon")
    advice = f"lower {epsilon}, or plan by measured progress with method = mission"
    return "Theorem 1's bound found it not worth the energy", advice


def _reach_advice(start: Event, rounds: Sequence[Event]) -> str:
    scenario = start.get("scenario") or {}
    learning, round_s = scenario.get("learning") or {}, scenario.get("round_s")
    limit, duty = scenario.get("max_delay_s"), (scenario.get("radio") or {}).get("duty_cycle", 1)
    by_duty = isinstance(round_s, int | float) and duty * round_s < (limit or 0)
    power = "max_power_dbm" if scenario.get("fleet") else "max_power_w"
    delay = _now(scenario, "round_s" if by_duty else "max_delay_s")
    advice = f"raise {delay} or {_hardware(scenario, power)}"
    if _is_mission(start):
        worth = _now(scenario, "mission", "worth_j")
        return f"{advice}, or {worth}, so that a flight to them is worth its energy"
    places = {tuple((event.get("server") or {}).get("position_m") or ()) for event in rounds}
    if len(places) == 1:
        return f"{advice}, or move the server, which stayed in place (server.start, method)"
    if learning.get("payload") == "protocol" and learning.get("number_bits", 0) > 8:
        return f"{advice}, or lower {_now(scenario, 'learning', 'number_bits')}"
    return advice


def _is_mission(start: Event) -> bool:
    return str(start.get("method")) == "mission"


# --- a run that sees little of its data -----------------------------------------------------------


def _epoch_warnings(start: Event, rounds: Sequence[Event]) -> Iterator[str]:
    """Yield a warning if no device has trained on as many rows as there are."""
    scenario = start.get("scenario") or {}
    learning, rows = scenario.get("learning") or {}, (start.get("dataset") or {}).get("train_rows")
    if not rows or not rounds:
        return
    per_iteration = finite_number(learning, "steps_per_iteration", 1.0)
    per_iteration *= finite_number(learning, "batch_size", 0.0)
    seen: dict[str, float] = defaultdict(float)
    for event in rounds:
        for device in event.get("devices") or ():
            seen[device["id"]] += executed_iterations(device) * per_iteration
    most = max(seen.values(), default=0)
    if most < rows:
        settings = [*_rows_per_iteration(scenario), _now(scenario, "learning", "rounds")]
        yield (
            f"no device trained on more than {most:,.0f} rows, and there are {rows:,} "
            f"({most / rows:.2g} epochs): raise {_listed(settings, 'or')}"
        )


# --- energy that buys nothing ---------------------------------------------------------------------


def _waste_warnings(start: Event, rounds: Sequence[Event]) -> Iterator[str]:
    """Yield a warning if more than half of the energy was spent after the last gain."""
    metrics = [event.get("metrics") or {} for event in rounds]
    if len(rounds) <= LONG:
        return
    shown = headline(start, metrics[-1])
    sign = 1.0 if shown.higher_is_better else -1.0
    scores = [sign * finite_number(table, shown.metric) for table in metrics]
    trivial = ((start.get("baselines") or {}).get("trivial") or {}).get(shown.metric)
    first = sign * trivial if isinstance(trivial, int | float) else scores[0]
    known = [score for score in scores if score == score]
    if not known or first != first:
        return
    scenario, joules = start.get("scenario") or {}, [t.joules for t in cumulative_totals(rounds)]
    total = joules[-1]
    if max(known) <= first:
        text = shown.format(sign * first)
        yield (
            f"all {total:.4g} J bought nothing: no round was better than {text}, which a constant "
            f"prediction has: raise {_now(scenario, 'learning', 'steps_per_iteration')} or "
            f"{_now(scenario, 'learning', 'server_steps')}"
        )
        return
    enough = max(known) - SMALL_GAIN * (max(known) - first)
    last = next(index for index, score in enumerate(scores) if score >= enough)
    spent = joules[last]
    if len(rounds) - 1 - last >= LONG and total - spent > WASTED * total:
        number, score = rounds[last]["round"] + 1, shown.format(sign * scores[last])
        yield (
            f"{100 * (1 - spent / total):.0f} % of {total:.4g} J were spent after the last gain, "
            f"in round {number} ({score}): {_stop_advice(start, number)}"
        )


def _stop_advice(start: Event, rounds: int) -> str:
    scenario, advice = start.get("scenario") or {}, f"set learning.rounds = {rounds}"
    if not _is_mission(start):
        return f"{advice}, or a target for method = mission, which ends there"
    if scenario.get("targets") or (scenario.get("mission") or {}).get("target"):
        return f"{advice}, or raise learning.validation, on whose rows the target is judged"
    return f"{advice}, or mission.target, where it ends"


# --- plans without a proof ------------------------------------------------------------------------


def _proof_warnings(start: Event, rounds: Sequence[Event]) -> Iterator[str]:
    """Yield a warning if the planner was stopped at its limit in some rounds."""
    plans = [event.get("plan") or {} for event in rounds]
    stopped = [plan for plan in plans if plan.get("status") == "time_limit"]
    if not stopped:
        return
    gap = max(finite_number(plan, "gap", 0.0) for plan in stopped)
    epsilon = _now(start.get("scenario") or {}, "learning", "epsilon")
    advice = "give candidates_m" if _is_mission(start) else f"raise {epsilon} or give candidates_m"
    yield (
        f"{len(stopped)} of {len(plans)} plans are the best that was found within the planner's "
        f"limit, up to {100 * gap:.2g} % above the optimum: {advice} for plans with a proof"
    )


# --- text -----------------------------------------------------------------------------------------


def _now(scenario: Mapping[str, Any], *path: str) -> str:
    """Return the name of a setting with its present value, if that is known."""
    value: Any = scenario
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    known = isinstance(value, int | float)
    return ".".join(path) + (f" (now {value:g})" if known else "")


def _rows_per_iteration(scenario: Mapping[str, Any]) -> list[str]:
    return [_now(scenario, "learning", key) for key in ("steps_per_iteration", "batch_size")]


def _hardware(scenario: Mapping[str, Any], key: str) -> str:
    """Return the name of a setting of devices: of groups, or of those that are listed."""
    return f"fleet.{key}" if scenario.get("fleet") else f"devices.{key}"


def _listed(texts: Sequence[str], conjunction: str) -> str:
    """Return texts as an enumeration, such as `a, b or c`."""
    if len(texts) < 2:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} {conjunction} {texts[-1]}"
