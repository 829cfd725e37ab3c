"""What missions used, what no plan could have saved, and how good their forecasts were."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import mean, median

from scdn.record.mission_result import format_joules
from scdn.record.round_totals import finite_number
from scdn.record.run_reader import Event, Run


@dataclass(frozen=True)
class MissionResult:
    """One run of a mission; None where something is not known.

    Attributes
    ----------
    method, seed
        Which run it is.
    goal, target, ended
        What it was to reach, and why it ended.
    used_j, bound_j
        Priced joules that it used, and those that no plan for its progress falls below.
    forecast_error
        The mean over rounds of how far the loss was from the expected one, as a share of it.
    unit
        `J`, or `priced J` where joules have different prices.
    """

    method: str
    seed: int
    goal: str | None
    target: str | None
    ended: str | None
    used_j: float | None
    bound_j: float | None
    forecast_error: float | None
    unit: str = "J"

    @property
    def times_bound(self) -> float | None:
        """Return how many times the bound it used."""
        if self.used_j is None or not self.bound_j:
            return None
        return self.used_j / self.bound_j

    @classmethod
    def from_run(cls, run: Run) -> MissionResult:
        """Return the result of a run that records forecasts."""
        end = (run.end or {}).get("mission") or {}
        settings = run.scenario.get("mission") or {}
        return cls(
            run.method,
            run.seed,
            end.get("goal") or settings.get("goal"),
            end.get("target") or settings.get("target"),
            end.get("ended"),
            _number(end, "priced_j"),
            _number(end, "bound_j"),
            forecast_error(run.rounds),
            "J" if _prices_are_equal(run.scenario) else "priced J",
        )


def mission_results(runs: Iterable[Run]) -> list[MissionResult]:
    """Return the results of those runs that are missions."""
    return [MissionResult.from_run(run) for run in runs if _is_mission(run)]


def mission_sentences(results: Sequence[MissionResult]) -> dict[str, str]:
    """Return for each method what its missions used and what no plan needs less than.

    Over several seeds these are medians. A method whose missions have not ended has no sentence.
    """
    sentences = {}
    for method in dict.fromkeys(result.method for result in results):
        known = [result for result in results if result.method == method]
        used = [result.used_j for result in known if result.used_j is not None]
        bounds = [result.bound_j for result in known if result.bound_j is not None]
        if not used:
            continue
        over = f" (median of {len(used)} seeds)" if len(used) > 1 else ""
        text = f"used {format_joules(median(used))} {known[0].unit}{over}"
        if len(bounds) == len(used):
            least = f"{format_joules(median(bounds))} {known[0].unit}"
            text += f"; under these gain curves no plan needs less than {least}"
        sentences[method] = text
    return sentences


def forecast_error(rounds: Iterable[Event]) -> float | None:
    """Return the mean distance of the loss from the expected one, as a share of it."""
    errors = []
    for event in rounds:
        forecast = event.get("forecast") or {}
        expected, measured = (_number(forecast, k) for k in ("expected_loss", "validation_loss"))
        if expected is not None and measured is not None and expected > 0:
            errors.append(abs(measured - expected) / expected)
    return mean(errors) if errors else None


def _is_mission(run: Run) -> bool:
    recorded = (run.end or {}).get("mission")
    return bool(recorded) or any(event.get("forecast") for event in run.rounds)


def _prices_are_equal(scenario: Event) -> bool:
    prices = scenario.get("prices") or {}
    return prices.get("device", 1) == prices.get("server", 1) == 1


def _number(table: Event, key: str) -> float | None:
    value = finite_number(table, key)
    return None if value != value else value
